/* bench_step.c - how long one phi_step(rt, 0) takes: p50, p99, p99.9 and the worst.

       bench_step PATH_OF_STREAM_SERVER [TLS_BASE_URL CA_FILE]

   Only steps that had work count: those in which libcurl was called for a socket or a timeout, or
   after which there was an event. Linked with -Wl,--wrap=curl_multi_socket_action, to see that. Thread
   CPU time and wall clock, the latter with whatever else the machine does.

   connect: a new runtime each time, from the prompt to the first event of the answer: rendering, the
   connection, the request. tls_first: the same with TLS, the loading of the CA store included (what
   phi_warm is for); tls_connect: further connections of a runtime, one a prompt.
   With 1 MB of history, on a kept connection: request, from the prompt to the first event of the
   answer, then stream: deltas one by one every 100 us; and flood: back to back. bare: turns of a bare
   libcurl loop that sends 1 MB, or reads the first of these streams: what the machine allows. */
#include "bare.h"
#include "kit.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 100000, HISTORY_BYTES = 1048576, REQUESTS = 100 };

/* Steps of one kind. */
typedef struct row {
    const char *name;
    double *cpu, *wall;
    size_t count;
} row;

static uint64_t curl_calls;
CURLMcode __real_curl_multi_socket_action(CURLM *multi, curl_socket_t fd, int have, int *running);
CURLMcode __wrap_curl_multi_socket_action(CURLM *multi, curl_socket_t fd, int have, int *running);

CURLMcode __wrap_curl_multi_socket_action(CURLM *multi, curl_socket_t fd, int have, int *running) {
    curl_calls++;
    return __real_curl_multi_socket_action(multi, fd, have, running);
}

static row make_row(const char *name) {
    row r = {NULL, NULL, NULL, 0};
    r.name = name;
    r.cpu = (double *)bench_alloc(MOST_STEPS * sizeof *r.cpu);
    r.wall = (double *)bench_alloc(MOST_STEPS * sizeof *r.wall);
    memset(r.cpu, 1, MOST_STEPS * sizeof *r.cpu); /* so that its pages are there */
    memset(r.wall, 1, MOST_STEPS * sizeof *r.wall);
    return r;
}

static void print_row(row *r) {
    char name[100];
    (void)snprintf(name, sizeof name, "step_%s_cpu", r->name);
    bench_percentiles(name, r->cpu, r->count);
    (void)snprintf(name, sizeof name, "step_%s_wall", r->name);
    bench_percentiles(name, r->wall, r->count);
    (void)snprintf(name, sizeof name, "step_%s_count", r->name);
    bench_line(name, (double)r->count, "steps");
}

/* What the events popped after a step say. */
typedef struct seen {
    bool any, answer, end;
} seen;

static seen look(phi_runtime *rt) {
    seen s = {false, false, false};
    phi_event ev;
    while (phi_next_event(rt, &ev)) {
        s.any = true;
        if (ev.kind == PHI_EV_TEXT ||
            (ev.kind == PHI_EV_MESSAGE_START && ev.message->role == PHI_ROLE_ASSISTANT))
            s.answer = true;
        if (ev.kind != PHI_EV_AGENT_END) continue;
        bench_expect(ev.status, "a run");
        s.end = true;
    }
    return s;
}

static seen timed_step(phi_runtime *rt, row *r) {
    uint64_t calls = curl_calls, wall = bench_wall_ns(), cpu = bench_cpu_ns();
    seen s;
    (void)phi_step(rt, 0);
    cpu = bench_cpu_ns() - cpu;
    wall = bench_wall_ns() - wall;
    s = look(rt);
    if ((!s.any && curl_calls == calls) || r->count == MOST_STEPS) return s;
    r->cpu[r->count] = (double)cpu / 1000;
    r->wall[r->count++] = (double)wall / 1000;
    return s;
}

/* Steps up to the first of the answer go to `request`, what follows to `stream`. */
static void timed_run(phi_runtime *rt, phi_agent agent, row *request, row *stream) {
    row *at = request;
    bench_expect(phi_prompt(agent, "Can you mend this sword?"), "phi_prompt");
    for (;;) {
        seen s = timed_step(rt, at);
        if (s.answer) at = stream;
        if (s.end) return;
    }
}

/* ---- what is measured ---- */

static void connects(const bench_server *server) {
    row first = make_row("connect"), rest = make_row("");
    char url[BENCH_URL_BYTES];
    int i;
    bench_url(server, "/sse/anthropic/1/0/40/", url);
    for (i = 0; i < 300; i++) {
        phi_runtime *rt = phi_runtime_new(NULL);
        timed_run(rt, bench_agent(rt, url, NULL), &first, &rest);
        phi_runtime_free(rt);
    }
    print_row(&first);
}

static void tls_connects(const char *url, const char *ca_file) {
    row first = make_row("tls_first"), next = make_row("tls_connect"), rest = make_row("");
    phi_runtime_desc desc = PHI_ZERO;
    char closing[BENCH_URL_BYTES];
    int i, j;
    desc.ca_file = ca_file;
    (void)snprintf(closing, sizeof closing, "%s/m/close", url);
    for (i = 0; i < 10; i++) {
        phi_runtime *rt = phi_runtime_new(&desc);
        phi_agent agent = bench_agent(rt, closing, NULL);
        timed_run(rt, agent, &first, &rest);
        for (j = 0; j < 10; j++) timed_run(rt, agent, &next, &rest);
        phi_runtime_free(rt);
    }
    print_row(&first);
    print_row(&next);
}

static void streams(const bench_server *server, const char *recipe, int prompts, row *request,
                    row *stream) {
    phi_runtime *rt = phi_runtime_new(NULL);
    char url[BENCH_URL_BYTES];
    phi_agent_desc to = PHI_ZERO;
    phi_agent agent;
    int i;
    to.model = phi_model_anthropic("claude-sonnet-4-5", "bench-key");
    bench_url(server, recipe, url);
    to.model.base_url = url;
    agent = bench_agent(rt, url, NULL);
    bench_fill_history(server, rt, agent, HISTORY_BYTES);
    bench_expect(phi_agent_set(agent, &to, PHI_SET_MODEL), "phi_agent_set");
    for (i = 0; i < prompts; i++) timed_run(rt, agent, request, stream);
    phi_runtime_free(rt);
}

/* One answer read by bare libcurl; turns up to its first byte go to `request`. */
static void bare_run(bare *b, const char *url, const char *body, size_t body_len, row *request,
                     row *stream) {
    uint64_t bytes = 0;
    bare_begin(b, url, body, body_len, bare_touch, &bytes);
    while (b->running > 0) {
        uint64_t had = bytes, wall = bench_wall_ns(), cpu = bench_cpu_ns();
        int worked = bare_step(b, 0);
        row *r;
        cpu = bench_cpu_ns() - cpu;
        wall = bench_wall_ns() - wall;
        r = had == 0 ? request : stream;
        if (worked == 0 || r->count == MOST_STEPS) continue;
        r->cpu[r->count] = (double)cpu / 1000;
        r->wall[r->count++] = (double)wall / 1000;
    }
    bare_end(b);
}

static void bare_peer(const bench_server *server, row *request, row *stream) {
    row rest = make_row("");
    char url[BENCH_URL_BYTES], *body = (char *)bench_alloc(HISTORY_BYTES);
    int i;
    bare b;
    memset(body, ' ', HISTORY_BYTES);
    bare_open(&b);
    bench_url(server, "/sse/anthropic/10000/100/40/", url);
    for (i = 0; i < 2; i++) bare_run(&b, url, body, 30, &rest, stream);
    bench_url(server, "/sse/anthropic/1/0/40/", url);
    for (i = 0; i < REQUESTS; i++) bare_run(&b, url, body, HISTORY_BYTES, request, &rest);
    bare_close(&b);
    free(body);
    free(rest.cpu);
    free(rest.wall);
}

int main(int argc, char **argv) {
    row request = make_row("request_1mb"), paced = make_row("stream_1mb");
    row flood = make_row("flood_1mb"), rest = make_row("");
    row bare_request = make_row("bare_request_1mb"), bare_stream = make_row("bare_stream");
    bench_server server;
    int i;
    if (argc != 2 && argc != 4)
        bench_fail("usage: bench_step PATH_OF_STREAM_SERVER [TLS_BASE_URL CA_FILE]");
    server = bench_server_start(argv[1]);
    connects(&server);
    if (argc == 4) tls_connects(argv[2], argv[3]);
    streams(&server, "/sse/anthropic/1/0/40/", REQUESTS, &request, &rest);
    streams(&server, "/sse/anthropic/10000/100/40/", 2, &rest, &paced);
    for (i = 0; i < 20; i++) streams(&server, "/sse/anthropic/2000/0/40/", 5, &rest, &flood);
    bare_peer(&server, &bare_request, &bare_stream);
    print_row(&request);
    print_row(&paced);
    print_row(&flood);
    print_row(&bare_request);
    print_row(&bare_stream);
    bench_server_stop(&server);
    return 0;
}
