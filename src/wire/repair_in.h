/* repair_in.h - calls of small models that are nearly right: their tool's name, their arguments.

   With PHI_QUIRK_REPAIR_CALLS, once an answer is whole: a name that fits one tool of the request
   becomes that tool's, and arguments that can be read in one way only become JSON. Anything else
   stays as it came, and the model gets an error. docs/local_models.md lists the
   faults. */
#ifndef PHI_WIRE_REPAIR_IN_H
#define PHI_WIRE_REPAIR_IN_H

#include "wire/wire_in.h"
#include "wire/codec_in.h"

/* Appends the object that a text means, as JSON. False as above. *faults 0: it was JSON. */
PHI__FN bool phi__repair_object(phi__buf *out, phi_str text, uint32_t *faults);

#endif
