/* test_quirks.c - what targets want of a request that others do not, a test each; docs/providers.md has a row
   for each. Whole requests to each server are in test_quirks_servers.c, what servers do to streams is in
   test_quirks_streams.c. */
#include "wire/wire_support.h"

enum { PROTOCOLS = 8 };

static void each(phi_model out[PROTOCOLS]) {
    out[0] = phi_model_anthropic("claude-sonnet-4-5", "K");
    out[1] = phi_model_openai("gpt-5-mini", "K");
    out[2] = phi_model_openai_responses("gpt-5-mini", "K");
    out[3] = phi_model_azure("https://r.openai.azure.com/openai/v1", "gpt-5-mini", "K");
    out[4] = phi_model_google("gemini-3-pro", "K");
    out[5] = phi_model_vertex("https://h/v1/projects/p/locations/l", "gemini-3-pro", "T");
    out[6] = phi_model_bedrock(NULL, "anthropic.claude-sonnet-4-5", "K");
    out[7] = phi_model_interactions("gemini-3-pro", "K");
}

static bool sends_image(phi_model model, const char *type) {
    conversation t;
    bool sends;
    talk_begin(&t, model);
    talk_user(&t, "look");
    talk_image(&t, "aGVsbG8h");
    t.blocks[0][1].mime_type = phi_str_of(type);
    talk_render_ok(&t);
    sends = strstr(t.body, "aGVsbG8h") != NULL;
    CHECK(sends == (strstr(t.body, "(image omitted: this model does not take it)") == NULL));
    talk_free(&t);
    return sends;
}

TEST(each_target_gets_the_types_of_images_that_it_takes) {
    phi_model models[PROTOCOLS];
    size_t i;
    each(models);
    for (i = 0; i < PROTOCOLS; i++) {
        bool gemini = i == 4 || i == 5, google = gemini || i == 7;
        CHECK(sends_image(models[i], "image/png"));
        CHECK(sends_image(models[i], "image/jpeg"));
        CHECK(sends_image(models[i], "image/webp"));
        CHECK(sends_image(models[i], "image/gif") == !gemini);
        CHECK(sends_image(models[i], "image/heic") == google);
        CHECK(sends_image(models[i], "image/heif") == google);
        CHECK(!sends_image(models[i], "image/bmp"));
    }
    CHECK(sends_image(phi_model_preset("ollama", "m", NULL), "image/webp"));
    CHECK(!sends_image(phi_model_preset("ollama", "m", NULL), "image/gif"));
    CHECK(sends_image(phi_model_preset("lm_studio", "m", NULL), "image/gif"));
}

TEST(a_gif_that_was_rendered_for_another_server_is_not_sent_to_ollama) {
    conversation t;
    talk_begin(&t, phi_model_preset("lm_studio", "m", NULL));
    talk_user(&t, "look");
    talk_image(&t, "dXNlcg==");
    talk_assistant(&t);
    talk_call(&t, "c1", "shot", "{}");
    talk_result(&t, "c1", "shot", NULL);
    talk_image(&t, "cmVzdWx0");
    t.blocks[0][1].mime_type = t.blocks[2][0].mime_type = phi_str_of("image/gif");
    talk_render_ok(&t);
    CHECK(strstr(t.body, "dXNlcg==") != NULL && strstr(t.body, "cmVzdWx0") != NULL);
    t.model = phi_model_preset("ollama", "m", NULL);
    talk_render_ok(&t);
    CHECK(strstr(t.body, "dXNlcg==") == NULL && strstr(t.body, "cmVzdWx0") == NULL);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content"),
                 "\"look\\n(image omitted: this model does not take it)\"");
    talk_free(&t);
}

TEST(only_openais_own_reasoning_models_refuse_a_temperature) {
    const phi_model models[] = {phi_model_openai("gpt-5-mini", "K"),
                                phi_model_preset("xai", "grok-3-mini", "K"),
                                phi_model_preset("ollama", "m", NULL)};
    size_t i;
    for (i = 0; i < 3; i++) {
        conversation t;
        talk_begin(&t, models[i]);
        t.model.reasoning = true;
        t.spec.temperature = 0.5;
        talk_user(&t, "hi");
        talk_render_ok(&t);
        CHECK_EQ_STR(talk_at(&t, "temperature"), i == 0 ? "" : "0.5");
        talk_free(&t);
    }
}

TEST(anthropic_gets_its_version_and_no_betas_and_no_other_products_name) {
    conversation t;
    talk_begin(&t, phi_model_anthropic("claude-sonnet-4-5", "K"));
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_header(&t, "anthropic-version"), "2023-06-01");
    CHECK_EQ_STR(talk_header(&t, "anthropic-beta"), "");
    CHECK_EQ_STR(talk_header(&t, "user-agent"), "");
    CHECK(strstr(t.body, "claude-code") == NULL);
    talk_free(&t);
}

TEST(every_request_asks_for_the_stream_it_can_read) {
    phi_model models[PROTOCOLS];
    size_t i;
    each(models);
    for (i = 0; i < PROTOCOLS; i++) {
        conversation t;
        talk_begin(&t, models[i]);
        talk_user(&t, "hi");
        talk_render_ok(&t);
        CHECK_EQ_STR(talk_header(&t, "content-type"), "application/json");
        CHECK_EQ_STR(talk_header(&t, "accept"), i == 0   ? "text/event-stream, application/json"
                                                : i == 6 ? "application/vnd.amazon.eventstream"
                                                         : "text/event-stream");
        talk_free(&t);
    }
}

TEST(a_result_that_is_an_error_is_said_in_each_protocols_way) {
    static const char *const path[PROTOCOLS] = {"messages[2].content[0].is_error",
                                                "messages[2].content",
                                                "input[2].output",
                                                "input[2].output",
                                                "contents[2].parts[0].functionResponse.response",
                                                "contents[2].parts[0].functionResponse.response",
                                                "messages[2].content[0].toolResult.status",
                                                "input[3].is_error"};
    static const char *const want[PROTOCOLS] = {"true",
                                                "\"Error: gone\"",
                                                "\"Error: gone\"",
                                                "\"Error: gone\"",
                                                "{\"error\":\"gone\"}",
                                                "{\"error\":\"gone\"}",
                                                "\"error\"",
                                                "true"};
    phi_model models[PROTOCOLS];
    size_t i;
    each(models);
    for (i = 0; i < PROTOCOLS; i++) {
        conversation t;
        talk_begin(&t, models[i]);
        talk_user(&t, "hi");
        talk_assistant(&t);
        talk_call(&t, "c1", "read", "{}");
        talk_result(&t, "c1", "read", "gone")->is_error = true;
        talk_render_ok(&t);
        CHECK_EQ_STR(talk_at(&t, path[i]), want[i]);
        talk_free(&t);
    }
}

TEST(foreign_thinking_never_becomes_text_of_any_kind) {
    phi_model models[PROTOCOLS];
    size_t i;
    each(models);
    for (i = 0; i < PROTOCOLS; i++) {
        conversation t;
        talk_begin(&t, models[i]);
        t.spec.thinking = PHI_THINKING_LOW;
        talk_user(&t, "hi");
        talk_assistant(&t)->model = phi_str_of("another");
        talk_thinking(&t, "SECRET", "U0lH");
        talk_text(&t, "Hello");
        talk_user(&t, "and?");
        talk_render_ok(&t);
        CHECK(strstr(t.body, "SECRET") == NULL);
        CHECK(strstr(t.body, "U0lH") == NULL);
        CHECK(strstr(t.body, "[Reasoning]") == NULL);
        CHECK(strstr(t.body, "Hello") != NULL);
        talk_free(&t);
    }
}

TEST(unsigned_thinking_of_an_aborted_turn_is_left_out_for_claude) {
    phi_model models[PROTOCOLS];
    size_t i;
    each(models);
    for (i = 0; i < PROTOCOLS; i += 6) {
        conversation t;
        talk_begin(&t, models[i]);
        t.spec.thinking = PHI_THINKING_LOW;
        talk_user(&t, "hi");
        talk_assistant(&t)->stop_reason = PHI_STOP_REASON_ABORTED;
        talk_thinking(&t, "UNSIGNED", "");
        talk_text(&t, "Hel");
        talk_user(&t, "and?");
        talk_render_ok(&t);
        CHECK(strstr(t.body, "UNSIGNED") == NULL);
        CHECK(strstr(t.body, "Hel") != NULL);
        talk_free(&t);
    }
}

TEST(govcloud_gets_no_display_of_thinking) {
    static const char *const url[] = {"https://bedrock-runtime.us-east-1.amazonaws.com",
                                      "https://bedrock-runtime.us-gov-west-1.amazonaws.com"};
    static const char *const want[] = {"{\"type\":\"adaptive\",\"display\":\"summarized\"}",
                                       "{\"type\":\"adaptive\"}"};
    size_t i;
    for (i = 0; i < 2; i++) {
        conversation t;
        talk_begin(&t, phi_model_bedrock(url[i], "anthropic.claude-opus-4-6", "K"));
        t.spec.thinking = PHI_THINKING_LOW;
        talk_user(&t, "hi");
        talk_render_ok(&t);
        CHECK_EQ_STR(talk_at(&t, "additionalModelRequestFields.thinking"), want[i]);
        talk_free(&t);
    }
}

/* The description that is sent of `from`, as JSON text. */
static bool sends_description(phi_model model, const char *path, const char *from,
                              const char *want) {
    static const phi__tool_view read[] = {
        {{"read", 4}, {"", 0}, {"", 0}, false, NULL, false, {NULL, 0}, false}};
    phi__tool_view tool = read[0];
    char expected[2100];
    bool same;
    conversation t;
    (void)snprintf(expected, sizeof expected, "\"%s\"", want);
    tool.description = phi_str_of(from);
    talk_begin(&t, model);
    t.spec.tools = &tool;
    t.spec.tool_count = 1;
    talk_user(&t, "hi");
    talk_render_ok(&t);
    same = strcmp(talk_at(&t, path), expected) == 0;
    talk_free(&t);
    return same;
}

TEST(only_openais_protocols_get_a_tools_description_cut_at_1024_bytes) {
    static const char *const path[PROTOCOLS] = {"tools[0].description",
                                                "tools[0].function.description",
                                                "tools[0].description",
                                                "tools[0].description",
                                                "tools[0].functionDeclarations[0].description",
                                                "tools[0].functionDeclarations[0].description",
                                                "toolConfig.tools[0].toolSpec.description",
                                                "tools[0].description"};
    char fits[1025], longer[1026], cut[1025], umlauts[2001], cut_umlauts[1024];
    phi_model models[PROTOCOLS];
    size_t i;
    memset(fits, 'w', 1024);
    fits[1024] = '\0';
    memset(longer, 'w', 1025);
    longer[1025] = '\0';
    memcpy(cut, longer, 1021);
    memcpy(cut + 1021, "...", 4);
    for (i = 0; i < 1000; i++) memcpy(umlauts + 2 * i, "\xc3\xa4", 3);
    memcpy(cut_umlauts, umlauts, 1020); /* 1,021 bytes would end inside of a character */
    memcpy(cut_umlauts + 1020, "...", 4);
    each(models);
    for (i = 0; i < PROTOCOLS; i++) {
        bool openai = i == 1 || i == 2 || i == 3;
        CHECK(sends_description(models[i], path[i], fits, fits));
        CHECK(sends_description(models[i], path[i], longer, openai ? cut : longer));
        CHECK(sends_description(models[i], path[i], umlauts, openai ? cut_umlauts : umlauts));
    }
}

TEST_MAIN(TEST_ENTRY(govcloud_gets_no_display_of_thinking),
          TEST_ENTRY(each_target_gets_the_types_of_images_that_it_takes),
          TEST_ENTRY(a_gif_that_was_rendered_for_another_server_is_not_sent_to_ollama),
          TEST_ENTRY(only_openais_own_reasoning_models_refuse_a_temperature),
          TEST_ENTRY(anthropic_gets_its_version_and_no_betas_and_no_other_products_name),
          TEST_ENTRY(every_request_asks_for_the_stream_it_can_read),
          TEST_ENTRY(a_result_that_is_an_error_is_said_in_each_protocols_way),
          TEST_ENTRY(only_openais_protocols_get_a_tools_description_cut_at_1024_bytes),
          TEST_ENTRY(foreign_thinking_never_becomes_text_of_any_kind),
          TEST_ENTRY(unsigned_thinking_of_an_aborted_turn_is_left_out_for_claude))
