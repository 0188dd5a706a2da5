/* schema.c - JSON Schema, as far as tool arguments need it. */
#include "text/schema_in.h"

#include "base/utf8_in.h"

/* ---- the check ---- */

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
    if (!phi__schema_words_say(c, "expected ")) return false;
    if (phi_json_is(type, PHI_JSON_STRING))
        phi__schema_words_put(c, phi_json_str(type, NULL));
    else
        phi__schema_words_list(c, type, false);
    phi__schema_words_text(c, ", got ");
    phi__schema_words_text(c, phi__json_get_type_name(value));
    return false;
}

static bool phi__schema_enum(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *list = phi_json_get(schema, "enum"), *only = phi_json_get(schema, "const");
    phi_json_iter it = phi_json_each(list);
    if (only != NULL && !phi__json_get_equal(only, value)) {
        if (!phi__schema_words_say(c, "expected ")) return false;
        phi__schema_words_value(c, only);
        phi__schema_words_text(c, ", got ");
        phi__schema_words_value(c, value);
        return false;
    }
    if (!phi_json_is(list, PHI_JSON_ARRAY)) return true;
    if (!phi__schema_words_spend(c, it.left)) return false;
    while (phi_json_next(&it) != NULL)
        if (phi__json_get_equal(it.at, value)) return true;
    if (!phi__schema_words_say(c, "got ")) return false;
    phi__schema_words_value(c, value);
    phi__schema_words_text(c, ", expected one of ");
    phi__schema_words_list(c, list, true);
    return false;
}

static bool phi__schema_bound(phi__schema *c, const phi_json *limit, const phi_json *value,
                              bool held, const char *words) {
    if (held || !phi__schema_words_say(c, words)) return held;
    phi__schema_words_number(c, limit);
    phi__schema_words_text(c, ", got ");
    phi__schema_words_number(c, value);
    return false;
}

/* Negative, 0 or positive as a is less than, equal to or greater than b. */
static int phi__schema_order(const phi_json *a, const phi_json *b) {
    double x = phi_json_num(a, 0), y = phi_json_num(b, 0);
    if (x != y) return x < y ? -1 : 1;
    if (phi__json_kind_of(a) == PHI__JSON_INT && phi__json_kind_of(b) == PHI__JSON_INT &&
        a->v.i != b->v.i)
        return a->v.i < b->v.i ? -1 : 1;
    return 0;
}

static bool phi__schema_range(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *least = phi_json_get(schema, "minimum"),
                   *most = phi_json_get(schema, "maximum");
    const phi_json *above = phi_json_get(schema, "exclusiveMinimum");
    const phi_json *below = phi_json_get(schema, "exclusiveMaximum");
    if (phi_json_bool(above, false)) above = least; /* as in draft 4 */
    if (phi_json_bool(below, false)) below = most;
    if (phi_json_is(above, PHI_JSON_NUMBER) &&
        !phi__schema_bound(c, above, value, phi__schema_order(value, above) > 0,
                           "expected a number above "))
        return false;
    if (phi_json_is(below, PHI_JSON_NUMBER) &&
        !phi__schema_bound(c, below, value, phi__schema_order(value, below) < 0,
                           "expected a number below "))
        return false;
    if (phi_json_is(least, PHI_JSON_NUMBER) &&
        !phi__schema_bound(c, least, value, phi__schema_order(value, least) >= 0,
                           "expected at least "))
        return false;
    return !phi_json_is(most, PHI_JSON_NUMBER) ||
           phi__schema_bound(c, most, value, phi__schema_order(value, most) <= 0,
                             "expected at most ");
}

/* `count` against the limits named so; `noun` names the counted things. */
static bool phi__schema_count(phi__schema *c, const phi_json *schema, const char *least_key,
                              const char *most_key, size_t count, const char *noun) {
    const phi_json *least = phi_json_get(schema, least_key), *most = phi_json_get(schema, most_key);
    phi_json got;
    memset(&got, 0, sizeof got);
    got.meta = PHI__JSON_INT;
    got.v.u = count;
    if (phi_json_is(least, PHI_JSON_NUMBER) && phi__schema_order(&got, least) < 0) {
        if (!phi__schema_words_say(c, "expected at least ")) return false;
        phi__schema_words_number(c, least);
    } else if (phi_json_is(most, PHI_JSON_NUMBER) && phi__schema_order(&got, most) > 0) {
        if (!phi__schema_words_say(c, "expected at most ")) return false;
        phi__schema_words_number(c, most);
    } else
        return true;
    phi__schema_words_text(c, " ");
    phi__schema_words_text(c, noun);
    phi__schema_words_text(c, ", got ");
    phi__schema_words_number(c, &got);
    return false;
}

static size_t phi__schema_characters(phi_str text) {
    size_t n = 0, i;
    for (i = 0; i < text.len; i++) n += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return n;
}

static bool phi__schema_items(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *items = phi_json_get(schema, "items");
    phi_json_iter it = phi_json_each(value);
    size_t index = 0, was;
    bool fits = true;
    if (!phi__schema_count(c, schema, "minItems", "maxItems", phi_json_count(value), "items"))
        return false;
    if (items == NULL || phi_json_is(items, PHI_JSON_ARRAY)) return true;
    while (fits && phi_json_next(&it) != NULL) {
        was = phi__schema_words_into_item(c, index++);
        fits = phi__schema_fits(c, items, it.at);
        c->place_len = was;
    }
    return fits;
}

static bool phi__schema_required(phi__schema *c, const phi_json *schema, const phi_json *value) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "required"));
    while (phi_json_next(&it) != NULL) {
        if (!phi_json_is(it.at, PHI_JSON_STRING)) continue;
        if (phi__schema_words_member(c, value, phi_json_str(it.at, NULL)) != NULL) continue;
        if (!phi__schema_words_say(c, "missing required property ")) return false;
        phi__schema_words_quote(c, phi_json_str(it.at, NULL));
        return false;
    }
    return true;
}

static bool phi__schema_unknown(phi__schema *c, phi_str key, const phi_json *known) {
    phi_json_iter it = phi_json_each(known);
    if (!phi__schema_words_say(c, "unknown property ")) return false;
    phi__schema_words_quote(c, key);
    if (it.left > 0) phi__schema_words_text(c, "; there are ");
    while (phi_json_next(&it) != NULL) {
        phi__schema_words_quote(c, it.key);
        if (it.left > 0) phi__schema_words_text(c, ", ");
    }
    return false;
}

static bool phi__schema_members(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *known = phi_json_get(schema, "properties");
    const phi_json *more = phi_json_get(schema, "additionalProperties");
    phi_json_iter it = phi_json_each(value);
    bool fits = phi__schema_required(c, schema, value);
    if (phi_json_get(schema, "patternProperties") != NULL) more = NULL; /* which are more? */
    while (fits && phi_json_next(&it) != NULL) {
        const phi_json *member;
        size_t was;
        member = phi__schema_words_member(c, known, it.key);
        if (c->status != PHI_OK) return false;
        if (member == NULL) member = more;
        if (member == NULL) continue;
        if (member == more && !phi_json_bool(more, true))
            return phi__schema_unknown(c, it.key, known);
        was = phi__schema_words_into(c, ".", it.key, "");
        fits = phi__schema_fits(c, member, it.at);
        c->place_len = was;
    }
    return fits;
}

/* How many of the schemas fit, counted up to two. */
static unsigned phi__schema_fitting(phi__schema *c, const phi_json *list, const phi_json *value) {
    phi_json_iter it = phi_json_each(list);
    unsigned fit = 0;
    c->quiet++;
    while (fit < 2 && c->status == PHI_OK && phi_json_next(&it) != NULL)
        fit += phi__schema_fits(c, it.at, value);
    if (c->quiet > 0) c->quiet--; /* 0: a bound was hit, and reported */
    return fit;
}

/* Of choices that only name types, the types are the better words. */
static void phi__schema_say_none(phi__schema *c, const phi_json *list, const char *word,
                                 const phi_json *value) {
    phi_json_iter it = phi_json_each(list);
    while (phi_json_next(&it) != NULL)
        if (!phi_json_is(phi_json_get(it.at, "type"), PHI_JSON_STRING)) break;
    if (it.at != NULL && phi_json_is(phi_json_get(it.at, "type"), PHI_JSON_STRING) &&
        it.left == 0) {
        bool first = true;
        if (!phi__schema_words_say(c, "expected ")) return;
        it = phi_json_each(list);
        while (phi_json_next(&it) != NULL) {
            if (!first) phi__schema_words_text(c, it.left > 0 ? ", " : " or ");
            first = false;
            phi__schema_words_put(c, phi_json_str(phi_json_get(it.at, "type"), NULL));
        }
        phi__schema_words_text(c, " that fits its schema, got ");
        phi__schema_words_value(c, value);
        return;
    }
    if (!phi__schema_words_say(c, "fits none of the schemas in ")) return;
    phi__schema_words_text(c, word);
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
        if (fit > 1) (void)phi__schema_words_say(c, "fits more than one of the schemas in oneOf");
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

static phi__schema_memo *phi__schema_place(phi__schema *c, const phi_json *schema,
                                           const phi_json *value) {
    uint64_t n = (uint64_t)(uintptr_t)schema * UINT64_C(0x9e3779b97f4a7c15) +
                 (uint64_t)(uintptr_t)value * UINT64_C(0xff51afd7ed558ccd);
    return &c->memo[(n ^ n >> 32) >> 8 & (PHI__SCHEMA_MEMO - 1)];
}

/* A malformed or unknown keyword restricts nothing. A result is remembered: schemas that refer to
   themselves twice would double the work with each level. What does not fit is checked once more
   when its words are wanted. */
static bool phi__schema_fits(phi__schema *c, const phi_json *schema, const phi_json *value) {
    phi__schema_memo *memo = phi__schema_place(c, schema, value);
    const phi_json *ref, *target;
    uint32_t work = c->work;
    bool fits = true;
    if (phi_json_is(schema, PHI_JSON_BOOL)) {
        if (!phi_json_bool(schema, true)) (void)phi__schema_words_say(c, "nothing is allowed here");
        return phi_json_bool(schema, true);
    }
    if (!phi_json_is(schema, PHI_JSON_OBJECT)) return true;
    if (memo->schema == schema && memo->value == value && (memo->fits || c->quiet > 0))
        return phi__schema_words_spend(c, 1) && memo->fits;
    if (!phi__schema_words_enter(c, schema)) return false;
    ref = phi_json_get(schema, "$ref");
    if (phi_json_is(ref, PHI_JSON_STRING)) {
        target = phi__schema_words_target(c, phi_json_str(ref, NULL));
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

/* ---- the schema itself ---- */

enum phi__schema_shape {
    PHI__SCHEMA_TYPE,
    PHI__SCHEMA_ANY,
    PHI__SCHEMA_LIST,    /* of values, not empty */
    PHI__SCHEMA_NAMES,   /* of strings */
    PHI__SCHEMA_SUB,     /* one schema */
    PHI__SCHEMA_SUBS,    /* schemas by name */
    PHI__SCHEMA_CHOICES, /* a list of schemas, not empty */
    PHI__SCHEMA_NUMBER,
    PHI__SCHEMA_BOUND, /* a number, or draft 4's boolean */
    PHI__SCHEMA_COUNT,
    PHI__SCHEMA_BOOL,
    PHI__SCHEMA_REF,
    PHI__SCHEMA_REFUSED /* restricts, and is not understood */
};

static const struct {
    char name[23];
    uint8_t shape;
} phi__schema_words[] = {
    {"type", PHI__SCHEMA_TYPE},
    {"const", PHI__SCHEMA_ANY},
    {"enum", PHI__SCHEMA_LIST},
    {"required", PHI__SCHEMA_NAMES},
    {"items", PHI__SCHEMA_SUB},
    {"additionalProperties", PHI__SCHEMA_SUB},
    {"properties", PHI__SCHEMA_SUBS},
    {"$defs", PHI__SCHEMA_SUBS},
    {"definitions", PHI__SCHEMA_SUBS},
    {"anyOf", PHI__SCHEMA_CHOICES},
    {"oneOf", PHI__SCHEMA_CHOICES},
    {"allOf", PHI__SCHEMA_CHOICES},
    {"minimum", PHI__SCHEMA_NUMBER},
    {"maximum", PHI__SCHEMA_NUMBER},
    {"exclusiveMinimum", PHI__SCHEMA_BOUND},
    {"exclusiveMaximum", PHI__SCHEMA_BOUND},
    {"minLength", PHI__SCHEMA_COUNT},
    {"maxLength", PHI__SCHEMA_COUNT},
    {"minItems", PHI__SCHEMA_COUNT},
    {"maxItems", PHI__SCHEMA_COUNT},
    {"nullable", PHI__SCHEMA_BOOL},
    {"$ref", PHI__SCHEMA_REF},
    {"pattern", PHI__SCHEMA_REFUSED},
    {"patternProperties", PHI__SCHEMA_REFUSED},
    {"propertyNames", PHI__SCHEMA_REFUSED},
    {"minProperties", PHI__SCHEMA_REFUSED},
    {"maxProperties", PHI__SCHEMA_REFUSED},
    {"dependencies", PHI__SCHEMA_REFUSED},
    {"dependentRequired", PHI__SCHEMA_REFUSED},
    {"dependentSchemas", PHI__SCHEMA_REFUSED},
    {"unevaluatedProperties", PHI__SCHEMA_REFUSED},
    {"unevaluatedItems", PHI__SCHEMA_REFUSED},
    {"additionalItems", PHI__SCHEMA_REFUSED},
    {"prefixItems", PHI__SCHEMA_REFUSED},
    {"contains", PHI__SCHEMA_REFUSED},
    {"minContains", PHI__SCHEMA_REFUSED},
    {"maxContains", PHI__SCHEMA_REFUSED},
    {"uniqueItems", PHI__SCHEMA_REFUSED},
    {"multipleOf", PHI__SCHEMA_REFUSED},
    {"not", PHI__SCHEMA_REFUSED},
    {"if", PHI__SCHEMA_REFUSED},
    {"$dynamicRef", PHI__SCHEMA_REFUSED},
    {"$recursiveRef", PHI__SCHEMA_REFUSED},
};

static bool phi__schema_sound(phi__schema *c, const phi_json *schema);

static bool phi__schema_bad(phi__schema *c, phi_status status, phi_str word, const char *text) {
    if (phi__schema_words_say(c, "")) {
        phi__schema_words_quote(c, word);
        phi__schema_words_text(c, text);
    }
    if (c->status == PHI_OK) c->status = status;
    return false;
}

static bool phi__schema_sub(phi__schema *c, const char *before, phi_str name,
                            const phi_json *schema) {
    size_t was = phi__schema_words_into(c, before, name, "");
    bool sound = phi__schema_sound(c, schema);
    c->place_len = was;
    return sound;
}

static bool phi__schema_subs(phi__schema *c, phi_str word, const phi_json *subs) {
    size_t was = phi__schema_words_into(c, ".", word, ""), index = 0, inner;
    phi_json_iter it = phi_json_each(subs);
    bool sound = true;
    while (sound && phi_json_next(&it) != NULL) {
        if (phi_json_is(subs, PHI_JSON_OBJECT)) {
            sound = phi__schema_sub(c, ".", it.key, it.at);
            continue;
        }
        inner = phi__schema_words_into_item(c, index++);
        sound = phi__schema_sound(c, it.at);
        c->place_len = inner;
    }
    c->place_len = was;
    return sound;
}

static bool phi__schema_known_type(const phi_json *type) {
    static const char *const names[] = {"string", "number", "integer", "boolean",
                                        "object", "array",  "null"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(phi_json_str(type, NULL), names[i])) return true;
    return false;
}

static bool phi__schema_sound_type(const phi_json *type) {
    phi_json_iter it = phi_json_each(type);
    if (!phi_json_is(type, PHI_JSON_ARRAY) || it.left == 0) return phi__schema_known_type(type);
    while (phi_json_next(&it) != NULL)
        if (!phi__schema_known_type(it.at)) return false;
    return true;
}

static bool phi__schema_sound_names(const phi_json *names) {
    phi_json_iter it = phi_json_each(names);
    if (!phi_json_is(names, PHI_JSON_ARRAY)) return false;
    while (phi_json_next(&it) != NULL)
        if (!phi_json_is(it.at, PHI_JSON_STRING)) return false;
    return true;
}

/* The expected type of a keyword, if `node` is of another; NULL: it fits. */
static const char *phi__schema_wrong(unsigned shape, const phi_json *node) {
    bool list = phi_json_is(node, PHI_JSON_ARRAY) && phi_json_count(node) > 0;
    switch (shape) {
    case PHI__SCHEMA_TYPE:
        return phi__schema_sound_type(node) ? NULL : " must name a type, or several";
    case PHI__SCHEMA_LIST:
    case PHI__SCHEMA_CHOICES: return list ? NULL : " must be an array that is not empty";
    case PHI__SCHEMA_NAMES:
        return phi__schema_sound_names(node) ? NULL : " must be an array of strings";
    case PHI__SCHEMA_SUBS: return phi_json_is(node, PHI_JSON_OBJECT) ? NULL : " must be an object";
    case PHI__SCHEMA_NUMBER: return phi_json_is(node, PHI_JSON_NUMBER) ? NULL : " must be a number";
    case PHI__SCHEMA_BOUND:
        return phi_json_is(node, PHI_JSON_NUMBER) || phi_json_is(node, PHI_JSON_BOOL)
                   ? NULL
                   : " must be a number";
    case PHI__SCHEMA_COUNT:
        return phi_json_is(node, PHI_JSON_INTEGER) && phi_json_num(node, -1) >= 0
                   ? NULL
                   : " must be an integer that is not negative";
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
        if (phi__schema_words_target(c, phi_json_str(node, NULL)) == NULL && c->status == PHI_OK)
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
        (void)phi__schema_words_say(c, "a schema must be an object, true or false");
        if (c->status == PHI_OK) c->status = PHI_PARSE;
        return false;
    }
    if (!phi__schema_words_enter(c, schema)) return false;
    while (sound && phi_json_next(&it) != NULL)
        for (i = 0; sound && i < PHI__COUNT(phi__schema_words); i++)
            if (phi__str_is(it.key, phi__schema_words[i].name))
                sound = phi__schema_word(c, phi__schema_words[i].shape, it.key, it.at);
    c->depth--;
    return sound;
}

static void phi__schema_begin(phi__schema *c, const phi_json *schema, const char *name,
                              phi_schema_error *error) {
    memset(c, 0, sizeof *c);
    c->root = schema;
    c->error = error;
    if (error != NULL) error->message[0] = '\0';
    (void)phi__schema_words_into(c, name, phi__str(NULL, 0), "");
}

PHI__FN phi_status phi__schema_check(phi_memory *memory, const phi_json *schema,
                                     const phi_json *value, const char *name,
                                     phi_schema_error *error) {
    phi__schema c;
    bool fits;
    if (schema == NULL || value == NULL) return PHI_BAD_ARG;
    phi__schema_begin(&c, schema, name != NULL ? name : "arguments", error);
    phi__map_init(&c.names, memory);
    fits = phi__schema_fits(&c, schema, value);
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
