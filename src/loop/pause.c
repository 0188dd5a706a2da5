/* pause.c - runs that wait at a limit or a budget: for more of it, or until they have waited long
   enough. */
#include "loop/pause_in.h"

#include "loop/loop_in.h"

PHI__FN void phi__pause_init(phi__run *run) {
    phi__buf_init(&run->pause.reason, &run->agent->memory);
}

PHI__FN void phi__pause_free(phi__run *run) { phi__buf_free(&run->pause.reason); }

PHI__FN void phi__pause_of(phi__run *run, phi_agent payer) { run->pause.payer = payer; }

PHI__FN bool phi__pause_on(const phi__run *run) { return run->pause.on; }

PHI__FN bool phi__pause_over(const phi__run *run) { return run->pause.over; }

static void phi__pause_timer(phi__timer *timer) {
    phi__run *run = PHI__OWNER(timer, phi__run, timer);
    run->pause.over = true;
    phi__run_wake(run);
}

PHI__FN bool phi__pause_begin(phi__run *run, const char *reason, uint64_t at_us) {
    phi_runtime *rt = run->agent->rt;
    run->pause.on = true;
    run->pause.prev = NULL;
    run->pause.next = rt->paused;
    if (rt->paused != NULL) rt->paused->pause.prev = run;
    rt->paused = run;
    phi__buf_clear(&run->pause.reason);
    phi__buf_text(&run->pause.reason, reason);
    run->timer.fire = phi__pause_timer;
    return !run->pause.reason.failed && phi__io_timer_set(rt->io, &run->timer, at_us) == PHI_OK;
}

PHI__FN void phi__pause_end(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    if (!run->pause.on) return;
    run->pause.on = run->pause.over = false;
    phi__io_timer_clear(rt->io, &run->timer);
    if (run->pause.prev != NULL)
        run->pause.prev->pause.next = run->pause.next;
    else
        rt->paused = run->pause.next;
    if (run->pause.next != NULL) run->pause.next->pause.prev = run->pause.prev;
}

PHI__FN void phi__pause_show(const phi__run *run, phi_pending_item *item) {
    item->text = phi__buf_str(&run->pause.reason);
    item->payer = run->pause.payer;
}

PHI__FN void phi__pause_wake_all(phi_runtime *rt) {
    phi__run *run;
    for (run = rt->paused; run != NULL; run = run->pause.next) phi__run_wake(run);
}
