/* test_trace.c - the page of a thread: its data, its views, what attackers write, slices, failures. */
#include "trace/trace_hostile.h"
#include "trace/trace_read.h"

#include "base/base_in.h"
#include "support/rig.h"
#include "support/store_mem.h"
#include "support/talk.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "log/policy.h"
#include "trace/trace_in.h"

/* ---- what a request held ---- */

enum { VIEW_MOST = 20000 };

typedef struct view_item {
    uint64_t from, to, flags;
} view_item;

static view_item view_now[VIEW_MOST];
static size_t view_count;

static view_item view_read(const phi_json *node) {
    view_item it = {0, 0, 0};
    if (phi_json_is(node, PHI_JSON_ARRAY)) {
        it.from = phi__json_get_uint(phi_json_at(node, 0), 0);
        it.to = phi__json_get_uint(phi_json_at(node, 1), 0);
        it.flags = phi__json_get_uint(phi_json_at(node, 2), 0);
    } else
        it.from = it.to = phi__json_get_uint(node, 0);
    return it;
}

/* The change that an entry's "v" says, as page.js makes it. */
static bool view_change(const phi_json *v) {
    size_t keep = (size_t)phi__json_get_uint(phi_json_at(v, 0), 0),
           gone = (size_t)phi__json_get_uint(phi_json_at(v, 1), 0), i;
    const phi_json *items = phi_json_at(v, 2);
    size_t n = phi_json_count(items);
    phi_json_iter it = phi_json_each(items);
    if (!CHECK(keep + gone <= view_count && view_count - gone + n <= VIEW_MOST)) return false;
    memmove(&view_now[keep + n], &view_now[keep + gone],
            (view_count - keep - gone) * sizeof *view_now);
    view_count = view_count - gone + n;
    for (i = 0; i < n; i++) view_now[keep + i] = view_read(phi_json_next(&it));
    return true;
}

/* Whether it is the lane's view before that entry. */
static bool view_is(const phi_thread *thread, const char *lane, uint64_t seq, phi_arena *arena) {
    const phi_view_item *items;
    size_t count, i;
    if (seq == 0) return view_count == 0;
    if (!CHECK_EQ_INT(phi_thread_view(thread, lane, seq - 1, arena, &items, &count), PHI_OK) ||
        !CHECK_EQ_INT(view_count, count))
        return false;
    for (i = 0; i < count; i++)
        if (view_now[i].from != items[i].from || view_now[i].to != items[i].to ||
            view_now[i].flags != items[i].flags)
            return CHECK(false);
    return true;
}

/* Every request on the page is the view that the thread had. Returns how many there are. */
static size_t views_hold(const phi_thread *thread, const traced *t) {
    const phi_json *entries = traced_entries(t, 0), *e;
    phi_json_iter it = phi_json_each(entries);
    phi_arena arena;
    phi_memory memory;
    size_t n = 0;
    uint64_t lane = 0;
    char name[100];
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    view_count = 0;
    while ((e = phi_json_next(&it)) != NULL) {
        const phi_json *v = phi_json_get(e, "v");
        phi_arena_mark mark = phi_arena_save(&arena);
        phi_str of;
        lane = phi__json_get_uint(phi_json_get(e, "l"), lane);
        if (v == NULL) continue;
        n++;
        of = phi_str_of(phi_thread_lane_at(thread, (size_t)lane));
        (void)snprintf(name, sizeof name, "%.*s", (int)of.len, of.at);
        if (!view_change(v) ||
            !view_is(thread, name, phi__json_get_uint(phi_json_get(e, "s"), 0), &arena))
            break;
        phi_arena_reset(&arena, mark);
    }
    phi_arena_free(&arena);
    return n;
}

TEST(every_request_of_a_story_is_the_view_that_the_thread_had) {
    scene s, helper;
    traced t;
    scene_story(&s, &helper);
    REQUIRE(!s.failed);
    traced_make(&t, &s.thread, PHI_TRACE_HTML, NULL);
    CHECK_EQ_INT(views_hold(&s.thread, &t), 8);
    traced_free(&t);
    scene_close(&s);
    scene_close(&helper);
}

static uint32_t chance_state;

static uint32_t chance(uint32_t below) {
    chance_state = chance_state * 1664525u + 1013904223u;
    return (chance_state >> 8) % below;
}

/* Runs, of which some are taken back, rewrites, revocations and lanes, in any order. */
static void random_step(scene *s, char ops[][24], size_t *op_count) {
    char name[24];
    uint64_t count = phi_thread_count(&s->thread);
    phi_rewrite r;
    uint32_t what = chance(10);
    memset(&r, 0, sizeof r);
    s->loop[0] = '\0';
    if (what < 5 || count < 8) {
        scene_run(s, NULL, NULL);
        scene_user(s, "question");
        scene_turn(s);
        if (chance(6) > 0) scene_answer(s, NULL, "answer", NULL, 0, 5);
        scene_turn_end(s);
        scene_run_end(s, PHI_OK, NULL, chance(5) == 0 ? PHI_KEEP_NONE : PHI_KEEP_COMPLETE);
    } else if (what < 7) {
        phi_span span;
        phi_content c = scene_text("summary");
        phi_message m;
        memset(&m, 0, sizeof m);
        memset(&span, 0, sizeof span);
        m.role = PHI_ROLE_USER;
        m.content = &c;
        m.content_count = 1;
        span.from = chance((uint32_t)count);
        span.to = span.from + chance((uint32_t)(count - span.from));
        span.messages = &m;
        span.message_count = chance(3) > 0;
        span.summary = true;
        r.spans = &span;
        r.span_count = 1;
        r.reason = chance(2) > 0 ? PHI_REWRITE_COMPACTION : PHI_REWRITE_PRUNE;
        (void)snprintf(ops[*op_count], 24, "mine-%u", (unsigned)count);
        r.op_id = ops[*op_count];
        if (phi_thread_rewrite(&s->thread, &r, NULL, NULL, 0) == PHI_OK && *op_count < 99)
            ++*op_count;
    } else if (what == 7 && *op_count > 0) {
        r.revoke = ops[chance((uint32_t)*op_count)];
        (void)phi_thread_rewrite(&s->thread, &r, NULL, NULL, 0);
    } else if (what == 8) {
        (void)snprintf(name, sizeof name, "lane-%u", (unsigned)count);
        (void)phi_thread_fork_lane(&s->thread, name, NULL, chance((uint32_t)count));
    } else {
        phi_str lane = phi_str_of(phi_thread_lane_at(
            &s->thread, chance((uint32_t)phi_thread_get_info(&s->thread).lane_count)));
        (void)snprintf(name, sizeof name, "%.*s", (int)lane.len, lane.at);
        (void)phi_thread_switch(&s->thread, name);
    }
}

TEST(every_request_of_random_threads_is_the_view_that_the_thread_had) {
    const char *env = getenv("PHI_SEEDS");
    int seed, seeds = env != NULL ? atoi(env) : 12;
    for (seed = 1; seed <= seeds && test_failures() == 0; seed++) {
        char ops[100][24];
        size_t op_count = 0;
        scene s;
        traced t;
        int i;
        chance_state = (uint32_t)seed;
        scene_open(&s, "random");
        for (i = 0; i < 60; i++) random_step(&s, ops, &op_count);
        if (CHECK(!s.failed)) {
            traced_make(&t, &s.thread, PHI_TRACE_HTML, NULL);
            CHECK(views_hold(&s.thread, &t) > 10);
            traced_free(&t);
        }
        scene_close(&s);
        if (test_failures() > 0) printf("  seed %d\n", seed);
    }
}

/* ---- the data ---- */

TEST(the_page_has_every_entry_of_every_thread_and_their_cost) {
    scene s, helper;
    traced t;
    phi_trace_desc desc;
    phi_model model = phi_model_anthropic("claude-sonnet-4-5", NULL);
    const phi_thread *children[1];
    const phi_json *entries, *turn;
    memset(&desc, 0, sizeof desc);
    scene_story(&s, &helper);
    children[0] = &helper.thread;
    desc.children = children;
    desc.child_count = 1;
    model.cost.input = 1000000;
    desc.models = &model;
    desc.model_count = 1;
    desc.title = "A <title>";
    traced_make(&t, &s.thread, PHI_TRACE_HTML, &desc);
    CHECK_STR(phi_json_str(phi_json_get(t.root, "title"), ""), "A <title>");
    CHECK_EQ_INT(phi_json_count(phi_json_get(t.root, "threads")), 2);
    entries = traced_entries(&t, 0);
    CHECK_EQ_INT(phi_json_count(entries), phi_thread_count(&s.thread));
    CHECK_EQ_INT(phi_json_count(traced_entries(&t, 1)), phi_thread_count(&helper.thread));
    CHECK_STR(phi_json_str(phi_json_path(t.root, "threads[0].lanes[1]"), ""), "shorter");
    turn = phi_json_at(entries, 6);
    CHECK_EQ_INT(phi__json_get_uint(phi_json_path(turn, "u[0]"), 0), 1840);
    CHECK_EQ_INT(phi_json_num(phi_json_get(turn, "$"), 0), 1840);
    CHECK_STR(phi_json_str(phi_json_path(entries, "[10].child"), ""), "child-1.sub.1");
    CHECK_STR(phi_json_str(phi_json_path(entries, "[4].m.i"), ""), "call_s-81_1");
    CHECK_STR(phi_json_str(phi_json_path(entries, "[0].system"), ""), scene_prompt);
    traced_free(&t);
    scene_close(&s);
    scene_close(&helper);
}

TEST(a_long_text_is_cut_where_a_character_ends_and_says_how_long_it_was) {
    scene s;
    traced t;
    phi_trace_desc desc;
    memset(&desc, 0, sizeof desc);
    scene_open(&s, "s");
    scene_user(&s, "12345678\xc3\xa4rest");
    desc.text_bytes = 9;
    traced_make(&t, &s.thread, PHI_TRACE_HTML, &desc);
    CHECK_STR(phi_json_str(phi_json_path(traced_entries(&t, 0), "[0].m.c[0].t"), ""), "12345678");
    CHECK(traced_has(&t, "\"t of\":14"));
    traced_free(&t);
    desc.text_bytes = PHI_UNLIMITED;
    traced_make(&t, &s.thread, PHI_TRACE_HTML, &desc);
    CHECK(!traced_has(&t, "\"t of\":"));
    traced_free(&t);
    scene_close(&s);
}

TEST(an_empty_thread_is_a_page_and_a_document) {
    scene s;
    traced t;
    scene_open(&s, "s");
    traced_make(&t, &s.thread, PHI_TRACE_HTML, NULL);
    CHECK_EQ_INT(phi_json_count(traced_entries(&t, 0)), 0);
    traced_free(&t);
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, NULL);
    CHECK_EQ_INT(phi_json_count(traced_spans(&t)), 0);
    traced_free(&t);
    scene_close(&s);
}

TEST(ten_thousand_entries_of_ordinary_size_are_at_most_twelve_megabytes) {
    scene s;
    traced t;
    scene_many(&s, 10000);
    REQUIRE(!s.failed && phi_thread_count(&s.thread) == 10000);
    traced_make(&t, &s.thread, PHI_TRACE_HTML, NULL);
    CHECK_EQ_INT(phi_json_count(traced_entries(&t, 0)), 10000);
    CHECK(t.text.len > 4000000 && t.text.len <= 12000000);
    traced_free(&t);
    scene_close(&s);
}

/* ---- attackers and secrets ---- */

TEST(no_text_of_a_thread_leaves_the_data_of_the_page) {
    scene s;
    traced t;
    hostile_scene(&s);
    REQUIRE(!s.failed);
    traced_make(&t, &s.thread, PHI_TRACE_HTML, NULL);
    CHECK(phi__str_find(t.json, 0, "<") == SIZE_MAX);
    CHECK(phi__str_find(t.json, 0, "\xe2\x80\xa8") == SIZE_MAX);
    CHECK(phi__str_find(t.json, 0, "\xe2\x80\xa9") == SIZE_MAX);
    CHECK_EQ_INT(traced_count(&t, "<script"), 2); /* the page's own */
    CHECK_EQ_INT(traced_count(&t, "</script>"), 2);
    CHECK(traced_has(&t, "\\u003c/script>"));
    CHECK(traced_has(&t, "\\u2028\\u2029"));
    CHECK(phi__utf8_valid(t.text) == t.text.len);
    CHECK_EQ_INT(traced_count(&t, "default-src 'none'; script-src 'sha256-"), 1);
    CHECK(!traced_has(&t, "unsafe-inline") && !traced_has(&t, "http://") &&
          !traced_has(&t, "https://") && !traced_has(&t, "innerHTML"));
    CHECK_EQ_INT(views_hold(&s.thread, &t), 2);
    traced_free(&t);
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, NULL);
    CHECK(phi__str_find(t.text, 0, "<") == SIZE_MAX);
    traced_free(&t);
    scene_close(&s);
}

TEST(keys_of_models_and_secrets_are_hidden_also_where_a_text_is_cut_inside_of_one) {
    const char *const secrets[] = {"hunter2-hunter2"};
    phi_model_header header = {"Authorization", "Bearer abcdefghijkl"};
    phi_model model = phi_model_anthropic("m", "sk-test-1234567890");
    int kind;
    for (kind = 0; kind < 2; kind++) {
        scene s;
        traced t;
        phi_trace_desc desc;
        memset(&desc, 0, sizeof desc);
        scene_open(&s, "s");
        scene_run(&s, NULL, "The key is sk-test-1234567890.");
        scene_user(&s, "hunter2-hunter2 and Bearer abcdefghijkl; 1234567 hunter2-hunter2");
        scene_turn(&s);
        scene_answer(&s, NULL, "x sk-test-1234567890 x", NULL, 0, 1);
        scene_turn_end(&s);
        scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
        model.headers = &header;
        model.header_count = 1;
        desc.models = &model;
        desc.model_count = 1;
        desc.secrets = secrets;
        desc.secret_count = 1;
        desc.with_content = true;
        desc.text_bytes = 58; /* inside of the last one */
        traced_make(&t, &s.thread, (phi_trace_kind)kind, &desc);
        CHECK(!traced_has(&t, "sk-test-") && !traced_has(&t, "hunter2") &&
              !traced_has(&t, "abcdefghijkl"));
        CHECK(traced_has(&t, "x ****************** x"));
        traced_free(&t);
        scene_close(&s);
    }
}

/* ---- slices, sinks, failures ---- */

typedef struct taken {
    phi__buf text;
    size_t longest, calls;
    int fail_at; /* negative: never */
} taken;

static phi_status take(void *user_data, const char *bytes, size_t len) {
    taken *k = (taken *)user_data;
    if (k->fail_at >= 0 && (size_t)k->fail_at == k->calls) return PHI_FULL;
    k->calls++;
    if (len > k->longest) k->longest = len;
    phi__buf_add(&k->text, bytes, len);
    return PHI_OK;
}

static phi_trace_sink sink_of(taken *k, phi_memory *memory) {
    phi_trace_sink sink;
    memset(k, 0, sizeof *k);
    phi__buf_init(&k->text, memory);
    k->fail_at = -1;
    sink.write = take;
    sink.user_data = k;
    return sink;
}

TEST(a_trace_in_slices_is_the_same_and_its_pieces_are_small) {
    int kind;
    for (kind = 0; kind < 2; kind++) {
        scene s;
        traced t;
        taken k;
        phi_memory memory;
        phi_trace_sink sink;
        phi_trace *trace;
        size_t slices = 0, units = 1;
        phi_status status;
        phi_memory_init(&memory, NULL, 0);
        sink = sink_of(&k, &memory);
        scene_many(&s, 600);
        traced_make(&t, &s.thread, (phi_trace_kind)kind, NULL);
        REQUIRE(phi_trace_begin(&s.thread, (phi_trace_kind)kind, NULL, &sink, &trace) == PHI_OK);
        scene_user(&s, "this came later");
        while ((status = phi_trace_advance(trace, units)) == PHI_BUSY) {
            slices++;
            units = 1 + slices % 7;
        }
        CHECK_EQ_INT(status, PHI_OK);
        CHECK_EQ_INT(phi_trace_advance(trace, 1), PHI_OK);
        CHECK(slices > 150);
        CHECK(k.longest <= 65536);
        CHECK(phi_str_equal(phi__buf_str(&k.text), t.text));
        phi_trace_end(trace);
        phi__buf_free(&k.text);
        traced_free(&t);
        scene_close(&s);
    }
}

TEST(what_the_sink_says_ends_the_trace_and_is_said_again) {
    scene s;
    taken k;
    phi_memory memory;
    phi_trace_sink sink;
    phi_trace *trace;
    phi_memory_init(&memory, NULL, 0);
    sink = sink_of(&k, &memory);
    scene_many(&s, 300);
    k.fail_at = 2;
    CHECK_EQ_INT(trace_all(&s.thread, PHI_TRACE_HTML, NULL, &sink), PHI_FULL);
    k.calls = 0;
    k.fail_at = 0;
    REQUIRE(phi_trace_begin(&s.thread, PHI_TRACE_OTEL, NULL, &sink, &trace) == PHI_OK);
    CHECK_EQ_INT(phi_trace_advance(trace, SIZE_MAX), PHI_FULL);
    CHECK_EQ_INT(phi_trace_advance(trace, 1), PHI_FULL);
    phi_trace_end(trace);
    phi_trace_end(NULL);
    phi__buf_free(&k.text);
    scene_close(&s);
}

TEST(a_trace_survives_every_failed_allocation) {
    int kind, n = 0;
    for (kind = 0; kind < 2; kind++) {
        scene s, helper;
        traced whole, t;
        phi_trace_desc desc;
        phi_policy policy = phi_policy_of(PHI_POLICY_DEFAULT, NULL);
        const phi_thread *children[1];
        const char *const secrets[] = {"a secret of some length"};
        bool tripped;
        memset(&desc, 0, sizeof desc);
        memset(&t, 0, sizeof t);
        scene_story(&s, &helper);
        children[0] = &helper.thread;
        desc.children = children;
        desc.child_count = 1;
        desc.policy = &policy;
        desc.secrets = secrets;
        desc.secret_count = 1;
        traced_make(&whole, &s.thread, (phi_trace_kind)kind, &desc);
        phi_memory_init(&t.memory, NULL, 0);
        for (n = 0, tripped = true; tripped; n++) {
            phi_arena_init(&t.arena, &t.memory, 0);
            test_alloc_fail_at(n);
            t.status = trace_text(&s.thread, (phi_trace_kind)kind, &desc, &t.arena, &t.text);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            if (t.status == PHI_OK)
                CHECK(phi_str_equal(t.text, whole.text));
            else
                CHECK_EQ_INT(t.status, PHI_NO_MEMORY);
            phi_arena_free(&t.arena);
        }
        CHECK(n > 20);
        traced_free(&whole);
        scene_close(&s);
        scene_close(&helper);
    }
}

/* ---- agents ---- */

static phi_agent traced_agent(rig *r, const phi_store *store) {
    static phi_tool tool;
    phi_agent_desc desc = rig_desc();
    tool = rig_echo();
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.ids.session_id = "s";
    desc.store = store;
    return rig_agent(r, &desc);
}

TEST(a_run_under_way_shows_the_request_that_has_no_answer_yet) {
    rig *r = rig_new();
    phi_agent agent = traced_agent(r, NULL);
    traced t;
    rig_call(r, "call-1", "echo", "{\"x\":1}");
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "first"), PHI_OK);
    (void)rig_run(r, 60);
    traced_make(&t, phi_agent_thread(agent), PHI_TRACE_HTML, NULL);
    CHECK_EQ_INT(views_hold(phi_agent_thread(agent), &t), 1);
    REQUIRE(view_change(phi_json_path(t.root, "threads[0].v")));
    CHECK_EQ_INT(view_count, 3);
    traced_free(&t);
    traced_make(&t, phi_agent_thread(agent), PHI_TRACE_OTEL, NULL);
    CHECK(traced_has(&t, "not_ended") && traced_has(&t, "no_answer"));
    traced_free(&t);
    rig_free(r);
}

TEST(a_log_that_leaves_memory_between_two_slices_gives_the_same_trace) {
    int kind;
    for (kind = 0; kind < 2; kind++) {
        store_mem *store = store_mem_new();
        rig *r = rig_new();
        phi_agent agent = traced_agent(r, store_mem_store(store));
        phi_thread *thread = phi_agent_thread(agent);
        phi_memory memory;
        traced t;
        taken k;
        phi_trace_sink sink;
        phi_trace *trace;
        phi_status status;
        int i;
        phi_memory_init(&memory, NULL, 0);
        sink = sink_of(&k, &memory);
        for (i = 0; i < 6; i++) {
            rig_call(r, "c", "echo",
                     "{\"x\":\"a text that fills segments, a text that fills them\"}");
            rig_says(r, "a text that fills segments, too");
            CHECK_EQ_INT(phi_prompt(agent, "and on"), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 100), 0);
            if (i == 2) CHECK_EQ_INT(phi_thread_switch(thread, NULL), PHI_OK);
        }
        traced_make(&t, thread, (phi_trace_kind)kind, NULL);
        REQUIRE(phi_trace_begin(thread, (phi_trace_kind)kind, NULL, &sink, &trace) == PHI_OK);
        while ((status = phi_trace_advance(trace, 1)) == PHI_BUSY) (void)rig_step(r);
        CHECK_EQ_INT(status, PHI_OK);
        CHECK(phi_str_equal(phi__buf_str(&k.text), t.text));
        phi_trace_end(trace);
        phi__buf_free(&k.text);
        traced_free(&t);
        rig_free(r);
        store_mem_free(store);
    }
}

TEST(a_log_that_forgot_entries_is_traced_from_its_first_one_whatever_the_agent_s_limit) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    const phi_thread *thread;
    phi_memory memory;
    phi_trace_sink sink;
    phi_trace *trace;
    phi_status status;
    uint64_t first;
    taken k;
    talk said;
    traced t;
    talk_begin(&said, r, &desc);
    thread = phi_agent_thread(said.agent);
    while (said.times == 0 && said.ends < 300) CHECK(exchange(&said) == PHI_OK);
    first = phi_thread_get_info(thread).first;
    REQUIRE(first > 0);
    traced_make(&t, thread, PHI_TRACE_HTML, NULL);
    CHECK_EQ_INT(phi_json_count(traced_entries(&t, 0)), phi_thread_count(thread) - first);
    CHECK_EQ_INT(phi__json_get_uint(phi_json_path(traced_entries(&t, 0), "[0].s"), 0), first);
    (void)views_hold(thread, &t);
    traced_free(&t);
    traced_make(&t, thread, PHI_TRACE_OTEL, NULL);
    traced_free(&t);
    /* and where it forgets between two slices, the trace ends */
    phi_memory_init(&memory, NULL, 0);
    sink = sink_of(&k, &memory);
    REQUIRE(phi_trace_begin(thread, PHI_TRACE_HTML, NULL, &sink, &trace) == PHI_OK);
    CHECK_EQ_INT(phi_trace_advance(trace, 8), PHI_BUSY);
    while (phi_thread_get_info(thread).first == first && said.ends < 600)
        CHECK(exchange(&said) == PHI_OK);
    while ((status = phi_trace_advance(trace, 8)) == PHI_BUSY) {}
    CHECK_EQ_INT(status, PHI_NOT_FOUND);
    phi_trace_end(trace);
    phi__buf_free(&k.text);
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(every_request_of_a_story_is_the_view_that_the_thread_had),
    TEST_ENTRY(every_request_of_random_threads_is_the_view_that_the_thread_had),
    TEST_ENTRY(the_page_has_every_entry_of_every_thread_and_their_cost),
    TEST_ENTRY(a_long_text_is_cut_where_a_character_ends_and_says_how_long_it_was),
    TEST_ENTRY(an_empty_thread_is_a_page_and_a_document),
    TEST_ENTRY(ten_thousand_entries_of_ordinary_size_are_at_most_twelve_megabytes),
    TEST_ENTRY(no_text_of_a_thread_leaves_the_data_of_the_page),
    TEST_ENTRY(keys_of_models_and_secrets_are_hidden_also_where_a_text_is_cut_inside_of_one),
    TEST_ENTRY(a_trace_in_slices_is_the_same_and_its_pieces_are_small),
    TEST_ENTRY(what_the_sink_says_ends_the_trace_and_is_said_again),
    TEST_ENTRY(a_trace_survives_every_failed_allocation),
    TEST_ENTRY(a_run_under_way_shows_the_request_that_has_no_answer_yet),
    TEST_ENTRY(a_log_that_leaves_memory_between_two_slices_gives_the_same_trace),
    TEST_ENTRY(a_log_that_forgot_entries_is_traced_from_its_first_one_whatever_the_agent_s_limit))
