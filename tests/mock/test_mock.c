/* test_mock.c - the scripted model of phi's users: texts, calls, failures, delays, and what it was sent. */
#include "mock/mock.h"

#include "support/rig.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "model/message.h"

static phi_agent_desc desc_of(const phi_mock *mock) {
    phi_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.model = mock->model;
    return desc;
}

/* Prompts, and steps until the run is over; the text of the newest message. */
static phi_str said_after(rig *r, phi_agent agent, const char *prompt) {
    const phi_message *last;
    CHECK_EQ_INT(phi_prompt(agent, prompt), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 400), 0);
    last = phi_thread_message_at(phi_agent_thread(agent),
                                 phi_thread_message_count(phi_agent_thread(agent)) - 1);
    return last->content_count > 0 ? last->content[0].text : phi_str_of("");
}

TEST(answers_come_in_the_order_of_the_script) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_tool tool = rig_echo();
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.system_prompt = "You are the smith.";
    phi_mock_call(mock, "echo", "{\"place\":\"forge\"}");
    phi_mock_text(mock, "The fire is out.");
    phi_mock_text(mock, "Good night.");
    CHECK_EQ_INT(mock->answers_left, 3);
    agent = rig_agent(r, &desc);
    CHECK_STR(said_after(r, agent, "Look!"), "The fire is out.");
    CHECK_STR(said_after(r, agent, "Go!"), "Good night.");
    CHECK_EQ_INT(mock->answers_left, 0);
    CHECK_EQ_INT(mock->request_count, 3);
    rig_free(r);
}

TEST(what_was_sent_can_be_looked_at_when_its_agent_is_gone) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_tool tool = rig_echo();
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent;
    int i;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.system_prompt = "You are the smith.";
    for (i = 1; i <= 20; i++) {
        char arguments[20];
        (void)snprintf(arguments, sizeof arguments, "{\"n\":%d}", i);
        phi_mock_call(mock, "echo", arguments);
    }
    phi_mock_text(mock, "Done.");
    agent = rig_agent(r, &desc);
    (void)said_after(r, agent, "Look!");
    phi_agent_free(agent);
    CHECK_EQ_INT(mock->request_count, 21);
    CHECK_STR(mock->requests[0].system_prompt, "You are the smith.");
    CHECK_EQ_INT(mock->requests[0].message_count, 1);
    CHECK_STR(mock->requests[0].messages[0]->content[0].text, "Look!");
    CHECK_EQ_INT(mock->requests[0].tool_count, 1);
    CHECK_STR(mock->requests[0].tools[0].name, "echo");
    CHECK_EQ_INT(mock->requests[1].message_count, 3);
    CHECK_EQ_INT(mock->requests[1].messages[2]->role, PHI_ROLE_TOOL_RESULT);
    CHECK_STR(mock->requests[1].messages[2]->content[0].text, "{\"n\":1}");
    rig_free(r);
}

TEST(a_text_comes_a_word_in_each_step) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent = rig_agent(r, &desc);
    phi_event ev;
    int words = 0, texts = 0;
    phi_mock_text(mock, "one  two three");
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "Count!"), PHI_OK);
    while (phi_step(rig_runtime(r), 0) > 0) {
        int n = 0;
        while (phi_next_event(rig_runtime(r), &ev)) n += ev.kind == PHI_EV_TEXT;
        CHECK(n <= 1);
        texts += n;
        words++;
    }
    while (phi_next_event(rig_runtime(r), &ev)) texts += ev.kind == PHI_EV_TEXT;
    CHECK_EQ_INT(texts, 3);
    CHECK(words >= 2);
    rig_free(r);
}

TEST(a_request_too_many_fails_and_says_which) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent = rig_agent(r, &desc);
    phi_mock_text(mock, "Hello.");
    CHECK_STR(said_after(r, agent, "Hi"), "Hello.");
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "Still there?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r),
                 "phi_mock: no answer is left for request 2: user \"Still there?\"") != NULL);
    CHECK(strstr(rig_story(r), "retry") == NULL);
    phi_mock_text(mock, "Yes.");
    CHECK_STR(said_after(r, agent, "And now?"), "Yes.");
    rig_free(r);
}

TEST(a_tool_name_that_no_provider_takes_fails_the_request_and_takes_no_answer) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_tool tool = rig_echo();
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent;
    tool.name = "ask the player";
    desc.tools = &tool;
    desc.tool_count = 1;
    phi_mock_text(mock, "Hello.");
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r),
                 "phi_mock: tool \"ask the player\": expected 1 to 64 of a-z A-Z 0-9 _ -") != NULL);
    CHECK_EQ_INT(mock->request_count, 1);
    CHECK_EQ_INT(mock->answers_left, 1);
    tool.name = "ask_the_player";
    CHECK_EQ_INT(phi_agent_set(agent, &desc, PHI_SET_TOOLS), PHI_OK);
    CHECK_STR(said_after(r, agent, "And now?"), "Hello.");
    rig_free(r);
}

TEST(two_calls_of_one_answer_run_together) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_tool tool = rig_wait(r);
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    phi_mock_also_call(mock, "wait", NULL); /* to no answer: nothing */
    phi_mock_text(mock, "Wait.");
    phi_mock_also_call(mock, "wait", "{\"n\":1}");
    phi_mock_also_call(mock, "wait", NULL);
    phi_mock_text(mock, "Done.");
    CHECK_EQ_INT(mock->answers_left, 2);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 1);
    CHECK_EQ_INT(rig_started(r), 2);
    CHECK(strcmp(phi_call_arg_str(rig_call_at(r, 0), "n", "-"), "-") == 0);
    CHECK_EQ_INT(phi_call_arg_int(rig_call_at(r, 0), "n", 0), 1);
    CHECK_EQ_INT(phi_call_arg_int(rig_call_at(r, 1), "n", 0), 0);
    CHECK_STR(phi_call_get_info(rig_call_at(r, 1)).id, "call_2");
    rig_finish(r, 0, "a");
    rig_finish(r, 1, "b");
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "Wait.");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 5);
    rig_free(r);
}

TEST(failures_that_pass_are_tried_again_and_others_end_the_run) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent = rig_agent(r, &desc);
    phi_mock_fail(mock, PHI_FAILURE_RATE_LIMITED, "slow down");
    phi_mock_text(mock, "Here.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "Here.");
    CHECK_EQ_INT(mock->request_count, 2);
    phi_mock_fail(mock, PHI_FAILURE_AUTH, "no such key");
    phi_mock_text(mock, "never");
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "Again"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    CHECK(strstr(rig_story(r), "no such key") != NULL);
    CHECK_EQ_INT(mock->answers_left, 1);
    CHECK_EQ_INT(phi_prompt(agent, "Once more"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    phi_mock_fail(mock, PHI_FAILURE_NO_MEMORY, "the GPU is full");
    rig_forget(r);
    CHECK_EQ_INT(phi_prompt(agent, "And again"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    CHECK(strstr(rig_story(r), "the GPU is full") !=
          NULL); /* its words, not those of a limit of ours */
    rig_free(r);
}

TEST(an_answer_waits_for_its_delay_by_the_clock_of_the_runtime) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent = rig_agent(r, &desc);
    mock->delay_ms = 50;
    phi_mock_text(mock, "Late.");
    mock->delay_ms = 0;
    phi_mock_text(mock, "At once.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 45), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 1);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "Late.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 8), 0);
    rig_free(r);
}

TEST(an_abort_ends_an_answer_half_way_and_the_next_is_given) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent = rig_agent(r, &desc);
    phi_mock_text(mock, "one two three four five six seven eight");
    phi_mock_text(mock, "Fine.");
    CHECK_EQ_INT(phi_prompt(agent, "Count"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 4), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK_STR(said_after(r, agent, "Stop?"), "Fine.");
    rig_free(r);
}

static void repeat(void *user_data, phi_mock *mock, const phi_model_request *request) {
    char text[100];
    phi_str heard = request->messages[request->message_count - 1]->content[0].text;
    (void)snprintf(text, sizeof text, "%s: %.*s", (const char *)user_data, (int)heard.len,
                   heard.at);
    phi_mock_text(mock, text);
}

TEST(a_function_writes_the_answers_that_no_script_has) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent = rig_agent(r, &desc);
    char name[] = "echo";
    mock->answer_fn = repeat;
    mock->user_data = name;
    phi_mock_text(mock, "First.");
    CHECK_STR(said_after(r, agent, "Hi"), "First.");
    CHECK_STR(said_after(r, agent, "Ho"), "echo: Ho");
    rig_free(r);
}

TEST(an_answer_costs_what_the_usage_of_the_mock_says) {
    rig *r = rig_new();
    phi_mock *mock = phi_mock_new(rig_runtime(r));
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent;
    const phi_thread *thread;
    desc.model.cost.input = 2;
    desc.model.cost.output = 10;
    agent = rig_agent(r, &desc);
    phi_mock_text(mock, "Free.");
    mock->usage.input = 1000000;
    mock->usage.output = 100000;
    phi_mock_fail(mock, PHI_FAILURE_RATE_LIMITED, "slow down");
    phi_mock_text(mock, "Dear.");
    CHECK_STR(said_after(r, agent, "One"), "Free.");
    CHECK(phi_agent_get_info(agent).cost == 0.0);
    CHECK_EQ_INT(phi_prompt(agent, "Two"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    thread = phi_agent_thread(agent);
    CHECK_EQ_INT((int)phi_thread_message_at(thread, 1)->usage.total_tokens, 0);
    CHECK_EQ_INT((int)phi_thread_message_at(thread, 3)->usage.total_tokens, 1100000);
    CHECK(phi_agent_get_info(agent).cost == 3.0);
    rig_free(r);
}

TEST(a_mock_with_a_bound_keeps_the_newest_requests_and_needs_no_more_memory) {
    rig *r = rig_new();
    phi_runtime *rt = rig_runtime(r);
    phi_mock *mock = phi_mock_new(rt);
    phi_agent_desc desc = desc_of(mock);
    phi_agent agent;
    char name[] = "echo", prompt[20];
    size_t used = 0;
    int i;
    mock->max_requests = 3;
    mock->answer_fn = repeat;
    mock->user_data = name;
    agent = rig_agent(r, &desc);
    for (i = 100; i < 300; i++) {
        (void)snprintf(prompt, sizeof prompt, "number %d", i);
        CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
        CHECK_EQ_INT(phi_prompt(agent, prompt), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 100), 0);
        rig_forget(r);
        if (i == 150) used = rt->memory.used_bytes;
    }
    CHECK_EQ_INT(rt->memory.used_bytes, used);
    CHECK_EQ_INT(mock->request_count, 3);
    CHECK_EQ_INT(mock->requests_freed, 197);
    CHECK_STR(mock->requests[0].messages[0]->content[0].text, "number 297");
    CHECK_STR(mock->requests[2].messages[0]->content[0].text, "number 299");
    mock->answer_fn = NULL;
    mock->max_requests = 1;
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "and now?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_story(r), "no answer is left for request 201: user \"and now?\"") != NULL);
    CHECK_EQ_INT(mock->request_count, 1);
    rig_free(r);
}

TEST(two_mocks_in_a_runtime_have_two_scripts_and_one_stands_in_for_any_model) {
    rig *r = rig_new();
    phi_mock *one = phi_mock_new(rig_runtime(r)), *two = phi_mock_new(rig_runtime(r));
    phi_agent_desc a = desc_of(one), b = rig_desc();
    phi_agent first, second;
    b.provider = &two->provider;
    CHECK(strcmp(one->model.protocol, "mock") == 0);
    CHECK(strcmp(two->model.protocol, "mock2") == 0);
    phi_mock_text(one, "I am one.");
    phi_mock_text(two, "I am two.");
    first = rig_agent(r, &a);
    second = rig_agent(r, &b);
    CHECK_STR(said_after(r, second, "Who?"), "I am two.");
    CHECK_STR(said_after(r, first, "Who?"), "I am one.");
    rig_free(r);
}

/* What fails with memory is said: no answer is lost without an error. */
static bool survives(int n) {
    rig *r = rig_new();
    phi_mock *mock;
    bool tripped, said = false;
    test_alloc_fail_at(n);
    mock = phi_mock_new(rig_runtime(r));
    if (mock != NULL) {
        phi_tool tool = rig_echo();
        phi_agent_desc desc = desc_of(mock);
        phi_agent agent;
        desc.tools = &tool;
        desc.tool_count = 1;
        phi_mock_call(mock, "echo", "{}");
        phi_mock_text(mock, "Done.");
        agent = phi_agent_new(rig_runtime(r), &desc);
        if (agent.rt != NULL && phi_prompt(agent, "Go") == PHI_OK) {
            const phi_message *last;
            CHECK_EQ_INT(rig_run_until(r, 120000), 0);
            last =
                phi_thread_message_count(phi_agent_thread(agent)) > 0
                    ? phi_thread_message_at(phi_agent_thread(agent),
                                            phi_thread_message_count(phi_agent_thread(agent)) - 1)
                    : NULL;
            said = last != NULL && last->content_count > 0 &&
                   phi_str_equal(last->content[0].text, phi_str_of("Done."));
        }
    }
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK(tripped || said);
    rig_free(r);
    return tripped;
}

TEST(every_allocation_may_fail) {
    int n = 0;
    while (survives(n) && n < 2000) n++;
    CHECK(n > 10 && n < 2000);
}

TEST_MAIN(TEST_ENTRY(answers_come_in_the_order_of_the_script),
          TEST_ENTRY(what_was_sent_can_be_looked_at_when_its_agent_is_gone),
          TEST_ENTRY(a_text_comes_a_word_in_each_step),
          TEST_ENTRY(a_request_too_many_fails_and_says_which),
          TEST_ENTRY(a_tool_name_that_no_provider_takes_fails_the_request_and_takes_no_answer),
          TEST_ENTRY(two_calls_of_one_answer_run_together),
          TEST_ENTRY(failures_that_pass_are_tried_again_and_others_end_the_run),
          TEST_ENTRY(an_answer_waits_for_its_delay_by_the_clock_of_the_runtime),
          TEST_ENTRY(an_abort_ends_an_answer_half_way_and_the_next_is_given),
          TEST_ENTRY(a_function_writes_the_answers_that_no_script_has),
          TEST_ENTRY(an_answer_costs_what_the_usage_of_the_mock_says),
          TEST_ENTRY(a_mock_with_a_bound_keeps_the_newest_requests_and_needs_no_more_memory),
          TEST_ENTRY(two_mocks_in_a_runtime_have_two_scripts_and_one_stands_in_for_any_model),
          TEST_ENTRY(every_allocation_may_fail))
