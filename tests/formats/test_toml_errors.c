/* test_toml_errors.c - TOML that is refused: where, and with which words. */
#include "support/test.h"
#include "text/json_in.h"
#include "formats/toml.h"
#include "formats/reader_in.h"

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) { phi_arena_free(&arena); }

static bool refused(const char *text, const char *want) {
    static const size_t units[] = {SIZE_MAX, 1, 2, 3, 7};
    bool good = true;
    size_t i;
    for (i = 0; i < PHI__COUNT(units) && good; i++) {
        phi_reader *reader;
        phi_parse_error error;
        phi_json *root = NULL;
        char got[256];
        setup();
        reader = phi_toml_reader_new(&arena, phi_str_of(text), NULL);
        while (phi_reader_advance(reader, units[i]) == PHI_BUSY) continue;
        good = CHECK_EQ_INT(phi_reader_result(reader, &root, &error), PHI_PARSE);
        snprintf(got, sizeof got, "%u:%u: %s", error.line, error.column, error.message);
        good = good && CHECK(root == NULL) && CHECK_EQ_STR(got, want);
        if (!good) fprintf(stderr, "%s\n", text);
        teardown();
    }
    return good;
}

TEST(keys_and_tables_are_defined_once) {
    CHECK(refused("a = 1\nb = 2\n  a = 3",
                  "3:3: the key \"a\" is in this table already: keep one of the two"));
    CHECK(refused("a = 1\na.b = 2", "2:1: the key \"a\" is a value already, and no table"));
    CHECK(refused("a = 1\n[a]", "2:2: the key \"a\" has a value already"));
    CHECK(refused("a = 1\n[a.b]", "2:2: the key \"a\" is a value already, and no table"));
    CHECK(refused("[a]\n[a]",
                  "2:2: the table \"a\" is defined already: put all its keys under one header"));
    CHECK(refused("[a]\n[b]\n[a.c]\n[a]",
                  "4:2: the table \"a\" is defined already: put all its keys under one header"));
    CHECK(refused("a.b = 1\n[a]",
                  "2:2: the table \"a\" is defined already: put all its keys under one header"));
    CHECK(refused("[a.b]\nx = 1\n[a]\nb.y = 2",
                  "4:1: the table \"b\" is defined already: a dotted key cannot add to it"));
    CHECK(refused("[t]\na.b = 1\n[u]\n[t.a]",
                  "4:4: the table \"a\" is defined already: put all its keys under one header"));
    CHECK(refused("[[a]]\n[a]", "2:2: the key \"a\" is an array of tables already"));
    CHECK(refused("[a]\n[[a]]", "2:3: the key \"a\" is a table already, and no array of tables"));
    CHECK(refused("[a.b]\n[[a]]", "2:3: the key \"a\" is a table already, and no array of tables"));
    CHECK(
        refused("a = []\n[[a]]", "2:3: the key \"a\" is an array in brackets, which is complete"));
    CHECK(refused("a = 1\n[[a]]", "2:3: the key \"a\" is a value already, and no array of tables"));
    CHECK(refused("a = {b = 1}\na.c = 2",
                  "2:1: the key \"a\" is an inline table, which is complete"));
    CHECK(
        refused("a = {b = 1}\n[a.c]", "2:2: the key \"a\" is an inline table, which is complete"));
    CHECK(refused("a = {b = 1, b = 2}",
                  "1:13: the key \"b\" is in this table already: keep one of the two"));
    CHECK(refused("a = {b.c = 1, b = 2}",
                  "1:15: the key \"b\" is in this table already: keep one of the two"));
    CHECK(refused("\"\\u0001\" = 1\n\"\\u0001\" = 1",
                  "2:1: the key \"?\" is in this table already: keep one of the two"));
    CHECK(refused("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx = 1\n"
                  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx = 1",
                  "2:1: the key \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\" is in "
                  "this table already: keep one of the two"));
}

TEST(lines_say_what_was_expected) {
    CHECK(refused("a", "1:2: expected '.' or '=', found the end of the text"));
    CHECK(refused("a b = 1", "1:3: expected '.' or '=', found 'b'"));
    CHECK(refused("= 1", "1:1: expected a key, found '='"));
    CHECK(
        refused("{\"a\": 1}", "1:1: expected a key, found '{': this is read as TOML, not as JSON"));
    CHECK(refused("a: 1", "1:2: expected '.' or '=', found ':': TOML has '=' behind a key, not ':' "
                          "as YAML and JSON have"));
    CHECK(refused("a. = 1", "1:4: expected a key, found '='"));
    CHECK(refused("a =\n", "1:4: expected a value, found the end of the line"));
    CHECK(refused("a = 1 b = 2", "1:7: expected the end of the line, found 'b'"));
    CHECK(refused("[a\n", "1:3: expected '.' or ']', found the end of the line"));
    CHECK(refused("[]", "1:2: expected a key, found ']'"));
    CHECK(refused("[a] x", "1:5: expected the end of the line, found 'x'"));
    CHECK(refused("[[a] ]", "1:5: expected ']' right behind the first one, found a space"));
    CHECK(refused("\"\"\"a\"\"\" = 1", "1:1: a key cannot be a string of several lines"));
    CHECK(refused("\"a\nb\" = 1", "1:3: a key must end on its line"));
    CHECK(refused("a = [1 2]", "1:8: expected ',' or ']', found '2'"));
    CHECK(refused("a = [1,", "1:8: expected a value or ']', found the end of the text"));
    CHECK(refused("a = [1", "1:7: expected ',' or ']', found the end of the text"));
    CHECK(refused("a = [,]", "1:6: expected a value or ']', found ','"));
    CHECK(refused("a = {b = 1 c = 2}", "1:12: expected ',' or '}', found 'c'"));
    CHECK(refused("a = {b = 1,}", "1:12: a comma before '}', which TOML 1.0 does not allow"));
    CHECK(refused("a = {b = 1\n}", "1:11: a table in braces must be on one line"));
    CHECK(refused("a = {\n}", "1:6: a table in braces must be on one line"));
    CHECK(refused("a = 1\x01", "1:6: expected the end of the line, found byte 0x01"));
    CHECK(refused("a = 1\r", "1:6: expected the end of the line, found byte 0x0d"));
    CHECK(refused("# a\rb", "1:4: a carriage return without a line feed behind it"));
    CHECK(
        refused("# \x7f",
                "1:3: a control character, which must be an escape in a string in double quotes"));
    CHECK(refused("# \xff", "1:3: a byte that is not UTF-8"));
    CHECK(refused("\xfe\xff", "1:1: expected a key, found byte 0xfe"));
}

TEST(values_say_what_is_wrong_with_them) {
    CHECK(refused("a = hello", "1:5: expected a value: text must be in quotes"));
    CHECK(refused("a = True", "1:5: true and false are written in small letters"));
    CHECK(refused("a = null", "1:5: TOML has no null: leave the key out"));
    CHECK(refused("a = 01", "1:5: a number must not begin with a zero"));
    CHECK(refused("a = 1__0", "1:5: an underscore must be between two digits"));
    CHECK(refused("a = 0x", "1:5: expected digits behind the prefix of the number"));
    CHECK(refused("a = 0xg", "1:5: a digit that is not hexadecimal"));
    CHECK(refused("a = 0o8", "1:5: a digit that is not octal"));
    CHECK(refused("a = 0b2", "1:5: a digit that is not binary"));
    CHECK(refused("a = +0x1", "1:5: a number with a prefix has no sign"));
    CHECK(refused("a = 1.", "1:5: expected a digit in the number"));
    CHECK(refused("a = .5", "1:5: expected a digit in the number"));
    CHECK(refused("a = -", "1:5: expected a digit in the number"));
    CHECK(refused("a = 12ab", "1:5: expected a number, a date, true or false: a number has no "
                              "unit, and text must be in quotes"));
    CHECK(refused("a = 30s", "1:5: expected a number, a date, true or false: a number has no "
                             "unit, and text must be in quotes"));
    CHECK(refused("a = 1,000", "1:6: expected the end of the line, found ',': no comma is behind a "
                               "value, and none in a number"));
    CHECK(refused("a = \xE2\x80\x9Cx\xE2\x80\x9D",
                  "1:5: expected a value, found a curly quote: write a straight one, \" or '"));
    CHECK(refused("a = \"x\xE2\x80\x9D\xE2\x80\x99\" \xE2\x80\x98",
                  "1:15: expected the end of the line, found a curly quote: write a straight one, "
                  "\" or '"));
    CHECK(refused("a = \xE2\x80", "1:5: expected a value, found byte 0xe2"));
    CHECK(refused("a = 9223372036854775808", "1:5: the integer is too large for 64 bits"));
    CHECK(refused("a = -9223372036854775809", "1:5: the integer is too large for 64 bits"));
    CHECK(refused("a = 0x8000000000000000", "1:5: the integer is too large for 64 bits"));
    CHECK(refused("a = 1e999", "1:5: the number is too large for a double"));
    CHECK(refused("a = -1e999", "1:5: the number is too large for a double"));
    CHECK(refused("a = 2023-02-29",
                  "1:5: no date or time that exists: they are written as 1979-05-27, 07:32:00, "
                  "1979-05-27T07:32:00 or 1979-05-27T07:32:00Z"));
}

TEST(strings_say_what_is_wrong_with_them) {
    CHECK(refused("a = \"x", "1:7: expected the closing quote of a string, found the end of the "
                             "text"));
    CHECK(refused("a = \"x\n\"", "1:7: a string must end on its line, unless it is in three "
                                 "quotes"));
    CHECK(refused("a = \"\\x41\"", "1:7: expected one of \"\\bfnrtuU after the backslash, found "
                                   "'x'"));
    CHECK(refused("a = \"\\u12\"", "1:6: \\u takes four hexadecimal digits"));
    CHECK(refused("a = \"\\U00110000\"",
                  "1:6: \\U takes eight hexadecimal digits, at most 0010FFFF"));
    CHECK(refused("a = \"\\ud800\"", "1:6: an escape of half of a surrogate pair"));
    CHECK(refused("a = \"\"\"\\ x\"\"\"",
                  "1:10: expected the end of the line after the backslash, found 'x'"));
    CHECK(refused("a = '\xc3('", "1:6: a byte that is not UTF-8"));
    CHECK(refused("a = '''x''''''", "1:14: expected the end of the line, found '''"));
}

TEST(what_is_too_big_is_refused) {
    enum { BYTES = 70000 };
    phi_toml_desc options = PHI_ZERO;
    phi_json *root;
    phi_parse_error error;
    char *text = (char *)malloc(BYTES + 8);
    REQUIRE(text != NULL);
    memset(text, '[', 1100);
    memcpy(text, "a = ", 4);
    setup();
    CHECK_EQ_INT(phi_toml_parse(&arena, phi__str(text, 1000), NULL, &root, &error), PHI_TOO_BIG);
    CHECK_EQ_STR(error.message, "tables and arrays are nested too deeply");
    CHECK_EQ_INT(error.column, 4 + 512);
    options.max_depth = UINT32_MAX;
    CHECK_EQ_INT(phi_toml_parse(&arena, phi__str(text, 1100), &options, &root, &error),
                 PHI_TOO_BIG);
    CHECK_EQ_INT(error.column, 4 + 1024);
    memset(text, '.', 2 * 600);
    for (options.max_depth = 0; options.max_depth < 600; options.max_depth++)
        text[2 * options.max_depth] = 'a';
    CHECK_EQ_INT(phi_toml_parse(&arena, phi__str(text, 1200), NULL, &root, &error), PHI_TOO_BIG);
    memset(text, '1', BYTES);
    memcpy(text, "a = ", 4);
    CHECK_EQ_INT(phi_toml_parse(&arena, phi__str(text, BYTES), NULL, &root, &error), PHI_TOO_BIG);
    CHECK_EQ_STR(error.message, "a number of more than 64 KiB");
    CHECK_EQ_INT(phi_toml_parse(NULL, phi__str(text, 5), NULL, &root, &error), PHI_BAD_ARG);
    teardown();
    free(text);
}

TEST_MAIN(TEST_ENTRY(keys_and_tables_are_defined_once), TEST_ENTRY(lines_say_what_was_expected),
          TEST_ENTRY(values_say_what_is_wrong_with_them),
          TEST_ENTRY(strings_say_what_is_wrong_with_them), TEST_ENTRY(what_is_too_big_is_refused))
