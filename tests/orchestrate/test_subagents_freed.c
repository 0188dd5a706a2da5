/* test_subagents_freed.c - the caller, or all agents, freed at each hook and each call of the model,
   with children at work. */
#include "loop/inner_in.h"
#include "loop/state_in.h"
#include "orchestrate/family.h"
#include "agent/agent_history.h"

typedef struct stage {
    rig *r;
    family f;
    phi_agent_desc worker_desc, lead_desc;
    phi_subagent_desc worker;
    phi_tool echo, tool, both[2];
    phi_agent lead;
    phi_provider inner; /* the family's */
    int count, at,
        what; /* at the at-th call: 0 the lead goes, 1 a child, 2 it is aborted, 3 reset */
} stage;

/* The newest child of the lead; the lead itself where there is none. */
static phi_agent some_child(const stage *s) {
    const phi__agent *lead = phi__find_agent(s->lead);
    return lead != NULL && lead->tree.first_child != NULL ? lead->tree.first_child->handle
                                                          : s->lead;
}

static void act(stage *s) {
    if (s->count++ != s->at) return;
    if (s->what == 0) phi_agent_free(s->lead);
    if (s->what == 1) phi_agent_free(some_child(s));
    if (s->what == 2) (void)phi_abort(s->lead);
    if (s->what == 3) (void)phi_abort(some_child(s));
}

static phi_verdict hook(void *user_data, phi_hook *h) {
    (void)h;
    act((stage *)user_data);
    return PHI_ALLOW;
}

static phi_status acting_open(void *user_data, const phi_model_request *request, void **call) {
    stage *s = (stage *)user_data;
    phi_status status = s->inner.open(s->inner.user_data, request, call);
    act(s);
    return status;
}

static phi_poll acting_poll(void *user_data, void *call, phi_answer *answer) {
    stage *s = (stage *)user_data;
    phi_poll said = s->inner.poll(s->inner.user_data, call, answer);
    act(s);
    return said;
}

static void acting_close(void *user_data, void *call) {
    stage *s = (stage *)user_data;
    s->inner.close(s->inner.user_data, call);
}

static bool once(int at, int what, bool shown) {
    const uint32_t points = (uint32_t)EVERY_POINT & ~(uint32_t)PHI_HOOK_FILTER;
    stage s;
    bool reached;
    memset(&s, 0, sizeof s);
    s.r = rig_new();
    s.at = at;
    s.what = what;
    family_begin(&s.f, s.r);
    s.inner = s.f.provider;
    s.f.provider.open = acting_open;
    s.f.provider.poll = acting_poll;
    s.f.provider.close = acting_close;
    s.f.provider.user_data = &s;
    s.worker_desc = family_desc(&s.f, "worker");
    s.echo = rig_echo();
    s.worker_desc.tools = &s.echo;
    s.worker_desc.tool_count = 1;
    s.worker_desc.hook_fn = hook;
    s.worker_desc.hook_points = points;
    s.worker_desc.user_data = &s;
    s.worker.name = "worker";
    s.worker.agent = &s.worker_desc;
    s.worker.keep = 1;
    s.worker.show_events = shown;
    s.lead_desc = family_desc(&s.f, "lead 2");
    s.tool = phi_subagent_tool(&s.worker);
    s.lead_desc.tools = &s.tool;
    s.lead_desc.tool_count = 1;
    s.lead_desc.hook_fn = hook;
    s.lead_desc.hook_points = points;
    s.lead_desc.user_data = &s;
    s.lead = rig_agent(s.r, &s.lead_desc);
    CHECK_EQ_INT(phi_prompt(s.lead, "tool"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 300), 0);
    CHECK_EQ_INT(s.f.open, 0);
    reached = s.count > s.at;
    if (phi_agent_alive(s.lead)) { /* it is usable */
        s.at = -1;
        CHECK_EQ_INT(phi_prompt(s.lead, "part"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 300), 0);
        CHECK(strstr(text_at(s.lead, phi_thread_message_count(phi_agent_thread(s.lead)) - 1, 0),
                     "are done") != NULL);
    }
    rig_free(s.r);
    return reached;
}

static void everywhere(int what) {
    int at, shown;
    for (shown = 0; shown < 2; shown++) {
        for (at = 0; at < 1000 && once(at, what, shown == 1); at++) {}
        CHECK(at > 40 && at < 1000);
    }
}

TEST(the_caller_may_be_freed_anywhere) { everywhere(0); }
TEST(a_child_may_be_freed_anywhere) { everywhere(1); }
TEST(the_caller_may_be_aborted_anywhere) { everywhere(2); }
TEST(a_child_may_be_aborted_anywhere) { everywhere(3); }

static phi_status clearing_open(void *user_data, const phi_model_request *request, void **call) {
    stage *s = (stage *)user_data;
    return s->inner.open(s->inner.user_data, request, call);
}

static phi_poll clearing_poll(void *user_data, void *call, phi_answer *answer) {
    stage *s = (stage *)user_data;
    return s->inner.poll(s->inner.user_data, call, answer);
}

static void clearing_close(void *user_data, void *call) {
    stage *s = (stage *)user_data;
    s->inner.close(s->inner.user_data, call);
    if (s->count++ > 0) return;
    if (s->what == 0) CHECK_EQ_INT(phi_agent_replace_messages(s->lead, NULL, 0), PHI_OK);
    if (s->what == 1) CHECK_EQ_INT(phi_spawn(s->lead, &s->worker, "wait", NULL), PHI_OK);
}

/* Four children wait, and the lead's messages are cleared; how many ends are told. */
static int cleared(int what, bool shown, int *open) {
    stage s;
    phi_event event;
    phi_agent child;
    int i, ends = 0;
    memset(&s, 0, sizeof s);
    s.r = rig_new();
    s.what = what;
    s.worker.show_events = shown;
    family_begin(&s.f, s.r);
    s.inner = s.f.provider;
    s.f.provider.close = clearing_close;
    s.f.provider.user_data = &s;
    s.inner.user_data = &s.f;
    s.f.provider.open = clearing_open;
    s.f.provider.poll = clearing_poll;
    s.worker_desc = family_desc(&s.f, "worker");
    s.lead_desc = family_desc(&s.f, "lead 2");
    s.worker.name = "worker";
    s.worker.agent = &s.worker_desc;
    s.lead = rig_agent(s.r, &s.lead_desc);
    for (i = 0; i < 4; i++) CHECK_EQ_INT(phi_spawn(s.lead, &s.worker, "wait", &child), PHI_OK);
    (void)rig_run(s.r, 10);
    CHECK_EQ_INT(s.f.open, 4);
    CHECK_EQ_INT(phi_agent_replace_messages(s.lead, NULL, 0), PHI_OK);
    *open = s.f.open;
    while (phi_next_event(rig_runtime(s.r), &event)) ends += event.kind == PHI_EV_SUBAGENT_END;
    rig_free(s.r);
    return ends;
}

TEST(a_conversation_is_cleared_while_it_is_being_cleared) {
    int open;
    /* the second clearing drops events that were not popped: the first child's */
    CHECK_EQ_INT(cleared(0, false, &open), 3);
    CHECK_EQ_INT(open, 0);
}

TEST(a_sub_agent_that_begins_while_a_conversation_is_cleared_does_not_save_the_others) {
    int open;
    CHECK_EQ_INT(cleared(1, true, &open), 4);
    CHECK_EQ_INT(open, 0); /* the new one has not asked yet */
}

static phi_flow never_done(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_PENDING;
}

static void free_lead(void *user_data, phi_call call) {
    stage *s = (stage *)user_data;
    (void)call;
    s->count++;
    phi_agent_free(s->lead);
}

/* Hypothesis: who frees the caller waits for a child that is on its way out. */
TEST(the_caller_may_be_freed_by_a_tool_of_a_grandchild_that_goes_with_the_child) {
    stage s;
    phi_agent child, grandchild;
    memset(&s, 0, sizeof s);
    s.r = rig_new();
    family_begin(&s.f, s.r);
    s.worker_desc = family_desc(&s.f, "worker");
    s.echo = rig_echo();
    s.echo.start = never_done;
    s.echo.cancel = free_lead;
    s.echo.user_data = &s;
    s.worker_desc.tools = &s.echo;
    s.worker_desc.tool_count = 1;
    s.worker.name = "worker";
    s.worker.agent = &s.worker_desc;
    s.lead_desc = family_desc(&s.f, "lead 2");
    s.lead = rig_agent(s.r, &s.lead_desc);
    CHECK_EQ_INT(phi_spawn(s.lead, &s.worker, "wait", &child), PHI_OK);
    CHECK_EQ_INT(phi_spawn(child, &s.worker, "tool", &grandchild), PHI_OK);
    (void)rig_run(s.r, 10);
    phi_agent_free(child);
    CHECK_EQ_INT(s.count, 1);
    CHECK(!phi_agent_alive(s.lead) && !phi_agent_alive(child) && !phi_agent_alive(grandchild));
    CHECK_EQ_INT(rig_run(s.r, 10), 0);
    CHECK_EQ_INT(s.f.open, 0);
    rig_free(s.r);
}

TEST_MAIN(
    TEST_ENTRY(the_caller_may_be_freed_by_a_tool_of_a_grandchild_that_goes_with_the_child),
    TEST_ENTRY(a_conversation_is_cleared_while_it_is_being_cleared),
    TEST_ENTRY(a_sub_agent_that_begins_while_a_conversation_is_cleared_does_not_save_the_others),
    TEST_ENTRY(the_caller_may_be_freed_anywhere), TEST_ENTRY(a_child_may_be_freed_anywhere),
    TEST_ENTRY(the_caller_may_be_aborted_anywhere), TEST_ENTRY(a_child_may_be_aborted_anywhere))
