/* test_hooks_everywhere.c - hooks that free agents, prompt others, never answer, answer twice or
   do what is forbidden, at every point they are asked at. */
#include "support/update.h"
#include "agent/response.h"
#include "support/heard.h"
#include "support/request.h"
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/run.h"
#include "model/event.h"
#include "support/set.h"
#include "loop/loop_in.h"

/* What the hook does when it is asked at `at`. */
typedef enum deed {
    DEED_NONE = 0,
    DEED_FREE,        /* frees victim */
    DEED_FREE_WAIT,   /* the same, and says PHI_WAIT */
    DEED_FORBIDDEN,   /* everything that has to be refused inside a callback */
    DEED_OTHERS,      /* prompts, resets and frees another agent */
    DEED_DECIDE_FIRST /* decides its own ticket, then says PHI_WAIT */
} deed;

typedef struct act {
    rig *r;
    phi_hook_point at;
    deed what;
    phi_agent victim;
    size_t done, followed;
    phi_status said[8];
} act;

static void forbidden(act *a, const phi_hook *hook) {
    phi_runtime *rt = hook->agent.rt;
    phi_response response;
    a->said[0] = phi_prompt(hook->agent, "again");
    a->said[1] = phi_agent_reset(hook->agent);
    a->said[2] = phi_runtime_close(rt);
    a->said[3] = (phi_status)phi_step(rt, 0);
    a->said[4] = prompt_for(hook->agent, "and again", &response);
    a->said[5] = phi_agent_replace_messages(hook->agent, NULL, 0);
    a->said[6] = set_tools(hook->agent, NULL, 0);
    a->said[7] = phi_continue(hook->agent, PHI_CONTINUATION_DEFAULT);
    phi_runtime_free(rt);
}

static phi_verdict act_hook(void *user_data, phi_hook *hook) {
    act *a = (act *)user_data;
    if (hook->point == PHI_HOOK_FOLLOW_UP && a->followed++ == 0) hook->reply = PHI__LIT("and more");
    if (hook->point != a->at || a->what == DEED_NONE) return PHI_ALLOW;
    a->done++;
    switch (a->what) {
    case DEED_NONE: break;
    case DEED_FREE: phi_agent_free(a->victim); break;
    case DEED_FREE_WAIT: phi_agent_free(a->victim); return PHI_WAIT;
    case DEED_FORBIDDEN: forbidden(a, hook); break;
    case DEED_OTHERS:
        (void)phi_prompt(a->victim, "from a hook");
        (void)phi_agent_reset(a->victim);
        (void)phi_steer(a->victim, "left");
        (void)phi_abort(a->victim);
        break;
    case DEED_DECIDE_FIRST:
        a->said[0] = phi_decide(hook->ticket, PHI_ALLOW, NULL);
        a->said[1] = phi_decide(hook->ticket, PHI_ALLOW, NULL);
        return PHI_WAIT;
    }
    return PHI_ALLOW;
}

static phi_flow updating_start(void *user_data, phi_call call, phi_str arguments) {
    phi_status said = call_update(call, "half");
    (void)user_data;
    (void)arguments;
    CHECK(said == PHI_OK || said == PHI_STALE);
    return PHI_DONE;
}

static phi_tool updating(void) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "echo";
    tool.description = "Updates";
    tool.start = updating_start;
    return tool;
}

static void overflow(rig *r) {
    rig_replies(r, 400, HEARD_JSON,
                "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                "\"prompt is too long\"}}");
}

/* Answers that lead a run past all points of a run: a tool, too long once, an answer, an error. */
static void script_all_points(rig *r) {
    rig_call(r, "c1", "echo", "{\"a\":1}");
    overflow(r);
    rig_says(r, "one");
    rig_says(r, "two");
    rig_replies(r, 500, HEARD_JSON, HEARD_BOOM);
}

/* Something to take away when it is too long. */
static void give_history(phi_agent agent) {
    char text[600];
    int i;
    memset(text, 'w', sizeof text);
    text[sizeof text - 1] = '\0';
    for (i = 0; i < 6; i++) {
        phi_content block;
        phi_message m = text_message(i % 2 == 0 ? PHI_ROLE_USER : PHI_ROLE_ASSISTANT, &block, text);
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
    }
}

static void start_all_points(rig *r, act *a, phi_agent *agent, phi_agent parent) {
    static phi_tool tool; /* borrowed until the agent is freed */
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    tool = updating();
    a->r = r;
    rig_hook_with(r, act_hook, a);
    rig_hooks(r, &desc, EVERY_POINT & ~PHI_HOOK_FILTER);
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    desc.parent = parent;
    script_all_points(r);
    *agent = agent_with(r, &desc, &tool);
    give_history(*agent);
}

static bool passed(const char *story, int point) {
    char line[64];
    (void)snprintf(line, sizeof line, "-> %s", rig_point_name(1 << point));
    return strstr(story, line) != NULL;
}

/* Hypothesis: the scenario below asks at every point there is; else the sweeps prove nothing. */
TEST(the_scenario_asks_at_every_point) {
    rig *r = rig_new();
    act a;
    phi_agent agent, none;
    int i;
    memset(&a, 0, sizeof a);
    memset(&none, 0, sizeof none);
    start_all_points(r, &a, &agent, none);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 500), 0);
    for (i = 0; i < HOOK_POINTS; i++)
        if (!CHECK(passed(rig_story(r), i))) printf("  %s\n", rig_point_name(1 << i));
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
    rig_free(r);
}

/* Hypothesis: at some point the pump goes on with an agent that its own hook has freed. */
TEST(a_hook_may_free_its_agent_at_every_point) {
    int i, wait;
    for (wait = 0; wait < 2; wait++)
        for (i = 0; i < HOOK_POINTS; i++) {
            rig *r = rig_new();
            act a;
            phi_agent none;
            memset(&a, 0, sizeof a);
            memset(&none, 0, sizeof none);
            start_all_points(r, &a, &a.victim, none);
            a.at = (phi_hook_point)(1 << i);
            a.what = wait ? DEED_FREE_WAIT : DEED_FREE;
            CHECK_EQ_INT(phi_prompt(a.victim, "go"), PHI_OK);
            CHECK_EQ_INT(phi_follow_up(a.victim, "more"), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 500), 0);
            CHECK_EQ_INT(a.done, 1);
            CHECK(!phi_agent_alive(a.victim));
            CHECK_EQ_INT(phi_pending(rig_runtime(r), NULL, 0), 0);
            CHECK_EQ_INT(rig_open_transfers(r), 0);
            rig_free(r);
        }
}

/* Hypothesis: freeing the parent, or a child that runs, from a hook takes the family's money with it. */
TEST(a_hook_may_free_its_parent_or_a_running_child_at_every_point) {
    int i, down;
    for (down = 0; down < 2; down++)
        for (i = 0; i < HOOK_POINTS; i++) {
            rig *r = rig_new();
            act a;
            phi_agent agent, other;
            phi_agent_desc desc = rig_desc();
            phi_spending s;
            memset(&a, 0, sizeof a);
            desc.budget.max_tokens = 1000000;
            other = rig_agent(r, &desc);
            if (down) rig_says(r, "a child's");
            start_all_points(r, &a, &agent, other);
            if (down) {
                desc.parent = agent;
                desc.budget.max_tokens = 0;
                a.victim = rig_agent(r, &desc);
                CHECK_EQ_INT(phi_prompt(a.victim, "child"), PHI_OK);
            } else
                a.victim = other;
            a.at = (phi_hook_point)(1 << i);
            a.what = DEED_FREE;
            CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
            CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 500), 0);
            CHECK(a.done > 0);
            s = phi_agent_get_info(other).spending;
            CHECK_EQ_INT(s.reserved_tokens, 0);
            CHECK(s.reserved_cost == 0);
            s = phi_agent_get_info(agent).spending;
            CHECK_EQ_INT(s.reserved_tokens, 0);
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd") >= 1, 1);
            rig_free(r);
        }
}

/* Hypothesis: a hook that does what may not be done in a callback changes something. */
TEST(what_is_forbidden_in_a_hook_is_refused_at_every_point) {
    int i;
    for (i = 0; i < HOOK_POINTS; i++) {
        rig *r = rig_new();
        act a;
        phi_agent agent, none;
        memset(&a, 0, sizeof a);
        memset(&none, 0, sizeof none);
        start_all_points(r, &a, &agent, none);
        a.at = (phi_hook_point)(1 << i);
        a.what = DEED_FORBIDDEN;
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 500), 0);
        CHECK(a.done > 0);
        CHECK_EQ_INT(a.said[0], PHI_BUSY);
        CHECK_EQ_INT(a.said[1], PHI_BUSY);
        CHECK_EQ_INT(a.said[2], PHI_MISUSE);
        CHECK_EQ_INT(a.said[3], PHI_MISUSE);
        CHECK_EQ_INT(a.said[4], PHI_BUSY);
        CHECK_EQ_INT(a.said[5], PHI_BUSY);
        CHECK_EQ_INT(a.said[6], PHI_BUSY);
        CHECK_EQ_INT(a.said[7], PHI_BUSY);
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
        rig_free(r);
    }
}

/* Hypothesis: another agent's run that is begun, reset and aborted from a hook confuses this one's. */
TEST(a_hook_may_do_anything_to_another_agent) {
    int i;
    for (i = 0; i < HOOK_POINTS; i++) {
        rig *r = rig_new();
        act a;
        phi_agent agent, none;
        memset(&a, 0, sizeof a);
        memset(&none, 0, sizeof none);
        a.victim = rig_agent(r, NULL);
        start_all_points(r, &a, &agent, none);
        a.at = (phi_hook_point)(1 << i);
        a.what = DEED_OTHERS;
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 500), 0);
        CHECK(phi_agent_alive(agent) && phi_agent_alive(a.victim));
        CHECK_EQ_INT(phi_agent_reset(a.victim), PHI_OK);
        CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
        rig_free(r);
    }
}

/* Hypothesis: a decision that is posted before the hook has said PHI_WAIT is lost, and the run hangs. */
TEST(a_ticket_may_be_decided_before_the_hook_says_wait) {
    int i;
    for (i = 0; i < HOOK_POINTS; i++) {
        rig *r = rig_new();
        act a;
        phi_agent agent, none;
        memset(&a, 0, sizeof a);
        memset(&none, 0, sizeof none);
        start_all_points(r, &a, &agent, none);
        a.at = (phi_hook_point)(1 << i);
        a.what = DEED_DECIDE_FIRST;
        if (a.at == PHI_HOOK_BEFORE_TOOL_UPDATE || a.at == PHI_HOOK_AFTER_TOOL_UPDATE) {
            rig_free(r); /* there is no ticket */
            continue;
        }
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 500), 0);
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
        if (a.done > 0) {
            /* TRANSFORM and CONVERT are asked again, and wait no second time. */
            CHECK(a.said[0] == PHI_OK);
            CHECK_EQ_INT(a.said[1], PHI_STALE);
        }
        rig_free(r);
    }
}

/* ---- tools ---- */

/* Hypothesis: the hooks of an update that is sent between two steps may do what no hook may. */
TEST(the_hooks_of_an_update_between_two_steps_are_hooks_like_any) {
    int what;
    for (what = 0; what < 2; what++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_tool tool = rig_wait(r);
        act a;
        memset(&a, 0, sizeof a);
        a.at = PHI_HOOK_BEFORE_TOOL_UPDATE;
        a.what = what == 0 ? DEED_FORBIDDEN : DEED_FREE;
        rig_hook_with(r, act_hook, &a);
        rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL_UPDATE);
        rig_call(r, "c1", "wait", "{}");
        rig_says(r, "done");
        a.victim = agent_with(r, &desc, &tool);
        CHECK_EQ_INT(phi_prompt(a.victim, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 1);
        CHECK_EQ_INT(call_update(rig_call_at(r, 0), "half"), what == 0 ? PHI_OK : PHI_STALE);
        CHECK_EQ_INT(a.done, 1);
        if (what == 0) {
            CHECK_EQ_INT(a.said[2], PHI_MISUSE);
            CHECK_EQ_INT(a.said[3], PHI_MISUSE);
            rig_finish(r, 0, "done");
        }
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK_EQ_INT(phi_agent_alive(a.victim), what == 0);
        rig_free(r);
    }
}

/* ---- what waits ---- */

/* Hypothesis: closing waits for a person. */
TEST(closing_waits_for_no_decision) {
    int i;
    for (i = 0; i < HOOK_POINTS; i++) {
        rig *r = rig_new();
        act a;
        phi_agent agent, none;
        int left = 50;
        memset(&a, 0, sizeof a);
        memset(&none, 0, sizeof none);
        start_all_points(r, &a, &agent, none);
        rig_answers(r, (phi_hook_point)(1 << i), PHI_WAIT, NULL);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
        (void)rig_run(r, 30);
        while (phi_runtime_close(rig_runtime(r)) == PHI_BUSY && left-- > 0) (void)rig_run(r, 1);
        CHECK(left > 0);
        (void)rig_run(r, 1);
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
        CHECK_EQ_INT(phi_prompt(agent, "more"), PHI_MISUSE);
        rig_free(r);
    }
}

/* Hypothesis: an abort at the very moment a hook waits, at any point, leaves no history to go on from. */
TEST(an_abort_while_any_hook_waits_leaves_an_agent_that_goes_on) {
    int i, stop;
    for (stop = 0; stop < 2; stop++)
        for (i = 0; i < HOOK_POINTS; i++) {
            rig *r = rig_new();
            act a;
            phi_agent agent, none;
            memset(&a, 0, sizeof a);
            memset(&none, 0, sizeof none);
            start_all_points(r, &a, &agent, none);
            rig_answers(r, (phi_hook_point)(1 << i), PHI_WAIT, NULL);
            CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
            CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
            (void)rig_run(r, 30);
            CHECK(phi_agent_get_info(agent).running || i == 8 ||
                  i == 9); /* an update's hook cannot wait */
            CHECK_EQ_INT(stop ? phi_stop(agent) : phi_abort(agent), PHI_OK);
            (void)(stop ? rig_run_until(r, 400000) : rig_run(r, 5));
            CHECK(!phi_agent_get_info(agent).running);
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
            CHECK_EQ_INT(phi_queue_clear(agent, PHI_INPUT_NONE), PHI_OK);
            rig_says(r, "x"), rig_says(r, "x"), rig_says(r, "x");
            CHECK_EQ_INT(phi_send(agent, "again"), PHI_OK);
            CHECK_EQ_INT(rig_run_until(r, 400000), 0);
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 2);
            rig_free(r);
        }
}

TEST_MAIN(TEST_ENTRY(the_scenario_asks_at_every_point),
          TEST_ENTRY(a_hook_may_free_its_agent_at_every_point),
          TEST_ENTRY(a_hook_may_free_its_parent_or_a_running_child_at_every_point),
          TEST_ENTRY(what_is_forbidden_in_a_hook_is_refused_at_every_point),
          TEST_ENTRY(a_hook_may_do_anything_to_another_agent),
          TEST_ENTRY(a_ticket_may_be_decided_before_the_hook_says_wait),
          TEST_ENTRY(the_hooks_of_an_update_between_two_steps_are_hooks_like_any),
          TEST_ENTRY(closing_waits_for_no_decision),
          TEST_ENTRY(an_abort_while_any_hook_waits_leaves_an_agent_that_goes_on))
