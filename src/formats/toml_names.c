/* toml_names.c - the members of all tables, by table and key; at most three quarters of the slots
   are in use. They stay for the whole text, since a later header may come back to any table. */
#include "base/map_in.h"
#include "formats/toml_in.h"

enum { PHI__TOML_NAMES_FIRST = 64 }; /* slots of the first table */

static uint32_t phi__toml_names_hash(const phi_json *table, phi_str key) {
    uint64_t seed = (uint64_t)(uintptr_t)table * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)phi__map_hash(seed, key);
}

/* The slot of that member, or the free one where it would be. There is a free one. */
static phi__toml_name *phi__toml_names_slot(const phi__toml_reader *r, const phi_json *table,
                                            phi_str key, uint32_t hash) {
    size_t mask = r->name_cap - 1, i = hash & mask;
    for (;; i = (i + 1) & mask) {
        phi__toml_name *name = &r->names[i];
        if (name->table == NULL) return name;
        if (name->hash == hash && name->table == table &&
            phi__json_key_len(name->node) == key.len &&
            memcmp(name->node->key, key.at, key.len) == 0)
            return name;
    }
}

static phi_str phi__toml_names_key(const phi_json *node) {
    return phi__str(node->key, phi__json_key_len(node));
}

static bool phi__toml_names_grow(phi__toml_reader *r) {
    phi__toml_name *old = r->names, *names;
    size_t cap = r->name_cap, i;
    size_t grown = phi__max(phi__mul(cap, 2), PHI__TOML_NAMES_FIRST);
    names = (phi__toml_name *)phi__arena_zero(r->arena, phi__mul(grown, sizeof *names));
    if (names == NULL) return false;
    r->names = names;
    r->name_cap = grown;
    for (i = 0; i < cap; i++) {
        size_t at = old[i].hash & (grown - 1);
        if (old[i].table == NULL) continue;
        while (names[at].table != NULL) at = (at + 1) & (grown - 1);
        names[at] = old[i];
    }
    return true;
}

PHI__FN phi__toml_name *phi__toml_names_find(const phi__toml_reader *r, const phi_json *table,
                                             phi_str key) {
    phi__toml_name *name;
    if (r->name_cap == 0) return NULL;
    name = phi__toml_names_slot(r, table, key, phi__toml_names_hash(table, key));
    return name->table == NULL ? NULL : name;
}

PHI__FN bool phi__toml_names_add(phi__toml_reader *r, const phi_json *table, phi_json *node,
                                 uint8_t how) {
    uint32_t hash = phi__toml_names_hash(table, phi__toml_names_key(node));
    phi__toml_name *name;
    if (r->name_count >= r->name_cap / 4 * 3 && !phi__toml_names_grow(r)) {
        phi__toml_text_no_memory(r);
        return false;
    }
    name = phi__toml_names_slot(r, table, phi__toml_names_key(node), hash);
    name->table = table;
    name->node = node;
    name->hash = hash;
    name->section = r->section_number & PHI__TOML_SECTIONS;
    name->how = how & 7u;
    r->name_count++;
    return true;
}
