/* agent.h - an agent: a model, a prompt, tools and a history; who. */
#ifndef PHI_AGENT_AGENT_H
#define PHI_AGENT_AGENT_H

#include "agent/runtime.h"
#include "loop/run.h"
#include "loop/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field but model.protocol and model.id. */
typedef struct phi_agent_desc {
    phi_model model;           /* copied, strings too */
    const char *system_prompt; /* copied (default: none) */
    const phi_tool *tools;     /* the array is copied; what it points to, see phi_tool */
    size_t tool_count;
    phi_tool_mode tool_mode; /* (default: all calls of a turn at once) */
    uint32_t tool_batch;     /* calls at a time in PHI_TOOLS_BATCHED (default 4) */
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t max_tokens;  /* output tokens a call (default: the model's) */
    bool has_temperature; /* send `temperature` */
    double temperature;
    bool disable_cache; /* send no prompt cache marks */
    phi_limits limits;
    phi_deadlines deadlines;
    const char *agent_id, *session_id, *config_id; /* copied (default: random; config_id: from the
                                                      model). loop ids are session.config.N */
    size_t memory_limit_bytes;   /* of this agent, its history included (default: none) */
    size_t event_queue_bytes;    /* waiting for the host, then reading stops (default 256 KiB) */
    size_t max_event_bytes;      /* one event of an answer's stream (default 16 MiB) */
    uint64_t max_response_bytes; /* one answer (default 256 MiB) */
    void *user_data;             /* comes back in every event */
} phi_agent_desc;

/* Makes an agent. A handle whose rt is NULL: phi_last_error says which field to fix, or PHI_NO_MEMORY,
   or PHI_MISUSE: the runtime is closing. */
PHI_API phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc *desc);

/* Frees it with its history, in whatever it is doing: pending calls are cancelled (their tool's
   `cancel` is called), queued events are purged, no AGENT_END follows. Safe in callbacks, also of the
   agent's own tools. PHI_STALE: it is gone already. What popped events of it point to is gone too. */
PHI_API phi_status phi_agent_free(phi_agent agent);

PHI_API bool phi_agent_alive(phi_agent agent);   /* any thread */
PHI_API bool phi_agent_running(phi_agent agent); /* from phi_prompt until AGENT_END is queued */

/* Starts a run with a prompt. The text is copied. PHI_BUSY: a run is going on, or the events of the
   last one, which ended without memory, were not popped. On any failure nothing changed. */
PHI_API phi_status phi_prompt(phi_agent agent, const char *text);
PHI_API phi_status phi_prompt_content(phi_agent agent, const phi_content *content, size_t count);

/* Ends the run as soon as the pump sees it: what has arrived is kept, calls get the result
   `Cancelled` (unless their own is on its way), and the agent can be prompted again. A later run is
   not meant. Any thread. PHI_OK means posted; PHI_FULL: the inbox is full now, try again; PHI_STALE. */
PHI_API phi_status phi_abort(phi_agent agent);

/* Replaces the model from the next run on, in mid-conversation. Copied; a config_id that was given
   stays. PHI_BUSY while running; as phi_agent_new when the model is no good: then nothing changed. */
PHI_API phi_status phi_agent_set_model(phi_agent agent, const phi_model *model);

/* Forgets the history and starts a new session id; needs no memory. Queued events are purged, and what
   popped ones of it point to is gone. PHI_BUSY while running. */
PHI_API phi_status phi_agent_reset(phi_agent agent);

/* Identity; owned by the agent, valid until it is freed, and the session id until phi_agent_reset, the
   model id until phi_agent_set_model. Empty for a stale one. */
PHI_API phi_str phi_agent_id(phi_agent agent);
PHI_API phi_str phi_agent_session_id(phi_agent agent);
PHI_API phi_str phi_agent_model_id(phi_agent agent);

/* Tokens of all runs, and dollars by the model's rates. */
PHI_API phi_usage phi_agent_usage(phi_agent agent);
PHI_API double phi_agent_cost(phi_agent agent);

/* The history: how many messages (0 for a stale agent), and message i, from 0, oldest first; NULL past
   the end. Owned by the agent, valid until it is freed or reset. */
PHI_API size_t phi_message_count(phi_agent agent);
PHI_API const phi_message *phi_message_at(phi_agent agent, size_t i);

/* An event as the interchange JSON of session files and logs, in the arena: {"type":"TurnStart",...}.
   Deltas become MessageUpdate with the answer as far as it had come. Error is a type of our own.
   While the event is valid, on the pumping thread. PHI_STALE: its agent is gone. */
PHI_API phi_status phi_event_to_json(const phi_event *event, phi_arena *arena, phi_str *out);

/* Bytes of this agent in use and at most so far. */
PHI_API size_t phi_agent_memory_used(phi_agent agent, size_t *peak);

#ifdef __cplusplus
}
inline phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc &desc) {
    return phi_agent_new(rt, &desc);
}
#endif
#endif
