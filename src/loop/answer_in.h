/* answer_in.h - an answer while it streams. Events show it as it is when they are popped: each
   holds a reference, so it outlives its attempt. */
#ifndef PHI_LOOP_ANSWER_IN_H
#define PHI_LOOP_ANSWER_IN_H

#include "model/model.h"
#include "wire/assembly_in.h"

/* One answer while it streams and, as `final`, in the thread; kept while events refer to it. */
typedef struct phi__answer {
    phi_memory *memory;
    size_t bytes; /* of this, and of the names behind it */
    uint32_t refs;
    bool live; /* the assembly is in use; else `final` has taken its place */
    phi__assembly assembly;
    const phi_message *final;
    /* Of the assembly, remade at a pop; at first which model is asked, and nothing said. */
    phi_message view;
    phi_content *content;
    size_t content_cap;
    bool viewed; /* `view` shows the assembly as it is */
} phi__answer;

PHI__FN phi__answer *phi__answer_new(phi_memory *memory, const phi_model *model);
PHI__FN void phi__answer_drop(phi__answer *answer); /* one reference; NULL is harmless */
PHI__FN bool phi__answer_room(phi__answer *answer); /* for a view of all its blocks */
/* What there is of it now; never NULL. */
PHI__FN const phi_message *phi__answer_message(phi__answer *answer);
/* The same with nothing said. */
PHI__FN const phi_message *phi__answer_empty(phi__answer *answer);
/* It is over: `final` in its place, in the thread; NULL: nothing came of it. */
PHI__FN void phi__answer_settle(phi__answer *answer, const phi_message *final);

#endif
