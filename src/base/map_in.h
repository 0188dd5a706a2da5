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

typedef struct phi__map_slot {
    uint64_t hash;
    void *item; /* NULL: free */
} phi__map_slot;

typedef struct phi__map {
    phi_memory *memory;
    phi__map_slot *slots;
    size_t cap, count; /* cap: a power of two, or 0 */
} phi__map;

/* A hash of a text, good in its low and its high bits. A seed that differs from run to run (an
   address) keeps anyone from making texts in advance that collide. */
PHI__FN uint64_t phi__map_hash(uint64_t seed, phi_str text);

/* Takes no memory yet. */
PHI__FN void phi__map_init(phi__map *map, phi_memory *memory);
PHI__FN void phi__map_free(phi__map *map); /* as after init; twice is harmless */

/* Room for one more, or for so many in all. False: no memory, and nothing changed. */
PHI__FN bool phi__map_room(phi__map *map);
PHI__FN bool phi__map_reserve(phi__map *map, size_t count);
PHI__FN void phi__map_clear(phi__map *map); /* keeps its memory */
/* An item that is not in there, after phi__map_room. */
PHI__FN void phi__map_add(phi__map *map, uint64_t hash, void *item);
/* An entry that is in the map under this hash. */
PHI__FN void phi__map_drop(phi__map *map, uint64_t hash, const void *item);
/* The next item under a hash, *probe being 0 at first; NULL: that were all. */
PHI__FN void *phi__map_each(const phi__map *map, uint64_t hash, size_t *probe);

#endif
