/* test.h - the harness: one program a file, one behaviour a test, and nothing left behind.

   TEST(name) { ... } defines a test whose name is the sentence it proves. The file ends in
   TEST_MAIN(TEST_ENTRY(a), TEST_ENTRY(b)). A failed check is printed, and the test goes on: where
   going on makes no sense, write `if (!CHECK(p != NULL)) return;` or REQUIRE(p != NULL).
   After each test the harness itself checks that the test left no byte of test_allocator(), no open
   file descriptor and no child process.
   Run a program with words as arguments to run only the tests whose names contain one of them. */
#ifndef PHI_TESTS_SUPPORT_TEST_H
#define PHI_TESTS_SUPPORT_TEST_H

#include "base/base_in.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct test_entry {
    const char *name;
    void (*run)(void);
} test_entry;

/* A test file lists each of its tests at its end: TEST_MAIN(TEST_ENTRY(one), TEST_ENTRY(two)) */
#define TEST(name) static void name(void)
#define TEST_ENTRY(name)                                                                           \
    { #name, name }
#define TEST_MAIN(...)                                                                             \
    int main(int argc, char **argv) {                                                              \
        static const test_entry entries[] = {__VA_ARGS__};                                         \
        return test_run(argc, argv, entries, sizeof entries / sizeof entries[0]);                  \
    }

/* Each is an expression: true when the check held. */
#define CHECK(condition) test_check((condition) ? true : false, #condition, __FILE__, __LINE__)
#define CHECK_EQ_INT(got, want)                                                                    \
    test_check_int((long long)(got), (long long)(want), #got, __FILE__, __LINE__)
#define CHECK_EQ_STR(got, want) test_check_text((got), (want), #got, __FILE__, __LINE__)
#define CHECK_STR(got, want) test_check_str((got), (want), #got, __FILE__, __LINE__)

/* Ends the test (any function that returns nothing) when it does not hold. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!CHECK(condition)) return;                                                             \
    } while (0)

int test_run(int argc, char **argv, const test_entry *entries, size_t count);
bool test_check(bool held, const char *what, const char *file, int line);
bool test_check_int(long long got, long long want, const char *what, const char *file, int line);
bool test_check_text(const char *got, const char *want, const char *what, const char *file,
                     int line);
bool test_check_str(phi_str got, const char *want, const char *what, const char *file, int line);

/* Checks of this test that did not hold, so far: for who looks for the seed. */
int test_failures(void);

/* Counts this test as skipped and says why; the test returns afterwards. */
void test_skip(const char *why);

/* An allocator that moves every block on every change of size, checks old_bytes, fills new memory
   with 0xA5, and can fail. */
phi_allocator test_allocator(void);

/* The n-th request for memory from now on (0: the next) fails, once; negative: none does. */
void test_alloc_fail_at(int n);

/* Every request from the n-th on fails; negative: none does. */
void test_alloc_fail_from(int n);

/* One request in `one_in` fails, by chance of that seed; 0: none does. */
void test_alloc_fail_some(uint32_t seed, uint32_t one_in);

/* Whether a request failed since test_alloc_fail_at, test_alloc_fail_from or test_alloc_fail_some. */
bool test_alloc_tripped(void);

size_t test_alloc_live_bytes(void);  /* of test_allocator() */
size_t test_alloc_live_blocks(void); /* of test_allocator() */

/* A whole file, terminated; caller frees with free(). NULL, and a failed check, when it cannot be
   read. `len` may be NULL. */
char *test_read_file(const char *path, size_t *len);

/* The same for a file of tests/fixtures/, whose README.md says what is there. */
char *test_fixture(const char *path, size_t *len);

/* A new empty directory for this test, under build/; it and all in it are removed afterwards. */
bool test_temp_dir(char *out, size_t cap);

/* The mode of a file made for its owner only. Windows has no such bits: its folder protects it. */
#ifdef _WIN32
#define TEST_OWNER_MODE 0666
#else
#define TEST_OWNER_MODE 0600
#endif

/* A small random generator for properties: same state, same numbers. */
uint32_t test_random(uint32_t *state);

#endif
