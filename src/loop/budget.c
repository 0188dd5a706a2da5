/* budget.c - what agents may spend, as a tree: reserved before a turn, charged after a call.

   A reservation stands in the agent's own budget and in all above it, so that children which spend
   at the same time cannot together go beyond what their parent has. */
#include "loop/loop_in.h"

#include <stdio.h>

PHI__FN bool phi__budget_limited(const phi__agent *agent) {
    for (; agent != NULL; agent = agent->tree.parent) {
        const phi_budget *limits = &agent->budget.limits;
        if (limits->max_tokens != 0 || limits->max_cost > 0 || limits->max_requests != 0)
            return true;
    }
    return false;
}

static uint64_t phi__budget_sum(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool phi__budget_fits(const phi__budget *b, uint64_t tokens, double cost, char *reason,
                             size_t size) {
    const phi_budget *limits = &b->limits;
    const phi_spending *seen = &b->seen;
    uint64_t taken = phi__budget_sum(seen->tokens, seen->reserved_tokens);
    double paid = seen->cost + seen->reserved_cost;
    if (limits->max_requests != 0 && seen->requests >= limits->max_requests) {
        (void)snprintf(reason, size, "Request budget reached (%llu/%llu)",
                       (unsigned long long)seen->requests,
                       (unsigned long long)limits->max_requests);
        return false;
    }
    if (limits->max_tokens != 0 && phi__budget_sum(taken, tokens) > limits->max_tokens) {
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

PHI__FN bool phi__budget_reserve(phi__run *run, uint64_t tokens, double cost, char *reason,
                                 size_t size) {
    phi__agent *agent;
    phi__budget_release(run);
    for (agent = run->agent; agent != NULL; agent = agent->tree.parent)
        if (!phi__budget_fits(&agent->budget, tokens, cost, reason, size)) {
            phi__pause_of(run, phi__agent_handle(agent));
            return false;
        }
    run->reserved.tokens = tokens;
    run->reserved.cost = cost;
    run->reserved.requests = 1;
    for (agent = run->agent; agent != NULL; agent = agent->tree.parent) {
        agent->budget.seen.reserved_tokens += tokens;
        agent->budget.seen.reserved_cost += cost;
        agent->budget.seen.requests++;
    }
    return true;
}

/* Rates are doubles: what is left of a sum of reservations that are all gone is no money. */
static void phi__budget_give_back(phi_spending *seen, const phi_spending *reserved) {
    seen->reserved_tokens -=
        seen->reserved_tokens > reserved->tokens ? reserved->tokens : seen->reserved_tokens;
    seen->reserved_cost -= reserved->cost;
    if (seen->reserved_tokens == 0 || seen->reserved_cost < 0) seen->reserved_cost = 0;
    if (seen->requests >= reserved->requests) seen->requests -= reserved->requests;
}

/* Whoever pauses for want of what others had reserved may go on now. */
PHI__FN void phi__budget_release(phi__run *run) {
    phi__agent *agent;
    if (run->reserved.tokens == 0 && run->reserved.cost <= 0 && run->reserved.requests == 0) return;
    for (agent = run->agent; agent != NULL; agent = agent->tree.parent)
        phi__budget_give_back(&agent->budget.seen, &run->reserved);
    memset(&run->reserved, 0, sizeof run->reserved);
    phi__pause_wake_all(run->agent->rt);
}

PHI__FN void phi__budget_charge(phi__agent *agent, uint64_t tokens, double cost,
                                uint64_t requests) {
    for (; agent != NULL; agent = agent->tree.parent) {
        agent->budget.seen.tokens = phi__budget_sum(agent->budget.seen.tokens, tokens);
        agent->budget.seen.cost += cost;
        agent->budget.seen.requests += requests;
    }
}
