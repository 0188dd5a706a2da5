/* test_yaml.c - YAML: what is read, and how. What is refused is in test_yaml_errors.c. */
#include "support/test.h"
#include "text/json_in.h"
#include "formats/yaml.h"
#include "formats/reader_in.h"

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
static phi_status read_sliced(const char *text, size_t len, const phi_yaml_desc *options,
                              size_t units, phi_json **out, phi_parse_error *error) {
    phi_reader *reader;
    phi_status status;
    char *exact = (char *)malloc(len > 0 ? len : 1);
    if (exact == NULL) abort();
    if (len > 0) memcpy(exact, text, len);
    reader = phi_yaml_reader_new(&arena, phi__str(exact, len), options);
    while (phi_reader_advance(reader, units) == PHI_BUSY) continue;
    status = phi_reader_result(reader, out, error);
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
    phi_yaml_desc options = PHI_ZERO;
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

TEST(quoted_text_folds_its_lines_and_undoes_its_escapes) {
    static const pair pairs[] = {
        {"'it''s'", "\"it's\""},
        {"''", "\"\""},
        {"\"\"", "\"\""},
        {"' a '", "\" a \""},
        {"'a\n  b \n\n\n  c'", "\"a b\\n\\nc\""},
        {"\"a\n  b \n\n\n  c\"", "\"a b\\n\\nc\""},
        {"\"a \\\n  b\\\n\n  c\"", "\"a b\\nc\""},
        {"\"a\\  \n b\"", "\"a  b\""},
        {"\"a\\t  \n b\"", "\"a\\t b\""},
        {"\"\n a\n \"", "\" a \""},
        {"\"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\ \\\"\\/\\\\\\\t\"",
         "\"\\u0000\\u0007\\b\\t\\n\\u000b\\f\\r\\u001b \\\"/\\\\\\t\""},
        {"\"\\x41\\u00e9\\U0001F600\\ud83d\\ude00\"",
         "\"A\xc3\xa9\xf0\x9f\x98\x80\xf0\x9f\x98\x80\""},
        {"\"\\N\\_\\L\\P\"", "\"\xc2\x85\xc2\xa0\xe2\x80\xa8\xe2\x80\xa9\""},
        {"\"\\L\\L\\L\\L\\L\\L\"",
         "\"\xe2\x80\xa8\xe2\x80\xa8\xe2\x80\xa8\xe2\x80\xa8\xe2\x80\xa8\xe2\x80\xa8\""},
        {"'\\n'", "\"\\\\n\""},
        {"a: 'b: c # d'\n", "{\"a\":\"b: c # d\"}"},
        {"\"a: b\": 'c'\n'd'  : \"e\"\n", "{\"a: b\":\"c\",\"d\":\"e\"}"},
        {"\"a\r\n b\"", "\"a b\""},
    };
    all_read(pairs, PHI__COUNT(pairs));
}

TEST(block_scalars_keep_fold_and_chomp) {
    static const pair pairs[] = {
        {"|\n a\n b\n", "\"a\\nb\\n\""},
        {"|-\n a\n\n", "\"a\""},
        {"|+\n a\n\n", "\"a\\n\\n\""},
        {"|\n a", "\"a\""},
        {"|\n", "\"\""},
        {"|+\n\n\n", "\"\\n\\n\""},
        {">\n a\n b\n", "\"a b\\n\""},
        {">\n a\n\n b\n\n\n c\n", "\"a\\nb\\n\\nc\\n\""},
        {">\n a\n  b\n c\n", "\"a\\n b\\nc\\n\""},
        {">\n a\n\n  b\n\n c\n", "\"a\\n\\n b\\n\\nc\\n\""},
        {">-\n\n a\n", "\"\\na\""},
        {"|2\n   a\n  b\n", "\" a\\nb\\n\""},
        {"- |1\n  a\n b\n", "[\" a\\nb\\n\"]"},
        {"a:\n  b: |-1\n    c\n   d\n", "{\"a\":{\"b\":\" c\\nd\"}}"},
        {"a: |\n  x\n\n\nb: >+ # c\n  y\n\nd: 1\n", "{\"a\":\"x\\n\",\"b\":\"y\\n\\n\",\"d\":1}"},
        {"|\n a\n  \n b\n", "\"a\\n \\nb\\n\""},
        {"|\n \ta\n", "\"\\ta\\n\""},
        {"- |\n a\n-\n  >\n  b\n", "[\"a\\n\",\"b\\n\"]"},
        {"a: |\r\n b\r\n c\r\n", "{\"a\":\"b\\nc\\n\"}"},
        {"--- |\na: b\n--x\n...\n", "\"a: b\\n--x\\n\""},
        {"a: |\n  # not a comment\n  - b: [c\n", "{\"a\":\"# not a comment\\n- b: [c\\n\"}"},
    };
    all_read(pairs, PHI__COUNT(pairs));
}

TEST(plain_scalars_are_what_the_core_schema_says) {
    static const pair pairs[] = {
        {"[~, null, Null, NULL, nULL, nil]", "[null,null,null,null,\"nULL\",\"nil\"]"},
        {"[true, True, TRUE, tRue, false, False, FALSE]",
         "[true,true,true,\"tRue\",false,false,false]"},
        {"[yes, no, on, off, y, n]", "[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\"]"},
        {"[0, -0, +12, 007, -19, 1_000]", "[0,-0.0,12,7,-19,\"1_000\"]"},
        {"[0x1F, 0xfF, 0o17, 0o8, 0b1, 0x, -0x1, 0X1]",
         "[31,255,15,\"0o8\",\"0b1\",\"0x\",\"-0x1\",\"0X1\"]"},
        {"[1.5, .5, 1., -.5e3, +1.E+2, 1e3, 00.5, ., .e1, 1.2.3, 1e, e3]",
         "[1.5,0.5,1.0,-500.0,100.0,1000.0,0.5,\".\",\".e1\",\"1.2.3\",\"1e\",\"e3\"]"},
        {"[9223372036854775807, -9223372036854775808, 18446744073709551615, "
         "0xFFFFFFFFFFFFFFFF, 123456789012345678901]",
         "[9223372036854775807,-9223372036854775808,18446744073709551615,18446744073709551615,"
         "1.2345678901234568e20]"},
        {"[2001-01-01, 12:30:45, 1-2, +, -a, 1 2]",
         "[\"2001-01-01\",\"12:30:45\",\"1-2\",\"+\",\"-a\",\"1 2\"]"},
        {"['1', \"true\", '~']", "[\"1\",\"true\",\"~\"]"},
        {"[inf, nan, .infinity, .Nan, -.nan]",
         "[\"inf\",\"nan\",\".infinity\",\".Nan\",\"-.nan\"]"},
        {"", "null"},
        {"# nothing\n", "null"},
        {"---\n...\n", "null"},
        {"...\n", "null"},
    };
    phi_json *root;
    all_read(pairs, PHI__COUNT(pairs));
    setup();
    if (CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("[.inf, -.INF, +.Inf, .nan, .NaN, .NAN]"),
                                    NULL, &root, NULL),
                     PHI_OK)) {
        CHECK(phi_json_num(phi_json_at(root, 0), 0) > 1e308);
        CHECK(phi_json_num(phi_json_at(root, 1), 0) < -1e308);
        CHECK(phi_json_num(phi_json_at(root, 2), 0) > 1e308);
        CHECK(isnan(phi_json_num(phi_json_at(root, 3), 0)));
        CHECK(isnan(phi_json_num(phi_json_at(root, 4), 0)));
        CHECK(isnan(phi_json_num(phi_json_at(root, 5), 0)));
    }
    teardown();
}

TEST(keys_are_their_text) {
    static const pair pairs[] = {
        {"200: a\n1.0: b\n0x10: c\ntrue: d\nnull: e\n~: f\n\"\": g\n",
         "{\"200\":\"a\",\"1.0\":\"b\",\"0x10\":\"c\",\"true\":\"d\",\"null\":\"e\",\"~\":\"f\","
         "\"\":\"g\"}"},
        {"<<: a\n=: b\n", "{\"<<\":\"a\",\"=\":\"b\"}"},
        {"!!str : a\n", "{\"\":\"a\"}"},
        {"{a: {a: {a: 1}}, b: [{a: 2}, {a: 3}]}",
         "{\"a\":{\"a\":{\"a\":1}},\"b\":[{\"a\":2},{\"a\":3}]}"},
        {"/p/{id}: a\n$ref: '#/x'\na b : c\n",
         "{\"/p/{id}\":\"a\",\"$ref\":\"#/x\",\"a b\":\"c\"}"},
    };
    all_read(pairs, PHI__COUNT(pairs));
    (void)reads_as("!!int 1: a\n&x b: c\nd: *x\n", "{\"1\":\"a\",\"b\":\"c\",\"d\":\"b\"}");
    (void)reads_as("a: &x 1.50\n*x : b\n", "{\"a\":1.5,\"1.50\":\"b\"}");
}

TEST(aliases_are_copies_and_anchors_may_be_set_anew) {
    static const pair pairs[] = {
        {"a: &x {b: [1, 2]}\nc: *x\nd: [*x, *x]\n",
         "{\"a\":{\"b\":[1,2]},\"c\":{\"b\":[1,2]},\"d\":[{\"b\":[1,2]},{\"b\":[1,2]}]}"},
        {"- &a 1\n- &a 2\n- *a\n", "[1,2,2]"},
        {"- &a\n- *a\n", "[null,null]"},
        {"&m\nk: &v\n  - x\nl: *v\n", "{\"k\":[\"x\"],\"l\":[\"x\"]}"},
        {"&a:b c\n", "\"c\""},
        {"a: &x []\nb: *x\nc: &y {}\nd: *y\n", "{\"a\":[],\"b\":[],\"c\":{},\"d\":{}}"},
        {"a: &x\n  b: 1\nc:\n  *x\n", "{\"a\":{\"b\":1},\"c\":{\"b\":1}}"},
        {"[&a a, &b b: &c c, *a, *b, *c]", "[\"a\",{\"b\":\"c\"},\"a\",\"b\",\"c\"]"},
    };
    phi_json *root;
    all_read(pairs, PHI__COUNT(pairs));
    setup();
    if (CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("a: &x {b: 1}\nc: *x"), NULL, &root, NULL),
                     PHI_OK)) {
        (void)phi_json_set(&arena, phi_json_get(root, "c"), "b", phi_json_new_int(&arena, 2));
        CHECK_EQ_STR(json_of(root), "{\"a\":{\"b\":1},\"c\":{\"b\":2}}");
    }
    teardown();
}

TEST(core_tags_are_heeded_and_others_ignored_when_asked) {
    static const pair pairs[] = {
        {"[!!str 1, !!str true, ! 2, !!int \"3\", !!float 4, !!bool 'true', !!null '', !!str ]",
         "[\"1\",\"true\",\"2\",3,4.0,true,null,\"\"]"},
        {"!!map\na: !!seq\n- !<tag:yaml.org,2002:str> 5\n", "{\"a\":[\"5\"]}"},
        {"%TAG !e! tag:yaml.org,2002:\n---\n!e!str 1\n", "\"1\""},
        {"%YAML 1.1\n%FOO bar\n---\na\n", "\"a\""},
        {"!!seq []", "[]"},
        {"a: !!str\nb: !!null\n", "{\"a\":\"\",\"b\":null}"},
        {"&a !!str 1", "\"1\""},
        {"!!str &a 1", "\"1\""},
    };
    phi_yaml_desc options = PHI_ZERO;
    phi_json *root;
    all_read(pairs, PHI__COUNT(pairs));
    options.flags = PHI_YAML_ANY_TAG;
    setup();
    if (CHECK_EQ_INT(phi_yaml_parse(&arena, PHI__LIT("- !Ref a\n- !!binary YQ==\n- !x {b: 1}\n"),
                                    &options, &root, NULL),
                     PHI_OK))
        CHECK_EQ_STR(json_of(root), "[\"a\",\"YQ==\",{\"b\":1}]");
    teardown();
}

TEST(strings_and_keys_are_terminated) {
    static const char text[] = "abc: def\n\"g\\th\": 'i''j'\nk: |\n  l\n";
    phi_json *root;
    phi_json_iter it;
    phi_json *child;
    setup();
    if (CHECK_EQ_INT(read_sliced(text, sizeof text - 1, NULL, 1, &root, NULL), PHI_OK)) {
        it = phi_json_each(root);
        while ((child = phi_json_next(&it)) != NULL) {
            CHECK_EQ_INT(it.key.at[it.key.len], 0);
            CHECK_EQ_INT(phi_json_str(child, NULL).at[phi_json_str(child, NULL).len], 0);
        }
    }
    teardown();
}

/* Of any size, a tree takes about what that of the same JSON takes. */
TEST(a_tree_takes_no_more_memory_than_one_of_json) {
    char *text = (char *)malloc(2000000), *json = (char *)malloc(2000000);
    size_t n = 0, m = 0, i, yaml_bytes;
    phi_json *root;
    if (text == NULL || json == NULL) abort();
    json[m++] = '[';
    for (i = 0; i < 10000; i++) {
        n += (size_t)sprintf(text + n, "- name: number %d\n  value: %d\n", (int)i, (int)i);
        m += (size_t)sprintf(json + m, "%s{\"name\": \"number %d\", \"value\": %d}",
                             i > 0 ? "," : "", (int)i, (int)i);
    }
    json[m++] = ']';
    setup();
    CHECK_EQ_INT(phi_yaml_parse(&arena, phi__str(text, n), NULL, &root, NULL), PHI_OK);
    yaml_bytes = memory.used_bytes;
    teardown();
    setup();
    CHECK_EQ_INT(phi_json_parse(&arena, phi__str(json, m), 0, &root, NULL), PHI_OK);
    CHECK(yaml_bytes <= memory.used_bytes);
    teardown();
    free(text);
    free(json);
}

TEST_MAIN(TEST_ENTRY(plain_scalars_may_stay_texts),
          TEST_ENTRY(block_collections_nest_by_their_columns),
          TEST_ENTRY(comments_and_blank_lines_are_skipped_wherever_they_stand),
          TEST_ENTRY(flow_collections_are_read_and_json_with_them),
          TEST_ENTRY(plain_text_ends_where_it_should_and_folds_its_lines),
          TEST_ENTRY(quoted_text_folds_its_lines_and_undoes_its_escapes),
          TEST_ENTRY(block_scalars_keep_fold_and_chomp),
          TEST_ENTRY(plain_scalars_are_what_the_core_schema_says), TEST_ENTRY(keys_are_their_text),
          TEST_ENTRY(aliases_are_copies_and_anchors_may_be_set_anew),
          TEST_ENTRY(core_tags_are_heeded_and_others_ignored_when_asked),
          TEST_ENTRY(strings_and_keys_are_terminated),
          TEST_ENTRY(a_tree_takes_no_more_memory_than_one_of_json))
