/* introspect.h - facts about a thread: figures of a lane's view, its newest messages, and the log
   as text.

   For screens, logs and people who search for a fault. Which messages of a view are sent to a
   model, and why, phi_agent_explain says. Each of these makes a view, costs as much, and returns
   phi_thread_view's status where that fails. Only phi_thread_describe reads entries, and only those
   that it writes a line of. None of them changes anything; all are allowed during a run. Threads:
   the pumping thread. */
#ifndef PHI_PERSIST_INTROSPECT_H
#define PHI_PERSIST_INTROSPECT_H

#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The figures of a lane's view. */
typedef struct phi_lane_figures {
    size_t messages; /* in view; all that follow count among these */
    size_t user, answers, results, extensions;
    size_t made, summaries;      /* by a rewrite; summaries are of those */
    size_t calls, open_calls;    /* tool calls of the answers; those without a result so far */
    uint64_t text_bytes, tokens; /* of text blocks; of all blocks, by estimate */
} phi_lane_figures;

/* The newest message in the active lane's view that has this role (0: any), and, with `with_text`,
   a text block that is not empty: the model's last words are of PHI_ROLE_ASSISTANT, with text.
   NULL: none. The message is the thread's, valid as an entry's. */
PHI_API const phi_message *phi_thread_last(const phi_thread *thread, phi_role role, bool with_text);

/* Options of phi_thread_describe. Zero means default for every field. */
typedef struct phi_describe {
    const char *lane;    /* the lane whose view it is (default: the active one) */
    uint64_t before;     /* the thread as it was before this entry (default: as it is now) */
    uint32_t last;       /* entries, the newest (default 20; PHI_UNLIMITED) */
    uint32_t text_bytes; /* of each text; the rest is cut (default 200; PHI_UNLIMITED) */
} phi_describe;

/* The thread as text, for people: two lines of figures, then a line for each entry, oldest first;
   of a message, whether it is in the lane's view, replaced by a rewrite's message, or hidden. The
   wording may change. A line names at most four calls or spans, and names are cut to 80 bytes.
   Control characters are written "\n" or "\x1b". *figures: of the lane's view, where given. *out:
   the text, in the arena; NULL: the figures alone, which need no arena and read no entries.
   `describe` NULL: the defaults. PHI_NOT_FOUND: no such lane; PHI_NO_MEMORY, PHI_BAD_ARG;
   phi_thread_entry's status: *out and *figures are untouched. */
PHI_API phi_status phi_thread_describe(const phi_thread *thread, const phi_describe *describe,
                                       phi_arena *arena, phi_str *out, phi_lane_figures *figures);

#ifdef __cplusplus
}
#endif
#endif
