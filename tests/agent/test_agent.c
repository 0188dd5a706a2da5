/* test_agent.c - what src/agent/agent.h promises: every error, what a failure leaves, and how long a
   handle and a pointer live. */
#include "support/rig.h"
#include "text/json.h"

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
    CHECK_EQ_INT(phi_last_error(rig_runtime(r), &words, NULL), status);
    CHECK_EQ_STR(words, want);
}

static void check_words(rig *r, const char *want) {
    const char *words = NULL;
    (void)phi_last_error(rig_runtime(r), &words, NULL);
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
    refused(r, &desc, PHI_UNSUPPORTED, "No provider registered for protocol: telepathy");
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
    CHECK_EQ_INT(phi_last_error(rig_runtime(r), NULL, NULL), PHI_PARSE);
    tools[0].schema = "{\"type\":\"wombat\"}";
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    CHECK(phi_last_error(rig_runtime(r), NULL, NULL) != PHI_OK);
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
        CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
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
    CHECK_EQ_INT(phi_agent_set_model(agent, &google), PHI_BAD_ARG);
    check_words(r, "tools[0].name \"2d_map\": expected a letter or _ at first");
    desc.model = google;
    refused(r, &desc, PHI_BAD_ARG, "tools[0].name \"2d_map\": expected a letter or _ at first");
    tool.name = "map/2d";
    CHECK_EQ_INT(phi_agent_set_tools(agent, &tool, 1), PHI_BAD_ARG);
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
    CHECK_EQ_INT(phi_agent_set_tools(agent, &tool, 1), PHI_BAD_ARG);
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
    desc.has_temperature = true;
    desc.temperature = -0.5;
    refused(r, &desc, PHI_BAD_ARG, "temperature is -0.5: expected 0 or more");
    desc.temperature = 1.0 / zero;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    desc.temperature = zero / zero;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    desc = rig_desc();
    desc.tool_mode = (phi_tool_mode)9;
    refused(r, &desc, PHI_BAD_ARG,
            "thinking, tool_choice, tool_mode, steering_mode, follow_up_mode, "
            "first_turn_trigger, keep or at_memory_limit is none of its values");
    desc = rig_desc();
    desc.thinking = (phi_thinking)9;
    refused(r, &desc, PHI_BAD_ARG,
            "thinking, tool_choice, tool_mode, steering_mode, follow_up_mode, "
            "first_turn_trigger, keep or at_memory_limit is none of its values");
    rig_free(r);
}

TEST(a_tools_array_of_none_and_the_largest_numbers_are_taken) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = named("a");
    phi_agent agent;
    desc.tools = &tool;
    desc.max_tokens = UINT32_MAX;
    desc.tool_batch = UINT32_MAX;
    desc.model.context_window = desc.model.max_tokens = UINT32_MAX;
    desc.limits.max_turns = UINT32_MAX;
    desc.limits.max_tokens = UINT64_MAX;
    desc.limits.max_duration_ms = UINT32_MAX;
    desc.limits.max_cost = 1e300;
    desc.memory_limit_bytes = SIZE_MAX;
    desc.event_queue_bytes = desc.max_event_bytes = SIZE_MAX;
    desc.max_response_bytes = UINT64_MAX;
    agent = rig_agent(r, &desc);
    REQUIRE(agent.rt != NULL);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(phi_message_count(agent), 2);
    CHECK(strstr(rig_request(r, 0), "\"tools\"") == NULL);
    rig_free(r);
}

TEST(a_prompt_says_what_is_wrong_with_it) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL), none;
    phi_content content[2];
    const char *words = NULL;
    memset(&none, 0, sizeof none);
    memset(content, 0, sizeof content);
    CHECK_EQ_INT(phi_prompt(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt_content(none, content, 1), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt(agent, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt(agent, ""), PHI_BAD_ARG);
    (void)phi_last_error(rig_runtime(r), &words, NULL);
    CHECK_EQ_STR(words, "phi_prompt: the text is empty");
    CHECK_EQ_INT(phi_prompt_content(agent, NULL, 1), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt_content(agent, content, 0), PHI_BAD_ARG);
    (void)phi_last_error(rig_runtime(r), &words, NULL);
    CHECK_EQ_STR(words, "phi_prompt: there is no content");
    content[0].kind = PHI_CONTENT_TEXT;
    content[0].text = phi_str_of("see");
    content[1].kind = PHI_CONTENT_THINKING;
    CHECK_EQ_INT(phi_prompt_content(agent, content, 2), PHI_BAD_ARG);
    (void)phi_last_error(rig_runtime(r), &words, NULL);
    CHECK_EQ_STR(words, "phi_prompt: content[1].kind: expected text or image");
    content[1].kind = PHI_CONTENT_IMAGE;
    CHECK_EQ_INT(phi_prompt_content(agent, content, 2), PHI_BAD_ARG);
    (void)phi_last_error(rig_runtime(r), &words, NULL);
    CHECK_EQ_STR(words, "phi_prompt: content[1]: an image needs data and mime_type");
    CHECK_EQ_INT(phi_message_count(agent), 0);
    CHECK_EQ_INT(rig_run(r, 2), 0);
    CHECK_EQ_STR(rig_story(r), "");
    content[1].data = phi_str_of("aGk=");
    content[1].mime_type = phi_str_of("image/png");
    rig_says(r, "nice");
    CHECK_EQ_INT(phi_prompt_content(agent, content, 2), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_request(r, 0), "aGk=") != NULL);
    rig_free(r);
}

TEST(text_that_is_not_utf8_leaves_as_utf8) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "hm");
    CHECK_EQ_INT(phi_prompt(agent, "a\xff\xc3(\xe2\x82 \xed\xa0\x80 z"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    REQUIRE(rig_requests(r) == 1);
    {
        const char *body = rig_request(r, 0);
        phi_memory memory;
        phi_arena arena;
        phi_json *root = NULL;
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(body), PHI_JSON_BORROW, &root, NULL),
                     PHI_OK);
        phi_arena_free(&arena);
        CHECK(strstr(body, "a\xef\xbf\xbd") != NULL);
    }
    rig_free(r);
}

TEST(a_freed_agents_handle_is_stale_everywhere) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL), none, next;
    phi_model model = phi_model_anthropic("m", "k");
    size_t peak = 1;
    memset(&none, 0, sizeof none);
    CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
    next = rig_agent(r, NULL); /* takes the same place */
    CHECK_EQ_INT(next.index, agent.index);
    CHECK(next.gen != agent.gen);
    CHECK_EQ_INT(phi_agent_free(agent), PHI_STALE);
    CHECK_EQ_INT(phi_prompt(agent, "x"), PHI_STALE);
    CHECK_EQ_INT(phi_abort(agent), PHI_STALE);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_STALE);
    CHECK_EQ_INT(phi_agent_set_model(agent, &model), PHI_STALE);
    CHECK(!phi_agent_alive(agent));
    CHECK(!phi_agent_running(agent));
    CHECK_STR(phi_agent_id(agent), "");
    CHECK_STR(phi_agent_session_id(agent), "");
    CHECK_STR(phi_agent_model_id(agent), "");
    CHECK_EQ_INT(phi_agent_usage(agent).input, 0);
    CHECK(phi_agent_cost(agent) <= 0.0);
    CHECK_EQ_INT(phi_message_count(agent), 0);
    CHECK(phi_message_at(agent, 0) == NULL);
    CHECK_EQ_INT(phi_agent_memory_used(agent, &peak), 0);
    CHECK_EQ_INT(peak, 0);
    CHECK_EQ_INT(phi_agent_free(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_abort(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_reset(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set_model(none, &model), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set_model(next, NULL), PHI_BAD_ARG);
    CHECK(!phi_agent_alive(none));
    CHECK(!phi_agent_running(none));
    CHECK_EQ_INT(phi_message_count(none), 0);
    CHECK_STR(phi_agent_id(none), "");
    next.index = UINT32_MAX;
    CHECK(!phi_agent_alive(next));
    rig_free(r);
}

TEST(an_abort_posted_before_a_prompt_does_not_end_its_run) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    int i;
    for (i = 0; i < 3; i++) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    rig_says(r, "still here");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
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
    CHECK(strstr(phi_agent_last_loop_id(agent).at, ".openai_responses.gpt-5.") != NULL);
    rig_free(r);
}

TEST(while_a_run_goes_on_model_and_history_stay) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_model model = phi_model_anthropic("m", "k");
    const char *words = NULL;
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK(phi_agent_running(agent));
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_BUSY);
    (void)phi_last_error(rig_runtime(r), &words, NULL);
    CHECK_EQ_STR(words, "phi_agent_reset: a run is going on");
    CHECK_EQ_INT(phi_agent_set_model(agent, &model), PHI_BUSY);
    (void)phi_last_error(rig_runtime(r), &words, NULL);
    CHECK_EQ_STR(words, "phi_agent_set_model: a run is going on");
    CHECK_STR(phi_agent_model_id(agent), "test-model");
    rig_free(r);
}

TEST(a_new_model_takes_over_in_mid_conversation) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, NULL), configured;
    phi_model model = phi_model_anthropic("other-model", "key"), bad = model;
    rig_says(r, "first");
    rig_says(r, "second");
    rig_says(r, "third");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    (void)rig_run(r, 20);
    bad.id = "";
    CHECK_EQ_INT(phi_agent_set_model(agent, &bad), PHI_BAD_ARG);
    CHECK_STR(phi_agent_model_id(agent), "test-model");
    CHECK_EQ_INT(phi_agent_set_model(agent, &model), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "\"other-model\"") != NULL);
    CHECK_STR(phi_message_at(agent, 3)->loop_id, "session.anthropic.other-model.1");
    desc.config_id = "smith";
    configured = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_set_model(configured, &model), PHI_OK);
    CHECK_EQ_INT(phi_prompt(configured, "3"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_STR(phi_message_at(configured, 0)->loop_id, "session.smith.1");
    rig_free(r);
}

TEST(a_model_change_without_memory_changes_nothing) {
    int n;
    bool tripped = true;
    phi_model_header headers[2] = {{"X-One", "1"}, {"X-Two", "2"}};
    for (n = 0; tripped && n < 60; n++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL);
        phi_model model = phi_model_anthropic("other-model", "key");
        phi_status status;
        model.headers = headers;
        model.header_count = 2;
        test_alloc_fail_at(n);
        status = phi_agent_set_model(agent, &model);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        CHECK_STR(phi_agent_model_id(agent), tripped ? "test-model" : "other-model");
        rig_says(r, "fine");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK(strstr(rig_request(r, 0), tripped ? "\"test-model\"" : "\"other-model\"") != NULL);
        rig_free(r);
    }
    CHECK(n > 1);
}

TEST(a_reset_forgets_the_history_and_needs_no_memory) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    size_t empty = phi_agent_memory_used(agent, NULL);
    char session[64];
    rig_says(r, "first");
    rig_says(r, "second");
    CHECK_EQ_INT(phi_prompt(agent, "forget me"), PHI_OK);
    (void)rig_run(r, 20);
    test_alloc_fail_from(0);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    test_alloc_fail_at(-1);
    CHECK(phi_agent_memory_used(agent, NULL) <= empty);
    CHECK_EQ_INT(phi_message_count(agent), 0);
    CHECK_EQ_INT(phi_agent_session_id(agent).len, 36);
    memcpy(session, phi_agent_session_id(agent).at, 37);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    CHECK(strcmp(session, phi_agent_session_id(agent).at) != 0);
    CHECK_EQ_INT(phi_prompt(agent, "new"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "forget me") == NULL);
    CHECK_EQ_INT(phi_agent_usage(agent).input, 20);
    rig_free(r);
}

TEST(a_reset_with_events_in_the_queue_purges_them) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL), other = rig_agent(r, NULL);
    phi_event event;
    size_t n = 0;
    rig_silent(r, true);
    rig_says(r, "first");
    rig_says(r, "other");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(phi_prompt(other, "go"), PHI_OK);
    (void)rig_run(r, 20);
    REQUIRE(phi_next_event(rig_runtime(r), &event));
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    while (phi_next_event(rig_runtime(r), &event)) {
        CHECK_EQ_INT(event.agent.index, other.index);
        n++;
    }
    CHECK_EQ_INT(n, 9);
    rig_free(r);
}

TEST(agents_freed_unheard_leave_no_events_behind) {
    rig *r = rig_new();
    phi_agent first = rig_agent(r, NULL);
    phi_event event;
    size_t used = 0;
    int i;
    rig_silent(r, true);
    rig_says(r, "kept");
    CHECK_EQ_INT(phi_prompt(first, "go"), PHI_OK);
    (void)rig_run(r, 20);
    for (i = 0; i < 1000; i++) {
        phi_agent agent = rig_agent(r, NULL);
        rig_says(r, "unheard");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
        if (i == 10) used = phi_memory_used(rig_runtime(r), NULL);
    }
    CHECK_EQ_INT(phi_memory_used(rig_runtime(r), NULL), used);
    for (i = 0; phi_next_event(rig_runtime(r), &event); i++)
        CHECK_EQ_INT(event.agent.index, first.index);
    CHECK_EQ_INT(i, 9);
    rig_free(r);
}

TEST(a_prompt_refused_for_memory_may_be_tried_for_ever) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    size_t used = 0;
    int i;
    char text[3000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    desc.memory_limit_bytes = 8500;
    agent = rig_agent(r, &desc);
    REQUIRE(agent.rt != NULL);
    for (i = 0; i < 3; i++) rig_refuses(r, PHI_NETWORK);
    for (i = 0; i < 3 && phi_prompt(agent, text) == PHI_OK; i++) (void)rig_run(r, 20);
    for (i = 0; i < 100; i++) {
        CHECK_EQ_INT(phi_prompt(agent, text), PHI_NO_MEMORY);
        if (i == 0) used = phi_agent_memory_used(agent, NULL);
    }
    CHECK_EQ_INT(phi_agent_memory_used(agent, NULL), used);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "short"), PHI_OK);
    rig_free(r);
}

TEST(the_words_of_an_error_are_its_own) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_prompt(agent, ""), PHI_BAD_ARG); /* the runtime's last error */
    rig_refuses(r, PHI_REFUSED);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "Error network \"no server takes connections there\"\n") != NULL);
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
        desc.agent_id = desc.session_id = NULL;
        test_alloc_fail_at(n);
        agent = phi_agent_new(rig_runtime(r), &desc);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(agent.rt == NULL, tripped);
        if (tripped) {
            CHECK_EQ_INT(phi_last_error(rig_runtime(r), NULL, NULL), PHI_NO_MEMORY);
            CHECK(phi_memory_used(rig_runtime(r), NULL) - used < 4096); /* a page of slots stays */
        }
        rig_free(r);
    }
    CHECK(n > 5);
}

TEST(ten_thousand_agents_come_and_go) {
    rig *r = rig_new();
    enum { MANY = 10000 };
    phi_agent *agents = (phi_agent *)calloc(MANY, sizeof *agents);
    phi_event event;
    size_t i, ends = 0;
    REQUIRE(agents != NULL);
    for (i = 0; i < MANY; i++) {
        agents[i] = rig_agent(r, NULL);
        if (agents[i].rt == NULL) break;
    }
    CHECK_EQ_INT(i, MANY);
    CHECK(phi_agent_memory_used(agents[0], NULL) < 4096);
    rig_silent(r, true);
    for (i = 0; i < 1500; i++) rig_refuses(r, PHI_REFUSED);
    for (i = 0; i < 1500; i++) CHECK_EQ_INT(phi_prompt(agents[i], "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3000), 0);
    for (i = 0; i < 1000; i++) CHECK_EQ_INT(phi_agent_free(agents[i]), PHI_OK);
    while (phi_next_event(rig_runtime(r), &event)) ends += event.kind == PHI_EV_AGENT_END;
    CHECK_EQ_INT(ends, 500);
    for (i = 9999; i >= 5000; i--) CHECK_EQ_INT(phi_agent_free(agents[i]), PHI_OK);
    for (i = 0; i < 1000; i++) CHECK(!phi_agent_alive(agents[i]));
    free(agents);
    rig_free(r);
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

TEST(a_handle_of_zeros_is_a_bad_argument_everywhere) {
    phi_agent none;
    phi_model model = phi_model_anthropic("m", "k");
    phi_agent_desc desc;
    phi_raise by;
    bool rotated;
    memset(&none, 0, sizeof none);
    memset(&by, 0, sizeof by);
    CHECK_EQ_INT(phi_agent_get_desc(none, &desc), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_free(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_continue(none, PHI_CONTINUATION_DEFAULT), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_compact(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_send(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_abort(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_abort_run(none, NULL, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_stop(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_budget_raise(none, &by), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set_model(none, &model), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set_tools(none, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set_system_prompt(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set_format(none, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set_policy(none, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_set_repeat_limits(none, 1, 2), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_reset(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_new_session(none, true), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_check_and_rotate(none, 1, &rotated), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_rewrite_withdraw(none, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_clear_messages(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_steer(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_follow_up(none, "x"), PHI_BAD_ARG);
}

/* Its end is told from what was set aside for that, of which there is one set. */
TEST(a_run_that_ended_without_memory_is_heard_before_the_next_begins) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    const char *words = NULL;
    rig_says(r, "hello");
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    test_alloc_fail_from(0);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    test_alloc_fail_from(-1);
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_BUSY);
    (void)phi_last_error(rig_runtime(r), &words, NULL);
    CHECK_EQ_STR(words, "phi_prompt: the last run's events were not popped");
    rig_silent(r, false);
    (void)rig_step(r);
    (void)rig_step(r);
    rig_drop_answers(r);
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_bad_model_is_refused_with_the_field_to_fix),
          TEST_ENTRY(a_bad_tool_is_refused_with_its_name),
          TEST_ENTRY(a_base_url_that_phi_does_not_speak_is_refused_and_shown_without_its_secrets),
          TEST_ENTRY(a_tool_name_that_the_target_does_not_take_is_refused),
          TEST_ENTRY(a_schema_that_does_not_describe_an_object_is_refused),
          TEST_ENTRY(hooks_that_are_never_called_and_tools_that_nothing_can_approve_are_refused),
          TEST_ENTRY(numbers_that_make_no_sense_are_refused),
          TEST_ENTRY(a_tools_array_of_none_and_the_largest_numbers_are_taken),
          TEST_ENTRY(a_prompt_says_what_is_wrong_with_it),
          TEST_ENTRY(text_that_is_not_utf8_leaves_as_utf8),
          TEST_ENTRY(a_freed_agents_handle_is_stale_everywhere),
          TEST_ENTRY(an_abort_posted_before_a_prompt_does_not_end_its_run),
          TEST_ENTRY(a_provider_under_its_old_name_is_one_with_the_name_of_today),
          TEST_ENTRY(while_a_run_goes_on_model_and_history_stay),
          TEST_ENTRY(a_new_model_takes_over_in_mid_conversation),
          TEST_ENTRY(a_model_change_without_memory_changes_nothing),
          TEST_ENTRY(a_reset_forgets_the_history_and_needs_no_memory),
          TEST_ENTRY(a_reset_with_events_in_the_queue_purges_them),
          TEST_ENTRY(agents_freed_unheard_leave_no_events_behind),
          TEST_ENTRY(a_prompt_refused_for_memory_may_be_tried_for_ever),
          TEST_ENTRY(the_words_of_an_error_are_its_own),
          TEST_ENTRY(an_agent_that_is_not_made_leaves_nothing),
          TEST_ENTRY(ten_thousand_agents_come_and_go),
          TEST_ENTRY(a_handle_of_zeros_is_a_bad_argument_everywhere),
          TEST_ENTRY(a_run_that_ended_without_memory_is_heard_before_the_next_begins),
          TEST_ENTRY(a_keyword_of_a_schema_that_would_restrict_and_is_not_understood_is_named))
