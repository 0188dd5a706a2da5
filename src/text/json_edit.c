/* json_edit.c - building and changing a tree. */
#include "text/json_index_in.h"

static phi_json *phi__json_edit_make(phi_arena *arena, uint32_t kind) {
    phi_json *node = arena != NULL ? (phi_json *)phi_arena_alloc(arena, sizeof *node) : NULL;
    if (node == NULL) return NULL;
    memset(node, 0, sizeof *node);
    node->meta = kind;
    return node;
}

/* A value may be put into a container: PHI_OK, or what to answer. */
static phi_status phi__json_edit_may_hold(const phi_json *container, uint32_t kind,
                                          const phi_json *value) {
    if (container == NULL || phi__json_kind_of(container) != kind) return PHI_BAD_ARG;
    if (value == NULL) return PHI_NO_MEMORY;
    if (value == container || value->next != NULL) return PHI_MISUSE;
    if (phi__json_form_of(value) == PHI__JSON_DOCUMENT) return PHI_MISUSE;
    if (container->len == UINT32_MAX) return PHI_TOO_BIG;
    return PHI_OK;
}

PHI__FN void phi__json_edit_unlink(phi_json *container, phi_json *before, phi_json *child) {
    before->next = child->next;
    if (container->v.last == child) container->v.last = container->len == 1 ? NULL : before;
    container->len--;
    child->next = NULL;
}

static bool phi__json_edit_named(const phi_json *child, phi_str key) {
    return phi__json_key_len(child) == key.len &&
           (key.len == 0 || memcmp(child->key, key.at, key.len) == 0);
}

/* Unlinks all members of that name but `keep`; returns the last of them, `keep` included. */
static phi_json *phi__json_edit_unlink_named(phi_json *object, phi_str key, const phi_json *keep) {
    phi_json *before = object->v.last, *found = NULL;
    uint32_t left = object->len;
    for (; left > 0; left--) {
        phi_json *child = before->next;
        if (phi__json_edit_named(child, key)) {
            found = child;
            if (child != keep) {
                phi__json_edit_unlink(object, before, child);
                continue;
            }
        }
        before = child;
    }
    return found;
}

/* ---- new nodes ---- */

PHI__FN phi_json *phi__json_edit_null(phi_arena *arena) {
    return phi__json_edit_make(arena, PHI__JSON_NULL);
}

PHI_API phi_json *phi_json_new_bool(phi_arena *arena, bool value) {
    return phi__json_edit_make(arena, value ? PHI__JSON_TRUE : PHI__JSON_FALSE);
}

PHI_API phi_json *phi_json_new_int(phi_arena *arena, int64_t value) {
    phi_json *node = phi__json_edit_make(arena, PHI__JSON_INT);
    if (node != NULL) node->v.i = value;
    return node;
}

PHI__FN phi_json *phi__json_edit_uint(phi_arena *arena, uint64_t value) {
    phi_json *node =
        phi__json_edit_make(arena, value > (uint64_t)INT64_MAX ? PHI__JSON_UINT : PHI__JSON_INT);
    if (node != NULL) node->v.u = value;
    return node;
}

PHI_API phi_json *phi_json_new_num(phi_arena *arena, double value) {
    phi_json *node = phi__json_edit_make(arena, PHI__JSON_DOUBLE);
    if (node != NULL) node->v.d = value;
    return node;
}

PHI_API phi_json *phi_json_new_str(phi_arena *arena, phi_str value) {
    phi_json *node;
    phi_str copy;
    if (value.len > UINT32_MAX - 1) return NULL;
    node = phi__json_edit_make(arena, PHI__JSON_STRING);
    if (node == NULL || !phi__arena_str(arena, value, &copy)) return NULL;
    node->v.str = copy.at;
    node->len = (uint32_t)copy.len;
    return node;
}

PHI__FN phi_json *phi__json_edit_text(phi_arena *arena, const char *value) {
    return phi_json_new_str(arena, phi_str_of(value));
}

PHI_API phi_json *phi_json_new_array(phi_arena *arena) {
    return phi__json_edit_make(arena, PHI__JSON_ARRAY);
}

PHI_API phi_json *phi_json_new_object(phi_arena *arena) {
    return phi__json_edit_make(arena, PHI__JSON_OBJECT);
}

/* ---- copying ---- */

static bool phi__json_edit_copy_key(phi_arena *arena, const phi_json *from, phi_json *to) {
    phi_str key = phi__str(from->key, phi__json_key_len(from));
    if (from->key == NULL) {
        to->key = NULL;
        return true;
    }
    if (!phi__arena_str(arena, key, &key)) return false;
    to->key = key.at;
    to->meta = from->meta;
    return true;
}

static phi_json *phi__json_edit_copy_at(phi_arena *arena, const phi_json *from, unsigned depth) {
    phi_json *to = phi__json_edit_make(arena, from->meta & 0xffu), *child;
    phi_json_iter it;
    phi_str text;
    if (to == NULL) return NULL;
    switch (phi__json_kind_of(from)) {
    case PHI__JSON_STRING:
        if (!phi__arena_str(arena, phi__str(from->v.str, from->len), &text)) return NULL;
        to->v.str = text.at;
        to->len = from->len;
        return to;
    case PHI__JSON_ARRAY:
    case PHI__JSON_OBJECT:
        if (depth == 0) return NULL;
        it = phi_json_each(from);
        while (phi_json_next(&it) != NULL) {
            child = phi__json_edit_copy_at(arena, it.at, depth - 1);
            if (child == NULL || !phi__json_edit_copy_key(arena, it.at, child)) return NULL;
            phi__json_append(to, child);
        }
        return to;
    default: to->v = from->v; return to;
    }
}

PHI_API phi_json *phi_json_copy(phi_arena *arena, const phi_json *node) {
    phi_json *copy;
    if (node == NULL) return NULL;
    copy = phi__json_edit_copy_at(arena, node, PHI_JSON_MAX_DEPTH);
    if (copy != NULL && phi__json_form_of(copy) == PHI__JSON_DOCUMENT) copy->meta &= 0xfu;
    return copy;
}

/* ---- changing ---- */

PHI__FN phi_status phi__json_edit_set(phi_arena *arena, phi_json *object, phi_str key,
                                      phi_json *value) {
    phi_status status = phi__json_edit_may_hold(object, PHI__JSON_OBJECT, value);
    phi_json *old, *before;
    phi_str copy;
    if (status != PHI_OK) return status;
    if (key.len > 0xffffffu) return PHI_TOO_BIG;
    if (!phi__arena_str(arena, key, &copy)) return PHI_NO_MEMORY;
    value->key = copy.at;
    value->meta = (uint32_t)key.len << 8 | (value->meta & 0xffu);
    old = phi__json_get_n(object, copy);
    if (old == NULL) {
        phi__json_append(object, value);
        return PHI_OK;
    }
    (void)phi__json_edit_unlink_named(object, copy, old);
    before = old;
    while (before->next != old) before = before->next;
    value->next = before == old ? value : old->next; /* alone in the ring, or not */
    if (before != old) before->next = value;
    if (object->v.last == old) object->v.last = value;
    old->next = NULL;
    return PHI_OK;
}

PHI_API phi_status phi_json_set(phi_arena *arena, phi_json *object, const char *key,
                                phi_json *value) {
    if (key == NULL) return PHI_BAD_ARG;
    return phi__json_edit_set(arena, object, phi_str_of(key), value);
}

PHI_API phi_status phi_json_add(phi_json *array, phi_json *value) {
    phi_status status = phi__json_edit_may_hold(array, PHI__JSON_ARRAY, value);
    if (status != PHI_OK) return status;
    value->key = NULL;
    value->meta &= 0xffu;
    phi__json_append(array, value);
    return PHI_OK;
}

PHI_API phi_json *phi_json_remove(phi_json *object, const char *key) {
    if (key == NULL || !phi_json_is(object, PHI_JSON_OBJECT) || object->len == 0) return NULL;
    return phi__json_edit_unlink_named(object, phi_str_of(key), NULL);
}

PHI__FN phi_json *phi__json_edit_remove_at(phi_json *array, size_t index) {
    phi_json *before, *child;
    if (!phi_json_is(array, PHI_JSON_ARRAY) || index >= array->len) return NULL;
    before = array->v.last;
    for (; index > 0; index--) before = before->next;
    child = before->next;
    phi__json_edit_unlink(array, before, child);
    return child;
}
