/* rebase_in.h - begins a log anew with copies of its lanes' views. */
#ifndef PHI_HISTORY_REBASE_IN_H
#define PHI_HISTORY_REBASE_IN_H

#include "history/tool_state_in.h"
#include "history/fold_in.h"
#include "model/event_parts.h"

/* Copies a fold's messages to another log. keep: of each item, whether it is copied (NULL: all).
   False: no memory, and some may be there. */
PHI__FN bool phi__rebase_take(phi_thread *thread, const phi_thread *from, const phi__fold *fold,
                              const uint8_t *keep);
/* Which items of a fold are kept when the oldest go: durable ones and their groups, summaries, and
   as many of the newest turns as `target_bytes` have room for; 0: none of them. newest: the last
   turn is, in any case. The kept items begin with a user's message. `keep`: fold->count bytes.
   False: no memory; then none is. */
PHI__FN bool phi__rebase_choose(const phi_thread *thread, size_t target_bytes, bool newest,
                                uint8_t *keep);
/* Fills a renewed log with the views of all lanes of `before`: a FORGOTTEN entry, then copies; of
   the active lane those in `keep` (NULL: all), of scratch lanes ("~...") none. Entry numbers
   continue. carry: phi__tool_state_carry; NULL: no lane has a tool state.
   *made: the entry's detail, whose bytes are not known yet. False: no memory, and the
   caller must free the new log. */
PHI__FN bool phi__rebase_copy(phi_thread *thread, const phi_thread *before, const uint8_t *keep,
                              phi__carry_fn carry, phi_forgotten **made);
/* Bytes that a fold's messages take in a log, by estimate; keep: as above. */
PHI__FN size_t phi__rebase_bytes(const phi__fold *fold, const uint8_t *keep);

#endif
