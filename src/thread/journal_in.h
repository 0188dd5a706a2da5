/* journal_in.h - a thread that is in a store: what the store has of it, and which threads have grown.

   Growing costs a look at a pointer; a thread that grew is put into a list, so that a step need not look at all of
   them. What the store did not take stays in the log, and goes with what is written next.
   Threads: the pumping thread. */
#ifndef PHI_THREAD_JOURNAL_IN_H
#define PHI_THREAD_JOURNAL_IN_H

#include "thread/store.h"
#include "thread/thread_in.h"

enum { PHI__JOURNAL_BATCH = 256 }; /* entries a call of the store's append */
#define PHI__JOURNAL_BATCH_BYTES                                                                   \
    ((size_t)1 << 20) /* the same; an entry that is longer goes alone */

enum { PHI__JOURNAL_LIMIT_PART = 32 }; /* of a memory limit: bytes of a batch */

/* Why a thread is looked at in a step. */
typedef enum phi__journal_why {
    PHI__JOURNAL_GREW = 0, /* it has entries which its store has not been given */
    PHI__JOURNAL_LEAVES,   /* what it shows no more may leave memory */
    PHI__JOURNAL_WHYS
} phi__journal_why;

/* Threads of a runtime, a list for each. */
typedef struct phi__grown {
    struct phi__journal *head[PHI__JOURNAL_WHYS], *tail[PHI__JOURNAL_WHYS];
} phi__grown;

typedef struct phi__journal {
    phi_store store;
    char *id; /* terminated */
    size_t id_len;
    uint64_t stored; /* entries that the store has */
    bool failing;    /* the last append failed, and that was told */
    phi_thread *thread;
    struct phi__journal *next[PHI__JOURNAL_WHYS], *prev[PHI__JOURNAL_WHYS];
    bool listed[PHI__JOURNAL_WHYS];
} phi__journal;

PHI__FN bool phi__journal_id_fits(const char *id);
/* As phi_thread_attach, whatever the thread's user is. */
PHI__FN phi_status phi__journal_open(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *words, size_t words_size);
/* Writes one batch, if the store has less than the thread; no journal: nothing to do. */
PHI__FN phi_status phi__journal_batch(phi_thread *thread, char *words, size_t words_size);
PHI__FN phi_status phi__journal_sync(phi_thread *thread, char *words, size_t words_size);
/* Unlocks and forgets it, without writing anything; none is harmless. */
PHI__FN void phi__journal_close(phi_thread *thread);
/* Puts it into a list, if it is not in it and the thread is a runtime's. */
PHI__FN void phi__journal_list(phi_thread *thread, phi__journal_why why);
/* The one that was listed first, and out of the list; NULL: none. */
PHI__FN phi__journal *phi__journal_next(phi__grown *grown, phi__journal_why why);

#endif
