/* names_in.h - the protocols and their names.

   A new protocol needs a pair of files in this folder, its names and its function here, and a line
   in all.c. The top four bits of phi__rendered.form tell the codecs' renderings of a message apart.
   Values in use: 1 Anthropic, 2 Gemini, 3 Bedrock, 4 to 7 Chat, 10 Responses, 11 Interactions, 15
   hashes of messages (wire/encoder.c). */
#ifndef PHI_CODECS_NAMES_IN_H
#define PHI_CODECS_NAMES_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"
#include "codecs/presets.h"

/* The names of each protocol: first in configuration files, second in the interchange format. */
#define PHI__NAMES_ANTHROPIC                                                                       \
    { PHI_PROTOCOL_ANTHROPIC, "anthropic", NULL }
#define PHI__NAMES_OPENAI_CHAT                                                                     \
    { PHI_PROTOCOL_OPENAI_CHAT, "open_ai_completions", "openai" }
#define PHI__NAMES_OPENAI_RESPONSES                                                                \
    { PHI_PROTOCOL_OPENAI_RESPONSES, "open_ai_responses", NULL }
#define PHI__NAMES_AZURE                                                                           \
    { PHI_PROTOCOL_AZURE_RESPONSES, "azure_open_ai_responses", NULL }
#define PHI__NAMES_GEMINI                                                                          \
    { PHI_PROTOCOL_GOOGLE, "google", NULL }
#define PHI__NAMES_VERTEX                                                                          \
    { PHI_PROTOCOL_VERTEX, "vertex", NULL }
#define PHI__NAMES_INTERACTIONS                                                                    \
    { PHI_PROTOCOL_INTERACTIONS, "interactions", NULL }
#define PHI__NAMES_BEDROCK                                                                         \
    { PHI_PROTOCOL_BEDROCK, "bedrock", NULL }

/* Each function returns a protocol's codec. A preset points to one function, all.c to all. */
PHI__FN const phi__codec *phi__anthropic_codec(void);
PHI__FN const phi__codec *phi__chat_codec(void);
PHI__FN const phi__codec *phi__resp_codec(void);
PHI__FN const phi__codec *phi__resp_codec_azure(void);
PHI__FN const phi__codec *phi__gemini_codec(void);
PHI__FN const phi__codec *phi__gemini_codec_vertex(void);
PHI__FN const phi__codec *phi__interactions_codec(void);
PHI__FN const phi__codec *phi__bedrock_codec(void);

#endif
