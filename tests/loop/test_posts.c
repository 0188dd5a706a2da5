/* test_posts.c - what must always be heard: aborts, stops and decisions without a text, whatever else was said and
   however little memory there is; and which runs they mean. */
#include "support/rig.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/run.h"
#include "model/event.h"

/* Messages of 319 bytes until there is no room for one more. */
static void fill(phi_agent agent) {
    static char text[320];
    memset(text, 'x', sizeof text - 1);
    while (phi_inject(agent, text, NULL) == PHI_OK) {}
    CHECK_EQ_INT(phi_inject(agent, text, NULL), PHI_FULL);
}

static int count_of(const char *text, const char *what) {
    int n = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what)) n++;
    return n;
}

/* ---- a full inbox ---- */

static phi_verdict wait_for_ever(void *user_data, phi_hook *hook) {
    (void)user_data;
    (void)hook;
    return PHI_WAIT;
}

/* As many agents with a run that waits. */
static void crowd_of(rig *r, phi_agent *agents, int count) {
    phi_agent_desc desc = rig_desc();
    int i;
    desc.hook_fn = wait_for_ever;
    desc.hook_points = PHI_HOOK_BEFORE_TURN;
    for (i = 0; i < count; i++) {
        agents[i] = rig_agent(r, &desc);
        CHECK_EQ_INT(phi_prompt(agents[i], "go"), PHI_OK);
    }
    CHECK_EQ_INT(rig_run(r, 100), count);
}

TEST(two_hundred_aborts_are_heard_behind_a_full_inbox) {
    rig *r = rig_new();
    phi_agent agents[200];
    int i;
    crowd_of(r, agents, 200);
    fill(agents[0]);
    for (i = 0; i < 200; i++) CHECK_EQ_INT(phi_abort(agents[i]), PHI_OK);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 0);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd cancelled"), 200);
    rig_free(r);
}

TEST(more_aborts_than_a_step_reads_are_all_heard) {
    static phi_agent agents[1000];
    rig *r = rig_new();
    int i;
    crowd_of(r, agents, 1000);
    for (i = 1000; i-- > 0;) CHECK_EQ_INT(phi_abort(agents[i]), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 300), 0);
    rig_free(r);
}

TEST(a_stop_is_heard_behind_a_full_inbox) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "t1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    fill(agent);
    CHECK_EQ_INT(phi_stop(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1); /* its call is waited for */
    rig_finish(r, 0, "done");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentEnd cancelled") != NULL);
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

static phi_agent asking(rig *r) {
    phi_agent_desc desc = rig_desc();
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP);
    return rig_agent(r, &desc);
}

TEST(a_decision_without_a_text_is_heard_behind_a_full_inbox) {
    static const phi_verdict verdicts[] = {PHI_ALLOW, PHI_DENY, PHI_WARN};
    size_t i;
    for (i = 0; i < PHI__COUNT(verdicts); i++) {
        rig *r = rig_new();
        phi_agent agent = asking(r);
        rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
        rig_says(r, "well");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 5), 1);
        fill(agent);
        CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), verdicts[i], i == 0 ? "" : NULL), PHI_OK);
        CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, NULL), PHI_STALE);
        CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, "late"), PHI_STALE);
        CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 0);
        CHECK_EQ_INT(rig_run(r, 50), 0);
        CHECK_EQ_INT(rig_requests(r), verdicts[i] == PHI_DENY ? 0 : 1);
        rig_free(r);
    }
}

TEST(a_decision_whose_text_does_not_fit_stays_open) {
    rig *r = rig_new();
    phi_agent agent = asking(r);
    phi_pending_item item;
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    fill(agent);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY,
                            "This is a reason of many words, for which there is no room left in an "
                            "inbox that holds nothing but messages of three hundred bytes, and it "
                            "is as long as those are, so that it cannot slip into a gap that they "
                            "have left at the end of the ring; which they may, being of one size "
                            "that does not divide it."),
                 PHI_FULL);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 1);
    CHECK_EQ_INT(item.kind, PHI_WAITING_DECISION);
    CHECK_EQ_INT(rig_run(r, 5), 1); /* nothing was decided */
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, "Because."), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    rig_free(r);
}

/* ---- which runs are meant ---- */

TEST(an_abort_of_a_parent_does_not_mean_a_child_s_later_run) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent parent, child;
    parent = rig_agent(r, NULL);
    desc.parent = parent;
    child = rig_agent(r, &desc);
    rig_hangs(r, "");
    rig_says(r, "well");
    CHECK_EQ_INT(phi_prompt(parent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(phi_abort(parent), PHI_OK);
    CHECK_EQ_INT(phi_prompt(child, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd cancelled"), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd ok"), 1);
    rig_free(r);
}

TEST(an_abort_that_was_not_read_does_not_hit_who_takes_the_handle_s_place) {
    rig *r = rig_new();
    phi_agent old = rig_agent(r, NULL), other;
    CHECK_EQ_INT(phi_abort(old), PHI_OK);
    CHECK_EQ_INT(phi_stop(old), PHI_OK);
    phi_agent_free(old);
    other = rig_agent(r, NULL);
    CHECK_EQ_INT(other.index, old.index);
    rig_says(r, "well");
    CHECK_EQ_INT(phi_prompt(other, "go"), PHI_OK);
    CHECK_EQ_INT(phi_abort(old), PHI_STALE);
    CHECK_EQ_INT(phi_stop(old), PHI_STALE);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

TEST(a_decision_that_was_not_read_does_not_decide_the_next_question) {
    rig *r = rig_new();
    phi_agent agent = asking(r), other = asking(r);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, NULL), PHI_OK);
    phi_agent_free(agent); /* its ticket goes with it */
    CHECK_EQ_INT(phi_prompt(other, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(rig_ticket(r, 1).index, rig_ticket(r, 0).index);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), NULL, 0), 1);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_STALE);
    rig_free(r);
}

/* ---- from inside a callback ---- */

typedef struct meddler {
    phi_agent other;
    phi_status said[3];
} meddler;

/* Ends its own run and decides its own question, then starts another agent: which reads what was said to runs. */
static phi_verdict meddle(void *user_data, phi_hook *hook) {
    meddler *m = (meddler *)user_data;
    m->said[0] = phi_decide(hook->ticket, PHI_ALLOW, NULL);
    m->said[1] = phi_abort(hook->agent);
    m->said[2] = phi_prompt(m->other, "go");
    return PHI_WAIT;
}

TEST(a_hook_may_abort_its_run_decide_its_question_and_prompt_another) {
    static const uint32_t points[] = {PHI_HOOK_BEFORE_LOOP,       PHI_HOOK_BEFORE_TURN,
                                      PHI_HOOK_TRANSFORM_CONTEXT, PHI_HOOK_CREDENTIAL,
                                      PHI_HOOK_FOLLOW_UP,         PHI_HOOK_AFTER_LOOP};
    size_t i;
    for (i = 0; i < PHI__COUNT(points); i++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        meddler m;
        phi_agent agent;
        memset(&m, 0, sizeof m);
        m.other = rig_agent(r, NULL);
        desc.hook_fn = meddle;
        desc.hook_points = points[i];
        desc.user_data = &m;
        agent = rig_agent(r, &desc);
        rig_says(r, "one");
        rig_says(r, "two");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 100), 0);
        CHECK_EQ_INT(m.said[0], PHI_OK);
        CHECK_EQ_INT(m.said[1], PHI_OK);
        CHECK_EQ_INT(m.said[2], PHI_OK);
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 2);
        rig_free(r);
    }
}

/* ---- no memory ---- */

TEST(aborts_and_decisions_need_no_memory) {
    rig *r = rig_new();
    phi_agent agent = asking(r), other = rig_agent(r, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(other, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 2);
    test_alloc_fail_from(0);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, NULL), PHI_OK);
    CHECK_EQ_INT(phi_abort(other), PHI_OK);
    CHECK(!test_alloc_tripped());
    CHECK_EQ_INT(phi_step(rig_runtime(r), 0), 0);
    test_alloc_fail_from(-1);
    CHECK(!phi_agent_get_info(agent).running && !phi_agent_get_info(other).running);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(two_hundred_aborts_are_heard_behind_a_full_inbox),
          TEST_ENTRY(more_aborts_than_a_step_reads_are_all_heard),
          TEST_ENTRY(a_stop_is_heard_behind_a_full_inbox),
          TEST_ENTRY(a_decision_without_a_text_is_heard_behind_a_full_inbox),
          TEST_ENTRY(a_decision_whose_text_does_not_fit_stays_open),
          TEST_ENTRY(an_abort_of_a_parent_does_not_mean_a_child_s_later_run),
          TEST_ENTRY(an_abort_that_was_not_read_does_not_hit_who_takes_the_handle_s_place),
          TEST_ENTRY(a_decision_that_was_not_read_does_not_decide_the_next_question),
          TEST_ENTRY(a_hook_may_abort_its_run_decide_its_question_and_prompt_another),
          TEST_ENTRY(aborts_and_decisions_need_no_memory))
