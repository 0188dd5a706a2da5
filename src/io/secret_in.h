/* secret_in.h - finds the keys, tokens and passwords of requests in answers and messages, and hides
   them.

   A set is filled from requests before they leave: secret headers, user info and queries of URLs,
   keys. In texts asterisks of the same length then replace each secret, as it is, escaped
   (percent-encoding, JSON) or in base64, alone or inside of something longer. Secrets of less than
   8 bytes are not searched for: they would be found everywhere. Ownership: the set copies into its
   arena. It cannot hide a secret that it had no memory for: check `failed`. */
#ifndef PHI_IO_SECRET_IN_H
#define PHI_IO_SECRET_IN_H

#include "io/io_in.h"

enum { PHI__SECRET_LEAST = 8 };

#endif
