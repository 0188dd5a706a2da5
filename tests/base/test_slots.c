/* The tables behind the value handles. */
#include "support/test.h"

#include "base/base_in.h"

static phi_memory memory;
static phi__slots slots;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__slots_init(&slots, &memory);
}

TEST(a_taken_slot_is_found_by_its_handle) {
    int object = 0;
    phi__slot *slot;
    uint32_t gen;
    setup();
    slot = phi__slots_take(&slots, 3, &object);
    REQUIRE(slot != NULL);
    gen = phi__slots_gen_of(slot->word);
    CHECK_EQ_INT(slot->index, 0);
    CHECK(gen != 0);
    CHECK(phi__slots_find(&slots, 0, gen) == slot);
    CHECK(slot->object == &object);
    CHECK_EQ_INT(phi__slots_state(&slots, 0, gen), 3);
    CHECK_EQ_INT(slots.in_use, 1);
    phi__slots_free(&slots);
}

TEST(a_handle_is_stale_once_its_slot_was_released) {
    phi__slot *slot, *again;
    uint32_t gen;
    setup();
    slot = phi__slots_take(&slots, 1, NULL);
    REQUIRE(slot != NULL);
    gen = phi__slots_gen_of(slot->word);
    phi__slots_release(&slots, slot);
    CHECK(phi__slots_find(&slots, 0, gen) == NULL);
    CHECK_EQ_INT(phi__slots_state(&slots, 0, gen), 0);
    CHECK(!phi__slots_move(&slots, 0, gen, 1, 2));
    CHECK_EQ_INT(slots.in_use, 0);
    again = phi__slots_take(&slots, 1, NULL);
    CHECK(again == slot);
    CHECK(phi__slots_find(&slots, 0, gen) == NULL);
    CHECK_EQ_INT(phi__slots_state(&slots, 0, gen), 0);
    CHECK(!phi__slots_move(&slots, 0, gen, 1, 2));
    CHECK(phi__slots_find(&slots, 0, phi__slots_gen_of(again->word)) == again);
    phi__slots_free(&slots);
}

TEST(a_zeroed_handle_and_an_index_never_made_are_stale) {
    phi__slot *slot;
    setup();
    CHECK(phi__slots_find(&slots, 0, 0) == NULL);
    CHECK(phi__slots_at(&slots, 0) == NULL);
    CHECK(!phi__slots_move(&slots, 0, 0, 0, 1));
    slot = phi__slots_take(&slots, 1, NULL);
    REQUIRE(slot != NULL);
    CHECK(phi__slots_find(&slots, 0, 0) == NULL);
    CHECK(phi__slots_find(&slots, 1, 0) == NULL); /* made, never taken */
    CHECK(phi__slots_at(&slots, 63) != NULL);
    CHECK(phi__slots_at(&slots, 64) == NULL);
    CHECK(phi__slots_find(&slots, UINT32_MAX, 1) == NULL);
    phi__slots_free(&slots);
}

TEST(the_generation_after_the_last_is_not_zero) {
    phi__slot *slot;
    setup();
    slot = phi__slots_take(&slots, 1, NULL);
    REQUIRE(slot != NULL);
    slot->word = phi__slots_word_of(UINT32_MAX, 1);
    phi__slots_release(&slots, slot);
    slot = phi__slots_take(&slots, 1, NULL);
    CHECK_EQ_INT(phi__slots_gen_of(slot->word), 1);
    phi__slots_free(&slots);
}

TEST(a_state_moves_once) {
    phi__slot *slot;
    uint32_t gen;
    setup();
    slot = phi__slots_take(&slots, 1, NULL);
    REQUIRE(slot != NULL);
    gen = phi__slots_gen_of(slot->word);
    CHECK(phi__slots_move(&slots, 0, gen, 1, 2));
    CHECK(!phi__slots_move(&slots, 0, gen, 1, 2));
    CHECK(!phi__slots_move(&slots, 0, gen + 1, 2, 3));
    CHECK_EQ_INT(phi__slots_state(&slots, 0, gen), 2);
    phi__slots_free(&slots);
}

TEST(slots_never_move_and_indexes_are_dense) {
    enum { COUNT = 1000 };
    static phi__slot *at[COUNT];
    uint32_t i;
    setup();
    for (i = 0; i < COUNT; i++) {
        at[i] = phi__slots_take(&slots, 1, &at[i]);
        REQUIRE(at[i] != NULL);
    }
    for (i = 0; i < COUNT; i++) {
        CHECK_EQ_INT(at[i]->index, i);
        CHECK(phi__slots_at(&slots, i) == at[i]);
        CHECK(at[i]->object == &at[i]);
        CHECK((uintptr_t)&at[i]->word % 8 == 0);
    }
    CHECK_EQ_INT(slots.count, 64 + 128 + 256 + 512 + 1024);
    phi__slots_free(&slots);
    CHECK_EQ_INT(slots.count, 0);
}

TEST(released_slots_are_taken_again_before_there_are_more) {
    phi__slot *first;
    uint32_t i;
    setup();
    first = phi__slots_take(&slots, 1, NULL);
    REQUIRE(first != NULL);
    for (i = 1; i < 64; i++) REQUIRE(phi__slots_take(&slots, 1, NULL) != NULL);
    phi__slots_release(&slots, first);
    CHECK(phi__slots_take(&slots, 1, NULL) == first);
    CHECK_EQ_INT(slots.count, 64);
    CHECK(phi__slots_take(&slots, 1, NULL) != NULL);
    CHECK_EQ_INT(slots.count, 64 + 128);
    CHECK_EQ_INT(slots.in_use, 65);
    phi__slots_free(&slots);
}

TEST(bits_of_a_state_change_together_and_not_of_a_stale_handle) {
    phi__slot *slot;
    uint32_t gen;
    setup();
    slot = phi__slots_take(&slots, 1, NULL);
    REQUIRE(slot != NULL);
    gen = phi__slots_gen_of(slot->word);
    CHECK_EQ_INT(phi__slots_change(&slots, 0, gen, 1, 2 | 8), 1);
    CHECK_EQ_INT(phi__slots_change(&slots, 0, gen, 8, 4), 10);
    CHECK_EQ_INT(phi__slots_state(&slots, 0, gen), 6);
    CHECK_EQ_INT(phi__slots_change(&slots, 0, gen + 1, 0, 8), 0);
    CHECK_EQ_INT(phi__slots_change(&slots, 7000, 1, 0, 8), 0);
    phi__slots_release(&slots, slot);
    CHECK_EQ_INT(phi__slots_change(&slots, 0, gen, 0, 8), 0);
    CHECK_EQ_INT(slot->word, phi__slots_word_of(gen, 0));
    phi__slots_free(&slots);
}

TEST(a_marked_slot_is_given_once_and_none_is_passed_over) {
    uint32_t out[128], i, given = 0;
    size_t n;
    bool seen[1000] = {false};
    setup();
    phi__slots_mark(&slots, 5); /* there is none */
    CHECK(!phi__slots_any_marked(&slots));
    CHECK_EQ_INT(phi__slots_marked(&slots, out, 128), 0);
    for (i = 0; i < 1000; i++) REQUIRE(phi__slots_take(&slots, 1, NULL) != NULL);
    phi__slots_mark(&slots, 63);
    phi__slots_mark(&slots, 999);
    phi__slots_mark(&slots, 63);
    CHECK(phi__slots_any_marked(&slots));
    CHECK_EQ_INT(phi__slots_marked(&slots, out, 128), 2);
    CHECK_EQ_INT(out[0] + out[1], 63 + 999);
    CHECK(!phi__slots_any_marked(&slots));
    for (i = 0; i < 1000; i++) phi__slots_mark(&slots, i);
    while (phi__slots_any_marked(&slots)) {
        n = phi__slots_marked(&slots, out, 128);
        CHECK(n <= 128);
        for (i = 0; i < n; i++) {
            CHECK(!seen[out[i]]);
            seen[out[i]] = true;
            given++;
        }
        phi__slots_mark(&slots, 0); /* one that is marked all the time does not hide the others */
        seen[0] = false;
        if (given > 1000 + 16) break;
    }
    for (i = 1; i < 1000; i++) CHECK(seen[i]);
    phi__slots_free(&slots);
}

TEST(no_memory_gives_no_slot_and_a_usable_table) {
    setup();
    test_alloc_fail_at(0);
    CHECK(phi__slots_take(&slots, 1, NULL) == NULL);
    CHECK(phi__slots_take(&slots, 1, NULL) != NULL);
    CHECK_EQ_INT(slots.in_use, 1);
    phi__slots_free(&slots);
    phi__slots_free(&slots);
}

TEST_MAIN(TEST_ENTRY(a_taken_slot_is_found_by_its_handle),
          TEST_ENTRY(a_handle_is_stale_once_its_slot_was_released),
          TEST_ENTRY(a_zeroed_handle_and_an_index_never_made_are_stale),
          TEST_ENTRY(the_generation_after_the_last_is_not_zero), TEST_ENTRY(a_state_moves_once),
          TEST_ENTRY(slots_never_move_and_indexes_are_dense),
          TEST_ENTRY(released_slots_are_taken_again_before_there_are_more),
          TEST_ENTRY(bits_of_a_state_change_together_and_not_of_a_stale_handle),
          TEST_ENTRY(a_marked_slot_is_given_once_and_none_is_passed_over),
          TEST_ENTRY(no_memory_gives_no_slot_and_a_usable_table))
