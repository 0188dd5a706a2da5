/* codec_in.h - what the files of wire/ share and other rooms do not see. */
#ifndef PHI_WIRE_CODEC_IN_H
#define PHI_WIRE_CODEC_IN_H

#include "wire/wire_in.h"

/* ---- the codec and its encoder ---- */

/* A number for a model's names, by each name of its protocol; zeros where one is missing. */
PHI__FN void phi__codec_origins_of(const phi__codec *codec, phi_str model, phi_str provider,
                                   uint64_t out[PHI__CODEC_NAMES]);
PHI__FN bool phi__codec_origin_among(const uint64_t origins[PHI__CODEC_NAMES], uint64_t origin);
PHI__FN void phi__encode_store(phi__encoder *e, size_t item, uint32_t form, phi_str json);
PHI__FN void phi__encode_seal(phi__encoder *e, phi_str method); /* once, after all pieces */
PHI__FN bool phi__classify_is_overflow_text(phi_str text);

/* ---- extras ---- */

enum {
    PHI__EXTRA_DEEP = 32,     /* objects inside of objects */
    PHI__EXTRA_MEMBERS = 1024 /* of an object */
};

/* Merges e->spec->extra into the pieces so far, which are the head of the body. Sets e->refused
   where the head has one of its members. */
PHI__FN void phi__extra_apply(phi__encoder *e);

/* ---- long texts and images, written in slices ---- */

/* Leaves a hole in the scratch buffer for a long text; false: render it now. */
PHI__FN bool phi__fill_hole(struct phi__encoder *e, phi_str source, bool base64);

/* Base64 as it is; a byte that is none would break the JSON and is left out. */
PHI__FN void phi__fill_base64(phi__buf *out, phi_str data);
PHI__FN void phi__fill_begin(struct phi__encoder *e, size_t item, uint32_t form);

/* True: *json is the rendering, of f->item and form (or memory ended: e->failed). False: the
   units are used up. */
PHI__FN bool phi__fill_advance(struct phi__encoder *e, size_t *units, phi_str *json);
PHI__FN void phi__fill_drop(struct phi__encoder *e); /* at any time */

/* ---- frames, rendering, repair and strict schemas ---- */

/* After the last byte: true if the stream ended inside of a frame. */
PHI__FN bool phi__frames_cut(const phi__frames *frames);

/* codec NULL: a host's own protocol. */
PHI__FN phi__id_rule phi__render_id_rule(const phi__codec *codec, const phi_model *model);

/* The id itself, where the rule allows it, or its replacement, written into `room`. */
enum { PHI__ID_ROOM = 38 };
PHI__FN phi_str phi__render_map_id(phi_str id, phi__id_rule rule, char room[PHI__ID_ROOM]);

/* PHI__MEDIA_ bits of a target. codec NULL: a host's own protocol, all of them. */
PHI__FN uint32_t phi__render_media(const phi__codec *codec, const phi_model *model);

/* A block that this target does not take, and the line that replaces it. */
PHI__FN bool phi__render_omits(const phi__encoder *e, const phi_content *c);
PHI__FN phi_str phi__render_omitted(const phi_texts *texts, phi_content_kind kind);

/* Appends the object that a text means, as JSON. False as phi__repair_value. *faults 0: it was
   JSON. */
PHI__FN bool phi__repair_object(phi__buf *out, phi_str text, uint32_t *faults);

/* Appends the schema in that form, always the same bytes for the same text. False: no memory
   (out->failed), or the schema has no such form: `words` (terminated) then say where and why: at
   /properties/a: "oneOf" has no strict form. The appended bytes are then of no use. */
PHI__FN bool phi__strict_schema(phi__buf *out, phi_str schema, phi__strict_form form, char *words,
                                size_t words_size);

/* Makes one form of one schema into `arena`: by `by`, or by the codec for PHI__STRICT_GEMINI. The
   result may be the schema itself. False: no memory. */
PHI__FN bool phi__strict_make(const phi__codec *codec, const phi__formats *by, phi_str schema,
                              phi__strict_form form, phi_arena *arena, struct phi__adapted *out);

/* The form in which a model takes strict tools. */
PHI__FN phi__strict_form phi__strict_form_of(const phi__codec *codec, const phi_model *model);

#endif
