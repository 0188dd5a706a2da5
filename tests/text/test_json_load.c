/* test_json_load.c - a JSON document that owns its memory, and what PHI_JSON_RELAXED allows. */
#include "support/test.h"
#include "text/json_in.h"

static phi_memory memory;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
}

static const char *path_in(char *out, size_t cap, const char *dir, const char *name) {
    (void)snprintf(out, cap, "%s/%s", dir, name);
    return out;
}

static void put_file(const char *path, const char *text, size_t len) {
    FILE *file = fopen(path, "wb");
    if (!CHECK(file != NULL)) return;
    CHECK(fwrite(text, 1, len, file) == len);
    CHECK(fclose(file) == 0);
}

TEST(a_document_is_loaded_changed_written_and_unloaded) {
    phi_parse_error error;
    phi_json *game;
    phi_arena *arena;
    phi_str out = PHI_ZERO;
    setup();
    game = phi_json_load(phi_str_of("{\"hero\":{\"gold\":12}}"), 0, &memory, &error);
    CHECK(game != NULL);
    CHECK_EQ_INT(phi_json_int(phi_json_path(game, "hero.gold"), -1), 12);
    arena = phi_json_arena(game);
    CHECK(arena != NULL);
    CHECK_EQ_INT(
        phi_json_set(arena, phi_json_get(game, "hero"), "gold", phi_json_new_int(arena, 7)),
        PHI_OK);
    CHECK_EQ_INT(phi_json_write(arena, game, 0, &out), PHI_OK);
    CHECK_STR(out, "{\"hero\":{\"gold\":7}}");
    phi_json_unload(game);
    CHECK_EQ_INT(memory.used_bytes, 0);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST(the_memory_is_the_c_librarys_where_none_is_given) {
    phi_json *list = phi_json_load(phi_str_of("[1, 2.5, \"three\"]"), 0, NULL, NULL);
    CHECK_EQ_INT(phi_json_count(list), 3);
    CHECK(phi_str_is(phi_json_str(phi_json_at(list, 2), NULL), "three"));
    phi_json_unload(list);
}

TEST(a_scalar_is_a_document_too) {
    phi_json *text = phi_json_load(phi_str_of(" \"ada\" "), 0, NULL, NULL);
    CHECK(phi_str_is(phi_json_str(text, NULL), "ada"));
    CHECK(phi_json_is(text, PHI_JSON_STRING));
    phi_json_unload(text);
}

TEST(a_text_that_is_not_json_gives_null_and_says_where_and_why) {
    phi_parse_error error;
    setup();
    CHECK(phi_json_load(phi_str_of("{\n  \"a\": x}"), 0, &memory, &error) == NULL);
    CHECK_EQ_INT(error.status, PHI_PARSE);
    CHECK_EQ_INT(error.line, 2);
    CHECK_EQ_INT(error.column, 8);
    CHECK_EQ_STR(error.message, "expected a value, found 'x'");
    CHECK(phi_json_load(phi_str_of(""), 0, &memory, &error) == NULL);
    CHECK_EQ_STR(error.message, "expected a value, found the end of the text");
    CHECK(phi_json_load(phi_str_of(NULL), 0, &memory, NULL) == NULL);
    CHECK(phi_json_load(phi__str("[\0]", 3), 0, &memory, &error) == NULL);
    CHECK_EQ_STR(error.message, "expected a value or ']', found byte 0x00");
    CHECK_EQ_INT(memory.used_bytes, 0);
}

TEST(null_and_other_nodes_are_no_documents) {
    phi_json *root = phi_json_load(phi_str_of("{\"a\":{\"b\":1}}"), 0, NULL, NULL);
    phi_arena *arena = phi_json_arena(root);
    phi_json *copy = phi_json_copy(arena, root), *holder = phi_json_new_array(arena);
    phi_json_unload(NULL);
    CHECK(phi_json_arena(NULL) == NULL);
    phi_json_unload(phi_json_get(root, "a")); /* not a root: nothing happens */
    phi_json_unload(copy);
    CHECK(phi_json_arena(copy) == NULL);
    CHECK_EQ_INT(phi_json_int(phi_json_path(root, "a.b"), 0), 1);
    CHECK_EQ_INT(phi_json_add(holder, root), PHI_MISUSE); /* it would be freed before the holder */
    CHECK_EQ_INT(phi_json_add(holder, copy), PHI_OK);
    phi_json_unload(root);
}

TEST(calls_on_a_document_that_was_not_loaded_say_so) {
    phi_json *none = phi_json_load(phi_str_of("{"), 0, NULL, NULL);
    phi_arena *arena = phi_json_arena(none);
    phi_str out;
    CHECK(none == NULL && arena == NULL);
    CHECK(phi_json_new_int(arena, 1) == NULL && phi_json_new_array(arena) == NULL);
    CHECK(phi_json_new_str(arena, phi_str_of("x")) == NULL);
    CHECK_EQ_INT(phi_json_set(arena, none, "a", phi_json_new_int(arena, 1)), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_json_write(arena, none, 0, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_json_int(phi_json_path(none, "a.b"), 5), 5);
}

TEST(every_failed_allocation_gives_null_and_leaks_nothing) {
    static const char text[] = "{\"a\":[1,2,3,\"\\u00e9\"],\"b\":{\"c\":null}}";
    int n = 0;
    for (;; n++) {
        phi_parse_error error;
        phi_json *root;
        setup();
        test_alloc_fail_at(n);
        root = phi_json_load(phi_str_of(text), 0, &memory, &error);
        if (!test_alloc_tripped()) {
            CHECK_EQ_INT(phi_json_count(root), 2);
            phi_json_unload(root);
            break;
        }
        CHECK(root == NULL);
        CHECK_EQ_INT(error.status, PHI_NO_MEMORY);
        CHECK_EQ_STR(error.message, "no memory for the tree");
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    }
    CHECK(n >= 2);
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST(the_limit_of_the_memory_bounds_a_document) {
    phi_parse_error error;
    char text[4000];
    setup();
    memory.limit_bytes = 3000;
    memset(text, ' ', sizeof text);
    memcpy(text + sizeof text - 2, "[]", 2);
    CHECK(phi_json_load(phi__str(text, sizeof text), 0, &memory, &error) == NULL);
    CHECK_EQ_INT(error.status, PHI_NO_MEMORY);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

TEST(nesting_of_a_document_is_bounded) {
    phi_parse_error error;
    char text[600];
    memset(text, '[', sizeof text);
    CHECK(phi_json_load(phi__str(text, sizeof text), 0, NULL, &error) == NULL);
    CHECK_EQ_INT(error.status, PHI_TOO_BIG);
    CHECK_EQ_STR(error.message, "arrays and objects are nested too deeply");
}

/* ---- PHI_JSON_RELAXED ---- */

static const struct {
    const char *text, *json;
} relaxed[] = {
    {"[1,]", "[1]"},
    {"[1 , ]", "[1]"},
    {"{\"a\":1,}", "{\"a\":1}"},
    {"{\"a\":[{},],}", "{\"a\":[{}]}"},
    {"// first\n{\"a\": /* second */ 1 // third\r\n, \"b\"/**/:2}// last", "{\"a\":1,\"b\":2}"},
    {"/* a\n * b **/[/*]*/]/***/", "[]"},
    {"[1,// one\r2]", "[1,2]"},
    {"\xef\xbb\xbf{\"a\":1}", "{\"a\":1}"},
    {"[\"// no comment\",\"/* none */\"]", "[\"// no comment\",\"/* none */\"]"},
    {"[/* \x80\x01 */1,/* last */]", "[1]"},
    {"//\n//\n7", "7"},
};

TEST(comments_a_last_comma_and_a_byte_order_mark_are_read_when_asked) {
    size_t i, units;
    for (i = 0; i < PHI__COUNT(relaxed); i++) {
        phi_json *root;
        phi_str out = PHI_ZERO;
        setup();
        root = phi_json_load(phi_str_of(relaxed[i].text), PHI_JSON_RELAXED, &memory, NULL);
        CHECK(root != NULL);
        CHECK_EQ_INT(phi_json_write(phi_json_arena(root), root, 0, &out), PHI_OK);
        CHECK_STR(out, relaxed[i].json);
        for (units = 1; root != NULL && units < 6; units++) { /* in slices, too */
            phi__json_reader reader;
            phi_json *again = NULL;
            phi__json_read_begin(&reader, phi_json_arena(root), phi_str_of(relaxed[i].text),
                                 PHI_JSON_RELAXED, 0);
            while (phi__json_read_advance(&reader, units) == PHI_BUSY) continue;
            CHECK_EQ_INT(phi__json_read_result(&reader, &again, NULL), PHI_OK);
            CHECK(phi__json_get_equal(root, again));
        }
        phi_json_unload(root);
        CHECK_EQ_INT(memory.used_bytes, 0);
    }
}

TEST(without_the_flag_they_are_refused) {
    size_t i;
    for (i = 0; i < PHI__COUNT(relaxed); i++) {
        phi_json *root = phi_json_load(phi_str_of(relaxed[i].text), 0, NULL, NULL);
        CHECK((root == NULL) == (strcmp(relaxed[i].text, relaxed[i].json) != 0));
        phi_json_unload(root);
    }
}

TEST(the_flag_allows_nothing_else) {
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } bad[] = {
        {"[,]", 1, 2, "expected a value or ']', found ','"},
        {"[1,,]", 1, 4, "expected a value, found ','"},
        {"{,}", 1, 2, "expected a key in quotes or '}', found ','"},
        {"{\"a\":,}", 1, 6, "expected a value, found ','"},
        {"{\"a\":1,,}", 1, 8, "expected a key in quotes, found ','"},
        {"{\"a\":]", 1, 6, "expected a value, found ']'"},
        {"[1,}", 1, 4, "expected a value, found '}'"},
        {"1,", 1, 2, "expected the end of the text, found ','"},
        {"]", 1, 1, "expected a value, found ']'"},
        {"[1 / 2]", 1, 5, "expected '/' or '*' after the slash of a comment, found ' '"},
        {"[1]/", 1, 5,
         "expected '/' or '*' after the slash of a comment, found the end of the text"},
        {"[1]\n/* a\n*", 3, 2, "expected the closing '*/' of a comment, found the end of the text"},
        {"/*/", 1, 4, "expected the closing '*/' of a comment, found the end of the text"},
        {"// only", 1, 8, "expected a value, found the end of the text"},
        {"# x\n1", 1, 1, "expected a value, found '#'"},
        {"{a:1}", 1, 2, "expected a key in quotes or '}', found 'a'"},
        {"['a']", 1, 2, "expected a value or ']', found '''"},
        {" \xef\xbb\xbf[]", 1, 2, "expected a value, found byte 0xef"},
        {"/* a\n b */ x", 2, 7, "expected a value, found 'x'"},
        {"n/**/ull", 1, 2, "expected 'null', found '/'"},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(bad); i++) {
        phi_parse_error error;
        CHECK(phi_json_load(phi_str_of(bad[i].text), PHI_JSON_RELAXED, NULL, &error) == NULL);
        CHECK_EQ_STR(error.message, bad[i].message);
        CHECK_EQ_INT(error.line, bad[i].line);
        CHECK_EQ_INT(error.column, bad[i].column);
    }
}

/* ---- files ---- */

TEST(a_file_is_loaded_twice_and_each_is_its_own) {
    char dir[300], path[400];
    phi_json *a, *b;
    phi_arena *arena;
    setup();
    if (!test_temp_dir(dir, sizeof dir)) return;
    put_file(path_in(path, sizeof path, dir, "game.json"), "{\"level\": 3, // here\n}", 22);
    a = phi_json_load_file(path, PHI_JSON_RELAXED, &memory, NULL);
    b = phi_json_load_file(path, PHI_JSON_RELAXED | PHI_JSON_BORROW, &memory, NULL);
    arena = phi_json_arena(a);
    CHECK_EQ_INT(phi_json_set(arena, a, "level", phi_json_new_int(arena, 4)), PHI_OK);
    CHECK_EQ_INT(phi_json_int(phi_json_get(a, "level"), 0), 4);
    CHECK_EQ_INT(phi_json_int(phi_json_get(b, "level"), 0), 3);
    phi_json_unload(a);
    CHECK_EQ_INT(phi_json_int(phi_json_get(b, "level"), 0), 3);
    phi_json_unload(b);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

TEST(a_file_that_is_missing_cut_or_no_file_says_so) {
    char dir[300], path[400], want[500];
    phi_parse_error error;
    setup();
    if (!test_temp_dir(dir, sizeof dir)) return;
    CHECK(phi_json_load_file("no-such.json", 0, &memory, &error) == NULL);
    CHECK_EQ_INT(error.status, PHI_NOT_FOUND);
    CHECK_EQ_STR(error.message, "there is no file no-such.json");
    CHECK_EQ_INT(error.line, 0);
    CHECK(phi_json_load_file(dir, 0, &memory, &error) == NULL);
    CHECK_EQ_INT(error.status, PHI_IO);
#ifdef _WIN32 /* fopen has the error of missing rights there */
    (void)snprintf(want, sizeof want, "no permission to read %.100s", dir);
#else
    (void)snprintf(want, sizeof want, "a directory: %.100s", dir);
#endif
    CHECK_EQ_STR(error.message, want);
    CHECK(phi_json_load_file(NULL, 0, &memory, &error) == NULL);
    CHECK_EQ_INT(error.status, PHI_BAD_ARG);
    CHECK_EQ_STR(error.message, "the path is NULL");
    put_file(path_in(path, sizeof path, dir, "cut.json"), "{\"a\": [1, 2", 11);
    CHECK(phi_json_load_file(path, 0, &memory, &error) == NULL);
    CHECK_EQ_INT(error.status, PHI_PARSE);
    CHECK_EQ_STR(error.message, "expected ',' or ']', found the end of the text");
    put_file(path, "", 0);
    CHECK(phi_json_load_file(path, 0, &memory, &error) == NULL);
    CHECK_EQ_STR(error.message, "expected a value, found the end of the text");
    put_file(path, "[\"a\0b\"]", 7);
    CHECK(phi_json_load_file(path, 0, &memory, NULL) == NULL);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

TEST(a_file_beyond_the_limit_is_not_read) {
    char dir[300], path[400];
    phi_parse_error error;
    FILE *file;
    if (!test_temp_dir(dir, sizeof dir)) return;
    file = fopen(path_in(path, sizeof path, dir, "huge.json"), "wb");
    if (!CHECK(file != NULL)) return;
    CHECK(fseek(file, (long)PHI_JSON_MAX_FILE_BYTES, SEEK_SET) == 0 && fputc('1', file) == '1');
    CHECK(fclose(file) == 0);
    CHECK(phi_json_load_file(path, 0, NULL, &error) == NULL);
    CHECK_EQ_INT(error.status, PHI_TOO_BIG);
    CHECK(strncmp(error.message, "a file of more than 64 MiB: ", 28) == 0);
}

TEST(every_failed_allocation_of_a_file_gives_null_and_leaks_nothing) {
    char dir[300], path[400], text[10000];
    int n = 0;
    if (!test_temp_dir(dir, sizeof dir)) return;
    memset(text, ' ', sizeof text);
    memcpy(text, "[1,2,3]", 7);
    put_file(path_in(path, sizeof path, dir, "a.json"), text, sizeof text);
    for (;; n++) {
        phi_parse_error error;
        phi_json *root;
        setup();
        test_alloc_fail_at(n);
        root = phi_json_load_file(path, 0, &memory, &error);
        if (!test_alloc_tripped()) {
            CHECK_EQ_INT(phi_json_count(root), 3);
            phi_json_unload(root);
            break;
        }
        CHECK(root == NULL);
        CHECK_EQ_INT(error.status, PHI_NO_MEMORY);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    }
    CHECK(n >= 4);
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST_MAIN(TEST_ENTRY(a_document_is_loaded_changed_written_and_unloaded),
          TEST_ENTRY(the_memory_is_the_c_librarys_where_none_is_given),
          TEST_ENTRY(a_scalar_is_a_document_too),
          TEST_ENTRY(a_text_that_is_not_json_gives_null_and_says_where_and_why),
          TEST_ENTRY(null_and_other_nodes_are_no_documents),
          TEST_ENTRY(calls_on_a_document_that_was_not_loaded_say_so),
          TEST_ENTRY(every_failed_allocation_gives_null_and_leaks_nothing),
          TEST_ENTRY(the_limit_of_the_memory_bounds_a_document),
          TEST_ENTRY(nesting_of_a_document_is_bounded),
          TEST_ENTRY(comments_a_last_comma_and_a_byte_order_mark_are_read_when_asked),
          TEST_ENTRY(without_the_flag_they_are_refused), TEST_ENTRY(the_flag_allows_nothing_else),
          TEST_ENTRY(a_file_is_loaded_twice_and_each_is_its_own),
          TEST_ENTRY(a_file_that_is_missing_cut_or_no_file_says_so),
          TEST_ENTRY(a_file_beyond_the_limit_is_not_read),
          TEST_ENTRY(every_failed_allocation_of_a_file_gives_null_and_leaks_nothing))
