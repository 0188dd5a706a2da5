/* mcp_http.c - the link over HTTP: its connection and its POSTs. */
#include "mcp/mcp_http_in.h"

#include "loop/loop_in.h"
#include "mcp/mcp_head_in.h"
#include "mcp/mcp_in.h"
#include "text/json.h"

#include <stdio.h>

enum {
    PHI__MCP_HTTP_LINGER_MS = 1000, /* for the end of a stream whose answer has come */
    PHI__MCP_HTTP_TRIES = 8,        /* to resume a stream, without a message between */
    PHI__MCP_HTTP_CLOSING_US = 10000
};

static phi__mcp_http *phi__mcp_http_of(const phi__mcp_link *link) {
    return PHI__OWNER((uintptr_t)link, phi__mcp_http, link);
}

/* ---- what answers mean ---- */

static bool phi__mcp_http_message(phi__mcp_exchange *e, phi_str event, phi_str json) {
    if (json.len == 0) return true; /* an event that only has an id */
    if (event.len > 0 && !phi__str_is(event, "message")) return true;
    return phi__mcp_session_message(e->wire->mcp, json, e->out);
}

/* An error by which a server of 2026-07-28 shows that it is one: mismatching headers, a capability
   that is missing, a version. */
static bool phi__mcp_http_is_modern_error(phi_str body) {
    phi__json_found found;
    int64_t code = 0;
    return phi__json_cursor_find(body, "error.code", &found) == PHI_OK &&
           phi__json_cursor_found_int(&found, &code) && code <= -32020 && code >= -32022;
}

/* A refusal of initialize, as servers of the old transport answer. */
static bool phi__mcp_http_maybe_old(const phi__mcp_exchange *e, phi_status status) {
    int http = e->http_status;
    return status == PHI_REFUSED && e->initialize && e->url.len == 0 &&
           (http == 400 || http == 404 || http == 405) &&
           !phi__mcp_http_is_modern_error(phi__buf_str(&e->body));
}

static bool phi__mcp_http_resumable(const phi__mcp_exchange *e, phi_status status) {
    const phi__mcp_http *http = (const phi__mcp_http *)e->owner;
    bool get = strcmp(e->kind->method, "GET") == 0;
    if (http->closing || e->denied || e->resume.id.len == 0 || e->tries >= PHI__MCP_HTTP_TRIES)
        return false;
    if (e->wire->era != NULL && !e->wire->era->resumption) return false;
    if (get && status == PHI_REFUSED) return e->http_status >= 500;
    if (!get && e->shape != PHI__MCP_SHAPE_SSE) return false;
    return status == PHI_OK || status == PHI_NETWORK || status == PHI_TLS ||
           status == PHI_TIMEOUT || status == PHI_UNREACHABLE;
}

static bool phi__mcp_http_ended(phi__mcp_exchange *e, phi_status status);

/* Nobody waits any more, or a broken stream is to be resumed. */
static void phi__mcp_http_late(phi__mcp_exchange *e) {
    phi_status status;
    if (e->out == NULL) {
        phi__mcp_exchange_close(e);
        return;
    }
    status = phi__mcp_exchange_send(e);
    if (status != PHI_OK) (void)phi__mcp_http_ended(e, status);
}

static const phi__mcp_exchange_kind *phi__mcp_http_resuming(void) {
    static const phi__mcp_exchange_kind kind = {"GET",
                                                "text/event-stream",
                                                false,
                                                false,
                                                phi__mcp_http_message,
                                                phi__mcp_http_ended,
                                                phi__mcp_http_late};
    return &kind;
}

/* A notification, or an answer of ours, that was refused. */
static bool phi__mcp_http_unsent(phi__mcp_exchange *e, phi_status status) {
    phi_mcp *mcp = e->wire->mcp;
    char words[sizeof e->words + 40];
    bool expired = e->http_status == 404 && e->in_session && e->epoch == e->wire->epoch;
    bool refused = status == PHI_REFUSED && e->json.len > 0;
    (void)snprintf(words, sizeof words, "a notification was refused: %s", e->words);
    phi__mcp_exchange_close(e);
    if (expired) return phi__mcp_session_expired(mcp, NULL);
    return !refused || phi__mcp_session_warn(mcp, words);
}

static bool phi__mcp_http_ended(phi__mcp_exchange *e, phi_status status) {
    phi__mcp_http *http = (phi__mcp_http *)e->owner;
    phi__mcp_out *out = e->out;
    if (out == NULL) return phi__mcp_http_unsent(e, status);
    if (e->http_status == 404 && e->in_session && e->epoch == e->wire->epoch) {
        phi__mcp_exchange_close(e);
        return phi__mcp_session_expired(http->link.mcp, out);
    }
    if (phi__mcp_http_maybe_old(e, status)) return phi__mcp_stream_old(http, e);
    if (phi__mcp_http_resumable(e, status)) {
        e->kind = phi__mcp_http_resuming();
        status = phi__mcp_exchange_later(e, phi__mcp_stream_delay(e));
        if (status == PHI_OK) return true;
    }
    if (status == PHI_OK && e->shape == PHI__MCP_SHAPE_SSE) {
        (void)snprintf(e->words, sizeof e->words, "the stream has ended without an answer");
        status = PHI_NETWORK;
    } else if (status == PHI_OK) {
        (void)snprintf(e->words, sizeof e->words, "HTTP %d from server: no answer to the request",
                       e->http_status);
        status = PHI_PARSE;
    }
    return phi__mcp_stream_lose(e, status);
}

/* Over the old transport the answer comes by its stream. */
static bool phi__mcp_http_posted(phi__mcp_exchange *e, phi_status status) {
    if (e->out == NULL) return phi__mcp_http_unsent(e, status);
    if (status != PHI_OK) return phi__mcp_stream_lose(e, status);
    phi__mcp_exchange_close(e);
    return true;
}

/* ---- sending ---- */

static const phi__mcp_exchange_kind *phi__mcp_http_kind(const phi__mcp_http *http,
                                                        const phi__mcp_out *out) {
    static const phi__mcp_exchange_kind post = {"POST",
                                                "application/json, text/event-stream",
                                                false,
                                                false,
                                                phi__mcp_http_message,
                                                phi__mcp_http_ended,
                                                phi__mcp_http_late};
    static const phi__mcp_exchange_kind told = {"POST",
                                                "application/json, text/event-stream",
                                                false,
                                                true,
                                                phi__mcp_http_message,
                                                phi__mcp_http_ended,
                                                phi__mcp_http_late};
    if (http->old) return http->posts;
    return out->request ? &post : &told;
}

static const phi__mcp_exchange_kind *phi__mcp_http_old(void) {
    static const phi__mcp_exchange_kind old = {"POST",
                                               "application/json, text/event-stream",
                                               false,
                                               true,
                                               phi__mcp_http_message,
                                               phi__mcp_http_posted,
                                               NULL};
    return &old;
}

static phi_status phi__mcp_http_send(phi__mcp_link *link, phi__mcp_out *out) {
    phi__mcp_http *http = phi__mcp_http_of(link);
    phi__mcp_exchange *e;
    phi_status status = PHI_OK;
    if (http->closing && out->request) return PHI_MISUSE;
    if (!out->request && http->wire.notes >= PHI__MCP_EXCHANGE_NOTES) {
        http->wire.full = true; /* a server can ask faster than it takes our answers */
        return PHI_FULL;
    }
    e = phi__mcp_exchange_new(&http->wire, phi__mcp_http_kind(http, out), out->request ? out : NULL,
                              out->json);
    if (e == NULL) return PHI_NO_MEMORY;
    e->owner = http;
    if (!out->request) phi__mcp_exchange_count(e);
    if (phi__str_is(out->method, "notifications/initialized")) http->wire.gate = e;
    if (http->old && http->endpoint.len == 0 && e->initialize) {
        status = phi__mcp_stream_again(http, e);
    } else {
        if (http->old) phi__buf_add_str(&e->url, phi__buf_str(&http->endpoint));
        status = e->url.failed ? PHI_NO_MEMORY : phi__mcp_exchange_send(e);
    }
    if (status != PHI_OK) phi__mcp_exchange_close(e);
    return status;
}

static void phi__mcp_http_forget(phi__mcp_link *link, phi__mcp_out *out) {
    phi__mcp_http *http = phi__mcp_http_of(link);
    phi__mcp_exchange *e = (phi__mcp_exchange *)out->of_link;
    if (e == NULL) return;
    if (e == http->first) {
        http->first = NULL;
        phi__mcp_stream_close(http);
    }
    phi__mcp_exchange_detach(e);
    /* An answer was reported: its stream ends by itself, and the connection can be used again. */
    if (!e->busy || phi__mcp_exchange_later(e, PHI__MCP_HTTP_LINGER_MS) != PHI_OK)
        phi__mcp_exchange_close(e);
}

static void phi__mcp_http_agreed(phi__mcp_link *link, const char *version, bool modern) {
    phi__mcp_http *http = phi__mcp_http_of(link);
    phi__mcp_wire *wire = &http->wire;
    wire->era = version != NULL ? phi__mcp_eras_find(phi_str_of(version)) : NULL;
    (void)snprintf(wire->version, sizeof wire->version, "%s", version != NULL ? version : "");
    if (version != NULL && !modern) return;
    phi__mcp_stream_deafen(http);
    phi__buf_clear(&wire->session);
    wire->epoch++;
}

static void phi__mcp_http_listen(phi__mcp_link *link) {
    phi__mcp_stream_listen(phi__mcp_http_of(link));
}

/* ---- the connection ---- */

static void phi__mcp_http_close_all(phi__mcp_http *http) {
    phi__link *link, *next;
    phi__mcp_stream_deafen(http);
    phi__mcp_stream_close(http);
    http->first = NULL;
    for (link = http->wire.exchanges.first; link != NULL; link = next) {
        next = link->next;
        phi__mcp_exchange_close(PHI__OWNER(link, phi__mcp_exchange, link));
    }
}

static bool phi__mcp_http_left(phi__mcp_exchange *e, phi_status status) {
    (void)status;
    phi__mcp_exchange_close(e);
    return true;
}

static bool phi__mcp_http_no_message(phi__mcp_exchange *e, phi_str event, phi_str json) {
    (void)e;
    (void)event;
    (void)json;
    return true;
}

/* Tells the server that the session ends. */
static void phi__mcp_http_leave(phi__mcp_http *http) {
    static const phi__mcp_exchange_kind kind = {
        "DELETE", NULL, false, true, phi__mcp_http_no_message, phi__mcp_http_left, NULL};
    phi__mcp_exchange *e;
    http->ended = true;
    e = phi__mcp_exchange_new(&http->wire, &kind, NULL, phi__str(NULL, 0));
    if (e != NULL && phi__mcp_exchange_send(e) != PHI_OK) phi__mcp_exchange_close(e);
}

/* Exchanges under way end by themselves, then the session; all of it by a deadline. */
static void phi__mcp_http_closes(phi__mcp_http *http) {
    phi__io *io = http->wire.rt->io;
    uint64_t now = phi__io_now_us(io);
    phi__mcp_stream_deafen(http);
    phi__mcp_stream_close(http);
    if (http->wire.exchanges.first == NULL && http->wire.session.len > 0 && !http->ended)
        phi__mcp_http_leave(http);
    if (http->wire.exchanges.first != NULL && now < http->close_by_us &&
        phi__io_timer_set(io, &http->timer, now + PHI__MCP_HTTP_CLOSING_US) == PHI_OK)
        return;
    phi__mcp_http_close_all(http);
    phi__buf_clear(&http->wire.session);
    http->closing = false;
    (void)phi__mcp_session_down(http->link.mcp, PHI_OK, false, "");
}

static void phi__mcp_http_timer(phi__timer *timer) {
    phi__mcp_http *http = PHI__OWNER(timer, phi__mcp_http, timer);
    if (http->closing)
        phi__mcp_http_closes(http);
    else if (http->opening) {
        http->opening = false;
        phi__mcp_session_up(http->link.mcp);
    }
}

static phi_status phi__mcp_http_soon(phi__mcp_http *http) {
    http->timer.fire = phi__mcp_http_timer;
    return phi__io_timer_set(http->wire.rt->io, &http->timer, phi__io_now_us(http->wire.rt->io));
}

static phi_status phi__mcp_http_open(phi__mcp_link *link) {
    phi__mcp_http *http = phi__mcp_http_of(link);
    phi__mcp_http_close_all(http);
    phi__buf_clear(&http->wire.session);
    http->wire.epoch++;
    http->closing = http->ended = false;
    http->opening = true;
    return phi__mcp_http_soon(http);
}

static void phi__mcp_http_close(phi__mcp_link *link) {
    phi__mcp_http *http = phi__mcp_http_of(link);
    phi__io *io = http->wire.rt->io;
    if (http->closing) return;
    http->opening = false;
    http->closing = true;
    http->close_by_us = phi__io_now_us(io) + (uint64_t)http->wire.desc->close_ms * 1000;
    if (phi__mcp_http_soon(http) != PHI_OK) http->close_by_us = 0;
}

static void phi__mcp_http_free(phi__mcp_link *link) {
    phi__mcp_http *http = phi__mcp_http_of(link);
    phi_memory *memory = http->wire.memory;
    phi__link *at;
    for (at = http->wire.exchanges.first; at != NULL; at = at->next) {
        phi__mcp_exchange *e = PHI__OWNER(at, phi__mcp_exchange, link);
        e->waits = e->busy = false; /* no call of the session's any more */
    }
    phi__mcp_http_close_all(http);
    phi__mcp_oauth_free(http->wire.oauth);
    phi__mcp_exchange_end_wire(&http->wire);
    phi__io_timer_clear(http->wire.rt->io, &http->timer);
    if (http->wire.session.len > 0) memset(http->wire.session.at, 0, http->wire.session.len);
    phi__buf_free(&http->wire.session);
    phi__buf_free(&http->endpoint);
    phi__free(memory, http, sizeof *http);
}

/* ---- making one ---- */

static void phi__mcp_http_authorized(void *ctx, phi_status status, const char *message) {
    phi__mcp_http *http = (phi__mcp_http *)ctx;
    if (status == PHI_OK && message[0] != '\0' && !phi__mcp_session_warn(http->wire.mcp, message))
        return;
    phi__mcp_exchange_authorized(&http->wire, status, message);
}

PHI__FN phi__mcp_oauth *phi__mcp_http_oauth(const phi__mcp_link *link) {
    return phi__mcp_http_of(link)->wire.oauth;
}

static const phi__mcp_link_table *phi__mcp_http_table(void) {
    static const phi__mcp_link_table table = {phi__mcp_http_open,
                                              phi__mcp_http_send,
                                              phi__mcp_http_forget,
                                              phi__mcp_http_agreed,
                                              phi__mcp_http_listen,
                                              phi__mcp_http_close,
                                              phi__mcp_http_free,
                                              NULL,
                                              NULL};
    return &table;
}

PHI__FN phi_status phi__mcp_http_new(phi_mcp *mcp, phi__mcp_link **out) {
    phi_memory *memory = phi__mcp_session_memory(mcp);
    phi__mcp_http *http = (phi__mcp_http *)phi__alloc(memory, sizeof *http);
    phi__mcp_oauth_listener listener;
    phi_status status;
    *out = NULL;
    if (http == NULL) return PHI_NO_MEMORY;
    http->link.table = phi__mcp_http_table();
    http->link.mcp = http->wire.mcp = mcp;
    http->posts = phi__mcp_http_old();
    http->wire.rt = phi__mcp_session_runtime(mcp);
    http->wire.memory = memory;
    http->wire.desc = phi__mcp_session_desc(mcp);
    http->wire.url = phi_str_of(http->wire.desc->url);
    phi__buf_init(&http->wire.session, memory);
    phi__buf_init(&http->endpoint, memory);
    status = phi__mcp_exchange_begin_wire(&http->wire);
    if (status == PHI_OK && http->wire.desc->oauth != NULL) {
        listener.changed = phi__mcp_http_authorized;
        listener.ctx = http;
        /* the runtime's memory: a callback of the authorization may free mcp, and returns to it */
        status = phi__mcp_oauth_new(http->wire.rt, &http->wire.rt->memory, http->wire.desc->oauth,
                                    http->wire.url, http->wire.desc->client_name, &listener,
                                    &http->wire.oauth);
    }
    if (status != PHI_OK) {
        phi__mcp_http_free(&http->link);
        return status;
    }
    *out = &http->link;
    return PHI_OK;
}
