/* plan_rewrite.c - plans a compaction, a prune or a revert of a thread for the host. */
#include "persist/plan.h"

#include "history/compact_in.h"
#include "history/prune_in.h"
#include "history/revert_in.h"

PHI_API phi_status phi_thread_plan(const phi_thread *thread, const phi_plan *plan, phi_arena *arena,
                                   phi_rewrite *out) {
    const phi_view_item *items;
    size_t count;
    phi_prune prune;
    phi_reverted reverted;
    phi_status status;
    if (thread == NULL || plan == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    if ((plan->compaction != NULL) + (plan->prune != NULL) + (plan->revert != NULL) != 1)
        return PHI_BAD_ARG;
    status = phi_thread_view(thread, NULL, UINT64_MAX, arena, &items, &count);
    if (status != PHI_OK) return status;
    if (plan->revert != NULL)
        return phi__revert_plan(thread, plan->revert, arena, out,
                                plan->reverted != NULL ? plan->reverted : &reverted);
    if (plan->compaction != NULL)
        return phi__compact_rewrite(items, count, plan->compaction, plan->counter, arena, out);
    prune = *plan->prune;
    if (prune.from_seq == 0) prune.from_seq = phi__prune_from(thread);
    return phi__prune_plan(items, count, &prune, plan->counter, arena, out, plan->pruned);
}
