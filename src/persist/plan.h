/* plan.h - plans a compaction, a prune or a revert of a thread's view. An agent's runs make such
   plans by themselves.

   A plan changes nothing. Apply it with phi_thread_rewrite or phi_agent_rewrite. */
#ifndef PHI_PERSIST_PLAN_H
#define PHI_PERSIST_PLAN_H

#include "log/compact.h"
#include "log/prune.h"
#include "log/revert.h"
#include "model/event_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Says what to plan. Set one of the first three fields. Zero means default for the others. */
typedef struct phi_plan {
    const phi_compaction_config *compaction; /* cuts long results and sums up old turns */
    const phi_prune *prune;                  /* removes the oldest answers */
    const phi_revert *revert;                /* removes everything after a step */
    const phi_token_counter *counter;        /* counts tokens (default: the estimate) */
    phi_pruned *pruned; /* output: what the prune removes (default: not wanted) */
    /* output: what the revert does, or why it is impossible (default: not wanted) */
    phi_reverted *reverted;
} phi_plan;

/* Plans a change of the active lane's view. Everything that *out points to is in the arena or
   borrowed from the thread. out->span_count is 0 if there is nothing to do. For a prune or a
   revert, out->meta has the outcome as JSON. PHI_BAD_ARG: not exactly one of the three fields is
   set, a prune has no tokens, or a revert has no category. Or PHI_NO_MEMORY, or the store's
   status. */
PHI_API phi_status phi_thread_plan(const phi_thread *thread, const phi_plan *plan, phi_arena *arena,
                                   phi_rewrite *out);

#ifdef __cplusplus
}
#endif
#endif
