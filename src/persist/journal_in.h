/* journal_in.h - what the files of src/persist share and no other room needs. */
#ifndef PHI_PERSIST_JOURNAL_IN_H
#define PHI_PERSIST_JOURNAL_IN_H

#include "persist/file_store.h"
#include "persist/persist_in.h"

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

/* ---- entries.c ---- */

/* Appends it to a buffer; memory of `scratch` is given back. */
PHI__FN void phi__entry_json(phi__buf *out, const phi_thread *thread, const phi__entry *entry,
                             phi_arena *scratch);

/* Appends the entry to the thread. PHI_PARSE: it is none, or not valid there; `words` say why.
   After anything but PHI_OK the thread is to be freed. */
PHI__FN phi_status phi__entry_read(phi__entry_reader *reader, phi_str json);
PHI__FN phi_status phi__read_node(phi__entry_reader *reader, const phi_json *root);

#ifndef PHI_NO_FILES
/* As phi_file_store_open, on a disk of the test's own, which is copied. */
PHI__FN phi_status phi__store_open_on(const phi_file_store_desc *desc, const phi__disk *disk,
                                      phi_store *out);
#endif

/* ---- views.c ---- */

/* Read a text's first line into the thread, and write it. Reading: PHI_NO_MEMORY. */
PHI__FN phi_status phi__info_get_head(phi_thread *thread, const phi_json *head);
PHI__FN void phi__info_put_head(phi__buf *out, const phi_thread *thread);

#endif
