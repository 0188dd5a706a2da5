/* test_overflow_words.c - what comes first of an error's status and words, each phrase that says
   that a request is too long, and errors in mid-stream.

   Where wire.md rules otherwise than the checklist, the test says so: real servers win. */
#include "wire/overflow.h"
#include "wire/wire_support.h"

/* ---- one error ---- */
static phi_failure classified(int status, const char *headers, const char *body) {
    static phi_memory memory;
    static phi_arena arena;
    phi_allocator allocator = test_allocator();
    phi_model model = phi_model_openai("m", "K");
    phi_failure failure;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__classify(&model, status, phi_str_of(headers), phi_str_of(body), &arena, &failure);
    phi_arena_free(&arena);
    failure.code = failure.message = failure.request_id = phi_str_of("");
    return failure;
}

/* The kind of an error with these words in OpenAI's shape; they hold nothing to be escaped. */
static const char *kind_of(int status, const char *words) {
    char body[600];
    (void)snprintf(body, sizeof body,
                   "{\"error\":{\"message\":\"%s\",\"type\":\"invalid_request_error\","
                   "\"param\":null,\"code\":null}}",
                   words);
    return phi_failure_kind_text(classified(status, "", body).kind);
}

static void check_kind(int status, const char *words, const char *want) {
    if (!CHECK_EQ_STR(kind_of(status, words), want)) printf("  %d \"%s\"\n", status, words);
}

/* The checklist tests for overflow before anything else; a throttled request may say the same words,
   so the status comes first (wire.md 1.6). */
TEST(keys_come_before_money_before_size_before_pace_before_words) {
    check_kind(401, "insufficient_quota: prompt is too long", "auth");
    check_kind(403, "prompt is too long", "auth");
    check_kind(402, "prompt is too long", "quota");
    check_kind(429, "insufficient_quota", "quota");
    check_kind(413, "insufficient_quota", "quota");
    check_kind(413, "Request too large for model on tokens per minute (TPM)", "overflow");
    check_kind(429, "prompt is too long", "rate_limited");
    check_kind(400, "ThrottlingException: prompt is too long", "rate_limited");
    check_kind(400, "prompt is too long, says content_filter", "overflow");
    check_kind(400, "content_filter", "content_filter");
    check_kind(400, "no such field", "invalid_request");
    check_kind(404, "no such model", "invalid_request");
    check_kind(422, "no such field", "invalid_request");
    check_kind(408, "prompt is too long", "overflow");
    check_kind(408, "late", "server");
    check_kind(409, "busy", "server");
    check_kind(424, "it failed", "server");
    check_kind(500, "prompt is too long", "server");
    check_kind(529, "Overloaded", "server");
}

/* The checklist takes a blank 400 of anybody for an overflow; only one provider means that. */
TEST(a_blank_400_is_an_overflow_only_where_the_provider_is_known_for_it) {
    phi_memory memory;
    phi_arena arena;
    phi_allocator allocator = test_allocator();
    phi_model cerebras = phi_model_preset("cerebras", "m", "K");
    phi_failure failure;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__classify(&cerebras, 400, phi_str_of(""), phi_str_of(" \r\n"), &arena, &failure);
    CHECK_EQ_INT(failure.kind, PHI_FAILURE_OVERFLOW);
    phi__classify(&cerebras, 400, phi_str_of(""), phi_str_of("no"), &arena, &failure);
    CHECK_EQ_INT(failure.kind, PHI_FAILURE_INVALID_REQUEST);
    phi_arena_free(&arena);
    CHECK_EQ_INT(classified(400, "", "").kind, PHI_FAILURE_INVALID_REQUEST);
    CHECK_EQ_INT(classified(413, "", "").kind, PHI_FAILURE_OVERFLOW);
}

/* The checklist retries pace and network alone; a server's own trouble passes, too (wire.md 1.4). */
TEST(pace_and_a_server_s_trouble_may_pass_and_nothing_else) {
    static const int passing[] = {408, 409, 424, 429, 500, 502, 503, 504, 529, 599};
    static const int lasting[] = {400, 401, 402, 403, 404, 405, 413, 415, 422};
    size_t i;
    for (i = 0; i < sizeof passing / sizeof passing[0]; i++)
        if (!CHECK(classified(passing[i], "", "").retryable)) printf("  %d\n", passing[i]);
    for (i = 0; i < sizeof lasting / sizeof lasting[0]; i++)
        if (!CHECK(!classified(lasting[i], "", "").retryable)) printf("  %d\n", lasting[i]);
    CHECK(classified(400, "x-should-retry: true\r\n", "").retryable);
    CHECK(!classified(429, "X-Should-Retry: false\r\n", "").retryable);
    CHECK(classified(429, "X-Should-Retry: maybe\r\n", "").retryable);
    CHECK(!classified(429, "", "{\"error\":{\"code\":\"insufficient_quota\"}}").retryable);
}

/* One of each phrase of the checklist and of wire.md part 10, as servers put it. */
static const char *const overflows[] = {
    /* the checklist */
    "prompt is too long",
    "input is too long",
    "this exceeds the context window",
    "the prompt length exceeds the maximum",
    "the maximum prompt length was passed",
    "reduce the length of the messages",
    "maximum context length",
    "prompt token count exceeds the limit of the model",
    "exceeds the available context size",
    "greater than the context length",
    "context window exceeds limit",
    "exceeded model token limit",
    "context length exceeded",
    "context_length_exceeded",
    "too many tokens",
    "token limit exceeded",
    /* wire.md */
    "prompt is too long: 208310 tokens > 200000 maximum",
    "request_too_large",
    "The model returned the following errors: Input is too long for requested model.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "This model's maximum context length is 128000 tokens. However, you requested 130011 tokens.",
    "The input (5000 tokens) exceeds the model's maximum context length of 4096 tokens",
    "litellm.ContextWindowExceededError: context window exceeded",
    "Input length 40000 exceeds maximum allowed input length 32768",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "This endpoint's maximum context length is 163840 tokens. You requested about 200059 tokens.",
    "The input (33000 tokens) is longer than the model's context length (32768 tokens).",
    "prompt token count of 130000 exceeds the limit of 128000",
    "the request exceeds the available context size, try increasing it",
    "exceed_context_size_error",
    "the number of tokens to keep from the prompt is greater than the context length",
    "prompt too long; exceeded max context length by 4 tokens",
    "the configured context size is 4096",
    "Prompt contains 40961 tokens, too large for model with 32768 maximum context length",
    "invalid params, context window exceeds limit (2013)",
    "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
    "Range of input length should be [1, 129024]",
    "Prompt exceeds max length",
    "model_context_window_exceeded",
    /* Anthropic's, of a prompt that leaves no room for max_tokens */
    "input length and `max_tokens` exceed context limit: 199995 + 20000 > 200000",
};

static void in_capitals(const char *from, char *to, size_t size) {
    size_t i;
    for (i = 0; from[i] != '\0' && i + 1 < size; i++)
        to[i] = from[i] >= 'a' && from[i] <= 'z' ? (char)(from[i] - 32) : from[i];
    to[i] = '\0';
}

TEST(each_phrase_of_overflow_is_known_in_whatever_case) {
    char capitals[200];
    size_t i;
    for (i = 0; i < sizeof overflows / sizeof overflows[0]; i++) {
        check_kind(400, overflows[i], "overflow");
        in_capitals(overflows[i], capitals, sizeof capitals);
        check_kind(400, capitals, "overflow");
    }
}

TEST(each_phrase_of_overflow_is_known_in_an_error_message_of_the_history) {
    char words[240];
    phi_message message;
    size_t i;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_ASSISTANT;
    message.stop_reason = PHI_STOP_REASON_ERROR;
    for (i = 0; i < sizeof overflows / sizeof overflows[0]; i++) {
        if (!CHECK(phi__classify_is_overflow_text(phi_str_of(overflows[i]))))
            printf("  %s\n", overflows[i]);
        (void)snprintf(words, sizeof words, "API error: %s", overflows[i]);
        message.error_message = phi_str_of(words);
        if (!CHECK(phi_message_is_overflow(&message))) printf("  %s\n", words);
    }
    message.error_message = phi_str_of("Context overflow: HTTP 413 without a body");
    CHECK(phi_message_is_overflow(&message));
    message.stop_reason = PHI_STOP_REASON_STOP; /* an answer that speaks of it is none */
    CHECK(!phi_message_is_overflow(&message));
    message.stop_reason = PHI_STOP_REASON_ERROR;
    message.role = PHI_ROLE_USER;
    CHECK(!phi_message_is_overflow(&message));
    message.role = PHI_ROLE_ASSISTANT;
    message.error_message = phi_str_of("Network error: the connection was cut");
    CHECK(!phi_message_is_overflow(&message));
    CHECK(!phi_message_is_overflow(NULL));
}

TEST(no_phrase_makes_a_429_or_a_throttled_request_an_overflow) {
    char words[240];
    size_t i;
    for (i = 0; i < sizeof overflows / sizeof overflows[0]; i++) {
        check_kind(429, overflows[i], "rate_limited");
        (void)snprintf(words, sizeof words, "Request was throttled: %s", overflows[i]);
        check_kind(400, words, "rate_limited");
        CHECK(!phi__classify_is_overflow_text(phi_str_of(words)));
        (void)snprintf(words, sizeof words, "Rate limited, retry after 5000ms: %s", overflows[i]);
        CHECK(!phi__classify_is_overflow_text(phi_str_of(words)));
        check_kind(500, overflows[i], "server");
    }
    check_kind(400, "Too many tokens, please wait before trying again.", "rate_limited");
    CHECK(!phi__classify_is_overflow_text(phi_str_of("Too many tokens per minute")));
}

/* "exceeds the maximum" and "exceeds the limit of" alone are said of many things that a shorter history
   does not change; "too many tokens" and "token limit exceeded" are of the prompt only in a 400. */
TEST(what_exceeds_another_maximum_is_no_overflow) {
    static const char *const others[] = {
        "Number of tools exceeds the maximum of 128",
        "max_tokens: 100000 exceeds the maximum of 8192",
        "max_completion_tokens exceeds the limit of 16384",
        "The requested maxOutputTokens exceeds the maximum",
        "thinking.budget_tokens exceeds the maximum of 32000",
        "the number of output tokens exceeds the limit of 4096",
        "image exceeds the maximum size of 5 MB",
        "messages.1.content.0.image: token count exceeds the maximum for an image",
        "the file exceeds the limit of 20 MB",
        "prompt_cache_key exceeds the maximum length of 64",
        "temperature exceeds the maximum of 2",
    };
    size_t i;
    for (i = 0; i < sizeof others / sizeof others[0]; i++) {
        check_kind(400, others[i], "invalid_request");
        CHECK(!phi__classify_is_overflow_text(phi_str_of(others[i])));
    }
    check_kind(422, "too many tokens", "invalid_request");
    check_kind(422, "token limit exceeded", "invalid_request");
    check_kind(422, "prompt is too long", "overflow");
}

static void check_stream(const char *protocol, const char *text, const char *kind, bool retryable) {
    stream s;
    bool same;
    stream_of(&s, protocol, text);
    same = CHECK_EQ_STR(phi_failure_kind_text(s.assembly.failure.kind), kind);
    same = CHECK_EQ_INT(s.assembly.failure.retryable, retryable) && same;
    if (!same) printf("  %s: %s\n", protocol, text);
    stream_free(&s);
}

#define CHAT_SAID                                                                                  \
    "data: "                                                                                       \
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":null}]}\n\n"

TEST(an_error_in_a_stream_that_names_429_or_a_rate_limit_is_rate_limited) {
    static const char *const errors[] = {
        "{\"error\":{\"message\":\"slow down\",\"code\":429}}",
        "{\"error\":{\"message\":\"slow down\",\"code\":\"429\"}}",
        "{\"error\":{\"message\":\"slow down\",\"code\":\"rate_limit_exceeded\"}}",
        "{\"error\":{\"message\":\"slow down\",\"type\":\"rate_limit_error\"}}",
        "{\"error\":{\"message\":\"You have hit the Rate Limit of this model\"}}",
        "{\"error\":{\"message\":\"Too many requests\"}}",
        "{\"error\":{\"message\":\"Upstream answered 429.\"}}",
        "{\"error\":{\"message\":\"HTTP 429: slow down\"},\"status_code\":0}",
        "{\"error\":{\"message\":\"slow down\"},\"status_code\":429}",
    };
    char text[600];
    size_t i;
    for (i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        (void)snprintf(text, sizeof text, "data: %s\n\n", errors[i]);
        check_stream("openai", text, "rate_limited", true);
        (void)snprintf(text, sizeof text, CHAT_SAID "data: %s\n\ndata: [DONE]\n\n", errors[i]);
        check_stream("openai", text, "rate_limited", true);
    }
    check_stream("anthropic",
                 "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\","
                 "\"message\":\"x\"}}\n\n",
                 "rate_limited", true);
}

/* The checklist calls these errors of the network; ours are of the server, and as retryable. */
TEST(an_error_in_a_stream_that_names_502_503_or_504_may_be_tried_again) {
    static const char *const errors[] = {
        "{\"error\":{\"message\":\"bad gateway\",\"code\":502}}",
        "{\"error\":{\"message\":\"unavailable\",\"code\":503}}",
        "{\"error\":{\"message\":\"late\",\"code\":504}}",
        "{\"error\":{\"message\":\"late\",\"code\":\"504\"}}",
        "{\"error\":{\"message\":\"502 Bad Gateway\"}}",
        "{\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\"}}",
        "{\"error\":{\"message\":\"who knows\"}}",
    };
    char text[400];
    size_t i;
    for (i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        (void)snprintf(text, sizeof text, CHAT_SAID "data: %s\n\n", errors[i]);
        check_stream("openai", text, "server", true);
    }
    check_stream("anthropic",
                 "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                 "\"message\":\"Overloaded\"}}\n\n",
                 "server", true);
}

TEST(an_overflow_in_a_stream_is_an_overflow_whatever_its_numbers) {
    check_stream("anthropic",
                 "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
                 "\"invalid_request_error\",\"message\":\"prompt is too long: 208310 tokens > "
                 "200000 maximum\"}}\n\n",
                 "overflow", false);
    check_stream("openai",
                 "data: {\"error\":{\"message\":\"context_length_exceeded\",\"code\":400}}\n\n",
                 "overflow", false);
    check_stream("openai",
                 "data: {\"error\":{\"message\":\"prompt is too long: 429 tokens > 400\"}}\n\n",
                 "overflow", false);
    check_stream("openai",
                 "data: {\"error\":{\"message\":\"prompt is too long: 1,429 > 1,400\"}}\n\n",
                 "overflow", false);
}

TEST_MAIN(TEST_ENTRY(keys_come_before_money_before_size_before_pace_before_words),
          TEST_ENTRY(a_blank_400_is_an_overflow_only_where_the_provider_is_known_for_it),
          TEST_ENTRY(pace_and_a_server_s_trouble_may_pass_and_nothing_else),
          TEST_ENTRY(each_phrase_of_overflow_is_known_in_whatever_case),
          TEST_ENTRY(each_phrase_of_overflow_is_known_in_an_error_message_of_the_history),
          TEST_ENTRY(no_phrase_makes_a_429_or_a_throttled_request_an_overflow),
          TEST_ENTRY(what_exceeds_another_maximum_is_no_overflow),
          TEST_ENTRY(an_error_in_a_stream_that_names_429_or_a_rate_limit_is_rate_limited),
          TEST_ENTRY(an_error_in_a_stream_that_names_502_503_or_504_may_be_tried_again),
          TEST_ENTRY(an_overflow_in_a_stream_is_an_overflow_whatever_its_numbers))
