/* codec_of.h - the code of a protocol, by any of its names. */
#ifndef PHI_TESTS_SUPPORT_CODEC_OF_H
#define PHI_TESTS_SUPPORT_CODEC_OF_H

#include "codecs/presets.h"
#include "wire/codec_in.h"

/* NULL: there is none. */
static inline const phi__codec *codec_of(const char *protocol) {
    phi_codec_fn found = phi__codec_named(PHI_ALL_PROTOCOLS, phi_str_of(protocol));
    return found != NULL ? found() : NULL;
}

#endif
