/* pending_in.h - lists what the runs wait for. */
#ifndef PHI_LOOP_PENDING_IN_H
#define PHI_LOOP_PENDING_IN_H

#include "loop/loop_in.h"
#include "loop/inner_in.h"

struct phi__question {
    phi__link link; /* of its agent's */
    phi__agent *agent;
    phi_call call; /* where `of_call` */
    bool of_call;
    bool due;
    bool asking; /* its hook is being called: it cannot be freed now */
    bool closed; /* ... and the asker has withdrawn it meanwhile */
    bool over;   /* its call is */
    bool freed;  /* its agent is, and it is in no list */
    phi__asked asked;
    phi__decision decision;
    uint32_t timeout_ms;
    void (*decided)(void *ctx, phi_verdict verdict, phi_str reply);
    void *ctx;
    size_t bytes; /* of this, and of the strings after it */
};

#endif
