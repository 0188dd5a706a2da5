/* test_requirements.c - requirements of the specification that no other test of an agent is about:
   what a desc sets and what it leaves to the defaults, prompts that return at once, the order of
   messages, deadlines of tools. */
#include "agent/messages.h"
#include "support/rig.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/compact.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "log/thread_in.h"

/* ---- what a desc sets ---- */

static phi_verdict allows(void *user_data, phi_hook *hook) {
    (void)user_data;
    (void)hook;
    return PHI_ALLOW;
}

static phi_agent_desc full_desc(rig *r, phi_tool *tools, phi_filter *filter) {
    phi_agent_desc desc = rig_desc();
    tools[0] = rig_echo();
    tools[1] = rig_wait(r);
    *filter = rig_filter(r);
    desc.system_prompt = "Be brief.";
    desc.tools = tools;
    desc.tool_count = 2;
    desc.tool_options.mode = PHI_TOOLS_BATCHED;
    desc.tool_options.batch = 3;
    desc.tool_options.timeout_ms = 7000;
    desc.thinking = PHI_THINKING_HIGH;
    desc.max_tokens = 1234;
    desc.options.has_temperature = true;
    desc.options.temperature = 0.25;
    desc.cache.mode = PHI_CACHE_MANUAL;
    desc.cache.tools = true;
    desc.compaction.max_context_tokens = 50000;
    desc.compaction.keep_recent_turns = 4;
    desc.limits.max_turns = 5;
    desc.limits.max_tokens = 6000;
    desc.limits.max_duration_ms = 7000;
    desc.limits.max_cost = 0.5;
    desc.retry.disable = false;
    desc.retry.max_retries = 1;
    desc.retry.initial_delay_ms = 20;
    desc.retry.backoff_multiplier = 3.0;
    desc.retry.max_delay_ms = 400;
    desc.ids.agent_id = "smith";
    desc.ids.session_id = "village";
    desc.ids.config_id = "mine";
    desc.workspace = "/tmp";
    desc.input.first_turn_trigger = PHI_TRIGGER_SUB_AGENT;
    desc.hook_fn = allows;
    desc.hook_points = PHI_HOOK_BEFORE_TURN;
    desc.input.filters = filter;
    desc.input.filter_count = 1;
    desc.input.steering_mode = desc.input.follow_up_mode = PHI_QUEUE_ALL;
    return desc;
}

static void same_settings(const phi_agent_desc *got) {
    CHECK_EQ_STR(got->system_prompt, "Be brief.");
    CHECK_EQ_INT(got->tool_count, 2);
    CHECK_EQ_STR(got->tools[1].name, "wait");
    CHECK_EQ_INT(got->tool_options.mode, PHI_TOOLS_BATCHED);
    CHECK_EQ_INT(got->tool_options.batch, 3);
    CHECK_EQ_INT(got->tool_options.timeout_ms, 7000);
    CHECK_EQ_INT(got->thinking, PHI_THINKING_HIGH);
    CHECK_EQ_INT(got->max_tokens, 1234);
    CHECK(got->options.has_temperature && got->options.temperature == 0.25);
    CHECK_EQ_INT(got->cache.mode, PHI_CACHE_MANUAL);
    CHECK(got->cache.tools && !got->cache.system && !got->cache.messages);
    CHECK_EQ_INT(got->compaction.max_context_tokens, 50000);
    CHECK_EQ_INT(got->compaction.keep_recent_turns, 4);
    CHECK_EQ_INT(got->limits.max_turns, 5);
    CHECK_EQ_INT(got->limits.max_tokens, 6000);
    CHECK_EQ_INT(got->limits.max_duration_ms, 7000);
    CHECK(got->limits.max_cost == 0.5);
}

static void same_rest(const phi_agent_desc *got) {
    CHECK(!got->retry.disable);
    CHECK_EQ_INT(got->retry.max_retries, 1);
    CHECK_EQ_INT(got->retry.initial_delay_ms, 20);
    CHECK(got->retry.backoff_multiplier == 3.0);
    CHECK_EQ_INT(got->retry.max_delay_ms, 400);
    CHECK_EQ_STR(got->ids.agent_id, "smith");
    CHECK_EQ_STR(got->ids.session_id, "village");
    CHECK_EQ_STR(got->ids.config_id, "mine");
    CHECK_EQ_STR(got->workspace, "/tmp");
    CHECK_EQ_INT(got->input.first_turn_trigger, PHI_TRIGGER_SUB_AGENT);
    CHECK(got->hook_fn == allows && got->hook_points == PHI_HOOK_BEFORE_TURN);
    CHECK_EQ_INT(got->input.filter_count, 1);
    CHECK_EQ_INT(got->input.steering_mode, PHI_QUEUE_ALL);
    CHECK_EQ_INT(got->input.follow_up_mode, PHI_QUEUE_ALL);
    CHECK_EQ_STR(got->model.id, "test-model");
    CHECK_EQ_STR(got->model.protocol, PHI_PROTOCOL_ANTHROPIC);
}

TEST(every_setting_of_a_desc_reads_back_before_and_after_a_run) {
    rig *r = rig_new();
    phi_tool tools[2];
    phi_filter filter;
    phi_agent_desc desc = full_desc(r, tools, &filter), got;
    phi_agent agent = rig_agent(r, &desc);
    memset(&desc, 0xff, sizeof desc); /* it was copied */
    REQUIRE(CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK));
    same_settings(&got);
    same_rest(&got);
    rig_says(r, "Yes.");
    CHECK_EQ_INT(phi_prompt(agent, "Ready?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK));
    same_settings(&got);
    same_rest(&got);
    rig_free(r);
}

static bool is_due(const phi_compaction_config *config, uint64_t tokens) {
    phi_compaction_config c = phi__compact_config(config);
    return tokens > phi__compact_threshold(&c);
}

TEST(compaction_has_the_documented_defaults) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), got;
    phi_agent agent;
    memset(&desc.compaction, 0, sizeof desc.compaction);
    agent = rig_agent(r, &desc);
    REQUIRE(CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK));
    CHECK(!got.compaction.disable);
    CHECK_EQ_INT(got.compaction.max_context_tokens, 200000); /* the model's window */
    CHECK_EQ_INT(got.compaction.keep_first_turns, 2);
    CHECK_EQ_INT(got.compaction.keep_recent_turns, 10);
    CHECK_EQ_INT(got.compaction.tool_output_max_lines, 50);
    CHECK_EQ_INT(got.compaction.max_summary_tokens, 2000);
    CHECK(got.compaction.compact_at_pct == 0.9);
    CHECK(got.compaction.budget_threshold_pct == 0.05);
    CHECK_EQ_INT(got.compaction.scope, PHI_COMPACTION_RUNS);
    CHECK_EQ_INT(got.compaction.scope_runs, 3);
    CHECK(got.compaction.focus_message == NULL);
    /* Without an agent: .9 - 4,000 / 100,000 - x / 100,000 < .05 */
    CHECK(!is_due(NULL, 81000));
    CHECK(is_due(NULL, 81001));
    rig_free(r);
}

/* ---- prompts and messages ---- */

TEST(a_prompt_returns_before_anything_is_sent) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_event event;
    rig_says(r, "Hello.");
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK(phi_agent_get_info(agent).running);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK(!phi_next_event(rig_runtime(r), &event));
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_free(r);
}

TEST(a_thousand_events_wait_for_the_host_and_come_out_in_order) {
    static char body[200000];
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_event event;
    size_t at, i, next = 0;
    desc.memory.event_queue_bytes = 1048576; /* a full queue stops the reading */
    agent = rig_agent(r, &desc);
    at = (size_t)snprintf(body, sizeof body,
                          "data: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"
                          "data: {\"type\":\"content_block_start\",\"index\":0,"
                          "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n");
    for (i = 0; i < 1000; i++)
        at += (size_t)snprintf(body + at, sizeof body - at,
                               "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"
                               "\"type\":\"text_delta\",\"text\":\"%03u \"}}\n\n",
                               (unsigned)i);
    (void)snprintf(body + at, sizeof body - at,
                   "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
                   "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
                   "\"usage\":{\"output_tokens\":5}}\n\ndata: {\"type\":\"message_stop\"}\n\n");
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n", body);
    rig_chunk(r, 110); /* about one delta a step: none is joined with its neighbour */
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5000), 0); /* it ends, though nobody pops */
    while (phi_next_event(rig_runtime(r), &event)) {
        if (event.kind != PHI_EV_TEXT) continue;
        for (i = 0; i + 4 <= event.text.len; i += 4) {
            char number[5] = "";
            memcpy(number, event.text.at + i, 4); /* the text is not terminated */
            if (!CHECK_EQ_INT(atoi(number), next++)) break;
        }
    }
    CHECK_EQ_INT(next, 1000);
    rig_free(r);
}

TEST(the_order_of_messages_is_theirs_in_the_log_and_not_that_of_their_times) {
    static const char *const words[] = {"first", "second", "third"};
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    const char *seen;
    size_t i;
    for (i = 0; i < 3; i++) {
        phi_content content = text_block(words[i]);
        phi_message message = message_of(PHI_ROLE_USER, &content);
        message.timestamp_ms = i == 1 ? 5000 : 9000 - (int64_t)i; /* one is the same as none */
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
    }
    rig_says(r, "Yes.");
    CHECK_EQ_INT(phi_prompt(agent, "last"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    seen = rig_request(r, 0);
    REQUIRE(seen != NULL);
    for (i = 0; i < 3; i++)
        if (CHECK((seen = strstr(seen, words[i])) != NULL)) seen++;
    CHECK(seen != NULL && strstr(seen, "last") != NULL);
    rig_free(r);
}

TEST(steering_from_before_the_prompt_is_in_the_first_request) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    const char *seen;
    rig_says(r, "Yes.");
    CHECK_EQ_INT(phi_steer(agent, "mind the dog"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go in"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(rig_requests(r), 1);
    seen = rig_request(r, 0);
    CHECK(seen != NULL && (seen = strstr(seen, "go in")) != NULL &&
          strstr(seen, "mind the dog") != NULL);
    CHECK(strstr(rig_story(r), "TurnStart 0\nMessageStart user \"go in\"\n"
                               "MessageEnd user \"go in\"\n"
                               "MessageStart user \"mind the dog\"\n") != NULL);
    rig_free(r);
}

/* ---- attempts ---- */

static int requests_of(uint32_t max_retries, int failures) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    int i, n;
    desc.retry.disable = false;
    desc.retry.max_retries = max_retries;
    agent = rig_agent(r, &desc);
    for (i = 0; i < failures; i++)
        rig_replies(r, 429, "Content-Type: application/json\r\n",
                    "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\","
                    "\"message\":\"slow down\"}}");
    rig_says(r, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Where?"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 600000), 0);
    n = (int)rig_requests(r);
    CHECK_EQ_INT(strstr(rig_story(r), "Here.") != NULL, (uint32_t)failures <= max_retries);
    rig_free(r);
    return n;
}

TEST(two_failures_make_three_requests_whether_the_third_succeeds_or_not) {
    CHECK_EQ_INT(requests_of(3, 2), 3);
    CHECK_EQ_INT(requests_of(2, 2), 3);
    CHECK_EQ_INT(requests_of(2, 9), 3);
    CHECK_EQ_INT(requests_of(0, 0), 1);
}

/* ---- deadlines of tools ---- */

/* How long one call of "wait" may take, in phi_call_info's words, and after how many ms it is cut
   off (0: not within an hour). */
static uint32_t timeout_of(uint32_t of_tool, uint32_t of_agent, uint32_t *cut_ms) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    uint32_t effective, ms;
    tool.timeout_ms = of_tool;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.tool_options.timeout_ms = of_agent;
    desc.limits.max_duration_ms = PHI_UNLIMITED;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    while (rig_started(r) == 0) (void)rig_step(r), rig_pass_ms(r, 1);
    effective = phi_call_get_info(rig_call_at(r, 0)).timeout_ms;
    for (ms = 0; ms < 3600000 && rig_cancelled(r) == 0; ms += ms < 200 ? 1 : 1000) {
        rig_pass_ms(r, ms < 200 ? 1 : 1000);
        (void)rig_step(r);
    }
    *cut_ms = rig_cancelled(r) > 0 ? ms : 0;
    if (*cut_ms == 0) rig_finish(r, 0, "at last");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(strstr(rig_story(r), "Tool exceeded timeout of ") != NULL, *cut_ms > 0);
    CHECK(strstr(rig_story(r), "MessageEnd assistant \"done\"") != NULL);
    CHECK_EQ_INT(phi_call_get_info(rig_call_at(r, 0)).timeout_ms, 0); /* it is over */
    rig_free(r);
    return effective;
}

TEST(a_tools_own_deadline_counts_then_the_agents_and_unlimited_is_none) {
    uint32_t cut;
    CHECK_EQ_INT(timeout_of(50, 5000, &cut), 50);
    CHECK(cut >= 48 && cut <= 52);
    CHECK_EQ_INT(timeout_of(0, 5000, &cut), 5000);
    CHECK(cut >= 4000 && cut <= 6200);
    CHECK_EQ_INT(timeout_of(0, 0, &cut), 120000);
    CHECK(cut >= 119000 && cut <= 121200);
    CHECK_EQ_INT(timeout_of(0, PHI_UNLIMITED, &cut), PHI_UNLIMITED);
    CHECK_EQ_INT(cut, 0);
}

TEST_MAIN(TEST_ENTRY(every_setting_of_a_desc_reads_back_before_and_after_a_run),
          TEST_ENTRY(compaction_has_the_documented_defaults),
          TEST_ENTRY(a_prompt_returns_before_anything_is_sent),
          TEST_ENTRY(a_thousand_events_wait_for_the_host_and_come_out_in_order),
          TEST_ENTRY(the_order_of_messages_is_theirs_in_the_log_and_not_that_of_their_times),
          TEST_ENTRY(steering_from_before_the_prompt_is_in_the_first_request),
          TEST_ENTRY(two_failures_make_three_requests_whether_the_third_succeeds_or_not),
          TEST_ENTRY(a_tools_own_deadline_counts_then_the_agents_and_unlimited_is_none))
