/* strategy_in.h - a strategy at work: its machine, and the model calls under way.

   A job begins and ends with the provider's call of a run. It owns its machine, whose memory is an
   arena in the agent's budget, and the hidden agents below the agent that make the model calls: one
   each, for one run. Answers go to the machine in the order in which their calls were made,
   whichever came first, so that a run does not depend on the network's timing. */
#ifndef PHI_STRATEGY_STRATEGY_IN_H
#define PHI_STRATEGY_STRATEGY_IN_H

#include "agent/agent_in.h"
#include "features/attached_in.h"
#include "strategy/machine_in.h"
#include "strategy/strategy.h"

#define PHI__STRATEGY_CALLS PHI_STRATEGY_COMMANDS /* under way at a time, at most */

/* A model call under way. */
typedef struct phi__strategy_call {
    uint32_t id, max_rounds;
    uint32_t most_turns, turns; /* of its run: at most, and so far */
    phi_agent child;            /* rt NULL: it could not be made */
    bool over;
    bool silent;   /* the last answer has no text so far: `text` is an earlier one's */
    phi__buf text; /* of the last answer with a text, as far as it came */
    phi_stop_reason stop_reason;
    phi_usage usage;
    phi_status status;
    phi_failure_kind kind;
    phi_str failure; /* a message, in the job's arena or static */
    uint64_t began_us;
    uint32_t timeout_ms, elapsed_ms; /* at most; before this process, of one out of a snapshot */
    bool expired;                    /* it took longer, and is being ended */
} phi__strategy_call;

typedef struct phi__strategy_job {
    phi__attached attached;
    phi__agent *agent;
    const phi_strategy_desc *desc;
    const phi_model_request *request; /* until the provider's close */
    void *state;                      /* the machine */
    phi_arena arena, scratch;
    phi__strategy_call calls[PHI__STRATEGY_CALLS]; /* oldest first */
    size_t call_count;
    uint64_t made, most;    /* model calls: so far, and at most */
    uint64_t elapsed_ms;    /* before this process, of a run that was restored */
    uint64_t started_us;    /* in this process */
    const phi_json *saved;  /* calls out of a snapshot, while the machine is loaded */
    bool settle, stopped;   /* it is to end; no call is left for the machine */
    bool over, no_memory;   /* the machine is done, or has failed */
    phi_status status;      /* of the end */
    phi_failure_kind kind;  /* of the last call that failed, with its status */
    phi_status kind_status; /* the same */
    bool filtered;          /* the last answer was ended by a filter */
    phi_stop_reason reason; /* of the answer */
    phi_str text;           /* the answer or the message; terminated */
} phi__strategy_job;

/* strategy_call.c */
/* Where the prompt begins that ends before `to`: user messages of one run, and of none. */
PHI__FN size_t phi__strategy_call_from(const phi_model_request *request, size_t to);
/* Begins a model call: a failure is the call's, and comes as its answer. False: no memory. */
PHI__FN bool phi__strategy_call_begin(phi__strategy_job *job, const phi_strategy_call *call);
/* Ends calls that take longer than they may: their failures come as those of others. */
PHI__FN void phi__strategy_call_expire(phi__strategy_job *job);
/* The oldest call is over: fills the event for the machine, and copies its run into the log. False:
   no memory. */
PHI__FN bool phi__strategy_call_take(phi__strategy_job *job, phi_strategy_event *event);
/* The calls that go on where they were when a snapshot is restored: those that may have called
   tools. An array. */
PHI__FN void phi__strategy_call_save(const phi__strategy_job *job, phi__buf *out,
                                     phi_arena *scratch);
/* Model calls of those that do not, and are made again. */
PHI__FN uint64_t phi__strategy_call_again(const phi__strategy_job *job);
/* The oldest call is forgotten, after the machine has seen its event. */
PHI__FN void phi__strategy_call_drop(phi__strategy_job *job);
PHI__FN void phi__strategy_call_drop_all(phi__strategy_job *job);
/* The agent is one that makes model calls of this strategy, or stands below one. */
PHI__FN bool phi__strategy_call_inside(const phi__agent *agent, const phi_strategy_desc *desc);
/* Model calls that may yet be made, beside those of calls under way. */
PHI__FN uint32_t phi__strategy_call_left(const phi__strategy_job *job);

/* strategy.c: the worst case of a prompt of so many tokens, with desc->max_calls; answer_tokens: of
   one model call. */
PHI__FN void phi__strategy_bill(const phi_strategy_desc *desc, const phi_strategy *strategy,
                                const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                                phi_strategy_bill *out);

#endif
