/* journal_in.h - the journal: which entries of a thread its store has.

   Entries that the store refused stay in the log, and go with the next write.
   Threads: the pumping thread. */
#ifndef PHI_PERSIST_JOURNAL_IN_H
#define PHI_PERSIST_JOURNAL_IN_H

#include "history/history_in.h"
#include "persist/store.h"

/* Reads back all evicted entries; pointers to entries in memory stay valid. PHI_OK: the log is
   whole. Else the store's status, or PHI_NO_MEMORY, and nothing changed. */
PHI__FN phi_status phi__recall(const phi_thread *thread);

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

/* As phi_thread_rewrite, without the check for an active run. Recalls the entries that it needs.
   loop_id, turn_index: who makes it. */
PHI__FN phi_status phi__edit_rewrite(phi_thread *thread, const phi_rewrite *rewrite,
                                     phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                     char *words, size_t words_size);

/* Evict entries that no view has. Between the two calls the caller pins segments that pointers
   outside need (phi__segments_pin). The segments of the view, the current one, and the beginning of
   an active run stay as well. Nothing happens while the store lacks an entry. */
PHI__FN bool phi__evict_begin(phi_thread *thread); /* false: there is nothing to do */
PHI__FN void phi__evict_end(phi_thread *thread);

/* An entry in the public struct. */
PHI__FN void phi__views_entry(const phi_thread *thread, const phi__entry *entry, phi_entry *out);

typedef struct phi__journal {
    phi_store store;
    char *id; /* terminated */
    size_t id_len;
    uint64_t stored; /* entries that the store has */
    bool failing;    /* the last append failed, and that was reported */
    phi_thread *thread;
    phi__dirty dirty;
} phi__journal;

/* phi_store.journal. The functions below with the same names call these. */
typedef struct phi__journal_ops {
    phi_status (*open)(phi_thread *thread, const phi_store *store, const char *id, uint64_t *torn,
                       char *words, size_t words_size);
    phi_status (*batch)(phi_thread *thread, char *words, size_t words_size);
    phi_status (*sync)(phi_thread *thread, char *words, size_t words_size);
    void (*close)(phi_thread *thread);
    phi_status (*recall)(phi_thread *thread);
    bool (*evict_begin)(phi_thread *thread);
    void (*evict_end)(phi_thread *thread);
} phi__journal_ops;

PHI__FN bool phi__journal_id_fits(const char *id);

/* As phi_thread_attach, whatever the thread's user is. store->journal is set. */
PHI__FN phi_status phi__journal_open(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *words, size_t words_size);

/* Writes one batch, if the store has less than the thread; no journal: nothing to do. */
PHI__FN phi_status phi__journal_batch(phi_thread *thread, char *words, size_t words_size);
PHI__FN phi_status phi__journal_sync(phi_thread *thread, char *words, size_t words_size);

/* Unlocks and forgets it, without writing anything; none is harmless. */
PHI__FN void phi__journal_close(phi_thread *thread);

/* After a thread was read from elsewhere: entries before its first one are in no store. */
PHI__FN void phi__journal_skip(phi_thread *thread);
PHI__FN void phi__journal_set_failing(phi_thread *thread, bool failing);

/* Puts it into a list, if it is not in it and the thread is a runtime's. */
PHI__FN void phi__journal_list(phi_thread *thread, phi__dirty_why why);

/* Removes and returns the oldest of the list; NULL: none. */
PHI__FN phi__journal *phi__journal_next(phi__grown *grown, phi__dirty_why why);

/* The end of a thread that may be in a store, to which missing entries are written. As
   phi__thread_destroy else. */
PHI__FN void phi__journal_free_thread(phi_thread *thread);

#endif
