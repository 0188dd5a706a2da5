/* runs_in.h - rolls back a run that keeps nothing. */
#ifndef PHI_HISTORY_RUNS_IN_H
#define PHI_HISTORY_RUNS_IN_H

#include "history/fold_in.h"

/* A lane's view before the active run rewrote it, restored by a run that keeps nothing. Its items
   may be of the run, too. */
typedef struct phi__undo {
    phi__fold fold;
    uint64_t start; /* seq of the run's LOOP_START, and 1; 0: there is nothing */
    uint32_t lane;
} phi__undo;

/* For a LOOP_END, when it is attached. */
PHI__FN void phi__runs_loop_ends(phi_thread *thread, phi__entry *end);

/* Whether the end of a run folds its lane anew, for which the log must be whole. */
PHI__FN bool phi__runs_end_folds(const phi_thread *thread, const phi__entry *end);
/* Before a LOOP_END is attached: prepares the rollback of the run, if it needs one.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__runs_may_end(phi_thread *thread, const phi__entry *end);

/* Before a rewrite of the active lane: saves its view, during a run that keeps nothing. False: no
   memory. */
PHI__FN bool phi__runs_keep_undo(phi_thread *thread);
PHI__FN void phi__runs_drop_undo(phi_thread *thread);
/* Rewrites that were rolled back by ends which the store did not have yet are so here, too. */
PHI__FN void phi__runs_roll_back_again(phi_thread *thread);

#endif
