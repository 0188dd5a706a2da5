/* test_hooks.c - corners of hooks and filters that no line of the checklist names. */
#include "agent/snapshot.h"
#include "support/heard.h"
#include "support/rig.h"

static phi_verdict nothing_left(void *user_data, phi_hook *hook) {
    (void)user_data;
    hook->messages = NULL;
    hook->message_count = 0;
    return PHI_ALLOW;
}

TEST(a_list_with_nothing_to_send_is_an_error_in_words_and_no_request) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.hook_fn = nothing_left;
    desc.hook_points = PHI_HOOK_CONVERT_TO_LLM;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r),
                 "Error invalid_request \"the hooks have left nothing to be sent\"") != NULL);
    CHECK_EQ_INT(rig_requests(r), 0);
    rig_free(r);
}

TEST(an_abort_while_before_loop_waits_ends_the_run_unbegun) {
    rig *r = rig_new();
    phi_agent agent = hooked(r, PHI_HOOK_BEFORE_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 0);
    CHECK(strstr(rig_story(r), "AgentStart") == NULL);
    CHECK(strstr(rig_story(r), "AgentEnd cancelled, 0 messages") != NULL);
    CHECK_EQ_INT(phi_message_count(agent), 0);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_STALE);
    rig_free(r);
}

TEST(a_filter_that_rejects_without_words_is_given_some) {
    rig *r = rig_new();
    phi_agent agent = hooked(r, PHI_HOOK_FILTER);
    rig_answers(r, PHI_HOOK_FILTER, PHI_DENY, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 0);
    CHECK(strstr(rig_story(r), "InputRejected \"Rejected by an input filter\"") != NULL);
    CHECK(strstr(rig_story(r), "rejected \"Rejected by an input filter\"") != NULL);
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
    CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
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
    CHECK_STR(phi_message_at(agent, phi_message_count(agent) - 1)->content[0].text, "here");
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

/* Waits when it is asked first; `decided` of each question. */
typedef struct second_look {
    phi_ticket ticket;
    bool decided[4];
    size_t asked;
} second_look;

static phi_verdict look_twice(void *user_data, phi_hook *hook) {
    second_look *look = (second_look *)user_data;
    look->decided[look->asked++ % 4] = hook->decided;
    look->ticket = hook->ticket;
    return hook->decided ? PHI_ALLOW : PHI_WAIT;
}

TEST(a_hook_that_is_asked_again_is_told_that_it_was_decided) {
    rig *r = rig_new();
    second_look look;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    memset(&look, 0, sizeof look);
    desc.hook_fn = look_twice;
    desc.hook_points = PHI_HOOK_TRANSFORM_CONTEXT;
    desc.user_data = &look;
    agent = rig_agent(r, &desc);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(phi_decide(look.ticket, PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(look.asked, 2);
    CHECK(!look.decided[0] && look.decided[1]);
    rig_free(r);
}

/* What the questions about two calls were told. */
typedef struct two_calls {
    char ids[2][8], loop_id[160];
    bool pending[2], approval[2];
    size_t asked;
} two_calls;

static phi_verdict hear_calls(void *user_data, phi_hook *hook) {
    two_calls *told = (two_calls *)user_data;
    size_t i = told->asked++ % 2;
    phi_str id = phi_call_id(hook->call);
    (void)snprintf(told->ids[i], sizeof told->ids[i], "%.*s", (int)id.len, id.at);
    (void)snprintf(told->loop_id, sizeof told->loop_id, "%.*s", (int)hook->loop_id.len,
                   hook->loop_id.at);
    told->pending[i] = phi_call_pending(hook->call) && phi_str_equal(id, hook->tool_call_id);
    told->approval[i] = hook->needs_approval;
    return PHI_ALLOW;
}

TEST(a_hook_is_told_the_run_the_call_and_whether_it_needs_approval) {
    static const char *const calls[] = {"c1 wait {}", "c2 danger {}"};
    rig *r = rig_new();
    two_calls told;
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    phi_agent agent;
    memset(&told, 0, sizeof told);
    tools[0] = rig_wait(r);
    tools[1] = rig_echo();
    tools[1].name = "danger";
    tools[1].needs_approval = true;
    desc.tools = tools;
    desc.tool_count = 2;
    desc.hook_fn = hear_calls;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    desc.user_data = &told;
    agent = rig_agent(r, &desc);
    rig_calls(r, calls, 2);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    rig_finish(r, 0, "waited");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(told.asked, 2);
    CHECK_EQ_STR(told.ids[0], "c1");
    CHECK_EQ_STR(told.ids[1], "c2");
    CHECK(told.pending[0] && told.pending[1]);
    CHECK(!told.approval[0] && told.approval[1]);
    CHECK_STR(phi_agent_last_loop_id(agent), told.loop_id);
    CHECK(told.loop_id[0] != '\0');
    rig_free(r);
}

/* Three calls, one after another; the hook of steering waits behind the first. */
static void wait_between_calls(const char *reply, size_t started, const char *second) {
    static const char *const calls[] = {"c1 echo {}", "c2 echo {}", "c3 echo {}"};
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.tool_mode = PHI_TOOLS_SEQUENTIAL;
    rig_hooks(r, &desc, PHI_HOOK_STEERING | PHI_HOOK_BEFORE_TOOL);
    rig_answers(r, PHI_HOOK_STEERING, PHI_ALLOW, NULL); /* before the first turn */
    rig_answers(r, PHI_HOOK_STEERING, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_calls(r, calls, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "-> before_tool"), 1);
    CHECK_EQ_INT(phi_message_count(agent), 3); /* the first result is there */
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, reply), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> before_tool"), started);
    CHECK_STR(phi_message_at(agent, 3)->content[0].text, second);
    rig_free(r);
}

TEST(steering_that_is_waited_for_between_two_calls_holds_back_the_next) {
    wait_between_calls(NULL, 3, "{}");
    wait_between_calls("stop that", 1, "Skipped due to queued user message.");
}

TEST_MAIN(
    TEST_ENTRY(a_list_with_nothing_to_send_is_an_error_in_words_and_no_request),
    TEST_ENTRY(an_abort_while_before_loop_waits_ends_the_run_unbegun),
    TEST_ENTRY(a_filter_that_rejects_without_words_is_given_some),
    TEST_ENTRY(arguments_that_a_hook_changed_at_once_and_found_no_memory_are_not_run_as_they_were),
    TEST_ENTRY(arguments_that_a_decision_changed_and_found_no_memory_are_not_run_as_they_were),
    TEST_ENTRY(
        arguments_that_were_changed_after_a_restore_and_found_no_memory_are_not_run_as_they_were),
    TEST_ENTRY(a_hook_that_is_asked_again_is_told_that_it_was_decided),
    TEST_ENTRY(a_hook_is_told_the_run_the_call_and_whether_it_needs_approval),
    TEST_ENTRY(steering_that_is_waited_for_between_two_calls_holds_back_the_next))
