/* tell_in.h - updates: messages of phi's own (phi_message.is_update) for a model. */
#ifndef PHI_LOOP_TELL_IN_H
#define PHI_LOOP_TELL_IN_H

#include "loop/types_in.h"

/* At PHI__POINT_REQUEST: a message of the program (is_update) that stays in the history. It is
   copied into the log, emitted, and stands behind the other items of the request. Nothing is put
   behind an answer that paused, which goes on as it is. False: no memory. */
PHI__FN bool phi__tell(phi__run *run, const phi_message *message);

#endif
