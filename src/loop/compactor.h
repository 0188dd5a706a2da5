/* compactor.h - a host's own compaction, which may take its time, for example to let a model write
   a summary.

   The run continues meanwhile. It looks for the result before each of its requests; messages added
   since the compaction began stay as they are. Where the compactor fails, and where the window is
   full before it is done, phi uses its own plan. */
#ifndef PHI_LOOP_COMPACTOR_H
#define PHI_LOOP_COMPACTOR_H

#include "model/event.h"
#include "log/compaction_config.h"

#ifdef __cplusplus
extern "C" {
#endif

struct phi_rewrite;

/* Owned by the agent, valid until `end` was called, or `start` has refused. */
typedef struct phi_compaction_request {
    phi_agent agent;
    const struct phi_view_item *items; /* the messages of the view; copies */
    size_t item_count;
    uint64_t target_tokens;       /* the tokens that the view may have afterwards, by estimate */
    phi_compaction_config config; /* as it counts now, defaults filled in */
    /* asked since the history nears the agent's memory.limit_bytes; then config.max_summary_tokens
       is what there is room for */
    bool at_memory_limit;
} phi_compaction_request;

/* All are called on the pumping thread, and none may wait. One job at a time. */
typedef struct phi_compactor {
    /* Begins. PHI_OK: the other functions get *job; anything else: phi's own plan is used now. */
    phi_status (*start)(void *user_data, const phi_compaction_request *request, void **job);
    /* PHI_BUSY: not yet. PHI_OK: *out is the rewrite, of which spans and meta count; they are
       copied before `end` is called. Any other status is a failure. A stale rewrite, or one that
       saves nothing, counts as a failure. So does a rewrite that leaves the model nothing to see:
       PHI_EV_WARNING says so. */
    phi_status (*poll)(void *user_data, void *job, struct phi_rewrite *out);
    /* The job is done, or not needed any more: phi does not use it from here on. Also when the
       agent is freed, or its history replaced. It must call nothing of this agent. */
    void (*end)(void *user_data, void *job);
    void *user_data;
} phi_compactor;

#ifdef __cplusplus
}
#endif
#endif
