/* client.c - phi's client for the official conformance package (make interop): an agent of a
   scripted model calls what a scenario wants called.

   usage: client URL        with MCP_CONFORMANCE_SCENARIO, _CONTEXT and _PROTOCOL_VERSION
   The person of the OAuth scenarios is a thread that gets the authorization URL as a browser would,
   and follows its redirects. Keys are the command openssl's. Exit code 1: not connected, or the run
   failed. */
#include "../../mcp/gets.h"
#include "agent/agent.h"
#include "base/arena.h"
#include "loop/provider.h"
#include "mcp/mcp.h"
#include "mcp/mcp_oauth.h"
#include "mcp/mcp_tools.h"
#include "loop/events.h"
#include "loop/hook.h"
#include "loop/loop_in.h"
#include "mcp/mcp_requests_in.h"
#include "text/text_in.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    char key_path[64], jwk[300]; /* of a key; empty: none */
    phi_mcp_key key;
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
    phi_answer_arguments(answer, phi_str_of(c->calls[c->next].arguments), true);
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

/* ---- a key ---- */

static const char *context_text(client *c, const char *name) {
    return phi_json_str(c->context != NULL ? phi_json_get(c->context, name) : NULL, "").at;
}

/* What a command prints; its length. */
static size_t output_of(const char *command, unsigned char *out, size_t size) {
    FILE *from = popen(command, "r");
    size_t n;
    if (from == NULL) return 0;
    n = fread(out, 1, size, from);
    return pclose(from) == 0 ? n : 0;
}

/* One number of a signature in DER, as 32 bytes; the place after it, or 0. */
static size_t der_number(const unsigned char *der, size_t n, size_t at, unsigned char out[32]) {
    size_t len;
    if (at + 2 > n || der[at] != 2) return 0;
    len = der[at + 1];
    at += 2;
    if (at + len > n) return 0;
    for (; len > 32; len--)
        if (der[at++] != 0) return 0;
    memset(out, 0, 32);
    memcpy(out + 32 - len, der + at, len);
    return at + len;
}

/* ES256 by the command openssl, which writes DER. */
static phi_status sign(void *user_data, phi_str bytes, unsigned char *signature, size_t *len) {
    client *c = (client *)user_data;
    unsigned char der[200];
    char command[300], text[80];
    size_t n, at;
    FILE *to;
    (void)snprintf(text, sizeof text, "%s.text", c->key_path);
    to = fopen(text, "wb");
    if (to == NULL || fwrite(bytes.at, 1, bytes.len, to) != bytes.len || fclose(to) != 0)
        return PHI_NETWORK;
    (void)snprintf(command, sizeof command, "openssl dgst -sha256 -sign %s %s", c->key_path, text);
    n = output_of(command, der, sizeof der);
    (void)remove(text);
    at = n > 2 && der[0] == 0x30 ? der_number(der, n, 2, signature) : 0;
    if (at == 0 || der_number(der, n, at, signature + 32) == 0) return PHI_REFUSED;
    *len = 64;
    return PHI_OK;
}

static void base64_of_url(const unsigned char *bytes, size_t n, char *out) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    unsigned bits = 0, held = 0;
    size_t i;
    for (i = 0; i < n; i++) {
        bits = (bits << 8 | bytes[i]) & 0xffffff;
        for (held += 8; held >= 6; held -= 6) *out++ = letters[bits >> (held - 6) & 63];
    }
    if (held > 0) *out++ = letters[bits << (6 - held) & 63];
    *out = '\0';
}

/* The key of the context, or a new one with its public half as a JWK. */
static bool key_made(client *c) {
    const char *pem = context_text(c, "private_key_pem");
    unsigned char der[200];
    char command[200], x[50], y[50];
    size_t n;
    int fd;
    (void)snprintf(c->key_path, sizeof c->key_path, "/tmp/phi-conformance-XXXXXX");
    fd = mkstemp(c->key_path);
    if (fd < 0) return false;
    n = strlen(pem);
    if (write(fd, pem, n) != (ssize_t)n || close(fd) != 0) return false;
    c->key.algorithm = "ES256";
    c->key.sign = sign;
    c->key.user_data = c;
    if (n > 0) return true;
    (void)snprintf(command, sizeof command,
                   "openssl ecparam -name prime256v1 -genkey -noout -out %s", c->key_path);
    (void)output_of(command, der, sizeof der);
    (void)snprintf(command, sizeof command, "openssl ec -in %s -pubout -outform DER 2>/dev/null",
                   c->key_path);
    n = output_of(command, der, sizeof der);
    if (n < 65) return false;
    base64_of_url(der + n - 64, 32, x);
    base64_of_url(der + n - 32, 32, y);
    (void)snprintf(c->jwk, sizeof c->jwk,
                   "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}", x, y);
    c->key.jwk = c->jwk;
    return true;
}

/* ---- assertions ---- */

static size_t collect(char *at, size_t size, size_t count, void *user_data) {
    char *out = (char *)user_data;
    size_t n = strlen(out), more = size * count;
    if (n + more < 8000) {
        memcpy(out + n, at, more);
        out[n + more] = '\0';
    }
    return more;
}

static void form_add(CURL *curl, char *form, size_t size, const char *name, const char *value) {
    size_t n = strlen(form);
    char *escaped = curl_easy_escape(curl, value, 0);
    if (escaped == NULL) return;
    (void)snprintf(form + n, size - n, "%s%s=%s", n > 0 ? "&" : "", name, escaped);
    curl_free(escaped);
}

/* The identity provider's token for the server: RFC 8693. It blocks, as a program should not. */
static phi_status exchange(client *c, const phi_mcp_assertion *wanted) {
    static char form[16000], answer[8001];
    CURL *curl = curl_easy_init();
    phi_json *root = NULL;
    CURLcode code;
    if (curl == NULL) return PHI_NO_MEMORY;
    form[0] = answer[0] = '\0';
    form_add(curl, form, sizeof form, "grant_type",
             "urn:ietf:params:oauth:grant-type:token-exchange");
    form_add(curl, form, sizeof form, "requested_token_type",
             "urn:ietf:params:oauth:token-type:id-jag");
    form_add(curl, form, sizeof form, "subject_token_type",
             "urn:ietf:params:oauth:token-type:id_token");
    form_add(curl, form, sizeof form, "subject_token", context_text(c, "idp_id_token"));
    form_add(curl, form, sizeof form, "client_id", context_text(c, "idp_client_id"));
    form_add(curl, form, sizeof form, "audience", wanted->issuer.at);
    form_add(curl, form, sizeof form, "resource", wanted->resource.at);
    (void)curl_easy_setopt(curl, CURLOPT_URL, context_text(c, "idp_token_endpoint"));
    (void)curl_easy_setopt(curl, CURLOPT_POSTFIELDS, form);
    (void)curl_easy_setopt(curl, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT, 10L);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    code = curl_easy_perform(curl);
    curl_easy_cleanup(curl);
    if (code != CURLE_OK || phi_json_parse(&c->arena, phi_str_of(answer), 0, &root, NULL) != PHI_OK)
        return PHI_NETWORK;
    return phi_mcp_authorize(c->mcp, phi_json_str(phi_json_get(root, "access_token"), "").at);
}

static phi_status want_assertion(void *user_data, const phi_mcp_assertion *wanted) {
    client *c = (client *)user_data;
    if (!scenario_is(c, "auth/wif-jwt-bearer")) return exchange(c, wanted);
    return phi_mcp_authorize(c->mcp, context_text(c, "valid_jwt"));
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
    for (i = 0; mcp_tool_at(c->mcp, i, &tool); i++)
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
    for (i = 0; mcp_tool_at(c->mcp, i, &tool); i++)
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
    printf("%u tools\n", (unsigned)mcp_tool_count(c->mcp));
    if (scenario_is(c, "json-schema-ref-no-deref")) return;
    if (calls != NULL) {
        plan_context(c, calls);
        return;
    }
    for (i = 0; mcp_tool_at(c->mcp, i, &tool); i++) plan(c, tool.name, arguments_of(c, &tool));
}

/* ---- what has no tool ---- */

static void read_done(void *user_data, const phi_mcp_got *reading) {
    client *c = (client *)user_data;
    c->waiting--;
    printf("read: %s\n", phi_status_text(reading->status));
}

static void resources_done(void *user_data, const phi_mcp_got *list) {
    client *c = (client *)user_data;
    size_t i;
    c->waiting--;
    printf("%u resources\n", (unsigned)list->count);
    for (i = 0; i < list->count; i++) {
        char uri[1000];
        (void)snprintf(uri, sizeof uri, "%.*s", (int)list->resources[i].uri.len,
                       list->resources[i].uri.at);
        if (mcp_read_resource(c->mcp, uri, read_done, c, NULL) == PHI_OK) c->waiting++;
    }
}

static void prompt_done(void *user_data, const phi_mcp_got *prompt) {
    client *c = (client *)user_data;
    c->waiting--;
    printf("prompt: %s\n", phi_status_text(prompt->status));
}

static void prompts_done(void *user_data, const phi_mcp_got *list) {
    client *c = (client *)user_data;
    size_t i;
    c->waiting--;
    printf("%u prompts\n", (unsigned)list->count);
    for (i = 0; i < list->count; i++) {
        char name[1000];
        (void)snprintf(name, sizeof name, "%.*s", (int)list->prompts[i].name.len,
                       list->prompts[i].name.at);
        if (mcp_get_prompt(c->mcp, name, NULL, 0, prompt_done, c, NULL) == PHI_OK) c->waiting++;
    }
}

static void other_lists(client *c) {
    if (!scenario_is(c, "http-standard-headers")) return;
    if (mcp_list_resources(c->mcp, resources_done, c, NULL) == PHI_OK) c->waiting++;
    if (mcp_list_prompts(c->mcp, prompts_done, c, NULL) == PHI_OK) c->waiting++;
    while (c->waiting > 0) (void)phi_step(c->rt, 10);
}

/* ---- the run ---- */

static void show(void *user_data, const phi_mcp_event *event) {
    (void)user_data;
    printf("event %d %.*s: %.*s\n", (int)event->kind, (int)event->name.len, event->name.at,
           (int)event->text.len, event->text.at);
}

/* What a scenario is about. */
static bool authorization(client *c, phi_mcp_oauth_desc *oauth) {
    bool machine = scenario_is(c, "auth/client-credentials-basic") ||
                   scenario_is(c, "auth/client-credentials-jwt");
    bool assertion = scenario_is(c, "auth/wif-jwt-bearer") ||
                     scenario_is(c, "auth/enterprise-managed-authorization");
    bool dpop = strncmp(c->scenario, "auth/dpop", 9) == 0;
    oauth->open_browser_fn = open_browser;
    oauth->user_data = c;
    oauth->timeout_ms = 10000;
    oauth->want_assertion_fn = want_assertion;
    oauth->grant = machine     ? PHI_MCP_GRANT_CLIENT
                   : assertion ? PHI_MCP_GRANT_ASSERTION
                               : PHI_MCP_GRANT_PERSON;
    if (scenario_is(c, "auth/basic-cimd"))
        oauth->client_metadata_url = "https://conformance-test.local/client-metadata.json";
    if (machine || assertion || scenario_is(c, "auth/pre-registration")) {
        oauth->client_id = context_text(c, "client_id");
        if (context_text(c, "client_secret")[0] != '\0')
            oauth->client_secret = context_text(c, "client_secret");
        if (context_text(c, "issuer")[0] != '\0') oauth->issuer = context_text(c, "issuer");
    }
    if (!dpop && !scenario_is(c, "auth/client-credentials-jwt")) return true;
    if (!key_made(c)) return false;
    if (dpop)
        oauth->dpop_key = &c->key;
    else
        oauth->client_key = &c->key;
    return true;
}

static bool connected(client *c, const char *url) {
    phi_mcp_oauth_desc oauth = PHI_ZERO;
    phi_mcp_desc desc = PHI_ZERO;
    desc.url = url;
    desc.era = getenv("MCP_CONFORMANCE_PROTOCOL_VERSION");
    desc.client_name = "phi-conformance";
    desc.answers = PHI_MCP_SAMPLING | PHI_MCP_FORMS;
    desc.connect_timeout_ms = LONGEST_MS;
    desc.event_fn = show;
    if (!authorization(c, &oauth)) return false;
    if (strncmp(c->scenario, "auth/", 5) == 0) desc.oauth = &oauth;
    c->mcp = phi_mcp_connect(c->rt, &desc);
    if (c->mcp == NULL) return false;
    while (phi_mcp_get_info(c->mcp).state == PHI_MCP_CONNECTING) (void)phi_step(c->rt, 10);
    if (phi_mcp_get_info(c->mcp).state == PHI_MCP_READY) return true;
    printf("not connected: %s\n", phi_mcp_get_info(c->mcp).message);
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
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 1;
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
    for (i = 0; c->mcp != NULL && phi_mcp_get_info(c->mcp).state == PHI_MCP_CLOSING && i < 300; i++)
        (void)phi_step(c->rt, 10);
    if (c->authorize_url[0] != '\0') (void)pthread_join(c->browser, NULL);
    phi_mcp_free(c->mcp);
    if (c->key_path[0] != '\0') (void)remove(c->key_path);
    phi_arena_free(&c->arena);
    phi_runtime_free(c->rt);
}

int main(int argc, char **argv) {
    phi_runtime_desc has = PHI_ZERO;
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
    has.features = PHI_ALL_FEATURES;
    c.rt = phi_runtime_new(&has);
    if (connected(&c, argv[1]))
        use(&c);
    else
        c.failed = true;
    end(&c);
    return c.failed ? 1 : 0;
}
