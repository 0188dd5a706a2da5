/* registry.c - the table of protocols. */
#include "codecs/registry_in.h"

/* A protocol that is left out keeps its line, so that a refusal can name the macro; its code is not
   compiled. */

#ifdef PHI_NO_ANTHROPIC
#define phi__anthropic_codec phi__registry_codec_none
#endif
#ifdef PHI_NO_OPENAI_CHAT
#define phi__openai_chat_codec phi__registry_codec_none
#endif
#ifdef PHI_NO_OPENAI_RESPONSES
#define phi__openai_responses_codec phi__registry_codec_none
#endif
#ifdef PHI_NO_AZURE
#define phi__openai_responses_azure_codec phi__registry_codec_none
#endif
#ifdef PHI_NO_GEMINI
#define phi__gemini_codec phi__registry_codec_none
#endif
#ifdef PHI_NO_VERTEX
#define phi__gemini_vertex_codec phi__registry_codec_none
#endif
#ifdef PHI_NO_INTERACTIONS
#define phi__interactions_codec phi__registry_codec_none
#endif
#ifdef PHI_NO_BEDROCK
#define phi__bedrock_codec phi__registry_codec_none
#endif

/* The protocols, one line each: the codec, its names, and the macro that leaves it out. */
#define PHI__CODEC_LIST(X)                                                                         \
    X(phi__anthropic_codec, PHI__NAMES_ANTHROPIC, "PHI_NO_ANTHROPIC")                              \
    X(phi__openai_chat_codec, PHI__NAMES_OPENAI_CHAT, "PHI_NO_OPENAI_CHAT")                        \
    X(phi__openai_responses_codec, PHI__NAMES_OPENAI_RESPONSES, "PHI_NO_OPENAI_RESPONSES")         \
    X(phi__openai_responses_azure_codec, PHI__NAMES_AZURE, "PHI_NO_AZURE")                         \
    X(phi__gemini_codec, PHI__NAMES_GEMINI, "PHI_NO_GEMINI")                                       \
    X(phi__gemini_vertex_codec, PHI__NAMES_VERTEX, "PHI_NO_VERTEX")                                \
    X(phi__interactions_codec, PHI__NAMES_INTERACTIONS, "PHI_NO_INTERACTIONS")                     \
    X(phi__bedrock_codec, PHI__NAMES_BEDROCK, "PHI_NO_BEDROCK")

#define PHI__CODEC_DECLARE(codec, names, without) PHI__FN const phi__codec *codec(void);
#define PHI__CODEC_ROW(codec, names, without) {codec, names, without},

#define PHI__CODEC_END                                                                             \
    { NULL, {NULL, NULL, NULL}, NULL }

PHI__CODEC_LIST(PHI__CODEC_DECLARE)

PHI__FN const phi__codec *phi__registry_codec_none(void) { return NULL; }

PHI__FN const phi__codec_row *phi__registry_codecs(void) {
    static const phi__codec_row rows[] = {PHI__CODEC_LIST(PHI__CODEC_ROW) PHI__CODEC_END};
    return rows;
}

PHI__FN const phi__codec *phi__registry_codec_find(phi_str protocol) {
    return phi__codec_of(phi__registry_codecs(), protocol);
}
