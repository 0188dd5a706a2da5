/* fill_in.h - writes long texts and images into a rendering in slices.

   A codec renders a message into the scratch buffer; where a text is long, it leaves a hole there.
   The encoder then measures the holes' contents, takes the memory once, and writes, a few KiB at a
   time; afterwards it calls the codec for the message again, which now finds its rendering. */
#ifndef PHI_WIRE_FILL_IN_H
#define PHI_WIRE_FILL_IN_H

#include "base/arena_in.h"

enum {
    PHI__FILL_LONG = 8192,  /* bytes of a text that leaves a hole */
    PHI__FILL_SLICE = 4096, /* bytes of its source handled at a time */
    PHI__FILL_HOLES = 8     /* of a message; further texts are rendered at once */
};

typedef struct phi__hole {
    size_t offset; /* in the scratch buffer */
    phi_str source;
    bool base64; /* else the inside of a JSON string */
} phi__hole;

typedef struct phi__fill {
    phi__hole holes[PHI__FILL_HOLES];
    size_t count;
    bool refuses; /* no holes now: the rendering must be complete at once */
    bool going;   /* a rendering with holes waits to be filled */
    bool measured;
    size_t item;
    uint32_t block, form;
    size_t hole, done; /* the slice that comes next */
    size_t total;      /* bytes of the whole rendering */
    phi_arena *arena;  /* where it will be */
    phi_arena_mark mark;
    char *out;
    size_t len;
    phi__buf slice;
} phi__fill;

struct phi__encoder;

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
