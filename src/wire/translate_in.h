/* translate_in.h - phi_translate (codecs/translate.h) for a protocol whose codec is at hand. */
#ifndef PHI_WIRE_TRANSLATE_IN_H
#define PHI_WIRE_TRANSLATE_IN_H

#include "wire/codec_in.h"

/* codec NULL: the protocol is a host's own. The target has a protocol and an id. */
PHI__FN phi_status phi__translate(const phi__codec *codec, const phi_model *target,
                                  const phi_message *const *messages, size_t count,
                                  phi_arena *arena, const phi_message *const **out,
                                  size_t *out_count);

#endif
