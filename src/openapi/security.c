/* security.c - the security alternatives of an operation, and its server. */
#include "openapi/security_in.h"

enum { PHI__SECURITY_URL = 2048 }; /* bytes of a server's URL */

/* ---- schemes ---- */

static bool phi__security_key(phi__making *m, phi__operation_scheme *scheme, const phi_json *node) {
    phi_str in = phi__json_text_of(phi_json_get(node, "in"));
    scheme->kind = PHI__SCHEME_KEY;
    scheme->place = PHI__OPERATION_HEADER;
    if (phi__str_is(in, "query")) scheme->place = PHI__OPERATION_QUERY;
    if (phi__str_is(in, "cookie")) scheme->place = PHI__OPERATION_COOKIE;
    return phi__making_str(m, phi__json_text_of(phi_json_get(node, "name")), &scheme->key);
}

static bool phi__security_kind(phi__making *m, phi__operation_scheme *scheme,
                               const phi_json *node) {
    phi_str type = phi__json_text_of(phi_json_get(node, "type"));
    phi_str http = phi__json_text_of(phi_json_get(node, "scheme"));
    scheme->kind = PHI__SCHEME_OTHER;
    if (phi__str_is(type, "apiKey")) return phi__security_key(m, scheme, node);
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
    return phi__security_kind(m, scheme, node);
}

PHI__FN bool phi__security_make(phi__making *m) {
    const phi_json *list = phi_json_get(m->node, "security");
    phi__operation_security *alternatives;
    phi_json_iter it, in;
    if (!phi_json_is(list, PHI_JSON_ARRAY)) list = phi_json_get(m->root, "security");
    if (!phi_json_is(list, PHI_JSON_ARRAY)) return true;
    it = phi_json_each(list);
    alternatives = (phi__operation_security *)phi__making_zero(m, it.left, sizeof *alternatives);
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

/* ---- servers ---- */

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

PHI__FN bool phi__security_server(phi__making *m) {
    const phi_json *places[3];
    char url[PHI__SECURITY_URL];
    phi_str server = {NULL, 0};
    size_t i;
    places[0] = m->node;
    places[1] = m->item;
    places[2] = m->root;
    for (i = 0; i < 3 && server.len == 0; i++) {
        const phi_json *servers = phi_json_get(places[i], "servers");
        if (phi_json_is(servers, PHI_JSON_ARRAY) && phi_json_count(servers) > 0)
            server = phi__security_fill(phi_json_at(servers, 0), url);
    }
    while (server.len > 0 && server.at[server.len - 1] == '/') server.len--;
    return phi__making_str(m, server, &m->op->server);
}
