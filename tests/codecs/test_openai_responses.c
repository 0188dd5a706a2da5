/* test_openai_responses.c - OpenAI Responses and Azure: what goes back and what does not, and streams
   beside the fixtures. */
#include "wire/wire_support.h"
#include "support/codec_of.h"

#define P PHI_PROTOCOL_OPENAI_RESPONSES
#define ITEM "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[],\"encrypted_content\":\"E\"}"

static const phi__tool_view one_tool[] = {
    {{"read", 4}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false}};

static phi_model gpt(void) { return phi_model_openai_responses("gpt-5-mini", "K"); }

/* The value at a path of a request with one tool and a user's words. */
static void check_at(phi_model model, phi_thinking level, const char *path, const char *want) {
    conversation t;
    talk_begin(&t, model);
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    t.spec.thinking = level;
    t.spec.temperature = 0.5;
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, path), want);
    talk_free(&t);
}

TEST(the_body_stores_nothing_and_asks_for_encrypted_reasoning) {
    check_at(gpt(), PHI_THINKING_LOW, "store", "false");
    check_at(gpt(), PHI_THINKING_LOW, "stream", "true");
    check_at(gpt(), PHI_THINKING_LOW, "include", "[\"reasoning.encrypted_content\"]");
    check_at(gpt(), PHI_THINKING_LOW, "instructions", "");
    check_at(gpt(), PHI_THINKING_LOW, "prompt_cache_key", "");
    check_at(gpt(), PHI_THINKING_LOW, "tools",
             "[{\"type\":\"function\",\"name\":\"read\",\"parameters\":{\"type\":\"object\","
             "\"properties\":{}},\"strict\":false}]");
}

static void check_deferred(phi_model model, bool want) {
    const phi__codec_rules *rules = codec_of(model.protocol)->rules;
    CHECK_EQ_INT(rules->defers(&model), want);
}

TEST(models_from_gpt_5_4_on_search_deferred_tools_by_themselves) {
    phi__tool_view tool = one_tool[0];
    conversation t;
    tool.deferred = true;
    talk_begin(&t, phi_model_openai_responses("gpt-5.4", "K"));
    t.spec.tools = &tool;
    t.spec.tool_count = 1;
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tools"),
                 "[{\"type\":\"tool_search\"},{\"type\":\"function\",\"name\":\"read\","
                 "\"parameters\":{\"type\":\"object\",\"properties\":{}},\"strict\":false,"
                 "\"defer_loading\":true}]");
    talk_free(&t);
    check_deferred(phi_model_openai_responses("gpt-5.4-mini", "K"), true);
    check_deferred(phi_model_openai_responses("gpt-5.10", "K"), true);
    check_deferred(phi_model_openai_responses("gpt-6", "K"), true);
    check_deferred(phi_model_openai_responses("gpt-5.3-codex", "K"), false);
    check_deferred(phi_model_openai_responses("gpt-5-mini", "K"), false);
    check_deferred(phi_model_openai_responses("gpt-4.1", "K"), false);
    check_deferred(phi_model_openai_responses("o3", "K"), false);
}

TEST(thinking_levels_are_efforts_and_only_for_models_that_reason) {
    phi_model model = phi_model_openai_responses("gpt-4o", "K");
    check_at(gpt(), PHI_THINKING_HIGH, "reasoning", "{\"effort\":\"high\",\"summary\":\"auto\"}");
    check_at(gpt(), PHI_THINKING_MINIMAL, "reasoning.effort", "\"minimal\"");
    check_at(gpt(), PHI_THINKING_OFF, "reasoning", "{\"effort\":\"minimal\"}");
    check_at(gpt(), PHI_THINKING_HIGH, "temperature", "");
    check_at(model, PHI_THINKING_HIGH, "reasoning", "");
    check_at(model, PHI_THINKING_HIGH, "include", "");
    check_at(model, PHI_THINKING_HIGH, "temperature", "0.5");
    model = phi_model_openai_responses("gpt-5.2", "K");
    check_at(model, PHI_THINKING_OFF, "reasoning", "{\"effort\":\"none\"}");
    model = gpt();
    model.provider = "xai";
    check_at(model, PHI_THINKING_OFF, "reasoning", "");
    check_at(model, PHI_THINKING_MINIMAL, "reasoning.effort", "\"low\"");
}

TEST(a_model_of_an_unknown_name_is_told_of_reasoning_only_when_it_is_to_think) {
    phi_model models[2];
    size_t i;
    models[0] = phi_model_openai_responses("omega-1", "K");
    models[1] = phi_model_azure("https://r.openai.azure.com/openai/v1", "my-deployment", "K");
    for (i = 0; i < 2; i++) {
        check_at(models[i], PHI_THINKING_OFF, "reasoning", "");
        check_at(models[i], PHI_THINKING_OFF, "include", "");
        check_at(models[i], PHI_THINKING_LOW, "reasoning.effort", "\"low\"");
        check_at(models[i], PHI_THINKING_LOW, "include", "[\"reasoning.encrypted_content\"]");
    }
}

TEST(max_output_tokens_is_at_least_16) {
    phi_model model = gpt();
    check_at(model, PHI_THINKING_OFF, "max_output_tokens", "8192");
    model.max_tokens = 5;
    check_at(model, PHI_THINKING_OFF, "max_output_tokens", "16");
}

TEST(tool_choice_is_sent_by_its_word_and_only_with_tools) {
    conversation t;
    talk_begin(&t, gpt());
    talk_user(&t, "hi");
    t.spec.tool_choice = PHI_TOOL_CHOICE_REQUIRED;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "");
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "\"required\"");
    t.spec.tool_choice = PHI_TOOL_CHOICE_NONE;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "\"none\"");
    t.spec.tool_choice = PHI_TOOL_CHOICE_AUTO;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), "\"auto\"");
    talk_free(&t);
}

/* A reasoning item, words with a phase and a call, as a turn of this model. */
static phi_message *said(conversation *t) {
    phi_message *m;
    talk_user(t, "hi");
    m = talk_assistant(t);
    talk_thinking(t, "", ITEM);
    talk_text(t, "Looking.");
    t->blocks[1][1].replay = phi_str_of("{\"id\":\"msg_1\",\"phase\":\"commentary\"}");
    talk_call(t, "call_1", "read", "{\"a\":1}");
    t->blocks[1][2].replay = phi_str_of("{\"id\":\"fc_1\"}");
    (void)talk_result(t, "call_1", "read", "ok");
    return m;
}

TEST(reasoning_goes_back_whole_directly_before_its_item) {
    conversation t;
    talk_begin(&t, gpt());
    (void)said(&t);
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[1]"), ITEM);
    CHECK_EQ_STR(talk_at(&t, "input[2]"),
                 "{\"type\":\"message\",\"id\":\"msg_1\",\"status\":\"completed\",\"role\":"
                 "\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Looking.\","
                 "\"annotations\":[]}],\"phase\":\"commentary\"}");
    CHECK_EQ_STR(talk_at(&t, "input[3]"),
                 "{\"type\":\"function_call\",\"id\":\"fc_1\",\"call_id\":\"call_1\",\"name\":"
                 "\"read\",\"arguments\":\"{\\\"a\\\":1}\"}");
    CHECK_EQ_STR(talk_at(&t, "input[4]"),
                 "{\"type\":\"function_call_output\",\"call_id\":\"call_1\",\"output\":\"ok\"}");
    talk_free(&t);
}

/* Neither reasoning nor ids of items, but what was said and called. */
static void check_bare(conversation *t) {
    talk_render_ok(t);
    CHECK_EQ_STR(talk_at(t, "input[1]"),
                 "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"
                 "\"output_text\",\"text\":\"Looking.\",\"annotations\":[]}]}");
    CHECK_EQ_STR(talk_at(t, "input[2]"),
                 "{\"type\":\"function_call\",\"call_id\":\"call_1\",\"name\":\"read\","
                 "\"arguments\":\"{\\\"a\\\":1}\"}");
    CHECK_EQ_STR(talk_at(t, "input[3].call_id"), "\"call_1\"");
}

TEST(a_foreign_turn_loses_reasoning_and_item_ids_but_keeps_its_calls) {
    conversation t;
    phi_message *m;
    talk_begin(&t, gpt());
    m = said(&t);
    m->model = phi_str_of("gpt-5");
    check_bare(&t);
    m->model = phi_str_of("gpt-5-mini");
    m->protocol = phi_str_of(PHI_PROTOCOL_AZURE_RESPONSES);
    check_bare(&t);
    m->protocol = phi_str_of(P);
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[1]"), ITEM);
    talk_free(&t);
}

TEST(a_turn_that_failed_or_lacks_its_reasoning_goes_back_bare) {
    static const char *const bad[] = {"", "EqQBSig==", "{", "{}",
                                      "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]}"};
    conversation t;
    phi_message *m;
    size_t i;
    talk_begin(&t, gpt());
    m = said(&t);
    m->stop_reason = PHI_STOP_REASON_ABORTED;
    check_bare(&t);
    m->stop_reason = PHI_STOP_REASON_STOP;
    for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        t.rendered[1] = NULL;
        t.blocks[1][0].signature = phi_str_of(bad[i]);
        check_bare(&t);
    }
    talk_free(&t);
}

TEST(reasoning_without_a_follower_is_left_out) {
    conversation t;
    talk_begin(&t, gpt());
    talk_user(&t, "hi");
    (void)talk_assistant(&t);
    talk_text(&t, "Yes.");
    talk_thinking(&t, "", ITEM);
    talk_call(&t, "c", "read", "{");
    t.blocks[1][2].incomplete = true;
    talk_call(&t, "d", "read", "{}");
    (void)talk_result(&t, "d", "read", "ok");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[1].type"), "\"message\"");
    CHECK_EQ_STR(talk_at(&t, "input[2].call_id"), "\"d\"");
    CHECK_EQ_STR(talk_at(&t, "input[3].output"), "\"ok\"");
    CHECK_EQ_STR(talk_at(&t, "input[4]"), "");
    talk_free(&t);
}

TEST(call_ids_are_made_to_fit_in_call_and_result_alike) {
    static const char *const odd[] = {
        "call_", "a|b", "", "12345678901234567890123456789012345678901234567890123456789012345"};
    conversation t;
    char call[128];
    size_t i;
    for (i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        talk_begin(&t, gpt());
        talk_user(&t, "hi");
        (void)talk_assistant(&t);
        talk_call(&t, odd[i], "read", "{}");
        (void)talk_result(&t, odd[i], "read", "ok");
        talk_render_ok(&t);
        snprintf(call, sizeof call, "%s", talk_at(&t, "input[1].call_id"));
        CHECK_EQ_INT(strlen(call), 39);
        CHECK(strncmp(call, "\"call_", 6) == 0);
        CHECK_EQ_STR(talk_at(&t, "input[2].call_id"), call);
        talk_free(&t);
    }
}

TEST(images_go_into_user_messages_and_results) {
    conversation t;
    phi_message *m;
    talk_begin(&t, gpt());
    talk_user(&t, "see");
    talk_image(&t, "QUJD");
    (void)talk_assistant(&t);
    talk_call(&t, "c", "shot", "{}");
    m = talk_result(&t, "c", "shot", NULL);
    m->is_error = true;
    talk_image(&t, "QUJD");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[0].content[1]"),
                 "{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":"
                 "\"data:image/png;base64,QUJD\"}");
    CHECK_EQ_STR(talk_at(&t, "input[2].output"),
                 "[{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":"
                 "\"data:image/png;base64,QUJD\"},{\"type\":\"input_text\",\"text\":"
                 "\"Error: (no output)\"}]");
    t.model.quirks = PHI_QUIRK_NO_IMAGES;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[0].content[1].text"),
                 "\"(image omitted: this model does not take it)\"");
    CHECK_EQ_STR(talk_at(&t, "input[2].output"),
                 "\"Error: (image omitted: this model does not take it)\"");
    talk_free(&t);
}

TEST(a_lost_result_is_replaced_and_blank_messages_are_not_sent) {
    conversation t;
    talk_begin(&t, gpt());
    talk_user(&t, "hi");
    (void)talk_assistant(&t);
    talk_call(&t, "c", "read", "no json");
    talk_user(&t, " ");
    (void)talk_assistant(&t);
    talk_text(&t, "\n");
    talk_user(&t, "go on");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[1].arguments"), "\"{}\"");
    CHECK_EQ_STR(talk_at(&t, "input[2].output"), "\"Error: No result provided\"");
    CHECK_EQ_STR(talk_at(&t, "input[3].content[0].text"), "\"go on\"");
    CHECK_EQ_STR(talk_at(&t, "input[4]"), "");
    talk_free(&t);
}

TEST(long_texts_arrive_whole_in_small_steps) {
    static char text[40001];
    conversation t;
    char *first;
    memset(text, 'x', 40000);
    talk_begin(&t, gpt());
    talk_user(&t, text);
    (void)talk_assistant(&t);
    talk_thinking(&t, "", ITEM);
    talk_text(&t, text);
    talk_call(&t, "c", "read", "{}");
    (void)talk_result(&t, "c", "read", text);
    CHECK_EQ_INT(talk_render(&t, 1), PHI_OK);
    CHECK_EQ_INT(strlen(talk_at(&t, "input[2].content[0].text")), 40002);
    CHECK_EQ_INT(strlen(talk_at(&t, "input[4].output")), 40002);
    first = strdup(t.body);
    talk_render_ok(&t);
    CHECK_EQ_STR(t.body, first);
    free(first);
    talk_free(&t);
}

/* ---- addresses ---- */

static void check_url(phi_model model, const char *want) {
    conversation t;
    talk_begin(&t, model);
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_STR(phi_request_get_info(&t.encoder.request).url, want);
    talk_free(&t);
}

TEST(azure_is_never_addressed_below_its_deployments) {
    static const char *const bases[][2] = {
        {"https://R.openai.azure.com/openai/v1", "https://R.openai.azure.com/openai/v1/responses"},
        {"https://R.openai.azure.com/openai/v1/", "https://R.openai.azure.com/openai/v1/responses"},
        {"https://R.openai.azure.com", "https://R.openai.azure.com/openai/v1/responses"},
        {"https://R.openai.azure.com/openai?api-version=2025-04-01-preview",
         "https://R.openai.azure.com/openai/responses?api-version=2025-04-01-preview"},
        {"https://R.openai.azure.com/openai/deployments/d?api-version=2025-04-01-preview",
         "https://R.openai.azure.com/openai/responses?api-version=2025-04-01-preview"},
        {"https://R.openai.azure.com/openai/deployments/d",
         "https://R.openai.azure.com/openai/v1/responses"},
        {"https://R.openai.azure.com/openai/v1/responses",
         "https://R.openai.azure.com/openai/v1/responses"}};
    phi_model model = gpt();
    size_t i;
    for (i = 0; i < sizeof bases / sizeof bases[0]; i++)
        check_url(phi_model_azure(bases[i][0], "d", "K"), bases[i][1]);
    check_url(model, "https://api.openai.com/v1/responses");
    model.base_url = "https://gate/";
    check_url(model, "https://gate/v1/responses");
}

TEST(azure_takes_its_key_in_a_header_of_its_own) {
    conversation t;
    talk_begin(&t, phi_model_azure("https://h/openai/v1", "d", "K"));
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_header(&t, "api-key"), "K");
    CHECK_EQ_STR(talk_header(&t, "authorization"), "");
    CHECK_EQ_STR(talk_at(&t, "model"), "\"d\"");
    talk_free(&t);
}

TEST(the_protocols_have_the_names_of_configuration_files) {
    const phi__codec *openai = codec_of(P);
    const phi__codec *azure = codec_of(PHI_PROTOCOL_AZURE_RESPONSES);
    CHECK(openai != NULL && azure != NULL && openai != azure);
    CHECK(codec_of("open_ai_responses") == openai);
    CHECK(codec_of("azure_open_ai_responses") == azure);
}

TEST(preflight_names_what_is_wrong) {
    conversation t;
    char words[200];
    talk_begin(&t, gpt());
    talk_user(&t, "hi");
    (void)talk_assistant(&t);
    talk_call(&t, "x", "read", "{}");
    CHECK_EQ_INT(phi__preflight(codec_of(P), &t.spec, words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "messages[1]: tool call \"x\" has no result");
    talk_free(&t);
}

/* ---- streams ---- */

#define CALL(letter, status, arguments)                                                            \
    "{\"type\":\"function_call\",\"id\":\"fc_" letter "\",\"call_id\":\"call_" letter              \
    "\",\"name\":\"read\",\"status\":\"" status "\",\"arguments\":\"" arguments "\"}"
#define REASONING(id, more) "{\"type\":\"reasoning\",\"id\":\"" id "\"," more "}"
#define PARTS                                                                                      \
    "\"summary\":[{\"type\":\"summary_text\",\"text\":\"One\"},{\"type\":\"summary_text\","        \
    "\"text\":\"Two\"}],\"encrypted_content\":\"E\""

/* An event of a name behind "response.", an index and further members. */
static void event(stream *s, const char *name, int index, const char *more) {
    char text[1000];
    snprintf(text, sizeof text, "data: {\"type\":\"response.%s\",\"output_index\":%d%s}\n\n", name,
             index, more);
    stream_text(s, text);
}

static void item(stream *s, const char *name, int index, const char *json) {
    char more[800];
    snprintf(more, sizeof more, ",\"item\":%s", json);
    event(s, name, index, more);
}

static void added(stream *s, int index, const char *json) {
    item(s, "output_item.added", index, json);
}

static void done(stream *s, int index, const char *json) {
    item(s, "output_item.done", index, json);
}

static void delta(stream *s, const char *name, int index, const char *text) {
    char more[400], whole[100];
    snprintf(whole, sizeof whole, "%s.delta", name);
    snprintf(more, sizeof more, ",\"delta\":\"%s\"", text);
    event(s, whole, index, more);
}

/* The terminal event, with further members of the response; and the end of the stream. */
static void finish(stream *s, const char *word, const char *members) {
    char more[800];
    snprintf(more, sizeof more, ",\"response\":{\"status\":\"%s\"%s}", word, members);
    event(s, word, 0, more);
    stream_end(s);
}

TEST(reasoning_becomes_thinking_that_keeps_its_item) {
    stream s;
    stream_begin(&s, P);
    added(&s, 0, REASONING("rs_1", "\"summary\":[]"));
    event(&s, "reasoning_summary_part.added", 0, "");
    delta(&s, "reasoning_summary_text", 0, "One");
    event(&s, "reasoning_summary_part.added", 0, "");
    delta(&s, "reasoning_summary_text", 0, "Two");
    CHECK_STR(phi__buf_str(&s.assembly.drafts[0].bytes), "One\n\nTwo");
    done(&s, 0, REASONING("rs_1", PARTS));
    done(&s, 1, CALL("a", "completed", "{}"));
    finish(&s, "completed", "");
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK_EQ_INT(s.content[0].kind, PHI_CONTENT_THINKING);
    CHECK_STR(s.content[0].text, "One\n\nTwo");
    CHECK_STR(s.content[0].signature, REASONING("rs_1", PARTS));
    CHECK_STR(s.content[1].replay, "{\"id\":\"fc_a\"}");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    stream_free(&s);
}

TEST(encrypted_content_that_comes_only_at_the_end_is_filled_in_by_id) {
    stream s;
    stream_begin(&s, PHI_PROTOCOL_AZURE_RESPONSES);
    done(&s, 0, REASONING("rs_0", "\"summary\":[]"));
    done(&s, 1, REASONING("rs_1", "\"summary\":[],\"encrypted_content\":null"));
    finish(&s, "completed", ",\"output\":[" ITEM "]");
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK_STR(s.content[0].signature, REASONING("rs_0", "\"summary\":[]"));
    CHECK_STR(s.content[1].signature, ITEM);
    stream_free(&s);
}

TEST(interleaved_items_are_told_apart_by_their_index) {
    stream s;
    stream_begin(&s, P);
    added(&s, 0, CALL("a", "in_progress", ""));
    added(&s, 1, CALL("b", "in_progress", ""));
    delta(&s, "function_call_arguments", 1, "{\\\"b\\\"");
    delta(&s, "function_call_arguments", 0, "{\\\"a\\\"");
    delta(&s, "function_call_arguments", 1, ":2}");
    delta(&s, "function_call_arguments", 0, ":1}");
    delta(&s, "custom_tool_call_input", 0, "no");
    delta(&s, "output_text", 0, "no");
    CHECK_STR(phi__buf_str(&s.assembly.drafts[0].bytes), "{\"a\":1}");
    done(&s, 1, CALL("b", "completed", "{\\\"b\\\":2}"));
    done(&s, 0, CALL("a", "completed", "{\\\"a\\\":1}"));
    finish(&s, "completed", "");
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK_STR(s.content[0].id, "call_a");
    CHECK_STR(s.content[0].arguments, "{\"a\":1}");
    CHECK_STR(s.content[1].id, "call_b");
    CHECK_STR(s.content[1].arguments, "{\"b\":2}");
    stream_free(&s);
}

/* As llama.cpp's server streams: no output_index, calls without an id that are named by their
   call_id, and what is finished told at the very end. */
#define LLAMA_CPP                                                                                  \
    "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\","    \
    "\"object\":\"response\",\"status\":\"in_progress\"}}\n\n"                                     \
    "data: {\"type\":\"response.output_item.added\",\"item\":{\"id\":\"rs_1\",\"summary\":[],"     \
    "\"type\":\"reasoning\",\"content\":[],\"encrypted_content\":\"\",\"status\":"                 \
    "\"in_progress\"}}\n\n"                                                                        \
    "data: {\"type\":\"response.reasoning_text.delta\",\"delta\":\"Hm\",\"item_id\":\"rs_1\"}\n\n" \
    "data: {\"type\":\"response.output_item.added\",\"item\":{\"content\":[],\"id\":\"msg_1\","    \
    "\"role\":\"assistant\",\"status\":\"in_progress\",\"type\":\"message\"}}\n\n"                 \
    "data: {\"type\":\"response.content_part.added\",\"item_id\":\"msg_1\",\"part\":{\"type\":"    \
    "\"output_text\",\"text\":\"\"}}\n\n"                                                          \
    "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"delta\":\"Look\"}\n\n" \
    "data: "                                                                                       \
    "{\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"delta\":\"ing\"}"            \
    "\n\n" LLAMA_CALL("a") LLAMA_CALL(                                                             \
        "b") "data: "                                                                              \
             "{\"type\":\"response.output_item.done\",\"item\":{\"id\":\"rs_1\",\"summary\":[],"   \
             "\"type\":\"reasoning\",\"content\":[{\"text\":\"Hm\",\"type\":\"reasoning_text\"}]," \
             "\"encrypted_content\":\"\",\"status\":\"completed\"}}\n\n"                           \
             "data: "                                                                              \
             "{\"type\":\"response.output_text.done\",\"item_id\":\"msg_1\",\"text\":\"Looking\"}" \
             "\n\n"                                                                                \
             "data: {\"type\":\"response.output_item.done\",\"item\":" LLAMA_SAID "}\n\n"          \
             "data: {\"type\":\"response.output_item.done\",\"item\":" LLAMA_CALLED(               \
                 "a") "}\n\n"                                                                      \
                      "data: {\"type\":\"response.output_item.done\",\"item\":" LLAMA_CALLED(      \
                          "b") "}\n\n"                                                             \
                               "event: response.completed\ndata: "                                 \
                               "{\"type\":\"response.completed\",\"response\":{\"id\":"            \
                               "\"r\",\"model\":\"m\",\"status\":\"completed\",\"output\":"        \
                               "[" LLAMA_SAID "," LLAMA_CALLED("a") "," LLAMA_CALLED(              \
                                   "b") "],\"usage\":{\"input_tokens\":5,"                         \
                                        "\"output_tokens\":3,\"total_tokens\":8}}}\n\n"
#define LLAMA_SAID                                                                                 \
    "{\"type\":\"message\",\"status\":\"completed\",\"id\":\"msg_1\",\"content\":[{\"type\":"      \
    "\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"Looking\"}],\"role\":"          \
    "\"assistant\"}"
#define LLAMA_CALL(name)                                                                           \
    "data: {\"type\":\"response.output_item.added\",\"item\":{\"arguments\":\"\",\"call_id\":"     \
    "\"fc_" name                                                                                   \
    "\",\"name\":\"read\",\"type\":\"function_call\",\"status\":\"in_progress\"}}\n\n"             \
    "data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"{\\\"p\\\":\","        \
    "\"item_id\":\"fc_" name "\"}\n\n"                                                             \
    "data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"1}\",\"item_id\":"     \
    "\"fc_" name "\"}\n\n"
#define LLAMA_CALLED(name)                                                                         \
    "{\"type\":\"function_call\",\"status\":\"completed\",\"arguments\":\"{\\\"p\\\":1}\","        \
    "\"call_id\":\"fc_" name "\",\"name\":\"read\"}"

TEST(items_without_an_index_are_told_apart_by_their_id) {
    stream s;
    stream_of(&s, P, LLAMA_CPP);
    REQUIRE(s.message.content_count == 4);
    CHECK_STR(s.content[0].text, "Hm");
    CHECK_STR(s.content[1].text, "Looking");
    CHECK_STR(s.content[2].id, "fc_a");
    CHECK_STR(s.content[2].arguments, "{\"p\":1}");
    CHECK_STR(s.content[3].id, "fc_b");
    CHECK_STR(s.content[3].arguments, "{\"p\":1}");
    CHECK(!s.content[2].incomplete && !s.content[3].incomplete);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    CHECK_EQ_INT(s.message.usage.output, 3);
    stream_free(&s);
}

/* An event of an item, by any index and id. */
static void named(stream *s, const char *type, const char *names, const char *more) {
    char text[800];
    snprintf(text, sizeof text, "data: {\"type\":\"response.%s\"%s%s}\n\n", type, names, more);
    stream_text(s, text);
}

#define SAYS ",\"item\":{\"type\":\"message\",\"content\":[]}"
#define SAYS_AS(id) ",\"item\":{\"type\":\"message\",\"id\":\"" id "\",\"content\":[]}"
#define DELTA(text) ",\"delta\":\"" text "\""

TEST(an_id_counts_before_an_index_and_either_is_enough) {
    stream s;
    stream_begin(&s, P);
    named(&s, "output_item.added", ",\"output_index\":0", SAYS_AS("m1")); /* always index 0 */
    named(&s, "output_item.added", ",\"output_index\":0", SAYS_AS("m2"));
    named(&s, "output_text.delta", ",\"output_index\":0,\"item_id\":\"m1\"", DELTA("One"));
    named(&s, "output_text.delta", ",\"output_index\":0,\"item_id\":\"m2\"", DELTA("Two"));
    named(&s, "output_item.added", ",\"output_index\":7", SAYS_AS("m3")); /* other ids */
    named(&s, "output_text.delta", ",\"output_index\":7,\"item_id\":\"x\"", DELTA("Three"));
    named(&s, "output_item.done", ",\"output_index\":7", SAYS_AS("y"));
    named(&s, "output_item.added", "", SAYS); /* neither */
    named(&s, "output_text.delta", "", DELTA("Four"));
    named(&s, "output_item.done", "", SAYS);
    named(&s, "output_text.delta", ",\"item_id\":\"m5\"", DELTA("Five")); /* not begun */
    named(&s, "output_item.added", "", SAYS_AS("m5"));
    finish(&s, "completed", "");
    REQUIRE(s.message.content_count == 5);
    CHECK_STR(s.content[0].text, "One");
    CHECK_STR(s.content[1].text, "Two");
    CHECK_STR(s.content[2].text, "Three");
    CHECK_STR(s.content[3].text, "Four");
    CHECK_STR(s.content[4].text, "Five");
    stream_free(&s);
}

TEST(a_finished_item_overwrites_its_deltas) {
    stream s;
    stream_begin(&s, P);
    delta(&s, "output_text", 0, "Helo");
    done(&s, 0, "{\"type\":\"message\",\"content\":[{\"text\":\"Hel\"},{\"text\":\"lo\"}]}");
    added(&s, 1, CALL("a", "in_progress", ""));
    delta(&s, "function_call_arguments", 1, "{\\\"a");
    event(&s, "function_call_arguments.done", 1, ",\"arguments\":\"{\\\"a\\\":1}\"");
    CHECK_STR(phi__buf_str(&s.assembly.drafts[1].bytes), "{\"a\":1}");
    done(&s, 1, CALL("z", "completed", "{\\\"a\\\":2}"));
    done(&s, 1, CALL("y", "completed", "{\\\"a\\\":3}"));
    finish(&s, "completed", "");
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK_STR(s.content[0].text, "Hello");
    CHECK_STR(s.content[1].id, "call_z");
    CHECK_STR(s.content[1].arguments, "{\"a\":2}");
    stream_free(&s);
}

TEST(a_cut_call_is_never_run) {
    stream s;
    stream_begin(&s, P);
    done(&s, 0, CALL("a", "completed", "{}"));
    added(&s, 1, CALL("b", "in_progress", ""));
    done(&s, 1, CALL("b", "incomplete", "{\\\"a"));
    finish(&s, "incomplete", ",\"incomplete_details\":{\"reason\":\"max_output_tokens\"}");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_LENGTH);
    CHECK_STR(s.message.raw_stop_reason, "max_output_tokens");
    CHECK(!s.content[0].incomplete);
    CHECK(s.content[1].incomplete);
    CHECK_STR(s.content[1].arguments, "{\"a");
    CHECK_EQ_INT(s.content[1].replay.len, 0);
    stream_free(&s);
}

TEST(usage_is_split_so_that_input_excludes_the_cache) {
    stream s;
    stream_begin(&s, P);
    finish(&s, "completed",
           ",\"usage\":{\"input_tokens\":100,\"input_tokens_details\":{\"cached_tokens\":20,"
           "\"cache_write_tokens\":30},\"output_tokens\":50,\"output_tokens_details\":{"
           "\"reasoning_tokens\":40}}");
    CHECK_EQ_INT(s.message.usage.input, 50);
    CHECK_EQ_INT(s.message.usage.cache_read, 20);
    CHECK_EQ_INT(s.message.usage.cache_write, 30);
    CHECK_EQ_INT(s.message.usage.output, 50);
    CHECK_EQ_INT(s.message.usage.reasoning, 40);
    CHECK_EQ_INT(s.message.usage.total_tokens, 150);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    stream_free(&s);
}

static void check_failed(stream *s, phi_failure_kind kind, bool retryable) {
    CHECK_EQ_STR(phi_failure_kind_text(s->assembly.failure.kind), phi_failure_kind_text(kind));
    CHECK_EQ_INT(s->assembly.failure.retryable, retryable);
    CHECK(s->assembly.failure.message.len > 0);
    stream_free(s);
}

static void check_failure(const char *text, phi_failure_kind kind, bool retryable) {
    stream s;
    stream_of(&s, P, text);
    check_failed(&s, kind, retryable);
}

static void check_end(const char *word, const char *members, phi_failure_kind kind,
                      bool retryable) {
    stream s;
    stream_begin(&s, P);
    finish(&s, word, members);
    check_failed(&s, kind, retryable);
}

TEST(errors_are_classified_wherever_they_stand) {
    check_failure("data: {\"type\":\"error\",\"code\":\"server_is_overloaded\",\"message\":\"\"}"
                  "\n\n",
                  PHI_FAILURE_SERVER, true);
    check_failure("event: error\ndata: {\"error\":{\"code\":\"insufficient_quota\"}}\n\n",
                  PHI_FAILURE_QUOTA, false);
    check_failure("data: {\"error\":{\"code\":\"429\",\"message\":\"m\"}}\n\n",
                  PHI_FAILURE_RATE_LIMITED, true);
    check_end("failed", ",\"error\":{\"code\":\"invalid_prompt\",\"message\":\"m\"}",
              PHI_FAILURE_INVALID_REQUEST, false);
    check_end("failed", ",\"error\":{\"code\":\"slow_down\"}", PHI_FAILURE_SERVER, true);
    check_end("failed", "", PHI_FAILURE_SERVER, true);
    check_end("incomplete", ",\"incomplete_details\":{\"reason\":\"content_filter\"}",
              PHI_FAILURE_CONTENT_FILTER, false);
    check_end("incomplete", "", PHI_FAILURE_SERVER, false);
}

/* The words of a status mean nothing as a reason: a gateway may say anything there. */
TEST(a_reason_is_no_status) {
    static const char *const words[] = {"completed", "failed", "cancelled", "next_year"};
    for (size_t i = 0; i < PHI__COUNT(words); i++) {
        char members[80];
        stream s;
        stream_begin(&s, P);
        done(&s, 0, CALL("b", "incomplete", "{\\\"a"));
        (void)snprintf(members, sizeof members, ",\"incomplete_details\":{\"reason\":\"%s\"}",
                       words[i]);
        finish(&s, "incomplete", members);
        CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
        CHECK(s.assembly.unknown_stop && s.content[0].incomplete);
        stream_free(&s);
    }
}

TEST(a_stream_without_its_end_is_truncated) {
    stream s;
    check_failure("", PHI_FAILURE_NETWORK, true);
    check_failure("data: {\"type\":\"resp", PHI_FAILURE_NETWORK, true);
    check_failure("data: {\"type\n\ndata: {}\n\n", PHI_FAILURE_SERVER, true);
    stream_begin(&s, P);
    done(&s, 0, CALL("a", "completed", "{}"));
    stream_end(&s);
    check_failed(&s, PHI_FAILURE_NETWORK, true);
}

TEST(garbage_of_every_type_is_survived) {
    stream s;
    stream_begin(&s, P);
    stream_text(&s, "data: [DONE]\n\ndata: words\n\ndata: {}\n\ndata: {\"type\":5}\n\n");
    stream_text(&s, "data: {\"type\":\"response.created\",\"response\":[1]}\n\n");
    stream_text(&s, "data: {\"type\":\"response.output_item.added\"}\n\n");
    added(&s, -5, "null");
    added(&s, 0, "{\"type\":\"web_search_call\"}");
    added(&s, 1, "{\"type\":\"message\",\"content\":5}");
    done(&s, 1, "{\"type\":\"reasoning\"}");
    done(&s, 2, "{\"type\":\"message\",\"content\":[1,{\"text\":5},null,{\"text\":\"ok\"}]}");
    delta(&s, "function_call_arguments", 9, "x");
    event(&s, "completed", 0,
          ",\"response\":{\"output\":[null,5,{\"type\":{}}],\"usage\":{\"input_tokens\":1,"
          "\"input_tokens_details\":{\"cached_tokens\":99}}}");
    delta(&s, "output_text", 2, "late");
    stream_end(&s);
    CHECK_EQ_STR(phi_failure_kind_text(s.assembly.failure.kind), "");
    CHECK_STR(phi_message_text(&s.message, "", &s.arena, NULL), "ok");
    CHECK_EQ_INT(s.message.usage.input, 0);
    CHECK_EQ_INT(s.message.usage.cache_read, 1);
    stream_free(&s);
}

TEST(a_gateway_may_leave_out_index_type_or_all_items_but_the_last_event) {
    stream s;
    stream_begin(&s, P);
    stream_text(&s, "event: response.output_text.delta\ndata: {\"delta\":\"Hi\"}\n\n");
    stream_text(&s, "event: response.completed\ndata: {\"response\":{}}\n\n");
    stream_end(&s);
    CHECK_STR(s.content[0].text, "Hi");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    stream_free(&s);
    stream_begin(&s, P);
    finish(&s, "completed", ",\"output\":[" CALL("a", "completed", "{}") "]");
    CHECK_STR(s.content[0].id, "call_a");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    stream_free(&s);
}

TEST(a_whole_answer_is_read_and_an_error_in_its_place_is_one) {
    stream s;
    stream_begin(&s, P);
    stream_whole(&s, "{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[" ITEM
                     "],\"usage\":{\"output_tokens\":3}}");
    CHECK_EQ_INT(s.message.content_count, 1);
    CHECK_STR(s.content[0].signature, ITEM);
    CHECK_EQ_INT(s.message.usage.output, 3);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    stream_free(&s);
    stream_begin(&s, P);
    stream_whole(&s, "{\"error\":{\"message\":\"no\",\"code\":\"rate_limit_exceeded\"}}");
    check_failed(&s, PHI_FAILURE_RATE_LIMITED, true);
    stream_begin(&s, P);
    stream_whole(&s, "<html><title>Sign in</title>");
    check_failed(&s, PHI_FAILURE_INVALID_REQUEST, false);
}

TEST(the_ids_of_text_survive_the_interchange_json) {
    static const char json[] = "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
                               "\"a\",\"replay\":{\"id\":\"msg_1\"}}]}";
    stream s;
    phi_message m;
    phi_str out;
    stream_begin(&s, P);
    CHECK_EQ_INT(phi_message_from_json(phi_str_of(json), &s.arena, &m, NULL), PHI_OK);
    CHECK_STR(m.content[0].replay, "{\"id\":\"msg_1\"}");
    CHECK_EQ_INT(phi_message_to_json(&m, &s.arena, &out), PHI_OK);
    CHECK(phi__str_find(out, 0, "\"replay\":{\"id\":\"msg_1\"}") != SIZE_MAX);
    stream_free(&s);
}

/* A stream and a request with each allocation failing once: never a crash, never a leak. */
static void one_round(void) {
    conversation t;
    stream s;
    stream_begin(&s, P);
    done(&s, 0, ITEM);
    delta(&s, "output_text", 1, "Hi");
    done(&s, 1, "{\"type\":\"message\",\"id\":\"m\",\"content\":[{\"text\":\"Ho\"}]}");
    finish(&s, "completed", "");
    stream_free(&s);
    talk_begin(&t, phi_model_azure("https://h/openai/deployments/d", "d", "K"));
    (void)said(&t);
    (void)talk_render(&t, 0);
    talk_free(&t);
}

TEST(every_failed_allocation_is_survived) {
    int n = 0;
    do {
        test_alloc_fail_at(n);
        one_round();
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        n++;
    } while (test_alloc_tripped());
    CHECK(n > 10);
}

TEST_MAIN(TEST_ENTRY(the_body_stores_nothing_and_asks_for_encrypted_reasoning),
          TEST_ENTRY(models_from_gpt_5_4_on_search_deferred_tools_by_themselves),
          TEST_ENTRY(thinking_levels_are_efforts_and_only_for_models_that_reason),
          TEST_ENTRY(a_model_of_an_unknown_name_is_told_of_reasoning_only_when_it_is_to_think),
          TEST_ENTRY(max_output_tokens_is_at_least_16),
          TEST_ENTRY(tool_choice_is_sent_by_its_word_and_only_with_tools),
          TEST_ENTRY(reasoning_goes_back_whole_directly_before_its_item),
          TEST_ENTRY(a_foreign_turn_loses_reasoning_and_item_ids_but_keeps_its_calls),
          TEST_ENTRY(a_turn_that_failed_or_lacks_its_reasoning_goes_back_bare),
          TEST_ENTRY(reasoning_without_a_follower_is_left_out),
          TEST_ENTRY(call_ids_are_made_to_fit_in_call_and_result_alike),
          TEST_ENTRY(images_go_into_user_messages_and_results),
          TEST_ENTRY(a_lost_result_is_replaced_and_blank_messages_are_not_sent),
          TEST_ENTRY(long_texts_arrive_whole_in_small_steps),
          TEST_ENTRY(azure_is_never_addressed_below_its_deployments),
          TEST_ENTRY(azure_takes_its_key_in_a_header_of_its_own),
          TEST_ENTRY(the_protocols_have_the_names_of_configuration_files),
          TEST_ENTRY(preflight_names_what_is_wrong),
          TEST_ENTRY(reasoning_becomes_thinking_that_keeps_its_item),
          TEST_ENTRY(encrypted_content_that_comes_only_at_the_end_is_filled_in_by_id),
          TEST_ENTRY(interleaved_items_are_told_apart_by_their_index),
          TEST_ENTRY(items_without_an_index_are_told_apart_by_their_id),
          TEST_ENTRY(an_id_counts_before_an_index_and_either_is_enough),
          TEST_ENTRY(a_finished_item_overwrites_its_deltas), TEST_ENTRY(a_cut_call_is_never_run),
          TEST_ENTRY(usage_is_split_so_that_input_excludes_the_cache),
          TEST_ENTRY(errors_are_classified_wherever_they_stand), TEST_ENTRY(a_reason_is_no_status),
          TEST_ENTRY(a_stream_without_its_end_is_truncated),
          TEST_ENTRY(garbage_of_every_type_is_survived),
          TEST_ENTRY(a_gateway_may_leave_out_index_type_or_all_items_but_the_last_event),
          TEST_ENTRY(a_whole_answer_is_read_and_an_error_in_its_place_is_one),
          TEST_ENTRY(the_ids_of_text_survive_the_interchange_json),
          TEST_ENTRY(every_failed_allocation_is_survived))
