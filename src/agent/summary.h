/* summary.h - summaries that a model writes: when the history nears the window, in place of phi's
   own plan, or on request.

   A hidden agent below the agent whose history is summed up makes the model calls. The hidden agent
   emits no events. The budgets of the visible agent and of the agents above it pay for the calls,
   and an abort of the visible agent ends the hidden agent's run. phi_runtime_close waits for this
   run, and phi_step counts it. The messages are sent in chunks, each with the summary so far. */
#ifndef PHI_AGENT_SUMMARY_H
#define PHI_AGENT_SUMMARY_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How summaries are written. Zero means default for every field. A summary that was cut off at
   max_tokens counts as failed. So does a summary with more than twice max_tokens by estimate. */
typedef struct phi_summary_desc {
    const phi_model *model;   /* the model that writes the summary (default: the agent's own) */
    const char *instructions; /* the system prompt of that model (default: phi's) */
    uint32_t max_tokens;      /* for one summary (default 2,000) */
    /* how much of the history is sent at once, by estimate (default: half of the model's window,
       but at most 30,000; at least 100) */
    uint64_t chunk_tokens;
} phi_summary_desc;

/* Returns a compactor for phi_agent_desc.compactor. The model sums up the messages that phi's
   own plan would sum up or leave out. Its summary is one message, in the place of the last of
   these messages. Messages that the plan keeps stay. phi uses its own plan instead if the model
   fails or writes nothing or too much, if the summary saves nothing, or if the view exceeds
   compact_at_pct of the window before the summary is done. Ownership: desc and its pointers are
   borrowed until all agents made with it are freed; NULL: all defaults. */
PHI_API phi_compactor phi_compactor_model(const phi_summary_desc *desc);

/* Begins to sum up the messages in view from entry from_seq to entry to_seq, both included. One
   message then takes their place, by a rewrite with the reason PHI_REWRITE_COMPACTION. The rewrite
   is made when the summary is written, but not before the end of an active run. DURABLE entries
   stay, and forgotten entries are left out. The settings are those of the agent's
   phi_compactor_model, or the defaults. phi_abort and phi_stop end the work. Pumping thread.
   PHI_OK: one PHI_EV_REWRITE will report the outcome with status and message, unless the history is
   replaced or the agent is freed first. The event's status is PHI_REFUSED if, among other reasons,
   the summary is no shorter than the messages that it would replace.
   Another status: nothing changed, and phi_last_error has a message. PHI_BUSY: another summary is
   being written; PHI_BAD_ARG: the range cuts a group or a message that replaces others;
   PHI_NOT_FOUND: the range has nothing to sum up; PHI_MISUSE: the agent belongs to phi_run, or the
   runtime is closing; PHI_STALE, PHI_NO_MEMORY; or phi_agent_new's status for the model. */
PHI_API phi_status phi_summarize(phi_agent agent, uint64_t from_seq, uint64_t to_seq);

/* For phi_runtime_desc.features: lets a model write a policy's summaries (PHI_SUMMARIES_WRITE). */
PHI_API const struct phi__feature *phi_feature_summaries(void);

#ifdef __cplusplus
}
#endif
#endif
