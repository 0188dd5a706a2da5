/* sha256_in.h - SHA-256 of bytes that arrive in any pieces, and HMAC with it (FIPS 180-4, RFC
   2104).

       phi__sha256_begin(&sha);
       phi__sha256_add(&sha, bytes, len);   // any number of times
       phi__sha256_end(&sha, out);          // once; begin again before the next use

   Takes no memory. Nothing here runs in constant time on purpose: it hashes requests, not
   secrets. */
#ifndef PHI_BASE_SHA256_IN_H
#define PHI_BASE_SHA256_IN_H

#include "base/arena_in.h"
#include "base/base_in.h"

/* `before`: the check of the bytes before these; 0 for none. */
PHI__FN uint32_t phi__crc32(uint32_t before, const void *bytes, size_t len);

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

/* Appends the encoding of n bytes. In slices: every n but the last a multiple of 3. */
PHI__FN void phi__base64_encode(phi__buf *out, const char *bytes, size_t n);

/* Appends what `text` encodes; false (and out as it was) when it is not strict base64. */
PHI__FN bool phi__base64_decode(phi__buf *out, phi_str text);

enum { PHI__UUID_SIZE = 37 }; /* with the terminator */

/* Writes sixteen random bytes as a UUID version 4. */
PHI__FN void phi__id_uuid(const unsigned char random[16], char out[PHI__UUID_SIZE]);

#endif
