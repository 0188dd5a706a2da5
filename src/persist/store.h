/* store.h - stores for threads and documents: an interface, and the functions that make a thread
   durable.

   phi has two (persist/file_store.h; extras/phi_store_sqlite.h), and a host may have its own:
   docs/stores.md. Calls are plain calls into a file system or a database and take as long as those
   do; they are made inside phi_step, a few for each run and turn, and where the host asks. Ids are
   one to 128 bytes of [A-Za-z0-9._-], and do not begin with a dot. */
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

/* All functions: PHI_OK, PHI_NOT_FOUND (no such id), PHI_BUSY (another writer holds its lock:
   "locked"), PHI_PARSE (the data is damaged; `message`), PHI_FULL (no space left), PHI_IO,
   PHI_BAD_ARG (an invalid id), PHI_TOO_BIG, PHI_NO_MEMORY. On anything but PHI_OK nothing changed.
   `message`, where not NULL, gets a text, cut to message_size and terminated. Threads: as its
   implementation says; phi calls it on the pumping thread. Callbacks: inside these functions, of
   phi's only those of arenas and JSON: the thread and its agent are in use. */
typedef struct phi_store {
    void *user_data;
    /* Documents: snapshots, session records. save replaces the whole document, or nothing; for what
       a save survives, see append. */
    phi_status (*save)(void *user_data, const char *id, const char *agent_id, phi_str bytes,
                       char *message, size_t message_size);
    phi_status (*load)(void *user_data, const char *id, phi_arena *arena, phi_str *out,
                       char *message, size_t message_size);
    phi_status (*remove)(void *user_data, const char *id, char *message, size_t message_size);
    /* agent_id NULL: all; the latest change first. */
    phi_status (*list)(void *user_data, const char *agent_id, phi_arena *arena,
                       const phi_store_item **out, size_t *count, char *message,
                       size_t message_size);
    /* Threads. Entries are JSON texts without line breaks. append: all or none, behind the
       `expected` entries of the store (0: the thread begins); PHI_STALE: it has more or fewer.
       After PHI_OK they survive a crash of the process (and of the machine, as the store's own
       policy says). */
    phi_status (*append)(void *user_data, const char *thread_id, uint64_t expected,
                         const phi_str *entries, size_t count, char *message, size_t message_size);
    /* Calls `each` for the entries from `from` on, in order, until it returns anything but PHI_OK,
       which read then returns. A torn entry at the end of a file is left out, and the next append
       cuts it off; *torn, where given, says how many bytes. PHI_PARSE: `each` got the entries
       before the damage. A thread without an entry is not found. */
    phi_status (*read)(void *user_data, const char *thread_id, uint64_t from,
                       phi_status (*each)(void *ctx, uint64_t seq, phi_str entry), void *ctx,
                       uint64_t *torn, char *message, size_t message_size);
    phi_status (*remove_thread)(void *user_data, const char *thread_id, char *message,
                                size_t message_size);
    phi_status (*list_threads)(void *user_data, phi_arena *arena, const phi_store_item **out,
                               size_t *count, char *message, size_t message_size);
    /* Held while a thread is written to: PHI_BUSY when another writer has it. unlock without lock
       is harmless. */
    phi_status (*lock)(void *user_data, const char *thread_id, char *message, size_t message_size);
    void (*unlock)(void *user_data, const char *thread_id);
    /* phi_store_journal(): an agent keeps its thread in a store by it. phi_file_store_open and
       phi_sqlite_store_open set it; a host's own store sets it before phi_agent_new. A program
       without a store does not link it. */
    const struct phi__journal_ops *journal;
} phi_store;

/* What writes a thread to a store and reads it back, for phi_store.journal; static. */
PHI_API const struct phi__journal_ops *phi_store_journal(void);

/* ---- a thread in a store ---- */

/* From now on appended entries go to the store as well: by phi_thread_sync, and by themselves at
   the end of each step (at the end of a turn and of a run before its event). Allowed during a run.
   If the store holds a thread of that id already, the thread must be empty, and is filled with it
   (*torn as in read); if not, the thread's entries are written first. Locks it until the thread
   leaves the store or is freed, which sync, too. `store` is copied, its pointers are borrowed until
   then. append and read are needed; without lock nothing is locked. Stored entries outside of the
   active lane's view are evicted from memory at the beginning of a phi_step, when no event of the
   agent waits (of a thread lent to phi_run: no event at all). A call that needs them recalls the
   whole log from the store, or returns the store's status; then the log stays until another entry
   goes out of view. store NULL: the thread leaves its store, if it is in one, and keeps the id.
   Before, it recalls evicted entries: where that fails it stays attached; and it syncs: where that
   fails it leaves all the same. PHI_MISUSE: it is attached already, or both have entries;
   PHI_BAD_ARG: an invalid id; else the status of the store's functions, and its text in `message`.
   Then nothing changed. */
PHI_API phi_status phi_thread_attach(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *message, size_t message_size);
/* Writes the entries that the store does not have yet. PHI_OK: it has everything. After a failure
   the next entry tries again. PHI_MISUSE: the thread is in no store. */
PHI_API phi_status phi_thread_sync(phi_thread *thread, char *message, size_t message_size);

/* ---- a thread as text ---- */

/* A header line and one line for each entry, JSON Lines; in the arena. PHI_NO_MEMORY; the store's
   status. */
PHI_API phi_status phi_thread_to_json(const phi_thread *thread, phi_arena *arena, phi_str *out);
/* Reads it into an empty thread. PHI_MISUSE: it is not empty, and nothing changed. PHI_PARSE and
   PHI_NO_MEMORY: then it is empty, and in no store; *error (which may be NULL) has the line. */
PHI_API phi_status phi_thread_from_json(phi_thread *thread, phi_str json, phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif
