/* persist_in.h - a thread and its optional store, for other rooms. */
#ifndef PHI_PERSIST_PERSIST_IN_H
#define PHI_PERSIST_PERSIST_IN_H

#include "log/log_in.h"
#include "persist/store.h"

enum {
    PHI__ENTRY_WORDS = 240,
    PHI__ENTRY_SCRATCH = 16384 /* bytes; most entries need no second block */
};

typedef struct phi__entry_reader {
    phi_thread *thread;
    phi_arena scratch; /* the JSON tree of an entry */
    /* the last loop id that was read, stored in the thread; a run's entries share it */
    phi_str loop_id;
    char words[PHI__ENTRY_WORDS];
} phi__entry_reader;

PHI__FN void phi__get_reader_init(phi__entry_reader *reader, phi_thread *thread);
PHI__FN void phi__get_reader_free(phi__entry_reader *reader);

/* Writes line *line of the thread's text, without a line break, and adds 1 to *line. Line 0 is the
   header. All entries must be in memory. False: there is no such line. */
PHI__FN bool phi__thread_text_more(phi__buf *out, const phi_thread *thread, size_t *line,
                                   phi_arena *scratch);

/* Reads a thread as phi_thread_from_json does, but from the items of an array (thread_text.c). */
PHI__FN phi_status phi__thread_text_from_array(phi_thread *thread, const phi_json *lines,
                                               char *words, size_t words_size);

/* phi__write_message writes a whole message as the members "message" and, if it has more data,
   "more". phi__get_message reads these members: the blocks are in the reader's scratch arena, and
   strings of the tree are not copied. */
PHI__FN void phi__write_message(phi__buf *out, const phi_message *message, phi_arena *scratch);
PHI__FN phi_status phi__get_message(phi__entry_reader *reader, const phi_json *holder,
                                    phi_message *out);

/* Write and read a rewrite as members of an object. The writer omits the lane and all unset fields.
   The reader accepts a lane, and puts everything into the reader's scratch arena. */
PHI__FN void phi__write_rewrite(phi__buf *out, const phi_rewrite *rewrite, phi_arena *scratch);
PHI__FN phi_status phi__get_rewrite(phi__entry_reader *reader, const phi_json *holder,
                                    phi_rewrite *out);

/* Reads all evicted entries back from the store; pointers to entries in memory stay valid. PHI_OK:
   all entries are in memory. PHI_NO_MEMORY or an error of the store: nothing changed. */
PHI__FN phi_status phi__recall(const phi_thread *thread);

/* Returns message i of the active lane, and recalls the log if the message is evicted. NULL: there
   is no such message, or the store cannot be read (then *status is not PHI_OK). */
PHI__FN const phi_message *phi__recall_message(const phi_thread *thread, size_t i,
                                               phi_status *status);

/* Calls phi__recall if a lane's view after entry `upto` needs evicted entries. */
PHI__FN phi_status phi__recall_view(const phi_thread *thread, uint32_t lane, uint64_t upto);

/* Calls phi__recall if appending the end of a run needs evicted entries. */
PHI__FN phi_status phi__recall_end(const phi_thread *thread, const phi__entry *end);

/* Sets *had to true if the log has a run with this id. Calls phi__recall if this needs evicted
   entries. */
PHI__FN phi_status phi__recall_has_loop(const phi_thread *thread, phi_str loop_id, bool *had);

/* Applies a rewrite as phi_thread_rewrite does, but also during a run: loop_id and turn_index name
   the run and turn that make the rewrite. Recalls evicted entries if the rewrite needs them. */
PHI__FN phi_status phi__edit_rewrite(phi_thread *thread, const phi_rewrite *rewrite,
                                     phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                     char *words, size_t words_size);

/* Evict entries that are in no view. Between the two calls the caller pins the segments that
   outside pointers need (phi__segments_pin). Segments of the view, the current segment and the
   start of an active run stay in memory too. Nothing is evicted while the store lacks an entry. */
PHI__FN bool phi__evict_begin(phi_thread *thread); /* false: there is nothing to evict */
PHI__FN void phi__evict_end(phi_thread *thread);

typedef struct phi__journal {
    phi_store store;
    char *id; /* terminated */
    size_t id_len;
    uint64_t stored; /* entries that the store has */
    bool failing;    /* the last append failed, and the failure was reported */
    phi_thread *thread;
    phi__dirty dirty;
} phi__journal;

PHI__FN bool phi__journal_id_fits(const char *id);

/* Works as phi_thread_attach, even if the thread is in use. store->journal must be set. */
PHI__FN phi_status phi__journal_open(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *words, size_t words_size);

/* Writes one batch of entries if the store lacks some. PHI_OK if the thread is in no store. */
PHI__FN phi_status phi__journal_batch(phi_thread *thread, char *words, size_t words_size);
PHI__FN phi_status phi__journal_sync(phi_thread *thread, char *words, size_t words_size);

/* Unlocks and frees the journal, without writing entries. Harmless if the thread is in no store. */
PHI__FN void phi__journal_close(phi_thread *thread);

/* Adds the thread's journal to a list. Does nothing if the journal is in the list, or if there is
   no runtime. */
PHI__FN void phi__journal_list(phi_thread *thread, phi__dirty_why why);

/* Removes and returns the oldest journal of the list. NULL: the list is empty. */
PHI__FN phi__journal *phi__journal_next(phi__grown *grown, phi__dirty_why why);

/* Frees a thread, like phi__thread_destroy. First writes missing entries to its store, if any. */
PHI__FN void phi__journal_free_thread(phi_thread *thread);

/* Returns the thread's id. In a store this is the id in the store. Empty: the thread has none
   yet. */
static inline phi_str phi__info_known_id(const phi_thread *thread) {
    return thread->journal != NULL ? phi__str(thread->journal->id, thread->journal->id_len)
                                   : thread->id;
}

/* Returns the thread's id, and makes one if the thread has none. Empty: no memory. */
PHI__FN phi_str phi__info_id(phi_thread *thread);

#endif
