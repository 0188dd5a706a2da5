/* graft_in.h - runs of another log, copied onto a lane that is not the active one.

   The work of hidden agents (a branch of an evaluation, the scratch work of a strategy) is done in
   logs of their own and copied when it is over: the log of their agent then shows it, also while
   that agent has a run of its own. The copies have PHI_ENTRY_GRAFTED. Messages, turns, usage,
   spawned runs and notes of the run are copied; its rewrites are not, so the lane shows all of its
   messages; nor is its system prompt. What a run spent that was grafted during another one is part
   of that one's usage. */
#ifndef PHI_HISTORY_GRAFT_IN_H
#define PHI_HISTORY_GRAFT_IN_H

#include "history/thread_in.h"

/* Attaches an entry to entry->lane, which is not the active one; it lives in the current segment,
   and its room was made (phi__append_reserve, and of a LOOP_START phi__loops_room). */
PHI__FN void phi__graft_put(phi_thread *thread, phi__entry *entry);

/* The lane of that name, in *lane; where there is none it begins: empty (fork_seq UINT64_MAX), or
   with the view that the active lane has after that entry. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__graft_lane(phi_thread *thread, phi_str name, uint64_t fork_seq,
                                   uint32_t *lane);
/* Copies the last run of that id out of `from` onto a lane. All or nothing. PHI_NOT_FOUND: there
   is none in memory; PHI_MISUSE: the lane is the active one; PHI_NO_MEMORY. */
PHI__FN phi_status phi__graft_run(phi_thread *thread, uint32_t lane, const phi_thread *from,
                                  phi_str loop_id);

#endif
