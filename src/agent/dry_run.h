/* dry_run.h - checks whether a provider would refuse a transcript, and what it would not be sent,
   before a byte is sent. */
#ifndef PHI_AGENT_DRY_RUN_H
#define PHI_AGENT_DRY_RUN_H

#include "base/arena.h"
#include "loop/agent_desc.h"
#include "loop/tool.h"
#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks a transcript and tools as the model's provider would. PHI_OK: it accepts them.
   PHI_BAD_ARG: `words` (terminated, cut to words_size) names the place and the fault: "messages[3]:
   tool call \"x\" has no result". A fault that phi repairs when it sends, a lost result for
   instance, is named all the same: this is for programs that make transcripts.
   PHI_UNSUPPORTED: no such protocol. PHI_NO_MEMORY.
   Memory: `scratch`, and it is given back. Threads: any, one arena at a time. Its time grows with
   the square of the number of tool calls. */
PHI_API phi_status phi_preflight(const phi_model *model, const phi_message *messages, size_t count,
                                 const phi_tool *tools, size_t tool_count, phi_arena *scratch,
                                 char *words, size_t words_size);

/* Checks the settings of a desc against its model: thinking, temperature, options, extra, raw
   tools. PHI_OK: every one is sent as it is. PHI_UNSUPPORTED: `words` name each that is left out or
   lowered ("top_k is not sent; thinking is lowered to high; tool_options.raw_tools[0] is for
   anthropic_messages"), or say that there is no such protocol. PHI_BAD_ARG: an option has no such
   value, or an extra is no JSON object or has a member that phi writes itself: `words` name it.
   PHI_NO_MEMORY. Memory and threads: as phi_preflight. */
PHI_API phi_status phi_preflight_settings(const phi_agent_desc *desc, phi_arena *scratch,
                                          char *words, size_t words_size);

/* Names the thinking of earlier answers that an agent's next request would leave out, and the
   cause: "the thinking of 2 answers, from entry 5 on, will be left out: the tools have changed". It
   says before the request what phi_agent_explain and PHI_EV_WARNING say after it. The next request
   is the view as the agent's policy sends it, with the system prompt, tools and model of now; while
   no run is active, a short prompt follows the view. What hooks will change is not foreseen.
   PHI_OK: no thinking is left out, or the model is the host's own. PHI_UNSUPPORTED: `words`
   (terminated, cut to words_size) name each cause. PHI_BAD_ARG, also when the model cannot give the
   agent's format: `words` say why. PHI_STALE, PHI_NO_MEMORY.
   Nothing is sent, and the agent does not change. Its time grows with the view.
   Memory: `scratch`, and it is given back. Threads: the pumping thread. Callbacks: safe inside
   one. */
PHI_API phi_status phi_preflight_thinking(phi_agent agent, phi_arena *scratch, char *words,
                                          size_t words_size);

#ifdef __cplusplus
}
inline phi_status phi_preflight_settings(const phi_agent_desc &desc, phi_arena *scratch,
                                         char *words, size_t words_size) {
    return phi_preflight_settings(&desc, scratch, words, words_size);
}
#endif
#endif
