/* revert.h - plans a revert to an earlier step, which takes everything since that step out of the
   view.

   A step is a tool result whose last line names it: "[step n12]" for entry 12 of the thread. The
   loop adds this line if a tool has phi_tool.names_steps. All results of one answer are one step
   and stay together. A revert never removes a user message. */
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
    uint64_t step; /* the entry of the step */
    /* what the model should remember of the abandoned messages (default: nothing) */
    phi_str summary;
    /* results from this entry on are no steps yet, for example in the current turn (default: all
       results with a name are steps) */
    uint64_t end_seq;
    const phi_texts *texts; /* PHI_TEXT_REVERTED and the like (default: phi's) */
} phi_revert;

#ifdef __cplusplus
}
#endif
#endif
