/* bench_many.c - 1,000 agents at once in one runtime: step times, memory and handles.

       bench_many PORT_OF_STREAM_SERVER

   Each agent streams a call of a tool and then a text, a delta every two seconds, so that all of
   them stream at the same time. The host steps as a game does: phi_step(rt, 0), and a millisecond
   of sleep after a step without an event. Only steps with events count; clock: wall. Printed are
   also the most runs at once, the memory that phi has taken and the most that the process had, and
   the handles of the process (descriptors on POSIX): after a first request, with the most runs (by
   hundreds), and without a runtime before and after. The program fails if handles are left. It runs
   on Windows, too (scripts/windows.py --bench). */
#include "kit.h"

#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <windows.h>
/* after windows.h */
#include <psapi.h>
#else
#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#endif

enum { AGENTS = 1000, DELTAS = 20, PACE_US = 2000000, MOST_STEPS = 200000 };

/* ---- the system ---- */

#if defined(_WIN32)

/* The handles of all processes, for a Wine whose GetProcessHandleCount says 0. */
typedef LONG(WINAPI *query_fn)(int kind, void *out, ULONG size, ULONG *needed);
typedef struct handle_list {
    ULONG_PTR count, reserved;
    struct {
        void *object;
        ULONG_PTR process, handle;
        ULONG access;
        USHORT trace, type;
        ULONG attributes, more;
    } all[200000];
} handle_list;

static double handles_listed(void) {
    static handle_list list;
    enum { SYSTEM_EXTENDED_HANDLE_INFORMATION = 64 };
    FARPROC found = GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "NtQuerySystemInformation");
    ULONG_PTR count = 0, i;
    query_fn query;
    memcpy(&query, &found, sizeof query);
    if (query == NULL || query(SYSTEM_EXTENDED_HANDLE_INFORMATION, &list, sizeof list, NULL) != 0)
        bench_fail("no count of handles");
    for (i = 0; i < list.count; i++) count += list.all[i].process == GetCurrentProcessId();
    return (double)count;
}

static double handles(void) {
    DWORD count = 0;
    if (!GetProcessHandleCount(GetCurrentProcess(), &count)) bench_fail("no count of handles");
    return count > 0 ? (double)count : handles_listed();
}

static double most_resident(void) {
    PROCESS_MEMORY_COUNTERS counters;
    if (!GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters))
        bench_fail("no memory counters");
    return (double)counters.PeakWorkingSetSize;
}

static void pause_1ms(void) { Sleep(1); }

#else

static double handles(void) {
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (dir == NULL) bench_fail("no /proc/self/fd");
    while (readdir(dir) != NULL) count++;
    (void)closedir(dir);
    return (double)(count - 3); /* ".", ".." and the directory's own */
}

static double most_resident(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) bench_fail("no memory counters");
    return (double)usage.ru_maxrss * 1024;
}

static void pause_1ms(void) {
    struct timespec time = {0, 1000000};
    (void)nanosleep(&time, NULL);
}

#endif

/* ---- the run ---- */

typedef struct counts {
    double *us; /* of steps with events */
    size_t steps, deltas;
    int running, most_running, ended;
    double most_handles, most_ours;
} counts;

static phi_flow answer(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    bench_expect(phi_call_reply(call, "done"), "phi_call_reply");
    return PHI_DONE;
}

/* Takes the events of a step. */
static bool look(phi_runtime *rt, counts *c) {
    bool any = false;
    phi_event ev;
    while (phi_next_event(rt, &ev)) {
        any = true;
        if (ev.kind == PHI_EV_ERROR) bench_fail(ev.failure->message.at);
        if (ev.kind == PHI_EV_TEXT || ev.kind == PHI_EV_TOOL_ARGUMENTS) c->deltas++;
        if (ev.kind == PHI_EV_MESSAGE_START && ev.message->role == PHI_ROLE_ASSISTANT) c->running++;
        if (ev.kind == PHI_EV_MESSAGE_END && ev.message->role == PHI_ROLE_ASSISTANT) c->running--;
        if (ev.kind == PHI_EV_AGENT_END) c->ended++;
    }
    return any;
}

static void step(phi_runtime *rt, counts *c) {
    uint64_t before = bench_wall_ns();
    (void)phi_step(rt, 0);
    double us = (double)(bench_wall_ns() - before) / 1000;
    if (!look(rt, c)) {
        pause_1ms();
        return;
    }
    if (c->steps < MOST_STEPS) c->us[c->steps++] = us;
    if (c->running <= c->most_running) return;
    c->most_running = c->running;
    double ours = (double)phi_memory_used(rt, NULL);
    if (ours > c->most_ours) c->most_ours = ours;
    double held = c->running % 100 == 0 || c->running == AGENTS ? handles() : 0;
    if (held > c->most_handles) c->most_handles = held;
}

static phi_agent agent_of(phi_runtime *rt, int port, int deltas, int number, const phi_tool *tool) {
    char url[BENCH_URL_BYTES];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/talk/anthropic/%d/%d/20/%d/", port, deltas,
                   deltas > 1 ? PACE_US : 1000, number);
    return bench_agent(rt, url, tool);
}

static phi_runtime *runtime_with_a_run(int port, const phi_tool *tool) {
    phi_runtime_desc desc = PHI_ZERO;
    desc.max_connections = AGENTS + 1;
    desc.max_starts_per_step = 32;
    phi_runtime *rt = phi_runtime_new(&desc);
    if (rt == NULL) bench_fail("no runtime");
    (void)bench_run(rt, agent_of(rt, port, 1, 0, tool), "Hello");
    return rt;
}

static void run(int port, counts *c) {
    phi_agent *agents = (phi_agent *)bench_alloc(AGENTS * sizeof *agents);
    phi_tool tool = PHI_ZERO;
    double before, warm, idle;
    int i;
    tool.name = "bench_tool";
    tool.start = answer;
    tool.schema = "{\"type\":\"object\",\"properties\":{\"data\":{\"type\":\"string\"}}}";
    /* the system keeps handles after a first use */
    phi_runtime_free(runtime_with_a_run(port, &tool));
    before = handles();
    phi_runtime *rt = runtime_with_a_run(port, &tool);
    warm = handles();
    idle = (double)phi_memory_used(rt, NULL);
    for (i = 0; i < AGENTS; i++) agents[i] = agent_of(rt, port, DELTAS, i + 1, &tool);
    for (i = 0; i < AGENTS; i++)
        bench_expect(phi_prompt(agents[i], "Can you mend this sword?"), "phi_prompt");
    while (c->ended < AGENTS) step(rt, c);
    bench_line("many_1000_memory_ours_an_agent", (c->most_ours - idle) / AGENTS, "bytes");
    phi_runtime_free(rt);
    free(agents);
    bench_line("many_1000_handles_before", warm, "handles");
    bench_line("many_1000_handles_most", c->most_handles, "handles");
    bench_line("many_1000_handles_without_runtime_before", before, "handles");
    bench_line("many_1000_handles_without_runtime_after", handles(), "handles");
    if (handles() > before) bench_fail("handles are left");
}

int main(int argc, char **argv) {
    counts c = {NULL, 0, 0, 0, 0, 0, 0, 0};
    int port = argc == 2 ? atoi(argv[1]) : 0;
    if (port == 0) bench_fail("usage: bench_many PORT_OF_STREAM_SERVER");
    c.us = (double *)bench_alloc(MOST_STEPS * sizeof *c.us);
    run(port, &c);
    bench_line("many_1000_at_once", c.most_running, "runs");
    bench_line("many_1000_deltas", (double)c.deltas, "deltas");
    bench_line("many_1000_steps", (double)c.steps, "steps");
    bench_percentiles("many_1000_step_wall", c.us, c.steps);
    bench_line("many_1000_memory_resident_most", most_resident(), "bytes");
    free(c.us);
    return 0;
}
