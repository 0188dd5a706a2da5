/* strict.c - rewrites a JSON Schema into the form that a provider accepts.

   A strict form writes the members of each schema in a fixed order, so equal schemas give equal
   bytes. Gemini's form changes only the parts that Google refuses. The accepted keywords come from
   the lists of supported schemas of OpenAI, Azure and Anthropic, and from Google's documentation,
   November 2026. */
#include "wire/codec_in.h"

#include <stdio.h>

/* ---- finds the target of a "$ref" inside the schema ---- */

PHI__FN const phi_json *phi__schema_ref_find(const phi_json *root, phi_str ref, size_t *looked) {
    const phi_json *at = root;
    size_t from = 1;
    if (ref.len == 0 || ref.at[0] != '#') return NULL;
    while (from < ref.len && at != NULL) {
        size_t end = phi__str_find(ref, from + 1, "/");
        const phi_json *found = NULL;
        phi_json_iter it = phi_json_each(at);
        if (ref.at[from] != '/' || !phi_json_is(at, PHI_JSON_OBJECT)) return NULL;
        if (end == SIZE_MAX) end = ref.len;
        *looked = phi__add(*looked, 1 + it.left);
        while (phi_json_next(&it) != NULL)
            if (phi__schema_same_step(it.key, phi__str(ref.at + from + 1, end - from - 1)))
                found = it.at;
        at = found;
        from = end;
    }
    return at;
}

/* ---- how each form treats the keywords of JSON Schema ---- */

typedef enum phi__strict_kind {
    PHI__STRICT_OTHER = 0, /* unknown, or a mere description: left out */
    PHI__STRICT_KEEP,      /* has its own code; allowed next to anyOf and $ref */
    PHI__STRICT_OWN,       /* has its own code; not allowed next to anyOf and $ref */
    PHI__STRICT_CHOICE,    /* anyOf, oneOf, allOf or $ref */
    PHI__STRICT_NOTE,      /* a note for the model: moved to the description */
    PHI__STRICT_NARROWS,   /* kept if the form has the keyword, else moved to the description */
    PHI__STRICT_REFUSED
} phi__strict_kind;

/* The value of a keyword: no schema, one schema, or an array or object of schemas. */
typedef enum phi__strict_room {
    PHI__STRICT_NO_SCHEMA,
    PHI__STRICT_ONE,
    PHI__STRICT_MANY
} phi__strict_room;

enum {
    PHI__STRICT_BY_OPENAI = 1 << PHI__STRICT_OPENAI,
    PHI__STRICT_BY_ANTHROPIC = 1 << PHI__STRICT_ANTHROPIC,
    PHI__STRICT_ROW = 7
};

/* Keywords of kind NARROWS are written in the order of this table. */
static const struct phi__strict_row {
    phi__strict_kind kind;
    phi__strict_room room;
    unsigned forms; /* bits of the forms that have the keywords */
    const char *names[PHI__STRICT_ROW];
} phi__strict_rows[] = {
    {PHI__STRICT_KEEP, PHI__STRICT_NO_SCHEMA, 0, {"description", "title", "nullable"}},
    {PHI__STRICT_KEEP, PHI__STRICT_MANY, 0, {"$defs", "definitions"}},
    {PHI__STRICT_OWN, PHI__STRICT_NO_SCHEMA, 0, {"type", "required", "enum", "const"}},
    {PHI__STRICT_OWN, PHI__STRICT_NO_SCHEMA, 0, {"unevaluatedProperties"}},
    {PHI__STRICT_OWN, PHI__STRICT_ONE, 0, {"items", "additionalProperties"}},
    {PHI__STRICT_OWN, PHI__STRICT_MANY, 0, {"properties"}},
    {PHI__STRICT_CHOICE, PHI__STRICT_MANY, 0, {"anyOf", "oneOf", "allOf"}},
    {PHI__STRICT_CHOICE, PHI__STRICT_NO_SCHEMA, 0, {"$ref"}},
    {PHI__STRICT_NOTE, PHI__STRICT_NO_SCHEMA, 0, {"default", "examples"}},
    {PHI__STRICT_NARROWS,
     PHI__STRICT_NO_SCHEMA,
     PHI__STRICT_BY_OPENAI,
     {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"}},
    {PHI__STRICT_NARROWS,
     PHI__STRICT_NO_SCHEMA,
     PHI__STRICT_BY_OPENAI | PHI__STRICT_BY_ANTHROPIC,
     {"format", "minItems"}},
    {PHI__STRICT_NARROWS, PHI__STRICT_NO_SCHEMA, PHI__STRICT_BY_OPENAI, {"maxItems"}},
    {PHI__STRICT_NARROWS,
     PHI__STRICT_NO_SCHEMA,
     0,
     {"minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties"}},
    {PHI__STRICT_REFUSED,
     PHI__STRICT_ONE,
     0,
     {"not", "if", "then", "else", "contains", "propertyNames"}},
    {PHI__STRICT_REFUSED, PHI__STRICT_MANY, 0, {"patternProperties", "prefixItems"}},
    {PHI__STRICT_REFUSED,
     PHI__STRICT_NO_SCHEMA,
     0,
     {"dependentRequired", "dependentSchemas", "dependencies", "additionalItems",
      "unevaluatedItems", "$dynamicRef", "$recursiveRef"}},
};

/* Returns the row of a keyword, or an empty row for an unknown keyword. */
static const struct phi__strict_row *phi__strict_of(phi_str key) {
    static const struct phi__strict_row other = PHI_ZERO;
    for (size_t i = 0; i < PHI__COUNT(phi__strict_rows); i++)
        for (size_t k = 0; k < PHI__STRICT_ROW && phi__strict_rows[i].names[k] != NULL; k++)
            if (phi__str_is(key, phi__strict_rows[i].names[k])) return &phi__strict_rows[i];
    return &other;
}

/* True if the form accepts this keyword with this value. */
static bool phi__strict_keep(phi__strict_form form, phi_str key, const phi_json *value) {
    if ((phi__strict_of(key)->forms >> form & 1u) == 0) return false;
    if (phi__str_is(key, "format")) {
        phi_str format = phi_json_str(value, NULL);
        static const char *const names[] = {"date-time", "time", "date", "duration", "email",
                                            "hostname",  "ipv4", "ipv6", "uuid",     NULL};
        if (phi__codec_among(format, names)) return true;
        return form == PHI__STRICT_ANTHROPIC && phi__str_is(format, "uri");
    }
    if (phi__str_is(key, "pattern")) return phi_json_is(value, PHI_JSON_STRING);
    if (phi__str_is(key, "minItems") && form == PHI__STRICT_ANTHROPIC)
        return phi_json_int(value, 2) <= 1;
    return phi_json_is(value, PHI_JSON_NUMBER);
}

/* ---- the strict form ---- */

enum {
    PHI__STRICT_DEPTH = 100,    /* nesting limit; providers allow 10 levels or fewer */
    PHI__STRICT_DEEPER = 200,   /* nesting limit of Gemini's form */
    PHI__STRICT_WORK = 4000000, /* max. members visited: takes some tenths of a second */
    PHI__STRICT_PLACE = 200
};

enum { /* types as bits, in the order in which they are written */
       PHI__STRICT_STRING = 1,
       PHI__STRICT_NUMBER = 2,
       PHI__STRICT_INTEGER = 4,
       PHI__STRICT_BOOLEAN = 8,
       PHI__STRICT_OBJECT = 16,
       PHI__STRICT_ARRAY = 32,
       PHI__STRICT_NULL = 64
};

typedef struct phi__strict {
    phi__buf *out;
    phi__buf hint; /* scratch: a value as JSON text */
    phi_arena *arena;
    const phi_json *root;
    phi__strict_form form;
    char *words;
    size_t words_size;
    char place[PHI__STRICT_PLACE]; /* JSON Pointer to the current schema, cut if too long */
    size_t place_len;
    uint32_t depth, work;
    bool refused;
    uint8_t *visits; /* by number of the definition; 1: is being visited, 2: was visited */
} phi__strict;

/* ---- error messages ---- */

/* Used in place of a keyword's name if a message is about the whole schema. */
static const phi_str phi__strict_it = {"", 0};

/* Refuses the schema and returns false. Keeps the first message. `what` is a keyword or a name. */
static bool phi__strict_no(phi__strict *s, phi_str what, const char *why) {
    int len = (int)phi__utf8_cut(what, phi__min(what.len, 60));
    if (s->refused) return false;
    s->refused = true;
    if (s->words_size == 0) return false;
    (void)snprintf(s->words, s->words_size, "at %.*s: %s%.*s%s%s",
                   s->place_len > 0 ? (int)s->place_len : 8,
                   s->place_len > 0 ? s->place : "its root", what.len > 0 ? "\"" : "", len,
                   what.len > 0 ? what.at : "", what.len > 0 ? "\" " : "", why);
    s->words[phi__utf8_valid(phi_str_of(s->words))] = '\0'; /* do not end in a cut character */
    return false;
}

static void phi__strict_place(phi__strict *s, char c) {
    if (s->place_len < sizeof s->place) s->place[s->place_len++] = c;
}

/* Appends a step to s->place. Returns the old length, with which the caller restores it. */
static size_t phi__strict_into(phi__strict *s, phi_str step) {
    size_t was = s->place_len;
    phi__strict_place(s, '/');
    for (size_t i = 0; i < step.len; i++) {
        char c = step.at[i];
        if (c == '~' || c == '/') {
            phi__strict_place(s, '~');
            c = c == '~' ? '0' : '1';
        }
        phi__strict_place(s, c);
    }
    s->place_len = phi__utf8_valid(phi__str(s->place, s->place_len));
    return was;
}

static size_t phi__strict_into_text(phi__strict *s, const char *step) {
    return phi__strict_into(s, phi_str_of(step));
}

static size_t phi__strict_into_item(phi__strict *s, size_t index) {
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)index);
    return phi__strict_into_text(s, digits);
}

static bool phi__strict_spend(phi__strict *s, size_t work) {
    if (s->refused || s->out->failed) return false;
    if (work <= PHI__STRICT_WORK && s->work <= PHI__STRICT_WORK - work) {
        s->work += (uint32_t)work;
        return true;
    }
    return phi__strict_no(s, phi__strict_it, "this is too large");
}

static bool phi__strict_enter(phi__strict *s, const phi_json *schema) {
    if (!phi__strict_spend(s, 1 + phi_json_count(schema))) return false;
    uint32_t most = s->form == PHI__STRICT_GEMINI ? PHI__STRICT_DEEPER : PHI__STRICT_DEPTH;
    if (s->depth >= most) return phi__strict_no(s, phi__strict_it, "this is nested too deeply");
    s->depth++;
    return true;
}

/* ---- keywords ---- */

/* Refuses keywords that no strict form has. Returns the value of anyOf, oneOf, allOf or $ref, or
   NULL if the schema has none of them. */
static const phi_json *phi__strict_look(phi__strict *s, const phi_json *schema, phi_str *choice) {
    phi_json_iter it = phi_json_each(schema);
    const phi_json *found = NULL;
    phi_str others = phi__str("", 0);
    *choice = others;
    while (phi_json_next(&it) != NULL) {
        phi__strict_kind kind = phi__strict_of(it.key)->kind;
        if (kind == PHI__STRICT_REFUSED) (void)phi__strict_no(s, it.key, "has no strict form");
        if (kind == PHI__STRICT_OWN || kind == PHI__STRICT_NARROWS) others = it.key;
        if (kind != PHI__STRICT_CHOICE) continue;
        if (found != NULL) others = it.key;
        found = it.at;
        *choice = it.key;
    }
    if (found == NULL) return NULL;
    if ((phi__str_is(*choice, "oneOf") || phi__str_is(*choice, "allOf")) &&
        phi_json_count(found) != 1)
        (void)phi__strict_no(s, *choice, "has no strict form");
    else if (others.len > 0)
        (void)phi__strict_no(s, others, "beside anyOf or $ref has no strict form");
    return found;
}

/* ---- types ---- */

static const char *const phi__strict_types[] = {"string", "number", "integer", "boolean",
                                                "object", "array",  "null"};

static unsigned phi__strict_type_bit(phi_str name) {
    for (size_t i = 0; i < PHI__COUNT(phi__strict_types); i++)
        if (phi__str_is(name, phi__strict_types[i])) return 1u << i;
    return 0;
}

static unsigned phi__strict_value_bit(const phi_json *value) {
    if (phi_json_is(value, PHI_JSON_INTEGER)) return PHI__STRICT_INTEGER;
    return phi__strict_type_bit(phi_str_of(phi__json_get_type_name(value)));
}

/* Returns the types that a schema names or its keywords imply. Refuses a schema without types. */
static unsigned phi__strict_types_of(phi__strict *s, const phi_json *schema) {
    const phi_json *type = phi_json_get(schema, "type"), *value = phi_json_get(schema, "const");
    phi_json_iter it = phi_json_each(type);
    unsigned types = phi__strict_type_bit(phi_json_str(type, NULL));
    while (phi_json_is(type, PHI_JSON_ARRAY) && phi_json_next(&it) != NULL)
        types |= phi__strict_type_bit(phi_json_str(it.at, NULL));
    if (types == 0) {
        if (value != NULL) types |= phi__strict_value_bit(value);
        it = phi_json_each(phi_json_get(schema, "enum"));
        while (value == NULL && phi_json_next(&it) != NULL) types |= phi__strict_value_bit(it.at);
        if (phi_json_get(schema, "properties") != NULL) types |= PHI__STRICT_OBJECT;
        if (phi_json_get(schema, "items") != NULL) types |= PHI__STRICT_ARRAY;
    }
    if (types == 0)
        (void)phi__strict_no(s, phi__strict_it, "a strict schema must say a type");
    else if (phi_json_bool(phi_json_get(schema, "nullable"), false))
        types |= PHI__STRICT_NULL;
    return types;
}

static void phi__strict_put(phi__strict *s, const phi_json *schema, bool nullable);

static void phi__strict_put_value(phi__strict *s, const phi_json *value) {
    if (phi__json_write(s->out, value, 0) == PHI_TOO_BIG)
        (void)phi__strict_no(s, phi__strict_it, "this is nested too deeply");
}

static void phi__strict_put_description(phi__strict *s, const phi_json *schema) {
    phi_str title = phi_json_str(phi_json_get(schema, "title"), NULL);
    phi_str words = phi_json_str(phi_json_get(schema, "description"), NULL);
    phi_json_iter it = phi_json_each(schema);
    bool open = false, hints = false;
    if (title.len > 0) phi__records_str(s->out, "title", title);
    if (words.len > 0) {
        phi__records_raw(s->out, "description", "\"");
        phi__json_write_part(s->out, words);
        open = true;
    }
    while (phi_json_next(&it) != NULL) {
        phi__strict_kind kind = phi__strict_of(it.key)->kind;
        if (kind != PHI__STRICT_NOTE && kind != PHI__STRICT_NARROWS) continue;
        if (phi__strict_keep(s->form, it.key, it.at)) continue;
        if (!open) {
            phi__records_raw(s->out, "description", "\"");
        } else if (!hints)
            phi__buf_char(s->out, ' ');
        /* Append a keyword that the form lacks to the description: "(minLength: 3, ...)". */
        phi_str key = it.key;
        const phi_json *value = it.at;
        bool first = !hints;
        phi__buf_text(s->out, first ? "(" : ", ");
        phi__json_write_part(s->out, key);
        phi__buf_text(s->out, ": ");
        phi__buf_clear(&s->hint);
        if (phi__json_write(&s->hint, value, 0) == PHI_TOO_BIG)
            (void)phi__strict_no(s, key, "is nested too deeply");
        if (s->hint.failed) s->out->failed = true;
        phi__json_write_part(s->out, phi__buf_str(&s->hint));
        open = hints = true;
    }
    if (open) phi__buf_text(s->out, hints ? ")\"" : "\"");
}

static void phi__strict_put_enum(phi__strict *s, const phi_json *schema, bool nullable) {
    const phi_json *list = phi_json_get(schema, "enum"), *value = phi_json_get(schema, "const");
    phi_json_iter it = phi_json_each(list);
    bool has_null = value != NULL && phi_json_is(value, PHI_JSON_NULL);
    if (list == NULL && value == NULL) return;
    if (list != NULL && (value != NULL || !phi_json_is(list, PHI_JSON_ARRAY) || it.left == 0)) {
        (void)phi__strict_no(s, PHI__LIT("enum"),
                             value != NULL ? "beside const has no strict form"
                                           : "must be an array that is not empty");
        return;
    }
    phi__records_raw(s->out, "enum", "[");
    if (value != NULL) phi__strict_put_value(s, value);
    while (phi_json_next(&it) != NULL) {
        if (phi_json_is(it.at, PHI_JSON_OBJECT) || phi_json_is(it.at, PHI_JSON_ARRAY))
            (void)phi__strict_no(s, PHI__LIT("enum"),
                                 "with objects or arrays in it has no strict form");
        phi__json_write_comma(s->out);
        phi__strict_put_value(s, it.at);
        has_null = has_null || phi_json_is(it.at, PHI_JSON_NULL);
    }
    if (phi_json_is(value, PHI_JSON_OBJECT) || phi_json_is(value, PHI_JSON_ARRAY))
        (void)phi__strict_no(s, PHI__LIT("const"), "of an object or array has no strict form");
    if (nullable && !has_null) phi__buf_text(s->out, ",null");
    phi__buf_char(s->out, ']');
}

static bool phi__strict_listed(phi__strict *s, const phi_json *names, phi_str name) {
    phi_json_iter it = phi_json_each(names);
    if (!phi__strict_spend(s, 1 + it.left)) return false;
    while (phi_json_is(names, PHI_JSON_ARRAY) && phi_json_next(&it) != NULL)
        if (phi_str_equal(phi_json_str(it.at, NULL), name)) return true;
    return false;
}

/* Refuses a required name that is not a property: the strict form allows no other properties. */
static void phi__strict_check_required(phi__strict *s, const phi_json *required,
                                       const phi_json *properties) {
    phi_json_iter it = phi_json_each(required);
    while (phi_json_is(required, PHI_JSON_ARRAY) && phi_json_next(&it) != NULL) {
        phi_str name = phi_json_str(it.at, NULL);
        if (!phi__strict_spend(s, 1 + phi_json_count(properties))) return;
        if (phi__json_get_n(properties, name) == NULL)
            (void)phi__strict_no(s, name, "is required, and is none of the properties");
    }
}

static void phi__strict_put_required(phi__strict *s, const phi_json *required,
                                     const phi_json *properties) {
    phi_json_iter it = phi_json_each(properties);
    bool all = s->form != PHI__STRICT_ANTHROPIC;
    phi__records_raw(s->out, "required", "[");
    while (phi_json_next(&it) != NULL) {
        if (!all && !phi__strict_listed(s, required, it.key)) continue;
        phi__json_write_comma(s->out);
        phi__json_write_str(s->out, it.key);
    }
    phi__buf_char(s->out, ']');
}

static void phi__strict_put_object(phi__strict *s, const phi_json *schema) {
    const phi_json *properties = phi_json_get(schema, "properties");
    const phi_json *required = phi_json_get(schema, "required");
    const phi_json *more = phi_json_get(schema, "additionalProperties");
    const phi_json *rest = phi_json_get(schema, "unevaluatedProperties");
    phi_json_iter it = phi_json_each(properties);
    if (more != NULL && phi_json_bool(more, true)) {
        (void)phi__strict_no(s, PHI__LIT("additionalProperties"),
                             "has no strict form unless it is false");
        return;
    }
    if (rest != NULL && phi_json_bool(rest, true)) {
        (void)phi__strict_no(s, PHI__LIT("unevaluatedProperties"),
                             "has no strict form unless it is false");
        return;
    }
    if (!phi_json_is(properties, PHI_JSON_OBJECT) && more == NULL && s->depth > 1) {
        (void)phi__strict_no(s, phi__strict_it, "an object of any properties has no strict form");
        return;
    }
    phi__strict_check_required(s, required, properties);
    phi__records_raw(s->out, "properties", "{");
    size_t was = phi__strict_into_text(s, "properties");
    while (!s->refused && phi_json_is(properties, PHI_JSON_OBJECT) && phi_json_next(&it) != NULL) {
        size_t here = phi__strict_into(s, it.key);
        phi__json_write_key(s->out, it.key);
        phi__strict_put(
            s, it.at, s->form != PHI__STRICT_ANTHROPIC && !phi__strict_listed(s, required, it.key));
        s->place_len = here;
    }
    s->place_len = was;
    phi__buf_char(s->out, '}');
    phi__strict_put_required(s, required, properties);
    phi__buf_text(s->out, ",\"additionalProperties\":false");
}

static void phi__strict_put_array(phi__strict *s, const phi_json *schema) {
    const phi_json *items = phi_json_get(schema, "items");
    if (items == NULL) {
        (void)phi__strict_no(s, phi__strict_it, "an array must say what its items are");
        return;
    }
    phi__json_write_key(s->out, PHI__LIT("items"));
    size_t was = phi__strict_into_text(s, "items");
    phi__strict_put(s, items, false);
    s->place_len = was;
}

/* ---- references ---- */

/* Returns the schema that "#", "#/$defs/x" or "#/definitions/x" names; NULL if there is none.
   *number is 0 for the root, and definitions count from 1. */
static const phi_json *phi__strict_target(phi__strict *s, phi_str ref, size_t *number) {
    static const char *const rooms[] = {"$defs", "definitions"};
    const phi_json *found = NULL;
    size_t at = 0;
    *number = 0;
    if (phi__str_is(ref, "#")) return s->root;
    for (size_t i = 0; i < PHI__COUNT(rooms); i++) {
        const phi_json *room = phi_json_get(s->root, rooms[i]);
        phi_json_iter it = phi_json_each(room);
        size_t skip = 3 + strlen(rooms[i]);
        bool here = ref.len > skip && ref.at[0] == '#' && ref.at[1] == '/' &&
                    memcmp(ref.at + 2, rooms[i], skip - 3) == 0 && ref.at[skip - 1] == '/';
        if (!phi__strict_spend(s, 1 + it.left)) return NULL;
        while (phi_json_is(room, PHI_JSON_OBJECT) && phi_json_next(&it) != NULL) {
            at++;
            if (!here || !phi__schema_same_step(it.key, phi__str_from(ref, skip))) continue;
            found = it.at;
            *number = at;
        }
    }
    return found;
}

static void phi__strict_put_ref(phi__strict *s, const phi_json *ref) {
    size_t number;
    phi_str text = phi_json_str(ref, NULL);
    if (phi__strict_target(s, text, &number) == NULL)
        (void)phi__strict_no(s, PHI__LIT("$ref"), "must be \"#\" or name one of the $defs");
    phi__buf_text(s->out, "\"$ref\":");
    phi__json_write_str(s->out, text);
}

static void phi__strict_put_choice(phi__strict *s, const phi_json *schema, phi_str word,
                                   const phi_json *choice, bool nullable) {
    bool ref = phi__str_is(word, "$ref");
    size_t before = s->out->len;
    nullable = nullable || phi_json_bool(phi_json_get(schema, "nullable"), false);
    if (s->depth == 1) (void)phi__strict_no(s, word, "may not be at the root");
    phi__strict_put_description(s, schema);
    if (ref && !nullable && s->out->len == before) { /* a "$ref" must be the only member */
        phi__strict_put_ref(s, choice);
        return;
    }
    phi__records_raw(s->out, "anyOf", "[");
    if (ref) {
        phi__buf_char(s->out, '{');
        phi__strict_put_ref(s, choice);
        phi__buf_char(s->out, '}');
    } else {
        phi_json_iter it = phi_json_each(choice);
        size_t was = phi__strict_into(s, word), i = 0;
        if (!phi_json_is(choice, PHI_JSON_ARRAY) || it.left == 0)
            (void)phi__strict_no(s, word, "must be an array that is not empty");
        while (!s->refused && phi_json_next(&it) != NULL) {
            size_t here = phi__strict_into_item(s, i);
            if (i++ > 0) phi__buf_char(s->out, ',');
            phi__strict_put(s, it.at, false);
            s->place_len = here;
        }
        s->place_len = was;
    }
    if (nullable) phi__buf_text(s->out, ",{\"type\":\"null\"}");
    phi__buf_char(s->out, ']');
}

static void phi__strict_put_defs(phi__strict *s, const char *room) {
    const phi_json *defs = phi_json_get(s->root, room);
    phi_json_iter it = phi_json_each(defs);
    size_t was = phi__strict_into_text(s, room);
    if (phi_json_is(defs, PHI_JSON_OBJECT) && it.left > 0) {
        phi__records_raw(s->out, room, "{");
        while (!s->refused && phi_json_next(&it) != NULL) {
            size_t here = phi__strict_into(s, it.key);
            phi__json_write_key(s->out, it.key);
            phi__strict_put(s, it.at, false);
            s->place_len = here;
        }
        phi__buf_char(s->out, '}');
    }
    s->place_len = was;
}

/* Writes the narrowing keywords that the form accepts. */
static void phi__strict_put_narrowing(phi__strict *s, const phi_json *schema) {
    for (size_t i = 0; i < PHI__COUNT(phi__strict_rows) * PHI__STRICT_ROW; i++) {
        const char *name = phi__strict_rows[i / PHI__STRICT_ROW].names[i % PHI__STRICT_ROW];
        const phi_json *value = name != NULL ? phi_json_get(schema, name) : NULL;
        if (value == NULL || !phi__strict_keep(s->form, phi_str_of(name), value)) continue;
        phi__json_write_key(s->out, phi_str_of(name));
        phi__strict_put_value(s, value);
    }
}

static void phi__strict_put(phi__strict *s, const phi_json *schema, bool nullable) {
    phi_str word;
    if (!phi_json_is(schema, PHI_JSON_OBJECT)) {
        (void)phi__strict_no(s, phi__strict_it, "a strict schema must be an object");
        return;
    }
    if (!phi__strict_enter(s, schema)) return;
    const phi_json *choice = phi__strict_look(s, schema, &word);
    phi__buf_char(s->out, '{');
    if (choice != NULL)
        phi__strict_put_choice(s, schema, word, choice, nullable);
    else {
        unsigned types = phi__strict_types_of(s, schema);
        if (s->depth == 1 && !s->refused && types != PHI__STRICT_OBJECT)
            (void)phi__strict_no(s, phi__strict_it, "the type must be \"object\"");
        if (!s->refused) {
            if (nullable) types |= PHI__STRICT_NULL;
            /* DeepSeek refuses a list of types that contains "object" or "array". */
            bool apart = s->form == PHI__STRICT_PLAIN && (types & PHI__STRICT_NULL) != 0 &&
                         (types & (PHI__STRICT_OBJECT | PHI__STRICT_ARRAY)) != 0;
            if (apart) {
                phi__buf_text(s->out, "\"anyOf\":[{");
                types &= ~(unsigned)PHI__STRICT_NULL;
            }
            bool many = (types & (types - 1)) != 0, first = true;
            phi__buf_text(s->out, many ? "\"type\":[" : "\"type\":");
            for (size_t i = 0; i < PHI__COUNT(phi__strict_types); i++) {
                if ((types >> i & 1u) == 0) continue;
                if (!first) phi__buf_char(s->out, ',');
                first = false;
                phi__json_write_str(s->out, phi_str_of(phi__strict_types[i]));
            }
            if (many) phi__buf_char(s->out, ']');
            phi__strict_put_description(s, schema);
            phi__strict_put_enum(s, schema, nullable);
            if ((types & PHI__STRICT_OBJECT) != 0) phi__strict_put_object(s, schema);
            if ((types & PHI__STRICT_ARRAY) != 0) phi__strict_put_array(s, schema);
            phi__strict_put_narrowing(s, schema);
            if (apart) phi__buf_text(s->out, "},{\"type\":\"null\"}]");
        }
    }
    if (s->depth == 1 && !s->refused) {
        phi__strict_put_defs(s, "$defs");
        phi__strict_put_defs(s, "definitions");
    }
    phi__buf_char(s->out, '}');
    s->depth--;
}

/* ---- Anthropic's strict form refuses a schema that contains itself ---- */

static void phi__strict_visit(phi__strict *s, const phi_json *schema);

static void phi__strict_visit_ref(phi__strict *s, const phi_json *ref) {
    char place[PHI__STRICT_PLACE];
    size_t number, was = s->place_len;
    const phi_json *target = phi__strict_target(s, phi_json_str(ref, NULL), &number);
    if (target == NULL || s->visits[number] == 2) return;
    if (s->visits[number] == 1) {
        (void)phi__strict_no(s, phi_json_str(ref, NULL),
                             "leads back to itself: Anthropic's strict form has no recursion");
        return;
    }
    memcpy(place, s->place, sizeof place);
    s->visits[number] = 1;
    s->place_len = 0;
    phi__strict_visit(s, target);
    s->visits[number] = 2;
    memcpy(s->place, place, sizeof place);
    s->place_len = was;
}

static void phi__strict_visit_all(phi__strict *s, const char *word, const phi_json *all) {
    phi_json_iter it = phi_json_each(all);
    size_t was = phi__strict_into_text(s, word), i = 0;
    bool names = phi_json_is(all, PHI_JSON_OBJECT);
    while (!s->refused && phi_json_next(&it) != NULL) {
        size_t here = names ? phi__strict_into(s, it.key) : phi__strict_into_item(s, i++);
        phi__strict_visit(s, it.at);
        s->place_len = here;
    }
    s->place_len = was;
}

static void phi__strict_visit(phi__strict *s, const phi_json *schema) {
    const phi_json *items = phi_json_get(schema, "items"), *ref = phi_json_get(schema, "$ref");
    if (!phi_json_is(schema, PHI_JSON_OBJECT) || !phi__strict_enter(s, schema)) return;
    if (ref != NULL) phi__strict_visit_ref(s, ref);
    phi__strict_visit_all(s, "properties", phi_json_get(schema, "properties"));
    phi__strict_visit_all(s, "anyOf", phi_json_get(schema, "anyOf"));
    phi__strict_visit_all(s, "oneOf", phi_json_get(schema, "oneOf"));
    phi__strict_visit_all(s, "allOf", phi_json_get(schema, "allOf"));
    size_t was = phi__strict_into_text(s, "items");
    if (items != NULL) phi__strict_visit(s, items);
    s->place_len = was;
    s->depth--;
}

static bool phi__strict_acyclic(phi__strict *s) {
    size_t count = 1 + phi_json_count(phi_json_get(s->root, "$defs")) +
                   phi_json_count(phi_json_get(s->root, "definitions"));
    s->visits = (uint8_t *)phi__arena_zero(s->arena, count);
    if (s->visits == NULL) {
        s->out->failed = true;
        return false;
    }
    s->visits[0] = 1;
    phi__strict_visit(s, s->root);
    s->depth = 0;
    s->place_len = 0;
    return !s->refused;
}

/* ---- Gemini's form, for parametersJsonSchema and responseJsonSchema ----

   Gemini does not know "const", so it becomes an "enum" of one value. A "$ref" must be alone. A
   schema may contain itself only inside a property that is not required. */

/* A reference that is being followed. The list leads back to the root. */
typedef struct phi__strict_path {
    const struct phi__strict_path *above;
    const phi_json *target;
    bool optional; /* the path to this reference entered a property that is not required */
} phi__strict_path;

static void phi__strict_follow(phi__strict *s, const phi_json *schema, phi__strict_path *under);

static void phi__strict_follow_ref(phi__strict *s, phi_str ref, const phi__strict_path *under) {
    size_t looked = 0;
    phi__strict_path next = {under, phi__schema_ref_find(s->root, ref, &looked), false};
    bool optional = false;
    if (ref.len > 1 && ref.at[0] == '#' && ref.at[1] != '/')
        return; /* "#name" refers to an $anchor */
    if (!phi__strict_spend(s, looked)) return;
    if (next.target == NULL) {
        (void)phi__strict_no(s, PHI__LIT("$ref"), "leads nowhere in this schema");
        return;
    }
    for (const phi__strict_path *r = under; r != NULL; r = r->above) {
        optional = optional || r->optional;
        if (r->target != next.target) continue;
        if (!optional)
            (void)phi__strict_no(s, phi__strict_it,
                                 "a schema may contain itself only inside of a property that is "
                                 "not required");
        return;
    }
    phi__strict_follow(s, next.target, &next);
}

/* Follows all references from a schema. A path ends at a schema that it has already passed. */
static void phi__strict_follow(phi__strict *s, const phi_json *schema, phi__strict_path *under) {
    phi_json_iter it = phi_json_each(schema), in;
    if (!phi_json_is(schema, PHI_JSON_OBJECT) || !phi__strict_enter(s, schema)) return;
    while (!s->refused && phi_json_next(&it) != NULL) {
        const struct phi__strict_row *word = phi__strict_of(it.key);
        bool properties = phi__str_is(it.key, "properties"), was_optional = under->optional;
        size_t was = phi__strict_into(s, it.key), here;
        if (phi__str_is(it.key, "$ref"))
            phi__strict_follow_ref(s, phi_json_str(it.at, NULL), under);
        else if (word->room == PHI__STRICT_ONE)
            phi__strict_follow(s, it.at, under);
        else if (word->room == PHI__STRICT_MANY && word->kind != PHI__STRICT_KEEP)
            for (in = phi_json_each(it.at); !s->refused && phi_json_next(&in) != NULL;) {
                here = phi__strict_into(s, in.key);
                if (properties && !phi__strict_listed(s, phi_json_get(schema, "required"), in.key))
                    under->optional = true;
                phi__strict_follow(s, in.at, under);
                under->optional = was_optional;
                s->place_len = here;
            }
        s->place_len = was;
    }
    s->depth--;
}

/* Sets a member of a schema to an array of one value. */
static void phi__strict_set_one(phi__strict *s, phi_json *node, const char *word, phi_json *value) {
    phi_json *list = phi_json_new_array(s->arena);
    if (list == NULL || value == NULL || phi_json_add(list, value) != PHI_OK ||
        phi_json_set(s->arena, node, word, list) == PHI_NO_MEMORY)
        s->out->failed = true;
}

/* Rewrites {"$ref": r, "description": d} to {"description": d, "anyOf": [{"$ref": r}]}. */
static void phi__strict_lone_ref(phi__strict *s, phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    bool others = false;
    if (phi_json_get(node, "$ref") == NULL) return;
    while (phi_json_next(&it) != NULL) others = others || it.key.len == 0 || it.key.at[0] != '$';
    if (!others) return;
    if (phi_json_get(node, "anyOf") != NULL) {
        (void)phi__strict_no(s, PHI__LIT("$ref"), "beside anyOf is not taken");
        return;
    }
    phi_json *inner = phi_json_new_object(s->arena);
    if (inner == NULL ||
        phi_json_set(s->arena, inner, "$ref", phi_json_remove(node, "$ref")) == PHI_NO_MEMORY)
        s->out->failed = true;
    phi__strict_set_one(s, node, "anyOf", inner);
}

static void phi__strict_revise(phi__strict *s, phi_json *node) {
    if (!phi_json_is(node, PHI_JSON_OBJECT) || !phi__strict_enter(s, node)) return;
    phi_json *value = phi_json_remove(node, "const");
    if (value != NULL) phi__strict_set_one(s, node, "enum", value);
    phi__strict_lone_ref(s, node);
    phi_json_iter it = phi_json_each(node), in;
    while (!s->refused && !s->out->failed && phi_json_next(&it) != NULL) {
        phi__strict_room room = phi__strict_of(it.key)->room;
        size_t was = phi__strict_into(s, it.key), here;
        if (room == PHI__STRICT_ONE) phi__strict_revise(s, it.at);
        for (in = phi_json_each(it.at); room == PHI__STRICT_MANY && phi_json_next(&in) != NULL;) {
            here = phi__strict_into(s, in.key);
            phi__strict_revise(s, in.at);
            s->place_len = here;
        }
        s->place_len = was;
    }
    s->depth--;
}

static void phi__strict_put_gemini(phi__strict *s, phi_json *root) {
    phi__strict_path top = {NULL, root, false};
    phi__strict_follow(s, root, &top);
    phi__strict_revise(s, root);
    if (!s->refused && !s->out->failed) phi__strict_put_value(s, root);
}

/* ---- for the codecs ---- */

/* Parses a schema and rewrites it with `put`, which makes one form. */
static bool phi__strict_rewrite(phi__buf *out, phi_str schema, phi__strict_form form,
                                void (*put)(phi__strict *s, phi_json *root), char *words,
                                size_t words_size) {
    phi_arena arena;
    phi_json *root = NULL;
    phi_parse_error error;
    phi__strict s = PHI_ZERO;
    phi_arena_init(&arena, out->memory, 0);
    phi__buf_init(&s.hint, out->memory);
    s.out = out;
    s.arena = &arena;
    s.form = form;
    s.words = words;
    s.words_size = words_size;
    if (words_size > 0) words[0] = '\0';
    phi_status status = phi_json_parse(&arena, schema, PHI_JSON_BORROW, &root, &error);
    s.root = root;
    if (status == PHI_NO_MEMORY)
        out->failed = true;
    else if (status != PHI_OK)
        (void)phi__strict_no(&s, phi__strict_it,
                             form == PHI__STRICT_GEMINI ? "this is not JSON" : error.message);
    else
        put(&s, root);
    if (out->failed && words_size > 0) words[0] = '\0';
    phi__buf_free(&s.hint);
    phi_arena_free(&arena);
    return !s.refused && !out->failed;
}

static void phi__strict_put_root(phi__strict *s, phi_json *root) {
    if (s->form != PHI__STRICT_ANTHROPIC || phi__strict_acyclic(s)) phi__strict_put(s, root, false);
}

PHI__FN bool phi__strict_schema(phi__buf *out, phi_str schema, phi__strict_form form, char *words,
                                size_t words_size) {
    return phi__strict_rewrite(out, schema, form, phi__strict_put_root, words, words_size);
}

PHI__FN bool phi__strict_gemini(phi__buf *out, phi_str schema, char *words, size_t words_size) {
    if (phi__str_find(schema, 0, "\"const\"") == SIZE_MAX &&
        phi__str_find(schema, 0, "\"$ref\"") == SIZE_MAX) {
        if (words_size > 0) words[0] = '\0';
        phi__buf_add_str(out, schema);
        return !out->failed;
    }
    return phi__strict_rewrite(out, schema, PHI__STRICT_GEMINI, phi__strict_put_gemini, words,
                               words_size);
}

/* ---- arguments of a strict tool ----

   The strict form cannot leave out a property, so the model sends null instead. These functions
   remove such nulls. If the schema offers alternatives, the first one that fits by types, names and
   enum values is used. */

enum {
    PHI__NULLS_DEPTH = 200,
    PHI__NULLS_WORK = 1000000 /* max. members visited: takes some hundredths of a second */
};

typedef struct phi__nulls_walk {
    const phi_json *root;
    uint32_t depth, work;
    bool spent;
    size_t removed;
} phi__nulls_walk;

static bool phi__nulls_spend(phi__nulls_walk *n, size_t work) {
    if (work > PHI__NULLS_WORK || n->work > PHI__NULLS_WORK - work) n->spent = true;
    if (n->spent) return false;
    n->work += (uint32_t)work;
    return true;
}

static bool phi__nulls_enter(phi__nulls_walk *n, const phi_json *schema) {
    if (n->depth >= PHI__NULLS_DEPTH || !phi__nulls_spend(n, 1 + phi_json_count(schema)))
        return false;
    n->depth++;
    return true;
}

static const phi_json *phi__nulls_target(phi__nulls_walk *n, const phi_json *ref) {
    size_t looked = 0;
    const phi_json *target = phi__schema_ref_find(n->root, phi_json_str(ref, NULL), &looked);
    return phi__nulls_spend(n, looked) ? target : NULL;
}

static const phi_json *phi__nulls_choice(const phi_json *schema) {
    const phi_json *list = phi_json_get(schema, "anyOf");
    if (list == NULL) list = phi_json_get(schema, "oneOf");
    if (list == NULL) list = phi_json_get(schema, "allOf");
    return phi_json_is(list, PHI_JSON_ARRAY) ? list : NULL;
}

/* ---- does a value fit a schema by its shape? ---- */

static bool phi__nulls_fits(phi__nulls_walk *n, const phi_json *schema, const phi_json *value);

static bool phi__nulls_is(const phi_json *value, phi_str type) {
    if (phi__str_is(type, "integer")) return phi_json_is(value, PHI_JSON_INTEGER);
    return phi__str_is(type, phi__json_get_type_name(value));
}

static bool phi__nulls_type_fits(const phi_json *schema, const phi_json *value) {
    const phi_json *type = phi_json_get(schema, "type");
    phi_json_iter it = phi_json_each(type);
    if (type == NULL) return true;
    if (phi_json_is(value, PHI_JSON_NULL) && phi_json_bool(phi_json_get(schema, "nullable"), false))
        return true;
    if (phi_json_is(type, PHI_JSON_STRING)) return phi__nulls_is(value, phi_json_str(type, NULL));
    while (phi_json_next(&it) != NULL)
        if (phi__nulls_is(value, phi_json_str(it.at, NULL))) return true;
    return false;
}

static bool phi__nulls_value_fits(phi__nulls_walk *n, const phi_json *schema,
                                  const phi_json *value) {
    const phi_json *list = phi_json_get(schema, "enum"), *one = phi_json_get(schema, "const");
    phi_json_iter it = phi_json_each(list);
    if (one != NULL && !phi__json_get_equal(one, value)) return false;
    if (list == NULL) return true;
    while (phi__nulls_spend(n, 1) && phi_json_next(&it) != NULL)
        if (phi__json_get_equal(it.at, value)) return true;
    return false;
}

static bool phi__nulls_required(phi__nulls_walk *n, const phi_json *schema, phi_str name) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "required"));
    if (!phi__nulls_spend(n, 1 + it.left)) return true;
    while (phi_json_next(&it) != NULL)
        if (phi_str_equal(phi_json_str(it.at, NULL), name)) return true;
    return false;
}

static bool phi__nulls_object_fits(phi__nulls_walk *n, const phi_json *schema,
                                   const phi_json *value) {
    const phi_json *properties = phi_json_get(schema, "properties");
    const phi_json *required = phi_json_get(schema, "required");
    phi_json_iter it = phi_json_each(required);
    if (!phi_json_is(properties, PHI_JSON_OBJECT)) return true;
    while (phi_json_next(&it) != NULL) {
        if (!phi__nulls_spend(n, 1 + phi_json_count(value))) return false;
        if (phi__json_get_n(value, phi_json_str(it.at, NULL)) == NULL) return false;
    }
    it = phi_json_each(value);
    while (phi_json_next(&it) != NULL) {
        const phi_json *property = phi__json_get_n(properties, it.key);
        if (!phi__nulls_spend(n, 1 + phi_json_count(properties)) || property == NULL) return false;
        if (phi_json_is(it.at, PHI_JSON_NULL) && !phi__nulls_required(n, schema, it.key)) continue;
        if (!phi__nulls_fits(n, property, it.at)) return false;
    }
    return true;
}

static bool phi__nulls_parts_fit(phi__nulls_walk *n, const phi_json *schema,
                                 const phi_json *value) {
    const phi_json *items = phi_json_get(schema, "items"), *list = phi__nulls_choice(schema);
    bool fits = true;
    if (phi_json_is(value, PHI_JSON_OBJECT) && !phi__nulls_object_fits(n, schema, value))
        return false;
    phi_json_iter it = phi_json_each(value);
    while (fits && items != NULL && phi_json_is(value, PHI_JSON_ARRAY) &&
           phi_json_next(&it) != NULL)
        fits = phi__nulls_fits(n, items, it.at);
    if (!fits || list == NULL) return fits;
    it = phi_json_each(list);
    while (phi_json_next(&it) != NULL)
        if (phi__nulls_fits(n, it.at, value)) return true;
    return false;
}

static bool phi__nulls_fits(phi__nulls_walk *n, const phi_json *schema, const phi_json *value) {
    const phi_json *ref = phi_json_get(schema, "$ref");
    if (!phi_json_is(schema, PHI_JSON_OBJECT)) return phi_json_bool(schema, false);
    if (!phi__nulls_enter(n, schema)) return false;
    bool fits = phi__nulls_type_fits(schema, value) && phi__nulls_value_fits(n, schema, value) &&
                phi__nulls_parts_fit(n, schema, value);
    if (fits && ref != NULL) fits = phi__nulls_fits(n, phi__nulls_target(n, ref), value);
    n->depth--;
    return fits && !n->spent;
}

/* ---- removing nulls ---- */

static void phi__nulls_strip(phi__nulls_walk *n, const phi_json *schema, phi_json *value);

/* Removes the nulls that mean absent members, then strips the other members. */
static void phi__nulls_strip_object(phi__nulls_walk *n, const phi_json *schema, phi_json *value) {
    const phi_json *properties = phi_json_get(schema, "properties");
    phi_json *before = value->v.last, *child;
    uint32_t left = value->len;
    if (!phi_json_is(properties, PHI_JSON_OBJECT)) return;
    for (; left > 0 && !n->spent; left--) {
        child = before->next;
        phi_str name = phi__str(child->key, phi__json_key_len(child));
        const phi_json *property = phi__json_get_n(properties, name);
        if (!phi__nulls_spend(n, 1 + phi_json_count(properties))) return;
        if (phi_json_is(child, PHI_JSON_NULL) && property != NULL &&
            !phi__nulls_required(n, schema, name) && !phi__nulls_fits(n, property, child) &&
            !n->spent) {
            before->next = child->next;
            if (value->v.last == child) value->v.last = value->len == 1 ? NULL : before;
            value->len--;
            child->next = NULL;
            n->removed++;
            continue;
        }
        if (property != NULL) phi__nulls_strip(n, property, child);
        before = child;
    }
}

static void phi__nulls_strip(phi__nulls_walk *n, const phi_json *schema, phi_json *value) {
    const phi_json *ref = phi_json_get(schema, "$ref"), *items = phi_json_get(schema, "items");
    phi_json *item;
    if (!phi_json_is(value, PHI_JSON_OBJECT) && !phi_json_is(value, PHI_JSON_ARRAY)) return;
    if (!phi_json_is(schema, PHI_JSON_OBJECT) || !phi__nulls_enter(n, schema)) return;
    if (phi_json_is(value, PHI_JSON_OBJECT)) phi__nulls_strip_object(n, schema, value);
    phi_json_iter it = phi_json_each(value);
    while (items != NULL && phi_json_is(value, PHI_JSON_ARRAY) &&
           (item = phi_json_next(&it)) != NULL)
        phi__nulls_strip(n, items, item);
    it = phi_json_each(phi__nulls_choice(schema));
    while (phi_json_next(&it) != NULL)
        if (phi__nulls_fits(n, it.at, value)) {
            phi__nulls_strip(n, it.at, value);
            break;
        }
    if (ref != NULL) phi__nulls_strip(n, phi__nulls_target(n, ref), value);
    n->depth--;
}

PHI__FN size_t phi__strict_nulls(const phi_json *schema, phi_json *value) {
    phi__nulls_walk n = PHI_ZERO;
    n.root = schema;
    if (schema != NULL && value != NULL) phi__nulls_strip(&n, schema, value);
    return n.removed;
}

/* ---- strict forms of an agent's tools: each is made once and kept with the tool ---- */

enum { PHI__STRICT_WORDS = 400 }; /* max. bytes of a refusal's message */

PHI__FN phi__strict_form phi__strict_form_of(const phi__codec *codec, const phi_model *model) {
    return codec->rules->strict_form != NULL ? codec->rules->strict_form(model) : PHI__STRICT_NONE;
}

static bool phi__strict_wanted(const phi__tool_view *tool, phi__strict_form form) {
    if (tool->is_raw) return false;
    return form != PHI__STRICT_NONE && (tool->strict != NULL || form == PHI__STRICT_GEMINI);
}

static bool phi__strict_is_made(const phi__tool_view *tool, phi__strict_form form) {
    return tool->adapted != NULL && tool->adapted[form].done;
}

PHI__FN bool phi__strict_make(const phi__codec *codec, const phi__formats *by, phi_str schema,
                              phi__strict_form form, phi_arena *arena, struct phi__adapted *out) {
    char words[PHI__STRICT_WORDS];
    phi__buf buf;
    phi__buf_init(&buf, arena->memory);
    memset(out, 0, sizeof *out);
    if (phi__render_blank(schema)) schema = PHI__LIT("{\"type\":\"object\",\"properties\":{}}");
    bool made = form == PHI__STRICT_GEMINI ? codec->rules->adapt(&buf, schema, words, sizeof words)
                                           : by->schema(&buf, schema, form, words, sizeof words);
    out->done = true;
    if (made && phi_str_equal(phi__buf_str(&buf), schema))
        out->schema = schema;
    else if (made)
        out->done = phi__arena_str(arena, phi__buf_str(&buf), &out->schema);
    else
        out->done = !buf.failed && phi__arena_str(arena, phi_str_of(words), &out->refused);
    phi__buf_free(&buf);
    return out->done;
}

PHI__FN bool phi__strict_tools_adapt(phi__tool_view *tools, size_t count, const phi__codec *codec,
                                     const phi_model *model, phi_arena *arena) {
    phi__strict_form form = phi__strict_form_of(codec, model);
    for (size_t i = 0; i < count; i++) {
        phi__tool_view *tool = &tools[i];
        if (!phi__strict_wanted(tool, form)) continue;
        if (tool->adapted == NULL)
            tool->adapted = (struct phi__adapted *)phi__arena_zero(
                arena, PHI__STRICT_FORMS * sizeof *tool->adapted);
        if (tool->adapted == NULL) return false;
        if (!phi__strict_is_made(tool, form) &&
            !phi__strict_make(codec, tool->strict, tool->schema, form, arena, &tool->adapted[form]))
            return false;
    }
    return true;
}

PHI__FN phi_status phi__strict_tools_refused(const phi__codec *codec, const phi__request_spec *spec,
                                             phi_memory *scratch, char *words, size_t words_size) {
    phi__strict_form form = phi__strict_form_of(codec, spec->model);
    phi_status status = PHI_OK;
    for (size_t i = 0; i < spec->tool_count && status == PHI_OK; i++) {
        const phi__tool_view *tool = &spec->tools[i];
        struct phi__adapted made;
        phi_arena arena;
        if (!phi__strict_wanted(tool, form)) continue;
        phi_arena_init(&arena, scratch, 0);
        if (phi__strict_is_made(tool, form))
            made = tool->adapted[form];
        else if (!phi__strict_make(codec, tool->strict, tool->schema, form, &arena, &made))
            status = PHI_NO_MEMORY;
        if (status == PHI_OK && made.refused.len > 0) {
            (void)snprintf(words, words_size, "tools[%llu]: schema of \"%.*s\" %.*s",
                           (unsigned long long)i, tool->name.len > 80 ? 80 : (int)tool->name.len,
                           tool->name.at, (int)made.refused.len, made.refused.at);
            if (words_size > 0) words[phi__utf8_valid(phi_str_of(words))] = '\0';
            status = PHI_BAD_ARG;
        }
        phi_arena_free(&arena);
    }
    return status;
}

static phi_str phi__strict_tools_put(phi__encoder *e, const phi__tool_view *tool, bool *strict) {
    phi__strict_form form = phi__strict_form_of(e->codec, e->spec->model);
    struct phi__adapted made;
    *strict = false;
    if (phi__strict_wanted(tool, form)) {
        if (phi__strict_is_made(tool, form))
            made = tool->adapted[form];
        else if (!phi__strict_make(e->codec, tool->strict, tool->schema, form, e->arena, &made))
            e->failed = true;
        *strict = made.schema.len > 0 && form != PHI__STRICT_GEMINI;
        if (made.schema.len > 0) return made.schema; /* the loop sends no refused tool */
    }
    return phi__render_blank(tool->schema) ? PHI__LIT("{\"type\":\"object\",\"properties\":{}}")
                                           : tool->schema;
}

PHI__FN bool phi__strict_put_tool(phi__encoder *e, const phi__tool_view *tool, const char *schema) {
    phi__buf *out = &e->scratch;
    bool strict;
    phi__buf_text(out, "\"name\":");
    phi__json_write_str(out, tool->name);
    if (!phi__render_blank(tool->description))
        phi__records_str(out, "description", tool->description);
    phi__buf_text(out, schema);
    phi__encode_scratch(e);
    phi__encode_piece(e, phi__strict_tools_put(e, tool, &strict));
    return strict;
}
