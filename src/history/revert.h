/* revert.h - plans a revert to an earlier step: takes everything since then out of the model's
   view.

   A step is a tool result that ends with a line which names it, "[step n12]": 12 is its entry in
   the thread. The loop adds that line, if a tool sets phi_tool.names_steps. The results of one
   answer are one step: they stay together. A revert never passes over a user's message. Pure: from
   a thread to a rewrite, which the caller applies. */
#ifndef PHI_HISTORY_REVERT_H
#define PHI_HISTORY_REVERT_H

#include "log/thread.h"
#include "model/texts.h"
#include "model/event_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_revert_category {
    PHI_REVERT_FAILURE = 1,
    PHI_REVERT_TANGENT,
    PHI_REVERT_COMPLETION,
    PHI_REVERT_STEP_SUMMARY
} phi_revert_category;
/* "failure"... Static. */
PHI_API const char *phi_revert_category_text(phi_revert_category category);

/* Zero means default for every field but category and step. */
typedef struct phi_revert {
    phi_revert_category category;
    uint64_t step;   /* the entry */
    phi_str summary; /* what the model should remember of it (default: nothing) */
    /* steps from this entry on are none yet: those of the current turn (default: none) */
    uint64_t end_seq;
    const phi_texts *texts; /* PHI_TEXT_REVERTED and the like (default: phi's) */
} phi_revert;

/* Plans to take everything behind the step out of the active lane's view, with a user message
   "[Reverted to step n12 (failure): {summary}]" in its place. A line of an earlier failure or
   tangent goes, too, once five turns and three newer lines of its category stand behind it.
   *reverted says so, or why not (then out->span_count is 0): the step "was not found", or "a user
   message" stands behind it. out->meta has the same as JSON. Both, and their pointers, are in the
   arena. PHI_BAD_ARG: no category; PHI_NO_MEMORY. */
PHI_API phi_status phi_revert_plan(const phi_thread *thread, const phi_revert *revert,
                                   phi_arena *arena, phi_rewrite *out, phi_reverted *reverted);

#ifdef __cplusplus
}
#endif
#endif
