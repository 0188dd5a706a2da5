/* sys/time.h - with the timers of POSIX, which Windows has not: see posix_on_windows.h. */
#ifndef PHI_TESTS_SUPPORT_WINDOWS_SYS_TIME_H
#define PHI_TESTS_SUPPORT_WINDOWS_SYS_TIME_H

#include_next <sys/time.h>

struct itimerval {
    struct timeval it_interval, it_value;
};
enum { ITIMER_REAL = 0 };

int setitimer(int which, const struct itimerval *value, struct itimerval *old);

#endif
