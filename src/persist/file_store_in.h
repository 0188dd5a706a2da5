/* file_store_in.h - shared by the files of the file store: paths, messages, locks, and the locked
   threads. */
#ifndef PHI_PERSIST_FILE_STORE_IN_H
#define PHI_PERSIST_FILE_STORE_IN_H

#include "base/arena_in.h"
#include "base/buf_in.h"
#include "io/disk_in.h"
#include "persist/file_store.h"

#ifndef PHI_NO_FILES

enum {
    PHI__FILE_STORE_ID = 128,    /* bytes of an id */
    PHI__FILE_STORE_NAME = 160,  /* and of a file's name, with all that is put around it */
    PHI__FILE_STORE_HEADER = 34, /* bytes of a thread's first line */
    PHI__FILE_STORE_HEAD = 65536 /* bytes of a document that are searched for its agent */
};

/* Where a thread's file ends. */
typedef struct phi__file_store_tail {
    bool known;
    uint64_t count, end; /* entries, and the bytes they and the header take */
    uint64_t device, file;
} phi__file_store_tail;

/* A thread that this store has locked. */
typedef struct phi__file_store_held {
    char id[PHI__FILE_STORE_ID + 1];
    intptr_t lock;
    phi__file_store_tail tail;
} phi__file_store_held;

typedef struct phi__file_store {
    phi_memory memory;
    phi__disk disk;
    bool sync;
    char *directory; /* terminated */
    size_t directory_bytes;
    phi__file_store_held *held;
    size_t held_count, held_cap;
} phi__file_store;

/* The caller's buffer for a message. */
typedef struct phi__file_store_to {
    char *words; /* NULL: nowhere */
    size_t size;
} phi__file_store_to;

typedef struct phi__file_store_path {
    char text[PHI__PATH_BYTES];
} phi__file_store_path;

/* As phi_file_store_open, on a disk of the test's own, which is copied. */
PHI__FN phi_status phi__file_store_open_on(const phi_file_store_desc *desc, const phi__disk *disk,
                                           phi_store *out);

/* file_lock.c */
PHI__FN phi__file_store_to phi__file_store_to_of(char *words, size_t size); /* empties them */
PHI__FN void phi__file_store_say(phi__file_store_to to, const char *format, ...) PHI_PRINTF(2, 3);
/* "Cannot {what} {id}{suffix}: {the system's words}"; returns status. */
PHI__FN phi_status phi__file_store_refuse(phi__file_store_to to, phi_status status,
                                          const char *what, const char *id, const char *suffix,
                                          const phi__words *words);
PHI__FN phi_status phi__file_store_no_memory(phi__file_store_to to);
/* PHI_OK or PHI_BAD_ARG. */
PHI__FN phi_status phi__file_store_check_id(const char *id, phi__file_store_to to);
PHI__FN void phi__file_store_path_of(const phi__file_store *fs, phi__file_store_path *out,
                                     const char *prefix, const char *id, const char *suffix);
PHI__FN const char *phi__file_store_kind(const char *suffix); /* "Session" or "Thread" */

/* The lock {id}{suffix}.lock, made with its directory where they are not there. */
PHI__FN phi_status phi__file_store_lock_take(phi__file_store *fs, const char *id,
                                             const char *suffix, intptr_t *out,
                                             phi__file_store_to to);
PHI__FN void phi__file_store_lock_drop(phi__file_store *fs, const char *id, const char *suffix,
                                       intptr_t lock);
PHI__FN phi__file_store_held *phi__file_store_find(const phi__file_store *fs,
                                                   const char *thread_id); /* or NULL */

/* Writes all of it, at `at`. */
PHI__FN phi_status phi__file_store_write(phi__file_store *fs, intptr_t file, uint64_t at,
                                         phi_str bytes, phi__words *words);

/* A line of a thread's file. */
typedef struct phi__file_line {
    uint64_t seq, first, last; /* the lines of its group */
    phi_str entry;
} phi__file_line;

/* file_lines.c */
PHI__FN void phi__file_lines_put_header(phi__buf *out);
PHI__FN void phi__file_lines_put(phi__buf *out, uint64_t seq, uint64_t first, uint64_t last,
                                 phi_str entry);
/* Whether it is as it was written; takes one apart that is; and both. */
PHI__FN bool phi__file_lines_checks(phi_str line);
PHI__FN bool phi__file_lines_parse(phi_str line, phi__file_line *out);
PHI__FN bool phi__file_lines_read(phi_str line, phi__file_line *out);

/* file_documents.c, file_threads.c: the functions of phi_store. */
PHI__FN phi_status phi__file_documents_save(void *user_data, const char *id, const char *agent_id,
                                            phi_str bytes, char *words, size_t words_size);
PHI__FN phi_status phi__file_documents_load(void *user_data, const char *id, phi_arena *arena,
                                            phi_str *out, char *words, size_t words_size);
PHI__FN phi_status phi__file_documents_remove(void *user_data, const char *id, char *words,
                                              size_t words_size);
PHI__FN phi_status phi__file_documents_list(void *user_data, const char *agent_id, phi_arena *arena,
                                            const phi_store_item **out, size_t *count, char *words,
                                            size_t words_size);
PHI__FN phi_status phi__file_documents_list_threads(void *user_data, phi_arena *arena,
                                                    const phi_store_item **out, size_t *count,
                                                    char *words, size_t words_size);
PHI__FN phi_status phi__file_threads_store_append(void *user_data, const char *thread_id,
                                                  uint64_t expected, const phi_str *entries,
                                                  size_t count, char *words, size_t words_size);
PHI__FN phi_status
phi__file_threads_store_read(void *user_data, const char *thread_id, uint64_t from,
                             phi_status (*each)(void *ctx, uint64_t seq, phi_str entry), void *ctx,
                             uint64_t *torn, char *words, size_t words_size);
PHI__FN phi_status phi__file_threads_store_remove(void *user_data, const char *thread_id,
                                                  char *words, size_t words_size);

#endif
#endif
