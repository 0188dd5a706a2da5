/* bench_first_byte.c - from phi_prompt to the first byte of the request at the server, beside a bare
   libcurl program.

       bench_first_byte PATH_OF_STREAM_SERVER

   phi_prompt is followed by phi_step(rt, 0) in a tight loop; the bare program has its body ready, of
   the same size, makes an easy handle and turns its epoll loop likewise. Cold: a new connection (and
   a new runtime or multi handle, made before). Warm: a kept one. With a small history, and with 1 MB.
   The two take turns; medians, and the median of the differences. Both clocks are CLOCK_MONOTONIC. */
#include "bare.h"
#include "kit.h"

#include <stdlib.h>
#include <string.h>

enum { WARM_ROUNDS = 301, BIG_ROUNDS = 101, HISTORY_BYTES = 1048576 };

static double since_us(const bench_server *server, uint64_t start_ns) {
    return ((double)bench_server_count(server, "first_byte_ns") - (double)start_ns) / 1000;
}

static double ask_phi(const bench_server *server, phi_runtime *rt, phi_agent agent) {
    uint64_t start = bench_wall_ns();
    phi_event ev;
    bench_expect(phi_prompt(agent, "Can you mend this sword?"), "phi_prompt");
    while (phi_step(rt, 0) > 0)
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_ERROR) bench_fail("the run failed");
    while (phi_next_event(rt, &ev)) {}
    (void)phi_step(rt, 0);
    return since_us(server, start);
}

static double ask_bare(const bench_server *server, bare *b, const char *url, const char *body,
                       size_t body_len) {
    uint64_t start = bench_wall_ns(), bytes = 0;
    bare_begin(b, url, body, body_len, bare_touch, &bytes);
    while (b->running > 0) (void)bare_step(b, 0);
    bare_end(b);
    return since_us(server, start);
}

static void print(const char *what, double *ours, double *peer, size_t n) {
    double *more = (double *)bench_alloc(n * sizeof *more);
    char name[100];
    size_t i;
    for (i = 0; i < n; i++) more[i] = ours[i] - peer[i];
    (void)snprintf(name, sizeof name, "first_byte_%s_phi", what);
    bench_line(name, bench_median(ours, n), "us");
    (void)snprintf(name, sizeof name, "first_byte_%s_bare", what);
    bench_line(name, bench_median(peer, n), "us");
    (void)snprintf(name, sizeof name, "first_byte_%s_more", what);
    bench_line(name, bench_median(more, n), "us");
    free(more);
}

/* What a request of this agent weighs now. */
static size_t body_bytes(const bench_server *server, phi_runtime *rt, phi_agent agent) {
    uint64_t before = bench_server_count(server, "bytes_in");
    (void)ask_phi(server, rt, agent);
    return (size_t)(bench_server_count(server, "bytes_in") - before);
}

static void warm(const bench_server *server, const char *what, const char *url, size_t history,
                 size_t rounds) {
    double *ours = (double *)bench_alloc(rounds * sizeof *ours);
    double *peer = (double *)bench_alloc(rounds * sizeof *peer);
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_agent agent = bench_agent(rt, url, NULL);
    size_t i, len;
    char *body;
    bare b;
    if (history > 0) bench_fill_history(server, rt, agent, history);
    len = body_bytes(server, rt, agent);
    body = (char *)bench_alloc(len);
    memset(body, ' ', len);
    bare_open(&b);
    (void)ask_bare(server, &b, url, body, len);
    for (i = 0; i < rounds; i++) {
        ours[i] = ask_phi(server, rt, agent);
        peer[i] = ask_bare(server, &b, url, body, len);
    }
    print(what, ours, peer, rounds);
    phi_runtime_free(rt);
    bare_close(&b);
    free(body);
    free(ours);
    free(peer);
}

static void cold(const bench_server *server, const char *url) {
    static const char body[500];
    double ours[WARM_ROUNDS], peer[WARM_ROUNDS];
    size_t i;
    for (i = 0; i < WARM_ROUNDS; i++) {
        phi_runtime *rt = phi_runtime_new(NULL);
        phi_agent agent = bench_agent(rt, url, NULL);
        bare b;
        ours[i] = ask_phi(server, rt, agent);
        phi_runtime_free(rt);
        bare_open(&b);
        peer[i] = ask_bare(server, &b, url, body, sizeof body);
        bare_close(&b);
    }
    print("cold", ours, peer, WARM_ROUNDS);
}

int main(int argc, char **argv) {
    bench_server server;
    char url[BENCH_URL_BYTES];
    if (argc != 2) bench_fail("usage: bench_first_byte PATH_OF_STREAM_SERVER");
    server = bench_server_start(argv[1]);
    bench_url(&server, "/sse/anthropic/1/0/20/", url);
    cold(&server, url);
    warm(&server, "warm", url, 0, WARM_ROUNDS);
    warm(&server, "warm_1mb", url, HISTORY_BYTES, BIG_ROUNDS);
    bench_server_stop(&server);
    return 0;
}
