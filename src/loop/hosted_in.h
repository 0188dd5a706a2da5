/* hosted_in.h - a model call of a host's own model: the request, and, in process, the open call.
   Owned by provider.c. */
#ifndef PHI_LOOP_HOSTED_IN_H
#define PHI_LOOP_HOSTED_IN_H

#include "base/list_in.h"
#include "loop/types_in.h"

struct phi_model_request;

typedef struct phi__hosted {
    struct phi_model_request *request;
    void *call;
    bool open, in_list;
    bool in_call;         /* its poll is at work */
    uint32_t polled_step; /* when it was polled last */
    phi__link link;       /* of rt->polled */
} phi__hosted;

#endif
