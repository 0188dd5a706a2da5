/* sys/wait.h - children of fork, which Windows has not: see posix_on_windows.h. */
#ifndef PHI_TESTS_SUPPORT_WINDOWS_SYS_WAIT_H
#define PHI_TESTS_SUPPORT_WINDOWS_SYS_WAIT_H

#include <sys/types.h>

enum { WNOHANG = 1, WUNTRACED = 2, WEXITED = 4, WNOWAIT = 8, P_ALL = 0, P_PID = 1 };
#define WIFEXITED(status) ((status) >= 0)
#define WEXITSTATUS(status) (status)
#define WIFSIGNALED(status) ((status) < 0)
#define WTERMSIG(status) (-(status))

typedef struct siginfo {
    int si_pid, si_status, si_code;
} siginfo_t;

int test_waitpid(long pid, int *status, int flags);
#define waitpid(pid, status, flags) test_waitpid(pid, status, flags)
#define waitid(kind, id, info, flags) ((void)(info), test_waitpid(0, NULL, flags))

#endif
