/* http_head_in.h - reads one HTTP/1.1 request out of bytes: its head, and where its body ends.

   Pure: no descriptor, no clock. Bytes may come in any pieces; what follows the request stays with
   the caller. Where RFC 9112 leaves a choice that two readers of the same bytes could make
   differently, the request is refused: both of Content-Length and Transfer-Encoding, either of them
   twice, a folded header line, a CR or LF alone, a space before the colon, a NUL.

   A refusal is an HTTP status and a message; the connection cannot be read on after it. */
#ifndef PHI_SERVE_HTTP_HEAD_IN_H
#define PHI_SERVE_HTTP_HEAD_IN_H

#include "base/arena_in.h"
#include "io/request_in.h"

#ifndef PHI_NO_LISTEN

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

/* limits: zeros are defaults; copied. */
PHI__FN void phi__http_head_init(phi__http_head *head, phi_memory *memory,
                                 const phi__http_head_limits *limits);
PHI__FN void phi__http_head_clear(phi__http_head *head); /* for the next request */
PHI__FN void phi__http_head_free(phi__http_head *head);  /* twice is harmless */

/* Takes bytes up to the end of the head; *used says how many. PHI_OK: the head is complete;
   PHI_BUSY: more is needed; PHI_PARSE: refused; PHI_NO_MEMORY. */
PHI__FN phi_status phi__http_head_read(phi__http_head *head, const char *bytes, size_t len,
                                       size_t *used);
PHI__FN bool phi__http_head_begun(const phi__http_head *head); /* bytes of a request have come */
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

PHI__FN void phi__http_head_body_init(phi__http_head_body *body, const phi__http_head *head);
/* Takes bytes; *used says how many; `piece` is the part of them that belongs to the body, perhaps
   empty. PHI_OK: the body is complete; PHI_BUSY: call again, with more when all was used;
   PHI_PARSE: refused. */
PHI__FN phi_status phi__http_head_body_read(phi__http_head_body *body, const char *bytes,
                                            size_t len, size_t *used, phi_str *piece);

#endif
#endif
