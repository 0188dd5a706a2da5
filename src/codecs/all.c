/* all.c - the list of all protocols: a program that names it links them all. */
#include "codecs/names_in.h"

PHI_API const phi_codec_fn *phi_codecs_all(void) {
    static const phi_codec_fn all[] = {
        phi__codec_anthropic,       phi__codec_openai_chat, phi__codec_openai_responses,
        phi__codec_azure_responses, phi__codec_google,      phi__codec_vertex,
        phi__codec_interactions,    phi__codec_bedrock,     NULL};
    return all;
}
