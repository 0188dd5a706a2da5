/* codec_in.h - a provider as a pure codec: messages to request pieces, stream events to a message.

   This folder holds what all protocols share. It knows no codec by name: the differences between
   protocols are fields of phi__codec. The codecs are in src/codecs, one pair of files a protocol;
   tools.c there lists them. No I/O, no clock, no state outside of the arguments: the same input
   gives the same bytes. A block of a message is rendered once per wire form and kept with the
   message (phi__item.rendered), so that a turn costs the new blocks and a list of pieces, not the
   history.

   Encoding is resumable: begin, advance(units) until it is not PHI_BUSY, and the request is there.
   A unit is one message, or a KiB of it that was not rendered before. */
#ifndef PHI_WIRE_CODEC_IN_H
#define PHI_WIRE_CODEC_IN_H

#include "wire/wire_in.h"
#include "io/io_in.h"
#include "model/model.h"
#include "model/model_in.h"
#include "wire/fill_in.h"

/* Of a model's names, by each name of its protocol; zeros where one is missing. */
PHI__FN void phi__codec_origins_of(const phi__codec *codec, phi_str model, phi_str provider,
                                   uint64_t out[PHI__CODEC_NAMES]);
PHI__FN bool phi__codec_origin_among(const uint64_t origins[PHI__CODEC_NAMES], uint64_t origin);
PHI__FN void phi__encode_store(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                               phi_str json);
PHI__FN void phi__encode_seal(phi__encoder *e, phi_str method); /* once, after all pieces */
PHI__FN bool phi__classify_is_overflow_text(phi_str text);

#endif
