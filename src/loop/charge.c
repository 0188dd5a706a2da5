/* charge.c - what attempts cost: the run, its agent, those above it, and their budgets. */
#include "loop/charge_in.h"

#include "loop/loop_in.h"

PHI__FN uint64_t phi__charge_tokens(const phi_usage *usage) {
    return usage->input + usage->output + usage->cache_read + usage->cache_write;
}

/* What the writer of a summary has cost is its agent's, too. */
static void phi__charge_reader(const phi__agent *writer, const phi_usage *usage, double cost) {
    phi__agent *agent = writer->tree.parent;
    if (writer->tree.hidden_fn == NULL || agent == NULL) return;
    phi_usage_add(&agent->spent.usage, usage);
    agent->spent.cost += cost;
}

static void phi__charge_tell(phi__run *run, const phi_usage *usage) {
    phi__moment moment;
    memset(&moment, 0, sizeof moment);
    moment.point = PHI__POINT_CHARGED;
    moment.agent = run->agent;
    moment.run = run;
    moment.usage = usage;
    (void)phi__feature_take(&moment);
}

/* What an attempt has cost, of which the answer may have been thrown away. */
PHI__FN void phi__charge(phi__run *run, const phi_usage *usage) {
    phi__agent *agent = run->agent;
    double cost = phi_cost_of(&agent->desc.model.cost, usage);
    phi_usage_add(&run->spent.usage, usage);
    phi_usage_add(&agent->spent.usage, usage);
    phi_usage_add(&agent->spent.run_usage, usage);
    phi__charge_tell(run, usage);
    run->spent.cost += cost;
    agent->spent.cost += cost;
    agent->spent.run_cost += cost;
    phi__charge_reader(agent, usage, cost);
    phi__budget_charge(agent, phi__charge_tokens(usage), cost, 0);
}

PHI__FN void phi__charge_turn(phi__run *run, const phi_usage *usage) {
    run->spent.turn = *usage;
    phi__charge(run, usage);
}

PHI__FN void phi__charge_clear(phi__run *run) {
    memset(&run->spent.turn, 0, sizeof run->spent.turn);
}

PHI__FN const phi__spent *phi__charge_of(const phi__run *run) { return &run->spent; }
