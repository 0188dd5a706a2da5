/* run.h - the settings of runs: limits, budgets, deadlines, retries, and the order of tools. Zero
   means default. */
#ifndef PHI_LOOP_RUN_H
#define PHI_LOOP_RUN_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checked before each turn; the first limit reached ends the run with a user message "[Agent
   stopped: ...]". In configuration files it is [execution], and max_tokens is max_total_tokens. */
typedef struct phi_limits {
    uint32_t max_turns;  /* model calls a run (default 50; PHI_UNLIMITED) */
    uint64_t max_tokens; /* input + output over the run (default 1,000,000; UINT64_MAX: none) */
    uint32_t max_duration_ms; /* as deadlines count (default 600,000; PHI_UNLIMITED) */
    double max_cost;          /* dollars, needs the model's cost rates (default: none) */
    /* a limit that is reached pauses the run (PHI_EV_PAUSED) until phi_budget_raise; after
       deadlines.decision_ms it ends the run */
    bool pause;
    /* none of them, whatever they say. phi_agent_get_desc then gives them as unlimited, and this as
       false. The budget, deadlines, memory.limit_bytes and the repeat guard still hold */
    bool disable;
} phi_limits;

/* What an agent may spend over its life, all its runs and those of the agents below it
   (phi_agent_desc.parent). Before a turn the worst that its model call may cost is reserved here
   and in every budget above: its input by estimate and max_tokens of output; afterwards its real
   cost is charged. So all together spend no more than the budget, except where an estimate was too
   low. A budget with no room for a turn counts as a limit that is reached. */
typedef struct phi_budget {
    uint64_t max_tokens;   /* of every kind, cached ones too (default: none) */
    double max_cost;       /* dollars, needs the model's cost rates (default: none) */
    uint64_t max_requests; /* model calls, retries not counted (default: none) */
} phi_budget;

/* What an agent does when its history nears memory.limit_bytes. The next run begins with it, before
   any hook is called; a run that does not fit by itself ends with an error, and the run after it
   begins with more room. */
typedef enum phi_at_memory_limit {
    /* Compacts the view, as phi_compact does, but without its hooks and events; where that is not
       enough, as FORGET. */
    PHI_AT_MEMORY_LIMIT_COMPACT = 0,
    /* Forgets the oldest turns: the newest turns, summaries and durable messages stay. */
    PHI_AT_MEMORY_LIMIT_FORGET,
    /* Nothing: runs end with an error until phi_agent_replace_messages, say, makes room. */
    PHI_AT_MEMORY_LIMIT_STOP
} phi_at_memory_limit;

/* The spending of a budget. reserved: by active turns. requests: while it, or a budget above it,
   bounds the agent; tokens and cost count in any case. */
typedef struct phi_spending {
    uint64_t tokens, reserved_tokens;
    double cost, reserved_cost;
    uint64_t requests;
} phi_spending;

/* Added to the limits of the active run, and to the agent's budget where it has that limit. A sum
   that overflows is no limit. */
typedef struct phi_raise {
    uint32_t turns;
    uint64_t tokens;
    uint32_t duration_ms;
    double cost;
    uint64_t requests;
} phi_raise;

/* A model call that failed in a way that may pass (phi_failure.retryable) is tried again after
   min(initial_delay_ms * backoff_multiplier^(attempt-1), max_delay_ms), give or take a fifth; a
   delay that the server asks for is used as it is. phi does not wait when the delay would end after
   the run's max_duration_ms. Failed attempts are not in the history; the failure's message takes
   some of its memory. */
typedef struct phi_retry {
    bool disable;              /* try once */
    uint32_t max_retries;      /* beyond the first attempt (default 3) */
    uint32_t initial_delay_ms; /* (default 1,000) */
    double backoff_multiplier; /* (default 2) */
    uint32_t max_delay_ms;     /* of ours (default 30,000) */
    /* when a server asks for more, the model call fails at once (default 60,000) */
    uint32_t max_server_delay_ms;
} phi_retry;

/* How many a queue gives at a time. */
typedef enum phi_queue_mode { PHI_QUEUE_ONE_AT_A_TIME = 0, PHI_QUEUE_ALL } phi_queue_mode;

/* How long the network may be silent, and a person may think, without the gaps between steps
   (docs/loop.md, "Which time counts"). PHI_UNLIMITED for none. */
typedef struct phi_deadlines {
    uint32_t connect_ms;     /* from the start of a transfer to its connection (default 15,000) */
    uint32_t first_event_ms; /* from there to the first event of the answer (default 300,000) */
    uint32_t idle_ms;  /* between events that mean something; pings do not (default 120,000) */
    uint32_t total_ms; /* a whole model call (default: none; the run's own limit holds) */
    /* how long a run waits for phi_decide or phi_budget_raise (default 300,000) */
    uint32_t decision_ms;
} phi_deadlines;

typedef enum phi_tool_mode {
    PHI_TOOLS_PARALLEL = 0, /* all calls of a turn at once */
    PHI_TOOLS_SEQUENTIAL,   /* one after another */
    PHI_TOOLS_BATCHED       /* phi_tool_options.batch at a time (default 4) */
} phi_tool_mode;

typedef enum phi_verdict {
    PHI_ALLOW = 0,
    PHI_DENY,
    PHI_WAIT, /* the answer comes by phi_decide */
    PHI_WARN  /* FILTER only; elsewhere as PHI_ALLOW */
} phi_verdict;

struct phi_hook;

/* A hook, which is called at the points of phi_agent_desc.hook_points (loop/hook.h).
   Threads: the pumping thread, inside phi_step (at the two UPDATE points: inside phi_call_update).
   It may call every phi_ function but phi_step, phi_runtime_close and phi_runtime_free; it may free
   its agent, or any other. */
typedef phi_verdict (*phi_hook_fn)(void *user_data, struct phi_hook *hook);

#ifdef __cplusplus
}
#endif
#endif
