/* phi_raw.h - a terminal in raw mode. However the program ends, also by a signal, a crash or Ctrl+Z, the terminal gets
   its settings back. Copy what you need of it. */
#ifndef PHI_RAW_H
#define PHI_RAW_H

#include "phi_text.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static struct termios keys_before;
/* keys_resized: the signal, or 1: all is to be drawn again. */
static volatile sig_atomic_t keys_raw, keys_resized, keys_stopped, keys_signal;

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

/* They only set keys_signal, and keys_resized: the program looks, and ends its runs, or shows its question again. */
static inline void keys_catch_signals(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0};
    static const int shown[] = {SIGWINCH, SIGCONT, 0};
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
