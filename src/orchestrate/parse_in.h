/* parse_in.h - what strategies read out of a model's text. Nothing fails: any bytes are a text.

   Results are parts of the text that was given. */
#ifndef PHI_ORCHESTRATE_PARSE_IN_H
#define PHI_ORCHESTRATE_PARSE_IN_H

#include "orchestrate/strategy_in.h"
#include "base/base_in.h"
#include "orchestrate/machine.h"
#include "text/text_in.h"

/* Moves the text into the arena, and frees the buffer. False: no memory. */
PHI__FN bool phi__machine_text(phi__buf *buf, phi_arena *arena, phi_str *out);

/* The same as a tree; the text is JSON. NULL: no memory. */
PHI__FN phi_json *phi__machine_tree(phi__buf *buf, phi_arena *arena);

/* A machine whose state is the fields, "phase" among them. PHI_PARSE: a phase beyond the last. */
PHI__FN phi_json *phi__machine_save(const phi__field *fields, size_t count, const void *state,
                                    phi_arena *arena);
PHI__FN phi_status phi__machine_load(const phi__field *fields, size_t count, const phi_json *saved,
                                     uint32_t last_phase, phi_arena *arena, void *state);

/* A machine that makes one call. */
enum { PHI__MACHINE_IDLE, PHI__MACHINE_CALLING, PHI__MACHINE_OVER };

typedef struct phi__machine_one {
    uint32_t phase;
    bool draft; /* cot.c: drafts, not steps; not saved */
    phi_str answer;
} phi__machine_one;

PHI__FN phi_json *phi__machine_one_save(const void *state, phi_arena *arena);
PHI__FN phi_status phi__machine_one_load(phi__machine_one *one, const phi_json *saved,
                                         phi_arena *arena);
PHI__FN void phi__machine_one_best(const void *state, phi_strategy_best *out);

/* "usage":{...}, with the names that messages use. */
PHI__FN void phi__machine_put_usage(phi__buf *out, const phi_usage *usage);
PHI__FN void phi__machine_get_usage(const phi_json *node, phi_usage *out);

/* "termination":{"reason","status","duration_ms"}, open for more where `open`. The status is
   "completed", "unfinished" (the answer is a part of the way) or "error". */
PHI__FN void phi__machine_put_termination(phi__buf *out, const char *reason, const char *status,
                                          uint64_t duration_ms, bool open);

/* The last command: the answer, or the error. The result is finished here: `result` is JSON but for
   its last brace, and is freed. */
PHI__FN phi_status phi__machine_done(const phi_strategy_env *env, phi_strategy_commands *out,
                                     phi_str answer, phi_stop_reason reason, phi__buf *result);
PHI__FN phi_status phi__machine_fail(const phi_strategy_env *env, phi_strategy_commands *out,
                                     phi_status status, phi_str message, phi__buf *result);

/* Adds PHI_STRATEGY_EMIT. */
PHI__FN phi_status phi__machine_emit(phi_strategy_commands *out, const char *phase);

/* The end of a text that is read, from a line's beginning on where one is in it. */
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

#endif
