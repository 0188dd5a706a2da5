/* machine_in.h - for phi's own machines: texts and JSON into an arena. */
#ifndef PHI_STRATEGY_MACHINE_IN_H
#define PHI_STRATEGY_MACHINE_IN_H

#include "base/arena_in.h"
#include "base/buf_in.h"
#include "strategy/machine.h"

/* Moves the text into the arena, and frees the buffer. False: no memory. */
PHI__FN bool phi__machine_text(phi__buf *buf, phi_arena *arena, phi_str *out);
/* The same as a tree; the text is JSON. NULL: no memory. */
PHI__FN phi_json *phi__machine_tree(phi__buf *buf, phi_arena *arena);

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

#endif
