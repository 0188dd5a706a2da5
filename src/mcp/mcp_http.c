/* mcp_http.c - the link over HTTP: POST requests, event streams and the connection. */

#include "mcp/mcp_oauth_in.h"
#include "mcp/mcp_requests_in.h"
#include "mcp/mcp_rpc_in.h"

#include "mcp/mcp_headers_in.h"
#include "mcp/mcp_oauth_client_in.h"

#include <stdio.h>

typedef struct phi__exchange phi__exchange;

/* State that all requests of a connection share. */
typedef struct phi__wire {
    phi_mcp *mcp;
    phi_runtime *rt;
    phi_memory *memory; /* lives as long as mcp */
    const phi_mcp_desc *desc;
    phi_str url;
    const phi__era *era; /* NULL until a version is agreed upon */
    char version[32];    /* value of MCP-Protocol-Version, or empty */
    phi__buf session;    /* value of Mcp-Session-Id, or empty */
    phi__oauth *oauth;   /* NULL without authorization */
    phi__list exchanges;
    uint32_t waiting; /* exchanges that wait for an authorization */
    uint32_t epoch;   /* grows with each handshake; older session ids are then void */
    /* The exchange that sends notifications/initialized, or NULL. Later messages wait for its
       answer, because a message on another connection could overtake the notification. */
    phi__exchange *gate;
    phi__timer opened; /* sends the messages that wait for `gate` */
    uint32_t notes;    /* our notifications and answers that are being sent */
    bool full;         /* `send` refused a message; phi__mcp_drained must follow */
} phi__wire;

typedef enum phi__shape {
    PHI__SHAPE_NONE, /* no head has arrived */
    PHI__SHAPE_JSON,
    PHI__SHAPE_SSE,
    PHI__SHAPE_SKIP, /* the body is ignored */
    PHI__SHAPE_FAULT /* the answer is a refusal; e->words has the message */
} phi__shape;

typedef struct phi__ex_kind {
    const char *method; /* HTTP method */
    bool stands;        /* the stream may stay silent for ever */
    bool skips;         /* ignore the body of a successful answer */
    /* Gets a message: a whole body, or an event and its name. False: the connection was freed. */
    bool (*message)(phi__exchange *e, phi_str event, phi_str json);
    /* Called when the answer has ended. The function closes the exchange or sends the request
       again. PHI_OK: the answer is whole, and its HTTP status is 2xx. After any other status,
       e->words, e->http_status and e->body describe the failure. False: the connection was
       freed. */
    bool (*ended)(phi__exchange *e, phi_status status);
    /* Called when the timer fires. If NULL, the request is sent again. */
    void (*late)(phi__exchange *e);
} phi__ex_kind;

struct phi__exchange {
    phi__wire *wire;
    phi__link link; /* in wire->exchanges */
    const phi__ex_kind *kind;
    void *owner;       /* the phi__mcp_http; NULL for DELETE */
    phi__out *out;     /* the request that gets the answer, or NULL */
    phi__buf json;     /* the message, if out is NULL */
    phi__buf url;      /* if empty, wire->url is used */
    phi__fetch *fetch; /* NULL if no transfer is under way */
    phi__timer timer;
    phi__buf sent;     /* value of Authorization; wiped when freed */
    bool held;         /* waits for wire->gate */
    bool waits, again; /* waits: needs an authorization; again: send the request later */
    bool denied;       /* the authorization failed; do not ask a person again */
    bool busy, closed; /* busy: a function of `kind` runs; closed: free e afterwards */
    bool note;         /* counted in wire->notes */
    bool initialize;   /* the answer to this request has the session id */
    bool in_session;   /* the request carried a session id of `epoch` */
    uint32_t epoch;
    uint8_t redirects, challenges;
    int http_status;
    phi__shape shape;
    phi__buf body; /* JSON, or the first bytes of a refusal */
    phi__sse sse;
    phi__sse_resume resume;
    uint64_t opened_us;
    uint32_t tries;  /* attempts to resume since the last message */
    char words[400]; /* message of a failure */
};

enum { PHI__EXCHANGE_NOTES = 64 }; /* further messages wait in the session's queue */

typedef struct phi__mcp_http {
    phi__mcp_link link;
    phi__wire wire;
    phi__timer timer;
    bool opening, closing;
    bool ended;           /* DELETE was sent */
    uint64_t close_by_us; /* closing ends at this time at the latest */

    phi__exchange *listening; /* stream of the server's own messages, or NULL */
    phi__exchange *stream;    /* stream of the old transport, or NULL */
    phi__exchange *first;     /* old transport: sends initialize, waits for the endpoint */
    phi__buf endpoint;        /* old transport: URL for messages; empty if unknown */
    bool old;                 /* the server is known to use the old transport */
} phi__mcp_http;

typedef enum phi__mhttp_what {
    PHI__MCP_HTTP_REQUEST,
    PHI__MCP_HTTP_TOLD,   /* a notification, or our answer to a server's request */
    PHI__MCP_HTTP_RESUME, /* resumes a broken stream */
    PHI__MCP_HTTP_OLD     /* a POST of the old transport, answered on its stream */
} phi__mhttp_what;

static bool phi__ex_is(const phi__exchange *e, const char *method) {
    return strcmp(e->kind->method, method) == 0;
}

/* True if the server has forgotten the session that the request belongs to. */
static bool phi__ex_expired(const phi__exchange *e) {
    return e->http_status == 404 && e->in_session && e->epoch == e->wire->epoch;
}

static phi_status phi__ex_send(phi__exchange *e);
static const phi__ex_kind *phi__mhttp_kind(phi__mhttp_what what);

/* ---- URLs that a server names, resolved against its own URL ---- */

enum { PHI__PLACE_MOST = 8192 }; /* max. bytes of a URL */

PHI__FN bool phi__place_join(phi__buf *out, phi_str from, phi_str to) {
    phi__url own, other;
    phi__buf_clear(out);
    for (size_t i = 0; i < to.len; i++) {
        unsigned char c = (unsigned char)to.at[i];
        if (c <= 32 || c == 127 || c == '\\') return false;
    }
    if (to.len > PHI__PLACE_MOST || !phi__url_split(from, &own)) return false;
    if (!phi__url_resolve(out, from, to)) return false;
    /* The host's URL may have a user name. The server's URL must not add a user name. */
    return phi__url_split(phi__buf_str(out), &other) &&
           (phi_str_equal(own.origin, other.origin) ||
            (other.user.at == NULL && phi__str_equal_nocase(own.scheme, other.scheme) &&
             other.host.len > 0 && phi__str_equal_nocase(own.host, other.host) &&
             phi__str_equal_nocase(own.port, other.port)));
}

/* ---- headers of a request ---- */

enum { PHI__MCP_HEAD_OWN = 10 }; /* max. headers that this file adds */

typedef struct phi__mhead_list {
    phi__header *at;
    size_t count;
} phi__mhead_list;

static void phi__mhead_add(phi__mhead_list *list, const char *name, phi_str value) {
    list->at[list->count].name = phi_str_of(name);
    list->at[list->count++].value = value;
}

/* Makes all headers of a request, in the arena or borrowed from the exchange. proof: value of the
   DPoP header, or empty. False: no memory. */
static bool phi__mhead_make(const phi__exchange *e, phi_str proof, phi_arena *arena,
                            phi__header **out, size_t *count) {
    const phi__wire *wire = e->wire;
    const phi__era *era = wire->era;
    const phi_mcp_desc *desc = wire->desc;
    const phi__out *message = era != NULL && era->message_headers ? e->out : NULL;
    size_t more = phi__add(desc->header_count, message != NULL ? message->header_count : 0);
    bool get = phi__ex_is(e, "GET");
    phi__mhead_list list = PHI_ZERO;
    list.at = (phi__header *)phi__arena_zero(
        arena, phi__mul(phi__add(more, PHI__MCP_HEAD_OWN), sizeof *list.at));
    if (list.at == NULL) return false;
    if (get) phi__mhead_add(&list, "Accept", PHI__LIT("text/event-stream"));
    if (phi__ex_is(e, "POST")) {
        phi__mhead_add(&list, "Accept", PHI__LIT("application/json, text/event-stream"));
        phi__mhead_add(&list, "Content-Type", PHI__LIT("application/json"));
    }
    if (wire->version[0] != '\0' && era != NULL && era->version_header)
        phi__mhead_add(&list, "MCP-Protocol-Version", phi_str_of(wire->version));
    if (wire->session.len > 0)
        phi__mhead_add(&list, "Mcp-Session-Id", phi__buf_str(&wire->session));
    if (e->resume.id.len > 0 && get)
        phi__mhead_add(&list, "Last-Event-ID", phi__buf_str(&e->resume.id));
    if (e->sent.len > 0) phi__mhead_add(&list, "Authorization", phi__buf_str(&e->sent));
    if (proof.len > 0) phi__mhead_add(&list, "DPoP", proof);
    /* Since 2026-07-28, headers repeat the method and name of the message. */
    if (message != NULL && message->method.len > 0)
        phi__mhead_add(&list, "Mcp-Method", message->method);
    if (message != NULL && message->name.len > 0) {
        phi_str name;
        if (!phi__xhead_encode(arena, message->name, &name)) return false;
        phi__mhead_add(&list, "Mcp-Name", name);
    }
    for (size_t i = 0; message != NULL && i < message->header_count; i++)
        phi__mhead_add(&list, message->headers[i].name, phi_str_of(message->headers[i].value));
    /* Headers of the host's desc are added unless a header above has the same name. */
    size_t own = list.count;
    for (size_t i = 0; i < desc->header_count; i++) {
        bool taken = false;
        for (size_t j = 0; j < own && !taken; j++)
            taken = phi__str_is_nocase(list.at[j].name, desc->headers[i].name);
        if (!taken)
            phi__mhead_add(&list, desc->headers[i].name, phi_str_of(desc->headers[i].value));
    }
    *out = list.at;
    *count = list.count;
    return true;
}

/* ---- the head of an answer ---- */

static phi__shape phi__mhead_refuse(phi__exchange *e, const char *why) {
    (void)snprintf(e->words, sizeof e->words, "HTTP %d from server: %s", e->http_status, why);
    return PHI__SHAPE_FAULT;
}

static bool phi__mhead_is_json(phi_str type) {
    return phi__str_is_nocase(type, "application/json") || phi__str_is_nocase(type, "text/json") ||
           (type.len > 5 && phi__str_is_nocase(phi__str_from(type, type.len - 5), "+json"));
}

/* Copies text and replaces every byte that is not printable ASCII by '?'. */
static void phi__mhead_show(char *out, size_t size, phi_str text) {
    size_t n = 0;
    for (size_t i = 0; i < text.len && n + 1 < size; i++)
        out[n++] = text.at[i] >= 0x20 && text.at[i] <= 0x7e ? text.at[i] : '?';
    out[n] = '\0';
}

/* Decides how the body is read. Sets e->words if the answer is a refusal. */
static phi__shape phi__mhead_shape(phi__exchange *e, phi_str headers) {
    phi_str encoding = phi__str_trim(phi__headers_value(headers, "content-encoding"));
    if (e->http_status / 100 != 2) {
        const char *more = e->http_status / 100 == 3 ? ": a redirect that is not followed" : "";
        if (e->http_status == 401 && e->wire->oauth == NULL)
            more = " (phi_mcp_desc.oauth is not set)";
        (void)snprintf(e->words, sizeof e->words, "HTTP %d from server%s", e->http_status, more);
        return PHI__SHAPE_FAULT;
    }
    if (e->kind->skips) return PHI__SHAPE_SKIP;
    if (encoding.len > 0 && !phi__str_is_nocase(encoding, "identity"))
        return phi__mhead_refuse(e, "the answer is compressed, which was not asked for");
    if (e->out == NULL && phi__ex_is(e, "POST")) return PHI__SHAPE_SKIP;
    if (e->http_status == 202 || e->http_status == 204)
        return phi__mhead_refuse(e, "no answer to a request");
    /* "text/html; charset=utf-8" becomes "text/html" */
    phi_str value = phi__headers_value(headers, "content-type");
    size_t end = phi__str_find(value, 0, ";");
    phi_str type = phi__str_trim(phi__str(value.at, end == SIZE_MAX ? value.len : end));
    bool get = phi__ex_is(e, "GET");
    char shown[100], why[240];
    if (phi__str_is_nocase(type, "text/event-stream")) return PHI__SHAPE_SSE;
    if (!get && (type.len == 0 || phi__mhead_is_json(type))) return PHI__SHAPE_JSON;
    phi__mhead_show(shown, sizeof shown, type);
    (void)snprintf(why, sizeof why, "content type \"%s\", expected %stext/event-stream", shown,
                   get ? "" : "application/json or ");
    return phi__mhead_refuse(e, why);
}

/* Keeps the session id from the answer to initialize. False: the id is invalid, or no memory;
   e->words is set. */
static bool phi__mhead_session(phi__exchange *e, phi_str headers) {
    phi_str id = phi__headers_value(headers, "mcp-session-id");
    phi__buf *own = &e->wire->session;
    for (size_t i = 0; i < id.len; i++)
        if (id.at[i] < 0x21 || id.at[i] > 0x7e) {
            (void)phi__mhead_refuse(e, "a session id with characters that are not visible "
                                       "ASCII");
            return false;
        }
    phi__buf_clear(own);
    phi__buf_add_str(own, id);
    if (!own->failed) return true;
    phi__buf_free(own);
    (void)phi__mhead_refuse(e, "no memory for its session id");
    return false;
}

/* Hides the request's secrets in a text. False: no memory; the text may still contain secrets. */
static bool phi__mhead_hide_in(const phi__exchange *e, char *at, size_t len,
                               phi__secret_text kind) {
    phi__secrets set;
    phi_arena arena = phi__arena_of(e->wire->memory, 0);
    phi__secret_init(&set, &arena);
    const phi_mcp_desc *desc = e->wire->desc;
    for (size_t i = 0; i < desc->header_count; i++)
        phi__secret_key(&set, phi_str_of(desc->headers[i].value));
    if (e->sent.len > 0)
        (void)phi__secret_header(&set, PHI__LIT("Authorization"), phi__buf_str(&e->sent));
    for (size_t i = 0; i < desc->header_count; i++)
        (void)phi__secret_header(&set, phi_str_of(desc->headers[i].name),
                                 phi_str_of(desc->headers[i].value));
    phi__secret_url(&set, e->wire->url);
    if (e->wire->session.len > 0) phi__secret_add(&set, phi__buf_str(&e->wire->session));
    bool fine = !set.failed;
    if (fine && len > 0) (void)phi__secret_hide(&set, at, len, kind);
    phi_arena_free(&arena);
    return fine;
}

/* Hides the request's secrets in e->words and e->body. */
static void phi__mhead_hide(phi__exchange *e) {
    if (phi__mhead_hide_in(e, e->words, strlen(e->words), PHI__SECRET_WORDS) &&
        phi__mhead_hide_in(e, e->body.at, e->body.len, PHI__SECRET_JSON))
        return;
    (void)snprintf(e->words, sizeof e->words, "HTTP %d from server", e->http_status);
    phi__buf_clear(&e->body);
}

/* Hides secrets in e->words and e->body. Adds the body's JSON-RPC message to e->words. */
static void phi__mhead_fault(phi__exchange *e) {
    phi__json_found found;
    phi_str text;
    size_t n = strlen(e->words);
    phi__mhead_hide(e);
    if (e->body.len == 0 || e->http_status / 100 == 2) return;
    if (phi__json_cursor_find(phi__buf_str(&e->body), "error.message", &found) != PHI_OK) return;
    phi_arena arena = phi__arena_of(e->wire->memory, 0);
    if (phi__json_cursor_found_str(&arena, &found, &text) && text.len > 0 &&
        n + 3 < sizeof e->words) {
        memcpy(e->words + n, ": ", 2);
        phi__mhead_show(e->words + n + 2, sizeof e->words - n - 2, text);
    }
    phi_arena_free(&arena);
}

/* ---- the life of an exchange: one HTTP request and its answer ---- */

enum {
    PHI__EXCHANGE_REDIRECTS = 3,
    PHI__EXCHANGE_CHALLENGES = 4,
    PHI__EXCHANGE_FULL_MS = 5000, /* pause if too many silent streams are open */
    PHI__EXCHANGE_FAULT = 65536   /* max. bytes of a refusal's body that are read */
};

/* Makes an exchange that sends the message of out, or if out is NULL, a copy of json. NULL: no
   memory. */
static phi__exchange *phi__ex_new(phi__wire *wire, const phi__ex_kind *kind, phi__out *out,
                                  phi_str json) {
    phi__exchange *e = (phi__exchange *)phi__alloc(wire->memory, sizeof *e);
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

/* Ends the transfer and the timer. The request can then be sent again. */
static void phi__ex_stop(phi__exchange *e) {
    phi__fetch_close(e->fetch);
    e->fetch = NULL;
    phi__io_timer_clear(e->wire->rt->io, &e->timer);
}

/* Returns `out` to the session, because the request was answered, lost or cancelled. */
static void phi__ex_detach(phi__exchange *e) {
    if (e->out != NULL) e->out->of_link = NULL;
    e->out = NULL;
}

static void phi__ex_destroy(phi__exchange *e) {
    phi__wire *wire = e->wire;
    phi__list_take(&wire->exchanges, &e->link);
    phi__buf_free(&e->json);
    phi__buf_free(&e->url);
    if (e->sent.len > 0) memset(e->sent.at, 0, e->sent.len);
    phi__buf_free(&e->sent);
    phi__buf_free(&e->body);
    phi__sse_free(&e->sse);
    phi__sse_resume_free(&e->resume);
    phi__free(wire->memory, e, sizeof *e);
}

static void phi__ex_waits(phi__exchange *e, bool waits) {
    phi__wire *wire = e->wire;
    if (e->waits == waits) return;
    e->waits = waits;
    wire->waiting += waits ? 1 : (uint32_t)-1;
    if (wire->waiting == (waits ? 1 : 0)) phi__mcp_wait(wire->mcp, waits);
}

/* Closes the exchange and clears out->of_link. If a function of its kind is running, the exchange
   is freed later. */
static void phi__ex_close(phi__exchange *e) {
    phi__wire *wire = e->wire;
    if (e->note) wire->notes--;
    if ((e->note && wire->full) || wire->gate == e) /* cannot fail: the timer has a place */
        (void)phi__io_timer_set(wire->rt->io, &wire->opened, 0);
    if (wire->gate == e) wire->gate = NULL;
    e->note = false;
    phi__ex_stop(e);
    phi__ex_detach(e);
    phi__ex_waits(e, false);
    e->closed = true;
    if (!e->busy) phi__ex_destroy(e);
}

/* Hides the request's secrets in an error: people see errors, and an error may quote a token.
   Returns `json` itself if nothing had to be hidden. Otherwise returns the cleaned text, whose
   memory is e->body or `copy`; without memory, the cleaned text is empty. */
static phi_str phi__ex_quiet(phi__exchange *e, phi_str json, phi__buf *copy) {
    phi__json_found found;
    phi__buf *own = json.at == e->body.at ? &e->body : copy;
    if ((e->sent.len == 0 && e->wire->desc->header_count == 0) ||
        json.len > (size_t)PHI__EXCHANGE_FAULT ||
        phi__json_cursor_find(json, "error", &found) != PHI_OK)
        return json;
    if (own == copy) phi__buf_add_str(copy, json);
    if (own->failed || !phi__mhead_hide_in(e, own->at, own->len, PHI__SECRET_JSON))
        return phi__str(NULL, 0);
    return phi__buf_str(own);
}

/* Calls kind->message. False: the exchange was freed. */
static bool phi__ex_give(phi__exchange *e, phi_str event, phi_str json) {
    phi__buf copy;
    if (json.len > 0) e->tries = 0;
    phi__buf_init(&copy, &e->wire->rt->memory); /* kind->message may free mcp */
    e->busy = true;
    bool stays = e->kind->message(e, event, phi__ex_quiet(e, json, &copy));
    phi__buf_free(&copy);
    if (!stays) return false;
    e->busy = false;
    if (!e->closed) return true;
    phi__ex_destroy(e);
    return false;
}

/* Ends the exchange with a failure. False: the connection was freed. */
static bool phi__ex_fail(phi__exchange *e, phi_status status, const char *words) {
    if (words != NULL) (void)snprintf(e->words, sizeof e->words, "%s", words);
    phi__ex_stop(e);
    phi__mhead_hide(e);
    return e->kind->ended(e, status);
}

static bool phi__ex_repeat(phi__exchange *e) {
    phi__ex_stop(e);
    phi_status status = phi__ex_send(e);
    return status == PHI_OK || phi__ex_fail(e, status, NULL);
}

/* Follows a redirect within the server's origin. Other redirects fail. */
static void phi__ex_redirect(phi__exchange *e, phi_str location) {
    e->redirects++;
    phi__buf to = phi__buf_of(e->wire->memory);
    if (!phi__place_join(&to, e->url.len > 0 ? phi__buf_str(&e->url) : e->wire->url, location)) {
        phi__buf_free(&to);
        (void)phi__ex_fail(e, PHI_REFUSED,
                           "HTTP 307 or 308 from server: a redirect to another place is not "
                           "followed");
        return;
    }
    phi__buf_free(&e->url);
    e->url = to;
    (void)phi__ex_repeat(e);
}

static void phi__ex_challenged(phi__exchange *e, phi_str headers) {
    char message[sizeof e->words];
    e->challenges++;
    phi_status status =
        phi__oauth_challenge(e->wire->oauth, e->http_status, headers, phi__buf_str(&e->sent));
    if (status == PHI_OK) {
        (void)phi__ex_repeat(e);
        return;
    }
    phi__ex_stop(e);
    if (status == PHI_BUSY) {
        phi__ex_waits(e, true);
        return;
    }
    (void)snprintf(message, sizeof message, "HTTP %d from server: %s", e->http_status,
                   phi_last_error(e->wire->rt).message);
    (void)phi__ex_fail(e, status, message);
}

static void phi__ex_head(void *user_data, int http_status, phi_str headers) {
    phi__exchange *e = (phi__exchange *)user_data;
    phi_str location = phi__headers_value(headers, "location");
    e->http_status = http_status;
    if (e->wire->oauth != NULL) phi__oauth_heard(e->wire->oauth, headers);
    if (http_status / 100 == 2) e->redirects = e->challenges = 0; /* e may be sent again */
    if ((http_status == 307 || http_status == 308) && location.len > 0 &&
        e->redirects < PHI__EXCHANGE_REDIRECTS)
        phi__ex_redirect(e, location);
    else if ((http_status == 401 || http_status == 403) && e->wire->oauth != NULL &&
             e->challenges < PHI__EXCHANGE_CHALLENGES)
        phi__ex_challenged(e, headers);
    else {
        e->shape = phi__mhead_shape(e, headers);
        if (e->shape != PHI__SHAPE_FAULT && e->initialize && !phi__mhead_session(e, headers))
            e->shape = PHI__SHAPE_FAULT;
    }
}

static void phi__ex_events(phi__exchange *e, phi_str bytes) {
    phi__sse_event event;
    char words[100];
    int got;
    phi__sse_feed(&e->sse, bytes.at, bytes.len);
    while ((got = phi__sse_next(&e->sse, &event)) > 0)
        if (!phi__ex_give(e, event.name, event.data)) return;
    if (!phi__fetch_value_fits(phi__buf_str(&e->resume.id))) phi__buf_clear(&e->resume.id);
    if (got == 0) return;
    (void)snprintf(words, sizeof words, "an event is larger than %llu bytes",
                   (unsigned long long)e->wire->desc->max_message_bytes);
    if (got == PHI_NO_MEMORY) (void)snprintf(words, sizeof words, "no memory for the answer");
    (void)phi__ex_fail(e, (phi_status)got, words);
}

static void phi__ex_collect(phi__exchange *e, phi_str bytes) {
    bool fault = e->shape == PHI__SHAPE_FAULT;
    size_t most = fault ? (size_t)PHI__EXCHANGE_FAULT : e->wire->desc->max_message_bytes;
    char words[100];
    if (phi__add(e->body.len, bytes.len) > most && !fault) {
        (void)snprintf(words, sizeof words, "the answer is larger than %llu bytes",
                       (unsigned long long)most);
        phi__buf_free(&e->body);
        (void)phi__ex_fail(e, PHI_TOO_BIG, words);
        return;
    }
    phi__buf_add(&e->body, bytes.at, phi__min(bytes.len, most - e->body.len));
    if (e->body.failed)
        (void)phi__ex_fail(e, PHI_NO_MEMORY, "no memory for the answer");
    else if (e->body.len == most && fault) { /* the rest of the refusal is not needed */
        phi__mhead_fault(e);
        phi__ex_stop(e);
        (void)e->kind->ended(e, PHI_REFUSED);
    }
}

static size_t phi__ex_body(void *user_data, phi_str bytes) {
    phi__exchange *e = (phi__exchange *)user_data;
    if (e->shape == PHI__SHAPE_SSE)
        phi__ex_events(e, bytes);
    else if (e->shape != PHI__SHAPE_SKIP)
        phi__ex_collect(e, bytes);
    return bytes.len;
}

/* Reads a last event that has no blank line after it. Ignores this event if the stream can be
   resumed, because the server then repeats it. False: the exchange was freed. */
static bool phi__ex_last(phi__exchange *e) {
    phi__sse_event event;
    if (e->resume.id.len > 0) return true;
    while (phi__sse_finish(&e->sse, &event) > 0)
        if (!phi__ex_give(e, event.name, event.data)) return false;
    return true;
}

static void phi__ex_end(void *user_data, phi_status status, const char *message) {
    phi__exchange *e = (phi__exchange *)user_data;
    e->fetch = NULL;
    if (status != PHI_OK) {
        (void)snprintf(e->words, sizeof e->words, "%s", message);
        e->shape = e->shape == PHI__SHAPE_SSE ? e->shape : PHI__SHAPE_NONE;
    } else if (e->shape == PHI__SHAPE_FAULT) {
        phi__mhead_fault(e);
        status = e->http_status / 100 == 2 ? PHI_PARSE : PHI_REFUSED;
    } else if (e->shape == PHI__SHAPE_JSON && e->body.len == 0) {
        (void)snprintf(e->words, sizeof e->words, "HTTP %d from server: an empty answer",
                       e->http_status);
        status = PHI_PARSE;
    } else if (e->shape == PHI__SHAPE_JSON) {
        if (!phi__ex_give(e, phi__str(NULL, 0), phi__buf_str(&e->body))) return;
    } else if (e->shape == PHI__SHAPE_SSE && !phi__ex_last(e))
        return;
    (void)e->kind->ended(e, status);
}

/* ---- sending ---- */

static void phi__ex_timer(phi__timer *timer) {
    phi__exchange *e = PHI__OWNER(timer, phi__exchange, timer);
    if (e->kind->late != NULL)
        e->kind->late(e);
    else
        (void)phi__ex_repeat(e);
}

/* Starts the timer that calls kind->late. */
static phi_status phi__ex_later(phi__exchange *e, uint64_t ms) {
    phi__io *io = e->wire->rt->io;
    e->timer.fire = phi__ex_timer;
    if (e->kind->late != NULL) return phi__io_deadline_set(io, &e->timer, ms * 1000);
    return phi__mcp_timer_in(io, &e->timer, ms);
}

static phi_status phi__ex_open(phi__exchange *e) {
    phi__header *headers = NULL;
    phi_status status = PHI_OK;
    const char *words = "";
    phi__fetch_desc desc = PHI_ZERO;
    phi_arena arena = phi__arena_of(e->wire->memory, 1024);
    phi__buf proof = phi__buf_of(e->wire->memory);
    /* Uses the runtime's memory: the last callback may free mcp before the transfer is freed. */
    desc.memory = &e->wire->rt->memory;
    desc.method = phi_str_of(e->kind->method);
    desc.url = e->url.len > 0 ? phi__buf_str(&e->url) : e->wire->url;
    desc.body = e->out != NULL ? e->out->json : phi__buf_str(&e->json);
    if (!phi__ex_is(e, "POST")) desc.body = phi__str(NULL, 0);
    /* The old transport's stream carries all answers, so it does not count as an idle stream. */
    desc.stands = e->out != NULL ? e->out->stream : e->kind->stands;
    desc.on_head = phi__ex_head;
    desc.on_body = phi__ex_body;
    desc.on_end = phi__ex_end;
    desc.user_data = e;
    /* The session has deadlines for requests. Notifications get the connection's timeout. */
    phi_deadlines *d = &desc.deadlines;
    bool waits = e->out != NULL || phi__ex_is(e, "GET");
    d->first_event_ms = d->idle_ms = waits ? PHI_UNLIMITED : e->wire->desc->timeout_ms;
    if (e->sent.len > 0)
        status = phi__oauth_proof(e->wire->oauth, e->kind->method, desc.url, &proof);
    if (status != PHI_OK)
        words = phi_last_error(e->wire->rt).message;
    else if (!phi__mhead_make(e, phi__buf_str(&proof), &arena, &headers, &desc.header_count))
        status = PHI_NO_MEMORY;
    else {
        desc.headers = headers;
        status = phi__fetch_open(e->wire->rt, &desc, &e->fetch);
        if (status == PHI_FULL)
            status = phi__ex_later(e, PHI__EXCHANGE_FULL_MS);
        else if (status != PHI_OK)
            words = phi_last_error(e->wire->rt).message;
    }
    if (status != PHI_OK)
        (void)snprintf(e->words, sizeof e->words, "%s", words[0] != '\0' ? words : "no memory");
    phi__buf_free(&proof);
    phi_arena_free(&arena);
    return status;
}

/* Sets e->sent to the current authorization. PHI_BUSY: the exchange must wait for one. */
static phi_status phi__ex_authorize(phi__exchange *e) {
    const char *words = "";
    phi_str value;
    if (e->sent.len > 0) memset(e->sent.at, 0, e->sent.len);
    phi__buf_clear(&e->sent);
    if (e->wire->oauth == NULL) return PHI_OK;
    phi_status status = phi__oauth_header(e->wire->oauth, &value);
    if (status == PHI_NOT_FOUND) return PHI_OK;
    if (status == PHI_OK) {
        phi__buf_add_str(&e->sent, value);
        return e->sent.failed ? PHI_NO_MEMORY : PHI_OK;
    }
    words = phi_last_error(e->wire->rt).message;
    (void)snprintf(e->words, sizeof e->words, "%s", words);
    return status;
}

/* Sends the request, or makes it wait for wire->gate or for an authorization. On failure, nothing
   was sent and e->words has the message. Calls no function of the kind. */
static phi_status phi__ex_send(phi__exchange *e) {
    e->held = e->wire->gate != NULL && e->wire->gate != e;
    if (e->held) return PHI_OK;
    e->http_status = 0;
    e->shape = PHI__SHAPE_NONE;
    e->words[0] = '\0';
    e->in_session = e->wire->session.len > 0;
    e->epoch = e->wire->epoch;
    e->opened_us = phi__io_now_us(e->wire->rt->io);
    phi__buf_clear(&e->body);
    phi__sse_free(&e->sse);
    phi__sse_resume_with(&e->sse, &e->resume);
    phi_status status = phi__ex_authorize(e);
    if (status == PHI_BUSY) {
        phi__ex_waits(e, true);
        return PHI_OK;
    }
    return status == PHI_OK ? phi__ex_open(e) : status;
}

static void phi__ex_opened(phi__timer *timer) {
    phi__wire *wire = PHI__OWNER(timer, phi__wire, opened);
    phi__link *link = wire->exchanges.first;
    (void)phi__io_timer_set(wire->rt->io, timer, UINT64_MAX);
    while (wire->gate == NULL && link != NULL) {
        phi__exchange *e = PHI__OWNER(link, phi__exchange, link);
        link = link->next;
        if (!e->held) continue;
        if (!phi__ex_repeat(e)) return;
        link = wire->exchanges.first; /* phi__ex_repeat may have closed any exchange */
    }
    if (!wire->full || wire->notes >= PHI__EXCHANGE_NOTES) return;
    wire->full = false;
    phi__mcp_drained(wire->mcp);
}

/* ---- streams that a GET opens: the server's own messages, and the old transport ---- */

enum {
    PHI__STREAM_RETRY_MS = 1000, /* delay if the server names none */
    PHI__STREAM_LEAST_MS = 100,  /* delay if the server names a shorter one */
    PHI__STREAM_MOST_MS = 30000,
    PHI__STREAM_LASTED_US = 5000000, /* a stream that lasted this long did not fail */
    PHI__STREAM_ENDPOINT_MS = 10000  /* old transport: time for the first event */
};

#define PHI__STREAM_NAMED_MS UINT64_C(3600000) /* longest delay a server can ask for */

/* Returns the delay before a stream is opened again, and counts the attempt. */
static uint64_t phi__stream_delay(phi__exchange *e) {
    uint64_t now = phi__io_now_us(e->wire->rt->io);
    uint64_t named = e->resume.has_retry ? e->resume.retry_ms : (uint64_t)PHI__STREAM_RETRY_MS;
    if (now - e->opened_us >= PHI__STREAM_LASTED_US) e->tries = 0;
    uint64_t grown =
        e->tries == 0 ? 0 : (uint64_t)PHI__STREAM_RETRY_MS << phi__min(e->tries - 1, 5);
    if (grown > (uint64_t)PHI__STREAM_MOST_MS) grown = PHI__STREAM_MOST_MS;
    if (named > PHI__STREAM_NAMED_MS) named = PHI__STREAM_NAMED_MS;
    if (named < PHI__STREAM_LEAST_MS) named = PHI__STREAM_LEAST_MS;
    e->tries++;
    return named > grown ? named : grown;
}

/* Reports a request as lost and closes its exchange. False: the connection was freed. */
static bool phi__stream_lose(phi__exchange *e, phi_status status) {
    phi__out *out = e->out;
    char words[sizeof e->words];
    memcpy(words, e->words, sizeof words);
    phi__ex_stop(e);
    phi__ex_detach(e);
    if (out != NULL) {
        e->busy = true; /* the session reads e->body during the call */
        if (!phi__mcp_lost(e->wire->mcp, out, status, e->http_status, phi__buf_str(&e->body),
                           words))
            return false;
        e->busy = false;
    }
    phi__ex_close(e);
    return true;
}

/* Passes a message to the session. Events without data or with another name are ignored. */
static bool phi__stream_heard(phi__exchange *e, phi_str event, phi_str json) {
    if (json.len == 0 || (event.len > 0 && !phi__str_is(event, "message"))) return true;
    return phi__mcp_message(e->wire->mcp, json, e->out);
}

/* Closes the stream of the server's own messages, if it is open. */
static void phi__stream_deafen(phi__mcp_http *http) {
    phi__exchange *e = http->listening;
    http->listening = NULL;
    if (e != NULL) phi__ex_close(e);
}

/* Opens the stream again later unless the server refuses it. False: the connection was freed. */
static bool phi__stream_unheard(phi__exchange *e, phi_status status) {
    phi__mcp_http *http = (phi__mcp_http *)e->owner;
    bool none = e->denied || status == PHI_PARSE || (status == PHI_REFUSED && e->http_status < 500);
    bool expired = phi__ex_expired(e);
    if (status == PHI_TOO_BIG) phi__sse_resume_free(&e->resume); /* do not get that event again */
    if (!none && status != PHI_CANCELLED && !http->closing &&
        phi__ex_later(e, phi__stream_delay(e)) == PHI_OK)
        return true;
    phi__stream_deafen(http);
    return !expired || phi__mcp_expired(http->link.mcp, NULL);
}

/* ---- the old transport ---- */

/* Closes the stream of the old transport, if it is open. */
static void phi__stream_shut(phi__mcp_http *http) {
    phi__exchange *e = http->stream;
    http->stream = NULL;
    phi__buf_free(&http->endpoint);
    if (e != NULL) phi__ex_close(e);
}

/* Reports the waiting initialize as lost. words: the message, or NULL for the message of the
   exchange. False: the connection was freed. */
static bool phi__stream_fail(phi__mcp_http *http, phi_status status, const char *words) {
    phi__exchange *first = http->first;
    char message[sizeof first->words];
    (void)snprintf(message, sizeof message, "%.*s", (int)sizeof message - 1,
                   words != NULL ? words : "");
    http->first = NULL;
    phi__stream_shut(http);
    if (first == NULL) return true;
    if (first->words[0] == '\0' || words != NULL)
        (void)snprintf(first->words, sizeof first->words, "%s", message);
    return phi__stream_lose(first, status);
}

static bool phi__stream_endpoint(phi__mcp_http *http, phi_str data) {
    phi__exchange *first = http->first;
    if (http->endpoint.len > 0) return true; /* only the first endpoint event counts */
    if (!phi__place_join(&http->endpoint, http->wire.url, phi__str_trim(data)))
        return phi__stream_fail(http, PHI_REFUSED,
                                "the server's endpoint event names another place than its own "
                                "origin, which is not followed");
    http->old = true;
    phi__io_timer_clear(http->wire.rt->io, &http->stream->timer);
    if (first == NULL) return true;
    http->first = NULL;
    first->kind = phi__mhttp_kind(PHI__MCP_HTTP_OLD);
    phi__buf_clear(&first->url);
    phi__buf_add_str(&first->url, phi__buf_str(&http->endpoint));
    phi_status status = first->url.failed ? PHI_NO_MEMORY : phi__ex_send(first);
    return status == PHI_OK || first->kind->ended(first, status);
}

static bool phi__stream_message(phi__exchange *e, phi_str event, phi_str json) {
    phi__mcp_http *http = (phi__mcp_http *)e->owner;
    if (phi__str_is(event, "endpoint")) return phi__stream_endpoint(http, json);
    return http->endpoint.len == 0 || phi__stream_heard(e, event, json);
}

static bool phi__stream_ended(phi__exchange *e, phi_status status) {
    phi__mcp_http *http = (phi__mcp_http *)e->owner;
    bool connected = http->endpoint.len > 0;
    char words[sizeof e->words + 40];
    (void)snprintf(words, sizeof words, "the server's stream has ended%s%s",
                   e->words[0] != '\0' ? ": " : "", e->words);
    if (!connected) /* the server does not use the old transport after all */
        return phi__stream_fail(http, PHI_REFUSED, http->old ? words : NULL);
    phi__stream_shut(http);
    if (http->closing) return true;
    return phi__mcp_down(http->link.mcp, status == PHI_OK ? PHI_NETWORK : status, false, words);
}

static void phi__stream_late(phi__exchange *e) {
    phi__mcp_http *http = (phi__mcp_http *)e->owner;
    /* Nothing was sent yet: a person may still have to authorize. */
    if (e->waits && phi__ex_later(e, PHI__STREAM_ENDPOINT_MS) == PHI_OK) return;
    (void)phi__stream_fail(http, PHI_TIMEOUT, http->old ? "the server names no endpoint" : NULL);
}

/* Opens the old transport's stream for the exchange `first`, which waits for the stream's endpoint.
   Calls no function of the session. */
static phi_status phi__stream_again(phi__mcp_http *http, phi__exchange *first) {
    static const phi__ex_kind kind = {
        "GET", false, false, phi__stream_message, phi__stream_ended, phi__stream_late};
    phi__stream_shut(http);
    phi__exchange *e = phi__ex_new(&http->wire, &kind, NULL, phi__str(NULL, 0));
    if (e == NULL) return PHI_NO_MEMORY;
    e->owner = http;
    http->stream = e;
    http->first = first;
    phi_status status = phi__ex_later(e, PHI__STREAM_ENDPOINT_MS);
    if (status == PHI_OK) status = phi__ex_send(e);
    if (status == PHI_OK) return status;
    http->first = NULL;
    phi__stream_shut(http);
    return status;
}

/* ---- the link: POSTs and the connection ---- */

enum {
    PHI__MCP_HTTP_LINGER_MS = 1000, /* time for a stream to end after its answer */
    PHI__MCP_HTTP_TRIES = 8,        /* attempts to resume a stream while no message arrives */
    PHI__MCP_HTTP_CLOSING_US = 10000
};

static phi__mcp_http *phi__mhttp_of(const phi__mcp_link *link) {
    return PHI__OWNER((uintptr_t)link, phi__mcp_http, link);
}

/* True if the server refused initialize as a server of the old transport would. A refusal by a
   server of 2026-07-28 has an error code instead, for wrong headers, a missing capability or an
   unknown version. */
static bool phi__mhttp_maybe_old(const phi__exchange *e, phi_status status) {
    int http = e->http_status;
    phi__json_found found;
    int64_t code = 0;
    if (status != PHI_REFUSED || !e->initialize || e->url.len > 0 ||
        (http != 400 && http != 404 && http != 405))
        return false;
    return phi__json_cursor_find(phi__buf_str(&e->body), "error.code", &found) != PHI_OK ||
           !phi__json_cursor_found_int(&found, &code) || code > PHI__RPC_HEADERS ||
           code < PHI__RPC_VERSION;
}

static bool phi__mhttp_resumable(const phi__exchange *e, phi_status status) {
    const phi__mcp_http *http = (const phi__mcp_http *)e->owner;
    bool get = phi__ex_is(e, "GET");
    if (http->closing || e->denied || e->resume.id.len == 0 || e->tries >= PHI__MCP_HTTP_TRIES)
        return false;
    if (e->wire->era != NULL && !e->wire->era->resumption) return false;
    if (get && status == PHI_REFUSED) return e->http_status >= 500;
    if (!get && e->shape != PHI__SHAPE_SSE) return false;
    return status == PHI_OK || status == PHI_NETWORK || status == PHI_TLS ||
           status == PHI_TIMEOUT || status == PHI_UNREACHABLE;
}

static bool phi__mhttp_ended(phi__exchange *e, phi_status status);

/* Closes an exchange whose request is gone, or resumes a broken stream. */
static void phi__mhttp_late(phi__exchange *e) {
    if (e->out == NULL) {
        phi__ex_close(e);
        return;
    }
    phi_status status = phi__ex_send(e);
    if (status != PHI_OK) (void)phi__mhttp_ended(e, status);
}

/* Handles the end of a POST with our notification or answer. Warns if the server refused it. */
static bool phi__mhttp_unsent(phi__exchange *e, phi_status status) {
    phi_mcp *mcp = e->wire->mcp;
    char words[sizeof e->words + 40];
    bool expired = phi__ex_expired(e);
    bool refused = status == PHI_REFUSED && e->json.len > 0;
    (void)snprintf(words, sizeof words, "a notification was refused: %s", e->words);
    phi__ex_close(e);
    if (expired) return phi__mcp_expired(mcp, NULL);
    return !refused || phi__mcp_warn(mcp, words);
}

static bool phi__mhttp_ended(phi__exchange *e, phi_status status) {
    phi__mcp_http *http = (phi__mcp_http *)e->owner;
    phi__out *out = e->out;
    if (out == NULL) return phi__mhttp_unsent(e, status);
    if (phi__ex_expired(e)) {
        phi__ex_close(e);
        return phi__mcp_expired(http->link.mcp, out);
    }
    if (phi__mhttp_maybe_old(e, status)) /* initialize now waits for the old transport's endpoint */
        return phi__stream_again(http, e) == PHI_OK || phi__stream_lose(e, PHI_REFUSED);
    if (phi__mhttp_resumable(e, status)) {
        e->kind = phi__mhttp_kind(PHI__MCP_HTTP_RESUME);
        status = phi__ex_later(e, phi__stream_delay(e));
        if (status == PHI_OK) return true;
    }
    if (status == PHI_OK && e->shape == PHI__SHAPE_SSE) {
        (void)snprintf(e->words, sizeof e->words, "the stream has ended without an answer");
        status = PHI_NETWORK;
    } else if (status == PHI_OK) {
        (void)snprintf(e->words, sizeof e->words, "HTTP %d from server: no answer to the request",
                       e->http_status);
        status = PHI_PARSE;
    }
    return phi__stream_lose(e, status);
}

/* Handles the end of a POST of the old transport. Its answer arrives on the stream. */
static bool phi__mhttp_posted(phi__exchange *e, phi_status status) {
    if (e->out == NULL) return phi__mhttp_unsent(e, status);
    if (status != PHI_OK) return phi__stream_lose(e, status);
    phi__ex_close(e);
    return true;
}

static const phi__ex_kind *phi__mhttp_kind(phi__mhttp_what what) {
    static const phi__ex_kind kinds[] = {
        {"POST", false, false, phi__stream_heard, phi__mhttp_ended, phi__mhttp_late},
        {"POST", false, true, phi__stream_heard, phi__mhttp_ended, phi__mhttp_late},
        {"GET", false, false, phi__stream_heard, phi__mhttp_ended, phi__mhttp_late},
        {"POST", false, true, phi__stream_heard, phi__mhttp_posted, NULL}};
    return &kinds[what];
}

static phi_status phi__mhttp_send(phi__mcp_link *link, phi__out *out) {
    phi__mcp_http *http = phi__mhttp_of(link);
    phi_status status = PHI_OK;
    if (http->closing && out->request) return PHI_MISUSE;
    if (!out->request && http->wire.notes >= PHI__EXCHANGE_NOTES) {
        http->wire.full = true; /* a server may ask faster than it accepts our answers */
        return PHI_FULL;
    }
    phi__mhttp_what what = http->old      ? PHI__MCP_HTTP_OLD
                           : out->request ? PHI__MCP_HTTP_REQUEST
                                          : PHI__MCP_HTTP_TOLD;
    phi__exchange *e =
        phi__ex_new(&http->wire, phi__mhttp_kind(what), out->request ? out : NULL, out->json);
    if (e == NULL) return PHI_NO_MEMORY;
    e->owner = http;
    if (!out->request) {
        e->note = true;
        e->wire->notes++;
    }
    if (phi__str_is(out->method, "notifications/initialized")) http->wire.gate = e;
    if (http->old && http->endpoint.len == 0 && e->initialize) {
        status = phi__stream_again(http, e);
    } else {
        if (http->old) phi__buf_add_str(&e->url, phi__buf_str(&http->endpoint));
        status = e->url.failed ? PHI_NO_MEMORY : phi__ex_send(e);
    }
    if (status != PHI_OK) phi__ex_close(e);
    return status;
}

static void phi__mhttp_forget(phi__mcp_link *link, phi__out *out) {
    phi__mcp_http *http = phi__mhttp_of(link);
    phi__exchange *e = (phi__exchange *)out->of_link;
    if (e == NULL) return;
    if (e == http->first) {
        http->first = NULL;
        phi__stream_shut(http);
    }
    phi__ex_detach(e);
    /* The answer was reported. If the stream ends soon, its connection can be used again. */
    if (!e->busy || phi__ex_later(e, PHI__MCP_HTTP_LINGER_MS) != PHI_OK) phi__ex_close(e);
}

static void phi__mhttp_agreed(phi__mcp_link *link, const char *version, bool modern) {
    phi__mcp_http *http = phi__mhttp_of(link);
    phi__wire *wire = &http->wire;
    wire->era = version != NULL ? phi__eras_find(phi_str_of(version)) : NULL;
    (void)snprintf(wire->version, sizeof wire->version, "%s", version != NULL ? version : "");
    if (version != NULL && !modern) return;
    phi__stream_deafen(http);
    phi__buf_clear(&wire->session);
    wire->epoch++;
}

static void phi__mhttp_listen(phi__mcp_link *link) {
    phi__mcp_http *http = phi__mhttp_of(link);
    static const phi__ex_kind kind = {"GET", true, false, phi__stream_heard, phi__stream_unheard,
                                      NULL};
    if (http->listening != NULL || http->stream != NULL) return;
    phi__exchange *e = phi__ex_new(&http->wire, &kind, NULL, phi__str(NULL, 0));
    if (e == NULL) return; /* the session works without the stream, but misses changes of lists */
    e->owner = http;
    http->listening = e;
    phi_status status = phi__ex_send(e);
    if (status != PHI_OK) (void)phi__stream_unheard(e, status); /* nothing was sent */
}

/* ---- the connection ---- */

static void phi__mhttp_close_all(phi__mcp_http *http) {
    phi__link *next;
    phi__stream_deafen(http);
    phi__stream_shut(http);
    http->first = NULL;
    for (phi__link *link = http->wire.exchanges.first; link != NULL; link = next) {
        next = link->next;
        phi__ex_close(PHI__OWNER(link, phi__exchange, link));
    }
}

static bool phi__mhttp_left(phi__exchange *e, phi_status status) {
    (void)status;
    phi__ex_close(e);
    return true;
}

/* Closes the connection: waits for exchanges under way, then sends DELETE. Stops waiting at the
   deadline. */
static void phi__mhttp_closes(phi__mcp_http *http) {
    phi__io *io = http->wire.rt->io;
    uint64_t now = phi__io_now_us(io);
    phi__stream_deafen(http);
    phi__stream_shut(http);
    if (http->wire.exchanges.first == NULL && http->wire.session.len > 0 && !http->ended) {
        static const phi__ex_kind kind = {"DELETE",          false,           true,
                                          phi__stream_heard, phi__mhttp_left, NULL};
        http->ended = true;
        phi__exchange *e = phi__ex_new(&http->wire, &kind, NULL, phi__str(NULL, 0));
        if (e != NULL && phi__ex_send(e) != PHI_OK) phi__ex_close(e);
    }
    if (http->wire.exchanges.first != NULL && now < http->close_by_us &&
        phi__io_timer_set(io, &http->timer, now + PHI__MCP_HTTP_CLOSING_US) == PHI_OK)
        return;
    phi__mhttp_close_all(http);
    phi__buf_clear(&http->wire.session);
    http->closing = false;
    (void)phi__mcp_down(http->link.mcp, PHI_OK, false, "");
}

static void phi__mhttp_timer(phi__timer *timer) {
    phi__mcp_http *http = PHI__OWNER(timer, phi__mcp_http, timer);
    if (http->closing)
        phi__mhttp_closes(http);
    else if (http->opening) {
        http->opening = false;
        phi__mcp_up(http->link.mcp);
    }
}

static phi_status phi__mhttp_soon(phi__mcp_http *http) {
    http->timer.fire = phi__mhttp_timer;
    return phi__mcp_timer_in(http->wire.rt->io, &http->timer, 0);
}

static phi_status phi__mhttp_open(phi__mcp_link *link) {
    phi__mcp_http *http = phi__mhttp_of(link);
    phi__mhttp_close_all(http);
    phi__buf_clear(&http->wire.session);
    http->wire.epoch++;
    http->closing = http->ended = false;
    http->opening = true;
    return phi__mhttp_soon(http);
}

static void phi__mhttp_close(phi__mcp_link *link) {
    phi__mcp_http *http = phi__mhttp_of(link);
    phi__io *io = http->wire.rt->io;
    if (http->closing) return;
    http->opening = false;
    http->closing = true;
    http->close_by_us = phi__io_now_us(io) + (uint64_t)http->wire.desc->close_ms * 1000;
    if (phi__mhttp_soon(http) != PHI_OK) http->close_by_us = 0;
}

static void phi__mhttp_free(phi__mcp_link *link) {
    phi__mcp_http *http = phi__mhttp_of(link);
    phi_memory *memory = http->wire.memory;
    for (phi__link *at = http->wire.exchanges.first; at != NULL; at = at->next) {
        phi__exchange *e = PHI__OWNER(at, phi__exchange, link);
        e->waits = e->busy = false; /* no function of the session is running now */
    }
    phi__mhttp_close_all(http);
    phi__oauth_free(http->wire.oauth);
    phi__io_timer_clear(http->wire.rt->io, &http->wire.opened);
    phi__io_timer_clear(http->wire.rt->io, &http->timer);
    if (http->wire.session.len > 0) memset(http->wire.session.at, 0, http->wire.session.len);
    phi__buf_free(&http->wire.session);
    phi__buf_free(&http->endpoint);
    phi__free(memory, http, sizeof *http);
}

/* ---- authorization, and making a link ---- */

static void phi__mhttp_authorized(void *ctx, phi_status status, const char *message) {
    phi__mcp_http *http = (phi__mcp_http *)ctx;
    if (status == PHI_OK && message[0] != '\0' && !phi__mcp_warn(http->wire.mcp, message)) return;
    for (phi__link *link = http->wire.exchanges.first; link != NULL; link = link->next) {
        phi__exchange *e = PHI__OWNER(link, phi__exchange, link);
        e->again = e->waits;
    }
    phi__link *link = http->wire.exchanges.first;
    while (link != NULL) {
        phi__exchange *e = PHI__OWNER(link, phi__exchange, link);
        bool good;
        link = link->next;
        if (!e->again) continue;
        e->again = false;
        e->denied = status != PHI_OK && status != PHI_NETWORK && status != PHI_NO_MEMORY;
        phi__ex_waits(e, false);
        if (status == PHI_OK)
            good = phi__ex_repeat(e);
        else /* PHI_DENIED tells a stream not to open again */
            good = phi__ex_fail(
                e, e->denied && e->out != NULL && e->out->stream ? PHI_DENIED : status, message);
        if (!good) return;
        link = http->wire.exchanges.first; /* the call may have closed any exchange */
    }
}

PHI__FN phi__oauth *phi__mhttp_oauth(const phi__mcp_link *link) {
    return phi__mhttp_of(link)->wire.oauth;
}

PHI__FN phi_status phi__mhttp_new(phi_mcp *mcp, phi__mcp_link **out) {
    phi_memory *memory = &mcp->memory;
    phi__mcp_http *http = (phi__mcp_http *)phi__alloc(memory, sizeof *http);
    static const phi__mcp_link_table table = {phi__mhttp_open,
                                              phi__mhttp_send,
                                              phi__mhttp_forget,
                                              phi__mhttp_agreed,
                                              phi__mhttp_listen,
                                              phi__mhttp_close,
                                              phi__mhttp_free,
                                              NULL,
                                              NULL};
    *out = NULL;
    if (http == NULL) return PHI_NO_MEMORY;
    phi__wire *wire = &http->wire;
    http->link.table = &table;
    http->link.mcp = wire->mcp = mcp;
    wire->rt = mcp->rt;
    wire->memory = memory;
    wire->desc = &mcp->desc;
    wire->url = phi_str_of(mcp->desc.url);
    phi__buf_init(&wire->session, memory);
    phi__buf_init(&http->endpoint, memory);
    wire->opened.fire = phi__ex_opened;
    phi_status status = phi__io_timer_set(wire->rt->io, &wire->opened, UINT64_MAX);
    if (status == PHI_OK && mcp->desc.oauth != NULL) {
        phi__oauth_listener listener;
        listener.changed = phi__mhttp_authorized;
        listener.ctx = http;
        /* Uses the runtime's memory: a callback of the authorization may free mcp. */
        status = phi__oauth_new(wire->rt, &wire->rt->memory, mcp->desc.oauth, wire->url,
                                mcp->desc.client_name, &listener, &wire->oauth);
    }
    if (status != PHI_OK) {
        phi__mhttp_free(&http->link);
        return status;
    }
    *out = &http->link;
    return PHI_OK;
}
