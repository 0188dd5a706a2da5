/* test_keep.c - what stays in view of a run that fails or is cancelled: what is complete of it, or nothing. */
#include "support/rig.h"
#include "agent/agent_history.h"
#include "log/thread.h"

static phi_agent keeper(rig *r, phi_keep keep, phi_tool *echo) {
    phi_agent_desc desc = rig_desc();
    *echo = rig_echo();
    desc.tools = echo;
    desc.tool_count = 1;
    desc.keep = keep;
    return rig_agent(r, &desc);
}

/* A run that answers, one that calls a tool and then fails, and one more. */
static const char *third_request(rig *r, phi_keep keep) {
    static phi_tool echo;
    phi_agent agent = keeper(r, keep, &echo);
    rig_says(r, "First answer");
    CHECK_EQ_INT(phi_prompt(agent, "First"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    rig_call(r, "c1", "echo", "{}");
    rig_replies(r, 400, "", "{\"error\":{\"message\":\"no\"}}");
    CHECK_EQ_INT(phi_prompt(agent, "Second"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    rig_says(r, "Third answer");
    CHECK_EQ_INT(phi_prompt(agent, "Third"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent),
                                    phi_thread_message_count(phi_agent_thread(agent)) - 1)
                  ->content[0]
                  .text,
              "Third answer");
    return rig_request(r, rig_requests(r) - 1);
}

TEST(what_is_complete_stays_unless_asked_otherwise) {
    rig *r = rig_new();
    const char *request = third_request(r, PHI_KEEP_COMPLETE);
    CHECK(strstr(request, "First answer") != NULL);
    CHECK(strstr(request, "Second") != NULL);
    CHECK(strstr(request, "\"c1\"") != NULL);
    rig_free(r);
}

TEST(of_a_failed_run_nothing_may_stay_and_the_log_has_it_all) {
    rig *r = rig_new();
    const char *request = third_request(r, PHI_KEEP_NONE);
    CHECK(strstr(request, "First answer") != NULL); /* a run that ended well stays */
    CHECK(strstr(request, "Second") == NULL);
    CHECK(strstr(request, "\"c1\"") == NULL);
    CHECK(strstr(request, "Third") != NULL);
    rig_free(r);
}

TEST(of_a_cancelled_run_nothing_may_stay) {
    rig *r = rig_new();
    phi_tool echo;
    phi_agent agent = keeper(r, PHI_KEEP_NONE, &echo);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "First"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT),
                 PHI_MISUSE); /* nothing is in view */
    rig_says(r, "Here");
    CHECK_EQ_INT(phi_prompt(agent, "Second"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK(strstr(rig_request(r, 1), "First") == NULL);
    CHECK(phi_thread_message_count(phi_agent_thread(agent)) >=
          3); /* the history is what was said */
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(what_is_complete_stays_unless_asked_otherwise),
          TEST_ENTRY(of_a_failed_run_nothing_may_stay_and_the_log_has_it_all),
          TEST_ENTRY(of_a_cancelled_run_nothing_may_stay))
