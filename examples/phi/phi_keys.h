/* phi_keys.h - a terminal in raw mode, and its keys, without waiting. Copy what you need of it. However the program ends,
   also by a signal, a crash or Ctrl+Z, the terminal gets its settings back. */
#ifndef PHI_KEYS_H
#define PHI_KEYS_H

#include "phi_text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

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
    bool pasted, closed;
    char character[8];
} key_reader;

static struct termios keys_before;
static volatile sig_atomic_t keys_raw, keys_resized, keys_stopped, keys_signal;

static inline uint64_t keys_now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Safe in a signal handler. */
static inline void keys_restore(void) {
    static const char sane[] = "\033[?2004l\033[?2026l\033[?25h\033[0m";
    if (!keys_raw) return;
    keys_raw = 0;
    if (write(1, sane, sizeof sane - 1) < 0) return; /* the terminal is gone */
    (void)tcsetattr(0, TCSADRAIN, &keys_before);
}

static inline void keys_begin(void) {
    struct termios raw = keys_before;
    raw.c_iflag &= (tcflag_t) ~(BRKINT | ICRNL | INLCR | IXON);
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO | IEXTEN | ISIG);
    raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
    (void)tcsetattr(0, TCSADRAIN, &raw);
    keys_raw = write(1, "\033[?2004h", 8) == 8 ? 1 : 2; /* pastes come in brackets */
}

static void keys_on_signal(int number) {
    bool shown = number == SIGWINCH || number == SIGCONT;
    if (number == SIGCONT && keys_raw) keys_begin(); /* SIGSTOP: the shell has set its own */
    *(number == SIGTSTP ? &keys_stopped : shown ? &keys_resized : &keys_signal) = number;
}

static void keys_on_crash(int number) {
    keys_restore();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static inline void keys_catch(const int *numbers, void (*handler)(int), int flags) {
    struct sigaction action = PHI_ZERO;
    action.sa_handler = handler;
    action.sa_flags = flags;
    for (; *numbers != 0; numbers++) (void)sigaction(*numbers, &action, NULL);
}

/* They only set keys_signal: the program looks, and ends its runs. */
static inline void keys_catch_ends(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};
    keys_catch(ends, keys_on_signal, 0);
}

/* False: standard input is no terminal. */
static inline bool keys_open(void) {
    static const int sizes[] = {SIGWINCH, SIGCONT, SIGTSTP, 0};
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, 0};
    if (tcgetattr(0, &keys_before) != 0) return false;
    keys_catch_ends();
    keys_catch(sizes, keys_on_signal, 0);
    keys_catch(crashes, keys_on_crash, (int)SA_RESETHAND);
    (void)atexit(keys_restore);
    keys_begin();
    return true;
}

/* Ctrl+Z, or keys_stopped: until the shell continues the program. */
static inline void keys_suspend(void) {
    static const int stop[] = {SIGTSTP, 0};
    keys_restore();
    keys_catch(stop, SIG_DFL, 0);
    (void)raise(SIGTSTP);
    keys_catch(stop, keys_on_signal, 0);
    keys_begin();
    keys_stopped = 0;
    keys_resized = 1;
}

/* Reads what there is; false: nothing. */
static inline bool keys_read(key_reader *k) {
    struct pollfd terminal = {0, POLLIN, 0};
    ssize_t got;
    if (k->len == sizeof k->bytes || poll(&terminal, 1, 0) <= 0) return false;
    got = read(0, k->bytes + k->len, sizeof k->bytes - k->len);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (got <= 0) return k->closed = true, false;
    k->len += (size_t)got;
    k->read_ms = keys_now_ms();
    return true;
}

/* A sequence behind "\033[" or "\033O"; *n: its bytes. */
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
    if (i >= k->len) return *n = 0, KEY_NONE;
    *n = i + 1;
    if (i == 5 && memcmp(k->bytes + 2, "200~", 4) == 0) k->pasted = true;
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (*n - 1 == strlen(known[i].bytes) && memcmp(k->bytes + 1, known[i].bytes, *n - 1) == 0)
            return known[i].key;
    return KEY_UNKNOWN;
}

static inline int keys_pasted(key_reader *k, size_t *n) {
    static const char end[] = "\033[201~";
    size_t have = k->len < 6 ? k->len : 6;
    if (memcmp(k->bytes, end, have) != 0 || have == 0) return KEY_TEXT;
    *n = have == 6 ? 6 : 0;
    if (have == 6) k->pasted = false;
    return have == 6 ? KEY_UNKNOWN : KEY_NONE;
}

static inline int keys_control(char c) {
    if (c == '\r' || c == '\n') return c == '\r' ? KEY_ENTER : KEY_NEWLINE;
    return c == 127 || c == 8 ? KEY_BACKSPACE : c == 0 ? KEY_UNKNOWN : c;
}

/* The next key; KEY_NONE: none yet. */
static inline int keys_next(key_reader *k) {
    bool late = keys_now_ms() - k->read_ms > KEYS_ESCAPE_MS;
    size_t n = 1;
    uint32_t c;
    int key = k->pasted ? keys_pasted(k, &n) : KEY_TEXT;
    if (k->len == 0) return k->closed ? KEY_CLOSED : KEY_NONE;
    if (!k->pasted && k->bytes[0] == '\033') {
        bool alone = k->len == 1 || k->bytes[1] == '\033';
        if (k->len == 1 && !late) return KEY_NONE;
        key = alone ? KEY_ESCAPE : KEY_UNKNOWN;
        n = alone ? 1 : 2;
        if (!alone && (k->bytes[1] == '\r' || k->bytes[1] == '\n')) key = KEY_NEWLINE;
        if (!alone && (k->bytes[1] == '[' || k->bytes[1] == 'O')) key = keys_sequence(k, &n);
        if (n == 0 && late) n = k->len, key = KEY_UNKNOWN;
    } else if (key == KEY_TEXT && !k->pasted && ((unsigned char)*k->bytes < 32 || *k->bytes == 127))
        key = keys_control(k->bytes[0]);
    else if (key == KEY_TEXT) {
        n = text_decode(k->bytes, k->len, &c);
        if (n == 0 && late) n = k->len;
        (void)snprintf(k->character, sizeof k->character, "%.*s", c == 0xFFFD ? 3 : (int)n,
                       c == 0xFFFD ? "\xEF\xBF\xBD"
                       : c == '\r' ? "\n"
                                   : k->bytes);
    }
    memmove(k->bytes, k->bytes + n, k->len -= n);
    return n > 0 ? key : KEY_NONE;
}

#endif
