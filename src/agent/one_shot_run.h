/* one_shot_run.h - one-shot runs: the loop over a thread of the caller's, without an agent to keep.

   For hosts that keep their histories themselves. Each run brings its own agent desc; the messages
   and results stay in the thread. */
#ifndef PHI_AGENT_ONE_SHOT_RUN_H
#define PHI_AGENT_ONE_SHOT_RUN_H

#include "agent/agent.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An empty history in the runtime's memory; memory_limit_bytes 0: no own limit. NULL: no memory.
   Caller frees with phi_thread_free. Pumping thread. */
PHI_API phi_thread *phi_thread_new(phi_runtime *rt, size_t memory_limit_bytes);

/* NULL is harmless. While a run uses it nothing is freed, and phi_last_error says PHI_BUSY; of an
   agent's thread PHI_MISUSE. Queued events of its runs are purged, and pointers out of popped ones
   are invalid. Free it before its runtime, which frees the threads that are left. */
PHI_API void phi_thread_free(phi_thread *thread);

/* Zero means default for every field but agent and thread. Borrowed until phi_run returns. */
typedef struct phi_run_desc {
    const phi_agent_desc *agent; /* how to run: copied as phi_agent_new does */
    phi_thread *thread;          /* borrowed until the run has ended */
    /* user messages; copied; none: the run continues the thread as it is */
    const phi_message *prompts;
    size_t prompt_count;
    phi_continuation continuation; /* without prompts (default PHI_CONTINUATION_DEFAULT) */
    /* UTF-8, used as it is; must be new to the thread (default: session.config.N) */
    const char *loop_id;
    const char *parent_loop_id; /* UTF-8 (default: none) */
    const char *metadata;       /* JSON text, as phi_prompt_desc.metadata; copied (default: none) */
} phi_run_desc;

/* Starts a run. The handle is an agent's, for events, phi_abort, phi_steer and the rest; it goes
   stale by itself once AGENT_END, and every other event of it, has been popped and phi_step called
   again. No other run follows, so undelivered steering and follow-ups are reported as dropped
   first. On failure the handle's rt is NULL, and phi_last_error says why; PHI_BUSY: another run
   uses the thread; PHI_MISUSE: the thread has a run of this loop_id. Without prompts,
   agent.agent_id and agent.session_id must be given, since they identify the conversation that
   continues. */
PHI_API phi_agent phi_run(phi_runtime *rt, const phi_run_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
