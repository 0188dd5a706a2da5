/* serve_in.h - an HTTP/1.1 server in the pump: bounded connections that answer one request after
   another.

   `request` is called when a head has come, with an exchange. The callee answers it there or
   later: whole (phi__serve_reply), refused in words (phi__serve_refuse), or as a stream
   (phi__serve_begin, phi__serve_write, phi__serve_end). An exchange lives until its answer is
   complete, phi__serve_drop, or `gone`: do not use it after any of these. A peer that closes its
   sending side counts as gone.

   Every wait has a deadline, and every buffer a bound: a slow or silent peer loses its connection.
   When all connections are in use, the idle ones are closed in favour of new ones, and others wait
   in the system's queue. When the system is out of descriptors it tries again after 100 ms.

   Ownership: the server is the caller's until phi__serve_free; free it before the phi__io.
   Callbacks: on the pumping thread, never inside a function of this file but phi__serve_free, which
   calls `gone`. Inside them every function here is allowed, for any exchange, phi__serve_free too.
   Threads: the pumping thread. */
#ifndef PHI_SERVE_SERVE_IN_H
#define PHI_SERVE_SERVE_IN_H

#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_LISTEN
typedef struct phi__serve phi__serve;

typedef struct phi__serve_exchange phi__serve_exchange;

typedef struct phi__http_head_limits {
    uint32_t max_line_bytes; /* of the request line and each header line (default 8 KiB) */
    uint32_t max_bytes;      /* of the whole head (default 32 KiB) */
    uint32_t max_headers;    /* default 100 */
} phi__http_head_limits;

/* A request's head. All strings are borrowed from it, and valid until it is cleared. */
typedef struct phi__http_head {
    phi_str method;    /* as it came: a token, case-sensitive */
    phi_str target;    /* as it came */
    phi_str path;      /* from its '/', still percent-encoded; "*" of OPTIONS; never empty */
    phi_str query;     /* behind '?'; empty when there is none */
    phi_str authority; /* "host[:port]" of the target or of Host; empty when neither is there */
    const phi__header *headers; /* in order; values trimmed; not terminated */
    size_t header_count;
    bool http_1_0;
    bool keep_alive;       /* the connection may serve another request */
    bool expects_continue; /* the body waits for "100 Continue" */
    bool chunked;          /* else length says how long the body is */
    uint64_t length;

    int refused; /* an HTTP status; 0: not refused */
    const char *message;

    /* of http_head.c alone */
    phi__http_head_limits limits;
    phi_memory *memory;
    phi__buf bytes;
    phi__header *room;
    size_t room_count, line_at, lines;
    bool complete;
} phi__http_head;

/* The first header of that name, or an empty string with at == NULL. ASCII case does not matter. */
PHI__FN phi_str phi__http_head_get(const phi__http_head *head, const char *name);

/* The place in a body. */
typedef struct phi__http_head_body {
    uint64_t left;     /* of the chunk, or of the whole */
    uint32_t line;     /* bytes of the line being read */
    uint32_t overhead; /* bytes of chunk extensions and trailers */
    uint32_t state;
    int refused;
    const char *message;
} phi__http_head_body;

/* Each may be NULL. */
typedef struct phi__serve_calls {
    /* The body's bytes in order; borrowed until it returns. False stops the reading until
       phi__serve_resume. NULL: the body is read and dropped. */
    bool (*body)(void *ctx, const char *bytes, size_t len);
    void (*whole)(void *ctx); /* the body is complete, also when it is empty */
    /* After PHI_FULL: a write is taken again. */
    void (*drained)(void *ctx);
    /* The answer cannot be finished: the peer has gone, a deadline passed, the body broke a rule or
       a limit, or the server ends. The exchange is dead. */
    void (*gone)(void *ctx);
} phi__serve_calls;

typedef struct phi__serve_desc {
    const char *address;      /* an IPv4 or IPv6 literal (default "127.0.0.1") */
    bool any_address;         /* allows an address other than 127.0.0.0/8 and ::1 */
    uint16_t port;            /* 0: the system chooses one */
    uint32_t max_connections; /* default 64 */
    phi__http_head_limits head;
    size_t max_body_bytes;  /* default 4 MiB; beyond: 413 */
    size_t max_queue_bytes; /* of an answer that wait for the peer (default 1 MiB) */
    uint32_t head_ms;       /* for a whole head, from its first byte (default 10,000) */
    uint32_t body_ms;       /* for a whole body; paused while stopped (default 60,000) */
    uint32_t idle_ms;       /* between requests (default 60,000) */
    uint32_t write_ms;      /* for the peer to take 4 KiB or all (default 30,000) */
    /* `head` is borrowed until it returns. An exchange that has neither an answer nor calls then is
       answered with 500. */
    void (*request)(void *ctx, phi__serve_exchange *exchange, const phi__http_head *head);
    void *ctx;
} phi__serve_desc;

/* PHI_BAD_ARG: the address is not a literal, or not a loopback's without any_address; PHI_REFUSED:
   the port is in use or not ours to take; PHI_IO; PHI_NO_MEMORY. The message says why, terminated;
   may be NULL with size 0. */
PHI__FN phi_status phi__serve_new(phi__io *io, const phi__serve_desc *desc, phi__serve **out,
                                  char *message, size_t message_size);
PHI__FN uint16_t phi__serve_port(const phi__serve *serve);
PHI__FN size_t phi__serve_connections(const phi__serve *serve);

/* Ends all exchanges (`gone`), closes all connections and the port. NULL is harmless. */
PHI__FN void phi__serve_free(phi__serve *serve);

/* Keeps an exchange beyond `request`. calls is copied; ctx is passed to each. */
PHI__FN void phi__serve_keep(phi__serve_exchange *exchange, const phi__serve_calls *calls,
                             void *ctx);
PHI__FN void phi__serve_resume(phi__serve_exchange *exchange); /* not stopped: harmless */

/* A whole answer; all is copied. Content-Length, Connection and Date are the server's own headers.
   The exchange is over, unless the status is PHI_BAD_ARG (a header that cannot be sent, a status
   below 200, an answer that has begun). PHI_NO_MEMORY: the connection was closed. */
PHI__FN phi_status phi__serve_reply(phi__serve_exchange *exchange, int http_status,
                                    const phi__header *headers, size_t header_count, phi_str body);

/* The same with a plain text of the status and a message (NULL: none). */
PHI__FN void phi__serve_refuse(phi__serve_exchange *exchange, int http_status, const char *message);

/* Begins an answer in pieces: chunked, or up to the connection's end with HTTP/1.0. PHI_BAD_ARG as
   above; PHI_NO_MEMORY: nothing was sent. */
PHI__FN phi_status phi__serve_begin(phi__serve_exchange *exchange, int http_status,
                                    const phi__header *headers, size_t header_count);

/* Takes all of the bytes, copied, while fewer than max_queue_bytes wait; else PHI_FULL, and
   `drained` follows. PHI_NO_MEMORY: none was taken. PHI_BAD_ARG: the answer has not begun. */
PHI__FN phi_status phi__serve_write(phi__serve_exchange *exchange, phi_str bytes);
PHI__FN void phi__serve_end(phi__serve_exchange *exchange);  /* the answer is complete */
PHI__FN void phi__serve_drop(phi__serve_exchange *exchange); /* closes the connection at once */
#endif

#endif
