/* test_message.c - messages: their JSON both ways, copies, text. */
#include "model/event.h"
#include "model/failure.h"
#include "model/message.h"
#include "support/test.h"
#include "text/json.h"
#include "model/model_in.h"

#include <stdio.h>

static phi_memory memory;
static phi_arena arena;

static void begin(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void end(void) { phi_arena_free(&arena); }

static void check_json(const phi_message *message, const char *want) {
    phi_str json = {NULL, 0};
    CHECK_EQ_INT(phi_message_to_json(message, &arena, &json), PHI_OK);
    CHECK_STR(json, want);
}

/* Reads a text and writes it again. */
static void check_round_trip(const char *text, const char *want) {
    phi_message message;
    phi_parse_error error;
    if (CHECK_EQ_INT(phi_message_from_json(phi_str_of(text), &arena, &message, &error), PHI_OK))
        check_json(&message, want);
    else
        printf("%s\n", error.message);
}

static void check_refused(const char *text, const char *words) {
    phi_message message;
    phi_parse_error error;
    CHECK_EQ_INT(phi_message_from_json(phi_str_of(text), &arena, &message, &error), PHI_PARSE);
    CHECK_EQ_STR(error.message, words);
}

TEST(a_user_message_has_the_interchange_shape) {
    static const char text[] =
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"},{\"type\":\"image\","
        "\"data\":\"iVB=\",\"mimeType\":\"image/png\"}],\"timestamp\":1763700000123,"
        "\"turnId\":{\"loopId\":\"s.m.1\",\"turnIndex\":3}}";
    begin();
    check_round_trip(text, text);
    end();
}

TEST(an_assistant_message_has_the_interchange_shape) {
    static const char text[] =
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
        "\"signature\":\"s\"},{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":\"bash\","
        "\"arguments\":{\"command\":\"ls\"}}],\"stopReason\":\"toolUse\",\"model\":\"m\","
        "\"provider\":\"p\",\"usage\":{\"input\":1,\"output\":2,\"reasoning\":3,\"cache_read\":4,"
        "\"cache_write\":5,\"total_tokens\":12},\"error_message\":\"e\",\"timestamp\":1}";
    begin();
    check_round_trip(text, text);
    end();
}

TEST(a_tool_result_has_the_interchange_shape) {
    static const char text[] =
        "{\"role\":\"toolResult\",\"toolCallId\":\"c1\",\"toolName\":\"bash\",\"content\":[{"
        "\"type\":\"text\",\"text\":\"ok\"}],\"isError\":true,\"timestamp\":1}";
    begin();
    check_round_trip(text, text);
    end();
}

TEST(an_extension_has_the_interchange_shape) {
    static const char text[] = "{\"role\":\"extension\",\"kind\":\"k\",\"data\":{\"a\":[1,2]}}";
    begin();
    check_round_trip(text, text);
    end();
}

TEST(an_extension_keeps_its_role) {
    static const char *const texts[] = {"{\"role\":\"ui\",\"kind\":\"k\",\"data\":{\"a\":[1,2]}}",
                                        "{\"role\":\"user\",\"kind\":\"k\",\"data\":null}",
                                        "{\"role\":\"\",\"kind\":\"k\",\"data\":1}"};
    phi_message message;
    begin();
    check_round_trip(texts[0], texts[0]);
    check_round_trip(texts[1], texts[1]);
    check_round_trip(texts[2], "{\"role\":\"extension\",\"kind\":\"k\",\"data\":1}");
    CHECK_EQ_INT(phi_message_from_json(phi_str_of(texts[1]), &arena, &message, NULL), PHI_OK);
    CHECK_EQ_INT(message.role, PHI_ROLE_EXTENSION);
    CHECK_STR(message.extra->role, "user");
    CHECK_EQ_INT(phi_message_from_json(phi_str_of("{\"role\":\"user\",\"kind\":\"k\",\"data\":1,"
                                                  "\"content\":[]}"),
                                       &arena, &message, NULL),
                 PHI_OK);
    CHECK_EQ_INT(message.role, PHI_ROLE_USER); /* a message first of all, as in the original */
    end();
}

TEST(what_the_original_keeps_with_a_message_is_carried) {
    static const char text[] =
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"timestamp\":5,"
        "\"turnId\":{\"loopId\":\"s.m.1\",\"turnIndex\":3},\"nodeId\":18446744073709551615,"
        "\"parentId\":0,\"tags\":[{\"kind\":\"lesson\",\"text\":\"x\"},\"y\"],"
        "\"provenanceHint\":{\"kind\":\"steering\"}}";
    static const char plain[] = "{\"role\":\"user\",\"content\":[],\"timestamp\":5}";
    phi_message message, *copy;
    begin();
    check_round_trip(text, text);
    CHECK_EQ_INT(phi_message_from_json(phi_str_of(text), &arena, &message, NULL), PHI_OK);
    REQUIRE(CHECK(message.extra != NULL));
    CHECK_STR(message.extra->parent_id, "0");
    copy = phi_message_copy(&message, &arena);
    REQUIRE(copy != NULL && copy->extra != NULL && copy->extra != message.extra);
    check_json(copy, text);
    CHECK_EQ_INT(phi_message_from_json(phi_str_of(plain), &arena, &message, NULL), PHI_OK);
    CHECK(message.extra == NULL);
    check_round_trip("{\"role\":\"user\",\"content\":[],\"timestamp\":5,\"nodeId\":\"n4\","
                     "\"parentId\":-1,\"tags\":[],\"provenanceHint\":null}",
                     plain); /* malformed or empty: absent */
    check_round_trip("{\"role\":\"ui\",\"kind\":\"k\",\"data\":1,\"nodeId\":7,\"tags\":[1]}",
                     "{\"role\":\"ui\",\"kind\":\"k\",\"data\":1,\"nodeId\":7,\"tags\":[1]}");
    end();
}

TEST(what_the_interchange_does_not_name_survives_too) {
    static const char text[] =
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"\","
        "\"signature\":\"d\",\"redacted\":true,\"replay\":{\"x\":[1]}},{\"type\":\"toolCall\","
        "\"id\":\"c\",\"name\":\"n\",\"arguments\":\"{\\\"a\",\"signature\":\"g\",\"incomplete\":"
        "true}],"
        "\"stopReason\":\"error\",\"model\":\"m\",\"provider\":\"p\",\"api\":\"anthropic_"
        "messages\","
        "\"usage\":{\"input\":0,\"output\":0,\"reasoning\":0,\"cache_read\":0,\"cache_write\":0,"
        "\"total_tokens\":0},\"timestamp\":0}";
    begin();
    check_round_trip(text, text);
    end();
}

TEST(documents_and_audio_have_a_shape_of_our_own) {
    static const char text[] =
        "{\"role\":\"user\",\"content\":[{\"type\":\"document\",\"name\":\"Report\",\"data\":"
        "\"JVBERi0=\",\"mimeType\":\"application/"
        "pdf\"},{\"type\":\"document\",\"text\":\"one\\ntwo\"},"
        "{\"type\":\"document\",\"url\":\"https://a.example/b.pdf\"},{\"type\":\"audio\",\"data\":"
        "\"UklGRg==\",\"mimeType\":\"audio/wav\"}],\"timestamp\":1}";
    phi_message m, *copy;
    begin();
    check_round_trip(text, text);
    REQUIRE(phi_message_from_json(phi_str_of(text), &arena, &m, NULL) == PHI_OK);
    copy = phi_message_copy(&m, &arena);
    REQUIRE(copy != NULL && copy->content_count == 4);
    CHECK_EQ_INT(copy->content[0].kind, PHI_CONTENT_DOCUMENT);
    CHECK_STR(copy->content[0].name, "Report");
    CHECK_STR(copy->content[0].data, "JVBERi0=");
    CHECK_STR(copy->content[0].mime_type, "application/pdf");
    CHECK_STR(copy->content[1].text, "one\ntwo");
    CHECK_STR(copy->content[2].url, "https://a.example/b.pdf");
    CHECK(copy->content[2].url.at != m.content[2].url.at);
    CHECK_EQ_INT(copy->content[3].kind, PHI_CONTENT_AUDIO);
    CHECK_STR(copy->content[3].data, "UklGRg==");
    check_json(copy, text);
    end();
}

/* Written and read. */
static void check_arguments(const char *text, const char *want) {
    phi_message message, back;
    phi_content call;
    phi_str json;
    memset(&message, 0, sizeof message);
    memset(&call, 0, sizeof call);
    call.kind = PHI_CONTENT_TOOL_CALL;
    call.arguments = phi_str_of(text);
    message.role = PHI_ROLE_ASSISTANT;
    message.content = &call;
    message.content_count = 1;
    CHECK_EQ_INT(phi_message_to_json(&message, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_message_from_json(json, &arena, &back, NULL), PHI_OK);
    CHECK_STR(back.content[0].arguments, want);
}

TEST(arguments_that_are_no_object_are_kept_as_they_are) {
    static const char *const kept[] = {"{\"cut", "\"a string\"", "[1,2]", "null", "{}", "not json"};
    size_t i;
    begin();
    for (i = 0; i < sizeof kept / sizeof kept[0]; i++) check_arguments(kept[i], kept[i]);
    end();
}

TEST(arguments_that_are_a_string_keep_their_quotes) {
    static const char *const values[] = {"\"ls\"",
                                         "\"\"",
                                         "\"{\\\"a\\\":1}\"",
                                         "\"5\"",
                                         "\"\\\"5\\\"\"",
                                         "\"\\\"\\\"\"",
                                         "\"\\\"ls\\\"\"",
                                         "\"null\"",
                                         "\"{\"",
                                         "{}",
                                         "7",
                                         "null"};
    static const char *const texts[] = {"ls",     "\"ls\"", "\"\"",          "\"\\\"\\\"\"",
                                        "\"5\"",  "5",      "\"\\\"5\\\"\"", "{\"a\":1}",
                                        "\"{}\"", "{",      "\"{\"",         "\"\\\"ls\\\"\""};
    size_t i;
    begin();
    for (i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       "{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"id\":\"c\","
                       "\"name\":\"n\",\"arguments\":%s}],\"stopReason\":\"stop\",\"model\":\"m\","
                       "\"provider\":\"p\",\"usage\":{\"input\":0,\"output\":0,\"reasoning\":0,"
                       "\"cache_read\":0,\"cache_write\":0,\"total_tokens\":0},\"timestamp\":1}",
                       values[i]);
        check_round_trip(text, text);
    }
    for (i = 0; i < sizeof texts / sizeof texts[0]; i++) check_arguments(texts[i], texts[i]);
    end();
}

TEST(reading_takes_what_is_missing_as_absent) {
    phi_message m;
    begin();
    CHECK_EQ_INT(phi_message_from_json(
                     phi_str_of("{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"new\","
                                "\"usage\":{\"input\":1,\"output\":2},\"turnId\":7,\"nodeId\":3}"),
                     &arena, &m, NULL),
                 PHI_OK);
    CHECK_EQ_INT(m.stop_reason, PHI_STOP_REASON_STOP);
    CHECK_EQ_INT(m.usage.input, 1);
    CHECK_EQ_INT(m.usage.total_tokens, 0);
    CHECK_EQ_INT(m.loop_id.len, 0);
    CHECK_EQ_INT(m.content_count, 0);
    end();
}

TEST(the_old_names_of_two_providers_are_read_as_those_of_today) {
    static const struct {
        const char *provider, *api, *want;
    } rows[] = {{"openai-responses", "openai_responses", "openai_responses"},
                {"openai_responses", "openai_responses", "openai_responses"},
                {"azure", "azure_openai_responses", "azure_openai"},
                {"azure", "azure_open_ai_responses", "azure_openai"},
                {"azure", "openai_completions", "azure"},
                {"openai", "openai_completions", "openai"}};
    size_t i;
    begin();
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[200];
        phi_message m;
        (void)snprintf(text, sizeof text,
                       "{\"role\":\"assistant\",\"content\":[],\"provider\":\"%s\","
                       "\"api\":\"%s\"}",
                       rows[i].provider, rows[i].api);
        CHECK_EQ_INT(phi_message_from_json(phi_str_of(text), &arena, &m, NULL), PHI_OK);
        CHECK_STR(m.provider, rows[i].want);
    }
    end();
}

TEST(what_is_no_message_is_refused_with_words) {
    begin();
    check_refused("[]", "expected an object: a message");
    check_refused("{\"content\":[]}", "role: expected a string, such as \"user\"");
    check_refused("{\"role\":\"user\"}", "content: expected an array of blocks");
    check_refused("{\"role\":\"user\",\"content\":[{\"type\":\"video\"}]}",
                  "content: expected blocks of type text, image, thinking or toolCall");
    check_refused("{\"role\":\"robot\"}", "role: expected user, assistant, toolResult, or a kind "
                                          "and data of an extension");
    end();
}

TEST(every_stop_reason_and_role_survives_a_round_trip) {
    int reason, role;
    begin();
    for (reason = PHI_STOP_REASON_STOP; reason <= PHI_STOP_REASON_PAUSED; reason++) {
        phi_message m, back;
        phi_str json;
        memset(&m, 0, sizeof m);
        m.role = PHI_ROLE_ASSISTANT;
        m.stop_reason = (phi_stop_reason)reason;
        CHECK_EQ_INT(phi_message_to_json(&m, &arena, &json), PHI_OK);
        CHECK_EQ_INT(phi_message_from_json(json, &arena, &back, NULL), PHI_OK);
        CHECK_EQ_INT(back.stop_reason, reason);
    }
    for (role = PHI_ROLE_USER; role <= PHI_ROLE_EXTENSION; role++) {
        phi_message m, back;
        phi_str json;
        memset(&m, 0, sizeof m);
        m.role = (phi_role)role;
        CHECK_EQ_INT(phi_message_to_json(&m, &arena, &json), PHI_OK);
        CHECK_EQ_INT(phi_message_from_json(json, &arena, &back, NULL), PHI_OK);
        CHECK_EQ_INT(back.role, role);
    }
    CHECK_EQ_STR(phi__message_stop_text(PHI_STOP_REASON_GUARD_RAIL), "guardRail");
    CHECK_EQ_STR(phi__message_stop_text(PHI_STOP_REASON_NONE), "");
    end();
}

TEST(stop_reasons_are_written_in_camel_case) {
    static const char *const want[] = {"stop",      "length",           "toolUse",  "error",
                                       "aborted",   "maxTurns",         "userStop", "handoff",
                                       "guardRail", "contextCompacted", "paused"};
    char field[64];
    size_t i;
    begin();
    CHECK_EQ_INT(PHI_STOP_REASON_PAUSED - PHI_STOP_REASON_STOP + 1, PHI__COUNT(want));
    for (i = 0; i < PHI__COUNT(want); i++) {
        phi_message m;
        phi_str json = {NULL, 0};
        memset(&m, 0, sizeof m);
        m.role = PHI_ROLE_ASSISTANT;
        m.stop_reason = (phi_stop_reason)(PHI_STOP_REASON_STOP + i);
        (void)snprintf(field, sizeof field, "\"stopReason\":\"%s\"", want[i]);
        if (CHECK_EQ_INT(phi_message_to_json(&m, &arena, &json), PHI_OK))
            CHECK(phi__str_find(json, 0, field) < json.len);
    }
    end();
}

TEST(text_blocks_are_joined_and_other_blocks_left_out) {
    phi_content blocks[3];
    phi_message m;
    begin();
    memset(blocks, 0, sizeof blocks);
    memset(&m, 0, sizeof m);
    m.content = blocks;
    m.content_count = 3;
    blocks[0].kind = blocks[2].kind = PHI_CONTENT_TEXT;
    blocks[1].kind = PHI_CONTENT_THINKING;
    blocks[0].text = phi_str_of("one");
    blocks[1].text = phi_str_of("secret");
    blocks[2].text = phi_str_of("two");
    CHECK_STR(phi_message_text(&m, "\n", &arena, NULL), "one\ntwo");
    CHECK(phi_message_text(&m, NULL, NULL, NULL).at == blocks[0].text.at); /* the first, no copy */
    blocks[0].kind = PHI_CONTENT_THINKING;
    CHECK_STR(phi_message_text(&m, NULL, NULL, NULL), "two");
    m.content_count = 0;
    CHECK_STR(phi_message_text(&m, NULL, NULL, NULL), "");
    CHECK_STR(phi_message_text(&m, "\n", &arena, NULL), "");
    end();
}

TEST(a_copy_shares_nothing_with_its_original) {
    char words[] = "words", id[] = "c1";
    phi_content block;
    phi_message m, *copy;
    begin();
    memset(&block, 0, sizeof block);
    memset(&m, 0, sizeof m);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of(words);
    m.role = PHI_ROLE_TOOL_RESULT;
    m.content = &block;
    m.content_count = 1;
    m.tool_call_id = phi_str_of(id);
    copy = phi_message_copy(&m, &arena);
    REQUIRE(copy != NULL);
    words[0] = id[0] = 'X';
    CHECK_STR(copy->content[0].text, "words");
    CHECK_STR(copy->tool_call_id, "c1");
    CHECK_EQ_INT(copy->role, PHI_ROLE_TOOL_RESULT);
    end();
}

TEST(usage_adds_up_field_by_field) {
    phi_usage a = {1, 2, 3, 4, 5, 6}, b = {10, 20, 30, 40, 50, 60};
    phi__message_add_usage(&a, &b);
    CHECK_EQ_INT(a.input, 11);
    CHECK_EQ_INT(a.output, 22);
    CHECK_EQ_INT(a.reasoning, 33);
    CHECK_EQ_INT(a.cache_read, 44);
    CHECK_EQ_INT(a.cache_write, 55);
    CHECK_EQ_INT(a.total_tokens, 66);
}

/* False where memory ran out. */
static bool json_there_and_back(void) {
    static const char text[] =
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":\"n\","
        "\"arguments\":{\"a\":\"b\"}},{\"type\":\"thinking\",\"thinking\":\"t\",\"replay\":[1]},"
        "{\"type\":\"document\",\"url\":\"u\",\"name\":\"n\"},{\"type\":\"audio\",\"data\":\"AA=="
        "\","
        "\"mimeType\":\"audio/wav\"}],\"model\":\"m\"}";
    phi_message m, *copy;
    phi_str json;
    bool failed = false;
    phi_status status = phi_message_from_json(phi_str_of(text), &arena, &m, NULL);
    if (status != PHI_OK) {
        CHECK_EQ_INT(status, PHI_NO_MEMORY);
        return false;
    }
    copy = phi_message_copy(&m, &arena);
    if (copy == NULL) return false;
    (void)phi_message_text(copy, "", &arena, &failed);
    if (failed) return false;
    status = phi_message_to_json(copy, &arena, &json);
    if (status != PHI_OK) {
        CHECK_EQ_INT(status, PHI_NO_MEMORY);
        return false;
    }
    CHECK(phi__str_find(json, 0, "\"arguments\":{\"a\":\"b\"}") != SIZE_MAX);
    CHECK(phi__str_find(json, 0, "\"replay\":[1]") != SIZE_MAX);
    return true;
}

TEST(messages_survive_every_failed_allocation) {
    int n = 0;
    bool whole;
    do {
        begin();
        test_alloc_fail_at(n++);
        whole = json_there_and_back();
        CHECK(whole != test_alloc_tripped());
        test_alloc_fail_at(-1);
        end();
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (!whole && n < 1000);
    CHECK(n > 5);
}

TEST(kinds_of_failures_and_events_have_names) {
    CHECK_EQ_STR(phi_failure_kind_text(PHI_FAILURE_RATE_LIMITED), "rate_limited");
    CHECK_EQ_STR(phi_failure_kind_text(PHI_FAILURE_NONE), "");
    CHECK_EQ_STR(phi_event_name(PHI_EV_AGENT_START), "AgentStart");
    CHECK_EQ_STR(phi_event_name(PHI_EV_TEXT), "TextDelta");
    CHECK_EQ_STR(phi_event_name(PHI_EV_TOOL_END), "ToolExecutionEnd");
    CHECK_EQ_STR(phi_event_name((phi_event_kind)0), "");
}

TEST_MAIN(TEST_ENTRY(a_user_message_has_the_interchange_shape),
          TEST_ENTRY(an_assistant_message_has_the_interchange_shape),
          TEST_ENTRY(a_tool_result_has_the_interchange_shape),
          TEST_ENTRY(an_extension_has_the_interchange_shape),
          TEST_ENTRY(an_extension_keeps_its_role),
          TEST_ENTRY(what_the_original_keeps_with_a_message_is_carried),
          TEST_ENTRY(what_the_interchange_does_not_name_survives_too),
          TEST_ENTRY(arguments_that_are_no_object_are_kept_as_they_are),
          TEST_ENTRY(arguments_that_are_a_string_keep_their_quotes),
          TEST_ENTRY(reading_takes_what_is_missing_as_absent),
          TEST_ENTRY(the_old_names_of_two_providers_are_read_as_those_of_today),
          TEST_ENTRY(what_is_no_message_is_refused_with_words),
          TEST_ENTRY(every_stop_reason_and_role_survives_a_round_trip),
          TEST_ENTRY(stop_reasons_are_written_in_camel_case),
          TEST_ENTRY(text_blocks_are_joined_and_other_blocks_left_out),
          TEST_ENTRY(a_copy_shares_nothing_with_its_original),
          TEST_ENTRY(usage_adds_up_field_by_field),
          TEST_ENTRY(messages_survive_every_failed_allocation),
          TEST_ENTRY(kinds_of_failures_and_events_have_names),
          TEST_ENTRY(documents_and_audio_have_a_shape_of_our_own))
