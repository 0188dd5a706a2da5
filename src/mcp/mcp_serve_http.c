/* mcp_serve_http.c - the server over HTTP: checks of requests, and streams of answers.

   Each POST is a way, and so is the listening stream (GET) of a session. If the first message of an
   answer is also the last, it is sent as JSON; otherwise the answer is a stream of events.

   A web page must not reach a server on this machine (DNS rebinding). So the names in Host and
   Origin must be loopback names or allowed by the desc, and a body must be application/json, which
   a page of another site cannot send without a preflight request.

   In a session, the events of a stream are kept for a while. A client that lost its connection
   resumes the stream by a GET with the id of the last event it has. Until then the stream is
   adrift: it has no exchange, and new events are only kept.

   A way is freed by its own timer, never inside a function that the server calls. */

#include "mcp/mcp_serve_in.h"
#include "serve/serve_in.h"

#include "mcp/mcp_serve_state_in.h"

#include <stdio.h>

/* ---- checks of a request against pages of other sites (DNS rebinding) ---- */

#ifndef PHI_NO_LISTEN

/* Returns the name in "name", "name:port" or "[v6]:port". */
static phi_str phi__admit_name(phi_str authority) {
    size_t end = authority.len;
    for (size_t i = 0; i < authority.len; i++) {
        if (authority.at[i] == ']') return phi__str(authority.at, i + 1);
        if (authority.at[i] == ':' && end == authority.len) end = i;
    }
    return authority.len > 0 && authority.at[0] == '[' ? authority : phi__str(authority.at, end);
}

static bool phi__admit_is_loopback(phi_str authority) {
    phi_str name = phi__admit_name(authority);
    return phi__str_is_nocase(name, "localhost") || phi__str_is(name, "127.0.0.1") ||
           phi__str_is(name, "[::1]");
}

/* True if only a port follows the name. */
static bool phi__admit_ends(phi_str authority) {
    size_t i = phi__admit_name(authority).len;
    if (i == authority.len) return true;
    if (authority.at[i++] != ':' || authority.len - i > 5) return false;
    while (i < authority.len && authority.at[i] >= '0' && authority.at[i] <= '9') i++;
    return i == authority.len;
}

static bool phi__admit_listed(const char *const *list, phi_str value) {
    for (; list != NULL && *list != NULL; list++)
        if (phi__str_is_nocase(value, *list)) return true;
    return false;
}

/* True if `host` is a name of this server. With a token, other names may be allowed, too. */
PHI__FN bool phi__admit_host(const phi_mcp_server_desc *desc, phi_str host) {
    phi_str name = phi__admit_name(host);
    if (host.len == 0) return false;
    if (phi__admit_is_loopback(host) || phi__str_is(name, desc->address)) return true;
    if (name.at[0] == '[' && phi__str_is(phi__str(name.at + 1, name.len - 2), desc->address))
        return true;
    if (phi__admit_listed(desc->allowed_hosts, host) ||
        phi__admit_listed(desc->allowed_hosts, name))
        return true;
    return desc->any_address && desc->token != NULL && desc->allowed_hosts == NULL;
}

/* True for a loopback origin or one of desc->allowed_origins. A request without an origin (at is
   NULL) does not come from a web page and is allowed. */
static bool phi__admit_origin(const phi_mcp_server_desc *desc, phi_str origin) {
    size_t scheme = phi__str_find_nocase(origin, 0, "http://") == 0    ? 7
                    : phi__str_find_nocase(origin, 0, "https://") == 0 ? 8
                                                                       : 0;
    if (origin.at == NULL) return true;
    if (phi__admit_listed(desc->allowed_origins, origin)) return true;
    origin = phi__str(origin.at + scheme, origin.len - scheme);
    return scheme > 0 && phi__admit_ends(origin) && phi__admit_is_loopback(origin);
}

/* True if no important header occurs twice. If one did, a proxy might have used its other value. */
static bool phi__admit_once(const phi__http_head *head) {
    static const char *const names[] = {"authorization", "content-type", "last-event-id", "origin"};
    for (size_t i = 1; i < head->header_count; i++) {
        phi_str name = head->headers[i].name;
        bool counts = phi__str_find_nocase(name, 0, "mcp-") == 0;
        for (size_t k = 0; k < PHI__COUNT(names); k++)
            counts = counts || phi__str_is_nocase(name, names[k]);
        for (size_t k = 0; counts && k < i; k++)
            if (phi__str_equal_nocase(name, head->headers[k].name)) return false;
    }
    return true;
}

/* True if the header's value is "Bearer TOKEN". */
static bool phi__admit_token(const char *token, phi_str authorization) {
    if (phi__str_find_nocase(authorization, 0, "bearer ") != 0) return false;
    authorization = phi__str_trim(phi__str(authorization.at + 7, authorization.len - 7));
    return phi__str_equal_secret(authorization, phi_str_of(token));
}

/* ---- the last events of a stream, up to 256 KiB, for a client that resumes it ---- */

typedef struct phi__mcp_events {
    uint64_t stream;      /* number of the stream; 0: events have no ids, and none are kept */
    uint64_t first, next; /* numbers of the oldest kept event and the next event, from 1 */
    phi__buf kept;
} phi__mcp_events;

enum { PHI__MCP_EVENTS_BYTES = 262144 };

/* Sets *out to the kept events after number `last`. False: some of them are lost, or `last` is too
   large. */
static bool phi__mcp_events_after(const phi__mcp_events *events, uint64_t last, phi_str *out) {
    size_t at = 0;
    if (last >= events->next || last + 1 < events->first) return false;
    for (uint64_t skip = last + 1 - events->first; skip > 0; skip--)
        at = phi__str_find(phi__buf_str(&events->kept), at, "\n\n") + 2;
    *out = phi__str(events->kept.at + at, events->kept.len - at);
    return true;
}

/* ---- streams of answers ---- */

enum {
    PHI__MCP_HTTP_PING_MS = 25000,   /* pings a quiet stream: clients give up at 300 s */
    PHI__MCP_HTTP_BEGIN_MS = 15000,  /* an answer that takes longer becomes a stream */
    PHI__MCP_HTTP_ADRIFT_MS = 60000, /* a lost stream waits this long for its client */
    PHI__MCP_HTTP_ADRIFT_MOST = 32
};

typedef struct phi__mcp_post {
    phi__mcp_way way;
    phi__link link;
    phi__serve_http *http;
    phi__serve_exchange *exchange; /* NULL when the exchange is over */
    phi__timer timer;              /* sends pings; at the end, frees the way */
    phi__buf heads, body;          /* heads: "name: value\n" each */
    char session[33];              /* id of a session that began here, for the answer's head */
    char of[33];                   /* id of the request's session, or empty */
    phi__mcp_events events;
    bool streams; /* the answer has begun as a stream */
    bool last;    /* the server sends no more messages */
    bool adrift;
    bool primes; /* the client accepts an event with only an id */
} phi__mcp_post;

struct phi__serve_http {
    phi_mcp_server *server;
    phi_memory *memory;
    phi__io *io;
    phi__serve *serve;
    phi__list posts;
    uint64_t streams; /* number of streams that have begun */
    uint32_t adrift;
    bool closing;
};

static void phi__web_release(phi__io *io, phi__mcp_post *post) {
    phi_memory *memory = post->heads.memory;
    phi__io_timer_clear(io, &post->timer);
    phi__buf_free(&post->heads);
    phi__buf_free(&post->body);
    phi__buf_free(&post->events.kept);
    phi__free(memory, post, sizeof *post);
}

static void phi__web_timer_in(phi__mcp_post *post, uint32_t ms) {
    (void)phi__mcp_timer_in(post->http->io, &post->timer, ms);
}

static void phi__web_moor(phi__mcp_post *post) {
    if (post->adrift) post->http->adrift--;
    post->adrift = false;
}

/* Ends the way. The timer frees the way later. */
static void phi__web_over(phi__mcp_post *post) {
    phi__web_moor(post);
    post->exchange = NULL;
    phi__web_timer_in(post, 0);
}

/* Ends the exchange. A stream with events that the client may lack waits for the client. */
static void phi__web_leave(phi__mcp_post *post) {
    phi__serve_http *http = post->http;
    if (!post->streams || post->events.stream == 0) {
        phi__web_over(post);
        return;
    }
    for (phi__link *link = http->posts.first;
         http->adrift >= PHI__MCP_HTTP_ADRIFT_MOST && link != NULL; link = link->next) {
        phi__mcp_post *oldest = PHI__OWNER(link, phi__mcp_post, link);
        if (oldest->adrift) phi__web_over(oldest);
    }
    post->exchange = NULL;
    if (!post->adrift) http->adrift++;
    post->adrift = true;
    phi__web_timer_in(post, PHI__MCP_HTTP_ADRIFT_MS);
}

static phi__header phi__web_header(const char *name, phi_str value) {
    phi__header header;
    header.name = phi_str_of(name);
    header.value = value;
    return header;
}

/* Makes the headers of an answer. type: media type of the body, or NULL. Returns the number of
   headers. */
static size_t phi__web_heads(const phi__mcp_post *post, const char *type, phi__header out[3]) {
    size_t n = 0;
    if (type != NULL) out[n++] = phi__web_header("Content-Type", phi_str_of(type));
    out[n++] = phi__web_header("Cache-Control", PHI__LIT("no-store"));
    if (post->session[0] != '\0')
        out[n++] = phi__web_header("Mcp-Session-Id", phi_str_of(post->session));
    return n;
}

static bool phi__web_begin(phi__mcp_post *post) {
    phi__header headers[3];
    size_t n = phi__web_heads(post, "text/event-stream", headers);
    if (phi__serve_begin(post->exchange, 200, headers, n) != PHI_OK) return false;
    post->streams = true;
    phi__web_timer_in(post, PHI__MCP_HTTP_PING_MS);
    return true;
}

static void phi__web_on_timer(phi__timer *timer) {
    phi__mcp_post *post = PHI__OWNER(timer, phi__mcp_post, timer);
    phi__serve_http *http = post->http;
    phi_mcp_server *server = http->server;
    phi__io *io = http->io;
    if (post->exchange != NULL) {
        /* Keep a quiet stream open, or begin one because the answer takes long. */
        char first[48] = ":\n\n";
        if (!post->streams && !phi__web_begin(post)) {
            phi__serve_drop(post->exchange);
            phi__web_over(post);
            return;
        }
        if (post->primes && post->events.next == 1)
            (void)snprintf(first, sizeof first, "id: %lu-0\ndata: \n\n",
                           (unsigned long)post->events.stream);
        (void)phi__serve_write(post->exchange, phi_str_of(first));
        phi__web_timer_in(post, PHI__MCP_HTTP_PING_MS);
        return;
    }
    phi__web_moor(post);
    phi__list_take(&http->posts, &post->link);
    if (!post->last) {
        phi__sask_enter(server);
        phi__serve_way_gone(server, &post->way); /* the host may free the server in this call */
        (void)phi__sask_leave(server);
    }
    phi__web_release(io, post);
}

/* Sends an event. If the stream is adrift, only keeps the event. False: not all of it could be sent
   or kept. */
static bool phi__web_event(phi__mcp_post *post, phi_str json) {
    if (json.len == 0) return true;
    phi__buf out = phi__buf_of(post->http->memory);
    /* Write the next event: "id: 3-1\ndata: {...}\n\n". json is one line. */
    if (post->events.stream != 0) {
        phi__buf_text(&out, "id: ");
        phi__buf_u64(&out, post->events.stream);
        phi__buf_char(&out, '-');
        phi__buf_u64(&out, post->events.next);
        phi__buf_char(&out, '\n');
    }
    phi__buf_wrap(&out, "data: ", json, "\n\n");
    if (post->events.stream != 0 && !out.failed) {
        phi_str text = phi__buf_str(&out);
        while (post->events.kept.len > 0 &&
               text.len > PHI__MCP_EVENTS_BYTES - post->events.kept.len) {
            size_t end = phi__str_find(phi__buf_str(&post->events.kept), 0, "\n\n");
            phi__buf_drop(&post->events.kept, phi__min(end, post->events.kept.len - 2) + 2);
            post->events.first++;
        }
        if (text.len <= PHI__MCP_EVENTS_BYTES) phi__buf_add_str(&post->events.kept, text);
        post->events.next++;
        if (text.len > PHI__MCP_EVENTS_BYTES || post->events.kept.failed) {
            phi__buf_free(&post->events.kept);
            post->events.first = post->events.next;
        }
    }
    bool good = !out.failed && (post->exchange == NULL ||
                                phi__serve_write(post->exchange, phi__buf_str(&out)) == PHI_OK);
    phi__buf_free(&out);
    return good;
}

static bool phi__web_send(phi__mcp_way *way, phi_str json, int http_status, bool last) {
    phi__mcp_post *post = PHI__OWNER(way, phi__mcp_post, way);
    bool good = post->exchange != NULL;
    post->last = post->last || last;
    if (post->adrift) {
        uint64_t first = post->events.first;
        if (phi__web_event(post, json) && post->events.first == first) return true;
        phi__web_over(post);
        return false;
    }
    if (good && last && !post->streams) {
        phi__header headers[3];
        size_t n = phi__web_heads(post, json.len > 0 ? "application/json" : NULL, headers);
        good = phi__serve_reply(post->exchange, http_status, headers, n, json) == PHI_OK;
        phi__web_over(post);
        return good;
    }
    if (good && !post->streams) good = phi__web_begin(post);
    good = good && phi__web_event(post, json);
    if (post->exchange != NULL && good && last) phi__serve_end(post->exchange);
    if (post->exchange != NULL && !good) phi__serve_drop(post->exchange);
    if (!good)
        phi__web_over(post);
    else if (last)
        phi__web_leave(post);
    return good;
}

static void phi__web_session(phi__mcp_way *way, phi__client *client) {
    phi__mcp_post *post = PHI__OWNER(way, phi__mcp_post, way);
    memcpy(post->session, phi__client_id(client), sizeof post->session);
}

static void phi__web_taken(phi__mcp_way *way) {
    phi__mcp_post *post = PHI__OWNER(way, phi__mcp_post, way);
    phi__buf_free(&post->body); /* freed now, because a call can last for hours */
    phi__buf_free(&post->heads);
    if (!post->last && !post->streams) phi__web_timer_in(post, PHI__MCP_HTTP_BEGIN_MS);
}

/* True if the request is admitted. Otherwise it was refused. */
static bool phi__web_admit(const phi__serve_http *http, phi__serve_exchange *exchange,
                           const phi__http_head *head) {
    const phi_mcp_server_desc *desc = &http->server->desc;
    if (!phi__admit_once(head))
        phi__serve_refuse(exchange, 400, "a header that counts came twice");
    else if (!phi__admit_host(desc, head->authority))
        phi__serve_refuse(exchange, 421, "Host is not a name of this server");
    else if (!phi__admit_origin(desc, phi__http_head_get(head, "origin")))
        phi__serve_refuse(exchange, 403, "Origin is not allowed");
    else if (!phi__str_is(head->path, desc->path))
        phi__serve_refuse(exchange, 404, NULL);
    else if (desc->token != NULL &&
             !phi__admit_token(desc->token, phi__http_head_get(head, "authorization"))) {
        phi__header header = phi__web_header("WWW-Authenticate", PHI__LIT("Bearer realm=\"mcp\""));
        (void)phi__serve_reply(exchange, 401, &header, 1, PHI__LIT("401 Unauthorized\n"));
    } else
        return true;
    return false;
}

/* ---- requests ---- */

/* Returns the value of a header. at is NULL if the header is missing. */
static phi_str phi__web_get(void *ctx, const char *name) {
    const phi__mcp_post *post = (const phi__mcp_post *)ctx;
    phi_str rest = phi__buf_str(&post->heads);
    while (rest.len > 0) {
        size_t len = phi__str_find(rest, 0, "\n"), colon = phi__str_find(rest, 0, ": ");
        if (phi__str_is_nocase(phi__str(rest.at, colon), name))
            return phi__str(rest.at + colon + 2, len - colon - 2);
        rest = phi__str_from(rest, len + 1);
    }
    return phi__str(NULL, 0);
}

static void phi__web_on_body(void *ctx, const char *bytes, size_t len) {
    phi__buf_add(&((phi__mcp_post *)ctx)->body, bytes, len);
}

/* Prepares the events of a session's stream, with ids if the era has resumption. */
static void phi__web_in_session(phi__mcp_post *post, const phi__client *client) {
    if (client == NULL) return;
    memcpy(post->of, phi__client_id(client), sizeof post->of);
    if (client->era->resumption) post->events.stream = ++post->http->streams;
    post->primes = client->era->primes;
}

static void phi__web_on_whole(void *ctx) {
    phi__mcp_post *post = (phi__mcp_post *)ctx;
    phi__serve_http *http = post->http;
    phi_str id = phi__web_get(post, "mcp-session-id");
    phi__client *client = phi__client_find(http->server, id);
    bool unknown = id.at != NULL && client == NULL;
    if (post->body.failed || unknown) {
        phi__serve_refuse(post->exchange, unknown ? 404 : 500,
                          unknown ? "there is no such session" : "out of memory");
        post->last = true;
        phi__web_over(post);
        return;
    }
    phi__heads heads = PHI_ZERO;
    heads.version = phi__web_get(post, "mcp-protocol-version");
    heads.method = phi__web_get(post, "mcp-method");
    heads.name = phi__web_get(post, "mcp-name");
    heads.get = phi__web_get;
    heads.ctx = post;
    phi__web_in_session(post, client);
    if (phi__serve_message(http->server, client, &post->way, phi__buf_str(&post->body), &heads) &&
        post->way.reading == NULL)
        phi__web_taken(&post->way);
}

static void phi__web_on_gone(void *ctx) {
    phi__mcp_post *post = (phi__mcp_post *)ctx;
    if (!post->http->closing) phi__web_leave(post);
}

/* Makes a way for the exchange. NULL: the request was refused. */
static phi__mcp_post *phi__web_post_new(phi__serve_http *http, phi__serve_exchange *exchange,
                                        const phi__http_head *head, bool listens) {
    phi__mcp_post *post = (phi__mcp_post *)phi__alloc(http->memory, sizeof *post);
    if (post == NULL) {
        phi__serve_refuse(exchange, 500, "out of memory");
        return NULL;
    }
    static const phi__mcp_way_table table = {phi__web_send, phi__web_session, phi__web_taken};
    post->way.table = &table;
    post->http = http;
    post->timer.fire = phi__web_on_timer;
    phi__buf_init(&post->heads, http->memory);
    phi__buf_init(&post->body, http->memory);
    post->events.stream = 0;
    post->events.first = post->events.next = 1;
    phi__buf_init(&post->events.kept, http->memory);
    for (size_t i = 0; i < head->header_count; i++) {
        phi__buf_add_str(&post->heads, head->headers[i].name);
        phi__buf_wrap(&post->heads, ": ", head->headers[i].value, "\n");
    }
    if (post->heads.failed || phi__io_timer_set(http->io, &post->timer, UINT64_MAX) != PHI_OK) {
        phi__web_release(http->io, post);
        phi__serve_refuse(exchange, 500, "out of memory");
        return NULL;
    }
    phi__serve_calls calls = PHI_ZERO;
    if (!listens) {
        calls.body = phi__web_on_body;
        calls.whole = phi__web_on_whole;
    }
    calls.gone = phi__web_on_gone;
    post->exchange = exchange;
    phi__list_push(&http->posts, &post->link);
    phi__serve_keep(exchange, &calls, post);
    return post;
}

/* Finds the stream to resume. `id` is the id of the last event that the client has, such as "3-1".
   *missed is set to the later events. NULL: the stream or a missed event is not kept any more. */
static phi__mcp_post *phi__web_lost(const phi__serve_http *http, phi_str id,
                                    const phi__client *client, phi_str *missed) {
    size_t dash = phi__str_find(id, 0, "-");
    uint64_t stream, number;
    if (dash == SIZE_MAX || !phi__str_to_u64(phi__str(id.at, dash), &stream) ||
        !phi__str_to_u64(phi__str_from(id, dash + 1), &number) || stream == 0)
        return NULL;
    for (phi__link *link = http->posts.first; link != NULL; link = link->next) {
        phi__mcp_post *post = PHI__OWNER(link, phi__mcp_post, link);
        if (post->events.stream != stream || !post->streams ||
            strcmp(post->of, phi__client_id(client)) != 0)
            continue;
        if (!post->adrift && post->exchange == NULL) return NULL; /* the stream is being freed */
        return phi__mcp_events_after(&post->events, number, missed) ? post : NULL;
    }
    return NULL;
}

/* Answers a GET: resumes a stream, or opens the client's own stream. */
static void phi__web_listen(phi__serve_http *http, phi__serve_exchange *exchange,
                            const phi__http_head *head, phi__client *client) {
    phi_str accept = phi__http_head_get(head, "accept");
    phi_str missed;
    if (accept.at != NULL && phi__str_find_nocase(accept, 0, "text/event-stream") == SIZE_MAX &&
        phi__str_find(accept, 0, "*/*") == SIZE_MAX) {
        phi__serve_refuse(exchange, 406, "the answer is text/event-stream");
        return;
    }
    phi__mcp_post *post =
        phi__web_lost(http, phi__http_head_get(head, "last-event-id"), client, &missed);
    if (post != NULL) {
        /* Send the missed events, then resume the stream. */
        if (post->exchange != NULL)
            phi__serve_drop(post->exchange); /* the loss was not noticed here yet */
        phi__web_moor(post);
        phi__serve_calls calls = PHI_ZERO;
        calls.gone = phi__web_on_gone;
        post->exchange = exchange;
        phi__serve_keep(exchange, &calls, post);
        bool good = phi__web_begin(post) && phi__serve_write(exchange, missed) == PHI_OK;
        if (good && post->last) phi__serve_end(exchange);
        if (!good) phi__serve_drop(exchange);
        if (!good || post->last) phi__web_leave(post);
        return;
    }
    phi__mcp_post *own = client->own != NULL ? PHI__OWNER(client->own, phi__mcp_post, way) : NULL;
    if (own != NULL && own->exchange == NULL) {
        phi__serve_way_gone(http->server, &own->way); /* no call is answered on this way */
        own->last = true;
        phi__web_over(own);
    }
    if (client->own == NULL && phi__sv_crowded(http->server)) {
        phi__serve_refuse(exchange, 503, "too many streams are open");
        return;
    }
    post = phi__web_post_new(http, exchange, head, true);
    if (post == NULL) return;
    phi__buf_free(&post->heads);
    phi__web_in_session(post, client);
    if (!phi__serve_listen(http->server, client, &post->way)) {
        phi__serve_refuse(exchange, 409, "the session has a stream already");
        post->last = true;
        phi__web_over(post);
    } else if (!phi__web_begin(post)) {
        phi__serve_drop(exchange);
        phi__web_over(post);
    }
}

static bool phi__web_is_json(phi_str type) {
    size_t end = phi__str_find(type, 0, ";");
    return phi__str_is_nocase(phi__str_trim(phi__str(type.at, phi__min(end, type.len))),
                              "application/json");
}

/* Handles a request. GET and DELETE need a session, which does not exist in 2026-07-28. */
static void phi__web_on_request(void *ctx, phi__serve_exchange *exchange,
                                const phi__http_head *head) {
    phi__serve_http *http = (phi__serve_http *)ctx;
    phi_str id = phi__http_head_get(head, "mcp-session-id");
    if (!phi__web_admit(http, exchange, head)) return;
    phi__client *client = phi__client_find(http->server, id);
    bool unknown = id.at != NULL && client == NULL, post = phi__str_is(head->method, "POST");
    if (post && !phi__web_is_json(phi__http_head_get(head, "content-type")))
        phi__serve_refuse(exchange, 415, "expected application/json");
    else if (unknown)
        phi__serve_refuse(exchange, 404, "there is no such session");
    else if (post)
        (void)phi__web_post_new(http, exchange, head, false);
    else if (client != NULL && phi__str_is(head->method, "GET"))
        phi__web_listen(http, exchange, head, client);
    else if (client != NULL && phi__str_is(head->method, "DELETE")) {
        phi_mcp_server *server = http->server;
        (void)phi__serve_reply(exchange, 204, NULL, 0, phi__str("", 0));
        phi__sask_enter(server);
        phi__client_end(client);
        (void)phi__sask_leave(server);
    } else {
        phi__header header = phi__web_header("Allow", PHI__LIT("POST, GET, DELETE"));
        (void)phi__serve_reply(exchange, 405, &header, 1, PHI__LIT("405 Method Not Allowed\n"));
    }
}

/* ---- making and freeing the transport ---- */

PHI__FN phi_status phi__web_new(phi_mcp_server *server, phi__serve_http **out) {
    const phi_mcp_server_desc *desc = &server->desc;
    phi_runtime *rt = server->rt;
    char message[200];
    *out = NULL;
    if (desc->any_address && desc->token == NULL)
        return phi__error(rt, PHI_BAD_ARG, "phi_mcp_serve: any_address: needs a token");
    if (desc->path[0] != '/')
        return phi__error(rt, PHI_BAD_ARG, "phi_mcp_serve: path \"%s\": expected a '/' first",
                          desc->path);
    phi__serve_http *http = (phi__serve_http *)phi__alloc(&rt->memory, sizeof *http);
    if (http == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_mcp_serve: out of memory");
    http->server = server;
    http->memory = &rt->memory;
    http->io = rt->io;
    phi__serve_desc serve = PHI_ZERO;
    serve.address = desc->address;
    serve.any_address = desc->any_address;
    serve.port = desc->port;
    serve.max_connections = desc->max_connections;
    serve.max_body_bytes = desc->max_message_bytes;
    serve.max_queue_bytes = desc->max_queue_bytes;
    serve.request = phi__web_on_request;
    serve.ctx = http;
    phi_status status = phi__serve_new(rt->io, &serve, &http->serve, message, sizeof message);
    if (status != PHI_OK) {
        phi__free(http->memory, http, sizeof *http);
        return phi__error(rt, status, "phi_mcp_serve: %s",
                          status == PHI_NO_MEMORY ? "out of memory" : message);
    }
    *out = http;
    return PHI_OK;
}

PHI__FN uint16_t phi__web_port(const phi__serve_http *http) { return phi__serve_port(http->serve); }

PHI__FN void phi__web_free(phi__serve_http *http) {
    if (http == NULL) return;
    http->closing = true;
    phi__serve_free(http->serve);
    while (http->posts.first != NULL) {
        phi__mcp_post *post = PHI__OWNER(http->posts.first, phi__mcp_post, link);
        phi__list_take(&http->posts, &post->link);
        phi__web_release(http->io, post);
    }
    phi__free(http->memory, http, sizeof *http);
}

#endif
