/* test_conformance_agent.c - lines C 17 to 25 of the specification's checklist: an agent's defaults and
   surface, cost, sessions, profiles, the order of events, and what tools hand over. docs/conformance.md
   says which test proves which line. */
#include "support/heard.h"

static bool near_to(double got, double want) { return got > want - 1e-9 && got < want + 1e-9; }

static phi_agent_desc plain_desc(void) {
    phi_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.model = phi_model_anthropic("test-model", "test-key");
    return desc;
}

static phi_agent echo_agent(rig *r) {
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    desc.tools = &tool;
    desc.tool_count = 1;
    return rig_agent(r, &desc);
}

static void ask(rig *r, phi_agent agent, const char *text) {
    CHECK_EQ_INT(phi_prompt(agent, text), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
}

/* ---- C 17 ---- */

TEST(limits_are_50_turns_a_million_tokens_600_seconds_and_no_cost_by_default) {
    rig *r = rig_new();
    phi_agent_desc desc = plain_desc(), got;
    phi_agent agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_INT(got.limits.max_turns, 50);
    CHECK_EQ_INT(got.limits.max_tokens, 1000000);
    CHECK_EQ_INT(got.limits.max_duration_ms, 600000);
    CHECK(got.limits.max_cost <= 0.0);
    rig_free(r);
}

static phi_status ends_after_60_turns(bool unlimited, size_t turns) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_status status = PHI_BUSY;
    const char *at;
    size_t n = 0;
    int i;
    desc.tools = &tool;
    desc.tool_count = 1;
    if (unlimited) {
        desc.limits.max_turns = PHI_UNLIMITED;
        desc.limits.max_tokens = UINT64_MAX;
        desc.limits.max_duration_ms = PHI_UNLIMITED;
    }
    agent = rig_agent(r, &desc);
    for (i = 0; i < 59; i++) {
        char id[16], arguments[32];
        (void)snprintf(id, sizeof id, "c%d", i);
        (void)snprintf(arguments, sizeof arguments, "{\"n\":%d}", i);
        rig_call(r, id, "echo", arguments);
    }
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 500), 0);
    for (at = rig_story(r); (at = strstr(at, "TurnStart")) != NULL; at++) n++;
    CHECK_EQ_INT(n, turns);
    if (strstr(rig_story(r), "AgentEnd ok") != NULL) status = PHI_OK;
    if (strstr(rig_story(r), "\"[Agent stopped: Max turns reached (50/50)]\"") != NULL)
        status = PHI_LIMIT;
    rig_free(r);
    return status;
}

TEST(a_run_may_be_without_any_limit) {
    CHECK_EQ_INT(ends_after_60_turns(false, 50), PHI_LIMIT);
    CHECK_EQ_INT(ends_after_60_turns(true, 60), PHI_OK);
}

/* ---- C 18 ---- */

TEST(cost_is_tokens_by_rates_over_input_output_and_cache_and_reasoning_is_not_charged_again) {
    phi_cost rates;
    phi_usage usage;
    rates.input = 3.0;
    rates.output = 15.0;
    rates.cache_read = 0.5;
    rates.cache_write = 4.0;
    memset(&usage, 0, sizeof usage);
    usage.input = 1000000;
    CHECK(near_to(phi_cost_of(&rates, &usage), 3.0));
    usage.output = 100000;
    usage.reasoning = 90000;
    CHECK(near_to(phi_cost_of(&rates, &usage), 4.5));
    usage.cache_read = 2000000;
    usage.cache_write = 500000;
    CHECK(near_to(phi_cost_of(&rates, &usage), 7.5));
}

TEST(usages_are_summed_in_all_six_fields) {
    phi_usage sum, more;
    sum.input = 1, sum.output = 2, sum.reasoning = 3;
    sum.cache_read = 4, sum.cache_write = 5, sum.total_tokens = 6;
    more.input = 10, more.output = 20, more.reasoning = 30;
    more.cache_read = 40, more.cache_write = 50, more.total_tokens = 60;
    phi_usage_add(&sum, &more);
    CHECK_EQ_INT(sum.input, 11);
    CHECK_EQ_INT(sum.output, 22);
    CHECK_EQ_INT(sum.reasoning, 33);
    CHECK_EQ_INT(sum.cache_read, 44);
    CHECK_EQ_INT(sum.cache_write, 55);
    CHECK_EQ_INT(sum.total_tokens, 66);
}

#define SSE "Content-Type: text/event-stream\r\n"
#define CHAT_USAGE                                                                                 \
    "data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":10,"                          \
    "\"completion_tokens\":7,\"total_tokens\":17,\"completion_tokens_details\":"                   \
    "{\"reasoning_tokens\":4}}}\n\n"                                                               \
    "data: [DONE]\n\n"
#define CHAT_CALL                                                                                  \
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","             \
    "\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":"               \
    "{\"name\":\"echo\",\"arguments\":\"{}\"}}]}}]}\n\n"                                           \
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"                \
    "\"tool_calls\"}]}\n\n" CHAT_USAGE
#define CHAT_TEXT                                                                                  \
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","             \
    "\"content\":\"done\"}}]}\n\n"                                                                 \
    "data: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"                \
    "\"stop\"}]}\n\n" CHAT_USAGE

TEST(the_usage_of_a_run_is_the_sum_of_its_turns_reasoning_too_and_the_agent_s_that_of_its_runs) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    heard h;
    heard_begin(&h, r);
    desc.model = phi_model_openai("gpt-test", "key");
    desc.model.cost.input = 100000.0; /* dollars a million: ten tokens are a dollar */
    desc.model.cost.output = 0.0;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_replies(r, 200, SSE, CHAT_CALL);
    rig_replies(r, 200, SSE, CHAT_TEXT);
    rig_replies(r, 200, SSE, CHAT_TEXT);
    ask(r, agent, "go");
    CHECK_EQ_INT(h.usage.input, 20);
    CHECK_EQ_INT(h.usage.output, 14);
    CHECK_EQ_INT(h.usage.reasoning, 8);
    CHECK_EQ_INT(h.usage.total_tokens, 34);
    CHECK(near_to(phi_agent_run_cost(agent), 2.0));
    ask(r, agent, "again");
    CHECK_EQ_INT(h.usage.input, 10);
    CHECK_EQ_INT(phi_agent_run_usage(agent).reasoning, 4);
    CHECK_EQ_INT(phi_agent_usage(agent).input, 30);
    CHECK_EQ_INT(phi_agent_usage(agent).reasoning, 12);
    CHECK(near_to(phi_agent_run_cost(agent), 1.0));
    CHECK(near_to(phi_agent_cost(agent), 3.0));
    rig_free(r);
}

/* ---- C 19 ---- */

TEST(an_agent_s_defaults_are_no_thinking_parallel_tools_one_at_a_time_queues_and_three_retries) {
    rig *r = rig_new();
    phi_agent_desc desc = plain_desc(), got;
    phi_agent agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_INT(got.thinking, PHI_THINKING_OFF);
    CHECK_EQ_INT(got.tool_mode, PHI_TOOLS_PARALLEL);
    CHECK_EQ_INT(got.steering_mode, PHI_QUEUE_ONE_AT_A_TIME);
    CHECK_EQ_INT(got.follow_up_mode, PHI_QUEUE_ONE_AT_A_TIME);
    CHECK(!got.retry.disable);
    CHECK_EQ_INT(got.retry.max_retries, 3);
    CHECK_EQ_INT(got.retry.initial_delay_ms, 1000);
    CHECK(near_to(got.retry.backoff_multiplier, 2.0));
    CHECK_EQ_INT(got.retry.max_delay_ms, 30000);
    CHECK_EQ_INT(got.retry.max_server_delay_ms, 60000);
    CHECK_EQ_INT(got.first_turn_trigger, PHI_TRIGGER_USER);
    CHECK_EQ_INT(got.cache.mode, PHI_CACHE_AUTO);
    CHECK(!got.has_temperature);
    CHECK(got.system_prompt == NULL || got.system_prompt[0] == '\0');
    CHECK_EQ_STR(got.model.id, "test-model");
    rig_free(r);
}

TEST(a_prompt_while_the_agent_streams_is_an_error_that_changes_nothing) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_BUSY);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_BUSY);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r), NULL, NULL), PHI_BUSY);
    CHECK_EQ_STR(words_of(r), "Agent is already streaming. Use steer() or follow_up().");
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_BUSY);
    CHECK_EQ_INT(phi_send(agent, "3"), PHI_BUSY);
    CHECK_EQ_INT(phi_message_count(agent), 1);
    CHECK_EQ_INT(phi_steer(agent, "4"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "5"), PHI_OK);
    rig_free(r);
}

TEST(a_prompt_makes_two_messages_and_one_that_calls_a_tool_four) {
    rig *r = rig_new();
    phi_agent agent = echo_agent(r);
    rig_says(r, "Hello");
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    rig_call(r, "c2", "echo", "{}");
    rig_says(r, "tools survive a run");
    ask(r, agent, "Hi");
    CHECK_EQ_INT(phi_message_count(agent), 2);
    ask(r, agent, "go");
    CHECK_EQ_INT(phi_message_count(agent), 6);
    ask(r, agent, "go on");
    CHECK_EQ_INT(phi_message_count(agent), 10);
    CHECK(!phi_message_at(agent, 8)->is_error);
    CHECK(strstr(rig_request(r, 4), "\"Hi\"") != NULL); /* the model sees all that was said */
    rig_free(r);
}

TEST(a_reset_empties_messages_and_queues_and_the_agent_is_not_running) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "Hello");
    rig_says(r, "Hello again");
    ask(r, agent, "Hi");
    CHECK_EQ_INT(phi_steer(agent, "s"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "f"), PHI_OK);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    CHECK_EQ_INT(phi_message_count(agent), 0);
    CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_NONE), 0);
    CHECK(!phi_agent_running(agent));
    ask(r, agent, "Hi");
    CHECK_EQ_INT(phi_message_count(agent), 2);
    rig_free(r);
}

/* ---- C 20 ---- */

TEST(a_new_session_has_a_new_id_no_counters_no_last_loop_and_the_same_history) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    heard h;
    char want[160];
    bool rotated = true;
    heard_begin(&h, r);
    rig_says(r, "a");
    rig_says(r, "b");
    ask(r, agent, "1");
    CHECK_EQ_INT(phi_new_session(agent, false), PHI_OK);
    CHECK_EQ_INT(phi_agent_session_id(agent).len, 36);
    CHECK_STR(phi_agent_last_loop_id(agent), "");
    rig_pass_ms(r, 100000);
    CHECK_EQ_INT(phi_check_and_rotate(agent, 10, &rotated), PHI_OK);
    CHECK(!rotated); /* it has not been active in this session */
    CHECK_EQ_INT(phi_message_count(agent), 2);
    ask(r, agent, "2");
    (void)snprintf(want, sizeof want, "%.36s.anthropic.test-model.1",
                   phi_agent_session_id(agent).at);
    CHECK_EQ_STR(h.loop_id, want);
    CHECK_EQ_STR(h.parent_loop_id, "");
    CHECK(strstr(rig_request(r, 1), "\"1\"") != NULL);
    rig_free(r);
}

TEST(a_session_is_rotated_when_the_last_run_began_longer_ago_than_the_threshold) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    bool rotated = true;
    int i;
    CHECK_EQ_INT(phi_check_and_rotate(agent, 0, &rotated), PHI_OK);
    CHECK(!rotated); /* it never ran */
    rig_says(r, "a");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    for (i = 0; i < 20 && rig_step(r) > 0; i++) {}
    CHECK(!phi_agent_running(agent));
    rig_pass_ms(r, 1000);
    CHECK_EQ_INT(phi_check_and_rotate(agent, 1000, &rotated), PHI_OK);
    CHECK(!rotated); /* as long, not longer */
    CHECK_STR(phi_agent_session_id(agent), "session");
    rig_pass_ms(r, 1);
    CHECK_EQ_INT(phi_check_and_rotate(agent, 1000, &rotated), PHI_OK);
    CHECK(rotated);
    CHECK_EQ_INT(phi_agent_session_id(agent).len, 36);
    rig_pass_ms(r, 5000);
    CHECK_EQ_INT(phi_check_and_rotate(agent, 0, &rotated), PHI_OK);
    CHECK(!rotated); /* nothing was done in the new one */
    rig_free(r);
}

TEST(a_threshold_of_zero_rotates) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    bool rotated = false;
    rig_says(r, "a");
    ask(r, agent, "1"); /* the clock has moved */
    CHECK_EQ_INT(phi_check_and_rotate(agent, 0, &rotated), PHI_OK);
    CHECK(rotated);
    rig_free(r);
}

static bool is_rfc3339(const char *text) {
    static const char shape[] = "dddd-dd-ddTdd:dd:dd";
    size_t i;
    for (i = 0; shape[i] != '\0'; i++)
        if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i]) return false;
    if (text[i] == '.')
        for (i++; text[i] >= '0' && text[i] <= '9'; i++) {}
    return strcmp(text + i, "Z") == 0 || strcmp(text + i, "+00:00") == 0;
}

TEST(continuing_counts_initial_as_default_and_tags_reruns_and_branches_with_the_time) {
    static const phi_continuation asked[] = {PHI_CONTINUATION_INITIAL, PHI_CONTINUATION_DEFAULT,
                                             PHI_CONTINUATION_RERUN, PHI_CONTINUATION_BRANCH,
                                             PHI_CONTINUATION_COMPACTION};
    static const phi_continuation got[] = {PHI_CONTINUATION_DEFAULT, PHI_CONTINUATION_DEFAULT,
                                           PHI_CONTINUATION_RERUN, PHI_CONTINUATION_BRANCH,
                                           PHI_CONTINUATION_COMPACTION};
    size_t i;
    for (i = 0; i < 5; i++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL);
        heard h;
        heard_begin(&h, r);
        rig_replies(r, 500, "", "");
        rig_says(r, "fine");
        ask(r, agent, "go");
        CHECK_EQ_STR(h.tag, "");
        CHECK_EQ_INT(phi_continue(agent, asked[i]), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK_EQ_INT(h.continuation, got[i]);
        CHECK_EQ_STR(h.parent_loop_id, "session.anthropic.test-model.1");
        if (got[i] == PHI_CONTINUATION_RERUN || got[i] == PHI_CONTINUATION_BRANCH)
            CHECK(is_rfc3339(h.tag));
        else
            CHECK_EQ_STR(h.tag, "");
        rig_free(r);
    }
}

/* ---- C 21 ---- */

TEST(messages_are_saved_as_a_json_array_and_restored_equal_and_the_model_sees_them) {
    rig *r = rig_new();
    phi_agent agent = echo_agent(r), other = echo_agent(r);
    phi_memory memory;
    phi_arena arena;
    phi_str saved, again;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_call(r, "c1", "echo", "{\"x\":1}");
    rig_says(r, "done");
    rig_says(r, "more");
    ask(r, agent, "remember me");
    CHECK_EQ_INT(phi_save_messages(agent, &arena, &saved), PHI_OK);
    CHECK(saved.len > 2 && saved.at[0] == '[' && saved.at[saved.len - 1] == ']');
    CHECK_EQ_INT(phi_restore_messages(other, saved, NULL), PHI_OK);
    CHECK_EQ_INT(phi_message_count(other), 4);
    CHECK_EQ_INT(phi_save_messages(other, &arena, &again), PHI_OK);
    CHECK_STR(again, saved.at);
    ask(r, other, "what did I say?");
    CHECK_EQ_INT(phi_message_count(other), 6);
    CHECK(strstr(rig_request(r, 2), "remember me") != NULL);
    CHECK(strstr(rig_request(r, 2), "\"tool_result\"") != NULL);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(a_profile_fills_only_what_is_unset) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), got;
    phi_profile profile;
    phi_agent agent;
    heard h;
    memset(&profile, 0, sizeof profile);
    heard_begin(&h, r);
    profile.system_prompt = "You are the smith.";
    profile.thinking = PHI_THINKING_LOW;
    profile.max_tokens = 777;
    profile.has_temperature = true;
    profile.temperature = 0.25;
    profile.config_id = "smith";
    profile.workspace = "forge";
    desc.profile = &profile;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_STR(got.system_prompt, "You are the smith.");
    CHECK_EQ_INT(got.thinking, PHI_THINKING_LOW);
    CHECK_EQ_INT(got.max_tokens, 777);
    CHECK(got.has_temperature && near_to(got.temperature, 0.25));
    CHECK_EQ_STR(got.config_id, "smith");
    CHECK_EQ_STR(got.workspace, "forge");
    rig_says(r, "a");
    ask(r, agent, "Hi");
    CHECK(strstr(rig_request(r, 0), "You are the smith.") != NULL);
    CHECK_EQ_STR(h.loop_id, "session.smith.1");
    desc.system_prompt = "You are the cook.";
    desc.thinking = PHI_THINKING_HIGH;
    desc.max_tokens = 99;
    desc.has_temperature = true;
    desc.temperature = 0.0;
    desc.config_id = "cook";
    desc.workspace = "kitchen";
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_STR(got.system_prompt, "You are the cook.");
    CHECK_EQ_INT(got.thinking, PHI_THINKING_HIGH);
    CHECK_EQ_INT(got.max_tokens, 99);
    CHECK(got.has_temperature && near_to(got.temperature, 0.0));
    CHECK_EQ_STR(got.config_id, "cook");
    CHECK_EQ_STR(got.workspace, "kitchen");
    rig_free(r);
}

/* ---- C 22 ---- */

/* ---- C 23 ---- */

TEST(a_profile_has_a_uuid_by_default_and_gives_back_every_field) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_profile profile;
    const phi_profile *got;
    phi_agent agent;
    static const char *const skills[] = {"forging", "haggling"};
    char scratch[16] = "Brokk";
    memset(&profile, 0, sizeof profile);
    CHECK(phi_agent_profile(rig_agent(r, NULL)) == NULL);
    desc.profile = &profile;
    agent = rig_agent(r, &desc);
    got = phi_agent_profile(agent);
    REQUIRE(got != NULL);
    CHECK_EQ_INT(strlen(got->profile_id), 36);
    CHECK_EQ_INT(got->profile_id[14], '4'); /* version 4 */
    profile.profile_id = "p-1";
    profile.name = scratch;
    profile.description = "A smith";
    profile.system_prompt = "Be gruff.";
    profile.thinking = PHI_THINKING_MEDIUM;
    profile.max_tokens = 100;
    profile.has_temperature = true;
    profile.temperature = 0.5;
    profile.config_id = "smith";
    profile.workspace = "forge";
    profile.skills = skills;
    profile.skill_count = 2;
    agent = rig_agent(r, &desc);
    memset(scratch, 'x', 5); /* it was copied */
    got = phi_agent_profile(agent);
    REQUIRE(got != NULL);
    CHECK_EQ_STR(got->profile_id, "p-1");
    CHECK_EQ_STR(got->name, "Brokk");
    CHECK_EQ_STR(got->description, "A smith");
    CHECK_EQ_STR(got->system_prompt, "Be gruff.");
    CHECK_EQ_INT(got->thinking, PHI_THINKING_MEDIUM);
    CHECK_EQ_INT(got->max_tokens, 100);
    CHECK(got->has_temperature && near_to(got->temperature, 0.5));
    CHECK_EQ_STR(got->config_id, "smith");
    CHECK_EQ_STR(got->workspace, "forge");
    REQUIRE(got->skill_count == 2);
    CHECK_EQ_STR(got->skills[0], "forging");
    CHECK_EQ_STR(got->skills[1], "haggling");
    rig_free(r);
}

TEST(setting_tools_replaces_the_list) {
    rig *r = rig_new();
    phi_agent agent = echo_agent(r);
    phi_tool tool = rig_wait(r);
    rig_says(r, "a");
    rig_says(r, "b");
    ask(r, agent, "1");
    CHECK_EQ_INT(phi_agent_set_tools(agent, &tool, 1), PHI_OK);
    ask(r, agent, "2");
    CHECK(strstr(rig_request(r, 0), "\"echo\"") != NULL);
    CHECK(strstr(rig_request(r, 0), "\"wait\"") == NULL);
    CHECK(strstr(rig_request(r, 1), "\"echo\"") == NULL);
    CHECK(strstr(rig_request(r, 1), "\"wait\"") != NULL);
    rig_free(r);
}

/* ---- C 24 ---- */

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

TEST(parallel_tools_interleave_and_their_results_stand_in_the_order_of_the_calls) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    static const char *const calls[] = {"c1 wait {}", "c2 wait {}"};
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_calls(r, calls, 2);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(phi_call_update(rig_call_at(r, 1), "half", 4), PHI_OK);
    rig_finish(r, 1, "second");
    (void)rig_step(r);
    rig_finish(r, 0, "first");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "MessageEnd assistant wait({}) wait({}) toolUse\n"
                               "ToolExecutionStart c1 wait({})\n"
                               "ToolExecutionStart c2 wait({})\n"
                               "ToolExecutionUpdate c2 \"half\"\n"
                               "ToolExecutionEnd toolResult c2 \"second\"\n"
                               "ToolExecutionEnd toolResult c1 \"first\"\n"
                               "MessageStart toolResult c1 \"first\"\n"
                               "MessageEnd toolResult c1 \"first\"\n"
                               "MessageStart toolResult c2 \"second\"\n"
                               "MessageEnd toolResult c2 \"second\"\n"
                               "TurnEnd ") != NULL);
    rig_free(r);
}

/* ---- C 25 ---- */

TEST(a_tool_that_is_not_there_yields_exactly_one_end_that_is_an_error) {
    rig *r = rig_new();
    phi_agent agent = echo_agent(r);
    rig_call(r, "c1", "nothing", "{\"x\":1}");
    rig_says(r, "done");
    ask(r, agent, "go");
    CHECK(strstr(rig_story(r), "ToolExecutionStart c1 nothing({\"x\":1})\n"
                               "ToolExecutionEnd toolResult c1 error \"Tool nothing not found\"\n"
                               "MessageStart toolResult c1 error \"Tool nothing not found\"\n"
                               "MessageEnd toolResult c1 error \"Tool nothing not found\"\n"
                               "TurnEnd assistant nothing({\"x\":1}) toolUse\n"
                               "TurnStart 1\n") != NULL);
    rig_free(r);
}

static phi_flow fail_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content;
    phi_tool_result result;
    (void)user_data;
    (void)arguments;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("the forge is cold");
    result.content = &content;
    result.content_count = 1;
    result.is_error = true;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

TEST(a_tool_that_fails_says_its_own_words_in_an_error_result_without_details) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    tool.start = fail_start;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    ask(r, agent, "go");
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "the forge is cold");
    CHECK(phi_message_at(agent, 2)->is_error);
    CHECK_EQ_INT(phi_message_at(agent, 2)->details.len, 0);
    CHECK(strstr(rig_request(r, 1), "the forge is cold") != NULL);
    CHECK(strstr(rig_request(r, 1), "\"is_error\":true") != NULL);
    rig_free(r);
}

TEST(updates_are_events_that_the_model_does_not_see_and_progress_is_for_the_person) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_STR(phi_call_id(rig_call_at(r, 0)), "c1");
    CHECK_STR(phi_call_tool_name(rig_call_at(r, 0)), "wait");
    rig_forget(r);
    CHECK_EQ_INT(phi_call_update(rig_call_at(r, 0), "half way", 8), PHI_OK);
    CHECK_EQ_INT(phi_call_progress(rig_call_at(r, 0), "Nearly there", 12), PHI_OK);
    rig_finish(r, 0, "whole");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strncmp(rig_story(r),
                  "ToolExecutionUpdate c1 \"half way\"\n"
                  "ProgressMessage c1 \"Nearly there\"\n"
                  "ToolExecutionEnd toolResult c1 \"whole\"\n",
                  strlen("ToolExecutionUpdate c1 \"half way\"\n"
                         "ProgressMessage c1 \"Nearly there\"\n"
                         "ToolExecutionEnd toolResult c1 \"whole\"\n")) == 0);
    CHECK_EQ_INT(phi_call_update(rig_call_at(r, 0), "late", 4), PHI_STALE);
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "whole");
    CHECK(strstr(rig_request(r, 1), "whole") != NULL);
    CHECK(strstr(rig_request(r, 1), "half way") == NULL);
    CHECK(strstr(rig_request(r, 1), "Nearly there") == NULL);
    rig_free(r);
}

/* A tool that takes 50 steps, 50 ms on the rig's clock. */
static phi_flow slow_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_PENDING;
}

static phi_flow slow_step(void *user_data, phi_call call) {
    int *steps = (int *)phi_call_state(call, sizeof *steps);
    (void)user_data;
    if (steps == NULL || ++*steps < 50) return PHI_PENDING;
    (void)phi_call_finish(call, "ok", 2, false);
    return PHI_DONE;
}

static int ms_of_three_tools(phi_tool_mode mode) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    static const char *const calls[] = {"c1 echo {\"n\":1}", "c2 echo {\"n\":2}",
                                        "c3 echo {\"n\":3}"};
    int ms;
    tool.start = slow_start;
    tool.step = slow_step;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.tool_mode = mode;
    desc.tool_batch = 2;
    agent = rig_agent(r, &desc);
    rig_calls(r, calls, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    for (ms = 0; ms < 500 && rig_run(r, 1) > 0; ms++) {}
    CHECK_EQ_INT(phi_message_count(agent), 6);
    rig_free(r);
    return ms;
}

TEST(three_tools_of_50_ms_take_50_ms_in_parallel_100_in_batches_of_two_and_150_in_sequence) {
    int parallel = ms_of_three_tools(PHI_TOOLS_PARALLEL);
    int batched = ms_of_three_tools(PHI_TOOLS_BATCHED);
    int sequential = ms_of_three_tools(PHI_TOOLS_SEQUENTIAL);
    CHECK(parallel >= 50 && parallel < 70);
    CHECK(batched >= 100 && batched < 120);
    CHECK(sequential >= 150 && sequential < 170);
}

TEST_MAIN(
    TEST_ENTRY(limits_are_50_turns_a_million_tokens_600_seconds_and_no_cost_by_default),
    TEST_ENTRY(a_run_may_be_without_any_limit),
    TEST_ENTRY(
        cost_is_tokens_by_rates_over_input_output_and_cache_and_reasoning_is_not_charged_again),
    TEST_ENTRY(usages_are_summed_in_all_six_fields),
    TEST_ENTRY(
        the_usage_of_a_run_is_the_sum_of_its_turns_reasoning_too_and_the_agent_s_that_of_its_runs),
    TEST_ENTRY(
        an_agent_s_defaults_are_no_thinking_parallel_tools_one_at_a_time_queues_and_three_retries),
    TEST_ENTRY(a_prompt_while_the_agent_streams_is_an_error_that_changes_nothing),
    TEST_ENTRY(a_prompt_makes_two_messages_and_one_that_calls_a_tool_four),
    TEST_ENTRY(a_reset_empties_messages_and_queues_and_the_agent_is_not_running),
    TEST_ENTRY(a_new_session_has_a_new_id_no_counters_no_last_loop_and_the_same_history),
    TEST_ENTRY(a_session_is_rotated_when_the_last_run_began_longer_ago_than_the_threshold),
    TEST_ENTRY(a_threshold_of_zero_rotates),
    TEST_ENTRY(continuing_counts_initial_as_default_and_tags_reruns_and_branches_with_the_time),
    TEST_ENTRY(messages_are_saved_as_a_json_array_and_restored_equal_and_the_model_sees_them),
    TEST_ENTRY(a_profile_fills_only_what_is_unset),
    TEST_ENTRY(a_profile_has_a_uuid_by_default_and_gives_back_every_field),
    TEST_ENTRY(setting_tools_replaces_the_list),
    TEST_ENTRY(an_answer_is_a_placeholder_then_updates_that_accumulate_then_the_whole),
    TEST_ENTRY(parallel_tools_interleave_and_their_results_stand_in_the_order_of_the_calls),
    TEST_ENTRY(a_tool_that_is_not_there_yields_exactly_one_end_that_is_an_error),
    TEST_ENTRY(a_tool_that_fails_says_its_own_words_in_an_error_result_without_details),
    TEST_ENTRY(updates_are_events_that_the_model_does_not_see_and_progress_is_for_the_person),
    TEST_ENTRY(
        three_tools_of_50_ms_take_50_ms_in_parallel_100_in_batches_of_two_and_150_in_sequence))
