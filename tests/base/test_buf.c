/* The growing buffer, and the failure that sticks. */
#include "support/test.h"

#include "base/base_in.h"

static phi_memory memory;
static phi__buf buf;

static void setup(size_t limit_bytes) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, limit_bytes);
    phi__buf_init(&buf, &memory);
}

TEST(what_is_appended_stands_in_order) {
    setup(0);
    phi__buf_text(&buf, "one");
    phi__buf_char(&buf, ' ');
    phi__buf_add_str(&buf, PHI__LIT("two"));
    phi__buf_add(&buf, " three!", 6);
    phi__buf_u64(&buf, 0);
    phi__buf_u64(&buf, UINT64_MAX);
    phi__buf_printf(&buf, " %s=%d", "n", -7);
    CHECK(!buf.failed);
    CHECK_STR(phi__buf_str(&buf), "one two three018446744073709551615 n=-7");
    phi__buf_free(&buf);
}

TEST(appending_nothing_to_an_empty_buffer_is_good) {
    setup(0);
    phi__buf_add(&buf, NULL, 0);
    phi__buf_text(&buf, "");
    phi__buf_printf(&buf, "%s", "");
    CHECK(!buf.failed);
    CHECK_EQ_INT(buf.len, 0);
    phi__buf_free(&buf);
}

TEST(a_reserve_of_no_bytes_is_not_a_failure) {
    setup(0);
    CHECK(phi__buf_reserve(&buf, 0) != NULL);
    CHECK(!buf.failed);
    phi__buf_free(&buf);
}

TEST(printf_writes_more_than_the_room_it_had) {
    char want[301];
    setup(0);
    memset(want, 'x', 300);
    want[300] = '\0';
    phi__buf_printf(&buf, "%s", want);
    CHECK_STR(phi__buf_str(&buf), want);
    phi__buf_free(&buf);
}

TEST(growth_is_by_doubling) {
    size_t i, grown = 0, cap = 0;
    setup(0);
    for (i = 0; i < 100000; i++) {
        phi__buf_char(&buf, 'x');
        grown += buf.cap != cap;
        cap = buf.cap;
    }
    CHECK_EQ_INT(buf.len, 100000);
    CHECK(grown <= 12);
    CHECK(buf.cap <= 200000);
    phi__buf_free(&buf);
}

TEST(reserved_bytes_count_once_they_are_said_to_be_written) {
    char *at;
    setup(0);
    at = phi__buf_reserve(&buf, 5);
    REQUIRE(at != NULL);
    memcpy(at, "sword", 5);
    CHECK_EQ_INT(buf.len, 0);
    phi__buf_add_len(&buf, 5);
    CHECK_STR(phi__buf_str(&buf), "sword");
    phi__buf_free(&buf);
}

TEST(drop_forgets_the_first_bytes) {
    setup(0);
    phi__buf_text(&buf, "abcdef");
    phi__buf_drop(&buf, 0);
    phi__buf_drop(&buf, 2);
    CHECK_STR(phi__buf_str(&buf), "cdef");
    phi__buf_drop(&buf, 4);
    CHECK_EQ_INT(buf.len, 0);
    phi__buf_text(&buf, "g");
    CHECK_STR(phi__buf_str(&buf), "g");
    phi__buf_free(&buf);
}

TEST(a_failure_sticks_and_keeps_what_was_there) {
    setup(0);
    phi__buf_text(&buf, "kept");
    test_alloc_fail_at(0);
    phi__buf_printf(&buf, "%200d", 1);
    CHECK(test_alloc_tripped());
    CHECK(buf.failed);
    phi__buf_text(&buf, "not");
    phi__buf_char(&buf, 'x');
    phi__buf_u64(&buf, 1);
    phi__buf_printf(&buf, "x");
    CHECK(phi__buf_reserve(&buf, 1) == NULL);
    CHECK_STR(phi__buf_str(&buf), "kept");
    phi__buf_free(&buf);
}

TEST(clear_forgets_a_failure_and_keeps_the_memory) {
    size_t cap;
    setup(100);
    phi__buf_text(&buf, "kept");
    cap = buf.cap;
    CHECK(phi__buf_reserve(&buf, 200) == NULL);
    CHECK(buf.failed);
    phi__buf_clear(&buf);
    CHECK(!buf.failed);
    CHECK_EQ_INT(buf.len, 0);
    CHECK_EQ_INT(buf.cap, cap);
    phi__buf_text(&buf, "again");
    CHECK_STR(phi__buf_str(&buf), "again");
    phi__buf_free(&buf);
}

TEST(an_impossible_length_is_a_failure) {
    setup(0);
    phi__buf_char(&buf, 'x');
    CHECK(phi__buf_reserve(&buf, SIZE_MAX) == NULL);
    CHECK(buf.failed);
    phi__buf_clear(&buf);
    CHECK(phi__buf_reserve(&buf, SIZE_MAX / 2 + 1) == NULL);
    CHECK(buf.failed);
    phi__buf_free(&buf);
}

TEST(free_twice_is_harmless_and_the_buffer_is_usable_again) {
    setup(0);
    phi__buf_text(&buf, "x");
    phi__buf_free(&buf);
    phi__buf_free(&buf);
    phi__buf_text(&buf, "y");
    CHECK_STR(phi__buf_str(&buf), "y");
    phi__buf_free(&buf);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

TEST_MAIN(TEST_ENTRY(what_is_appended_stands_in_order),
          TEST_ENTRY(appending_nothing_to_an_empty_buffer_is_good),
          TEST_ENTRY(a_reserve_of_no_bytes_is_not_a_failure),
          TEST_ENTRY(printf_writes_more_than_the_room_it_had), TEST_ENTRY(growth_is_by_doubling),
          TEST_ENTRY(reserved_bytes_count_once_they_are_said_to_be_written),
          TEST_ENTRY(drop_forgets_the_first_bytes),
          TEST_ENTRY(a_failure_sticks_and_keeps_what_was_there),
          TEST_ENTRY(clear_forgets_a_failure_and_keeps_the_memory),
          TEST_ENTRY(an_impossible_length_is_a_failure),
          TEST_ENTRY(free_twice_is_harmless_and_the_buffer_is_usable_again))
