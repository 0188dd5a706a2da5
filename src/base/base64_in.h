/* base64_in.h - RFC 4648 base64 with padding, all at once or in slices. */
#ifndef PHI_BASE_BASE64_IN_H
#define PHI_BASE_BASE64_IN_H

#include "base/buf_in.h"

/* Appends the encoding of n bytes. In slices: every n but the last a multiple of 3. */
PHI__FN void phi__base64_encode(phi__buf *out, const char *bytes, size_t n);

/* Appends what `text` encodes; false (and out as it was) when it is not strict base64. */
PHI__FN bool phi__base64_decode(phi__buf *out, phi_str text);

#endif
