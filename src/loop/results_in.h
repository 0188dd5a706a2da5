/* results_in.h - a tool's result as a message, where it must outlive the function that gave it. */
#ifndef PHI_LOOP_RESULTS_IN_H
#define PHI_LOOP_RESULTS_IN_H

#include "base/base_in.h"
#include "loop/tool.h"

/* A copy: its run is the message's loop_id, its effects are the extension_data. NULL: no memory. */
PHI__FN phi_message *phi__results_keep(phi_arena *arena, const phi_tool_result *result);
/* And back; it points into the message. */
PHI__FN phi_tool_result phi__results_given(const phi_message *message);

#endif
