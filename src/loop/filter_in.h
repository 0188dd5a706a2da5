/* filter_in.h - asking the input filters about what a user said, before it is stored. */
#ifndef PHI_LOOP_FILTER_IN_H
#define PHI_LOOP_FILTER_IN_H

#include "base/buf_in.h"
#include "loop/types_in.h"

typedef struct phi__filtering {
    bool on;       /* a text is under way */
    size_t at;     /* the next filter to be asked */
    phi__buf text; /* what they are asked about */
    phi__buf warnings;
    phi_str rejection; /* of the prompts; in the thread */
} phi__filtering;

PHI__FN void phi__filter_init(phi__run *run);
/* About the prompts, or about what is pending. DENY: the reason was told, and what it was about is
   gone. Warnings are in the messages. */
PHI__FN phi__hooked phi__filter_prompts(phi__run *run);
PHI__FN phi__hooked phi__filter_pending(phi__run *run);
PHI__FN void phi__filter_end(phi__run *run);                /* gives up what is under way */
PHI__FN phi_str phi__filter_text(const phi__run *run);      /* under way */
PHI__FN phi_str phi__filter_rejection(const phi__run *run); /* of the prompts; empty: none */

#endif
