/* json_get.c - reads, compares, builds, changes and loads trees; looks up members by name. */
#include "text/json_in.h"

#include <errno.h>
#include <stdio.h>

PHI__FN bool phi__json_get_number_i64(const phi__json_number *n, int64_t *out) {
    if (n->kind == PHI__JSON_INT) {
        *out = n->v.i;
        return true;
    }
    /* A number that is exactly -2^63 is an integer node. The double -2^63 is refused, because it is
       mostly a smaller number that was rounded. */
    if (n->kind != PHI__JSON_DOUBLE || !(n->v.d > -9223372036854775808.0) ||
        !(n->v.d < 9223372036854775808.0) || (double)(int64_t)n->v.d != n->v.d)
        return false;
    *out = (int64_t)n->v.d;
    return true;
}

PHI__FN bool phi__json_get_number_u64(const phi__json_number *n, uint64_t *out) {
    if (n->kind == PHI__JSON_DOUBLE) {
        if (!(n->v.d >= 0) || !(n->v.d < 18446744073709551616.0) ||
            (double)(uint64_t)n->v.d != n->v.d)
            return false;
        *out = (uint64_t)n->v.d;
        return true;
    }
    if (n->kind == PHI__JSON_INT && n->v.i < 0) return false;
    *out = n->v.u;
    return true;
}

PHI__FN double phi__json_get_number_double(const phi__json_number *n) {
    if (n->kind == PHI__JSON_INT) return (double)n->v.i;
    return n->kind == PHI__JSON_UINT ? (double)n->v.u : n->v.d;
}

static phi__json_number phi__json_get_number_of(const phi_json *node) {
    phi__json_number n;
    n.kind = phi__json_kind_of(node);
    n.v = node->v;
    return n;
}

PHI__FN bool phi__json_get_path_step(const char **path, phi__json_step *step) {
    const char *at = *path;
    step->is_index = *at == '[';
    step->index = 0;
    if (step->is_index) {
        const char *digits = ++at;
        for (; *at >= '0' && *at <= '9'; at++) {
            size_t digit = (size_t)(*at - '0');
            step->index =
                step->index > (SIZE_MAX - digit) / 10 ? SIZE_MAX : step->index * 10 + digit;
        }
        if (at == digits || at[0] != ']') return false;
        at++;
        if (*at != '.' && *at != '[' && *at != '\0') return false;
        *path = at;
        return true;
    }
    if (*at == '.') at++;
    step->key = phi__str(at, strcspn(at, ".[]"));
    if (step->key.len == 0 || at[step->key.len] == ']') return false;
    *path = at + step->key.len;
    return true;
}

/* Returns the index of the child's name in names[from..to), or `to` if the name is not there. The
   names are not empty, and most differ in their first byte. */
static inline size_t phi__json_get_name_of(const phi_json *child, const phi_str *names, size_t from,
                                           size_t to) {
    size_t len = phi__json_key_len(child), i;
    for (i = from; i < to; i++)
        if (names[i].len == len && names[i].at[0] == child->key[0] &&
            memcmp(names[i].at, child->key, len) == 0)
            break;
    return i;
}

PHI__FN void phi__json_get_pick(const phi_json *object, const phi_str *names, size_t count,
                                const phi_json **found) {
    size_t left = phi_json_is(object, PHI_JSON_OBJECT) ? object->len : 0, next = 0, i;
    const phi_json *child = left > 0 ? object->v.last : NULL;
    for (i = 0; i < count; i++) found[i] = NULL;
    for (; left > 0; left--) {
        child = child->next;
        i = phi__json_get_name_of(child, names, next, count);
        if (i == count) {
            i = phi__json_get_name_of(child, names, 0, next);
            if (i == next) continue;
        }
        found[i] = child;
        next = i + 1;
    }
}

PHI__FN const char *phi__json_get_type_name(const phi_json *node) {
    switch (phi_json_type_of(node)) {
    case PHI_JSON_NULL: return "null";
    case PHI_JSON_BOOL: return "boolean";
    case PHI_JSON_NUMBER: return "number";
    case PHI_JSON_STRING: return "string";
    case PHI_JSON_ARRAY: return "array";
    case PHI_JSON_OBJECT: return "object";
    default: return "nothing";
    }
}

/* ---- types ---- */

PHI_API phi_json_type phi_json_type_of(const phi_json *node) {
    if (node == NULL) return PHI_JSON_NONE;
    switch (phi__json_kind_of(node)) {
    case PHI__JSON_NULL: return PHI_JSON_NULL;
    case PHI__JSON_FALSE:
    case PHI__JSON_TRUE: return PHI_JSON_BOOL;
    case PHI__JSON_STRING: return PHI_JSON_STRING;
    case PHI__JSON_ARRAY: return PHI_JSON_ARRAY;
    case PHI__JSON_OBJECT: return PHI_JSON_OBJECT;
    default: return PHI_JSON_NUMBER;
    }
}

static bool phi__json_get_whole(const phi_json *node) {
    if (phi__json_kind_of(node) != PHI__JSON_DOUBLE) return true;
    double d = node->v.d;
    if (!(d > -9007199254740992.0 && d < 9007199254740992.0)) /* larger doubles have no fraction */
        return d - d == 0;                                    /* false for infinities and NaN */
    return (double)(int64_t)d == d;
}

PHI_API bool phi_json_is(const phi_json *node, phi_json_type type) {
    phi_json_type is = phi_json_type_of(node);
    if (type != PHI_JSON_INTEGER) return is == type;
    return is == PHI_JSON_NUMBER && phi__json_get_whole(node);
}

/* ---- values ---- */

PHI_API bool phi_json_bool(const phi_json *node, bool fallback) {
    if (!phi_json_is(node, PHI_JSON_BOOL)) return fallback;
    return phi__json_kind_of(node) == PHI__JSON_TRUE;
}

PHI_API int64_t phi_json_int(const phi_json *node, int64_t fallback) {
    int64_t out;
    if (!phi_json_is(node, PHI_JSON_NUMBER)) return fallback;
    phi__json_number n = phi__json_get_number_of(node);
    return phi__json_get_number_i64(&n, &out) ? out : fallback;
}

PHI__FN uint64_t phi__json_get_uint(const phi_json *node, uint64_t fallback) {
    uint64_t out;
    if (!phi_json_is(node, PHI_JSON_NUMBER)) return fallback;
    phi__json_number n = phi__json_get_number_of(node);
    return phi__json_get_number_u64(&n, &out) ? out : fallback;
}

PHI_API double phi_json_num(const phi_json *node, double fallback) {
    if (!phi_json_is(node, PHI_JSON_NUMBER)) return fallback;
    phi__json_number n = phi__json_get_number_of(node);
    return phi__json_get_number_double(&n);
}

PHI_API phi_str phi_json_str(const phi_json *node, const char *fallback) {
    if (!phi_json_is(node, PHI_JSON_STRING)) return phi_str_of(fallback);
    return phi__str(node->v.str, node->len);
}

/* ---- children ---- */

PHI_API size_t phi_json_count(const phi_json *node) {
    return phi_json_is(node, PHI_JSON_ARRAY) || phi_json_is(node, PHI_JSON_OBJECT) ? node->len : 0;
}

static bool phi__json_get_named(const phi_json *child, phi_str key) {
    return phi__json_key_len(child) == key.len &&
           (key.len == 0 || memcmp(child->key, key.at, key.len) == 0);
}

PHI__FN phi_json *phi__json_get_n(const phi_json *object, phi_str key) {
    phi_json *found = NULL;
    if (!phi_json_is(object, PHI_JSON_OBJECT) || object->len == 0) return NULL;
    phi_json *child = object->v.last;
    for (uint32_t left = object->len; left > 0; left--) {
        child = child->next;
        if (phi__json_get_named(child, key)) found = child;
    }
    return found;
}

PHI_API phi_json *phi_json_get(const phi_json *object, const char *key) {
    return key == NULL || object == NULL ? NULL : phi__json_get_n(object, phi_str_of(key));
}

PHI_API phi_json *phi_json_at(const phi_json *array, size_t index) {
    if (!phi_json_is(array, PHI_JSON_ARRAY) || index >= array->len) return NULL;
    phi_json *child = array->v.last;
    if (index == (size_t)array->len - 1) return child;
    for (child = child->next; index > 0; index--) child = child->next;
    return child;
}

PHI_API phi_json *phi_json_path(const phi_json *node, const char *path) {
    const phi_json *at = node;
    phi__json_step step;
    if (path == NULL) return NULL;
    while (at != NULL && phi__json_get_path_step(&path, &step))
        at = step.is_index ? phi_json_at(at, step.index) : phi__json_get_n(at, step.key);
    return at == NULL || *path != '\0' ? NULL : (phi_json *)(uintptr_t)at;
}

PHI_API phi_json_iter phi_json_each(const phi_json *container) {
    phi_json_iter it;
    it.left = phi_json_count(container);
    it.at = it.left > 0 ? container->v.last : NULL;
    it.key = phi__str(NULL, 0);
    return it;
}

PHI_API phi_json *phi_json_next(phi_json_iter *it) {
    if (it->left == 0) return NULL;
    it->left--;
    it->at = it->at->next;
    it->key = phi__str(it->at->key, phi__json_key_len(it->at));
    return it->at;
}

/* ---- equality ---- */

static bool phi__json_get_same(const phi_json *a, const phi_json *b, unsigned depth);

static bool phi__json_get_same_number(const phi_json *a, const phi_json *b) {
    uint32_t kind = phi__json_kind_of(a);
    int64_t i;
    uint64_t u;
    if (kind == phi__json_kind_of(b))
        return kind == PHI__JSON_DOUBLE ? a->v.d == b->v.d : a->v.u == b->v.u;
    if (kind != PHI__JSON_DOUBLE) { /* swap the two, so `a` is the double */
        const phi_json *other = a;
        a = b;
        b = other;
        if (phi__json_kind_of(a) != PHI__JSON_DOUBLE) return false;
    }
    phi__json_number n = phi__json_get_number_of(a);
    if (n.v.d == -9223372036854775808.0)
        return phi__json_kind_of(b) == PHI__JSON_INT && b->v.i == INT64_MIN;
    if (phi__json_kind_of(b) == PHI__JSON_INT)
        return phi__json_get_number_i64(&n, &i) && i == b->v.i;
    return phi__json_get_number_u64(&n, &u) && u == b->v.u;
}

static bool phi__json_get_same_keys(const phi_json *a, const phi_json *b) {
    phi_json_iter ia = phi_json_each(a), ib = phi_json_each(b);
    if (a->len != b->len) return false;
    while (phi_json_next(&ia) != NULL) {
        (void)phi_json_next(&ib);
        if (!phi_str_equal(ia.key, ib.key)) return false;
    }
    return true;
}

/* As with phi_json_get, only the last member of each name counts. No pair of members is compared
   twice, so nesting does not multiply the work. */
static bool phi__json_get_same_object(const phi_json *a, const phi_json *b, unsigned depth) {
    phi_json_iter ia = phi_json_each(a), ib = phi_json_each(b);
    bool in_step = phi__json_get_same_keys(a, b);
    const phi_json *x;
    while ((x = phi_json_next(&ia)) != NULL) {
        if (in_step) {
            if (!phi__json_get_same(x, phi_json_next(&ib), depth) &&
                phi__json_get_n(a, ia.key) == x)
                return false;
        } else if (phi__json_get_n(a, ia.key) == x) {
            const phi_json *y = phi__json_get_n(b, ia.key);
            if (y == NULL || !phi__json_get_same(x, y, depth)) return false;
        }
    }
    if (in_step) return true;
    while (phi_json_next(&ib) != NULL)
        if (phi__json_get_n(a, ib.key) == NULL) return false;
    return true;
}

static bool phi__json_get_same(const phi_json *a, const phi_json *b, unsigned depth) {
    phi_json_iter ia, ib;
    const phi_json *x;
    phi_json_type type = phi_json_type_of(a);
    if (a == b) return true;
    if (depth == 0 || type != phi_json_type_of(b)) return false;
    switch (type) {
    case PHI_JSON_BOOL: return phi__json_kind_of(a) == phi__json_kind_of(b);
    case PHI_JSON_NUMBER: return phi__json_get_same_number(a, b);
    case PHI_JSON_STRING:
        return phi_str_equal(phi__str(a->v.str, a->len), phi__str(b->v.str, b->len));
    case PHI_JSON_ARRAY:
        if (a->len != b->len) return false;
        ia = phi_json_each(a);
        ib = phi_json_each(b);
        while ((x = phi_json_next(&ia)) != NULL)
            if (!phi__json_get_same(x, phi_json_next(&ib), depth - 1)) return false;
        return true;
    case PHI_JSON_OBJECT: return phi__json_get_same_object(a, b, depth - 1);
    default: return true;
    }
}

PHI__FN bool phi__json_get_equal(const phi_json *a, const phi_json *b) {
    return phi__json_get_same(a, b, PHI_JSON_MAX_DEPTH + 1);
}

/* ---- building and changing a tree ---- */

static phi_json *phi__json_edit_make(phi_arena *arena, uint32_t kind) {
    phi_json *node = arena != NULL ? (phi_json *)phi_arena_alloc(arena, sizeof *node) : NULL;
    if (node == NULL) return NULL;
    memset(node, 0, sizeof *node);
    node->meta = kind;
    return node;
}

/* Returns PHI_OK if a value may be put into a container, else the status for the caller. */
static phi_status phi__json_edit_may_hold(const phi_json *container, uint32_t kind,
                                          const phi_json *value) {
    if (container == NULL || phi__json_kind_of(container) != kind) return PHI_BAD_ARG;
    if (value == NULL) return PHI_NO_MEMORY;
    if (value == container || value->next != NULL) return PHI_MISUSE;
    if (phi__json_form_of(value) == PHI__JSON_DOCUMENT) return PHI_MISUSE;
    if (container->len == UINT32_MAX) return PHI_TOO_BIG;
    return PHI_OK;
}

/* Takes `child`, which follows `before`, out of the container's ring. */
static void phi__json_edit_unlink(phi_json *container, phi_json *before, phi_json *child) {
    before->next = child->next;
    if (container->v.last == child) container->v.last = container->len == 1 ? NULL : before;
    container->len--;
    child->next = NULL;
}

/* Unlinks all members of that name except `keep`. Returns the last member of that name, which may
   be `keep`. */
static phi_json *phi__json_edit_unlink_named(phi_json *object, phi_str key, const phi_json *keep) {
    phi_json *before = object->v.last, *found = NULL;
    uint32_t left = object->len;
    for (; left > 0; left--) {
        phi_json *child = before->next;
        if (phi__json_get_named(child, key)) {
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
    phi_str copy;
    if (value.len > UINT32_MAX - 1) return NULL;
    phi_json *node = phi__json_edit_make(arena, PHI__JSON_STRING);
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
    if (node == NULL) return NULL;
    phi_json *copy = phi__json_edit_copy_at(arena, node, PHI_JSON_MAX_DEPTH);
    if (copy != NULL && phi__json_form_of(copy) == PHI__JSON_DOCUMENT) copy->meta &= 0xfu;
    return copy;
}

/* ---- changing ---- */

PHI__FN phi_status phi__json_edit_set(phi_arena *arena, phi_json *object, phi_str key,
                                      phi_json *value) {
    phi_status status = phi__json_edit_may_hold(object, PHI__JSON_OBJECT, value);
    phi_str copy;
    if (status != PHI_OK) return status;
    if (key.len > 0xffffffu) return PHI_TOO_BIG;
    if (!phi__arena_str(arena, key, &copy)) return PHI_NO_MEMORY;
    value->key = copy.at;
    value->meta = (uint32_t)key.len << 8 | (value->meta & 0xffu);
    phi_json *old = phi__json_get_n(object, copy);
    if (old == NULL) {
        phi__json_append(object, value);
        return PHI_OK;
    }
    (void)phi__json_edit_unlink_named(object, copy, old);
    phi_json *before = old;
    while (before->next != old) before = before->next;
    value->next = before == old ? value : old->next; /* is `old` alone in the ring? */
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
    if (!phi_json_is(array, PHI_JSON_ARRAY) || index >= array->len) return NULL;
    phi_json *before = array->v.last;
    for (; index > 0; index--) before = before->next;
    phi_json *child = before->next;
    phi__json_edit_unlink(array, before, child);
    return child;
}

/* ---- documents: JSON texts in their own arena ---- */

typedef struct phi__json_load_document {
    phi_memory own;     /* used if the caller gives no memory */
    phi_memory *memory; /* &own, or the caller's memory */
    phi_arena arena;
    phi_json root; /* the node that the caller gets */
} phi__json_load_document;

static bool phi__json_load_is(const phi_json *node) {
    return node != NULL && phi__json_form_of(node) == PHI__JSON_DOCUMENT;
}

static phi__json_load_document *phi__json_load_of(phi_json *root) {
    return PHI__OWNER(root, phi__json_load_document, root);
}

static phi_json *phi__json_load_fail(phi_parse_error *error, phi_status status, const char *what,
                                     const char *name) {
    if (error == NULL) return NULL;
    memset(error, 0, sizeof *error);
    error->status = status;
    (void)snprintf(error->message, sizeof error->message, "%s%.100s", what, name);
    return NULL;
}

/* Returns an empty document. The document must not move, since it contains a pointer to itself. */
static phi__json_load_document *phi__json_load_new(phi_memory *memory) {
    phi__json_load_document *d;
    phi_memory own;
    phi_memory_init(&own, NULL, 0);
    d = (phi__json_load_document *)phi__alloc(memory != NULL ? memory : &own, sizeof *d);
    if (d == NULL) return NULL;
    d->own = own;
    d->memory = memory != NULL ? memory : &d->own;
    phi_arena_init(&d->arena, d->memory, 0);
    return d;
}

static void phi__json_load_free(phi__json_load_document *d) {
    phi_arena_free(&d->arena);
    phi_memory own = d->own;
    phi__free(d->memory == &d->own ? &own : d->memory, d, sizeof *d);
}

#ifndef PHI_NO_FILES

/* Sets *error from the errno of a failed read. Returns NULL. */
static phi_json *phi__json_load_trouble(phi_parse_error *error, const char *path, int code) {
    if (code == ENOENT) return phi__json_load_fail(error, PHI_NOT_FOUND, "there is no file ", path);
    if (code == EISDIR) return phi__json_load_fail(error, PHI_IO, "a directory: ", path);
    if (code == EACCES) return phi__json_load_fail(error, PHI_IO, "no permission to read ", path);
    return phi__json_load_fail(error, PHI_IO, "the file cannot be read: ", path);
}

/* Reads a file to its end. False: *error says why. */
static bool phi__json_load_read(FILE *file, const char *path, phi__buf *text,
                                phi_parse_error *error) {
    for (;;) {
        size_t left = (size_t)PHI_JSON_MAX_FILE_BYTES + 1 - text->len;
        size_t room = phi__min(phi__max(text->len, 4096), left);
        char *to = phi__buf_reserve(text, room);
        if (to == NULL) {
            (void)phi__json_load_fail(error, PHI_NO_MEMORY, "no memory for the file ", path);
            return false;
        }
        errno = 0;
        size_t got = fread(to, 1, room, file);
        phi__buf_add_len(text, got);
        if (got < room && ferror(file) == 0) return true;
        if (got < room) (void)phi__json_load_trouble(error, path, errno);
        if (got == room && got < left) continue;
        if (got == room)
            (void)phi__json_load_fail(error, PHI_TOO_BIG, "a file of more than 64 MiB: ", path);
        return false;
    }
}

#endif

/* ---- public ---- */

PHI_API phi_status phi_json_parse(phi_arena *arena, phi_str text, uint32_t flags, phi_json **out,
                                  phi_parse_error *error) {
    phi__json_reader reader;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_arena_mark mark = phi_arena_save(arena);
    phi__json_read_begin(&reader, arena, text, flags, 0);
    while ((status = phi__json_read_advance(&reader, SIZE_MAX)) == PHI_BUSY) continue;
    (void)phi__json_read_result(&reader, out, error);
    if (status != PHI_OK) phi_arena_reset(arena, mark);
    return status;
}

PHI_API phi_json *phi_json_load(phi_str text, uint32_t flags, phi_memory *memory,
                                phi_parse_error *error) {
    phi__json_load_document *d = phi__json_load_new(memory);
    phi_json *root;
    if (d == NULL) return phi__json_load_fail(error, PHI_NO_MEMORY, "no memory for the tree", "");
    if (phi_json_parse(&d->arena, text, flags, &root, error) != PHI_OK) {
        phi__json_load_free(d);
        return NULL;
    }
    d->root = *root;
    d->root.meta |= (uint32_t)PHI__JSON_DOCUMENT << 4;
    return &d->root;
}

PHI_API phi_json *phi_json_load_file(const char *path, uint32_t flags, phi_memory *memory,
                                     phi_parse_error *error) {
#ifdef PHI_NO_FILES
    (void)path;
    (void)flags;
    (void)memory;
    return phi__json_load_fail(error, PHI_UNSUPPORTED, "built with PHI_NO_FILES", "");
#else
    phi_json *root = NULL;
    phi_memory own;
    phi__buf text;
    FILE *file;
    if (path == NULL) return phi__json_load_fail(error, PHI_BAD_ARG, "the path is NULL", "");
    errno = 0;
    file = fopen(path, "rb");
    if (file == NULL) return phi__json_load_trouble(error, path, errno);
    phi_memory_init(&own, NULL, 0);
    phi__buf_init(&text, memory != NULL ? memory : &own);
    if (phi__json_load_read(file, path, &text, error))
        root =
            phi_json_load(phi__buf_str(&text), flags & ~(uint32_t)PHI_JSON_BORROW, memory, error);
    phi__buf_free(&text);
    (void)fclose(file);
    return root;
#endif
}

PHI_API void phi_json_unload(phi_json *root) {
    if (phi__json_load_is(root)) phi__json_load_free(phi__json_load_of(root));
}

PHI_API phi_arena *phi_json_arena(phi_json *root) {
    return phi__json_load_is(root) ? &phi__json_load_of(root)->arena : NULL;
}

/* ---- a table of members by object and name ---- */

typedef struct phi__index_entry {
    phi_json *object, *before, *node;
} phi__index_entry;

static phi_str phi__index_key(const phi_json *member) {
    return phi__str(member->key, phi__json_key_len(member));
}

static phi__index_entry *phi__index_look(phi__json_index *index, const phi_json *object,
                                         phi_str key, uint64_t hash) {
    phi__index_entry *entry;
    size_t probe = 0;
    while ((entry = (phi__index_entry *)phi__map_each(&index->map, hash, &probe)) != NULL) {
        index->walked++;
        if (entry->object == object && entry->node != object &&
            phi__json_get_named(entry->node, key))
            break;
    }
    return entry;
}

/* Returns the entry of a member. The member must be in the table. */
static phi__index_entry *phi__index_of(phi__json_index *index, const phi_json *object,
                                       const phi_json *member) {
    phi_str key = phi__index_key(member);
    return phi__index_look(index, object, key, phi__json_member_hash(index, object, key));
}

static bool phi__index_add(phi__json_index *index, phi_json *object, uint64_t hash,
                           phi_json *before, phi_json *node) {
    phi__index_entry *entry;
    if (!phi__map_room(&index->map)) return false;
    entry = (phi__index_entry *)phi_arena_alloc(index->arena, sizeof *entry);
    if (entry == NULL) return false;
    entry->object = object;
    entry->before = before;
    entry->node = node;
    phi__map_add(&index->map, hash, entry);
    return true;
}

/* Removes members that have a later member of the same name. Sets `before` in each entry. */
static void phi__index_link(phi__json_index *index, phi_json *object) {
    phi_json *before = object->v.last, *child;
    uint32_t left = object->len;
    for (; left > 0; left--) {
        child = before->next;
        phi__index_entry *entry = phi__index_of(index, object, child);
        if (entry->node == child) {
            entry->before = before;
            before = child;
            continue;
        }
        phi__json_edit_unlink(object, before, child);
        index->shed = true;
    }
}

/* Puts the members of an object into the table, if they are not in it yet. False: no memory. */
static bool phi__index_know(phi__json_index *index, phi_json *object) {
    uint64_t mark = phi__json_member_hash(index, object, PHI__LIT(""));
    phi__index_entry *entry;
    phi_json_iter it = phi_json_each(object);
    size_t probe = 0;
    while ((entry = (phi__index_entry *)phi__map_each(&index->map, mark, &probe)) != NULL)
        if (entry->object == object && entry->node == object) return true;
    while (phi_json_next(&it) != NULL) {
        phi_json *child = (phi_json *)(uintptr_t)it.at;
        phi_str key = phi__index_key(child);
        uint64_t hash = phi__json_member_hash(index, object, key);
        index->walked++;
        entry = phi__index_look(index, object, key, hash);
        if (entry != NULL)
            entry->node = child;
        else if (!phi__index_add(index, object, hash, NULL, child))
            return false;
    }
    phi__index_link(index, object);
    return phi__index_add(index, object, mark, NULL, object);
}

static bool phi__index_name(phi__json_index *index, phi_json *value, phi_str key) {
    if (value->key != NULL && phi__json_get_named(value, key)) return true;
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
    if (!phi__index_know(index, object)) return false;
    phi__index_entry *entry =
        phi__index_look(index, object, key, phi__json_member_hash(index, object, key));
    *found = entry != NULL ? entry->node : NULL;
    return true;
}

PHI__FN bool phi__json_index_set(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json *value) {
    uint64_t hash = phi__json_member_hash(index, object, key);
    if (!phi__index_know(index, object) || !phi__index_name(index, value, key)) return false;
    phi__index_entry *entry = phi__index_look(index, object, key, hash);
    if (entry == NULL) {
        phi_json *last = object->len > 0 ? object->v.last : value;
        if (!phi__index_add(index, object, hash, last, value)) return false;
        phi__json_append(object, value);
        phi__index_of(index, object, value->next)->before = value;
        return true;
    }
    phi_json *old = entry->node;
    if (entry->before == old) entry->before = value; /* `old` is alone in the ring */
    value->next = old->next == old ? value : old->next;
    entry->before->next = value;
    entry->node = value;
    if (object->v.last == old) object->v.last = value;
    phi__index_of(index, object, value->next)->before = value;
    old->next = NULL;
    return true;
}

PHI__FN bool phi__json_index_remove(phi__json_index *index, phi_json *object, phi_str key,
                                    phi_json **removed) {
    uint64_t hash = phi__json_member_hash(index, object, key);
    *removed = NULL;
    if (!phi__index_know(index, object)) return false;
    phi__index_entry *entry = phi__index_look(index, object, key, hash);
    if (entry == NULL) return true;
    *removed = entry->node;
    phi_json *next = entry->node->next;
    phi__json_edit_unlink(object, entry->before, entry->node);
    if (object->len > 0) phi__index_of(index, object, next)->before = entry->before;
    phi__map_drop(&index->map, hash, entry);
    return true;
}
