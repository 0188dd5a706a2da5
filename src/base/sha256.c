/* sha256.c - SHA-256 block by block; a block that is whole in the caller's bytes is not copied. */
#include "base/sha256_in.h"

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

/* The block's words, and those derived from them. */
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
    size_t i;
    phi__sha256_schedule(block, w);
    memcpy(s, state, sizeof s);
    for (i = 0; i < 64; i++) {
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
    for (i = 0; i < 8; i++) state[i] += s[i];
}

PHI__FN void phi__sha256_begin(phi__sha256 *sha) {
    static const uint32_t first[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                      0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    memcpy(sha->state, first, sizeof first);
    sha->bytes = 0;
}

PHI__FN void phi__sha256_add(phi__sha256 *sha, const void *bytes, size_t len) {
    const unsigned char *at = (const unsigned char *)bytes;
    size_t held = (size_t)(sha->bytes % 64), n;
    if (len == 0) return;
    sha->bytes += len;
    if (held > 0) {
        n = phi__min(64 - held, len);
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
    size_t held = (size_t)(sha->bytes % 64), i;
    sha->block[held++] = 0x80;
    if (held > 56) {
        memset(sha->block + held, 0, 64 - held);
        phi__sha256_block(sha->state, sha->block);
        held = 0;
    }
    memset(sha->block + held, 0, 56 - held);
    for (i = 0; i < 8; i++) sha->block[56 + i] = (unsigned char)(bits >> (56 - 8 * i) & 0xff);
    phi__sha256_block(sha->state, sha->block);
    for (i = 0; i < 32; i++)
        out[i] = (unsigned char)(sha->state[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
}

PHI__FN void phi__sha256_of(phi_str text, unsigned char out[32]) {
    phi__sha256 sha;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, text.at, text.len);
    phi__sha256_end(&sha, out);
}

PHI__FN void phi__sha256_hmac(phi_str key, phi_str text, unsigned char out[32]) {
    unsigned char pad[64], inner[32];
    phi__sha256 sha;
    size_t i;
    memset(pad, 0, sizeof pad);
    if (key.len > sizeof pad)
        phi__sha256_of(key, pad);
    else if (key.len > 0)
        memcpy(pad, key.at, key.len);
    for (i = 0; i < sizeof pad; i++) pad[i] ^= 0x36;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, pad, sizeof pad);
    phi__sha256_add(&sha, text.at, text.len);
    phi__sha256_end(&sha, inner);
    for (i = 0; i < sizeof pad; i++) pad[i] ^= 0x36 ^ 0x5c;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, pad, sizeof pad);
    phi__sha256_add(&sha, inner, sizeof inner);
    phi__sha256_end(&sha, out);
}

PHI__FN void phi__sha256_hex(const unsigned char hash[32], char out[64]) {
    static const char digits[] = "0123456789abcdef";
    size_t i;
    for (i = 0; i < 32; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
}
