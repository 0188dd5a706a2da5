/* client.c - phi's client for the official conformance package (make interop): an agent of a
   scripted model calls what a scenario wants called.

   usage: client URL        with MCP_CONFORMANCE_SCENARIO, _CONTEXT and _PROTOCOL_VERSION
   The person of the OAuth scenarios is a thread that gets the authorization URL as a browser would,
   and follows its redirects. Exit code 1: not connected, or the run failed. */
#include "agent/agent.h"
#include "base/arena.h"
#include "loop/provider.h"
#include "mcp/mcp.h"
#include "mcp/mcp_oauth.h"
#include "mcp/mcp_prompts.h"
#include "mcp/mcp_resources.h"
#include "mcp/mcp_tools.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS_MOST = 40, NAME_MOST = 128, LONGEST_MS = 25000 };

typedef struct planned {
    char name[NAME_MOST];
    const char *arguments;
} planned;

typedef struct client {
    phi_runtime *rt;
    phi_mcp *mcp;
    const char *scenario;
    phi_memory memory;
    phi_arena arena;
    phi_json *context; /* NULL: none */
    planned calls[CALLS_MOST];
    size_t call_count, next;
    int waiting; /* requests that the program itself has sent */
    bool failed;
    pthread_t browser;
    char authorize_url[8192];
} client;

static bool scenario_is(const client *c, const char *name) {
    return strcmp(c->scenario, name) == 0;
}

/* ---- the model: the planned calls, one a turn ---- */

static phi_status model_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static phi_poll model_poll(void *user_data, void *call, phi_answer *answer) {
    client *c = (client *)user_data;
    (void)call;
    if (c->next == c->call_count) {
        phi_answer_text(answer, phi_str_of("done"));
        return PHI_POLL_DONE;
    }
    phi_answer_call(answer, phi_str_of(""), phi_str_of(c->calls[c->next].name));
    phi_answer_arguments(answer, phi_str_of(c->calls[c->next].arguments));
    phi_answer_call_end(answer);
    c->next++;
    return PHI_POLL_DONE;
}

static void model_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

/* ---- the person ---- */

static phi_verdict answer_question(void *user_data, phi_hook *hook) {
    const client *c = (const client *)user_data;
    if (hook->point != PHI_HOOK_QUESTION) return PHI_ALLOW;
    /* members that are left out have the defaults of the form */
    hook->reply =
        phi_str_of(scenario_is(c, "sep-2322-client-request-state") ? "{\"confirmed\":true}" : "{}");
    return PHI_ALLOW;
}

static size_t swallow(char *at, size_t size, size_t count, void *user_data) {
    (void)at;
    (void)user_data;
    return size * count;
}

static void *browse(void *user_data) {
    client *c = (client *)user_data;
    CURL *curl = curl_easy_init();
    if (curl == NULL) return NULL;
    (void)curl_easy_setopt(curl, CURLOPT_URL, c->authorize_url);
    (void)curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, 10L);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, swallow);
    (void)curl_easy_perform(curl);
    curl_easy_cleanup(curl);
    return NULL;
}

static phi_status open_browser(void *user_data, const char *url) {
    client *c = (client *)user_data;
    if (strlen(url) >= sizeof c->authorize_url) return PHI_FULL;
    if (c->authorize_url[0] != '\0') (void)pthread_join(c->browser, NULL);
    (void)snprintf(c->authorize_url, sizeof c->authorize_url, "%s", url);
    return pthread_create(&c->browser, NULL, browse, c) == 0 ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- the plan ---- */

static void plan(client *c, phi_str name, const char *arguments) {
    if (c->call_count == CALLS_MOST || name.len >= NAME_MOST) return;
    (void)snprintf(c->calls[c->call_count].name, NAME_MOST, "%.*s", (int)name.len, name.at);
    c->calls[c->call_count++].arguments = arguments;
}

/* "original" as the model calls it; empty: the server has no such tool. */
static phi_str named(const client *c, phi_str original) {
    phi_mcp_tool tool;
    size_t i;
    for (i = 0; phi_mcp_tool_at(c->mcp, i, &tool); i++)
        if (phi_str_equal(tool.original, original)) return tool.name;
    return phi_str_of("");
}

static const char *written(client *c, const phi_json *node) {
    phi_str out = phi_str_of("{}");
    (void)phi_json_write(&c->arena, node, 0, &out);
    return out.at;
}

static void plan_context(client *c, const phi_json *calls) {
    size_t i;
    for (i = 0; i < phi_json_count(calls); i++) {
        const phi_json *one = phi_json_at(calls, i);
        phi_str name = named(c, phi_json_str(phi_json_get(one, "name"), ""));
        if (name.len > 0) plan(c, name, written(c, phi_json_get(one, "arguments")));
    }
}

/* The schema that a scenario wants back as its server sent it. */
static phi_str focal_schema(const client *c) {
    phi_mcp_tool tool;
    size_t i;
    for (i = 0; phi_mcp_tool_at(c->mcp, i, &tool); i++)
        if (phi_str_equal(tool.original, phi_str_of("json_schema_2020_12_tool"))) return tool.input;
    return phi_str_of("");
}

static const char *arguments_of(client *c, const phi_mcp_tool *tool) {
    phi_json *schema, *around;
    if (phi_str_equal(tool->original, phi_str_of("add_numbers"))) return "{\"a\":2,\"b\":40}";
    if (phi_str_equal(tool->original, phi_str_of("valid_tool"))) return "{\"region\":\"us\"}";
    if (!phi_str_equal(tool->original, phi_str_of("json_schema_echo"))) return "{}";
    around = phi_json_new_object(&c->arena);
    if (phi_json_parse(&c->arena, focal_schema(c), 0, &schema, NULL) != PHI_OK ||
        phi_json_set(&c->arena, around, "schema", schema) != PHI_OK)
        return "{}";
    return written(c, around);
}

static void plan_all(client *c) {
    const phi_json *calls = c->context != NULL ? phi_json_get(c->context, "toolCalls") : NULL;
    phi_mcp_tool tool;
    size_t i;
    printf("%u tools\n", (unsigned)phi_mcp_tool_count(c->mcp));
    if (scenario_is(c, "json-schema-ref-no-deref")) return;
    if (calls != NULL) {
        plan_context(c, calls);
        return;
    }
    for (i = 0; phi_mcp_tool_at(c->mcp, i, &tool); i++) plan(c, tool.name, arguments_of(c, &tool));
}

/* ---- what has no tool ---- */

static void read_done(void *user_data, const phi_mcp_reading *reading) {
    client *c = (client *)user_data;
    c->waiting--;
    printf("read: %s\n", phi_status_text(reading->status));
}

static void resources_done(void *user_data, const phi_mcp_resource_list *list) {
    client *c = (client *)user_data;
    size_t i;
    c->waiting--;
    printf("%u resources\n", (unsigned)list->count);
    for (i = 0; i < list->count; i++) {
        char uri[1000];
        (void)snprintf(uri, sizeof uri, "%.*s", (int)list->resources[i].uri.len,
                       list->resources[i].uri.at);
        if (phi_mcp_read_resource(c->mcp, uri, read_done, c, NULL) == PHI_OK) c->waiting++;
    }
}

static void prompt_done(void *user_data, const phi_mcp_prompted *prompt) {
    client *c = (client *)user_data;
    c->waiting--;
    printf("prompt: %s\n", phi_status_text(prompt->status));
}

static void prompts_done(void *user_data, const phi_mcp_prompt_list *list) {
    client *c = (client *)user_data;
    size_t i;
    c->waiting--;
    printf("%u prompts\n", (unsigned)list->count);
    for (i = 0; i < list->count; i++) {
        char name[1000];
        (void)snprintf(name, sizeof name, "%.*s", (int)list->prompts[i].name.len,
                       list->prompts[i].name.at);
        if (phi_mcp_get_prompt(c->mcp, name, NULL, 0, prompt_done, c, NULL) == PHI_OK) c->waiting++;
    }
}

static void other_lists(client *c) {
    if (!scenario_is(c, "http-standard-headers")) return;
    if (phi_mcp_list_resources(c->mcp, resources_done, c, NULL) == PHI_OK) c->waiting++;
    if (phi_mcp_list_prompts(c->mcp, prompts_done, c, NULL) == PHI_OK) c->waiting++;
    while (c->waiting > 0) (void)phi_step(c->rt, 10);
}

/* ---- the run ---- */

static void show(void *user_data, const phi_mcp_event *event) {
    (void)user_data;
    printf("event %d %.*s: %.*s\n", (int)event->kind, (int)event->name.len, event->name.at,
           (int)event->text.len, event->text.at);
}

static bool connected(client *c, const char *url) {
    static phi_mcp_oauth_desc oauth;
    static char id[200], secret[200], issuer[200];
    phi_mcp_desc desc = PHI_ZERO;
    desc.url = url;
    desc.era = getenv("MCP_CONFORMANCE_PROTOCOL_VERSION");
    desc.client_name = "phi-conformance";
    desc.answers = PHI_MCP_SAMPLING | PHI_MCP_FORMS;
    desc.connect_timeout_ms = LONGEST_MS;
    desc.event_fn = show;
    oauth.open_browser = open_browser;
    oauth.user_data = c;
    oauth.timeout_ms = 10000;
    if (scenario_is(c, "auth/basic-cimd"))
        oauth.client_metadata_url = "https://conformance-test.local/client-metadata.json";
    if (scenario_is(c, "auth/pre-registration") && c->context != NULL) {
        const char *const keys[] = {"client_id", "client_secret", "issuer"};
        char *const into[] = {id, secret, issuer};
        size_t i;
        for (i = 0; i < 3; i++) {
            phi_str value = phi_json_str(phi_json_get(c->context, keys[i]), "");
            (void)snprintf(into[i], sizeof id, "%.*s", (int)value.len, value.at);
        }
        oauth.client_id = id;
        oauth.client_secret = secret;
        oauth.issuer = issuer;
    }
    if (strncmp(c->scenario, "auth/", 5) == 0) desc.oauth = &oauth;
    c->mcp = phi_mcp_connect(c->rt, &desc);
    if (c->mcp == NULL) return false;
    while (phi_mcp_state_of(c->mcp) == PHI_MCP_CONNECTING) (void)phi_step(c->rt, 10);
    if (phi_mcp_state_of(c->mcp) == PHI_MCP_READY) return true;
    printf("not connected: %s\n", phi_mcp_error(c->mcp));
    return false;
}

static void take_events(client *c) {
    phi_event ev;
    while (phi_next_event(c->rt, &ev)) {
        if (ev.kind == PHI_EV_TOOL_END)
            printf("%.*s: %s\n", (int)ev.tool_name.len, ev.tool_name.at,
                   ev.is_error ? "error" : "ok");
        if (ev.kind == PHI_EV_TOOL_END && ev.is_error) c->failed = true;
        if (ev.kind == PHI_EV_AGENT_END && ev.status != PHI_OK) c->failed = true;
        if (ev.kind == PHI_EV_WARNING) printf("warning: %.*s\n", (int)ev.text.len, ev.text.at);
    }
}

static void use(client *c) {
    const phi_tool_source *sources[1];
    phi_agent_desc desc = PHI_ZERO;
    phi_provider model = PHI_ZERO;
    phi_agent agent;
    model.protocol = "scripted";
    model.user_data = c;
    model.open = model_open;
    model.poll = model_poll;
    model.close = model_close;
    (void)phi_register_provider(c->rt, &model);
    sources[0] = phi_mcp_tools(c->mcp);
    desc.model.protocol = "scripted";
    desc.model.id = "scripted";
    desc.tool_sources = sources;
    desc.tool_source_count = 1;
    desc.hook_fn = answer_question;
    desc.hook_points = PHI_HOOK_QUESTION;
    desc.user_data = c;
    agent = phi_agent_new(c->rt, &desc);
    plan_all(c);
    if (phi_prompt(agent, "Call all of them.") != PHI_OK) c->failed = true;
    while (!c->failed && phi_step(c->rt, 10) > 0) take_events(c);
    take_events(c);
    other_lists(c);
    phi_agent_free(agent);
}

static void end(client *c) {
    int i;
    if (c->mcp != NULL) phi_mcp_close(c->mcp);
    for (i = 0; c->mcp != NULL && phi_mcp_state_of(c->mcp) == PHI_MCP_CLOSING && i < 300; i++)
        (void)phi_step(c->rt, 10);
    if (c->authorize_url[0] != '\0') (void)pthread_join(c->browser, NULL);
    (void)phi_mcp_free(c->mcp);
    phi_arena_free(&c->arena);
    phi_runtime_free(c->rt);
}

int main(int argc, char **argv) {
    static client c;
    const char *context = getenv("MCP_CONFORMANCE_CONTEXT");
    c.scenario = getenv("MCP_CONFORMANCE_SCENARIO");
    if (argc != 2 || c.scenario == NULL) {
        printf("usage: client URL, with MCP_CONFORMANCE_SCENARIO\n");
        return 2;
    }
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    phi_memory_init(&c.memory, NULL, 0);
    phi_arena_init(&c.arena, &c.memory, 0);
    if (context != NULL) (void)phi_json_parse(&c.arena, phi_str_of(context), 0, &c.context, NULL);
    c.rt = phi_runtime_new(NULL);
    if (connected(&c, argv[1]))
        use(&c);
    else
        c.failed = true;
    end(&c);
    return c.failed ? 1 : 0;
}
