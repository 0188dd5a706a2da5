/* kit.h - what the benchmark programs share: clocks, numbers, the server process, agents on it.

   Each program prints `name value unit` lines; bench/run.py puts them together. The program runs on
   the machine's first core and the server on its second, where there are two. */
#ifndef BENCH_KIT_H
#define BENCH_KIT_H

#include "phi.h"

#include <stdio.h>

#define BENCH_URL_BYTES 200

uint64_t bench_cpu_ns(void);  /* of this thread */
uint64_t bench_wall_ns(void); /* CLOCK_MONOTONIC: the server's clock too */

/* What asking for the CPU time twice in a row shows. */
uint64_t bench_clock_cost_ns(void);

void bench_line(const char *name, double value, const char *unit);
void bench_fail(const char *what); /* does not return */
void *bench_alloc(size_t bytes);   /* zeroed; never NULL */

/* Sorts; 0 for none. */
double bench_median(double *values, size_t n);
double bench_part(double *values, size_t n, double part); /* 0.999: the 99.9th percentile */

/* `name`_p50 _p99 _p999 _max, in microseconds, of values in microseconds. */
void bench_percentiles(const char *name, double *values, size_t n);

/* bench/stream_server.c as a child process; it ends with this one. */
typedef struct bench_server {
    int port, hold;
    int pid;
} bench_server;
bench_server bench_server_start(const char *path);
void bench_server_stop(bench_server *server);
uint64_t bench_server_count(const bench_server *server, const char *counter);
void bench_url(const bench_server *server, const char *recipe, char url[BENCH_URL_BYTES]);

/* An agent as hosts make them, with no limit in its way. Tools: none, or one. */
phi_agent bench_agent(phi_runtime *rt, const char *url, const phi_tool *tool);
phi_agent_desc bench_desc(const char *url, const phi_tool *tool);

/* Prompts, and steps until the run is over; gives the number of text deltas. Fails loudly when the
   run does. */
uint64_t bench_run(phi_runtime *rt, phi_agent agent, const char *prompt);

/* Short answers until the history holds `bytes` of prompts of 4 KiB. */
void bench_fill_history(const bench_server *server, phi_runtime *rt, phi_agent agent, size_t bytes);
void bench_expect(phi_status status, const char *what);

#endif
