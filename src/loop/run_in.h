/* run_in.h - makes, begins, detaches and destroys runs; and fails them, with one error event, also
   when memory ran out. */
#ifndef PHI_LOOP_RUN_IN_H
#define PHI_LOOP_RUN_IN_H

#include "history/policy.h"
#include "history/thread_in.h"
#include "loop/run.h"
#include "loop/tool.h"
#include "loop/types_in.h"
#include "model/event.h"
#include "model/failure.h"

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

/* Moves a run that has not begun, and its prompts, into the agent's new log; its entries in the old
   log stay there. False: no memory, and the run is unchanged. */
PHI__FN bool phi__draft_rehome(phi__run *run, const phi_thread *before);

/* How a run begins. */
typedef struct phi__start {
    phi_trigger trigger; /* of its first turn */
    bool emitted;        /* AGENT_START is out */
    bool silent;         /* no AFTER_LOOP: the run was refused before it began */
} phi__start;

/* AGENT_START, unless it is out: before the run, or a snapshot of it, failed or went on. False: the
   reserve was used, and the run must end. */
PHI__FN bool phi__run_emit_start(phi__run *run);

/* The run was refused: its end is its only event from here on. */
PHI__FN void phi__run_silence(phi__run *run);

/* How often the limits of an agent and of its runtime have refused. */
typedef struct phi__refusals {
    uint64_t own, all;
} phi__refusals;

/* failure: in the thread, or static. */
PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status);

/* Handles PHI__RUN_LOST: releases everything that the run holds of its turn. */
PHI__FN phi__state phi__run_no_memory(phi__run *run);
PHI__FN phi_status phi__run_new(phi__agent *agent, const phi__run_order *order);

/* The same with one prompt, a user's message of these blocks. NULL: without a prompt. */
PHI__FN phi_status phi__run_new_of(phi__agent *agent, phi__run_order order,
                                   const phi_content *content, size_t count);

/* The limit that refused it memory; NULL: the allocator. */
PHI__FN const phi_failure *phi__run_refusal(const phi__agent *agent);

/* Copies a text of the request's into *at, run->own.extra or run->own.context; empty: none. False:
   no memory. */
PHI__FN bool phi__run_take_text(phi__run *run, phi_str text, phi_str *at);

/* The same of its format; NULL: none of its own. */
PHI__FN bool phi__run_take_format(phi__run *run, const phi_format *format);

/* The request's, or the agent's. */
PHI__FN const phi_format *phi__run_format_of(const phi__run *run);
PHI__FN double phi__run_temperature(const phi__run *run); /* negative: none was set */

/* For phi__run_load: a run that began with an entry of its agent's thread; the agent's, from
   phi__run_take on. NULL: no memory. */
PHI__FN phi__run *phi__run_make_for(phi__agent *agent, const phi__entry *start);
PHI__FN void phi__run_take(phi__run *run);
PHI__FN void phi__run_unmake(phi__run *run);
PHI__FN void phi__run_detach(phi__run *run);  /* nothing wakes it or is called by it any more */
PHI__FN void phi__run_destroy(phi__run *run); /* at once, without events: agent or runtime go */

#endif
