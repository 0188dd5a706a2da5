/* check.c - an entry as one JSON text without line breaks, and back: the lines of a stored
   thread.

   The same entry gives the same bytes, and reading gives back the same entry, message for message
   and byte for byte, but for bytes that are not UTF-8 (they become U+FFFD). Texts that are JSON
   themselves are kept as strings. An entry is read into the thread that it belongs to, behind those
   before it, and is refused where it could not have been appended there. */
#ifndef PHI_PERSIST_ENTRY_IN_H
#define PHI_PERSIST_ENTRY_IN_H

#include "base/arena_in.h"
#include "text/json.h"
#include "history/history_in.h"

/* Appends it to a buffer; memory of `scratch` is given back. */
PHI__FN void phi__entry_json(phi__buf *out, const phi_thread *thread, const phi__entry *entry,
                             phi_arena *scratch);

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

PHI__FN void phi__entry_get_reader_init(phi__entry_reader *reader, phi_thread *thread);
PHI__FN void phi__entry_get_reader_free(phi__entry_reader *reader);

/* Appends the entry to the thread. PHI_PARSE: it is none, or none that can stand there; `words` say
   why. After anything but PHI_OK the thread is to be freed. */
PHI__FN phi_status phi__entry_read(phi__entry_reader *reader, phi_str json);
PHI__FN phi_status phi__entry_read_node(phi__entry_reader *reader, const phi_json *root);

/* Writes line *line of the text of a thread whose entries are all in memory, from 0, without its
   end, and counts it. False: there is none. */
PHI__FN bool phi__thread_text_more(phi__buf *out, const phi_thread *thread, size_t *line,
                                   phi_arena *scratch);
/* As phi_thread_from_json, from the lines as the items of an array; thread_text.c. */
PHI__FN phi_status phi__thread_text_from_array(phi_thread *thread, const phi_json *lines,
                                               char *words, size_t words_size);

/* A message whole, as the members "message" and, where there is something, "more" of an object; and
   back: its blocks are in the reader's scratch arena, strings of the tree are not copied. */
PHI__FN void phi__entry_json_message(phi__buf *out, const phi_message *message, phi_arena *scratch);
PHI__FN phi_status phi__entry_get_message(phi__entry_reader *reader, const phi_json *holder,
                                          phi_message *out);

/* A rewrite as members of an object, but for its lane: unset fields are left out. And back, with a
   lane where one is named: all of it in the reader's scratch arena. */
PHI__FN void phi__entry_json_rewrite(phi__buf *out, const phi_rewrite *rewrite, phi_arena *scratch);
PHI__FN phi_status phi__entry_get_rewrite(phi__entry_reader *reader, const phi_json *holder,
                                          phi_rewrite *out);

#endif
