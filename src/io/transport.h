/* transport.h - the interface of transports, which send HTTP requests and receive the answers.

   A transport sends requests. It can read the body of a request from any offset, and more than
   once. It pushes the answer to phi: the head once, then body bytes, then the end once. phi has a
   transport over libcurl. A host may give its own (a browser's fetch, a console's HTTP library),
   and tests use a scripted one. */
#ifndef PHI_IO_TRANSPORT_H
#define PHI_IO_TRANSPORT_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A handle to a running request: a value. It is stale after phi_transfer_end, cancel or release. */
typedef struct phi_transfer {
    phi_runtime *rt;
    uint32_t index, gen;
} phi_transfer;

/* The request to send. The runtime owns it. It is valid from `open` until phi_transfer_end, cancel
   or release returns. */
typedef struct phi_request phi_request;

/* A header. Both strings end with a zero byte. */
typedef struct phi_request_header {
    phi_str name;
    phi_str value; /* may hold keys: do not log it */
} phi_request_header;

/* Facts about a request. The strings are valid as long as the request. */
typedef struct phi_request_info {
    phi_str method;
    phi_str url;     /* may hold keys: do not log it */
    uint64_t length; /* bytes of the body */
    const phi_request_header *headers;
    size_t header_count;
} phi_request_info;
PHI_API phi_request_info phi_request_get_info(const phi_request *request);

/* Copies up to n bytes of the body from `offset` and returns how many; 0 at or past the end. */
PHI_API size_t phi_request_read(const phi_request *request, uint64_t offset, char *out, size_t n);

/* The stages of a transfer; each starts its own deadline. */
typedef enum phi_transfer_stage {
    /* the transfer has left the transport's queue: the connect deadline begins */
    PHI_TRANSFER_STARTED = 1,
    PHI_TRANSFER_CONNECTED /* the request is being sent: the first-event deadline begins */
} phi_transfer_stage;

/* Threads: phi calls all five functions on the pumping thread, and the transport may call
   phi_transfer_ functions only on this thread. The five functions may call no other functions of
   phi than phi_transfer_ and phi_request_ functions. */
struct phi_transport {
    /* Starts a request; it may push at once or later. Any status but PHI_OK: nothing was started,
       and the transport must not call phi_transfer_end. */
    phi_status (*open)(void *user_data, phi_transfer transfer, const phi_request *request);
    /* Called after a push returned PHI_FULL: push again. */
    void (*resume)(void *user_data, phi_transfer transfer);
    /* Cancels a transfer. After it returns, do not push any more. */
    void (*cancel)(void *user_data, phi_transfer transfer);
    /* Called once in each phi_step; NULL: not needed. */
    void (*pump)(void *user_data);
    void *user_data;
    /* Called instead of cancel when phi has read the last event of an answer. The transport may
       still read the rest of the body by itself to keep the connection, but must not push any
       more after release returns. NULL: cancel is called. */
    void (*release)(void *user_data, phi_transfer transfer);
};

/* Reports the HTTP status and the header lines of the final answer. Each line has the form "Name:
   value\r\n". The lines are copied; bytes beyond 16 KiB are dropped. Call this once, before the
   first push; a second call returns PHI_MISUSE. If http_status is a phi_transfer_stage, the call
   reports this stage instead, without headers. Reporting stages is optional: a transport that
   reports none counts as connected from `open` on. */
PHI_API phi_status phi_transfer_head(phi_transfer transfer, int http_status, const char *headers,
                                     size_t len);

/* Pushes body bytes, which are copied. PHI_FULL: no byte was taken, wait for resume. PHI_STALE:
   stop. PHI_MISUSE: called before the head. */
PHI_API phi_status phi_transfer_push(phi_transfer transfer, const char *bytes, size_t len);

/* Ends a transfer. status is PHI_OK for a complete answer of any HTTP status, otherwise the failure
   (PHI_NETWORK, PHI_TLS, PHI_TIMEOUT...) with a message. `message` is copied; NULL: none. */
PHI_API phi_status phi_transfer_end(phi_transfer transfer, phi_status status, const char *message);

#ifdef __cplusplus
}
#endif
#endif
