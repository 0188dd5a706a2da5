/* run.h - what bounds a run: limits, deadlines, and how tools are run. Zero means default. */
#ifndef PHI_LOOP_RUN_H
#define PHI_LOOP_RUN_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Looked at before each turn; the first one reached ends the run with a user message
   "[Agent stopped: ...]". */
typedef struct phi_limits {
    uint32_t max_turns;  /* model calls a run (default 50; PHI_UNLIMITED) */
    uint64_t max_tokens; /* input + output over the run (default 1,000,000; UINT64_MAX: none) */
    uint32_t max_duration_ms; /* wall clock (default 600,000; PHI_UNLIMITED) */
    double max_cost;          /* dollars, needs the model's cost rates (default: none) */
} phi_limits;

/* How long the network may be silent. PHI_UNLIMITED for none. */
typedef struct phi_deadlines {
    uint32_t connect_ms;     /* from the start of a transfer to its connection (default 15,000) */
    uint32_t first_event_ms; /* from there to the first event of the answer (default 300,000) */
    uint32_t idle_ms;  /* between events that mean something; pings do not (default 120,000) */
    uint32_t total_ms; /* a whole model call (default: none; the run's own limit holds) */
} phi_deadlines;

typedef enum phi_tool_mode {
    PHI_TOOLS_PARALLEL = 0, /* all calls of a turn at once */
    PHI_TOOLS_SEQUENTIAL,   /* one after another */
    PHI_TOOLS_BATCHED       /* phi_agent_desc.tool_batch at a time (default 4) */
} phi_tool_mode;

#ifdef __cplusplus
}
#endif
#endif
