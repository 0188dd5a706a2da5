/* test_strategy_tools.c - the tools of a strategy's calls: rounds are counted before they run, and a
   snapshot between them runs none again. */
#include "support/tool_state.h"
#include "think.h"

#include "agent/snapshot.h"
#include "features/effects.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "persist/store.h"

typedef struct bench {
    size_t started, resumed;
} bench;

static phi_flow finish(phi_call call) {
    phi_content content;
    phi_tool_result result;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("ok");
    result.content = &content;
    result.content_count = 1;
    result.effects = "[{\"op\":\"merge\",\"value\":{\"used\":true}}]";
    (void)phi_call_result(call, &result); /* without memory: an error result */
    return PHI_DONE;
}

static phi_flow bench_start(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    ((bench *)user_data)->started++;
    return finish(call);
}

static phi_flow bench_resume(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    ((bench *)user_data)->resumed++;
    return finish(call);
}

static phi_tool bench_tool(bench *b) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "count";
    tool.start = bench_start;
    tool.resume = bench_resume;
    tool.user_data = b;
    tool.may_repeat = true;
    return tool;
}

/* ---- rounds ---- */

TEST(so_many_rounds_run_as_are_allowed_and_the_next_is_refused_before_it_runs) {
    think t;
    phi_agent agent;
    bench b = {0, 0};
    phi_tool tool = bench_tool(&b);
    phi_tot_options options = *think_tot();
    const phi_thread *thread;
    char lane[200];
    int i;
    options.tools = true;
    options.max_tool_rounds = 2;
    think_begin(&t, rig_new(), phi_strategy_tot(), &options);
    t.agent_desc.tools = &tool;
    t.agent_desc.tool_count = 1;
    for (i = 0; i < 6; i++) rig_call(t.r, "c1", "count", "{}");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_INT(b.started, 2);
    CHECK_EQ_INT(rig_requests(t.r), 3);
    CHECK_EQ_STR(think_result(&t, agent, "diagnostics.error"), "max_tool_round_trips_reached");
    /* the log has why the third call has no result of the tool's */
    thread = phi_agent_thread(agent);
    (void)snprintf(lane, sizeof lane, "~tot/%s", t.h.loop_id);
    {
        phi_str text;
        CHECK_EQ_INT(phi_thread_to_json(thread, &t.arena, &text), PHI_OK);
        CHECK(phi__str_find(text, 0, "Not run: no round of tools is left.") != SIZE_MAX);
        CHECK(phi__str_find(text, 0, lane) != SIZE_MAX);
    }
    think_end(&t);
}

static void reacts(const char *last, const char *answer) {
    think t;
    phi_agent agent;
    bench b = {0, 0};
    phi_tool tool = bench_tool(&b);
    phi_adaptive_options options;
    memset(&options, 0, sizeof options);
    options.strategy = "react";
    options.max_tool_rounds = 1;
    think_begin(&t, rig_new(), phi_strategy_adaptive(), &options);
    t.agent_desc.tools = &tool;
    t.agent_desc.tool_count = 1;
    rig_call(t.r, "c1", "count", "{}");
    rig_replies(t.r, 200, NULL, last);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Search."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_INT(t.h.status, PHI_OK);
    CHECK_EQ_INT(b.started, 1);
    CHECK_EQ_INT(rig_requests(t.r), 2);
    CHECK_EQ_STR(think_answer(agent), answer);
    CHECK_EQ_STR(think_result(&t, agent, "result.termination.reason"), "max_tool_rounds");
    CHECK_EQ_STR(think_result(&t, agent, "result.termination.status"), "unfinished");
    CHECK_EQ_STR(think_result(&t, agent, "result.tool_rounds"), "1");
    think_end(&t);
}

#define BLOCK(n, start, delta)                                                                     \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":" n             \
    ",\"content_block\":" start "}\n\n"                                                            \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":" n             \
    ",\"delta\":" delta "}\n\n"                                                                    \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":" n "}\n\n"
#define BEGIN                                                                                      \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\","           \
    "\"role\":\"assistant\",\"content\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}"   \
    "\n\n"
#define TEXT                                                                                       \
    BLOCK("0", "{\"type\":\"text\",\"text\":\"\"}",                                                \
          "{\"type\":\"text_delta\",\"text\":\"Two rooms so far.\"}")
#define CALL(n)                                                                                    \
    BLOCK(n, "{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"count\",\"input\":{}}",              \
          "{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}")
#define END                                                                                        \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":"                           \
    "{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n"                          \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

TEST(react_completes_with_what_it_has) {
    reacts(BEGIN TEXT CALL("1") END, "Two rooms so far.");
    reacts(BEGIN CALL("0") END, "No answer within the allowed rounds of tools.");
}

/* The calls are used up before the rounds are, or the host settles: the text that there is. */
TEST(react_that_is_ended_from_outside_answers_with_its_text_too) {
    int settles;
    for (settles = 0; settles < 2; settles++) {
        think t;
        phi_agent agent;
        bench b = {0, 0};
        phi_tool tool = bench_tool(&b);
        phi_adaptive_options options;
        memset(&options, 0, sizeof options);
        options.strategy = "react";
        think_begin(&t, rig_new(), phi_strategy_adaptive(), &options);
        if (!settles) t.desc.max_calls = 2;
        t.agent_desc.tools = &tool;
        t.agent_desc.tool_count = 1;
        rig_replies(t.r, 200, NULL, BEGIN TEXT CALL("1") END);
        if (settles)
            rig_hangs(t.r, "");
        else
            rig_call(t.r, "c3", "count", "{}");
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, "Search."), PHI_OK);
        if (settles) {
            CHECK(rig_run(t.r, 40) > 0);
            CHECK_EQ_INT(phi_strategy_settle(agent), PHI_OK);
        }
        CHECK_EQ_INT(rig_run(t.r, 200), 0);
        CHECK_EQ_INT(t.h.status, PHI_OK);
        CHECK_EQ_INT(b.started, 1); /* the call that no call could have read was not run */
        CHECK_EQ_STR(think_answer(agent), "Two rooms so far.");
        CHECK_EQ_STR(think_result(&t, agent, "result.termination.reason"),
                     settles ? "stopped" : "max_calls");
        CHECK_EQ_STR(think_result(&t, agent, "result.termination.status"), "unfinished");
        think_end(&t);
    }
}

/* ---- a snapshot at each step ---- */

/* Two rounds of tools, then the answer; ToT or react. */
static void script(rig *r, size_t from, bool tree) {
    if (from < 1) rig_call(r, "c1", "count", "{\"n\":1}");
    if (from < 2) rig_call(r, "c2", "count", "{\"n\":2}");
    if (from < 3) rig_says(r, tree ? "{\"thoughts\":[\"a\"]}" : "the end");
    if (from < 4 && tree) rig_says(r, "{\"scores\":{\"t1\":1.0}}");
}

typedef struct story {
    const phi_strategy *(*strategy)(void);
    const void *options;
    bool tree;
    const char *answer;
} story;

static void story_begin(think *t, const story *s, const phi_tool *tool) {
    think_begin(t, rig_new(), s->strategy(), s->options);
    t->agent_desc.budget.max_requests = 60;
    t->agent_desc.tools = tool;
    t->agent_desc.tool_count = 1;
    t->provider = phi_strategy_provider(&t->desc);
}

/* False: the run was over by then. */
static bool resume_after(const story *s, int steps) {
    think t, u;
    phi_agent agent, other;
    bench b = {0, 0}, c = {0, 0};
    phi_tool tool = bench_tool(&b), again = bench_tool(&c);
    phi_str text;
    size_t all = s->tree ? 4 : 3, done = 0, at = 0;
    story_begin(&t, s, &tool);
    script(t.r, 0, s->tree);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Search."), PHI_OK);
    if (rig_run(t.r, steps) == 0) {
        CHECK_EQ_STR(think_answer(agent), s->answer);
        CHECK_EQ_INT(b.started, 2);
        CHECK_EQ_INT(rig_requests(t.r), all);
        think_end(&t);
        return false;
    }
    CHECK_EQ_INT(phi_agent_snapshot(agent, &t.arena, &text), PHI_OK);
    /* a request whose answer is not in the log is made again */
    for (; (at = phi__str_find(text, at, "\"role\":\"assistant\"")) != SIZE_MAX; at++) done++;
    story_begin(&u, s, &again);
    script(u.r, done, s->tree);
    other = phi_agent_restore(rig_runtime(u.r), &u.agent_desc, text, PHI_RESTORE_RESUME);
    CHECK(other.rt != NULL);
    CHECK_EQ_INT(rig_run(u.r, 200), 0);
    CHECK_EQ_INT(rig_requests(u.r), all - done);
    CHECK_EQ_STR(think_answer(other), s->answer);
    CHECK_EQ_INT(b.started + c.started, 2);
    CHECK_EQ_INT(c.resumed, 0);
    CHECK_STR(tool_state(other), "{\"used\":true}");
    CHECK_EQ_INT(phi_agent_get_info(other).spending.reserved_tokens, 0);
    think_end(&u);
    think_end(&t);
    return true;
}

TEST(a_snapshot_inside_a_call_runs_no_tool_again) {
    static phi_tot_options tree;
    static phi_adaptive_options react;
    story stories[2];
    size_t i;
    int steps;
    tree = *think_tot();
    tree.tools = true;
    tree.max_depth = 1;
    tree.min_depth = 1;
    react.strategy = "react";
    memset(stories, 0, sizeof stories);
    stories[0].strategy = phi_strategy_tot;
    stories[0].options = &tree;
    stories[0].tree = true;
    stories[0].answer = "a";
    stories[1].strategy = phi_strategy_adaptive;
    stories[1].options = &react;
    stories[1].answer = "the end";
    for (i = 0; i < 2; i++) {
        for (steps = 0; resume_after(&stories[i], steps); steps++)
            if (!CHECK(steps < 60) || test_failures() > 0) {
                printf("story %u, after %d steps\n", (unsigned)i, steps);
                return;
            }
        CHECK(steps > 3);
    }
}

static phi_flow bench_wait(void *user_data, phi_call call, phi_str arguments) {
    (void)call;
    (void)arguments;
    ((bench *)user_data)->started++;
    return PHI_PENDING;
}

/* A snapshot while a call's tool waits, restored with each allocation failing once. */
TEST(a_tool_that_waits_inside_a_call_is_resumed_or_the_snapshot_refused) {
    phi_adaptive_options options;
    bench b = {0, 0}, c = {0, 0};
    phi_tool waits = bench_tool(&b), again = bench_tool(&c);
    story s;
    phi_agent agent;
    phi_str text;
    think t;
    int n;
    memset(&options, 0, sizeof options);
    memset(&s, 0, sizeof s);
    options.strategy = "react";
    s.strategy = phi_strategy_adaptive;
    s.options = &options;
    waits.start = bench_wait;
    story_begin(&t, &s, &waits);
    script(t.r, 0, false);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Search."), PHI_OK);
    CHECK(rig_run(t.r, 40) > 0);
    CHECK_EQ_INT(b.started, 1);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &t.arena, &text), PHI_OK);
    for (n = 0;; n++) {
        think u;
        phi_agent other;
        bool tripped;
        memset(&c, 0, sizeof c);
        story_begin(&u, &s, &again);
        script(u.r, 1, false);
        test_alloc_fail_at(n);
        other = phi_agent_restore(rig_runtime(u.r), &u.agent_desc, text, PHI_RESTORE_RESUME);
        if (other.rt != NULL) CHECK_EQ_INT(rig_run(u.r, 200), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (other.rt != NULL && u.h.status == PHI_OK) {
            CHECK_EQ_STR(think_answer(other), "the end");
            CHECK(c.resumed <= 1); /* or its result is that memory ran out */
            CHECK(c.started <= 1);
            CHECK_EQ_STR(think_result(&u, other, "result.tool_rounds"), "2");
        }
        think_end(&u);
        if (!tripped) break;
        if (!CHECK(n < 3000) || test_failures() > 0) {
            printf("allocation %d\n", n);
            break;
        }
    }
    CHECK(n > 100);
    CHECK_EQ_INT(c.resumed, 1);
    think_end(&t);
}

TEST_MAIN(TEST_ENTRY(so_many_rounds_run_as_are_allowed_and_the_next_is_refused_before_it_runs),
          TEST_ENTRY(react_completes_with_what_it_has),
          TEST_ENTRY(react_that_is_ended_from_outside_answers_with_its_text_too),
          TEST_ENTRY(a_snapshot_inside_a_call_runs_no_tool_again),
          TEST_ENTRY(a_tool_that_waits_inside_a_call_is_resumed_or_the_snapshot_refused))
