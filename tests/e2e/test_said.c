/* test_said.c - options, an extra and a raw tool in every protocol, over loopback HTTP: the strict
   mock takes each request, in a conversation with a call of a tool. */
#include "e2e/e2e.h"

typedef struct target {
    const char *protocol, *provider, *id, *base; /* base: behind the scenario */
    const char *extra, *raw;                     /* raw NULL: the protocol has none in the mock */
} target;

static const target targets[] = {
    {PHI_PROTOCOL_ANTHROPIC, "anthropic", "claude-sonnet-4-5", "",
     "{\"metadata\":{\"user_id\":\"u\"}}",
     "{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}"},
    {PHI_PROTOCOL_OPENAI_CHAT, "openai", "gpt-4.1-mini", "/v1", "{\"verbosity\":\"low\"}", NULL},
    {PHI_PROTOCOL_OPENAI_RESPONSES, "openai", "gpt-4.1-mini", "/v1",
     "{\"text\":{\"verbosity\":\"low\"},\"metadata\":{\"a\":\"b\"}}", "{\"type\":\"web_search\"}"},
    {PHI_PROTOCOL_AZURE_RESPONSES, "azure", "my-deployment", "/openai/v1",
     "{\"metadata\":{\"a\":\"b\"}}", "{\"type\":\"web_search\"}"},
    {PHI_PROTOCOL_GOOGLE, "google", "gemini-3-pro-preview", "/v1beta",
     "{\"generationConfig\":{\"candidateCount\":1}}", "{\"googleSearch\":{}}"},
    {PHI_PROTOCOL_VERTEX, "vertex", "gemini-3-pro-preview", "/v1/projects/p/locations/global",
     "{\"generationConfig\":{\"candidateCount\":1}}", "{\"googleSearch\":{}}"},
    {PHI_PROTOCOL_BEDROCK, "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "",
     "{\"requestMetadata\":{\"a\":\"b\"}}", "{\"systemTool\":{\"name\":\"nova_grounding\"}}"}};

static seen *agent_at(crowd *c, const target *t, const char *path) {
    static const char *const stops[] = {"NEVER SAID"};
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    phi_raw_tool raw;
    char url[400];
    memset(&desc.model, 0, sizeof desc.model);
    (void)snprintf(url, sizeof url, "%s%s", mock_url(path), t->base);
    desc.model.protocol = t->protocol;
    desc.model.provider = t->provider;
    desc.model.id = t->id;
    desc.model.base_url = url;
    desc.model.api_key = "a-key";
    desc.options.extra = t->extra;
    raw.protocol = t->protocol;
    raw.json = t->raw;
    desc.tool_options.raw_tools = &raw;
    desc.tool_options.raw_tool_count = t->raw != NULL ? 1 : 0;
    desc.options.top_p = 0.9;
    desc.options.stop = stops;
    desc.options.stop_count = 1;
    desc.options.has_seed = true;
    desc.options.seed = 7;
    desc.options.serial_calls = true;
    return crowd_add(c, &desc, t->id);
}

TEST(what_is_said_is_taken_in_every_protocol) {
    size_t i;
    for (i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        crowd *c = crowd_new(NULL);
        seen *s = c != NULL ? agent_at(c, &targets[i], "/s/demo") : NULL;
        bool good = s != NULL && crowd_ask(s, "Begin.") && CHECK_EQ_INT(s->status, PHI_OK) &&
                    CHECK(crowd_history_holds(s));
        if (!CHECK(good))
            printf("  %s %s: %s\n", targets[i].provider, targets[i].id,
                   s != NULL ? s->failure_text : "no agent");
        if (c != NULL) crowd_free(c);
    }
}

MOCK_MAIN(e2e_options, TEST_ENTRY(what_is_said_is_taken_in_every_protocol))
