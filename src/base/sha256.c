/* sha256.c - SHA-256, CRC-32, base64 and UUIDs. SHA-256 does not copy whole blocks of input. */
#include "base/base_in.h"

/* ---- CRC-32 (polynomial 0xedb88320) ----

   Eight bytes at a time, by half bytes: sixteen lookups in a table of 1 KiB. Half of the lookups do
   not depend on the previous bytes. */

/* For each half byte of eight bytes: the effect of its value on the CRC after the eight bytes. */
static const uint32_t phi__crc32_table[16][16] = {
    {0x00000000u, 0xccaa009eu, 0x4225077du, 0x8e8f07e3u, 0x844a0efau, 0x48e00e64u, 0xc66f0987u,
     0x0ac50919u, 0xd3e51bb5u, 0x1f4f1b2bu, 0x91c01cc8u, 0x5d6a1c56u, 0x57af154fu, 0x9b0515d1u,
     0x158a1232u, 0xd92012acu},
    {0x00000000u, 0x7cbb312bu, 0xf9766256u, 0x85cd537du, 0x299dc2edu, 0x5526f3c6u, 0xd0eba0bbu,
     0xac509190u, 0x533b85dau, 0x2f80b4f1u, 0xaa4de78cu, 0xd6f6d6a7u, 0x7aa64737u, 0x061d761cu,
     0x83d02561u, 0xff6b144au},
    {0x00000000u, 0xa6770bb4u, 0x979f1129u, 0x31e81a9du, 0xf44f2413u, 0x52382fa7u, 0x63d0353au,
     0xc5a73e8eu, 0x33ef4e67u, 0x959845d3u, 0xa4705f4eu, 0x020754fau, 0xc7a06a74u, 0x61d761c0u,
     0x503f7b5du, 0xf64870e9u},
    {0x00000000u, 0x67de9cceu, 0xcfbd399cu, 0xa863a552u, 0x440b7579u, 0x23d5e9b7u, 0x8bb64ce5u,
     0xec68d02bu, 0x8816eaf2u, 0xefc8763cu, 0x47abd36eu, 0x20754fa0u, 0xcc1d9f8bu, 0xabc30345u,
     0x03a0a617u, 0x647e3ad9u},
    {0x00000000u, 0xcb5cd3a5u, 0x4dc8a10bu, 0x869472aeu, 0x9b914216u, 0x50cd91b3u, 0xd659e31du,
     0x1d0530b8u, 0xec53826du, 0x270f51c8u, 0xa19b2366u, 0x6ac7f0c3u, 0x77c2c07bu, 0xbc9e13deu,
     0x3a0a6170u, 0xf156b2d5u},
    {0x00000000u, 0x03d6029bu, 0x07ac0536u, 0x047a07adu, 0x0f580a6cu, 0x0c8e08f7u, 0x08f40f5au,
     0x0b220dc1u, 0x1eb014d8u, 0x1d661643u, 0x191c11eeu, 0x1aca1375u, 0x11e81eb4u, 0x123e1c2fu,
     0x16441b82u, 0x15921919u},
    {0x00000000u, 0x3d6029b0u, 0x7ac05360u, 0x47a07ad0u, 0xf580a6c0u, 0xc8e08f70u, 0x8f40f5a0u,
     0xb220dc10u, 0x30704bc1u, 0x0d106271u, 0x4ab018a1u, 0x77d03111u, 0xc5f0ed01u, 0xf890c4b1u,
     0xbf30be61u, 0x825097d1u},
    {0x00000000u, 0x60e09782u, 0xc1c12f04u, 0xa121b886u, 0x58f35849u, 0x3813cfcbu, 0x9932774du,
     0xf9d2e0cfu, 0xb1e6b092u, 0xd1062710u, 0x70279f96u, 0x10c70814u, 0xe915e8dbu, 0x89f57f59u,
     0x28d4c7dfu, 0x4834505du},
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
     0xa00ae278u, 0xbdbdf21cu},
};

static inline uint32_t phi__crc32_word(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Returns the effect of a word, from the eight tables for its half bytes. */
static inline uint32_t phi__crc32_share(const uint32_t (*t)[16], uint32_t word) {
    return t[0][word & 15] ^ t[1][word >> 4 & 15] ^ t[2][word >> 8 & 15] ^ t[3][word >> 12 & 15] ^
           t[4][word >> 16 & 15] ^ t[5][word >> 20 & 15] ^ t[6][word >> 24 & 15] ^ t[7][word >> 28];
}

PHI__FN uint32_t phi__crc32(uint32_t before, const void *bytes, size_t len) {
    const uint32_t(*t)[16] = phi__crc32_table;
    const unsigned char *at = (const unsigned char *)bytes;
    uint32_t crc = ~before;
    for (; len >= 8; at += 8, len -= 8)
        crc = phi__crc32_share(t + 8, phi__crc32_word(at + 4)) ^
              phi__crc32_share(t, crc ^ phi__crc32_word(at));
    for (; len > 0; at++, len--) {
        crc ^= *at;
        crc = crc >> 8 ^ t[14][crc & 15] ^ t[15][crc >> 4 & 15];
    }
    return ~crc;
}

/* ---- SHA-256 and HMAC ---- */

static const uint32_t phi__sha256_k[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u,
    0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu,
    0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu,
    0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau, 0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u,
    0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu,
    0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu,
    0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u, 0x19a4c116u,
    0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u,
    0xc67178f2u};

static uint32_t phi__sha256_turn(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

/* Fills in the block's 16 words and the 48 derived words. */
static void phi__sha256_schedule(const unsigned char *block, uint32_t w[64]) {
    size_t i;
    for (i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        a = phi__sha256_turn(a, 7) ^ phi__sha256_turn(a, 18) ^ a >> 3;
        b = phi__sha256_turn(b, 17) ^ phi__sha256_turn(b, 19) ^ b >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
}

static void phi__sha256_block(uint32_t state[8], const unsigned char *block) {
    uint32_t w[64], s[8], one, two;
    phi__sha256_schedule(block, w);
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < 64; i++) {
        one = phi__sha256_turn(s[4], 6) ^ phi__sha256_turn(s[4], 11) ^ phi__sha256_turn(s[4], 25);
        one += s[7] + (s[6] ^ (s[4] & (s[5] ^ s[6]))) + phi__sha256_k[i] + w[i];
        two = phi__sha256_turn(s[0], 2) ^ phi__sha256_turn(s[0], 13) ^ phi__sha256_turn(s[0], 22);
        two += (s[0] & s[1]) | (s[2] & (s[0] | s[1]));
        s[7] = s[6];
        s[6] = s[5];
        s[5] = s[4];
        s[4] = s[3] + one;
        s[3] = s[2];
        s[2] = s[1];
        s[1] = s[0];
        s[0] = one + two;
    }
    for (size_t i = 0; i < 8; i++) state[i] += s[i];
}

PHI__FN void phi__sha256_begin(phi__sha256 *sha) {
    static const uint32_t first[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                      0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    memcpy(sha->state, first, sizeof first);
    sha->bytes = 0;
}

PHI__FN void phi__sha256_add(phi__sha256 *sha, const void *bytes, size_t len) {
    const unsigned char *at = (const unsigned char *)bytes;
    size_t held = (size_t)(sha->bytes % 64);
    if (len == 0) return;
    sha->bytes += len;
    if (held > 0) {
        size_t n = phi__min(64 - held, len);
        memcpy(sha->block + held, at, n);
        at += n;
        len -= n;
        if (held + n < 64) return;
        phi__sha256_block(sha->state, sha->block);
    }
    for (; len >= 64; at += 64, len -= 64) phi__sha256_block(sha->state, at);
    if (len > 0) memcpy(sha->block, at, len);
}

PHI__FN void phi__sha256_end(phi__sha256 *sha, unsigned char out[32]) {
    uint64_t bits = sha->bytes * 8;
    size_t held = (size_t)(sha->bytes % 64);
    sha->block[held++] = 0x80;
    if (held > 56) {
        memset(sha->block + held, 0, 64 - held);
        phi__sha256_block(sha->state, sha->block);
        held = 0;
    }
    memset(sha->block + held, 0, 56 - held);
    for (size_t i = 0; i < 8; i++)
        sha->block[56 + i] = (unsigned char)(bits >> (56 - 8 * i) & 0xff);
    phi__sha256_block(sha->state, sha->block);
    for (size_t i = 0; i < 32; i++)
        out[i] = (unsigned char)(sha->state[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
}

PHI__FN void phi__sha256_of(phi_str text, unsigned char out[32]) {
    phi__sha256 sha;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, text.at, text.len);
    phi__sha256_end(&sha, out);
}

PHI__FN void phi__sha256_hmac(phi_str key, phi_str text, unsigned char out[32]) {
    unsigned char inner[32];
    phi__sha256 sha;
    unsigned char pad[64] = PHI_ZERO;
    if (key.len > sizeof pad)
        phi__sha256_of(key, pad);
    else if (key.len > 0)
        memcpy(pad, key.at, key.len);
    for (size_t i = 0; i < sizeof pad; i++) pad[i] ^= 0x36;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, pad, sizeof pad);
    phi__sha256_add(&sha, text.at, text.len);
    phi__sha256_end(&sha, inner);
    for (size_t i = 0; i < sizeof pad; i++) pad[i] ^= 0x36 ^ 0x5c;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, pad, sizeof pad);
    phi__sha256_add(&sha, inner, sizeof inner);
    phi__sha256_end(&sha, out);
}

PHI__FN void phi__sha256_hex(const unsigned char hash[32], char out[64]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 32; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
}

/* ---- base64: the encoder takes three bytes at a time, the decoder four letters ---- */

static const char phi__base64_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

PHI__FN void phi__base64_encode(phi__buf *out, const char *bytes, size_t n) {
    const unsigned char *p = (const unsigned char *)bytes;
    char *to = n > SIZE_MAX / 4 * 3 - 3 ? NULL : phi__buf_reserve(out, (n + 2) / 3 * 4);
    if (to == NULL) {
        out->failed = true;
        return;
    }
    for (; n > 0; p += 3, to += 4, out->len += 4) {
        uint32_t bits =
            (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? (uint32_t)p[2] : 0);
        to[0] = phi__base64_letters[bits >> 18];
        to[1] = phi__base64_letters[bits >> 12 & 63];
        to[2] = n > 1 ? phi__base64_letters[bits >> 6 & 63] : '=';
        to[3] = n > 2 ? phi__base64_letters[bits & 63] : '=';
        n -= phi__min(n, 3);
    }
}

static int phi__base64_value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes four letters. Returns the number of bytes, up to three, or 0 for a bad group. */
static size_t phi__base64_ungroup(const char *four, bool last, char out[3]) {
    size_t pads = last ? (size_t)(four[3] == '=') + (size_t)(four[2] == '=' && four[3] == '=') : 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++) {
        int value = i >= 4 - pads ? 0 : phi__base64_value(four[i]);
        if (value < 0) return 0;
        bits = bits << 6 | (uint32_t)value;
    }
    if ((pads == 1 && (bits & 0xFF) != 0) || (pads == 2 && (bits & 0xFFFF) != 0)) return 0;
    out[0] = (char)(bits >> 16);
    out[1] = (char)(bits >> 8 & 0xFF);
    out[2] = (char)(bits & 0xFF);
    return 3 - pads;
}

PHI__FN bool phi__base64_decode(phi__buf *out, phi_str text) {
    size_t before = out->len;
    for (size_t i = 0; i < text.len; i += 4) {
        char bytes[3];
        size_t n =
            text.len - i < 4 ? 0 : phi__base64_ungroup(text.at + i, i + 4 == text.len, bytes);
        if (n == 0) {
            out->len = before;
            return false;
        }
        phi__buf_add(out, bytes, n);
    }
    return !out->failed;
}

PHI__FN void phi__id_uuid(const unsigned char random[16], char out[PHI__UUID_SIZE]) {
    static const char hex[] = "0123456789abcdef";
    size_t at = 0;
    for (size_t i = 0; i < 16; i++) {
        unsigned byte = random[i];
        if (i == 6) byte = (byte & 0x0Fu) | 0x40u;
        if (i == 8) byte = (byte & 0x3Fu) | 0x80u;
        if (i == 4 || i == 6 || i == 8 || i == 10) out[at++] = '-';
        out[at++] = hex[byte >> 4];
        out[at++] = hex[byte & 15u];
    }
    out[at] = '\0';
}
