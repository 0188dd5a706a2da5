/* json_cut_in.h - shortens a JSON text so that it stays valid: arrays and objects lose whole items
   from their end, large members before small ones, long strings their end; notes in their places
   say how much was left out. */
#ifndef PHI_OPENAPI_JSON_CUT_IN_H
#define PHI_OPENAPI_JSON_CUT_IN_H

#include "base/buf_in.h"

/* Appends about `most` bytes at most. `whole`: false where the text breaks off. False: it is no
   JSON, or so little room is no use, or there was no memory; `out` is as it was. */
PHI__FN bool phi__json_cut(phi__buf *out, phi_str text, bool whole, size_t most);

#endif
