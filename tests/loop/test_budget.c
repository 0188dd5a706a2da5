/* test_budget.c - what agents may spend: a cap that holds, alone and as a tree, in tokens, dollars and
   calls. In these tests an answer of the rig costs 15 tokens (10 in, 5 out). */
#include "support/heard.h"
#include "support/rig.h"

static phi_agent_desc small(void) {
    phi_agent_desc desc = rig_desc();
    desc.max_tokens = 20; /* so a call may take 20, and what it is shown */
    return desc;
}

static size_t limits_in(const phi_agent agent) {
    size_t i, n = 0;
    for (i = 0; i < phi_message_count(agent); i++) {
        const phi_message *m = phi_message_at(agent, i);
        n += m->role == PHI_ROLE_USER && m->content[0].text.len > 15 &&
             memcmp(m->content[0].text.at, "[Agent stopped: ", 16) == 0;
    }
    return n;
}

TEST(a_turn_that_does_not_fit_the_budget_is_not_begun_and_the_words_say_why) {
    rig *r = rig_new();
    phi_agent_desc desc = small();
    phi_agent agent;
    desc.budget.max_tokens = 50;
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    rig_says(r, "two");
    rig_says(r, "three");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK); /* may take 20 and 5 for "go" */
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_agent_spending(agent).tokens, 15);
    CHECK_EQ_INT(phi_prompt(agent, "on"),
                 PHI_OK); /* 15 spent, 20 and 15 to come: exactly the cap */
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_agent_spending(agent).tokens, 30);
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK(strstr(rig_story(r),
                 "[Agent stopped: Token budget reached (30/50, the next call may take "
                 "45)]") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd a limit of the run was reached") != NULL);
    CHECK_EQ_INT(phi_agent_spending(agent).tokens, 30);
    CHECK_EQ_INT(phi_agent_spending(agent).reserved_tokens, 0);
    rig_free(r);
}

TEST(children_that_run_at_once_never_spend_more_than_their_parent_has) {
    rig *r = rig_new();
    phi_agent_desc desc = small();
    phi_agent parent, child[4];
    size_t i, stopped = 0;
    desc.budget.max_tokens = 60;
    parent = rig_agent(r, &desc);
    desc.budget.max_tokens = 0;
    desc.parent = parent;
    rig_chunk(r, 40); /* so that their calls overlap */
    for (i = 0; i < 4; i++) {
        child[i] = rig_agent(r, &desc);
        rig_says(r, "fine");
        CHECK_EQ_INT(phi_prompt(child[i], "go"), PHI_OK);
    }
    while (rig_step(r) > 0) {
        phi_spending seen = phi_agent_spending(parent);
        CHECK(seen.tokens + seen.reserved_tokens <= 60);
        rig_pass_ms(r, 1);
    }
    for (i = 0; i < 4; i++) stopped += limits_in(child[i]);
    CHECK_EQ_INT(stopped, 2); /* 25 for each: two fit at a time */
    CHECK_EQ_INT(phi_agent_spending(parent).tokens, 30);
    CHECK_EQ_INT(phi_agent_spending(child[0]).tokens + phi_agent_spending(child[1]).tokens +
                     phi_agent_spending(child[2]).tokens + phi_agent_spending(child[3]).tokens,
                 30);
    rig_free(r);
}

TEST(dollars_are_counted_by_the_models_rates_in_the_whole_line) {
    rig *r = rig_new();
    phi_agent_desc desc = small();
    phi_agent top, below;
    desc.model.cost.input = 1000.0; /* a cent for ten */
    desc.model.cost.output = 2000.0;
    desc.budget.max_cost = 0.07;
    top = rig_agent(r, &desc);
    desc.budget.max_cost = 0;
    desc.parent = top;
    below = rig_agent(r, &desc);
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(below, "go"), PHI_OK); /* at most 5 in and 20 out: $0.045 */
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(phi_agent_spending(top).cost > 0.0199 && phi_agent_spending(top).cost < 0.0201);
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(below, "go"), PHI_OK); /* 15 in and 20 out: $0.055 more */
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "Cost budget reached ($0.0200/$0.0700, the next call may take "
                               "$0.0550)") != NULL);
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

TEST(a_budget_of_requests_counts_turns_of_all_below_and_not_their_retries) {
    rig *r = rig_new();
    phi_agent_desc desc = small();
    phi_agent top, below;
    desc.retry.disable = false;
    desc.budget.max_requests = 2;
    top = rig_agent(r, &desc);
    desc.budget.max_requests = 0;
    desc.parent = top;
    below = rig_agent(r, &desc);
    rig_replies(r, 529, "", "{\"error\":{\"message\":\"Overloaded\"}}");
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(below, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_INT(phi_prompt(top, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_agent_spending(top).requests, 2);
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(below, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "[Agent stopped: Request budget reached (2/2)]") != NULL);
    CHECK_EQ_INT(rig_requests(r), 3);
    rig_free(r);
}

TEST(a_paused_run_goes_on_when_its_payer_has_more_and_says_who_that_is) {
    rig *r = rig_new();
    phi_agent_desc desc = small();
    phi_agent top, below;
    phi_pending_item item;
    phi_raise by;
    memset(&by, 0, sizeof by);
    by.tokens = 1000;
    desc.budget.max_tokens = 10;
    top = rig_agent(r, &desc);
    desc.budget.max_tokens = 0;
    desc.parent = top;
    desc.limits.pause = true;
    below = rig_agent(r, &desc);
    rig_says(r, "at last");
    CHECK_EQ_INT(phi_prompt(below, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK(strstr(rig_story(r), "Paused") != NULL);
    REQUIRE(phi_pending(rig_runtime(r), &item, 1) == 1);
    CHECK_EQ_INT(item.kind, PHI_WAITING_BUDGET);
    CHECK_EQ_INT(item.payer.index, top.index);
    CHECK_EQ_INT(item.payer.gen, top.gen);
    CHECK(item.has_deadline);
    CHECK_EQ_INT(phi_steer(below, "shorter"), PHI_OK); /* is heard by the call that is paid for */
    CHECK_EQ_INT(phi_budget_raise(item.payer, &by), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    CHECK(strstr(rig_request(r, 0), "shorter") != NULL);
    rig_free(r);
}

TEST(a_pause_that_nobody_ends_ends_the_run_as_the_limit_would) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.limits.max_turns = 1;
    desc.limits.pause = true;
    desc.decision_timeout_ms = 5000;
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(limits_in(agent), 0);
    CHECK_EQ_INT(rig_run_until(r, 6000), 0);
    CHECK(strstr(rig_story(r), "[Agent stopped: Max turns reached (1/1)]") != NULL);
    CHECK(phi_str_equal(last_of(agent)->loop_id, phi_agent_last_loop_id(agent)));
    CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_FOLLOW_UP), 1);
    rig_free(r);
}

TEST(a_run_that_pauses_for_what_its_sister_has_reserved_goes_on_when_that_is_given_back) {
    rig *r = rig_new();
    phi_agent_desc desc = small();
    phi_agent parent, one, two;
    desc.budget.max_tokens = 45;
    parent = rig_agent(r, &desc);
    desc.budget.max_tokens = 0;
    desc.parent = parent;
    desc.limits.pause = true;
    one = rig_agent(r, &desc);
    two = rig_agent(r, &desc);
    rig_chunk(r, 40);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(one, "go"), PHI_OK); /* 25 reserved, 15 spent in the end */
    CHECK_EQ_INT(phi_prompt(two, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    CHECK(strstr(rig_story(r), "Paused") != NULL);
    CHECK_EQ_INT(phi_agent_spending(parent).tokens, 30);
    CHECK_EQ_INT(phi_message_count(two), 2);
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(a_turn_that_does_not_fit_the_budget_is_not_begun_and_the_words_say_why),
    TEST_ENTRY(children_that_run_at_once_never_spend_more_than_their_parent_has),
    TEST_ENTRY(dollars_are_counted_by_the_models_rates_in_the_whole_line),
    TEST_ENTRY(a_budget_of_requests_counts_turns_of_all_below_and_not_their_retries),
    TEST_ENTRY(a_paused_run_goes_on_when_its_payer_has_more_and_says_who_that_is),
    TEST_ENTRY(a_run_that_pauses_for_what_its_sister_has_reserved_goes_on_when_that_is_given_back),
    TEST_ENTRY(a_pause_that_nobody_ends_ends_the_run_as_the_limit_would))
