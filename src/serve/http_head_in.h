/* http_head_in.h - parses one HTTP/1.1 request: its head, and the framing of its body.

   It uses no descriptor and no clock. Bytes may come in pieces of any size. Bytes after the request
   stay with the caller. Under RFC 9112, two parsers could read some requests differently. So a
   request is refused if it has both Content-Length and Transfer-Encoding, has one of them twice, or
   contains a folded header line, a CR or LF alone, a space before the colon, or a NUL.

   A refusal is an HTTP status and a message. Nothing more can be read from the connection then. */
#ifndef PHI_SERVE_HTTP_HEAD_IN_H
#define PHI_SERVE_HTTP_HEAD_IN_H

#include "serve/serve_in.h"
#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_LISTEN
/* Zeros in `limits` mean defaults. The struct is copied. */
PHI__FN void phi__http_head_init(phi__http_head *head, phi_memory *memory,
                                 const phi__http_head_limits *limits);
PHI__FN void phi__http_head_clear(phi__http_head *head); /* prepares for the next request */
PHI__FN void phi__http_head_free(phi__http_head *head);  /* may be called twice */

/* Reads bytes up to the end of the head, and sets *used. PHI_OK: the head is complete. PHI_BUSY:
   more bytes are needed. PHI_PARSE: the request is refused. */
PHI__FN phi_status phi__http_head_read(phi__http_head *head, const char *bytes, size_t len,
                                       size_t *used);
PHI__FN bool phi__http_head_begun(const phi__http_head *head); /* true after the first byte */
PHI__FN void phi__http_head_body_init(phi__http_head_body *body, const phi__http_head *head);

/* Reads bytes of the body, and sets *used. *piece: the part of the bytes that belongs to the body;
   may be empty. PHI_OK: the body is complete. PHI_BUSY: call again, with more bytes if all were
   used. PHI_PARSE: the request is refused. */
PHI__FN phi_status phi__http_head_body_read(phi__http_head_body *body, const char *bytes,
                                            size_t len, size_t *used, phi_str *piece);
#endif

#endif
