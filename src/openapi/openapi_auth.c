/* openapi_auth.c - credentials into requests. */
#include "openapi/openapi_auth_in.h"

#include "base/base_in.h"
#include "loop/loop_in.h"
#include "text/text_in.h"

#include <stdio.h>

/* ---- access tokens of OAuth2 client credentials (RFC 6749, 4.4) ---- */

/* A token belongs to the document, by its URL and scopes: all agents share it, and calls that
   need it at once share one request. It is kept until shortly before it expires, or until a server
   has refused it. */

enum {
    PHI__OPENAPI_TOKEN_BYTES = 65536, /* of a token server's answer */
    PHI__OPENAPI_TOKEN_EARLY_S = 30,  /* before it expires it counts as expired */
    PHI__OPENAPI_TOKEN_WORDS = 300
};

struct phi__openapi_calls {
    phi__list tokens;
};

struct phi__openapi_token {
    phi_openapi *api;
    phi__link link;      /* of the object's tokens */
    phi__buf url, scope; /* scope: joined by spaces */
    phi__buf text, answer;
    bool valid;
    uint64_t until_us;
    phi__fetch *fetch; /* NULL: it is not requested */
    int http_status;
    phi__list waiting;
};

/* ---- tokens ---- */

static bool phi__token_same(const phi__buf *buf, phi_str text) {
    return buf->len == text.len && (text.len == 0 || memcmp(buf->at, text.at, text.len) == 0);
}

static void phi__token_forget(phi__openapi_token *t) {
    if (t->text.at != NULL) memset(t->text.at, 0, t->text.cap);
    if (t->answer.at != NULL) memset(t->answer.at, 0, t->answer.cap);
    phi__buf_clear(&t->text);
    phi__buf_clear(&t->answer);
    t->valid = false;
}

static void phi__token_free(phi__openapi_token *t) {
    phi__fetch_close(t->fetch);
    phi__token_forget(t);
    phi__buf_free(&t->url);
    phi__buf_free(&t->scope);
    phi__buf_free(&t->text);
    phi__buf_free(&t->answer);
    phi__free(&t->api->memory, t, sizeof *t);
}

static phi__openapi_token *phi__token_find(phi_openapi *api, phi_str url, phi_str scope) {
    if (api->calls == NULL)
        api->calls = (struct phi__openapi_calls *)phi__alloc(&api->memory, sizeof *api->calls);
    if (api->calls == NULL) return NULL;
    for (phi__link *link = api->calls->tokens.first; link != NULL; link = link->next) {
        phi__openapi_token *t = PHI__OWNER(link, phi__openapi_token, link);
        if (phi__token_same(&t->url, url) && phi__token_same(&t->scope, scope)) return t;
    }
    phi__openapi_token *t = (phi__openapi_token *)phi__alloc(&api->memory, sizeof *t);
    if (t == NULL) return NULL;
    t->api = api;
    phi__buf_init(&t->url, &api->memory);
    phi__buf_init(&t->scope, &api->memory);
    phi__buf_init(&t->text, &api->memory);
    phi__buf_init(&t->answer, &api->memory);
    phi__buf_add_str(&t->url, url);
    phi__buf_add_str(&t->scope, scope);
    if (t->url.failed || t->scope.failed) {
        phi__token_free(t);
        return NULL;
    }
    phi__list_push(&api->calls->tokens, &t->link);
    return t;
}

/* ---- the answer ---- */

/* Reads "expires_in", a number or a text with one. */
static uint64_t phi__token_lifetime_s(phi_str answer) {
    phi__json_found found;
    int64_t n = 0;
    uint64_t u = 0;
    if (phi__json_cursor_find(answer, "expires_in", &found) != PHI_OK) return UINT64_MAX;
    if (found.type == PHI_JSON_STRING) return phi__str_to_u64(found.raw, &u) ? u : UINT64_MAX;
    return phi__json_cursor_found_int(&found, &n) && n >= 0 ? (uint64_t)n : UINT64_MAX;
}

/* Its words are the token server's: short, and without our secret. */
static void phi__token_explain(phi__openapi_token *t, phi_arena *arena, char *words, size_t size) {
    const phi_openapi_auth *auth = &t->api->desc.auth;
    phi__json_found found;
    phi__secrets secrets;
    phi_str code = phi__str("", 0);
    if (phi__json_cursor_find(phi__buf_str(&t->answer), "error", &found) == PHI_OK)
        (void)phi__json_cursor_found_str(arena, &found, &code);
    (void)snprintf(words, size, "the token server answered %d%s%.*s", t->http_status,
                   code.len > 0 ? ": " : " without a token", (int)phi__min(code.len, 100), code.at);
    size_t n = phi__words_clean_line(words, strlen(words));
    words[n] = '\0';
    phi__secret_init(&secrets, arena);
    phi__secret_add(&secrets, phi_str_of(auth->client_secret));
    if (secrets.failed) /* no memory to look for it */
        (void)snprintf(words, size, "the token server answered %d", t->http_status);
    else
        (void)phi__secret_hide(&secrets, words, n, PHI__SECRET_WORDS);
}

static void phi__token_end(void *user_data, phi_status status, const char *message) {
    phi__openapi_token *t = (phi__openapi_token *)user_data;
    char words[PHI__OPENAPI_TOKEN_WORDS];
    phi__json_found found;
    phi_arena arena;
    phi_str text;
    t->fetch = NULL;
    phi_arena_init(&arena, &t->api->memory, 256);
    (void)snprintf(words, sizeof words, "the token server: %s", message);
    if (status == PHI_OK && t->answer.failed) status = PHI_NO_MEMORY;
    if (status == PHI_OK) {
        if (t->http_status >= 200 && t->http_status < 300 &&
            phi__json_cursor_find(phi__buf_str(&t->answer), "access_token", &found) == PHI_OK &&
            phi__json_cursor_found_str(&arena, &found, &text) && text.len > 0) {
            uint64_t s = phi__token_lifetime_s(phi__buf_str(&t->answer));
            uint64_t early =
                s > 2 * PHI__OPENAPI_TOKEN_EARLY_S ? (uint64_t)PHI__OPENAPI_TOKEN_EARLY_S : s / 2;
            if (s == 0) s = 1; /* the calls that wait for it use it once */
            phi__buf_clear(&t->text);
            phi__buf_add_str(&t->text, text);
            t->valid = !t->text.failed;
            t->until_us = s > UINT32_MAX ? UINT64_MAX
                                         : phi__io_now_us(t->api->rt->io) + (s - early) * 1000000u;
        }
        if (!t->valid) {
            status = PHI_REFUSED;
            phi__token_explain(t, &arena, words, sizeof words);
        }
    }
    phi_arena_free(&arena);
    if (t->answer.at != NULL) memset(t->answer.at, 0, t->answer.len);
    phi__buf_clear(&t->answer);
    while (t->waiting.first != NULL) {
        phi__openapi_wait *wait = PHI__OWNER(t->waiting.first, phi__openapi_wait, link);
        phi__token_leave(wait);
        wait->done(wait, status, words);
    }
}

static void phi__token_head(void *user_data, int http_status, phi_str headers) {
    (void)headers;
    ((phi__openapi_token *)user_data)->http_status = http_status;
}

static size_t phi__token_body(void *user_data, phi_str bytes) {
    phi__openapi_token *t = (phi__openapi_token *)user_data;
    phi__buf_add_str(&t->answer, bytes);
    return bytes.len;
}

static phi_status phi__token_open(phi__openapi_token *t, phi_str basic, phi_str body) {
    const phi_openapi_desc *of = &t->api->desc;
    phi__header headers[3];
    headers[0].name = PHI__LIT("Authorization");
    headers[0].value = basic;
    headers[1].name = PHI__LIT("Content-Type");
    headers[1].value = PHI__LIT("application/x-www-form-urlencoded");
    headers[2].name = PHI__LIT("Accept");
    headers[2].value = PHI__LIT("application/json");
    phi__fetch_desc desc = PHI_ZERO;
    desc.memory = &t->api->memory;
    desc.method = PHI__LIT("POST");
    desc.url = phi__buf_str(&t->url);
    desc.headers = headers;
    desc.header_count = 3;
    desc.body = body;
    desc.deadlines.first_event_ms = desc.deadlines.total_ms = of->timeout_ms;
    desc.max_bytes = PHI__OPENAPI_TOKEN_BYTES;
    desc.on_head = phi__token_head;
    desc.on_body = phi__token_body;
    desc.on_end = phi__token_end;
    desc.user_data = t;
    return phi__fetch_open(t->api->rt, &desc, &t->fetch);
}

static phi_status phi__token_request(phi__openapi_token *t) {
    phi_status status = PHI_NO_MEMORY;
    phi__buf basic, body;
    phi__token_forget(t);
    phi__buf_init(&basic, &t->api->memory);
    phi__buf_init(&body, &t->api->memory);
    /* "id:secret", each encoded as in a form, in base64: RFC 6749, 2.3.1. */
    const phi_openapi_auth *auth = &t->api->desc.auth;
    phi__buf plain;
    phi__buf_init(&plain, basic.memory);
    phi__styles_put_escaped(&plain, phi_str_of(auth->client_id), PHI__ESCAPE_ALL);
    phi__buf_char(&plain, ':');
    phi__styles_put_escaped(&plain, phi_str_of(auth->client_secret), PHI__ESCAPE_ALL);
    phi__buf_text(&basic, "Basic ");
    phi__base64_encode(&basic, plain.at, plain.len);
    if (plain.failed) basic.failed = true;
    if (plain.at != NULL) memset(plain.at, 0, plain.len);
    phi__buf_free(&plain);
    phi__buf_text(&body, "grant_type=client_credentials");
    if (t->scope.len > 0) {
        phi__buf_text(&body, "&scope=");
        phi__styles_put_escaped(&body, phi__buf_str(&t->scope), PHI__ESCAPE_ALL);
    }
    if (!basic.failed && !body.failed)
        status = phi__token_open(t, phi__buf_str(&basic), phi__buf_str(&body));
    if (basic.at != NULL) memset(basic.at, 0, basic.len);
    phi__buf_free(&basic);
    phi__buf_free(&body);
    return status;
}

/* ---- for the call ---- */

/* PHI_OK: *out is the token's text, borrowed until the next step. PHI_BUSY: it was requested, and
   `wait` is called. All else: it cannot be requested, and phi_last_error has the message. */
static phi_status phi__token_get(phi_openapi *api, phi_str url, const phi_str *scopes,
                                 size_t scope_count, phi__openapi_wait *wait, phi_str *out) {
    phi__openapi_token *t = NULL;
    phi_status status = PHI_OK;
    phi__buf scope;
    phi__buf_init(&scope, &api->memory);
    for (size_t i = 0; i < scope_count; i++) {
        if (i > 0) phi__buf_char(&scope, ' ');
        phi__buf_add_str(&scope, scopes[i]);
    }
    if (!scope.failed) t = phi__token_find(api, url, phi__buf_str(&scope));
    phi__buf_free(&scope);
    if (t == NULL) return phi__error(api->rt, PHI_NO_MEMORY, "no memory for a token");
    if (t->valid && phi__io_now_us(api->rt->io) < t->until_us) {
        *out = phi__buf_str(&t->text);
        return PHI_OK;
    }
    if (t->fetch == NULL) status = phi__token_request(t);
    if (status != PHI_OK) return status;
    wait->token = t;
    phi__list_push(&t->waiting, &wait->link);
    return PHI_BUSY;
}

PHI__FN void phi__token_leave(phi__openapi_wait *wait) {
    if (wait->token == NULL) return;
    phi__list_take(&wait->token->waiting, &wait->link);
    wait->token = NULL;
}

PHI__FN void phi__token_free_all(phi_openapi *api) {
    phi__link *next;
    if (api->calls == NULL) return;
    for (phi__link *link = api->calls->tokens.first; link != NULL; link = next) {
        next = link->next;
        phi__token_free(PHI__OWNER(link, phi__openapi_token, link));
    }
    phi__free(&api->memory, api->calls, sizeof *api->calls);
    api->calls = NULL;
}

/* ---- the credentials of a request ---- */

/* The first alternative of the operation's security whose schemes can all be met is used. If the
   document asks for nothing, a bearer token, else user and password, are sent if they are given. */

static bool phi__opauth_given(const char *text) { return text != NULL && text[0] != '\0'; }

static const char *phi__opauth_key(const phi_openapi_auth *auth, phi_str scheme) {
    for (size_t i = 0; i < auth->key_count; i++)
        if (phi__str_is(scheme, auth->keys[i].name)) return auth->keys[i].value;
    return NULL;
}

static phi_str phi__opauth_token_url(const phi_openapi_auth *auth,
                                     const phi__operation_scheme *scheme) {
    return phi__opauth_given(auth->token_url) ? phi_str_of(auth->token_url) : scheme->token_url;
}

static bool phi__opauth_client(const phi_openapi_auth *auth, const phi__operation_scheme *scheme) {
    return scheme->kind == PHI__SCHEME_OAUTH && phi__opauth_given(auth->client_id) &&
           phi__opauth_token_url(auth, scheme).len > 0;
}

static bool phi__opauth_meets(const phi_openapi_auth *auth, const phi__operation_scheme *scheme) {
    switch (scheme->kind) {
    case PHI__SCHEME_KEY: return phi__opauth_key(auth, scheme->name) != NULL;
    case PHI__SCHEME_BASIC: return phi__opauth_given(auth->user);
    case PHI__SCHEME_BEARER:
    case PHI__SCHEME_OPENID: return phi__opauth_given(auth->bearer_token);
    case PHI__SCHEME_OAUTH:
        return phi__opauth_client(auth, scheme) || phi__opauth_given(auth->bearer_token);
    case PHI__SCHEME_OTHER: break;
    }
    return false;
}

static bool phi__opauth_meets_all(const phi_openapi_auth *auth,
                                  const phi__operation_security *security) {
    for (size_t i = 0; i < security->count; i++)
        if (!phi__opauth_meets(auth, &security->schemes[i])) return false;
    return true;
}

static bool phi__opauth_any(const phi_openapi_auth *auth) {
    return phi__opauth_given(auth->bearer_token) || phi__opauth_given(auth->user) ||
           phi__opauth_given(auth->client_id) || auth->key_count > 0;
}

/* ---- into the request ---- */

static phi_status phi__opauth_bearer(phi__openapi_auth *a, phi_str token) {
    phi__buf value;
    phi__secret_add(&a->secrets, token);
    phi__buf_init(&value, a->r->memory);
    phi__buf_text(&value, "Bearer ");
    phi__buf_add_str(&value, token);
    phi_status status =
        value.failed ? PHI_NO_MEMORY
                     : phi__opreq_add(a->r, PHI__LIT("Authorization"), phi__buf_str(&value), true);
    if (value.at != NULL) memset(value.at, 0, value.len);
    phi__buf_free(&value);
    return status;
}

static phi_status phi__opauth_basic(phi__openapi_auth *a) {
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
        status = phi__opreq_add(a->r, PHI__LIT("Authorization"), phi__buf_str(&value), true);
    }
    if (plain.at != NULL) memset(plain.at, 0, plain.len);
    if (value.at != NULL) memset(value.at, 0, value.len);
    phi__buf_free(&plain);
    phi__buf_free(&value);
    return status;
}

static phi_status phi__opauth_put(phi__openapi_auth *a, const phi__operation_scheme *scheme) {
    const phi_openapi_auth *auth = &a->r->op->api->desc.auth;
    if (scheme->kind == PHI__SCHEME_KEY) {
        phi__openapi_request *r = a->r;
        phi_str value = phi_str_of(phi__opauth_key(&r->op->api->desc.auth, scheme->name));
        bool cookie = scheme->place == PHI__OPERATION_COOKIE;
        phi__buf *out = cookie ? &r->cookie : &r->query;
        phi__secret_add(&a->secrets, value);
        if (scheme->place == PHI__OPERATION_HEADER)
            return phi__opreq_add(r, scheme->key, value, true);
        if (out->len > 0) phi__buf_text(out, cookie ? "; " : "&");
        phi__styles_put_escaped(out, scheme->key, PHI__ESCAPE_ALL);
        phi__buf_char(out, '=');
        phi__styles_put_escaped(out, value, cookie ? PHI__ESCAPE_COOKIE : PHI__ESCAPE_ALL);
        return out->failed ? PHI_NO_MEMORY : PHI_OK;
    }
    if (scheme->kind == PHI__SCHEME_BASIC) return phi__opauth_basic(a);
    if (!phi__opauth_client(auth, scheme))
        return phi__opauth_bearer(a, phi_str_of(auth->bearer_token));
    a->oauth = scheme;
    return PHI_OK;
}

static phi_status phi__opauth_choose(phi__openapi_auth *a) {
    const phi__operation *op = a->r->op;
    const phi_openapi_auth *auth = &op->api->desc.auth;
    size_t k;
    if (!phi__opauth_any(auth)) return PHI_OK;
    for (size_t i = 0; i < op->security_count; i++) {
        const phi__operation_security *security = &op->security[i];
        phi_status status = PHI_OK;
        if (!phi__opauth_meets_all(auth, security)) continue;
        for (k = 0; k < security->count && status == PHI_OK; k++)
            status = phi__opauth_put(a, &security->schemes[k]);
        return status;
    }
    if (op->security_count > 0) {
        /* The document's first alternative, in words. */
        static const char *const kinds[] = {"apiKey", "basic",         "bearer",
                                            "oauth2", "openIdConnect", "another kind"};
        const phi__operation_security *first = &a->r->op->security[0];
        const phi__operation_scheme *scheme = first->count > 0 ? &first->schemes[0] : NULL;
        for (size_t i = 0; i < first->count; i++)
            if (!phi__opauth_meets(&a->r->op->api->desc.auth, &first->schemes[i])) {
                scheme = &first->schemes[i];
                break;
            }
        return phi__opreq_refuse(
            a->r, "Error: This operation needs credentials that were not set up: %.80s (%s)",
            scheme != NULL ? scheme->name.at : "?", scheme != NULL ? kinds[scheme->kind] : "?");
    }
    if (phi__opauth_given(auth->bearer_token))
        return phi__opauth_bearer(a, phi_str_of(auth->bearer_token));
    return phi__opauth_given(auth->user) ? phi__opauth_basic(a) : PHI_OK;
}

/* ---- for the call ---- */

PHI__FN phi_status phi__opauth_begin(phi__openapi_auth *a, phi__openapi_request *r) {
    const phi_openapi_desc *desc = &r->op->api->desc;
    a->r = r;
    phi__secret_init(&a->secrets, r->arena);
    for (size_t i = 0; i < desc->header_count; i++)
        (void)phi__secret_header(&a->secrets, phi_str_of(desc->headers[i].name),
                                 phi_str_of(desc->headers[i].value));
    phi_status status = phi__opauth_choose(a);
    return status == PHI_OK && a->secrets.failed ? PHI_NO_MEMORY : status;
}

PHI__FN phi_status phi__opauth_token(phi__openapi_auth *a) {
    phi_openapi *api = a->r->op->api;
    const char *words = NULL;
    phi_str token = phi__str(NULL, 0);
    if (a->oauth == NULL) return PHI_OK;
    phi_status status = phi__token_get(api, phi__opauth_token_url(&api->desc.auth, a->oauth),
                                       a->oauth->scopes, a->oauth->scope_count, &a->wait, &token);
    if (status == PHI_BUSY || status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK) {
        (void)phi__error_last(api->rt, &words);
        return phi__opreq_refuse(a->r, "Error: HTTP request failed: the token server: %s", words);
    }
    if (!phi__arena_str(a->r->arena, token, &a->token)) return PHI_NO_MEMORY;
    status = phi__opauth_bearer(a, a->token);
    return status == PHI_OK && a->secrets.failed ? PHI_NO_MEMORY : status;
}

PHI__FN bool phi__opauth_again(phi__openapi_auth *a, int http_status) {
    if (http_status != 401 || a->oauth == NULL || a->refreshed) return false;
    a->refreshed = true;
    /* A server refused it: it is requested again, unless that was done meanwhile. */
    phi_openapi *api = a->r->op->api;
    phi_str text = a->token;
    if (api->calls != NULL) {
        for (phi__link *link = api->calls->tokens.first; link != NULL; link = link->next) {
            phi__openapi_token *t = PHI__OWNER(link, phi__openapi_token, link);
            if (t->valid && phi__token_same(&t->text, text)) phi__token_forget(t);
        }
    }
    return true;
}
