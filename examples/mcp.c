/* mcp.c - an agent for any server of the Model Context Protocol: its tools become the agent's.

   usage: mcp TASK URL                  over HTTP
          mcp TASK PROGRAM [ARGUMENT]   a program that speaks over its stdin and stdout
       MCP_ERA    "2025-06-18": speak this revision (default: the newest that both know)
       MCP_TOKEN  a bearer token for URL
   Tools that the server does not call read-only are asked about on the terminal (y or n), and so is
   what the server asks while a tool runs. */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include "pick_model.h"

#include <string.h>

static bool is_url(const char *text) {
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

static void print(const char *title, phi_str text) { printf("%-8s %.*s\n", title, PHI_ARG(text)); }

static void on_server(void *user_data, const phi_mcp_event *event) {
    (void)user_data;
    switch (event->kind) {
    case PHI_MCP_EV_LOG: print("log", event->text); break;
    case PHI_MCP_EV_TOOLS: print("tools", event->text); break;
    case PHI_MCP_EV_TOOL_CHANGED: print("changed", event->name); break;
    case PHI_MCP_EV_WARNING: print("warning", event->text); break;
    default: break;
    }
}

/* Waits until the server is ready. NULL: it says why not. */
static phi_mcp *connect_to(phi_runtime *rt, char **target) {
    static char bearer[4096];
    phi_mcp_pair header;
    phi_mcp_desc desc = PHI_ZERO;
    const char *words = "";
    phi_mcp_info info;
    phi_mcp *server;
    if (is_url(target[0]))
        desc.url = target[0];
    else
        desc.argv = (const char *const *)target;
    if (desc.url != NULL && pick_env("MCP_TOKEN") != NULL) {
        (void)snprintf(bearer, sizeof bearer, "Bearer %s", pick_env("MCP_TOKEN"));
        header.name = "Authorization";
        header.value = bearer;
        desc.headers = &header;
        desc.header_count = 1;
    }
    desc.era = pick_env("MCP_ERA");
    desc.answers = PHI_MCP_FORMS;
    desc.needs_approval = true;
    desc.hold_changed_tools = true;
    desc.event_fn = on_server;
    server = phi_mcp_connect(rt, &desc);
    while (phi_mcp_get_info(server).state == PHI_MCP_CONNECTING) (void)phi_step(rt, 10);
    info = phi_mcp_get_info(server);
    if (info.state == PHI_MCP_READY) return server;
    words = info.message;
    if (server == NULL) words = phi_last_error(rt).message;
    printf("%s\n", words);
    if (info.stderr_text.len > 0) print("stderr", info.stderr_text);
    phi_mcp_free(server);
    return NULL;
}

static void list(const phi_mcp *server) {
    phi_mcp_info info = phi_mcp_get_info(server);
    const phi_mcp_tool *tool;
    size_t i;
    printf("server   %.*s %.*s, %.*s\n", PHI_ARG(info.name), PHI_ARG(info.version),
           PHI_ARG(info.era));
    for (i = 0; (tool = phi_mcp_tool_at(server, i)) != NULL; i++)
        printf("tool     %.*s%s\n", PHI_ARG(tool->name), tool->read_only ? "" : " (asks first)");
}

/* A terminal may wait here; a game would answer PHI_WAIT and show its dialog (approve.c). */
static phi_verdict permit(void *user_data, phi_hook *hook) {
    static char line[1000];
    bool question = hook->point == PHI_HOOK_QUESTION;
    size_t n;
    (void)user_data;
    if (!question && !hook->needs_approval) return PHI_ALLOW;
    if (question)
        printf("\n%.*s asks: %.*s\n%.*s\nJSON, or an empty line: ", PHI_ARG(hook->source),
               PHI_ARG(hook->text), PHI_ARG(hook->arguments));
    else
        printf("\nmay it?  %.*s %.*s [y/n] ", PHI_ARG(hook->tool_name), PHI_ARG(hook->arguments));
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) return PHI_DENY;
    n = strcspn(line, "\r\n");
    line[n] = '\0';
    if (!question) return line[0] == 'y' ? PHI_ALLOW : PHI_DENY;
    hook->reply = phi_str_of(line);
    return n > 0 ? PHI_ALLOW : PHI_DENY;
}

static void show(const phi_event *ev) {
    const phi_message *m = ev->message;
    size_t i;
    switch (ev->kind) {
    case PHI_EV_TEXT: printf("%.*s", PHI_ARG(ev->text)); break;
    case PHI_EV_TOOL_START:
        printf("\ncall     %.*s %.*s\n", PHI_ARG(ev->tool_name), PHI_ARG(ev->arguments));
        break;
    case PHI_EV_MESSAGE_END:
        for (i = 0; m->role == PHI_ROLE_TOOL_RESULT && i < m->content_count; i++)
            if (m->content[i].kind == PHI_CONTENT_TEXT) print("answer", m->content[i].text);
        break;
    case PHI_EV_ERROR: printf("\nfailed   %.*s\n", PHI_ARG(ev->text)); break;
    case PHI_EV_AGENT_END: printf("\nend      %s\n", phi_status_text(ev->status)); break;
    default: break;
    }
    fflush(stdout);
}

static int talk(phi_runtime *rt, phi_mcp *server, const char *task) {
    phi_agent_desc desc = PHI_ZERO;
    const phi_tool_source *sources[1];
    const char *why;
    phi_agent agent;
    phi_event ev;
    int runs = 1, code = 0;
    sources[0] = phi_mcp_tools(server);
    desc.model = pick_model(&why);
    desc.system_prompt = "You work with the tools of a server.";
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 1;
    desc.hook_fn = permit;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL | PHI_HOOK_QUESTION;
    agent = phi_agent_new(rt, &desc);
    if (agent.rt == NULL || phi_prompt(agent, task) != PHI_OK) {
        printf("%s\n", phi_last_error(rt).message);
        return 1;
    }
    while (runs > 0) {
        runs = phi_step(rt, -1);
        while (phi_next_event(rt, &ev)) {
            show(&ev);
            if (ev.kind == PHI_EV_AGENT_END && ev.status != PHI_OK) code = 1;
        }
    }
    phi_agent_free(agent);
    return code;
}

int main(int argc, char **argv) {
    static const phi_feature_fn features[] = {phi_feature_tool_sources, phi_feature_deferral, NULL};
    phi_runtime_desc has = PHI_ZERO;
    phi_runtime *rt;
    phi_mcp *server;
    int code = 1;
    has.features = features;
    rt = phi_runtime_new(&has);
    if (argc < 3) {
        printf("usage: mcp TASK URL | mcp TASK PROGRAM [ARGUMENT]\n");
        phi_runtime_free(rt);
        return 2;
    }
    server = connect_to(rt, argv + 2);
    if (server != NULL) {
        list(server);
        code = talk(rt, server, argv[1]);
        phi_mcp_close(server); /* the program ends by itself */
        while (phi_mcp_get_info(server).state == PHI_MCP_CLOSING) (void)phi_step(rt, 10);
    }
    phi_mcp_free(server);
    phi_runtime_free(rt);
    return code;
}
