/* The claim of a handle from several threads; runs under the thread sanitizer as well. */
#include "support/test.h"

#include "base/base_in.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 2000 };

static phi_memory memory;
static phi__slots slots;
static uint32_t gens[ROUNDS];
static uint32_t wins[THREADS];

static void *claim_all(void *at) {
    uint32_t *won = (uint32_t *)at;
    uint32_t i;
    for (i = 0; i < ROUNDS; i++)
        if (phi__slots_move(&slots, i, gens[i], 1, 2)) (*won)++;
    return NULL;
}

TEST(of_many_threads_that_claim_a_handle_one_wins) {
    phi_allocator a = test_allocator();
    pthread_t threads[THREADS];
    uint32_t i, won = 0;
    phi_memory_init(&memory, &a, 0);
    phi__slots_init(&slots, &memory);
    for (i = 0; i < ROUNDS; i++) {
        phi__slot *slot = phi__slots_take(&slots, 1, NULL);
        REQUIRE(slot != NULL);
        gens[i] = phi__slots_gen_of(slot->word);
    }
    for (i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, claim_all, &wins[i]) == 0);
    for (i = 0; i < THREADS; i++) {
        CHECK_EQ_INT(pthread_join(threads[i], NULL), 0);
        won += wins[i];
    }
    CHECK_EQ_INT(won, ROUNDS);
    phi__slots_free(&slots);
}

static void *look_up(void *at) {
    uint32_t *seen = (uint32_t *)at;
    uint32_t i;
    for (i = 0; i < ROUNDS * 10; i++) *seen += phi__slots_state(&slots, i % ROUNDS, 1) != 0;
    return NULL;
}

TEST(a_table_may_grow_while_others_ask_for_states) {
    phi_allocator a = test_allocator();
    pthread_t threads[THREADS];
    uint32_t i;
    phi_memory_init(&memory, &a, 0);
    phi__slots_init(&slots, &memory);
    for (i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, look_up, &wins[i]) == 0);
    for (i = 0; i < ROUNDS; i++) {
        phi__slot *slot = phi__slots_take(&slots, 1, NULL);
        if (slot != NULL && i % 3 == 0) phi__slots_release(&slots, slot);
    }
    for (i = 0; i < THREADS; i++) CHECK_EQ_INT(pthread_join(threads[i], NULL), 0);
    CHECK_EQ_INT(slots.in_use, ROUNDS - (ROUNDS + 2) / 3);
    phi__slots_free(&slots);
}

static void *mark_all(void *at) {
    uint32_t i;
    (void)at;
    for (i = 0; i < ROUNDS; i++) {
        (void)phi__slots_change(&slots, i, gens[i], 0, 4);
        phi__slots_mark(&slots, i);
    }
    return NULL;
}

TEST(no_mark_of_many_threads_is_lost) {
    phi_allocator a = test_allocator();
    pthread_t threads[THREADS];
    uint32_t out[256], i, heard = 0;
    phi_memory_init(&memory, &a, 0);
    phi__slots_init(&slots, &memory);
    for (i = 0; i < ROUNDS; i++) {
        phi__slot *slot = phi__slots_take(&slots, 1, NULL);
        REQUIRE(slot != NULL);
        gens[i] = phi__slots_gen_of(slot->word);
    }
    for (i = 0; i < THREADS; i++) REQUIRE(pthread_create(&threads[i], NULL, mark_all, NULL) == 0);
    while (heard < ROUNDS) { /* each state is set again only after it was cleared here */
        size_t n = phi__slots_marked(&slots, out, 256);
        for (i = 0; i < n; i++)
            heard += (phi__slots_change(&slots, out[i], gens[out[i]], 4 | 1, 2) & 5) == 5;
    }
    for (i = 0; i < THREADS; i++) CHECK_EQ_INT(pthread_join(threads[i], NULL), 0);
    CHECK_EQ_INT(heard, ROUNDS);
    phi__slots_free(&slots);
}

TEST_MAIN(TEST_ENTRY(no_mark_of_many_threads_is_lost),
          TEST_ENTRY(of_many_threads_that_claim_a_handle_one_wins),
          TEST_ENTRY(a_table_may_grow_while_others_ask_for_states))
