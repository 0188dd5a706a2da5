/* test_match.c - finding a text in slices. */
#include "support/test.h"
#include "tools/edit_file_in.h"

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

TEST_MAIN(TEST_ENTRY(matches_are_the_same_at_every_slice_size),
          TEST_ENTRY(random_texts_agree_with_a_plain_search))
