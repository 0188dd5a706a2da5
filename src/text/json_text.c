/* json_text.c - what readers of JSON strings share: finding the end, UTF-8, escapes. */
#include "base/utf8_in.h"
#include "text/json_in.h"

PHI__FN const char *phi__json_text_plain_end(const char *at, const char *end) {
#if defined(__SSE2__)
    for (; end - at >= 16; at += 16) {
        int mask = phi__json_special(_mm_loadu_si128((const __m128i *)(const void *)at));
        if (mask != 0) return at + __builtin_ctz((unsigned)mask);
    }
#endif
    while (end - at >= 8 && !phi__json_special_word(at)) at += 8;
    while (at < end && phi__json_is_plain(*at)) at++;
    return at;
}

/* The first quote or backslash. */
static const char *phi__json_text_quote_or_escape(const char *at, const char *end) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; end - at >= 16; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
        if (mask != 0) return at + __builtin_ctz((unsigned)mask);
    }
#endif
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        if ((phi__json_zero_bytes(word ^ PHI__JSON_ONES * '"') |
             phi__json_zero_bytes(word ^ PHI__JSON_ONES * '\\')) != 0)
            break;
    }
    while (at < end && *at != '"' && *at != '\\') at++;
    return at;
}

PHI__FN const char *phi__json_text_quote(const char *at, const char *end, bool *escaped) {
    *escaped = false;
    for (;;) {
        at = phi__json_text_quote_or_escape(at, end);
        if (at == end) return NULL;
        if (*at == '"') return at;
        *escaped = true;
        if (end - at < 2) return NULL;
        at += 2;
    }
}

PHI__FN size_t phi__json_text_utf8(const char *at, const char *end) {
    const unsigned char *p = (const unsigned char *)at;
    unsigned char low = 0x80, high = 0xbf;
    size_t n, left = (size_t)(end - at);
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n > left) return 0;
    if (p[0] == 0xe0) low = 0xa0;
    if (p[0] == 0xed) high = 0x9f;
    if (p[0] == 0xf0) low = 0x90;
    if (p[0] == 0xf4) high = 0x8f;
    if (p[1] < low || p[1] > high) return 0;
    if (n > 2 && (p[2] & 0xc0) != 0x80) return 0;
    if (n > 3 && (p[3] & 0xc0) != 0x80) return 0;
    return n;
}

static uint32_t phi__json_text_hex_digit(char c) {
    if (c >= '0' && c <= '9') return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'f') return (uint32_t)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (uint32_t)(c - 'A') + 10;
    return UINT32_MAX;
}

PHI__FN uint32_t phi__json_text_hex(const char *at, const char *end, size_t digits) {
    uint32_t code = 0;
    if ((size_t)(end - at) < digits) return UINT32_MAX;
    for (; digits > 0; digits--) {
        uint32_t digit = phi__json_text_hex_digit(*at++);
        if (digit > 15) return UINT32_MAX;
        code = code << 4 | digit;
    }
    return code;
}

/* The code unit of \uXXXX at a backslash, or -1. */
static int32_t phi__json_text_unit(const char *at, const char *end) {
    if (end - at < 2 || at[0] != '\\' || at[1] != 'u') return -1;
    return (int32_t)phi__json_text_hex(at + 2, end, 4);
}

/* The character of an escape's letter; 0: unknown letter. */
static const char phi__json_stands_for[128] = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                              "\0\0\0\0\0\0\0\0\"\0\0\0\0\0\0\0\0\0\0\0\0/"
                                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\\\0\0\0"
                                              "\0\0\b\0\0\0\f\0\0\0\0\0\0\0\n\0\0\0\r\0\t";

/* That of the escape at a backslash, or 0. */
static inline char phi__json_text_short_escape(const char *at, const char *end) {
    return end - at >= 2 && (unsigned char)at[1] < 0x80 ? phi__json_stands_for[(unsigned char)at[1]]
                                                        : '\0';
}

PHI__FN size_t phi__json_text_escape(const char *at, const char *end, uint32_t *code) {
    char letter = phi__json_text_short_escape(at, end);
    int32_t unit, low;
    if (letter != '\0') {
        *code = (unsigned char)letter;
        return 2;
    }
    unit = phi__json_text_unit(at, end);
    if (unit < 0) return 0;
    *code = (uint32_t)unit;
    if (unit < 0xd800 || unit > 0xdbff) return 6;
    low = phi__json_text_unit(at + 6, end);
    if (low < 0xdc00 || low > 0xdfff) return 6;
    *code = 0x10000u + (((uint32_t)unit - 0xd800u) << 10) + ((uint32_t)low - 0xdc00u);
    return 12;
}

/* An escape, a UTF-8 sequence, or a bad byte. */
static const char *phi__json_text_unescape_one(const char *at, const char *end, char **to) {
    size_t n;
    if (*at == '\\') {
        uint32_t code = 0xfffd;
        n = phi__json_text_escape(at, end, &code);
        if (n == 0) n = end - at < 2 || (unsigned char)at[1] >= 0x80 ? 1 : 2;
        *to += phi__utf8_put(*to, code);
        return at + n;
    }
    n = phi__json_text_utf8(at, end);
    if (n == 0) {
        n = phi__utf8_bad(at, end); /* before its bytes are overwritten */
        *to += phi__utf8_put(*to, 0xfffd);
        return at + n;
    }
    memmove(*to, at, n);
    *to += n;
    return at + n;
}

PHI__FN const char *phi__json_text_unescape_run(const char *at, const char *end, size_t most,
                                                char **to) {
    const char *stop = (size_t)(end - at) > most ? at + most : end;
    while (at < stop) {
        const char *plain = phi__json_plain_short(at, stop);
        char letter;
        if (plain != at) memmove(*to, at, (size_t)(plain - at));
        *to += plain - at;
        at = plain;
        if (at == stop) break;
        letter = *at == '\\' ? phi__json_text_short_escape(at, end) : '\0';
        if (letter != '\0') {
            *(*to)++ = letter;
            at += 2;
        } else
            at = phi__json_text_unescape_one(at, end, to);
    }
    return at;
}
