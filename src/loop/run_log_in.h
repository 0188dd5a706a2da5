/* run_log_in.h - a run's entries in its agent's log: made with its name and the time, appended, and
   told. */
#ifndef PHI_LOOP_RUN_LOG_IN_H
#define PHI_LOOP_RUN_LOG_IN_H

#include "loop/input.h"
#include "loop/types_in.h"
#include "history/thread_in.h"

/* The time, and which run and turn it is of. */
PHI__FN void phi__run_stamp(const phi__run *run, phi_message *message);
PHI__FN phi__entry phi__run_entry(const phi__run *run, phi_entry_kind kind);
/* False, here and below: no memory. */
PHI__FN bool phi__run_note(phi__run *run, const phi__entry *entry);
/* MESSAGE_START and MESSAGE_END of a message that is in the log. */
PHI__FN bool phi__run_emit(phi__run *run, const phi_message *message, phi_input input,
                           phi_str source);
/* Appends a message, and tells it. */
PHI__FN bool phi__run_log(phi__run *run, const phi_message *kept);

#endif
