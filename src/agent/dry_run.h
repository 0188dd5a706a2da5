/* dry_run.h - checks what a provider would refuse, and what it would not be sent, before a byte is
   sent. */
#ifndef PHI_AGENT_DRY_RUN_H
#define PHI_AGENT_DRY_RUN_H

#include "base/arena.h"
#include "loop/agent_desc.h"
#include "loop/tool.h"
#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What phi_preflight looks at: a transcript, the settings of a desc, an agent, or several of them.
   Borrowed during the call. */
typedef struct phi_preflight_desc {
    /* A transcript, and the tools that go with it, for this model. A fault that phi repairs when it
       sends, a lost result for instance, is named all the same: this is for programs that make
       transcripts. Its time grows with the square of the number of tool calls. (default: none) */
    const phi_model *model;
    const phi_message *messages;
    size_t message_count;
    const phi_tool *tools;
    size_t tool_count;
    /* The thinking, temperature, options, extra and raw tools of a desc, for its model (default:
       none) */
    const phi_agent_desc *settings;
    /* The thinking of earlier answers that the agent's next request would leave out, which
       phi_agent_explain and PHI_EV_WARNING say after the request. The next request is the view as
       the agent's policy sends it, with the system prompt, tools and model of now; while no run is
       active, a short prompt follows the view. What hooks will change is not foreseen. The agent
       does not change. Its time grows with the view. (default: none) */
    phi_agent agent;
} phi_preflight_desc;

/* Says before a request what a provider would refuse, and what it would not be sent. Looks at the
   transcript, then the settings, then the agent, and ends at the first that is not PHI_OK;
   `message` (terminated, cut to message_size) is empty or says why. PHI_OK: the transcript is
   accepted, each setting is sent as it is, no thinking is left out (a model of the host's own gets
   it all). PHI_BAD_ARG: an argument is missing; or the place and the fault of a transcript
   ("messages[3]: tool call \"x\" has no result"); or an option has no such value; or an extra is no
   JSON object or has a member that phi writes itself; or the agent's model cannot give its format.
   PHI_UNSUPPORTED: there is no such protocol; or each setting that is left out or lowered ("top_k
   is not sent; thinking is lowered to high; tool_options.raw_tools[0] is for anthropic_messages");
   or each cause for which thinking is left out ("the thinking of 2 answers, from entry 5 on, will
   be left out: the tools have changed"). PHI_STALE: of the agent. PHI_NO_MEMORY. Memory: `scratch`,
   and it is given back. Threads: any, one arena at a time; with an agent, the pumping thread.
   Callbacks: safe inside one. */
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
