/* test_query.c - lists of models and counts of tokens: what is sent, what the answers mean, and what
   goes wrong. */
#include "agent/query.h"
#include "support/set.h"
#include "support/test.h"
#include "support/wires.h"
#include "agent/agent_history.h"
#include "log/policy.h"
#include "io/transport.h"
#include "loop/provider.h"
#include "model/event.h"
#include "model/model.h"
#include "loop/loop_in.h"

#define KEY "sk-test-0123456789"
#define BEDROCK_ID "anthropic.claude-sonnet-4-5-20250929-v1:0"

static void steps(phi_runtime *rt, wires *w, int n) {
    while (n-- > 0) {
        (void)phi_step(rt, 0);
        w->now_us += 1000;
    }
}

static phi_agent agent_of(phi_runtime *rt, phi_model model) {
    phi_agent_desc desc = PHI_ZERO;
    phi_agent agent;
    desc.model = model;
    desc.system_prompt = "Be brief.";
    agent = phi_agent_new(rt, &desc);
    CHECK(agent.rt != NULL);
    return agent;
}

static void say(phi_agent agent, const char *text) {
    phi_content block = PHI_ZERO;
    phi_message message = PHI_ZERO;
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of(text);
    message.role = PHI_ROLE_USER;
    message.content = &block;
    message.content_count = 1;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
}

/* Whether a sent request has that line. */
static bool has(const wires *w, size_t i, const char *line) {
    return i < w->count && strstr(w->sent[i].text, line) != NULL;
}

static const char *body_of(const wires *w, size_t i) {
    const char *at = i < w->count ? strstr(w->sent[i].text, "\n\n") : NULL;
    return at != NULL ? at + 2 : "(no request)";
}

static const char *last_error(phi_runtime *rt) {
    const char *words = "";
    words = phi_last_error(rt).message;
    return words;
}

/* ---- lists ---- */

TEST(a_list_is_read_page_by_page) {
    wires w;
    phi_model model = phi_model_anthropic(NULL, KEY);
    phi_runtime *rt;
    phi_query *q;
    phi_query_info info;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    q = phi_models(rt, &model, NULL);
    CHECK(q != NULL && phi_query_get(q).status == PHI_BUSY);
    CHECK(has(&w, 0, "GET https://api.anthropic.com/v1/models?limit=1000\n"));
    CHECK(has(&w, 0, "x-api-key: " KEY "\n"));
    CHECK(has(&w, 0, "anthropic-version: 2023-06-01\n"));
    CHECK(has(&w, 0, "accept: application/json\n"));
    CHECK_EQ_STR(body_of(&w, 0), "");
    wires_reply(&w, 0, 200, "",
                "{\"data\":[{\"type\":\"model\",\"id\":\"claude-a\",\"display_name\":\"Claude A\","
                "\"max_input_tokens\":200000,\"max_tokens\":64000,\"capabilities\":{\"thinking\":"
                "{\"supported\":true}}},{\"id\":\"claude-b\",\"display_name\":\"B\","
                "\"max_input_tokens\":null,\"capabilities\":{\"thinking\":{\"supported\":false}}}],"
                "\"has_more\":true,\"first_id\":\"claude-a\",\"last_id\":\"claude-b &\"}");
    steps(rt, &w, 3);
    CHECK(phi_query_get(q).status == PHI_BUSY);
    info = phi_query_get(q);
    CHECK(info.status == PHI_BUSY && info.models == NULL && info.model_count == 0);
    CHECK(
        has(&w, 1, "GET https://api.anthropic.com/v1/models?limit=1000&after_id=claude-b%20%26\n"));
    wires_reply(&w, 1, 200, "",
                "{\"data\":[{\"id\":\"claude-c\",\"capabilities\":null}],\"has_more\":false,"
                "\"last_id\":\"claude-c\"}");
    steps(rt, &w, 3);
    CHECK(phi_query_get(q).status != PHI_BUSY);
    CHECK_EQ_INT(w.count, 2);
    info = phi_query_get(q);
    CHECK_EQ_INT(info.status, PHI_OK);
    CHECK(info.failure == NULL && !info.more);
    REQUIRE(info.model_count == 3);
    CHECK_STR(info.models[0].id, "claude-a");
    CHECK_STR(info.models[0].name, "Claude A");
    CHECK_EQ_INT(info.models[0].context_window, 200000);
    CHECK_EQ_INT(info.models[0].max_tokens, 64000);
    CHECK(info.models[0].reasoning && info.models[0].reasoning_known);
    CHECK_EQ_INT(info.models[1].context_window, 0);
    CHECK(!info.models[1].reasoning && info.models[1].reasoning_known);
    CHECK_STR(info.models[2].id, "claude-c");
    CHECK_STR(info.models[2].name, "");
    CHECK(!info.models[2].reasoning_known);
    phi_query_free(q);
    phi_runtime_free(rt);
    wires_free(&w);
}

/* The first model of a list that is one page. */
static void check_list(phi_model model, const char *request, const char *answer, const char *id,
                       const char *name, uint64_t window, uint64_t most, int thinks) {
    wires w;
    phi_runtime *rt;
    phi_query *q;
    phi_query_info info;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    q = phi_models(rt, &model, NULL);
    REQUIRE(q != NULL);
    CHECK_EQ_INT(has(&w, 0, request), true);
    wires_reply(&w, 0, 200, "", answer);
    steps(rt, &w, 3);
    info = phi_query_get(q);
    CHECK_EQ_INT(info.status, PHI_OK);
    CHECK_EQ_INT(w.count, 1);
    REQUIRE(info.model_count == 1);
    CHECK_STR(info.models[0].id, id);
    CHECK_STR(info.models[0].name, name);
    CHECK_EQ_INT(info.models[0].context_window, window);
    CHECK_EQ_INT(info.models[0].max_tokens, most);
    CHECK_EQ_INT(info.models[0].reasoning_known ? info.models[0].reasoning : -1, thinks);
    phi_query_free(q);
    phi_runtime_free(rt);
    wires_free(&w);
}

TEST(the_lists_of_all_protocols_that_have_one_are_read) {
    check_list(phi_model_openai("x", KEY), "GET https://api.openai.com/v1/models\n",
               "{\"object\":\"list\",\"data\":[{\"id\":\"gpt-5\",\"object\":\"model\"}]}", "gpt-5",
               "", 0, 0, -1);
    check_list(phi_model_preset("openrouter", "x", KEY),
               "GET https://openrouter.ai/api/v1/models\n",
               "{\"data\":[{\"id\":\"a/b\",\"name\":\"A: B\",\"context_length\":1000,"
               "\"top_provider\":{\"max_completion_tokens\":500},\"supported_parameters\":"
               "[\"tools\",\"reasoning\"]}]}",
               "a/b", "A: B", 1000, 500, 1);
    check_list(phi_model_preset("together", "x", KEY), "GET https://api.together.ai/v1/models\n",
               "[{\"id\":\"m\",\"display_name\":\"M\",\"context_length\":4096}]", "m", "M", 4096, 0,
               -1);
    check_list(phi_model_preset("vllm", "x", NULL), "GET http://localhost:8000/v1/models\n",
               "{\"data\":[{\"id\":\"m\",\"max_model_len\":32768}]}", "m", "", 32768, 0, -1);
    check_list(phi_model_openai_responses("x", KEY), "GET https://api.openai.com/v1/models\n",
               "{\"data\":[{\"id\":\"gpt-5\"}]}", "gpt-5", "", 0, 0, -1);
    check_list(
        phi_model_azure("https://r.openai.azure.com/openai?api-version=2025-04-01", "d", KEY),
        "GET https://r.openai.azure.com/openai/models?api-version=2025-04-01\n",
        "{\"data\":[{\"id\":\"gpt-5\"}]}", "gpt-5", "", 0, 0, -1);
    check_list(phi_model_google("gemini-x", KEY),
               "GET https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000\n",
               "{\"models\":[{\"name\":\"models/gemini-3\",\"displayName\":\"Gemini 3\","
               "\"inputTokenLimit\":1048576,\"outputTokenLimit\":65536,\"thinking\":true}]}",
               "gemini-3", "Gemini 3", 1048576, 65536, 1);
    check_list(phi_model_bedrock("https://bedrock-runtime.eu-west-1.amazonaws.com", "x", "K"),
               "GET https://bedrock.eu-west-1.amazonaws.com/foundation-models\n",
               "{\"modelSummaries\":[{\"modelId\":\"a.b-v1:0\",\"modelName\":\"B\"}]}", "a.b-v1:0",
               "B", 0, 0, -1);
}

TEST(googles_pages_are_followed_by_their_token) {
    wires w;
    phi_model model = phi_model_google(NULL, KEY);
    phi_runtime *rt;
    phi_query *q;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    q = phi_models(rt, &model, NULL);
    wires_reply(&w, 0, 200, "", "{\"models\":[{\"name\":\"models/a\"}],\"nextPageToken\":\"t=1\"}");
    steps(rt, &w, 3);
    CHECK(has(&w, 1, "/v1beta/models?pageSize=1000&pageToken=t%3D1\n"));
    wires_reply(&w, 1, 200, "", "{\"models\":[{\"name\":\"models/b\"}]}");
    steps(rt, &w, 3);
    CHECK_EQ_INT(phi_query_get(q).model_count, 2);
    phi_query_free(q);
    phi_runtime_free(rt);
    wires_free(&w);
}

TEST(bedrocks_list_is_signed_for_its_region) {
    wires w;
    phi_model model = phi_model_bedrock("https://bedrock-runtime.eu-west-1.amazonaws.com", NULL,
                                        "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
    phi_runtime *rt;
    phi_query *q;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    q = phi_models(rt, &model, NULL);
    CHECK(has(&w, 0, "/eu-west-1/bedrock/aws4_request, SignedHeaders=content-type;host;"));
    CHECK(has(&w, 0,
              "x-amz-content-sha256: "
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"));
    phi_query_free(q);
    CHECK_EQ_INT(w.cancels, 1);
    phi_runtime_free(rt);
    wires_free(&w);
}

static void endless(wires *w, size_t i) {
    char answer[120];
    (void)snprintf(answer, sizeof answer,
                   "{\"data\":[{\"id\":\"m%u\"}],\"has_more\":true,\"last_id\":\"m%u\"}",
                   (unsigned)i, (unsigned)i);
    wires_reply(w, i, 200, "", answer);
    if (w->count == WIRES_MOST) { /* forget those that are over */
        size_t k;
        for (k = 0; k < w->count; k++) {
            free(w->sent[k].text);
            free(w->sent[k].rest);
        }
        *(size_t *)w->user_data += w->count;
        w->count = 0;
    }
}

TEST(a_list_without_an_end_is_left_after_a_hundred_pages) {
    wires w;
    size_t before = 0;
    phi_model model = phi_model_anthropic(NULL, KEY);
    phi_runtime *rt;
    phi_query *q;
    phi_query_info info;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    w.answer = endless;
    w.user_data = &before;
    q = phi_models(rt, &model, NULL);
    steps(rt, &w, 500);
    info = phi_query_get(q);
    CHECK_EQ_INT(info.status, PHI_OK);
    CHECK(info.more);
    CHECK_EQ_INT(info.model_count, 100);
    CHECK_EQ_INT(before + w.count, 100);
    phi_query_free(q);
    phi_runtime_free(rt);
    wires_free(&w);
}

/* ---- counts ---- */

static void check_count(phi_model model, const char *request, const char *body,
                        const char *answer) {
    wires w;
    phi_agent agent;
    phi_runtime *rt;
    phi_query *q;
    phi_query_info info;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    agent = agent_of(rt, model);
    say(agent, "Hi");
    q = phi_count_tokens(agent, NULL);
    REQUIRE(q != NULL);
    CHECK_EQ_INT(has(&w, 0, request), true);
    CHECK_EQ_STR(body_of(&w, 0), body);
    wires_reply(&w, 0, 200, "", answer);
    steps(rt, &w, 3);
    info = phi_query_get(q);
    CHECK_EQ_INT(info.status, PHI_OK);
    CHECK_EQ_INT(info.tokens, 42);
    CHECK(info.models == NULL && info.failure == NULL);
    phi_query_free(q);
    phi_agent_free(agent);
    phi_runtime_free(rt);
    wires_free(&w);
}

TEST(a_count_sends_the_request_without_what_the_endpoint_refuses) {
    check_count(
        phi_model_anthropic("claude-sonnet-4-5", KEY),
        "POST https://api.anthropic.com/v1/messages/count_tokens\n",
        "{\"model\":\"claude-sonnet-4-5\",\"system\":[{\"type\":\"text\",\"text\":"
        "\"Be brief.\",\"cache_control\":{\"type\":\"ephemeral\"}}],\"messages\":[{\"role\":"
        "\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\",\"cache_control\":"
        "{\"type\":\"ephemeral\"}}]}]}",
        "{\"input_tokens\":42}");
    check_count(
        phi_model_openai_responses("gpt-4.1", KEY),
        "POST https://api.openai.com/v1/responses/input_tokens\n",
        "{\"model\":\"gpt-4.1\",\"instructions\":\"Be brief.\",\"input\":[{\"role\":\"user\","
        "\"content\":[{\"type\":\"input_text\",\"text\":\"Hi\"}]}]}",
        "{\"object\":\"response.input_tokens\",\"input_tokens\":42}");
    check_count(phi_model_google("gemini-2.0-flash", KEY),
                "POST https://generativelanguage.googleapis.com/v1beta/models/"
                "gemini-2.0-flash:countTokens\n",
                "{\"generateContentRequest\":{\"model\":\"models/gemini-2.0-flash\","
                "\"systemInstruction\":{\"parts\":[{\"text\":\"Be brief.\"}]},\"generationConfig\":"
                "{\"maxOutputTokens\":8192},\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":"
                "\"Hi\"}]}]}}",
                "{\"totalTokens\":42,\"promptTokensDetails\":[]}");
    check_count(
        phi_model_vertex("https://europe-west1-aiplatform.googleapis.com/v1/projects/P/"
                         "locations/europe-west1",
                         "gemini-2.0-flash", KEY),
        "POST https://europe-west1-aiplatform.googleapis.com/v1/projects/P/locations/"
        "europe-west1/publishers/google/models/gemini-2.0-flash:countTokens\n",
        "{\"systemInstruction\":{\"parts\":[{\"text\":\"Be brief.\"}]},\"generationConfig\":"
        "{\"maxOutputTokens\":8192},\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":"
        "\"Hi\"}]}]}",
        "{\"totalTokens\":42}");
    check_count(phi_model_bedrock(NULL, BEDROCK_ID, "K"),
                "POST https://bedrock-runtime.us-east-1.amazonaws.com/model/"
                "anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens\n",
                "{\"input\":{\"converse\":{\"system\":[{\"text\":\"Be brief.\"},{\"cachePoint\":"
                "{\"type\":\"default\"}}],\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":"
                "\"Hi\"},{\"cachePoint\":{\"type\":\"default\"}}]}]}}}",
                "{\"inputTokens\":42}");
}

TEST(a_name_with_its_folder_is_not_given_a_second_one) {
    wires w;
    phi_agent agent;
    phi_runtime *rt;
    phi_query *q;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    agent = agent_of(rt, phi_model_google("models/gemini-2.0-flash", KEY));
    say(agent, "Hi");
    q = phi_count_tokens(agent, NULL);
    CHECK(has(&w, 0, "/v1beta/models/gemini-2.0-flash:countTokens\n"));
    CHECK(has(&w, 0, "{\"generateContentRequest\":{\"model\":\"models/gemini-2.0-flash\",\"sys"));
    phi_query_free(q);
    phi_agent_free(agent);
    phi_runtime_free(rt);
    wires_free(&w);
}

TEST(a_count_is_of_what_the_policy_shows) {
    wires w;
    phi_agent agent;
    phi_policy policy = PHI_ZERO;
    phi_runtime *rt;
    phi_query *q;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    agent = agent_of(rt, phi_model_anthropic("claude-sonnet-4-5", KEY));
    say(agent, "an old story");
    say(agent, "a new question");
    policy.keep_last_turns = 1;
    policy.max_input_tokens = PHI_POLICY_UNLIMITED;
    CHECK_EQ_INT(set_policy(agent, &policy), PHI_OK);
    q = phi_count_tokens(agent, NULL);
    CHECK(has(&w, 0, "a new question"));
    phi_query_free(q);
    CHECK_EQ_INT(set_policy(agent, NULL), PHI_OK);
    q = phi_count_tokens(agent, NULL);
    CHECK(has(&w, 1, "an old story") && has(&w, 1, "a new question"));
    phi_query_free(q);
    phi_agent_free(agent);
    phi_runtime_free(rt);
    wires_free(&w);
}

TEST(the_agent_may_be_freed_while_its_request_is_counted) {
    wires w;
    phi_agent agent;
    phi_runtime *rt;
    phi_query *q;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    agent = agent_of(rt, phi_model_anthropic("claude-sonnet-4-5", KEY));
    say(agent, "Hi");
    q = phi_count_tokens(agent, NULL);
    phi_agent_free(agent);
    steps(rt, &w, 2);
    wires_reply(&w, 0, 200, "", "{\"input_tokens\":7}");
    steps(rt, &w, 3);
    CHECK_EQ_INT(phi_query_get(q).tokens, 7);
    phi_query_free(q);
    phi_runtime_free(rt);
    wires_free(&w);
}

TEST(the_key_of_the_desc_is_sent_in_place_of_the_models) {
    wires w;
    phi_agent agent;
    phi_query_desc desc = PHI_ZERO;
    phi_model model = phi_model_anthropic("claude-sonnet-4-5", "old-key-0123");
    phi_runtime *rt;
    phi_query *list, *count;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    agent = agent_of(rt, model);
    say(agent, "Hi");
    desc.api_key = "new-key-0123";
    list = phi_models(rt, &model, &desc);
    count = phi_count_tokens(agent, &desc);
    CHECK(has(&w, 0, "x-api-key: new-key-0123\n") && has(&w, 1, "x-api-key: new-key-0123\n"));
    CHECK(!has(&w, 0, "old-key") && !has(&w, 1, "old-key"));
    phi_query_free(list);
    phi_query_free(count);
    phi_agent_free(agent);
    phi_runtime_free(rt);
    wires_free(&w);
}

/* ---- trouble ---- */

TEST(what_cannot_be_asked_is_refused_in_words) {
    wires w;
    phi_agent agent, chat, none = PHI_ZERO;
    phi_model model = phi_model_vertex("https://aiplatform.googleapis.com/v1", "gemini-3", KEY);
    phi_model bad = phi_model_anthropic("claude-sonnet-4-5", KEY);
    phi_runtime *rt;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    CHECK(phi_models(NULL, &model, NULL) == NULL);
    CHECK(phi_count_tokens(none, NULL) == NULL);
    CHECK(phi_models(rt, NULL, NULL) == NULL);
    CHECK_EQ_STR(last_error(rt), "phi_models: model is NULL");
    CHECK(phi_models(rt, &model, NULL) == NULL);
    CHECK_EQ_STR(last_error(rt), "phi_models: protocol google_vertex has no such endpoint");
    CHECK_EQ_INT(phi_last_error(rt).status, PHI_UNSUPPORTED);
    bad.base_url = "ftp://x";
    CHECK(phi_models(rt, &bad, NULL) == NULL);
    CHECK_EQ_STR(last_error(rt), "phi_models: model.base_url \"ftp://x\": expected http:// or "
                                 "https:// and a host");
    chat = agent_of(rt, phi_model_openai("gpt-4.1", KEY));
    say(chat, "Hi");
    CHECK(phi_count_tokens(chat, NULL) == NULL);
    CHECK_EQ_STR(last_error(rt),
                 "phi_count_tokens: protocol openai_completions has no such endpoint");
    agent = agent_of(rt, phi_model_anthropic("claude-sonnet-4-5", KEY));
    CHECK(phi_count_tokens(agent, NULL) == NULL);
    CHECK_EQ_STR(last_error(rt), "phi_count_tokens: there are no messages");
    CHECK_EQ_INT(phi_last_error(rt).status, PHI_MISUSE);
    phi_agent_free(agent);
    CHECK(phi_count_tokens(agent, NULL) == NULL);
    CHECK_EQ_STR(last_error(rt), "phi_count_tokens: the agent is gone");
    CHECK_EQ_INT(phi_query_get(NULL).status, PHI_STALE);
    CHECK(phi_query_get(NULL).status != PHI_BUSY);
    phi_query_free(NULL);
    CHECK_EQ_INT(w.count, 0);
    phi_agent_free(chat);
    phi_runtime_free(rt);
    wires_free(&w);
}

static phi_status own_open(void *user_data, const phi_model_request *request, void **call) {
    (void)user_data;
    (void)request;
    *call = NULL;
    return PHI_REFUSED;
}

static phi_poll own_poll(void *user_data, void *call, phi_answer *answer) {
    (void)user_data;
    (void)call;
    (void)answer;
    return PHI_POLL_DONE;
}

static void own_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

TEST(a_model_of_the_hosts_own_has_no_endpoints) {
    wires w;
    phi_provider provider = PHI_ZERO;
    phi_model model = PHI_ZERO;
    phi_agent agent;
    phi_runtime *rt;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    provider.protocol = "mine";
    provider.open = own_open;
    provider.poll = own_poll;
    provider.close = own_close;
    CHECK_EQ_INT(phi_register_provider(rt, &provider), PHI_OK);
    model.protocol = "mine";
    model.id = "m";
    CHECK(phi_models(rt, &model, NULL) == NULL);
    CHECK_EQ_STR(last_error(rt), "phi_models: the model is the host's own");
    agent = agent_of(rt, model);
    say(agent, "Hi");
    CHECK(phi_count_tokens(agent, NULL) == NULL);
    CHECK_EQ_STR(last_error(rt), "phi_count_tokens: the model is the host's own");
    phi_agent_free(agent);
    phi_runtime_free(rt);
    wires_free(&w);
}

TEST(an_error_of_the_provider_is_classified_and_its_words_hold_no_key) {
    wires w;
    phi_model model = phi_model_anthropic(NULL, KEY);
    phi_runtime *rt;
    phi_query *q;
    phi_query_info info;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    q = phi_models(rt, &model, NULL);
    wires_reply(&w, 0, 401, "request-id: req_1\r\n",
                "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":"
                "\"invalid x-api-key " KEY "\"}}");
    steps(rt, &w, 3);
    info = phi_query_get(q);
    CHECK_EQ_INT(info.status, PHI_REFUSED);
    REQUIRE(info.failure != NULL);
    CHECK_EQ_INT(info.failure->kind, PHI_FAILURE_AUTH);
    CHECK_EQ_INT(info.failure->http_status, 401);
    CHECK_STR(info.failure->message, "invalid x-api-key ******************");
    CHECK_STR(info.failure->request_id, "req_1");
    CHECK(info.model_count == 0 && !info.failure->retryable);
    phi_query_free(q);
    q = phi_models(rt, &model, NULL);
    wires_reply(&w, 1, 429, "retry-after: 7\r\n", "{\"error\":{\"message\":\"slow down\"}}");
    steps(rt, &w, 3);
    info = phi_query_get(q);
    REQUIRE(info.failure != NULL);
    CHECK_EQ_INT(info.failure->kind, PHI_FAILURE_RATE_LIMITED);
    CHECK(info.failure->retryable && info.failure->retry_after_ms == 7000);
    CHECK_EQ_INT(w.count, 2); /* nothing is tried again */
    phi_query_free(q);
    phi_runtime_free(rt);
    wires_free(&w);
}

static void check_unread(bool counts, const char *answer) {
    wires w;
    phi_model model = phi_model_anthropic("claude-sonnet-4-5", KEY);
    phi_agent agent;
    phi_runtime *rt;
    phi_query *q;
    phi_query_info info;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    agent = agent_of(rt, model);
    say(agent, "Hi");
    q = counts ? phi_count_tokens(agent, NULL) : phi_models(rt, &model, NULL);
    wires_reply(&w, 0, 200, "", answer);
    steps(rt, &w, 3);
    info = phi_query_get(q);
    CHECK_EQ_INT(info.status, PHI_PARSE);
    REQUIRE(info.failure != NULL);
    CHECK_EQ_INT(info.failure->kind, PHI_FAILURE_SERVER);
    CHECK_STR(info.failure->message,
              counts ? "the answer has no count of tokens" : "the answer is no list of models");
    CHECK_EQ_INT(info.failure->http_status, 200);
    phi_query_free(q);
    phi_agent_free(agent);
    phi_runtime_free(rt);
    wires_free(&w);
}

TEST(an_answer_that_is_no_list_or_no_count_fails_in_words) {
    static const char *const lists[] = {"",
                                        "<html>",
                                        "{}",
                                        "[",
                                        "7",
                                        "{\"data\":{}}",
                                        "{\"data\":[{\"id\":\"a\"}",
                                        "{\"data\":[{\"id\":\"a\"}],",
                                        "{\"data\":[{\"id\":}]}",
                                        "{\"data\":[]} more"};
    static const char *const counts[] = {"",
                                         "[]",
                                         "{}",
                                         "{\"input_tokens\":-1}",
                                         "{\"input_tokens\":\"9\"}",
                                         "{\"input_tokens\":9",
                                         "{\"totalTokens\":9}"};
    size_t i;
    for (i = 0; i < sizeof lists / sizeof *lists; i++) check_unread(false, lists[i]);
    for (i = 0; i < sizeof counts / sizeof *counts; i++) check_unread(true, counts[i]);
}

TEST(a_list_that_is_cut_anywhere_is_no_list_and_whole_in_any_parts_is_one) {
    static const char list[] = "{\"data\":[{\"id\":\"a\\u00e9\"},{\"no\":1}],\"has_more\":false}";
    size_t cut;
    for (cut = 0; cut < sizeof list - 1; cut++) {
        wires w;
        phi_model model = phi_model_anthropic(NULL, KEY);
        phi_runtime *rt;
        phi_query *q;
        wires_init(&w);
        rt = wires_runtime(&w, NULL);
        q = phi_models(rt, &model, NULL);
        wires_reply_bytes(&w, 0, 200, "", list, cut);
        steps(rt, &w, 3);
        CHECK_EQ_INT(phi_query_get(q).status, PHI_PARSE);
        phi_query_free(q);
        q = phi_models(rt, &model, NULL);
        wires_head(&w, 1, 200, "");
        (void)wires_push(&w, 1, list, cut);
        steps(rt, &w, 1);
        (void)wires_push(&w, 1, list + cut, sizeof list - 1 - cut);
        wires_end(&w, 1, PHI_OK, NULL);
        steps(rt, &w, 3);
        CHECK_EQ_INT(phi_query_get(q).status, PHI_OK);
        CHECK_EQ_INT(phi_query_get(q).model_count, 1);
        CHECK_STR(phi_query_get(q).models[0].id, "a\xc3\xa9");
        phi_query_free(q);
        phi_runtime_free(rt);
        wires_free(&w);
    }
}

TEST(an_answer_that_is_too_large_ends_the_query) {
    wires w;
    size_t n = (size_t)9 << 20;
    char *bytes = (char *)malloc(n);
    phi_model model = phi_model_anthropic(NULL, KEY);
    phi_runtime *rt;
    phi_query *q;
    REQUIRE(bytes != NULL);
    memset(bytes, ' ', n);
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    q = phi_models(rt, &model, NULL);
    wires_reply_bytes(&w, 0, 200, "", bytes, n);
    steps(rt, &w, 600);
    CHECK_EQ_INT(phi_query_get(q).status, PHI_TOO_BIG);
    CHECK_STR(phi_query_get(q).failure->message, "the answer is larger than 8388608 bytes");
    phi_query_free(q);
    phi_runtime_free(rt);
    wires_free(&w);
    free(bytes);
}

TEST(a_query_ends_by_its_deadline_by_the_network_and_by_the_close_of_the_runtime) {
    wires w;
    phi_model model = phi_model_anthropic(NULL, KEY);
    phi_runtime *rt;
    phi_query *late, *broken, *closed;
    int i;
    wires_init(&w);
    rt = wires_runtime(&w, NULL);
    late = phi_models(rt, &model, NULL);
    steps(rt, &w, 1);
    for (i = 0; i < 61; i++) {
        w.now_us += 1000000;
        steps(rt, &w, 1);
    }
    CHECK_EQ_INT(phi_query_get(late).status, PHI_TIMEOUT);
    CHECK_EQ_INT(phi_query_get(late).failure->kind, PHI_FAILURE_TIMEOUT);
    CHECK(phi_query_get(late).failure->retryable);
    phi_query_free(late);
    broken = phi_models(rt, &model, NULL);
    wires_end(&w, 1, PHI_NETWORK, "connection refused");
    steps(rt, &w, 3);
    CHECK_EQ_INT(phi_query_get(broken).status, PHI_NETWORK);
    CHECK_STR(phi_query_get(broken).failure->message, "connection refused");
    phi_query_free(broken);
    closed = phi_models(rt, &model, NULL);
    (void)phi_runtime_close(rt);
    steps(rt, &w, 3);
    CHECK_EQ_INT(phi_query_get(closed).status, PHI_CANCELLED);
    CHECK_EQ_INT(phi_query_get(closed).failure->kind, PHI_FAILURE_CANCELLED);
    phi_query_free(closed);
    CHECK(phi_models(rt, &model, NULL) == NULL);
    CHECK_EQ_INT(phi_last_error(rt).status, PHI_MISUSE);
    phi_runtime_free(rt);
    wires_free(&w);
}

static void answer_any(wires *w, size_t i) {
    if (strstr(w->sent[i].text, "count_tokens") != NULL)
        wires_reply(w, i, 200, "", "{\"input_tokens\":5}");
    else if (strstr(w->sent[i].text, "after_id") == NULL)
        wires_reply(w, i, 200, "",
                    "{\"data\":[{\"id\":\"a\",\"display_name\":\"A\"}],\"has_more\":true,"
                    "\"last_id\":\"a\"}");
    else
        wires_reply(w, i, 200, "", "{\"data\":[{\"id\":\"b\"}],\"has_more\":false}");
}

static void check_memory(bool counts) {
    int n = 0;
    bool tripped;
    do {
        wires w;
        phi_model model = phi_model_anthropic("claude-sonnet-4-5", KEY);
        phi_agent agent;
        phi_runtime *rt;
        phi_query *q;
        phi_query_info info;
        wires_init(&w);
        rt = wires_runtime(&w, NULL);
        agent = agent_of(rt, model);
        say(agent, "Hi");
        w.answer = answer_any;
        test_alloc_fail_at(n++);
        q = counts ? phi_count_tokens(agent, NULL) : phi_models(rt, &model, NULL);
        if (q == NULL) CHECK_EQ_INT(phi_last_error(rt).status, PHI_NO_MEMORY);
        steps(rt, &w, 10);
        info = phi_query_get(q);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (q != NULL && info.status != PHI_OK) {
            CHECK(tripped);
            CHECK(info.failure != NULL);
        } else if (q != NULL)
            CHECK(counts ? info.tokens == 5 : info.model_count == 2);
        if (!tripped) CHECK(q != NULL && info.status == PHI_OK);
        phi_query_free(q);
        phi_agent_free(agent);
        phi_runtime_free(rt);
        wires_free(&w);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped);
    CHECK(n > 10);
}

TEST(queries_survive_every_failed_allocation) {
    check_memory(false);
    check_memory(true);
}

TEST_MAIN(TEST_ENTRY(a_list_is_read_page_by_page),
          TEST_ENTRY(the_lists_of_all_protocols_that_have_one_are_read),
          TEST_ENTRY(googles_pages_are_followed_by_their_token),
          TEST_ENTRY(bedrocks_list_is_signed_for_its_region),
          TEST_ENTRY(a_list_without_an_end_is_left_after_a_hundred_pages),
          TEST_ENTRY(a_count_sends_the_request_without_what_the_endpoint_refuses),
          TEST_ENTRY(a_name_with_its_folder_is_not_given_a_second_one),
          TEST_ENTRY(a_count_is_of_what_the_policy_shows),
          TEST_ENTRY(the_agent_may_be_freed_while_its_request_is_counted),
          TEST_ENTRY(the_key_of_the_desc_is_sent_in_place_of_the_models),
          TEST_ENTRY(what_cannot_be_asked_is_refused_in_words),
          TEST_ENTRY(a_model_of_the_hosts_own_has_no_endpoints),
          TEST_ENTRY(an_error_of_the_provider_is_classified_and_its_words_hold_no_key),
          TEST_ENTRY(an_answer_that_is_no_list_or_no_count_fails_in_words),
          TEST_ENTRY(a_list_that_is_cut_anywhere_is_no_list_and_whole_in_any_parts_is_one),
          TEST_ENTRY(an_answer_that_is_too_large_ends_the_query),
          TEST_ENTRY(a_query_ends_by_its_deadline_by_the_network_and_by_the_close_of_the_runtime),
          TEST_ENTRY(queries_survive_every_failed_allocation))
