/* test_mixed.c - worlds by chance in which everything meets: strategies whose calls have sub-agents
   as tools, sub-agents that think with strategies, evaluations over both, hooks that wait, snapshots
   with and without what they need, threads in stores. Each run ends, each call has one result, and
   nothing is left. PHI_SEEDS: how many worlds; PHI_SEED: one of them. */
#include "orchestrate/evaluate.h"
#include "features/effects.h"
#include "features/facts.h"
#include "record/replay.h"
#include "think.h"
#include "orchestrate/subagents.h"

#include "agent/one_shot_run.h"
#include "agent/response.h"
#include "agent/snapshot.h"
#include "agent/summary.h"
#include "support/resumed.h"
#include "support/set.h"
#include "support/store_mem.h"
#include "support/thread_text.h"
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/run.h"
#include "model/event.h"

enum { SEEDS = 40, MOST_OPENS = 300, KINDS = 7 };

typedef struct world {
    rig *r;
    uint32_t x;
    bool calm; /* no more chance: all is to come to its end */
    phi_provider model, tot, cot;
    phi_strategy_desc tot_desc, cot_desc;
    phi_tot_options options;
    phi_agent_desc lead_desc, worker_desc, thinker_desc, configs[3], judge_desc;
    phi_subagent_desc worker, thinker, deep;
    phi_tool tools[6], worker_tools[3];
    phi_agent lead;
    phi_evaluate_desc evaluation;
    store_mem *store;
    int opens, closes, answers, ids;
    size_t starts, ends, parallel_starts, parallel_ends;
    bool lost;      /* the last run ended for want of memory */
    bool same;      /* the lead is the one that began */
    uint64_t spent; /* tokens of all answers */
    uint32_t rate;  /* a disturbance in so many steps */
    uint32_t mask;  /* of the disturbances that happen */
    bool plain;     /* tools and hooks take no chance */
} world;

static uint32_t chance(world *w, uint32_t n) {
    w->x ^= w->x << 13;
    w->x ^= w->x >> 17;
    w->x ^= w->x << 5;
    return w->x % n;
}

/* ---- the model ---- */

static void disturb(world *w, phi_agent agent, bool inside);

/* Inside a callback. */
static void sometimes(world *w, phi_agent agent) {
    if (!w->calm && !w->plain && chance(w, 40) == 0) disturb(w, agent, true);
}

typedef struct mixed_call {
    world *w;
    char names[8][20];
    size_t count;
    int polls;
} mixed_call;

static phi_status mixed_open(void *user_data, const phi_model_request *request, void **out) {
    world *w = (world *)user_data;
    mixed_call *c = (mixed_call *)calloc(1, sizeof *c);
    size_t i;
    c->w = w;
    for (i = 0; i < request->tool_count && i < 8; i++)
        heard_copy(c->names[i], sizeof c->names[i], request->tools[i].name);
    c->count = i;
    c->polls = (int)chance(w, 4);
    w->opens++;
    *out = c;
    sometimes(w, request->agent);
    return PHI_OK;
}

static void mixed_calls(mixed_call *c, phi_answer *answer) {
    world *w = c->w;
    char id[24];
    uint32_t n = 1 + chance(w, 3), i;
    for (i = 0; i < n; i++) {
        (void)snprintf(id, sizeof id, "id-%d", w->ids++);
        phi_answer_call(answer, phi_str_of(id),
                        phi_str_of(c->names[chance(w, (uint32_t)c->count)]));
        phi_answer_arguments(answer, phi_str_of("{\"task\":\"do it\"}"), true);
    }
    phi_answer_stop(answer, PHI_STOP_REASON_TOOL_USE);
}

static phi_poll mixed_poll(void *user_data, void *opaque, phi_answer *answer) {
    static const char *const texts[] = {"prose",
                                        "",
                                        "1. p\n2. q\n3. r",
                                        "{\"thoughts\":[\"a\",\"b\",\"c\"]}",
                                        "{\"scores\":{\"t1\":0.5,\"t2\":1.0,\"t3\":0.1}}",
                                        "{\"scores\":{\"t1\":0.2,\"t2\":0.3}}",
                                        "2"};
    mixed_call *c = (mixed_call *)opaque;
    world *w = (world *)user_data;
    phi_usage usage;
    sometimes(w, w->lead);
    if (c->polls-- > 0) return PHI_POLL_AGAIN;
    memset(&usage, 0, sizeof usage);
    usage.input = 10;
    usage.output = 5;
    phi_answer_usage(answer, &usage);
    w->answers++;
    w->spent += 15;
    if (!w->calm && chance(w, 12) == 0) {
        phi_answer_fail(answer, PHI_FAILURE_INVALID_REQUEST, false, "ill");
        return PHI_POLL_DONE;
    }
    if (!w->calm && c->count > 0 && w->opens < MOST_OPENS && chance(w, 2) == 0) {
        mixed_calls(c, answer);
        return PHI_POLL_DONE;
    }
    phi_answer_text(answer, phi_str_of(texts[chance(w, KINDS)]));
    phi_answer_stop(answer, PHI_STOP_REASON_STOP);
    return PHI_POLL_DONE;
}

static void mixed_close(void *user_data, void *call) {
    world *w = (world *)user_data;
    w->closes++;
    free(call);
    sometimes(w, w->lead);
}

/* ---- tools ---- */

static phi_flow note_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content;
    phi_tool_result result;
    (void)user_data;
    (void)arguments;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("noted");
    result.content = &content;
    result.content_count = 1;
    result.effects = "[{\"op\":\"merge\",\"value\":{\"n\":1}},{\"op\":\"emit\",\"name\":\"e\","
                     "\"value\":1}]";
    (void)phi_call_tool_state(call);
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

static phi_flow slow_start(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    sometimes((world *)user_data, phi_call_get_info(call).agent);
    return PHI_PENDING;
}

static phi_flow slow_step(void *user_data, phi_call call) {
    world *w = (world *)user_data;
    sometimes(w, phi_call_get_info(call).agent);
    if (!w->calm && !w->plain && chance(w, 3) != 0) return PHI_PENDING;
    (void)phi_call_reply(call, "slow");
    return PHI_DONE;
}

static void slow_cancel(void *user_data, phi_call call) {
    world *w = (world *)user_data;
    if (!w->calm && !w->plain && chance(w, 4) == 0) disturb(w, phi_call_get_info(call).agent, true);
}

static phi_tool tool_of(world *w, const char *name) {
    phi_tool t;
    memset(&t, 0, sizeof t);
    t.name = name;
    t.description = name;
    t.start = note_start;
    t.user_data = w;
    if (strcmp(name, "slow") == 0) {
        t.start = slow_start;
        t.step = slow_step;
        t.cancel = slow_cancel;
    }
    return t;
}

/* ---- hooks ---- */

static phi_verdict hook(void *user_data, phi_hook *hook) {
    world *w = (world *)user_data;
    if (w->calm || w->plain) return PHI_ALLOW;
    switch (chance(w, 24)) {
    case 0: return PHI_DENY;
    case 1:
    case 2:
        if (hook->ticket.rt == NULL) return PHI_ALLOW;
        hook->timeout_ms = chance(w, 2) == 0 ? PHI_UNLIMITED : 1000;
        return PHI_WAIT;
    case 3: disturb(w, hook->agent, true); return PHI_ALLOW;
    default: return PHI_ALLOW;
    }
}

static void decide(world *w, bool all) {
    phi_pending_item items[64];
    size_t n = phi_pending(rig_runtime(w->r), items, 64), i;
    for (i = 0; i < n && i < 64; i++) {
        phi_raise by;
        if (!all && chance(w, 2) == 0) continue;
        memset(&by, 0, sizeof by);
        by.tokens = 100000;
        by.requests = 100;
        by.cost = 1000;
        by.turns = 100;
        by.duration_ms = 1000000;
        if (items[i].kind == PHI_WAITING_DECISION)
            (void)phi_decide(items[i].ticket, chance(w, 4) == 0 ? PHI_DENY : PHI_ALLOW, NULL);
        else if (items[i].kind == PHI_WAITING_BUDGET)
            (void)phi_budget_raise(items[i].payer, &by);
    }
}

/* ---- the world ---- */

static phi_agent_desc desc_of(world *w, const char *id) {
    phi_agent_desc d;
    memset(&d, 0, sizeof d);
    d.model.protocol = "mixed";
    d.model.id = id;
    d.model.max_tokens = 50;
    d.model.cost.input = 10000;
    d.model.cost.output = 100000;
    d.provider = &w->model;
    d.retry.disable = true;
    d.system_prompt = "Do it.";
    d.user_data = w;
    return d;
}

static void hear(void *user_data, const phi_event *e) {
    world *w = (world *)user_data;
    bool own = e->agent.index == w->lead.index && e->agent.gen == w->lead.gen;
    if (!own) return;
    w->starts += e->kind == PHI_EV_AGENT_START;
    w->ends += e->kind == PHI_EV_AGENT_END;
    if (e->kind == PHI_EV_AGENT_END) w->lost = e->status == PHI_NO_MEMORY;
    w->parallel_starts += e->kind == PHI_EV_PARALLEL_START;
    w->parallel_ends += e->kind == PHI_EV_PARALLEL_END;
}

static void subs(world *w) {
    w->worker.name = "worker";
    w->worker.agent = &w->worker_desc;
    w->worker.keep = chance(w, 3);
    w->worker.show_events = chance(w, 3) == 0;
    w->worker.max_depth = 2;
    w->thinker.name = "thinker";
    w->thinker.agent = &w->thinker_desc;
    w->thinker.show_events = chance(w, 3) == 0;
    w->thinker.max_depth = 2;
    w->tools[0] = phi_subagent_tool(&w->worker);
    w->tools[1] = phi_subagent_tool(&w->thinker);
    w->tools[2] = tool_of(w, "note");
    w->tools[3] = tool_of(w, "slow");
    w->worker_tools[0] = w->tools[1];
    w->worker_tools[1] = w->tools[2];
    w->worker_tools[2] = w->tools[3];
}

static void hooks(world *w, phi_agent_desc *d) {
    static const uint32_t points[] = {
        PHI_HOOK_BEFORE_TOOL, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL, 0, EVERY_POINT & ~1u,
        PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_TURN};
    d->hook_points = points[chance(w, 5)] & (uint32_t)~PHI_HOOK_CREDENTIAL;
    if (d->hook_points != 0) d->hook_fn = hook;
}

static void budgets(world *w, phi_agent_desc *d) {
    if (chance(w, 3) == 0) {
        d->budget.max_tokens = 500 + chance(w, 200000);
        d->limits.pause = chance(w, 2) == 0;
    }
    if (chance(w, 4) == 0) d->budget.max_requests = 5 + chance(w, 400);
    if (chance(w, 4) == 0) d->limits.max_tokens = 50 + chance(w, 500);
    if (chance(w, 4) == 0) d->limits.max_cost = 0.5 + chance(w, 40);
    if (chance(w, 5) == 0) d->memory.limit_bytes = 100000 + chance(w, 300000);
    if (chance(w, 2) == 0) d->memory.at_limit = PHI_AT_MEMORY_LIMIT_FORGET;
}

static void world_begin_with(world *w, uint32_t seed, phi_tape *tape) {
    phi_runtime_desc runtime;
    size_t i;
    memset(w, 0, sizeof *w);
    w->x = seed * 2654435761u + 1;
    w->rate = 1 + chance(w, 3) * chance(w, 12);
    w->mask = chance(w, 3) == 0 ? UINT32_MAX : w->x | 0x600000;
    if (chance(w, 2) == 0) w->mask &= ~(1u << 16);
    memset(&runtime, 0, sizeof runtime);
    runtime.tape = tape;
    w->r = rig_new_with(&runtime);
    rig_watch(w->r, hear, w);
    w->model.protocol = "mixed";
    w->model.open = mixed_open;
    w->model.poll = mixed_poll;
    w->model.close = mixed_close;
    w->model.user_data = w;
    w->options.tools = true;
    w->options.max_tool_rounds = 2;
    w->options.max_depth = 2;
    w->tot_desc.strategy = phi_strategy_tot();
    w->tot_desc.options = &w->options;
    w->tot_desc.provider = &w->model;
    w->tot_desc.max_calls = chance(w, 2) == 0 ? 1 + chance(w, 8) : 0;
    w->cot_desc.strategy =
        chance(w, 2) == 0 ? phi_strategy_cot(PHI_COT_STEPS) : phi_strategy_adaptive();
    w->cot_desc.provider = chance(w, 2) == 0 ? &w->model : &w->tot;
    w->tot = phi_strategy_provider(&w->tot_desc);
    w->cot = phi_strategy_provider(&w->cot_desc);
    w->worker_desc = desc_of(w, "worker");
    w->thinker_desc = desc_of(w, "thinker");
    w->lead_desc = desc_of(w, "lead");
    subs(w);
    w->worker_desc.tools = w->worker_tools;
    w->worker_desc.tool_count = 3;
    w->thinker_desc.provider = chance(w, 2) == 0 ? &w->tot : &w->cot;
    w->thinker_desc.tools = w->worker_tools + 1;
    w->thinker_desc.tool_count = 2;
    w->lead_desc.tools = w->tools;
    w->lead_desc.tool_count = 4;
    if (chance(w, 2) == 0) w->lead_desc.provider = chance(w, 2) == 0 ? &w->tot : &w->cot;
    hooks(w, &w->lead_desc);
    hooks(w, &w->worker_desc);
    hooks(w, &w->thinker_desc);
    budgets(w, &w->lead_desc);
    budgets(w, &w->worker_desc);
    if (chance(w, 3) == 0) {
        w->store = store_mem_new();
        w->lead_desc.store = store_mem_store(w->store);
    }
    for (i = 0; i < 3; i++) w->configs[i] = desc_of(w, "config");
    w->configs[1].provider = &w->cot;
    w->configs[2].provider = &w->tot;
    w->configs[2].limits.max_turns = 1;
    hooks(w, &w->configs[0]);
    w->judge_desc = desc_of(w, "judge");
    w->evaluation.configs = w->configs;
    w->evaluation.config_count = 3;
    w->evaluation.prompt = "Which?";
    w->evaluation.judge = &w->judge_desc;
    w->lead = phi_agent_new(rig_runtime(w->r), &w->lead_desc);
    w->same = true;
    CHECK(w->lead.rt != NULL);
}

static void world_begin(world *w, uint32_t seed) { world_begin_with(w, seed, NULL); }

/* A new lead where there is none. */
static void again(world *w) {
    if (phi_agent_alive(w->lead)) return;
    w->lead = phi_agent_new(rig_runtime(w->r), &w->lead_desc);
    w->same = false;
}

/* A snapshot into another agent, whose desc may lack what it needs. */
static void move_on(world *w, uint32_t how) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {"", 0};
    phi_agent_desc d = w->lead_desc;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi_agent_snapshot(w->lead, &arena, &text) == PHI_OK) {
        bool whole = how != 0;
        if (chance(w, 4) == 0) d.provider = chance(w, 2) == 0 ? &w->model : &w->tot;
        if (chance(w, 5) == 0) d.tool_count = chance(w, 3);
        if (d.tool_count == 0) d.tools = NULL;
        d.store = NULL;
        phi_agent_free(w->lead);
        w->lead = phi_agent_restore(rig_runtime(w->r), &d, text,
                                    how == 0 ? PHI_RESTORE_INTERRUPT : PHI_RESTORE_RESUME);
        whole = whole && d.provider == w->lead_desc.provider && d.tools == w->lead_desc.tools &&
                d.tool_count == w->lead_desc.tool_count && w->store == NULL;
        if (w->lead.rt != NULL && chance(w, 4) != 0) {
            phi_status status;
            whole = phi_spawn(w->lead, &w->worker, NULL, NULL) == PHI_OK && whole;
            status = evaluate_resume(w->lead, &w->evaluation);
            whole = whole && (status == PHI_OK || status == PHI_NOT_FOUND || status == PHI_BUSY);
        } else
            whole = false;
        w->same = w->same && whole;
    }
    phi_arena_free(&arena);
    again(w);
}

static void evaluate(world *w) {
    w->evaluation.by = (phi_evaluate_by)chance(w, 5);
    if (w->evaluation.by == PHI_EVALUATE_TRANSPARENT) w->evaluation.by = PHI_EVALUATE_JUDGE;
    (void)phi_evaluate(w->lead, &w->evaluation);
}

/* A request with settings of its own. */
static void ask(world *w) {
    phi_prompt_desc desc;
    phi_response response;
    memset(&desc, 0, sizeof desc);
    desc.text = "Ask";
    desc.no_tools = chance(w, 3) == 0;
    desc.tools = chance(w, 3) == 0 && !desc.no_tools ? w->tools : NULL;
    desc.tool_count = desc.tools != NULL ? 1 + chance(w, 4) : 0;
    if (phi_prompt_with(w->lead, &desc, &response) == PHI_OK && chance(w, 8) == 0)
        phi_response_free(response);
}

/* Another lane becomes the active one, or a new one. */
static void lanes(world *w) {
    phi_thread *thread = phi_agent_thread(w->lead);
    size_t n = phi_thread_get_info(thread).lane_count;
    char name[200];
    heard_copy(name, sizeof name, phi_str_of(phi_thread_lane_at(thread, chance(w, (uint32_t)n))));
    if (chance(w, 2) == 0)
        (void)phi_thread_switch(thread, name);
    else
        (void)phi_thread_fork_lane(thread, "fork", name, UINT64_MAX);
}

static void disturb(world *w, phi_agent agent, bool inside) {
    uint32_t what = chance(w, inside ? 14 : 32);
    phi_agent at = chance(w, 3) == 0 ? w->lead : agent;
    if ((w->mask >> what & 1) == 0) return;
    switch (what) {
    case 0: (void)phi_abort(at); break;
    case 1: (void)phi_stop(at); break;
    case 2:
        if (chance(w, 3) != 0) break;
        phi_agent_free(at);
        w->same = false;
        break;
    case 3: (void)phi_agent_reset(at); break;
    case 4: (void)phi_agent_new_session(at, chance(w, 2) == 0); break;
    case 5: (void)set_tools(at, w->tools, chance(w, 5)); break;
    case 6: (void)phi_steer(at, "Steer"); break;
    case 7: (void)phi_follow_up(at, "Follow"); break;
    case 8: (void)phi_strategy_settle(at); break;
    case 9: (void)phi_spawn(at, &w->worker, "spawned", NULL); break;
    case 10: (void)phi_compact(at); break;
    case 11: (void)phi_agent_set_tool_state(at, phi_str_of("{\"a\":[1,2]}")); break;
    case 12: (void)phi_fact_set(phi_fact_agent(at), "k", phi_str_of("v"), NULL); break;
    case 13: (void)phi_agent_use_thread(at, chance(w, 2) == 0 ? "one" : "two"); break;
    case 14:
    case 15: move_on(w, chance(w, 4)); break;
    case 16: test_alloc_fail_some(w->x, 60 + chance(w, 400)); break;
    case 17:
    case 18: test_alloc_fail_some(0, 0); break;
    case 19:
    case 20: evaluate(w); break;
    case 21:
    case 22: (void)phi_prompt(w->lead, "Prompt"); break;
    case 23: decide(w, false); break;
    case 26: ask(w); break;
    case 27: lanes(w); break;
    case 28: {
        phi_content block;
        phi_message message = text_message(PHI_ROLE_USER, &block, "Appended");
        (void)phi_thread_append(phi_agent_thread(at), &message, 1, NULL);
        break;
    }
    case 29: (void)set_model(at, &w->lead_desc.model); break;
    case 30: (void)phi_summarize(at, 0, UINT64_MAX); break;
    case 31: (void)phi_agent_replace_messages(at, NULL, 0); break;
    default: break;
    }
}

static void one_result_a_call(const world *w) {
    size_t n = phi_thread_message_count(phi_agent_thread(w->lead)), i, j, k;
    for (i = 0; i < n; i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(w->lead), i);
        if (m == NULL && w->lead_desc.memory.limit_bytes != 0) return; /* it cannot be recalled */
        for (k = 0; m->role == PHI_ROLE_ASSISTANT && k < m->content_count; k++) {
            size_t results = 0;
            if (m->content[k].kind != PHI_CONTENT_TOOL_CALL || m->content[k].incomplete) continue;
            for (j = i + 1; j < n; j++)
                results +=
                    phi_thread_message_at(phi_agent_thread(w->lead), j)->role ==
                        PHI_ROLE_TOOL_RESULT &&
                    phi_str_equal(phi_thread_message_at(phi_agent_thread(w->lead), j)->tool_call_id,
                                  m->content[k].id);
            if (results == 0 && w->lost && i + 1 == n) continue; /* the next run answers it */
            CHECK_EQ_INT(results, 1);
        }
    }
}

/* The thread as text and back is the same text. */
static void as_text(world *w) {
    phi_memory memory;
    phi_arena arena;
    phi_str text, back;
    char words[200] = "";
    phi_thread *thread = phi_thread_new(rig_runtime(w->r), 0);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    phi_status status = phi_thread_to_json(phi_agent_thread(w->lead), &arena, &text);
    if (status == PHI_NO_MEMORY && w->lead_desc.memory.limit_bytes != 0) {
        phi_arena_free(&arena); /* what is recalled is the agent's memory */
        phi_thread_free(thread);
        return;
    }
    CHECK_EQ_INT(status, PHI_OK);
    CHECK_EQ_INT(thread_from_json(thread, text, words, sizeof words), PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK_EQ_INT(phi_thread_to_json(thread, &arena, &back), PHI_OK);
    CHECK(phi_str_equal(text, back));
    phi_arena_free(&arena);
    phi_thread_free(thread);
}

static void settle(world *w) {
    int i, left = 1;
    w->calm = true;
    for (i = 0; i < 400 && left > 0; i++) {
        decide(w, true);
        left = rig_run(w->r, 20);
        rig_pass_ms(w->r, 5);
    }
    CHECK_EQ_INT(left, 0);
}

static void story(uint32_t seed) {
    world w;
    int step, failures = test_failures();
    world_begin(&w, seed);
    for (step = 0; step < 150; step++) {
        if (!phi_agent_alive(w.lead)) again(&w);
        if (w.lead.rt == NULL) break;
        if (step % 20 == 0) (void)phi_prompt(w.lead, "Begin");
        (void)rig_run(w.r, 1);
        if (phi_agent_alive(w.lead) && chance(&w, w.rate) == 0) disturb(&w, w.lead, false);
    }
    test_alloc_fail_some(0, 0);
    if (seed % 4 == 0) {
        int i;
        for (i = 0; i < 1000 && phi_runtime_close(rig_runtime(w.r)) == PHI_BUSY; i++)
            (void)rig_step(w.r);
        CHECK(i < 1000);
        if (i >= 1000) settle(&w);
    } else {
        phi_spending spent;
        again(&w);
        (void)phi_spawn(w.lead, &w.worker, NULL, NULL);
        settle(&w);
        one_result_a_call(&w);
        CHECK_EQ_INT(w.parallel_starts >= w.parallel_ends, 1);
        if (w.same) {
            CHECK_EQ_INT(w.starts, w.ends);
            CHECK_EQ_INT(w.parallel_starts, w.parallel_ends);
        }
        spent = phi_agent_get_info(w.lead).spending;
        CHECK_EQ_INT(spent.reserved_tokens, 0);
        if (w.same) CHECK_EQ_INT(spent.tokens, w.spent);
        as_text(&w);
    }
    CHECK_EQ_INT(w.opens, w.closes);
    rig_free(w.r);
    if (w.store != NULL) store_mem_free(w.store);
    if (test_failures() != failures) printf("  PHI_SEED=%u\n", (unsigned)seed);
}

/* ---- spoilt snapshots ---- */

/* The end of the JSON value at `at`. */
static size_t value_end(const char *text, size_t len, size_t at) {
    int depth = 0;
    bool inside = false;
    for (; at < len; at++) {
        char c = text[at];
        if (inside) {
            if (c == '\\')
                at++;
            else if (c == '"')
                inside = false;
            continue;
        }
        if (c == '"') inside = true;
        if (c == '{' || c == '[') depth++;
        if ((c == '}' || c == ']' || c == ',') && depth == 0) return at;
        if (c == '}' || c == ']') depth--;
    }
    return len;
}

/* The place of a value by chance: behind a colon, a comma or a bracket. */
static size_t some_value(world *w, const char *text, size_t len) {
    size_t at = chance(w, (uint32_t)len), i;
    for (i = 0; i < len; i++, at = (at + 1) % len)
        if (text[at] == ':' || text[at] == '[') return at + 1 < len ? at + 1 : 1;
    return 1;
}

/* In place of a value stands another: of the same text, or any. */
static char *spoil(world *w, const char *text, size_t *len) {
    static const char *const values[] = {
        "null", "{}", "[]",      "-1",       "0",    "18446744073709551615",
        "1e99", "",   "\"x\"",   "\"\"",     "true", "4294967295",
        "[[]]", "1",  "\"sub\"", "{\"a\":1}"};
    size_t at = some_value(w, text, *len), end = value_end(text, *len, at), size;
    const char *put = values[chance(w, 16)];
    size_t put_len = strlen(put);
    char *out;
    if (chance(w, 3) == 0) {
        size_t from = some_value(w, text, *len);
        put = text + from;
        put_len = value_end(text, *len, from) - from;
    }
    size = *len - (end - at) + put_len;
    out = (char *)malloc(size + 1);
    memcpy(out, text, at);
    memcpy(out + at, put, put_len);
    memcpy(out + at + put_len, text + end, *len - end);
    if (chance(w, 20) == 0 && size > 0) out[chance(w, (uint32_t)size)] = (char)chance(w, 256);
    *len = size;
    return out;
}

static void spoilt_one(world *w, phi_str text) {
    size_t len = text.len;
    char *json = (char *)malloc(len + 1), *next;
    uint32_t n = 1 + chance(w, 4), i;
    phi_agent other;
    memcpy(json, text.at, len);
    for (i = 0; i < n; i++) {
        next = spoil(w, json, &len);
        free(json);
        json = next;
    }
    other = phi_agent_restore(rig_runtime(w->r), &w->lead_desc, phi__str(json, len),
                              chance(w, 4) == 0 ? PHI_RESTORE_INTERRUPT : PHI_RESTORE_RESUME);
    free(json);
    if (other.rt == NULL) return;
    (void)phi_spawn(other, &w->worker, NULL, NULL);
    (void)evaluate_resume(other, &w->evaluation);
    (void)rig_run(w->r, (int)chance(w, 60));
    if (chance(w, 4) == 0) (void)phi_abort(other);
    (void)rig_run(w->r, (int)chance(w, 20));
    if (phi_agent_alive(other)) phi_agent_free(other);
}

static void spoilt(uint32_t seed) {
    world w;
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    int i, steps, failures = test_failures();
    world_begin(&w, seed);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    w.mask = 0; /* nothing else happens */
    if (chance(&w, 3) == 0) {
        (void)phi_spawn(w.lead, &w.worker, "spawned", NULL);
        evaluate(&w);
    } else
        (void)phi_prompt(w.lead, "Begin");
    steps = (int)(5 + chance(&w, 60));
    for (i = 0; i < steps; i++) (void)rig_run(w.r, 1);
    w.lead_desc.store = NULL;
    if (phi_agent_snapshot(w.lead, &arena, &text) == PHI_OK) {
        phi_agent_free(w.lead);
        for (i = 0; i < 20; i++) spoilt_one(&w, text);
    }
    phi_arena_free(&arena);
    rig_free(w.r);
    if (w.store != NULL) store_mem_free(w.store);
    CHECK_EQ_INT(w.opens, w.closes);
    if (test_failures() != failures) printf("  spoilt PHI_SEED=%u\n", (unsigned)seed);
}

/* ---- tapes ---- */

typedef struct tape_text {
    char *at;
    size_t len;
} tape_text;

static phi_status tape_write(void *user_data, const char *bytes, size_t len) {
    tape_text *t = (tape_text *)user_data;
    t->at = (char *)realloc(t->at, t->len + len + 1);
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
    return PHI_OK;
}

/* A story without the host's disturbances, its log as text, freed by the caller. */
static char *taped(uint32_t seed, phi_tape *tape, int *opens) {
    world w;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {"", 0};
    char *out;
    int i;
    world_begin_with(&w, seed, tape);
    if (w.lead_desc.store != NULL) { /* an agent of a store has ids of its own */
        phi_agent_free(w.lead);
        w.lead_desc.store = NULL;
        w.lead = phi_agent_new(rig_runtime(w.r), &w.lead_desc);
    }
    w.plain = true;
    for (i = 0; i < 4; i++) {
        if (i == 1 || i == 3)
            evaluate(&w);
        else
            (void)phi_prompt(w.lead, "Begin");
        if (i == 2) (void)phi_spawn(w.lead, &w.worker, "spawned", NULL);
        (void)rig_run(w.r, 500);
        (void)rig_run(w.r, 500);
    }
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi_thread_to_json(phi_agent_thread(w.lead), &arena, &text) != PHI_OK)
        text = phi_str_of("none");
    out = (char *)malloc(text.len + 1);
    memcpy(out, text.at, text.len);
    out[text.len] = '\0';
    phi_arena_free(&arena);
    *opens = w.opens;
    rig_free(w.r);
    if (w.store != NULL) store_mem_free(w.store);
    return out;
}

static void played(uint32_t seed) {
    tape_text text = {NULL, 0};
    phi_tape_desc desc;
    phi_tape_divergence d;
    phi_tape *tape;
    char *log, *again;
    int opens = 0, more = 0, failures = test_failures();
    memset(&desc, 0, sizeof desc);
    desc.write_fn = tape_write;
    desc.user_data = &text;
    tape = phi_tape_record(&desc);
    log = taped(seed, tape, &opens);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    memset(&desc, 0, sizeof desc);
    tape = phi_tape_play(&desc, phi__str(text.at, text.len), NULL);
    if (CHECK(tape != NULL)) {
        again = taped(seed, tape, &more);
        if (!CHECK_EQ_INT(phi_tape_end(tape, &d), PHI_OK))
            printf("  %.*s: recorded %.*s, now %.*s\n", (int)d.what.len, d.what.at,
                   (int)d.recorded.len, d.recorded.at, (int)d.actual.len, d.actual.at);
        CHECK_EQ_INT(more, opens);
        CHECK(strcmp(log, again) == 0);
        free(again);
    }
    phi_tape_free(tape);
    free(log);
    free(text.at);
    if (test_failures() != failures) printf("  tape PHI_SEED=%u\n", (unsigned)seed);
}

static void each_seed(void (*one)(uint32_t seed)) {
    const char *chosen = getenv("PHI_SEED"), *more = getenv("PHI_SEEDS");
    uint32_t seeds = more != NULL ? (uint32_t)atoi(more) : (uint32_t)SEEDS, seed;
    if (chosen != NULL) {
        one((uint32_t)atoi(chosen));
        return;
    }
    for (seed = 1; seed <= seeds && test_failures() < 5; seed++) one(seed);
}

TEST(whatever_meets_each_run_ends_and_nothing_is_left) { each_seed(story); }
TEST(a_snapshot_of_all_that_was_spoilt_does_no_harm) { each_seed(spoilt); }

TEST(what_was_recorded_is_played_again) { each_seed(played); }

TEST_MAIN(TEST_ENTRY(what_was_recorded_is_played_again),
          TEST_ENTRY(whatever_meets_each_run_ends_and_nothing_is_left),
          TEST_ENTRY(a_snapshot_of_all_that_was_spoilt_does_no_harm))
