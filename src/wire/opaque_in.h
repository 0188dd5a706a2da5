/* opaque_in.h - the JSON text of blocks that phi does not interpret: parts are put into it, and
   every other byte stays as the wire gave it. Pure functions over text. */
#ifndef PHI_WIRE_OPAQUE_IN_H
#define PHI_WIRE_OPAQUE_IN_H

#include "text/json_cursor_in.h"

/* The value of a member of an object, as a view of its text; the last one of equal names counts.
   False: there is none, or the object is not whole. */
PHI__FN bool phi__opaque_find(phi_str object, phi_str key, phi_str *value);
/* Appends the object with `value` in the place of the member's value, or with the member at its
   end. `key` needs no escapes. False: it is no object, and nothing was appended. */
PHI__FN bool phi__opaque_set(phi__buf *out, phi_str object, phi_str key, phi_str value);
/* Appends an item to the array that the buffer holds; an empty buffer becomes an array. */
PHI__FN void phi__opaque_push(phi__buf *array, phi_str item);
/* Appends each member of an object whose name is not among `known` (NULL ends it) and whose value
   is not null, verbatim, with commas between. */
PHI__FN void phi__opaque_members(phi__buf *out, phi_str object, const char *const *known);
/* The same as an object; nothing, if there are none. */
PHI__FN void phi__opaque_rest(phi__buf *out, phi_str object, const char *const *known);

#endif
