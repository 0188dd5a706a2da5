/* openapi_auth.c - credentials into requests. */
#include "openapi/openapi_auth_in.h"

#include "base/base64_in.h"
#include "loop/error_in.h"
#include "openapi/styles_in.h"

#include <stdio.h>

static bool phi__openapi_auth_given(const char *text) { return text != NULL && text[0] != '\0'; }

static const char *phi__openapi_auth_key(const phi_openapi_auth *auth, phi_str scheme) {
    size_t i;
    for (i = 0; i < auth->key_count; i++)
        if (phi__str_is(scheme, auth->keys[i].name)) return auth->keys[i].value;
    return NULL;
}

static phi_str phi__openapi_auth_token_url(const phi_openapi_auth *auth,
                                           const phi__operation_scheme *scheme) {
    return phi__openapi_auth_given(auth->token_url) ? phi_str_of(auth->token_url)
                                                    : scheme->token_url;
}

static bool phi__openapi_auth_client(const phi_openapi_auth *auth,
                                     const phi__operation_scheme *scheme) {
    return scheme->kind == PHI__SCHEME_OAUTH && phi__openapi_auth_given(auth->client_id) &&
           phi__openapi_auth_token_url(auth, scheme).len > 0;
}

static bool phi__openapi_auth_meets(const phi_openapi_auth *auth,
                                    const phi__operation_scheme *scheme) {
    switch (scheme->kind) {
    case PHI__SCHEME_KEY: return phi__openapi_auth_key(auth, scheme->name) != NULL;
    case PHI__SCHEME_BASIC: return phi__openapi_auth_given(auth->user);
    case PHI__SCHEME_BEARER:
    case PHI__SCHEME_OPENID: return phi__openapi_auth_given(auth->bearer_token);
    case PHI__SCHEME_OAUTH:
        return phi__openapi_auth_client(auth, scheme) ||
               phi__openapi_auth_given(auth->bearer_token);
    case PHI__SCHEME_OTHER: break;
    }
    return false;
}

static bool phi__openapi_auth_meets_all(const phi_openapi_auth *auth,
                                        const phi__operation_security *security) {
    size_t i;
    for (i = 0; i < security->count; i++)
        if (!phi__openapi_auth_meets(auth, &security->schemes[i])) return false;
    return true;
}

static bool phi__openapi_auth_any(const phi_openapi_auth *auth) {
    return phi__openapi_auth_given(auth->bearer_token) || phi__openapi_auth_given(auth->user) ||
           phi__openapi_auth_given(auth->client_id) || auth->key_count > 0;
}

/* ---- into the request ---- */

static phi_status phi__openapi_auth_bearer(phi__openapi_auth *a, phi_str token) {
    phi_status status;
    phi__buf value;
    phi__secret_add(&a->secrets, token);
    phi__buf_init(&value, a->r->memory);
    phi__buf_text(&value, "Bearer ");
    phi__buf_add_str(&value, token);
    status = value.failed ? PHI_NO_MEMORY
                          : phi__openapi_request_add(a->r, PHI__LIT("Authorization"),
                                                     phi__buf_str(&value), true);
    if (value.at != NULL) memset(value.at, 0, value.len);
    phi__buf_free(&value);
    return status;
}

static phi_status phi__openapi_auth_basic(phi__openapi_auth *a) {
    const phi_openapi_auth *auth = &a->r->op->api->desc.auth;
    phi_status status = PHI_NO_MEMORY;
    phi__buf plain, value;
    phi__buf_init(&plain, a->r->memory);
    phi__buf_init(&value, a->r->memory);
    phi__buf_text(&plain, auth->user);
    phi__buf_char(&plain, ':');
    phi__buf_text(&plain, auth->password != NULL ? auth->password : "");
    phi__buf_text(&value, "Basic ");
    phi__base64_encode(&value, plain.at, plain.len);
    if (!plain.failed && !value.failed) {
        phi__secret_add(&a->secrets, phi__buf_str(&plain));
        phi__secret_add(&a->secrets, phi_str_of(auth->password));
        status =
            phi__openapi_request_add(a->r, PHI__LIT("Authorization"), phi__buf_str(&value), true);
    }
    if (plain.at != NULL) memset(plain.at, 0, plain.len);
    if (value.at != NULL) memset(value.at, 0, value.len);
    phi__buf_free(&plain);
    phi__buf_free(&value);
    return status;
}

static phi_status phi__openapi_auth_put_key(phi__openapi_auth *a,
                                            const phi__operation_scheme *scheme) {
    phi__openapi_request *r = a->r;
    phi_str value = phi_str_of(phi__openapi_auth_key(&r->op->api->desc.auth, scheme->name));
    bool cookie = scheme->place == PHI__OPERATION_COOKIE;
    phi__buf *out = cookie ? &r->cookie : &r->query;
    phi__secret_add(&a->secrets, value);
    if (scheme->place == PHI__OPERATION_HEADER)
        return phi__openapi_request_add(r, scheme->key, value, true);
    if (out->len > 0) phi__buf_text(out, cookie ? "; " : "&");
    phi__styles_put_escaped(out, scheme->key, PHI__ESCAPE_ALL);
    phi__buf_char(out, '=');
    phi__styles_put_escaped(out, value, cookie ? PHI__ESCAPE_COOKIE : PHI__ESCAPE_ALL);
    return out->failed ? PHI_NO_MEMORY : PHI_OK;
}

static phi_status phi__openapi_auth_put(phi__openapi_auth *a, const phi__operation_scheme *scheme) {
    const phi_openapi_auth *auth = &a->r->op->api->desc.auth;
    if (scheme->kind == PHI__SCHEME_KEY) return phi__openapi_auth_put_key(a, scheme);
    if (scheme->kind == PHI__SCHEME_BASIC) return phi__openapi_auth_basic(a);
    if (!phi__openapi_auth_client(auth, scheme))
        return phi__openapi_auth_bearer(a, phi_str_of(auth->bearer_token));
    a->oauth = scheme;
    return PHI_OK;
}

/* ---- choosing ---- */

/* The document's first alternative, in words. */
static phi_status phi__openapi_auth_refuse(phi__openapi_auth *a) {
    static const char *const kinds[] = {"apiKey", "basic",         "bearer",
                                        "oauth2", "openIdConnect", "another kind"};
    const phi__operation_security *first = &a->r->op->security[0];
    const phi__operation_scheme *scheme = first->count > 0 ? &first->schemes[0] : NULL;
    size_t i;
    for (i = 0; i < first->count; i++)
        if (!phi__openapi_auth_meets(&a->r->op->api->desc.auth, &first->schemes[i])) {
            scheme = &first->schemes[i];
            break;
        }
    return phi__openapi_request_refuse(
        a->r, "Error: This operation needs credentials that were not set up: %.80s (%s)",
        scheme != NULL ? scheme->name.at : "?", scheme != NULL ? kinds[scheme->kind] : "?");
}

static phi_status phi__openapi_auth_choose(phi__openapi_auth *a) {
    const phi__operation *op = a->r->op;
    const phi_openapi_auth *auth = &op->api->desc.auth;
    size_t i, k;
    if (!phi__openapi_auth_any(auth)) return PHI_OK;
    for (i = 0; i < op->security_count; i++) {
        const phi__operation_security *security = &op->security[i];
        phi_status status = PHI_OK;
        if (!phi__openapi_auth_meets_all(auth, security)) continue;
        for (k = 0; k < security->count && status == PHI_OK; k++)
            status = phi__openapi_auth_put(a, &security->schemes[k]);
        return status;
    }
    if (op->security_count > 0) return phi__openapi_auth_refuse(a);
    if (phi__openapi_auth_given(auth->bearer_token))
        return phi__openapi_auth_bearer(a, phi_str_of(auth->bearer_token));
    return phi__openapi_auth_given(auth->user) ? phi__openapi_auth_basic(a) : PHI_OK;
}

/* ---- for the call ---- */

PHI__FN phi_status phi__openapi_auth_begin(phi__openapi_auth *a, phi__openapi_request *r) {
    const phi_openapi_desc *desc = &r->op->api->desc;
    phi_status status;
    size_t i;
    a->r = r;
    phi__secret_init(&a->secrets, r->arena);
    for (i = 0; i < desc->header_count; i++)
        (void)phi__secret_add_header(&a->secrets, phi_str_of(desc->headers[i].name),
                                     phi_str_of(desc->headers[i].value));
    status = phi__openapi_auth_choose(a);
    return status == PHI_OK && a->secrets.failed ? PHI_NO_MEMORY : status;
}

PHI__FN phi_status phi__openapi_auth_token(phi__openapi_auth *a) {
    phi_openapi *api = a->r->op->api;
    const char *words = NULL;
    phi_status status;
    phi_str token = phi__str(NULL, 0);
    if (a->oauth == NULL) return PHI_OK;
    status = phi__openapi_token_get(api, phi__openapi_auth_token_url(&api->desc.auth, a->oauth),
                                    a->oauth->scopes, a->oauth->scope_count, &a->wait, &token);
    if (status == PHI_BUSY || status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK) {
        (void)phi__error_last(api->rt, &words);
        return phi__openapi_request_refuse(a->r, "Error: HTTP request failed: the token server: %s",
                                           words);
    }
    if (!phi__arena_str(a->r->arena, token, &a->token)) return PHI_NO_MEMORY;
    status = phi__openapi_auth_bearer(a, a->token);
    return status == PHI_OK && a->secrets.failed ? PHI_NO_MEMORY : status;
}

PHI__FN bool phi__openapi_auth_again(phi__openapi_auth *a, int http_status) {
    if (http_status != 401 || a->oauth == NULL || a->refreshed) return false;
    a->refreshed = true;
    phi__openapi_token_refused(a->r->op->api, a->token);
    return true;
}
