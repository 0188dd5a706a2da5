/* monkey_lent.h - what the agents of the monkey borrow: tool sources whose lists come and go, sub-agents, strategies,
   models to go to, and a store that answers late. */
#ifndef PHI_TESTS_SOAK_MONKEY_LENT_H
#define PHI_TESTS_SOAK_MONKEY_LENT_H

#include "soak/monkey.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "support/cot.h"

/* ---- tool sources ---- */

static uint64_t shop_version(void *user_data) {
    shop *s = (shop *)user_data;
    if (!s->m->calm && once_in(s->m, 4)) s->version++;
    return s->version;
}

static phi_status shop_take(void *user_data, const phi_tool **tools, size_t *count) {
    static const char *const names[] = {"slow", "polled", "open", "close", "open"};
    shop *s = (shop *)user_data;
    uint32_t n = pick(s->m, PHI__COUNT(names) + 1), i;
    phi_tool *made;
    if (!s->m->calm && once_in(s->m, 12)) return once_in(s->m, 2) ? PHI_TIMEOUT : PHI_NO_MEMORY;
    made = (phi_tool *)calloc(PHI__COUNT(names), sizeof *made);
    if (made == NULL) abort();
    for (i = 0; i < n; i++) {
        made[i].name = once_in(s->m, 20) ? "not a name" : names[i];
        made[i].schema = once_in(s->m, 12) ? "[1" : "{\"type\":\"object\"}";
        made[i].start = any_start;
        made[i].cancel = any_cancel;
        made[i].user_data = s->m;
        made[i].timeout_ms = 1 + pick(s->m, 60);
        made[i].keeps_state = once_in(s->m, 2);
        made[i].deferred = once_in(s->m, 4);
        made[i].deterministic = once_in(s->m, 6);
    }
    s->out++;
    *tools = made;
    *count = n;
    return PHI_OK;
}

static void shop_release(void *user_data, const phi_tool *tools) {
    ((shop *)user_data)->out--;
    memset((void *)(uintptr_t)tools, 0x5a, 5 * sizeof *tools);
    free((void *)(uintptr_t)tools);
}

/* ---- sub-agents ---- */

static phi_flow helper_start(void *user_data, phi_call call, phi_str arguments) {
    HOLDS((monkey *)user_data, arguments.len > 0);
    return any_flow((monkey *)user_data, call);
}

static void lend_helpers(monkey *m) {
    static const char *const names[] = {"helper", "scout"};
    lent *l = &m->lent;
    size_t i;
    for (i = 0; i < 2; i++) {
        l->helper_tools[i].name = i == 0 ? "slow" : "polled";
        l->helper_tools[i].start = helper_start;
        l->helper_tools[i].cancel = any_cancel;
        l->helper_tools[i].user_data = m;
        l->helper_tools[i].timeout_ms = 1 + pick(m, 60);
        l->helper_tools[i].keeps_state = once_in(m, 2);
    }
    l->helper_tools[2] = phi_subagent_tool(&l->helpers[1]);
    for (i = 0; i < HELPERS; i++) {
        phi_agent_desc *desc = &l->helper_descs[i];
        *desc = rig_desc();
        desc->ids.agent_id = desc->ids.session_id = NULL;
        desc->tools = l->helper_tools;
        desc->tool_count = once_in(m, 2) ? 2 : 3;
        desc->user_data = m;
        desc->limits.max_turns = 1 + pick(m, 4);
        desc->deadlines.first_event_ms = desc->deadlines.idle_ms = 20 + pick(m, 60);
        desc->deadlines.decision_ms = 1 + pick(m, 60);
        if (once_in(m, 2)) desc->hook_fn = any_hook;
        if (once_in(m, 2)) desc->failover = &l->failover;
        if (desc->hook_fn != NULL) desc->hook_points = 1 | (test_random(&m->state) & 0xffff);
        l->helpers[i].name = names[i];
        l->helpers[i].agent = once_in(m, 6) ? NULL : desc;
        l->helpers[i].keep = pick(m, 3);
        l->helpers[i].max_depth = pick(m, 4);
        l->helpers[i].show_events = once_in(m, 2);
        if (once_in(m, 3)) l->helpers[i].timeout_ms = 1 + pick(m, 200);
    }
}

/* ---- strategies and failover ---- */

static bool any_prune(void *user_data, const phi_strategy_node *node) {
    return node->depth > 1 && once_in((monkey *)user_data, 5);
}

static void lend_thinkers(monkey *m) {
    static const phi_strategy *(*const kinds[THINKERS])(void) = {
        phi_strategy_tot, phi_strategy_aot, strategy_steps,       strategy_drafts,
        phi_strategy_got, phi_strategy_trm, phi_strategy_adaptive};
    lent *l = &m->lent;
    size_t i;
    l->tot.traversal = (phi_tot_traversal)pick(m, 2);
    l->tot.branching_factor = 1 + pick(m, 3);
    l->tot.evaluations = 1 + pick(m, 2);
    l->tot.tools = once_in(m, 2);
    l->tot.max_tool_rounds = 1 + pick(m, 2);
    for (i = 0; i < THINKERS; i++) {
        l->thinkers[i].strategy = kinds[i]();
        l->thinkers[i].max_calls = 1 + pick(m, 8);
        if (once_in(m, 2)) l->thinkers[i].call_timeout_ms = 1 + pick(m, 100);
        if (once_in(m, 2)) l->thinkers[i].prune_fn = any_prune;
        l->thinkers[i].user_data = m;
    }
    l->thinkers[0].options = &l->tot;
}

static void lend_models(monkey *m) {
    static const char *const ids[] = {"second", "third", "fourth"};
    lent *l = &m->lent;
    size_t i;
    for (i = 0; i < 3; i++) {
        l->models[i].model = phi_model_anthropic(ids[i], "key");
        if (once_in(m, 6)) l->models[i].model.protocol = "mine";
        if (once_in(m, 3)) l->models[i].model.context_window = 200 + pick(m, 2000);
        if (once_in(m, 3)) l->models[i].max_tokens = 1 + pick(m, 100);
    }
    l->failover.models = l->models;
    l->failover.model_count = 1 + pick(m, 3);
    l->failover.on = once_in(m, 2) ? 0 : pick(m, 512);
    l->failover.max_switches = once_in(m, 2) ? 0 : 1 + pick(m, 4);
    l->failover.stay = (phi_failover_stay)pick(m, 3);
    l->failover.stay_ms = pick(m, 100);
}

/* ---- a store that answers late ---- */

static void be_late(monkey *m) {
    if (!m->calm && once_in(m, 4)) rig_pass_ms(m->r, 1 + pick(m, 80));
}

static phi_status late_append(void *user_data, const char *id, uint64_t expected,
                              const phi_str *entries, size_t count, char *words, size_t size) {
    monkey *m = (monkey *)user_data;
    be_late(m);
    return store_mem_store(m->store)->append(m->store, id, expected, entries, count, words, size);
}

static phi_status late_read(void *user_data, const char *id, uint64_t from,
                            phi_status (*each)(void *ctx, uint64_t seq, phi_str entry), void *ctx,
                            uint64_t *torn, char *words, size_t size) {
    monkey *m = (monkey *)user_data;
    be_late(m);
    return store_mem_store(m->store)->read(m->store, id, from, each, ctx, torn, words, size);
}

static phi_status late_lock(void *user_data, const char *id, char *words, size_t size) {
    monkey *m = (monkey *)user_data;
    be_late(m);
    return store_mem_store(m->store)->lock(m->store, id, words, size);
}

static void late_unlock(void *user_data, const char *id) {
    monkey *m = (monkey *)user_data;
    store_mem_store(m->store)->unlock(m->store, id);
}

static void lend_store(monkey *m) {
    m->store = store_mem_new();
    m->kept.user_data = m;
    m->kept.append = late_append;
    m->kept.read = late_read;
    m->kept.lock = late_lock;
    m->kept.unlock = late_unlock;
}

static void lend(monkey *m) {
    size_t i;
    for (i = 0; i < SHOPS; i++) {
        shop *s = &m->lent.shops[i];
        s->m = m;
        s->source.user_data = s;
        s->source.version = shop_version;
        s->source.take = shop_take;
        s->source.release = shop_release;
        m->lent.sources[i] = &s->source;
    }
    lend_models(m);
    lend_thinkers(m);
    lend_helpers(m);
}

#endif
