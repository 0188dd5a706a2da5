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

#include "loop/loop_in.h"
#include "base/base_in.h"
#include "loop/hook.h"

enum { PHI__QUESTION_MOST = 64 }; /* open at once for one agent */

/* Of the loop. A call is over: its questions end in the next step. The agent is freed: all end now;
   one whose hook is being called ends behind it. */
PHI__FN void phi__question_call_over(const phi__toolcall *call);

#endif
