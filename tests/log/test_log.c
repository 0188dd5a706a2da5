/* test_log.c - entries by seq, and which logs are to be looked at. */
#include "log/thread_in.h"
#include "support/test.h"

static phi_memory memory;
static phi__log log_;
static phi__grown grown;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__log_init(&log_, &memory, NULL);
    memset(&grown, 0, sizeof grown);
    log_.grown = &grown;
}

static void teardown(void) {
    phi__log_free_all(&log_);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

static phi__entry *add(int64_t at_ms) {
    phi__entry *entry = (phi__entry *)phi__arena_zero(&log_.segments.current->arena, sizeof *entry);
    if (!CHECK(entry != NULL && phi__log_reserve(&log_, 1))) abort();
    entry->at_ms = at_ms;
    phi__log_add(&log_, entry);
    phi__log_grew(&log_);
    return entry;
}

TEST(an_entry_is_found_by_its_seq) {
    phi__entry *first, *second;
    setup();
    first = add(5);
    second = add(7);
    CHECK(phi__log_at(&log_, 0) == first && phi__log_at(&log_, 1) == second);
    CHECK(phi__log_at(&log_, 2) == NULL);
    CHECK(log_.held + log_.base == log_.count);
    CHECK_EQ_INT(log_.made_ms, 5);
    CHECK_EQ_INT(log_.changed_ms, 7);
    teardown();
}

TEST(an_entry_that_is_away_is_not_found_and_those_beside_it_are) {
    phi__entry *last;
    setup();
    (void)add(1);
    (void)add(1);
    last = add(1);
    log_.entries[1] = last;
    log_.held = 2;
    CHECK(log_.held + log_.base != log_.count);
    CHECK(phi__log_at(&log_, 0) != NULL && phi__log_at(&log_, 1) == NULL);
    CHECK(phi__log_at(&log_, 2) == last);
    teardown();
}

TEST(a_log_in_no_store_is_in_no_list) {
    setup();
    (void)add(1);
    phi__log_left(&log_);
    CHECK(grown.of[PHI__DIRTY_GREW].first == NULL && grown.of[PHI__DIRTY_LEAVES].first == NULL);
    CHECK(log_.left);
    teardown();
}

TEST(a_log_that_changes_is_listed_once_for_each_reason) {
    phi__dirty dirty;
    setup();
    memset(&dirty, 0, sizeof dirty);
    log_.dirty = &dirty;
    (void)add(1);
    (void)add(1);
    CHECK(grown.of[PHI__DIRTY_LEAVES].first == NULL);
    phi__log_left(&log_);
    CHECK(phi__dirty_next(&grown, PHI__DIRTY_GREW) == &dirty);
    CHECK(phi__dirty_next(&grown, PHI__DIRTY_GREW) == NULL);
    CHECK(phi__dirty_next(&grown, PHI__DIRTY_LEAVES) == &dirty);
    (void)add(1);
    CHECK(phi__dirty_next(&grown, PHI__DIRTY_GREW) == &dirty);
    teardown();
}

TEST(lists_are_in_the_order_of_the_changes_and_one_can_leave_from_their_middle) {
    phi__dirty dirty[3];
    size_t i;
    memset(dirty, 0, sizeof dirty);
    memset(&grown, 0, sizeof grown);
    for (i = 0; i < 3; i++) phi__dirty_add(&grown, &dirty[i], PHI__DIRTY_GREW);
    phi__dirty_remove(&grown, &dirty[1], PHI__DIRTY_GREW);
    phi__dirty_remove(&grown, &dirty[1], PHI__DIRTY_GREW);
    CHECK(phi__dirty_next(&grown, PHI__DIRTY_GREW) == &dirty[0]);
    CHECK(phi__dirty_next(&grown, PHI__DIRTY_GREW) == &dirty[2]);
    CHECK(phi__dirty_next(&grown, PHI__DIRTY_GREW) == NULL);
    CHECK(grown.of[PHI__DIRTY_GREW].last == NULL);
}

TEST(a_set_of_hashes_has_what_was_added_zero_included) {
    phi__hashes set;
    uint64_t i;
    setup();
    memset(&set, 0, sizeof set);
    CHECK(!phi__hashes_has(&set, 0));
    for (i = 0; i < 100; i++) {
        if (!CHECK(phi__hashes_room(&memory, &set, 1))) break;
        phi__hashes_add(&set, i * 16);
    }
    CHECK_EQ_INT(set.count, 100);
    CHECK(phi__hashes_has(&set, 0) && phi__hashes_has(&set, 99 * 16));
    CHECK(!phi__hashes_has(&set, 8));
    phi__hashes_free(&memory, &set);
    teardown();
}

TEST_MAIN(TEST_ENTRY(an_entry_is_found_by_its_seq),
          TEST_ENTRY(an_entry_that_is_away_is_not_found_and_those_beside_it_are),
          TEST_ENTRY(a_log_in_no_store_is_in_no_list),
          TEST_ENTRY(a_log_that_changes_is_listed_once_for_each_reason),
          TEST_ENTRY(lists_are_in_the_order_of_the_changes_and_one_can_leave_from_their_middle),
          TEST_ENTRY(a_set_of_hashes_has_what_was_added_zero_included))
