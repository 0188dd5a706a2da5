/* json_in.h - shared by the files of text/, not for other rooms. */
#ifndef PHI_TEXT_JSON_IN_H
#define PHI_TEXT_JSON_IN_H

#include "text/text_in.h"

/* MSVC has no __SSE2__: every x64 processor has it, and 32-bit code by /arch:SSE2, the default. */
#if defined(__SSE2__) || (defined(PHI__MSVC) && defined(_M_X64) && !defined(_M_ARM64EC)) ||        \
    (defined(PHI__MSVC) && defined(_M_IX86_FP) && _M_IX86_FP >= 2)
#define PHI__JSON_SSE2 1
#include <emmintrin.h>
#endif

enum {
    PHI__SSE_ID_MOST = 1024,
    PHI__JSON_FIELDS_DEPTH = 64,    /* open arrays and objects; deeper is PHI_TOO_BIG */
    PHI__JSON_FIELDS_PATH = 1024,   /* bytes of a path; a longer one is PHI_TOO_BIG */
    PHI__JSON_FIELDS_NUMBER = 65536 /* bytes of a number, as in the reader */
};

PHI__FN bool phi__json_cursor_take_num(phi__json_cursor *c, double *out);

/* ---- numbers, and hashes of members ---- */

/* Returns the first byte in [at, end) that cannot be part of a number. */
static inline const char *phi__json_number_bytes(const char *at, const char *end) {
    while (at < end && (phi__is_digit(*at) || *at == '.' || *at == '-' || *at == '+' ||
                        *at == 'e' || *at == 'E'))
        at++;
    return at;
}

/* Returns the hash of an object's member for a table, whose address is the seed. */
static inline uint64_t phi__json_member_hash(const void *table, const phi_json *object,
                                             phi_str key) {
    uint64_t of = (uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15);
    return phi__map_hash((uint64_t)(uintptr_t)table ^ of ^ of >> 32, key);
}

/* ---- strings ---- */
#if defined(PHI__JSON_SSE2)
/* Returns a bit for each byte that is not plain. The comparison with a space is signed, so it also
   finds bytes from 0x80 on. */
static inline int phi__json_special(__m128i block) {
    return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                                                       _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'))),
                                          _mm_cmplt_epi8(block, _mm_set1_epi8(' '))));
}

/* Returns the place of the lowest bit that is set. mask must not be 0. */
static inline int phi__json_lowest_bit(int mask) {
#if defined(PHI__MSVC)
    unsigned long at;
    (void)_BitScanForward(&at, (unsigned long)mask);
    return (int)at;
#else
    return __builtin_ctz((unsigned)mask);
#endif
}

#endif
#define PHI__JSON_ONES UINT64_C(0x0101010101010101)

/* Returns a word in which the highest bit of each zero byte is set. Only the lowest set bit is
   sure. */
static inline uint64_t phi__json_zero_bytes(uint64_t word) {
    return (word - PHI__JSON_ONES) & ~word & PHI__JSON_ONES << 7;
}

static inline bool phi__json_is_plain(char c) {
    unsigned char u = (unsigned char)c;
    return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

/* True if one of eight bytes is not plain. */
static inline bool phi__json_special_word(const char *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return ((word | phi__json_zero_bytes(word ^ PHI__JSON_ONES * '"') |
             phi__json_zero_bytes(word ^ PHI__JSON_ONES * '\\') |
             ((word - PHI__JSON_ONES * ' ') & ~word)) &
            PHI__JSON_ONES << 7) != 0;
}

/* Returns the first byte that is not plain, or end; the first bytes are checked inline. */
static inline const char *phi__json_plain_short(const char *at, const char *end) {
#if defined(PHI__JSON_SSE2)
    if (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = phi__json_special(block);
        if (mask != 0) return at + phi__json_lowest_bit(mask);
        at += 16;
    }
#endif
    return phi__json_text_plain_end(at, end);
}

/* Like phi__json_text_quote; the first bytes are checked inline. */
static inline const char *phi__json_quote_short(const char *at, const char *end, bool *escaped) {
#if defined(PHI__JSON_SSE2)
    if (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int quote = _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')));
        int escape = _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
        *escaped = false;
        /* the first quote has no backslash before it */
        if (quote != 0 && (escape & (quote - 1) & ~quote) == 0)
            return at + phi__json_lowest_bit(quote);
        if (escape == 0) at += 16;
    }
#endif
    return phi__json_text_quote(at, end, escaped);
}

/* Returns the length of the escape at the backslash `at`: 2, 6, or 12 for a surrogate pair. Sets
   code to its code point, or to a lone surrogate. Returns 0 if the escape is wrong or cut off. */
PHI__FN size_t phi__json_text_escape(const char *at, const char *end, uint32_t *code);

/* Unescapes about `most` bytes of [at, end) to *to, and advances *to. Takes at least one byte, only
   whole sequences, and at most `most` + PHI__JSON_RUN_MORE bytes. Bad bytes become U+FFFD, so up to
   three times as many bytes are written. Without bad bytes no more bytes are written than taken, so
   the function may work in place. Returns the first byte that was not taken. */
#define PHI__JSON_RUN_MORE 12
PHI__FN const char *phi__json_text_unescape_run(const char *at, const char *end, size_t most,
                                                char **to);

#endif
