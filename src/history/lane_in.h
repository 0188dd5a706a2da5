/* lane_in.h - lanes: which there are, and which is the active one. */
#ifndef PHI_HISTORY_LANE_IN_H
#define PHI_HISTORY_LANE_IN_H

#include "history/history_in.h"
#include "history/fold_in.h"
#include "log/log_in.h"
#include "model/event_parts.h"

/* NULL: there is no run of this id in memory. */
PHI__FN const phi__loop_start *phi__loops_find(const phi_thread *thread, phi_str loop_id);

/* Where a run began, by its LOOP_START, whose seq is known; there is room. */
PHI__FN void phi__loops_note(phi_thread *thread, const phi__entry *start);

/* For a LOOP_START, when it is attached. */
PHI__FN void phi__loops_starts(phi_thread *thread, const phi__entry *start);
PHI__FN void phi__loops_ends_beside(phi_thread *thread, phi__entry *end);
PHI__FN void phi__loops_free(phi__loops *loops, phi_memory *memory);

/* For a LOOP_END, when it is attached. */
PHI__FN void phi__runs_loop_ends(phi_thread *thread, phi__entry *end);

/* Before a LOOP_END is attached: prepares the rollback of the run, if it needs one.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__runs_may_end(phi_thread *thread, const phi__entry *end);

/* Before a rewrite of the active lane: saves its view, during a run that keeps nothing. False: no
   memory. */
PHI__FN bool phi__runs_keep_undo(phi_thread *thread);
PHI__FN void phi__runs_drop_undo(phi_thread *thread);

/* Activates a lane, with its fold, which is the thread's from then on, where its messages are in
   their place already (phi__lane_messages); NULL: an empty view. */
PHI__FN void phi__lane_enter(phi_thread *thread, uint32_t lane, phi__fold *fold);

/* The same without its view and its messages: a reader has them. */
PHI__FN void phi__lane_activate(phi_thread *thread, uint32_t lane);
PHI__FN void phi__lane_free_all(phi_thread *thread);

/* n entries of now, and room to attach them; NULL: no memory. */
PHI__FN phi__entry *phi__lane_entries(phi_thread *thread, size_t n);

/* Attaches one on the lane that it is about, which need not be the active one. */
PHI__FN void phi__lane_append(phi_thread *thread, phi__entry *entry, phi_entry_kind kind,
                              uint32_t lane);

#endif
