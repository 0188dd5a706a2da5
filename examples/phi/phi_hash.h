/* phi_hash.h - SHA-256 of a text (FIPS 180-4), in hexadecimal. Copy what you need of it. */
#ifndef PHI_HASH_H
#define PHI_HASH_H

#include "phi.h"

#include <string.h>

static inline uint32_t hash_turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

/* The first 32 bits of the fractions of the first 64 primes' cube roots. */
static inline void hash_block(uint32_t *state, const unsigned char *block) {
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};
    uint32_t w[64], s[8], a, b;
    int i;
    for (i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 |
               block[3];
    for (; i < 64; i++) {
        a = hash_turn(w[i - 15], 7) ^ hash_turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        b = hash_turn(w[i - 2], 17) ^ hash_turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(s, state, sizeof s);
    for (i = 0; i < 64; i++) {
        a = s[7] + (hash_turn(s[4], 6) ^ hash_turn(s[4], 11) ^ hash_turn(s[4], 25)) +
            ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
        b = (hash_turn(s[0], 2) ^ hash_turn(s[0], 13) ^ hash_turn(s[0], 22)) +
            ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += a;
        s[0] = a + b;
    }
    for (i = 0; i < 8; i++) state[i] += s[i];
}

/* 64 digits and a zero. */
static inline void hash_text(phi_str in, char *out) {
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char last[128] = {0};
    size_t at = 0, left, end;
    uint64_t bits = (uint64_t)in.len * 8;
    int i;
    for (; in.len - at >= 64; at += 64) hash_block(state, (const unsigned char *)in.at + at);
    left = in.len - at;
    if (left > 0) memcpy(last, in.at + at, left);
    last[left] = 0x80;
    end = left < 56 ? 64 : 128;
    for (i = 0; i < 8; i++) last[end - 1 - (size_t)i] = (unsigned char)(bits >> (8 * i));
    for (at = 0; at < end; at += 64) hash_block(state, last + at);
    for (i = 0; i < 64; i++) out[i] = "0123456789abcdef"[state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    out[64] = '\0';
}

#endif
