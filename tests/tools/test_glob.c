/* test_glob.c - patterns of paths, and their braces. */
#include "tools/match_in.h"
#include "support/test.h"

static bool glob(const char *pattern, const char *path) {
    size_t work = 0;
    return phi__glob_match(phi_str_of(pattern), phi_str_of(path), &work);
}

TEST(stars_marks_and_brackets_match_names) {
    CHECK(glob("*.c", "a.c"));
    CHECK(!glob("*.c", "deep/down/a.c"));
    CHECK(!glob("*.c", "a.cc"));
    CHECK(!glob("*.c", "a.c/b"));
    CHECK(glob("*", ""));
    CHECK(glob("a?c", "abc"));
    CHECK(!glob("a?c", "ac"));
    CHECK(glob("[a-c]x", "bx"));
    CHECK(!glob("[a-c]x", "dx"));
    CHECK(glob("[!a-c]x", "dx"));
    CHECK(glob("[]]", "]"));
    CHECK(glob("[", "["));
    CHECK(glob("[a", "[a"));
    CHECK(glob("\\*", "*"));
    CHECK(!glob("\\*", "x"));
    CHECK(glob("a\\", "a\\"));
    CHECK(glob("*a*b*", "xxaxxbxx"));
    CHECK(!glob("*a*b*", "xxbxxaxx"));
    CHECK(!glob("", "a"));
    CHECK(glob("", ""));
    CHECK(glob("test_*_[0-9].txt", "test_a_b_7.txt"));
}

TEST(a_pattern_with_a_slash_matches_the_whole_path) {
    CHECK(glob("src/*.c", "src/a.c"));
    CHECK(!glob("src/*.c", "src/sub/a.c"));
    CHECK(!glob("src/*.c", "a.c"));
    CHECK(glob("src/**/*.c", "src/sub/er/a.c"));
    CHECK(glob("src/**/*.c", "src/a.c"));
    CHECK(glob("**/a.c", "a.c"));
    CHECK(glob("**/a.c", "x/y/a.c"));
    CHECK(!glob("**/a.c", "xa.c"));
    CHECK(!glob("src/**", "src/"));
    CHECK(glob("a/**/**/b", "a/b"));
    CHECK(glob("a/**/c/**/b", "a/x/c/c/y/b"));
    CHECK(!glob("a**b", "a/b"));
    CHECK(glob("a**b", "axb"));
    CHECK(glob("src/**", "src/a/b"));
    CHECK(!glob("src/?.c", "src//.c"));
    CHECK(!glob("a/[!x]b", "a//b"));
}

TEST(a_nasty_pattern_is_not_slow) {
    char pattern[200], path[2001];
    size_t i;
    for (i = 0; i < 99; i++) memcpy(pattern + 2 * i, "a*", 2);
    memcpy(pattern + 198, "b", 2);
    memset(path, 'a', 2000);
    path[2000] = '\0';
    CHECK(!glob(pattern, path));
}

TEST(sets_have_classes_escapes_and_no_slash) {
    CHECK(glob("[[:alpha:]]x", "bx"));
    CHECK(!glob("[[:alpha:]]x", "1x"));
    CHECK(glob("[![:digit:]]", "-"));
    CHECK(glob("[[:digit:][:upper:]_]", "_"));
    CHECK(glob("[[:punct:]]", "!") && glob("[[:xdigit:]]", "F") && glob("[[:space:]]", "\t"));
    CHECK(!glob("[[:nothing:]]", "n"));
    CHECK(glob("[\\]]", "]"));
    CHECK(glob("[a\\-z]", "-") && !glob("[a\\-z]", "b"));
    CHECK(!glob("a[/]b", "a/b"));
    CHECK(glob("[a-]", "-"));
}

/* The choices of a pattern, a blank behind each; or what is wrong with it. */
static const char *choices(const char *pattern) {
    static char text[4096];
    phi_memory memory;
    phi__buf out;
    const char *wrong;
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&out, &memory);
    wrong = phi__glob_expand(&out, phi_str_of(pattern));
    if (wrong == NULL && CHECK(out.len < sizeof text)) {
        for (i = 0; i < out.len; i++) text[i] = (char)(out.at[i] == '\0' ? ' ' : out.at[i]);
        text[out.len] = '\0';
    } else
        CHECK_EQ_INT(out.len, 0);
    phi__buf_free(&out);
    CHECK_EQ_INT(memory.used_bytes, 0);
    return wrong != NULL ? wrong : text;
}

static void repeat(char *to, size_t n, const char *unit) {
    size_t i, len = strlen(unit);
    for (i = 0; i < n; i++) to[i] = unit[i % len];
    to[n] = '\0';
}

TEST(braces_leave_choices) {
    char text[2100];
    CHECK_EQ_STR(choices("*.c"), "*.c ");
    CHECK_EQ_STR(choices("*.{c,h}"), "*.c *.h ");
    CHECK_EQ_STR(choices("{a,b{c,d}e}/{1,}"), "a/1 a/ bce/1 bce/ bde/1 bde/ ");
    CHECK_EQ_STR(choices("\\{a,b\\}"), "\\{a,b\\} ");
    CHECK_EQ_STR(choices("[{,}]"), "[{,}] ");
    CHECK_EQ_STR(choices("{}"), " ");
    CHECK_EQ_STR(choices("{a"), "a brace that does not close");
    CHECK_EQ_STR(choices("a}"), "a closing brace without its opening one");
    CHECK_EQ_STR(choices("[a"), "a set without its closing bracket");
    CHECK_EQ_STR(choices("a\\"), "a backslash at the end");
    CHECK_EQ_STR(choices("{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}"),
                 "its braces leave too many choices");
    repeat(text, 2040, "{}");
    CHECK_EQ_STR(choices(text), "its braces leave too many choices");
    repeat(text, 2046, "[[:");
    CHECK_EQ_STR(choices(text), "a set without its closing bracket");
    repeat(text, 2049, "a");
    CHECK_EQ_STR(choices(text), "it is longer than 2,048 bytes");
    CHECK_EQ_STR(choices("{{{{{{{{{{,},},},},},},},},},}"), "           ");
}

TEST(one_of_the_choices_is_enough) {
    size_t work = 0;
    CHECK(phi__glob_any(phi__str("a\0b", 4), phi_str_of("b"), &work));
    CHECK(!phi__glob_any(phi__str("a\0b", 4), phi_str_of("c"), &work));
    CHECK(!phi__glob_any(phi__str("", 0), phi_str_of(""), &work));
    CHECK(phi__glob_any(phi__str("", 1), phi_str_of(""), &work));
}

TEST_MAIN(TEST_ENTRY(stars_marks_and_brackets_match_names),
          TEST_ENTRY(a_pattern_with_a_slash_matches_the_whole_path),
          TEST_ENTRY(a_nasty_pattern_is_not_slow),
          TEST_ENTRY(sets_have_classes_escapes_and_no_slash), TEST_ENTRY(braces_leave_choices),
          TEST_ENTRY(one_of_the_choices_is_enough))
