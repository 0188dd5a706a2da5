/* limits.c - the spending of a run: its own limits, the budgets of its agent and all ancestors, the
   charges for attempts, and the pause of a run that has reached a limit.

   A reservation is counted in the agent's own budget and in those of all ancestors. So children
   that spend at the same time cannot exceed their parent's budget together. The message of a limit
   is part of the log. */
#include "loop/inner_in.h"

#include <stdio.h>

PHI__FN void phi__pause_end(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    if (!run->pause.on) return;
    run->pause.on = run->pause.over = false;
    phi__io_timer_clear(rt->io, &run->timer);
    phi__list_take(&rt->paused, &run->pause.link);
}

PHI__FN void phi__pause_wake_all(phi_runtime *rt) {
    for (phi__link *link = rt->paused.first; link != NULL; link = link->next)
        phi__schedule_wake(PHI__OWNER(link, phi__run, pause.link));
}

/* ---- budgets ---- */

PHI__FN bool phi__budget_limited(const phi__agent *agent) {
    for (; agent != NULL; agent = agent->tree.parent) {
        const phi_budget *limits = &agent->budget.limits;
        if (limits->max_tokens != 0 || limits->max_cost > 0 || limits->max_requests != 0)
            return true;
    }
    return false;
}

static uint64_t phi__limits_less(uint64_t a, uint64_t b) { return a < b ? a : b; }

static bool phi__budget_fits(const phi__budget *b, const phi_spending *more, char *reason,
                             size_t size) {
    const phi_budget *limits = &b->limits;
    const phi_spending *seen = &b->seen;
    uint64_t taken = phi__sum(seen->tokens, seen->reserved_tokens);
    uint64_t tokens = more->tokens;
    double paid = seen->cost + seen->reserved_cost, cost = more->cost;
    if (limits->max_requests != 0 &&
        phi__sum(seen->requests, more->requests) > limits->max_requests) {
        (void)snprintf(reason, size, "Request budget reached (%llu/%llu)",
                       (unsigned long long)seen->requests,
                       (unsigned long long)limits->max_requests);
        return false;
    }
    if (limits->max_tokens != 0 && phi__sum(taken, tokens) > limits->max_tokens) {
        (void)snprintf(reason, size,
                       "Token budget reached (%llu/%llu, the next call may take %llu)",
                       (unsigned long long)taken, (unsigned long long)limits->max_tokens,
                       (unsigned long long)tokens);
        return false;
    }
    if (limits->max_cost > 0 && paid + cost > limits->max_cost) {
        (void)snprintf(reason, size,
                       "Cost budget reached ($%.4f/$%.4f, the next call may take $%.4f)", paid,
                       limits->max_cost, cost);
        return false;
    }
    return true;
}

static void phi__limits_give_back(phi_spending *seen, const phi_spending *reserved) {
    seen->reserved_tokens -= phi__limits_less(reserved->tokens, seen->reserved_tokens);
    seen->reserved_cost -= reserved->cost;
    /* costs are doubles: remove the rounding error when nothing is reserved */
    if (seen->reserved_tokens == 0 || seen->reserved_cost < 0) seen->reserved_cost = 0;
    if (seen->requests >= reserved->requests) seen->requests -= reserved->requests;
}

/* Adds a reservation to the budgets of an agent and its ancestors. */
static void phi__limits_line_add(phi__agent *agent, const phi_spending *more) {
    for (; agent != NULL; agent = agent->tree.parent) {
        agent->budget.seen.reserved_tokens += more->tokens;
        agent->budget.seen.reserved_cost += more->cost;
        agent->budget.seen.requests += more->requests;
    }
}

static void phi__limits_line_take(phi__agent *agent, const phi_spending *less) {
    for (; agent != NULL; agent = agent->tree.parent)
        phi__limits_give_back(&agent->budget.seen, less);
}

/* Returns the run whose pot pays for an agent's calls. NULL: none. */
static phi__run *phi__pot_of(const phi__agent *agent) {
    for (; agent->tree.of_run && agent->tree.parent != NULL; agent = agent->tree.parent)
        if (agent->tree.parent->run != NULL && agent->tree.parent->run->pot)
            return agent->tree.parent->run;
    return NULL;
}

/* Takes up to `wanted` out of a pot. The caller then reserves this amount again for the calling
   agent. */
static phi_spending phi__pot_take(phi__run *pot, const phi_spending *wanted) {
    phi_spending taken = PHI_ZERO;
    if (pot == NULL) return taken;
    phi_spending *left = &pot->reserved;
    taken.tokens = phi__limits_less(wanted->tokens, left->tokens);
    taken.cost = wanted->cost < left->cost ? wanted->cost : left->cost;
    taken.requests = phi__limits_less(wanted->requests, left->requests);
    left->tokens -= taken.tokens;
    left->cost -= taken.cost;
    left->requests -= taken.requests;
    phi__limits_line_take(pot->agent, &taken);
    return taken;
}

/* Releases the reservation, and wakes runs that wait for budget. */
PHI__FN void phi__budget_release(phi__run *run) {
    if (run->reserved.tokens == 0 && run->reserved.cost <= 0 && run->reserved.requests == 0) return;
    phi__limits_line_take(run->agent, &run->reserved);
    memset(&run->reserved, 0, sizeof run->reserved);
    phi__pause_wake_all(run->agent->rt);
}

PHI__FN bool phi__limits_line_reserve(phi__run *run, const phi_spending *wanted, char *reason,
                                      size_t size) {
    phi__run *pot = phi__pot_of(run->agent);
    phi__budget_release(run);
    phi_spending taken = phi__pot_take(pot, wanted);
    for (phi__agent *agent = run->agent; agent != NULL; agent = agent->tree.parent)
        if (!phi__budget_fits(&agent->budget, wanted, reason, size)) {
            run->pause.payer = agent->handle;
            if (pot != NULL) { /* give back the share taken so far */
                pot->reserved.tokens += taken.tokens;
                pot->reserved.cost += taken.cost;
                pot->reserved.requests += taken.requests;
                phi__limits_line_add(pot->agent, &taken);
            }
            return false;
        }
    run->reserved = *wanted;
    phi__limits_line_add(run->agent, wanted);
    return true;
}

PHI__FN bool phi__pot_reserve(phi__run *run, uint64_t tokens, double cost, uint64_t calls,
                              char *reason, size_t size) {
    if (!phi__budget_limited(run->agent)) return true;
    phi_spending wanted = PHI_ZERO;
    phi_spending own = PHI_ZERO;
    wanted.tokens = tokens;
    wanted.cost = cost;
    wanted.requests = calls;
    /* if an attempt has begun, it has counted the run's own call already: take the call back */
    own.requests = run->reserved.requests == 0 && !run->pot ? 1 : 0;
    phi__limits_line_take(run->agent, &own);
    run->pot = true;
    return phi__limits_line_reserve(run, &wanted, reason, size);
}

PHI__FN bool phi__budget_hold(phi__agent *agent, uint64_t tokens, double cost, phi_spending *held,
                              char *reason, size_t size) {
    phi_spending wanted = PHI_ZERO;
    wanted.tokens = tokens;
    wanted.cost = cost;
    wanted.requests = 1;
    for (const phi__agent *at = agent; at != NULL; at = at->tree.parent)
        if (!phi__budget_fits(&at->budget, &wanted, reason, size)) return false;
    *held = wanted;
    phi__limits_line_add(agent, held);
    return true;
}

PHI__FN void phi__budget_give(phi__agent *agent, const phi_spending *held) {
    phi__limits_give_back(&agent->budget.seen, held);
    phi__pause_wake_all(agent->rt);
}

/* ---- charges ---- */

PHI__FN uint64_t phi__charge_tokens(const phi_usage *usage) {
    return phi__sum(phi__sum(usage->input, usage->output),
                    phi__sum(usage->cache_read, usage->cache_write));
}

static void phi__charge_agent(phi__agent *agent, const phi_usage *usage, double cost) {
    phi__message_add_usage(&agent->spent.usage, usage);
    agent->spent.cost += cost;
}

static void phi__charge_run(phi__run *run, const phi_usage *usage, double cost) {
    phi__message_add_usage(&run->spent.usage, usage);
    phi__message_add_usage(&run->agent->spent.run_usage, usage);
    run->spent.cost += cost;
    run->agent->spent.run_cost += cost;
}

/* Charges a hidden agent's cost to its ancestors. If the agent is of_run, the ancestors' active
   runs are charged, too. */
static void phi__charge_above(const phi__agent *child, const phi_usage *usage, double cost) {
    bool of_run = true;
    while (child->tree.parent != NULL && phi__find_hidden(child)) {
        phi__agent *agent = child->tree.parent;
        of_run = of_run && child->tree.of_run && agent->run != NULL;
        phi__charge_agent(agent, usage, cost);
        if (of_run) phi__charge_run(agent->run, usage, cost);
        child = agent;
    }
}

/* Charges an attempt, even if its answer was discarded. */
PHI__FN void phi__charge(phi__run *run, const phi_usage *usage) {
    phi__agent *agent = run->agent;
    double cost = phi_cost_of(&agent->desc.model.cost, usage);
    uint64_t tokens = phi__charge_tokens(usage);
    phi__charge_run(run, usage, cost);
    phi__charge_agent(agent, usage, cost);
    phi__moment moment = phi__feature_moment(agent, run, PHI__POINT_CHARGED);
    moment.usage = usage;
    (void)phi__feature_take(&moment);
    phi__charge_above(agent, usage, cost);
    for (phi__agent *each = agent; each != NULL; each = each->tree.parent) {
        each->budget.seen.tokens = phi__sum(each->budget.seen.tokens, tokens);
        each->budget.seen.cost += cost;
    }
}

PHI__FN void phi__charge_runs(phi__agent *agent, const phi_usage *usage, double cost) {
    phi__charge_agent(agent, usage, cost);
    phi__charge_above(agent, usage, cost);
}

PHI__FN void phi__charge_turn(phi__run *run, const phi_usage *usage) {
    run->spent.turn = *usage;
    phi__charge(run, usage);
}

PHI__FN void phi__charge_clear(phi__run *run) {
    memset(&run->spent.turn, 0, sizeof run->spent.turn);
    run->pot = false;
}

/* ---- limits ---- */

PHI__FN bool phi__limits_leaves(const phi__run *run, uint32_t delay_ms) {
    uint64_t now_us = phi__io_counted_us(run->agent->rt->io);
    if (run->limits.max_duration_ms == PHI_UNLIMITED || run->limits.pause) return true;
    return (now_us - run->started_us) / 1000 + delay_ms < run->limits.max_duration_ms;
}

PHI__FN bool phi__limits_reached(phi__run *run, char *reason, size_t size) {
    const phi_limits *limits = &run->limits;
    const phi_usage *used = &run->spent.usage;
    uint64_t tokens = phi__sum(used->input, used->output);
    uint64_t now_us = phi__io_counted_us(run->agent->rt->io);
    double seconds = (double)(now_us - run->started_us) / 1e6;
    run->pause.payer = run->agent->handle;
    if (limits->max_turns != PHI_UNLIMITED && run->turn.index >= limits->max_turns) {
        (void)snprintf(reason, size, "Max turns reached (%u/%u)", (unsigned)run->turn.index,
                       (unsigned)limits->max_turns);
        return true;
    }
    if (limits->max_tokens != UINT64_MAX && tokens >= limits->max_tokens) {
        (void)snprintf(reason, size, "Max tokens reached (%llu/%llu)", (unsigned long long)tokens,
                       (unsigned long long)limits->max_tokens);
        return true;
    }
    if (limits->max_duration_ms != PHI_UNLIMITED &&
        seconds * 1000.0 >= (double)limits->max_duration_ms) {
        (void)snprintf(reason, size, "Max duration reached (%.0fs/%.0fs)", seconds,
                       (double)limits->max_duration_ms / 1000.0);
        return true;
    }
    if (limits->max_cost > 0 && run->spent.cost >= limits->max_cost) {
        (void)snprintf(reason, size, "Max cost reached ($%.4f/$%.4f)", run->spent.cost,
                       limits->max_cost);
        return true;
    }
    return false;
}

PHI__FN const phi_failure *phi__at_limit_of(const phi__agent *agent) {
    return agent->room.at_limit != NULL ? &agent->room.at_limit->failure : NULL;
}
