/* bench_starts.c - 1,000 agents are prompted in one frame: what it costs until all have answered.

       bench_starts PATH_OF_STREAM_SERVER

   64 connections at once and 4 starts a step, as by default; the others wait in the queue, and their
   waiting must cost nothing. Counted: calls of fcntl and close by phi itself (linked with
   -Wl,--wrap=fcntl,--wrap=close), with which it looks for free descriptors; steps; CPU of this thread. */
#include "kit.h"

#include <stdarg.h>
#include <stdlib.h>

enum { AGENTS = 1000 };

static uint64_t system_calls;
int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);
int __real_close(int fd);
int __wrap_close(int fd);

int __wrap_fcntl(int fd, int command, ...) {
    va_list args;
    long argument;
    va_start(args, command);
    argument = va_arg(args, long);
    va_end(args);
    system_calls++;
    return __real_fcntl(fd, command, argument);
}

int __wrap_close(int fd) {
    system_calls++;
    return __real_close(fd);
}

static void prompt_all(phi_runtime *rt, const phi_agent *agents, uint64_t *steps) {
    size_t i;
    int going;
    for (i = 0; i < AGENTS; i++) bench_expect(phi_prompt(agents[i], "Good morning."), "phi_prompt");
    do {
        phi_event ev;
        going = phi_step(rt, 0);
        ++*steps;
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_AGENT_END) bench_expect(ev.status, "a run");
    } while (going > 0);
}

int main(int argc, char **argv) {
    bench_server server;
    char url[BENCH_URL_BYTES];
    phi_runtime *rt;
    phi_agent *agents = (phi_agent *)bench_alloc(AGENTS * sizeof *agents);
    uint64_t cpu, steps = 0;
    size_t i;
    if (argc != 2) bench_fail("usage: bench_starts PATH_OF_STREAM_SERVER");
    server = bench_server_start(argv[1]);
    bench_url(&server, "/sse/anthropic/1/0/20/", url);
    rt = phi_runtime_new(NULL);
    for (i = 0; i < AGENTS; i++) agents[i] = bench_agent(rt, url, NULL);
    system_calls = 0;
    cpu = bench_cpu_ns();
    prompt_all(rt, agents, &steps);
    bench_line("starts_1000_cpu_a_run", (double)(bench_cpu_ns() - cpu) / 1000 / AGENTS, "us");
    bench_line("starts_1000_looks_a_run", (double)system_calls / AGENTS, "calls");
    bench_line("starts_1000_steps_a_run", (double)steps / AGENTS, "steps");
    phi_runtime_free(rt);
    bench_server_stop(&server);
    free(agents);
    return 0;
}
