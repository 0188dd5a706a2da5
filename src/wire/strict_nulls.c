/* strict_nulls.c - turns the arguments of a strict tool into those of its own schema: takes out
   nulls that stand for "left out". Where a schema leaves a choice, the first alternative counts
   whose shape (types, names, values of an enum) fits. */
#include "wire/strict_in.h"

#include "wire/schema_ref_in.h"

enum {
    PHI__STRICT_NULLS_DEPTH = 200,
    PHI__STRICT_NULLS_WORK = 1000000 /* members visited; some hundredths of a second */
};

typedef struct phi__strict_nulls_walk {
    const phi_json *root;
    uint32_t depth, work;
    bool spent;
    size_t removed;
} phi__strict_nulls_walk;

static bool phi__strict_nulls_spend(phi__strict_nulls_walk *n, size_t work) {
    if (work > PHI__STRICT_NULLS_WORK || n->work > PHI__STRICT_NULLS_WORK - work) n->spent = true;
    if (n->spent) return false;
    n->work += (uint32_t)work;
    return true;
}

static bool phi__strict_nulls_enter(phi__strict_nulls_walk *n, const phi_json *schema) {
    if (n->depth >= PHI__STRICT_NULLS_DEPTH ||
        !phi__strict_nulls_spend(n, 1 + phi_json_count(schema)))
        return false;
    n->depth++;
    return true;
}

static const phi_json *phi__strict_nulls_target(phi__strict_nulls_walk *n, const phi_json *ref) {
    size_t looked = 0;
    const phi_json *target = phi__schema_ref_find(n->root, phi_json_str(ref, NULL), &looked);
    return phi__strict_nulls_spend(n, looked) ? target : NULL;
}

static const phi_json *phi__strict_nulls_choice(const phi_json *schema) {
    const phi_json *list = phi_json_get(schema, "anyOf");
    if (list == NULL) list = phi_json_get(schema, "oneOf");
    if (list == NULL) list = phi_json_get(schema, "allOf");
    return phi_json_is(list, PHI_JSON_ARRAY) ? list : NULL;
}

/* ---- does it fit, by its shape? ---- */

static bool phi__strict_nulls_fits(phi__strict_nulls_walk *n, const phi_json *schema,
                                   const phi_json *value);

static bool phi__strict_nulls_is(const phi_json *value, phi_str type) {
    if (phi__str_is(type, "integer")) return phi_json_is(value, PHI_JSON_INTEGER);
    return phi__str_is(type, phi__json_get_type_name(value));
}

static bool phi__strict_nulls_type_fits(const phi_json *schema, const phi_json *value) {
    const phi_json *type = phi_json_get(schema, "type");
    phi_json_iter it = phi_json_each(type);
    if (type == NULL) return true;
    if (phi_json_is(value, PHI_JSON_NULL) && phi_json_bool(phi_json_get(schema, "nullable"), false))
        return true;
    if (phi_json_is(type, PHI_JSON_STRING))
        return phi__strict_nulls_is(value, phi_json_str(type, NULL));
    while (phi_json_next(&it) != NULL)
        if (phi__strict_nulls_is(value, phi_json_str(it.at, NULL))) return true;
    return false;
}

static bool phi__strict_nulls_value_fits(phi__strict_nulls_walk *n, const phi_json *schema,
                                         const phi_json *value) {
    const phi_json *list = phi_json_get(schema, "enum"), *one = phi_json_get(schema, "const");
    phi_json_iter it = phi_json_each(list);
    if (one != NULL && !phi__json_get_equal(one, value)) return false;
    if (list == NULL) return true;
    while (phi__strict_nulls_spend(n, 1) && phi_json_next(&it) != NULL)
        if (phi__json_get_equal(it.at, value)) return true;
    return false;
}

static bool phi__strict_nulls_required(phi__strict_nulls_walk *n, const phi_json *schema,
                                       phi_str name) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "required"));
    if (!phi__strict_nulls_spend(n, 1 + it.left)) return true;
    while (phi_json_next(&it) != NULL)
        if (phi_str_equal(phi_json_str(it.at, NULL), name)) return true;
    return false;
}

static bool phi__strict_nulls_object_fits(phi__strict_nulls_walk *n, const phi_json *schema,
                                          const phi_json *value) {
    const phi_json *properties = phi_json_get(schema, "properties");
    const phi_json *required = phi_json_get(schema, "required");
    phi_json_iter it = phi_json_each(required);
    if (!phi_json_is(properties, PHI_JSON_OBJECT)) return true;
    while (phi_json_next(&it) != NULL) {
        if (!phi__strict_nulls_spend(n, 1 + phi_json_count(value))) return false;
        if (phi__json_get_n(value, phi_json_str(it.at, NULL)) == NULL) return false;
    }
    it = phi_json_each(value);
    while (phi_json_next(&it) != NULL) {
        const phi_json *property = phi__json_get_n(properties, it.key);
        if (!phi__strict_nulls_spend(n, 1 + phi_json_count(properties)) || property == NULL)
            return false;
        if (phi_json_is(it.at, PHI_JSON_NULL) && !phi__strict_nulls_required(n, schema, it.key))
            continue;
        if (!phi__strict_nulls_fits(n, property, it.at)) return false;
    }
    return true;
}

static bool phi__strict_nulls_parts_fit(phi__strict_nulls_walk *n, const phi_json *schema,
                                        const phi_json *value) {
    const phi_json *items = phi_json_get(schema, "items"), *list = phi__strict_nulls_choice(schema);
    phi_json_iter it;
    bool fits = true;
    if (phi_json_is(value, PHI_JSON_OBJECT) && !phi__strict_nulls_object_fits(n, schema, value))
        return false;
    it = phi_json_each(value);
    while (fits && items != NULL && phi_json_is(value, PHI_JSON_ARRAY) &&
           phi_json_next(&it) != NULL)
        fits = phi__strict_nulls_fits(n, items, it.at);
    if (!fits || list == NULL) return fits;
    it = phi_json_each(list);
    while (phi_json_next(&it) != NULL)
        if (phi__strict_nulls_fits(n, it.at, value)) return true;
    return false;
}

static bool phi__strict_nulls_fits(phi__strict_nulls_walk *n, const phi_json *schema,
                                   const phi_json *value) {
    const phi_json *ref = phi_json_get(schema, "$ref");
    bool fits;
    if (!phi_json_is(schema, PHI_JSON_OBJECT)) return phi_json_bool(schema, false);
    if (!phi__strict_nulls_enter(n, schema)) return false;
    fits = phi__strict_nulls_type_fits(schema, value) &&
           phi__strict_nulls_value_fits(n, schema, value) &&
           phi__strict_nulls_parts_fit(n, schema, value);
    if (fits && ref != NULL)
        fits = phi__strict_nulls_fits(n, phi__strict_nulls_target(n, ref), value);
    n->depth--;
    return fits && !n->spent;
}

/* ---- taking them out ---- */

static void phi__strict_nulls_strip(phi__strict_nulls_walk *n, const phi_json *schema,
                                    phi_json *value);

/* An array's or object's members, again with their schemas. */
static void phi__strict_nulls_strip_object(phi__strict_nulls_walk *n, const phi_json *schema,
                                           phi_json *value) {
    const phi_json *properties = phi_json_get(schema, "properties");
    phi_json *before = value->v.last, *child;
    uint32_t left = value->len;
    if (!phi_json_is(properties, PHI_JSON_OBJECT)) return;
    for (; left > 0 && !n->spent; left--) {
        phi_str name;
        const phi_json *property;
        child = before->next;
        name = phi__str(child->key, phi__json_key_len(child));
        property = phi__json_get_n(properties, name);
        if (!phi__strict_nulls_spend(n, 1 + phi_json_count(properties))) return;
        if (phi_json_is(child, PHI_JSON_NULL) && property != NULL &&
            !phi__strict_nulls_required(n, schema, name) &&
            !phi__strict_nulls_fits(n, property, child) && !n->spent) {
            before->next = child->next;
            if (value->v.last == child) value->v.last = value->len == 1 ? NULL : before;
            value->len--;
            child->next = NULL;
            n->removed++;
            continue;
        }
        if (property != NULL) phi__strict_nulls_strip(n, property, child);
        before = child;
    }
}

static void phi__strict_nulls_strip(phi__strict_nulls_walk *n, const phi_json *schema,
                                    phi_json *value) {
    const phi_json *ref = phi_json_get(schema, "$ref"), *items = phi_json_get(schema, "items");
    phi_json_iter it;
    phi_json *item;
    if (!phi_json_is(value, PHI_JSON_OBJECT) && !phi_json_is(value, PHI_JSON_ARRAY)) return;
    if (!phi_json_is(schema, PHI_JSON_OBJECT) || !phi__strict_nulls_enter(n, schema)) return;
    if (phi_json_is(value, PHI_JSON_OBJECT)) phi__strict_nulls_strip_object(n, schema, value);
    it = phi_json_each(value);
    while (items != NULL && phi_json_is(value, PHI_JSON_ARRAY) &&
           (item = phi_json_next(&it)) != NULL)
        phi__strict_nulls_strip(n, items, item);
    it = phi_json_each(phi__strict_nulls_choice(schema));
    while (phi_json_next(&it) != NULL)
        if (phi__strict_nulls_fits(n, it.at, value)) {
            phi__strict_nulls_strip(n, it.at, value);
            break;
        }
    if (ref != NULL) phi__strict_nulls_strip(n, phi__strict_nulls_target(n, ref), value);
    n->depth--;
}

PHI__FN size_t phi__strict_nulls(const phi_json *schema, phi_json *value) {
    phi__strict_nulls_walk n;
    memset(&n, 0, sizeof n);
    n.root = schema;
    if (schema != NULL && value != NULL) phi__strict_nulls_strip(&n, schema, value);
    return n.removed;
}
