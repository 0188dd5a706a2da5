/* Evaluations of agents with stores, limits, filters and parents; their events as JSON; and whole worlds of them, at
   random. */
#include "agent/one_shot_run.h"
#include "agent/snapshot.h"
#include "orchestrate/actors.h"
#include "support/resumed.h"
#include "support/ask.h"
#include "support/store_mem.h"
#include "record/event_json.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/run.h"
#include "log/log_in.h"

/* ---- stores ---- */

TEST(a_store_has_the_branches_and_another_process_goes_on_with_the_winner) {
    store_mem *store = store_mem_new();
    stage s;
    stage_set(&s, rig_new(), 3);
    s.own.store = store_mem_store(store);
    s.own.thread_id = "t";
    REQUIRE(stage_open(&s));
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    s.actors[5].text = "3";
    CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    stage_evaluate(&s);
    (void)rig_step(s.r);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own|Why?|three");
    CHECK_EQ_INT(store_mem_count(store, "t"), phi_thread_count(phi_agent_thread(s.agent)));
    rig_free(s.r);
    stage_set(&s, rig_new(), 3);
    s.own.store = store_mem_store(store);
    s.own.thread_id = "t";
    REQUIRE(stage_open(&s));
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own|Why?|three");
    CHECK_EQ_STR(lane_texts(s.agent, "branch/s.play.a.1"), "Hello|own|Why?|one");
    stage_evaluate(&s); /* numbers go on, though the log was read back */
    CHECK_STR(stage_result(&s).branches[0].loop_id, "s.play.a.4");
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own|Why?|three|Why?|one");
    rig_free(s.r);
    store_mem_free(store);
}

TEST(a_store_that_fails_leaves_a_usable_agent) {
    int n;
    for (n = 0; n < 12; n++) {
        store_mem *store = store_mem_new();
        stage s;
        phi_evaluation e;
        stage_set(&s, rig_new(), 2);
        s.own.store = store_mem_store(store);
        s.own.thread_id = "t";
        REQUIRE(stage_open(&s));
        CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 100), 0);
        store_mem_fail_at(store, n, PHI_IO);
        if (phi_evaluate(s.agent, &s.desc) == PHI_OK) {
            CHECK_EQ_INT(rig_run(s.r, 200), 0);
            e = stage_result(&s);
            CHECK(e.status != PHI_BUSY);
        }
        store_mem_fail_at(store, -1, PHI_OK);
        CHECK_EQ_INT(phi_prompt(s.agent, "On"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 200), 0);
        CHECK_EQ_STR(text_at(s.agent, phi_thread_message_count(phi_agent_thread(s.agent)) - 1, 0),
                     "own");
        rig_free(s.r);
        store_mem_free(store);
    }
}

TEST(branches_fork_where_the_evaluation_began_whatever_the_host_does_to_the_thread) {
    int way;
    for (way = 0; way < 2; way++) {
        stage s;
        phi_content blocks[2];
        phi_message extra = text_message(PHI_ROLE_USER, blocks, "Extra");
        phi_thread *thread;
        stage_set(&s, rig_new(), 2);
        REQUIRE(stage_open(&s));
        CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 100), 0);
        s.desc.by = PHI_EVALUATE_JUDGE;
        s.desc.judge = &s.configs[5];
        s.actors[1].polls = 5;
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        CHECK(rig_run(s.r, 2) > 0);
        thread = phi_agent_thread(s.agent);
        if (way == 0) {
            CHECK_EQ_INT(phi_thread_append(thread, &extra, 1, NULL), PHI_OK);
            CHECK_EQ_INT(phi_thread_note(thread, "mine", phi_str_of("1"), NULL), PHI_OK);
        } else
            CHECK_EQ_INT(phi_thread_switch(thread, "elsewhere"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 100), 0);
        CHECK(begins(s.actors[5].asked, "Prior conversation context:\nUser: Hello\n"
                                        "Assistant: own\n\nOriginal query:\nWhy?\n"));
        CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own|Why?|one");
        CHECK_EQ_STR(lane_texts(s.agent, "branch/s.play.b.2"), "Hello|own|Why?|two");
        CHECK_EQ_STR(lane_texts(s.agent, "default"), way == 0 ? "Hello|own|Extra" : "Hello|own");
        rig_free(s.r);
    }
}

/* ---- limits, filters, other agents ---- */

TEST(branches_under_a_memory_limit_fail_and_the_others_win) {
    static char much[60000];
    stage s;
    memset(much, 'y', sizeof much - 1);
    stage_set(&s, rig_new(), 2);
    s.configs[1].memory.limit_bytes = 30000;
    REQUIRE(stage_open(&s));
    s.actors[1].text = much;
    stage_evaluate(&s);
    CHECK_EQ_INT(stage_result(&s).status, PHI_OK);
    CHECK_EQ_INT(stage_result(&s).branches[0].status, PHI_NO_MEMORY);
    CHECK_EQ_INT(stage_result(&s).selected, 1);
    rig_free(s.r);
}

TEST(a_branch_under_a_memory_limit_sees_the_whole_view_or_does_not_begin) {
    static char much[9000];
    stage s;
    size_t limit;
    int i;
    memset(much, 'y', sizeof much - 1);
    for (limit = 20000; limit < 120000; limit += 5000) {
        phi_status status;
        stage_set(&s, rig_new(), 2);
        s.configs[1].memory.limit_bytes = limit;
        REQUIRE(stage_open(&s));
        for (i = 0; i < 4; i++) {
            CHECK_EQ_INT(phi_prompt(s.agent, much), PHI_OK);
            CHECK_EQ_INT(rig_run(s.r, 100), 0);
        }
        status = phi_evaluate(s.agent, &s.desc);
        if (status != PHI_OK) {
            CHECK_EQ_INT(status, PHI_NO_MEMORY);
            CHECK(limit < 60000);
        } else
            CHECK_EQ_INT(rig_run(s.r, 100), 0);
        CHECK(s.actors[1].opens == 0 || s.actors[1].messages == 9);
        if (limit == 20000)
            CHECK_EQ_STR(words_of(s.r),
                         "phi_evaluate: configs[0]: out of memory for a copy of the view");
        rig_free(s.r);
    }
}

TEST(an_agent_at_its_memory_limit_keeps_what_it_had) {
    static char much[40000];
    stage s;
    phi_evaluation e;
    memset(much, 'y', sizeof much - 1);
    stage_set(&s, rig_new(), 2);
    s.own.memory.limit_bytes = 60000;
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    s.actors[1].text = s.actors[2].text = much;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 200), 0);
    e = stage_result(&s);
    CHECK_EQ_INT(e.status, PHI_NO_MEMORY);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own");
    rig_free(s.r);
}

TEST(without_a_prompt_an_agent_at_its_memory_limit_is_out_of_memory) {
    phi_content blocks[2];
    phi_message message = text_message(PHI_ROLE_USER, blocks, "Which?");
    int n = 0, i;
    bool tripped = true;
    for (; tripped && n < 4000; n++) {
        stage s;
        phi_status status;
        stage_set(&s, rig_new(), 2);
        s.desc.by = PHI_EVALUATE_JUDGE;
        s.desc.judge = &s.configs[5];
        REQUIRE(stage_open(&s));
        for (i = 0; i < 3; i++) {
            CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
            CHECK_EQ_INT(rig_run(s.r, 100), 0);
        }
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s.agent), &message, 1, NULL), PHI_OK);
        s.desc.prompt = NULL;
        test_alloc_fail_from(n); /* as at a limit: nothing more comes */
        status = phi_evaluate(s.agent, &s.desc);
        if (status == PHI_OK) CHECK_EQ_INT(rig_run(s.r, 200), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_from(-1);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        CHECK_EQ_INT(rig_run(s.r, 200), 0);
        CHECK(begins(lane_texts(s.agent, NULL), "Hello|own|Hello|own|Hello|own|Which?"));
        rig_free(s.r);
    }
    CHECK(n > 50 && n < 4000);
}

TEST(the_text_of_a_branch_is_its_last_answer_not_what_came_behind_it) {
    stage s;
    phi_evaluation e;
    phi_tool echo = rig_echo();
    stage_set(&s, rig_new(), 2);
    s.own.tools = &echo;
    s.own.tool_count = 1;
    s.configs[1].limits.max_turns = 1;
    s.actors[1].tool = "echo";
    REQUIRE(stage_open(&s));
    stage_evaluate(&s);
    e = stage_result(&s);
    CHECK_EQ_INT(e.branches[0].status, PHI_LIMIT);
    CHECK_STR(e.branches[0].text, "one");
    CHECK_EQ_INT(e.selected, 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.agent)),
                 4); /* the result, and the words of the limit */
    rig_free(s.r);
}

TEST(ids_of_calls_differ_along_a_lane_though_branches_use_the_same) {
    stage s;
    phi_tool echo = rig_echo();
    const phi_message *first, *second;
    int i;
    stage_set(&s, rig_new(), 2);
    s.own.tools = &echo;
    s.own.tool_count = 1;
    for (i = 1; i < 3; i++) {
        s.configs[i].limits.max_turns = 1;
        s.actors[i].tool = "echo"; /* each time as "c1" */
    }
    REQUIRE(stage_open(&s));
    stage_evaluate(&s);
    stage_evaluate(&s);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.agent)), 8);
    first = phi_thread_message_at(phi_agent_thread(s.agent), 1);
    second = phi_thread_message_at(phi_agent_thread(s.agent), 5);
    CHECK_STR(first->content[1].id, "c1");
    CHECK(!phi_str_equal(second->content[1].id, first->content[1].id));
    CHECK(phi_str_equal(phi_thread_message_at(phi_agent_thread(s.agent), 6)->tool_call_id,
                        second->content[1].id));
    rig_free(s.r);
}

TEST(calls_that_wait_get_their_results_in_the_agents_own_lane) {
    stage s;
    phi_content block;
    phi_message message = text_message(PHI_ROLE_USER, &block, "Look");
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s.agent), &message, 1, NULL), PHI_OK);
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TOOL_CALL;
    block.id = PHI__LIT("c9");
    block.name = PHI__LIT("look");
    block.arguments = PHI__LIT("{}");
    message.role = PHI_ROLE_ASSISTANT;
    message.stop_reason = PHI_STOP_REASON_TOOL_USE;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s.agent), &message, 1, NULL), PHI_OK);
    s.desc.prompt = NULL;
    stage_evaluate(&s);
    CHECK_STR(stage_result(&s).query, "Look");
    CHECK_EQ_INT(s.actors[1].messages, 3);
    CHECK_EQ_STR(
        lane_texts(s.agent, NULL),
        "Look||The process ended before this call had a result|one"); /* words of a lost result */
    CHECK_EQ_STR(lane_texts(s.agent, "default"),
                 "Look||The process ended before this call had a result");
    rig_free(s.r);
}

TEST(an_evaluation_that_is_refused_answers_no_calls) {
    stage s;
    phi_content block;
    phi_message message = text_message(PHI_ROLE_USER, &block, "Look");
    phi_agent_desc bad;
    stage_set(&s, rig_new(), 2);
    s.configs[2].max_tokens = 1000;
    s.own.budget.max_tokens = 500;
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s.agent), &message, 1, NULL), PHI_OK);
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TOOL_CALL;
    block.id = PHI__LIT("c9");
    block.name = PHI__LIT("look");
    block.arguments = PHI__LIT("{}");
    message.role = PHI_ROLE_ASSISTANT;
    message.stop_reason = PHI_STOP_REASON_TOOL_USE;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s.agent), &message, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_LIMIT);
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(s.agent)), 2);
    bad = s.configs[1];
    bad.model.id = NULL;
    s.desc.configs = &bad;
    s.desc.config_count = 1;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(s.agent)), 2);
    rig_free(s.r);
}

TEST(numbers_go_on_behind_messages_that_came_from_elsewhere) {
    stage s;
    phi_content block;
    phi_message message = text_message(PHI_ROLE_USER, &block, "Hi");
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    message.loop_id = PHI__LIT("s.play.a.7");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s.agent), &message, 1, NULL), PHI_OK);
    stage_evaluate(&s);
    CHECK_STR(stage_result(&s).branches[0].loop_id, "s.play.a.8");
    CHECK_STR(stage_result(&s).branches[1].loop_id, "s.play.b.9");
    rig_free(s.r);
}

TEST(an_evaluation_counts_as_activity_of_the_session) {
    stage s;
    bool rotated = false;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    stage_evaluate(&s);
    (void)rig_step(s.r);
    CHECK_EQ_INT(phi_agent_rotate(s.agent, 60000, &rotated), PHI_OK);
    CHECK(!rotated);
    rig_pass_ms(s.r, 61000);
    CHECK_EQ_INT(phi_agent_rotate(s.agent, 60000, &rotated), PHI_OK);
    CHECK(rotated);
    rig_free(s.r);
}

TEST(a_limit_is_no_failure) {
    stage s;
    stage_set(&s, rig_new(), 2);
    s.configs[1].limits.max_cost = 0.00001;
    s.configs[1].model.cost.output = 1000;
    REQUIRE(stage_open(&s));
    stage_evaluate(&s);
    CHECK_EQ_INT(stage_result(&s).selected, 0);
    rig_free(s.r);
}

TEST(a_branch_without_an_answer_does_not_win_over_one_with_an_answer) {
    static const phi_evaluate_by by[] = {PHI_EVALUATE_FIRST, PHI_EVALUATE_TOKEN_EFFICIENT};
    size_t i;
    for (i = 0; i < PHI__COUNT(by); i++) {
        stage s;
        phi_evaluation e;
        stage_set(&s, rig_new(), 2);
        s.configs[1].limits.max_turns = 1; /* it calls a tool, and has no turn for an answer */
        s.actors[1].text = "";
        s.actors[1].tool = "look";
        REQUIRE(stage_open(&s));
        s.desc.by = by[i];
        stage_evaluate(&s);
        e = stage_result(&s);
        CHECK_EQ_INT(e.branches[0].status, PHI_LIMIT);
        CHECK_EQ_INT(e.branches[0].text.len, 0);
        CHECK_EQ_INT(e.selected, 1);
        rig_free(s.r);
    }
}

TEST(an_agent_of_phi_run_is_not_evaluated) {
    stage s;
    phi_run_desc order = PHI_ZERO;
    phi_thread *thread;
    phi_agent agent;
    phi_content blocks[2];
    phi_message prompt = text_message(PHI_ROLE_USER, blocks, "Hi");
    stage_set(&s, rig_new(), 2);
    thread = phi_thread_new(rig_runtime(s.r), 0);
    order.agent = &s.configs[0];
    order.thread = thread;
    order.prompts = &prompt;
    order.prompt_count = 1;
    agent = phi_run(rig_runtime(s.r), &order);
    CHECK_EQ_INT(phi_evaluate(agent, &s.desc), PHI_MISUSE);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    (void)rig_step(s.r);
    phi_thread_free(thread);
    rig_free(s.r);
}

TEST(an_agent_with_a_run_is_busy_and_a_closing_runtime_ends_all) {
    stage s;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    s.actors[0].hangs = s.actors[1].hangs = true;
    CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_BUSY);
    CHECK(rig_run(s.r, 5) > 0);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    CHECK(rig_run(s.r, 5) > 0);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(s.r)), PHI_BUSY);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(s.r)), PHI_OK);
    CHECK_EQ_INT(stage_result(&s).status, PHI_CANCELLED);
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_MISUSE);
    rig_free(s.r);
}

/* ---- inside callbacks ---- */

static phi_verdict deny_loop(void *user_data, phi_hook *hook) {
    (void)user_data;
    return hook->point == PHI_HOOK_BEFORE_LOOP ? PHI_DENY : PHI_ALLOW;
}

TEST(a_branch_that_a_hook_denies_does_not_win) {
    stage s;
    stage_set(&s, rig_new(), 2);
    s.configs[1].hook_points = PHI_HOOK_BEFORE_LOOP;
    s.configs[1].hook_fn = deny_loop;
    REQUIRE(stage_open(&s));
    stage_evaluate(&s);
    CHECK_EQ_INT(stage_result(&s).branches[0].status, PHI_DENIED);
    CHECK_EQ_INT(s.actors[1].opens, 0);
    CHECK_EQ_INT(stage_result(&s).selected, 1);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|two");
    rig_free(s.r);
}

static stage *nested;

static phi_flow evaluates(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    (void)user_data;
    CHECK_EQ_INT(phi_evaluate(nested->agent, &nested->desc), PHI_OK);
    CHECK_EQ_INT(phi_evaluate(nested->agent, &nested->desc), PHI_BUSY);
    CHECK_EQ_INT(phi_call_reply(call, "started"), PHI_OK);
    return PHI_PENDING;
}

TEST(a_tool_may_start_an_evaluation_of_another_agent) {
    stage s;
    phi_agent other;
    phi_agent_desc desc;
    phi_tool tool = PHI_ZERO;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    nested = &s;
    tool.name = "evaluates";
    tool.schema = "{\"type\":\"object\"}";
    tool.start = evaluates;
    s.actors[4].tool = "evaluates";
    desc = s.configs[4];
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.limits.max_turns = 1;
    other = phi_agent_new(rig_runtime(s.r), &desc);
    REQUIRE(other.rt != NULL);
    CHECK_EQ_INT(phi_prompt(other, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(stage_result(&s).status, PHI_OK);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|one");
    rig_free(s.r);
}

/* ---- events as JSON ---- */

static void as_json(void *user_data, const phi_event *event) {
    char *out = (char *)user_data;
    phi_memory memory;
    phi_arena arena;
    phi_str json = {"", 0}, again = {"", 0};
    phi_event back;
    if (event->kind != PHI_EV_PARALLEL_START && event->kind != PHI_EV_PARALLEL_END) return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(event, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_event_from_json(json, &arena, &back, NULL), PHI_OK);
    CHECK_EQ_INT(phi_event_to_json(&back, &arena, &again), PHI_OK);
    CHECK(phi_str_equal(json, again));
    (void)snprintf(out + strlen(out), 1000 - strlen(out), "%.*s\n", (int)json.len, json.at);
    phi_arena_free(&arena);
}

TEST(the_events_have_their_json) {
    char out[1000] = "";
    stage s;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    rig_watch(s.r, as_json, out);
    stage_evaluate(&s);
    CHECK(strstr(out, "\"type\":\"ParallelLoopStart\"") != NULL);
    CHECK(strstr(out, "\"loop_ids\":[\"s.play.a.1\",\"s.play.b.2\"]") != NULL);
    CHECK(strstr(out, "\"selected_loop_id\":\"s.play.a.1\",\"selected_config_index\":0") != NULL);
    CHECK(strstr(out, "\"evaluation_usage\":{\"input\":0") != NULL);
    rig_free(s.r);
}

/* ---- worlds at random ---- */

typedef struct world {
    stage s;
    uint32_t state;
    size_t starts, ends; /* PARALLEL events */
} world;

static void world_hears(void *user_data, const phi_event *event) {
    world *w = (world *)user_data;
    if (event->kind == PHI_EV_PARALLEL_START) w->starts++;
    if (event->kind == PHI_EV_PARALLEL_END) w->ends++;
    CHECK(w->starts - w->ends <= 1);
}

static uint32_t roll(world *w, uint32_t n) { return test_random(&w->state) % n; }

static phi_status world_choose(void *user_data, const phi_evaluation *e, size_t *selected,
                               phi_usage *usage) {
    world *w = (world *)user_data;
    (void)usage;
    *selected = roll(w, (uint32_t)e->branch_count + 1);
    return roll(w, 3) == 0 ? PHI_OK : roll(w, 5) == 0 ? PHI_REFUSED : PHI_BUSY;
}

static void world_set(world *w) {
    int i;
    for (i = 0; i < ACTORS; i++) {
        w->s.actors[i].polls = (int)roll(w, 6);
        w->s.actors[i].hangs = roll(w, 12) == 0;
        w->s.actors[i].text = roll(w, 6) == 0 ? NULL : roll(w, 2) == 0 ? "2" : "text";
    }
    w->s.desc.config_count = 1 + roll(w, 4);
    w->s.desc.by = (phi_evaluate_by)roll(w, 6);
    if (w->s.desc.by == PHI_EVALUATE_TRANSPARENT) w->s.desc.config_count = 1;
    w->s.desc.judge = &w->s.configs[5];
    w->s.desc.evaluate_fn = world_choose;
    w->s.desc.user_data = w;
}

static bool world_active(world *w) {
    phi_evaluation e;
    return phi_evaluation_result(w->s.agent, &e) == PHI_OK && e.status == PHI_BUSY;
}

static void world_act(world *w) {
    phi_evaluation e;
    memset(&e, 0, sizeof e);
    (void)phi_evaluation_result(w->s.agent, &e);
    switch (roll(w, 14)) {
    case 0: CHECK_EQ_INT(phi_abort(w->s.agent), PHI_OK); break;
    case 1: CHECK_EQ_INT(phi_stop(w->s.agent), PHI_OK); break;
    case 2:
        if (e.branch_count > 0)
            (void)phi_abort(e.branches[roll(w, (uint32_t)e.branch_count)].agent);
        break;
    case 3:
        if (e.branch_count > 0) phi_agent_free(e.branches[roll(w, (uint32_t)e.branch_count)].agent);
        break;
    case 4:
        if (world_active(w)) CHECK_EQ_INT(phi_prompt(w->s.agent, "x"), PHI_BUSY);
        break;
    case 5: (void)phi_steer(w->s.agent, "steer"); break;
    default: (void)rig_run(w->s.r, 1 + (int)roll(w, 4)); break;
    }
}

/* To another process, in the midst. */
static void world_move(world *w) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {"", 0};
    world old = *w;
    uint64_t count;
    bool active;
    (void)rig_run(w->s.r, 1); /* what is in the queue is not in the snapshot */
    (void)rig_run(w->s.r, 1);
    old = *w;
    active = world_active(w);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(w->s.agent, &arena, &text), PHI_OK);
    count = phi_thread_count(phi_agent_thread(w->s.agent));
    stage_set(&w->s, rig_new(), 4);
    world_set(w);
    w->s.desc.config_count = old.s.desc.config_count;
    w->s.desc.by = old.s.desc.by;
    rig_watch(w->s.r, world_hears, w);
    w->s.agent = phi_agent_restore(rig_runtime(w->s.r), &w->s.own, text, PHI_RESTORE_RESUME);
    CHECK(w->s.agent.rt != NULL);
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(w->s.agent)), count);
    CHECK_EQ_INT(evaluate_resume(w->s.agent, &w->s.desc), active ? PHI_OK : PHI_NOT_FOUND);
    rig_free(old.s.r);
    phi_arena_free(&arena);
}

/* Whatever happens: it ends, budgets hold nothing, the winner's lane is active, and usage adds up. */
static void world_check(world *w) {
    phi_spending seen;
    phi_evaluation e;
    int i;
    for (i = 0; i < 400 && rig_run(w->s.r, 1) > 0; i++)
        if (i == 200) CHECK_EQ_INT(phi_abort(w->s.agent), PHI_OK); /* some model hangs */
    CHECK_EQ_INT(rig_run(w->s.r, 1), 0);
    (void)rig_step(w->s.r);
    CHECK_EQ_INT(w->starts, w->ends); /* exactly one end each */
    seen = phi_agent_get_info(w->s.agent).spending;
    CHECK_EQ_INT(seen.reserved_tokens, 0);
    CHECK(phi_thread_get_info(phi_agent_thread(w->s.agent)).usage.total_tokens <= seen.tokens);
    CHECK(seen.reserved_cost < 1e-9 && seen.reserved_cost > -1e-9);
    CHECK_EQ_INT(seen.tokens, phi_agent_get_info(w->s.agent).usage.total_tokens);
    CHECK(near_to(seen.cost, phi_agent_get_info(w->s.agent).cost));
    if (phi_evaluation_result(w->s.agent, &e) != PHI_OK) return;
    CHECK(e.status == PHI_OK || e.status == PHI_CANCELLED || e.status == PHI_NO_MEMORY);
    CHECK((e.status == PHI_OK) == (e.selected < e.branch_count));
}

static void world_run(uint32_t seed) {
    world w;
    int round, k;
    memset(&w, 0, sizeof w);
    w.state = seed * 2654435761u + 1;
    stage_set(&w.s, rig_new(), 4);
    for (k = 1; k < ACTORS; k++) {
        w.s.configs[k].model.cost.input = 3;
        w.s.configs[k].model.cost.output = 15;
    }
    w.s.own.model.cost = w.s.configs[1].model.cost;
    w.s.own.budget.max_tokens = 100000000;
    if (!CHECK(stage_open(&w.s))) return;
    rig_watch(w.s.r, world_hears, &w);
    for (round = 0; round < 4; round++) {
        phi_evaluation e;
        world_set(&w);
        if (phi_evaluate(w.s.agent, &w.s.desc) == PHI_OK) {
            CHECK_EQ_INT(phi_evaluation_result(w.s.agent, &e), PHI_OK);
            CHECK(e.status == PHI_BUSY && e.selected == SIZE_MAX); /* never an old result */
            CHECK_EQ_INT(phi_evaluate(w.s.agent, &w.s.desc), PHI_BUSY);
        }
        for (k = (int)roll(&w, 12); k > 0; k--) world_act(&w);
        if (roll(&w, 3) == 0) world_move(&w);
        if (roll(&w, 8) == 0 && round == 3) break; /* freed in the midst */
        world_check(&w);
    }
    rig_free(w.s.r);
}

TEST(whatever_happens_it_ends_and_the_figures_add_up) {
    const char *more = getenv("PHI_SEEDS");
    uint32_t seeds = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : 150, seed;
    for (seed = 1; seed <= seeds; seed++) {
        int before = test_failures();
        world_run(seed);
        if (test_failures() != before) {
            printf("    seed %u\n", (unsigned)seed);
            break;
        }
    }
}

/* The same while one allocation in some fails. */
TEST(without_memory_now_and_then_it_ends_and_leaves_nothing) {
    uint32_t seed;
    for (seed = 1; seed <= 60; seed++) {
        world w;
        phi_evaluation e;
        int k;
        memset(&w, 0, sizeof w);
        w.state = seed * 2654435761u + 7;
        stage_set(&w.s, rig_new(), 4);
        w.s.own.budget.max_tokens = 100000000;
        if (!CHECK(stage_open(&w.s))) return;
        world_set(&w);
        rig_silent(w.s.r, true);
        test_alloc_fail_some(seed, 40);
        (void)phi_evaluate(w.s.agent, &w.s.desc);
        for (k = 0; k < 30; k++) (void)rig_run(w.s.r, 2);
        test_alloc_fail_some(0, 0);
        (void)phi_abort(w.s.agent);
        CHECK_EQ_INT(rig_run(w.s.r, 100), 0);
        if (phi_evaluation_result(w.s.agent, &e) == PHI_OK) CHECK(e.status != PHI_BUSY);
        CHECK_EQ_INT(phi_agent_get_info(w.s.agent).spending.reserved_tokens, 0);
        rig_silent(w.s.r, false);
        (void)rig_step(w.s.r);
        (void)rig_step(w.s.r);
        w.s.actors[0].hangs = false;
        CHECK_EQ_INT(phi_send(w.s.agent, "On"), PHI_OK);
        CHECK_EQ_INT(rig_run(w.s.r, 100), 0);
        rig_free(w.s.r);
    }
}

TEST_MAIN(TEST_ENTRY(a_store_has_the_branches_and_another_process_goes_on_with_the_winner),
          TEST_ENTRY(a_store_that_fails_leaves_a_usable_agent),
          TEST_ENTRY(branches_fork_where_the_evaluation_began_whatever_the_host_does_to_the_thread),
          TEST_ENTRY(branches_under_a_memory_limit_fail_and_the_others_win),
          TEST_ENTRY(a_branch_under_a_memory_limit_sees_the_whole_view_or_does_not_begin),
          TEST_ENTRY(an_agent_at_its_memory_limit_keeps_what_it_had),
          TEST_ENTRY(without_a_prompt_an_agent_at_its_memory_limit_is_out_of_memory),
          TEST_ENTRY(the_text_of_a_branch_is_its_last_answer_not_what_came_behind_it),
          TEST_ENTRY(ids_of_calls_differ_along_a_lane_though_branches_use_the_same),
          TEST_ENTRY(calls_that_wait_get_their_results_in_the_agents_own_lane),
          TEST_ENTRY(an_evaluation_that_is_refused_answers_no_calls),
          TEST_ENTRY(numbers_go_on_behind_messages_that_came_from_elsewhere),
          TEST_ENTRY(an_evaluation_counts_as_activity_of_the_session),
          TEST_ENTRY(a_limit_is_no_failure),
          TEST_ENTRY(a_branch_without_an_answer_does_not_win_over_one_with_an_answer),
          TEST_ENTRY(an_agent_of_phi_run_is_not_evaluated),
          TEST_ENTRY(an_agent_with_a_run_is_busy_and_a_closing_runtime_ends_all),
          TEST_ENTRY(a_branch_that_a_hook_denies_does_not_win),
          TEST_ENTRY(a_tool_may_start_an_evaluation_of_another_agent),
          TEST_ENTRY(the_events_have_their_json),
          TEST_ENTRY(whatever_happens_it_ends_and_the_figures_add_up),
          TEST_ENTRY(without_memory_now_and_then_it_ends_and_leaves_nothing))
