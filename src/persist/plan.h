/* plan.h - plans a change of a thread's view, as an agent's runs make them by themselves: a
   compaction, a prune or a revert.

   A plan changes nothing: apply it with phi_thread_rewrite or phi_agent_rewrite. */
#ifndef PHI_PERSIST_PLAN_H
#define PHI_PERSIST_PLAN_H

#include "log/compact.h"
#include "log/prune.h"
#include "log/revert.h"
#include "model/event_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to plan: give one of the three. Zero means default for the other fields. */
typedef struct phi_plan {
    const phi_compaction_config *compaction; /* long results and old turns become summaries */
    const phi_prune *prune;                  /* the oldest answers go */
    const phi_revert *revert;                /* all behind a step goes */
    const phi_token_counter *counter;        /* (default: the estimate) */
    phi_pruned *pruned;                      /* out: what a prune takes (default: not wanted) */
    phi_reverted *reverted; /* out: what a revert does, or why not (default: not wanted) */
} phi_plan;

/* Plans it for the active lane's view. *out and its pointers are in the arena, and borrow from the
   thread; out->span_count 0: there is nothing to do. A prune's and a revert's out->meta has the
   outcome as JSON. PHI_BAD_ARG: none or several of the three, a prune without tokens, a revert
   without a category; PHI_NO_MEMORY; the store's status. */
PHI_API phi_status phi_thread_plan(const phi_thread *thread, const phi_plan *plan, phi_arena *arena,
                                   phi_rewrite *out);

#ifdef __cplusplus
}
#endif
#endif
