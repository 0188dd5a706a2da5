/* render_in.h - shared by the request formats: makes text, ids and names fit for a target. */
#ifndef PHI_WIRE_RENDER_IN_H
#define PHI_WIRE_RENDER_IN_H

#include "wire/wire_in.h"
#include "text/text_in.h"
#include "wire/codec_in.h"

/* codec NULL: a host's own protocol. */
PHI__FN phi__id_rule phi__render_id_rule(const phi__codec *codec, const phi_model *model);

/* The id itself, where the rule allows it, or its replacement, written into `room`. */
enum { PHI__ID_ROOM = 38 };
PHI__FN phi_str phi__render_map_id(phi_str id, phi__id_rule rule, char room[PHI__ID_ROOM]);

/* ---- images, documents, audio ---- */

/* PHI__MEDIA_ bits of a target. codec NULL: a host's own protocol, all of them. */
PHI__FN uint32_t phi__render_media(const phi__codec *codec, const phi_model *model);

/* A block that this target does not take. */
PHI__FN bool phi__render_omits(const phi__encoder *e, const phi_content *c);

/* The line that replaces blocks which a target does not take: "(image omitted: this model does not
   take it)". */
PHI__FN phi_str phi__render_omitted(const phi_texts *texts, phi_content_kind kind);

#endif
