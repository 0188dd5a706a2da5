/* fuzz_snapshot.c - an agent out of any bytes: it is refused, or it is one that can be stepped, saved again, loaded
   again from that, and freed; never a crash, never a byte left. */
#include "agent/snapshot.h"
#include "base/base_in.h"
#include "codecs/presets.h"
#include "loop/events.h"
#include "loop/provider.h"
#include "loop/loop_in.h"

#include <stdlib.h>

static uint64_t fuzz_clock(void *user_data) { return ++*(uint64_t *)user_data; }

static void fuzz_random(void *user_data, void *out, size_t len) {
    (void)user_data;
    memset(out, 7, len);
}

static phi_status fuzz_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static phi_poll fuzz_poll(void *user_data, void *call, phi_answer *answer) {
    (void)user_data;
    (void)call;
    phi_answer_text(answer, phi_str_of("Well."));
    return PHI_POLL_DONE;
}

static void fuzz_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

static phi_flow fuzz_wait(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_PENDING;
}

static phi_agent_desc fuzz_desc(phi_tool *tool, phi_provider *provider) {
    phi_agent_desc desc = PHI_ZERO;
    memset(tool, 0, sizeof *tool);
    memset(provider, 0, sizeof *provider);
    tool->name = "wait";
    tool->start = fuzz_wait;
    provider->protocol = "puppet";
    provider->open = fuzz_open;
    provider->poll = fuzz_poll;
    provider->close = fuzz_close;
    desc.model.protocol = "puppet";
    desc.model.id = "m";
    desc.provider = provider;
    desc.tools = tool;
    desc.tool_count = 1;
    return desc;
}

static void fuzz_play(phi_runtime *rt, phi_agent agent) {
    phi_event ev;
    int i;
    for (i = 0; i < 8; i++) {
        (void)phi_step(rt, 0);
        while (phi_next_event(rt, &ev)) continue;
    }
    (void)phi_abort(agent);
    for (i = 0; i < 4; i++) {
        (void)phi_step(rt, 0);
        while (phi_next_event(rt, &ev)) continue;
    }
}

/* One snapshot, loaded and written again. */
static void fuzz_round(phi_runtime *rt, const phi_agent_desc *desc, phi_str text, bool again) {
    phi_agent agent = phi_agent_restore(rt, desc, text, PHI_RESTORE_RESUME);
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    if (agent.rt == NULL) {
        if (again) abort(); /* what was written can be read */
        return;
    }
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi_agent_snapshot(agent, &arena, &saved) != PHI_OK) abort();
    if (!again) fuzz_round(rt, desc, saved, true);
    fuzz_play(rt, agent);
    phi_agent_free(agent);
    phi_arena_free(&arena);
    if (memory.used_bytes != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_runtime_desc how = PHI_ZERO;
    phi_agent_desc desc;
    phi_tool tool;
    phi_provider provider;
    phi_runtime *rt;
    uint64_t clock_us = 0;
    how.clock_us_fn = fuzz_clock;
    how.random_fn = fuzz_random;
    how.user_data = &clock_us;
    rt = phi_runtime_new(&how);
    if (rt == NULL) abort();
    desc = fuzz_desc(&tool, &provider);
    fuzz_round(rt, &desc, phi__str((const char *)data, size), false);
    phi_runtime_free(rt);
    return 0;
}
