/* test_compat_conversations.c - conversations of several turns in every protocol, as they are sent:
   tests/fixtures/compat/requests/conversations. PHI_COMPAT_WRITE=1 writes missing ones (compat.h).

   A prompt has every kind of block; the answers are the streams of tests/fixtures, with thinking,
   parallel calls, hosted blocks and broken ends; results have texts, images, documents, sound and
   errors. At last the whole history goes to each of the other protocols. */
#include "compat/compat_wire.h"
#include "support/request.h"
#include "support/set.h"

#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+"                                \
    "M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

static phi_content text_block(const char *text) {
    phi_content c = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    return c;
}

static phi_content media_block(phi_content_kind kind, const char *type, const char *data) {
    phi_content c = PHI_ZERO;
    c.kind = kind;
    c.mime_type = phi_str_of(type);
    c.data = phi_str_of(data);
    return c;
}

/* ---- tools ---- */

static phi_flow give(phi_call call, const phi_content *content, size_t count, bool is_error) {
    phi_tool_result result = PHI_ZERO;
    result.content = content;
    result.content_count = count;
    result.is_error = is_error;
    result.details = "{\"ms\":7}";
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

static phi_flow read_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content[3];
    (void)user_data;
    content[0] = text_block("The file:");
    content[1] = text_block("");
    content[1].text = arguments;
    content[2] = media_block(PHI_CONTENT_IMAGE, "image/png", PNG);
    return give(call, content, 3, false);
}

static phi_flow list_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content[2];
    (void)user_data;
    (void)arguments;
    content[0] = text_block("No such folder \"\\ \xc3\xa9\n.");
    content[1] = media_block(PHI_CONTENT_IMAGE, "image/jpeg", "/9j/4AAQSkZJRg==");
    return give(call, content, 2, true);
}

static phi_flow weather_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content[3];
    (void)user_data;
    (void)arguments;
    content[0] = media_block(PHI_CONTENT_DOCUMENT, "application/pdf", "JVBERi0xLjQK");
    content[0].name = phi_str_of("Forecast");
    content[1] = text_block("");
    content[1].kind = PHI_CONTENT_DOCUMENT;
    content[1].text = phi_str_of("Rain until noon.");
    content[2] = media_block(PHI_CONTENT_AUDIO, "audio/wav", "UklGRiQAAABXQVZF");
    return give(call, content, 3, false);
}

#define PATHS                                                                                      \
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"a "      \
    "file\"},\"lines\":{\"type\":[\"integer\",\"null\"]}},\"required\":[\"path\"]}"

static void make_tools(phi_tool tools[3]) {
    memset(tools, 0, 3 * sizeof *tools);
    tools[0].name = "read";
    tools[0].description = "Reads a file \"whole\".";
    tools[0].schema = PATHS;
    tools[0].start = read_start;
    tools[1].name = "list_all";
    tools[1].description = "Lists all files.";
    tools[1].start = list_start;
    tools[2].name = "get_weather";
    tools[2].description = "The weather of a place";
    tools[2].schema = "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}}}";
    tools[2].checks_arguments = true;
    tools[2].start = weather_start;
}

/* ---- models ---- */

static phi_model model_of(const char *protocol) {
    if (strcmp(protocol, PHI_PROTOCOL_ANTHROPIC) == 0)
        return phi_model_anthropic("claude-sonnet-4-5", "test-key");
    if (strcmp(protocol, PHI_PROTOCOL_OPENAI_CHAT) == 0)
        return phi_model_preset("openrouter", "google/gemini-3-pro-preview", "test-key");
    if (strcmp(protocol, PHI_PROTOCOL_OPENAI_RESPONSES) == 0)
        return phi_model_openai_responses("gpt-5.4", "test-key");
    if (strcmp(protocol, PHI_PROTOCOL_AZURE_RESPONSES) == 0)
        return phi_model_azure("https://r.openai.azure.com/openai/v1", "gpt-5-mini", "test-key");
    if (strcmp(protocol, PHI_PROTOCOL_GOOGLE) == 0)
        return phi_model_google("gemini-3-pro-preview", "test-key");
    if (strcmp(protocol, PHI_PROTOCOL_VERTEX) == 0)
        return phi_model_vertex("https://europe-west1-aiplatform.googleapis.com/v1/projects/P/"
                                "locations/europe-west1",
                                "gemini-2.5-pro", "test-key");
    if (strcmp(protocol, PHI_PROTOCOL_INTERACTIONS) == 0)
        return phi_model_interactions("gemini-3-pro-preview", "test-key");
    return phi_model_bedrock("https://bedrock-runtime.eu-west-1.amazonaws.com",
                             "anthropic.claude-sonnet-4-5-20250929-v1:0", "test:key:session");
}

static const char *const protocols[] = {PHI_PROTOCOL_ANTHROPIC,        PHI_PROTOCOL_OPENAI_CHAT,
                                        PHI_PROTOCOL_OPENAI_RESPONSES, PHI_PROTOCOL_AZURE_RESPONSES,
                                        PHI_PROTOCOL_GOOGLE,           PHI_PROTOCOL_VERTEX,
                                        PHI_PROTOCOL_INTERACTIONS,     PHI_PROTOCOL_BEDROCK};

/* ---- a conversation ---- */

static void first_prompt(compat_wire *c) {
    phi_content content[7];
    content[0] = text_block("See these.");
    content[1] = media_block(PHI_CONTENT_IMAGE, "image/png", PNG);
    content[2] = media_block(PHI_CONTENT_DOCUMENT, "application/pdf", "JVBERi0xLjQK");
    content[2].name = phi_str_of("Report, part 1");
    content[3] = text_block("");
    content[3].kind = PHI_CONTENT_DOCUMENT;
    content[3].text = phi_str_of("A plain text.");
    content[3].name = phi_str_of("Notes");
    content[4] = text_block("");
    content[4].kind = PHI_CONTENT_DOCUMENT;
    content[4].url = phi_str_of("https://example.org/a.pdf");
    content[4].mime_type = phi_str_of("application/pdf");
    content[5] = media_block(PHI_CONTENT_AUDIO, "audio/wav", "UklGRiQAAABXQVZF");
    content[6] = text_block("Tabs\t, quotes \", a smile \xf0\x9f\x99\x82 and a \x01 control.");
    CHECK_EQ_INT(prompt_blocks(c->agent, content, 7), PHI_OK);
    compat_run(c);
    compat_tell(c, "every kind of block");
}

static void converse(const char *protocol, const char *const *streams) {
    compat_wire c;
    phi_agent_desc desc = compat_desc(model_of(protocol));
    phi_tool tools[3];
    char name[100], heading[100];
    size_t i;
    if (!compat_open(&c)) return;
    make_tools(tools);
    desc.system_prompt = "You read files.\nBe \"brief\".";
    desc.tools = tools;
    desc.tool_count = 3;
    desc.thinking = PHI_THINKING_MEDIUM;
    for (i = 0; streams[i] != NULL; i++) compat_says(&c, streams[i]);
    if (compat_agent(&c, &desc)) {
        first_prompt(&c);
        for (i = 1; c.next < c.count && i < 20; i++) {
            (void)snprintf(name, sizeof name, "Prompt %u.", (unsigned)i);
            (void)snprintf(heading, sizeof heading, "prompt %u", (unsigned)i);
            CHECK_EQ_INT(phi_prompt(c.agent, name), PHI_OK);
            compat_run(&c);
            if (i == 1 || i == 5 || c.next == c.count) compat_tell(&c, heading);
            c.told = c.w.count; /* the last request holds the whole history */
        }
        CHECK(c.next == c.count);
    }
    (void)snprintf(name, sizeof name, "requests/conversations/%s.txt", protocol);
    (void)compat_file(name, c.out.at, c.out.len);
    compat_drop(&c.out);
    for (i = 0; i < sizeof protocols / sizeof protocols[0] && c.agent.rt != NULL; i++) {
        phi_model model = model_of(protocols[i]);
        if (strcmp(protocols[i], protocol) == 0) continue;
        CHECK_EQ_INT(set_model(c.agent, &model), PHI_OK);
        compat_prompt(&c, protocols[i], "And you?");
    }
    (void)snprintf(name, sizeof name, "requests/conversations/%s_to_others.txt", protocol);
    compat_stored_wire(&c, name);
}

TEST(a_conversation_with_claude_is_sent_as_it_was) {
    static const char *const streams[] = {"anthropic/redacted_omitted.sse",
                                          "anthropic/parallel_tools.sse",
                                          "anthropic/text.sse",
                                          "anthropic/search_paused.sse",
                                          "anthropic/search_resumed.sse",
                                          "anthropic/tool_split.sse",
                                          "anthropic/unicode_escapes.sse",
                                          "anthropic/text.sse",
                                          "anthropic/error_midstream.sse",
                                          "anthropic/truncated.sse",
                                          "anthropic/refusal.sse",
                                          "anthropic/text.sse",
                                          NULL};
    converse(PHI_PROTOCOL_ANTHROPIC, streams);
}

TEST(a_conversation_over_chat_completions_is_sent_as_it_was) {
    static const char *const streams[] = {"openai-chat/openrouter_reasoning_details.sse",
                                          "openai-chat/parallel_tools.sse",
                                          "openai-chat/text.sse",
                                          "openai-chat/thinking_text_deepseek.sse",
                                          "openai-chat/tool_split.sse",
                                          "openai-chat/ollama_tool.sse",
                                          "openai-chat/groq_reasoning.sse",
                                          "openai-chat/gateway_sloppy.sse",
                                          "openai-chat/error_then_done.sse",
                                          "openai-chat/truncated.sse",
                                          "openai-chat/content_filter.sse",
                                          "openai-chat/text.sse",
                                          NULL};
    converse(PHI_PROTOCOL_OPENAI_CHAT, streams);
}

TEST(a_conversation_over_responses_is_sent_as_it_was) {
    static const char *const streams[] = {"openai-responses/keepalive_unknown.sse",
                                          "openai-responses/parallel_tools.sse",
                                          "openai-responses/text.sse",
                                          "openai-responses/unicode_escapes.sse",
                                          "openai-responses/text.sse",
                                          "openai-responses/refusal.sse",
                                          "openai-responses/error_midstream.sse",
                                          "openai-responses/truncated.sse",
                                          "openai-responses/text.sse",
                                          NULL};
    converse(PHI_PROTOCOL_OPENAI_RESPONSES, streams);
}

TEST(a_conversation_with_azure_is_sent_as_it_was) {
    static const char *const streams[] = {
        "azure-responses/text.sse",         "azure-responses/tool_split.sse",
        "azure-responses/text.sse",         "azure-responses/unicode_escapes.sse",
        "azure-responses/error_failed.sse", "azure-responses/error_midstream.sse",
        "azure-responses/text.sse",         NULL};
    converse(PHI_PROTOCOL_AZURE_RESPONSES, streams);
}

TEST(a_conversation_with_gemini_is_sent_as_it_was) {
    static const char *const streams[] = {"gemini/thinking_text.sse", "gemini/parallel_no_ids.sse",
                                          "gemini/text.sse",          "gemini/tool_call.sse",
                                          "gemini/text.sse",          "gemini/unicode_escapes.sse",
                                          "gemini/max_tokens.sse",    "gemini/malformed_call.sse",
                                          "gemini/truncated.sse",     "gemini/error_raw_tail.sse",
                                          "gemini/text.sse",          NULL};
    converse(PHI_PROTOCOL_GOOGLE, streams);
}

TEST(a_conversation_with_vertex_is_sent_as_it_was) {
    static const char *const streams[] = {"vertex/thinking_text.sse",
                                          "vertex/tool_split.sse",
                                          "vertex/text.sse",
                                          "vertex/unicode_escapes.sse",
                                          "vertex/error_midstream.sse",
                                          "vertex/text.sse",
                                          NULL};
    converse(PHI_PROTOCOL_VERTEX, streams);
}

TEST(a_conversation_over_interactions_is_sent_as_it_was) {
    static const char *const streams[] = {"gemini-interactions/thinking_text.sse",
                                          "gemini-interactions/parallel_tools.sse",
                                          "gemini-interactions/text.sse",
                                          "gemini-interactions/tool_call.sse",
                                          "gemini-interactions/google_search.sse",
                                          "gemini-interactions/code_execution.sse",
                                          "gemini-interactions/unicode_escapes.sse",
                                          "gemini-interactions/sloppy.sse",
                                          "gemini-interactions/incomplete.sse",
                                          "gemini-interactions/error_midstream.sse",
                                          "gemini-interactions/truncated.sse",
                                          "gemini-interactions/failed.sse",
                                          "gemini-interactions/text.sse",
                                          NULL};
    converse(PHI_PROTOCOL_INTERACTIONS, streams);
}

TEST(a_conversation_with_bedrock_is_sent_as_it_was) {
    static const char *const streams[] = {"bedrock/thinking_text.bin",
                                          "bedrock/parallel_tools.bin",
                                          "bedrock/text.bin",
                                          "bedrock/tool_split.bin",
                                          "bedrock/unicode_escapes.bin",
                                          "bedrock/max_tokens.bin",
                                          "bedrock/error_midstream.bin",
                                          "bedrock/truncated.bin",
                                          "bedrock/guardrail.bin",
                                          "bedrock/bad_message_crc.bin",
                                          "bedrock/text.bin",
                                          NULL};
    converse(PHI_PROTOCOL_BEDROCK, streams);
}

TEST(the_folder_has_no_other_conversations) { compat_folder("requests/conversations"); }

TEST_MAIN(TEST_ENTRY(a_conversation_with_claude_is_sent_as_it_was),
          TEST_ENTRY(a_conversation_over_chat_completions_is_sent_as_it_was),
          TEST_ENTRY(a_conversation_over_responses_is_sent_as_it_was),
          TEST_ENTRY(a_conversation_with_azure_is_sent_as_it_was),
          TEST_ENTRY(a_conversation_with_gemini_is_sent_as_it_was),
          TEST_ENTRY(a_conversation_with_vertex_is_sent_as_it_was),
          TEST_ENTRY(a_conversation_over_interactions_is_sent_as_it_was),
          TEST_ENTRY(a_conversation_with_bedrock_is_sent_as_it_was),
          TEST_ENTRY(the_folder_has_no_other_conversations))
