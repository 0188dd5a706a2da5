/* test_random.c - random runs of several agents: answers of every kind, tools of every temper, aborts,
   frees, resets, new models, broken streams, hosts that do not listen, and memory that fails. Each
   seed is one story; whatever happens in it, the promises of DESIGN part 1.5 hold. */
#include "support/rig.h"

enum { AGENTS = 4, CALLS = 64, STEPS = 60, SEEDS = 400 };

typedef struct seat {
    phi_agent agent;
    bool in_run, in_turn;
    uint32_t gen;
} seat;

typedef struct world {
    rig *r;
    uint32_t state, ids;
    seat seats[AGENTS];
    phi_call calls[CALLS];
    uint32_t call_count;
    uint64_t seq;
    bool deaf, failed;
} world;

static uint32_t pick(world *w, uint32_t n) { return test_random(&w->state) % n; }

#define HOLDS(w, condition)                                                                        \
    do {                                                                                           \
        if (!CHECK(condition)) (w)->failed = true;                                                 \
    } while (0)

/* ---- tools ---- */

static void keep(world *w, phi_call call) { w->calls[w->call_count++ % CALLS] = call; }

static phi_status give(world *w, phi_call call) {
    phi_content content;
    phi_tool_result result;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("a result \xff of some length");
    result.content = &content;
    result.content_count = 1;
    result.is_error = pick(w, 4) == 0;
    return phi_call_result(call, &result);
}

static phi_flow any_start(void *user_data, phi_call call, phi_str arguments) {
    world *w = (world *)user_data;
    (void)arguments;
    switch (pick(w, 8)) {
    case 0: (void)give(w, call); return PHI_DONE;
    case 1: return PHI_DONE;
    case 2: (void)phi_call_finish(call, "posted", 6, false); return PHI_DONE;
    case 3: (void)phi_call_update(call, "part", 4); break;
    case 4:
        if (pick(w, 6) == 0) (void)phi_agent_free(w->seats[pick(w, AGENTS)].agent);
        break;
    case 5: (void)phi_call_state(call, pick(w, 200)); break;
    default: break;
    }
    keep(w, call);
    return PHI_PENDING;
}

static phi_flow any_step(void *user_data, phi_call call) {
    world *w = (world *)user_data;
    HOLDS(w, phi_call_agent(call).rt != NULL);
    switch (pick(w, 12)) {
    case 0: (void)give(w, call); return PHI_DONE;
    case 1: return PHI_DONE;
    case 2: (void)phi_call_finish(call, "walked", 6, false); return PHI_DONE;
    case 3: (void)phi_call_progress(call, "on the way", 10); break;
    default: break;
    }
    return PHI_PENDING;
}

static void any_cancel(void *user_data, phi_call call) {
    world *w = (world *)user_data;
    HOLDS(w, !phi_call_pending(call));
    HOLDS(w, give(w, call) == PHI_STALE);
    if (pick(w, 20) == 0) (void)phi_agent_free(w->seats[pick(w, AGENTS)].agent);
}

static void sit(world *w, seat *s) {
    static const char *const names[] = {"slow", "alone", "polled"};
    phi_agent_desc desc = rig_desc();
    phi_tool tools[3];
    size_t i;
    memset(tools, 0, sizeof tools);
    for (i = 0; i < 3; i++) {
        tools[i].name = names[i];
        tools[i].start = any_start;
        tools[i].cancel = any_cancel;
        tools[i].user_data = w;
        tools[i].timeout_ms = 1 + pick(w, 60);
    }
    tools[1].not_concurrent = true;
    tools[2].step = any_step;
    desc.tools = tools;
    desc.tool_count = 3;
    desc.tool_mode = (phi_tool_mode)pick(w, 3);
    desc.tool_batch = 1 + pick(w, 3);
    desc.limits.max_turns = 1 + pick(w, 5);
    desc.deadlines.first_event_ms = desc.deadlines.idle_ms = 1 + pick(w, 60);
    if (pick(w, 3) == 0) desc.event_queue_bytes = 400 + pick(w, 4000);
    if (pick(w, 4) == 0) desc.memory_limit_bytes = 6000 + pick(w, 20000);
    memset(s, 0, sizeof *s);
    s->agent = rig_agent(w->r, &desc);
    s->gen = s->agent.gen;
}

/* ---- answers ---- */

static void cut_answer(world *w, const char *body) {
    size_t n = strlen(body), at = pick(w, (uint32_t)n);
    char *half = (char *)malloc(n + 1);
    if (half == NULL) abort();
    memcpy(half, body, at);
    half[at] = '\0';
    switch (pick(w, 3)) {
    case 0: rig_breaks(w->r, half, PHI_NETWORK, "the line is dead"); break;
    case 1: rig_hangs(w->r, half); break;
    default: rig_replies(w->r, 200, "Content-Type: text/event-stream\r\n", half); break;
    }
    free(half);
}

static void answer_calls(world *w) {
    static const char *const lines[] = {"slow {}",          "alone {}",        "polled {}",
                                        "nobody {}",        "slow {oops",      "polled [1]",
                                        "polled {\"a\":1}", "slow {\"b\":[2]}"};
    char text[6][64];
    const char *calls[6];
    uint32_t n = 1 + pick(w, 5), i;
    for (i = 0; i < n; i++) {
        (void)snprintf(text[i], sizeof text[i], "c%u %s", (unsigned)w->ids++, lines[pick(w, 8)]);
        calls[i] = text[i];
    }
    rig_calls(w->r, calls, n);
}

static const char pausing[] =
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n"
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"pause_turn\"}}\n\n"
    "data: {\"type\":\"message_stop\"}\n\n";
static const char calling[] =
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n"
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\","
    "\"id\":\"cut\",\"name\":\"slow\",\"input\":{}}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\","
    "\"partial_json\":\"{}\"}}\n\n"
    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n\n"
    "data: {\"type\":\"message_stop\"}\n\n";

static void answer(world *w) {
    switch (pick(w, 10)) {
    case 0:
    case 1: rig_says(w->r, "some words, \xc3\xa9 and more of them"); break;
    case 2:
    case 3:
    case 4: answer_calls(w); break;
    case 5: cut_answer(w, rig_stream_of("an answer that is cut somewhere")); break;
    case 6: cut_answer(w, calling); break;
    case 7: rig_replies(w->r, 529, "Retry-After: 3\r\n", "{\"type\":\"error\"}"); break;
    case 8: rig_replies(w->r, 200, "Content-Type: text/event-stream\r\n", pausing); break;
    default: rig_refuses(w->r, PHI_NETWORK); break;
    }
}

/* ---- what must be true ---- */

/* Messages [i, n): every call has one result, in call order. */
static bool log_is_whole(phi_agent agent, size_t i, size_t n) {
    size_t k;
    while (i < n) {
        const phi_message *m = phi_message_at(agent, i++);
        if (m->role == PHI_ROLE_TOOL_RESULT) return false; /* without its call */
        if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason == PHI_STOP_REASON_ERROR ||
            m->stop_reason == PHI_STOP_REASON_ABORTED)
            continue;
        for (k = 0; k < m->content_count; k++) {
            const phi_message *result;
            if (m->content[k].kind != PHI_CONTENT_TOOL_CALL) continue;
            result = i < n ? phi_message_at(agent, i++) : NULL;
            if (result == NULL || result->role != PHI_ROLE_TOOL_RESULT ||
                !phi_str_equal(result->tool_call_id, m->content[k].id))
                return false;
        }
    }
    return true;
}

static void delta_fits(world *w, const phi_event *e) {
    HOLDS(w, e->text.len > 0);
    HOLDS(w, e->message != NULL);
    if (e->message == NULL || e->message->content_count == 0) return; /* lost for want of memory */
    HOLDS(w, e->partial.len >= e->text.len);
    if (w->failed) return;
    HOLDS(w, memcmp(e->partial.at + e->partial.len - e->text.len, e->text.at, e->text.len) == 0);
}

static void heard(world *w, const phi_event *e) {
    seat *s = NULL;
    size_t i;
    HOLDS(w, e->seq > w->seq);
    w->seq = e->seq;
    for (i = 0; i < AGENTS; i++)
        if (w->seats[i].agent.index == e->agent.index && w->seats[i].agent.gen == e->agent.gen)
            s = &w->seats[i];
    HOLDS(w, s != NULL && phi_agent_alive(e->agent));
    if (s == NULL) return;
    HOLDS(w, s->in_run == (e->kind != PHI_EV_AGENT_START));
    switch (e->kind) {
    case PHI_EV_AGENT_START: s->in_run = true; break;
    case PHI_EV_AGENT_END:
        HOLDS(w, !s->in_turn);
        s->in_run = false;
        if (e->status != PHI_NO_MEMORY)
            HOLDS(w, log_is_whole(e->agent, e->first_message, e->first_message + e->message_count));
        break;
    case PHI_EV_TURN_START:
        HOLDS(w, !s->in_turn);
        s->in_turn = true;
        break;
    case PHI_EV_TURN_END:
        HOLDS(w, s->in_turn);
        s->in_turn = false;
        break;
    case PHI_EV_TEXT:
    case PHI_EV_TOOL_ARGUMENTS: delta_fits(w, e); break;
    case PHI_EV_TOOL_END: HOLDS(w, e->call.rt != NULL && e->message != NULL); break;
    default: break;
    }
}

static void listen(world *w) {
    phi_event event;
    while (phi_next_event(rig_runtime(w->r), &event)) heard(w, &event);
}

/* ---- one story ---- */

static void act(world *w) {
    seat *s = &w->seats[pick(w, AGENTS)];
    phi_model model = phi_model_anthropic("another", "key");
    switch (pick(w, 16)) {
    case 0: (void)phi_abort(s->agent); break;
    case 1:
        if (pick(w, 4) == 0) (void)phi_agent_free(s->agent);
        break;
    case 2:
        if (phi_agent_reset(s->agent) == PHI_OK) s->in_run = s->in_turn = false;
        break;
    case 3: (void)phi_agent_set_model(s->agent, &model); break;
    case 4: test_alloc_fail_at((int)pick(w, 60)); break;
    case 5:
        if (pick(w, 4) == 0) test_alloc_fail_from((int)pick(w, 30));
        break;
    case 6: test_alloc_fail_at(-1); break;
    case 7: rig_pass_ms(w->r, pick(w, 80)); break;
    case 8: w->deaf = pick(w, 3) == 0; break;
    case 9: rig_chunk(w->r, pick(w, 300)); break;
    case 10:
    case 11:
        if (w->call_count > 0) {
            phi_call call = w->calls[pick(w, w->call_count < CALLS ? w->call_count : CALLS)];
            if (pick(w, 2) == 0)
                (void)phi_call_finish(call, "from outside", 12, pick(w, 2) == 0);
            else
                (void)give(w, call);
        }
        break;
    default: (void)phi_prompt(s->agent, "go on"); break;
    }
}

static void settle(world *w) {
    int i, most = 2000;
    test_alloc_fail_at(-1);
    rig_chunk(w->r, 0);
    for (i = 0; i < AGENTS; i++) (void)phi_abort(w->seats[i].agent);
    while (rig_run(w->r, 1) > 0 && most-- > 0) listen(w);
    HOLDS(w, most > 0);
    listen(w);
    for (i = 0; i < AGENTS; i++)
        HOLDS(w,
              !phi_agent_alive(w->seats[i].agent) || (!w->seats[i].in_run && !w->seats[i].in_turn));
}

/* Whatever it went through, it takes a prompt (a new history where a limit has filled the old one), and
   then its log is whole. */
static void all_go_on(world *w) {
    int i;
    for (i = 0; i < AGENTS; i++) {
        seat *s = &w->seats[i];
        phi_status status;
        if (!phi_agent_alive(s->agent)) continue;
        status = phi_prompt(s->agent, "are you there?");
        if (status == PHI_NO_MEMORY) {
            HOLDS(w, phi_agent_reset(s->agent) == PHI_OK);
            status = phi_prompt(s->agent, "?");
        }
        HOLDS(w, status == PHI_OK);
    }
    settle(w);
    for (i = 0; i < AGENTS; i++) {
        phi_agent agent = w->seats[i].agent;
        HOLDS(w, log_is_whole(agent, 0, phi_message_count(agent)));
    }
}

static bool story(uint32_t seed) {
    static world w;
    int i;
    memset(&w, 0, sizeof w);
    w.state = seed;
    w.r = rig_new();
    if (!CHECK(w.r != NULL)) return false;
    rig_silent(w.r, true);
    for (i = 0; i < AGENTS; i++) sit(&w, &w.seats[i]);
    for (i = 0; i < 300; i++) answer(&w);
    for (i = 0; i < STEPS; i++) {
        uint32_t n = 1 + pick(&w, 3), k;
        while (n-- > 0) act(&w);
        (void)rig_run(w.r, 1);
        if (!w.deaf) listen(&w);
        for (k = 0; k < AGENTS; k++)
            if (!phi_agent_alive(w.seats[k].agent)) {
                test_alloc_fail_at(-1);
                sit(&w, &w.seats[k]);
            }
    }
    settle(&w);
    all_go_on(&w);
    HOLDS(&w, rig_open_transfers(w.r) == 0);
    rig_free(w.r);
    HOLDS(&w, test_alloc_live_bytes() == 0);
    return !w.failed;
}

TEST(random_stories_keep_every_promise) {
    const char *chosen = getenv("PHI_SEED"); /* one story of a failure, alone */
    const char *more = getenv("PHI_SEEDS");  /* so many, for make soak */
    uint32_t seed, most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)SEEDS;
    if (chosen != NULL) {
        (void)story((uint32_t)strtoul(chosen, NULL, 10));
        return;
    }
    for (seed = 1; seed <= most; seed++)
        if (!story(seed)) {
            printf("  seed %u\n", (unsigned)seed);
            return;
        }
}

TEST_MAIN(TEST_ENTRY(random_stories_keep_every_promise))
