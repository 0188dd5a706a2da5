/* test_hold.c - servers that keep the body of an answer open behind its last event, over real
   connections. */
#include "e2e/e2e.h"

#include <time.h>

static double now_s(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static seen *asks(crowd *c, e2e_wire wire, const char *path, int prompts) {
    phi_agent_desc desc = e2e_desc(wire, path);
    seen *s = crowd_add(c, &desc, e2e_name(wire));
    int i;
    for (i = 0; s != NULL && i < prompts; i++) {
        CHECK(crowd_ask(s, "Look it up."));
        CHECK_EQ_INT(s->status, PHI_OK);
        CHECK_EQ_STR(s->text, "I look.It is 42.");
        CHECK(s->usage.output > 0);
    }
    return s;
}

/* Twelve turns, which took a second each when the end of the body was waited for. */
TEST(a_server_that_keeps_its_connections_open_delays_no_turn) {
    crowd *c = crowd_new(NULL);
    double began = now_s();
    REQUIRE(c != NULL);
    (void)asks(c, E2E_CHAT, "/m/hold/s/lookup", 3);
    (void)asks(c, E2E_CHAT, "/m/hold+no-done/s/lookup", 1);
    (void)asks(c, E2E_ANTHROPIC, "/m/hold/s/lookup", 2);
    CHECK(now_s() - began < 6);
    crowd_free(c);
}

TEST(a_connection_whose_body_ends_late_is_used_again) {
    crowd *c = crowd_new(NULL);
    seen *s;
    double began;
    REQUIRE(c != NULL);
    e2e_forget();
    s = asks(c, E2E_CHAT, "/m/hold=100/s/hello", 0);
    REQUIRE(s != NULL && crowd_ask(s, "Hello."));
    for (began = now_s(); now_s() - began < 0.5;) (void)crowd_step(c, 20);
    CHECK(crowd_ask(s, "Hello again."));
    CHECK_EQ_INT(e2e_stat("total"), 2);
    CHECK_EQ_INT(e2e_stat("connections"), 1);
    crowd_free(c);
}

TEST(a_body_that_never_ends_is_given_up_in_the_background) {
    crowd *c = crowd_new(NULL);
    seen *s;
    double began;
    REQUIRE(c != NULL);
    e2e_forget();
    s = asks(c, E2E_CHAT, "/m/hold/s/hello", 0);
    REQUIRE(s != NULL && crowd_ask(s, "Hello."));
    CHECK_EQ_INT(e2e_stat("active"), 1);
    for (began = now_s(); now_s() - began < 1.5;) (void)crowd_step(c, 100);
    CHECK_EQ_INT(e2e_stat("gone"), 1);
    CHECK_EQ_INT(e2e_stat("active"), 0);
    crowd_free(c);
}

TEST(held_bodies_leave_room_for_others_where_connections_are_few) {
    phi_runtime_desc rt = PHI_ZERO;
    crowd *c;
    double began = now_s();
    rt.max_connections = 1;
    c = crowd_new(&rt);
    REQUIRE(c != NULL);
    (void)asks(c, E2E_CHAT, "/m/hold/s/lookup", 3);
    CHECK(now_s() - began < 3);
    crowd_free(c);
}

TEST(a_runtime_is_closed_while_a_body_is_held) {
    crowd *c = crowd_new(NULL);
    seen *s;
    REQUIRE(c != NULL);
    s = asks(c, E2E_ANTHROPIC, "/m/hold/s/lookup", 1);
    REQUIRE(s != NULL);
    phi_agent_free(s->agent);
    s->running = false;
    CHECK_EQ_INT(phi_runtime_close(crowd_runtime(c)), PHI_OK);
    crowd_free(c);
}

/* The first counts what is open at the server, where others would still leave something. */
MOCK_MAIN(e2e_options, TEST_ENTRY(a_body_that_never_ends_is_given_up_in_the_background),
          TEST_ENTRY(a_connection_whose_body_ends_late_is_used_again),
          TEST_ENTRY(a_server_that_keeps_its_connections_open_delays_no_turn),
          TEST_ENTRY(held_bodies_leave_room_for_others_where_connections_are_few),
          TEST_ENTRY(a_runtime_is_closed_while_a_body_is_held))
