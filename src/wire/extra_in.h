/* extra_in.h - members that a host adds to the body of a request, as JSON text.

   An extra is an object. Extras of a model, an agent and a request are merged into one, objects
   deeply, and the narrower replaces everything else; null is a value like any other and is sent.
   The encoder then merges it into the head of the body, which the codec has rendered: new members
   are added at the end of their object, and a member that the codec wrote is refused by its path.
   Values are copied as they are written; nothing is read as a number. */
#ifndef PHI_WIRE_EXTRA_IN_H
#define PHI_WIRE_EXTRA_IN_H

#include "wire/codec_in.h"

enum {
    PHI__EXTRA_DEEP = 32,     /* objects inside of objects */
    PHI__EXTRA_MEMBERS = 1024 /* of an object */
};

/* Checks a text: PHI_OK; PHI_BAD_ARG with words, which begin with a colon or a place: it is no JSON
   object, has a member twice, nests too deeply, or has a path that the codec always writes (codec
   NULL: none); PHI_NO_MEMORY. Uses `scratch` memory, and frees it. */
PHI__FN phi_status phi__extra_check(const phi__codec *codec, phi_memory *scratch, phi_str text,
                                    char *words, size_t words_size);

/* Both in one, in the arena; either may be empty. Both were checked. False: no memory. */
PHI__FN bool phi__extra_join(phi_arena *arena, phi_str wide, phi_str narrow, phi_str *out);

/* Merges e->spec->extra into the pieces so far, which are the head of the body. Sets e->refused
   where the head has one of its members. */
PHI__FN void phi__extra_apply(phi__encoder *e);

#endif
