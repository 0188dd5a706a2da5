/* http_in.h - the transport over libcurl, pumped by phi__io.

   curl's callbacks only copy: the write callback pushes into the transfer's bounded buffer and
   pauses the transfer when that is full. Removal is deferred, so that no lookup is waited for.
   Callbacks: stage, head and push may come inside a call of curl's, and a push inside resume; from
   there open, resume and cancel are allowed. end comes from the pump alone, or a timer of it. */
#ifndef PHI_IO_HTTP_IN_H
#define PHI_IO_HTTP_IN_H

#include "io/io_in.h"
#include "io/request_in.h"
#include "io/secret_in.h"

typedef struct phi__http phi__http;

/* Where a transport's findings go; the runtime fills it with the phi_transfer_ functions'
   bodies. */
typedef struct phi__transfer_port {
    phi_status (*stage)(phi_transfer transfer, phi_transfer_stage stage);
    phi_status (*head)(phi_transfer transfer, int http_status, const char *headers, size_t len);
    phi_status (*push)(phi_transfer transfer, const char *bytes, size_t len);
    phi_status (*end)(phi_transfer transfer, phi_status status, const char *words);
} phi__transfer_port;

typedef struct phi__http_desc {
    uint32_t max_connections;   /* more wait their turn */
    bool enable_http2;          /* at most 10 streams a connection */
    bool use_environment;       /* proxy variables */
    const char *proxy;          /* copied; NULL: none */
    const char *ca_file;        /* copied; NULL: the system's */
    const char *const *resolve; /* "HOST:PORT:ADDRESS" entries, copied; NULL-ended; NULL: none */
} phi__http_desc;

/* Fails with PHI_UNSUPPORTED and words when libcurl is too old or lacks SSL. One-time
   curl_global_init happens here. */
PHI__FN phi_status phi__http_new(phi__io *io, const phi__http_desc *desc,
                                 const phi__transfer_port *port, phi__http **out,
                                 const char **words);

/* Its transport; valid until free. A transfer's index must be small: it is an index into a table. A
   host name without AsynchDNS to look it up ends with PHI_UNSUPPORTED. When no descriptor is free
   while other transfers are under way, a transfer goes back to the queue: STARTED may then be
   reported twice. */
PHI__FN const phi_transport *phi__http_transport(phi__http *http);

/* Loads the CA store (20 ms and more, in this call; a libcurl before 7.87 cannot keep it) and
   starts a connection to url's host that later steps finish: a HEAD of / without any key, after
   which the connection is kept for the first request. PHI_BUSY: max_connections are in use. */
PHI__FN phi_status phi__http_warm(phi__http *http, phi_str url);

/* Adds the user and password of the proxy, also of those that libcurl takes from the environment.
   http may be NULL. */
PHI__FN void phi__http_words_proxy(const phi__http *http, phi__secrets *secrets);

/* How many transfers and removals are still under way. At zero, free costs nothing. */
PHI__FN size_t phi__http_pending(const phi__http *http);

/* Cancels the remaining transfers. May wait for a resolver thread where libcurl cannot quit one
   (pending says so beforehand). NULL is harmless. */
PHI__FN void phi__http_free(phi__http *http);

#endif
