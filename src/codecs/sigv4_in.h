/* sigv4_in.h - AWS Signature Version 4 of a request to Bedrock: pure, without clock or memory.

   Signed are content-type, host, x-amz-content-sha256, x-amz-date and, where there is a token,
   x-amz-security-token: the request has to carry just these values. The path is encoded a second
   time for the signature, as every service of AWS but S3 wants it. */
#ifndef PHI_CODECS_SIGV4_IN_H
#define PHI_CODECS_SIGV4_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"

/* Borrowed for the call. */
typedef struct phi__sigv4 {
    phi_str method, path; /* the path as on the wire, percent-encoded, without a query */
    phi_str host;         /* as the Host header says it */
    phi_str content_type;
    phi_str access_key, secret, token; /* token: empty for none */
    phi_str region;
    int64_t wall_ms; /* Unix time */
    const unsigned char *body_sha256;
} phi__sigv4;

typedef struct phi__sigv4_words {
    char date[17];    /* x-amz-date: "20261120T123456Z", terminated */
    char content[65]; /* x-amz-content-sha256, terminated */
} phi__sigv4_words;

/* The value of Authorization is appended to `out`, which may fail. */
PHI__FN void phi__sigv4_sign(const phi__sigv4 *s, phi__sigv4_words *words, phi__buf *out);

#endif
