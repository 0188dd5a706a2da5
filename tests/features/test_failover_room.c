/* test_failover_room.c - which models a run passes over: windows, budgets and limits together, and tools of a source that the
   model of the next seat refuses. */
#include "features/failover.h"

#include "agent/snapshot.h"
#include "loop/tool_source.h"
#include "support/heard.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent.h"
#include "agent/agent_info.h"
#include "loop/hook.h"

#define TOO_LONG                                                                                   \
    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","                           \
    "\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}"

typedef struct set {
    phi_failover failover;
    phi_failover_model models[2];
} set;

/* The agent of the rig, with two models more: m2 and m3. */
static phi_agent_desc desc_of(set *s) {
    phi_agent_desc desc = rig_desc();
    memset(s, 0, sizeof *s);
    s->models[0].model = phi_model_anthropic("m2", "key-2");
    s->models[1].model = phi_model_anthropic("m3", "key-3");
    s->failover.models = s->models;
    s->failover.model_count = 2;
    desc.failover = &s->failover;
    return desc;
}

static bool has(rig *r, size_t i, const char *text) {
    const char *request = rig_request(r, i);
    return request != NULL && strstr(request, text) != NULL;
}

static void run(rig *r, phi_agent agent) {
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 600000), 0);
}

static void ended(rig *r, const char *with) {
    if (!CHECK(strstr(rig_story(r), with) != NULL)) printf("%s\n", rig_story(r));
}

/* ---- windows and budgets ---- */

TEST(a_prompt_that_is_too_long_is_compared_with_the_window_of_the_model_that_failed) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    desc.compaction.disable = true;
    desc.max_tokens = 20;
    desc.budget.max_cost = 1;
    desc.model.context_window = 8000;
    s.models[0].model.context_window = 200000;
    s.models[0].model.cost.output = 1000000; /* no room for it */
    s.models[1].model.context_window = 128000;
    agent = rig_agent(r, &desc);
    rig_replies(r, 400, HEARD_JSON, TOO_LONG);
    rig_says(r, "Here.");
    run(r, agent);
    ended(r, "Failover \"anthropic/test-model\" to \"anthropic/m3\" 1/2\n");
    ended(r, "AgentEnd ok");
    CHECK(has(r, rig_requests(r) - 1, "\"m3\""));
    rig_free(r);
}

TEST(the_last_turn_of_a_limit_goes_to_the_next_model_too) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    desc.limits.max_turns = 1;
    desc.budget.max_requests = 2;
    agent = rig_agent(r, &desc);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    rig_says(r, "Here.");
    run(r, agent);
    ended(r, "AgentEnd ok");
    CHECK(has(r, rig_requests(r) - 1, "\"m2\""));
    rig_free(r);
}

/* ---- pauses ---- */

/* An agent that pauses at limits, whose own model fails; m2 costs $20 a call, m3 $40. */
static phi_agent_desc desc_that_pauses(set *s, rig *r) {
    phi_agent_desc desc = desc_of(s);
    desc.limits.pause = true;
    desc.max_tokens = 20;
    desc.budget.max_cost = 1;
    s->models[0].model.cost.output = 1000000;
    s->models[1].model.cost.output = 2000000;
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    return desc;
}

static size_t pending_of(rig *r, phi_pending_item *first) {
    return phi_pending(rig_runtime(r), first, 1);
}

/* Its prompt, until the run pauses. */
static void paused(rig *r, phi_agent agent) {
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(count_of(rig_story(r), "Paused"), 1);
    CHECK_EQ_INT(rig_requests(r), 1);
}

TEST(a_run_that_may_pause_waits_for_a_budget_with_room_for_the_next_model) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_that_pauses(&s, r);
    phi_agent agent = rig_agent(r, &desc);
    phi_raise more = PHI_ZERO;
    phi_pending_item item;
    rig_says(r, "Here.");
    paused(r, agent);
    ended(r, "Paused \"Cost budget reached ($0.0000/$1.0000, the next call may take $40.0000)\"\n");
    REQUIRE(pending_of(r, &item) == 1);
    CHECK_EQ_INT(item.kind, PHI_WAITING_BUDGET);
    CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
    more.cost = 5; /* too little: it stays where it is */
    CHECK_EQ_INT(phi_budget_raise(agent, &more), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(count_of(rig_story(r), "Paused"), 1);
    REQUIRE(pending_of(r, &item) == 1);
    CHECK_STR(item.text, "Cost budget reached ($0.0000/$6.0000, the next call may take $40.0000)");
    more.cost = 15;
    CHECK_EQ_INT(phi_budget_raise(agent, &more), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 600000), 0);
    ended(r, "Failover \"anthropic/test-model\" to \"anthropic/m2\" 1/2\n");
    ended(r, "AgentEnd ok");
    CHECK_EQ_INT(pending_of(r, &item), 0);
    CHECK(phi_agent_get_info(agent).spending.reserved_cost == 0);
    rig_free(r);
}

TEST(a_run_that_may_pause_waits_for_more_of_its_limit_before_the_next_model) {
    rig *r = rig_new();
    set s;
    phi_agent_desc desc = desc_that_pauses(&s, r);
    phi_agent agent;
    phi_raise more = PHI_ZERO;
    desc.budget.max_cost = 100;
    desc.limits.max_duration_ms = 1000;
    desc.retry.disable = false;
    desc.retry.max_retries = 1;
    desc.retry.initial_delay_ms = 5000;
    agent = rig_agent(r, &desc);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    rig_says(r, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run_until(r, 10000);
    ended(r, "Max duration reached");
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.reserved_tokens,
                 0); /* others may have it meanwhile */
    CHECK_EQ_INT(count_of(rig_story(r), "Failover"), 0);
    more.duration_ms = 60000;
    CHECK_EQ_INT(phi_budget_raise(agent, &more), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 600000), 0);
    ended(r, "Failover \"anthropic/test-model\" to \"anthropic/m2\" 1/2\n");
    ended(r, "AgentEnd ok");
    rig_free(r);
}

TEST(a_pause_before_the_next_model_ends_by_its_deadline_an_abort_a_stop_and_the_agents_end) {
    int how;
    for (how = 0; how < 4; how++) {
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_that_pauses(&s, r);
        phi_agent agent;
        phi_pending_item item;
        desc.deadlines.decision_ms = 1000;
        agent = rig_agent(r, &desc);
        paused(r, agent);
        if (how == 1) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        if (how == 2) CHECK_EQ_INT(phi_stop(agent), PHI_OK);
        if (how == 3) phi_agent_free(agent);
        CHECK_EQ_INT(rig_run_until(r, how == 0 ? 2000 : 100), 0);
        CHECK_EQ_INT(pending_of(r, &item), 0);
        if (how == 0)
            ended(r, "Error server \"boom (other models: anthropic/m2: Cost budget reached "
                     "($0.0000/$1.0000, the next call may take $20.0000); anthropic/m3: Cost "
                     "budget reached ($0.0000/$1.0000, the next call may take $40.0000))\"");
        if (how < 3) {
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
            CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
            rig_says(r, "Again.");
            run(r, agent);
            ended(r, "AgentEnd ok");
        }
        rig_free(r);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    }
}

TEST(a_snapshot_of_such_a_pause_calls_the_failed_model_again_and_pauses) {
    rig *r = rig_new(), *other = rig_new();
    phi_memory memory;
    phi_arena arena;
    phi_str saved = {NULL, 0};
    set s;
    phi_agent_desc desc = desc_that_pauses(&s, r);
    phi_agent agent = rig_agent(r, &desc);
    phi_raise more = PHI_ZERO;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    paused(r, agent);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK);
    agent = phi_agent_restore(rig_runtime(other), &desc, saved, PHI_RESTORE_RESUME);
    REQUIRE(agent.rt != NULL);
    rig_replies(other, 500, HEARD_JSON, HEARD_BOOM);
    rig_says(other, "Here.");
    (void)rig_run(other, 20);
    ended(other, "Paused");
    more.cost = 30;
    CHECK_EQ_INT(phi_budget_raise(agent, &more), PHI_OK);
    CHECK_EQ_INT(rig_run_until(other, 600000), 0);
    ended(other, "to \"anthropic/m2\" 1/2\n");
    ended(other, "AgentEnd ok");
    phi_arena_free(&arena);
    rig_free(other);
    rig_free(r);
}

/* how 0: it is raised; 1: its deadline; 2: aborted; 3: saved once more, and freed. */
TEST(a_snapshot_of_a_pause_at_a_limit_makes_no_call_before_there_is_room) {
    int how;
    for (how = 0; how < 4; how++) {
        rig *r = rig_new(), *other = rig_new();
        phi_memory memory;
        phi_arena arena;
        phi_str saved = {NULL, 0}, again = {NULL, 0};
        set s;
        phi_agent_desc desc = desc_that_pauses(&s, r);
        phi_agent agent;
        phi_raise more = PHI_ZERO;
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        desc.budget.max_cost = 100;
        desc.budget.max_requests = 1;
        desc.deadlines.decision_ms = 1000;
        agent = rig_agent(r, &desc);
        paused(r, agent);
        CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK);
        agent = phi_agent_restore(rig_runtime(other), &desc, saved, PHI_RESTORE_RESUME);
        REQUIRE(agent.rt != NULL);
        rig_replies(other, 500, HEARD_JSON, HEARD_BOOM);
        rig_says(other, "Here.");
        (void)rig_run(other, 20);
        ended(other, "Paused \"Request budget reached (1/1)\"");
        CHECK_EQ_INT(rig_requests(other), 0);
        CHECK_EQ_INT(phi_agent_get_info(agent).spending.requests, 1);
        more.requests = 2;
        if (how == 0) CHECK_EQ_INT(phi_budget_raise(agent, &more), PHI_OK);
        if (how == 2) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        if (how == 3) {
            CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &again), PHI_OK);
            phi_agent_free(agent);
            agent = phi_agent_restore(rig_runtime(other), &desc, again, PHI_RESTORE_RESUME);
            REQUIRE(agent.rt != NULL);
            (void)rig_run(other, 20);
            CHECK_EQ_INT(rig_requests(other), 0);
            CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        }
        CHECK_EQ_INT(rig_run_until(other, 600000), 0);
        CHECK_EQ_INT(rig_requests(other), how == 0 ? 2 : 0);
        CHECK_EQ_INT(phi_agent_get_info(agent).spending.requests, how == 0 ? 3 : 1);
        if (how == 0) ended(other, "to \"anthropic/m2\" 1/2\n");
        if (how == 0) ended(other, "AgentEnd ok");
        if (how == 1) ended(other, "Error quota \"Request budget reached (1/1)");
        CHECK_EQ_INT(count_of(rig_story(other), "AgentEnd"), 1);
        CHECK_EQ_INT(count_of(rig_story(other), "Paused"), how == 3 ? 2 : 1);
        CHECK(phi_agent_get_info(agent).spending.reserved_cost == 0);
        phi_arena_free(&arena);
        rig_free(other);
        rig_free(r);
    }
}

TEST(the_agent_survives_every_failed_allocation_of_such_a_pause) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 3000; n++) {
        rig *r = rig_new();
        set s;
        phi_agent_desc desc = desc_that_pauses(&s, r);
        phi_agent agent = rig_agent(r, &desc);
        phi_raise more = PHI_ZERO;
        rig_careless(r);
        rig_says(r, "Here.");
        more.cost = 30;
        CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
        test_alloc_fail_at(n);
        (void)rig_run(r, 20);
        if (phi_agent_get_info(agent).running) CHECK_EQ_INT(phi_budget_raise(agent, &more), PHI_OK);
        CHECK_EQ_INT(rig_run_until(r, 600000), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
        if (!tripped) ended(r, "AgentEnd ok, 2 messages");
        CHECK(phi_agent_get_info(agent).spending.reserved_cost == 0);
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 20 && !tripped);
}

/* ---- tools of a source ---- */

#define SSE "Content-Type: text/event-stream\r\n"
#define GOOGLE_SAYS                                                                                \
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Own.\"}]},"    \
    "\"finishReason\":\"STOP\"}]}\n\n"

typedef struct shelf {
    phi_tool_source source;
    phi_tool tools[2];
    uint64_t version;
    bool grows; /* each look finds another version */
    int left;   /* lists until one fails for want of memory; 0: none does */
    int out;
} shelf;

static uint64_t shelf_version(void *user_data) {
    shelf *s = (shelf *)user_data;
    if (s->grows) s->version++;
    return s->version;
}

static phi_status shelf_take(void *user_data, const phi_tool **tools, size_t *count) {
    shelf *s = (shelf *)user_data;
    if (s->left > 0 && --s->left == 0) return PHI_NO_MEMORY;
    s->out++;
    *tools = s->tools;
    *count = 2;
    return PHI_OK;
}

static void shelf_release(void *user_data, const phi_tool *tools) {
    (void)tools;
    ((shelf *)user_data)->out--;
}

static void shelf_begin(shelf *s) {
    memset(s, 0, sizeof *s);
    s->tools[0] = rig_echo();
    s->tools[1] = rig_echo();
    s->tools[1].name = "7up"; /* which Google refuses */
    s->source.user_data = s;
    s->source.version = shelf_version;
    s->source.take = shelf_take;
    s->source.release = shelf_release;
}

/* An agent at Google whose tools come from a shelf; it stays with m2 for a second, and that is over. */
static phi_agent agent_back_soon(rig *r, shelf *s, phi_agent_desc *desc) {
    const phi_tool_source *sources[1];
    phi_agent agent;
    shelf_begin(s);
    sources[0] = &s->source;
    desc->tool_options.sources = sources;
    desc->tool_options.source_count = 1;
    agent = rig_agent(r, desc);
    rig_replies(r, 500, HEARD_JSON, "{}");
    rig_says(r, "Here.");
    run(r, agent);
    CHECK(has(r, 1, "\"m2\"") && has(r, 1, "\"echo\"") && has(r, 1, "\"7up\""));
    rig_pass_ms(r, 2000);
    return agent;
}

TEST(the_first_request_after_a_stay_carries_the_tools_that_the_agents_own_model_takes) {
    rig *r = rig_new();
    set s;
    shelf shelf_of;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    desc.model = phi_model_google("gemini-2.5-pro", "key-1");
    s.failover.stay = PHI_FAILOVER_STAY_FOR;
    s.failover.stay_ms = 1000;
    agent = agent_back_soon(r, &shelf_of, &desc);
    rig_replies(r, 200, SSE, GOOGLE_SAYS);
    run(r, agent);
    ended(r, "MessageEnd assistant \"Own.\" stop\n");
    CHECK(has(r, 2, "functionDeclarations") && has(r, 2, "\"echo\""));
    CHECK(!has(r, 2, "7up"));
    rig_free(r);
    CHECK_EQ_INT(shelf_of.out, 0);
}

TEST(a_run_that_pauses_keeps_its_tools_while_it_looks_for_room) {
    const phi_tool_source *sources[1];
    rig *r = rig_new();
    set s;
    shelf shelf_of;
    phi_agent_desc desc = desc_that_pauses(&s, r);
    phi_agent agent;
    phi_raise more = PHI_ZERO;
    int i;
    shelf_begin(&shelf_of);
    sources[0] = &shelf_of.source;
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 1;
    s.models[0].model = phi_model_google("gemini-2.5-pro", "key-2");
    s.models[0].model.cost.output = 1000000;
    agent = rig_agent(r, &desc);
    paused(r, agent);
    more.cost = 1;
    for (i = 0; i < 3; i++) { /* each wakes it */
        CHECK_EQ_INT(phi_budget_raise(agent, &more), PHI_OK);
        (void)rig_run(r, 20);
    }
    CHECK_EQ_INT(count_of(rig_story(r), "ToolsChanged"), 0);
    more.cost = 20;
    CHECK_EQ_INT(phi_budget_raise(agent, &more), PHI_OK);
    rig_replies(r, 200, SSE, GOOGLE_SAYS);
    CHECK_EQ_INT(rig_run_until(r, 600000), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "ToolsChanged"), 1);
    CHECK(has(r, 1, "\"echo\"") && !has(r, 1, "7up"));
    ended(r, "AgentEnd ok");
    rig_free(r);
    CHECK_EQ_INT(shelf_of.out, 0);
}

TEST(a_run_behind_a_stay_ends_where_its_own_models_tools_find_no_memory) {
    rig *r = rig_new();
    set s;
    shelf shelf_of;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    desc.model = phi_model_google("gemini-2.5-pro", "key-1");
    s.failover.stay = PHI_FAILOVER_STAY_FOR;
    s.failover.stay_ms = 1000;
    agent = agent_back_soon(r, &shelf_of, &desc);
    shelf_of.grows = true;
    shelf_of.left = 2; /* the run takes one list as it begins, and one for the seat */
    run(r, agent);
    ended(r, "AgentEnd the allocator or a memory limit said no");
    CHECK_EQ_INT(rig_requests(r), 2);
    rig_replies(r, 200, SSE, GOOGLE_SAYS);
    run(r, agent); /* and the agent is usable */
    ended(r, "AgentEnd ok");
    CHECK(!has(r, 2, "7up"));
    rig_free(r);
    CHECK_EQ_INT(shelf_of.out, 0);
}

TEST(a_restored_run_carries_the_tools_that_the_model_of_its_seat_takes) {
    rig *r = rig_new(), *other = rig_new();
    phi_memory memory;
    phi_arena arena;
    phi_str saved = {NULL, 0};
    const phi_tool_source *sources[1];
    set s;
    shelf shelf_of;
    phi_agent_desc desc = desc_of(&s);
    phi_agent agent;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    shelf_begin(&shelf_of);
    sources[0] = &shelf_of.source;
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 1;
    s.models[0].model = phi_model_google("gemini-2.5-pro", "key-1");
    agent = rig_agent(r, &desc);
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    (void)rig_run(r, 50);
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 2));
    CHECK(has(r, 0, "7up") && !has(r, 1, "7up"));
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK);
    REQUIRE(phi_agent_restore(rig_runtime(other), &desc, saved, PHI_RESTORE_RESUME).rt != NULL);
    rig_replies(other, 200, SSE, GOOGLE_SAYS);
    CHECK_EQ_INT(rig_run_until(other, 600000), 0);
    ended(other, "AgentEnd ok");
    CHECK(has(other, 0, "\"echo\"") && !has(other, 0, "7up"));
    phi_arena_free(&arena);
    rig_free(other);
    rig_free(r);
    CHECK_EQ_INT(shelf_of.out, 0);
}

TEST_MAIN(
    TEST_ENTRY(a_prompt_that_is_too_long_is_compared_with_the_window_of_the_model_that_failed),
    TEST_ENTRY(the_last_turn_of_a_limit_goes_to_the_next_model_too),
    TEST_ENTRY(the_first_request_after_a_stay_carries_the_tools_that_the_agents_own_model_takes),
    TEST_ENTRY(a_run_behind_a_stay_ends_where_its_own_models_tools_find_no_memory),
    TEST_ENTRY(a_restored_run_carries_the_tools_that_the_model_of_its_seat_takes),
    TEST_ENTRY(a_run_that_may_pause_waits_for_a_budget_with_room_for_the_next_model),
    TEST_ENTRY(a_run_that_may_pause_waits_for_more_of_its_limit_before_the_next_model),
    TEST_ENTRY(a_run_that_pauses_keeps_its_tools_while_it_looks_for_room),
    TEST_ENTRY(
        a_pause_before_the_next_model_ends_by_its_deadline_an_abort_a_stop_and_the_agents_end),
    TEST_ENTRY(a_snapshot_of_such_a_pause_calls_the_failed_model_again_and_pauses),
    TEST_ENTRY(a_snapshot_of_a_pause_at_a_limit_makes_no_call_before_there_is_room),
    TEST_ENTRY(the_agent_survives_every_failed_allocation_of_such_a_pause))
