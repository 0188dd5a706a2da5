/* typed_windows.h - standard input and Ctrl+C on Windows: a console, a pipe, a file or NUL.

   A console's keys come as events. In line mode they are edited and shown here, so that a program
   can go on while somebody types; else they are the bytes that a terminal sends, escape sequences
   too. All text is UTF-8. */
#ifndef TYPED_WINDOWS_H
#define TYPED_WINDOWS_H

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What a console has sent. */
typedef struct typed_console {
    char bytes[4096];
    size_t len, done; /* bytes up to `done` can be read: in line mode whole lines */
    WCHAR half;       /* first half of a character in UTF-16, or 0 */
    bool ended;       /* Ctrl+Z began a line */
    bool resized;     /* the window; whoever looks clears it */
} typed_console;

static typed_console typed_keys;

static inline HANDLE typed_handle(int stream) {
    return GetStdHandle(stream == 0   ? STD_INPUT_HANDLE
                        : stream == 1 ? STD_OUTPUT_HANDLE
                                      : STD_ERROR_HANDLE);
}

/* 0: standard input, 1: output, 2: errors. */
static inline bool typed_is_terminal(int stream) {
    DWORD mode;
    return GetConsoleMode(typed_handle(stream), &mode) != 0;
}

/* ---- a console ---- */

static inline void typed_add(const char *bytes, size_t n) {
    if (n > sizeof typed_keys.bytes - typed_keys.len) return; /* nobody types as much unread */
    memcpy(typed_keys.bytes + typed_keys.len, bytes, n);
    typed_keys.len += n;
}

/* A unit of UTF-16. The halves of a character come one after the other. */
static inline void typed_unit(WCHAR unit) {
    WCHAR both[2];
    char utf8[8];
    int n = 0, len;
    if (unit >= 0xD800 && unit < 0xDC00) {
        typed_keys.half = unit;
        return;
    }
    if (typed_keys.half != 0 && unit >= 0xDC00 && unit < 0xE000) both[n++] = typed_keys.half;
    typed_keys.half = 0;
    both[n++] = unit;
    len = WideCharToMultiByte(CP_UTF8, 0, both, n, utf8, sizeof utf8, NULL, NULL);
    if (len > 0) typed_add(utf8, (size_t)len);
}

static inline void typed_show(const char *bytes, size_t n) {
    WCHAR wide[8];
    DWORD wrote;
    HANDLE screen = CreateFileW(L"CONOUT$", GENERIC_READ | GENERIC_WRITE,
                                FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    int len = MultiByteToWideChar(CP_UTF8, 0, bytes, (int)n, wide, 8);
    if (screen == INVALID_HANDLE_VALUE) return;
    if (len > 0) (void)WriteConsoleW(screen, wide, (DWORD)len, &wrote, NULL);
    (void)CloseHandle(screen);
}

/* A key in line mode, in which a person can erase what was typed before Enter. */
static inline void typed_edit(WCHAR unit, bool echo) {
    typed_console *c = &typed_keys;
    size_t before = c->len;
    if (unit == L'\b') {
        if (c->len == c->done) return;
        do c->len--;
        while (c->len > c->done && ((unsigned char)c->bytes[c->len] & 0xC0) == 0x80);
        if (echo) typed_show("\b \b", 3);
    } else if (unit == L'\r') {
        typed_add("\n", 1);
        c->done = c->len;
        if (echo) typed_show("\r\n", 2);
    } else if (unit == 0x1A && c->len == c->done) {
        c->ended = true;
    } else if (unit >= L' ' || unit == L'\t') {
        typed_unit(unit);
        if (echo) typed_show(c->bytes + before, c->len - before);
    }
}

/* A key as a terminal sends it. Consoles that know its sequences send most of them by themselves. */
static inline void typed_send(const KEY_EVENT_RECORD *key) {
    static const struct {
        WORD key;
        const char *bytes;
    } known[] = {{VK_UP, "\033[A"},   {VK_DOWN, "\033[B"},   {VK_RIGHT, "\033[C"},
                 {VK_LEFT, "\033[D"}, {VK_HOME, "\033[H"},   {VK_END, "\033[F"},
                 {VK_ESCAPE, "\033"}, {VK_DELETE, "\033[3~"}};
    WCHAR unit = key->uChar.UnicodeChar;
    bool alt = (key->dwControlKeyState & LEFT_ALT_PRESSED) != 0 &&
               (key->dwControlKeyState & (LEFT_CTRL_PRESSED | RIGHT_ALT_PRESSED)) == 0;
    size_t i;
    if (unit != 0) {
        if (alt && key->bKeyDown) typed_add("\033", 1);
        typed_unit(unit);
    } else
        for (i = 0; i < sizeof known / sizeof *known; i++)
            if (known[i].key == key->wVirtualKeyCode)
                typed_add(known[i].bytes, strlen(known[i].bytes));
    typed_keys.done = typed_keys.len;
}

static inline void typed_event(const INPUT_RECORD *event, DWORD mode) {
    const KEY_EVENT_RECORD *key = &event->Event.KeyEvent;
    WCHAR unit = key->uChar.UnicodeChar;
    WORD i;
    if (event->EventType == WINDOW_BUFFER_SIZE_EVENT) typed_keys.resized = true;
    if (event->EventType != KEY_EVENT) return;
    /* A character typed by its number comes when the key Alt is released. */
    if (!key->bKeyDown && (key->wVirtualKeyCode != VK_MENU || unit == 0)) return;
    for (i = 0; i < key->wRepeatCount || i == 0; i++)
        if ((mode & ENABLE_LINE_INPUT) == 0)
            typed_send(key);
        else
            typed_edit(unit, (mode & ENABLE_ECHO_INPUT) != 0);
}

/* Takes the events that have come. True: there is something to read. Wine 8 reads its terminal only after a first peek. */
static inline bool typed_pump(HANDLE console) {
    INPUT_RECORD events[64];
    DWORD mode, count = 0, i;
    while (!typed_keys.ended && typed_keys.len < sizeof typed_keys.bytes / 2) {
        if (!GetConsoleMode(console, &mode) || !PeekConsoleInputW(console, events, 64, &count))
            typed_keys.ended = true;
        if (typed_keys.ended || count == 0) break;
        if (!ReadConsoleInputW(console, events, count, &count)) break;
        for (i = 0; i < count; i++) typed_event(&events[i], mode);
    }
    if (typed_keys.len == sizeof typed_keys.bytes) typed_keys.done = typed_keys.len;
    return typed_keys.done > 0 || typed_keys.ended;
}

/* ---- public ---- */

/* Waits for input. False: none came in that time (-1: without end), or the window has changed. */
static inline bool typed_waits(int timeout_ms) {
    HANDLE in = typed_handle(0);
    ULONGLONG end = GetTickCount64() + (ULONGLONG)(timeout_ms < 0 ? 0 : timeout_ms), now;
    bool console = typed_is_terminal(0);
    DWORD count = 0, rest;
    for (;;) {
        if (console) {
            if (typed_pump(in)) return true;
            if (typed_keys.resized) return false;
        } else if (GetFileType(in) != FILE_TYPE_PIPE ||
                   !PeekNamedPipe(in, NULL, 0, NULL, &count, NULL) || count > 0)
            return true;
        now = GetTickCount64();
        if (timeout_ms >= 0 && now >= end) return false;
        rest = timeout_ms < 0 || end - now > 1000 ? 1000 : (DWORD)(end - now);
        if (console)
            (void)WaitForSingleObject(in, rest);
        else
            Sleep(rest < 10 ? rest : 10);
    }
}

/* A pipe or a file, whose lines may end in "\r\n". */
static inline ptrdiff_t typed_read_bytes(HANDLE in, char *out, size_t size) {
    DWORD got = 0, i, n = 0;
    if (!ReadFile(in, out, (DWORD)(size < 65536 ? size : 65536), &got, NULL)) {
        if (GetLastError() == ERROR_BROKEN_PIPE || GetLastError() == ERROR_HANDLE_EOF) return 0;
        errno = GetLastError() == ERROR_INVALID_HANDLE ? EBADF : EIO;
        return -1;
    }
    for (i = 0; i < got; i++)
        if (out[i] != '\r' || i + 1 == got || out[i + 1] != '\n') out[n++] = out[i];
    return (ptrdiff_t)n;
}

/* As POSIX's read(): 0 at the end, below 0: errno. */
static inline ptrdiff_t typed_read(char *out, size_t size) {
    HANDLE in = typed_handle(0);
    size_t n;
    if (!typed_is_terminal(0)) return typed_read_bytes(in, out, size);
    while (!typed_pump(in)) (void)WaitForSingleObject(in, INFINITE);
    n = typed_keys.done < size ? typed_keys.done : size;
    memcpy(out, typed_keys.bytes, n);
    typed_keys.len -= n;
    typed_keys.done -= n;
    memmove(typed_keys.bytes, typed_keys.bytes + n, typed_keys.len);
    return (ptrdiff_t)n;
}

/* Ctrl+C calls the handler, in a thread of the system; the C library forgets it after each call. */
static void (*typed_handler)(int);

static inline void typed_on_interrupt(int number) {
    (void)signal(SIGINT, typed_on_interrupt);
    typed_handler(number);
}

static inline void typed_interrupt(void (*handler)(int)) {
    typed_handler = handler;
    (void)signal(SIGINT, typed_on_interrupt);
}

/* Keys come one by one and are not shown, until it is called with false. */
static inline void typed_raw(bool on) {
    static DWORD before;
    DWORD mode;
    if (!GetConsoleMode(typed_handle(0), &mode)) return;
    if (on) before = mode;
    mode = before & (DWORD) ~(ENABLE_LINE_INPUT | ENABLE_ECHO_INPUT);
    (void)SetConsoleMode(typed_handle(0), on ? mode : before);
}

#endif
