/* plan.h - plans a compaction, a prune or a revert of a thread's view, as an agent's runs do by
   themselves.

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

/* What to plan: give one of the first three fields. Zero means default for the other fields. */
typedef struct phi_plan {
    const phi_compaction_config *compaction; /* cuts long results and sums up old turns */
    const phi_prune *prune;                  /* removes the oldest answers */
    const phi_revert *revert;                /* removes everything after a step */
    const phi_token_counter *counter;        /* (default: the estimate) */
    phi_pruned *pruned;                      /* out: what the prune removes (default: not wanted) */
    /* out: what the revert does, or why it is not possible (default: not wanted) */
    phi_reverted *reverted;
} phi_plan;

/* Makes a plan for the active lane's view. Everything that *out points to is in the arena, and
   borrows from the thread. out->span_count is 0 if there is nothing to do. For a prune and a revert
   out->meta has the outcome as JSON. PHI_BAD_ARG: none or several of the three fields are given, a
   prune has no tokens, or a revert has no category; PHI_NO_MEMORY; the store's status. */
PHI_API phi_status phi_thread_plan(const phi_thread *thread, const phi_plan *plan, phi_arena *arena,
                                   phi_rewrite *out);

#ifdef __cplusplus
}
#endif
#endif
