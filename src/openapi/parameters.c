/* parameters.c - the parameters of an operation: its own, those of its path, and those that its
   path template names and nobody declares. */
#include "openapi/parameters_in.h"

#include <stdio.h>

enum {
    PHI__PARAMETERS_MOST = 4096,
    PHI__PARAMETERS_PATH = 8192,  /* bytes of a path; servers take less */
    PHI__PARAMETERS_ARGUMENT = 64 /* bytes of a key; Anthropic, November 2026 */
};

static const char *const phi__parameters_places[] = {"path", "query", "header", "cookie"};

PHI__FN bool phi__parameters_style(phi_str name, phi__operation_style *out) {
    static const char *const names[] = {"simple",         "label",         "matrix",    "form",
                                        "spaceDelimited", "pipeDelimited", "deepObject"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++) {
        if (!phi__str_is(name, names[i])) continue;
        *out = (phi__operation_style)i;
        return true;
    }
    return false;
}

/* ---- arguments ---- */

static bool phi__parameters_taken(const phi__making *m, phi_str name) {
    size_t i;
    for (i = 0; i < m->op->parameter_count; i++)
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
    unsigned char taken[PHI__PARAMETERS_MOST / 8 + 1];
    unsigned next = 2;
    size_t i;
    memset(taken, 0, sizeof taken);
    for (i = 0; i < m->op->parameter_count; i++) {
        uint64_t number = phi__parameters_number(m->op->parameters[i].argument, base);
        if (number < PHI__PARAMETERS_MOST + 8)
            taken[number / 8] = (unsigned char)(taken[number / 8] | 1u << number % 8);
    }
    while (next < PHI__PARAMETERS_MOST + 7 && (taken[next / 8] >> next % 8 & 1) != 0) next++;
    return next;
}

PHI__FN bool phi__parameters_argument(phi__making *m, phi_str name, const char *place,
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

/* Whether a path template holds "{name}". */
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
    size_t i;
    for (i = 0; i < m->op->parameter_count; i++)
        if (m->op->parameters[i].place == place && phi_str_equal(m->op->parameters[i].name, name))
            return true;
    return false;
}

static bool phi__parameters_place(phi_str in, phi__operation_place *out) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__parameters_places); i++) {
        if (!phi__str_is(in, phi__parameters_places[i])) continue;
        *out = (phi__operation_place)i;
        return true;
    }
    return false;
}

static void phi__parameters_form(phi__operation_parameter *p, const phi_json *node) {
    bool query = p->place == PHI__OPERATION_QUERY || p->place == PHI__OPERATION_COOKIE;
    p->style = query ? PHI__STYLE_FORM : PHI__STYLE_SIMPLE;
    (void)phi__parameters_style(phi__json_text_of(phi_json_get(node, "style")), &p->style);
    p->explode = phi_json_bool(phi_json_get(node, "explode"), p->style == PHI__STYLE_FORM);
    p->allow_reserved = phi_json_bool(phi_json_get(node, "allowReserved"), false);
    p->required =
        p->place == PHI__OPERATION_PATH || phi_json_bool(phi_json_get(node, "required"), false);
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
    phi__operation_parameter p;
    const phi_json *schema;
    memset(&p, 0, sizeof p);
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
    phi__parameters_form(&p, node);
    schema = phi__parameters_schema(m, &p, node);
    if (m->no_memory || !phi__making_str(m, name, &p.name) ||
        !phi__parameters_argument(m, name, phi__parameters_places[p.place], &p.argument))
        return false;
    if (schema != NULL) {
        const phi_json *type = phi__document_follow(&m->view, schema);
        if (type == NULL) return phi__making_lost(m, place);
        p.type = phi__tool_schema_type(type);
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
    size_t at = 0, end;
    while ((at = phi__str_find(path, at, "{")) != SIZE_MAX) {
        phi__operation_parameter *p = &m->op->parameters[m->op->parameter_count];
        phi_str name;
        end = phi__str_find(path, at, "}");
        if (end == SIZE_MAX) return phi__making_skip(m, "its path", "a \"{\" without its \"}\"");
        name = phi__str(path.at + at + 1, end - at - 1);
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

PHI__FN bool phi__parameters_make(phi__making *m) {
    const phi_json *own = phi_json_get(m->node, "parameters");
    const phi_json *shared = phi_json_get(m->item, "parameters");
    size_t most = phi_json_count(own) + phi_json_count(shared), i;
    if (m->op->path.len > PHI__PARAMETERS_PATH)
        return phi__making_skip(m, "its path", "it is longer than 8192 bytes");
    for (i = 0; i < m->op->path.len; i++) most += m->op->path.at[i] == '{';
    most = phi__min(most, PHI__PARAMETERS_MOST);
    m->op->parameters =
        (phi__operation_parameter *)phi__making_zero(m, most, sizeof *m->op->parameters);
    m->given = (const phi_json **)phi_arena_alloc(&m->scratch, (most + 1) * sizeof *m->given);
    if (m->given == NULL) m->no_memory = true;
    return !m->no_memory && phi__parameters_list(m, own) && phi__parameters_list(m, shared) &&
           phi__parameters_rest(m);
}
