/* request_body.c - the body of an operation: which of its content types is sent, and how its
   properties are. */
#include "openapi/request_body_in.h"

#include "openapi/parameters_in.h"

enum { PHI__REQUEST_BODY_PROPERTIES = 1024 };

/* The type without its parameters. */
static phi_str phi__request_body_plain(phi_str type) {
    size_t i;
    for (i = 0; i < type.len; i++)
        if (type.at[i] == ';') break;
    return phi__str_trim(phi__str(type.at, i));
}

static bool phi__request_body_ends(phi_str type, const char *end) {
    size_t n = strlen(end);
    return type.len >= n && phi__str_is_nocase(phi__str(type.at + type.len - n, n), end);
}

/* How well a content type suits; the least is taken. */
static unsigned phi__request_body_rank(phi_str type, phi__operation_body_kind *kind) {
    type = phi__request_body_plain(type);
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

/* A type that can be sent: a range stands for one of its own. */
static phi_str phi__request_body_type(phi_str type, phi__operation_body_kind kind) {
    if (phi__str_find(type, 0, "*") == SIZE_MAX) return type;
    if (kind == PHI__BODY_JSON) return PHI__LIT("application/json");
    return kind == PHI__BODY_TEXT ? PHI__LIT("text/plain") : PHI__LIT("application/octet-stream");
}

/* ---- properties ---- */

static bool phi__request_body_headers(phi__making *m, phi__operation_property *p,
                                      const phi_json *headers) {
    phi_json_iter it = phi_json_each(headers);
    phi_json *kept;
    if (!phi_json_is(headers, PHI_JSON_OBJECT)) return true;
    kept = phi_json_new_object(m->arena);
    while (kept != NULL && phi_json_next(&it) != NULL) {
        const phi_json *header = phi__document_follow(&m->view, it.at), *value;
        if (header == NULL) return phi__making_lost(m, "encoding.headers");
        value =
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
    return phi__request_body_headers(m, p, phi_json_get(encoding, "headers"));
}

static bool phi__request_body_property(phi__making *m, phi_str name, const phi_json *schema,
                                       const phi_json *encodings) {
    phi__operation_body *body = &m->op->body;
    phi__operation_property *p = &body->properties[body->property_count];
    phi_str media;
    schema = phi__document_follow(&m->view, schema);
    if (schema == NULL) return phi__making_lost(m, "requestBody");
    memset(p, 0, sizeof *p);
    p->type = phi__tool_schema_type(schema);
    if (p->type == PHI_JSON_ARRAY) {
        schema = phi__document_follow(&m->view, phi_json_get(schema, "items"));
        if (schema == NULL && m->view.no_memory) return phi__making_lost(m, "requestBody");
    }
    p->file = phi__tool_schema_is_file(schema);
    p->base64 = phi__str_is(phi__json_text_of(phi_json_get(schema, "format")), "byte") ||
                phi__str_is(phi__json_text_of(phi_json_get(schema, "contentEncoding")), "base64");
    media = phi__json_text_of(phi_json_get(schema, "contentMediaType"));
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

/* The properties of the schema, and of the schemas that it joins. */
static bool phi__request_body_properties(phi__making *m, const phi_json *encodings) {
    const phi_json *schema = phi__document_follow(&m->view, m->body_schema), *part;
    phi_json_iter it = phi_json_each(phi_json_get(schema, "allOf"));
    size_t most = phi_json_count(phi_json_get(schema, "properties"));
    if (m->body_schema == NULL) return true;
    if (schema == NULL) return phi__making_lost(m, "requestBody");
    while (phi_json_next(&it) != NULL) {
        part = phi__document_follow(&m->view, it.at);
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

/* ---- the body ---- */

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

PHI__FN bool phi__request_body_make(phi__making *m) {
    const phi_json *given = phi_json_get(m->node, "requestBody"), *media;
    phi__operation_body *body = &m->op->body;
    phi_str type = {NULL, 0};
    if (given == NULL) return true;
    given = phi__document_follow(&m->view, given);
    if (given == NULL) return phi__making_lost(m, "requestBody");
    media = phi__request_body_pick(m, phi_json_get(given, "content"), &type);
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
    return phi__request_body_properties(m, phi_json_get(media, "encoding"));
}
