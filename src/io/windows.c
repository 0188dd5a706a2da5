/* windows.c - errors, texts, paths, clocks, random bytes and the wake-up of Windows. */

#include "io/os_in.h"
#include "io/wake_in.h"

#if defined(PHI__OS_WINDOWS)

#include "io/windows_in.h"

/* after windows.h */
#include <bcrypt.h>
#include <limits.h>
#include <stdio.h>

#if defined(_MSC_VER)
#pragma comment(lib, "ws2_32.lib")
#pragma comment(lib, "bcrypt.lib")
#endif

/* ---- texts and errors ---- */

PHI__FN bool phi__wide(phi_str text, wchar_t *out, size_t count) {
    if (count == 0) return false;
    out[0] = L'\0';
    if (text.len == 0) return true;
    if (text.len >= INT_MAX || memchr(text.at, '\0', text.len) != NULL) return false;
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.at, (int)text.len, out,
                                count > INT_MAX ? INT_MAX : (int)(count - 1));
    if (n <= 0) return false;
    out[n] = L'\0';
    return true;
}

PHI__FN size_t phi__narrow(const wchar_t *wide, size_t len, char *out, size_t size) {
    if (size == 0) return SIZE_MAX;
    out[0] = '\0';
    if (len == 0) return 0;
    if (len >= INT_MAX || size >= INT_MAX) return SIZE_MAX;
    int n = WideCharToMultiByte(CP_UTF8, 0, wide, (int)len, out, (int)(size - 1), NULL, NULL);
    if (n <= 0) return SIZE_MAX;
    out[n] = '\0';
    return (size_t)n;
}

#if !defined(PHI_NO_PROCESS) || !defined(PHI_NO_FILES) || !defined(PHI_NO_LISTEN)
/* Returns the words of POSIX for errors that both systems have, so that models and tests see the
   same message everywhere. Windows answers in the language of its user. NULL: another error. */
static const char *phi__os_common(int error) {
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND: return "No such file or directory";
    case ERROR_ACCESS_DENIED: return "Permission denied";
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: return "File exists";
    case ERROR_DIRECTORY: return "Not a directory";
    case ERROR_DIR_NOT_EMPTY: return "Directory not empty";
    case ERROR_DISK_FULL: return "No space left on device";
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA: return "Broken pipe";
    default: return NULL;
    }
}

PHI__FN void phi__os_words(int error, char *out, size_t size) {
    wchar_t wide[256];
    const char *common = phi__os_common(error);
    if (common != NULL) {
        (void)snprintf(out, size, "%s", common);
        return;
    }
    DWORD n = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL,
                             (DWORD)error, 0, wide, (DWORD)PHI__COUNT(wide), NULL);
    if (size == 0) return;
    while (n > 0 && (wide[n - 1] <= L' ' || wide[n - 1] == L'.')) n--;
    size_t len = phi__narrow(wide, n, out, size);
    if (len == SIZE_MAX || len == 0) (void)snprintf(out, size, "system error %d", error);
}
#endif

/* ---- paths ---- */

#ifndef PHI_NO_FILES

/* True if "\\" and "?" or "." and "\" begin the path: Windows takes the rest as it is, or as the
   name of a device. */
static bool phi__wide_raw(const wchar_t *at) {
    return at[0] == L'\\' && at[1] == L'\\' && (at[2] == L'?' || at[2] == L'.') && at[3] == L'\\';
}

PHI__FN int phi__wide_path(const char *path, wchar_t out[PHI__WIDE_PATH]) {
    enum { ROOM = 8 }; /* for "\\?\UNC", whose end replaces the first of two backslashes */
    wchar_t given[PHI__WIDE_PATH];
    size_t n = 0, i;
    if (path[0] == '\0') return ERROR_PATH_NOT_FOUND;
    if (!phi__wide(phi_str_of(path), given, PHI__COUNT(given)))
        return strlen(path) >= PHI__PATH_BYTES ? ERROR_FILENAME_EXCED_RANGE : ERROR_INVALID_NAME;
    for (i = 0; given[i] != L'\0'; i++)
        if (given[i] == L'/') given[i] = L'\\';
    /* "\\?\" is what this function itself writes; its UNC form has no drive */
    if (phi__wide_raw(given)) return ERROR_BAD_PATHNAME;
    DWORD full = GetFullPathNameW(given, PHI__WIDE_PATH - ROOM, out + ROOM, NULL);
    if (full == 0) return (int)GetLastError();
    if (full >= PHI__WIDE_PATH - ROOM) return ERROR_FILENAME_EXCED_RANGE;
    wchar_t *at = out + ROOM;
    if (phi__wide_raw(at)) return ERROR_BAD_PATHNAME;
    bool unc = at[0] == L'\\' && at[1] == L'\\';
    if (!unc && !(at[0] != L'\0' && at[1] == L':' && at[2] == L'\\')) return ERROR_BAD_PATHNAME;
    if (wcschr(at + (unc ? 0 : 2), L':') != NULL) return ERROR_BAD_PATHNAME;
    const wchar_t *head = unc ? L"\\\\?\\UNC" : L"\\\\?\\";
    n = wcslen(head);
    if (unc) at++;
    memmove(out + n, at, (wcslen(at) + 1) * sizeof *at);
    memcpy(out, head, n * sizeof *head);
    return 0;
}

#endif

/* ---- clocks and random bytes ---- */

PHI__FN uint64_t phi__clock_us(void) {
    LARGE_INTEGER now, frequency;
    if (!QueryPerformanceFrequency(&frequency) || !QueryPerformanceCounter(&now)) return 0;
    uint64_t ticks = (uint64_t)now.QuadPart, second = (uint64_t)frequency.QuadPart;
    return ticks / second * 1000000 + ticks % second * 1000000 / second;
}

PHI__FN int64_t phi__clock_wall_ms(void) {
    FILETIME now; /* units of 100 ns since 1601 */
    GetSystemTimePreciseAsFileTime(&now);
    uint64_t units = ((uint64_t)now.dwHighDateTime << 32) | now.dwLowDateTime;
    return (int64_t)(units / 10000) - 11644473600000;
}

PHI__FN void phi__clock_random(void *out, size_t len) {
    unsigned char *at = (unsigned char *)out;
    while (len > 0) {
        ULONG n = (ULONG)phi__min(len, 1u << 20);
        if (BCryptGenRandom(NULL, at, n, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0)
            phi__clock_mix(at, n, (uint64_t)GetCurrentProcessId());
        at += n;
        len -= n;
    }
}

/* ---- the wake-up: a datagram socket that sends to itself ---- */

/* A socket is what every poller of Windows takes, a host's own included. */
static SOCKET phi__wake_socket(void) {
    struct sockaddr_in address = PHI_ZERO;
    int len = (int)sizeof address;
    u_long on = 1;
    SOCKET made = WSASocketW(AF_INET, SOCK_DGRAM, IPPROTO_UDP, NULL, 0,
                             WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (made == INVALID_SOCKET) return INVALID_SOCKET;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    /* a connected datagram socket receives only what its peer sends, which is itself */
    if (bind(made, (struct sockaddr *)&address, len) == 0 &&
        getsockname(made, (struct sockaddr *)&address, &len) == 0 &&
        connect(made, (struct sockaddr *)&address, len) == 0 &&
        ioctlsocket(made, (long)FIONBIO, &on) == 0)
        return made;
    (void)closesocket(made);
    return INVALID_SOCKET;
}

PHI__FN phi_status phi__wake_open(phi__wake *wake) {
    WSADATA data;
    wake->read_fd = wake->write_fd = -1;
    wake->signalled = 0;
    wake->process = (intptr_t)GetCurrentProcessId();
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0) return PHI_IO;
    SOCKET made = phi__wake_socket();
    if (made == INVALID_SOCKET) {
        (void)WSACleanup();
        return PHI_IO;
    }
    wake->read_fd = wake->write_fd = (intptr_t)made;
    return PHI_OK;
}

PHI__FN void phi__wake_close(phi__wake *wake) {
    if (wake->read_fd < 0) return;
    (void)closesocket((SOCKET)wake->read_fd);
    (void)WSACleanup();
    wake->read_fd = wake->write_fd = -1;
}

PHI__FN bool phi__wake_own(const phi__wake *wake) {
    return wake->process == (intptr_t)GetCurrentProcessId();
}

PHI__FN void phi__wake_signal(phi__wake *wake) {
    DWORD kept = GetLastError();
    int idle = 0, sent = 1;
    /* without buffers nothing is sent; then the next wake tries again */
    if (PHI__CAS(&wake->signalled, &idle, 1) && send((SOCKET)wake->write_fd, "!", 1, 0) != 1)
        (void)PHI__CAS(&wake->signalled, &sent, 0);
    SetLastError(kept);
}

/* Empties the socket first, and then allows wakes again, as in posix.c. */
PHI__FN void phi__wake_drain(phi__wake *wake) {
    char bytes[64];
    int signalled = 1;
    while (recv((SOCKET)wake->read_fd, bytes, (int)sizeof bytes, 0) > 0) continue;
    (void)PHI__CAS(&wake->signalled, &signalled, 0);
}

#endif
