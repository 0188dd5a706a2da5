/* openapi_call.c - a call of an operation: makes a request of the arguments, waits for a token if
   one is needed, and makes the result from the answer.

   A timer drives the work on the body in slices. After that, the fetch and the token drive the
   call. A call ends once: by its result or by cancel. */
#include "openapi/api_in.h"

#include "agent/agent.h"
#include "base/base_in.h"
#include "loop/loop_in.h"
#include "openapi/openapi_request_in.h"
#include "text/text_in.h"
#include "wire/wire_in.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct phi__openapi_token phi__openapi_token;

/* A wait for a token. This struct is a part of the waiting object, and zeroed at first. */
typedef struct phi__openapi_wait {
    phi__link link;
    phi__openapi_token *token; /* NULL: no token is awaited */
    /* Called in phi_step after the wait has ended. PHI_OK: request the token again. Other statuses:
       the message says why there is no token. The function may end other waits and free agents. */
    void (*done)(struct phi__openapi_wait *wait, phi_status status, const char *message);
} phi__openapi_wait;

typedef struct phi__openapi_auth {
    phi__openapi_request *r; /* borrowed */
    /* scheme that needs a token of client credentials; NULL: none */
    const phi__operation_scheme *oauth;
    phi_str token;        /* the token that was used last; in the arena */
    phi__secrets secrets; /* all secrets in the request */
    phi__openapi_wait wait;
    bool refreshed;
} phi__openapi_auth;

/* ---- access tokens of OAuth2 client credentials (RFC 6749, 4.4) ---- */

/* A token belongs to the document, and is found by its URL and scopes. All agents share it. Calls
   that need a token at the same time share one request. A token is kept until shortly before it
   expires, or until a server refuses it. */

enum {
    PHI__OPENAPI_TOKEN_BYTES = 65536, /* max. bytes of a token server's answer */
    PHI__OPENAPI_TOKEN_EARLY_S = 30,  /* seconds from the renewal of a token to its end */
    PHI__OPENAPI_TOKEN_WORDS = 300
};

struct phi__openapi_token {
    phi_openapi *api;
    phi__link link;      /* in the list phi_openapi.tokens */
    phi__buf url, scope; /* scope: the scopes, joined by spaces */
    phi__buf text, answer;
    bool valid;
    uint64_t until_us;
    phi__fetch *fetch; /* NULL: the token is not being requested */
    int http_status;
    phi__list waiting;
};

/* Overwrites a credential before its memory is freed. */
static void phi__token_wipe(phi__buf *buf) {
    if (buf->at != NULL) memset(buf->at, 0, buf->cap);
    phi__buf_free(buf);
}

static void phi__token_forget(phi__openapi_token *t) {
    phi__token_wipe(&t->text);
    phi__token_wipe(&t->answer);
    t->valid = false;
}

static void phi__token_leave(phi__openapi_wait *wait) {
    if (wait->token == NULL) return;
    phi__list_take(&wait->token->waiting, &wait->link);
    wait->token = NULL;
}

static void phi__token_free(phi__openapi_token *t) {
    phi__fetch_close(t->fetch);
    phi__token_forget(t);
    phi__buf_free(&t->url);
    phi__buf_free(&t->scope);
    phi__free(&t->api->memory, t, sizeof *t);
}

static phi__openapi_token *phi__token_find(phi_openapi *api, phi_str url, phi_str scope) {
    for (phi__link *link = api->tokens.first; link != NULL; link = link->next) {
        phi__openapi_token *t = PHI__OWNER(link, phi__openapi_token, link);
        if (phi_str_equal(phi__buf_str(&t->url), url) &&
            phi_str_equal(phi__buf_str(&t->scope), scope))
            return t;
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
    phi__list_push(&api->tokens, &t->link);
    return t;
}

/* Returns "expires_in", a number or a string, in seconds; UINT64_MAX if there is none. */
static uint64_t phi__token_lifetime_s(phi_str answer) {
    phi__json_found found;
    int64_t n = 0;
    uint64_t u = 0;
    if (phi__json_cursor_find(answer, "expires_in", &found) != PHI_OK) return UINT64_MAX;
    if (found.type == PHI_JSON_STRING) return phi__str_to_u64(found.raw, &u) ? u : UINT64_MAX;
    return phi__json_cursor_found_int(&found, &n) && n >= 0 ? (uint64_t)n : UINT64_MAX;
}

/* Writes a message about the token server's error, shortened and without our secret. */
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
    if (secrets.failed) /* no memory to find the secret in the message */
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
            if (s == 0) s = 1; /* so that the waiting calls can use the token */
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
    phi__token_wipe(&t->answer);
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

static phi_status phi__token_request(phi__openapi_token *t) {
    const phi_openapi_desc *of = &t->api->desc;
    phi_status status = PHI_NO_MEMORY;
    phi__buf plain, basic, body;
    phi__token_forget(t);
    phi__buf_init(&plain, &t->api->memory);
    phi__buf_init(&basic, &t->api->memory);
    phi__buf_init(&body, &t->api->memory);
    /* RFC 6749, 2.3.1: base64 of "id:secret", each encoded as in a form. */
    phi__styles_put_escaped(&plain, phi_str_of(of->auth.client_id), PHI__ESCAPE_ALL);
    phi__buf_char(&plain, ':');
    phi__styles_put_escaped(&plain, phi_str_of(of->auth.client_secret), PHI__ESCAPE_ALL);
    phi__buf_text(&basic, "Basic ");
    phi__base64_encode(&basic, plain.at, plain.len);
    phi__buf_text(&body, "grant_type=client_credentials");
    if (t->scope.len > 0) {
        phi__buf_text(&body, "&scope=");
        phi__styles_put_escaped(&body, phi__buf_str(&t->scope), PHI__ESCAPE_ALL);
    }
    if (!plain.failed && !basic.failed && !body.failed) {
        const phi__header headers[] = {
            {PHI__LIT("Authorization"), phi__buf_str(&basic)},
            {PHI__LIT("Content-Type"), PHI__LIT("application/x-www-form-urlencoded")},
            {PHI__LIT("Accept"), PHI__LIT("application/json")}};
        phi__fetch_desc desc = PHI_ZERO;
        desc.memory = &t->api->memory;
        desc.method = PHI__LIT("POST");
        desc.url = phi__buf_str(&t->url);
        desc.headers = headers;
        desc.header_count = PHI__COUNT(headers);
        desc.body = phi__buf_str(&body);
        desc.deadlines.first_event_ms = desc.deadlines.total_ms = of->timeout_ms;
        desc.max_bytes = PHI__OPENAPI_TOKEN_BYTES;
        desc.on_head = phi__token_head;
        desc.on_body = phi__token_body;
        desc.on_end = phi__token_end;
        desc.user_data = t;
        status = phi__fetch_open(t->api->rt, &desc, &t->fetch);
    }
    phi__token_wipe(&plain);
    phi__token_wipe(&basic);
    phi__buf_free(&body);
    return status;
}

/* Gets a token. PHI_OK: *out is the token's text, borrowed until the next step. PHI_BUSY: the token
   was requested, and wait->done will be called. Other statuses: phi_last_error has the message. */
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

PHI__FN void phi__opcall_free(phi_openapi *api) {
    phi__link *next;
    for (phi__link *link = api->tokens.first; link != NULL; link = next) {
        next = link->next;
        phi__token_free(PHI__OWNER(link, phi__openapi_token, link));
    }
}

/* ---- the credentials of a request ---- */

/* The request uses the first alternative of the operation's security whose schemes can all be met.
   If the document requires no credentials, the bearer token is sent if there is one; otherwise user
   and password are sent if they are given. */

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

/* Returns the first scheme that is not met; NULL if all are met. */
static const phi__operation_scheme *phi__opauth_unmet(const phi_openapi_auth *auth,
                                                      const phi__operation_security *security) {
    for (size_t i = 0; i < security->count; i++)
        if (!phi__opauth_meets(auth, &security->schemes[i])) return &security->schemes[i];
    return NULL;
}

/* Adds `value` to the request as the Authorization header, and wipes `value`. */
static phi_status phi__opauth_header(phi__openapi_auth *a, phi__buf *value) {
    phi_status status = PHI_NO_MEMORY;
    if (!value->failed)
        status = phi__opreq_add(a->r, PHI__LIT("Authorization"), phi__buf_str(value), true);
    phi__token_wipe(value);
    return status;
}

static phi_status phi__opauth_bearer(phi__openapi_auth *a, phi_str token) {
    phi__buf value;
    phi__secret_add(&a->secrets, token);
    phi__buf_init(&value, a->r->memory);
    phi__buf_text(&value, "Bearer ");
    phi__buf_add_str(&value, token);
    return phi__opauth_header(a, &value);
}

static phi_status phi__opauth_basic(phi__openapi_auth *a) {
    const phi_openapi_auth *auth = &a->r->op->api->desc.auth;
    phi__buf plain, value;
    phi__buf_init(&plain, a->r->memory);
    phi__buf_init(&value, a->r->memory);
    phi__buf_text(&plain, auth->user);
    phi__buf_char(&plain, ':');
    phi__buf_add_str(&plain, phi_str_of(auth->password));
    phi__buf_text(&value, "Basic ");
    phi__base64_encode(&value, plain.at, plain.len);
    phi__secret_add(&a->secrets, phi__buf_str(&plain));
    phi__secret_add(&a->secrets, phi_str_of(auth->password));
    if (plain.failed) value.failed = true;
    phi__token_wipe(&plain);
    return phi__opauth_header(a, &value);
}

static phi_status phi__opauth_put(phi__openapi_auth *a, const phi__operation_scheme *scheme) {
    const phi_openapi_auth *auth = &a->r->op->api->desc.auth;
    if (scheme->kind == PHI__SCHEME_KEY) {
        phi__openapi_request *r = a->r;
        phi_str value = phi_str_of(phi__opauth_key(auth, scheme->name));
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
    static const char *const kinds[] = {"apiKey", "basic",         "bearer",
                                        "oauth2", "openIdConnect", "another kind"};
    const phi__operation *op = a->r->op;
    const phi_openapi_auth *auth = &op->api->desc.auth;
    if (!phi__opauth_given(auth->bearer_token) && !phi__opauth_given(auth->user) &&
        !phi__opauth_given(auth->client_id) && auth->key_count == 0)
        return PHI_OK;
    for (size_t i = 0; i < op->security_count; i++) {
        const phi__operation_security *security = &op->security[i];
        phi_status status = PHI_OK;
        if (phi__opauth_unmet(auth, security) != NULL) continue;
        for (size_t k = 0; k < security->count && status == PHI_OK; k++)
            status = phi__opauth_put(a, &security->schemes[k]);
        return status;
    }
    if (op->security_count > 0) {
        const phi__operation_scheme *scheme = phi__opauth_unmet(auth, &op->security[0]);
        return phi__opreq_refuse(
            a->r, "Error: This operation needs credentials that were not set up: %.80s (%s)",
            scheme->name.at, kinds[scheme->kind]);
    }
    if (phi__opauth_given(auth->bearer_token))
        return phi__opauth_bearer(a, phi_str_of(auth->bearer_token));
    return phi__opauth_given(auth->user) ? phi__opauth_basic(a) : PHI_OK;
}

/* Adds the credentials that need no token. On failure, returns PHI_BAD_ARG (the request has the
   message) or PHI_NO_MEMORY. */
static phi_status phi__opauth_begin(phi__openapi_auth *a, phi__openapi_request *r) {
    const phi_openapi_desc *desc = &r->op->api->desc;
    a->r = r;
    phi__secret_init(&a->secrets, r->arena);
    for (size_t i = 0; i < desc->header_count; i++)
        (void)phi__secret_header(&a->secrets, phi_str_of(desc->headers[i].name),
                                 phi_str_of(desc->headers[i].value));
    phi_status status = phi__opauth_choose(a);
    return status == PHI_OK && a->secrets.failed ? PHI_NO_MEMORY : status;
}

/* Adds the token to the request if one is needed. PHI_BUSY: wait.done will be called. */
static phi_status phi__opauth_token(phi__openapi_auth *a) {
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

/* True if the request must be sent again with a new token. This happens once at most. */
static bool phi__opauth_again(phi__openapi_auth *a, int http_status) {
    if (http_status != 401 || a->oauth == NULL || a->refreshed) return false;
    a->refreshed = true;
    /* Forget the refused token, unless another call has replaced it. */
    phi_openapi *api = a->r->op->api;
    for (phi__link *link = api->tokens.first; link != NULL; link = link->next) {
        phi__openapi_token *t = PHI__OWNER(link, phi__openapi_token, link);
        if (t->valid && phi_str_equal(phi__buf_str(&t->text), a->token)) phi__token_forget(t);
    }
    return true;
}

/* ---- a JSON text, shortened so that it stays valid ---- */

/* Arrays and objects lose whole items at their end, large members before small ones. Long strings
   lose their end. A note at each cut says how much was left out. */

enum {
    PHI__JSON_CUT_DEPTH = 8,    /* max. levels; deeper values that are too long become notes */
    PHI__JSON_CUT_NOTE = 48,    /* bytes reserved for a note, with its quotes and commas */
    PHI__JSON_CUT_MEMBERS = 64, /* max. members of an object that share its room */
    PHI__JSON_CUT_ROUNDS = 8
};

typedef struct phi__json_cut_value {
    phi_str key; /* with quotes; empty in an array */
    const char *at, *end;
    bool whole;
} phi__json_cut_value;

/* Reads the items of an array or an object, one after another. */
typedef struct phi__json_cut_scan {
    const char *at, *end;
    bool keys, whole, bad; /* whole: the closing bracket was seen */
} phi__json_cut_scan;

static const char *phi__json_cut_blank(const char *at, const char *end) {
    while (at < end && strchr(" \t\r\n", *at) != NULL && *at != '\0') at++;
    return at;
}

/* Returns the position after the closing quote; NULL if the text ends before it. */
static const char *phi__json_cut_string(const char *at, const char *end) {
    bool escaped;
    const char *quote = phi__json_text_quote(at + 1, end, &escaped);
    return quote != NULL && quote < end ? quote + 1 : NULL;
}

/* Returns the position after a value; NULL if the text ends inside of the value. */
static const char *phi__json_cut_skip(const char *at, const char *end) {
    size_t depth = 0;
    while (at != NULL && at < end) {
        char c = *at;
        if (c == '"') {
            at = phi__json_cut_string(at, end);
            if (depth == 0) return at;
            continue;
        }
        if (c == '[' || c == '{') depth++;
        if (depth == 0 && c != '\0' && strchr(",]} \t\r\n", c) != NULL) return at;
        at++;
        if ((c == ']' || c == '}') && --depth == 0) return at;
    }
    return NULL;
}

static phi__json_cut_scan phi__json_cut_scan_of(const phi__json_cut_value *value) {
    phi__json_cut_scan scan = PHI_ZERO;
    scan.keys = *value->at == '{';
    scan.at = value->at + 1;
    scan.end = value->end;
    return scan;
}

/* Reads the next item. False if there is none, or if the text is malformed. */
static bool phi__json_cut_next(phi__json_cut_scan *scan, phi__json_cut_value *out) {
    const char *at = phi__json_cut_blank(scan->at, scan->end), *behind;
    if (at < scan->end && *at == ',') at = phi__json_cut_blank(at + 1, scan->end);
    out->key = phi__str(NULL, 0);
    scan->whole = at < scan->end && (*at == ']' || *at == '}');
    if (at == scan->end || scan->whole) return false;
    if (scan->keys) {
        scan->bad = *at != '"';
        behind = scan->bad ? NULL : phi__json_cut_string(at, scan->end);
        if (behind == NULL) return false;
        out->key = phi__str(at, (size_t)(behind - at));
        at = phi__json_cut_blank(behind, scan->end);
        if (at == scan->end) return false;
        scan->bad = *at != ':';
        at = phi__json_cut_blank(at + 1, scan->end);
        if (scan->bad || at == scan->end) return false;
    }
    behind = phi__json_cut_skip(at, scan->end);
    out->at = at;
    out->whole = behind != NULL;
    out->end = scan->at = behind != NULL ? behind : scan->end;
    return true;
}

static size_t phi__json_cut_size(const phi__json_cut_value *value) {
    return value->key.len + 2 + (size_t)(value->end - value->at);
}

static void phi__json_cut_put(phi__buf *out, const phi__json_cut_value *value, size_t most,
                              int depth);

/* Writes a note in place of values that were left out, or of a number that is cut off. */
static void phi__json_cut_put_note(phi__buf *out, const char *what, size_t count, bool whole) {
    phi__buf_printf(out, "\"... %s%llu more %s\"", whole ? "" : "at least ",
                    (unsigned long long)count, what);
}

/* Returns the largest length up to `most` that splits no character and no escape. */
static size_t phi__json_cut_string_at(phi_str text, size_t most) {
    size_t i = 0, last = 0;
    most = phi__utf8_cut(text, phi__min(most, text.len));
    while (i < most) {
        size_t n = text.at[i] != '\\' ? 1 : i + 1 < text.len && text.at[i + 1] == 'u' ? 6 : 2;
        /* the halves of a surrogate pair stay together */
        if (n == 6 && i + 2 < text.len && (text.at[i + 2] == 'd' || text.at[i + 2] == 'D')) n = 12;
        last = i;
        i += n;
    }
    return i <= most ? i : last;
}

static void phi__json_cut_put_string(phi__buf *out, const phi__json_cut_value *value, size_t most) {
    size_t len = (size_t)(value->end - value->at) - 1;
    phi_str text = phi__str(value->at + 1, len);
    size_t keep = most > PHI__JSON_CUT_NOTE ? most - PHI__JSON_CUT_NOTE : 0;
    if (value->whole) text.len--;
    keep = phi__json_cut_string_at(text, keep);
    phi__buf_char(out, '"');
    phi__buf_add(out, text.at, keep);
    phi__buf_printf(out, "... [%s%llu more bytes]\"", value->whole ? "" : "at least ",
                    (unsigned long long)(text.len - keep));
}

static void phi__json_cut_put_member(phi__buf *out, const phi__json_cut_value *value, size_t most,
                                     int depth) {
    if (value->key.len > 0) {
        phi__buf_add_str(out, value->key);
        phi__buf_char(out, ':');
    }
    phi__json_cut_put(out, value, most - phi__min(most, value->key.len + 2), depth + 1);
}

/* Writes the items that fit. Shortens the first item that is too large if much room is left. */
static void phi__json_cut_put_first(phi__buf *out, const phi__json_cut_value *value, size_t most,
                                    int depth) {
    phi__json_cut_scan scan = phi__json_cut_scan_of(value);
    size_t left = most - phi__min(most, PHI__JSON_CUT_NOTE), given = 0, missing = 0;
    phi__json_cut_value item;
    bool full = false;
    while (phi__json_cut_next(&scan, &item)) {
        size_t size = phi__json_cut_size(&item);
        bool fits = item.whole && size <= left;
        if (!full && (fits || left >= most / 4)) {
            if (given++ > 0) phi__buf_char(out, ',');
            phi__json_cut_put_member(out, &item, left, depth);
            left -= phi__min(left, size);
        } else
            missing++;
        full = full || !fits;
    }
    if (scan.bad) out->failed = true; /* malformed JSON */
    if (missing == 0 && scan.whole) return;
    if (given > 0) phi__buf_char(out, ',');
    if (scan.keys) phi__buf_text(out, "\"...\":");
    phi__json_cut_put_note(out, scan.keys ? "members" : "items", missing, scan.whole);
}

/* Returns the room for each large member. Small members stay whole, large ones share the rest. */
static size_t phi__json_cut_share(const size_t *sizes, size_t count, size_t room) {
    size_t share = room / count, i;
    for (int round = 0; round < PHI__JSON_CUT_ROUNDS; round++) {
        size_t fixed = 0, large = 0;
        for (i = 0; i < count; i++) {
            if (sizes[i] <= share)
                fixed += sizes[i];
            else
                large++;
        }
        if (large == 0 || fixed > room) return share;
        share = (room - fixed) / large;
    }
    return share;
}

/* Writes all members, each within its share. False if members are too many or shares too small. */
static bool phi__json_cut_put_shared(phi__buf *out, const phi__json_cut_value *value, size_t most,
                                     int depth) {
    phi__json_cut_scan scan = phi__json_cut_scan_of(value);
    phi__json_cut_value members[PHI__JSON_CUT_MEMBERS], more;
    size_t sizes[PHI__JSON_CUT_MEMBERS], count = 0;
    while (phi__json_cut_next(&scan, &more)) {
        if (count == PHI__JSON_CUT_MEMBERS) return false;
        members[count] = more;
        sizes[count++] = more.whole ? phi__json_cut_size(&more) : most;
    }
    if (count == 0) return false;
    size_t share = phi__json_cut_share(sizes, count, most - phi__min(most, PHI__JSON_CUT_NOTE));
    if (share < (size_t)PHI__JSON_CUT_NOTE * 2) return false;
    if (scan.bad) out->failed = true; /* malformed JSON */
    for (size_t i = 0; i < count; i++) {
        if (i > 0) phi__buf_char(out, ',');
        phi__json_cut_put_member(out, &members[i], phi__min(share, sizes[i]), depth);
    }
    if (scan.whole) return true;
    phi__buf_text(out, ",\"...\":");
    phi__json_cut_put_note(out, "members", 0, false);
    return true;
}

static void phi__json_cut_put(phi__buf *out, const phi__json_cut_value *value, size_t most,
                              int depth) {
    size_t len = (size_t)(value->end - value->at);
    char c = *value->at;
    if (value->whole && len <= most)
        phi__buf_add(out, value->at, len);
    else if (c == '"')
        phi__json_cut_put_string(out, value, most);
    else if ((c != '[' && c != '{') || depth >= PHI__JSON_CUT_DEPTH ||
             most < (size_t)PHI__JSON_CUT_NOTE * 2)
        phi__json_cut_put_note(out, "bytes", len, value->whole);
    else {
        phi__buf_char(out, c);
        if (c == '[' || !phi__json_cut_put_shared(out, value, most, depth))
            phi__json_cut_put_first(out, value, most, depth);
        phi__buf_char(out, c == '[' ? ']' : '}');
    }
}

/* Appends the JSON text, shortened to about `most` bytes. `whole` must be false if the end of the
   text is missing. Returns false if the text is not JSON, `most` is too small, or there is no
   memory. `out` is then unchanged. */
static bool phi__json_cut(phi__buf *out, phi_str text, bool whole, size_t most) {
    const char *end = text.at + text.len;
    phi__buf cut;
    phi_arena arena;
    phi_json *root;
    phi__json_cut_value value = PHI_ZERO;
    value.at = text.len > 0 ? phi__json_cut_blank(text.at, end) : end;
    if (value.at == end || most < (size_t)PHI__JSON_CUT_NOTE * 2) return false;
    const char *behind = phi__json_cut_skip(value.at, end);
    value.end = behind != NULL ? behind : end;
    /* a number, true, false or null may end where the text ends */
    value.whole = behind != NULL || (whole && strchr("\"[{", *value.at) == NULL);
    phi__buf_init(&cut, out->memory);
    phi__json_cut_put(&cut, &value, most, 0);
    phi_arena_init(&arena, out->memory, 4096);
    bool done = !cut.failed &&
                phi_json_parse(&arena, phi__buf_str(&cut),
                               PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root, NULL) == PHI_OK;
    if (done) phi__buf_add_str(out, phi__buf_str(&cut));
    phi_arena_free(&arena);
    phi__buf_free(&cut);
    return done && !out->failed;
}

/* ---- the answer, and the content blocks made from it ---- */

/* A text is kept up to four times max_response_bytes, so that JSON can be shortened. Images are
   kept up to 4 MiB, and so are PDFs and audio if the model takes them. A longer answer goes into a
   file if there is a directory. Otherwise reading ends. Secrets of the request are hidden. */

typedef enum phi__openapi_form {
    PHI__FORM_TEXT,
    PHI__FORM_JSON,
    PHI__FORM_MEDIA, /* image, document or audio */
    PHI__FORM_BINARY,
    PHI__FORM_UNKNOWN /* no Content-Type: text if it is UTF-8 */
} phi__openapi_form;

typedef struct phi__openapi_answer {
    const phi__operation *op;
    phi_call call;
    const phi__secrets *secrets; /* borrowed */
    phi__openapi_form form;
    char type[80]; /* the media type, without its parameters */
    bool latin1;   /* the charset is Latin-1, or similar */
    int http_status;
    uint64_t total;          /* bytes received */
    uint64_t announced;      /* Content-Length; 0: none */
    phi__buf kept, incoming; /* incoming: bytes whose end may begin a secret */
    size_t most;             /* limit of `kept` in bytes */
    bool enough;             /* no more bytes are wanted */
#ifndef PHI_NO_FILES
    phi__file *file;
    bool saved, unsaved; /* unsaved: writing the file failed */
    phi__words words;
    char path[512];
#endif
} phi__openapi_answer;

enum {
    PHI__OPENAPI_ANSWER_TIMES = 4,            /* limit of a kept text, in max_response_bytes */
    PHI__OPENAPI_ANSWER_TEXT_MOST = 64 << 20, /* limit of a kept text, in bytes */
    PHI__OPENAPI_ANSWER_MEDIA_MOST = 4 << 20, /* limit of a shown image, PDF or sound, in bytes */
    PHI__OPENAPI_ANSWER_FILE_MOST = 1 << 30   /* limit of a saved file, in bytes */
};

/* Returns the name of an HTTP status, such as "OK"; empty if the status has no name. */
static phi_str phi__answer_reason(int http_status) {
    static const char rows[] =
        "|200 OK|201 Created|202 Accepted|203 Non Authoritative Information|204 No Content|"
        "205 Reset Content|206 Partial Content|207 Multi-Status|300 Multiple Choices|"
        "301 Moved Permanently|302 Found|303 See Other|304 Not Modified|"
        "307 Temporary Redirect|308 Permanent Redirect|400 Bad Request|401 Unauthorized|"
        "402 Payment Required|403 Forbidden|404 Not Found|405 Method Not Allowed|"
        "406 Not Acceptable|408 Request Timeout|409 Conflict|410 Gone|411 Length Required|"
        "412 Precondition Failed|413 Payload Too Large|414 URI Too Long|"
        "415 Unsupported Media Type|416 Range Not Satisfiable|418 I'm a teapot|"
        "422 Unprocessable Entity|423 Locked|424 Failed Dependency|428 Precondition Required|"
        "429 Too Many Requests|431 Request Header Fields Too Large|"
        "451 Unavailable For Legal Reasons|500 Internal Server Error|501 Not Implemented|"
        "502 Bad Gateway|503 Service Unavailable|504 Gateway Timeout|";
    char number[16];
    (void)snprintf(number, sizeof number, "|%d ", http_status);
    size_t at = phi__str_find(PHI__LIT(rows), 0, number);
    if (at == SIZE_MAX) return phi__str(NULL, 0);
    at += strlen(number);
    return phi__str(rows + at, phi__str_find(PHI__LIT(rows), at, "|") - at);
}

static bool phi__answer_among(phi_str type, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (phi__str_is_nocase(type, names[i])) return true;
    return false;
}

/* Returns the kind of block for an answer of this type; PHI_CONTENT_TEXT if there is none. */
static phi_content_kind phi__answer_kind_of(phi_str type) {
    static const char *const images[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    static const char *const sounds[] = {"audio/wav", "audio/mpeg", "audio/mp3"};
    if (phi__answer_among(type, images, PHI__COUNT(images))) return PHI_CONTENT_IMAGE;
    if (phi__answer_among(type, sounds, PHI__COUNT(sounds))) return PHI_CONTENT_AUDIO;
    return phi__str_is_nocase(type, "application/pdf") ? PHI_CONTENT_DOCUMENT : PHI_CONTENT_TEXT;
}

/* Returns the form of an answer. A document or audio that the model does not take is binary. */
static phi__openapi_form phi__answer_form(phi_call call, phi_str type) {
    phi_content_kind kind = phi__answer_kind_of(type);
    static const char *const texts[] = {
        "application/xml",          "application/javascript", "application/x-www-form-urlencoded",
        "application/yaml",         "application/x-yaml",     "application/graphql",
        "application/x-ndjson",     "application/jsonl",      "application/sql",
        "application/toml",         "application/xhtml+xml",  "message/rfc822",
        "application/problem+json", "image/svg+xml"};
    if (type.len == 0) return PHI__FORM_UNKNOWN;
    if (phi__str_is_nocase(type, "application/json") || phi__str_is_nocase(type, "text/json") ||
        phi__media_ends(type, "+json"))
        return PHI__FORM_JSON;
    if (kind == PHI_CONTENT_IMAGE ||
        (kind != PHI_CONTENT_TEXT && phi_agent_takes(phi_call_get_info(call).agent, kind, type)))
        return PHI__FORM_MEDIA;
    if (phi__str_is_nocase(phi__str(type.at, phi__min(type.len, 5)), "text/") ||
        phi__answer_among(type, texts, PHI__COUNT(texts)) || phi__media_ends(type, "+xml") ||
        phi__media_ends(type, "+yaml"))
        return PHI__FORM_TEXT;
    return PHI__FORM_BINARY;
}

static bool phi__answer_is_latin1(phi_str content_type) {
    static const char *const names[] = {"iso-8859-1", "iso-8859-15", "latin1", "windows-1252"};
    size_t at = phi__str_find_nocase(content_type, 0, "charset=");
    if (at == SIZE_MAX) return false;
    at += 8;
    if (at < content_type.len && content_type.at[at] == '"') at++;
    for (size_t i = 0; i < PHI__COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (content_type.len - at >= n &&
            phi__str_is_nocase(phi__str(content_type.at + at, n), names[i]))
            return true;
    }
    return false;
}

/* Returns the text before its first blank or unprintable character, at most `most` bytes. */
static phi_str phi__answer_word(phi_str text, size_t most) {
    size_t i;
    text = phi__str_trim(text);
    for (i = 0; i < text.len && i < most && text.at[i] > 32 && text.at[i] < 127;) i++;
    return phi__str(text.at, i);
}

static void phi__answer_head(phi__openapi_answer *a, int http_status, phi_str headers) {
    phi_str whole = phi__headers_value(headers, "content-type");
    size_t semicolon = phi__str_find(whole, 0, ";");
    phi_str type =
        phi__answer_word(phi__str(whole.at, phi__min(whole.len, semicolon)), sizeof a->type - 1);
    size_t most = a->op->api->desc.max_response_bytes;
    char *at;
    a->http_status = http_status;
    a->latin1 = phi__answer_is_latin1(whole);
    (void)snprintf(a->type, sizeof a->type, "%.*s", (int)type.len, type.at);
    /* Providers want the types of these blocks in lower case. */
    if (phi__answer_kind_of(phi_str_of(a->type)) != PHI_CONTENT_TEXT)
        for (at = a->type; *at != '\0'; at++)
            if (*at >= 'A' && *at <= 'Z') *at = (char)(*at - 'A' + 'a');
    a->form = phi__answer_form(a->call, phi_str_of(a->type));
    /* If a server compresses its answer unasked, the body is not decoded. */
    phi_str coding = phi__answer_word(phi__headers_value(headers, "content-encoding"), 20);
    size_t len = strlen(a->type);
    if (coding.len != 0 && !phi__str_is_nocase(coding, "identity")) {
        a->form = PHI__FORM_BINARY;
        (void)snprintf(a->type + len, sizeof a->type - len, "%s%.*s", len > 0 ? " in " : "",
                       (int)coding.len, coding.at);
    }
    (void)phi__secret_hide(a->secrets, a->type, strlen(a->type), PHI__SECRET_WORDS);
    if (!phi__str_to_u64(phi__headers_value(headers, "content-length"), &a->announced))
        a->announced = 0;
    a->most = a->form == PHI__FORM_MEDIA    ? (size_t)PHI__OPENAPI_ANSWER_MEDIA_MOST
              : a->form == PHI__FORM_BINARY ? 0
                                            : phi__min(phi__mul(most, PHI__OPENAPI_ANSWER_TIMES),
                                                       (size_t)PHI__OPENAPI_ANSWER_TEXT_MOST);
}

/* ---- the file ---- */

#ifdef PHI_NO_FILES
static void phi__answer_save(phi__openapi_answer *a, phi_str bytes) {
    (void)a;
    (void)bytes;
}
static void phi__answer_commit(phi__openapi_answer *a) { (void)a; }
static void phi__answer_note_file(phi__openapi_answer *a, phi__buf *out) {
    (void)a;
    (void)out;
}
static bool phi__answer_saves(const phi__openapi_answer *a) {
    (void)a;
    return false;
}
#else

static const char *phi__answer_directory(const phi__openapi_answer *a) {
    const char *directory = a->op->api->desc.response_directory;
    return directory != NULL && directory[0] != '\0' ? directory : NULL;
}

static bool phi__answer_saves(const phi__openapi_answer *a) {
    return phi__answer_directory(a) != NULL && !a->unsaved;
}

static const char *phi__answer_ending(const phi__openapi_answer *a) {
    static const char *const rows[][2] = {
        {"text/html", "html"},      {"text/csv", "csv"},      {"application/pdf", "pdf"},
        {"image/png", "png"},       {"image/jpeg", "jpg"},    {"image/gif", "gif"},
        {"image/webp", "webp"},     {"image/svg+xml", "svg"}, {"application/zip", "zip"},
        {"application/xml", "xml"}, {"text/xml", "xml"}};
    if (a->form == PHI__FORM_JSON) return "json";
    for (size_t i = 0; i < PHI__COUNT(rows); i++)
        if (phi__str_is_nocase(phi_str_of(a->type), rows[i][0])) return rows[i][1];
    return a->form == PHI__FORM_BINARY ? "bin" : "txt";
}

static void phi__answer_save(phi__openapi_answer *a, phi_str bytes) {
    if (!phi__answer_saves(a) || a->saved) return;
    if (a->file == NULL) {
        unsigned char random[16];
        char name[20];
        phi__cap_random(phi__call_find(a->call), random);
        for (size_t i = 0; i < 8; i++) (void)snprintf(name + 2 * i, 3, "%02x", random[i]);
        int n = snprintf(a->path, sizeof a->path, "%s/%s-%s.%s", phi__answer_directory(a),
                         a->op->name.at, name, phi__answer_ending(a));
        (void)snprintf(a->words.text, sizeof a->words.text, "its name is taken, or too long");
        a->unsaved = n < 0 || (size_t)n >= sizeof a->path ||
                     phi__files_open_new(a->kept.memory, a->path, &a->file, &a->words) != PHI_OK;
    }
    if (a->unsaved || bytes.len == 0) return;
    a->unsaved = phi__files_write(a->file, bytes.at, bytes.len, &a->words) != PHI_OK;
}

static void phi__answer_commit(phi__openapi_answer *a) {
    if (a->file == NULL || a->saved) return;
    if (!a->unsaved) a->unsaved = phi__files_commit(a->file, &a->words) != PHI_OK;
    a->saved = !a->unsaved;
    phi__files_close(a->file);
    a->file = NULL;
}

static void phi__answer_note_file(phi__openapi_answer *a, phi__buf *out) {
    if (a->saved)
        phi__buf_printf(out, "\n[The %s, %llu bytes: %s]",
                        a->enough ? "beginning of the answer" : "whole answer",
                        (unsigned long long)a->total, a->path);
    else if (a->unsaved)
        phi__buf_printf(out, "\n[The whole answer could not be saved: %s]", a->words.text);
}

#endif

/* Takes bytes in which secrets are hidden already: keeps them, saves them to the file, or both. */
static void phi__answer_take(phi__openapi_answer *a, phi_str bytes) {
    size_t room = a->most - a->kept.len;
    bool over = a->total > a->kept.len;
    if (bytes.len <= room && !over)
        phi__buf_add_str(&a->kept, bytes);
    else {
        if (!over) {
            phi__answer_save(a, phi__buf_str(&a->kept));
            phi__buf_add(&a->kept, bytes.at, phi__min(room, bytes.len));
        }
        phi__answer_save(a, bytes);
        a->enough =
            !phi__answer_saves(a) || a->total + bytes.len > (uint64_t)PHI__OPENAPI_ANSWER_FILE_MOST;
    }
    a->total += bytes.len;
}

/* Takes bytes of the body. False if no more bytes are wanted. */
static bool phi__answer_body(phi__openapi_answer *a, phi_str bytes) {
    if (a->secrets->count == 0) {
        phi__answer_take(a, bytes);
        return !a->enough && !a->kept.failed;
    }
    phi__buf_add_str(&a->incoming, bytes);
    if (a->incoming.failed) return false;
    (void)phi__secret_hide(a->secrets, a->incoming.at, a->incoming.len, PHI__SECRET_BYTES);
    size_t n = a->incoming.len - phi__secret_tail(a->secrets, phi__buf_str(&a->incoming));
    if (n > 0) phi__answer_take(a, phi__str(a->incoming.at, n));
    phi__buf_drop(&a->incoming, n);
    return !a->enough && !a->kept.failed;
}

/* ---- the result ---- */

/* Converts the kept text to UTF-8, without a byte order mark. */
static bool phi__answer_text(phi__openapi_answer *a, phi__buf *out) {
    phi_str text = phi__buf_str(&a->kept);
    size_t i;
    if (phi__str_starts(text, "\xEF\xBB\xBF")) text = phi__str(text.at + 3, text.len - 3);
    if (!a->latin1)
        phi__utf8_repair(out, text);
    else
        for (i = 0; i < text.len && !out->failed; i++) {
            char code[4];
            phi__buf_add(out, code, phi__utf8_put(code, (unsigned char)text.at[i]));
        }
    return !out->failed;
}

/* True if the answer is binary, whatever its type says. A NUL makes an answer binary: of all texts
   only those in UTF-16 have one, and UTF-16 is not supported. An answer without a type is text if
   it is UTF-8; its last character may be cut. */
static bool phi__answer_is_binary(const phi__openapi_answer *a) {
    phi_str bytes = phi__buf_str(&a->kept);
    if (a->form == PHI__FORM_MEDIA)
        return phi__answer_kind_of(phi_str_of(a->type)) == PHI_CONTENT_DOCUMENT &&
               !phi__str_starts(bytes, "%PDF-");
    if (bytes.len == 0) return false;
    return memchr(bytes.at, 0, bytes.len) != NULL ||
           (a->form == PHI__FORM_UNKNOWN && phi__utf8_valid(bytes) + 4 <= bytes.len);
}

/* Appends the text for the model to `out`. If the answer is an image, a document or audio, appends
   it to `media` in base64. Returns PHI_OK or PHI_NO_MEMORY. */
static phi_status phi__answer_finish(phi__openapi_answer *a, phi__buf *out, phi__buf *media) {
    if (a->incoming.len > 0) phi__answer_take(a, phi__buf_str(&a->incoming));
    phi__buf_clear(&a->incoming);
    if (phi__answer_is_binary(a)) a->form = PHI__FORM_BINARY;
    if (a->total == 0 && a->announced == 0) return PHI_OK;
    if (a->form == PHI__FORM_MEDIA && a->total == a->kept.len && !a->kept.failed)
        phi__base64_encode(media, a->kept.at, a->kept.len);
    else if (a->form == PHI__FORM_MEDIA || a->form == PHI__FORM_BINARY) {
        uint64_t bytes = a->announced > a->total ? a->announced : a->total;
        bool least = a->enough && a->announced == 0;
        phi__buf_printf(out, "[%s, %s%llu bytes: not text]",
                        a->type[0] != '\0' ? a->type : "Binary data", least ? "at least " : "",
                        (unsigned long long)bytes);
        if (a->total == a->kept.len) phi__answer_save(a, phi__buf_str(&a->kept));
    } else {
        size_t most = a->op->api->desc.max_response_bytes;
        bool whole = a->total == a->kept.len;
        phi__buf text;
        phi__buf_init(&text, out->memory);
        if (!phi__answer_text(a, &text)) {
            out->failed = true;
        } else if (whole && text.len <= most) {
            phi__buf_add_str(out, phi__buf_str(&text));
        } else {
            if (a->form != PHI__FORM_JSON || !phi__json_cut(out, phi__buf_str(&text), whole, most))
                phi__buf_add(out, text.at, phi__utf8_cut(phi__buf_str(&text), most));
            phi__buf_text(out, "\n... [truncated]");
            if (whole) phi__answer_save(a, phi__buf_str(&a->kept));
        }
        phi__buf_free(&text);
    }
    phi__answer_commit(a);
    phi__answer_note_file(a, out);
    return out->failed || media->failed || a->kept.failed ? PHI_NO_MEMORY : PHI_OK;
}

/* May be called twice, or for a zeroed answer. */
static void phi__answer_free(phi__openapi_answer *a) {
    if (a->op == NULL) return;
#ifndef PHI_NO_FILES
    phi__files_close(a->file);
    a->file = NULL;
#endif
    phi__buf_free(&a->kept);
    phi__buf_free(&a->incoming);
}

/* ---- a call of an operation ---- */

enum { PHI__OPENAPI_CALL_SLICES = 4 }; /* slices of the body that are made without a pause */

typedef struct phi__openapi_call {
    phi_call call;
    const phi__operation *op;
    phi_memory *memory; /* belongs to the agent */
    phi_arena arena;
    phi_json *arguments;
    phi__openapi_request request;
    phi__openapi_body body;
    phi__openapi_auth auth;
    phi__openapi_answer answer;
    phi__timer timer;
    phi__fetch *fetch;
    bool sent; /* the URL and the Cookie header are complete */
    bool ended;
    phi_str url;
} phi__openapi_call;

static void phi__opcall_end(phi__openapi_call *c) {
    if (c->ended) return;
    c->ended = true;
    phi__io_timer_clear(c->op->api->rt->io, &c->timer);
    phi__fetch_close(c->fetch);
    c->fetch = NULL;
    phi__token_leave(&c->auth.wait);
    phi__answer_free(&c->answer);
    phi__body_free(&c->body);
    phi__opreq_free(&c->request);
    /* the URL may hold a key */
    if (c->url.len > 0) memset((char *)(uintptr_t)c->url.at, 0, c->url.len);
    c->url.len = 0;
    phi_arena_free(&c->arena);
    c->op->api->calls_open--;
}

static void phi__opcall_give(phi__openapi_call *c, const phi_content *content, size_t count,
                             const char *details, bool is_error) {
    phi_tool_result result = PHI_ZERO;
    result.content = content;
    result.content_count = count;
    result.details = details;
    result.is_error = is_error;
    (void)phi_call_result(c->call, &result);
    phi__opcall_end(c);
}

/* Ends the call with an error. Its message is `words`, or "Out of memory" for PHI_NO_MEMORY. */
static void phi__opcall_fail(phi__openapi_call *c, phi_status status, const char *words) {
    phi_content content = PHI_ZERO;
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(status == PHI_NO_MEMORY ? "Out of memory" : words);
    phi__opcall_give(c, &content, 1, NULL, true);
}

static void phi__opcall_failed(phi__openapi_call *c, phi_status status, const char *message) {
    char words[500];
    (void)snprintf(words, sizeof words, "Error: HTTP request failed: %s", message);
    phi__opcall_fail(c, status, words);
}

static void phi__opcall_result(phi__openapi_call *c) {
    phi__buf text, media, details;
    phi_content content[2] = PHI_ZERO;
    phi__buf_init(&text, c->memory);
    phi__buf_init(&media, c->memory);
    phi__buf_init(&details, c->memory);
    phi_str reason = phi__answer_reason(c->answer.http_status);
    phi__buf_add_str(&text, c->op->method);
    phi__buf_char(&text, ' ');
    phi__buf_add_str(&text, phi__buf_str(&c->request.url));
    phi__buf_printf(&text, " \xE2\x86\x92 %d%s", c->answer.http_status, reason.len > 0 ? " " : "");
    phi__buf_add_str(&text, reason);
    phi__buf_text(&text, "\n\n");
    phi__buf_printf(&details, "{\"status\":%d,\"method\":", c->answer.http_status);
    phi__json_write_str(&details, c->op->method);
    phi__buf_text(&details, ",\"url\":");
    phi__json_write_str(&details, phi__buf_str(&c->request.url));
    phi__buf_char(&details, '}');
    phi__buf_char(&details, '\0');
    if (phi__answer_finish(&c->answer, &text, &media) != PHI_OK || details.failed) {
        phi__opcall_fail(c, PHI_NO_MEMORY, NULL);
    } else {
        content[0].kind = PHI_CONTENT_TEXT;
        content[0].text = phi__buf_str(&text);
        content[1].kind = phi__answer_kind_of(phi_str_of(c->answer.type));
        content[1].data = phi__buf_str(&media);
        content[1].mime_type = phi_str_of(c->answer.type);
        phi__opcall_give(c, content, media.len > 0 ? 2 : 1, details.at, false);
    }
    phi__buf_free(&text);
    phi__buf_free(&media);
    phi__buf_free(&details);
}

/* ---- the request under way ---- */

static void phi__opcall_authorize(phi__openapi_call *c);

static void phi__opcall_head(void *user_data, int http_status, phi_str headers) {
    phi__openapi_call *c = (phi__openapi_call *)user_data;
    if (!phi__opauth_again(&c->auth, http_status)) {
        phi__answer_head(&c->answer, http_status, headers);
        return;
    }
    phi__fetch_close(c->fetch);
    c->fetch = NULL;
    phi__opcall_authorize(c);
}

static size_t phi__opcall_body(void *user_data, phi_str bytes) {
    phi__openapi_call *c = (phi__openapi_call *)user_data;
    if (phi__answer_body(&c->answer, bytes)) return bytes.len;
    phi__fetch_close(c->fetch);
    c->fetch = NULL;
    phi__opcall_result(c);
    return bytes.len;
}

static void phi__opcall_over(void *user_data, phi_status status, const char *message) {
    phi__openapi_call *c = (phi__openapi_call *)user_data;
    c->fetch = NULL;
    if (status == PHI_OK)
        phi__opcall_result(c);
    else
        phi__opcall_failed(c, status, message);
}

/* ---- sending ---- */

/* Completes the URL and the Cookie header. The host's cookies come before those of arguments. */
static phi_status phi__opcall_complete(phi__openapi_call *c) {
    phi__openapi_request *r = &c->request;
    phi_status status = PHI_OK;
    phi__buf whole;
    if (c->sent) return PHI_OK;
    c->sent = true;
    phi__buf_init(&whole, c->memory);
    phi__buf_add_str(&whole, phi__buf_str(&r->url));
    if (r->query.len > 0) {
        phi__buf_char(&whole, phi__str_find(phi__buf_str(&r->url), 0, "?") == SIZE_MAX ? '?' : '&');
        phi__buf_add_str(&whole, phi__buf_str(&r->query));
    }
    if (whole.failed || !phi__arena_str(&c->arena, phi__buf_str(&whole), &c->url))
        status = PHI_NO_MEMORY;
    if (r->cookie.len > 0 && status == PHI_OK) {
        phi__buf_clear(&whole);
        for (size_t i = 0; i < r->count; i++)
            if (phi__str_is_nocase(r->headers[i].name, "Cookie")) {
                phi__buf_add_str(&whole, r->headers[i].value);
                phi__buf_text(&whole, "; ");
            }
        phi__buf_add_str(&whole, phi__buf_str(&r->cookie));
        status = whole.failed ? PHI_NO_MEMORY
                              : phi__opreq_add(r, PHI__LIT("Cookie"), phi__buf_str(&whole), true);
    }
    phi__buf_free(&whole);
    return status;
}

static void phi__opcall_send(phi__openapi_call *c) {
    const phi_openapi_desc *of = &c->op->api->desc;
    phi_runtime *rt = c->op->api->rt;
    const char *words = NULL;
    phi_status status = phi__opcall_complete(c);
    phi__fetch_desc desc = PHI_ZERO;
    desc.memory = c->memory;
    desc.method = c->op->method;
    desc.url = c->url;
    desc.headers = c->request.headers;
    desc.header_count = c->request.count;
    desc.pieces = c->body.pieces;
    desc.piece_count = c->body.count;
    desc.deadlines.first_event_ms = desc.deadlines.idle_ms = of->timeout_ms;
    desc.deadlines.total_ms = of->timeout_ms;
    desc.on_head = phi__opcall_head;
    desc.on_body = phi__opcall_body;
    desc.on_end = phi__opcall_over;
    desc.user_data = c;
    if (status == PHI_OK) status = phi__fetch_open(rt, &desc, &c->fetch);
    if (status == PHI_OK) return;
    (void)phi__error_last(rt, &words);
    phi__opcall_failed(c, status, words);
}

static void phi__opcall_token_done(phi__openapi_wait *wait, phi_status status,
                                   const char *message) {
    phi__openapi_auth *auth = PHI__OWNER(wait, phi__openapi_auth, wait);
    phi__openapi_call *c = PHI__OWNER(auth, phi__openapi_call, auth);
    if (status == PHI_OK)
        phi__opcall_authorize(c);
    else
        phi__opcall_failed(c, status, message);
}

static void phi__opcall_authorize(phi__openapi_call *c) {
    c->auth.wait.done = phi__opcall_token_done;
    phi_status status = phi__opauth_token(&c->auth);
    if (status == PHI_OK)
        phi__opcall_send(c);
    else if (status != PHI_BUSY)
        phi__opcall_fail(c, status, c->request.message);
}

/* ---- building ---- */

/* Makes the body in slices, then sends the request. */
static void phi__opcall_go(phi__timer *timer) {
    phi__openapi_call *c = PHI__OWNER(timer, phi__openapi_call, timer);
    phi__io *io = c->op->api->rt->io;
    phi__openapi_answer *a = &c->answer;
    phi_status status = PHI_BUSY;
    for (int slices = 0; slices < PHI__OPENAPI_CALL_SLICES && status == PHI_BUSY; slices++)
        status = phi__body_advance(&c->body);
    if (status == PHI_BUSY) {
        status = phi__io_timer_set(io, &c->timer, phi__io_now_us(io));
        if (status == PHI_OK) return;
    } else if (status == PHI_OK)
        status = phi__opauth_begin(&c->auth, &c->request);
    if (status != PHI_OK) {
        phi__opcall_fail(c, status, c->request.message);
        return;
    }
    memset(a, 0, sizeof *a);
    a->op = c->op;
    a->call = c->call;
    a->secrets = &c->auth.secrets;
    phi__buf_init(&a->kept, c->memory);
    phi__buf_init(&a->incoming, c->memory);
    phi__opcall_authorize(c);
}

static void phi__opcall_gone(void *state) {
    phi__openapi_call *c = (phi__openapi_call *)state;
    if (c->op != NULL) phi__opcall_end(c);
}

static phi_flow phi__opcall_start(void *user_data, phi_call call, phi_str arguments) {
    static const char foreign[] = "Error: This tool belongs to a document of another runtime";
    phi__openapi_call *c = (phi__openapi_call *)phi_call_state(call, sizeof *c);
    const phi__toolcall *toolcall = phi__call_find(call);
    phi_parse_error error;
    char words[200];
    if (call.rt != ((const phi__operation *)user_data)->api->rt) {
        (void)phi_call_fail(call, foreign);
        return PHI_DONE;
    }
    if (c == NULL || toolcall == NULL) {
        (void)phi_call_fail(call, "Out of memory");
        return PHI_DONE;
    }
    c->call = call;
    c->op = (const phi__operation *)user_data;
    c->memory = &toolcall->run->agent->memory;
    c->timer.fire = phi__opcall_go;
    c->op->api->calls_open++;
    phi_arena_init(&c->arena, c->memory, 1024);
    phi__call_on_gone(call, phi__opcall_gone);
    if (phi__str_trim(arguments).len == 0) arguments = PHI__LIT("{}");
    phi_status status =
        phi_json_parse(&c->arena, arguments, PHI_JSON_REPLACE_BAD_UTF8, &c->arguments, &error);
    if (status == PHI_OK && phi_json_is(c->arguments, PHI_JSON_NULL))
        c->arguments = phi_json_new_object(&c->arena);
    if (status == PHI_OK && c->arguments == NULL) status = PHI_NO_MEMORY;
    if (status != PHI_OK || !phi_json_is(c->arguments, PHI_JSON_OBJECT)) {
        (void)snprintf(words, sizeof words, "Error: Expected object parameters, got %s",
                       status == PHI_OK ? phi__json_get_type_name(c->arguments)
                                        : "text that is not JSON");
        phi__opcall_fail(c, status, words);
        return PHI_PENDING;
    }
    phi__opreq_init(&c->request, &c->arena, c->memory, c->op, c->arguments);
    status = phi__opreq_build(&c->request);
    if (status != PHI_OK) {
        phi__opcall_fail(c, status, c->request.message);
        return PHI_PENDING;
    }
    phi__body_begin(&c->body, &c->request, c->call);
    phi__opcall_go(&c->timer);
    return PHI_PENDING; /* the call may have its result already */
}

static void phi__opcall_cancel(void *user_data, phi_call call) {
    phi__openapi_call *c = (phi__openapi_call *)phi_call_state(call, 0);
    (void)user_data;
    if (c != NULL && c->op != NULL) phi__opcall_end(c);
}

/* After a snapshot, repeats a request that only reads. Any other request fails, because the server
   may have served it already. */
static phi_flow phi__opcall_resume(void *user_data, phi_call call, phi_str arguments) {
    if (((const phi__operation *)user_data)->read_only)
        return phi__opcall_start(user_data, call, arguments);
    (void)phi_call_fail(call, "Interrupted: the program was started anew while this request was "
                              "under way; whether the server has served it is not known");
    return PHI_DONE;
}

PHI__FN void phi__opcall_fill(phi_tool *tool) {
    const phi__operation *op = (const phi__operation *)tool->user_data;
    tool->start = phi__opcall_start;
    tool->cancel = phi__opcall_cancel;
    tool->resume = phi__opcall_resume;
    /* Long enough for a token, the request, another token and the request again. */
    uint32_t ms = op->api->desc.timeout_ms;
    tool->timeout_ms = ms > UINT32_MAX / 8 ? PHI_UNLIMITED : ms * 4 + 5000;
    tool->unlisted = true;
}
