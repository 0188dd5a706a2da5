/* test_inbox_threads.c - the ring that other threads post into: order, bounds, wrap-around, races. */
#include "io/io_in.h"
#include "support/test.h"

#include <pthread.h>
#include <sched.h>

static phi_status put(phi__inbox *inbox, const phi__post *p) {
    struct phi__inbox_record *record = NULL;
    phi_status status = phi__inbox_prepare(inbox, p, &record);
    if (status == PHI_OK) phi__inbox_publish(record, true);
    return status;
}

static phi_status post(phi__inbox *inbox, uint32_t kind, uint32_t index, const char *text) {
    phi__post p;
    memset(&p, 0, sizeof p);
    p.kind = kind;
    p.index = index;
    p.gen = index + 1;
    p.flag = 1;
    p.text = phi_str_of(text);
    return put(inbox, &p);
}

TEST(what_is_posted_comes_out_in_order_and_whole) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__inbox inbox;
    phi__post p;
    phi_memory_init(&memory, &allocator, 0);
    REQUIRE(phi__inbox_init(&inbox, &memory, 1024) == PHI_OK);
    CHECK(!phi__inbox_peek(&inbox, &p));
    CHECK_EQ_INT(post(&inbox, 1, 7, "seven"), PHI_OK);
    CHECK_EQ_INT(post(&inbox, 2, 8, ""), PHI_OK);
    REQUIRE(phi__inbox_peek(&inbox, &p));
    CHECK_EQ_INT(p.kind, 1);
    CHECK_EQ_INT(p.index, 7);
    CHECK_EQ_INT(p.gen, 8);
    CHECK_STR(p.text, "seven");
    phi__inbox_drop(&inbox);
    REQUIRE(phi__inbox_peek(&inbox, &p));
    CHECK_EQ_INT(p.kind, 2);
    CHECK_EQ_INT(p.text.len, 0);
    phi__inbox_drop(&inbox);
    CHECK(!phi__inbox_peek(&inbox, &p));
    phi__inbox_free(&inbox);
}

TEST(a_full_ring_says_so_and_what_can_never_fit_is_a_bad_argument) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__inbox inbox;
    phi__post p;
    char big[600];
    int n = 0;
    phi_memory_init(&memory, &allocator, 0);
    REQUIRE(phi__inbox_init(&inbox, &memory, 1024) == PHI_OK);
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    CHECK_EQ_INT(post(&inbox, 1, 0, big), PHI_BAD_ARG);
    while (post(&inbox, 1, (uint32_t)n, "0123456789") == PHI_OK) n++;
    CHECK_EQ_INT(n, 25); /* 1024 bytes in records of 40 */
    REQUIRE(phi__inbox_peek(&inbox, &p));
    phi__inbox_drop(&inbox);
    CHECK_EQ_INT(post(&inbox, 1, 0, "0123456789"), PHI_OK);
    CHECK_EQ_INT(post(&inbox, 1, 0, "0123456789"), PHI_FULL);
    phi__inbox_free(&inbox);
}

TEST(texts_of_every_length_survive_the_wrap) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__inbox inbox;
    char text[480];
    uint32_t i;
    phi_memory_init(&memory, &allocator, 0);
    REQUIRE(phi__inbox_init(&inbox, &memory, 1024) == PHI_OK);
    for (i = 0; i < 5000; i++) {
        phi__post p;
        size_t n = i % 479;
        memset(text, (int)('a' + i % 26), n);
        text[n] = '\0';
        REQUIRE(post(&inbox, 1, i, text) == PHI_OK);
        REQUIRE(phi__inbox_peek(&inbox, &p));
        CHECK_EQ_INT(p.index, i);
        REQUIRE(CHECK_STR(p.text, text));
        phi__inbox_drop(&inbox);
    }
    phi__inbox_free(&inbox);
}

typedef struct poster {
    phi__inbox *inbox;
    uint32_t id;
} poster;

enum { POSTERS = 4, POSTS = 5000 };

static void *post_many(void *arg) {
    poster *me = (poster *)arg;
    uint32_t i;
    for (i = 0; i < POSTS; i++) {
        char text[64];
        size_t n = (i * 7 + me->id) % 50;
        phi__post p;
        memset(&p, 0, sizeof p);
        memset(text, (int)('a' + me->id), n);
        p.kind = me->id + 1;
        p.index = i;
        p.text = phi__str(text, n);
        while (put(me->inbox, &p) == PHI_FULL) sched_yield();
    }
    return NULL;
}

TEST(posts_of_four_threads_arrive_once_each_and_in_each_threads_order) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__inbox inbox;
    poster posters[POSTERS];
    pthread_t threads[POSTERS];
    uint32_t next[POSTERS] = {0, 0, 0, 0}, i, left = POSTERS * POSTS;
    phi_memory_init(&memory, &allocator, 0);
    REQUIRE(phi__inbox_init(&inbox, &memory, 2048) == PHI_OK);
    for (i = 0; i < POSTERS; i++) {
        posters[i].inbox = &inbox;
        posters[i].id = i;
        REQUIRE(pthread_create(&threads[i], NULL, post_many, &posters[i]) == 0);
    }
    while (left > 0) {
        phi__post p;
        size_t n;
        if (!phi__inbox_peek(&inbox, &p)) {
            sched_yield();
            continue;
        }
        if (p.kind < 1 || p.kind > POSTERS || p.index != next[p.kind - 1]) {
            CHECK(!"a post out of order");
            break;
        }
        next[p.kind - 1]++;
        for (n = 0; n < p.text.len; n++)
            if (p.text.at[n] != (char)('a' + p.kind - 1)) CHECK(!"a torn text");
        phi__inbox_drop(&inbox);
        left--;
    }
    for (i = 0; i < POSTERS; i++) (void)pthread_join(threads[i], NULL);
    CHECK_EQ_INT(left, 0);
    phi__inbox_free(&inbox);
}

TEST_MAIN(TEST_ENTRY(what_is_posted_comes_out_in_order_and_whole),
          TEST_ENTRY(a_full_ring_says_so_and_what_can_never_fit_is_a_bad_argument),
          TEST_ENTRY(texts_of_every_length_survive_the_wrap),
          TEST_ENTRY(posts_of_four_threads_arrive_once_each_and_in_each_threads_order))
