/* test_ignore.c - the lines of ignore files. */
#include "tools/match_in.h"
#include "support/test.h"

#include <time.h>

/* 'o' out, 'i' in, '-' nothing is said. */
static char says(const char *file, const char *path, bool directory) {
    static const char letters[] = "-oi";
    phi_memory memory;
    phi__ignore ignore;
    phi__ignore_said said;
    size_t left, units = SIZE_MAX;
    phi_memory_init(&memory, NULL, 0);
    phi__ignore_init(&ignore, &memory);
    CHECK_EQ_INT(phi__ignore_add(&ignore, phi_str_of(file)), PHI_OK);
    left = ignore.count;
    said = phi__ignore_says(&ignore, phi_str_of(path), directory, &left, &units);
    phi__ignore_free(&ignore);
    phi__ignore_free(&ignore);
    CHECK_EQ_INT(memory.used_bytes, 0);
    return letters[said];
}

TEST(a_name_counts_at_every_depth_and_a_slash_binds_it) {
    CHECK_EQ_INT(says("x", "x", false), 'o');
    CHECK_EQ_INT(says("x", "a/b/x", false), 'o');
    CHECK_EQ_INT(says("x", "a/x/b", false), '-');
    CHECK_EQ_INT(says("/x", "x", false), 'o');
    CHECK_EQ_INT(says("/x", "a/x", false), '-');
    CHECK_EQ_INT(says("a/x", "a/x", false), 'o');
    CHECK_EQ_INT(says("a/x", "b/a/x", false), '-');
    CHECK_EQ_INT(says("**/a/x", "b/a/x", false), 'o');
    CHECK_EQ_INT(says("a/**", "a/b/c", false), 'o');
    CHECK_EQ_INT(says("a/**", "a", true), '-');
    CHECK_EQ_INT(says("a/*", "a/b/c", false), '-');
    CHECK_EQ_INT(says("**", "a/b", false), 'o');
}

TEST(a_slash_at_the_end_is_for_directories) {
    CHECK_EQ_INT(says("x/", "a/x", true), 'o');
    CHECK_EQ_INT(says("x/", "a/x", false), '-');
    CHECK_EQ_INT(says("/", "x", true), '-');
}

TEST(the_last_rule_decides) {
    CHECK_EQ_INT(says("*.o\n!keep.o", "keep.o", false), 'i');
    CHECK_EQ_INT(says("!keep.o\n*.o", "keep.o", false), 'o');
    CHECK_EQ_INT(says("*.o\n!keep.o\n", "other.o", false), 'o');
    CHECK_EQ_INT(says("!x", "y", false), '-');
}

TEST(comments_blanks_and_escapes) {
    CHECK_EQ_INT(says("#x\n\n  \n!\n", "#x", false), '-');
    CHECK_EQ_INT(says("\\#x", "#x", false), 'o');
    CHECK_EQ_INT(says("\\!x", "!x", false), 'o');
    CHECK_EQ_INT(says("x  ", "x", false), 'o');
    CHECK_EQ_INT(says("x\\ ", "x ", false), 'o');
    CHECK_EQ_INT(says("x\\  ", "x ", false), 'o');
    CHECK_EQ_INT(says("x\\\\ ", "x\\", false), 'o');
    CHECK_EQ_INT(says("x\r\ny\r\n", "x", false), 'o');
    CHECK_EQ_INT(says("\xEF\xBB\xBFx", "x", false), 'o');
    CHECK_EQ_INT(says(" x", "x", false), '-');
    CHECK_EQ_INT(says("*.{c,h}", "a.h", false), 'o');
}

TEST(what_is_no_pattern_is_left_out) {
    CHECK_EQ_INT(says("[x\ny\\\n{z\nz", "z", false), 'o');
    CHECK_EQ_INT(says("[x\ny\\\n{z\n", "[x", false), '-');
    CHECK_EQ_INT(says("y\\", "y\\", false), '-');
}

TEST(a_line_of_its_own_says_what_is_wrong) {
    phi_memory memory;
    phi__ignore ignore;
    const char *wrong;
    phi_memory_init(&memory, NULL, 0);
    phi__ignore_init(&ignore, &memory);
    CHECK_EQ_INT(phi__ignore_add_line(&ignore, phi_str_of("[a"), &wrong), PHI_BAD_ARG);
    CHECK_EQ_STR(wrong, "a set without its closing bracket");
    CHECK_EQ_INT(phi__ignore_add_line(&ignore, phi_str_of("a"), &wrong), PHI_OK);
    CHECK_EQ_INT(phi__ignore_add_line(&ignore, phi_str_of("!b"), &wrong), PHI_OK);
    CHECK_EQ_INT(ignore.count, 2);
    CHECK_EQ_INT(ignore.outs, 1);
    phi__ignore_free(&ignore);
}

/* A quarter of a MiB in one line once took minutes, and rows of rules were one unit of work. */
TEST(hostile_lines_take_time_by_their_bytes) {
    static const char *const units[] = {"[[:", "{}", "[a", "{a,", "{a,b}{a,b}{a,b}{a,b}{a,b}\n"};
    char *text = (char *)malloc(262144);
    size_t i, k, left, steps, used;
    clock_t begin = clock();
    for (k = 0; k < PHI__COUNT(units); k++) {
        phi_memory memory;
        phi__ignore ignore;
        size_t n = strlen(units[k]);
        for (i = 0; i < 262144; i++) text[i] = i % 2041 == 2040 ? '\n' : units[k][i % n];
        phi_memory_init(&memory, NULL, 0);
        phi__ignore_init(&ignore, &memory);
        CHECK_EQ_INT(phi__ignore_add(&ignore, phi__str(text, 262144)), PHI_OK);
        CHECK(memory.peak_bytes < 16 * 262144);
        left = ignore.count;
        for (steps = 0; left > 0; steps++) {
            used = 1000;
            CHECK(phi__ignore_says(&ignore, phi_str_of("z/z"), false, &left, &used) ==
                  PHI__IGNORE_NONE);
        }
        CHECK(steps >= ignore.count / 125);
        phi__ignore_free(&ignore);
    }
    free(text);
    CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 5);
}

TEST(a_file_survives_every_failed_allocation) {
    int n;
    bool failed = true;
    size_t left, units = SIZE_MAX;
    for (n = 0; failed; n++) {
        phi_allocator allocator = test_allocator();
        phi_memory memory;
        phi__ignore ignore;
        phi_memory_init(&memory, &allocator, 0);
        phi__ignore_init(&ignore, &memory);
        test_alloc_fail_at(n);
        (void)phi__ignore_add(&ignore, phi_str_of("a{b,c{d,e}}f\n!x/\n*\n/y/**\nz\nu\nv\nw\n"));
        failed = test_alloc_tripped();
        test_alloc_fail_at(-1);
        left = ignore.count;
        if (!failed)
            CHECK_EQ_INT(phi__ignore_says(&ignore, phi_str_of("x"), true, &left, &units),
                         PHI__IGNORE_OUT);
        phi__ignore_free(&ignore);
        CHECK_EQ_INT(memory.used_bytes, 0);
    }
    CHECK(n > 3);
}

TEST_MAIN(TEST_ENTRY(a_name_counts_at_every_depth_and_a_slash_binds_it),
          TEST_ENTRY(a_slash_at_the_end_is_for_directories), TEST_ENTRY(the_last_rule_decides),
          TEST_ENTRY(comments_blanks_and_escapes), TEST_ENTRY(what_is_no_pattern_is_left_out),
          TEST_ENTRY(hostile_lines_take_time_by_their_bytes),
          TEST_ENTRY(a_line_of_its_own_says_what_is_wrong),
          TEST_ENTRY(a_file_survives_every_failed_allocation))
