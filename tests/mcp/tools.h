/* tools.h - a scripted server with tools, and an agent that has them.

       tools_kit t;
       tools_begin(&t, "2025-06-18", NULL);              // a phi_mcp_desc or NULL
       t.list = "{\"tools\":[...]}";                     // the result of each tools/list
       t.result = "{\"content\":[...]}";                 // of each tools/call; NULL: no answer yet
       tools_ready(&t);                                  // connected
       rig_call(t.k.rig, "c1", "echo", "{}"); ...
       tools_end(&t); */
#ifndef PHI_TESTS_MCP_TOOLS_H
#define PHI_TESTS_MCP_TOOLS_H

#include "mcp/link.h"
#include "mcp/mcp_tools.h"
#include "mcp/mcp_requests_in.h"

typedef struct tools_kit {
    link_kit k; /* first: on_send gets it */
    const char *list, *result, *error;
    const char *pages[8]; /* in place of list, one a request */
    size_t page, lists, calls;
    char id[64]; /* of the last tools/call */
    const phi_tool_source *sources[1];
    phi_agent agent;
} tools_kit;

static inline void tools_answer(tools_kit *t, const char *id, const char *kind, const char *body) {
    size_t size = strlen(body) + 200;
    char *text = (char *)malloc(size);
    if (text == NULL) abort();
    (void)snprintf(text, size, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"%s\":%s}", id, kind, body);
    link_says(&t->k, text);
    free(text);
}

/* Answers the last call. */
static inline void tools_result(tools_kit *t, const char *result) {
    tools_answer(t, t->id, "result", result);
}

static inline void tools_on_send(link_kit *k, const char *json) {
    tools_kit *t = (tools_kit *)(void *)k;
    phi__json_found id, method;
    char name[64];
    if (phi__json_cursor_find(phi_str_of(json), "method", &method) != PHI_OK) return;
    if (phi__json_cursor_find(phi_str_of(json), "id", &id) != PHI_OK) return;
    (void)snprintf(name, sizeof name, "%.*s", (int)id.raw.len, id.raw.at);
    if (phi__str_is(method.raw, "tools/list")) {
        const char *page = t->pages[t->page];
        t->lists++;
        if (page != NULL) t->page++;
        if (page == NULL) page = t->list;
        if (page != NULL) tools_answer(t, name, "result", page);
    } else if (phi__str_is(method.raw, "tools/call")) {
        t->calls++;
        (void)snprintf(t->id, sizeof t->id, "%s", name);
        if (t->error != NULL)
            tools_answer(t, name, "error", t->error);
        else if (t->result != NULL)
            tools_answer(t, name, "result", t->result);
    }
}

static inline void tools_begin(tools_kit *t, const char *era, const phi_runtime_desc *desc) {
    memset(t, 0, sizeof *t);
    link_begin(&t->k, desc);
    link_answers(&t->k, era, "{\"tools\":{\"listChanged\":true}}");
    t->k.on_send = tools_on_send;
    t->list = "{\"tools\":[{\"name\":\"echo\",\"title\":\"Echo\",\"description\":\"Says it "
              "again\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":"
              "\"string\"}},\"required\":[\"text\"]}}]}";
    t->result = "{\"content\":[{\"type\":\"text\",\"text\":\"again\"}]}";
}

static inline bool tools_ready(tools_kit *t, const phi_mcp_desc *desc) {
    static const phi__mcp_open_join joins[] = {phi__mtools_join};
    if (link_connect(&t->k, desc, joins, 1) != PHI_OK) return false;
    link_run(&t->k);
    return phi_mcp_get_info(t->k.mcp).state == PHI_MCP_READY;
}

static inline phi_agent_desc tools_desc(tools_kit *t) {
    phi_agent_desc desc = rig_desc();
    t->sources[0] = phi_mcp_tools(t->k.mcp);
    desc.tool_options.sources = t->sources;
    desc.tool_options.source_count = 1;
    return desc;
}

static inline void tools_agent(tools_kit *t) {
    phi_agent_desc desc = tools_desc(t);
    t->agent = rig_agent(t->k.rig, &desc);
}

/* A prompt, a call of a tool with these arguments, and an answer. */
static inline void tools_call(tools_kit *t, const char *name, const char *arguments) {
    rig_call(t->k.rig, "c1", name, arguments);
    rig_says(t->k.rig, "done");
    CHECK_EQ_INT(phi_prompt(t->agent, "go"), PHI_OK);
    (void)rig_run(t->k.rig, 40);
}

static inline void tools_end(tools_kit *t) {
    if (t->agent.rt != NULL) phi_agent_free(t->agent);
    t->agent.rt = NULL;
    if (t->k.rig != NULL) link_steps(&t->k, 1);
    link_end(&t->k);
}

#endif
