/* test_yaml_errors.c - what is no YAML, or more than the tree holds: where, and in which words;
   limits; missing memory. */
#include "support/test.h"
#include "text/json_in.h"
#include "formats/yaml_in.h"

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) { phi_arena_free(&arena); }

/* In slices, of a copy of its exact size, so that a read past the end is seen. */
static phi_status read_sliced(phi_str text, const phi_yaml_desc *options, size_t units,
                              phi_json **out, phi_parse_error *error) {
    phi_reader *reader;
    phi_status status;
    char *exact = (char *)malloc(text.len > 0 ? text.len : 1);
    if (exact == NULL) abort();
    if (text.len > 0) memcpy(exact, text.at, text.len);
    reader = phi_yaml_reader_new(&arena, phi__str(exact, text.len), options);
    while (phi_reader_advance(reader, units) == PHI_BUSY) continue;
    CHECK(phi_reader_advance(reader, units) != PHI_BUSY);
    status = phi_reader_result(reader, out, error);
    free(exact);
    return status;
}

static const struct {
    const char *text;
    int line, column;
    const char *message;
} bad[] = {
    {"a: b: c", 1, 5,
     "': ' inside of a value: quote the value, or begin the mapping on a line of its own"},
    {"a: - b", 1, 4, "a block sequence must begin on a line of its own"},
    {"- a\nb: c", 2, 1, "expected '- ' and the next item, found 'b'"},
    {"a: 1\n  b: 2", 2, 4, "a key must be on one line: is this line indented too far?"},
    {"a:\n\tb: 1", 2, 2, "a tab before this: block collections are indented by spaces"},
    {"a: 1\n\tb: 2", 2, 2, "a tab before this: block collections are indented by spaces"},
    {"-\t- a", 1, 3, "a tab before this: block collections are indented by spaces"},
    {"? \t- a", 1, 4, "a tab before this: block collections are indented by spaces"},
    {"\"a\\nb\": 1\n\"a\\nb\": 2", 2, 1,
     "the key \"a?b\" is in this mapping already: keep one of the two"},
    {"a: 1\na: 2", 2, 1, "the key \"a\" is in this mapping already: keep one of the two"},
    {"{a: 1, \"a\": 2}", 1, 8, "the key \"a\" is in this mapping already: keep one of the two"},
    {"a: 'x", 1, 6, "expected the closing quote of a string, found the end of the text"},
    {"a: \"x", 1, 6, "expected the closing quote of a string, found the end of the text"},
    {"a: \"x\ny\"", 2, 1, "a line of a string must be indented more than the block around it"},
    {"a: \"\\q\"", 1, 6, "expected an escape after the backslash, found 'q'"},
    {"\"\\x4\"", 1, 2, "\\x takes two hexadecimal digits"},
    {"\"\\ud800\"", 1, 2, "half of a surrogate pair"},
    {"\"\\U00110000\"", 1, 2, "\\U takes eight hexadecimal digits, at most 0010FFFF"},
    {"\"a\\", 1, 4, "expected an escape after the backslash, found the end of the text"},
    {"a: [1, 2", 1, 9, "expected ']', found the end of the text"},
    {"a: {b: 1", 1, 9, "expected '}', found the end of the text"},
    {"[1, 2}", 1, 6, "expected ',' or ']', found '}'"},
    {"{a: 1]", 1, 6, "expected ',' or '}', found ']'"},
    {"[a b: c\n: d]", 2, 1, "expected ',' or ']', found ':'"},
    {"[,]", 1, 2, "expected an item, found ','"},
    {"[1,,2]", 1, 4, "expected an item, found ','"},
    {"{,}", 1, 2, "expected a key, found ','"},
    {"[a, b]c", 1, 7, "expected the end of the line, found 'c'"},
    {"[a]: b", 1, 4, "a key that is a collection is not supported"},
    {"{[a]: b}", 1, 5, "a key that is a collection is not supported"},
    {"? [a]\n: b", 1, 6, "a key that is a collection is not supported"},
    {"? - a\n: b", 1, 3, "a key that is a collection is not supported"},
    {"? a: b\n: c", 1, 4, "a key that is a collection is not supported"},
    {"{? : b}", 1, 4, "a key is missing, and null as a key is not supported"},
    {": a", 1, 1, "a key is missing, and null as a key is not supported"},
    {"[: a]", 1, 2, "a key is missing, and null as a key is not supported"},
    {"*x", 1, 1, "an alias to an anchor that is not defined before it"},
    {"a: *x", 1, 4, "an alias to an anchor that is not defined before it"},
    {"&a [*a]", 1, 5, "an alias inside of the node it stands for"},
    {"&a\n&b c", 2, 1, "a second anchor for one node"},
    {"&a &b c", 1, 4, "a second anchor for one node"},
    {"!!str !!int c", 1, 7, "a second tag for one node"},
    {"&a *b", 1, 4, "an alias cannot have an anchor or a tag"},
    {"&x a: 1\nb: &y *x", 2, 7, "an alias cannot have an anchor or a tag"},
    {"! !x", 1, 3, "a second tag for one node"},
    {"!foo a", 1, 1,
     "a tag that is not of the core schema (!!str, !!int, !!float, !!bool, !!null, !!seq, !!map)"},
    {"!!foo a", 1, 1,
     "a tag that is not of the core schema (!!str, !!int, !!float, !!bool, !!null, !!seq, !!map)"},
    {"!e!x a", 1, 1, "a tag whose handle no %TAG directive declares"},
    {"!<x a", 1, 4, "expected '>' at the end of a verbatim tag, found a space"},
    {"!!int x", 1, 1, "!!int does not allow this value"},
    {"!!bool 1", 1, 1, "!!bool does not allow this value"},
    {"!!seq {}", 1, 1, "!!seq does not allow a mapping"},
    {"!!map []", 1, 1, "!!map does not allow a sequence"},
    {"!!null x", 1, 1, "!!null does not allow this value"},
    {"!!str {}", 1, 1, "!!str does not allow a mapping"},
    {"!!str\n- a", 1, 1, "!!str does not allow a sequence"},
    {"0x1FFFFFFFFFFFFFFFF", 1, 1, "the number is too large for 64 bits or a double"},
    {"1e999", 1, 1, "the number is too large for 64 bits or a double"},
    {"a: |x", 1, 5,
     "expected an indentation from 1 to 9, '+', '-' or the end of the line, found 'x'"},
    {"a: |0", 1, 5,
     "expected an indentation from 1 to 9, '+', '-' or the end of the line, found '0'"},
    {"a: |\n    \n  x", 3, 3, "a blank line before this text has more spaces than it"},
    {"a: |\n\tx", 2, 1, "a tab where the text of this scalar is indented by spaces"},
    {"a: |-+", 1, 6,
     "expected an indentation from 1 to 9, '+', '-' or the end of the line, found '+'"},
    {"@a", 1, 1, "text that begins with '@' or '`' must be quoted"},
    {"`a", 1, 1, "text that begins with '@' or '`' must be quoted"},
    {"%a", 1, 3, "expected '---' after the directives, found the end of the text"},
    {"a: %a", 1, 4, "text that begins with '%' must be quoted"},
    {"a: @a", 1, 4, "text that begins with '@' or '`' must be quoted"},
    {"- |\n  a\n b", 3, 2, "the indentation of this line fits none of the items above"},
    {"a\n---\nb", 2, 1, "a second document: only one is read"},
    {"a\n...\nb", 3, 1, "a second document: only one is read"},
    {"---\n---", 2, 1, "a second document: only one is read"},
    {"--- a: b", 1, 6,
     "': ' inside of a value: quote the value, or begin the mapping on a line of its own"},
    {"%YAML 1.2\na", 2, 1, "expected '---' after the directives, found 'a'"},
    {"%YAML 2.0\n---", 1, 7, "a version of YAML other than 1"},
    {"%YAML 1.2 3\n---", 1, 11, "expected the end of the line, found '3'"},
    {"%YAML\n---", 1, 6, "expected a version like 1.2 after %YAML, found the end of the line"},
    {"%YAML 1.2\n%YAML 1.2\n---", 2, 7, "a second %YAML directive"},
    {"%TAG x y\n---", 1, 6, "expected a handle like !name! after %TAG, found 'x'"},
    {"%TAG !a! \n---", 1, 10,
     "expected a prefix of tags after the handle, found the end of the line"},
    {"%TAG !a! b\n%TAG !a! c\n---", 2, 6, "a second %TAG directive of this handle"},
    {"%YAML 1.2\n...", 2, 1, "expected '---' after the directives, found '.'"},
    {"a\x01"
     "b",
     1, 2, "a control character, which YAML does not allow"},
    {"a: \"\x01\"", 1, 5,
     "a control character in a string must be an escape of a double-quoted one"},
    {"a: \x7f", 1, 4, "a control character, which YAML does not allow"},
    {"\xff", 1, 1, "a byte that is not UTF-8"},
    {"a: \"\xff\"", 1, 5, "a byte that is not UTF-8"},
    {"# \xff", 1, 3, "a byte that is not UTF-8"},
    {"'a\n--- b'", 2, 1, "a line that ends the document, inside of a string"},
    {"[a\n---\n]", 2, 1, "a line that ends the document, inside of brackets"},
    {"a: [\nb]", 2, 1,
     "a line inside of brackets must be indented more than the block around them"},
    {"a: {\n}", 2, 1, "a line inside of brackets must be indented more than the block around them"},
    {"- - a\n - b", 2, 2, "the indentation of this line fits none of the items above"},
    {"a:\n  - b\n c: d", 3, 2, "the indentation of this line fits none of the keys above"},
    {"a:\n    b: 1\n  c: 2", 3, 3, "the indentation of this line fits none of the keys above"},
    {"& a", 1, 2, "expected the name of an anchor, found a space"},
    {"* a", 1, 2, "expected the name of an anchor after '*', found a space"},
    {"a: \"x\"y", 1, 7, "expected the end of the line, found 'y'"},
    {"a: 'x'#y", 1, 7, "expected the end of the line, found '#'"},
    {"a: [b]#c", 1, 7, "expected the end of the line, found '#'"},
    {"[a,#b\n]", 1, 4, "expected white space before a comment, found '#'"},
    {"- a\n- b\n c: d", 3, 3, "a key must be on one line: is this line indented too far?"},
    {"a\nb: c", 2, 2, "a key must be on one line: is this line indented too far?"},
    {"'a\nb': c", 2, 3, "a key must be on one line: is this line indented too far?"},
    {"[a\n: b]", 2, 1, "a key inside of '[' and ']' must be on one line"},
    {"[\"a\"\n: b]", 2, 1, "a key inside of '[' and ']' must be on one line"},
    {"[- a]", 1, 2, "an item of a block sequence inside of brackets"},
    {"[-]", 1, 2, "an item of a block sequence inside of brackets"},
    {"[|\n a]", 1, 2, "a block scalar inside of brackets"},
    {"[%a]", 1, 2, "text that begins with '%' must be quoted"},
    {"a: ]", 1, 4, "expected a value, found ']'"},
    {"a: ,", 1, 4, "expected a value, found ','"},
    {"a: }", 1, 4, "expected a value, found '}'"},
    {"? a\nb", 2, 2, "expected ':' and a value after the key, found the end of the text"},
    {"key\nother: 1", 2, 6, "a key must be on one line: is this line indented too far?"},
    {"x: 1\ny", 2, 2, "expected ':' and a value after the key, found the end of the text"},
    {"x: 1\n|\n", 2, 1, "expected a key, found '|'"},
    {"- a: 1\n b: 2", 2, 2, "the indentation of this line fits none of the items above"},
    {"x: 1\n&a\ny: 2", 2, 3, "expected a key, found the end of the line"},
    {"- x\n&a\n- y", 2, 1, "expected '- ' and the next item, found '&'"},
    {"x: 1\n- y", 2, 1, "expected a key, found '-'"},
    {"- 1\nx", 2, 1, "expected '- ' and the next item, found 'x'"},
    {"\xef\xbb\xbf"
     "a: \xef\xbb\xbf"
     "b",
     1, 4,
     "a character that is not text (or a byte order mark) must be an escape of a double-quoted "
     "string"},
    {"a: \xc2\x85 b\n\xc2\x9f", 2, 1,
     "a character that is not text (or a byte order mark) must be an escape of a double-quoted "
     "string"},
    {"{a: 1", 1, 6, "expected '}', found the end of the text"},
    {"{", 1, 2, "expected '}', found the end of the text"},
    {"[", 1, 2, "expected ']', found the end of the text"},
    {"[a", 1, 3, "expected ']', found the end of the text"},
    {"{a", 1, 3, "expected '}', found the end of the text"},
    {"{a:", 1, 4, "expected '}', found the end of the text"},
    {"a: \"\\u12g4\"", 1, 5, "\\u takes four hexadecimal digits"},
    {"a: !!float x", 1, 4, "!!float does not allow this value"},
    {"- &a - b", 1, 6, "a block sequence must begin on a line of its own"},
    {"&a - b", 1, 4, "a block sequence must begin on a line of its own"},
    {"&a ? b", 1, 4, "a block mapping must begin on a line of its own"},
    {"a: >2\n x", 2, 2, "the indentation of this line fits none of the keys above"},
    {"a: !!int", 1, 4, "!!int does not allow this value"},
    {"- !<tag:yaml.org,2002:str>x", 1, 28,
     "expected '>' at the end of a verbatim tag, found the end of the text"},
    {"%TAG ! tag:yaml.org,2002:\n--- !int 3x", 2, 5, "!!int does not allow this value"},
    {"0o8x: 1\n0o8x: 2", 2, 1, "the key \"0o8x\" is in this mapping already: keep one of the two"},
    {"{a: 1}\nb: 2", 2, 1, "expected the end of the document, found 'b'"},
    {"{a: 1} x", 1, 8, "expected the end of the line, found 'x'"},
};

TEST(what_is_refused_is_refused_at_its_place_and_in_words) {
    static const size_t units[] = {SIZE_MAX, 1, 3};
    size_t i, k;
    for (i = 0; i < PHI__COUNT(bad); i++)
        for (k = 0; k < PHI__COUNT(units); k++) {
            phi_json *root = NULL;
            phi_parse_error error;
            bool good;
            setup();
            good = CHECK_EQ_INT(read_sliced(phi_str_of(bad[i].text), NULL, units[k], &root, &error),
                                PHI_PARSE);
            good = CHECK_EQ_INT(error.line, bad[i].line) && good;
            good = CHECK_EQ_INT(error.column, bad[i].column) && good;
            good = CHECK_EQ_STR(error.message, bad[i].message) && good;
            CHECK(root == NULL);
            if (!good) fprintf(stderr, "%s\n", bad[i].text);
            teardown();
        }
}

/* Whatever a good text is cut to, the reader ends, and says where within it. */
TEST(a_text_cut_anywhere_is_read_or_refused_within_it) {
    static const char text[] = "%TAG !e! tag:yaml.org,2002:\n--- # one\na: &x !e!str 'b\n\n  c'\n"
                               "? |+2\n   d\n\n: - \"e\\\n   f\\u00e9\" # g\n  - {h: [i, *x], j }\n"
                               "k: >-\n  l\n  m\n\n   n\no: p\n  q\n...\n";
    size_t cut;
    for (cut = 0; cut < sizeof text; cut++) {
        phi_json *root = NULL;
        phi_parse_error error, whole;
        phi_status status;
        setup();
        status = read_sliced(phi__str(text, cut), NULL, SIZE_MAX, &root, &whole);
        CHECK_EQ_INT(read_sliced(phi__str(text, cut), NULL, 1, &root, &error), status);
        CHECK(status == PHI_OK || status == PHI_PARSE);
        CHECK(status == PHI_OK || (error.offset <= cut && error.offset == whole.offset));
        CHECK_EQ_STR(error.message, whole.message);
        teardown();
    }
}

/* ---- limits ---- */

static char *repeated(const char *piece, size_t times, size_t *len) {
    size_t n = strlen(piece), i;
    char *text = (char *)malloc(n * times + 1);
    if (text == NULL) abort();
    for (i = 0; i < times; i++) memcpy(text + i * n, piece, n);
    *len = n * times;
    return text;
}

static void check_depth(const char *piece, size_t times, phi_status status) {
    phi_json *root;
    phi_parse_error error;
    size_t len;
    char *text = repeated(piece, times, &len);
    setup();
    CHECK_EQ_INT(phi_yaml_parse(&arena, phi__str(text, len), NULL, &root, &error), status);
    if (status == PHI_TOO_BIG) CHECK_EQ_STR(error.message, "collections are nested too deeply");
    teardown();
    free(text);
}

TEST(nesting_stops_at_the_limit) {
    phi_yaml_desc options = PHI_ZERO;
    phi_json *root;
    phi_parse_error error;
    check_depth("- ", 512, PHI_OK);
    check_depth("- ", 513, PHI_TOO_BIG);
    check_depth("[", 1000000, PHI_TOO_BIG);
    check_depth("{a: ", 1000000, PHI_TOO_BIG);
    check_depth("? ", 1000000, PHI_PARSE);
    options.max_depth = 2;
    setup();
    CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("a: [1]"), &options, &root, NULL), PHI_OK);
    CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("a: [{}]"), &options, &root, &error), PHI_TOO_BIG);
    CHECK_EQ_INT(error.column, 5);
    CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("&a [[1]]\n"), &options, &root, NULL), PHI_OK);
    CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("- &a [1]\n- [*a]\n"), &options, &root, &error),
                 PHI_TOO_BIG);
    CHECK_EQ_STR(error.message, "collections are nested too deeply");
    teardown();
}

/* Each line holds the one before nine times: the last would be billions of nodes. */
TEST(aliases_of_aliases_stop_at_the_limit_of_nodes) {
    char text[2048];
    size_t n = (size_t)snprintf(text, sizeof text, "- &a0 [x, x, x, x, x, x, x, x, x]\n"), i;
    phi_json *root;
    phi_parse_error error;
    for (i = 1; i < 12; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "- &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n",
                              (int)i, (int)i - 1, (int)i - 1, (int)i - 1, (int)i - 1, (int)i - 1,
                              (int)i - 1, (int)i - 1, (int)i - 1, (int)i - 1);
    }
    setup();
    CHECK_EQ_INT(phi_yaml_parse(&arena, phi__str(text, n), NULL, &root, &error), PHI_TOO_BIG);
    CHECK_EQ_STR(error.message, "aliases stand for more than the reader's limit allows");
    CHECK(memory.peak_bytes < 10u * 1024 * 1024);
    CHECK_EQ_INT(phi_arena_save(&arena).shared == NULL, 1); /* all was given back */
    teardown();
}

TEST(aliases_of_long_text_stop_at_the_limit_of_bytes) {
    phi_yaml_desc options = PHI_ZERO;
    phi_json *root;
    phi_parse_error error;
    setup();
    options.max_alias_bytes = 10;
    CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("[&a 12345, *a, *a, *a]"), &options, &root, NULL),
                 PHI_OK);
    CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("[&a abcde, *a, *a]"), &options, &root, NULL),
                 PHI_OK);
    CHECK_EQ_INT(
        phi_yaml_parse(&arena, PHI__LIT("[&a abcde, *a, *a, *a]"), &options, &root, &error),
        PHI_TOO_BIG);
    CHECK_EQ_INT(error.column, 22);
    options.max_alias_nodes = 2;
    CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("[&a 1, *a, *a, *a]"), &options, &root, NULL),
                 PHI_TOO_BIG);
    teardown();
}

/* Many of everything: what takes longer than linear would be seen here. */
TEST(wide_texts_are_read_in_linear_time) {
    static const struct {
        const char *begin, *piece, *end;
        size_t times;
        phi_status status;
    } wide[] = {
        {"", "- 1\n", "", 100000, PHI_OK},
        {"[", "1,", "]", 100000, PHI_OK},
        {"", "&a ", "x", 100000, PHI_PARSE},
        {"[", "&a x,", "]", 50000, PHI_OK},
        {"a: \"", "\\\n ", "\"", 100000, PHI_OK},
        {"a: ", "x ", "", 200000, PHI_OK},
        {"a:", " ", "", 400000, PHI_OK},
        {"a: b", " \n", "", 200000, PHI_OK},
        {"a: |\n", "\n", " b", 200000, PHI_OK},
        {"a: |\n", " x\n", "", 100000, PHI_OK},
        {"#", "#", "", 400000, PHI_OK},
        {"", "#\n", "", 200000, PHI_OK},
        {"", "? ", "", 100000, PHI_PARSE},
        {"%A", " b", "\n---\n", 200000, PHI_OK},
        {"", "1", "", 400000, PHI_PARSE},
        {"", "...\n", "", 100000, PHI_OK},
        {"a: !!str", " !!str", "", 100000, PHI_PARSE},
        {"'", "''", "'", 200000, PHI_OK},
        {"*", "a", "", 200000, PHI_TOO_BIG},
        {"'", "\t\n", "'", 200000, PHI_OK},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(wide); i++) {
        size_t begin = strlen(wide[i].begin), end = strlen(wide[i].end), len;
        char *middle = repeated(wide[i].piece, wide[i].times, &len);
        char *text = (char *)malloc(begin + len + end + 1);
        phi_json *root;
        if (text == NULL) abort();
        memcpy(text, wide[i].begin, begin);
        memcpy(text + begin, middle, len);
        memcpy(text + begin + len, wide[i].end, end);
        setup();
        if (!CHECK_EQ_INT(read_sliced(phi__str(text, begin + len + end), NULL, 64, &root, NULL),
                          wide[i].status))
            fprintf(stderr, "%s%s...%s\n", wide[i].begin, wide[i].piece, wide[i].end);
        CHECK(memory.peak_bytes < 60 * (begin + len + end) + 10000);
        teardown();
        free(text);
        free(middle);
    }
}

TEST(many_keys_and_many_anchors_are_found_by_hash) {
    char *text = (char *)malloc(4000000);
    size_t n = 0, i;
    phi_json *root;
    phi_parse_error error;
    if (text == NULL) abort();
    for (i = 0; i < 40000; i++) n += (size_t)sprintf(text + n, "k%d: &a%d\n", (int)i, (int)i);
    for (i = 0; i < 40000; i++) n += (size_t)sprintf(text + n, "l%d: *a%d\n", (int)i, (int)i);
    setup();
    CHECK_EQ_INT(phi_yaml_parse(&arena, phi__str(text, n), NULL, &root, NULL), PHI_OK);
    CHECK_EQ_INT(phi_json_count(root), 80000);
    teardown();
    n += (size_t)sprintf(text + n, "k39999: 1\n");
    setup();
    CHECK_EQ_INT(phi_yaml_parse(&arena, phi__str(text, n), NULL, &root, &error), PHI_PARSE);
    CHECK_EQ_INT(error.line, 80001);
    CHECK_EQ_STR(error.message,
                 "the key \"k39999\" is in this mapping already: keep one of the two");
    teardown();
    free(text);
}

/* Between two calls the reader reads no more than it was asked to, but for a token. */
TEST(a_slice_reads_about_as_much_as_it_is_told) {
    size_t len, last = 0, most = 0;
    char *text;
    phi__yaml_reader reader;
    text = repeated("  - {a: \"b c d e f\", g: [h i, 'j k']}\n", 20000, &len);
    setup();
    phi__yaml_read_begin(&reader, &arena, phi__str(text, len), NULL);
    while (phi__yaml_read_advance(&reader, 100) == PHI_BUSY) {
        size_t at = (size_t)(reader.at - reader.text);
        most = phi__max(most, at - last);
        last = at;
    }
    CHECK_EQ_INT(phi__yaml_read_result(&reader, NULL, NULL), PHI_OK);
    CHECK(most < 200);
    teardown();
    free(text);
}

TEST(a_reader_may_be_dropped_at_any_time) {
    phi_reader *reader;
    size_t steps, i;
    for (steps = 0; steps < 60; steps++) {
        setup();
        reader = phi_yaml_reader_new(&arena,
                                     PHI__LIT("a: &x [1, {b: \"c\\n\"}]\nd: *x\ne: |\n f\n"), NULL);
        for (i = 0; i < steps; i++) (void)phi_reader_advance(reader, 1);
        teardown();
    }
}

/* ---- memory ---- */

TEST(every_failed_allocation_is_reported_and_leaks_nothing) {
    static const char text[] = "%TAG !e! tag:yaml.org,2002:\n---\na: &x [1, {b: \"c\\n\"}]\nd: *x\n"
                               "e: |\n  f\n? !e!str &y g\n: *y\nh: 'i\n\n  j'\nk1: 1\nk2: 1\n"
                               "k3: 1\nk4: 1\nk5: 1\nk6: 1\nk7: 1\nk8: 1\nk9: 1\nl1: 1\nl2: 1\n";
    int n = 0;
    bool tripped;
    do {
        phi_json *root = NULL;
        phi_parse_error error;
        phi_status status;
        phi_allocator allocator = test_allocator();
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 64);
        test_alloc_fail_at(n);
        status = phi_yaml_parse(&arena, PHI__LIT(text), NULL, &root, &error);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        if (tripped) CHECK_EQ_STR(error.message, "no memory for the tree");
        teardown();
        n++;
    } while (tripped);
    CHECK(n > 6);
}

TEST(arguments_that_are_missing_are_refused) {
    phi_json *root;
    setup();
    CHECK_EQ_INT(phi_yaml_parse(NULL, PHI__LIT("a"), NULL, &root, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("a"), NULL, NULL, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_yaml_parse(&arena, phi__str(NULL, 0), NULL, &root, NULL), PHI_OK);
    CHECK(phi_json_is(root, PHI_JSON_NULL));
    teardown();
}

TEST_MAIN(TEST_ENTRY(what_is_refused_is_refused_at_its_place_and_in_words),
          TEST_ENTRY(a_text_cut_anywhere_is_read_or_refused_within_it),
          TEST_ENTRY(nesting_stops_at_the_limit),
          TEST_ENTRY(aliases_of_aliases_stop_at_the_limit_of_nodes),
          TEST_ENTRY(aliases_of_long_text_stop_at_the_limit_of_bytes),
          TEST_ENTRY(wide_texts_are_read_in_linear_time),
          TEST_ENTRY(many_keys_and_many_anchors_are_found_by_hash),
          TEST_ENTRY(a_slice_reads_about_as_much_as_it_is_told),
          TEST_ENTRY(a_reader_may_be_dropped_at_any_time),
          TEST_ENTRY(every_failed_allocation_is_reported_and_leaks_nothing),
          TEST_ENTRY(arguments_that_are_missing_are_refused))
