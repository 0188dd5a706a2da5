/* bench_turns.c - a run of 1,000 turns, each a tool call with a result of 2 KiB: the time of its last
   100 turns beside a bare libcurl loop that sends the same bytes, and beside its own first 100.

       bench_turns PATH_OF_STREAM_SERVER

   How many bytes each request has is asked of the server in a run of its own. The bare loop has its
   body ready and only touches the answers. Wall clock and thread CPU time; runs take turns, medians. */
#include "bare.h"
#include "kit.h"

#include <stdlib.h>
#include <string.h>

enum { TURNS = 1000, PART = 100, ROUNDS = 5, RESULT_BYTES = 2048 };

static char result_text[RESULT_BYTES + 1];

/* When each turn had ended, wall clock. */
typedef struct marks {
    uint64_t at[TURNS + 1];
} marks;

static void mark(marks *m, size_t i) { m->at[i] = bench_wall_ns(); }

static phi_flow answer(void *user_data, phi_call call, phi_str arguments) {
    phi_content content = PHI_ZERO;
    phi_tool_result result = PHI_ZERO;
    (void)user_data;
    (void)arguments;
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(result_text);
    result.content = &content;
    result.content_count = 1;
    bench_expect(phi_call_result(call, &result), "phi_call_result");
    return PHI_DONE;
}

/* sizes: NULL, or to be filled with the bytes of each request, which costs time. */
static void run_phi(const bench_server *server, const char *url, marks *m, uint64_t *sizes) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_tool tool = PHI_ZERO;
    phi_agent agent;
    phi_event ev;
    uint64_t before = 0;
    size_t turns = 0;
    tool.name = "bench_tool";
    tool.start = answer;
    tool.may_repeat = true;
    tool.schema = "{\"type\":\"object\",\"properties\":{\"data\":{\"type\":\"string\"}}}";
    agent = bench_agent(rt, url, &tool);
    if (sizes != NULL) before = bench_server_count(server, "bytes_in");
    mark(m, 0);
    bench_expect(phi_prompt(agent, "Go on"), "phi_prompt");
    while (turns < TURNS) {
        (void)phi_step(rt, 0);
        while (phi_next_event(rt, &ev)) {
            if (ev.kind == PHI_EV_ERROR || ev.kind == PHI_EV_AGENT_END) bench_fail("the run ended");
            if (ev.kind != PHI_EV_TURN_END || turns == TURNS) continue;
            mark(m, ++turns);
            if (sizes == NULL) continue;
            sizes[turns - 1] = bench_server_count(server, "bytes_in") - before;
            before += sizes[turns - 1];
        }
    }
    phi_runtime_free(rt);
}

static void run_bare(const char *url, marks *m, const uint64_t *sizes, const char *body) {
    uint64_t bytes = 0;
    size_t i;
    bare b;
    bare_open(&b);
    mark(m, 0);
    for (i = 0; i < TURNS; i++) {
        bare_begin(&b, url, body, (size_t)sizes[i], bare_touch, &bytes);
        while (b.running > 0) (void)bare_step(&b, 0);
        bare_end(&b);
        mark(m, i + 1);
    }
    bare_close(&b);
}

/* us a turn from mark `from` to mark `to`: the median of all of them in all rounds. */
static double turn_us(const marks *m, size_t from, size_t to) {
    static double us[ROUNDS * PART];
    size_t n = 0, i;
    int round;
    for (round = 0; round < ROUNDS; round++)
        for (i = from; i < to; i++) us[n++] = (double)(m[round].at[i + 1] - m[round].at[i]) / 1000;
    return bench_median(us, n);
}

static void print(const marks *ours, const marks *peer) {
    double first = turn_us(ours, 0, PART), last = turn_us(ours, TURNS - PART, TURNS);
    double bare_first = turn_us(peer, 0, PART), bare_last = turn_us(peer, TURNS - PART, TURNS);
    bench_line("turns_first_100_phi", first, "us");
    bench_line("turns_first_100_bare", bare_first, "us");
    bench_line("turns_last_100_phi", last, "us");
    bench_line("turns_last_100_bare", bare_last, "us");
    bench_line("turns_last_100_over_bare", last / bare_last, "times");
    bench_line("turns_last_over_first_phi", last / first, "times");
    bench_line("turns_last_over_first_bare", bare_last / bare_first, "times");
}

int main(int argc, char **argv) {
    static marks ours[ROUNDS], peer[ROUNDS];
    static uint64_t sizes[TURNS];
    bench_server server;
    char url[BENCH_URL_BYTES], *body;
    int i;
    if (argc != 2) bench_fail("usage: bench_turns PATH_OF_STREAM_SERVER");
    for (i = 0; i < RESULT_BYTES; i++) result_text[i] = "a line of a file that was read\n"[i % 31];
    server = bench_server_start(argv[1]);
    bench_url(&server, "/turns/anthropic/1000000/20/0/", url);
    run_phi(&server, url, &ours[0], sizes);
    body = (char *)bench_alloc((size_t)sizes[TURNS - 1]);
    memset(body, ' ', (size_t)sizes[TURNS - 1]);
    bench_line("turns_last_request", (double)sizes[TURNS - 1], "bytes");
    for (i = 0; i < ROUNDS; i++) {
        run_phi(&server, url, &ours[i], NULL);
        run_bare(url, &peer[i], sizes, body);
    }
    print(ours, peer);
    free(body);
    bench_server_stop(&server);
    return 0;
}
