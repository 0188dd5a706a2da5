/* claude_in.h - what differs between Claude models, as data: the Anthropic codec asks here. */
#ifndef PHI_WIRE_CLAUDE_IN_H
#define PHI_WIRE_CLAUDE_IN_H

#include "base/base_in.h"

/* How thinking is kept away where it is not wanted. */
typedef enum phi__claude_off {
    PHI__CLAUDE_OFF_OMIT = 0, /* it does not think unless asked */
    PHI__CLAUDE_OFF_DISABLED, /* thinking:{type:disabled} */
    PHI__CLAUDE_OFF_BETWEEN,  /* thinking:{type:between_tools} is the least */
    PHI__CLAUDE_OFF_CANNOT    /* always thinks: the lowest effort is all there is */
} phi__claude_off;

typedef struct phi__claude {
    uint32_t version;    /* major * 100 + minor; 0: no Claude, or no known name */
    bool adaptive;       /* thinking:{type:adaptive} and effort, not a budget */
    bool no_temperature; /* refuses any but 1 */
    bool no_forced_tool; /* refuses a tool_choice that forces a call */
    phi__claude_off off;
    uint32_t most_output; /* tokens that max_tokens may be raised to; 0: unknown */
} phi__claude;

/* By name, as Anthropic and those who resell it write them: "claude-opus-4-6",
   "claude-3-7-sonnet-20250219", "anthropic/claude-sonnet-4.5". */
PHI__FN phi__claude phi__claude_of(phi_str id);

#endif
