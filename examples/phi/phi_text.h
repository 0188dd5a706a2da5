/* phi_text.h - text that is safe to show: growing strings, UTF-8, columns, and no control characters. Copy what
   you need of it.

   What a model or a tool says is hostile: an escape sequence could retitle the terminal, hide a command, or answer in
   the user's place. text_clean lets line breaks and tabs through, and spells out all else that has no glyph. What a person
   decides about goes through text_strict, which spells out every blank but U+0020, too. */
#ifndef PHI_TEXT_H
#define PHI_TEXT_H

#include "phi.h"

#include "phi_letters.h"

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

/* Adds a whole message cleaned; its lines but the first are indented: none looks like another message. */
static inline void text_note(text *out, phi_str in) {
    text clean = {NULL, 0, 0}, held = {NULL, 0, 0};
    size_t i;
    text_clean(&clean, &held, in);
    for (i = 0; i < clean.len; i++) {
        text_add(out, clean.at + i, 1);
        if (clean.at[i] == '\n' && i + 1 < clean.len) text_say(out, "    ");
    }
    if (held.len > 0) text_say(out, "\xEF\xBF\xBD"); /* it is cut off */
    free(clean.at);
    free(held.at);
}

/* Adds JSON; what a terminal may not show is escaped. */
static inline void text_escape(text *out, phi_str json) {
    size_t i, n;
    uint32_t c;
    for (i = 0; i < json.len; i += n) {
        n = text_decode(json.at + i, json.len - i, &c);
        if (n == 0) return; /* it is cut off */
        if (!text_unsafe(c))
            text_add(out, json.at + i, n);
        else if (c < 0x10000)
            text_print(out, "\\u%04x", (unsigned)c);
        else
            text_print(out, "\\u%04x\\u%04x", 0xD7C0 + (unsigned)(c >> 10),
                       0xDC00 + (unsigned)(c & 0x3FF));
    }
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
