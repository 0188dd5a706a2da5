/* extra_in.h - members that a host adds to the body of a request, as JSON text.

   An extra is an object. Extras of a model, an agent and a request are merged into one, objects
   deeply, and the narrower replaces everything else; null is a value like any other and is sent.
   The encoder then merges it into the head of the body, which the codec has rendered: new members
   are added at the end of their object, and a member that the codec wrote is refused by its path.
   Values are copied as they are written; nothing is read as a number. */
#ifndef PHI_WIRE_EXTRA_IN_H
#define PHI_WIRE_EXTRA_IN_H

#include "wire/wire_in.h"
#include "wire/codec_in.h"

enum {
    PHI__EXTRA_DEEP = 32,     /* objects inside of objects */
    PHI__EXTRA_MEMBERS = 1024 /* of an object */
};

/* Merges e->spec->extra into the pieces so far, which are the head of the body. Sets e->refused
   where the head has one of its members. */
PHI__FN void phi__extra_apply(phi__encoder *e);

#endif
