/* bench_thread.c - what a thread keeps in memory: branches of one, a run that goes on and on, and a talk at a limit.

       bench_thread

   - branches: 1,000 lanes, forked one at each entry of a thread of 1,000 messages of 200 bytes and more, a question and
     an answer in turn. Bytes a branch: as forked; and when each has gone on with a question and an answer of its own;
   - a run of 1,000 turns with a model in the process and a tool, in a window of 32,000 tokens, compacted as it goes,
     its thread in a file store: the most bytes there were up to the 200th turn, and in all. Counted in the allocator
     of runtime and store together. What the file has is counted by reading it back.

   - a talk: exchanges of 175 bytes of text with a model in the process. Bytes an exchange without a limit; with a limit of
     64 KB, for each way to be at it, the CPU of 10,000 exchanges over that of an agent whose policy sends as few
     turns, and the most memory there was.

   Bytes are exact and the same in every run; times are thread CPU. Prints `name value unit` lines. */
#include "kit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ENTRIES = 1000,
    BRANCHES = 1000,
    TURNS = 1000,
    EARLY = 200,
    WINDOW = 32000,
    TEXT_MOST = 10000,
    MESSAGE_BYTES = 200
};

static char filler[TEXT_MOST + 1];

static void need(bool fine, const char *what) {
    if (!fine) bench_fail(what);
}

static void fill_filler(void) {
    static const char words[] = "the gate of the old forge by the river was closed in spring\n";
    size_t i;
    for (i = 0; i < TEXT_MOST; i++) filler[i] = words[i % (sizeof words - 1)];
}

/* ---- branches ---- */

static void say(phi_thread *thread, phi_role role, size_t bytes) {
    phi_content block = PHI_ZERO;
    phi_message m = PHI_ZERO;
    block.kind = PHI_CONTENT_TEXT;
    block.text.at = filler;
    block.text.len = bytes;
    m.role = role;
    m.content = &block;
    m.content_count = 1;
    if (role == PHI_ROLE_ASSISTANT) m.stop_reason = PHI_STOP_REASON_STOP;
    bench_expect(phi_thread_append(thread, &m, 1, NULL), "append");
}

static void name_of(char name[32], unsigned i) { (void)snprintf(name, 32, "what if %u", i); }

static size_t go_on(phi_thread *thread) {
    size_t most = 0;
    unsigned i;
    for (i = 0; i < BRANCHES; i++) {
        phi_describe what = PHI_ZERO;
        phi_lane_figures figures;
        char name[32];
        name_of(name, i);
        bench_expect(phi_thread_switch(thread, name), "switch");
        say(thread, PHI_ROLE_USER, MESSAGE_BYTES);
        say(thread, PHI_ROLE_ASSISTANT, MESSAGE_BYTES);
        bench_expect(phi_thread_describe(thread, &what, NULL, NULL, &figures), "figures");
        if (figures.messages > most) most = figures.messages;
    }
    bench_expect(phi_thread_switch(thread, PHI_LANE_DEFAULT), "switch");
    return most;
}

static void bench_branches(void) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_thread *thread = rt != NULL ? phi_thread_new(rt, 0) : NULL;
    size_t empty, full, forked, grown;
    uint64_t began;
    unsigned i;
    need(thread != NULL, "no thread");
    empty = phi_memory_used(rt, NULL);
    for (i = 0; i < ENTRIES; i++)
        say(thread, i % 2 == 0 ? PHI_ROLE_USER : PHI_ROLE_ASSISTANT, MESSAGE_BYTES + i % 7 * 50);
    full = phi_memory_used(rt, NULL);
    began = bench_cpu_ns();
    for (i = 0; i < BRANCHES; i++) {
        char name[32];
        name_of(name, i);
        bench_expect(phi_thread_fork_lane(thread, name, PHI_LANE_DEFAULT, i), "fork");
    }
    bench_line("thread_fork", (double)(bench_cpu_ns() - began) / 1e3 / BRANCHES, "us");
    forked = phi_memory_used(rt, NULL);
    began = bench_cpu_ns();
    need(go_on(thread) >= ENTRIES, "a branch is too short");
    bench_line("thread_branch_switch_and_turn", (double)(bench_cpu_ns() - began) / 1e3 / BRANCHES,
               "us");
    grown = phi_memory_used(rt, NULL);
    need(phi_thread_get_info(thread).lane_count == BRANCHES + 1, "lanes are missing");
    bench_line("thread_of_1000_entries", (double)(full - empty), "bytes");
    bench_line("thread_branch_bytes", (double)(forked - full) / BRANCHES, "bytes");
    bench_line("thread_branch_with_a_turn_bytes", (double)(grown - full) / BRANCHES, "bytes");
    phi_runtime_free(rt);
}

/* ---- a long run ---- */

typedef struct counted {
    size_t live, peak, early; /* early: the peak up to turn EARLY */
    unsigned turns, compactions, answers;
} counted;

static void *count_realloc(void *user_data, void *ptr, size_t old, size_t now) {
    counted *c = (counted *)user_data;
    void *moved = NULL;
    if (now == 0)
        free(ptr);
    else if ((moved = realloc(ptr, now)) == NULL)
        return NULL;
    c->live += now;
    c->live -= old;
    if (c->live > c->peak) c->peak = c->live;
    return moved;
}

static phi_allocator counting(counted *c) {
    phi_allocator a = PHI_ZERO;
    a.realloc_fn = count_realloc;
    a.user_data = c;
    return a;
}

/* A text and a call a turn; ten sizes of either, and one result in ten is long. */
static size_t text_bytes(unsigned turn) { return 100 + turn * 237 % 10 * 70; }

static size_t result_bytes(unsigned turn) {
    return turn % 10 == 5 ? 9000 : 200 + turn * 7919 % 10 * 200;
}

static phi_status model_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static phi_poll model_poll(void *user_data, void *call, phi_answer *answer) {
    counted *c = (counted *)user_data;
    char arguments[32];
    phi_str text;
    (void)call;
    text.at = filler;
    text.len = text_bytes(c->answers);
    phi_answer_text(answer, text);
    if (++c->answers == TURNS) return PHI_POLL_DONE;
    (void)snprintf(arguments, sizeof arguments, "{\"n\":%u}", c->answers - 1);
    phi_answer_call(answer, phi_str_of(""), phi_str_of("look"));
    phi_answer_arguments(answer, phi_str_of(arguments), true);
    return PHI_POLL_DONE;
}

static void model_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

static phi_flow look(void *user_data, phi_call call, phi_str arguments) {
    counted *c = (counted *)user_data;
    phi_content text = PHI_ZERO;
    phi_tool_result result = PHI_ZERO;
    (void)arguments;
    text.kind = PHI_CONTENT_TEXT;
    text.text.at = filler;
    text.text.len = result_bytes(c->answers - 1);
    result.content = &text;
    result.content_count = 1;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

static phi_agent make_agent(phi_runtime *rt, counted *c, const phi_store *store) {
    phi_provider provider = PHI_ZERO;
    phi_tool tool = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    provider.protocol = "bench";
    provider.user_data = c;
    provider.open = model_open;
    provider.poll = model_poll;
    provider.close = model_close;
    tool.name = "look";
    tool.description = "Looks";
    tool.user_data = c;
    tool.start = look;
    desc.provider = &provider;
    desc.model.protocol = desc.model.id = "bench";
    desc.model.context_window = WINDOW;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.limits.max_turns = desc.limits.max_duration_ms = PHI_UNLIMITED;
    desc.limits.max_tokens = UINT64_MAX;
    desc.tool_options.repeat_warn_after = desc.tool_options.repeat_stop_after = PHI_UNLIMITED;
    desc.store = store;
    desc.thread_id = "long";
    return phi_agent_new(rt, &desc);
}

static void heed(phi_runtime *rt, counted *c) {
    phi_event ev;
    while (phi_next_event(rt, &ev)) {
        need(ev.kind != PHI_EV_ERROR && ev.kind != PHI_EV_WARNING, "the run has trouble");
        if (ev.kind == PHI_EV_COMPACTION_END) c->compactions++;
        if (ev.kind == PHI_EV_TURN_END && ++c->turns == EARLY) c->early = c->peak;
    }
}

static phi_status each_counted(void *ctx, uint64_t seq, phi_str entry) {
    size_t *n = (size_t *)ctx;
    (void)seq;
    if (entry.len > 0) ++*n;
    return PHI_OK;
}

static void bench_long_run(void) {
    static counted c;
    phi_file_store_desc files = PHI_ZERO;
    phi_runtime_desc desc = PHI_ZERO;
    phi_store store;
    phi_runtime *rt;
    phi_agent agent;
    size_t stored = 0, peak;
    uint64_t began, entries;
    files.directory = "build/bench/thread";
    files.allocator = counting(&c);
    desc.allocator = counting(&c);
    bench_expect(phi_file_store_open(&files, &store), "open");
    (void)store.remove_thread(store.user_data, "long", NULL, 0);
    rt = phi_runtime_new(&desc);
    need(rt != NULL, "no runtime");
    agent = make_agent(rt, &c, &store);
    need(agent.rt != NULL, "no agent");
    bench_expect(phi_prompt(agent, "Look around."), "prompt");
    began = bench_cpu_ns();
    do heed(rt, &c);
    while (phi_step(rt, 0) > 0);
    heed(rt, &c);
    need(c.turns == TURNS && c.compactions > 10, "the run was another");
    bench_line("thread_run_turn", (double)(bench_cpu_ns() - began) / 1e3 / TURNS, "us");
    peak = c.peak;
    entries = phi_thread_count(phi_agent_thread(agent));
    bench_expect(store.read(store.user_data, "long", 0, each_counted, &stored, NULL, NULL, 0),
                 "read");
    need(stored == entries && phi_thread_message_count(phi_agent_thread(agent)) == 2 * TURNS,
         "the file lacks something");
    bench_line("thread_run_compactions", c.compactions, "times");
    bench_line("thread_run_entries_in_the_file", (double)stored, "entries");
    bench_line("thread_run_peak_at_200", (double)c.early, "bytes");
    bench_line("thread_run_peak_at_1000", (double)peak, "bytes");
    bench_line("thread_run_peak_at_1000_over_200", (double)peak / (double)c.early, "times");
    phi_runtime_free(rt);
    (void)store.remove_thread(store.user_data, "long", NULL, 0);
    phi_file_store_close(&store);
    (void)rmdir("build/bench/thread");
}

/* ---- a talk ---- */

enum { EXCHANGES = 10000, QUESTION = 65, ANSWER = 110, LIMIT = 65536, SENT_TURNS = 8 };

static phi_poll talk_poll(void *user_data, void *call, phi_answer *answer) {
    phi_str text;
    (void)user_data, (void)call;
    text.at = filler;
    text.len = ANSWER;
    phi_answer_text(answer, text);
    return PHI_POLL_DONE;
}

static phi_agent talk_agent(phi_runtime *rt, size_t limit, phi_at_memory_limit how, bool few) {
    phi_provider provider = PHI_ZERO;
    phi_policy policy = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    provider.protocol = "bench";
    provider.user_data = rt;
    provider.open = model_open;
    provider.poll = talk_poll;
    provider.close = model_close;
    policy.max_input_tokens = PHI_POLICY_UNLIMITED;
    policy.max_turns = SENT_TURNS;
    desc.provider = &provider;
    desc.model.protocol = desc.model.id = "bench";
    desc.memory.limit_bytes = limit;
    desc.memory.at_limit = how;
    desc.compaction.disable = true; /* but at the limit */
    if (few) desc.policy = &policy;
    return phi_agent_new(rt, &desc);
}

/* Nanoseconds of CPU an exchange. */
static double talk(phi_runtime *rt, phi_agent agent, unsigned exchanges) {
    char question[QUESTION + 1];
    uint64_t began = bench_cpu_ns();
    phi_event ev;
    unsigned i;
    memcpy(question, filler, QUESTION);
    question[QUESTION] = '\0';
    for (i = 0; i < exchanges; i++) {
        int runs;
        bench_expect(phi_prompt(agent, question), "prompt");
        do {
            runs = phi_step(rt, 0);
            while (phi_next_event(rt, &ev)) need(ev.kind != PHI_EV_ERROR, "an exchange failed");
        } while (runs > 0);
    }
    return (double)(bench_cpu_ns() - began) / exchanges;
}

static double talk_at_limit(phi_runtime *rt, phi_at_memory_limit how, const char *peak_name) {
    phi_agent agent = talk_agent(rt, LIMIT, how, false);
    double ns;
    size_t peak;
    need(agent.rt != NULL, "no agent");
    ns = talk(rt, agent, EXCHANGES);
    peak = phi_agent_get_info(agent).memory_peak;
    bench_line(peak_name, (double)peak, "bytes");
    phi_agent_free(agent);
    return ns;
}

static void bench_talk(void) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_agent agent;
    double few, compact, forget;
    size_t before;
    need(rt != NULL, "no runtime");
    agent = talk_agent(rt, 0, PHI_AT_MEMORY_LIMIT_COMPACT, true);
    need(agent.rt != NULL, "no agent");
    (void)talk(rt, agent, 1000);
    before = phi_agent_get_info(agent).memory_used;
    (void)talk(rt, agent, 1000);
    bench_line("talk_exchange_bytes",
               (double)(phi_agent_get_info(agent).memory_used - before) / 1000, "bytes");
    few = talk(rt, agent, EXCHANGES);
    phi_agent_free(agent);
    compact = talk_at_limit(rt, PHI_AT_MEMORY_LIMIT_COMPACT, "talk_peak_compact_64k");
    forget = talk_at_limit(rt, PHI_AT_MEMORY_LIMIT_FORGET, "talk_peak_forget_64k");
    bench_line("talk_exchange", few / 1e3, "us");
    bench_line("talk_compact_64k_over_policy", compact / few, "times");
    bench_line("talk_forget_64k_over_policy", forget / few, "times");
    phi_runtime_free(rt);
}

int main(void) {
    fill_filler();
    bench_branches();
    bench_long_run();
    bench_talk();
    return 0;
}
