/* test_trace_attack.c - traces of threads that no agent of ours writes: ids that clash, circles, times and counts out of range,
   what is evicted, forgotten or refused between two slices; arguments that are refused, and keys that are hidden. */
#include "trace/trace_hostile.h"
#include "trace/trace_read.h"

#include "support/rig.h"
#include "support/store_mem.h"
#include "support/talk.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "features/failover.h"
#include "trace/trace_in.h"

/* ---- ids that clash ---- */

static void answer_with_ids(scene *s, const char *const *ids, size_t n) {
    phi_content c[4];
    phi_message m;
    size_t i;
    memset(c, 0, sizeof c);
    memset(&m, 0, sizeof m);
    for (i = 0; i < n; i++) {
        c[i].kind = PHI_CONTENT_TOOL_CALL;
        c[i].id = phi_str_of(ids[i]);
        c[i].name = phi_str_of("echo");
        c[i].arguments = phi_str_of("{}");
    }
    m.role = PHI_ROLE_ASSISTANT;
    m.content = c;
    m.content_count = n;
    m.stop_reason = PHI_STOP_REASON_TOOL_USE;
    m.model = phi_str_of("m");
    m.provider = phi_str_of("openai");
    scene_message(s, &m, 10);
}

static void result_of_id(scene *s, const char *id) {
    phi_content c = scene_text("done");
    phi_message m;
    memset(&m, 0, sizeof m);
    m.role = PHI_ROLE_TOOL_RESULT;
    m.content = &c;
    m.content_count = 1;
    m.tool_call_id = phi_str_of(id);
    m.tool_name = phi_str_of("echo");
    scene_message(s, &m, 10);
}

TEST(calls_of_a_model_that_counts_them_anew_each_turn_are_spans_of_their_own) {
    static const char *const ids[] = {"call_0", "call_0"};
    scene s;
    traced t;
    int i;
    scene_open(&s, "s");
    scene_run(&s, NULL, NULL);
    scene_user(&s, "first");
    for (i = 0; i < 3; i++) {
        scene_turn(&s);
        answer_with_ids(&s, ids, 2);
        result_of_id(&s, "call_0");
        result_of_id(&s, "call_0");
        scene_turn_end(&s);
    }
    scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
    REQUIRE(!s.failed);
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, NULL);
    CHECK_EQ_INT(spans_hold(&t), 1);
    CHECK_EQ_INT(phi_json_count(traced_spans(&t)), 10);
    CHECK_EQ_INT(traced_count(&t, "no_result"), 0);
    traced_free(&t);
    scene_close(&s);
}

static void spawn_of(scene *s, const char *id, const char *session, const char *loop) {
    phi__entry e;
    phi__child_run *spawn = (phi__child_run *)phi__arena_zero(scene_room(s), sizeof *spawn);
    if (spawn == NULL) return;
    spawn->tool_call_id = scene_str(s, id);
    spawn->session_id = scene_str(s, session);
    spawn->loop_id = scene_str(s, loop);
    memset(&e, 0, sizeof e);
    e.kind = PHI_ENTRY_SPAWN;
    e.of.spawn = spawn;
    scene_put(s, &e, 1);
}

TEST(a_sub_agent_of_a_call_that_is_not_there_stands_below_the_run) {
    scene s, helper;
    traced t;
    phi_trace_desc desc;
    const phi_thread *children[1];
    memset(&desc, 0, sizeof desc);
    scene_open(&s, "s");
    scene_open(&helper, "child");
    scene_run(&s, NULL, NULL);
    scene_user(&s, "first");
    spawn_of(&s, "nowhere", "child", "child.m.1");
    scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
    scene_ask(&helper, "a", "b");
    children[0] = &helper.thread;
    desc.children = children;
    desc.child_count = 1;
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, &desc);
    CHECK_EQ_INT(spans_hold(&t), 1);
    traced_free(&t);
    scene_close(&s);
    scene_close(&helper);
}

enum { CHAIN = 80 };

/* Runs that began each other: `chain` of them, and the last begins the first where it is a circle. */
static void chained(bool circle) {
    static scene s[CHAIN];
    static const phi_thread *children[CHAIN];
    static const char *const ids[] = {"c"};
    phi_trace_desc desc;
    traced t;
    size_t i;
    memset(&desc, 0, sizeof desc);
    for (i = 0; i < CHAIN; i++) {
        char session[24], next[24], loop[32];
        (void)snprintf(session, sizeof session, "s%u", (unsigned)i);
        (void)snprintf(next, sizeof next, "s%u", (unsigned)((i + 1) % CHAIN));
        (void)snprintf(loop, sizeof loop, "%s.m.1", next);
        scene_open(&s[i], session);
        scene_run(&s[i], NULL, NULL);
        scene_user(&s[i], "on");
        scene_turn(&s[i]);
        answer_with_ids(&s[i], ids, 1);
        result_of_id(&s[i], "c");
        if (circle || i + 1 < CHAIN) spawn_of(&s[i], "c", next, loop);
        scene_turn_end(&s[i]);
        scene_run_end(&s[i], PHI_OK, NULL, PHI_KEEP_COMPLETE);
        children[i] = &s[i].thread;
    }
    desc.children = children + 1;
    desc.child_count = CHAIN - 1;
    traced_make(&t, &s[0].thread, PHI_TRACE_OTEL, &desc);
    CHECK_EQ_INT(spans_hold(&t), 1);
    traced_free(&t);
    traced_make(&t, &s[0].thread, PHI_TRACE_HTML, &desc);
    traced_free(&t);
    for (i = 0; i < CHAIN; i++) scene_close(&s[i]);
}

TEST(sub_agents_of_sub_agents_at_any_depth_are_one_trace) { chained(false); }
TEST(sub_agents_in_a_circle_are_one_trace_too) { chained(true); }

TEST(a_thread_that_is_given_twice_is_written_once) {
    scene s, helper;
    traced once, twice;
    phi_trace_desc desc;
    const phi_thread *children[3];
    int kind;
    memset(&desc, 0, sizeof desc);
    scene_story(&s, &helper);
    children[0] = &helper.thread;
    children[1] = &s.thread;
    children[2] = &helper.thread;
    desc.children = children;
    for (kind = 0; kind < 2; kind++) {
        desc.child_count = 1;
        traced_make(&once, &s.thread, (phi_trace_kind)kind, &desc);
        desc.child_count = 3;
        traced_make(&twice, &s.thread, (phi_trace_kind)kind, &desc);
        CHECK(phi_str_equal(once.text, twice.text));
        traced_free(&once);
        traced_free(&twice);
    }
    scene_close(&s);
    scene_close(&helper);
}

TEST(runs_with_the_same_id_are_spans_of_their_own) {
    scene s;
    traced t;
    int i;
    scene_open(&s, "s");
    for (i = 0; i < 3; i++) {
        scene_run_of(&s, "same", NULL, NULL);
        scene_user(&s, "again");
        scene_turn(&s);
        scene_answer(&s, NULL, "yes", NULL, 0, 5);
        scene_turn_end(&s);
        scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
    }
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, NULL);
    CHECK_EQ_INT(spans_hold(&t), 3);
    traced_free(&t);
    scene_close(&s);
}

/* ---- out of range ---- */

TEST(times_and_counts_out_of_range_are_numbers_that_a_reader_takes) {
    static const int64_t times[] = {INT64_MIN, -1, 0, 18446744073709, 18446744073710, INT64_MAX};
    size_t i;
    for (i = 0; i < sizeof times / sizeof times[0]; i++) {
        scene s;
        traced t;
        phi_json_iter it;
        const phi_json *span;
        scene_open(&s, "s");
        s.now = times[i] > INT64_MAX - 100 ? times[i] - 100 : times[i];
        scene_run(&s, NULL, NULL);
        scene_user(&s, "first");
        scene_tokens(&s, UINT64_MAX, UINT64_MAX, UINT64_MAX, 9);
        s.turn_usage.reasoning = UINT64_MAX;
        scene_turn(&s);
        scene_answer(&s, NULL, "yes", NULL, 0, 5);
        s.now = 5; /* the clock goes back */
        scene_turn_end(&s);
        scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
        traced_make(&t, &s.thread, PHI_TRACE_OTEL, NULL);
        CHECK_EQ_INT(spans_hold(&t), 1);
        it = phi_json_each(traced_spans(&t));
        while ((span = phi_json_next(&it)) != NULL) {
            phi_str from = traced_id(span, "startTimeUnixNano");
            CHECK(from.len < 20 ||
                  (from.len == 20 && memcmp(from.at, "18446744073709551615", 20) <= 0));
        }
        CHECK(!traced_has(&t, "\"18446744073709551615\""));
        CHECK_STR(traced_attribute(traced_span(&t, "chat claude-sonnet-4-5", 0),
                                   "gen_ai.usage.input_tokens"),
                  "9223372036854775807");
        traced_free(&t);
        traced_make(&t, &s.thread, PHI_TRACE_HTML, NULL);
        traced_free(&t);
        scene_close(&s);
    }
}

/* ---- the conventions ---- */

TEST(texts_in_spans_are_cut_where_those_of_the_page_are) {
    scene s;
    traced t;
    phi_trace_desc desc;
    static char text[30001];
    const char *const calls[] = {"echo {}"};
    memset(&desc, 0, sizeof desc);
    memset(text, 'x', sizeof text - 1);
    desc.with_content = true;
    scene_open(&s, "s");
    scene_run(&s, NULL, text);
    scene_user(&s, text);
    scene_turn(&s);
    scene_answer(&s, text, text, calls, 1, 5);
    scene_result(&s, 1, "echo", text, false, 5);
    scene_turn_end(&s);
    scene_turn(&s);
    scene_answer(&s, NULL, "yes", NULL, 0, 5);
    scene_turn_end(&s);
    scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, &desc);
    CHECK(t.text.len < 60000);
    traced_free(&t);
    desc.text_bytes = PHI_UNLIMITED;
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, &desc);
    CHECK(t.text.len > 180000);
    traced_free(&t);
    scene_close(&s);
}

TEST(instructions_and_answers_have_the_form_of_the_conventions) {
    scene s;
    traced t;
    phi_trace_desc desc;
    phi_json *value = NULL;
    memset(&desc, 0, sizeof desc);
    desc.with_content = true;
    scene_open(&s, "s");
    scene_run(&s, NULL, "Be \"kind\".");
    scene_user(&s, "first");
    scene_turn(&s);
    scene_answer(&s, NULL, "yes", NULL, 0, 5);
    scene_turn_end(&s);
    scene_run_end(&s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, &desc);
    REQUIRE(phi_json_parse(&t.arena,
                           traced_attribute(traced_span(&t, "invoke_agent coder", 0),
                                            "gen_ai.system_instructions"),
                           0, &value, NULL) == PHI_OK);
    CHECK_STR(phi_json_str(phi_json_path(value, "[0].type"), ""), "text");
    CHECK_STR(phi_json_str(phi_json_path(value, "[0].content"), ""), "Be \"kind\".");
    REQUIRE(phi_json_parse(&t.arena,
                           traced_attribute(traced_span(&t, "chat claude-sonnet-4-5", 0),
                                            "gen_ai.output.messages"),
                           0, &value, NULL) == PHI_OK);
    CHECK_STR(phi_json_str(phi_json_path(value, "[0].finish_reason"), ""), "stop");
    traced_free(&t);
    scene_close(&s);
}

/* ---- between two slices ---- */

static phi_status nowhere(void *user_data, const char *bytes, size_t len) {
    *(size_t *)user_data += len;
    (void)bytes;
    return PHI_OK;
}

/* A trace is begun while a run is under way; after `n` units the log forgets that run. */
TEST(a_log_may_forget_at_any_slice_of_a_run_under_way) {
    int kind, n;
    for (kind = 0; kind < 2; kind++) {
        bool whole = false;
        for (n = 1; !whole && n < 200; n++) {
            phi_status last;
            rig *r = rig_new();
            phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
            const phi_thread *thread;
            phi_trace_sink sink;
            phi_trace *trace;
            uint64_t first;
            size_t bytes = 0;
            talk said;
            int i;
            sink.write = nowhere;
            sink.user_data = &bytes;
            talk_begin(&said, r, &desc);
            thread = phi_agent_thread(said.agent);
            CHECK(exchange(&said) == PHI_OK);
            rig_hangs(r, "");
            CHECK_EQ_INT(phi_prompt(said.agent, "hang"), PHI_OK);
            for (i = 0; i < 10; i++) (void)rig_step(r);
            REQUIRE(phi_trace_begin(thread, (phi_trace_kind)kind, NULL, &sink, &trace) == PHI_OK);
            last = phi_trace_advance(trace, (size_t)n);
            whole = last == PHI_OK;
            CHECK_EQ_INT(phi_abort(said.agent), PHI_OK);
            (void)rig_run(r, 50);
            first = phi_thread_get_info(thread).first;
            while (phi_thread_get_info(thread).first <= first + 12 && said.ends < 600)
                if (exchange(&said) != PHI_OK) break;
            REQUIRE(phi_thread_get_info(thread).first > first);
            while (last == PHI_BUSY) last = phi_trace_advance(trace, 1);
            CHECK(last == PHI_OK || last == PHI_NOT_FOUND);
            phi_trace_end(trace);
            rig_free(r);
        }
        CHECK(whole);
    }
}

/* The log leaves memory after each slice; call `n` of the store fails. */
TEST(a_store_that_fails_ends_the_trace_with_its_status) {
    int kind, n;
    for (kind = 0; kind < 2; kind++) {
        phi_status status;
        int failed = 0;
        for (n = 0; n < 8; n++) {
            store_mem *store = store_mem_new();
            rig *r = rig_new();
            phi_agent_desc desc = rig_desc();
            phi_trace_sink sink;
            phi_trace *trace;
            phi_agent agent;
            size_t bytes = 0;
            int i;
            sink.write = nowhere;
            sink.user_data = &bytes;
            desc.ids.session_id = "s";
            desc.store = store_mem_store(store);
            agent = rig_agent(r, &desc);
            for (i = 0; i < 6; i++) {
                rig_says(r, "a text that fills segments, a text that fills segments, too");
                CHECK_EQ_INT(phi_prompt(agent, "and on"), PHI_OK);
                CHECK_EQ_INT(rig_run(r, 100), 0);
                if (i == 4) CHECK_EQ_INT(phi_thread_switch(phi_agent_thread(agent), NULL), PHI_OK);
            }
            REQUIRE(phi_trace_begin(phi_agent_thread(agent), (phi_trace_kind)kind, NULL, &sink,
                                    &trace) == PHI_OK);
            store_mem_fail_at(store, n, PHI_IO);
            while ((status = phi_trace_advance(trace, 1)) == PHI_BUSY) (void)rig_step(r);
            CHECK(status == PHI_OK || status == PHI_IO);
            CHECK_EQ_INT(phi_trace_advance(trace, 1), status);
            failed += status == PHI_IO;
            phi_trace_end(trace);
            store_mem_fail_at(store, -1, PHI_OK);
            rig_free(r);
            store_mem_free(store);
        }
        CHECK(failed > 0);
    }
}

TEST(bad_arguments_are_refused) {
    scene s;
    phi_trace_sink sink;
    phi_trace_desc desc;
    phi_trace *trace = NULL;
    phi_agent none;
    size_t bytes = 0;
    char words[80];
    sink.write = nowhere;
    sink.user_data = &bytes;
    memset(&desc, 0, sizeof desc);
    scene_open(&s, "s");
    CHECK_EQ_INT(trace_all(NULL, PHI_TRACE_HTML, NULL, &sink), PHI_BAD_ARG);
    CHECK_EQ_INT(trace_all(&s.thread, PHI_TRACE_OTEL, NULL, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_trace_begin(&s.thread, (phi_trace_kind)7, NULL, &sink, &trace), PHI_BAD_ARG);
    CHECK(trace == NULL);
    CHECK_EQ_INT(phi_trace_advance(NULL, 1), PHI_BAD_ARG);
    desc.child_count = 1;
    CHECK_EQ_INT(trace_all(&s.thread, PHI_TRACE_HTML, &desc, &sink), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_trace_write(&s.thread, PHI_TRACE_HTML, NULL, "", words, sizeof words),
                 PHI_BAD_ARG);
    CHECK_EQ_STR(words, "an argument is missing or out of range");
    words[0] = '\0';
    CHECK_EQ_INT(phi_trace_write(NULL, PHI_TRACE_HTML, NULL, "a", words, 12), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "an argument");
    CHECK_EQ_INT(phi_trace_write(NULL, PHI_TRACE_HTML, NULL, "a", NULL, 12), PHI_BAD_ARG);
    memset(&none, 0, sizeof none);
    words[0] = '\0';
    CHECK_EQ_INT(trace_agent(none, PHI_TRACE_HTML, "a", words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "an argument is missing or out of range");
    CHECK_EQ_INT(phi_trace_write(&s.thread, PHI_TRACE_HTML, NULL, "/no/such/directory/a.html",
                                 words, sizeof words),
                 PHI_NOT_FOUND);
    CHECK_EQ_STR(words, "/no/such/directory/a.html: No such file or directory");
    scene_close(&s);
}

TEST(what_no_agent_writes_is_a_page_and_a_document) {
    scene s;
    traced t;
    phi_trace_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.with_content = true;
    odd_scene(&s, 100);
    REQUIRE(!s.failed);
    traced_make(&t, &s.thread, PHI_TRACE_HTML, &desc);
    traced_free(&t);
    traced_make(&t, &s.thread, PHI_TRACE_OTEL, &desc);
    CHECK_EQ_INT(spans_hold(&t), 4);
    traced_free(&t);
    scene_close(&s);
}

TEST(an_agent_is_saved_in_one_call_without_its_key) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc);
    char directory[300], path[320], words[200], *text;
    REQUIRE(test_temp_dir(directory, sizeof directory));
    (void)snprintf(path, sizeof path, "%s/trace.html", directory);
    rig_says(r, "The key is test-key-of-the-rig");
    CHECK_EQ_INT(phi_prompt(agent, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(trace_agent(agent, PHI_TRACE_HTML, path, words, sizeof words), PHI_OK);
    text = test_read_file(path, NULL);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "test-key") == NULL &&
          strstr(text, "The key is ********-of-the-rig") != NULL);
    CHECK(strncmp(text, "<!DOCTYPE html>", 15) == 0 && strstr(text, "</html>\n") != NULL);
    free(text);
    CHECK_EQ_INT(trace_agent(agent, PHI_TRACE_OTEL, path, words, sizeof words), PHI_OK);
    phi_agent_free(agent);
    CHECK_EQ_INT(trace_agent(agent, PHI_TRACE_HTML, path, words, sizeof words), PHI_STALE);
    CHECK_EQ_STR(words, "the handle's object is gone");
    rig_free(r);
}

TEST(an_agent_that_went_to_another_model_is_saved_without_the_key_of_that_one) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_failover_model to;
    phi_failover failover;
    phi_agent agent;
    char directory[300], path[320], words[200], *text;
    memset(&to, 0, sizeof to);
    memset(&failover, 0, sizeof failover);
    to.model = phi_model_anthropic("m2", "key-of-the-second");
    to.model.cost.output = 1000000;
    failover.models = &to;
    failover.model_count = 1;
    desc.failover = &failover;
    agent = rig_agent(r, &desc);
    REQUIRE(test_temp_dir(directory, sizeof directory));
    (void)snprintf(path, sizeof path, "%s/trace.html", directory);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    rig_says(r, "It is key-of-the-second");
    CHECK_EQ_INT(phi_prompt(agent, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(trace_agent(agent, PHI_TRACE_HTML, path, words, sizeof words), PHI_OK);
    text = test_read_file(path, NULL);
    REQUIRE(text != NULL);
    CHECK(strstr(text, "key-of-the-second") == NULL && strstr(text, "It is ****") != NULL);
    CHECK(strstr(text, "\"$\":") != NULL); /* and its cost is counted */
    free(text);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(calls_of_a_model_that_counts_them_anew_each_turn_are_spans_of_their_own),
          TEST_ENTRY(a_sub_agent_of_a_call_that_is_not_there_stands_below_the_run),
          TEST_ENTRY(sub_agents_of_sub_agents_at_any_depth_are_one_trace),
          TEST_ENTRY(sub_agents_in_a_circle_are_one_trace_too),
          TEST_ENTRY(a_thread_that_is_given_twice_is_written_once),
          TEST_ENTRY(runs_with_the_same_id_are_spans_of_their_own),
          TEST_ENTRY(times_and_counts_out_of_range_are_numbers_that_a_reader_takes),
          TEST_ENTRY(texts_in_spans_are_cut_where_those_of_the_page_are),
          TEST_ENTRY(instructions_and_answers_have_the_form_of_the_conventions),
          TEST_ENTRY(a_log_may_forget_at_any_slice_of_a_run_under_way),
          TEST_ENTRY(a_store_that_fails_ends_the_trace_with_its_status),
          TEST_ENTRY(bad_arguments_are_refused),
          TEST_ENTRY(what_no_agent_writes_is_a_page_and_a_document),
          TEST_ENTRY(an_agent_is_saved_in_one_call_without_its_key),
          TEST_ENTRY(an_agent_that_went_to_another_model_is_saved_without_the_key_of_that_one))
