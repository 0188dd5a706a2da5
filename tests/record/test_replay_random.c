/* test_replay_random.c - worlds of several agents whose hosts do anything at any moment, and whose timers fall on the same
   moments, are recorded and played: the same events in the same order, the same logs, and an end.

   What tools do follows from their arguments alone, since they do not run where a tape is played; what the host does follows
   from its own numbers and from the events.

   PHI_SEEDS=n: so many worlds (default 400); PHI_SEED=n: the first one. */
#include "support/update.h"
#include "record/replay.h"
#include "support/rig.h"
#include "record/event_json.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/provider.h"
#include "model/event.h"
#include "wire/writer.h"

enum { AGENTS = 4, CALLS = 16, TICKETS = 16, TOOLS = 5, STEPS = 160, MOST_STEPS = 4000 };

typedef struct text {
    char *at;
    size_t len, cap;
} text;

typedef struct world {
    rig *r;
    uint32_t state; /* the host's numbers */
    uint32_t steps, polls;
    phi_agent agents[AGENTS];
    int agent_count;
    phi_call calls[CALLS];
    phi_ticket tickets[TICKETS];
    size_t call_count, ticket_count;
    text *events;
    bool ending; /* the host only lets the runs end */
    bool burst;  /* it will say more at once than a step reads of a world without a tape */
} world;

typedef struct take {
    text tape, events;
    uint64_t hash[AGENTS];
    uint32_t steps;
    phi_status end;
    uint64_t line;
    char what[100], recorded[300], actual[300];
    bool made;
} take;

static void add(text *t, const char *bytes, size_t n) {
    if (t->len + n + 1 > t->cap) {
        t->cap = (t->len + n + 1) * 2;
        t->at = (char *)realloc(t->at, t->cap);
        if (t->at == NULL) abort();
    }
    memcpy(t->at + t->len, bytes, n);
    t->len += n;
    t->at[t->len] = '\0';
}

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    add((text *)user_data, bytes, len);
    return PHI_OK;
}

static uint32_t pick(world *w, uint32_t n) { return test_random(&w->state) % n; }

/* ---- what the host hears ---- */

static void hear(void *user_data, const phi_event *e) {
    world *w = (world *)user_data;
    char head[80];
    phi_memory memory;
    phi_arena arena;
    phi_str json = phi_str_of("");
    int n;
    if (e->kind == PHI_EV_TOOL_START || e->kind == PHI_EV_DECISION)
        w->calls[w->call_count++ % CALLS] = e->call;
    if (e->kind == PHI_EV_DECISION) w->tickets[w->ticket_count++ % TICKETS] = e->ticket;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(e, &arena, &json), PHI_OK);
    n = snprintf(head, sizeof head, "%u: %u %lld ", (unsigned)w->steps, (unsigned)e->agent.index,
                 (long long)e->timestamp_ms);
    add(w->events, head, (size_t)n);
    add(w->events, json.at, json.len);
    add(w->events, "\n", 1);
    phi_arena_free(&arena);
}

/* ---- tools ---- */

static int number_of(phi_str arguments) {
    size_t i;
    for (i = 0; i < arguments.len; i++)
        if (arguments.at[i] >= '0' && arguments.at[i] <= '9') return arguments.at[i] - '0';
    return 0;
}

static void say(phi_call call, const char *words, bool is_error) {
    phi_content content;
    phi_tool_result result;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(words);
    result.content = &content;
    result.content_count = 1;
    result.is_error = is_error;
    (void)phi_call_result(call, &result);
}

/* Digit 0, 1: done at once; 2: an error at once; 3, 4: posted; else pending. */
static phi_flow any_start(void *user_data, phi_call call, phi_str arguments) {
    int n = number_of(arguments);
    int *left = (int *)phi_call_state(call, sizeof *left);
    (void)user_data;
    if (left != NULL) *left = n;
    if (n % 2 == 1) (void)phi_call_progress(call, "begun");
    if (n < 3) {
        say(call, n == 2 ? "it failed" : "at once", n == 2);
        return PHI_DONE;
    }
    if (n == 3 || n == 4) {
        (void)(n == 4 ? phi_call_fail(call, "posted") : phi_call_reply(call, "posted"));
        return PHI_DONE;
    }
    return PHI_PENDING;
}

static phi_flow any_step(void *user_data, phi_call call) {
    int *left = (int *)phi_call_state(call, sizeof *left);
    (void)user_data;
    if (left == NULL) return PHI_PENDING;
    if (*left == 7) (void)call_update(call, "part");
    if (--*left > 0) return PHI_PENDING;
    if (number_of(phi_call_get_info(call).id) % 3 == 0)
        (void)(number_of(phi_call_get_info(call).id) % 2 == 0 ? phi_call_fail(call, "walked")
                                                              : phi_call_reply(call, "walked"));
    else
        say(call, "stepped", false);
    return PHI_DONE;
}

static void make_tools(world *w, phi_tool tools[TOOLS]) {
    static const char *const names[TOOLS] = {"t0", "t1", "t2", "t3", "t4"};
    size_t i;
    memset(tools, 0, TOOLS * sizeof *tools);
    for (i = 0; i < TOOLS; i++) {
        tools[i].name = names[i];
        tools[i].description = "does something";
        tools[i].start = any_start;
        if (pick(w, 2) == 0) tools[i].step = any_step;
        tools[i].heartbeat_ms = pick(w, 3) == 0 ? 0 : 1 + pick(w, 4);
        tools[i].timeout_ms = 2 + pick(w, 12);
        tools[i].retries = pick(w, 3);
        tools[i].retry_delay_ms = pick(w, 3);
        tools[i].not_concurrent = pick(w, 5) == 0;
        tools[i].may_repeat = true;
    }
}

/* A model in the process: a word a step. */
static phi_status parrot_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static phi_poll parrot_poll(void *user_data, void *call, phi_answer *answer) {
    world *w = (world *)call;
    (void)user_data;
    phi_answer_text(answer, phi_str_of("word "));
    return ++w->polls % 5 == 0 ? PHI_POLL_DONE : PHI_POLL_AGAIN;
}

static void parrot_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

static void make_parrot(world *w, phi_provider *parrot) {
    memset(parrot, 0, sizeof *parrot);
    parrot->protocol = "parrot";
    parrot->user_data = w;
    parrot->open = parrot_open;
    parrot->poll = parrot_poll;
    parrot->close = parrot_close;
}

/* ---- the host ---- */

static phi_verdict any_hook(void *user_data, phi_hook *hook) {
    world *w = (world *)user_data;
    if (w->ending) return PHI_ALLOW;
    switch (pick(w, 10)) {
    case 0:
    case 1:
    case 2: hook->timeout_ms = 1 + pick(w, 6); return PHI_WAIT;
    case 3:
        if (hook->call.rt == NULL) return PHI_ALLOW;
        (void)(pick(w, 4) == 0 ? phi_call_fail(hook->call, "by the hook")
                               : phi_call_reply(hook->call, "by the hook"));
        return pick(w, 2) == 0 ? PHI_WAIT : PHI_ALLOW;
    case 4:
        if (hook->call.rt == NULL) return PHI_ALLOW;
        say(hook->call, "said by the hook", pick(w, 4) == 0);
        return pick(w, 2) == 0 ? PHI_WAIT : PHI_ALLOW;
    case 5: return hook->point == PHI_HOOK_BEFORE_TOOL ? PHI_DENY : PHI_ALLOW;
    case 6: (void)phi_steer(hook->agent, "mind the step"); return PHI_ALLOW;
    case 7:
        if (pick(w, 20) == 0) (void)phi_abort(hook->agent);
        return PHI_ALLOW;
    default: return PHI_ALLOW;
    }
}

static void act(world *w) {
    phi_agent agent = w->agents[pick(w, (uint32_t)w->agent_count)];
    phi_call call = w->calls[pick(w, CALLS)];
    phi_ticket ticket = w->tickets[pick(w, TICKETS)];
    uint32_t n = pick(w, 40);
    switch (n) {
    case 0:
    case 1:
    case 2: (void)phi_call_reply(call, "by the host"); break;
    case 3: (void)phi_call_fail(call, "no, says the host"); break;
    case 4:
        if (call.rt != NULL) say(call, "from the host", pick(w, 3) == 0);
        break;
    case 5:
        if (call.rt != NULL) (void)call_update(call, "the host says");
        break;
    case 6:
    case 7:
    case 8:
    case 9: (void)phi_decide(ticket, PHI_ALLOW, NULL); break;
    case 10: (void)phi_decide(ticket, PHI_ALLOW, "{\"n\":5}"); break;
    case 11: (void)phi_decide(ticket, PHI_DENY, "because"); break;
    case 12: (void)phi_steer(agent, "steered"); break;
    case 13: (void)phi_follow_up(agent, "and then"); break;
    case 14:
        if (pick(w, 6) == 0) (void)phi_abort(agent);
        break;
    case 15: (void)phi_prompt(agent, "again"); break;
    case 16: (void)phi_inject(agent, "heard", "radio"); break;
    case 17:
        if (pick(w, 6) == 0) (void)phi_stop(agent);
        break;
    case 18:
        for (n = 0; n < 300 && w->burst; n++) (void)phi_steer(agent, "more");
        w->burst = false;
        break;
    default: break;
    }
}

/* ---- worlds ---- */

static void script(world *w) {
    static char half[512];
    int i;
    (void)snprintf(half, sizeof half, "%.480s", rig_stream_of("this is lost in the middle"));
    for (i = 0; i < 60; i++) {
        char lines[4][64];
        const char *calls[4];
        size_t n = 1 + pick(w, 4), j;
        for (j = 0; j < n; j++) {
            (void)snprintf(lines[j], sizeof lines[j], "c%d%u t%u {\"n\":%u}", i, (unsigned)j,
                           (unsigned)pick(w, TOOLS), (unsigned)pick(w, 10));
            calls[j] = lines[j];
        }
        switch (pick(w, 8)) {
        case 0: rig_says(w->r, "that was all"); break;
        case 1:
            rig_replies(w->r, 529, pick(w, 2) == 0 ? "Retry-After: 1\r\n" : "",
                        "{\"type\":\"error\"}");
            break;
        case 2:
            if (pick(w, 2) == 0)
                rig_breaks(w->r, half, PHI_NETWORK, "the line is dead");
            else
                rig_hangs(w->r, half);
            break;
        default: rig_calls(w->r, calls, n); break;
        }
    }
}

static void make_agents(world *w) {
    phi_tool tools[TOOLS];
    phi_provider parrot;
    int i;
    make_tools(w, tools);
    make_parrot(w, &parrot);
    w->burst = pick(w, 4) == 0;
    w->agent_count = 1 + (int)pick(w, AGENTS);
    for (i = 0; i < w->agent_count; i++) {
        phi_agent_desc desc = rig_desc();
        desc.tools = tools;
        desc.tool_count = TOOLS;
        desc.tool_options.mode = (phi_tool_mode)pick(w, 3);
        desc.tool_options.batch = 2;
        desc.ids.agent_id = desc.ids.session_id = NULL;
        desc.user_data = w;
        desc.deadlines.decision_ms = 5;
        desc.deadlines.first_event_ms = desc.deadlines.idle_ms = 8;
        desc.limits.max_duration_ms = pick(w, 3) == 0 ? 30 : 0;
        desc.retry.disable = pick(w, 3) == 0;
        desc.retry.initial_delay_ms = 2;
        desc.retry.max_retries = 3;
        if (pick(w, 3) != 0) {
            desc.hook_fn = any_hook;
            desc.hook_points = PHI_HOOK_BEFORE_TOOL | (pick(w, 2) == 0 ? PHI_HOOK_AFTER_TOOL : 0) |
                               (pick(w, 2) == 0 ? PHI_HOOK_BEFORE_TURN : 0) |
                               (pick(w, 4) == 0 ? PHI_HOOK_BEFORE_TOOL_UPDATE : 0) |
                               (pick(w, 4) == 0 ? PHI_HOOK_AFTER_TOOL_UPDATE : 0);
        }
        if (i > 0 && pick(w, 4) == 0) desc.parent = w->agents[i - 1];
        if (pick(w, 8) == 0) {
            desc.model = phi_model_anthropic("parrot", "");
            desc.model.protocol = "parrot";
            desc.provider = &parrot;
            desc.tool_count = 0;
        }
        w->agents[i] = rig_agent(w->r, &desc);
        (void)phi_prompt(w->agents[i], "go");
    }
}

static void live(world *w, take *t) {
    int i, runs = 1;
    rig_chunk(w->r, pick(w, 2) == 0 ? 0 : 100 + pick(w, 300));
    script(w);
    rig_watch(w->r, hear, w);
    make_agents(w);
    for (; w->steps < STEPS; w->steps++) {
        uint32_t acts = pick(w, 4);
        (void)rig_step(w->r);
        while (acts-- > 0) act(w);
        rig_pass_ms(w->r, pick(w, 3));
    }
    w->ending = true;
    for (i = 0; i < w->agent_count; i++) (void)phi_abort(w->agents[i]);
    while (runs > 0 && w->steps++ < MOST_STEPS) {
        runs = rig_step(w->r);
        rig_pass_ms(w->r, 1);
    }
    t->steps = w->steps;
    for (i = 0; i < w->agent_count; i++)
        t->hash[i] = phi_thread_hash(phi_agent_thread(w->agents[i]));
}

static void copy(char *out, size_t size, phi_str s) {
    (void)snprintf(out, size, "%.*s", (int)s.len, s.len > 0 ? s.at : "");
}

/* Records (from NULL), or plays a tape. */
static void shoot(take *t, uint32_t seed, uint32_t bytes, const text *from) {
    phi_runtime_desc desc;
    phi_tape_desc how;
    phi_tape_divergence d;
    phi_parse_error error;
    world w;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    memset(&w, 0, sizeof w);
    memset(t, 0, sizeof *t);
    how.allocator = test_allocator();
    how.write_fn = write_tape;
    how.user_data = &t->tape;
    desc.step_budget_bytes = bytes;
    desc.tape =
        from == NULL ? phi_tape_record(&how) : phi_tape_play(&how, phi_str_of(from->at), &error);
    if (!CHECK(desc.tape != NULL)) return;
    t->made = true;
    w.r = rig_new_with(&desc);
    w.state = seed * 2654435761u + 1;
    w.events = &t->events;
    add(w.events, "", 0);
    live(&w, t);
    rig_free(w.r);
    t->end = phi_tape_end(desc.tape, &d);
    t->line = d.line;
    copy(t->what, sizeof t->what, d.what);
    copy(t->recorded, sizeof t->recorded, d.recorded);
    copy(t->actual, sizeof t->actual, d.actual);
    phi_tape_free(desc.tape);
}

static void cut(take *t) {
    free(t->tape.at);
    free(t->events.at);
}

static bool same(const take *a, const take *b) {
    return b->end == PHI_OK && b->steps < MOST_STEPS && a->events.len == b->events.len &&
           memcmp(a->events.at, b->events.at, a->events.len) == 0 &&
           memcmp(a->hash, b->hash, sizeof a->hash) == 0;
}

static void describe(uint32_t seed, const take *a, const take *b) {
    size_t i = 0, from;
    printf("  seed %u: %s, %u steps; line %u: %s\n  recorded: %s\n  now: %s\n", (unsigned)seed,
           phi_status_text(b->end), (unsigned)b->steps, (unsigned)b->line, b->what, b->recorded,
           b->actual);
    while (a->events.at[i] != '\0' && a->events.at[i] == b->events.at[i]) i++;
    if (a->events.at[i] == b->events.at[i]) return;
    for (from = i; from > 0 && a->events.at[from - 1] != '\n'; from--) {}
    printf("  recorded: %.300s\n  played: %.300s\n", a->events.at + from, b->events.at + from);
}

static uint32_t number(const char *name, uint32_t otherwise) {
    const char *value = getenv(name);
    return value != NULL ? (uint32_t)strtoul(value, NULL, 10) : otherwise;
}

TEST(worlds_of_several_agents_are_played_event_by_event) {
    static const uint32_t budgets[] = {1, 64, 1000000};
    uint32_t first = number("PHI_SEED", 1), n = number("PHI_SEEDS", 400), seed, wrong = 0;
    for (seed = first; seed < first + n; seed++) {
        take recorded, played;
        shoot(&recorded, seed, seed % 4 == 0 ? 100 : 0, NULL);
        CHECK_EQ_INT(recorded.end, PHI_OK);
        shoot(&played, seed, 0, &recorded.tape);
        if (!same(&recorded, &played)) {
            if (wrong++ < 5) describe(seed, &recorded, &played);
        }
        cut(&played);
        shoot(&played, seed, budgets[seed % 3], &recorded.tape);
        if (!same(&recorded, &played)) {
            if (wrong++ < 5) describe(seed, &recorded, &played);
        }
        cut(&recorded);
        cut(&played);
    }
    CHECK_EQ_INT(wrong, 0);
}

TEST_MAIN(TEST_ENTRY(worlds_of_several_agents_are_played_event_by_event))
