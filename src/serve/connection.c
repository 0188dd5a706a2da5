/* connection.c - connection_in.h. */
#include "serve/connection_in.h"

#ifndef PHI_NO_LISTEN

#include "io/posix_in.h"

#include <errno.h>
#include <unistd.h>

enum {
    PHI__CONNECTION_IN_BYTES = 16384,      /* read in one turn, and kept of a peer that is ahead */
    PHI__CONNECTION_WRITE_BYTES = 65536,   /* written in one turn */
    PHI__CONNECTION_PROGRESS_BYTES = 4096, /* renew the deadline of writing */
    PHI__CONNECTION_LINGER_BYTES = 262144, /* read while it lingers */
    PHI__CONNECTION_RETRY_MS = 10          /* a watch found no memory */
};

PHI__FN phi__serve_exchange *phi__connection_of(phi__link *link) {
    return PHI__OWNER(link, phi__serve_exchange, link);
}

PHI__FN uint64_t phi__connection_in_ms(const phi__serve *s, uint32_t ms) {
    return phi__io_now_us(s->io) + (uint64_t)ms * 1000;
}

/* ---- entering and leaving ---- */

PHI__FN void phi__connection_enter(phi__serve *s) { s->busy++; }

PHI__FN void phi__connection_leave(phi__serve *s) {
    phi_memory *memory = phi__io_memory(s->io);
    if (--s->busy > 0) return;
    while (s->dead.first != NULL) {
        phi__serve_exchange *c = phi__connection_of(s->dead.first);
        phi__list_take(&s->dead, &c->link);
        phi__http_head_free(&c->head); /* a callback may have borrowed from it, and from `in` */
        phi__buf_free(&c->in);
        phi__buf_free(&c->out);
        phi__free(memory, c, sizeof *c);
    }
    if (s->freed) phi__free(memory, s, sizeof *s);
}

PHI__FN void phi__connection_release(phi__serve_exchange *c) {
    memset(&c->calls, 0, sizeof c->calls);
    c->kept = c->stopped = c->wants_room = false;
}

PHI__FN void phi__connection_tell_gone(phi__serve_exchange *c) {
    void (*gone)(void *) = c->calls.gone;
    bool live = c->out_state == PHI__CONNECTION_OPEN || c->out_state == PHI__CONNECTION_STREAM;
    phi__connection_release(c);
    if (live && gone != NULL) gone(c->ctx);
}

PHI__FN void phi__connection_close(phi__serve_exchange *c) {
    phi__serve *s = c->serve;
    if (c->fd < 0) return;
    (void)phi__io_watch(s->io, &c->watch, c->fd, 0);
    (void)close(c->fd);
    c->fd = -1;
    phi__io_timer_clear(s->io, &c->timer);
    phi__list_take(&s->live, &c->link);
    phi__list_push(&s->dead, &c->link);
    s->count--;
    phi__listen_closed(s->listen);
    phi__connection_tell_gone(c);
}

/* ---- watch and timer ---- */

PHI__FN void phi__connection_settle(phi__serve_exchange *c) {
    phi__serve *s = c->serve;
    uint64_t at = c->soon ? phi__io_now_us(s->io)
                          : (c->read_by_us < c->write_by_us ? c->read_by_us : c->write_by_us);
    int want = 0;
    if (!c->eof && !c->stopped && phi__connection_unread(c) < PHI__CONNECTION_IN_BYTES)
        want |= PHI__READ;
    if (phi__connection_waiting(c) > 0 || c->wants_room) want |= PHI__WRITE;
    if (phi__io_watch(s->io, &c->watch, c->fd, want) != PHI_OK) {
        c->soon = true;
        at = phi__connection_in_ms(s, PHI__CONNECTION_RETRY_MS);
    }
    (void)phi__io_timer_set(s->io, &c->timer, at); /* it keeps its place: cannot fail */
}

PHI__FN void phi__connection_poke(phi__serve_exchange *c) {
    c->soon = true;
    (void)phi__io_timer_set(c->serve->io, &c->timer, phi__io_now_us(c->serve->io));
}

/* ---- bytes in and out ---- */

PHI__FN void phi__connection_queued(phi__serve_exchange *c) {
    if (c->write_by_us == UINT64_MAX) {
        c->write_by_us = phi__connection_in_ms(c->serve, c->serve->desc.write_ms);
        c->progress = 0;
    }
}

PHI__FN phi_status phi__connection_undo(phi__serve_exchange *c, size_t len) {
    c->out.len = len;
    c->out.failed = false;
    return PHI_NO_MEMORY;
}

PHI__FN void phi__connection_flush(phi__serve_exchange *c) {
    size_t wrote;
    int error;
    if (phi__connection_waiting(c) == 0) return;
    error =
        phi__posix_write(c->fd, c->out.at + c->out_at,
                         phi__min(phi__connection_waiting(c), PHI__CONNECTION_WRITE_BYTES), &wrote);
    if (error != 0 && error != EAGAIN && error != EWOULDBLOCK) {
        phi__connection_close(c);
        return;
    }
    c->out_at += wrote;
    c->progress += wrote;
    if (c->progress >= PHI__CONNECTION_PROGRESS_BYTES) {
        c->write_by_us = phi__connection_in_ms(c->serve, c->serve->desc.write_ms);
        c->progress = 0;
    }
    if (c->out_at == c->out.len) {
        phi__buf_clear(&c->out);
        if (c->out.cap > PHI__CONNECTION_IN_BYTES) phi__buf_free(&c->out);
        c->out_at = 0;
        c->write_by_us = UINT64_MAX;
    } else if (c->out_at >= c->out.len / 2) {
        phi__buf_drop(&c->out, c->out_at);
        c->out_at = 0;
    }
}

static void phi__connection_on_eof(phi__serve_exchange *c, bool reset) {
    c->eof = true;
    if (reset || c->out_state != PHI__CONNECTION_ENDED || phi__connection_waiting(c) == 0)
        phi__connection_close(c);
    else {
        c->keep_alive = false;
        c->in_state = PHI__CONNECTION_LINGER;
    }
}

PHI__FN void phi__connection_fill(phi__serve_exchange *c) {
    size_t most =
        PHI__CONNECTION_IN_BYTES - phi__min(phi__connection_unread(c), PHI__CONNECTION_IN_BYTES);
    char *to;
    ssize_t n;
    if (most == 0 || c->stopped || c->eof) return;
    to = phi__buf_reserve(&c->in, most);
    if (to == NULL) {
        phi__connection_close(c);
        return;
    }
    do n = read(c->fd, to, most);
    while (n < 0 && errno == EINTR);
    if (n > 0) {
        phi__buf_add_len(&c->in, (size_t)n);
        if (c->in_state != PHI__CONNECTION_LINGER) return;
        c->dropped += (size_t)n;
        if (c->dropped > PHI__CONNECTION_LINGER_BYTES) phi__connection_close(c);
    } else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
        phi__connection_on_eof(c, n < 0);
}

#endif
