/* test_failover_mixed.c - a switch to another model together with what else a run may have: a tape, a strategy, a model in the
   process, an answer that is JSON, tools of a source; and any sequence of answers, checked by what was asked of whom. */
#include "features/failover.h"

#include "agent/response.h"
#include "agent/snapshot.h"
#include "record/replay.h"
#include "orchestrate/trm.h"
#include "orchestrate/strategy.h"
#include "orchestrate/subagents.h"
#include "support/heard.h"
#include "codecs/presets.h"
#include "loop/tool_source.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

#define HALF                                                                                       \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","       \
    "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n"     \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"                                     \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"   \
    "{\"type\":\"text_delta\",\"text\":\"Half\"}}\n\n"
#define CHAT(delta, reason)                                                                        \
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{"     \
    "\"index\":0,\"delta\":{" delta "},\"finish_reason\":" reason "}]}\n\n"
#define CHAT_SAYS(text)                                                                            \
    CHAT("\"role\":\"assistant\",\"content\":\"" text "\"", "null")                                \
    CHAT("", "\"stop\"")                                                                           \
    "data: [DONE]\n\n"
#define SSE "Content-Type: text/event-stream\r\n"
#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}"

typedef struct set {
    phi_failover failover;
    phi_failover_model models[3];
} set;

/* The agent of the rig, with two models more: m2 and m3. */
static phi_agent_desc desc_of(set *s) {
    phi_agent_desc desc = rig_desc();
    memset(s, 0, sizeof *s);
    s->models[0].model = phi_model_anthropic("m2", "key-2");
    s->models[1].model = phi_model_anthropic("m3", "key-3");
    s->failover.models = s->models;
    s->failover.model_count = 2;
    desc.failover = &s->failover;
    return desc;
}

static void breaks(rig *r) { rig_replies(r, 500, HEARD_JSON, HEARD_BOOM); }

static bool has(rig *r, size_t i, const char *text) {
    const char *request = rig_request(r, i);
    bool found = request != NULL && strstr(request, text) != NULL;
    if (!found) printf("  request %u: %s\n", (unsigned)i, request != NULL ? request : "none");
    return found;
}

static void run(rig *r, phi_agent agent, const char *prompt) {
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, prompt), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 600000), 0);
}

static void ended(rig *r, const char *with) {
    if (!CHECK(strstr(rig_story(r), with) != NULL)) printf("%s\n", rig_story(r));
}

/* ---- a tape ---- */

typedef struct reel {
    char tape[100000], events[60000];
    size_t len, said;
    uint64_t hash;
    phi_status end;
} reel;

static phi_status reel_write(void *user_data, const char *bytes, size_t len) {
    reel *to = (reel *)user_data;
    if (to->len + len >= sizeof to->tape) return PHI_FULL;
    memcpy(to->tape + to->len, bytes, len);
    to->len += len;
    to->tape[to->len] = '\0';
    return PHI_OK;
}

/* Three runs: two switches, then one within its stay, then one behind it. */
static void reel_runs(rig *r, reel *to) {
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    s.failover.stay = PHI_FAILOVER_STAY_FOR;
    s.failover.stay_ms = 1000;
    desc.ids.agent_id = "a";
    desc.ids.session_id = "s";
    desc.retry.disable = false;
    desc.retry.max_retries = 1;
    agent = rig_agent(r, &desc);
    rig_chunk(r, 100);
    breaks(r);
    breaks(r);
    rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut");
    rig_replies(r, 401, HEARD_JSON, "");
    rig_says(r, "Here.");
    rig_says(r, "Again.");
    rig_says(r, "Own.");
    to->said = 0;
    run(r, agent, "Hi");
    to->said +=
        (size_t)snprintf(to->events + to->said, sizeof to->events - to->said, "%s", rig_story(r));
    run(r, agent, "Hi");
    to->said +=
        (size_t)snprintf(to->events + to->said, sizeof to->events - to->said, "%s", rig_story(r));
    rig_pass_ms(r, 2000);
    run(r, agent, "Hi");
    to->said +=
        (size_t)snprintf(to->events + to->said, sizeof to->events - to->said, "%s", rig_story(r));
    to->hash = phi_thread_hash(phi_agent_thread(agent));
}

static void reel_shoot(reel *to, const reel *from) {
    phi_runtime_desc desc;
    phi_tape_desc how;
    phi_tape_divergence d;
    phi_parse_error error;
    rig *r;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    memset(&d, 0, sizeof d);
    memset(to, 0, sizeof *to);
    how.allocator = test_allocator();
    how.write_fn = reel_write;
    how.user_data = to;
    desc.tape =
        from == NULL ? phi_tape_record(&how) : phi_tape_play(&how, phi_str_of(from->tape), &error);
    REQUIRE(desc.tape != NULL);
    r = rig_new_with(&desc);
    reel_runs(r, to);
    rig_free(r);
    to->end = phi_tape_end(desc.tape, &d);
    if (to->end != PHI_OK)
        printf("  %.*s\n  %.*s\n  %.*s\n", (int)d.what.len, d.what.at, (int)d.recorded.len,
               d.recorded.at, (int)d.actual.len, d.actual.at);
    phi_tape_free(desc.tape);
}

TEST(a_tape_of_a_switch_is_played_as_it_was) {
    static reel recorded, played;
    reel_shoot(&recorded, NULL);
    CHECK_EQ_INT(recorded.end, PHI_OK);
    CHECK(strstr(recorded.events, "\"anthropic/m2\" to \"anthropic/m3\"") != NULL);
    CHECK(strstr(recorded.events, "Own.") != NULL);
    CHECK(strstr(recorded.tape, "key-2") == NULL && strstr(recorded.tape, "key-3") == NULL);
    reel_shoot(&played, &recorded);
    CHECK_EQ_INT(played.end, PHI_OK);
    CHECK(recorded.hash == played.hash);
    CHECK_EQ_STR(played.events, recorded.events);
}

/* ---- a strategy ---- */

TEST(a_strategy_begins_anew_with_the_next_model) {
    int broken;
    for (broken = 0; broken < 2; broken++) { /* its first call, its second */
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_of(&s);
        phi_strategy_desc strategy;
        phi_provider provider;
        phi_agent agent;
        size_t i, n;
        memset(&strategy, 0, sizeof strategy);
        strategy.strategy = phi_strategy_trm();
        provider = phi_strategy_provider(&strategy);
        desc.provider = &provider;
        desc.budget.max_tokens = 10000000;
        agent = rig_agent(r, &desc);
        for (i = 0; i < (size_t)broken; i++) rig_says(r, "Answer: 4");
        rig_replies(r, 401, HEARD_JSON, "");
        for (i = 0; i < 16; i++) rig_says(r, "Answer: 4");
        run(r, agent, "2 + 2?");
        ended(r, "AgentEnd ok");
        ended(r, "Failover \"anthropic/test-model\" to \"anthropic/m2\" 1/2\n");
        n = rig_requests(r);
        CHECK(n > (size_t)broken + 1);
        for (i = 0; i < n; i++) CHECK(has(r, i, i <= (size_t)broken ? "\"test-model\"" : "\"m2\""));
        CHECK_EQ_STR(rig_key(r, n - 1), "key-2");
        CHECK_STR(last_of(agent)->model, "m2");
        CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
        CHECK_EQ_INT(phi_agent_get_info(agent).spending.reserved_tokens, 0);
        rig_free(r);
    }
}

/* ---- a model in the process ---- */

typedef struct parrot {
    int opens, closes, fails; /* fails: answers to come that break after a word */
    bool at_once;             /* the next open fails */
    int at;
} parrot;

static phi_status parrot_open(void *user_data, const phi_model_request *request, void **call) {
    parrot *p = (parrot *)user_data;
    (void)request;
    if (p->at_once) return PHI_NETWORK;
    p->opens++;
    p->at = 0;
    *call = p;
    return PHI_OK;
}

static phi_poll parrot_poll(void *user_data, void *call, phi_answer *answer) {
    parrot *p = (parrot *)user_data;
    phi_usage usage;
    (void)call;
    memset(&usage, 0, sizeof usage);
    usage.input = 10;
    usage.output = 1;
    if (p->at++ == 0) {
        phi_answer_usage(answer, &usage);
        phi_answer_text(answer, phi_str_of("Polly."));
        return PHI_POLL_AGAIN;
    }
    if (p->fails > 0) {
        p->fails--;
        phi_answer_fail(answer, PHI_FAILURE_SERVER, false, "the parrot coughs");
    }
    return PHI_POLL_DONE;
}

static void parrot_close(void *user_data, void *call) {
    parrot *p = (parrot *)user_data;
    (void)call;
    p->closes++;
}

static phi_provider parrot_provider(parrot *p) {
    phi_provider out;
    memset(&out, 0, sizeof out);
    out.protocol = "parrot";
    out.user_data = p;
    out.open = parrot_open;
    out.poll = parrot_poll;
    out.close = parrot_close;
    return out;
}

TEST(a_switch_goes_to_a_model_in_the_process_and_back) {
    rig *r = rig_new();
    set s;
    parrot p;
    phi_agent_desc desc = desc_of(&s);
    phi_provider provider = parrot_provider(&p);
    phi_agent agent;
    memset(&p, 0, sizeof p);
    s.models[0].provider = &provider;
    s.models[0].model.protocol = "parrot";
    s.models[0].model.provider = "parrot";
    s.models[0].model.cost.output = 1000000; /* a dollar a token */
    agent = rig_agent(r, &desc);
    breaks(r);
    run(r, agent, "Hi");
    ended(r, "Failover \"anthropic/test-model\" to \"parrot/m2\" 1/2\n");
    ended(r, "MessageEnd assistant \"Polly.\" stop\n");
    CHECK_STR(last_of(agent)->provider, "parrot");
    CHECK(phi_agent_get_info(agent).cost > 0.99 && phi_agent_get_info(agent).cost < 1.01);
    p.fails = 1; /* and on to the third */
    breaks(r);
    rig_says(r, "Third.");
    run(r, agent, "Hi");
    ended(r, "TextDelta \"Polly.\" of \"Polly.\"\n"
             "Retract assistant \"Polly.\" error error \"the parrot coughs\"\n"
             "Failover \"parrot/m2\" to \"anthropic/m3\" 2/2\n");
    ended(r, "AgentEnd ok");
    p.at_once = true; /* it cannot begin */
    breaks(r);
    rig_says(r, "Third.");
    run(r, agent, "Hi");
    ended(r, "Failover \"parrot/m2\" to \"anthropic/m3\" 2/2\n");
    CHECK_STR(last_of(agent)->model, "m3");
    p.at_once = false;
    breaks(r); /* aborted while it speaks */
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    while (p.opens < 3) (void)rig_step(r);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(p.opens, p.closes);
    CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
    breaks(r); /* freed while it speaks */
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    while (p.opens < 4) (void)rig_step(r);
    phi_agent_free(agent);
    (void)rig_run(r, 50);
    CHECK_EQ_INT(p.opens, p.closes);
    rig_free(r);
}

TEST(a_sub_agent_of_one_at_a_models_own_provider_begins_with_the_agents_own_model) {
    rig *r = rig_new();
    set s;
    parrot p;
    phi_agent_desc desc = desc_of(&s), child;
    phi_provider provider = parrot_provider(&p);
    phi_subagent_desc worker;
    phi_agent agent;
    memset(&p, 0, sizeof p);
    memset(&worker, 0, sizeof worker);
    memset(&child, 0, sizeof child);
    s.models[0].provider = &provider;
    s.models[0].model.protocol = "parrot";
    s.models[0].model.provider = "parrot";
    s.failover.stay = PHI_FAILOVER_STAY_EVER;
    child.retry.disable = true;
    worker.name = "worker";
    worker.agent = &child;
    agent = rig_agent(r, &desc);
    breaks(r);
    run(r, agent, "Hi");
    CHECK_STR(phi_agent_get_info(agent).model_id, "m2");
    rig_says(r, "Dug.");
    CHECK_EQ_INT(phi_spawn(agent, &worker, "dig", NULL), PHI_OK);
    (void)rig_run(r, 200);
    if (CHECK_EQ_INT(rig_requests(r), 2)) {
        CHECK(strstr(rig_request(r, 1), "\"test-model\"") != NULL);
        CHECK(strstr(rig_request(r, 1), "dig") != NULL);
    }
    CHECK_EQ_INT(p.opens, 1);
    rig_free(r);
}

TEST(a_registered_model_in_the_process_goes_to_one_over_the_network) {
    rig *r = rig_new();
    set s;
    parrot p;
    phi_agent_desc desc = desc_of(&s);
    phi_provider provider = parrot_provider(&p);
    phi_agent agent;
    memset(&p, 0, sizeof p);
    CHECK_EQ_INT(phi_register_provider(rig_runtime(r), &provider), PHI_OK);
    desc.model.protocol = "parrot";
    desc.model.provider = "parrot";
    agent = rig_agent(r, &desc);
    p.fails = 1;
    rig_says(r, "Net.");
    run(r, agent, "Hi");
    ended(r, "Failover \"parrot/test-model\" to \"anthropic/m2\" 1/2\n");
    CHECK(has(r, 0, "\"m2\""));
    CHECK_STR(last_of(agent)->model, "m2");
    CHECK_EQ_INT(p.opens, p.closes);
    rig_free(r);
}

/* ---- an answer that is JSON ---- */

TEST(a_format_is_asked_for_in_each_models_own_way) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    s.models[0].model = phi_model_openai("gpt-4.1-mini", "key-2");
    desc.format.kind = PHI_FORMAT_JSON_SCHEMA;
    desc.format.schema = SCHEMA;
    agent = rig_agent(r, &desc);
    breaks(r);
    rig_replies(r, 200, SSE, CHAT_SAYS("{\\\"n\\\":7}"));
    run(r, agent, "Hi");
    ended(r, "MessageEnd assistant \"{\"n\":7}\" stop\n");
    CHECK(has(r, 0, "\"name\":\"respond_json\"") && has(r, 1, "\"response_format\""));
    CHECK(strstr(rig_request(r, 1), "respond_json") == NULL);
    ended(r, "AgentEnd ok, 2 messages\n");
    breaks(r); /* and on to one that has a tool in its place */
    rig_replies(r, 401, HEARD_JSON, "");
    rig_call(r, "toolu_1", "respond_json", "{\"n\":8}");
    run(r, agent, "Hi");
    ended(r, "MessageEnd assistant \"{\"n\":8}\" stop\n");
    CHECK(has(r, 4, "\"m3\"") && has(r, 4, "respond_json"));
    rig_free(r);
}

/* ---- tools of a source ---- */

typedef struct shelf {
    uint64_t version;
    phi_status fails;
    int out;
    phi_tool tools[2];
    size_t count;
} shelf;

static uint64_t shelf_version(void *user_data) { return ((shelf *)user_data)->version; }

static phi_status shelf_take(void *user_data, const phi_tool **tools, size_t *count) {
    shelf *s = (shelf *)user_data;
    if (s->fails != PHI_OK) return s->fails;
    s->out++;
    *tools = s->tools;
    *count = s->count;
    return PHI_OK;
}

static void shelf_release(void *user_data, const phi_tool *tools) {
    (void)tools;
    ((shelf *)user_data)->out--;
}

static void change_at_retract(void *user_data, const phi_event *event) {
    shelf *s = (shelf *)user_data;
    if (event->kind != PHI_EV_RETRACT) return;
    s->version++;
    s->count = 2;
}

TEST(the_list_of_a_source_may_change_at_the_switch) {
    static const phi_status all[] = {PHI_OK, PHI_IO, PHI_NO_MEMORY};
    size_t i;
    for (i = 0; i < 3; i++) {
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_of(&s);
        shelf shelf_of;
        phi_tool_source source;
        const phi_tool_source *sources[1];
        phi_agent agent;
        memset(&shelf_of, 0, sizeof shelf_of);
        memset(&source, 0, sizeof source);
        shelf_of.version = 1;
        shelf_of.count = 1;
        shelf_of.tools[0] = rig_echo();
        shelf_of.tools[0].name = "7up"; /* which Google refuses */
        shelf_of.tools[1] = rig_echo();
        source.user_data = &shelf_of;
        source.version = shelf_version;
        source.take = shelf_take;
        source.release = shelf_release;
        sources[0] = &source;
        desc.tool_options.sources = sources;
        desc.tool_options.source_count = 1;
        agent = rig_agent(r, &desc);
        rig_watch(r, change_at_retract, &shelf_of);
        rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut");
        rig_says(r, "Here.");
        shelf_of.fails = PHI_OK;
        CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
        shelf_of.fails = all[i];
        CHECK_EQ_INT(rig_run_until(r, 600000), 0);
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
        CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
        shelf_of.fails = PHI_OK;
        rig_drop_answers(r);
        rig_says(r, "Again.");
        run(r, agent, "Hi");
        ended(r, "AgentEnd ok");
        rig_free(r);
        CHECK_EQ_INT(shelf_of.out, 0);
    }
}

/* ---- what was asked of whom ---- */

enum { SEEDS = 40, RUNS = 4, MODELS = 3 };

static const char *const ids[MODELS] = {"test-model", "m2", "m3"};
static const double rates[MODELS] = {1, 10, 100}; /* dollars a token of input */

/* Who speaks, from the events; how often each was charged, from the answers that were given. */
typedef struct oracle {
    rig *r;
    int at;    /* seat by the events */
    bool open; /* text that is neither retracted nor ended */
    unsigned answers, turns, ends;
    double lost; /* what was taken back has cost */
} oracle;

static int seat_of(phi_str name) {
    int i;
    for (i = 0; i < MODELS; i++) {
        char full[40];
        (void)snprintf(full, sizeof full, "anthropic/%s", ids[i]);
        if (phi_str_equal(name, phi_str_of(full))) return i;
    }
    return -1;
}

static void oracle_hear(void *user_data, const phi_event *e) {
    oracle *o = (oracle *)user_data;
    switch ((int)e->kind) {
    case PHI_EV_TURN_START:
        o->turns++;
        o->answers = 0;
        break;
    case PHI_EV_TEXT: o->open = true; break;
    case PHI_EV_RETRACT:
        o->open = false;
        o->lost += 10 * rates[o->at];
        break;
    case PHI_EV_FAILOVER:
        CHECK(!o->open); /* what the one said is taken back before the next speaks */
        CHECK_EQ_INT(seat_of(e->source), o->at);
        CHECK(seat_of(e->text) >= 0);
        o->at = seat_of(e->text);
        break;
    case PHI_EV_MESSAGE_END:
        if (e->message->role != PHI_ROLE_ASSISTANT) break;
        o->open = false;
        o->answers++;
        CHECK(o->answers == 1); /* of a turn */
        CHECK_STR(e->message->model, ids[o->at]);
        break;
    case PHI_EV_AGENT_END: o->ends++; break;
    default: break;
    }
}

static int seeds(void) {
    const char *given = getenv("PHI_SEEDS");
    return given != NULL ? atoi(given) : SEEDS;
}

static void anything(rig *r, uint32_t *state) {
    switch (test_random(state) % 6) {
    case 0: rig_breaks(r, HALF, PHI_NETWORK, "cut"); break;
    case 1: rig_replies(r, 401, HEARD_JSON, ""); break;
    case 2: rig_call(r, "toolu_1", "echo", "{}"); break;
    case 3: breaks(r); break;
    default: rig_says(r, "Here."); break;
    }
}

/* What the answers in the history have cost. */
static double worth(phi_agent agent) {
    double sum = 0;
    size_t i, k;
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(agent)); i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i);
        for (k = 0; m->role == PHI_ROLE_ASSISTANT && k < MODELS; k++)
            if (phi_str_equal(m->model, phi_str_of(ids[k])))
                sum += (double)m->usage.input * rates[k];
    }
    return sum;
}

TEST(whatever_they_answer_each_turn_has_one_answer_of_the_model_that_was_asked) {
    int seed, n = seeds();
    for (seed = 1; seed <= n; seed++) {
        uint32_t state = (uint32_t)seed * 2654435761u;
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_of(&s);
        phi_tool tool = rig_echo();
        phi_agent agent;
        oracle o;
        int i, j, before = test_failures();
        double all;
        memset(&o, 0, sizeof o);
        o.r = r;
        desc.tools = &tool;
        desc.tool_count = 1;
        desc.model.cost.input = 1e6;
        s.models[0].model.cost.input = 1e7;
        s.models[1].model.cost.input = 1e8;
        desc.retry.disable = true;
        desc.limits.max_turns = 6;
        s.failover.max_switches = 1 + test_random(&state) % 5;
        s.failover.stay = (phi_failover_stay)(test_random(&state) % 3);
        agent = rig_agent(r, &desc);
        rig_watch(r, oracle_hear, &o);
        rig_chunk(r, test_random(&state) % 200);
        for (i = 0; i < RUNS; i++) {
            size_t asked, k;
            rig_rewind(r);
            for (j = 0; j < 40; j++) anything(r, &state);
            o.at = 0;
            for (j = 0; j < MODELS; j++)
                if (phi_str_equal(phi_agent_get_info(agent).model_id, phi_str_of(ids[j]))) o.at = j;
            o.open = false;
            CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
            CHECK_EQ_INT(rig_run_until(r, 600000), 0);
            CHECK_EQ_INT(o.ends, i + 1);
            asked = rig_requests(r);
            for (k = 0; k < asked; k++) { /* each with the key of its model */
                const char *body = rig_request(r, k);
                CHECK_EQ_STR(rig_key(r, k), strstr(body, "\"m2\"")   ? "key-2"
                                            : strstr(body, "\"m3\"") ? "key-3"
                                                                     : "test-key");
            }
            if (s.failover.stay == PHI_FAILOVER_STAY_RUN)
                CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
        }
        all = worth(agent) + o.lost;
        CHECK(phi_agent_get_info(agent).cost > all - 0.001 &&
              phi_agent_get_info(agent).cost < all + 0.001);
        if (test_failures() != before) printf("seed %d\n%s\n", seed, rig_story(r));
        rig_free(r);
    }
}

TEST_MAIN(TEST_ENTRY(a_tape_of_a_switch_is_played_as_it_was),
          TEST_ENTRY(a_strategy_begins_anew_with_the_next_model),
          TEST_ENTRY(a_switch_goes_to_a_model_in_the_process_and_back),
          TEST_ENTRY(a_sub_agent_of_one_at_a_models_own_provider_begins_with_the_agents_own_model),
          TEST_ENTRY(a_registered_model_in_the_process_goes_to_one_over_the_network),
          TEST_ENTRY(a_format_is_asked_for_in_each_models_own_way),
          TEST_ENTRY(the_list_of_a_source_may_change_at_the_switch),
          TEST_ENTRY(whatever_they_answer_each_turn_has_one_answer_of_the_model_that_was_asked))
