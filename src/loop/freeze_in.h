/* freeze_in.h - a run as JSON, between two steps, and back. */
#ifndef PHI_LOOP_FREEZE_IN_H
#define PHI_LOOP_FREEZE_IN_H

#include "loop/loop_in.h"
#include "text/json_in.h"

/* A rewrite that waits for the end of the run, as a member of the agent's object; and back, where
   the run is there already. PHI_PARSE, PHI_NO_MEMORY. */
PHI__FN void phi__put_off_freeze(phi__buf *out, const phi__agent *agent, phi_arena *scratch);
PHI__FN phi_status phi__put_off_thaw(phi__agent *agent, const phi_json *node);

/* put_off_note.c: such a rewrite as an object; and back, handed to `take`. PHI_PARSE,
   PHI_NO_MEMORY; what else `take` says, the host has been told. */
PHI__FN void phi__put_off_put(phi__buf *out, const phi_rewrite *rewrite, bool must_gain,
                              phi_arena *scratch);
PHI__FN phi_status phi__put_off_get(phi__agent *agent, const phi_json *node,
                                    phi_status (*take)(phi__agent *agent,
                                                       const phi_rewrite *rewrite, bool must_gain));
/* Notes in the log that this one waits; and that none does. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__put_off_note(phi__agent *agent, const phi_rewrite *rewrite, bool must_gain);
PHI__FN phi_status phi__put_off_note_over(phi__agent *agent);
/* Of the log's entries in memory, the last note about a rewrite that waits; NULL: none, or nothing
   waits. */
PHI__FN const phi__note *phi__put_off_noted(const phi_thread *thread);
/* As phi__put_off_rewrite, of a rewrite that the log has a note of; it may have an id of phi's own. */
PHI__FN phi_status phi__put_off_take(phi__agent *agent, const phi_rewrite *rewrite, bool must_gain);

#ifndef PHI_NO_SNAPSHOT

/* freeze_fields.c: fields that are written as they are, and read back: of what `from` and `to` are. */
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
