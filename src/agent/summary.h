/* summary.h - summaries that a model writes, near the window instead of phi's own lines, and on
   request.

   A hidden agent below the agent whose history it is makes the model calls. It emits no events,
   budgets of that agent and of those above pay for it, an abort of that agent ends it,
   phi_runtime_close waits for it, and phi_step counts its run. The messages are sent in chunks,
   each with the summary so far. */
#ifndef PHI_AGENT_SUMMARY_H
#define PHI_AGENT_SUMMARY_H

#include "agent/agent.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field. A summary that was cut off at max_tokens counts as failed,
   and so does one of more than twice as many tokens by estimate. */
typedef struct phi_summary_desc {
    const phi_model *model;   /* the model that writes it (default: the agent's own) */
    const char *instructions; /* its system prompt (default: ours) */
    uint32_t max_tokens;      /* of a summary (default 2,000) */
    /* of the history, sent at once, by estimate (default: half of the model's window, at most
       30,000; at least 100) */
    uint64_t chunk_tokens;
} phi_summary_desc;

/* For phi_agent_desc.compactor. The model sums up the messages that phi's own plan would sum up or
   leave out, in one message in the place of the last of them; messages that the plan keeps stay.
   phi's own plan is used when the model fails, writes nothing or too much, when the summary saves
   nothing, and when the headroom is used up before it is done. Ownership: desc and its pointers are
   borrowed until all agents made with it are freed; NULL: all defaults. */
PHI_API phi_compactor phi_compactor_model(const phi_summary_desc *desc);

/* Sums up the messages in view from entry from_seq to entry to_seq, both included, and puts one
   message in their place, as a rewrite of the reason PHI_REWRITE_COMPACTION: when the summary is
   written, or, during a run, when that has ended. DURABLE entries stay, and entries that were
   forgotten are left out. The desc is that of the agent's phi_compactor_model, or the defaults.
   PHI_OK: begun. One PHI_EV_REWRITE reports the outcome, with status and message (PHI_REFUSED: also
   where the summary is no shorter than the range's messages in view by then); none where the
   history is replaced or the agent freed before. phi_abort and phi_stop end it. Else nothing
   changed, and phi_last_error has a message: PHI_BUSY: a summary is being written; PHI_BAD_ARG: a
   range that cuts a group or a message that replaces others; PHI_NOT_FOUND: the range has nothing
   to sum up; PHI_MISUSE: an agent of phi_run, or the runtime is closing; PHI_STALE, PHI_NO_MEMORY;
   or phi_agent_new's status for the model. Pumping thread. */
PHI_API phi_status phi_summarize(phi_agent agent, uint64_t from_seq, uint64_t to_seq);

/* For phi_runtime_desc.features: a policy's summaries are written by a model
   (PHI_SUMMARIES_WRITE). */
PHI_API const struct phi__feature *phi_feature_summaries(void);

#ifdef __cplusplus
}
#endif
#endif
