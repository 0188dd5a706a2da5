/* tool_schema.c - schemas of a document as the JSON Schema of a tool. */
#include "openapi/tool_schema_in.h"

#include "base/base_in.h"
#include "tools/tools_in.h"

#include <stdio.h>

/* ---- circles of definitions: the references to the first of each are cut ---- */

/* Nodes with needed[i] references to them; the queue holds those with none. */
typedef struct phi__circles {
    phi__tschema_edge *edges;
    size_t count, nodes, first, last; /* first, last: of the queue */
    size_t *needed, *queue;
} phi__circles;

/* A reference; the list grows. False: no memory. */
static bool phi__circles_add(phi_memory *memory, phi__tschema_edge **edges, size_t *count,
                             size_t *cap, size_t from, size_t to) {
    if (*count > 0 && (*edges)[*count - 1].from == from && (*edges)[*count - 1].to == to)
        return true;
    if (*count == *cap) {
        void *grown = phi__grow(memory, *edges, cap, *count + 1, sizeof **edges);
        if (grown == NULL) return false;
        *edges = (phi__tschema_edge *)grown;
    }
    phi__tschema_edge *edge = &(*edges)[(*count)++];
    edge->from = from;
    edge->to = to;
    edge->cut = false;
    return true;
}

static void phi__circles_drain(phi__circles *c) {
    while (c->first < c->last) {
        size_t node = c->queue[c->first++];
        for (size_t i = 0; i < c->count; i++) {
            phi__tschema_edge *edge = &c->edges[i];
            if (edge->from != node || edge->cut) continue;
            if (--c->needed[edge->to] == 0) c->queue[c->last++] = edge->to;
        }
    }
}

/* A node whose references are all among those that are left: each is cut. */
static void phi__circles_open(phi__circles *c, size_t node) {
    for (size_t i = 0; i < c->count; i++)
        if (c->edges[i].to == node && c->needed[c->edges[i].from] > 0) c->edges[i].cut = true;
    c->needed[node] = 0;
    c->queue[c->last++] = node;
}

/* Marks references so that no circle is left among `nodes` definitions; *any: there was one.
   False: no memory. */
static bool phi__circles_cut(phi_memory *memory, phi__tschema_edge *edges, size_t count,
                             size_t nodes, bool *any) {
    size_t bytes = phi__mul(nodes, 2 * sizeof(size_t));
    phi__circles c = PHI_ZERO;
    c.edges = edges;
    c.count = count;
    c.nodes = nodes;
    c.needed = (size_t *)phi__alloc(memory, bytes);
    if (c.needed == NULL) return false;
    c.queue = c.needed + nodes;
    for (size_t i = 0; i < count; i++) c.needed[edges[i].to]++;
    for (size_t i = 0; i < nodes; i++)
        if (c.needed[i] == 0) c.queue[c.last++] = i;
    phi__circles_drain(&c);
    for (size_t i = 0; i < nodes; i++) {
        if (c.needed[i] == 0) continue;
        *any = true;
        phi__circles_open(&c, i);
        phi__circles_drain(&c);
    }
    phi__free(memory, c.needed, bytes);
    return true;
}

/* ---- schemas of a document as the JSON Schema of a tool ---- */

/* References become "$defs", nearest first, until max_schema_bytes are written; those after that
   are left open, with a description. Keywords that phi's check of arguments does not know move into
   the description; malformed ones, and properties that are only read, are left out. A schema that
   contains itself without an optional property between, which some providers refuse, is left open
   at the end of the circle. */

enum {
    PHI__TOOL_SCHEMA_DEPTH = 64,     /* nested schemas; deeper ones are left open */
    PHI__TOOL_SCHEMA_WORK = 4000000, /* members looked at */
    PHI__TOOL_SCHEMA_WORDS = 512,    /* bytes of a description */
    PHI__TOOL_SCHEMA_NOTE = 160,     /* bytes of a keyword in a description */
    PHI__TOOL_SCHEMA_SHORT = 256,    /* bytes of a default or an example */
    PHI__TOOL_SCHEMA_LIST = 16384,   /* bytes of an enum */
    PHI__TOOL_SCHEMA_NAME = 48       /* bytes of a definition's name, without its number */
};

PHI__FN void phi__tschema_init(phi__tool_schema *s, phi__document_view *view, size_t most_bytes) {
    memset(s, 0, sizeof *s);
    s->view = view;
    s->most_bytes = most_bytes;
    phi__buf_init(&s->out, view->doc->memory);
    phi__buf_init(&s->words, view->doc->memory);
}

PHI__FN void phi__tschema_free(phi__tool_schema *s) {
    phi_memory *memory = s->view->doc->memory;
    phi__buf_free(&s->out);
    phi__buf_free(&s->words);
    phi__free(memory, s->defs, s->def_cap * sizeof *s->defs);
    phi__free(memory, s->edges, s->edge_cap * sizeof *s->edges);
    s->defs = NULL;
    s->edges = NULL;
    s->def_cap = s->edge_cap = 0;
}

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

PHI__FN phi_str phi__tschema_cut(phi_str text, size_t most) {
    return phi__str(text.at, phi__utf8_cut(text, most));
}

PHI__FN phi_json_type phi__tschema_type(const phi_json *schema) {
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    const phi_json *type = phi_json_get(schema, "type");
    phi_json_iter it = phi_json_each(phi_json_is(type, PHI_JSON_ARRAY) ? type : NULL);
    const phi_json *one = phi_json_is(type, PHI_JSON_ARRAY) ? NULL : type;
    while (phi_json_next(&it) != NULL) {
        if (phi__str_is(phi__json_text_of(it.at), "null")) continue;
        if (one != NULL) return PHI_JSON_NONE;
        one = it.at;
    }
    if (phi__str_is(phi__json_text_of(one), "integer")) return PHI_JSON_NUMBER;
    for (size_t i = 1; i < PHI__COUNT(names); i++)
        if (phi__str_is(phi__json_text_of(one), names[i]))
            return (phi_json_type)(PHI_JSON_NULL + i);
    return phi_json_is(phi_json_get(schema, "properties"), PHI_JSON_OBJECT) ? PHI_JSON_OBJECT
                                                                            : PHI_JSON_NONE;
}

PHI__FN bool phi__tschema_is_file(const phi_json *schema) {
    phi_str format = phi__json_text_of(phi_json_get(schema, "format"));
    if (phi__tschema_type(schema) != PHI_JSON_STRING) return false;
    return phi__str_is(format, "binary") || phi__str_is(format, "byte") ||
           phi_json_is(phi_json_get(schema, "contentMediaType"), PHI_JSON_STRING) ||
           phi_json_is(phi_json_get(schema, "contentEncoding"), PHI_JSON_STRING);
}

/* ---- descriptions ---- */

static void phi__tschema_say(phi__tool_schema *s, phi_str words) {
    if (s->words.len > 0 && words.len > 0) phi__buf_char(&s->words, ' ');
    phi__buf_add_str(&s->words, words);
}

static void phi__tschema_say_more(phi__tool_schema *s, const phi_json *schema) {
    phi_json_iter it = phi_json_each(schema);
    phi_str name =
        phi__json_text_of(phi_json_get(phi_json_get(schema, "discriminator"), "propertyName"));
    while (phi_json_next(&it) != NULL)
        if (phi__keywords_of(it.key, it.at) == PHI__KEYWORD_NOTE) {
            phi_str key = it.key;
            const phi_json *value = it.at;
            phi__tschema_say(s, PHI__LIT("("));
            phi__buf_add_str(&s->words, key);
            phi__buf_text(&s->words, ": ");
            size_t from = s->words.len;
            if (phi_json_is(value, PHI_JSON_STRING))
                phi__buf_add_str(&s->words, phi__json_text_of(value));
            else
                (void)phi__json_write(&s->words, value, 0);
            if (s->words.len - from > PHI__TOOL_SCHEMA_NOTE) {
                s->words.len =
                    from + phi__utf8_cut(phi__str(s->words.at + from, s->words.len - from),
                                         PHI__TOOL_SCHEMA_NOTE);
                phi__buf_text(&s->words, "...");
            }
            phi__buf_char(&s->words, ')');
        }
    if (name.len > 0) {
        phi__tschema_say(s, PHI__LIT("(its variant is named by the property "));
        phi__buf_add_str(&s->words, phi__tschema_cut(name, PHI__TOOL_SCHEMA_NOTE));
        phi__buf_char(&s->words, ')');
    }
    if (phi_json_bool(phi_json_get(schema, "deprecated"), false))
        phi__tschema_say(s, PHI__LIT("(deprecated)"));
}

static void phi__tschema_put_words(phi__tool_schema *s) {
    if (s->words.failed) phi__tschema_no_memory(s);
    if (s->words.len == 0) return;
    phi__json_write_key(&s->out, PHI__LIT("description"));
    phi__json_write_str(&s->out, phi__buf_str(&s->words));
}

/* Begins the description; the caller may say more before phi__tschema_put_words. */
static void phi__tschema_describe(phi__tool_schema *s, const phi_json *schema, phi_str note) {
    if (note.len == 0) note = phi__json_text_of(phi_json_get(schema, "description"));
    phi__buf_clear(&s->words);
    phi__tschema_say(s, phi__tschema_cut(note, PHI__TOOL_SCHEMA_WORDS));
    if (note.len > PHI__TOOL_SCHEMA_WORDS) phi__buf_text(&s->words, "...");
}

/* A schema that allows everything of its type. */
static void phi__tschema_put_open(phi__tool_schema *s, const phi_json *schema, phi_str note,
                                  const char *why) {
    phi_str type = phi__json_text_of(phi_json_get(schema, "type"));
    phi__tschema_describe(s, schema, note);
    if (why != NULL) phi__tschema_say(s, phi_str_of(why));
    phi__buf_char(&s->out, '{');
    if (phi__keywords_is_type(type) && !phi_json_bool(phi_json_get(schema, "nullable"), false)) {
        phi__json_write_key(&s->out, PHI__LIT("type"));
        phi__json_write_str(&s->out, type);
        if (phi__str_is(type, "array")) phi__buf_text(&s->out, ",\"items\":{}");
    }
    phi__tschema_put_words(s);
    phi__buf_char(&s->out, '}');
}

/* ---- references ---- */

static phi__tschema_def *phi__tschema_named(const phi__tool_schema *s, phi_str name) {
    for (size_t i = 0; i < s->def_count; i++)
        if (phi_str_equal(s->defs[i].name, name)) return &s->defs[i];
    return NULL;
}

/* The last step of a reference, of letters that need no escape, and a number where it is taken.
   The first of a name counts: a document may have thousands of the same. False: no memory. */
static bool phi__tschema_name(phi__tool_schema *s, phi_str ref, phi_str *out) {
    char name[PHI__TOOL_SCHEMA_NAME + 16];
    size_t at = ref.len, len = 0;
    while (at > 0 && ref.at[at - 1] != '/') at--;
    for (; at < ref.len && len < PHI__TOOL_SCHEMA_NAME; at++) {
        char c = ref.at[at];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '_' || c == '-';
        name[len++] = plain ? c : '_';
    }
    size_t base = len;
    phi__tschema_def *first = phi__tschema_named(s, phi__str(name, len));
    while (first != NULL) {
        len = base + (size_t)snprintf(name + base, 16, "_%u", ++first->same + 1);
        if (phi__tschema_named(s, phi__str(name, len)) == NULL) break;
        if (!phi__tschema_spend(s, s->def_count)) return true; /* it has failed */
    }
    return phi__arena_str(s->view->arena, phi__str(name, len), out);
}

static size_t phi__tschema_add_def(phi__tool_schema *s, const phi_json *node, phi_str ref) {
    if (s->def_count == s->def_cap) {
        void *grown = phi__grow(s->view->doc->memory, s->defs, &s->def_cap, s->def_count + 1,
                                sizeof *s->defs);
        if (grown == NULL) {
            phi__tschema_no_memory(s);
            return 0;
        }
        s->defs = (phi__tschema_def *)grown;
    }
    phi__tschema_def *def = &s->defs[s->def_count];
    if (!phi__tschema_name(s, ref, &def->name)) phi__tschema_no_memory(s);
    if (s->failed) return 0;
    def->node = node;
    def->same = 0;
    return ++s->def_count;
}

/* The definition of a reference; 0: failed. */
static size_t phi__tschema_def_of(phi__tool_schema *s, phi_str ref) {
    const phi_json *node = phi__document_target(s->view, ref);
    if (node == NULL) {
        s->failed = true;
        return 0;
    }
    if (!phi__tschema_spend(s, s->def_count)) return 0;
    for (size_t i = 0; i < s->def_count; i++)
        if (s->defs[i].node == node) return i + 1;
    return phi__tschema_add_def(s, node, ref);
}

/* True: this reference closes a circle, and is left open. */
static bool phi__tschema_closes(phi__tool_schema *s, size_t to) {
    if (s->optional || to == 0) return false;
    if (s->second) {
        const phi__tschema_edge *edges = s->edges;
        size_t count = s->edge_count;
        size_t from = s->from;
        for (size_t i = 0; i < count; i++)
            if (edges[i].cut && edges[i].from == from && edges[i].to == to) return true;
        return false;
    }
    if (!phi__circles_add(s->view->doc->memory, &s->edges, &s->edge_count, &s->edge_cap, s->from,
                          to))
        phi__tschema_no_memory(s);
    return false;
}

/* {"$ref": ...} alone, or the members of a schema that describes itself. */
static void phi__tschema_put_ref(phi__tool_schema *s, phi_str ref) {
    size_t def = phi__tschema_def_of(s, ref);
    if (s->failed) return;
    if (phi__tschema_closes(s, def)) {
        phi__tschema_say(s, PHI__LIT("(again "));
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

/* ---- keywords ---- */

static void phi__tschema_put_type(phi__tool_schema *s, const phi_json *schema) {
    const phi_json *type = phi_json_get(schema, "type");
    bool nullable = phi_json_bool(phi_json_get(schema, "nullable"), false), any = false;
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

static void phi__tschema_put_number(phi__tool_schema *s, const char *key, const phi_json *value) {
    if (!phi_json_is(value, PHI_JSON_NUMBER)) return;
    phi__json_write_key(&s->out, phi_str_of(key));
    (void)phi__json_write(&s->out, value, 0);
}

static void phi__tschema_put_copy(phi__tool_schema *s, phi_str key, const phi_json *value,
                                  size_t most) {
    size_t before = s->out.len;
    phi__json_write_key(&s->out, key);
    (void)phi__json_write(&s->out, value, 0);
    if (s->out.len - before > most && !s->out.failed) s->out.len = before;
}

/* ---- objects ---- */

static bool phi__tschema_read_only(phi__tool_schema *s, const phi_json *schema) {
    const phi_json *ref = phi_json_get(schema, "$ref");
    if (phi_json_bool(phi_json_get(schema, "readOnly"), false)) return true;
    if (!phi_json_is(ref, PHI_JSON_STRING)) return false;
    schema = phi__document_target(s->view, phi__json_text_of(ref));
    if (s->view->no_memory) s->failed = true;
    return phi_json_bool(phi_json_get(schema, "readOnly"), false);
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

/* {"allOf": [variant, the discriminator has its value]} */
static void phi__tschema_put_variant(phi__tool_schema *s, const phi_json *discriminator,
                                     phi_str ref) {
    phi_str name = phi__json_text_of(phi_json_get(discriminator, "propertyName"));
    phi__buf_text(&s->out, "{\"allOf\":[");
    phi__tschema_put_lone_ref(s, ref);
    phi__buf_text(&s->out, ",{\"type\":\"object\",\"properties\":{");
    phi__json_write_key(&s->out, name);
    phi__buf_text(&s->out, "{\"enum\":[");
    /* The values of the discriminator for this reference. */
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
        if (s->out.len / 2 > s->most_bytes && !s->out.failed) { /* a part would say too little */
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

/* In version 3.1 a reference may have schema keywords next to it; it then joins allOf, for some
   providers take nothing next to "$ref". */
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

static void phi__tschema_put_joined(phi__tool_schema *s, const phi_json *schema, phi_str ref) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "allOf"));
    phi__json_write_key(&s->out, PHI__LIT("allOf"));
    phi__buf_char(&s->out, '[');
    phi__tschema_put_lone_ref(s, ref);
    while (!s->failed && s->out.len / 2 <= s->most_bytes && phi_json_next(&it) != NULL) {
        phi__json_write_comma(&s->out);
        phi__tschema_put(s, it.at, phi__str(NULL, 0));
    }
    phi__buf_char(&s->out, ']');
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
    /* In version 3.0 exclusiveMinimum is true or false, next to minimum. */
    static const char *const keys[2][2] = {{"minimum", "exclusiveMinimum"},
                                           {"maximum", "exclusiveMaximum"}};
    for (size_t i = 0; i < 2; i++) {
        const phi_json *bound = phi_json_get(schema, keys[i][0]);
        const phi_json *beyond = phi_json_get(schema, keys[i][1]);
        if (phi_json_bool(beyond, false)) {
            phi__tschema_put_number(s, keys[i][1], bound);
            continue;
        }
        phi__tschema_put_number(s, keys[i][0], bound);
        phi__tschema_put_number(s, keys[i][1], beyond);
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
        phi__buf_text(&s->out, ",\"items\":{}"); /* OpenAI wants them */
    if (is_ref) phi__tschema_put_joined(s, schema, phi__json_text_of(ref));
    phi__buf_char(&s->out, '}');
}

/* True if "nullable" is next to choices or a reference, without a type. */
static bool phi__tschema_wraps_null(const phi_json *schema) {
    static const char *const keys[] = {"$ref", "anyOf", "oneOf", "allOf"};
    if (!phi_json_bool(phi_json_get(schema, "nullable"), false) ||
        phi_json_get(schema, "type") != NULL)
        return false;
    for (size_t i = 0; i < PHI__COUNT(keys); i++)
        if (phi_json_get(schema, keys[i]) != NULL) return true;
    return false;
}

PHI__FN void phi__tschema_put_file(phi__tool_schema *s, const phi_json *schema, phi_str note) {
    phi__buf_char(&s->out, '{');
    phi__tschema_describe(s, schema, note);
    phi__tschema_put_words(s);
    phi__json_write_key(&s->out, PHI__LIT("anyOf"));
    phi__buf_text(&s->out, "[{\"type\":\"string\",\"description\":\"The content");
    if (schema == NULL || phi__str_is(phi__json_text_of(phi_json_get(schema, "format")), "byte") ||
        phi__str_is(phi__json_text_of(phi_json_get(schema, "contentEncoding")), "base64"))
        phi__buf_text(&s->out, ", in base64");
    phi__buf_text(&s->out,
                  "\"},{\"type\":\"object\",\"description\":\"A file\",\"properties\":{\"path\":{"
                  "\"type\":\"string\",\"description\":\"Path of the file to send\"},"
                  "\"filename\":{\"type\":\"string\",\"description\":"
                  "\"Name to send (default: the file's own)\"}},\"required\":[\"path\"]}]}");
}

PHI__FN void phi__tschema_put(phi__tool_schema *s, const phi_json *schema, phi_str note) {
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

PHI__FN void phi__tschema_put_defs(phi__tool_schema *s) {
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

PHI__FN bool phi__tschema_again(phi__tool_schema *s) {
    bool any = false;
    if (s->failed || s->second || s->edge_count == 0) return false;
    if (!phi__circles_cut(s->view->doc->memory, s->edges, s->edge_count, s->def_count + 1, &any))
        phi__tschema_no_memory(s);
    if (!any || s->failed) return false;
    s->second = true;
    phi__buf_clear(&s->out);
    return true;
}
