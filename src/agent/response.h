/* response.h - prompts with options: phi_prompt_with gives a handle to the run and its answer.

   The handle is for hosts that have many requests under way and do not want to follow events. The
   events are queued nevertheless. */
#ifndef PHI_AGENT_RESPONSE_H
#define PHI_AGENT_RESPONSE_H

#include "agent/agent.h"
#include "log/policy.h"
#include "model/failure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A handle to a request and its outcome. The handle becomes stale when phi_response_free frees
   it; when the agent is freed or reset, its messages are replaced, or it begins a session; when
   the agent has PHI_RESPONSES_KEPT newer responses; or when a later run forgets older entries
   (phi_agent_desc.memory.at_limit). */
typedef struct phi_response {
    phi_runtime *rt;
    uint32_t index, gen;
} phi_response;

enum { PHI_RESPONSES_KEPT = 16 };

typedef enum phi_response_state {
    PHI_RESPONSE_STALE = 0,
    PHI_RESPONSE_RUNNING,
    PHI_RESPONSE_COMPLETED, /* the run ended by itself */
    PHI_RESPONSE_FAILED,    /* an error, a limit, a hook or a filter ended the run: see status */
    PHI_RESPONSE_CANCELLED
} phi_response_state;

/* The state of a request. The agent owns the pointers, which are valid as long as the response. But
   if the agent's thread is in a store, message, text and loop_id are valid only until the next
   phi_step while the run is active: call phi_response_get again. */
typedef struct phi_response_info {
    phi_response_state state;
    bool done; /* the run has ended; also true for a stale handle */
    /* the status of AGENT_END; PHI_BUSY: the run is active; PHI_STALE: the handle is stale */
    phi_status status;
    phi_agent agent;
    phi_str loop_id;
    phi_str id;                 /* id of the request */
    phi_str query;              /* the prompt: its first text block */
    const phi_message *message; /* the last answer of the run; NULL: there is none yet */
    phi_str text;               /* the last text block of `message`; empty: there is none */
    const phi_failure *failure; /* why the run failed; NULL: it did not fail */
    phi_usage usage;            /* usage of the run, so far or in total */
    double cost;
    int64_t asked_ms, ended_ms; /* Unix time; ended_ms 0: the run has not ended */
    int64_t first_event_ms;     /* Unix time of the first delta of an answer; 0: none came yet */
} phi_response_info;

/* A prompt, and settings for this request only. Zero means default for every field but text and
   content. Give either text or content. If the request leaves a thread, the prompt must not point
   into this thread. */
typedef struct phi_prompt_desc {
    const char *text;           /* the prompt; copied */
    const phi_content *content; /* the blocks of a user message, instead of text; copied */
    size_t content_count;
    /* the policy for this run's model calls and warnings; copied (default: the agent's policy,
       which does not change) */
    const phi_policy *policy;
    /* calls phi_agent_use_thread with this id first (default: the current thread) */
    const char *thread_id;
    bool new_thread; /* calls phi_agent_use_thread with NULL first */
    /* the limits of this run; a field that is zero has the default of phi_limits; copied (default:
       the agent's limits) */
    const phi_limits *limits;
    /* how long this run waits for phi_decide or phi_budget_raise; PHI_UNLIMITED: no limit (default:
       the agent's deadlines.decision_ms) */
    uint32_t decision_timeout_ms;
    /* The tools of this run, in place of the agent's tools; checked like phi_agent_desc.tools.
       Copied; the pointers in them are borrowed until PHI_EV_AGENT_END was popped. (default: the
       agent's tools) A snapshot of the run has only their names: the restored run gets the tools
       with these names from the desc of phi_agent_restore. */
    const phi_tool *tools;
    size_t tool_count;
    /* offer only the tools with these names; borrowed until return (default: all are offered) */
    const char *const *allowed_tools;
    size_t allowed_count;
    /* Offer no tools. If no_tools, tools or allowed_tools is set, raw_tools are not offered
       either */
    bool no_tools;
    /* the request's id, UTF-8, at most 128 bytes; copied (default: phi makes one) */
    const char *id;
    /* JSON text about the request, for the host; copied (default: none). If id or refs are given,
       the message in the log keeps both in its details: {"request_id":...,"refs":...}. Never
       sent */
    const char *refs;
    /* JSON text of an object, merged into the body of this run's requests over the agent's `extra`;
       see phi_agent_desc.options.extra. Copied; part of a snapshot of the run (default: none) */
    const char *extra;
    /* JSON text of an object, which the tools of this run read in phi_call_info.context. Never
       sent. Copied; part of a snapshot of the run (default: none) */
    const char *tool_context;
    /* JSON text about this run, for the host: AGENT_START, the LOOP_START entry and the record of
       the run have it. Never sent; copied (default: none) */
    const char *metadata;
    /* format of this run's answers; copied; part of the run's snapshots (default: the agent's) */
    const phi_format *format;
    bool has_temperature; /* this run sends `temperature` (default: the agent's setting) */
    double temperature;
    /* The model of this run, and of those runs below it that would use the agent's model. If the
       agent has a provider, that provider answers for this model, too. Loop ids do not change.
       Copied (default: the agent's model). A snapshot does not contain this model: the restored run
       continues with the model of phi_agent_restore's desc. */
    const phi_model *model;
} phi_prompt_desc;

/* Starts a run like phi_prompt, with options. *response gets a handle (response NULL: no handle).
   If the request changes the thread, responses of the former thread become stale. The thread is
   saved when the run is over (PHI_EV_THREAD_UPDATED). PHI_BAD_ARG: phi_last_error names the field.
   After a failure *response is stale and nothing has changed, except that the agent keeps the new
   thread if the failure came after the change of thread. */
PHI_API phi_status phi_prompt_with(phi_agent agent, const phi_prompt_desc *desc,
                                   phi_response *response);

/* Returns the current state of a request; for a stale handle all fields but state, done and status
   are zero. Pumping thread. */
PHI_API phi_response_info phi_response_get(phi_response response);

/* Calls phi_step until the request is done, or until timeout_ms has passed. timeout_ms:
   milliseconds of the runtime's clock; 0: one step; PHI_UNLIMITED: no limit. During the call
   event_fn gets the events of all agents (NULL: the events are dropped). PHI_OK: the request is
   done, and phi_response_get returns the outcome. PHI_TIMEOUT: the time has passed, and the run
   continues; phi_abort would end it. PHI_STALE; PHI_MISUSE: called inside a callback. Pumping
   thread. */
PHI_API phi_status phi_response_await(phi_response response, uint32_t timeout_ms,
                                      void (*event_fn)(void *user_data, const phi_event *event),
                                      void *user_data);

/* Frees the handle. An active run continues. A stale handle is harmless. */
PHI_API void phi_response_free(phi_response response);

#ifdef __cplusplus
}
inline phi_status phi_prompt_with(phi_agent agent, const phi_prompt_desc &desc,
                                  phi_response *response) {
    return phi_prompt_with(agent, &desc, response);
}
#endif
#endif
