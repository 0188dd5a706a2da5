/* test_toml.c - TOML: what is read, and how. What is refused is in test_toml_errors.c. */
#include "support/test.h"
#include "support/toml_suite.h"
#include "text/json_in.h"
#include "formats/toml_in.h"
#include "text/text_in.h"

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
static phi_status read_sliced(const char *text, size_t units, phi__marks *marks, phi_json **out,
                              phi_parse_error *error) {
    phi__toml_reader reader;
    phi_status status;
    size_t len = strlen(text);
    char *exact = (char *)malloc(len > 0 ? len : 1);
    if (exact == NULL) abort();
    if (len > 0) memcpy(exact, text, len);
    phi__toml_read_begin(&reader, &arena, phi__str(exact, len), NULL);
    reader.marks = marks;
    while (phi__toml_read_advance(&reader, units) == PHI_BUSY) continue;
    status = phi__toml_read_result(&reader, out, error);
    free(exact);
    return status;
}

static phi_json *read(const char *text) {
    phi_json *root = NULL;
    phi_parse_error error;
    if (phi_toml_parse(&arena, phi_str_of(text), NULL, &root, &error) != PHI_OK)
        fprintf(stderr, "%u:%u: %s\n", error.line, error.column, error.message);
    CHECK(root != NULL);
    return root;
}

/* Reads it whole and in slices of every small size; all must be that JSON. */
static bool reads_as(const char *text, const char *json) {
    static const size_t units[] = {SIZE_MAX, 1, 2, 3, 5, 17};
    bool good = true;
    size_t i;
    for (i = 0; i < PHI__COUNT(units) && good; i++) {
        phi_json *root = NULL;
        phi_parse_error error;
        phi_str out;
        setup();
        if (read_sliced(text, units[i], NULL, &root, &error) != PHI_OK) {
            fprintf(stderr, "%s\n%u:%u: %s\n", text, error.line, error.column, error.message);
            good = CHECK(false);
        } else if (CHECK_EQ_INT(phi_json_write(&arena, root, 0, &out), PHI_OK))
            good = CHECK_EQ_STR(out.at, json);
        teardown();
    }
    return good;
}

TEST(tables_and_dotted_keys_become_objects) {
    CHECK(reads_as("", "{}"));
    CHECK(reads_as("# only this", "{}"));
    CHECK(reads_as("a.b.c = 1\na.b.d = 2\n[t]\nx = 3\n[t.u]\ny = 4\n[v.w]\n[v]\nz = 5\n",
                   "{\"a\":{\"b\":{\"c\":1,\"d\":2}},\"t\":{\"x\":3,\"u\":{\"y\":4}},"
                   "\"v\":{\"w\":{},\"z\":5}}"));
    CHECK(reads_as("[[l]]\na = 1\n[l.s]\nb = 2\n[[l]]\n[[l.m]]\nc = 3\n[[l.m]]\n",
                   "{\"l\":[{\"a\":1,\"s\":{\"b\":2}},{\"m\":[{\"c\":3},{}]}]}"));
    CHECK(reads_as("\"a.b\" . 'c' = {}\n\"\" = 1\n1-2_x = 2\n",
                   "{\"a.b\":{\"c\":{}},\"\":1,\"1-2_x\":2}"));
    CHECK(
        reads_as("[ a . \"b\" ]\r\nc = [ 1 , # one\r\n 2, ]\r\n", "{\"a\":{\"b\":{\"c\":[1,2]}}}"));
    CHECK(reads_as("x = { a.b = 1, a.c = [ {}, { d = '' } ] }",
                   "{\"x\":{\"a\":{\"b\":1,\"c\":[{},{\"d\":\"\"}]}}}"));
    CHECK(reads_as("\xEF\xBB\xBF"
                   "a = 1",
                   "{\"a\":1}"));
}

TEST(strings_of_all_styles_are_read) {
    CHECK(reads_as("a = \"\\b\\t\\n\\f\\r\\\"\\\\\\u00e9\\U0001F600\"",
                   "{\"a\":\"\\b\\t\\n\\f\\r\\\"\\\\\xc3\xa9\xf0\x9f\x98\x80\"}"));
    CHECK(reads_as("a = 'C:\\x'\nb = ''", "{\"a\":\"C:\\\\x\",\"b\":\"\"}"));
    CHECK(reads_as("a = \"\"\"\r\none\r\n two \\  \n\n\t three\"\"\"",
                   "{\"a\":\"one\\n two three\"}"));
    CHECK(reads_as("a = \"\"\"\"\"q\"\"\"\"\"\nb = '''''l'''''\nc = \"\"\"\"\"\"",
                   "{\"a\":\"\\\"\\\"q\\\"\\\"\",\"b\":\"''l''\",\"c\":\"\"}"));
    CHECK(reads_as("a = '''\n\\n\t\n'''", "{\"a\":\"\\\\n\\t\\n\"}"));
}

TEST(numbers_are_read) {
    phi_json *root;
    CHECK(reads_as("a = [0, -0, +7, -1_000, 0xDEAD_beef, 0o755, 0b1101]",
                   "{\"a\":[0,0,7,-1000,3735928559,493,13]}"));
    CHECK(reads_as("a = [9223372036854775807, -9223372036854775808, 0x7fffffffffffffff]",
                   "{\"a\":[9223372036854775807,-9223372036854775808,9223372036854775807]}"));
    CHECK(reads_as("a = [1.0, -0.0, 6.02e2_3, 5e+2, 1e06, 3.141_5]",
                   "{\"a\":[1.0,-0.0,6.02e23,500.0,1000000.0,3.1415]}"));
    setup();
    root = read("a = inf\nb = -inf\nc = nan\nd = +nan\ne = true\nf = 1\ng = 1.0");
    CHECK(phi_json_num(phi_json_get(root, "a"), 0) > 1e308);
    CHECK(phi_json_num(phi_json_get(root, "b"), 0) < -1e308);
    CHECK(isnan(phi_json_num(phi_json_get(root, "c"), 0)));
    CHECK(isnan(phi_json_num(phi_json_get(root, "d"), 0)));
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "e"), NULL), PHI_TOML_BOOL);
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "f"), NULL), PHI_TOML_INTEGER);
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "g"), NULL), PHI_TOML_FLOAT);
    CHECK_EQ_INT(phi_toml_type_of(root, NULL), PHI_TOML_TABLE);
    CHECK_EQ_INT(phi_toml_type_of(NULL, NULL), PHI_TOML_NONE);
    CHECK_EQ_INT(phi_toml_type_of(phi__json_edit_null(&arena), NULL), PHI_TOML_NONE);
    teardown();
}

TEST(dates_are_strings_that_remember_their_type) {
    phi_json *root, *copy;
    phi_toml_date date;
    setup();
    root = read("a = 1979-05-27t07:32:00.999999999123z\nb = 1979-05-27 00:32:00.5-07:30\n"
                "c = 1979-05-27T07:32:00\nd = 2000-02-29\ne = 07:32:60\nf = \"2000-02-29\"");
    CHECK_STR(phi_json_str(phi_json_get(root, "a"), NULL), "1979-05-27T07:32:00.999999999Z");
    CHECK_STR(phi_json_str(phi_json_get(root, "b"), NULL), "1979-05-27T00:32:00.5-07:30");
    CHECK(phi_json_is(phi_json_get(root, "a"), PHI_JSON_STRING));
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "a"), NULL), PHI_TOML_OFFSET_DATETIME);
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "c"), NULL), PHI_TOML_LOCAL_DATETIME);
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "d"), NULL), PHI_TOML_LOCAL_DATE);
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "e"), NULL), PHI_TOML_LOCAL_TIME);
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "f"), NULL), PHI_TOML_STRING);
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "b"), &date), PHI_TOML_OFFSET_DATETIME);
    CHECK(date.type == PHI_TOML_OFFSET_DATETIME && date.year == 1979 && date.month == 5 &&
          date.day == 27 && date.hour == 0 && date.minute == 32 && date.second == 0 &&
          date.nanosecond == 500000000 && date.offset_minutes == -450);
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "e"), &date), PHI_TOML_LOCAL_TIME);
    CHECK(date.type == PHI_TOML_LOCAL_TIME && date.year == 0 && date.hour == 7 &&
          date.second == 60);
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "f"), &date), PHI_TOML_STRING);
    CHECK_EQ_INT(date.hour, 7); /* untouched */
    /* the functions of json.h keep it */
    copy = phi_json_copy(&arena, root);
    CHECK(toml_suite_same(copy, root));
    CHECK(phi__json_get_equal(phi_json_get(root, "d"), phi_json_get(root, "f")));
    CHECK_EQ_INT(phi_json_set(&arena, root, "g", phi_json_remove(copy, "a")), PHI_OK);
    CHECK_EQ_INT(phi_toml_type_of(phi_json_get(root, "g"), NULL), PHI_TOML_OFFSET_DATETIME);
    teardown();
}

TEST(a_date_can_be_made) {
    setup();
    CHECK_STR(phi_json_str(phi_toml_new_date(&arena, PHI__LIT("2024-02-29 23:59:59z")), NULL),
              "2024-02-29T23:59:59Z");
    CHECK_EQ_INT(phi_toml_type_of(phi_toml_new_date(&arena, PHI__LIT("23:59:59")), NULL),
                 PHI_TOML_LOCAL_TIME);
    CHECK(phi_toml_new_date(&arena, PHI__LIT("2023-02-29")) == NULL);
    CHECK(phi_toml_new_date(&arena, PHI__LIT("")) == NULL);
    CHECK(phi_toml_new_date(&arena, PHI__LIT("2024-01-01T00:00:00+24:00")) == NULL);
    CHECK(phi_toml_new_date(NULL, PHI__LIT("2024-01-01")) == NULL);
    teardown();
}

/* ---- places ---- */

static const char *place(const phi__marks *marks, const phi_json *node) {
    static char out[64];
    uint32_t line, column, key_line, key_column;
    if (!phi__marks_find(marks, node, &line, &column)) return "none";
    if (phi__marks_key(marks, node, &key_line, &key_column))
        snprintf(out, sizeof out, "%u:%u %u:%u", line, column, key_line, key_column);
    else
        snprintf(out, sizeof out, "%u:%u", line, column);
    return out;
}

TEST(values_and_keys_have_places) {
    static const char text[] = "a = 1\n"
                               "b.c = [ 2,\n"
                               "  { d = 'x' } ]\n"
                               "[t.u]\n"
                               "  k = \"\"\"\n"
                               "\"\"\"\n"
                               "[t]\n"
                               "[[l]]\n"
                               "[[l]]\n";
    static const size_t units[] = {SIZE_MAX, 1, 3};
    size_t i;
    for (i = 0; i < PHI__COUNT(units); i++) {
        phi__marks marks;
        phi_json *root = NULL;
        setup();
        phi__marks_init(&marks, &arena);
        CHECK_EQ_INT(read_sliced(text, units[i], &marks, &root, NULL), PHI_OK);
        CHECK_EQ_STR(place(&marks, root), "1:1");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "a")), "1:5 1:1");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "b")), "2:1 2:1");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "b.c")), "2:7 2:3");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "b.c[0]")), "2:9");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "b.c[1]")), "3:3");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "b.c[1].d")), "3:9 3:5");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "t.u")), "4:1 4:4");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "t.u.k")), "5:7 5:3");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "t")), "7:1 7:2");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "l")), "8:1 8:3");
        CHECK_EQ_STR(place(&marks, phi_json_path(root, "l[1]")), "9:1");
        teardown();
    }
}

/* ---- memory and size ---- */

static const char many_forms[] = "a.b = \"x\\ty\" # c\n[t]\nk = 1979-05-27\nl = [1_0, {m = 2}]\n"
                                 "[[n]]\no = '''\r\np'''\n[[n]]\n";

TEST(every_failed_allocation_is_told) {
    bool tripped;
    int n = 0;
    do {
        phi_json *root = NULL;
        phi_parse_error error = PHI_ZERO;
        phi_status status;
        setup();
        test_alloc_fail_at(n++);
        status = phi_toml_parse(&arena, phi_str_of(many_forms), NULL, &root, &error);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        if (tripped) CHECK(root == NULL && error.line > 0 && error.message[0] != '\0');
        teardown();
    } while (tripped);
    CHECK(n >= (sizeof(void *) == 8 ? 3 : 2)); /* blocks, and once without a failure */
}

TEST(a_reader_can_be_dropped_anywhere) {
    size_t i;
    for (i = 0; i <= sizeof many_forms; i++) {
        phi_reader *reader;
        size_t k;
        setup();
        reader = phi_toml_reader_new(&arena, phi_str_of(many_forms), NULL);
        for (k = 0; k < i; k++) (void)phi_reader_advance(reader, 1);
        teardown();
    }
}

/* 100,000 of each: all in some 100 ms where the work is linear. */
TEST(many_tables_and_keys_take_linear_time) {
    enum { MANY = 100000 };
    static const char *const forms[] = {"k%zu = 1\n", "[t.k%zu]\n", "a.b%zu.c = 1\n", "[[l]]\n",
                                        "x%zu.y.z = 1\nx%zu.y.w = 2\n"};
    static const char *const names[] = {"", "t", "a", "l", ""};
    char *text = (char *)malloc(MANY * 48), *to;
    size_t form, i;
    REQUIRE(text != NULL);
    for (form = 0; form < PHI__COUNT(forms); form++) {
        phi_json *root = NULL;
        for (to = text, i = 0; i < MANY; i++) to += sprintf(to, forms[form], i, i);
        setup();
        CHECK_EQ_INT(phi_toml_parse(&arena, phi__str(text, (size_t)(to - text)), NULL, &root, NULL),
                     PHI_OK);
        if (form % 4 != 0) root = phi_json_get(root, names[form]);
        CHECK_EQ_INT(phi_json_count(root), MANY);
        teardown();
    }
    free(text);
}

TEST(text_of_a_megabyte_is_read_in_slices) {
    enum { BYTES = 1 << 20 };
    char *text = (char *)malloc(BYTES + 16);
    phi_reader *reader;
    phi_json *root = NULL;
    size_t slices = 0;
    REQUIRE(text != NULL);
    memcpy(text, "a = \"", 5);
    memset(text + 5, 'x', BYTES);
    memcpy(text + 5 + BYTES, "\"\n", 3);
    setup();
    reader = phi_toml_reader_new(&arena, phi_str_of(text), NULL);
    while (phi_reader_advance(reader, 4096) == PHI_BUSY) slices++;
    CHECK_EQ_INT(phi_reader_result(reader, &root, NULL), PHI_OK);
    CHECK_EQ_INT(phi_json_str(phi_json_get(root, "a"), NULL).len, BYTES);
    CHECK(slices >= BYTES / 4096);
    teardown();
    free(text);
}

TEST_MAIN(TEST_ENTRY(tables_and_dotted_keys_become_objects),
          TEST_ENTRY(strings_of_all_styles_are_read), TEST_ENTRY(numbers_are_read),
          TEST_ENTRY(dates_are_strings_that_remember_their_type), TEST_ENTRY(a_date_can_be_made),
          TEST_ENTRY(values_and_keys_have_places), TEST_ENTRY(every_failed_allocation_is_told),
          TEST_ENTRY(a_reader_can_be_dropped_anywhere),
          TEST_ENTRY(many_tables_and_keys_take_linear_time),
          TEST_ENTRY(text_of_a_megabyte_is_read_in_slices))
