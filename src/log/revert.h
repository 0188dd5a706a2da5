/* revert.h - plans a revert to an earlier step: takes everything since then out of the model's
   view.

   A step is a tool result that ends with a line which names it, "[step n12]": 12 is its entry in
   the thread. The loop adds that line, if a tool sets phi_tool.names_steps. The results of one
   answer are one step: they stay together. A revert never passes over a user's message. */
#ifndef PHI_LOG_REVERT_H
#define PHI_LOG_REVERT_H

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

/* Zero means default for every field but category and step. */
typedef struct phi_revert {
    phi_revert_category category;
    uint64_t step;   /* the entry */
    phi_str summary; /* what the model should remember of it (default: nothing) */
    /* steps from this entry on are none yet: those of the current turn (default: none) */
    uint64_t end_seq;
    const phi_texts *texts; /* PHI_TEXT_REVERTED and the like (default: phi's) */
} phi_revert;

#ifdef __cplusplus
}
#endif
#endif
