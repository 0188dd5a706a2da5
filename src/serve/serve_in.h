/* serve_in.h - an HTTP/1.1 server in the pump. Each connection answers one request after another.

   `request` is called with an exchange when a head was read. The callee answers the exchange, at
   once or later: with a whole answer (phi__serve_reply), a refusal (phi__serve_refuse), or a stream
   (phi__serve_begin, phi__serve_write, phi__serve_end). Do not use an exchange after its answer is
   complete, after phi__serve_drop, or after `gone`. A peer that closes its sending side counts as
   gone.

   Every wait has a deadline and every buffer a limit; a slow or silent peer loses its connection.
   If all connections are in use, idle ones are closed for new ones; other new connections wait in
   the system's queue. If the system has no descriptors, the server tries again after 100 ms.

   Ownership: the caller owns the server until phi__serve_free, and must free it before the phi__io.
   Callbacks: on the pumping thread, never inside a function of this file, except that
   phi__serve_free calls `gone`. Callbacks may call every function here, for any exchange, even
   phi__serve_free.
   Threads: the pumping thread. */
#ifndef PHI_SERVE_SERVE_IN_H
#define PHI_SERVE_SERVE_IN_H

#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_LISTEN
typedef struct phi__serve phi__serve;

typedef struct phi__serve_exchange phi__serve_exchange;

typedef struct phi__http_head_limits {
    uint32_t max_line_bytes; /* for the request line or a header line (default 8 KiB) */
    uint32_t max_bytes;      /* for the whole head (default 32 KiB) */
    uint32_t max_headers;    /* default 100 */
} phi__http_head_limits;

/* The head of a request. Strings point into the head and are valid until it is cleared. */
typedef struct phi__http_head {
    phi_str method;    /* as received: a token, case-sensitive */
    phi_str target;    /* as received */
    phi_str path;      /* from '/' on, still percent-encoded; "*" for OPTIONS; never empty */
    phi_str query;     /* after '?'; may be empty */
    phi_str authority; /* "host[:port]" of the target or of Host; may be empty */
    const phi__header *headers; /* in order; values are trimmed, strings not terminated */
    size_t header_count;
    bool http_1_0;
    bool keep_alive;       /* the connection may serve another request */
    bool expects_continue; /* the body waits for "100 Continue" */
    bool chunked;          /* the body is chunked; otherwise `length` is its length */
    uint64_t length;

    int refused; /* HTTP status of the refusal, or 0 */
    const char *message;

    /* only for http_head.c */
    phi__http_head_limits limits;
    phi_memory *memory;
    phi__buf bytes;
    phi__header *room;
    size_t room_count, line_at, lines;
    bool complete;
} phi__http_head;

/* Returns the first header with that name, in any ASCII case. at is NULL if there is none. */
PHI__FN phi_str phi__http_head_get(const phi__http_head *head, const char *name);

/* The position in a body. */
typedef struct phi__http_head_body {
    uint64_t left;     /* bytes left in the chunk, or in the body */
    uint32_t line;     /* bytes of the line being read */
    uint32_t overhead; /* bytes of chunk extensions and trailers */
    uint32_t state;
    int refused;
    const char *message;
} phi__http_head_body;

/* Every function may be NULL. */
typedef struct phi__serve_calls {
    /* Gets the body's bytes in order, borrowed during the call. If NULL, the body is dropped. */
    void (*body)(void *ctx, const char *bytes, size_t len);
    void (*whole)(void *ctx); /* the body, which may be empty, is complete */
    /* The answer cannot be completed: the peer is gone, a deadline passed, the body broke a rule or
       a limit, or the server was freed. Do not use the exchange any more. */
    void (*gone)(void *ctx);
} phi__serve_calls;

typedef struct phi__serve_desc {
    const char *address;      /* IPv4 or IPv6 literal (default "127.0.0.1") */
    bool any_address;         /* allow an address other than 127.0.0.0/8 and ::1 */
    uint16_t port;            /* 0: any free port */
    uint32_t max_connections; /* default 64 */
    phi__http_head_limits head;
    size_t max_body_bytes;  /* default 4 MiB; longer bodies get 413 */
    size_t max_queue_bytes; /* max. unsent bytes of an answer (default 1 MiB) */
    uint32_t head_ms;       /* for a whole head, after its first byte (default 10,000) */
    uint32_t body_ms;       /* for a whole body (default 60,000) */
    uint32_t idle_ms;       /* between requests (default 60,000) */
    uint32_t write_ms;      /* for the peer to read 4 KiB or the rest (default 30,000) */
    /* Called for each request. `head` is borrowed during the call. If the call neither answers the
       exchange nor calls phi__serve_keep, the answer is 500. */
    void (*request)(void *ctx, phi__serve_exchange *exchange, const phi__http_head *head);
    void *ctx;
} phi__serve_desc;

/* Listens. PHI_BAD_ARG: the address is not a literal, or is not a loopback address and any_address
   is not set. PHI_REFUSED: the port is in use or not permitted. `message` gets a terminated text
   with the reason; it may be NULL if its size is 0. */
PHI__FN phi_status phi__serve_new(phi__io *io, const phi__serve_desc *desc, phi__serve **out,
                                  char *message, size_t message_size);
PHI__FN uint16_t phi__serve_port(const phi__serve *serve);
PHI__FN size_t phi__serve_connections(const phi__serve *serve);

/* Ends all exchanges (`gone`), and closes all connections and the port. NULL is harmless. */
PHI__FN void phi__serve_free(phi__serve *serve);

/* Keeps an exchange after `request` has returned. `calls` is copied; ctx is passed to its
   functions. */
PHI__FN void phi__serve_keep(phi__serve_exchange *exchange, const phi__serve_calls *calls,
                             void *ctx);

/* Sends a whole answer; everything is copied. The server adds Content-Length, Connection and Date.
   The exchange is then over. PHI_BAD_ARG: a header is invalid, the status is below 200 or above
   599, or an answer has already begun; the exchange is not over. PHI_NO_MEMORY: the connection was
   closed. */
PHI__FN phi_status phi__serve_reply(phi__serve_exchange *exchange, int http_status,
                                    const phi__header *headers, size_t header_count, phi_str body);

/* Sends the status and a message (or NULL) as plain text, like phi__serve_reply. */
PHI__FN void phi__serve_refuse(phi__serve_exchange *exchange, int http_status, const char *message);

/* Begins a streamed answer. It is chunked; with HTTP/1.0 it ends with the connection. PHI_BAD_ARG
   means the same as for phi__serve_reply. PHI_NO_MEMORY: nothing was sent. */
PHI__FN phi_status phi__serve_begin(phi__serve_exchange *exchange, int http_status,
                                    const phi__header *headers, size_t header_count);

/* Queues a copy of all bytes. PHI_FULL: max_queue_bytes already wait, and nothing was queued.
   PHI_NO_MEMORY: nothing was queued. PHI_BAD_ARG: the answer is not a stream. */
PHI__FN phi_status phi__serve_write(phi__serve_exchange *exchange, phi_str bytes);
PHI__FN void phi__serve_end(phi__serve_exchange *exchange);  /* completes the answer */
PHI__FN void phi__serve_drop(phi__serve_exchange *exchange); /* closes the connection at once */
#endif

#endif
