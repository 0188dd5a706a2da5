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

/* ---- the editor ---- */

static const char before[] = "# about this file\n"
                             "\n"
                             "title = \"x\"   # the title\n"
                             "ports = [ 1,\n"
                             "  2, # two\n"
                             "]\n"
                             "owner.name = 'Ada' # dotted\n"
                             "point = { x = 1,  y = 2 }\n"
                             "\n"
                             "# the server\n"
                             "[server]\n"
                             "  host = \"a\"\n"
                             "\n"
                             "[server.tls]\n"
                             "on = true\n"
                             "\n"
                             "[[user]] # first\n"
                             "id = 1\n"
                             "[[user]]\n"
                             "id = 2\n"
                             "# the end\n";

/* `before` with one value set, where `from` became `to`; NULL: the text does not change. */
static bool sets(const char *path, const char *value, const char *from, const char *to) {
    phi_json *node = NULL;
    phi_str out;
    char want[2048];
    const char *at = from == NULL ? before : strstr(before, from);
    bool good;
    setup();
    if (value != NULL) {
        phi_json *holder = NULL;
        good = CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(value), 0, &holder, NULL), PHI_OK);
        node = good ? phi_json_get(holder, "v") : NULL;
        if (phi_json_is(phi_json_get(holder, "date"), PHI_JSON_STRING))
            node = phi_toml_new_date(&arena, phi_json_str(phi_json_get(holder, "date"), NULL));
    }
    good = CHECK(at != NULL);
    snprintf(want, sizeof want, "%.*s%s%s", good ? (int)(at - before) : 0, before,
             from == NULL ? "" : to,
             !good          ? ""
             : from == NULL ? before
                            : at + strlen(from));
    good =
        good &&
        CHECK_EQ_INT(phi_toml_set(&arena, PHI__LIT(before), path, node, 0, &out, NULL), PHI_OK) &&
        CHECK_EQ_STR(out.at, want);
    teardown();
    return good;
}

TEST(a_value_that_is_set_keeps_all_around_it) {
    CHECK(sets("title", "{\"v\":\"y\"}", "\"x\"  ", "\"y\"  "));
    CHECK(sets("title", "{\"v\":\"x\"}", NULL, NULL));
    CHECK(sets("title", "{\"date\":\"2026-01-31\"}", "\"x\"  ", "2026-01-31  "));
    CHECK(sets("ports[1]", "{\"v\":3}", "2, #", "3, #"));
    CHECK(sets("owner.name", "{\"v\":\"Eve\"}", "'Ada'", "\"Eve\""));
    CHECK(sets("point.y", "{\"v\":[2.5]}", "2 }", "[2.5] }"));
    CHECK(sets("server.tls.on", "{\"v\":false}", "true", "false"));
    CHECK(sets("user[1].id", "{\"v\":3}", "id = 2", "id = 3"));
    CHECK(sets("point", "{\"v\":{\"x\":1,\"y\":3}}", "2 }", "3 }"));
    CHECK(sets("'point'.\"x\"", "{\"v\":1.0}", "x = 1,", "x = 1.0,"));
}

TEST(new_keys_stand_behind_those_of_their_table) {
    CHECK(sets("new", "{\"v\":1}", "2 }\n", "2 }\nnew = 1\n"));
    CHECK(sets("server.port", "{\"v\":80}", "host = \"a\"\n", "host = \"a\"\n  port = 80\n"));
    CHECK(sets("server.tls.\"a b\"", "{\"v\":[]}", "on = true\n", "on = true\n\"a b\" = []\n"));
    CHECK(sets("owner.age", "{\"v\":36}", "# dotted\n", "# dotted\nowner.age = 36\n"));
    CHECK(sets("owner.home", "{\"v\":{\"a\":1}}", "# dotted\n",
               "# dotted\nowner.home = { a = 1 }\n"));
    CHECK(sets("point.z", "{\"v\":3}", "y = 2", "y = 2, z = 3"));
    CHECK(sets("ports[2]", "{\"v\":3}", "# two\n", "# two\n  3,\n"));
    CHECK(sets("user[0].name", "{\"v\":\"b\"}", "id = 1\n", "id = 1\nname = \"b\"\n"));
}

TEST(new_tables_stand_behind_all_of_the_table_around_them) {
    CHECK(sets("server.log", "{\"v\":{\"to\":\"x\"}}", "on = true\n",
               "on = true\n\n[server.log]\nto = \"x\"\n"));
    CHECK(sets("user[2]", "{\"v\":{\"id\":3}}", "id = 2\n", "id = 2\n\n[[user]]\nid = 3\n"));
    CHECK(sets("user[0].home", "{\"v\":{\"a\":1}}", "id = 1\n", "id = 1\n\n[user.home]\na = 1\n"));
    CHECK(sets("more.of.it", "{\"v\":1}", "# the end\n", "# the end\n\n[more.of]\nit = 1\n"));
    CHECK(sets("list", "{\"v\":[{\"a\":1}]}", "# the end\n", "# the end\n\n[[list]]\na = 1\n"));
}

TEST(what_is_removed_takes_its_lines_with_it) {
    CHECK(sets("title", NULL, "title = \"x\"   # the title\n", ""));
    CHECK(sets("ports", NULL, "ports = [ 1,\n  2, # two\n]\n", ""));
    CHECK(sets("owner.name", NULL, "owner.name = 'Ada' # dotted\n", "owner = {}\n"));
    CHECK(sets("owner", NULL, "owner.name = 'Ada' # dotted\n", ""));
    CHECK(sets("server.host", NULL, "  host = \"a\"\n", ""));
    CHECK(sets("server.tls", NULL, "\n[server.tls]\non = true\n", ""));
    CHECK(sets("server", NULL, "[server]\n  host = \"a\"\n\n[server.tls]\non = true\n", ""));
    CHECK(sets("user[0]", NULL, "\n[[user]] # first\nid = 1\n", ""));
    CHECK(sets("user[1]", NULL, "[[user]]\nid = 2\n", ""));
    CHECK(sets("user", NULL, "\n[[user]] # first\nid = 1\n[[user]]\nid = 2\n", ""));
    CHECK(sets("ports[0]", NULL, " 1,\n", "\n"));
    CHECK(sets("ports[1]", NULL, "  2, # two\n", ""));
    CHECK(sets("point.x", NULL, "{ x = 1,  y = 2 }", "{ y = 2 }"));
}

TEST(a_value_may_become_a_table_and_back) {
    CHECK(sets("title", "{\"v\":{\"a\":1}}", "\"x\"  ", "{ a = 1 }  "));
    CHECK(sets("server.tls", "{\"v\":1}", "  host = \"a\"\n\n[server.tls]\non = true\n",
               "  host = \"a\"\n  tls = 1\n"));
    CHECK(sets("owner", "{\"v\":[1]}", "owner.name = 'Ada' # dotted\npoint = { x = 1,  y = 2 }\n",
               "point = { x = 1,  y = 2 }\nowner = [1]\n"));
}

TEST(places_that_are_not_there_are_told) {
    static const char *const bad[] = {"",          "a..b", "[0", "title.x",
                                      "server[0]", "'x",   "a]", "ports.x"};
    phi_json *one;
    phi_parse_error error;
    phi_str out;
    size_t i;
    setup();
    one = phi_json_new_int(&arena, 1);
    for (i = 0; i < PHI__COUNT(bad); i++)
        CHECK_EQ_INT(phi_toml_set(&arena, PHI__LIT(before), bad[i], one, 0, &out, NULL),
                     PHI_BAD_ARG);
    CHECK_EQ_INT(phi_toml_set(&arena, PHI__LIT(before), "ports[3]", one, 0, &out, NULL),
                 PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_toml_set(&arena, PHI__LIT(before), "no.such", NULL, 0, &out, NULL),
                 PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_toml_set(&arena, PHI__LIT(before), "user[2]", NULL, 0, &out, NULL),
                 PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_toml_set(&arena, PHI__LIT("a = \n"), "a", one, 0, &out, &error), PHI_PARSE);
    CHECK(error.line == 1 && error.column == 5);
    CHECK_EQ_INT(
        phi_toml_set(&arena, PHI__LIT("a = 1"), "a", phi__json_edit_null(&arena), 0, &out, NULL),
        PHI_UNSUPPORTED);
    CHECK_EQ_INT(phi_toml_set(&arena, PHI__LIT("a = 1"), "a", phi__json_edit_null(&arena),
                              PHI_TOML_SKIP_NULLS, &out, NULL),
                 PHI_OK);
    CHECK_STR(out, "");
    CHECK_EQ_INT(phi_toml_edit(&arena, PHI__LIT("a = 1"), one, 0, &out, NULL), PHI_BAD_ARG);
    teardown();
}

/* `levels` arrays, each in the one before. */
static phi_json *nested(int levels) {
    phi_json *outer = phi_json_new_array(&arena), *at = outer;
    while (--levels > 0) {
        phi_json *inner = phi_json_new_array(&arena);
        CHECK_EQ_INT(phi_json_add(at, inner), PHI_OK);
        at = inner;
    }
    return outer;
}

TEST(a_value_that_is_nested_too_deeply_is_too_big) {
    phi_str out, text = PHI__LIT("a = 1\nl = [1]\n");
    setup();
    CHECK_EQ_INT(phi_toml_set(&arena, text, "a", nested(PHI_JSON_MAX_DEPTH - 1), 0, &out, NULL),
                 PHI_OK);
    CHECK_EQ_INT(phi_toml_set(&arena, text, "a", nested(PHI_JSON_MAX_DEPTH), 0, &out, NULL),
                 PHI_TOO_BIG);
    CHECK_EQ_INT(phi_toml_set(&arena, text, "a", nested(5000), 0, &out, NULL), PHI_TOO_BIG);
    CHECK_EQ_INT(phi_toml_set(&arena, text, "new.x", nested(5000), 0, &out, NULL), PHI_TOO_BIG);
    CHECK_EQ_INT(phi_toml_set(&arena, text, "l[1]", nested(5000), 0, &out, NULL), PHI_TOO_BIG);
    CHECK_EQ_INT(phi_toml_set(&arena, text, "l[0]", nested(5000), 0, &out, NULL), PHI_TOO_BIG);
    teardown();
}

TEST(a_key_with_a_quote_inside_needs_none_around_it) {
    phi_str text = PHI__LIT("\"it's\" = 1\n'a\"' = {\"b'\" = 2}\n"), out;
    phi_json *root, *two;
    setup();
    root = toml(text);
    two = phi_json_new_int(&arena, 3);
    CHECK_EQ_INT(phi_json_int(phi_json_path(root, "it's"), 0), 1);
    CHECK_EQ_INT(phi_toml_set(&arena, text, "it's", two, 0, &out, NULL), PHI_OK);
    CHECK_EQ_STR(out.at, "\"it's\" = 3\n'a\"' = {\"b'\" = 2}\n");
    CHECK_EQ_INT(phi_toml_set(&arena, text, "a\".b'", two, 0, &out, NULL), PHI_OK);
    CHECK_EQ_STR(out.at, "\"it's\" = 1\n'a\"' = {\"b'\" = 3}\n");
    CHECK_EQ_INT(phi_toml_set(&arena, text, "\"it's\"", NULL, 0, &out, NULL), PHI_OK);
    CHECK_EQ_STR(out.at, "'a\"' = {\"b'\" = 2}\n");
    CHECK_EQ_INT(phi_toml_set(&arena, text, "'it's", two, 0, &out, NULL), PHI_BAD_ARG);
    teardown();
}

TEST(line_breaks_of_two_bytes_and_a_last_line_without_one_are_kept) {
    phi_str out;
    setup();
    CHECK_EQ_INT(phi_toml_edit(&arena, PHI__LIT("a = 1\r\n[t]\r\nb = 2"),
                               json("{\"a\":1,\"c\":3,\"t\":{\"b\":2,\"d\":4}}"), 0, &out, NULL),
                 PHI_OK);
    CHECK_EQ_STR(out.at, "a = 1\r\nc = 3\r\n[t]\r\nb = 2\r\nd = 4\r\n");
    CHECK_EQ_INT(phi_toml_edit(&arena, PHI__LIT(""), json("{\"t\":{\"b\":2}}"), 0, &out, NULL),
                 PHI_OK);
    CHECK_EQ_STR(out.at, "[t]\nb = 2\n");
    CHECK_EQ_INT(phi_toml_edit(&arena, PHI__LIT("# top\n\n# of t\n[t]\n"),
                               json("{\"t\":{},\"a\":1}"), 0, &out, NULL),
                 PHI_OK);
    CHECK_EQ_STR(out.at, "# top\n\na = 1\n\n# of t\n[t]\n");
    teardown();
}

TEST(every_failed_allocation_is_told) {
    bool tripped;
    int n = 0;
    do {
        phi_str out = phi__str(NULL, 0);
        phi_status status;
        phi_json *root;
        setup();
        root = json("{\"title\":\"y\",\"new\":[1,{\"a\":2}],\"user\":[{\"id\":1},{\"id\":2},{}],"
                    "\"server\":{\"t\":{\"u\":1}},\"ports\":[1,2,3],\"point\":{\"y\":1},"
                    "\"k1\":1,\"k2\":2,\"k3\":3,\"k4\":4,\"k5\":5,\"k6\":6,\"k7\":7,\"k8\":8,"
                    "\"k9\":1,\"l2\":2,\"l3\":3,\"l4\":4,\"l5\":5,\"l6\":6,\"l7\":7,\"l8\":8}");
        test_alloc_fail_at(n++);
        status = phi_toml_edit(&arena, PHI__LIT(before), root, 0, &out, NULL);
        tripped = test_alloc_tripped();
        if (!tripped) {
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(status, PHI_OK);
            CHECK(toml_suite_same(toml(out), root));
        } else
            CHECK_EQ_INT(status, PHI_NO_MEMORY);
        test_alloc_fail_at(-1);
        teardown();
    } while (tripped);
    CHECK(n > 8);
}

/* Linear: a table of 50,000 keys, of which each other one changes. */
TEST(a_large_text_is_changed_at_once) {
    enum { MANY = 50000 };
    char *text = (char *)malloc(MANY * 32), *to = text;
    phi_json *root, *again;
    phi_json_iter it;
    phi_str out;
    size_t i;
    REQUIRE(text != NULL);
    for (i = 0; i < MANY; i++) to += sprintf(to, i % 5 == 4 ? "[t%zu]\n" : "key%zu = 1\n", i);
    setup();
    root = toml(phi__str(text, (size_t)(to - text)));
    it = phi_json_each(root);
    while (phi_json_next(&it) != NULL)
        if (phi_json_is(it.at, PHI_JSON_OBJECT))
            CHECK_EQ_INT(phi_json_set(&arena, it.at, "more", phi_json_new_int(&arena, 2)), PHI_OK);
    CHECK_EQ_INT(phi_toml_edit(&arena, phi__str(text, (size_t)(to - text)), root, 0, &out, NULL),
                 PHI_OK);
    again = toml(out);
    CHECK(toml_suite_same(again, root));
    teardown();
    free(text);
}

TEST_MAIN(TEST_ENTRY(tables_are_written_with_headers),
          TEST_ENTRY(text_is_written_in_the_quotes_that_fit),
          TEST_ENTRY(a_long_array_takes_a_line_an_item),
          TEST_ENTRY(dates_and_braces_are_written_as_they_were_read),
          TEST_ENTRY(what_toml_does_not_have_is_refused),
          TEST_ENTRY(a_value_that_is_set_keeps_all_around_it),
          TEST_ENTRY(new_keys_stand_behind_those_of_their_table),
          TEST_ENTRY(new_tables_stand_behind_all_of_the_table_around_them),
          TEST_ENTRY(what_is_removed_takes_its_lines_with_it),
          TEST_ENTRY(a_value_may_become_a_table_and_back),
          TEST_ENTRY(places_that_are_not_there_are_told),
          TEST_ENTRY(a_value_that_is_nested_too_deeply_is_too_big),
          TEST_ENTRY(a_key_with_a_quote_inside_needs_none_around_it),
          TEST_ENTRY(line_breaks_of_two_bytes_and_a_last_line_without_one_are_kept),
          TEST_ENTRY(every_failed_allocation_is_told), TEST_ENTRY(a_large_text_is_changed_at_once))
