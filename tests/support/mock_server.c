/* mock_server.c - see mock_server.h. */
#include "support/mock_server.h"

#include "support/os.h"

enum { MOCK_OPTIONS = 24 };

mock_server mock = {-1, -1, 0};

/* ---- the process ---- */

static bool mock__spawn(mock_server *server, const char *script, const char *const *options) {
    const char *python = getenv("PYTHON"), *args[MOCK_OPTIONS + 5];
    size_t n = 0;
    args[n++] = python != NULL && python[0] != '\0' ? python : "/usr/bin/python3";
    args[n++] = script;
    args[n++] = "--port";
    args[n++] = "0";
    while (options != NULL && *options != NULL && n < MOCK_OPTIONS + 4) args[n++] = *options++;
    args[n] = NULL;
    fflush(stdout);
    return test_os_spawn(args, &server->to, &server->from);
}

/* "listening 127.0.0.1 PORT\n" */
static int mock__read_port(int fd) {
    char line[80];
    size_t n = 0;
    int port = 0;
    while (n + 1 < sizeof line && test_os_read(fd, line + n, 1) == 1 && line[n] != '\n') n++;
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
    if (server->to >= 0) test_os_finish(server->to);
    while (server->from >= 0 && test_os_read(server->from, rest, sizeof rest) > 0) continue;
    if (server->from >= 0) test_os_close(server->from);
    server->to = server->from = -1;
    server->port = 0;
}

/* ---- talking to it ---- */

static char *mock__read_all(int fd) {
    size_t cap = 1 << 16, n = 0;
    long got;
    char *text = (char *)malloc(cap);
    while (text != NULL && (got = test_os_read(fd, text + n, cap - n - 1)) > 0) {
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
    char request[300], *answer, *body, *out = NULL;
    int fd = test_os_connect(port);
    int n = snprintf(request, sizeof request,
                     "%s %s HTTP/1.0\r\nHost: mock\r\nContent-Length: 0\r\n\r\n", method, path);
    if (CHECK(fd >= 0) && CHECK(test_os_write(fd, request, (size_t)n) == n)) {
        answer = mock__read_all(fd);
        body = strstr(answer, "\r\n\r\n");
        if (CHECK(body != NULL)) {
            out = answer;
            memmove(out, body + 4, strlen(body + 4) + 1);
        } else
            free(answer);
    }
    if (fd >= 0) test_os_close(fd);
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
