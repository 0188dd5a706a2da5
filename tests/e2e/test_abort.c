/* test_abort.c - phi_abort in every phase of a run: what has arrived is kept, the connection is let
   go at once, nothing of the run is left, and the same agent answers the next prompt. */
#include "e2e/e2e.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "support/set.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void pause_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

/* The next steps: the first ends the run, and soon nothing of the transfer is left. */
static void abort_now(seen *s) {
    phi_runtime *rt = crowd_runtime(s->of);
    int steps = 0;
    CHECK_EQ_INT(phi_abort(s->agent), PHI_OK);
    (void)crowd_step(s->of, 0);
    CHECK(!s->running);
    CHECK(!phi_agent_get_info(s->agent).running);
    CHECK_EQ_INT(s->status, PHI_CANCELLED);
    CHECK_EQ_INT(s->events[PHI_EV_ERROR], 0);
    CHECK(crowd_history_holds(s));
    while (phi__http_pending(rt->http) > 0 && steps++ < 5) (void)crowd_step(s->of, 0);
    CHECK_EQ_INT(phi__http_pending(rt->http), 0);
}

/* The agent is asked again, elsewhere, with all of its history. */
static void answers_again(seen *s, e2e_wire wire) {
    phi_model model = e2e_model(wire, "/s/lookup");
    CHECK_EQ_INT(set_model(s->agent, &model), PHI_OK);
    CHECK(crowd_ask(s, "And now?"));
    if (!CHECK_EQ_INT(s->status, PHI_OK)) printf("  %s: %s\n", s->name, s->failure_text);
    CHECK_EQ_STR(s->text, "I look.It is 42.");
}

static phi_stop_reason last_reason(const seen *s) {
    size_t n = phi_thread_message_count(phi_agent_thread(s->agent));
    return n > 0 ? phi_thread_message_at(phi_agent_thread(s->agent), n - 1)->stop_reason
                 : PHI_STOP_REASON_NONE;
}

/* Steps until an event of the kind has come `n` times. */
static bool until(seen *s, phi_event_kind kind, int n) {
    int tries = 0;
    while (s->events[kind] < n && s->running && tries++ < 400) (void)crowd_step(s->of, 20);
    return CHECK(s->events[kind] >= n && s->running);
}

/* A step that does all there is to do, however slow the machine is. */
static crowd *roomy_crowd(void) {
    phi_runtime_desc rt = PHI_ZERO;
    rt.step_budget_us = 1000000;
    rt.step_budget_bytes = 65536;
    return crowd_new(&rt);
}

static seen *agent_at(crowd **c, e2e_wire wire, const char *path) {
    phi_agent_desc desc = e2e_desc(wire, path);
    seen *s;
    *c = roomy_crowd();
    s = *c != NULL ? crowd_add(*c, &desc, e2e_name(wire)) : NULL;
    return s != NULL && crowd_prompt(s, "Begin.") ? s : NULL;
}

TEST(an_abort_before_the_first_step_ends_the_run) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        crowd *c;
        seen *s = agent_at(&c, (e2e_wire)w, "/s/hello");
        REQUIRE(s != NULL);
        abort_now(s);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 1);
        answers_again(s, (e2e_wire)w);
        crowd_free(c);
    }
}

/* A port that listens and whose queue is full: the kernel leaves further connections without an
   answer. */
static int deaf_port(int *listener, int *filler, size_t fillers) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    size_t i;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(*listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(*listener, 0) != 0 ||
        getsockname(*listener, (struct sockaddr *)&address, &size) != 0)
        return 0;
    for (i = 0; i < fillers; i++) {
        filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(filler[i], (struct sockaddr *)&address, sizeof address);
    }
    return ntohs(address.sin_port);
}

TEST(an_abort_while_it_connects_ends_the_run) {
    int w, listener, filler[3];
    int port = deaf_port(&listener, filler, 3);
    size_t i;
    REQUIRE(port > 0);
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, "");
        char url[64];
        crowd *c = roomy_crowd();
        seen *s;
        int steps;
        (void)snprintf(url, sizeof url, "http://127.0.0.1:%d", port);
        desc.model.base_url = url;
        s = c != NULL ? crowd_add(c, &desc, e2e_name((e2e_wire)w)) : NULL;
        REQUIRE(s != NULL && crowd_prompt(s, "Begin."));
        for (steps = 0; steps < 5; steps++) (void)crowd_step(c, 20);
        CHECK(s->running);
        abort_now(s);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 2);
        CHECK_EQ_INT(last_reason(s), PHI_STOP_REASON_ABORTED);
        answers_again(s, (e2e_wire)w);
        crowd_free(c);
    }
    for (i = 0; i < 3; i++) (void)close(filler[i]);
    (void)close(listener);
}

static int open_descriptors(void) {
    int fd, n = 0;
    for (fd = 0; fd < 1024; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

TEST(an_abort_while_a_name_is_looked_up_ends_the_run) {
    int descriptors = open_descriptors(), tries;
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    crowd *c = roomy_crowd();
    seen *s;
    desc.model.base_url = "http://no-such-host.invalid";
    s = c != NULL ? crowd_add(c, &desc, "lookup") : NULL;
    REQUIRE(s != NULL && crowd_prompt(s, "Begin."));
    (void)crowd_step(c, 0);
    CHECK_EQ_INT(phi_abort(s->agent), PHI_OK);
    (void)crowd_step(c, 0);
    CHECK(!s->running);
    answers_again(s, E2E_ANTHROPIC);
    crowd_free(c);
    /* The system's resolver ends when it ends, and keeps two descriptors until then. */
    for (tries = 0; tries < 500 && open_descriptors() > descriptors; tries++) pause_ms(10);
}

TEST(an_abort_while_the_server_is_silent_ends_the_run) {
    int w, steps;
    for (w = 0; w < E2E_WIRES; w++) {
        crowd *c;
        seen *s = agent_at(&c, (e2e_wire)w, "/m/slow-headers/s/hello");
        REQUIRE(s != NULL);
        for (steps = 0; steps < 5; steps++) (void)crowd_step(c, 20);
        CHECK(s->running);
        abort_now(s);
        answers_again(s, (e2e_wire)w);
        crowd_free(c);
    }
}

TEST(an_abort_in_mid_stream_keeps_the_text_so_far) {
    int w, tries;
    for (w = 0; w < E2E_WIRES; w++) {
        crowd *c;
        char text[200];
        seen *s;
        e2e_forget();
        s = agent_at(&c, (e2e_wire)w, "/m/delay=50/s/slow-50");
        REQUIRE(s != NULL && until(s, PHI_EV_TEXT, 2));
        abort_now(s);
        crowd_message_text(s, 1, text, sizeof text);
        CHECK_EQ_STR(text, s->text);
        CHECK(strncmp(text, "one two", 7) == 0);
        CHECK_EQ_INT(last_reason(s), PHI_STOP_REASON_ABORTED);
        for (tries = 0; tries < 100 && e2e_stat("active") > 0; tries++) pause_ms(20);
        CHECK_EQ_INT(e2e_stat("active"), 0);
        CHECK_EQ_INT(e2e_stat("gone"), 1);
        answers_again(s, (e2e_wire)w);
        crowd_free(c);
    }
}

TEST(an_abort_in_a_flood_of_deltas_ends_the_run) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        crowd *c;
        seen *s = agent_at(&c, (e2e_wire)w, "/s/long-100000");
        REQUIRE(s != NULL && until(s, PHI_EV_TEXT, 100));
        abort_now(s);
        CHECK(s->text_len < 500000);
        answers_again(s, (e2e_wire)w);
        crowd_free(c);
    }
}

TEST(a_call_whose_arguments_were_aborted_is_never_run) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        crowd *c;
        seen *s = agent_at(&c, (e2e_wire)w, "/m/delay=20/s/bigargs-100000");
        REQUIRE(s != NULL && until(s, PHI_EV_TOOL_ARGUMENTS, 5));
        abort_now(s);
        CHECK_EQ_INT(s->events[PHI_EV_TOOL_START], 0);
        CHECK_EQ_INT(last_reason(s), PHI_STOP_REASON_ABORTED);
        answers_again(s, (e2e_wire)w);
        crowd_free(c);
    }
}

TEST(an_abort_kills_the_command_that_runs) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, "/s/sleeper");
        phi_toolset set;
        crowd *c = roomy_crowd();
        seen *s;
        (void)phi_tools_init(&set, NULL);
        desc.tools = set.tools;
        desc.tool_count = set.count;
        s = c != NULL ? crowd_add(c, &desc, e2e_name((e2e_wire)w)) : NULL;
        REQUIRE(s != NULL && crowd_prompt(s, "Begin.") && until(s, PHI_EV_TOOL_START, 1));
        (void)crowd_step(c, 20);
        abort_now(s);
        CHECK_EQ_STR(s->result, "Cancelled");
        CHECK(s->is_error);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 3);
        {
            phi_model model = e2e_model((e2e_wire)w, "/s/hello");
            CHECK_EQ_INT(set_model(s->agent, &model), PHI_OK);
            CHECK(crowd_ask(s, "And now?"));
            CHECK_EQ_INT(s->status, PHI_OK);
        }
        crowd_free(c);
    }
}

static void abort_at_text(seen *s, const phi_event *event) {
    if (event->kind == PHI_EV_TEXT) CHECK_EQ_INT(phi_abort(s->agent), PHI_OK);
}

TEST(a_host_may_abort_fifty_agents_while_it_reads_their_events) {
    crowd *c = roomy_crowd();
    seen *s[50];
    int i;
    REQUIRE(c != NULL);
    for (i = 0; i < 50; i++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)(i % 2), "/s/long-20000");
        s[i] = crowd_add(c, &desc, "agent");
        REQUIRE(s[i] != NULL && crowd_prompt(s[i], "Begin."));
        s[i]->on_event = abort_at_text;
    }
    CHECK(crowd_run(c, 30));
    for (i = 0; i < 50; i++) {
        CHECK_EQ_INT(s[i]->status, PHI_CANCELLED);
        CHECK_EQ_INT(s[i]->events[PHI_EV_AGENT_END], 1);
        CHECK_EQ_INT(last_reason(s[i]), PHI_STOP_REASON_ABORTED);
    }
    crowd_free(c);
}

TEST(an_agent_freed_in_mid_stream_lets_go_of_its_connection) {
    crowd *c;
    seen *s = agent_at(&c, E2E_ANTHROPIC, "/m/delay=50/s/slow-50");
    int steps = 0;
    REQUIRE(s != NULL && until(s, PHI_EV_TEXT, 1));
    phi_agent_free(s->agent);
    s->running = false;
    while (phi__http_pending(crowd_runtime(c)->http) > 0 && steps++ < 5) (void)crowd_step(c, 0);
    CHECK_EQ_INT(phi__http_pending(crowd_runtime(c)->http), 0);
    crowd_free(c);
}

MOCK_MAIN(e2e_options, TEST_ENTRY(an_abort_before_the_first_step_ends_the_run),
          TEST_ENTRY(an_abort_while_it_connects_ends_the_run),
          TEST_ENTRY(an_abort_while_a_name_is_looked_up_ends_the_run),
          TEST_ENTRY(an_abort_while_the_server_is_silent_ends_the_run),
          TEST_ENTRY(an_abort_in_mid_stream_keeps_the_text_so_far),
          TEST_ENTRY(an_abort_in_a_flood_of_deltas_ends_the_run),
          TEST_ENTRY(a_call_whose_arguments_were_aborted_is_never_run),
          TEST_ENTRY(an_abort_kills_the_command_that_runs),
          TEST_ENTRY(a_host_may_abort_fifty_agents_while_it_reads_their_events),
          TEST_ENTRY(an_agent_freed_in_mid_stream_lets_go_of_its_connection))
