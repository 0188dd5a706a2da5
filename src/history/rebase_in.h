/* rebase_in.h - begins a log anew with copies of its lanes' views. */
#ifndef PHI_HISTORY_REBASE_IN_H
#define PHI_HISTORY_REBASE_IN_H

#include "history/history_in.h"
#include "history/fold_in.h"
#include "history/thread_in.h"
#include "history/tool_state_in.h"
#include "model/event_parts.h"

/* Attaches an entry to entry->lane, which is not the active one; it lives in the current segment,
   and its room was made (phi__append_reserve, and of a LOOP_START phi__loops_room). */
PHI__FN void phi__graft_put(phi_thread *thread, phi__entry *entry);

#endif
