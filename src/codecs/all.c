/* all.c - the list of all protocols. A program that uses it links all codecs. */
#include "codecs/names_in.h"

PHI_API const phi_codec_fn *phi_codecs_all(void) {
    static const phi_codec_fn all[] = {
        phi__anthropic_codec,    phi__chat_codec,    phi__resp_codec,
        phi__resp_codec_azure,   phi__gemini_codec,  phi__gemini_codec_vertex,
        phi__interactions_codec, phi__bedrock_codec, NULL};
    return all;
}
