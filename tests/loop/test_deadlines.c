/* test_deadlines.c - troubles of docs/errors.md that need a clock to be exact: deadlines, as they are
   when nothing was set, to the millisecond. */
#include "support/rig.h"

/* Lets `before` ms pass, in which nothing may happen, and then two more. */
static void late_after(const phi_agent_desc *desc, const char *body, uint32_t before,
                       const char *want) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, desc);
    rig_hangs(r, body);
    rig_says(r, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Are you there?"), PHI_OK);
    (void)rig_step(r);
    (void)rig_step(r);
    rig_forget(r);
    rig_pass_ms(r, before);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_STR(rig_story(r), "");
    rig_pass_ms(r, 1);
    (void)rig_step(r); /* passed: one more look, a millisecond later */
    rig_pass_ms(r, 1);
    (void)rig_step(r);
    CHECK_EQ_INT(rig_step(r), 0);
    if (!CHECK(strstr(rig_story(r), want) != NULL)) printf("%s", rig_story(r));
    CHECK(strstr(rig_story(r), "AgentEnd a deadline passed, 2 messages\n") != NULL);
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "And now?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages\n") != NULL);
    CHECK(strstr(rig_request(r, 1), "Are you there?") != NULL);
    rig_free(r);
}

#define STARTED                                                                                    \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{}}}\n\n"      \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"                                     \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"   \
    "{\"type\":\"text_delta\",\"text\":\"Yes\"}}\n\n"

TEST(a_server_may_take_five_minutes_to_begin) {
    late_after(NULL, "", 299999, "Error timeout \"no answer within 300000 ms\"");
}

TEST(an_answer_may_be_silent_for_two_minutes) {
    late_after(NULL, STARTED, 119999, "the answer was silent for 120000 ms\" 200\n");
}

TEST(a_deadline_that_was_set_counts_instead) {
    phi_agent_desc desc = rig_desc();
    desc.deadlines.first_event_ms = 5;
    late_after(&desc, "", 4, "Error timeout \"no answer within 5 ms\"");
    desc = rig_desc();
    desc.deadlines.idle_ms = 7;
    late_after(&desc, STARTED, 6, "the answer was silent for 7 ms\" 200\n");
    desc = rig_desc();
    desc.deadlines.total_ms = 1000;
    late_after(&desc, STARTED, 999, "the answer was not whole after 1000 ms\" 200\n");
}

TEST(without_a_deadline_an_answer_may_be_silent_for_hours) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.deadlines.idle_ms = PHI_UNLIMITED;
    desc.limits.max_duration_ms = PHI_UNLIMITED;
    agent = rig_agent(r, &desc);
    rig_hangs(r, STARTED);
    CHECK_EQ_INT(phi_prompt(agent, "Are you there?"), PHI_OK);
    (void)rig_step(r);
    rig_pass_ms(r, 36000000);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK(strstr(rig_story(r), "Error") == NULL);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_server_may_take_five_minutes_to_begin),
          TEST_ENTRY(an_answer_may_be_silent_for_two_minutes),
          TEST_ENTRY(a_deadline_that_was_set_counts_instead),
          TEST_ENTRY(without_a_deadline_an_answer_may_be_silent_for_hours))
