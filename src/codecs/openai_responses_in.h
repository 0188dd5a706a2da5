/* openai_responses_in.h - the OpenAI Responses codec, that of Azure, and their two halves. */
#ifndef PHI_CODECS_OPENAI_RESPONSES_IN_H
#define PHI_CODECS_OPENAI_RESPONSES_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"

/* Items of messages, into the scratch buffer. same: minted by the same model; kin: on this wire. */
PHI__FN void phi__resp_user(phi__encoder *e, const phi_message *m);
PHI__FN void phi__resp_assistant(phi__encoder *e, const phi_message *m, bool same, bool kin);
PHI__FN void phi__resp_result(phi__encoder *e, const phi_message *m);

/* True if an answer's ids and reasoning go back; the same for its members and parts. */
PHI__FN bool phi__resp_replays(const phi__encoder *e, size_t at);
PHI__FN bool phi__resp_kin(const phi__encoder *e, size_t at);

#endif
