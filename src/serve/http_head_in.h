/* http_head_in.h - reads one HTTP/1.1 request out of bytes: its head, and where its body ends.

   Pure: no descriptor, no clock. Bytes may come in any pieces; what follows the request stays with
   the caller. Where RFC 9112 leaves a choice that two readers of the same bytes could make
   differently, the request is refused: both of Content-Length and Transfer-Encoding, either of them
   twice, a folded header line, a CR or LF alone, a space before the colon, a NUL.

   A refusal is an HTTP status and a message; the connection cannot be read on after it. */
#ifndef PHI_SERVE_HTTP_HEAD_IN_H
#define PHI_SERVE_HTTP_HEAD_IN_H

#include "serve/serve_in.h"
#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_LISTEN
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
PHI__FN void phi__http_head_body_init(phi__http_head_body *body, const phi__http_head *head);

/* Takes bytes; *used says how many; `piece` is the part of them that belongs to the body, perhaps
   empty. PHI_OK: the body is complete; PHI_BUSY: call again, with more when all was used;
   PHI_PARSE: refused. */
PHI__FN phi_status phi__http_head_body_read(phi__http_head_body *body, const char *bytes,
                                            size_t len, size_t *used, phi_str *piece);
#endif

#endif
