/* test_match.c - name patterns, and finding a text in slices. */
#include "support/test.h"
#include "tools/finder_in.h"
#include "tools/glob_in.h"

static bool glob(const char *pattern, const char *path) {
    return phi__glob_match(pattern, phi_str_of(path));
}

TEST(stars_marks_and_brackets_match_names) {
    CHECK(glob("*.c", "a.c"));
    CHECK(glob("*.c", "deep/down/a.c"));
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
    CHECK(glob("./src/a.c", "src/a.c"));
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

static size_t find_all(const char *needle, const char *text, size_t units, size_t *first) {
    phi_memory memory;
    phi__finder finder;
    size_t found;
    phi_memory_init(&memory, NULL, 0);
    memset(&finder, 0, sizeof finder);
    if (!phi__finder_begin(&finder, &memory, phi_str_of(needle), phi_str_of(text), SIZE_MAX))
        return SIZE_MAX;
    while (!phi__finder_advance(&finder, units)) continue;
    found = finder.found;
    *first = finder.first;
    phi__finder_end(&finder);
    return found;
}

TEST(matches_are_the_same_at_every_slice_size) {
    size_t units, first;
    for (units = 1; units < 30; units++) {
        CHECK_EQ_INT(find_all("abab", "xababababx", units, &first), 2);
        CHECK_EQ_INT(first, 1);
        CHECK_EQ_INT(find_all("aab", "aaaaab", units, &first), 1);
        CHECK_EQ_INT(first, 3);
        CHECK_EQ_INT(find_all("abcabd", "abcabcabd", units, &first), 1);
        CHECK_EQ_INT(first, 3);
        CHECK_EQ_INT(find_all("x", "", units, &first), 0);
        CHECK_EQ_INT(find_all("longer", "short", units, &first), 0);
        CHECK_EQ_INT(find_all("same", "same", units, &first), 1);
        CHECK_EQ_INT(first, 0);
    }
    CHECK_EQ_INT(find_all("", "a", 1, &first), SIZE_MAX);
}

TEST(random_texts_agree_with_a_plain_search) {
    uint32_t state = 7;
    int round;
    for (round = 0; round < 2000; round++) {
        char text[65], needle[9];
        size_t n = test_random(&state) % 64, m = 1 + test_random(&state) % 8, i, want = 0;
        size_t want_first = 0, first = 0;
        for (i = 0; i < n; i++) text[i] = (char)('a' + test_random(&state) % 2);
        for (i = 0; i < m; i++) needle[i] = (char)('a' + test_random(&state) % 2);
        text[n] = needle[m] = '\0';
        for (i = 0; i + m <= n;) {
            if (memcmp(text + i, needle, m) == 0) {
                if (want++ == 0) want_first = i;
                i += m;
            } else {
                i++;
            }
        }
        CHECK_EQ_INT(find_all(needle, text, 1 + test_random(&state) % 9, &first), want);
        CHECK_EQ_INT(first, want_first);
    }
}

TEST_MAIN(TEST_ENTRY(stars_marks_and_brackets_match_names),
          TEST_ENTRY(a_pattern_with_a_slash_matches_the_whole_path),
          TEST_ENTRY(a_nasty_pattern_is_not_slow),
          TEST_ENTRY(matches_are_the_same_at_every_slice_size),
          TEST_ENTRY(random_texts_agree_with_a_plain_search))
