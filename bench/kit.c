/* kit.c - clocks, numbers, the server process and agents of the benchmark programs. */
#include "kit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#if !defined(_WIN32)
#include <arpa/inet.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static uint64_t clock_ns(clockid_t id) {
    struct timespec t;
    (void)clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t bench_cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
uint64_t bench_wall_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

void bench_fail(const char *what) {
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

void bench_expect(phi_status status, const char *what) {
    if (status == PHI_OK) return;
    fprintf(stderr, "bench: %s: %s\n", what, phi_status_text(status));
    exit(1);
}

void *bench_alloc(size_t bytes) {
    void *at = calloc(1, bytes);
    if (at == NULL) bench_fail("no memory");
    return at;
}

void bench_line(const char *name, double value, const char *unit) {
    printf("%s %.*f %s\n", name, value < 10 ? 3 : value < 1000 ? 1 : 0, value, unit);
    fflush(stdout);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double bench_part(double *values, size_t n, double part) {
    size_t at = (size_t)(part * (double)n);
    if (n == 0) return 0;
    qsort(values, n, sizeof *values, by_size);
    return values[at < n ? at : n - 1];
}

double bench_median(double *values, size_t n) { return bench_part(values, n, 0.5); }

void bench_percentiles(const char *name, double *values, size_t n) {
    static const struct {
        const char *suffix;
        double part;
    } parts[] = {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}, {"max", 1}};
    char full[100];
    size_t i;
    for (i = 0; i < 4; i++) {
        (void)snprintf(full, sizeof full, "%s_%s", name, parts[i].suffix);
        bench_line(full, bench_part(values, n, parts[i].part), "us");
    }
}

uint64_t bench_clock_cost_ns(void) {
    double spent[1001];
    size_t i;
    for (i = 0; i < 1001; i++) {
        uint64_t before = bench_cpu_ns();
        spent[i] = (double)(bench_cpu_ns() - before);
    }
    return (uint64_t)bench_median(spent, 1001);
}

/* ---- the server ---- */

#if !defined(_WIN32)

static void run_on(int core) {
    cpu_set_t set;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    (void)sched_setaffinity(0, sizeof set, &set); /* not allowed to: then as it is */
}

static void become_server(const char *path, int in, int out) {
    (void)dup2(in, 0);
    (void)dup2(out, 1);
    run_on(1);
    (void)execl(path, path, (char *)NULL);
    _exit(127);
}

bench_server bench_server_start(const char *path) {
    bench_server server;
    struct rlimit files;
    int in[2], out[2];
    char line[64];
    ssize_t n;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    if (pipe(in) != 0 || pipe(out) != 0) bench_fail("no pipe");
    server.pid = (int)fork();
    if (server.pid == 0) {
        (void)close(in[1]); /* else the server itself would hold its input open */
        (void)close(out[0]);
        become_server(path, in[0], out[1]);
    }
    (void)close(in[0]);
    (void)close(out[1]);
    n = read(out[0], line, sizeof line - 1);
    line[n > 0 ? n : 0] = '\0';
    (void)close(out[0]);
    server.hold = in[1];
    if (sscanf(line, "listening %d", &server.port) != 1) bench_fail("the server does not start");
    run_on(0);
    return server;
}

void bench_server_stop(bench_server *server) {
    (void)close(server->hold);
    (void)waitpid(server->pid, NULL, 0);
}

uint64_t bench_server_count(const bench_server *server, const char *counter) {
    static const char ask[] = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n";
    struct sockaddr_in to;
    char answer[2048], key[64];
    const char *at;
    ssize_t n;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_port = htons((uint16_t)server->port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        write(fd, ask, sizeof ask - 1) != (ssize_t)(sizeof ask - 1))
        bench_fail("the server does not answer");
    n = read(fd, answer, sizeof answer - 1);
    answer[n > 0 ? n : 0] = '\0';
    (void)close(fd);
    (void)snprintf(key, sizeof key, "\"%s\":", counter);
    at = strstr(answer, key);
    return at != NULL ? strtoull(at + strlen(key), NULL, 10) : 0;
}

#endif

void bench_url(const bench_server *server, const char *recipe, char url[BENCH_URL_BYTES]) {
    (void)snprintf(url, BENCH_URL_BYTES, "http://127.0.0.1:%d%s", server->port, recipe);
}

/* ---- agents ---- */

phi_agent_desc bench_desc(const char *url, const phi_tool *tool) {
    phi_agent_desc desc = PHI_ZERO;
    desc.model = phi_model_anthropic("claude-sonnet-4-5", "bench-key");
    desc.model.base_url = url;
    desc.system_prompt = "You are the blacksmith of a small village. You speak little.";
    desc.tools = tool;
    desc.tool_count = tool != NULL;
    desc.limits.max_turns = PHI_UNLIMITED;
    desc.limits.max_tokens = UINT64_MAX;
    desc.limits.max_duration_ms = PHI_UNLIMITED;
    return desc;
}

phi_agent bench_agent(phi_runtime *rt, const char *url, const phi_tool *tool) {
    phi_agent_desc desc = bench_desc(url, tool);
    phi_agent agent = phi_agent_new(rt, &desc);
    if (agent.rt != NULL) return agent;
    bench_fail(phi_last_error(rt).message);
    return agent;
}

uint64_t bench_run(phi_runtime *rt, phi_agent agent, const char *prompt) {
    uint64_t deltas = 0;
    phi_event ev;
    bench_expect(phi_prompt(agent, prompt), "phi_prompt");
    for (;;) {
        (void)phi_step(rt, -1);
        while (phi_next_event(rt, &ev)) {
            deltas += ev.kind == PHI_EV_TEXT;
            if (ev.kind == PHI_EV_AGENT_END) {
                bench_expect(ev.status, "a run");
                return deltas;
            }
        }
    }
}

void bench_fill_history(const bench_server *server, phi_runtime *rt, phi_agent agent,
                        size_t bytes) {
    static char prompt[4097];
    char url[BENCH_URL_BYTES];
    phi_agent_desc to = PHI_ZERO;
    size_t i, filled;
    for (i = 0; i + 1 < sizeof prompt; i++) prompt[i] = "The king's sword is dull. "[i % 26];
    to.model = phi_model_anthropic("claude-sonnet-4-5", "bench-key");
    bench_url(server, "/sse/anthropic/1/0/20/", url);
    to.model.base_url = url;
    bench_expect(phi_agent_set(agent, &to, PHI_SET_MODEL), "phi_agent_set");
    for (filled = 0; filled < bytes; filled += sizeof prompt - 1)
        (void)bench_run(rt, agent, prompt);
}
