/* Evaluations that end otherwise: branches that fail or are freed, aborts, budgets, agents that go. */
#include "agent/response.h"
#include "orchestrate/actors.h"
#include "support/ask.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"

/* ---- failures ---- */

TEST(a_branch_that_fails_does_not_win_unless_all_fail) {
    static const struct {
        bool fails[3];
        phi_evaluate_by by;
        size_t want;
        int judged;
    } rows[] = {{{true, false, false}, PHI_EVALUATE_FIRST, 1, 0},
                {{true, true, false}, PHI_EVALUATE_FIRST, 2, 0},
                {{true, true, true}, PHI_EVALUATE_FIRST, 0, 0},
                {{true, false, false}, PHI_EVALUATE_TOKEN_EFFICIENT, 1, 0},
                {{false, true, false}, PHI_EVALUATE_JUDGE, 2, 1}, /* "2" of the two that are left */
                {{true, true, false}, PHI_EVALUATE_JUDGE, 2, 0},  /* no choice, no call */
                {{true, true, true}, PHI_EVALUATE_JUDGE, 1, 1}};
    size_t i, k;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        stage s;
        phi_evaluation e;
        stage_set(&s, rig_new(), 3);
        REQUIRE(stage_open(&s));
        for (k = 0; k < 3; k++)
            if (rows[i].fails[k]) s.actors[k + 1].text = NULL;
        s.desc.by = rows[i].by;
        s.desc.judge = &s.configs[5];
        s.actors[5].text = "2";
        s.configs[5].compaction.max_context_tokens = 1; /* also what has no text is cut */
        stage_evaluate(&s);
        e = stage_result(&s);
        CHECK_EQ_INT(e.status, PHI_OK);
        CHECK_EQ_INT(e.selected, rows[i].want);
        CHECK_EQ_INT(s.actors[5].opens, rows[i].judged);
        for (k = 0; k < 3; k++) CHECK_EQ_INT(e.branches[k].status == PHI_OK, !rows[i].fails[k]);
        CHECK_EQ_INT(phi_send(s.agent, "Again"), PHI_OK); /* a failed one can be gone on from */
        CHECK_EQ_INT(rig_run(s.r, 100), 0);
        rig_free(s.r);
    }
}

TEST(a_judge_that_fails_or_says_nothing_selects_the_first_that_may_win) {
    static const char *const says[] = {NULL, "none", "", "7"};
    size_t i;
    for (i = 0; i < PHI__COUNT(says); i++) {
        stage s;
        stage_set(&s, rig_new(), 3);
        REQUIRE(stage_open(&s));
        s.actors[1].text = NULL;
        s.desc.by = PHI_EVALUATE_JUDGE;
        s.desc.judge = &s.configs[5];
        s.actors[5].text = says[i];
        stage_evaluate(&s);
        CHECK_EQ_INT(stage_result(&s).status, PHI_OK);
        CHECK_EQ_INT(stage_result(&s).selected, 1);
        CHECK_STR(stage_result(&s).judge_loop_id, "s.play.judge.4");
        rig_free(s.r);
    }
}

/* ---- aborts ---- */

static void abort_rows(size_t steps, bool judged) {
    stage s;
    phi_evaluation e;
    size_t i;
    stage_set(&s, rig_new(), 3);
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    s.actors[2].polls = 3;
    s.actors[3].polls = 6;
    s.actors[5].polls = 3;
    if (judged) {
        s.desc.by = PHI_EVALUATE_JUDGE;
        s.desc.judge = &s.configs[5];
    }
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    if (steps > 0) (void)rig_run(s.r, (int)steps);
    e = stage_result(&s);
    if (e.status != PHI_BUSY) {
        rig_free(s.r);
        return;
    }
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    e = stage_result(&s);
    CHECK_EQ_INT(e.status, PHI_CANCELLED);
    CHECK(e.selected == SIZE_MAX);
    CHECK_STR(phi_thread_get_info(phi_agent_thread(s.agent)).lane, "default");
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own");
    for (i = 0; i < ACTORS; i++) CHECK_EQ_INT(s.actors[i].opens, s.actors[i].closes);
    for (i = 0; i < 3; i++) CHECK(e.branches[i].status != PHI_BUSY);
    CHECK(e.branches[0].lane.len > 0); /* what they did is in the log */
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(s.agent)).usage.total_tokens,
                 110 + e.total_usage.total_tokens);
    CHECK_EQ_INT(phi_prompt(s.agent, "On"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own|On|own");
    rig_free(s.r);
}

TEST(an_abort_ends_all_and_leaves_the_old_lane_whenever_it_comes) {
    size_t steps;
    for (steps = 0; steps < 24; steps++) {
        abort_rows(steps, false);
        abort_rows(steps, true);
    }
}

TEST(an_abort_before_means_earlier_work) {
    stage s;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    stage_evaluate(&s);
    CHECK_EQ_INT(stage_result(&s).status, PHI_OK);
    rig_free(s.r);
}

TEST(an_abort_of_a_branch_ends_that_branch_alone) {
    stage s;
    phi_evaluation e;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    s.actors[1].hangs = true;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    CHECK(rig_run(s.r, 20) > 0);
    CHECK_EQ_INT(phi_abort(stage_result(&s).branches[0].agent), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    e = stage_result(&s);
    CHECK_EQ_INT(e.status, PHI_OK);
    CHECK_EQ_INT(e.selected, 1);
    CHECK_EQ_INT(e.branches[0].status, PHI_CANCELLED);
    rig_free(s.r);
}

/* Its events are still queued, so that the agent is still there. */
static void after_the_end(stage *s, phi_agent branch) {
    phi_prompt_desc ask = PHI_ZERO;
    phi_response response;
    phi_evaluate_desc again = s->desc;
    const char *want = "it was a branch of an evaluation that is over";
    ask.text = "x";
    CHECK_EQ_INT(phi_prompt(branch, "x"), PHI_BUSY);
    CHECK(strstr(words_of(s->r), want) != NULL);
    CHECK_EQ_INT(phi_send(branch, "x"), PHI_BUSY);
    CHECK(strstr(words_of(s->r), want) != NULL);
    CHECK_EQ_INT(phi_continue(branch, PHI_CONTINUATION_DEFAULT), PHI_BUSY);
    CHECK_EQ_INT(phi_compact(branch), PHI_BUSY);
    CHECK_EQ_INT(phi_prompt_with(branch, &ask, &response), PHI_BUSY);
    CHECK_EQ_INT(phi_evaluate(branch, &again), PHI_BUSY);
    CHECK_EQ_INT(phi_agent_replace_messages(branch, NULL, 0), PHI_BUSY);
    CHECK(!phi_agent_get_info(branch).running);
}

static void ends_with(stage *s, bool abort) {
    phi_evaluation e;
    phi_event event;
    size_t i, asked[2];
    rig_silent(s->r, true);
    s->desc.by = abort ? PHI_EVALUATE_FIRST : PHI_EVALUATE_JUDGE;
    s->desc.judge = &s->configs[5];
    if (abort) s->actors[2].hangs = true;
    CHECK_EQ_INT(phi_evaluate(s->agent, &s->desc), PHI_OK);
    for (i = 0; i < 20; i++) (void)rig_step(s->r);
    if (abort) CHECK_EQ_INT(phi_abort(s->agent), PHI_OK);
    (void)rig_run(s->r, 20);
    e = stage_result(s);
    CHECK_EQ_INT(e.status, abort ? PHI_CANCELLED : PHI_OK);
    for (i = 0; i < 2; i++) {
        CHECK(phi_agent_alive(e.branches[i].agent));
        asked[i] = (size_t)s->actors[i + 1].opens;
        after_the_end(s, e.branches[i].agent);
    }
    (void)rig_run(s->r, 20);
    while (phi_next_event(rig_runtime(s->r), &event)) continue;
    rig_silent(s->r, false);
    CHECK_EQ_INT(rig_run(s->r, 20), 0);
    for (i = 0; i < 2; i++) {
        CHECK_EQ_INT(s->actors[i + 1].opens, asked[i]);
        CHECK(!phi_agent_alive(e.branches[i].agent));
        CHECK_EQ_INT(phi_prompt(e.branches[i].agent, "x"), PHI_STALE);
    }
}

TEST(a_branch_takes_no_run_when_its_evaluation_is_over) {
    stage s;
    int abort;
    for (abort = 0; abort < 2; abort++) {
        stage_set(&s, rig_new(), 2);
        REQUIRE(stage_open(&s));
        ends_with(&s, abort != 0);
        rig_free(s.r);
    }
}

TEST(an_abort_of_the_parent_ends_the_evaluation_of_its_child) {
    stage s;
    phi_agent above;
    phi_agent_desc top;
    stage_set(&s, rig_new(), 2);
    top = s.configs[0];
    above = phi_agent_new(rig_runtime(s.r), &top);
    s.own.parent = above;
    REQUIRE(stage_open(&s));
    s.actors[1].hangs = true;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    CHECK(rig_run(s.r, 20) > 0);
    CHECK_EQ_INT(phi_abort(above), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    CHECK_EQ_INT(stage_result(&s).status, PHI_CANCELLED);
    rig_free(s.r);
}

TEST(a_stop_lets_the_turns_end_and_selects_from_those_that_were_done) {
    stage s;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    s.actors[1].polls = 10;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    CHECK(rig_run(s.r, 3) > 0);
    CHECK_EQ_INT(phi_stop(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_INT(stage_result(&s).status, PHI_OK);
    CHECK_EQ_STR(stage_result(&s).branches[0].text.at, "one"); /* its answer is whole */
    CHECK_EQ_INT(stage_result(&s).branches[0].status, PHI_CANCELLED);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|two");
    rig_free(s.r);
}

/* ---- agents that go ---- */

TEST(a_branch_that_the_host_frees_has_no_lane_and_does_not_win) {
    stage s;
    phi_evaluation e;
    size_t freed;
    for (freed = 0; freed < 3; freed++) { /* the first, the second, or both */
        stage_set(&s, rig_new(), 2);
        REQUIRE(stage_open(&s));
        s.actors[1].polls = s.actors[2].polls = 4;
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        CHECK(rig_run(s.r, 2) > 0);
        e = stage_result(&s);
        if (freed != 1) phi_agent_free(e.branches[0].agent);
        if (freed != 0) phi_agent_free(e.branches[1].agent);
        CHECK_EQ_INT(rig_run(s.r, 50), 0);
        e = stage_result(&s);
        CHECK_EQ_INT(e.status, PHI_OK);
        CHECK_EQ_INT(e.selected, freed == 0 ? 1 : 0);
        if (freed != 1) CHECK_EQ_INT(e.branches[0].lane.len, 0);
        if (freed != 1) CHECK_EQ_INT(e.branches[0].status, PHI_CANCELLED);
        CHECK_EQ_STR(lane_texts(s.agent, NULL), freed == 0   ? "Why?|two"
                                                : freed == 1 ? "Why?|one"
                                                             : "");
        rig_free(s.r);
    }
}

TEST(a_branch_that_is_freed_after_its_run_does_not_win_either) {
    stage s;
    phi_evaluation e;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    s.actors[2].polls = 20;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    while (stage_result(&s).branches[0].status == PHI_BUSY) CHECK(rig_run(s.r, 1) > 0);
    CHECK_EQ_INT(stage_result(&s).branches[0].status, PHI_OK);
    phi_agent_free(stage_result(&s).branches[0].agent);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    e = stage_result(&s);
    CHECK_EQ_INT(e.selected, 1);
    CHECK_EQ_INT(e.branches[0].status, PHI_CANCELLED);
    CHECK_STR(e.branches[0].text, "one");
    CHECK_EQ_INT(e.total_usage.total_tokens, 120 + 130);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|two");
    rig_free(s.r);
}

/* The judge is the agent that was made behind the branches. */
static phi_agent judge_of(stage *s) {
    phi_agent judge = stage_result(s).branches[1].agent;
    judge.index++;
    judge.gen = 0;
    while (!phi_agent_alive(judge) && judge.gen < 100) judge.gen++;
    return judge;
}

TEST(a_judge_that_the_host_frees_has_failed) {
    int early;
    for (early = 0; early < 2; early++) { /* before it begins, or in the midst */
        stage s;
        phi_evaluation e;
        stage_set(&s, rig_new(), 2);
        s.own.budget.max_tokens = 1000000;
        REQUIRE(stage_open(&s));
        s.desc.by = PHI_EVALUATE_JUDGE;
        s.desc.judge = &s.configs[5];
        s.actors[5].hangs = true;
        s.actors[1].polls = 3;
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        while (early == 0 && s.actors[5].opens == 0) CHECK(rig_run(s.r, 1) > 0);
        phi_agent_free(judge_of(&s));
        CHECK_EQ_INT(rig_run(s.r, 50), 0);
        e = stage_result(&s);
        CHECK_EQ_INT(e.status, PHI_OK);
        CHECK_EQ_INT(e.selected, 0);
        CHECK_EQ_INT(e.judge_loop_id.len > 0, early == 0);
        CHECK_EQ_INT(phi_agent_get_info(s.agent).spending.reserved_tokens, 0);
        rig_free(s.r);
    }
}

TEST(an_agent_that_is_freed_takes_its_evaluation_along) {
    int way;
    for (way = 0; way < 4; way++) {
        stage s;
        stage_set(&s, rig_new(), 3);
        REQUIRE(stage_open(&s));
        s.actors[1].hangs = true;
        if (way == 1) s.actors[2].frees = s.agent; /* inside a poll of a branch */
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        if (way == 2) phi_agent_free(s.agent); /* before anything */
        (void)rig_run(s.r, 10);
        if (way == 0) phi_agent_free(s.agent);
        if (way == 3) {
            rig_free(s.r); /* in the midst */
            continue;
        }
        CHECK_EQ_INT(rig_run(s.r, 50), 0);
        CHECK(!phi_agent_alive(s.agent));
        CHECK_EQ_INT(s.actors[1].opens, s.actors[1].closes);
        CHECK_EQ_INT(s.actors[2].opens, s.actors[2].closes);
        rig_free(s.r);
    }
}

TEST(an_agent_can_be_freed_when_its_end_is_popped) {
    stage s;
    phi_event event;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    rig_silent(s.r, true);
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    while (phi_next_event(rig_runtime(s.r), &event))
        if (event.kind == PHI_EV_PARALLEL_END) phi_agent_free(event.agent);
    CHECK(!phi_agent_alive(s.agent));
    CHECK_EQ_INT(rig_run(s.r, 5), 0);
    rig_free(s.r);
}

TEST(one_evaluation_follows_another) {
    stage s;
    int i;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    rig_silent(s.r, true); /* nothing is popped */
    for (i = 0; i < 3; i++) {
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 100), 0);
        CHECK_EQ_INT(stage_result(&s).status, PHI_OK);
    }
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|one|Why?|one|Why?|one");
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(s.agent)).lane_count, 7);
    rig_silent(s.r, false);
    (void)rig_step(s.r);
    (void)rig_step(s.r);
    rig_free(s.r);
}

/* ---- budgets ---- */

/* 1000 of output each, and little input; a dollar a million. */
static void price(stage *s) {
    size_t i;
    for (i = 1; i < ACTORS; i++) {
        s->configs[i].max_tokens = 1000;
        s->configs[i].model.cost.input = 1;
        s->configs[i].model.cost.output = 1;
    }
}

TEST(the_first_calls_of_all_and_the_judges_are_reserved_before_any) {
    static const struct {
        uint64_t max_tokens, max_requests;
        double max_cost;
        phi_status want;
    } rows[] = {{7300, 0, 0, PHI_LIMIT}, /* 3 * 1000, and the judge's 3000 and 1000, and the rest */
                {8000, 0, 0, PHI_OK},      {0, 3, 0, PHI_LIMIT},  {0, 4, 0, PHI_OK},
                {0, 0, 0.0073, PHI_LIMIT}, {0, 0, 0.008, PHI_OK}, {2900, 0, 0, PHI_LIMIT}};
    size_t i, k;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        stage s;
        phi_spending seen;
        stage_set(&s, rig_new(), 3);
        price(&s);
        s.own.budget.max_tokens = rows[i].max_tokens;
        s.own.budget.max_requests = rows[i].max_requests;
        s.own.budget.max_cost = rows[i].max_cost;
        REQUIRE(stage_open(&s));
        s.desc.by = PHI_EVALUATE_JUDGE;
        s.desc.judge = &s.configs[5];
        if (!CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), rows[i].want))
            printf("    row %d\n", (int)i);
        seen = phi_agent_get_info(s.agent).spending;
        if (rows[i].want == PHI_OK) {
            CHECK(seen.reserved_tokens > 7000);
            CHECK_EQ_INT(seen.requests, 4);
            CHECK_EQ_INT(rig_run(s.r, 100), 0);
            CHECK_EQ_INT(stage_result(&s).status, PHI_OK);
            seen = phi_agent_get_info(s.agent).spending;
            CHECK_EQ_INT(seen.requests, 4);
            CHECK_EQ_INT(seen.tokens, stage_result(&s).total_usage.total_tokens);
        } else {
            CHECK(strstr(words_of(s.r), "budget reached") != NULL);
            CHECK(begins(words_of(s.r), "phi_evaluate: "));
            CHECK_EQ_INT(rig_run(s.r, 10), 0);
            CHECK_EQ_STR(rig_story(s.r), "");
            for (k = 0; k < ACTORS; k++) CHECK_EQ_INT(s.actors[k].opens, 0);
            CHECK_EQ_INT(seen.requests, 0);
            s.desc.config_count = 1; /* no number was taken */
            s.desc.by = PHI_EVALUATE_FIRST;
            stage_evaluate(&s);
            CHECK_STR(stage_result(&s).branches[0].loop_id, "s.play.a.1");
            seen = phi_agent_get_info(s.agent).spending;
        }
        CHECK_EQ_INT(seen.reserved_tokens, 0);
        CHECK(seen.reserved_cost == 0);
        rig_free(s.r);
    }
}

static size_t seven_thousand(void *user_data, phi_str text) {
    (void)user_data;
    return text.len > 0 ? 7000 : 0;
}

static phi_verdict stand_still(void *user_data, phi_hook *hook) {
    (void)user_data;
    (void)hook;
    return PHI_WAIT;
}

TEST(the_judges_prompt_is_reserved_as_its_counter_counts_it) {
    stage s;
    stage_set(&s, rig_new(), 2);
    price(&s);
    s.own.budget.max_tokens = 100000;
    s.configs[5].token_counter.count_text = seven_thousand;
    s.configs[5].hook_fn = stand_still; /* before its turn, which reserves anew */
    s.configs[5].hook_points = PHI_HOOK_BEFORE_LOOP;
    REQUIRE(stage_open(&s));
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 1);
    CHECK_EQ_INT(s.actors[5].opens, 0);
    /* its system prompt, its prompt, and the largest answer */
    CHECK_EQ_INT(phi_agent_get_info(s.agent).spending.reserved_tokens, 7000 + 7000 + 1000);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    CHECK_EQ_INT(phi_agent_get_info(s.agent).spending.reserved_tokens, 0);
    rig_free(s.r);
}

TEST(reservations_are_to_the_token) {
    static const struct {
        uint64_t window, want;
    } rows[] = {
        /* each branch: 3 of the system prompt, 5 of the message, 1000 of output; the judge: the message,
                   300 around it, three outputs, and its own */
        {0, 3 * 1008 + 5 + 300 + 3000 + 1000},
        {500, 3 * 1008 + 500 + 1000},
        {100000, 3 * 1008 + 5 + 300 + 3000 + 1000}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        stage s;
        phi_spending seen;
        stage_set(&s, rig_new(), 3);
        price(&s);
        s.own.budget.max_tokens = 100000;
        s.configs[5].compaction.max_context_tokens = rows[i].window;
        REQUIRE(stage_open(&s));
        s.desc.by = PHI_EVALUATE_JUDGE;
        s.desc.judge = &s.configs[5];
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        seen = phi_agent_get_info(s.agent).spending;
        CHECK_EQ_INT(seen.reserved_tokens, rows[i].want);
        CHECK(near_to(seen.reserved_cost, (double)rows[i].want / 1e6));
        CHECK_EQ_INT(rig_run(s.r, 100), 0);
        CHECK_EQ_INT(phi_agent_get_info(s.agent).spending.reserved_tokens, 0);
        CHECK(near_to(stage_result(&s).evaluation_cost, 160 / 1e6));
        CHECK(near_to(stage_result(&s).total_cost, (120 + 130 + 140 + 160) / 1e6));
        CHECK(near_to(phi_agent_get_info(s.agent).cost, (120 + 130 + 140 + 160) / 1e6));
        rig_free(s.r);
    }
}

/* The last message is a call that has no result. */
static void leave_a_call(stage *s) {
    phi_content block = PHI_ZERO;
    phi_message message = PHI_ZERO;
    message.role = PHI_ROLE_USER;
    message.content = &block;
    message.content_count = 1;
    block.kind = PHI_CONTENT_TEXT;
    block.text = PHI__LIT("Look");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s->agent), &message, 1, NULL), PHI_OK);
    block.kind = PHI_CONTENT_TOOL_CALL;
    block.id = PHI__LIT("c9");
    block.name = PHI__LIT("look");
    block.arguments = PHI__LIT("{}");
    block.text = phi__str(NULL, 0);
    message.role = PHI_ROLE_ASSISTANT;
    message.stop_reason = PHI_STOP_REASON_TOOL_USE;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s->agent), &message, 1, NULL), PHI_OK);
}

TEST(results_of_calls_that_wait_are_reserved_too) {
    uint64_t reserved = 0;
    stage s;
    stage_set(&s, rig_new(), 2);
    price(&s);
    s.own.budget.max_tokens = 100000;
    REQUIRE(stage_open(&s));
    leave_a_call(&s);
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    for (int i = 0; i < 2; i++) { /* the second finds the results in the log */
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.agent)), 3);
        uint64_t seen = phi_agent_get_info(s.agent).spending.reserved_tokens;
        if (i > 0) CHECK_EQ_INT(seen, reserved);
        reserved = seen;
        CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 20), 0);
    }
    rig_free(s.r);
}

TEST(an_evaluation_without_memory_takes_no_number) {
    bool tripped;
    int n = 0;
    do {
        stage s;
        stage_set(&s, rig_new(), 2);
        REQUIRE(stage_open(&s));
        leave_a_call(&s);
        test_alloc_fail_at(n++);
        phi_status status = phi_evaluate(s.agent, &s.desc);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        if (status != PHI_OK) CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 200), 0);
        CHECK_STR(stage_result(&s).branches[0].loop_id, "s.play.a.1");
        rig_free(s.r);
    } while (tripped && n < 1000);
    CHECK(n > 10 && n < 1000);
}

TEST(a_reservation_above_is_given_back_when_the_agent_goes) {
    int way;
    for (way = 0; way < 4; way++) {
        stage s;
        phi_agent above;
        phi_agent_desc top;
        stage_set(&s, rig_new(), 2);
        price(&s);
        top = s.configs[0];
        top.budget.max_tokens = 100000;
        above = phi_agent_new(rig_runtime(s.r), &top);
        s.own.parent = above;
        REQUIRE(stage_open(&s));
        s.desc.by = PHI_EVALUATE_JUDGE;
        s.desc.judge = &s.configs[5];
        s.actors[1].hangs = true;
        if (way == 1) s.actors[2].frees = s.agent; /* in the midst of a step */
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        CHECK(phi_agent_get_info(above).spending.reserved_tokens > 5000);
        (void)rig_run(s.r, 10);
        if (way == 2) phi_agent_free(judge_of(&s));
        if (way == 3) phi_agent_free(above);
        if (way != 1) phi_agent_free(s.agent);
        CHECK_EQ_INT(rig_run(s.r, 10), 0);
        CHECK_EQ_INT(phi_agent_get_info(above).spending.reserved_tokens, 0);
        CHECK_EQ_INT(phi_agent_get_info(above).spending.requests, way == 3 ? 0 : 2);
        rig_free(s.r);
    }
}

TEST(what_is_held_for_a_judge_is_given_back_where_it_is_not_called) {
    int way;
    for (way = 0; way < 3; way++) {
        stage s;
        stage_set(&s, rig_new(), 2);
        price(&s);
        s.own.budget.max_tokens = 100000;
        REQUIRE(stage_open(&s));
        s.desc.by = PHI_EVALUATE_JUDGE;
        s.desc.judge = &s.configs[5];
        s.actors[1].text = NULL; /* one is left: no choice */
        if (way > 0) s.actors[2].hangs = true;
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        (void)rig_run(s.r, 20);
        if (way == 1) CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
        if (way == 2) phi_agent_free(s.agent);
        CHECK_EQ_INT(rig_run(s.r, 20), 0);
        if (way < 2) CHECK_EQ_INT(phi_agent_get_info(s.agent).spending.reserved_tokens, 0);
        if (way < 2) CHECK_EQ_INT(phi_agent_get_info(s.agent).spending.requests, 2);
        rig_free(s.r);
    }
}

TEST_MAIN(TEST_ENTRY(a_branch_that_fails_does_not_win_unless_all_fail),
          TEST_ENTRY(a_judge_that_fails_or_says_nothing_selects_the_first_that_may_win),
          TEST_ENTRY(an_abort_ends_all_and_leaves_the_old_lane_whenever_it_comes),
          TEST_ENTRY(an_abort_before_means_earlier_work),
          TEST_ENTRY(an_abort_of_a_branch_ends_that_branch_alone),
          TEST_ENTRY(a_branch_takes_no_run_when_its_evaluation_is_over),
          TEST_ENTRY(an_abort_of_the_parent_ends_the_evaluation_of_its_child),
          TEST_ENTRY(a_stop_lets_the_turns_end_and_selects_from_those_that_were_done),
          TEST_ENTRY(a_branch_that_the_host_frees_has_no_lane_and_does_not_win),
          TEST_ENTRY(a_branch_that_is_freed_after_its_run_does_not_win_either),
          TEST_ENTRY(a_judge_that_the_host_frees_has_failed),
          TEST_ENTRY(an_agent_that_is_freed_takes_its_evaluation_along),
          TEST_ENTRY(an_agent_can_be_freed_when_its_end_is_popped),
          TEST_ENTRY(one_evaluation_follows_another),
          TEST_ENTRY(the_first_calls_of_all_and_the_judges_are_reserved_before_any),
          TEST_ENTRY(the_judges_prompt_is_reserved_as_its_counter_counts_it),
          TEST_ENTRY(reservations_are_to_the_token),
          TEST_ENTRY(results_of_calls_that_wait_are_reserved_too),
          TEST_ENTRY(an_evaluation_without_memory_takes_no_number),
          TEST_ENTRY(a_reservation_above_is_given_back_when_the_agent_goes),
          TEST_ENTRY(what_is_held_for_a_judge_is_given_back_where_it_is_not_called))
