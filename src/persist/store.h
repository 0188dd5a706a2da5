/* store.h - stores for threads and documents: the interface of a store, and the functions that put
   a thread into a store.

   phi has two stores (persist/file_store.h, extras/phi_store_sqlite.h). A host may write its own:
   see docs/stores.md. The functions of a store are synchronous: each takes as long as the file
   system or database does. phi calls them inside phi_step, a few times for each run and turn, and
   inside public functions that need the store. An id has one to 128 bytes of [A-Za-z0-9._-], and
   does not begin with a dot. */
#ifndef PHI_PERSIST_STORE_H
#define PHI_PERSIST_STORE_H

#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_store_item {
    phi_str id, agent_id;
    int64_t changed_ms; /* Unix time of the last change */
    uint64_t bytes;
} phi_store_item;

/* A store. All functions return PHI_OK, PHI_NOT_FOUND (no such id), PHI_BUSY (another writer holds
   the lock: "locked"), PHI_PARSE (the data is damaged, and `message` says where), PHI_FULL (no
   space left), PHI_IO, PHI_BAD_ARG (an invalid id), PHI_TOO_BIG or PHI_NO_MEMORY. After any status
   but PHI_OK nothing changed. `message`, if not NULL, gets a text, cut to message_size and
   terminated.
   Threads: phi calls the functions on the pumping thread. The implementation says if other threads
   may call them too.
   Callbacks: the functions may call only phi's functions for arenas and JSON, since the thread and
   its agent are in use. */
typedef struct phi_store {
    void *user_data;
    /* Documents are snapshots and session records. `save` replaces the whole document or nothing. A
       saved document survives the same crashes as appended entries, see `append`. */
    phi_status (*save)(void *user_data, const char *id, const char *agent_id, phi_str bytes,
                       char *message, size_t message_size);
    phi_status (*load)(void *user_data, const char *id, phi_arena *arena, phi_str *out,
                       char *message, size_t message_size);
    phi_status (*remove)(void *user_data, const char *id, char *message, size_t message_size);
    /* Lists the documents of an agent (agent_id NULL: of all agents), latest change first. */
    phi_status (*list)(void *user_data, const char *agent_id, phi_arena *arena,
                       const phi_store_item **out, size_t *count, char *message,
                       size_t message_size);
    /* Entries of threads are JSON texts without line breaks. `append` appends all entries or none.
       If the store does not have exactly `expected` entries of this thread (0: the thread begins),
       `append` returns PHI_STALE. After PHI_OK the entries survive a crash of the process. The
       store decides if they also survive a crash of the machine. */
    phi_status (*append)(void *user_data, const char *thread_id, uint64_t expected,
                         const phi_str *entries, size_t count, char *message, size_t message_size);
    /* Calls `each` for entry `from` and all later entries, in order. If `each` returns a status
       other than PHI_OK, `read` stops and returns that status. A torn entry at the end of a file is
       left out, and the next append cuts it off; *torn, if torn is not NULL, gets the number of its
       bytes. PHI_PARSE: the data is damaged, and `each` got the entries before the damage.
       PHI_NOT_FOUND: there is no such thread, or it has no entries. */
    phi_status (*read)(void *user_data, const char *thread_id, uint64_t from,
                       phi_status (*each)(void *ctx, uint64_t seq, phi_str entry), void *ctx,
                       uint64_t *torn, char *message, size_t message_size);
    phi_status (*remove_thread)(void *user_data, const char *thread_id, char *message,
                                size_t message_size);
    phi_status (*list_threads)(void *user_data, phi_arena *arena, const phi_store_item **out,
                               size_t *count, char *message, size_t message_size);
    /* Locks a thread for writing. PHI_BUSY: another writer has the lock. unlock without lock must
       be harmless. */
    phi_status (*lock)(void *user_data, const char *thread_id, char *message, size_t message_size);
    void (*unlock)(void *user_data, const char *thread_id);
    /* The result of phi_store_journal(), which is the code that keeps an agent's thread in a store.
       phi_file_store_open and phi_sqlite_store_open set this field; a host with its own store must
       set it before phi_agent_new. A program without a store does not link this code. */
    const struct phi__journal_ops *journal;
} phi_store;

/* Returns the value for phi_store.journal: functions that write a thread and read it. Static. */
PHI_API const struct phi__journal_ops *phi_store_journal(void);

/* ---- a thread in a store ---- */

/* Puts a thread into a store: from now on appended entries are also written to the store.
   phi_thread_sync writes them at once. Otherwise phi writes them at the end of each step, and
   before the event that ends a turn or a run. Allowed during a run.
   If the store already has a thread with this id, `thread` must be empty and is filled from the
   store (*torn as in phi_store.read). If not, the entries of `thread` are written first. The thread
   is locked in the store until it leaves the store or is freed. Leaving and freeing also write
   missing entries.
   `store` is copied, and the pointers in it are borrowed while the thread is in the store. append
   and read must be set; without lock nothing is locked.
   Stored entries outside of the active lane's view are evicted from memory at the beginning of a
   phi_step, if no event of the agent waits (for a thread that phi_run uses: no event at all). A
   call that needs evicted entries recalls the whole log from the store, or returns the store's
   status. The recalled log stays in memory until another entry leaves the view.
   store NULL: the thread leaves its store, if it is in one, and keeps its id. First phi recalls the
   evicted entries; if that fails, the thread stays in the store. Then phi writes the missing
   entries; if that fails, the thread leaves the store nevertheless.
   PHI_MISUSE: the thread is in a store already, or thread and store both have entries; PHI_BAD_ARG:
   an invalid id; or a status of the store's functions, with its text in `message`. After any of
   these nothing changed. */
PHI_API phi_status phi_thread_attach(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *message, size_t message_size);
/* Writes the entries that the store does not have yet. PHI_OK: the store has all entries. After a
   failure phi tries again when the next entry is appended. PHI_MISUSE: the thread is in no
   store. */
PHI_API phi_status phi_thread_sync(phi_thread *thread, char *message, size_t message_size);

/* ---- a thread as text ---- */

/* Writes a thread as JSON Lines into the arena: a header line, then one line for each entry.
   Returns PHI_OK, PHI_BAD_ARG (a pointer is NULL), PHI_NO_MEMORY or the store's status. */
PHI_API phi_status phi_thread_to_json(const phi_thread *thread, phi_arena *arena, phi_str *out);
/* Reads a text made by phi_thread_to_json into an empty thread. PHI_MISUSE: the thread has
   entries already or is in use; nothing changed. After PHI_PARSE and PHI_NO_MEMORY the thread is
   empty and in no store, and *error (if error is not NULL) has the line. */
PHI_API phi_status phi_thread_from_json(phi_thread *thread, phi_str json, phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif
