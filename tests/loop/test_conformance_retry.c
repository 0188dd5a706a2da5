/* test_conformance_retry.c - lines 40, 41 (the words) and 44 of the behaviours' checklist: which failures
   of a model call are tried again, when, and what the host sees of it; what is too long is made shorter.

   On the rig: the clock is the test's, and the delays are exact where chance does not say them. */
#include "loop/loop_in.h"
#include "support/heard.h"

/* ---- shared ---- */

#define TOO_LONG                                                                                   \
    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is "   \
    "too long: 9 tokens > 8 maximum\"}}"
#define OVERLOADED                                                                                 \
    "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"
#define SLOW_DOWN                                                                                  \
    "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow down\"}}"

/* An answer that has begun: usage 10 and 1; then a block; then the text "Half". */
#define BEGUN                                                                                      \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","       \
    "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n"
#define BLOCK                                                                                      \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
#define HALF                                                                                       \
    BEGUN BLOCK "event: content_block_delta\ndata: "                                               \
                "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"                         \
                "{\"type\":\"text_delta\",\"text\":\"Half\"}}\n\n"

/* What the host saw of one run. */
typedef struct tries {
    int retries;
    uint32_t delays[8], attempts[8], of[8];
    char lines[8][600]; /* RETRY's text */
    phi_failure_kind kinds[8];
    phi_failure failure; /* ERROR's; its strings are gone */
    phi_status status;   /* AGENT_END's */
    phi_usage usage;     /* AGENT_END's */
} tries;

static void hear(void *user_data, const phi_event *event) {
    tries *h = (tries *)user_data;
    int i = h->retries;
    if (event->kind == PHI_EV_RETRY && i < 8) {
        h->delays[i] = event->delay_ms;
        h->attempts[i] = event->attempt;
        h->of[i] = event->attempts;
        h->kinds[i] = event->failure->kind;
        (void)snprintf(h->lines[i], sizeof h->lines[i], "%.*s", (int)event->text.len,
                       event->text.at);
        h->retries++;
    }
    if (event->kind == PHI_EV_ERROR) h->failure = *event->failure;
    if (event->kind != PHI_EV_AGENT_END) return;
    h->status = event->status;
    h->usage = *event->usage;
}

static phi_agent_desc trying(void) {
    phi_agent_desc desc = rig_desc();
    desc.retry.disable = false;
    return desc;
}

/* A run of one prompt with what the rig was told to answer. */
static void run_heard(rig *r, phi_agent agent, tries *h) {
    memset(h, 0, sizeof *h);
    rig_watch(r, hear, h);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 600000), 0);
}

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
    CHECK_EQ_INT(phi_message_count(agent), 2); /* one error stands for all attempts */
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
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 2000);
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
            desc.agent_id = "another";
            desc.session_id = "another";
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

/* ---- C 40: what the host sees ---- */

TEST(a_retry_before_the_first_delta_shows_nothing_but_itself) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    rig_replies(r, 429, HEARD_JSON "Retry-After-Ms: 1100\r\n", SLOW_DOWN);
    rig_says(r, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 5000), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Hi\"\n"
                               "MessageEnd user \"Hi\"\n"
                               "Retry 1/4 after 1100 ms\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Here.\" of \"Here.\"\n"
                               "MessageEnd assistant \"Here.\" stop\n"
                               "TurnEnd assistant \"Here.\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    CHECK_EQ_INT(phi_message_count(agent), 2);
    rig_free(r);
}

TEST(an_answer_that_broke_off_before_its_first_delta_was_not_seen) {
    static const char *const bodies[] = {BEGUN, BEGUN BLOCK,
                                         BEGUN "event: ping\ndata: {\"type\":\"ping\"}\n\n",
                                         BEGUN "event: error\ndata: " OVERLOADED "\n\n",
                                         BEGUN BLOCK "event: error\ndata: " OVERLOADED "\n\n"};
    size_t i;
    for (i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        rig *r = rig_new();
        phi_agent_desc desc = trying();
        phi_agent agent = rig_agent(r, &desc);
        tries h;
        bool same;
        rig_breaks(r, bodies[i], PHI_NETWORK, "the cable was cut");
        rig_says(r, "Here.");
        run_heard(r, agent, &h);
        same = CHECK_EQ_INT(h.retries, 1);
        same = CHECK_EQ_INT((int)count_of(rig_story(r), "MessageStart assistant"), 1) && same;
        same = CHECK_EQ_INT((int)count_of(rig_story(r), "Retract"), 0) && same;
        CHECK_EQ_INT(h.usage.input, 20);
        if (!same) printf("%s%s", bodies[i], rig_story(r));
        rig_free(r);
    }
}

TEST(an_answer_that_was_seen_is_retracted_and_the_history_holds_one_answer) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    char story[1000];
    rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut");
    rig_replies(r, 503, HEARD_JSON "Retry-After: 3\r\n", "{}");
    rig_says(r, "Whole.");
    rig_says(r, "Yes.");
    run_heard(r, agent, &h);
    (void)snprintf(story, sizeof story,
                   "AgentStart\n"
                   "TurnStart 0\n"
                   "MessageStart user \"Hi\"\n"
                   "MessageEnd user \"Hi\"\n"
                   "MessageStart assistant\n"
                   "TextDelta \"Half\" of \"Half\"\n"
                   "Retract assistant \"Half\"\n"
                   "Retry 1/4 after %u ms\n"
                   "Retry 2/4 after 3000 ms\n"
                   "MessageStart assistant\n"
                   "TextDelta \"Whole.\" of \"Whole.\"\n"
                   "MessageEnd assistant \"Whole.\" stop\n"
                   "TurnEnd assistant \"Whole.\" stop\n"
                   "AgentEnd ok, 2 messages\n",
                   (unsigned)h.delays[0]);
    CHECK_EQ_STR(rig_story(r), story);
    CHECK_EQ_INT(phi_message_count(agent), 2);
    run_heard(r, agent, &h);
    REQUIRE(rig_requests(r) == 4);
    CHECK(strstr(rig_request(r, 3), "Half") == NULL);
    CHECK(strstr(rig_request(r, 3), "Whole.") != NULL);
    rig_free(r);
}

TEST(an_answer_that_was_retracted_fails_for_good_as_its_last_attempt_left_it) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    tries h;
    char story[1000];
    desc.retry.max_retries = 1;
    agent = rig_agent(r, &desc);
    rig_breaks(r, HALF, PHI_NETWORK, "the cable was cut");
    rig_breaks(r, HALF, PHI_NETWORK, "again");
    run_heard(r, agent, &h);
    (void)snprintf(story, sizeof story,
                   "AgentStart\n"
                   "TurnStart 0\n"
                   "MessageStart user \"Hi\"\n"
                   "MessageEnd user \"Hi\"\n"
                   "MessageStart assistant\n"
                   "TextDelta \"Half\" of \"Half\"\n"
                   "Retract assistant \"Half\"\n"
                   "Retry 1/2 after %u ms\n"
                   "MessageStart assistant\n"
                   "TextDelta \"Half\" of \"Half\"\n"
                   "MessageEnd assistant \"Half\" error error \"Network error: again\"\n"
                   "Error network \"again\" 200\n"
                   "TurnEnd assistant \"Half\" error error \"Network error: again\"\n"
                   "AgentEnd the network failed, 2 messages\n",
                   (unsigned)h.delays[0]);
    CHECK_EQ_STR(rig_story(r), story);
    rig_free(r);
}

TEST(the_line_for_a_log_says_which_attempt_how_long_and_why) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    rig_replies(r, 429, HEARD_JSON "Retry-After-Ms: 1100\r\n", SLOW_DOWN);
    rig_replies(r, 503, HEARD_JSON "Retry-After-Ms: 49\r\n", "{\"error\":{\"message\":\"busy\"}}");
    rig_breaks(r, "", PHI_NETWORK, "the cable was cut");
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    REQUIRE(h.retries == 3);
    CHECK_EQ_STR(h.lines[0], "Provider error (attempt 1/4), retrying in 1.1s: Rate limited, retry "
                             "after 1100ms: slow down");
    CHECK_EQ_STR(h.lines[1], "Provider error (attempt 2/4), retrying in 0.0s: API error: busy");
    CHECK(strncmp(h.lines[2], "Provider error (attempt 3/4), retrying in ", 42) == 0);
    CHECK_EQ_STR(strstr(h.lines[2], "s: "), "s: Network error: the cable was cut");
    rig_free(r);
}

TEST(every_attempt_sends_the_same_bytes) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_tool tool = rig_echo();
    phi_agent agent;
    tries h;
    size_t i;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.system_prompt = "You are a test.";
    agent = rig_agent(r, &desc);
    rig_says(r, "First.");
    rig_replies(r, 500, HEARD_JSON, "{}");
    rig_breaks(r, HALF, PHI_NETWORK, "cut");
    rig_replies(r, 429, HEARD_JSON, SLOW_DOWN);
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.status, PHI_OK);
    REQUIRE(rig_requests(r) == 5);
    for (i = 2; i < 5; i++) CHECK_EQ_STR(rig_request(r, i), rig_request(r, 1));
    CHECK(strstr(rig_request(r, 1), "First.") != NULL);
    rig_free(r);
}

TEST(what_a_retracted_attempt_has_used_is_counted) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    phi_usage usage;
    tries h;
    desc.model.cost.input = 1e6; /* a dollar a token */
    desc.model.cost.output = 2e6;
    agent = rig_agent(r, &desc);
    rig_breaks(r, HALF, PHI_NETWORK, "cut"); /* 10 and 1 */
    rig_says(r, "Whole.");                   /* 10 and 5 */
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.usage.input, 20);
    CHECK_EQ_INT(h.usage.output, 6);
    CHECK_EQ_INT(h.usage.total_tokens, 26);
    usage = phi_agent_usage(agent);
    CHECK_EQ_INT(usage.input, 20);
    usage = phi_agent_run_usage(agent);
    CHECK_EQ_INT(usage.output, 6);
    CHECK(phi_agent_cost(agent) == 32.0);
    CHECK(phi_agent_run_cost(agent) == 32.0);
    CHECK_EQ_INT(phi_message_at(agent, 1)->usage.input, 10);
    rig_free(r);
}

/* ---- C 40: ending it ---- */

static void in_delay(rig *r, phi_agent agent) {
    rig_replies(r, 429, HEARD_JSON "Retry-After: 50\r\n", SLOW_DOWN);
    rig_says(r, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK(strstr(rig_story(r), "Retry 1/4 after 50000 ms\n") != NULL);
    rig_forget(r);
}

TEST(an_abort_during_the_delay_ends_the_run_at_once) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    in_delay(r, agent);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_step(r), 0);
    CHECK_EQ_STR(rig_story(r), "TurnEnd -\n"
                               "AgentEnd cancelled, 1 messages\n");
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    rig_forget(r);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 1000), 0);
    CHECK(strstr(rig_story(r), "MessageEnd assistant \"Here.\" stop\n") != NULL);
    CHECK_EQ_STR(rig_request(r, 1), rig_request(r, 0));
    rig_free(r);
}

TEST(an_abort_after_a_retraction_leaves_no_half_answer) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    rig_breaks(r, HALF, PHI_NETWORK, "cut");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_step(r), 0);
    CHECK_EQ_INT(phi_message_count(agent), 1);
    CHECK_EQ_INT((int)count_of(rig_story(r), "Retract"), 1);
    CHECK_EQ_INT(phi_agent_usage(agent).input, 10);
    rig_free(r);
}

TEST(the_delay_is_listed_as_what_the_run_waits_for) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    phi_pending_item item;
    in_delay(r, agent);
    REQUIRE(phi_pending(rig_runtime(r), &item, 1) == 1);
    CHECK_EQ_INT(item.kind, PHI_WAITING_RETRY);
    CHECK_EQ_INT(item.agent.index, agent.index);
    CHECK(item.has_deadline && item.left_ms > 49000 && item.left_ms <= 50000);
    rig_pass_ms(r, 50000);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 0);
    rig_free(r);
}

TEST(an_agent_or_a_runtime_may_be_freed_during_the_delay) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    in_delay(r, agent);
    CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
    rig_pass_ms(r, 60000);
    CHECK_EQ_INT(rig_step(r), 0);
    CHECK_EQ_STR(rig_story(r), "");
    CHECK_EQ_INT(rig_requests(r), 1);
    agent = rig_agent(r, &desc);
    rig_replies(r, 503, HEARD_JSON, "{}");
    rig_replies(r, 503, HEARD_JSON, "{}");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 3);
    rig_free(r);
}

/* ---- what is too long ---- */

static void a_history(rig *r, phi_agent agent, int answers) {
    char text[64];
    int i;
    for (i = 0; i < answers; i++) {
        (void)snprintf(text, sizeof text, "Answer %d, of some length, so that it counts.", i);
        rig_says(r, text);
    }
    for (i = 0; i < answers; i++) {
        (void)snprintf(text, sizeof text, "Question %d, of some length, so that it counts.", i);
        CHECK_EQ_INT(phi_prompt(agent, text), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
    }
    rig_forget(r);
}

/* Without summaries, a plain cut is all there is. */
TEST(what_is_too_long_is_compacted_and_tried_again) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    desc.compaction.disable = true;
    agent = rig_agent(r, &desc);
    a_history(r, agent, 4);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "It fits.");
    CHECK_EQ_INT(phi_prompt(agent, "The last question"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 5000), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"The last question\"\n"
                               "MessageEnd user \"The last question\"\n"
                               "CompactionStarted 133 tokens, 9 messages\n"
                               "CompactionEnded 9 -> 4 messages, 133 -> 60 tokens, 0 loops\n"
                               "MessageStart assistant\n"
                               "TextDelta \"It fits.\" of \"It fits.\"\n"
                               "MessageEnd assistant \"It fits.\" stop\n"
                               "TurnEnd assistant \"It fits.\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    REQUIRE(rig_requests(r) == 6);
    CHECK(strlen(rig_request(r, 5)) < strlen(rig_request(r, 4)));
    CHECK(strstr(rig_request(r, 5), "Question 0") != NULL);
    CHECK(strstr(rig_request(r, 5), "Answer 0") == NULL);
    CHECK(strstr(rig_request(r, 5), "messages removed to fit context window]") != NULL);
    CHECK(strstr(rig_request(r, 5), "Answer 3") != NULL);
    CHECK(strstr(rig_request(r, 5), "The last question") != NULL);
    CHECK_EQ_INT(phi_message_count(agent), 10); /* the history is whole */
    CHECK_STR(phi_message_at(agent, 1)->content[0].text,
              "Answer 0, of some length, so that it counts.");
    rig_free(r);
}

TEST(what_is_too_long_again_and_again_is_compacted_until_nothing_can_be_taken_out) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    size_t i;
    a_history(r, agent, 8);
    for (i = 0; i < 20; i++) rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.failure.kind, PHI_FAILURE_OVERFLOW);
    CHECK_EQ_INT(h.failure.http_status, 400);
    CHECK_EQ_INT(h.status, PHI_REFUSED);
    CHECK_EQ_INT(h.retries, 0);
    CHECK(rig_requests(r) > 8 + 2 && rig_requests(r) < 8 + 10);
    for (i = 9; i < rig_requests(r); i++)
        CHECK(strlen(rig_request(r, i)) < strlen(rig_request(r, i - 1)));
    CHECK_EQ_INT((int)count_of(rig_story(r), "CompactionStarted"),
                 (int)count_of(rig_story(r), "CompactionEnded"));
    CHECK_EQ_INT((int)count_of(rig_story(r), "Error overflow"), 1);
    CHECK_EQ_INT((int)count_of(rig_story(r), "MessageStart assistant"), 1);
    CHECK_EQ_INT(phi_message_count(agent), 18);
    CHECK_STR(phi_message_at(agent, 17)->error_message,
              "Context overflow: prompt is too long: 9 tokens > 8 maximum");
    rig_free(r);
}

TEST(a_single_prompt_that_is_too_long_is_an_overflow_and_sent_once) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    rig_replies(r, 413, HEARD_JSON, "{}");
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(h.failure.kind, PHI_FAILURE_OVERFLOW);
    CHECK_EQ_INT(h.failure.http_status, 413);
    CHECK(!h.failure.retryable);
    CHECK_EQ_INT(phi_message_count(agent), 2);
    rig_forget(r); /* the agent goes on */
    CHECK_EQ_INT(phi_prompt(agent, "Shorter"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages\n") != NULL);
    rig_free(r);
}

/* One long answer may be all that is in the way: its marker is one message, too. */
TEST(a_single_long_answer_that_goes_is_progress) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    char *text = (char *)malloc(8001);
    desc.compaction.disable = true;
    agent = rig_agent(r, &desc);
    memset(text, 'x', 8000);
    text[8000] = '\0';
    rig_says(r, text);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "It fits.");
    CHECK_EQ_INT(phi_prompt(agent, "Write a lot"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "Good. What now?"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 5000), 0);
    CHECK(strstr(rig_story(r), "MessageEnd assistant \"It fits.\" stop\n") != NULL);
    CHECK_EQ_INT((int)count_of(rig_story(r), "CompactionStarted"), 1);
    CHECK_EQ_INT(rig_requests(r), 3);
    CHECK(strstr(rig_request(r, 2), "xxxxxxxx") == NULL);
    free(text);
    rig_free(r);
}

/* The last group stays, so a result that is too long by itself ends the run; the next prompt makes it an
   older one, which may go. */
TEST(a_result_that_is_too_long_ends_the_run_and_the_next_prompt_gets_rid_of_it) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_tool tool = rig_echo();
    phi_agent agent;
    tries h;
    char arguments[2100];
    (void)snprintf(arguments, sizeof arguments, "{\"x\":\"%02000d\"}", 7);
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "toolu_1", "echo", arguments);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "It fits.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.failure.kind, PHI_FAILURE_OVERFLOW);
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK_EQ_INT(phi_message_count(agent), 4);
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.status, PHI_OK);
    REQUIRE(rig_requests(r) == 4);
    CHECK(strstr(rig_request(r, 2), "00007") != NULL);
    CHECK(strstr(rig_request(r, 3), "00007") == NULL);
    CHECK_STR(phi_message_at(agent, 5)->content[0].text, "It fits.");
    rig_free(r);
}

TEST(an_overflow_in_mid_stream_is_retracted_before_it_is_compacted) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    a_history(r, agent, 4);
    rig_replies(r, 200, "Content-Type: text/event-stream\r\n",
                HALF "event: error\ndata: " TOO_LONG "\n\n");
    rig_says(r, "It fits.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 5000), 0);
    CHECK(strstr(rig_story(r), "TextDelta \"Half\" of \"Half\"\n"
                               "Retract assistant \"Half\" error error \"prompt is too long: 9 "
                               "tokens > 8 maximum\"\n"
                               "CompactionStarted ") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages\n") != NULL);
    CHECK_EQ_INT(phi_agent_run_usage(agent).input, 20);
    rig_free(r);
}

/* A server that is told to be asked again with the very same prompt would be asked in vain. */
TEST(an_overflow_is_not_repeated_unchanged_whatever_the_server_says) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    rig_replies(r, 413, HEARD_JSON "x-should-retry: true\r\nRetry-After: 1\r\n", "{}");
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(h.failure.kind, PHI_FAILURE_OVERFLOW);
    rig_free(r);
}

TEST(a_host_that_denies_the_compaction_has_the_overflow_at_once) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    tries h;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_ON_ERROR);
    rig_answers(r, PHI_HOOK_BEFORE_COMPACTION, PHI_DENY, NULL);
    agent = rig_agent(r, &desc);
    a_history(r, agent, 2);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "Here.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(rig_requests(r), 3);
    CHECK_EQ_STR(rig_story(r),
                 "AgentStart\n"
                 "TurnStart 0\n"
                 "MessageStart user \"Hi\"\n"
                 "MessageEnd user \"Hi\"\n"
                 "-> before_compaction 67 tokens, 5 messages\n"
                 "MessageStart assistant\n"
                 "MessageEnd assistant \"\" error error \"Context overflow: prompt is too long: 9 "
                 "tokens > 8 maximum\"\n"
                 "Error overflow \"prompt is too long: 9 tokens > 8 maximum\" 400\n"
                 "-> on_error \"Context overflow: prompt is too long: 9 tokens > 8 maximum\"\n"
                 "TurnEnd assistant \"\" error error \"Context overflow: prompt is too long: 9 "
                 "tokens > 8 maximum\"\n"
                 "AgentEnd the other side refused, 2 messages\n");
    rig_free(r);
}

TEST(the_hook_for_errors_hears_of_the_last_attempt_only) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent;
    tries h;
    int i;
    rig_hooks(r, &desc, PHI_HOOK_ON_ERROR);
    agent = rig_agent(r, &desc);
    rig_replies(r, 503, HEARD_JSON, "{}");
    rig_says(r, "Here.");
    for (i = 0; i < 4; i++) rig_replies(r, 503, HEARD_JSON, "{}");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.retries, 1);
    CHECK_EQ_INT((int)count_of(rig_story(r), "-> on_error"), 0);
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.retries, 3);
    CHECK_EQ_INT((int)count_of(rig_story(r), "-> on_error"), 1);
    rig_free(r);
}

TEST(after_a_compaction_a_failure_that_may_pass_is_tried_again) {
    rig *r = rig_new();
    phi_agent_desc desc = trying();
    phi_agent agent = rig_agent(r, &desc);
    tries h;
    a_history(r, agent, 4);
    rig_replies(r, 429, HEARD_JSON "Retry-After-Ms: 5\r\n", SLOW_DOWN);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_replies(r, 429, HEARD_JSON "Retry-After-Ms: 6\r\n", SLOW_DOWN);
    rig_says(r, "It fits.");
    run_heard(r, agent, &h);
    CHECK_EQ_INT(h.status, PHI_OK);
    CHECK_EQ_INT(h.retries, 2);
    REQUIRE(rig_requests(r) == 8);
    CHECK_EQ_STR(rig_request(r, 5), rig_request(r, 4));
    CHECK(strlen(rig_request(r, 6)) < strlen(rig_request(r, 5)));
    CHECK_EQ_STR(rig_request(r, 7), rig_request(r, 6));
    rig_free(r);
}

/* ---- C 41: the words that stand in the history ---- */

static void worded(int status, const char *headers, const char *body, const char *want) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_replies(r, status, headers, body);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    REQUIRE(phi_message_count(agent) == 2);
    CHECK_EQ_INT(phi_message_at(agent, 1)->stop_reason, PHI_STOP_REASON_ERROR);
    CHECK_STR(phi_message_at(agent, 1)->error_message, want);
    rig_free(r);
}

TEST(the_history_says_what_kind_of_error_it_was) {
    worded(400, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "API error: x");
    worded(500, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "API error: x");
    worded(402, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "API error: x");
    worded(401, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "Auth error: x");
    worded(403, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "Auth error: x");
    worded(413, HEARD_JSON, "{\"error\":{\"message\":\"x\"}}", "Context overflow: x");
    worded(400, HEARD_JSON, TOO_LONG, "Context overflow: prompt is too long: 9 tokens > 8 maximum");
    worded(429, HEARD_JSON, SLOW_DOWN, "Rate limited: slow down");
    worded(429, HEARD_JSON "Retry-After: 5\r\n", SLOW_DOWN,
           "Rate limited, retry after 5000ms: slow down");
    worded(200, "Content-Type: text/event-stream\r\n", "",
           "Network error: the server ended the stream without an answer");
}

/* ---- C 44: the mock provider ---- */

static phi_agent_desc mocked(rig *r, phi_tool *tool) {
    phi_agent_desc desc = rig_desc();
    rig_mock(r);
    *tool = rig_echo();
    desc.model.id = "mock";
    desc.model.provider = "mock";
    desc.tools = tool;
    desc.tool_count = 1;
    return desc;
}

TEST(the_mock_answers_in_order_without_usage_and_then_says_that_it_has_no_more) {
    rig *r = rig_new();
    phi_tool tool;
    phi_agent_desc desc = mocked(r, &tool);
    phi_agent agent = rig_agent(r, &desc);
    rig_says(r, "one two three");
    rig_says(r, "second");
    CHECK_EQ_INT(phi_prompt(agent, "a"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "TextDelta \"one two three\" of \"one two three\"\n") != NULL);
    CHECK_EQ_INT(phi_prompt(agent, "b"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_prompt(agent, "c"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(phi_message_count(agent) == 6);
    CHECK_STR(phi_message_at(agent, 1)->content[0].text, "one two three");
    CHECK_STR(phi_message_at(agent, 1)->model, "mock");
    CHECK_STR(phi_message_at(agent, 1)->provider, "mock");
    CHECK_STR(phi_message_at(agent, 3)->content[0].text, "second");
    CHECK_STR(phi_message_at(agent, 5)->content[0].text, "(no more mock responses)");
    CHECK_EQ_INT(phi_agent_usage(agent).total_tokens, 0);
    rig_free(r);
}

/* The mock's ids begin anew in each answer, as some servers' do: results stay with their calls. */
TEST(ids_that_repeat_across_turns_are_told_apart) {
    rig *r = rig_new();
    phi_tool tool;
    phi_agent_desc desc = mocked(r, &tool);
    phi_agent agent = rig_agent(r, &desc);
    static const char *const two[] = {"x echo {\"n\":1}", "x echo {\"n\":2}"};
    static const char *const other[] = {"x echo {\"n\":3}"};
    rig_calls(r, two, 2);
    rig_calls(r, other, 1);
    CHECK_EQ_INT(phi_prompt(agent, "a"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    REQUIRE(phi_message_count(agent) == 7);
    CHECK_STR(phi_message_at(agent, 1)->content[0].id, "mock-tool-0");
    CHECK_STR(phi_message_at(agent, 1)->content[1].id, "mock-tool-1");
    CHECK_STR(phi_message_at(agent, 2)->tool_call_id, "mock-tool-0");
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "{\"n\":1}");
    CHECK(!phi_str_equal(phi_message_at(agent, 4)->content[0].id,
                         phi_message_at(agent, 1)->content[0].id));
    CHECK(phi_str_equal(phi_message_at(agent, 5)->tool_call_id,
                        phi_message_at(agent, 4)->content[0].id));
    CHECK_STR(phi_message_at(agent, 5)->content[0].text, "{\"n\":3}");
    CHECK_STR(phi_message_at(agent, 6)->content[0].text, "(no more mock responses)");
    rig_free(r);
}

/* ---- and when memory ends ---- */

static void scenario(rig *r) {
    phi_agent_desc desc = trying();
    phi_agent agent;
    desc.retry.initial_delay_ms = 1;
    agent = rig_agent(r, &desc);
    rig_says(r, "First.");
    rig_says(r, "Second.");
    rig_breaks(r, HALF, PHI_NETWORK, "cut");
    rig_replies(r, 503, HEARD_JSON "Retry-After-Ms: 3\r\n", "{}");
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "Here.");
    if (agent.rt == NULL) return;
    if (phi_prompt(agent, "one, two, three, four, five, six") == PHI_OK) (void)rig_run(r, 50);
    if (phi_prompt(agent, "one, two, three, four, five, six") == PHI_OK) (void)rig_run(r, 50);
    rig_forget(r);
    if (phi_prompt(agent, "three") != PHI_OK) return;
    CHECK_EQ_INT(rig_run_until(r, 5000), 0);
    CHECK_EQ_INT((int)count_of(rig_story(r), "AgentEnd"), 1);
}

TEST(retries_and_compactions_survive_every_failed_allocation) {
    int n = 0;
    bool tripped = true;
    while (tripped && n < 2000) {
        rig *r;
        test_alloc_fail_at(n);
        r = rig_new_with(NULL);
        if (r != NULL) {
            scenario(r);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            rig_free(r);
        }
        n++;
    }
    test_alloc_fail_at(-1);
    CHECK(n > 50 && n < 2000);
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
    TEST_ENTRY(each_turn_has_attempts_of_its_own),
    TEST_ENTRY(a_retry_before_the_first_delta_shows_nothing_but_itself),
    TEST_ENTRY(an_answer_that_broke_off_before_its_first_delta_was_not_seen),
    TEST_ENTRY(an_answer_that_was_seen_is_retracted_and_the_history_holds_one_answer),
    TEST_ENTRY(an_answer_that_was_retracted_fails_for_good_as_its_last_attempt_left_it),
    TEST_ENTRY(the_line_for_a_log_says_which_attempt_how_long_and_why),
    TEST_ENTRY(every_attempt_sends_the_same_bytes),
    TEST_ENTRY(what_a_retracted_attempt_has_used_is_counted),
    TEST_ENTRY(an_abort_during_the_delay_ends_the_run_at_once),
    TEST_ENTRY(an_abort_after_a_retraction_leaves_no_half_answer),
    TEST_ENTRY(the_delay_is_listed_as_what_the_run_waits_for),
    TEST_ENTRY(an_agent_or_a_runtime_may_be_freed_during_the_delay),
    TEST_ENTRY(what_is_too_long_is_compacted_and_tried_again),
    TEST_ENTRY(what_is_too_long_again_and_again_is_compacted_until_nothing_can_be_taken_out),
    TEST_ENTRY(a_single_prompt_that_is_too_long_is_an_overflow_and_sent_once),
    TEST_ENTRY(a_single_long_answer_that_goes_is_progress),
    TEST_ENTRY(a_result_that_is_too_long_ends_the_run_and_the_next_prompt_gets_rid_of_it),
    TEST_ENTRY(an_overflow_in_mid_stream_is_retracted_before_it_is_compacted),
    TEST_ENTRY(an_overflow_is_not_repeated_unchanged_whatever_the_server_says),
    TEST_ENTRY(a_host_that_denies_the_compaction_has_the_overflow_at_once),
    TEST_ENTRY(the_hook_for_errors_hears_of_the_last_attempt_only),
    TEST_ENTRY(after_a_compaction_a_failure_that_may_pass_is_tried_again),
    TEST_ENTRY(the_history_says_what_kind_of_error_it_was),
    TEST_ENTRY(the_mock_answers_in_order_without_usage_and_then_says_that_it_has_no_more),
    TEST_ENTRY(ids_that_repeat_across_turns_are_told_apart),
    TEST_ENTRY(retries_and_compactions_survive_every_failed_allocation))
