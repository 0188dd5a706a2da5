/* gemini_shared.c - the parts that Google's protocols share, generateContent and Interactions:
   model versions, tool names, results, schemas and headers. */
#include "codecs/gemini_in.h"
#include "codecs/openai_in.h"

#include <stdio.h>

/* ---- schemas ----

   A JSON Schema as Gemini's parametersJsonSchema and responseJsonSchema take it:
   "const" is not known there and becomes an "enum" of one, a "$ref" must be alone, and a schema may
   contain itself only inside of a property that is not required. Google's documentation, November
   2026. */

#ifdef PHI__GEMINI_SHARED

enum {
    PHI__GEMINI_SCHEMA_DEPTH = 200,
    PHI__GEMINI_SCHEMA_WORK = 4000000, /* members looked at */
    PHI__GEMINI_SCHEMA_PLACE = 200
};

/* A reference that is being followed. */
typedef struct phi__gemini_schema_ref {
    const struct phi__gemini_schema_ref *above;
    const phi_json *target;
    bool optional; /* a property that is not required was entered since the one above */
} phi__gemini_schema_ref;

typedef struct phi__gemini_schema_walk {
    phi_arena *arena;
    phi_json *root;
    char *words;
    size_t words_size;
    char place[PHI__GEMINI_SCHEMA_PLACE];
    size_t place_len;
    uint32_t depth, work;
    bool refused, no_memory;
} phi__gemini_schema_walk;

static bool phi__gemini_schema_no(phi__gemini_schema_walk *g, const char *why) {
    if (g->refused) return false;
    g->refused = true;
    if (g->words_size == 0) return false;
    (void)snprintf(g->words, g->words_size, "at %.*s: %s", g->place_len > 0 ? (int)g->place_len : 8,
                   g->place_len > 0 ? g->place : "its root", why);
    g->words[phi__utf8_valid(phi_str_of(g->words))] = '\0'; /* where it was cut */
    return false;
}

static size_t phi__gemini_schema_into(phi__gemini_schema_walk *g, phi_str step) {
    size_t was = g->place_len;
    for (size_t i = 0; i <= step.len && g->place_len < sizeof g->place; i++)
        g->place[g->place_len++] = i == 0 ? '/' : step.at[i - 1];
    g->place_len = phi__utf8_valid(phi__str(g->place, g->place_len));
    return was;
}

static bool phi__gemini_schema_spend(phi__gemini_schema_walk *g, size_t work) {
    if (g->refused || g->no_memory) return false;
    if (work > PHI__GEMINI_SCHEMA_WORK || g->work > PHI__GEMINI_SCHEMA_WORK - work)
        return phi__gemini_schema_no(g, "this is too large");
    g->work += (uint32_t)work;
    return true;
}

/* ---- where schemas are in a schema ---- */

typedef enum phi__gemini_schema_room {
    PHI__GEMINI_SCHEMA_NONE,
    PHI__GEMINI_SCHEMA_ONE,
    PHI__GEMINI_SCHEMA_MANY
} phi__gemini_schema_room;

static phi__gemini_schema_room phi__gemini_schema_room_of(phi_str key) {
    static const char *const one[] = {
        "items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"};
    static const char *const many[] = {"properties", "$defs", "definitions", "patternProperties",
                                       "anyOf",      "oneOf", "allOf",       "prefixItems"};
    for (size_t i = 0; i < PHI__COUNT(one); i++) {
        if (phi__str_is(key, one[i])) return PHI__GEMINI_SCHEMA_ONE;
        if (phi__str_is(key, many[i])) return PHI__GEMINI_SCHEMA_MANY;
    }
    return PHI__GEMINI_SCHEMA_NONE;
}

/* ---- references ---- */

static void phi__gemini_schema_follow(phi__gemini_schema_walk *g, const phi_json *schema,
                                      phi__gemini_schema_ref *under);

static void phi__gemini_schema_follow_ref(phi__gemini_schema_walk *g, const phi_json *ref,
                                          phi__gemini_schema_ref *under) {
    size_t looked = 0;
    const phi_json *target = phi__schema_ref_find(g->root, phi_json_str(ref, NULL), &looked);
    phi__gemini_schema_ref next;
    bool optional = false;
    phi_str text = phi_json_str(ref, NULL);
    if (text.len > 1 && text.at[0] == '#' && text.at[1] != '/') return; /* an $anchor */
    if (!phi__gemini_schema_spend(g, looked)) return;
    if (target == NULL) {
        (void)phi__gemini_schema_no(g, "\"$ref\" leads nowhere in this schema");
        return;
    }
    for (const phi__gemini_schema_ref *r = under; r != NULL; r = r->above) {
        optional = optional || r->optional;
        if (r->target != target) continue;
        if (!optional)
            (void)phi__gemini_schema_no(
                g, "a schema may contain itself only inside of a property that "
                   "is not required");
        return;
    }
    next.above = under;
    next.target = target;
    next.optional = false;
    phi__gemini_schema_follow(g, target, &next);
}

static bool phi__gemini_schema_required(phi__gemini_schema_walk *g, const phi_json *schema,
                                        phi_str name) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "required"));
    if (!phi__gemini_schema_spend(g, 1 + it.left)) return true;
    while (phi_json_next(&it) != NULL)
        if (phi_str_equal(phi_json_str(it.at, NULL), name)) return true;
    return false;
}

static void phi__gemini_schema_follow_room(phi__gemini_schema_walk *g, const phi_json *schema,
                                           phi_str word, const phi_json *room,
                                           phi__gemini_schema_ref *under) {
    phi_json_iter it = phi_json_each(room);
    bool properties = phi__str_is(word, "properties"), was = under->optional;
    if (phi__gemini_schema_room_of(word) == PHI__GEMINI_SCHEMA_ONE) {
        phi__gemini_schema_follow(g, room, under);
        return;
    }
    if (phi__str_is(word, "$defs") || phi__str_is(word, "definitions")) return;
    while (!g->refused && phi_json_next(&it) != NULL) {
        size_t here = phi__gemini_schema_into(g, it.key);
        if (properties && !phi__gemini_schema_required(g, schema, it.key)) under->optional = true;
        phi__gemini_schema_follow(g, it.at, under);
        under->optional = was;
        g->place_len = here;
    }
}

/* Follows every reference from here, until it comes back to a schema that it is in. */
static void phi__gemini_schema_follow(phi__gemini_schema_walk *g, const phi_json *schema,
                                      phi__gemini_schema_ref *under) {
    phi_json_iter it = phi_json_each(schema);
    if (!phi_json_is(schema, PHI_JSON_OBJECT) || !phi__gemini_schema_spend(g, 1 + it.left)) return;
    if (g->depth >= PHI__GEMINI_SCHEMA_DEPTH) {
        (void)phi__gemini_schema_no(g, "this is nested too deeply");
        return;
    }
    g->depth++;
    while (!g->refused && phi_json_next(&it) != NULL) {
        size_t was = phi__gemini_schema_into(g, it.key);
        if (phi__str_is(it.key, "$ref"))
            phi__gemini_schema_follow_ref(g, it.at, under);
        else if (phi__gemini_schema_room_of(it.key) != PHI__GEMINI_SCHEMA_NONE)
            phi__gemini_schema_follow_room(g, schema, it.key, it.at, under);
        g->place_len = was;
    }
    g->depth--;
}

/* ---- rewriting ---- */

static void phi__gemini_schema_set(phi__gemini_schema_walk *g, phi_json *node, const char *word,
                                   phi_json *value) {
    if (phi_json_set(g->arena, node, word, value) == PHI_NO_MEMORY) g->no_memory = true;
}

/* {"$ref": r, "description": d} becomes {"description": d, "anyOf": [{"$ref": r}]}. */
static void phi__gemini_schema_lone_ref(phi__gemini_schema_walk *g, phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    bool beside = false;
    if (phi_json_get(node, "$ref") == NULL) return;
    while (phi_json_next(&it) != NULL) beside = beside || it.key.len == 0 || it.key.at[0] != '$';
    if (!beside) return;
    if (phi_json_get(node, "anyOf") != NULL) {
        (void)phi__gemini_schema_no(g, "\"$ref\" beside anyOf is not taken");
        return;
    }
    phi_json *list = phi_json_new_array(g->arena);
    phi_json *inner = phi_json_new_object(g->arena);
    if (list == NULL || inner == NULL) {
        g->no_memory = true;
        return;
    }
    phi__gemini_schema_set(g, inner, "$ref", phi_json_remove(node, "$ref"));
    (void)phi_json_add(list, inner);
    phi__gemini_schema_set(g, node, "anyOf", list);
}

static void phi__gemini_schema_rewrite(phi__gemini_schema_walk *g, phi_json *node) {
    if (!phi_json_is(node, PHI_JSON_OBJECT) ||
        !phi__gemini_schema_spend(g, 1 + phi_json_count(node)))
        return;
    if (g->depth >= PHI__GEMINI_SCHEMA_DEPTH) {
        (void)phi__gemini_schema_no(g, "this is nested too deeply");
        return;
    }
    g->depth++;
    phi_json *value = phi_json_remove(node, "const");
    if (value != NULL) {
        phi_json *list = phi_json_new_array(g->arena);
        if (list == NULL || phi_json_add(list, value) != PHI_OK) g->no_memory = true;
        phi__gemini_schema_set(g, node, "enum", list);
    }
    phi__gemini_schema_lone_ref(g, node);
    phi_json_iter it = phi_json_each(node);
    while (!g->refused && !g->no_memory && phi_json_next(&it) != NULL) {
        phi__gemini_schema_room room = phi__gemini_schema_room_of(it.key);
        size_t was = phi__gemini_schema_into(g, it.key);
        phi_json_iter in = phi_json_each(it.at);
        if (room == PHI__GEMINI_SCHEMA_ONE) phi__gemini_schema_rewrite(g, it.at);
        while (room == PHI__GEMINI_SCHEMA_MANY && phi_json_next(&in) != NULL) {
            size_t here = phi__gemini_schema_into(g, in.key);
            phi__gemini_schema_rewrite(g, in.at);
            g->place_len = here;
        }
        g->place_len = was;
    }
    g->depth--;
}

/* ---- for the codec ---- */

PHI__FN bool phi__gemini_schema_adapt(phi__buf *out, phi_str schema, char *words,
                                      size_t words_size) {
    phi__gemini_schema_ref top;
    phi_arena arena;
    if (words_size > 0) words[0] = '\0';
    if (phi__str_find(schema, 0, "\"const\"") == SIZE_MAX &&
        phi__str_find(schema, 0, "\"$ref\"") == SIZE_MAX) {
        phi__buf_add_str(out, schema);
        return !out->failed;
    }
    phi__gemini_schema_walk g = PHI_ZERO;
    phi_arena_init(&arena, out->memory, 0);
    g.arena = &arena;
    g.words = words;
    g.words_size = words_size;
    phi_status status = phi_json_parse(&arena, schema, PHI_JSON_BORROW, &g.root, NULL);
    if (status == PHI_NO_MEMORY)
        g.no_memory = true;
    else if (status != PHI_OK)
        (void)phi__gemini_schema_no(&g, "this is not JSON");
    else {
        top.above = NULL;
        top.target = g.root;
        top.optional = false;
        phi__gemini_schema_follow(&g, g.root, &top);
        phi__gemini_schema_rewrite(&g, g.root);
    }
    if (!g.refused && !g.no_memory && phi__json_write(out, g.root, 0) == PHI_TOO_BIG)
        (void)phi__gemini_schema_no(&g, "this is nested too deeply");
    if (g.no_memory) {
        out->failed = true;
        if (words_size > 0) words[0] = '\0';
    }
    phi_arena_free(&arena);
    return !g.refused && !out->failed;
}

/* ---- model versions, tool names, results, schemas and headers ---- */

PHI__FN int phi__gemini_version(const phi_model *model) {
    phi_str id = phi_str_of(model->id);
    size_t at = phi__str_find(id, 0, "gemini-");
    if (at == SIZE_MAX) return 0;
    at += 7;
    if (at >= id.len || id.at[at] < '0' || id.at[at] > '9') return 90; /* gemini-flash-latest */
    int version = (id.at[at] - '0') * 10;
    if (at + 2 < id.len && id.at[at + 1] == '.' && id.at[at + 2] >= '0' && id.at[at + 2] <= '9')
        version += id.at[at + 2] - '0';
    return version;
}

PHI__FN bool phi__gemini_has(const phi_model *model, const char *word) {
    return phi__str_find(phi_str_of(model->id), 0, word) != SIZE_MAX;
}

PHI__FN void phi__gemini_name(phi__buf *out, const char *before, phi_str name) {
    bool starts = name.len > 0 && name.at[0] != '-' && (name.at[0] < '0' || name.at[0] > '9');
    size_t at = out->len + strlen(before);
    phi__render_name(out, before, name, 64);
    if (!starts && !out->failed && out->at[at + 1] != '_') out->at[at + 1] = '_';
}

PHI__FN phi_str phi__gemini_result_name(const phi__encoder *e, const phi_message *m) {
    if (m->tool_name.len > 0 || e->calls_item == SIZE_MAX) return m->tool_name;
    const phi_message *calls = e->spec->items[e->calls_item].message;
    for (size_t i = 0; i < calls->content_count; i++)
        if (calls->content[i].kind == PHI_CONTENT_TOOL_CALL &&
            phi_str_equal(calls->content[i].id, m->tool_call_id))
            return calls->content[i].name;
    return m->tool_name;
}

PHI__FN void phi__gemini_result_text(phi__encoder *e, const phi_message *m) {
    if (phi__openai_join_text(e, m, true)) return;
    if (phi__render_sends_media(e, m))
        phi__buf_wrap(&e->scratch, "(see the attached ", phi_str_of(phi__render_media_word(e, m)),
                      ")");
    else if (m->is_error)
        phi__buf_text(&e->scratch, "(no output)");
}

PHI__FN phi_str phi__gemini_schema(phi__encoder *e, phi_str schema) {
    char words[8];
    phi__buf out;
    if (phi__render_blank(schema)) return PHI__LIT("{\"type\":\"object\",\"properties\":{}}");
    phi__buf_init(&out, e->arena->memory);
    if (phi__gemini_schema_adapt(&out, schema, words, sizeof words)) {
        if (!phi__arena_str(e->arena, phi__buf_str(&out), &schema)) e->failed = true;
    } else if (out.failed)
        e->failed = true;
    phi__buf_free(&out);
    return schema;
}

PHI__FN void phi__gemini_headers(phi__encoder *e, bool bearer) {
    phi__encode_accept(e, "text/event-stream");
    phi__encode_key(e, bearer ? NULL : "x-goog-api-key");
}

PHI__FN phi__strict_form phi__gemini_strict_form(const phi_model *model) {
    (void)model;
    return PHI__STRICT_BY_CODEC;
}

PHI__FN phi__format_way phi__gemini_format_way(const phi__request_spec *spec) {
    return spec->tool_count > 0 && phi__gemini_version(spec->model) < 30 ? PHI__FORMAT_BY_TOOL
                                                                         : PHI__FORMAT_NATIVE;
}

#endif
