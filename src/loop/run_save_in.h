/* run_save_in.h - saves a run as JSON, between two steps, and loads it. */
#ifndef PHI_LOOP_RUN_SAVE_IN_H
#define PHI_LOOP_RUN_SAVE_IN_H

#include "loop/loop_in.h"
#include "text/json_in.h"

/* run_save_fields.c: fields that are written as they are, and read back: of what `from` and `to`
   are. */
typedef enum phi__run_save_part {
    PHI__RUN_SAVE_RUN,     /* phi__run */
    PHI__RUN_SAVE_FLAGS,   /* phi__run */
    PHI__RUN_SAVE_LIMITS,  /* phi_limits */
    PHI__RUN_SAVE_POLICY,  /* phi_policy */
    PHI__RUN_SAVE_FAILURE, /* phi_failure */
    PHI__RUN_SAVE_CALLS,   /* phi__run */
    PHI__RUN_SAVE_CALL     /* phi__toolcall */
} phi__run_save_part;
PHI__FN void phi__run_save_fields_put(phi__buf *out, phi__run_save_part part, const void *from);
/* As phi__records_get. */
PHI__FN bool phi__run_save_fields_get(const phi_json *node, phi__run_save_part part, void *to,
                                      phi_arena *arena);

/* run_save.c, run_load.c */
/* A queue as an array; and back, added to it. PHI_PARSE, PHI_NO_MEMORY. */
PHI__FN void phi__run_save_inputs(phi__buf *out, const phi__inputs *inputs, phi_arena *scratch);
PHI__FN phi_status phi__run_load_inputs(phi__agent *agent, const phi_json *node, phi__inputs *to);

/* Names of the states that are written, from 1; NULL past the last. */
PHI__FN const char *phi__run_save_state_name(size_t i);

/* The agent's run as an object; null where none is active, or it is over but for its last hook. */
PHI__FN void phi__run_save(phi__buf *out, const phi__agent *agent, phi_arena *scratch);
/* Of an idle agent whose thread is there again. PHI_PARSE: it does not fit the thread;
   PHI_NO_MEMORY. Then there is no run. */
PHI__FN phi_status phi__run_load(phi__agent *agent, const phi_json *node, bool interrupt);

#endif
