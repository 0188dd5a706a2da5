/* channel_windows.c - channel_in.h on Windows, for descriptors of the C runtime.

   Handles of a parent are rarely overlapped, so no poller takes them: every side is plain, and a
   call first asks if it would wait. A screen can still hold up a write while a person selects text
   on it, and a serial port a read. */
#include "system/channel_in.h"

#if defined(PHI__OS_WINDOWS) && !defined(PHI_NO_PROCESS)

#include "io/windows_in.h"

#include <io.h>
#include <stdlib.h>

enum {
    PHI__SIDE_KEYS = 64,        /* events of a console that are read at a time */
    PHI__SIDE_KEYS_MOST = 4096, /* bytes of keys at which reading stops */
    PHI__SIDE_SHOWN = 4096,     /* bytes that are shown on a console at a time */
    PHI__SIDE_PIECE = 4096      /* bytes that are written to a pipe at a time */
};

/* ---- the handle of a descriptor ---- */

#if defined(_UCRT) || defined(_MSC_VER)
static void phi__side_invalid(const wchar_t *expression, const wchar_t *function,
                              const wchar_t *file, unsigned line, uintptr_t reserved) {
    (void)expression;
    (void)function;
    (void)file;
    (void)line;
    (void)reserved;
}

/* The runtime ends the program at a closed descriptor, unless the thread has a handler. */
static intptr_t phi__side_handle(int fd) {
    _invalid_parameter_handler before =
        _set_thread_local_invalid_parameter_handler(phi__side_invalid);
    intptr_t handle = _get_osfhandle(fd);
    (void)_set_thread_local_invalid_parameter_handler(before);
    return handle;
}
#else
static intptr_t phi__side_handle(int fd) { return _get_osfhandle(fd); }
#endif

PHI__FN bool phi__side_open(phi__side *side, phi_memory *memory, int fd, bool writes) {
    DWORD mode, type;
    phi__buf_init(&side->keys, memory);
    side->plain = true;
    side->fd = phi__side_handle(fd);
    /* -2: the descriptor of a program without standard handles */
    if (side->fd == 0 || side->fd == -1 || side->fd == -2) return false;
    type = GetFileType(phi__handle(side->fd));
    if (type == FILE_TYPE_UNKNOWN && GetLastError() != NO_ERROR) return false;
    side->kind = PHI__SIDE_FILE;
    if (type == FILE_TYPE_PIPE) side->kind = PHI__SIDE_PIPE;
    if (type == FILE_TYPE_CHAR && GetConsoleMode(phi__handle(side->fd), &mode))
        side->kind = PHI__SIDE_CONSOLE;
    (void)writes;
    return true;
}

PHI__FN void phi__side_close(phi__side *side) {
    phi__buf_free(&side->keys);
    if (side->echo != 0) (void)CloseHandle(phi__handle(side->echo));
    side->echo = 0;
}

/* ---- consoles: keys in ---- */

static void phi__side_show(phi__side *side, const wchar_t *text, size_t len) {
    DWORD wrote;
    if (side->echo == 0) {
        HANDLE screen = CreateFileW(L"CONOUT$", GENERIC_READ | GENERIC_WRITE,
                                    FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, 0);
        if (screen == INVALID_HANDLE_VALUE) return;
        side->echo = (phi__fd)screen;
    }
    (void)WriteConsoleW(phi__handle(side->echo), text, (DWORD)len, &wrote, NULL);
}

/* Appends a UTF-16 unit as UTF-8. The halves of a character come one after the other. */
static void phi__side_put(phi__side *side, wchar_t unit) {
    wchar_t both[2];
    char text[16];
    size_t n = 0, len;
    bool low = unit >= 0xDC00 && unit <= 0xDFFF;
    if (side->half != 0 && low) both[n++] = side->half;
    side->half = 0;
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        side->half = unit;
        return;
    }
    both[n++] = unit;
    len = phi__narrow(both, n, text, sizeof text);
    if (len != SIZE_MAX) phi__buf_add(&side->keys, text, len);
}

/* Takes a key in line mode, in which a person can erase characters before Enter. */
static void phi__side_edit(phi__side *side, wchar_t unit, bool echo) {
    phi__buf *keys = &side->keys;
    if (unit == L'\b' || unit == 0x7F) {
        if (keys->len == side->keys_done) return;
        do keys->len--;
        while (keys->len > side->keys_done && ((unsigned char)keys->at[keys->len] & 0xC0) == 0x80);
        if (echo) phi__side_show(side, L"\b \b", 3);
    } else if (unit == L'\r' || unit == L'\n') {
        phi__buf_char(keys, '\n');
        side->keys_done = keys->len;
        if (echo) phi__side_show(side, L"\r\n", 2);
    } else if (unit == 0x1A && keys->len == side->keys_done) {
        side->keys_ended = true;
    } else if (unit >= L' ' || unit == L'\t') {
        wchar_t shown[2];
        size_t n = 0;
        if (side->half != 0) shown[n++] = side->half;
        shown[n++] = unit;
        phi__side_put(side, unit);
        if (echo && side->half == 0) phi__side_show(side, shown, n);
    }
}

static void phi__side_key(phi__side *side, const KEY_EVENT_RECORD *key, DWORD mode) {
    wchar_t unit = key->uChar.UnicodeChar;
    /* A character typed by its number comes when the key Alt is released. */
    if (unit == 0 || (!key->bKeyDown && key->wVirtualKeyCode != VK_MENU)) return;
    for (WORD i = 0; i < key->wRepeatCount || i == 0; i++) {
        if ((mode & ENABLE_LINE_INPUT) != 0) {
            phi__side_edit(side, unit, (mode & ENABLE_ECHO_INPUT) != 0);
        } else {
            phi__side_put(side, unit);
            side->keys_done = side->keys.len;
        }
    }
}

static int phi__side_read_keys(phi__side *side, char *out, size_t n, size_t *got) {
    INPUT_RECORD events[PHI__SIDE_KEYS];
    DWORD mode, count = 0;
    HANDLE console = phi__handle(side->fd);
    if (!GetConsoleMode(console, &mode)) return (int)GetLastError();
    while (!side->keys_ended && side->keys_done < PHI__SIDE_KEYS_MOST) {
        /* Wine 8 begins to read its terminal when somebody peeks, not when events are counted. */
        if (!PeekConsoleInputW(console, events, PHI__SIDE_KEYS, &count)) return (int)GetLastError();
        if (count == 0) break;
        if (!ReadConsoleInputW(console, events, count, &count)) return (int)GetLastError();
        for (DWORD i = 0; i < count && !side->keys_ended; i++)
            if (events[i].EventType == KEY_EVENT)
                phi__side_key(side, &events[i].Event.KeyEvent, mode);
        if (side->keys.failed) return ERROR_NOT_ENOUGH_MEMORY;
    }
    *got = phi__min(side->keys_done, n);
    if (*got == 0) return side->keys_ended ? 0 : PHI__SIDE_BUSY;
    memcpy(out, side->keys.at, *got);
    phi__buf_drop(&side->keys, *got);
    side->keys_done -= *got;
    return 0;
}

/* ---- consoles: text out ---- */

/* Shows `n` bytes, fewer than PHI__SIDE_SHOWN + 4. */
static int phi__side_show_bytes(const phi__side *side, const char *bytes, size_t n) {
    wchar_t wide[PHI__SIDE_SHOWN + 4];
    DWORD wrote;
    if (n == 0) return 0;
    int len = MultiByteToWideChar(CP_UTF8, 0, bytes, (int)n, wide, (int)PHI__COUNT(wide));
    if (len <= 0 || !WriteConsoleW(phi__handle(side->fd), wide, (DWORD)len, &wrote, NULL))
        return (int)GetLastError();
    return 0;
}

/* Returns the number of bytes at the end of a text that begin a character. */
static size_t phi__side_begun(const char *bytes, size_t n) {
    for (size_t back = 1; back < 4 && back <= n; back++) {
        unsigned char c = (unsigned char)bytes[n - back];
        if ((c & 0xC0) == 0x80) continue;
        size_t whole = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
        return back < whole ? back : 0;
    }
    return 0;
}

/* Keeps the beginning of a character until its other bytes come. */
static int phi__side_write_text(phi__side *side, const char *bytes, size_t n, size_t *wrote) {
    char text[PHI__SIDE_SHOWN + 4];
    n = phi__min(n, PHI__SIDE_SHOWN);
    memcpy(text, side->tail, side->tail_len);
    memcpy(text + side->tail_len, bytes, n);
    size_t len = side->tail_len + n, begun = phi__side_begun(text, len);
    int error = phi__side_show_bytes(side, text, len - begun);
    if (error != 0) return error;
    memcpy(side->tail, text + len - begun, begun);
    side->tail_len = begun;
    *wrote = n;
    return 0;
}

/* ---- pipes ---- */

/* Waits for a transfer that was begun: the caller knows that it ends at once. The handle may be
   overlapped. */
static int phi__side_done(HANDLE pipe, OVERLAPPED *how, BOOL done, DWORD *n) {
    int error = done ? 0 : (int)GetLastError();
    if (error == ERROR_IO_PENDING)
        error = GetOverlappedResult(pipe, how, n, TRUE) ? 0 : (int)GetLastError();
    return error == ERROR_MORE_DATA ? 0 : error; /* the rest of a message */
}

static int phi__side_read_pipe(phi__side *side, char *out, size_t n, size_t *got) {
    HANDLE pipe = phi__handle(side->fd);
    OVERLAPPED how = PHI_ZERO;
    DWORD waits = 0, count = 0;
    int error = PeekNamedPipe(pipe, NULL, 0, NULL, &waits, NULL) ? 0 : (int)GetLastError();
    if (error == 0 && waits == 0) return PHI__SIDE_BUSY;
    if (error == 0)
        error = phi__side_done(
            pipe, &how, ReadFile(pipe, out, (DWORD)phi__min(n, waits), &count, &how), &count);
    if (error == ERROR_NO_DATA) return PHI__SIDE_BUSY; /* the host has set PIPE_NOWAIT */
    *got = error == 0 ? count : 0;
    return error == ERROR_BROKEN_PIPE || error == ERROR_HANDLE_EOF ? 0 : error;
}

/* A pipe that does not wait takes all bytes of a write, or none, or some. The mode is set for this
   write only, because all users of the handle share it. */
static int phi__side_write_pipe(phi__side *side, const char *bytes, size_t n, size_t *wrote) {
    HANDLE pipe = phi__handle(side->fd);
    DWORD before = 0, mode, count = 0;
    int error = 0;
    if (!GetNamedPipeHandleStateW(pipe, &before, NULL, NULL, NULL, NULL, 0))
        before = PIPE_READMODE_BYTE;
    mode = before | PIPE_NOWAIT;
    if (!SetNamedPipeHandleState(pipe, &mode, NULL, NULL)) return (int)GetLastError();
    n = phi__min(n, PHI__SIDE_PIECE);
    for (; n > 0 && count == 0 && error == 0; n /= 2) {
        OVERLAPPED how = PHI_ZERO;
        error = phi__side_done(pipe, &how, WriteFile(pipe, bytes, (DWORD)n, &count, &how), &count);
    }
    mode = before;
    (void)SetNamedPipeHandleState(pipe, &mode, NULL, NULL);
    *wrote = error == 0 ? count : 0;
    return error == 0 && count == 0 ? PHI__SIDE_BUSY : error;
}

/* ---- files ---- */

static int phi__side_read_file(phi__side *side, char *out, size_t n, size_t *got) {
    DWORD count = 0;
    int error =
        ReadFile(phi__handle(side->fd), out, (DWORD)n, &count, NULL) ? 0 : (int)GetLastError();
    *got = error == 0 ? count : 0;
    return error == ERROR_HANDLE_EOF ? 0 : error;
}

static int phi__side_write_file(phi__side *side, const char *bytes, size_t n, size_t *wrote) {
    DWORD count = 0;
    n = phi__min(n, 65536);
    int error =
        WriteFile(phi__handle(side->fd), bytes, (DWORD)n, &count, NULL) ? 0 : (int)GetLastError();
    *wrote = error == 0 ? count : 0;
    return error;
}

/* ---- for channel.c ---- */

PHI__FN int phi__side_read(phi__side *side, char *out, size_t n, size_t *got) {
    *got = 0;
    n = phi__min(n, 65536);
    if (side->kind == PHI__SIDE_PIPE) return phi__side_read_pipe(side, out, n, got);
    return side->kind == PHI__SIDE_CONSOLE ? phi__side_read_keys(side, out, n, got)
                                           : phi__side_read_file(side, out, n, got);
}

PHI__FN int phi__side_write(phi__side *side, const char *bytes, size_t n, size_t *wrote) {
    *wrote = 0;
    if (side->kind == PHI__SIDE_PIPE) return phi__side_write_pipe(side, bytes, n, wrote);
    return side->kind == PHI__SIDE_CONSOLE ? phi__side_write_text(side, bytes, n, wrote)
                                           : phi__side_write_file(side, bytes, n, wrote);
}

#endif
