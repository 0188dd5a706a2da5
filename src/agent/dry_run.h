/* dry_run.h - finds, before a request is sent, what the provider would refuse and what phi would
   leave out. */
#ifndef PHI_AGENT_DRY_RUN_H
#define PHI_AGENT_DRY_RUN_H

#include "base/arena.h"
#include "loop/agent_desc.h"
#include "loop/tool.h"
#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What phi_preflight checks: a transcript, the settings of a desc, an agent, or several of these.
   Borrowed during the call. */
typedef struct phi_preflight_desc {
    /* A transcript for this model, and the tools of the transcript. This check is for programs that
       make transcripts, so it also reports faults that phi repairs when it sends, for example a
       missing result. The time grows with the square of the number of tool calls. (default:
       none) */
    const phi_model *model;
    const phi_message *messages;
    size_t message_count;
    const phi_tool *tools;
    size_t tool_count;
    /* A desc. Its thinking, temperature, options, extra and raw tools are checked against its model
       (default: none) */
    const phi_agent_desc *settings;
    /* An agent: checks if its next request would leave out thinking of earlier answers. (After a
       request, phi_agent_explain and PHI_EV_WARNING report such thinking.) The next request is the
       view as the agent's policy sends it, with the current system prompt, tools and model; if no
       run is active, a short prompt follows the view. Changes by hooks are not foreseen. The agent
       does not change. The time grows with the view. (default: none) */
    phi_agent agent;
} phi_preflight_desc;

/* Finds what a provider would refuse, and what phi would leave out of a request. Checks the
   transcript, then the settings, then the agent, and stops at the first check that fails.
   `message` (terminated, cut to message_size) is empty or says why. PHI_OK: the transcript is
   accepted, each setting is sent unchanged, and no thinking is left out (a model of the host
   gets everything). PHI_BAD_ARG: an argument is missing; or the transcript has a fault, and
   `message` names its place ("messages[3]: tool call \"x\" has no result"); or an option is not
   valid; or an extra is not a JSON object or has a member that phi writes itself; or the agent's
   model cannot give the agent's format. PHI_UNSUPPORTED: there is no such protocol; or settings
   are left out or lowered, and `message` lists each ("top_k is not sent; thinking is lowered to
   high; tool_options.raw_tools[0] is for anthropic_messages"); or thinking is left out, and
   `message` lists each cause ("the thinking of 2 answers, from entry 5 on, will be left out: the
   tools have changed"). PHI_STALE: the agent is gone. PHI_NO_MEMORY. Temporary memory comes from
   `scratch`, which is reset before the call returns. Threads: any, but only one thread uses
   `scratch` at a time; with an agent, the pumping thread. This function may be called inside a
   callback. */
PHI_API phi_status phi_preflight(const phi_preflight_desc *desc, phi_arena *scratch, char *message,
                                 size_t message_size);

#ifdef __cplusplus
}
inline phi_status phi_preflight(const phi_preflight_desc &desc, phi_arena *scratch, char *message,
                                size_t message_size) {
    return phi_preflight(&desc, scratch, message, message_size);
}
#endif
#endif
