/* serve.c - the server of serve_in.h: a port, connections, and requests. */
#include "serve/serve_in.h"
#include "loop/loop_in.h"
#include "serve/http_head_in.h"
#include "serve/sockets_in.h"

#ifndef PHI_NO_LISTEN

#include <stdio.h>

typedef enum phi__conn_in {
    PHI__CONN_HEAD,
    PHI__CONN_BODY,
    PHI__CONN_REST, /* the request was read; later bytes wait */
    PHI__CONN_LINGER
} phi__conn_in;

typedef enum phi__conn_out {
    PHI__CONN_NONE, /* no exchange */
    PHI__CONN_OPEN, /* no answer yet */
    PHI__CONN_STREAM,
    PHI__CONN_ENDED /* the answer is complete, but may not be sent yet */
} phi__conn_out;

struct phi__serve_exchange {
    phi__link link; /* in serve->live or serve->dead */
    phi__serve *serve;
    phi__fd fd; /* -1 if dead */
    phi__watch watch;
    phi__timer timer;
    phi__conn_in in_state;
    phi__conn_out out_state;
    phi__http_head head;
    phi__http_head_body body;
    uint64_t body_bytes;
    phi__buf in, out;
    size_t in_at, out_at;             /* bytes used of `in`, sent of `out` */
    size_t progress;                  /* bytes sent since write_by_us was set */
    size_t dropped;                   /* bytes dropped while lingering */
    uint64_t read_by_us, write_by_us; /* deadlines; UINT64_MAX: none */
    phi__serve_calls calls;
    void *ctx;
    /* state of the exchange; no_body: the answer has no body */
    bool keep_alive, http_1_0, no_body;
    bool expects_continue; /* "100 Continue" was not sent yet */
    bool chunked;          /* the answer is chunked */
    bool kept;             /* phi__serve_keep was called */
    bool soon;             /* the timer is set to fire now, not at a deadline */
    bool eof, shut;        /* eof: the peer has ended sending; shut: we have ended sending */
};

struct phi__serve {
    phi__io *io;
    phi__serve_desc desc;
    phi__fd fd; /* the listening socket, or -1 */
    uint16_t port;
    phi__watch watch;
    phi__timer timer; /* tries again to watch the port */
    phi__list live, dead;
    size_t count; /* number of connections in `live` */
    uint32_t busy;
    bool freed;
};

typedef enum phi__serve_body {
    PHI__SERVE_LENGTH, /* `length` bytes follow */
    PHI__SERVE_CHUNKS, /* chunks follow */
    PHI__SERVE_TO_END, /* the body ends with the connection */
    PHI__SERVE_NO_BODY /* the status has no body */
} phi__serve_body;

/* ---- the head of an answer as text ---- */

/* Returns the phrase of a status, such as "Not Found" for 404, or "Unknown". Static. */
static const char *phi__serve_reason(int http_status) {
    static const struct {
        int status;
        const char *text;
    } reasons[] = {{200, "OK"},
                   {201, "Created"},
                   {202, "Accepted"},
                   {204, "No Content"},
                   {302, "Found"},
                   {303, "See Other"},
                   {304, "Not Modified"},
                   {400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {406, "Not Acceptable"},
                   {408, "Request Timeout"},
                   {409, "Conflict"},
                   {410, "Gone"},
                   {411, "Length Required"},
                   {413, "Content Too Large"},
                   {414, "URI Too Long"},
                   {415, "Unsupported Media Type"},
                   {417, "Expectation Failed"},
                   {421, "Misdirected Request"},
                   {429, "Too Many Requests"},
                   {431, "Request Header Fields Too Large"},
                   {500, "Internal Server Error"},
                   {501, "Not Implemented"},
                   {502, "Bad Gateway"},
                   {503, "Service Unavailable"},
                   {504, "Gateway Timeout"},
                   {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < PHI__COUNT(reasons); i++)
        if (reasons[i].status == http_status) return reasons[i].text;
    return "Unknown";
}

/* True if the headers can be sent: names are tokens, values have no control characters, and the
   server does not set these headers itself. */
static bool phi__serve_fit(const phi__header *headers, size_t count) {
    static const char *const own[] = {"Connection", "Content-Length", "Date", "Transfer-Encoding"};
    for (size_t k = 0; k < count; k++) {
        if (!phi__fetch_name_fits(headers[k].name) || !phi__fetch_value_fits(headers[k].value))
            return false;
        for (size_t i = 0; i < PHI__COUNT(own); i++)
            if (phi__str_is_nocase(headers[k].name, own[i])) return false;
    }
    return true;
}

/* Appends a header such as "Date: Thu, 01 Jan 1970 00:00:00 GMT". */
static void phi__serve_date(phi__buf *out, int64_t ms) {
    static const char days[] = "ThuFriSatSunMonTueWed"; /* 1 January 1970 was a Thursday */
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char iso[PHI__DATE_BYTES];
    if (ms < 0) ms = 0;
    (void)phi__date_put(ms, iso);
    size_t day = (size_t)(ms / 86400000 % 7) * 3;
    size_t month = (size_t)((iso[5] - '0') * 10 + iso[6] - '0' - 1) * 3;
    phi__buf_printf(out, "Date: %.3s, %.2s %.3s %.4s %.8s GMT\r\n", days + day, iso + 8,
                    months + month, iso, iso + 11);
}

/* ---- the port ---- */

enum {
    PHI__PORT_CONNECTIONS = 64,
    PHI__PORT_BACKLOG = 64,
    PHI__PORT_ACCEPTS = 4 /* max. connections accepted in one turn */
};
#define PHI__PORT_RETRY_US 100000u /* pause if the system has no descriptor or memory */

static bool phi__port_is_loopback(const phi__socket_address *address) {
    static const unsigned char v6[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    return address->v6 ? memcmp(address->bytes, v6, sizeof v6) == 0 : address->bytes[0] == 127;
}

static void phi__port_later(phi__serve *s) {
    (void)phi__io_timer_set(s->io, &s->timer, phi__io_now_us(s->io) + PHI__PORT_RETRY_US);
}

static bool phi__port_full(const phi__serve *s) { return s->count >= s->desc.max_connections; }

/* Watches the port while there is room for a connection. Without memory, the timer tries again. */
static void phi__port_watch(phi__serve *s) {
    if (phi__io_watch(s->io, &s->watch, s->fd, phi__port_full(s) ? 0 : PHI__READ) != PHI_OK)
        phi__port_later(s);
}

static void phi__port_on_timer(phi__timer *timer) {
    phi__serve *s = PHI__OWNER(timer, phi__serve, timer);
    (void)phi__io_timer_set(s->io, timer, UINT64_MAX); /* keeps the timer's place in the heap */
    phi__port_watch(s);
}

static void phi__port_close(phi__serve *s) {
    (void)phi__io_watch(s->io, &s->watch, s->fd, 0);
    phi__io_timer_clear(s->io, &s->timer);
    if (s->fd != -1) phi__socket_close(s->fd);
    s->fd = -1;
}

/* ---- a connection: its descriptor, buffers, watch and timer ----

   in_state tells what the connection reads: a head, a body, then nothing until the answer is
   complete. A lingering connection drops incoming bytes, so that the peer can still read the last
   answer. out_state is the state of the answer: none, open, streamed or ended.

   Every entry from the pump raises serve->busy and ends with phi__conn_leave. Connections and a
   server that were closed meanwhile are freed only by the last phi__conn_leave. So `fd` may be read
   after any callback. */
static inline size_t phi__conn_waiting(const phi__serve_exchange *c) {
    return c->out.len - c->out_at;
}

static inline size_t phi__conn_unread(const phi__serve_exchange *c) { return c->in.len - c->in_at; }

enum {
    PHI__CONN_IN_BYTES = 16384,      /* max. bytes read in one turn, and kept unread */
    PHI__CONN_WRITE_BYTES = 65536,   /* max. bytes written in one turn */
    PHI__CONN_PROGRESS_BYTES = 4096, /* bytes that renew the deadline for writing */
    PHI__CONN_LINGER_BYTES = 262144, /* max. bytes read while lingering */
    PHI__CONN_RETRY_MS = 10          /* pause if there was no memory for a watch */
};

static phi__serve_exchange *phi__conn_of(phi__link *link) {
    return PHI__OWNER(link, phi__serve_exchange, link);
}

static uint64_t phi__conn_in_ms(const phi__serve *s, uint32_t ms) {
    return phi__io_now_us(s->io) + (uint64_t)ms * 1000;
}

/* Ends an entry from the pump. May free the server. */
static void phi__conn_leave(phi__serve *s) {
    phi_memory *memory = phi__io_memory(s->io);
    if (--s->busy > 0) return;
    while (s->dead.first != NULL) {
        phi__serve_exchange *c = phi__conn_of(s->dead.first);
        phi__list_take(&s->dead, &c->link);
        phi__http_head_free(&c->head); /* callbacks may have borrowed from head and `in` */
        phi__buf_free(&c->in);
        phi__buf_free(&c->out);
        phi__free(memory, c, sizeof *c);
    }
    if (s->freed) phi__free(memory, s, sizeof *s);
}

/* Forgets the callbacks: the exchange is over for the host. */
static void phi__conn_release(phi__serve_exchange *c) {
    memset(&c->calls, 0, sizeof c->calls);
    c->kept = false;
}

/* Calls `gone`, once, if the answer is not complete. */
static void phi__conn_tell_gone(phi__serve_exchange *c) {
    void (*gone)(void *) = c->calls.gone;
    bool live = c->out_state == PHI__CONN_OPEN || c->out_state == PHI__CONN_STREAM;
    phi__conn_release(c);
    if (live && gone != NULL) gone(c->ctx);
}

/* Closes the connection. serve->busy must be raised. */
static void phi__conn_close(phi__serve_exchange *c) {
    phi__serve *s = c->serve;
    if (c->fd == -1) return;
    (void)phi__io_watch(s->io, &c->watch, c->fd, 0);
    phi__socket_close(c->fd);
    c->fd = -1;
    phi__io_timer_clear(s->io, &c->timer);
    phi__list_take(&s->live, &c->link);
    phi__list_push(&s->dead, &c->link);
    s->count--;
    if (!s->freed) phi__port_watch(s);
    phi__conn_tell_gone(c);
}

/* Sets the watch and the timer. */
static void phi__conn_settle(phi__serve_exchange *c) {
    phi__serve *s = c->serve;
    uint64_t at = c->soon ? phi__io_now_us(s->io)
                          : (c->read_by_us < c->write_by_us ? c->read_by_us : c->write_by_us);
    int want = 0;
    if (!c->eof && phi__conn_unread(c) < PHI__CONN_IN_BYTES) want |= PHI__READ;
    if (phi__conn_waiting(c) > 0) want |= PHI__WRITE;
    if (phi__io_watch(s->io, &c->watch, c->fd, want) != PHI_OK) {
        c->soon = true;
        at = phi__conn_in_ms(s, PHI__CONN_RETRY_MS);
    }
    (void)phi__io_timer_set(s->io, &c->timer, at); /* cannot fail: the timer has a place */
}

/* Lets the pump call the connection in its next turn. */
static void phi__conn_poke(phi__serve_exchange *c) {
    c->soon = true;
    (void)phi__io_timer_set(c->serve->io, &c->timer, phi__io_now_us(c->serve->io));
}

/* ---- bytes in and out ---- */

/* Starts the deadline for writing, after bytes were added to `out`. */
static void phi__conn_queued(phi__serve_exchange *c) {
    if (c->write_by_us == UINT64_MAX) {
        c->write_by_us = phi__conn_in_ms(c->serve, c->serve->desc.write_ms);
        c->progress = 0;
    }
}

/* Shortens `out` to `len` bytes after a failed append. Returns PHI_NO_MEMORY. */
static phi_status phi__conn_undo(phi__serve_exchange *c, size_t len) {
    c->out.len = len;
    c->out.failed = false;
    return PHI_NO_MEMORY;
}

/* Sends bytes. May close the connection. */
static void phi__conn_flush(phi__serve_exchange *c) {
    size_t wrote;
    if (phi__conn_waiting(c) == 0) return;
    int error = phi__socket_write(c->fd, c->out.at + c->out_at,
                                  phi__min(phi__conn_waiting(c), PHI__CONN_WRITE_BYTES), &wrote);
    if (error != 0 && error != PHI__SOCKET_BUSY) {
        phi__conn_close(c);
        return;
    }
    c->out_at += wrote;
    c->progress += wrote;
    if (c->progress >= PHI__CONN_PROGRESS_BYTES) {
        c->write_by_us = phi__conn_in_ms(c->serve, c->serve->desc.write_ms);
        c->progress = 0;
    }
    if (c->out_at == c->out.len) {
        phi__buf_clear(&c->out);
        if (c->out.cap > PHI__CONN_IN_BYTES) phi__buf_free(&c->out);
        c->out_at = 0;
        c->write_by_us = UINT64_MAX;
    } else if (c->out_at >= c->out.len / 2) {
        phi__buf_drop(&c->out, c->out_at);
        c->out_at = 0;
    }
}

/* Reads bytes. May close the connection. */
static void phi__conn_fill(phi__serve_exchange *c) {
    size_t most = PHI__CONN_IN_BYTES - phi__min(phi__conn_unread(c), PHI__CONN_IN_BYTES), n;
    if (most == 0 || c->eof) return;
    char *to = phi__buf_reserve(&c->in, most);
    if (to == NULL) {
        phi__conn_close(c);
        return;
    }
    int error = phi__socket_read(c->fd, to, most, &n);
    if (n > 0) {
        phi__buf_add_len(&c->in, n);
        if (c->in_state != PHI__CONN_LINGER) return;
        c->dropped += n;
        if (c->dropped > PHI__CONN_LINGER_BYTES) phi__conn_close(c);
    } else if (error != PHI__SOCKET_BUSY) {
        c->eof = true;
        if (error != 0 || c->out_state != PHI__CONN_ENDED || phi__conn_waiting(c) == 0)
            phi__conn_close(c);
        else {
            c->keep_alive = false;
            c->in_state = PHI__CONN_LINGER;
        }
    }
}

enum {
    PHI__SERVE_DROP_BYTES = 65536, /* max. bytes of an unwanted body that are read */
    PHI__SERVE_LINGER_MS = 1000,
    PHI__SERVE_BODY_BYTES = 4194304,
    PHI__SERVE_QUEUE_BYTES = 1048576,
    PHI__SERVE_HEAD_MS = 10000,
    PHI__SERVE_BODY_MS = 60000,
    PHI__SERVE_IDLE_MS = 60000,
    PHI__SERVE_WRITE_MS = 30000
};

/* ---- answers ---- */

static phi_status phi__serve_put_head(phi__serve_exchange *c, int http_status,
                                      const phi__header *headers, size_t count,
                                      phi__serve_body body, size_t length) {
    phi__buf *out = &c->out;
    if (c->out_state != PHI__CONN_OPEN || http_status < 200 || http_status > 599 ||
        !phi__serve_fit(headers, count))
        return PHI_BAD_ARG;
    /* keep_alive stays true if the connection can serve another request after this answer. */
    bool drops = c->in_state == PHI__CONN_BODY && !c->expects_continue && c->body.refused == 0 &&
                 !c->head.chunked && c->body.left <= PHI__SERVE_DROP_BYTES;
    c->keep_alive = c->keep_alive && !c->eof && !phi__port_full(c->serve) &&
                    (c->in_state == PHI__CONN_REST || drops) && body != PHI__SERVE_TO_END;
    if (http_status == 204 || http_status == 304) body = PHI__SERVE_NO_BODY;
    c->no_body = c->no_body || body == PHI__SERVE_NO_BODY;
    phi__buf_printf(out, "HTTP/1.1 %d %s\r\n", http_status, phi__serve_reason(http_status));
    phi__serve_date(out, phi__io_wall_ms(c->serve->io));
    for (size_t i = 0; i < count; i++) {
        phi__buf_add_str(out, headers[i].name);
        phi__buf_wrap(out, ": ", headers[i].value, "\r\n");
    }
    if (body == PHI__SERVE_LENGTH)
        phi__buf_printf(out, "Content-Length: %llu\r\n", (unsigned long long)length);
    if (body == PHI__SERVE_CHUNKS) phi__buf_text(out, "Transfer-Encoding: chunked\r\n");
    if (!c->keep_alive)
        phi__buf_text(out, "Connection: close\r\n");
    else if (c->http_1_0)
        phi__buf_text(out, "Connection: keep-alive\r\n");
    phi__buf_text(out, "\r\n");
    return PHI_OK;
}

/* Completes the answer. A connection that serves no further request begins to linger. */
static void phi__serve_ended(phi__serve_exchange *c) {
    c->out_state = PHI__CONN_ENDED;
    phi__conn_release(c);
    phi__conn_queued(c);
    if (!c->keep_alive) {
        c->in_state = PHI__CONN_LINGER;
        c->read_by_us = UINT64_MAX;
    } else if (c->in_state == PHI__CONN_BODY)
        c->read_by_us = phi__conn_in_ms(c->serve, c->serve->desc.body_ms);
    phi__conn_poke(c);
}

static void phi__serve_fail(phi__serve_exchange *c, int http_status, const char *message) {
    bool open = c->out_state == PHI__CONN_OPEN;
    phi__conn_tell_gone(c);
    if (c->fd == -1) return;
    c->keep_alive = false;
    if (open)
        phi__serve_refuse(c, http_status, message);
    else
        phi__conn_close(c);
}

/* ---- reading ---- */

/* Prepares for the next request, or the first. */
static void phi__serve_next(phi__serve_exchange *c) {
    phi__http_head_clear(&c->head);
    if (c->in_at == c->in.len) phi__buf_free(&c->in);
    c->in_at = phi__min(c->in_at, c->in.len);
    c->in_state = PHI__CONN_HEAD;
    c->out_state = PHI__CONN_NONE;
    c->read_by_us = phi__conn_in_ms(c->serve, c->serve->desc.idle_ms);
    c->write_by_us = UINT64_MAX;
    c->keep_alive = c->http_1_0 = c->no_body = c->expects_continue = c->chunked = false;
    c->body_bytes = 0;
}

/* Passes on a piece of the body, or reports its end. False: nothing more can be read now. */
static bool phi__serve_read_body(phi__serve_exchange *c) {
    phi_str piece;
    size_t used;
    phi_status status =
        phi__http_head_body_read(&c->body, c->in.at + c->in_at, phi__conn_unread(c), &used, &piece);
    c->in_at += used;
    c->body_bytes += piece.len;
    if (status == PHI_PARSE || c->body_bytes > c->serve->desc.max_body_bytes) {
        phi__serve_fail(c, status == PHI_PARSE ? c->body.refused : 413,
                        status == PHI_PARSE ? c->body.message : "the body is too long");
        return false;
    }
    if (piece.len > 0) c->expects_continue = false;
    if (piece.len > 0 && c->calls.body != NULL) c->calls.body(c->ctx, piece.at, piece.len);
    if (c->fd == -1 || c->in_state != PHI__CONN_BODY) return false;
    if (status == PHI_BUSY) return used > 0;
    c->in_state = PHI__CONN_REST;
    c->read_by_us = UINT64_MAX;
    if (c->calls.whole != NULL) c->calls.whole(c->ctx);
    return false;
}

/* Calls `request` for a head that was read. */
static void phi__serve_begin_exchange(phi__serve_exchange *c) {
    phi__serve *s = c->serve;
    c->out_state = PHI__CONN_OPEN;
    c->keep_alive = c->head.keep_alive;
    c->http_1_0 = c->head.http_1_0;
    c->no_body = phi__str_is(c->head.method, "HEAD");
    c->expects_continue = c->head.expects_continue;
    phi__http_head_body_init(&c->body, &c->head);
    c->in_state = PHI__CONN_BODY;
    c->read_by_us = phi__conn_in_ms(s, s->desc.body_ms);
    if (c->head.length > s->desc.max_body_bytes) {
        phi__serve_fail(c, 413, "the body is too long");
        return;
    }
    s->desc.request(s->desc.ctx, c, &c->head);
    if (c->fd == -1) return;
    phi__http_head_free(&c->head); /* freed early, because an exchange can last for hours */
    if (c->out_state == PHI__CONN_OPEN && !c->kept) {
        phi__serve_refuse(c, 500, "no answer");
        return;
    }
    if (c->out_state != PHI__CONN_OPEN || !c->expects_continue || phi__conn_unread(c) > 0) return;
    phi__buf_text(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
    if (c->out.failed) (void)phi__conn_undo(c, 0); /* the peer sends the body anyway, but later */
    c->expects_continue = false;
    phi__conn_queued(c);
}

static bool phi__serve_read_head(phi__serve_exchange *c) {
    phi__serve *s = c->serve;
    bool begun = phi__http_head_begun(&c->head);
    size_t used;
    phi_status status =
        phi__http_head_read(&c->head, c->in.at + c->in_at, phi__conn_unread(c), &used);
    c->in_at += used;
    if (status == PHI_OK) {
        phi__serve_begin_exchange(c);
        return c->fd != -1 && c->in_state == PHI__CONN_BODY;
    }
    if (!begun && phi__http_head_begun(&c->head))
        c->read_by_us = phi__conn_in_ms(s, s->desc.head_ms);
    if (status == PHI_NO_MEMORY) phi__conn_close(c);
    if (status != PHI_PARSE) return false;
    c->out_state = PHI__CONN_OPEN;
    phi__serve_fail(c, c->head.refused, c->head.message);
    return false;
}

/* Keeps or ends the connection after the whole answer was sent. */
static void phi__serve_sent(phi__serve_exchange *c) {
    if (c->out_state != PHI__CONN_ENDED || phi__conn_waiting(c) > 0) return;
    c->write_by_us = UINT64_MAX;
    if (c->in_state == PHI__CONN_REST) {
        phi__serve_next(c);
        c->soon = phi__conn_unread(c) > 0;
        if (c->eof || (!c->soon && phi__port_full(c->serve))) phi__conn_close(c);
    } else if (c->eof)
        phi__conn_close(c);
    else if (c->in_state == PHI__CONN_LINGER && !c->shut) {
        c->shut = true;
        phi__socket_end_sending(c->fd);
        c->read_by_us = phi__conn_in_ms(c->serve, PHI__SERVE_LINGER_MS);
    }
}

/* Does as much as possible, but at most one request a turn. */
static void phi__serve_run(phi__serve_exchange *c) {
    bool more = true;
    while (c->fd != -1 && more) {
        if (c->in_state == PHI__CONN_HEAD)
            more = phi__conn_unread(c) > 0 && phi__serve_read_head(c);
        else
            more = c->in_state == PHI__CONN_BODY && phi__serve_read_body(c);
    }
    c->soon = false; /* the code below does the work that callbacks asked for */
    if (c->fd != -1) phi__conn_flush(c);
    if (c->fd != -1) phi__serve_sent(c);
    if (c->fd == -1) return;
    if (c->in_state == PHI__CONN_LINGER) c->in_at = c->in.len;
    if (c->in_at > 0) phi__buf_drop(&c->in, c->in_at);
    c->in_at = 0;
    phi__conn_settle(c);
}

static void phi__serve_on_ready(phi__watch *watch, int have) {
    phi__serve_exchange *c = PHI__OWNER(watch, phi__serve_exchange, watch);
    phi__serve *s = c->serve;
    s->busy++;
    if ((have & PHI__READ) != 0) phi__conn_fill(c);
    if (c->fd != -1) phi__serve_run(c);
    phi__conn_leave(s);
}

static void phi__serve_on_timer(phi__timer *timer) {
    phi__serve_exchange *c = PHI__OWNER(timer, phi__serve_exchange, timer);
    phi__serve *s = c->serve;
    uint64_t now = phi__io_now_us(s->io);
    s->busy++;
    (void)phi__io_timer_set(s->io, timer, UINT64_MAX); /* keeps the timer's place in the heap */
    if (now >= c->read_by_us || now >= c->write_by_us) {
        if (now >= c->write_by_us)
            phi__conn_close(c);
        else if (c->in_state == PHI__CONN_HEAD && phi__http_head_begun(&c->head)) {
            c->out_state = PHI__CONN_OPEN;
            phi__serve_fail(c, 408, "the head of the request is late");
        } else if (c->in_state == PHI__CONN_BODY)
            phi__serve_fail(c, 408, "the body of the request is late");
        else
            phi__conn_close(c);
    }
    if (c->fd != -1) phi__serve_run(c);
    phi__conn_leave(s);
}

/* ---- connections ---- */

/* If all connections are in use, closes the connection that has been idle longest. */
static void phi__serve_make_room(phi__serve *s) {
    phi__serve_exchange *oldest = NULL;
    if (!phi__port_full(s)) return;
    for (phi__link *link = s->live.first; link != NULL; link = link->next) {
        phi__serve_exchange *c = phi__conn_of(link);
        if (c->in_state != PHI__CONN_HEAD || phi__http_head_begun(&c->head) ||
            phi__conn_unread(c) > 0 || c->link.next == NULL)
            continue;
        if (oldest == NULL || c->read_by_us < oldest->read_by_us) oldest = c;
    }
    if (oldest != NULL) phi__conn_close(oldest);
}

static void phi__serve_accepted(phi__serve *s, phi__fd fd) {
    phi_memory *memory = phi__io_memory(s->io);
    phi__serve_exchange *c = (phi__serve_exchange *)phi__alloc(memory, sizeof *c);
    if (c == NULL || phi__io_timer_set(s->io, &c->timer, UINT64_MAX) != PHI_OK) {
        phi__free(memory, c, c != NULL ? sizeof *c : 0);
        phi__socket_close(fd);
        return;
    }
    c->serve = s;
    c->fd = fd;
    c->watch.ready = phi__serve_on_ready;
    c->timer.fire = phi__serve_on_timer;
    phi__http_head_init(&c->head, memory, &s->desc.head);
    phi__buf_init(&c->in, memory);
    phi__buf_init(&c->out, memory);
    phi__list_push(&s->live, &c->link);
    s->count++;
    phi__serve_next(c);
    phi__conn_settle(c);
    phi__serve_make_room(s);
}

static void phi__serve_on_port(phi__watch *watch, int have) {
    phi__serve *s = PHI__OWNER(watch, phi__serve, watch);
    (void)have;
    s->busy++;
    for (int i = 0; i < PHI__PORT_ACCEPTS && !s->freed && !phi__port_full(s); i++) {
        phi__fd fd;
        int error = phi__socket_accept(s->fd, &fd);
        if (error == 0) {
            phi__serve_accepted(s, fd);
            continue;
        }
        /* Without a descriptor or memory, the connection stays in the queue and the watch would
           report it again and again. After other errors, no connection waits. */
        if (error == PHI__SOCKET_FULL) {
            (void)phi__io_watch(s->io, &s->watch, s->fd, 0);
            phi__port_later(s);
        }
        phi__conn_leave(s);
        return;
    }
    if (!s->freed) phi__port_watch(s);
    phi__conn_leave(s);
}

/* ---- functions for other files ---- */

PHI__FN phi_status phi__serve_new(phi__io *io, const phi__serve_desc *desc, phi__serve **out,
                                  char *message, size_t message_size) {
    const char *text = desc->address != NULL ? desc->address : "127.0.0.1";
    phi_memory *memory = phi__io_memory(io);
    char words[96] = "no memory";
    phi__socket_address address;
    int error = 0;
    bool literal = phi__socket_parse(text, &address);
    address.port = desc->port;
    *out = NULL;
    if (message_size > 0) message[0] = '\0';
    if (!literal || (!desc->any_address && !phi__port_is_loopback(&address))) {
        (void)snprintf(message, message_size, "cannot listen on \"%.60s\": expected %s", text,
                       literal ? "127.0.0.1 or ::1 (others only with any_address)"
                               : "an IP address");
        return PHI_BAD_ARG;
    }
    phi__serve *s = (phi__serve *)phi__alloc(memory, sizeof *s);
    if (s == NULL) return PHI_NO_MEMORY;
    s->io = io;
    s->fd = -1;
    s->watch.ready = phi__serve_on_port;
    s->timer.fire = phi__port_on_timer;
    s->desc = *desc;
    if (desc->max_connections == 0) s->desc.max_connections = PHI__PORT_CONNECTIONS;
    if (desc->max_body_bytes == 0) s->desc.max_body_bytes = PHI__SERVE_BODY_BYTES;
    if (desc->max_queue_bytes == 0) s->desc.max_queue_bytes = PHI__SERVE_QUEUE_BYTES;
    if (desc->head_ms == 0) s->desc.head_ms = PHI__SERVE_HEAD_MS;
    if (desc->body_ms == 0) s->desc.body_ms = PHI__SERVE_BODY_MS;
    if (desc->idle_ms == 0) s->desc.idle_ms = PHI__SERVE_IDLE_MS;
    if (desc->write_ms == 0) s->desc.write_ms = PHI__SERVE_WRITE_MS;
    phi_status status = phi__io_timer_set(io, &s->timer, UINT64_MAX);
    if (status == PHI_OK) error = phi__socket_listen(&address, PHI__PORT_BACKLOG, &s->fd, &s->port);
    if (error != 0) {
        status = phi__socket_status(error);
        phi__os_words(error, words, sizeof words);
    }
    if (status == PHI_OK) status = phi__io_watch(io, &s->watch, s->fd, PHI__READ);
    if (status == PHI_OK) {
        *out = s;
        return PHI_OK;
    }
    (void)snprintf(message, message_size, "cannot listen on %.60s port %u: %s", text,
                   (unsigned)desc->port, words);
    phi__port_close(s);
    phi__free(memory, s, sizeof *s);
    return status;
}

PHI__FN uint16_t phi__serve_port(const phi__serve *serve) { return serve->port; }

PHI__FN size_t phi__serve_connections(const phi__serve *serve) { return serve->count; }

PHI__FN void phi__serve_free(phi__serve *serve) {
    if (serve == NULL || serve->freed) return;
    serve->busy++;
    serve->freed = true;
    while (serve->live.first != NULL) phi__conn_close(phi__conn_of(serve->live.first));
    phi__port_close(serve);
    phi__conn_leave(serve);
}

PHI__FN void phi__serve_keep(phi__serve_exchange *exchange, const phi__serve_calls *calls,
                             void *ctx) {
    exchange->calls = *calls;
    exchange->ctx = ctx;
    exchange->kept = true;
}

PHI__FN phi_status phi__serve_reply(phi__serve_exchange *c, int http_status,
                                    const phi__header *headers, size_t header_count, phi_str body) {
    phi_status status =
        phi__serve_put_head(c, http_status, headers, header_count, PHI__SERVE_LENGTH, body.len);
    if (status != PHI_OK) return status;
    if (!c->no_body) phi__buf_add_str(&c->out, body);
    if (c->out.failed) {
        phi__conn_release(c);
        phi__serve_drop(c);
        return PHI_NO_MEMORY;
    }
    phi__serve_ended(c);
    return PHI_OK;
}

PHI__FN void phi__serve_refuse(phi__serve_exchange *exchange, int http_status,
                               const char *message) {
    phi__header type;
    char text[256];
    (void)snprintf(text, sizeof text, "%d %s%s%.200s\n", http_status,
                   phi__serve_reason(http_status), message != NULL ? ": " : "",
                   message != NULL ? message : "");
    type.name = PHI__LIT("Content-Type");
    type.value = PHI__LIT("text/plain; charset=utf-8");
    (void)phi__serve_reply(exchange, http_status, &type, 1, phi_str_of(text));
}

PHI__FN phi_status phi__serve_begin(phi__serve_exchange *c, int http_status,
                                    const phi__header *headers, size_t header_count) {
    size_t before = c->out.len;
    phi_status status = phi__serve_put_head(c, http_status, headers, header_count,
                                            c->http_1_0 ? PHI__SERVE_TO_END : PHI__SERVE_CHUNKS, 0);
    if (status != PHI_OK) return status;
    if (c->out.failed) return phi__conn_undo(c, before);
    c->out_state = PHI__CONN_STREAM;
    c->chunked = !c->http_1_0;
    phi__conn_queued(c);
    phi__conn_poke(c);
    return PHI_OK;
}

PHI__FN phi_status phi__serve_write(phi__serve_exchange *c, phi_str bytes) {
    size_t before = c->out.len;
    if (c->out_state != PHI__CONN_STREAM) return PHI_BAD_ARG;
    if (phi__conn_waiting(c) >= c->serve->desc.max_queue_bytes) return PHI_FULL;
    if (bytes.len == 0 || c->no_body) return PHI_OK; /* an empty chunk would end the body */
    if (c->chunked) phi__buf_printf(&c->out, "%lx\r\n", (unsigned long)bytes.len);
    phi__buf_add_str(&c->out, bytes);
    if (c->chunked) phi__buf_text(&c->out, "\r\n");
    if (c->out.failed) return phi__conn_undo(c, before);
    phi__conn_queued(c);
    phi__conn_poke(c);
    return PHI_OK;
}

PHI__FN void phi__serve_end(phi__serve_exchange *c) {
    if (c->out_state != PHI__CONN_STREAM) return;
    if (c->chunked && !c->no_body) phi__buf_text(&c->out, "0\r\n\r\n");
    if (c->out.failed) {
        phi__conn_release(c);
        phi__serve_drop(c);
        return;
    }
    phi__serve_ended(c);
}

PHI__FN void phi__serve_drop(phi__serve_exchange *exchange) {
    phi__serve *s = exchange->serve;
    s->busy++;
    phi__conn_release(exchange);
    phi__conn_close(exchange);
    phi__conn_leave(s);
}

#endif
