/* test_delivery.c - the same conversation however its bytes arrive, and how connections are used.
   */
#include "e2e/e2e.h"
#include "agent/agent_history.h"
#include "log/thread.h"

static void check_story(const seen *s) {
    bool same = CHECK_EQ_STR(s->text, "I look.It is 42.");
    same = CHECK_EQ_INT(s->status, PHI_OK) && same;
    same = CHECK_EQ_INT(s->message_count, 4) && same;
    same = CHECK_EQ_STR(s->result, "42") && same;
    same = CHECK_EQ_INT(s->events[PHI_EV_TURN_END], 2) && same;
    same = CHECK(crowd_history_holds(s)) && same;
    if (!same) printf("  %s: %s\n", s->name, s->failure_text);
}

/* All of them at the same time in one runtime, then once more with the history of the first. */
static void all_stories(e2e_wire wire, const char *const *hows) {
    crowd *c = crowd_new(NULL);
    seen *s[CROWD_MOST];
    size_t n = 0, i;
    REQUIRE(c != NULL);
    for (; hows[n] != NULL; n++) {
        char path[200];
        phi_agent_desc desc;
        (void)snprintf(path, sizeof path, "%s/s/lookup", hows[n]);
        desc = e2e_desc(wire, path);
        s[n] = crowd_add(c, &desc, hows[n]);
        REQUIRE(s[n] != NULL);
    }
    for (i = 0; i < n; i++) (void)crowd_prompt(s[i], "Look it up.");
    CHECK(crowd_run(c, 60));
    for (i = 0; i < n; i++) check_story(s[i]);
    for (i = 0; i < n; i++) (void)crowd_prompt(s[i], "And again.");
    CHECK(crowd_run(c, 60));
    for (i = 0; i < n; i++) check_story(s[i]);
    for (i = 0; i < n; i++)
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s[i]->agent)), 8);
    crowd_free(c);
}

static const char *const everywhere[] = {"",
                                         "/m/bytes",
                                         "/m/split=1",
                                         "/m/split=2",
                                         "/m/split=3,7",
                                         "/m/split=4,400",
                                         "/m/crlf",
                                         "/m/cr",
                                         "/m/bom",
                                         "/m/tight",
                                         "/m/multiline",
                                         "/m/no-blank-end",
                                         "/m/unknown",
                                         "/m/pings",
                                         "/m/nulls",
                                         "/m/bytes+crlf+bom+pings+unknown",
                                         "/m/split=5,3+cr+multiline+tight",
                                         "/m/delay=5+pings",
                                         "/m/slow-headers=100",
                                         "/m/first-delay=100",
                                         "/m/type",
                                         "/m/no-usage",
                                         "/m/big-header=8",
                                         "/m/slow-body=100000",
                                         "/m/whole",
                                         "/m/whole+bytes",
                                         NULL};

TEST(an_anthropic_answer_is_the_same_however_it_arrives) { all_stories(E2E_ANTHROPIC, everywhere); }

TEST(a_chat_answer_is_the_same_however_it_arrives) { all_stories(E2E_CHAT, everywhere); }

TEST(an_anthropic_stream_needs_no_event_names) {
    static const char *const hows[] = {"/m/no-names", "/m/no-names+bytes", NULL};
    all_stories(E2E_ANTHROPIC, hows);
}

TEST(chat_servers_that_differ_give_the_same_answer) {
    static const char *const hows[] = {"/m/no-done",
                                       "/m/whole-calls",
                                       "/m/no-ids",
                                       "/m/no-index",
                                       "/m/args-object",
                                       "/m/usage-in-finish",
                                       "/m/whole-calls+no-index+no-ids+bytes",
                                       NULL};
    all_stories(E2E_CHAT, hows);
}

TEST(connections_that_end_in_every_way_are_made_anew) {
    static const char *const hows[] = {"/m/close", "/m/close-early", "/m/drop-second", "/m/http10",
                                       NULL};
    all_stories(E2E_ANTHROPIC, hows);
    all_stories(E2E_CHAT, hows);
}

TEST(ten_turns_use_one_connection) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "/s/lookup");
    seen *s = c != NULL ? crowd_add(c, &desc, "agent") : NULL;
    int i;
    REQUIRE(s != NULL);
    e2e_forget();
    for (i = 0; i < 5; i++) CHECK(crowd_ask(s, "Look it up."));
    CHECK_EQ_INT(e2e_stat("total"), 10);
    CHECK_EQ_INT(e2e_stat("connections"), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 20);
    crowd_free(c);
}

TEST(an_answer_of_ten_thousand_deltas_is_whole) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "/s/long-10000");
    phi_agent_desc chat = e2e_desc(E2E_CHAT, "/s/long-10000");
    seen *s = c != NULL ? crowd_add(c, &desc, "anthropic") : NULL;
    seen *t = s != NULL ? crowd_add(c, &chat, "chat") : NULL;
    REQUIRE(t != NULL && crowd_prompt(s, "Go.") && crowd_prompt(t, "Go."));
    CHECK(crowd_run(c, 60));
    CHECK_EQ_INT(s->events[PHI_EV_TEXT], 10000);
    CHECK_EQ_INT(t->events[PHI_EV_TEXT], 10000);
    CHECK_EQ_INT(s->text_len, 50000);
    CHECK_EQ_INT(t->text_len, 50000);
    crowd_free(c);
}

TEST(a_hundred_agents_share_sixteen_connections) {
    phi_runtime_desc rt = PHI_ZERO;
    crowd *c;
    seen *s[100];
    char names[100][24];
    int i, most;
    rt.max_connections = 16;
    c = crowd_new(&rt);
    REQUIRE(c != NULL);
    e2e_forget();
    for (i = 0; i < 100; i++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)(i % 2), i % 3 == 0 ? "/s/lookup" : "/s/slow-2");
        (void)snprintf(names[i], sizeof names[i], "agent %d", i);
        s[i] = crowd_add(c, &desc, names[i]);
        REQUIRE(s[i] != NULL && crowd_prompt(s[i], "All together."));
    }
    CHECK(crowd_run(c, 60));
    for (i = 0; i < 100; i++) {
        CHECK_EQ_INT(s[i]->status, PHI_OK);
        CHECK_EQ_STR(s[i]->text, i % 3 == 0 ? "I look.It is 42."
                                            : "one two three four five six seven eight nine ten");
    }
    most = e2e_stat("peak_active");
    CHECK(most > 8 && most <= 16);
    CHECK_EQ_INT(e2e_stat("total"), 134);
    CHECK(e2e_stat("connections") <= 16);
    crowd_free(c);
}

TEST(agents_come_and_go_while_others_stream) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_CHAT, "/s/slow-20");
    seen *s[20];
    int i;
    REQUIRE(c != NULL);
    for (i = 0; i < 20; i++) {
        s[i] = crowd_add(c, &desc, "agent");
        REQUIRE(s[i] != NULL && crowd_prompt(s[i], "Slowly."));
    }
    for (i = 0; i < 10; i++) {
        (void)crowd_step(c, 10);
        phi_agent_free(s[2 * i]->agent);
        s[2 * i]->running = false;
    }
    CHECK(crowd_run(c, 20));
    for (i = 0; i < 10; i++)
        CHECK_EQ_STR(s[2 * i + 1]->text, "one two three four five six seven eight nine ten");
    crowd_free(c);
}

MOCK_MAIN(e2e_options, TEST_ENTRY(an_anthropic_answer_is_the_same_however_it_arrives),
          TEST_ENTRY(a_chat_answer_is_the_same_however_it_arrives),
          TEST_ENTRY(an_anthropic_stream_needs_no_event_names),
          TEST_ENTRY(chat_servers_that_differ_give_the_same_answer),
          TEST_ENTRY(connections_that_end_in_every_way_are_made_anew),
          TEST_ENTRY(ten_turns_use_one_connection),
          TEST_ENTRY(an_answer_of_ten_thousand_deltas_is_whole),
          TEST_ENTRY(a_hundred_agents_share_sixteen_connections),
          TEST_ENTRY(agents_come_and_go_while_others_stream))
