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

/* ---- images, documents, audio ---- */

/* True if any model of this target's protocol made the message. */
PHI__FN bool phi__render_same_protocol(const phi__encoder *e, size_t item);

/* True if an opaque block goes back: it is of this protocol, and whole. */
PHI__FN bool phi__render_is_opaque(const phi__codec *codec, const phi_content *c);
PHI__FN bool phi__render_any_opaque(const phi__encoder *e, const phi_message *message);
/* True if a request may hold a text as a value: JSON without half of a surrogate pair, which
   servers refuse. Answers are checked when they come, but transcripts come from files and hosts as
   well, and one broken value makes every later request fail. Beyond a size only strings and
   brackets are looked at. Uses and resets e->arena. */
PHI__FN bool phi__render_goes(phi__encoder *e, phi_str json);
/* The block's JSON as it is, with a comma before it where one is needed; nothing if it is no
   object. */
PHI__FN void phi__render_opaque(phi__encoder *e, const phi_content *c);
/* Appends the members of an object to the object that is being written. */
PHI__FN void phi__render_rest(phi__encoder *e, phi_str object);
/* True if the next message after an answer and its results is the user's. */
PHI__FN bool phi__render_user_follows(const phi__encoder *e, size_t item);
/* True if an answer's server-side calls without a result can get none any more, because the user
   has spoken since. Providers refuse such a call. is_call: true for the name of an opaque block
   that is a call. */
PHI__FN bool phi__render_abandons(const phi__encoder *e, size_t item,
                                  bool (*is_call)(phi_str name));
/* True if a later opaque block of the message names this call's id: `id` and `refs` are the paths
   of the ids in a call and in results. */
PHI__FN bool phi__render_is_answered(const phi_message *message, size_t block, const char *id,
                                     const char *const *refs);

PHI__FN bool phi__render_is_image(const phi_content *c);
/* Whether a target takes images of a type, "image/png". */
PHI__FN bool phi__render_takes(const phi__codec *codec, const phi_model *model, phi_str type);
/* PHI__MEDIA_ bits of a target. codec NULL: a host's own protocol, all of them. */
PHI__FN uint32_t phi__render_media(const phi__codec *codec, const phi_model *model);

/* How a block of a user's message or of a result goes to a target. */
typedef enum phi__render_way {
    PHI__RENDER_SKIP,  /* not at all: it is empty, or of another kind */
    PHI__RENDER_WORDS, /* as text: phi__render_said */
    PHI__RENDER_BLOCK, /* as a block of its kind */
    PHI__RENDER_OMIT   /* the target does not take it: a line of text replaces it */
} phi__render_way;
PHI__FN phi__render_way phi__render_way_of(const phi__codec *codec, const phi_model *model,
                                           const phi_content *c);
PHI__FN phi__render_way phi__render_way_to(const phi__encoder *e, const phi_content *c);

/* A block that this target does not take. */
PHI__FN bool phi__render_omits(const phi__encoder *e, const phi_content *c);
PHI__FN bool phi__render_omits_any(const phi__encoder *e, const phi_message *message);
/* Any block that goes as PHI__RENDER_BLOCK. */
PHI__FN bool phi__render_sends_media(const phi__encoder *e, const phi_message *message);
/* "image", "document", "audio" for the blocks that go as PHI__RENDER_BLOCK; of several kinds:
   "files". */
PHI__FN const char *phi__render_media_word(const phi__encoder *e, const phi_message *message);

/* The line that replaces blocks which a target does not take: "(image omitted: this model does not
   take it)". */
PHI__FN phi_str phi__render_omitted(const phi_texts *texts, phi_content_kind kind);
/* The text of a result that is missing, as a part of a JSON string. */
PHI__FN void phi__render_missing(phi__encoder *e);
/* The line in place of block i: only for the first of several of one kind in a row. Else empty. */
PHI__FN phi_str phi__render_stand_in(const phi__encoder *e, const phi_message *message, size_t i);

/* The inside of a string, into the scratch buffer: a text; of a document, "Document: " and its
   title on a line, where it has one, then its text. */
PHI__FN void phi__render_said(phi__encoder *e, const phi_content *c);
/* {"type":"text","text":...}, with a comma before it where one is needed: a block as
   phi__render_said writes it, and a text. */
PHI__FN void phi__render_said_part(phi__encoder *e, const phi_content *c);
PHI__FN void phi__render_text_part(phi__encoder *e, phi_str text);

/* Text, media and opaque blocks of a message, each by the codec's own function; blank text is left
   out, and so are all others where `media` is false. `said` writes phi__render_said; `opaque` NULL:
   such blocks are left out. */
PHI__FN void phi__render_parts(phi__encoder *e, const phi_message *message, bool media,
                               void (*said)(phi__encoder *e, const phi_content *c),
                               void (*block)(phi__encoder *e, const phi_content *c),
                               void (*opaque)(phi__encoder *e, const phi_content *c));
PHI__FN void phi__render_base64(phi__encoder *e, phi_str data);

/* The usual ending of a type's files: "pdf", "csv", "wav"; NULL: not a type of PHI__MEDIA_. */
PHI__FN const char *phi__render_ending(phi_str mime_type);
/* A document's title as the name of a file with its ending, with quotes. */
PHI__FN void phi__render_file_name(phi__buf *out, const phi_content *c);

/* Tokens to think with at a level; 0: off. */
PHI__FN uint32_t phi__render_budget(phi_thinking level);

#endif
