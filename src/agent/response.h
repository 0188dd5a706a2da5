/* response.h - a prompt with options: phi_prompt_with gives a handle to the run and its answer.

   The handle is for hosts that have many requests under way and do not want to follow events.
   Events come all the same. */
#ifndef PHI_AGENT_RESPONSE_H
#define PHI_AGENT_RESPONSE_H

#include "agent/agent.h"
#include "log/policy.h"
#include "model/failure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A request and its outcome. It is valid until phi_response_free, until its agent is freed or
   reset, its messages are replaced or it begins a session, until the agent has PHI_RESPONSES_KEPT
   newer ones, or until a newer run forgets older entries (phi_agent_desc.memory.at_limit); then it
   is stale. */
typedef struct phi_response {
    phi_runtime *rt;
    uint32_t index, gen;
} phi_response;

enum { PHI_RESPONSES_KEPT = 16 };

typedef enum phi_response_state {
    PHI_RESPONSE_STALE = 0,
    PHI_RESPONSE_RUNNING,
    PHI_RESPONSE_COMPLETED, /* the run ended by itself */
    PHI_RESPONSE_FAILED,    /* ... by an error, a limit, a hook or a filter: see status */
    PHI_RESPONSE_CANCELLED
} phi_response_state;

/* Owned by the agent, valid as long as the response; while the run of a thread in a store is
   active, message, text and loop_id only until the next phi_step: call again. */
typedef struct phi_response_info {
    phi_response_state state;
    bool done;         /* not running; true for a stale handle */
    phi_status status; /* AGENT_END's; PHI_BUSY while running; PHI_STALE */
    phi_agent agent;
    phi_str loop_id;
    phi_str id;                 /* of the request */
    phi_str query;              /* the prompt: its first text block */
    const phi_message *message; /* the last answer of the run; NULL: none yet */
    phi_str text;               /* of its last text block; empty: none */
    const phi_failure *failure; /* NULL: none */
    phi_usage usage;            /* so far, or all of it */
    double cost;
    int64_t asked_ms, ended_ms; /* Unix time; ended_ms 0: not yet */
    int64_t first_event_ms;     /* when the answer's first delta came; 0: none has */
} phi_response_info;

/* A prompt, and settings for this request only. Zero means default for every field but text or
   content: give one of the two, and not out of a thread that this request leaves. */
typedef struct phi_prompt_desc {
    const char *text;           /* copied */
    const phi_content *content; /* a user message's blocks, in place of text; copied */
    size_t content_count;
    /* the policy of this run's model calls and warnings; copied (default: the agent's, which is not
       changed) */
    const phi_policy *policy;
    /* of the agent's store: phi_agent_use_thread first (default: its current thread) */
    const char *thread_id;
    bool new_thread; /* phi_agent_use_thread with NULL first */
    /* of this run alone, zero fields as in phi_agent_desc; copied (default: the agent's) */
    const phi_limits *limits;
    /* of what this run waits for (default: the agent's; PHI_UNLIMITED) */
    uint32_t decision_timeout_ms;
    /* This run has these tools, and none of the agent's; checked as phi_agent_desc.tools. Copied;
       their pointers are borrowed until PHI_EV_AGENT_END was popped (default: the agent's). A
       snapshot of the run has their names only: it continues with the tools of phi_agent_restore's
       desc that have one of them. */
    const phi_tool *tools;
    size_t tool_count;
    /* names of its tools, the only ones to offer; read in the call (default: all are offered) */
    const char *const *allowed_tools;
    size_t allowed_count;
    bool no_tools;  /* offer none; of raw_tools neither, as with tools and allowed_tools */
    const char *id; /* of the request, UTF-8, at most 128 bytes; copied (default: made) */
    /* JSON text about it, for the host; copied (default: none). Where id or refs are given they are
       kept with the message in the log: its details are {"request_id":...,"refs":...}. Never
       sent */
    const char *refs;
    /* JSON text of an object, merged into the body of this run's requests over the agent's `extra`;
       see phi_agent_desc.options.extra. Copied; a snapshot of the run has it (default: none) */
    const char *extra;
    /* JSON text of an object, which the tools of this run read in phi_call_info. Never sent.
       Copied; a snapshot of the run has it (default: none) */
    const char *tool_context;
    /* JSON text about this run, for the host: in its AGENT_START, its LOOP_START entry and its
       record. Never sent; copied (default: none) */
    const char *metadata;
    /* of this run's answers; copied; a snapshot of the run has it (default: the agent's) */
    const phi_format *format;
    bool has_temperature; /* this run sends `temperature` (default: the agent's) */
    double temperature;
    /* This run's model calls, and those below it that have the agent's model, are of this model, by
       the agent's provider if it has one. Loop ids stay the agent's. Copied; a snapshot of the run
       does not have it: it continues with the model of phi_agent_restore's desc (default: the
       agent's) */
    const phi_model *model;
} phi_prompt_desc;

/* As phi_prompt, with options, and a handle where `response` is given (NULL: none). Where it
   changes the thread, responses of the former thread are stale; the thread is saved when the run is
   over (PHI_EV_THREAD_UPDATED). PHI_BAD_ARG: phi_last_error names the field. A failure after the
   change of the thread leaves the agent with the new one; else nothing changed, and *response is
   stale. */
PHI_API phi_status phi_prompt_with(phi_agent agent, const phi_prompt_desc *desc,
                                   phi_response *response);

/* The state of the request now; for a stale handle all but state, done and status is zero. Pumping
   thread. */
PHI_API phi_response_info phi_response_get(phi_response response);

/* Calls phi_step until the request is done, for at most so long: PHI_TIMEOUT then, whatever hangs,
   and the run continues; phi_abort ends it. `event_fn` gets the events meanwhile, of every agent
   (NULL: they are dropped). Milliseconds of the runtime's clock; 0: one step; PHI_UNLIMITED: no
   limit. PHI_OK: phi_response_get says what became of it. PHI_STALE; PHI_MISUSE: inside a callback.
   Pumping thread. */
PHI_API phi_status phi_response_await(phi_response response, uint32_t timeout_ms,
                                      void (*event_fn)(void *user_data, const phi_event *event),
                                      void *user_data);

/* Frees the handle; a run that is active continues. A stale one is harmless. */
PHI_API void phi_response_free(phi_response response);

#ifdef __cplusplus
}
inline phi_status phi_prompt_with(phi_agent agent, const phi_prompt_desc &desc,
                                  phi_response *response) {
    return phi_prompt_with(agent, &desc, response);
}
#endif
#endif
