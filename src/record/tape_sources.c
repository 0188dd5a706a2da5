/* tape_sources.c - the clock and the random source of a runtime that has a tape. */
#include "record/replay_in.h"

PHI__FN void phi__tape_sources_set(phi__tape *tape, uint64_t us) {
    if (us > tape->us) tape->us = us;
    if (tape->rt == NULL || !tape->rt->in_step) return;
    tape->rt->step.began_us = tape->us;
    tape->rt->step.wall_ms = (int64_t)(tape->us / 1000);
}

/* Blocks of a hash over the seed and a counter: the same on every machine. */
PHI__FN void phi__tape_sources_random(void *user_data, void *out, size_t len) {
    phi__tape *tape = (phi__tape *)user_data;
    unsigned char block[40], hash[32];
    char *to = (char *)out;
    while (len > 0) {
        size_t n = phi__min(len, sizeof hash), i;
        memcpy(block, tape->seed, 32);
        for (i = 0; i < 8; i++) block[32 + i] = (unsigned char)(tape->drawn >> (8 * i));
        tape->drawn++;
        phi__sha256_of(phi__str((const char *)block, sizeof block), hash);
        memcpy(to, hash, n);
        to += n;
        len -= n;
    }
}

static void phi__tape_sources_watch(void *user_data, intptr_t fd, int want) {
    phi__tape *tape = (phi__tape *)user_data;
    tape->sources.watch_fn(tape->sources.user_data, fd, want);
}

PHI__FN phi_status phi__tape_sources_take(phi_tape *base, const phi__tape_sources *sources) {
    phi__tape *tape = (phi__tape *)base;
    if (tape->taken) return PHI_MISUSE;
    tape->taken = true;
    tape->sources = *sources;
    base->watch_fn = sources->watch_fn != NULL ? phi__tape_sources_watch : NULL;
    return PHI_OK;
}
