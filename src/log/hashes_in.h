/* hashes_in.h - a set of hashes, which stand for ids. */
#ifndef PHI_LOG_HASHES_IN_H
#define PHI_LOG_HASHES_IN_H

#include "base/base_in.h"

/* Hashes: an open table, half empty; 0 is free. */
typedef struct phi__hashes {
    uint64_t *at;
    size_t count, cap;
} phi__hashes;

PHI__FN bool phi__hashes_room(phi_memory *memory, phi__hashes *set, size_t more);
PHI__FN bool phi__hashes_has(const phi__hashes *set, uint64_t hash);
PHI__FN void phi__hashes_add(phi__hashes *set, uint64_t hash); /* its room was made */
PHI__FN void phi__hashes_exchange(phi__hashes *a, phi__hashes *b);
PHI__FN void phi__hashes_free(phi_memory *memory, phi__hashes *set);

#endif
