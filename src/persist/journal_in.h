/* journal_in.h - shared by the files of src/persist, not for other rooms. */
#ifndef PHI_PERSIST_JOURNAL_IN_H
#define PHI_PERSIST_JOURNAL_IN_H

#include "persist/file_store.h"
#include "persist/persist_in.h"

/* The type of phi_store.journal. The functions of persist_in.h with the same names call these. */
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

/* Call this after a thread was read from a text: no store has the entries before its first one. */
PHI__FN void phi__journal_skip(phi_thread *thread);

/* ---- entries.c ---- */

/* Appends the entry as JSON to a buffer. `scratch` is used only during the call. */
PHI__FN void phi__entry_json(phi__buf *out, const phi_thread *thread, const phi__entry *entry,
                             phi_arena *scratch);

/* Parse an entry and append it to the thread. PHI_PARSE: the text is no entry, or the entry is not
   valid at this place; reader->words says why. After any error the thread must be freed. */
PHI__FN phi_status phi__entry_read(phi__entry_reader *reader, phi_str json);
PHI__FN phi_status phi__read_node(phi__entry_reader *reader, const phi_json *root);

#ifndef PHI_NO_FILES
/* Opens a store as phi_file_store_open does, on a test's own disk. *disk is copied. */
PHI__FN phi_status phi__store_open_on(const phi_file_store_desc *desc, const phi__disk *disk,
                                      phi_store *out);
#endif

/* ---- views.c ---- */

/* Read the thread's id from a text's first line, and write it. Reading may return PHI_NO_MEMORY. */
PHI__FN phi_status phi__info_get_head(phi_thread *thread, const phi_json *head);
PHI__FN void phi__info_put_head(phi__buf *out, const phi_thread *thread);

#endif
