/* maker.c - makes an operation callable: parameters, body, security, server, and tool schema. */
#include "base/base_in.h"
#include "openapi/api_in.h"
#include "tools/tools_in.h"

#include <stdio.h>

typedef struct phi__tschema_def {
    const phi_json *node;
    phi_str name;  /* only letters, digits, ".", "_" and "-" */
    unsigned same; /* later definitions with this name; their names get a number */
} phi__tschema_def;

/* A reference below no optional property. It leads from one definition (0: the root) to another. */
typedef struct phi__tschema_edge {
    size_t from, to;
    bool cut;
} phi__tschema_edge;

typedef struct phi__tool_schema {
    phi__document_view *view;
    phi__buf out, words; /* words: the description being written */
    size_t most_bytes;
    phi__tschema_def *defs; /* definition i is defs[i - 1]; i = 0 is the root */
    size_t def_count, def_cap;
    phi__tschema_edge *edges;
    size_t edge_count, edge_cap;
    size_t from; /* index of the definition being written */
    uint32_t depth, work;
    bool optional; /* the current schema is below an optional property */
    bool files;    /* a binary string may be sent as a file */
    bool second;   /* the second pass, in which circles are cut */
    bool failed;   /* view->message has the reason, or there is no memory */
} phi__tool_schema;

/* ---- schemas of a document as the JSON Schema of a tool ---- */

/* References become "$defs", nearest first, until max_schema_bytes are written. After that, schemas
   are left open (they accept any value), with a description. Keywords that phi's check of arguments
   does not know move into the description. Malformed keywords and read-only properties are left
   out. Some providers refuse a schema that contains itself, unless this happens below an optional
   property. Such a schema is left open where the circle closes. */

enum {
    PHI__TOOL_SCHEMA_DEPTH = 64,     /* max. nested schemas; deeper ones are left open */
    PHI__TOOL_SCHEMA_WORK = 4000000, /* max. members that are examined */
    PHI__TOOL_SCHEMA_WORDS = 512,    /* max. bytes of a description */
    PHI__TOOL_SCHEMA_NOTE = 160,     /* max. bytes of a keyword in a description */
    PHI__TOOL_SCHEMA_SHORT = 256,    /* max. bytes of a default or an example */
    PHI__TOOL_SCHEMA_LIST = 16384,   /* max. bytes of an enum */
    PHI__TOOL_SCHEMA_NAME = 48       /* max. bytes of a definition's name, without its number */
};

static void phi__tschema_no_memory(phi__tool_schema *s) { s->failed = s->view->no_memory = true; }

static bool phi__tschema_spend(phi__tool_schema *s, size_t work) {
    if (s->failed) return false;
    if (work <= PHI__TOOL_SCHEMA_WORK && s->work <= PHI__TOOL_SCHEMA_WORK - work) {
        s->work += (uint32_t)work;
        return true;
    }
    s->failed = true;
    (void)snprintf(s->view->message, sizeof s->view->message, "its schema is too large");
    return false;
}

static phi_json_type phi__tschema_type(const phi_json *schema) {
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    const phi_json *type = phi_json_get(schema, "type"), *one = type;
    if (phi_json_is(type, PHI_JSON_ARRAY)) {
        phi_json_iter it = phi_json_each(type);
        one = NULL;
        while (phi_json_next(&it) != NULL) {
            if (phi__str_is(phi__json_text_of(it.at), "null")) continue;
            if (one != NULL) return PHI_JSON_NONE;
            one = it.at;
        }
    }
    phi_str name = phi__json_text_of(one);
    if (phi__str_is(name, "integer")) return PHI_JSON_NUMBER;
    for (size_t i = 1; i < PHI__COUNT(names); i++)
        if (phi__str_is(name, names[i])) return (phi_json_type)(PHI_JSON_NULL + i);
    return phi_json_is(phi_json_get(schema, "properties"), PHI_JSON_OBJECT) ? PHI_JSON_OBJECT
                                                                            : PHI_JSON_NONE;
}

static bool phi__tschema_is_base64(const phi_json *schema) {
    return phi__str_is(phi__records_get_str(schema, "format"), "byte") ||
           phi__str_is(phi__records_get_str(schema, "contentEncoding"), "base64");
}

/* True if a string of this schema is a file's content. */
static bool phi__tschema_is_file(const phi_json *schema) {
    phi_str format = phi__records_get_str(schema, "format");
    if (phi__tschema_type(schema) != PHI_JSON_STRING) return false;
    return phi__str_is(format, "binary") || phi__str_is(format, "byte") ||
           phi_json_is(phi_json_get(schema, "contentMediaType"), PHI_JSON_STRING) ||
           phi_json_is(phi_json_get(schema, "contentEncoding"), PHI_JSON_STRING);
}

/* Returns `c`, or "_" if providers do not accept `c` in a name. */
static char phi__tschema_plain(char c) {
    return phi__is_alnum(c) || c == '.' || c == '_' || c == '-' ? c : '_';
}

/* ---- descriptions ---- */

static void phi__tschema_say(phi__tool_schema *s, const char *words) {
    if (s->words.len > 0) phi__buf_char(&s->words, ' ');
    phi__buf_text(&s->words, words);
}

static void phi__tschema_say_more(phi__tool_schema *s, const phi_json *schema) {
    phi_json_iter it = phi_json_each(schema);
    phi_str name = phi__records_get_str(phi_json_get(schema, "discriminator"), "propertyName");
    while (phi_json_next(&it) != NULL) {
        if (phi__keywords_of(it.key, it.at) != PHI__KEYWORD_NOTE) continue;
        phi__tschema_say(s, "(");
        phi__buf_add_str(&s->words, it.key);
        phi__buf_text(&s->words, ": ");
        size_t from = s->words.len;
        if (phi_json_is(it.at, PHI_JSON_STRING))
            phi__buf_add_str(&s->words, phi__json_text_of(it.at));
        else
            (void)phi__json_write(&s->words, it.at, 0);
        if (s->words.len - from > PHI__TOOL_SCHEMA_NOTE) {
            s->words.len = from + phi__utf8_cut(phi__str_from(phi__buf_str(&s->words), from),
                                                PHI__TOOL_SCHEMA_NOTE);
            phi__buf_text(&s->words, "...");
        }
        phi__buf_char(&s->words, ')');
    }
    if (name.len > 0) {
        phi__tschema_say(s, "(its variant is named by the property ");
        phi__buf_add(&s->words, name.at, phi__utf8_cut(name, PHI__TOOL_SCHEMA_NOTE));
        phi__buf_char(&s->words, ')');
    }
    if (phi__records_get_bool(schema, "deprecated")) phi__tschema_say(s, "(deprecated)");
}

static void phi__tschema_put_words(phi__tool_schema *s) {
    if (s->words.failed) phi__tschema_no_memory(s);
    if (s->words.len == 0) return;
    phi__json_write_key(&s->out, PHI__LIT("description"));
    phi__json_write_str(&s->out, phi__buf_str(&s->words));
}

/* Begins the description. The caller may add words before it calls phi__tschema_put_words(). */
static void phi__tschema_describe(phi__tool_schema *s, const phi_json *schema, phi_str note) {
    if (note.len == 0) note = phi__records_get_str(schema, "description");
    phi__buf_clear(&s->words);
    phi__buf_add(&s->words, note.at, phi__utf8_cut(note, PHI__TOOL_SCHEMA_WORDS));
    if (note.len > PHI__TOOL_SCHEMA_WORDS) phi__buf_text(&s->words, "...");
}

/* Writes a schema that allows all values of its type. */
static void phi__tschema_put_open(phi__tool_schema *s, const phi_json *schema, phi_str note,
                                  const char *why) {
    phi_str type = phi__records_get_str(schema, "type");
    phi__tschema_describe(s, schema, note);
    if (why != NULL) phi__tschema_say(s, why);
    phi__buf_char(&s->out, '{');
    if (phi__keywords_is_type(type) && !phi__records_get_bool(schema, "nullable")) {
        phi__json_write_key(&s->out, PHI__LIT("type"));
        phi__json_write_str(&s->out, type);
        if (phi__str_is(type, "array")) phi__buf_text(&s->out, ",\"items\":{}");
    }
    phi__tschema_put_words(s);
    phi__buf_char(&s->out, '}');
}

static phi__tschema_def *phi__tschema_named(const phi__tool_schema *s, phi_str name) {
    for (size_t i = 0; i < s->def_count; i++)
        if (phi_str_equal(s->defs[i].name, name)) return &s->defs[i];
    return NULL;
}

/* Makes the name of a definition from the last step of a reference, of characters that need no
   escape. A name that is taken gets a number. The first definition with the name counts the
   numbers, because a document may have thousands of definitions with one name. False if there is no
   memory. */
static bool phi__tschema_name(phi__tool_schema *s, phi_str ref, phi_str *out) {
    char name[PHI__TOOL_SCHEMA_NAME + 16];
    size_t at = ref.len, len = 0;
    while (at > 0 && ref.at[at - 1] != '/') at--;
    while (at < ref.len && len < PHI__TOOL_SCHEMA_NAME)
        name[len++] = phi__tschema_plain(ref.at[at++]);
    size_t base = len;
    phi__tschema_def *first = phi__tschema_named(s, phi__str(name, len));
    while (first != NULL) {
        len = base + (size_t)snprintf(name + base, 16, "_%u", ++first->same + 1);
        if (phi__tschema_named(s, phi__str(name, len)) == NULL) break;
        if (!phi__tschema_spend(s, s->def_count)) return true; /* s->failed is set */
    }
    return phi__arena_str(s->view->arena, phi__str(name, len), out);
}

/* Returns the index of a reference's definition; 0 on failure. */
static size_t phi__tschema_def_of(phi__tool_schema *s, phi_str ref) {
    phi_str name = {NULL, 0};
    const phi_json *node = phi__document_target(s->view, ref);
    if (node == NULL) s->failed = true;
    if (!phi__tschema_spend(s, s->def_count)) return 0;
    for (size_t i = 0; i < s->def_count; i++)
        if (s->defs[i].node == node) return i + 1;
    void *grown =
        phi__grow(s->view->doc->memory, s->defs, &s->def_cap, s->def_count + 1, sizeof *s->defs);
    if (grown != NULL) s->defs = (phi__tschema_def *)grown;
    if (grown == NULL || !phi__tschema_name(s, ref, &name)) phi__tschema_no_memory(s);
    if (s->failed) return 0;
    phi__tschema_def *def = &s->defs[s->def_count];
    def->node = node;
    def->name = name;
    def->same = 0;
    return ++s->def_count;
}

/* True if this reference closes a circle, and must be left open. */
static bool phi__tschema_closes(phi__tool_schema *s, size_t to) {
    phi__tschema_edge *last = s->edge_count > 0 ? &s->edges[s->edge_count - 1] : NULL;
    if (s->optional || to == 0) return false;
    if (s->second) {
        for (size_t i = 0; i < s->edge_count; i++)
            if (s->edges[i].cut && s->edges[i].from == s->from && s->edges[i].to == to) return true;
        return false;
    }
    if (last != NULL && last->from == s->from && last->to == to) return false;
    void *grown = phi__grow(s->view->doc->memory, s->edges, &s->edge_cap, s->edge_count + 1,
                            sizeof *s->edges);
    if (grown == NULL) {
        phi__tschema_no_memory(s);
        return false;
    }
    s->edges = (phi__tschema_edge *)grown;
    last = &s->edges[s->edge_count++];
    last->from = s->from;
    last->to = to;
    last->cut = false;
    return false;
}

/* Writes the members of a reference: "$ref", or a description if the reference closes a circle. */
static void phi__tschema_put_ref(phi__tool_schema *s, phi_str ref) {
    size_t def = phi__tschema_def_of(s, ref);
    if (s->failed) return;
    if (phi__tschema_closes(s, def)) {
        phi__tschema_say(s, "(again ");
        phi__buf_add_str(&s->words, s->defs[def - 1].name);
        phi__buf_text(&s->words, ", in which this is)");
        phi__tschema_put_words(s);
        return;
    }
    phi__tschema_put_words(s);
    phi__json_write_key(&s->out, PHI__LIT("$ref"));
    phi__buf_text(&s->out, "\"#/$defs/");
    phi__buf_add_str(&s->out, s->defs[def - 1].name);
    phi__buf_char(&s->out, '"');
}

static void phi__tschema_put_lone_ref(phi__tool_schema *s, phi_str ref) {
    phi__json_write_comma(&s->out);
    phi__buf_char(&s->out, '{');
    phi__buf_clear(&s->words);
    phi__tschema_put_ref(s, ref);
    phi__buf_char(&s->out, '}');
}

/* Writes one schema. If `note` is not empty, it replaces the schema's description. */
static void phi__tschema_put(phi__tool_schema *s, const phi_json *schema, phi_str note);

static void phi__tschema_put_type(phi__tool_schema *s, const phi_json *schema) {
    const phi_json *type = phi_json_get(schema, "type");
    bool nullable = phi__records_get_bool(schema, "nullable"), any = false;
    phi_json_iter it = phi_json_each(phi_json_is(type, PHI_JSON_ARRAY) ? type : NULL);
    size_t before = s->out.len;
    phi__json_write_key(&s->out, PHI__LIT("type"));
    if (phi_json_is(type, PHI_JSON_STRING) && phi__keywords_is_type(phi__json_text_of(type))) {
        if (nullable) phi__buf_char(&s->out, '[');
        phi__json_write_str(&s->out, phi__json_text_of(type));
        if (nullable) phi__buf_text(&s->out, ",\"null\"]");
        return;
    }
    phi__buf_char(&s->out, '[');
    while (phi_json_next(&it) != NULL) {
        if (!phi__keywords_is_type(phi__json_text_of(it.at))) continue;
        phi__json_write_comma(&s->out);
        phi__json_write_str(&s->out, phi__json_text_of(it.at));
        any = true;
    }
    phi__buf_char(&s->out, ']');
    if (!any && !s->out.failed) s->out.len = before;
}

static void phi__tschema_put_copy(phi__tool_schema *s, phi_str key, const phi_json *value,
                                  size_t most) {
    size_t before = s->out.len;
    phi__json_write_key(&s->out, key);
    (void)phi__json_write(&s->out, value, 0);
    if (s->out.len - before > most && !s->out.failed) s->out.len = before;
}

static bool phi__tschema_read_only(phi__tool_schema *s, const phi_json *schema) {
    const phi_json *ref = phi_json_get(schema, "$ref");
    if (phi__records_get_bool(schema, "readOnly")) return true;
    if (!phi_json_is(ref, PHI_JSON_STRING)) return false;
    schema = phi__document_target(s->view, phi__json_text_of(ref));
    if (s->view->no_memory) s->failed = true;
    return phi__records_get_bool(schema, "readOnly");
}

static bool phi__tschema_requires(phi__tool_schema *s, const phi_json *schema, phi_str name) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "required"));
    if (!phi_json_is(phi_json_get(schema, "required"), PHI_JSON_ARRAY)) return false;
    if (!phi__tschema_spend(s, it.left)) return false;
    while (phi_json_next(&it) != NULL)
        if (phi_str_equal(phi__json_text_of(it.at), name)) return true;
    return false;
}

static void phi__tschema_put_required(phi__tool_schema *s, const phi_json *schema,
                                      const phi_json *names) {
    const phi_json *properties = phi_json_get(schema, "properties");
    phi_json_iter it = phi_json_each(names);
    size_t before = s->out.len;
    bool any = false;
    phi__json_write_key(&s->out, PHI__LIT("required"));
    phi__buf_char(&s->out, '[');
    while (!s->failed && phi_json_next(&it) != NULL) {
        if (!phi_json_is(it.at, PHI_JSON_STRING)) continue;
        if (!phi__tschema_spend(s, 1 + phi_json_count(properties))) return;
        if (phi__tschema_read_only(s, phi__json_get_n(properties, phi__json_text_of(it.at))))
            continue;
        phi__json_write_comma(&s->out);
        phi__json_write_str(&s->out, phi__json_text_of(it.at));
        any = true;
    }
    phi__buf_char(&s->out, ']');
    if (!any && !s->out.failed) s->out.len = before;
}

/* Writes an allOf: a variant, and an object whose discriminator has the value of the variant. */
static void phi__tschema_put_variant(phi__tool_schema *s, const phi_json *discriminator,
                                     phi_str ref) {
    phi_str name = phi__records_get_str(discriminator, "propertyName");
    phi__buf_text(&s->out, "{\"allOf\":[");
    phi__tschema_put_lone_ref(s, ref);
    phi__buf_text(&s->out, ",{\"type\":\"object\",\"properties\":{");
    phi__json_write_key(&s->out, name);
    phi__buf_text(&s->out, "{\"enum\":[");
    /* Write the values of the discriminator that name this reference. */
    phi_json_iter it = phi_json_each(phi_json_get(discriminator, "mapping"));
    phi_str last = ref;
    bool any = false;
    if (phi__tschema_spend(s, it.left)) {
        for (size_t i = 0; i < ref.len; i++)
            if (ref.at[i] == '/') last = phi__str(ref.at + i + 1, ref.len - i - 1);
        while (phi_json_next(&it) != NULL) {
            phi_str to = phi__json_text_of(it.at);
            if (!phi_str_equal(to, ref) && !phi_str_equal(to, last)) continue;
            phi__json_write_comma(&s->out);
            phi__json_write_str(&s->out, it.key);
            any = true;
        }
        if (!any) phi__json_write_str(&s->out, last);
    }
    phi__buf_text(&s->out, "]}},\"required\":[");
    phi__json_write_str(&s->out, name);
    phi__buf_text(&s->out, "]}]}");
}

static void phi__tschema_put_choices(phi__tool_schema *s, const phi_json *schema, phi_str key,
                                     const phi_json *list) {
    const phi_json *discriminator = phi_json_get(schema, "discriminator");
    phi_json_iter it = phi_json_each(list);
    bool tells = phi_json_is(phi_json_get(discriminator, "propertyName"), PHI_JSON_STRING) &&
                 !phi__str_is(key, "allOf");
    size_t before = s->out.len;
    phi__json_write_key(&s->out, key);
    phi__buf_char(&s->out, '[');
    while (!s->failed && phi_json_next(&it) != NULL) {
        const phi_json *ref = phi_json_get(it.at, "$ref");
        /* too large: a list of only some choices would mislead, so write none */
        if (s->out.len / 2 > s->most_bytes && !s->out.failed) {
            s->out.len = before;
            return;
        }
        phi__json_write_comma(&s->out);
        if (tells && phi_json_is(ref, PHI_JSON_STRING))
            phi__tschema_put_variant(s, discriminator, phi__json_text_of(ref));
        else
            phi__tschema_put(s, it.at, phi__str(NULL, 0));
    }
    phi__buf_char(&s->out, ']');
}

/* ---- one schema ---- */

static void phi__tschema_put_member(phi__tool_schema *s, const phi_json *schema, phi_str key,
                                    const phi_json *value) {
    switch (phi__keywords_of(key, value)) {
    case PHI__KEYWORD_COPY: phi__tschema_put_copy(s, key, value, PHI__TOOL_SCHEMA_LIST); break;
    case PHI__KEYWORD_SHORT: phi__tschema_put_copy(s, key, value, PHI__TOOL_SCHEMA_SHORT); break;
    case PHI__KEYWORD_SUB:
        phi__json_write_key(&s->out, key);
        if (phi_json_is(value, PHI_JSON_BOOL) && phi__str_is(key, "additionalProperties"))
            phi__json_write_bool(&s->out, phi_json_bool(value, true));
        else
            phi__tschema_put(s, value, phi__str(NULL, 0));
        break;
    case PHI__KEYWORD_SUBS: {
        phi_json_iter it = phi_json_each(value);
        bool was = s->optional;
        phi__json_write_key(&s->out, PHI__LIT("properties"));
        phi__buf_char(&s->out, '{');
        while (!s->failed && phi_json_next(&it) != NULL) {
            if (phi__tschema_read_only(s, it.at)) continue;
            if (s->out.len / 2 > s->most_bytes) break;
            phi__json_write_key(&s->out, it.key);
            s->optional = was || !phi__tschema_requires(s, schema, it.key);
            phi__tschema_put(s, it.at, phi__str(NULL, 0));
            s->optional = was;
        }
        phi__buf_char(&s->out, '}');
    } break;
    case PHI__KEYWORD_CHOICES: phi__tschema_put_choices(s, schema, key, value); break;
    case PHI__KEYWORD_NAMES: phi__tschema_put_required(s, schema, value); break;
    case PHI__KEYWORD_DROP:
    case PHI__KEYWORD_NOTE:
    default: break;
    }
}

/* True if a reference has schema keywords next to it, as version 3.1 allows. The reference then
   becomes a part of allOf, because some providers accept nothing next to "$ref". */
static bool phi__tschema_joins(const phi__tool_schema *s, const phi_json *schema) {
    phi_json_iter it = phi_json_each(schema);
    if (!s->view->doc->is_31) return false;
    while (phi_json_next(&it) != NULL) {
        phi__keyword keyword = phi__keywords_of(it.key, it.at);
        if (keyword != PHI__KEYWORD_DROP && keyword != PHI__KEYWORD_SHORT) return true;
        if (phi__str_is(it.key, "type")) return true;
    }
    return false;
}

static void phi__tschema_put_object(phi__tool_schema *s, const phi_json *schema, phi_str note) {
    const phi_json *ref = phi_json_get(schema, "$ref"), *example = phi_json_get(schema, "example");
    phi_json_iter it = phi_json_each(schema);
    bool is_ref = phi_json_is(ref, PHI_JSON_STRING);
    bool alone = is_ref && !phi__tschema_joins(s, schema);
    phi__buf_char(&s->out, '{');
    phi__tschema_describe(s, schema, note);
    if (alone) {
        phi__tschema_put_ref(s, phi__json_text_of(ref));
        phi__buf_char(&s->out, '}');
        return;
    }
    phi__tschema_say_more(s, schema);
    phi__tschema_put_words(s);
    phi__tschema_put_type(s, schema);
    /* In version 3.0, exclusiveMinimum is a boolean next to minimum. */
    static const char *const keys[2][2] = {{"minimum", "exclusiveMinimum"},
                                           {"maximum", "exclusiveMaximum"}};
    for (size_t i = 0; i < 2; i++) {
        const phi_json *bound = phi_json_get(schema, keys[i][0]);
        const phi_json *beyond = phi_json_get(schema, keys[i][1]);
        if (phi_json_bool(beyond, false)) {
            beyond = bound;
            bound = NULL;
        }
        if (phi_json_is(bound, PHI_JSON_NUMBER))
            phi__tschema_put_copy(s, phi_str_of(keys[i][0]), bound, SIZE_MAX);
        if (phi_json_is(beyond, PHI_JSON_NUMBER))
            phi__tschema_put_copy(s, phi_str_of(keys[i][1]), beyond, SIZE_MAX);
    }
    while (!s->failed && phi_json_next(&it) != NULL)
        if (!is_ref || !phi__str_is(it.key, "allOf"))
            phi__tschema_put_member(s, schema, it.key, it.at);
    if (example != NULL && phi_json_get(schema, "examples") == NULL) {
        size_t before = s->out.len;
        phi__json_write_key(&s->out, PHI__LIT("examples"));
        phi__buf_char(&s->out, '[');
        (void)phi__json_write(&s->out, example, 0);
        phi__buf_char(&s->out, ']');
        if (s->out.len - before > PHI__TOOL_SCHEMA_SHORT && !s->out.failed) s->out.len = before;
    }
    if (phi__tschema_type(schema) == PHI_JSON_ARRAY &&
        phi__keywords_of(PHI__LIT("items"), phi_json_get(schema, "items")) == PHI__KEYWORD_DROP)
        phi__buf_text(&s->out, ",\"items\":{}"); /* OpenAI requires "items" */
    if (is_ref) {
        it = phi_json_each(phi_json_get(schema, "allOf"));
        phi__json_write_key(&s->out, PHI__LIT("allOf"));
        phi__buf_char(&s->out, '[');
        phi__tschema_put_lone_ref(s, phi__json_text_of(ref));
        while (!s->failed && s->out.len / 2 <= s->most_bytes && phi_json_next(&it) != NULL) {
            phi__json_write_comma(&s->out);
            phi__tschema_put(s, it.at, phi__str(NULL, 0));
        }
        phi__buf_char(&s->out, ']');
    }
    phi__buf_char(&s->out, '}');
}

/* True if "nullable" is next to choices or a reference, and there is no "type". */
static bool phi__tschema_wraps_null(const phi_json *schema) {
    static const char *const keys[] = {"$ref", "anyOf", "oneOf", "allOf"};
    if (!phi__records_get_bool(schema, "nullable") || phi_json_get(schema, "type") != NULL)
        return false;
    for (size_t i = 0; i < PHI__COUNT(keys); i++)
        if (phi_json_get(schema, keys[i]) != NULL) return true;
    return false;
}

static void phi__tschema_put_file(phi__tool_schema *s, const phi_json *schema, phi_str note) {
    phi__buf_char(&s->out, '{');
    phi__tschema_describe(s, schema, note);
    phi__tschema_put_words(s);
    phi__json_write_key(&s->out, PHI__LIT("anyOf"));
    phi__buf_text(&s->out, "[{\"type\":\"string\",\"description\":\"The content");
    if (schema == NULL || phi__tschema_is_base64(schema)) phi__buf_text(&s->out, ", in base64");
    phi__buf_text(&s->out,
                  "\"},{\"type\":\"object\",\"description\":\"A file\",\"properties\":{\"path\":{"
                  "\"type\":\"string\",\"description\":\"Path of the file to send\"},"
                  "\"filename\":{\"type\":\"string\",\"description\":"
                  "\"Name to send (default: the file's own)\"}},\"required\":[\"path\"]}]}");
}

static void phi__tschema_put(phi__tool_schema *s, const phi_json *schema, phi_str note) {
    if (!phi__tschema_spend(s, 1 + phi_json_count(schema))) return;
    if (s->out.failed) phi__tschema_no_memory(s);
    if (!phi_json_is(schema, PHI_JSON_OBJECT))
        phi__tschema_put_open(s, schema, note,
                              phi_json_bool(schema, true) ? NULL : "(not allowed)");
    else if (s->depth >= PHI__TOOL_SCHEMA_DEPTH)
        phi__tschema_put_open(s, schema, note, "(its schema is nested too deeply to be shown)");
    else if (s->out.len > s->most_bytes)
        phi__tschema_put_open(s, schema, note, "(its schema is too large to be shown)");
    else {
        s->depth++;
        if (s->files && phi__tschema_is_file(schema))
            phi__tschema_put_file(s, schema, note);
        else if (phi__tschema_wraps_null(schema)) {
            phi__buf_text(&s->out, "{\"anyOf\":[");
            phi__tschema_put_object(s, schema, note);
            phi__buf_text(&s->out, ",{\"type\":\"null\"}]}");
        } else
            phi__tschema_put_object(s, schema, note);
        s->depth--;
    }
}

static void phi__tschema_put_defs(phi__tool_schema *s) {
    if (s->def_count == 0 || s->failed) return;
    phi__json_write_key(&s->out, PHI__LIT("$defs"));
    phi__buf_char(&s->out, '{');
    for (size_t i = 0; i < s->def_count && !s->failed; i++) {
        phi__json_write_key(&s->out, s->defs[i].name);
        s->from = i + 1;
        s->optional = false;
        phi__tschema_put(s, s->defs[i].node, phi__str(NULL, 0));
    }
    s->from = 0;
    phi__buf_char(&s->out, '}');
    if (s->out.failed) phi__tschema_no_memory(s);
}

/* Cuts references so that no circle is left among the definitions. In each circle, cuts the
   references to its first definition. *any is true if there was a circle. False if there is no
   memory. */
static bool phi__tschema_cut_circles(phi__tool_schema *s, bool *any) {
    phi_memory *memory = s->view->doc->memory;
    size_t nodes = s->def_count + 1, bytes = phi__mul(nodes, 2 * sizeof(size_t));
    size_t first = 0, last = 0, next = 0;
    /* needed[i] counts the references to node i. The queue holds nodes that no reference leads
       to. */
    size_t *needed = (size_t *)phi__alloc(memory, bytes);
    if (needed == NULL) return false;
    size_t *queue = needed + nodes;
    for (size_t i = 0; i < s->edge_count; i++) needed[s->edges[i].to]++;
    for (size_t i = 0; i < nodes; i++)
        if (needed[i] == 0) queue[last++] = i;
    for (;;) {
        while (first < last) {
            size_t node = queue[first++];
            for (size_t i = 0; i < s->edge_count; i++) {
                phi__tschema_edge *edge = &s->edges[i];
                if (edge->from != node || edge->cut) continue;
                if (--needed[edge->to] == 0) queue[last++] = edge->to;
            }
        }
        while (next < nodes && needed[next] == 0) next++;
        if (next == nodes) break;
        /* Cut all references from remaining nodes to this node. */
        *any = true;
        for (size_t i = 0; i < s->edge_count; i++)
            if (s->edges[i].to == next && needed[s->edges[i].from] > 0) s->edges[i].cut = true;
        needed[next] = 0;
        queue[last++] = next;
    }
    phi__free(memory, needed, bytes);
    return true;
}

/* If there are circles, cuts them and empties the output. True: write the schema again. */
static bool phi__tschema_again(phi__tool_schema *s) {
    bool any = false;
    if (s->failed || s->second || s->edge_count == 0) return false;
    if (!phi__tschema_cut_circles(s, &any)) phi__tschema_no_memory(s);
    if (!any || s->failed) return false;
    s->second = true;
    phi__buf_clear(&s->out);
    return true;
}

typedef struct phi__making {
    phi_openapi *api;
    const phi__document_operation *source;
    phi_arena *arena; /* holds the results */
    phi_arena scratch;
    phi__document_view view;
    phi__tool_schema schema;
    /* path item; operation; servers and security of the document */
    const phi_json *item, *node, *root;
    phi__operation *op;
    const phi_json **given;      /* nodes of the parameters, as in op->parameters */
    const phi_json *body_schema; /* NULL: there is no body */
    phi_str body_note;
    bool no_memory;
    char message[320]; /* why the operation is skipped; empty: it is not */
} phi__making;

/* ---- an operation while it is made callable ---- */

/* Stores why the operation is skipped. Like phi__making_lost(), returns false, so that a caller can
   return the result. */
static bool phi__making_skip(phi__making *m, const char *place, const char *why) {
    (void)snprintf(m->message, sizeof m->message, "%s: %s", place, why);
    return false;
}

/* Skips the operation with the view's message, or records that there is no memory. */
static bool phi__making_lost(phi__making *m, const char *place) {
    if (!m->view.no_memory) return phi__making_skip(m, place, m->view.message);
    m->no_memory = true;
    return false;
}

static bool phi__making_str(phi__making *m, phi_str text, phi_str *out) {
    if (phi__arena_str(m->arena, text, out)) return true;
    m->no_memory = true;
    return false;
}

/* Allocates zeroed memory in the arena. If there is no memory, records this and returns NULL. */
static void *phi__making_zero(phi__making *m, size_t count, size_t size) {
    void *at = phi__arena_zero(m->arena, phi__mul(count, size));
    if (at == NULL) m->no_memory = true;
    return at;
}

/* ---- parameters of the operation, of its path item, and of the path template ---- */

enum {
    PHI__PARAMETERS_MOST = 4096,
    PHI__PARAMETERS_PATH = 8192,  /* max. bytes of a path; servers accept fewer */
    PHI__PARAMETERS_ARGUMENT = 64 /* max. bytes of a key: Anthropic's limit, November 2026 */
};

static const char *const phi__parameters_places[] = {"path", "query", "header", "cookie"};

static const char *const phi__parameters_styles[] = {
    "simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject"};

/* Returns the index of a name in a table, or `count` if the name is not in the table. */
static size_t phi__parameters_named(const char *const *names, size_t count, phi_str name) {
    size_t i = 0;
    while (i < count && !phi__str_is(name, names[i])) i++;
    return i;
}

/* Sets *out to the style of this name. False if there is no such style; *out is unchanged. */
static bool phi__parameters_style(phi_str name, phi__operation_style *out) {
    size_t count = PHI__COUNT(phi__parameters_styles);
    size_t i = phi__parameters_named(phi__parameters_styles, count, name);
    if (i < count) *out = (phi__operation_style)i;
    return i < count;
}

static bool phi__parameters_taken(const phi__making *m, phi_str name) {
    for (size_t i = 0; i < m->op->parameter_count; i++)
        if (phi_str_equal(m->op->parameters[i].argument, name)) return true;
    return false;
}

/* Returns the first number from 2 on that no argument "base_NUMBER" has. Looks at each parameter
   once, since a document may have thousands of names that differ only in replaced characters. */
static unsigned phi__parameters_next(const phi__making *m, phi_str base) {
    unsigned next = 2;
    unsigned char taken[PHI__PARAMETERS_MOST / 8 + 1] = PHI_ZERO;
    for (size_t i = 0; i < m->op->parameter_count; i++) {
        phi_str name = m->op->parameters[i].argument;
        uint64_t number = 0;
        if (name.len <= base.len + 1 || name.at[base.len] != '_' ||
            memcmp(name.at, base.at, base.len) != 0 ||
            !phi__str_to_u64(phi__str_from(name, base.len + 1), &number))
            continue;
        if (number < PHI__PARAMETERS_MOST + 8)
            taken[number / 8] = (unsigned char)(taken[number / 8] | 1u << number % 8);
    }
    while (next < PHI__PARAMETERS_MOST + 7 && (taken[next / 8] >> next % 8 & 1) != 0) next++;
    return next;
}

/* Makes a parameter's key, which differs from the keys of all other arguments. */
static bool phi__parameters_argument(phi__making *m, phi_str name, const char *place,
                                     phi_str *out) {
    char key[PHI__PARAMETERS_ARGUMENT + 24];
    size_t len = 0;
    for (; len < name.len && len < PHI__PARAMETERS_ARGUMENT - 16; len++)
        key[len] = phi__tschema_plain(name.at[len]);
    if (len == 0) key[len++] = '_';
    if (phi__parameters_taken(m, phi__str(key, len)))
        len += (size_t)snprintf(key + len, 12, "_%s", place);
    if (phi__parameters_taken(m, phi__str(key, len)))
        len += (size_t)snprintf(key + len, 12, "_%u", phi__parameters_next(m, phi__str(key, len)));
    return phi__making_str(m, phi__str(key, len), out);
}

/* True for headers that OpenAPI describes elsewhere, and for path parameters not in the path. */
static bool phi__parameters_ignored(const phi__making *m, phi__operation_place place,
                                    phi_str name) {
    phi_str path = m->op->path;
    if (place == PHI__OPERATION_PATH) {
        for (size_t at = 0; at + name.len + 2 <= path.len; at++)
            if (path.at[at] == '{' && path.at[at + name.len + 1] == '}' &&
                memcmp(path.at + at + 1, name.at, name.len) == 0)
                return false;
        return true;
    }
    return place == PHI__OPERATION_HEADER &&
           (phi__str_is_nocase(name, "accept") || phi__str_is_nocase(name, "content-type") ||
            phi__str_is_nocase(name, "authorization"));
}

static bool phi__parameters_repeated(const phi__making *m, phi__operation_place place,
                                     phi_str name) {
    for (size_t i = 0; i < m->op->parameter_count; i++)
        if (m->op->parameters[i].place == place && phi_str_equal(m->op->parameters[i].name, name))
            return true;
    return false;
}

/* Returns the schema of a parameter, or of its only content, and sets *type to the media type of
   that content. NULL if there is no schema. */
static const phi_json *phi__parameters_schema(const phi_json *node, phi_str *type) {
    const phi_json *schema = phi_json_get(node, "schema"), *content = phi_json_get(node, "content");
    phi_json_iter it = phi_json_each(content);
    *type = phi__str(NULL, 0);
    if (schema != NULL || !phi_json_is(content, PHI_JSON_OBJECT) || phi_json_next(&it) == NULL)
        return schema;
    *type = it.key;
    return phi_json_get(it.at, "schema");
}

static bool phi__parameters_add(phi__making *m, const phi_json *node, const char *place) {
    phi_str name = phi__records_get_str(node, "name");
    phi__operation_parameter p = PHI_ZERO;
    phi_str in = phi__records_get_str(node, "in"), content_type;
    size_t index =
        phi__parameters_named(phi__parameters_places, PHI__COUNT(phi__parameters_places), in);
    if (name.len == 0 || index == PHI__COUNT(phi__parameters_places))
        return !phi__records_get_bool(node, "required") ||
               phi__making_skip(m, place, "expected a name, and path, query, header or cookie");
    p.place = (phi__operation_place)index;
    if (phi__parameters_ignored(m, p.place, name) || phi__parameters_repeated(m, p.place, name))
        return true;
    if (m->op->parameter_count == PHI__PARAMETERS_MOST)
        return phi__making_skip(m, place, "these are too many parameters");
    bool query = p.place == PHI__OPERATION_QUERY || p.place == PHI__OPERATION_COOKIE;
    p.style = query ? PHI__STYLE_FORM : PHI__STYLE_SIMPLE;
    (void)phi__parameters_style(phi__records_get_str(node, "style"), &p.style);
    p.explode = phi_json_bool(phi_json_get(node, "explode"), p.style == PHI__STYLE_FORM);
    p.allow_reserved = phi__records_get_bool(node, "allowReserved");
    p.required = p.place == PHI__OPERATION_PATH || phi__records_get_bool(node, "required");
    const phi_json *schema = phi__parameters_schema(node, &content_type);
    if (!phi__making_str(m, content_type, &p.content_type) || !phi__making_str(m, name, &p.name) ||
        !phi__parameters_argument(m, name, phi__parameters_places[index], &p.argument))
        return false;
    if (schema != NULL) {
        const phi_json *type = phi__document_follow(&m->view, schema);
        if (type == NULL) return phi__making_lost(m, place);
        p.type = phi__tschema_type(type);
    }
    m->given[m->op->parameter_count] = node;
    m->op->parameters[m->op->parameter_count++] = p;
    return true;
}

/* Adds a required string for each name in the path template that no parameter declares. */
static bool phi__parameters_rest(phi__making *m) {
    phi_str path = m->op->path;
    size_t at = 0;
    while ((at = phi__str_find(path, at, "{")) != SIZE_MAX) {
        phi__operation_parameter *p = &m->op->parameters[m->op->parameter_count];
        size_t end = phi__str_find(path, at, "}");
        if (end == SIZE_MAX) return phi__making_skip(m, "its path", "a \"{\" without its \"}\"");
        phi_str name = phi__str(path.at + at + 1, end - at - 1);
        at = end;
        if (phi__parameters_repeated(m, PHI__OPERATION_PATH, name)) continue;
        if (m->op->parameter_count == PHI__PARAMETERS_MOST)
            return phi__making_skip(m, "its path", "these are too many parameters");
        memset(p, 0, sizeof *p);
        p->required = true;
        p->type = PHI_JSON_STRING;
        if (!phi__making_str(m, name, &p->name) ||
            !phi__parameters_argument(m, name, "path", &p->argument))
            return false;
        m->given[m->op->parameter_count++] = NULL;
    }
    return true;
}

/* Makes the parameters. False if the operation is skipped or there is no memory. All functions that
   make a part of an operation return false in these cases. */
static bool phi__parameters_make(phi__making *m) {
    const phi_json *own = phi_json_get(m->node, "parameters");
    const phi_json *shared = phi_json_get(m->item, "parameters");
    size_t most = phi_json_count(own) + phi_json_count(shared);
    if (m->op->path.len > PHI__PARAMETERS_PATH)
        return phi__making_skip(m, "its path", "it is longer than 8192 bytes");
    for (size_t i = 0; i < m->op->path.len; i++) most += m->op->path.at[i] == '{';
    most = phi__min(most, PHI__PARAMETERS_MOST);
    m->op->parameters =
        (phi__operation_parameter *)phi__making_zero(m, most, sizeof *m->op->parameters);
    m->given = (const phi_json **)phi_arena_alloc(&m->scratch, (most + 1) * sizeof *m->given);
    if (m->given == NULL) m->no_memory = true;
    if (m->no_memory) return false;
    for (int round = 0; round < 2; round++) {
        const phi_json *list = round == 0 ? own : shared;
        phi_json_iter it = phi_json_each(phi_json_is(list, PHI_JSON_ARRAY) ? list : NULL);
        char place[40];
        unsigned index = 0;
        while (phi_json_next(&it) != NULL) {
            const phi_json *node = phi__document_follow(&m->view, it.at);
            (void)snprintf(place, sizeof place, "parameters[%u]", index++);
            if (node == NULL) return phi__making_lost(m, place);
            if (index > PHI__PARAMETERS_MOST)
                return phi__making_skip(m, place, "these are too many parameters");
            if (!phi__parameters_add(m, node, place)) return false;
        }
    }
    return phi__parameters_rest(m);
}

/* ---- the body: its content type and its properties ---- */

enum { PHI__REQUEST_BODY_PROPERTIES = 1024 };

/* Returns the rank of a content type. The lowest rank is chosen. */
static unsigned phi__request_body_rank(phi_str type, phi__operation_body_kind *kind) {
    /* Remove the parameters of the type. */
    type = phi__str_trim(phi__str(type.at, phi__min(type.len, phi__str_find(type, 0, ";"))));
    *kind = PHI__BODY_JSON;
    if (phi__str_is_nocase(type, "application/json")) return 0;
    if (phi__str_is_nocase(type, "application/merge-patch+json")) return 1;
    if (phi__media_ends(type, "+json") || phi__media_ends(type, "/json")) return 2;
    if (phi__str_is(type, "*/*") || phi__str_is_nocase(type, "application/*")) return 3;
    *kind = PHI__BODY_FORM;
    if (phi__str_is_nocase(type, "application/x-www-form-urlencoded")) return 4;
    *kind = PHI__BODY_MULTIPART;
    if (phi__str_is_nocase(type, "multipart/form-data")) return 5;
    *kind = PHI__BODY_TEXT;
    if (type.len > 5 && phi__str_is_nocase(phi__str(type.at, 5), "text/")) return 6;
    *kind = PHI__BODY_BYTES;
    return 7;
}

static bool phi__request_body_encoding(phi__making *m, phi__operation_property *p,
                                       const phi_json *encoding) {
    phi_str style = phi__records_get_str(encoding, "style");
    phi_str type = phi__records_get_str(encoding, "contentType");
    size_t comma = phi__str_find(type, 0, ",");
    if (comma != SIZE_MAX)
        type = phi__str_trim(phi__str(type.at, comma)); /* the first type of several */
    p->style = PHI__STYLE_FORM;
    p->has_style = phi__parameters_style(style, &p->style) ||
                   phi_json_get(encoding, "explode") != NULL ||
                   phi_json_get(encoding, "allowReserved") != NULL;
    p->explode = phi_json_bool(phi_json_get(encoding, "explode"), p->style == PHI__STYLE_FORM);
    p->allow_reserved = phi__records_get_bool(encoding, "allowReserved");
    if (type.len > 0 && phi__str_find(type, 0, "*") == SIZE_MAX &&
        !phi__making_str(m, type, &p->content_type))
        return false;
    const phi_json *headers = phi_json_get(encoding, "headers");
    phi_json_iter it = phi_json_each(headers);
    if (!phi_json_is(headers, PHI_JSON_OBJECT)) return true;
    phi_json *kept = phi_json_new_object(m->arena);
    while (kept != NULL && phi_json_next(&it) != NULL) {
        const phi_json *header = phi__document_follow(&m->view, it.at);
        if (header == NULL) return phi__making_lost(m, "encoding.headers");
        const phi_json *value =
            phi_json_get(phi__document_follow(&m->view, phi_json_get(header, "schema")), "default");
        if (!phi_json_is(value, PHI_JSON_STRING) || phi__str_is_nocase(it.key, "content-type"))
            continue;
        if (phi__json_edit_set(m->arena, kept, it.key,
                               phi_json_new_str(m->arena, phi__json_text_of(value))) != PHI_OK)
            kept = NULL;
    }
    p->headers = kept;
    m->no_memory = m->no_memory || kept == NULL;
    return kept != NULL;
}

/* Adds the properties of one schema to the body. */
static bool phi__request_body_of(phi__making *m, const phi_json *from, const phi_json *encodings,
                                 size_t most) {
    phi__operation_body *body = &m->op->body;
    phi_json_iter it = phi_json_each(phi_json_get(from, "properties"));
    if (!phi_json_is(phi_json_get(from, "properties"), PHI_JSON_OBJECT)) return true;
    while (body->property_count < most && phi_json_next(&it) != NULL) {
        phi__operation_property *p = &body->properties[body->property_count];
        const phi_json *schema = phi__document_follow(&m->view, it.at);
        if (schema == NULL) return phi__making_lost(m, "requestBody");
        memset(p, 0, sizeof *p);
        p->type = phi__tschema_type(schema);
        if (p->type == PHI_JSON_ARRAY) {
            schema = phi__document_follow(&m->view, phi_json_get(schema, "items"));
            if (schema == NULL && m->view.no_memory) return phi__making_lost(m, "requestBody");
        }
        p->file = phi__tschema_is_file(schema);
        p->base64 = phi__tschema_is_base64(schema);
        phi_str media = phi__records_get_str(schema, "contentMediaType");
        if (!phi__making_str(m, media, &p->content_type) || !phi__making_str(m, it.key, &p->name) ||
            !phi__request_body_encoding(m, p, phi__json_get_n(encodings, it.key)))
            return false;
        body->property_count++;
    }
    return true;
}

static const phi_json *phi__request_body_pick(phi__making *m, const phi_json *content,
                                              phi_str *type) {
    phi_json_iter it = phi_json_each(phi_json_is(content, PHI_JSON_OBJECT) ? content : NULL);
    const phi_json *best = NULL;
    unsigned least = 100;
    while (phi_json_next(&it) != NULL) {
        phi__operation_body_kind kind;
        unsigned rank = phi__request_body_rank(it.key, &kind);
        if (rank >= least) continue;
        least = rank;
        best = it.at;
        *type = it.key;
        m->op->body.kind = kind;
    }
    /* Replace a range of types by one of its types. */
    if (phi__str_find(*type, 0, "*") == SIZE_MAX) return best;
    *type = m->op->body.kind == PHI__BODY_JSON   ? PHI__LIT("application/json")
            : m->op->body.kind == PHI__BODY_TEXT ? PHI__LIT("text/plain")
                                                 : PHI__LIT("application/octet-stream");
    return best;
}

/* Makes the body. The parameters must have been made before. */
static bool phi__request_body_make(phi__making *m) {
    const phi_json *given = phi_json_get(m->node, "requestBody");
    phi__operation_body *body = &m->op->body;
    phi_str type = {NULL, 0};
    if (given == NULL) return true;
    given = phi__document_follow(&m->view, given);
    if (given == NULL) return phi__making_lost(m, "requestBody");
    const phi_json *media = phi__request_body_pick(m, phi_json_get(given, "content"), &type);
    if (media == NULL) return true;
    m->body_schema = phi_json_get(media, "schema");
    m->body_note = phi__records_get_str(given, "description");
    body->required = phi__records_get_bool(given, "required");
    if (!phi__making_str(m, type, &body->content_type) ||
        !phi__parameters_argument(m, PHI__LIT("body"), "", &body->argument))
        return false;
    if (!phi__str_is(body->argument, "body") &&
        !phi__parameters_argument(m, PHI__LIT("_request_body"), "", &body->argument))
        return false;
    if (body->kind != PHI__BODY_FORM && body->kind != PHI__BODY_MULTIPART) return true;
    /* Collect the properties of the schema and of the schemas in its allOf. */
    const phi_json *encodings = phi_json_get(media, "encoding");
    const phi_json *schema = phi__document_follow(&m->view, m->body_schema);
    phi_json_iter it = phi_json_each(phi_json_get(schema, "allOf"));
    size_t most = phi_json_count(phi_json_get(schema, "properties"));
    if (m->body_schema == NULL) return true;
    if (schema == NULL) return phi__making_lost(m, "requestBody");
    while (phi_json_next(&it) != NULL) {
        const phi_json *part = phi__document_follow(&m->view, it.at);
        if (part == NULL) return phi__making_lost(m, "requestBody");
        most += phi_json_count(phi_json_get(part, "properties"));
    }
    most = phi__min(most, PHI__REQUEST_BODY_PROPERTIES);
    body->properties =
        (phi__operation_property *)phi__making_zero(m, most, sizeof *body->properties);
    if (body->properties == NULL || !phi__request_body_of(m, schema, encodings, most)) return false;
    it = phi_json_each(phi_json_get(schema, "allOf"));
    while (phi_json_next(&it) != NULL)
        if (!phi__request_body_of(m, phi__document_follow(&m->view, it.at), encodings, most))
            return false;
    return true;
}

/* ---- security and server ---- */

enum { PHI__SECURITY_URL = 2048 }; /* max. bytes of a server's URL */

static bool phi__security_scheme(phi__making *m, phi__operation_scheme *scheme, phi_str name,
                                 const phi_json *scopes) {
    phi__document_part *part = phi__document_find(m->view.doc, PHI__SECTION_SECURITY, name);
    phi_json_iter it = phi_json_each(phi_json_is(scopes, PHI_JSON_ARRAY) ? scopes : NULL);
    const phi_json *node = NULL;
    phi_str *list = (phi_str *)phi__making_zero(m, it.left, sizeof *list);
    if (list == NULL || !phi__making_str(m, name, &scheme->name)) return false;
    scheme->scopes = list;
    while (phi_json_next(&it) != NULL)
        if (!phi__making_str(m, phi__json_text_of(it.at), &list[scheme->scope_count++]))
            return false;
    if (part != NULL) node = phi__document_tree(&m->view, part);
    if (node != NULL) node = phi__document_follow(&m->view, node);
    if (m->view.no_memory) return phi__making_lost(m, "security");
    phi_str type = phi__records_get_str(node, "type");
    phi_str http = phi__records_get_str(node, "scheme");
    scheme->kind = PHI__SCHEME_OTHER;
    if (phi__str_is(type, "apiKey")) {
        phi_str in = phi__records_get_str(node, "in");
        scheme->kind = PHI__SCHEME_KEY;
        scheme->place = PHI__OPERATION_HEADER;
        if (phi__str_is(in, "query")) scheme->place = PHI__OPERATION_QUERY;
        if (phi__str_is(in, "cookie")) scheme->place = PHI__OPERATION_COOKIE;
        return phi__making_str(m, phi__records_get_str(node, "name"), &scheme->key);
    }
    if (phi__str_is(type, "http")) {
        if (phi__str_is_nocase(http, "basic")) scheme->kind = PHI__SCHEME_BASIC;
        if (phi__str_is_nocase(http, "bearer")) scheme->kind = PHI__SCHEME_BEARER;
    }
    if (phi__str_is(type, "openIdConnect")) scheme->kind = PHI__SCHEME_OPENID;
    if (phi__str_is(type, "oauth2")) {
        const phi_json *flow = phi_json_get(phi_json_get(node, "flows"), "clientCredentials");
        scheme->kind = PHI__SCHEME_OAUTH;
        return phi__making_str(m, phi__records_get_str(flow, "tokenUrl"), &scheme->token_url);
    }
    return true;
}

static bool phi__security_make(phi__making *m) {
    const phi_json *list = phi_json_get(m->node, "security");
    if (!phi_json_is(list, PHI_JSON_ARRAY)) list = phi_json_get(m->root, "security");
    if (!phi_json_is(list, PHI_JSON_ARRAY)) return true;
    phi_json_iter it = phi_json_each(list);
    phi__operation_security *alternatives =
        (phi__operation_security *)phi__making_zero(m, it.left, sizeof *alternatives);
    if (alternatives == NULL) return false;
    m->op->security = alternatives;
    while (phi_json_next(&it) != NULL) {
        phi__operation_security *one = &alternatives[m->op->security_count++];
        phi_json_iter in = phi_json_each(phi_json_is(it.at, PHI_JSON_OBJECT) ? it.at : NULL);
        phi__operation_scheme *schemes =
            (phi__operation_scheme *)phi__making_zero(m, in.left, sizeof *schemes);
        if (schemes == NULL) return false;
        one->schemes = schemes;
        while (phi_json_next(&in) != NULL)
            if (!phi__security_scheme(m, &schemes[one->count++], in.key, in.at)) return false;
    }
    return true;
}

/* Sets the URL of the first server of the operation, of its path item, or of the document. Each
   "{name}" in it is replaced by the variable's default. */
static bool phi__maker_server(phi__making *m) {
    const phi_json *const places[3] = {m->node, m->item, m->root};
    char out[PHI__SECURITY_URL];
    size_t len = 0;
    for (size_t k = 0; k < 3 && len == 0; k++) {
        const phi_json *server = phi_json_at(phi_json_get(places[k], "servers"), 0);
        const phi_json *variables = phi_json_get(server, "variables");
        phi_str url = phi__records_get_str(server, "url");
        size_t i = 0;
        while (i < url.len && len < PHI__SECURITY_URL) {
            size_t end = url.at[i] == '{' ? phi__str_find(url, i, "}") : SIZE_MAX;
            phi_str part = phi__str(url.at + i, 1);
            const phi_json *variable = NULL;
            if (end != SIZE_MAX)
                variable = phi__json_get_n(variables, phi__str(url.at + i + 1, end - i - 1));
            if (variable != NULL) part = phi__records_get_str(variable, "default");
            if (part.len > PHI__SECURITY_URL - len) break;
            if (part.len > 0) memcpy(out + len, part.at, part.len);
            len += part.len;
            i = variable != NULL ? end + 1 : i + 1;
        }
        if (i < url.len) len = 0; /* the URL is too long */
    }
    while (len > 0 && out[len - 1] == '/') len--;
    return phi__making_str(m, phi__str(out, len), &m->op->server);
}

/* ---- the operation, and its tool's schema ---- */

enum {
    PHI__MAKER_DESCRIPTION = 16384, /* max. bytes of a tool's description; a $ref may repeat it */
    PHI__MAKER_LABEL = 120
};

static bool phi__maker_put_schema(phi__making *m) {
    phi__tool_schema *s = &m->schema;
    phi__buf *out = &s->out;
    const phi__operation_body *body = &m->op->body;
    do {
        phi__buf_text(out, "{\"type\":\"object\",\"properties\":{");
        for (size_t i = 0; i < m->op->parameter_count && !s->failed; i++) {
            phi_str type;
            const phi_json *schema = phi__parameters_schema(m->given[i], &type);
            phi__json_write_key(out, m->op->parameters[i].argument);
            if (schema == NULL && type.len == 0)
                phi__buf_text(out, "{\"type\":\"string\"}");
            else
                phi__tschema_put(s, schema, phi__records_get_str(m->given[i], "description"));
        }
        if (body->kind != PHI__BODY_NONE && !s->failed) {
            phi__json_write_key(out, body->argument);
            s->files = body->kind == PHI__BODY_MULTIPART;
            if (body->kind == PHI__BODY_TEXT)
                phi__buf_text(out, "{\"type\":\"string\"}");
            else if (body->kind == PHI__BODY_BYTES)
                phi__tschema_put_file(s, NULL, m->body_note);
            else
                phi__tschema_put(s, m->body_schema, m->body_note);
        }
        phi__buf_char(out, '}');
        size_t before = out->len;
        bool any = body->required;
        phi__json_write_key(out, PHI__LIT("required"));
        phi__buf_char(out, '[');
        for (size_t i = 0; i < m->op->parameter_count; i++) {
            if (!m->op->parameters[i].required) continue;
            phi__json_write_comma(out);
            phi__json_write_str(out, m->op->parameters[i].argument);
            any = true;
        }
        if (body->required) {
            phi__json_write_comma(out);
            phi__json_write_str(out, body->argument);
        }
        phi__buf_char(out, ']');
        if (!any && !out->failed) out->len = before;
        phi__tschema_put_defs(s);
        phi__buf_char(out, '}');
    } while (phi__tschema_again(s));
    if (out->failed) m->view.no_memory = true;
    return !s->failed && !m->view.no_memory ? true : phi__making_lost(m, "schema");
}

static bool phi__maker_tool(phi__making *m, phi_tool *tool) {
    const phi_openapi_desc *desc = &m->api->desc;
    phi_str schema, kept, label = phi__records_get_str(m->node, "summary");
    phi_str text = phi__str_trim(phi__records_get_str(m->node, "description"));
    const char *before = m->source->shown.deprecated ? "(deprecated) " : "", *after = "";
    memset(tool, 0, sizeof *tool);
    if (text.len == 0) text = phi__str_trim(label);
    if (text.len == 0) text = m->op->path;
    if (label.len == 0) label = m->source->shown.operation_id;
    if (label.len == 0) label = m->op->name;
    if (text.len > PHI__MAKER_DESCRIPTION) {
        text.len = phi__utf8_cut(text, PHI__MAKER_DESCRIPTION);
        after = "...";
    }
    size_t size = strlen(before) + text.len + strlen(after) + 1;
    char *words = (char *)phi__making_zero(m, size, 1);
    if (words == NULL) return false;
    (void)snprintf(words, size, "%s%.*s%s", before, (int)text.len, text.at, after);
    tool->description = words;
    label.len = phi__utf8_cut(label, PHI__MAKER_LABEL);
    if (!phi__making_str(m, label, &kept) ||
        !phi__making_str(m, phi__buf_str(&m->schema.out), &schema))
        return false;
    tool->label = kept.at;
    tool->name = m->op->name.at;
    tool->schema = schema.at;
    tool->user_data = m->op;
    tool->needs_approval = (desc->needs_approval && !m->op->read_only) ||
                           (desc->destructive_needs_approval && m->op->destructive);
    tool->deferred = desc->deferred;
    tool->may_defer = !desc->never_deferred;
    tool->source = "openapi";
    phi__opcall_fill(tool);
    return true;
}

/* Finds the operation in its path item, and copies its fields from the index. */
static bool phi__maker_find(phi__making *m) {
    const phi_openapi_operation *shown = &m->source->shown;
    phi__operation *op = m->op;
    char method[16];
    size_t i;
    phi__document_part *root =
        phi__document_find(m->view.doc, PHI__SECTION_ROOT, phi__str(NULL, 0));
    m->item = phi__document_tree(&m->view, m->source->item);
    if (root != NULL) m->root = phi__document_tree(&m->view, root);
    if (m->view.no_memory) return phi__making_lost(m, "document");
    for (i = 0; i < shown->method.len && i + 1 < sizeof method; i++)
        method[i] = (char)(shown->method.at[i] | 0x20);
    method[i] = '\0';
    m->node = phi_json_get(m->item, method);
    if (m->node == NULL) return phi__making_skip(m, "operation", "it is not in its path item");
    op->api = m->api;
    op->index = (size_t)(m->source - m->api->document->operations);
    op->read_only = shown->read_only;
    op->destructive = shown->destructive;
    op->name = shown->name; /* the index outlives the selection */
    op->method = shown->method;
    op->path = shown->path;
    return true;
}

/* Makes the operation at `index` and its tool in the arena. False if there is no memory. *skip is
   NULL, or says why the operation becomes no tool. *units grows by the bytes read and written. */
static bool phi__maker_make(phi_openapi *api, size_t index, phi_arena *arena, phi_tool *tool,
                            const char **skip, size_t *units) {
    phi__document *doc = api->document;
    phi_arena_mark mark = phi_arena_save(arena);
    phi_str text = {NULL, 0};
    phi__making m = PHI_ZERO;
    m.api = api;
    m.source = &doc->operations[index];
    m.arena = arena;
    *skip = m.source->skip;
    if (*skip != NULL) return true;
    phi_arena_init(&m.scratch, doc->memory, 4096);
    m.view.doc = doc;
    m.view.arena = &m.scratch;
    m.schema.view = &m.view;
    m.schema.most_bytes = api->desc.max_schema_bytes;
    phi__buf_init(&m.schema.out, doc->memory);
    phi__buf_init(&m.schema.words, doc->memory);
    m.op = (phi__operation *)phi__making_zero(&m, 1, sizeof *m.op);
    bool made = m.op != NULL && phi__maker_find(&m) && phi__parameters_make(&m) &&
                phi__request_body_make(&m) && phi__security_make(&m) && phi__maker_server(&m) &&
                phi__maker_put_schema(&m) && phi__maker_tool(&m, tool);
    *units += m.view.units + m.schema.out.len;
    phi__buf_free(&m.schema.out);
    phi__buf_free(&m.schema.words);
    phi__free(doc->memory, m.schema.defs, m.schema.def_cap * sizeof *m.schema.defs);
    phi__free(doc->memory, m.schema.edges, m.schema.edge_cap * sizeof *m.schema.edges);
    phi_arena_free(&m.scratch);
    if (made) return true;
    phi_arena_reset(arena, mark);
    if (m.no_memory || !phi__arena_str(arena, phi_str_of(m.message), &text)) return false;
    *skip = text.at;
    return true;
}

/* ---- selection: operations that fit a filter become tools ---- */

enum { PHI__SELECTION_ENTRY = 64 }; /* units of work for an operation of any size */

static bool phi__selection_listed(const char *const *list, phi_str text, bool nocase) {
    for (; list != NULL && *list != NULL; list++)
        if (nocase ? phi__str_is_nocase(text, *list) : phi__str_is(text, *list)) return true;
    return false;
}

/* True if a path is below one of the prefixes: "/repos" and "/repos/" fit /repos/a, but not
   /repositories. */
static bool phi__selection_below(const char *const *prefixes, phi_str path) {
    for (; *prefixes != NULL; prefixes++) {
        size_t len = strlen(*prefixes);
        while (len > 0 && (*prefixes)[len - 1] == '/') len--;
        if (path.len < len || (len > 0 && memcmp(path.at, *prefixes, len) != 0)) continue;
        if (path.len == len || path.at[len] == '/') return true;
    }
    return false;
}

static bool phi__selection_fits(const phi__document_operation *op,
                                const phi_openapi_filter *filter) {
    bool tagged = false;
    if (filter == NULL) return true;
    if (filter->operation_ids != NULL &&
        (op->shown.operation_id.len == 0 ||
         !phi__selection_listed(filter->operation_ids, op->shown.operation_id, false)))
        return false;
    if (filter->methods != NULL && !phi__selection_listed(filter->methods, op->shown.method, true))
        return false;
    if (filter->path_prefixes != NULL &&
        !phi__selection_below(filter->path_prefixes, op->shown.path))
        return false;
    for (size_t i = 0; filter->tags != NULL && i < op->tag_count; i++)
        tagged = tagged || phi__selection_listed(filter->tags, op->tags[i], false);
    return filter->tags == NULL || tagged;
}

/* Makes a tool of the operation at s->at, or records why it becomes no tool. False if there is no
   memory. */
static bool phi__selection_add(phi_openapi *api, phi__selection *s, phi_openapi_tools *out,
                               size_t *units) {
    phi_memory *memory = &api->memory;
    const char *skip = NULL;
    void *at = phi__grow(memory, s->tools, &s->tool_cap, out->count + 1, sizeof *s->tools);
    if (at == NULL) return false;
    s->tools = (phi_tool *)at;
    at = phi__grow(memory, s->operations, &s->operation_cap, out->count + 1, sizeof *s->operations);
    if (at == NULL) return false;
    s->operations = (size_t *)at;
    at = phi__grow(memory, s->skipped, &s->skip_cap, out->skip_count + 1, sizeof *s->skipped);
    if (at == NULL) return false;
    s->skipped = (phi_openapi_skip *)at;
    if (!phi__maker_make(api, s->at, &s->arena, &s->tools[out->count], &skip, units)) return false;
    if (skip != NULL) {
        s->skipped[out->skip_count].operation = s->at;
        s->skipped[out->skip_count++].message = skip;
    } else
        s->operations[out->count++] = s->at;
    out->tools = s->tools;
    out->operations = s->operations;
    out->skipped = s->skipped;
    return true;
}

/* ---- public ---- */

PHI_API phi_status phi_openapi_select(phi_openapi *api, const phi_openapi_filter *filter,
                                      phi_openapi_tools *out) {
    phi__selection *s;
    size_t units = 0;
    if (api == NULL || out == NULL) return PHI_BAD_ARG;
    if (api->reading.status != PHI_OK)
        return phi__error(api->rt, PHI_MISUSE, "phi_openapi_select: the document is not ready");
    if (out->work == NULL) {
        memset(out, 0, sizeof *out);
        out->work = s = (phi__selection *)phi__alloc(&api->memory, sizeof *s);
        if (s == NULL) return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_select: no memory");
        phi_arena_init(&s->arena, &api->memory, 0);
        s->next = api->selections;
        api->selections = s;
    }
    s = (phi__selection *)out->work;
    while (s->at < api->document->count) {
        if (units >= api->step_bytes) return PHI_BUSY;
        units += PHI__SELECTION_ENTRY;
        if (phi__selection_fits(&api->document->operations[s->at], filter) &&
            !phi__selection_add(api, s, out, &units)) {
            phi__selection_free(api, s);
            memset(out, 0, sizeof *out);
            return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_select: no memory");
        }
        s->at++;
    }
    return PHI_OK;
}
