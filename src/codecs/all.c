/* all.c - the list of all protocols: a program that names it links them all. */
#include "codecs/presets.h"

PHI_API const phi_codec_fn *phi_codecs_all(void) {
    static const phi_codec_fn all[] = {
        phi_codec_anthropic,       phi_codec_openai_chat, phi_codec_openai_responses,
        phi_codec_azure_responses, phi_codec_google,      phi_codec_vertex,
        phi_codec_interactions,    phi_codec_bedrock,     NULL};
    return all;
}
