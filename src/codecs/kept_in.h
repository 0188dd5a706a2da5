/* kept_in.h - what a decoder keeps of an answer without reading it, and an encoder sends back.

   Kept JSON is the bytes of the wire. A skim over a stream does not check JSON's grammar, and a
   transcript may come from a file, so both sides check it: a single broken value in a request would
   make every later request fail. */
#ifndef PHI_CODECS_KEPT_IN_H
#define PHI_CODECS_KEPT_IN_H

#include "wire/codec_in.h"
#include "wire/opaque_in.h"

/* For decoders. True if a text is one JSON value; bytes that are not UTF-8 do not count, because
   kept text has U+FFFD in their place. Uses and resets the arena. */
PHI__FN bool phi__kept_is_json(phi_arena *arena, phi_str text, bool *no_memory);
/* The same for an object. */
PHI__FN bool phi__kept_is_object(phi_arena *arena, phi_str text, bool *no_memory);

/* For encoders. The tree, in e->arena, of an object that a request may hold (phi__render_goes);
   NULL: it may not. */
PHI__FN phi_json *phi__kept_tree(phi__encoder *e, phi_str text);

/* The latest text of an answer, or SIZE_MAX. */
PHI__FN size_t phi__kept_text(const phi__assembly *a);

/* An opaque block of one of two protocols, which are two addresses of one wire; any case. */
PHI__FN bool phi__kept_is_of(const phi_content *c, const char *const names[PHI__CODEC_NAMES],
                             const char *other);

#endif
