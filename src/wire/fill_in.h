/* fill_in.h - writes long texts and images into a rendering in slices.

   A codec renders a message into the scratch buffer; where a text is long, it leaves a hole there.
   The encoder then measures the holes' contents, takes the memory once, and writes, a few KiB at a
   time; afterwards it calls the codec for the message again, which now finds its rendering. */
#ifndef PHI_WIRE_FILL_IN_H
#define PHI_WIRE_FILL_IN_H

#include "wire/wire_in.h"
#include "base/base_in.h"

/* Leaves a hole in the scratch buffer for a long text; false: render it now. */
PHI__FN bool phi__fill_hole(struct phi__encoder *e, phi_str source, bool base64);

/* Base64 as it is; a byte that is none would break the JSON and is left out. */
PHI__FN void phi__fill_base64(phi__buf *out, phi_str data);
PHI__FN void phi__fill_begin(struct phi__encoder *e, size_t item, uint32_t block, uint32_t form);

/* True: *json is the rendering, of f->item, block and form (or memory ended: e->failed). False: the
   units are used up. */
PHI__FN bool phi__fill_advance(struct phi__encoder *e, size_t *units, phi_str *json);
PHI__FN void phi__fill_drop(struct phi__encoder *e); /* at any time */

#endif
