/* request_in.h - a request as a list of pieces: pointers to immutable bytes, and the bytes between
   them.

   The body is never joined: it is read from any offset by a binary search over the pieces. All
   memory belongs to its maker and outlives the transfer. */
#ifndef PHI_IO_REQUEST_IN_H
#define PHI_IO_REQUEST_IN_H

#include "base/base_in.h"
#include "io/transport.h"

typedef struct phi__piece {
    const char *at;
    size_t len;
    uint64_t start; /* offset in the body; filled by phi__request_seal */
} phi__piece;

typedef phi_request_header phi__header;

struct phi_request {
    phi_str method, url; /* terminated behind their length */
    phi__header *headers;
    size_t header_count;
    phi__piece *pieces;
    size_t piece_count;
    uint64_t length;
};

/* Fills starts and length. */
PHI__FN void phi__request_seal(phi_request *request);

#endif
