/* map.c - hash tables with open addressing and linear probing. At most three quarters of the slots
   are in use, so searches are short. Also the tables of handles. */
#include "base/base_in.h"

enum { PHI__MAP_FIRST = 16 }; /* slots in the first table */

static inline uint64_t phi__map_mix(uint64_t hash, const char *at, size_t bytes) {
    uint64_t word = 0;
    memcpy(&word, at, bytes);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

PHI__FN uint64_t phi__map_hash(uint64_t seed, phi_str text) {
    uint64_t hash = seed ^ (uint64_t)text.len;
    const char *at = text.at;
    size_t left = text.len;
    for (; left > 8; left -= 8, at += 8) hash = phi__map_mix(hash, at, 8);
    if (left >= 4) { /* the two words overlap if less than 8 bytes are left */
        hash = phi__map_mix(hash, at, 4);
        hash = phi__map_mix(hash, at + left - 4, 4);
    } else
        for (; left > 0; left--, at++) hash = phi__map_mix(hash, at, 1);
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

PHI__FN void phi__map_init(phi__map *map, phi_memory *memory) {
    memset(map, 0, sizeof *map);
    map->memory = memory;
}

PHI__FN void phi__map_free(phi__map *map) {
    phi__free(map->memory, map->slots, map->cap * sizeof *map->slots);
    phi__map_init(map, map->memory);
}

PHI__FN void phi__map_add(phi__map *map, uint64_t hash, void *item) {
    size_t mask = map->cap - 1, i = (size_t)hash & mask;
    while (map->slots[i].item != NULL) i = (i + 1) & mask;
    map->slots[i].hash = hash;
    map->slots[i].item = item;
    map->count++;
}

PHI__FN bool phi__map_reserve(phi__map *map, size_t count) {
    phi__map grown;
    if (count <= map->cap / 4 * 3) return true;
    phi__map_init(&grown, map->memory);
    grown.cap = phi__max(map->cap, PHI__MAP_FIRST);
    while (grown.cap / 4 * 3 < count && grown.cap < SIZE_MAX / 2) grown.cap *= 2;
    grown.slots =
        (phi__map_slot *)phi__alloc(map->memory, phi__mul(grown.cap, sizeof *grown.slots));
    if (grown.slots == NULL) return false;
    for (size_t i = 0; i < map->cap; i++)
        if (map->slots[i].item != NULL)
            phi__map_add(&grown, map->slots[i].hash, map->slots[i].item);
    phi__map_free(map);
    *map = grown;
    return true;
}

PHI__FN bool phi__map_room(phi__map *map) { return phi__map_reserve(map, map->count + 1); }

PHI__FN void phi__map_clear(phi__map *map) {
    if (map->cap > 0) memset(map->slots, 0, map->cap * sizeof *map->slots);
    map->count = 0;
}

PHI__FN void *phi__map_each(const phi__map *map, uint64_t hash, size_t *probe) {
    size_t mask = map->cap - 1;
    if (map->cap == 0) return NULL;
    for (;;) {
        const phi__map_slot *slot = &map->slots[((size_t)hash + (*probe)++) & mask];
        if (slot->item == NULL || slot->hash == hash) return slot->item;
    }
}

/* Moves each following item into the gap, unless the gap is before the item's own place. */
PHI__FN void phi__map_drop(phi__map *map, uint64_t hash, const void *item) {
    size_t mask = map->cap - 1, gap = (size_t)hash & mask;
    while (map->slots[gap].item != item) gap = (gap + 1) & mask;
    for (size_t i = (gap + 1) & mask; map->slots[i].item != NULL; i = (i + 1) & mask) {
        size_t home = (size_t)map->slots[i].hash & mask;
        if (((i - home) & mask) < ((i - gap) & mask)) continue;
        map->slots[gap] = map->slots[i];
        gap = i;
    }
    map->slots[gap].item = NULL;
    map->count--;
}

/* ---- tables of handles: slots never move, and each slot has one atomic word ----

   The word is {generation, state}. A handle is {index, generation}, and is stale if the slot's
   generation differs. State 0 means free; the owner defines the other states. A state is changed by
   a compare-and-swap, so if two threads attempt the same change, exactly one fails. Memory: pages
   of 64, 128, 256... slots, kept until the table is freed, so stale handles are recognized until
   then. A thread can change a slot's word and then mark the slot. So the pumping thread finds
   changes by other threads without checking all slots, and without a queue that could be full.
   There is one bit for each slot, and a count of all marks ever set. Threads: any thread that has a
   handle may change the word and mark the slot; the rest only on the pumping thread. */

enum { PHI__SLOTS_MARKED_LEAST = 64 };

PHI__FN void phi__slots_init(phi__slots *slots, phi_memory *memory) {
    memset(slots, 0, sizeof *slots);
    slots->memory = memory;
}

static size_t phi__slots_page_len(uint32_t page) { return (size_t)PHI__SLOT_FIRST_PAGE << page; }

/* Returns the size of a page, which has its slots and then one bit for each slot. */
static size_t phi__slots_page_bytes(uint32_t page) {
    size_t n = phi__slots_page_len(page);
    return n * sizeof(phi__slot) + n / 64 * sizeof(phi__slot_word);
}

/* Returns the mark bits of a group of 64 slots. `group` is index / 64 of an existing slot. */
static phi__slot_word *phi__slots_bits(const phi__slots *slots, uint32_t group) {
    uint32_t page = 0;
    while (group >= phi__slots_page_len(page) / 64)
        group -= (uint32_t)(phi__slots_page_len(page++) / 64);
    return (phi__slot_word *)(void *)(slots->pages[page] + phi__slots_page_len(page)) + group;
}

PHI__FN void phi__slots_free(phi__slots *slots) {
    for (uint32_t page = 0; page < PHI__SLOT_PAGES; page++)
        phi__free(slots->memory, slots->pages[page], phi__slots_page_bytes(page));
    phi__slots_init(slots, slots->memory);
}

PHI__FN phi__slot *phi__slots_at(const phi__slots *slots, uint32_t index) {
    uint32_t page = 0, rest = index;
    if (index >= PHI__LOAD(&slots->count)) return NULL;
    while (rest >= phi__slots_page_len(page)) rest -= (uint32_t)phi__slots_page_len(page++);
    return &slots->pages[page][rest];
}

static bool phi__slots_more(phi__slots *slots) {
    uint32_t page = 0, base = 0;
    while (page < PHI__SLOT_PAGES && slots->pages[page] != NULL)
        base += (uint32_t)phi__slots_page_len(page++);
    if (page == PHI__SLOT_PAGES) return false;
    uint32_t n = (uint32_t)phi__slots_page_len(page);
    phi__slot *made = (phi__slot *)phi__alloc(slots->memory, phi__slots_page_bytes(page));
    if (made == NULL) return false;
    for (uint32_t i = 0; i < n; i++) {
        made[i].index = base + i;
        made[i].next_free = i + 1 < n ? base + i + 2 : 0;
    }
    slots->pages[page] = made;
    slots->first_free = base + 1;
    PHI__STORE(&slots->count, base + n); /* publishes the page */
    return true;
}

PHI__FN phi__slot *phi__slots_take(phi__slots *slots, uint32_t state, void *object) {
    PHI_ASSERT(state != 0);
    if (slots->first_free == 0 && !phi__slots_more(slots)) return NULL;
    phi__slot *slot = phi__slots_at(slots, slots->first_free - 1);
    slots->first_free = slot->next_free;
    slots->in_use++;
    slot->object = object;
    uint32_t gen = phi__slots_gen_of(PHI__LOAD(&slot->word)) + 1;
    if (gen == 0) gen = 1; /* generation 0 is never live, so a zeroed handle is stale */
    PHI__STORE(&slot->word, phi__slots_word_of(gen, state));
    return slot;
}

PHI__FN void phi__slots_release(phi__slots *slots, phi__slot *slot) {
    PHI__STORE(&slot->word, phi__slots_word_of(phi__slots_gen_of(PHI__LOAD(&slot->word)), 0));
    slot->object = NULL;
    slot->next_free = slots->first_free;
    slots->first_free = slot->index + 1;
    slots->in_use--;
}

PHI__FN uint32_t phi__slots_state(const phi__slots *slots, uint32_t index, uint32_t gen) {
    phi__slot *slot = phi__slots_at(slots, index);
    uint64_t word = slot != NULL ? PHI__LOAD(&slot->word) : 0;
    return phi__slots_gen_of(word) == gen ? phi__slots_state_of(word) : 0;
}

PHI__FN phi__slot *phi__slots_find(const phi__slots *slots, uint32_t index, uint32_t gen) {
    return phi__slots_state(slots, index, gen) != 0 ? phi__slots_at(slots, index) : NULL;
}

PHI__FN bool phi__slots_move(const phi__slots *slots, uint32_t index, uint32_t gen, uint32_t from,
                             uint32_t to) {
    phi__slot *slot = phi__slots_at(slots, index);
    uint64_t expected = phi__slots_word_of(gen, from);
    if (slot == NULL) return false;
    return PHI__CAS(&slot->word, &expected, phi__slots_word_of(gen, to));
}

PHI__FN uint32_t phi__slots_change(const phi__slots *slots, uint32_t index, uint32_t gen,
                                   uint32_t clear, uint32_t set) {
    phi__slot *slot = phi__slots_at(slots, index);
    uint64_t word = slot != NULL ? PHI__LOAD(&slot->word) : 0;
    for (;;) {
        uint32_t state = phi__slots_gen_of(word) == gen ? phi__slots_state_of(word) : 0;
        if (state == 0) return 0;
        if (PHI__CAS(&slot->word, &word, phi__slots_word_of(gen, (state & ~clear) | set)))
            return state;
    }
}

/* ---- marks ---- */

PHI__FN void phi__slots_mark(phi__slots *slots, uint32_t index) {
    uint64_t bit = (uint64_t)1 << (index & 63);
    if (phi__slots_at(slots, index) == NULL) return;
    phi__slot_word *bits = phi__slots_bits(slots, index / 64);
    uint64_t was = PHI__LOAD(bits);
    while (!PHI__CAS(bits, &was, was | bit)) {}
    PHI__ADD(&slots->marks, 1); /* publishes the bit */
}

PHI__FN bool phi__slots_any_marked(const phi__slots *slots) {
    return PHI__LOAD(&slots->marks) != slots->marks_seen;
}

static size_t phi__slots_take_bits(phi__slots *slots, uint32_t group, uint32_t *out) {
    phi__slot_word *bits = phi__slots_bits(slots, group);
    uint64_t was = PHI__LOAD(bits);
    size_t count = 0;
    if (was == 0) return 0;
    while (!PHI__CAS(bits, &was, 0)) {}
    for (uint32_t i = 0; i < 64; i++)
        if ((was >> i & 1) != 0) out[count++] = group * 64 + i;
    return count;
}

PHI__FN size_t phi__slots_marked(phi__slots *slots, uint32_t *out, size_t most) {
    uint32_t marks = (uint32_t)PHI__LOAD(&slots->marks), groups = slots->count / 64, n;
    size_t count = 0;
    if (marks == slots->marks_seen) return 0;
    for (n = 0; n < groups && count + 64 <= most; n++) {
        if (slots->mark_at >= groups) slots->mark_at = 0;
        count += phi__slots_take_bits(slots, slots->mark_at++, out + count);
    }
    if (n == groups) slots->marks_seen = marks; /* otherwise the next call continues */
    return count;
}
