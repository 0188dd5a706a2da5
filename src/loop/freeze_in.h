/* freeze_in.h - a run as JSON, between two steps, and back. */
#ifndef PHI_LOOP_FREEZE_IN_H
#define PHI_LOOP_FREEZE_IN_H

#include "loop/loop_in.h"
#include "text/json_in.h"

#ifndef PHI_NO_SNAPSHOT

/* freeze_fields.c: fields that are written as they are, and read back: of what `from` and `to`
   are. */
typedef enum phi__freeze_part {
    PHI__FREEZE_RUN,     /* phi__run */
    PHI__FREEZE_FLAGS,   /* phi__run */
    PHI__FREEZE_LIMITS,  /* phi_limits */
    PHI__FREEZE_POLICY,  /* phi_policy */
    PHI__FREEZE_FAILURE, /* phi_failure */
    PHI__FREEZE_CALLS,   /* phi__run */
    PHI__FREEZE_CALL     /* phi__toolcall */
} phi__freeze_part;
PHI__FN void phi__freeze_put(phi__buf *out, phi__freeze_part part, const void *from);
/* As phi__records_get. */
PHI__FN bool phi__freeze_get(const phi_json *node, phi__freeze_part part, void *to,
                             phi_arena *arena);

/* freeze.c, thaw.c */
/* A queue as an array; and back, added to it. PHI_PARSE, PHI_NO_MEMORY. */
PHI__FN void phi__freeze_inputs(phi__buf *out, const phi__inputs *inputs, phi_arena *scratch);
PHI__FN phi_status phi__thaw_inputs(phi__agent *agent, const phi_json *node, phi__inputs *to);

/* Names of the states that are written, from 1; NULL past the last. */
PHI__FN const char *phi__freeze_state_name(size_t i);

/* The agent's run as an object; null where none goes on, or it is over but for its last hook. */
PHI__FN void phi__run_freeze(phi__buf *out, const phi__agent *agent, phi_arena *scratch);
/* Of an idle agent whose thread is there again. PHI_PARSE: it does not fit the thread;
   PHI_NO_MEMORY. Then there is no run. */
PHI__FN phi_status phi__run_thaw(phi__agent *agent, const phi_json *node, bool interrupt);

#endif
#endif
