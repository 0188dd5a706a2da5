/* test_one_shot_freed.c - runs over a thread of the caller's own: agents, threads and runtimes
   that are freed in the midst, and memory that fails. */
#include "agent/one_shot.h"
#include "loop/events.h"
#include "loop/hook.h"
#include "loop/run.h"
#include "support/freed.h"

TEST(an_agent_freed_in_mid_run_gives_the_thread_back) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent agent;
    rig_hangs(r, "");
    agent = run_over(r, thread, NULL, "go");
    CHECK_EQ_INT(rig_run(r, 10), 1);
    phi_agent_free(agent);
    CHECK_EQ_INT(say(thread, PHI_ROLE_ASSISTANT, "never mind"), PHI_OK);
    rig_says(r, "fine");
    (void)run_over(r, thread, NULL, "again");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(thread), 4);
    phi_thread_free(thread);
    rig_free(r);
}

TEST(an_agent_whose_run_is_over_may_be_freed_by_hand) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent agents[3];
    phi_event event;
    int i;
    rig_silent(r, true);
    for (i = 0; i < 3; i++) {
        rig_says(r, "an answer");
        agents[i] = run_over(r, thread, NULL, "a question");
        CHECK_EQ_INT(rig_run(r, 20), 0);
    }
    phi_agent_free(agents[1]); /* from between two others */
    phi_agent_free(agents[1]);
    (void)rig_step(r);
    CHECK(phi_agent_alive(agents[0]) && phi_agent_alive(agents[2]));
    phi_agent_free(agents[2]);
    for (i = 0; phi_next_event(rig_runtime(r), &event); i++)
        CHECK_EQ_INT(event.agent.index, agents[0].index);
    CHECK_EQ_INT(i, 9);
    (void)rig_step(r);
    CHECK(!phi_agent_alive(agents[0]));
    CHECK_EQ_INT(phi_thread_message_count(thread), 6);
    rig_free(r);
}

TEST(a_thread_may_be_freed_while_events_of_its_runs_wait) {
    rig *r = rig_new();
    phi_thread *threads[2];
    phi_agent agents[4];
    phi_event event;
    size_t n = 0;
    int i;
    rig_silent(r, true);
    for (i = 0; i < 2; i++) threads[i] = phi_thread_new(rig_runtime(r), 0);
    for (i = 0; i < 4; i++) {
        rig_says(r, "an answer");
        agents[i] = run_over(r, threads[i % 2], NULL, "a question");
        REQUIRE(agents[i].rt != NULL);
        CHECK_EQ_INT(rig_run(r, 20), 0);
    }
    REQUIRE(phi_next_event(rig_runtime(r), &event)); /* a popped one goes too */
    phi_thread_free(threads[0]);
    CHECK(!phi_agent_alive(agents[0]) && !phi_agent_alive(agents[2]));
    CHECK(phi_agent_alive(agents[1]) && phi_agent_alive(agents[3]));
    while (phi_next_event(rig_runtime(r), &event)) {
        CHECK(event.agent.index == agents[1].index || event.agent.index == agents[3].index);
        n++;
    }
    CHECK_EQ_INT(n, 18);
    (void)rig_step(r);
    CHECK(!phi_agent_alive(agents[1]) && !phi_agent_alive(agents[3]));
    phi_thread_free(threads[1]);
    rig_free(r);
}

/* ---- inside of a step ---- */
typedef struct inside {
    rig *r;
    phi_thread *thread;
    phi_hook_point point;
    int seen;
} inside;

static phi_verdict frees_agent(void *user_data, phi_hook *hook) {
    inside *in = (inside *)user_data;
    if (hook->point != in->point) return PHI_ALLOW;
    in->seen++;
    CHECK_EQ_INT(thread_freed(in->thread), PHI_BUSY);
    phi_agent_free(hook->agent);
    CHECK_EQ_INT(thread_freed(in->thread), PHI_BUSY); /* until the step has ended */
    return PHI_ALLOW;
}

TEST(a_hook_may_free_the_agent_of_a_bare_run) {
    static const phi_hook_point points[] = {PHI_HOOK_BEFORE_LOOP, PHI_HOOK_BEFORE_TURN,
                                            PHI_HOOK_AFTER_TURN, PHI_HOOK_AFTER_LOOP};
    size_t i;
    for (i = 0; i < 4; i++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        inside in;
        memset(&in, 0, sizeof in);
        in.r = r;
        in.thread = phi_thread_new(rig_runtime(r), 0);
        in.point = points[i];
        desc.hook_fn = frees_agent;
        desc.hook_points =
            PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_TURN | PHI_HOOK_AFTER_LOOP;
        desc.user_data = &in;
        rig_says(r, "fine");
        (void)run_over(r, in.thread, &desc, "go");
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK_EQ_INT(in.seen, 1);
        phi_thread_free(in.thread);
        rig_free(r);
    }
}

static phi_flow runs_another(void *user_data, phi_call call, phi_str arguments) {
    inside *in = (inside *)user_data;
    (void)arguments;
    in->seen++;
    CHECK(run_over(in->r, in->thread, NULL, "inside").rt != NULL);
    CHECK_EQ_INT(phi_call_reply(call, "begun"), PHI_OK);
    return PHI_PENDING;
}

static phi_flow frees_thread(void *user_data, phi_call call, phi_str arguments) {
    inside *in = (inside *)user_data;
    (void)call;
    (void)arguments;
    in->seen++;
    phi_thread_free(in->thread);
    return PHI_DONE;
}

TEST(a_tool_may_begin_a_bare_run_and_free_a_thread) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    inside in;
    memset(&in, 0, sizeof in);
    memset(tools, 0, sizeof tools);
    in.r = r;
    in.thread = phi_thread_new(rig_runtime(r), 0);
    tools[0].name = "begin";
    tools[0].start = runs_another;
    tools[1].name = "end";
    tools[1].start = frees_thread;
    tools[0].description = tools[1].description = "Does";
    tools[0].user_data = tools[1].user_data = &in;
    desc.tools = tools;
    desc.tool_count = 2;
    rig_call(r, "t1", "begin", "{}");
    rig_says(r, "for the one inside, or outside");
    rig_says(r, "for the other");
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "go"), PHI_OK);
    rig_silent(r, true); /* events of the run inside wait when its thread goes */
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(in.seen, 1);
    CHECK_EQ_INT(phi_thread_message_count(in.thread), 2);
    rig_call(r, "t2", "end", "{}");
    rig_says(r, "done");
    desc.ids.agent_id = NULL;
    CHECK_EQ_INT(phi_prompt(rig_agent(r, &desc), "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(in.seen, 2);
    rig_free(r);
}

TEST(a_runtime_frees_the_threads_that_are_left) {
    rig *r = rig_new();
    int i;
    for (i = 0; i < 10; i++) {
        phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
        CHECK_EQ_INT(say(thread, PHI_ROLE_USER, "left"), PHI_OK);
        if (i < 3) {
            rig_hangs(r, "");
            CHECK(run_over(r, thread, NULL, "going on").rt != NULL);
        } else if (i < 6) {
            rig_says(r, "over");
            CHECK(run_over(r, thread, NULL, "go").rt != NULL);
        }
    }
    rig_silent(r, true);
    CHECK_EQ_INT(rig_run(r, 20), 3);
    rig_free(r);
}

TEST(many_runs_come_and_go_and_leave_no_memory_behind) {
    enum { THREADS = 100, ROUNDS = 4 };
    rig *r = rig_new();
    phi_thread *threads[THREADS];
    phi_event event;
    size_t used = 0, ends = 0;
    int i, round;
    for (i = 0; i < THREADS; i++) threads[i] = phi_thread_new(rig_runtime(r), 0);
    rig_silent(r, true);
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < THREADS; i++) rig_refuses(r, PHI_REFUSED);
        for (i = 0; i < THREADS; i++) CHECK(run_over(r, threads[i], NULL, "go").rt != NULL);
        CHECK_EQ_INT(rig_run(r, 500), 0);
    }
    while (phi_next_event(rig_runtime(r), &event)) ends += event.kind == PHI_EV_AGENT_END;
    CHECK_EQ_INT(ends, THREADS * ROUNDS);
    (void)rig_step(r);
    for (i = 0; i < THREADS; i++) {
        CHECK_EQ_INT(phi_thread_message_count(threads[i]), 2 * ROUNDS);
        phi_thread_free(threads[i]);
    }
    used = phi_memory_used(rig_runtime(r), NULL);
    CHECK(used < 200000); /* the tables of slots stay */
    rig_free(r);
}

/* ---- no memory ---- */

TEST(a_run_that_cannot_begin_leaves_the_thread_as_it_was) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 200; n++) {
        rig *r = rig_new();
        phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
        phi_agent agent;
        CHECK_EQ_INT(say(thread, PHI_ROLE_USER, "before"), PHI_OK);
        CHECK_EQ_INT(say(thread, PHI_ROLE_ASSISTANT, "yes"), PHI_OK);
        test_alloc_fail_at(n);
        agent = run_over(r, thread, NULL, "go");
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(agent.rt == NULL, tripped);
        if (tripped) {
            CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_NO_MEMORY);
            CHECK_EQ_INT(phi_thread_message_count(thread), 2);
            CHECK_EQ_INT(say(thread, PHI_ROLE_USER, "more"), PHI_OK);
            agent = run_over(r, thread, NULL, "go");
        }
        rig_says(r, "fine");
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
        CHECK_STR(phi_thread_message_at(thread, tripped ? 3 : 2)->loop_id,
                  "session.anthropic.test-model.1");
        rig_free(r);
    }
    CHECK(!tripped);
    CHECK(n > 8);
}

TEST(a_run_ends_whatever_memory_it_lacks_and_the_thread_goes_on) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 400; n++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_tool tool = rig_echo();
        phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
        desc.tools = &tool;
        desc.tool_count = 1;
        rig_call(r, "t1", "echo", "{}");
        rig_says(r, "fine");
        rig_says(r, "in reserve");
        CHECK(run_over(r, thread, &desc, "go").rt != NULL);
        test_alloc_fail_at(n);
        CHECK_EQ_INT(rig_run(r, 60), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(strstr(rig_story(r), "AgentEnd") != NULL);
        rig_forget(r);
        (void)rig_step(r);
        rig_says(r, "fine");
        CHECK(run_over(r, thread, &desc, "again").rt != NULL);
        CHECK_EQ_INT(rig_run(r, 60), 0);
        CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
        phi_thread_free(thread);
        rig_free(r);
    }
    CHECK(!tripped);
    CHECK(n > 20);
}

TEST(a_thread_without_memory_says_so) {
    rig *r = rig_new();
    phi_thread *thread;
    static char words[20000];
    size_t used;
    int i;
    memset(words, 'a', sizeof words - 1);
    test_alloc_fail_from(0);
    CHECK(phi_thread_new(rig_runtime(r), 0) == NULL);
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_NO_MEMORY);
    thread = phi_thread_new(rig_runtime(r), 16384);
    CHECK_EQ_INT(say(thread, PHI_ROLE_USER, "short"), PHI_OK);
    CHECK_EQ_INT(say(thread, PHI_ROLE_USER, words), PHI_NO_MEMORY);
    CHECK_EQ_STR(words_of(r), "phi_thread_append: out of memory");
    used = phi_memory_used(rig_runtime(r), NULL);
    for (i = 0; i < 50; i++) CHECK_EQ_INT(say(thread, PHI_ROLE_USER, words), PHI_NO_MEMORY);
    CHECK_EQ_INT(phi_memory_used(rig_runtime(r), NULL), used);
    CHECK_EQ_INT(phi_thread_message_count(thread), 1);
    CHECK(run_over(r, thread, NULL, words).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_NO_MEMORY);
    rig_says(r, words);
    rig_says(r, "short");
    CHECK(run_over(r, thread, NULL, "answer at length").rt != NULL);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK(strstr(rig_story(r), "Error no_memory") != NULL);
    (void)rig_step(r);
    CHECK(run_over(r, thread, NULL, "in short").rt != NULL);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

/* ---- runs without an agent ---- */

typedef struct bare {
    phi_thread *thread;
    phi_status said[3];
} bare;

static phi_verdict bare_hook(void *user_data, phi_hook *hook) {
    bare *b = (bare *)user_data;
    phi_run_desc desc;
    phi_agent_desc agent = rig_desc();
    phi_content block;
    phi_message m = text_message(PHI_ROLE_USER, &block, "x");
    memset(&desc, 0, sizeof desc);
    desc.agent = &agent;
    desc.thread = b->thread;
    desc.prompts = &m;
    desc.prompt_count = 1;
    b->said[0] = thread_freed(b->thread);
    b->said[1] = phi_thread_append(b->thread, &m, 1, NULL);
    b->said[2] = phi_run(hook->agent.rt, &desc).rt == NULL ? PHI_BUSY : PHI_OK;
    if (hook->point == PHI_HOOK_AFTER_TURN) phi_agent_free(hook->agent);
    if (hook->point == PHI_HOOK_AFTER_TURN) b->said[0] = thread_freed(b->thread);
    return PHI_ALLOW;
}

/* Hypothesis: a hook of a run over a lent thread can take the thread away under it. */
TEST(a_lent_thread_cannot_be_taken_away_from_inside_its_run) {
    static const int points[] = {PHI_HOOK_BEFORE_LOOP, PHI_HOOK_AFTER_TURN, PHI_HOOK_AFTER_LOOP};
    size_t i;
    for (i = 0; i < PHI__COUNT(points); i++) {
        rig *r = rig_new();
        phi_agent_desc agent = rig_desc();
        phi_run_desc desc;
        phi_content block;
        phi_message m = text_message(PHI_ROLE_USER, &block, "go");
        bare b;
        memset(&b, 0, sizeof b);
        memset(&desc, 0, sizeof desc);
        b.thread = phi_thread_new(rig_runtime(r), 0);
        rig_hook_with(r, bare_hook, &b);
        rig_hooks(r, &agent, (uint32_t)points[i]);
        desc.agent = &agent;
        desc.thread = b.thread;
        desc.prompts = &m;
        desc.prompt_count = 1;
        rig_says(r, "hello");
        CHECK(phi_run(rig_runtime(r), &desc).rt != NULL);
        CHECK_EQ_INT(rig_run(r, 50), 0);
        CHECK_EQ_INT(b.said[0], PHI_BUSY);
        CHECK_EQ_INT(b.said[1], PHI_BUSY);
        CHECK_EQ_INT(b.said[2], PHI_BUSY);
        CHECK_EQ_INT(phi_thread_message_count(b.thread), 2);
        phi_thread_free(b.thread);
        rig_free(r);
    }
}

TEST_MAIN(TEST_ENTRY(an_agent_freed_in_mid_run_gives_the_thread_back),
          TEST_ENTRY(an_agent_whose_run_is_over_may_be_freed_by_hand),
          TEST_ENTRY(a_thread_may_be_freed_while_events_of_its_runs_wait),
          TEST_ENTRY(a_hook_may_free_the_agent_of_a_bare_run),
          TEST_ENTRY(a_tool_may_begin_a_bare_run_and_free_a_thread),
          TEST_ENTRY(a_runtime_frees_the_threads_that_are_left),
          TEST_ENTRY(many_runs_come_and_go_and_leave_no_memory_behind),
          TEST_ENTRY(a_run_that_cannot_begin_leaves_the_thread_as_it_was),
          TEST_ENTRY(a_run_ends_whatever_memory_it_lacks_and_the_thread_goes_on),
          TEST_ENTRY(a_thread_without_memory_says_so),
          TEST_ENTRY(a_lent_thread_cannot_be_taken_away_from_inside_its_run))
