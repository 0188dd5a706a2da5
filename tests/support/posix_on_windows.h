/* posix_on_windows.h - calls of POSIX that tests use and mingw lacks, or has in another form.

   scripts/windows.py includes it before each test; test sources stay as they are. Tests about fork,
   signals, or kernels of Unix are in tests/windows.txt instead. */
#ifndef PHI_TESTS_SUPPORT_POSIX_ON_WINDOWS_H
#define PHI_TESTS_SUPPORT_POSIX_ON_WINDOWS_H

#ifdef _WIN32
/* No other headers: tests have functions of their own called read or open. */
#include <stdlib.h>
#include <string.h>

int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
char *mkdtemp(char *pattern);

#define mkdir(path, ...) _mkdir(path) /* rights are those of the directory above */
#define lstat stat
#define S_ISLNK(mode) 0
#endif

#endif
