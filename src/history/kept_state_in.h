/* kept_state_in.h - the tool state of a thread's active lane, as text beside the log. */
#ifndef PHI_HISTORY_KEPT_STATE_IN_H
#define PHI_HISTORY_KEPT_STATE_IN_H

#include "base/base_in.h"
#include "log/thread.h"

/* A state as text; it owns its memory. */
typedef struct phi__tool_state_text {
    char *at; /* NULL: {} */
    size_t len;
    uint64_t tail; /* bytes of the effects that were noted since a note with the whole state */
} phi__tool_state_text;

/* Of a thread: the state of its active lane. */
typedef struct phi__tool_state {
    phi__tool_state_text now, before;
    uint64_t run; /* `before` is of the run that began with this entry; seq and 1; 0: none */
    bool known;   /* `now` holds */
} phi__tool_state;

PHI__FN void phi__kept_state_drop(phi_thread *thread, phi__tool_state_text *text);
/* False: no memory. */
PHI__FN bool phi__kept_state_copy(phi_thread *thread, phi_str from, phi__tool_state_text *out);
/* `made` is the state from now on, and the thread's. In a run of which nothing may be kept the text
   before its first change stays until it ends. */
PHI__FN void phi__kept_state_take(phi_thread *thread, const phi__tool_state_text *made);
/* The state was read from the log: `now`, and, in a run, `before` it; run: as of
   phi__tool_state. */
PHI__FN void phi__kept_state_learn(phi_thread *thread, const phi__tool_state_text *now,
                                   const phi__tool_state_text *before, uint64_t run);

/* Another lane is active. */
PHI__FN void phi__kept_state_unknown(phi_thread *thread);
/* A run has ended that began with this entry; none: it keeps nothing. */
PHI__FN void phi__kept_state_run_ended(phi_thread *thread, uint64_t start, bool none);
PHI__FN void phi__kept_state_free(phi_thread *thread);
PHI__FN size_t phi__kept_state_bytes(const phi_thread *thread);

#endif
