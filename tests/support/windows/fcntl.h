/* fcntl.h - with the names of POSIX that mingw lacks: see posix_on_windows.h. */
#ifndef PHI_TESTS_SUPPORT_WINDOWS_FCNTL_H
#define PHI_TESTS_SUPPORT_WINDOWS_FCNTL_H

#include <stddef.h>
#include_next <fcntl.h>
#include <unistd.h>

enum {
    F_GETFD = 1,
    F_SETFD = 2,
    F_GETFL = 3,
    F_SETFL = 4,
    F_DUPFD_CLOEXEC = 1030,
    FD_CLOEXEC = 1,
    O_CLOEXEC = 0,
    O_NONBLOCK = 0x100000
};
enum { O_DIRECTORY = 0, O_NOFOLLOW = 0, AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 1 };

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
int openat(int dir, const char *path, int flags, ...);

/* Of sockets, too, and of pipes that O_NONBLOCK was set for. */
int test_fcntl(int fd, int what, ...);
ptrdiff_t test_write(int fd, const void *bytes, size_t len);
ptrdiff_t test_read(int fd, void *out, size_t cap);
int test_close(int fd);

#define fcntl test_fcntl
#define write(fd, bytes, len) test_write(fd, bytes, len)
#define read(fd, out, cap) test_read(fd, out, cap)
#define close(fd) test_close(fd)

#endif
