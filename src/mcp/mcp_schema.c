/* mcp_schema.c - adapts the input schema of a server's tool for agents. */
#include "mcp/mcp_content_in.h"

#include "tools/tools_in.h"

#include <stdio.h>

/* A schema that phi can check stays unchanged. In other schemas, unknown keywords move into
   descriptions. References to other documents are never followed and move into descriptions,
   too. */

enum {
    PHI__MCP_SCHEMA_DEPTH = 64,     /* max. nested schemas; deeper ones allow everything */
    PHI__MCP_SCHEMA_REFS = 32,      /* max. nested references */
    PHI__MCP_SCHEMA_WORK = 20000,   /* max. members and references followed */
    PHI__MCP_SCHEMA_NOTE = 160,     /* max. bytes of a keyword in a description */
    PHI__MCP_SCHEMA_LOOKED = 200000 /* max. members searched for references */
};

/* ---- bounds of references ---- */

typedef struct phi__mschema_walk {
    const phi_json *root;
    const phi_json *open[PHI__MCP_SCHEMA_REFS]; /* targets that are being walked */
    size_t refs, work, looked;
} phi__mschema_walk;

static bool phi__mschema_walk_node(phi__mschema_walk *w, const phi_json *node, size_t depth);

/* Walks the target of a reference. A target that contains itself is walked once. False: the limits
   are exceeded. */
static bool phi__mschema_walk_ref(phi__mschema_walk *w, phi_str ref, size_t depth) {
    if (!phi__str_starts(ref, "#")) return true;
    const phi_json *target = phi__schema_ref_find(w->root, ref, &w->looked);
    if (w->looked > PHI__MCP_SCHEMA_LOOKED) return false;
    if (target == NULL || target == w->root) return true;
    for (size_t i = 0; i < w->refs; i++)
        if (w->open[i] == target) return true;
    if (w->refs == PHI__MCP_SCHEMA_REFS) return false;
    w->open[w->refs++] = target;
    bool fine = phi__mschema_walk_node(w, target, depth + 1);
    w->refs--;
    return fine;
}

static bool phi__mschema_walk_node(phi__mschema_walk *w, const phi_json *node, size_t depth) {
    phi_json_iter it = phi_json_each(node);
    if (depth > PHI_JSON_MAX_DEPTH || ++w->work > PHI__MCP_SCHEMA_WORK) return false;
    while (phi_json_next(&it) != NULL) {
        if (phi__str_is(it.key, "$ref") && phi_json_is(it.at, PHI_JSON_STRING)) {
            if (!phi__mschema_walk_ref(w, phi__json_text_of(it.at), depth)) return false;
        } else if (phi_json_is(it.at, PHI_JSON_OBJECT) || phi_json_is(it.at, PHI_JSON_ARRAY)) {
            if (!phi__mschema_walk_node(w, it.at, depth + 1)) return false;
        }
    }
    return true;
}

/* ---- keywords ---- */

typedef struct phi__mschema {
    phi_arena *arena;
    char *message; /* tells why the schema is unusable */
    size_t size;
    const phi_json *root;
    size_t depth, looked, work;
    bool failed;  /* no memory */
    bool endless; /* references lead too far */
} phi__mschema;

static phi_json *phi__mschema_clean(phi__mschema *s, const phi_json *schema);

static void phi__mschema_set(phi__mschema *s, phi_json *to, phi_str key, phi_json *value) {
    if (phi__json_edit_set(s->arena, to, key, value) != PHI_OK) s->failed = true;
}

/* Appends a keyword to a description, as in "(pattern: ^a+$)". */
static void phi__mschema_note(phi__buf *words, phi_str key, const phi_json *value) {
    if (words->len > 0) phi__buf_char(words, ' ');
    phi__buf_char(words, '(');
    phi__buf_add_str(words, key);
    phi__buf_text(words, ": ");
    size_t from = words->len;
    if (phi_json_is(value, PHI_JSON_STRING))
        phi__buf_add_str(words, phi__json_text_of(value));
    else
        (void)phi__json_write(words, value, 0);
    if (!words->failed && words->len - from > PHI__MCP_SCHEMA_NOTE) {
        phi_str text = phi__str(words->at + from, words->len - from);
        words->len = from + phi__utf8_cut(text, PHI__MCP_SCHEMA_NOTE);
        phi__buf_text(words, "...");
    }
    phi__buf_char(words, ')');
}

static void phi__mschema_subs(phi__mschema *s, phi_json *to, phi_str key, const phi_json *subs) {
    bool list = phi_json_is(subs, PHI_JSON_ARRAY);
    phi_json *made = list ? phi_json_new_array(s->arena) : phi_json_new_object(s->arena);
    phi_json_iter it = phi_json_each(subs);
    while (made != NULL && !s->failed && phi_json_next(&it) != NULL) {
        phi_json *sub = phi__mschema_clean(s, it.at);
        if (list && phi_json_add(made, sub) != PHI_OK) s->failed = true;
        if (!list) phi__mschema_set(s, made, it.key, sub);
    }
    phi__mschema_set(s, to, key, made);
}

/* Copies the strings of a list such as "required". If `types`, copies only names of types. */
static void phi__mschema_names(phi__mschema *s, phi_json *to, phi_str key, const phi_json *names,
                               bool types) {
    phi_json *made = phi_json_new_array(s->arena);
    phi_json_iter it = phi_json_each(names);
    while (made != NULL && phi_json_next(&it) != NULL) {
        phi_str name = phi__json_text_of(it.at);
        if (!phi_json_is(it.at, PHI_JSON_STRING) || (types && !phi__keywords_is_type(name)))
            continue;
        if (phi_json_add(made, phi_json_new_str(s->arena, name)) != PHI_OK) s->failed = true;
    }
    if (made == NULL || phi_json_count(made) > 0) phi__mschema_set(s, to, key, made);
}

/* Handles keywords that phi checks but that are missing in the table of a tool's keywords. */
static void phi__mschema_other(phi__mschema *s, phi_json *to, phi_str key, const phi_json *value,
                               phi__buf *words) {
    static const char *const bounds[] = {"minimum", "maximum", "exclusiveMinimum",
                                         "exclusiveMaximum"};
    static const char *const notes[] = {"dependencies", "additionalItems", "$dynamicRef",
                                        "$recursiveRef"};
    bool copy = phi__str_is(key, "nullable") && phi_json_is(value, PHI_JSON_BOOL);
    for (size_t i = 0; i < PHI__COUNT(bounds); i++)
        if (phi__str_is(key, bounds[i]) &&
            (phi_json_is(value, PHI_JSON_NUMBER) || (i >= 2 && phi_json_is(value, PHI_JSON_BOOL))))
            copy = true;
    for (size_t i = 0; i < PHI__COUNT(notes); i++)
        if (phi__str_is(key, notes[i])) phi__mschema_note(words, key, value);
    if (phi__str_is(key, "type") && phi_json_is(value, PHI_JSON_ARRAY))
        phi__mschema_names(s, to, key, value, true);
    else if (phi__str_is(key, "type"))
        copy = phi__keywords_is_type(phi__json_text_of(value));
    if (phi__str_is(key, "$ref") && phi_json_is(value, PHI_JSON_STRING)) {
        copy = phi__str_starts(phi__json_text_of(value), "#") &&
               phi__schema_ref_find(s->root, phi__json_text_of(value), &s->looked) != NULL;
        if (!copy) phi__mschema_note(words, key, value);
    }
    if ((phi__str_is(key, "$defs") || phi__str_is(key, "definitions")) &&
        phi_json_is(value, PHI_JSON_OBJECT))
        phi__mschema_subs(s, to, key, value);
    if (copy) phi__mschema_set(s, to, key, phi_json_copy(s->arena, value));
}

static void phi__mschema_keyword(phi__mschema *s, phi_json *to, phi_str key, const phi_json *value,
                                 phi__buf *words) {
    switch (phi__keywords_of(key, value)) {
    case PHI__KEYWORD_COPY:
    case PHI__KEYWORD_SHORT: phi__mschema_set(s, to, key, phi_json_copy(s->arena, value)); break;
    case PHI__KEYWORD_SUB: phi__mschema_set(s, to, key, phi__mschema_clean(s, value)); break;
    case PHI__KEYWORD_SUBS:
    case PHI__KEYWORD_CHOICES: phi__mschema_subs(s, to, key, value); break;
    case PHI__KEYWORD_NAMES: phi__mschema_names(s, to, key, value, false); break;
    case PHI__KEYWORD_NOTE: phi__mschema_note(words, key, value); break;
    default: phi__mschema_other(s, to, key, value, words); break;
    }
}

static phi_json *phi__mschema_clean(phi__mschema *s, const phi_json *schema) {
    phi_json *made = phi_json_new_object(s->arena);
    phi_json_iter it = phi_json_each(schema);
    if (phi_json_is(schema, PHI_JSON_BOOL)) return phi_json_copy(s->arena, schema);
    if (made == NULL || !phi_json_is(schema, PHI_JSON_OBJECT) || s->depth >= PHI__MCP_SCHEMA_DEPTH)
        return made;
    s->depth++;
    phi__buf words = phi__buf_of(s->arena->memory);
    phi__buf_add_str(&words, phi__records_get_str(schema, "description"));
    while (!s->failed && phi_json_next(&it) != NULL)
        phi__mschema_keyword(s, made, it.key, it.at, &words);
    if (words.failed) s->failed = true;
    if (words.len > 0 && !s->failed)
        phi__mschema_set(s, made, PHI__LIT("description"),
                         phi_json_new_str(s->arena, phi__buf_str(&words)));
    phi__buf_free(&words);
    s->depth--;
    return s->failed ? NULL : made;
}

/* ---- schemas that contain themselves ---- */

/* A reference that is being followed. optional: it was reached through an optional property. */
typedef struct phi__mschema_under {
    const struct phi__mschema_under *above;
    const phi_json *target;
    bool optional;
} phi__mschema_under;

static void phi__mschema_follow(phi__mschema *s, phi_json *node, phi__mschema_under *under);

static bool phi__mschema_requires(const phi_json *schema, phi_str name) {
    phi_json_iter it = phi_json_each(phi__mcp_array(schema, "required"));
    while (phi_json_next(&it) != NULL)
        if (phi_str_equal(phi__json_text_of(it.at), name)) return true;
    return false;
}

/* Follows a reference. A reference that closes a circle without an optional property is removed: no
   value fits such a circle, and Gemini refuses it. */
static void phi__mschema_follow_ref(phi__mschema *s, phi_json *node, phi__mschema_under *under) {
    phi_str ref = phi__records_get_str(node, "$ref");
    const phi_json *target = phi__schema_ref_find(s->root, ref, &s->looked);
    phi__mschema_under next;
    bool optional = false;
    for (const phi__mschema_under *u = under; u != NULL; u = u->above) {
        optional = optional || u->optional;
        if (u->target != target) continue;
        if (!optional) (void)phi_json_remove(node, "$ref");
        return;
    }
    if (target == NULL) return;
    next.above = under;
    next.target = target;
    next.optional = false;
    phi__mschema_follow(s, (phi_json *)(uintptr_t)target, &next);
}

/* Moves $ref into allOf if the node also has anyOf: Gemini refuses the two together. */
static void phi__mschema_beside(phi__mschema *s, phi_json *node) {
    phi_json *all = phi_json_get(node, "allOf");
    if (phi_json_get(node, "$ref") == NULL || phi_json_get(node, "anyOf") == NULL) return;
    if (!phi_json_is(all, PHI_JSON_ARRAY)) {
        all = phi_json_new_array(s->arena);
        phi__mschema_set(s, node, PHI__LIT("allOf"), all);
    }
    phi_json *inner = phi_json_new_object(s->arena);
    if (all == NULL || inner == NULL || s->failed) {
        s->failed = true;
        return;
    }
    phi__mschema_set(s, inner, PHI__LIT("$ref"), phi_json_remove(node, "$ref"));
    (void)phi_json_add(all, inner);
}

static void phi__mschema_follow(phi__mschema *s, phi_json *node, phi__mschema_under *under) {
    static const char *const one[] = {"items", "additionalProperties"};
    static const char *const many[] = {"properties", "anyOf", "oneOf", "allOf"};
    bool was = under->optional;
    if (!phi_json_is(node, PHI_JSON_OBJECT) || s->failed) return;
    if (s->depth >= PHI__MCP_SCHEMA_DEPTH * 4 || ++s->work > PHI__MCP_SCHEMA_WORK ||
        s->looked > PHI__MCP_SCHEMA_LOOKED) {
        s->endless = true;
        return;
    }
    s->depth++;
    phi__mschema_beside(s, node);
    if (phi_json_get(node, "$ref") != NULL) phi__mschema_follow_ref(s, node, under);
    for (size_t i = 0; i < PHI__COUNT(one); i++)
        phi__mschema_follow(s, phi_json_get(node, one[i]), under);
    for (size_t i = 0; i < PHI__COUNT(many) && !s->endless; i++) {
        phi_json_iter it = phi_json_each(phi_json_get(node, many[i]));
        while (!s->endless && phi_json_next(&it) != NULL) {
            under->optional = was || (i == 0 && !phi__mschema_requires(node, it.key));
            phi__mschema_follow(s, it.at, under);
        }
        under->optional = was;
    }
    s->depth--;
}

static phi_status phi__mschema_refuse(const phi__mschema *s, phi_status status, const char *words) {
    (void)snprintf(s->message, s->size, "%s", words);
    return status;
}

/* Copies properties of an alternative to the root, unless the root has them. */
static void phi__mschema_merge(phi__mschema *s, phi_json *root, const phi_json *from) {
    const phi_json *ref = phi_json_get(from, "$ref");
    phi_json *properties = phi_json_get(root, "properties");
    if (phi_json_is(ref, PHI_JSON_STRING))
        from = phi__schema_ref_find(root, phi__json_text_of(ref), &s->looked);
    phi_json_iter it = phi_json_each(phi_json_get(from, "properties"));
    if (!phi_json_is(phi_json_get(from, "properties"), PHI_JSON_OBJECT) || from == root) return;
    if (!phi_json_is(properties, PHI_JSON_OBJECT)) {
        properties = phi_json_new_object(s->arena);
        phi__mschema_set(s, root, PHI__LIT("properties"), properties);
    }
    while (properties != NULL && !s->failed && phi_json_next(&it) != NULL)
        if (phi__json_get_n(properties, it.key) == NULL)
            phi__mschema_set(s, properties, it.key, phi_json_copy(s->arena, it.at));
}

/* Moves alternatives at the root into the description, because no provider accepts them. */
static void phi__mschema_root_choices(phi__mschema *s, phi_json *root) {
    static const char *const keys[] = {"anyOf", "oneOf", "allOf"};
    bool any = false;
    phi__buf words = phi__buf_of(s->arena->memory);
    phi__buf_add_str(&words, phi__records_get_str(root, "description"));
    for (size_t i = 0; i < PHI__COUNT(keys); i++) {
        const phi_json *list = phi_json_get(root, keys[i]);
        phi_json_iter it = phi_json_each(phi_json_is(list, PHI_JSON_ARRAY) ? list : NULL);
        if (list == NULL) continue;
        any = true;
        phi__mschema_note(&words, phi_str_of(keys[i]), list);
        while (phi_json_next(&it) != NULL) phi__mschema_merge(s, root, it.at);
        (void)phi_json_remove(root, keys[i]);
    }
    if (words.failed) s->failed = true;
    if (any && !s->failed)
        phi__mschema_set(s, root, PHI__LIT("description"),
                         phi_json_new_str(s->arena, phi__buf_str(&words)));
    phi__buf_free(&words);
}

static phi_status phi__mschema_make(phi__mschema *s, const phi_json *schema, phi_str *out) {
    static const char explode[] = "the references of its input schema explode";
    phi_schema_error error;
    s->root = schema;
    if (!phi_json_is(schema, PHI_JSON_OBJECT))
        return phi__mschema_refuse(s, PHI_BAD_ARG, "its input schema is no object");
    phi_status status = phi_json_write(s->arena, schema, 0, out);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK || out->len > PHI__MCP_SCHEMA_BYTES)
        return phi__mschema_refuse(s, PHI_TOO_BIG, "its input schema is too large");
    /* Check first that following the references stays within the limits. */
    phi__mschema_walk w = PHI_ZERO;
    w.root = schema;
    if (!phi__mschema_walk_node(&w, schema, 0)) return phi__mschema_refuse(s, PHI_TOO_BIG, explode);
    phi_json *root = phi_json_copy(s->arena, schema);
    if (root == NULL) return PHI_NO_MEMORY;
    /* Every provider requires the type "object". */
    const phi_json *type = phi_json_get(root, "type");
    phi_json_iter it = phi_json_each(phi_json_is(type, PHI_JSON_ARRAY) ? type : NULL);
    bool is = type == NULL || phi__str_is(phi__json_text_of(type), "object");
    while (phi_json_next(&it) != NULL)
        if (phi__str_is(phi__json_text_of(it.at), "object")) is = true;
    if (!is) return phi__mschema_refuse(s, PHI_BAD_ARG, "its input schema describes no object");
    phi__mschema_set(s, root, PHI__LIT("type"), phi__json_edit_text(s->arena, "object"));
    phi__mschema_root_choices(s, root);
    const phi_json *properties = phi_json_get(root, "properties");
    bool sound = properties == NULL || phi_json_is(properties, PHI_JSON_OBJECT);
    if (!s->failed && (phi__schema_valid(root, &error) != PHI_OK || !sound)) {
        s->root = root;
        root = phi__mschema_clean(s, root);
        if (root != NULL && phi__schema_valid(root, &error) != PHI_OK) {
            (void)snprintf(s->message, s->size, "its input schema is malformed: %s", error.message);
            return PHI_BAD_ARG;
        }
    }
    if (root == NULL || s->failed) return PHI_NO_MEMORY;
    phi__mschema_under top = PHI_ZERO;
    top.target = root;
    s->root = root;
    s->depth = s->work = 0;
    phi__mschema_follow(s, root, &top);
    if (s->endless) return phi__mschema_refuse(s, PHI_TOO_BIG, explode);
    if (s->failed) return PHI_NO_MEMORY;
    return phi_json_write(s->arena, root, 0, out) == PHI_OK ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__mschema_adapt(const phi_json *schema, phi_arena *arena, phi_str *out,
                                      char *message, size_t size) {
    phi_str text = PHI__LIT("{\"type\":\"object\",\"properties\":{}}");
    phi_status status = PHI_OK;
    phi__mschema s = PHI_ZERO;
    phi_arena scratch = phi__arena_of(arena->memory, 0);
    s.arena = &scratch;
    s.message = message;
    s.size = size;
    if (schema != NULL && !phi_json_is(schema, PHI_JSON_NULL))
        status = phi__mschema_make(&s, schema, &text);
    if (status == PHI_OK && !phi__arena_str(arena, text, out)) status = PHI_NO_MEMORY;
    phi_arena_free(&scratch);
    return status;
}
