/* test_json_fields.c - the values of a text that grows: those of the whole text, however it came. */
#include "support/test.h"
#include "text/json_in.h"

static phi_memory memory;

static void setup(size_t limit) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, limit);
}

/* "path=value;" each. */
typedef struct list {
    char text[8192];
    size_t len;
    int status;
} list;

static void put(list *l, phi_str path, phi_str value) {
    int n = snprintf(l->text + l->len, sizeof l->text - l->len, "%.*s=%.*s;", (int)path.len,
                     path.at, (int)value.len, value.at);
    if (n > 0) l->len += (size_t)n;
}

/* All that is found in the first `len` bytes, which lie in a block of their own that is gone afterwards. */
static void look(phi__json_fields *f, const char *text, size_t len, list *l) {
    char *copy = (char *)malloc(len > 0 ? len : 1);
    phi_str path, value;
    if (copy == NULL) abort();
    memcpy(copy, text, len);
    while ((l->status = phi__json_fields_next(f, phi__str(copy, len), &path, &value)) > 0)
        put(l, path, value);
    free(copy);
}

/* The text cut at every place in two, and byte by byte. */
static void check_fields(const char *text, const char *want, int status) {
    size_t len = strlen(text), cut, i;
    for (cut = 0; cut <= len + 1; cut++) {
        phi__json_fields f;
        list l = PHI_ZERO;
        setup(0);
        phi__json_fields_init(&f, &memory);
        if (cut <= len)
            look(&f, text, cut, &l);
        else
            for (i = 0; i < len; i++) look(&f, text, i, &l);
        look(&f, text, len, &l);
        if (!CHECK_EQ_STR(l.text, want) || !CHECK_EQ_INT(l.status, status))
            printf("  cut at %u of %s\n", (unsigned)cut, text);
        phi__json_fields_free(&f);
        CHECK_EQ_INT(memory.used_bytes, 0);
    }
}

TEST(each_kind_of_value_is_found_with_its_path_at_every_split) {
    check_fields(
        "{\"a\":\"x\",\"b\":[1,-2.5e3,{\"c\":true}],\"d\":{\"e\":{\"f\":null}},\"g\":false}",
        "/a=\"x\";/b/0=1;/b/1=-2.5e3;/b/2/c=true;/d/e/f=null;/g=false;", 0);
}

TEST(empty_arrays_and_objects_are_values) {
    check_fields("{\"a\":[ ],\"b\":{ },\"c\":[[],{}]}", "/a=[];/b={};/c/0=[];/c/1={};", 0);
    check_fields("{}", "={};", 0);
    check_fields(" [ ] ", "=[];", 0);
}

TEST(blanks_between_the_tokens_change_nothing) {
    check_fields(" { \"a\" :\t1 ,\r\n\"b\" : [ 2 , \"3\" ] } ", "/a=1;/b/0=2;/b/1=\"3\";", 0);
}

TEST(a_slash_and_a_tilde_in_a_key_are_escaped_in_its_path) {
    check_fields("{\"a/b\":1,\"m~n\":2,\"~/~1\":3,\"\":4,\"/\":{\"~\":5}}",
                 "/a~1b=1;/m~0n=2;/~0~1~01=3;/=4;/~1/~0=5;", 0);
}

TEST(escapes_are_undone_in_paths_and_left_in_values) {
    check_fields(
        "{\"\\u00e9\\n\\u002f\\\"\":\"\\u00e9\\n\\/\\\"\",\"\\ud83d\\ude00\":\"\\ud83d\\ude00\"}",
        "/\xc3\xa9\n~1\"=\"\\u00e9\\n\\/\\\"\";/\xf0\x9f\x98\x80=\"\\ud83d\\ude00\";", 0);
    check_fields("{\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\":\"\xf0\x9f\x98\x80\xc3\xa9\"}",
                 "/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80=\"\xf0\x9f\x98\x80\xc3\xa9\";", 0);
}

TEST(a_key_that_is_there_twice_is_found_twice) {
    check_fields("{\"a\":1,\"a\":{\"a\":2},\"a\":3}", "/a=1;/a/a=2;/a=3;", 0);
}

TEST(a_number_is_whole_when_the_byte_behind_it_says_so) {
    check_fields("[12", "", 0);
    check_fields("[12 ", "/0=12;", 0);
    check_fields("12", "", 0);
    check_fields("12 ", "=12;", 0);
    check_fields("[0,-0,1E400]", "/0=0;/1=-0;", PHI_PARSE);
    check_fields("[123456789012345678901234567890,0.1e-7]",
                 "/0=123456789012345678901234567890;/1=0.1e-7;", 0);
}

TEST(a_text_that_is_one_value_has_an_empty_path) {
    check_fields("\"all\"", "=\"all\";", 0);
    check_fields("true", "=true;", 0);
}

TEST(nothing_is_found_behind_what_is_no_json) {
    check_fields("", "", 0);
    check_fields("{\"a\":1,}", "/a=1;", PHI_PARSE);
    check_fields("{\"a\":1 \"b\":2}", "/a=1;", PHI_PARSE);
    check_fields("[1,2,]", "/0=1;/1=2;", PHI_PARSE);
    check_fields("[1}", "/0=1;", PHI_PARSE);
    check_fields("{\"a\" 1}", "", PHI_PARSE);
    check_fields("{a:1}", "", PHI_PARSE);
    check_fields("[01]", "", PHI_PARSE);
    check_fields("[-]", "", PHI_PARSE);
    check_fields("[trie]", "", PHI_PARSE);
    check_fields("[nul", "", 0);
    check_fields("[\"a\nb\"]", "", PHI_PARSE);
    check_fields("[\"\\x00 12\"]", "", PHI_PARSE);
    check_fields("[\"\\ud800 and more of it\"]", "", PHI_PARSE);
    check_fields("[\"\\ude00\"]", "", PHI_PARSE);
    check_fields("[\"\xff and more\"]", "", PHI_PARSE);
    check_fields("\xef\xbb\xbf{}", "", PHI_PARSE);
    check_fields("{\"a\":1} {\"b\":2}", "/a=1;", PHI_PARSE);
}

/* ---- against the reader ---- */

static void put_written(list *l, phi_arena *arena, phi_str path, const phi_json *node) {
    phi_str text;
    CHECK_EQ_INT(phi_json_write(arena, node, 0, &text), PHI_OK);
    put(l, path, text);
}

static void walk(const phi_json *node, phi_arena *arena, phi_str path, list *l) {
    bool object = phi_json_is(node, PHI_JSON_OBJECT);
    uint32_t i;
    const phi_json *child;
    if ((!object && phi_json_type_of(node) != PHI_JSON_ARRAY) || node->len == 0) {
        put_written(l, arena, path, node);
        return;
    }
    for (i = 0, child = node->v.last->next; i < node->len; i++, child = child->next) {
        char step[300];
        int len = object
                      ? snprintf(step, sizeof step, "%.*s/%.*s", (int)path.len, path.at,
                                 (int)phi__json_key_len(child), child->key)
                      : snprintf(step, sizeof step, "%.*s/%u", (int)path.len, path.at, (unsigned)i);
        walk(child, arena, phi__str(step, (size_t)len), l);
    }
}

/* Both as the writer writes their values. */
static void fields_are_leaves(const char *text) {
    phi__json_fields f;
    phi_arena arena;
    phi_json *root = NULL, *one;
    phi_str path, value;
    list got = PHI_ZERO, want = PHI_ZERO;
    setup(0);
    phi_arena_init(&arena, &memory, 0);
    phi__json_fields_init(&f, &memory);
    while ((got.status = phi__json_fields_next(&f, phi_str_of(text), &path, &value)) > 0) {
        CHECK_EQ_INT(phi_json_parse(&arena, value, 0, &one, NULL), PHI_OK);
        put_written(&got, &arena, path, one);
    }
    if (phi_json_parse(&arena, phi_str_of(text), 0, &root, NULL) == PHI_OK) {
        walk(root, &arena, phi__str("", 0), &want);
        if (!CHECK_EQ_STR(got.text, want.text)) printf("  of %s\n", text);
        CHECK_EQ_INT(got.status, 0);
    } else
        CHECK(got.status <= 0);
    phi__json_fields_free(&f);
    phi_arena_free(&arena);
}

static const char rich[] =
    "{\"actions\":[{\"name\":\"walk\",\"to\":[1,-2.5],\"fast\":true},{\"name\":\"say\","
    "\"text\":\"\xe2\x82\xac \\\"5\\\"\\n\",\"to\":null},{},[]],\"mood\":{\"joy\":0.25,\"x\":{}},"
    "\"actions\":[[[false]]],\"n\":12345678901234567890}";

TEST(what_is_found_are_the_leaves_of_the_tree) {
    fields_are_leaves(rich);
    fields_are_leaves("[]");
    fields_are_leaves("[[[[[[[\"deep\"]]]],1]],2]");
}

TEST(with_any_byte_changed_they_are_still_the_leaves_or_the_text_is_none) {
    static const char bytes[] = "\"\\{}[]:,0xe \n\x01\xff";
    char text[sizeof rich];
    size_t at, i;
    for (at = 0; at < sizeof rich - 1; at++)
        for (i = 0; i < sizeof bytes - 1; i++) {
            memcpy(text, rich, sizeof rich);
            text[at] = bytes[i];
            fields_are_leaves(text);
        }
}

/* ---- limits ---- */

TEST(what_is_nested_too_deeply_ends_it) {
    char text[200];
    list l = PHI_ZERO;
    phi__json_fields f;
    memset(text, '[', sizeof text);
    text[0] = '{';
    memcpy(text + 1, "\"a\":1,\"b\":", 10);
    setup(0);
    phi__json_fields_init(&f, &memory);
    look(&f, text, 11 + 63, &l); /* the object, and 63 arrays */
    CHECK_EQ_INT(l.status, 0);
    look(&f, text, 11 + 64, &l);
    CHECK_EQ_INT(l.status, PHI_TOO_BIG);
    look(&f, text, 11 + 65, &l);
    CHECK_EQ_INT(l.status, PHI_TOO_BIG);
    CHECK_EQ_STR(l.text, "/a=1;");
    phi__json_fields_free(&f);
}

static int key_of(size_t len, char byte) {
    static char text[10000];
    list l = PHI_ZERO;
    phi__json_fields f;
    memset(text, byte, sizeof text);
    memcpy(text, "{\"", 2);
    memcpy(text + 2 + len, "\":1}", 4);
    setup(0);
    phi__json_fields_init(&f, &memory);
    look(&f, text, len + 6, &l);
    phi__json_fields_free(&f);
    return l.status == 0 ? (int)l.len : l.status;
}

TEST(a_path_that_is_too_long_ends_it) {
    CHECK_EQ_INT(key_of(1023, 'k'), 1 + 1023 + 3);
    CHECK_EQ_INT(key_of(1024, 'k'), PHI_TOO_BIG);
    CHECK_EQ_INT(key_of(511, '/'), 1 + 1022 + 3);
    CHECK_EQ_INT(key_of(512, '/'), PHI_TOO_BIG);
    CHECK_EQ_INT(key_of(9000, 'k'), PHI_TOO_BIG);
}

TEST(a_number_of_64_kib_ends_it) {
    size_t len = 65536, i;
    char *text = (char *)malloc(len + 2);
    list l = PHI_ZERO;
    phi__json_fields f;
    phi_str path, value;
    REQUIRE(text != NULL);
    text[0] = '[';
    for (i = 0; i < len; i++) text[1 + i] = i == 1 ? '.' : '1';
    text[len + 1] = ']';
    setup(0);
    phi__json_fields_init(&f, &memory);
    look(&f, text, len + 2, &l);
    CHECK_EQ_INT(l.status, PHI_TOO_BIG);
    phi__json_fields_free(&f);
    text[len] = ']';
    CHECK_EQ_INT(phi__json_fields_next(&f, phi__str(text, len + 1), &path, &value), 1);
    CHECK_EQ_INT(value.len, len - 1);
    phi__json_fields_free(&f);
    free(text);
}

TEST(every_allocation_may_fail) {
    int n = 0;
    do {
        phi__json_fields f;
        list l = PHI_ZERO;
        setup(0);
        phi__json_fields_init(&f, &memory);
        test_alloc_fail_at(n);
        look(&f, rich, sizeof rich - 1, &l);
        CHECK_EQ_INT(l.status, test_alloc_tripped() ? PHI_NO_MEMORY : 0);
        phi__json_fields_free(&f);
        CHECK_EQ_INT(memory.used_bytes, 0);
    } while (test_alloc_tripped() && n++ < 100);
    CHECK(n > 1);
}

TEST_MAIN(TEST_ENTRY(each_kind_of_value_is_found_with_its_path_at_every_split),
          TEST_ENTRY(empty_arrays_and_objects_are_values),
          TEST_ENTRY(blanks_between_the_tokens_change_nothing),
          TEST_ENTRY(a_slash_and_a_tilde_in_a_key_are_escaped_in_its_path),
          TEST_ENTRY(escapes_are_undone_in_paths_and_left_in_values),
          TEST_ENTRY(a_key_that_is_there_twice_is_found_twice),
          TEST_ENTRY(a_number_is_whole_when_the_byte_behind_it_says_so),
          TEST_ENTRY(a_text_that_is_one_value_has_an_empty_path),
          TEST_ENTRY(nothing_is_found_behind_what_is_no_json),
          TEST_ENTRY(what_is_found_are_the_leaves_of_the_tree),
          TEST_ENTRY(with_any_byte_changed_they_are_still_the_leaves_or_the_text_is_none),
          TEST_ENTRY(what_is_nested_too_deeply_ends_it),
          TEST_ENTRY(a_path_that_is_too_long_ends_it), TEST_ENTRY(a_number_of_64_kib_ends_it),
          TEST_ENTRY(every_allocation_may_fail))
