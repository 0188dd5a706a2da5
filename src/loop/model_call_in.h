/* model_call_in.h - the making of a model call: the host's changes to the list, its translation,
   and the request. */
#ifndef PHI_LOOP_MODEL_CALL_IN_H
#define PHI_LOOP_MODEL_CALL_IN_H

#include "loop/loop_in.h"
#include "model/failure.h"
#include "model/message.h"
#include "wire/wire_in.h"

/* True if a server refused the request for its thinking, although phi's record of the prefix
   matches: something on the way changed it. The words are from the documents. */
PHI__FN bool phi__thinking_refused(const phi__run *run, const phi_failure *failure);

/* No thinking so far goes back any more. */
PHI__FN void phi__thinking_bar(phi__run *run);

/* Gives an answer on its way into the log the numbers of the request that it answers. */
PHI__FN void phi__thinking_mark(const phi__run *run, phi_message *answer);
PHI__FN phi__state phi__ask_transform(phi__run *run, bool *wait);
PHI__FN phi__state phi__ask_convert(phi__run *run, bool *wait);

/* Pins the segments of log messages in the host's list. False: no memory for that. */
PHI__FN bool phi__ask_list_pin(phi__run *run);

/* The states REQUEST, CREDENTIAL and SIGN. */
PHI__FN phi__state phi__ask_request(phi__run *run, bool *wait);
PHI__FN phi__state phi__ask_credential(phi__run *run, bool *wait);
PHI__FN phi__state phi__ask_sign(phi__run *run);

#endif
