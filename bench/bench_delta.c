/* bench_delta.c - CPU time of one streamed delta: phi beside bare libcurl.

       bench_delta PATH_OF_STREAM_SERVER [one_by_one | asleep | back_to_back]

   One by one: the server writes a delta every 200 us, and each is a wake-up. The peer is libcurl over
   epoll that touches the bytes and knows nothing of events. Twice: pumped without waiting, as a game
   does, where only the turns that had work count; and asleep between deltas, as a server does, all
   CPU time counted.
   Back to back: as fast as the socket takes them. The peers find the events and build a tree of each
   delta with one JSON library each; the fastest of them counts. Beside them, the one that only
   touches the bytes.
   From the first delta to the last: connecting and asking are elsewhere (bench_step,
   bench_first_byte). All take turns; the median of the rounds counts, and so does that of the ratios. */
#include "bare.h"
#include "kit.h"
#include "trees.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, PACED = 2000, FLOOD = 60000, MOST_READERS = 8, LINE_BYTES = 65536 };

typedef struct reader {
    const char *name;
    double (*read)(const struct reader *reader, const char *url, uint64_t deltas);
    tree_fn tree; /* NULL: touches the bytes */
    int timeout_ms;
    double spent[ROUNDS];
} reader;

static uint64_t clock_cost_ns;
static volatile uint64_t touched;

static void touch(phi_str text) {
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < text.len; i++) sum += (unsigned char)text.at[i];
    touched += sum;
}

/* CPU time of the turns that had work, or of all. */
typedef struct meter {
    uint64_t before, sum;
    bool begun, always;
} meter;

static void meter_turn(meter *m) {
    if (!m->always || !m->begun) m->before = bench_cpu_ns();
}

static void meter_worked(meter *m, bool on) {
    if (!m->always && m->begun) m->sum += bench_cpu_ns() - m->before - clock_cost_ns;
    if (on) m->begun = true;
}

/* ---- phi ---- */

static double read_phi(const reader *r, const char *url, uint64_t deltas) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_agent agent = bench_agent(rt, url, NULL);
    meter m = {0, 0, false, false};
    uint64_t seen = 0;
    phi_event ev;
    m.always = r->timeout_ms != 0;
    bench_expect(phi_prompt(agent, "Hello"), "phi_prompt");
    while (seen < deltas) {
        uint64_t had = seen;
        meter_turn(&m);
        (void)phi_step(rt, r->timeout_ms);
        while (phi_next_event(rt, &ev)) {
            if (ev.kind == PHI_EV_ERROR) bench_fail("the run failed");
            if (ev.kind != PHI_EV_TEXT) continue;
            touch(ev.text);
            seen++;
        }
        if (seen > had) meter_worked(&m, true);
    }
    if (m.always) m.sum = bench_cpu_ns() - m.before;
    phi_runtime_free(rt);
    return (double)m.sum / (double)deltas;
}

/* ---- libcurl ---- */

typedef struct stream {
    tree_fn tree;
    char buffer[LINE_BYTES + 64];
    size_t len;
    uint64_t bytes, deltas;
    char *answer;
    size_t answer_len, answer_cap;
} stream;

static void take_event(stream *s, char *data, size_t len) {
    size_t n;
    if (s->answer_cap - s->answer_len < len) {
        s->answer_cap = (s->answer_cap + len) * 2;
        s->answer = (char *)realloc(s->answer, s->answer_cap);
        if (s->answer == NULL) bench_fail("no memory");
    }
    n = s->tree(data, len, s->answer + s->answer_len, len);
    if (n == SIZE_MAX) bench_fail("a peer cannot read a delta");
    if (n == 0) return;
    s->answer_len += n;
    s->deltas++;
}

/* Lines; "data:" ones are events, as all are of one line here. */
static size_t take_lines(char *at, size_t size, size_t n, void *user_data) {
    stream *s = (stream *)user_data;
    size_t len = size * n;
    char *line = s->buffer, *end, *feed;
    if (s->len + len > LINE_BYTES) bench_fail("a line is too long");
    memcpy(s->buffer + s->len, at, len);
    s->len += len;
    end = s->buffer + s->len;
    while ((feed = (char *)memchr(line, '\n', (size_t)(end - line))) != NULL) {
        if (feed - line > 6 && memcmp(line, "data: ", 6) == 0)
            take_event(s, line + 6, (size_t)(feed - line) - 6);
        line = feed + 1;
    }
    s->len = (size_t)(end - line);
    memmove(s->buffer, line, s->len);
    return len;
}

static size_t take_bytes(char *at, size_t size, size_t n, void *user_data) {
    return bare_touch(at, size, n, &((stream *)user_data)->bytes);
}

static double read_bare(const reader *r, const char *url, uint64_t deltas) {
    static const char body[] = "{\"model\":\"bench\",\"stream\":true}";
    static stream s;
    bare b;
    meter m = {0, 0, false, false};
    memset(&s, 0, sizeof s);
    s.tree = r->tree;
    m.always = r->timeout_ms != 0;
    bare_open(&b);
    bare_begin(&b, url, body, sizeof body - 1, r->tree != NULL ? take_lines : take_bytes, &s);
    while (b.running > 0) {
        uint64_t had = s.bytes + s.deltas + s.len;
        meter_turn(&m);
        if (bare_step(&b, r->timeout_ms) > 0 || s.bytes + s.deltas + s.len != had)
            meter_worked(&m, s.bytes + s.deltas + s.len != had);
    }
    if (m.always) m.sum = bench_cpu_ns() - m.before;
    if (r->tree != NULL && s.deltas != deltas) bench_fail("a peer lost deltas");
    bare_end(&b);
    bare_close(&b);
    free(s.answer);
    return (double)m.sum / (double)deltas;
}

/* ---- taking turns ---- */

static void print_ratio(const char *what, const char *peer, reader *ours, const reader *other) {
    double ratio[ROUNDS];
    char name[100];
    int round;
    for (round = 0; round < ROUNDS; round++)
        ratio[round] = ours->spent[round] / other->spent[round];
    (void)snprintf(name, sizeof name, "delta_%s_over_%s", what, peer);
    bench_line(name, bench_median(ratio, ROUNDS), "times");
}

static void compare(const char *what, const char *url, uint64_t deltas, reader *readers, size_t n) {
    double best = 0, median[MOST_READERS], copy[ROUNDS];
    size_t i, fastest = 0;
    char name[100];
    int round;
    for (round = 0; round < ROUNDS; round++)
        for (i = 0; i < n; i++) readers[i].spent[round] = readers[i].read(&readers[i], url, deltas);
    for (i = 0; i < n; i++) {
        memcpy(copy, readers[i].spent, sizeof copy);
        median[i] = bench_median(copy, ROUNDS);
        (void)snprintf(name, sizeof name, "delta_%s_%s", what, readers[i].name);
        bench_line(name, median[i], "ns");
        if (readers[i].tree == NULL || (fastest != 0 && median[i] >= best)) continue;
        best = median[i];
        fastest = i;
    }
    print_ratio(what, "bare_bytes", &readers[0], &readers[1]);
    if (fastest == 0) return;
    print_ratio(what, "bare_fastest_tree", &readers[0], &readers[fastest]);
}

static void one_by_one(const bench_server *server, const char *what, int timeout_ms) {
    reader readers[2] = {{"phi", read_phi, NULL, 0, {0}}, {"bare_bytes", read_bare, NULL, 0, {0}}};
    char url[BENCH_URL_BYTES];
    readers[0].timeout_ms = readers[1].timeout_ms = timeout_ms;
    bench_url(server, "/sse/anthropic/2000/200/40/", url);
    compare(what, url, PACED, readers, 2);
}

static void back_to_back(const bench_server *server) {
    reader readers[MOST_READERS] = {{"phi", read_phi, NULL, 0, {0}},
                                    {"bare_bytes", read_bare, NULL, 0, {0}}};
    const tree_peer *peer;
    char url[BENCH_URL_BYTES];
    size_t n = 2;
    for (peer = tree_peers(); peer->name != NULL && n < MOST_READERS; peer++, n++) {
        readers[n].name = peer->name;
        readers[n].read = read_bare;
        readers[n].tree = peer->take;
    }
    bench_url(server, "/sse/anthropic/60000/0/40/", url);
    compare("back_to_back", url, FLOOD, readers, n);
}

int main(int argc, char **argv) {
    bench_server server;
    const char *only = argc == 3 ? argv[2] : NULL;
    if (argc != 2 && argc != 3) bench_fail("usage: bench_delta PATH_OF_STREAM_SERVER [PART]");
    server = bench_server_start(argv[1]);
    clock_cost_ns = bench_clock_cost_ns();
    if (only == NULL || strcmp(only, "one_by_one") == 0) one_by_one(&server, "one_by_one", 0);
    if (only == NULL || strcmp(only, "asleep") == 0) one_by_one(&server, "asleep", -1);
    if (only == NULL || strcmp(only, "back_to_back") == 0) back_to_back(&server);
    bench_server_stop(&server);
    return 0;
}
