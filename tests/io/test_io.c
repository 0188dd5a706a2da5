/* The pump's hands: timers, watches, the ready queue, the wake-up, starts, clocks. */
#include "support/test.h"

#include "io/io_in.h"
#include "io/os_in.h"
#include "io/poller_in.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static phi_memory memory;
static phi__io *io;
static uint64_t manual_us;

static uint64_t manual_clock(void *user_data) {
    (void)user_data;
    return manual_us;
}

static bool setup(const phi__io_desc *desc) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    manual_us = 1000;
    return CHECK_EQ_INT(phi__io_new(&memory, desc, &io), PHI_OK);
}

static bool setup_manual(void) {
    phi__io_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.clock_us_fn = manual_clock;
    return setup(&desc);
}

static void teardown(void) {
    phi__io_free(io);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

/* ---- timers ---- */

#define TIMERS 2000

typedef struct alarm {
    phi__timer timer;
    int fired;
} alarm_of;

static alarm_of alarms[TIMERS];
static uint64_t last_at, last_order;
static int order_broken, fired_in_all;

static void on_alarm(phi__timer *timer) {
    alarm_of *a = PHI__OWNER(timer, alarm_of, timer);
    CHECK_EQ_INT(timer->place, 0);
    a->fired++;
    fired_in_all++;
    if (timer->at_us < last_at || (timer->at_us == last_at && timer->order < last_order))
        order_broken++;
    last_at = timer->at_us;
    last_order = timer->order;
}

static void reset_alarms(void) {
    size_t i;
    memset(alarms, 0, sizeof alarms);
    for (i = 0; i < TIMERS; i++) alarms[i].timer.fire = on_alarm;
    last_at = last_order = 0;
    order_broken = fired_in_all = 0;
}

TEST(timers_fire_once_in_order_when_due) {
    if (!setup_manual()) return;
    reset_alarms();
    CHECK(phi__io_next_timer_us(io) == UINT64_MAX);
    CHECK_EQ_INT(phi__io_timer_set(io, &alarms[0].timer, 3000), PHI_OK);
    CHECK_EQ_INT(phi__io_timer_set(io, &alarms[1].timer, 2000), PHI_OK);
    CHECK_EQ_INT(phi__io_timer_set(io, &alarms[2].timer, 2500), PHI_OK);
    CHECK_EQ_INT(phi__io_next_timer_us(io), 2000);
    CHECK_EQ_INT(phi__io_timers(io, 10), 0);
    manual_us = 1999;
    CHECK_EQ_INT(phi__io_timers(io, 10), 0);
    manual_us = 2500;
    CHECK_EQ_INT(phi__io_timers(io, 10), 2);
    CHECK_EQ_INT(alarms[1].fired, 1);
    CHECK_EQ_INT(alarms[2].fired, 1);
    CHECK_EQ_INT(phi__io_timers(io, 10), 0);
    manual_us = 9000;
    CHECK_EQ_INT(phi__io_timers(io, 10), 1);
    CHECK_EQ_INT(order_broken, 0);
    teardown();
}

TEST(at_most_so_many_timers_fire_in_a_call) {
    size_t i;
    if (!setup_manual()) return;
    reset_alarms();
    for (i = 0; i < 10; i++) phi__io_timer_set(io, &alarms[i].timer, 100 + i);
    CHECK_EQ_INT(phi__io_timers(io, 4), 4);
    CHECK_EQ_INT(alarms[3].fired, 1);
    CHECK_EQ_INT(alarms[4].fired, 0);
    CHECK_EQ_INT(phi__io_timers(io, 4), 4);
    CHECK_EQ_INT(phi__io_timers(io, 4), 2);
    teardown();
}

TEST(a_timer_can_be_moved_and_cleared) {
    if (!setup_manual()) return;
    reset_alarms();
    phi__io_timer_set(io, &alarms[0].timer, 5000);
    phi__io_timer_set(io, &alarms[0].timer, 2000);
    CHECK_EQ_INT(phi__io_next_timer_us(io), 2000);
    phi__io_timer_set(io, &alarms[0].timer, UINT64_MAX);
    CHECK(phi__io_next_timer_us(io) == UINT64_MAX);
    CHECK(alarms[0].timer.place != 0);
    phi__io_timer_clear(io, &alarms[0].timer);
    phi__io_timer_clear(io, &alarms[0].timer);
    CHECK_EQ_INT(alarms[0].timer.place, 0);
    manual_us = 100000;
    CHECK_EQ_INT(phi__io_timers(io, 10), 0);
    teardown();
}

TEST(random_sets_moves_and_clears_keep_the_order) {
    uint32_t state = 42;
    uint64_t want[TIMERS];
    size_t i, n, round;
    if (!setup_manual()) return;
    reset_alarms();
    for (round = 0; round < 20000; round++) {
        uint32_t r = test_random(&state);
        i = test_random(&state) % TIMERS;
        if (r % 4 == 0)
            phi__io_timer_clear(io, &alarms[i].timer);
        else
            phi__io_timer_set(io, &alarms[i].timer, 2000 + r % 100000);
    }
    for (i = 0, n = 0; i < TIMERS; i++) {
        want[i] = alarms[i].timer.place != 0 ? alarms[i].timer.at_us : 0;
        n += want[i] != 0;
    }
    CHECK(n > TIMERS / 2);
    for (manual_us = 2000; manual_us < 103000; manual_us += 500) {
        phi__io_timers(io, TIMERS);
        CHECK(phi__io_next_timer_us(io) > manual_us);
    }
    CHECK_EQ_INT(fired_in_all, n);
    CHECK_EQ_INT(order_broken, 0);
    for (i = 0; i < TIMERS; i++)
        if (!CHECK_EQ_INT(alarms[i].fired, want[i] != 0)) break;
    teardown();
}

static size_t heard[TIMERS], heard_count;

static void hear(phi__timer *timer) {
    heard[heard_count++] = (size_t)(PHI__OWNER(timer, alarm_of, timer) - alarms);
}

TEST(timers_of_one_moment_fire_in_the_order_they_were_set) {
    uint32_t state = 7;
    size_t i, n = 0, set[TIMERS];
    if (!setup_manual()) return;
    reset_alarms();
    heard_count = 0;
    for (i = 0; i < TIMERS; i++) {
        alarms[i].timer.fire = hear;
        phi__io_timer_set(io, &alarms[i].timer, 4000 + test_random(&state) % 3 * 1000);
    }
    for (i = 0; i < TIMERS; i += 3) phi__io_timer_clear(io, &alarms[i].timer);
    for (i = TIMERS; i-- > 0;)
        if (i % 3 != 1) {
            phi__io_timer_set(io, &alarms[i].timer, 4000);
            set[n++] = i;
        }
    for (i = 1; i < TIMERS; i += 3) {
        phi__io_timer_set(io, &alarms[i].timer, 4000);
        set[n++] = i;
    }
    manual_us = 4000;
    CHECK_EQ_INT(phi__io_timers(io, TIMERS), TIMERS);
    CHECK(heard_count == n && memcmp(heard, set, sizeof set) == 0);
    teardown();
}

static void set_again(phi__timer *timer) {
    alarm_of *a = PHI__OWNER(timer, alarm_of, timer);
    a->fired++;
    CHECK_EQ_INT(phi__io_timer_set(io, timer, manual_us), PHI_OK);
    phi__io_timer_clear(io, &alarms[1].timer);
}

TEST(a_timer_that_sets_itself_for_now_fires_once_a_round) {
    if (!setup_manual()) return;
    reset_alarms();
    alarms[0].timer.fire = set_again;
    phi__io_timer_set(io, &alarms[0].timer, 10);
    phi__io_timer_set(io, &alarms[1].timer, 20);
    CHECK_EQ_INT(phi__io_timers(io, 5), 1);
    CHECK_EQ_INT(alarms[0].fired, 1);
    CHECK_EQ_INT(alarms[1].fired, 0);
    CHECK(phi__io_next_timer_us(io) <= manual_us); /* due, although the clock stands still */
    CHECK_EQ_INT(phi__io_timers(io, 5), 1);
    CHECK_EQ_INT(alarms[0].fired, 2);
    teardown();
}

/* ---- watches ---- */

#define PAIRS 200

typedef struct pair {
    phi__watch watch;
    int mine, theirs, called, have;
    struct pair *forget; /* forgotten in the callback */
} pair;

static pair pairs[PAIRS];
static int calls;

static void on_ready(phi__watch *watch, int have) {
    pair *p = PHI__OWNER(watch, pair, watch);
    p->called++;
    p->have = have;
    calls++;
    if (p->forget != NULL) CHECK_EQ_INT(phi__io_watch(io, &p->forget->watch, 0, 0), PHI_OK);
}

static bool open_pairs(size_t n) {
    size_t i;
    memset(pairs, 0, sizeof pairs);
    calls = 0;
    for (i = 0; i < n; i++) {
        int fds[2];
        if (!CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0))
            return false;
        pairs[i].mine = fds[0];
        pairs[i].theirs = fds[1];
        pairs[i].watch.ready = on_ready;
    }
    return true;
}

static void close_pairs(size_t n) {
    size_t i;
    for (i = 0; i < n; i++) {
        (void)phi__io_watch(io, &pairs[i].watch, 0, 0);
        (void)close(pairs[i].mine);
        (void)close(pairs[i].theirs);
    }
}

static void poke(size_t i) { CHECK_EQ_INT(write(pairs[i].theirs, "x", 1), 1); }

static void watch_pair(size_t i, int want) {
    CHECK_EQ_INT(phi__io_watch(io, &pairs[i].watch, pairs[i].mine, want), PHI_OK);
}

static uint64_t late_clock(void *user_data) {
    (void)user_data;
    return UINT64_C(1000000000);
}

static void step_at(uint64_t us) {
    manual_us = us;
    phi__io_step_begin(io);
}

TEST(the_time_before_the_first_step_is_no_gap) {
    phi__io_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.clock_us_fn = late_clock;
    if (!setup(&desc)) return;
    phi__io_step_begin(io);
    CHECK_EQ_INT(phi__io_gaps_us(io, late_clock(NULL)), 0);
    teardown();
}

TEST(a_gap_between_steps_moves_deadlines_and_no_other_timer) {
    if (!setup_manual()) return;
    reset_alarms();
    CHECK_EQ_INT(phi__io_deadline_set(io, &alarms[0].timer, 5000000), PHI_OK);
    CHECK_EQ_INT(phi__io_timer_set(io, &alarms[1].timer, 5001000), PHI_OK);
    CHECK_EQ_INT(phi__io_deadline_set(io, &alarms[2].timer, UINT64_MAX), PHI_OK);
    step_at(1001000); /* a second is none */
    CHECK_EQ_INT(phi__io_gaps_us(io, manual_us), 0);
    step_at(2001001);
    CHECK_EQ_INT(phi__io_gaps_us(io, manual_us), 1);
    CHECK_EQ_INT(alarms[0].timer.at_us, 5001001);
    step_at(63001001);
    CHECK_EQ_INT(phi__io_gaps_us(io, manual_us), 60000001);
    CHECK_EQ_INT(phi__io_counted_us(io), 3001000);
    CHECK_EQ_INT(alarms[0].timer.at_us, 65001001);
    CHECK_EQ_INT(alarms[1].timer.at_us, 5001000);
    CHECK(alarms[2].timer.at_us == UINT64_MAX);
    CHECK_EQ_INT(phi__io_timers(io, 10), 1);
    CHECK_EQ_INT(alarms[1].fired, 1);
    CHECK(phi__io_deadlines(io));
    CHECK_EQ_INT(phi__io_timer_set(io, &alarms[0].timer, 1), PHI_OK); /* none any more */
    CHECK(!phi__io_deadlines(io));
    phi__io_timer_clear(io, &alarms[2].timer);
    CHECK(!phi__io_deadlines(io));
    teardown();
}

TEST(a_breakpoint_within_a_step_is_a_gap_before_timers_fire) {
    if (!setup_manual()) return;
    reset_alarms();
    CHECK_EQ_INT(phi__io_deadline_set(io, &alarms[0].timer, 5000000), PHI_OK);
    phi__io_step_begin(io);
    manual_us += 120000000;
    CHECK_EQ_INT(phi__io_left_us(io, &alarms[0].timer, manual_us), 4000000);
    CHECK_EQ_INT(phi__io_timers(io, 10), 0);
    CHECK_EQ_INT(phi__io_left_us(io, &alarms[0].timer, manual_us), 4000000);
    manual_us += 500000;
    CHECK_EQ_INT(phi__io_left_us(io, &alarms[0].timer, manual_us), 3500000);
    phi__io_timer_clear(io, &alarms[0].timer);
    teardown();
}

/* No clock may; a deadline then comes later, and never at once. */
TEST(a_clock_that_goes_back_ends_no_deadline) {
    uint64_t counted;
    int i;
    if (!setup_manual()) return;
    reset_alarms();
    step_at(90000000);
    counted = phi__io_counted_us(io);
    CHECK_EQ_INT(phi__io_deadline_set(io, &alarms[0].timer, 5000000), PHI_OK);
    step_at(7);
    CHECK(phi__io_counted_us(io) <= counted);
    CHECK_EQ_INT(phi__io_deadline_set(io, &alarms[1].timer, 5000000), PHI_OK);
    CHECK_EQ_INT(phi__io_timers(io, 10), 0);
    step_at(5000006);
    CHECK_EQ_INT(phi__io_timers(io, 10), 0);
    step_at(90000000);
    CHECK_EQ_INT(phi__io_timers(io, 10), 0);
    for (i = 0; i < 3; i++) step_at(manual_us + 1000000);
    CHECK_EQ_INT(phi__io_timers(io, 10), 1);
    CHECK_EQ_INT(alarms[1].fired, 1);
    for (i = 0; i < 90; i++) step_at(manual_us + 1000000);
    CHECK_EQ_INT(phi__io_timers(io, 10), 1);
    CHECK_EQ_INT(alarms[0].fired, 1);
    teardown();
}

TEST(timers_and_deadlines_keep_their_order_when_a_gap_moves_some_of_them) {
    uint32_t seed = 7;
    size_t i, round;
    if (!setup_manual()) return;
    reset_alarms();
    for (round = 0; round < 20; round++) {
        for (i = 0; i < TIMERS; i++) {
            uint64_t us = 1 + (seed = seed * 1664525 + 1013904223) % 90000000;
            CHECK_EQ_INT(seed & 0x10000 ? phi__io_deadline_set(io, &alarms[i].timer, us)
                                        : phi__io_timer_set(io, &alarms[i].timer, manual_us + us),
                         PHI_OK);
        }
        step_at(manual_us + 30000000);
        last_at = 0;
        (void)phi__io_timers(io, TIMERS);
        CHECK(phi__io_next_timer_us(io) > manual_us);
    }
    CHECK_EQ_INT(order_broken, 0);
    for (i = 0; i < TIMERS; i++) phi__io_timer_clear(io, &alarms[i].timer);
    CHECK(!phi__io_deadlines(io));
    teardown();
}

TEST(a_readable_descriptor_is_told_until_it_is_read) {
    char c;
    if (!setup(NULL) || !open_pairs(1)) return;
    watch_pair(0, PHI__READ);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 0);
    poke(0);
    CHECK_EQ_INT(phi__io_wait(io, -1, 10), 1);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 1);
    CHECK_EQ_INT(pairs[0].called, 2);
    CHECK_EQ_INT(pairs[0].have, PHI__READ);
    CHECK_EQ_INT(read(pairs[0].mine, &c, 1), 1);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 0);
    close_pairs(1);
    teardown();
}

TEST(reading_and_writing_are_told_apart) {
    if (!setup(NULL) || !open_pairs(1)) return;
    watch_pair(0, PHI__WRITE);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 1);
    CHECK_EQ_INT(pairs[0].have, PHI__WRITE);
    watch_pair(0, PHI__READ | PHI__WRITE);
    poke(0);
    (void)phi__io_wait(io, 0, 10);
    CHECK(pairs[0].have == (PHI__READ | PHI__WRITE) || pairs[0].have == PHI__WRITE ||
          pairs[0].have == PHI__READ);
    watch_pair(0, PHI__READ);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 1);
    CHECK_EQ_INT(pairs[0].have, PHI__READ);
    watch_pair(0, 0);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 0);
    close_pairs(1);
    teardown();
}

TEST(a_hang_up_is_told_to_a_reader) {
    if (!setup(NULL) || !open_pairs(1)) return;
    watch_pair(0, PHI__READ);
    CHECK_EQ_INT(shutdown(pairs[0].theirs, SHUT_RDWR), 0);
    CHECK_EQ_INT(phi__io_wait(io, -1, 10), 1);
    CHECK_EQ_INT(pairs[0].have, PHI__READ);
    close_pairs(1);
    teardown();
}

TEST(what_a_call_leaves_over_is_first_next_time) {
    size_t i;
    int round;
    if (!setup(NULL) || !open_pairs(PAIRS)) return;
    for (i = 0; i < PAIRS; i++) {
        watch_pair(i, PHI__READ);
        poke(i);
    }
    for (round = 0; round < 10; round++) CHECK_EQ_INT(phi__io_wait(io, 0, 20), 20);
    for (i = 0; i < PAIRS; i++) /* 200 calls: everybody had at least one turn in 400 */
        if (!CHECK(pairs[i].called <= 4)) break;
    for (round = 0; round < 10; round++) CHECK_EQ_INT(phi__io_wait(io, 0, 20), 20);
    for (i = 0; i < PAIRS; i++)
        if (!CHECK(pairs[i].called >= 1)) break;
    CHECK(phi__io_wait(io, 0, 1000) >= PAIRS);
    close_pairs(PAIRS);
    teardown();
}

TEST(a_watch_forgotten_in_a_callback_is_not_called) {
    if (!setup(NULL) || !open_pairs(2)) return;
    watch_pair(0, PHI__READ);
    watch_pair(1, PHI__READ);
    poke(0);
    poke(1);
    pairs[0].forget = &pairs[1];
    pairs[1].forget = &pairs[0];
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 1);
    CHECK_EQ_INT(pairs[0].called + pairs[1].called, 1);
    close_pairs(2);
    teardown();
}

TEST(a_watch_forgotten_between_calls_is_not_called) {
    size_t left;
    if (!setup(NULL) || !open_pairs(3)) return;
    watch_pair(0, PHI__READ);
    watch_pair(1, PHI__READ);
    poke(0);
    poke(1);
    CHECK_EQ_INT(phi__io_wait(io, 0, 1), 1);
    left = pairs[0].called == 1 ? 1 : 0; /* still in the queue */
    watch_pair(left, 0);
    watch_pair(2, PHI__READ); /* takes its place, and must not take its readiness */
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 1);
    CHECK_EQ_INT(pairs[left].called, 0);
    CHECK_EQ_INT(pairs[1 - left].called, 2);
    CHECK_EQ_INT(pairs[2].called, 0);
    close_pairs(3);
    teardown();
}

TEST(a_watch_may_forget_itself_and_move_to_another_descriptor) {
    if (!setup(NULL) || !open_pairs(2)) return;
    watch_pair(0, PHI__READ);
    poke(0);
    pairs[0].forget = &pairs[0];
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 1);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 0);
    pairs[0].forget = NULL;
    watch_pair(0, PHI__READ);
    CHECK_EQ_INT(phi__io_watch(io, &pairs[0].watch, pairs[1].mine, PHI__READ), PHI_OK);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 0);
    poke(1);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 1);
    close_pairs(2);
    teardown();
}

TEST(forgetting_after_the_descriptor_was_closed_is_harmless) {
    if (!setup(NULL) || !open_pairs(1)) return;
    watch_pair(0, PHI__READ);
    (void)close(pairs[0].mine);
    CHECK_EQ_INT(phi__io_watch(io, &pairs[0].watch, 0, 0), PHI_OK);
    CHECK_EQ_INT(phi__io_watch(io, &pairs[0].watch, 0, 0), PHI_OK);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 0);
    (void)close(pairs[0].theirs);
    teardown();
}

TEST(a_closed_descriptor_cannot_be_watched) {
#if defined(PHI__POLLER_POLL)
    test_skip("poll() finds out only when it waits");
#else
    memset(pairs, 0, sizeof pairs);
    if (!setup(NULL)) return;
    CHECK_EQ_INT(phi__io_watch(io, &pairs[0].watch, 987, PHI__READ), PHI_BAD_ARG);
    CHECK_EQ_INT(pairs[0].watch.want, 0);
    CHECK_EQ_INT(pairs[0].watch.slot, 0);
    teardown();
#endif
}

TEST(free_with_watches_and_timers_left_is_clean) {
    if (!setup(NULL) || !open_pairs(2)) return;
    reset_alarms();
    watch_pair(0, PHI__READ);
    watch_pair(1, PHI__WRITE);
    phi__io_timer_set(io, &alarms[0].timer, 1);
    teardown();
    (void)close(pairs[0].mine);
    (void)close(pairs[0].theirs);
    (void)close(pairs[1].mine);
    (void)close(pairs[1].theirs);
    phi__io_free(NULL);
}

/* ---- waiting ---- */

TEST(a_wait_ends_when_the_next_timer_is_due) {
    uint64_t before, after;
    if (!setup(NULL)) return;
    reset_alarms();
    before = phi__io_now_us(io);
    phi__io_timer_set(io, &alarms[0].timer, before + 20000);
    CHECK_EQ_INT(phi__io_wait(io, -1, 10), 0);
    after = phi__io_now_us(io);
    CHECK(after >= before + 20000);
    CHECK(after < before + 2000000);
    CHECK_EQ_INT(phi__io_timers(io, 10), 1);
    teardown();
}

TEST(a_wait_with_a_clock_that_stands_still_lasts_no_longer_than_told) {
    uint64_t before = phi__clock_us();
    if (!setup_manual()) return;
    reset_alarms();
    CHECK_EQ_INT(phi__io_wait(io, 30, 10), 0);
    phi__io_timer_set(io, &alarms[0].timer, manual_us + 3600u * 1000000u);
    CHECK_EQ_INT(phi__io_wait(io, 30, 10), 0);
    phi__io_timer_set(io, &alarms[0].timer, 1);
    CHECK_EQ_INT(phi__io_wait(io, -1, 10), 0);
    CHECK(phi__clock_us() - before >= 60000);
    CHECK(phi__clock_us() - before < 2000000);
    teardown();
}

TEST(a_wait_after_a_timer_has_fired_does_not_sleep) {
    uint64_t before = phi__clock_us();
    if (!setup(NULL)) return;
    reset_alarms();
    phi__io_timer_set(io, &alarms[0].timer, 1);
    CHECK_EQ_INT(phi__io_timers(io, 10), 1);
    CHECK_EQ_INT(phi__io_wait(io, 60000, 10), 0);
    CHECK(phi__clock_us() - before < 2000000);
    teardown();
}

static void *wake_soon(void *arg) {
    struct timespec pause;
    pause.tv_sec = 0;
    pause.tv_nsec = 20000000;
    (void)arg;
    (void)nanosleep(&pause, NULL);
    phi__io_wake(io);
    phi__io_wake(io);
    return NULL;
}

TEST(a_wake_from_another_thread_ends_a_wait) {
    pthread_t thread;
    int i;
    if (!setup(NULL)) return;
    REQUIRE(pthread_create(&thread, NULL, wake_soon, NULL) == 0);
    CHECK_EQ_INT(phi__io_wait(io, -1, 10), 0);
    (void)pthread_join(thread, NULL);
    (void)phi__io_wait(io, 0, 10);
    for (i = 0; i < 3; i++) { /* armed again each time */
        phi__io_wake(io);
        CHECK_EQ_INT(phi__io_wait(io, -1, 10), 0);
    }
    teardown();
}

TEST(a_wake_keeps_errno) {
    if (!setup(NULL)) return;
    errno = 77;
    phi__io_wake(io);
    CHECK_EQ_INT(errno, 77);
    teardown();
}

static void on_signal(int number) { (void)number; }

TEST(a_signal_ends_a_wait) {
    struct sigaction action, before;
    struct itimerval soon;
    if (!setup(NULL)) return;
    memset(&action, 0, sizeof action);
    memset(&soon, 0, sizeof soon);
    action.sa_handler = on_signal;
    CHECK(sigaction(SIGALRM, &action, &before) == 0);
    soon.it_value.tv_usec = 20000;
    CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
    CHECK_EQ_INT(phi__io_wait(io, 5000, 10), 0);
    CHECK(sigaction(SIGALRM, &before, NULL) == 0);
    teardown();
}

/* ---- the host's loop ---- */

static int host_want[1024];

static void host_watch(void *user_data, intptr_t fd, int want) {
    (void)user_data;
    if (CHECK(fd >= 0 && fd < 1024)) host_want[fd] = want;
}

static bool setup_host(void) {
    phi__io_desc desc;
    memset(&desc, 0, sizeof desc);
    memset(host_want, 0, sizeof host_want);
    desc.watch_fn = host_watch;
    return setup(&desc);
}

TEST(with_a_hosts_loop_readiness_comes_from_the_host) {
    if (!setup_host() || !open_pairs(2)) return;
    CHECK_EQ_INT(phi__io_fd(io), -1);
    watch_pair(0, PHI__READ);
    watch_pair(1, PHI__READ | PHI__WRITE);
    CHECK_EQ_INT(host_want[pairs[0].mine], PHI__READ);
    CHECK_EQ_INT(host_want[pairs[1].mine], PHI__READ | PHI__WRITE);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 0);
    phi__io_ready(io, pairs[0].mine, PHI__READ);
    phi__io_ready(io, pairs[0].mine, PHI__READ);
    phi__io_ready(io, pairs[1].mine, PHI__WRITE);
    phi__io_ready(io, 999, PHI__READ); /* unknown: ignored */
    CHECK_EQ_INT(calls, 0);            /* never inside phi_ready */
    CHECK_EQ_INT(phi__io_wait(io, 0, 1), 1);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 1);
    CHECK_EQ_INT(pairs[0].called, 1);
    CHECK_EQ_INT(pairs[1].have, PHI__WRITE);
    watch_pair(0, 0);
    CHECK_EQ_INT(host_want[pairs[0].mine], 0);
    phi__io_ready(io, pairs[0].mine, PHI__READ);
    CHECK_EQ_INT(phi__io_wait(io, 0, 10), 0);
    close_pairs(2);
    teardown();
}

TEST(with_a_hosts_loop_the_wake_is_one_of_its_descriptors) {
    int fd, wake = -1;
    if (!setup_host()) return;
    for (fd = 0; fd < 1024; fd++)
        if (host_want[fd] == PHI__READ) wake = fd;
    REQUIRE(wake >= 0);
    phi__io_wake(io);
    phi__io_ready(io, wake, PHI__READ);
    CHECK_EQ_INT(phi__io_wait(io, -1, 10), 0);
    teardown();
    CHECK_EQ_INT(host_want[wake], 0);
}

TEST(the_map_of_descriptors_survives_random_use) {
    enum { KEYS = 300 };
    uint32_t want[KEYS], state = 7;
    phi_allocator a = test_allocator();
    phi__fd_map map;
    size_t round, i;
    memset(want, 0, sizeof want);
    phi_memory_init(&memory, &a, 0);
    phi__fd_map_init(&map, &memory);
    CHECK_EQ_INT(phi__fd_map_get(&map, 5), 0);
    phi__fd_map_remove(&map, 5);
    for (round = 0; round < 50000; round++) {
        i = test_random(&state) % KEYS;
        if (test_random(&state) % 2 == 0) {
            want[i] = test_random(&state) | 1;
            CHECK(phi__fd_map_put(&map, (intptr_t)i * 4, want[i]));
        } else {
            want[i] = 0;
            phi__fd_map_remove(&map, (intptr_t)i * 4);
        }
        i = test_random(&state) % KEYS;
        if (!CHECK_EQ_INT(phi__fd_map_get(&map, (intptr_t)i * 4), want[i])) break;
    }
    phi__fd_map_free(&map);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

/* ---- starts, clocks, memory ---- */

TEST(a_step_has_so_many_starts) {
    phi__io_desc desc;
    int i, round;
    memset(&desc, 0, sizeof desc);
    if (!setup(&desc)) return;
    for (round = 0; round < 2; round++) {
        phi__io_step_begin(io);
        for (i = 0; i < 4; i++) CHECK(phi__io_may_start(io)); /* the default */
        CHECK(!phi__io_may_start(io));
    }
    teardown();
}

TEST(a_spent_step_starts_only_one) {
    phi__io_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.clock_us_fn = manual_clock;
    desc.step_budget_us = 250;
    if (!setup(&desc)) return;
    phi__io_step_begin(io);
    manual_us += 300;
    CHECK(phi__io_may_start(io));
    CHECK(!phi__io_may_start(io));
    phi__io_step_begin(io);
    manual_us += 200;
    CHECK(phi__io_may_start(io));
    CHECK(phi__io_may_start(io));
    teardown();
}

static void fill_random(void *user_data, void *out, size_t len) {
    memset(out, *(char *)user_data, len);
}

TEST(clock_and_random_are_replaceable) {
    phi__io_desc desc;
    char filler = 'z', out[3];
    memset(&desc, 0, sizeof desc);
    desc.clock_us_fn = manual_clock;
    desc.random_fn = fill_random;
    desc.user_data = &filler;
    if (!setup(&desc)) return;
    manual_us = 5000000;
    CHECK_EQ_INT(phi__io_now_us(io), 5000000);
    CHECK_EQ_INT(phi__io_wall_ms(io), 5000);
    phi__io_random(io, out, sizeof out);
    CHECK(memcmp(out, "zzz", 3) == 0);
    CHECK(phi__io_memory(io) == &memory);
    teardown();
}

TEST(the_systems_clocks_and_random_work) {
    unsigned char a[1000], b[1000];
    uint64_t before = phi__clock_us();
    struct timespec pause;
    pause.tv_sec = 0;
    pause.tv_nsec = 2000000;
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    phi__clock_random(a, sizeof a);
    phi__clock_random(b, sizeof b);
    CHECK(memcmp(a, b, sizeof a) != 0);
    CHECK(memcmp(a + 984, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16) != 0);
    (void)nanosleep(&pause, NULL);
    CHECK(phi__clock_us() >= before + 2000);
    CHECK(phi__clock_wall_ms() > 1700000000000); /* after 2023 */
    if (!setup(NULL)) return;
    CHECK(phi__io_wall_ms(io) > 1700000000000);
    CHECK(phi__io_any_fd(io) >= 0);
    teardown();
}

TEST(every_failed_allocation_is_survived) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 100; n++) {
        phi_allocator a = test_allocator();
        phi__io *one = NULL;
        reset_alarms();
        phi_memory_init(&memory, &a, 0);
        test_alloc_fail_at(n);
        if (phi__io_new(&memory, NULL, &one) == PHI_OK) {
            size_t i;
            io = one;
            if (open_pairs(20)) {
                for (i = 0; i < 20; i++) {
                    phi_status s = phi__io_watch(io, &pairs[i].watch, pairs[i].mine, PHI__READ);
                    CHECK(s == PHI_OK || s == PHI_NO_MEMORY);
                    s = phi__io_timer_set(io, &alarms[i].timer, i);
                    CHECK(s == PHI_OK || s == PHI_NO_MEMORY);
                    poke(i);
                }
                CHECK(phi__io_wait(io, 0, 100) >= 18);
                CHECK(phi__io_timers(io, 100) >= 18);
                close_pairs(20);
            }
            phi__io_free(one);
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(memory.used_bytes, 0);
    }
    CHECK(n > 4);
}

TEST_MAIN(
    TEST_ENTRY(timers_fire_once_in_order_when_due),
    TEST_ENTRY(at_most_so_many_timers_fire_in_a_call), TEST_ENTRY(a_timer_can_be_moved_and_cleared),
    TEST_ENTRY(random_sets_moves_and_clears_keep_the_order),
    TEST_ENTRY(timers_of_one_moment_fire_in_the_order_they_were_set),
    TEST_ENTRY(a_timer_that_sets_itself_for_now_fires_once_a_round),
    TEST_ENTRY(the_time_before_the_first_step_is_no_gap),
    TEST_ENTRY(a_gap_between_steps_moves_deadlines_and_no_other_timer),
    TEST_ENTRY(a_breakpoint_within_a_step_is_a_gap_before_timers_fire),
    TEST_ENTRY(a_clock_that_goes_back_ends_no_deadline),
    TEST_ENTRY(timers_and_deadlines_keep_their_order_when_a_gap_moves_some_of_them),
    TEST_ENTRY(a_readable_descriptor_is_told_until_it_is_read),
    TEST_ENTRY(reading_and_writing_are_told_apart), TEST_ENTRY(a_hang_up_is_told_to_a_reader),
    TEST_ENTRY(what_a_call_leaves_over_is_first_next_time),
    TEST_ENTRY(a_watch_forgotten_in_a_callback_is_not_called),
    TEST_ENTRY(a_watch_forgotten_between_calls_is_not_called),
    TEST_ENTRY(a_watch_may_forget_itself_and_move_to_another_descriptor),
    TEST_ENTRY(forgetting_after_the_descriptor_was_closed_is_harmless),
    TEST_ENTRY(a_closed_descriptor_cannot_be_watched),
    TEST_ENTRY(free_with_watches_and_timers_left_is_clean),
    TEST_ENTRY(a_wait_ends_when_the_next_timer_is_due),
    TEST_ENTRY(a_wait_with_a_clock_that_stands_still_lasts_no_longer_than_told),
    TEST_ENTRY(a_wait_after_a_timer_has_fired_does_not_sleep),
    TEST_ENTRY(a_wake_from_another_thread_ends_a_wait), TEST_ENTRY(a_wake_keeps_errno),
    TEST_ENTRY(a_signal_ends_a_wait), TEST_ENTRY(with_a_hosts_loop_readiness_comes_from_the_host),
    TEST_ENTRY(with_a_hosts_loop_the_wake_is_one_of_its_descriptors),
    TEST_ENTRY(the_map_of_descriptors_survives_random_use), TEST_ENTRY(a_step_has_so_many_starts),
    TEST_ENTRY(a_spent_step_starts_only_one), TEST_ENTRY(clock_and_random_are_replaceable),
    TEST_ENTRY(the_systems_clocks_and_random_work), TEST_ENTRY(every_failed_allocation_is_survived))
