/* json_get.c - looking at a tree: types, values, members, paths, equality. */
#include "text/json_in.h"

PHI__FN bool phi__json_get_number_i64(const phi__json_number *n, int64_t *out) {
    if (n->kind == PHI__JSON_INT) {
        *out = n->v.i;
        return true;
    }
    /* -2^63 as a double is mostly an integer below it, rounded: as itself it is an integer kind. */
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

/* Which of names[from..to) it has; `to`: none of them. They are not empty, and the first byte
   mostly decides. */
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

/* A number without a fraction. */
static bool phi__json_get_whole(const phi_json *node) {
    double d;
    if (phi__json_kind_of(node) != PHI__JSON_DOUBLE) return true;
    d = node->v.d;
    if (!(d > -9007199254740992.0 && d < 9007199254740992.0)) /* no fraction fits in there */
        return d - d == 0;                                    /* not of infinities and NaN */
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
    phi__json_number n;
    int64_t out;
    if (!phi_json_is(node, PHI_JSON_NUMBER)) return fallback;
    n = phi__json_get_number_of(node);
    return phi__json_get_number_i64(&n, &out) ? out : fallback;
}

PHI__FN uint64_t phi__json_get_uint(const phi_json *node, uint64_t fallback) {
    phi__json_number n;
    uint64_t out;
    if (!phi_json_is(node, PHI_JSON_NUMBER)) return fallback;
    n = phi__json_get_number_of(node);
    return phi__json_get_number_u64(&n, &out) ? out : fallback;
}

PHI_API double phi_json_num(const phi_json *node, double fallback) {
    phi__json_number n;
    if (!phi_json_is(node, PHI_JSON_NUMBER)) return fallback;
    n = phi__json_get_number_of(node);
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

PHI__FN phi_json *phi__json_get_n(const phi_json *object, phi_str key) {
    phi_json *child, *found = NULL;
    uint32_t left;
    if (!phi_json_is(object, PHI_JSON_OBJECT) || object->len == 0) return NULL;
    child = object->v.last;
    for (left = object->len; left > 0; left--) {
        child = child->next;
        if (phi__json_key_len(child) == key.len &&
            (key.len == 0 || memcmp(child->key, key.at, key.len) == 0))
            found = child;
    }
    return found;
}

PHI_API phi_json *phi_json_get(const phi_json *object, const char *key) {
    return key == NULL || object == NULL ? NULL : phi__json_get_n(object, phi_str_of(key));
}

PHI_API phi_json *phi_json_at(const phi_json *array, size_t index) {
    phi_json *child;
    if (!phi_json_is(array, PHI_JSON_ARRAY) || index >= array->len) return NULL;
    child = array->v.last;
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
    phi__json_number n;
    int64_t i;
    uint64_t u;
    if (kind == phi__json_kind_of(b))
        return kind == PHI__JSON_DOUBLE ? a->v.d == b->v.d : a->v.u == b->v.u;
    if (kind != PHI__JSON_DOUBLE) { /* an integer kind: compare it with the other's value */
        const phi_json *other = a;
        a = b;
        b = other;
        if (phi__json_kind_of(a) != PHI__JSON_DOUBLE) return false;
    }
    n = phi__json_get_number_of(a);
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

/* Members count as get finds them: the last of a name. No pair is compared twice, so that nesting
   does not multiply the work. */
static bool phi__json_get_same_object(const phi_json *a, const phi_json *b, unsigned depth) {
    phi_json_iter ia = phi_json_each(a), ib = phi_json_each(b);
    bool in_step = phi__json_get_same_keys(a, b);
    const phi_json *x, *y;
    while ((x = phi_json_next(&ia)) != NULL) {
        if (in_step) {
            if (!phi__json_get_same(x, phi_json_next(&ib), depth) &&
                phi__json_get_n(a, ia.key) == x)
                return false;
        } else if (phi__json_get_n(a, ia.key) == x) {
            y = phi__json_get_n(b, ia.key);
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
