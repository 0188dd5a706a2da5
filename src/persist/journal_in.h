/* journal_in.h - the journal: which entries of a thread its store has.

   Entries that the store refused stay in the log, and go with the next write.
   Threads: the pumping thread. */
#ifndef PHI_PERSIST_JOURNAL_IN_H
#define PHI_PERSIST_JOURNAL_IN_H

#include "persist/store.h"
#include "history/history_in.h"

enum { PHI__JOURNAL_BATCH = 256 }; /* entries a call of the store's append */
#define PHI__JOURNAL_BATCH_BYTES                                                                   \
    ((size_t)1 << 20) /* the same; an entry that is longer goes alone */

enum { PHI__JOURNAL_LIMIT_PART = 32 }; /* of a memory limit: bytes of a batch */

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
