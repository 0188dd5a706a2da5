/* about_in.h - a thread's id, title, metadata and origin. */
#ifndef PHI_HISTORY_ABOUT_IN_H
#define PHI_HISTORY_ABOUT_IN_H

#include "text/json.h"
#include "history/thread_in.h"

/* The note that holds it, with its other names and numbers as JSON. */
typedef struct phi__about {
    phi_arena arena;
    phi_thread_info info; /* id and times are the thread's */
} phi__about;

PHI__FN void phi__about_free(phi_thread *thread);
PHI__FN size_t phi__about_bytes(const phi_thread *thread);

/* Replaces the thread's id; `id` is in memory of the thread's, its end included. */
PHI__FN void phi__about_name(phi_thread *thread, phi_str id);
/* The same of a copy of it. False: no memory. */
PHI__FN bool phi__about_set_id(phi_thread *thread, phi_str id);
/* Title, metadata and origin. */
PHI__FN phi_thread_info phi__about_info(const phi_thread *thread);
/* Noted in the log, and kept. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__about_set(phi_thread *thread, const phi_thread_info *info);
/* Metadata: a JSON object, or nothing. PHI_BAD_ARG: neither; PHI_NO_MEMORY. */
PHI__FN phi_status phi__about_is_object(const phi_thread *thread, phi_str json);
/* Reads a note of kind PHI_NOTE_THREAD. As phi__about_is_object. */
PHI__FN phi_status phi__about_read(phi_thread *thread, phi_str note);
/* In a new log: that it is made of the one with the id `from`, up to entry `at` (UINT64_MAX: of
   none of its entries). */
PHI__FN phi_status phi__about_forked(phi_thread *thread, phi_str from, uint64_t at);
/* Copies them to a log that replaces `before`: the same thread continues. False: no memory.
   `before` keeps its own until phi__about_move. */
PHI__FN bool phi__about_carry(phi_thread *thread, const phi_thread *before);
PHI__FN void phi__about_move(phi_thread *thread, phi_thread *before);

#endif
