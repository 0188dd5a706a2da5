/* sha256_in.h - SHA-256 of bytes that arrive in any pieces, and HMAC with it (FIPS 180-4, RFC
   2104).

       phi__sha256_begin(&sha);
       phi__sha256_add(&sha, bytes, len);   // any number of times
       phi__sha256_end(&sha, out);          // once; begin again before the next use

   Takes no memory. Nothing here runs in constant time on purpose: it hashes requests, not
   secrets. */
#ifndef PHI_BASE_SHA256_IN_H
#define PHI_BASE_SHA256_IN_H

#include "base/base_in.h"

enum { PHI__SHA256_BYTES = 32, PHI__SHA256_HEX = 64 };

typedef struct phi__sha256 {
    uint32_t state[8];
    uint64_t bytes; /* added so far */
    unsigned char block[64];
} phi__sha256;

PHI__FN void phi__sha256_begin(phi__sha256 *sha);
PHI__FN void phi__sha256_add(phi__sha256 *sha, const void *bytes, size_t len);
PHI__FN void phi__sha256_end(phi__sha256 *sha, unsigned char out[32]);

PHI__FN void phi__sha256_of(phi_str text, unsigned char out[32]);
/* `out` may be where the key is. */
PHI__FN void phi__sha256_hmac(phi_str key, phi_str text, unsigned char out[32]);
/* In lower case; 64 characters, not terminated. */
PHI__FN void phi__sha256_hex(const unsigned char hash[32], char out[64]);

#endif
