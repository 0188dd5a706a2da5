/* test_session.c - an agent's sessions: begun anew, rotated, gone on with; and what their runs are
   called then. */
#include "support/ask.h"
#include "support/heard.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"

TEST(a_new_session_has_a_new_id_no_counters_no_last_loop_and_the_same_history) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    heard h;
    char want[160];
    bool rotated = true;
    heard_begin(&h, r);
    rig_says(r, "a");
    rig_says(r, "b");
    ask(r, agent, "1");
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_info(agent).session_id.len, 36);
    CHECK_STR(phi_agent_get_info(agent).loop_id, "");
    rig_pass_ms(r, 100000);
    CHECK_EQ_INT(phi_agent_rotate(agent, 10, &rotated), PHI_OK);
    CHECK(!rotated); /* it has not been active in this session */
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    ask(r, agent, "2");
    (void)snprintf(want, sizeof want, "%.36s.anthropic.test-model.1",
                   phi_agent_get_info(agent).session_id.at);
    CHECK_EQ_STR(h.loop_id, want);
    CHECK_EQ_STR(h.parent_loop_id, "");
    CHECK(strstr(rig_request(r, 1), "\"1\"") != NULL);
    rig_free(r);
}

TEST(a_session_is_rotated_when_the_last_run_began_longer_ago_than_the_threshold) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    bool rotated = true;
    int i;
    CHECK_EQ_INT(phi_agent_rotate(agent, 0, &rotated), PHI_OK);
    CHECK(!rotated); /* it never ran */
    rig_says(r, "a");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    for (i = 0; i < 20 && rig_step(r) > 0; i++) {}
    CHECK(!phi_agent_get_info(agent).running);
    rig_pass_ms(r, 1000);
    CHECK_EQ_INT(phi_agent_rotate(agent, 1000, &rotated), PHI_OK);
    CHECK(!rotated); /* as long, not longer */
    CHECK_STR(phi_agent_get_info(agent).session_id, "session");
    rig_pass_ms(r, 1);
    CHECK_EQ_INT(phi_agent_rotate(agent, 1000, &rotated), PHI_OK);
    CHECK(rotated);
    CHECK_EQ_INT(phi_agent_get_info(agent).session_id.len, 36);
    rig_pass_ms(r, 5000);
    CHECK_EQ_INT(phi_agent_rotate(agent, 0, &rotated), PHI_OK);
    CHECK(!rotated); /* nothing was done in the new one */
    rig_free(r);
}

TEST(a_threshold_of_zero_rotates) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    bool rotated = false;
    rig_says(r, "a");
    ask(r, agent, "1"); /* the clock has moved */
    CHECK_EQ_INT(phi_agent_rotate(agent, 0, &rotated), PHI_OK);
    CHECK(rotated);
    rig_free(r);
}

static bool is_rfc3339(const char *text) {
    static const char shape[] = "dddd-dd-ddTdd:dd:dd";
    size_t i;
    for (i = 0; shape[i] != '\0'; i++)
        if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i]) return false;
    if (text[i] == '.')
        for (i++; text[i] >= '0' && text[i] <= '9'; i++) {}
    return strcmp(text + i, "Z") == 0 || strcmp(text + i, "+00:00") == 0;
}

TEST(continuing_counts_initial_as_default_and_tags_reruns_and_branches_with_the_time) {
    static const phi_continuation asked[] = {PHI_CONTINUATION_INITIAL, PHI_CONTINUATION_DEFAULT,
                                             PHI_CONTINUATION_RERUN, PHI_CONTINUATION_BRANCH,
                                             PHI_CONTINUATION_COMPACTION};
    static const phi_continuation got[] = {PHI_CONTINUATION_DEFAULT, PHI_CONTINUATION_DEFAULT,
                                           PHI_CONTINUATION_RERUN, PHI_CONTINUATION_BRANCH,
                                           PHI_CONTINUATION_COMPACTION};
    size_t i;
    for (i = 0; i < 5; i++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL);
        heard h;
        heard_begin(&h, r);
        rig_replies(r, 500, "", "");
        rig_says(r, "fine");
        ask(r, agent, "go");
        CHECK_EQ_STR(h.tag, "");
        CHECK_EQ_INT(phi_continue(agent, asked[i]), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK_EQ_INT(h.continuation, got[i]);
        CHECK_EQ_STR(h.parent_loop_id, "session.anthropic.test-model.1");
        if (got[i] == PHI_CONTINUATION_RERUN || got[i] == PHI_CONTINUATION_BRANCH)
            CHECK(is_rfc3339(h.tag));
        else
            CHECK_EQ_STR(h.tag, "");
        rig_free(r);
    }
}

TEST_MAIN(
    TEST_ENTRY(a_new_session_has_a_new_id_no_counters_no_last_loop_and_the_same_history),
    TEST_ENTRY(a_session_is_rotated_when_the_last_run_began_longer_ago_than_the_threshold),
    TEST_ENTRY(a_threshold_of_zero_rotates),
    TEST_ENTRY(continuing_counts_initial_as_default_and_tags_reruns_and_branches_with_the_time))
