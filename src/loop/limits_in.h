/* limits_in.h - the spending of a run: limits, budgets, charges for its attempts, and its pause at
   a limit. */
#ifndef PHI_LOOP_LIMITS_IN_H
#define PHI_LOOP_LIMITS_IN_H

#include "base/arena_in.h"
#include "base/list_in.h"
#include "loop/run.h"
#include "loop/types_in.h"
#include "model/message.h"

typedef struct phi__spent {
    phi_usage usage, turn;
    double cost;
} phi__spent;

PHI__FN uint64_t phi__limits_charge_tokens(const phi_usage *usage);
PHI__FN const phi__spent *phi__limits_charge_of(const phi__run *run);
PHI__FN void phi__limits_charge_clear(phi__run *run); /* a turn begins */

/* the answer that counts */
PHI__FN void phi__limits_charge_turn(phi__run *run, const phi_usage *usage);
PHI__FN void phi__limits_charge(phi__run *run, const phi_usage *usage);

/* Runs of children that are now in the agent's log; their budgets were charged already. */
PHI__FN void phi__limits_charge_runs(phi__agent *agent, const phi_usage *usage, double cost);

typedef struct phi__pause {
    bool on;
    bool over;      /* it has lasted long enough */
    phi__link link; /* of rt->paused */
    phi__buf reason;
    phi_agent payer; /* the agent whose limit or budget it is */
} phi__pause;

PHI__FN void phi__limits_pause_init(phi__run *run);
PHI__FN void phi__limits_pause_free(phi__run *run);
PHI__FN void phi__limits_pause_end(phi__run *run); /* not pausing: harmless */
PHI__FN bool phi__limits_pause_on(const phi__run *run);

/* For phi_pending, of a paused run. */
PHI__FN void phi__limits_pause_show(const phi__run *run, phi_pending_item *item);

/* All look again. */
PHI__FN void phi__limits_pause_wake_all(phi_runtime *rt);

/* it, or one above, has a limit */
PHI__FN bool phi__limits_budget_limited(const phi__agent *agent);

/* In place of the reservation for its own model call, which it does not make: a pot for as many
   calls of agents below it that are `of_run`, of so many tokens and dollars in all. What they
   reserve leaves the pot; the rest is released with the turn. False: too much, with the reason;
   then nothing is reserved. Without a budget: true. */
PHI__FN bool phi__limits_pot_reserve(phi__run *run, uint64_t tokens, double cost, uint64_t calls,
                                     char *reason, size_t size);

/* Requests for a snapshot: without those of a pot, which the restored run reserves anew, giving
   back its own call for it; and of a run that reserves its call again, without that. */
PHI__FN uint64_t phi__limits_budget_requests(const phi__agent *agent, bool again);

/* A reservation for a model call whose run has not begun: in *held, and in the budgets of the agent
   and of all above it, until it is given back to each of them: the tree may be another by then. */
PHI__FN bool phi__limits_budget_hold(phi__agent *agent, uint64_t tokens, double cost,
                                     phi_spending *held, char *reason, size_t size);
PHI__FN void phi__limits_budget_give(phi__agent *agent, const phi_spending *held);
PHI__FN void phi__limits_budget_release(phi__run *run); /* the reservation; harmless without */
PHI__FN bool phi__limits_leaves(const phi__run *run, uint32_t delay_ms); /* time for a delay */
PHI__FN bool phi__limits_reached(phi__run *run, char *reason, size_t size);

/* Reserves what the run's next model call may cost, with so many tokens of input more than are in
   view; its older reservation is given back first. False: there is no room, and `reason` says
   where. */
PHI__FN bool phi__reserve_call(phi__run *run, uint64_t more, char *reason, size_t size);

/* Pauses the run at a limit: then *wait, and the outcome is its state, which looks again when it is
   woken. RUN_ON: it may not pause, or has for long enough. Its caller ends the pause. */
PHI__FN phi__state phi__reserve_pause(phi__run *run, const char *reason, bool *wait);

/* The call of a turn that has begun fails, for that reason. */
PHI__FN phi__state phi__reserve_refuse(phi__run *run, const char *reason);

#endif
