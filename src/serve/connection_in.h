/* connection_in.h - a connection of serve.c: its descriptor, its buffers, its watch and timer.

   A connection reads (`in_state`): a head, a body, then nothing until its answer is complete; or it
   lingers: it drops incoming bytes, so that the peer can read the last answer before the connection
   closes under it. Beside that its exchange has an answer (`out_state`): none, open, streamed or
   ended.

   Every entry from the pump goes through enter and leave: what dies in between, connections and the
   server, is freed by the last leave. So `fd` can be looked at after any callback. */
#ifndef PHI_SERVE_CONNECTION_IN_H
#define PHI_SERVE_CONNECTION_IN_H

#include "base/list_in.h"
#include "serve/listen_in.h"
#include "serve/serve_in.h"

#ifndef PHI_NO_LISTEN

typedef enum phi__connection_in {
    PHI__CONNECTION_HEAD,
    PHI__CONNECTION_BODY,
    PHI__CONNECTION_REST, /* the request is read; later bytes wait */
    PHI__CONNECTION_LINGER
} phi__connection_in;

typedef enum phi__connection_out {
    PHI__CONNECTION_NONE, /* no exchange */
    PHI__CONNECTION_OPEN, /* no answer yet */
    PHI__CONNECTION_STREAM,
    PHI__CONNECTION_ENDED /* the answer is complete, and perhaps not sent */
} phi__connection_out;

struct phi__serve_exchange {
    phi__link link; /* in the server's list of live or dead */
    phi__serve *serve;
    int fd; /* -1: dead */
    phi__watch watch;
    phi__timer timer;
    phi__connection_in in_state;
    phi__connection_out out_state;
    phi__http_head head;
    phi__http_head_body body;
    uint64_t body_bytes;
    phi__buf in, out;
    size_t in_at, out_at;             /* used, sent */
    size_t progress;                  /* sent since write_by_us was set */
    size_t dropped;                   /* while lingering */
    uint64_t read_by_us, write_by_us; /* deadlines; UINT64_MAX: none */
    phi__serve_calls calls;
    void *ctx;
    bool keep_alive, http_1_0, no_body; /* of the exchange; no_body: its method is HEAD */
    bool expects_continue;              /* not answered yet */
    bool stopped;                       /* the body waits for phi__serve_resume */
    bool chunked;                       /* the answer */
    bool wants_room;                    /* a write was refused */
    bool kept;                          /* calls are set */
    bool soon;                          /* the timer is for now, not for a deadline */
    bool eof, shut;                     /* of the peer's side, of ours */
};

struct phi__serve {
    phi__io *io;
    phi__serve_desc desc;
    phi__listen *listen;
    phi__list live, dead;
    size_t count; /* of live */
    uint32_t busy;
    bool freed;
};

PHI__FN uint64_t phi__connection_in_ms(const phi__serve *serve, uint32_t ms);
PHI__FN phi__serve_exchange *phi__connection_of(phi__link *link);

PHI__FN void phi__connection_enter(phi__serve *serve);
PHI__FN void phi__connection_leave(phi__serve *serve); /* the server may be gone after it */
/* The callee's part in the exchange is over. */
PHI__FN void phi__connection_release(phi__serve_exchange *c);
PHI__FN void phi__connection_tell_gone(phi__serve_exchange *c); /* `gone`, once */
PHI__FN void phi__connection_close(phi__serve_exchange *c);     /* inside of enter and leave */

static inline size_t phi__connection_waiting(const phi__serve_exchange *c) {
    return c->out.len - c->out_at;
}
static inline size_t phi__connection_unread(const phi__serve_exchange *c) {
    return c->in.len - c->in_at;
}

PHI__FN void phi__connection_settle(phi__serve_exchange *c); /* watch and timer */
/* The pump comes back to it in its next turn. */
PHI__FN void phi__connection_poke(phi__serve_exchange *c);

PHI__FN void phi__connection_queued(phi__serve_exchange *c); /* bytes were put into `out` */
/* Takes back what a failed append left, and returns PHI_NO_MEMORY. */
PHI__FN phi_status phi__connection_undo(phi__serve_exchange *c, size_t len);
PHI__FN void phi__connection_flush(phi__serve_exchange *c); /* sends; may close */
PHI__FN void phi__connection_fill(phi__serve_exchange *c);  /* reads; may close */

#endif
#endif
