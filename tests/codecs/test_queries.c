/* test_queries.c - addresses, bodies and answers of the endpoints beside model calls, as text in and
   text out. */
#include "codecs/codecs_in.h"
#include "wire/wire_support.h"
#include "support/codec_of.h"

#include <stdlib.h>

typedef struct bench {
    phi_memory memory;
    phi_arena arena;
    phi__buf out;
    const phi__queries *q;
    char seen[400];
} bench;

static void bench_begin(bench *b, const char *protocol) {
    phi_allocator allocator = test_allocator();
    memset(b, 0, sizeof *b);
    phi_memory_init(&b->memory, &allocator, 0);
    phi_arena_init(&b->arena, &b->memory, 0);
    phi__buf_init(&b->out, &b->memory);
    b->q = phi__queries_of(codec_of(protocol));
    CHECK(b->q != NULL);
}

static void bench_end(bench *b) {
    phi__buf_free(&b->out);
    phi_arena_free(&b->arena);
}

static void check_url(const char *protocol, const char *call, const char *page, const char *list,
                      const char *count) {
    bench b;
    bench_begin(&b, protocol);
    CHECK_EQ_INT(phi__queries_models_url(b.q, phi_str_of(call), phi_str_of(page), &b.out),
                 list != NULL);
    if (list != NULL) CHECK_STR(phi__buf_str(&b.out), list);
    phi__buf_clear(&b.out);
    CHECK_EQ_INT(phi__queries_count_url(b.q, phi_str_of(call), &b.out), count != NULL);
    if (count != NULL) CHECK_STR(phi__buf_str(&b.out), count);
    bench_end(&b);
}

TEST(an_address_is_that_of_a_model_call_with_another_end) {
    check_url(PHI_PROTOCOL_ANTHROPIC, "https://h/messages/v1/messages?a=1&b=2", "x/y",
              "https://h/messages/v1/models?a=1&b=2&limit=1000&after_id=x%2Fy",
              "https://h/messages/v1/messages/count_tokens?a=1&b=2");
    check_url(PHI_PROTOCOL_OPENAI_CHAT, "http://h/v1/chat/completions", "", "http://h/v1/models",
              NULL);
    check_url(PHI_PROTOCOL_GOOGLE, "https://h/v1beta/models/m:streamGenerateContent?key=k&alt=sse",
              "", "https://h/v1beta/models?key=k&pageSize=1000",
              "https://h/v1beta/models/m:countTokens?key=k");
    check_url(PHI_PROTOCOL_GOOGLE, "https://h/v1beta/models/m:streamGenerateContent?alt=sse", "",
              "https://h/v1beta/models?pageSize=1000", "https://h/v1beta/models/m:countTokens");
    check_url(PHI_PROTOCOL_BEDROCK,
              "https://bedrock-runtime-fips.us-east-1.amazonaws.com/model/"
              "a%2Fb/converse-stream",
              "", "https://bedrock-fips.us-east-1.amazonaws.com/foundation-models",
              "https://bedrock-runtime-fips.us-east-1.amazonaws.com/model/a%2Fb/count-tokens");
    check_url(PHI_PROTOCOL_VERTEX, "https://h/publishers/google/models/m:streamGenerateContent", "",
              NULL, "https://h/publishers/google/models/m:countTokens");
    check_url(PHI_PROTOCOL_INTERACTIONS, "https://h/v1beta/interactions", "p",
              "https://h/v1beta/models?pageSize=1000&pageToken=p", NULL);
    check_url(PHI_PROTOCOL_ANTHROPIC, "https://h/nowhere", "", NULL, NULL);
}

static void check_members(const char *protocol, const char *body, const char *want) {
    bench b;
    phi_str out = {NULL, 0};
    char *copy = (char *)malloc(strlen(body) + 1);
    if (copy == NULL) abort();
    memcpy(copy, body, strlen(body) + 1);
    bench_begin(&b, protocol);
    CHECK_EQ_INT(phi__queries_members(b.q, copy, strlen(body), &out), want != NULL);
    if (want != NULL) CHECK_STR(out, want);
    bench_end(&b);
    free(copy);
}

TEST(a_count_keeps_the_members_that_its_endpoint_takes_byte_for_byte) {
    check_members(PHI_PROTOCOL_ANTHROPIC,
                  "{\"stream\":true,\"model\":\"m\", \"max_tokens\" : 5 ,\"messages\" : [{\"a\": "
                  "\"}\\\"\"}] ,\"temperature\":1}",
                  "\"model\":\"m\",\"messages\":[{\"a\": \"}\\\"\"}]");
    check_members(PHI_PROTOCOL_ANTHROPIC, "{\"mod\\u0065l\":\"m\"}", "\"mod\\u0065l\":\"m\"");
    check_members(PHI_PROTOCOL_ANTHROPIC, "{}", "");
    check_members(PHI_PROTOCOL_ANTHROPIC, "{\"stream\":true}", "");
    check_members(PHI_PROTOCOL_GOOGLE, "{\"contents\":[],\"any\":{}}",
                  "\"contents\":[],\"any\":{}");
    check_members(PHI_PROTOCOL_ANTHROPIC, "[]", NULL);
    check_members(PHI_PROTOCOL_ANTHROPIC, "{\"model\":", NULL);
}

static bool note(void *ctx, const phi_model_info *info) {
    bench *b = (bench *)ctx;
    size_t n = strlen(b->seen);
    (void)snprintf(b->seen + n, sizeof b->seen - n, "[%.*s|%.*s|%u|%u|%s]", (int)info->id.len,
                   info->id.at, (int)info->name.len, info->name.at, (unsigned)info->context_window,
                   (unsigned)info->max_tokens,
                   !info->reasoning_known ? "?"
                   : info->reasoning      ? "yes"
                                          : "no");
    return true;
}

static void check_page(const char *body, phi_status status, const char *seen, const char *next) {
    bench b;
    phi_str cursor;
    bench_begin(&b, PHI_PROTOCOL_ANTHROPIC);
    CHECK_EQ_INT(phi__queries_page(b.q, phi_str_of(body), &b.arena, note, &b, &cursor), status);
    if (status == PHI_OK) CHECK_EQ_STR(b.seen, seen);
    CHECK_STR(cursor, next);
    bench_end(&b);
}

TEST(a_page_is_read_whatever_the_provider_calls_things_and_odd_values_are_left_out) {
    check_page("{\"data\":[]}", PHI_OK, "", "");
    check_page("[]", PHI_OK, "", "");
    check_page(
        "{\"data\":[1,null,\"x\",[],{},{\"id\":\"\"},{\"id\":7},{\"id\":\"a\",\"max_tokens\":"
        "-1,\"context_length\":1.5,\"name\":null}]}",
        PHI_OK, "[a||0|0|?]", "");
    check_page("{\"data\":[{\"id\":\"a\",\"name\":\"A\",\"context_window\":9,"
               "\"max_completion_tokens\":4,\"supported_parameters\":[\"tools\"]}]}",
               PHI_OK, "[a|A|9|4|no]", "");
    check_page("{\"last_id\":\"z\\u0041\",\"has_more\":true,\"data\":[{\"id\":\"a\"}]}", PHI_OK,
               "[a||0|0|?]", "zA");
    check_page("{\"last_id\":null,\"has_more\":true,\"data\":[]}", PHI_OK, "", "");
    check_page("{\"last_id\":\"z\",\"has_more\":false,\"data\":[]}", PHI_OK, "", "");
    check_page("{\"models\":7,\"data\":[{\"id\":\"a\"}]}", PHI_OK, "[a||0|0|?]", "");
    check_page("{\"data\":null}", PHI_PARSE, "", "");
}

/* Any bytes in place of some: no crash, no leak, and nothing but the two statuses. */
TEST(a_spoilt_page_is_read_or_refused) {
    static const char page[] =
        "{\"data\":[{\"id\":\"a\",\"display_name\":\"A\",\"capabilities\":{\"thinking\":"
        "{\"supported\":true}},\"top_provider\":{\"max_completion_tokens\":5}}],\"has_more\":true,"
        "\"last_id\":\"a\"}";
    uint32_t random = 7;
    int i, k;
    for (i = 0; i < 20000; i++) {
        char spoilt[sizeof page];
        bench b;
        phi_str cursor;
        phi_status status;
        memcpy(spoilt, page, sizeof page);
        for (k = 0; k < 1 + i % 3; k++) {
            random = random * 1664525u + 1013904223u;
            spoilt[(random >> 8) % (sizeof page - 1)] = "{}[]\",:0\\ntf \x80"[(random >> 20) % 14];
        }
        bench_begin(&b, PHI_PROTOCOL_ANTHROPIC);
        status =
            phi__queries_page(b.q, phi__str(spoilt, sizeof page - 1), &b.arena, note, &b, &cursor);
        CHECK(status == PHI_OK || status == PHI_PARSE);
        bench_end(&b);
    }
}

TEST_MAIN(TEST_ENTRY(an_address_is_that_of_a_model_call_with_another_end),
          TEST_ENTRY(a_count_keeps_the_members_that_its_endpoint_takes_byte_for_byte),
          TEST_ENTRY(a_page_is_read_whatever_the_provider_calls_things_and_odd_values_are_left_out),
          TEST_ENTRY(a_spoilt_page_is_read_or_refused))
