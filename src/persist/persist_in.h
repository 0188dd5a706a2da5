/* persist_in.h - a thread, and the store that it may be in, for the rooms that use it. */
#ifndef PHI_PERSIST_PERSIST_IN_H
#define PHI_PERSIST_PERSIST_IN_H

#include "log/log_in.h"
#include "persist/store.h"

enum {
    PHI__ENTRY_WORDS = 240,
    PHI__ENTRY_SCRATCH = 16384 /* bytes; most entries need no other block */
};

typedef struct phi__entry_reader {
    phi_thread *thread;
    phi_arena scratch; /* an entry's tree */
    phi_str loop_id;   /* the last one, in the thread: entries of a run share it */
    char words[PHI__ENTRY_WORDS];
} phi__entry_reader;

PHI__FN void phi__get_reader_init(phi__entry_reader *reader, phi_thread *thread);
PHI__FN void phi__get_reader_free(phi__entry_reader *reader);

/* Writes line *line of the text of a thread whose entries are all in memory, from 0, without its
   end, and counts it. False: there is none. */
PHI__FN bool phi__thread_text_more(phi__buf *out, const phi_thread *thread, size_t *line,
                                   phi_arena *scratch);

/* As phi_thread_from_json, from the lines as the items of an array; thread_text.c. */
PHI__FN phi_status phi__thread_text_from_array(phi_thread *thread, const phi_json *lines,
                                               char *words, size_t words_size);

/* A message whole, as the members "message" and, where there is something, "more" of an object; and
   back: its blocks are in the reader's scratch arena, strings of the tree are not copied. */
PHI__FN void phi__write_message(phi__buf *out, const phi_message *message, phi_arena *scratch);
PHI__FN phi_status phi__get_message(phi__entry_reader *reader, const phi_json *holder,
                                    phi_message *out);

/* A rewrite as members of an object, but for its lane: unset fields are left out. And back, with a
   lane where one is named: all of it in the reader's scratch arena. */
PHI__FN void phi__write_rewrite(phi__buf *out, const phi_rewrite *rewrite, phi_arena *scratch);
PHI__FN phi_status phi__get_rewrite(phi__entry_reader *reader, const phi_json *holder,
                                    phi_rewrite *out);

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

/* *had: true if the whole log has a run of this id. As phi__recall. */
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

typedef struct phi__journal {
    phi_store store;
    char *id; /* terminated */
    size_t id_len;
    uint64_t stored; /* entries that the store has */
    bool failing;    /* the last append failed, and that was reported */
    phi_thread *thread;
    phi__dirty dirty;
} phi__journal;

PHI__FN bool phi__journal_id_fits(const char *id);

/* As phi_thread_attach, whatever the thread's user is. store->journal is set. */
PHI__FN phi_status phi__journal_open(phi_thread *thread, const phi_store *store, const char *id,
                                     uint64_t *torn, char *words, size_t words_size);

/* Writes one batch, if the store has less than the thread; no journal: nothing to do. */
PHI__FN phi_status phi__journal_batch(phi_thread *thread, char *words, size_t words_size);
PHI__FN phi_status phi__journal_sync(phi_thread *thread, char *words, size_t words_size);

/* Unlocks and forgets it, without writing anything; none is harmless. */
PHI__FN void phi__journal_close(phi_thread *thread);

/* Puts it into a list, if it is not in it and the thread is a runtime's. */
PHI__FN void phi__journal_list(phi_thread *thread, phi__dirty_why why);

/* Removes and returns the oldest of the list; NULL: none. */
PHI__FN phi__journal *phi__journal_next(phi__grown *grown, phi__dirty_why why);

/* The end of a thread that may be in a store, to which missing entries are written. As
   phi__thread_destroy else. */
PHI__FN void phi__journal_free_thread(phi_thread *thread);

/* The thread's id, in a store or not; made where it has none. Empty: no memory. */
PHI__FN phi_str phi__info_id(phi_thread *thread);

#endif
