/* test_hooks.c - the order of hooks, what they may say, and what they are told.
   docs/conformance.md names those that prove a line of the checklist. */
#include "support/update.h"
#include "support/heard.h"
#include "agent/agent_history.h"
#include "model/model_in.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"

/* A tool that says half of its result, then all of it. */
static phi_flow work_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)call_update(call, "half");
    (void)phi_call_reply(call, "whole");
    return PHI_DONE;
}

static phi_tool work_tool(void) {
    phi_tool tool = rig_echo();
    tool.name = "work";
    tool.start = work_start;
    return tool;
}

TEST(every_hook_is_called_in_the_strict_order) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = work_tool();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    rig_hooks(r, &desc, 0x7fff); /* all but FILTER, which only filters are */
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "work", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "-> before_loop (0 messages)\n"
                               "AgentStart\n"
                               "-> filter \"go\"\n"
                               "-> steering\n"
                               "-> before_turn 0 (1 messages)\n"
                               "TurnStart 0\n"
                               "MessageStart user \"go\"\n"
                               "MessageEnd user \"go\"\n"
                               "-> transform_context (1 messages)\n"
                               "-> convert_to_llm (1 messages)\n"
                               "MessageStart assistant\n"
                               "ToolCallDelta \"{}\" of \"{}\"\n"
                               "MessageEnd assistant work({}) toolUse\n"
                               "-> before_tool c1 work({})\n"
                               "ToolExecutionStart c1 work({})\n"
                               "-> before_tool_update c1 work \"half\"\n"
                               "ToolExecutionUpdate c1 \"half\"\n"
                               "-> after_tool_update c1 work \"half\"\n"
                               "ToolExecutionEnd toolResult c1 \"whole\"\n"
                               "-> after_tool c1 work\n"
                               "MessageStart toolResult c1 \"whole\"\n"
                               "MessageEnd toolResult c1 \"whole\"\n"
                               "-> steering\n"
                               "TurnEnd assistant work({}) toolUse\n"
                               "-> after_turn (3 messages)\n"
                               "-> steering\n"
                               "-> before_turn 1 (3 messages)\n"
                               "TurnStart 1\n"
                               "-> transform_context (3 messages)\n"
                               "-> convert_to_llm (3 messages)\n"
                               "MessageStart assistant\n"
                               "TextDelta \"done\" of \"done\"\n"
                               "MessageEnd assistant \"done\" stop\n"
                               "TurnEnd assistant \"done\" stop\n"
                               "-> after_turn (4 messages)\n"
                               "-> steering\n"
                               "-> follow_up\n"
                               "AgentEnd ok, 4 messages\n"
                               "-> after_loop (4 messages)\n");
    rig_free(r);
}

TEST(a_denied_update_is_not_told_and_the_result_is_as_it_was) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = work_tool();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL_UPDATE | PHI_HOOK_AFTER_TOOL_UPDATE);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL_UPDATE, PHI_DENY, NULL);
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "work", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "ToolExecutionStart c1 work({})\n"
                               "-> before_tool_update c1 work \"half\"\n"
                               "ToolExecutionEnd toolResult c1 \"whole\"\n") != NULL);
    CHECK_EQ_INT(count_of(rig_story(r), "after_tool_update"), 0);
    rig_free(r);
}

TEST(before_turn_that_says_no_ends_the_run_before_the_turn_with_agent_end_and_after_loop) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_TURN | PHI_HOOK_AFTER_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_TURN, PHI_DENY, NULL);
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{\"x\":1}");
    rig_call(r, "c2", "echo", "{\"x\":2}");
    rig_says(r, "never");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> before_turn"), 3);
    CHECK_EQ_INT(count_of(rig_story(r), "MessageEnd assistant"), 2);
    CHECK_EQ_INT(count_of(rig_story(r), "TurnStart"), 2);
    CHECK_EQ_INT(count_of(rig_story(r), "TurnEnd"), 2);
    CHECK(strstr(rig_story(r), "-> after_turn (5 messages)\n"
                               "-> before_turn 2 (5 messages)\n"
                               "AgentEnd a hook said no, 5 messages\n"
                               "-> after_loop (5 messages)\n") != NULL);
    rig_free(r);
}

static phi_verdict note_usage(void *user_data, phi_hook *hook) {
    if (hook->point == PHI_HOOK_AFTER_TURN && hook->usage != NULL)
        phi__message_add_usage((phi_usage *)user_data, hook->usage);
    return PHI_ALLOW;
}

TEST(after_turn_follows_turn_end_with_a_growing_history_and_the_turn_s_usage) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_usage usage;
    memset(&usage, 0, sizeof usage);
    rig_hooks(r, &desc, PHI_HOOK_AFTER_TURN);
    rig_hook_with(r, note_usage, &usage);
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(
        count_of(rig_story(r), "TurnEnd assistant echo({}) toolUse\n-> after_turn (3 messages)\n"),
        1);
    CHECK_EQ_INT(
        count_of(rig_story(r), "TurnEnd assistant \"done\" stop\n-> after_turn (4 messages)\n"), 1);
    CHECK_EQ_INT(usage.input, 20); /* ten a turn */
    CHECK_EQ_INT(usage.output, 10);
    rig_free(r);
}

TEST(a_denied_tool_has_neither_start_nor_end_and_the_model_reads_why) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    static const char *const calls[] = {"c1 echo {}", "c2 echo {}"};
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_DENY, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_DENY, "not on a Sunday");
    agent = agent_with(r, &desc, &tool);
    rig_calls(r, calls, 2);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "ToolExecutionStart"), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "ToolExecutionEnd"), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> after_tool"), 0);
    CHECK(strstr(rig_story(r), "MessageStart toolResult c1 error \"Tool execution skipped by "
                               "before_tool_execution hook.\"\n"
                               "MessageEnd toolResult c1 error \"Tool execution skipped by "
                               "before_tool_execution hook.\"\n") != NULL);
    CHECK(strstr(rig_story(r), "MessageStart toolResult c2 error \"not on a Sunday\"\n"
                               "MessageEnd toolResult c2 error \"not on a Sunday\"\n") != NULL);
    CHECK(strstr(rig_request(r, 1), "not on a Sunday") != NULL);
    rig_free(r);
}

TEST(a_denied_tool_leaves_the_others_and_after_tool_comes_once_a_call) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    static const char *const calls[] = {"c1 echo {}", "c2 echo {}", "c3 echo {}"};
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_DENY, "not this one");
    agent = agent_with(r, &desc, &tool);
    rig_calls(r, calls, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "ToolExecutionStart c1"), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "ToolExecutionStart c2"), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "ToolExecutionStart c3"), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "-> after_tool c1 "), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "-> after_tool c2 "), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> after_tool c3 "), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "MessageEnd toolResult c2 error \"not this one\""), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 6);
    rig_free(r);
}

TEST(before_tool_may_change_the_arguments) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_ALLOW, "{\"x\":2}");
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{\"x\":1}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "-> before_tool c1 echo({\"x\":1})\n"
                               "ToolExecutionStart c1 echo({\"x\":2})\n"
                               "ToolExecutionEnd toolResult c1 \"{\"x\":2}\"\n"
                               "-> after_tool c1 echo\n"
                               "MessageStart toolResult c1 \"{\"x\":2}\"\n") != NULL);
    rig_free(r);
}

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
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_STALE);
    rig_free(r);
}

/* ---- changed arguments that find no memory ---- */

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
    phi_str id = phi_call_get_info(hook->call).id;
    (void)snprintf(told->ids[i], sizeof told->ids[i], "%.*s", (int)id.len, id.at);
    (void)snprintf(told->loop_id, sizeof told->loop_id, "%.*s", (int)hook->loop_id.len,
                   hook->loop_id.at);
    told->pending[i] =
        phi_call_get_info(hook->call).pending && phi_str_equal(id, hook->tool_call_id);
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
    CHECK_STR(phi_agent_get_info(agent).loop_id, told.loop_id);
    CHECK(told.loop_id[0] != '\0');
    rig_free(r);
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
                CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
            }
            CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 50), 0);
            CHECK_EQ_INT(l.asked, 1);
            CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
            rig_free(r);
        }
}

/* A hook in front of another: its first answer waits quietly, the second may wait for the host. */
typedef struct chained {
    int calls;
    uint32_t rounds[4];
    char replies[4][16];
    phi_ticket ticket;
} chained;

static phi_verdict in_front(void *user_data, phi_hook *hook) {
    chained *c = (chained *)user_data;
    c->rounds[c->calls % 4] = hook->round;
    (void)snprintf(c->replies[c->calls % 4], sizeof c->replies[0], "%.*s", (int)hook->reply.len,
                   hook->reply.len > 0 ? hook->reply.at : "");
    c->calls++;
    c->ticket = hook->ticket;
    if (hook->round == 2) return PHI_ALLOW; /* with the reply of the round before */
    hook->quiet = hook->round == 0;
    hook->ask_again = true;
    return PHI_WAIT;
}

TEST(a_hook_that_asks_to_be_called_again_is_and_sees_the_reply_and_may_wait_anew) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_pending_item item;
    chained c;
    memset(&c, 0, sizeof c);
    desc.hook_fn = in_front;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    desc.hook_user_data = &c;
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK(strstr(rig_story(r), "Decision") == NULL); /* the first wait is quiet */
    CHECK_EQ_INT(phi_decide(c.ticket, PHI_ALLOW, "{\"a\":1}"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK(strstr(rig_story(r), "Decision") != NULL);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 1);
    CHECK_STR(item.arguments, "{\"a\":1}"); /* what would run now */
    CHECK_EQ_INT(phi_decide(c.ticket, PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(c.calls, 3);
    CHECK_EQ_INT(c.rounds[1], 1);
    CHECK_EQ_INT(c.rounds[2], 2);
    CHECK_EQ_STR(c.replies[0], "");
    CHECK_EQ_STR(c.replies[1], "{\"a\":1}");
    CHECK_EQ_STR(c.replies[2], "{\"a\":1}");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "{\"a\":1}");
    rig_free(r);
}

TEST(a_hook_that_asks_to_be_called_again_is_not_after_a_denial) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    chained c;
    memset(&c, 0, sizeof c);
    desc.hook_fn = in_front;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    desc.hook_user_data = &c;
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(phi_decide(c.ticket, PHI_DENY, "no"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(c.calls, 1);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "no");
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(a_hook_that_asks_to_be_called_again_is_and_sees_the_reply_and_may_wait_anew),
    TEST_ENTRY(a_hook_that_asks_to_be_called_again_is_not_after_a_denial),
    TEST_ENTRY(every_hook_is_called_in_the_strict_order),
    TEST_ENTRY(a_denied_update_is_not_told_and_the_result_is_as_it_was),
    TEST_ENTRY(before_turn_that_says_no_ends_the_run_before_the_turn_with_agent_end_and_after_loop),
    TEST_ENTRY(after_turn_follows_turn_end_with_a_growing_history_and_the_turn_s_usage),
    TEST_ENTRY(a_denied_tool_has_neither_start_nor_end_and_the_model_reads_why),
    TEST_ENTRY(a_denied_tool_leaves_the_others_and_after_tool_comes_once_a_call),
    TEST_ENTRY(before_tool_may_change_the_arguments),
    TEST_ENTRY(a_list_with_nothing_to_send_is_an_error_in_words_and_no_request),
    TEST_ENTRY(an_abort_while_before_loop_waits_ends_the_run_unbegun),
    TEST_ENTRY(a_hook_that_is_asked_again_is_told_that_it_was_decided),
    TEST_ENTRY(a_hook_is_told_the_run_the_call_and_whether_it_needs_approval),
    TEST_ENTRY(odd_lists_of_a_transform_hook_are_survived))
