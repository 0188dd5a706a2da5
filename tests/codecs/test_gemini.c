/* test_gemini.c - Google's Gemini API and Vertex AI: what requests hold, and streams beside the fixtures. */
#include "wire/wire_support.h"
#include "support/codec_of.h"

#define P PHI_PROTOCOL_GOOGLE

static phi_model flash_2_5(void) { return phi_model_google("gemini-2.5-flash", "K"); }
static phi_model pro_3(void) { return phi_model_google("gemini-3-pro-preview", "K"); }

/* ---- addresses ---- */

static void check_address(phi_model model, const char *url, const char *header, const char *value) {
    conversation t;
    talk_begin(&t, model);
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_STR(phi_request_get_info(&t.encoder.request).url, url);
    CHECK_EQ_STR(talk_header(&t, header), value);
    talk_free(&t);
}

TEST(the_address_holds_the_model_and_the_key_is_in_a_header) {
    phi_model model = flash_2_5();
    check_address(model,
                  "https://generativelanguage.googleapis.com/v1beta/models/"
                  "gemini-2.5-flash:streamGenerateContent?alt=sse",
                  "x-goog-api-key", "K");
    model.base_url = "http://127.0.0.1:8080/";
    check_address(model,
                  "http://127.0.0.1:8080/v1beta/models/"
                  "gemini-2.5-flash:streamGenerateContent?alt=sse",
                  "authorization", "");
    model.base_url = "http://proxy/google/v1?a=b";
    model.id = "models/gemini x?";
    check_address(model,
                  "http://proxy/google/v1/models/"
                  "gemini%20x%3F:streamGenerateContent?a=b&alt=sse",
                  "x-goog-api-key", "K");
}

TEST(vertex_takes_a_token_for_a_project_and_a_key_without_one) {
    check_address(
        phi_model_vertex("https://europe-west1-aiplatform.googleapis.com/v1/projects/P/locations/"
                         "europe-west1",
                         "gemini-2.5-pro", "T"),
        "https://europe-west1-aiplatform.googleapis.com/v1/projects/P/locations/europe-west1/"
        "publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
        "authorization", "Bearer T");
    check_address(phi_model_vertex("https://aiplatform.googleapis.com", "gemini-2.5-pro", "K"),
                  "https://aiplatform.googleapis.com/v1/publishers/google/models/"
                  "gemini-2.5-pro:streamGenerateContent?alt=sse",
                  "x-goog-api-key", "K");
}

TEST(the_presets_know_their_limits_and_who_thinks) {
    phi_model model = flash_2_5();
    CHECK_EQ_INT(model.context_window, 1000000);
    CHECK_EQ_INT(model.max_tokens, 8192);
    CHECK(model.reasoning);
    CHECK(!phi_model_google("gemini-2.0-flash", "K").reasoning);
    CHECK(!phi_model_google("gemma-3-27b-it", "K").reasoning);
    model = phi_model_vertex("https://h", "gemini-3-flash", "T");
    CHECK_EQ_STR(model.provider, "google_vertex");
    CHECK_EQ_STR(model.protocol, PHI_PROTOCOL_VERTEX);
    CHECK(model.reasoning);
    CHECK(codec_of("google") == codec_of(P));
    CHECK(codec_of("vertex") == codec_of(PHI_PROTOCOL_VERTEX));
}

/* ---- thinking ---- */

static void check_config(const char *id, phi_thinking level, uint32_t max_tokens,
                         const char *want) {
    conversation t;
    talk_begin(&t, phi_model_google(id, "K"));
    talk_user(&t, "hi");
    t.spec.thinking = level;
    t.spec.max_tokens = max_tokens;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "generationConfig"), want);
    talk_free(&t);
}

TEST(models_of_2_5_think_by_a_budget_for_which_there_is_room) {
    check_config("gemini-2.5-flash", PHI_THINKING_OFF, 0,
                 "{\"maxOutputTokens\":8192,\"thinkingConfig\":{\"thinkingBudget\":0}}");
    check_config("gemini-2.5-pro", PHI_THINKING_OFF, 0,
                 "{\"maxOutputTokens\":8320,\"thinkingConfig\":{\"thinkingBudget\":128}}");
    check_config("gemini-2.5-flash-lite", PHI_THINKING_MINIMAL, 1000,
                 "{\"maxOutputTokens\":2024,\"thinkingConfig\":{\"includeThoughts\":true,"
                 "\"thinkingBudget\":1024}}");
    check_config("gemini-2.5-pro", PHI_THINKING_HIGH, 60000,
                 "{\"maxOutputTokens\":65536,\"thinkingConfig\":{\"includeThoughts\":true,"
                 "\"thinkingBudget\":16384}}");
}

TEST(models_since_3_think_by_a_level) {
    static const char *const want[] = {
        "{\"maxOutputTokens\":8192,\"thinkingConfig\":{\"thinkingLevel\":\"LOW\"}}",
        "{\"maxOutputTokens\":8192,\"thinkingConfig\":{\"thinkingLevel\":\"MINIMAL\"}}",
        "{\"maxOutputTokens\":8192,\"thinkingConfig\":{\"includeThoughts\":true,"
        "\"thinkingLevel\":\"LOW\"}}",
        "{\"maxOutputTokens\":8192,\"thinkingConfig\":{\"includeThoughts\":true,"
        "\"thinkingLevel\":\"MEDIUM\"}}",
        "{\"maxOutputTokens\":8192,\"thinkingConfig\":{\"includeThoughts\":true,"
        "\"thinkingLevel\":\"HIGH\"}}"};
    check_config("gemini-3-pro-preview", PHI_THINKING_OFF, 0, want[0]);
    check_config("gemini-3-flash", PHI_THINKING_OFF, 0, want[1]);
    check_config("gemini-flash-latest", PHI_THINKING_LOW, 0, want[2]);
    check_config("gemini-3-flash", PHI_THINKING_MEDIUM, 0, want[3]);
    check_config("gemini-3.1-pro", PHI_THINKING_MEDIUM, 0, want[3]);
    check_config("gemini-3-pro-preview", PHI_THINKING_MEDIUM, 0, want[4]);
    check_config("gemini-3-flash", PHI_THINKING_HIGH, 0, want[4]);
    check_config("gemini-2.0-flash", PHI_THINKING_HIGH, 0, "{\"maxOutputTokens\":8192}");
}

static void check_temperature(const char *id, phi_thinking level, const char *want) {
    conversation t;
    talk_begin(&t, phi_model_google(id, "K"));
    talk_user(&t, "hi");
    t.spec.thinking = level;
    t.spec.temperature = 0.5;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "generationConfig.temperature"), want);
    talk_free(&t);
}

TEST(a_thinking_model_since_3_keeps_its_temperature) {
    check_temperature("gemini-3-pro-preview", PHI_THINKING_HIGH, "");
    check_temperature("gemini-3-pro-preview", PHI_THINKING_OFF, "0.5");
    check_temperature("gemini-2.5-flash", PHI_THINKING_HIGH, "0.5");
}

/* ---- tools ---- */

TEST(tool_choice_is_a_mode_and_const_becomes_enum) {
    static const phi__tool_view tools[] = {
        {{"a", 1}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false},
        {{"b", 1},
         {"B", 1},
         {"{\"type\":\"object\",\"properties\":{\"const\":{\"const\":\"x\"}},"
          "\"default\":{\"const\":1}}",
          76},
         false,
         NULL,
         false,
         {NULL, 0},
         false}};
    static const char *const modes[] = {"\"AUTO\"", "\"NONE\"", "\"ANY\""};
    conversation t;
    int i;
    talk_begin(&t, flash_2_5());
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tools"), "");
    CHECK_EQ_STR(talk_at(&t, "toolConfig"), "");
    t.spec.tools = tools;
    t.spec.tool_count = 2;
    for (i = 0; i < 3; i++) {
        t.spec.tool_choice = (phi_tool_choice)i;
        talk_render_ok(&t);
        CHECK_EQ_STR(talk_at(&t, "toolConfig.functionCallingConfig.mode"), modes[i]);
    }
    CHECK_EQ_STR(talk_at(&t, "tools[0].functionDeclarations"),
                 "[{\"name\":\"a\",\"parametersJsonSchema\":{\"type\":\"object\","
                 "\"properties\":{}}},{\"name\":\"b\",\"description\":\"B\","
                 "\"parametersJsonSchema\":{\"type\":\"object\",\"properties\":{\"const\":"
                 "{\"enum\":[\"x\"]}},\"default\":{\"const\":1}}}]");
    talk_free(&t);
}

TEST(the_user_must_begin_and_the_model_may_not_end) {
    conversation t;
    char words[120];
    talk_begin(&t, flash_2_5());
    talk_assistant(&t);
    talk_text(&t, "a");
    CHECK_EQ_INT(phi__preflight(codec_of(P), &t.spec, words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "messages: the first must be the user's");
    talk_free(&t);
    talk_begin(&t, flash_2_5());
    talk_user(&t, "hi");
    talk_assistant(&t);
    talk_text(&t, "a");
    CHECK_EQ_INT(phi__preflight(codec_of(P), &t.spec, words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "messages: the last may not be the assistant's");
    talk_free(&t);
}

TEST(a_tool_name_must_begin_with_a_letter) {
    static const phi__tool_view tools[] = {
        {{"2b", 2}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false}};
    conversation t;
    char words[120];
    talk_begin(&t, flash_2_5());
    talk_user(&t, "hi");
    t.spec.tools = tools;
    t.spec.tool_count = 1;
    CHECK_EQ_INT(phi__preflight(codec_of(P), &t.spec, words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "tools[0]: name \"2b\": expected a letter or _ at first");
    talk_free(&t);
}

/* ---- messages ---- */

/* A question, an answer with all that is signed, two calls of ids given or invented, one result. */
static void replayed(conversation *t, phi_model model) {
    talk_begin(t, model);
    talk_user(t, "a");
    talk_user(t, "b");
    talk_assistant(t);
    talk_thinking(t, "hm", "S1");
    talk_thinking(t, "hidden", "");
    talk_text(t, "");
    t->blocks[2][2].signature = phi_str_of("S2");
    talk_text(t, " ");
    talk_call(t, "g1", "read", "{\"p\":1}");
    t->blocks[2][4].signature = phi_str_of("S3");
    talk_call(t, "call_0123456789abcdef", "9x.y", "");
    talk_result(t, "g1", "read", "one");
    talk_text(t, "two");
    talk_image(t, "aGk=");
}

TEST(signed_parts_go_back_at_their_own_position_and_ids_where_the_model_gave_them) {
    conversation t;
    replayed(&t, pro_3());
    talk_render_ok(&t);
    CHECK_EQ_STR(
        talk_at(&t, "contents"),
        "[{\"role\":\"user\",\"parts\":[{\"text\":\"a\"},{\"text\":\"b\"}]},"
        "{\"role\":\"model\",\"parts\":[{\"thought\":true,\"text\":\"hm\",\"thoughtSignature\":"
        "\"S1\"},{\"text\":\"\",\"thoughtSignature\":\"S2\"},{\"functionCall\":{\"id\":\"g1\","
        "\"name\":\"read\",\"args\":{\"p\":1}},\"thoughtSignature\":\"S3\"},{\"functionCall\":"
        "{\"name\":\"_x_y\",\"args\":{}}}]},"
        "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"g1\",\"name\":\"read\","
        "\"response\":{\"output\":\"one\\ntwo\"},\"parts\":[{\"inlineData\":{\"mimeType\":"
        "\"image/png\",\"data\":\"aGk=\"}}]}},{\"functionResponse\":{\"name\":\"_x_y\","
        "\"response\":{\"error\":\"No result provided\"}}}]}]");
    talk_free(&t);
}

TEST(models_before_3_get_no_ids_and_images_of_results_behind_them) {
    conversation t;
    replayed(&t, flash_2_5());
    talk_user(&t, "go on");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents[1].parts[2]"),
                 "{\"functionCall\":{\"name\":\"read\",\"args\":{\"p\":1}},"
                 "\"thoughtSignature\":\"S3\"}");
    CHECK_EQ_STR(
        talk_at(&t, "contents[2]"),
        "{\"role\":\"user\",\"parts\":[{\"functionResponse\":{\"name\":\"read\",\"response\":"
        "{\"output\":\"one\\ntwo\"}}},{\"functionResponse\":{\"name\":\"_x_y\",\"response\":"
        "{\"error\":\"No result provided\"}}}]}");
    CHECK_EQ_STR(talk_at(&t, "contents[3]"),
                 "{\"role\":\"user\",\"parts\":[{\"inlineData\":{\"mimeType\":\"image/png\","
                 "\"data\":\"aGk=\"}},{\"text\":\"go on\"}]}");
    talk_free(&t);
}

TEST(foreign_thinking_and_signatures_are_dropped_and_a_foreign_call_says_so) {
    conversation t;
    replayed(&t, pro_3());
    t.messages[2].model = phi_str_of("claude-sonnet-4-6");
    t.messages[2].provider = phi_str_of("anthropic");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents[1].parts"),
                 "[{\"functionCall\":{\"id\":\"g1\",\"name\":\"read\",\"args\":{\"p\":1}},"
                 "\"thoughtSignature\":\"skip_thought_signature_validator\"},"
                 "{\"functionCall\":{\"name\":\"_x_y\",\"args\":{}}}]");
    talk_free(&t);
    replayed(&t, pro_3());
    t.blocks[2][4].incomplete = true; /* what was signed is gone */
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents[1].parts[2].thoughtSignature"),
                 "\"skip_thought_signature_validator\"");
    talk_free(&t);
    replayed(&t, flash_2_5());
    t.messages[2].model = phi_str_of("gemini-2.5-pro");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents[1].parts[0]"),
                 "{\"functionCall\":{\"name\":\"read\",\"args\":{\"p\":1}}}");
    talk_free(&t);
}

TEST(empty_text_is_never_sent_nor_a_message_that_becomes_empty) {
    conversation t;
    talk_begin(&t, flash_2_5());
    talk_user(&t, "a");
    talk_text(&t, "");
    talk_text(&t, " \n");
    talk_assistant(&t);
    talk_text(&t, "");
    talk_user(&t, "b");
    t.spec.system_prompt = phi_str_of("  ");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents"),
                 "[{\"role\":\"user\",\"parts\":[{\"text\":\"a\"},{\"text\":\"b\"}]}]");
    CHECK_EQ_STR(talk_at(&t, "systemInstruction"), "");
    talk_free(&t);
}

TEST(a_result_without_text_gets_some_and_one_without_a_name_that_of_its_call) {
    conversation t;
    phi_model model = flash_2_5();
    model.quirks |= PHI_QUIRK_NO_IMAGES;
    talk_begin(&t, model);
    talk_user(&t, "a");
    talk_assistant(&t);
    talk_call(&t, "1", "f", "{}");
    talk_call(&t, "2", "g", "{}");
    talk_call(&t, "3", "h", "{}");
    talk_result(&t, "1", "", NULL)->is_error = true;
    talk_result(&t, "2", "g", NULL);
    talk_result(&t, "3", "h", NULL);
    talk_image(&t, "aGk=");
    talk_image(&t, "aGk=");
    talk_render_ok(&t);
    CHECK_EQ_STR(
        talk_at(&t, "contents[2].parts"),
        "[{\"functionResponse\":{\"name\":\"f\",\"response\":{\"error\":\"(no output)\"}}},"
        "{\"functionResponse\":{\"name\":\"g\",\"response\":{\"output\":\"\"}}},"
        "{\"functionResponse\":{\"name\":\"h\",\"response\":{\"output\":"
        "\"(image omitted: this model does not take it)\"}}}]");
    t.model.quirks = 0;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents[2].parts[2].functionResponse.response"),
                 "{\"output\":\"(see the attached image)\"}");
    talk_free(&t);
}

TEST(long_texts_are_filled_in_and_are_the_same) {
    static char big[20001];
    conversation t;
    char *first;
    memset(big, 'x', sizeof big - 1);
    replayed(&t, pro_3());
    t.blocks[3][0].text = phi_str_of(big);
    t.blocks[0][0].text = phi_str_of(big);
    talk_render_ok(&t);
    CHECK_EQ_INT(strlen(talk_at(&t, "contents[2].parts[0].functionResponse.response.output")),
                 20007);
    first = strdup(t.body);
    memset(t.rendered, 0, sizeof t.rendered);
    CHECK_EQ_INT(talk_render(&t, 1), PHI_OK);
    CHECK_EQ_STR(t.body, first);
    free(first);
    talk_free(&t);
}

/* ---- streams ---- */

#define DATA(parts) "data: {\"candidates\":[{\"content\":{\"parts\":[" parts "]}}]}\n\n"
#define STOP "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"

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

#define FINISH(reason) "data: {\"candidates\":[{\"finishReason\":\"" reason "\"}]}\n\n"

TEST(stop_reasons_are_mapped) {
    static const char *const guards[] = {FINISH("SAFETY"),    FINISH("RECITATION"),
                                         FINISH("BLOCKLIST"), FINISH("PROHIBITED_CONTENT"),
                                         FINISH("SPII"),      FINISH("IMAGE_SAFETY")};
    size_t i;
    for (i = 0; i < PHI__COUNT(guards); i++)
        check_stop(guards[i], PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false, NULL);
    check_stop(STOP, PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false, NULL);
    check_stop(FINISH("MAX_TOKENS"), PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false, NULL);
    check_stop(FINISH("UNEXPECTED_TOOL_CALL"), PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true,
               NULL);
    check_stop(FINISH("TOO_MANY_TOOL_CALLS"), PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, false,
               NULL);
    check_stop(FINISH("MISSING_THOUGHT_SIGNATURE"), PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER,
               false, NULL);
    check_stop(FINISH("MODEL_ARMOR"), PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false,
               NULL);
    check_stop(FINISH("CONTINUATION"), PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false, NULL);
    check_stop(FINISH("WHAT"), PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false, NULL);
    check_stop(DATA("{\"functionCall\":{\"name\":\"f\"}}") STOP, PHI_STOP_REASON_TOOL_USE,
               PHI_FAILURE_NONE, false, NULL);
    check_stop("data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\",\"blockReasonMessage\":"
               "\"No.\"}}\n\n",
               PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false, "No.");
    check_stop("data: {\"promptFeedback\":{\"safetyRatings\":[]}}\n\n" STOP, PHI_STOP_REASON_STOP,
               PHI_FAILURE_NONE, false, NULL);
}

TEST(streams_without_an_end_are_errors_that_may_be_tried_again) {
    check_stop("", PHI_STOP_REASON_ERROR, PHI_FAILURE_NETWORK, true, NULL);
    check_stop(DATA("{\"text\":\"a\"}"), PHI_STOP_REASON_ERROR, PHI_FAILURE_NETWORK, true, NULL);
    check_stop("data: {\"candidates\":[{\n\n", PHI_STOP_REASON_ERROR, PHI_FAILURE_NETWORK, true,
               NULL);
    check_stop("data: {\"candidates\":[{\n\n" STOP, PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true,
               NULL);
    check_stop(DATA("{\"text\":\"a\"}") "{\n \"error\": {\n", PHI_STOP_REASON_ERROR,
               PHI_FAILURE_NETWORK, true, NULL);
    check_stop(DATA("{\"text\":\"a\"}") "[{\n \"error\": {\"code\":503,\"message\":\"Busy\","
                                        "\"status\":\"UNAVAILABLE\"}\n}]\n",
               PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true, "Busy");
}

static void check_json(stream *s, const char *want) {
    size_t i;
    phi__buf out;
    phi__buf_init(&out, &s->memory);
    for (i = 0; i < s->message.content_count; i++) {
        const phi_content *c = &s->message.content[i];
        phi__buf_printf(&out, "%d:%.*s%.*s%.*s/%.*s%s;", (int)c->kind, (int)c->text.len,
                        c->text.len > 0 ? c->text.at : "", (int)c->name.len,
                        c->name.len > 0 ? c->name.at : "", (int)c->arguments.len,
                        c->arguments.len > 0 ? c->arguments.at : "", (int)c->signature.len,
                        c->signature.len > 0 ? c->signature.at : "", c->incomplete ? "!" : "");
    }
    CHECK_STR(phi__buf_str(&out), want);
    phi__buf_free(&out);
}

static void check_parts(const char *events, const char *want) {
    stream s;
    stream_of(&s, P, events);
    check_json(&s, want);
    stream_free(&s);
}

TEST(parts_of_a_kind_are_one_block_unless_both_are_signed) {
    check_parts(DATA("{\"text\":\"a\"},{\"text\":\"b\"}") DATA("{\"text\":\"c\"}") STOP, "1:abc/;");
    check_parts(DATA("{\"text\":\"a\",\"thoughtSignature\":\"S\"},{\"text\":\"b\"}") STOP,
                "1:ab/S;");
    check_parts(DATA("{\"text\":\"a\",\"thoughtSignature\":\"S\"},{\"text\":\"b\","
                     "\"thoughtSignature\":\"T\"}") STOP,
                "1:a/S;1:b/T;");
    check_parts(DATA("{\"text\":\"a\",\"thought\":true},{\"text\":\"\",\"thought\":true,"
                     "\"thoughtSignature\":\"S\"},{\"text\":\"b\"}") STOP,
                "3:a/S;1:b/;");
    check_parts(DATA("{\"functionCall\":{\"name\":\"f\",\"args\":{\"a\":1}},\"thoughtSignature\":"
                     "\"S\"},{\"text\":\"\",\"thoughtSignature\":\"T\"}") STOP,
                "4:f{\"a\":1}/S;1:/T;");
    check_parts(DATA("{\"inlineData\":{}},{\"text\":null},7,{\"functionCall\":null}") STOP,
                "5:inlineData/;");
}

TEST(repeated_chunks_are_read_as_the_first_one) {
    check_parts(DATA("{\"text\":\"a\"}") DATA("{\"text\":\"\\\"b\"}")
                    DATA("{\"text\":\"c\",\"thought\":true}") DATA("{\"text\":\"d\"}")
                        DATA("{\"text\":\"\"}") DATA("{\"text\":\"e\"}") STOP,
                "1:a\"b/;3:c/;1:de/;");
}

#define PIECE(args, more) DATA("{\"functionCall\":{\"partialArgs\":[" args "]" more "}}")
#define MORE ",\"willContinue\":true"

TEST(arguments_in_pieces_are_joined_when_the_call_ends) {
    check_parts(DATA("{\"functionCall\":{\"name\":\"f\"" MORE "}}")
                    PIECE("{\"jsonPath\":\"$.a[0].b\",\"stringValue\":\"x\"" MORE "}", MORE) PIECE(
                        "{\"jsonPath\":\"$.a[0].b\",\"stringValue\":\"y\"},{\"jsonPath\":"
                        "\"$.a[1]\",\"numberValue\":1.5},{\"jsonPath\":\"$.n\",\"nullValue\":null}",
                        "") STOP,
                "4:f{\"a\":[{\"b\":\"xy\"},1.5],\"n\":null}/;");
    check_parts(DATA("{\"functionCall\":{\"name\":\"f\"" MORE "}}")
                    PIECE("{\"jsonPath\":\"$.a\",\"stringValue\":\"x\"}", MORE) STOP,
                "4:f/!;");
}

TEST(pieces_that_do_not_fit_are_an_error_and_never_a_call) {
    static const char *const bad[] = {
        PIECE("{\"jsonPath\":\"a\",\"stringValue\":\"x\"}", ""),
        PIECE("{\"jsonPath\":\"$['a b']\",\"stringValue\":\"x\"}", ""),
        PIECE("{\"jsonPath\":\"$.a[7]\",\"stringValue\":\"x\"}", ""),
        PIECE("{\"jsonPath\":\"$[0]\",\"stringValue\":\"x\"}", ""),
        PIECE("{\"jsonPath\":\"$.a\"}", ""),
        PIECE(
            "{\"jsonPath\":\"$.a\",\"boolValue\":true},{\"jsonPath\":\"$.a.b\",\"boolValue\":true}",
            ""),
        PIECE("7", "")};
    size_t i;
    for (i = 0; i < PHI__COUNT(bad); i++) {
        stream s;
        stream_begin(&s, P);
        stream_text(&s, DATA("{\"functionCall\":{\"name\":\"f\"" MORE "}}"));
        stream_text(&s, bad[i]);
        stream_text(&s, STOP);
        stream_end(&s);
        CHECK_STR(s.assembly.failure.code, "bad_arguments");
        CHECK(s.message.content[0].incomplete);
        stream_free(&s);
    }
}

TEST(a_long_argument_in_small_pieces_takes_little_memory) {
    stream s;
    int i;
    stream_begin(&s, P);
    stream_text(&s, DATA("{\"functionCall\":{\"name\":\"f\"" MORE "}}"));
    for (i = 0; i < 20000; i++)
        stream_text(&s, PIECE("{\"jsonPath\":\"$.a\",\"stringValue\":\"abcde\"}", MORE));
    stream_text(&s, DATA("{\"functionCall\":{}}") STOP);
    stream_end(&s);
    CHECK_EQ_INT(s.message.content[0].arguments.len, 100000 + 8);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    CHECK(s.memory.peak_bytes < 20u << 20);
    stream_free(&s);
}

TEST(usage_is_cumulative_and_what_is_absent_stays) {
    stream s;
    stream_of(&s, P,
              "data: {\"usageMetadata\":{\"promptTokenCount\":10,\"toolUsePromptTokenCount\":5,"
              "\"cachedContentTokenCount\":8,\"candidatesTokenCount\":1,\"thoughtsTokenCount\":4}}"
              "\n\ndata: {\"usageMetadata\":{\"candidatesTokenCount\":3}}\n\n"
              "data: {\"usageMetadata\":{\"trafficType\":\"ON_DEMAND\"}}\n\n" STOP);
    CHECK_EQ_INT(s.message.usage.input, 7);
    CHECK_EQ_INT(s.message.usage.cache_read, 8);
    CHECK_EQ_INT(s.message.usage.output, 7);
    CHECK_EQ_INT(s.message.usage.reasoning, 4);
    stream_free(&s);
}

/* ---- whole answers ---- */

static void check_whole(const char *body, const char *parts, phi_failure_kind kind,
                        const char *code) {
    stream s;
    stream_begin(&s, P);
    stream_whole(&s, body);
    check_json(&s, parts);
    CHECK_EQ_INT(s.assembly.failure.kind, kind);
    if (code != NULL) CHECK_STR(s.assembly.failure.code, code);
    stream_free(&s);
}

#define CHUNK(text, more)                                                                          \
    "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"" text "\"}]}" more "}]}"
#define END ",\"finishReason\":\"STOP\""

TEST(a_body_that_is_no_stream_is_read) {
    check_whole("\n" CHUNK("a", END), "1:a/;", PHI_FAILURE_NONE, NULL);
    check_whole("[" CHUNK("a", "") ",\n" CHUNK("b", END) "]", "1:ab/;", PHI_FAILURE_NONE, NULL);
    check_whole("[" CHUNK("a", "") "]", "1:a/;", PHI_FAILURE_NETWORK, "truncated");
    check_whole("[" CHUNK("a", "") ",{", "1:a/;", PHI_FAILURE_NETWORK, "truncated");
    check_whole("[{\"error\":{\"code\":429,\"message\":\"m\",\"status\":\"RESOURCE_EXHAUSTED\"}}]",
                "", PHI_FAILURE_RATE_LIMITED, "RESOURCE_EXHAUSTED");
    check_whole("{\"error\":{\"code\":500,\"message\":\"m\",\"status\":\"INTERNAL\"}}", "",
                PHI_FAILURE_SERVER, "INTERNAL");
    check_whole("{}", "", PHI_FAILURE_SERVER, NULL);
    check_whole("<html>", "", PHI_FAILURE_INVALID_REQUEST, "web_page");
}

TEST(a_blocked_prompt_survives_every_failed_allocation) {
    stream s;
    int n = 0;
    bool tripped;
    do {
        test_alloc_fail_at(n++);
        stream_of(&s, P,
                  "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\","
                  "\"blockReasonMessage\":\"No.\"}}\n\n");
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK_STR(s.assembly.failure.message, "No.");
        if (tripped)
            CHECK(s.assembly.no_memory || s.reader.sse.status != PHI_OK ||
                  s.assembly.failure.kind != PHI_FAILURE_NONE);
        stream_free(&s);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped);
}

TEST(decoding_survives_every_failed_allocation) {
    static const char everything[] =
        DATA("{\"text\":\"hm\",\"thought\":true,\"thoughtSignature\":\"S\"}")
            DATA("{\"text\":\"a\"}") DATA("{\"text\":\"b\"}")
                DATA("{\"functionCall\":{\"id\":\"1\",\"name\":\"f\",\"args\":{\"a\":1}}}")
                    DATA("{\"functionCall\":{\"name\":\"g\"" MORE "}}")
                        PIECE("{\"jsonPath\":\"$.a.b[0]\",\"stringValue\":\"x\"}", MORE)
                            PIECE("{\"jsonPath\":\"$.a.b[0]\",\"stringValue\":\"x\"}", "") STOP
        "{\n\"error\": {\"message\":\"oh\",\"code\":500}}\n";
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
                                            {"{\"type\":\"object\",\"const\":{}}", 27},
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

TEST_MAIN(TEST_ENTRY(the_address_holds_the_model_and_the_key_is_in_a_header),
          TEST_ENTRY(vertex_takes_a_token_for_a_project_and_a_key_without_one),
          TEST_ENTRY(the_presets_know_their_limits_and_who_thinks),
          TEST_ENTRY(models_of_2_5_think_by_a_budget_for_which_there_is_room),
          TEST_ENTRY(models_since_3_think_by_a_level),
          TEST_ENTRY(a_thinking_model_since_3_keeps_its_temperature),
          TEST_ENTRY(tool_choice_is_a_mode_and_const_becomes_enum),
          TEST_ENTRY(the_user_must_begin_and_the_model_may_not_end),
          TEST_ENTRY(a_tool_name_must_begin_with_a_letter),
          TEST_ENTRY(signed_parts_go_back_at_their_own_position_and_ids_where_the_model_gave_them),
          TEST_ENTRY(models_before_3_get_no_ids_and_images_of_results_behind_them),
          TEST_ENTRY(foreign_thinking_and_signatures_are_dropped_and_a_foreign_call_says_so),
          TEST_ENTRY(empty_text_is_never_sent_nor_a_message_that_becomes_empty),
          TEST_ENTRY(a_result_without_text_gets_some_and_one_without_a_name_that_of_its_call),
          TEST_ENTRY(long_texts_are_filled_in_and_are_the_same),
          TEST_ENTRY(stop_reasons_are_mapped),
          TEST_ENTRY(streams_without_an_end_are_errors_that_may_be_tried_again),
          TEST_ENTRY(parts_of_a_kind_are_one_block_unless_both_are_signed),
          TEST_ENTRY(repeated_chunks_are_read_as_the_first_one),
          TEST_ENTRY(arguments_in_pieces_are_joined_when_the_call_ends),
          TEST_ENTRY(pieces_that_do_not_fit_are_an_error_and_never_a_call),
          TEST_ENTRY(a_long_argument_in_small_pieces_takes_little_memory),
          TEST_ENTRY(usage_is_cumulative_and_what_is_absent_stays),
          TEST_ENTRY(a_body_that_is_no_stream_is_read),
          TEST_ENTRY(a_blocked_prompt_survives_every_failed_allocation),
          TEST_ENTRY(decoding_survives_every_failed_allocation),
          TEST_ENTRY(encoding_survives_every_failed_allocation))
