/* os_posix.c - see os.h. */
#include "support/os.h"

#ifndef _WIN32
#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void test_os_begin(void) {}

void test_os_descriptors(bool *open, int count) {
    int fd;
    for (fd = 0; fd < count; fd++) open[fd] = fcntl(fd, F_GETFD) != -1;
}

const char *test_os_child_left(long *pid) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    *pid = 0;
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return NULL;
    *pid = (long)info.si_pid;
    while (waitpid(-1, NULL, WNOHANG) > 0) continue; /* it is not the next test's */
    return *pid != 0 ? "a dead child unreaped" : "a child running";
}

static int os__remove_one(const char *path, const struct stat *what, int kind, struct FTW *at) {
    (void)what;
    (void)kind;
    (void)at;
    return remove(path);
}

void test_os_remove_tree(const char *path) {
    (void)nftw(path, os__remove_one, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

bool test_os_here(char *out, size_t cap) { return getcwd(out, cap) != NULL; }

bool test_os_make_temp(char *path) {
    (void)mkdir("build", 0777);
    return mkdtemp(path) != NULL;
}

/* ---- servers beside a test ---- */

static bool os__pipe(int *fds) {
    if (pipe(fds) != 0) return false;
    (void)fcntl(fds[0], F_SETFD, FD_CLOEXEC); /* no tool that a test runs may hold them open */
    (void)fcntl(fds[1], F_SETFD, FD_CLOEXEC);
    return true;
}

/* The grandchild becomes the server: the harness looks for children that tests have left. */
static void os__become(const char *const *argv, int in, int out) {
    pid_t pid = fork();
    if (pid != 0) _exit(pid > 0 ? 0 : 1);
    (void)dup2(in, 0);
    (void)dup2(out, 1);
    (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

bool test_os_spawn(const char *const *argv, int *to, int *from) {
    int in[2], out[2], status = 0;
    pid_t pid;
    if (!os__pipe(in)) return false;
    if (!os__pipe(out)) {
        (void)close(in[0]);
        (void)close(in[1]);
        return false;
    }
    pid = fork();
    if (pid == 0) os__become(argv, in[0], out[1]);
    (void)close(in[0]);
    (void)close(out[1]);
    *to = in[1];
    *from = out[0];
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int test_os_connect(int port) {
    struct sockaddr_in address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    (void)close(fd);
    return -1;
}

long test_os_read(int fd, char *out, size_t cap) { return (long)read(fd, out, cap); }
long test_os_write(int fd, const char *bytes, size_t len) { return (long)write(fd, bytes, len); }
void test_os_finish(int to) { (void)close(to); }
void test_os_close(int fd) { (void)close(fd); }
#endif
