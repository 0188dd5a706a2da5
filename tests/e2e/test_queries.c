/* test_queries.c - lists of models and counts of tokens over loopback HTTP, in each protocol that has
   them, from a server that refuses what the real ones refuse. */
#include "agent/query.h"
#include "e2e/e2e.h"
#include "codecs/presets.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "loop/loop_in.h"

#define SIGNED "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY:SESSION/TOKEN+EXAMPLE=="

typedef struct endpoint {
    const char *protocol, *id, *base, *key;
    bool lists, counts;
} endpoint;

static const endpoint endpoints[] = {
    {PHI_PROTOCOL_ANTHROPIC, "claude-sonnet-4-5", "", "a-key", true, true},
    {PHI_PROTOCOL_ANTHROPIC, "claude-opus-5-5", "", "a-key", true, true},
    {PHI_PROTOCOL_OPENAI_CHAT, "gpt-4.1-mini", "/v1", "a-key", true, false},
    {PHI_PROTOCOL_OPENAI_RESPONSES, "gpt-5", "/v1", "a-key", true, true},
    {PHI_PROTOCOL_AZURE_RESPONSES, "my-deployment", "/openai/v1", "a-key", true, false},
    {PHI_PROTOCOL_GOOGLE, "gemini-3-pro-preview", "/v1beta", "a-key", true, true},
    {PHI_PROTOCOL_VERTEX, "gemini-3-pro-preview", "/v1/projects/p/locations/global", "a-key", false,
     true},
    {PHI_PROTOCOL_INTERACTIONS, "gemini-3-pro-preview", "/v1beta", "a-key", true, false},
    {PHI_PROTOCOL_BEDROCK, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", "a-key", true, true},
    {PHI_PROTOCOL_BEDROCK, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", SIGNED, true, true}};

static phi_model model_of(const endpoint *e, const char *path, char url[300]) {
    phi_model model = PHI_ZERO;
    (void)snprintf(url, 300, "%s%s", mock_url(path), e->base);
    model.protocol = e->protocol;
    model.id = e->id;
    model.base_url = url;
    model.api_key = e->key;
    model.reasoning = true;
    return model;
}

static void finish(phi_runtime *rt, const phi_query *q) {
    int n = 0;
    while (phi_query_get(q).status == PHI_BUSY && n++ < 2000) (void)phi_step(rt, 10);
    CHECK(phi_query_get(q).status != PHI_BUSY);
}

static const char *said(const phi_query *q) {
    static char words[200];
    phi_query_info info = phi_query_get(q);
    words[0] = '\0';
    if (info.failure != NULL)
        (void)snprintf(words, sizeof words, "%.*s", (int)info.failure->message.len,
                       info.failure->message.at);
    return words;
}

static void check_list(phi_runtime *rt, const phi_model *model) {
    phi_query *q = phi_models(rt, model, NULL);
    phi_query_info info;
    REQUIRE(q != NULL);
    finish(rt, q);
    CHECK_EQ_STR(said(q), "");
    info = phi_query_get(q);
    REQUIRE(info.model_count == 3);
    CHECK_STR(info.models[0].id, "mock-small");
    CHECK_STR(info.models[2].id, "mock-thinker");
    CHECK(!info.more);
    phi_query_free(q);
}

static void add(phi_agent agent, phi_role role, phi_content content) {
    phi_message message = PHI_ZERO;
    message.role = role;
    message.content = &content;
    message.content_count = 1;
    if (role == PHI_ROLE_ASSISTANT) message.stop_reason = PHI_STOP_REASON_TOOL_USE;
    if (role == PHI_ROLE_TOOL_RESULT) {
        message.tool_call_id = phi_str_of("call_1");
        message.tool_name = phi_str_of("double");
    }
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
}

static phi_content text(const char *words) {
    phi_content content = PHI_ZERO;
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(words);
    return content;
}

/* A history with a call and its result, which the strict server looks at. */
static void add_history(phi_agent agent) {
    phi_content call = PHI_ZERO;
    call.kind = PHI_CONTENT_TOOL_CALL;
    call.id = phi_str_of("call_1");
    call.name = phi_str_of("double");
    call.arguments = phi_str_of("{\"n\":21}");
    add(agent, PHI_ROLE_USER, text("Twice 21?"));
    add(agent, PHI_ROLE_ASSISTANT, call);
    add(agent, PHI_ROLE_TOOL_RESULT, text("42"));
}

static void check_count(phi_runtime *rt, const phi_model *model) {
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    phi_agent agent;
    phi_query *q;
    desc.model = *model;
    desc.thinking = PHI_THINKING_LOW;
    desc.options.has_temperature = true;
    desc.options.temperature = 0.5;
    agent = phi_agent_new(rt, &desc);
    REQUIRE(agent.rt != NULL);
    add_history(agent);
    q = phi_count_tokens(agent, NULL);
    REQUIRE(q != NULL);
    finish(rt, q);
    CHECK_EQ_STR(said(q), "");
    CHECK(phi_query_get(q).tokens > 20);
    phi_query_free(q);
    phi_agent_free(agent);
}

TEST(every_protocol_that_has_them_gives_its_list_and_counts_a_request_with_tools) {
    phi_runtime_desc given = PHI_ZERO;
    phi_runtime *rt;
    size_t i;
    given.allocator = test_allocator();
    given.codecs = PHI_ALL_PROTOCOLS;
    rt = phi_runtime_new(&given);
    for (i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++) {
        char url[300];
        phi_model model = model_of(&endpoints[i], "/m/bytes", url);
        if (endpoints[i].lists) check_list(rt, &model);
        if (endpoints[i].counts) check_count(rt, &model);
    }
    phi_runtime_free(rt);
}

TEST(a_server_in_trouble_is_classified_and_a_wrong_key_is_one) {
    phi_runtime_desc given = PHI_ZERO;
    phi_query_desc desc = PHI_ZERO;
    phi_runtime *rt;
    phi_model model;
    phi_query *q;
    char url[300];
    given.allocator = test_allocator();
    given.codecs = PHI_ALL_PROTOCOLS;
    rt = phi_runtime_new(&given);
    model = model_of(&endpoints[0], "/m/status=529+retry-after=3", url);
    q = phi_models(rt, &model, NULL);
    finish(rt, q);
    REQUIRE(phi_query_get(q).failure != NULL);
    CHECK_EQ_INT(phi_query_get(q).failure->http_status, 529);
    CHECK_EQ_INT(phi_query_get(q).failure->retry_after_ms, 3000);
    CHECK(phi_query_get(q).failure->retryable);
    phi_query_free(q);
    model = model_of(&endpoints[0], "", url);
    desc.api_key = "bad-key";
    q = phi_models(rt, &model, &desc);
    finish(rt, q);
    REQUIRE(phi_query_get(q).failure != NULL);
    CHECK_EQ_INT(phi_query_get(q).failure->kind, PHI_FAILURE_AUTH);
    CHECK_EQ_STR(said(q), "invalid x-api-key");
    phi_query_free(q);
    phi_runtime_free(rt);
}

MOCK_MAIN(e2e_options,
          TEST_ENTRY(every_protocol_that_has_them_gives_its_list_and_counts_a_request_with_tools),
          TEST_ENTRY(a_server_in_trouble_is_classified_and_a_wrong_key_is_one))
