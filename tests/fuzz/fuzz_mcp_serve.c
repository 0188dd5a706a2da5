/* fuzz_mcp_serve.c - any lines as what a client sends to our MCP server.

   Each line is a message, in a session or before one, over a way that counts: every answer is JSON
   in one line, memory comes back when the client has gone, and nothing crashes. */
#include "../mcp/answers.h"
#include "agent/agent.h"
#include "mcp/mcp_serve_in.h"
#include "loop/loop_in.h"
#include "mcp/mcp_serve_state_in.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

typedef struct place {
    phi__mcp_way way;
    phi__client *client;
    phi_mcp_server *server;
} place;

static bool on_send(phi__mcp_way *way, phi_str json, int http_status, bool last) {
    phi_memory memory;
    phi_arena arena;
    phi_json *root = NULL;
    (void)way;
    (void)last;
    must(http_status >= 200 && http_status < 600);
    if (json.len == 0) return true;
    must(memchr(json.at, '\n', json.len) == NULL);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    must(phi_json_parse(&arena, json, 0, &root, NULL) == PHI_OK);
    must(phi_json_is(root, PHI_JSON_OBJECT) || phi_json_is(root, PHI_JSON_ARRAY));
    phi_arena_free(&arena);
    return true;
}

/* The input outlives the server. */
static void on_taken(phi__mcp_way *way) { (void)way; }

static void on_session(phi__mcp_way *way, phi__client *client) {
    place *p = (place *)(void *)way;
    p->client = client;
    (void)phi__serve_listen(p->server, client, way);
}

static phi_flow echo(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)phi_call_replyf(call, "%.*s", (int)arguments.len, arguments.at);
    return PHI_PENDING;
}

static phi_flow asks(void *user_data, phi_call call, phi_str arguments) {
    phi_mcp_ask_desc ask;
    (void)user_data;
    (void)arguments;
    memset(&ask, 0, sizeof ask);
    ask.method = "elicitation/create";
    ask.key = "k";
    return phi_mcp_ask(phi_mcp_incoming_of(call), &ask) == PHI_OK ? PHI_PENDING : PHI_DONE;
}

static void read_note(void *user_data, phi_mcp_incoming incoming, const char *uri, phi_str values) {
    (void)user_data;
    (void)uri;
    (void)answer_text(incoming, values);
}

static phi_mcp_server *serve(phi_runtime *rt, const int ends[2]) {
    static phi_tool tools[3];
    static phi_mcp_serve_tool infos[3];
    static phi_mcp_serve_template templates[1];
    static phi_mcp_serve_prompt prompts[1];
    static const phi_mcp_serve_argument argument = {"a", NULL, NULL, true};
    phi_mcp_server_desc desc;
    tools[0].name = "echo";
    tools[0].schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}";
    tools[0].start = echo;
    tools[1].name = "asks";
    tools[1].start = asks;
    tools[2].name = "task";
    tools[2].start = asks;
    infos[2].task = true;
    templates[0].uri = "n://{a}/{b}";
    templates[0].read = read_note;
    prompts[0].name = "p";
    prompts[0].text = "say {a}";
    prompts[0].arguments = &argument;
    prompts[0].argument_count = 1;
    memset(&desc, 0, sizeof desc);
    desc.name = "fuzz";
    desc.tools = tools;
    desc.tool_infos = infos;
    desc.tool_count = 3;
    desc.tasks = true;
    desc.templates = templates;
    desc.template_count = 1;
    desc.prompts = prompts;
    desc.prompt_count = 1;
    desc.stdio = true;
    desc.max_calls = 4;
    desc.in_fd = ends[0];
    desc.out_fd = ends[1];
    return phi_mcp_serve(rt, &desc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const phi__mcp_way_table table = {on_send, on_session, on_taken};
    const char *at = (const char *)data, *end = at + size;
    phi_runtime *rt = phi_runtime_new(NULL);
    int ends[2], steps;
    size_t before;
    place p;
    if (rt == NULL || pipe(ends) != 0) return 0;
    memset(&p, 0, sizeof p);
    p.way.table = &table;
    p.server = serve(rt, ends);
    must(p.server != NULL);
    before = phi_memory_used(rt, NULL);
    while (at < end) {
        const char *stop = (const char *)memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop != NULL ? stop : end) - at);
        phi_str line;
        line.at = at;
        line.len = len;
        must(phi__serve_message(p.server, p.client, &p.way, line, NULL));
        for (steps = 0; steps < 3 || p.way.reading != NULL; steps++) (void)phi_step(rt, 0);
        at += len + 1;
    }
    phi__serve_way_gone(p.server, &p.way);
    if (p.client != NULL) phi__client_end(p.client);
    for (steps = 0; steps < 3; steps++) (void)phi_step(rt, 0);
    must(phi_memory_used(rt, NULL) <= before + 262144); /* tables stay; parked requests are few */
    phi_mcp_server_free(p.server);
    phi_runtime_free(rt);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return 0;
}
