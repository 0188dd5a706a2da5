/* os_windows.c - see os.h and posix_on_windows.h. */
#include "support/os.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <winsock2.h>
#include <windows.h>

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tlhelp32.h>

#include "support/posix_on_windows.h"

static void os__ignore(const wchar_t *a, const wchar_t *b, const wchar_t *c, unsigned line,
                       uintptr_t more) {
    (void)a;
    (void)b;
    (void)c;
    (void)line;
    (void)more;
}

/* A crash ends the program with its code, without a dialog or a debugger. */
void test_os_begin(void) {
    _fmode = _O_BINARY;
    (void)_setmode(1, _O_BINARY);
    (void)_setmode(2, _O_BINARY);
    (void)setvbuf(stdout, NULL, _IOFBF, 1 << 12);
    (void)_set_invalid_parameter_handler(os__ignore);
    (void)SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
}

void test_os_descriptors(bool *open, int count) {
    int fd;
    for (fd = 0; fd < count; fd++) open[fd] = _get_osfhandle(fd) >= 0;
}

const char *test_os_child_left(long *pid) {
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    PROCESSENTRY32 one;
    bool more, found = false;
    *pid = 0;
    if (all == INVALID_HANDLE_VALUE) return NULL;
    memset(&one, 0, sizeof one);
    one.dwSize = sizeof one;
    for (more = Process32First(all, &one); more && !found; more = Process32Next(all, &one)) {
        found = one.th32ParentProcessID == GetCurrentProcessId() &&
                strcmp(one.szExeFile, "conhost.exe") != 0;
        if (found) *pid = (long)one.th32ProcessID;
    }
    (void)CloseHandle(all);
    return found ? "a child running" : NULL;
}

void test_os_remove_tree(const char *path) {
    char name[MAX_PATH * 4];
    WIN32_FIND_DATAA one;
    HANDLE all;
    (void)snprintf(name, sizeof name, "%s/*", path);
    all = FindFirstFileA(name, &one);
    if (all != INVALID_HANDLE_VALUE) {
        do {
            if (strcmp(one.cFileName, ".") == 0 || strcmp(one.cFileName, "..") == 0) continue;
            (void)snprintf(name, sizeof name, "%s/%s", path, one.cFileName);
            (void)SetFileAttributesA(name, FILE_ATTRIBUTE_NORMAL);
            if ((one.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0)
                (void)DeleteFileA(name);
            else if ((one.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0)
                test_os_remove_tree(name);
            else
                (void)RemoveDirectoryA(name);
        } while (FindNextFileA(all, &one));
        (void)FindClose(all);
    }
    (void)RemoveDirectoryA(path);
}

bool test_os_here(char *out, size_t cap) {
    char *at;
    if (_getcwd(out, (int)cap) == NULL) return false;
    for (at = out; *at != '\0'; at++)
        if (*at == '\\') *at = '/';
    return true;
}

bool test_os_make_temp(char *path) {
    (void)_mkdir("build");
    return mkdtemp(path) != NULL;
}

/* ---- servers beside a test ---- */

/* Words to the launcher, each ended by a zero byte, and one more at the end. */
bool test_os_spawn(const char *const *argv, int *to, int *from) {
    const char *port = getenv("PHI_LAUNCHER");
    int fd = port != NULL ? test_os_connect(atoi(port)) : -1;
    if (fd < 0) {
        printf("no launcher: make windows starts it\n");
        return false;
    }
    *to = *from = fd;
    for (; *argv != NULL; argv++) {
        long len = (long)strlen(*argv) + 1;
        if (test_os_write(fd, *argv, (size_t)len) != len) return false;
    }
    return test_os_write(fd, "", 1) == 1;
}

/* Handles of sockets are small numbers. They do not go to children of the test. */
int test_os_connect(int port) {
    struct sockaddr_in address;
    WSADATA data;
    SOCKET fd;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0) return -1;
    fd = WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0,
                    WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((u_short)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd != INVALID_SOCKET && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return (int)fd;
    if (fd != INVALID_SOCKET) (void)closesocket(fd);
    return -1;
}

long test_os_read(int fd, char *out, size_t cap) { return recv((SOCKET)fd, out, (int)cap, 0); }

long test_os_write(int fd, const char *bytes, size_t len) {
    return send((SOCKET)fd, bytes, (int)len, 0);
}

void test_os_finish(int to) { (void)shutdown((SOCKET)to, SD_SEND); }
void test_os_close(int fd) { (void)closesocket((SOCKET)fd); }

/* ---- posix_on_windows.h ---- */

int setenv(const char *name, const char *value, int overwrite) {
    if (!overwrite && getenv(name) != NULL) return 0;
    /* libcurl and phi may ask the C library or the system. */
    (void)SetEnvironmentVariableA(name, value);
    return _putenv_s(name, value);
}

int unsetenv(const char *name) {
    (void)SetEnvironmentVariableA(name, NULL);
    return _putenv_s(name, "");
}

char *mkdtemp(char *pattern) {
    static unsigned count;
    size_t len = strlen(pattern);
    int tries;
    if (len < 6 || strcmp(pattern + len - 6, "XXXXXX") != 0) return NULL;
    for (tries = 0; tries < 100; tries++) {
        unsigned n = (unsigned)GetCurrentProcessId() * 977u + GetTickCount() + 7919u * count++;
        (void)snprintf(pattern + len - 6, 7, "%06x", n & 0xffffffu);
        if (_mkdir(pattern) == 0) return pattern;
    }
    return NULL;
}
#endif
