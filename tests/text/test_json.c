/* test_json.c - the reader, the tree, the writer, the cursor. */
#include "support/test.h"
#include "text/json_in.h"

#include <math.h>

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) { phi_arena_free(&arena); }

static phi_status parse(const char *text, size_t len, uint32_t flags, phi_json **out,
                        phi_parse_error *error) {
    /* of its exact size on the heap, so that a read past the end is seen */
    char *exact = (char *)malloc(len > 0 ? len : 1);
    phi_status status;
    if (exact == NULL) abort();
    if (len > 0) memcpy(exact, text, len);
    status = phi_json_parse(&arena, phi__str(exact, len), flags & ~PHI_JSON_BORROW, out, error);
    free(exact);
    return status;
}

static phi_json *tree(const char *text) {
    phi_json *root = NULL;
    phi_parse_error error;
    phi_status status = parse(text, strlen(text), 0, &root, &error);
    if (!CHECK(status == PHI_OK)) fprintf(stderr, "%s: %s\n", text, error.message);
    return root;
}

static const char *text_of(const phi_json *node, uint32_t flags) {
    phi_str out;
    if (phi_json_write(&arena, node, flags, &out) != PHI_OK) return "(not written)";
    return out.at;
}

/* ---- what is JSON and what is not ---- */

static const char *const good[] = {"null",
                                   "true",
                                   "false",
                                   "0",
                                   "-0",
                                   "1",
                                   "-1",
                                   "1.5",
                                   "1e5",
                                   "1E5",
                                   "1e+5",
                                   "1e-5",
                                   "0.1e1",
                                   "\"\"",
                                   "\"a\"",
                                   "[]",
                                   "{}",
                                   " [ ] ",
                                   "\t\n\r {} ",
                                   "[[]]",
                                   "[1]",
                                   "[1,2]",
                                   "[ 1 , 2 ]",
                                   "{\"\":0}",
                                   "{\"a\":1}",
                                   "{ \"a\" : 1 , \"b\" : [ ] }",
                                   "{\"a\":{\"b\":{\"c\":null}}}",
                                   "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                                   "\"\\u0000\"",
                                   "\"\\u00e9\"",
                                   "\"\\ud83d\\ude00\"",
                                   "\"\\uD83D\\uDE00\"",
                                   "\"\xc3\xa9\"",
                                   "\"\xf0\x9f\x98\x80\"",
                                   "\"\xf4\x8f\xbf\xbf\"",
                                   "\"\xef\xbf\xbf\"",
                                   "\"\xe2\x80\xa8\"",
                                   "\"\x7f\"",
                                   "{\"a\":1,\"a\":2}",
                                   "[null,true,false]",
                                   "123456789012345678901234567890",
                                   "1e-999",
                                   "-1e-400",
                                   "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]",
                                   "\"\\ud800\\udc00\"",
                                   "\"\\udbff\\udfff\"",
                                   "[\"\\\\u0000\"]",
                                   "\"/\""};

TEST(texts_that_are_json_are_read_and_come_back_the_same) {
    size_t i;
    for (i = 0; i < PHI__COUNT(good); i++) {
        phi_json *root, *again;
        setup();
        root = tree(good[i]);
        again = tree(text_of(root, 0));
        CHECK(root != NULL && phi__json_get_equal(root, again));
        again = tree(text_of(root, PHI_JSON_PRETTY | PHI_JSON_ASCII));
        CHECK(root != NULL && phi__json_get_equal(root, again));
        again = phi_json_load(phi_str_of(good[i]), 0, NULL, NULL);
        CHECK(again != NULL && phi__json_get_equal(root, again));
        phi_json_unload(again);
        teardown();
    }
}

static const struct {
    const char *text;
    int offset;
    const char *message;
} bad[] = {
    {"", 0, "expected a value, found the end of the text"},
    {"  ", 2, "expected a value, found the end of the text"},
    {"nul", 3, "expected 'null', found the end of the text"},
    {"nulL", 3, "expected 'null', found 'L'"},
    {"True", 0, "expected a value, found 'T'"},
    {"true1", 4, "expected the end of the text, found '1'"},
    {"NaN", 0, "expected a value, found 'N'"},
    {"Infinity", 0, "expected a value, found 'I'"},
    {"-Infinity", 1, "expected a digit, found 'I'"},
    {"+1", 0, "expected a value, found '+'"},
    {"01", 1, "expected the end of the text, found '1'"},
    {"-01", 2, "expected the end of the text, found '1'"},
    {".5", 0, "expected a value, found '.'"},
    {"1.", 2, "expected a digit, found the end of the text"},
    {"1.e1", 2, "expected a digit, found 'e'"},
    {"[1e]", 3, "expected a digit, found ']'"},
    {"[1e+]", 4, "expected a digit, found ']'"},
    {"0x10", 1, "expected the end of the text, found 'x'"},
    {"1e999", 0, "the number is too large for a double"},
    {"[-1e999]", 1, "the number is too large for a double"},
    {"1 2", 2, "expected the end of the text, found '2'"},
    {"[", 1, "expected a value or ']', found the end of the text"},
    {"]", 0, "expected a value, found ']'"},
    {"[,]", 1, "expected a value or ']', found ','"},
    {"[1,]", 3, "expected a value, found ']'"},
    {"[1,,2]", 3, "expected a value, found ','"},
    {"[1 2]", 3, "expected ',' or ']', found '2'"},
    {"[1}", 2, "expected ',' or ']', found '}'"},
    {"[1", 2, "expected ',' or ']', found the end of the text"},
    {"[1]]", 3, "expected the end of the text, found ']'"},
    {"{", 1, "expected a key in quotes or '}', found the end of the text"},
    {"{,}", 1, "expected a key in quotes or '}', found ','"},
    {"{a:1}", 1, "expected a key in quotes or '}', found 'a'"},
    {"{'a':1}", 1, "expected a key in quotes or '}', found '\''"},
    {"{\"a\"}", 4, "expected ':', found '}'"},
    {"{\"a\" 1}", 5, "expected ':', found '1'"},
    {"{\"a\"", 4, "expected ':', found the end of the text"},
    {"{\"a\":}", 5, "expected a value, found '}'"},
    {"{\"a\":1,}", 7, "expected a key in quotes, found '}'"},
    {"{\"a\":1", 6, "expected ',' or '}', found the end of the text"},
    {"{\"a\":1]", 6, "expected ',' or '}', found ']'"},
    {"{\"a\":1 \"b\":2}", 7, "expected ',' or '}', found '\"'"},
    {"{\"a\":1,", 7, "expected a key in quotes, found the end of the text"},
    {"{1:2}", 1, "expected a key in quotes or '}', found '1'"},
    {"\"", 1, "expected the closing '\"' of a string, found the end of the text"},
    {"\"abc", 4, "expected the closing '\"' of a string, found the end of the text"},
    {"\"\\\"", 3, "expected the closing '\"' of a string, found the end of the text"},
    {"\"\\x\"", 2, "expected one of \"\\/bfnrtu after the backslash, found 'x'"},
    {"\"\\", 2, "expected one of \"\\/bfnrtu after the backslash, found the end of the text"},
    {"\"\\u12\"", 5, "expected four hexadecimal digits, found '\"'"},
    {"\"\\u12g4\"", 5, "expected four hexadecimal digits, found 'g'"},
    {"\"\\u", 3, "expected four hexadecimal digits, found the end of the text"},
    {"\"a\nb\"", 2, "a control character in a string must be escaped"},
    {"\"\t\"", 1, "a control character in a string must be escaped"},
    {"\"\\ud800\"", 1, "half of a surrogate pair"},
    {"\"\\udc00\"", 1, "half of a surrogate pair"},
    {"\"\\ud800\\n\"", 1, "half of a surrogate pair"},
    {"\"\\ud800\\ud800\"", 1, "half of a surrogate pair"},
    {"\"\x80\"", 1, "a byte that is not UTF-8"},
    {"\"a\xc3\"", 2, "a byte that is not UTF-8"},
    {"\"\xc0\xaf\"", 1, "a byte that is not UTF-8"},
    {"\"\xe0\x80\x80\"", 1, "a byte that is not UTF-8"},
    {"\"\xed\xa0\x80\"", 1, "a byte that is not UTF-8"},
    {"\"\xf4\x90\x80\x80\"", 1, "a byte that is not UTF-8"},
    {"\"\xf8\x88\x80\x80\x80\"", 1, "a byte that is not UTF-8"},
    {"\"\xe2\x82\"", 1, "a byte that is not UTF-8"},
    {"\xef\xbb\xbf{}", 0, "a byte order mark is not JSON"},
    {"[1]\f", 3, "expected the end of the text, found byte 0x0c"},
    {"\x80", 0, "expected a value, found byte 0x80"},
    {"// c\n1", 0, "expected a value, found '/'"},
    {"[1]/*c*/", 3, "expected the end of the text, found '/'"},
};

TEST(texts_that_are_not_json_are_refused_with_the_place_and_what_was_expected) {
    size_t i;
    for (i = 0; i < PHI__COUNT(bad); i++) {
        phi_json *root = NULL;
        phi_parse_error error;
        setup();
        CHECK_EQ_INT(parse(bad[i].text, strlen(bad[i].text), 0, &root, &error), PHI_PARSE);
        CHECK(root == NULL);
        CHECK_EQ_STR(error.message, bad[i].message);
        CHECK_EQ_INT(error.offset, bad[i].offset);
        CHECK(phi_json_load(phi_str_of(bad[i].text), 0, &memory, &error) == NULL);
        CHECK_EQ_STR(error.message, bad[i].message);
        CHECK_EQ_INT(memory.used_bytes, 0); /* and takes nothing */
        teardown();
    }
}

TEST(errors_name_line_and_column) {
    phi_json *root;
    phi_parse_error error;
    setup();
    CHECK_EQ_INT(parse("{\n  \"a\": 1,\r\n  \"b\\n\": x}", 25, 0, &root, &error), PHI_PARSE);
    CHECK_EQ_INT(error.line, 3);
    CHECK_EQ_INT(error.column, 10);
    CHECK_EQ_INT(error.offset, 22);
    CHECK_EQ_STR(error.message, "expected a value, found 'x'");
    CHECK_EQ_INT(parse("[\0]", 3, 0, &root, &error), PHI_PARSE);
    CHECK_EQ_STR(error.message, "expected a value or ']', found byte 0x00");
    CHECK_EQ_INT(phi_json_parse(&arena, phi__str(NULL, 0), 0, &root, NULL), PHI_PARSE);
    teardown();
}

/* Reads in slices of `units` and compares with the whole. */
static void check_slices(const char *text, uint32_t flags, size_t units) {
    phi__json_reader reader;
    phi_json *root = NULL, *whole = NULL;
    phi_parse_error error, error_whole;
    phi_status status, want;
    size_t calls = 0;
    want = phi_json_parse(&arena, phi_str_of(text), flags, &whole, &error_whole);
    phi__json_read_begin(&reader, &arena, phi_str_of(text), flags, 0);
    while ((status = phi__json_read_advance(&reader, units)) == PHI_BUSY) calls++;
    CHECK_EQ_INT(status, want);
    CHECK_EQ_INT(phi__json_read_advance(&reader, units), want);
    CHECK_EQ_INT(phi__json_read_result(&reader, &root, &error), want);
    if (want == PHI_OK) {
        CHECK(phi__json_get_equal(root, whole));
    } else {
        CHECK_EQ_STR(error.message, error_whole.message);
        CHECK_EQ_INT(error.offset, error_whole.offset);
        CHECK_EQ_INT(error.line, error_whole.line);
    }
    CHECK(units > 1 || calls + 1 >= strlen(text) / 32);
}

TEST(reading_in_slices_of_any_size_gives_the_same) {
    size_t i, units;
    for (units = 0; units < 8; units++) {
        for (i = 0; i < PHI__COUNT(good); i++) {
            setup();
            check_slices(good[i], 0, units);
            check_slices(good[i], PHI_JSON_BORROW, units);
            teardown();
        }
        for (i = 0; i < PHI__COUNT(bad); i++) {
            setup();
            check_slices(bad[i].text, 0, units);
            check_slices(bad[i].text, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, units);
            check_slices(bad[i].text, PHI_JSON_REPLACE_BAD_UTF8, units);
            teardown();
        }
    }
}

TEST(a_giant_string_is_read_in_slices) {
    size_t len = 300000, i;
    char *text = (char *)malloc(len + 1);
    uint32_t flags;
    REQUIRE(text != NULL);
    memset(text, 'x', len);
    text[0] = text[len - 1] = '"';
    text[len] = '\0';
    for (flags = 0; flags < 3; flags++) {
        phi__json_reader reader;
        phi_json *root;
        size_t calls = 0;
        setup();
        if (flags == 2)
            for (i = 1; i + 2 < len; i += 2) memcpy(text + i, "\\n", 2);
        phi__json_read_begin(&reader, &arena, phi__str(text, len), flags, 0);
        while (phi__json_read_advance(&reader, 1000) == PHI_BUSY) calls++;
        CHECK_EQ_INT(phi__json_read_result(&reader, &root, NULL), PHI_OK);
        CHECK(calls >= 298);
        CHECK_EQ_INT(phi_json_str(root, NULL).len, flags == 2 ? len / 2 - 1 : len - 2);
        teardown();
    }
    free(text);
}

TEST(nesting_stops_at_the_limit) {
    char text[2 * PHI_JSON_MAX_DEPTH + 4];
    phi__json_reader reader;
    phi_json *root;
    phi_parse_error error;
    size_t depth;
    setup();
    for (depth = 511; depth <= 513; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        CHECK_EQ_INT(phi_json_parse(&arena, phi__str(text, 2 * depth), 0, &root, &error),
                     depth <= 512 ? PHI_OK : PHI_TOO_BIG);
    }
    CHECK_EQ_STR(error.message, "arrays and objects are nested too deeply");
    CHECK_EQ_INT(error.offset, 512);
    for (depth = 1023; depth <= 1025; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        phi__json_read_begin(&reader, &arena, phi__str(text, 2 * depth), 0, 100000);
        CHECK_EQ_INT(phi__json_read_advance(&reader, 100000), depth <= 1024 ? PHI_OK : PHI_TOO_BIG);
        if (depth > 1024) break;
        phi__json_read_result(&reader, &root, NULL);
        CHECK_EQ_INT(strlen(text_of(root, 0)), 2 * depth);
        CHECK(phi__json_get_equal(root, phi_json_copy(&arena, root)));
    }
    phi__json_read_begin(&reader, &arena, phi_str_of("[[[1]]]"), 0, 2);
    CHECK_EQ_INT(phi__json_read_advance(&reader, 100), PHI_TOO_BIG);
    teardown();
}

TEST(a_number_or_a_key_that_is_too_long_is_refused) {
    size_t len = (17u << 20);
    char *text = (char *)malloc(len);
    phi_json *root;
    phi_parse_error error;
    REQUIRE(text != NULL);
    setup();
    memset(text, '1', len);
    CHECK_EQ_INT(phi_json_parse(&arena, phi__str(text, 400), 0, &root, &error), PHI_PARSE);
    CHECK_EQ_STR(error.message, "the number is too large for a double");
    CHECK_EQ_INT(phi_json_parse(&arena, phi__str(text, 70000), 0, &root, &error), PHI_TOO_BIG);
    CHECK_EQ_STR(error.message, "a number of 64 KiB or more");
    text[1] = '.';
    CHECK_EQ_INT(phi_json_parse(&arena, phi__str(text, 65536), 0, &root, &error), PHI_TOO_BIG);
    CHECK_EQ_STR(error.message, "a number of 64 KiB or more");
    CHECK_EQ_INT(phi_json_parse(&arena, phi__str(text, 65535), 0, &root, &error), PHI_OK);
    CHECK_EQ_STR(text_of(root, 0), "1.1111111111111112");
    memcpy(text, "{\"", 2);
    memcpy(text + len - 4, "\":1}", 4);
    CHECK_EQ_INT(phi_json_parse(&arena, phi__str(text, len), 0, &root, &error), PHI_TOO_BIG);
    CHECK_EQ_STR(error.message, "a key of more than 16 MiB");
    memmove(text + len - (2u << 20), text + len - 4, 4);
    CHECK_EQ_INT(phi_json_parse(&arena, phi__str(text, len - (2u << 20) + 4), 0, &root, &error),
                 PHI_OK);
    CHECK_EQ_INT(phi_json_count(root), 1);
    teardown();
    free(text);
}

/* ---- strings ---- */

TEST(escapes_are_undone) {
    phi_json *root;
    setup();
    root = tree("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"a\\u0041\\u00e9\\u20ac\\ud83d\\ude00z\", "
                "\"\\u0000x\"]");
    CHECK_STR(phi_json_str(phi_json_at(root, 0), NULL), "\"\\/\b\f\n\r\t");
    CHECK_STR(phi_json_str(phi_json_at(root, 1), NULL), "aA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
    CHECK_EQ_INT(phi_json_str(phi_json_at(root, 2), NULL).len, 2);
    CHECK(memcmp(phi_json_str(phi_json_at(root, 2), NULL).at, "\0x", 2) == 0);
    root = tree("{\"k\\u0065y\": 1, \"\\\"\": 2}");
    CHECK_EQ_INT(phi_json_int(phi_json_get(root, "key"), 0), 1);
    CHECK_EQ_INT(phi_json_int(phi_json_get(root, "\""), 0), 2);
    teardown();
}

TEST(no_letter_but_those_of_the_standard_makes_an_escape) {
    int c;
    for (c = 1; c < 256; c++) {
        char text[5] = "\"\\x\"";
        phi_json *root;
        phi_parse_error error;
        bool known = strchr("\"\\/bfnrt", c) != NULL;
        text[2] = (char)c;
        setup();
        CHECK_EQ_INT(phi_json_parse(&arena, phi__str(text, 4), 0, &root, &error),
                     known ? PHI_OK : PHI_PARSE);
        teardown();
    }
}

TEST(every_ascii_character_is_written_as_it_should_be) {
    int c;
    for (c = 0; c < 128; c++) {
        char one = (char)c, want[12];
        const char *letter = c != 0 ? strchr("\bb\ff\nn\rr\tt", c) : NULL;
        if (c == '"' || c == '\\')
            snprintf(want, sizeof want, "\"\\%c\"", c);
        else if (c < 32 && letter != NULL)
            snprintf(want, sizeof want, "\"\\%c\"", letter[1]);
        else
            snprintf(want, sizeof want, c < 32 ? "\"\\u%04x\"" : "\"%c\"", c);
        setup();
        CHECK_EQ_STR(text_of(phi_json_new_str(&arena, phi__str(&one, 1)), 0), want);
        teardown();
    }
}

TEST(bad_utf8_and_lone_surrogates_are_replaced_when_asked) {
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"\"a\x80z\"", "a\xef\xbf\xbdz"},
        {"\"\xc3\"", "\xef\xbf\xbd"},
        {"\"\xff\xff\xff\xff\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\xe2\x82x\"", "\xef\xbf\xbdx"}, /* one for each maximal subpart, as in browsers */
        {"\"\xe2\x82\xac\xe2\x82\"", "\xe2\x82\xac\xef\xbf\xbd"},
        {"\"\xf0\x9f\x98\\n\"", "\xef\xbf\xbd\n"},
        {"\"\xf0\x9f\xf0\x9f\x98\x80\"", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"\"\xe0\x80\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\xf4\x90\x80\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\"\\ud800\"", "\xef\xbf\xbd"},
        {"\"\\ud800\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"\"\\udc00\\n\"", "\xef\xbf\xbd\n"},
        {"\"\\ud800\\u0041\"", "\xef\xbf\xbd"
                               "A"},
        {"\"\\n\\n\\n\xff\"", "\n\n\n\xef\xbf\xbd"},
        {"\"\xed\xa0\xbd\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    uint32_t borrow;
    size_t i;
    for (borrow = 0; borrow < 2; borrow++)
        for (i = 0; i < PHI__COUNT(cases); i++) {
            phi_json *root = NULL;
            phi_parse_error error;
            setup();
            CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(cases[i].text),
                                        PHI_JSON_REPLACE_BAD_UTF8 | borrow, &root, &error),
                         PHI_OK);
            CHECK_STR(phi_json_str(root, NULL), cases[i].want);
            teardown();
        }
}

TEST(a_replaced_string_does_not_run_into_what_follows) {
    phi_json *root;
    setup();
    CHECK_EQ_INT(parse("[\"\xff\xff\xff\",\"abc\",1]", 15, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL),
                 PHI_OK);
    CHECK_EQ_STR(text_of(root, 0), "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",\"abc\",1]");
    teardown();
}

TEST(strings_are_terminated_unless_borrowed_and_borrowed_ones_point_into_the_text) {
    const char *text = "{\"k\":\"plain\",\"e\":\"a\\nb\"}";
    phi_json *root;
    setup();
    root = tree(text);
    CHECK_EQ_STR(phi_json_str(phi_json_get(root, "k"), NULL).at, "plain");
    CHECK_EQ_STR(phi_json_str(phi_json_get(root, "e"), NULL).at, "a\nb");
    CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(text), PHI_JSON_BORROW, &root, NULL), PHI_OK);
    CHECK(phi_json_str(phi_json_get(root, "k"), NULL).at == text + 6);
    CHECK_STR(phi_json_str(phi_json_get(root, "e"), NULL), "a\nb");
    teardown();
}

/* ---- looking ---- */

/* Around the number of bytes that are taken over at once. */
TEST(a_borrowed_string_is_unescaped_however_late_its_first_escape_comes) {
    size_t plain;
    setup();
    for (plain = 4000; plain < 4200; plain++) {
        static char text[8400];
        size_t n = 0, i;
        phi_json *root = NULL;
        phi_str read;
        text[n++] = '"';
        if (plain % 2 == 1) text[n++] = 'x';
        for (i = plain % 2; i < plain; i += 2, n += 2) memcpy(text + n, "\xc3\xa4", 2);
        memcpy(text + n, "\\n\xc3\xb6\\\"", 6);
        n += 6;
        text[n++] = '"';
        CHECK_EQ_INT(phi_json_parse(&arena, phi__str(text, n), PHI_JSON_BORROW, &root, NULL),
                     PHI_OK);
        read = phi_json_str(root, "");
        CHECK_EQ_INT(read.len, plain + 4);
        CHECK(read.len == plain + 4 && memcmp(read.at, text + 1, plain) == 0 &&
              memcmp(read.at + plain, "\n\xc3\xb6\"", 5) == 0);
        phi__arena_rewind(&arena);
    }
    teardown();
}

TEST(members_items_and_paths_are_found) {
    phi_json *root;
    phi_json_iter it;
    setup();
    root = tree(
        "{\"choices\":[{\"index\":7,\"delta\":{\"content\":\"Hi\"}},[1,2,[3]]],\"a\":1,\"a\":2}");
    CHECK_STR(phi_json_str(phi_json_path(root, "choices[0].delta.content"), NULL), "Hi");
    CHECK_EQ_INT(phi_json_int(phi_json_path(root, "choices[1][2][0]"), -1), 3);
    CHECK(phi_json_path(root, "") == root);
    CHECK(phi_json_path(root, "choices[2]") == NULL);
    CHECK(phi_json_path(root, "choices[0") == NULL);
    CHECK(phi_json_path(root, "choices[x]") == NULL);
    CHECK(phi_json_path(root, "choices[]") == NULL);
    CHECK(phi_json_path(root, "choices[0]x") == NULL);
    CHECK(phi_json_path(root, "choices.") == NULL);
    CHECK(phi_json_path(root, "choices..a") == NULL);
    CHECK(phi_json_path(root, "choices]") == NULL);
    CHECK(phi_json_path(root, "choices[99999999999999999999999]") == NULL);
    CHECK(phi_json_path(root, "nothing.here") == NULL);
    CHECK(phi_json_path(NULL, "a") == NULL);
    CHECK_EQ_INT(phi_json_int(phi_json_get(root, "a"), 0), 2); /* the last of a name */
    CHECK_EQ_INT(phi_json_count(root), 3);
    it = phi_json_each(root);
    CHECK(phi_json_is(phi_json_next(&it), PHI_JSON_ARRAY));
    CHECK_STR(it.key, "choices");
    CHECK_EQ_INT(phi_json_int(phi_json_next(&it), 0), 1);
    CHECK_STR(it.key, "a");
    CHECK_EQ_INT(phi_json_int(phi_json_next(&it), 0), 2);
    CHECK(phi_json_next(&it) == NULL);
    CHECK(phi_json_next(&it) == NULL);
    it = phi_json_each(NULL);
    CHECK(phi_json_next(&it) == NULL);
    teardown();
}

TEST(members_are_picked_in_one_pass_and_the_last_of_a_name_counts) {
    static const phi_str names[] = {PHI__JSON_NAME("a"), PHI__JSON_NAME("bb"), PHI__JSON_NAME("bc"),
                                    PHI__JSON_NAME("d")};
    const phi_json *found[PHI__COUNT(names)];
    setup();
    phi__json_get_pick(tree("{\"a\":1,\"bb\":2,\"bc\":3,\"d\":4}"), names, 4, found);
    CHECK_EQ_INT(phi_json_int(found[0], 0), 1);
    CHECK_EQ_INT(phi_json_int(found[1], 0), 2);
    CHECK_EQ_INT(phi_json_int(found[2], 0), 3);
    CHECK_EQ_INT(phi_json_int(found[3], 0), 4);
    phi__json_get_pick(tree("{\"d\":1,\"\":2,\"bc\":3,\"b\":4,\"bc\":5,\"a\":6,\"bx\":7}"), names,
                       4, found);
    CHECK_EQ_INT(phi_json_int(found[0], 0), 6);
    CHECK(found[1] == NULL);
    CHECK_EQ_INT(phi_json_int(found[2], 0), 5);
    CHECK_EQ_INT(phi_json_int(found[3], 0), 1);
    phi__json_get_pick(tree("[1]"), names, 4, found);
    CHECK(found[0] == NULL && found[1] == NULL && found[2] == NULL && found[3] == NULL);
    phi__json_get_pick(tree("{}"), names, 4, found);
    CHECK(found[0] == NULL && found[3] == NULL);
    phi__json_get_pick(NULL, names, 4, found);
    CHECK(found[0] == NULL && found[3] == NULL);
    teardown();
}

TEST(getters_give_the_fallback_for_what_is_something_else_or_does_not_fit) {
    phi_json *root;
    setup();
    root =
        tree("[1,-1,2.0,2.5,1e300,18446744073709551615,\"s\",true,null,[],{},-9223372036854775808,"
             "-9223372036854775809,9223372036854775808,18446744073709551616]");
    CHECK_EQ_INT(phi_json_int(phi_json_at(root, 0), 9), 1);
    CHECK_EQ_INT(phi_json_int(phi_json_at(root, 1), 9), -1);
    CHECK_EQ_INT(phi_json_int(phi_json_at(root, 2), 9), 2);
    CHECK_EQ_INT(phi_json_int(phi_json_at(root, 3), 9), 9);
    CHECK_EQ_INT(phi_json_int(phi_json_at(root, 4), 9), 9);
    CHECK_EQ_INT(phi_json_int(phi_json_at(root, 5), 9), 9);
    CHECK_EQ_INT(phi_json_int(phi_json_at(root, 6), 9), 9);
    CHECK(phi_json_int(phi_json_at(root, 11), 9) == INT64_MIN);
    CHECK_EQ_INT(phi_json_int(phi_json_at(root, 12), 9), 9);
    CHECK_EQ_INT(phi_json_int(phi_json_at(root, 13), 9), 9);
    CHECK_EQ_INT(phi__json_get_uint(phi_json_at(root, 14), 9), 9);
    CHECK(phi__json_get_equal(phi_json_at(root, 11), tree("-9223372036854775808.0")));
    CHECK(phi__json_get_uint(phi_json_at(root, 5), 9) == UINT64_MAX);
    CHECK_EQ_INT(phi__json_get_uint(phi_json_at(root, 1), 9), 9);
    CHECK_EQ_INT(phi__json_get_uint(phi_json_at(root, 2), 9), 2);
    CHECK_EQ_INT(phi__json_get_uint(phi_json_at(root, 4), 9), 9);
    CHECK(phi_json_num(phi_json_at(root, 3), 9) == 2.5);
    CHECK(phi_json_num(phi_json_at(root, 1), 9) == -1.0);
    CHECK(phi_json_num(phi_json_at(root, 6), 9) == 9.0);
    CHECK(phi_json_bool(phi_json_at(root, 7), false));
    CHECK(phi_json_bool(phi_json_at(root, 0), true));
    CHECK_STR(phi_json_str(phi_json_at(root, 6), "x"), "s");
    CHECK_STR(phi_json_str(phi_json_at(root, 7), "x"), "x");
    CHECK_STR(phi_json_str(NULL, NULL), "");
    CHECK(phi_json_is(phi_json_at(root, 8), PHI_JSON_NULL) && !phi_json_is(NULL, PHI_JSON_NULL));
    CHECK(phi_json_is(phi_json_at(root, 2), PHI_JSON_INTEGER) &&
          !phi_json_is(phi_json_at(root, 3), PHI_JSON_INTEGER));
    CHECK(phi_json_is(phi_json_at(root, 4), PHI_JSON_INTEGER) &&
          !phi_json_is(phi_json_at(root, 6), PHI_JSON_INTEGER));
    CHECK(!phi_json_is(phi_json_new_num(&arena, HUGE_VAL), PHI_JSON_INTEGER));
    CHECK(!phi_json_is(phi_json_new_num(&arena, HUGE_VAL - HUGE_VAL), PHI_JSON_INTEGER));
    CHECK_EQ_STR(text_of(phi_json_new_num(&arena, -HUGE_VAL), 0), "null");
    CHECK_EQ_INT(phi_json_type_of(NULL), PHI_JSON_NONE);
    CHECK_EQ_STR(phi__json_get_type_name(phi_json_at(root, 7)), "boolean");
    CHECK_EQ_STR(phi__json_get_type_name(NULL), "nothing");
    CHECK_EQ_INT(phi_json_count(phi_json_at(root, 6)), 0);
    CHECK(phi_json_at(root, 15) == NULL && phi_json_at(NULL, 0) == NULL);
    CHECK(phi_json_get(root, "x") == NULL && phi_json_get(NULL, "x") == NULL);
    teardown();
}

static bool equal(const char *a, const char *b) {
    bool same = phi__json_get_equal(tree(a), tree(b));
    CHECK(phi__json_get_equal(tree(b), tree(a)) == same);
    return same;
}

TEST(equality_goes_by_value) {
    setup();
    CHECK(equal("1", "1.0") && equal("0", "-0") && equal("1e2", "100"));
    CHECK(equal("18446744073709551615", "18446744073709551615"));
    CHECK(!equal("9007199254740993", "9007199254740992.0"));
    CHECK(!equal("18446744073709551615", "18446744073709551616"));
    CHECK(!equal("-1", "18446744073709551615"));
    CHECK(!equal("1", "\"1\"") && !equal("null", "false") && !equal("true", "false"));
    CHECK(equal("{\"a\":1,\"b\":[2,{}]}", "{\"b\":[2.0,{}],\"a\":1}"));
    CHECK(!equal("[1,2]", "[2,1]") && !equal("[1]", "[1,2]"));
    CHECK(!equal("{\"a\":1}", "{\"a\":1,\"b\":2}"));
    CHECK(!equal("{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}"));
    CHECK(equal("{\"a\":1,\"a\":2}", "{\"a\":2}"));
    CHECK(equal("{\"a\":1,\"a\":2}", "{\"a\":3,\"a\":2}"));
    CHECK(!equal("{\"a\":1,\"a\":2}", "{\"a\":2,\"a\":1}"));
    CHECK(equal("{\"a\":1,\"b\":0,\"a\":2}", "{\"b\":0,\"a\":2}"));
    CHECK(phi__json_get_equal(NULL, NULL));
    CHECK(!phi__json_get_equal(NULL, tree("null")));
    teardown();
}

/* ---- building ---- */

TEST(documents_are_built_and_changed) {
    phi_json *root, *list;
    setup();
    root = phi_json_new_object(&arena);
    CHECK_EQ_INT(phi_json_set(&arena, root, "name", phi__json_edit_text(&arena, "ada")), PHI_OK);
    CHECK_EQ_INT(phi_json_set(&arena, root, "age", phi_json_new_int(&arena, 36)), PHI_OK);
    CHECK_EQ_INT(phi_json_set(&arena, root, "big", phi__json_edit_uint(&arena, UINT64_MAX)),
                 PHI_OK);
    CHECK_EQ_INT(phi_json_set(&arena, root, "x", phi_json_new_num(&arena, 0.5)), PHI_OK);
    CHECK_EQ_INT(phi_json_set(&arena, root, "ok", phi_json_new_bool(&arena, true)), PHI_OK);
    list = phi_json_new_array(&arena);
    CHECK_EQ_INT(phi_json_add(list, phi__json_edit_null(&arena)), PHI_OK);
    CHECK_EQ_INT(phi_json_add(list, phi_json_new_object(&arena)), PHI_OK);
    CHECK_EQ_INT(phi_json_add(list, phi_json_new_array(&arena)), PHI_OK);
    CHECK_EQ_INT(phi_json_set(&arena, root, "list", list), PHI_OK);
    CHECK_EQ_STR(text_of(root, 0), "{\"name\":\"ada\",\"age\":36,\"big\":18446744073709551615,"
                                   "\"x\":0.5,\"ok\":true,\"list\":[null,{},[]]}");
    CHECK_EQ_STR(
        text_of(root, PHI_JSON_PRETTY),
        "{\n  \"name\": \"ada\",\n  \"age\": 36,\n  \"big\": 18446744073709551615,\n"
        "  \"x\": 0.5,\n  \"ok\": true,\n  \"list\": [\n    null,\n    {},\n    []\n  ]\n}");
    CHECK_EQ_INT(phi_json_set(&arena, root, "age", phi_json_new_int(&arena, 37)), PHI_OK);
    CHECK_EQ_INT(phi_json_set(&arena, root, "list", phi_json_new_int(&arena, 1)), PHI_OK);
    CHECK(phi_json_is(list, PHI_JSON_ARRAY) && phi__json_edit_remove_at(list, 2) != NULL);
    CHECK(phi_json_is(phi__json_edit_remove_at(list, 0), PHI_JSON_NULL));
    CHECK(phi__json_edit_remove_at(list, 1) == NULL);
    CHECK_EQ_STR(text_of(list, 0), "[{}]");
    CHECK(phi__json_edit_remove_at(list, 0) != NULL && phi_json_count(list) == 0);
    CHECK_EQ_STR(text_of(list, 0), "[]");
    CHECK_EQ_INT(phi_json_add(list, phi_json_new_int(&arena, 5)), PHI_OK);
    CHECK_EQ_STR(text_of(list, PHI_JSON_PRETTY), "[\n  5\n]");
    CHECK_EQ_INT(phi_json_int(phi_json_remove(root, "list"), 0), 1);
    CHECK(phi_json_remove(root, "list") == NULL);
    CHECK(phi_json_remove(root, "big") != NULL && phi_json_remove(root, "name") != NULL);
    CHECK_EQ_STR(text_of(root, 0), "{\"age\":37,\"x\":0.5,\"ok\":true}");
    CHECK_EQ_STR(text_of(NULL, 0), "null");
    teardown();
}

TEST(set_and_remove_deal_with_all_of_a_name) {
    phi_json *root;
    setup();
    root = tree("{\"a\":1,\"b\":2,\"a\":3}");
    CHECK_EQ_INT(phi_json_set(&arena, root, "a", phi_json_new_int(&arena, 4)), PHI_OK);
    CHECK_EQ_STR(text_of(root, 0), "{\"b\":2,\"a\":4}");
    root = tree("{\"a\":1,\"a\":3}");
    CHECK_EQ_INT(phi_json_set(&arena, root, "a", phi_json_new_int(&arena, 4)), PHI_OK);
    CHECK_EQ_STR(text_of(root, 0), "{\"a\":4}");
    CHECK_EQ_INT(phi_json_set(&arena, root, "z", phi_json_new_int(&arena, 5)), PHI_OK);
    CHECK_EQ_STR(text_of(root, 0), "{\"a\":4,\"z\":5}");
    root = tree("{\"a\":1,\"b\":2,\"a\":3,\"c\":4}");
    CHECK_EQ_INT(phi_json_set(&arena, root, "a", phi_json_new_int(&arena, 9)), PHI_OK);
    CHECK_EQ_STR(text_of(root, 0), "{\"b\":2,\"a\":9,\"c\":4}");
    root = tree("{\"a\":1,\"b\":2,\"a\":3}");
    CHECK_EQ_INT(phi_json_int(phi_json_remove(root, "a"), 0), 3);
    CHECK_EQ_STR(text_of(root, 0), "{\"b\":2}");
    root = tree("{\"a\":1,\"a\":3}");
    CHECK_EQ_INT(phi_json_int(phi_json_remove(root, "a"), 0), 3);
    CHECK_EQ_STR(text_of(root, 0), "{}");
    teardown();
}

TEST(misuse_of_the_tree_is_a_status) {
    phi_json *root, *value;
    setup();
    root = phi_json_new_object(&arena);
    value = phi_json_new_int(&arena, 1);
    CHECK_EQ_INT(phi_json_set(&arena, root, "a", NULL), PHI_NO_MEMORY);
    CHECK_EQ_INT(phi_json_set(&arena, root, NULL, value), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_json_set(&arena, NULL, "a", value), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_json_set(&arena, value, "a", root), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_json_add(root, value), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_json_set(&arena, root, "a", root), PHI_MISUSE);
    CHECK_EQ_INT(phi_json_set(&arena, root, "a", value), PHI_OK);
    CHECK_EQ_INT(phi_json_set(&arena, root, "b", value), PHI_MISUSE);
    CHECK(phi_json_remove(root, "a") == value);
    CHECK_EQ_INT(phi_json_set(&arena, root, "b", value), PHI_OK);
    CHECK_EQ_STR(text_of(root, 0), "{\"b\":1}");
    teardown();
}

TEST(a_copy_is_deep) {
    phi_json *root, *copy;
    setup();
    root = tree("{\"a\":[1,{\"b\":\"x\\n\"}],\"c\":\"\",\"\":null}");
    copy = phi_json_copy(&arena, root);
    CHECK(phi__json_get_equal(root, copy));
    CHECK(phi_json_remove(phi_json_path(root, "a[1]"), "b") != NULL);
    CHECK_EQ_STR(text_of(copy, 0), "{\"a\":[1,{\"b\":\"x\\n\"}],\"c\":\"\",\"\":null}");
    copy = phi_json_copy(&arena, phi_json_get(copy, "a"));
    CHECK_EQ_INT(phi_json_add(phi_json_new_array(&arena), copy), PHI_OK); /* it stands alone */
    CHECK(phi_json_copy(&arena, NULL) == NULL);
    teardown();
}

/* ---- writing ---- */

TEST(strings_are_written_with_the_escapes_that_are_needed) {
    phi_json *node;
    setup();
    node = phi_json_new_str(&arena,
                            phi__str("\"\\/\b\f\n\r\t\x01\x1f\x7f\0\xc3\xa9\xf0\x9f\x98\x80", 18));
    CHECK_EQ_STR(text_of(node, 0), "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000\xc3\xa9"
                                   "\xf0\x9f\x98\x80\"");
    CHECK_EQ_STR(text_of(node, PHI_JSON_ASCII),
                 "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000"
                 "\\u00e9\\ud83d\\ude00\"");
    node = phi_json_new_str(&arena, phi__str("a\xff\xe2\x82z", 5));
    CHECK_EQ_STR(text_of(node, 0), "\"a\xef\xbf\xbd\xef\xbf\xbdz\"");
    CHECK_EQ_STR(text_of(node, PHI_JSON_ASCII), "\"a\\ufffd\\ufffdz\"");
    teardown();
}

TEST(writing_in_slices_of_any_size_gives_the_same) {
    const char *text =
        "{\"a\":[1,2.5,[],{\"b\\n\":\"long enough to be cut in several places \\u0001"
        "\xc3\xa9\xf0\x9f\x98\x80\"}],\"c\":{},\"d\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
        "0]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],\"e\":true,\"f\":null}";
    uint32_t flags;
    size_t units;
    for (flags = 0; flags < 4; flags++)
        for (units = 0; units < 12; units++) {
            phi__json_writer w;
            phi__buf out;
            phi_json *root;
            size_t before = 0;
            setup();
            root = tree(text);
            phi__buf_init(&out, &memory);
            phi__json_write_writer_begin(&w, &out, root, flags);
            while (phi__json_write_writer_advance(&w, units) == PHI_BUSY) {
                CHECK(out.len > before && out.len - before < units + 70);
                before = out.len;
            }
            CHECK_STR(phi__buf_str(&out), text_of(root, flags));
            phi__json_write_writer_end(&w);
            phi__json_write_writer_end(&w);
            phi__buf_free(&out);
            teardown();
        }
}

TEST(an_abandoned_writer_leaves_nothing) {
    phi__json_writer w;
    phi__buf out;
    char deep[2 * 600];
    phi_json *root = NULL;
    setup();
    memset(deep, '[', 500);
    memset(deep + 500, ']', 500);
    CHECK_EQ_INT(phi_json_parse(&arena, phi__str(deep, 1000), 0, &root, NULL), PHI_OK);
    phi__buf_init(&out, &memory);
    phi__json_write_writer_begin(&w, &out, root, 0);
    CHECK_EQ_INT(phi__json_write_writer_advance(&w, 400), PHI_BUSY);
    phi__json_write_writer_end(&w);
    phi__buf_free(&out);
    teardown();
}

TEST(a_tree_that_is_nested_too_deeply_is_not_written) {
    phi_json *root, *inner;
    phi_str out;
    int i;
    setup();
    root = inner = phi_json_new_array(&arena);
    for (i = 0; i < 1024; i++) {
        phi_json *next = phi_json_new_array(&arena);
        CHECK_EQ_INT(phi_json_add(inner, next), PHI_OK);
        inner = next;
    }
    CHECK_EQ_INT(phi_json_add(inner, phi__json_edit_null(&arena)), PHI_OK);
    CHECK_EQ_INT(phi_json_write(&arena, root, 0, &out), PHI_TOO_BIG);
    CHECK(phi_json_copy(&arena, root) == NULL);
    CHECK(!phi__json_get_equal(root, phi_json_at(root, 0)));
    teardown();
}

TEST(text_is_put_together_without_a_tree) {
    phi__buf buf;
    setup();
    phi__buf_init(&buf, &memory);
    phi__json_write_comma(&buf);
    phi__buf_char(&buf, '{');
    phi__json_write_key(&buf, PHI__LIT("a"));
    phi__json_write_str(&buf, PHI__LIT("x\"\xff"));
    phi__json_write_key(&buf, PHI__LIT("b"));
    phi__buf_char(&buf, '[');
    phi__json_write_comma(&buf);
    phi__json_number_put_u64(&buf, 1);
    phi__json_write_comma(&buf);
    phi__json_write_bool(&buf, false);
    phi__buf_text(&buf, "]");
    phi__json_write_key(&buf, PHI__LIT("c"));
    phi__json_number_put_double(&buf, 0.25);
    phi__json_write_key(&buf, PHI__LIT("d"));
    phi__buf_char(&buf, '"');
    phi__json_write_part(&buf, PHI__LIT("p\n"));
    phi__json_write_part(&buf, PHI__LIT(""));
    phi__json_write_part(&buf, PHI__LIT("q"));
    phi__buf_text(&buf, "\"}");
    CHECK_STR(phi__buf_str(&buf),
              "{\"a\":\"x\\\"\xef\xbf\xbd\",\"b\":[1,false],\"c\":0.25,\"d\":\"p\\nq\"}");
    phi__buf_free(&buf);
    teardown();
}

TEST(long_strings_survive_writing_and_reading_whatever_they_hold) {
    uint32_t state = 7, round;
    for (round = 0; round < 300; round++) {
        static char raw[3000];
        size_t len = test_random(&state) % sizeof raw, i;
        phi_json *node, *again = NULL;
        phi_str out;
        setup();
        for (i = 0; i < len; i++)
            raw[i] = (char)(test_random(&state) % (test_random(&state) % 3 ? 0x80 : 0x20));
        for (i = 0; i + 4 < len; i += 1 + test_random(&state) % 50)
            memcpy(raw + i, "\xf0\x9f\x98\x80", 4);
        for (i = 0; i < len; i++) /* what was cut by the next one */
            if ((unsigned char)raw[i] >= 0x80 && phi__json_text_utf8(raw + i, raw + len) == 0)
                raw[i] = 'x';
            else if ((unsigned char)raw[i] >= 0x80)
                i += 3;
        node = phi_json_new_str(&arena, phi__str(raw, len));
        CHECK_EQ_INT(phi_json_write(&arena, node, round % 2 ? PHI_JSON_ASCII : 0, &out), PHI_OK);
        CHECK_EQ_INT(phi_json_parse(&arena, out, round % 3 ? PHI_JSON_BORROW : 0, &again, NULL),
                     PHI_OK);
        CHECK(phi__json_get_equal(node, again));
        teardown();
    }
}

/* ---- out of memory ---- */

static phi_status scenario_of_memory(void) {
    phi_json *root = NULL, *copy;
    phi_str out;
    phi_status status;
    static const char text[] = "{\"a\":[1,\"x\\n\",\"\xff\xff\",{\"b\":null}],\"c\":1e5}";
    char deep[200];
    setup();
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    status = parse(text, sizeof text - 1, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    if (status == PHI_OK) {
        copy = phi_json_copy(&arena, root);
        status = phi_json_set(&arena, root, "d", copy);
    }
    if (status == PHI_OK)
        status = phi_json_set(&arena, root, "deep", phi__json_edit_text(&arena, "x"));
    if (status == PHI_OK) status = phi_json_write(&arena, root, PHI_JSON_PRETTY, &out);
    if (status == PHI_OK) status = parse(deep, 200, 0, &root, NULL);
    if (status == PHI_OK) status = phi_json_write(&arena, root, 0, &out);
    teardown();
    return status;
}

TEST(every_failed_allocation_is_reported_and_leaks_nothing) {
    int n = 0;
    for (;; n++) {
        phi_status status;
        test_alloc_fail_at(n);
        status = scenario_of_memory();
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        if (!test_alloc_tripped()) {
            CHECK_EQ_INT(status, PHI_OK);
            break;
        }
        CHECK_EQ_INT(status, PHI_NO_MEMORY);
    }
    CHECK(n > 4);
    test_alloc_fail_at(-1);
}

TEST_MAIN(TEST_ENTRY(texts_that_are_json_are_read_and_come_back_the_same),
          TEST_ENTRY(texts_that_are_not_json_are_refused_with_the_place_and_what_was_expected),
          TEST_ENTRY(errors_name_line_and_column),
          TEST_ENTRY(reading_in_slices_of_any_size_gives_the_same),
          TEST_ENTRY(a_giant_string_is_read_in_slices), TEST_ENTRY(nesting_stops_at_the_limit),
          TEST_ENTRY(a_number_or_a_key_that_is_too_long_is_refused), TEST_ENTRY(escapes_are_undone),
          TEST_ENTRY(no_letter_but_those_of_the_standard_makes_an_escape),
          TEST_ENTRY(every_ascii_character_is_written_as_it_should_be),
          TEST_ENTRY(bad_utf8_and_lone_surrogates_are_replaced_when_asked),
          TEST_ENTRY(a_replaced_string_does_not_run_into_what_follows),
          TEST_ENTRY(strings_are_terminated_unless_borrowed_and_borrowed_ones_point_into_the_text),
          TEST_ENTRY(a_borrowed_string_is_unescaped_however_late_its_first_escape_comes),
          TEST_ENTRY(members_items_and_paths_are_found),
          TEST_ENTRY(members_are_picked_in_one_pass_and_the_last_of_a_name_counts),
          TEST_ENTRY(getters_give_the_fallback_for_what_is_something_else_or_does_not_fit),
          TEST_ENTRY(equality_goes_by_value), TEST_ENTRY(documents_are_built_and_changed),
          TEST_ENTRY(set_and_remove_deal_with_all_of_a_name),
          TEST_ENTRY(misuse_of_the_tree_is_a_status), TEST_ENTRY(a_copy_is_deep),
          TEST_ENTRY(strings_are_written_with_the_escapes_that_are_needed),
          TEST_ENTRY(writing_in_slices_of_any_size_gives_the_same),
          TEST_ENTRY(an_abandoned_writer_leaves_nothing),
          TEST_ENTRY(a_tree_that_is_nested_too_deeply_is_not_written),
          TEST_ENTRY(text_is_put_together_without_a_tree),
          TEST_ENTRY(long_strings_survive_writing_and_reading_whatever_they_hold),
          TEST_ENTRY(every_failed_allocation_is_reported_and_leaks_nothing))
