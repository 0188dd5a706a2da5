/* tell_in.h - updates: messages of phi's own (phi_message.is_update) for a model. */
#ifndef PHI_LOOP_TELL_IN_H
#define PHI_LOOP_TELL_IN_H

#include "loop/types_in.h"

/* At PHI__POINT_REQUEST: appends a message of the program (is_update) to the history. It is copied
   into the log, emitted, and becomes the last item of the request. Nothing is appended after an
   answer that paused, since the provider continues that. False: no memory. */
PHI__FN bool phi__tell(phi__run *run, const phi_message *message);

#endif
