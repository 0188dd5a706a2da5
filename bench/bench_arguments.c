/* bench_arguments.c - CPU time of a delta of one long tool call's arguments: the same at the end as at
   the beginning, where others read again all that has come so far.

       bench_arguments PATH_OF_STREAM_SERVER

   10 KB, 100 KB and 1 MB in deltas of 100 bytes, back to back; every event's text is touched, and its
   `partial`, all arguments so far, is looked at. */
#include "kit.h"

#include <string.h>

enum {
    ROUNDS = 101,
    DELTA_BYTES = 100,
    MOST_OF_A_STEP = 65536 /* what is shorter may come in one step, and has no halves */
};

static volatile uint64_t touched;
static uint64_t clock_cost_ns;

static phi_flow take_all(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    touched += arguments.len;
    return PHI_DONE;
}

/* CPU time of the steps that brought deltas, by where in the stream they stood: its first and second
   45 %, and all. The rest of the stream comes in one step with the end of the call, which has work of
   its own: the arguments are checked against the schema and kept. */
typedef struct parts {
    double spent[3];
    double deltas[3];
} parts;

static void count(parts *p, uint64_t from, uint64_t to, uint64_t all, double spent) {
    const double share = (double)all * 0.45, middle = ((double)from + (double)to) / 2;
    size_t part = middle < share ? 0 : middle < 2 * share ? 1 : 2;
    p->spent[part] += spent;
    p->deltas[part] += (double)(to - from);
}

static double per_delta(const parts *p, size_t from, size_t to) {
    double spent = 0, deltas = 0;
    for (; from < to; from++) {
        spent += p->spent[from];
        deltas += p->deltas[from];
    }
    return deltas > 0 ? spent / deltas : 0;
}

static uint64_t pop(phi_runtime *rt) {
    uint64_t deltas = 0;
    phi_event ev;
    while (phi_next_event(rt, &ev)) {
        if (ev.kind == PHI_EV_ERROR) bench_fail("the run failed");
        if (ev.kind != PHI_EV_TOOL_ARGUMENTS) continue;
        touched += (unsigned char)ev.text.at[ev.text.len - 1];
        touched += (unsigned char)ev.partial.at[ev.partial.len - 1];
        deltas++;
    }
    return deltas;
}

static parts measure(const char *url, uint64_t deltas) {
    phi_tool tool = PHI_ZERO;
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_agent_desc desc;
    parts p;
    uint64_t seen = 0;
    memset(&p, 0, sizeof p);
    tool.name = "bench_tool";
    tool.start = take_all;
    tool.schema = "{\"type\":\"object\",\"properties\":{\"data\":{\"type\":\"string\"}}}";
    desc = bench_desc(url, &tool);
    desc.limits.max_turns = 1;
    bench_expect(phi_prompt(phi_agent_new(rt, &desc), "Go on"), "phi_prompt");
    while (seen < deltas) {
        uint64_t before = bench_cpu_ns(), came;
        (void)phi_step(rt, 0);
        came = pop(rt);
        if (came > 0)
            count(&p, seen, seen + came, deltas, (double)(bench_cpu_ns() - before - clock_cost_ns));
        seen += came;
    }
    phi_runtime_free(rt);
    return p;
}

static double compare(const bench_server *server, uint64_t bytes, const char *name) {
    double first[ROUNDS], second[ROUNDS], all[ROUNDS], ratio[ROUNDS];
    char recipe[100], url[BENCH_URL_BYTES];
    int i;
    (void)snprintf(recipe, sizeof recipe, "/tool/anthropic/%u/%d/", (unsigned)bytes, DELTA_BYTES);
    bench_url(server, recipe, url);
    for (i = 0; i < ROUNDS; i++) {
        parts p = measure(url, bytes / DELTA_BYTES);
        first[i] = per_delta(&p, 0, 1);
        second[i] = per_delta(&p, 1, 2);
        all[i] = per_delta(&p, 0, 3);
        ratio[i] = first[i] > 0 ? second[i] / first[i] : 0;
    }
    (void)snprintf(recipe, sizeof recipe, "arguments_%s_delta", name);
    bench_line(recipe, bench_median(all, ROUNDS), "ns");
    if (bytes < MOST_OF_A_STEP) return bench_median(all, ROUNDS);
    (void)snprintf(recipe, sizeof recipe, "arguments_%s_first_half", name);
    bench_line(recipe, bench_median(first, ROUNDS), "ns");
    (void)snprintf(recipe, sizeof recipe, "arguments_%s_second_half", name);
    bench_line(recipe, bench_median(second, ROUNDS), "ns");
    (void)snprintf(recipe, sizeof recipe, "arguments_%s_second_over_first", name);
    bench_line(recipe, bench_median(ratio, ROUNDS), "times");
    return bench_median(all, ROUNDS);
}

int main(int argc, char **argv) {
    bench_server server;
    double ten, hundred, thousand;
    if (argc != 2) bench_fail("usage: bench_arguments PATH_OF_STREAM_SERVER");
    server = bench_server_start(argv[1]);
    clock_cost_ns = bench_clock_cost_ns();
    ten = compare(&server, 10000, "10k");
    hundred = compare(&server, 100000, "100k");
    thousand = compare(&server, 1000000, "1m");
    bench_line("arguments_100k_over_10k", hundred / ten, "times");
    bench_line("arguments_1m_over_100k", thousand / hundred, "times");
    bench_server_stop(&server);
    return 0;
}
