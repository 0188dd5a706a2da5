/* secret_in.h - finds the keys, tokens and passwords of requests in answers and messages, and hides
   them.

   Before requests leave, their secrets go into a set: keys, secret headers, and user info and
   queries of URLs. In texts, asterisks of the same length then replace each secret: plain, escaped
   (percent-encoding, JSON) or in base64, alone or inside a longer text. Secrets shorter than 8
   bytes are ignored, because they would be found everywhere. Ownership: the set copies into its
   arena. If memory runs out, a secret is missing and `failed` is set. */
#ifndef PHI_IO_SECRET_IN_H
#define PHI_IO_SECRET_IN_H

#include "io/io_in.h"

enum { PHI__SECRET_LEAST = 8 };

#endif
