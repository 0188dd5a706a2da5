/* failure.h - why a model call failed, in the same form for every provider. */
#ifndef PHI_MODEL_FAILURE_H
#define PHI_MODEL_FAILURE_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PHI_FAILURE_LIST(X)                                                                        \
    X(AUTH, 1, "auth")                                                                             \
    X(QUOTA, 2, "quota")                                                                           \
    X(RATE_LIMITED, 3, "rate_limited")                                                             \
    X(OVERFLOW, 4, "overflow")                                                                     \
    X(CONTENT_FILTER, 5, "content_filter")                                                         \
    X(SERVER, 6, "server")                                                                         \
    X(NETWORK, 7, "network")                                                                       \
    X(INVALID_REQUEST, 8, "invalid_request")                                                       \
    X(TIMEOUT, 9, "timeout")                                                                       \
    X(CANCELLED, 10, "cancelled")                                                                  \
    X(NO_MEMORY, 11, "no_memory")

#define PHI_X(name, value, text) PHI_FAILURE_##name = value,
typedef enum phi_failure_kind { PHI_FAILURE_NONE = 0, PHI_FAILURE_LIST(PHI_X) } phi_failure_kind;
#undef PHI_X

/* Returns a name such as "rate_limited", or "" for PHI_FAILURE_NONE. Static. */
PHI_API const char *phi_failure_kind_text(phi_failure_kind kind);

/* A failure. The strings belong to the event or answer that has the failure. They contain none of
   the request's secrets (docs/errors.md), and no control characters except newline and tab. */
typedef struct phi_failure {
    phi_failure_kind kind;
    int http_status;         /* 0: there was no answer */
    bool retryable;          /* the same request may succeed later */
    bool has_retry_after;    /* true: the server asked for a delay */
    uint64_t retry_after_ms; /* the server's delay, not capped */
    phi_str code;            /* the provider's own error code, or empty */
    phi_str message;         /* a text for people */
    phi_str request_id;      /* for the provider's support, or empty */
} phi_failure;

#ifdef __cplusplus
}
#endif
#endif
