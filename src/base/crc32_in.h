/* crc32_in.h - the CRC-32 of zlib and of Ethernet, of bytes in any pieces:

       crc = phi__crc32(phi__crc32(0, head, n), tail, m); */
#ifndef PHI_BASE_CRC32_IN_H
#define PHI_BASE_CRC32_IN_H

#include "base/base_in.h"

/* `before`: the check of the bytes before these; 0 for none. */
PHI__FN uint32_t phi__crc32(uint32_t before, const void *bytes, size_t len);

#endif
