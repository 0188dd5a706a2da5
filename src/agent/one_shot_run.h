/* one_shot_run.h - one-shot runs: a run over the caller's thread, without a lasting agent.

   For hosts that keep histories themselves. Each run has its own agent desc; messages and results
   stay in the thread. */
#ifndef PHI_AGENT_ONE_SHOT_RUN_H
#define PHI_AGENT_ONE_SHOT_RUN_H

#include "agent/agent.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an empty thread in the runtime's memory. memory_limit_bytes 0: no limit for this thread.
   NULL: no memory. The caller frees the thread with phi_thread_free. Pumping thread. */
PHI_API phi_thread *phi_thread_new(phi_runtime *rt, size_t memory_limit_bytes);

/* Frees a thread; NULL is harmless. While a run uses the thread, nothing is freed, and
   phi_last_error has PHI_BUSY. For an agent's own thread nothing is freed either, and
   phi_last_error has PHI_MISUSE. Queued events of the thread's runs are purged, and pointers in
   popped events become invalid. Do not call it after phi_runtime_free, which frees the remaining
   threads. */
PHI_API void phi_thread_free(phi_thread *thread);

/* The options of a one-shot run, borrowed until phi_run returns. Zero means default for every field
   but agent and thread. */
typedef struct phi_run_desc {
    const phi_agent_desc *agent; /* the settings of the run; copied as phi_agent_new does */
    phi_thread *thread;          /* borrowed until the run has ended */
    /* user messages; copied. None: the run continues the thread without a new message */
    const phi_message *prompts;
    size_t prompt_count;
    /* used only without prompts (default PHI_CONTINUATION_DEFAULT) */
    phi_continuation continuation;
    /* UTF-8, used unchanged; the thread must have no run of this id (default: session.config.N) */
    const char *loop_id;
    const char *parent_loop_id; /* UTF-8 (default: none) */
    /* JSON text, like phi_prompt_desc.metadata; copied (default: none) */
    const char *metadata;
} phi_run_desc;

/* Starts a run and returns a temporary agent, for events, phi_abort, phi_steer and the like. The
   handle becomes stale by itself in the first phi_step after AGENT_END and all other events of this
   agent were popped. Since no other run follows, undelivered steering and follow-ups are reported
   as dropped before the handle becomes stale. On failure the handle's rt is NULL, and
   phi_last_error says why; PHI_BUSY: another run uses the thread; PHI_MISUSE: the thread already
   has a run with this loop_id. Without prompts, agent->ids.agent_id and agent->ids.session_id must
   be set, since they identify the conversation to continue. */
PHI_API phi_agent phi_run(phi_runtime *rt, const phi_run_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
