/* test_bedrock.c - what tests/fixtures do not say of Bedrock's requests, signatures and answers. */
#include "wire/frames_support.h"

#define CLAUDE "anthropic.claude-sonnet-4-5-20250929-v1:0"
#define ARN "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123"

/* ---- requests ---- */

TEST(the_url_holds_the_id_percent_encoded) {
    conversation t;
    talk_begin(&t, phi_model_bedrock("https://bedrock-runtime.eu-west-1.amazonaws.com/", ARN, "K"));
    talk_user(&t, "Hi");
    talk_render_ok(&t);
    CHECK_STR(phi_request_get_info(&t.encoder.request).url,
              "https://bedrock-runtime.eu-west-1.amazonaws.com/model/"
              "arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Aapplication-inference-profile%2F"
              "abc123/converse-stream");
    CHECK_EQ_STR(talk_header(&t, "authorization"), "Bearer K");
    CHECK_EQ_STR(talk_at(&t, "messages"), "[{\"role\":\"user\",\"content\":[{\"text\":\"Hi\"}]}]");
    CHECK_EQ_STR(talk_at(&t, "toolConfig"), "");
    talk_free(&t);
}

TEST(a_key_pair_signs_each_attempt_anew) {
    conversation t;
    phi__signing signing;
    char first[600];
    size_t count;
    talk_begin(&t, phi_model_bedrock("https://bedrock-runtime.eu-west-1.amazonaws.com", ARN,
                                     "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY:"
                                     "SESSION/TOKEN+EXAMPLE=="));
    talk_user(&t, "Hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_header(&t, "authorization"), "");
    phi__encoder_free(&t.encoder);
    signing.wall_ms = 1795178096000; /* 2026-11-20T12:34:56Z, as the vectors of the fixtures */
    memcpy(
        signing.body_sha256,
        "\xbb\xed\xfa\xb6\xc2\x77\xd6\x65\x48\x04\xd0\x46\xdc\x67\x23\x9c\xa0\x64\x4a\x4e\x95\x47"
        "\xcf\x67\x76\x0f\x5b\x6b\x2e\xb6\x81\x80",
        32);
    t.encoder.codec->sign(&t.encoder, &signing);
    CHECK(!t.encoder.failed);
    CHECK_EQ_STR(talk_header(&t, "x-amz-date"), "20261120T123456Z");
    CHECK_EQ_STR(talk_header(&t, "x-amz-security-token"), "SESSION/TOKEN+EXAMPLE==");
    CHECK_EQ_STR(talk_header(&t, "x-amz-content-sha256"),
                 "bbedfab6c277d6654804d046dc67239ca0644a4e9547cf67760f5b6b2eb68180");
    CHECK_EQ_STR(talk_header(&t, "authorization"),
                 "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261120/eu-west-1/bedrock/aws4_request, "
                 "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;"
                 "x-amz-security-token, Signature="
                 "d967c22f1a10437326dce7b6629b81f985857d057f4a03618ce39bbed86125cf");
    snprintf(first, sizeof first, "%s", talk_header(&t, "authorization"));
    count = t.encoder.request.header_count;
    signing.wall_ms += 61000;
    t.encoder.codec->sign(&t.encoder, &signing);
    CHECK_EQ_INT(t.encoder.request.header_count, count);
    CHECK_EQ_STR(talk_header(&t, "x-amz-date"), "20261120T123557Z");
    CHECK(strcmp(first, talk_header(&t, "authorization")) != 0);
    talk_free(&t);
}

/* The scope that a request to a base is signed for. */
static void check_region(const char *base, const char *id, const char *want) {
    conversation t;
    phi__signing signing;
    memset(&signing, 0, sizeof signing);
    talk_begin(&t, phi_model_bedrock(base, id, "A:S"));
    talk_user(&t, "Hi");
    talk_render_ok(&t);
    t.encoder.codec->sign(&t.encoder, &signing);
    if (!CHECK(strstr(talk_header(&t, "authorization"), want) != NULL))
        printf("%s\n", talk_header(&t, "authorization"));
    CHECK_EQ_STR(talk_header(&t, "x-amz-security-token"), "");
    talk_free(&t);
}

TEST(the_region_comes_from_the_host_or_the_arn) {
    check_region("https://bedrock-runtime.ap-south-1.amazonaws.com", CLAUDE,
                 "/ap-south-1/bedrock/");
    check_region("https://bedrock-runtime-fips.us-west-2.amazonaws.com", CLAUDE, "/us-west-2/");
    check_region("http://127.0.0.1:8080", ARN, "/eu-west-1/bedrock/");
    check_region("http://127.0.0.1:8080", CLAUDE, "/us-east-1/bedrock/");
    check_region("http://127.0.0.1:8080", "arn:", "/us-east-1/bedrock/");
    check_region(NULL, CLAUDE, "/us-east-1/bedrock/");
}

TEST(a_key_of_bedrock_is_not_signed_with) {
    conversation t;
    phi__signing signing;
    memset(&signing, 0, sizeof signing);
    talk_begin(&t, phi_model_bedrock(NULL, CLAUDE, "ABSKkey"));
    talk_user(&t, "Hi");
    talk_render_ok(&t);
    t.encoder.codec->sign(&t.encoder, &signing);
    CHECK_EQ_STR(talk_header(&t, "authorization"), "Bearer ABSKkey");
    CHECK_EQ_STR(talk_header(&t, "x-amz-date"), "");
    talk_free(&t);
}

TEST(models_that_are_not_claude_get_no_marks_and_no_signatures) {
    conversation t;
    talk_begin(&t, phi_model_bedrock(NULL, "mistral.mistral-large-2407-v1:0", "K"));
    t.spec.system_prompt = phi_str_of("Be brief.");
    t.spec.thinking = PHI_THINKING_HIGH;
    talk_user(&t, "Hi");
    talk_assistant(&t);
    talk_thinking(&t, "Hm.", "sig");
    talk_text(&t, "  ");
    talk_call(&t, "call_with_a_long_id", "read", "{\"a\":1}");
    talk_result(&t, "call_with_a_long_id", "read", NULL);
    talk_user(&t, "Go on.");
    talk_render_ok(&t);
    CHECK(strstr(t.body, "cachePoint") == NULL);
    CHECK_EQ_STR(talk_at(&t, "system"), "[{\"text\":\"Be brief.\"}]");
    CHECK_EQ_STR(talk_at(&t, "messages[1].content[0]"),
                 "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Hm.\"}}}");
    CHECK_EQ_INT(strlen(talk_at(&t, "messages[1].content[1].toolUse.toolUseId")), 9 + 2);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[0].toolResult.content"),
                 "[{\"text\":\"(no output)\"}]");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[1]"), "{\"text\":\"Go on.\"}");
    CHECK_EQ_STR(talk_at(&t, "toolConfig.tools[0].toolSpec.name"), "\"no_tool\"");
    CHECK_EQ_STR(talk_at(&t, "toolConfig.toolChoice"), "");
    CHECK_EQ_STR(talk_at(&t, "additionalModelRequestFields"), "");
    talk_free(&t);
}

TEST(foreign_reasoning_stays_behind_and_own_goes_back) {
    conversation t;
    talk_begin(&t, phi_model_bedrock(NULL, CLAUDE, "K"));
    talk_user(&t, "Hi");
    talk_assistant(&t);
    talk_thinking(&t, "", "sig");
    talk_thinking(&t, "x", "blob");
    t.blocks[1][1].redacted = true;
    talk_thinking(&t, "unsigned", "");
    talk_text(&t, "One. ");
    talk_user(&t, "And?");
    talk_assistant(&t)->model = phi_str_of("other");
    talk_thinking(&t, "foreign", "sig");
    talk_text(&t, "Two.");
    talk_user(&t, "Go.");
    t.spec.cache.mode = PHI_CACHE_DISABLED;
    talk_render_ok(&t);
    CHECK_EQ_STR(
        talk_at(&t, "messages[1].content"),
        "[{\"reasoningContent\":{\"reasoningText\":{\"text\":\"\",\"signature\":\"sig\"}}},"
        "{\"reasoningContent\":{\"redactedContent\":\"blob\"}},{\"text\":\"One.\"}]");
    CHECK_EQ_STR(talk_at(&t, "messages[3].content"), "[{\"text\":\"Two.\"}]");
    CHECK(strstr(t.body, "cachePoint") == NULL);
    talk_free(&t);
}

TEST(results_share_one_message_and_lost_ones_are_made_good) {
    conversation t;
    talk_begin(&t, phi_model_bedrock(NULL, CLAUDE, "K"));
    talk_user(&t, "Hi");
    talk_assistant(&t);
    talk_call(&t, "a", "one", "{}");
    talk_call(&t, "b", "two", "broken");
    talk_result(&t, "a", "one", "no")->is_error = true;
    talk_image(&t, "iVBO");
    t.spec.cache.mode = PHI_CACHE_DISABLED;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].content[1].toolUse.input"), "{}");
    CHECK_EQ_STR(
        talk_at(&t, "messages[2].content"),
        "[{\"toolResult\":{\"toolUseId\":\"a\",\"status\":\"error\",\"content\":[{\"text\":\"no\"}]"
        "}},"
        "{\"toolResult\":{\"toolUseId\":\"b\",\"status\":\"error\",\"content\":[{\"text\":\"No "
        "result "
        "provided\"}]}},{\"image\":{\"format\":\"png\",\"source\":{\"bytes\":\"iVBO\"}}}]");
    talk_free(&t);
}

TEST(an_adaptive_claude_gets_effort_and_a_forced_call_gives_way_to_thinking) {
    static const phi__tool_view tool = {{"read", 4}, {"", 0}, {"", 0},   false,
                                        NULL,        false,   {NULL, 0}, false};
    conversation t;
    talk_begin(&t, phi_model_bedrock(NULL, "global.anthropic.claude-opus-4-7-v1", "K"));
    t.spec.thinking = PHI_THINKING_HIGH;
    t.spec.tools = &tool;
    t.spec.tool_count = 1;
    t.spec.tool_choice = PHI_TOOL_CHOICE_REQUIRED;
    talk_user(&t, "Hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "additionalModelRequestFields"),
                 "{\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"},"
                 "\"output_config\":{\"effort\":\"high\"}}");
    CHECK_EQ_STR(talk_at(&t, "toolConfig.toolChoice"), "{\"auto\":{}}");
    t.spec.thinking = PHI_THINKING_OFF;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "additionalModelRequestFields"), "");
    CHECK_EQ_STR(talk_at(&t, "toolConfig.toolChoice"), "{\"any\":{}}");
    t.spec.tool_choice = PHI_TOOL_CHOICE_NONE;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "toolConfig"), "");
    talk_free(&t);
}

/* ---- answers ---- */

static void check_exception(const char *type, const char *kind, bool retryable) {
    frame_bytes f;
    stream s;
    f.len = 0;
    frame_add(&f, "event", "messageStart", "{\"role\":\"assistant\"}");
    frame_add(&f, "exception", type, "{\"message\":\"words\"}");
    stream_begin(&s, PHI_PROTOCOL_BEDROCK);
    stream_feed(&s, f.at, f.len);
    stream_end(&s);
    CHECK_EQ_STR(phi_failure_kind_text(s.assembly.failure.kind), kind);
    CHECK_EQ_INT(s.assembly.failure.retryable, retryable);
    CHECK_STR(s.assembly.failure.code, type);
    CHECK_STR(s.assembly.failure.message, "words");
    stream_free(&s);
}

TEST(exceptions_are_classified_by_their_type) {
    check_exception("throttlingException", "rate_limited", true);
    check_exception("internalServerException", "server", true);
    check_exception("serviceUnavailableException", "server", true);
    check_exception("modelStreamErrorException", "server", true);
    check_exception("validationException", "invalid_request", false);
    check_exception("accessDeniedException", "auth", false);
    check_exception("somethingNewException", "server", true);
}

TEST(an_error_frame_is_a_failure_with_its_words) {
    frame_bytes f, h;
    stream s;
    f.len = h.len = 0;
    frame_header(&h, ":message-type", "error");
    frame_header(&h, ":error-code", "InternalFailure");
    frame_header(&h, ":error-message", "it \"broke\"");
    frame_make(&f, &h, "");
    stream_begin(&s, PHI_PROTOCOL_BEDROCK);
    stream_feed(&s, f.at, f.len);
    stream_end(&s);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_SERVER);
    CHECK_STR(s.assembly.failure.code, "InternalFailure");
    CHECK_STR(s.assembly.failure.message, "it \"broke\"");
    stream_free(&s);
}

TEST(what_an_event_of_an_unknown_name_holds_is_not_looked_at) {
    static const char *const payloads[] = {"", "hello", "[1", "{\"stopReason\":\"end_turn\"}"};
    size_t i;
    for (i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
        frame_bytes f;
        stream s;
        f.len = 0;
        frame_add(&f, "event", "heartbeat", payloads[i]);
        frame_add(&f, "event", "messageStart", i == 0 ? "" : "{}");
        frame_add(&f, "event", "contentBlockDelta",
                  "{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hi\"}}");
        frame_add(&f, "event", "heartbeat", payloads[i]);
        frame_add(&f, "event", "messageStop", "{\"stopReason\":\"end_turn\"}");
        frame_add(&f, "event", "heartbeat", payloads[i]);
        frame_add(&f, "event", "metadata", "{\"usage\":{\"outputTokens\":4}}");
        stream_begin(&s, PHI_PROTOCOL_BEDROCK);
        stream_feed(&s, f.at, f.len);
        stream_end(&s);
        CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
        CHECK_STR(s.content[0].text, "Hi");
        CHECK_EQ_INT(s.message.usage.output, 4);
        stream_free(&s);
    }
}

static const char lines[] =
    "{\"messageStart\":{\"role\":\"assistant\"}}\n"
    "{\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hi\"}}}\n"
    "{\"contentBlockStop\":{\"contentBlockIndex\":0}}\n"
    "{\"contentBlockStart\":{\"contentBlockIndex\":1,\"start\":{\"toolUse\":{\"toolUseId\":\"t\","
    "\"name\":\"read\"}}}}\n"
    "{\"contentBlockDelta\":{\"contentBlockIndex\":1,\"delta\":{\"toolUse\":{\"input\":\"{}\"}}}}\n"
    "{\"contentBlockStop\":{\"contentBlockIndex\":1}}\n"
    "{\"metadata\":{\"usage\":{\"inputTokens\":3,\"outputTokens\":4}}}\n"
    "{\"messageStop\":{\"stopReason\":\"tool_use\"}}";

static void check_lines(stream *s) {
    CHECK_EQ_INT(s->assembly.failure.kind, PHI_FAILURE_NONE);
    CHECK(s->assembly.terminal);
    CHECK_EQ_INT(s->message.content_count, 2);
    CHECK_STR(s->content[0].text, "Hi");
    CHECK_STR(s->content[1].name, "read");
    CHECK_EQ_INT(s->message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    CHECK_EQ_INT(s->message.usage.total_tokens, 7);
}

/* A run that is cancelled before the usage came finishes the answer without its end. */
TEST(a_call_cut_by_the_limit_is_incomplete_also_before_the_usage) {
    static const char *const reasons[] = {"max_tokens", "a_reason_of_next_year", "tool_use"};
    for (size_t i = 0; i < PHI__COUNT(reasons); i++) {
        char text[600];
        stream s;
        stream_begin(&s, PHI_PROTOCOL_BEDROCK);
        (void)snprintf(
            text, sizeof text,
            "{\"messageStart\":{\"role\":\"assistant\"}}\n"
            "{\"contentBlockStart\":{\"contentBlockIndex\":0,\"start\":{\"toolUse\":{"
            "\"toolUseId\":\"t\",\"name\":\"read\"}}}}\n"
            "{\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"toolUse\":{\"input\":"
            "\"{\\\"a\"}}}}\n"
            "{\"contentBlockStop\":{\"contentBlockIndex\":0}}\n"
            "{\"messageStop\":{\"stopReason\":\"%s\"}}\n",
            reasons[i]);
        stream_text(&s, text);
        phi__assembly_finish(&s.assembly);
        stream_view(&s);
        CHECK_EQ_INT(s.message.content_count, 1);
        CHECK_EQ_INT(s.content[0].incomplete, i < 2);
        stream_free(&s);
    }
}

TEST(lines_of_json_are_a_stream_too) {
    stream s;
    stream_of(&s, PHI_PROTOCOL_BEDROCK, lines);
    check_lines(&s);
    stream_free(&s);
    stream_begin(&s, PHI_PROTOCOL_BEDROCK);
    stream_whole(&s, lines); /* under the name application/json */
    check_lines(&s);
    stream_free(&s);
    stream_of(&s, PHI_PROTOCOL_BEDROCK, "{\"throttlingException\":{\"message\":\"slow\"}}\n");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_RATE_LIMITED);
    stream_free(&s);
}

TEST(a_whole_answer_is_read) {
    stream s;
    stream_begin(&s, PHI_PROTOCOL_BEDROCK);
    stream_whole(&s,
                 "{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":["
                 "{\"reasoningContent\":{\"reasoningText\":{\"text\":\"Hm\",\"signature\":\"s\"}}},"
                 "{\"text\":\"Hi\"},{\"toolUse\":{\"toolUseId\":\"t\",\"name\":\"read\","
                 "\"input\":{\"a\":1}}}]}},\"stopReason\":\"tool_use\","
                 "\"usage\":{\"inputTokens\":3,\"outputTokens\":4}}");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    CHECK_EQ_INT(s.message.content_count, 3);
    CHECK_STR(s.content[0].signature, "s");
    CHECK_STR(s.content[1].text, "Hi");
    CHECK_STR(s.content[2].arguments, "{\"a\":1}");
    CHECK_EQ_INT(s.message.usage.total_tokens, 7);
    stream_free(&s);
    stream_begin(&s, PHI_PROTOCOL_BEDROCK);
    stream_whole(&s, "{\"message\":\"nope\"}");
    CHECK_STR(s.assembly.failure.message, "nope");
    stream_free(&s);
}

TEST(an_event_that_is_no_json_is_a_failure) {
    frame_bytes f;
    stream s;
    f.len = 0;
    frame_add(&f, "event", "contentBlockDelta", "{\"delta\":");
    stream_begin(&s, PHI_PROTOCOL_BEDROCK);
    stream_feed(&s, f.at, f.len);
    stream_end(&s);
    CHECK_STR(s.assembly.failure.code, "bad_event");
    stream_free(&s);
}

TEST(redacted_reasoning_is_kept_as_its_data) {
    frame_bytes f;
    stream s;
    f.len = 0;
    frame_add(
        &f, "event", "contentBlockDelta",
        "{\"contentBlockIndex\":0,\"delta\":{\"reasoningContent\":{\"redactedContent\":\"b64\"}}}");
    frame_add(&f, "event", "messageStop", "{\"stopReason\":\"malformed_tool_use\"}");
    stream_begin(&s, PHI_PROTOCOL_BEDROCK);
    stream_feed(&s, f.at, f.len);
    stream_end(&s);
    CHECK(s.content[0].redacted);
    CHECK_STR(s.content[0].signature, "b64");
    CHECK_STR(s.assembly.failure.code, "malformed_tool_use");
    CHECK(s.assembly.failure.retryable);
    stream_free(&s);
}

static void check_stop(const char *word, phi_stop_reason want, phi_failure_kind kind,
                       bool unknown) {
    char payload[100];
    frame_bytes f;
    stream s;
    f.len = 0;
    snprintf(payload, sizeof payload, "{\"stopReason\":\"%s\"}", word);
    frame_add(&f, "event", "contentBlockDelta",
              "{\"contentBlockIndex\":0,\"delta\":{\"text\":\"So\"}}");
    frame_add(&f, "event", "contentBlockStop", "{\"contentBlockIndex\":0}");
    frame_add(&f, "event", "messageStop", payload);
    stream_begin(&s, PHI_PROTOCOL_BEDROCK);
    stream_feed(&s, f.at, f.len);
    stream_end(&s);
    CHECK_EQ_INT(s.message.stop_reason, want);
    CHECK_EQ_INT(s.assembly.failure.kind, kind);
    CHECK_EQ_INT(s.assembly.unknown_stop, unknown);
    CHECK_STR(s.message.raw_stop_reason, word);
    CHECK_STR(s.content[0].text, "So");
    stream_free(&s);
}

TEST(stop_words_of_failures_are_errors_and_unknown_ones_end_the_answer_with_what_came) {
    check_stop("end_turn", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false);
    check_stop("telepathy", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, true);
    check_stop("malformed_model_output", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, false);
    check_stop("guardrail_intervened", PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER,
               false);
    check_stop("refusal", PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false);
}

TEST_MAIN(
    TEST_ENTRY(the_url_holds_the_id_percent_encoded),
    TEST_ENTRY(stop_words_of_failures_are_errors_and_unknown_ones_end_the_answer_with_what_came),
    TEST_ENTRY(a_key_pair_signs_each_attempt_anew),
    TEST_ENTRY(the_region_comes_from_the_host_or_the_arn),
    TEST_ENTRY(a_key_of_bedrock_is_not_signed_with),
    TEST_ENTRY(models_that_are_not_claude_get_no_marks_and_no_signatures),
    TEST_ENTRY(foreign_reasoning_stays_behind_and_own_goes_back),
    TEST_ENTRY(results_share_one_message_and_lost_ones_are_made_good),
    TEST_ENTRY(an_adaptive_claude_gets_effort_and_a_forced_call_gives_way_to_thinking),
    TEST_ENTRY(exceptions_are_classified_by_their_type),
    TEST_ENTRY(an_error_frame_is_a_failure_with_its_words),
    TEST_ENTRY(what_an_event_of_an_unknown_name_holds_is_not_looked_at),
    TEST_ENTRY(a_call_cut_by_the_limit_is_incomplete_also_before_the_usage),
    TEST_ENTRY(lines_of_json_are_a_stream_too), TEST_ENTRY(a_whole_answer_is_read),
    TEST_ENTRY(an_event_that_is_no_json_is_a_failure),
    TEST_ENTRY(redacted_reasoning_is_kept_as_its_data))
