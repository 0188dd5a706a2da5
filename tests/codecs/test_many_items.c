/* test_many_items.c - one event that lists more calls or items than an answer can have: each looks
   for its block, so the rest of the list is not read. And what looking costs: numbers are compared,
   not what a server sent. */
#include "wire/wire_support.h"

#include "codecs/openai_in.h"
#include "wire/wire_in.h"

static size_t read_bytes, compared;

static phi_status count_find(phi_str text, const char *path, phi__json_found *found) {
    read_bytes += text.len;
    return phi__json_cursor_find(text, path, found);
}

static bool count_equal(phi_str a, phi_str b) {
    compared++;
    return phi_str_equal(a, b);
}

#define phi__json_cursor_find count_find
#define phi_str_equal count_equal
#include "codecs/openai_responses.c"
#include "wire/assembly.c"
#undef phi_str_equal
#undef phi__json_cursor_find

#define CHAT PHI_PROTOCOL_OPENAI_CHAT
#define RESPONSES PHI_PROTOCOL_OPENAI_RESPONSES

enum { MOST = 1024, ITEMS = 500, TEXT_BYTES = 200000 };

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

static void item(const char *type, const char *member, size_t i, const char *tail) {
    char words[160];
    (void)snprintf(words, sizeof words, "{\"type\":\"%s\",\"%s\":\"%04u\"%s}", type, member,
                   (unsigned)i, tail);
    put(words);
}

static void done_item(const char *type, const char *member, size_t i) {
    char words[80];
    (void)snprintf(
        words, sizeof words,
        "data: {\"type\":\"response.output_item.done\",\"output_index\":%u,\"item\":", (unsigned)i);
    put(words);
    item(type, member, i, "");
    put("}\n\n");
}

/* The items from `from` on, in the event that ends the answer. */
static void completed(const char *type, const char *member, size_t from, const char *tail) {
    size_t i;
    put("data: {\"type\":\"response.completed\",\"response\":{\"output\":[");
    for (i = 0; i < ITEMS; i++) {
        if (i > 0) put(",");
        item(type, member, from + i, tail);
    }
    put("]}}\n\n");
}

TEST(encrypted_thinking_that_comes_late_finds_its_block_by_a_hash) {
    stream s;
    size_t i;
    stream_begin(&s, RESPONSES);
    len = 0;
    for (i = 0; i < ITEMS; i++) done_item("reasoning", "id", i);
    completed("reasoning", "id", 7, ",\"encrypted_content\":\"e\"");
    read_bytes = 0;
    stream_text(&s, text);
    CHECK(read_bytes > 0 && read_bytes <= len);
    REQUIRE(s.assembly.count == ITEMS);
    for (i = 0; i < ITEMS; i++) {
        const phi__buf *kept = &s.assembly.drafts[i].signature;
        bool full = phi__str_find(phi__buf_str(kept), 0, "encrypted_content") != SIZE_MAX;
        CHECK(full == (i >= 7));
    }
    stream_free(&s);
}

TEST(items_of_other_types_without_an_id_are_known_by_a_hash_of_their_json) {
    stream s;
    size_t i;
    stream_begin(&s, RESPONSES);
    len = 0;
    for (i = 0; i < ITEMS; i++) done_item("thing", "what", i);
    completed("thing", "what", 7, "");
    compared = 0;
    stream_text(&s, text);
    CHECK_EQ_INT(compared, 0);
    CHECK_EQ_INT(s.assembly.count, ITEMS + 7); /* seven are new */
    stream_free(&s);
}

TEST(ids_of_calls_are_compared_where_their_hashes_are_the_same) {
    char words[120];
    stream s;
    size_t i;
    stream_begin(&s, CHAT);
    len = 0;
    put("data: {\"choices\":[{\"delta\":{\"tool_calls\":[");
    for (i = 0; i <= ITEMS; i++) {
        (void)snprintf(words, sizeof words,
                       "%s{\"index\":%u,\"id\":\"call_%u\",\"function\":{\"name\":\"look\"}}",
                       i > 0 ? "," : "", (unsigned)i, (unsigned)(i == ITEMS ? 3 : i));
        put(words);
    }
    put("]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n");
    compared = 0;
    stream_text(&s, text);
    stream_end(&s);
    CHECK_EQ_INT(compared, 1);
    REQUIRE(s.assembly.count == ITEMS + 1);
    CHECK_STR(phi__buf_str(&s.assembly.drafts[3].id), "call_3");
    CHECK(!phi__str_is(phi__buf_str(&s.assembly.drafts[ITEMS].id), "call_3"));
    stream_free(&s);
}

/* Calls without an index are found by their ids, escaped or not. */
TEST(a_call_without_an_index_is_found_by_its_id_however_it_is_escaped) {
    stream s;
    stream_begin(&s, CHAT);
    stream_text(&s, "data: {\"choices\":[{\"delta\":{\"tool_calls\":["
                    "{\"id\":\"c/1\",\"function\":{\"name\":\"look\",\"arguments\":\"{\"}},"
                    "{\"id\":\"c/2\",\"function\":{\"name\":\"look\",\"arguments\":\"{\"}},"
                    "{\"id\":\"c\\/1\",\"function\":{\"arguments\":\"}\"}}]}}]}\n\n");
    REQUIRE(s.assembly.count == 2);
    CHECK_STR(phi__buf_str(&s.assembly.drafts[0].bytes), "{}");
    CHECK_STR(phi__buf_str(&s.assembly.drafts[1].bytes), "{");
    stream_free(&s);
}

static void parts(size_t times) {
    len = 0;
    event("data: {\"choices\":[{\"delta\":{\"content\":[", "{\"type\":\"text\",\"text\":\"x\"}",
          times, "]}}]}\n\n");
}

static void details(size_t times) {
    len = 0;
    event("data: {\"choices\":[{\"delta\":{\"reasoning_details\":[",
          "{\"type\":\"reasoning.text\",\"text\":\"x\"}", times, "]}}]}\n\n");
}

static void thoughts(size_t times) {
    len = 0;
    event("data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[",
          "{\"type\":\"text\",\"text\":\"x\"}", times, "]}]}}]}\n\n");
}

static void members(size_t times) {
    len = 0;
    event("data: {\"choices\":[{\"delta\":{", "\"a\":[1],\"b\":[1]", times, "}}]}\n\n");
}

static void steps(size_t times) {
    len = 0;
    event("data: {\"event_type\":\"interaction.completed\",\"interaction\":{\"status\":"
          "\"completed\",\"steps\":[",
          "{\"type\":\"model_output\",\"content\":[]}", times, "]}}\n\n");
}

static void outputs(size_t times) {
    len = 0;
    event("data: {\"event_type\":\"interaction.completed\",\"interaction\":{\"status\":"
          "\"completed\",\"steps\":[{\"type\":\"model_output\",\"content\":[",
          "{\"type\":\"text\",\"text\":\"\"}", times, "]}]}}\n\n");
}

static void has_at_most(const char *protocol, void (*fill)(size_t), size_t most) {
    size_t i;
    for (i = 0; i < 2; i++) {
        stream s;
        stream_begin(&s, protocol);
        fill(most + i);
        stream_text(&s, text);
        CHECK_STR(s.assembly.failure.code, i == 0 ? "" : "too_many_blocks");
        stream_free(&s);
    }
}

TEST(one_event_has_at_most_1024_elements_that_look_for_their_block) {
    has_at_most(CHAT, parts, MOST);
    has_at_most(CHAT, details, MOST);
    has_at_most(CHAT, thoughts, MOST - 1); /* and the part that they are in */
    has_at_most(CHAT, members, MOST / 2);
    has_at_most(PHI_PROTOCOL_INTERACTIONS, steps, MOST);
    has_at_most(PHI_PROTOCOL_INTERACTIONS, outputs, MOST);
}

TEST_MAIN(TEST_ENTRY(one_event_of_chat_completions_has_at_most_1024_calls),
          TEST_ENTRY(calls_of_chat_completions_are_not_read_after_the_answer_has_failed),
          TEST_ENTRY(the_output_of_a_response_has_at_most_1024_items),
          TEST_ENTRY(encrypted_thinking_that_comes_late_finds_its_block_by_a_hash),
          TEST_ENTRY(items_of_other_types_without_an_id_are_known_by_a_hash_of_their_json),
          TEST_ENTRY(ids_of_calls_are_compared_where_their_hashes_are_the_same),
          TEST_ENTRY(a_call_without_an_index_is_found_by_its_id_however_it_is_escaped),
          TEST_ENTRY(one_event_has_at_most_1024_elements_that_look_for_their_block))
