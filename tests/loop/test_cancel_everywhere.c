/* test_cancel_everywhere.c - one run of two hundred steps, with all that a run can have: a chunked stream,
   tools side by side, a retry, steering, a follow-up, hooks that wait. It is ended at every step, one
   after another, in every way there is; whatever it was doing, what is left can go on. */
#include "support/rig.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "model/event.h"
#include "model/message.h"

enum { LENGTH = 200, CHUNK = 32, PATIENCE = 600 };

typedef struct scene {
    rig *r;
    phi_agent agent;
    phi_ticket waits; /* the last one */
    bool over;        /* nobody waits any more */
    int step, allocation;
    uint32_t ends;
    phi_status status;
    phi_usage told; /* by AGENT_END */
    uint32_t tickets;
} scene;

/* Every third question waits. */
static phi_verdict some_wait(void *user_data, phi_hook *hook) {
    scene *s = (scene *)user_data;
    if (s->over || s->tickets++ % 3 != 0) return PHI_ALLOW;
    s->waits = hook->ticket;
    return PHI_WAIT;
}

static void watch(void *user_data, const phi_event *event) {
    scene *s = (scene *)user_data;
    if (event->kind != PHI_EV_AGENT_END) return;
    s->ends++;
    s->status = event->status;
    if (event->usage != NULL) s->told = *event->usage;
}

static void script(rig *r) {
    static const char *const pair[] = {"c1 wait {\"n\":1}", "c2 echo {\"n\":2}",
                                       "c3 wait {\"n\":3}"};
    static const char *const more[] = {"c4 wait {\"n\":4}", "c5 wait {\"n\":5}"};
    char half[512];
    rig_replies(r, 529, "retry-after-ms: 4\r\n", "{\"type\":\"error\"}");
    rig_calls(r, pair, 3);
    (void)snprintf(half, sizeof half, "%.500s", rig_stream_of("this is lost in the middle"));
    rig_breaks(r, half, PHI_NETWORK, "the line is dead");
    rig_calls(r, more, 2);
    rig_call(r, "c6", "echo", "{}");
    rig_says(r, "some words of the answer, and more of them, and then some");
    rig_says(r, "and what the follow-up was about");
}

static void set_up(scene *s, phi_tool_mode mode) {
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    memset(s, 0, sizeof *s);
    s->r = rig_new();
    tools[0] = rig_echo();
    tools[1] = rig_wait(s->r);
    desc.tools = tools;
    desc.tool_count = 2;
    desc.tool_options.mode = mode;
    desc.retry.disable = false;
    desc.retry.initial_delay_ms = 6;
    rig_hooks(s->r, &desc, 0xffff & ~(uint32_t)(PHI_HOOK_STEERING | PHI_HOOK_FOLLOW_UP));
    rig_hook_with(s->r, some_wait, s);
    rig_watch(s->r, watch, s);
    s->agent = rig_agent(s->r, &desc);
    rig_chunk(s->r, CHUNK);
    script(s->r);
    CHECK_EQ_INT(phi_prompt(s->agent, "a long story, please"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(s->agent, "and one more thing"), PHI_OK);
}

static void decide_all(scene *s) {
    phi_pending_item items[16];
    size_t n = phi_pending(rig_runtime(s->r), items, 16), i;
    for (i = 0; i < n; i++)
        if (items[i].kind == PHI_WAITING_DECISION)
            CHECK_EQ_INT(phi_decide(items[i].ticket, PHI_ALLOW, NULL), PHI_OK);
}

/* What the host does at a step, and the step. */
static int play(scene *s) {
    size_t i;
    int step = s->step++;
    if (step % 3 == 2) decide_all(s);
    if (step == 70) (void)phi_steer(s->agent, "more about the sea");
    for (i = 0; step % 8 == 7 && i < rig_started(s->r); i++)
        if (phi_call_get_info(rig_call_at(s->r, i)).pending) rig_finish(s->r, i, "a result");
    return rig_run(s->r, 1);
}

static void play_until(scene *s, int step) {
    while (s->step < step) (void)play(s);
}

/* Messages [0, n): every call of a whole answer has one result, in call order. */
static bool log_is_whole(phi_agent agent) {
    size_t n = phi_thread_message_count(phi_agent_thread(agent)), i = 0, k;
    while (i < n) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i++);
        if (m->role == PHI_ROLE_TOOL_RESULT) return false;
        if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason == PHI_STOP_REASON_ERROR ||
            m->stop_reason == PHI_STOP_REASON_ABORTED)
            continue;
        for (k = 0; k < m->content_count; k++) {
            const phi_message *result;
            if (m->content[k].kind != PHI_CONTENT_TOOL_CALL) continue;
            result = i < n ? phi_thread_message_at(phi_agent_thread(agent), i++) : NULL;
            if (result == NULL || result->role != PHI_ROLE_TOOL_RESULT ||
                !phi_str_equal(result->tool_call_id, m->content[k].id))
                return false;
        }
    }
    return true;
}

static bool any_aborted(phi_agent agent) {
    size_t i;
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(agent)); i++)
        if (phi_thread_message_at(phi_agent_thread(agent), i)->stop_reason ==
            PHI_STOP_REASON_ABORTED)
            return true;
    return false;
}

/* The tokens that the log's answers say, at least: attempts that were thrown away are counted, too. */
static uint64_t logged_tokens(phi_agent agent) {
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(agent)); i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(agent), i);
        if (m->role == PHI_ROLE_ASSISTANT) sum += m->usage.input + m->usage.output;
    }
    return sum;
}

static bool fits(scene *s, bool condition, const char *what) {
    if (!condition) printf("  ended at step %d, allocation %d: %s\n", s->step, s->allocation, what);
    return CHECK(condition);
}

static void is_over(scene *s) {
    phi_usage usage = phi_agent_get_info(s->agent).usage;
    (void)fits(s, !phi_agent_get_info(s->agent).running, "it is over");
    (void)fits(s, s->ends == 1, "one end");
    (void)fits(s, s->status == PHI_CANCELLED || s->status == PHI_OK, "cancelled, or over before");
    (void)fits(s, log_is_whole(s->agent), "every call has its result");
    (void)fits(s, rig_open_transfers(s->r) == 0, "no transfer is open");
    (void)fits(s, phi_pending(rig_runtime(s->r), NULL, 0) == 0, "nothing is waited for");
    (void)fits(s, usage.input + usage.output >= logged_tokens(s->agent), "usage is counted");
    (void)fits(s, usage.input == s->told.input && usage.output == s->told.output, "and told");
}

/* Memory ended before any of its calls had a result. */
static bool calls(const phi_message *m) {
    size_t i;
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TOOL_CALL) return true;
    return false;
}

/* Goes on from where it was ended, where that is allowed, and takes a prompt; both to the end. */
static void goes_on(scene *s) {
    size_t n = phi_thread_message_count(phi_agent_thread(s->agent));
    const phi_message *last =
        n > 0 ? phi_thread_message_at(phi_agent_thread(s->agent), n - 1) : NULL;
    bool failed = last != NULL && last->role == PHI_ROLE_ASSISTANT &&
                  (last->stop_reason == PHI_STOP_REASON_ABORTED ||
                   last->stop_reason == PHI_STOP_REASON_ERROR);
    bool open = last != NULL && (last->role != PHI_ROLE_ASSISTANT || calls(last));
    phi_status status;
    s->over = true;
    (void)phi_queue_clear(s->agent, PHI_INPUT_NONE);
    rig_drop_answers(s->r);
    rig_says(s->r, "I go on");
    s->ends = 0;
    status = phi_continue(s->agent, PHI_CONTINUATION_DEFAULT);
    if (failed || open)
        (void)fits(s, status == PHI_OK, "it can be continued");
    else
        (void)fits(s, status == PHI_MISUSE, "there is nothing to go on from");
    if (status == PHI_OK) {
        (void)rig_run(s->r, PATIENCE);
        (void)fits(s, s->ends == 1 && s->status == PHI_OK, "it went on");
    }
    rig_drop_answers(s->r);
    rig_says(s->r, "I am here");
    s->ends = 0;
    (void)fits(s, phi_prompt(s->agent, "are you there?") == PHI_OK, "it takes a prompt");
    (void)rig_run(s->r, PATIENCE);
    (void)fits(s, s->ends == 1 && s->status == PHI_OK, "and answers");
    (void)fits(s, log_is_whole(s->agent), "every call has its result still");
}

static const phi_tool_mode modes[] = {PHI_TOOLS_PARALLEL, PHI_TOOLS_SEQUENTIAL};

TEST(the_run_has_two_hundred_steps_and_ends_by_itself) {
    size_t i;
    for (i = 0; i < 2; i++) {
        scene s;
        set_up(&s, modes[i]);
        while (play(&s) > 0 && s.step < PATIENCE) {}
        CHECK(s.step >= LENGTH);
        CHECK(s.step < PATIENCE);
        CHECK_EQ_INT(s.ends, 1);
        CHECK_EQ_INT(s.status, PHI_OK);
        /* Five answers of 10 and 5, and one that was cut after it had told 10 and 1. */
        CHECK_EQ_INT(s.told.input, 60);
        CHECK_EQ_INT(s.told.output, 26);
        CHECK(strstr(rig_story(s.r), "Retract") != NULL);
        CHECK(strstr(rig_story(s.r), "more about the sea") != NULL);
        CHECK(strstr(rig_story(s.r), "and one more thing") != NULL);
        CHECK(strstr(rig_story(s.r), "Decision") != NULL);
        is_over(&s);
        goes_on(&s);
        rig_free(s.r);
    }
}

TEST(a_run_that_is_aborted_at_any_step_ends_once_and_goes_on) {
    size_t i;
    int step;
    for (i = 0; i < 2; i++)
        for (step = 0; step <= LENGTH; step++) {
            scene s;
            bool told;
            set_up(&s, modes[i]);
            play_until(&s, step);
            told = s.ends == 1;
            CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
            (void)rig_run(s.r, 1);
            (void)fits(&s, rig_open_transfers(s.r) == 0, "the next step has let go of it");
            (void)rig_run(s.r, 3);
            is_over(&s);
            (void)fits(&s, s.status == (told ? PHI_OK : PHI_CANCELLED), "it was cancelled");
            goes_on(&s);
            rig_free(s.r);
        }
}

TEST(a_run_that_is_stopped_at_any_step_ends_after_its_turn_and_goes_on) {
    size_t i;
    int step;
    for (i = 0; i < 2; i++)
        for (step = 0; step <= LENGTH; step++) {
            scene s;
            set_up(&s, modes[i]);
            play_until(&s, step);
            CHECK_EQ_INT(phi_stop(s.agent), PHI_OK);
            while (play(&s) > 0 && s.step < PATIENCE) {}
            /* The failure of an attempt that is not repeated is told as one. */
            if (s.status == PHI_NETWORK || s.status == PHI_REFUSED) s.status = PHI_CANCELLED;
            is_over(&s);
            (void)fits(&s, !any_aborted(s.agent), "its answers are whole");
            goes_on(&s);
            rig_free(s.r);
        }
}

TEST(an_agent_that_is_freed_at_any_step_leaves_nothing) {
    int step;
    for (step = 0; step <= LENGTH; step++) {
        scene s;
        phi_event event;
        set_up(&s, modes[step % 2]);
        play_until(&s, step);
        phi_agent_free(s.agent);
        (void)fits(&s, rig_open_transfers(s.r) == 0, "no transfer is open");
        (void)fits(&s, !phi_next_event(rig_runtime(s.r), &event), "no event is left");
        (void)fits(&s, phi_pending(rig_runtime(s.r), NULL, 0) == 0, "nothing is waited for");
        (void)fits(&s, rig_run(s.r, 1) == 0, "nothing runs");
        (void)fits(&s, phi_next_timeout(rig_runtime(s.r)) == -1, "no timer is left");
        (void)fits(&s, phi_abort(s.agent) == PHI_STALE, "its handle is stale");
        if (s.waits.rt != NULL)
            (void)fits(&s, phi_decide(s.waits, PHI_ALLOW, NULL) == PHI_STALE, "so is this");
        s.agent = rig_agent(s.r, NULL);
        rig_drop_answers(s.r);
        rig_says(s.r, "another one");
        CHECK_EQ_INT(phi_prompt(s.agent, "hello"), PHI_OK);
        s.ends = 0;
        (void)rig_run(s.r, PATIENCE);
        (void)fits(&s, s.ends == 1 && s.status == PHI_OK, "the next agent works");
        rig_free(s.r);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    }
}

TEST(a_runtime_that_is_freed_at_any_step_leaves_nothing) {
    int step;
    for (step = 0; step <= LENGTH; step++) {
        scene s;
        set_up(&s, modes[step % 2]);
        rig_silent(s.r, step % 4 == 3);
        play_until(&s, step);
        rig_free(s.r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) printf("  freed at step %d\n", step);
    }
}

TEST(a_runtime_that_is_closed_at_any_step_is_soon_empty) {
    int step;
    for (step = 0; step <= LENGTH; step += 3) {
        scene s;
        set_up(&s, modes[step % 2]);
        play_until(&s, step);
        (void)phi_runtime_close(rig_runtime(s.r));
        (void)rig_run(s.r, 2);
        (void)fits(&s, phi_runtime_close(rig_runtime(s.r)) == PHI_OK, "it is closed");
        (void)fits(&s, s.ends == 1, "one end");
        rig_free(s.r);
    }
}

/* Memory that fails once, or from then on, ends the run or does not, but never twice. */
static void starve(int n, bool for_good, phi_tool_mode mode, bool *tripped) {
    scene s;
    set_up(&s, mode);
    s.allocation = n;
    if (for_good)
        test_alloc_fail_from(n);
    else
        test_alloc_fail_at(n);
    while (play(&s) > 0 && s.step < PATIENCE) {}
    *tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    (void)fits(&s, s.step < PATIENCE, "it ends");
    (void)fits(&s, s.ends == 1, "one end");
    (void)fits(&s, s.status == PHI_OK || s.status == PHI_NO_MEMORY, "its status");
    (void)fits(&s, rig_open_transfers(s.r) == 0, "no transfer is open");
    (void)fits(&s, phi_pending(rig_runtime(s.r), NULL, 0) == 0, "nothing is waited for");
    goes_on(&s);
    rig_free(s.r);
    (void)fits(&s, test_alloc_live_bytes() == 0, "nothing is left");
}

TEST(memory_that_fails_at_any_point_ends_the_run_once_and_it_goes_on) {
    size_t i;
    for (i = 0; i < 4; i++) {
        bool tripped = true;
        int n;
        for (n = 0; tripped; n++) starve(n, i / 2 == 1, modes[i % 2], &tripped);
        CHECK(n > 100); /* so many requests for memory there are */
    }
}

TEST_MAIN(TEST_ENTRY(the_run_has_two_hundred_steps_and_ends_by_itself),
          TEST_ENTRY(a_run_that_is_aborted_at_any_step_ends_once_and_goes_on),
          TEST_ENTRY(a_run_that_is_stopped_at_any_step_ends_after_its_turn_and_goes_on),
          TEST_ENTRY(an_agent_that_is_freed_at_any_step_leaves_nothing),
          TEST_ENTRY(a_runtime_that_is_freed_at_any_step_leaves_nothing),
          TEST_ENTRY(a_runtime_that_is_closed_at_any_step_is_soon_empty),
          TEST_ENTRY(memory_that_fails_at_any_point_ends_the_run_once_and_it_goes_on))
