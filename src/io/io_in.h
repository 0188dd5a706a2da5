/* io_in.h - the pump's system side: clock, random bytes, timers, watched descriptors, a step's time
   budget.

   One phi__io belongs to one runtime. Nothing in it waits, except phi__io_wait when asked to.
   Threads: the pumping thread only, but for phi__io_wake. */
#ifndef PHI_IO_IO_IN_H
#define PHI_IO_IO_IN_H

#include "base/base_in.h"

typedef struct phi__io phi__io;

/* Replaceable sources; a NULL function means the system's (monotonic clock, kernel random). */
typedef struct phi__io_desc {
    uint64_t (*clock_us_fn)(void *user_data);
    void (*random_fn)(void *user_data, void *out, size_t len);
    /* The host's loop instead of a poller of ours; want 0 forgets fd. NULL: our own poller. */
    void (*watch_fn)(void *user_data, intptr_t fd, int want);
    void *user_data;
    uint32_t max_starts_per_step; /* default 4 */
    uint32_t step_budget_us;      /* spent: no further start in the step but the first (0: none) */
    bool told_gaps; /* gaps come by phi__io_gaps_set: those of a tape that is played */
} phi__io_desc;

/* A timer; lives in its owner, zeroed at first. Fires once, in phi__io_timers, with place 0. Timers
   of one moment fire in the order in which they were set. A timer set while timers fire, for now or
   before, fires in the next phi__io_timers. */
typedef struct phi__timer {
    uint64_t at_us;
    uint64_t order; /* which phi__io_timer_set it was */
    size_t place;   /* in the heap, from 1; 0: not set */
    void (*fire)(struct phi__timer *timer);
    bool deadline; /* set by phi__io_deadline_set: a gap moves it */
} phi__timer;

enum { PHI__READ = 1, PHI__WRITE = 2 }; /* equal to PHI_WATCH_READ and PHI_WATCH_WRITE */

/* A watched descriptor; lives in its owner, zeroed at first. `ready` may change, forget or free any
   watch, this one too. Level-triggered, and now and then without cause: descriptors are to be
   non-blocking. Forget it before its descriptor is closed. */
typedef struct phi__watch {
    intptr_t fd;
    int want;      /* 0: not watched */
    uint32_t slot; /* the poller's */
    void (*ready)(struct phi__watch *watch, int have);
} phi__watch;

PHI__FN phi_status phi__io_new(phi_memory *memory, const phi__io_desc *desc, phi__io **out);
PHI__FN void phi__io_free(phi__io *io); /* NULL is harmless; timers and watches need not be gone */
PHI__FN uint64_t phi__io_now_us(const phi__io *io); /* from the replaceable clock, read each time */

/* Unix time for timestamps: wall clock, or clock_us_fn / 1000 when that is given */
PHI__FN int64_t phi__io_wall_ms(const phi__io *io);
PHI__FN void phi__io_random(phi__io *io, void *out, size_t len);

/* Sets or moves a timer (absolute; UINT64_MAX: never, but its place is kept); NO_MEMORY only when
   not set before. */
PHI__FN phi_status phi__io_timer_set(phi__io *io, phi__timer *timer, uint64_t at_us);
PHI__FN void phi__io_timer_clear(phi__io *io, phi__timer *timer); /* unset is harmless */
PHI__FN uint64_t phi__io_next_timer_us(const phi__io *io);        /* UINT64_MAX: none */

/* Deadlines count the clock without its gaps. phi__io_step_begin and phi__io_timers look at the
   clock. The time between two looks counts for at most a second; the rest is a gap: a debugger, a
   minimised window, a suspended laptop. A deadline is a timer that each gap moves. For a moment
   without a timer, keep phi__io_counted_us and compare it later. */
#define PHI__IO_GAP_MS 1000

/* Sets or moves a deadline, `after_us` of counted time from now (UINT64_MAX: never, as above). */
PHI__FN phi_status phi__io_deadline_set(phi__io *io, phi__timer *timer, uint64_t after_us);
PHI__FN bool phi__io_deadlines(const phi__io *io); /* one is set, and not for never */

/* How long until a timer is due, at now_us of the clock; it is set. */
PHI__FN uint64_t phi__io_left_us(const phi__io *io, const phi__timer *timer, uint64_t now_us);
PHI__FN uint64_t phi__io_counted_us(const phi__io *io); /* the clock without its gaps */

/* All gaps until now_us of the clock, the one under way too. */
PHI__FN uint64_t phi__io_gaps_us(const phi__io *io, uint64_t now_us);
PHI__FN void phi__io_gaps_set(phi__io *io, uint64_t us); /* told_gaps; less than before: ignored */

/* Watches fd for `want` (0 forgets it; always safe to forget). */
PHI__FN phi_status phi__io_watch(phi__io *io, phi__watch *watch, intptr_t fd, int want);

/* One turn of the pump: waits up to timeout_ms (0: not at all, <0: until woken) for a descriptor,
   the wake-up or the next timer, then calls at most `most` ready functions; the next call continues
   where it stopped. Returns how many were called. A signal ends the wait early. It does not wait
   with a host's loop, nor when phi__io_timers has fired a timer since the last call: the caller may
   be waiting for the effect of that timer. A message posted before a wake that this call swallowed
   is visible when it returns: check the inbox again before sleeping on phi__io_fd. */
PHI__FN int phi__io_wait(phi__io *io, int timeout_ms, int most);
PHI__FN int phi__io_timers(phi__io *io, int most); /* fires the due timers; returns how many */

/* The host's loop says fd is ready (watch_fn); unknown descriptors are ignored. */
PHI__FN void phi__io_ready(phi__io *io, intptr_t fd, int have);
PHI__FN intptr_t phi__io_fd(const phi__io *io);     /* for a host to sleep on, or -1 */
PHI__FN bool phi__io_own(const phi__io *io);        /* false in a child of fork */
PHI__FN intptr_t phi__io_any_fd(const phi__io *io); /* an open one, to try a dup of */
PHI__FN void phi__io_wake(phi__io *io);             /* ends a wait; any thread, async-signal-safe */

/* Something phi__io_free must end: it calls `end` once for each that is still in the list, newest
   first, before anything of the io's own is gone. Lives in its owner, zeroed at first. (Children
   that were killed and forgotten but not yet reaped.) */
typedef struct phi__ending {
    struct phi__ending *next, *prev;         /* a ring through the io's own; NULL: not in it */
    void (*end)(struct phi__ending *ending); /* it is out of the list by then */
} phi__ending;

PHI__FN void phi__io_ending_add(phi__io *io, phi__ending *ending);
PHI__FN void phi__io_ending_remove(phi__io *io, phi__ending *ending); /* not in it: harmless */
PHI__FN bool phi__io_pending(const phi__io *io); /* any is in it; a few more turns may end it */

/* Admission: starting a transfer or a process is work. phi__io_may_start takes one of this step's
   starts; phi__io_start_left only says whether one is left. */
PHI__FN void phi__io_step_begin(phi__io *io); /* also after the step has slept: it ends a gap */
PHI__FN bool phi__io_may_start(phi__io *io);
PHI__FN bool phi__io_start_left(const phi__io *io);
PHI__FN phi_memory *phi__io_memory(phi__io *io);

typedef struct phi__slice {
    const phi__io *io;
    uint64_t (*work_us_fn)(void *user_data); /* a clock of its own; NULL: that of io */
    void *user_data;
    uint32_t budget_us, budget_bytes;
    uint64_t until_us;
    size_t bytes_left;
} phi__slice;

PHI__FN void phi__slice_begin(phi__slice *slice); /* the budget, anew */
PHI__FN void phi__slice_took(phi__slice *slice, size_t bytes);
PHI__FN bool phi__slice_spent(const phi__slice *slice);

/* The part of the time that is for descriptors is over: the rest is for the runs. */
PHI__FN bool phi__slice_io_spent(const phi__slice *slice);

#endif
