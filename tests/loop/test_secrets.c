/* test_secrets.c - what a server says again of what it was sent: words, codes and ids lose it before anybody sees them,
   and what the model says stays as it is. */
#include "support/rig.h"
#include "support/set.h"
#include "record/event_json.h"
#include "agent/agent_history.h"
#include "base/arena.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/provider.h"
#include "loop/run.h"
#include "model/event.h"
#include "model/failure.h"
#include "model/message.h"
#include "model/model.h"
#include "wire/writer.h"

#define KEY "sk-loop-0123456789"
#define STARS "******************"

/* All that the host was shown, or could keep. */
static char shown[200000];
static size_t shown_len;

static void note(phi_str s) {
    if (s.len + 2 > sizeof shown - shown_len) return;
    if (s.len > 0) memcpy(shown + shown_len, s.at, s.len);
    shown_len += s.len;
    shown[shown_len++] = '\n';
    shown[shown_len] = '\0';
}

static void watch(void *user_data, const phi_event *event) {
    phi_memory memory;
    phi_arena arena;
    phi_str json;
    (void)user_data;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (CHECK_EQ_INT(phi_event_to_json(event, &arena, &json), PHI_OK)) note(json);
    note(event->text);
    note(event->tool_call_id);
    if (event->failure != NULL) {
        note(event->failure->code);
        note(event->failure->message);
        note(event->failure->request_id);
    }
    phi_arena_free(&arena);
}

static rig *secret_rig(phi_agent *agent, phi_agent_desc *desc) {
    rig *r = rig_new();
    if (!CHECK(r != NULL)) return NULL;
    shown_len = 0;
    shown[0] = '\0';
    desc->model.api_key = KEY;
    *agent = rig_agent(r, desc);
    rig_watch(r, watch, NULL);
    return r;
}

static void runs(rig *r, phi_agent agent) {
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
}

/* Of an answer with this status, headers and body. */
static void failure_shows(int status, const char *headers, const char *body, const char *want) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig *r = secret_rig(&agent, &desc);
    if (r == NULL) return;
    rig_replies(r, status, headers, body);
    runs(r, agent);
    if (!CHECK(strstr(shown, want) != NULL)) printf("%s", shown);
    CHECK(strstr(shown, "0123456789") == NULL);
    rig_free(r);
}

TEST(words_code_and_request_id_of_an_error_lose_the_key) {
    failure_shows(400, "",
                  "{\"type\":\"error\",\"error\":{\"type\":\"x-" KEY "\",\"message\":\"bad key " KEY
                  "!\"},\"request_id\":\"req_" KEY "\"}",
                  "bad key " STARS "!");
    CHECK(strstr(shown, "\nx-" STARS "\n") != NULL);
    CHECK(strstr(shown, "\nreq_" STARS "\n") != NULL);
    failure_shows(400, "Request-Id: " KEY "\r\nX-Amzn-ErrorType: " KEY "\r\n", "", STARS);
    failure_shows(503, "", "<html><title>no " KEY "</title>", "no " STARS);
    failure_shows(200, "Content-Type: text/html\r\n", "<title>" KEY "</title>", STARS);
    failure_shows(200, "Content-Type: application/json\r\n", KEY, STARS);
}

TEST(an_error_event_loses_the_key_whatever_its_pieces) {
    size_t chunk;
    for (chunk = 1; chunk < 40; chunk += 3) {
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        rig *r = secret_rig(&agent, &desc);
        REQUIRE(r != NULL);
        rig_chunk(r, chunk);
        rig_replies(r, 200, "Content-Type: text/event-stream\r\n",
                    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":"
                    "\"m-" KEY "\",\"model\":\"" KEY "\"}}\n\n"
                    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_"
                    "error\",\"message\":\"\\u0073k-loop-0123456789 c2stbG9vcC0wMTIzNDU2Nzg5\"}}"
                    "\n\n");
        runs(r, agent);
        CHECK(strstr(shown, STARS " ************************") != NULL);
        CHECK(strstr(shown, "0123456789") == NULL);
        CHECK(strstr(shown, "bG9v") == NULL);
        rig_free(r);
    }
}

TEST(a_key_that_was_cut_by_a_limit_of_ours_is_hidden_too) {
    char body[1200];
    size_t pad;
    for (pad = 460; pad < 500; pad += 3) { /* words of a page are cut at 500 bytes */
        (void)snprintf(body, sizeof body, "%*s" KEY " and more", (int)pad, "x");
        failure_shows(400, "", body, "x");
        CHECK(strstr(shown, "k-loop-0") == NULL);
    }
}

TEST(the_words_of_a_transport_lose_the_key) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig *r = secret_rig(&agent, &desc);
    REQUIRE(r != NULL);
    rig_breaks(r, "", PHI_NETWORK, "GET /?key=" KEY " failed");
    runs(r, agent);
    CHECK(strstr(shown, "GET /?key=" STARS " failed") != NULL);
    CHECK(strstr(shown, KEY) == NULL);
    rig_free(r);
}

TEST(what_the_model_says_stays_byte_for_byte) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    const phi_message *said;
    rig *r = secret_rig(&agent, &desc);
    REQUIRE(r != NULL);
    rig_says(r, "Your key is " KEY ".");
    runs(r, agent);
    said = phi_thread_message_at(phi_agent_thread(agent), 1);
    REQUIRE(said != NULL && said->content_count == 1);
    CHECK_STR(said->content[0].text, "Your key is " KEY ".");
    rig_free(r);
}

TEST(the_id_of_a_call_loses_the_key_and_its_result_finds_it) {
    phi_tool echo = rig_echo();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig *r;
    desc.tools = &echo;
    desc.tool_count = 1;
    r = secret_rig(&agent, &desc);
    REQUIRE(r != NULL);
    rig_call(r, "toolu_" KEY, "echo", "{\"k\":\"" KEY "\"}");
    rig_says(r, "done");
    runs(r, agent);
    REQUIRE(rig_requests(r) == 2);
    CHECK(strstr(rig_request(r, 1), "toolu_sk") == NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].arguments,
              "{\"k\":\"" KEY "\"}");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->tool_call_id, "toolu_" STARS);
    CHECK(strstr(shown, "toolu_sk") == NULL);
    rig_free(r);
}

TEST(a_secret_of_seven_bytes_stays_where_it_is) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig *r = secret_rig(&agent, &desc);
    phi_model model = desc.model;
    REQUIRE(r != NULL);
    model.api_key = "short-7";
    CHECK_EQ_INT(set_model(agent, &model), PHI_OK);
    rig_replies(r, 400, "", "no short-7 here");
    runs(r, agent);
    CHECK(strstr(shown, "no short-7 here") != NULL);
    rig_free(r);
}

static phi_verdict next_key(void *user_data, phi_hook *hook) {
    static const char *const keys[] = {"first-key-0123456789", "other-key-0123456789"};
    int *asked = (int *)user_data;
    hook->reply = phi_str_of(keys[*asked > 0]);
    ++*asked;
    return PHI_ALLOW;
}

TEST(keys_that_a_hook_gave_are_hidden_those_of_earlier_attempts_too) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    int asked = 0;
    rig *r;
    desc.hook_fn = next_key;
    desc.hook_points = PHI_HOOK_CREDENTIAL;
    desc.user_data = &asked;
    r = secret_rig(&agent, &desc);
    REQUIRE(r != NULL);
    rig_replies(r, 401, "", "no first-key-0123456789");
    rig_replies(r, 400, "", "first-key-0123456789 other-key-0123456789 " KEY);
    runs(r, agent);
    CHECK_EQ_INT(asked, 2);
    CHECK(strstr(shown, "******************** ******************** " STARS) != NULL);
    CHECK(strstr(shown, "0123456789") == NULL);
    rig_free(r);
}

static phi_status fail_open(void *user_data, const phi_model_request *request, void **call) {
    (void)user_data;
    (void)request;
    *call = NULL;
    return PHI_OK;
}

static phi_poll fail_poll(void *user_data, void *call, phi_answer *answer) {
    (void)user_data;
    (void)call;
    phi_answer_fail(answer, PHI_FAILURE_AUTH, false, "no " KEY "\x1b[2J");
    return PHI_POLL_DONE;
}

static void fail_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

TEST(a_model_of_the_hosts_own_has_its_key_hidden) {
    phi_provider provider;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig *r;
    memset(&provider, 0, sizeof provider);
    provider.protocol = "own";
    provider.open = fail_open;
    provider.poll = fail_poll;
    provider.close = fail_close;
    desc.provider = &provider;
    r = secret_rig(&agent, &desc);
    REQUIRE(r != NULL);
    runs(r, agent);
    CHECK(strstr(shown, "no " STARS "?[2J") != NULL);
    CHECK(strstr(shown, KEY) == NULL);
    rig_free(r);
}

TEST(words_of_a_server_carry_no_control_characters) {
    failure_shows(400, "", "{\"error\":{\"message\":\"\\u001b[31mred\\u0000\\u009b1m\\n\\tend\"}}",
                  "?[31mred??1m\n\tend");
    failure_shows(502, "", "<html><title>\x1b]0;evil\x07</title>", "?]0;evil?");
    failure_shows(400, "", "raw \x1b[2J \xff and \x80", "raw ?[2J");
    failure_shows(400, "Request-Id: \x1b[1mreq\x9b\r\n", "{\"error\":{\"type\":\"a\\u0007b\"}}",
                  "\n?[1mreq?\n");
    CHECK(strstr(shown, "\na?b\n") != NULL);
    CHECK(strchr(shown, '\x1b') == NULL && strchr(shown, '\x07') == NULL);
}

TEST(words_that_quote_the_model_carry_no_control_characters) {
    phi_tool echo = rig_echo();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    const phi_message *result;
    rig *r;
    desc.tools = &echo;
    desc.tool_count = 1;
    r = secret_rig(&agent, &desc);
    REQUIRE(r != NULL);
    rig_call(r, "a", "no\\u001b[2Jtool", "{}");
    rig_says(r, "do\x1b"
                "ne");
    runs(r, agent);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 4);
    result = phi_thread_message_at(phi_agent_thread(agent), 2);
    CHECK(result->is_error && result->content[0].text.len > 0);
    CHECK(memchr(result->content[0].text.at, 0x1b, result->content[0].text.len) == NULL);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].name,
              "no\x1b[2Jtool"); /* the model's own */
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].text, "do\x1b"
                                                                                  "ne");
    CHECK(phi_agent_use_thread(agent, "\x1b[2J") != PHI_OK);
    {
        const char *words = NULL;
        words = phi_last_error(rig_runtime(r)).message;
        CHECK(words != NULL && words[0] != '\0' && strchr(words, 0x1b) == NULL);
    }
    rig_free(r);
}

static void scenario(void) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig *r = rig_new();
    if (r == NULL) return;
    desc.model.api_key = KEY;
    agent = rig_agent(r, &desc);
    shown_len = 0;
    shown[0] = '\0';
    rig_replies(r, 400, "Request-Id: " KEY "\r\n", "bad key " KEY);
    if (phi_prompt(agent, "go") == PHI_OK) {
        (void)rig_run_until(r, 1000);
        CHECK(strstr(rig_story(r), KEY) == NULL);
    }
    rig_free(r);
}

TEST(a_result_of_a_tool_loses_the_key) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_tool tool = rig_echo();
    rig *r;
    desc.tools = &tool;
    desc.tool_count = 1;
    r = secret_rig(&agent, &desc);
    REQUIRE(r != NULL);
    rig_call(r, "c1", "echo", "{\"x\":\"" KEY "\"}");
    rig_says(r, "done");
    runs(r, agent);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text,
              "{\"x\":\"" STARS "\"}");
    rig_free(r);
}

TEST(no_allocation_that_fails_shows_a_key) {
    int n = 0;
    do {
        test_alloc_fail_at(n);
        scenario();
    } while (test_alloc_tripped() && ++n < 500);
    test_alloc_fail_at(-1);
    CHECK(n > 20 && n < 500);
}

TEST_MAIN(TEST_ENTRY(words_code_and_request_id_of_an_error_lose_the_key),
          TEST_ENTRY(an_error_event_loses_the_key_whatever_its_pieces),
          TEST_ENTRY(a_key_that_was_cut_by_a_limit_of_ours_is_hidden_too),
          TEST_ENTRY(the_words_of_a_transport_lose_the_key),
          TEST_ENTRY(what_the_model_says_stays_byte_for_byte),
          TEST_ENTRY(the_id_of_a_call_loses_the_key_and_its_result_finds_it),
          TEST_ENTRY(a_secret_of_seven_bytes_stays_where_it_is),
          TEST_ENTRY(keys_that_a_hook_gave_are_hidden_those_of_earlier_attempts_too),
          TEST_ENTRY(a_model_of_the_hosts_own_has_its_key_hidden),
          TEST_ENTRY(words_of_a_server_carry_no_control_characters),
          TEST_ENTRY(words_that_quote_the_model_carry_no_control_characters),
          TEST_ENTRY(a_result_of_a_tool_loses_the_key),
          TEST_ENTRY(no_allocation_that_fails_shows_a_key))
