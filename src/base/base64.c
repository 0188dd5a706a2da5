/* base64.c - the encoder works three bytes at a time, the decoder four letters. */
#include "base/base64_in.h"

static const char phi__base64_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void phi__base64_group(char *to, const unsigned char *p, size_t n) {
    uint32_t bits =
        (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? (uint32_t)p[2] : 0);
    to[0] = phi__base64_letters[bits >> 18];
    to[1] = phi__base64_letters[bits >> 12 & 63];
    to[2] = n > 1 ? phi__base64_letters[bits >> 6 & 63] : '=';
    to[3] = n > 2 ? phi__base64_letters[bits & 63] : '=';
}

PHI__FN void phi__base64_encode(phi__buf *out, const char *bytes, size_t n) {
    const unsigned char *p = (const unsigned char *)bytes;
    char *to = n > SIZE_MAX / 4 * 3 - 3 ? NULL : phi__buf_reserve(out, (n + 2) / 3 * 4);
    if (to == NULL) {
        out->failed = true;
        return;
    }
    for (; n > 0; p += 3, to += 4, out->len += 4) {
        phi__base64_group(to, p, n);
        n -= phi__min(n, 3);
    }
}

static int phi__base64_value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes four letters into up to three bytes; how many, or 0 for a bad group. */
static size_t phi__base64_ungroup(const char *four, bool last, char out[3]) {
    size_t pads = last ? (size_t)(four[3] == '=') + (size_t)(four[2] == '=' && four[3] == '=') : 0;
    uint32_t bits = 0;
    size_t i;
    for (i = 0; i < 4; i++) {
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
    size_t before = out->len, i;
    for (i = 0; i < text.len; i += 4) {
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
