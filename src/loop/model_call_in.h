/* model_call_in.h - the making of a model call: the host's changes to the list, its translation,
   and the request. */
#ifndef PHI_LOOP_MODEL_CALL_IN_H
#define PHI_LOOP_MODEL_CALL_IN_H

#include "loop/types_in.h"
#include "wire/codec_in.h"

/* The list that TRANSFORM_CONTEXT and CONVERT_TO_LLM look at. */
typedef struct phi__listed {
    const phi_message **messages; /* NULL: no hook was called */
    size_t count;
} phi__listed;

PHI__FN phi__state phi__model_call_transform(phi__run *run, bool *wait);
PHI__FN phi__state phi__model_call_convert(phi__run *run, bool *wait);
/* Whether the hooks have left anything that can be sent; and the list as the encoder wants it. */
PHI__FN bool phi__model_call_has_items(const phi__run *run);
/* After the host's translation, if there is one. PHI_NO_MEMORY, or its status. */
PHI__FN phi_status phi__model_call_items(phi__run *run, const phi__item **items, size_t *count);
/* Pins the segments of log messages in the host's list. False: no memory for that. */
PHI__FN bool phi__model_call_list_pin(phi__run *run);
PHI__FN bool phi__model_call_list_listed(const phi__run *run); /* they were called */
PHI__FN void phi__model_call_list_clear(phi__run *run);        /* they must be called anew */

/* The states REQUEST, CREDENTIAL and SIGN. */
PHI__FN phi__state phi__model_call_request(phi__run *run, bool *wait);
PHI__FN phi__state phi__model_call_credential(phi__run *run, bool *wait);
PHI__FN phi__state phi__model_call_sign(phi__run *run);

#endif
