/* mock_server.c - see mock_server.h. */
#include "support/mock_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOCK_OPTIONS = 24 };

mock_server mock = {-1, -1, 0};

/* ---- the process ---- */

static bool mock__pipe(int *fds) {
    if (pipe(fds) != 0) return false;
    (void)fcntl(fds[0], F_SETFD, FD_CLOEXEC); /* no tool that a test runs may hold them open */
    (void)fcntl(fds[1], F_SETFD, FD_CLOEXEC);
    return true;
}

/* The grandchild becomes the server: the harness looks for children that tests have left. */
static void mock__become(const char *script, int in, int out, const char *const *options) {
    const char *python = getenv("PYTHON"), *args[MOCK_OPTIONS + 5];
    size_t n = 0;
    pid_t pid = fork();
    if (pid != 0) _exit(pid > 0 ? 0 : 1);
    (void)dup2(in, 0);
    (void)dup2(out, 1);
    args[n++] = python != NULL && python[0] != '\0' ? python : "/usr/bin/python3";
    args[n++] = script;
    args[n++] = "--port";
    args[n++] = "0";
    while (options != NULL && *options != NULL && n < MOCK_OPTIONS + 4) args[n++] = *options++;
    args[n] = NULL;
    (void)execvp(args[0], (char *const *)(uintptr_t)args);
    _exit(127);
}

static bool mock__spawn(mock_server *server, const char *script, const char *const *options) {
    int in[2], out[2], status = 0;
    pid_t pid;
    if (!mock__pipe(in)) return false;
    if (!mock__pipe(out)) {
        (void)close(in[0]);
        (void)close(in[1]);
        return false;
    }
    fflush(stdout);
    pid = fork();
    if (pid == 0) mock__become(script, in[0], out[1], options);
    (void)close(in[0]);
    (void)close(out[1]);
    server->to = in[1];
    server->from = out[0];
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* "listening 127.0.0.1 PORT\n" */
static int mock__read_port(int fd) {
    char line[80];
    size_t n = 0;
    int port = 0;
    while (n + 1 < sizeof line && read(fd, line + n, 1) == 1 && line[n] != '\n') n++;
    line[n] = '\0';
    return sscanf(line, "listening %*s %d", &port) == 1 ? port : 0;
}

bool mock_start_script(mock_server *server, const char *script, const char *const *options) {
    server->to = server->from = -1;
    server->port = mock__spawn(server, script, options) ? mock__read_port(server->from) : 0;
    if (server->port > 0) return true;
    printf("%s does not start (server.py needs python3-aiohttp; see $PYTHON)\n", script);
    mock_stop(server);
    return false;
}

bool mock_start(mock_server *server, const char *const *options) {
    return mock_start_script(server, "tests/mock/server.py", options);
}

void mock_stop(mock_server *server) {
    char rest[256];
    if (server->to >= 0) (void)close(server->to);
    while (server->from >= 0 && read(server->from, rest, sizeof rest) > 0) continue;
    if (server->from >= 0) (void)close(server->from);
    server->to = server->from = -1;
    server->port = 0;
}

/* ---- talking to it ---- */

static char *mock__read_all(int fd) {
    size_t cap = 1 << 16, n = 0;
    ssize_t got;
    char *text = (char *)malloc(cap);
    while (text != NULL && (got = read(fd, text + n, cap - n - 1)) > 0) {
        n += (size_t)got;
        if (cap - n > 4096) continue;
        cap *= 2;
        text = (char *)realloc(text, cap);
    }
    if (text == NULL) abort();
    text[n] = '\0';
    return text;
}

char *mock_ask_at(int port, const char *method, const char *path) {
    struct sockaddr_in address;
    char request[300], *answer, *body, *out = NULL;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int n = snprintf(request, sizeof request,
                     "%s %s HTTP/1.0\r\nHost: mock\r\nContent-Length: 0\r\n\r\n", method, path);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0) &&
        CHECK(write(fd, request, (size_t)n) == n)) {
        answer = mock__read_all(fd);
        body = strstr(answer, "\r\n\r\n");
        if (CHECK(body != NULL)) {
            out = answer;
            memmove(out, body + 4, strlen(body + 4) + 1);
        } else
            free(answer);
    }
    (void)close(fd);
    return out;
}

char *mock_ask(const char *method, const char *path) {
    return mock_ask_at(mock.port, method, path);
}

const char *mock_url(const char *path) {
    static char urls[8][400];
    static unsigned next;
    char *url = urls[next++ % 8];
    (void)snprintf(url, sizeof urls[0], "http://127.0.0.1:%d%s", mock.port, path);
    return url;
}

int mock_main(const char *const *options, int argc, char **argv, const test_entry *entries,
              size_t count) {
    int failed;
    if (!mock_start(&mock, options)) return 1;
    failed = test_run(argc, argv, entries, count);
    mock_stop(&mock);
    return failed;
}
