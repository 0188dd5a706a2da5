/* monkey_worlds.h - what the monkey does with more than one agent: facts, tool state, sub-agents, evaluations,
   strategies, whole runtimes saved and loaded in pieces, casts reloaded out of a file, other threads. */
#ifndef PHI_TESTS_SOAK_MONKEY_WORLDS_H
#define PHI_TESTS_SOAK_MONKEY_WORLDS_H

#include "support/tool_state.h"
#include "support/outcome.h"
#include "support/resumed.h"
#include "support/problems.h"
#include "soak/monkey_agents.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "loop/input.h"

#include <pthread.h>

/* ---- facts and tool state ---- */

static phi_fact_scope any_scope(monkey *m) {
    switch (pick(m, 4)) {
    case 0: return phi_fact_all(runtime(m));
    case 1: return phi_fact_agent(any_agent(m));
    default: return phi_fact_group(runtime(m), once_in(m, 20) ? "" : any_name(m, "g", 4));
    }
}

static void do_fact(monkey *m) {
    phi_agent a = any_agent(m);
    phi_fact_scope scope = any_scope(m);
    const phi_fact *facts;
    phi_fact fact;
    phi_str text;
    size_t count;
    char key[16], group[16];
    (void)snprintf(key, sizeof key, "k%u", (unsigned)pick(m, 8));
    (void)snprintf(group, sizeof group, "g%u", (unsigned)pick(m, 4));
    if (scope.group != NULL && scope.group[0] != '\0') scope.group = group;
    switch (pick(m, 12)) {
    case 0: (void)phi_fact_set(scope, key, phi_str_of(NULL), NULL); break;
    case 1: (void)phi_fact_get(scope, key, &fact); break;
    case 2: (void)phi_fact_list(scope, &m->arena, &facts, &count); break;
    case 3:
        scope.known = true;
        (void)phi_fact_list(scope, &m->arena, &facts, &count);
        break;
    case 4:
    case 5: (void)phi_fact_join(a, group, true); break;
    case 6: (void)phi_fact_join(a, group, false); break;
    case 7:
        if (phi_facts_save(runtime(m), &m->arena, &text) == PHI_OK && once_in(m, 2))
            (void)phi_facts_load(runtime(m), text);
        break;
    case 8: (void)phi_facts_load(runtime(m), any_str(m)); break;
    default: (void)phi_fact_set(scope, once_in(m, 20) ? NULL : key, any_str(m), NULL); break;
    }
}

static void do_state(monkey *m) {
    static const char *const states[] = {"{}", "{\"a\":{\"b\":1}}", "[1]", "{\"a\":", "{\"n\":[]}"};
    phi_agent a = any_agent(m);
    char lane[16];
    phi_str text;
    (void)snprintf(lane, sizeof lane, "l%u", (unsigned)pick(m, LANES));
    switch (pick(m, 4)) {
    case 0:
        (void)phi_agent_set_tool_state(a, phi_str_of(states[pick(m, PHI__COUNT(states))]));
        break;
    case 1: (void)tool_state(a); break;
    case 2: (void)phi_call_tool_state(any_call(m)); break;
    default:
        (void)phi_thread_tool_state(phi_agent_thread(a), once_in(m, 2) ? NULL : lane, pick(m, 60),
                                    &m->arena, &text);
        break;
    }
}

/* ---- agents that phi makes ---- */

static void do_spawn(monkey *m) {
    phi_agent child = PHI_ZERO;
    phi_subagent_desc *helper = &m->lent.helpers[pick(m, HELPERS)];
    if (!m->strangers) return;
    if (once_in(m, 5))
        (void)phi_spawn(any_agent(m), helper, NULL, NULL);
    else if (phi_spawn(any_agent(m), helper, any_text(m), &child) == PHI_OK)
        keep_agent(m, child);
}

static phi_status any_evaluate(void *user_data, const phi_evaluation *evaluation, size_t *selected,
                               phi_usage *usage) {
    monkey *m = (monkey *)user_data;
    HOLDS(m, evaluation->branch_count > 0);
    if (m->calm) return PHI_OK;
    act_within(m);
    *selected = pick(m, 4);
    usage->input = pick(m, 20);
    return once_in(m, 3) ? PHI_BUSY : once_in(m, 6) ? PHI_NETWORK : PHI_OK;
}

static void do_evaluate(monkey *m) {
    making with[4];
    phi_agent_desc configs[4];
    phi_evaluate_desc desc;
    phi_evaluation is;
    phi_agent a = any_agent(m);
    size_t i;
    if (!m->strangers) return;
    memset(&desc, 0, sizeof desc);
    memset(&is, 0, sizeof is);
    for (i = 0; i < 4; i++) {
        configs[i] = any_desc(m, &with[i]);
        memset(&configs[i].parent, 0, sizeof configs[i].parent);
        if (!once_in(m, 30)) configs[i].store = NULL, configs[i].thread_id = NULL;
    }
    desc.configs = configs;
    desc.config_count = once_in(m, 30) ? 0 : 1 + pick(m, 3);
    desc.judge = once_in(m, 8) ? NULL : &configs[3];
    desc.by = (phi_evaluate_by)pick(m, 6);
    if (desc.by == PHI_EVALUATE_TRANSPARENT && !once_in(m, 8)) desc.config_count = 1;
    desc.evaluate_fn = any_evaluate;
    desc.user_data = m;
    if (!once_in(m, 4)) desc.prompt = any_text(m);
    if (once_in(m, 6))
        (void)evaluate_resume(a, &desc);
    else
        (void)phi_evaluate(a, &desc);
    if (phi_evaluation_result(a, &is) != PHI_OK) return;
    for (i = 0; i < is.branch_count; i++)
        if (is.status == PHI_BUSY && phi_agent_alive(is.branches[i].agent))
            keep_agent(m, is.branches[i].agent);
}

static void do_think(monkey *m) {
    phi_strategy_best best;
    phi_agent a = any_agent(m);
    phi_str text;
    switch (pick(m, 4)) {
    case 0: (void)strategy_result(a, &m->arena, &text); break;
    case 1: (void)strategy_best(a, &m->arena, &best); break;
    default: (void)phi_strategy_settle(a); break;
    }
}

static void do_hold(monkey *m) {
    phi_agent a = any_agent(m);
    bool hold = once_in(m, 2) && m->held_count < KEPT;
    if (phi_agent_hold(a, hold) == PHI_OK && hold) m->held[m->held_count++] = a;
}

static void let_go(monkey *m) {
    while (m->held_count > 0) (void)phi_agent_hold(m->held[--m->held_count], false);
}

/* ---- from other threads ---- */

typedef struct elsewhere {
    phi_agent agent;
    phi_call call;
    const char *text;
    uint32_t what;
} elsewhere;

static void *elsewhere_act(void *data) {
    const elsewhere *e = (const elsewhere *)data;
    switch (e->what) {
    case 0:
    case 1: (void)phi_abort(e->agent); break;
    case 2: (void)phi_stop(e->agent); break;
    case 3: (void)phi_steer(e->agent, e->text); break;
    case 4: (void)phi_follow_up(e->agent, e->text); break;
    case 5: (void)phi_inject(e->agent, e->text, "radio"); break;
    case 6: (void)phi_call_get_info(e->call).pending; break;
    default: (void)phi_call_reply(e->call, e->text); break;
    }
    return NULL;
}

/* It is waited for: what it does is the seed's. */
static void do_elsewhere(monkey *m) {
    pthread_t thread;
    elsewhere e;
    e.agent = any_agent(m);
    e.call = any_call(m);
    e.text = any_text(m);
    e.what = pick(m, 10);
    if (pthread_create(&thread, NULL, elsewhere_act, &e) == 0) (void)pthread_join(thread, NULL);
}

/* ---- a snapshot of a snapshot ---- */

static void tell_difference(phi_str one, phi_str two) {
    size_t i = 0, from;
    while (i < one.len && i < two.len && one.at[i] == two.at[i]) i++;
    from = i > 200 ? i - 200 : 0;
    printf("  the snapshot: ...%.400s\n  of what was restored: ...%.400s\n", one.at + from,
           two.at + from);
}

static void twin_of(monkey *m, phi_agent a) {
    phi_agent twin;
    phi_agent_desc desc;
    phi_str one = PHI__LIT(""), two = PHI__LIT("");
    if (phi_agent_get_desc(a, &desc) != PHI_OK || phi_agent_snapshot(a, &m->arena, &one) != PHI_OK)
        return;
    if (desc.tool_options.source_count > 0) return; /* its next list is another one */
    desc.store = NULL;
    desc.thread_id = NULL;
    /* its run is as good as over: the deferred rewrite is done while it is loaded */
    if (strstr(one.at, "\"run\":null,\"put_off\":") != NULL) return;
    twin = phi_agent_restore(runtime(m), &desc, one, PHI_RESTORE_RESUME);
    if (twin.rt == NULL) return;
    if (phi_agent_snapshot(twin, &m->arena, &two) == PHI_OK) {
        HOLDS(m, phi_str_equal(one, two));
        if (!phi_str_equal(one, two)) tell_difference(one, two);
    }
    phi_agent_free(twin);
}

/* There is memory, and the clock stands still; of a tape that is played each look at it may move it. */
static void do_twin(monkey *m) {
    if (inside(m) || m->playing || m->under_way != NOTHING) return;
    memory_is_back(m);
    m->calm = true;
    twin_of(m, m->seats[pick(m, m->seat_count)].agent);
    m->calm = false;
}

/* ---- a runtime, saved and loaded in pieces ---- */

static bool world_desc(void *user_data, phi_str agent_id, size_t index, const phi_agent *agents,
                       phi_agent_desc *out) {
    static making with[32];
    monkey *m = (monkey *)user_data;
    (void)agent_id;
    if (index >= PHI__COUNT(with) || once_in(m, 12)) return false;
    *out = any_desc(m, &with[index]);
    memset(&out->parent, 0, sizeof out->parent);
    if (index > 0 && once_in(m, 3)) out->parent = agents[pick(m, (uint32_t)index)];
    return true;
}

static void world_over(monkey *m) {
    m->under_way = NOTHING;
    free(m->loading);
    m->loading = NULL;
    phi_arena_reset(&m->whole, m->empty);
}

/* Those without an empty seat are freed. */
static void seat_all(monkey *m, const phi_agent *agents, size_t count) {
    size_t i, k;
    for (i = 0; i < count; i++) {
        for (k = 0; k < m->seat_count && phi_agent_alive(m->seats[k].agent); k++) {}
        if (k < m->seat_count)
            sit(m, &m->seats[k], agents[i], true, true);
        else if (agents[i].rt != NULL)
            phi_agent_free(agents[i]);
    }
}

static void world_save(monkey *m, uint32_t pieces) {
    phi_status status = PHI_BUSY;
    phi_str text;
    m->under_way = SAVING;
    while (pieces-- > 0 && status == PHI_BUSY)
        status = phi_runtime_snapshot(runtime(m), &m->whole, &text);
    if (status == PHI_OK) {
        free(m->world);
        m->world = mutate_copy(text.at, text.len);
    }
    if (status != PHI_BUSY) world_over(m);
}

static void world_load(monkey *m, uint32_t pieces) {
    phi_status status = PHI_BUSY;
    phi_restore_desc desc;
    const phi_agent *agents = NULL;
    size_t count = 0;
    memset(&desc, 0, sizeof desc);
    desc.desc_fn = world_desc;
    desc.user_data = m;
    m->under_way = LOADING;
    while (pieces-- > 0 && status == PHI_BUSY)
        status = phi_runtime_restore(runtime(m), phi_str_of(m->loading), &desc, &m->whole, &agents,
                                     &count);
    if (status == PHI_OK) seat_all(m, agents, count);
    if (status != PHI_BUSY) world_over(m);
}

static void world_give_up(monkey *m) {
    phi_restore_desc desc;
    const phi_agent *agents = NULL;
    size_t count;
    phi_str text;
    memset(&desc, 0, sizeof desc);
    desc.desc_fn = world_desc;
    desc.user_data = m;
    if (m->under_way == SAVING)
        (void)phi_runtime_snapshot(runtime(m), NULL, &text);
    else if (m->under_way == LOADING)
        (void)phi_runtime_restore(runtime(m), PHI__LIT(""), &desc, &m->whole, &agents, &count);
    world_over(m);
}

static void do_world(monkey *m) {
    uint32_t i, changes = once_in(m, 2) ? 0 : 1 + pick(m, 3);
    if (inside(m)) {
        phi_str text;
        HOLDS(m, phi_runtime_snapshot(runtime(m), &m->arena, &text) != PHI_OK);
        return;
    }
    if (m->under_way != NOTHING && once_in(m, 6)) {
        world_give_up(m);
    } else if (m->under_way == SAVING || (m->under_way == NOTHING && once_in(m, 2))) {
        world_save(m, 1 + pick(m, 8));
    } else if (m->under_way == LOADING) {
        world_load(m, 1 + pick(m, 8));
    } else if (m->world != NULL) {
        m->loading = mutate_copy(m->world, strlen(m->world));
        for (i = 0; i < changes; i++) m->loading = mutate(m->loading, &m->state);
        world_load(m, 1 + pick(m, 8));
    }
}

/* ---- a cast out of a file, and the file changed ---- */

static const char *cast_variable(void *user_data, const char *name) {
    (void)user_data;
    (void)name;
    return "value";
}

static void cast_begin(monkey *m, size_t i) {
    static const char *const files[] = {
        "[tools]\nenabled = [\"slow\", \"polled\"]\n[provider]\nmodel = \"claude-sonnet-4\"\n"
        "api_key = \"k\"\n[[agent.instances]]\nname = \"ada\"\nsystem_prompt = \"A smith.\"\n"
        "[[agent.instances]]\nname = \"bob\"\n[game]\nweather = \"rain\"\n",
        "[provider]\nmodel = \"claude-sonnet-4\"\napi_key = \"k\"\n"
        "[[agent.instances]]\nname = \"ada\"\nsystem_prompt = \"A queen.\"\nmax_turns = 2\n"
        "[[agent.instances]]\nname = \"cid\"\n",
        "[provider]\nmodel = 7\n"};
    phi_config_desc desc;
    phi_agents_desc with;
    memset(&desc, 0, sizeof desc);
    memset(&with, 0, sizeof with);
    desc.allocator = test_allocator();
    desc.text = phi_str_of(files[once_in(m, 12) ? 2 : pick(m, 2)]);
    desc.format = PHI_CONFIG_TOML;
    desc.variable_fn = cast_variable;
    with.base = &m->lent.cast_base;
    with.tools = m->lent.cast_tools;
    with.tool_count = 2;
    m->configs[i] = phi_config_load(&desc);
    m->casts[i] = phi_agents_from_config(runtime(m), m->configs[i], &with);
    m->cast_status[i] = PHI_BUSY;
}

static void cast_end(monkey *m, size_t i) {
    phi_agents_free(m->casts[i]);
    phi_config_free(m->configs[i]);
    m->casts[i] = NULL;
    m->configs[i] = NULL;
}

static void cast_step(monkey *m, size_t i) {
    size_t k;
    m->cast_status[i] = phi_agents_step(m->casts[i]);
    if (m->cast_status[i] == PHI_OK)
        for (k = 0; k < agents_count(m->casts[i]); k++) keep_agent(m, agents_at(m->casts[i], k));
    else if (m->cast_status[i] != PHI_BUSY)
        cast_end(m, i);
}

static void do_cast(monkey *m) {
    size_t i;
    if (inside(m)) return;
    m->strangers = true; /* their sub-agents and sections */
    for (i = 0; i < CASTS; i++) {
        if (m->casts[i] == NULL) {
            cast_end(m, i);
            cast_begin(m, i);
            return;
        }
        if (m->cast_status[i] == PHI_BUSY) {
            cast_step(m, i);
            return;
        }
    }
    if (once_in(m, 3)) {
        (void)phi_prompt(agents_at(m->casts[0], pick(m, 2)), "Good day.");
    } else if (phi_agents_reload(m->casts[1], m->casts[0]) == PHI_OK) {
        for (i = 0; i < agents_count(m->casts[1]); i++) keep_agent(m, agents_at(m->casts[1], i));
        cast_end(m, 0);
        m->casts[0] = m->casts[1];
        m->configs[0] = m->configs[1];
        m->casts[1] = NULL;
        m->configs[1] = NULL;
    } else if (once_in(m, 4)) {
        cast_end(m, pick(m, 2));
    }
}

static void lend_cast(monkey *m) {
    size_t i;
    (void)make_tools(m, m->lent.cast_tools);
    for (i = 0; i < TOOLS; i++) m->lent.cast_tools[i].needs_approval = false;
    m->lent.cast_base = rig_desc();
    m->lent.cast_base.ids.agent_id = m->lent.cast_base.ids.session_id = NULL;
    m->lent.cast_base.hook_fn = any_hook;
    m->lent.cast_base.hook_points = PHI_HOOK_BEFORE_TOOL | PHI_HOOK_BEFORE_TURN;
    m->lent.cast_base.user_data = m;
    m->lent.cast_base.deadlines.decision_ms = 1 + pick(m, 60);
    m->lent.cast_base.failover = once_in(m, 2) ? &m->lent.failover : NULL;
    m->lent.cast_base.deadlines.first_event_ms = m->lent.cast_base.deadlines.idle_ms = 40;
}

#endif
