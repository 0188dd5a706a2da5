/* test_marks.c - the place of each value and key of a tree in its text. */
#include "support/test.h"
#include "text/json_in.h"
#include "text/text_in.h"
#include "formats/yaml_in.h"

static phi_memory memory;
static phi_arena arena;
static phi__marks marks;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__marks_init(&marks, &arena);
}

static void teardown(void) { phi_arena_free(&arena); }

static phi_json *read_json(const char *text, size_t units, uint32_t flags) {
    phi__json_reader reader;
    phi_json *root = NULL;
    phi__json_read_begin(&reader, &arena, phi_str_of(text), flags, 0);
    reader.marks = &marks;
    while (phi__json_read_advance(&reader, units) == PHI_BUSY) continue;
    (void)phi__json_read_result(&reader, &root, NULL);
    return root;
}

static phi_json *read_yaml(const char *text, size_t units) {
    phi__yaml_reader reader;
    phi_json *root = NULL;
    phi__yaml_read_begin(&reader, &arena, phi_str_of(text), NULL);
    reader.marks = &marks;
    while (phi__yaml_read_advance(&reader, units) == PHI_BUSY) continue;
    (void)phi__yaml_read_result(&reader, &root, NULL);
    return root;
}

/* "line:column" of the value, and of the key behind a blank where there is one. */
static const char *place(const phi_json *root, const char *path) {
    static char out[64];
    const phi_json *node = path[0] == '\0' ? root : phi_json_path(root, path);
    uint32_t line, column, key_line, key_column;
    bool found = phi__marks_find(&marks, node, &line, &column);
    if (!found) {
        CHECK(line == 0 && column == 0);
        return "none";
    }
    if (phi__marks_key(&marks, node, &key_line, &key_column))
        snprintf(out, sizeof out, "%u:%u %u:%u", line, column, key_line, key_column);
    else
        snprintf(out, sizeof out, "%u:%u", line, column);
    return out;
}

static const size_t slices[] = {SIZE_MAX, 1, 3, 7};

TEST(values_and_keys_of_json_have_places) {
    static const char text[] = "{\n"
                               "  \"a\": 1, \"b\"\n"
                               "  :\n"
                               "    [true, \"x\\u0041\", {\"k\\n\": null}],\n"
                               "  \"\": {}\n"
                               "}";
    size_t i;
    for (i = 0; i < 2 * PHI__COUNT(slices); i++) {
        phi_json *root;
        setup();
        root = read_json(text, slices[i / 2], i % 2 == 0 ? 0 : PHI_JSON_BORROW);
        CHECK_EQ_STR(place(root, ""), "1:1");
        CHECK_EQ_STR(place(root, "a"), "2:8 2:3");
        CHECK_EQ_STR(place(root, "b"), "4:5 2:11");
        CHECK_EQ_STR(place(root, "b[0]"), "4:6");
        CHECK_EQ_STR(place(root, "b[1]"), "4:12");
        CHECK_EQ_STR(place(root, "b[2]"), "4:23");
        CHECK_EQ_STR(place(phi_json_path(root, "b[2]"), "k\n"), "4:31 4:24");
        CHECK(phi_json_get(root, "") != NULL);
        CHECK_EQ_STR(place(phi_json_get(root, ""), ""), "5:7 5:3");
        CHECK(!marks.failed);
        teardown();
    }
}

TEST(values_and_keys_of_yaml_have_places) {
    static const char text[] = "# first\n"
                               "a: 1\n"
                               "b:\n"
                               "  - x\n"
                               "  - !!str 2\n"
                               "  - c: 'y'\n"
                               "    d: |\n"
                               "      z\n"
                               "e: [1, {f: 2, \"g\": 3}, h: 4]\n"
                               "? i\n"
                               ": j\n"
                               "k:\n"
                               "l: more\n"
                               "  lines\n";
    size_t i;
    for (i = 0; i < PHI__COUNT(slices); i++) {
        phi_json *root;
        setup();
        root = read_yaml(text, slices[i]);
        CHECK_EQ_STR(place(root, ""), "2:1");
        CHECK_EQ_STR(place(root, "a"), "2:4 2:1");
        CHECK_EQ_STR(place(root, "b"), "4:3 3:1");
        CHECK_EQ_STR(place(root, "b[0]"), "4:5");
        CHECK_EQ_STR(place(root, "b[1]"), "5:5");
        CHECK_EQ_STR(place(root, "b[2]"), "6:5");
        CHECK_EQ_STR(place(root, "b[2].c"), "6:8 6:5");
        CHECK_EQ_STR(place(root, "b[2].d"), "7:8 7:5");
        CHECK_EQ_STR(place(root, "e"), "9:4 9:1");
        CHECK_EQ_STR(place(root, "e[0]"), "9:5");
        CHECK_EQ_STR(place(root, "e[1]"), "9:8");
        CHECK_EQ_STR(place(root, "e[1].f"), "9:12 9:9");
        CHECK_EQ_STR(place(root, "e[1].g"), "9:20 9:15");
        CHECK_EQ_STR(place(root, "e[2]"), "9:24");
        CHECK_EQ_STR(place(root, "e[2].h"), "9:27 9:24");
        CHECK_EQ_STR(place(root, "i"), "11:3 10:3");
        CHECK_EQ_STR(place(root, "l"), "13:4 13:1");
        CHECK(strcmp(place(root, "k"), "none") != 0);
        teardown();
    }
}

TEST(copies_of_an_alias_stand_where_the_alias_does) {
    phi_json *root;
    setup();
    root = read_yaml("a: &x {p: [1, 2]}\nb:\n  - *x\n  - *x\n", 1);
    CHECK_EQ_STR(place(root, "a"), "1:7 1:1");
    CHECK_EQ_STR(place(root, "a.p[1]"), "1:15");
    CHECK_EQ_STR(place(root, "b[0]"), "3:5");
    CHECK_EQ_STR(place(root, "b[0].p"), "3:5 3:5");
    CHECK_EQ_STR(place(root, "b[1].p[1]"), "4:5");
    teardown();
}

TEST(a_node_that_was_not_read_has_no_place) {
    phi_json *root, *other;
    uint32_t line, column;
    setup();
    other = phi__json_edit_null(&arena);
    CHECK_EQ_STR(place(other, ""), "none");
    root = read_json("[1]", SIZE_MAX, 0);
    CHECK_EQ_STR(place(root, "[0]"), "1:2");
    CHECK_EQ_STR(place(other, ""), "none");
    CHECK_EQ_STR(place(root, "[1]"), "none");
    CHECK(!phi__marks_key(&marks, root, &line, &column) && line == 0 && column == 0);
    teardown();
}

TEST(a_place_without_memory_fails_no_reading) {
    int n = 0, failed = 0;
    bool tripped;
    size_t i, count = 0;
    char many[4096];
    for (i = 0; i < 900; i++) count += (size_t)snprintf(many + count, 16, "%s1", i ? "," : "[");
    memcpy(many + count, "]", 2);
    do {
        phi_json *root;
        phi_str text;
        setup();
        test_alloc_fail_at(n++);
        root = read_json(many, 100, PHI_JSON_BORROW);
        tripped = test_alloc_tripped();
        if (tripped && root != NULL) {
            CHECK(marks.failed);
            CHECK(phi_json_write(&arena, root, 0, &text) == PHI_OK);
            CHECK_EQ_STR(text.at, many);
            failed++;
        }
        if (!tripped) CHECK(!marks.failed && strcmp(place(root, "[899]"), "1:1800") == 0);
        test_alloc_fail_at(-1);
        teardown();
    } while (tripped);
    CHECK(failed > 0);
}

TEST(a_hundred_thousand_places_are_found) {
    enum { MANY = 100000 };
    char *text = (char *)malloc(3 * MANY + 2);
    phi_json_iter it;
    uint32_t line, column, want = 1;
    size_t i;
    phi_json *root;
    REQUIRE(text != NULL);
    for (i = 0; i < MANY; i++) memcpy(text + 3 * i, i == 0 ? "[7\n" : ",7\n", 3);
    memcpy(text + 3 * (size_t)MANY, "]", 2);
    setup();
    root = read_json(text, SIZE_MAX, PHI_JSON_BORROW);
    it = phi_json_each(root);
    while (phi_json_next(&it) != NULL)
        if (!phi__marks_find(&marks, it.at, &line, &column) || line != want++ || column != 2) break;
    CHECK_EQ_INT(want, MANY + 1);
    teardown();
    free(text);
}

TEST_MAIN(TEST_ENTRY(values_and_keys_of_json_have_places),
          TEST_ENTRY(values_and_keys_of_yaml_have_places),
          TEST_ENTRY(copies_of_an_alias_stand_where_the_alias_does),
          TEST_ENTRY(a_node_that_was_not_read_has_no_place),
          TEST_ENTRY(a_place_without_memory_fails_no_reading),
          TEST_ENTRY(a_hundred_thousand_places_are_found))
