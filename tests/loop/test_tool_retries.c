/* test_tool_retries.c - a tool's calls that fail are started again, as often and as late as the tool says. */
#include "agent/snapshot.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "base/arena.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "model/message.h"

typedef struct digger {
    size_t started, cancelled, fails; /* so many tries fail */
    bool hangs;                       /* they fail by their deadline */
    bool dirty;                       /* a try found what another had left */
    phi_call call;
} digger;

static phi_flow dig(void *user_data, phi_call call, phi_str arguments) {
    digger *d = (digger *)user_data;
    int *state = (int *)phi_call_state(call, sizeof *state);
    bool fails = d->started++ < d->fails;
    (void)arguments;
    d->call = call;
    if (state == NULL || *state != 0) d->dirty = true;
    if (state != NULL) *state = 1;
    if (fails && d->hangs) return PHI_PENDING;
    (void)(fails ? phi_call_fail(call, fails ? "stone" : "gold")
                 : phi_call_reply(call, fails ? "stone" : "gold"));
    return PHI_DONE;
}

static void stop(void *user_data, phi_call call) {
    (void)call;
    ((digger *)user_data)->cancelled++;
}

static phi_tool tool_of(digger *d, size_t fails) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    memset(d, 0, sizeof *d);
    d->fails = fails;
    tool.name = "dig";
    tool.start = dig;
    tool.cancel = stop;
    tool.user_data = d;
    tool.timeout_ms = 1000;
    tool.retries = 2;
    tool.retry_delay_ms = 200;
    return tool;
}

/* The run stands at the first delay. */
static phi_agent begin(rig *r, const phi_tool *tool, const digger *d) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.tools = tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "dig", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(d->started, 1);
    return agent;
}

static const phi_message *result_of(phi_agent agent) {
    const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), 2);
    CHECK(m != NULL && m->role == PHI_ROLE_TOOL_RESULT);
    return m;
}

TEST(a_call_that_fails_is_started_again_after_its_delay) {
    rig *r = rig_new();
    digger d;
    phi_tool tool = tool_of(&d, 2);
    phi_agent agent = begin(r, &tool, &d);
    CHECK(phi_call_get_info(d.call).pending);
    (void)rig_run_until(r, 150);
    CHECK_EQ_INT(d.started, 1);
    (void)rig_run_until(r, 100);
    CHECK_EQ_INT(d.started, 2);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_INT(d.started, 3);
    CHECK_EQ_INT(d.cancelled, 0);
    CHECK(!d.dirty);
    CHECK_STR(result_of(agent)->content[0].text, "gold");
    CHECK(!result_of(agent)->is_error);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)),
                 4); /* the model saw one result */
    CHECK(strstr(rig_story(r), "Warning \"Tool dig failed, attempt 1/3, again in 200 ms: stone\"\n"
                               "Warning \"Tool dig failed, attempt 2/3, again in 200 ms: stone\"\n"
                               "ToolExecutionEnd toolResult c1 \"gold\"\n") != NULL);
    rig_free(r);
}

TEST(after_the_last_try_the_model_sees_its_error) {
    rig *r = rig_new();
    digger d;
    phi_tool tool = tool_of(&d, 99);
    phi_agent agent = begin(r, &tool, &d);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_INT(d.started, 3);
    CHECK(result_of(agent)->is_error);
    CHECK_STR(result_of(agent)->content[0].text, "stone");
    rig_free(r);
}

TEST(a_deadline_is_a_failure_that_is_tried_again) {
    rig *r = rig_new();
    digger d;
    phi_tool tool = tool_of(&d, 1);
    phi_agent agent;
    d.hangs = true;
    agent = begin(r, &tool, &d);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_INT(d.started, 2);
    CHECK_EQ_INT(d.cancelled, 1);
    CHECK_STR(result_of(agent)->content[0].text, "gold");
    CHECK(strstr(rig_story(r), "again in 200 ms: Tool exceeded timeout of 1000ms") != NULL);
    rig_free(r);
}

TEST(an_abort_while_it_waits_starts_nothing_more) {
    rig *r = rig_new();
    digger d;
    phi_tool tool = tool_of(&d, 99);
    phi_agent agent = begin(r, &tool, &d);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_INT(d.started, 1);
    CHECK_EQ_INT(d.cancelled, 0); /* there was nothing that ran */
    CHECK_STR(result_of(agent)->content[0].text, "Cancelled");
    rig_free(r);
}

TEST(a_result_from_outside_ends_the_waiting) {
    rig *r = rig_new();
    digger d;
    phi_tool tool = tool_of(&d, 99);
    phi_agent agent = begin(r, &tool, &d);
    CHECK_EQ_INT(phi_call_reply(d.call, "found"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_INT(d.started, 1);
    CHECK_STR(result_of(agent)->content[0].text, "found");
    rig_free(r);
}

/* It stands behind more than a step reads, so that the delay is over before it is read. */
TEST(a_result_on_its_way_is_not_overtaken_by_another_try) {
    rig *r = rig_new();
    digger d;
    phi_tool tool = tool_of(&d, 99);
    phi_agent agent = begin(r, &tool, &d);
    int i;
    for (i = 0; i < 300; i++) CHECK_EQ_INT(phi_steer(agent, "more"), PHI_OK);
    CHECK_EQ_INT(phi_call_reply(d.call, "found"), PHI_OK);
    rig_pass_ms(r, 300);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(d.started, 1);
    (void)rig_run_until(r, 10000);
    CHECK_EQ_INT(d.started, 1);
    CHECK_STR(result_of(agent)->content[0].text, "found");
    rig_free(r);
}

TEST(an_agent_that_is_freed_while_a_call_waits_leaves_nothing) {
    rig *r = rig_new();
    digger d;
    phi_tool tool = tool_of(&d, 99);
    phi_agent agent = begin(r, &tool, &d);
    phi_agent_free(agent);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_INT(d.started, 1);
    CHECK_EQ_INT(d.cancelled, 0);
    rig_free(r);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST(a_snapshot_knows_how_many_tries_are_left) {
    rig *r = rig_new();
    digger d;
    phi_tool tool = tool_of(&d, 99);
    phi_agent_desc desc = rig_desc();
    phi_agent agent = begin(r, &tool, &d);
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    rig_free(r);
    r = rig_new();
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME);
    REQUIRE(agent.rt != NULL);
    rig_says(r, "done");
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_INT(d.started, 3);
    CHECK_STR(result_of(agent)->content[0].text, "stone");
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(arguments_that_do_not_fit_are_not_tried_again) {
    rig *r = rig_new();
    digger d;
    phi_tool tool = tool_of(&d, 0);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    tool.schema = "{\"type\":\"object\",\"required\":[\"where\"]}";
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "dig", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(d.started, 0);
    CHECK(result_of(agent)->is_error);
    rig_free(r);
}

static phi_verdict answer_with_an_error(void *user_data, phi_hook *hook) {
    (void)user_data;
    CHECK_EQ_INT(phi_call_fail(hook->call, "not here"), PHI_OK);
    return PHI_WAIT;
}

TEST(a_call_that_its_guard_answers_with_an_error_is_never_run) {
    rig *r = rig_new();
    digger d;
    phi_tool tool = tool_of(&d, 0);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.hook_fn = answer_with_an_error;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "dig", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 2000), 0);
    CHECK_EQ_INT(d.started, 0);
    CHECK_STR(result_of(agent)->content[0].text, "not here");
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_call_that_fails_is_started_again_after_its_delay),
          TEST_ENTRY(a_call_that_its_guard_answers_with_an_error_is_never_run),
          TEST_ENTRY(after_the_last_try_the_model_sees_its_error),
          TEST_ENTRY(a_deadline_is_a_failure_that_is_tried_again),
          TEST_ENTRY(an_abort_while_it_waits_starts_nothing_more),
          TEST_ENTRY(a_result_from_outside_ends_the_waiting),
          TEST_ENTRY(a_result_on_its_way_is_not_overtaken_by_another_try),
          TEST_ENTRY(an_agent_that_is_freed_while_a_call_waits_leaves_nothing),
          TEST_ENTRY(a_snapshot_knows_how_many_tries_are_left),
          TEST_ENTRY(arguments_that_do_not_fit_are_not_tried_again))
