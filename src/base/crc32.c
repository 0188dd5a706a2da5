/* crc32.c - CRC-32 (polynomial 0xedb88320), four bytes at a time by their half bytes: eight lookups that
   do not wait for each other, out of a table of half a KiB. */
#include "base/crc32_in.h"

/* What a half byte at each of the eight places of a word does to the check, four bytes later. */
static const uint32_t phi__crc32_table[8][16] = {
    {0x00000000u, 0xb8bc6765u, 0xaa09c88bu, 0x12b5afeeu, 0x8f629757u, 0x37def032u, 0x256b5fdcu,
     0x9dd738b9u, 0xc5b428efu, 0x7d084f8au, 0x6fbde064u, 0xd7018701u, 0x4ad6bfb8u, 0xf26ad8ddu,
     0xe0df7733u, 0x58631056u},
    {0x00000000u, 0x5019579fu, 0xa032af3eu, 0xf02bf8a1u, 0x9b14583du, 0xcb0d0fa2u, 0x3b26f703u,
     0x6b3fa09cu, 0xed59b63bu, 0xbd40e1a4u, 0x4d6b1905u, 0x1d724e9au, 0x764dee06u, 0x2654b999u,
     0xd67f4138u, 0x866616a7u},
    {0x00000000u, 0x01c26a37u, 0x0384d46eu, 0x0246be59u, 0x0709a8dcu, 0x06cbc2ebu, 0x048d7cb2u,
     0x054f1685u, 0x0e1351b8u, 0x0fd13b8fu, 0x0d9785d6u, 0x0c55efe1u, 0x091af964u, 0x08d89353u,
     0x0a9e2d0au, 0x0b5c473du},
    {0x00000000u, 0x1c26a370u, 0x384d46e0u, 0x246be590u, 0x709a8dc0u, 0x6cbc2eb0u, 0x48d7cb20u,
     0x54f16850u, 0xe1351b80u, 0xfd13b8f0u, 0xd9785d60u, 0xc55efe10u, 0x91af9640u, 0x8d893530u,
     0xa9e2d0a0u, 0xb5c473d0u},
    {0x00000000u, 0x191b3141u, 0x32366282u, 0x2b2d53c3u, 0x646cc504u, 0x7d77f445u, 0x565aa786u,
     0x4f4196c7u, 0xc8d98a08u, 0xd1c2bb49u, 0xfaefe88au, 0xe3f4d9cbu, 0xacb54f0cu, 0xb5ae7e4du,
     0x9e832d8eu, 0x87981ccfu},
    {0x00000000u, 0x4ac21251u, 0x958424a2u, 0xdf4636f3u, 0xf0794f05u, 0xbabb5d54u, 0x65fd6ba7u,
     0x2f3f79f6u, 0x3b83984bu, 0x71418a1au, 0xae07bce9u, 0xe4c5aeb8u, 0xcbfad74eu, 0x8138c51fu,
     0x5e7ef3ecu, 0x14bce1bdu},
    {0x00000000u, 0x77073096u, 0xee0e612cu, 0x990951bau, 0x076dc419u, 0x706af48fu, 0xe963a535u,
     0x9e6495a3u, 0x0edb8832u, 0x79dcb8a4u, 0xe0d5e91eu, 0x97d2d988u, 0x09b64c2bu, 0x7eb17cbdu,
     0xe7b82d07u, 0x90bf1d91u},
    {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u,
     0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u,
     0xa00ae278u, 0xbdbdf21cu}};

PHI__FN uint32_t phi__crc32(uint32_t before, const void *bytes, size_t len) {
    const uint32_t(*t)[16] = phi__crc32_table;
    const unsigned char *at = (const unsigned char *)bytes;
    uint32_t crc = ~before;
    for (; len >= 4; at += 4, len -= 4) {
        crc ^=
            (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        crc = t[0][crc & 15] ^ t[1][crc >> 4 & 15] ^ t[2][crc >> 8 & 15] ^ t[3][crc >> 12 & 15] ^
              t[4][crc >> 16 & 15] ^ t[5][crc >> 20 & 15] ^ t[6][crc >> 24 & 15] ^ t[7][crc >> 28];
    }
    for (; len > 0; at++, len--) {
        crc ^= *at;
        crc = crc >> 8 ^ t[6][crc & 15] ^ t[7][crc >> 4 & 15];
    }
    return ~crc;
}
