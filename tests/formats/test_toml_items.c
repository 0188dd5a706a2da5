/* test_toml_items.c - items of arrays and tables of lists that come and go: the others keep their
   bytes, their comments and their lines. */
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

/* Whether `text` without the value at that path is `want`. */
static bool drops(const char *text, const char *path, const char *want) {
    phi_str out;
    bool good;
    setup();
    good =
        CHECK_EQ_INT(phi_toml_set(&arena, phi_str_of(text), path, NULL, 0, &out, NULL), PHI_OK) &&
        CHECK_EQ_STR(out.at, want);
    teardown();
    return good;
}

/* Whether `text` is `want` once it reads as the tree of `tree`, which is TOML. */
static bool becomes(const char *text, const char *tree, const char *want) {
    phi_json *root = NULL, *again = NULL;
    phi_str out;
    bool good;
    setup();
    good = CHECK_EQ_INT(phi_toml_parse(&arena, phi_str_of(tree), NULL, &root, NULL), PHI_OK) &&
           CHECK_EQ_INT(phi_toml_edit(&arena, phi_str_of(text), root, 0, &out, NULL), PHI_OK) &&
           CHECK_EQ_STR(out.at, want) &&
           CHECK_EQ_INT(phi_toml_parse(&arena, out, NULL, &again, NULL), PHI_OK) &&
           CHECK(toml_suite_same(again, root));
    teardown();
    return good;
}

TEST(an_item_of_its_own_line_goes_with_its_comment) {
    const char *hosts = "hosts = [\n  \"a\", # prod\n  \"b\", # test\n  \"c\"  # last\n]\n";
    CHECK(drops(hosts, "hosts[0]", "hosts = [\n  \"b\", # test\n  \"c\"  # last\n]\n"));
    CHECK(drops(hosts, "hosts[1]", "hosts = [\n  \"a\", # prod\n  \"c\"  # last\n]\n"));
    CHECK(drops(hosts, "hosts[2]", "hosts = [\n  \"a\", # prod\n  \"b\" # test\n]\n"));
    CHECK(drops("a = [\r\n  [1,\r\n  2], # x\r\n  3, # y\r\n]", "a[0]", "a = [\r\n  3, # y\r\n]"));
    CHECK(becomes(hosts, "hosts = ['c']", "hosts = [\n  \"c\"  # last\n]\n"));
    CHECK(becomes(hosts, "hosts = ['a']", "hosts = [\n  \"a\" # prod\n]\n"));
    CHECK(becomes(hosts, "hosts = ['x']", "hosts = [\n  \"x\" # prod\n]\n"));
    CHECK(becomes(hosts, "hosts = ['a', 'x', 'c', 'd']",
                  "hosts = [\n  \"a\", # prod\n  \"x\", # test\n  \"c\",  # last\n  \"d\"\n]\n"));
}

TEST(an_item_of_a_shared_line_goes_with_its_comma) {
    CHECK(drops("a = [0x10, 1_000]", "a[0]", "a = [1_000]"));
    CHECK(drops("a = [0x10, 1_000]", "a[1]", "a = [0x10]"));
    CHECK(drops("a = [ 1, 2, 3, ]", "a[0]", "a = [ 2, 3, ]"));
    CHECK(drops("a = [ 1, 2, 3, ]", "a[1]", "a = [ 1, 3, ]"));
    CHECK(drops("a = [ 1, 2, 3, ]", "a[2]", "a = [ 1, 2, ]"));
    CHECK(becomes("a = [1, 2, 3, 4] # n", "a = [4]", "a = [4] # n"));
    CHECK(becomes("a = [1, 2, 3, 4] # n", "a = [1]", "a = [1] # n"));
    CHECK(becomes("a = [1, 2, 3, 4] # n", "a = [1, 4]", "a = [1, 4] # n"));
    CHECK(becomes("a = [\n  1, 2, # x\n  3, 4, # y\n]", "a = [1, 4]",
                  "a = [\n  1, # x\n  4, # y\n]"));
    CHECK(becomes("a = [\n  1, 2, # x\n  3, 4, # y\n]", "a = [3, 4]", "a = [\n  3, 4, # y\n]"));
    CHECK(becomes("a = [\n  1, # x\n  2, 3 ]", "a = [1]", "a = [\n  1 # x\n  ]"));
    CHECK(drops("a = [\n  1 # x\n  , 2 # y\n  , 3 # z\n]", "a[1]", "a = [\n  1 # x\n  , 3 # z\n]"));
    CHECK(drops("a = [\n  1 # x\n  ,\n  2\n]", "a[0]", "a = [\n  2\n]"));
}

TEST(a_table_of_a_list_goes_with_its_comments) {
    const char *list = "[[s]]\n# production, do not touch\nhost = \"p\"\n"
                       "[[s]]\n# staging\nhost = \"t\"\n[s.more]\nx = 1\n\n[[s]]\nhost = 'u'\n";
    CHECK(drops(list, "s[0]",
                "[[s]]\n# staging\nhost = \"t\"\n[s.more]\nx = 1\n\n[[s]]\nhost = 'u'\n"));
    CHECK(drops(list, "s[1]",
                "[[s]]\n# production, do not touch\nhost = \"p\"\n\n[[s]]\nhost = 'u'\n"));
    CHECK(drops(list, "s[2]",
                "[[s]]\n# production, do not touch\nhost = \"p\"\n"
                "[[s]]\n# staging\nhost = \"t\"\n[s.more]\nx = 1\n"));
}

TEST(new_items_stand_where_they_are_in_the_tree) {
    CHECK(becomes("a = [\n  # the first\n  1, # x\n  2, # y\n]", "a = [7, 8, 1, 2]",
                  "a = [\n  7,\n  8,\n  # the first\n  1, # x\n  2, # y\n]"));
    CHECK(becomes("a = [\n  1, # x\n  2, # y\n]", "a = [1, 7, 8, 2]",
                  "a = [\n  1, # x\n  7,\n  8,\n  2, # y\n]"));
    CHECK(becomes("a = [0x1, 0x2]", "a = [7, 1, 2]", "a = [7, 0x1, 0x2]"));
    CHECK(becomes("a = [0x1, 0x2]", "a = [1, 7, 8, 2]", "a = [0x1, 7, 8, 0x2]"));
    CHECK(becomes("a = [0x1, 0x2]", "a = [5, 7, 8, 2]", "a = [5, 7, 8, 0x2]"));
    CHECK(becomes("a = [\"\"\"\n# x\"\"\", [\n  0x1]]", "a = ['# x', [2, 1]]",
                  "a = [\"\"\"\n# x\"\"\", [\n  2,\n  0x1]]"));
}

TEST(new_tables_of_a_list_stand_where_they_are_in_the_tree) {
    CHECK(becomes("[t]\n# p\n[[s]]\nx = 0x1\n\n[[s]] # q\nx = 0x2\n",
                  "t = {y = 1}\ns = [{x = 7}, {x = 8}, {x = 1}, {x = 2}]",
                  "[t]\ny = 1\n[[s]]\nx = 7\n\n[[s]]\nx = 8\n\n# p\n[[s]]\nx = 0x1\n\n"
                  "[[s]] # q\nx = 0x2\n"));
    CHECK(becomes("[[s]]\nx = 0x1\n\n[[s]] # q\nx = 0x2\n", "s = [{x = 1}, {x = 7}, {x = 2}]",
                  "[[s]]\nx = 0x1\n\n[[s]]\nx = 7\n\n[[s]] # q\nx = 0x2\n"));
    CHECK(becomes("\xEF\xBB\xBF# p\n[[s]]\nx = 0x1", "r = 1\ns = [{x = 7}, {x = 1}]",
                  "\xEF\xBB\xBFr = 1\n\n[[s]]\nx = 7\n\n# p\n[[s]]\nx = 0x1"));
    /* what looks like a comment is the end of a string; `a` is changed after `z.s` */
    CHECK(becomes("[z]\n[a.b]\nq = '''\n# r'''\n[[z.s]]\nx = 0x1\n",
                  "z = {s = [{x = 7}, {x = 1}]}\na = {b = {q = '# r', w = 2}}",
                  "[z]\n[a.b]\nq = '''\n# r'''\nw = 2\n[[z.s]]\nx = 7\n\n[[z.s]]\nx = 0x1\n"));
}

/* Linear, each item being compared a few times. */
TEST(a_large_array_loses_and_gains_items_at_once) {
    enum { MANY = 40000 };
    char *text = (char *)malloc(MANY * 16 + 16), *to = text;
    phi_json *root, *list;
    phi_str out, before;
    size_t i;
    REQUIRE(text != NULL);
    to += sprintf(to, "a = [");
    for (i = 0; i < MANY; i++) to += sprintf(to, "[%zu, 0x1], ", i + 2);
    to += sprintf(to, "]");
    setup();
    out = phi_str_of(text);
    CHECK_EQ_INT(phi_toml_parse(&arena, out, NULL, &root, NULL), PHI_OK);
    list = phi_json_get(root, "a");
    for (i = 0; i < 2; i++) {
        phi_json_iter it = phi_json_each(list);
        while (phi_json_next(&it) != NULL)
            if (i == 0)
                (void)phi__json_edit_remove_at(it.at, 0);
            else
                CHECK_EQ_INT(phi_json_add(it.at, phi_json_new_int(&arena, 2)), PHI_OK);
        before = out;
        CHECK_EQ_INT(phi_toml_edit(&arena, before, root, 0, &out, NULL), PHI_OK);
        CHECK(phi__str_starts(out, i == 0 ? "a = [[0x1], [0x1]," : "a = [[0x1, 2], [0x1, 2],"));
    }
    teardown();
    free(text);
}

TEST_MAIN(TEST_ENTRY(an_item_of_its_own_line_goes_with_its_comment),
          TEST_ENTRY(an_item_of_a_shared_line_goes_with_its_comma),
          TEST_ENTRY(a_table_of_a_list_goes_with_its_comments),
          TEST_ENTRY(new_items_stand_where_they_are_in_the_tree),
          TEST_ENTRY(new_tables_of_a_list_stand_where_they_are_in_the_tree),
          TEST_ENTRY(a_large_array_loses_and_gains_items_at_once))
