/* os_windows.c - see os.h and posix_on_windows.h. */
#include "support/os.h"

#if defined(_WIN32) && !defined(_MSC_VER)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <winsock2.h>
#include <windows.h>

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <tlhelp32.h>

#include "support/posix_on_windows.h"

enum { OS_FILES = 2048, OS_CHILDREN = 64 };

static DWORD os__before[OS_CHILDREN];
static size_t os__before_count;
static size_t os__children(DWORD *out, size_t cap);

static void os__ignore(const wchar_t *a, const wchar_t *b, const wchar_t *c, unsigned line,
                       uintptr_t more) {
    (void)a;
    (void)b;
    (void)c;
    (void)line;
    (void)more;
}

static LONG WINAPI os__crash(EXCEPTION_POINTERS *what) {
    printf("crashed: exception %lx at %p\n", (unsigned long)what->ExceptionRecord->ExceptionCode,
           what->ExceptionRecord->ExceptionAddress);
    (void)fflush(stdout);
    TerminateProcess(GetCurrentProcess(), 3);
    return EXCEPTION_EXECUTE_HANDLER;
}

/* A crash ends the program, without a dialog or a debugger. */
void test_os_begin(void) {
    _fmode = _O_BINARY;
    (void)_setmode(1, _O_BINARY);
    (void)_setmode(2, _O_BINARY);
    (void)setvbuf(stdout, NULL, _IOFBF, 1 << 12);
    (void)_set_invalid_parameter_handler(os__ignore);
    os__before_count = os__children(os__before, OS_CHILDREN);
    (void)SetUnhandledExceptionFilter(os__crash);
    (void)SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
}

void test_os_descriptors(bool *open, int count) {
    int fd;
    for (fd = 0; fd < count; fd++) open[fd] = _get_osfhandle(fd) >= 0;
}

/* Children of this process's number. Those that were there before it are of a process that had the
   same number and has ended. */
static size_t os__children(DWORD *out, size_t cap) {
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
    PROCESSENTRY32 one;
    size_t n = 0;
    bool more;
    if (all == INVALID_HANDLE_VALUE) return 0;
    memset(&one, 0, sizeof one);
    one.dwSize = sizeof one;
    for (more = Process32First(all, &one); more && n < cap; more = Process32Next(all, &one))
        if (one.th32ParentProcessID == GetCurrentProcessId() &&
            strcmp(one.szExeFile, "conhost.exe") != 0)
            out[n++] = one.th32ProcessID;
    (void)CloseHandle(all);
    return n;
}

const char *test_os_child_left(long *pid) {
    DWORD now[OS_CHILDREN];
    size_t n = os__children(now, OS_CHILDREN), i, k;
    *pid = 0;
    for (i = 0; i < n && *pid == 0; i++) {
        for (k = 0; k < os__before_count && os__before[k] != now[i];) k++;
        if (k == os__before_count) *pid = (long)now[i];
    }
    if (*pid != 0) { /* it is not the next test's */
        HANDLE child = OpenProcess(PROCESS_TERMINATE, FALSE, (DWORD)*pid);
        if (child != NULL) (void)TerminateProcess(child, 1);
        if (child != NULL) (void)CloseHandle(child);
    }
    return *pid != 0 ? "a child running" : NULL;
}

/* Wine's DeleteFile removes what a link names, not the link: rm does it there. */
void test_os_remove_tree(const char *path) {
    char name[MAX_PATH * 4];
    WIN32_FIND_DATAA one;
    HANDLE all;
    if (getenv("PHI_LAUNCHER") != NULL && strstr(path, "/build/tmp_") != NULL) {
        (void)snprintf(name, sizeof name, "rm -rf '%s'", path);
        (void)test_os_shell(name);
        return;
    }
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
    if (at > out && at[-1] == '/') at[-1] = '\0'; /* the root of a drive */
    return true;
}

bool test_os_make_temp(char *path) {
    (void)_mkdir("build");
    return mkdtemp(path) != NULL;
}

/* ---- servers beside a test ---- */

/* Words to the launcher, each ended by a zero byte, and one more at the end. The first is the
   launcher's name, "PORT:TOKEN". */
bool test_os_spawn(const char *const *argv, int *to, int *from) {
    const char *name = getenv("PHI_LAUNCHER");
    int fd = name != NULL ? test_os_connect(atoi(name)) : -1;
    if (fd < 0) {
        printf("no launcher: make windows starts it\n");
        return false;
    }
    *to = *from = fd;
    if (test_os_write(fd, name, strlen(name) + 1) < 0) return false;
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

int test_os_shell(const char *command) {
    static const char tail[] = " ; printf '\\nexit %d' $?";
    const char *words[] = {"/bin/sh", "-c", NULL, NULL};
    size_t n = strlen(command), len;
    char *text = (char *)malloc(n + sizeof tail + 8), said[4096], *last;
    int to = -1, from = -1, code = -1;
    long got;
    if (text == NULL) abort();
    memcpy(text, command, n);
    memcpy(text + n, tail, sizeof tail);
    words[2] = text;
    if (test_os_spawn(words, &to, &from)) {
        test_os_finish(to);
        for (len = 0; (got = test_os_read(from, said + len, sizeof said - 1 - len)) > 0;) {
            len += (size_t)got;
            if (len < sizeof said / 2) continue;
            memmove(said, said + len - 100, 100); /* the end is what is wanted */
            len = 100;
        }
        said[len] = '\0';
        for (last = said; (last = strstr(last, "\nexit ")) != NULL; last++) code = atoi(last + 6);
    }
    if (from >= 0) test_os_close(from);
    free(text);
    return code;
}

static int os__none(void) {
    errno = ENOSYS;
    return -1;
}

int fork(void) { return os__none(); }
/* 0: the system below Wine gives all rights. */
unsigned geteuid(void) {
    return getenv("PHI_LAUNCHER") != NULL && test_os_shell("test $(id -u) = 0") == 0 ? 0 : 1000;
}

int pause(void) { return os__none(); }

char *realpath(const char *path, char *out) {
    char *at = _fullpath(out, path, 4096);
    for (; at != NULL && *at != '\0'; at++)
        if (*at == '\\') *at = '/';
    return at != NULL ? out : NULL;
}

int pipe(int *fds) { return _pipe(fds, 1 << 16, _O_BINARY); }

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
    (void)from_dir;
    (void)from;
    (void)to_dir;
    (void)to;
    (void)flags;
    return os__none();
}

int openat(int dir, const char *path, int flags, ...) {
    (void)dir;
    (void)path;
    (void)flags;
    return os__none();
}

int mkdirat(int dir, const char *path, int mode) { return openat(dir, path, mode); }

int setitimer(int which, const struct itimerval *value, struct itimerval *old) {
    (void)which;
    (void)value;
    (void)old;
    return os__none();
}

/* The system below Wine makes the link, and only to a place in build/: Wine removes a link's target
   in place of the link. On Windows a directory may need a junction, because links need a right. */
int symlink(const char *target, const char *path) {
    char line[8192], place[4096];
    size_t n = strlen(path);
    DWORD found;
    if (getenv("PHI_LAUNCHER") != NULL) {
        (void)snprintf(
            line, sizeof line,
            "p=$(realpath -ms '%s'); t=$(cd \"$(dirname \"$p\")\" && realpath -m '%s'); "
            "case $t in \"$PWD\"/build | \"$PWD\"/build/*) ln -s '%s' \"$p\" ;; *) exit 9 ;; esac",
            path, target, target);
        return test_os_shell(line) == 0 ? 0 : os__none();
    }
    while (n > 0 && path[n - 1] != '/') n--;
    (void)snprintf(place, sizeof place, "%.*s%s", strchr(target, ':') != NULL ? 0 : (int)n, path,
                   target);
    found = GetFileAttributesA(place);
    if (found == INVALID_FILE_ATTRIBUTES) found = 0;
    if (CreateSymbolicLinkA(path, target, ((found & FILE_ATTRIBUTE_DIRECTORY) != 0 ? 1 : 0) | 2))
        return 0;
    if ((found & FILE_ATTRIBUTE_DIRECTORY) == 0) return os__none();
    n = (size_t)snprintf(line, sizeof line, "mklink /J \"%s\" \"%s\" >nul", path, place);
    for (; n > 10; n--)
        if (line[n] == '/') line[n] = '\\';
    return (system)(line) == 0 ? 0 : os__none();
}

int link(const char *path, const char *more) {
    return CreateHardLinkA(more, path, NULL) ? 0 : os__none();
}

int mkfifo(const char *path, int mode) {
    (void)path;
    (void)mode;
    return os__none();
}

long readlink(const char *path, char *out, size_t cap) {
    (void)path;
    (void)out;
    (void)cap;
    return os__none();
}

int chown(const char *path, int user, int group) {
    (void)path;
    (void)user;
    (void)group;
    return os__none();
}

/* ---- windows/sys/wait.h, windows/sys/resource.h, windows/signal.h ---- */

int test_waitpid(long pid, int *status, int flags) {
    (void)pid;
    (void)flags;
    if (status != NULL) *status = 0;
    errno = ECHILD;
    return -1;
}

int getrlimit(int what, struct rlimit *out) {
    (void)what;
    out->rlim_cur = out->rlim_max = RLIM_INFINITY;
    return 0;
}

int setrlimit(int what, const struct rlimit *limit) {
    (void)what;
    (void)limit;
    return os__none();
}

/* Of a process that Windows knows: looks for it, or ends it. */
int kill(int pid, int number) {
    HANDLE it;
    bool lives;
    if (pid <= 0 || (number != 0 && number != SIGKILL)) return os__none();
    it = OpenProcess(SYNCHRONIZE | PROCESS_TERMINATE, FALSE, (DWORD)pid);
    lives = it != NULL && WaitForSingleObject(it, 0) == WAIT_TIMEOUT;
    if (lives && number == SIGKILL) (void)TerminateProcess(it, SIGKILL);
    if (it != NULL) (void)CloseHandle(it);
    if (!lives) errno = ESRCH;
    return lives ? 0 : -1;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    (void)number;
    (void)action;
    if (old != NULL) memset(old, 0, sizeof *old);
    return os__none();
}

int sigemptyset(test_sigset *set) {
    set->bits = 0;
    return 0;
}

int sigaddset(test_sigset *set, int number) {
    set->bits |= 1ull << number;
    return 0;
}

int sigismember(const test_sigset *set, int number) { return (set->bits >> number & 1) != 0; }

int sigprocmask(int how, const test_sigset *set, test_sigset *old) {
    (void)how;
    (void)set;
    if (old != NULL) old->bits = 0;
    return 0;
}

int sigpending(test_sigset *set) {
    set->bits = 0;
    return 0;
}

/* ---- windows/sys/socket.h ---- */

static int os__errno(void) {
    switch (WSAGetLastError()) {
    case WSAEWOULDBLOCK: return EAGAIN;
    case WSAECONNRESET: return ECONNRESET;
    case WSAECONNABORTED: return ECONNABORTED;
    case WSAECONNREFUSED: return ECONNREFUSED;
    case WSAESHUTDOWN: return EPIPE;
    case WSAEADDRINUSE: return EADDRINUSE;
    case WSAENOTCONN: return ENOTCONN;
    case WSAENOTSOCK: return ENOTSOCK;
    default: return EINVAL;
    }
}

static int os__said(int result) {
    if (result < 0) errno = os__errno();
    return result;
}

static bool os__is_socket(int fd) {
    int type, len = sizeof type;
    return fd > 2 && getsockopt((SOCKET)fd, SOL_SOCKET, SO_TYPE, (char *)&type, &len) == 0;
}

static int os__blocking(int fd, bool blocks) {
    u_long no = blocks ? 0 : 1;
    return os__said(ioctlsocket((SOCKET)fd, (long)FIONBIO, &no));
}

/* The header has structs of its own, so this file repeats what it declares. */
int test_socket(int family, int type, int protocol);
int test_socketpair(int family, int type, int protocol, int *fds);
int test_accept(int fd, struct sockaddr *address, int *len);
int test_bind(int fd, const struct sockaddr *address, int len);
int test_listen(int fd, int backlog);
int test_connect(int fd, const struct sockaddr *address, int len);
int test_shutdown(int fd, int how);
int test_getsockname(int fd, struct sockaddr *address, int *len);
int test_getsockopt(int fd, int level, int name, void *value, int *len);
int test_setsockopt(int fd, int level, int name, const void *value, size_t len);
ptrdiff_t test_send(int fd, const void *bytes, size_t len, int flags);
ptrdiff_t test_recv(int fd, void *out, size_t cap, int flags);
struct os__poll {
    int fd;
    int16_t events, revents;
};
int test_poll(struct os__poll *fds, size_t count, int timeout_ms);

int test_socket(int family, int type, int protocol) {
    WSADATA data;
    SOCKET fd;
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0) return -1;
    fd = WSASocketW(family, type & 0xff, protocol, NULL, 0,
                    WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (fd == INVALID_SOCKET) return os__said(-1);
    if ((type & 0x200) != 0) (void)os__blocking((int)fd, false);
    return (int)fd;
}

int test_socketpair(int family, int type, int protocol, int *fds) {
    struct sockaddr_in address;
    int len = sizeof address, listener = test_socket(AF_INET, SOCK_STREAM, 0);
    (void)family;
    (void)protocol;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fds[0] = fds[1] = -1;
    if (listener >= 0 && bind((SOCKET)listener, (struct sockaddr *)&address, len) == 0 &&
        listen((SOCKET)listener, 1) == 0 &&
        getsockname((SOCKET)listener, (struct sockaddr *)&address, &len) == 0) {
        fds[0] = test_socket(AF_INET, SOCK_STREAM, 0);
        if (connect((SOCKET)fds[0], (struct sockaddr *)&address, len) == 0)
            fds[1] = (int)accept((SOCKET)listener, NULL, NULL);
    }
    if (listener >= 0) (void)closesocket((SOCKET)listener);
    if (fds[1] < 0) {
        if (fds[0] >= 0) (void)closesocket((SOCKET)fds[0]);
        return os__said(-1);
    }
    if ((type & 0x200) != 0) (void)(os__blocking(fds[0], false) + os__blocking(fds[1], false));
    return 0;
}

int test_accept(int fd, struct sockaddr *address, int *len) {
    SOCKET got = accept((SOCKET)fd, address, len);
    return got == INVALID_SOCKET ? os__said(-1) : (int)got;
}

int test_bind(int fd, const struct sockaddr *address, int len) {
    return os__said(bind((SOCKET)fd, address, len));
}

int test_listen(int fd, int backlog) { return os__said(listen((SOCKET)fd, backlog)); }

int test_connect(int fd, const struct sockaddr *address, int len) {
    int result = os__said(connect((SOCKET)fd, address, len));
    if (result < 0 && errno == EAGAIN) errno = EINPROGRESS;
    return result;
}

int test_shutdown(int fd, int how) { return os__said(shutdown((SOCKET)fd, how)); }

int test_getsockname(int fd, struct sockaddr *address, int *len) {
    return os__said(getsockname((SOCKET)fd, address, len));
}

int test_getsockopt(int fd, int level, int name, void *value, int *len) {
    return os__said(getsockopt((SOCKET)fd, level, name, (char *)value, len));
}

int test_setsockopt(int fd, int level, int name, const void *value, size_t len) {
    return os__said(setsockopt((SOCKET)fd, level, name, (const char *)value, (int)len));
}

ptrdiff_t test_send(int fd, const void *bytes, size_t len, int flags) {
    return os__said(send((SOCKET)fd, (const char *)bytes, (int)len, flags));
}

/* MSG_DONTWAIT (0x10000) looks first. */
ptrdiff_t test_recv(int fd, void *out, size_t cap, int flags) {
    WSAPOLLFD one;
    one.fd = (SOCKET)fd;
    one.events = POLLRDNORM;
    if ((flags & 0x10000) != 0 && WSAPoll(&one, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return os__said(recv((SOCKET)fd, (char *)out, (int)cap, flags & 0xffff));
}

static bool os__nonblocking[OS_FILES];

/* A pipe that does not wait takes all bytes or none, so fewer are tried. */
static ptrdiff_t os__write_some(int fd, const char *bytes, size_t len) {
    HANDLE pipe = (HANDLE)_get_osfhandle(fd);
    DWORD mode = PIPE_NOWAIT, back = PIPE_WAIT, n = 0;
    BOOL good = SetNamedPipeHandleState(pipe, &mode, NULL, NULL);
    for (; good && n == 0 && len > 0; len /= 2) good = WriteFile(pipe, bytes, (DWORD)len, &n, NULL);
    (void)SetNamedPipeHandleState(pipe, &back, NULL, NULL);
    if (n > 0) return (ptrdiff_t)n;
    errno = good ? EAGAIN : EPIPE;
    return -1;
}

ptrdiff_t test_write(int fd, const void *bytes, size_t len) {
    if (os__is_socket(fd)) return test_send(fd, bytes, len, 0);
    if (fd >= 0 && fd < OS_FILES && os__nonblocking[fd])
        return os__write_some(fd, (const char *)bytes, len);
    return _write(fd, bytes, (unsigned)len);
}

/* Bytes that wait in a pipe; -1: it has ended, or is none. */
static int os__waiting(int fd) {
    DWORD bytes = 0;
    return PeekNamedPipe((HANDLE)_get_osfhandle(fd), NULL, 0, NULL, &bytes, NULL) ? (int)bytes : -1;
}

ptrdiff_t test_read(int fd, void *out, size_t cap) {
    if (os__is_socket(fd)) return test_recv(fd, out, cap, 0);
    if (fd >= 0 && fd < OS_FILES && os__nonblocking[fd] && os__waiting(fd) == 0) {
        errno = EAGAIN;
        return -1;
    }
    return _read(fd, out, (unsigned)cap);
}

int test_close(int fd) {
    if (os__is_socket(fd)) return os__said(closesocket((SOCKET)fd));
    if (fd >= 0 && fd < OS_FILES) os__nonblocking[fd] = false;
    return _close(fd);
}

static int os__ready(int fd, int16_t events) {
    WSAPOLLFD one;
    int waiting;
    if (!os__is_socket(fd)) {
        waiting = os__waiting(fd);
        if ((events & POLLIN) == 0) return events & POLLOUT;
        return waiting > 0 ? POLLIN : waiting < 0 ? POLLHUP : 0;
    }
    one.fd = (SOCKET)fd;
    one.events = events;
    one.revents = 0;
    return WSAPoll(&one, 1, 0) > 0 ? one.revents : 0;
}

int test_poll(struct os__poll *fds, size_t count, int timeout_ms) {
    ULONGLONG until = GetTickCount64() + (ULONGLONG)timeout_ms;
    for (;;) {
        int found = 0;
        size_t i;
        for (i = 0; i < count; i++) {
            fds[i].revents = fds[i].fd < 0 ? 0 : (int16_t)os__ready(fds[i].fd, fds[i].events);
            found += fds[i].revents != 0;
        }
        if (found > 0 || (timeout_ms >= 0 && GetTickCount64() >= until)) return found;
        Sleep(1);
    }
}

/* F_SETFL with O_NONBLOCK; the others are true of every descriptor that is open. */
static int os__fcntl(int fd, int what, long flags) {
    if (!os__is_socket(fd) && _get_osfhandle(fd) < 0) {
        errno = EBADF;
        return -1;
    }
    if (what != F_SETFL) return 0;
    if (os__is_socket(fd)) return os__blocking(fd, (flags & O_NONBLOCK) == 0);
    if (fd < OS_FILES) os__nonblocking[fd] = (flags & O_NONBLOCK) != 0;
    return 0;
}

int test_fcntl(int fd, int what, ...) {
    va_list more;
    long flags;
    va_start(more, what);
    flags = what == F_SETFL ? va_arg(more, int) : 0;
    va_end(more);
    return os__fcntl(fd, what, flags);
}

long syscall(long number, ...) {
    va_list more;
    int fd, what;
    long flags;
    va_start(more, number);
    fd = va_arg(more, int);
    what = va_arg(more, int);
    flags = va_arg(more, long);
    va_end(more);
    return number == SYS_fcntl ? os__fcntl(fd, what, flags) : os__none();
}
#endif
