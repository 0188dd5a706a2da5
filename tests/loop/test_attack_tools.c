/* test_attack_tools.c - tools that free agents, prompt others, answer twice or not at all, from every
   place they are called in. */
#include "support/rig.h"

enum { MOST = 1100 };

typedef struct act {
    rig *r;
    phi_call calls[MOST];
    size_t started, stepped, cancelled;
    phi_agent victim; /* what free_... frees */
    bool free_in_start, free_in_step, free_in_cancel;
    bool result_in_cancel, finish_in_step, prompt_in_start, make_in_cancel, runtime_free_in_start;
    phi_agent made;
    phi_status said;
} act;

static phi_status give(phi_call call, const char *text) {
    phi_content content;
    phi_tool_result result;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(text);
    result.content = &content;
    result.content_count = 1;
    return phi_call_result(call, &result);
}

static phi_flow act_start(void *user_data, phi_call call, phi_str arguments) {
    act *a = (act *)user_data;
    (void)arguments;
    a->calls[a->started++ % MOST] = call;
    if (a->free_in_start) a->said = phi_agent_free(a->victim);
    if (a->prompt_in_start) a->said = phi_prompt(a->victim, "from a tool");
    if (a->runtime_free_in_start) phi_runtime_free(call.rt);
    return PHI_PENDING;
}

static phi_flow act_step(void *user_data, phi_call call) {
    act *a = (act *)user_data;
    a->stepped++;
    if (a->free_in_step) a->said = phi_agent_free(a->victim);
    if (a->finish_in_step) {
        CHECK_EQ_INT(phi_call_finish(call, "walked", 6, false), PHI_OK);
        return PHI_DONE;
    }
    return PHI_PENDING;
}

static void act_cancel(void *user_data, phi_call call) {
    act *a = (act *)user_data;
    a->cancelled++;
    if (a->free_in_cancel) a->said = phi_agent_free(a->victim);
    if (a->result_in_cancel) a->said = give(call, "too late");
    if (a->make_in_cancel) {
        phi_agent_desc desc = rig_desc();
        a->made = phi_agent_new(call.rt, &desc);
    }
}

static phi_tool act_tool(act *a, rig *r, bool steps) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    memset(a, 0, sizeof *a);
    a->r = r;
    tool.name = "wait";
    tool.description = "Waits";
    tool.start = act_start;
    tool.step = steps ? act_step : NULL;
    tool.cancel = act_cancel;
    tool.user_data = a;
    return tool;
}

static phi_agent act_agent(rig *r, const phi_tool *tool, phi_tool_mode mode) {
    phi_agent_desc desc = rig_desc();
    desc.tools = tool;
    desc.tool_count = 1;
    desc.tool_mode = mode;
    return rig_agent(r, &desc);
}

static const char *const three[] = {"c1 wait {}", "c2 wait {}", "c3 wait {}"};

/* An agent with three calls that wait. */
static phi_agent waiting(rig *r, const phi_tool *tool, phi_tool_mode mode) {
    phi_agent agent = act_agent(r, tool, mode);
    rig_calls(r, three, 3);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    return agent;
}

TEST(a_cancel_function_may_free_its_own_agent_while_that_is_freed) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    a.victim = waiting(r, &tool, PHI_TOOLS_PARALLEL);
    a.free_in_cancel = true;
    CHECK_EQ_INT(phi_agent_free(a.victim), PHI_OK);
    CHECK_EQ_INT(a.cancelled, 3);
    CHECK(!phi_agent_alive(a.victim));
    CHECK_EQ_INT(rig_run(r, 3), 0);
    rig_free(r);
}

TEST(a_cancel_function_may_free_its_agent_on_abort_and_at_a_deadline) {
    int deadline;
    for (deadline = 0; deadline < 2; deadline++) {
        rig *r = rig_new();
        static act a;
        phi_tool tool = act_tool(&a, r, true);
        if (deadline) tool.timeout_ms = 50;
        a.victim = waiting(r, &tool, PHI_TOOLS_PARALLEL);
        a.free_in_cancel = true;
        if (!deadline) CHECK_EQ_INT(phi_abort(a.victim), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 100), 0);
        CHECK_EQ_INT(a.cancelled, 3);
        CHECK(!phi_agent_alive(a.victim));
        CHECK_EQ_INT(phi_call_finish(a.calls[0], "x", 1, false), PHI_STALE);
        rig_free(r);
    }
}

TEST(a_call_that_was_finished_keeps_its_result_and_is_not_told_to_cancel) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    phi_agent agent;
    tool.timeout_ms = 50;
    agent = waiting(r, &tool, PHI_TOOLS_PARALLEL);
    CHECK_EQ_INT(phi_call_finish(a.calls[1], "mine", 4, false), PHI_OK);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(a.cancelled, 2);
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "Cancelled");
    CHECK_STR(phi_message_at(agent, 3)->content[0].text, "mine");
    CHECK_STR(phi_message_at(agent, 4)->content[0].text, "Cancelled");
    rig_free(r);
}

TEST(a_result_given_in_cancel_is_stale) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    phi_agent agent = waiting(r, &tool, PHI_TOOLS_SEQUENTIAL);
    a.result_in_cancel = true;
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_EQ_INT(a.said, PHI_STALE);
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "Cancelled");
    rig_free(r);
}

/* One agent's tool frees another one that streams, waits for tools, is polled, or is ready to run. */
TEST(a_tool_may_free_another_agent_in_any_state) {
    int where, state;
    for (where = 0; where < 2; where++)
        for (state = 0; state < 4; state++) {
            rig *r = rig_new();
            static act a, other;
            phi_tool tool = act_tool(&a, r, true), theirs = act_tool(&other, r, true);
            phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
            if (state == 0) {
                a.victim = rig_agent(r, NULL); /* it streams */
                rig_hangs(r, "data: {\"type\":\"message_start\",\"message\":{}}\n\n");
                CHECK_EQ_INT(phi_prompt(a.victim, "go"), PHI_OK);
                CHECK_EQ_INT(rig_run(r, 10), 1);
            } else if (state < 3) {
                a.victim = waiting(r, &theirs, PHI_TOOLS_PARALLEL);
                if (state == 2) other.free_in_cancel = true; /* and frees the first in turn */
                other.victim = agent;
            } else
                a.victim = rig_agent(r, NULL); /* prompted in the same step */
            a.free_in_start = where == 0;
            a.free_in_step = where == 1;
            rig_calls(r, three, 3);
            CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
            if (state == 3) {
                rig_hangs(r, "");
                CHECK_EQ_INT(phi_prompt(a.victim, "go"), PHI_OK);
            }
            (void)rig_run(r, 20);
            CHECK(!phi_agent_alive(a.victim));
            CHECK_EQ_INT(phi_agent_alive(agent), state != 2);
            CHECK_EQ_INT(rig_open_transfers(r), 0);
            rig_free(r);
        }
}

TEST(a_tool_may_prompt_another_agent) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
    a.victim = rig_agent(r, NULL);
    a.prompt_in_start = true;
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "the other");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(a.said, PHI_OK);
    CHECK_EQ_INT(phi_message_count(a.victim), 2);
    CHECK_EQ_INT(give(a.calls[0], "ok"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

TEST(a_tool_may_not_prompt_its_own_agent_nor_free_the_runtime) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
    const char *words = NULL;
    a.victim = agent;
    a.prompt_in_start = true;
    a.runtime_free_in_start = true;
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(a.said, PHI_BUSY);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r), &words, NULL), PHI_MISUSE);
    CHECK_EQ_STR(words, "phi_runtime_free inside a callback");
    rig_free(r);
}

TEST(no_agent_is_made_while_the_runtime_is_freed) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    (void)waiting(r, &tool, PHI_TOOLS_PARALLEL);
    a.make_in_cancel = true;
    rig_free(r);
    CHECK_EQ_INT(a.cancelled, 3);
    CHECK(a.made.rt == NULL);
}

TEST(a_step_that_said_done_is_not_called_again_while_its_result_is_in_a_long_inbox) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, true);
    phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL), idle = rig_agent(r, NULL);
    int i;
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    while (a.started == 0) (void)rig_step(r);
    for (i = 0; i < 1500; i++) CHECK_EQ_INT(phi_abort(idle), PHI_OK);
    a.finish_in_step = true;
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(a.stepped, 1);
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "walked");
    rig_free(r);
}

typedef struct ring {
    phi_call calls[3];
    size_t started, steps[3];
} ring;

static phi_flow ring_start(void *user_data, phi_call call, phi_str arguments) {
    ring *g = (ring *)user_data;
    (void)arguments;
    g->calls[g->started++] = call;
    return PHI_PENDING;
}

/* The first one to be stepped ends the second. */
static phi_flow ring_step(void *user_data, phi_call call) {
    ring *g = (ring *)user_data;
    size_t i;
    for (i = 0; i < 3; i++)
        if (g->calls[i].index == call.index) g->steps[i]++;
    if (call.index == g->calls[0].index) (void)give(g->calls[1], "ended by another");
    return PHI_PENDING;
}

TEST(each_polled_call_is_stepped_once_a_step_also_when_the_ring_shrinks) {
    rig *r = rig_new();
    ring g;
    phi_tool tool;
    phi_agent agent;
    memset(&g, 0, sizeof g);
    memset(&tool, 0, sizeof tool);
    tool.name = "wait";
    tool.start = ring_start;
    tool.step = ring_step;
    tool.user_data = &g;
    agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
    rig_calls(r, three, 3);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    while (g.started < 3) (void)rig_step(r);
    (void)rig_step(r);
    CHECK_EQ_INT(g.steps[0], 1);
    CHECK_EQ_INT(g.steps[1], 0);
    CHECK_EQ_INT(g.steps[2], 1);
    (void)rig_step(r);
    CHECK_EQ_INT(g.steps[0], 2);
    CHECK_EQ_INT(g.steps[2], 2);
    rig_free(r);
}

TEST(updates_that_nobody_pops_are_refused_and_the_result_still_comes) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, false);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_status status = PHI_OK;
    int i;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.event_queue_bytes = 20000;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_silent(r, true);
    for (i = 0; i < 1000 && status == PHI_OK; i++)
        status = phi_call_update(a.calls[0], "a part of it", 12);
    CHECK_EQ_INT(status, PHI_FULL);
    CHECK_EQ_INT(phi_call_progress(a.calls[0], "nearly", 6), PHI_FULL);
    CHECK_EQ_INT(give(a.calls[0], "whole"), PHI_OK);
    rig_silent(r, false);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_STR(phi_message_at(agent, 2)->content[0].text, "whole");
    rig_free(r);
}

TEST(two_agents_share_a_tool_and_one_goes) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, true);
    phi_agent one = waiting(r, &tool, PHI_TOOLS_PARALLEL),
              two = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
    size_t i;
    rig_calls(r, three, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(two, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 2);
    CHECK_EQ_INT(a.started, 6);
    CHECK_EQ_INT(phi_agent_free(one), PHI_OK);
    CHECK_EQ_INT(a.cancelled, 3);
    for (i = 0; i < 3; i++) CHECK_EQ_INT(give(a.calls[i], "x"), PHI_STALE);
    for (i = 3; i < 6; i++) CHECK_EQ_INT(give(a.calls[i], "x"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_message_count(two), 6);
    rig_free(r);
}

TEST(a_thousand_calls_of_one_answer_get_a_thousand_results_in_order) {
    rig *r = rig_new();
    static act a;
    static char lines[1000][32];
    static const char *calls[1000];
    phi_tool tool = act_tool(&a, r, false);
    phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
    size_t i;
    CHECK_EQ_INT(phi_agent_set_repeat_limits(agent, 0, 0), PHI_OK);
    for (i = 0; i < 1000; i++) {
        (void)snprintf(lines[i], sizeof lines[i], "c%u wait {}", (unsigned)i);
        calls[i] = lines[i];
    }
    for (i = 0; i < 1000; i += 250) { /* four answers: the rig's buffer holds no more */
        size_t n;
        rig_calls(r, calls + i, 250);
        if (i == 0) CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 40), 1);
        CHECK_EQ_INT(a.started, i + 250);
        for (n = 250; n > 0; n--) CHECK_EQ_INT(give(a.calls[i + n - 1], "ok"), PHI_OK);
    }
    rig_says(r, "done");
    CHECK_EQ_INT(rig_run(r, 40), 0);
    REQUIRE(phi_message_count(agent) == 1 + 4 + 1000 + 1);
    for (i = 0; i < 250; i++) {
        char want[16];
        (void)snprintf(want, sizeof want, "c%u", (unsigned)i);
        CHECK_STR(phi_message_at(agent, 2 + i)->tool_call_id, want);
    }
    rig_free(r);
}

/* ---- memory ---- */

static size_t count_of(const char *story, const char *word) {
    size_t n = 0;
    const char *at;
    for (at = story; (at = strstr(at, word)) != NULL; at++) n++;
    return n;
}

/* Every call of the log has one result, in call order. */
static bool log_is_whole(phi_agent agent) {
    size_t n = phi_message_count(agent), i, k;
    for (i = 0; i < n; i++) {
        const phi_message *m = phi_message_at(agent, i);
        size_t at = i;
        if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason == PHI_STOP_REASON_ERROR ||
            m->stop_reason == PHI_STOP_REASON_ABORTED)
            continue;
        for (k = 0; k < m->content_count; k++) {
            const phi_message *result;
            if (m->content[k].kind != PHI_CONTENT_TOOL_CALL) continue;
            result = phi_message_at(agent, ++at);
            if (result == NULL || result->role != PHI_ROLE_TOOL_RESULT ||
                !phi_str_equal(result->tool_call_id, m->content[k].id))
                return false;
        }
        if (at + 1 < n && phi_message_at(agent, at + 1)->role == PHI_ROLE_TOOL_RESULT) return false;
    }
    return true;
}

/* Fails allocations from the abort on: `once` the n-th, else all from there. */
static bool abort_without_memory(phi_tool_mode mode, int n, bool once) {
    rig *r = rig_new();
    static act a;
    phi_tool tool = act_tool(&a, r, true);
    phi_agent agent = waiting(r, &tool, mode);
    bool tripped;
    if (once)
        test_alloc_fail_at(n);
    else
        test_alloc_fail_from(n);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    if (!CHECK_EQ_INT(rig_run(r, 50), 0)) printf("at %d:\n%s", n, rig_story(r));
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
    CHECK_EQ_INT(a.cancelled, a.started);
    rig_says(r, "here");
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    if (!CHECK(log_is_whole(agent))) printf("at %d:\n%s", n, rig_story(r));
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
    return tripped;
}

TEST(an_abort_ends_whatever_allocation_fails_in_it) {
    int mode, n;
    for (mode = 0; mode < 2; mode++) {
        bool tripped = true;
        for (n = 0; tripped && n < 300; n++)
            tripped = abort_without_memory((phi_tool_mode)mode, n, true);
        CHECK(n > 1);
        for (n = 0; n < 12; n++) (void)abort_without_memory((phi_tool_mode)mode, n, false);
    }
}

/* A run lost its calls' results; then prompts fail at every point before one succeeds. */
TEST(a_prompt_that_fails_after_it_answered_lost_calls_leaves_nothing_behind) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 100; n++) {
        rig *r = rig_new();
        static act a;
        phi_tool tool = act_tool(&a, r, true);
        phi_agent agent = waiting(r, &tool, PHI_TOOLS_PARALLEL);
        phi_status status;
        test_alloc_fail_from(0);
        CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 50), 0);
        test_alloc_fail_at(n);
        status = phi_prompt(agent, "again");
        tripped = test_alloc_tripped();
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        test_alloc_fail_at(-1);
        if (tripped) CHECK_EQ_INT(rig_run(r, 2), 0);
        rig_says(r, "here");
        if (tripped) CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK(log_is_whole(agent));
        rig_free(r);
    }
    CHECK(n > 1);
}

TEST(an_agent_freed_in_mid_stream_and_in_mid_tool_survives_every_failed_allocation) {
    int n, when;
    for (when = 0; when < 12; when++) {
        bool tripped = true;
        for (n = 0; tripped && n < 200; n++) {
            rig *r = rig_new();
            static act a;
            phi_tool tool = act_tool(&a, r, true);
            phi_agent agent = act_agent(r, &tool, PHI_TOOLS_PARALLEL);
            rig_chunk(r, 200);
            rig_calls(r, three, 3);
            test_alloc_fail_at(n);
            if (phi_prompt(agent, "go") == PHI_OK) (void)rig_run(r, when);
            CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(rig_run(r, 2), 0);
            CHECK_EQ_INT(rig_open_transfers(r), 0);
            rig_free(r);
        }
    }
}

TEST_MAIN(TEST_ENTRY(a_cancel_function_may_free_its_own_agent_while_that_is_freed),
          TEST_ENTRY(a_cancel_function_may_free_its_agent_on_abort_and_at_a_deadline),
          TEST_ENTRY(a_call_that_was_finished_keeps_its_result_and_is_not_told_to_cancel),
          TEST_ENTRY(a_result_given_in_cancel_is_stale),
          TEST_ENTRY(a_tool_may_free_another_agent_in_any_state),
          TEST_ENTRY(a_tool_may_prompt_another_agent),
          TEST_ENTRY(a_tool_may_not_prompt_its_own_agent_nor_free_the_runtime),
          TEST_ENTRY(no_agent_is_made_while_the_runtime_is_freed),
          TEST_ENTRY(a_step_that_said_done_is_not_called_again_while_its_result_is_in_a_long_inbox),
          TEST_ENTRY(each_polled_call_is_stepped_once_a_step_also_when_the_ring_shrinks),
          TEST_ENTRY(updates_that_nobody_pops_are_refused_and_the_result_still_comes),
          TEST_ENTRY(two_agents_share_a_tool_and_one_goes),
          TEST_ENTRY(a_thousand_calls_of_one_answer_get_a_thousand_results_in_order),
          TEST_ENTRY(an_abort_ends_whatever_allocation_fails_in_it),
          TEST_ENTRY(a_prompt_that_fails_after_it_answered_lost_calls_leaves_nothing_behind),
          TEST_ENTRY(an_agent_freed_in_mid_stream_and_in_mid_tool_survives_every_failed_allocation))
