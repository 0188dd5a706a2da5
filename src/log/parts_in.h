/* parts_in.h - parts of a thread that its entries add to: runs by id, messages, rewrites by id, the tool state. */
#ifndef PHI_HISTORY_PARTS_IN_H
#define PHI_HISTORY_PARTS_IN_H

#include "log/log_in.h"
#include "log/thread_in.h"

/* The id of a rewrite that has none of its host's: its place in the log, mostly. */
#define PHI__OP_MADE "op-%llu"
PHI__FN bool phi__ops_compacts(const phi__op *op);
PHI__FN bool phi__ops_mark_room(phi_thread *thread);
PHI__FN void phi__messages_free(phi_memory *memory, phi__messages *messages);
PHI__FN void phi__state_drop(phi_thread *thread, phi__state_text *text);
PHI__FN bool phi__state_copy(phi_thread *thread, phi_str from, phi__state_text *out);
PHI__FN void phi__state_take(phi_thread *thread, const phi__state_text *made);

#endif
