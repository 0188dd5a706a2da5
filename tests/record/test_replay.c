/* test_replay.c - a run is recorded and played again: the same events and the same log, whatever the budgets; another
   run is told where it differs; a broken tape is refused; no key is on a tape. */
#include "support/update.h"
#include "record/replay.h"
#include "support/rig.h"
#include "record/event_json.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "loop/provider.h"
#include "wire/writer.h"
#include "loop/loop_in.h"

typedef struct text {
    char *at;
    size_t len, cap;
} text;

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

static void drop(text *t) {
    free(t->at);
    memset(t, 0, sizeof *t);
}

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    add((text *)user_data, bytes, len);
    return PHI_OK;
}

static void tell(void *user_data, const phi_event *e) {
    text *t = (text *)user_data;
    char head[80];
    phi_memory memory;
    phi_arena arena;
    phi_str json = phi_str_of("");
    int n;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(e, &arena, &json), PHI_OK);
    n = snprintf(head, sizeof head, "%llu %lld ", (unsigned long long)e->seq,
                 (long long)e->timestamp_ms);
    add(t, head, (size_t)n);
    add(t, json.at, json.len);
    add(t, "\n", 1);
    phi_arena_free(&arena);
}

/* ---- a run that has something of everything ---- */

typedef struct scene {
    const char *prompt; /* (default "go") */
    const char *says;   /* what the tool "clock" answers (default "noon") */
    bool other_tool;    /* its description is another */
    bool short_run;     /* without the second prompt */
    bool gateway;       /* headers of its own, a user and a query in the URL */
    bool own_model;     /* one in the process, without tools */
    bool flaky;         /* the first try of each of two tools fails */
    bool early;         /* the host gives a result between the tries of "clock" */
    uint32_t bytes;     /* step_budget_bytes */
    int agents;         /* (default 1) */
    bool (*runs)(void *, phi_str);
    bool whole;
} scene;

typedef struct take {
    text tape, events;
    uint64_t hash[3];
    uint32_t started; /* tools */
    phi_status end;
    phi_tape_divergence d;
    char what[100], recorded[500], actual[500];
    bool made;
} take;

typedef struct stage {
    const scene *s;
    take *t;
    uint32_t polls;
    uint32_t keys, clocks; /* tries so far */
    phi_call clock;
} stage;

static void clock_shows(phi_call call) {
    phi_content blocks[2];
    phi_tool_result partial;
    memset(blocks, 0, sizeof blocks);
    memset(&partial, 0, sizeof partial);
    blocks[0].kind = PHI_CONTENT_TEXT;
    blocks[0].text = phi_str_of("tock");
    blocks[1].kind = PHI_CONTENT_IMAGE;
    blocks[1].data = phi_str_of("aGFsZg==");
    blocks[1].mime_type = phi_str_of("image/png");
    partial.content = blocks;
    partial.content_count = 2;
    partial.details = "{\"hour\":11}";
    partial.child_loop_id = "s.clock.1";
    (void)phi_call_update(call, &partial);
}

static phi_flow clock_step(void *user_data, phi_call call) {
    stage *on = (stage *)user_data;
    const char *says = on->s->says != NULL ? on->s->says : "noon";
    if (++on->polls % 3 != 0) {
        (void)call_update(call, "tick");
        clock_shows(call);
        return PHI_PENDING;
    }
    on->clock = call;
    if (on->s->flaky && on->clocks++ == 0) says = "no hands";
    (void)(strcmp(says, "no hands") == 0 ? phi_call_fail(call, says) : phi_call_reply(call, says));
    return PHI_DONE;
}

static phi_flow clock_start(void *user_data, phi_call call, phi_str arguments) {
    stage *on = (stage *)user_data;
    (void)arguments;
    on->t->started++;
    CHECK(phi_call_get_info(call).pending);
    (void)phi_call_progress(call, "looking");
    return PHI_PENDING;
}

static phi_flow key_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content;
    phi_tool_result result;
    stage *on = (stage *)user_data;
    (void)arguments;
    on->t->started++;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("API_KEY=sk-secret-0123456789 and more");
    result.content = &content;
    result.content_count = 1;
    result.details = "{\"exit\":0}";
    result.is_error = on->s->flaky && on->keys++ == 0;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

/* A model of five words, one a step. */
static phi_status parrot_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static phi_poll parrot_poll(void *user_data, void *call, phi_answer *answer) {
    stage *on = (stage *)call;
    (void)user_data;
    phi_answer_text(answer, phi_str_of("word "));
    return ++on->polls % 5 == 0 ? PHI_POLL_DONE : PHI_POLL_AGAIN;
}

static void parrot_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

static void use_parrot(phi_agent_desc *desc, phi_provider *parrot, stage *on) {
    memset(parrot, 0, sizeof *parrot);
    parrot->protocol = "parrot";
    parrot->user_data = on;
    parrot->open = parrot_open;
    parrot->poll = parrot_poll;
    parrot->close = parrot_close;
    desc->model = phi_model_anthropic("parrot", "");
    desc->model.protocol = "parrot";
    desc->provider = parrot;
    desc->tool_count = 0;
}

static void script(rig *r) {
    static const char *const calls[] = {"c1 clock {\"n\":1}", "c2 env {\"n\":2}",
                                        "c3 wait {\"n\":3}"};
    char half[512];
    (void)snprintf(half, sizeof half, "%.480s", rig_stream_of("this is lost in the middle"));
    rig_replies(r, 529, "Set-Cookie: id=cookie-secret-1\r\nRetry-After: 1\r\n",
                "{\"type\":\"error\"}");
    rig_breaks(r, half, PHI_NETWORK, "the line is dead");
    rig_calls(r, calls, 3);
    rig_says(r,
             "It is noon, and your key is sk-secret-0123456789, with \xe2\x82\xac and more words");
    rig_says(r, "The second answer");
    rig_says(r, "A third");
    rig_says(r, "A fourth");
}

static void make_tools(rig *r, stage *on, phi_tool tools[3]) {
    memset(tools, 0, 3 * sizeof tools[0]);
    tools[0].name = "clock";
    tools[0].description = on->s->other_tool ? "Says what time it was" : "Says what time it is";
    tools[0].start = clock_start;
    tools[0].step = clock_step;
    tools[0].heartbeat_ms = 1;
    tools[0].retries = tools[1].retries = 2;
    tools[0].retry_delay_ms = 20;
    tools[0].user_data = on;
    tools[1].name = "env";
    tools[1].start = key_start;
    tools[1].user_data = on;
    tools[2] = rig_wait(r);
}

static void perform(rig *r, const scene *s, take *t) {
    stage on;
    phi_agent_desc desc = rig_desc();
    phi_agent agents[3];
    phi_tool tools[3];
    phi_provider parrot;
    int i, n = s->agents > 0 ? s->agents : 1;
    bool asked = false, finished = false, early = false;
    memset(&on, 0, sizeof on);
    on.s = s;
    on.t = t;
    make_tools(r, &on, tools);
    desc.model = phi_model_anthropic("test-model", "sk-secret-0123456789");
    if (s->gateway) {
        static const phi_model_header headers[] = {{"X-Gateway-Pass", "gate/way+pass"},
                                                   {"X-Tenant", "tenant4711"},
                                                   {"X-Stage", "production"}};
        desc.model.headers = headers;
        desc.model.header_count = 3;
        desc.model.base_url = "http://user-name:pass-word@h.example/v1?code=query-code-1";
    }
    desc.ids.agent_id = desc.ids.session_id = NULL; /* random ones */
    desc.tools = tools;
    desc.tool_count = 3;
    desc.retry.disable = false;
    if (s->own_model) use_parrot(&desc, &parrot, &on);
    rig_watch(r, tell, &t->events);
    rig_chunk(r, 100);
    script(r);
    for (i = 0; i < n; i++) {
        agents[i] = rig_agent(r, &desc);
        rig_pass_ms(r, 3);
        if (phi_prompt(agents[i], s->prompt != NULL ? s->prompt : "go") != PHI_OK) {
            CHECK(test_alloc_tripped());
            return;
        }
    }
    for (i = 0; i < 30000; i++) {
        int runs = rig_run(r, 1);
        if (s->early && !early && on.clocks == 1)
            early = phi_call_reply(on.clock, "early") == PHI_OK;
        rig_pass_ms(r, 6);
        if (rig_started(r) > 0 && i > 10 && !finished) {
            finished = phi_call_reply(rig_call_at(r, 0), "waited") == PHI_OK;
        }
        if (runs == 0 && (asked || s->short_run)) break;
        if (runs == 0) {
            asked = true;
            rig_pass_ms(r, 5000);
            if (phi_prompt(agents[0], "And then?") != PHI_OK) break;
        }
    }
    if (!test_alloc_tripped()) CHECK(i < 30000);
    for (i = 0; i < n; i++) t->hash[i] = phi_thread_hash(phi_agent_thread(agents[i]));
}

static void copy(char *out, size_t size, phi_str s) {
    (void)snprintf(out, size, "%.*s", (int)s.len, s.len > 0 ? s.at : "");
}

static void take_end(take *t, phi_tape *tape) {
    t->end = phi_tape_end(tape, &t->d);
    copy(t->what, sizeof t->what, t->d.what);
    copy(t->recorded, sizeof t->recorded, t->d.recorded);
    copy(t->actual, sizeof t->actual, t->d.actual);
    phi_tape_free(tape);
}

/* Records (from NULL), or plays a tape. */
static void shoot(take *t, const scene *s, const text *from, phi_parse_error *error) {
    static const char *const secrets[] = {"hunter2-hunter2", NULL};
    phi_runtime_desc desc;
    phi_tape_desc how;
    rig *r;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    memset(t, 0, sizeof *t);
    how.allocator = test_allocator();
    how.write_fn = write_tape;
    how.runs_fn = s->runs;
    how.user_data = &t->tape;
    how.secrets = secrets;
    how.whole_bodies = s->whole;
    desc.step_budget_bytes = s->bytes;
    desc.tape =
        from == NULL ? phi_tape_record(&how) : phi_tape_play(&how, phi_str_of(from->at), error);
    if (desc.tape == NULL) return;
    t->made = true;
    r = rig_new_with(&desc);
    if (r != NULL) {
        perform(r, s, t);
        rig_free(r);
    }
    take_end(t, desc.tape);
}

static void cut(take *t) {
    drop(&t->tape);
    drop(&t->events);
}

static void check_same(const take *a, const take *b) {
    CHECK_EQ_INT(b->end, PHI_OK);
    CHECK_EQ_STR(b->what, "");
    CHECK(a->hash[0] == b->hash[0]);
    if (!CHECK(a->events.len == b->events.len &&
               memcmp(a->events.at, b->events.at, a->events.len) == 0)) {
        size_t i = 0;
        while (a->events.at[i] == b->events.at[i]) i++;
        i = i > 300 ? i - 300 : 0;
        printf("  recorded: %.600s\n  played: %.600s\n", a->events.at + i, b->events.at + i);
    }
}

TEST(a_run_that_is_played_tells_the_same_events_and_has_the_same_log) {
    scene s;
    take recorded, played;
    memset(&s, 0, sizeof s);
    shoot(&recorded, &s, NULL, NULL);
    CHECK_EQ_INT(recorded.end, PHI_OK);
    CHECK_EQ_INT(recorded.started, 2);
    CHECK(strstr(recorded.events.at, "waited") != NULL);
    shoot(&played, &s, &recorded.tape, NULL);
    check_same(&recorded, &played);
    CHECK_EQ_INT(played.started, 0);
    cut(&recorded);
    cut(&played);
}

TEST(another_step_budget_gives_the_same_log) {
    static const uint32_t budgets[] = {1, 64, 1024, 1000000};
    scene s;
    take recorded, played;
    size_t i;
    memset(&s, 0, sizeof s);
    shoot(&recorded, &s, NULL, NULL);
    for (i = 0; i < 4; i++) {
        s.bytes = budgets[i];
        shoot(&played, &s, &recorded.tape, NULL);
        check_same(&recorded, &played);
        cut(&played);
    }
    cut(&recorded);
    s.bytes = 64;
    shoot(&recorded, &s, NULL, NULL);
    s.bytes = 0;
    shoot(&played, &s, &recorded.tape, NULL);
    check_same(&recorded, &played);
    cut(&played);
    cut(&recorded);
}

static bool run_all(void *user_data, phi_str name) {
    (void)user_data;
    return !phi_str_equal(name, phi_str_of("wait"));
}

TEST(tools_that_are_run_again_give_the_same_log) {
    scene s;
    take recorded, played;
    memset(&s, 0, sizeof s);
    shoot(&recorded, &s, NULL, NULL);
    s.runs = run_all;
    shoot(&played, &s, &recorded.tape, NULL);
    CHECK_EQ_INT(played.started, 2);
    CHECK_EQ_INT(played.end, PHI_REFUSED); /* the recorded result has no key in it */
    CHECK_EQ_STR(played.what, "the result of tool env");
    cut(&played);
    cut(&recorded);
}

static bool run_clock(void *user_data, phi_str name) {
    (void)user_data;
    return phi_str_equal(name, phi_str_of("clock"));
}

TEST(tries_of_a_tool_that_failed_are_played_as_they_were) {
    static const uint32_t budgets[] = {0, 1, 1000000};
    scene s;
    take recorded, played;
    size_t i;
    memset(&s, 0, sizeof s);
    s.flaky = true;
    shoot(&recorded, &s, NULL, NULL);
    CHECK_EQ_INT(recorded.end, PHI_OK);
    CHECK_EQ_INT(recorded.started, 4);
    CHECK(strstr(recorded.events.at, "attempt 1/3, again in 20 ms: no hands") != NULL);
    shoot(&played, &s, &recorded.tape, NULL);
    check_same(&recorded, &played);
    CHECK_EQ_INT(played.started, 0);
    cut(&played);
    for (i = 0; i < 2 * sizeof budgets / sizeof budgets[0]; i++) {
        s.bytes = budgets[i / 2];
        s.runs = i % 2 == 0 ? NULL : run_clock;
        shoot(&played, &s, &recorded.tape, NULL);
        CHECK_EQ_INT(played.end, PHI_OK);
        CHECK_EQ_STR(played.what, "");
        CHECK(recorded.hash[0] == played.hash[0]);
        CHECK_EQ_INT(played.started, i % 2 == 0 ? 0 : 2);
        cut(&played);
    }
    cut(&recorded);
}

TEST(a_result_between_two_tries_that_was_not_recorded_does_not_count) {
    scene s;
    take recorded, played;
    memset(&s, 0, sizeof s);
    s.flaky = true;
    shoot(&recorded, &s, NULL, NULL);
    s.early = true;
    s.runs = run_clock;
    shoot(&played, &s, &recorded.tape, NULL);
    CHECK_EQ_STR(played.what, "");
    CHECK_EQ_INT(played.end, PHI_OK);
    CHECK_EQ_INT(played.started, 2);
    CHECK(recorded.hash[0] == played.hash[0]);
    cut(&played);
    cut(&recorded);
}

TEST(a_tool_that_is_run_again_and_says_something_else_is_told) {
    scene s;
    take recorded, played;
    memset(&s, 0, sizeof s);
    shoot(&recorded, &s, NULL, NULL);
    s.runs = run_clock;
    shoot(&played, &s, &recorded.tape, NULL);
    CHECK_EQ_INT(played.started, 1);
    CHECK_EQ_INT(played.end, PHI_OK);
    CHECK_EQ_STR(played.what, "");
    CHECK(played.hash[0] == recorded.hash[0]);
    cut(&played);
    s.says = "midnight";
    shoot(&played, &s, &recorded.tape, NULL);
    CHECK_EQ_INT(played.end, PHI_REFUSED);
    CHECK_EQ_STR(played.what, "the result of tool clock");
    CHECK(strstr(played.recorded, "noon") != NULL);
    CHECK(strstr(played.actual, "midnight") != NULL);
    cut(&played);
    cut(&recorded);
}

TEST(another_prompt_diverges_at_the_first_request_and_both_bodies_are_shown) {
    scene s;
    take recorded, played;
    memset(&s, 0, sizeof s);
    s.whole = true;
    shoot(&recorded, &s, NULL, NULL);
    s.prompt = "stay";
    shoot(&played, &s, &recorded.tape, NULL);
    CHECK_EQ_INT(played.end, PHI_REFUSED);
    CHECK_EQ_STR(played.what, "request 1: the body");
    CHECK(strstr(played.recorded, "\"go\"") != NULL);
    CHECK(strstr(played.actual, "\"stay\"") != NULL);
    CHECK(played.d.line > 0);
    cut(&played);
    cut(&recorded);
}

TEST(without_whole_bodies_the_hashes_are_shown) {
    scene s;
    take recorded, played;
    memset(&s, 0, sizeof s);
    shoot(&recorded, &s, NULL, NULL);
    CHECK(strstr(recorded.tape.at, "\"body\"") == NULL);
    s.other_tool = true;
    shoot(&played, &s, &recorded.tape, NULL);
    CHECK_EQ_INT(played.end, PHI_REFUSED);
    CHECK_EQ_STR(played.what, "request 1: the body");
    CHECK_EQ_INT(strlen(played.recorded), 66);
    CHECK(strcmp(played.recorded, played.actual) != 0);
    cut(&played);
    cut(&recorded);
}

TEST(a_run_that_asks_for_less_or_for_more_diverges) {
    scene s, less;
    take recorded, played;
    memset(&s, 0, sizeof s);
    less = s;
    less.short_run = true;
    shoot(&recorded, &s, NULL, NULL);
    shoot(&played, &less, &recorded.tape, NULL);
    CHECK_EQ_INT(played.end, PHI_REFUSED);
    CHECK_EQ_STR(played.what, "the end of the run");
    CHECK(strstr(played.recorded, "\"k\":\"request\",\"x\":5") != NULL);
    CHECK_EQ_STR(played.actual, "the run has ended");
    cut(&played);
    cut(&recorded);
}

/* Notes between steps in which nothing happens, each at its own time. */
static uint64_t keep_a_diary(phi_tape *tape) {
    phi_runtime_desc desc;
    phi_agent agent;
    uint64_t hash;
    rig *r;
    int i;
    memset(&desc, 0, sizeof desc);
    desc.tape = tape;
    r = rig_new_with(&desc);
    agent = rig_agent(r, NULL);
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(agent, "hi"), PHI_OK);
    (void)rig_run(r, 100);
    for (i = 0; i < 9; i++) {
        (void)rig_run(r, 1);
        rig_pass_ms(r, 10);
        if (i % 3 == 0)
            CHECK_EQ_INT(phi_thread_note(phi_agent_thread(agent), "day", phi_str_of("{}"), NULL),
                         PHI_OK);
    }
    hash = phi_thread_hash(phi_agent_thread(agent));
    rig_free(r);
    return hash;
}

TEST(what_a_host_does_between_empty_steps_has_its_own_time_again) {
    phi_tape_desc how;
    phi_tape *tape;
    text written;
    uint64_t hash;
    memset(&how, 0, sizeof how);
    memset(&written, 0, sizeof written);
    how.write_fn = write_tape;
    how.user_data = &written;
    tape = phi_tape_record(&how);
    hash = keep_a_diary(tape);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    tape = phi_tape_play(&how, phi_str_of(written.at), NULL);
    CHECK(keep_a_diary(tape) == hash);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    drop(&written);
}

/* A call, gaps, a note in a gap, and the deadline of the call. In most frames nothing comes. */
static uint64_t stop_at_a_breakpoint(phi_tape *tape, text *events) {
    phi_runtime_desc desc;
    phi_agent_desc agent_desc = rig_desc();
    phi_agent agent;
    phi_tool tool;
    uint64_t hash;
    rig *r;
    int i;
    memset(&desc, 0, sizeof desc);
    desc.tape = tape;
    r = rig_new_with(&desc);
    tool = rig_wait(r);
    tool.timeout_ms = 9000;
    tool.heartbeat_ms = 3000; /* timers fire between, when the deadline would have passed */
    agent_desc.tools = &tool;
    agent_desc.tool_count = 1;
    agent = rig_agent(r, &agent_desc);
    rig_watch(r, tell, events);
    rig_call(r, "a", "wait", "{}");
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(agent, "hi"), PHI_OK);
    for (i = 0; i < 200000 && rig_step(r) > 0; i++) {
        rig_pass_ms(r, i % 200 == 150 ? 120000 : 16);
        if (i != 151 && i != 300) continue;
        CHECK_EQ_INT(phi_thread_note(phi_agent_thread(agent), "x", phi_str_of("{}"), NULL), PHI_OK);
    }
    CHECK(i < 2000); /* nine seconds, less three gaps: some 400 steps */
    hash = phi_thread_hash(phi_agent_thread(agent));
    rig_free(r);
    return hash;
}

TEST(a_deadline_that_gaps_have_moved_passes_at_the_same_time_when_it_is_played) {
    phi_tape_desc how;
    phi_tape *tape;
    text written, events, again;
    phi_tape_divergence d;
    uint64_t hash;
    memset(&how, 0, sizeof how);
    memset(&written, 0, sizeof written);
    memset(&events, 0, sizeof events);
    memset(&again, 0, sizeof again);
    how.write_fn = write_tape;
    how.user_data = &written;
    tape = phi_tape_record(&how);
    hash = stop_at_a_breakpoint(tape, &events);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    CHECK(strstr(events.at, "Tool exceeded timeout of 9000ms") != NULL);
    CHECK(strstr(written.at, "\"gaps\":119000000") != NULL);
    tape = phi_tape_play(&how, phi_str_of(written.at), NULL);
    CHECK(stop_at_a_breakpoint(tape, &again) == hash);
    CHECK_EQ_INT(phi_tape_end(tape, &d), PHI_OK);
    CHECK_EQ_STR(again.at, events.at);
    phi_tape_free(tape);
    drop(&written);
    drop(&events);
    drop(&again);
}

TEST(no_key_is_on_a_tape) {
    scene s;
    take recorded;
    memset(&s, 0, sizeof s);
    s.whole = true;
    s.prompt = "my password is hunter2-hunter2";
    shoot(&recorded, &s, NULL, NULL);
    CHECK(strstr(recorded.tape.at, "sk-secret") == NULL);
    CHECK(strstr(recorded.tape.at, "0123456789") == NULL);
    CHECK(strstr(recorded.tape.at, "cookie-secret") == NULL);
    CHECK(strstr(recorded.tape.at, "hunter2") == NULL);
    CHECK(strstr(recorded.tape.at, "\"x-api-key\":\"[redacted]\"") != NULL);
    CHECK(strstr(recorded.tape.at, "API_KEY=********************") != NULL);
    cut(&recorded);
}

TEST(no_secret_of_a_header_or_of_an_address_is_on_a_tape_and_the_tape_plays) {
    static const char *const secrets[] = {
        "gate/way",  "gate%2Fway",   "gate\\/way", "Z2F0ZS93YX", "tenant4711",
        "user-name", "dXNlci1uYW1l", "pass-word",  "query-code", "cXVlcnktY29kZ"};
    scene s;
    take recorded, played;
    size_t i;
    memset(&s, 0, sizeof s);
    s.whole = s.gateway = true;
    s.prompt = "gate/way+pass gate%2Fway%2Bpass Z2F0ZS93YXkrcGFzcw== tenant4711 \"\\ntenant4711\"";
    s.says = "user-name:pass-word dXNlci1uYW1lOnBhc3Mtd29yZA== query-code-1 cXVlcnktY29kZS0x";
    shoot(&recorded, &s, NULL, NULL);
    for (i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        if (!CHECK(strstr(recorded.tape.at, secrets[i]) == NULL)) printf("  %s\n", secrets[i]);
    CHECK(strstr(recorded.tape.at, "\"X-Stage\":\"production\"") != NULL);
    CHECK(strstr(recorded.tape.at, "\"X-Tenant\":\"[redacted]\"") != NULL);
    CHECK(strstr(recorded.tape.at, "http://[redacted]@h.example/v1/messages?code=[redacted]\"") !=
          NULL);
    shoot(&played, &s, &recorded.tape, NULL);
    CHECK_EQ_INT(played.end, PHI_OK);
    CHECK(played.hash[0] == recorded.hash[0]);
    CHECK_EQ_STR(played.events.at, recorded.events.at);
    cut(&recorded);
    cut(&played);
}

static const char *refusal(const char *whole, uint32_t *line) {
    static phi_parse_error error;
    phi_tape *tape = phi_tape_play(NULL, phi_str_of(whole), &error);
    CHECK(tape == NULL);
    phi_tape_free(tape);
    *line = error.line;
    return error.message;
}

TEST(a_damaged_tape_is_refused_and_the_line_named) {
    scene s;
    take recorded;
    uint32_t line = 0;
    char *at;
    memset(&s, 0, sizeof s);
    shoot(&recorded, &s, NULL, NULL);
    CHECK_EQ_STR(refusal("", &line), "a tape begins with one line of kind \"tape\"");
    CHECK_EQ_STR(refusal("hello\n", &line), "the line is damaged: its sum is another");
    at = strchr(strchr(recorded.tape.at, '\n') + 1, '\n') + 20;
    *at ^= 1;
    CHECK_EQ_STR(refusal(recorded.tape.at, &line),
                 "its sum is another: the line is damaged, or lines before it are missing, doubled "
                 "or in another order");
    CHECK_EQ_INT(line, 3);
    *at ^= 1;
    at = strchr(recorded.tape.at, '\n') + 1;
    CHECK_EQ_STR(refusal(at, &line), "the line is damaged: its sum is another");
    CHECK_EQ_INT(line, 1);
    cut(&recorded);
}

TEST(a_tape_that_was_cut_off_anywhere_is_played_up_to_there_and_the_run_ends) {
    scene s;
    take recorded, played;
    size_t len, torn = 0, i;
    memset(&s, 0, sizeof s);
    s.short_run = true;
    shoot(&recorded, &s, NULL, NULL);
    for (len = recorded.tape.len - 1; len > 300; len -= len > 1200 ? 397 : 61) {
        char *copy = (char *)malloc(len + 1);
        text part;
        memcpy(copy, recorded.tape.at, len);
        copy[len] = '\0';
        part.at = copy;
        part.len = part.cap = len;
        shoot(&played, &s, &part, NULL);
        CHECK(played.made);
        CHECK(played.end == PHI_REFUSED || played.end == PHI_PARSE);
        torn += played.end == PHI_REFUSED ? 1 : 0;
        free(copy);
        cut(&played);
    }
    CHECK(torn > 10);
    for (i = 0; i < recorded.tape.len; i += 211) {
        phi_tape *tape;
        recorded.tape.at[i] ^= 4;
        tape = phi_tape_play(NULL, phi_str_of(recorded.tape.at), NULL);
        CHECK(tape == NULL);
        phi_tape_free(tape);
        recorded.tape.at[i] ^= 4;
    }
    cut(&recorded);
}

TEST(several_agents_are_played_with_the_same_budget_and_with_another) {
    static const uint32_t budgets[][2] = {{0, 0}, {0, 1}, {0, 1024}, {1, 0}, {64, 1000000}};
    scene s;
    take recorded, played;
    size_t i;
    memset(&s, 0, sizeof s);
    s.agents = 3;
    for (i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        s.bytes = budgets[i][0];
        shoot(&recorded, &s, NULL, NULL);
        s.bytes = budgets[i][1];
        shoot(&played, &s, &recorded.tape, NULL);
        check_same(&recorded, &played);
        CHECK(played.hash[1] == recorded.hash[1] && played.hash[2] == recorded.hash[2]);
        cut(&played);
        cut(&recorded);
    }
}

TEST(a_model_in_the_process_says_the_same_at_the_same_times) {
    scene s;
    take recorded, played;
    memset(&s, 0, sizeof s);
    s.own_model = true;
    s.agents = 2;
    shoot(&recorded, &s, NULL, NULL);
    CHECK(strstr(recorded.events.at, "word word word word word") != NULL);
    shoot(&played, &s, &recorded.tape, NULL);
    check_same(&recorded, &played);
    CHECK(played.hash[1] == recorded.hash[1]);
    cut(&played);
    s.bytes = 1;
    shoot(&played, &s, &recorded.tape, NULL);
    check_same(&recorded, &played);
    cut(&played);
    cut(&recorded);
}

/* With memory missing at any one point, recording or playing, nothing crashes or leaks, the run ends, and a tape that says
   that it is whole is. */
static void memory_fails_at(int n, const text *tape) {
    scene s;
    take t;
    memset(&s, 0, sizeof s);
    s.short_run = true;
    test_alloc_fail_at(n);
    shoot(&t, &s, tape, NULL);
    if (tape == NULL && t.made && t.end == PHI_OK) CHECK(strstr(t.tape.at, "\"over\"") != NULL);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    cut(&t);
}

TEST(recording_survives_every_failed_allocation) {
    int n = 0;
    do {
        memory_fails_at(n, NULL);
    } while (test_alloc_tripped() && n++ < 100000);
    test_alloc_fail_at(-1);
}

TEST(playing_survives_every_failed_allocation) {
    scene s;
    take recorded;
    int n = 0;
    memset(&s, 0, sizeof s);
    s.short_run = true;
    shoot(&recorded, &s, NULL, NULL);
    do {
        memory_fails_at(n, &recorded.tape);
    } while (test_alloc_tripped() && n++ < 100000);
    test_alloc_fail_at(-1);
    cut(&recorded);
}

/* ---- a result that is lost behind an abort ---- */

/* Once it may: a secret. */
static phi_flow secret_step(void *user_data, phi_call call) {
    if (!*(const bool *)user_data) return PHI_PENDING;
    (void)phi_call_reply(call, "the word is hunter2-hunter2");
    return PHI_DONE;
}

static phi_flow secret_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_PENDING;
}

/* A tool posts its result in the step in which its run is aborted: the abort passes it by, for the
   result is on its way. It holds a secret, so that the recording makes it anew, and finds no memory
   for that, or for something else. */
static void abort_before_a_result_is_read(int n) {
    static const char *const secrets[] = {"hunter2-hunter2", NULL};
    phi_runtime_desc runtime_desc;
    phi_agent_desc desc = rig_desc();
    phi_tape_desc how;
    phi_agent agent;
    phi_tool tool;
    text written;
    rig *r;
    bool may = false;
    memset(&runtime_desc, 0, sizeof runtime_desc);
    memset(&how, 0, sizeof how);
    memset(&written, 0, sizeof written);
    how.allocator = test_allocator();
    how.write_fn = write_tape;
    how.user_data = &written;
    how.secrets = secrets;
    runtime_desc.tape = phi_tape_record(&how);
    r = rig_new_with(&runtime_desc);
    memset(&tool, 0, sizeof tool);
    tool.name = "secret";
    tool.start = secret_start;
    tool.step = secret_step;
    tool.user_data = &may;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "secret", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    may = true;
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK(strstr(written.at, "\"k\":\"claimed\",\"agent\":0,\"id\":\"c1\"") != NULL);
    test_alloc_fail_at(n);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
    (void)phi_tape_end(runtime_desc.tape, NULL);
    phi_tape_free(runtime_desc.tape);
    drop(&written);
}

TEST(a_run_that_was_aborted_ends_also_where_the_result_on_its_way_is_lost) {
    int n = 0;
    do {
        abort_before_a_result_is_read(n);
        if (test_failures() > 0) printf("  allocation %d\n", n);
    } while (test_alloc_tripped() && test_failures() == 0 && n++ < 1000);
    test_alloc_fail_at(-1);
    CHECK(n > 0);
}

TEST(a_tape_is_of_one_runtime) {
    phi_runtime_desc desc;
    phi_tape_desc how;
    phi_runtime *rt;
    text tape;
    const char *why = NULL;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    memset(&tape, 0, sizeof tape);
    how.allocator = desc.allocator = test_allocator();
    how.write_fn = write_tape;
    how.user_data = &tape;
    desc.tape = phi_tape_record(&how);
    rt = phi_runtime_new(&desc);
    CHECK(rt != NULL);
    desc.error = &why;
    CHECK(phi_runtime_new(&desc) == NULL);
    CHECK_EQ_STR(why, "tape: it is, or was, another runtime's");
    phi_runtime_free(rt);
    why = NULL;
    CHECK(phi_runtime_new(&desc) == NULL);
    CHECK_EQ_STR(why, "tape: it is, or was, another runtime's");
    phi_tape_free(desc.tape);
    drop(&tape);
}

TEST_MAIN(TEST_ENTRY(a_run_that_is_played_tells_the_same_events_and_has_the_same_log),
          TEST_ENTRY(tries_of_a_tool_that_failed_are_played_as_they_were),
          TEST_ENTRY(a_result_between_two_tries_that_was_not_recorded_does_not_count),
          TEST_ENTRY(another_step_budget_gives_the_same_log),
          TEST_ENTRY(tools_that_are_run_again_give_the_same_log),
          TEST_ENTRY(a_tool_that_is_run_again_and_says_something_else_is_told),
          TEST_ENTRY(another_prompt_diverges_at_the_first_request_and_both_bodies_are_shown),
          TEST_ENTRY(without_whole_bodies_the_hashes_are_shown),
          TEST_ENTRY(a_run_that_asks_for_less_or_for_more_diverges),
          TEST_ENTRY(what_a_host_does_between_empty_steps_has_its_own_time_again),
          TEST_ENTRY(a_deadline_that_gaps_have_moved_passes_at_the_same_time_when_it_is_played),
          TEST_ENTRY(no_key_is_on_a_tape),
          TEST_ENTRY(no_secret_of_a_header_or_of_an_address_is_on_a_tape_and_the_tape_plays),
          TEST_ENTRY(a_damaged_tape_is_refused_and_the_line_named),
          TEST_ENTRY(a_tape_that_was_cut_off_anywhere_is_played_up_to_there_and_the_run_ends),
          TEST_ENTRY(several_agents_are_played_with_the_same_budget_and_with_another),
          TEST_ENTRY(a_model_in_the_process_says_the_same_at_the_same_times),
          TEST_ENTRY(recording_survives_every_failed_allocation),
          TEST_ENTRY(playing_survives_every_failed_allocation),
          TEST_ENTRY(a_run_that_was_aborted_ends_also_where_the_result_on_its_way_is_lost),
          TEST_ENTRY(a_tape_is_of_one_runtime))
