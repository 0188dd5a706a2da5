/* hashes.c - a set of hashes. */
#include "log/hashes_in.h"

static size_t phi__hashes_place(const uint64_t *at, size_t cap, uint64_t hash) {
    size_t i = (size_t)hash & (cap - 1);
    while (at[i] != 0 && at[i] != hash) i = (i + 1) & (cap - 1);
    return i;
}

PHI__FN bool phi__hashes_room(phi_memory *memory, phi__hashes *set, size_t more) {
    size_t cap = phi__max(set->cap, 16), i;
    uint64_t *at;
    while (cap / 2 < phi__add(set->count, more)) {
        if (cap > SIZE_MAX / 2) return false;
        cap *= 2;
    }
    if (cap == set->cap || more == 0) return true;
    at = (uint64_t *)phi__alloc(memory, phi__mul(cap, sizeof *at));
    if (at == NULL) return false;
    for (i = 0; i < set->cap; i++)
        if (set->at[i] != 0) at[phi__hashes_place(at, cap, set->at[i])] = set->at[i];
    phi__free(memory, set->at, set->cap * sizeof *set->at);
    set->at = at;
    set->cap = cap;
    return true;
}

static uint64_t phi__hashes_filled(uint64_t hash) { return hash != 0 ? hash : 1; }

PHI__FN bool phi__hashes_has(const phi__hashes *set, uint64_t hash) {
    hash = phi__hashes_filled(hash);
    return set->cap > 0 && set->at[phi__hashes_place(set->at, set->cap, hash)] == hash;
}

PHI__FN void phi__hashes_add(phi__hashes *set, uint64_t hash) {
    size_t i;
    hash = phi__hashes_filled(hash);
    i = phi__hashes_place(set->at, set->cap, hash);
    set->count += set->at[i] == 0;
    set->at[i] = hash;
}

PHI__FN void phi__hashes_exchange(phi__hashes *a, phi__hashes *b) {
    phi__hashes c = *a;
    *a = *b;
    *b = c;
}

PHI__FN void phi__hashes_free(phi_memory *memory, phi__hashes *set) {
    phi__free(memory, set->at, set->cap * sizeof *set->at);
    memset(set, 0, sizeof *set);
}
