/* Statuses, budgets, sizes and string views. */
#include "support/test.h"

#include "base/base_in.h"

TEST(every_status_has_its_number_and_words) {
    CHECK_EQ_INT(PHI_OK, 0);
    CHECK_EQ_INT(PHI_BAD_ARG, -1);
    CHECK_EQ_INT(PHI_NO_MEMORY, -2);
    CHECK_EQ_INT(PHI_MISUSE, -3);
    CHECK_EQ_INT(PHI_BUSY, -4);
    CHECK_EQ_INT(PHI_STALE, -5);
    CHECK_EQ_INT(PHI_FULL, -6);
    CHECK_EQ_INT(PHI_CANCELLED, -7);
    CHECK_EQ_INT(PHI_TIMEOUT, -8);
    CHECK_EQ_INT(PHI_NETWORK, -9);
    CHECK_EQ_INT(PHI_TLS, -10);
    CHECK_EQ_INT(PHI_PARSE, -11);
    CHECK_EQ_INT(PHI_TOO_BIG, -12);
    CHECK_EQ_INT(PHI_NOT_FOUND, -13);
    CHECK_EQ_INT(PHI_IO, -14);
    CHECK_EQ_INT(PHI_UNSUPPORTED, -15);
    CHECK_EQ_INT(PHI_REFUSED, -16);
    CHECK_EQ_INT(PHI_UNREACHABLE, -20);
    CHECK_EQ_INT(PHI_LIMIT, -17);
    CHECK_EQ_STR(phi_status_text(PHI_OK), "ok");
    CHECK_EQ_STR(phi_status_text(PHI_NO_MEMORY), "the allocator or a memory limit said no");
    CHECK_EQ_STR(phi_status_text(PHI_LIMIT), "a limit of the run was reached");
}

TEST(a_number_that_is_no_status_is_unknown) {
    CHECK_EQ_STR(phi_status_text(1), "unknown status");
    CHECK_EQ_STR(phi_status_text(-1000), "unknown status");
    CHECK_EQ_STR(phi_status_text(INT32_MIN), "unknown status");
}

TEST(the_default_allocator_allocates_moves_and_frees) {
    phi_allocator a = phi__allocator_default();
    char *at = (char *)a.realloc_fn(a.user_data, NULL, 0, 8);
    REQUIRE(at != NULL);
    memcpy(at, "forged", 7);
    at = (char *)a.realloc_fn(a.user_data, at, 8, 5000);
    REQUIRE(at != NULL);
    CHECK_EQ_STR(at, "forged");
    CHECK(a.realloc_fn(a.user_data, at, 5000, 0) == NULL);
}

TEST(a_budget_without_an_allocator_takes_the_default_one) {
    phi_memory memory;
    phi_allocator none = PHI_ZERO;
    phi_memory_init(&memory, NULL, 0);
    CHECK(memory.allocator.realloc_fn == phi__allocator_default().realloc_fn);
    phi_memory_init(&memory, &none, 0);
    CHECK(memory.allocator.realloc_fn == phi__allocator_default().realloc_fn);
}

TEST(a_budget_counts_what_is_used_and_the_most_that_was) {
    phi_allocator a = test_allocator();
    phi_memory memory;
    void *at;
    phi_memory_init(&memory, &a, 0);
    at = phi__realloc(&memory, NULL, 0, 100);
    CHECK_EQ_INT(memory.used_bytes, 100);
    at = phi__realloc(&memory, at, 100, 300);
    CHECK_EQ_INT(memory.used_bytes, 300);
    at = phi__realloc(&memory, at, 300, 50);
    CHECK_EQ_INT(memory.used_bytes, 50);
    phi__free(&memory, at, 50);
    CHECK_EQ_INT(memory.used_bytes, 0);
    CHECK_EQ_INT(memory.peak_bytes, 300);
}

TEST(a_limit_may_be_reached_and_not_passed) {
    phi_allocator a = test_allocator();
    phi_memory memory;
    void *at, *more;
    phi_memory_init(&memory, &a, 100);
    at = phi__alloc(&memory, 60);
    CHECK(at != NULL);
    CHECK(phi__alloc(&memory, 41) == NULL);
    CHECK(phi__alloc(&memory, SIZE_MAX) == NULL);
    CHECK(phi__realloc(&memory, at, 60, 101) == NULL);
    CHECK_EQ_INT(memory.used_bytes, 60);
    more = phi__alloc(&memory, 40);
    CHECK(more != NULL);
    CHECK_EQ_INT(memory.used_bytes, 100);
    phi__free(&memory, more, 40);
    phi__free(&memory, at, 60);
}

TEST(a_limit_lowered_below_what_is_used_refuses_growth_and_allows_shrinking) {
    phi_allocator a = test_allocator();
    phi_memory memory;
    void *at;
    phi_memory_init(&memory, &a, 100);
    at = phi__alloc(&memory, 80);
    memory.limit_bytes = 10;
    CHECK(phi__alloc(&memory, 1) == NULL);
    at = phi__realloc(&memory, at, 80, 40);
    CHECK(at != NULL);
    CHECK_EQ_INT(memory.used_bytes, 40);
    phi__free(&memory, at, 40);
}

TEST(what_a_child_takes_counts_in_its_parent_and_either_limit_refuses) {
    phi_allocator a = test_allocator();
    phi_memory parent, child;
    void *at;
    phi_memory_init(&parent, &a, 100);
    phi_memory_init(&child, &a, 50);
    child.parent = &parent;
    at = phi__alloc(&child, 40);
    CHECK(at != NULL);
    CHECK_EQ_INT(parent.used_bytes, 40);
    CHECK(phi__alloc(&child, 20) == NULL); /* its own limit */
    child.limit_bytes = 0;
    CHECK(phi__alloc(&child, 70) == NULL); /* the parent's */
    CHECK_EQ_INT(child.used_bytes, 40);
    CHECK_EQ_INT(parent.used_bytes, 40);
    phi__free(&child, at, 40);
    CHECK_EQ_INT(parent.used_bytes, 0);
    CHECK_EQ_INT(parent.peak_bytes, 40);
}

TEST(a_failed_request_counts_nothing_and_leaves_the_block) {
    phi_allocator a = test_allocator();
    phi_memory memory;
    char *at;
    phi_memory_init(&memory, &a, 0);
    at = (char *)phi__alloc(&memory, 8);
    REQUIRE(at != NULL);
    memcpy(at, "intact", 7);
    test_alloc_fail_at(0);
    CHECK(phi__realloc(&memory, at, 8, 64) == NULL);
    CHECK(test_alloc_tripped());
    CHECK_EQ_STR(at, "intact");
    CHECK_EQ_INT(memory.used_bytes, 8);
    CHECK_EQ_INT(memory.peak_bytes, 8);
    phi__free(&memory, at, 8);
}

TEST(alloc_gives_zeroes_and_freeing_null_is_nothing) {
    phi_allocator a = test_allocator();
    phi_memory memory;
    unsigned char *at;
    size_t i, sum = 0;
    phi_memory_init(&memory, &a, 0);
    at = (unsigned char *)phi__alloc(&memory, 64);
    REQUIRE(at != NULL);
    for (i = 0; i < 64; i++) sum += at[i];
    CHECK_EQ_INT(sum, 0);
    phi__free(&memory, at, 64);
    phi__free(&memory, NULL, 0);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

TEST(sums_and_products_that_do_not_fit_say_so) {
    CHECK(phi__add(2, 3) == 5);
    CHECK(phi__add(SIZE_MAX - 1, 1) == SIZE_MAX);
    CHECK(phi__add(SIZE_MAX, 1) == SIZE_MAX);
    CHECK(phi__add(SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1) == SIZE_MAX);
    CHECK(phi__mul(6, 7) == 42);
    CHECK(phi__mul(SIZE_MAX, 0) == 0);
    CHECK(phi__mul(0, SIZE_MAX) == 0);
    CHECK(phi__mul(SIZE_MAX, 2) == SIZE_MAX);
    CHECK(phi__mul(SIZE_MAX / 2, 2) == SIZE_MAX - 1);
    CHECK(phi__mul(SIZE_MAX / 2 + 1, 2) == SIZE_MAX);
    CHECK_EQ_INT(phi__min(2, 3), 2);
    CHECK_EQ_INT(phi__max(2, 3), 3);
}

TEST(grow_doubles_and_keeps_what_was_there) {
    phi_allocator a = test_allocator();
    phi_memory memory;
    uint32_t *at = NULL;
    size_t cap = 0, i;
    phi_memory_init(&memory, &a, 0);
    for (i = 0; i < 100; i++) {
        uint32_t *now = (uint32_t *)phi__grow(&memory, at, &cap, i + 1, sizeof *at);
        if (!CHECK(now != NULL)) break;
        at = now;
        at[i] = (uint32_t)i;
    }
    CHECK_EQ_INT(cap, 128);
    CHECK_EQ_INT(memory.used_bytes, 512);
    for (i = 0; i < 100; i++)
        if (!CHECK_EQ_INT(at[i], i)) break;
    phi__free(&memory, at, cap * sizeof *at);
}

TEST(an_array_of_large_things_begins_with_what_is_needed) {
    phi_allocator a = test_allocator();
    phi_memory memory;
    size_t cap = 0;
    void *at;
    phi_memory_init(&memory, &a, 0);
    at = phi__grow(&memory, NULL, &cap, 1, 200);
    CHECK_EQ_INT(cap, 1);
    at = phi__grow(&memory, at, &cap, 2, 200);
    at = phi__grow(&memory, at, &cap, 3, 200);
    CHECK_EQ_INT(cap, 4);
    phi__free(&memory, at, cap * 200);
}

TEST(grow_that_fails_leaves_the_array_and_its_capacity) {
    phi_allocator a = test_allocator();
    phi_memory memory;
    size_t cap = 0;
    uint32_t *at;
    phi_memory_init(&memory, &a, 0);
    at = (uint32_t *)phi__grow(&memory, NULL, &cap, 3, sizeof *at);
    REQUIRE(at != NULL);
    CHECK_EQ_INT(cap, 4);
    at[0] = 7;
    test_alloc_fail_at(0);
    CHECK(phi__grow(&memory, at, &cap, 5, sizeof *at) == NULL);
    CHECK(phi__grow(&memory, at, &cap, SIZE_MAX / 2, sizeof *at) == NULL);
    CHECK(phi__grow(&memory, at, &cap, SIZE_MAX, sizeof *at) == NULL);
    CHECK_EQ_INT(cap, 4);
    CHECK_EQ_INT(at[0], 7);
    phi__free(&memory, at, cap * sizeof *at);
}

TEST(strings_compare_by_length_and_bytes) {
    phi_str null = PHI_ZERO;
    CHECK(phi_str_equal(phi_str_of("anvil"), phi_str_of("anvil")));
    CHECK(!phi_str_equal(phi_str_of("anvil"), phi_str_of("anvi")));
    CHECK(!phi_str_equal(phi_str_of("anvil"), phi_str_of("anvik")));
    CHECK(phi_str_equal(null, phi_str_of("")));
    CHECK(phi_str_equal(phi__str("a\0b", 3), phi__str("a\0b", 3)));
    CHECK(!phi_str_equal(phi__str("a\0b", 3), phi__str("a\0c", 3)));
    CHECK_EQ_INT(phi_str_of(NULL).len, 0);
    CHECK_EQ_INT(PHI__LIT("four").len, 4);
}

TEST(a_string_is_or_starts_with_a_text) {
    phi_str null = PHI_ZERO;
    CHECK(phi__str_is(phi_str_of("data"), "data"));
    CHECK(!phi__str_is(phi_str_of("data:"), "data"));
    CHECK(!phi__str_is(phi_str_of("dat"), "data"));
    CHECK(phi__str_is(null, ""));
    CHECK(phi__str_starts(phi_str_of("data: x"), "data:"));
    CHECK(phi__str_starts(phi_str_of("data:"), "data:"));
    CHECK(!phi__str_starts(phi_str_of("dat"), "data:"));
    CHECK(phi__str_starts(null, ""));
    CHECK(phi__str_is_nocase(phi_str_of("Retry-After"), "retry-AFTER"));
    CHECK(!phi__str_is_nocase(phi_str_of("Retry_After"), "retry-after"));
    CHECK(!phi__str_is_nocase(phi_str_of("Retry"), "retry-after"));
    CHECK(!phi__str_is_nocase(phi_str_of("["), "{"));
    CHECK(phi__str_equal_nocase(phi_str_of("Host-7"), phi_str_of("hOST-7")));
    CHECK(!phi__str_equal_nocase(phi_str_of("Host"), phi_str_of("Host-7")));
    CHECK(phi__str_equal_nocase(phi__str(NULL, 0), phi_str_of("")));
    CHECK(phi__str_equal_secret(phi_str_of("a\xff"), phi_str_of("a\xff")));
    CHECK(!phi__str_equal_secret(phi_str_of("ab"), phi_str_of("aB")));
    CHECK(!phi__str_equal_secret(phi_str_of("ab"), phi_str_of("abc")));
    CHECK(phi__str_is_nocase(null, ""));
}

TEST(find_gives_the_first_place_from_an_offset) {
    phi_str s = phi_str_of("abcabc"), null = PHI_ZERO;
    CHECK(phi__str_find(s, 0, "bc") == 1);
    CHECK(phi__str_find(s, 2, "bc") == 4);
    CHECK(phi__str_find(s, 5, "bc") == SIZE_MAX);
    CHECK(phi__str_find(s, 100, "bc") == SIZE_MAX);
    CHECK(phi__str_find(s, 0, "abcabc") == 0);
    CHECK(phi__str_find(s, 0, "abcabcd") == SIZE_MAX);
    CHECK(phi__str_find(s, 6, "") == 6);
    CHECK(phi__str_find(null, 0, "a") == SIZE_MAX);
    CHECK(phi__str_find_nocase(s, 1, "AB") == 3);
    CHECK(phi__str_find_nocase(s, 4, "AB") == SIZE_MAX);
    CHECK(phi__str_find_nocase(phi_str_of("Prompt is TOO long"), 0, "too LONG") == 10);
}

TEST(trim_takes_white_space_from_both_ends) {
    CHECK_STR(phi__str_trim(phi_str_of(" \t\r\n two words \n")), "two words");
    CHECK_STR(phi__str_trim(phi_str_of("none")), "none");
    CHECK_STR(phi__str_trim(phi_str_of(" \n ")), "");
    CHECK_STR(phi__str_trim(phi_str_of("")), "");
}

TEST(a_whole_number_is_read_and_nothing_else) {
    uint64_t n = 5;
    CHECK(phi__str_to_u64(phi_str_of("0"), &n) && n == 0);
    CHECK(phi__str_to_u64(phi_str_of("0042"), &n) && n == 42);
    CHECK(phi__str_to_u64(phi_str_of("18446744073709551615"), &n) && n == UINT64_MAX);
    n = 5;
    CHECK(!phi__str_to_u64(phi_str_of("18446744073709551616"), &n));
    CHECK(!phi__str_to_u64(phi_str_of("99999999999999999999"), &n));
    CHECK(!phi__str_to_u64(phi_str_of(""), &n));
    CHECK(!phi__str_to_u64(phi_str_of("-1"), &n));
    CHECK(!phi__str_to_u64(phi_str_of("+1"), &n));
    CHECK(!phi__str_to_u64(phi_str_of("1 "), &n));
    CHECK(!phi__str_to_u64(phi_str_of("1.0"), &n));
    CHECK_EQ_INT(n, 5);
}

TEST(a_hash_is_written_and_read_as_sixteen_hex_digits) {
    char digits[17];
    phi__hash_hex(UINT64_C(0x0123456789abcdef), digits);
    CHECK_EQ_STR(digits, "0123456789abcdef");
    CHECK(phi__hash_of_hex(phi_str_of(digits)) == UINT64_C(0x0123456789abcdef));
    CHECK(phi__hash_of_hex(phi_str_of("00000000000000ffee")) == 0xff);
    CHECK(phi__hash_of_hex(phi_str_of("1f")) == 0x1f);
    CHECK(phi__hash_of_hex(phi_str_of("")) == 0);
    CHECK(phi__hash_of_hex(phi_str_of("1F")) == 0);
    CHECK(phi__hash_of_hex(phi_str_of("12x")) == 0);
}

TEST_MAIN(TEST_ENTRY(every_status_has_its_number_and_words),
          TEST_ENTRY(a_number_that_is_no_status_is_unknown),
          TEST_ENTRY(the_default_allocator_allocates_moves_and_frees),
          TEST_ENTRY(a_budget_without_an_allocator_takes_the_default_one),
          TEST_ENTRY(a_budget_counts_what_is_used_and_the_most_that_was),
          TEST_ENTRY(a_limit_may_be_reached_and_not_passed),
          TEST_ENTRY(a_limit_lowered_below_what_is_used_refuses_growth_and_allows_shrinking),
          TEST_ENTRY(what_a_child_takes_counts_in_its_parent_and_either_limit_refuses),
          TEST_ENTRY(a_failed_request_counts_nothing_and_leaves_the_block),
          TEST_ENTRY(alloc_gives_zeroes_and_freeing_null_is_nothing),
          TEST_ENTRY(sums_and_products_that_do_not_fit_say_so),
          TEST_ENTRY(grow_doubles_and_keeps_what_was_there),
          TEST_ENTRY(an_array_of_large_things_begins_with_what_is_needed),
          TEST_ENTRY(grow_that_fails_leaves_the_array_and_its_capacity),
          TEST_ENTRY(strings_compare_by_length_and_bytes),
          TEST_ENTRY(a_string_is_or_starts_with_a_text),
          TEST_ENTRY(find_gives_the_first_place_from_an_offset),
          TEST_ENTRY(trim_takes_white_space_from_both_ends),
          TEST_ENTRY(a_whole_number_is_read_and_nothing_else),
          TEST_ENTRY(a_hash_is_written_and_read_as_sixteen_hex_digits))
