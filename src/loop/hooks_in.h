/* hooks_in.h - a question that a room above the loop puts to the host of an agent: a server
   wants a form filled in, or an answer of the agent's model.

   The host decides in its hook, point PHI_HOOK_QUESTION: at once, or by phi_decide. Open calls
   nothing of the host's and never calls `decided`: the hook is called in the next phi_step, or
   later in the one that is under way. `decided` follows when the answer is there. An agent whose
   hook does not want the point denies.

   `decided` is called once for each question that was opened and not closed: with the host's
   verdict, PHI_ALLOW or PHI_DENY, and its reply; with PHI_WAIT and a message after the deadline,
   when the call is over (finished, cancelled, late, aborted), when the agent is freed, and where
   memory ran out. It may open and close questions, give results of calls and free agents. The
   question is gone when it is called. An abort ends the questions of the run's calls; a question of
   no call needs no run, and outlives those that its agent has.
   A question is in no snapshot and on no tape: it belongs to a live connection.

   Memory: the agent's budget. Threads: the pumping thread. */
#ifndef PHI_LOOP_HOOKS_IN_H
#define PHI_LOOP_HOOKS_IN_H

#include "base/list_in.h"
#include "loop/hook.h"
#include "loop/types_in.h"

struct phi__decision;

typedef struct phi__question phi__question;

typedef struct phi__question_desc {
    phi_call call;       /* that it comes from (default: none) */
    phi_str source;      /* who asks: a server's name; this and the next three are copied */
    phi_str kind;        /* "elicitation", "sampling"; the hook's question_kind */
    phi_str text;        /* for a person: without control characters then, as source */
    phi_str arguments;   /* JSON text: the question itself */
    uint32_t timeout_ms; /* (default: the agent's deadlines.decision_ms; PHI_UNLIMITED) */
    /* reply: valid until it returns. */
    void (*decided)(void *ctx, phi_verdict verdict, phi_str reply);
    void *ctx;
} phi__question_desc;

enum { PHI__QUESTION_MOST = 64 }; /* open at once for one agent */

/* PHI_STALE: the agent is gone, or the call is over; PHI_MISUSE: the runtime closes; PHI_FULL:
   PHI__QUESTION_MOST are open; PHI_NO_MEMORY. Then nothing was opened. */
PHI__FN phi_status phi__question_open(phi_agent agent, const phi__question_desc *desc,
                                      phi__question **out);

/* Withdraws it: its ticket dies, and `decided` is not called. Not for one that is gone; NULL is
   harmless. */
PHI__FN void phi__question_close(phi__question *question);

/* Of the loop. A call is over: its questions end in the next step. The agent is freed: all end now;
   one whose hook is being called ends behind it. */
PHI__FN void phi__question_call_over(const phi__toolcall *call);
PHI__FN void phi__question_drop_all(phi__agent *agent);

#endif
