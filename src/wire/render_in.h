/* render_in.h - shared by the request formats: makes text, ids and names fit for a target. */
#ifndef PHI_WIRE_RENDER_IN_H
#define PHI_WIRE_RENDER_IN_H

#include "text/json_in.h"
#include "wire/codec_in.h"

/* codec NULL: a host's own protocol. */
PHI__FN phi__id_rule phi__render_id_rule(const phi__codec *codec, const phi_model *model);

/* The id itself, where the rule allows it, or its replacement, written into `room`. */
enum { PHI__ID_ROOM = 38 };
PHI__FN phi_str phi__render_map_id(phi_str id, phi__id_rule rule, char room[PHI__ID_ROOM]);
PHI__FN void phi__render_id(phi__buf *out, phi_str id, phi__id_rule rule); /* with its quotes */

/* A tool's name out of history, which another provider may have allowed: [a-zA-Z0-9_-], cut. */
PHI__FN void phi__render_name(phi__buf *out, phi_str name, size_t most);

PHI__FN bool phi__render_blank(phi_str text); /* nothing but white space */
PHI__FN phi_str phi__render_trim_end(phi_str text);

/* "key":"text" with a comma before it where one is needed. */
PHI__FN void phi__render_member(phi__buf *out, const char *key, phi_str text);

/* The same into the scratch buffer, and the inside of a string alone: for texts of a message, which
   may be long and are then filled in later. */
PHI__FN void phi__render_text_member(phi__encoder *e, const char *key, phi_str text);
PHI__FN void phi__render_text(phi__encoder *e, phi_str text);

/* Arguments as the JSON text of an object: anything else becomes {}. Uses and resets e->arena. */
PHI__FN phi_str phi__render_arguments(phi__encoder *e, phi_str arguments);

/* Whether this target minted the message, so that its signatures may go back. */
PHI__FN bool phi__render_same_origin(const phi__encoder *e, size_t item);
/* Whether the thinking of an answer goes back: this target minted it, and it is still valid. */
PHI__FN bool phi__render_sends_thinking(const phi__encoder *e, size_t item);

PHI__FN bool phi__render_is_image(const phi_content *c);
/* Whether a target takes images of a type, "image/png". */
PHI__FN bool phi__render_takes(const phi__codec *codec, const phi_model *model, phi_str type);
/* An image that this target does not take: none at all, or not of its type. Words stand for it. */
PHI__FN bool phi__render_omits(const phi__encoder *e, const phi_content *c);
PHI__FN bool phi__render_omits_any(const phi__encoder *e, const phi_message *message);
PHI__FN bool phi__render_sends_image(const phi__encoder *e, const phi_message *message);
/* Text and images of a message, each by the codec's own function; blank text is left out, and so
   are images where `images` is false. Where the model takes no images, one line of text replaces
   each row of them. */
PHI__FN void phi__render_parts(phi__encoder *e, const phi_message *message, bool images,
                               void (*text)(phi__encoder *e, phi_str text),
                               void (*image)(phi__encoder *e, const phi_content *c));
PHI__FN void phi__render_base64(phi__encoder *e, phi_str data);

/* Text that stands for images where a model takes none. */
#define PHI__RENDER_NO_IMAGE "(image omitted: this model does not take it)"

/* Tokens to think with at a level; 0: off. */
PHI__FN uint32_t phi__render_budget(phi_thinking level);

#endif
