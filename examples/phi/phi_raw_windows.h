/* phi_raw_windows.h - the console of the command on Windows. phi_raw_posix.h has the same functions. */
#ifndef PHI_RAW_WINDOWS_H
#define PHI_RAW_WINDOWS_H

#include "phi_text.h"
#include "../typed.h"

#include <fcntl.h>
#include <io.h>
#include <winsock2.h>
#include <ws2tcpip.h>

#ifndef ENABLE_VIRTUAL_TERMINAL_PROCESSING
#define ENABLE_VIRTUAL_TERMINAL_PROCESSING 0x0004
#endif
#ifndef ENABLE_VIRTUAL_TERMINAL_INPUT
#define ENABLE_VIRTUAL_TERMINAL_INPUT 0x0200
#endif

static struct {
    DWORD in, out; /* modes */
    UINT page;     /* of the output; 0: there is no console */
} keys_before;
/* keys_resized: 1: all is to be drawn again; 2: the window has another size, too. */
static volatile sig_atomic_t keys_raw, keys_resized, keys_stopped, keys_signal;

static inline uint64_t keys_now_ms(void) { return GetTickCount64(); }

/* ---- standard streams ---- */

/* Waits for input; false: none came, or the window has changed. */
static inline bool keys_waits(int timeout_ms) {
    bool came = typed_waits(timeout_ms);
    if (typed_keys.resized) keys_resized = 2;
    typed_keys.resized = false;
    return came;
}

/* Waits for input. `other` is -1: phi has no descriptor to wait for on Windows. */
static inline void keys_wait(intptr_t other, int timeout_ms) {
    (void)other;
    (void)keys_waits(timeout_ms);
}

static inline void keys_sleep(int ms) { Sleep((DWORD)ms); }

/* What was typed so far is lost. */
static inline void keys_forget(void) {
    if (!typed_is_terminal(0)) return;
    (void)FlushConsoleInputBuffer(typed_handle(0));
    typed_keys.len = typed_keys.done = 0;
}

/* Makes the console standard input, so that questions are answered there. */
static inline void keys_terminal(void) {
    HANDLE in = typed_is_terminal(0)
                    ? INVALID_HANDLE_VALUE
                    : CreateFileW(L"CONIN$", GENERIC_READ | GENERIC_WRITE,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    if (in != INVALID_HANDLE_VALUE) (void)SetStdHandle(STD_INPUT_HANDLE, in);
}

/* As POSIX's write(). */
static inline ptrdiff_t keys_write(const char *at, size_t n) {
    DWORD wrote = 0, error;
    if (WriteFile(typed_handle(1), at, (DWORD)(n < 16384 ? n : 16384), &wrote, NULL))
        return (ptrdiff_t)wrote;
    error = GetLastError();
    errno = error == ERROR_NO_DATA || error == ERROR_BROKEN_PIPE ? EPIPE
            : error == ERROR_DISK_FULL                           ? ENOSPC
            : error == ERROR_INVALID_HANDLE                      ? EBADF
                                                                 : EIO;
    return -1;
}

/* A write waits by itself. */
static inline void keys_wait_write(int timeout_ms) { Sleep((DWORD)timeout_ms); }

/* A pipe that nobody reads is seen where it is written to. */
static inline bool keys_unread(void) { return false; }

/* Both 0: unknown. Of the console with the questions where the answer goes elsewhere. */
static inline void keys_size(int *columns, int *rows) {
    CONSOLE_SCREEN_BUFFER_INFO info;
    *columns = *rows = 0;
    if (!GetConsoleScreenBufferInfo(typed_handle(1), &info) &&
        !GetConsoleScreenBufferInfo(typed_handle(2), &info))
        return;
    *columns = info.srWindow.Right - info.srWindow.Left + 1;
    *rows = info.srWindow.Bottom - info.srWindow.Top + 1;
}

/* A socket; INVALID_SOCKET: there is none. */
static inline SOCKET keys_socket(int family, int type, int protocol) {
    return socket(family, type, protocol);
}

/* The console knows the sequences of styles, also if phi does not draw on it: nobody has asked it to. */
static inline bool keys_styles(void) { return false; }

/* ---- raw mode ---- */

/* Safe at any time. What was typed or pasted for the program, and not read, is no command for the shell. */
static inline void keys_restore(void) {
    static const char sane[] = "\033[?2004l\033[?2026l\033[?25h\033[0m";
    if (keys_raw) {
        keys_raw = 0;
        (void)keys_write(sane, sizeof sane - 1);
        (void)FlushConsoleInputBuffer(typed_handle(0));
        (void)SetConsoleMode(typed_handle(0), keys_before.in);
        (void)SetConsoleMode(typed_handle(1), keys_before.out);
    }
    if (keys_before.page != 0) (void)SetConsoleOutputCP(keys_before.page);
    keys_before.page = 0;
}

/* Sequences on output. False: the console has none. */
static inline bool keys_sequences(DWORD *before) {
    return GetConsoleMode(typed_handle(1), before) &&
           SetConsoleMode(typed_handle(1),
                          *before | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

/* The console knows no sequences. Wine 8's takes the mode, and moves its cursor over their letters. */
static inline bool keys_dumb(void) {
    static const WCHAR plain[] = L"\033[0m";
    const char *term = getenv("TERM");
    CONSOLE_SCREEN_BUFFER_INFO first, then;
    HANDLE out = typed_handle(1);
    DWORD before, n;
    bool dumb;
    if (term != NULL && strcmp(term, "dumb") == 0) return true;
    if (!keys_sequences(&before)) return true;
    dumb = !GetConsoleScreenBufferInfo(out, &first) || !WriteConsoleW(out, plain, 4, &n, NULL) ||
           !GetConsoleScreenBufferInfo(out, &then) ||
           first.dwCursorPosition.X != then.dwCursorPosition.X;
    if (dumb && FillConsoleOutputCharacterW(out, L' ', 4, first.dwCursorPosition, &n))
        (void)SetConsoleCursorPosition(out, first.dwCursorPosition);
    (void)SetConsoleMode(out, before);
    return dumb;
}

/* In a thread of the system. They only set keys_signal: the program looks, and ends its runs. A second Ctrl+C before that
   ends it at once, and a window that is closed waits a while for the end. */
static BOOL WINAPI keys_on_event(DWORD event) {
    bool key = event == CTRL_C_EVENT || event == CTRL_BREAK_EVENT, again = keys_signal != 0;
    keys_signal = key ? SIGINT : SIGTERM;
    if (key && again) keys_restore();
    if (!key) Sleep(10000);
    return !(key && again);
}

static LONG WINAPI keys_on_crash(EXCEPTION_POINTERS *why) {
    (void)why;
    keys_restore();
    return EXCEPTION_CONTINUE_SEARCH;
}

static void keys_on_abort(int number) {
    (void)number;
    keys_restore();
}

/* Line ends are those of POSIX, and all text is UTF-8. */
static inline void keys_catch_signals(void) {
    (void)_setmode(1, _O_BINARY);
    (void)_setmode(2, _O_BINARY);
    keys_before.page = GetConsoleOutputCP();
    if (keys_before.page != 0) (void)SetConsoleOutputCP(CP_UTF8);
    (void)atexit(keys_restore);
    (void)SetConsoleCtrlHandler(keys_on_event, TRUE);
    (void)SetUnhandledExceptionFilter(keys_on_crash);
    (void)signal(SIGABRT, keys_on_abort);
}

/* False: standard input is no console. */
static inline bool keys_open(void) {
    HANDLE in = typed_handle(0);
    DWORD raw;
    if (!GetConsoleMode(in, &keys_before.in) || !keys_sequences(&keys_before.out)) return false;
    raw =
        keys_before.in & (DWORD) ~(ENABLE_LINE_INPUT | ENABLE_ECHO_INPUT | ENABLE_PROCESSED_INPUT);
    raw |= ENABLE_WINDOW_INPUT;
    if (!SetConsoleMode(in, raw | ENABLE_VIRTUAL_TERMINAL_INPUT)) (void)SetConsoleMode(in, raw);
    keys_raw = keys_write("\033[?2004h", 8) == 8 ? 1 : 2; /* pastes come in brackets */
    return true;
}

/* Windows has no Ctrl+Z. */
static inline void keys_suspend(void) {}

#endif
