/* poller_host.c - maps the host's descriptors to our keys: open addressing with linear probing, at
   most half full; a removal shifts followers back, so that no tombstones gather. */
#include "io/poller_in.h"

static size_t phi__fd_map_home(const phi__fd_map *map, intptr_t fd) {
    return ((size_t)fd * 0x9E3779B1u >> 7) & (map->cap - 1);
}

/* The place of fd, or the empty place where it would go. */
static size_t phi__fd_map_find(const phi__fd_map *map, intptr_t fd) {
    size_t i = phi__fd_map_home(map, fd);
    while (map->entries[i].key != 0 && map->entries[i].fd != fd) i = (i + 1) & (map->cap - 1);
    return i;
}

static bool phi__fd_map_grow(phi__fd_map *map) {
    phi__fd_map old = *map;
    size_t i, cap = old.cap == 0 ? 16 : old.cap * 2;
    size_t bytes = phi__mul(cap, sizeof *map->entries);
    phi__fd_entry *entries = NULL;
    if (bytes != SIZE_MAX) entries = (phi__fd_entry *)phi__alloc(map->memory, bytes);
    if (entries == NULL) return false;
    map->entries = entries;
    map->cap = cap;
    for (i = 0; i < old.cap; i++)
        if (old.entries[i].key != 0)
            map->entries[phi__fd_map_find(map, old.entries[i].fd)] = old.entries[i];
    phi__free(old.memory, old.entries, old.cap * sizeof *old.entries);
    return true;
}

PHI__FN void phi__fd_map_init(phi__fd_map *map, phi_memory *memory) {
    memset(map, 0, sizeof *map);
    map->memory = memory;
}

PHI__FN void phi__fd_map_free(phi__fd_map *map) {
    phi__free(map->memory, map->entries, map->cap * sizeof *map->entries);
    phi__fd_map_init(map, map->memory);
}

PHI__FN bool phi__fd_map_put(phi__fd_map *map, intptr_t fd, uint32_t key) {
    size_t i;
    if (map->count >= map->cap / 2 && !phi__fd_map_grow(map)) return false;
    i = phi__fd_map_find(map, fd);
    if (map->entries[i].key == 0) map->count++;
    map->entries[i].fd = fd;
    map->entries[i].key = key;
    return true;
}

PHI__FN uint32_t phi__fd_map_get(const phi__fd_map *map, intptr_t fd) {
    return map->cap == 0 ? 0 : map->entries[phi__fd_map_find(map, fd)].key;
}

PHI__FN void phi__fd_map_remove(phi__fd_map *map, intptr_t fd) {
    size_t hole, i, mask = map->cap - 1;
    if (map->cap == 0) return;
    hole = phi__fd_map_find(map, fd);
    if (map->entries[hole].key == 0) return;
    map->count--;
    for (i = (hole + 1) & mask; map->entries[i].key != 0; i = (i + 1) & mask) {
        size_t home = phi__fd_map_home(map, map->entries[i].fd);
        if (((i - home) & mask) >= ((i - hole) & mask)) { /* its probe path crosses the hole */
            map->entries[hole] = map->entries[i];
            hole = i;
        }
    }
    map->entries[hole].key = 0;
}
