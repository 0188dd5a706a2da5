/* test_corners.c - small stories of what random ones have found: things that happen in an order that
   nobody had thought of. */
#include "loop/loop_in.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

static phi_verdict say_changed(void *user_data, phi_hook *hook) {
    (void)user_data;
    hook->reply = PHI__LIT("{\"changed\":1}");
    return PHI_ALLOW;
}

TEST(events_show_changed_arguments_after_the_run_is_over) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tools[1];
    phi_agent agent;
    phi_event event;
    size_t seen = 0;
    tools[0] = rig_echo();
    desc.tools = tools;
    desc.tool_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    rig_hook_with(r, say_changed, NULL);
    agent = rig_agent(r, &desc);
    rig_silent(r, true);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    while (phi_next_event(rig_runtime(r), &event)) {
        if (event.kind != PHI_EV_TOOL_START && event.kind != PHI_EV_TOOL_END) continue;
        CHECK_STR(event.arguments, "{\"changed\":1}");
        seen++;
    }
    CHECK_EQ_INT(seen, 2);
    rig_free(r);
}

TEST(a_call_that_is_finished_while_it_is_asked_about_needs_no_decision_any_more) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tools[1];
    phi_pending_item item;
    phi_agent agent;
    tools[0] = rig_wait(r);
    desc.tools = tools;
    desc.tool_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    REQUIRE(phi_pending(rig_runtime(r), &item, 1) == 1);
    CHECK_EQ_INT(phi_call_reply(item.call, "never mind"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(phi_decide(item.ticket, PHI_ALLOW, NULL), PHI_STALE);
    CHECK_EQ_INT(rig_started(r), 0);
    CHECK(strstr(rig_story(r), "-> after_tool c1 wait\n") != NULL);
    CHECK(strstr(rig_story(r), "toolResult c1 \"never mind\"") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

TEST(calls_that_memory_left_without_a_result_have_one_before_the_next_message) {
    int n = 0;
    bool tripped, orphans = false;
    do {
        rig *r;
        phi_agent_desc desc = rig_desc();
        phi_content content;
        phi_message message;
        phi_tool tools[1];
        phi_agent agent;
        memset(&content, 0, sizeof content);
        memset(&message, 0, sizeof message);
        content.kind = PHI_CONTENT_TEXT;
        content.text = PHI__LIT("the host's own words");
        message.role = PHI_ROLE_USER;
        message.content = &content;
        message.content_count = 1;
        r = rig_new();
        tools[0] = rig_echo();
        desc.tools = tools;
        desc.tool_count = 1;
        agent = rig_agent(r, &desc);
        rig_call(r, "c1", "echo", "{}");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        test_alloc_fail_from(n++);
        (void)rig_run(r, 20);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (phi_thread_message_count(phi_agent_thread(agent)) == 2 &&
            phi_thread_message_at(phi_agent_thread(agent), 1)->role == PHI_ROLE_ASSISTANT &&
            phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason ==
                PHI_STOP_REASON_TOOL_USE) {
            orphans = true;
            CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
            REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 4);
            CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->tool_call_id, "c1");
            CHECK(phi_thread_message_at(phi_agent_thread(agent), 2)->is_error);
            CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text,
                      "Out of memory");
        }
        rig_free(r);
    } while (tripped);
    CHECK(orphans);
}

TEST(a_run_that_is_stopped_while_a_filter_waits_ends_at_once) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    rig_answers(r, PHI_HOOK_FILTER, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "may I?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_stop(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 0);
    CHECK(strstr(rig_story(r), "InputDropped prompt \"may I?\"") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd cancelled, 0 messages") != NULL);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_STALE);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    rig_free(r);
}

/* ---- budgets of a family ---- */

typedef struct family {
    rig *r;
    phi_agent child;
    phi_call call;
} family;

static phi_flow delegate(void *user_data, phi_call call, phi_str arguments) {
    family *f = (family *)user_data;
    (void)arguments;
    f->call = call;
    CHECK_EQ_INT(phi_prompt(f->child, "do it"), PHI_OK);
    return PHI_PENDING;
}

TEST(a_turn_that_waits_for_its_tools_reserves_nothing_any_more) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool;
    family f;
    phi_agent parent;
    memset(&tool, 0, sizeof tool);
    tool.name = "delegate";
    tool.start = delegate;
    tool.user_data = &f;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.max_tokens = 600;
    desc.budget.max_tokens = 1000;
    parent = rig_agent(r, &desc);
    desc = rig_desc();
    desc.max_tokens = 600;
    desc.parent = parent;
    f.r = r;
    f.child = rig_agent(r, &desc);
    rig_call(r, "c1", "delegate", "{}");
    rig_says(r, "the child's answer");
    rig_says(r, "the parent's answer");
    CHECK_EQ_INT(phi_prompt(parent, "go"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK(strstr(rig_story(r), "the child's answer") != NULL);
    CHECK_EQ_INT(phi_agent_get_info(parent).spending.reserved_tokens, 0);
    CHECK_EQ_INT(phi_agent_get_info(parent).spending.tokens, 30);
    CHECK_EQ_INT(phi_call_reply(f.call, "done"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_agent_get_info(parent).spending.tokens, 45);
    CHECK_EQ_INT(phi_agent_get_info(parent).spending.requests, 3);
    rig_free(r);
}

/* ---- a warning where there is nothing to warn of ---- */

static phi_verdict warn(void *user_data, phi_hook *hook) {
    static const phi_message *list[1];
    (void)user_data;
    list[0] = hook->messages[hook->message_count - 1];
    hook->messages = list;
    hook->message_count = 1;
    return PHI_WARN;
}

TEST(a_warning_of_a_hook_that_is_no_filter_is_a_yes) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_TRANSFORM_CONTEXT);
    agent = rig_agent(r, &desc);
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(agent, "first words"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    rig_hook_with(r, warn, NULL);
    rig_says(r, "hello again");
    CHECK_EQ_INT(phi_prompt(agent, "second words"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_request(r, 1), "second words") != NULL);
    CHECK(strstr(rig_request(r, 1), "first words") == NULL);
    rig_free(r);
}

static void ask_again(void *user_data, const phi_event *event) {
    int *left = (int *)user_data;
    if (event->kind != PHI_EV_AGENT_END || *left == 0) return;
    --*left;
    CHECK(!phi_agent_get_info(event->agent).running);
    CHECK_EQ_INT(phi_prompt(event->agent, "again"), PHI_OK);
}

/* A step without a budget does one state. */
TEST(whoever_pops_agent_end_may_prompt_at_once_however_short_the_step_was) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    int left = 3, i;
    rig_watch(r, ask_again, &left);
    rig_runtime(r)->slice.budget_us = 0;
    for (i = 0; i < 4; i++) rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "go"), PHI_OK);
    for (i = 0; i < 400; i++) (void)rig_run(r, 1);
    CHECK_EQ_INT(left, 0);
    CHECK_EQ_INT(rig_requests(r), 4);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(events_show_changed_arguments_after_the_run_is_over),
          TEST_ENTRY(a_call_that_is_finished_while_it_is_asked_about_needs_no_decision_any_more),
          TEST_ENTRY(calls_that_memory_left_without_a_result_have_one_before_the_next_message),
          TEST_ENTRY(a_run_that_is_stopped_while_a_filter_waits_ends_at_once),
          TEST_ENTRY(a_turn_that_waits_for_its_tools_reserves_nothing_any_more),
          TEST_ENTRY(a_warning_of_a_hook_that_is_no_filter_is_a_yes),
          TEST_ENTRY(whoever_pops_agent_end_may_prompt_at_once_however_short_the_step_was))
