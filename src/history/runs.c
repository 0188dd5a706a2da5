/* runs.c - ends a run, and rolls back a run that keeps nothing.

   Such a run is one unit: its messages leave the view, and so do its rewrites, as if each had been
   revoked when it ended. The lane's view is then as before the run. A run keeps a copy of that view
   from its first rewrite on, so that its end needs no memory; where there is no copy, as in a log
   that is read, the lane is folded anew. */
#include "history/runs_in.h"

#include "history/thread_in.h"

/* ---- the view before ---- */

PHI__FN void phi__runs_drop_undo(phi_thread *thread) {
    phi__fold_free(thread->log.memory, &thread->undo.fold);
    memset(&thread->undo, 0, sizeof thread->undo);
}

PHI__FN bool phi__runs_keep_undo(phi_thread *thread) {
    if (!thread->loops.keeps_none || thread->loops.started == NULL || thread->undo.start != 0 ||
        thread->ops.last_seq > thread->loops.started->seq)
        return true;
    if (!phi__fold_copy(thread->log.memory, &thread->undo.fold, &thread->fold)) return false;
    thread->undo.start = thread->loops.started->seq + 1;
    thread->undo.lane = thread->lanes.active;
    return true;
}

/* ---- rolling back ---- */

/* The seq of its LOOP_START, and 1; 0: none, or it has ended before. */
static uint64_t phi__runs_start(const phi_thread *thread, const phi__entry *end) {
    const phi__loop_start *start = phi__loops_find(thread, end->loop_id);
    return start != NULL ? start->seq : 0;
}

static bool phi__runs_has_undo(const phi_thread *thread, uint64_t start) {
    return thread->undo.start == start && thread->undo.lane == thread->lanes.active;
}

/* The lane without the rewrites of the run, into the undo. They count as rolled back for that
   moment alone: the end may not come to be appended. */
static phi_status phi__runs_fold_anew(phi_thread *thread, uint64_t start) {
    phi_status status;
    phi__fold fold;
    phi__op *op;
    if (!phi__ops_roll_back(thread, thread->lanes.active, start - 1, thread->log.count))
        return PHI_OK;
    status = phi__fold_lane(thread, thread->lanes.active, UINT64_MAX, &fold);
    for (op = thread->ops.last; op != NULL && op->seq >= start; op = op->earlier)
        if (op->revoked && op->revoked_at == thread->log.count) op->revoked = false;
    if (status != PHI_OK) return status;
    phi__runs_drop_undo(thread);
    phi__fold_move(thread->log.memory, &thread->undo.fold, &fold);
    thread->undo.start = start;
    thread->undo.lane = thread->lanes.active;
    return PHI_OK;
}

PHI__FN bool phi__runs_end_folds(const phi_thread *thread, const phi__entry *end) {
    uint64_t start;
    if (end->keep != PHI_KEEP_NONE) return false;
    start = phi__runs_start(thread, end);
    return start != 0 && !phi__runs_has_undo(thread, start) && thread->ops.last_seq >= start;
}

PHI__FN phi_status phi__runs_may_end(phi_thread *thread, const phi__entry *end) {
    return phi__runs_end_folds(thread, end)
               ? phi__runs_fold_anew(thread, phi__runs_start(thread, end))
               : PHI_OK;
}

static void phi__runs_roll_back(phi_thread *thread, const phi__entry *end) {
    uint64_t start = (uint64_t)end->ordinal;
    (void)phi__ops_roll_back(thread, end->lane, start - 1, end->seq);
    phi__ops_unmark(thread, end->lane, start - 1, end->seq);
    if (phi__runs_has_undo(thread, start)) {
        phi__fold_move(thread->log.memory, &thread->fold, &thread->undo.fold);
        memset(&thread->undo, 0, sizeof thread->undo);
    }
    phi__fold_take_out(&thread->fold, start - 1, end->seq);
    phi__thread_evictable(thread);
}

PHI__FN void phi__runs_loop_ends(phi_thread *thread, phi__entry *end) {
    phi__loops_ends(thread, end);
    if (end->keep == PHI_KEEP_NONE && end->ordinal > 0) phi__runs_roll_back(thread, end);
    phi__kept_state_run_ended(thread, end->ordinal, end->keep == PHI_KEEP_NONE);
    phi__runs_drop_undo(thread);
}

PHI__FN void phi__runs_roll_back_again(phi_thread *thread) {
    size_t i;
    for (i = 0; i < thread->log.held; i++) {
        const phi__entry *end = thread->log.entries[i];
        if (end->kind == PHI_ENTRY_LOOP_END && end->keep == PHI_KEEP_NONE && end->ordinal > 0)
            (void)phi__ops_roll_back(thread, end->lane, (uint64_t)end->ordinal - 1, end->seq);
    }
}
