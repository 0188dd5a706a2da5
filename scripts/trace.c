/* trace.c - one prompt with one tool call against a scripted transport, and a note of every
   function of phi's that is entered and left meanwhile: for trace.py, which compiles it with phi's
   sources.

   The notes go to the file argv[1], eight bytes each: twice the function's address, and 1 more
   where it was entered, not left. */
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "agent/runtime.h"
#include "codecs/presets.h"
#include "io/transport.h"
#include "log/thread.h"
#include "loop/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN __attribute__((no_instrument_function))

static FILE *notes;

HIDDEN static void note(void *function, uint64_t entered) {
    uint64_t word = (uint64_t)(uintptr_t)function << 1 | entered;
    if (notes != NULL) (void)fwrite(&word, sizeof word, 1, notes);
}

void __cyg_profile_func_enter(void *function, void *site) HIDDEN;
void __cyg_profile_func_exit(void *function, void *site) HIDDEN;
void __cyg_profile_func_enter(void *function, void *site) {
    (void)site;
    note(function, 1);
}
void __cyg_profile_func_exit(void *function, void *site) {
    (void)site;
    note(function, 0);
}

#define START                                                                                      \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":"  \
    "\"message\",\"role\":\"assistant\",\"model\":\"claude-demo\",\"content\":[],\"stop_reason\":" \
    "null,\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n"
#define STOP(reason)                                                                               \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"           \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason \
    "\"},\"usage\":{\"output_tokens\":9}}\n\n"                                                     \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

static const char *const answers[] = {
    START
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"echo\",\"input\":{}}}\n\n"
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
    "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"say\\\":\\\"hi\\\"}\"}}"
    "\n\n" STOP("tool_use"),
    START "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
          "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
          "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
          "\"delta\":{\"type\":\"text_delta\",\"text\":\"It said hi.\"}}\n\n" STOP("end_turn")};

static phi_transfer waiting;
static bool is_waiting;
static size_t next_answer;

static phi_status open_request(void *user_data, phi_transfer transfer, const phi_request *request) {
    char body[4096];
    (void)user_data;
    (void)phi_request_read(request, 0, body, sizeof body);
    waiting = transfer;
    is_waiting = true;
    return PHI_OK;
}

static void push_answer(void *user_data) {
    const char *text = answers[next_answer];
    (void)user_data;
    if (!is_waiting) return;
    is_waiting = false;
    next_answer++;
    (void)phi_transfer_head(waiting, 200, "Content-Type: text/event-stream\r\n", 33);
    (void)phi_transfer_push(waiting, text, strlen(text));
    (void)phi_transfer_end(waiting, PHI_OK, NULL);
}

static void nothing(void *user_data, phi_transfer transfer) {
    (void)user_data;
    (void)transfer;
}

static phi_flow echo(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)phi_call_replyf(call, "%.*s", (int)arguments.len, arguments.at);
    return PHI_DONE;
}

static uint64_t clock_us(void *user_data) {
    static uint64_t now = 1000000;
    (void)user_data;
    return now += 10;
}

static bool talk(phi_runtime *rt, phi_agent agent) {
    phi_event event;
    bool ended = false;
    int steps = 0;
    if (phi_prompt(agent, "Say hi with the tool.") != PHI_OK) return false;
    while (!ended && steps++ < 100) {
        (void)phi_step(rt, 0);
        while (phi_next_event(rt, &event))
            if (event.kind == PHI_EV_AGENT_END) ended = event.status == PHI_OK;
    }
    (void)phi_step(rt, 0); /* what the events held is given back */
    return ended && phi_thread_message_count(phi_agent_thread(agent)) == 4;
}

int main(int argc, char **argv) {
    phi_transport transport;
    phi_runtime_desc runtime_desc;
    phi_agent_desc desc;
    phi_tool tool;
    phi_runtime *rt;
    phi_agent agent;
    FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
    bool done;
    if (file == NULL) return 2;
    memset(&transport, 0, sizeof transport);
    transport.open = open_request;
    transport.resume = nothing;
    transport.cancel = nothing;
    transport.pump = push_answer;
    memset(&runtime_desc, 0, sizeof runtime_desc);
    runtime_desc.transport = &transport;
    runtime_desc.clock_us_fn = clock_us;
    memset(&tool, 0, sizeof tool);
    tool.name = "echo";
    tool.description = "Says it again";
    tool.schema = "{\"type\":\"object\",\"properties\":{\"say\":{\"type\":\"string\"}}}";
    tool.start = echo;
    memset(&desc, 0, sizeof desc);
    desc.model = phi_model_anthropic("claude-demo", "key");
    desc.system_prompt = "You are a parrot.";
    desc.tools = &tool;
    desc.tool_count = 1;
    rt = phi_runtime_new(&runtime_desc);
    agent = phi_agent_new(rt, &desc);
    notes = file;
    done = talk(rt, agent);
    notes = NULL;
    (void)fclose(file);
    phi_runtime_free(rt);
    if (!done) fprintf(stderr, "trace: the run did not end as it should\n");
    return done ? 0 : 1;
}
