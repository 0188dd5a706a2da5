/* sys/resource.h - limits of a process, which Windows has not: see posix_on_windows.h. */
#ifndef PHI_TESTS_SUPPORT_WINDOWS_SYS_RESOURCE_H
#define PHI_TESTS_SUPPORT_WINDOWS_SYS_RESOURCE_H

#include <signal.h> /* as glibc does */
#include <stdint.h>
#include <sys/types.h>

typedef uint64_t rlim_t;
struct rlimit {
    rlim_t rlim_cur, rlim_max;
};
enum { RLIMIT_NOFILE = 7, RLIMIT_FSIZE = 1, RLIMIT_AS = 9, RLIMIT_CORE = 4 };
#define RLIM_INFINITY UINT64_MAX

int getrlimit(int what, struct rlimit *out);
int setrlimit(int what, const struct rlimit *limit);

#endif
