/* thread_in.h - a thread: its log, and the state that grows with it.

   The fold of the active lane is kept as a list that grows with the log, so that a turn costs its
   new entries; other lanes, and earlier states, are folded anew when they are needed. An assistant
   message that failed or was aborted stays in the log and is not in view. All of this is in memory,
   and needs no store: journal_in.h recalls a log. Threads: the pumping thread. */
#ifndef PHI_HISTORY_THREAD_IN_H
#define PHI_HISTORY_THREAD_IN_H

#include "history/history_in.h"
#include "history/lane_in.h"
#include "history/rewrite_in.h"
#include "history/tool_state_in.h"
#include "log/log_in.h"
#include "model/event_parts.h"
#include "model/texts.h"
#include "text/json.h"

/* Room for n more. False: no memory. */
PHI__FN bool phi__messages_room(phi_memory *memory, phi__messages *messages, size_t n);

/* One more, which gets its ordinal; there is room. */
PHI__FN void phi__messages_add(phi__messages *messages, phi__entry *entry);

/* Those of another lane, all in memory, in a list with room for `cap`, which is the struct's from
   now on. */
PHI__FN void phi__messages_replace(phi_memory *memory, phi__messages *messages, phi__entry **list,
                                   size_t count, size_t cap);
PHI__FN void phi__messages_clear(phi__messages *messages); /* their room stays */

/* What attaching does for every entry, on the active lane. */
PHI__FN void phi__append_put(phi_thread *thread, phi__entry *entry);

/* The usage of a model that wrote a rewrite. */
PHI__FN void phi__append_count_written(phi_thread *thread, const phi_usage *usage);

/* The usage of a run that was copied, as part of the active run where there is one. */
PHI__FN void phi__append_count_beside(phi_thread *thread, const phi_usage *usage);
PHI__FN void phi__append_free(phi_thread *thread); /* its counts */

#endif
