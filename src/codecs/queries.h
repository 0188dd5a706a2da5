/* queries.h - the description of a model in its provider's list. */
#ifndef PHI_CODECS_QUERIES_H
#define PHI_CODECS_QUERIES_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A model in a provider's list. Fields that the list does not have are empty or 0. */
typedef struct phi_model_info {
    phi_str id;   /* for phi_model.id */
    phi_str name; /* for people */
    uint64_t context_window, max_tokens;
    bool reasoning;       /* the model can think */
    bool reasoning_known; /* the list says if the model can think */
} phi_model_info;

#ifdef __cplusplus
}
#endif
#endif
