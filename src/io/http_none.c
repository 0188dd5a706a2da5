/* http_none.c - a build without libcurl: there is no transport, and a message says so. */
#include "io/io_in.h"

#if defined(PHI_NO_CURL)

PHI__FN phi_status phi__http_new(phi__io *io, const phi__http_desc *desc,
                                 const phi__transfer_port *port, phi__http **out,
                                 const char **words) {
    (void)io;
    (void)desc;
    (void)port;
    *out = NULL;
    *words = "built with PHI_NO_CURL: give the runtime a transport of your own";
    return PHI_UNSUPPORTED;
}

PHI__FN const phi_transport *phi__http_transport(phi__http *http) {
    (void)http;
    return NULL;
}

PHI__FN phi_status phi__http_warm(phi__http *http, phi_str url) {
    (void)http;
    (void)url;
    return PHI_UNSUPPORTED;
}

PHI__FN void phi__http_proxy(const phi__http *http, phi__secrets *secrets) {
    (void)http;
    (void)secrets;
}

PHI__FN size_t phi__http_pending(const phi__http *http) {
    (void)http;
    return 0;
}

PHI__FN void phi__http_free(phi__http *http) { (void)http; }

#endif
