/* machine_in.h - functions shared by all machines, parsers for a model's text, and the internals of
   machines that tests inspect.

   Parsers accept any bytes, and their results are parts of the given text. Lists grow in the
   machine's arena, where the old array stays allocated. Unless stated otherwise, a function that
   returns bool returns false if memory runs out. */
#ifndef PHI_ORCHESTRATE_MACHINE_IN_H
#define PHI_ORCHESTRATE_MACHINE_IN_H

#include "base/base_in.h"
#include "model/model_in.h"
#include "orchestrate/adaptive.h"
#include "orchestrate/machine.h"
#include "orchestrate/strategy.h"
#include "text/text_in.h"

/* ---- a machine ---- */

/* The first member of each machine's state. */
typedef struct phi__machine {
    /* env and out are set only while the machine handles an event or is loaded. */
    const phi_strategy_env *env;
    phi_strategy_commands *out;
    uint32_t phase;   /* 0 before BEGIN; the last phase means over */
    uint32_t call_id; /* id of the pending call */
    phi_usage usage;
} phi__machine;

/* True if the machine must handle the event: BEGIN, STOP, or the outcome of its call. */
PHI__FN bool phi__machine_takes(phi__machine *m, uint32_t over, const phi_strategy_event *event,
                                const phi_strategy_env *env, phi_strategy_commands *out);

PHI__FN phi_status phi__machine_emit(phi__machine *m, const char *phase);

/* Adds a command for the call m->call_id. Moves `prompt`, if not NULL, into the call and frees
   it. */
PHI__FN phi_status phi__machine_ask(phi__machine *m, const phi_strategy_call *call,
                                    phi__buf *prompt);

/* Writes "termination":{"reason","status","duration_ms"}. Leaves the object open if `open` is true.
   The status is "completed", "unfinished" (only a step towards an answer) or "error". */
PHI__FN void phi__machine_put_termination(const phi__machine *m, phi__buf *out, const char *reason,
                                          const char *status, bool open);

/* Writes "key":[...]. */
PHI__FN void phi__machine_put_doubles(phi__buf *out, const char *key, const double *items,
                                      size_t n);

/* Begins a result in scratch memory. */
PHI__FN void phi__machine_result(const phi__machine *m, phi__buf *result);

/* Add the last command: the answer or the error. `result` is JSON without its last brace. The
   functions free it. */
PHI__FN phi_status phi__machine_done(phi__machine *m, phi_str answer, phi_stop_reason reason,
                                     phi__buf *result);
PHI__FN phi_status phi__machine_fail(phi__machine *m, phi_status status, phi_str message,
                                     phi__buf *result);

/* Save a machine as JSON: its fields, which include "phase", and its usage unless `usage` is NULL.
   The caller may write more members between the two calls. NULL: no memory. */
PHI__FN void phi__machine_save(phi__buf *out, const phi__field *fields, size_t count,
                               const void *state, phi_arena *arena);
PHI__FN phi_json *phi__machine_saved(phi__buf *out, const phi_usage *usage, phi_arena *arena);

/* Loads the fields and the usage. PHI_PARSE: the phase is greater than `over`. */
PHI__FN phi_status phi__machine_load(phi__machine *m, const phi__field *fields, size_t count,
                                     uint32_t over, const phi_json *saved,
                                     const phi_strategy_env *env, phi_strategy_commands *out);

/* Makes room for one more item and returns the array. NULL: no memory. */
PHI__FN void *phi__machine_grow(phi_arena *arena, void *items, uint32_t count, uint32_t *cap,
                                size_t size);

/* Copies the text into the arena and frees the buffer. */
PHI__FN bool phi__machine_text(phi__buf *buf, phi_arena *arena, phi_str *out);

/* Returns a * b, or UINT64_MAX on overflow. */
PHI__FN uint64_t phi__bill_times(uint64_t a, uint64_t b);

/* Sets *out to the largest bill that a prompt of prompt_tokens tokens can cause, limited by
   desc->max_calls. Each model call answers with at most answer_tokens. */
PHI__FN void phi__strategy_bill(const phi_strategy_desc *desc, const phi_strategy *strategy,
                                const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                                phi_strategy_bill *out);

/* ---- parsing ---- */

/* Returns the last part of a long text, from the start of a line if possible. */
PHI__FN phi_str phi__parse_tail(phi_str text);

/* Finds the next line from *at on, without its end (LF, CR or CRLF). False if there is none. */
PHI__FN bool phi__parse_line(phi_str text, size_t *at, phi_str *line);

/* Like phi__parse_line, but skips blank lines and trims the others. */
PHI__FN bool phi__parse_full_line(phi_str text, size_t *at, phi_str *line);

/* Strips white space and Markdown's emphasis (* _ `) from both ends. */
PHI__FN phi_str phi__parse_plain(phi_str text);

/* True if `text` begins with `word` in any letter case (ASCII), without a letter or digit after it.
   *rest is the text after `word`. */
PHI__FN bool phi__parse_word(phi_str text, const char *word, phi_str *rest);

/* Reads a colon, U+003A or U+FF1A, after white space and emphasis. */
PHI__FN bool phi__parse_colon(phi_str text, phi_str *rest);

/* Reads "word: text", with or without a bullet before it. */
PHI__FN bool phi__parse_named(phi_str line, const char *word, phi_str *rest);

/* Reads a numbered line: "12. text", "12: text" or "12) text". Skips white space before it. */
PHI__FN bool phi__parse_numbered(phi_str line, uint32_t *number, phi_str *rest);

/* Reads "- text", "* text" or U+2022 with text. */
PHI__FN bool phi__parse_bullet(phi_str line, phi_str *rest);

/* Reads "Step 3: text", in any letter case, with or without emphasis around it. */
PHI__FN bool phi__parse_step(phi_str line, phi_str *rest);

/* Reads a number at the start. *rest is the text after it. False if there is none. */
PHI__FN bool phi__parse_number(phi_str text, double *out, phi_str *rest);

/* Limits a score to the range from 0 to 1. NaN becomes 0. */
static inline double phi__parse_clamp(double score) {
    return score >= 1.0 ? 1.0 : score > 0.0 ? score : 0.0;
}

/* Counts how often `word` occurs without overlaps, in any letter case. */
PHI__FN uint32_t phi__parse_count(phi_str text, const char *word);

typedef struct phi__tot_read {
    size_t count;   /* thoughts found, or scores found in the answer */
    bool none;      /* the list of thoughts is empty: a dead end */
    bool json;      /* read as JSON, not line by line */
    bool no_memory; /* if set, all other fields are undefined */
} phi__tot_read;

/* Reads at most the first `most` thoughts of an answer. Trims them and skips blank ones. Strings
   are in the arena. If count is 0 and `none` is false, the answer is unreadable. */
PHI__FN phi__tot_read phi__tot_parse_thoughts(phi_str text, phi_arena *arena, phi_str *out,
                                              size_t most);

/* Reads the scores of thoughts t1, t2... from 0 to 1. Thoughts without a score get 0.5. */
PHI__FN phi__tot_read phi__tot_parse_scores(phi_str text, phi_arena *scratch,
                                            const phi_str *thoughts, size_t count, double *out);

/* ---- Chain-of-Thought and Algorithm-of-Thoughts: one_call.c ---- */

typedef struct phi__cot_parsed {
    phi_str conclusion; /* part of the text; empty if none is marked */
    phi_str *steps;     /* parts of the text */
    size_t step_count;
} phi__cot_parsed;

/* Parses an answer. The parts in *out borrow the text. */
PHI__FN bool phi__cot_parse(phi_str text, phi_arena *arena, phi__cot_parsed *out);

typedef struct phi__aot_parsed {
    phi_str answer; /* part of the text; empty without an answer line */
    uint32_t first_operations, backtracking_steps, found_markers;
    bool found_solution;
} phi__aot_parsed;

PHI__FN void phi__aot_parse(phi_str text, phi__aot_parsed *out);

/* Returns "react" as a machine that makes one call. Its options are phi_adaptive_options. */
PHI__FN const phi_strategy *phi__strategy_react(void);
PHI__FN phi_adaptive_options phi__adaptive_options_of(const void *options); /* fills in defaults */

/* ---- TRM: trm.c ---- */

typedef struct phi__trm_parsed {
    bool has_score; /* a SCORE line gave a score, or the lines of strengths and issues did */
    double score;   /* 0 to 1 */
    uint32_t strengths, issues, suggestions; /* numbers of lines of each kind */
} phi__trm_parsed;

PHI__FN void phi__trm_parse(phi_str text, phi__trm_parsed *out);

/* ---- Tree-of-Thoughts: tot.c. Node 0 is the problem; thoughts are numbered as they are made
   ---- */

typedef struct phi__tot_node {
    uint32_t parent, depth, children;
    bool finished;               /* at max_depth, or a whole solution at a smaller depth */
    double score;                /* node 0 has no score */
    phi_stop_reason stop_reason; /* LENGTH, GUARD_RAIL: the model's answer was cut off here */
    phi_str content;
} phi__tot_node;

typedef struct phi__tot_tree {
    phi__tot_node *nodes;
    uint32_t *frontier; /* nodes to expand, next one first */
    uint32_t count, cap, frontier_count, frontier_cap;
    uint32_t best; /* best node by phi__tree_before; 0: no thought yet */
    uint32_t deepest;
} phi__tot_tree;

typedef struct phi__tot_rounds {
    uint32_t call_id, rounds;
} phi__tot_rounds;

typedef struct phi__tot {
    phi__machine m;
    phi_tot_options o; /* options of the current event, with defaults filled in */
    phi__tot_tree tree;
    uint32_t at; /* node being expanded */
    bool repairing;
    uint32_t repairs;    /* repairs of `source` so far */
    uint32_t retries[2]; /* retries in generations and in evaluations */
    uint32_t parser_errors, pruned;
    bool by_lines;    /* the last answer was not JSON */
    phi_str source;   /* the answer to repair */
    phi_str *pending; /* thoughts to score */
    double *sums;     /* sums of the scores of `pending` so far */
    uint32_t pending_count, evaluated;
    phi_stop_reason cut; /* stop_reason of the last pending thought */
    /* Best scores after the latest expansions, from the first node at max_depth on. */
    double *recent;
    uint32_t recent_count, recent_cap;
    phi__tot_rounds *rounds; /* one for each call that used tools */
    uint32_t round_count, round_cap;
} phi__tot;

PHI__FN phi_tot_options phi__tot_options_of(const void *options); /* fills in defaults */

/* ---- Graph-of-Thoughts: got.c. Node 0 is the problem; thoughts are numbered as they are made. A
   node's edge from its parent means "generates" for the problem and "refines" for a thought.
   Connections are stored as separate edges ---- */

typedef struct phi__got_node {
    uint32_t parent, depth, children, links, votes; /* links: connections to or from the node */
    int32_t support; /* supporting connections to the node, minus contradicting ones */
    bool kept;       /* takes part in the aggregation */
    bool has_weight;
    double weight;               /* 0 to 1 */
    phi_stop_reason stop_reason; /* LENGTH, GUARD_RAIL: the model's answer was cut off here */
    phi_str content;
} phi__got_node;

typedef enum phi__got_kind {
    PHI__GOT_SUPPORTS,
    PHI__GOT_CONTRADICTS,
    PHI__GOT_REPEATS,
    PHI__GOT_AGGREGATES /* from a thought to the answer composed of it */
} phi__got_kind;

typedef struct phi__got_edge {
    uint32_t from, to;
    phi__got_kind kind;
    phi_str text; /* the model's reason; may be empty */
} phi__got_edge;

typedef struct phi__got_graph {
    phi__got_node *nodes;
    phi__got_edge *edges; /* connections, and edges of the aggregation */
    uint32_t count, cap, edge_count, edge_cap;
    uint32_t answer; /* node made by the aggregation; 0: none */
} phi__got_graph;

typedef struct phi__got {
    phi__machine m;
    phi_got_options o; /* options of the current event, with defaults filled in */
    phi__got_graph graph;
    uint32_t at; /* node being refined */
    uint32_t generations, votes, abstained, pruned;
} phi__got;

PHI__FN phi_got_options phi__got_options_of(const void *options); /* fills in defaults */

/* Finds the next line "CONNECTION: [1] -> [2]: text" from *at on. Its kind is the text's first
   word. False if there is none. */
PHI__FN bool phi__got_parse_connection(phi_str text, size_t *at, phi__got_edge *out);

/* Finds the next line "WEIGHT: [1]: 0.8" from *at on. Clamps the weight. False if there is none. */
PHI__FN bool phi__got_parse_weight(phi_str text, size_t *at, uint32_t *node, double *out);

/* Returns the id in the last line "VOTE: [1]", or else in the last "[1]". 0 if there is none. */
PHI__FN uint32_t phi__got_parse_vote(phi_str text);

/* ---- Adaptive: adaptive.c ---- */

typedef struct phi__adaptive_choice {
    const char *name; /* static */
    /* Static: "puzzle", "synthesis", "tools", "exploration", "complexity", "default", "option". */
    const char *reason;
    double complexity; /* 0 to 1 */
} phi__adaptive_choice;

/* Chooses a strategy. Pure function. */
PHI__FN phi__adaptive_choice phi__adaptive_choose(const phi_adaptive_options *options,
                                                  phi_str prompt, bool has_tools);
PHI__FN double phi__choose_complexity(const phi_adaptive_options *options, phi_str prompt);

/* True if some prompt leads to this strategy. */
PHI__FN bool phi__choose_may(const phi_adaptive_options *options, const char *name);

#endif
