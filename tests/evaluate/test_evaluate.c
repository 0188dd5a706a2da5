/* Parallel evaluation: branches, selections, lanes, events. */
#include "evaluate/actors.h"

/* ---- selections ---- */

TEST(the_first_branch_goes_on_as_the_conversation) {
    stage s;
    phi_evaluation e;
    stage_set(&s, rig_new(), 3);
    REQUIRE(stage_open(&s));
    s.actors[1].polls = 5; /* it ends last */
    stage_evaluate(&s);
    e = stage_result(&s);
    CHECK_EQ_INT(e.status, PHI_OK);
    CHECK_EQ_INT(e.selected, 0);
    CHECK_EQ_INT(e.branch_count, 3);
    CHECK_STR(e.query, "Why?");
    CHECK_STR(e.branches[0].text, "one");
    CHECK_STR(e.branches[1].text, "two");
    CHECK_STR(e.branches[2].text, "three");
    CHECK_STR(e.branches[0].loop_id, "s.play.a.1");
    CHECK_STR(e.branches[1].loop_id, "s.play.b.2");
    CHECK_STR(e.branches[2].loop_id, "s.play.c.3");
    CHECK_STR(e.branches[1].lane, "branch/s.play.b.2");
    CHECK_EQ_INT(e.branches[1].status, PHI_OK);
    CHECK_EQ_INT(e.branches[2].usage.total_tokens, 140);
    CHECK_EQ_INT(e.total_usage.total_tokens, 120 + 130 + 140);
    CHECK_EQ_INT(e.evaluation_usage.total_tokens, 0);
    CHECK_EQ_INT(e.judge_loop_id.len, 0);
    CHECK_EQ_INT(phi_agent_usage(s.agent).total_tokens, 120 + 130 + 140);
    CHECK_EQ_INT(phi_thread_usage(phi_agent_thread(s.agent)).total_tokens, 120 + 130 + 140);
    CHECK_STR(phi_thread_lane(phi_agent_thread(s.agent)), "branch/s.play.a.1");
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|one");
    CHECK_EQ_STR(lane_texts(s.agent, "branch/s.play.c.3"), "Why?|three");
    CHECK_EQ_STR(lane_texts(s.agent, "default"), "");
    CHECK_EQ_INT(phi_message_count(s.agent), 2);
    CHECK_EQ_INT(phi_prompt(s.agent, "And?"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(s.actors[0].messages, 3);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|one|And?|own");
    CHECK_STR(phi_agent_last_loop_id(s.agent), "s.play.own.1");
    rig_free(s.r);
}

TEST(figures_select) {
    static const struct {
        phi_evaluate_by by;
        size_t want;
    } rows[] = {
        {PHI_EVALUATE_TOKEN_EFFICIENT, 2}, {PHI_EVALUATE_ELABORATE, 1}, {PHI_EVALUATE_FIRST, 0}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        stage s;
        stage_set(&s, rig_new(), 3);
        REQUIRE(stage_open(&s));
        s.actors[2].output = 500;
        s.actors[3].output = 1;
        s.desc.by = rows[i].by;
        stage_evaluate(&s);
        CHECK_EQ_INT(stage_result(&s).selected, rows[i].want);
        rig_free(s.r);
    }
}

TEST(a_transparent_evaluation_has_one_branch) {
    stage s;
    stage_set(&s, rig_new(), 1);
    REQUIRE(stage_open(&s));
    s.desc.by = PHI_EVALUATE_TRANSPARENT;
    stage_evaluate(&s);
    CHECK_EQ_INT(stage_result(&s).selected, 0);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|one");
    rig_free(s.r);
}

TEST(a_judge_selects_and_has_the_next_number) {
    stage s;
    phi_evaluation e;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    s.actors[5].text = "I pick 2.";
    stage_evaluate(&s);
    e = stage_result(&s);
    CHECK_EQ_INT(e.status, PHI_OK);
    CHECK_EQ_INT(e.selected, 1);
    CHECK_STR(e.judge_loop_id, "s.play.judge.3");
    CHECK_EQ_INT(e.evaluation_usage.total_tokens, 160);
    CHECK_EQ_INT(e.total_usage.total_tokens, 120 + 130 + 160);
    CHECK_EQ_INT(e.branches[0].original_count, 2);
    CHECK_EQ_STR(s.actors[5].asked,
                 "Prior conversation context:\nUser: Hello\nAssistant: own\n\nOriginal query:\n"
                 "Why?\n\nResponse 1:\none\n\nResponse 2:\ntwo\n\nWhich response is best? Reply "
                 "with ONLY the response number (e.g., \"1\" or \"2\").");
    CHECK(strstr(s.actors[5].system, "impartial judge") != NULL);
    CHECK_EQ_STR(s.actors[1].system, "Be brief.");
    CHECK_EQ_INT(s.actors[1].messages, 3);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own|Why?|two");
    CHECK_EQ_INT(phi_message_count(s.agent), 4);
    CHECK(strstr(lane_texts(s.agent, "~judge/s.play.judge.3"), "I pick 2.") != NULL);
    CHECK_EQ_STR(lane_texts(s.agent, "default"), "Hello|own");
    rig_free(s.r);
}

TEST(events_bracket_the_branches) {
    stage s;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    stage_evaluate(&s);
    printf("%s", rig_story(s.r));
    rig_free(s.r);
}

TEST_MAIN(TEST_ENTRY(the_first_branch_goes_on_as_the_conversation), TEST_ENTRY(figures_select),
          TEST_ENTRY(a_transparent_evaluation_has_one_branch),
          TEST_ENTRY(a_judge_selects_and_has_the_next_number),
          TEST_ENTRY(events_bracket_the_branches))
