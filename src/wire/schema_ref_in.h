/* schema_ref_in.h - resolves a "$ref" of a JSON Schema inside of that schema. */
#ifndef PHI_WIRE_SCHEMA_REF_IN_H
#define PHI_WIRE_SCHEMA_REF_IN_H

#include "text/json_in.h"

/* The schema that "#" or "#/a/b" names, by names of members (~1 is a slash, ~0 a tilde); NULL:
   none. *looked grows by the members visited. */
PHI__FN const phi_json *phi__schema_ref_find(const phi_json *root, phi_str ref, size_t *looked);
/* Whether a step of such a text names `key`. */
PHI__FN bool phi__schema_ref_same_step(phi_str key, phi_str step);

#endif
