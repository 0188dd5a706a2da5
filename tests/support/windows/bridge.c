/* bridge.c - the program python.exe, bash.exe, sh.exe or another of tests under Wine: it runs the one
   of its name outside of Wine, by the launcher of scripts/windows.py, with its arguments, environment,
   stdin, stdout, stderr and exit code.

   To the launcher: words, each ended by a zero byte, and one more at the end of a list ("@bridge",
   directory, name, arguments; then the environment). Then frames of stdin: two bytes of length
   (big-endian) and the bytes; an empty one is the end. From it: a byte that names the frame's kind,
   two bytes of length, the bytes. */
#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>
#include <windows.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of frames: 1 and 2 are stdout and stderr, which an empty frame closes. */
enum { BRIDGE_STDIN_CLOSED = 0, BRIDGE_STDERR = 2, BRIDGE_EXIT = 3 };

static SOCKET side;
static char text[1 << 20];
static size_t text_len;
static volatile LONG unread; /* the program does not read stdin any more */

static bool all_sent(const char *bytes, size_t len) {
    while (len > 0) {
        int n = send(side, bytes, (int)len, 0);
        if (n <= 0) return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static bool all_got(void *out, int len) {
    char *to = (char *)out;
    while (len > 0) {
        int n = recv(side, to, len, 0);
        if (n <= 0) return false;
        to += n;
        len -= n;
    }
    return true;
}

/* Appends a word as UTF-8. An empty one would end the list. */
static bool word(const wchar_t *wide) {
    int n;
    if (wide[0] == L'\0') wide = L"@empty";
    n = WideCharToMultiByte(CP_UTF8, 0, wide, -1, text + text_len,
                            (int)(sizeof text - text_len) - 2, NULL, NULL);
    text_len += (size_t)n;
    return n > 0;
}

static void end_of_list(void) { text[text_len++] = '\0'; }

static bool begin(int argc, wchar_t **argv) {
    static wchar_t here[32768];
    const wchar_t *launcher = _wgetenv(L"PHI_LAUNCHER"); /* "PORT:TOKEN" */
    const wchar_t *name = argv[0], *at, *variable = GetEnvironmentStringsW();
    struct sockaddr_in address;
    WSADATA data;
    int i;
    for (at = name; *at != L'\0'; at++)
        if (*at == L'/' || *at == L'\\') name = at + 1;
    if (GetCurrentDirectoryW(32768, here) == 0 || variable == NULL || launcher == NULL)
        return false;
    if (!word(launcher) || !word(L"@bridge") || !word(here) || !word(name)) return false;
    for (i = 1; i < argc; i++)
        if (!word(argv[i])) return false;
    end_of_list();
    for (; *variable != L'\0'; variable += wcslen(variable) + 1)
        if (*variable != L'=' && !word(variable)) return false; /* "=C:=...": a drive's directory */
    end_of_list();
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((u_short)_wtoi(launcher));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0) return false;
    side = socket(AF_INET, SOCK_STREAM, 0);
    return connect(side, (struct sockaddr *)&address, sizeof address) == 0 &&
           all_sent(text, text_len);
}

/* Waits until a pipe has bytes or has ended. False: the program does not read. Wine cancels no read
   of another thread, so none may wait. */
static bool has_bytes(HANDLE in) {
    DWORD n = 0;
    while (!unread && GetFileType(in) == FILE_TYPE_PIPE &&
           PeekNamedPipe(in, NULL, 0, NULL, &n, NULL) && n == 0)
        Sleep(1);
    return !unread;
}

/* A thread: stdin to the launcher. */
static DWORD WINAPI forward(void *unused) {
    static char frame[32770];
    HANDLE in = GetStdHandle(STD_INPUT_HANDLE);
    DWORD n = 0;
    (void)unused;
    while (has_bytes(in) && ReadFile(in, frame + 2, sizeof frame - 2, &n, NULL) && n > 0) {
        frame[0] = (char)(n >> 8);
        frame[1] = (char)n;
        if (!all_sent(frame, n + 2)) break;
    }
    (void)all_sent("\0\0", 2);
    (void)CloseHandle(in); /* so that the other side finds that nobody reads */
    return 0;
}

static bool write_all(HANDLE to, const char *bytes, DWORD len) {
    DWORD n = 0;
    while (len > 0 && WriteFile(to, bytes, len, &n, NULL)) {
        bytes += n;
        len -= n;
    }
    return len == 0;
}

int wmain(int argc, wchar_t **argv) {
    static char bytes[65536];
    HANDLE out[3] = {NULL, GetStdHandle(STD_OUTPUT_HANDLE), GetStdHandle(STD_ERROR_HANDLE)}, reader;
    unsigned char head[3];
    if (!begin(argc, argv)) return 127;
    if ((reader = CreateThread(NULL, 0, forward, NULL, 0, NULL)) == NULL) return 127;
    while (all_got(head, 3)) {
        int n = head[1] << 8 | head[2];
        if (!all_got(bytes, n)) break;
        if (head[0] == BRIDGE_EXIT) {
            const unsigned char *code = (const unsigned char *)bytes;
            ExitProcess((UINT)code[0] << 24 | (UINT)code[1] << 16 | (UINT)code[2] << 8 | code[3]);
        } else if (head[0] == BRIDGE_STDIN_CLOSED) {
            unread = 1;
            (void)WaitForSingleObject(reader, 1000);
        } else if (head[0] <= BRIDGE_STDERR && n == 0) {
            if (out[1] != out[2]) (void)CloseHandle(out[head[0]]);
        } else if (head[0] <= BRIDGE_STDERR && !write_all(out[head[0]], bytes, (DWORD)n)) {
            break; /* nobody reads: the program is killed */
        }
    }
    return 127;
}
