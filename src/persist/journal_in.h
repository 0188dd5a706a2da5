/* journal_in.h - the journal: which entries of a thread its store has.

   Entries that the store refused stay in the log, and go with the next write. Threads: the pumping
   thread. */
#ifndef PHI_PERSIST_JOURNAL_IN_H
#define PHI_PERSIST_JOURNAL_IN_H

#include "persist/persist_in.h"
#include "history/history_in.h"
#include "persist/store.h"

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

/* After a thread was read from elsewhere: entries before its first one are in no store. */
PHI__FN void phi__journal_skip(phi_thread *thread);

#endif
