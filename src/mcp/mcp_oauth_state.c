/* mcp_oauth_state.c - requests and messages of an authorization. */
#include "mcp/mcp_oauth_state_in.h"

#include "base/words_in.h"
#include "io/secret_in.h"
#include "wire/headers_in.h"

#include <stdarg.h>
#include <stdio.h>

/* "Bearer token" or "DPoP token" */
static void phi__mcp_oauth_state_add_bearer(phi__secrets *set, phi_str bearer) {
    size_t at = phi__str_find(bearer, 0, " ");
    if (at != SIZE_MAX) phi__secret_add(set, phi__str(bearer.at + at + 1, bearer.len - at - 1));
}

/* No secret of ours stands in a message, though a server puts it there. */
static bool phi__mcp_oauth_state_hide(phi__mcp_oauth *o, char *words, size_t len) {
    phi__secrets set;
    phi_arena arena;
    bool fine;
    phi_arena_init(&arena, &o->memory, 1024);
    phi__secret_init(&set, &arena);
    phi__mcp_oauth_state_add_bearer(&set, o->grant.bearer);
    phi__mcp_oauth_state_add_bearer(&set, o->grant.spent[0]);
    phi__secret_add(&set, o->grant.refresh);
    phi__secret_add(&set, o->grant.spent[1]);
    phi__secret_add(&set, o->client.secret);
    phi__secret_add(&set, phi_str_of(o->desc->client_secret));
    phi__secret_add(&set, o->ask.state);
    phi__secret_add(&set, o->ask.verifier);
    phi__secret_add(&set, o->ask.code);
    phi__secret_add(&set, o->ask.assertion);
    if (o->desc->grant == PHI_MCP_GRANT_ASSERTION)
        phi__secret_add(&set, phi__buf_str(&o->redirected));
    fine = !set.failed;
    if (fine) (void)phi__secret_hide(&set, words, len, PHI__SECRET_WORDS);
    phi_arena_free(&arena);
    return fine;
}

PHI__FN phi_status phi__mcp_oauth_state_fail(phi__mcp_oauth *o, phi_status status,
                                             const char *format, ...) {
    char words[PHI__MCP_OAUTH_MESSAGE];
    va_list args;
    size_t n;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    n = phi__words_clean_line(words, strlen(words));
    words[n] = '\0';
    if (!phi__mcp_oauth_state_hide(o, words, n))
        (void)snprintf(words, sizeof words, "%s", phi_status_text(PHI_NO_MEMORY));
    (void)snprintf(o->message, sizeof o->message, "authorization: %.*s",
                   (int)sizeof o->message - 20, words);
    /* a host's function may say so, and then nothing goes on that would end it */
    return status == PHI_BUSY ? PHI_BAD_ARG : status;
}

PHI__FN const char *phi__mcp_oauth_state_shown(phi__mcp_oauth *o, phi_str text, size_t most) {
    phi_str copy;
    if (!phi__arena_str(&o->arena, text, &copy) ||
        !phi__mcp_oauth_state_hide(o, (char *)(uintptr_t)copy.at, copy.len))
        return "";
    if (copy.len > most) ((char *)(uintptr_t)copy.at)[most] = '\0';
    return copy.at;
}

PHI__FN bool phi__mcp_oauth_state_person(const phi__mcp_oauth *o) {
    return o->desc->grant == PHI_MCP_GRANT_PERSON;
}

PHI__FN void phi__mcp_oauth_state_wake(phi__mcp_oauth *o) {
    /* it has its place since the object was made: this needs no memory */
    (void)phi__io_timer_set(o->rt->io, &o->timer, phi__io_now_us(o->rt->io));
}

/* ---- requests ---- */

PHI__FN void phi__mcp_oauth_state_nonce(phi__buf *nonce, phi_str headers) {
    phi_str value = phi__str_trim(phi__headers_value(headers, "dpop-nonce"));
    if (value.len > PHI__MCP_OAUTH_NONCE_BYTES || !phi__mcp_oauth_words_printable(value)) return;
    phi__buf_clear(nonce);
    phi__buf_add_str(nonce, value);
    if (nonce->failed) phi__buf_free(nonce); /* the server asks for it again */
}

static void phi__mcp_oauth_state_head(void *user_data, int http_status, phi_str headers) {
    phi__mcp_oauth *o = (phi__mcp_oauth *)user_data;
    o->sent.http_status = http_status;
    if (o->step == PHI__MCP_OAUTH_REFRESH || o->step == PHI__MCP_OAUTH_EXCHANGE)
        phi__mcp_oauth_state_nonce(&o->nonces[0], headers);
}

static size_t phi__mcp_oauth_state_body(void *user_data, phi_str bytes) {
    phi__buf_add_str(&((phi__mcp_oauth *)user_data)->sent.answer, bytes);
    return bytes.len;
}

static void phi__mcp_oauth_state_end(void *user_data, phi_status status, const char *message) {
    phi__mcp_oauth *o = (phi__mcp_oauth *)user_data;
    o->sent.fetch = NULL;
    o->sent.ended = true;
    o->sent.status = status;
    if (status == PHI_OK && o->sent.answer.failed) {
        o->sent.status = PHI_NO_MEMORY;
        message = phi_status_text(PHI_NO_MEMORY);
    }
    (void)snprintf(o->sent.message, sizeof o->sent.message, "%s", message != NULL ? message : "");
    phi__mcp_oauth_state_wake(o);
}

static phi_status phi__mcp_oauth_state_send(phi__mcp_oauth *o, phi__fetch_desc *desc,
                                            const char *what) {
    phi_status status;
    const char *words = NULL;
    phi__buf_free(&o->sent.answer);
    o->sent.what = what;
    o->sent.ended = false;
    o->sent.http_status = 0;
    desc->memory = &o->memory;
    desc->deadlines.first_event_ms = desc->deadlines.total_ms = PHI__MCP_OAUTH_FETCH_MS;
    desc->on_head = phi__mcp_oauth_state_head;
    desc->on_body = phi__mcp_oauth_state_body;
    desc->on_end = phi__mcp_oauth_state_end;
    desc->user_data = o;
    status = phi__fetch_open(o->rt, desc, &o->sent.fetch);
    if (status == PHI_OK) return PHI_BUSY;
    (void)phi__error_last(o->rt, &words);
    return phi__mcp_oauth_state_fail(o, status, "%s: %s", what, words != NULL ? words : "");
}

PHI__FN phi_status phi__mcp_oauth_state_get(phi__mcp_oauth *o, phi_str url, const char *what) {
    phi__header header;
    phi__fetch_desc desc;
    header.name = PHI__LIT("Accept");
    header.value = PHI__LIT("application/json");
    memset(&desc, 0, sizeof desc);
    desc.method = PHI__LIT("GET");
    desc.url = url;
    desc.headers = &header;
    desc.header_count = 1;
    desc.max_bytes = PHI__MCP_OAUTH_DOCUMENT;
    return phi__mcp_oauth_state_send(o, &desc, what);
}

PHI__FN phi_status phi__mcp_oauth_state_post(phi__mcp_oauth *o, phi_str url, const char *type,
                                             phi_str basic, phi_str proof, phi_str body,
                                             const char *what) {
    phi__header headers[4];
    phi__fetch_desc desc;
    headers[0].name = PHI__LIT("Accept");
    headers[0].value = PHI__LIT("application/json");
    headers[1].name = PHI__LIT("Content-Type");
    headers[1].value = phi_str_of(type);
    memset(&desc, 0, sizeof desc);
    desc.header_count = 2;
    if (basic.len > 0) {
        headers[desc.header_count].name = PHI__LIT("Authorization");
        headers[desc.header_count++].value = basic;
    }
    if (proof.len > 0) {
        headers[desc.header_count].name = PHI__LIT("DPoP");
        headers[desc.header_count++].value = proof;
    }
    desc.method = PHI__LIT("POST");
    desc.url = url;
    desc.headers = headers;
    desc.body = body;
    desc.max_bytes = PHI__MCP_OAUTH_ANSWER;
    return phi__mcp_oauth_state_send(o, &desc, what);
}

PHI__FN phi_status phi__mcp_oauth_state_answered(phi__mcp_oauth *o) {
    if (o->sent.status == PHI_OK) return PHI_OK;
    return phi__mcp_oauth_state_fail(o, o->sent.status, "%s: %s", o->sent.what, o->sent.message);
}
