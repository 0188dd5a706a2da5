/* openapi.c - an agent for any HTTP API that has an OpenAPI document: each operation is a tool.

   usage: openapi DOCUMENT [task]     DOCUMENT: a file or a URL, JSON or YAML
       API_URL    the server, instead of the document's
       API_TOKEN  a bearer token
       API_TAG    only operations with this tag
   What deletes something is asked about on the terminal (y or n). */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include "pick_model.h"

#include <string.h>

enum { TOOLS_MOST = 128 }; /* more than that confuse a model, and cost tokens in each request */

static bool is_url(const char *text) {
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

/* Reads the document. NULL: it says why. */
static phi_openapi *read_document(phi_runtime *rt, const char *where) {
    phi_openapi_desc desc = PHI_ZERO;
    phi_parse_error error;
    phi_openapi *api;
    phi_status status;
    desc.base_url = pick_env("API_URL");
    desc.auth.bearer_token = pick_env("API_TOKEN");
    desc.destructive_needs_approval = true;
    if (is_url(where))
        desc.url = where;
    else
        desc.path = where;
    api = phi_openapi_new(rt, &desc);
    if (api == NULL) {
        printf("%s\n", phi_last_error(rt).message);
        return NULL;
    }
    while ((status = phi_openapi_step(api, &error)) == PHI_BUSY)
        (void)phi_step(rt, is_url(where) ? 10 : 0);
    if (status == PHI_OK) return api;
    if (error.line > 0)
        printf("%s:%u:%u: %s\n", where, (unsigned)error.line, (unsigned)error.column,
               error.message);
    else
        printf("%s: %s\n", where, error.message);
    phi_openapi_free(api);
    return NULL;
}

/* The tools, all or of one tag; says what cannot be one. */
static bool select_tools(phi_runtime *rt, phi_openapi *api, phi_openapi_tools *tools) {
    phi_openapi_filter filter = PHI_ZERO;
    const char *tags[2];
    const phi_openapi_operation *op;
    phi_status status;
    size_t i;
    tags[0] = pick_env("API_TAG");
    tags[1] = NULL;
    if (tags[0] != NULL) filter.tags = tags;
    while ((status = phi_openapi_select(api, &filter, tools)) == PHI_BUSY) (void)phi_step(rt, 0);
    for (i = 0; i < tools->skip_count; i++)
        if ((op = phi_openapi_operation_at(api, tools->skipped[i].operation)) != NULL)
            printf("skipped  %.*s %.*s: %s\n", PHI_ARG(op->method), PHI_ARG(op->path),
                   tools->skipped[i].message);
    for (i = 0; i < tools->count; i++)
        printf("tool     %s%s\n", tools->tools[i].name,
               tools->tools[i].needs_approval ? " (asks first)" : "");
    if (tools->count > TOOLS_MOST)
        printf("%u tools are too many: choose a tag with API_TAG\n", (unsigned)tools->count);
    return status == PHI_OK && tools->count <= TOOLS_MOST;
}

/* A terminal may wait here; a game would answer PHI_WAIT and show its dialog (approve.c). */
static phi_verdict permit(void *user_data, phi_hook *hook) {
    char line[16] = "";
    (void)user_data;
    if (!hook->needs_approval) return PHI_ALLOW;
    printf("\nmay it?  %.*s %.*s [y/n] ", PHI_ARG(hook->tool_name), PHI_ARG(hook->arguments));
    fflush(stdout);
    return fgets(line, sizeof line, stdin) != NULL && line[0] == 'y' ? PHI_ALLOW : PHI_DENY;
}

static void show(const phi_event *ev) {
    const phi_message *m = ev->message;
    switch (ev->kind) {
    case PHI_EV_TEXT: printf("%.*s", PHI_ARG(ev->text)); break;
    case PHI_EV_TOOL_START:
        printf("\ncall     %.*s %.*s\n", PHI_ARG(ev->tool_name), PHI_ARG(ev->arguments));
        break;
    case PHI_EV_MESSAGE_END:
        if (m->role == PHI_ROLE_TOOL_RESULT && m->content_count > 0)
            printf("answer   %.*s\n", PHI_ARG(m->content[0].text));
        break;
    case PHI_EV_ERROR: printf("\nfailed   %.*s\n", PHI_ARG(ev->text)); break;
    case PHI_EV_AGENT_END: printf("\nend      %s\n", phi_status_text(ev->status)); break;
    default: break;
    }
    fflush(stdout);
}

static int talk(phi_runtime *rt, const phi_openapi_tools *tools, const char *task) {
    phi_agent_desc desc = PHI_ZERO;
    const char *why;
    phi_agent agent;
    phi_event ev;
    int runs = 1, code = 0;
    desc.model = pick_model(&why);
    desc.system_prompt = "You work with an HTTP API. Each tool is one of its operations.";
    desc.tools = tools->tools;
    desc.tool_count = tools->count;
    desc.hook_fn = permit;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
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
    phi_openapi_tools tools = PHI_ZERO;
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_openapi *api;
    int code = 1;
    if (argc < 2) {
        printf("usage: openapi DOCUMENT [task]\n");
        phi_runtime_free(rt);
        return 2;
    }
    api = read_document(rt, argv[1]);
    if (api != NULL && select_tools(rt, api, &tools))
        code = talk(rt, &tools, argc > 2 ? argv[2] : "What can you do here?");
    phi_openapi_free(api);
    phi_runtime_free(rt);
    return code;
}
