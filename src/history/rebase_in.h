/* rebase_in.h - begins a log anew with copies of its lanes' views. */
#ifndef PHI_HISTORY_REBASE_IN_H
#define PHI_HISTORY_REBASE_IN_H

#include "history/fold_in.h"
#include "history/thread_in.h"
#include "history/tool_state_in.h"
#include "model/event_parts.h"

/* Attaches an entry to entry->lane, which is not the active one; it lives in the current segment,
   and its room was made (phi__append_reserve, and of a LOOP_START phi__loops_room). */
PHI__FN void phi__graft_put(phi_thread *thread, phi__entry *entry);

/* The lane of that name, in *lane; where there is none it begins: empty (fork_seq UINT64_MAX), or
   with the view that the active lane has after that entry. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__graft_lane(phi_thread *thread, phi_str name, uint64_t fork_seq,
                                   uint32_t *lane);

/* Copies the last run of that id out of `from` onto a lane. All or nothing. PHI_NOT_FOUND: there
   is none in memory; PHI_MISUSE: the lane is the active one; PHI_NO_MEMORY. */
PHI__FN phi_status phi__graft_run(phi_thread *thread, uint32_t lane, const phi_thread *from,
                                  phi_str loop_id);

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
