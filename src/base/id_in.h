/* id_in.h - ids of agents, sessions and messages. */
#ifndef PHI_BASE_ID_IN_H
#define PHI_BASE_ID_IN_H

#include "base/base_in.h"

enum { PHI__UUID_SIZE = 37 }; /* with the terminator */

/* Writes sixteen random bytes as a UUID version 4. */
PHI__FN void phi__id_uuid(const unsigned char random[16], char out[PHI__UUID_SIZE]);

#endif
