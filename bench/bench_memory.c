/* bench_memory.c - bytes an agent: idle, and while its answer streams, at 1 to 10,000 agents in one
   thread; and what a step and a delta cost there.

       bench_memory PATH_OF_STREAM_SERVER

   Each count runs in a process of its own, so that its resident set is its own. "ours" is
   phi_memory_used: everything that came from the caller's allocator. "rss" is everything: ours, and
   what libcurl and the C library took. What one runtime costs is left out of both: a first request
   is done before. */
#include "kit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MEASURE_NS = 2000000000,
    PACE_US = 100 /* times the number of agents: together they get 10,000 deltas a second */
};

static const char *server_path;

static double resident_bytes(void) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*u %llu", &pages) != 1) bench_fail("no /proc/self/statm");
    (void)fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void line_at(const char *name, uint32_t count, double value, const char *unit) {
    char full[100];
    (void)snprintf(full, sizeof full, "%s_at_%u", name, (unsigned)count);
    bench_line(full, value, unit);
}

static phi_runtime *make_runtime(uint32_t count) {
    phi_runtime_desc desc = PHI_ZERO;
    phi_runtime *rt;
    desc.max_connections = count;
    desc.max_starts_per_step = 32;
    rt = phi_runtime_new(&desc);
    if (rt == NULL) bench_fail("no runtime");
    return rt;
}

static phi_flow no_tool(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_DONE;
}

static phi_tool a_tool(void) {
    phi_tool tool = PHI_ZERO;
    tool.name = "walk_to";
    tool.description = "Walks to a place: forge, gate or well.";
    tool.schema = "{\"type\":\"object\",\"properties\":{\"place\":{\"type\":\"string\"}},"
                  "\"required\":[\"place\"]}";
    tool.start = no_tool;
    return tool;
}

/* ---- one count ---- */

/* Steps for a while; counts deltas, and the agents whose first one came. */
static uint64_t step(phi_runtime *rt, char *seen, uint32_t *begun, int timeout_ms) {
    uint64_t deltas = 0;
    phi_event ev;
    (void)phi_step(rt, timeout_ms);
    while (phi_next_event(rt, &ev)) {
        size_t i = (size_t)ev.user_data;
        if (ev.kind == PHI_EV_ERROR) bench_fail("an agent failed");
        if (ev.kind != PHI_EV_TEXT) continue;
        deltas++;
        if (!seen[i]) ++*begun;
        seen[i] = 1;
    }
    return deltas;
}

static void measure_deltas(phi_runtime *rt, char *seen, uint32_t *begun, uint32_t count) {
    uint64_t until = bench_wall_ns() + MEASURE_NS, before = bench_cpu_ns(), deltas = 0;
    while (bench_wall_ns() < until) deltas += step(rt, seen, begun, 100);
    if (deltas == 0) return;
    line_at("memory_streaming_cpu_per_delta", count,
            (double)(bench_cpu_ns() - before) / (double)deltas, "ns");
}

static void measure_idle_step(phi_runtime *rt, uint32_t count) {
    static double spent[10001];
    size_t i;
    for (i = 0; i < 10001; i++) {
        uint64_t before = bench_wall_ns();
        (void)phi_step(rt, 0);
        spent[i] = (double)(bench_wall_ns() - before);
    }
    line_at("memory_idle_step", count, bench_median(spent, 10001), "ns");
}

static void run_count(uint32_t count) {
    bench_server server = bench_server_start(server_path);
    phi_runtime *rt = make_runtime(count + 1);
    phi_tool tool = a_tool();
    phi_agent first, *agents = (phi_agent *)bench_alloc(count * sizeof *agents);
    char recipe[64], url[BENCH_URL_BYTES], *seen = (char *)bench_alloc(count);
    double ours, resident;
    uint32_t i, begun = 0;
    memset(seen, 1, count); /* so that its pages are there */
    memset(agents, 1, count * sizeof *agents);
    bench_url(&server, "/sse/anthropic/10/0/20/", url);
    first = bench_agent(rt, url, &tool);
    (void)bench_run(rt, first, "Hello");
    (void)snprintf(recipe, sizeof recipe, "/sse/anthropic/1000000/%u/20/", count * PACE_US);
    bench_url(&server, recipe, url);
    ours = (double)phi_memory_used(rt, NULL);
    resident = resident_bytes();
    for (i = 0; i < count; i++) {
        phi_agent_desc desc = bench_desc(url, &tool);
        desc.user_data = (void *)(size_t)i;
        agents[i] = phi_agent_new(rt, &desc);
        if (agents[i].rt == NULL) bench_fail("no agent");
    }
    line_at("memory_idle_agent_ours", count, ((double)phi_memory_used(rt, NULL) - ours) / count,
            "bytes");
    line_at("memory_idle_agent_rss", count, (resident_bytes() - resident) / count, "bytes");
    measure_idle_step(rt, count);
    memset(seen, 0, count);
    for (i = 0; i < count; i++)
        bench_expect(phi_prompt(agents[i], "Can you mend this sword?"), "phi_prompt");
    while (begun < count) (void)step(rt, seen, &begun, 100);
    (void)step(rt, seen, &begun, 0); /* lets go of the last events */
    line_at("memory_streaming_agent_ours", count,
            ((double)phi_memory_used(rt, NULL) - ours) / count, "bytes");
    line_at("memory_streaming_agent_rss", count, (resident_bytes() - resident) / count, "bytes");
    measure_deltas(rt, seen, &begun, count);
    phi_runtime_free(rt);
    free(seen);
    free(agents);
    bench_server_stop(&server);
}

int main(int argc, char **argv) {
    static const uint32_t counts[] = {1, 100, 1000, 10000};
    size_t i;
    int status = 0;
    if (argc != 2) bench_fail("usage: bench_memory PATH_OF_STREAM_SERVER");
    server_path = argv[1];
    for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            run_count(counts[i]);
            exit(0);
        }
        (void)waitpid(pid, &status, 0);
        if (status != 0) return 1;
    }
    return 0;
}
