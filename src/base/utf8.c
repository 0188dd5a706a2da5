/* utf8.c - RFC 3629: no overlong forms, no surrogates, nothing past U+10FFFF. */
#include "base/utf8_in.h"

/* Length of the valid sequence at p, or 0. */
static size_t phi__utf8_sequence(const unsigned char *p, size_t left) {
    unsigned char a = p[0], low = 0x80, high = 0xBF;
    size_t n, i;
    if (a < 0x80) return 1;
    if (a < 0xC2 || a > 0xF4) return 0;
    n = a < 0xE0 ? 2 : a < 0xF0 ? 3 : 4;
    if (n > left) return 0;
    if (a == 0xE0) low = 0xA0;
    if (a == 0xED) high = 0x9F;
    if (a == 0xF0) low = 0x90;
    if (a == 0xF4) high = 0x8F;
    if (p[1] < low || p[1] > high) return 0;
    for (i = 2; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    return n;
}

PHI__FN size_t phi__utf8_bad(const char *at, const char *end) {
    const unsigned char *p = (const unsigned char *)at;
    unsigned char low = 0x80, high = 0xBF;
    size_t left = (size_t)(end - at), n;
    if (p[0] < 0xC2 || p[0] > 0xF4 || left < 2) return 1;
    n = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (p[0] == 0xE0) low = 0xA0;
    if (p[0] == 0xED) high = 0x9F;
    if (p[0] == 0xF0) low = 0x90;
    if (p[0] == 0xF4) high = 0x8F;
    if (n == 2 || p[1] < low || p[1] > high) return 1;
    return n == 4 && left > 2 && (p[2] & 0xC0) == 0x80 ? 3 : 2;
}

static size_t phi__utf8_ascii(const unsigned char *p, size_t left) {
    size_t n = 0;
    while (left - n >= 8) {
        uint64_t word;
        memcpy(&word, p + n, 8);
        if ((word & UINT64_C(0x8080808080808080)) != 0) break;
        n += 8;
    }
    while (n < left && p[n] < 0x80) n++;
    return n;
}

PHI__FN size_t phi__utf8_valid(phi_str s) {
    const unsigned char *p = (const unsigned char *)s.at;
    size_t i = 0;
    while (i < s.len) {
        size_t n;
        i += phi__utf8_ascii(p + i, s.len - i);
        if (i == s.len) break;
        n = phi__utf8_sequence(p + i, s.len - i);
        if (n == 0) return i;
        i += n;
    }
    return i;
}

PHI__FN size_t phi__utf8_cut(phi_str s, size_t most) {
    size_t back;
    if (most >= s.len) return s.len;
    for (back = 0; back < 4 && back <= most; back++)
        if (((unsigned char)s.at[most - back] & 0xC0) != 0x80) return most - back;
    return most; /* not UTF-8 here: any place is as good */
}

PHI__FN void phi__utf8_repair(phi__buf *out, phi_str s) {
    while (s.len > 0) {
        size_t good = phi__utf8_valid(s);
        phi__buf_add(out, s.at, good);
        if (good == s.len) return;
        phi__buf_add(out, "\xEF\xBF\xBD", 3);
        good += phi__utf8_bad(s.at + good, s.at + s.len);
        s = phi__str(s.at + good, s.len - good);
    }
}

PHI__FN size_t phi__utf8_put(char out[4], uint32_t code) {
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | (code >> 6));
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | (code >> 12));
        out[1] = (char)(0x80 | ((code >> 6) & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (code >> 18));
    out[1] = (char)(0x80 | ((code >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((code >> 6) & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}
