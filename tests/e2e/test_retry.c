/* test_retry.c - model calls that fail and are tried again, over loopback HTTP in both protocols: what the
   server is asked, what the host sees, and what is left when it has enough of waiting.

   The mock's `times=N,TAG` makes the first N requests of an address fail; the TAG keeps tests apart. */
#include "e2e/e2e.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "base/arena.h"
#include "support/set.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ANSWER "I look.It is 42." /* of the scenario "lookup", with one call between */

static void pause_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

/* Tries again, soon. */
static phi_agent_desc trying(e2e_wire wire, const char *path) {
    phi_agent_desc desc = e2e_desc(wire, path);
    desc.retry.disable = false;
    desc.retry.initial_delay_ms = 20;
    return desc;
}

/* A step that does all there is to do, however slow the machine is. */
static crowd *roomy_crowd(void) {
    phi_runtime_desc rt = PHI_ZERO;
    rt.step_budget_us = 1000000;
    rt.step_budget_bytes = 65536;
    return crowd_new(&rt);
}

/* ---- one failure, then the answer ---- */

typedef struct expected {
    phi_failure_kind kind;
    long delay_ms;    /* -1: by chance */
    int retracts;     /* RETRACT events */
    const char *line; /* what RETRY's text ends with; NULL: anything */
} expected;

static void retried_as(const seen *s, const expected *want) {
    size_t len = strlen(s->retry_text), tail = want->line != NULL ? strlen(want->line) : 0;
    if (!CHECK_EQ_INT(s->status, PHI_OK)) printf("  %s: %s\n", s->name, s->failure_text);
    CHECK_EQ_STR(s->text, ANSWER);
    CHECK_EQ_INT(s->events[PHI_EV_ERROR], 0);
    CHECK_EQ_INT(s->events[PHI_EV_TOOL_START], 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 4);
    CHECK(crowd_history_holds(s));
    if (!CHECK_EQ_INT(s->events[PHI_EV_RETRACT], want->retracts)) printf("  %s\n", s->name);
    if (!CHECK_EQ_INT(s->retries, 1)) {
        printf("  %s: %s\n", s->name, s->retry_text);
        return;
    }
    CHECK_EQ_INT(s->retry_kinds[0], want->kind);
    if (want->delay_ms >= 0)
        CHECK_EQ_INT(s->delays[0], want->delay_ms);
    else
        CHECK(s->delays[0] >= 16 && s->delays[0] < 24);
    if (!CHECK(len > tail && (tail == 0 || strcmp(s->retry_text + len - tail, want->line) == 0)))
        printf("  %s: %s\n", s->name, s->retry_text);
}

/* One retry of a turn of "lookup" at a path whose %s is the protocol's name, then the whole answer. */
static void retried(const char *path, const expected *want, const phi_deadlines *deadlines) {
    char at[E2E_WIRES][200];
    crowd *c = crowd_new(NULL);
    seen *s[E2E_WIRES];
    int w;
    REQUIRE(c != NULL);
    e2e_forget();
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc;
        (void)snprintf(at[w], sizeof at[w], path, e2e_name((e2e_wire)w));
        desc = trying((e2e_wire)w, at[w]);
        if (deadlines != NULL) desc.deadlines = *deadlines;
        s[w] = crowd_add(c, &desc, at[w]);
        REQUIRE(s[w] != NULL && crowd_prompt(s[w], "Begin."));
    }
    CHECK(crowd_run(c, 30));
    for (w = 0; w < E2E_WIRES; w++) retried_as(s[w], want);
    CHECK_EQ_INT(e2e_stat("total"), 3 * E2E_WIRES);
    crowd_free(c);
}

TEST(a_429_with_a_delay_is_waited_out_and_answered) {
    static const expected ms = {PHI_FAILURE_RATE_LIMITED, 120, 0, NULL};
    static const expected s = {PHI_FAILURE_RATE_LIMITED, 500, 0, NULL};
    retried("/m/status=429+retry-after-ms=120+times=1,ms%s/s/lookup", &ms, NULL);
    retried("/m/status=429+retry-after=0.5+times=1,s%s/s/lookup", &s, NULL);
}

TEST(a_429_without_a_delay_is_tried_again_after_one_of_ours) {
    static const expected want = {PHI_FAILURE_RATE_LIMITED, -1, 0, NULL};
    retried("/m/status=429+times=1,none%s/s/lookup", &want, NULL);
}

TEST(a_529_is_tried_again_and_answered) {
    static const expected want = {PHI_FAILURE_SERVER, -1, 0, "s: API error: Overloaded"};
    retried("/m/status=529+times=1,%s/s/lookup", &want, NULL);
}

TEST(a_503_with_a_page_is_tried_again_and_answered) {
    static const expected want = {PHI_FAILURE_SERVER, -1, 0,
                                  "s: API error: HTTP 503 with a web page: Bad Gateway"};
    retried("/m/status=503+html+times=1,%s/s/lookup", &want, NULL);
}

TEST(a_second_turn_that_fails_is_tried_again_without_a_second_tool_call) {
    static const expected want = {PHI_FAILURE_SERVER, -1, 0, NULL};
    retried("/m/status=500+on-turn=1+times=1,%s/s/lookup", &want, NULL);
}

TEST(an_answer_cut_in_mid_stream_is_retracted_and_comes_again) {
    static const expected want = {PHI_FAILURE_NETWORK, -1, 1, NULL};
    retried("/m/eof=4+times=1,%s/s/lookup", &want, NULL);
    retried("/m/cut=4+times=1,%s/s/lookup", &want, NULL);
    retried("/m/rst=4+times=1,%s/s/lookup", &want, NULL);
    retried("/m/end=4+times=1,%s/s/lookup", &want, NULL);
    retried("/m/end-mid=4+times=1,%s/s/lookup", &want, NULL);
}

TEST(an_overload_in_mid_stream_is_retracted_and_comes_again) {
    static const expected want = {PHI_FAILURE_SERVER, -1, 1, NULL};
    retried("/m/overloaded=4+times=1,%s/s/lookup", &want, NULL);
}

TEST(a_stream_without_an_event_is_tried_again_unseen) {
    static const expected want = {PHI_FAILURE_NETWORK, -1, 0, NULL};
    retried("/m/end=0+times=1,%s/s/lookup", &want, NULL);
    retried("/m/eof=0+times=1,%s/s/lookup", &want, NULL);
}

TEST(silence_and_keep_alives_are_left_for_another_attempt) {
    static const expected seen_some = {PHI_FAILURE_TIMEOUT, -1, 1,
                                       "s: Network error: the answer was silent for 700 ms"};
    static const expected seen_none = {PHI_FAILURE_TIMEOUT, -1, 0,
                                       "s: Network error: no answer within 700 ms"};
    phi_deadlines deadlines = PHI_ZERO;
    deadlines.idle_ms = 700;
    retried("/m/stall=4+times=1,%s/s/lookup", &seen_some, &deadlines);
    retried("/m/ping-forever=4,20+times=1,%s/s/lookup", &seen_some, &deadlines);
    retried("/m/comment-forever=4,20+times=1,%s/s/lookup", &seen_some, &deadlines);
    deadlines.first_event_ms = 700;
    retried("/m/stall=0+times=1,%s/s/lookup", &seen_none, &deadlines);
    retried("/m/slow-headers+times=1,%s/s/lookup", &seen_none, &deadlines);
}

/* ---- more than one ---- */

/* The n-th request's body as the mock logged it, from `from` on; NULL: there is none. */
static char *logged_body(const char *log, int n) {
    const char *at = log, *end;
    char *out;
    while (at != NULL && n-- >= 0) {
        at = strstr(at, "\"body\": ");
        if (at != NULL) at += 8;
    }
    end = at != NULL ? strstr(at, "\"body_bytes\"") : NULL;
    if (end == NULL) return NULL;
    out = (char *)calloc(1, (size_t)(end - at) + 1);
    if (out != NULL) memcpy(out, at, (size_t)(end - at));
    return out;
}

TEST(four_attempts_are_made_with_the_same_request_and_then_the_run_fails) {
    int w, i;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = trying((e2e_wire)w, "/m/status=500/s/lookup");
        crowd *c = crowd_new(NULL);
        seen *s = c != NULL ? crowd_add(c, &desc, e2e_name((e2e_wire)w)) : NULL;
        char *log, *first;
        e2e_forget();
        REQUIRE(s != NULL && crowd_ask(s, "Begin."));
        CHECK_EQ_INT(s->status, PHI_REFUSED);
        CHECK_EQ_INT(s->failure.http_status, 500);
        CHECK_EQ_INT(s->retries, 3);
        CHECK(s->delays[1] >= 32 && s->delays[1] < 48);
        CHECK(s->delays[2] >= 64 && s->delays[2] < 96);
        CHECK_EQ_INT(s->events[PHI_EV_ERROR], 1);
        CHECK_EQ_INT(s->events[PHI_EV_RETRACT], 0);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 2);
        CHECK_EQ_INT(e2e_stat("total"), 4);
        log = mock_ask("GET", "/_log");
        first = log != NULL ? logged_body(log, 0) : NULL;
        REQUIRE(first != NULL && strstr(first, "Begin.") != NULL);
        for (i = 1; i < 4; i++) {
            char *body = logged_body(log, i);
            CHECK_EQ_STR(body, first);
            free(body);
        }
        free(first);
        free(log);
        crowd_free(c);
    }
}

TEST(a_refused_connection_is_tried_three_times_more) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), w;
    char url[64];
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
            getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    (void)close(fd);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = trying((e2e_wire)w, "");
        crowd *c = crowd_new(NULL);
        seen *s;
        desc.model.base_url = url;
        s = c != NULL ? crowd_add(c, &desc, e2e_name((e2e_wire)w)) : NULL;
        REQUIRE(s != NULL && crowd_ask(s, "Begin."));
        CHECK_EQ_INT(s->retries, 3);
        CHECK_EQ_INT(s->retry_kinds[2], PHI_FAILURE_NETWORK);
        CHECK_EQ_INT(s->status, PHI_UNREACHABLE);
        CHECK_EQ_INT(s->failure.kind, PHI_FAILURE_NETWORK);
        crowd_free(c);
    }
}

TEST(what_no_second_attempt_can_change_is_asked_once) {
    static const char *const paths[] = {"/m/status=400/s/lookup",
                                        "/m/status=401/s/lookup",
                                        "/m/status=402/s/lookup",
                                        "/m/status=403/s/lookup",
                                        "/m/status=404/s/lookup",
                                        "/m/status=429+retry-after=61/s/lookup",
                                        "/m/status=500+should-retry=false/s/lookup",
                                        "/m/html/s/lookup"};
    size_t i;
    int w;
    for (w = 0; w < E2E_WIRES; w++)
        for (i = 0; i < sizeof paths / sizeof paths[0]; i++) {
            phi_agent_desc desc = trying((e2e_wire)w, paths[i]);
            crowd *c = crowd_new(NULL);
            seen *s = c != NULL ? crowd_add(c, &desc, paths[i]) : NULL;
            e2e_forget();
            REQUIRE(s != NULL && crowd_ask(s, "Begin."));
            CHECK_EQ_INT(s->retries, 0);
            CHECK_EQ_INT(s->events[PHI_EV_ERROR], 1);
            if (!CHECK_EQ_INT(e2e_stat("total"), 1)) printf("  %s\n", paths[i]);
            crowd_free(c);
        }
}

TEST(a_prompt_too_long_for_the_model_is_compacted_and_answered) {
    int w, i;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, "/s/lookup");
        char path[100];
        phi_model model;
        crowd *c = crowd_new(NULL);
        seen *s = c != NULL ? crowd_add(c, &desc, e2e_name((e2e_wire)w)) : NULL;
        REQUIRE(s != NULL);
        for (i = 0; i < 3; i++) CHECK(crowd_ask(s, "A question that counts for something."));
        (void)snprintf(path, sizeof path, "/m/overflow+times=1,%s/s/lookup", s->name);
        model = e2e_model((e2e_wire)w, path);
        CHECK_EQ_INT(set_model(s->agent, &model), PHI_OK);
        e2e_forget();
        CHECK(crowd_ask(s, "The last one."));
        if (!CHECK_EQ_INT(s->status, PHI_OK)) printf("  %s: %s\n", s->name, s->failure_text);
        CHECK_EQ_STR(s->text, ANSWER);
        CHECK_EQ_INT(s->events[PHI_EV_COMPACTION_START], 1);
        CHECK_EQ_INT(s->events[PHI_EV_COMPACTION_END], 1);
        CHECK_EQ_INT(s->events[PHI_EV_ERROR], 0);
        CHECK_EQ_INT(s->retries, 0);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)),
                     16); /* the history is whole */
        CHECK_EQ_INT(e2e_stat("total"), 3);
        crowd_free(c);
    }
}

/* ---- enough of waiting ---- */

/* An agent that waits for half a minute before its second attempt. */
static seen *in_delay(crowd **c, e2e_wire wire) {
    phi_agent_desc desc = trying(wire, "/m/status=429+retry-after=30/s/lookup");
    seen *s;
    int tries = 0;
    e2e_forget();
    *c = roomy_crowd();
    s = *c != NULL ? crowd_add(*c, &desc, e2e_name(wire)) : NULL;
    if (s == NULL || !crowd_prompt(s, "Begin.")) return NULL;
    while (s->retries == 0 && s->running && tries++ < 200) (void)crowd_step(*c, 20);
    return CHECK(s->retries == 1 && s->running && s->delays[0] == 30000) ? s : NULL;
}

TEST(an_abort_during_the_delay_ends_the_run_in_the_next_step) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        crowd *c;
        seen *s = in_delay(&c, (e2e_wire)w);
        phi_model model = e2e_model((e2e_wire)w, "/s/lookup");
        REQUIRE(s != NULL);
        CHECK_EQ_INT(phi_abort(s->agent), PHI_OK);
        (void)crowd_step(c, 0);
        CHECK(!s->running);
        CHECK_EQ_INT(s->status, PHI_CANCELLED);
        CHECK_EQ_INT(s->events[PHI_EV_ERROR], 0);
        CHECK_EQ_INT(phi__http_pending(crowd_runtime(c)->http), 0);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 1);
        CHECK_EQ_INT(e2e_stat("total"), 1);
        CHECK_EQ_INT(e2e_stat("active"), 0);
        CHECK_EQ_INT(set_model(s->agent, &model), PHI_OK);
        CHECK(crowd_ask(s, "And now?"));
        CHECK_EQ_STR(s->text, ANSWER);
        crowd_free(c);
    }
}

TEST(an_agent_that_is_freed_during_the_delay_asks_no_more) {
    crowd *c;
    seen *s = in_delay(&c, E2E_ANTHROPIC);
    REQUIRE(s != NULL);
    phi_agent_free(s->agent);
    s->running = false;
    CHECK_EQ_INT(crowd_step(c, 0), 0);
    CHECK_EQ_INT(phi_next_timeout(crowd_runtime(c)), -1);
    CHECK_EQ_INT(e2e_stat("total"), 1);
    crowd_free(c);
}

TEST(a_runtime_closes_at_once_during_the_delay) {
    crowd *c;
    seen *s = in_delay(&c, E2E_CHAT);
    REQUIRE(s != NULL);
    crowd_free(c); /* checks that closing takes no five seconds */
    CHECK_EQ_INT(e2e_stat("total"), 1);
}

/* The step that ends the run closes the connection, too: the server sees it go without another step. */
TEST(the_connection_is_released_by_the_step_after_an_abort) {
    int w, tries;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = trying((e2e_wire)w, "/m/delay=50/s/slow-50");
        crowd *c = roomy_crowd();
        seen *s;
        e2e_forget();
        s = c != NULL ? crowd_add(c, &desc, e2e_name((e2e_wire)w)) : NULL;
        REQUIRE(s != NULL && crowd_prompt(s, "Begin."));
        for (tries = 0; tries < 200 && s->events[PHI_EV_TEXT] < 2; tries++) (void)crowd_step(c, 20);
        CHECK_EQ_INT(e2e_stat("open"), 1);
        CHECK_EQ_INT(phi_abort(s->agent), PHI_OK);
        (void)crowd_step(c, 0);
        CHECK(!s->running);
        CHECK_EQ_INT(phi__http_pending(crowd_runtime(c)->http), 0);
        for (tries = 0; tries < 200 && e2e_stat("open") > 0; tries++) pause_ms(10);
        CHECK_EQ_INT(e2e_stat("open"), 0);
        crowd_free(c);
    }
}

/* The same of an attempt that was given up on: it holds no connection while its successor waits. */
TEST(an_attempt_that_was_left_holds_no_connection_during_the_delay) {
    int w, tries;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = trying((e2e_wire)w, "/m/stall=4/s/lookup");
        crowd *c = roomy_crowd();
        seen *s;
        desc.deadlines.idle_ms = 700;
        desc.retry.initial_delay_ms = desc.retry.max_delay_ms = 30000;
        e2e_forget();
        s = c != NULL ? crowd_add(c, &desc, e2e_name((e2e_wire)w)) : NULL;
        REQUIRE(s != NULL && crowd_prompt(s, "Begin."));
        for (tries = 0; tries < 200 && s->retries == 0; tries++) (void)crowd_step(c, 20);
        REQUIRE(s->retries == 1 && s->running);
        CHECK_EQ_STR(s->text, "");
        CHECK_EQ_INT(s->events[PHI_EV_RETRACT], 1);
        CHECK_EQ_INT(phi__http_pending(crowd_runtime(c)->http), 0);
        for (tries = 0; tries < 200 && e2e_stat("open") > 0; tries++) pause_ms(10);
        CHECK_EQ_INT(e2e_stat("open"), 0);
        CHECK_EQ_INT(phi_abort(s->agent), PHI_OK);
        (void)crowd_step(c, 0);
        CHECK(!s->running);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 1);
        crowd_free(c);
    }
}

/* ---- many at once ---- */

/* Whatever had come of it, its call too: the broken answer is not run, the whole one is, once. */
TEST(an_answer_may_break_off_after_any_event_and_its_call_is_run_once) {
    static const char *const hows[] = {"eof", "cut", "rst", "end"};
    enum { EVENTS = 12, MANY = 4 * EVENTS * 2 };
    int w, i;
    for (w = 0; w < E2E_WIRES; w++) {
        crowd *c = crowd_new(NULL);
        seen *s[MANY];
        char names[MANY][80];
        int retries = 0;
        REQUIRE(c != NULL);
        for (i = 0; i < MANY; i++) {
            char path[140];
            phi_agent_desc desc;
            (void)snprintf(names[i], sizeof names[i], "%s=%d+on-turn=%d+times=1,%s%d", hows[i % 4],
                           i / 8, i / 4 % 2, e2e_name((e2e_wire)w), i);
            (void)snprintf(path, sizeof path, "/m/%s/s/lookup", names[i]);
            desc = trying((e2e_wire)w, path);
            s[i] = crowd_add(c, &desc, names[i]);
            REQUIRE(s[i] != NULL && crowd_prompt(s[i], "Begin."));
        }
        CHECK(crowd_run(c, 60));
        for (i = 0; i < MANY; i++) {
            bool good = s[i]->status == PHI_OK && strcmp(s[i]->text, ANSWER) == 0 &&
                        s[i]->retries <= 1 && s[i]->events[PHI_EV_RETRACT] <= s[i]->retries &&
                        s[i]->events[PHI_EV_TOOL_START] == 1 &&
                        phi_thread_message_count(phi_agent_thread(s[i]->agent)) == 4 &&
                        crowd_history_holds(s[i]);
            retries += s[i]->retries;
            if (!CHECK(good))
                printf("  %s: %s, %d retries, \"%s\" %s\n", names[i], phi_status_text(s[i]->status),
                       s[i]->retries, s[i]->text, s[i]->failure_text);
        }
        CHECK(retries > MANY / 4 && retries < MANY);
        crowd_free(c);
    }
}

TEST(a_hundred_agents_that_fail_in_every_way_are_all_answered) {
    static const char *const hows[] = {"status=429+retry-after-ms=30",
                                       "status=529",
                                       "eof=4",
                                       "status=503+html",
                                       "rst=4",
                                       "rst=3",
                                       "error-event=3",
                                       "status=500+empty-body",
                                       "json-error",
                                       "end=2"};
    enum { MANY = 100 };
    crowd *c = crowd_new(NULL);
    seen *s[MANY];
    char names[MANY][64];
    int i, failed, different = 0;
    REQUIRE(c != NULL);
    e2e_forget();
    for (i = 0; i < MANY; i++) {
        char path[120];
        phi_agent_desc desc;
        (void)snprintf(names[i], sizeof names[i], "%s+times=%d,many%d", hows[i / 2 % 10],
                       1 + i / 20 % 3, i);
        (void)snprintf(path, sizeof path, "/m/%s/s/lookup", names[i]);
        desc = trying((e2e_wire)(i % 2), path);
        s[i] = crowd_add(c, &desc, names[i]);
        REQUIRE(s[i] != NULL && crowd_prompt(s[i], "Begin."));
    }
    CHECK(crowd_run(c, 60));
    for (i = 0, failed = 0; i < MANY; i++) {
        bool good = s[i]->status == PHI_OK && strcmp(s[i]->text, ANSWER) == 0 &&
                    s[i]->retries == 1 + i / 20 % 3 && s[i]->events[PHI_EV_TOOL_START] == 1 &&
                    phi_thread_message_count(phi_agent_thread(s[i]->agent)) == 4 &&
                    crowd_history_holds(s[i]);
        failed += s[i]->retries;
        if (i > 0 && s[i]->delays[0] != s[i - 1]->delays[0]) different++;
        if (!CHECK(good))
            printf("  %s: %s, %d retries, \"%s\" %s\n", names[i], phi_status_text(s[i]->status),
                   s[i]->retries, s[i]->text, s[i]->failure_text);
    }
    CHECK_EQ_INT(e2e_stat("total"), 2 * MANY + failed);
    CHECK(different > MANY / 2); /* they do not come back together */
    crowd_free(c);
}

MOCK_MAIN(e2e_options, TEST_ENTRY(a_429_with_a_delay_is_waited_out_and_answered),
          TEST_ENTRY(a_429_without_a_delay_is_tried_again_after_one_of_ours),
          TEST_ENTRY(a_529_is_tried_again_and_answered),
          TEST_ENTRY(a_503_with_a_page_is_tried_again_and_answered),
          TEST_ENTRY(a_second_turn_that_fails_is_tried_again_without_a_second_tool_call),
          TEST_ENTRY(an_answer_cut_in_mid_stream_is_retracted_and_comes_again),
          TEST_ENTRY(an_overload_in_mid_stream_is_retracted_and_comes_again),
          TEST_ENTRY(a_stream_without_an_event_is_tried_again_unseen),
          TEST_ENTRY(silence_and_keep_alives_are_left_for_another_attempt),
          TEST_ENTRY(four_attempts_are_made_with_the_same_request_and_then_the_run_fails),
          TEST_ENTRY(a_refused_connection_is_tried_three_times_more),
          TEST_ENTRY(what_no_second_attempt_can_change_is_asked_once),
          TEST_ENTRY(a_prompt_too_long_for_the_model_is_compacted_and_answered),
          TEST_ENTRY(an_abort_during_the_delay_ends_the_run_in_the_next_step),
          TEST_ENTRY(an_agent_that_is_freed_during_the_delay_asks_no_more),
          TEST_ENTRY(a_runtime_closes_at_once_during_the_delay),
          TEST_ENTRY(the_connection_is_released_by_the_step_after_an_abort),
          TEST_ENTRY(an_attempt_that_was_left_holds_no_connection_during_the_delay),
          TEST_ENTRY(an_answer_may_break_off_after_any_event_and_its_call_is_run_once),
          TEST_ENTRY(a_hundred_agents_that_fail_in_every_way_are_all_answered))
