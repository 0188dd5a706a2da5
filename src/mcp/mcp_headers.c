/* mcp_headers.c - x-mcp-header: checks the marks of a schema, and makes the headers of a call. */
#include "mcp/mcp_headers_in.h"

#include "loop/loop_in.h"
#include "mcp/mcp_rpc_in.h"

#include <stdio.h>

enum {
    PHI__MCP_HEADERS_MOST = 64,  /* max. marks in a schema, and headers in a request */
    PHI__MCP_HEADERS_NAME = 200, /* max. bytes of a mark */
    PHI__MCP_HEADERS_DEEP = 64   /* max. levels of nested subschemas that are searched */
};

#define PHI__MCP_HEADERS_SAFE INT64_C(9007199254740991) /* 2^53 - 1, from the specification */

typedef struct phi__xhead_check {
    phi_str seen[PHI__MCP_HEADERS_MOST];
    size_t count;
    char *message;
    size_t size;
} phi__xhead_check;

static bool phi__xhead_refuse(phi__xhead_check *c, phi_str name, const char *why) {
    (void)snprintf(c->message, c->size, "x-mcp-header \"%.*s\": %s", (int)phi__min(name.len, 80),
                   name.len > 0 ? name.at : "", why);
    return false;
}

/* ---- rules ---- */

static bool phi__xhead_among(phi_str key, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (phi__str_is(key, names[i])) return true;
    return false;
}

/* True for "string", "integer" or "boolean", or a list of one of these and "null". */
static bool phi__xhead_type(const phi_json *type) {
    static const char *const primitive[] = {"string", "integer", "boolean"};
    phi_json_iter it = phi_json_each(phi_json_is(type, PHI_JSON_ARRAY) ? type : NULL);
    size_t found = 0;
    if (phi_json_is(type, PHI_JSON_STRING))
        return phi__xhead_among(phi__json_text_of(type), primitive, PHI__COUNT(primitive));
    while (phi_json_next(&it) != NULL) {
        phi_str text = phi__json_text_of(it.at);
        bool is = phi__xhead_among(text, primitive, PHI__COUNT(primitive));
        if (!is && !phi__str_is(text, "null")) return false;
        found += is;
    }
    return found == 1;
}

static bool phi__xhead_mark(phi__xhead_check *c, const phi_json *schema, const phi_json *mark,
                            bool reachable) {
    phi_str name = phi__json_text_of(mark);
    if (!phi_json_is(mark, PHI_JSON_STRING)) return phi__xhead_refuse(c, name, "it is no string");
    if (!phi__fetch_name_fits(name))
        return phi__xhead_refuse(c, name, "expected a token of HTTP, as Region");
    if (name.len > PHI__MCP_HEADERS_NAME) return phi__xhead_refuse(c, name, "it is too long");
    if (!reachable)
        return phi__xhead_refuse(c, name, "its parameter is not reached by properties alone");
    if (!phi__xhead_type(phi_json_get(schema, "type")))
        return phi__xhead_refuse(c, name, "expected a string, an integer or a boolean");
    for (size_t i = 0; i < c->count; i++)
        if (phi__str_equal_nocase(c->seen[i], name))
            return phi__xhead_refuse(c, name, "two parameters have it");
    if (c->count == PHI__MCP_HEADERS_MOST)
        return phi__xhead_refuse(c, name, "more than 64 parameters have one");
    c->seen[c->count++] = name;
    return true;
}

/* ---- searching a schema for marks ---- */

/* The first array has keywords whose values are subschemas or lists of subschemas; the second has
   keywords whose values are maps of subschemas. Values of other keywords are data, not schemas. */
static const char *const phi__xhead_schemas[] = {"items",
                                                 "prefixItems",
                                                 "additionalItems",
                                                 "contains",
                                                 "unevaluatedItems",
                                                 "oneOf",
                                                 "anyOf",
                                                 "allOf",
                                                 "not",
                                                 "if",
                                                 "then",
                                                 "else",
                                                 "additionalProperties",
                                                 "propertyNames",
                                                 "unevaluatedProperties",
                                                 "contentSchema"};
static const char *const phi__xhead_maps[] = {
    "properties", "$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies"};

/* Checks a schema. If `map` is true or `schema` is an array, checks the schemas inside `schema`
   instead. */
static bool phi__xhead_schema(phi__xhead_check *c, const phi_json *schema, bool map, bool reachable,
                              uint32_t depth) {
    phi_json_iter it = phi_json_each(schema);
    bool many = map || phi_json_is(schema, PHI_JSON_ARRAY), good = true;
    if (depth > PHI__MCP_HEADERS_DEEP) return true; /* parameters at this depth get no header */
    while (good && phi_json_next(&it) != NULL) {
        bool object = phi_json_is(it.at, PHI_JSON_OBJECT);
        if (many)
            good = !object || phi__xhead_schema(c, it.at, false, reachable, depth);
        else if (phi__str_is(it.key, "x-mcp-header"))
            good = phi__xhead_mark(c, schema, it.at, reachable && depth > 0);
        else if (object && phi__xhead_among(it.key, phi__xhead_maps, PHI__COUNT(phi__xhead_maps)))
            good = phi__xhead_schema(c, it.at, true, reachable && phi__str_is(it.key, "properties"),
                                     depth + 1);
        else if ((object || phi_json_is(it.at, PHI_JSON_ARRAY)) &&
                 phi__xhead_among(it.key, phi__xhead_schemas, PHI__COUNT(phi__xhead_schemas)))
            good = phi__xhead_schema(c, it.at, false, false, depth + 1);
    }
    return good;
}

PHI__FN bool phi__xhead_valid(const phi_json *schema, char *message, size_t size) {
    phi__xhead_check check = PHI_ZERO;
    check.message = message;
    check.size = size;
    if (size > 0) message[0] = '\0';
    return !phi_json_is(schema, PHI_JSON_OBJECT) ||
           phi__xhead_schema(&check, schema, false, true, 0);
}

/* ---- the headers of a call ---- */

PHI__FN bool phi__xhead_encode(phi_arena *arena, phi_str value, phi_str *out) {
    bool plain = value.len == 0 || (value.at[0] != ' ' && value.at[value.len - 1] != ' ');
    for (size_t i = 0; i < value.len && plain; i++)
        plain = value.at[i] >= 0x20 && value.at[i] <= 0x7e;
    if (phi__str_starts(value, "=?base64?") && phi__str_ends(value, "?=")) plain = false;
    if (plain) return phi__arena_str(arena, value, out);
    phi__buf buf = phi__buf_of(arena->memory);
    phi__buf_text(&buf, "=?base64?");
    phi__base64_encode(&buf, value.at, value.len);
    phi__buf_text(&buf, "?=");
    return phi__mcp_keep(&buf, arena, out);
}

typedef struct phi__xhead_list {
    phi_arena *arena;
    phi_mcp_pair *pairs;
    size_t count;
} phi__xhead_list;

static phi_status phi__xhead_text(phi_arena *arena, const phi_json *value, phi_str *out) {
    char digits[32];
    int64_t n = phi_json_int(value, INT64_MAX);
    phi_str text = phi__json_text_of(value);
    if (phi_json_is(value, PHI_JSON_BOOL))
        text = phi_str_of(phi_json_bool(value, false) ? "true" : "false");
    if (phi_json_is(value, PHI_JSON_NUMBER)) {
        if (!phi_json_is(value, PHI_JSON_INTEGER) || n > PHI__MCP_HEADERS_SAFE ||
            n < -PHI__MCP_HEADERS_SAFE)
            return PHI_BAD_ARG;
        (void)snprintf(digits, sizeof digits, "%lld", (long long)n);
        text = phi_str_of(digits);
    }
    return phi__xhead_encode(arena, text, out) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__xhead_add(phi__xhead_list *list, phi_str mark, const phi_json *value) {
    static const char prefix[] = "Mcp-Param-";
    phi_str text;
    if (phi_json_is(value, PHI_JSON_NULL) || phi_json_is(value, PHI_JSON_OBJECT) ||
        phi_json_is(value, PHI_JSON_ARRAY))
        return PHI_OK;
    if (list->count == PHI__MCP_HEADERS_MOST || !phi__fetch_name_fits(mark)) return PHI_OK;
    phi_status status = phi__xhead_text(list->arena, value, &text);
    if (status != PHI_OK) return status;
    if (list->pairs == NULL)
        list->pairs = (phi_mcp_pair *)phi__arena_zero(list->arena,
                                                      PHI__MCP_HEADERS_MOST * sizeof *list->pairs);
    char *name = phi__arena_bytes(list->arena, phi__add(mark.len, sizeof prefix));
    if (list->pairs == NULL || name == NULL) return PHI_NO_MEMORY;
    memcpy(name, prefix, sizeof prefix - 1);
    memcpy(name + sizeof prefix - 1, mark.at, mark.len);
    name[sizeof prefix - 1 + mark.len] = '\0';
    list->pairs[list->count].name = name;
    list->pairs[list->count++].value = text.at;
    return PHI_OK;
}

/* Walks a schema and the arguments together, following only "properties". */
static phi_status phi__xhead_collect(phi__xhead_list *list, const phi_json *schema,
                                     const phi_json *arguments, uint32_t depth) {
    const phi_json *properties = phi_json_get(schema, "properties"), *property;
    phi_json_iter it = phi_json_each(phi_json_is(properties, PHI_JSON_OBJECT) ? properties : NULL);
    phi_status status = PHI_OK;
    if (depth > PHI__MCP_HEADERS_DEEP) return PHI_OK;
    while (status == PHI_OK && (property = phi_json_next(&it)) != NULL) {
        const phi_json *mark = phi_json_get(property, "x-mcp-header");
        bool nested = phi_json_is(phi_json_get(property, "properties"), PHI_JSON_OBJECT);
        if (mark == NULL && !nested) continue;
        const phi_json *value = phi__json_get_n(arguments, it.key);
        if (value != NULL && phi_json_is(mark, PHI_JSON_STRING))
            status = phi__xhead_add(list, phi__json_text_of(mark), value);
        if (status == PHI_OK && nested && phi_json_is(value, PHI_JSON_OBJECT))
            status = phi__xhead_collect(list, property, value, depth + 1);
    }
    return status;
}

PHI__FN phi_status phi__xhead_of(const phi_json *schema, const phi_json *arguments,
                                 phi_arena *arena, phi_mcp_pair **out, size_t *count) {
    phi__xhead_list list = PHI_ZERO;
    list.arena = arena;
    phi_status status = phi__xhead_collect(&list, schema, arguments, 0);
    *out = status == PHI_OK ? list.pairs : NULL;
    *count = status == PHI_OK ? list.count : 0;
    return status;
}
