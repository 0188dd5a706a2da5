/* pump.c - runs a step in this order: the inbox, cancels and timers, I/O, polled tools, and
   runs. */
#include "loop/inner_in.h"

#include <limits.h>

enum {
    PHI__PUMP_READY_BATCH = 16, /* descriptors handled between two clock readings */
    PHI__PUMP_TIMERS_PER_STEP = 256,
    PHI__PUMP_POLL_MS = 10 /* maximum sleep while tools must be polled */
};

PHI__FN void phi__pump_init(phi_runtime *rt) {
    phi__slots_init(&rt->agents, &rt->memory);
    phi__slots_init(&rt->calls, &rt->memory);
    phi__slots_init(&rt->transfers, &rt->memory);
    phi__slots_init(&rt->tickets, &rt->memory);
    phi__slots_init(&rt->responses, &rt->memory);
    phi__session_init(&rt->sessions, &rt->memory);
    rt->events.memory = &rt->memory;
}

PHI__FN void phi__pump_free(phi_runtime *rt) {
    phi__events_free(&rt->events);
    phi__slots_free(&rt->agents);
    phi__slots_free(&rt->calls);
    phi__slots_free(&rt->transfers);
    phi__slots_free(&rt->tickets);
    phi__slots_free(&rt->responses);
    phi__session_free_all(&rt->sessions);
}

static bool phi__pump_has_work(phi_runtime *rt) {
    return rt->ready.first != NULL || rt->fetches.ready.first != NULL || rt->polls.busy ||
           rt->events.queued.first != NULL || rt->grown.of[PHI__DIRTY_GREW].first != NULL ||
           phi__posts_any(rt);
}

/* Limits a sleep (-1: forever) to a second while there are deadlines or an active run, because a
   longer sleep would be treated as a gap in the counted time. */
static int phi__pump_sleep_ms(const phi_runtime *rt, int timeout_ms) {
    int most = -1;
    if (rt->polls.count > 0 || rt->polled.first != NULL)
        most = PHI__PUMP_POLL_MS;
    else if (phi__io_deadlines(rt->io) || rt->active > 0)
        most = PHI__IO_GAP_MS;
    return most >= 0 && (timeout_ms < 0 || timeout_ms > most) ? most : timeout_ms;
}

/* Returns how long this step may sleep. 0 if there is work already. */
static int phi__pump_timeout(phi_runtime *rt, int timeout_ms) {
    if (timeout_ms == 0 || phi__pump_has_work(rt)) return 0;
    return phi__pump_sleep_ms(rt, timeout_ms);
}

static void phi__pump_budget(phi_runtime *rt) {
    rt->step.began_us = phi__io_now_us(rt->io);
    rt->step.wall_ms = phi__io_wall_ms(rt->io);
    phi__slice_begin(&rt->slice);
}

/* Handles descriptors, for at most half of the slice, so that runs get their share. The poller
   continues in the next step. */
static void phi__pump_io(phi_runtime *rt, int wait) {
    int done = phi__io_wait(rt->io, wait, PHI__PUMP_READY_BATCH);
    if (wait != 0) { /* the sleep is not part of the slice */
        phi__pump_budget(rt);
        phi__io_step_begin(rt->io);
    }
    while (done >= PHI__PUMP_READY_BATCH && !phi__slice_io_spent(&rt->slice))
        done = phi__io_wait(rt->io, 0, PHI__PUMP_READY_BATCH);
}

static void phi__pump_transport(phi_runtime *rt) {
    if (rt->transport->pump != NULL) rt->transport->pump(rt->transport->user_data);
}

/* Polls tools and in-process models, and delivers fetches. */
static void phi__pump_poll(phi_runtime *rt) {
    rt->step.round++;
    phi__call_poll_all(rt);
    for (phi__link *link = rt->polled.first; link != NULL; link = link->next)
        /* the woken run polls its model */
        phi__schedule_wake(PHI__OWNER(link, phi__run, hosted.link));
    if (rt->fetches.ready.first != NULL) phi__fetch_pump(rt);
}

/* Fires all timers that are due. Timers of tools do not exist when the tape is played. */
static void phi__pump_taped_timers(phi_runtime *rt) {
    if (phi__io_next_timer_us(rt->io) > phi__io_now_us(rt->io)) return;
    rt->tape->recorder->fires(rt->tape);
    (void)phi__io_timers(rt->io, INT_MAX);
}

static void phi__pump_taped_posts(phi_runtime *rt) {
    if (!phi__posts_any(rt)) return;
    if (!rt->tape->plays) rt->tape->recorder->posting(rt->tape);
    phi__posts_read_all(rt);
    rt->tape->ops->posted(rt->tape);
}

static void phi__pump_record(phi_runtime *rt, int wait) {
    phi__pump_taped_timers(rt);
    phi__pump_transport(rt);
    if (rt->ready.first != NULL) wait = 0;
    phi__pump_io(rt, wait);
    if (wait == 0) return;
    rt->tape->recorder->woken(rt->tape);
    phi__pump_budget(rt);
    phi__io_step_begin(rt->io);
    phi__pump_taped_posts(rt);
    phi__pump_taped_timers(rt);
}

/* Like phi__pump, in the order of phi__tape_ops (loop/state_in.h). */
static void phi__pump_taped(phi_runtime *rt, int timeout_ms) {
    const phi__tape_ops *ops = rt->tape->ops;
    int wait = phi__pump_timeout(rt, timeout_ms);
    ops->begin(rt->tape);
    phi__pump_budget(rt);
    phi__io_step_begin(rt->io);
    phi__pump_taped_posts(rt);
    if (rt->tape->plays) {
        rt->tape->player->rest(rt->tape);
        phi__pump_io(rt, 0); /* for tools that run again when a tape is played */
    } else
        phi__pump_record(rt, wait);
    phi__pump_poll(rt);
    ops->let_in(rt->tape);
    phi__pump_budget(rt);
    phi__turn_advance_all(rt);
    phi__pump_transport(rt);
}

PHI__FN void phi__pump(phi_runtime *rt, int timeout_ms) {
    phi__events_release(rt, timeout_ms != 0); /* a step that may sleep has time to free all */
    if (rt->grown.of[PHI__DIRTY_LEAVES].first != NULL) phi__stored_evict(rt);
    if (rt->pressed.first != NULL) phi__forget_step(rt);
    if (rt->tape != NULL)
        phi__pump_taped(rt, timeout_ms);
    else {
        int wait = phi__pump_timeout(rt, timeout_ms);
        phi__pump_budget(rt);
        phi__io_step_begin(rt->io);
        phi__posts_read(rt);
        (void)phi__io_timers(rt->io, PHI__PUMP_TIMERS_PER_STEP);
        phi__pump_transport(rt);
        if (rt->ready.first != NULL) wait = 0;
        phi__pump_io(rt, wait);
        if (wait != 0) { /* handle the cause of the wake-up in the same step */
            phi__posts_read(rt);
            (void)phi__io_timers(rt->io, PHI__PUMP_TIMERS_PER_STEP);
        }
        phi__pump_poll(rt);
        if (rt->ready.first != NULL) phi__turn_advance_all(rt);
        phi__pump_transport(rt); /* sends requests that the runs have just opened */
    }
    if (rt->grown.of[PHI__DIRTY_GREW].first != NULL) phi__stored_step(rt);
}

PHI__FN int phi__pump_next(const phi_runtime *rt) {
    if (rt->snapshots.saving != NULL || rt->snapshots.loading != NULL || rt->ready.first != NULL ||
        rt->polls.busy || rt->fetches.ready.first != NULL ||
        rt->grown.of[PHI__DIRTY_GREW].first != NULL || rt->events.popped.first != rt->events.kept ||
        PHI__LOAD(&rt->inbox.tail) != rt->inbox.head || phi__slots_any_marked(&rt->agents) ||
        phi__slots_any_marked(&rt->tickets))
        return 0;
    if (rt->tape != NULL && rt->tape->plays) return rt->active > 0 ? 0 : -1;
    uint64_t next = phi__io_next_timer_us(rt->io);
    uint64_t now = phi__schedule_look_us(rt);
    if (next == UINT64_MAX) return phi__pump_sleep_ms(rt, -1);
    uint64_t ms = next > now ? (next - now + 999) / 1000 : 0;
    return phi__pump_sleep_ms(rt, ms > (uint64_t)INT_MAX ? INT_MAX : (int)ms);
}
