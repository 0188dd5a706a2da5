/* sigv4_in.h - AWS Signature Version 4 for a request to Bedrock. Pure: it uses no clock and no
   memory.

   The signed headers are content-type, host, x-amz-content-sha256, x-amz-date and, with a token,
   x-amz-security-token. The request must carry exactly these values. For the signature the path is
   encoded a second time, as all AWS services but S3 require. */
#ifndef PHI_CODECS_SIGV4_IN_H
#define PHI_CODECS_SIGV4_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"

/* The inputs of a signature, borrowed for the call. */
typedef struct phi__sigv4 {
    phi_str method, path; /* the path as it is sent: percent-encoded, without a query */
    phi_str host;         /* as in the Host header */
    phi_str content_type;
    phi_str access_key, secret, token; /* token: may be empty */
    phi_str region;
    int64_t wall_ms; /* Unix time */
    const unsigned char *body_sha256;
} phi__sigv4;

typedef struct phi__sigv4_words {
    char date[17];    /* x-amz-date: "20261120T123456Z", terminated */
    char content[65]; /* x-amz-content-sha256, terminated */
} phi__sigv4_words;

/* Appends the value of the Authorization header to `out`. Sets out->failed if memory ran out. */
PHI__FN void phi__sigv4_sign(const phi__sigv4 *s, phi__sigv4_words *words, phi__buf *out);

#endif
