/* posix_on_windows.h - calls of POSIX that tests use and mingw lacks, or has in another form.

   scripts/windows.py includes it before each test; test sources stay as they are. Headers that
   mingw lacks are in support/windows/. */
#ifndef PHI_TESTS_SUPPORT_POSIX_ON_WINDOWS_H
#define PHI_TESTS_SUPPORT_POSIX_ON_WINDOWS_H

#ifdef _WIN32
/* No other headers: tests have functions of their own called read or open. */
#include <stdlib.h>
#include <string.h>

int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
char *mkdtemp(char *pattern);

/* Windows has nothing like these: they fail with ENOSYS, and tests/windows.txt names the tests that
   need them. */
int fork(void);
int mkdirat(int dir, const char *path, int mode);
int symlink(const char *target, const char *path);
int link(const char *path, const char *more);
int mkfifo(const char *path, int mode);
long readlink(const char *path, char *out, size_t cap);
int chown(const char *path, int user, int group);
unsigned geteuid(void);
int pause(void);

int pipe(int *fds);                          /* of the C library */
char *realpath(const char *path, char *out); /* the text of the path, with slashes */

/* A shell outside of Wine runs it, by the launcher of scripts/windows.py. */
int test_os_shell(const char *command);
#define system(command) test_os_shell(command)

#define mkdir(path, ...) _mkdir(path) /* rights are those of the directory above */
#define lstat stat
#define S_ISLNK(mode) 0
#endif

#endif
