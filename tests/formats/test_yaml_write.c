/* test_yaml_write.c - a tree as YAML, which reads back equal. */
#include "support/test.h"
#include "text/json_in.h"
#include "formats/yaml.h"

#include <math.h>

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) { phi_arena_free(&arena); }

static const char *yaml_of(const phi_json *node) {
    phi_str out;
    if (phi_yaml_write(&arena, node, 0, &out) != PHI_OK) return "(not written)";
    return out.at;
}

/* The tree of a JSON text, written. */
static const char *written(const char *json) {
    phi_json *root = NULL;
    CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(json), 0, &root, NULL), PHI_OK);
    return yaml_of(root);
}

static bool comes_back(const phi_json *root) {
    phi_json *again = NULL;
    phi_parse_error error;
    phi_str out, both;
    if (!CHECK_EQ_INT(phi_yaml_write(&arena, root, 0, &out), PHI_OK)) return false;
    if (phi_yaml_parse(&arena, out, NULL, &again, &error) != PHI_OK) {
        fprintf(stderr, "%s\n%u:%u: %s\n", out.at, error.line, error.column, error.message);
        return CHECK(false);
    }
    if (phi__json_get_equal(root, again)) return true;
    (void)phi_json_write(&arena, root, 0, &both);
    fprintf(stderr, "%s\n%s\n", both.at, out.at);
    return CHECK(false);
}

TEST(collections_are_written_in_block_style) {
    setup();
    CHECK_EQ_STR(written("{\"a\":1,\"b\":{\"c\":[1,[2,3],{\"d\":4,\"e\":[]}],\"f\":{}}}"),
                 "a: 1\n"
                 "b:\n"
                 "  c:\n"
                 "    - 1\n"
                 "    - - 2\n"
                 "      - 3\n"
                 "    - d: 4\n"
                 "      e: []\n"
                 "  f: {}\n");
    CHECK_EQ_STR(written("[]"), "[]\n");
    CHECK_EQ_STR(written("{}"), "{}\n");
    CHECK_EQ_STR(written("[[[1]],null]"), "- - - 1\n- null\n");
    CHECK_EQ_STR(written("\"x\""), "x\n");
    CHECK_EQ_STR(yaml_of(NULL), "null\n");
    teardown();
}

TEST(scalars_are_plain_where_no_reader_can_mistake_them) {
    static const char *const pairs[][2] = {
        {"true", "true\n"},
        {"1.5", "1.5\n"},
        {"1e300", "1.0e+300\n"},
        {"1e-7", "1.0e-7\n"},
        {"3.0", "3.0\n"},
        {"18446744073709551615", "18446744073709551615\n"},
        {"\"\"", "\"\"\n"},
        {"\"two words\"", "two words\n"},
        {"\"it's: so\"", "\"it's: so\"\n"},
        {"\"ends:\"", "\"ends:\"\n"},
        {"\"a #b\"", "\"a #b\"\n"},
        {"\"a#b:c\"", "a#b:c\n"},
        {"\"#/components/x\"", "\"#/components/x\"\n"},
        {"\"Yes\"", "\"Yes\"\n"},
        {"\"null\"", "\"null\"\n"},
        {"\"nullable\"", "nullable\n"},
        {"\"2001-01-01\"", "\"2001-01-01\"\n"},
        {"\"1e3\"", "\"1e3\"\n"},
        {"\"- a\"", "\"- a\"\n"},
        {"\" a\"", "\" a\"\n"},
        {"\"a\\tb\"", "\"a\\tb\"\n"},
        {"\"\\u0007\\u0085\\u2028\\ufeff\\u007f\"", "\"\\u0007\\u0085\\u2028\\ufeff\\u007f\"\n"},
        {"\"caf\xc3\xa9 \xf0\x9f\x98\x80\"", "caf\xc3\xa9 \xf0\x9f\x98\x80\n"},
    };
    size_t i;
    setup();
    for (i = 0; i < PHI__COUNT(pairs); i++) CHECK_EQ_STR(written(pairs[i][0]), pairs[i][1]);
    CHECK_EQ_STR(yaml_of(phi_json_new_num(&arena, (double)INFINITY)), ".inf\n");
    CHECK_EQ_STR(yaml_of(phi_json_new_num(&arena, -(double)INFINITY)), "-.inf\n");
    CHECK_EQ_STR(yaml_of(phi_json_new_num(&arena, (double)NAN)), ".nan\n");
    CHECK_EQ_STR(yaml_of(phi_json_new_str(&arena, phi__str("a\xff", 2))), "\"a\xef\xbf\xbd\"\n");
    teardown();
}

TEST(text_of_several_lines_is_a_literal_block) {
    setup();
    CHECK_EQ_STR(written("{\"a\":\"one\\ntwo\\n\",\"b\":[\"x\\n\\n y\"],\"c\":\"z\\n\\n\\n\"}"),
                 "a: |\n"
                 "  one\n"
                 "  two\n"
                 "b:\n"
                 "  - |-\n"
                 "    x\n"
                 "\n"
                 "     y\n"
                 "c: |+\n"
                 "  z\n"
                 "\n"
                 "\n");
    CHECK_EQ_STR(written("\" x\\ny\""), "\" x\\ny\"\n");
    CHECK_EQ_STR(written("{\"a\\nb\":1}"), "\"a\\nb\": 1\n");
    teardown();
}

/* ---- properties ---- */

static const char *const pieces[] = {"a",
                                     "b c",
                                     " ",
                                     "\n",
                                     "\n\n",
                                     ":",
                                     ": ",
                                     "#",
                                     " #",
                                     "-",
                                     "- ",
                                     "?",
                                     "'",
                                     "\"",
                                     "\\",
                                     "\t",
                                     "[",
                                     "}",
                                     ",",
                                     "&x",
                                     "*x",
                                     "!t",
                                     "|",
                                     ">",
                                     "%",
                                     "@",
                                     "~",
                                     "yes",
                                     "no",
                                     "1",
                                     "0x1F",
                                     ".5",
                                     "1e3",
                                     "null",
                                     "---",
                                     "...",
                                     "\r",
                                     "<<",
                                     "\xc3\xa9",
                                     "\xe2\x80\xa8",
                                     "\xef\xbb\xbf",
                                     "\xf0\x9f\x98\x80",
                                     "\x7f",
                                     "\x01",
                                     "`",
                                     "=",
                                     "true",
                                     "2001-01-02"};

static phi_str random_text(uint32_t *seed) {
    char text[256];
    size_t n = 0, left = test_random(seed) % 7;
    phi_str out;
    while (left-- > 0) {
        const char *piece = pieces[test_random(seed) % PHI__COUNT(pieces)];
        memcpy(text + n, piece, strlen(piece));
        n += strlen(piece);
    }
    if (test_random(seed) % 50 == 0) text[n++] = '\0';
    if (!phi__arena_str(&arena, phi__str(text, n), &out)) abort();
    return out;
}

static phi_json *random_scalar(uint32_t *seed) {
    union {
        uint64_t bits;
        double d;
    } number;
    number.bits = (uint64_t)test_random(seed) << 32 | test_random(seed);
    switch (test_random(seed) % 8) {
    case 0: return phi__json_edit_null(&arena);
    case 1: return phi_json_new_bool(&arena, (number.bits & 1) != 0);
    case 2: return phi__json_edit_uint(&arena, number.bits >> number.bits % 64);
    case 3: return phi_json_new_int(&arena, -(int64_t)(number.bits >> 1 >> number.bits % 63));
    case 4: return phi_json_new_num(&arena, isfinite(number.d) ? number.d : 0.5);
    default: return phi_json_new_str(&arena, random_text(seed));
    }
}

static phi_json *random_tree(uint32_t *seed, unsigned depth) {
    uint32_t left = test_random(seed) % 5;
    phi_json *node;
    if (depth == 0 || test_random(seed) % 3 == 0) return random_scalar(seed);
    if (test_random(seed) % 2 == 0) {
        node = phi_json_new_array(&arena);
        while (left-- > 0) (void)phi_json_add(node, random_tree(seed, depth - 1));
        return node;
    }
    node = phi_json_new_object(&arena);
    while (left-- > 0)
        (void)phi__json_edit_set(&arena, node, random_text(seed), random_tree(seed, depth - 1));
    return node;
}

TEST(random_trees_come_back_equal) {
    uint32_t seed = 1, i;
    for (i = 0; i < 3000; i++) {
        bool good;
        setup();
        good = comes_back(random_tree(&seed, 4));
        teardown();
        if (!good) break;
    }
}

TEST(long_keys_deep_trees_and_long_text_come_back_equal) {
    phi_json *root, *node;
    char *text = (char *)malloc(100000);
    int i;
    if (text == NULL) abort();
    setup();
    for (i = 0; i < 100000; i++) text[i] = (char)(i % 71 == 70 ? '\n' : 'a' + i % 26);
    root = phi_json_new_object(&arena);
    (void)phi__json_edit_set(&arena, root, phi__str(text, 50000),
                             phi_json_new_str(&arena, phi__str(text, 100000)));
    (void)phi__json_edit_set(&arena, root, phi__str(text, 1001), phi_json_new_array(&arena));
    CHECK(comes_back(root));
    node = root = phi_json_new_array(&arena);
    for (i = 1; i < 500; i++) {
        phi_json *child = i % 2 == 0 ? phi_json_new_array(&arena) : phi_json_new_object(&arena);
        if (phi_json_type_of(node) == PHI_JSON_ARRAY)
            (void)phi_json_add(node, child);
        else
            (void)phi_json_set(&arena, node, "k", child);
        node = child;
    }
    CHECK(comes_back(root));
    for (i = 500; i <= 1025; i++) {
        phi_json *child = phi_json_new_array(&arena);
        if (phi_json_type_of(node) == PHI_JSON_OBJECT)
            (void)phi_json_set(&arena, node, "k", child);
        else
            (void)phi_json_add(node, child);
        node = child;
    }
    (void)phi_json_add(node, phi__json_edit_null(&arena));
    CHECK_EQ_STR(yaml_of(root), "(not written)");
    teardown();
    free(text);
}

TEST(every_failed_allocation_of_the_writer_is_a_status) {
    int n = 0;
    bool tripped;
    do {
        phi_json *root = NULL;
        phi_str out;
        phi_status status;
        setup();
        CHECK_EQ_INT(phi_json_parse(&arena, PHI__LIT("{\"a\":[[[1,\"x\\ny\"]],{\"b\":\"c: d\"}]}"),
                                    0, &root, NULL),
                     PHI_OK);
        test_alloc_fail_at(n);
        status = phi_yaml_write(&arena, root, 0, &out);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        teardown();
        n++;
    } while (tripped);
    CHECK(n > 2);
}

TEST(the_writer_refuses_what_it_does_not_know) {
    phi_str out;
    setup();
    CHECK_EQ_INT(phi_yaml_write(NULL, NULL, 0, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_yaml_write(&arena, NULL, 0, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_yaml_write(&arena, NULL, 8, &out), PHI_BAD_ARG);
    teardown();
}

TEST_MAIN(TEST_ENTRY(collections_are_written_in_block_style),
          TEST_ENTRY(scalars_are_plain_where_no_reader_can_mistake_them),
          TEST_ENTRY(text_of_several_lines_is_a_literal_block),
          TEST_ENTRY(random_trees_come_back_equal),
          TEST_ENTRY(long_keys_deep_trees_and_long_text_come_back_equal),
          TEST_ENTRY(every_failed_allocation_of_the_writer_is_a_status),
          TEST_ENTRY(the_writer_refuses_what_it_does_not_know))
