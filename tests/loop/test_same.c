/* test_same.c - a run that is done again with the same seed, clock and transport tells the same, byte for
   byte: every event as JSON, with its number and its time. */
#include "support/update.h"
#include "record/replay.h"
#include "support/rig.h"
#include "record/event_json.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/loop_in.h"

enum { STEPS = 600, CASTS = 3, TELLERS = 3 };

typedef struct teller {
    char *text;
    size_t len, cap;
    uint32_t state, retries, decisions, retracts, updates;
    uint32_t delays[8];
} teller;

static void add(teller *t, const char *bytes, size_t n) {
    if (t->len + n + 1 > t->cap) {
        t->cap = (t->len + n + 1) * 2;
        t->text = (char *)realloc(t->text, t->cap);
        if (t->text == NULL) abort();
    }
    memcpy(t->text + t->len, bytes, n);
    t->len += n;
    t->text[t->len] = '\0';
}

static void tell(void *user_data, const phi_event *e) {
    teller *t = (teller *)user_data;
    char head[160];
    phi_memory memory;
    phi_arena arena;
    phi_str json = phi_str_of("");
    int n;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(e, &arena, &json), PHI_OK);
    n = snprintf(head, sizeof head, "%llu %lld %u.%u call %u.%u ticket %u.%u ",
                 (unsigned long long)e->seq, (long long)e->timestamp_ms, (unsigned)e->agent.index,
                 (unsigned)e->agent.gen, (unsigned)e->call.index, (unsigned)e->call.gen,
                 (unsigned)e->ticket.index, (unsigned)e->ticket.gen);
    add(t, head, (size_t)n);
    add(t, json.at, json.len);
    add(t, "\n", 1);
    phi_arena_free(&arena);
    if (e->kind == PHI_EV_RETRY && t->retries < 8) t->delays[t->retries++] = e->delay_ms;
    if (e->kind == PHI_EV_DECISION) t->decisions++;
    if (e->kind == PHI_EV_RETRACT) t->retracts++;
    if (e->kind == PHI_EV_TOOL_UPDATE) t->updates++;
}

/* ---- the cast ---- */

typedef struct cast {
    rig *r;
    teller *t;
    phi_agent agents[CASTS];
    phi_ticket tickets[256];
    size_t asked, decided;
} cast;

static phi_verdict some_wait(void *user_data, phi_hook *hook) {
    cast *c = (cast *)user_data;
    if (test_random(&c->t->state) % 4 != 0 || c->asked == 256) return PHI_ALLOW;
    c->tickets[c->asked++] = hook->ticket;
    return PHI_WAIT;
}

static phi_flow think(void *user_data, phi_call call) {
    cast *c = (cast *)user_data;
    (void)call_update(call, "thinking");
    if (test_random(&c->t->state) % 9 != 0) return PHI_PENDING;
    (void)phi_call_reply(call, "thought of");
    return PHI_DONE;
}

static phi_flow think_start(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    return think(user_data, call);
}

static void script(rig *r) {
    static const char *const calls[] = {"c1 think {\"n\":1}", "c2 think {\"n\":2}",
                                        "c3 echo {\"n\":3}", "c4 think {\"n\":4}"};
    char half[512];
    int i;
    (void)snprintf(half, sizeof half, "%.480s", rig_stream_of("this is lost in the middle"));
    for (i = 0; i < 3; i++) {
        rig_replies(r, 529, "", "{\"type\":\"error\"}");
        rig_calls(r, calls, 4);
        rig_breaks(r, half, PHI_NETWORK, "the line is dead");
        rig_calls(r, calls, 2 + (size_t)i);
        rig_says(r, "words, words, words");
    }
    for (i = 0; i < 12; i++) rig_says(r, "and more of them");
}

static void act(cast *c, int step) {
    phi_agent agent = c->agents[step % CASTS];
    switch (test_random(&c->t->state) % 12) {
    case 0: (void)phi_steer(agent, "to the left"); break;
    case 1: (void)phi_follow_up(agent, "and then?"); break;
    case 2: (void)phi_inject(agent, "by the way", "radio"); break;
    case 3: (void)phi_prompt(agent, "once more"); break;
    default: break;
    }
    if (c->decided < c->asked && step % 3 == 0)
        (void)phi_decide(c->tickets[c->decided++], PHI_ALLOW, NULL);
}

static void play_with(teller *t, uint32_t seed, phi_tape *tape) {
    phi_runtime_desc runtime = PHI_ZERO;
    cast c;
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    int i;
    memset(&c, 0, sizeof c);
    memset(tools, 0, sizeof tools);
    memset(t, 0, sizeof *t);
    t->state = seed;
    c.t = t;
    runtime.tape = tape;
    c.r = rig_new_with(&runtime);
    tools[0] = rig_echo();
    tools[1].name = "think";
    tools[1].start = think_start;
    tools[1].step = think;
    tools[1].user_data = &c;
    desc.tools = tools;
    desc.tool_count = 2;
    desc.ids.agent_id = desc.ids.session_id = NULL; /* random ones */
    desc.retry.disable = false;
    rig_hooks(c.r, &desc, 0xffff);
    rig_hook_with(c.r, some_wait, &c);
    rig_watch(c.r, tell, t);
    rig_chunk(c.r, 100);
    script(c.r);
    for (i = 0; i < CASTS; i++) {
        desc.tool_options.mode = (phi_tool_mode)i;
        c.agents[i] = rig_agent(c.r, &desc);
        CHECK_EQ_INT(phi_prompt(c.agents[i], "go"), PHI_OK);
    }
    for (i = 0; i < STEPS; i++) {
        act(&c, i);
        (void)rig_run(c.r, 1);
        rig_pass_ms(c.r, 20);
    }
    rig_free(c.r);
}

static void play(teller *t, uint32_t seed) { play_with(t, seed, NULL); }

TEST(the_same_seed_clock_and_transport_give_the_same_events_byte_for_byte) {
    static teller first, second;
    uint32_t seed;
    for (seed = 1; seed <= TELLERS; seed++) {
        play(&first, seed);
        play(&second, seed);
        CHECK(first.len > 20000);
        CHECK_EQ_INT(first.len, second.len);
        CHECK_EQ_STR(first.text, second.text);
        CHECK(first.retries > 2);
        CHECK(first.retracts > 0);
        CHECK(first.decisions > 10);
        CHECK(first.updates > 10);
        free(first.text);
        free(second.text);
    }
}

TEST(chance_is_taken_from_the_runtime_for_the_delays_between_attempts) {
    static teller t;
    uint32_t i, exact = 0;
    play(&t, 1);
    for (i = 0; i < t.retries; i++) {
        CHECK(t.delays[i] >= 800 && t.delays[i] <= 4800);
        exact += t.delays[i] % 1000 == 0 ? 1 : 0;
    }
    CHECK(exact < t.retries);
    free(t.text);
}

TEST(other_things_that_happen_give_other_events) {
    static teller first, second;
    play(&first, 1);
    play(&second, 2);
    CHECK(strcmp(first.text, second.text) != 0);
    free(first.text);
    free(second.text);
}

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    add((teller *)user_data, bytes, len);
    return PHI_OK;
}

static bool run_all(void *user_data, phi_str tool_name) {
    (void)user_data;
    (void)tool_name;
    return true;
}

TEST(what_was_recorded_is_played_the_same_byte_for_byte_whatever_the_host_does) {
    static teller first, second, tape;
    uint32_t seed;
    for (seed = 1; seed <= TELLERS; seed++) {
        phi_tape_desc how = PHI_ZERO;
        phi_tape *it;
        memset(&tape, 0, sizeof tape);
        how.write_fn = write_tape;
        how.runs_fn = run_all;
        how.user_data = &tape;
        it = phi_tape_record(&how);
        play_with(&first, seed, it);
        CHECK_EQ_INT(phi_tape_end(it, NULL), PHI_OK);
        phi_tape_free(it);
        it = phi_tape_play(&how, phi_str_of(tape.text), NULL);
        play_with(&second, seed, it);
        CHECK_EQ_INT(phi_tape_end(it, NULL), PHI_OK);
        phi_tape_free(it);
        CHECK(first.len > 20000);
        CHECK_EQ_INT(first.len, second.len);
        CHECK(strcmp(first.text, second.text) == 0);
        free(first.text);
        free(second.text);
        free(tape.text);
    }
}

TEST_MAIN(TEST_ENTRY(the_same_seed_clock_and_transport_give_the_same_events_byte_for_byte),
          TEST_ENTRY(chance_is_taken_from_the_runtime_for_the_delays_between_attempts),
          TEST_ENTRY(other_things_that_happen_give_other_events),
          TEST_ENTRY(what_was_recorded_is_played_the_same_byte_for_byte_whatever_the_host_does))
