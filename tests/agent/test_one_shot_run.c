/* test_one_shot_run.c - runs over a thread of the caller's own. */
#include "agent/one_shot.h"
#include "agent/response.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "support/request.h"
#include "support/freed.h"
#include "support/thread_text.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/input.h"
#include "persist/store.h"

TEST(a_run_over_a_thread_leaves_its_messages_there_and_its_handle_goes_stale) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent agent;
    REQUIRE(thread != NULL);
    rig_says(r, "an answer");
    agent = run_over(r, thread, NULL, "a question");
    REQUIRE(agent.rt != NULL);
    CHECK_EQ_STR(words_of(r), ""); /* no error */
    CHECK(phi_agent_get_info(agent).running);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"a question\"\n"
                               "MessageEnd user \"a question\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"an answer\" of \"an answer\"\n"
                               "MessageEnd assistant \"an answer\" stop\n"
                               "TurnEnd assistant \"an answer\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    (void)rig_step(r);
    CHECK(!phi_agent_alive(agent));
    CHECK_EQ_INT(phi_thread_message_count(thread), 2);
    CHECK_EQ_STR(text_in(thread, 0), "a question");
    CHECK_EQ_STR(text_in(thread, 1), "an answer");
    CHECK(phi_thread_message_at(thread, 2) == NULL);
    CHECK_STR(phi_thread_message_at(thread, 1)->model, "test-model");
    CHECK_STR(phi_thread_message_at(thread, 1)->loop_id, "session.anthropic.test-model.1");
    phi_thread_free(thread);
    rig_free(r);
}

TEST(the_handle_lives_until_the_step_after_its_last_event_was_popped) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent agent;
    phi_event event;
    int i;
    rig_silent(r, true);
    rig_says(r, "an answer");
    agent = run_over(r, thread, NULL, "a question");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    for (i = 0; i < 5; i++) (void)rig_step(r);
    CHECK(phi_agent_alive(agent));
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)),
                 2); /* it still shows the history */
    do REQUIRE(phi_next_event(rig_runtime(r), &event));
    while (event.kind != PHI_EV_AGENT_END);
    CHECK(phi_agent_alive(agent));
    CHECK_EQ_INT(event.message_count, 2);
    CHECK_STR(event.loop_id, "session.anthropic.test-model.1");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), event.first_message)->content[0].text,
              "a question");
    (void)rig_step(r);
    CHECK(!phi_agent_alive(agent));
    rig_free(r);
}

TEST(one_run_at_a_time_goes_over_a_thread) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent first, second;
    rig_says(r, "one");
    first = run_over(r, thread, NULL, "go");
    REQUIRE(first.rt != NULL);
    second = run_over(r, thread, NULL, "go too");
    CHECK(second.rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_BUSY);
    CHECK_EQ_STR(words_of(r), "phi_run: a run goes over the thread");
    CHECK_EQ_INT(say(thread, PHI_ROLE_USER, "no"), PHI_BUSY);
    CHECK_EQ_STR(words_of(r), "phi_thread_append: a run goes over the thread");
    CHECK_EQ_INT(thread_freed(thread), PHI_BUSY);
    CHECK_EQ_STR(words_of(r), "phi_thread_free: a run goes over the thread");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(thread), 2);
    rig_says(r, "two");
    second = run_over(r, thread, NULL, "now");
    CHECK(second.rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(thread), 4);
    rig_free(r);
}

TEST(each_run_says_anew_what_the_agent_is) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent_desc other = rig_desc();
    char prompt[] = "You are another.";
    rig_says(r, "one");
    rig_says(r, "two");
    (void)run_over(r, thread, NULL, "first");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    other.model = phi_model_anthropic("other-model", "key");
    other.system_prompt = prompt;
    other.ids.session_id = "other";
    (void)run_over(r, thread, &other, "second");
    memset(prompt, 'x', sizeof prompt - 1); /* it was copied */
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(rig_requests(r) == 2);
    CHECK(strstr(rig_request(r, 1), "\"other-model\"") != NULL);
    CHECK(strstr(rig_request(r, 1), "You are another.") != NULL);
    CHECK(strstr(rig_request(r, 1), "first") != NULL);
    CHECK(strstr(rig_request(r, 1), "one") != NULL);
    CHECK_STR(phi_thread_message_at(thread, 3)->loop_id, "other.anthropic.other-model.1");
    CHECK_STR(phi_thread_message_at(thread, 3)->model, "other-model");
    rig_free(r);
}

static void keeps_start(void *user_data, const phi_event *event) {
    char *out = (char *)user_data;
    if (event->kind != PHI_EV_AGENT_START) return;
    (void)snprintf(out, 200, "%.*s < %.*s (%d) %.*s", (int)event->loop->loop_id.len,
                   event->loop->loop_id.at, (int)event->loop->parent_loop_id.len,
                   event->loop->parent_loop_id.at, (int)event->loop->continuation,
                   (int)event->loop->session_id.len, event->loop->session_id.at);
}

TEST(ids_that_are_given_are_taken_as_they_are) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent_desc desc = rig_desc();
    phi_content content = text_block("go");
    phi_message prompt = message_of(PHI_ROLE_USER, &content);
    phi_run_desc run;
    char start[200] = "";
    rig_watch(r, keeps_start, start);
    memset(&run, 0, sizeof run);
    run.agent = &desc;
    run.thread = thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    run.loop_id = "my loop";
    run.parent_loop_id = "my parent";
    rig_says(r, "one");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(start, "my loop < my parent (0) session");
    CHECK_STR(phi_thread_message_at(thread, 1)->loop_id, "my loop");
    CHECK_EQ_INT(say(thread, PHI_ROLE_USER, "and then?"), PHI_OK);
    run.prompts = NULL;
    run.prompt_count = 0;
    run.loop_id = NULL;
    run.parent_loop_id = "my loop";
    run.continuation = PHI_CONTINUATION_BRANCH;
    rig_says(r, "two");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(start, "session.anthropic.test-model.1 < my loop (3) session");
    rig_free(r);
}

TEST(runs_over_one_thread_count_on) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    char start[200] = "";
    rig_watch(r, keeps_start, start);
    rig_says(r, "one");
    CHECK(run_over(r, thread, NULL, "go").rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(start, "session.anthropic.test-model.1 <  (0) session");
    rig_says(r, "two");
    CHECK(run_over(r, thread, NULL, "on").rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(start, "session.anthropic.test-model.2 <  (0) session");
    CHECK_EQ_INT(say(thread, PHI_ROLE_USER, "of no run"), PHI_OK);
    rig_says(r, "three");
    CHECK(run_over(r, thread, NULL, "on").rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(start, "session.anthropic.test-model.3 <  (0) session");
    rig_free(r);
}

TEST(a_run_without_prompts_goes_on_from_what_is_there) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent_desc desc = rig_desc();
    phi_message note;
    phi_run_desc run;
    char start[200] = "";
    rig_watch(r, keeps_start, start);
    memset(&run, 0, sizeof run);
    memset(&note, 0, sizeof note);
    note.role = PHI_ROLE_EXTENSION;
    note.extension_kind = phi_str_of("note");
    run.agent = &desc;
    run.thread = thread;
    CHECK(phi_run(rig_runtime(r), &run).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_MISUSE);
    CHECK_EQ_STR(words_of(r), "phi_run: there are no messages to go on from");
    CHECK_EQ_INT(phi_thread_append(thread, &note, 1, NULL), PHI_OK);
    CHECK(phi_run(rig_runtime(r), &run).rt == NULL);
    CHECK_EQ_STR(words_of(r), "phi_run: there are no messages to go on from");
    CHECK_EQ_INT(say(thread, PHI_ROLE_USER, "a question"), PHI_OK);
    CHECK_EQ_INT(phi_thread_append(thread, &note, 1, NULL), PHI_OK);
    rig_says(r, "an answer");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(start, "session.anthropic.test-model.1 <  (1) session");
    CHECK_EQ_INT(phi_thread_message_count(thread), 4);
    CHECK_EQ_STR(text_in(thread, 3), "an answer");
    CHECK(phi_run(rig_runtime(r), &run).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_MISUSE);
    CHECK_EQ_STR(words_of(r), "phi_run: the last message is the model's own");
    desc.ids.agent_id = NULL;
    CHECK(phi_run(rig_runtime(r), &run).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_BAD_ARG);
    desc.ids.agent_id = "agent";
    desc.ids.session_id = NULL;
    CHECK(phi_run(rig_runtime(r), &run).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r),
                 "phi_run: without prompts, agent.agent_id and agent.session_id are needed");
    rig_free(r);
}

TEST(several_prompts_begin_one_run) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent_desc desc = rig_desc();
    phi_content contents[3];
    phi_message prompts[3];
    phi_run_desc run;
    int i;
    memset(&run, 0, sizeof run);
    for (i = 0; i < 3; i++) {
        contents[i] = text_block(i == 0 ? "one" : i == 1 ? "two" : "three");
        prompts[i] = message_of(PHI_ROLE_USER, &contents[i]);
    }
    run.agent = &desc;
    run.thread = thread;
    run.prompts = prompts;
    run.prompt_count = 3;
    rig_says(r, "heard");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(thread), 4);
    CHECK_EQ_STR(text_in(thread, 2), "three");
    CHECK(strstr(rig_story(r), "AgentEnd ok, 4 messages") != NULL);
    rig_free(r);
}

static void refused(rig *r, const phi_run_desc *run, phi_status status, const char *want) {
    CHECK(phi_run(rig_runtime(r), run).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, status);
    CHECK_EQ_STR(words_of(r), want);
}

TEST(a_run_says_what_is_wrong_with_it) {
    rig *r = rig_new(), *other = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_thread *foreign = phi_thread_new(rig_runtime(other), 0);
    phi_agent_desc desc = rig_desc();
    phi_content content = text_block("go");
    phi_message prompts[2];
    phi_run_desc run;
    memset(&run, 0, sizeof run);
    prompts[0] = message_of(PHI_ROLE_USER, &content);
    prompts[1] = message_of(PHI_ROLE_ASSISTANT, &content);
    CHECK(phi_run(NULL, &run).rt == NULL);
    refused(r, NULL, PHI_BAD_ARG, "phi_run: desc is NULL");
    refused(r, &run, PHI_BAD_ARG, "phi_run: agent is missing");
    run.agent = &desc;
    refused(r, &run, PHI_BAD_ARG, "phi_run: thread is missing");
    run.thread = foreign;
    refused(r, &run, PHI_BAD_ARG, "phi_run: the thread is of another runtime");
    run.thread = thread;
    run.prompt_count = 2;
    refused(r, &run, PHI_BAD_ARG, "phi_run: prompts is missing, prompt_count is 2");
    run.prompts = prompts;
    refused(r, &run, PHI_BAD_ARG, "phi_run: prompts[1].role: expected user");
    prompts[1] = message_of(PHI_ROLE_USER, NULL);
    prompts[1].content_count = 0;
    refused(r, &run, PHI_BAD_ARG, "phi_run: there is no content");
    run.prompt_count = 1;
    run.continuation = (phi_continuation)77;
    refused(r, &run, PHI_BAD_ARG, "phi_run: continuation is none of its values");
    run.continuation = PHI_CONTINUATION_INITIAL;
    run.metadata = "{\"trace\":";
    refused(r, &run, PHI_BAD_ARG, "phi_run: metadata is no JSON");
    run.metadata = NULL;
    desc.model.id = "";
    refused(r, &run, PHI_BAD_ARG, "model.id is missing");
    desc = rig_desc();
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_OK);
    refused(r, &run, PHI_MISUSE, "phi_run: the runtime is closing");
    CHECK_EQ_INT(phi_thread_message_count(thread), 0);
    CHECK(phi_thread_new(NULL, 0) == NULL);
    phi_thread_free(NULL);
    CHECK_EQ_INT(phi_thread_append(NULL, prompts, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_append(thread, NULL, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "phi_thread_append: messages is missing");
    CHECK_EQ_INT(phi_thread_message_count(NULL), 0);
    CHECK(phi_thread_message_at(NULL, 0) == NULL);
    rig_free(other);
    rig_free(r);
}

TEST(a_loop_id_is_given_once_to_a_thread) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0), *second = NULL;
    phi_agent_desc desc = rig_desc();
    phi_content content = text_block("go");
    phi_message prompt = message_of(PHI_ROLE_USER, &content);
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    char words[200], start[200] = "";
    phi_run_desc run;
    memset(&run, 0, sizeof run);
    run.agent = &desc;
    run.thread = thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    run.loop_id = "session.anthropic.test-model.1"; /* as the next one would be called */
    run.parent_loop_id = "\xff";
    refused(r, &run, PHI_BAD_ARG, "phi_run: parent_loop_id is not UTF-8");
    run.parent_loop_id = NULL;
    rig_says(r, "one");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    refused(r, &run, PHI_MISUSE,
            "phi_run: the thread has a run \"session.anthropic.test-model.1\" already");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_to_json(thread, &arena, &text), PHI_OK);
    second = phi_thread_new(rig_runtime(r), 0);
    CHECK_EQ_INT(thread_from_json(second, text, words, sizeof words), PHI_OK);
    phi_arena_free(&arena);
    run.thread = second;
    refused(r, &run, PHI_MISUSE,
            "phi_run: the thread has a run \"session.anthropic.test-model.1\" already");
    run.loop_id = "\xfe";
    refused(r, &run, PHI_BAD_ARG, "phi_run: loop_id is not UTF-8");
    run.loop_id = NULL;
    rig_says(r, "two");
    rig_watch(r, keeps_start, start);
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(start, "session.anthropic.test-model.2 <  (0) session");
    desc.ids.session_id = "\xff";
    refused(r, &run, PHI_BAD_ARG, "ids.session_id is not UTF-8");
    rig_free(r);
}

TEST(an_agent_for_one_run_takes_no_prompt_and_its_history_is_the_threads) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_content content = text_block("x");
    phi_message message = message_of(PHI_ROLE_USER, &content);
    phi_response response;
    phi_agent agent;
    rig_silent(r, true); /* so that it stays after its run */
    rig_says(r, "an answer");
    agent = run_over(r, thread, NULL, "a question");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(phi_agent_alive(agent));
    CHECK(phi_agent_thread(agent) == thread);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, &message, 1), PHI_MISUSE);
    CHECK_EQ_STR(words_of(r), "phi_agent_replace_messages: the history is a phi_thread's");
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_MISUSE);
    CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of("[]"), NULL), PHI_MISUSE);
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_MISUSE);
    CHECK_EQ_INT(prompt_for(agent, "again", &response), PHI_MISUSE);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_MISUSE);
    CHECK_EQ_INT(phi_send(agent, "again"), PHI_MISUSE);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_MISUSE);
    CHECK_EQ_INT(phi_thread_message_count(thread), 2);
    rig_free(r);
}

TEST(what_a_run_did_stays_readable_after_its_agent_is_gone) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_memory memory;
    phi_arena arena;
    phi_str json = {NULL, 0};
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.ids.session_id = NULL;
    rig_call(r, "t1", "echo", "{\"n\":1}");
    rig_call(r, "t2", "nobody", "{}");
    rig_breaks(r, "", PHI_NETWORK, "gone");
    (void)run_over(r, thread, &desc, "go");
    CHECK_EQ_INT(rig_run(r, 60), 0);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_thread_message_count(thread), 6);
    for (i = 0; i < phi_thread_message_count(thread); i++) /* reads every string */
        CHECK_EQ_INT(phi_message_to_json(phi_thread_message_at(thread, i), &arena, &json), PHI_OK);
    CHECK(strstr(json.at, "gone") != NULL);
    phi_arena_free(&arena);
    rig_says(r, "better");
    (void)run_over(r, thread, &desc, "again");
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

TEST(a_run_is_steered_and_aborted_by_its_handle) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent agent;
    rig_says(r, "one");
    rig_says(r, "two");
    agent = run_over(r, thread, NULL, "go");
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(phi_thread_message_count(thread), 4);
    CHECK_EQ_STR(text_in(thread, 2), "more");
    rig_hangs(r, "");
    agent = run_over(r, thread, NULL, "again");
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "AgentEnd cancelled") != NULL);
    (void)rig_step(r);
    CHECK(!phi_agent_alive(agent));
    phi_thread_free(thread);
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    rig_free(r);
}

TEST(what_is_queued_for_a_run_that_ended_is_told_as_dropped) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_agent agent;
    rig_hangs(r, "");
    agent = run_over(r, thread, NULL, "go");
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "InputDropped follow-up \"more\": The run has ended, and no other "
                               "will follow\n") != NULL);
    CHECK_EQ_INT(phi_steer(agent, "too late"), PHI_OK); /* popped, and not yet stale */
    (void)rig_step(r);
    CHECK(strstr(rig_story(r), "InputDropped steering \"too late\"") != NULL);
    (void)rig_step(r);
    CHECK(!phi_agent_alive(agent));
    rig_forget(r);
    rig_says(r, "fine");
    rig_silent(r, true);
    agent = run_over(r, thread, NULL, "again");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_steer(agent, "late"), PHI_OK);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_agent_get_info(agent).steering, 1);
    rig_silent(r, false);
    CHECK_EQ_INT(rig_run(r, 1), 0);
    CHECK_EQ_INT(rig_run(r, 1), 0);
    CHECK(strstr(rig_story(r), "InputDropped steering \"late\": The run has ended") != NULL);
    (void)rig_step(r);
    CHECK(!phi_agent_alive(agent));
    rig_free(r);
}

TEST(a_bare_run_takes_parent_and_kind_from_its_desc) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_run_desc run;
    phi_content block;
    phi_message question = text_message(PHI_ROLE_USER, &block, "Hi");
    heard h;
    REQUIRE(thread != NULL);
    heard_begin(&h, r);
    memset(&run, 0, sizeof run);
    run.agent = &desc;
    run.thread = thread;
    run.continuation = PHI_CONTINUATION_BRANCH;
    run.parent_loop_id = "elsewhere.m.7";
    CHECK_EQ_INT(phi_thread_append(thread, &question, 1, NULL), PHI_OK);
    rig_says(r, "a");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(h.parent_loop_id, "elsewhere.m.7");
    CHECK_EQ_INT(h.continuation, PHI_CONTINUATION_BRANCH);
    CHECK_EQ_INT(h.trigger[0], PHI_TRIGGER_BRANCH);
    CHECK_EQ_INT(h.first_message, 1);
    CHECK_EQ_INT(h.message_count, 1);
    (void)rig_step(r);
    phi_thread_free(thread);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_run_over_a_thread_leaves_its_messages_there_and_its_handle_goes_stale),
          TEST_ENTRY(the_handle_lives_until_the_step_after_its_last_event_was_popped),
          TEST_ENTRY(one_run_at_a_time_goes_over_a_thread),
          TEST_ENTRY(each_run_says_anew_what_the_agent_is),
          TEST_ENTRY(ids_that_are_given_are_taken_as_they_are),
          TEST_ENTRY(runs_over_one_thread_count_on),
          TEST_ENTRY(a_run_without_prompts_goes_on_from_what_is_there),
          TEST_ENTRY(several_prompts_begin_one_run), TEST_ENTRY(a_run_says_what_is_wrong_with_it),
          TEST_ENTRY(a_loop_id_is_given_once_to_a_thread),
          TEST_ENTRY(an_agent_for_one_run_takes_no_prompt_and_its_history_is_the_threads),
          TEST_ENTRY(what_a_run_did_stays_readable_after_its_agent_is_gone),
          TEST_ENTRY(a_run_is_steered_and_aborted_by_its_handle),
          TEST_ENTRY(what_is_queued_for_a_run_that_ended_is_told_as_dropped),
          TEST_ENTRY(a_bare_run_takes_parent_and_kind_from_its_desc))
