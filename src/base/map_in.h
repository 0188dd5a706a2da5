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

/* 32-bit ABIs align 64 bits to 4: that is slow, and of clang a call into libatomic. */
#if defined(__GNUC__)
typedef PHI__ATOMIC(uint64_t) phi__slot_word __attribute__((aligned(8)));
#else
typedef PHI__ATOMIC(uint64_t) phi__slot_word;
#endif

typedef struct phi__slot {
    phi__slot_word word;
    void *object;
    uint32_t index, next_free; /* next_free: index + 1 of the next free slot, 0: none */
} phi__slot;

enum { PHI__SLOT_PAGES = 22, PHI__SLOT_FIRST_PAGE = 64 };

typedef struct phi__slots {
    phi_memory *memory;
    phi__slot *pages[PHI__SLOT_PAGES];
    PHI__ATOMIC(uint32_t) count; /* slots that exist */
    uint32_t first_free;         /* index + 1 */
    uint32_t in_use;
    PHI__ATOMIC(uint32_t) marks; /* set so far */
    uint32_t marks_seen;         /* of those */
    uint32_t mark_at;            /* the group of 64 slots where the next look begins */
} phi__slots;

PHI__FN void phi__slots_init(phi__slots *slots, phi_memory *memory);
PHI__FN void phi__slots_free(phi__slots *slots);

/* A free slot, now in `state` (not 0) with a new generation; NULL: no memory. */
PHI__FN phi__slot *phi__slots_take(phi__slots *slots, uint32_t state, void *object);
PHI__FN void phi__slots_release(phi__slots *slots, phi__slot *slot);

/* The slot at an index, or NULL where none was ever made. */
PHI__FN phi__slot *phi__slots_at(const phi__slots *slots, uint32_t index);

/* The live slot of a handle, or NULL. Pumping thread. */
PHI__FN phi__slot *phi__slots_find(const phi__slots *slots, uint32_t index, uint32_t gen);

static inline uint32_t phi__slots_gen_of(uint64_t word) { return (uint32_t)(word >> 32); }

static inline uint32_t phi__slots_state_of(uint64_t word) { return (uint32_t)word; }

static inline uint64_t phi__slots_word_of(uint32_t gen, uint32_t state) {
    return (uint64_t)gen << 32 | state;
}

/* Moves a handle's slot from one state to another; false: stale, or in some other state. */
PHI__FN bool phi__slots_move(const phi__slots *slots, uint32_t index, uint32_t gen, uint32_t from,
                             uint32_t to);

/* The state of a handle's slot, 0 when stale. */
PHI__FN uint32_t phi__slots_state(const phi__slots *slots, uint32_t index, uint32_t gen);

/* Clears and sets bits of a handle's state, which must not become 0. The state before; 0: stale,
   and nothing was changed. */
PHI__FN uint32_t phi__slots_change(const phi__slots *slots, uint32_t index, uint32_t gen,
                                   uint32_t clear, uint32_t set);

/* Marks the slot at an index, for phi__slots_marked. Make the change first. */
PHI__FN void phi__slots_mark(phi__slots *slots, uint32_t index);
PHI__FN bool phi__slots_any_marked(const phi__slots *slots); /* there may be one */

/* Takes the marks of up to `most` slots (PHI__SLOTS_MARKED_LEAST or more) and gives their indexes;
   every marked slot gets its turn. A slot may have been released, and taken again, since it was
   marked. */
PHI__FN size_t phi__slots_marked(phi__slots *slots, uint32_t *out, size_t most);

#endif
