/* failure.c - the names of failure kinds. */
#include "model/failure_in.h"

PHI__FN phi_failure phi__failure_of(phi_failure_kind kind, bool retryable, const char *words) {
    phi_failure failure;
    memset(&failure, 0, sizeof failure);
    failure.kind = kind;
    failure.retryable = retryable;
    failure.message = phi_str_of(words);
    return failure;
}

PHI__FN phi_status phi__failure_status(const phi_failure *failure) {
    switch (failure->kind) {
    case PHI_FAILURE_NETWORK: return PHI_NETWORK;
    case PHI_FAILURE_TIMEOUT: return PHI_TIMEOUT;
    case PHI_FAILURE_NO_MEMORY: return PHI_NO_MEMORY;
    case PHI_FAILURE_CANCELLED: return PHI_CANCELLED;
    case PHI_FAILURE_NONE:
    case PHI_FAILURE_AUTH:
    case PHI_FAILURE_QUOTA:
    case PHI_FAILURE_RATE_LIMITED:
    case PHI_FAILURE_OVERFLOW:
    case PHI_FAILURE_CONTENT_FILTER:
    case PHI_FAILURE_SERVER:
    case PHI_FAILURE_INVALID_REQUEST: break;
    }
    return PHI_REFUSED;
}

PHI__FN phi_failure_kind phi__failure_kind_of(phi_status status) {
    switch (status) {
    case PHI_NETWORK: return PHI_FAILURE_NETWORK;
    case PHI_TIMEOUT: return PHI_FAILURE_TIMEOUT;
    case PHI_NO_MEMORY: return PHI_FAILURE_NO_MEMORY;
    case PHI_LIMIT: return PHI_FAILURE_QUOTA;
    default: return PHI_FAILURE_SERVER;
    }
}

/* ---- public ---- */

PHI_API const char *phi_failure_kind_text(phi_failure_kind kind) {
    switch (kind) {
#define PHI_X(name, value, text)                                                                   \
    case PHI_FAILURE_##name: return text;
        PHI_FAILURE_LIST(PHI_X)
#undef PHI_X
    case PHI_FAILURE_NONE: break;
    }
    return "";
}
