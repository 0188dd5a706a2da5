/* test_agent.c - what src/agent/agent.h promises of an agent that was made: its defaults, what
   changes it, what a failure leaves, and how long a handle and a pointer live. */
#include "support/ask.h"
#include "support/heard.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "text/json.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "agent/profile.h"
#include "log/thread.h"
#include "loop/input.h"
#include "support/set.h"
#include "text/text_in.h"

TEST(a_prompt_says_what_is_wrong_with_it) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL), none;
    phi_content content[2];
    const char *words = NULL;
    memset(&none, 0, sizeof none);
    memset(content, 0, sizeof content);
    CHECK_EQ_INT(phi_prompt(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(prompt_blocks(none, content, 1), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt(agent, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_prompt(agent, ""), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_prompt: the text is empty");
    CHECK_EQ_INT(prompt_blocks(agent, content, 0), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_prompt_with: there is no content");
    content[0].kind = PHI_CONTENT_TEXT;
    content[0].text = phi_str_of("see");
    content[1].kind = PHI_CONTENT_THINKING;
    CHECK_EQ_INT(prompt_blocks(agent, content, 2), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(
        words, "phi_prompt_with: content[1].kind: expected text, image, document, audio or opaque");
    content[1].kind = PHI_CONTENT_IMAGE;
    CHECK_EQ_INT(prompt_blocks(agent, content, 2), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_prompt_with: content[1]: an image needs data and mime_type");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK_EQ_INT(rig_run(r, 2), 0);
    CHECK_EQ_STR(rig_story(r), "");
    content[1].data = phi_str_of("aGk=");
    content[1].mime_type = phi_str_of("image/png");
    rig_says(r, "nice");
    CHECK_EQ_INT(prompt_blocks(agent, content, 2), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_request(r, 0), "aGk=") != NULL);
    rig_free(r);
}

TEST(text_that_is_not_utf8_leaves_as_utf8) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "hm");
    CHECK_EQ_INT(phi_prompt(agent, "a\xff\xc3(\xe2\x82 \xed\xa0\x80 z"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    REQUIRE(rig_requests(r) == 1);
    {
        const char *body = rig_request(r, 0);
        phi_memory memory;
        phi_arena arena;
        phi_json *root = NULL;
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(body), PHI_JSON_BORROW, &root, NULL),
                     PHI_OK);
        phi_arena_free(&arena);
        CHECK(strstr(body, "a\xef\xbf\xbd") != NULL);
    }
    rig_free(r);
}

TEST(a_freed_agents_handle_is_stale_everywhere) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL), none, next;
    phi_model model = phi_model_anthropic("m", "k");
    memset(&none, 0, sizeof none);
    phi_agent_free(agent);
    next = rig_agent(r, NULL); /* takes the same place */
    CHECK_EQ_INT(next.index, agent.index);
    CHECK(next.gen != agent.gen);
    phi_agent_free(agent); /* harmless */
    CHECK(phi_agent_alive(next));
    CHECK_EQ_INT(phi_prompt(agent, "x"), PHI_STALE);
    CHECK_EQ_INT(phi_abort(agent), PHI_STALE);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_STALE);
    CHECK_EQ_INT(set_model(agent, &model), PHI_STALE);
    CHECK(!phi_agent_alive(agent));
    CHECK(!phi_agent_get_info(agent).running);
    CHECK_STR(phi_agent_get_info(agent).agent_id, "");
    CHECK_STR(phi_agent_get_info(agent).session_id, "");
    CHECK_STR(phi_agent_get_info(agent).model_id, "");
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.input, 0);
    CHECK(phi_agent_get_info(agent).cost <= 0.0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK(phi_thread_message_at(phi_agent_thread(agent), 0) == NULL);
    CHECK_EQ_INT(phi_agent_get_info(agent).memory_used, 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).memory_peak, 0);
    phi_agent_free(none);
    CHECK_EQ_INT(phi_abort(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_reset(none), PHI_BAD_ARG);
    CHECK_EQ_INT(set_model(none, &model), PHI_BAD_ARG);
    CHECK(!phi_agent_alive(none));
    CHECK(!phi_agent_get_info(none).running);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(none)), 0);
    CHECK_STR(phi_agent_get_info(none).agent_id, "");
    next.index = UINT32_MAX;
    CHECK(!phi_agent_alive(next));
    rig_free(r);
}

TEST(an_abort_posted_before_a_prompt_does_not_end_its_run) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    int i;
    for (i = 0; i < 3; i++) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    rig_says(r, "still here");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    rig_free(r);
}

TEST(while_a_run_goes_on_model_and_history_stay) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_model model = phi_model_anthropic("m", "k");
    const char *words = NULL;
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK(phi_agent_get_info(agent).running);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_BUSY);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_agent_reset: a run is going on");
    CHECK_EQ_INT(set_model(agent, &model), PHI_BUSY);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_agent_set: a run is going on");
    CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
    rig_free(r);
}

TEST(a_new_model_takes_over_in_mid_conversation) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, NULL), configured;
    phi_model model = phi_model_anthropic("other-model", "key"), bad = model;
    rig_says(r, "first");
    rig_says(r, "second");
    rig_says(r, "third");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    (void)rig_run(r, 20);
    bad.id = "";
    CHECK_EQ_INT(set_model(agent, &bad), PHI_BAD_ARG);
    CHECK_STR(phi_agent_get_info(agent).model_id, "test-model");
    CHECK_EQ_INT(set_model(agent, &model), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "\"other-model\"") != NULL);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->loop_id,
              "session.anthropic.other-model.1");
    desc.ids.config_id = "smith";
    configured = rig_agent(r, &desc);
    CHECK_EQ_INT(set_model(configured, &model), PHI_OK);
    CHECK_EQ_INT(phi_prompt(configured, "3"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(configured), 0)->loop_id, "session.smith.1");
    rig_free(r);
}

TEST(a_model_change_without_memory_changes_nothing) {
    int n;
    bool tripped = true;
    phi_model_header headers[2] = {{"X-One", "1"}, {"X-Two", "2"}};
    for (n = 0; tripped && n < 60; n++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL);
        phi_model model = phi_model_anthropic("other-model", "key");
        phi_status status;
        model.headers = headers;
        model.header_count = 2;
        test_alloc_fail_at(n);
        status = set_model(agent, &model);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        CHECK_STR(phi_agent_get_info(agent).model_id, tripped ? "test-model" : "other-model");
        rig_says(r, "fine");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK(strstr(rig_request(r, 0), tripped ? "\"test-model\"" : "\"other-model\"") != NULL);
        rig_free(r);
    }
    CHECK(n > 1);
}

TEST(a_reset_forgets_the_history_and_needs_no_memory) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    size_t empty = phi_agent_get_info(agent).memory_used;
    char session[64];
    rig_says(r, "first");
    rig_says(r, "second");
    CHECK_EQ_INT(phi_prompt(agent, "forget me"), PHI_OK);
    (void)rig_run(r, 20);
    test_alloc_fail_from(0);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    test_alloc_fail_at(-1);
    CHECK(phi_agent_get_info(agent).memory_used <= empty);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).session_id.len, 36);
    memcpy(session, phi_agent_get_info(agent).session_id.at, 37);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    CHECK(strcmp(session, phi_agent_get_info(agent).session_id.at) != 0);
    CHECK_EQ_INT(phi_prompt(agent, "new"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "forget me") == NULL);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.input, 20);
    rig_free(r);
}

TEST(a_reset_with_events_in_the_queue_purges_them) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL), other = rig_agent(r, NULL);
    phi_event event;
    size_t n = 0;
    rig_silent(r, true);
    rig_says(r, "first");
    rig_says(r, "other");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(phi_prompt(other, "go"), PHI_OK);
    (void)rig_run(r, 20);
    REQUIRE(phi_next_event(rig_runtime(r), &event));
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    while (phi_next_event(rig_runtime(r), &event)) {
        CHECK_EQ_INT(event.agent.index, other.index);
        n++;
    }
    CHECK_EQ_INT(n, 9);
    rig_free(r);
}

TEST(agents_freed_unheard_leave_no_events_behind) {
    rig *r = rig_new();
    phi_agent first = rig_agent(r, NULL);
    phi_event event;
    size_t used = 0;
    int i;
    rig_silent(r, true);
    rig_says(r, "kept");
    CHECK_EQ_INT(phi_prompt(first, "go"), PHI_OK);
    (void)rig_run(r, 20);
    for (i = 0; i < 1000; i++) {
        phi_agent agent = rig_agent(r, NULL);
        rig_says(r, "unheard");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        phi_agent_free(agent);
        if (i == 10) used = phi_memory_used(rig_runtime(r), NULL);
    }
    CHECK_EQ_INT(phi_memory_used(rig_runtime(r), NULL), used);
    for (i = 0; phi_next_event(rig_runtime(r), &event); i++)
        CHECK_EQ_INT(event.agent.index, first.index);
    CHECK_EQ_INT(i, 9);
    rig_free(r);
}

TEST(a_prompt_refused_for_memory_may_be_tried_for_ever) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    size_t used = 0;
    int i;
    char text[3000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    desc.memory.limit_bytes = 8500;
    agent = rig_agent(r, &desc);
    REQUIRE(agent.rt != NULL);
    for (i = 0; i < 3; i++) rig_refuses(r, PHI_NETWORK);
    for (i = 0; i < 3 && phi_prompt(agent, text) == PHI_OK; i++) (void)rig_run(r, 20);
    for (i = 0; i < 100; i++) {
        CHECK_EQ_INT(phi_prompt(agent, text), PHI_NO_MEMORY);
        if (i == 0) used = phi_agent_get_info(agent).memory_used;
    }
    CHECK_EQ_INT(phi_agent_get_info(agent).memory_used, used);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "short"), PHI_OK);
    rig_free(r);
}

TEST(the_words_of_an_error_are_its_own) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_prompt(agent, ""), PHI_BAD_ARG); /* the runtime's last error */
    rig_refuses(r, PHI_REFUSED);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "Error network \"no server takes connections there\"\n") != NULL);
    rig_free(r);
}

TEST(ten_thousand_agents_come_and_go) {
    rig *r = rig_new();
    enum { MANY = 10000 };
    phi_agent *agents = (phi_agent *)calloc(MANY, sizeof *agents);
    phi_event event;
    size_t i, ends = 0;
    REQUIRE(agents != NULL);
    for (i = 0; i < MANY; i++) {
        agents[i] = rig_agent(r, NULL);
        if (agents[i].rt == NULL) break;
    }
    CHECK_EQ_INT(i, MANY);
    CHECK(phi_agent_get_info(agents[0]).memory_used < 4096);
    rig_silent(r, true);
    for (i = 0; i < 1500; i++) rig_refuses(r, PHI_REFUSED);
    for (i = 0; i < 1500; i++) CHECK_EQ_INT(phi_prompt(agents[i], "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3000), 0);
    for (i = 0; i < 1000; i++) phi_agent_free(agents[i]);
    while (phi_next_event(rig_runtime(r), &event)) ends += event.kind == PHI_EV_AGENT_END;
    CHECK_EQ_INT(ends, 500);
    for (i = 9999; i >= 5000; i--) phi_agent_free(agents[i]);
    for (i = 0; i < 1000; i++) CHECK(!phi_agent_alive(agents[i]));
    free(agents);
    rig_free(r);
}

TEST(a_handle_of_zeros_is_a_bad_argument_everywhere) {
    phi_agent none;
    phi_model model = phi_model_anthropic("m", "k");
    phi_agent_desc desc;
    phi_raise by;
    memset(&none, 0, sizeof none);
    memset(&by, 0, sizeof by);
    CHECK_EQ_INT(phi_agent_get_desc(none, &desc), PHI_BAD_ARG);
    phi_agent_free(none);
    CHECK_EQ_INT(phi_prompt(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_continue(none, PHI_CONTINUATION_DEFAULT), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_compact(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_send(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_abort(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_abort_run(none, NULL, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_stop(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_budget_raise(none, &by), PHI_BAD_ARG);
    CHECK_EQ_INT(set_model(none, &model), PHI_BAD_ARG);
    CHECK_EQ_INT(set_tools(none, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(set_system_prompt(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(set_format(none, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(set_policy(none, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(set_repeat_limits(none, 1, 2), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_reset(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_new_session(none, true), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_rewrite(none, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_replace_messages(none, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_steer(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_follow_up(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_enqueue(none, NULL), PHI_BAD_ARG);
}

/* Its end is told from what was set aside for that, of which there is one set. */
TEST(a_run_that_ended_without_memory_is_heard_before_the_next_begins) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    const char *words = NULL;
    rig_says(r, "hello");
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    test_alloc_fail_from(0);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    test_alloc_fail_from(-1);
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_BUSY);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_prompt: the last run's events were not popped");
    rig_silent(r, false);
    (void)rig_step(r);
    (void)rig_step(r);
    rig_drop_answers(r);
    rig_says(r, "hello");
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    rig_free(r);
}

TEST(an_agent_s_defaults_are_no_thinking_parallel_tools_one_at_a_time_queues_and_three_retries) {
    rig *r = rig_new();
    phi_agent_desc desc = plain_desc(), got;
    phi_agent agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_INT(got.thinking, PHI_THINKING_OFF);
    CHECK_EQ_INT(got.tool_options.mode, PHI_TOOLS_PARALLEL);
    CHECK_EQ_INT(got.input.steering_mode, PHI_QUEUE_ONE_AT_A_TIME);
    CHECK_EQ_INT(got.input.follow_up_mode, PHI_QUEUE_ONE_AT_A_TIME);
    CHECK(!got.retry.disable);
    CHECK_EQ_INT(got.retry.max_retries, 3);
    CHECK_EQ_INT(got.retry.initial_delay_ms, 1000);
    CHECK(near_to(got.retry.backoff_multiplier, 2.0));
    CHECK_EQ_INT(got.retry.max_delay_ms, 30000);
    CHECK_EQ_INT(got.retry.max_server_delay_ms, 60000);
    CHECK_EQ_INT(got.input.first_turn_trigger, PHI_TRIGGER_USER);
    CHECK_EQ_INT(got.cache.mode, PHI_CACHE_AUTO);
    CHECK(!got.options.has_temperature);
    CHECK(got.system_prompt == NULL || got.system_prompt[0] == '\0');
    CHECK_EQ_STR(got.model.id, "test-model");
    rig_free(r);
}

TEST(a_prompt_while_the_agent_streams_is_an_error_that_changes_nothing) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "1"), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_BUSY);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(phi_prompt(agent, "2"), PHI_BUSY);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_BUSY);
    CHECK_EQ_STR(words_of(r), "Agent is already streaming. Use steer() or follow_up().");
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_BUSY);
    CHECK_EQ_INT(phi_send(agent, "3"), PHI_BUSY);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 1);
    CHECK_EQ_INT(phi_steer(agent, "4"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "5"), PHI_OK);
    rig_free(r);
}

TEST(a_prompt_makes_two_messages_and_one_that_calls_a_tool_four) {
    rig *r = rig_new();
    phi_agent agent = echo_agent(r);
    rig_says(r, "Hello");
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "done");
    rig_call(r, "c2", "echo", "{}");
    rig_says(r, "tools survive a run");
    ask(r, agent, "Hi");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    ask(r, agent, "go");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 6);
    ask(r, agent, "go on");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 10);
    CHECK(!phi_thread_message_at(phi_agent_thread(agent), 8)->is_error);
    CHECK(strstr(rig_request(r, 4), "\"Hi\"") != NULL); /* the model sees all that was said */
    rig_free(r);
}

TEST(a_reset_empties_messages_and_queues_and_the_agent_is_not_running) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "Hello");
    rig_says(r, "Hello again");
    ask(r, agent, "Hi");
    CHECK_EQ_INT(phi_steer(agent, "s"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "f"), PHI_OK);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).queued, 0);
    CHECK(!phi_agent_get_info(agent).running);
    ask(r, agent, "Hi");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_free(r);
}

TEST(setting_tools_replaces_the_list) {
    rig *r = rig_new();
    phi_agent agent = echo_agent(r);
    phi_tool tool = rig_wait(r);
    rig_says(r, "a");
    rig_says(r, "b");
    ask(r, agent, "1");
    CHECK_EQ_INT(set_tools(agent, &tool, 1), PHI_OK);
    ask(r, agent, "2");
    CHECK(strstr(rig_request(r, 0), "\"echo\"") != NULL);
    CHECK(strstr(rig_request(r, 0), "\"wait\"") == NULL);
    CHECK(strstr(rig_request(r, 1), "\"echo\"") == NULL);
    CHECK(strstr(rig_request(r, 1), "\"wait\"") != NULL);
    rig_free(r);
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
    CHECK_EQ_INT(set_tools(agent, got.tools + 1, 1), PHI_OK);
    CHECK_EQ_INT(set_system_prompt(agent, got.system_prompt + 4), PHI_OK);
    CHECK_EQ_INT(set_model(agent, &got.model), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_INT(got.tool_count, 1);
    CHECK_EQ_STR(got.tools[0].name, "wait");
    CHECK_EQ_STR(got.system_prompt, "are careful.");
    twin = phi_agent_new(rig_runtime(r), &got);
    CHECK(phi_agent_alive(twin));
    {
        phi_content block;
        phi_message m = text_message(PHI_ROLE_USER, &block, "before");
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent),
                                       phi_thread_message_at(phi_agent_thread(agent), 0), 1, NULL),
                     PHI_OK);
        CHECK_EQ_INT(
            phi_agent_replace_messages(agent, phi_thread_message_at(phi_agent_thread(agent), 0), 1),
            PHI_OK);
        CHECK_EQ_STR(text_at(agent, 0, 0), "before");
    }
    rig_free(r);
}

TEST(a_profile_that_counts_skills_and_names_none_is_refused) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_profile profile;
    const char *words = NULL;
    memset(&profile, 0, sizeof profile);
    profile.skill_count = 2;
    desc.profile = &profile;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_BAD_ARG);
    CHECK_EQ_STR(words, "profile.skills is missing, skill_count is 2");
    rig_free(r);
}

TEST(an_abort_reaches_the_children_on_both_sides_of_one_that_is_gone) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent parent = rig_agent(r, NULL), children[3];
    size_t i;
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(parent, "go"), PHI_OK);
    desc.parent = parent;
    for (i = 0; i < 3; i++) {
        children[i] = rig_agent(r, &desc);
        rig_hangs(r, "");
        CHECK_EQ_INT(phi_prompt(children[i], "go"), PHI_OK);
    }
    (void)rig_run(r, 10);
    CHECK_EQ_INT(rig_open_transfers(r), 4);
    phi_agent_free(children[1]);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(rig_open_transfers(r), 3);
    CHECK_EQ_INT(phi_abort(parent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    rig_free(r);
}

TEST(what_is_waited_for_and_kept_by_default_is_what_the_header_says) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), got;
    desc.retry.disable = false;
    CHECK_EQ_INT(phi_agent_get_desc(rig_agent(r, &desc), &got), PHI_OK);
    CHECK_EQ_INT(got.deadlines.connect_ms, 15000);
    CHECK_EQ_INT(got.deadlines.first_event_ms, 300000);
    CHECK_EQ_INT(got.deadlines.idle_ms, 120000);
    CHECK_EQ_INT(got.deadlines.total_ms, PHI_UNLIMITED);
    CHECK_EQ_INT(got.memory.event_queue_bytes, 262144);
    CHECK_EQ_INT(got.memory.max_event_bytes, 16777216);
    CHECK_EQ_INT(got.memory.max_response_bytes, 268435456);
    CHECK_EQ_INT(got.retry.max_retries, 3);
    CHECK_EQ_INT(got.retry.initial_delay_ms, 1000);
    CHECK_EQ_INT(got.retry.max_delay_ms, 30000);
    CHECK_EQ_INT(got.retry.max_server_delay_ms, 60000);
    CHECK_EQ_INT(got.deadlines.decision_ms, 300000);
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(a_prompt_says_what_is_wrong_with_it),
    TEST_ENTRY(text_that_is_not_utf8_leaves_as_utf8),
    TEST_ENTRY(a_freed_agents_handle_is_stale_everywhere),
    TEST_ENTRY(an_abort_posted_before_a_prompt_does_not_end_its_run),
    TEST_ENTRY(while_a_run_goes_on_model_and_history_stay),
    TEST_ENTRY(a_new_model_takes_over_in_mid_conversation),
    TEST_ENTRY(a_model_change_without_memory_changes_nothing),
    TEST_ENTRY(a_reset_forgets_the_history_and_needs_no_memory),
    TEST_ENTRY(a_reset_with_events_in_the_queue_purges_them),
    TEST_ENTRY(agents_freed_unheard_leave_no_events_behind),
    TEST_ENTRY(a_prompt_refused_for_memory_may_be_tried_for_ever),
    TEST_ENTRY(the_words_of_an_error_are_its_own), TEST_ENTRY(ten_thousand_agents_come_and_go),
    TEST_ENTRY(a_handle_of_zeros_is_a_bad_argument_everywhere),
    TEST_ENTRY(a_run_that_ended_without_memory_is_heard_before_the_next_begins),
    TEST_ENTRY(
        an_agent_s_defaults_are_no_thinking_parallel_tools_one_at_a_time_queues_and_three_retries),
    TEST_ENTRY(a_prompt_while_the_agent_streams_is_an_error_that_changes_nothing),
    TEST_ENTRY(a_prompt_makes_two_messages_and_one_that_calls_a_tool_four),
    TEST_ENTRY(a_reset_empties_messages_and_queues_and_the_agent_is_not_running),
    TEST_ENTRY(setting_tools_replaces_the_list),
    TEST_ENTRY(what_an_agent_gives_out_may_be_given_back_to_it),
    TEST_ENTRY(a_profile_that_counts_skills_and_names_none_is_refused),
    TEST_ENTRY(an_abort_reaches_the_children_on_both_sides_of_one_that_is_gone),
    TEST_ENTRY(what_is_waited_for_and_kept_by_default_is_what_the_header_says))
