/* types_in.h - the names of the pump's structs (their parts are declared by their owners, and put
   together in state_in.h), the states of a run, and the outcomes of a hook. */
#ifndef PHI_LOOP_TYPES_IN_H
#define PHI_LOOP_TYPES_IN_H

#include "base/base_in.h"
#include "loop/hook.h"

typedef struct phi__agent phi__agent;
typedef struct phi__run phi__run;
typedef struct phi__toolcall phi__toolcall;
typedef struct phi__response phi__response;

/* In the order of a run. Each calls one hook at most, so that a state whose hook waited is entered
   anew. */
typedef enum phi__state {
    PHI__RUN_ON = 0, /* no state: a feature leaves it to the others where the run goes */
    PHI__RUN_BEFORE_LOOP = 1,
    PHI__RUN_OPEN,
    PHI__RUN_FILTER, /* the prompts; then they are in the log */
    PHI__RUN_POLL,   /* steering, before the first turn */
    PHI__RUN_TOP,    /* filters of polled input, limits, budgets; may pause */
    PHI__RUN_BEFORE_TURN,
    PHI__RUN_TURN,
    PHI__RUN_TRANSFORM,
    PHI__RUN_CONVERT,
    PHI__RUN_REQUEST,
    PHI__RUN_CREDENTIAL, /* each attempt: its key, where the host gives one */
    PHI__RUN_SIGN,       /* each attempt, where the codec signs */
    PHI__RUN_SEND,       /* each attempt */
    PHI__RUN_STREAM,
    PHI__RUN_BACKOFF,
    PHI__RUN_HELD, /* by a feature, until it returns the next state */
    PHI__RUN_TOOLS,
    PHI__RUN_FAILED, /* the on_error hook */
    PHI__RUN_TURN_END,
    PHI__RUN_AFTER_TURN,
    PHI__RUN_NEXT,   /* another turn, for tools or steering? */
    PHI__RUN_FOLLOW, /* for follow-ups? else the queues are sealed */
    PHI__RUN_CLOSE,
    PHI__RUN_AFTER_LOOP,
    PHI__RUN_OVER, /* taken apart by the pump */
    /* Outcomes that are not states: turn.c acts on them. No run is ever in one of these. */
    PHI__RUN_LOST,    /* memory ran out */
    PHI__RUN_ENDED,   /* the attempt has ended: its failure says how */
    PHI__RUN_GIVE_UP, /* ... and its fault is for good */
    PHI__RUN_ANSWERED /* the answer is in the log: its calls are made */
} phi__state;

/* What phi__hooks_decide comes to. */
typedef enum phi__hooked {
    PHI__HOOK_ALLOW = PHI_ALLOW,
    PHI__HOOK_DENY = PHI_DENY,
    PHI__HOOK_WAIT = PHI_WAIT, /* come again: the run or the call is woken */
    PHI__HOOK_WARN = PHI_WARN,
    PHI__HOOK_GONE, /* the hook freed the agent: return at once */
    PHI__HOOK_LOST  /* no memory */
} phi__hooked;

#endif
