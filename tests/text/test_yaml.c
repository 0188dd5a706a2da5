/* test_yaml.c - YAML: what is read, and how. What is refused is in test_yaml_errors.c. */
#include "support/test.h"
#include "text/json_in.h"
#include "text/yaml.h"

#include <math.h>

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) { phi_arena_free(&arena); }

/* In slices of so many bytes, of a copy of its exact size, so that a read past the end is seen. */
static phi_status read_sliced(const char *text, size_t len, const phi_yaml_options *options,
                              size_t units, phi_json **out, phi_parse_error *error) {
    phi_yaml_reader reader;
    phi_status status;
    char *exact = (char *)malloc(len > 0 ? len : 1);
    if (exact == NULL) abort();
    if (len > 0) memcpy(exact, text, len);
    phi_yaml_reader_begin(&reader, &arena, phi__str(exact, len), options);
    while (phi_yaml_reader_advance(&reader, units) == PHI_BUSY) continue;
    status = phi_yaml_reader_result(&reader, out, error);
    free(exact);
    return status;
}

static const char *json_of(const phi_json *node) {
    phi_str out;
    if (phi_json_write(&arena, node, 0, &out) != PHI_OK) return "(not written)";
    return out.at;
}

/* Reads it whole and in slices of every small size; all must be that JSON. */
static bool reads_as(const char *text, const char *json) {
    static const size_t units[] = {SIZE_MAX, 1, 2, 3, 5, 17};
    bool good = true;
    size_t i;
    for (i = 0; i < PHI__COUNT(units); i++) {
        phi_json *root = NULL;
        phi_parse_error error;
        setup();
        if (read_sliced(text, strlen(text), NULL, units[i], &root, &error) != PHI_OK) {
            fprintf(stderr, "%s\n%u:%u: %s\n", text, error.line, error.column, error.message);
            good = CHECK(false);
        } else if (strcmp(json_of(root), json) != 0) {
            fprintf(stderr, "%s\n", text);
            good = CHECK_EQ_STR(json_of(root), json);
        }
        teardown();
        if (!good) break;
    }
    return good;
}

typedef struct pair {
    const char *text, *json;
} pair;

static void all_read(const pair *pairs, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) (void)reads_as(pairs[i].text, pairs[i].json);
}

TEST(block_collections_nest_by_their_columns) {
    static const pair pairs[] = {
        {"a: 1", "{\"a\":1}"},
        {"a: 1\nb: two\nc:\n", "{\"a\":1,\"b\":\"two\",\"c\":null}"},
        {"- 1\n- two\n-\n", "[1,\"two\",null]"},
        {"a:\n  b:\n    c: d\n  e: f\ng: h\n",
         "{\"a\":{\"b\":{\"c\":\"d\"},\"e\":\"f\"},\"g\":\"h\"}"},
        {"a:\n- 1\n- 2\nb:\n  - 3\n", "{\"a\":[1,2],\"b\":[3]}"},
        {"- - 1\n  - 2\n- - - 3\n", "[[1,2],[[3]]]"},
        {"- a: 1\n  b: 2\n- c: 3\n", "[{\"a\":1,\"b\":2},{\"c\":3}]"},
        {"-\n  a: 1\n-\n  - b\n", "[{\"a\":1},[\"b\"]]"},
        {"-   a: 1\n    b: 2\n", "[{\"a\":1,\"b\":2}]"},
        {"a:\n    b: 1\n\n\n    c: 2\n", "{\"a\":{\"b\":1,\"c\":2}}"},
        {"  a: 1\n  b: 2\n", "{\"a\":1,\"b\":2}"},
        {"a:\n- b:\n  - c\n  d: e\n", "{\"a\":[{\"b\":[\"c\"],\"d\":\"e\"}]}"},
        {"? a\n: 1\n? b\n? c\n:\n", "{\"a\":1,\"b\":null,\"c\":null}"},
        {"? |\n  a\n  b\n: - 1\n  - 2\n", "{\"a\\nb\\n\":[1,2]}"},
        {"? long\n  key\n: x: 1\n  y: 2\n", "{\"long key\":{\"x\":1,\"y\":2}}"},
        {"a: 1\r\nb:\r\n  - 2\r\n", "{\"a\":1,\"b\":[2]}"},
        {"a: 1\rb: 2\r", "{\"a\":1,\"b\":2}"},
        {"\xEF\xBB\xBF"
         "a: 1\n",
         "{\"a\":1}"},
        {"a:   1   \nb:\t2\t\n", "{\"a\":1,\"b\":2}"},
        {"-\t1\n- \ttwo\n", "[1,\"two\"]"},
    };
    all_read(pairs, PHI__COUNT(pairs));
}

TEST(comments_and_blank_lines_are_skipped_wherever_they_stand) {
    static const pair pairs[] = {
        {"# first\n\na: 1 # one\n  # between\nb: # two\n  c: 3\n# last",
         "{\"a\":1,\"b\":{\"c\":3}}"},
        {"a: b#c\n", "{\"a\":\"b#c\"}"},
        {"a: 'x' # y\n", "{\"a\":\"x\"}"},
        {"[1, # one\n 2 # two\n]\n", "[1,2]"},
        {"- # empty\n- 1\n", "[null,1]"},
        {"a:\n\t# a tab before a comment\n  b\n", "{\"a\":\"b\"}"},
        {"a: |  # header\n  # text\n # comment\nb: 1\n", "{\"a\":\"# text\\n\",\"b\":1}"},
        {"  \n \t \na: 1\n", "{\"a\":1}"},
    };
    all_read(pairs, PHI__COUNT(pairs));
}

TEST(flow_collections_are_read_and_json_with_them) {
    static const pair pairs[] = {
        {"{}", "{}"},
        {"[]", "[]"},
        {"[1, two, \"three\", 'four', [5], {six: 7}]",
         "[1,\"two\",\"three\",\"four\",[5],{\"six\":7}]"},
        {"{a: 1, b, c: , \"d\":4, 'e' :5, f: [6]}",
         "{\"a\":1,\"b\":null,\"c\":null,\"d\":4,\"e\":5,\"f\":[6]}"},
        {"[a: 1, b, ? c : 2, ? d, \"e\":3]", "[{\"a\":1},\"b\",{\"c\":2},{\"d\":null},{\"e\":3}]"},
        {"[1, 2, ]", "[1,2]"},
        {"{a: 1, }", "{\"a\":1}"},
        {"{a:1, b:c}", "{\"a:1\":null,\"b:c\":null}"},
        {"[a:b, http://x/y, -1, -a, ?b, :c]", "[\"a:b\",\"http://x/y\",-1,\"-a\",\"?b\",\":c\"]"},
        {"{\n  a\n  :\n  1,\n  b c\n  d: 2\n}", "{\"a\":1,\"b c d\":2}"},
        {"a: [\n  1,\n  2\n  ]\nb: {\n }\n", "{\"a\":[1,2],\"b\":{}}"},
        {"- [a, b]\n- {c: d}\n", "[[\"a\",\"b\"],{\"c\":\"d\"}]"},
        {"{? a : 1, ? b, \"c\"\n: 2}", "{\"a\":1,\"b\":null,\"c\":2}"},
        {"[plain over\n lines, \"quoted\n\n over\"]", "[\"plain over lines\",\"quoted\\nover\"]"},
        {"{\"a\": {\"b\": [1, 2.5, -3e2, true, null, \"\\u00e9\\n\"]}}",
         "{\"a\":{\"b\":[1,2.5,-300.0,true,null,\"\xc3\xa9\\n\"]}}"},
        {"[\t1\t,\n\t2 ]", "[1,2]"},
        {"[a#b, c]", "[\"a#b\",\"c\"]"},
    };
    all_read(pairs, PHI__COUNT(pairs));
}

TEST(plain_text_ends_where_it_should_and_folds_its_lines) {
    static const pair pairs[] = {
        {"one two", "\"one two\""},
        {"a: b c  d \n", "{\"a\":\"b c  d\"}"},
        {"a: b\n  c\n\n  d\n\n\n  e\n", "{\"a\":\"b c\\nd\\n\\ne\"}"},
    };
    (void)reads_as("a: b\n  - c\n  ? d\n", "{\"a\":\"b - c ? d\"}");
    (void)reads_as("a: x:y z:\"q\" #no\n", "{\"a\":\"x:y z:\\\"q\\\"\"}");
    (void)reads_as("a: -b\nc: ?d\ne: :f\ng: --- h\n",
                   "{\"a\":\"-b\",\"c\":\"?d\",\"e\":\":f\",\"g\":\"--- h\"}");
    (void)reads_as("a: b'c\"d[e]{f},g&h*i!j|k>l%m@n`o\n",
                   "{\"a\":\"b'c\\\"d[e]{f},g&h*i!j|k>l%m@n`o\"}");
    (void)reads_as("a\nb\n c\n", "\"a b c\"");
    all_read(pairs, PHI__COUNT(pairs));
}

TEST(plain_scalars_may_stay_texts) {
    phi_memory own;
    phi_arena room;
    phi_yaml_options options = PHI_ZERO;
    phi_json *root = NULL;
    phi_str text;
    phi_memory_init(&own, NULL, 0);
    phi_arena_init(&room, &own, 0);
    options.flags = PHI_YAML_TEXTS;
    CHECK_EQ_INT(phi_yaml_parse(&room, phi_str_of("a: 1.0\nb: yes\nc: ~\nd:\ne: [true, 0x1f]\n"),
                                &options, &root, NULL),
                 PHI_OK);
    CHECK_EQ_INT(phi_json_write(&room, root, 0, &text), PHI_OK);
    CHECK_STR(text,
              "{\"a\":\"1.0\",\"b\":\"yes\",\"c\":\"~\",\"d\":\"\",\"e\":[\"true\",\"0x1f\"]}");
    phi_arena_free(&room);
}

TEST_MAIN(TEST_ENTRY(plain_scalars_may_stay_texts),
          TEST_ENTRY(block_collections_nest_by_their_columns),
          TEST_ENTRY(comments_and_blank_lines_are_skipped_wherever_they_stand),
          TEST_ENTRY(flow_collections_are_read_and_json_with_them),
          TEST_ENTRY(plain_text_ends_where_it_should_and_folds_its_lines))
