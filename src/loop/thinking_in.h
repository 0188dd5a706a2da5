/* thinking_in.h - the thinking of earlier answers that a request leaves out, since the messages
   before it have changed (wire/prefix_in.h): a warning for the host, and figures for explain. */
#ifndef PHI_LOOP_THINKING_IN_H
#define PHI_LOOP_THINKING_IN_H

#include "loop/types_in.h"
#include "model/failure.h"
#include "model/message.h"

/* An agent's figures of the last request. */
typedef struct phi__thinking {
    size_t dropped;    /* answers whose thinking it left out */
    uint64_t first;    /* the entry of the first of them */
    const char *cause; /* static; NULL: none */
    uint64_t barred;   /* thinking of entries before this one was refused: it never goes back */
} phi__thinking;

/* After a request was rendered: emits one warning each time another change takes thinking away.
   False: no memory. */
PHI__FN bool phi__thinking_look(phi__run *run);
/* True if a server refused the request for its thinking, although phi's record of the prefix
   matches: something on the way changed it. The words are from the documents. */
PHI__FN bool phi__thinking_refused(const phi__run *run, const phi_failure *failure);
/* No thinking so far goes back any more. */
PHI__FN void phi__thinking_bar(phi__run *run);
/* Gives an answer on its way into the log the numbers of the request that it answers. */
PHI__FN void phi__thinking_mark(const phi__run *run, phi_message *answer);
/* True if the request leaves out items of the history. */
PHI__FN bool phi__thinking_rewritten(const phi__run *run);

#endif
