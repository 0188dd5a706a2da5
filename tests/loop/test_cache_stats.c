/* test_cache_stats.c - how prompt caching went, counted from what the answers said of it: hits, misses, and
   what had changed where a request missed. */
#include "support/rig.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "features/caching.h"
#include "loop/hook.h"
#include "loop/tool.h"
#include "support/set.h"

/* An Anthropic answer with these numbers. */
static void says(rig *r, int input, int read, int write) {
    char body[1200];
    (void)snprintf(
        body, sizeof body,
        "data: "
        "{\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"m\",\"content\":[],"
        "\"usage\":{\"input_tokens\":%d,\"cache_read_input_tokens\":%d,"
        "\"cache_creation_input_tokens\":%d,\"output_tokens\":1}}}\n\n"
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
        "\"text\":\"\"}}\n\n"
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
        "\"text\":\"yes\"}}\n\n"
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"
        "\"output_tokens\":2}}\n\n"
        "data: {\"type\":\"message_stop\"}\n\n",
        input, read, write);
    rig_replies(r, 200, "content-type: text/event-stream\r\n", body);
}

static void ask(rig *r, phi_agent agent, int input, int read, int write) {
    says(r, input, read, write);
    CHECK_EQ_INT(phi_prompt(agent, "go on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
}

static void counted(phi_agent agent, int requests, int hits, int misses, int missed_tokens,
                    uint32_t changed) {
    phi_cache_stats s = phi_agent_get_info(agent).cache;
    CHECK_EQ_INT((int)s.requests, requests);
    CHECK_EQ_INT((int)s.hits, hits);
    CHECK_EQ_INT((int)s.misses, misses);
    CHECK_EQ_INT((int)s.missed_tokens, missed_tokens);
    CHECK_EQ_INT((int)s.changed, (int)changed);
}

/* An agent that has written 2,000 tokens to the cache and read them once, and 2,100 are there. */
static phi_agent warm(rig *r) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.system_prompt = "You are the smith.";
    agent = rig_agent(r, &desc);
    ask(r, agent, 10, 0, 2000);
    ask(r, agent, 10, 2000, 100);
    counted(agent, 2, 1, 0, 0, 0);
    return agent;
}

TEST(a_request_that_reads_what_was_written_is_a_hit) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    ask(r, agent, 10, 2100, 50);
    counted(agent, 3, 2, 0, 0, 0);
    rig_free(r);
}

TEST(what_expired_is_a_miss_without_anything_that_changed) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    rig_pass_ms(r, 10 * 60 * 1000);
    ask(r, agent, 10, 0, 2150);
    counted(agent, 3, 1, 1, 2100, 0);
    ask(r, agent, 10, 2150, 50);
    counted(agent, 4, 2, 1, 2100, 0);
    rig_free(r);
}

TEST(half_of_it_is_enough_for_a_hit_and_less_is_a_miss_of_the_rest) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    ask(r, agent, 10, 1050, 0);
    counted(agent, 3, 2, 0, 0, 0);
    ask(r, agent, 10, 524, 0);
    counted(agent, 4, 2, 1, 526, 0);
    rig_free(r);
}

TEST(prompts_that_are_too_short_to_be_cached_miss_nothing) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc);
    ask(r, agent, 10, 0, 0);
    ask(r, agent, 20, 0, 0);
    CHECK_EQ_INT(set_system_prompt(agent, "Another one."), PHI_OK);
    ask(r, agent, 30, 0, 0);
    counted(agent, 3, 0, 0, 0, 0);
    rig_free(r);
}

TEST(a_provider_that_tells_only_what_was_read_misses_once_and_not_until_it_reads_again) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc);
    ask(r, agent, 1500, 0, 0);
    ask(r, agent, 500, 1024, 0);
    counted(agent, 2, 1, 0, 0, 0);
    ask(r, agent, 1600, 0, 0);
    counted(agent, 3, 1, 1, 1024, 0);
    ask(r, agent, 1700, 0, 0);
    counted(agent, 4, 1, 1, 1024, 0);
    ask(r, agent, 700, 1024, 0);
    counted(agent, 5, 2, 1, 1024, 0);
    rig_free(r);
}

TEST(a_miss_says_that_the_system_prompt_had_changed) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    CHECK_EQ_INT(set_system_prompt(agent, "You are the smith. It is 12:01."), PHI_OK);
    ask(r, agent, 10, 0, 2150);
    counted(agent, 3, 1, 1, 2100, PHI_CACHE_CHANGED_SYSTEM);
    CHECK_EQ_INT(set_system_prompt(agent, "You are the smith. It is 12:01."), PHI_OK);
    ask(r, agent, 10, 0, 2150); /* the same again: not the prompt's fault */
    counted(agent, 4, 1, 2, 4250, 0);
    rig_free(r);
}

TEST(a_miss_says_that_the_tools_had_changed_and_the_same_tools_are_no_change) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    phi_tool tool = rig_echo();
    CHECK_EQ_INT(set_tools(agent, &tool, 1), PHI_OK);
    ask(r, agent, 10, 0, 2150);
    counted(agent, 3, 1, 1, 2100, PHI_CACHE_CHANGED_TOOLS);
    CHECK_EQ_INT(set_tools(agent, &tool, 1), PHI_OK);
    ask(r, agent, 10, 0, 2150);
    counted(agent, 4, 1, 2, 4250, 0);
    tool.description = "Says it again, louder";
    CHECK_EQ_INT(set_tools(agent, &tool, 1), PHI_OK);
    ask(r, agent, 10, 0, 2150);
    counted(agent, 5, 1, 3, 6400, PHI_CACHE_CHANGED_TOOLS);
    rig_free(r);
}

TEST(a_miss_says_that_the_model_had_changed_and_so_do_several_at_once) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    phi_model model = rig_desc().model;
    model.id = "claude-opus-4-5";
    CHECK_EQ_INT(set_model(agent, &model), PHI_OK);
    ask(r, agent, 10, 0, 2150);
    counted(agent, 3, 1, 1, 2100, PHI_CACHE_CHANGED_MODEL);
    model.id = "claude-sonnet-4-5";
    CHECK_EQ_INT(set_model(agent, &model), PHI_OK);
    CHECK_EQ_INT(set_system_prompt(agent, "Another one."), PHI_OK);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    ask(r, agent, 10, 0, 2150);
    counted(agent, 4, 1, 2, 4250,
            PHI_CACHE_CHANGED_MODEL | PHI_CACHE_CHANGED_SYSTEM | PHI_CACHE_CHANGED_SETTINGS);
    rig_free(r);
}

TEST(a_miss_says_that_the_model_is_asked_at_another_address) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    phi_model model = rig_desc().model;
    model.base_url = "https://gateway.example.com";
    CHECK_EQ_INT(set_model(agent, &model), PHI_OK);
    ask(r, agent, 10, 0, 2150);
    counted(agent, 3, 1, 1, 2100, PHI_CACHE_CHANGED_MODEL);
    rig_free(r);
}

TEST(a_miss_says_that_answers_are_wanted_in_another_format) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    phi_format format;
    memset(&format, 0, sizeof format);
    format.kind = PHI_FORMAT_JSON_SCHEMA;
    format.schema = "{\"type\":\"object\",\"properties\":{\"ore\":{\"type\":\"string\"}}}";
    CHECK_EQ_INT(set_format(agent, &format), PHI_OK);
    ask(r, agent, 10, 0, 2150);
    CHECK((phi_agent_get_info(agent).cache.changed & PHI_CACHE_CHANGED_SETTINGS) != 0);
    rig_free(r);
}

TEST(a_change_that_costs_nothing_is_no_miss) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    CHECK_EQ_INT(set_system_prompt(agent, "Another one."), PHI_OK);
    ask(r, agent, 10, 2100, 0);
    counted(agent, 3, 2, 0, 0, 0);
    rig_free(r);
}

TEST(a_miss_says_that_the_messages_had_been_replaced) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    phi_content content;
    phi_message message;
    memset(&content, 0, sizeof content);
    memset(&message, 0, sizeof message);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("In short: nothing happened.");
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
    CHECK_EQ_INT(phi_agent_replace_messages(agent, &message, 1), PHI_OK);
    ask(r, agent, 10, 1000, 150);
    counted(agent, 3, 1, 1, 1100, PHI_CACHE_CHANGED_HISTORY);
    rig_free(r);
}

TEST(a_miss_after_a_compaction_says_that_the_history_had_changed) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    char much[2000];
    memset(much, 'x', sizeof much);
    much[sizeof much - 1] = '\0';
    says(r, 10, 2100, 50);
    CHECK_EQ_INT(phi_prompt(agent, much), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    rig_replies(r, 400, "",
                "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                "\"prompt is too long: 210000 tokens > 200000 maximum\"}}");
    ask(r, agent, 10, 650, 150);
    counted(agent, 4, 2, 1, 1500, PHI_CACHE_CHANGED_HISTORY);
    rig_free(r);
}

/* The last message only. */
static phi_verdict last_one(void *user_data, phi_hook *hook) {
    (void)user_data;
    hook->messages += hook->message_count - 1;
    hook->message_count = 1;
    return PHI_ALLOW;
}

TEST(a_hook_that_takes_messages_away_at_the_front_changes_the_history) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.hook_fn = last_one;
    desc.hook_points = PHI_HOOK_TRANSFORM_CONTEXT;
    agent = rig_agent(r, &desc);
    ask(r, agent, 10, 0, 2000);
    ask(r, agent, 10, 500, 1600);
    counted(agent, 2, 0, 1, 1500, PHI_CACHE_CHANGED_HISTORY);
    rig_free(r);
}

/* The first message is one of the host's own, made anew each turn. */
static phi_verdict preface(void *user_data, phi_hook *hook) {
    static const phi_message *list[64];
    static phi_message own;
    static phi_content content;
    static char text[400];
    size_t i;
    memset(text, 'x', sizeof text);
    text[0] = *(const char *)user_data;
    memset(&own, 0, sizeof own);
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi__str(text, sizeof text);
    own.role = PHI_ROLE_USER;
    own.content = &content;
    own.content_count = 1;
    list[0] = &own;
    for (i = 0; i < hook->message_count; i++) list[i + 1] = hook->messages[i];
    hook->messages = list;
    hook->message_count++;
    return PHI_ALLOW;
}

TEST(a_message_that_a_hook_makes_each_turn_is_a_change_only_where_it_reads_otherwise) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char letter = 'a';
    desc.hook_fn = preface;
    desc.hook_points = PHI_HOOK_TRANSFORM_CONTEXT;
    desc.user_data = &letter;
    agent = rig_agent(r, &desc);
    ask(r, agent, 10, 0, 2000);
    ask(r, agent, 10, 0, 2000);
    counted(agent, 2, 0, 1, 2000, 0);
    letter = 'b';
    ask(r, agent, 10, 0, 2000);
    counted(agent, 3, 0, 2, 4000, PHI_CACHE_CHANGED_HISTORY);
    rig_free(r);
}

/* The first message is what the host's camera sees, made anew each turn. */
static phi_verdict camera(void *user_data, phi_hook *hook) {
    static const phi_message *list[64];
    static phi_message own;
    static phi_content content;
    size_t i;
    memset(&own, 0, sizeof own);
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_IMAGE;
    content.data = phi_str_of((const char *)user_data);
    content.mime_type = phi_str_of("image/png");
    own.role = PHI_ROLE_USER;
    own.content = &content;
    own.content_count = 1;
    list[0] = &own;
    for (i = 0; i < hook->message_count; i++) list[i + 1] = hook->messages[i];
    hook->messages = list;
    hook->message_count++;
    return PHI_ALLOW;
}

TEST(another_image_in_the_message_of_a_hook_changes_the_history) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char image[] = "iVBORw0KGgo=";
    desc.hook_fn = camera;
    desc.hook_points = PHI_HOOK_TRANSFORM_CONTEXT;
    desc.user_data = image;
    agent = rig_agent(r, &desc);
    ask(r, agent, 10, 0, 2000);
    ask(r, agent, 10, 0, 2000);
    counted(agent, 2, 0, 1, 2000, 0);
    image[0] = 'A';
    ask(r, agent, 10, 0, 2000);
    counted(agent, 3, 0, 2, 4000, PHI_CACHE_CHANGED_HISTORY);
    rig_free(r);
}

TEST(failed_answers_stay_out_of_the_history_and_change_nothing) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    rig_replies(r, 500, "", "{}"); /* tells no usage: not counted */
    CHECK_EQ_INT(phi_prompt(agent, "go on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    counted(agent, 2, 1, 0, 0, 0);
    ask(r, agent, 10, 0, 2150);
    counted(agent, 3, 1, 1, 2100, 0);
    rig_free(r);
}

TEST(an_attempt_that_broke_off_has_written_what_the_next_one_reads) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.retry.disable = false;
    agent = rig_agent(r, &desc);
    rig_breaks(r,
               "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"m\","
               "\"content\":[],\"usage\":{\"input_tokens\":5,\"cache_read_input_tokens\":0,"
               "\"cache_creation_input_tokens\":2000,\"output_tokens\":1}}}\n\n",
               PHI_NETWORK, "the line is dead");
    says(r, 5, 2000, 0);
    CHECK_EQ_INT(phi_prompt(agent, "go on"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    counted(agent, 2, 1, 0, 0, 0);
    rig_free(r);
}

TEST(after_a_reset_the_counts_stay_and_the_history_is_another) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    ask(r, agent, 10, 0, 1900);
    counted(agent, 3, 1, 1, 2100, PHI_CACHE_CHANGED_HISTORY | PHI_CACHE_CHANGED_SETTINGS);
    rig_free(r);
}

TEST(a_stale_agent_has_no_counts) {
    rig *r = rig_new();
    phi_agent agent = warm(r);
    phi_agent_free(agent);
    counted(agent, 0, 0, 0, 0, 0);
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(a_request_that_reads_what_was_written_is_a_hit),
    TEST_ENTRY(what_expired_is_a_miss_without_anything_that_changed),
    TEST_ENTRY(half_of_it_is_enough_for_a_hit_and_less_is_a_miss_of_the_rest),
    TEST_ENTRY(prompts_that_are_too_short_to_be_cached_miss_nothing),
    TEST_ENTRY(a_provider_that_tells_only_what_was_read_misses_once_and_not_until_it_reads_again),
    TEST_ENTRY(a_miss_says_that_the_system_prompt_had_changed),
    TEST_ENTRY(a_miss_says_that_the_tools_had_changed_and_the_same_tools_are_no_change),
    TEST_ENTRY(a_miss_says_that_the_model_had_changed_and_so_do_several_at_once),
    TEST_ENTRY(a_miss_says_that_the_model_is_asked_at_another_address),
    TEST_ENTRY(a_miss_says_that_answers_are_wanted_in_another_format),
    TEST_ENTRY(a_change_that_costs_nothing_is_no_miss),
    TEST_ENTRY(a_miss_says_that_the_messages_had_been_replaced),
    TEST_ENTRY(a_miss_after_a_compaction_says_that_the_history_had_changed),
    TEST_ENTRY(a_hook_that_takes_messages_away_at_the_front_changes_the_history),
    TEST_ENTRY(a_message_that_a_hook_makes_each_turn_is_a_change_only_where_it_reads_otherwise),
    TEST_ENTRY(another_image_in_the_message_of_a_hook_changes_the_history),
    TEST_ENTRY(failed_answers_stay_out_of_the_history_and_change_nothing),
    TEST_ENTRY(an_attempt_that_broke_off_has_written_what_the_next_one_reads),
    TEST_ENTRY(after_a_reset_the_counts_stay_and_the_history_is_another),
    TEST_ENTRY(a_stale_agent_has_no_counts))
