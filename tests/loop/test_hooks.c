/* test_hooks.c - corners of hooks and filters that no line of the checklist names. */
#include "support/rig.h"

static phi_agent hooked(rig *r, uint32_t points) {
    phi_agent_desc desc = rig_desc();
    rig_hooks(r, &desc, points);
    return rig_agent(r, &desc);
}

static phi_verdict nothing_left(void *user_data, phi_hook *hook) {
    (void)user_data;
    hook->messages = NULL;
    hook->message_count = 0;
    return PHI_ALLOW;
}

TEST(a_list_with_nothing_to_send_is_an_error_in_words_and_no_request) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.hook_fn = nothing_left;
    desc.hook_points = PHI_HOOK_CONVERT_TO_LLM;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r),
                 "Error invalid_request \"the hooks have left nothing to be sent\"") != NULL);
    CHECK_EQ_INT(rig_requests(r), 0);
    rig_free(r);
}

TEST(an_abort_while_before_loop_waits_ends_the_run_unbegun) {
    rig *r = rig_new();
    phi_agent agent = hooked(r, PHI_HOOK_BEFORE_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 0);
    CHECK(strstr(rig_story(r), "AgentStart") == NULL);
    CHECK(strstr(rig_story(r), "AgentEnd cancelled, 0 messages") != NULL);
    CHECK_EQ_INT(phi_message_count(agent), 0);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_STALE);
    rig_free(r);
}

TEST(a_filter_that_rejects_without_words_is_given_some) {
    rig *r = rig_new();
    phi_agent agent = hooked(r, PHI_HOOK_FILTER);
    rig_answers(r, PHI_HOOK_FILTER, PHI_DENY, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 0);
    CHECK(strstr(rig_story(r), "InputRejected \"Rejected by an input filter\"") != NULL);
    CHECK(strstr(rig_story(r), "rejected \"Rejected by an input filter\"") != NULL);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_list_with_nothing_to_send_is_an_error_in_words_and_no_request),
          TEST_ENTRY(an_abort_while_before_loop_waits_ends_the_run_unbegun),
          TEST_ENTRY(a_filter_that_rejects_without_words_is_given_some))
