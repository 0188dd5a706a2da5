/* os.h - what the harness asks of the operating system: open descriptors, children, directories.

   os_posix.c and os_windows.c have the same functions. posix_on_windows.h gives tests the few calls
   of POSIX that mingw lacks. */
#ifndef PHI_TESTS_SUPPORT_OS_H
#define PHI_TESTS_SUPPORT_OS_H

#include <stdbool.h>
#include <stddef.h>

/* Before the first test. On Windows, files that the C library opens become binary. */
void test_os_begin(void);

/* Says for each of `count` descriptors if it is open. */
void test_os_descriptors(bool *open, int count);

/* Says of which kind a child is that this process has left. NULL: there is none. `pid` gets its
   number, where the system tells it. */
const char *test_os_child_left(long *pid);

/* Removes a directory and all in it. */
void test_os_remove_tree(const char *path);

/* The absolute path of the working directory, with slashes. */
bool test_os_here(char *out, size_t cap);

/* Makes build/, and a directory with a name of its own. `path` ends in XXXXXX, which is replaced. */
bool test_os_make_temp(char *path);

/* ---- servers beside a test ---- */

/* Starts a program whose stdin and stdout are *to and *from. It is nobody's child. On Windows it
   runs where the launcher of scripts/windows.py runs, and *to and *from are one connection. */
bool test_os_spawn(const char *const *argv, int *to, int *from);

int test_os_connect(int port); /* to 127.0.0.1; -1: refused */

/* Of a descriptor from test_os_spawn or test_os_connect. Return as read and write do. */
long test_os_read(int fd, char *out, size_t cap);
long test_os_write(int fd, const char *bytes, size_t len);

void test_os_finish(int to); /* the other side reads the end; *from can still be read */
void test_os_close(int fd);

#endif
