/* test_gemini_interactions.c - Google's Interactions API: what requests hold, and streams beside the
   fixtures. */
#include "wire/wire_support.h"
#include "support/codec_of.h"

#define P PHI_PROTOCOL_INTERACTIONS

static phi_model flash_2_5(void) { return phi_model_interactions("gemini-2.5-flash", "K"); }
static phi_model flash_3(void) { return phi_model_interactions("gemini-3-flash-preview", "K"); }

/* ---- addresses ---- */

static void check_address(phi_model model, const char *url, const char *header, const char *value) {
    conversation t;
    talk_begin(&t, model);
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_STR(phi_request_get_info(&t.encoder.request).url, url);
    CHECK_EQ_STR(talk_header(&t, header), value);
    CHECK_EQ_STR(talk_header(&t, "api-revision"), "2026-05-20");
    talk_free(&t);
}

TEST(the_key_is_in_a_header_and_a_token_where_the_address_has_a_project) {
    phi_model model = flash_3();
    check_address(model, "https://generativelanguage.googleapis.com/v1beta/interactions",
                  "x-goog-api-key", "K");
    model.base_url = "http://127.0.0.1:8080/";
    check_address(model, "http://127.0.0.1:8080/v1beta/interactions", "authorization", "");
    model.base_url = "https://aiplatform.googleapis.com/v1beta1/projects/P/locations/global";
    check_address(model,
                  "https://aiplatform.googleapis.com/v1beta1/projects/P/locations/global/"
                  "interactions",
                  "authorization", "Bearer K");
    check_address(model,
                  "https://aiplatform.googleapis.com/v1beta1/projects/P/locations/global/"
                  "interactions",
                  "x-goog-api-key", "");
}

TEST(the_preset_knows_its_limits_and_who_thinks) {
    phi_model model = flash_2_5();
    CHECK_EQ_STR(model.protocol, "google_interactions");
    CHECK_EQ_STR(model.provider, "google_interactions");
    CHECK_EQ_INT(model.context_window, 1000000);
    CHECK_EQ_INT(model.max_tokens, 8192);
    CHECK(model.reasoning);
    CHECK(!phi_model_interactions("gemini-2.0-flash", "K").reasoning);
    CHECK(!phi_model_interactions("gemma-3-27b-it", "K").reasoning);
    CHECK(codec_of("interactions") == codec_of(P));
}

/* ---- settings ---- */

TEST(nothing_is_stored_and_the_answer_is_a_stream) {
    conversation t;
    phi_model model = flash_3();
    model.id = "models/gemini-3-flash-preview";
    talk_begin(&t, model);
    talk_user(&t, "hi");
    t.spec.system_prompt = phi_str_of("Be brief.");
    talk_render_ok(&t);
    CHECK_EQ_STR(t.body, "{\"model\":\"gemini-3-flash-preview\",\"stream\":true,\"store\":false,"
                         "\"generation_config\":{\"max_output_tokens\":8192,\"thinking_level\":"
                         "\"minimal\"},\"system_instruction\":\"Be brief.\",\"input\":[{\"type\":"
                         "\"user_input\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]}");
    talk_free(&t);
}

static void check_config(const char *id, phi_thinking level, const char *want) {
    conversation t;
    talk_begin(&t, phi_model_interactions(id, "K"));
    talk_user(&t, "hi");
    t.spec.thinking = level;
    t.spec.max_tokens = 100;
    t.spec.temperature = 0.5;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "generation_config"), want);
    talk_free(&t);
}

TEST(models_think_by_a_level_that_they_have) {
    check_config("gemini-2.5-flash", PHI_THINKING_OFF,
                 "{\"max_output_tokens\":100,\"temperature\":0.5,\"thinking_level\":\"low\"}");
    check_config("gemini-2.5-flash", PHI_THINKING_HIGH,
                 "{\"max_output_tokens\":100,\"temperature\":0.5,\"thinking_level\":\"high\","
                 "\"thinking_summaries\":\"auto\"}");
    check_config("gemini-3-flash-preview", PHI_THINKING_OFF,
                 "{\"max_output_tokens\":100,\"temperature\":0.5,\"thinking_level\":\"minimal\"}");
    check_config("gemini-3-pro-preview", PHI_THINKING_MINIMAL,
                 "{\"max_output_tokens\":100,\"thinking_level\":\"low\",\"thinking_summaries\":"
                 "\"auto\"}");
    check_config("gemini-3-pro-preview", PHI_THINKING_MEDIUM,
                 "{\"max_output_tokens\":100,\"thinking_level\":\"high\",\"thinking_summaries\":"
                 "\"auto\"}");
    check_config("gemini-3.1-pro-preview", PHI_THINKING_MEDIUM,
                 "{\"max_output_tokens\":100,\"thinking_level\":\"medium\","
                 "\"thinking_summaries\":\"auto\"}");
    check_config("gemini-3.7-flash", PHI_THINKING_OFF,
                 "{\"max_output_tokens\":100,\"thinking_level\":\"low\"}");
    check_config("gemini-flash-latest", PHI_THINKING_LOW,
                 "{\"max_output_tokens\":100,\"thinking_level\":\"low\",\"thinking_summaries\":"
                 "\"auto\"}");
    check_config("gemini-2.0-flash", PHI_THINKING_HIGH,
                 "{\"max_output_tokens\":100,\"temperature\":0.5}");
}

TEST(tools_are_functions_and_the_choice_is_a_setting) {
    static const phi__tool_view tools[] = {
        {{"a", 1}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false},
        {{"b", 1},
         {"B", 1},
         {"{\"type\":\"object\",\"const\":{}}", 28},
         false,
         NULL,
         false,
         {NULL, 0},
         false}};
    conversation t;
    talk_begin(&t, flash_3());
    talk_user(&t, "hi");
    t.spec.tools = tools;
    t.spec.tool_count = 2;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tools"),
                 "[{\"type\":\"function\",\"name\":\"a\",\"parameters\":"
                 "{\"type\":\"object\",\"properties\":{}}},{\"type\":\"function\",\"name\":\"b\","
                 "\"description\":\"B\",\"parameters\":{\"type\":\"object\",\"enum\":[{}]}}]");
    CHECK_EQ_STR(talk_at(&t, "generation_config.tool_choice"), "\"auto\"");
    t.spec.tool_choice = PHI_TOOL_CHOICE_NONE;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "generation_config.tool_choice"), "\"none\"");
    t.spec.tool_choice = PHI_TOOL_CHOICE_REQUIRED;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "generation_config.tool_choice"), "\"any\"");
    t.spec.respond_only = true;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "generation_config.tool_choice"),
                 "{\"allowed_tools\":{\"mode\":\"any\",\"tools\":[\"respond_json\"]}}");
    talk_free(&t);
}

TEST(a_format_is_a_text_of_a_type_with_its_schema) {
    conversation t;
    talk_begin(&t, flash_3());
    talk_user(&t, "hi");
    t.spec.format.kind = PHI_FORMAT_JSON_OBJECT;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "response_format"),
                 "{\"type\":\"text\",\"mime_type\":\"application/json\"}");
    t.spec.format.kind = PHI_FORMAT_JSON_SCHEMA;
    t.spec.format.schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}";
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "response_format"),
                 "{\"type\":\"text\",\"mime_type\":\"application/json\",\"schema\":{\"type\":"
                 "\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}}");
    talk_free(&t);
}

/* ---- messages ---- */

#define SEARCH                                                                                     \
    "{\"type\": \"google_search_call\",\"id\":\"s\",\"arguments\":{\"queries\":[\"a\"]},"          \
    "\"signature\":\"SS\",\"search_type\":\"web_search\"}"

static phi_content *talk_opaque(conversation *t, const char *protocol, const char *json) {
    phi_content *c = talk_block(t, PHI_CONTENT_OPAQUE);
    c->name = phi_str_of("google_search_call");
    c->protocol = phi_str_of(protocol);
    c->replay = phi_str_of(json);
    return c;
}

/* A question, an answer with all that it may have, two calls, one result. */
static void replayed(conversation *t, phi_model model) {
    talk_begin(t, model);
    talk_user(t, "a");
    talk_assistant(t);
    talk_thinking(t, "hm", "S1");
    talk_thinking(t, "hidden", "");
    talk_text(t, "Yes.");
    t->blocks[1][2].citations = phi_str_of("[{\"type\":\"url_citation\",\"url\":\"u\"}]");
    talk_text(t, " ");
    talk_opaque(t, P, SEARCH);
    talk_call(t, "g1", "read", "{\"p\":1}");
    talk_call(t, "call_0123456789abcdef", "9x.y", "");
    talk_result(t, "g1", "read", "one");
    talk_text(t, "two");
    talk_image(t, "aGk=");
}

#define CALLS                                                                                      \
    "{\"type\":\"function_call\",\"id\":\"g1\",\"name\":\"read\",\"arguments\":{\"p\":1}},"        \
    "{\"type\":\"function_call\",\"id\":\"call_0123456789abcdef\",\"name\":\"_x_y\","              \
    "\"arguments\":{}}"
#define LOST                                                                                       \
    "{\"type\":\"function_result\",\"call_id\":\"call_0123456789abcdef\",\"name\":\"_x_y\","       \
    "\"is_error\":true,\"result\":\"No result provided\"}"

TEST(steps_go_back_in_their_places_and_opaque_ones_byte_for_byte) {
    conversation t;
    replayed(&t, flash_3());
    talk_render_ok(&t);
    CHECK(strstr(t.body,
                 "\"input\":[{\"type\":\"user_input\",\"content\":[{\"type\":\"text\",\"text\":"
                 "\"a\"}]},{\"type\":\"thought\",\"signature\":\"S1\",\"summary\":[{\"type\":"
                 "\"text\",\"text\":\"hm\"}]},{\"type\":\"model_output\",\"content\":[{\"type\":"
                 "\"text\",\"text\":\"Yes.\",\"annotations\":[{\"type\":\"url_citation\",\"url\":"
                 "\"u\"}]}]}," SEARCH "," CALLS
                 ",{\"type\":\"function_result\",\"call_id\":\"g1\",\"name\":\"read\",\"result\":"
                 "[{\"type\":\"text\",\"text\":\"one\\ntwo\"},{\"type\":\"image\",\"mime_type\":"
                 "\"image/png\",\"data\":\"aGk=\"}]}," LOST "]}") != NULL);
    talk_free(&t);
}

TEST(models_before_3_get_images_of_results_behind_them) {
    conversation t;
    replayed(&t, flash_2_5());
    talk_user(&t, "go on");
    talk_render_ok(&t);
    CHECK(strstr(t.body, CALLS ",{\"type\":\"function_result\",\"call_id\":\"g1\",\"name\":"
                               "\"read\",\"result\":\"one\\ntwo\"}," LOST
                               ",{\"type\":\"user_input\",\"content\":[{\"type\":\"image\","
                               "\"mime_type\":\"image/png\",\"data\":\"aGk=\"}]},{\"type\":"
                               "\"user_input\",\"content\":[{\"type\":\"text\",\"text\":"
                               "\"go on\"}]}]}") != NULL);
    talk_free(&t);
}

TEST(foreign_thinking_is_left_out_and_a_foreign_call_says_so) {
    static const char said[] = "{\"type\":\"model_output\",\"content\":[{\"type\":\"text\","
                               "\"text\":\"Yes.\"}]},";
    static const char unsigned_thought[] =
        "{\"type\":\"thought\",\"signature\":\"skip_thought_signature_validator\"},";
    conversation t;
    char want[2000];
    replayed(&t, flash_3());
    t.messages[1].model = phi_str_of("claude-sonnet-4-6");
    t.messages[1].provider = phi_str_of("anthropic");
    t.blocks[1][4].protocol = phi_str_of(PHI_PROTOCOL_ANTHROPIC);
    talk_render_ok(&t);
    snprintf(want, sizeof want, "%s%s" CALLS, said, unsigned_thought);
    if (!CHECK(strstr(t.body, want) != NULL)) printf("%s\n", t.body);
    CHECK(strstr(t.body, "google_search_call") == NULL);
    talk_free(&t);
    replayed(&t, flash_2_5()); /* which do not ask for a signature */
    t.messages[1].model = phi_str_of("gemini-2.5-pro");
    talk_render_ok(&t);
    snprintf(want, sizeof want, "%s" SEARCH "," CALLS, said);
    if (!CHECK(strstr(t.body, want) != NULL)) printf("%s\n", t.body);
    talk_free(&t);
}

TEST(a_call_that_is_signed_itself_needs_no_thought) {
    conversation t;
    talk_begin(&t, flash_3());
    talk_user(&t, "a");
    talk_assistant(&t);
    talk_call(&t, "1", "f", "{}");
    t.blocks[1][0].signature = phi_str_of("C1");
    talk_call(&t, "2", "f", "[1]");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[1]"),
                 "{\"type\":\"function_call\",\"id\":\"1\",\"name\":\"f\",\"arguments\":{},"
                 "\"signature\":\"C1\"}");
    CHECK_EQ_STR(talk_at(&t, "input[2]"),
                 "{\"type\":\"function_call\",\"id\":\"2\",\"name\":\"f\",\"arguments\":{}}");
    talk_free(&t);
}

TEST(opaque_steps_of_an_answer_that_failed_and_broken_ones_are_left_out) {
    conversation t;
    talk_begin(&t, flash_3());
    talk_user(&t, "a");
    talk_assistant(&t);
    talk_text(&t, "b");
    talk_opaque(&t, P, SEARCH);
    talk_opaque(&t, P, "");
    talk_opaque(&t, P, "{\"a\":");
    talk_opaque(&t, P, "[1]");
    t.blocks[1][0].citations = phi_str_of("[{]");
    talk_user(&t, "c");
    talk_render_ok(&t);
    CHECK_EQ_INT(phi_json_count(phi_json_get(t.tree, "input")), 4);
    CHECK_EQ_STR(talk_at(&t, "input[1].content[0]"), "{\"type\":\"text\",\"text\":\"b\"}");
    CHECK_EQ_STR(talk_at(&t, "input[2].id"), "\"s\"");
    t.messages[1].stop_reason = PHI_STOP_REASON_ABORTED;
    memset(t.rendered, 0, sizeof t.rendered);
    talk_render_ok(&t);
    CHECK_EQ_INT(phi_json_count(phi_json_get(t.tree, "input")), 3);
    talk_free(&t);
}

TEST(an_opaque_block_of_the_users_is_content) {
    conversation t;
    talk_begin(&t, flash_3());
    talk_user(&t, "a");
    talk_opaque(&t, P, "{\"type\":\"video\",\"uri\":\"u\"}");
    talk_opaque(&t, PHI_PROTOCOL_GOOGLE, "{\"fileData\":{}}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[0].content"),
                 "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"video\",\"uri\":\"u\"}]");
    talk_free(&t);
}

TEST(blank_messages_are_not_sent_and_results_without_text_get_some) {
    conversation t;
    phi_model model = flash_3();
    model.quirks |= PHI_QUIRK_NO_IMAGES;
    talk_begin(&t, model);
    talk_user(&t, "a");
    talk_user(&t, " ");
    talk_assistant(&t);
    talk_call(&t, "1", "f", "{}");
    talk_call(&t, "2", "g", "{}");
    talk_call(&t, "3", "h", "{}");
    talk_result(&t, "1", "", NULL)->is_error = true;
    talk_result(&t, "2", "g", NULL);
    talk_result(&t, "3", "h", NULL);
    talk_image(&t, "aGk=");
    talk_render_ok(&t);
    CHECK_EQ_INT(phi_json_count(phi_json_get(t.tree, "input")), 8);
    CHECK_EQ_STR(talk_at(&t, "input[5]"),
                 "{\"type\":\"function_result\",\"call_id\":\"1\",\"name\":\"f\",\"is_error\":true,"
                 "\"result\":\"(no output)\"}");
    CHECK_EQ_STR(talk_at(&t, "input[6].result"), "\"\"");
    CHECK_EQ_STR(talk_at(&t, "input[7].result"),
                 "\"(image omitted: this model does not take it)\"");
    t.model.quirks = 0;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[7].result[0].text"), "\"(see the attached image)\"");
    talk_free(&t);
}

TEST(images_may_be_gif_and_heic) {
    conversation t;
    talk_begin(&t, flash_3());
    talk_message(&t, PHI_ROLE_USER);
    talk_image(&t, "aGk=");
    t.blocks[0][0].mime_type = phi_str_of("image/svg+xml");
    talk_image(&t, "aGk=");
    t.blocks[0][1].mime_type = phi_str_of("image/gif");
    talk_image(&t, "aGk=");
    t.blocks[0][2].mime_type = phi_str_of("image/heic");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[0].content[1].mime_type"), "\"image/gif\"");
    CHECK_EQ_STR(talk_at(&t, "input[0].content[2].mime_type"), "\"image/heic\"");
    CHECK_EQ_STR(talk_at(&t, "input[0].content[0].text"),
                 "\"(image omitted: this model does not take it)\"");
    talk_free(&t);
}

TEST(documents_and_audio_are_content_of_users_and_of_results) {
    conversation t;
    phi_content *c;
    talk_begin(&t, flash_3());
    talk_user(&t, "a");
    c = talk_block(&t, PHI_CONTENT_DOCUMENT);
    c->data = phi_str_of("JVBERg==");
    c->mime_type = phi_str_of("application/pdf");
    c->name = phi_str_of("Report");
    c = talk_block(&t, PHI_CONTENT_DOCUMENT);
    c->url = phi_str_of("https://h/b.pdf");
    c = talk_block(&t, PHI_CONTENT_DOCUMENT);
    c->text = phi_str_of("words");
    c = talk_block(&t, PHI_CONTENT_AUDIO);
    c->data = phi_str_of("UklGRg==");
    c->mime_type = phi_str_of("audio/wav");
    talk_assistant(&t);
    talk_call(&t, "1", "f", "{}");
    talk_result(&t, "1", "f", "ok");
    c = talk_block(&t, PHI_CONTENT_AUDIO);
    c->data = phi_str_of("UklGRg==");
    c->mime_type = phi_str_of("audio/wav");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[0].content"),
                 "[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"document\",\"mime_type\":"
                 "\"application/pdf\",\"data\":\"JVBERg==\"},{\"type\":\"document\","
                 "\"mime_type\":\"application/pdf\",\"uri\":\"https://h/b.pdf\"},{\"type\":"
                 "\"text\",\"text\":\"words\"},{\"type\":\"audio\",\"mime_type\":\"audio/wav\","
                 "\"data\":\"UklGRg==\"}]");
    CHECK_EQ_STR(talk_at(&t, "input[3].result"),
                 "[{\"type\":\"text\",\"text\":\"ok\"},{\"type\":\"audio\",\"mime_type\":"
                 "\"audio/wav\",\"data\":\"UklGRg==\"}]");
    talk_free(&t);
}

TEST(long_texts_are_filled_in_and_are_the_same) {
    static char big[20001];
    conversation t;
    char *first;
    memset(big, 'x', sizeof big - 1);
    replayed(&t, flash_3());
    t.blocks[0][0].text = t.blocks[1][0].text = t.blocks[1][2].text = t.blocks[2][0].text =
        phi_str_of(big);
    talk_render_ok(&t);
    CHECK_EQ_INT(strlen(talk_at(&t, "input[1].summary[0].text")), 20002);
    CHECK_EQ_INT(strlen(talk_at(&t, "input[6].result[0].text")), 20007);
    first = strdup(t.body);
    memset(t.rendered, 0, sizeof t.rendered);
    CHECK_EQ_INT(talk_render(&t, 1), PHI_OK);
    CHECK_EQ_STR(t.body, first);
    free(first);
    talk_free(&t);
}

/* ---- streams ---- */

#define EVENT(type, rest) "data: {\"event_type\":\"" type "\"," rest "}\n\n"
#define START(i, step) EVENT("step.start", "\"index\":" i ",\"step\":{" step "}")
#define DELTA(i, delta) EVENT("step.delta", "\"index\":" i ",\"delta\":{" delta "}")
#define STOPS(i) EVENT("step.stop", "\"index\":" i)
#define TEXT(i, text) DELTA(i, "\"type\":\"text\",\"text\":\"" text "\"")
#define DONE(status)                                                                               \
    EVENT("interaction.completed", "\"interaction\":{\"id\":\"v1\",\"status\":\"" status "\"}")
#define CALL(i) START(i, "\"type\":\"function_call\",\"id\":\"c\",\"name\":\"f\",\"arguments\":{}")

static void check_stop(const char *events, phi_stop_reason reason, phi_failure_kind kind,
                       bool retryable, const char *message) {
    stream s;
    stream_of(&s, P, events);
    CHECK_EQ_INT(s.message.stop_reason, reason);
    CHECK_EQ_INT(s.assembly.failure.kind, kind);
    CHECK_EQ_INT(s.assembly.failure.retryable, retryable);
    if (message != NULL) CHECK_STR(s.assembly.failure.message, message);
    stream_free(&s);
}

static void check_unknown(const char *events, bool unknown) {
    stream s;
    stream_of(&s, P, events);
    CHECK_EQ_INT(s.assembly.unknown_stop, unknown);
    stream_free(&s);
}

TEST(statuses_become_stop_reasons) {
    check_stop(TEXT("0", "a") DONE("completed"), PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false, "");
    check_stop(CALL("0") STOPS("0") DONE("completed"), PHI_STOP_REASON_TOOL_USE, PHI_FAILURE_NONE,
               false, "");
    check_stop(CALL("0") STOPS("0") DONE("requires_action"), PHI_STOP_REASON_TOOL_USE,
               PHI_FAILURE_NONE, false, "");
    check_stop(TEXT("0", "a") DONE("requires_action"), PHI_STOP_REASON_STOP, PHI_FAILURE_NONE,
               false, "");
    check_stop(TEXT("0", "a") DONE("incomplete"), PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false,
               "");
    check_stop(DONE("budget_exceeded"), PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false, "");
    check_stop(DONE("requires_continuation"), PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false, "");
    check_stop(DONE("somehow"), PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false, "");
    check_unknown(DONE("somehow"), true);
    check_unknown(DONE("completed"), false);
    check_unknown(CALL("0") STOPS("0") DONE("requires_action"), false);
    check_stop(DONE("failed"), PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true,
               "the model stopped with the reason \"failed\"");
    check_stop(DONE("cancelled"), PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, false,
               "the model stopped with the reason \"cancelled\"");
}

TEST(errors_are_classified_wherever_they_stand) {
    check_stop(EVENT("error", "\"error\":{\"code\":\"quota_exceeded\",\"message\":\"Daily.\"}"),
               PHI_STOP_REASON_ERROR, PHI_FAILURE_QUOTA, false, "Daily.");
    check_stop("event: error\ndata: {\"error\":{\"code\":\"api_error\",\"message\":\"Oh.\"}}\n\n",
               PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true, "Oh.");
    check_stop("data: {\"error\":{\"code\":429,\"message\":\"Slow.\",\"status\":"
               "\"RESOURCE_EXHAUSTED\"}}\n\n",
               PHI_STOP_REASON_ERROR, PHI_FAILURE_RATE_LIMITED, true, "Slow.");
    check_stop(EVENT("error", "\"error\":{\"code\":\"permission_denied\",\"message\":\"No.\"}"),
               PHI_STOP_REASON_ERROR, PHI_FAILURE_AUTH, false, "No.");
    check_stop(EVENT("error", "\"error\":{\"code\":\"invalid_request\",\"message\":\"Bad.\"}"),
               PHI_STOP_REASON_ERROR, PHI_FAILURE_INVALID_REQUEST, false, "Bad.");
    check_stop(EVENT("error", "\"error\":{\"code\":\"invalid_request\",\"message\":\"The input "
                              "token count (12) exceeds the maximum number of tokens allowed "
                              "(10).\"}"),
               PHI_STOP_REASON_ERROR, PHI_FAILURE_OVERFLOW, false, NULL);
    check_stop(START("0", "\"type\":\"model_output\",\"error\":{\"code\":13,\"message\":\"In.\"}")
                   DONE("failed"),
               PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true, "In.");
    check_stop("data: {\"event_type\n\ndata: {}\n\n", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER,
               true, "the server sent an event that is not JSON");
}

TEST(streams_without_an_end_are_errors_that_may_be_tried_again) {
    static const char broke[] = "the answer broke off: the stream ended without its end marker";
    check_stop("", PHI_STOP_REASON_ERROR, PHI_FAILURE_NETWORK, true,
               "the server ended the stream without an answer");
    check_stop(TEXT("0", "a"), PHI_STOP_REASON_ERROR, PHI_FAILURE_NETWORK, true, broke);
    check_stop(TEXT("0", "a") STOPS("0") "event: done\ndata: [DONE]\n\n", PHI_STOP_REASON_ERROR,
               PHI_FAILURE_NETWORK, true, broke);
    check_stop(CALL("0") EVENT("interaction.status_update", "\"status\":\"requires_action\""),
               PHI_STOP_REASON_ERROR, PHI_FAILURE_NETWORK, true, broke);
    check_stop(TEXT("0", "a") STOPS("0")
                   EVENT("interaction.status_update", "\"status\":\"in_progress\""),
               PHI_STOP_REASON_ERROR, PHI_FAILURE_NETWORK, true, broke);
}

TEST(a_status_that_ends_a_whole_answer_is_an_end) {
    check_stop(CALL("0") STOPS("0")
                   EVENT("interaction.status_update", "\"status\":\"requires_action\""),
               PHI_STOP_REASON_TOOL_USE, PHI_FAILURE_NONE, false, "");
    check_stop(TEXT("0", "a") STOPS("0") EVENT("interaction.incomplete", "\"interaction\":"
                                                                         "{\"status\":"
                                                                         "\"incomplete\"}"),
               PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false, "");
}

TEST(repeated_deltas_are_read_as_the_first_one) {
    stream s;
    stream_of(&s, P,
              START("0", "\"type\":\"model_output\"") TEXT("0", "a") TEXT("0", "b") TEXT("0", "\\n")
                  TEXT("1", "x") TEXT("1", "y") TEXT("0", "c") STOPS("0") STOPS("1")
                      DONE("completed"));
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK_STR(s.content[0].text, "ab\nc");
    CHECK_STR(s.content[1].text, "xy");
    stream_free(&s);
}

TEST(events_without_an_index_belong_to_the_step_that_began_last) {
    stream s;
    stream_of(&s, P,
              "event: step.start\ndata: {\"step\":{\"type\":\"model_output\"}}\n\n"
              "event: step.delta\ndata: {\"delta\":{\"type\":\"text\",\"text\":\"a\"}}\n\n"
              "event: step.delta\ndata: {\"delta\":{\"type\":\"text\",\"text\":\"b\"}}\n\n"
              "event: step.stop\ndata: {}\n\n" DONE("completed"));
    CHECK_EQ_INT(s.message.content_count, 1);
    CHECK_STR(s.content[0].text, "ab");
    stream_free(&s);
}

/* A step of a stream becomes an opaque block with a JSON. */
static void check_opaque(const char *events, const char *type, const char *json) {
    stream s;
    stream_begin(&s, P);
    s.assembly.protocol = phi_str_of(P);
    stream_text(&s, events);
    stream_text(&s, DONE("completed"));
    stream_end(&s);
    if (CHECK_EQ_INT(s.message.content_count, 1)) {
        CHECK_EQ_INT(s.content[0].kind, PHI_CONTENT_OPAQUE);
        CHECK_STR(s.content[0].name, type);
        CHECK_STR(s.content[0].replay, json);
        CHECK_STR(s.content[0].protocol, P);
    }
    stream_free(&s);
}

TEST(steps_that_nobody_knows_are_kept_byte_for_byte) {
    check_opaque(START("0", "\"type\":\"no\\u0076el\", \"a\" : [1.50,\"\\u00e9\",null],\"a\":2")
                     STOPS("0"),
                 "novel", "{\"type\":\"no\\u0076el\", \"a\" : [1.50,\"\\u00e9\",null],\"a\":2}");
    check_opaque(START("0", "\"type\":\"processing_call\",\"signature\":\"\""), "processing_call",
                 "{\"type\":\"processing_call\",\"signature\":\"\"}");
    check_opaque(EVENT("step.start", "\"index\":0,\"step\":{\"type\":\"user_input\"}")
                     DELTA("0", "\"type\":\"mystery\"") START("1", "\"type\":\"x\""),
                 "x", "{\"type\":\"x\"}");
}

TEST(steps_of_hosted_tools_are_put_together) {
    check_opaque(START("3", "\"type\":\"google_search_call\",\"id\":\"s\",\"signature\":\"\"")
                     STOPS("3"),
                 "google_search_call",
                 "{\"type\":\"google_search_call\",\"id\":\"s\",\"search_type\":\"web_search\"}");
    check_opaque(START("3", "\"type\":\"google_search_call\",\"id\":\"s\",\"search_type\":"
                            "\"image_search\"") STOPS("3"),
                 "google_search_call",
                 "{\"type\":\"google_search_call\",\"id\":\"s\",\"search_type\":\"image_search\"}");
    check_opaque(START("3", "\"type\":\"file_search_result\",\"call_id\":\"s\"")
                     DELTA("3", "\"type\":\"file_search_result\",\"result\":[1.0],"
                                "\"signature\":\"\"")
                         DELTA("3", "\"result\":[2.0],\"type\":\"file_search_result\","
                                    "\"signature\":\"S\""),
                 "file_search_result",
                 "{\"type\":\"file_search_result\",\"call_id\":\"s\",\"result\":[2.0],"
                 "\"signature\":\"S\"}");
    check_opaque(START("0", "\"type\":\"mcp_server_tool_call\",\"id\":\"m\",\"arguments\":{}")
                     DELTA("0", "\"type\":\"arguments_delta\",\"arguments\":\"{\\\"a\\\":\"")
                         DELTA("0", "\"type\":\"arguments_delta\",\"arguments\":\"1}\"") STOPS("0"),
                 "mcp_server_tool_call",
                 "{\"type\":\"mcp_server_tool_call\",\"id\":\"m\",\"arguments\":{\"a\":1}}");
    check_opaque(START("0", "\"type\":\"mcp_server_tool_call\",\"arguments\":{}")
                     DELTA("0", "\"type\":\"arguments_delta\",\"arguments\":\"{\\\"a\"") STOPS("0"),
                 "mcp_server_tool_call", "{\"type\":\"mcp_server_tool_call\",\"arguments\":{}}");
}

TEST(a_hosted_step_that_was_cut_is_kept_and_never_sent) {
    stream s;
    stream_of(&s, P,
              START("0", "\"type\":\"url_context_call\",\"id\":\"u\"")
                  DELTA("0", "\"type\":\"url_context_call\",\"arguments\":{}"));
    CHECK_EQ_INT(s.message.content_count, 1);
    CHECK(s.content[0].incomplete);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NETWORK);
    stream_free(&s);
}

TEST(a_step_of_very_many_members_keeps_those_of_its_start) {
    stream s;
    char part[64];
    int i;
    stream_begin(&s, P);
    stream_text(&s, START("0", "\"type\":\"wide\",\"id\":\"w\""));
    stream_text(&s,
                "data: {\"event_type\":\"step.delta\",\"index\":0,\"delta\":{\"type\":\"wide\"");
    for (i = 0; i < 100; i++) {
        snprintf(part, sizeof part, ",\"m%d\":%d", i, i);
        stream_text(&s, part);
    }
    stream_text(&s, "}}\n\n" STOPS("0") DONE("completed"));
    stream_end(&s);
    CHECK_STR(s.content[0].replay, "{\"type\":\"wide\",\"id\":\"w\"}");
    stream_free(&s);
}

TEST(what_a_stream_held_goes_back_in_the_next_request) {
    static const char events[] =
        START("0", "\"type\":\"thought\",\"signature\":\"AA==\"") STOPS("0")
            START("1", "\"type\":\"code_execution_call\",\"id\":\"x\",\"arguments\":{\"code\":"
                       "\"1\\u0031\"},\"signature\":\"BB==\"") STOPS("1")
                START("2", "\"type\":\"model_output\"") TEXT("2", "It is 11.")
                    DELTA("2", "\"type\":\"text_annotation_delta\",\"annotations\":[{\"type\":"
                               "\"word_info\",\"n\":1.0}]")
                        DELTA("2", "\"type\":\"audio\",\"data\":\"aGk=\",\"mime_type\":"
                                   "\"audio/wav\"") STOPS("2") CALL("3") STOPS("3")
                            DONE("requires_action");
    conversation t;
    phi_message *m;
    stream s;
    stream_begin(&s, P);
    s.assembly.protocol = phi_str_of(P);
    stream_text(&s, events);
    stream_end(&s);
    talk_begin(&t, flash_3());
    talk_user(&t, "a");
    m = talk_assistant(&t);
    m->content = s.content;
    m->content_count = s.message.content_count;
    talk_result(&t, "c", "f", "ok");
    talk_render_ok(&t);
    if (!CHECK(strstr(t.body,
                      "{\"type\":\"thought\",\"signature\":\"AA==\"},"
                      "{\"type\":\"code_execution_call\",\"id\":\"x\",\"arguments\":{\"code\":"
                      "\"1\\u0031\"},\"signature\":\"BB==\"},"
                      "{\"type\":\"model_output\",\"content\":[{\"type\":\"text\",\"text\":"
                      "\"It is 11.\",\"annotations\":[{\"type\":\"word_info\",\"n\":1.0}]}]},"
                      "{\"type\":\"model_output\",\"content\":[{\"type\":\"audio\",\"data\":"
                      "\"aGk=\",\"mime_type\":\"audio/wav\"}]},"
                      "{\"type\":\"function_call\",\"id\":\"c\",\"name\":\"f\",\"arguments\":{}},"
                      "{\"type\":\"function_result\",\"call_id\":\"c\",\"name\":\"f\",\"result\":"
                      "\"ok\"}]}") != NULL))
        printf("%s\n", t.body);
    talk_free(&t);
    stream_free(&s);
}

TEST(usage_is_cumulative_and_what_is_absent_stays) {
    stream s;
    stream_of(&s, P,
              EVENT("step.delta", "\"index\":0,\"delta\":{\"type\":\"text\",\"text\":\"a\"},"
                                  "\"metadata\":{\"total_usage\":{\"total_input_tokens\":50,"
                                  "\"total_output_tokens\":1,\"total_cached_tokens\":40}}")
                  EVENT("step.stop", "\"index\":0,\"usage\":{\"total_output_tokens\":7,"
                                     "\"total_thought_tokens\":3}")
                      EVENT("interaction.completed",
                            "\"interaction\":{\"status\":\"completed\",\"usage\":{"
                            "\"total_tool_use_tokens\":5}}"));
    CHECK_EQ_INT(s.message.usage.input, 15);
    CHECK_EQ_INT(s.message.usage.cache_read, 40);
    CHECK_EQ_INT(s.message.usage.output, 10);
    CHECK_EQ_INT(s.message.usage.reasoning, 3);
    CHECK_EQ_INT(s.message.usage.total_tokens, 65);
    stream_free(&s);
}

/* ---- whole answers ---- */

TEST(a_whole_answer_is_read) {
    stream s;
    stream_begin(&s, P);
    stream_whole(
        &s,
        " {\"id\":\"v1\",\"status\":\"requires_action\",\"model\":\"gemini-3-flash\",\"steps\":["
        "{\"type\":\"user_input\",\"content\":[{\"type\":\"text\",\"text\":\"q\"}]},"
        "{\"type\":\"thought\",\"signature\":\"AA==\",\"summary\":[{\"type\":\"text\",\"text\":"
        "\"One.\"},{\"type\":\"text\",\"text\":\"Two.\"}]},"
        "{\"type\":\"model_output\",\"content\":[{\"type\":\"text\",\"text\":\"a\","
        "\"annotations\":[{\"type\":\"url_citation\"}]},{\"type\":\"hologram\",\"x\":1.0},"
        "{\"type\":\"text\",\"text\":\"b\"}]},"
        "{\"type\":\"google_search_call\",\"id\":\"s\"},"
        "{\"type\":\"function_call\",\"id\":\"c\",\"name\":\"f\",\"arguments\":{\"n\":1}}],"
        "\"usage\":{\"total_input_tokens\":3,\"total_output_tokens\":4}}\n");
    CHECK_EQ_INT(s.message.content_count, 6);
    CHECK_STR(s.content[0].text, "One.\n\nTwo.");
    CHECK_STR(s.content[0].signature, "AA==");
    CHECK_STR(s.content[1].text, "a");
    CHECK_STR(s.content[1].citations, "[{\"type\":\"url_citation\"}]");
    CHECK_STR(s.content[2].replay,
              "{\"type\":\"model_output\",\"content\":[{\"type\":\"hologram\",\"x\":1.0}]}");
    CHECK_STR(s.content[3].text, "b");
    CHECK_STR(s.content[4].name, "google_search_call");
    CHECK_STR(s.content[5].arguments, "{\"n\":1}");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    CHECK_STR(phi__buf_str(&s.assembly.model), "gemini-3-flash");
    CHECK_EQ_INT(s.message.usage.total_tokens, 7);
    stream_free(&s);
}

static void check_whole(const char *body, phi_failure_kind kind, bool retryable,
                        const char *message) {
    stream s;
    stream_begin(&s, P);
    stream_whole(&s, body);
    CHECK_EQ_INT(s.assembly.failure.kind, kind);
    CHECK_EQ_INT(s.assembly.failure.retryable, retryable);
    CHECK_STR(s.assembly.failure.message, message);
    stream_free(&s);
}

TEST(a_body_that_is_no_answer_is_an_error) {
    check_whole("{\"status\":\"completed\"}", PHI_FAILURE_NONE, false, "");
    check_whole("{\"id\":\"v1\",\"status\":\"in_progress\"}", PHI_FAILURE_NETWORK, true,
                "the answer broke off: the stream ended without its end marker");
    check_whole("{\"status\":\"failed\",\"errors\":[{\"code\":\"api_error\",\"message\":\"Oh.\"}]}",
                PHI_FAILURE_SERVER, true, "Oh.");
    check_whole("{\"error\":{\"code\":\"not_found\",\"message\":\"No model.\"}}",
                PHI_FAILURE_INVALID_REQUEST, false, "No model.");
    check_whole("", PHI_FAILURE_NETWORK, true, "the server sent an empty answer");
    check_whole("<html><title>Hi</title>", PHI_FAILURE_INVALID_REQUEST, false,
                "the server sent a web page instead of an answer: Hi. Is the base URL right?");
}

TEST(http_errors_have_codes_that_are_words) {
    static const struct {
        int status;
        const char *body, *code;
        phi_failure_kind kind;
        bool retryable;
    } cases[] = {
        {400, "invalid_request", "invalid_request", PHI_FAILURE_INVALID_REQUEST, false},
        {401, "authentication", "authentication", PHI_FAILURE_AUTH, false},
        {402, "payment_required", "payment_required", PHI_FAILURE_QUOTA, false},
        {403, "permission_denied", "permission_denied", PHI_FAILURE_AUTH, false},
        {404, "model_not_found", "model_not_found", PHI_FAILURE_INVALID_REQUEST, false},
        {429, "rate_limit_exceeded", "rate_limit_exceeded", PHI_FAILURE_RATE_LIMITED, true},
        {429, "quota_exceeded", "quota_exceeded", PHI_FAILURE_QUOTA, false},
        {500, "api_error", "api_error", PHI_FAILURE_SERVER, true},
        {504, "gateway_timeout", "gateway_timeout", PHI_FAILURE_SERVER, true}};
    phi_allocator allocator = test_allocator();
    phi_model model = flash_3();
    phi_memory memory;
    phi_arena arena;
    size_t i;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[200];
        phi_failure got;
        snprintf(body, sizeof body, "{\"error\":{\"message\":\"Words.\",\"code\":\"%s\"}}",
                 cases[i].body);
        phi__classify(&model, cases[i].status, phi_str_of(""), phi_str_of(body), &arena, &got);
        CHECK_EQ_INT(got.kind, cases[i].kind);
        CHECK_EQ_INT(got.retryable, cases[i].retryable);
        CHECK_STR(got.code, cases[i].code);
        CHECK_STR(got.message, "Words.");
    }
    phi_arena_free(&arena);
}

/* ---- malformed, and without memory ---- */

TEST(garbage_of_every_type_is_survived) {
    static const char *const values[] = {
        "null",         "1", "-1", "\"x\"", "[]", "[1]", "{}", "true", "[{\"type\":\"text\"}]",
        "{\"type\":{}}"};
    static const char *const keys[] = {"index",  "step",       "delta", "interaction",
                                       "status", "event_type", "usage", "metadata",
                                       "error",  "interaction"};
    size_t i, k;
    for (i = 0; i < sizeof values / sizeof *values; i++)
        for (k = 0; k < sizeof keys / sizeof *keys; k++) {
            char event[1000];
            stream s;
            snprintf(event, sizeof event,
                     "event: step.start\ndata: {\"%s\":%s}\n\nevent: step.delta\ndata: {\"%s\":%s}"
                     "\n\nevent: interaction.completed\ndata: {\"%s\":%s}\n\n",
                     keys[k], values[i], keys[k], values[i], keys[k], values[i]);
            stream_of(&s, P, event);
            CHECK(s.message.stop_reason != PHI_STOP_REASON_NONE);
            stream_free(&s);
            snprintf(event, sizeof event,
                     START("0", "\"type\":\"model_output\",\"content\":%s,\"summary\":%s")
                         START("1", "\"type\":\"function_call\",\"arguments\":%s,\"name\":%s")
                             DELTA("1", "\"type\":\"arguments_delta\",\"arguments\":%s"),
                     values[i], values[i], values[i], values[i], values[i]);
            stream_begin(&s, P);
            stream_text(&s, event);
            stream_text(&s, DONE("completed"));
            stream_end(&s);
            CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
            stream_free(&s);
        }
}

TEST(decoding_survives_every_failed_allocation) {
    static const char everything[] =
        START("0", "\"type\":\"thought\",\"signature\":\"AA==\",\"summary\":[{\"text\":\"x\"}]")
            STOPS("0") START("1", "\"type\":\"model_output\"") TEXT("1", "a") TEXT("1", "b")
                DELTA("1", "\"type\":\"text_annotation_delta\",\"annotations\":[{}]")
                    DELTA("1", "\"type\":\"image\",\"data\":\"aGk=\"") STOPS("1")
                        START("2", "\"type\":\"google_search_call\"")
                            DELTA("2", "\"type\":\"x\",\"arguments\":\"{}\"") STOPS("2") CALL("3")
                                DELTA("3", "\"type\":\"arguments_delta\",\"arguments\":\"{}\"")
                                    STOPS("3") EVENT("error", "\"error\":{\"message\":\"oh\"}");
    stream s;
    int n = 0;
    bool tripped;
    do {
        test_alloc_fail_at(n++);
        stream_of(&s, P, everything);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK_STR(s.assembly.failure.message, "oh");
        if (tripped)
            CHECK(s.assembly.no_memory || s.reader.sse.status != PHI_OK ||
                  s.assembly.failure.kind != PHI_FAILURE_NONE);
        stream_free(&s);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped && n < 1000);
    CHECK(n > 8);
}

TEST(encoding_survives_every_failed_allocation) {
    static const phi__tool_view tools[] = {{{"b", 1},
                                            {"B", 1},
                                            {"{\"type\":\"object\",\"const\":{}}", 28},
                                            false,
                                            NULL,
                                            false,
                                            {NULL, 0},
                                            false}};
    conversation t;
    int n = 0;
    bool tripped;
    do {
        replayed(&t, flash_2_5());
        t.spec.tools = tools;
        t.spec.tool_count = 1;
        test_alloc_fail_at(n++);
        (void)talk_render(&t, 1);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        talk_free(&t);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped && n < 1000);
    CHECK(n > 4);
}

TEST_MAIN(TEST_ENTRY(the_key_is_in_a_header_and_a_token_where_the_address_has_a_project),
          TEST_ENTRY(the_preset_knows_its_limits_and_who_thinks),
          TEST_ENTRY(nothing_is_stored_and_the_answer_is_a_stream),
          TEST_ENTRY(models_think_by_a_level_that_they_have),
          TEST_ENTRY(tools_are_functions_and_the_choice_is_a_setting),
          TEST_ENTRY(a_format_is_a_text_of_a_type_with_its_schema),
          TEST_ENTRY(steps_go_back_in_their_places_and_opaque_ones_byte_for_byte),
          TEST_ENTRY(models_before_3_get_images_of_results_behind_them),
          TEST_ENTRY(foreign_thinking_is_left_out_and_a_foreign_call_says_so),
          TEST_ENTRY(a_call_that_is_signed_itself_needs_no_thought),
          TEST_ENTRY(opaque_steps_of_an_answer_that_failed_and_broken_ones_are_left_out),
          TEST_ENTRY(an_opaque_block_of_the_users_is_content),
          TEST_ENTRY(blank_messages_are_not_sent_and_results_without_text_get_some),
          TEST_ENTRY(images_may_be_gif_and_heic),
          TEST_ENTRY(documents_and_audio_are_content_of_users_and_of_results),
          TEST_ENTRY(long_texts_are_filled_in_and_are_the_same),
          TEST_ENTRY(statuses_become_stop_reasons),
          TEST_ENTRY(errors_are_classified_wherever_they_stand),
          TEST_ENTRY(streams_without_an_end_are_errors_that_may_be_tried_again),
          TEST_ENTRY(a_status_that_ends_a_whole_answer_is_an_end),
          TEST_ENTRY(repeated_deltas_are_read_as_the_first_one),
          TEST_ENTRY(events_without_an_index_belong_to_the_step_that_began_last),
          TEST_ENTRY(steps_that_nobody_knows_are_kept_byte_for_byte),
          TEST_ENTRY(steps_of_hosted_tools_are_put_together),
          TEST_ENTRY(a_hosted_step_that_was_cut_is_kept_and_never_sent),
          TEST_ENTRY(a_step_of_very_many_members_keeps_those_of_its_start),
          TEST_ENTRY(what_a_stream_held_goes_back_in_the_next_request),

          TEST_ENTRY(usage_is_cumulative_and_what_is_absent_stays),
          TEST_ENTRY(a_whole_answer_is_read), TEST_ENTRY(a_body_that_is_no_answer_is_an_error),
          TEST_ENTRY(http_errors_have_codes_that_are_words),
          TEST_ENTRY(garbage_of_every_type_is_survived),
          TEST_ENTRY(decoding_survives_every_failed_allocation),
          TEST_ENTRY(encoding_survives_every_failed_allocation))
