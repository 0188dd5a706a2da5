/* yaml_names.c - texts by hash: the keys of the mappings that are open, and the anchors.

   Names are a stack with a hash table of places in it. The newest leave first, so a table with
   linear probing needs no marks of removed names: the newest is the last of every chain. */
#include "base/map_in.h"
#include "formats/yaml_in.h"

/* The address of the table's owner makes the places differ from run to run, so that no text can
   be made in advance whose names collide. */
PHI__FN uint32_t phi__yaml_names_hash(const phi__yaml_names *names, phi_str text, uint32_t scope) {
    uint64_t seed = (uint64_t)(uintptr_t)names ^ (uint64_t)scope << 32;
    return (uint32_t)(phi__map_hash(seed, text) >> 32);
}

static bool phi__yaml_names_same(const phi__yaml_name *name, uint32_t hash, phi_str text,
                                 uint32_t scope) {
    return name->hash == hash && name->scope == scope && name->len == text.len &&
           (text.len == 0 || memcmp(name->at, text.at, text.len) == 0);
}

/* A table holds indices from 1; 0 is free. */
static void phi__yaml_names_place(phi__yaml_names *names, uint32_t index) {
    uint32_t mask = names->table_cap - 1, place = names->at[index].hash & mask;
    while (names->table[place] != 0) place = (place + 1) & mask;
    names->table[place] = index + 1;
    names->at[index].place = place;
}

static bool phi__yaml_names_grow(phi__yaml_names *names, phi_arena *arena) {
    uint32_t cap = names->cap == 0 ? 16 : names->cap * 2, i;
    phi__yaml_name *at;
    uint32_t *table;
    if (names->cap >= UINT32_MAX / 8) return false;
    at = (phi__yaml_name *)phi_arena_alloc(arena, phi__mul(cap, sizeof *at));
    table = (uint32_t *)phi_arena_alloc(arena, phi__mul(cap, 2 * sizeof *table));
    if (at == NULL || table == NULL) return false;
    if (names->count > 0) memcpy(at, names->at, names->count * sizeof *at);
    memset(table, 0, cap * 2 * sizeof *table);
    names->at = at;
    names->table = table;
    names->cap = cap;
    names->table_cap = cap * 2;
    for (i = 0; i < names->count; i++) phi__yaml_names_place(names, i); /* the oldest first */
    return true;
}

PHI__FN phi__yaml_name *phi__yaml_names_find(const phi__yaml_names *names, phi_str text,
                                             uint32_t scope, uint32_t hash) {
    uint32_t mask, place;
    if (names->count == 0) return NULL;
    mask = names->table_cap - 1;
    for (place = hash & mask; names->table[place] != 0; place = (place + 1) & mask) {
        phi__yaml_name *name = &names->at[names->table[place] - 1];
        if (phi__yaml_names_same(name, hash, text, scope)) return name;
    }
    return NULL;
}

PHI__FN phi__yaml_name *phi__yaml_names_add(phi__yaml_names *names, phi_arena *arena, phi_str text,
                                            uint32_t scope, uint32_t hash) {
    phi__yaml_name *name;
    if (names->count == names->cap && !phi__yaml_names_grow(names, arena)) return NULL;
    name = &names->at[names->count];
    memset(name, 0, sizeof *name);
    name->at = text.at;
    name->len = (uint32_t)text.len;
    name->hash = hash;
    name->scope = scope;
    phi__yaml_names_place(names, names->count++);
    return name;
}

PHI__FN void phi__yaml_names_cut(phi__yaml_names *names, uint32_t count) {
    while (names->count > count) names->table[names->at[--names->count].place] = 0;
}
