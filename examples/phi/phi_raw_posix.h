/* phi_raw_posix.h - the terminal of the command on POSIX. phi_raw_windows.h has the same functions. */
#ifndef PHI_RAW_POSIX_H
#define PHI_RAW_POSIX_H

#include "phi_text.h"
#include "../typed.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>

static struct termios keys_before;
/* keys_resized: the signal, or 1: all is to be drawn again. */
static volatile sig_atomic_t keys_raw, keys_resized, keys_stopped, keys_signal;

/* ---- standard streams ---- */

/* Waits for input; false: none came, or a signal did. */
static inline bool keys_waits(int timeout_ms) { return typed_waits(timeout_ms); }

/* Waits for input or for another descriptor (-1: none). */
static inline void keys_wait(intptr_t other, int timeout_ms) {
    struct pollfd two[2] = {{0, POLLIN, 0}, {(int)other, POLLIN, 0}};
    (void)poll(two, other >= 0 ? 2 : 1, timeout_ms);
}

static inline void keys_sleep(int ms) { (void)poll(NULL, 0, ms); }

/* What was typed so far is lost. */
static inline void keys_forget(void) { (void)tcflush(0, TCIFLUSH); }

/* Makes the terminal standard input, so that questions are answered there, if this program may read it now. */
static inline void keys_terminal(void) {
    int fd = isatty(0) ? -1 : open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && tcgetpgrp(fd) == getpgrp()) (void)dup2(fd, 0);
    if (fd >= 0) (void)close(fd);
}

/* As write(). */
static inline ptrdiff_t keys_write(const char *at, size_t n) { return write(1, at, n); }

static inline void keys_wait_write(int timeout_ms) {
    struct pollfd out = {1, POLLOUT, 0};
    (void)poll(&out, 1, timeout_ms);
}

/* Nobody reads the output any more. */
static inline bool keys_unread(void) {
    struct pollfd out = {1, 0, 0};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

/* Both 0: unknown. Of the terminal with the questions where the answer goes elsewhere. */
static inline void keys_size(int *columns, int *rows) {
    struct winsize size = PHI_ZERO;
    if (ioctl(1, TIOCGWINSZ, &size) != 0) (void)ioctl(2, TIOCGWINSZ, &size);
    *columns = size.ws_col;
    *rows = size.ws_row;
}

/* The terminal knows no sequences. */
static inline bool keys_dumb(void) {
    const char *term = getenv("TERM");
    return term == NULL || strcmp(term, "dumb") == 0;
}

/* A socket that no program inherits; -1: there is none. */
static inline int keys_socket(int family, int type, int protocol) {
    int fd = socket(family, type, protocol);
    if (fd >= 0) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

/* The terminal knows the sequences of styles, also if phi does not draw on it. */
static inline bool keys_styles(void) { return !keys_dumb(); }

/* ---- raw mode ---- */

static inline uint64_t keys_now_ms(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Safe in a signal handler. What was typed or pasted for the program, and not read, is no command for the shell. */
static inline void keys_restore(void) {
    static const char sane[] = "\033[?2004l\033[?2026l\033[?25h\033[0m";
    if (!keys_raw) return;
    keys_raw = 0;
    if (write(1, sane, sizeof sane - 1) < 0) return; /* the terminal is gone */
    (void)tcsetattr(0, TCSAFLUSH, &keys_before);
}

static inline void keys_begin(void) {
    struct termios raw = keys_before;
    raw.c_iflag &= (tcflag_t) ~(BRKINT | ICRNL | INLCR | IXON);
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO | IEXTEN | ISIG);
    raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
    (void)tcsetattr(0, TCSADRAIN, &raw);
    keys_raw = write(1, "\033[?2004h", 8) == 8 ? 1 : 2; /* pastes come in brackets */
}

static void keys_on_signal(int number) {
    bool shown = number == SIGWINCH || number == SIGCONT;
    if (number == SIGCONT && keys_raw) keys_begin(); /* SIGSTOP: the shell has set its own */
    *(number == SIGTSTP ? &keys_stopped : shown ? &keys_resized : &keys_signal) = number;
}

static void keys_on_crash(int number) {
    keys_restore();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static inline void keys_catch(const int *numbers, void (*handler)(int), int flags) {
    struct sigaction action = PHI_ZERO;
    action.sa_handler = handler;
    action.sa_flags = flags;
    for (; *numbers != 0; numbers++) (void)sigaction(*numbers, &action, NULL);
}

/* They only set keys_signal, and keys_resized: the program looks, and ends its runs, or shows its question again. A pipe
   that closes is seen where it is written to. */
static inline void keys_catch_signals(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};
    static const int shown[] = {SIGWINCH, SIGCONT, 0};
    (void)signal(SIGPIPE, SIG_IGN);
    keys_catch(ends, keys_on_signal, 0);
    keys_catch(shown, keys_on_signal,
               (int)SA_RESTART); /* a question that is written is written whole */
}

/* False: standard input is no terminal. */
static inline bool keys_open(void) {
    static const int stop[] = {SIGTSTP, 0};
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, 0};
    if (tcgetattr(0, &keys_before) != 0) return false;
    keys_catch_signals();
    keys_catch(stop, keys_on_signal, 0);
    keys_catch(crashes, keys_on_crash, (int)SA_RESETHAND);
    (void)atexit(keys_restore);
    keys_begin();
    return true;
}

/* Ctrl+Z, or keys_stopped: until the shell continues the program. */
static inline void keys_suspend(void) {
    static const int stop[] = {SIGTSTP, 0};
    keys_restore();
    keys_catch(stop, SIG_DFL, 0);
    (void)raise(SIGTSTP);
    keys_catch(stop, keys_on_signal, 0);
    keys_begin();
    keys_stopped = 0;
    keys_resized = SIGCONT;
}

#endif
