/* fd_map.c - maps the host's descriptors to our keys. */
#include "io/poller_in.h"

/* No two descriptors have the same, and neighbours differ in the low bits. */
static uint64_t phi__fd_map_hash(intptr_t fd) { return (uint64_t)fd * 0x9E3779B97F4A7C15u; }

static void *phi__fd_map_find(const phi__fd_map *map, intptr_t fd) {
    size_t probe = 0;
    return phi__map_each(&map->keys, phi__fd_map_hash(fd), &probe);
}

PHI__FN void phi__fd_map_init(phi__fd_map *map, phi_memory *memory) {
    phi__map_init(&map->keys, memory);
}

PHI__FN void phi__fd_map_free(phi__fd_map *map) { phi__map_free(&map->keys); }

PHI__FN bool phi__fd_map_put(phi__fd_map *map, intptr_t fd, uint32_t key) {
    if (!phi__map_room(&map->keys)) return false;
    phi__fd_map_remove(map, fd);
    phi__map_add(&map->keys, phi__fd_map_hash(fd), (void *)(uintptr_t)key);
    return true;
}

PHI__FN uint32_t phi__fd_map_get(const phi__fd_map *map, intptr_t fd) {
    return (uint32_t)(uintptr_t)phi__fd_map_find(map, fd);
}

PHI__FN void phi__fd_map_remove(phi__fd_map *map, intptr_t fd) {
    const void *key = phi__fd_map_find(map, fd);
    if (key != NULL) phi__map_drop(&map->keys, phi__fd_map_hash(fd), key);
}
