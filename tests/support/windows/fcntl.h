/* fcntl.h - with the names of POSIX that mingw lacks: see posix_on_windows.h. */
#ifndef PHI_TESTS_SUPPORT_WINDOWS_FCNTL_H
#define PHI_TESTS_SUPPORT_WINDOWS_FCNTL_H

#include_next <fcntl.h>

enum { O_DIRECTORY = 0, O_NOFOLLOW = 0, AT_FDCWD = -100, AT_SYMLINK_NOFOLLOW = 1 };

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
int openat(int dir, const char *path, int flags, ...);

#endif
