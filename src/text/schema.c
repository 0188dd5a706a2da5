/* schema.c - checks values against a JSON Schema, as far as tool arguments need it. */
#include "text/json_in.h"

#define PHI__SCHEMA_DEPTH 256u     /* depth of nested schemas, with references */
#define PHI__SCHEMA_WORK 16000000u /* units, mostly compared members; see docs/limits.md */
#define PHI__SCHEMA_VISIT 16u      /* units of work for each keyword of an applied schema */
#define PHI__SCHEMA_MEMO 256u      /* remembered results; a power of two */
#define PHI__SCHEMA_REFS 32u       /* remembered references; a power of two */
#define PHI__SCHEMA_SMALL 16u      /* results that took less work are not remembered */

/* A remembered result of checking a value. A newer result may replace it. */
typedef struct phi__schema_memo {
    const phi_json *schema, *value;
    bool fits;
} phi__schema_memo;

typedef struct phi__schema_ref {
    const char *ref;
    const phi_json *target;
} phi__schema_ref;

typedef struct phi__schema {
    const phi_json *root;
    phi_schema_error *error; /* NULL: no message is wanted */
    size_t len;              /* length of the message */
    char place[128];         /* such as arguments.list[2].name; cut if too long */
    size_t place_len;
    uint32_t depth, quiet, work;
    phi_status status; /* PHI_OK, or an error other than a mismatch */
    /* table for the members of large objects; not used if names.memory is NULL */
    phi__map names;
    phi__schema_memo memo[PHI__SCHEMA_MEMO];
    phi__schema_ref refs[PHI__SCHEMA_REFS];
} phi__schema;

/* ---- messages ---- */

static void phi__schema_put(phi__schema *c, phi_str text) {
    if (c->error == NULL) return;
    size_t room = sizeof c->error->message - 1 - c->len;
    if (text.len > room) text.len = phi__utf8_cut(text, room);
    if (text.len > 0) memcpy(c->error->message + c->len, text.at, text.len);
    c->len += text.len;
    c->error->message[c->len] = '\0';
}

static void phi__schema_text(phi__schema *c, const char *text) {
    phi__schema_put(c, phi_str_of(text));
}

/* Begins a message with the place and `text`. False: no message is needed. */
static bool phi__schema_say(phi__schema *c, const char *text) {
    if (c->quiet > 0 || c->status != PHI_OK || c->error == NULL) return false;
    c->len = 0;
    phi__schema_put(c, phi__str(c->place, c->place_len));
    phi__schema_text(c, ": ");
    phi__schema_text(c, text);
    return true;
}

#define PHI__SCHEMA_QUOTE 60u /* bytes of a string in a message */

static void phi__schema_quote(phi__schema *c, phi_str text) {
    phi__schema_text(c, "\"");
    phi__schema_put(c, phi__str(text.at, phi__utf8_cut(text, PHI__SCHEMA_QUOTE)));
    phi__schema_text(c, text.len > PHI__SCHEMA_QUOTE ? "...\"" : "\"");
}

static void phi__schema_number(phi__schema *c, const phi_json *node) {
    char digits[32];
    phi__buf buf = PHI_ZERO; /* `room` is large enough, so buf never allocates */
    buf.at = digits;
    buf.cap = sizeof digits;
    if (phi__json_kind_of(node) == PHI__JSON_INT)
        phi__json_number_put_i64(&buf, node->v.i);
    else if (phi__json_kind_of(node) == PHI__JSON_UINT)
        phi__json_number_put_u64(&buf, node->v.u);
    else
        phi__json_number_put_double(&buf, node->v.d);
    phi__schema_put(c, phi__buf_str(&buf));
}

static void phi__schema_value(phi__schema *c, const phi_json *node) {
    switch (phi_json_type_of(node)) {
    case PHI_JSON_STRING: phi__schema_quote(c, phi_json_str(node, NULL)); break;
    case PHI_JSON_NUMBER: phi__schema_number(c, node); break;
    case PHI_JSON_BOOL: phi__schema_text(c, phi_json_bool(node, false) ? "true" : "false"); break;
    case PHI_JSON_NULL: phi__schema_text(c, "null"); break;
    case PHI_JSON_ARRAY: phi__schema_text(c, "an array"); break;
    default: phi__schema_text(c, "an object"); break;
    }
}

/* Writes "a, b or c", or "a, b, c" if `quoted`. */
static void phi__schema_list(phi__schema *c, const phi_json *list, bool quoted) {
    phi_json_iter it = phi_json_each(list);
    bool first = true;
    while (phi_json_next(&it) != NULL) {
        if (!first) phi__schema_text(c, quoted || it.left > 0 ? ", " : " or ");
        first = false;
        if (quoted)
            phi__schema_value(c, it.at);
        else
            phi__schema_put(c, phi_json_str(it.at, "?"));
    }
}

static size_t phi__schema_into(phi__schema *c, const char *before, phi_str name,
                               const char *after) {
    size_t was = c->place_len, room;
    phi_str part[3];
    part[0] = phi_str_of(before);
    part[1] = name;
    part[2] = phi_str_of(after);
    for (size_t i = 0; i < 3; i++) {
        room = sizeof c->place - c->place_len;
        if (part[i].len > room) part[i].len = phi__utf8_cut(part[i], room);
        if (part[i].len > 0) memcpy(c->place + c->place_len, part[i].at, part[i].len);
        c->place_len += part[i].len;
    }
    return was;
}

static size_t phi__schema_into_item(phi__schema *c, size_t index) {
    char digits[24], *at = digits + sizeof digits;
    do {
        *--at = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    return phi__schema_into(c, "[", phi__str(at, (size_t)(digits + sizeof digits - at)), "]");
}

/* ---- limits of work and depth ---- */

static bool phi__schema_spend(phi__schema *c, size_t work) {
    if (c->status != PHI_OK) return false;
    if (work <= PHI__SCHEMA_WORK && c->work <= PHI__SCHEMA_WORK - work) {
        c->work += (uint32_t)work;
        return true;
    }
    c->quiet = 0;
    (void)phi__schema_say(c, "checking this takes too much work");
    c->status = PHI_TOO_BIG;
    return false;
}

static bool phi__schema_enter(phi__schema *c, const phi_json *schema) {
    size_t work = phi__mul(PHI__SCHEMA_VISIT, 1 + phi_json_count(schema));
    if (!phi__schema_spend(c, work)) return false;
    if (c->depth == PHI__SCHEMA_DEPTH) {
        c->quiet = 0;
        (void)phi__schema_say(c, "nested too deeply to be checked");
        c->status = PHI_TOO_BIG;
        return false;
    }
    c->depth++;
    return true;
}

/* ---- members ---- */

static phi_json *phi__schema_look(const phi__schema *c, uint64_t hash, phi_str key) {
    phi_json *member;
    size_t probe = 0;
    while ((member = (phi_json *)phi__map_each(&c->names, hash, &probe)) != NULL)
        if (phi_str_equal(phi__str(member->key, phi__json_key_len(member)), key)) break;
    return member;
}

/* Puts the object and its members into the table; the last of several equal names counts. False:
   there is no table, no memory, or too much work. */
static bool phi__schema_know(phi__schema *c, const phi_json *object) {
    uint64_t own = ~phi__json_member_hash(c, object, phi__str(NULL, 0));
    phi_json_iter it = phi_json_each(object);
    size_t probe = 0;
    void *item;
    if (c->names.memory == NULL) return false;
    while ((item = phi__map_each(&c->names, own, &probe)) != NULL)
        if (item == (const void *)object) return true;
    if (!phi__map_reserve(&c->names, phi__add(c->names.count, 1 + it.left)) ||
        !phi__schema_spend(c, it.left))
        return false;
    while (phi_json_next(&it) != NULL) {
        uint64_t hash = phi__json_member_hash(c, object, it.key);
        item = phi__schema_look(c, hash, it.key);
        if (item != NULL) phi__map_drop(&c->names, hash, item);
        phi__map_add(&c->names, hash, (void *)(uintptr_t)it.at);
    }
    phi__map_add(&c->names, own, (void *)(uintptr_t)object);
    return true;
}

/* Returns the member that phi__json_get_n would find. NULL: there is no such member, or the search
   is too much work. */
static const phi_json *phi__schema_member(phi__schema *c, const phi_json *object, phi_str key) {
    if (phi_json_count(object) > PHI__SCHEMA_SMALL && phi_json_is(object, PHI_JSON_OBJECT) &&
        phi__schema_know(c, object)) {
        return phi__schema_spend(c, 1)
                   ? phi__schema_look(c, phi__json_member_hash(c, object, key), key)
                   : NULL;
    }
    if (!phi__schema_spend(c, 1 + phi_json_count(object))) return NULL;
    return phi__json_get_n(object, key);
}

/* ---- references ---- */

PHI__FN bool phi__schema_same_step(phi_str key, phi_str step) {
    size_t k = 0, s = 0;
    while (k < key.len && s < step.len) {
        char want = step.at[s++];
        if (want == '~' && s < step.len) want = step.at[s++] == '1' ? '/' : '~';
        if (key.at[k++] != want) return false;
    }
    return k == key.len && s == step.len;
}

static const phi_json *phi__schema_step(phi__schema *c, const phi_json *from, phi_str step) {
    const phi_json *found = NULL;
    phi_json_iter it = phi_json_each(from);
    uint64_t index = 0; /* without this value gcc -Os warns */
    if (!phi__schema_spend(c, 1 + it.left)) return NULL;
    if (phi_json_is(from, PHI_JSON_ARRAY))
        return phi__str_to_u64(step, &index) && index < it.left ? phi_json_at(from, (size_t)index)
                                                                : NULL;
    while (phi_json_next(&it) != NULL)
        if (phi__schema_same_step(it.key, step)) found = it.at;
    return found;
}

static const phi_json *phi__schema_follow(phi__schema *c, phi_str ref) {
    const phi_json *at = c->root;
    if (ref.len == 0 || ref.at[0] != '#') return NULL;
    ref = phi__str_from(ref, 1);
    while (ref.len > 0 && at != NULL) {
        size_t end = phi__str_find(ref, 1, "/");
        if (ref.at[0] != '/') return NULL;
        if (end == SIZE_MAX) end = ref.len;
        at = phi__schema_step(c, at, phi__str(ref.at + 1, end - 1));
        ref = phi__str_from(ref, end);
    }
    return at;
}

/* Returns the schema that "#" or "#/a/b" names. NULL: there is no such schema, or it is in another
   document. */
static const phi_json *phi__schema_target(phi__schema *c, phi_str ref) {
    phi__schema_ref *known =
        &c->refs[((uintptr_t)ref.at >> 4 ^ (uintptr_t)ref.at >> 9) & (PHI__SCHEMA_REFS - 1)];
    if (ref.at == NULL || known->ref != ref.at) {
        known->target = phi__schema_follow(c, ref);
        known->ref = ref.at;
    }
    return known->target;
}

/* ---- checking a value ---- */

static bool phi__schema_fits(phi__schema *c, const phi_json *schema, const phi_json *value);

static bool phi__schema_is(const phi_json *value, phi_str type) {
    if (phi__str_is(type, "integer")) return phi_json_is(value, PHI_JSON_INTEGER);
    return phi__str_is(type, phi__json_get_type_name(value));
}

static bool phi__schema_type(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *type = phi_json_get(schema, "type");
    phi_json_iter it = phi_json_each(type);
    if (phi_json_is(value, PHI_JSON_NULL) && phi_json_bool(phi_json_get(schema, "nullable"), false))
        return true;
    if (phi_json_is(type, PHI_JSON_STRING)) {
        if (phi__schema_is(value, phi_json_str(type, NULL))) return true;
    } else {
        if (!phi_json_is(type, PHI_JSON_ARRAY)) return true;
        while (phi_json_next(&it) != NULL)
            if (phi__schema_is(value, phi_json_str(it.at, NULL))) return true;
    }
    if (!phi__schema_say(c, "expected ")) return false;
    if (phi_json_is(type, PHI_JSON_STRING))
        phi__schema_put(c, phi_json_str(type, NULL));
    else
        phi__schema_list(c, type, false);
    phi__schema_text(c, ", got ");
    phi__schema_text(c, phi__json_get_type_name(value));
    return false;
}

static bool phi__schema_enum(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *list = phi_json_get(schema, "enum"), *only = phi_json_get(schema, "const");
    phi_json_iter it = phi_json_each(list);
    if (only != NULL && !phi__json_get_equal(only, value)) {
        if (!phi__schema_say(c, "expected ")) return false;
        phi__schema_value(c, only);
        phi__schema_text(c, ", got ");
        phi__schema_value(c, value);
        return false;
    }
    if (!phi_json_is(list, PHI_JSON_ARRAY)) return true;
    if (!phi__schema_spend(c, it.left)) return false;
    while (phi_json_next(&it) != NULL)
        if (phi__json_get_equal(it.at, value)) return true;
    if (!phi__schema_say(c, "got ")) return false;
    phi__schema_value(c, value);
    phi__schema_text(c, ", expected one of ");
    phi__schema_list(c, list, true);
    return false;
}

/* Returns a negative value, 0 or a positive value if a < b, a == b or a > b. */
static int phi__schema_order(const phi_json *a, const phi_json *b) {
    double x = phi_json_num(a, 0), y = phi_json_num(b, 0);
    if (x != y) return x < y ? -1 : 1;
    if (phi__json_kind_of(a) == PHI__JSON_INT && phi__json_kind_of(b) == PHI__JSON_INT &&
        a->v.i != b->v.i)
        return a->v.i < b->v.i ? -1 : 1;
    return 0;
}

static bool phi__schema_range(phi__schema *c, const phi_json *schema, const phi_json *value) {
    static const char *const words[] = {"expected a number above ", "expected a number below ",
                                        "expected at least ", "expected at most "};
    const phi_json *limits[4];
    limits[0] = phi_json_get(schema, "exclusiveMinimum");
    limits[1] = phi_json_get(schema, "exclusiveMaximum");
    limits[2] = phi_json_get(schema, "minimum");
    limits[3] = phi_json_get(schema, "maximum");
    for (size_t i = 0; i < 4; i++) {
        const phi_json *limit = limits[i];
        if (i < 2 && phi_json_bool(limit, false)) limit = limits[i + 2]; /* true, as in draft 4 */
        if (!phi_json_is(limit, PHI_JSON_NUMBER)) continue;
        int order = phi__schema_order(value, limit);
        if (i % 2 == 1) order = -order;
        if (order > 0 || (order == 0 && i >= 2)) continue;
        if (!phi__schema_say(c, words[i])) return false;
        phi__schema_number(c, limit);
        phi__schema_text(c, ", got ");
        phi__schema_number(c, value);
        return false;
    }
    return true;
}

/* Checks `count` against two limits of a schema. `noun` names the counted things. */
static bool phi__schema_count(phi__schema *c, const phi_json *schema, const char *least_key,
                              const char *most_key, size_t count, const char *noun) {
    const phi_json *least = phi_json_get(schema, least_key), *most = phi_json_get(schema, most_key);
    phi_json got = PHI_ZERO;
    got.meta = PHI__JSON_INT;
    got.v.u = count;
    if (phi_json_is(least, PHI_JSON_NUMBER) && phi__schema_order(&got, least) < 0) {
        if (!phi__schema_say(c, "expected at least ")) return false;
        phi__schema_number(c, least);
    } else if (phi_json_is(most, PHI_JSON_NUMBER) && phi__schema_order(&got, most) > 0) {
        if (!phi__schema_say(c, "expected at most ")) return false;
        phi__schema_number(c, most);
    } else
        return true;
    phi__schema_text(c, " ");
    phi__schema_text(c, noun);
    phi__schema_text(c, ", got ");
    phi__schema_number(c, &got);
    return false;
}

static size_t phi__schema_characters(phi_str text) {
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) n += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return n;
}

static bool phi__schema_items(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *items = phi_json_get(schema, "items");
    phi_json_iter it = phi_json_each(value);
    size_t index = 0;
    bool fits = true;
    if (!phi__schema_count(c, schema, "minItems", "maxItems", phi_json_count(value), "items"))
        return false;
    if (items == NULL || phi_json_is(items, PHI_JSON_ARRAY)) return true;
    while (fits && phi_json_next(&it) != NULL) {
        size_t was = phi__schema_into_item(c, index++);
        fits = phi__schema_fits(c, items, it.at);
        c->place_len = was;
    }
    return fits;
}

static bool phi__schema_required(phi__schema *c, const phi_json *schema, const phi_json *value) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "required"));
    while (phi_json_next(&it) != NULL) {
        if (!phi_json_is(it.at, PHI_JSON_STRING)) continue;
        if (phi__schema_member(c, value, phi_json_str(it.at, NULL)) != NULL) continue;
        if (!phi__schema_say(c, "missing required property ")) return false;
        phi__schema_quote(c, phi_json_str(it.at, NULL));
        return false;
    }
    return true;
}

static bool phi__schema_unknown(phi__schema *c, phi_str key, const phi_json *known) {
    phi_json_iter it = phi_json_each(known);
    if (!phi__schema_say(c, "unknown property ")) return false;
    phi__schema_quote(c, key);
    if (it.left > 0) phi__schema_text(c, "; there are ");
    while (phi_json_next(&it) != NULL) {
        phi__schema_quote(c, it.key);
        if (it.left > 0) phi__schema_text(c, ", ");
    }
    return false;
}

static bool phi__schema_members(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *known = phi_json_get(schema, "properties");
    const phi_json *more = phi_json_get(schema, "additionalProperties");
    phi_json_iter it = phi_json_each(value);
    bool fits = phi__schema_required(c, schema, value);
    /* patternProperties are not supported */
    if (phi_json_get(schema, "patternProperties") != NULL) more = NULL;
    while (fits && phi_json_next(&it) != NULL) {
        const phi_json *member = phi__schema_member(c, known, it.key);
        if (c->status != PHI_OK) return false;
        if (member == NULL) member = more;
        if (member == NULL) continue;
        if (member == more && !phi_json_bool(more, true))
            return phi__schema_unknown(c, it.key, known);
        size_t was = phi__schema_into(c, ".", it.key, "");
        fits = phi__schema_fits(c, member, it.at);
        c->place_len = was;
    }
    return fits;
}

/* Returns how many schemas of the list fit; stops at two. */
static unsigned phi__schema_fitting(phi__schema *c, const phi_json *list, const phi_json *value) {
    phi_json_iter it = phi_json_each(list);
    unsigned fit = 0;
    c->quiet++;
    while (fit < 2 && c->status == PHI_OK && phi_json_next(&it) != NULL)
        fit += phi__schema_fits(c, it.at, value);
    if (c->quiet > 0) c->quiet--; /* quiet is 0 if a limit was reported */
    return fit;
}

/* Says that no schema of anyOf or oneOf fits. If each has a type, the message names the types. */
static void phi__schema_say_none(phi__schema *c, const phi_json *list, const char *word,
                                 const phi_json *value) {
    phi_json_iter it = phi_json_each(list);
    while (phi_json_next(&it) != NULL)
        if (!phi_json_is(phi_json_get(it.at, "type"), PHI_JSON_STRING)) break;
    if (it.at != NULL && phi_json_is(phi_json_get(it.at, "type"), PHI_JSON_STRING) &&
        it.left == 0) {
        bool first = true;
        if (!phi__schema_say(c, "expected ")) return;
        it = phi_json_each(list);
        while (phi_json_next(&it) != NULL) {
            if (!first) phi__schema_text(c, it.left > 0 ? ", " : " or ");
            first = false;
            phi__schema_put(c, phi_json_str(phi_json_get(it.at, "type"), NULL));
        }
        phi__schema_text(c, " that fits its schema, got ");
        phi__schema_value(c, value);
        return;
    }
    if (!phi__schema_say(c, "fits none of the schemas in ")) return;
    phi__schema_text(c, word);
}

static bool phi__schema_combined(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *any = phi_json_get(schema, "anyOf"), *one = phi_json_get(schema, "oneOf");
    phi_json_iter it = phi_json_each(phi_json_get(schema, "allOf"));
    while (phi_json_next(&it) != NULL)
        if (!phi__schema_fits(c, it.at, value)) return false;
    if (phi_json_is(any, PHI_JSON_ARRAY) && phi__schema_fitting(c, any, value) == 0) {
        phi__schema_say_none(c, any, "anyOf", value);
        return false;
    }
    if (phi_json_is(one, PHI_JSON_ARRAY)) {
        unsigned fit = phi__schema_fitting(c, one, value);
        if (fit == 0) phi__schema_say_none(c, one, "oneOf", value);
        if (fit > 1) (void)phi__schema_say(c, "fits more than one of the schemas in oneOf");
        return fit == 1;
    }
    return true;
}

static bool phi__schema_by_type(phi__schema *c, const phi_json *schema, const phi_json *value) {
    switch (phi_json_type_of(value)) {
    case PHI_JSON_NUMBER: return phi__schema_range(c, schema, value);
    case PHI_JSON_STRING:
        if (phi_json_get(schema, "minLength") == NULL && phi_json_get(schema, "maxLength") == NULL)
            return true;
        return phi__schema_count(c, schema, "minLength", "maxLength",
                                 phi__schema_characters(phi_json_str(value, NULL)), "characters");
    case PHI_JSON_ARRAY: return phi__schema_items(c, schema, value);
    case PHI_JSON_OBJECT: return phi__schema_members(c, schema, value);
    default: return true;
    }
}

/* Checks a value against a schema. A malformed or unknown keyword restricts nothing. Results are
   remembered: without this, schemas that refer to themselves twice would double the work with each
   level. If a message is needed, a value whose mismatch is remembered is checked again. */
static bool phi__schema_fits(phi__schema *c, const phi_json *schema, const phi_json *value) {
    uint64_t n = (uint64_t)(uintptr_t)schema * UINT64_C(0x9e3779b97f4a7c15) +
                 (uint64_t)(uintptr_t)value * UINT64_C(0xff51afd7ed558ccd);
    phi__schema_memo *memo = &c->memo[(n ^ n >> 32) >> 8 & (PHI__SCHEMA_MEMO - 1)];
    uint32_t work = c->work;
    bool fits = true;
    if (phi_json_is(schema, PHI_JSON_BOOL)) {
        if (!phi_json_bool(schema, true)) (void)phi__schema_say(c, "nothing is allowed here");
        return phi_json_bool(schema, true);
    }
    if (!phi_json_is(schema, PHI_JSON_OBJECT)) return true;
    if (memo->schema == schema && memo->value == value && (memo->fits || c->quiet > 0))
        return phi__schema_spend(c, 1) && memo->fits;
    if (!phi__schema_enter(c, schema)) return false;
    const phi_json *ref = phi_json_get(schema, "$ref");
    if (phi_json_is(ref, PHI_JSON_STRING)) {
        const phi_json *target = phi__schema_target(c, phi_json_str(ref, NULL));
        fits = target == NULL || phi__schema_fits(c, target, value);
    }
    fits = fits && phi__schema_type(c, schema, value) && phi__schema_enum(c, schema, value) &&
           phi__schema_by_type(c, schema, value) && phi__schema_combined(c, schema, value);
    c->depth--;
    if (c->status != PHI_OK) return false;
    if (c->work - work > PHI__SCHEMA_SMALL * PHI__SCHEMA_VISIT) {
        memo->schema = schema;
        memo->value = value;
        memo->fits = fits;
    }
    return fits;
}

/* ---- checking the schema itself ---- */

enum phi__schema_shape {
    PHI__SCHEMA_TYPE,
    PHI__SCHEMA_ANY,
    PHI__SCHEMA_LIST,    /* an array of values, not empty */
    PHI__SCHEMA_NAMES,   /* an array of strings */
    PHI__SCHEMA_SUB,     /* a schema */
    PHI__SCHEMA_SUBS,    /* an object of schemas */
    PHI__SCHEMA_CHOICES, /* an array of schemas, not empty */
    PHI__SCHEMA_NUMBER,
    PHI__SCHEMA_BOUND, /* a number, or a boolean as in draft 4 */
    PHI__SCHEMA_COUNT,
    PHI__SCHEMA_BOOL,
    PHI__SCHEMA_REF,
    PHI__SCHEMA_REFUSED /* restricts, but is not supported */
};

static const struct {
    enum phi__schema_shape shape;
    const char *names[4];
} phi__schema_rows[] = {
    {PHI__SCHEMA_TYPE, {"type"}},
    {PHI__SCHEMA_ANY, {"const"}},
    {PHI__SCHEMA_LIST, {"enum"}},
    {PHI__SCHEMA_NAMES, {"required"}},
    {PHI__SCHEMA_SUB, {"items", "additionalProperties"}},
    {PHI__SCHEMA_SUBS, {"properties", "$defs", "definitions"}},
    {PHI__SCHEMA_CHOICES, {"anyOf", "oneOf", "allOf"}},
    {PHI__SCHEMA_NUMBER, {"minimum", "maximum"}},
    {PHI__SCHEMA_BOUND, {"exclusiveMinimum", "exclusiveMaximum"}},
    {PHI__SCHEMA_COUNT, {"minLength", "maxLength", "minItems", "maxItems"}},
    {PHI__SCHEMA_BOOL, {"nullable"}},
    {PHI__SCHEMA_REF, {"$ref"}},
    {PHI__SCHEMA_REFUSED, {"pattern", "patternProperties", "propertyNames", "minProperties"}},
    {PHI__SCHEMA_REFUSED, {"maxProperties", "dependencies", "dependentRequired", "not"}},
    {PHI__SCHEMA_REFUSED, {"dependentSchemas", "unevaluatedProperties", "unevaluatedItems"}},
    {PHI__SCHEMA_REFUSED, {"additionalItems", "prefixItems", "contains", "minContains"}},
    {PHI__SCHEMA_REFUSED, {"maxContains", "uniqueItems", "multipleOf", "if"}},
    {PHI__SCHEMA_REFUSED, {"$dynamicRef", "$recursiveRef"}},
};

static bool phi__schema_sound(phi__schema *c, const phi_json *schema);

static bool phi__schema_bad(phi__schema *c, phi_status status, phi_str word, const char *text) {
    if (phi__schema_say(c, "")) {
        phi__schema_quote(c, word);
        phi__schema_text(c, text);
    }
    if (c->status == PHI_OK) c->status = status;
    return false;
}

static bool phi__schema_sub(phi__schema *c, const char *before, phi_str name,
                            const phi_json *schema) {
    size_t was = phi__schema_into(c, before, name, "");
    bool sound = phi__schema_sound(c, schema);
    c->place_len = was;
    return sound;
}

static bool phi__schema_subs(phi__schema *c, phi_str word, const phi_json *subs) {
    size_t was = phi__schema_into(c, ".", word, ""), index = 0;
    phi_json_iter it = phi_json_each(subs);
    bool sound = true;
    while (sound && phi_json_next(&it) != NULL) {
        if (phi_json_is(subs, PHI_JSON_OBJECT)) {
            sound = phi__schema_sub(c, ".", it.key, it.at);
            continue;
        }
        size_t inner = phi__schema_into_item(c, index++);
        sound = phi__schema_sound(c, it.at);
        c->place_len = inner;
    }
    c->place_len = was;
    return sound;
}

static bool phi__schema_sound_type(const phi_json *type) {
    static const char *const names[] = {"string", "number", "integer", "boolean",
                                        "object", "array",  "null"};
    phi_json_iter it = phi_json_each(type);
    if (phi_json_is(type, PHI_JSON_ARRAY)) { /* names only, no arrays inside */
        bool sound = it.left > 0;
        while (sound && phi_json_next(&it) != NULL)
            sound = phi_json_is(it.at, PHI_JSON_STRING) && phi__schema_sound_type(it.at);
        return sound;
    }
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(phi_json_str(type, NULL), names[i])) return true;
    return false;
}

/* Returns the message for a keyword with a value of a wrong type; NULL: the type is right. */
static const char *phi__schema_wrong(unsigned shape, const phi_json *node) {
    bool array = phi_json_is(node, PHI_JSON_ARRAY), number = phi_json_is(node, PHI_JSON_NUMBER);
    phi_json_iter it = phi_json_each(node);
    bool fits = true;
    switch (shape) {
    case PHI__SCHEMA_TYPE:
        return phi__schema_sound_type(node) ? NULL : " must name a type, or several";
    case PHI__SCHEMA_LIST:
    case PHI__SCHEMA_CHOICES:
        return array && it.left > 0 ? NULL : " must be an array that is not empty";
    case PHI__SCHEMA_NAMES:
        while (array && fits && phi_json_next(&it) != NULL)
            fits = phi_json_is(it.at, PHI_JSON_STRING);
        return array && fits ? NULL : " must be an array of strings";
    case PHI__SCHEMA_SUBS: return phi_json_is(node, PHI_JSON_OBJECT) ? NULL : " must be an object";
    case PHI__SCHEMA_NUMBER: return number ? NULL : " must be a number";
    case PHI__SCHEMA_BOUND:
        return number || phi_json_is(node, PHI_JSON_BOOL) ? NULL : " must be a number";
    case PHI__SCHEMA_COUNT:
        fits = phi_json_is(node, PHI_JSON_INTEGER) && phi_json_num(node, -1) >= 0;
        return fits ? NULL : " must be an integer that is not negative";
    case PHI__SCHEMA_BOOL:
        return phi_json_is(node, PHI_JSON_BOOL) ? NULL : " must be true or false";
    case PHI__SCHEMA_REF: return phi_json_is(node, PHI_JSON_STRING) ? NULL : " must be a string";
    default: return NULL;
    }
}

static bool phi__schema_word(phi__schema *c, unsigned shape, phi_str word, const phi_json *node) {
    const char *wrong = phi__schema_wrong(shape, node);
    if (wrong != NULL) return phi__schema_bad(c, PHI_PARSE, word, wrong);
    switch (shape) {
    case PHI__SCHEMA_SUB:
        if (phi_json_is(node, PHI_JSON_ARRAY))
            return phi__schema_bad(c, PHI_UNSUPPORTED, word, " as an array is not supported");
        return phi__schema_sub(c, ".", word, node);
    case PHI__SCHEMA_SUBS:
    case PHI__SCHEMA_CHOICES: return phi__schema_subs(c, word, node);
    case PHI__SCHEMA_REF:
        if (!phi__str_starts(phi_json_str(node, NULL), "#"))
            return phi__schema_bad(c, PHI_UNSUPPORTED, word,
                                   " to another document is not supported");
        if (phi__schema_target(c, phi_json_str(node, NULL)) == NULL && c->status == PHI_OK)
            return phi__schema_bad(c, PHI_PARSE, word, " leads nowhere");
        return c->status == PHI_OK;
    case PHI__SCHEMA_REFUSED: return phi__schema_bad(c, PHI_UNSUPPORTED, word, " is not supported");
    default: return true;
    }
}

static bool phi__schema_sound(phi__schema *c, const phi_json *schema) {
    phi_json_iter it = phi_json_each(schema);
    bool sound = true;
    size_t i;
    if (phi_json_is(schema, PHI_JSON_BOOL)) return true;
    if (!phi_json_is(schema, PHI_JSON_OBJECT)) {
        (void)phi__schema_say(c, "a schema must be an object, true or false");
        if (c->status == PHI_OK) c->status = PHI_PARSE;
        return false;
    }
    if (!phi__schema_enter(c, schema)) return false;
    while (sound && phi_json_next(&it) != NULL)
        for (i = 0; sound && i < PHI__COUNT(phi__schema_rows) * 4; i++) {
            const char *name = phi__schema_rows[i / 4].names[i % 4];
            if (name != NULL && phi__str_is(it.key, name))
                sound = phi__schema_word(c, phi__schema_rows[i / 4].shape, it.key, it.at);
        }
    c->depth--;
    return sound;
}

static void phi__schema_begin(phi__schema *c, const phi_json *schema, const char *name,
                              phi_schema_error *error) {
    memset(c, 0, sizeof *c);
    c->root = schema;
    c->error = error;
    if (error != NULL) error->message[0] = '\0';
    (void)phi__schema_into(c, name, phi__str(NULL, 0), "");
}

PHI__FN phi_status phi__schema_check(phi_memory *memory, const phi_json *schema,
                                     const phi_json *value, const char *name,
                                     phi_schema_error *error) {
    phi__schema c;
    if (schema == NULL || value == NULL) return PHI_BAD_ARG;
    phi__schema_begin(&c, schema, name != NULL ? name : "arguments", error);
    phi__map_init(&c.names, memory);
    bool fits = phi__schema_fits(&c, schema, value);
    phi__map_free(&c.names);
    if (c.status != PHI_OK) return c.status;
    return fits ? PHI_OK : PHI_PARSE;
}

PHI__FN phi_status phi__schema_valid(const phi_json *schema, phi_schema_error *error) {
    phi__schema c;
    if (schema == NULL) return PHI_BAD_ARG;
    phi__schema_begin(&c, schema, "schema", error);
    (void)phi__schema_sound(&c, schema);
    return c.status;
}

/* ---- public ---- */

PHI_API phi_status phi_schema_check(const phi_json *schema, const phi_json *value, const char *name,
                                    phi_schema_error *error) {
    return phi__schema_check(NULL, schema, value, name, error);
}
