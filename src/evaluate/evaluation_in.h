/* evaluation_in.h - an evaluation: its branches, their outcomes, and the agents that run them.

   It is in the agent's memory and attached to it, from phi_evaluate until the agent is freed or the
   next evaluation begins. Each branch, and the judge, is a child agent; its seat follows it. The
   children belong to the evaluation while it is active. At its end they are left as agents of one
   run are: each goes when its events were popped. */
#ifndef PHI_EVALUATE_EVALUATION_IN_H
#define PHI_EVALUATE_EVALUATION_IN_H

#include "agent/agent_in.h"
#include "evaluate/evaluate.h"
#include "features/attached_in.h"

typedef struct phi__evaluation phi__evaluation;

/* The place of a child. */
typedef struct phi__seat {
    phi__evaluation *of;
    size_t index;      /* of its branch; branch_count: the judge */
    phi__agent *child; /* NULL: there is none, or it was freed */
    bool runs;
} phi__seat;

typedef enum phi__evaluation_phase {
    PHI__EVALUATION_BRANCHES = 0,
    PHI__EVALUATION_JUDGE,
    PHI__EVALUATION_CUSTOM, /* evaluate_fn is called */
    PHI__EVALUATION_OVER
} phi__evaluation_phase;

struct phi__evaluation {
    phi__attached attached; /* to the agent */
    phi__agent *agent;
    phi_arena arena;    /* of all that `pub` points to, and of the seats */
    phi_evaluation pub; /* branches: `branches` */
    phi_branch *branches;
    phi__seat *seats; /* one a branch, and behind them the judge's */
    phi__evaluation_phase phase;
    phi_evaluate_by by;
    phi_evaluate_fn evaluate_fn;
    void *user_data;
    phi_str judge_id;        /* loop id that is kept for the judge */
    phi_status judge_status; /* of its run */
    size_t candidates;       /* branches that may win */
    size_t verdict;          /* the judge's, among those */
    phi_spending held;       /* in the budgets of the payers, for the judge's call */
    phi_agent *payers;       /* the agent, and all that were above it */
    size_t payer_count;
    uint32_t aborts;      /* of the agent, when it began */
    bool continues;       /* the branches had no prompt */
    uint32_t lane;        /* the active one when it began; branches fork it */
    uint64_t entries;     /* of the thread then: behind the last one they fork */
    bool lost;            /* no memory for an outcome */
    phi__timer timer;     /* the next look: of evaluate_fn, or after a child was freed */
    uint64_t deadline_us; /* of evaluate_fn */
};

/* A new one, without children and not attached. NULL: no memory. */
PHI__FN phi__evaluation *phi__evaluation_new(phi__agent *agent, size_t branch_count);
/* Frees its memory, and the children that it has. NULL: harmless. */
PHI__FN void phi__evaluation_free(phi__evaluation *e);
/* The agent's; NULL: none. */
PHI__FN phi__evaluation *phi__evaluation_of(const phi__agent *agent);
/* Whether the agent or one above it was aborted meanwhile, or the runtime is closing. */
PHI__FN bool phi__evaluation_aborted(const phi__evaluation *e);
PHI__FN bool phi__evaluation_any_runs(const phi__evaluation *e);
PHI__FN bool phi__evaluation_is_judge(const phi__seat *seat);

/* Takes a child in. And gives it back: it is freed when its events were popped. */
PHI__FN void phi__evaluation_seat(phi__seat *seat, phi__agent *child,
                                  const phi__child_watch *watch);
PHI__FN void phi__evaluation_unseat(phi__seat *seat);
/* The host has freed the child: a branch counts as cancelled, also where its run was over. */
PHI__FN void phi__evaluation_gone(phi__seat *seat);
/* Reads off a child whose run is over. */
PHI__FN void phi__evaluation_outcome(phi__seat *seat, phi_status status);
/* Lets the agent and all above it pay for a reservation. False: no memory. And gives it back. */
PHI__FN bool phi__evaluation_payers(phi__evaluation *e);
PHI__FN void phi__evaluation_give(phi__evaluation *e);
/* The sums of all, into pub. */
PHI__FN void phi__evaluation_sum(phi__evaluation *e);
/* Looks again after that time: in the next phi_step at the earliest. Needs no memory. */
PHI__FN void phi__evaluation_later(phi__evaluation *e, uint64_t after_us);

#endif
