/* projection_in.h - the messages to send in a model call, by the effective policy, and their likely
   tokens. */
#ifndef PHI_LOOP_PROJECTION_IN_H
#define PHI_LOOP_PROJECTION_IN_H

#include "history/compact_in.h"
#include "history/project_in.h"
#include "history/thread_in.h"
#include "loop/types_in.h"
#include "wire/codec_in.h"

typedef struct phi__run_projection {
    const phi__item *items; /* NULL: all of the thread */
    size_t count;
    bool made; /* for this model call */
} phi__run_projection;

/* Computes the messages of this turn's model call, unless that was done, and emits warnings. False:
   *next is the run's next state. */
PHI__FN bool phi__projection_ensure(phi__run *run, phi__state *next);

/* The policy that holds now: that of the active run, or the agent's. NULL: none. */
PHI__FN const phi_policy *phi__projection_policy(const phi__agent *agent);

/* A policy of the run's own, copied. NULL: none. False: no memory. */
PHI__FN bool phi__projection_take_policy(phi__run *run, const phi_policy *policy);

/* The projection by the effective policy now; false: there is no policy. */
PHI__FN bool phi__projection_order_of(phi__agent *agent, phi__project_order *order);

/* The messages that the policy chose; NULL: the whole view. */
PHI__FN const phi__item *phi__projection_list(const phi__run *run, size_t *count);
PHI__FN void phi__projection_clear(phi__run *run); /* it is to be made anew */

/* The agent's own counter; its count_text, or the result, is NULL: the estimate. */
PHI__FN const phi_token_counter *phi__projection_counter(const phi__agent *agent);

/* By that counter: tokens of all that the agent's view holds; and of its tools and the schema of
   its format. */
PHI__FN uint64_t phi__projection_view_tokens(const phi__agent *agent);
PHI__FN uint64_t phi__projection_tool_tokens(const phi__agent *agent);
PHI__FN uint64_t phi__projection_overhead(const phi__run *run);

/* Tokens of the messages that the run would send now: those reported with the last answer, without
   the overhead, and an estimate of the messages since; where the list was changed since then, or
   nothing was reported, the estimate of all. */
PHI__FN uint64_t phi__projection_context_tokens(const phi__run *run);

/* Whether an item is in a span, from *span on. Items and spans both ascend; spans that do not are
   refused later. */
PHI__FN bool phi__weigh_in(const phi_rewrite *rewrite, size_t *span, const phi__item *item);

/* What plan->rewrite would come to, and of how many runs something goes. */
PHI__FN void phi__weigh_rewrite(const phi__agent *agent, phi__compacted *plan);

/* Whether less would be in view afterwards. */
PHI__FN bool phi__weigh_gains(const phi__agent *agent, const phi_rewrite *rewrite);

#endif
