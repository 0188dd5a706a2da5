/* limits.c - whether a run has had enough; the texts are part of the log. */
#include "loop/loop_in.h"

#include <stdio.h>

PHI__FN bool phi__limit_leaves(const phi__run *run, uint32_t delay_ms) {
    uint64_t now_us = phi__io_now_us(run->agent->rt->io);
    if (run->limits.max_duration_ms == PHI_UNLIMITED || run->limits.pause) return true;
    return (now_us - run->started_us) / 1000 + delay_ms < run->limits.max_duration_ms;
}

PHI__FN bool phi__limit_reached(phi__run *run, char *reason, size_t size) {
    const phi_limits *limits = &run->limits;
    uint64_t tokens = phi__charge_of(run)->usage.input + phi__charge_of(run)->usage.output;
    uint64_t now_us = phi__io_now_us(run->agent->rt->io);
    double seconds = (double)(now_us - run->started_us) / 1e6;
    phi__pause_of(run, phi__agent_handle(run->agent));
    if (limits->max_turns != PHI_UNLIMITED && run->turn.index >= limits->max_turns) {
        (void)snprintf(reason, size, "Max turns reached (%u/%u)", (unsigned)run->turn.index,
                       (unsigned)limits->max_turns);
        return true;
    }
    if (limits->max_tokens != UINT64_MAX && tokens >= limits->max_tokens) {
        (void)snprintf(reason, size, "Max tokens reached (%llu/%llu)", (unsigned long long)tokens,
                       (unsigned long long)limits->max_tokens);
        return true;
    }
    if (limits->max_duration_ms != PHI_UNLIMITED &&
        seconds * 1000.0 >= (double)limits->max_duration_ms) {
        (void)snprintf(reason, size, "Max duration reached (%.0fs/%.0fs)", seconds,
                       (double)limits->max_duration_ms / 1000.0);
        return true;
    }
    if (limits->max_cost > 0 && phi__charge_of(run)->cost >= limits->max_cost) {
        (void)snprintf(reason, size, "Max cost reached ($%.4f/$%.4f)", phi__charge_of(run)->cost,
                       limits->max_cost);
        return true;
    }
    return false;
}
