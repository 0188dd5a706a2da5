/* test_format.c - structured output in the bytes of every protocol: its own way where it has one, the tool
   where it has none; and what becomes of the tool's call when it comes back. */
#include "wire/wire_in.h"
#include "wire/structured.h"
#include "wire_support.h"
#include "support/codec_of.h"

#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":1},"             \
    "\"s\":{\"type\":\"string\"}},\"required\":[\"n\"]}"
#define OPEN "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}}"
#define LINE                                                                                       \
    "Give your final answer by calling the tool respond_json, once and as the last thing you do; " \
    "the arguments are the answer."

static char words[400];

static phi_format json_schema(bool strict) {
    phi_format format;
    memset(&format, 0, sizeof format);
    format.kind = PHI_FORMAT_JSON_SCHEMA;
    format.schema = SCHEMA;
    format.strict = strict;
    return format;
}

static phi_format json_object(void) {
    phi_format format;
    memset(&format, 0, sizeof format);
    format.kind = PHI_FORMAT_JSON_OBJECT;
    return format;
}

static const phi__tool_view look = {{"look", 4}, {"Looks.", 6}, {"{\"type\":\"object\"}", 17},
                                    false,       NULL,          false,
                                    {NULL, 0},   false};

/* Renders "hi" with a format and `tools` tools of the agent's own; its preflight is looked at too. */
static phi_status renders(conversation *t, phi_model model, phi_format format, size_t tools) {
    const phi__codec *codec = codec_of(model.protocol);
    phi_status status;
    char why[200];
    talk_begin(t, model);
    t->spec.system_prompt = phi_str_of("Be brief.");
    t->spec.tools = &look;
    t->spec.tool_count = tools;
    t->spec.format = format;
    t->spec.cache.mode = PHI_CACHE_DISABLED;
    talk_user(t, "hi");
    status = phi__format_apply(codec, &t->spec, &t->kept, words, sizeof words);
    if (status != PHI_OK) return status;
    CHECK_EQ_STR(words, "");
    if (!CHECK_EQ_INT(phi__preflight(codec, &t->spec, why, sizeof why), PHI_OK)) puts(why);
    return talk_render(t, 0);
}

/* The same with thinking. */
static phi_status thinks(conversation *t, phi_model model, phi_format format, size_t tools) {
    const phi__codec *codec = codec_of(model.protocol);
    talk_begin(t, model);
    t->spec.tools = &look;
    t->spec.tool_count = tools;
    t->spec.format = format;
    t->spec.cache.mode = PHI_CACHE_DISABLED;
    t->spec.thinking = PHI_THINKING_LOW;
    talk_user(t, "hi");
    if (phi__format_apply(codec, &t->spec, &t->kept, words, sizeof words) != PHI_OK)
        return PHI_BAD_ARG;
    return talk_render(t, 0);
}

/* ---- its own way ---- */

TEST(chat_sends_a_schema_as_response_format) {
    conversation t;
    phi_format format = json_schema(false);
    CHECK_EQ_INT(renders(&t, phi_model_openai("gpt-4.1", "k"), format, 1), PHI_OK);
    CHECK_EQ_STR(
        talk_at(&t, "response_format"),
        "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"response\",\"strict\":false,"
        "\"schema\":" SCHEMA "}}");
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "\"auto\"");
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "tools")), 1);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content"), "\"Be brief.\"");
    talk_free(&t);
    format.name = "point";
    CHECK_EQ_INT(renders(&t, phi_model_openai("gpt-4.1", "k"), format, 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "response_format.json_schema.name"), "\"point\"");
    CHECK_EQ_STR(talk_at(&t, "tools"), "");
    talk_free(&t);
}

TEST(a_strict_schema_is_sent_in_the_form_that_openai_wants) {
    conversation t;
    CHECK_EQ_INT(renders(&t, phi_model_openai("gpt-4.1", "k"), json_schema(true), 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "response_format.json_schema.strict"), "true");
    CHECK_EQ_STR(talk_at(&t, "response_format.json_schema.schema.required"), "[\"n\",\"s\"]");
    CHECK_EQ_STR(talk_at(&t, "response_format.json_schema.schema.additionalProperties"), "false");
    talk_free(&t);
    CHECK_EQ_INT(
        renders(&t, phi_model_preset("mistral", "mistral-large-latest", "k"), json_schema(true), 0),
        PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "response_format.json_schema.schema.required"), "[\"n\",\"s\"]");
    CHECK_EQ_STR(talk_at(&t, "response_format.json_schema.schema.properties.n.minimum"), "");
    talk_free(&t);
}

TEST(a_strict_schema_that_has_no_strict_form_is_refused_with_words) {
    conversation t;
    phi_format format = json_schema(true);
    format.schema = OPEN;
    CHECK_EQ_INT(renders(&t, phi_model_openai("gpt-4.1", "k"), format, 0), PHI_BAD_ARG);
    CHECK(strncmp(words, "SchemaMismatch: format.schema: ", 31) == 0);
    CHECK(strstr(words, "additionalProperties") != NULL);
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_anthropic("claude-sonnet-4-5", "k"), format, 0),
                 PHI_BAD_ARG);
    CHECK(strstr(words, "additionalProperties") != NULL);
    talk_free(&t);
    format.strict = false;
    CHECK_EQ_INT(renders(&t, phi_model_openai("gpt-4.1", "k"), format, 0), PHI_OK);
    talk_free(&t);
}

TEST(chat_asks_for_any_object_with_the_word_in_the_prompt) {
    conversation t;
    CHECK_EQ_INT(renders(&t, phi_model_preset("deepseek", "deepseek-chat", "k"), json_object(), 1),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "response_format"), "{\"type\":\"json_object\"}");
    CHECK_EQ_STR(talk_at(&t, "messages[0].content"),
                 "\"Be brief.\\n\\nAnswer with one JSON object and nothing else.\"");
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_preset("lm_studio", "qwen", NULL), json_object(), 0),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "response_format.type"), "\"json_schema\"");
    CHECK_EQ_STR(talk_at(&t, "response_format.json_schema.schema"), "{\"type\":\"object\"}");
    talk_free(&t);
}

TEST(responses_and_azure_send_it_as_text_format) {
    conversation t;
    CHECK_EQ_INT(renders(&t, phi_model_openai_responses("gpt-5", "k"), json_schema(false), 1),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "text"),
                 "{\"format\":{\"type\":\"json_schema\",\"name\":\"response\",\"strict\":false,"
                 "\"schema\":" SCHEMA "}}");
    CHECK_EQ_STR(talk_at(&t, "instructions"), "\"Be brief.\"");
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_azure("https://r.openai.azure.com/openai/v1", "gpt-5", "k"),
                         json_schema(true), 0),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "text.format.strict"), "true");
    CHECK_EQ_STR(talk_at(&t, "text.format.schema.required"), "[\"n\",\"s\"]");
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_openai_responses("gpt-5", "k"), json_object(), 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "text"), "{\"format\":{\"type\":\"json_object\"}}");
    CHECK_EQ_STR(talk_at(&t, "input"),
                 "[{\"role\":\"developer\",\"content\":[{\"type\":\"input_text\",\"text\":"
                 "\"Answer with one JSON object and nothing else.\"}]},"
                 "{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"hi\"}]}]");
    talk_free(&t);
}

TEST(gemini_and_vertex_send_it_in_the_generation_config) {
    conversation t;
    phi_format format = json_schema(true);
    CHECK_EQ_INT(renders(&t, phi_model_google("gemini-2.5-flash", "k"), format, 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "generationConfig.responseMimeType"), "\"application/json\"");
    CHECK_EQ_STR(talk_at(&t, "generationConfig.responseJsonSchema"), SCHEMA);
    CHECK_EQ_STR(talk_at(&t, "generationConfig.thinkingConfig.thinkingBudget"), "0");
    talk_free(&t);
    format.schema = "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"a\"}}}";
    CHECK_EQ_INT(renders(&t,
                         phi_model_vertex("https://e/v1/projects/p/locations/l",
                                          "gemini-3-pro-preview", "k"),
                         format, 1),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "generationConfig.responseJsonSchema.properties.k"),
                 "{\"enum\":[\"a\"]}");
    CHECK_EQ_STR(talk_at(&t, "toolConfig.functionCallingConfig.mode"), "\"AUTO\"");
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_google("gemini-2.5-flash", "k"), json_object(), 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "generationConfig.responseMimeType"), "\"application/json\"");
    CHECK_EQ_STR(talk_at(&t, "generationConfig.responseJsonSchema"), "");
    talk_free(&t);
}

TEST(claude_takes_a_schema_beside_the_effort) {
    conversation t;
    CHECK_EQ_INT(renders(&t, phi_model_anthropic("claude-sonnet-4-5", "k"), json_schema(false), 1),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "output_config.format.type"), "\"json_schema\"");
    CHECK_EQ_STR(talk_at(&t, "output_config.format.schema.additionalProperties"), "false");
    CHECK_EQ_STR(talk_at(&t, "output_config.format.schema.required"), "[\"n\"]");
    CHECK_EQ_STR(talk_at(&t, "output_config.format.schema.properties.n.minimum"), "");
    CHECK_EQ_STR(talk_at(&t, "output_config.effort"), "");
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "{\"type\":\"auto\"}");
    talk_free(&t);
    CHECK_EQ_INT(thinks(&t, phi_model_anthropic("claude-opus-4-6", "k"), json_schema(false), 0),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "output_config.effort"), "\"low\"");
    CHECK_EQ_STR(talk_at(&t, "output_config.format.type"), "\"json_schema\"");
    CHECK_EQ_STR(talk_at(&t, "thinking.type"), "\"adaptive\"");
    CHECK_EQ_STR(talk_at(&t, "tools"), "");
    talk_free(&t);
}

TEST(claude_at_bedrock_takes_the_schema_as_a_text) {
    conversation t;
    const char *schema;
    CHECK_EQ_INT(thinks(&t, phi_model_bedrock(NULL, "us.anthropic.claude-opus-4-6-v1", "k"),
                        json_schema(false), 0),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "outputConfig.textFormat.type"), "\"json_schema\"");
    CHECK_EQ_STR(talk_at(&t, "outputConfig.textFormat.structure.jsonSchema.name"), "\"response\"");
    schema = phi_json_str(
                 phi_json_path(t.tree, "outputConfig.textFormat.structure.jsonSchema.schema"), "")
                 .at;
    CHECK(strstr(schema, "\"additionalProperties\":false") != NULL);
    CHECK_EQ_STR(talk_at(&t, "additionalModelRequestFields.output_config"), "{\"effort\":\"low\"}");
    talk_free(&t);
}

TEST(other_models_of_bedrock_are_refused_by_name) {
    conversation t;
    CHECK_EQ_INT(
        renders(&t, phi_model_bedrock(NULL, "amazon.nova-pro-v1:0", "k"), json_object(), 0),
        PHI_BAD_ARG);
    CHECK_EQ_STR(words, "SchemaMismatch: structured output is not available for the model "
                        "amazon.nova-pro-v1:0");
    talk_free(&t);
}

TEST(the_words_may_be_left_out) {
    conversation t;
    phi_format format = json_schema(false);
    const phi__codec *codec;
    phi_model model = phi_model_anthropic("claude-sonnet-4-5", "k");
    format.schema = OPEN;
    codec = codec_of(model.protocol);
    talk_begin(&t, model);
    talk_user(&t, "hi");
    t.spec.format = format;
    CHECK_EQ_INT(phi__format_apply(codec, &t.spec, &t.kept, NULL, 0), PHI_OK);
    CHECK(t.spec.respond);
    talk_free(&t);
}

/* ---- the tool ---- */

TEST(an_older_claude_is_made_to_call_the_tool) {
    conversation t;
    CHECK_EQ_INT(
        renders(&t, phi_model_anthropic("claude-3-5-haiku-latest", "k"), json_schema(false), 0),
        PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "output_config"), "");
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "{\"type\":\"tool\",\"name\":\"respond_json\"}");
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "tools")), 1);
    CHECK_EQ_STR(talk_at(&t, "tools[0].name"), "\"respond_json\"");
    CHECK_EQ_STR(talk_at(&t, "tools[0].input_schema"), SCHEMA);
    CHECK_EQ_STR(talk_at(&t, "system[0].text"), "\"Be brief.\"");
    CHECK(t.spec.respond && t.spec.respond_only);
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_anthropic("claude-3-5-haiku-latest", "k"), json_object(), 1),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "{\"type\":\"any\"}");
    CHECK_EQ_STR(talk_at(&t, "tools[0].name"), "\"look\"");
    CHECK_EQ_STR(talk_at(&t, "tools[1].name"), "\"respond_json\"");
    CHECK_EQ_STR(talk_at(&t, "tools[1].input_schema"), "{\"type\":\"object\"}");
    CHECK_EQ_STR(talk_at(&t, "system[0].text"), "\"Be brief.\\n\\n" LINE "\"");
    talk_free(&t);
}

TEST(a_schema_of_open_objects_goes_to_claude_by_the_tool) {
    conversation t;
    phi_format format = json_schema(false);
    format.schema = OPEN;
    CHECK_EQ_INT(renders(&t, phi_model_anthropic("claude-sonnet-4-5", "k"), format, 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "tools[0].input_schema"), OPEN);
    CHECK_EQ_STR(talk_at(&t, "output_config"), "");
    talk_free(&t);
}

TEST(a_claude_that_thinks_is_told_instead_of_forced) {
    conversation t;
    CHECK_EQ_INT(thinks(&t, phi_model_anthropic("claude-sonnet-4-5", "k"), json_object(), 0),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "{\"type\":\"auto\"}");
    CHECK_EQ_STR(talk_at(&t, "system[0].text"), "\"" LINE "\"");
    CHECK(t.spec.respond && !t.spec.respond_only);
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_anthropic("claude-opus-5-5", "k"), json_object(), 0),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "{\"type\":\"auto\"}"); /* refuses to be forced */
    talk_free(&t);
}

TEST(claude_at_bedrock_is_made_to_call_the_tool) {
    conversation t;
    const char *old = "anthropic.claude-3-5-sonnet-20241022-v2:0";
    CHECK_EQ_INT(renders(&t, phi_model_bedrock(NULL, old, "k"), json_schema(false), 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "toolConfig.toolChoice"), "{\"tool\":{\"name\":\"respond_json\"}}");
    CHECK_EQ_STR(talk_at(&t, "toolConfig.tools[0].toolSpec.inputSchema.json"), SCHEMA);
    CHECK_EQ_STR(talk_at(&t, "outputConfig"), "");
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_bedrock(NULL, old, "k"), json_schema(false), 1), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "toolConfig.toolChoice"), "{\"any\":{}}");
    talk_free(&t);
}

TEST(chat_servers_without_schemas_are_made_to_call_the_tool) {
    conversation t;
    phi_model deepseek = phi_model_preset("deepseek", "deepseek-chat", "k");
    CHECK_EQ_INT(renders(&t, deepseek, json_schema(false), 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "response_format"), "");
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "\"required\"");
    CHECK_EQ_STR(talk_at(&t, "tools[0].function.parameters"), SCHEMA);
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, deepseek, json_schema(false), 1), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "\"required\"");
    CHECK_EQ_STR(talk_at(&t, "tools[1].function.name"), "\"respond_json\"");
    talk_free(&t);
    CHECK_EQ_INT(thinks(&t, deepseek, json_schema(false), 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "\"auto\"");
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_preset("zai", "glm-5", "k"), json_schema(false), 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "\"auto\""); /* knows no other */
    talk_free(&t);
}

TEST(the_one_tool_is_forced_by_a_word_and_by_name_only_where_no_word_is_known) {
    conversation t;
    phi_model local = phi_model_local("http://localhost:1/v1", "m", NULL);
    local.quirks |= PHI_QUIRK_NO_JSON_SCHEMA;
    CHECK_EQ_INT(renders(&t, local, json_schema(false), 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "\"required\"");
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_preset("groq", "llama-4", "k"), json_schema(false), 0),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "\"required\"");
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, phi_model_preset("qwen", "qwen-plus", "k"), json_schema(false), 0),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"),
                 "{\"type\":\"function\",\"function\":{\"name\":\"respond_json\"}}");
    talk_free(&t);
}

TEST(a_format_that_stands_alone_is_sent_without_tools_that_may_not_be_called) {
    phi_model models[5];
    size_t i;
    models[0] = phi_model_preset("llama_cpp", "m", NULL);
    models[1] = phi_model_preset("lm_studio", "m", NULL);
    models[2] = phi_model_preset("ollama", "m", NULL);
    models[3] = phi_model_preset("vllm", "m", NULL);
    models[4] = phi_model_local("http://localhost:1/v1", "m", NULL);
    for (i = 0; i < 5; i++) {
        conversation t;
        talk_begin(&t, models[i]);
        t.spec.tools = &look;
        t.spec.tool_count = 1;
        t.spec.tool_choice = PHI_TOOL_CHOICE_NONE;
        t.spec.format = json_schema(false);
        talk_user(&t, "hi");
        CHECK_EQ_INT(phi__format_apply(codec_of(PHI_PROTOCOL_OPENAI_CHAT), &t.spec, &t.kept, words,
                                       sizeof words),
                     PHI_OK);
        talk_render_ok(&t);
        CHECK_EQ_STR(talk_at(&t, "response_format.type"), "\"json_schema\"");
        CHECK_EQ_STR(talk_at(&t, "tools"), "");
        CHECK_EQ_STR(talk_at(&t, "tool_choice"), "");
        talk_free(&t);
    }
}

TEST(servers_whose_format_is_a_grammar_get_the_tool_beside_tools) {
    conversation t;
    phi_model ollama = phi_model_preset("ollama", "llama3.2", NULL);
    phi_model qwen = phi_model_preset("qwen", "qwen-plus", "k");
    CHECK_EQ_INT(renders(&t, ollama, json_schema(false), 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "response_format.type"), "\"json_schema\"");
    talk_free(&t);
    CHECK_EQ_INT(renders(&t, ollama, json_schema(false), 1), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "response_format"), "");
    CHECK_EQ_STR(talk_at(&t, "tools[1].function.name"), "\"respond_json\"");
    talk_free(&t);
    qwen.reasoning = true;
    CHECK_EQ_INT(thinks(&t, qwen, json_object(), 0), PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "response_format"), "");
    CHECK_EQ_STR(talk_at(&t, "tools[0].function.name"), "\"respond_json\"");
    talk_free(&t);
}

TEST(gemini_before_3_gets_the_tool_beside_tools) {
    conversation t;
    CHECK_EQ_INT(renders(&t, phi_model_google("gemini-2.5-pro", "k"), json_schema(false), 1),
                 PHI_OK);
    CHECK_EQ_STR(talk_at(&t, "generationConfig.responseMimeType"), "");
    CHECK_EQ_STR(talk_at(&t, "toolConfig.functionCallingConfig"), "{\"mode\":\"ANY\"}");
    CHECK_EQ_STR(talk_at(&t, "tools[0].functionDeclarations[1].name"), "\"respond_json\"");
    talk_free(&t);
}

TEST(a_choice_of_no_tools_leaves_only_the_one_for_the_answer) {
    conversation t;
    talk_begin(&t, phi_model_google("gemini-2.5-flash", "k"));
    t.spec.tools = &look;
    t.spec.tool_count = 1;
    t.spec.tool_choice = PHI_TOOL_CHOICE_NONE;
    t.spec.format = json_schema(false);
    talk_user(&t, "hi");
    CHECK_EQ_INT(
        phi__format_apply(codec_of(PHI_PROTOCOL_GOOGLE), &t.spec, &t.kept, words, sizeof words),
        PHI_OK);
    talk_render_ok(&t);
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "tools[0].functionDeclarations")), 1);
    CHECK_EQ_STR(talk_at(&t, "toolConfig.functionCallingConfig"),
                 "{\"mode\":\"ANY\",\"allowedFunctionNames\":[\"respond_json\"]}");
    talk_free(&t);
}

TEST(text_changes_nothing) {
    conversation t;
    phi_format text;
    memset(&text, 0, sizeof text);
    CHECK_EQ_INT(renders(&t, phi_model_bedrock(NULL, "amazon.nova-pro-v1:0", "k"), text, 1),
                 PHI_OK);
    CHECK(!t.spec.respond);
    CHECK_EQ_INT(t.spec.tool_count, 1);
    talk_free(&t);
}

TEST(every_allocation_may_fail) {
    phi_model models[3];
    size_t i;
    models[0] = phi_model_anthropic("claude-sonnet-4-5", "k");
    models[1] = phi_model_preset("deepseek", "deepseek-chat", "k");
    models[2] = phi_model_openai("gpt-4.1", "k");
    for (i = 0; i < 3; i++) {
        bool tripped = true;
        int n;
        for (n = 0; tripped && n < 500; n++) {
            conversation t;
            phi_status status;
            test_alloc_fail_at(n);
            status = renders(&t, models[i], json_schema(i == 2), 1);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
            talk_free(&t);
            CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        }
        CHECK(n > 3 && !tripped);
    }
}

/* ---- the call that comes back ---- */

#define CALL_START(name)                                                                           \
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":"          \
    "\"function\",\"function\":{\"name\":\"" name "\",\"arguments\":\"\"}}]}}]}\n\n"
#define CALL_MORE(index, text)                                                                     \
    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":" index ",\"function\":{"          \
    "\"arguments\":\"" text "\"}}]}}]}\n\n"
#define CALL_END                                                                                   \
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"

static void answers(stream *s, bool respond, const char *text) {
    stream_begin(s, PHI_PROTOCOL_OPENAI_CHAT);
    s->assembly.respond = respond;
    stream_text(s, text);
    stream_end(s);
}

TEST(the_tools_call_is_a_text_and_the_end_of_the_answer) {
    stream s;
    answers(&s, true,
            CALL_START("respond_json") CALL_MORE("0", "{\\\"n\\\":") CALL_MORE("0", "1}") CALL_END);
    CHECK_EQ_INT(s.message.content_count, 1);
    CHECK_EQ_INT(s.content[0].kind, PHI_CONTENT_TEXT);
    CHECK_STR(s.content[0].text, "{\"n\":1}");
    CHECK_STR(s.content[0].name, "respond_json");
    CHECK_STR(s.content[0].id, "");
    CHECK_STR(s.content[0].arguments, "");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    stream_free(&s);
}

TEST(a_call_of_that_name_is_a_call_where_the_tool_was_not_offered) {
    stream s;
    answers(&s, false, CALL_START("respond_json") CALL_MORE("0", "{}") CALL_END);
    CHECK_EQ_INT(s.content[0].kind, PHI_CONTENT_TOOL_CALL);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    stream_free(&s);
}

TEST(of_two_answers_the_second_stays_a_call_and_no_arguments_are_an_empty_object) {
    stream s;
    answers(&s, true,
            CALL_START("respond_json") "data: "
                                       "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,"
                                       "\"id\":\"d\",\"type\":"
                                       "\"function\",\"function\":{\"name\":\"respond_json\","
                                       "\"arguments\":\"{}\"}}]}}]}\n\n" CALL_END);
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK_EQ_INT(s.content[0].kind, PHI_CONTENT_TEXT);
    CHECK_STR(s.content[0].text, "{}");
    CHECK_EQ_INT(s.content[1].kind, PHI_CONTENT_TOOL_CALL);
    CHECK_STR(s.content[1].id, "d");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    stream_free(&s);
}

TEST(an_answer_that_is_cut_off_keeps_its_reason) {
    stream s;
    answers(
        &s, true,
        CALL_START("respond_json") CALL_MORE(
            "0",
            "{\\\"n\\\":") "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n");
    CHECK_EQ_INT(s.content[0].kind, PHI_CONTENT_TEXT);
    CHECK_STR(s.content[0].text, "{\"n\":");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_LENGTH);
    stream_free(&s);
}

/* ---- reading it ---- */

static phi_status reads(const phi_message *message, phi_arena *arena, phi_json **out) {
    return phi_message_json(message, NULL, arena, out, words, sizeof words);
}

static phi_message said(phi_content *content, const char *a, const char *b) {
    phi_message m;
    memset(&m, 0, sizeof m);
    memset(content, 0, 2 * sizeof *content);
    m.role = PHI_ROLE_ASSISTANT;
    m.content = content;
    m.content_count = b != NULL ? 2 : 1;
    content[0].kind = content[1].kind = PHI_CONTENT_TEXT;
    content[0].text = phi_str_of(a);
    content[1].text = phi_str_of(b);
    return m;
}

static void scratch(phi_memory *memory, phi_arena *arena) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(memory, &allocator, 0);
    phi_arena_init(arena, memory, 0);
}

TEST(json_is_read_over_two_texts_and_out_of_fences) {
    phi_memory memory;
    phi_arena arena;
    phi_content content[2];
    phi_json *json;
    phi_message m = said(content, "{\"a\":[1,", "2]}");
    scratch(&memory, &arena);
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK_EQ_INT(phi_json_int(phi_json_path(json, "a[1]"), 0), 2);
    m = said(content, "\n```json\n{\"a\":3}\n```\n", NULL);
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_json_int(phi_json_get(json, "a"), 0), 3);
    m = said(content, "```\n```", NULL);
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_BAD_ARG);
    m = said(content, "[1] ", NULL);
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_json_count(json), 1);
    phi_arena_free(&arena);
}

TEST(the_tools_arguments_come_before_any_text) {
    phi_memory memory;
    phi_arena arena;
    phi_content content[2];
    phi_json *json;
    phi_message m = said(content, "Here it is:", "{\"a\":1}");
    scratch(&memory, &arena);
    content[1].name = phi_str_of("respond_json");
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_json_int(phi_json_get(json, "a"), 0), 1);
    content[1].kind = PHI_CONTENT_TOOL_CALL;
    content[1].arguments = phi_str_of("{\"a\":2}");
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_json_int(phi_json_get(json, "a"), 0), 2);
    phi_arena_free(&arena);
}

TEST(what_is_no_json_is_told_in_words) {
    phi_memory memory;
    phi_arena arena;
    phi_content content[2];
    phi_json *json = NULL;
    phi_message m = said(content, "Sure!", NULL);
    scratch(&memory, &arena);
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_BAD_ARG);
    CHECK(strncmp(words, "the answer is not valid JSON: 1:1: ", 35) == 0);
    CHECK(json == NULL);
    m = said(content, " \n", NULL);
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "SchemaMismatch: the answer is empty");
    m.role = PHI_ROLE_USER;
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "expected a message of the role Assistant");
    words[0] = '\0';
    CHECK_EQ_INT(reads(NULL, &arena, &json), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "expected a message of the role Assistant");
    CHECK_EQ_INT(phi_message_json(NULL, NULL, &arena, &json, NULL, 0), PHI_BAD_ARG);
    phi_arena_free(&arena);
}

TEST(reading_it_finds_no_memory_now_and_then) {
    phi_content content[2];
    phi_message m = said(content, "```json\n{\"n\":1,", "\"s\":\"x\"}\n```");
    phi_format format = json_schema(false);
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 50; n++) {
        phi_memory memory;
        phi_arena arena;
        phi_json *json;
        phi_status status;
        scratch(&memory, &arena);
        test_alloc_fail_at(n);
        status = phi_message_json(&m, &format, &arena, &json, words, sizeof words);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        CHECK(status == PHI_OK || words[0] != '\0');
        phi_arena_free(&arena);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    }
    CHECK(n > 1 && !tripped);
}

TEST(an_answer_is_held_against_its_schema) {
    phi_memory memory;
    phi_arena arena;
    phi_content content[2];
    phi_json *json = NULL;
    phi_format format = json_schema(false), any = json_object();
    phi_message m = said(content, "{\"n\":0}", NULL);
    scratch(&memory, &arena);
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_message_json(&m, &format, &arena, &json, words, sizeof words), PHI_PARSE);
    CHECK(strncmp(words, "answer.n: ", 10) == 0);
    CHECK_EQ_INT(phi_message_json(&m, &any, &arena, &json, words, sizeof words), PHI_OK);
    CHECK_EQ_STR(words, "");
    m = said(content, "{\"n\":1,\"s\":null}", NULL);
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_message_json(&m, &format, &arena, &json, words, sizeof words), PHI_PARSE);
    format.strict = true; /* a strict schema leaves nothing out */
    CHECK_EQ_INT(phi_message_json(&m, &format, &arena, &json, words, sizeof words), PHI_OK);
    CHECK(phi_json_get(json, "s") == NULL);
    m = said(content, "[]", NULL);
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_message_json(&m, &any, &arena, &json, words, sizeof words), PHI_PARSE);
    CHECK_EQ_STR(words, "answer: expected object");
    format.schema = "{";
    m = said(content, "{}", NULL);
    CHECK_EQ_INT(reads(&m, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_message_json(&m, &format, &arena, &json, words, sizeof words), PHI_PARSE);
    CHECK_EQ_STR(words, "the schema is not valid JSON");
    phi_arena_free(&arena);
}

TEST(a_schema_that_is_too_deep_is_not_called_invalid) {
    static char deep[2 * 600 + 1];
    phi_memory memory;
    phi_arena arena;
    phi_content content[2];
    phi_json *json = NULL;
    phi_message m = said(content, "{}", NULL);
    phi_format format = json_schema(false);
    memset(deep, '[', 600);
    memset(deep + 600, ']', 600);
    format.schema = deep;
    scratch(&memory, &arena);
    CHECK_EQ_INT(phi_message_json(&m, &format, &arena, &json, words, sizeof words), PHI_TOO_BIG);
    CHECK_EQ_STR(words, phi_status_text(PHI_TOO_BIG));
    CHECK(json == NULL);
    phi_arena_free(&arena);
}

TEST(the_name_of_the_answer_survives_its_json) {
    phi_memory memory;
    phi_arena arena;
    phi_content content[2];
    phi_message m = said(content, "{}", NULL), back;
    phi_str json;
    scratch(&memory, &arena);
    content[0].name = phi_str_of("respond_json");
    CHECK_EQ_INT(phi_message_to_json(&m, &arena, &json), PHI_OK);
    CHECK(strstr(json.at, "{\"type\":\"text\",\"text\":\"{}\",\"name\":\"respond_json\"}") != NULL);
    CHECK_EQ_INT(phi_message_from_json(json, &arena, &back, NULL), PHI_OK);
    CHECK_STR(back.content[0].name, "respond_json");
    phi_arena_free(&arena);
}

TEST_MAIN(TEST_ENTRY(chat_sends_a_schema_as_response_format),
          TEST_ENTRY(a_strict_schema_is_sent_in_the_form_that_openai_wants),
          TEST_ENTRY(a_strict_schema_that_has_no_strict_form_is_refused_with_words),
          TEST_ENTRY(chat_asks_for_any_object_with_the_word_in_the_prompt),
          TEST_ENTRY(responses_and_azure_send_it_as_text_format),
          TEST_ENTRY(gemini_and_vertex_send_it_in_the_generation_config),
          TEST_ENTRY(claude_takes_a_schema_beside_the_effort),
          TEST_ENTRY(claude_at_bedrock_takes_the_schema_as_a_text),
          TEST_ENTRY(other_models_of_bedrock_are_refused_by_name),
          TEST_ENTRY(an_older_claude_is_made_to_call_the_tool),
          TEST_ENTRY(a_schema_of_open_objects_goes_to_claude_by_the_tool),
          TEST_ENTRY(a_claude_that_thinks_is_told_instead_of_forced),
          TEST_ENTRY(claude_at_bedrock_is_made_to_call_the_tool),
          TEST_ENTRY(chat_servers_without_schemas_are_made_to_call_the_tool),
          TEST_ENTRY(the_one_tool_is_forced_by_a_word_and_by_name_only_where_no_word_is_known),
          TEST_ENTRY(a_format_that_stands_alone_is_sent_without_tools_that_may_not_be_called),
          TEST_ENTRY(servers_whose_format_is_a_grammar_get_the_tool_beside_tools),
          TEST_ENTRY(gemini_before_3_gets_the_tool_beside_tools),
          TEST_ENTRY(a_choice_of_no_tools_leaves_only_the_one_for_the_answer),
          TEST_ENTRY(text_changes_nothing), TEST_ENTRY(every_allocation_may_fail),
          TEST_ENTRY(the_tools_call_is_a_text_and_the_end_of_the_answer),
          TEST_ENTRY(a_call_of_that_name_is_a_call_where_the_tool_was_not_offered),
          TEST_ENTRY(of_two_answers_the_second_stays_a_call_and_no_arguments_are_an_empty_object),
          TEST_ENTRY(an_answer_that_is_cut_off_keeps_its_reason),
          TEST_ENTRY(json_is_read_over_two_texts_and_out_of_fences),
          TEST_ENTRY(the_tools_arguments_come_before_any_text),
          TEST_ENTRY(what_is_no_json_is_told_in_words),
          TEST_ENTRY(reading_it_finds_no_memory_now_and_then),
          TEST_ENTRY(an_answer_is_held_against_its_schema), TEST_ENTRY(the_words_may_be_left_out),
          TEST_ENTRY(a_schema_that_is_too_deep_is_not_called_invalid),
          TEST_ENTRY(the_name_of_the_answer_survives_its_json))
