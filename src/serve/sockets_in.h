/* sockets_in.h - the server's calls to the system: a listening socket, and its connections.

   Sockets do not block, and no child inherits them. The phi__io of the server must be open, because
   it starts the sockets of Windows. Every function returns 0, an error of the system, or one of the
   PHI__SOCKET_ values. */
#ifndef PHI_SERVE_SOCKETS_IN_H
#define PHI_SERVE_SOCKETS_IN_H

#include "base/base_in.h"
#include "io/io_in.h"
#include "io/os_in.h"

#ifndef PHI_NO_LISTEN
enum {
    PHI__SOCKET_BUSY = -1, /* nothing has arrived, or there is no room: wait for the poller */
    PHI__SOCKET_FULL = -2  /* the system lacks a descriptor or memory: the connection still waits */
};

typedef struct phi__socket_address {
    bool v6;
    unsigned char bytes[16]; /* an IPv4 address has 4 */
    uint16_t port;
} phi__socket_address;

/* Parses an IPv4 or IPv6 literal; the port stays 0. False if the text is no literal. */
PHI__FN bool phi__socket_parse(const char *text, phi__socket_address *out);

/* Listens. After an error, *fd is -1. *port gets the number that the system gave. */
PHI__FN int phi__socket_listen(const phi__socket_address *address, int backlog, phi__fd *fd,
                               uint16_t *port);

/* Returns the status of an error of phi__socket_listen: PHI_REFUSED if the address is in use or not
   permitted, PHI_NO_MEMORY, or PHI_IO. */
PHI__FN phi_status phi__socket_status(int error);

PHI__FN int phi__socket_accept(phi__fd listening, phi__fd *out);

/* Reads bytes that have arrived. 0 with *got 0: the peer has ended sending. */
PHI__FN int phi__socket_read(phi__fd fd, char *out, size_t n, size_t *got);

/* Writes up to n bytes with one call, without a signal. *wrote is set in any case. */
PHI__FN int phi__socket_write(phi__fd fd, const char *bytes, size_t n, size_t *wrote);
PHI__FN void phi__socket_end_sending(phi__fd fd);
PHI__FN void phi__socket_close(phi__fd fd);
#endif

#endif
