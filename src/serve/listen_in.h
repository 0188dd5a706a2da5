/* listen_in.h - a TCP port that takes connections in the pump.

   It listens on the loopback alone, unless the caller asks for another address in so many words.
   When all connections are in use it accepts none: they wait in the system's queue. When the system
   is out of descriptors it tries again after 100 ms.

   Ownership: the caller's until phi__listen_free, which closes the port, but no connection. Free it
   before the phi__io.
   Callbacks: on the pumping thread; every function here may be called inside `accepted`. */
#ifndef PHI_SERVE_LISTEN_IN_H
#define PHI_SERVE_LISTEN_IN_H

#include "serve/serve_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_LISTEN
typedef struct phi__listen_desc {
    const char *address;      /* an IPv4 or IPv6 literal (default "127.0.0.1") */
    bool any_address;         /* allows an address other than 127.0.0.0/8 and ::1 */
    uint16_t port;            /* 0: the system chooses one */
    uint32_t max_connections; /* accepted, and not yet reported closed (default 64) */
    /* A connection: fd does not block, is close-on-exec, and belongs to the callee now, who calls
       phi__listen_closed when it has closed it. */
    void (*accepted)(void *ctx, int fd);
    void *ctx;
} phi__listen_desc;

/* PHI_BAD_ARG: not a literal, or not a loopback's without any_address; PHI_REFUSED: the port is in
   use or not ours to take; PHI_IO; PHI_NO_MEMORY. The message says why, terminated; may be NULL
   with size 0. */
PHI__FN phi_status phi__listen_new(phi__io *io, const phi__listen_desc *desc, phi__listen **out,
                                   char *message, size_t message_size);
PHI__FN uint16_t phi__listen_port(const phi__listen *listen);
PHI__FN bool phi__listen_full(const phi__listen *listen); /* all connections are in use */
PHI__FN void phi__listen_closed(phi__listen *listen);     /* a connection was closed */
PHI__FN void phi__listen_free(phi__listen *listen);       /* NULL is harmless */
#endif

#endif
