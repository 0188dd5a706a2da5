/* introspect.h - for screens and debugging: figures of a lane's view, its newest messages, and the
   log as text.

   phi_agent_explain tells which messages of a view are sent to a model, and why.
   phi_thread_describe makes a view, which takes as long as phi_thread_view, and reads only the
   entries for which it writes a line. The functions here change nothing and are allowed during a
   run. Threads: the pumping thread. */
#ifndef PHI_PERSIST_INTROSPECT_H
#define PHI_PERSIST_INTROSPECT_H

#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The figures of a lane's view. */
typedef struct phi_lane_figures {
    size_t messages; /* messages in the view; the other numbers are about these */
    size_t user, answers, results, extensions;
    /* made: messages made by a rewrite; summaries: how many of those are summaries */
    size_t made, summaries;
    /* calls: tool calls in the answers; open_calls: how many of those have no result yet */
    size_t calls, open_calls;
    uint64_t text_bytes, tokens; /* bytes of text blocks; tokens of all blocks by estimate */
} phi_lane_figures;

/* Returns the newest message with this role (0: any role) in the active lane's view. With
   `with_text` the message must also have a text block that is not empty. For the model's last text,
   give PHI_ROLE_ASSISTANT and true. NULL: there is no such message. The thread owns the message,
   which is valid as long as an entry's strings. */
PHI_API const phi_message *phi_thread_last(const phi_thread *thread, phi_role role, bool with_text);

/* Options of phi_thread_describe. Zero means default for every field. */
typedef struct phi_describe {
    const char *lane; /* the lane whose view is used (default: the active lane) */
    /* describe the thread as it was before this entry (default: as it is now) */
    uint64_t before;
    uint32_t last;       /* the number of newest entries to describe (default 20; PHI_UNLIMITED) */
    uint32_t text_bytes; /* the most bytes shown of each text (default 200; PHI_UNLIMITED) */
} phi_describe;

/* Describes a thread for people: two lines of figures, then a line for each entry, oldest first.
   The line of a message says if the message is shown in the lane's view, was replaced by a
   rewrite, or is hidden. The wording may change. A line has at most four calls or spans, and
   names are cut to 80 bytes. Control characters are written as "\n" or "\x1b". *out gets the
   text, in the arena. If out is NULL, only the figures are computed; this needs no arena and
   reads no entry. *figures, if figures is not NULL, gets the figures of the lane's view. If
   `describe` is NULL, the defaults are used. PHI_NOT_FOUND: there is no such lane, or the
   entries before `before` are forgotten. PHI_BAD_ARG: an argument is missing. Otherwise
   PHI_NO_MEMORY or the status of phi_thread_entry. After any of these *out and *figures are
   unchanged. */
PHI_API phi_status phi_thread_describe(const phi_thread *thread, const phi_describe *describe,
                                       phi_arena *arena, phi_str *out, phi_lane_figures *figures);

#ifdef __cplusplus
}
#endif
#endif
