/* sys/syscall.h - see posix_on_windows.h. */
#ifndef PHI_TESTS_SUPPORT_WINDOWS_SYS_SYSCALL_H
#define PHI_TESTS_SUPPORT_WINDOWS_SYS_SYSCALL_H

enum { SYS_fcntl = 72 }; /* for a test that stands in for fcntl */

long syscall(long number, ...);

#endif
