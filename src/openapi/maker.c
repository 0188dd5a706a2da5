/* maker.c - one operation, and its tool. */
#include "openapi/maker_in.h"

#include "base/base_in.h"
#include "openapi/openapi_call_in.h"

#include <stdio.h>

/* One operation under way. Results are in `arena`. */
typedef struct phi__making {
    phi_openapi *api;
    const phi__document_operation *source;
    phi_arena *arena; /* of the results */
    phi_arena scratch;
    phi__document_view view;
    phi__tool_schema schema;
    const phi_json *item, *node, *root; /* path item, operation, servers and security of all */
    phi__operation *op;
    const phi_json **given;      /* the parameters' nodes, as op->parameters */
    const phi_json *body_schema; /* NULL: none */
    phi_str body_note;
    bool no_memory;
    char message[320]; /* why the operation is skipped; empty: it is not */
} phi__making;

/* ---- an operation while it is made callable ---- */

/* All return false, so that a caller can end with them. */
static bool phi__making_skip(phi__making *m, const char *place, const char *why) {
    (void)snprintf(m->message, sizeof m->message, "%s: %s", place, why);
    return false;
}

/* the view's message, or memory */
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

/* in the arena */
static void *phi__making_zero(phi__making *m, size_t count, size_t size) {
    void *at = phi__arena_zero(m->arena, phi__mul(count, size));
    if (at == NULL) m->no_memory = true;
    return at;
}

/* ---- parameters: the operation's, its path's, and those that only the path template names ---- */

enum {
    PHI__PARAMETERS_MOST = 4096,
    PHI__PARAMETERS_PATH = 8192,  /* bytes of a path; servers take less */
    PHI__PARAMETERS_ARGUMENT = 64 /* bytes of a key; Anthropic, November 2026 */
};

static const char *const phi__parameters_places[] = {"path", "query", "header", "cookie"};

/* "simple", ...; false: no style */
static bool phi__parameters_style(phi_str name, phi__operation_style *out) {
    static const char *const names[] = {"simple",         "label",         "matrix",    "form",
                                        "spaceDelimited", "pipeDelimited", "deepObject"};
    for (size_t i = 0; i < PHI__COUNT(names); i++) {
        if (!phi__str_is(name, names[i])) continue;
        *out = (phi__operation_style)i;
        return true;
    }
    return false;
}

/* ---- arguments ---- */

static bool phi__parameters_taken(const phi__making *m, phi_str name) {
    for (size_t i = 0; i < m->op->parameter_count; i++)
        if (phi_str_equal(m->op->parameters[i].argument, name)) return true;
    return false;
}

/* The number behind "base_", with which a name may end; 0: it is another name. */
static uint64_t phi__parameters_number(phi_str name, phi_str base) {
    uint64_t number;
    if (name.len <= base.len + 1 || name.at[base.len] != '_' ||
        memcmp(name.at, base.at, base.len) != 0)
        return 0;
    return phi__str_to_u64(phi__str(name.at + base.len + 1, name.len - base.len - 1), &number)
               ? number
               : 0;
}

/* The first number from 2 on that is free, by one look at each parameter: a document may have
   thousands whose names differ only in characters that are replaced. */
static unsigned phi__parameters_next(const phi__making *m, phi_str base) {
    unsigned next = 2;
    unsigned char taken[PHI__PARAMETERS_MOST / 8 + 1] = PHI_ZERO;
    for (size_t i = 0; i < m->op->parameter_count; i++) {
        uint64_t number = phi__parameters_number(m->op->parameters[i].argument, base);
        if (number < PHI__PARAMETERS_MOST + 8)
            taken[number / 8] = (unsigned char)(taken[number / 8] | 1u << number % 8);
    }
    while (next < PHI__PARAMETERS_MOST + 7 && (taken[next / 8] >> next % 8 & 1) != 0) next++;
    return next;
}

/* A key that no parameter's argument has. */
static bool phi__parameters_argument(phi__making *m, phi_str name, const char *place,
                                     phi_str *out) {
    char key[PHI__PARAMETERS_ARGUMENT + 24];
    size_t len = 0;
    for (; len < name.len && len < PHI__PARAMETERS_ARGUMENT - 16; len++) {
        char c = name.at[len];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '_' || c == '-';
        key[len] = plain ? c : '_';
    }
    if (len == 0) key[len++] = '_';
    if (phi__parameters_taken(m, phi__str(key, len)))
        len += (size_t)snprintf(key + len, 12, "_%s", place);
    if (phi__parameters_taken(m, phi__str(key, len)))
        len += (size_t)snprintf(key + len, 12, "_%u", phi__parameters_next(m, phi__str(key, len)));
    return phi__making_str(m, phi__str(key, len), out);
}

/* ---- one parameter ---- */

/* True if a path template holds "{name}". */
static bool phi__parameters_in_path(phi_str path, phi_str name) {
    size_t at = 0;
    for (at = 0; at + name.len + 2 <= path.len; at++)
        if (path.at[at] == '{' && path.at[at + name.len + 1] == '}' &&
            memcmp(path.at + at + 1, name.at, name.len) == 0)
            return true;
    return false;
}

/* Headers that OpenAPI describes elsewhere, and parameters that have no place in the path. */
static bool phi__parameters_ignored(const phi__making *m, phi__operation_place place,
                                    phi_str name) {
    if (place == PHI__OPERATION_PATH) return !phi__parameters_in_path(m->op->path, name);
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

static bool phi__parameters_place(phi_str in, phi__operation_place *out) {
    for (size_t i = 0; i < PHI__COUNT(phi__parameters_places); i++) {
        if (!phi__str_is(in, phi__parameters_places[i])) continue;
        *out = (phi__operation_place)i;
        return true;
    }
    return false;
}

/* Its schema, or that of its only content; NULL: none, or a failure. */
static const phi_json *phi__parameters_schema(phi__making *m, phi__operation_parameter *p,
                                              const phi_json *node) {
    const phi_json *schema = phi_json_get(node, "schema");
    phi_json_iter it = phi_json_each(phi_json_get(node, "content"));
    if (schema == NULL && phi_json_is(phi_json_get(node, "content"), PHI_JSON_OBJECT) &&
        phi_json_next(&it) != NULL) {
        if (!phi__making_str(m, it.key, &p->content_type)) return NULL;
        schema = phi_json_get(it.at, "schema");
    }
    return schema;
}

static bool phi__parameters_add(phi__making *m, const phi_json *node, const char *place) {
    phi_str name = phi__json_text_of(phi_json_get(node, "name"));
    phi__operation_parameter p = PHI_ZERO;
    if (name.len == 0 ||
        !phi__parameters_place(phi__json_text_of(phi_json_get(node, "in")), &p.place))
        return !phi_json_bool(phi_json_get(node, "required"), false)
                   ? true
                   : phi__making_skip(m, place,
                                      "expected a name, and path, query, header or cookie");
    if (phi__parameters_ignored(m, p.place, name) || phi__parameters_repeated(m, p.place, name))
        return true;
    if (m->op->parameter_count == PHI__PARAMETERS_MOST)
        return phi__making_skip(m, place, "these are too many parameters");
    bool query = p.place == PHI__OPERATION_QUERY || p.place == PHI__OPERATION_COOKIE;
    p.style = query ? PHI__STYLE_FORM : PHI__STYLE_SIMPLE;
    (void)phi__parameters_style(phi__json_text_of(phi_json_get(node, "style")), &p.style);
    p.explode = phi_json_bool(phi_json_get(node, "explode"), p.style == PHI__STYLE_FORM);
    p.allow_reserved = phi_json_bool(phi_json_get(node, "allowReserved"), false);
    p.required =
        p.place == PHI__OPERATION_PATH || phi_json_bool(phi_json_get(node, "required"), false);
    const phi_json *schema = phi__parameters_schema(m, &p, node);
    if (m->no_memory || !phi__making_str(m, name, &p.name) ||
        !phi__parameters_argument(m, name, phi__parameters_places[p.place], &p.argument))
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

static bool phi__parameters_list(phi__making *m, const phi_json *list) {
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
    return true;
}

/* What the template names and no parameter declares is a text that is required. */
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

/* False: skipped, or no memory; so with all that makes a part of an operation. */
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
    return !m->no_memory && phi__parameters_list(m, own) && phi__parameters_list(m, shared) &&
           phi__parameters_rest(m);
}

/* ---- the body: which content type is sent, and its properties ---- */

enum { PHI__REQUEST_BODY_PROPERTIES = 1024 };

static bool phi__request_body_ends(phi_str type, const char *end) {
    size_t n = strlen(end);
    return type.len >= n && phi__str_is_nocase(phi__str(type.at + type.len - n, n), end);
}

/* How well a content type suits; the least is taken. */
static unsigned phi__request_body_rank(phi_str type, phi__operation_body_kind *kind) {
    /* The type without its parameters. */
    size_t i;
    for (i = 0; i < type.len; i++)
        if (type.at[i] == ';') break;
    type = phi__str_trim(phi__str(type.at, i));
    *kind = PHI__BODY_JSON;
    if (phi__str_is_nocase(type, "application/json")) return 0;
    if (phi__str_is_nocase(type, "application/merge-patch+json")) return 1;
    if (phi__request_body_ends(type, "+json") || phi__request_body_ends(type, "/json")) return 2;
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

/* A type that can be sent: a range is replaced by one of its types. */
static phi_str phi__request_body_type(phi_str type, phi__operation_body_kind kind) {
    if (phi__str_find(type, 0, "*") == SIZE_MAX) return type;
    if (kind == PHI__BODY_JSON) return PHI__LIT("application/json");
    return kind == PHI__BODY_TEXT ? PHI__LIT("text/plain") : PHI__LIT("application/octet-stream");
}

/* ---- properties ---- */

static bool phi__request_body_encoding(phi__making *m, phi__operation_property *p,
                                       const phi_json *encoding) {
    phi_str style = phi__json_text_of(phi_json_get(encoding, "style"));
    phi_str type = phi__json_text_of(phi_json_get(encoding, "contentType"));
    size_t comma = phi__str_find(type, 0, ",");
    if (comma != SIZE_MAX)
        type = phi__str_trim(phi__str(type.at, comma)); /* the first of several */
    p->style = PHI__STYLE_FORM;
    p->has_style = phi__parameters_style(style, &p->style) ||
                   phi_json_get(encoding, "explode") != NULL ||
                   phi_json_get(encoding, "allowReserved") != NULL;
    p->explode = phi_json_bool(phi_json_get(encoding, "explode"), p->style == PHI__STYLE_FORM);
    p->allow_reserved = phi_json_bool(phi_json_get(encoding, "allowReserved"), false);
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

static bool phi__request_body_property(phi__making *m, phi_str name, const phi_json *schema,
                                       const phi_json *encodings) {
    phi__operation_body *body = &m->op->body;
    phi__operation_property *p = &body->properties[body->property_count];
    schema = phi__document_follow(&m->view, schema);
    if (schema == NULL) return phi__making_lost(m, "requestBody");
    memset(p, 0, sizeof *p);
    p->type = phi__tschema_type(schema);
    if (p->type == PHI_JSON_ARRAY) {
        schema = phi__document_follow(&m->view, phi_json_get(schema, "items"));
        if (schema == NULL && m->view.no_memory) return phi__making_lost(m, "requestBody");
    }
    p->file = phi__tschema_is_file(schema);
    p->base64 = phi__str_is(phi__json_text_of(phi_json_get(schema, "format")), "byte") ||
                phi__str_is(phi__json_text_of(phi_json_get(schema, "contentEncoding")), "base64");
    phi_str media = phi__json_text_of(phi_json_get(schema, "contentMediaType"));
    if (!phi__making_str(m, media, &p->content_type) || !phi__making_str(m, name, &p->name) ||
        !phi__request_body_encoding(m, p, phi__json_get_n(encodings, name)))
        return false;
    body->property_count++;
    return true;
}

static bool phi__request_body_of(phi__making *m, const phi_json *schema, const phi_json *encodings,
                                 size_t most) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "properties"));
    if (!phi_json_is(phi_json_get(schema, "properties"), PHI_JSON_OBJECT)) return true;
    while (m->op->body.property_count < most && phi_json_next(&it) != NULL)
        if (!phi__request_body_property(m, it.key, it.at, encodings)) return false;
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
        *type = phi__request_body_type(it.key, kind);
        m->op->body.kind = kind;
    }
    return best;
}

/* After the parameters. */
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
    m->body_note = phi__json_text_of(phi_json_get(given, "description"));
    body->required = phi_json_bool(phi_json_get(given, "required"), false);
    if (!phi__making_str(m, type, &body->content_type) ||
        !phi__parameters_argument(m, PHI__LIT("body"), "", &body->argument))
        return false;
    if (!phi__str_is(body->argument, "body") &&
        !phi__parameters_argument(m, PHI__LIT("_request_body"), "", &body->argument))
        return false;
    if (body->kind != PHI__BODY_FORM && body->kind != PHI__BODY_MULTIPART) return true;
    /* The properties of the schema, and of the schemas that it joins. */
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
    m->op->body.properties =
        (phi__operation_property *)phi__making_zero(m, most, sizeof *m->op->body.properties);
    if (m->no_memory || !phi__request_body_of(m, schema, encodings, most)) return false;
    it = phi_json_each(phi_json_get(schema, "allOf"));
    while (phi_json_next(&it) != NULL)
        if (!phi__request_body_of(m, phi__document_follow(&m->view, it.at), encodings, most))
            return false;
    return true;
}

/* ---- security and server ---- */

enum { PHI__SECURITY_URL = 2048 }; /* bytes of a server's URL */

static bool phi__security_scheme(phi__making *m, phi__operation_scheme *scheme, phi_str name,
                                 const phi_json *scopes) {
    phi__document_part *part = phi__document_find(m->view.doc, PHI__SECTION_SECURITY, name);
    phi_json_iter it = phi_json_each(phi_json_is(scopes, PHI_JSON_ARRAY) ? scopes : NULL);
    const phi_json *node = NULL;
    phi_str *list = (phi_str *)phi__making_zero(m, it.left, sizeof *list);
    memset(scheme, 0, sizeof *scheme);
    if (list == NULL || !phi__making_str(m, name, &scheme->name)) return false;
    scheme->scopes = list;
    while (phi_json_next(&it) != NULL)
        if (!phi__making_str(m, phi__json_text_of(it.at), &list[scheme->scope_count++]))
            return false;
    if (part != NULL) node = phi__document_tree(&m->view, part);
    if (node != NULL) node = phi__document_follow(&m->view, node);
    if (m->view.no_memory) return phi__making_lost(m, "security");
    phi_str type = phi__json_text_of(phi_json_get(node, "type"));
    phi_str http = phi__json_text_of(phi_json_get(node, "scheme"));
    scheme->kind = PHI__SCHEME_OTHER;
    if (phi__str_is(type, "apiKey")) {
        phi_str in = phi__json_text_of(phi_json_get(node, "in"));
        scheme->kind = PHI__SCHEME_KEY;
        scheme->place = PHI__OPERATION_HEADER;
        if (phi__str_is(in, "query")) scheme->place = PHI__OPERATION_QUERY;
        if (phi__str_is(in, "cookie")) scheme->place = PHI__OPERATION_COOKIE;
        return phi__making_str(m, phi__json_text_of(phi_json_get(node, "name")), &scheme->key);
    }
    if (phi__str_is(type, "http")) {
        if (phi__str_is_nocase(http, "basic")) scheme->kind = PHI__SCHEME_BASIC;
        if (phi__str_is_nocase(http, "bearer")) scheme->kind = PHI__SCHEME_BEARER;
    }
    if (phi__str_is(type, "openIdConnect")) scheme->kind = PHI__SCHEME_OPENID;
    if (phi__str_is(type, "oauth2")) {
        const phi_json *flow = phi_json_get(phi_json_get(node, "flows"), "clientCredentials");
        scheme->kind = PHI__SCHEME_OAUTH;
        return phi__making_str(m, phi__json_text_of(phi_json_get(flow, "tokenUrl")),
                               &scheme->token_url);
    }
    return true;
}

static bool phi__security_make(phi__making *m) {
    const phi_json *list = phi_json_get(m->node, "security");
    phi_json_iter in;
    if (!phi_json_is(list, PHI_JSON_ARRAY)) list = phi_json_get(m->root, "security");
    if (!phi_json_is(list, PHI_JSON_ARRAY)) return true;
    phi_json_iter it = phi_json_each(list);
    phi__operation_security *alternatives =
        (phi__operation_security *)phi__making_zero(m, it.left, sizeof *alternatives);
    if (alternatives == NULL) return false;
    m->op->security = alternatives;
    while (phi_json_next(&it) != NULL) {
        phi__operation_security *one = &alternatives[m->op->security_count++];
        phi__operation_scheme *schemes;
        in = phi_json_each(phi_json_is(it.at, PHI_JSON_OBJECT) ? it.at : NULL);
        schemes = (phi__operation_scheme *)phi__making_zero(m, in.left, sizeof *schemes);
        if (schemes == NULL) return false;
        one->schemes = schemes;
        while (phi_json_next(&in) != NULL)
            if (!phi__security_scheme(m, &schemes[one->count++], in.key, in.at)) return false;
    }
    return true;
}

/* Puts the defaults of variables in the place of "{name}". */
static phi_str phi__security_fill(const phi_json *server, char out[PHI__SECURITY_URL]) {
    const phi_json *variables = phi_json_get(server, "variables");
    phi_str url = phi__json_text_of(phi_json_get(server, "url"));
    size_t i = 0, len = 0;
    while (i < url.len && len < PHI__SECURITY_URL) {
        size_t end = url.at[i] == '{' ? phi__str_find(url, i, "}") : SIZE_MAX;
        phi_str part = phi__str(url.at + i, 1);
        const phi_json *variable = NULL;
        if (end != SIZE_MAX)
            variable = phi__json_get_n(variables, phi__str(url.at + i + 1, end - i - 1));
        if (variable != NULL) part = phi__json_text_of(phi_json_get(variable, "default"));
        if (part.len > PHI__SECURITY_URL - len) break;
        if (part.len > 0) memcpy(out + len, part.at, part.len);
        len += part.len;
        i = variable != NULL ? end + 1 : i + 1;
    }
    return phi__str(out, i < url.len ? 0 : len);
}

static bool phi__security_server(phi__making *m) {
    const phi_json *places[3];
    char url[PHI__SECURITY_URL];
    phi_str server = {NULL, 0};
    places[0] = m->node;
    places[1] = m->item;
    places[2] = m->root;
    for (size_t i = 0; i < 3 && server.len == 0; i++) {
        const phi_json *servers = phi_json_get(places[i], "servers");
        if (phi_json_is(servers, PHI_JSON_ARRAY) && phi_json_count(servers) > 0)
            server = phi__security_fill(phi_json_at(servers, 0), url);
    }
    while (server.len > 0 && server.at[server.len - 1] == '/') server.len--;
    return phi__making_str(m, server, &m->op->server);
}

/* ---- the operation, and its tool's schema ---- */

enum {
    PHI__MAKER_DESCRIPTION = 16384, /* bytes of a tool's description: a $ref may repeat it */
    PHI__MAKER_LABEL = 120
};

/* ---- the schema ---- */

/* A content parameter's schema is that of its content. */
static const phi_json *phi__maker_schema_of(const phi_json *parameter) {
    const phi_json *schema = phi_json_get(parameter, "schema");
    phi_json_iter it = phi_json_each(phi_json_get(parameter, "content"));
    if (schema != NULL || !phi_json_is(phi_json_get(parameter, "content"), PHI_JSON_OBJECT))
        return schema;
    return phi_json_next(&it) != NULL ? phi_json_get(it.at, "schema") : NULL;
}

static void phi__maker_put_parameter(phi__making *m, size_t index) {
    const phi_json *given = m->given[index], *schema = phi__maker_schema_of(given);
    phi__tool_schema *s = &m->schema;
    phi__json_write_key(&s->out, m->op->parameters[index].argument);
    if (schema == NULL && m->op->parameters[index].content_type.len == 0)
        phi__buf_text(&s->out, "{\"type\":\"string\"}");
    else
        phi__tschema_put(s, schema, phi__json_text_of(phi_json_get(given, "description")));
}

static void phi__maker_put_body(phi__making *m) {
    const phi__operation_body *body = &m->op->body;
    phi__tool_schema *s = &m->schema;
    phi__json_write_key(&s->out, body->argument);
    s->files = body->kind == PHI__BODY_MULTIPART;
    if (body->kind == PHI__BODY_JSON || body->kind == PHI__BODY_FORM ||
        body->kind == PHI__BODY_MULTIPART) {
        phi__tschema_put(s, m->body_schema, m->body_note);
        return;
    }
    if (body->kind == PHI__BODY_TEXT) {
        phi__buf_text(&s->out, "{\"type\":\"string\"}");
        return;
    }
    phi__tschema_put_file(s, NULL, m->body_note);
}

static bool phi__maker_put_schema(phi__making *m) {
    phi__tool_schema *s = &m->schema;
    do {
        phi__buf_text(&s->out, "{\"type\":\"object\",\"properties\":{");
        for (size_t i = 0; i < m->op->parameter_count && !s->failed; i++)
            phi__maker_put_parameter(m, i);
        if (m->op->body.kind != PHI__BODY_NONE && !s->failed) phi__maker_put_body(m);
        phi__buf_char(&s->out, '}');
        phi__buf *out = &m->schema.out;
        bool any = m->op->body.kind != PHI__BODY_NONE && m->op->body.required;
        for (size_t i = 0; i < m->op->parameter_count; i++)
            any = any || m->op->parameters[i].required;
        if (any) {
            phi__json_write_key(out, PHI__LIT("required"));
            phi__buf_char(out, '[');
            for (size_t i = 0; i < m->op->parameter_count; i++) {
                if (!m->op->parameters[i].required) continue;
                phi__json_write_comma(out);
                phi__json_write_str(out, m->op->parameters[i].argument);
            }
            if (m->op->body.kind != PHI__BODY_NONE && m->op->body.required) {
                phi__json_write_comma(out);
                phi__json_write_str(out, m->op->body.argument);
            }
            phi__buf_char(out, ']');
        }
        phi__tschema_put_defs(s);
        phi__buf_char(&s->out, '}');
    } while (phi__tschema_again(s));
    if (s->out.failed) m->view.no_memory = true;
    return s->failed || m->view.no_memory ? phi__making_lost(m, "schema") : true;
}

/* ---- the tool ---- */

static bool phi__maker_tool(phi__making *m, phi_tool *tool) {
    const phi_openapi_desc *desc = &m->api->desc;
    phi_str schema;
    memset(tool, 0, sizeof *tool);
    static const char *const keys[] = {"description", "summary"};
    phi_str text = {NULL, 0}, label = phi__json_text_of(phi_json_get(m->node, "summary")), kept;
    const char *before = m->source->shown.deprecated ? "(deprecated) " : "", *after = "";
    for (size_t i = 0; i < 2 && text.len == 0; i++)
        text = phi__str_trim(phi__json_text_of(phi_json_get(m->node, keys[i])));
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
    if (!phi__making_str(m, phi__tschema_cut(label, PHI__MAKER_LABEL), &kept)) return false;
    tool->label = kept.at;
    if (!phi__making_str(m, phi__buf_str(&m->schema.out), &schema)) return false;
    tool->name = m->op->name.at;
    tool->schema = schema.at;
    tool->user_data = m->op;
    tool->timeout_ms = PHI_UNLIMITED; /* the request has the deadline */
    tool->needs_approval = (desc->needs_approval && !m->op->read_only) ||
                           (desc->destructive_needs_approval && m->op->destructive);
    tool->deferred = desc->deferred;
    tool->may_defer = !desc->never_deferred;
    tool->source = "openapi";
    phi__opcall_fill(tool);
    return true;
}

static bool phi__maker_find(phi__making *m) {
    char method[16];
    size_t i;
    phi__document_part *root =
        phi__document_find(m->view.doc, PHI__SECTION_ROOT, phi__str(NULL, 0));
    m->item = phi__document_tree(&m->view, m->source->item);
    if (root != NULL) m->root = phi__document_tree(&m->view, root);
    if (m->view.no_memory) return phi__making_lost(m, "document");
    for (i = 0; i < m->source->shown.method.len && i + 1 < sizeof method; i++)
        method[i] = (char)(m->source->shown.method.at[i] | 0x20);
    method[i] = '\0';
    m->node = phi_json_get(m->item, method);
    if (m->node == NULL) return phi__making_skip(m, "operation", "it is not in its path item");
    m->op->api = m->api;
    m->op->index = (size_t)(m->source - m->api->document->operations);
    m->op->read_only = m->source->shown.read_only;
    m->op->destructive = m->source->shown.destructive;
    m->op->name = m->source->shown.name; /* the index outlives the selection */
    m->op->method = m->source->shown.method;
    m->op->path = m->source->shown.path;
    return true;
}

static bool phi__maker_all(phi__making *m, phi_tool *tool) {
    return phi__maker_find(m) && phi__parameters_make(m) && phi__request_body_make(m) &&
           phi__security_make(m) && phi__security_server(m) && phi__maker_put_schema(m) &&
           phi__maker_tool(m, tool);
}

/* Makes the operation at `index`, and its tool, in the arena. False: no memory. *skip: NULL, or why
   it becomes no tool, in the arena. *units grows by the bytes that were read and written. */
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
    phi__tschema_init(&m.schema, &m.view, api->desc.max_schema_bytes);
    m.op = (phi__operation *)phi__making_zero(&m, 1, sizeof *m.op);
    bool made = m.op != NULL && phi__maker_all(&m, tool);
    *units += m.view.units + m.schema.out.len;
    phi__tschema_free(&m.schema);
    phi_arena_free(&m.scratch);
    if (made) return true;
    phi_arena_reset(arena, mark);
    if (m.no_memory || !phi__arena_str(arena, phi_str_of(m.message), &text)) return false;
    *skip = text.at;
    return true;
}

/* ---- operations that fit a filter become tools, one after another ---- */

enum { PHI__SELECTION_ENTRY = 64 }; /* units that an operation costs, whatever its size */

typedef struct phi__selection {
    struct phi__selection *next;
    phi_arena arena; /* operations, schemas, messages */
    size_t at;       /* the next operation */
    phi_tool *tools;
    size_t *operations;
    phi_openapi_skip *skipped;
    size_t tool_cap, operation_cap, skip_cap;
} phi__selection;

/* ---- filters ---- */

static bool phi__selection_listed(const char *const *list, phi_str text, bool nocase) {
    for (; list != NULL && *list != NULL; list++)
        if (nocase ? phi__str_is_nocase(text, *list) : phi__str_is(text, *list)) return true;
    return false;
}

/* "/repos" and "/repos/" fit /repos and /repos/a, not /repositories. */
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

/* ---- selections ---- */

static void phi__selection_free(phi_openapi *api, phi__selection *s) {
    phi_memory *memory = &api->memory;
    phi__selection **at = &api->selections;
    while (*at != NULL && *at != s) at = &(*at)->next;
    if (*at != NULL) *at = s->next;
    phi__free(memory, s->tools, s->tool_cap * sizeof *s->tools);
    phi__free(memory, s->operations, s->operation_cap * sizeof *s->operations);
    phi__free(memory, s->skipped, s->skip_cap * sizeof *s->skipped);
    phi_arena_free(&s->arena);
    phi__free(memory, s, sizeof *s);
}

PHI__FN void phi__selection_free_all(phi_openapi *api) {
    while (api->selections != NULL) phi__selection_free(api, api->selections);
}

static phi__selection *phi__selection_new(phi_openapi *api) {
    phi__selection *s = (phi__selection *)phi__alloc(&api->memory, sizeof *s);
    if (s == NULL) return NULL;
    phi_arena_init(&s->arena, &api->memory, 0);
    s->next = api->selections;
    api->selections = s;
    return s;
}

static bool phi__selection_room(phi_openapi *api, phi__selection *s, const phi_openapi_tools *out) {
    phi_memory *memory = &api->memory;
    void *at = s->tools;
    if (out->count == s->tool_cap) {
        at = phi__grow(memory, s->tools, &s->tool_cap, out->count + 1, sizeof *s->tools);
        if (at == NULL) return false;
        s->tools = (phi_tool *)at;
    }
    if (out->count == s->operation_cap) {
        at = phi__grow(memory, s->operations, &s->operation_cap, out->count + 1,
                       sizeof *s->operations);
        if (at == NULL) return false;
        s->operations = (size_t *)at;
    }
    if (out->skip_count == s->skip_cap) {
        at = phi__grow(memory, s->skipped, &s->skip_cap, out->skip_count + 1, sizeof *s->skipped);
        if (at == NULL) return false;
        s->skipped = (phi_openapi_skip *)at;
    }
    return true;
}

static bool phi__selection_add(phi_openapi *api, phi__selection *s, phi_openapi_tools *out,
                               size_t *units) {
    const char *skip = NULL;
    if (!phi__selection_room(api, s, out) ||
        !phi__maker_make(api, s->at, &s->arena, &s->tools[out->count], &skip, units))
        return false;
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
    size_t units = 0;
    if (api == NULL || out == NULL) return PHI_BAD_ARG;
    if (api->reading.status != PHI_OK)
        return phi__error(api->rt, PHI_MISUSE, "phi_openapi_select: the document is not ready");
    if (out->work == NULL) {
        memset(out, 0, sizeof *out);
        out->work = phi__selection_new(api);
        if (out->work == NULL)
            return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_select: no memory");
    }
    phi__selection *s = (phi__selection *)out->work;
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
