/* Recognising the same call with the same arguments. */
#include "support/test.h"

#include "loop/loop_in.h"
#include "loop/inner_in.h"

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi_arena_init(&arena, &memory, 0);
}

static uint64_t hash_of(const char *name, const char *arguments) {
    return phi__repeat_hash(&arena, phi_str_of(name), phi_str_of(arguments));
}

static bool same(const char *a, const char *b) { return hash_of("f", a) == hash_of("f", b); }

TEST(the_order_of_keys_and_blanks_do_not_count) {
    setup();
    CHECK(same("{\"a\":1,\"b\":[true,null]}", " {\n\"b\" : [ true , null ],\t\"a\" : 1 } "));
    CHECK(same("{\"o\":{\"x\":{},\"y\":\"z\"},\"p\":2}", "{\"p\":2,\"o\":{\"y\":\"z\",\"x\":{}}}"));
    phi_arena_free(&arena);
}

TEST(spellings_of_a_number_or_a_string_do_not_count) {
    setup();
    CHECK(same("{\"n\":100}", "{\"n\":1e2}"));
    CHECK(same("{\"n\":1}", "{\"n\":1.0}"));
    CHECK(same("{\"n\":0}", "{\"n\":-0}"));
    CHECK(same("{\"n\":-7}", "{\"n\":-7.0}"));
    CHECK(same("{\"n\":0.5}", "{\"n\":5e-1}"));
    CHECK(same("{\"n\":9223372036854775808}", "{\"n\":9223372036854775808.0}"));
    CHECK(same("{\"s\":\"a/b\"}", "{\"s\":\"a\\/b\"}"));
    CHECK(same("{\"s\":\"A\\u00e9\"}", "{\"\\u0073\":\"\\u0041\xc3\xa9\"}"));
    phi_arena_free(&arena);
}

TEST(what_differs_in_value_differs) {
    static const char *const texts[] = {"{}",
                                        "[]",
                                        "0",
                                        "\"\"",
                                        "null",
                                        "true",
                                        "false",
                                        "1",
                                        "-1",
                                        "\"1\"",
                                        "[1]",
                                        "[1,2]",
                                        "[2,1]",
                                        "[[1],2]",
                                        "[[1,2]]",
                                        "[[],[]]",
                                        "[[]]",
                                        "{\"a\":1}",
                                        "{\"a\":2}",
                                        "{\"b\":1}",
                                        "{\"a\":1,\"b\":2}",
                                        "{\"a\":2,\"b\":1}",
                                        "{\"a\":1,\"a\":1}",
                                        "{\"a\":{\"b\":1}}",
                                        "{\"b\":{\"a\":1}}",
                                        "{\"a\":[1]}",
                                        "{\"a\":null}",
                                        "{\"\":null}",
                                        "[{}]",
                                        "1.5",
                                        "2.5",
                                        "-1.5",
                                        "18446744073709551615",
                                        "9223372036854775807",
                                        "9223372036854775806",
                                        "{\"path\":\"a\"}",
                                        "{\"path\":\"b\"}",
                                        "{\"path\":\"a \"}",
                                        "{\"path\":\"A\"}",
                                        "",
                                        " ",
                                        "{",
                                        "{\"a\":1",
                                        "not json",
                                        "not  json"};
    size_t i, j;
    setup();
    for (i = 0; i < PHI__COUNT(texts); i++)
        for (j = 0; j < i; j++)
            if (!CHECK(!same(texts[i], texts[j]))) printf("%s and %s\n", texts[i], texts[j]);
    phi_arena_free(&arena);
}

TEST(the_tool_counts_too) {
    setup();
    CHECK(hash_of("read", "{}") != hash_of("write", "{}"));
    CHECK(hash_of("read", "{}") == hash_of("read", "{ }"));
    CHECK(hash_of("a", "b{") != hash_of("ab", "{"));
    CHECK(hash_of("", "") == hash_of("", ""));
    CHECK(phi__repeat_hash(&arena, phi__str(NULL, 0), phi__str(NULL, 0)) == hash_of("", ""));
    phi_arena_free(&arena);
}

TEST(text_that_is_no_json_counts_byte_by_byte) {
    setup();
    CHECK(same("{\"path\": ", "{\"path\": "));
    CHECK(!same("{\"path\": ", "{\"path\":"));
    CHECK(!same("{\"a\":1} x", "{ \"a\":1} x"));
    CHECK(!same("\xff", "\xfe"));
    phi_arena_free(&arena);
}

TEST(the_arena_is_given_back) {
    phi_arena_mark before, after;
    void *kept;
    size_t used;
    setup();
    kept = phi_arena_alloc(&arena, 100);
    REQUIRE(kept != NULL);
    memset(kept, 7, 100);
    before = phi_arena_save(&arena);
    used = memory.used_bytes;
    (void)hash_of("f", "{\"a\":\"a\\nb\",\"b\":[1,2,3,4,5,6,7,8,9,10]}");
    (void)hash_of("f", "{\"a\":\"a\\nb\",\"b\":[1,2,3,4,5,6,7,8,9,1");
    after = phi_arena_save(&arena);
    CHECK(before.at == after.at && before.shared == after.shared && before.own == after.own);
    CHECK_EQ_INT(memory.used_bytes, used);
    phi_arena_free(&arena);
}

/* Nested as deep as may be, and deeper: then it counts as it is. */
static char *nested(size_t depth) {
    char *text = (char *)malloc(2 * depth + 1);
    if (text == NULL) abort();
    memset(text, '[', depth);
    memset(text + depth, ']', depth);
    text[2 * depth] = '\0';
    return text;
}

TEST(deep_and_long_arguments_are_hashed) {
    char *a = nested(512), *b = nested(511), *c = nested(100000), *d = nested(100001);
    size_t i, n = 1000000;
    char *text = (char *)malloc(n + 1);
    setup();
    if (text == NULL) abort();
    CHECK(same(a, a));
    CHECK(!same(a, b));
    CHECK(same(c, c));
    CHECK(!same(c, d));
    for (i = 0; i < n; i += 2) memcpy(text + i, "0,", 2);
    text[0] = '[';
    text[1] = '1';
    text[2] = ',';
    text[3] = '1';
    text[n - 1] = ']';
    text[n] = '\0';
    CHECK(same(text, text));
    phi_arena_free(&arena);
    free(a);
    free(b);
    free(c);
    free(d);
    free(text);
}

TEST(without_memory_the_text_counts_as_it_is) {
    const char *text = "{ \"a\" : \"x\\ny\" }";
    uint64_t canonical, raw;
    setup();
    canonical = hash_of("f", text);
    phi_arena_free(&arena);
    test_alloc_fail_from(0);
    raw = hash_of("f", text);
    CHECK(test_alloc_tripped());
    CHECK(raw != canonical);
    CHECK(hash_of("f", text) == raw);
    test_alloc_fail_from(-1);
    CHECK(hash_of("f", text) == canonical);
    phi_arena_free(&arena);
}

TEST(a_call_is_counted_as_often_as_it_was_made) {
    phi__repeat_guard guard;
    memset(&guard, 0, sizeof guard);
    CHECK_EQ_INT(phi__repeat_note(&guard, 5), 1);
    CHECK_EQ_INT(phi__repeat_note(&guard, 6), 1);
    CHECK_EQ_INT(phi__repeat_note(&guard, 5), 2);
    CHECK_EQ_INT(phi__repeat_note(&guard, 0), 1); /* places never used are zero, too */
    CHECK_EQ_INT(phi__repeat_note(&guard, 5), 3);
    CHECK_EQ_INT(phi__repeat_note(&guard, 0), 2);
}

TEST(a_call_is_forgotten_after_the_window) {
    phi__repeat_guard guard;
    uint64_t i;
    memset(&guard, 0, sizeof guard);
    CHECK_EQ_INT(phi__repeat_note(&guard, 5), 1);
    for (i = 0; i < 31; i++) CHECK_EQ_INT(phi__repeat_note(&guard, 100 + i), 1);
    CHECK_EQ_INT(phi__repeat_note(&guard, 5), 1); /* takes the place of the first */
    for (i = 0; i < 30; i++) CHECK_EQ_INT(phi__repeat_note(&guard, 200 + i), 1);
    CHECK_EQ_INT(phi__repeat_note(&guard, 5), 2);
}

TEST(a_window_full_of_one_call_never_overflows) {
    phi__repeat_guard guard;
    int i;
    memset(&guard, 0, sizeof guard);
    for (i = 1; i <= 32; i++) CHECK_EQ_INT(phi__repeat_note(&guard, 5), i);
    for (i = 0; i < 1000; i++) CHECK_EQ_INT(phi__repeat_note(&guard, 5), 32);
    CHECK(guard.count >= 32 && guard.count < 64);
    CHECK_EQ_INT(phi__repeat_note(&guard, 6), 1);
    CHECK_EQ_INT(phi__repeat_note(&guard, 5), 31);
}

TEST_MAIN(TEST_ENTRY(the_order_of_keys_and_blanks_do_not_count),
          TEST_ENTRY(spellings_of_a_number_or_a_string_do_not_count),
          TEST_ENTRY(what_differs_in_value_differs), TEST_ENTRY(the_tool_counts_too),
          TEST_ENTRY(text_that_is_no_json_counts_byte_by_byte), TEST_ENTRY(the_arena_is_given_back),
          TEST_ENTRY(deep_and_long_arguments_are_hashed),
          TEST_ENTRY(without_memory_the_text_counts_as_it_is),
          TEST_ENTRY(a_call_is_counted_as_often_as_it_was_made),
          TEST_ENTRY(a_call_is_forgotten_after_the_window),
          TEST_ENTRY(a_window_full_of_one_call_never_overflows))
