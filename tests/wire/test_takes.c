/* test_takes.c - the settings that not every target takes, and raw tools: what each protocol
   writes for them, what it leaves out, and the words of that. */
#include "wire/wire_in.h"
#include "wire/wire_support.h"
#include "support/codec_of.h"

static const char *const stops[] = {"END", "\"\n"};

/* Every setting at once. */
static void all_set(conversation *t) {
    t->spec.options.top_p = 0.9;
    t->spec.options.top_k = 40;
    t->spec.options.stop = stops;
    t->spec.options.stop_count = 2;
    t->spec.options.has_seed = true;
    t->spec.options.seed = -7;
    t->spec.options.service_tier = "flex";
    t->spec.options.serial_calls = true;
    t->spec.temperature = 0.5;
}

static const phi__tool_view one_tool[] = {
    {{"read", 4}, {"", 0}, {"{\"type\":\"object\"}", 17}, false, NULL, false, {NULL, 0}, false}};

static void begin(conversation *t, phi_model model) {
    talk_begin(t, model);
    talk_user(t, "hi");
    t->spec.cache.mode = PHI_CACHE_DISABLED;
    all_set(t);
}

static void check_left_out(conversation *t, const char *want) {
    char words[400];
    phi_status status =
        phi__takes_preflight(codec_of(t->model.protocol), &t->spec, words, sizeof words);
    CHECK_EQ_STR(words, want);
    CHECK_EQ_INT(status, want[0] == '\0' ? PHI_OK : PHI_UNSUPPORTED);
}

/* ---- each protocol ---- */

TEST(messages_has_all_but_a_seed) {
    conversation t;
    begin(&t, phi_model_anthropic("claude-sonnet-4-6", "K"));
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    talk_render_ok(&t);
    CHECK_EQ_STR(
        t.body,
        "{\"model\":\"claude-sonnet-4-6\",\"max_tokens\":8192,\"stream\":true,"
        "\"temperature\":0.5,\"top_p\":0.9,\"top_k\":40,"
        "\"stop_sequences\":[\"END\",\"\\\"\\n\"],\"service_tier\":\"flex\","
        "\"tool_choice\":{\"type\":\"auto\",\"disable_parallel_tool_use\":true},"
        "\"tools\":[{\"name\":\"read\",\"input_schema\":{\"type\":\"object\"}}],"
        "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]}");
    check_left_out(&t, "seed is not sent");
    t.spec.tool_choice = PHI_TOOL_CHOICE_NONE;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "{\"type\":\"none\"}");
    t.spec.tool_choice = PHI_TOOL_CHOICE_REQUIRED;
    t.spec.respond_only = true;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "{\"type\":\"tool\",\"name\":\"respond_json\","
                                             "\"disable_parallel_tool_use\":true}");
    talk_free(&t);
}

TEST(claude_that_thinks_or_is_new_gets_no_sampling) {
    conversation t;
    begin(&t, phi_model_anthropic("claude-sonnet-4-6", "K"));
    t.spec.thinking = PHI_THINKING_LOW;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "top_p"), "");
    CHECK_EQ_STR(talk_at(&t, "top_k"), "");
    CHECK_EQ_STR(talk_at(&t, "temperature"), "");
    CHECK_EQ_STR(talk_at(&t, "stop_sequences"), "[\"END\",\"\\\"\\n\"]");
    check_left_out(&t, "temperature is not sent; top_p is not sent; top_k is not sent; "
                       "seed is not sent");
    talk_free(&t);
    begin(&t, phi_model_anthropic("claude-opus-4-8", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "top_p"), "");
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "");
    talk_free(&t);
}

TEST(chat_writes_them_in_the_words_of_the_server) {
    conversation t;
    begin(&t, phi_model_openai("gpt-4o", "K"));
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "top_p"), "0.9");
    CHECK_EQ_STR(talk_at(&t, "top_k"), "");
    CHECK_EQ_STR(talk_at(&t, "stop"), "[\"END\",\"\\\"\\n\"]");
    CHECK_EQ_STR(talk_at(&t, "seed"), "-7");
    CHECK_EQ_STR(talk_at(&t, "service_tier"), "\"flex\"");
    CHECK_EQ_STR(talk_at(&t, "parallel_tool_calls"), "false");
    check_left_out(&t, "top_k is not sent");
    t.spec.tool_count = 0; /* without tools the API refuses it */
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "parallel_tool_calls"), "");
    talk_free(&t);
    begin(&t, phi_model_preset("mistral", "mistral-large", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "random_seed"), "-7");
    CHECK_EQ_STR(talk_at(&t, "seed"), "");
    talk_free(&t);
    begin(&t, phi_model_preset("vllm", "m", NULL));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "top_k"), "40");
    check_left_out(&t, "");
    talk_free(&t);
}

TEST(openai_models_that_reason_get_neither_sampling_nor_stop_texts) {
    conversation t;
    begin(&t, phi_model_openai("gpt-5-mini", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "top_p"), "");
    CHECK_EQ_STR(talk_at(&t, "stop"), "");
    CHECK_EQ_STR(talk_at(&t, "seed"), "-7");
    check_left_out(&t, "temperature is not sent; top_p is not sent; top_k is not sent; "
                       "stop is not sent");
    talk_free(&t);
    begin(&t, phi_model_openai("o3", "K"));
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "parallel_tool_calls"), "");
    talk_free(&t);
}

TEST(responses_has_top_p_a_tier_and_serial_calls) {
    conversation t;
    begin(&t, phi_model_openai_responses("gpt-4o", "K"));
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    t.model.reasoning = false;
    talk_render_ok(&t);
    CHECK_EQ_STR(t.body,
                 "{\"model\":\"gpt-4o\",\"stream\":true,\"store\":false,"
                 "\"max_output_tokens\":8192,\"temperature\":0.5,\"top_p\":0.9,"
                 "\"service_tier\":\"flex\",\"tool_choice\":\"auto\","
                 "\"parallel_tool_calls\":false,\"tools\":[{\"type\":\"function\","
                 "\"name\":\"read\",\"parameters\":{\"type\":\"object\"},\"strict\":false}],"
                 "\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
                 "\"text\":\"hi\"}]}]}");
    check_left_out(&t, "top_k is not sent; stop is not sent; seed is not sent");
    t.model.reasoning = true;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "top_p"), "");
    talk_free(&t);
}

TEST(gemini_has_them_in_its_generation_config) {
    conversation t;
    begin(&t, phi_model_google("gemini-2.0-flash", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(t.body,
                 "{\"generationConfig\":{\"maxOutputTokens\":8192,\"temperature\":0.5,"
                 "\"topP\":0.9,\"topK\":40,\"stopSequences\":[\"END\",\"\\\"\\n\"],\"seed\":-7},"
                 "\"serviceTier\":\"flex\","
                 "\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hi\"}]}]}");
    check_left_out(&t, "serial_calls is not sent");
    talk_free(&t);
    begin(&t, phi_model_google("gemini-3-pro-preview", "K"));
    t.spec.thinking = PHI_THINKING_HIGH;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "generationConfig.topP"), "");
    CHECK_EQ_STR(talk_at(&t, "generationConfig.seed"), "-7");
    talk_free(&t);
}

TEST(bedrock_has_claudes_own_in_the_fields_for_the_model) {
    conversation t;
    begin(&t, phi_model_bedrock(NULL, "anthropic.claude-sonnet-4-6-v1:0", "K"));
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    talk_render_ok(&t);
    CHECK_EQ_STR(
        t.body, "{\"inferenceConfig\":{\"maxTokens\":8192,\"temperature\":0.5,\"topP\":0.9,"
                "\"stopSequences\":[\"END\",\"\\\"\\n\"]},\"serviceTier\":{\"type\":\"flex\"},"
                "\"additionalModelRequestFields\":{\"top_k\":40,\"tool_choice\":{\"type\":\"auto\","
                "\"disable_parallel_tool_use\":true}},"
                "\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"hi\"}]}],"
                "\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"read\",\"inputSchema\":"
                "{\"json\":{\"type\":\"object\"}}}}]}}");
    t.spec.tool_choice = PHI_TOOL_CHOICE_REQUIRED;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "additionalModelRequestFields.tool_choice.type"), "\"any\"");
    CHECK_EQ_STR(talk_at(&t, "toolConfig.toolChoice"), "");
    t.spec.respond_only = true;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "additionalModelRequestFields.tool_choice.name"), "\"respond_json\"");
    check_left_out(&t, "seed is not sent");
    talk_free(&t);
    begin(&t, phi_model_bedrock(NULL, "amazon.nova-pro-v1:0", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "additionalModelRequestFields"), "");
    CHECK_EQ_STR(talk_at(&t, "inferenceConfig.topP"), "0.9");
    check_left_out(&t, "top_k is not sent; seed is not sent; serial_calls is not sent");
    talk_free(&t);
    begin(&t, phi_model_bedrock(NULL, "openai.gpt-6-luna", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "inferenceConfig"), "{\"maxTokens\":8192}");
    talk_free(&t);
    begin(&t, phi_model_bedrock(NULL, "openai.gpt-oss-120b-1:0", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "inferenceConfig"),
                 "{\"maxTokens\":8192,\"temperature\":0.5,\"topP\":0.9}");
    talk_free(&t);
}

TEST(settings_that_are_zero_change_no_byte) {
    conversation t;
    begin(&t, phi_model_anthropic("claude-sonnet-4-6", "K"));
    memset(&t.spec.options, 0, sizeof t.spec.options);
    t.spec.temperature = -1;
    talk_render_ok(&t);
    CHECK_EQ_STR(
        t.body,
        "{\"model\":\"claude-sonnet-4-6\",\"max_tokens\":8192,\"stream\":true,"
        "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]}");
    check_left_out(&t, "");
    talk_free(&t);
}

/* ---- thinking above high ---- */

static void check_level(phi_model model, phi_thinking level, const char *path, const char *want,
                        const char *words) {
    conversation t;
    talk_begin(&t, model);
    talk_user(&t, "hi");
    t.spec.thinking = level;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, path), want);
    check_left_out(&t, words);
    talk_free(&t);
}

static phi_model thinks(phi_model model) {
    model.reasoning = true;
    return model;
}

TEST(claude_has_the_words_xhigh_and_max_where_its_version_has) {
    check_level(phi_model_anthropic("claude-opus-5", "K"), PHI_THINKING_XHIGH,
                "output_config.effort", "\"xhigh\"", "");
    check_level(phi_model_anthropic("claude-opus-4-7", "K"), PHI_THINKING_MAX,
                "output_config.effort", "\"max\"", "");
    check_level(phi_model_anthropic("claude-sonnet-4-6", "K"), PHI_THINKING_MAX,
                "output_config.effort", "\"max\"", "");
    check_level(phi_model_anthropic("claude-sonnet-4-6", "K"), PHI_THINKING_XHIGH,
                "output_config.effort", "\"high\"", "thinking is lowered to high");
    check_level(phi_model_anthropic("claude-sonnet-4-5", "K"), PHI_THINKING_XHIGH,
                "thinking.budget_tokens", "32768", "");
    check_level(phi_model_anthropic("claude-sonnet-4-5", "K"), PHI_THINKING_MAX,
                "thinking.budget_tokens", "62976", ""); /* 64,000, and room for an answer */
    check_level(thinks(phi_model_bedrock(NULL, "anthropic.claude-opus-4-8-v1:0", "K")),
                PHI_THINKING_MAX, "additionalModelRequestFields.output_config.effort", "\"max\"",
                "");
    check_level(thinks(phi_model_bedrock(NULL, "openai.gpt-oss-120b-1:0", "K")), PHI_THINKING_XHIGH,
                "additionalModelRequestFields.reasoning_effort", "\"high\"",
                "thinking is lowered to high");
}

TEST(openai_models_get_the_highest_effort_that_each_has) {
    static const char low[] = "thinking is lowered to high";
    check_level(phi_model_openai("gpt-5-mini", "K"), PHI_THINKING_MAX, "reasoning_effort",
                "\"high\"", low);
    check_level(phi_model_openai("gpt-5.1", "K"), PHI_THINKING_XHIGH, "reasoning_effort",
                "\"high\"", low);
    check_level(phi_model_openai("gpt-5.1-codex-max", "K"), PHI_THINKING_XHIGH, "reasoning_effort",
                "\"xhigh\"", "");
    check_level(phi_model_openai("gpt-5.4", "K"), PHI_THINKING_MAX, "reasoning_effort", "\"xhigh\"",
                "thinking is lowered to xhigh");
    check_level(phi_model_openai("gpt-5.6-sol", "K"), PHI_THINKING_MAX, "reasoning_effort",
                "\"max\"", "");
    check_level(phi_model_openai_responses("gpt-6-sol", "K"), PHI_THINKING_MAX, "reasoning.effort",
                "\"max\"", "");
    check_level(phi_model_openai_responses("gpt-6-sol", "K"), PHI_THINKING_OFF, "reasoning.effort",
                "\"none\"", "");
    check_level(phi_model_openai_responses("gpt-6-astra", "K"), PHI_THINKING_OFF,
                "reasoning.effort", "\"low\"", "");
    check_level(phi_model_openai_responses("o3", "K"), PHI_THINKING_XHIGH, "reasoning.effort",
                "\"high\"", low);
    check_level(thinks(phi_model_preset("openrouter", "x/y", "K")), PHI_THINKING_MAX,
                "reasoning.effort", "\"xhigh\"", "thinking is lowered to xhigh");
    check_level(thinks(phi_model_preset("qwen", "m", "K")), PHI_THINKING_MAX, "thinking_budget",
                "32768", "thinking is lowered to xhigh");
}

TEST(gemini_has_one_model_with_xhigh_and_budgets_up_to_its_most) {
    static const char path[] = "generationConfig.thinkingConfig.thinkingLevel";
    static const char budget[] = "generationConfig.thinkingConfig.thinkingBudget";
    check_level(thinks(phi_model_google("gemini-4-hydrogen", "K")), PHI_THINKING_MAX, path,
                "\"XHIGH\"", "thinking is lowered to xhigh");
    check_level(thinks(phi_model_google("gemini-4-argon", "K")), PHI_THINKING_XHIGH, path,
                "\"HIGH\"", "thinking is lowered to high");
    check_level(thinks(phi_model_google("gemini-3.8-flash", "K")), PHI_THINKING_MINIMAL, path,
                "\"LOW\"", "");
    check_level(thinks(phi_model_google("gemini-3.6-flash", "K")), PHI_THINKING_MINIMAL, path,
                "\"MINIMAL\"", "");
    check_level(thinks(phi_model_google("gemini-2.5-pro", "K")), PHI_THINKING_XHIGH, budget,
                "32768", "");
    check_level(thinks(phi_model_google("gemini-2.5-flash", "K")), PHI_THINKING_XHIGH, budget,
                "24576", "");
}

TEST(thinking_of_a_model_that_cannot_is_named) {
    check_level(phi_model_local("http://h:1/v1", "m", NULL), PHI_THINKING_LOW, "reasoning_effort",
                "", "thinking is not sent");
}

/* ---- raw tools ---- */

#define SEARCH "{\"type\": \"web_search_20250305\", \"name\":\"web_search\"}"

static const phi__tool_view mixed[] = {
    {{"read", 4}, {"", 0}, {"{\"type\":\"object\"}", 17}, false, NULL, false, {NULL, 0}, false},
    {{"memory", 6}, {"", 0}, {"", 0}, false, NULL, true, {"{\"m\":1}", 7}, false},
    {{NULL, 0}, {NULL, 0}, {NULL, 0}, false, NULL, true, {SEARCH, sizeof SEARCH - 1}, false}};

static void check_raw(phi_model model, const phi__tool_view *tools, size_t count,
                      const char *want) {
    conversation t;
    talk_begin(&t, model);
    talk_user(&t, "hi");
    t.spec.tools = tools;
    t.spec.tool_count = count;
    talk_render_ok(&t);
    CHECK(strstr(t.body, want) != NULL);
    if (strstr(t.body, want) == NULL) fprintf(stderr, "body: %s\n", t.body);
    talk_free(&t);
}

TEST(raw_tools_are_sent_byte_for_byte_behind_those_with_schemas) {
    check_raw(phi_model_anthropic("claude-sonnet-4-6", "K"), mixed, 3,
              "\"tools\":[{\"name\":\"read\",\"input_schema\":{\"type\":\"object\"},"
              "\"cache_control\":{\"type\":\"ephemeral\"}},{\"m\":1}," SEARCH "],");
    check_raw(phi_model_openai("gpt-4o", "K"), mixed, 3,
              "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"read\",\"parameters\":"
              "{\"type\":\"object\"}}},{\"m\":1}," SEARCH "],");
    check_raw(phi_model_openai_responses("gpt-4o", "K"), mixed, 3,
              "\"tools\":[{\"type\":\"function\",\"name\":\"read\",\"parameters\":"
              "{\"type\":\"object\"},\"strict\":false},{\"m\":1}," SEARCH "],");
    check_raw(phi_model_google("gemini-3-flash", "K"), mixed, 3,
              "\"tools\":[{\"functionDeclarations\":[{\"name\":\"read\","
              "\"parametersJsonSchema\":{\"type\":\"object\"}}]},{\"m\":1}," SEARCH "],");
    check_raw(
        phi_model_bedrock(NULL, "amazon.nova-pro-v1:0", "K"), mixed, 3,
        "\"toolConfig\":{\"tools\":[{\"toolSpec\":{\"name\":\"read\",\"inputSchema\":{\"json\":"
        "{\"type\":\"object\"}}}},{\"m\":1}," SEARCH "]}}");
}

TEST(raw_tools_alone_are_a_list_as_well) {
    check_raw(phi_model_anthropic("claude-sonnet-4-6", "K"), mixed + 1, 2,
              "\"tool_choice\":{\"type\":\"auto\"},\"tools\":[{\"m\":1}," SEARCH "],\"messages\"");
    check_raw(phi_model_openai_responses("gpt-4o", "K"), mixed + 1, 2,
              "\"tools\":[{\"m\":1}," SEARCH "],\"input\"");
    check_raw(phi_model_google("gemini-3-flash", "K"), mixed + 1, 2,
              "},\"tools\":[{\"m\":1}," SEARCH "],\"contents\""); /* and no choice */
    check_raw(phi_model_bedrock(NULL, "amazon.nova-pro-v1:0", "K"), mixed + 1, 2,
              "\"toolConfig\":{\"tools\":[{\"m\":1}," SEARCH "]}}");
}

TEST(a_raw_tool_without_a_name_passes_the_check_of_names) {
    char words[200];
    conversation t;
    talk_begin(&t, phi_model_anthropic("claude-sonnet-4-6", "K"));
    talk_user(&t, "hi");
    t.spec.tools = mixed;
    t.spec.tool_count = 3;
    CHECK_EQ_INT(phi__preflight(codec_of(t.model.protocol), &t.spec, words, sizeof words), PHI_OK);
    CHECK_EQ_STR(words, "");
    talk_free(&t);
}

/* ---- options ---- */

TEST(options_that_no_request_can_have_are_named) {
    static const char *const hole[] = {"a", NULL};
    static const char *const empty[] = {""};
    phi_request_options o;
    memset(&o, 0, sizeof o);
    CHECK(phi__takes_fault(&o) == NULL);
    o.top_p = 1.5;
    CHECK_EQ_STR(phi__takes_fault(&o), "options.top_p: expected above 0, to 1");
    o.top_p = -0.5;
    CHECK_EQ_STR(phi__takes_fault(&o), "options.top_p: expected above 0, to 1");
    o.top_p = 1;
    o.stop_count = 17;
    CHECK_EQ_STR(phi__takes_fault(&o), "options.stop_count: expected at most 16");
    o.stop_count = 2;
    CHECK_EQ_STR(phi__takes_fault(&o), "options.stop is missing");
    o.stop = hole;
    CHECK_EQ_STR(phi__takes_fault(&o), "options.stop: a text is missing or empty");
    o.stop = empty;
    o.stop_count = 1;
    CHECK_EQ_STR(phi__takes_fault(&o), "options.stop: a text is missing or empty");
    o.stop = stops;
    o.service_tier = "";
    CHECK_EQ_STR(phi__takes_fault(&o), "options.service_tier is empty");
    o.service_tier = "flex";
    CHECK(phi__takes_fault(&o) == NULL);
}

TEST_MAIN(TEST_ENTRY(messages_has_all_but_a_seed),
          TEST_ENTRY(claude_that_thinks_or_is_new_gets_no_sampling),
          TEST_ENTRY(chat_writes_them_in_the_words_of_the_server),
          TEST_ENTRY(openai_models_that_reason_get_neither_sampling_nor_stop_texts),
          TEST_ENTRY(responses_has_top_p_a_tier_and_serial_calls),
          TEST_ENTRY(gemini_has_them_in_its_generation_config),
          TEST_ENTRY(bedrock_has_claudes_own_in_the_fields_for_the_model),
          TEST_ENTRY(settings_that_are_zero_change_no_byte),
          TEST_ENTRY(claude_has_the_words_xhigh_and_max_where_its_version_has),
          TEST_ENTRY(openai_models_get_the_highest_effort_that_each_has),
          TEST_ENTRY(gemini_has_one_model_with_xhigh_and_budgets_up_to_its_most),
          TEST_ENTRY(thinking_of_a_model_that_cannot_is_named),
          TEST_ENTRY(raw_tools_are_sent_byte_for_byte_behind_those_with_schemas),
          TEST_ENTRY(raw_tools_alone_are_a_list_as_well),
          TEST_ENTRY(a_raw_tool_without_a_name_passes_the_check_of_names),
          TEST_ENTRY(options_that_no_request_can_have_are_named))
