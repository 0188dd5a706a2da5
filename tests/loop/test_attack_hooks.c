/* test_attack_hooks.c - hooks that free agents, prompt others, never answer, answer twice or answer
   nonsense, at every point they are asked at. */
#include "agent/one_shot_run.h"
#include "agent/response.h"
#include "support/heard.h"

#include <limits.h>

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
    a->said[4] = phi_ask(hook->agent, "and again", &response);
    a->said[5] = phi_clear_messages(hook->agent);
    a->said[6] = phi_agent_set_tools(hook->agent, NULL, 0);
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
    case DEED_FREE: (void)phi_agent_free(a->victim); break;
    case DEED_FREE_WAIT: (void)phi_agent_free(a->victim); return PHI_WAIT;
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
    phi_status said = phi_call_update(call, "half", 4);
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
        CHECK_EQ_INT(phi_append_message(agent, &m), PHI_OK);
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
    desc.filters = &filter;
    desc.filter_count = 1;
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
TEST(the_attack_scenario_asks_at_every_point) {
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
            s = phi_agent_spending(other);
            CHECK_EQ_INT(s.reserved_tokens, 0);
            CHECK(s.reserved_cost == 0);
            s = phi_agent_spending(agent);
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

/* ---- decisions ---- */

/* Hypothesis: steering that is waited for after messages were taken from the queue is forgotten, and the
   next hook gets its answer. */
TEST(a_decision_about_steering_is_not_taken_for_another_question) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.steering_mode = PHI_QUEUE_ALL;
    rig_hooks(r, &desc, PHI_HOOK_STEERING | PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_TURN);
    rig_answers(r, PHI_HOOK_STEERING, PHI_ALLOW, NULL); /* before the first turn */
    rig_answers(r, PHI_HOOK_STEERING, PHI_WAIT, NULL);  /* after it */
    rig_says(r, "one");
    rig_says(r, "two");
    rig_chunk(r, 20); /* the first answer takes many steps */
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_steer(agent, "left"), PHI_OK);
    rig_chunk(r, 0);
    CHECK_EQ_INT(rig_run_until(r, 1200), 1);
    CHECK(strstr(rig_story(r), "Decision steering") != NULL);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 4 messages") != NULL);
    CHECK_EQ_INT(rig_requests(r), 2);
    rig_free(r);
}

/* Hypothesis: a wait that ended by an abort, a deadline or a free leaves a ticket that still works. */
TEST(a_decision_that_comes_too_late_is_stale) {
    int how;
    for (how = 0; how < 4; how++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        phi_ticket ticket;
        desc.decision_timeout_ms = 50;
        rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN);
        rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_WAIT, NULL);
        agent = rig_agent(r, &desc);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 3), 1);
        ticket = rig_ticket(r, 0);
        if (how == 0) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        if (how == 1) CHECK_EQ_INT(phi_stop(agent), PHI_OK);
        if (how == 2) CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
        if (how == 3) rig_pass_ms(r, 60);
        CHECK_EQ_INT(rig_run(r, 5), 0);
        CHECK_EQ_INT(phi_decide(ticket, PHI_ALLOW, NULL), PHI_STALE);
        CHECK_EQ_INT(phi_decide(ticket, PHI_WAIT, NULL), PHI_BAD_ARG);
        CHECK_EQ_INT(phi_decide(ticket, (phi_verdict)77, NULL), PHI_BAD_ARG);
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), how == 2 ? 0 : 1);
        if (how == 3) CHECK(strstr(rig_story(r), phi_status_text(PHI_DENIED)) != NULL);
        CHECK_EQ_INT(phi_pending(rig_runtime(r), NULL, 0), 0);
        rig_free(r);
    }
}

/* Hypothesis: zeroed tickets, huge replies and a decision posted behind an abort do something. */
TEST(bad_decisions_change_nothing) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_ticket none;
    static char huge[200000];
    memset(&none, 0, sizeof none);
    memset(huge, 'x', sizeof huge - 1);
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN);
    rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_decide(none, PHI_ALLOW, NULL), PHI_BAD_ARG);
    none.rt = rig_runtime(r);
    CHECK_EQ_INT(phi_decide(none, PHI_ALLOW, NULL), PHI_STALE);
    none.index = 12345678;
    none.gen = 1;
    CHECK_EQ_INT(phi_decide(none, PHI_ALLOW, NULL), PHI_STALE);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, huge), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), NULL, 0), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK); /* read behind the abort */
    CHECK_EQ_INT(rig_run(r, 3), 0);
    CHECK(strstr(rig_story(r), "AgentEnd cancelled") != NULL);
    CHECK_EQ_INT(rig_requests(r), 0);
    rig_free(r);
}

/* Hypothesis: a wait without an end has one, or keeps phi_next_timeout busy. */
TEST(a_wait_may_have_no_deadline) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_pending_item item;
    desc.decision_timeout_ms = PHI_UNLIMITED;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    rig_says(r, "hello");
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    rig_pass_ms(r, UINT32_MAX);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 1);
    CHECK(!item.has_deadline);
    CHECK_EQ_INT(phi_decide(item.ticket, PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    rig_free(r);
}

/* Hypothesis: the wait of after_loop keeps the agent's history, or the end of the run, from anybody. */
TEST(an_agent_whose_after_loop_hook_waits_may_be_freed_aborted_or_closed) {
    int how;
    for (how = 0; how < 4; how++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        rig_hooks(r, &desc, PHI_HOOK_AFTER_LOOP);
        rig_answers(r, PHI_HOOK_AFTER_LOOP, PHI_WAIT, NULL);
        rig_says(r, "hello");
        agent = rig_agent(r, &desc);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 1);
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
        CHECK(phi_agent_running(agent));
        CHECK_EQ_INT(phi_agent_reset(agent), PHI_BUSY);
        CHECK_EQ_INT(phi_prompt(agent, "more"), PHI_BUSY);
        CHECK_EQ_INT(phi_inject(agent, "late", "tag"), PHI_MISUSE);
        if (how == 0) CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
        if (how == 1) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        if (how == 2) CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_BUSY);
        if (how == 3) CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, "no"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 3), 0);
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
        rig_free(r);
    }
}

/* Hypothesis: a hook that waits at a point where it may not, or says nonsense, hangs the run. */
TEST(a_verdict_that_is_none_denies) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN);
    rig_answers(r, PHI_HOOK_BEFORE_TURN, (phi_verdict)-9, NULL);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    rig_free(r);
}

/* ---- tools ---- */

typedef struct keep {
    phi_call call;
    size_t asked[2]; /* before, after */
} keep;

static phi_verdict keep_call(void *user_data, phi_hook *hook) {
    keep *k = (keep *)user_data;
    k->call = hook->call;
    k->asked[hook->point == PHI_HOOK_AFTER_TOOL]++;
    return hook->point == PHI_HOOK_BEFORE_TOOL ? PHI_WAIT : PHI_ALLOW;
}

/* Hypothesis: a call that is finished while its permission is still asked for waits on, and the ticket
   answers the hook that comes after the tool. */
TEST(a_call_that_is_finished_while_it_waits_for_permission_is_over) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    keep k;
    memset(&k, 0, sizeof k);
    rig_hook_with(r, keep_call, &k);
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    agent = agent_with(r, &desc, &tool);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(phi_call_finish(k.call, "known already", 13, false), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(k.asked[0], 1);
    CHECK_EQ_INT(k.asked[1], 1);
    CHECK_EQ_INT(rig_started(r), 0);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, NULL), PHI_STALE);
    CHECK(strstr(rig_story(r), "toolResult c1 \"known already\"") != NULL);
    rig_free(r);
}

/* Hypothesis: arguments that a hook gave a call go with the turn, while its events are still queued. */
TEST(changed_arguments_live_as_long_as_the_events_that_show_them) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_ALLOW, "{\"path\":\"/somewhere/else\"}");
    rig_call(r, "c1", "echo", "{\"path\":\"/etc\"}");
    rig_says(r, "done");
    agent = agent_with(r, &desc, &tool);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    rig_silent(r, true);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    rig_silent(r, false);
    CHECK_EQ_INT(rig_run(r, 1), 0);
    CHECK(strstr(rig_story(r), "ToolExecutionStart c1 echo({\"path\":\"/somewhere/else\"})") !=
          NULL);
    rig_free(r);
}

/* Hypothesis: what a hook says instead of arguments reaches the tool unchecked. */
TEST(changed_arguments_are_checked_as_the_models_own) {
    static const char *const bad[] = {"not json", "[1]",  "{\"a\":\"x\"}",
                                      "{\"a\":1", "\"\"", "{}}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(bad); i++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_tool tool = rig_wait(r);
        phi_agent agent;
        tool.schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}";
        rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
        rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_ALLOW, bad[i]);
        rig_call(r, "c1", "wait", "{\"a\":1}");
        rig_says(r, "done");
        agent = agent_with(r, &desc, &tool);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 50), 0);
        CHECK_EQ_INT(rig_started(r), 0);
        if (!CHECK(strstr(rig_story(r), "Invalid arguments") != NULL)) printf("  %s\n", bad[i]);
        rig_free(r);
    }
}

/* Hypothesis: a tool's own deadline runs while a person still makes up their mind. */
TEST(a_tools_timeout_does_not_run_while_a_decision_is_waited_for) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    tool.timeout_ms = 10;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    rig_answers(r, PHI_HOOK_AFTER_TOOL, PHI_WAIT, NULL);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    agent = agent_with(r, &desc, &tool);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    rig_finish(r, 0, "in time");
    CHECK_EQ_INT(rig_run(r, 100), 1); /* after_tool waits */
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 1), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "exceeded") == NULL);
    rig_free(r);
}

/* Hypothesis: a tool that needs approval runs where a wait runs out. */
TEST(a_tool_that_needs_approval_never_runs_by_silence) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    tool.needs_approval = true;
    desc.decision_timeout_ms = 20;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    agent = agent_with(r, &desc, &tool);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(rig_started(r), 0);
    CHECK_EQ_INT(rig_requests(r), 2);
    rig_free(r);
}

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
        CHECK_EQ_INT(phi_call_update(rig_call_at(r, 0), "half", 4), what == 0 ? PHI_OK : PHI_STALE);
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

/* ---- lists ---- */

typedef struct lists {
    int how;
    size_t asked;
    const phi_message *kept[64];
    phi_message own;
    phi_content block;
} lists;

static phi_verdict change_list(void *user_data, phi_hook *hook) {
    lists *l = (lists *)user_data;
    size_t i;
    l->asked++;
    for (i = 0; i < hook->message_count && i < 30; i++) l->kept[i] = hook->messages[i];
    switch (l->how) {
    case 0: hook->messages = NULL; break; /* and a count: the list stays */
    case 1: /* each twice; the user's messages only, so that no call is asked twice */
        for (i = hook->message_count; i > 0; i--)
            l->kept[2 * i - 1] = l->kept[2 * i - 2] = l->kept[i - 1];
        hook->messages = l->kept;
        hook->message_count *= 2;
        break;
    case 2: /* all of its own */
        l->own = text_message(PHI_ROLE_USER, &l->block, "mine");
        for (i = 0; i < 64; i++) l->kept[i] = &l->own;
        hook->messages = l->kept;
        hook->message_count = 64;
        break;
    case 3: /* a hole */
        l->kept[hook->message_count] = NULL;
        hook->messages = l->kept;
        hook->message_count++;
        break;
    case 4: hook->message_count--; break;           /* the same array, shorter */
    case 5: hook->reply = phi__str(NULL, 7); break; /* a reply of nothing at all */
    case 6:                                         /* a message without its content */
        l->own = text_message(PHI_ROLE_USER, &l->block, "mine");
        l->own.content = NULL;
        l->kept[hook->message_count] = &l->own;
        hook->messages = l->kept;
        hook->message_count++;
        break;
    default: break;
    }
    return PHI_ALLOW;
}

/* Hypothesis: a list that holds what no list should takes the process down. */
TEST(odd_lists_of_a_transform_hook_are_survived) {
    static const int points[] = {PHI_HOOK_TRANSFORM_CONTEXT, PHI_HOOK_CONVERT_TO_LLM};
    int how, at;
    for (how = 0; how < 7; how++)
        for (at = 0; at < 2; at++) {
            rig *r = rig_new();
            phi_agent_desc desc = rig_desc();
            phi_agent agent;
            lists l;
            memset(&l, 0, sizeof l);
            l.how = how;
            rig_says(r, "hello");
            rig_hook_with(r, change_list, &l);
            rig_hooks(r, &desc, (uint32_t)points[at]);
            agent = rig_agent(r, &desc);
            { /* two user messages, so that one may go */
                phi_content block;
                phi_message m = text_message(PHI_ROLE_USER, &block, "before");
                CHECK_EQ_INT(phi_append_message(agent, &m), PHI_OK);
            }
            CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 50), 0);
            CHECK_EQ_INT(l.asked, 1);
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
            rig_free(r);
        }
}

/* ---- what waits ---- */

/* Hypothesis: a small or missing array is written past, or counts less. */
TEST(what_waits_is_counted_whatever_the_room) {
    static const char *const calls[] = {"c1 wait {}", "c2 wait {}", "c3 wait {}"};
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_pending_item items[4];
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    rig_calls(r, calls, 3);
    agent = agent_with(r, &desc, &tool);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    memset(items, 0x5a, sizeof items);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), items, 2), 3);
    CHECK_EQ_INT(items[0].kind, PHI_WAITING_CALL);
    CHECK_EQ_INT(items[1].kind, PHI_WAITING_DECISION);
    CHECK_EQ_INT(((unsigned char *)&items[2])[0], 0x5a);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), NULL, 100), 3);
    CHECK_EQ_INT(phi_pending(NULL, items, 4), 0);
    CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), items, 4), 0);
    rig_free(r);
}

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
            CHECK(phi_agent_running(agent) || i == 8 || i == 9); /* an update's hook cannot wait */
            CHECK_EQ_INT(stop ? phi_stop(agent) : phi_abort(agent), PHI_OK);
            (void)(stop ? rig_run_until(r, 400000) : rig_run(r, 5));
            CHECK(!phi_agent_running(agent));
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
            CHECK_EQ_INT(phi_queue_clear(agent, PHI_INPUT_NONE), PHI_OK);
            rig_says(r, "x"), rig_says(r, "x"), rig_says(r, "x");
            CHECK_EQ_INT(phi_send(agent, "again"), PHI_OK);
            CHECK_EQ_INT(rig_run_until(r, 400000), 0);
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 2);
            rig_free(r);
        }
}

/* ---- what an agent gives out, given back to it ---- */

/* Hypothesis: a setter that is given what the getter gave frees it before it reads it. */
TEST(what_an_agent_gives_out_may_be_given_back_to_it) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), got;
    phi_tool tools[2];
    phi_agent agent, twin;
    tools[0] = rig_echo();
    tools[1] = rig_wait(r);
    desc.tools = tools;
    desc.tool_count = 2;
    desc.system_prompt = "You are careful.";
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_INT(phi_agent_set_tools(agent, got.tools + 1, 1), PHI_OK);
    CHECK_EQ_INT(phi_agent_set_system_prompt(agent, got.system_prompt + 4), PHI_OK);
    CHECK_EQ_INT(phi_agent_set_model(agent, &got.model), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_INT(got.tool_count, 1);
    CHECK_EQ_STR(got.tools[0].name, "wait");
    CHECK_EQ_STR(got.system_prompt, "are careful.");
    twin = phi_agent_new(rig_runtime(r), &got);
    CHECK(phi_agent_alive(twin));
    {
        phi_content block;
        phi_message m = text_message(PHI_ROLE_USER, &block, "before");
        CHECK_EQ_INT(phi_append_message(agent, &m), PHI_OK);
        CHECK_EQ_INT(phi_append_message(agent, phi_message_at(agent, 0)), PHI_OK);
        CHECK_EQ_INT(phi_replace_messages(agent, phi_message_at(agent, 0), 1), PHI_OK);
        CHECK_EQ_STR(text_at(agent, 0, 0), "before");
    }
    rig_free(r);
}

/* Hypothesis: results that a host's history holds in another order are taken for those of other calls. */
TEST(a_history_with_results_out_of_order_has_one_for_each_call) {
    int which;
    for (which = 0; which < 4; which++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL);
        phi_content blocks[2], text;
        phi_message m = text_message(PHI_ROLE_USER, &text, "go");
        CHECK_EQ_INT(phi_append_message(agent, &m), PHI_OK);
        memset(blocks, 0, sizeof blocks);
        blocks[0].kind = blocks[1].kind = PHI_CONTENT_TOOL_CALL;
        blocks[0].id = PHI__LIT("c1");
        blocks[1].id = PHI__LIT("c2");
        blocks[0].name = blocks[1].name = PHI__LIT("echo");
        blocks[0].arguments = blocks[1].arguments = PHI__LIT("{}");
        m = text_message(PHI_ROLE_ASSISTANT, &text, "");
        m.content = blocks;
        m.content_count = 2;
        m.stop_reason = PHI_STOP_REASON_TOOL_USE;
        CHECK_EQ_INT(phi_append_message(agent, &m), PHI_OK);
        m = text_message(PHI_ROLE_TOOL_RESULT, &text, "r2");
        m.tool_call_id = PHI__LIT("c2");
        m.tool_name = PHI__LIT("echo");
        if (which & 1) CHECK_EQ_INT(phi_append_message(agent, &m), PHI_OK);
        m.tool_call_id = PHI__LIT("c1");
        if (which & 2) CHECK_EQ_INT(phi_append_message(agent, &m), PHI_OK);
        rig_says(r, "well");
        CHECK_EQ_INT(phi_prompt(agent, "and now?"), PHI_OK); /* the rig checks the request */
        CHECK_EQ_INT(rig_run(r, 50), 0);
        CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
        rig_free(r);
    }
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
    b->said[0] = phi_thread_free(b->thread);
    b->said[1] = phi_thread_append(b->thread, &m);
    b->said[2] = phi_run(hook->agent.rt, &desc).rt == NULL ? PHI_BUSY : PHI_OK;
    if (hook->point == PHI_HOOK_AFTER_TURN) (void)phi_agent_free(hook->agent);
    if (hook->point == PHI_HOOK_AFTER_TURN) b->said[0] = phi_thread_free(b->thread);
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
        CHECK_EQ_INT(phi_thread_free(b.thread), PHI_OK);
        rig_free(r);
    }
}

TEST_MAIN(TEST_ENTRY(the_attack_scenario_asks_at_every_point),
          TEST_ENTRY(a_hook_may_free_its_agent_at_every_point),
          TEST_ENTRY(a_hook_may_free_its_parent_or_a_running_child_at_every_point),
          TEST_ENTRY(what_is_forbidden_in_a_hook_is_refused_at_every_point),
          TEST_ENTRY(a_hook_may_do_anything_to_another_agent),
          TEST_ENTRY(a_ticket_may_be_decided_before_the_hook_says_wait),
          TEST_ENTRY(a_decision_about_steering_is_not_taken_for_another_question),
          TEST_ENTRY(a_decision_that_comes_too_late_is_stale),
          TEST_ENTRY(bad_decisions_change_nothing), TEST_ENTRY(a_wait_may_have_no_deadline),
          TEST_ENTRY(an_agent_whose_after_loop_hook_waits_may_be_freed_aborted_or_closed),
          TEST_ENTRY(a_verdict_that_is_none_denies),
          TEST_ENTRY(a_call_that_is_finished_while_it_waits_for_permission_is_over),
          TEST_ENTRY(changed_arguments_live_as_long_as_the_events_that_show_them),
          TEST_ENTRY(changed_arguments_are_checked_as_the_models_own),
          TEST_ENTRY(a_tools_timeout_does_not_run_while_a_decision_is_waited_for),
          TEST_ENTRY(a_tool_that_needs_approval_never_runs_by_silence),
          TEST_ENTRY(the_hooks_of_an_update_between_two_steps_are_hooks_like_any),
          TEST_ENTRY(odd_lists_of_a_transform_hook_are_survived),
          TEST_ENTRY(what_waits_is_counted_whatever_the_room),
          TEST_ENTRY(closing_waits_for_no_decision),
          TEST_ENTRY(an_abort_while_any_hook_waits_leaves_an_agent_that_goes_on),
          TEST_ENTRY(what_an_agent_gives_out_may_be_given_back_to_it),
          TEST_ENTRY(a_history_with_results_out_of_order_has_one_for_each_call),
          TEST_ENTRY(a_lent_thread_cannot_be_taken_away_from_inside_its_run))
