/* test_toml_write.c - trees as TOML, and texts that are changed in place. */
#include "support/test.h"
#include "support/toml_suite.h"
#include "text/json_in.h"

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) { phi_arena_free(&arena); }

static phi_json *json(const char *text) {
    phi_json *root = NULL;
    CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(text), 0, &root, NULL), PHI_OK);
    return root;
}

static phi_json *toml(phi_str text) {
    phi_json *root = NULL;
    phi_parse_error error;
    if (phi_toml_parse(&arena, text, NULL, &root, &error) != PHI_OK)
        fprintf(stderr, "%s\n%u:%u: %s\n", text.at, error.line, error.column, error.message);
    CHECK(root != NULL);
    return root;
}

static const char *written(const phi_json *root) {
    phi_str out;
    if (!CHECK_EQ_INT(phi_toml_write(&arena, root, 0, &out), PHI_OK)) return "(not written)";
    CHECK(toml_suite_same(toml(out), root));
    return out.at;
}

/* ---- the writer ---- */

TEST(tables_are_written_with_headers) {
    setup();
    CHECK_EQ_STR(written(json("{}")), "");
    CHECK_EQ_STR(written(json("{\"t\":{\"x\":1,\"u\":{\"y\":2},\"e\":{}},\"a\":true,"
                              "\"l\":[{\"b\":1.5,\"m\":{\"c\":[]}},{}],\"d\":{\"e\":{\"f\":-1}}}")),
                 "a = true\n"
                 "\n"
                 "[t]\n"
                 "x = 1\n"
                 "\n"
                 "[t.u]\n"
                 "y = 2\n"
                 "\n"
                 "[t.e]\n"
                 "\n"
                 "[[l]]\n"
                 "b = 1.5\n"
                 "\n"
                 "[l.m]\n"
                 "c = []\n"
                 "\n"
                 "[[l]]\n"
                 "\n"
                 "[d.e]\n"
                 "f = -1\n");
    CHECK_EQ_STR(written(json("{\"a b\":{\"\":{\"c.d\":[1,{\"e\":{}},[{}]]}}}")),
                 "[\"a b\".\"\"]\n\"c.d\" = [1, { e = {} }, [{}]]\n");
    teardown();
}

TEST(text_is_written_in_the_quotes_that_fit) {
    setup();
    CHECK_EQ_STR(
        written(json("{\"a\":\"plain\",\"b\":\"C:\\\\x\",\"c\":\"say \\\"hi\\\"\","
                     "\"d\":\"it's \\\\\",\"e\":\"\\t\\u0000\\u007f\",\"f\":\"\xc3\xa9\"}")),
        "a = \"plain\"\n"
        "b = 'C:\\x'\n"
        "c = 'say \"hi\"'\n"
        "d = \"it's \\\\\"\n"
        "e = \"\\t\\u0000\\u007f\"\n"
        "f = \"\xc3\xa9\"\n");
    CHECK_EQ_STR(
        written(json("{\"a\":\"one\\n\\ttwo\\r\\n\\\\ \\\"\\\"\\\" \\\"\",\"b\":[\"x\\ny\"]}")),
        "a = \"\"\"\n"
        "one\n"
        "\ttwo\\r\n"
        "\\\\ \"\\\"\" \\\"\"\"\"\n"
        "b = [\"x\\ny\"]\n");
    teardown();
}

TEST(a_long_array_takes_a_line_an_item) {
    setup();
    CHECK_EQ_STR(written(json("{\"a\":[\"0123456789012345678901234567890123456789\","
                              "\"0123456789012345678901234567890123456789\"]}")),
                 "a = [\n"
                 "    \"0123456789012345678901234567890123456789\",\n"
                 "    \"0123456789012345678901234567890123456789\",\n"
                 "]\n");
    teardown();
}

TEST(dates_and_braces_are_written_as_they_were_read) {
    setup();
    CHECK_EQ_STR(written(toml(PHI__LIT("d = 1979-05-27 07:32:00z\nt = {a = 1}\nn = [nan, -inf]\n"
                                       "l = [{b = 07:00:00}]\n"))),
                 "d = 1979-05-27T07:32:00Z\n"
                 "t = { a = 1 }\n"
                 "n = [nan, -inf]\n"
                 "l = [{ b = 07:00:00 }]\n");
    teardown();
}

TEST(what_toml_does_not_have_is_refused) {
    phi_json *deep, *root;
    phi_str out;
    int i;
    setup();
    CHECK_EQ_INT(phi_toml_write(&arena, json("{\"a\":null}"), 0, &out), PHI_UNSUPPORTED);
    CHECK_EQ_INT(phi_toml_write(&arena, json("{\"a\":[null]}"), PHI_TOML_SKIP_NULLS, &out),
                 PHI_UNSUPPORTED);
    CHECK_EQ_INT(phi_toml_write(&arena, json("{\"a\":18446744073709551615}"), 0, &out),
                 PHI_UNSUPPORTED);
    CHECK_EQ_INT(phi_toml_write(&arena, json("[]"), 0, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_toml_write(&arena, NULL, 0, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_toml_write(&arena, json("{}"), 2, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_toml_write(&arena,
                                json("{\"a\":null,\"b\":{\"c\":null},\"d\":[{\"e\":null}]}"),
                                PHI_TOML_SKIP_NULLS, &out),
                 PHI_OK);
    CHECK_STR(out, "[b]\n\n[[d]]\n");
    root = deep = phi_json_new_object(&arena);
    for (i = 0; i < 2000; i++) {
        phi_json *inner = i % 2 == 0 ? phi_json_new_object(&arena) : phi_json_new_object(&arena);
        CHECK_EQ_INT(phi_json_set(&arena, deep, "a", inner), PHI_OK);
        deep = inner;
    }
    CHECK_EQ_INT(phi_toml_write(&arena, root, 0, &out), PHI_TOO_BIG);
    CHECK_EQ_INT(phi_json_set(&arena, root, "b", phi_json_new_str(&arena, phi__str("x\xff", 2))),
                 PHI_OK);
    (void)phi_json_remove(root, "a");
    CHECK_EQ_INT(phi_toml_write(&arena, root, 0, &out), PHI_OK);
    CHECK_STR(out, "b = \"x\xef\xbf\xbd\"\n");
    teardown();
}

/* ---- failed allocations ---- */

TEST(every_failed_allocation_is_reported) {
    bool tripped;
    int n = 0;
    do {
        phi_str out = phi__str(NULL, 0);
        setup();
        phi_json *root = json("{\"title\":\"y\",\"new\":[1,{\"a\":2}],\"user\":[{\"id\":1},{}],"
                              "\"server\":{\"t\":{\"u\":1}},\"ports\":[1,2,3]}");
        test_alloc_fail_at(n++);
        phi_status status = phi_toml_write(&arena, root, 0, &out);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        if (!tripped) CHECK(toml_suite_same(toml(out), root));
        teardown();
    } while (tripped);
    CHECK(n > 2);
}

TEST_MAIN(TEST_ENTRY(tables_are_written_with_headers),
          TEST_ENTRY(text_is_written_in_the_quotes_that_fit),
          TEST_ENTRY(a_long_array_takes_a_line_an_item),
          TEST_ENTRY(dates_and_braces_are_written_as_they_were_read),
          TEST_ENTRY(what_toml_does_not_have_is_refused),
          TEST_ENTRY(every_failed_allocation_is_reported))
