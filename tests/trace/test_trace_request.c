/* test_trace_request.c - what the page says of a request: what a policy left out of it, and its bytes, where they were captured. */
#include "trace/trace_read.h"
#include "trace/trace_scene.h"

#include "log/thread_in.h"
#include "record/recorder.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "record/session_in.h"
#include "trace/trace_in.h"

/* ---- policies ---- */

TEST(a_policy_says_of_each_item_whether_it_was_sent) {
    scene s, helper;
    traced t;
    phi_trace_desc desc;
    phi_policy policy;
    phi_json_iter it;
    const phi_json *e, *row;
    uint64_t all = 0, sent = 0, left = 0;
    memset(&desc, 0, sizeof desc);
    memset(&policy, 0, sizeof policy);
    scene_story(&s, &helper);
    policy.max_input_tokens = 158; /* 28 are of the system prompt */
    policy.no_reserve = true;
    policy.keep_no_turns = true;
    desc.policy = &policy;
    traced_make(&t, &s.thread, PHI_TRACE_HTML, &desc);
    e = phi_json_at(traced_entries(&t, 0), 42); /* the answer of the last run */
    REQUIRE(phi_json_get(e, "g") != NULL);
    /* the summary is sent, groups have no room, and the last question is sent */
    it = phi_json_each(phi_json_get(e, "g"));
    while ((row = phi_json_next(&it)) != NULL) {
        uint64_t n = phi__json_get_uint(phi_json_at(row, 0), 0);
        uint64_t verdict = phi__json_get_uint(phi_json_at(row, 1), 99);
        all += n;
        if (verdict == PHI__VERDICT_SHOWN) sent += n;
        if (verdict == PHI__VERDICT_BUDGET) left += n;
    }
    CHECK(left > 0 && sent + left == all);
    CHECK_EQ_INT(all, 13);
    CHECK_EQ_INT(sent, phi__json_get_uint(phi_json_path(e, "x[2]"), 0));
    CHECK_EQ_INT(phi__json_get_uint(phi_json_path(e, "x[1]"), 0), 130);
    traced_free(&t);
    policy.summary_role = (phi_role)77;
    CHECK_EQ_INT(trace_text(&s.thread, PHI_TRACE_HTML, &desc, scene_room(&s), &t.text),
                 PHI_BAD_ARG);
    scene_close(&s);
    scene_close(&helper);
}

static const char letters_1000[] = "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"
                                   "defghijabcdefghijabcdefghijabcdefghij"
                                   "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"
                                   "defghijabcdefghijabcdefghijabcdefghij"
                                   "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"
                                   "defghijabcdefghijabcdefghijabcdefghij"
                                   "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"
                                   "defghijabcdefghijabcdefghijabcdefghij"
                                   "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"
                                   "defghijabcdefghijabcdefghijabcdefghij"
                                   "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"
                                   "defghijabcdefghijabcdefghijabcdefghij"
                                   "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"
                                   "defghijabcdefghijabcdefghijabcdefghij"
                                   "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"
                                   "defghijabcdefghijabcdefghijabcdefghij"
                                   "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"
                                   "defghijabcdefghijabcdefghijabcdefghij"
                                   "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc"
                                   "defghijabcdefghijabcdefghijabcdefghij";

/* A prompt of 2,500 tokens by the estimate, and two runs that have it. */
static void prompted_scene(scene *s) {
    static char prompt[10001];
    size_t i;
    for (i = 0; i < 10; i++) memcpy(prompt + 1000 * i, letters_1000, 1000);
    scene_open(s, "s");
    scene_run(s, NULL, prompt);
    scene_user(s, "first");
    scene_turn(s);
    scene_answer(s, NULL, "one", NULL, 0, 5);
    scene_turn_end(s);
    scene_run_end(s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
    scene_ask(s, "second", "two");
}

/* The nth request on the page. */
static const phi_json *request_of(const traced *t, size_t nth) {
    phi_json_iter it = phi_json_each(traced_entries(t, 0));
    const phi_json *e;
    while ((e = phi_json_next(&it)) != NULL)
        if (phi_json_get(e, "v") != NULL && nth-- == 0) return e;
    return NULL;
}

static size_t a_token_each_ten_bytes(void *user_data, phi_str text) {
    (void)user_data;
    return text.len / 10;
}

TEST(the_budget_of_a_request_is_what_the_system_prompt_and_the_tools_left_of_it) {
    scene s;
    traced t;
    phi_trace_desc desc;
    phi_policy policy =
        phi_policy_of(PHI_POLICY_SHORT_CONTEXT, NULL); /* 6,000 tokens, 2,000 of them reserved */
    size_t i;
    memset(&desc, 0, sizeof desc);
    prompted_scene(&s);
    REQUIRE(!s.failed);
    desc.policy = &policy;
    desc.tools_tokens = 1000;
    traced_make(&t, &s.thread, PHI_TRACE_HTML, &desc);
    for (i = 0; i < 2; i++) {
        CHECK_EQ_INT(phi__json_get_uint(phi_json_path(request_of(&t, i), "x[1]"), 0), 500);
        CHECK(phi__json_get_uint(phi_json_path(request_of(&t, i), "x[0]"), 999) < 30);
    }
    traced_free(&t);
    desc.token_counter.count_text = a_token_each_ten_bytes;
    traced_make(&t, &s.thread, PHI_TRACE_HTML, &desc);
    CHECK_EQ_INT(phi__json_get_uint(phi_json_path(request_of(&t, 1), "x[1]"), 0), 2000);
    traced_free(&t);
    scene_close(&s);
}

TEST(a_request_out_of_another_log_has_no_system_prompt_to_count) {
    scene s;
    traced t;
    phi_trace_desc desc;
    phi_policy policy = phi_policy_of(PHI_POLICY_SHORT_CONTEXT, NULL);
    memset(&desc, 0, sizeof desc);
    prompted_scene(&s);
    s.flags = PHI_ENTRY_GRAFTED;
    scene_ask(&s, "third", "three");
    desc.policy = &policy;
    traced_make(&t, &s.thread, PHI_TRACE_HTML, &desc);
    CHECK_EQ_INT(phi__json_get_uint(phi_json_path(request_of(&t, 1), "x[1]"), 0), 1500);
    CHECK_EQ_INT(phi__json_get_uint(phi_json_path(request_of(&t, 2), "x[1]"), 0), 4000);
    traced_free(&t);
    scene_close(&s);
}

/* The page of a file. */
static void traced_file(traced *t, const char *path) {
    char *text = test_read_file(path, NULL);
    memset(t, 0, sizeof *t);
    phi_memory_init(&t->memory, NULL, 0);
    phi_arena_init(&t->arena, &t->memory, 0);
    if (CHECK(text != NULL && phi__arena_str(&t->arena, phi_str_of(text), &t->text)))
        traced_parse(t);
    free(text);
}

TEST(the_page_of_an_agent_has_the_figures_of_its_projection) {
    int counted;
    for (counted = 0; counted < 2; counted++) {
        rig *r = rig_new();
        phi_tool tool = rig_echo();
        phi_policy policy = phi_policy_of(PHI_POLICY_SHORT_CONTEXT, NULL);
        phi_agent_desc desc = rig_desc();
        phi_projection_meta meta;
        phi_agent agent;
        traced t;
        char directory[300], path[320], words[200];
        const phi_json *x;
        desc.tools = &tool;
        desc.tool_count = 1;
        desc.system_prompt = letters_1000;
        desc.policy = &policy;
        if (counted > 0) desc.token_counter.count_text = a_token_each_ten_bytes;
        agent = rig_agent(r, &desc);
        rig_says(r, "The first answer, of some length.");
        CHECK_EQ_INT(phi_prompt(agent, "The first question, of some length."), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 100), 0);
        rig_says(r, "The second answer.");
        CHECK_EQ_INT(phi_prompt(agent, "The second question."), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 100), 0);
        meta = phi_agent_get_info(agent).projection;
        CHECK(meta.tools_tokens > 0 && meta.system_tokens == (counted > 0 ? 100 : 250));
        REQUIRE(test_temp_dir(directory, sizeof directory));
        (void)snprintf(path, sizeof path, "%s/trace.html", directory);
        CHECK_EQ_INT(trace_agent(agent, PHI_TRACE_HTML, path, words, sizeof words), PHI_OK);
        traced_file(&t, path);
        x = phi_json_get(request_of(&t, 1), "x");
        CHECK_EQ_INT(phi__json_get_uint(phi_json_at(x, 0), 0),
                     meta.estimated_tokens - meta.system_tokens - meta.tools_tokens);
        CHECK_EQ_INT(phi__json_get_uint(phi_json_at(x, 1), 0), meta.budget_tokens);
        CHECK_EQ_INT(phi__json_get_uint(phi_json_at(x, 2), 0), meta.messages_included);
        /* all of the view was sent */
        CHECK_EQ_INT(phi__json_get_uint(phi_json_get(request_of(&t, 1), "tokens"), 0),
                     phi__json_get_uint(phi_json_at(x, 0), 1));
        traced_free(&t);
        rig_free(r);
    }
}

/* ---- captured requests ---- */

static phi_recorder *recorder;

static void record(void *user_data, const phi_event *event) {
    (void)user_data;
    CHECK_EQ_INT(phi_recorder_add(recorder, event), PHI_OK);
}

static phi_agent capturing_agent(rig *r) {
    phi_agent_desc desc = rig_desc();
    desc.ids.session_id = "s";
    desc.options.capture_requests = true;
    return rig_agent(r, &desc);
}

TEST(captured_requests_of_a_session_are_on_the_page) {
    rig *r = rig_new();
    phi_agent agent = capturing_agent(r);
    phi_recorder_desc how;
    phi_trace_desc desc;
    phi_session *session;
    traced t;
    memset(&how, 0, sizeof how);
    memset(&desc, 0, sizeof desc);
    how.allocator = test_allocator();
    how.turn_requests = true;
    recorder = phi_recorder_new(&how);
    REQUIRE(recorder != NULL);
    rig_watch(r, record, NULL);
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(agent, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    (void)phi_recorder_flush(recorder, PHI_FLUSH_ALL);
    session = phi_recorder_drain(recorder);
    REQUIRE(session != NULL);
    desc.sessions = (const struct phi_session *const *)&session;
    desc.session_count = 1;
    traced_make(&t, phi_agent_thread(agent), PHI_TRACE_HTML, &desc);
    CHECK_EQ_INT(phi_json_count(phi_json_get(t.root, "requests")), 2);
    CHECK(phi__str_find(phi_json_str(phi_json_path(t.root, "requests[1].t"), ""), 0, "first") !=
          SIZE_MAX);
    traced_free(&t);
    phi_session_free(session);
    phi_recorder_free(recorder);
    rig_free(r);
}

static phi_status count_bytes(void *user_data, const char *bytes, size_t len) {
    *(size_t *)user_data += len;
    (void)bytes;
    return PHI_OK;
}

enum { TURNS = 200 };

TEST(each_captured_request_is_a_unit_of_its_own) {
    static phi_turn turns[TURNS];
    static char text[10001];
    phi_loop_record loop, *loops[1];
    phi_session session;
    const struct phi_session *sessions[1];
    scene s;
    traced t;
    phi_trace_desc desc;
    phi_trace_sink sink;
    phi_trace *trace;
    phi_status status;
    size_t i, bytes = 0, before, most = 0;
    memset(&loop, 0, sizeof loop);
    memset(&session, 0, sizeof session);
    memset(&desc, 0, sizeof desc);
    memset(text, 'x', sizeof text - 1);
    for (i = 0; i < TURNS; i++) {
        turns[i].turn_index = (uint32_t)i;
        if (i % 3 > 0) turns[i].request = phi__str(text, 10000);
    }
    loop.loop_id = phi_str_of("s.m.1");
    loop.turns = turns;
    loop.turn_count = TURNS;
    loops[0] = &loop;
    session.loops = loops;
    session.loop_count = 1;
    sessions[0] = &session;
    desc.sessions = sessions;
    desc.session_count = 1;
    desc.text_bytes = PHI_UNLIMITED;
    scene_open(&s, "s");
    scene_ask(&s, "first", "one");
    traced_make(&t, &s.thread, PHI_TRACE_HTML, &desc);
    CHECK_EQ_INT(phi_json_count(phi_json_get(t.root, "requests")), 1 + 133);
    sink.write = count_bytes;
    sink.user_data = &bytes;
    REQUIRE(phi_trace_begin(&s.thread, PHI_TRACE_HTML, &desc, &sink, &trace) == PHI_OK);
    do {
        before = bytes;
        status = phi_trace_advance(trace, 1);
        if (bytes - before > most) most = bytes - before;
    } while (status == PHI_BUSY);
    CHECK_EQ_INT(status, PHI_OK);
    CHECK_EQ_INT(bytes, t.text.len);
    CHECK(most < 65536); /* the page's own first part is the most */
    phi_trace_end(trace);
    traced_free(&t);
    scene_close(&s);
}

TEST_MAIN(TEST_ENTRY(a_policy_says_of_each_item_whether_it_was_sent),
          TEST_ENTRY(the_budget_of_a_request_is_what_the_system_prompt_and_the_tools_left_of_it),
          TEST_ENTRY(a_request_out_of_another_log_has_no_system_prompt_to_count),
          TEST_ENTRY(the_page_of_an_agent_has_the_figures_of_its_projection),
          TEST_ENTRY(captured_requests_of_a_session_are_on_the_page),
          TEST_ENTRY(each_captured_request_is_a_unit_of_its_own))
