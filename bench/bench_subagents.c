/* bench_subagents.c - what a sub-agent costs.

       bench_subagents

   A model in the process answers at once: the parent's with 100 calls, then with a word. The calls are of sub-agents,
   whose model says a word, or of a tool that gives its result at once. CPU of a sub-agent's start and end: that of a
   run with sub-agents, less that of a run with the tool, for each call; its one model call and its history are in it.
   Bytes of one at work: counted while all models wait. The median of 101 runs each; bytes are exact. */
#include "phi_tools.h"
#include "kit.h"

#include <stdlib.h>
#include <string.h>

enum { CHILDREN = 100, RUNS = 101 };

static bool wait_now;

/* The model's answer to a request: calls, or a word. */
static phi_status model_open(void *user_data, const phi_model_request *request, void **call) {
    static char calls, word;
    const phi_message *last = request->messages[request->message_count - 1];
    bool begins = request->tool_count > 0 && last->role == PHI_ROLE_USER;
    (void)user_data;
    calls = 'c';
    word = 'w';
    *call = begins ? &calls : &word;
    return PHI_OK;
}

static phi_poll model_poll(void *user_data, void *call, phi_answer *answer) {
    char id[20];
    int i;
    (void)user_data;
    if (*(const char *)call == 'c') {
        for (i = 0; i < CHILDREN; i++) {
            (void)snprintf(id, sizeof id, "c%d", i);
            phi_answer_call(answer, phi_str_of(id), phi_str_of("worker"));
            phi_answer_arguments(answer, phi_str_of("{\"task\":\"Look at the gate\"}"), true);
        }
        phi_answer_stop(answer, PHI_STOP_REASON_TOOL_USE);
        return PHI_POLL_DONE;
    }
    if (wait_now) return PHI_POLL_AGAIN;
    phi_answer_text(answer, phi_str_of("Done."));
    return PHI_POLL_DONE;
}

static void model_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

static phi_flow tool_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content = PHI_ZERO;
    phi_tool_result result = PHI_ZERO;
    (void)user_data;
    (void)arguments;
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("Done.");
    result.content = &content;
    result.content_count = 1;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

/* ---- memory ---- */

static size_t live;

static void *counted(void *user_data, void *ptr, size_t old_bytes, size_t new_bytes) {
    void *made;
    (void)user_data;
    if (new_bytes == 0) {
        free(ptr);
        live -= old_bytes;
        return NULL;
    }
    made = realloc(ptr, new_bytes);
    if (made != NULL) live += new_bytes - old_bytes;
    return made;
}

/* ---- measuring ---- */

typedef struct world {
    phi_runtime *rt;
    phi_provider model;
    phi_agent_desc worker;
    phi_subagent_desc sub;
    phi_tool tool;
    phi_agent_desc desc;
} world;

static void begin(world *w, bool subagents) {
    phi_runtime_desc runtime = PHI_ZERO;
    memset(w, 0, sizeof *w);
    runtime.allocator.realloc_fn = counted;
    runtime.step_budget_us = 1000000;
    w->rt = phi_runtime_new(&runtime);
    if (w->rt == NULL) bench_fail("no runtime");
    w->model.protocol = "bench";
    w->model.open = model_open;
    w->model.poll = model_poll;
    w->model.close = model_close;
    bench_expect(phi_register_provider(w->rt, &w->model), "the model");
    w->worker.system_prompt = "You look.";
    w->sub.name = "worker";
    w->sub.agent = &w->worker;
    w->tool = phi_subagent_tool(&w->sub);
    if (!subagents) {
        w->tool.start = tool_start;
        w->tool.cancel = NULL;
    }
    w->desc.model.protocol = w->desc.model.id = "bench";
    w->desc.tools = &w->tool;
    w->desc.tool_count = 1;
    w->desc.tool_options.repeat_stop_after = w->desc.tool_options.repeat_warn_after = PHI_UNLIMITED;
}

static void drain(phi_runtime *rt) {
    phi_event ev;
    while (phi_next_event(rt, &ev))
        if (ev.kind == PHI_EV_ERROR) bench_fail("a run failed");
}

static double run(world *w) {
    phi_agent agent = phi_agent_new(w->rt, &w->desc);
    uint64_t from = bench_cpu_ns();
    bench_expect(phi_prompt(agent, "Look"), "the prompt");
    while (phi_step(w->rt, 0) > 0) drain(w->rt);
    drain(w->rt);
    from = bench_cpu_ns() - from;
    phi_agent_free(agent);
    return (double)from / 1000.0;
}

static double median_run(bool subagents) {
    static double all[RUNS];
    world w;
    int i;
    begin(&w, subagents);
    (void)run(&w);
    for (i = 0; i < RUNS; i++) all[i] = run(&w);
    phi_runtime_free(w.rt);
    return bench_median(all, RUNS);
}

/* While all models wait: of `n` children more than none. */
static size_t bytes_at_work(bool subagents) {
    world w;
    size_t most;
    int i;
    begin(&w, subagents);
    (void)run(&w); /* tables have grown */
    wait_now = true;
    bench_expect(phi_prompt(phi_agent_new(w.rt, &w.desc), "Look"), "the prompt");
    for (i = 0; i < 50; i++) {
        (void)phi_step(w.rt, 0);
        drain(w.rt);
    }
    most = live;
    wait_now = false;
    while (phi_step(w.rt, 0) > 0) drain(w.rt);
    phi_runtime_free(w.rt);
    return most;
}

int main(void) {
    double with = median_run(true), without = median_run(false);
    size_t more = bytes_at_work(true), less = bytes_at_work(false);
    bench_line("subagent_start_and_end_cpu", (with - without) / CHILDREN, "us");
    bench_line("subagent_bytes_at_work", ((double)more - (double)less) / CHILDREN, "bytes");
    return 0;
}
