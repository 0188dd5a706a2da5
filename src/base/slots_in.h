/* slots_in.h - tables behind the value handles: slots never move, and each has one atomic word.

   The word is {generation, state}. A handle is {index, generation}; it is stale when the slot's
   generation differs. State 0 is free; the owner defines the other states. Changing a state is a
   compare-and-swap, so of two threads that attempt the same change exactly one fails. Memory: pages
   of 64, 128, 256... slots, kept until the table is freed, so a stale handle is answered until
   then.
   A word can be changed and its slot marked, so that the pumping thread finds changes by other
   threads without checking all slots, and without a queue that could be full: a bit a slot, and a
   count of all marks that were ever set.
   Threads: a word's changes and marks from any thread that was given a handle; the rest on the
   pumping thread only. */
#ifndef PHI_BASE_SLOTS_IN_H
#define PHI_BASE_SLOTS_IN_H

#include "base/base_in.h"

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

enum { PHI__SLOTS_MARKED_LEAST = 64 };
/* Takes the marks of up to `most` slots (PHI__SLOTS_MARKED_LEAST or more) and gives their indexes;
   every marked slot gets its turn. A slot may have been released, and taken again, since it was
   marked. */
PHI__FN size_t phi__slots_marked(phi__slots *slots, uint32_t *out, size_t most);

#endif
