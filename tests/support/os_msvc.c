/* os_msvc.c - os.h for tests that scripts/msvc.py builds: without servers beside a test, which
   os_windows.c has with mingw's C library. */
#include "support/os.h"

#if defined(_MSC_VER)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <direct.h>
#include <fcntl.h>
#include <io.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    (void)_set_invalid_parameter_handler(os__ignore);
    (void)SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
}

void test_os_descriptors(bool *open, int count) {
    int fd;
    for (fd = 0; fd < count; fd++) open[fd] = _get_osfhandle(fd) >= 0;
}

const char *test_os_child_left(long *pid) {
    *pid = 0;
    return NULL;
}

/* Removes a link, and nothing behind it. */
void test_os_remove_tree(const char *path) {
    char name[MAX_PATH * 4];
    WIN32_FIND_DATAA one;
    HANDLE all;
    (void)snprintf(name, sizeof name, "%s/*", path);
    all = FindFirstFileA(name, &one);
    if (all != INVALID_HANDLE_VALUE) {
        do {
            bool folder = (one.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
            bool link = (one.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
            if (strcmp(one.cFileName, ".") == 0 || strcmp(one.cFileName, "..") == 0) continue;
            (void)snprintf(name, sizeof name, "%s/%s", path, one.cFileName);
            if (!link) (void)SetFileAttributesA(name, FILE_ATTRIBUTE_NORMAL);
            if (folder && !link)
                test_os_remove_tree(name);
            else if (folder)
                (void)RemoveDirectoryA(name);
            else
                (void)DeleteFileA(name);
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
    if (at > out && at[-1] == '/') at[-1] = '\0'; /* the root of a drive */
    return true;
}

bool test_os_make_temp(char *path) {
    char *digits = path + strlen(path) - 6;
    unsigned number = (unsigned)GetCurrentProcessId();
    int tries;
    (void)_mkdir("build");
    for (tries = 0; tries < 1000; tries++) {
        (void)snprintf(digits, 7, "%06u", number++ % 1000000);
        if (_mkdir(path) == 0) return true;
    }
    return false;
}

bool test_os_spawn(const char *const *argv, int *to, int *from) {
    (void)argv;
    *to = *from = -1;
    return false;
}

int test_os_connect(int port) {
    (void)port;
    return -1;
}

long test_os_read(int fd, char *out, size_t cap) {
    (void)fd;
    (void)out;
    (void)cap;
    return -1;
}

long test_os_write(int fd, const char *bytes, size_t len) {
    (void)fd;
    (void)bytes;
    (void)len;
    return -1;
}

void test_os_finish(int to) { (void)to; }
void test_os_close(int fd) { (void)fd; }
#endif
