/* mcp_serve_stdio.c - the server over stdin and stdout of this process, one line per message. */
#include "mcp/mcp_serve_state_in.h"
#include "system/system_in.h"

#ifndef PHI_NO_PROCESS

struct phi__serve_stdio {
    phi__mcp_way way;
    phi_mcp_server *server;
    phi__client *client; /* session of `initialize`, or NULL */
    phi__channel *channel;
    phi__buf line, rest; /* rest: bytes after a long message that is being read */
    bool skipping;       /* ignore the rest of a line that is too long */
    bool lost;           /* a message could not be sent; the timer ends the connection */
    bool ending;         /* stdin has ended; calls are still answered, until `until` */
    uint64_t until;
    bool over;
    phi__timer timer;
};

/* ---- output ---- */

static bool phi__sio_send(phi__mcp_way *way, phi_str json, int http_status, bool last) {
    phi__serve_stdio *stdio = PHI__OWNER(way, phi__serve_stdio, way);
    phi__io *io = stdio->server->rt->io;
    size_t taken = 0, ended = 0;
    (void)http_status;
    if (stdio->ending && last) (void)phi__mcp_timer_in(io, &stdio->timer, 0);
    if (json.len == 0) return true;
    if (stdio->lost || stdio->over) return false;
    /* Half a message is worse than none, so a failure ends the connection. */
    if (phi__channel_write(stdio->channel, json.at, json.len, &taken) == PHI_OK &&
        taken == json.len && phi__channel_write(stdio->channel, "\n", 1, &ended) == PHI_OK &&
        ended == 1)
        return true;
    stdio->lost = true;
    (void)phi__io_timer_set(io, &stdio->timer, phi__io_now_us(io));
    return false;
}

static void phi__sio_session(phi__mcp_way *way, phi__client *client) {
    phi__serve_stdio *stdio = PHI__OWNER(way, phi__serve_stdio, way);
    stdio->client = client;
    (void)phi__serve_listen(stdio->server, client, way);
}

static void phi__sio_end(phi__serve_stdio *stdio, const char *why) {
    phi_mcp_server *server = stdio->server;
    phi__client *client = stdio->client;
    if (stdio->over) return;
    stdio->over = true;
    stdio->client = NULL;
    phi__io_timer_clear(server->rt->io, &stdio->timer);
    phi__mcp_serve_ended(server, why);
    phi__sask_enter(server); /* the host may free the server when its calls are cancelled */
    phi__serve_way_gone(server, &stdio->way);
    if (client != NULL && !server->retired) phi__client_end(client);
    (void)phi__sask_leave(server);
}

/* True if a request still has to be answered after the end of stdin. Subscriptions do not count. */
static bool phi__sio_owes(const phi__serve_stdio *stdio) {
    for (const phi__link *link = stdio->way.waiting.first; link != NULL; link = link->next)
        if (PHI__OWNER(link, const phi__serving, at_way)->kind != PHI__SERVING_LISTEN) return true;
    return false;
}

static void phi__sio_due(phi__timer *timer) {
    phi__serve_stdio *stdio = PHI__OWNER(timer, phi__serve_stdio, timer);
    phi__io *io = stdio->server->rt->io;
    if (stdio->lost)
        phi__sio_end(stdio, "the client does not take its messages");
    else if (!phi__sio_owes(stdio) || phi__io_now_us(io) >= stdio->until)
        phi__sio_end(stdio, "");
    else /* cannot fail: the timer has a place in the heap */
        (void)phi__io_timer_set(io, &stdio->timer, stdio->until);
}

static void phi__sio_ended(void *ctx, phi_status status, const char *message) {
    phi__serve_stdio *stdio = (phi__serve_stdio *)ctx;
    phi__io *io = stdio->server->rt->io;
    uint32_t ms = stdio->server->desc.close_ms;
    if (status == PHI_OK && !stdio->lost && phi__sio_owes(stdio)) {
        stdio->ending = true;
        stdio->until = ms == PHI_UNLIMITED ? UINT64_MAX : phi__io_now_us(io) + (uint64_t)ms * 1000;
        (void)phi__io_timer_set(io, &stdio->timer, stdio->until);
    } else
        phi__sio_end(stdio, status == PHI_OK ? "" : message);
}

/* ---- input ---- */

static void phi__sio_cleared(phi__serve_stdio *stdio) {
    phi__buf_clear(&stdio->line);
    if (stdio->line.cap > 65536) phi__buf_free(&stdio->line);
    stdio->skipping = false;
}

static bool phi__sio_line(phi__serve_stdio *stdio) {
    phi_str line = phi__str_trim(phi__buf_str(&stdio->line));
    bool alive = true;
    if (stdio->skipping || stdio->line.failed) /* handled as a message that is too large */
        line = phi__str(NULL, SIZE_MAX);
    if (line.len > 0)
        alive = phi__serve_message(stdio->server, stdio->client, &stdio->way, line, NULL);
    if (alive && stdio->way.reading == NULL) phi__sio_cleared(stdio);
    return alive;
}

static bool phi__sio_input(void *ctx, const char *bytes, size_t len) {
    phi__serve_stdio *stdio = (phi__serve_stdio *)ctx;
    size_t most = stdio->server->desc.max_message_bytes;
    while (len > 0 && !stdio->over) {
        const char *end = (const char *)memchr(bytes, '\n', len);
        size_t part = end != NULL ? (size_t)(end - bytes) : len;
        if (stdio->way.reading != NULL) {
            /* Bytes after a long message wait until that message was read. */
            phi__io *io = stdio->server->rt->io;
            phi__buf_add(&stdio->rest, bytes, len);
            if (stdio->rest.failed) {
                stdio->lost = true;
                (void)phi__io_timer_set(io, &stdio->timer, phi__io_now_us(io));
            }
            return false;
        }
        if (stdio->line.len + part > most) stdio->skipping = true;
        if (stdio->skipping)
            phi__buf_clear(&stdio->line);
        else
            phi__buf_add(&stdio->line, bytes, part);
        if (end != NULL) part++;
        bytes += part;
        len -= part;
        if (end != NULL && !phi__sio_line(stdio)) return true; /* the transport was freed */
    }
    return stdio->way.reading == NULL;
}

static void phi__sio_taken(phi__mcp_way *way) {
    phi__serve_stdio *stdio = PHI__OWNER(way, phi__serve_stdio, way);
    phi_mcp_server *server = stdio->server;
    phi__buf rest = stdio->rest;
    phi__sio_cleared(stdio);
    phi__buf_init(&stdio->rest, rest.memory);
    phi__sask_enter(server); /* a callback of the host may free the server */
    if (!rest.failed) (void)phi__sio_input(stdio, rest.at, rest.len);
    phi__buf_free(&rest);
    if (!server->retired && stdio->way.reading == NULL) phi__channel_resume(stdio->channel);
    (void)phi__sask_leave(server);
}

PHI__FN phi_status phi__sio_new(phi_mcp_server *server, phi__serve_stdio **out) {
    phi_memory *memory = &server->rt->memory;
    static const phi__mcp_way_table table = {phi__sio_send, phi__sio_session, phi__sio_taken};
    phi__serve_stdio *stdio = (phi__serve_stdio *)phi__alloc(memory, sizeof *stdio);
    phi_status status = PHI_NO_MEMORY;
    phi__channel_desc desc = PHI_ZERO;
    *out = stdio;
    if (stdio != NULL) {
        stdio->server = server;
        stdio->way.table = &table;
        stdio->timer.fire = phi__sio_due;
        phi__buf_init(&stdio->line, memory);
        phi__buf_init(&stdio->rest, memory);
        desc.in_fd = server->desc.in_fd;
        desc.out_fd = server->desc.out_fd;
        desc.max_out_bytes = server->desc.max_queue_bytes;
        desc.input = phi__sio_input;
        desc.ended = phi__sio_ended;
        desc.ctx = stdio;
        /* Gives the timer a place in the heap, so that the end can always be reported. */
        status = phi__io_timer_set(server->rt->io, &stdio->timer, UINT64_MAX);
        if (status == PHI_OK) status = phi__channel_new(server->rt->io, &desc, &stdio->channel);
    }
    if (status == PHI_OK) return PHI_OK;
    return phi__error(server->rt, status, "phi_mcp_serve: stdin and stdout: %s",
                      phi_status_text(status));
}

PHI__FN bool phi__sio_sent(const phi__serve_stdio *stdio) {
    return stdio->lost || phi__channel_waiting(stdio->channel) == 0;
}

PHI__FN void phi__sio_free(phi__serve_stdio *stdio) {
    if (stdio == NULL) return;
    phi_runtime *rt = stdio->server->rt;
    phi__io_timer_clear(rt->io, &stdio->timer);
    phi__channel_free(stdio->channel);
    phi__buf_free(&stdio->line);
    phi__buf_free(&stdio->rest);
    phi__free(&rt->memory, stdio, sizeof *stdio);
}

#endif
