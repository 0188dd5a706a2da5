/* phi_text.h - text that is safe to show: growing strings, UTF-8, columns, and no control characters. Copy what
   you need of it.

   What a model or a tool says is hostile: an escape sequence could retitle the terminal, hide a command, or answer in
   the user's place. text_clean lets line breaks and tabs through, and spells out all else that has no glyph. What a person
   decides about goes through text_strict, which spells out every blank but U+0020, too. */
#ifndef PHI_TEXT_H
#define PHI_TEXT_H

#include "phi.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that grow; zero to begin with. Without memory what is added is left out. */
typedef struct text {
    char *at;
    size_t len, room;
} text;

/* Room for n more bytes and the end. */
static inline bool text_room(text *t, size_t n) {
    size_t room = (t->len + n + 1) * 2;
    char *more = t->len + n < t->room ? t->at : (char *)realloc(t->at, room);
    if (more == NULL) return false;
    if (more != t->at || t->len + n >= t->room) t->room = room;
    t->at = more;
    return true;
}

static inline bool text_insert(text *t, size_t where, const char *bytes, size_t n) {
    if (!text_room(t, n)) return false;
    if (t->len > where) memmove(t->at + where + n, t->at + where, t->len - where);
    if (n > 0) memcpy(t->at + where, bytes, n);
    t->len += n;
    t->at[t->len] = '\0';
    return true;
}

static inline bool text_add(text *t, const char *bytes, size_t n) {
    return text_insert(t, t->len, bytes, n);
}

static inline void text_say(text *t, const char *words) { (void)text_add(t, words, strlen(words)); }

static inline void text_remove(text *t, size_t where, size_t n) {
    memmove(t->at + where, t->at + where + n, t->len - where - n);
    t->len -= n;
    t->at[t->len] = '\0';
}

static inline void text_vprint(text *t, const char *format, va_list list) {
    va_list again;
    int n;
    va_copy(again, list);
    n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0 || !text_room(t, (size_t)n)) return;
    (void)vsnprintf(t->at + t->len, (size_t)n + 1, format, list);
    t->len += (size_t)n;
}

PHI_PRINTF(2, 3) static inline void text_print(text *t, const char *format, ...) {
    va_list list;
    va_start(list, format);
    text_vprint(t, format, list);
    va_end(list);
}

static inline phi_str text_str(const text *t) {
    phi_str all = {t->at, t->len};
    return all;
}

/* The character at `at`, and its bytes: U+FFFD and 1 where it is malformed, 0 where it is cut off. */
static inline size_t text_decode(const char *at, size_t n, uint32_t *out) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char c = (unsigned char)at[0];
    size_t len = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0, i;
    uint32_t value = len == 1 ? c : len == 0 ? 0 : c & (0xFFu >> (len + 1));
    *out = 0xFFFD;
    if (len == 0) return 1;
    for (i = 1; i < len; i++) {
        if (i == n) return 0;
        if (((unsigned char)at[i] & 0xC0) != 0x80) return 1;
        value = value << 6 | ((unsigned char)at[i] & 0x3F);
    }
    if (value < least[len] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return 1;
    *out = value;
    return len;
}

typedef struct text_range {
    uint32_t from, to;
} text_range;

static inline bool text_within(const text_range *ranges, size_t count, uint32_t c) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c > ranges[middle].to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && c >= ranges[low].from;
}

/* Columns of a terminal: 0 for combining marks, 2 for wide characters. By Unicode 15, its larger ranges. */
static inline int text_width(uint32_t c) {
    static const text_range none[] = {
        {0x300, 0x36F},   {0x483, 0x489},    {0x591, 0x5BD},   {0x5BF, 0x5C7},   {0x610, 0x61A},
        {0x64B, 0x65F},   {0x670, 0x670},    {0x6D6, 0x6DC},   {0x6DF, 0x6E4},   {0x6E7, 0x6ED},
        {0x711, 0x711},   {0x730, 0x74A},    {0x7A6, 0x7B0},   {0x816, 0x82D},   {0x8CA, 0x902},
        {0x93A, 0x93A},   {0x93C, 0x93C},    {0x941, 0x948},   {0x94D, 0x94D},   {0x951, 0x957},
        {0xE31, 0xE31},   {0xE34, 0xE3A},    {0xE47, 0xE4E},   {0xEB1, 0xEBC},   {0xEC8, 0xECE},
        {0xF71, 0xF84},   {0x102D, 0x1030},  {0x1039, 0x103A}, {0x1160, 0x11FF}, {0x135D, 0x135F},
        {0x1AB0, 0x1ACE}, {0x1DC0, 0x1DFF},  {0x200B, 0x200D}, {0x2060, 0x2064}, {0x20D0, 0x20F0},
        {0x302A, 0x302D}, {0x3099, 0x309A},  {0xA66F, 0xA67D}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
        {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};
    static const text_range wide[] = {
        {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
        {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
        {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
        {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
        {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
        {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
        {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
        {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
        {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
        {0x3041, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
        {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18CFF},
        {0x1B000, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E},
        {0x1F191, 0x1F19A}, {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C},
        {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0},
        {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC},
        {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596},
        {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC},
        {0x1F6D0, 0x1F6D7}, {0x1F6DC, 0x1F6DF}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC},
        {0x1F7E0, 0x1F7F0}, {0x1F90C, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};
    if (c < 0x300) return 1;
    if (text_within(none, sizeof none / sizeof *none, c)) return 0;
    return text_within(wide, sizeof wide / sizeof *wide, c) ? 2 : 1;
}

/* Whether a terminal may show nothing of it, or a blank, or something else than itself: controls, formats, fillers,
   directions, tags, blanks but U+0020, and what Unicode ignores by default. By Unicode 15.1. */
static inline bool text_hidden(uint32_t c) {
    static const text_range hidden[] = {
        {0x7F, 0xA0},       {0xAD, 0xAD},       {0x34F, 0x34F},     {0x600, 0x605},
        {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},
        {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x1680, 0x1680},   {0x17B4, 0x17B5},
        {0x180B, 0x180F},   {0x2000, 0x200F},   {0x2028, 0x202F},   {0x205F, 0x206F},
        {0x2800, 0x2800},   {0x3000, 0x3000},   {0x3164, 0x3164},   {0xFDD0, 0xFDEF},
        {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
        {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD}, {0x13430, 0x1343F},
        {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}};
    if (c < 0x7F) return c < 0x20 && c != '\n' && c != '\t';
    return (c & 0xFFFE) == 0xFFFE || text_within(hidden, sizeof hidden / sizeof *hidden, c);
}

/* As text_hidden, but for what prose needs: the blanks of typography, joiners, and the forms of signs. */
static inline bool text_unsafe(uint32_t c) {
    bool prose = c == 0xA0 || (c >= 0x2000 && c <= 0x200A) || (c >= 0x200C && c <= 0x200D) ||
                 c == 0x202F || c == 0x205F || c == 0x3000 || (c >= 0xFE00 && c <= 0xFE0F);
    return !prose && text_hidden(c);
}

static inline void text_spell(text *out, text *held, phi_str in, bool (*bad)(uint32_t)) {
    size_t i = 0;
    text_add(held, in.at, in.len);
    while (i < held->len) {
        uint32_t c;
        size_t n = text_decode(held->at + i, held->len - i, &c);
        if (n == 0 || (c == '\r' && i + 1 == held->len)) break;
        if (c == 0xFFFD)
            text_say(out, "\xEF\xBF\xBD");
        else if (c == '\r' && held->at[i + 1] == '\n')
            ;
        else if (bad(c))
            text_print(out, "<U+%04X>", (unsigned)c);
        else
            text_add(out, held->at + i, n);
        i += n;
    }
    if (held->len > 0) text_remove(held, 0, i);
}

/* Adds `in` as it may be shown. *held, empty to begin with, keeps a character that is cut off, and a \r that may
   belong to a \n, until the next call. */
static inline void text_clean(text *out, text *held, phi_str in) {
    text_spell(out, held, in, text_unsafe);
}

/* The same of a whole text that somebody decides about: nothing in it is hidden, a \r neither. */
static inline void text_strict(text *out, phi_str in) {
    size_t i, from = 0;
    text held = {NULL, 0, 0};
    for (i = 0; i <= in.len; i++) {
        phi_str part = {in.at + from, i - from};
        if (i < in.len && in.at[i] != '\r') continue;
        if (part.len > 0) text_spell(out, &held, part, text_hidden);
        if (held.len > 0) text_say(out, "\xEF\xBF\xBD"); /* it is cut off */
        held.len = 0;
        if (i < in.len) text_say(out, "<U+000D>");
        from = i + 1;
    }
    free(held.at);
}

/* Adds `in` cleaned, on one line, at most `columns` wide: a longer text ends with "...". */
static inline void text_fit(text *out, phi_str in, int columns) {
    text clean = {NULL, 0, 0};
    size_t i, n, end = 0;
    int width = 0;
    uint32_t c;
    text_strict(&clean, in);
    for (i = 0; i < clean.len; i += n) {
        n = text_decode(clean.at + i, clean.len - i, &c);
        if (c == '\n' || c == '\t') clean.at[i] = ' ';
        width += text_width(c);
        if (width <= columns - 3) end = i + n;
    }
    text_add(out, clean.at, width <= columns ? clean.len : end);
    if (width > columns) text_say(out, "...");
    free(clean.at);
}

#endif
