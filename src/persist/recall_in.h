/* recall_in.h - evicts entries from memory, and recalls them from the store.

   Only here is a store read for a log in use: once, at the start of a host's or a run's call. */
#ifndef PHI_PERSIST_RECALL_IN_H
#define PHI_PERSIST_RECALL_IN_H

#include "history/history_in.h"

/* Reads back all evicted entries; pointers to entries in memory stay valid. PHI_OK: the log is
   whole. Else the store's status, or PHI_NO_MEMORY, and nothing changed. */
PHI__FN phi_status phi__recall(const phi_thread *thread);
/* The same of a thread that is not whole, and its store's; phi__journal_ops. */
PHI__FN phi_status phi__recall_all(phi_thread *thread);
/* Message i of the active lane, recalled if it is evicted; NULL: there is none, or it cannot be
   read (*status is not PHI_OK then). */
PHI__FN const phi_message *phi__recall_message(const phi_thread *thread, size_t i,
                                               phi_status *status);

/* Recalls the entries that a lane's view after entry `upto` needs. As phi__recall. */
PHI__FN phi_status phi__recall_view(const phi_thread *thread, uint32_t lane, uint64_t upto);
/* Recalls the entries that appending a run's end needs. As phi__recall. */
PHI__FN phi_status phi__recall_end(const phi_thread *thread, const phi__entry *end);
/* Whether the whole log has a run of this id. As phi__recall. */
PHI__FN phi_status phi__recall_has_loop(const phi_thread *thread, phi_str loop_id, bool *had);

/* ---- edit.c ---- */

/* As phi_thread_rewrite, without the check for an active run. Recalls the entries that it needs.
   loop_id, turn_index: who makes it. */
PHI__FN phi_status phi__edit_rewrite(phi_thread *thread, const phi_rewrite *rewrite,
                                     phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                     char *words, size_t words_size);

/* ---- evict.c ---- */

/* Evict entries that no view has. Between the two calls the caller pins segments that pointers
   outside need (phi__segments_pin). The segments of the view, the current one, and the beginning of
   an active run stay as well. Nothing happens while the store lacks an entry. */
PHI__FN bool phi__evict_begin(phi_thread *thread); /* false: there is nothing to do */
PHI__FN void phi__evict_end(phi_thread *thread);
PHI__FN bool phi__evict_all_begin(phi_thread *thread); /* phi__journal_ops */
PHI__FN void phi__evict_all_end(phi_thread *thread);

/* ---- views.c ---- */

/* An entry in the public struct. */
PHI__FN void phi__views_entry(const phi_thread *thread, const phi__entry *entry, phi_entry *out);

#endif
