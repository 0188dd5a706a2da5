/* json_index.c - the members of a tree's objects by their names.

   One table has the members of all objects that were used. An entry knows the node before its own,
   so that the ring needs no walk. An entry whose node is its object says that all members are in
   the table. */
#include "text/json_index_in.h"

typedef struct phi__json_index_entry {
    phi_json *object, *before, *node;
} phi__json_index_entry;

static uint64_t phi__json_index_hash(const phi__json_index *index, const phi_json *object,
                                     phi_str key) {
    uint64_t of = (uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15);
    return phi__map_hash((uint64_t)(uintptr_t)index ^ of ^ of >> 32, key);
}

static phi_str phi__json_index_key(const phi_json *member) {
    return phi__str(member->key, phi__json_key_len(member));
}

static bool phi__json_index_named(const phi_json *member, phi_str key) {
    return phi__json_key_len(member) == key.len &&
           (key.len == 0 || memcmp(member->key, key.at, key.len) == 0);
}

static phi__json_index_entry *phi__json_index_look(phi__json_index *index, const phi_json *object,
                                                   phi_str key, uint64_t hash) {
    phi__json_index_entry *entry;
    size_t probe = 0;
    while ((entry = (phi__json_index_entry *)phi__map_each(&index->map, hash, &probe)) != NULL) {
        index->walked++;
        if (entry->object == object && entry->node != object &&
            phi__json_index_named(entry->node, key))
            break;
    }
    return entry;
}

/* The entry of a member that is in the table. */
static phi__json_index_entry *phi__json_index_of(phi__json_index *index, const phi_json *object,
                                                 const phi_json *member) {
    phi_str key = phi__json_index_key(member);
    return phi__json_index_look(index, object, key, phi__json_index_hash(index, object, key));
}

static bool phi__json_index_add(phi__json_index *index, phi_json *object, uint64_t hash,
                                phi_json *before, phi_json *node) {
    phi__json_index_entry *entry;
    if (!phi__map_room(&index->map)) return false;
    entry = (phi__json_index_entry *)phi_arena_alloc(index->arena, sizeof *entry);
    if (entry == NULL) return false;
    entry->object = object;
    entry->before = before;
    entry->node = node;
    phi__map_add(&index->map, hash, entry);
    return true;
}

/* Removes members that have a later one of their name, and gives each entry the node before its
   own. */
static void phi__json_index_link(phi__json_index *index, phi_json *object) {
    phi_json *before = object->v.last, *child;
    uint32_t left = object->len;
    for (; left > 0; left--) {
        phi__json_index_entry *entry;
        child = before->next;
        entry = phi__json_index_of(index, object, child);
        if (entry->node == child) {
            entry->before = before;
            before = child;
            continue;
        }
        phi__json_edit_unlink(object, before, child);
        index->shed = true;
    }
}

/* False: no memory. */
static bool phi__json_index_know(phi__json_index *index, phi_json *object) {
    uint64_t mark = phi__json_index_hash(index, object, PHI__LIT(""));
    phi__json_index_entry *entry;
    phi_json_iter it = phi_json_each(object);
    size_t probe = 0;
    while ((entry = (phi__json_index_entry *)phi__map_each(&index->map, mark, &probe)) != NULL)
        if (entry->object == object && entry->node == object) return true;
    while (phi_json_next(&it) != NULL) {
        phi_json *child = (phi_json *)(uintptr_t)it.at;
        phi_str key = phi__json_index_key(child);
        uint64_t hash = phi__json_index_hash(index, object, key);
        index->walked++;
        entry = phi__json_index_look(index, object, key, hash);
        if (entry != NULL)
            entry->node = child;
        else if (!phi__json_index_add(index, object, hash, NULL, child))
            return false;
    }
    phi__json_index_link(index, object);
    return phi__json_index_add(index, object, mark, NULL, object);
}

static bool phi__json_index_name(phi__json_index *index, phi_json *value, phi_str key) {
    if (value->key != NULL && phi__json_index_named(value, key)) return true;
    if (!phi__arena_str(index->arena, key, &key)) return false;
    value->key = key.at;
    value->meta = (uint32_t)key.len << 8 | (value->meta & 0xffu);
    return true;
}

PHI__FN void phi__json_index_init(phi__json_index *index, phi_memory *memory, phi_arena *arena) {
    memset(index, 0, sizeof *index);
    index->arena = arena;
    phi__map_init(&index->map, memory);
}

PHI__FN void phi__json_index_free(phi__json_index *index) { phi__map_free(&index->map); }

PHI__FN bool phi__json_index_get(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json **found) {
    phi__json_index_entry *entry;
    if (!phi__json_index_know(index, object)) return false;
    entry = phi__json_index_look(index, object, key, phi__json_index_hash(index, object, key));
    *found = entry != NULL ? entry->node : NULL;
    return true;
}

PHI__FN bool phi__json_index_set(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json *value) {
    uint64_t hash = phi__json_index_hash(index, object, key);
    phi__json_index_entry *entry;
    phi_json *old;
    if (!phi__json_index_know(index, object) || !phi__json_index_name(index, value, key))
        return false;
    entry = phi__json_index_look(index, object, key, hash);
    if (entry == NULL) {
        phi_json *last = object->len > 0 ? object->v.last : value;
        if (!phi__json_index_add(index, object, hash, last, value)) return false;
        phi__json_append(object, value);
        phi__json_index_of(index, object, value->next)->before = value;
        return true;
    }
    old = entry->node;
    if (entry->before == old) entry->before = value; /* alone in the ring */
    value->next = old->next == old ? value : old->next;
    entry->before->next = value;
    entry->node = value;
    if (object->v.last == old) object->v.last = value;
    phi__json_index_of(index, object, value->next)->before = value;
    old->next = NULL;
    return true;
}

PHI__FN bool phi__json_index_remove(phi__json_index *index, phi_json *object, phi_str key,
                                    phi_json **removed) {
    uint64_t hash = phi__json_index_hash(index, object, key);
    phi__json_index_entry *entry;
    phi_json *next;
    *removed = NULL;
    if (!phi__json_index_know(index, object)) return false;
    entry = phi__json_index_look(index, object, key, hash);
    if (entry == NULL) return true;
    *removed = entry->node;
    next = entry->node->next;
    phi__json_edit_unlink(object, entry->before, entry->node);
    if (object->len > 0) phi__json_index_of(index, object, next)->before = entry->before;
    phi__map_drop(&index->map, hash, entry);
    return true;
}
