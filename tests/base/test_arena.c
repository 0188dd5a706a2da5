/* The arena: what it hands out, what it takes back, and what it does when there is no more. */
#include "support/test.h"

#include "base/base_in.h"

static phi_memory memory;
static phi_arena arena;

static void setup(size_t limit_bytes, size_t first_block_bytes) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, limit_bytes);
    phi_arena_init(&arena, &memory, first_block_bytes);
}

TEST(init_takes_no_memory) {
    setup(0, 0);
    CHECK_EQ_INT(memory.used_bytes, 0);
    CHECK_EQ_INT(test_alloc_live_blocks(), 0);
    phi_arena_free(&arena);
}

TEST(without_a_budget_the_memory_is_the_c_library_s) {
    phi_str text;
    phi_arena_init(&arena, NULL, 0);
    CHECK(phi_arena_alloc(&arena, 100000) != NULL);
    CHECK(phi__arena_str(&arena, phi_str_of("a sword"), &text));
    CHECK_STR(text, "a sword");
    phi_arena_free(&arena);
    CHECK_EQ_INT(test_alloc_live_blocks(), 0);
}

TEST(zero_bytes_give_a_pointer) {
    setup(0, 0);
    CHECK(phi_arena_alloc(&arena, 0) != NULL);
    CHECK(phi__arena_bytes(&arena, 0) != NULL);
    phi_arena_free(&arena);
}

/* What malloc aligns to, which is what any type needs: 16 bytes, but 8 on most 32-bit machines. */
TEST(memory_is_aligned_for_any_type) {
    size_t i;
    setup(0, 64);
    for (i = 0; i < 400; i++) {
        char *at = (char *)phi_arena_alloc(&arena, i % 37);
        if (!CHECK(at != NULL) || !CHECK((uintptr_t)at % (2 * sizeof(void *)) == 0)) break;
        memset(at, 1, i % 37);
        if (!CHECK(phi__arena_bytes(&arena, 3) != NULL)) break;
    }
    phi_arena_free(&arena);
}

TEST(what_was_handed_out_does_not_move_or_overlap) {
    enum { COUNT = 500 };
    static unsigned char *at[COUNT];
    size_t i, j, wrong = 0;
    setup(0, 0);
    for (i = 0; i < COUNT; i++) {
        at[i] = (unsigned char *)phi_arena_alloc(&arena, i * 3);
        if (!CHECK(at[i] != NULL)) return;
        memset(at[i], (int)(i & 255), i * 3);
    }
    for (i = 0; i < COUNT; i++)
        for (j = 0; j < i * 3; j++) wrong += at[i][j] != (i & 255);
    CHECK_EQ_INT(wrong, 0);
    phi_arena_free(&arena);
}

TEST(the_first_block_has_the_size_asked_for_and_later_ones_double) {
    setup(0, 256);
    CHECK(phi_arena_alloc(&arena, 16) != NULL);
    CHECK_EQ_INT(test_alloc_live_bytes(), 256);
    while (test_alloc_live_blocks() == 1) REQUIRE(phi_arena_alloc(&arena, 16) != NULL);
    CHECK_EQ_INT(test_alloc_live_bytes(), 256 + 512);
    phi_arena_free(&arena);
}

TEST(the_default_first_block_is_two_kilobytes) {
    setup(0, 0);
    CHECK(phi_arena_alloc(&arena, 1) != NULL);
    CHECK_EQ_INT(test_alloc_live_bytes(), 2048);
    phi_arena_free(&arena);
}

TEST(shared_blocks_stop_growing_at_64_kilobytes) {
    size_t i;
    setup(0, 0);
    for (i = 0; i < 100; i++) REQUIRE(phi_arena_alloc(&arena, 16000) != NULL);
    /* 16000 is more than half of the blocks of 2, 4, 8, 16 and 32 KiB minus nothing: those are not
       even opened for it; blocks of 64 KiB would take four each, but none is opened either. */
    CHECK(test_alloc_live_bytes() >= 100 * 16000);
    CHECK(test_alloc_live_bytes() <= 100 * 16032);
    phi_arena_free(&arena);
    for (i = 0; i < 4000; i++) REQUIRE(phi_arena_alloc(&arena, 512) != NULL);
    /* 2 MB in blocks of at most 64 KiB: at least 31, and not many more. */
    CHECK(test_alloc_live_blocks() >= 31);
    CHECK(test_alloc_live_blocks() <= 38);
    phi_arena_free(&arena);
}

TEST(a_big_request_gets_a_block_of_its_own_size) {
    char *small, *big;
    setup(0, 0);
    small = (char *)phi_arena_alloc(&arena, 8);
    big = (char *)phi_arena_alloc(&arena, 1000000);
    REQUIRE(small != NULL && big != NULL);
    memset(big, 7, 1000000);
    CHECK_EQ_INT(test_alloc_live_blocks(), 2);
    CHECK_EQ_INT(test_alloc_live_bytes(), 2048 + 1000000 + 16);
    big = (char *)phi_arena_alloc(&arena, 8);
    CHECK(big == small + 16 || (sizeof(void *) == 4 && big == small + 8));
    phi_arena_free(&arena);
}

TEST(reset_frees_what_came_after_the_mark) {
    phi_arena_mark mark;
    char *kept, *again;
    size_t i;
    setup(0, 0);
    kept = (char *)phi_arena_alloc(&arena, 16);
    REQUIRE(kept != NULL);
    memcpy(kept, "kept", 5);
    mark = phi_arena_save(&arena);
    again = (char *)phi_arena_alloc(&arena, 16);
    for (i = 0; i < 100; i++) REQUIRE(phi_arena_alloc(&arena, 100) != NULL);
    REQUIRE(phi_arena_alloc(&arena, 100000) != NULL);
    phi_arena_reset(&arena, mark);
    CHECK_EQ_STR(kept, "kept");
    CHECK_EQ_INT(test_alloc_live_bytes(), 2048);
    CHECK(phi_arena_alloc(&arena, 16) == (void *)again);
    phi_arena_free(&arena);
}

TEST(reset_to_the_beginning_frees_all) {
    phi_arena_mark mark;
    setup(0, 0);
    mark = phi_arena_save(&arena);
    REQUIRE(phi_arena_alloc(&arena, 16) != NULL);
    REQUIRE(phi_arena_alloc(&arena, 100000) != NULL);
    phi_arena_reset(&arena, mark);
    CHECK_EQ_INT(test_alloc_live_blocks(), 0);
    CHECK(phi_arena_alloc(&arena, 16) != NULL);
    phi_arena_free(&arena);
}

TEST(marks_nest) {
    phi_arena_mark outer, inner;
    char *a, *b;
    setup(0, 64);
    outer = phi_arena_save(&arena);
    a = (char *)phi_arena_alloc(&arena, 16);
    inner = phi_arena_save(&arena);
    b = (char *)phi_arena_alloc(&arena, 5000);
    REQUIRE(a != NULL && b != NULL);
    memcpy(a, "a", 2);
    phi_arena_reset(&arena, inner);
    CHECK_EQ_STR(a, "a");
    phi_arena_reset(&arena, outer);
    CHECK_EQ_INT(test_alloc_live_blocks(), 0);
    phi_arena_free(&arena);
}

TEST(what_is_tried_and_given_up_again_asks_for_no_more_each_time) {
    phi_arena_mark mark;
    int i;
    setup(1000, 256);
    for (i = 0; i < 50; i++) {
        mark = phi_arena_save(&arena);
        CHECK(phi_arena_alloc(&arena, 16) != NULL);
        CHECK(phi_arena_alloc(&arena, 5000) == NULL);
        phi_arena_reset(&arena, mark);
    }
    CHECK_EQ_INT(test_alloc_live_blocks(), 0);
    phi_arena_free(&arena);
}

TEST(free_twice_is_harmless_and_the_arena_is_usable_again) {
    setup(0, 0);
    REQUIRE(phi_arena_alloc(&arena, 10) != NULL);
    phi_arena_free(&arena);
    phi_arena_free(&arena);
    CHECK_EQ_INT(memory.used_bytes, 0);
    CHECK(phi_arena_alloc(&arena, 10) != NULL);
    phi_arena_free(&arena);
}

TEST(after_free_the_first_block_is_as_small_as_after_init) {
    int i;
    setup(0, 0);
    for (i = 0; i < 10; i++) {
        CHECK(phi_arena_alloc(&arena, 1) != NULL);
        CHECK_EQ_INT(memory.used_bytes, 2048);
        phi_arena_free(&arena);
    }
}

TEST(a_limit_refuses_and_changes_nothing) {
    phi_arena_mark before, after;
    setup(4096, 0);
    REQUIRE(phi_arena_alloc(&arena, 10) != NULL);
    before = phi_arena_save(&arena);
    CHECK(phi_arena_alloc(&arena, 4000) == NULL);
    after = phi_arena_save(&arena);
    CHECK(before.at == after.at && before.shared == after.shared && before.own == after.own);
    CHECK_EQ_INT(memory.used_bytes, 2048);
    CHECK(phi_arena_alloc(&arena, 10) != NULL);
    phi_arena_free(&arena);
    CHECK_EQ_INT(memory.used_bytes, 0);
    CHECK_EQ_INT(memory.peak_bytes, 2048);
}

TEST(impossible_sizes_are_refused) {
    phi_str out = PHI_ZERO, s = PHI_ZERO;
    setup(0, 0);
    CHECK(phi_arena_alloc(&arena, SIZE_MAX) == NULL);
    CHECK(phi_arena_alloc(&arena, SIZE_MAX - 15) == NULL);
    CHECK(phi_arena_alloc(&arena, SIZE_MAX - 16) == NULL);
    CHECK(phi__arena_bytes(&arena, SIZE_MAX) == NULL);
    s.len = SIZE_MAX;
    CHECK(!phi__arena_str(&arena, s, &out));
    CHECK(out.at == NULL);
    phi_arena_free(&arena);
}

TEST(a_failing_allocator_is_survived_at_every_request) {
    int n = 0;
    do {
        size_t i, got = 0;
        setup(0, 0);
        test_alloc_fail_at(n);
        for (i = 0; i < 50; i++) got += phi_arena_alloc(&arena, i * 40) != NULL;
        CHECK_EQ_INT(got, test_alloc_tripped() ? 49 : 50);
        phi_arena_free(&arena);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (test_alloc_tripped() && n++ < 1000);
    CHECK(n > 3 && n < 50);
}

TEST(zeroed_memory_is_zero) {
    unsigned char *at;
    size_t i, sum = 0;
    setup(0, 0);
    at = (unsigned char *)phi__arena_zero(&arena, 300);
    REQUIRE(at != NULL);
    for (i = 0; i < 300; i++) sum += at[i];
    CHECK_EQ_INT(sum, 0);
    phi_arena_free(&arena);
}

TEST(a_copied_string_is_terminated) {
    phi_str copy = PHI_ZERO, empty = PHI_ZERO;
    setup(0, 0);
    CHECK(phi__arena_str(&arena, PHI__LIT("sword"), &copy));
    CHECK_STR(copy, "sword");
    CHECK_EQ_STR(copy.at, "sword");
    CHECK(phi__arena_str(&arena, empty, &copy));
    CHECK_EQ_STR(copy.at, "");
    CHECK_EQ_INT(copy.len, 0);
    phi_arena_free(&arena);
}

#if defined(__SANITIZE_ADDRESS__)
int __asan_address_is_poisoned(void const volatile *at);

TEST(what_was_not_handed_out_is_poisoned) {
    phi_arena_mark mark;
    char *at;
    setup(0, 0);
    at = (char *)phi_arena_alloc(&arena, 24);
    REQUIRE(at != NULL);
    CHECK(!__asan_address_is_poisoned(at + 23));
    CHECK(__asan_address_is_poisoned(at + 24));
    mark = phi_arena_save(&arena);
    at = (char *)phi_arena_alloc(&arena, 16);
    REQUIRE(at != NULL);
    CHECK(!__asan_address_is_poisoned(at));
    phi_arena_reset(&arena, mark);
    CHECK(__asan_address_is_poisoned(at));
    phi_arena_free(&arena);
}
#define ASAN_TESTS , TEST_ENTRY(what_was_not_handed_out_is_poisoned)
#else
#define ASAN_TESTS
#endif

TEST(a_rewound_arena_serves_the_same_again_without_the_allocator) {
    int round;
    size_t bytes = 0;
    setup(0, 256);
    for (round = 0; round < 10; round++) {
        int i;
        if (round >= 3) test_alloc_fail_at(0);
        for (i = 0; i < 20; i++) {
            char *p = (char *)phi_arena_alloc(&arena, 100);
            REQUIRE(p != NULL);
            memset(p, i, 100);
        }
        /* a little more each time */
        REQUIRE(phi_arena_alloc(&arena, 100000 + (size_t)round * 100) != NULL);
        if (round >= 3) CHECK(!test_alloc_tripped());
        test_alloc_fail_at(-1);
        if (round == 3) bytes = test_alloc_live_bytes();
        if (round > 3) CHECK_EQ_INT(test_alloc_live_bytes(), bytes);
        phi__arena_rewind(&arena);
    }
    phi__arena_rewind(&arena); /* nothing was needed since: all is freed */
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    phi_arena_free(&arena);
}

TEST(an_array_grows_with_its_elements_and_a_failure_leaves_it) {
    uint32_t *list = NULL;
    size_t cap = 0;
    setup(0, 64);
    for (uint32_t i = 0; i < 100; i++) {
        list = (uint32_t *)phi__arena_grow(&arena, list, i, &cap, sizeof *list);
        REQUIRE(list != NULL && cap > i);
        list[i] = i;
    }
    CHECK_EQ_INT(cap, 128);
    for (uint32_t i = 0; i < 100; i++) CHECK_EQ_INT(list[i], i);
    CHECK(phi__arena_grow(&arena, list, cap, &cap, SIZE_MAX / 2) == NULL);
    CHECK_EQ_INT(cap, 128);
    CHECK(phi__arena_grow(&arena, list, 100, &cap, sizeof *list) == list);
    phi_arena_free(&arena);
}

TEST_MAIN(TEST_ENTRY(init_takes_no_memory),
          TEST_ENTRY(without_a_budget_the_memory_is_the_c_library_s),
          TEST_ENTRY(zero_bytes_give_a_pointer), TEST_ENTRY(memory_is_aligned_for_any_type),
          TEST_ENTRY(what_was_handed_out_does_not_move_or_overlap),
          TEST_ENTRY(the_first_block_has_the_size_asked_for_and_later_ones_double),
          TEST_ENTRY(the_default_first_block_is_two_kilobytes),
          TEST_ENTRY(shared_blocks_stop_growing_at_64_kilobytes),
          TEST_ENTRY(a_big_request_gets_a_block_of_its_own_size),
          TEST_ENTRY(reset_frees_what_came_after_the_mark),
          TEST_ENTRY(reset_to_the_beginning_frees_all), TEST_ENTRY(marks_nest),
          TEST_ENTRY(what_is_tried_and_given_up_again_asks_for_no_more_each_time),
          TEST_ENTRY(free_twice_is_harmless_and_the_arena_is_usable_again),
          TEST_ENTRY(after_free_the_first_block_is_as_small_as_after_init),
          TEST_ENTRY(a_limit_refuses_and_changes_nothing), TEST_ENTRY(impossible_sizes_are_refused),
          TEST_ENTRY(a_failing_allocator_is_survived_at_every_request),
          TEST_ENTRY(a_rewound_arena_serves_the_same_again_without_the_allocator),
          TEST_ENTRY(an_array_grows_with_its_elements_and_a_failure_leaves_it),
          TEST_ENTRY(zeroed_memory_is_zero), TEST_ENTRY(a_copied_string_is_terminated) ASAN_TESTS)
