/* transport.h - the interface of transports, which send requests and receive answers.

   A transport carries a request whose body can be read again from any offset, and pushes the
   answer: the head once, then body bytes, then the end once. phi has one over libcurl; a host may
   give its own (a browser's fetch, a console's HTTP library), and tests use a scripted one. */
#ifndef PHI_IO_TRANSPORT_H
#define PHI_IO_TRANSPORT_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One request under way. A value; stale after its end, cancel or release. */
typedef struct phi_transfer {
    phi_runtime *rt;
    uint32_t index, gen;
} phi_transfer;

/* What to send. Owned by the runtime, valid from open until phi_transfer_end, cancel or release
   returns. */
typedef struct phi_request phi_request;

/* Both end with a zero byte. */
typedef struct phi_request_header {
    phi_str name;
    phi_str value; /* may hold keys: do not log it */
} phi_request_header;

/* The strings are valid as long as the request. */
typedef struct phi_request_info {
    phi_str method;
    phi_str url;     /* may hold keys: do not log it */
    uint64_t length; /* bytes of the body */
    const phi_request_header *headers;
    size_t header_count;
} phi_request_info;
PHI_API phi_request_info phi_request_get_info(const phi_request *request);

/* Copies up to n bytes of the body from `offset`; 0 at or past the end. */
PHI_API size_t phi_request_read(const phi_request *request, uint64_t offset, char *out, size_t n);

/* The stages of a transfer; each starts its own deadline. */
typedef enum phi_transfer_stage {
    PHI_TRANSFER_STARTED = 1, /* left the transport's own queue: the connect deadline runs */
    PHI_TRANSFER_CONNECTED    /* the request is being sent: the first-event deadline runs */
} phi_transfer_stage;

/* Threads: all five, and all of the phi_transfer_ functions, on the pumping thread only. Callbacks:
   inside these five, of phi's functions only phi_transfer_ and phi_request_ ones. */
struct phi_transport {
    /* Starts a request; may push at once or later. Not PHI_OK: nothing was started, and no
       phi_transfer_end follows. */
    phi_status (*open)(void *user_data, phi_transfer transfer, const phi_request *request);
    void (*resume)(void *user_data, phi_transfer transfer); /* after a push answered PHI_FULL */
    void (*cancel)(void *user_data, phi_transfer transfer); /* no push after it returns */
    /* Called once in each phi_step, for transports that need pumping; NULL: not needed. */
    void (*pump)(void *user_data);
    void *user_data;
    /* As cancel, of an answer whose last event was read: the transport may read the rest of the
       body by itself, to keep the connection. NULL: cancel is called instead. */
    void (*release)(void *user_data, phi_transfer transfer);
};

/* The final answer's status and its header lines ("Name: value\r\n" each; copied, bytes beyond 16
   KiB are dropped). Once, before the first push: else PHI_MISUSE. A phi_transfer_stage for
   http_status reports that stage instead, without headers. Optional: a transport that never says
   counts as connected from open on. */
PHI_API phi_status phi_transfer_head(phi_transfer transfer, int http_status, const char *headers,
                                     size_t len);

/* Body bytes; copied. PHI_FULL: none was taken, wait for resume. PHI_STALE: stop. PHI_MISUSE:
   before the head. */
PHI_API phi_status phi_transfer_push(phi_transfer transfer, const char *bytes, size_t len);

/* The end: PHI_OK for a whole answer of any HTTP status, else the failure (PHI_NETWORK, PHI_TLS,
   PHI_TIMEOUT...) with a message; `message` is copied, NULL for none. */
PHI_API phi_status phi_transfer_end(phi_transfer transfer, phi_status status, const char *message);

#ifdef __cplusplus
}
#endif
#endif
