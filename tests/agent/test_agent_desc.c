/* test_agent_desc.c - what a new agent is refused for, with the field to fix. */
#include "support/rig.h"
#include "support/set.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"

static phi_flow done_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_DONE;
}

static phi_tool named(const char *name) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = name;
    tool.description = "Does";
    tool.start = done_start;
    return tool;
}

static void refused(rig *r, const phi_agent_desc *desc, phi_status status, const char *want) {
    const char *words = NULL;
    phi_agent agent = phi_agent_new(rig_runtime(r), desc);
    CHECK(agent.rt == NULL);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, status);
    CHECK_EQ_STR(words, want);
}

static void check_words(rig *r, const char *want) {
    const char *words = NULL;
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, want);
}

TEST(a_bad_model_is_refused_with_the_field_to_fix) {
    rig *r = rig_new();
    phi_model_header header = {"X-Name", "va\nlue"};
    phi_agent_desc desc = rig_desc();
    refused(r, NULL, PHI_BAD_ARG, "phi_agent_new: desc is NULL");
    memset(&desc, 0, sizeof desc);
    refused(r, &desc, PHI_BAD_ARG, "model.protocol is missing: use a phi_model_ preset");
    desc = rig_desc();
    desc.model.protocol = NULL;
    refused(r, &desc, PHI_BAD_ARG, "model.protocol is missing: use a phi_model_ preset");
    desc.model.protocol = "";
    refused(r, &desc, PHI_BAD_ARG, "model.protocol is missing: use a phi_model_ preset");
    desc.model.protocol = "telepathy";
    refused(r, &desc, PHI_UNSUPPORTED,
            "No provider registered for protocol: telepathy "
            "(presets bring theirs; or set phi_runtime_desc.codecs = PHI_ALL_PROTOCOLS)");
    desc = rig_desc();
    desc.model.id = "";
    refused(r, &desc, PHI_BAD_ARG, "model.id is missing");
    desc.model.id = NULL;
    refused(r, &desc, PHI_BAD_ARG, "model.id is missing");
    desc = rig_desc();
    desc.model.base_url = NULL;
    refused(r, &desc, PHI_BAD_ARG, "model.base_url is missing");
    desc = rig_desc();
    desc.model.api_key = "key\r\nX-Evil: 1";
    refused(r, &desc, PHI_BAD_ARG, "model.api_key holds a line break");
    desc = rig_desc();
    desc.model.header_count = 1;
    refused(r, &desc, PHI_BAD_ARG, "model.headers is missing, header_count is 1");
    desc.model.headers = &header;
    refused(r, &desc, PHI_BAD_ARG, "model.headers[0]: not a header");
    header.name = "X:Name";
    header.value = "value";
    refused(r, &desc, PHI_BAD_ARG, "model.headers[0]: not a header");
    header.name = NULL;
    refused(r, &desc, PHI_BAD_ARG, "model.headers[0]: not a header");
    CHECK(phi_agent_new(NULL, &desc).rt == NULL);
    rig_free(r);
}

TEST(a_schema_for_answers_that_are_text_is_refused) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    desc.format.schema = "{\"type\":\"object\"}";
    refused(r, &desc, PHI_BAD_ARG, "format.schema is given, format.kind is text");
    rig_free(r);
}

TEST(a_bad_tool_is_refused_with_its_name) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    desc.tool_count = 2;
    refused(r, &desc, PHI_BAD_ARG, "tools is missing, tool_count is 2");
    desc.tools = tools;
    tools[0] = named(NULL);
    tools[1] = named("b");
    refused(r, &desc, PHI_BAD_ARG, "tools[0].name is missing");
    tools[0] = named("");
    refused(r, &desc, PHI_BAD_ARG, "tools[0].name is missing");
    tools[0] = named("b");
    refused(r, &desc, PHI_BAD_ARG, "tool \"b\" is there twice");
    tools[0] = named("a");
    tools[0].start = NULL;
    refused(r, &desc, PHI_BAD_ARG, "tool \"a\": start is missing");
    tools[0] = named("a");
    tools[0].schema = "{\"type\":";
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_PARSE);
    tools[0].schema = "{\"type\":\"wombat\"}";
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    CHECK(phi_last_error(rig_runtime(r)).status != PHI_OK);
    rig_free(r);
}

/* Only the codec's URL and the words matter: `shown` is what a refusal quotes. */
static void refused_url(rig *r, const char *url, const char *shown) {
    phi_agent_desc desc = rig_desc();
    char want[300];
    desc.model.base_url = url;
    (void)snprintf(want, sizeof want,
                   "model.base_url \"%s\": expected http:// or https:// and a host", shown);
    refused(r, &desc, PHI_BAD_ARG, want);
}

TEST(a_base_url_that_phi_does_not_speak_is_refused_and_shown_without_its_secrets) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    static const char *const bad[] = {"localhost:11434/v1",
                                      "localhost",
                                      "//h/v1",
                                      "ftp://h/v1",
                                      "httpss://h",
                                      "unix:///run/llm",
                                      "http://",
                                      "https:///v1",
                                      "http://?a",
                                      "http://:8080/v1",
                                      "http://h/a b",
                                      " http://h",
                                      "http:/h",
                                      "http://h/\x7f"
                                      "v1"};
    static const char *const good[] = {"http://h", "HTTPS://h/v1", "http://u:p@h:1/v1?k=v",
                                       "http://[::1]:8080/v1"};
    size_t i;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused_url(r, bad[i],
                    strchr(bad[i], 0x7f) != NULL  ? "http://h/?v1"
                    : strchr(bad[i], '?') != NULL ? "http://?[redacted]"
                                                  : bad[i]);
    refused_url(r, "user:pass@h/v1", "[redacted]@h/v1");
    refused_url(r, "ftp://user:pass@h/v1?key=abc", "ftp://[redacted]@h/v1?key=[redacted]");
    refused_url(r, "http://user:pass@", "http://[redacted]@");
    for (i = 0; i < sizeof good / sizeof good[0]; i++) {
        phi_agent agent;
        desc.model.base_url = good[i];
        agent = phi_agent_new(rig_runtime(r), &desc);
        CHECK(agent.rt != NULL);
        phi_agent_free(agent);
    }
    rig_free(r);
}

TEST(a_tool_name_that_the_target_does_not_take_is_refused) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = named("files.read");
    phi_model google = phi_model_google("gemini-2.5-pro", "key");
    phi_agent agent;
    char longest[66];
    desc.tools = &tool;
    desc.tool_count = 1;
    refused(r, &desc, PHI_BAD_ARG,
            "tools[0].name \"files.read\": expected 1 to 64 of a-z A-Z 0-9 _ -");
    memset(longest, 'a', 65);
    longest[65] = '\0';
    tool.name = longest;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    longest[64] = '\0';
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt != NULL);
    tool.name = "2d_map"; /* Anthropic takes it */
    agent = phi_agent_new(rig_runtime(r), &desc);
    REQUIRE(agent.rt != NULL);
    CHECK_EQ_INT(set_model(agent, &google), PHI_BAD_ARG);
    check_words(r, "tools[0].name \"2d_map\": expected a letter or _ at first");
    desc.model = google;
    refused(r, &desc, PHI_BAD_ARG, "tools[0].name \"2d_map\": expected a letter or _ at first");
    tool.name = "map/2d";
    CHECK_EQ_INT(set_tools(agent, &tool, 1), PHI_BAD_ARG);
    check_words(r, "tools[0].name \"map/2d\": expected 1 to 64 of a-z A-Z 0-9 _ -");
    rig_free(r);
}

TEST(a_schema_that_does_not_describe_an_object_is_refused) {
    static const char *const pairs[][2] = {
        {"[]", ": expected an object with \"type\":\"object\""},
        {"true", ": expected an object with \"type\":\"object\""},
        {"{}", ": expected an object with \"type\":\"object\""},
        {"{\"type\":\"string\"}", ": expected an object with \"type\":\"object\""},
        {"{\"type\":[\"object\",\"null\"]}", ": expected an object with \"type\":\"object\""},
        {"{\"type\":\"object\",\"properties\":[]}", ".properties: expected an object, got array"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{},\"path\":\"string\"}}",
         ".properties.path: expected a schema, got string"}};
    rig *r = rig_new();
    size_t i;
    int checks;
    for (i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        phi_agent_desc desc = rig_desc();
        char want[200];
        for (checks = 0; checks < 2; checks++) {
            phi_tool tool = named("look");
            desc.tools = &tool;
            desc.tool_count = 1;
            tool.schema = pairs[i][0];
            tool.checks_arguments = checks == 1;
            (void)snprintf(want, sizeof want, "tool \"look\": schema%s", pairs[i][1]);
            refused(r, &desc, PHI_BAD_ARG, want);
        }
        desc = rig_desc();
        desc.format.kind = PHI_FORMAT_JSON_SCHEMA;
        desc.format.schema = pairs[i][0];
        (void)snprintf(want, sizeof want, "format.schema%s", pairs[i][1]);
        refused(r, &desc, PHI_BAD_ARG, want);
    }
    rig_free(r);
}

TEST(hooks_that_are_never_called_and_tools_that_nothing_can_approve_are_refused) {
    static const char unapproved[] =
        "tool \"rm\": needs_approval, and nothing can approve: set hook_fn, and "
        "PHI_HOOK_BEFORE_TOOL in hook_points";
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = named("rm");
    phi_agent agent;
    rig_hooks(r, &desc, 0);
    refused(r, &desc, PHI_BAD_ARG, "hook_points is 0, hook_fn would never be called");
    desc = rig_desc();
    agent = phi_agent_new(rig_runtime(r), &desc);
    tool.needs_approval = true;
    CHECK_EQ_INT(set_tools(agent, &tool, 1), PHI_BAD_ARG);
    check_words(r, unapproved);
    desc.tools = &tool;
    desc.tool_count = 1;
    refused(r, &desc, PHI_BAD_ARG, unapproved);
    rig_hooks(r, &desc, PHI_HOOK_AFTER_TOOL);
    refused(r, &desc, PHI_BAD_ARG, unapproved);
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt != NULL);
    rig_free(r);
}

TEST(numbers_that_make_no_sense_are_refused) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    volatile double zero = 0.0;
    desc.options.has_temperature = true;
    desc.options.temperature = -0.5;
    refused(r, &desc, PHI_BAD_ARG, "options.temperature is -0.5: expected 0 or more");
    desc.options.temperature = 1.0 / zero;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    desc.options.temperature = zero / zero;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    desc = rig_desc();
    desc.tool_options.mode = (phi_tool_mode)9;
    refused(r, &desc, PHI_BAD_ARG,
            "thinking, tool_options.choice or mode, input.steering_mode, follow_up_mode or "
            "first_turn_trigger, keep or memory.at_limit is none of its values");
    desc = rig_desc();
    desc.thinking = (phi_thinking)9;
    refused(r, &desc, PHI_BAD_ARG,
            "thinking, tool_options.choice or mode, input.steering_mode, follow_up_mode or "
            "first_turn_trigger, keep or memory.at_limit is none of its values");
    rig_free(r);
}

TEST(a_tools_array_of_none_and_the_largest_numbers_are_taken) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = named("a");
    phi_agent agent;
    desc.tools = &tool;
    desc.max_tokens = UINT32_MAX;
    desc.tool_options.batch = UINT32_MAX;
    desc.model.context_window = desc.model.max_tokens = UINT32_MAX;
    desc.limits.max_turns = UINT32_MAX;
    desc.limits.max_tokens = UINT64_MAX;
    desc.limits.max_duration_ms = UINT32_MAX;
    desc.limits.max_cost = 1e300;
    desc.memory.limit_bytes = SIZE_MAX;
    desc.memory.event_queue_bytes = desc.memory.max_event_bytes = SIZE_MAX;
    desc.memory.max_response_bytes = UINT64_MAX;
    agent = rig_agent(r, &desc);
    REQUIRE(agent.rt != NULL);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK(strstr(rig_request(r, 0), "\"tools\"") == NULL);
    rig_free(r);
}

TEST(a_provider_under_its_old_name_is_one_with_the_name_of_today) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.model.protocol = PHI_PROTOCOL_OPENAI_RESPONSES;
    desc.model.provider = "openai-responses";
    desc.model.id = "gpt-5";
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Hello"), PHI_OK);
    CHECK(strstr(phi_agent_get_info(agent).loop_id.at, ".openai_responses.gpt-5.") != NULL);
    rig_free(r);
}

TEST(an_agent_that_is_not_made_leaves_nothing) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 100; n++) {
        rig *r = rig_new();
        phi_tool tool = named("a");
        phi_agent_desc desc = rig_desc();
        size_t used = phi_memory_used(rig_runtime(r), NULL);
        phi_agent agent;
        tool.schema = "{\"type\":\"object\",\"properties\":{}}";
        desc.tools = &tool;
        desc.tool_count = 1;
        desc.system_prompt = "You are small.";
        desc.ids.agent_id = desc.ids.session_id = NULL;
        test_alloc_fail_at(n);
        agent = phi_agent_new(rig_runtime(r), &desc);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(agent.rt == NULL, tripped);
        if (tripped) {
            CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_NO_MEMORY);
            CHECK(phi_memory_used(rig_runtime(r), NULL) - used < 4096); /* a page of slots stays */
        }
        rig_free(r);
    }
    CHECK(n > 5);
}

TEST(a_keyword_of_a_schema_that_would_restrict_and_is_not_understood_is_named) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = named("look");
    phi_agent agent;
    tool.schema = "{\"type\":\"object\",\"properties\":{\"path\":{\"pattern\":\"^/\"}}}";
    desc.tools = &tool;
    desc.tool_count = 1;
    refused(r, &desc, PHI_UNSUPPORTED,
            "tool \"look\": schema.properties.path: \"pattern\" is not supported");
    tool.checks_arguments = true; /* then it is the tool's to understand */
    agent = rig_agent(r, &desc);
    CHECK(agent.rt != NULL);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_bad_model_is_refused_with_the_field_to_fix),
          TEST_ENTRY(a_schema_for_answers_that_are_text_is_refused),
          TEST_ENTRY(a_bad_tool_is_refused_with_its_name),
          TEST_ENTRY(a_base_url_that_phi_does_not_speak_is_refused_and_shown_without_its_secrets),
          TEST_ENTRY(a_tool_name_that_the_target_does_not_take_is_refused),
          TEST_ENTRY(a_schema_that_does_not_describe_an_object_is_refused),
          TEST_ENTRY(hooks_that_are_never_called_and_tools_that_nothing_can_approve_are_refused),
          TEST_ENTRY(numbers_that_make_no_sense_are_refused),
          TEST_ENTRY(a_tools_array_of_none_and_the_largest_numbers_are_taken),
          TEST_ENTRY(a_provider_under_its_old_name_is_one_with_the_name_of_today),
          TEST_ENTRY(an_agent_that_is_not_made_leaves_nothing),
          TEST_ENTRY(a_keyword_of_a_schema_that_would_restrict_and_is_not_understood_is_named))
