/* schedule_in.h - which runs go on: the list of those that are ready, what wakes and what cancels
   them, and the budget of a step.

   A run that waits is in no list; whoever ends its wait (a push, a result, a timer, a cancel) wakes
   it. A slice that was begun is finished, so a part of the step's budget is kept for that. */
#ifndef PHI_LOOP_SCHEDULE_IN_H
#define PHI_LOOP_SCHEDULE_IN_H

#include "io/transport.h"
#include "loop/types_in.h"

/* What ends a run early, or has ended it. */
typedef struct phi__early {
    bool cancelled, over;
    bool stopping;  /* ends when its turn is over */
    bool starved;   /* something that was said to it found no memory */
    phi_str reason; /* of phi_abort_run, the agent's own; at NULL: none */
} phi__early;

/* The place of a run in the list. */
typedef struct phi__ready {
    phi__run *next, *prev;
    bool in;
} phi__ready;

/* What a step may take, and what is left of it. */
typedef struct phi__slice {
    uint32_t budget_us, budget_bytes;
    uint64_t until_us;
    size_t bytes_left;
    uint32_t round; /* counts the steps */
} phi__slice;

PHI__FN void phi__step_init(phi_runtime *rt, uint32_t budget_us, uint32_t budget_bytes);
PHI__FN uint32_t phi__step_budget_us(const phi_runtime *rt);
PHI__FN uint64_t phi__step_io_until_us(const phi_runtime *rt); /* the runs get the rest */
PHI__FN void phi__step_took(phi_runtime *rt, size_t bytes);    /* bytes were decoded */
PHI__FN uint32_t phi__step_next(phi_runtime *rt);              /* another step: its number */
PHI__FN uint32_t phi__step_round(const phi_runtime *rt);       /* of the one that goes on */
PHI__FN void phi__step_slice(phi_runtime *rt);                 /* the step's budget, anew */
PHI__FN bool phi__step_spent(const phi_runtime *rt);
/* The clock, for what is only shown to the host: a tape does not record the look. */
PHI__FN uint64_t phi__look_us(const phi_runtime *rt);
PHI__FN uint64_t phi__work_us(const phi_runtime *rt); /* of the step's budget */

PHI__FN void phi__run_wake(phi__run *run);
PHI__FN void phi__run_unready(phi__run *run);                   /* not in the list: harmless */
PHI__FN bool phi__run_timer_set(phi__run *run, uint64_t at_us); /* wakes the run */

PHI__FN void phi__run_cancel(phi__run *run);
/* The runs of an agent and of those below it. after_turn: when their turns are over. */
PHI__FN void phi__run_cancel_tree(phi__agent *agent, bool after_turn);
/* What other threads see of an agent. */
PHI__FN void phi__run_show_state(const phi__agent *agent, bool running);

#endif
