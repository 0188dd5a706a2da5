/* serve_words_in.h - the head of an answer as text. Pure. */
#ifndef PHI_SERVE_SERVE_WORDS_IN_H
#define PHI_SERVE_SERVE_WORDS_IN_H

#include "base/buf_in.h"
#include "io/request_in.h"

#ifndef PHI_NO_LISTEN

typedef enum phi__serve_words_body {
    PHI__SERVE_WORDS_LENGTH, /* `length` bytes follow */
    PHI__SERVE_WORDS_CHUNKS, /* chunks follow */
    PHI__SERVE_WORDS_TO_END, /* it ends with the connection */
    PHI__SERVE_WORDS_NO_BODY /* the status has none */
} phi__serve_words_body;

typedef struct phi__serve_words_head {
    int http_status;
    const phi__header *headers;
    size_t header_count;
    phi__serve_words_body body;
    size_t length;
    bool http_1_0, keep_alive;
    int64_t wall_ms; /* for Date */
} phi__serve_words_head;

/* Whether the headers can be sent: names are tokens, no control character is in a value, and none
   of them is the server's own. */
PHI__FN bool phi__serve_words_fit(const phi__header *headers, size_t count);
PHI__FN void phi__serve_words_put(phi__buf *out, const phi__serve_words_head *head);
/* "Not Found" of 404; "Unknown" where there is no name. Static. */
PHI__FN const char *phi__serve_words_reason(int http_status);

#endif
#endif
