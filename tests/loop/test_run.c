/* test_run.c - the story of a run on the scripted transport: how it begins, goes on and ends, and
   what it tells. */
#include "loop/echo_x.h"
#include "support/ask.h"
#include "support/heard.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"

TEST(a_prompt_streams_an_answer_and_the_run_ends) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "Hello there");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Hi\"\n"
                               "MessageEnd user \"Hi\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Hello there\" of \"Hello there\"\n"
                               "MessageEnd assistant \"Hello there\" stop\n"
                               "TurnEnd assistant \"Hello there\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    rig_free(r);
}

TEST(the_same_story_comes_out_of_single_bytes) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_chunk(r, 1);
    rig_says(r, "Hello there");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5000), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Hi\"\n"
                               "MessageEnd user \"Hi\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Hello there\" of \"Hello there\"\n"
                               "MessageEnd assistant \"Hello there\" stop\n"
                               "TurnEnd assistant \"Hello there\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    rig_free(r);
}

TEST(a_tool_call_runs_and_its_result_goes_back) {
    rig *r = rig_new();
    phi_agent agent = echo_x_agent(r);
    rig_call(r, "toolu_1", "echo", "{\"x\":7}");
    rig_says(r, "Seven.");
    CHECK_EQ_INT(phi_prompt(agent, "Say 7"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Say 7\"\n"
                               "MessageEnd user \"Say 7\"\n"
                               "MessageStart assistant\n"
                               "ToolCallDelta \"{\"x\":7}\" of \"{\"x\":7}\"\n"
                               "MessageEnd assistant echo({\"x\":7}) toolUse\n"
                               "ToolExecutionStart toolu_1 echo({\"x\":7})\n"
                               "ToolExecutionEnd toolResult toolu_1 \"{\"x\":7}\"\n"
                               "MessageStart toolResult toolu_1 \"{\"x\":7}\"\n"
                               "MessageEnd toolResult toolu_1 \"{\"x\":7}\"\n"
                               "TurnEnd assistant echo({\"x\":7}) toolUse\n"
                               "TurnStart 1\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Seven.\" of \"Seven.\"\n"
                               "MessageEnd assistant \"Seven.\" stop\n"
                               "TurnEnd assistant \"Seven.\" stop\n"
                               "AgentEnd ok, 4 messages\n");
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK(strstr(rig_request(r, 1), "\"tool_result\"") != NULL);
    CHECK(strstr(rig_request(r, 1), "Say 7") != NULL);
    rig_free(r);
}

TEST(the_second_prompt_sends_the_whole_history) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "first answer");
    rig_says(r, "second answer");
    CHECK_EQ_INT(phi_prompt(agent, "first question"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(phi_prompt(agent, "second question"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(rig_requests(r) == 2);
    CHECK(strstr(rig_request(r, 1), "first question") != NULL);
    CHECK(strstr(rig_request(r, 1), "first answer") != NULL);
    CHECK(strstr(rig_request(r, 1), "second question") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    rig_free(r);
}

TEST(a_host_that_paused_longer_than_a_deadline_still_gets_what_has_arrived) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "still here");
    rig_chunk(r, strlen(rig_stream_of("still here")) / 3 + 1);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 2), 1); /* two thirds, decoded */
    rig_pass_ms(r, 500000);         /* a level loads */
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "Error") == NULL);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "still here");
    rig_free(r);
}

TEST(a_runtime_is_freed_in_the_midst_of_everything) {
    rig *r = rig_new();
    int i;
    for (i = 0; i < 20; i++) {
        phi_agent agent = echo_x_agent(r);
        rig_hangs(r, i % 2 == 0 ? "" : "data: {\"type\":\"message_start\",\"message\":{}}\n\n");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    }
    CHECK_EQ_INT(rig_run(r, 5), 20);
    rig_free(r);
}

TEST(closing_cancels_what_runs_and_then_says_ok) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    int i;
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_BUSY);
    for (i = 0; i < 10 && phi_runtime_close(rig_runtime(r)) == PHI_BUSY; i++) (void)rig_step(r);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_OK);
    CHECK(strstr(rig_story(r), "AgentEnd cancelled") != NULL);
    CHECK_EQ_INT(phi_prompt(agent, "more"), PHI_MISUSE);
    rig_free(r);
}

static void hear_turn_usage(void *user_data, const phi_event *e) {
    if (e->kind != PHI_EV_TURN_END) return;
    ++*(size_t *)user_data;
    if (CHECK(e->usage != NULL && e->message != NULL))
        CHECK(e->usage->output > 0 && e->usage->output == e->message->usage.output);
}

TEST(the_end_of_a_turn_tells_its_usage) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    size_t told = 0;
    rig_watch(r, hear_turn_usage, &told);
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(told, 1);
    rig_free(r);
}

TEST(a_run_goes_from_before_loop_over_start_filters_and_turns_to_end_and_after_loop) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_LOOP);
    agent = rig_agent(r, &desc);
    rig_says(r, "Hello");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "-> before_loop (0 messages)\n"
                               "AgentStart\n"
                               "-> filter \"Hi\"\n"
                               "-> before_turn 0 (1 messages)\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Hi\"\n"
                               "MessageEnd user \"Hi\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Hello\" of \"Hello\"\n"
                               "MessageEnd assistant \"Hello\" stop\n"
                               "TurnEnd assistant \"Hello\" stop\n"
                               "AgentEnd ok, 2 messages\n"
                               "-> after_loop (2 messages)\n");
    rig_free(r);
}

typedef struct loop_hooks {
    size_t before, after;
    phi_usage usage;
} loop_hooks;

static phi_verdict note_loop(void *user_data, phi_hook *hook) {
    loop_hooks *n = (loop_hooks *)user_data;
    if (hook->point == PHI_HOOK_BEFORE_LOOP) n->before = hook->message_count;
    if (hook->point == PHI_HOOK_AFTER_LOOP) {
        n->after = hook->message_count;
        if (hook->usage != NULL) n->usage = *hook->usage;
    }
    return PHI_ALLOW;
}

TEST(before_loop_sees_the_history_and_after_loop_the_new_messages_and_their_usage) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    loop_hooks n;
    memset(&n, 0, sizeof n);
    desc.tools = &tool;
    desc.tool_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP | PHI_HOOK_AFTER_LOOP);
    rig_hook_with(r, note_loop, &n);
    agent = rig_agent(r, &desc);
    rig_says(r, "first");
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "second");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(n.before, 0);
    CHECK_EQ_INT(n.after, 2);
    CHECK_EQ_INT(n.usage.input, 10);
    CHECK_EQ_INT(n.usage.output, 5);
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(n.before, 2);
    CHECK_EQ_INT(n.after, 4);
    CHECK_EQ_INT(n.usage.input, 20);
    CHECK_EQ_INT(n.usage.output, 10);
    rig_free(r);
}

TEST(before_loop_that_says_no_leaves_agent_end_as_the_only_event) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_DENY, NULL);
    agent = rig_agent(r, &desc);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "-> before_loop (0 messages)\n"
                               "AgentEnd a hook said no, 0 messages\n");
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_free(r);
}

TEST(a_run_goes_on_while_tools_are_called_then_with_follow_ups_and_then_ends) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_follow_up(agent, "and then?"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"go\"\n"
                               "MessageEnd user \"go\"\n"
                               "MessageStart assistant\n"
                               "ToolCallDelta \"{}\" of \"{}\"\n"
                               "MessageEnd assistant echo({}) toolUse\n"
                               "ToolExecutionStart c1 echo({})\n"
                               "ToolExecutionEnd toolResult c1 \"{}\"\n"
                               "MessageStart toolResult c1 \"{}\"\n"
                               "MessageEnd toolResult c1 \"{}\"\n"
                               "TurnEnd assistant echo({}) toolUse\n"
                               "TurnStart 1\n"
                               "MessageStart assistant\n"
                               "TextDelta \"one\" of \"one\"\n"
                               "MessageEnd assistant \"one\" stop\n"
                               "TurnEnd assistant \"one\" stop\n"
                               "TurnStart 2\n"
                               "MessageStart user \"and then?\"\n"
                               "MessageEnd user \"and then?\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"two\" of \"two\"\n"
                               "MessageEnd assistant \"two\" stop\n"
                               "TurnEnd assistant \"two\" stop\n"
                               "AgentEnd ok, 6 messages\n");
    rig_free(r);
}

#define CALL_THAT_STOPS_WITH(reason)                                                               \
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"                            \
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"             \
    "\"tool_use\",\"id\":\"c1\",\"name\":\"echo\",\"input\":{}}}\n\n"                              \
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"                     \
    "\"input_json_delta\",\"partial_json\":\"{\\\"x\\\":1}\"}}\n\n"                                \
    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"                                      \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason                       \
    "\"},\"usage\":{\"output_tokens\":5}}\n\n"                                                     \
    "data: {\"type\":\"message_stop\"}\n\n"

static void runs_its_call(const char *stream) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n", stream);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 4);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "{\"x\":1}");
    CHECK(!phi_thread_message_at(phi_agent_thread(agent), 2)->is_error);
    rig_free(r);
}

TEST(calls_are_run_whatever_the_stop_reason_says) {
    runs_its_call(CALL_THAT_STOPS_WITH("tool_use"));
    runs_its_call(CALL_THAT_STOPS_WITH("end_turn"));
    runs_its_call(CALL_THAT_STOPS_WITH("max_tokens"));
    runs_its_call(CALL_THAT_STOPS_WITH("stop_sequence"));
}

TEST(steering_that_comes_while_the_last_answer_streams_makes_another_turn) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_chunk(r, 300);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 2), 1);
    CHECK_EQ_INT(phi_steer(agent, "left"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r), "TurnEnd assistant \"one\" stop\n"
                               "TurnStart 1\n"
                               "MessageStart user \"left\"\n"
                               "MessageEnd user \"left\"\n"
                               "MessageStart assistant\n") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 4 messages\n") != NULL);
    rig_free(r);
}

TEST(a_failed_answer_is_kept_and_told_and_ends_the_run_without_a_look_at_follow_ups) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc,
              PHI_HOOK_ON_ERROR | PHI_HOOK_AFTER_TURN | PHI_HOOK_FOLLOW_UP | PHI_HOOK_AFTER_LOOP);
    agent = rig_agent(r, &desc);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"go\"\n"
                               "MessageEnd user \"go\"\n"
                               "MessageStart assistant\n"
                               "MessageEnd assistant \"\" error error \"API error: boom\"\n"
                               "Error server \"boom\" 500\n"
                               "-> on_error \"API error: boom\"\n"
                               "TurnEnd assistant \"\" error error \"API error: boom\"\n"
                               "-> after_turn (2 messages)\n"
                               "AgentEnd the other side refused, 2 messages\n"
                               "-> after_loop (2 messages)\n");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, 1);
    rig_free(r);
}

TEST(an_aborted_answer_is_kept_and_told_and_is_no_error) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char half[2000];
    const char *whole = rig_stream_of("partial");
    (void)snprintf(half, sizeof half, "%.*s",
                   (int)(strstr(whole, "event: content_block_stop") - whole), whole);
    rig_hooks(r, &desc,
              PHI_HOOK_ON_ERROR | PHI_HOOK_AFTER_TURN | PHI_HOOK_FOLLOW_UP | PHI_HOOK_AFTER_LOOP);
    agent = rig_agent(r, &desc);
    rig_hangs(r, half);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_forget(r);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "MessageEnd assistant \"partial\" aborted error \"Cancelled\"\n"
                               "TurnEnd assistant \"partial\" aborted error \"Cancelled\"\n"
                               "-> after_turn (2 messages)\n"
                               "AgentEnd cancelled, 2 messages\n"
                               "-> after_loop (2 messages)\n");
    CHECK_STR(last_of(agent)->content[0].text, "partial");
    CHECK_EQ_INT(last_of(agent)->stop_reason, PHI_STOP_REASON_ABORTED);
    CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, 1);
    rig_free(r);
}

static phi_verdict note_words(void *user_data, phi_hook *hook) {
    if (hook->point == PHI_HOOK_ON_ERROR) heard_copy((char *)user_data, 200, hook->text);
    return PHI_ALLOW;
}

TEST(on_error_is_always_told_in_words) {
    static const char *const bodies[] = {
        "", "{}", "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"\"}}"};
    size_t i;
    for (i = 0; i < 3; i++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        char words[200] = "";
        rig_hooks(r, &desc, PHI_HOOK_ON_ERROR);
        rig_hook_with(r, note_words, words);
        agent = rig_agent(r, &desc);
        rig_replies(r, 500, HEARD_JSON, bodies[i]);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK(strncmp(words, "API error: ", 11) == 0 && strlen(words) > 11);
        rig_free(r);
    }
}

TEST(a_call_that_never_began_leaves_one_empty_text_by_unknown_and_the_error_in_words) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    const phi_message *last;
    rig_breaks(r, "", PHI_NETWORK, "the cable is out");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 2);
    last = last_of(agent);
    CHECK_EQ_INT(last->role, PHI_ROLE_ASSISTANT);
    CHECK_EQ_INT(last->content_count, 1);
    CHECK_EQ_INT(last->content[0].kind, PHI_CONTENT_TEXT);
    CHECK_STR(last->content[0].text, "");
    CHECK_EQ_INT(last->stop_reason, PHI_STOP_REASON_ERROR);
    CHECK_STR(last->provider, "unknown");
    CHECK_STR(last->model, "test-model");
    CHECK_EQ_INT(last->usage.total_tokens, 0);
    CHECK_STR(last->error_message, "Network error: the cable is out");
    rig_free(r);
}

#define DELTA(text)                                                                                \
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","      \
    "\"text\":\"" text "\"}}\n\n"

TEST(an_answer_is_a_placeholder_then_updates_that_accumulate_then_the_whole) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_replies(r, 200, SSE,
                "data: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"
                "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
                "\"text\",\"text\":\"\"}}\n\n" DELTA("one") DELTA("two") DELTA("three") //
                "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
                "\"usage\":{\"output_tokens\":5}}\n\n"
                "data: {\"type\":\"message_stop\"}\n\n");
    ask(r, agent, "go");
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"go\"\n"
                               "MessageEnd user \"go\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"one\" of \"one\"\n"
                               "TextDelta \"two\" of \"onetwo\"\n"
                               "TextDelta \"three\" of \"onetwothree\"\n"
                               "MessageEnd assistant \"onetwothree\" stop\n"
                               "TurnEnd assistant \"onetwothree\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    rig_free(r);
}

/* A state is not a step: what needs no waiting is done in the one step. */
TEST(a_prompt_with_a_call_takes_few_steps) {
    rig *r = rig_new();
    phi_tool echo = rig_echo();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.tools = &echo;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 6), 0);
    rig_free(r);
}

static void hear_role(void *user_data, const phi_event *e) {
    if (e->kind == PHI_EV_MESSAGE_START && e->message->role == PHI_ROLE_ASSISTANT)
        ++*(size_t *)user_data;
}

TEST(the_start_of_an_answer_says_whose_it_is) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    size_t told = 0;
    rig_watch(r, hear_role, &told);
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(told, 1);
    rig_free(r);
}

TEST(an_agent_without_caching_marks_nothing_for_it) {
    size_t off;
    for (off = 0; off < 2; off++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        desc.system_prompt = "You mend swords.";
        if (off) desc.cache.mode = PHI_CACHE_DISABLED;
        rig_says(r, "hello");
        CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK((strstr(rig_request(r, 0), "\"cache_control\"") == NULL) == (off == 1));
        rig_free(r);
    }
}

static void hear_memory(void *user_data, const phi_event *e) {
    size_t *used = (size_t *)user_data;
    if (e->kind == PHI_EV_TURN_END && e->turn_index % 20 == 0)
        used[e->turn_index / 20] = phi_agent_get_info(e->agent).memory_used;
}

/* What a request was made of goes when its turn ends: its list is as long as the history. */
TEST(a_turn_costs_the_memory_of_what_it_says) {
    rig *r = rig_new();
    phi_tool echo = rig_echo();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    size_t used[4] = {0, 0, 0, 0}, i; /* after the first turn, and 20, 40 and 60 later */
    desc.tools = &echo;
    desc.tool_count = 1;
    desc.limits.max_turns = PHI_UNLIMITED;
    agent = rig_agent(r, &desc);
    rig_watch(r, hear_memory, used);
    for (i = 0; i < 60; i++) {
        char id[16], arguments[32];
        (void)snprintf(id, sizeof id, "c%u", (unsigned)i);
        (void)snprintf(arguments, sizeof arguments, "{\"n\":%u}", (unsigned)i);
        rig_call(r, id, "echo", arguments);
    }
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 400), 0);
    CHECK((used[2] - used[0]) / 40 < 4000); /* 2,600; three times that, were it kept */
    rig_free(r);
}

TEST(of_the_body_of_an_error_the_beginning_is_read) {
    enum { BODY = 400000, CHUNK = 2000 };
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    char *body = (char *)malloc(BODY + 1);
    REQUIRE(body != NULL);
    memset(body, 'x', BODY);
    body[BODY] = '\0';
    rig_replies(r, 500, "", body);
    rig_chunk(r, CHUNK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, BODY / CHUNK / 2), 0);
    CHECK(strstr(rig_story(r), "AgentEnd") != NULL);
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    free(body);
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(a_prompt_streams_an_answer_and_the_run_ends),
    TEST_ENTRY(the_same_story_comes_out_of_single_bytes),
    TEST_ENTRY(a_tool_call_runs_and_its_result_goes_back),
    TEST_ENTRY(the_second_prompt_sends_the_whole_history),
    TEST_ENTRY(a_host_that_paused_longer_than_a_deadline_still_gets_what_has_arrived),
    TEST_ENTRY(a_runtime_is_freed_in_the_midst_of_everything),
    TEST_ENTRY(closing_cancels_what_runs_and_then_says_ok),
    TEST_ENTRY(the_end_of_a_turn_tells_its_usage),
    TEST_ENTRY(a_run_goes_from_before_loop_over_start_filters_and_turns_to_end_and_after_loop),
    TEST_ENTRY(before_loop_sees_the_history_and_after_loop_the_new_messages_and_their_usage),
    TEST_ENTRY(before_loop_that_says_no_leaves_agent_end_as_the_only_event),
    TEST_ENTRY(a_run_goes_on_while_tools_are_called_then_with_follow_ups_and_then_ends),
    TEST_ENTRY(calls_are_run_whatever_the_stop_reason_says),
    TEST_ENTRY(steering_that_comes_while_the_last_answer_streams_makes_another_turn),
    TEST_ENTRY(a_failed_answer_is_kept_and_told_and_ends_the_run_without_a_look_at_follow_ups),
    TEST_ENTRY(an_aborted_answer_is_kept_and_told_and_is_no_error),
    TEST_ENTRY(on_error_is_always_told_in_words),
    TEST_ENTRY(a_call_that_never_began_leaves_one_empty_text_by_unknown_and_the_error_in_words),
    TEST_ENTRY(an_answer_is_a_placeholder_then_updates_that_accumulate_then_the_whole),
    TEST_ENTRY(a_prompt_with_a_call_takes_few_steps),
    TEST_ENTRY(the_start_of_an_answer_says_whose_it_is),
    TEST_ENTRY(an_agent_without_caching_marks_nothing_for_it),
    TEST_ENTRY(a_turn_costs_the_memory_of_what_it_says),
    TEST_ENTRY(of_the_body_of_an_error_the_beginning_is_read))
