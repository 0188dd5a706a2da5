/* typed_posix.h - standard input and Ctrl+C on POSIX. typed_windows.h has the same functions. */
#ifndef TYPED_POSIX_H
#define TYPED_POSIX_H

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* 0: standard input, 1: output, 2: errors. */
static inline bool typed_is_terminal(int stream) { return isatty(stream) != 0; }

/* Waits for input. False: none came in that time (-1: without end), or a signal did. */
static inline bool typed_waits(int timeout_ms) {
    struct pollfd keys = {0, POLLIN, 0};
    return poll(&keys, 1, timeout_ms) > 0;
}

/* As read(): 0 at the end, below 0: errno. */
static inline ptrdiff_t typed_read(char *out, size_t size) { return read(0, out, size); }

/* Ctrl+C calls the handler, and a read that waits ends. */
static inline void typed_interrupt(void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    (void)sigaction(SIGINT, &action, NULL);
}

/* Keys come one by one and are not shown, until it is called with false. */
static inline void typed_raw(bool on) {
    static struct termios before;
    struct termios keys;
    if (on && tcgetattr(0, &before) != 0) return;
    keys = before;
    keys.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
    if (isatty(0)) (void)tcsetattr(0, TCSANOW, on ? &keys : &before);
}

#endif
