/* io.c - a heap of timers, a table of watches and a queue of the ready ones. See io_in.h.

   When the poller or the host's loop finds a descriptor ready, its entry in the table is only
   marked and linked into the queue. phi__io_wait takes entries from the front. So the next call
   begins with the descriptors that a call did not handle, and forgetting a watch removes it from
   the queue. */

#include "io/poller_in.h"
#include "io/wake_in.h"

#include <limits.h>

/* ---- a map from the host's descriptors to phi's keys ---- */

/* Gives each descriptor a different hash. The low bits differ for neighbours. */
static uint64_t phi__fd_map_hash(intptr_t fd) { return (uint64_t)fd * 0x9E3779B97F4A7C15u; }

static void *phi__fd_map_find(const phi__fd_map *map, intptr_t fd) {
    size_t probe = 0;
    return phi__map_each(&map->keys, phi__fd_map_hash(fd), &probe);
}

PHI__FN void phi__fd_map_init(phi__fd_map *map, phi_memory *memory) {
    phi__map_init(&map->keys, memory);
}

PHI__FN void phi__fd_map_free(phi__fd_map *map) { phi__map_free(&map->keys); }

PHI__FN bool phi__fd_map_put(phi__fd_map *map, intptr_t fd, uint32_t key) {
    if (!phi__map_room(&map->keys)) return false;
    phi__fd_map_remove(map, fd);
    phi__map_add(&map->keys, phi__fd_map_hash(fd), (void *)(uintptr_t)key);
    return true;
}

PHI__FN uint32_t phi__fd_map_get(const phi__fd_map *map, intptr_t fd) {
    return (uint32_t)(uintptr_t)phi__fd_map_find(map, fd);
}

PHI__FN void phi__fd_map_remove(phi__fd_map *map, intptr_t fd) {
    const void *key = phi__fd_map_find(map, fd);
    if (key != NULL) phi__map_drop(&map->keys, phi__fd_map_hash(fd), key);
}

/* ---- clock, timers, watched descriptors ---- */

#define PHI__IO_STARTS_DEFAULT 4

typedef struct phi__io_slot {
    phi__watch *watch;
    int have;            /* not 0: the entry is in the ready queue */
    uint32_t next, prev; /* links in the ready queue; `next` also links free entries */
} phi__io_slot;

struct phi__io {
    phi_memory *memory;
    phi__io_desc desc;
    phi__timer **timers; /* a binary heap, earliest first */
    size_t timer_count, timer_cap;
    phi__io_slot *slots; /* entry 0 is the head of the ready queue */
    size_t slot_count, slot_cap;
    uint32_t free_slot;  /* 0: none */
    phi__poller *poller; /* NULL with a host's loop */
    phi__fd_map fds;     /* used with a host's loop */
    phi__wake wake;
    phi__watch wake_watch;
    phi__ending endings;   /* the ring's head */
    uint64_t looked_us;    /* when the clock was last looked at */
    uint64_t gaps_us;      /* sum of the gaps until looked_us */
    size_t deadline_count; /* number of deadlines that are set for a time */
    uint32_t starts;
    uint64_t step_began_us;
    bool fired; /* a timer has fired since the last wait */
    /* number of calls of phi__io_timer_set, which orders timers of the same time */
    uint64_t timer_sets;
    uint64_t round_us; /* time of the current round while timers fire, else 0 */
};

/* ---- timers ---- */

static void phi__io_heap_put(phi__io *io, size_t i, phi__timer *timer) {
    io->timers[i] = timer;
    timer->place = i + 1;
}

static bool phi__io_before(const phi__timer *a, const phi__timer *b) {
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->order < b->order;
}

static void phi__io_heap_up(phi__io *io, size_t i, phi__timer *timer) {
    while (i > 0 && phi__io_before(timer, io->timers[(i - 1) / 2])) {
        phi__io_heap_put(io, i, io->timers[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    phi__io_heap_put(io, i, timer);
}

static void phi__io_heap_down(phi__io *io, size_t i, phi__timer *timer) {
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= io->timer_count) break;
        if (child + 1 < io->timer_count && phi__io_before(io->timers[child + 1], io->timers[child]))
            child++;
        if (!phi__io_before(io->timers[child], timer)) break;
        phi__io_heap_put(io, i, io->timers[child]);
        i = child;
    }
    phi__io_heap_put(io, i, timer);
}

static void phi__io_no_deadline(phi__io *io, phi__timer *timer) {
    if (timer->deadline) io->deadline_count--;
    timer->deadline = false;
}

PHI__FN phi_status phi__io_timer_set(phi__io *io, phi__timer *timer, uint64_t at_us) {
    phi__io_no_deadline(io, timer);
    if (at_us < io->round_us)
        at_us = io->round_us; /* so that the timer is after all timers of this round */
    bool earlier = timer->place == 0 || at_us < timer->at_us;
    if (timer->place == 0) {
        phi__timer **timers = (phi__timer **)phi__grow(io->memory, io->timers, &io->timer_cap,
                                                       io->timer_count + 1, sizeof *timers);
        if (timers == NULL) return PHI_NO_MEMORY;
        io->timers = timers;
        timer->place = ++io->timer_count;
    }
    timer->at_us = at_us;
    timer->order = ++io->timer_sets;
    if (earlier)
        phi__io_heap_up(io, timer->place - 1, timer);
    else
        phi__io_heap_down(io, timer->place - 1, timer);
    return PHI_OK;
}

PHI__FN void phi__io_timer_clear(phi__io *io, phi__timer *timer) {
    size_t i = timer->place;
    if (i == 0) return;
    phi__io_no_deadline(io, timer);
    i--;
    PHI_ASSERT(i < io->timer_count && io->timers[i] == timer);
    timer->place = 0;
    phi__timer *last = io->timers[--io->timer_count];
    if (last == timer) return;
    if (phi__io_before(last, timer))
        phi__io_heap_up(io, i, last);
    else
        phi__io_heap_down(io, i, last);
}

PHI__FN uint64_t phi__io_next_timer_us(const phi__io *io) {
    return io->timer_count == 0 ? UINT64_MAX : io->timers[0]->at_us;
}

/* ---- deadlines ---- */

PHI__FN uint64_t phi__io_gaps_us(const phi__io *io, uint64_t now_us) {
    uint64_t until = io->looked_us + (uint64_t)PHI__IO_GAP_MS * 1000;
    return io->desc.told_gaps || now_us <= until ? io->gaps_us : io->gaps_us + (now_us - until);
}

PHI__FN uint64_t phi__io_counted_us(const phi__io *io) {
    uint64_t now = phi__io_now_us(io), gaps = phi__io_gaps_us(io, now);
    return now > gaps ? now - gaps : 0; /* guards against a host's clock that goes back */
}

PHI__FN uint64_t phi__io_left_us(const phi__io *io, const phi__timer *timer, uint64_t now_us) {
    uint64_t at = timer->at_us;
    if (timer->deadline) at += phi__io_gaps_us(io, now_us) - io->gaps_us;
    return at > now_us ? at - now_us : 0;
}

PHI__FN phi_status phi__io_deadline_set(phi__io *io, phi__timer *timer, uint64_t after_us) {
    uint64_t now = phi__io_now_us(io);
    uint64_t at = UINT64_MAX;
    /* The next look at the clock moves all deadlines by the current gap, so this gap is
       subtracted. */
    if (after_us != UINT64_MAX) at = now - (phi__io_gaps_us(io, now) - io->gaps_us) + after_us;
    phi_status status = phi__io_timer_set(io, timer, at);
    if (status != PHI_OK || at == UINT64_MAX) return status;
    timer->deadline = true;
    io->deadline_count++;
    return PHI_OK;
}

PHI__FN bool phi__io_deadlines(const phi__io *io) { return io->deadline_count > 0; }

/* Sets the sum of the gaps, and moves all deadlines. It visits each timer, but only after a gap. */
PHI__FN void phi__io_gaps_set(phi__io *io, uint64_t us) {
    uint64_t more = us - io->gaps_us;
    if (us <= io->gaps_us) return;
    io->gaps_us = us;
    if (io->deadline_count == 0) return;
    for (size_t i = 0; i < io->timer_count; i++)
        if (io->timers[i]->deadline) io->timers[i]->at_us += more;
    for (size_t i = io->timer_count / 2; i-- > 0;) phi__io_heap_down(io, i, io->timers[i]);
}

/* Ends the current gap and returns the time. */
static uint64_t phi__io_look(phi__io *io) {
    uint64_t now = phi__io_now_us(io);
    phi__io_gaps_set(io, phi__io_gaps_us(io, now));
    io->looked_us = now;
    return now;
}

/* ---- firing ---- */

/* A timer that is set during a round comes after those that are due in the round, and waits for the
   next round. */
PHI__FN int phi__io_timers(phi__io *io, int most) {
    uint64_t sets = io->timer_sets, now = phi__io_look(io);
    int fired = 0;
    io->round_us = now;
    while (fired < most && io->timer_count > 0 && io->timers[0]->at_us <= io->round_us &&
           io->timers[0]->order <= sets) {
        phi__timer *timer = io->timers[0];
        phi__io_timer_clear(io, timer);
        fired++;
        timer->fire(timer);
    }
    io->round_us = 0;
    if (fired > 0) io->fired = true;
    return fired;
}

/* ---- watches ---- */

static uint32_t phi__io_slot_take(phi__io *io) {
    uint32_t i = io->free_slot;
    phi__io_slot *slots;
    if (i != 0) {
        io->free_slot = io->slots[i].next;
    } else {
        if (io->slot_count >= UINT32_MAX) return 0;
        slots = (phi__io_slot *)phi__grow(io->memory, io->slots, &io->slot_cap, io->slot_count + 1,
                                          sizeof *slots);
        if (slots == NULL) return 0;
        io->slots = slots;
        i = (uint32_t)io->slot_count++;
    }
    memset(&io->slots[i], 0, sizeof io->slots[i]);
    return i;
}

static void phi__io_queue_remove(phi__io *io, uint32_t i) {
    phi__io_slot *slot = &io->slots[i];
    if (slot->have == 0) return;
    slot->have = 0;
    io->slots[slot->prev].next = slot->next;
    io->slots[slot->next].prev = slot->prev;
}

static void phi__io_queue_add(phi__io *io, uint32_t i, int have) {
    phi__io_slot *slot = &io->slots[i];
    if (have == 0) return;
    if (slot->have == 0) {
        slot->prev = io->slots[0].prev;
        slot->next = 0;
        io->slots[slot->prev].next = i;
        io->slots[0].prev = i;
    }
    slot->have |= have;
}

static void phi__io_slot_give(phi__io *io, uint32_t i) {
    phi__io_queue_remove(io, i);
    io->slots[i].watch = NULL;
    io->slots[i].next = io->free_slot;
    io->free_slot = i;
}

/* Tells the poller or the host's loop how to watch fd. */
static phi_status phi__io_attach(phi__io *io, intptr_t fd, int was, int want, uint32_t slot) {
    if (io->poller != NULL) return phi__poller_change(io->poller, fd, was, want, slot);
    if (want == 0)
        phi__fd_map_remove(&io->fds, fd);
    else if (was == 0 && !phi__fd_map_put(&io->fds, fd, slot))
        return PHI_NO_MEMORY;
    io->desc.watch_fn(io->desc.user_data, fd, want);
    return PHI_OK;
}

static void phi__io_forget(phi__io *io, phi__watch *watch) {
    if (watch->want == 0) return;
    (void)phi__io_attach(io, watch->fd, watch->want, 0, watch->slot);
    phi__io_slot_give(io, watch->slot);
    watch->want = 0;
    watch->slot = 0;
}

PHI__FN phi_status phi__io_watch(phi__io *io, phi__watch *watch, intptr_t fd, int want) {
    if (want == 0 || watch->fd != fd) phi__io_forget(io, watch);
    if (want == watch->want) return PHI_OK;
    uint32_t slot = watch->want != 0 ? watch->slot : phi__io_slot_take(io);
    if (slot == 0) return PHI_NO_MEMORY;
    phi_status status = phi__io_attach(io, fd, watch->want, want, slot);
    if (status != PHI_OK) {
        if (watch->want == 0) phi__io_slot_give(io, slot);
        return status;
    }
    io->slots[slot].watch = watch;
    watch->fd = fd;
    watch->want = want;
    watch->slot = slot;
    return PHI_OK;
}

PHI__FN void phi__io_ready(phi__io *io, intptr_t fd, int have) {
    uint32_t slot = phi__fd_map_get(&io->fds, fd);
    if (slot != 0) phi__io_queue_add(io, slot, have & (PHI__READ | PHI__WRITE));
}

/* Polls once. True if more descriptors may be ready. */
static bool phi__io_collect(phi__io *io, int timeout_ms) {
    phi__poller_event events[PHI__POLLER_BATCH];
    if (io->poller == NULL) return false;
    int n = phi__poller_wait(io->poller, timeout_ms, events);
    for (int i = 0; i < n; i++) phi__io_queue_add(io, events[i].key, events[i].have);
    return n == PHI__POLLER_BATCH;
}

/* Calls the ready functions. They may change or free any watch, so a watch is not touched after its
   call. */
static int phi__io_dispatch(phi__io *io, int most) {
    int called = 0;
    while (called < most && io->slots[0].next != 0) {
        uint32_t i = io->slots[0].next;
        phi__watch *watch = io->slots[i].watch;
        int have = io->slots[i].have & watch->want;
        phi__io_queue_remove(io, i);
        if (have == 0) continue;
        if (watch == &io->wake_watch) {
            phi__wake_drain(&io->wake);
            continue;
        }
        called++;
        watch->ready(watch, have);
    }
    return called;
}

/* Returns how long the poller may sleep. The time is rounded up, so that the next timer is due
   afterwards. */
static int phi__io_sleep_ms(const phi__io *io, int timeout_ms) {
    if (timeout_ms == 0 || io->fired || io->slots[0].next != 0) return 0;
    uint64_t next = phi__io_next_timer_us(io);
    if (next == UINT64_MAX) return timeout_ms;
    uint64_t now = phi__io_now_us(io);
    if (next <= now) return 0;
    uint64_t ms = (next - now) / 1000 + ((next - now) % 1000 != 0);
    if (timeout_ms > 0 && ms > (uint64_t)timeout_ms) return timeout_ms;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

PHI__FN int phi__io_wait(phi__io *io, int timeout_ms, int most) {
    bool more = phi__io_collect(io, phi__io_sleep_ms(io, timeout_ms));
    int called = phi__io_dispatch(io, most);
    io->fired = false;
    while (more && called < most) {
        more = phi__io_collect(io, 0);
        called += phi__io_dispatch(io, most - called);
    }
    return called;
}

/* ---- creating, freeing, starts ---- */

PHI__FN phi_status phi__io_new(phi_memory *memory, const phi__io_desc *desc, phi__io **out) {
    phi__io *io = (phi__io *)phi__alloc(memory, sizeof *io);
    phi_status status = PHI_OK;
    if (io == NULL) return PHI_NO_MEMORY;
    io->memory = memory;
    io->endings.next = io->endings.prev = &io->endings;
    if (desc != NULL) io->desc = *desc;
    if (io->desc.max_starts_per_step == 0) io->desc.max_starts_per_step = PHI__IO_STARTS_DEFAULT;
    io->wake.read_fd = io->wake.write_fd = -1;
    phi__fd_map_init(&io->fds, memory);
    (void)phi__io_slot_take(io); /* entry 0, the queue's head */
    if (io->slot_count == 0) status = PHI_NO_MEMORY;
    if (status == PHI_OK && io->desc.watch_fn == NULL)
        status = phi__poller_new(memory, &io->poller);
    if (status == PHI_OK) status = phi__wake_open(&io->wake);
    if (status == PHI_OK) status = phi__io_watch(io, &io->wake_watch, io->wake.read_fd, PHI__READ);
    if (status != PHI_OK) {
        phi__io_free(io);
        return status;
    }
    io->step_began_us = io->looked_us = phi__io_now_us(io);
    *out = io;
    return PHI_OK;
}

PHI__FN void phi__io_ending_add(phi__io *io, phi__ending *ending) {
    ending->prev = &io->endings;
    ending->next = io->endings.next;
    ending->next->prev = ending;
    io->endings.next = ending;
}

PHI__FN void phi__io_ending_remove(phi__io *io, phi__ending *ending) {
    (void)io;
    if (ending->next == NULL) return;
    ending->prev->next = ending->next;
    ending->next->prev = ending->prev;
    ending->next = ending->prev = NULL;
}

PHI__FN bool phi__io_pending(const phi__io *io) { return io->endings.next != &io->endings; }

PHI__FN void phi__io_free(phi__io *io) {
    if (io == NULL) return;
    while (io->endings.next != &io->endings) {
        phi__ending *ending = io->endings.next;
        phi__io_ending_remove(io, ending);
        ending->end(ending);
    }
    phi__io_forget(io, &io->wake_watch);
    phi__wake_close(&io->wake);
    phi__poller_free(io->poller);
    phi__fd_map_free(&io->fds);
    phi__free(io->memory, io->timers, io->timer_cap * sizeof(phi__timer *));
    phi__free(io->memory, io->slots, io->slot_cap * sizeof *io->slots);
    phi__free(io->memory, io, sizeof *io);
}

PHI__FN uint64_t phi__io_now_us(const phi__io *io) {
    return io->desc.clock_us_fn != NULL ? io->desc.clock_us_fn(io->desc.user_data)
                                        : phi__clock_us();
}

PHI__FN int64_t phi__io_wall_ms(const phi__io *io) {
    return io->desc.clock_us_fn != NULL ? (int64_t)(io->desc.clock_us_fn(io->desc.user_data) / 1000)
                                        : phi__clock_wall_ms();
}

PHI__FN void phi__io_random(phi__io *io, void *out, size_t len) {
    if (io->desc.random_fn != NULL)
        io->desc.random_fn(io->desc.user_data, out, len);
    else
        phi__clock_random(out, len);
}

#if defined(PHI__OS_WINDOWS)
PHI__FN phi__poller *phi__io_poller(const phi__io *io) { return io->poller; }
#endif

PHI__FN intptr_t phi__io_fd(const phi__io *io) {
    return io->poller != NULL ? phi__poller_fd(io->poller) : -1;
}

PHI__FN bool phi__io_own(const phi__io *io) { return phi__wake_own(&io->wake); }

PHI__FN intptr_t phi__io_any_fd(const phi__io *io) { return io->wake.read_fd; }

PHI__FN void phi__io_wake(phi__io *io) { phi__wake_signal(&io->wake); }

PHI__FN void phi__io_step_begin(phi__io *io) {
    io->starts = 0;
    io->step_began_us = phi__io_look(io);
}

/* The first start of a step is always allowed. Otherwise a busy host would never start anything. */
PHI__FN bool phi__io_start_left(const phi__io *io) {
    if (io->starts >= io->desc.max_starts_per_step) return false;
    return io->starts == 0 || io->desc.step_budget_us == 0 ||
           phi__io_now_us(io) - io->step_began_us < io->desc.step_budget_us;
}

PHI__FN bool phi__io_may_start(phi__io *io) {
    if (!phi__io_start_left(io)) return false;
    io->starts++;
    return true;
}

PHI__FN phi_memory *phi__io_memory(phi__io *io) { return io->memory; }

/* ---- a step's budget: a third of the time is reserved for finishing work ---- */

static uint64_t phi__slice_now_us(const phi__slice *slice) {
    return slice->work_us_fn != NULL ? slice->work_us_fn(slice->user_data)
                                     : phi__io_now_us(slice->io);
}

PHI__FN void phi__slice_begin(phi__slice *slice) {
    slice->until_us = phi__slice_now_us(slice) + slice->budget_us - slice->budget_us / 3;
    slice->bytes_left = slice->budget_bytes;
}

PHI__FN void phi__slice_took(phi__slice *slice, size_t bytes) {
    slice->bytes_left -= phi__min(slice->bytes_left, bytes);
}

PHI__FN bool phi__slice_spent(const phi__slice *slice) {
    return slice->bytes_left == 0 || phi__slice_now_us(slice) >= slice->until_us;
}

PHI__FN bool phi__slice_io_spent(const phi__slice *slice) {
    return phi__slice_now_us(slice) >= slice->until_us - slice->budget_us / 6;
}
