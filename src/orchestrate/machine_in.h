/* machine_in.h - what machines have in common, what they read in a model's text, and their insides
   as far as tests look at them.

   Reading never fails: any bytes are a text, and results are parts of it. Lists grow in the arena
   of the machine; the old array stays there. "False: no memory" holds wherever nothing else is
   said of a bool. */
#ifndef PHI_ORCHESTRATE_MACHINE_IN_H
#define PHI_ORCHESTRATE_MACHINE_IN_H

#include "base/base_in.h"
#include "orchestrate/adaptive.h"
#include "orchestrate/machine.h"
#include "orchestrate/strategy.h"
#include "text/text_in.h"

/* ---- a machine ---- */

/* The beginning of each machine's state. */
typedef struct phi__machine {
    const phi_strategy_env *env; /* this and the next: while it takes an event, or is loaded */
    phi_strategy_commands *out;
    uint32_t phase;   /* 0: before BEGIN; the last of its phases: over */
    uint32_t call_id; /* of the call under way */
    phi_usage usage;
} phi__machine;

/* True if the event is for the machine: BEGIN, STOP, or the outcome of its call. */
PHI__FN bool phi__machine_takes(phi__machine *m, uint32_t over, const phi_strategy_event *event,
                                const phi_strategy_env *env, phi_strategy_commands *out);

PHI__FN phi_status phi__machine_emit(phi__machine *m, const char *phase);

/* Adds the call, with m->call_id. The prompt, if there is one, is the call's, and is freed. */
PHI__FN phi_status phi__machine_ask(phi__machine *m, const phi_strategy_call *call,
                                    phi__buf *prompt);

/* "termination":{"reason","status","duration_ms"}, open for more if `open`. The status is
   "completed", "unfinished" (the answer is a part of the way) or "error". */
PHI__FN void phi__machine_put_termination(const phi__machine *m, phi__buf *out, const char *reason,
                                          const char *status, bool open);

/* "usage":{...}, with the names that messages use. */
PHI__FN void phi__machine_put_usage(phi__buf *out, const phi_usage *usage);
PHI__FN void phi__machine_get_usage(const phi_json *node, phi_usage *out);

/* "key":[...] */
PHI__FN void phi__machine_put_texts(phi__buf *out, const char *key, const phi_str *items, size_t n);
PHI__FN void phi__machine_put_doubles(phi__buf *out, const char *key, const double *items,
                                      size_t n);

/* A result begins, in scratch memory. */
PHI__FN void phi__machine_result(const phi__machine *m, phi__buf *result);

/* The last command: the answer, or the error. `result` is JSON but for its last brace, and is
   freed. */
PHI__FN phi_status phi__machine_done(phi__machine *m, phi_str answer, phi_stop_reason reason,
                                     phi__buf *result);
PHI__FN phi_status phi__machine_fail(phi__machine *m, phi_status status, phi_str message,
                                     phi__buf *result);

/* A machine as JSON begins with its fields, "phase" among them, and ends with its usage (NULL:
   without). NULL: no memory. */
PHI__FN void phi__machine_save(phi__buf *out, const phi__field *fields, size_t count,
                               const void *state, phi_arena *arena);
PHI__FN phi_json *phi__machine_saved(phi__buf *out, const phi_usage *usage, phi_arena *arena);

/* Fills the fields and the usage. PHI_PARSE: a phase beyond `over`. */
PHI__FN phi_status phi__machine_load(phi__machine *m, const phi__field *fields, size_t count,
                                     uint32_t over, const phi_json *saved,
                                     const phi_strategy_env *env, phi_strategy_commands *out);

/* Room for one more item. NULL: no memory. */
PHI__FN void *phi__machine_grow(phi_arena *arena, void *items, uint32_t count, uint32_t *cap,
                                size_t size);

/* Moves the text into the arena, and frees the buffer. */
PHI__FN bool phi__machine_text(phi__buf *buf, phi_arena *arena, phi_str *out);

/* The largest number where the sum or product is larger. */
PHI__FN uint64_t phi__bill_add(uint64_t a, uint64_t b);
PHI__FN uint64_t phi__bill_times(uint64_t a, uint64_t b);

/* strategy.c: the worst case of a prompt of so many tokens, with desc->max_calls; answer_tokens: of
   one model call. */
PHI__FN void phi__strategy_bill(const phi_strategy_desc *desc, const phi_strategy *strategy,
                                const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                                phi_strategy_bill *out);

/* ---- reading ---- */

/* The end of a text that is read, from a line's beginning on if one is in it. */
PHI__FN phi_str phi__parse_tail(phi_str text);

/* Lines without their ends, from *at on; both kinds of line ends. False: there is none. */
PHI__FN bool phi__parse_line(phi_str text, size_t *at, phi_str *line);

/* The same; blank lines are skipped, the others trimmed. */
PHI__FN bool phi__parse_full_line(phi_str text, size_t *at, phi_str *line);

/* Without white space and Markdown's emphasis (* _ `) at both ends. */
PHI__FN phi_str phi__parse_plain(phi_str text);

/* `text` begins with `word` (ASCII, in any case), and no letter or digit follows. *rest begins
   after it. */
PHI__FN bool phi__parse_word(phi_str text, const char *word, phi_str *rest);

/* A colon, U+003A or U+FF1A, after white space and emphasis. */
PHI__FN bool phi__parse_colon(phi_str text, phi_str *rest);

/* "word: text", after a bullet or not. */
PHI__FN bool phi__parse_named(phi_str line, const char *word, phi_str *rest);

/* A numbered line: "12. text", "12: text", "12) text". White space before it is skipped. */
PHI__FN bool phi__parse_numbered(phi_str line, uint32_t *number, phi_str *rest);

/* "- text", "* text", and with U+2022. */
PHI__FN bool phi__parse_bullet(phi_str line, phi_str *rest);

/* "Step 3: text", in any case, with emphasis around it or not. */
PHI__FN bool phi__parse_step(phi_str line, phi_str *rest);

/* A number at the beginning; false: none. *rest begins after it. */
PHI__FN bool phi__parse_number(phi_str text, double *out, phi_str *rest);

/* How often `word` occurs, in any case; occurrences do not overlap. */
PHI__FN uint32_t phi__parse_count(phi_str text, const char *word);

typedef struct phi__tot_read {
    size_t count; /* of thoughts; of scores that the answer really has */
    bool none;    /* an empty list of thoughts: a dead end. Else, with count 0, it is unreadable */
    bool json;    /* else line by line */
    bool no_memory; /* then the rest does not count */
} phi__tot_read;

/* The first `most` thoughts of an answer, trimmed, blank ones left out; strings in the arena. */
PHI__FN phi__tot_read phi__tot_parse_thoughts(phi_str text, phi_arena *arena, phi_str *out,
                                              size_t most);

/* The scores of thoughts t1, t2...: 0 to 1, and 0.5 for those that the answer leaves out. */
PHI__FN phi__tot_read phi__tot_parse_scores(phi_str text, phi_arena *scratch,
                                            const phi_str *thoughts, size_t count, double *out);

/* ---- Chain-of-Thought and Algorithm-of-Thoughts: one_call.c ---- */

typedef struct phi__cot_parsed {
    phi_str conclusion; /* part of the text; empty: none is marked */
    phi_str *steps;     /* parts of the text */
    size_t step_count;
} phi__cot_parsed;

/* The text is borrowed. */
PHI__FN bool phi__cot_parse(phi_str text, phi_arena *arena, phi__cot_parsed *out);

typedef struct phi__aot_parsed {
    phi_str answer; /* part of the text; empty: there is no answer line */
    uint32_t first_operations, backtracking_steps, found_markers;
    bool found_solution;
} phi__aot_parsed;

PHI__FN void phi__aot_parse(phi_str text, phi__aot_parsed *out);

/* "react" as a machine: one call. Options: phi_adaptive_options. */
PHI__FN const phi_strategy *phi__strategy_react(void);
PHI__FN phi_adaptive_options phi__adaptive_options_of(const void *options); /* defaults filled in */

/* ---- TRM: trm.c ---- */

typedef struct phi__trm_parsed {
    bool has_score; /* of a SCORE line, or by the ratio of strengths to issues */
    double score;   /* 0 to 1 */
    uint32_t strengths, issues, suggestions; /* lines of each */
} phi__trm_parsed;

PHI__FN void phi__trm_parse(phi_str text, phi__trm_parsed *out);

/* ---- Tree-of-Thoughts: tot.c. Node 0 is the problem, the others follow as they are made ---- */

typedef struct phi__tot_node {
    uint32_t parent, depth, children;
    bool finished;               /* at the full depth, or a whole solution before */
    double score;                /* of node 0: none */
    phi_stop_reason stop_reason; /* LENGTH, GUARD_RAIL: the model's answer ended within it */
    phi_str content;
} phi__tot_node;

typedef struct phi__tot_tree {
    phi__tot_node *nodes;
    uint32_t *frontier; /* to be expanded, the next one first */
    uint32_t count, cap, frontier_count, frontier_cap;
    uint32_t best; /* that comes before all others; 0: no thought yet */
    uint32_t deepest;
} phi__tot_tree;

typedef struct phi__tot_rounds {
    uint32_t call_id, rounds;
} phi__tot_rounds;

typedef struct phi__tot {
    phi__machine m;
    phi_tot_options o; /* of the event; defaults filled in */
    phi__tot_tree tree;
    uint32_t at; /* is being expanded */
    bool repairing;
    uint32_t repairs;    /* of this answer */
    uint32_t retries[2]; /* of all: generation, evaluation */
    uint32_t parser_errors, pruned;
    bool by_lines;    /* the last answer was no JSON */
    phi_str source;   /* the answer to be repaired */
    phi_str *pending; /* thoughts to be scored */
    double *sums;     /* of their scores so far */
    uint32_t pending_count, evaluated;
    phi_stop_reason cut; /* stop_reason of the last one */
    double *recent;      /* best scores of the last expansions, since one came to the full depth */
    uint32_t recent_count, recent_cap;
    phi__tot_rounds *rounds; /* of calls that used tools */
    uint32_t round_count, round_cap;
} phi__tot;

PHI__FN phi_tot_options phi__tot_options_of(const void *options); /* defaults filled in */

/* ---- Graph-of-Thoughts: got.c. Node 0 is the problem; the others in the order of their making.
   A node's edge from its parent is "generates" below the problem and "refines" below a thought;
   connections are kept as further edges ---- */

typedef struct phi__got_node {
    uint32_t parent, depth, children, links, votes; /* links: connections to or from it */
    int32_t support; /* connections to it that support it, less those that contradict it */
    bool kept;       /* it is aggregated */
    bool has_weight;
    double weight;               /* 0 to 1 */
    phi_stop_reason stop_reason; /* LENGTH, GUARD_RAIL: the model's answer ended within it */
    phi_str content;
} phi__got_node;

typedef enum phi__got_kind {
    PHI__GOT_SUPPORTS,
    PHI__GOT_CONTRADICTS,
    PHI__GOT_REPEATS,
    PHI__GOT_AGGREGATES /* to the answer, from a thought that it was composed of */
} phi__got_kind;

typedef struct phi__got_edge {
    uint32_t from, to;
    phi__got_kind kind;
    phi_str text; /* why, in the model's words; may be empty */
} phi__got_edge;

typedef struct phi__got_graph {
    phi__got_node *nodes;
    phi__got_edge *edges; /* connections, and those of the aggregation */
    uint32_t count, cap, edge_count, edge_cap;
    uint32_t answer; /* the node that the aggregation made; 0: none */
} phi__got_graph;

typedef struct phi__got {
    phi__machine m;
    phi_got_options o; /* of the event; defaults filled in */
    phi__got_graph graph;
    uint32_t at; /* is being refined */
    uint32_t generations, votes, abstained, pruned;
} phi__got;

PHI__FN phi_got_options phi__got_options_of(const void *options); /* defaults filled in */

/* The next line "CONNECTION: [1] -> [2]: text" from *at on, its kind by the text's first word.
   False: there is none. */
PHI__FN bool phi__got_parse_connection(phi_str text, size_t *at, phi__got_edge *out);

/* The next line "WEIGHT: [1]: 0.8" from *at on, its weight clamped. False: there is none. */
PHI__FN bool phi__got_parse_weight(phi_str text, size_t *at, uint32_t *node, double *out);

/* The last line "VOTE: [1]"; else the last "[1]". 0: none. */
PHI__FN uint32_t phi__got_parse_vote(phi_str text);

/* ---- Adaptive: adaptive.c ---- */

typedef struct phi__adaptive_choice {
    const char *name;   /* static */
    const char *reason; /* static: "puzzle", "synthesis", "tools", "exploration", "complexity",
                           "default", "option" */
    double complexity;  /* 0 to 1 */
} phi__adaptive_choice;

/* Pure: the same prompt, the same choice. */
PHI__FN phi__adaptive_choice phi__adaptive_choose(const phi_adaptive_options *options,
                                                  phi_str prompt, bool has_tools);
PHI__FN double phi__choose_complexity(const phi_adaptive_options *options, phi_str prompt);

/* True when some prompt leads to this strategy. */
PHI__FN bool phi__choose_may(const phi_adaptive_options *options, const char *name);

#endif
