/* phi_keys.h - the keys of a terminal in raw mode, without waiting. Copy what you need of it. */
#ifndef PHI_KEYS_H
#define PHI_KEYS_H

#include "phi_raw.h"

#include <errno.h>

enum {
    KEY_NONE = 0,
    KEY_TEXT = 256, /* a character, in keys.character; keys.pasted: it was not typed */
    KEY_NEWLINE,    /* Alt+Enter, Ctrl+J: a line break within the text */
    KEY_ENTER,
    KEY_ESCAPE,
    KEY_UP,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_HOME,
    KEY_END,
    KEY_DELETE,
    KEY_BACKSPACE,
    KEY_UNKNOWN,
    KEY_CLOSED /* the terminal is gone */
};
#define KEY_CTRL(letter) ((letter)&31)

enum { KEYS_ESCAPE_MS = 50 }; /* an escape sequence comes at once; a person's Esc comes alone */

typedef struct key_reader {
    char bytes[4096];
    size_t len;
    uint64_t read_ms; /* when the last bytes came */
    bool alone;       /* ... one byte, a while after those before */
    bool pasted, closed;
    bool replies; /* the rest of a terminal's answer is still to come */
    char character[8];
} key_reader;

/* Reads what there is; false: nothing. */
static inline bool keys_read(key_reader *k) {
    ptrdiff_t got;
    if (k->len == sizeof k->bytes || !keys_waits(0)) return false;
    got = typed_read(k->bytes + k->len, sizeof k->bytes - k->len);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (got <= 0) return k->closed = true, false;
    k->alone = got == 1 && k->len == 0 && keys_now_ms() - k->read_ms > KEYS_ESCAPE_MS;
    k->len += (size_t)got;
    k->read_ms = keys_now_ms();
    return true;
}

/* A sequence after "\033[" or "\033O"; *n: its bytes, 0 until all have come. A control character ends it, and is a key
   itself. */
static inline int keys_sequence(key_reader *k, size_t *n) {
    static const struct {
        const char *bytes;
        int key;
    } known[] = {{"[A", KEY_UP},   {"[B", KEY_DOWN},  {"[C", KEY_RIGHT},   {"[D", KEY_LEFT},
                 {"[H", KEY_HOME}, {"[F", KEY_END},   {"[1~", KEY_HOME},   {"[7~", KEY_HOME},
                 {"[4~", KEY_END}, {"[8~", KEY_END},  {"[3~", KEY_DELETE}, {"OA", KEY_UP},
                 {"OB", KEY_DOWN}, {"OC", KEY_RIGHT}, {"OD", KEY_LEFT},    {"OH", KEY_HOME},
                 {"OF", KEY_END}};
    size_t i = 2;
    if (k->bytes[1] == '[')
        while (i < k->len && k->bytes[i] >= 0x20 && k->bytes[i] < 0x40) i++;
    *n = i < sizeof k->bytes ? 0 : i;
    if (i >= k->len || *n > 0) return *n == 0 ? KEY_NONE : KEY_UNKNOWN;
    *n = (unsigned char)k->bytes[i] < 0x20 ? i : i + 1;
    if (i == 5 && memcmp(k->bytes + 2, "200~", 4) == 0) k->pasted = true;
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (*n - 1 == strlen(known[i].bytes) && memcmp(k->bytes + 1, known[i].bytes, *n - 1) == 0)
            return known[i].key;
    return KEY_UNKNOWN;
}

/* How many bytes belong to a terminal's answer in words ("\033]..."): all up to a control character. */
static inline size_t keys_reply(key_reader *k) {
    size_t n = 0;
    while (n < k->len && (unsigned char)k->bytes[n] >= 0x20) n++;
    k->replies = n == k->len;
    return !k->replies && k->bytes[n] == '\a' ? n + 1 : n;
}

/* Ctrl+C ends a paste that has no end: one that comes alone, a while before and after all else, for a text may hold one
   where the terminal's bytes happen to be cut. */
static inline int keys_pasted(key_reader *k, bool late, size_t *n) {
    static const char end[] = "\033[201~";
    size_t have = k->len < 6 ? k->len : 6;
    if (k->alone && k->len == 1 && k->bytes[0] == KEY_CTRL('C')) {
        *n = late ? 1 : 0;
        k->pasted = !late;
        return late ? KEY_CTRL('C') : KEY_NONE;
    }
    if (memcmp(k->bytes, end, have) != 0 || have == 0) return KEY_TEXT;
    *n = have == 6 ? 6 : 0;
    if (have == 6) k->pasted = false;
    return have == 6 ? KEY_UNKNOWN : KEY_NONE;
}

static inline int keys_control(char c) {
    if (c == '\r' || c == '\n') return c == '\r' ? KEY_ENTER : KEY_NEWLINE;
    return c == 127 || c == 8 ? KEY_BACKSPACE : c == 0 ? KEY_UNKNOWN : c;
}

/* A key that begins with "\033"; *n: its bytes, 0 until all have come. */
static inline int keys_escaped(key_reader *k, bool late, size_t *n) {
    char kind = k->len > 1 ? k->bytes[1] : '\0';
    *n = k->len > 1 || late ? 1 : 0;
    if (kind == '[' || kind == 'O') return keys_sequence(k, n);
    if (kind == '\r' || kind == '\n') return *n = 2, KEY_NEWLINE;
    if ((unsigned char)kind < 0x20) return *n > 0 ? KEY_ESCAPE : KEY_NONE;
    *n = 2;
    if (memchr("]P_^X", kind, 5) == NULL) return KEY_UNKNOWN;
    k->replies = k->len > 2; /* Alt+] and the like come alone */
    if (k->len == 2 && !late) *n = 0;
    return KEY_UNKNOWN;
}

/* The next key; KEY_NONE: none yet. */
static inline int keys_next(key_reader *k) {
    bool late = keys_now_ms() - k->read_ms > KEYS_ESCAPE_MS;
    size_t n = k->replies ? keys_reply(k) : 0;
    uint32_t c;
    int key = KEY_UNKNOWN;
    if (k->len == 0) return k->closed ? KEY_CLOSED : KEY_NONE;
    if (n == 0) n = 1, key = k->pasted ? keys_pasted(k, late, &n) : KEY_TEXT;
    if (key == KEY_TEXT && !k->pasted && k->bytes[0] == '\033')
        key = keys_escaped(k, late, &n);
    else if (key == KEY_TEXT && !k->pasted && ((unsigned char)*k->bytes < 32 || *k->bytes == 127))
        key = keys_control(k->bytes[0]);
    else if (key == KEY_TEXT) {
        n = text_decode(k->bytes, k->len, &c);
        if (n == 0 && late) n = k->len;
        (void)snprintf(k->character, sizeof k->character, "%.*s", c == 0xFFFD ? 3 : (int)n,
                       c == 0xFFFD ? "\xEF\xBF\xBD"
                       : c == '\r' ? "\n"
                                   : k->bytes);
    }
    if (n == 0 && k->closed) n = k->len;
    memmove(k->bytes, k->bytes + n, k->len -= n);
    return n > 0 ? key : KEY_NONE;
}

#endif
