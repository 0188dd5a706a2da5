/* repeat_guard.c - recognises a call that is made again and again, however its arguments are
   spelt. */
#include "loop/loop_in.h"

#include "text/json_in.h"
#include "wire/hash_in.h"

/* Seeds, so that values of different kinds differ: 1 is not "1". */
enum {
    PHI__REPEAT_GUARD_RAW = 1,
    PHI__REPEAT_GUARD_WORD,
    PHI__REPEAT_GUARD_INTEGER,
    PHI__REPEAT_GUARD_LARGE,
    PHI__REPEAT_GUARD_FRACTION,
    PHI__REPEAT_GUARD_STRING,
    PHI__REPEAT_GUARD_KEY,
    PHI__REPEAT_GUARD_ARRAY,
    PHI__REPEAT_GUARD_OBJECT
};

static uint64_t phi__repeat_guard_join(uint64_t a, uint64_t b) {
    return phi__hash_mix(a * UINT64_C(0x9e3779b97f4a7c15) + b);
}

/* By value, as phi_json_equal has it: 1, 1.0 and 1e0 are the same. */
static uint64_t phi__repeat_guard_number(const phi_json *node) {
    phi__json_number n;
    int64_t i;
    uint64_t u;
    n.kind = phi__json_kind_of(node);
    n.v = node->v;
    if (phi__json_number_i64(&n, &i))
        return phi__repeat_guard_join(PHI__REPEAT_GUARD_INTEGER, (uint64_t)i);
    if (phi__json_number_u64(&n, &u)) return phi__repeat_guard_join(PHI__REPEAT_GUARD_LARGE, u);
    memcpy(&u, &n.v.d, sizeof u);
    return phi__repeat_guard_join(PHI__REPEAT_GUARD_FRACTION, u);
}

/* As deep as phi_json_parse lets it be. Members are added up: their order does not count. */
static uint64_t phi__repeat_guard_value(const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *child;
    uint64_t hash;
    switch (phi_json_type_of(node)) {
    case PHI_JSON_NUMBER: return phi__repeat_guard_number(node);
    case PHI_JSON_STRING: return phi__hash(phi_json_str(node, NULL), PHI__REPEAT_GUARD_STRING);
    case PHI_JSON_ARRAY:
        hash = PHI__REPEAT_GUARD_ARRAY;
        while ((child = phi_json_next(&it)) != NULL)
            hash = phi__repeat_guard_join(hash, phi__repeat_guard_value(child));
        return phi__hash_mix(hash);
    case PHI_JSON_OBJECT:
        hash = 0;
        while ((child = phi_json_next(&it)) != NULL)
            hash += phi__repeat_guard_join(phi__hash(it.key, PHI__REPEAT_GUARD_KEY),
                                           phi__repeat_guard_value(child));
        return phi__repeat_guard_join(PHI__REPEAT_GUARD_OBJECT, hash);
    default: return phi__repeat_guard_join(PHI__REPEAT_GUARD_WORD, phi__json_kind_of(node));
    }
}

PHI__FN uint64_t phi__repeat_guard_hash(phi_arena *arena, phi_str name, phi_str arguments) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_json *root = NULL;
    uint64_t hash;
    if (phi_json_parse(arena, arguments, PHI_JSON_BORROW, &root, NULL) == PHI_OK)
        hash = phi__repeat_guard_value(root);
    else
        hash = phi__hash(arguments, PHI__REPEAT_GUARD_RAW);
    phi_arena_reset(arena, mark);
    return phi__repeat_guard_join(phi__hash(name, 0), hash);
}

PHI__FN uint32_t phi__repeat_guard_note(phi__repeat_guard *guard, uint64_t hash) {
    uint32_t i, seen = 0, known;
    guard->seen[guard->count % PHI__REPEAT_GUARD_WINDOW] = hash;
    guard->count++;
    /* never wraps */
    if (guard->count == 2 * PHI__REPEAT_GUARD_WINDOW) guard->count = PHI__REPEAT_GUARD_WINDOW;
    known =
        guard->count < PHI__REPEAT_GUARD_WINDOW ? guard->count : (uint32_t)PHI__REPEAT_GUARD_WINDOW;
    for (i = 0; i < known; i++) seen += guard->seen[i] == hash;
    return seen;
}
