/* map_in.h - a hash table with open addressing that grows.

       for (probe = 0; (item = phi__map_each(&map, hash, &probe)) != NULL;)
           if (its key is the one) return item;

   The table holds pointers and their hashes; keys, and what two of them have in common, are the
   user's affair. The hash must be good in its low bits. Room is made first (phi__map_room), so that
   adding cannot fail.
   Ownership: the table only, not the entries that it points to. */
#ifndef PHI_BASE_MAP_IN_H
#define PHI_BASE_MAP_IN_H

#include "base/base_in.h"

static inline uint64_t phi__slots_word_of(uint32_t gen, uint32_t state) {
    return (uint64_t)gen << 32 | state;
}

#endif
