/* test_conformance_hooks.c - lines C 12 and 13 of the specification's checklist: the order of hooks,
   and what they may say. docs/conformance.md says
   which test proves which line. */
#include "support/heard.h"

/* ---- C 12 ---- */

/* A tool that says half of its result, then all of it. */
static phi_flow work_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)phi_call_update(call, "half", 4);
    (void)phi_call_finish(call, "whole", 5, false);
    return PHI_DONE;
}

static phi_tool work_tool(void) {
    phi_tool tool = rig_echo();
    tool.name = "work";
    tool.start = work_start;
    return tool;
}

TEST(every_hook_is_called_in_the_strict_order) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = work_tool();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    desc.filters = &filter;
    desc.filter_count = 1;
    rig_hooks(r, &desc, 0x7fff); /* all but FILTER, which only filters are */
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "work", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "-> before_loop (0 messages)\n"
                               "AgentStart\n"
                               "-> filter \"go\"\n"
                               "-> steering\n"
                               "-> before_turn 0 (1 messages)\n"
                               "TurnStart 0\n"
                               "MessageStart user \"go\"\n"
                               "MessageEnd user \"go\"\n"
                               "-> transform_context (1 messages)\n"
                               "-> convert_to_llm (1 messages)\n"
                               "MessageStart assistant\n"
                               "ToolCallDelta \"{}\" of \"{}\"\n"
                               "MessageEnd assistant work({}) toolUse\n"
                               "-> before_tool c1 work({})\n"
                               "ToolExecutionStart c1 work({})\n"
                               "-> before_tool_update c1 work \"half\"\n"
                               "ToolExecutionUpdate c1 \"half\"\n"
                               "-> after_tool_update c1 work \"half\"\n"
                               "ToolExecutionEnd toolResult c1 \"whole\"\n"
                               "-> after_tool c1 work\n"
                               "MessageStart toolResult c1 \"whole\"\n"
                               "MessageEnd toolResult c1 \"whole\"\n"
                               "-> steering\n"
                               "TurnEnd assistant work({}) toolUse\n"
                               "-> after_turn (3 messages)\n"
                               "-> steering\n"
                               "-> before_turn 1 (3 messages)\n"
                               "TurnStart 1\n"
                               "-> transform_context (3 messages)\n"
                               "-> convert_to_llm (3 messages)\n"
                               "MessageStart assistant\n"
                               "TextDelta \"done\" of \"done\"\n"
                               "MessageEnd assistant \"done\" stop\n"
                               "TurnEnd assistant \"done\" stop\n"
                               "-> after_turn (4 messages)\n"
                               "-> steering\n"
                               "-> follow_up\n"
                               "AgentEnd ok, 4 messages\n"
                               "-> after_loop (4 messages)\n");
    rig_free(r);
}

TEST(a_denied_update_is_not_told_and_the_result_is_as_it_was) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = work_tool();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL_UPDATE | PHI_HOOK_AFTER_TOOL_UPDATE);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL_UPDATE, PHI_DENY, NULL);
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "work", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "ToolExecutionStart c1 work({})\n"
                               "-> before_tool_update c1 work \"half\"\n"
                               "ToolExecutionEnd toolResult c1 \"whole\"\n") != NULL);
    CHECK_EQ_INT(count_of(rig_story(r), "after_tool_update"), 0);
    rig_free(r);
}

TEST(before_turn_that_says_no_ends_the_run_before_the_turn_with_agent_end_and_after_loop) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_TURN | PHI_HOOK_AFTER_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_DENY, NULL);
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{\"x\":1}");
    rig_call(r, "c2", "echo", "{\"x\":2}");
    rig_says(r, "never");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> before_turn"), 3);
    CHECK_EQ_INT(count_of(rig_story(r), "MessageEnd assistant"), 2);
    CHECK_EQ_INT(count_of(rig_story(r), "TurnStart"), 2);
    CHECK_EQ_INT(count_of(rig_story(r), "TurnEnd"), 2);
    CHECK(strstr(rig_story(r), "-> after_turn (5 messages)\n"
                               "-> before_turn 2 (5 messages)\n"
                               "AgentEnd a hook said no, 5 messages\n"
                               "-> after_loop (5 messages)\n") != NULL);
    rig_free(r);
}

static phi_verdict note_usage(void *user_data, phi_hook *hook) {
    if (hook->point == PHI_HOOK_AFTER_TURN && hook->usage != NULL)
        phi_usage_add((phi_usage *)user_data, hook->usage);
    return PHI_ALLOW;
}

TEST(after_turn_follows_turn_end_with_a_growing_history_and_the_turn_s_usage) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_usage usage;
    memset(&usage, 0, sizeof usage);
    rig_hooks(r, &desc, PHI_HOOK_AFTER_TURN);
    rig_hook_with(r, note_usage, &usage);
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(
        count_of(rig_story(r), "TurnEnd assistant echo({}) toolUse\n-> after_turn (3 messages)\n"),
        1);
    CHECK_EQ_INT(
        count_of(rig_story(r), "TurnEnd assistant \"done\" stop\n-> after_turn (4 messages)\n"), 1);
    CHECK_EQ_INT(usage.input, 20); /* ten a turn */
    CHECK_EQ_INT(usage.output, 10);
    rig_free(r);
}

TEST(a_denied_tool_has_neither_start_nor_end_and_the_model_reads_why) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    static const char *const calls[] = {"c1 echo {}", "c2 echo {}"};
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_DENY, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_DENY, "not on a Sunday");
    agent = agent_with(r, &desc, &tool);
    rig_calls(r, calls, 2);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "ToolExecutionStart"), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "ToolExecutionEnd"), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> after_tool"), 0);
    CHECK(strstr(rig_story(r), "MessageStart toolResult c1 error \"Tool execution skipped by "
                               "before_tool_execution hook.\"\n"
                               "MessageEnd toolResult c1 error \"Tool execution skipped by "
                               "before_tool_execution hook.\"\n") != NULL);
    CHECK(strstr(rig_story(r), "MessageStart toolResult c2 error \"not on a Sunday\"\n"
                               "MessageEnd toolResult c2 error \"not on a Sunday\"\n") != NULL);
    CHECK(strstr(rig_request(r, 1), "not on a Sunday") != NULL);
    rig_free(r);
}

TEST(before_tool_may_change_the_arguments) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_ALLOW, "{\"x\":2}");
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{\"x\":1}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "-> before_tool c1 echo({\"x\":1})\n"
                               "ToolExecutionStart c1 echo({\"x\":2})\n"
                               "ToolExecutionEnd toolResult c1 \"{\"x\":2}\"\n"
                               "-> after_tool c1 echo\n"
                               "MessageStart toolResult c1 \"{\"x\":2}\"\n") != NULL);
    rig_free(r);
}

TEST(a_permission_dialog_is_a_hook_that_waits) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 300), 1);
    CHECK(strstr(rig_story(r), "-> before_tool c1 echo({})\n"
                               "Decision before_tool c1 echo\n") != NULL);
    rig_forget(r);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(begins(rig_story(r), "ToolExecutionStart c1 echo({})\n"
                               "ToolExecutionEnd toolResult c1 \"{}\"\n"));
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, NULL), PHI_STALE);
    rig_free(r);
}

/* ---- C 13 ---- */

#define TOO_LONG                                                                                   \
    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"               \
    "\"prompt is too long: 300000 tokens > 200000 maximum\"}}"

/* An agent with a history that something can be taken out of. */
static phi_agent chatty(rig *r, phi_agent_desc *desc) {
    phi_agent agent = rig_agent(r, desc);
    char text[4001];
    int i;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (i = 0; i < 6; i++) {
        phi_content block;
        phi_message message;
        memset(&block, 0, sizeof block);
        memset(&message, 0, sizeof message);
        block.kind = PHI_CONTENT_TEXT;
        block.text = phi_str_of(text);
        message.role = i % 2 == 0 ? PHI_ROLE_USER : PHI_ROLE_ASSISTANT;
        message.stop_reason = i % 2 == 0 ? PHI_STOP_REASON_NONE : PHI_STOP_REASON_STOP;
        message.content = &block;
        message.content_count = 1;
        CHECK_EQ_INT(phi_append_message(agent, &message), PHI_OK);
    }
    return agent;
}

TEST(a_denied_compaction_is_not_begun_and_has_no_events) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_AFTER_COMPACTION);
    rig_answers(r, PHI_HOOK_BEFORE_COMPACTION, PHI_DENY, NULL);
    agent = chatty(r, &desc);
    rig_replies(r, 400, "Content-Type: application/json\r\n", TOO_LONG);
    rig_says(r, "never");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> before_compaction "), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "Compaction"), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> after_compaction"), 0);
    CHECK(strstr(rig_story(r), "Error overflow ") != NULL);
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

typedef struct numbers {
    phi_compaction before, after, start, end;
    uint64_t estimate;
    phi_str text;
} numbers;

static phi_verdict note_compaction(void *user_data, phi_hook *hook) {
    numbers *n = (numbers *)user_data;
    if (hook->point == PHI_HOOK_BEFORE_COMPACTION) n->before = *hook->compaction;
    if (hook->point == PHI_HOOK_AFTER_COMPACTION) n->after = *hook->compaction;
    return PHI_ALLOW;
}

static void watch_compaction(void *user_data, const phi_event *e) {
    numbers *n = (numbers *)user_data;
    if (e->kind == PHI_EV_COMPACTION_START) n->start = *e->compaction;
    if (e->kind == PHI_EV_COMPACTION_END) n->end = *e->compaction;
}

TEST(the_hooks_of_a_compaction_stand_around_its_events_and_know_the_same_numbers) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    numbers n;
    const char *at;
    memset(&n, 0, sizeof n);
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_AFTER_COMPACTION);
    rig_hook_with(r, note_compaction, &n);
    rig_watch(r, watch_compaction, &n);
    agent = chatty(r, &desc);
    rig_replies(r, 400, "Content-Type: application/json\r\n", TOO_LONG);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages\n") != NULL);
    at = strstr(rig_story(r), "MessageEnd user \"go\"\n-> before_compaction ");
    at = at != NULL ? strstr(at, "\nCompactionStarted ") : NULL;
    at = at != NULL ? strstr(at, "\nCompactionEnded ") : NULL;
    at = at != NULL ? strstr(at, "\n-> after_compaction ") : NULL;
    at = at != NULL ? strstr(at, "\nMessageStart assistant\n") : NULL;
    CHECK(at != NULL);
    CHECK_EQ_INT(n.before.message_count, 7);
    CHECK(n.before.estimated_tokens > 6000 && n.before.estimated_tokens < 6200);
    CHECK_EQ_INT(n.start.message_count, n.before.message_count);
    CHECK_EQ_INT(n.start.estimated_tokens, n.before.estimated_tokens);
    CHECK_EQ_INT(n.after.messages_before, 7);
    CHECK(n.after.messages_after < 7);
    CHECK_EQ_INT(n.after.tokens_before, n.before.estimated_tokens);
    CHECK(n.after.tokens_after < n.after.tokens_before);
    CHECK_EQ_INT(n.after.loops_compacted, 1);
    CHECK_EQ_INT(n.end.messages_before, n.after.messages_before);
    CHECK_EQ_INT(n.end.messages_after, n.after.messages_after);
    CHECK_EQ_INT(n.end.tokens_before, n.after.tokens_before);
    CHECK_EQ_INT(n.end.tokens_after, n.after.tokens_after);
    CHECK(strlen(rig_request(r, 1)) < strlen(rig_request(r, 0)));
    CHECK_EQ_INT(phi_message_count(agent), 8); /* the history is whole */
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(every_hook_is_called_in_the_strict_order),
    TEST_ENTRY(a_denied_update_is_not_told_and_the_result_is_as_it_was),
    TEST_ENTRY(before_turn_that_says_no_ends_the_run_before_the_turn_with_agent_end_and_after_loop),
    TEST_ENTRY(after_turn_follows_turn_end_with_a_growing_history_and_the_turn_s_usage),
    TEST_ENTRY(a_denied_tool_has_neither_start_nor_end_and_the_model_reads_why),
    TEST_ENTRY(before_tool_may_change_the_arguments),
    TEST_ENTRY(a_permission_dialog_is_a_hook_that_waits),
    TEST_ENTRY(a_denied_compaction_is_not_begun_and_has_no_events),
    TEST_ENTRY(the_hooks_of_a_compaction_stand_around_its_events_and_know_the_same_numbers))
