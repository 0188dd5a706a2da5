/* revert_in.h - plans a revert, and names its categories. */
#ifndef PHI_HISTORY_REVERT_IN_H
#define PHI_HISTORY_REVERT_IN_H

#include "base/arena_in.h"
#include "history/revert.h"

/* "failure"...; empty: none of them. */
PHI__FN const char *phi__revert_word(phi_revert_category category);

/* Plans to take everything behind the step out of the active lane's view, with a user message
   "[Reverted to step n12 (failure): {summary}]" in its place. A line of an earlier failure or
   tangent goes, too, once five turns and three newer lines of its category follow it.
   *reverted says so, or why not (then out->span_count is 0): the step "was not found", or "a user
   message" follows it. out->meta has the same as JSON. Both, and their pointers, are in the
   arena. PHI_BAD_ARG: no category; PHI_NO_MEMORY. */
PHI__FN phi_status phi__revert_plan(const phi_thread *thread, const phi_revert *revert,
                                    phi_arena *arena, phi_rewrite *out, phi_reverted *reverted);

#endif
