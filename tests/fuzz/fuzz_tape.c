/* fuzz_tape.c - any text as a tape: it is refused, or played to an end by a run that asks for one thing.

   Sums are put right first, or nothing would ever be looked at: each line of the input is an object without its end. */
#include "agent/agent.h"
#include "base/base_in.h"
#include "record/replay.h"
#include "agent/agent_history.h"
#include "codecs/presets.h"
#include "loop/events.h"
#include "loop/loop_in.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static phi_flow answer(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)phi_call_reply(call, "ok");
    return PHI_DONE;
}

static bool some_run(void *user_data, phi_str name) {
    (void)user_data;
    return name.len > 0 && name.at[0] == 'e';
}

static void play(phi_tape *tape) {
    phi_runtime_desc desc;
    phi_agent_desc who;
    phi_runtime *rt;
    phi_agent agent;
    phi_tool tools[2];
    phi_event event;
    int steps;
    memset(&desc, 0, sizeof desc);
    memset(&who, 0, sizeof who);
    memset(tools, 0, sizeof tools);
    desc.tape = tape;
    rt = phi_runtime_new(&desc);
    if (rt == NULL) abort();
    tools[0].name = "echo";
    tools[0].start = answer;
    tools[1].name = "clock";
    tools[1].start = answer;
    who.model = phi_model_anthropic("test-model", "test-key");
    who.tools = tools;
    who.tool_count = 2;
    who.ids.agent_id = "agent";
    who.ids.session_id = "session";
    agent = phi_agent_new(rt, &who);
    if (phi_prompt(agent, "go") != PHI_OK) abort();
    for (steps = 0; steps < 2000 && phi_step(rt, 0) > 0; steps++)
        while (phi_next_event(rt, &event)) {}
    (void)phi_thread_hash(phi_agent_thread(agent));
    phi_runtime_free(rt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi__buf text;
    phi_tape_desc how;
    phi_tape *tape;
    size_t from = 0, i;
    if (size == 0) return 0;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&text, &memory);
    for (i = 1; i <= size; i++) {
        if (i < size && data[i] != '\n') continue;
        phi__buf_add(&text, (const char *)data + from, i - from);
        phi__buf_printf(&text, ",\"sum\":\"%08lx\"}\n",
                        (unsigned long)phi__crc32(0, data + from, i - from));
        from = i + 1;
    }
    memset(&how, 0, sizeof how);
    how.runs_fn = some_run;
    tape = text.failed ? NULL : phi_tape_play(&how, phi__buf_str(&text), NULL);
    if (tape != NULL) {
        play(tape);
        (void)phi_tape_end(tape, NULL);
        phi_tape_free(tape);
    }
    phi__buf_free(&text);
    return 0;
}
