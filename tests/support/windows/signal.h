/* signal.h - signals of POSIX, which Windows has not: see posix_on_windows.h. */
#ifndef PHI_TESTS_SUPPORT_WINDOWS_SIGNAL_H
#define PHI_TESTS_SUPPORT_WINDOWS_SIGNAL_H

#include_next <signal.h>

enum { SIGHUP = 1, SIGKILL = 9, SIGPIPE = 13, SIGALRM = 14, SIGCHLD = 17, SIGCONT = 18 };
enum { SIGSTOP = 19, SIGXFSZ = 25, SIGUSR1 = 10, SIGUSR2 = 12, SA_RESTART = 1, SA_SIGINFO = 2 };
enum { SIG_BLOCK = 0, SIG_UNBLOCK = 1, SIG_SETMASK = 2 };

typedef struct test_sigset {
    unsigned long long bits;
} test_sigset;
#define sigset_t test_sigset

struct sigaction {
    void (*sa_handler)(int signal);
    test_sigset sa_mask;
    int sa_flags;
};

int kill(int pid, int number);
int sigaction(int number, const struct sigaction *action, struct sigaction *old);
int sigemptyset(test_sigset *set);
int sigaddset(test_sigset *set, int number);
int sigismember(const test_sigset *set, int number);
int sigprocmask(int how, const test_sigset *set, test_sigset *old);
int sigpending(test_sigset *set);
#define pthread_sigmask(how, set, old) sigprocmask(how, set, old)

#endif
