/* transfer_in.h - an HTTP request that a room above the loop makes, over the runtime's transport.

   phi_step calls on_head once, then on_body with the parts of the answer in order, then on_end
   once: the fetch is gone when on_end returns, or when phi__fetch_close does. None is called inside
   of open, close, resume, or a callback of the transport. A callback may close any fetch, this one
   too, open others, give results of calls and free agents.
   Redirects are not followed: a request may carry keys that only its own host may see. The caller
   gets the 3xx answer with its Location header. No Accept-Encoding is sent, so no body is
   compressed. A tape neither records nor plays a fetch: it has the result of the tool call that
   needed it.
   Memory: the caller's budget, which lives until the fetch is gone. Threads: the pumping thread. */
#ifndef PHI_LOOP_TRANSFER_IN_H
#define PHI_LOOP_TRANSFER_IN_H

#include "base/list_in.h"
#include "io/request_in.h"
#include "loop/run.h"

typedef struct phi__fetch phi__fetch;

typedef struct phi__fetch_desc {
    phi_memory *memory;         /* borrowed until the fetch is gone */
    phi_str method, url;        /* http or https; copied */
    const phi__header *headers; /* copied; values may be empty */
    size_t header_count;
    phi_str body; /* copied */
    /* Behind `body`. The array is copied, the bytes are borrowed until the fetch is gone. */
    const phi_str *pieces;
    size_t piece_count;
    /* The answer's first event is its first body byte; its events are bytes. Zeros: the defaults of
       phi_deadlines. */
    phi_deadlines deadlines;
    /* of the answer's body; beyond them it ends with PHI_TOO_BIG (0: no limit) */
    uint64_t max_bytes;
    /* Stays open in silence: such fetches take at most half of the runtime's max_connections, so
       that others find one. */
    bool stands;
    /* NULL on_head or on_body: not wanted. headers: "Name: value\r\n" each, valid during the
       call. */
    void (*on_head)(void *user_data, int http_status, phi_str headers);
    /* How many of the bytes were taken. Fewer than all: the rest waits for phi__fetch_resume, and
       the deadline of silence stands still. */
    size_t (*on_body)(void *user_data, phi_str bytes);
    /* PHI_OK: the whole answer came, with any HTTP status. Else the message says why, without
       secrets of the request; valid during the call. PHI_CANCELLED: the runtime closes. */
    void (*on_end)(void *user_data, phi_status status, const char *message);
    void *user_data;
} phi__fetch_desc;

/* Of the runtime. transport: under the tape; NULL while a tape is played. */
typedef struct phi__fetches {
    const phi_transport *transport;
    bool stages;           /* it reports them */
    phi__list open, ready; /* ready: something has come for them */
    uint32_t standing, standing_most;
} phi__fetches;

/* PHI_BAD_ARG: a URL or a header that cannot be sent; PHI_MISUSE: the runtime closes, or a tape is
   played; PHI_FULL: too many stay open in silence; PHI_NO_MEMORY. phi_last_error has the message.
   What the transport refuses comes by on_end. */
PHI__FN phi_status phi__fetch_open(phi_runtime *rt, const phi__fetch_desc *desc, phi__fetch **out);

/* Cancels it; on_end is not called. NULL is harmless, and so is a close inside its own on_end. */
PHI__FN void phi__fetch_close(phi__fetch *fetch);
PHI__FN void phi__fetch_resume(phi__fetch *fetch); /* not paused: harmless */

/* Whether text can stand in a header's value: no control characters but the tab. */
PHI__FN bool phi__fetch_value_fits(phi_str value);
PHI__FN bool phi__fetch_name_fits(phi_str name); /* a token of RFC 9110 */

/* ---- for the runtime ---- */
PHI__FN void phi__fetch_attach(phi_runtime *rt, const phi_transport *transport, bool stages,
                               uint32_t connections);
PHI__FN void phi__fetch_pump(phi_runtime *rt); /* hands on a bounded part */

/* All: they end with PHI_CANCELLED in the next step, or at once. */
PHI__FN void phi__fetch_cancel_all(phi_runtime *rt);
PHI__FN void phi__fetch_end_all(phi_runtime *rt);

#endif
