/* test_budget.c - what agents may spend: a cap that holds, alone and as a tree, in tokens, dollars
   and calls; raised by absurd numbers, shared by agents that die, and given back however a run
   ends. In these tests an answer of the rig costs 15 tokens (10 in, 5 out). */
#include "support/heard.h"
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/run.h"
#include "model/message.h"

static phi_agent_desc small(void) {
    phi_agent_desc desc = rig_desc();
    desc.max_tokens = 20; /* so a call may take 20, and what it is shown */
    return desc;
}

static size_t limits_in(const phi_agent agent) {
    size_t i, n = 0;
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(agent)); i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i);
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
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.tokens, 15);
    CHECK_EQ_INT(phi_prompt(agent, "on"),
                 PHI_OK); /* 15 spent, 20 and 15 to come: exactly the cap */
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.tokens, 30);
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK(strstr(rig_story(r),
                 "[Agent stopped: Token budget reached (30/50, the next call may take "
                 "45)]") != NULL);
    CHECK(strstr(rig_story(r), "AgentEnd a limit of the run was reached") != NULL);
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.tokens, 30);
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.reserved_tokens, 0);
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
        phi_spending seen = phi_agent_get_info(parent).spending;
        CHECK(seen.tokens + seen.reserved_tokens <= 60);
        rig_pass_ms(r, 1);
    }
    for (i = 0; i < 4; i++) stopped += limits_in(child[i]);
    CHECK_EQ_INT(stopped, 2); /* 25 for each: two fit at a time */
    CHECK_EQ_INT(phi_agent_get_info(parent).spending.tokens, 30);
    CHECK_EQ_INT(phi_agent_get_info(child[0]).spending.tokens +
                     phi_agent_get_info(child[1]).spending.tokens +
                     phi_agent_get_info(child[2]).spending.tokens +
                     phi_agent_get_info(child[3]).spending.tokens,
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
    CHECK(phi_agent_get_info(top).spending.cost > 0.0199 &&
          phi_agent_get_info(top).spending.cost < 0.0201);
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
    CHECK_EQ_INT(phi_agent_get_info(top).spending.requests, 2);
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
    desc.deadlines.decision_ms = 5000;
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(limits_in(agent), 0);
    CHECK_EQ_INT(rig_run_until(r, 6000), 0);
    CHECK(strstr(rig_story(r), "[Agent stopped: Max turns reached (1/1)]") != NULL);
    CHECK(phi_str_equal(last_of(agent)->loop_id, phi_agent_get_info(agent).loop_id));
    CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, 1);
    rig_free(r);
}

/* Its last hook still waits. */
TEST(a_pause_that_is_over_is_not_listed_with_what_the_run_waits_for) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_pending_item items[2];
    desc.limits.max_turns = 1;
    desc.limits.pause = true;
    desc.deadlines.decision_ms = 5000;
    rig_hooks(r, &desc, PHI_HOOK_AFTER_LOOP);
    rig_answers(r, PHI_HOOK_AFTER_LOOP, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    rig_pass_stepping_ms(r, 5001);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK(strstr(rig_story(r), "AgentEnd") != NULL);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), items, 2), 1);
    CHECK_EQ_INT(items[0].kind, PHI_WAITING_DECISION);
    rig_free(r);
}

TEST(a_run_that_pauses_again_says_what_it_waits_for_now) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_pending_item item;
    phi_raise by;
    memset(&by, 0, sizeof by);
    by.turns = 1;
    desc.limits.max_turns = 1;
    desc.limits.pause = true;
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    REQUIRE(phi_pending(rig_runtime(r), &item, 1) == 1);
    CHECK_STR(item.text, "Max turns reached (1/1)");
    CHECK_EQ_INT(phi_follow_up(agent, "still more"), PHI_OK);
    CHECK_EQ_INT(phi_budget_raise(agent, &by), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    REQUIRE(phi_pending(rig_runtime(r), &item, 1) == 1);
    CHECK_STR(item.text, "Max turns reached (2/2)");
    rig_free(r);
}

static int pauses(rig *r) {
    int count = 0;
    const char *at = rig_story(r);
    while ((at = strstr(at, "Paused")) != NULL) count++, at++;
    return count;
}

TEST(a_pause_says_again_when_another_limit_or_payer_holds_the_run) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent purse, agent;
    phi_raise turns, nothing, requests;
    memset(&turns, 0, sizeof turns);
    nothing = requests = turns;
    turns.turns = 5;
    requests.requests = 5;
    desc.budget.max_requests = 1;
    purse = rig_agent(r, &desc);
    desc.parent = purse;
    desc.limits.max_turns = 1;
    desc.limits.pause = true;
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(pauses(r), 1);
    CHECK_EQ_INT(phi_budget_raise(agent, &nothing), PHI_OK); /* the same limit: no second event */
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(pauses(r), 1);
    CHECK_EQ_INT(phi_budget_raise(agent, &turns), PHI_OK); /* its own budget holds the run now */
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK(strstr(rig_story(r), "Request budget reached (1/1)") != NULL);
    CHECK_EQ_INT(pauses(r), 2);
    CHECK_EQ_INT(phi_budget_raise(agent, &requests), PHI_OK); /* the same words, another payer */
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(pauses(r), 3);
    CHECK_EQ_INT(phi_budget_raise(purse, &requests), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    CHECK_EQ_INT(pauses(r), 3);
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
    CHECK_EQ_INT(phi_agent_get_info(parent).spending.tokens, 30);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(two)), 2);
    rig_free(r);
}

enum { MANY = 600 };

static phi_agent_desc thrifty(uint64_t tokens) {
    phi_agent_desc desc = rig_desc();
    desc.budget.max_tokens = tokens;
    desc.max_tokens = 100; /* of output: what a turn reserves beside its input */
    desc.model.cost.input = 1;
    desc.model.cost.output = 10;
    return desc;
}

static bool nothing_reserved(phi_agent agent) {
    phi_spending s = phi_agent_get_info(agent).spending;
    return s.reserved_tokens == 0 && s.reserved_cost == 0;
}

/* ---- every way out ---- */

/* A child with a tool, a retry and a second answer. */
static phi_agent script_family(rig *r, phi_agent *parent, phi_tool *tool) {
    phi_agent_desc desc = thrifty(100000);
    desc.budget.max_cost = 100;
    desc.budget.max_requests = 100;
    *parent = rig_agent(r, &desc);
    desc.parent = *parent;
    desc.retry.disable = false;
    desc.retry.initial_delay_ms = 5;
    rig_call(r, "c1", "wait", "{}");
    rig_replies(r, 529, HEARD_JSON, HEARD_BOOM);
    rig_says(r, "two");
    *tool = rig_wait(r);
    return agent_with(r, &desc, tool);
}

/* Hypothesis: some state forgets what it has reserved when the run is aborted, stopped or its agent freed
   there; or a request that was never sent is counted. */
TEST(nothing_stays_reserved_however_and_wherever_a_run_ends) {
    int how, at;
    for (how = 0; how < 4; how++)
        for (at = 0; at < 60; at++) {
            rig *r = rig_new();
            phi_tool tool;
            phi_agent parent, child = script_family(r, &parent, &tool);
            int i;
            rig_chunk(r, 200);
            CHECK_EQ_INT(phi_prompt(child, "go"), PHI_OK);
            for (i = 0; i < at; i++) {
                (void)rig_run(r, 1);
                if (rig_started(r) == 1 && i == 20) rig_finish(r, 0, "done");
            }
            if (how == 0) (void)phi_abort(parent);
            if (how == 1) phi_agent_free(child);
            if (how == 2) phi_agent_free(parent);
            if (how == 3) (void)phi_stop(child);
            if (how == 3 && rig_started(r) == 1) (void)phi_call_reply(rig_call_at(r, 0), "");
            CHECK_EQ_INT(rig_run_until(r, 200000), 0);
            if (!CHECK(nothing_reserved(child) && nothing_reserved(parent)))
                printf("  how %d, step %d\n", how, at);
            if (phi_agent_alive(parent))
                CHECK(phi_agent_get_info(parent).spending.requests <= rig_requests(r));
            rig_free(r);
        }
}

/* Hypothesis: a hook or a filter that ends a run before its turn keeps the turn's money. */
TEST(a_turn_that_is_denied_gives_back_what_it_reserved) {
    static const phi_hook_point points[] = {PHI_HOOK_BEFORE_LOOP, PHI_HOOK_BEFORE_TURN,
                                            PHI_HOOK_FILTER};
    size_t i;
    for (i = 0; i < PHI__COUNT(points); i++) {
        rig *r = rig_new();
        phi_agent_desc desc = thrifty(100000);
        phi_agent agent;
        rig_hooks(r, &desc, (uint32_t)points[i]);
        rig_answers(r, points[i], PHI_DENY, "no");
        agent = rig_agent(r, &desc);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK(nothing_reserved(agent));
        CHECK_EQ_INT(phi_agent_get_info(agent).spending.requests, 0);
        rig_free(r);
    }
}

/* Hypothesis: what a model call might have cost is kept from the agents that its tools ask. */
TEST(a_child_may_spend_what_its_parents_call_did_not_use) {
    rig *r = rig_new();
    phi_agent_desc desc = thrifty(300);
    phi_tool tool = rig_wait(r);
    phi_agent parent, child;
    parent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "wait", "{}"); /* takes 16 */
    rig_says(r, "a child's");
    CHECK_EQ_INT(phi_prompt(parent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(rig_started(r), 1);
    desc.budget.max_tokens = 0;
    desc.max_tokens = 180;
    desc.parent = parent;
    child = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(child, "do it"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK(strstr(rig_story(r), "a child's") != NULL);
    CHECK(strstr(rig_story(r), "Token budget reached") == NULL);
    rig_free(r);
}

/* Hypothesis: a child that is freed in the middle of its answer has cost nothing. */
TEST(what_a_freed_childs_answer_had_cost_by_then_is_charged) {
    rig *r = rig_new();
    phi_agent_desc desc = thrifty(100000);
    phi_agent parent = rig_agent(r, &desc), child;
    char stream[2000];
    desc.parent = parent;
    (void)snprintf(stream, sizeof stream, "%.300s", rig_stream_of("a long answer"));
    *(strstr(stream, "\n\n") + 2) = '\0'; /* the first event: 10 tokens of input are known */
    rig_hangs(r, stream);
    child = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(child, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    phi_agent_free(child);
    CHECK(phi_agent_get_info(parent).spending.tokens >= 10);
    CHECK(nothing_reserved(parent));
    rig_free(r);
}

/* ---- raising ---- */

/* Hypothesis: a raise by a number that means "no end" is one by nothing. */
TEST(a_raise_by_the_largest_number_lifts_the_limit) {
    int which;
    for (which = 0; which < 4; which++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        phi_raise by;
        memset(&by, 0, sizeof by);
        desc.limits.pause = true;
        if (which == 0) desc.limits.max_turns = 1, by.turns = PHI_UNLIMITED;
        if (which == 1) desc.limits.max_turns = 1, by.turns = PHI_UNLIMITED - 1;
        if (which == 2) desc.limits.max_tokens = 1, by.tokens = UINT64_MAX;
        if (which == 3) desc.limits.max_duration_ms = 1, by.duration_ms = PHI_UNLIMITED;
        rig_says(r, "one");
        rig_says(r, "two");
        agent = rig_agent(r, &desc);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
        if (which == 3) rig_pass_ms(r, 10);
        CHECK_EQ_INT(rig_run(r, 50), 1);
        CHECK_EQ_INT(count_of(rig_story(r), "Paused"), 1);
        CHECK_EQ_INT(phi_budget_raise(agent, &by), PHI_OK);
        if (which == 3) rig_pass_ms(r, 10);
        if (!CHECK_EQ_INT(rig_run(r, 50), 0)) printf("  which %d\n", which);
        rig_free(r);
    }
}

/* Hypothesis: a raise that names nothing, or no number, or nobody, does harm. */
TEST(odd_raises_are_refused_or_harmless) {
    rig *r = rig_new();
    phi_agent_desc desc = thrifty(1000);
    phi_agent agent = rig_agent(r, &desc), plain = rig_agent(r, NULL), none, stale;
    phi_raise by;
    volatile double zero = 0;
    memset(&none, 0, sizeof none);
    memset(&by, 0, sizeof by);
    stale = rig_agent(r, NULL);
    phi_agent_free(stale);
    CHECK_EQ_INT(phi_budget_raise(none, &by), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_budget_raise(stale, &by), PHI_STALE);
    CHECK_EQ_INT(phi_budget_raise(agent, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_budget_raise(plain, &by), PHI_MISUSE);
    CHECK_EQ_INT(phi_budget_raise(agent, &by), PHI_OK);
    by.cost = -1;
    CHECK_EQ_INT(phi_budget_raise(agent, &by), PHI_BAD_ARG);
    by.cost = zero / zero;
    CHECK_EQ_INT(phi_budget_raise(agent, &by), PHI_BAD_ARG);
    by.cost = 1 / zero;
    CHECK_EQ_INT(phi_budget_raise(agent, &by), PHI_OK);
    by.tokens = by.requests = UINT64_MAX;
    CHECK_EQ_INT(phi_budget_raise(agent, &by), PHI_OK);
    CHECK_EQ_INT(phi_budget_raise(agent, &by), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_info(stale).spending.tokens, 0);
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

/* Hypothesis: only its own raise wakes an agent that waits for its parent's budget. */
TEST(a_raise_of_the_parent_wakes_a_paused_grandchild) {
    rig *r = rig_new();
    phi_agent_desc desc = thrifty(10);
    phi_agent top = rig_agent(r, &desc), middle, low;
    phi_raise by;
    desc.budget.max_tokens = 0;
    desc.limits.pause = true;
    desc.parent = top;
    middle = rig_agent(r, &desc);
    desc.parent = middle;
    low = rig_agent(r, &desc);
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(low, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    memset(&by, 0, sizeof by);
    by.tokens = 1;
    CHECK_EQ_INT(phi_budget_raise(top, &by), PHI_OK); /* not enough: it waits on */
    CHECK_EQ_INT(rig_run(r, 20), 1);
    by.tokens = 100000;
    CHECK_EQ_INT(phi_budget_raise(middle, &by), PHI_MISUSE); /* neither a run nor a budget */
    CHECK_EQ_INT(phi_budget_raise(top, &by), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Paused"), 1);
    CHECK(nothing_reserved(top));
    rig_free(r);
}

/* Hypothesis: a pause that is over is still listed, or its deadline still fires. */
TEST(a_pause_ends_with_its_run) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_pending_item items[3];
    desc.limits.max_turns = 1;
    desc.limits.pause = true;
    rig_hooks(r, &desc, PHI_HOOK_AFTER_LOOP);
    rig_answers(r, PHI_HOOK_AFTER_LOOP, PHI_WAIT, NULL);
    rig_says(r, "one");
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 1);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), items, 3), 1);
    CHECK_EQ_INT(items[0].kind, PHI_WAITING_BUDGET);
    CHECK_STR(items[0].text, "Max turns reached (1/1)");
    CHECK_EQ_INT(phi_stop(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 0); /* what was stopped waits for no hook at its end */
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), items, 3), 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, 1); /* put back */
    rig_free(r);
}

/* ---- trees ---- */

/* Hypothesis: a tree that is a thousand deep, or a thousand wide, is walked on the stack, or what its
   leaf has reserved is given back to the wrong ones when the middle goes. */
TEST(a_deep_tree_loses_its_middle_and_gives_everything_back) {
    static phi_agent line[MANY];
    rig *r = rig_new();
    phi_agent_desc desc = thrifty(1000000);
    int i, odd;
    for (odd = 0; odd < 2; odd++) {
        for (i = 0; i < MANY; i++) {
            if (i > 0) desc.parent = line[i - 1];
            line[i] = rig_agent(r, &desc);
        }
        rig_hangs(r, "");
        CHECK_EQ_INT(phi_prompt(line[MANY - 1], "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 5), 1);
        CHECK(!nothing_reserved(line[0]));
        for (i = 1; i < MANY - 1; i++)
            if (odd || i % 2 == 0) phi_agent_free(line[i]);
        CHECK_EQ_INT(rig_run(r, 5), 0); /* those above were freed, so it was cancelled */
        CHECK(nothing_reserved(line[0]));
        CHECK(nothing_reserved(line[MANY - 1]));
        CHECK_EQ_INT(phi_abort(line[0]), PHI_OK);
        phi_agent_free(line[0]);
        memset(&desc.parent, 0, sizeof desc.parent);
    }
    rig_free(r);
}

/* Hypothesis: an allocation that fails leaves money reserved. */
TEST(nothing_stays_reserved_when_memory_runs_out) {
    int n, from;
    bool tripped = true;
    for (from = 0; from < 2; from++)
        for (n = 0, tripped = true; tripped; n++) {
            phi_agent_desc desc = thrifty(100000);
            phi_tool tool;
            phi_agent parent, child;
            rig *r = rig_new();
            parent = rig_agent(r, &desc);
            desc.parent = parent;
            desc.retry.disable = false;
            tool = rig_echo();
            child = agent_with(r, &desc, &tool);
            rig_call(r, "c1", "echo", "{}");
            rig_replies(r, 529, HEARD_JSON, HEARD_BOOM);
            rig_says(r, "two");
            if (from)
                test_alloc_fail_from(n);
            else
                test_alloc_fail_at(n);
            if (phi_prompt(child, "go") == PHI_OK) CHECK_EQ_INT(rig_run_until(r, 60000), 0);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            test_alloc_fail_from(-1);
            CHECK(nothing_reserved(parent) && nothing_reserved(child));
            rig_free(r);
        }
}

TEST_MAIN(
    TEST_ENTRY(a_turn_that_does_not_fit_the_budget_is_not_begun_and_the_words_say_why),
    TEST_ENTRY(children_that_run_at_once_never_spend_more_than_their_parent_has),
    TEST_ENTRY(dollars_are_counted_by_the_models_rates_in_the_whole_line),
    TEST_ENTRY(a_budget_of_requests_counts_turns_of_all_below_and_not_their_retries),
    TEST_ENTRY(a_paused_run_goes_on_when_its_payer_has_more_and_says_who_that_is),
    TEST_ENTRY(a_pause_that_nobody_ends_ends_the_run_as_the_limit_would),
    TEST_ENTRY(a_pause_that_is_over_is_not_listed_with_what_the_run_waits_for),
    TEST_ENTRY(a_run_that_pauses_again_says_what_it_waits_for_now),
    TEST_ENTRY(a_pause_says_again_when_another_limit_or_payer_holds_the_run),
    TEST_ENTRY(a_run_that_pauses_for_what_its_sister_has_reserved_goes_on_when_that_is_given_back),
    TEST_ENTRY(nothing_stays_reserved_however_and_wherever_a_run_ends),
    TEST_ENTRY(a_turn_that_is_denied_gives_back_what_it_reserved),
    TEST_ENTRY(a_child_may_spend_what_its_parents_call_did_not_use),
    TEST_ENTRY(what_a_freed_childs_answer_had_cost_by_then_is_charged),
    TEST_ENTRY(a_raise_by_the_largest_number_lifts_the_limit),
    TEST_ENTRY(odd_raises_are_refused_or_harmless),
    TEST_ENTRY(a_raise_of_the_parent_wakes_a_paused_grandchild),
    TEST_ENTRY(a_pause_ends_with_its_run),
    TEST_ENTRY(a_deep_tree_loses_its_middle_and_gives_everything_back),
    TEST_ENTRY(nothing_stays_reserved_when_memory_runs_out))
