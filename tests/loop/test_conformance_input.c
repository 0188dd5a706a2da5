/* test_conformance_input.c - lines C 11, 14 and 15 of the specification's checklist: filters, steering
   and follow-ups. docs/conformance.md says
   which test proves which line. */
#include "support/heard.h"

#include "agent/one_shot_run.h"

/* ---- C 11 ---- */

TEST(filters_see_all_text_blocks_joined_by_line_breaks_and_no_images) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    phi_content content[3];
    memset(content, 0, sizeof content);
    content[0].kind = content[2].kind = PHI_CONTENT_TEXT;
    content[0].text = phi_str_of("one");
    content[1].kind = PHI_CONTENT_IMAGE;
    content[1].data = phi_str_of("aGk=");
    content[1].mime_type = phi_str_of("image/png");
    content[2].text = phi_str_of("two");
    desc.filters = &filter;
    desc.filter_count = 1;
    agent = rig_agent(r, &desc);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt_content(agent, content, 3), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentStart\n-> filter \"one\ntwo\"\nTurnStart 0\n") != NULL);
    rig_free(r);
}

TEST(filters_are_asked_in_order_and_the_first_rejection_ends_the_run) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filters[4];
    phi_agent agent;
    heard h;
    filters[0] = filters[1] = filters[2] = filters[3] = rig_filter(r);
    heard_begin(&h, r);
    desc.filters = filters;
    desc.filter_count = 4;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_LOOP);
    rig_answers(r, PHI_HOOK_FILTER, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "careful");
    rig_answers(r, PHI_HOOK_FILTER, PHI_DENY, "no cats");
    agent = rig_agent(r, &desc);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "cats"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r),
                 "AgentStart\n"
                 "-> filter \"cats\"\n"
                 "-> filter \"cats\"\n"
                 "-> filter \"cats\"\n"
                 "InputRejected \"no cats\"\n"
                 "AgentEnd an input filter rejected it, 0 messages, rejected \"no cats\"\n");
    CHECK_EQ_INT(h.status, PHI_REJECTED);
    CHECK_EQ_STR(h.rejection, "no cats");
    CHECK_EQ_INT(phi_message_count(agent), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(phi_prompt(agent, "dogs"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(h.status, PHI_OK);
    CHECK_EQ_STR(text_at(agent, 0, 0), "dogs");
    rig_free(r);
}

TEST(warnings_are_one_text_block_behind_the_last_user_message) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filters[3];
    phi_agent agent;
    filters[0] = filters[1] = filters[2] = rig_filter(r);
    desc.filters = filters;
    desc.filter_count = 3;
    rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "one");
    rig_answers(r, PHI_HOOK_FILTER, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "two");
    agent = rig_agent(r, &desc);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "\nMessageEnd user \"go\" \"[Warning: one]\n[Warning: two]\"\n") !=
          NULL);
    CHECK_EQ_INT(phi_message_at(agent, 0)->content_count, 2);
    CHECK_EQ_STR(text_at(agent, 0, 1), "[Warning: one]\n[Warning: two]");
    CHECK(strstr(rig_request(r, 0), "[Warning: one]\\n[Warning: two]") != NULL);
    rig_free(r);
}

TEST(of_several_prompts_filters_see_all_texts_and_the_last_one_gets_the_warning) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_run_desc run;
    phi_content blocks[2];
    phi_message prompts[2];
    REQUIRE(thread != NULL);
    memset(blocks, 0, sizeof blocks);
    memset(prompts, 0, sizeof prompts);
    memset(&run, 0, sizeof run);
    blocks[0].kind = blocks[1].kind = PHI_CONTENT_TEXT;
    blocks[0].text = phi_str_of("one");
    blocks[1].text = phi_str_of("two");
    prompts[0].role = prompts[1].role = PHI_ROLE_USER;
    prompts[0].content = &blocks[0];
    prompts[1].content = &blocks[1];
    prompts[0].content_count = prompts[1].content_count = 1;
    desc.filters = &filter;
    desc.filter_count = 1;
    run.agent = &desc;
    run.thread = thread;
    run.prompts = prompts;
    run.prompt_count = 2;
    rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "hm");
    rig_says(r, "fine");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "-> filter \"one\ntwo\"\n"
                               "TurnStart 0\n"
                               "MessageStart user \"one\"\n"
                               "MessageEnd user \"one\"\n"
                               "MessageStart user \"two\" \"[Warning: hm]\"\n"
                               "MessageEnd user \"two\" \"[Warning: hm]\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"fine\" of \"fine\"\n"
                               "MessageEnd assistant \"fine\" stop\n"
                               "TurnEnd assistant \"fine\" stop\n"
                               "AgentEnd ok, 3 messages\n");
    (void)rig_step(r);
    CHECK_EQ_INT(phi_thread_free(thread), PHI_OK);
    rig_free(r);
}

TEST(rejected_steering_before_the_first_turn_ends_the_run_without_one) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    heard h;
    heard_begin(&h, r);
    desc.filters = &filter;
    desc.filter_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_AFTER_LOOP);
    rig_answers(r, PHI_HOOK_FILTER, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_FILTER, PHI_DENY, "bad words");
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_steer(agent, "bad"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "TurnStart"), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> filter \"go\"\n"), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "-> filter \"bad\"\nInputRejected \"bad words\"\n"), 1);
    CHECK(strstr(rig_story(r), "AgentEnd an input filter rejected it, 1 messages\n"
                               "-> after_loop (1 messages)\n") != NULL);
    CHECK_EQ_STR(h.rejection, ""); /* of prompts only */
    CHECK_EQ_INT(phi_message_count(agent), 1);
    CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_STEERING), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    rig_free(r);
}

TEST(a_rejected_follow_up_ends_the_run_after_its_first_turn) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    heard h;
    heard_begin(&h, r);
    desc.filters = &filter;
    desc.filter_count = 1;
    rig_answers(r, PHI_HOOK_FILTER, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_FILTER, PHI_DENY, "bad words");
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    CHECK_EQ_INT(phi_follow_up(agent, "bad"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "-> filter \"go\"\n"
                               "TurnStart 0\n"
                               "MessageStart user \"go\"\n"
                               "MessageEnd user \"go\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"one\" of \"one\"\n"
                               "MessageEnd assistant \"one\" stop\n"
                               "TurnEnd assistant \"one\" stop\n"
                               "-> filter \"bad\"\n"
                               "InputRejected \"bad words\"\n"
                               "AgentEnd an input filter rejected it, 2 messages\n");
    CHECK_EQ_STR(h.rejection, "");
    rig_free(r);
}

TEST(steering_and_follow_ups_that_are_warned_of_get_the_warning_block) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    desc.filters = &filter;
    desc.filter_count = 1;
    rig_answers(r, PHI_HOOK_FILTER, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "of steering");
    rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "of a follow-up");
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_steer(agent, "left"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(phi_message_count(agent) == 5);
    CHECK_EQ_STR(text_at(agent, 1, 0), "left");
    CHECK_EQ_STR(text_at(agent, 1, 1), "[Warning: of steering]");
    CHECK_EQ_STR(text_at(agent, 3, 0), "more");
    CHECK_EQ_STR(text_at(agent, 3, 1), "[Warning: of a follow-up]");
    rig_free(r);
}

TEST(a_filter_may_wait_and_reject_later) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    phi_pending_item item;
    desc.filters = &filter;
    desc.filter_count = 1;
    rig_answers(r, PHI_HOOK_FILTER, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "cats"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    REQUIRE(phi_pending(rig_runtime(r), &item, 1) == 1);
    CHECK_EQ_INT(item.kind, PHI_WAITING_DECISION);
    CHECK_EQ_INT(item.point, PHI_HOOK_FILTER);
    CHECK_STR(item.text, "cats");
    CHECK_EQ_INT(phi_decide(item.ticket, PHI_DENY, "no cats"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r),
                 "AgentStart\n"
                 "-> filter \"cats\"\n"
                 "Decision filter\n"
                 "InputRejected \"no cats\"\n"
                 "AgentEnd an input filter rejected it, 0 messages, rejected \"no cats\"\n");
    rig_free(r);
}

/* ---- C 14 ---- */

static void expect_turns(phi_input queue, phi_queue_mode mode, const char *want) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char got[400] = "";
    size_t i;
    if (queue == PHI_INPUT_STEERING) desc.steering_mode = mode;
    if (queue == PHI_INPUT_FOLLOW_UP) desc.follow_up_mode = mode;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 5; i++) rig_says(r, "ok");
    for (i = 0; i < 3; i++) {
        static const char *const said[] = {"a", "b", "c"};
        CHECK_EQ_INT(queue == PHI_INPUT_STEERING ? phi_steer(agent, said[i])
                                                 : phi_follow_up(agent, said[i]),
                     PHI_OK);
    }
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    for (i = 0; i < phi_message_count(agent); i++) {
        strcat(got, text_at(agent, i, 0));
        strcat(got, " ");
    }
    CHECK_EQ_STR(got, want);
    rig_free(r);
}

TEST(a_queue_gives_one_message_a_poll_by_default_and_all_of_them_in_mode_all) {
    expect_turns(PHI_INPUT_STEERING, PHI_QUEUE_ONE_AT_A_TIME, "go a ok b ok c ok ");
    expect_turns(PHI_INPUT_STEERING, PHI_QUEUE_ALL, "go a b c ok ");
    expect_turns(PHI_INPUT_FOLLOW_UP, PHI_QUEUE_ONE_AT_A_TIME, "go ok a ok b ok c ok ");
    expect_turns(PHI_INPUT_FOLLOW_UP, PHI_QUEUE_ALL, "go ok a b c ok ");
}

TEST(steering_and_follow_ups_may_be_pulled_from_hooks) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    desc.filters = &filter;
    desc.filter_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_STEERING | PHI_HOOK_FOLLOW_UP);
    rig_answers(r, PHI_HOOK_STEERING, PHI_ALLOW, "left");
    rig_answers(r, PHI_HOOK_FOLLOW_UP, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 1);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, "more"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    REQUIRE(phi_message_count(agent) == 5);
    CHECK_EQ_STR(text_at(agent, 1, 0), "left");
    CHECK_EQ_STR(text_at(agent, 3, 0), "more");
    CHECK(strstr(rig_story(r), "-> steering\n-> filter \"left\"\nTurnStart 0\n") != NULL);
    CHECK(strstr(rig_story(r), "-> follow_up\n"
                               "Decision follow_up\n"
                               "-> filter \"more\"\n"
                               "TurnStart 1\n") != NULL);
    rig_free(r);
}

TEST(a_queue_is_cleared_alone_or_with_the_others) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    int i;
    for (i = 0; i < 2; i++) {
        CHECK_EQ_INT(phi_steer(agent, "s"), PHI_OK);
        CHECK_EQ_INT(phi_follow_up(agent, "f"), PHI_OK);
        CHECK_EQ_INT(phi_follow_up(agent, "g"), PHI_OK);
        (void)rig_step(r);
        CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_STEERING), 1);
        CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_FOLLOW_UP), 2);
        CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_NONE), 3);
        CHECK_EQ_INT(phi_queue_clear(agent, i == 0 ? PHI_INPUT_STEERING : PHI_INPUT_FOLLOW_UP),
                     PHI_OK);
        CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_STEERING), i == 0 ? 0 : 1);
        CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_FOLLOW_UP), i == 0 ? 2 : 0);
        CHECK_EQ_INT(phi_queue_clear(agent, PHI_INPUT_NONE), PHI_OK);
        CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_NONE), 0);
    }
    rig_says(r, "alone");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_message_count(agent), 2);
    rig_free(r);
}

TEST(the_queues_outlive_a_run) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_replies(r, 500, "Content-Type: application/json\r\n", "{}");
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "later"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_FOLLOW_UP), 1);
    CHECK_EQ_INT(phi_steer(agent, "sooner"), PHI_OK);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_queue_count(agent, PHI_INPUT_STEERING), 1);
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(phi_message_count(agent) == 7);
    CHECK_EQ_STR(text_at(agent, 3, 0), "sooner");
    CHECK_EQ_STR(text_at(agent, 5, 0), "later");
    rig_free(r);
}

/* ---- C 15 ---- */

static const char *const three[] = {"c1 wait {}", "c2 wait {}", "c3 wait {}"};

#define SKIPPED(id)                                                                                \
    "ToolExecutionStart " id " wait()\n"                                                           \
    "ToolExecutionEnd toolResult " id " error \"Skipped due to queued user message.\"\n"           \
    "MessageStart toolResult " id " error \"Skipped due to queued user message.\"\n"               \
    "MessageEnd toolResult " id " error \"Skipped due to queued user message.\"\n"

#define ENDED(id)                                                                                  \
    "ToolExecutionEnd toolResult " id " \"ok\"\n"                                                  \
    "MessageStart toolResult " id " \"ok\"\n"                                                      \
    "MessageEnd toolResult " id " \"ok\"\n"

#define THE_NEXT_TURN                                                                              \
    "TurnEnd assistant wait({}) wait({}) wait({}) toolUse\n"                                       \
    "TurnStart 1\n"                                                                                \
    "MessageStart user \"stop that\"\n"                                                            \
    "MessageEnd user \"stop that\"\n"                                                              \
    "MessageStart assistant\n"                                                                     \
    "TextDelta \"done\" of \"done\"\n"                                                             \
    "MessageEnd assistant \"done\" stop\n"                                                         \
    "TurnEnd assistant \"done\" stop\n"                                                            \
    "AgentEnd ok, 7 messages\n"

/* Three pending calls; `running` of them have begun. */
static phi_agent three_calls(rig *r, phi_tool_mode mode, uint32_t hooks, size_t running) {
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    desc.tool_mode = mode;
    desc.tool_batch = 2;
    desc.repeat_warn_after = PHI_UNLIMITED;
    if (hooks != 0) rig_hooks(r, &desc, hooks);
    agent = agent_with(r, &desc, &tool);
    rig_calls(r, three, 3);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(rig_started(r), running);
    rig_forget(r);
    return agent;
}

TEST(steering_skips_the_rest_in_sequential_mode) {
    rig *r = rig_new();
    phi_agent agent =
        three_calls(r, PHI_TOOLS_SEQUENTIAL, PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL, 1);
    CHECK_EQ_INT(phi_steer(agent, "stop that"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_STR(rig_story(r), ""); /* a call that runs is not touched */
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r),
                 "ToolExecutionEnd toolResult c1 \"ok\"\n"
                 "-> after_tool c1 wait\n"
                 "MessageStart toolResult c1 \"ok\"\n"
                 "MessageEnd toolResult c1 \"ok\"\n" SKIPPED("c2") SKIPPED("c3") THE_NEXT_TURN);
    CHECK_EQ_INT(rig_started(r), 1);
    rig_free(r);
}

static void count_null(void *user_data, const phi_event *event) {
    phi_memory memory;
    phi_arena arena;
    phi_str json = phi_str_of("");
    if (event->kind != PHI_EV_TOOL_START) return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(event, &arena, &json), PHI_OK);
    *(int *)user_data += strstr(json.at, "\"args\":null") != NULL;
    phi_arena_free(&arena);
}

TEST(calls_that_steering_skips_have_null_in_the_place_of_arguments) {
    rig *r = rig_new();
    int nulls = 0;
    phi_agent agent = three_calls(r, PHI_TOOLS_SEQUENTIAL, 0, 1);
    rig_watch(r, count_null, &nulls);
    CHECK_EQ_INT(phi_steer(agent, "stop that"), PHI_OK);
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(nulls, 2);
    rig_free(r);
}

TEST(steering_is_looked_for_after_each_batch_and_skips_the_rest) {
    rig *r = rig_new();
    phi_agent agent = three_calls(r, PHI_TOOLS_BATCHED, 0, 2);
    CHECK_EQ_INT(phi_steer(agent, "stop that"), PHI_OK);
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_STR(rig_story(r), ENDED("c1")); /* the batch goes on */
    rig_finish(r, 1, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), ENDED("c1") ENDED("c2") SKIPPED("c3") THE_NEXT_TURN);
    CHECK_EQ_INT(rig_started(r), 2);
    rig_free(r);
}

TEST(steering_skips_nothing_in_parallel_mode) {
    rig *r = rig_new();
    phi_agent agent = three_calls(r, PHI_TOOLS_PARALLEL, 0, 3);
    CHECK_EQ_INT(phi_steer(agent, "stop that"), PHI_OK);
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 5), 1);
    rig_finish(r, 1, "ok");
    CHECK_EQ_INT(rig_run(r, 5), 1);
    rig_finish(r, 2, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), ENDED("c1") ENDED("c2") ENDED("c3") THE_NEXT_TURN);
    rig_free(r);
}

TEST(steering_is_polled_where_the_mode_says) {
    static const phi_tool_mode modes[] = {PHI_TOOLS_SEQUENTIAL, PHI_TOOLS_BATCHED,
                                          PHI_TOOLS_PARALLEL};
    /* before the first turn; after each call, each batch of two, or all; after each of two turns */
    static const size_t polls[] = {1 + 3 + 2, 1 + 2 + 2, 1 + 1 + 2};
    static const char *const calls[] = {"c1 echo {}", "c2 echo {}", "c3 echo {}"};
    size_t i;
    for (i = 0; i < 3; i++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_tool tool = rig_echo();
        phi_agent agent;
        desc.tool_mode = modes[i];
        desc.tool_batch = 2;
        desc.repeat_warn_after = PHI_UNLIMITED;
        rig_hooks(r, &desc, PHI_HOOK_STEERING);
        agent = agent_with(r, &desc, &tool);
        rig_calls(r, calls, 3);
        rig_says(r, "done");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 30), 0);
        CHECK_EQ_INT(count_of(rig_story(r), "-> steering\n"), polls[i]);
        rig_free(r);
    }
}

static phi_flow steer_from_inside(void *user_data, phi_call call, phi_str arguments) {
    phi_status *said = (phi_status *)user_data;
    phi_tool_result result;
    phi_content block;
    (void)arguments;
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of("ok");
    *said = phi_steer(phi_call_agent(call), "stop that");
    memset(&result, 0, sizeof result);
    result.content = &block;
    result.content_count = 1;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

TEST(steering_from_inside_a_call_is_heard_one_model_call_later) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_status said = PHI_BUSY;
    tool.start = steer_from_inside;
    tool.user_data = &said;
    agent = agent_with(r, &desc, &tool);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_INT(said, PHI_OK);
    REQUIRE(CHECK_EQ_INT(rig_requests(r), 3));
    CHECK(strstr(rig_request(r, 1), "stop that") == NULL);
    CHECK(strstr(rig_request(r, 2), "stop that") != NULL);
    rig_free(r);
}

TEST(a_batch_size_of_0_is_the_default_of_4) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    static const char *const calls[] = {"c1 wait {\"n\":1}", "c2 wait {\"n\":2}",
                                        "c3 wait {\"n\":3}", "c4 wait {\"n\":4}",
                                        "c5 wait {\"n\":5}"};
    size_t i;
    desc.tool_mode = PHI_TOOLS_BATCHED;
    agent = agent_with(r, &desc, &tool);
    rig_calls(r, calls, 5);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(rig_started(r), 4);
    for (i = 0; i < 4; i++) rig_finish(r, i, "ok");
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(rig_started(r), 5);
    rig_finish(r, 4, "ok");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(filters_see_all_text_blocks_joined_by_line_breaks_and_no_images),
          TEST_ENTRY(filters_are_asked_in_order_and_the_first_rejection_ends_the_run),
          TEST_ENTRY(warnings_are_one_text_block_behind_the_last_user_message),
          TEST_ENTRY(of_several_prompts_filters_see_all_texts_and_the_last_one_gets_the_warning),
          TEST_ENTRY(rejected_steering_before_the_first_turn_ends_the_run_without_one),
          TEST_ENTRY(a_rejected_follow_up_ends_the_run_after_its_first_turn),
          TEST_ENTRY(steering_and_follow_ups_that_are_warned_of_get_the_warning_block),
          TEST_ENTRY(a_filter_may_wait_and_reject_later),
          TEST_ENTRY(a_queue_gives_one_message_a_poll_by_default_and_all_of_them_in_mode_all),
          TEST_ENTRY(steering_and_follow_ups_may_be_pulled_from_hooks),
          TEST_ENTRY(a_queue_is_cleared_alone_or_with_the_others),
          TEST_ENTRY(the_queues_outlive_a_run),
          TEST_ENTRY(steering_skips_the_rest_in_sequential_mode),
          TEST_ENTRY(calls_that_steering_skips_have_null_in_the_place_of_arguments),
          TEST_ENTRY(steering_is_looked_for_after_each_batch_and_skips_the_rest),
          TEST_ENTRY(steering_skips_nothing_in_parallel_mode),
          TEST_ENTRY(steering_is_polled_where_the_mode_says),
          TEST_ENTRY(steering_from_inside_a_call_is_heard_one_model_call_later),
          TEST_ENTRY(a_batch_size_of_0_is_the_default_of_4))
