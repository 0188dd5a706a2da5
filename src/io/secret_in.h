/* secret_in.h - finds the keys, tokens and passwords of requests in answers and messages, and hides
   them.

   A set is filled from requests before they leave: secret headers, user info and queries of URLs,
   keys. In texts asterisks of the same length then replace each secret, whether it stands there as
   it is, escaped (percent-encoding, JSON) or in base64, alone or inside of something longer.
   Secrets of less than 8 bytes are not searched for: they would be found everywhere.
   Ownership: the set copies into its arena. It cannot hide a secret that it had no memory for:
   check `failed`. */
#ifndef PHI_IO_SECRET_IN_H
#define PHI_IO_SECRET_IN_H

#include "base/arena_in.h"
#include "io/transport.h"

enum { PHI__SECRET_LEAST = 8 };

typedef struct phi__secret {
    phi_str text;
    bool passing; /* a signature: of one request */
} phi__secret;

typedef struct phi__secrets {
    phi_arena *arena; /* borrowed */
    phi__secret *list;
    size_t count, cap;
    size_t longest;
    size_t next_passing;     /* place of a passing secret, which the next one replaces */
    unsigned char first[32]; /* bits: bytes with which a secret may begin in a text */
    bool failed;             /* no memory: a secret is missing */
} phi__secrets;

/* Empty. After a reset of the arena, too. */
PHI__FN void phi__secret_init(phi__secrets *set, phi_arena *arena);

PHI__FN void phi__secret_add(phi__secrets *set, phi_str secret);
/* A key, and its parts where it is "ACCESS:SECRET:TOKEN". */
PHI__FN void phi__secret_add_key(phi__secrets *set, phi_str key);
/* User info, and the values of the query. */
PHI__FN void phi__secret_add_url(phi__secrets *set, phi_str url);
/* A header's value, where it is a secret by its name or by how it looks. False: it is none. */
PHI__FN bool phi__secret_add_header(phi__secrets *set, phi_str name, phi_str value);
/* All that a request carries in its URL and its headers. */
PHI__FN void phi__secret_add_request(phi__secrets *set, const phi_request *request);

/* Appends a URL with "[redacted]" in place of user info, of the query's values except versions, and
   of the fragment behind a "#". */
PHI__FN void phi__secret_put_url(phi__buf *out, phi_str url);

typedef enum phi__secret_text {
    PHI__SECRET_BYTES, /* a part of a stream */
    /* words that may have been cut: the beginning of a secret at their end is hidden, too */
    PHI__SECRET_WORDS,
    PHI__SECRET_JSON /* JSON text: it stays valid */
} phi__secret_text;

/* Replaces secrets by asterisks. False: there were none. */
PHI__FN bool phi__secret_hide(const phi__secrets *set, char *at, size_t len, phi__secret_text kind);
/* How many bytes at the end of a part of a stream may be the beginning of a secret. */
PHI__FN size_t phi__secret_tail(const phi__secrets *set, phi_str text);

#endif
