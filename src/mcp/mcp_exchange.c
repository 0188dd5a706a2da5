/* mcp_exchange.c - one HTTP request to a server: sending, authorization, redirects, reading. */
#include "mcp/mcp_exchange_in.h"

#include "loop/loop_in.h"
#include "mcp/mcp_head_in.h"
#include "mcp/mcp_place_in.h"
#include "text/json.h"
#include "wire/headers_in.h"

#include <stdio.h>

enum {
    PHI__MCP_EXCHANGE_REDIRECTS = 3,
    PHI__MCP_EXCHANGE_CHALLENGES = 4,
    PHI__MCP_EXCHANGE_FULL_MS = 5000, /* before a stream that may stay open is tried again */
    PHI__MCP_EXCHANGE_FAULT = 65536   /* bytes of a refusal's body that are read */
};

/* ---- life ---- */

PHI__FN phi__mcp_exchange *phi__mcp_exchange_new(phi__mcp_wire *wire,
                                                 const phi__mcp_exchange_kind *kind,
                                                 phi__mcp_out *out, phi_str json) {
    phi__mcp_exchange *e = (phi__mcp_exchange *)phi__alloc(wire->memory, sizeof *e);
    if (e == NULL) return NULL;
    e->wire = wire;
    e->kind = kind;
    phi__buf_init(&e->json, wire->memory);
    phi__buf_init(&e->url, wire->memory);
    phi__buf_init(&e->sent, wire->memory);
    phi__buf_init(&e->body, wire->memory);
    phi__sse_init(&e->sse, wire->memory, wire->desc->max_message_bytes);
    phi__sse_resume_init(&e->resume, wire->memory);
    if (out == NULL) phi__buf_add_str(&e->json, json);
    if (e->json.failed) {
        phi__free(wire->memory, e, sizeof *e);
        return NULL;
    }
    e->out = out;
    if (out != NULL) {
        out->of_link = e;
        e->initialize = phi__str_is(out->method, "initialize");
    }
    phi__list_push(&wire->exchanges, &e->link);
    return e;
}

static void phi__mcp_exchange_wipe(phi__buf *secret) {
    if (secret->len > 0) memset(secret->at, 0, secret->len);
    phi__buf_free(secret);
}

PHI__FN void phi__mcp_exchange_stop(phi__mcp_exchange *e) {
    phi__fetch_close(e->fetch);
    e->fetch = NULL;
    phi__io_timer_clear(e->wire->rt->io, &e->timer);
}

PHI__FN void phi__mcp_exchange_detach(phi__mcp_exchange *e) {
    if (e->out != NULL) e->out->of_link = NULL;
    e->out = NULL;
}

static void phi__mcp_exchange_destroy(phi__mcp_exchange *e) {
    phi__mcp_wire *wire = e->wire;
    phi__list_take(&wire->exchanges, &e->link);
    phi__buf_free(&e->json);
    phi__buf_free(&e->url);
    phi__mcp_exchange_wipe(&e->sent);
    phi__buf_free(&e->body);
    phi__sse_free(&e->sse);
    phi__sse_resume_free(&e->resume);
    phi__free(wire->memory, e, sizeof *e);
}

static void phi__mcp_exchange_waits(phi__mcp_exchange *e, bool waits) {
    phi__mcp_wire *wire = e->wire;
    if (e->waits == waits) return;
    e->waits = waits;
    wire->waiting += waits ? 1 : (uint32_t)-1;
    if (wire->waiting == (waits ? 1 : 0)) phi__mcp_session_wait(wire->mcp, waits);
}

/* Messages queued behind it are sent in the next step. */
static void phi__mcp_exchange_open_gate(phi__mcp_exchange *e) {
    phi__mcp_wire *wire = e->wire;
    if (wire->gate != e) return;
    wire->gate = NULL;
    (void)phi__io_timer_set(wire->rt->io, &wire->opened, 0); /* it has a place */
}

PHI__FN void phi__mcp_exchange_count(phi__mcp_exchange *e) {
    e->note = true;
    e->wire->notes++;
}

static void phi__mcp_exchange_discount(phi__mcp_exchange *e) {
    phi__mcp_wire *wire = e->wire;
    if (!e->note) return;
    e->note = false;
    wire->notes--;
    if (wire->full) (void)phi__io_timer_set(wire->rt->io, &wire->opened, 0);
}

PHI__FN void phi__mcp_exchange_close(phi__mcp_exchange *e) {
    phi__mcp_exchange_discount(e);
    phi__mcp_exchange_stop(e);
    phi__mcp_exchange_open_gate(e);
    phi__mcp_exchange_detach(e);
    phi__mcp_exchange_waits(e, false);
    e->closed = true;
    if (!e->busy) phi__mcp_exchange_destroy(e);
}

/* ---- what the kind does ---- */

/* A JSON-RPC error is shown to people, and may quote a token: its text without secrets, in `copy`
   where it is not in e->body. Without memory for that: nothing. */
static phi_str phi__mcp_exchange_quiet(phi__mcp_exchange *e, phi_str json, phi__buf *copy) {
    phi__json_found found;
    phi__buf *own = json.at == e->body.at ? &e->body : copy;
    if ((e->sent.len == 0 && e->wire->desc->header_count == 0) ||
        json.len > (size_t)PHI__MCP_EXCHANGE_FAULT ||
        phi__json_cursor_find(json, "error", &found) != PHI_OK)
        return json;
    if (own == copy) phi__buf_add_str(copy, json);
    if (own->failed || !phi__mcp_head_hide_in(e, own->at, own->len, PHI__SECRET_JSON))
        return phi__str(NULL, 0);
    return phi__buf_str(own);
}

/* False: the exchange is gone. */
static bool phi__mcp_exchange_give(phi__mcp_exchange *e, phi_str event, phi_str json) {
    phi__buf copy;
    bool stays;
    if (json.len > 0) e->tries = 0;
    phi__buf_init(&copy, &e->wire->rt->memory); /* the message may free mcp */
    e->busy = true;
    stays = e->kind->message(e, event, phi__mcp_exchange_quiet(e, json, &copy));
    phi__buf_free(&copy);
    if (!stays) return false;
    e->busy = false;
    if (!e->closed) return true;
    phi__mcp_exchange_destroy(e);
    return false;
}

/* Stops it with a failure. False: all is freed. */
static bool phi__mcp_exchange_fail(phi__mcp_exchange *e, phi_status status, const char *words) {
    if (words != NULL) (void)snprintf(e->words, sizeof e->words, "%s", words);
    phi__mcp_exchange_stop(e);
    phi__mcp_head_hide(e);
    return e->kind->ended(e, status);
}

static bool phi__mcp_exchange_repeat(phi__mcp_exchange *e) {
    phi_status status;
    phi__mcp_exchange_stop(e);
    status = phi__mcp_exchange_send(e);
    return status == PHI_OK || phi__mcp_exchange_fail(e, status, NULL);
}

/* ---- the head of an answer ---- */

static void phi__mcp_exchange_redirect(phi__mcp_exchange *e, phi_str location) {
    phi__buf to;
    phi_str from = e->url.len > 0 ? phi__buf_str(&e->url) : e->wire->url;
    phi__buf_init(&to, e->wire->memory);
    if (!phi__mcp_place_join(&to, from, location)) {
        phi__buf_free(&to);
        (void)phi__mcp_exchange_fail(e, PHI_REFUSED,
                                     "HTTP 307 or 308 from server: a redirect to another place "
                                     "is not followed");
        return;
    }
    phi__buf_free(&e->url);
    e->url = to;
    (void)phi__mcp_exchange_repeat(e);
}

static void phi__mcp_exchange_challenge(phi__mcp_exchange *e, phi_str headers) {
    const char *words = "";
    char message[sizeof e->words];
    phi_status status =
        phi__mcp_oauth_challenge(e->wire->oauth, e->http_status, headers, phi__buf_str(&e->sent));
    if (status == PHI_OK) {
        (void)phi__mcp_exchange_repeat(e);
        return;
    }
    phi__mcp_exchange_stop(e);
    if (status == PHI_BUSY) {
        phi__mcp_exchange_waits(e, true);
        return;
    }
    words = phi_last_error(e->wire->rt).message;
    (void)snprintf(message, sizeof message, "HTTP %d from server: %s", e->http_status, words);
    (void)phi__mcp_exchange_fail(e, status, message);
}

static void phi__mcp_exchange_head(void *user_data, int http_status, phi_str headers) {
    phi__mcp_exchange *e = (phi__mcp_exchange *)user_data;
    phi_str location = phi__headers_value(headers, "location");
    e->http_status = http_status;
    if (e->wire->oauth != NULL) phi__mcp_oauth_heard(e->wire->oauth, headers);
    if (http_status / 100 == 2) e->redirects = e->challenges = 0; /* it may be opened again */
    if (phi__mcp_head_redirects(http_status) && location.len > 0 &&
        e->redirects < PHI__MCP_EXCHANGE_REDIRECTS) {
        e->redirects++;
        phi__mcp_exchange_redirect(e, location);
        return;
    }
    if ((http_status == 401 || http_status == 403) && e->wire->oauth != NULL &&
        e->challenges < PHI__MCP_EXCHANGE_CHALLENGES) {
        e->challenges++;
        phi__mcp_exchange_challenge(e, headers);
        return;
    }
    e->shape = phi__mcp_head_shape(e, headers);
    if (e->shape != PHI__MCP_SHAPE_FAULT && e->initialize && !phi__mcp_head_session(e, headers))
        e->shape = PHI__MCP_SHAPE_FAULT;
}

/* ---- its body ---- */

static void phi__mcp_exchange_events(phi__mcp_exchange *e, phi_str bytes) {
    phi__sse_event event;
    char words[100];
    int got;
    phi__sse_feed(&e->sse, bytes.at, bytes.len);
    while ((got = phi__sse_next(&e->sse, &event)) > 0)
        if (!phi__mcp_exchange_give(e, event.name, event.data)) return;
    if (!phi__fetch_value_fits(phi__buf_str(&e->resume.id))) phi__buf_clear(&e->resume.id);
    if (got == 0) return;
    (void)snprintf(words, sizeof words, "an event is larger than %llu bytes",
                   (unsigned long long)e->wire->desc->max_message_bytes);
    if (got == PHI_NO_MEMORY) (void)snprintf(words, sizeof words, "no memory for the answer");
    (void)phi__mcp_exchange_fail(e, (phi_status)got, words);
}

static void phi__mcp_exchange_collect(phi__mcp_exchange *e, phi_str bytes) {
    bool fault = e->shape == PHI__MCP_SHAPE_FAULT;
    size_t most = fault ? (size_t)PHI__MCP_EXCHANGE_FAULT : e->wire->desc->max_message_bytes;
    char words[100];
    if (phi__add(e->body.len, bytes.len) > most && !fault) {
        (void)snprintf(words, sizeof words, "the answer is larger than %llu bytes",
                       (unsigned long long)most);
        phi__buf_free(&e->body);
        (void)phi__mcp_exchange_fail(e, PHI_TOO_BIG, words);
        return;
    }
    phi__buf_add(&e->body, bytes.at, phi__min(bytes.len, most - e->body.len));
    if (e->body.failed)
        (void)phi__mcp_exchange_fail(e, PHI_NO_MEMORY, "no memory for the answer");
    else if (e->body.len == most && fault) { /* the rest says no more */
        phi__mcp_head_fault(e);
        phi__mcp_exchange_stop(e);
        (void)e->kind->ended(e, PHI_REFUSED);
    }
}

static size_t phi__mcp_exchange_body(void *user_data, phi_str bytes) {
    phi__mcp_exchange *e = (phi__mcp_exchange *)user_data;
    if (e->shape == PHI__MCP_SHAPE_SSE)
        phi__mcp_exchange_events(e, bytes);
    else if (e->shape != PHI__MCP_SHAPE_SKIP)
        phi__mcp_exchange_collect(e, bytes);
    return bytes.len;
}

/* A last event without a blank line behind it counts, where no resumption brings it again. */
static bool phi__mcp_exchange_last(phi__mcp_exchange *e) {
    phi__sse_event event;
    if (e->resume.id.len > 0) return true;
    while (phi__sse_finish(&e->sse, &event) > 0)
        if (!phi__mcp_exchange_give(e, event.name, event.data)) return false;
    return true;
}

static void phi__mcp_exchange_end(void *user_data, phi_status status, const char *message) {
    phi__mcp_exchange *e = (phi__mcp_exchange *)user_data;
    e->fetch = NULL;
    if (status != PHI_OK) {
        (void)snprintf(e->words, sizeof e->words, "%s", message);
        e->shape = e->shape == PHI__MCP_SHAPE_SSE ? e->shape : PHI__MCP_SHAPE_NONE;
    } else if (e->shape == PHI__MCP_SHAPE_FAULT) {
        phi__mcp_head_fault(e);
        status = e->http_status / 100 == 2 ? PHI_PARSE : PHI_REFUSED;
    } else if (e->shape == PHI__MCP_SHAPE_JSON && e->body.len == 0) {
        (void)snprintf(e->words, sizeof e->words, "HTTP %d from server: an empty answer",
                       e->http_status);
        status = PHI_PARSE;
    } else if (e->shape == PHI__MCP_SHAPE_JSON) {
        if (!phi__mcp_exchange_give(e, phi__str(NULL, 0), phi__buf_str(&e->body))) return;
    } else if (e->shape == PHI__MCP_SHAPE_SSE && !phi__mcp_exchange_last(e))
        return;
    (void)e->kind->ended(e, status);
}

/* ---- sending ---- */

static void phi__mcp_exchange_begin(phi__mcp_exchange *e) {
    e->http_status = 0;
    e->shape = PHI__MCP_SHAPE_NONE;
    e->words[0] = '\0';
    e->in_session = e->wire->session.len > 0;
    e->epoch = e->wire->epoch;
    e->opened_us = phi__io_now_us(e->wire->rt->io);
    phi__buf_clear(&e->body);
    phi__sse_free(&e->sse);
    phi__sse_resume_with(&e->sse, &e->resume);
}

/* The session's deadline counts for a request, the connection's timeout for a notification. */
static void phi__mcp_exchange_deadlines(const phi__mcp_exchange *e, phi_deadlines *d) {
    bool waits = e->out != NULL || strcmp(e->kind->method, "GET") == 0;
    d->first_event_ms = d->idle_ms = waits ? PHI_UNLIMITED : e->wire->desc->timeout_ms;
}

static void phi__mcp_exchange_timer(phi__timer *timer) {
    phi__mcp_exchange *e = PHI__OWNER(timer, phi__mcp_exchange, timer);
    if (e->kind->late != NULL)
        e->kind->late(e);
    else
        (void)phi__mcp_exchange_repeat(e);
}

PHI__FN phi_status phi__mcp_exchange_later(phi__mcp_exchange *e, uint64_t ms) {
    phi__io *io = e->wire->rt->io;
    e->timer.fire = phi__mcp_exchange_timer;
    if (e->kind->late != NULL) return phi__io_deadline_set(io, &e->timer, ms * 1000);
    return phi__io_timer_set(io, &e->timer, phi__io_now_us(io) + ms * 1000);
}

static phi_status phi__mcp_exchange_open(phi__mcp_exchange *e) {
    phi__fetch_desc desc;
    phi_arena arena;
    phi__header *headers = NULL;
    phi_status status = PHI_OK;
    const char *words = "";
    phi__buf proof;
    memset(&desc, 0, sizeof desc);
    phi_arena_init(&arena, e->wire->memory, 1024);
    phi__buf_init(&proof, e->wire->memory);
    /* the runtime's memory: a fetch is freed behind its last callback, which may free mcp */
    desc.memory = &e->wire->rt->memory;
    desc.method = phi_str_of(e->kind->method);
    desc.url = e->url.len > 0 ? phi__buf_str(&e->url) : e->wire->url;
    desc.body = e->out != NULL ? e->out->json : phi__buf_str(&e->json);
    if (strcmp(e->kind->method, "POST") != 0) desc.body = phi__str(NULL, 0);
    /* the stream of the old transport carries all answers: it is no idle one */
    desc.stands = e->out != NULL ? e->out->stream : e->kind->stands;
    desc.on_head = phi__mcp_exchange_head;
    desc.on_body = phi__mcp_exchange_body;
    desc.on_end = phi__mcp_exchange_end;
    desc.user_data = e;
    phi__mcp_exchange_deadlines(e, &desc.deadlines);
    if (e->sent.len > 0)
        status = phi__mcp_oauth_proof(e->wire->oauth, e->kind->method, desc.url, &proof);
    if (status != PHI_OK)
        words = phi_last_error(e->wire->rt).message;
    else if (!phi__mcp_head_make(e, phi__buf_str(&proof), &arena, &headers, &desc.header_count))
        status = PHI_NO_MEMORY;
    else {
        desc.headers = headers;
        status = phi__fetch_open(e->wire->rt, &desc, &e->fetch);
        if (status == PHI_FULL)
            status = phi__mcp_exchange_later(e, PHI__MCP_EXCHANGE_FULL_MS);
        else if (status != PHI_OK)
            words = phi_last_error(e->wire->rt).message;
    }
    if (status != PHI_OK)
        (void)snprintf(e->words, sizeof e->words, "%s", words[0] != '\0' ? words : "no memory");
    phi__buf_free(&proof);
    phi_arena_free(&arena);
    return status;
}

/* PHI_BUSY: it waits. */
static phi_status phi__mcp_exchange_authorize(phi__mcp_exchange *e) {
    const char *words = "";
    phi_str value;
    phi_status status;
    if (e->sent.len > 0) memset(e->sent.at, 0, e->sent.len);
    phi__buf_clear(&e->sent);
    if (e->wire->oauth == NULL) return PHI_OK;
    status = phi__mcp_oauth_header(e->wire->oauth, &value);
    if (status == PHI_NOT_FOUND) return PHI_OK;
    if (status == PHI_OK) {
        phi__buf_add_str(&e->sent, value);
        return e->sent.failed ? PHI_NO_MEMORY : PHI_OK;
    }
    words = phi_last_error(e->wire->rt).message;
    (void)snprintf(e->words, sizeof e->words, "%s", words);
    return status;
}

PHI__FN phi_status phi__mcp_exchange_send(phi__mcp_exchange *e) {
    phi_status status;
    e->held = e->wire->gate != NULL && e->wire->gate != e;
    if (e->held) return PHI_OK;
    phi__mcp_exchange_begin(e);
    status = phi__mcp_exchange_authorize(e);
    if (status == PHI_BUSY) {
        phi__mcp_exchange_waits(e, true);
        return PHI_OK;
    }
    return status == PHI_OK ? phi__mcp_exchange_open(e) : status;
}

/* The first that is to be sent again, or that was held. */
static phi__mcp_exchange *phi__mcp_exchange_first(phi__mcp_wire *wire, bool held) {
    phi__link *link;
    for (link = wire->exchanges.first; link != NULL; link = link->next) {
        phi__mcp_exchange *e = PHI__OWNER(link, phi__mcp_exchange, link);
        if (held ? e->held : e->again) return e;
    }
    return NULL;
}

static void phi__mcp_exchange_opened(phi__timer *timer) {
    phi__mcp_wire *wire = PHI__OWNER(timer, phi__mcp_wire, opened);
    phi__mcp_exchange *e;
    (void)phi__io_timer_set(wire->rt->io, timer, UINT64_MAX);
    while (wire->gate == NULL && (e = phi__mcp_exchange_first(wire, true)) != NULL)
        if (!phi__mcp_exchange_repeat(e)) return;
    if (!wire->full || wire->notes >= PHI__MCP_EXCHANGE_NOTES) return;
    wire->full = false;
    phi__mcp_session_drained(wire->mcp);
}

PHI__FN phi_status phi__mcp_exchange_begin_wire(phi__mcp_wire *wire) {
    wire->opened.fire = phi__mcp_exchange_opened;
    return phi__io_timer_set(wire->rt->io, &wire->opened, UINT64_MAX);
}

PHI__FN void phi__mcp_exchange_end_wire(phi__mcp_wire *wire) {
    phi__io_timer_clear(wire->rt->io, &wire->opened);
}

PHI__FN void phi__mcp_exchange_authorized(phi__mcp_wire *wire, phi_status status,
                                          const char *message) {
    phi__link *link;
    phi__mcp_exchange *e;
    for (link = wire->exchanges.first; link != NULL; link = link->next) {
        e = PHI__OWNER(link, phi__mcp_exchange, link);
        e->again = e->waits;
    }
    while ((e = phi__mcp_exchange_first(wire, false)) != NULL) {
        bool good;
        e->again = false;
        e->denied = status != PHI_OK && status != PHI_NETWORK && status != PHI_NO_MEMORY;
        phi__mcp_exchange_waits(e, false);
        if (status == PHI_OK)
            good = phi__mcp_exchange_repeat(e);
        else /* a stream learns by this status that it is not to be opened again */
            good = phi__mcp_exchange_fail(
                e, e->denied && e->out != NULL && e->out->stream ? PHI_DENIED : status, message);
        if (!good) return;
    }
}
