/* queries.h - a model as its provider's list describes it. */
#ifndef PHI_CODECS_QUERIES_H
#define PHI_CODECS_QUERIES_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a list says of a model; empty and 0 where it does not say it. */
typedef struct phi_model_info {
    phi_str id;   /* for phi_model.id */
    phi_str name; /* for people */
    uint64_t context_window, max_tokens;
    bool reasoning;       /* it can think */
    bool reasoning_known; /* the list says whether it can */
} phi_model_info;

#ifdef __cplusplus
}
#endif
#endif
