/* bench_load.c - what it costs to load a thread, a snapshot and a session, over what it costs to parse their bytes.

       bench_load

   Four shapes of a thread, each of 1 MB and of 4 MB of text:
   - rewrites: messages, as many rewrites that each put one message in the place of one, then as many that undo them;
   - switches: a message and a switch to the other one of two lanes, in turn;
   - switch_to: a message and a rewrite of it that switches to the other one of two lanes, in turn;
   - lanes: a lane that is forked from the default one, a switch to it, a message.
   Each is loaded as a thread (phi_thread_from_json) and as a snapshot (phi_agent_restore); a session (phi_session_from_json)
   has loops of a turn. `..._over_parse` is the time over that of one phi_json_parse of the same bytes; `..._4mb_over_1mb`
   the time of 4 MB over that of 1 MB. Times are thread CPU, the best of several, taken in turn. Each begins with memory
   that the system has not given yet, as a program does that loads what it saved: else it is chance, and the allocator's
   thresholds, which of two that are compared pays for its pages. Prints `name value unit` lines. */
#include "phi_tools.h"
#include "kit.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, MB = 1000000, SNAPSHOT_HEAD = 200 };

typedef struct text {
    char *at;
    size_t len, cap;
} text;

static void need(bool fine, const char *what) {
    if (!fine) bench_fail(what);
}

/* ---- making ---- */

static void put(text *t, const char *format, ...) PHI_PRINTF(2, 3);

static void put(text *t, const char *format, ...) {
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(t->at + t->len, t->cap - t->len, format, args);
    va_end(args);
    need(n >= 0 && (size_t)n < t->cap - t->len, "a text is too long");
    t->len += (size_t)n;
}

static const char *lane_of(unsigned n) { return n % 2 == 0 ? "" : ",\"lane\":\"side\""; }

static void put_message(text *t, unsigned seq, const char *lane) {
    put(t,
        "{\"seq\":%u,\"kind\":\"message\",\"at\":1700000000000%s,\"message\":{\"role\":\"user\","
        "\"content\":[{\"type\":\"text\",\"text\":\"the gate of the old forge by the river was "
        "closed in spring\"}],\"timestamp\":1700000000000}}\n",
        seq, lane);
}

static void put_rewrite(text *t, unsigned seq, const char *lane, unsigned at, const char *more) {
    put(t,
        "{\"seq\":%u,\"kind\":\"rewrite\",\"at\":1700000000000%s,\"op_id\":\"r%u\",\"reason\":"
        "\"manual\",\"base_seq\":%u%s,\"spans\":[{\"from\":%u,\"to\":%u,\"messages\":[{\"message\":"
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"the gate was closed\"}],"
        "\"timestamp\":1700000000000}}]}]}\n",
        seq, lane, seq, seq - 1, more, at, at);
}

static void put_rewrites(text *t, size_t bytes) {
    unsigned n = (unsigned)(bytes / 590), i;
    for (i = 0; i < n; i++) put_message(t, i, "");
    for (i = 0; i < n; i++) put_rewrite(t, n + i, "", i, "");
    for (i = 0; i < n; i++)
        put(t,
            "{\"seq\":%u,\"kind\":\"rewrite\",\"at\":1700000000000,\"op_id\":\"u%u\",\"reason\":"
            "\"manual\",\"base_seq\":%u,\"revoke\":\"r%u\",\"spans\":[]}\n",
            2 * n + i, i, 2 * n + i - 1, n + i);
}

static void put_switches(text *t, size_t bytes) {
    unsigned i;
    put_message(t, 0, "");
    put(t, "{\"seq\":1,\"kind\":\"lane\",\"at\":1700000000000,\"lane\":\"side\",\"parent\":"
           "\"default\",\"fork_seq\":0}\n");
    for (i = 2; t->len < bytes; i += 2) {
        put_message(t, i, lane_of((i - 2) / 2));
        put(t, "{\"seq\":%u,\"kind\":\"switch\",\"at\":1700000000000%s}\n", i + 1, lane_of(i / 2));
    }
}

static void put_switch_to(text *t, size_t bytes) {
    unsigned i;
    put_message(t, 0, "");
    put(t, "{\"seq\":1,\"kind\":\"lane\",\"at\":1700000000000,\"lane\":\"side\",\"parent\":"
           "\"default\",\"fork_seq\":0}\n");
    for (i = 2; t->len < bytes; i += 2) {
        put_message(t, i, lane_of((i - 2) / 2));
        put_rewrite(t, i + 1, lane_of((i - 2) / 2), i,
                    (i / 2) % 2 == 0 ? ",\"switch_to\":\"default\"" : ",\"switch_to\":\"side\"");
    }
}

static void put_lanes(text *t, size_t bytes) {
    unsigned i, n;
    char lane[40];
    put_message(t, 0, "");
    for (i = 1, n = 0; t->len < bytes; i += 3, n++) {
        (void)snprintf(lane, sizeof lane, ",\"lane\":\"way %u\"", n);
        put(t,
            "{\"seq\":%u,\"kind\":\"lane\",\"at\":1700000000000%s,\"parent\":\"default\","
            "\"fork_seq\":0}\n"
            "{\"seq\":%u,\"kind\":\"switch\",\"at\":1700000000000%s}\n",
            i, lane, i + 1, lane);
        put_message(t, i + 2, lane);
    }
}

static void put_session(text *t, size_t bytes) {
    unsigned i;
    put(t, "{\"session_id\":\"s\",\"loops\":[");
    for (i = 0; t->len < bytes; i++)
        put(t,
            "%s{\"loop_id\":\"s.m.%u\",\"session_id\":\"s\",\"agent_id\":\"a\",\"messages\":["
            "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"what of the gate?\"}],"
            "\"timestamp\":1700000000000},{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
            "\"text\":\"the gate of the old forge by the river was closed in spring\"}],"
            "\"stopReason\":\"stop\",\"model\":\"m\",\"provider\":\"p\",\"usage\":{\"input\":10,"
            "\"output\":5},\"timestamp\":1700000000000}]}",
            i > 0 ? "," : "", i);
    put(t, "]}");
}

/* The lines as a snapshot of an agent that is idle. */
static text snapshot_of(const text *lines) {
    text out;
    size_t i;
    memset(&out, 0, sizeof out);
    out.cap = lines->len + SNAPSHOT_HEAD;
    out.at = (char *)bench_alloc(out.cap);
    put(&out, "{\"phi_snapshot\":%d,\"thread\":[{\"phi_thread\":1},", (int)PHI_SNAPSHOT_VERSION);
    for (i = 0; i < lines->len; i++)
        out.at[out.len++] = lines->at[i] != '\n' ? lines->at[i] : i + 1 < lines->len ? ',' : ']';
    out.at[out.len++] = '}';
    return out;
}

/* ---- loading ---- */

typedef double load_fn(phi_runtime *rt, phi_str json);

static phi_str str_of(const text *t) {
    phi_str s;
    s.at = t->at;
    s.len = t->len;
    return s;
}

static double parse_once(phi_runtime *rt, phi_str json) {
    phi_memory memory;
    phi_arena arena;
    phi_json *root;
    uint64_t began;
    double ns;
    (void)rt;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    began = bench_cpu_ns();
    bench_expect(phi_json_parse(&arena, json, 0, &root, NULL), "parse");
    ns = (double)(bench_cpu_ns() - began);
    phi_arena_free(&arena);
    return ns;
}

static double thread_once(phi_runtime *rt, phi_str json) {
    static const char header[] = "{\"phi_thread\":1}\n";
    phi_thread *thread = phi_thread_new(rt, 0);
    char *whole = (char *)bench_alloc(json.len + sizeof header);
    phi_parse_error error;
    phi_str s;
    uint64_t began;
    double ns;
    need(thread != NULL, "no thread");
    memcpy(whole, header, sizeof header - 1);
    memcpy(whole + sizeof header - 1, json.at, json.len);
    s.at = whole;
    s.len = json.len + sizeof header - 1;
    began = bench_cpu_ns();
    bench_expect(phi_thread_from_json(thread, s, &error), error.message);
    ns = (double)(bench_cpu_ns() - began);
    phi_thread_free(thread);
    free(whole);
    return ns;
}

static double snapshot_once(phi_runtime *rt, phi_str json) {
    phi_agent_desc desc = bench_desc("http://127.0.0.1:1", NULL);
    uint64_t began = bench_cpu_ns();
    phi_agent agent = phi_agent_restore(rt, &desc, json, PHI_RESTORE_RESUME);
    double ns = (double)(bench_cpu_ns() - began);
    need(agent.rt != NULL, phi_last_error(rt).message);
    phi_agent_free(agent);
    (void)phi_step(rt, 0);
    return ns;
}

static double session_once(phi_runtime *rt, phi_str json) {
    phi_session *session = NULL;
    phi_parse_error error;
    uint64_t began = bench_cpu_ns();
    double ns;
    (void)rt;
    bench_expect(phi_session_from_json(json, NULL, 0, &session, &error), "session");
    ns = (double)(bench_cpu_ns() - began);
    phi_session_free(session);
    return ns;
}

/* The time of one, where it is less than the best so far (0: none). */
static void once(load_fn *load, phi_runtime *rt, const text *t, double *best) {
    double ns;
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
    ns = load(rt, str_of(t));
    if (*best <= 0 || ns < *best) *best = ns;
}

static void line(const char *kind, const char *shape, const char *what, double value) {
    char name[100];
    (void)snprintf(name, sizeof name, "load_%s_%s%s%s", kind, shape, shape[0] != '\0' ? "_" : "",
                   what);
    bench_line(name, value, "times");
}

static void measure(const char *kind, const char *shape, load_fn *load, const text small_large[2],
                    const text parsed[2]) {
    phi_runtime *rt = phi_runtime_new(NULL);
    double loading[2] = {0, 0}, parsing[2] = {0, 0};
    int round, i;
    need(rt != NULL, "no runtime");
    for (round = 0; round < ROUNDS; round++)
        for (i = 0; i < 2; i++) {
            once(load, rt, &small_large[i], &loading[i]);
            once(parse_once, rt, &parsed[i], &parsing[i]);
        }
    line(kind, shape, "over_parse", loading[0] / parsing[0]);
    line(kind, shape, "4mb_over_parse", loading[1] / parsing[1]);
    line(kind, shape, "4mb_over_1mb", loading[1] / loading[0]);
    phi_runtime_free(rt);
}

static text made(void (*fill)(text *, size_t), size_t bytes) {
    text t;
    memset(&t, 0, sizeof t);
    t.cap = bytes + bytes / 4 + 10000;
    t.at = (char *)bench_alloc(t.cap);
    fill(&t, bytes);
    return t;
}

static void shape(const char *name, void (*fill)(text *, size_t)) {
    text lines[2], snapshots[2];
    int i;
    for (i = 0; i < 2; i++) {
        lines[i] = made(fill, (size_t)(i == 0 ? 1 : 4) * MB);
        snapshots[i] = snapshot_of(&lines[i]);
    }
    measure("thread", name, thread_once, lines, snapshots);
    measure("snapshot", name, snapshot_once, snapshots, snapshots);
    for (i = 0; i < 2; i++) {
        free(lines[i].at);
        free(snapshots[i].at);
    }
}

int main(void) {
    text sessions[2];
    sessions[0] = made(put_session, MB);
    sessions[1] = made(put_session, (size_t)4 * MB);
    measure("session", "", session_once, sessions, sessions);
    free(sessions[0].at);
    free(sessions[1].at);
    shape("switches", put_switches);
    shape("switch_to", put_switch_to);
    shape("lanes", put_lanes);
    shape("rewrites", put_rewrites);
    return 0;
}
