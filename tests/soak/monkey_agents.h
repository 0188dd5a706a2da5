/* monkey_agents.h - the agents of the monkey: descs with whatever there is, good and bad. */
#ifndef PHI_TESTS_SOAK_MONKEY_AGENTS_H
#define PHI_TESTS_SOAK_MONKEY_AGENTS_H

#include "support/context_tools.h"
#include "soak/monkey_lent.h"
#include "loop/hook.h"

/* ---- agents ---- */

static size_t make_tools(monkey *m, phi_tool tools[TOOLS]) {
    static const char *const names[] = {"slow", "polled", "alone", "telling", "again"};
    size_t i;
    memset(tools, 0, TOOLS * sizeof *tools);
    for (i = 0; i < 5; i++) {
        tools[i].name = names[i];
        tools[i].start = any_start;
        tools[i].cancel = any_cancel;
        tools[i].user_data = m;
        tools[i].timeout_ms = 1 + pick(m, 60);
        tools[i].retries = pick(m, 3);
        tools[i].retry_delay_ms = pick(m, 20);
        tools[i].heartbeat_ms = pick(m, 30);
        tools[i].needs_approval = once_in(m, 8);
        tools[i].may_repeat = once_in(m, 3);
        tools[i].keeps_state = once_in(m, 3);
        if (once_in(m, 4)) tools[i].resume = any_start;
    }
    tools[1].step = any_step;
    tools[2].not_concurrent = true;
    tools[3].on_field = any_field;
    tools[4].schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}";
    tools[4].strict = once_in(m, 2);
    tools[4].step = any_step;
    tools[4].resume = any_start;
    (void)tools_prun(&tools[5]);
    (void)tools_revert(&tools[7]);
    return once_in(m, 2) ? (size_t)TOOLS : pick(m, TOOLS);
}

static void make_limits(monkey *m, phi_agent_desc *desc) {
    desc->limits.max_turns = 1 + pick(m, 8);
    desc->limits.pause = once_in(m, 3);
    if (once_in(m, 6)) desc->limits.max_tokens = 10 + pick(m, 60);
    if (once_in(m, 6)) desc->limits.max_duration_ms = 1 + pick(m, 100);
    if (once_in(m, 4)) desc->budget.max_tokens = 200 + pick(m, 1000);
    if (once_in(m, 6)) desc->budget.max_requests = 1 + pick(m, 6);
    desc->deadlines.decision_ms = 1 + pick(m, 80);
    desc->tool_options.repeat_warn_after = 1 + pick(m, 4);
    desc->tool_options.repeat_stop_after = 2 + pick(m, 6);
    desc->deadlines.first_event_ms = desc->deadlines.idle_ms = 20 + pick(m, 60);
    desc->retry.disable = once_in(m, 2);
    desc->retry.initial_delay_ms = 1 + pick(m, 20);
    desc->retry.max_retries = 1 + pick(m, 3);
    desc->input.queue_limit = once_in(m, 2) ? 1 + pick(m, 4) : 0;
    if (once_in(m, 4)) desc->memory.event_queue_bytes = 400 + pick(m, 4000);
    if (once_in(m, 3)) {
        /* what an index of deferred tools takes, too */
        desc->memory.limit_bytes = 72000 + pick(m, 60000);
        desc->memory.at_limit =
            (phi_at_memory_limit)pick(m, 2); /* one that stops may never answer again */
    }
}

static void make_sight(monkey *m, phi_agent_desc *desc) {
    desc->model.context_window = once_in(m, 2) ? 100 + pick(m, 600) : 0;
    desc->compaction.system_prompt_tokens = 10;
    desc->compaction.disable = once_in(m, 6);
    if (once_in(m, 2)) desc->compaction.keep_recent_turns = 1 + pick(m, 3);
    if (once_in(m, 3)) {
        desc->compactor.start = job_start;
        desc->compactor.poll = job_poll;
        desc->compactor.end = job_end;
        desc->compactor.user_data = m;
    } else if (once_in(m, 5))
        desc->compactor = phi_compactor_model(NULL);
    if (once_in(m, 3)) {
        memset(&m->policy, 0, sizeof m->policy);
        m->policy.max_input_tokens = 100 + pick(m, 600);
        m->policy.no_reserve = true;
        m->policy.keep_last_turns = pick(m, 3);
        m->policy.summaries = (phi_summaries)pick(m, 3);
        desc->policy = &m->policy;
    }
    if (once_in(m, 8)) desc->format.kind = PHI_FORMAT_JSON_OBJECT;
}

/* What it points to must live until the desc was taken. */
typedef struct making {
    phi_tool tools[TOOLS];
    phi_filter filters[2];
    phi_provider provider;
    char thread_id[24];
    bool thinks; /* it has a strategy */
} making;

/* Puts on what m->lent has. */
static void dress(monkey *m, phi_agent_desc *desc, making *with) {
    lent *l = &m->lent;
    size_t i;
    with->thinks = false;
    if (once_in(m, 3)) desc->tool_options.effects.mode = (phi_effect_mode)pick(m, 3);
    if (once_in(m, 3)) desc->tool_options.effects.max_state_bytes = 20 + pick(m, 200);
    desc->tool_options.effects.allow = pick(m, 64);
    desc->options.disable_facts = once_in(m, 6);
    if (once_in(m, 3)) desc->failover = &l->failover;
    if (once_in(m, 3)) {
        desc->tool_options.sources = l->sources;
        desc->tool_options.source_count = 1 + pick(m, SHOPS);
    }
    if (!m->strangers) return;
    for (i = 0; i < HELPERS && i < desc->tool_count; i++)
        if (once_in(m, 2)) with->tools[i] = phi_subagent_tool(&l->helpers[i]);
    if (!once_in(m, 6)) return;
    with->thinks = true;
    with->provider = phi_strategy_provider(&l->thinkers[pick(m, THINKERS)]);
    desc->provider = &with->provider;
    desc->max_tokens = 100;
}

static phi_agent_desc any_desc(monkey *m, making *with) {
    phi_agent_desc desc = rig_desc();
    phi_agent parent = any_agent(m);
    size_t i;
    desc.tools = with->tools;
    desc.tool_count = make_tools(m, with->tools);
    desc.tool_options.mode = (phi_tool_mode)pick(m, 3);
    desc.tool_options.batch = 1 + pick(m, 3);
    desc.user_data = m;
    make_limits(m, &desc);
    make_sight(m, &desc);
    if (!once_in(m, 3)) {
        desc.hook_fn = any_hook;
        desc.hook_points = 1 | (test_random(&m->state) & test_random(&m->state) & 0x1ffff);
    }
    for (i = 0; i < desc.tool_count && (desc.hook_points & PHI_HOOK_BEFORE_TOOL) == 0; i++)
        with->tools[i].needs_approval = false; /* nothing could approve: refused */
    for (i = 0; i < 2; i++) {
        with->filters[i].fn = any_hook;
        with->filters[i].user_data = m;
    }
    desc.input.filters = with->filters;
    desc.input.filter_count = once_in(m, 4) ? pick(m, 3) : 0;
    desc.input.steering_mode = (phi_queue_mode)pick(m, 2);
    desc.input.follow_up_mode = (phi_queue_mode)pick(m, 2);
    desc.keep = (phi_keep)pick(m, 2);
    desc.options.capture_requests = once_in(m, 4);
    if (once_in(m, 8)) desc.translate_fn = any_translate;
    if (once_in(m, 4)) {
        with->provider = own_provider(m);
        desc.provider = &with->provider;
        desc.model.protocol = "mine";
    }
    dress(m, &desc, with);
    if (once_in(m, 4) && phi_agent_alive(parent)) desc.parent = parent;
    if (once_in(m, 4)) desc.ids.session_id = desc.ids.agent_id = NULL;
    if (once_in(m, 4)) {
        (void)snprintf(with->thread_id, sizeof with->thread_id, "t%u", (unsigned)m->names++);
        desc.store = &m->kept;
        desc.thread_id = once_in(m, 4) ? any_name(m, "t", m->names) : with->thread_id;
    }
    return desc;
}

/* A seat for it: an empty one, else its agent goes. */
static seat *free_seat(monkey *m) {
    seat *s = &m->seats[pick(m, m->seat_count)];
    size_t i;
    for (i = 0; i < m->seat_count; i++)
        if (!phi_agent_alive(m->seats[i].agent)) s = &m->seats[i];
    phi_agent_free(s->agent);
    memset(s, 0, sizeof *s);
    return s;
}

static void sit(monkey *m, seat *s, phi_agent a, bool limited, bool wild) {
    if (a.rt == NULL) return;
    keep_agent(m, a);
    s->agent = a;
    s->limited = limited;
    s->wild = wild;
}

static void make_agent(monkey *m) {
    making with;
    phi_agent_desc desc = any_desc(m, &with);
    seat *s = free_seat(m);
    if (desc.parent.rt != NULL && !phi_agent_alive(desc.parent))
        memset(&desc.parent, 0, sizeof desc.parent);
    sit(m, s, phi_agent_new(runtime(m), once_in(m, 60) ? NULL : &desc),
        desc.memory.limit_bytes != 0,
        desc.translate_fn != NULL || desc.format.kind != 0 || with.thinks);
}

#endif
