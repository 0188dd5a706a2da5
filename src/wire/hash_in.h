/* hash_in.h - a small fixed hash, so that ids derived from it are the same on every machine and in
   every run. Not for secrets. */
#ifndef PHI_WIRE_HASH_IN_H
#define PHI_WIRE_HASH_IN_H

#include "base/base_in.h"

/* Spreads every bit over all 64 (the finaliser of MurmurHash3, public domain). */
static inline uint64_t phi__hash_mix(uint64_t n) {
    n ^= n >> 33;
    n *= UINT64_C(0xff51afd7ed558ccd);
    n ^= n >> 33;
    n *= UINT64_C(0xc4ceb9fe1a85ec53);
    return n ^ (n >> 33);
}

/* FNV-1a from a seed, mixed. */
static inline uint64_t phi__hash(phi_str s, uint64_t seed) {
    uint64_t n = seed ^ UINT64_C(0xcbf29ce484222325);
    size_t i;
    for (i = 0; i < s.len; i++) n = (n ^ (unsigned char)s.at[i]) * UINT64_C(0x100000001b3);
    return phi__hash_mix(n ^ s.len);
}

/* The number of the first sixteen hex digits, as phi__hash_hex writes them; 0 if there are none. */
static inline uint64_t phi__hash_of_hex(phi_str digits) {
    uint64_t n = 0;
    size_t i;
    for (i = 0; i < digits.len && i < 16; i++) {
        char c = digits.at[i];
        n = n << 4 | (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    return n;
}

/* Sixteen hex digits and a terminator. */
static inline void phi__hash_hex(uint64_t n, char out[17]) {
    int i;
    for (i = 15; i >= 0; i--, n >>= 4) out[i] = "0123456789abcdef"[n & 15];
    out[16] = '\0';
}

#endif
