/* test_filters.c - filters of input: what they see, in which order, and what follows from a
   warning and a rejection. */
#include "agent/one_shot_run.h"
#include "support/heard.h"
#include "support/request.h"
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "model/event.h"
#include "log/log_in.h"

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
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    agent = rig_agent(r, &desc);
    rig_says(r, "fine");
    CHECK_EQ_INT(prompt_blocks(agent, content, 3), PHI_OK);
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
    desc.input.filters = filters;
    desc.input.filter_count = 4;
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
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
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
    desc.input.filters = filters;
    desc.input.filter_count = 3;
    rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "one");
    rig_answers(r, PHI_HOOK_FILTER, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "two");
    agent = rig_agent(r, &desc);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "\nMessageEnd user \"go\" \"[Warning: one]\n[Warning: two]\"\n") !=
          NULL);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 0)->content_count, 2);
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
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
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
    phi_thread_free(thread);
    rig_free(r);
}

TEST(rejected_steering_before_the_first_turn_ends_the_run_without_one) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    heard h;
    heard_begin(&h, r);
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
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
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 1);
    CHECK_EQ_INT(phi_agent_get_info(agent).steering, 0);
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
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
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
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
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
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 5);
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
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
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

/* ---- filters ---- */

/* Hypothesis: a filter that waits while the run is aborted leaves the prompt half stored. */
TEST(a_prompt_whose_filter_waits_when_the_run_is_aborted_is_reported) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filters[2];
    phi_agent agent;
    filters[0] = filters[1] = rig_filter(r);
    desc.input.filters = filters;
    desc.input.filter_count = 2;
    rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "careful");
    rig_answers(r, PHI_HOOK_FILTER, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 0);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_STALE);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "InputDropped prompt \"go\""), 1);
    CHECK(strstr(rig_story(r), "AgentEnd cancelled, 0 messages") != NULL);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_MISUSE);
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
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
          TEST_ENTRY(a_filter_that_rejects_without_words_is_given_some),
          TEST_ENTRY(a_prompt_whose_filter_waits_when_the_run_is_aborted_is_reported))
