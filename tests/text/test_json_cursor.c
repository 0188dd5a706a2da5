/* test_json_cursor.c - reading JSON text without a tree. */
#include "support/test.h"
#include "text/json_in.h"

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) { phi_arena_free(&arena); }

/* A copy of its exact size on the heap, so that a read past the end is seen; caller frees with
   free(). */
static char *exact(const char *text, size_t len) {
    char *copy = (char *)malloc(len > 0 ? len : 1);
    if (copy == NULL) abort();
    if (len > 0) memcpy(copy, text, len);
    return copy;
}

static const char delta[] = "{\"type\":\"content_block_delta\",\"index\":3,\"x\":[1,{\"y\":\"]}"
                            "\\\"\"}],\"delta\":{\"type\":"
                            "\"text_delta\",\"text\":\"He said "
                            "\\\"hi\\\"\\n\\u00e9\\ud83d\\ude00\"},\"ok\":true,\"n\":null,"
                            "\"cost\":-0.25}";

typedef struct pulled {
    phi__json_text type, text;
    int64_t index;
    double cost;
    bool ok, bad, done;
} pulled;

static pulled pull(const char *text, size_t len) {
    phi__json_cursor c;
    phi__json_text key;
    pulled out = PHI_ZERO;
    phi__json_cursor_init(&c, phi__str(text, len));
    if (phi__json_cursor_enter_object(&c))
        while (phi__json_cursor_next_key(&c, &key)) {
            if (phi__json_cursor_text_is(key, PHI__LIT("type")))
                phi__json_cursor_take_text(&c, &out.type);
            else if (phi__json_cursor_text_is(key, PHI__LIT("index")))
                phi__json_cursor_take_i64(&c, &out.index);
            else if (phi__json_cursor_text_is(key, PHI__LIT("ok")))
                phi__json_cursor_take_bool(&c, &out.ok);
            else if (phi__json_cursor_text_is(key, PHI__LIT("cost")))
                phi__json_cursor_take_num(&c, &out.cost);
            else if (!phi__json_cursor_text_is(key, PHI__LIT("delta")))
                phi__json_cursor_skip(&c);
            else if (phi__json_cursor_enter_object(&c))
                while (phi__json_cursor_next_key(&c, &key)) {
                    if (phi__json_cursor_text_is(key, PHI__LIT("text")))
                        phi__json_cursor_take_text(&c, &out.text);
                    else
                        phi__json_cursor_skip(&c);
                }
        }
    out.bad = c.bad;
    out.done = phi__json_cursor_done(&c);
    return out;
}

TEST(a_delta_is_pulled_apart) {
    pulled p = pull(delta, sizeof delta - 1);
    phi__buf text;
    setup();
    phi__buf_init(&text, &memory);
    CHECK(p.done && !p.bad && p.ok);
    CHECK_STR(phi__str(p.type.at, p.type.len), "content_block_delta");
    CHECK_EQ_INT(p.index, 3);
    CHECK(p.cost == -0.25);
    CHECK(p.text.escaped && !p.type.escaped);
    phi__json_cursor_unescape(&text, p.text);
    CHECK_STR(phi__buf_str(&text), "He said \"hi\"\n\xc3\xa9\xf0\x9f\x98\x80");
    phi__buf_free(&text);
    teardown();
}

TEST(a_text_that_was_cut_is_noticed_wherever_that_was) {
    size_t len;
    for (len = 0; len < sizeof delta - 1; len++) {
        char *cut = exact(delta, len);
        pulled p = pull(cut, len);
        if (!CHECK(p.bad && !p.done)) fprintf(stderr, "cut at %d\n", (int)len);
        free(cut);
    }
}

TEST(a_value_of_another_type_is_skipped) {
    static const char text[] = "[\"a\", 1, {\"b\":[]}, null, [1], true, 1.5, -1, 1e99]";
    phi__json_cursor c;
    phi__json_text key, string;
    int64_t i = 7;
    uint64_t u = 7;
    bool b = false;
    double d = 7;
    phi__json_cursor_init(&c, PHI__LIT(text));
    CHECK(phi__json_cursor_peek(&c) == PHI_JSON_ARRAY);
    CHECK(phi__json_cursor_enter_array(&c));
    CHECK(phi__json_cursor_next_item(&c) && !phi__json_cursor_take_i64(&c, &i) && i == 7);
    CHECK(phi__json_cursor_next_item(&c) && !phi__json_cursor_take_text(&c, &string));
    CHECK(phi__json_cursor_next_item(&c) && !phi__json_cursor_enter_array(&c));
    CHECK(phi__json_cursor_next_item(&c) && !phi__json_cursor_enter_object(&c));
    CHECK(phi__json_cursor_next_item(&c) && !phi__json_cursor_take_num(&c, &d) && d == 7);
    CHECK(phi__json_cursor_next_item(&c) && phi__json_cursor_take_bool(&c, &b) && b);
    CHECK(phi__json_cursor_next_item(&c) && !phi__json_cursor_take_i64(&c, &i) && i == 7);
    CHECK(phi__json_cursor_next_item(&c) && !phi__json_cursor_take_u64(&c, &u) && u == 7);
    CHECK(phi__json_cursor_next_item(&c) && !phi__json_cursor_take_bool(&c, &b) && b);
    CHECK(!phi__json_cursor_next_item(&c) && !c.bad && phi__json_cursor_done(&c));
    CHECK(!phi__json_cursor_next_key(&c, &key) && c.bad);
}

TEST(empty_containers_and_white_space_are_fine) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str raw = PHI_ZERO;
    phi__json_cursor_init(&c, PHI__LIT(" { \"a\" : [ ] , \"b\" : { } , \"c\" : [ [ ] , 1 ] } \n"));
    CHECK(phi__json_cursor_enter_object(&c));
    CHECK(phi__json_cursor_next_key(&c, &key) && phi__json_cursor_enter_array(&c) &&
          !phi__json_cursor_next_item(&c));
    CHECK(phi__json_cursor_next_key(&c, &key) && phi__json_cursor_enter_object(&c) &&
          !phi__json_cursor_next_key(&c, &key));
    CHECK(phi__json_cursor_next_key(&c, &key) && phi__json_cursor_take_raw(&c, &raw));
    CHECK_STR(raw, "[ [ ] , 1 ]");
    CHECK(!phi__json_cursor_next_key(&c, &key) && phi__json_cursor_done(&c));
    phi__json_cursor_init(&c, PHI__LIT(""));
    CHECK(phi__json_cursor_peek(&c) == PHI_JSON_NONE);
    CHECK(!phi__json_cursor_skip(&c) && c.bad);
}

/* Walks a text in which every value is entered. */
static bool walk(phi__json_cursor *c) {
    phi__json_text text;
    switch (phi__json_cursor_peek(c)) {
    case PHI_JSON_OBJECT:
        if (phi__json_cursor_enter_object(c))
            while (phi__json_cursor_next_key(c, &text)) walk(c);
        break;
    case PHI_JSON_ARRAY:
        if (phi__json_cursor_enter_array(c))
            while (phi__json_cursor_next_item(c)) walk(c);
        break;
    case PHI_JSON_STRING: phi__json_cursor_take_text(c, &text); break;
    default: phi__json_cursor_skip(c); break;
    }
    return !c->bad;
}

TEST(broken_texts_are_noticed_when_walked) {
    static const char *const texts[] = {"{\"a\":1,}", "[1,]",      "[1,,2]", "[1 2]",
                                        "{\"a\" 1}",  "{\"a\":}",  "{a:1}",  "{\"a\":1 \"b\":2}",
                                        "[1}",        "{\"a\":1]", "[tru]",  "[nul]",
                                        "[falsey]",   "[x]",       "[\"a]",  "[\"a\\\"]",
                                        "[",          "{",         "{\"a\"", "{\"a\":",
                                        "[1",         "[,1]",      "{,}",    "[1:2]",
                                        "[{]}",       "",          " ",      "[1\"a\"]",
                                        "[[1]2]"};
    size_t i;
    for (i = 0; i < PHI__COUNT(texts); i++) {
        char *text = exact(texts[i], strlen(texts[i]));
        phi__json_cursor c;
        phi__json_cursor_init(&c, phi__str(text, strlen(texts[i])));
        if (!CHECK(!walk(&c))) fprintf(stderr, "%s\n", texts[i]);
        CHECK(!phi__json_cursor_done(&c));
        free(text);
    }
}

TEST(skipping_notices_ends_and_brackets_that_do_not_match) {
    static const char *const texts[] = {
        "[1}",   "{]",           "[[[}]]", "[\"]",  "[{\"a\":[}]]", "\"a", "\"\\",
        "[\"\\", "{\"a\":[1,2]", "tru",    "nulll", "+1",           "]",   ",",
        ":"};
    phi__json_cursor c;
    size_t i;
    for (i = 0; i < PHI__COUNT(texts); i++) {
        char *text = exact(texts[i], strlen(texts[i]));
        phi__json_cursor_init(&c, phi__str(text, strlen(texts[i])));
        if (!CHECK(!phi__json_cursor_skip(&c) && c.bad)) fprintf(stderr, "%s\n", texts[i]);
        free(text);
    }
    phi__json_cursor_init(&c, PHI__LIT("[1,2],3"));
    CHECK(phi__json_cursor_skip(&c) && !phi__json_cursor_done(&c));
}

TEST(skipping_stops_at_the_limit_of_depth) {
    char text[2 * 1100];
    size_t depth;
    for (depth = 1023; depth <= 1025; depth++) {
        phi__json_cursor c;
        size_t i;
        for (i = 0; i < depth; i++) {
            text[i] = i % 3 == 0 ? '{' : '[';
            text[2 * depth - 1 - i] = i % 3 == 0 ? '}' : ']';
        }
        phi__json_cursor_init(&c, phi__str(text, 2 * depth));
        CHECK(phi__json_cursor_skip(&c) == (depth <= 1024));
        text[depth] = text[depth] == ']' ? '}' : ']';
        phi__json_cursor_init(&c, phi__str(text, 2 * depth));
        CHECK(!phi__json_cursor_skip(&c));
    }
}

static phi__json_text text_of(const char *raw, size_t len) {
    phi__json_text t;
    t.at = raw;
    t.len = len;
    t.escaped = memchr(raw, '\\', len) != NULL;
    return t;
}

TEST(what_cannot_be_unescaped_becomes_a_replacement_character) {
    static const struct {
        const char *raw, *want;
    } cases[] = {{"\\ud800", "\xef\xbf\xbd"},
                 {"\\ud800x", "\xef\xbf\xbdx"},
                 {"\\udc00\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
                 {"\\ud83d\\u0041", "\xef\xbf\xbd"
                                    "A"},
                 {"a\\xb", "a\xef\xbf\xbd"
                           "b"},
                 {"\\", "\xef\xbf\xbd"},
                 {"\\u12", "\xef\xbf\xbd"
                           "12"},
                 {"\\\xc3\xa9", "\xef\xbf\xbd\xc3\xa9"},
                 {"\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\xf0\x9f\x98\\n", "\xef\xbf\xbd\n"},
                 {"\xe2\x82", "\xef\xbf\xbd"},
                 {"\\b\\f\\n\\r\\t\\/\\\\\\\"", "\b\f\n\r\t/\\\""},
                 {"", ""}};
    size_t i;
    for (i = 0; i < PHI__COUNT(cases); i++) {
        size_t len = strlen(cases[i].raw);
        char *raw = exact(cases[i].raw, len);
        phi__buf out;
        phi_str copy;
        setup();
        phi__buf_init(&out, &memory);
        phi__json_cursor_unescape(&out, text_of(raw, len));
        CHECK_STR(phi__buf_str(&out), cases[i].want);
        CHECK(phi__json_cursor_unescape_arena(&arena, text_of(raw, len), &copy));
        CHECK_EQ_STR(copy.at, cases[i].want);
        CHECK_EQ_INT(copy.len, strlen(cases[i].want));
        CHECK(phi__json_cursor_text_same(text_of(raw, len), phi_str_of(cases[i].want)));
        phi__buf_free(&out);
        teardown();
        free(raw);
    }
}

TEST(texts_are_compared_as_they_read) {
    CHECK(phi__json_cursor_text_is(text_of("delta", 5), PHI__LIT("delta")));
    CHECK(phi__json_cursor_text_is(text_of("d\\u0065lta", 10), PHI__LIT("delta")));
    CHECK(!phi__json_cursor_text_is(text_of("d\\u0066lta", 10), PHI__LIT("delta")));
    CHECK(!phi__json_cursor_text_is(text_of("d\\u0065lt", 9), PHI__LIT("delta")));
    CHECK(!phi__json_cursor_text_is(text_of("d\\u0065ltas", 11), PHI__LIT("delta")));
    CHECK(!phi__json_cursor_text_is(text_of("delta", 5), PHI__LIT("delt")));
    CHECK(phi__json_cursor_text_is(text_of("", 0), PHI__LIT("")));
}

TEST(long_texts_are_unescaped_piece_by_piece) {
    static char raw[60000], want[60000];
    size_t r = 0, w = 0;
    uint32_t state = 11;
    phi__buf out;
    phi_str copy;
    setup();
    while (r < sizeof raw - 20) {
        uint32_t pick = test_random(&state) % 8;
        if (pick == 0) {
            memcpy(raw + r, "\\n", 2), r += 2;
            want[w++] = '\n';
        } else if (pick == 1) {
            memcpy(raw + r, "\\ud83d\\ude00", 12), r += 12;
            memcpy(want + w, "\xf0\x9f\x98\x80", 4), w += 4;
        } else if (pick == 2) {
            memcpy(raw + r, "\xe2\x82\xac", 3), r += 3;
            memcpy(want + w, "\xe2\x82\xac", 3), w += 3;
        } else {
            raw[r++] = 'x';
            want[w++] = 'x';
        }
    }
    phi__buf_init(&out, &memory);
    phi__json_cursor_unescape(&out, text_of(raw, r));
    CHECK(phi_str_equal(phi__buf_str(&out), phi__str(want, w)));
    CHECK(phi__json_cursor_unescape_arena(&arena, text_of(raw, r), &copy));
    CHECK(phi_str_equal(copy, phi__str(want, w)));
    phi__buf_free(&out);
    teardown();
}

TEST(a_value_is_found_by_its_path) {
    phi__json_found found;
    phi_str text;
    int64_t i = 0;
    double d = 0;
    setup();
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(delta), "delta.text", &found), PHI_OK);
    CHECK_EQ_INT(found.type, PHI_JSON_STRING);
    CHECK(phi__json_cursor_found_str(&arena, &found, &text));
    CHECK_STR(text, "He said \"hi\"\n\xc3\xa9\xf0\x9f\x98\x80");
    CHECK(!phi__json_cursor_found_int(&found, &i));
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(delta), "type", &found), PHI_OK);
    CHECK(phi__json_cursor_found_str(NULL, &found, &text)); /* as it stands: no memory is needed */
    CHECK(text.at == delta + 9);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(delta), "index", &found), PHI_OK);
    CHECK(phi__json_cursor_found_int(&found, &i) && i == 3);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(delta), "cost", &found), PHI_OK);
    CHECK(phi__json_cursor_found_num(&found, &d) && d == -0.25);
    CHECK(!phi__json_cursor_found_int(&found, &i) &&
          !phi__json_cursor_found_str(&arena, &found, &text));
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(delta), "x[1].y", &found), PHI_OK);
    CHECK_STR(found.raw, "]}\\\"");
    CHECK(found.escaped);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(delta), "x[1]", &found), PHI_OK);
    CHECK_STR(found.raw, "{\"y\":\"]}\\\"\"}");
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(" 5 "), "", &found), PHI_OK);
    CHECK_STR(found.raw, "5");
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(delta), "x[2]", &found), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(delta), "type.x", &found), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(delta), "y", &found), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT("{\"a\":[}"), "b", &found), PHI_PARSE);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT("{\"a\":}"), "a", &found), PHI_PARSE);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT("{\"a\":\"x"), "a", &found), PHI_PARSE);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT(""), "", &found), PHI_PARSE);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT("{\"a\":1}"), "a]", &found), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT("{\"a\":1,\"a\":2}"), "a", &found), PHI_OK);
    CHECK(phi__json_cursor_found_int(&found, &i) && i == 2); /* the last of a name, as in a tree */
    CHECK_EQ_INT(
        phi__json_cursor_find(PHI__LIT("{\"a\":{\"b\":1},\"a\":{\"c\":2}}"), "a.b", &found),
        PHI_NOT_FOUND);
    CHECK_EQ_INT(
        phi__json_cursor_find(PHI__LIT("{\"a\":{\"b\":1},\"\\u0061\":{\"b\":2}}"), "a.b", &found),
        PHI_OK);
    CHECK(phi__json_cursor_found_int(&found, &i) && i == 2);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT("{\"a\":1,\"a\":"), "a", &found), PHI_PARSE);
    CHECK_EQ_INT(phi__json_cursor_find(PHI__LIT("[1,"), "[0]", &found),
                 PHI_OK); /* an item comes once */
    teardown();
}

TEST(a_failed_allocation_while_unescaping_is_reported) {
    phi__buf out;
    phi_str copy;
    setup();
    phi__buf_init(&out, &memory);
    test_alloc_fail_at(0);
    phi__json_cursor_unescape(&out, text_of("a\\n", 3));
    CHECK(out.failed);
    test_alloc_fail_at(0);
    CHECK(!phi__json_cursor_unescape_arena(&arena, text_of("a\\n", 3), &copy));
    test_alloc_fail_at(-1);
    phi__buf_free(&out);
    teardown();
}

/* On a machine with 32 bits such a text fits into memory, and its unescaped length overflows. */
TEST(a_text_whose_unescaped_length_would_overflow_is_refused) {
    phi__json_text text = {"", SIZE_MAX / 2, true};
    phi_str copy;
    setup();
    CHECK(!phi__json_cursor_unescape_arena(&arena, text, &copy));
    teardown();
}

TEST_MAIN(TEST_ENTRY(a_delta_is_pulled_apart),
          TEST_ENTRY(a_text_that_was_cut_is_noticed_wherever_that_was),
          TEST_ENTRY(a_value_of_another_type_is_skipped),
          TEST_ENTRY(empty_containers_and_white_space_are_fine),
          TEST_ENTRY(broken_texts_are_noticed_when_walked),
          TEST_ENTRY(skipping_notices_ends_and_brackets_that_do_not_match),
          TEST_ENTRY(skipping_stops_at_the_limit_of_depth),
          TEST_ENTRY(what_cannot_be_unescaped_becomes_a_replacement_character),
          TEST_ENTRY(texts_are_compared_as_they_read),
          TEST_ENTRY(long_texts_are_unescaped_piece_by_piece),
          TEST_ENTRY(a_value_is_found_by_its_path),
          TEST_ENTRY(a_failed_allocation_while_unescaping_is_reported),
          TEST_ENTRY(a_text_whose_unescaped_length_would_overflow_is_refused))
