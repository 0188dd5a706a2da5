/* mcp_stream.c - streams that a GET opens: messages of the server's own, and the old transport. */
#include "mcp/mcp_http_in.h"

#include "loop/loop_in.h"
#include "mcp/mcp_place_in.h"

#include <stdio.h>

enum {
    PHI__MCP_STREAM_RETRY_MS = 1000, /* where the server names no delay */
    PHI__MCP_STREAM_LEAST_MS = 100,  /* where it names a shorter one */
    PHI__MCP_STREAM_MOST_MS = 30000,
    PHI__MCP_STREAM_LASTED_US = 5000000, /* a stream that lasted so long was no failure */
    PHI__MCP_STREAM_ENDPOINT_MS = 10000  /* the old transport: until its first event */
};

#define PHI__MCP_STREAM_NAMED_MS UINT64_C(3600000) /* of a server's own delay, at most */

/* ---- shared ---- */

PHI__FN uint64_t phi__mcp_stream_delay(phi__mcp_exchange *e) {
    uint64_t now = phi__io_now_us(e->wire->rt->io);
    uint64_t named = e->resume.has_retry ? e->resume.retry_ms : (uint64_t)PHI__MCP_STREAM_RETRY_MS;
    uint64_t grown;
    if (now - e->opened_us >= PHI__MCP_STREAM_LASTED_US) e->tries = 0;
    grown = e->tries == 0 ? 0 : (uint64_t)PHI__MCP_STREAM_RETRY_MS << phi__min(e->tries - 1, 5);
    if (grown > (uint64_t)PHI__MCP_STREAM_MOST_MS) grown = PHI__MCP_STREAM_MOST_MS;
    if (named > PHI__MCP_STREAM_NAMED_MS) named = PHI__MCP_STREAM_NAMED_MS;
    if (named < PHI__MCP_STREAM_LEAST_MS) named = PHI__MCP_STREAM_LEAST_MS;
    e->tries++;
    return named > grown ? named : grown;
}

PHI__FN bool phi__mcp_stream_lose(phi__mcp_exchange *e, phi_status status) {
    phi__mcp_out *out = e->out;
    char words[sizeof e->words];
    memcpy(words, e->words, sizeof words);
    phi__mcp_exchange_stop(e);
    phi__mcp_exchange_detach(e);
    if (out != NULL) {
        e->busy = true; /* its body is read by the session */
        if (!phi__mcp_session_lost(e->wire->mcp, out, status, e->http_status,
                                   phi__buf_str(&e->body), words))
            return false;
        e->busy = false;
    }
    phi__mcp_exchange_close(e);
    return true;
}

static bool phi__mcp_stream_is_message(phi_str event) {
    return event.len == 0 || phi__str_is(event, "message");
}

/* ---- messages of the server's own ---- */

static bool phi__mcp_stream_heard(phi__mcp_exchange *e, phi_str event, phi_str json) {
    if (!phi__mcp_stream_is_message(event) || json.len == 0) return true;
    return phi__mcp_session_message(e->wire->mcp, json, NULL);
}

PHI__FN void phi__mcp_stream_deafen(phi__mcp_http *http) {
    phi__mcp_exchange *e = http->listening;
    http->listening = NULL;
    if (e != NULL) phi__mcp_exchange_close(e);
}

/* What the server refuses, it does not have; all else is tried again. */
static bool phi__mcp_stream_unheard(phi__mcp_exchange *e, phi_status status) {
    phi__mcp_http *http = (phi__mcp_http *)e->owner;
    bool none = e->denied || status == PHI_PARSE || (status == PHI_REFUSED && e->http_status < 500);
    bool expired = e->http_status == 404 && e->in_session && e->epoch == e->wire->epoch;
    if (status == PHI_TOO_BIG) phi__sse_resume_free(&e->resume); /* not the same event again */
    if (!none && status != PHI_CANCELLED && !http->closing &&
        phi__mcp_exchange_later(e, phi__mcp_stream_delay(e)) == PHI_OK)
        return true;
    phi__mcp_stream_deafen(http);
    return !expired || phi__mcp_session_expired(http->link.mcp, NULL);
}

PHI__FN void phi__mcp_stream_listen(phi__mcp_http *http) {
    static const phi__mcp_exchange_kind kind = {
        "GET", "text/event-stream", true, false, phi__mcp_stream_heard, phi__mcp_stream_unheard,
        NULL};
    phi__mcp_exchange *e;
    phi_status status;
    if (http->listening != NULL || http->stream != NULL) return;
    e = phi__mcp_exchange_new(&http->wire, &kind, NULL, phi__str(NULL, 0));
    if (e == NULL) return; /* a session without it: list changes are missed, nothing else */
    e->owner = http;
    http->listening = e;
    status = phi__mcp_exchange_send(e);
    if (status != PHI_OK) (void)phi__mcp_stream_unheard(e, status); /* not sent: nothing expired */
}

/* ---- the old transport ---- */

PHI__FN void phi__mcp_stream_close(phi__mcp_http *http) {
    phi__mcp_exchange *e = http->stream;
    http->stream = NULL;
    phi__buf_free(&http->endpoint);
    if (e != NULL) phi__mcp_exchange_close(e);
}

/* The first request is lost, with the words of its own refusal where there are no better ones. */
static bool phi__mcp_stream_fail(phi__mcp_http *http, phi_status status, const char *words) {
    phi__mcp_exchange *first = http->first;
    char message[sizeof first->words];
    (void)snprintf(message, sizeof message, "%.*s", (int)sizeof message - 1,
                   words != NULL ? words : "");
    http->first = NULL;
    phi__mcp_stream_close(http);
    if (first == NULL) return true;
    if (first->words[0] == '\0' || words != NULL)
        (void)snprintf(first->words, sizeof first->words, "%s", message);
    return phi__mcp_stream_lose(first, status);
}

static bool phi__mcp_stream_endpoint(phi__mcp_http *http, phi_str data) {
    phi__mcp_exchange *first = http->first;
    phi_status status;
    if (http->endpoint.len > 0) return true; /* it names it once */
    if (!phi__mcp_place_join(&http->endpoint, http->wire.url, phi__str_trim(data)))
        return phi__mcp_stream_fail(http, PHI_REFUSED,
                                    "the server's endpoint event names another place than its own "
                                    "origin, which is not followed");
    http->old = true;
    phi__io_timer_clear(http->wire.rt->io, &http->stream->timer);
    if (first == NULL) return true;
    http->first = NULL;
    first->kind = http->posts;
    phi__buf_clear(&first->url);
    phi__buf_add_str(&first->url, phi__buf_str(&http->endpoint));
    status = first->url.failed ? PHI_NO_MEMORY : phi__mcp_exchange_send(first);
    return status == PHI_OK || first->kind->ended(first, status);
}

static bool phi__mcp_stream_message(phi__mcp_exchange *e, phi_str event, phi_str json) {
    phi__mcp_http *http = (phi__mcp_http *)e->owner;
    if (phi__str_is(event, "endpoint")) return phi__mcp_stream_endpoint(http, json);
    if (!phi__mcp_stream_is_message(event) || json.len == 0 || http->endpoint.len == 0) return true;
    return phi__mcp_session_message(http->link.mcp, json, NULL);
}

static bool phi__mcp_stream_ended(phi__mcp_exchange *e, phi_status status) {
    phi__mcp_http *http = (phi__mcp_http *)e->owner;
    bool connected = http->endpoint.len > 0;
    char words[sizeof e->words + 40];
    (void)snprintf(words, sizeof words, "the server's stream has ended%s%s",
                   e->words[0] != '\0' ? ": " : "", e->words);
    if (!connected) /* it is not of that transport, after all */
        return phi__mcp_stream_fail(http, PHI_REFUSED, http->old ? words : NULL);
    phi__mcp_stream_close(http);
    if (http->closing) return true;
    return phi__mcp_session_down(http->link.mcp, status == PHI_OK ? PHI_NETWORK : status, false,
                                 words);
}

static void phi__mcp_stream_late(phi__mcp_exchange *e) {
    phi__mcp_http *http = (phi__mcp_http *)e->owner;
    /* a person may be asked, before anything is sent */
    if (e->waits && phi__mcp_exchange_later(e, PHI__MCP_STREAM_ENDPOINT_MS) == PHI_OK) return;
    (void)phi__mcp_stream_fail(http, PHI_TIMEOUT,
                               http->old ? "the server names no endpoint" : NULL);
}

PHI__FN phi_status phi__mcp_stream_again(phi__mcp_http *http, phi__mcp_exchange *first) {
    static const phi__mcp_exchange_kind kind = {"GET",
                                                "text/event-stream",
                                                false,
                                                false,
                                                phi__mcp_stream_message,
                                                phi__mcp_stream_ended,
                                                phi__mcp_stream_late};
    phi__mcp_exchange *e;
    phi_status status;
    phi__mcp_stream_close(http);
    e = phi__mcp_exchange_new(&http->wire, &kind, NULL, phi__str(NULL, 0));
    if (e == NULL) return PHI_NO_MEMORY;
    e->owner = http;
    http->stream = e;
    http->first = first;
    status = phi__mcp_exchange_later(e, PHI__MCP_STREAM_ENDPOINT_MS);
    if (status == PHI_OK) status = phi__mcp_exchange_send(e);
    if (status == PHI_OK) return status;
    http->first = NULL;
    phi__mcp_stream_close(http);
    return status;
}

PHI__FN bool phi__mcp_stream_old(phi__mcp_http *http, phi__mcp_exchange *first) {
    phi_status status = phi__mcp_stream_again(http, first);
    return status == PHI_OK || phi__mcp_stream_lose(first, PHI_REFUSED);
}
