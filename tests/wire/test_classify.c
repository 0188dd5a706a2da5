/* test_classify.c - kinds, delays and words of errors, beside the cases of the fixtures. What an
   overflow says: test_overflow_words.c. */
#include "wire/wire_in.h"
#include "wire/wire_support.h"

static phi_memory memory;

static phi_arena arena;

static phi_failure got;

static void begin(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void classify(int status, const char *headers, const char *body) {
    phi_model model = phi_model_openai("m", "K");
    phi__classify(&model, status, phi_str_of(headers), phi_str_of(body), &arena, &got);
}

static void check_delay(const char *headers, const char *body, long long ms) {
    classify(429, headers, body);
    CHECK_EQ_INT(got.has_retry_after, ms >= 0);
    CHECK_EQ_INT(got.retry_after_ms, ms < 0 ? 0 : ms);
}

TEST(a_delay_is_read_from_headers_before_the_body) {
    begin();
    check_delay("Retry-After: 21\r\n", "", 21000);
    check_delay("retry-after:1.5\r\n", "", 1500);
    check_delay("Retry-After-Ms: 250.2\r\nRetry-After: 21\r\n", "", 251);
    check_delay("Retry-After-Ms: soon\r\nRetry-After: 2\r\n", "try again in 9s", 2000);
    check_delay("Retry-After: 0\r\n", "", -1);
    check_delay("Retry-After: -5\r\n", "", -1);
    check_delay("Retry-After: 5 apples\r\n", "", -1);
    check_delay("Retry-After: 1e3\r\n", "", -1);
    check_delay("Retry-After: inf\r\n", "", -1);
    check_delay("Retry-After: 0.0\r\nRetry-After-Ms: 0\r\n", "try again in 2s", 2000);
    check_delay("Retry-After: 99999999999999999999999999\r\n", "", 1000000000000);
    check_delay(
        "Date: Fri, 20 Nov 2026 23:59:50 GMT\r\nRetry-After: Sat, 21 Nov 2026 00:00:20 GMT\r\n", "",
        30000);
    check_delay(
        "Date: Sun, 28 Feb 2027 00:00:00 GMT\r\nRetry-After: Mon, 01 Mar 2027 00:00:00 GMT\r\n", "",
        86400000);
    check_delay(
        "Date: Sat, 21 Nov 2026 00:00:20 GMT\r\nRetry-After: Fri, 20 Nov 2026 23:59:50 GMT\r\n", "",
        -1);
    check_delay("Retry-After: Sat, 21 Nov 2026 00:00:20 GMT\r\n", "", -1);
    phi_arena_free(&arena);
}

TEST(a_date_to_wait_for_may_have_any_form_of_http) {
    begin();
    check_delay(
        "Date: Saturday, 21-Nov-26 00:00:00 GMT\r\nRetry-After: Sat Nov 21 00:01:00 2026\r\n", "",
        60000);
    check_delay("Date: Sun Nov  1 23:59:59 2026\r\nRetry-After: Monday, 02-Nov-26 00:00:00 GMT\r\n",
                "", 1000);
    check_delay(
        "Date: Thu, 31 Dec 2026 23:59:58 GMT\r\nRetry-After: Fri, 01 Jan 2027 00:00:00 GMT\r\n", "",
        2000);
    check_delay(
        "Date: Sat, 21 Nov 2026 00:00:00 GMT\r\nRetry-After: Sat, 21 Nov 2026 00:00:99 GMT\r\n", "",
        -1);
    check_delay(
        "Date: Sat, 21 Nov 2026 00:00:00 GMT\r\nRetry-After: Sat, 31 Nov 2026 00:01:00 GMT\r\n", "",
        -1);
    check_delay(
        "Date: Sat, 21 Nov 2026 00:00:00 GMT\r\nRetry-After: Sat, 21 Foo 2026 00:01:00 GMT\r\n", "",
        -1);
    check_delay(
        "Date: Sat, 21 Nov 2026 00:00:00 GMT\r\nRetry-After: Sat, 21 Nov 2026 00:01:00 CET\r\n", "",
        -1);
    check_delay("Date: yesterday\r\nRetry-After: Sat, 21 Nov 2026 00:01:00 GMT\r\n", "", -1);
    phi_arena_free(&arena);
}

TEST(a_delay_is_read_from_words_of_the_body) {
    begin();
    check_delay("", "{\"error\":{\"message\":\"Please try again in 5.289s.\"}}", 5289);
    check_delay("", "{\"error\":{\"message\":\"Try again in 1m2s\"}}", 62000);
    check_delay("", "{\"error\":{\"message\":\"try again in 120ms\"}}", 120);
    check_delay("", "{\"error\":{\"message\":\"Please retry after 7 seconds.\"}}", 7000);
    check_delay("", "{\"error\":{\"message\":\"try again in 6m0s\"}}", 360000);
    check_delay("", "{\"error\":{\"message\":\"try again in a while\"}}", -1);
    check_delay("", "{\"error\":{\"message\":\"Please try again in 2 mins.\"}}", 120000);
    check_delay("", "{\"error\":{\"message\":\"Please retry in 1h0m1.5s\"}}", 3601500);
    check_delay("", "{\"error\":{\"message\":\"try again in 2 days\"}}", 172800000);
    check_delay("", "{\"error\":{\"message\":\"try again in 3 moons\"}}", -1);
    check_delay("", "{\"error\":{\"message\":\"try again in 0s\"}}", -1);
    check_delay("", "{\"error\":{\"message\":\"try again in 99999999999999h\"}}", 3600000000000000);
    check_delay("",
                "{\"error\":{\"message\":\"Provider returned error\",\"code\":429,\"metadata\":"
                "{\"raw\":\"Please try again in 4s\"}}}",
                4000);
    check_delay("",
                "{\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\",\"message\":\"x\","
                "\"details\":[{\"@type\":\"Help\"},{\"@type\":\"RetryInfo\",\"retryDelay\":"
                "\"46s\"}]}}",
                46000);
    phi_arena_free(&arena);
}

TEST(the_servers_own_word_on_retrying_wins) {
    begin();
    classify(500, "x-should-retry: false\r\n", "");
    CHECK_EQ_INT(got.kind, PHI_FAILURE_SERVER);
    CHECK(!got.retryable);
    classify(404, "X-Should-Retry: TRUE\r\n", "");
    CHECK_EQ_INT(got.kind, PHI_FAILURE_INVALID_REQUEST);
    CHECK(got.retryable);
    phi_arena_free(&arena);
}

static void check_kind(int status, const char *body, phi_failure_kind kind, bool retryable) {
    classify(status, "", body);
    CHECK_EQ_STR(phi_failure_kind_text(got.kind), phi_failure_kind_text(kind));
    CHECK_EQ_INT(got.retryable, retryable);
}

TEST(the_status_decides_before_the_words_do) {
    begin();
    check_kind(408, "", PHI_FAILURE_SERVER, true);
    check_kind(409, "", PHI_FAILURE_SERVER, true);
    check_kind(529, "", PHI_FAILURE_SERVER, true);
    check_kind(404, "", PHI_FAILURE_INVALID_REQUEST, false);
    check_kind(429, "{\"error\":{\"message\":\"prompt is too long\"}}", PHI_FAILURE_RATE_LIMITED,
               true);
    check_kind(400, "{\"message\":\"ThrottlingException: Too many tokens, please wait\"}",
               PHI_FAILURE_RATE_LIMITED, true);
    check_kind(400, "{\"message\":\"too many tokens\"}", PHI_FAILURE_OVERFLOW, false);
    check_kind(400, "{\"message\":\"Too many tokens, please wait before trying again.\"}",
               PHI_FAILURE_RATE_LIMITED, true);
    check_kind(422, "{\"message\":\"too many tokens\"}", PHI_FAILURE_INVALID_REQUEST, false);
    check_kind(500, "{\"message\":\"prompt is too long\"}", PHI_FAILURE_SERVER, true);
    check_kind(400, "{\"error\":{\"code\":\"content_filter\",\"message\":\"x\"}}",
               PHI_FAILURE_CONTENT_FILTER, false);
    check_kind(429, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"x\"}}",
               PHI_FAILURE_QUOTA, false);
    check_kind(429, "{\"error\":{\"code\":\"1308\",\"message\":\"x\"}}", PHI_FAILURE_QUOTA, false);
    check_kind(400,
               "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your credit "
               "balance is too low\"}}",
               PHI_FAILURE_QUOTA, false);
    check_kind(401, "{\"error\":{\"code\":\"insufficient_quota\"}}", PHI_FAILURE_AUTH, false);
    phi_arena_free(&arena);
}

TEST(overflow_phrases_are_anchored) {
    static const char *const are[] = {"Prompt is too long: 5 tokens > 4 maximum",
                                      "your input EXCEEDS the context window of this model",
                                      "maximum context length is 128,000 tokens",
                                      "input token count (1196265) exceeds the maximum number",
                                      "prompt token count of 9 exceeds the limit of 8",
                                      "context_length_exceeded",
                                      "too large for model with 32768 maximum context length",
                                      "Context overflow: HTTP 413 without a body",
                                      "Too many tokens in the request"};
    static const char *const are_not[] = {"Number of tools exceeds the maximum of 128",
                                          "the file exceeds the limit of 20 MB",
                                          "rate limit: prompt is too long",
                                          "Rate limited, retry after 5000ms: prompt is too long",
                                          "Too many tokens, please wait before trying again",
                                          "Context length is unknown",
                                          "max_tokens is too large",
                                          ""};
    size_t i;
    for (i = 0; i < sizeof are / sizeof are[0]; i++)
        CHECK(phi__classify_is_overflow_text(phi_str_of(are[i])));
    for (i = 0; i < sizeof are_not / sizeof are_not[0]; i++)
        CHECK(!phi__classify_is_overflow_text(phi_str_of(are_not[i])));
}

static void check_message(int status, const char *body, const char *want) {
    classify(status, "", body);
    CHECK_STR(got.message, want);
}

TEST(words_are_found_in_any_shape_of_body) {
    begin();
    check_message(400, "{\"error\":{\"message\":\"one\"}}", "one");
    check_message(400, "{\"error\":\"two\"}", "two");
    check_message(400, "{\"message\":\"three\"}", "three");
    check_message(400, "{\"Message\":\"four\"}", "four");
    check_message(422, "{\"detail\":\"five\"}", "five");
    check_message(422, "{\"detail\":[{\"loc\":[1],\"msg\":\"six\"}]}", "six");
    check_message(400, "[{\"error\":{\"message\":\"seven\"}}]", "seven");
    check_message(500, "upstream connect error\n", "HTTP 500: upstream connect error");
    check_message(500, "", "HTTP 500 without a body");
    check_message(400, "{\"ok\":false}", "HTTP 400: {\"ok\":false}");
    check_message(502, "<html><head><title>502 Bad Gateway</title></head></html>",
                  "HTTP 502 with a web page: 502 Bad Gateway");
    check_message(502, "<html>", "HTTP 502 with a web page");
    check_message(500, "bad \xFF bytes", "HTTP 500: bad \xEF\xBF\xBD bytes");
    phi_arena_free(&arena);
}

TEST(long_words_are_cut_and_a_huge_body_is_read_in_part) {
    char *body = (char *)malloc(300001);
    begin();
    memset(body, 'x', 300000);
    body[300000] = '\0';
    classify(500, "", body);
    CHECK(got.message.len < 520);
    memcpy(body, "{\"error\":{\"message\":\"", 21);
    memcpy(body + 20000, "\"}}", 4);
    classify(500, "", body);
    CHECK_EQ_INT(got.message.len, 4096);
    free(body);
    phi_arena_free(&arena);
}

TEST(ids_and_codes_are_kept_beyond_the_headers) {
    char headers[] =
        "HTTP-ish: x\r\nX-Request-Id: r1\r\nx-amzn-errortype: ModelErrorException:http\r\n";
    begin();
    classify(424, headers, "");
    memset(headers, 'z', sizeof headers - 1);
    CHECK_STR(got.request_id, "r1");
    CHECK_STR(got.code, "ModelErrorException");
    CHECK_EQ_INT(got.http_status, 424);
    phi_arena_free(&arena);
}

TEST(the_request_id_of_a_gateway_is_kept_where_the_provider_gives_none) {
    begin();
    classify(500, "x-litellm-call-id: c1\r\n", "");
    CHECK_STR(got.request_id, "c1");
    classify(500, "x-litellm-call-id: c1\r\nX-Request-Id: r1\r\n", "");
    CHECK_STR(got.request_id, "r1");
    phi_arena_free(&arena);
}

TEST(an_error_that_was_written_as_an_event_is_read) {
    static const char *const bodies[] = {
        "data: {\"error\":{\"message\":\"No such key\",\"code\":\"k\"}}\n\n",
        "event: error\r\ndata: {\"error\":{\"message\":\"No such key\",\"code\":\"k\"}}",
        ": up\ndata: [DONE\n\nerror: {\"message\":\"No such key\",\"code\":\"k\"}\n"};
    size_t i;
    begin();
    for (i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        classify(400, "", bodies[i]);
        CHECK_STR(got.message, "No such key");
        CHECK_STR(got.code, "k");
    }
    classify(400, "", "data: nothing\n\n");
    CHECK_STR(got.message, "HTTP 400: data: nothing");
    phi_arena_free(&arena);
}

TEST(what_a_model_never_takes_is_not_tried_again) {
    begin();
    classify(500, "",
             "{\"error\":{\"code\":500,\"message\":\"image input is not supported - hint: if this "
             "is unexpected, you may need to provide the mmproj\",\"type\":\"server_error\"}}");
    CHECK_EQ_INT(got.kind, PHI_FAILURE_INVALID_REQUEST);
    CHECK(!got.retryable);
    classify(500, "", "{\"error\":{\"message\":\"image decoder crashed\"}}");
    CHECK(got.retryable);
    phi_arena_free(&arena);
}

TEST(a_header_is_found_whatever_its_case_and_line_end) {
    phi_str headers = phi_str_of("A: 1\r\nbB : no\nLong-Name:  two words \r\nlast: x");
    CHECK_STR(phi__headers_value(headers, "a"), "1");
    CHECK_STR(phi__headers_value(headers, "LONG-NAME"), "two words");
    CHECK_STR(phi__headers_value(headers, "last"), "x");
    CHECK_STR(phi__headers_value(headers, "b"), "");
    CHECK_STR(phi__headers_value(phi_str_of(""), "a"), "");
}

TEST(want_of_memory_leaves_the_class) {
    int n;
    for (n = 0; n < 12; n++) {
        begin();
        test_alloc_fail_from(n);
        classify(429, "retry-after: 3\r\n", "{\"error\":{\"message\":\"slow\",\"code\":5}}");
        test_alloc_fail_from(-1);
        CHECK_EQ_INT(got.kind, PHI_FAILURE_RATE_LIMITED);
        CHECK(got.retryable);
        CHECK_EQ_INT(got.retry_after_ms, 3000);
        phi_arena_free(&arena);
    }
}

TEST_MAIN(TEST_ENTRY(a_delay_is_read_from_headers_before_the_body),
          TEST_ENTRY(a_date_to_wait_for_may_have_any_form_of_http),
          TEST_ENTRY(a_delay_is_read_from_words_of_the_body),
          TEST_ENTRY(the_servers_own_word_on_retrying_wins),
          TEST_ENTRY(the_status_decides_before_the_words_do),
          TEST_ENTRY(overflow_phrases_are_anchored),
          TEST_ENTRY(words_are_found_in_any_shape_of_body),
          TEST_ENTRY(long_words_are_cut_and_a_huge_body_is_read_in_part),
          TEST_ENTRY(ids_and_codes_are_kept_beyond_the_headers),
          TEST_ENTRY(the_request_id_of_a_gateway_is_kept_where_the_provider_gives_none),
          TEST_ENTRY(an_error_that_was_written_as_an_event_is_read),
          TEST_ENTRY(what_a_model_never_takes_is_not_tried_again),
          TEST_ENTRY(a_header_is_found_whatever_its_case_and_line_end),
          TEST_ENTRY(want_of_memory_leaves_the_class))
