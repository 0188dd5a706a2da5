/* claude_in.h - the differences between Claude models as data, for both of their protocols. */
#ifndef PHI_CODECS_CLAUDE_IN_H
#define PHI_CODECS_CLAUDE_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"

/* How a request turns thinking off. */
typedef enum phi__claude_off {
    PHI__CLAUDE_OFF_OMIT = 0, /* leave it out: the model does not think by default */
    PHI__CLAUDE_OFF_DISABLED, /* thinking:{type:disabled} */
    PHI__CLAUDE_OFF_BETWEEN,  /* thinking:{type:between_tools} is the minimum */
    PHI__CLAUDE_OFF_CANNOT    /* the model always thinks: send the lowest effort */
} phi__claude_off;

typedef struct phi__claude {
    uint32_t version;    /* major * 100 + minor; 0: no Claude, or an unknown name */
    bool adaptive;       /* thinking:{type:adaptive} and effort instead of a budget */
    bool no_temperature; /* refuses any temperature but 1 */
    bool no_forced_tool; /* refuses a tool_choice that forces a call */
    phi__claude_off off;
    uint32_t most_output; /* limit for raising max_tokens; 0: unknown */
    bool checks;          /* checks the prefix of thinking that is sent back (wire/encoder.c) */
    bool updates;         /* accepts system messages in mid-conversation */
} phi__claude;

/* Finds a Claude model by its name as Anthropic or resellers write it: "claude-opus-4-6",
   "claude-3-7-sonnet-20250219", "anthropic/claude-sonnet-4.5". */
PHI__FN phi__claude phi__claude_of(phi_str id);

/* The settings of a request to a Claude model, in either protocol. */
typedef struct phi__claude_plan {
    phi__claude claude;
    bool adaptive, thinks;
    uint32_t max_tokens, budget;
} phi__claude_plan;

/* Appends a message's blocks to the open message of its role, in either protocol. `is_system` is
   true if the message is an update that is sent as a system message. */
static inline void phi__claude_append(phi__encoder *e, const phi_message *m, bool is_system,
                                      phi_str blocks) {
    phi_role role = m->role == PHI_ROLE_ASSISTANT ? PHI_ROLE_ASSISTANT
                    : is_system                   ? PHI__ROLE_SYSTEM
                                                  : PHI_ROLE_USER;
    phi__encode_role(e, role,
                     role == PHI_ROLE_ASSISTANT
                         ? PHI__LIT("]},{\"role\":\"assistant\",\"content\":[")
                     : role == PHI__ROLE_SYSTEM ? PHI__LIT("]},{\"role\":\"system\",\"content\":[")
                                                : PHI__LIT("]},{\"role\":\"user\",\"content\":["),
                     blocks);
}

/* True if a version of Anthropic's API is 2026-10-21 or later. */
PHI__FN bool phi__claude_late_version(phi_str api_version);
PHI__FN phi__claude_plan phi__claude_plan_of(const phi__request_spec *spec);

/* As phi__claude_plan_of, but looks at the messages too. If thinking has a budget, the API requires
   that the message whose calls were just answered begins with thinking. If that message does not,
   no thinking is requested. */
PHI__FN phi__claude_plan phi__claude_plan_now(const phi__encoder *e);

/* Write ,"thinking":{...} and ,"output_config":{...}, if needed. If with_format is true, the latter
   includes the answer's format. */
PHI__FN void phi__claude_put_thinking(phi__encoder *e, const phi__claude_plan *p);
PHI__FN void phi__claude_put_config(phi__encoder *e, const phi__claude_plan *p, bool with_format);

/* Returns the PHI__TAKES_ bits of a request. A seed is never accepted. Sampling settings are not
   accepted if the request thinks, or if the model or the API version refuses them. `api_version` is
   Anthropic's, and empty for Bedrock. */
PHI__FN uint32_t phi__claude_takes_of(const phi__claude_plan *p, phi_str api_version);

/* For phi__codec_settings. */
PHI__FN phi_thinking phi__claude_level(const phi_model *model, phi_thinking wanted);

/* Returns the last sent block of a message; SIZE_MAX if no block is sent. Thinking must not be the
   last block. */
PHI__FN size_t phi__claude_last_sent(const phi__codec *codec, const phi_message *m);

/* For phi__codec_rules. Claude supports schemas in its strict form since 4.5. Since 4.6 the last
   message must come from the user. */
PHI__FN phi__strict_form phi__claude_strict_form(const phi_model *model);
PHI__FN phi__format_way phi__claude_format_way(const phi__request_spec *spec);
PHI__FN bool phi__claude_unforced(const phi__request_spec *spec);
PHI__FN bool phi__claude_user_last(const phi_model *model);
PHI__FN phi__binding phi__claude_binding(const phi__request_spec *spec);
PHI__FN bool phi__claude_takes_updates(const phi_model *model);

#endif
