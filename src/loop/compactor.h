/* compactor.h - a host's own compaction, which may take some time, for example because a model
   writes a summary.

   The run continues meanwhile and looks for the result before each of its requests. Messages that
   were added since the compaction began stay as they are. If the compactor fails, or the window is
   full before the compactor is done, phi uses its own plan. */
#ifndef PHI_LOOP_COMPACTOR_H
#define PHI_LOOP_COMPACTOR_H

#include "model/event.h"
#include "log/compaction_config.h"

#ifdef __cplusplus
extern "C" {
#endif

struct phi_rewrite;

/* What a compactor should compact, and how far. The agent owns the request, which is valid until
   `end` was called, or until `start` has returned a failure. */
typedef struct phi_compaction_request {
    phi_agent agent;
    const struct phi_view_item *items; /* copies of the messages of the view */
    size_t item_count;
    uint64_t target_tokens;       /* estimated tokens that the view may have afterwards */
    phi_compaction_config config; /* the settings in effect now, with defaults filled in */
    /* True: the reason is that the history nears the agent's memory.limit_bytes;
       config.max_summary_tokens is then the size for which there is room */
    bool at_memory_limit;
} phi_compaction_request;

/* All functions are called on the pumping thread, and none may wait. An agent has one job at a
   time. */
typedef struct phi_compactor {
    /* Begins a job. PHI_OK: the other functions get *job. Any other status: phi uses its own plan
       now. */
    phi_status (*start)(void *user_data, const phi_compaction_request *request, void **job);
    /* Asks for the result. PHI_BUSY: the job is not done. PHI_OK: *out is the rewrite; phi uses
       only the rewrite's spans and meta, and copies both before it calls `end`. Any other status is
       a failure. A rewrite that is stale or saves nothing counts as a failure. So does a rewrite
       that leaves the model nothing to see; PHI_EV_WARNING then says so. */
    phi_status (*poll)(void *user_data, void *job, struct phi_rewrite *out);
    /* Ends a job that is done or no longer needed. phi does not use the job after this call. Also
       called when the agent is freed or its history is replaced. `end` must not call any function
       with this agent. */
    void (*end)(void *user_data, void *job);
    void *user_data;
} phi_compactor;

#ifdef __cplusplus
}
#endif
#endif
