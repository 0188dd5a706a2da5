/* bench_project.c - what a policy costs: a turn of a long conversation beside one of a short, and a projection of
   everything beside reading the same messages as JSON.

       cc -O2 -std=c99 -D_GNU_SOURCE -Isrc bench/bench_project.c build/bench/inside.o -lcurl -lm

   - a turn in the thread alone: four messages (a question, a call, its result of 1 KiB, an answer) are appended and
     the newest 8,000 tokens projected; turns 10,000 to 10,100 over turns 100 to 200;
   - a whole run of an agent with a model in the process, one call of it, from phi_prompt to AGENT_END; the same;
   - 100,000 entries that were never folded: folded, linked and projected without a limit, so that all are shown,
     over phi_message_from_json of each of their texts.

   Memory that was freed stays with the process: else the kernel's cost of fresh pages is what is seen. Times are
   thread CPU, the median of the rounds. Prints `name value unit` lines. */
#include "agent/agent.h"
#include "loop/events.h"
#include "loop/provider.h"
#include "log/thread_in.h"
#include "persist/persist_in.h"
#include "wire/writer.h"
#include "loop/state_in.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 7, EARLY = 100, LATE = 10000, PART = 100, ENTRIES = 100000, RESULT_BYTES = 1024 };

static double now_us(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t n) {
    qsort(values, n, sizeof *values, by_size);
    return values[n / 2];
}

static void line(const char *name, double value, const char *unit) {
    printf("%s %.*f %s\n", name, value < 10 ? 3 : 1, value, unit);
    fflush(stdout);
}

static void must(bool held) {
    if (!held) abort();
}

/* ---- messages ---- */

static char result_text[RESULT_BYTES];

static void append(phi_thread *thread, phi_role role, phi_content *block, const char *id) {
    phi_message m = PHI_ZERO;
    m.role = role;
    m.content = block;
    m.content_count = 1;
    if (role == PHI_ROLE_ASSISTANT) m.stop_reason = PHI_STOP_REASON_STOP;
    if (role == PHI_ROLE_TOOL_RESULT) {
        m.tool_call_id = phi_str_of(id);
        m.tool_name = phi_str_of("read_file");
    }
    must(phi_thread_append(thread, &m, 1, NULL) == PHI_OK);
}

static void append_text(phi_thread *thread, phi_role role, const char *text) {
    phi_content c = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    append(thread, role, &c, NULL);
}

static void append_turn(phi_thread *thread, size_t turn) {
    char id[32];
    phi_content c = PHI_ZERO;
    (void)snprintf(id, sizeof id, "call_%u", (unsigned)turn);
    append_text(thread, PHI_ROLE_USER, "What does the next file of the list say about the bridge?");
    c.kind = PHI_CONTENT_TOOL_CALL;
    c.id = phi_str_of(id);
    c.name = phi_str_of("read_file");
    c.arguments = phi_str_of("{\"path\":\"notes/bridge.txt\"}");
    append(thread, PHI_ROLE_ASSISTANT, &c, NULL);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi__str(result_text, sizeof result_text);
    append(thread, PHI_ROLE_TOOL_RESULT, &c, id);
    append_text(thread, PHI_ROLE_ASSISTANT,
                "That it was closed in the spring, and is to be mended.");
}

/* ---- a turn of the thread ---- */

static size_t project_now(phi_thread *thread, phi_arena *arena, const phi_policy *policy) {
    phi__proj_order order;
    phi__projection made;
    phi_arena_mark mark = phi_arena_save(arena);
    memset(&order, 0, sizeof order);
    phi__fold_link(&thread->fold);
    order.fold = &thread->fold;
    order.count = thread->fold.count;
    order.policy = policy;
    must(phi__project(&order, arena, &made) == PHI_OK && made.count > 0);
    phi_arena_reset(arena, mark);
    return made.count;
}

static double turns_us(phi_thread *thread, phi_arena *arena, size_t *turn, size_t to,
                       const phi_policy *policy) {
    double began = now_us();
    size_t from = *turn;
    for (; *turn < to; ++*turn) {
        append_turn(thread, *turn);
        (void)project_now(thread, arena, policy);
    }
    return (now_us() - began) / (double)(to - from);
}

static void bench_thread(void) {
    static double early[ROUNDS], late[ROUNDS];
    phi_policy policy = phi_policy_of(PHI_POLICY_DEFAULT, NULL);
    double a, b;
    int i;
    for (i = 0; i < ROUNDS; i++) {
        phi_memory memory;
        phi_thread thread;
        phi_arena arena;
        size_t turn = 0;
        phi_memory_init(&memory, NULL, 0);
        phi__thread_init(&thread, &memory, NULL);
        phi_arena_init(&arena, &memory, 65536);
        (void)turns_us(&thread, &arena, &turn, EARLY, &policy);
        early[i] = turns_us(&thread, &arena, &turn, EARLY + PART, &policy);
        (void)turns_us(&thread, &arena, &turn, LATE, &policy);
        late[i] = turns_us(&thread, &arena, &turn, LATE + PART, &policy);
        phi_arena_free(&arena);
        phi__journal_free_thread(&thread);
    }
    a = median(early, ROUNDS);
    b = median(late, ROUNDS);
    line("project_turn_at_100", a, "us");
    line("project_turn_at_10000", b, "us");
    line("project_turn_at_10000_over_100", b / a, "times");
}

/* ---- a run of an agent ---- */

static phi_status model_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static phi_poll model_poll(void *user_data, void *call, phi_answer *answer) {
    (void)user_data;
    (void)call;
    phi_answer_text(answer, phi_str_of("That it was closed in the spring, and is to be mended."));
    return PHI_POLL_DONE;
}

static void model_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

static phi_agent make_agent(phi_runtime *rt, const phi_policy *policy) {
    static int nothing;
    phi_provider provider = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    provider.protocol = "bench";
    provider.user_data = &nothing;
    provider.open = model_open;
    provider.poll = model_poll;
    provider.close = model_close;
    desc.provider = &provider;
    desc.model.protocol = "bench";
    desc.model.id = "bench";
    desc.policy = policy;
    desc.compaction.disable = true;
    return phi_agent_new(rt, &desc);
}

static double runs_us(phi_runtime *rt, phi_agent agent, size_t n) {
    double began = now_us();
    phi_event ev;
    size_t i;
    for (i = 0; i < n; i++) {
        must(phi_prompt(agent, "What does the next file say about the bridge?") == PHI_OK);
        do {
            while (phi_next_event(rt, &ev)) must(ev.kind != PHI_EV_ERROR);
        } while (phi_step(rt, 0) > 0);
        while (phi_next_event(rt, &ev)) must(ev.kind != PHI_EV_ERROR);
    }
    return (now_us() - began) / (double)n;
}

static void bench_runs(void) {
    static double early[ROUNDS], late[ROUNDS];
    phi_policy policy = phi_policy_of(PHI_POLICY_DEFAULT, NULL);
    double a, b;
    int i;
    for (i = 0; i < ROUNDS; i++) {
        phi_runtime *rt = phi_runtime_new(NULL);
        phi_agent agent = make_agent(rt, &policy);
        must(agent.rt != NULL);
        (void)runs_us(rt, agent, 4 * EARLY); /* by then its window is full */
        early[i] = runs_us(rt, agent, PART);
        (void)runs_us(rt, agent, LATE - 4 * EARLY - PART);
        late[i] = runs_us(rt, agent, PART);
        phi_runtime_free(rt);
    }
    a = median(early, ROUNDS);
    b = median(late, ROUNDS);
    line("project_run_at_400", a, "us");
    line("project_run_at_10000", b, "us");
    line("project_run_at_10000_over_400", b / a, "times");
}

/* ---- everything, cold ---- */

static double cold_us(phi_thread *thread, phi_memory *memory) {
    phi_policy policy = phi_policy_of(PHI_POLICY_DEFAULT, NULL);
    phi_thread view = *thread; /* its own fold, made anew */
    phi_arena arena;
    double began;
    policy.max_input_tokens = PHI_POLICY_UNLIMITED;
    phi_arena_init(&arena, memory, 65536);
    began = now_us();
    must(phi__fold_lane(thread, thread->lanes.active, UINT64_MAX, &view.fold) == PHI_OK);
    must(project_now(&view, &arena, &policy) == ENTRIES);
    began = now_us() - began;
    phi__fold_free(memory, &view.fold);
    phi_arena_free(&arena);
    return began;
}

static double parse_us(const phi_str *texts, phi_memory *memory) {
    phi_arena arena;
    phi_parse_error error;
    double began;
    size_t i;
    phi_arena_init(&arena, memory, 65536);
    began = now_us();
    for (i = 0; i < ENTRIES; i++) {
        phi_message m;
        must(phi_message_from_json(texts[i], &arena, &m, &error) == PHI_OK);
    }
    began = now_us() - began;
    phi_arena_free(&arena);
    return began;
}

static void bench_cold(void) {
    static double cold[ROUNDS], parse[ROUNDS];
    phi_str *texts = (phi_str *)calloc(ENTRIES, sizeof *texts);
    phi_memory memory;
    phi_arena arena;
    phi_thread thread;
    double a, b;
    size_t i;
    must(texts != NULL);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 65536);
    phi__thread_init(&thread, &memory, NULL);
    for (i = 0; i < ENTRIES / 4; i++) append_turn(&thread, i);
    for (i = 0; i < ENTRIES; i++)
        must(phi_message_to_json(thread.log.entries[i]->message, &arena, &texts[i]) == PHI_OK);
    for (i = 0; i < ROUNDS; i++) {
        cold[i] = cold_us(&thread, &memory);
        parse[i] = parse_us(texts, &memory);
    }
    a = median(cold, ROUNDS);
    b = median(parse, ROUNDS);
    line("project_cold_100000", a / 1000, "ms");
    line("project_cold_100000_parse", b / 1000, "ms");
    line("project_cold_over_parse", a / b, "times");
    phi__journal_free_thread(&thread);
    phi_arena_free(&arena);
    free(texts);
}

int main(void) {
    size_t i;
    (void)mallopt(M_TRIM_THRESHOLD,
                  1 << 30); /* pages of an earlier round are there for every turn of the next */
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 30);
    for (i = 0; i < RESULT_BYTES; i++) result_text[i] = "a line of a file that was read\n"[i % 31];
    bench_thread();
    bench_runs();
    bench_cold();
    return 0;
}
