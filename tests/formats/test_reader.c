/* test_reader.c - one reader in slices for JSON, YAML and TOML. */
#include "support/test.h"
#include "text/json_in.h"
#include "formats/toml.h"
#include "formats/yaml.h"
#include "formats/reader_in.h"

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) { phi_arena_free(&arena); }

/* A reader of each format, of a text that is the same tree in all. */
static phi_reader *reader_of(int format) {
    if (format == 0) return phi_json_reader_new(&arena, PHI__LIT("{\"a\":[1,\"b\"]}"), 0);
    if (format == 1) return phi_yaml_reader_new(&arena, PHI__LIT("a:\n- 1\n- b\n"), NULL);
    return phi_toml_reader_new(&arena, PHI__LIT("a = [1, \"b\"]\n"), NULL);
}

TEST(one_reader_serves_every_format) {
    int format;
    for (format = 0; format < 3; format++) {
        phi_reader *reader;
        phi_json *root = NULL;
        phi_str out = PHI_ZERO;
        int slices = 1;
        setup();
        reader = reader_of(format);
        while (phi_reader_advance(reader, 1) == PHI_BUSY) slices++;
        CHECK(slices > 3);
        CHECK_EQ_INT(phi_reader_advance(reader, 1), PHI_OK);
        CHECK_EQ_INT(phi_reader_result(reader, &root, NULL), PHI_OK);
        CHECK_EQ_INT(phi_json_write(&arena, root, 0, &out), PHI_OK);
        CHECK_STR(out, "{\"a\":[1,\"b\"]}");
        teardown();
    }
}

TEST(a_result_before_the_end_is_busy_and_no_tree) {
    int format;
    for (format = 0; format < 3; format++) {
        phi_reader *reader;
        phi_json *root;
        setup();
        reader = reader_of(format);
        CHECK_EQ_INT(phi_reader_advance(reader, 1), PHI_BUSY);
        CHECK_EQ_INT(phi_reader_result(reader, &root, NULL), PHI_BUSY);
        CHECK(root == NULL);
        teardown();
    }
}

TEST(an_error_has_its_place_in_slices_too) {
    phi_reader *reader;
    phi_parse_error error;
    phi_json *root;
    setup();
    reader = phi_json_reader_new(&arena, PHI__LIT("{\n \"a\": nul}"), 0);
    while (phi_reader_advance(reader, 1) == PHI_BUSY) continue;
    CHECK_EQ_INT(phi_reader_result(reader, &root, &error), PHI_PARSE);
    CHECK(root == NULL);
    CHECK_EQ_INT(error.line, 2);
    CHECK_EQ_INT(error.column, 10);
    CHECK_EQ_STR(error.message, "expected 'null', found '}'");
    teardown();
}

TEST(a_reader_without_memory_says_so_in_its_result) {
    int format;
    for (format = 0; format < 3; format++) {
        phi_reader *reader;
        phi_json *root;
        phi_parse_error error;
        setup();
        test_alloc_fail_from(0);
        reader = reader_of(format);
        CHECK(reader == NULL);
        CHECK_EQ_INT(phi_reader_advance(reader, 1), PHI_NO_MEMORY);
        CHECK_EQ_INT(phi_reader_result(reader, &root, &error), PHI_NO_MEMORY);
        CHECK(root == NULL);
        CHECK_EQ_STR(error.message, "no memory for the reader");
        test_alloc_fail_from(-1);
        teardown();
    }
}

TEST_MAIN(TEST_ENTRY(one_reader_serves_every_format),
          TEST_ENTRY(a_result_before_the_end_is_busy_and_no_tree),
          TEST_ENTRY(an_error_has_its_place_in_slices_too),
          TEST_ENTRY(a_reader_without_memory_says_so_in_its_result))
