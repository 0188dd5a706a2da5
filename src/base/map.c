/* map.c - open addressing with linear probing; at most three quarters are in use, so that a search
   soon ends. */
#include "base/map_in.h"

enum { PHI__MAP_FIRST = 16 }; /* slots of the first table */

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
    if (left >= 4) { /* the halves may overlap */
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
    size_t i;
    if (count <= map->cap / 4 * 3) return true;
    phi__map_init(&grown, map->memory);
    grown.cap = phi__max(map->cap, PHI__MAP_FIRST);
    while (grown.cap / 4 * 3 < count && grown.cap < SIZE_MAX / 2) grown.cap *= 2;
    grown.slots =
        (phi__map_slot *)phi__alloc(map->memory, phi__mul(grown.cap, sizeof *grown.slots));
    if (grown.slots == NULL) return false;
    for (i = 0; i < map->cap; i++)
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

/* Each entry behind the gap moves up into it, unless that is before the place its hash gives
   it. */
PHI__FN void phi__map_drop(phi__map *map, uint64_t hash, const void *item) {
    size_t mask = map->cap - 1, gap = (size_t)hash & mask, i;
    while (map->slots[gap].item != item) gap = (gap + 1) & mask;
    for (i = (gap + 1) & mask; map->slots[i].item != NULL; i = (i + 1) & mask) {
        size_t home = (size_t)map->slots[i].hash & mask;
        if (((i - home) & mask) < ((i - gap) & mask)) continue;
        map->slots[gap] = map->slots[i];
        gap = i;
    }
    map->slots[gap].item = NULL;
    map->count--;
}
