/* draft_in.h - the first entries of a run: its beginning is in the log before any event, its
   prompts are kept beside it until the filters have passed them. */
#ifndef PHI_LOOP_DRAFT_IN_H
#define PHI_LOOP_DRAFT_IN_H

#include "loop/run.h"
#include "loop/tool.h"
#include "loop/types_in.h"
#include "history/policy.h"
#include "history/thread_in.h"

/* A run's part of its log. */
typedef struct phi__said {
    /* Before they are in the log: in the thread's segment, to be attached; NULL: they are, or there
       are none. */
    phi__entry *prompts;
    size_t prompt_count;
    size_t first_message;    /* of the run, in its lane's messages */
    size_t message_count;    /* of a run that has ended */
    size_t emitted_messages; /* prompts whose events were emitted */
} phi__said;

/* A run, by prompts (user messages; copied) or from where the history stands (none). loop_id and
   parent empty: made, and the agent's last. On failure nothing changed. */
typedef struct phi__run_order {
    const phi_message *prompts;
    size_t prompt_count;
    phi_continuation continuation;
    phi_str loop_id, parent_loop_id;
    bool no_turns;
    /* With what an earlier run of a hidden agent did: an abort not read yet means it, too. */
    bool goes_on;
    /* of this run alone; copied; NULL or 0: the agent's */
    const phi_policy *policy;
    const phi_limits *limits;
    const phi_tool *tools; /* where has_tools: these, of which there may be none */
    size_t tool_count;
    bool has_tools;
    uint32_t waits_ms;
    const char *extra; /* NULL: none */
    const char *context;
    const char *metadata;
    const phi_format *format;
    bool has_temperature;
    double temperature;
} phi__run_order;

/* False: no memory, and the log is as it was, but for results of calls that had none. */
PHI__FN bool phi__draft_run(phi__run *run, const phi__run_order *order);
/* Moves a run that has not begun, and its prompts, into the agent's new log; its entries in the old
   log stay there. False: no memory, and the run is unchanged. */
PHI__FN bool phi__draft_rehome(phi__run *run, const phi_thread *before);

#endif
