/* test_many_items.c - one event that lists more calls or items than an answer can have: each is
   compared with all blocks, so the rest of the list is not read. */
#include "wire/wire_support.h"

#define CHAT PHI_PROTOCOL_OPENAI_CHAT
#define RESPONSES PHI_PROTOCOL_OPENAI_RESPONSES

enum { MOST = 1024, TEXT_BYTES = 200000 };

static char text[TEXT_BYTES];
static size_t len;

static void put(const char *words) {
    size_t n = strlen(words);
    REQUIRE(len + n < sizeof text);
    memcpy(text + len, words, n + 1);
    len += n;
}

static void event(const char *head, const char *element, size_t times, const char *tail) {
    size_t i;
    put(head);
    for (i = 0; i < times; i++) {
        if (i > 0) put(",");
        put(element);
    }
    put(tail);
}

static void chat(size_t times) {
    len = 0;
    event("data: {\"choices\":[{\"delta\":{\"tool_calls\":[",
          "{\"index\":0,\"function\":{\"name\":\"look\",\"arguments\":\"x\"}}", times, "]}}]}\n\n");
}

static size_t arguments(const stream *s) { return s->assembly.drafts[0].bytes.len; }

TEST(one_event_of_chat_completions_has_at_most_1024_calls) {
    stream s;
    stream_begin(&s, CHAT);
    chat(MOST);
    stream_text(&s, text);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    CHECK_EQ_INT(arguments(&s), MOST);
    chat(MOST + 1);
    stream_text(&s, text);
    CHECK_STR(s.assembly.failure.code, "too_many_blocks");
    CHECK_EQ_INT(arguments(&s), 2 * MOST);
    stream_free(&s);
}

TEST(calls_of_chat_completions_are_not_read_after_the_answer_has_failed) {
    stream s;
    stream_begin(&s, CHAT);
    chat(MOST + 1);
    stream_text(&s, text);
    CHECK_STR(s.assembly.failure.code, "too_many_blocks");
    chat(1);
    stream_text(&s, text);
    CHECK_EQ_INT(arguments(&s), MOST);
    stream_free(&s);
}

static void responses(size_t times) {
    len = 0;
    put("data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":"
        "\"message\",\"id\":\"m\"}}\n\n");
    event("data: {\"type\":\"response.completed\",\"response\":{\"output\":[",
          "{\"type\":\"function_call\",\"id\":\"f\"}", times, "]}}\n\n");
}

TEST(the_output_of_a_response_has_at_most_1024_items) {
    stream s;
    stream_begin(&s, RESPONSES);
    responses(MOST);
    stream_text(&s, text);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    stream_free(&s);
    stream_begin(&s, RESPONSES);
    responses(MOST + 1);
    stream_text(&s, text);
    CHECK_STR(s.assembly.failure.code, "too_many_blocks");
    CHECK_EQ_INT(s.assembly.count, 1);
    stream_free(&s);
}

TEST_MAIN(TEST_ENTRY(one_event_of_chat_completions_has_at_most_1024_calls),
          TEST_ENTRY(calls_of_chat_completions_are_not_read_after_the_answer_has_failed),
          TEST_ENTRY(the_output_of_a_response_has_at_most_1024_items))
