/* test_retry.c - which failures of a model call are tried again, how often and when. How long to
   wait by the numbers is in test_retry_delay.c, what the host sees of it in test_retry_seen.c.

   On the rig: the clock is the test's, and the delays are exact where chance does not say them. */
#include "agent/response.h"
#include "loop/loop_in.h"
#include "loop/tries.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "loop/inner_in.h"

/* ---- C 40: how often, and when ---- */
TEST(three_retries_follow_the_first_attempt_and_then_the_run_fails) {
    static const uint32_t least[] = {800, 1600, 3200}, most[] = {1200, 2400, 4800};
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    int i;
    for (i = 0; i < 5; i++) rig_replies(r, 529, HEARD_JSON, OVERLOADED);
    run_heard(r, agent, &h);
    CHECK_EQ_INT(rig_requests(r), 4);
    REQUIRE(h.retries == 3);
    for (i = 0; i < 3; i++) {
        CHECK_EQ_INT(h.attempts[i], i + 1);
        CHECK_EQ_INT(h.of[i], 4);
        CHECK_EQ_INT(h.kinds[i], PHI_FAILURE_SERVER);
        if (!CHECK(h.delays[i] >= least[i] && h.delays[i] < most[i]))
            printf("  delay %d: %u ms\n", i, (unsigned)h.delays[i]);
    }
    CHECK_EQ_INT(h.failure.kind, PHI_FAILURE_SERVER);
    CHECK_EQ_INT(h.failure.http_status, 529);
    CHECK_EQ_INT(h.status, PHI_REFUSED);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)),
                 2); /* one error stands for all attempts */
    CHECK_EQ_INT((int)count_of(rig_story(r), "MessageEnd assistant"), 1);
    rig_free(r);
}

/* The status and the words of a run whose first attempt is its last. */
static void ends_with(rig *r, phi_status status, int http_status, const char *error) {
    phi_agent agent = rig_agent(r, NULL);
    tries h;
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.status, status);
    CHECK_EQ_INT(h.failure.http_status, http_status);
    if (!CHECK(strstr(rig_story(r), error) != NULL)) printf("%s\n", rig_story(r));
    rig_free(r);
}

TEST(a_server_that_is_not_there_and_one_that_refuses_the_key_differ_in_status_and_words) {
    rig *r = rig_new();
    rig_refuses(r, PHI_REFUSED);
    ends_with(r, PHI_UNREACHABLE, 0, "Error network \"no server takes connections there\"\n");
    r = rig_new();
    rig_breaks(r, "", PHI_REFUSED, "connection refused by http://h");
    ends_with(r, PHI_UNREACHABLE, 200, "Error network \"connection refused by http://h\"");
    r = rig_new();
    rig_replies(r, 401, HEARD_JSON, "");
    ends_with(r, PHI_REFUSED, 401, "Error auth \"HTTP 401 without a body\" 401\n");
    CHECK_EQ_STR(phi_status_text(PHI_UNREACHABLE), "no server takes connections there");
    CHECK_EQ_STR(phi_status_text(PHI_REFUSED), "the other side refused");
}

TEST(a_path_that_is_not_there_is_named) {
    rig *r = rig_new();
    rig_replies(r, 404, "Content-Type: text/plain\r\n", "404 page not found");
    ends_with(r, PHI_REFUSED, 404,
              "Error invalid_request \"HTTP 404: 404 page not found "
              "(https://api.anthropic.com/v1/messages)\" 404\n");
    r = rig_new();
    rig_replies(r, 500, "Content-Type: text/plain\r\n", "oh");
    ends_with(r, PHI_REFUSED, 500, "Error server \"HTTP 500: oh\" 500\n");
    r = rig_new();
    rig_replies(r, 404, HEARD_JSON,
                "{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\","
                "\"message\":\"model: m\"}}");
    ends_with(r, PHI_REFUSED, 404, "Error invalid_request \"model: m\" 404\n");
}

TEST(attempts_without_a_limit_say_so) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    tries h;
    desc.retry.max_retries = PHI_UNLIMITED;
    agent = rig_agent(r, &desc);
    rig_replies(r, 529, HEARD_JSON, OVERLOADED);
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    REQUIRE(h.retries == 1);
    CHECK_EQ_INT(h.attempts[0], 1);
    CHECK(h.of[0] == PHI_UNLIMITED);
    CHECK(strncmp(h.lines[0], "Provider error (attempt 1/unlimited), retrying in ", 50) == 0);
    rig_free(r);
}

TEST(the_delay_doubles_up_to_thirty_seconds_give_or_take_a_fifth) {
    static const uint32_t middle[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000};
    phi_retry retry;
    uint32_t n;
    memset(&retry, 0, sizeof retry);
    retry.max_retries = 3;
    retry.initial_delay_ms = 1000;
    retry.backoff_multiplier = 2;
    retry.max_delay_ms = 30000;
    for (n = 1; n <= 8; n++) {
        CHECK_EQ_INT(phi__retry_delay_ms(&retry, n, 0.0), middle[n - 1] * 8 / 10);
        CHECK_EQ_INT(phi__retry_delay_ms(&retry, n, 0.5), middle[n - 1]);
        CHECK(phi__retry_delay_ms(&retry, n, 0.999999999) < middle[n - 1] * 12 / 10);
    }
    CHECK_EQ_INT(phi__retry_delay_ms(&retry, 1000000, 0.5), 30000);
}

TEST(what_was_set_counts_instead_of_the_defaults) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    tries h;
    desc.retry.max_retries = 5;
    desc.retry.initial_delay_ms = 100;
    desc.retry.backoff_multiplier = 10;
    desc.retry.max_delay_ms = 2000;
    {
        phi_agent agent = rig_agent(r, &desc);
        int i;
        for (i = 0; i < 6; i++) rig_replies(r, 500, HEARD_JSON, "{}");
        run_heard(r, agent, &h);
    }
    CHECK_EQ_INT(rig_requests(r), 6);
    REQUIRE(h.retries == 5);
    CHECK(h.delays[0] >= 80 && h.delays[0] < 120);
    CHECK(h.delays[1] >= 800 && h.delays[1] < 1200);
    CHECK(h.delays[2] >= 1600 && h.delays[2] < 2400);
    CHECK(h.delays[4] >= 1600 && h.delays[4] < 2400);
    CHECK_EQ_INT(h.of[4], 6);
    rig_free(r);
}

TEST(the_next_attempt_comes_when_the_delay_is_over_and_not_before) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    rig_replies(r, 503, HEARD_JSON "Retry-After: 2\r\n", "{}");
    rig_says(r, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 1000); /* or the rest would not count */
    rig_pass_ms(r, 1999);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_pass_ms(r, 1);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    rig_free(r);
}

TEST(the_server_s_delay_is_kept_as_it_is) {
    static const struct asked {
        const char *headers;
        uint32_t delay_ms;
    } table[] = {{HEARD_JSON "Retry-After: 7\r\n", 7000},
                 {HEARD_JSON "Retry-After: 1.5\r\n", 1500},
                 {HEARD_JSON "Retry-After-Ms: 12\r\nRetry-After: 7\r\n", 12},
                 {HEARD_JSON "Retry-After: 45\r\n", 45000}, /* our own delays end at 30 s */
                 {HEARD_JSON "Retry-After: 60\r\n", 60000},
                 {HEARD_JSON "Date: Fri, 20 Nov 2026 10:00:00 GMT\r\n"
                             "Retry-After: Fri, 20 Nov 2026 10:00:30 GMT\r\n",
                  30000}};
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        rig *r = rig_new();
        phi_agent_desc desc = trying();
        phi_agent agent = rig_agent(r, &desc);
        tries h;
        rig_replies(r, 429, table[i].headers, SLOW_DOWN);
        rig_says(r, "Here.");
        run_heard(r, agent, &h);
        CHECK_EQ_INT(h.status, PHI_OK);
        CHECK_EQ_INT(h.retries, 1);
        CHECK_EQ_INT(h.delays[0], table[i].delay_ms);
        CHECK_EQ_INT(h.kinds[0], PHI_FAILURE_RATE_LIMITED);
        rig_free(r);
    }
}

TEST(a_server_that_asks_for_more_than_a_minute_is_not_waited_for) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    rig_replies(r, 429, HEARD_JSON "Retry-After: 61\r\n", SLOW_DOWN);
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(h.retries, 0);
    CHECK_EQ_INT(h.failure.kind, PHI_FAILURE_RATE_LIMITED);
    CHECK(h.failure.has_retry_after && h.failure.retryable);
    CHECK_EQ_INT(h.failure.retry_after_ms, 61000);
    rig_free(r);
}

TEST(how_long_a_server_is_waited_for_can_be_set) {
    uint32_t most;
    for (most = 999; most <= 1000; most++) {
        rig *r = rig_new();
        phi_agent_desc desc = trying();
        tries h;
        phi_agent agent;
        desc.retry.max_server_delay_ms = most;
        agent = rig_agent(r, &desc);
        rig_replies(r, 429, HEARD_JSON "Retry-After: 1\r\n", SLOW_DOWN);
        rig_says(r, "Here.");
        run_heard(r, agent, &h);
        CHECK_EQ_INT(h.retries, most == 1000 ? 1 : 0);
        CHECK_EQ_INT(h.status, most == 1000 ? PHI_OK : PHI_REFUSED);
        rig_free(r);
    }
}

TEST(where_retries_are_disabled_a_call_is_tried_once) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    tries h;
    desc.retry.disable = true;
    agent = rig_agent(r, &desc);
    rig_replies(r, 429, HEARD_JSON "Retry-After: 1\r\n", SLOW_DOWN);
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(h.retries, 0);
    CHECK_EQ_INT(h.failure.retry_after_ms, 1000);
    rig_free(r);
}

TEST(the_same_seed_gives_the_same_delays_and_two_agents_differ) {
    tries h[3];
    int k, i;
    for (k = 0; k < 2; k++) {
        rig *r = rig_new();
        phi_agent_desc desc = trying();
        phi_agent agent = rig_agent(r, &desc);
        for (i = 0; i < 8; i++) rig_replies(r, 500, HEARD_JSON, "{}");
        run_heard(r, agent, &h[k]);
        if (k == 1) { /* another one, in the same runtime */
            desc.ids.agent_id = "another";
            desc.ids.session_id = "another";
            agent = rig_agent(r, &desc);
            run_heard(r, agent, &h[2]);
        }
        rig_free(r);
    }
    REQUIRE(h[0].retries == 3 && h[1].retries == 3 && h[2].retries == 3);
    for (i = 0; i < 3; i++) CHECK_EQ_INT(h[1].delays[i], h[0].delays[i]);
    CHECK(h[2].delays[0] != h[0].delays[0] || h[2].delays[1] != h[0].delays[1]);
}

/* ---- C 40: what is tried again ---- */

static void tried(int status, const char *headers, const char *body, int want) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    bool same;
    rig_replies(r, status, headers, body);
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    same = CHECK_EQ_INT(h.retries, want);
    same = CHECK_EQ_INT(rig_requests(r), want + 1) && same;
    same = CHECK_EQ_INT(h.status == PHI_OK, want > 0) && same;
    if (!same) printf("  %d %s %s\n", status, headers, body);
    rig_free(r);
}

TEST(pace_network_and_the_server_s_own_trouble_are_tried_again) {
    static const int statuses[] = {408, 409, 424, 429, 500, 502, 503, 504, 529};
    size_t i;
    for (i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        tried(statuses[i], HEARD_JSON, "{}", 1);
    tried(200, HEARD_JSON, OVERLOADED, 1);
    tried(200, "Content-Type: text/event-stream\r\n", "event: error\ndata: " OVERLOADED "\n\n", 1);
    tried(200, "Content-Type: text/event-stream\r\n", HALF, 1); /* it broke off */
    tried(200, "Content-Type: text/event-stream\r\n", "", 1);
    tried(400, HEARD_JSON "x-should-retry: true\r\n", "{}", 1);
}

TEST(keys_money_wrong_requests_and_filters_are_not_tried_again) {
    static const int statuses[] = {300, 400, 401, 402, 403, 404, 422};
    size_t i;
    for (i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        tried(statuses[i], HEARD_JSON, "{}", 0);
    tried(429, HEARD_JSON, "{\"error\":{\"message\":\"x\",\"code\":\"insufficient_quota\"}}", 0);
    tried(400, HEARD_JSON, "{\"error\":{\"message\":\"x\",\"code\":\"content_filter\"}}", 0);
    tried(503, HEARD_JSON "x-should-retry: false\r\n", "{}", 0);
    tried(200, "Content-Type: text/html\r\n", "<html>", 0);
}

TEST(a_broken_connection_is_tried_again_and_a_certificate_that_is_refused_is_not) {
    static const struct broken {
        phi_status status;
        int retries;
    } table[] = {{PHI_NETWORK, 1}, {PHI_REFUSED, 1}, {PHI_NOT_FOUND, 1}, {PHI_TIMEOUT, 1},
                 {PHI_TLS, 0},     {PHI_BAD_ARG, 0}, {PHI_TOO_BIG, 0}};
    size_t i;
    for (i = 0; i < sizeof table / sizeof table[0]; i++) {
        rig *r = rig_new();
        phi_agent_desc desc = trying();
        phi_agent agent = rig_agent(r, &desc);
        tries h;
        rig_breaks(r, "", table[i].status, "it broke");
        rig_says(r, "Here.");
        run_heard(r, agent, &h);
        if (!CHECK_EQ_INT(h.retries, table[i].retries))
            printf("  %s\n", phi_status_text(table[i].status));
        CHECK_EQ_INT(h.status, table[i].retries > 0 ? PHI_OK : table[i].status);
        rig_free(r);
    }
}

TEST(silence_is_tried_again_and_keep_alives_are_silence) {
    static const char ping[] = "event: ping\ndata: {\"type\":\"ping\"}\n\n"; /* 37 bytes, a ms */
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    tries h;
    char *body = (char *)calloc(1, sizeof HALF + 400 * sizeof ping);
    int i;
    (void)strcpy(body, HALF);
    for (i = 0; i < 400; i++) (void)strcat(body, ping);
    desc.deadlines.idle_ms = 50;
    agent = rig_agent(r, &desc);
    rig_chunk(r, sizeof ping - 1);
    rig_hangs(r, body);
    rig_hangs(r, HALF ": a comment\n\n");
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.status, PHI_OK);
    REQUIRE(h.retries == 2);
    CHECK_EQ_INT(h.kinds[0], PHI_FAILURE_TIMEOUT);
    CHECK_EQ_STR(h.lines[0] + strlen("Provider error (attempt 1/4), retrying in 1.0s: "),
                 "Network error: the answer was silent for 50 ms");
    CHECK_EQ_INT(h.kinds[1], PHI_FAILURE_TIMEOUT);
    CHECK_EQ_INT((int)count_of(rig_story(r), "Retract"), 2);
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    free(body);
    rig_free(r);
}

TEST(each_turn_has_attempts_of_its_own) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_tool tool = rig_echo();
    phi_agent agent;
    tries h;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_replies(r, 500, HEARD_JSON, "{}");
    rig_replies(r, 500, HEARD_JSON, "{}");
    rig_call(r, "toolu_1", "echo", "{}");
    rig_replies(r, 500, HEARD_JSON, "{}");
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.status, PHI_OK);
    REQUIRE(h.retries == 3);
    CHECK_EQ_INT(h.attempts[0], 1);
    CHECK_EQ_INT(h.attempts[1], 2);
    CHECK_EQ_INT(h.attempts[2], 1);
    CHECK_EQ_INT((int)count_of(rig_story(r), "TurnStart"), 2);
    rig_free(r);
}

/* ---- transports ---- */

/* Hypothesis: a transport's status comes out where the library gives it another meaning: a response that
   is "busy" looks for its run. */
TEST(a_transport_may_fail_with_any_status) {
    static const phi_status all[] = {PHI_BAD_ARG, PHI_NO_MEMORY,    PHI_MISUSE,      PHI_BUSY,
                                     PHI_STALE,   PHI_FULL,         PHI_UNSUPPORTED, PHI_NETWORK,
                                     PHI_TIMEOUT, PHI_TLS,          PHI_REFUSED,     PHI_CANCELLED,
                                     PHI_TOO_BIG, PHI_PARSE,        PHI_DENIED,      PHI_REJECTED,
                                     PHI_LIMIT,   (phi_status)-999, (phi_status)7};
    size_t i, how;
    for (how = 0; how < 2; how++)
        for (i = 0; i < PHI__COUNT(all); i++) {
            rig *r = rig_new();
            phi_agent agent = rig_agent(r, NULL);
            phi_response response;
            phi_response_info info;
            if (how == 0)
                rig_refuses(r, all[i]);
            else
                rig_breaks(r, half_stream("half"), all[i], "broken");
            CHECK_EQ_INT(prompt_for(agent, "go", &response), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 50), 0);
            CHECK(phi_response_get(response).done);
            CHECK_EQ_INT(response_get(response, &info), PHI_OK);
            CHECK_EQ_INT(info.state, PHI_RESPONSE_FAILED);
            CHECK(info.status != PHI_OK && info.status != PHI_BUSY);
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
            rig_says(r, "well");
            CHECK_EQ_INT(phi_send(agent, "again"), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 50), 0);
            rig_free(r);
        }
}

TEST_MAIN(
    TEST_ENTRY(three_retries_follow_the_first_attempt_and_then_the_run_fails),
    TEST_ENTRY(a_server_that_is_not_there_and_one_that_refuses_the_key_differ_in_status_and_words),
    TEST_ENTRY(a_path_that_is_not_there_is_named), TEST_ENTRY(attempts_without_a_limit_say_so),
    TEST_ENTRY(the_delay_doubles_up_to_thirty_seconds_give_or_take_a_fifth),
    TEST_ENTRY(what_was_set_counts_instead_of_the_defaults),
    TEST_ENTRY(the_next_attempt_comes_when_the_delay_is_over_and_not_before),
    TEST_ENTRY(the_server_s_delay_is_kept_as_it_is),
    TEST_ENTRY(a_server_that_asks_for_more_than_a_minute_is_not_waited_for),
    TEST_ENTRY(how_long_a_server_is_waited_for_can_be_set),
    TEST_ENTRY(where_retries_are_disabled_a_call_is_tried_once),
    TEST_ENTRY(the_same_seed_gives_the_same_delays_and_two_agents_differ),
    TEST_ENTRY(pace_network_and_the_server_s_own_trouble_are_tried_again),
    TEST_ENTRY(keys_money_wrong_requests_and_filters_are_not_tried_again),
    TEST_ENTRY(a_broken_connection_is_tried_again_and_a_certificate_that_is_refused_is_not),
    TEST_ENTRY(silence_is_tried_again_and_keep_alives_are_silence),
    TEST_ENTRY(each_turn_has_attempts_of_its_own), TEST_ENTRY(a_transport_may_fail_with_any_status))
