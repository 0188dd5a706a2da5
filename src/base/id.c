/* id.c - UUID version 4, RFC 9562. */
#include "base/id_in.h"

PHI__FN void phi__id_uuid(const unsigned char random[16], char out[PHI__UUID_SIZE]) {
    static const char hex[] = "0123456789abcdef";
    size_t i, at = 0;
    for (i = 0; i < 16; i++) {
        unsigned byte = random[i];
        if (i == 6) byte = (byte & 0x0Fu) | 0x40u;
        if (i == 8) byte = (byte & 0x3Fu) | 0x80u;
        if (i == 4 || i == 6 || i == 8 || i == 10) out[at++] = '-';
        out[at++] = hex[byte >> 4];
        out[at++] = hex[byte & 15u];
    }
    out[at] = '\0';
}
