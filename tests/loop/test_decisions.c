/* test_decisions.c - hooks that wait for a decision: in time, too late, twice, without memory, or
   never. */
#include "agent/snapshot.h"
#include "support/heard.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "base/arena.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "model/event.h"

TEST(a_permission_dialog_is_a_hook_that_waits) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 300), 1);
    CHECK(strstr(rig_story(r), "-> before_tool c1 echo({})\n"
                               "Decision before_tool c1 echo\n") != NULL);
    rig_forget(r);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(begins(rig_story(r), "ToolExecutionStart c1 echo({})\n"
                               "ToolExecutionEnd toolResult c1 \"{}\"\n"));
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, NULL), PHI_STALE);
    rig_free(r);
}

/* ---- decisions ---- */

/* Hypothesis: steering that is waited for after messages were taken from the queue is forgotten, and the
   next hook gets its answer. */
TEST(a_decision_about_steering_is_not_taken_for_another_question) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.input.steering_mode = PHI_QUEUE_ALL;
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
        desc.deadlines.decision_ms = 50;
        rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN);
        rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_WAIT, NULL);
        agent = rig_agent(r, &desc);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 3), 1);
        ticket = rig_ticket(r, 0);
        if (how == 0) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        if (how == 1) CHECK_EQ_INT(phi_stop(agent), PHI_OK);
        if (how == 2) phi_agent_free(agent);
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

/* Hypothesis: a wait without an end has one, or keeps phi_next_timeout busy. It is a second: the
   duration of the run counts meanwhile. */
TEST(a_wait_may_have_no_deadline) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_pending_item item;
    desc.deadlines.decision_ms = PHI_UNLIMITED;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    rig_says(r, "hello");
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 1000);
    rig_pass_stepping_ms(r, 3600000);
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
        CHECK(phi_agent_get_info(agent).running);
        CHECK_EQ_INT(phi_agent_reset(agent), PHI_BUSY);
        CHECK_EQ_INT(phi_prompt(agent, "more"), PHI_BUSY);
        CHECK_EQ_INT(phi_inject(agent, "late", "tag"), PHI_MISUSE);
        if (how == 0) phi_agent_free(agent);
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
    CHECK_EQ_INT(phi_call_reply(k.call, "known already"), PHI_OK);
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
    desc.deadlines.decision_ms = 20;
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
    CHECK_EQ_INT(items[0].kind, PHI_WAITING_DECISION); /* a dialog finds its question */
    CHECK_EQ_INT(items[1].kind, PHI_WAITING_DECISION);
    CHECK_EQ_INT(((unsigned char *)&items[2])[0], 0x5a);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), items, 4), 3);
    CHECK_EQ_INT(items[2].kind, PHI_WAITING_CALL);
    CHECK_STR(items[2].tool_call_id, "c1");
    CHECK_EQ_INT(phi_pending(rig_runtime(r), NULL, 100), 3);
    CHECK_EQ_INT(phi_pending(NULL, items, 4), 0);
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), items, 4), 0);
    rig_free(r);
}

/* ---- changed arguments that find no memory ---- */

typedef enum way { AT_ONCE, WAITED, RESTORED } way;

static const char changed[] =
    "{\"path\":\"/tmp/of/the/player/and/nobody/else/0123456789/0123456789\"}";

/* What the tool was started with, last. */
typedef struct door {
    way how;
    int starts;
    bool as_changed;
} door;

static phi_flow door_opens(void *user_data, phi_call call, phi_str arguments) {
    door *d = (door *)user_data;
    (void)call;
    d->starts++;
    d->as_changed = phi__str_is(arguments, changed);
    return PHI_DONE;
}

static phi_verdict changes(void *user_data, phi_hook *hook) {
    door *d = (door *)user_data;
    if (d->how != AT_ONCE) return PHI_WAIT;
    hook->reply = phi_str_of(changed);
    return PHI_ALLOW;
}

static void decide_all(rig *r) {
    phi_pending_item items[4];
    size_t n = phi_pending(rig_runtime(r), items, 4), i;
    for (i = 0; i < n && i < 4; i++)
        if (items[i].kind == PHI_WAITING_DECISION)
            (void)phi_decide(items[i].ticket, PHI_ALLOW, changed);
}

/* Saved and loaded while it waits, in the same runtime. */
static phi_agent reload(rig *r, phi_agent agent, const phi_agent_desc *desc) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = phi_str_of("");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    phi_agent_free(agent);
    agent = phi_agent_restore(rig_runtime(r), desc, text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    phi_arena_free(&arena);
    (void)rig_run(r, 5); /* it is asked again */
    return agent;
}

/* The n-th allocation from the decision on fails. False: it came to no n-th. */
static bool open_without(way how, int n, int *refused) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_tool tool;
    door d = {AT_ONCE, 0, false};
    bool tripped;
    d.how = how;
    memset(&tool, 0, sizeof tool);
    tool.name = "open";
    tool.start = door_opens;
    tool.user_data = &d;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.hook_fn = changes;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    desc.user_data = &d;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "open", "{\"path\":\"/etc/passwd\"}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    if (how != AT_ONCE) (void)rig_run(r, 10);
    if (how == RESTORED) agent = reload(r, agent, &desc);
    CHECK_EQ_INT(d.starts, 0);
    test_alloc_fail_at(n);
    decide_all(r);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK(d.starts <= 1 && (d.starts == 0 || d.as_changed));
    *refused += d.starts == 0;
    rig_drop_answers(r);
    rig_says(r, "here");
    d.how = AT_ONCE;
    CHECK_EQ_INT(phi_prompt(agent, "are you there?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent),
                                    phi_thread_message_count(phi_agent_thread(agent)) - 1)
                  ->content[0]
                  .text,
              "here");
    rig_free(r);
    return tripped;
}

static void open_without_each(way how) {
    int n = 0, refused = 0;
    while (open_without(how, n, &refused)) n++;
    CHECK(n > 5 && refused > 0);
}

TEST(arguments_that_a_hook_changed_at_once_and_found_no_memory_are_not_run_as_they_were) {
    open_without_each(AT_ONCE);
}

TEST(arguments_that_a_decision_changed_and_found_no_memory_are_not_run_as_they_were) {
    open_without_each(WAITED);
}

TEST(arguments_that_were_changed_after_a_restore_and_found_no_memory_are_not_run_as_they_were) {
    open_without_each(RESTORED);
}

/* ---- a message that is injected meanwhile ---- */

/* An agent whose hook before the first turn waits, and "it rains" injected then. */
static phi_agent injected_meanwhile(rig *r, phi_agent_desc *desc, uint32_t points) {
    phi_agent agent;
    rig_hooks(r, desc, points | PHI_HOOK_BEFORE_TURN);
    rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_WAIT, NULL);
    rig_says(r, "one");
    rig_says(r, "two");
    agent = rig_agent(r, desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_inject(agent, "it rains", "sensor"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(rig_requests(r), 0);
    return agent;
}

TEST(a_message_injected_while_before_turn_waits_is_in_that_turns_request) {
    int order; /* of the decision and the message, where no step is between them */
    for (order = 0; order < 2; order++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_agent agent = injected_meanwhile(r, &desc, 0);
        if (order == 0) CHECK_EQ_INT(phi_inject(agent, "and snows", NULL), PHI_OK);
        CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
        if (order == 1) CHECK_EQ_INT(phi_inject(agent, "and snows", NULL), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK_EQ_INT(rig_requests(r), 1);
        REQUIRE(rig_request(r, 0) != NULL);
        CHECK(strstr(rig_request(r, 0), "it rains") != NULL);
        CHECK(strstr(rig_request(r, 0), "and snows") != NULL);
        CHECK(strstr(rig_story(r), "Decision before_turn\n"
                                   "TurnStart 0\n"
                                   "MessageStart user \"go\"\n"
                                   "MessageEnd user \"go\"\n"
                                   "MessageStart user \"it rains\"") != NULL);
        CHECK_EQ_INT(count_of(rig_story(r), "-> before_turn"), 1);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
        rig_free(r);
    }
}

TEST(a_message_injected_while_before_turn_waits_and_that_turn_is_denied_is_dropped) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = injected_meanwhile(r, &desc, 0);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "InputDropped injected \"it rains\""), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 1);
    rig_free(r);
}

/* Hypothesis: what is injected behind the hook slips past the filters, or its filter's wait is
   taken for the hook's, does not survive a snapshot, or cannot be ended. */
TEST(a_message_injected_while_before_turn_waits_passes_the_filters_first) {
    enum { ALLOWED, WARNED, DENIED, SAVED, STOPPED, ABORTED, WAYS };
    int how;
    for (how = 0; how < WAYS; how++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        rig_answers(r, PHI_HOOK_FILTER, PHI_ALLOW, NULL); /* the prompt */
        if (how == WARNED) rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "wet");
        if (how == DENIED) rig_answers(r, PHI_HOOK_FILTER, PHI_DENY, "no weather");
        if (how >= SAVED) rig_answers(r, PHI_HOOK_FILTER, PHI_WAIT, NULL);
        agent = injected_meanwhile(r, &desc, PHI_HOOK_FILTER);
        CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), how >= SAVED);
        if (how == SAVED) agent = reload(r, agent, &desc);
        if (how == STOPPED) CHECK_EQ_INT(phi_stop(agent), PHI_OK);
        if (how == ABORTED) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK(strstr(rig_story(r), "Decision before_turn\n-> filter \"it rains\"\n") != NULL);
        CHECK_EQ_INT(count_of(rig_story(r), "-> before_turn"), 1);
        CHECK_EQ_INT(rig_requests(r), how <= WARNED || how == SAVED);
        if (how <= WARNED || how == SAVED) {
            REQUIRE(rig_request(r, 0) != NULL);
            CHECK(strstr(rig_request(r, 0), "it rains") != NULL);
            CHECK(how != WARNED || strstr(rig_request(r, 0), "[Warning: wet]") != NULL);
            CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
        } else {
            CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 1);
            CHECK(strstr(rig_story(r), "TurnStart") == NULL);
            CHECK_EQ_INT(count_of(rig_story(r), "InputRejected \"no weather\""), how == DENIED);
            CHECK_EQ_INT(count_of(rig_story(r), "InputDropped injected"), how != DENIED);
        }
        rig_free(r);
    }
}

/* Hypothesis: a turn may take more than was reserved before its hook waited. */
TEST(a_message_injected_while_before_turn_waits_is_within_the_budget) {
    int pause;
    for (pause = 0; pause < 2; pause++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        desc.max_tokens = 20;        /* so a call may take 20, */
        desc.budget.max_tokens = 26; /* and 5 for "go"; the message takes 6 */
        desc.limits.pause = pause != 0;
        agent = injected_meanwhile(r, &desc, 0);
        CHECK_EQ_INT(phi_agent_get_info(agent).spending.reserved_tokens, 25);
        CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), pause);
        CHECK_EQ_INT(rig_requests(r), 0);
        if (pause) {
            phi_raise more = PHI_ZERO;
            more.tokens = 10;
            CHECK(strstr(rig_story(r), "Paused") != NULL);
            CHECK_EQ_INT(phi_budget_raise(agent, &more), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 20), 0);
            CHECK_EQ_INT(rig_requests(r), 1);
            CHECK(strstr(rig_request(r, 0), "it rains") != NULL);
            CHECK_EQ_INT(count_of(rig_story(r), "-> before_turn"), 2);
        } else {
            CHECK(strstr(rig_story(r), "[Agent stopped: Token budget reached (0/26") != NULL);
            CHECK_EQ_INT(count_of(rig_story(r), "InputDropped injected \"it rains\""), 1);
        }
        rig_free(r);
    }
}

TEST_MAIN(
    TEST_ENTRY(a_permission_dialog_is_a_hook_that_waits),
    TEST_ENTRY(a_decision_about_steering_is_not_taken_for_another_question),
    TEST_ENTRY(a_decision_that_comes_too_late_is_stale), TEST_ENTRY(bad_decisions_change_nothing),
    TEST_ENTRY(a_wait_may_have_no_deadline),
    TEST_ENTRY(an_agent_whose_after_loop_hook_waits_may_be_freed_aborted_or_closed),
    TEST_ENTRY(a_verdict_that_is_none_denies),
    TEST_ENTRY(a_call_that_is_finished_while_it_waits_for_permission_is_over),
    TEST_ENTRY(changed_arguments_live_as_long_as_the_events_that_show_them),
    TEST_ENTRY(changed_arguments_are_checked_as_the_models_own),
    TEST_ENTRY(a_tools_timeout_does_not_run_while_a_decision_is_waited_for),
    TEST_ENTRY(a_tool_that_needs_approval_never_runs_by_silence),
    TEST_ENTRY(what_waits_is_counted_whatever_the_room),
    TEST_ENTRY(arguments_that_a_hook_changed_at_once_and_found_no_memory_are_not_run_as_they_were),
    TEST_ENTRY(arguments_that_a_decision_changed_and_found_no_memory_are_not_run_as_they_were),
    TEST_ENTRY(
        arguments_that_were_changed_after_a_restore_and_found_no_memory_are_not_run_as_they_were),
    TEST_ENTRY(a_message_injected_while_before_turn_waits_is_in_that_turns_request),
    TEST_ENTRY(a_message_injected_while_before_turn_waits_and_that_turn_is_denied_is_dropped),
    TEST_ENTRY(a_message_injected_while_before_turn_waits_passes_the_filters_first),
    TEST_ENTRY(a_message_injected_while_before_turn_waits_is_within_the_budget))
