/* run.h - the settings of runs: limits, budgets, deadlines, retries, and the order of tool calls.
   In every field zero means the default. */
#ifndef PHI_LOOP_RUN_H
#define PHI_LOOP_RUN_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The limits of a run, checked before each turn. The first limit that is reached ends the run with
   a user message "[Agent stopped: ...]". In configuration files the limits are in [execution], and
   max_tokens is called max_total_tokens there. */
typedef struct phi_limits {
    uint32_t max_turns; /* model calls of one run (default 50; PHI_UNLIMITED) */
    /* input and output tokens of the whole run (default 1,000,000; UINT64_MAX: none) */
    uint64_t max_tokens;
    /* time, measured as for phi_deadlines (default 600,000; PHI_UNLIMITED) */
    uint32_t max_duration_ms;
    /* dollars; has no effect without model.cost, which no preset sets (default: none) */
    double max_cost;
    /* A reached limit does not end the run at once but pauses it (PHI_EV_PAUSED) until
       phi_budget_raise. After deadlines.decision_ms the paused run ends. */
    bool pause;
    /* No limit of this struct applies, whatever its fields say. phi_agent_get_desc then returns all
       of them as unlimited, and `disable` as false. The budget, deadlines, memory.limit_bytes and
       the repeat guard still apply. */
    bool disable;
} phi_limits;

/* What an agent may spend over its life, in all its runs and in those of the agents below it
   (phi_agent_desc.parent). Before each turn phi reserves the most that the model call may cost, in
   this budget and in every budget above. This amount is the estimated input plus max_tokens of
   output. After the call its real cost is charged. So all agents together spend no more than the
   budget, unless an estimate was too low. A budget with no room for a turn counts as a reached
   limit. */
typedef struct phi_budget {
    uint64_t max_tokens;   /* tokens of every kind, including cached tokens (default: none) */
    double max_cost;       /* dollars; has no effect without model.cost (default: none) */
    uint64_t max_requests; /* model calls, not counting retries (default: none) */
} phi_budget;

/* What an agent does when its history nears memory.limit_bytes. The agent does so at the start of
   the next run, before any hook is called. A run that does not fit by itself ends with an error,
   and the run after it starts with more room. */
typedef enum phi_at_memory_limit {
    /* Compacts the view like phi_compact, but without hooks and events. If this does not free
       enough, continues as FORGET does. */
    PHI_AT_MEMORY_LIMIT_COMPACT = 0,
    /* Forgets the oldest turns. The newest turns, summaries and durable messages stay. */
    PHI_AT_MEMORY_LIMIT_FORGET,
    /* Does nothing: runs end with an error until the host makes room, for example with
       phi_agent_replace_messages. */
    PHI_AT_MEMORY_LIMIT_STOP
} phi_at_memory_limit;

/* The spending of a budget. The reserved_ fields are reserved by active turns. tokens and cost are
   always counted. requests counts only the model calls of agents with a limit in their own budget
   or in a budget above: without budgets it stays 0, and if only a child has a budget, it counts
   only the child's calls. */
typedef struct phi_spending {
    uint64_t tokens, reserved_tokens;
    double cost, reserved_cost;
    uint64_t requests;
} phi_spending;

/* Amounts that phi_budget_raise adds to the limits of the active run and to the limits of the
   agent's budget. A limit that is not set stays unset. If a sum overflows, that limit is
   removed. */
typedef struct phi_raise {
    uint32_t turns;
    uint64_t tokens;
    uint32_t duration_ms;
    double cost;
    uint64_t requests;
} phi_raise;

/* When and how a failed model call is tried again, if the failure is temporary
   (phi_failure.retryable). The delay is min(initial_delay_ms * backoff_multiplier^(attempt-1),
   max_delay_ms), varied by up to a fifth in either direction. A delay that the server asks for is
   used unchanged. If the delay would end after the run's max_duration_ms, phi does not retry
   (unless limits.pause is set). The history does not contain failed attempts, but the failure's
   message takes memory of the history. */
typedef struct phi_retry {
    bool disable;              /* make one attempt only */
    uint32_t max_retries;      /* retries after the first attempt (default 3) */
    uint32_t initial_delay_ms; /* (default 1,000) */
    double backoff_multiplier; /* (default 2) */
    uint32_t max_delay_ms;     /* the longest delay that phi computes itself (default 30,000) */
    /* if a server asks for a longer delay, the model call fails at once (default 60,000) */
    uint32_t max_server_delay_ms;
} phi_retry;

/* How many messages a queue delivers at a time. */
typedef enum phi_queue_mode { PHI_QUEUE_ONE_AT_A_TIME = 0, PHI_QUEUE_ALL } phi_queue_mode;

/* How long phi waits for the network and for a person. Deadlines count at most one second of the
   time between two steps (docs/loop.md, "Which time counts"). PHI_UNLIMITED: no deadline. */
typedef struct phi_deadlines {
    uint32_t connect_ms;     /* from the start of a transfer to its connection (default 15,000) */
    uint32_t first_event_ms; /* from the connection to the answer's first event (default 300,000) */
    uint32_t idle_ms; /* between two events of the answer; pings do not count (default 120,000) */
    /* for a whole model call (default: none; the run's max_duration_ms applies) */
    uint32_t total_ms;
    /* for waiting for phi_decide or phi_budget_raise (default 300,000) */
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
    PHI_WAIT, /* phi_decide gives the verdict later */
    PHI_WARN  /* only for FILTER; elsewhere the same as PHI_ALLOW */
} phi_verdict;

struct phi_hook;

/* A hook: phi calls it at the points in phi_agent_desc.hook_points (loop/hook.h).
   Threads: the pumping thread, inside phi_step (at the two UPDATE points: inside phi_call_update).
            A hook may call every phi_ function except phi_step, phi_runtime_close and
            phi_runtime_free. It may free its own agent or any other agent. */
typedef phi_verdict (*phi_hook_fn)(void *user_data, struct phi_hook *hook);

#ifdef __cplusplus
}
#endif
#endif
