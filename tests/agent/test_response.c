/* test_response.c - phi_prompt_with: what a handle says while its run goes on, afterwards, and when it is stale. */
#include "agent/response.h"
#include "support/rig.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/provider.h"
#include "loop/run.h"
#include "model/model.h"
#include "loop/loop_in.h"

static const char *last_words(rig *r) {
    const char *words = NULL;
    words = phi_last_error(rig_runtime(r)).message;
    return words;
}

static phi_response_info info_of(phi_response response) {
    phi_response_info info;
    CHECK_EQ_INT(response_get(response, &info), PHI_OK);
    return info;
}

static void check_stale(phi_response response) {
    phi_response_info info;
    CHECK_EQ_INT(response_get(response, &info), PHI_STALE);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_STALE);
    CHECK(phi_response_get(response).done);
    phi_response_free(response);
}

TEST(a_response_tells_what_became_of_a_request) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response response;
    phi_response_info info;
    int64_t asked;
    rig_says(r, "an answer");
    rig_chunk(r, 60);
    CHECK_EQ_INT(prompt_for(agent, "a question", &response), PHI_OK);
    info = info_of(response);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_RUNNING);
    CHECK_EQ_INT(info.status, PHI_BUSY);
    CHECK(!phi_response_get(response).done);
    CHECK_EQ_INT(info.agent.index, agent.index);
    CHECK_STR(info.loop_id, "session.anthropic.test-model.1");
    CHECK(info.message == NULL);
    CHECK_STR(info.text, "");
    CHECK(info.asked_ms > 0);
    CHECK_EQ_INT(info.ended_ms, 0);
    CHECK_EQ_INT(info.first_event_ms, 0);
    asked = info.asked_ms;
    CHECK_EQ_INT(rig_run(r, 60), 0);
    info = info_of(response);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_COMPLETED);
    CHECK_EQ_INT(info.status, PHI_OK);
    CHECK(phi_response_get(response).done);
    CHECK_STR(info.text, "an answer");
    CHECK(info.message == phi_thread_message_at(phi_agent_thread(agent), 1));
    CHECK(info.failure == NULL);
    CHECK_EQ_INT(info.usage.input, 10);
    CHECK_EQ_INT(info.usage.output, 5);
    CHECK_EQ_INT(info.asked_ms, asked);
    CHECK(info.first_event_ms > asked);
    CHECK(info.ended_ms > info.first_event_ms);
    CHECK_STR(info.loop_id, "session.anthropic.test-model.1");
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages") != NULL);
    rig_free(r);
}

TEST(while_tools_run_the_last_answer_and_the_usage_so_far_are_seen) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent;
    phi_response response;
    phi_response_info info;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "t1", "wait", "{}");
    rig_says(r, "at last");
    CHECK_EQ_INT(prompt_for(agent, "go", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    REQUIRE(rig_started(r) == 1);
    info = info_of(response);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_RUNNING);
    REQUIRE(info.message != NULL);
    CHECK_EQ_INT(info.message->content[0].kind, PHI_CONTENT_TOOL_CALL);
    CHECK_STR(info.text, "");
    CHECK_EQ_INT(info.usage.input, 10);
    rig_finish(r, 0, "done");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    info = info_of(response);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_COMPLETED);
    CHECK_STR(info.text, "at last");
    CHECK_EQ_INT(info.usage.input, 20);
    rig_free(r);
}

TEST(a_failed_request_says_why) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response response;
    phi_response_info info;
    rig_replies(r, 401, "Content-Type: application/json\r\n",
                "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\","
                "\"message\":\"bad key\"}}");
    CHECK_EQ_INT(prompt_for(agent, "go", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    info = info_of(response);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_FAILED);
    CHECK_EQ_INT(info.status, PHI_REFUSED);
    REQUIRE(info.failure != NULL);
    CHECK_EQ_INT(info.failure->kind, PHI_FAILURE_AUTH);
    CHECK_EQ_INT(info.failure->http_status, 401);
    CHECK_EQ_INT(info.first_event_ms, 0);
    CHECK(info.ended_ms > 0);
    REQUIRE(info.message != NULL);
    CHECK_EQ_INT(info.message->stop_reason, PHI_STOP_REASON_ERROR);
    rig_free(r);
}

TEST(a_limit_that_ended_the_run_is_a_failure_with_the_last_answer) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_response response;
    phi_response_info info;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.limits.max_turns = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "t1", "echo", "{}");
    CHECK_EQ_INT(prompt_for(agent, "go", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    info = info_of(response);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_FAILED);
    CHECK_EQ_INT(info.status, PHI_LIMIT);
    REQUIRE(info.message != NULL);
    CHECK_EQ_INT(info.message->role, PHI_ROLE_ASSISTANT);
    rig_free(r);
}

TEST(an_aborted_request_is_cancelled_and_keeps_what_was_said) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response response;
    phi_response_info info;
    char half[2000];
    (void)snprintf(half, sizeof half, "%s", rig_stream_of("half of it"));
    *strstr(half, "event: content_block_stop") = '\0';
    rig_hangs(r, half);
    CHECK_EQ_INT(prompt_for(agent, "go", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    info = info_of(response);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_CANCELLED);
    CHECK_EQ_INT(info.status, PHI_CANCELLED);
    CHECK_STR(info.text, "half of it");
    CHECK(info.first_event_ms > 0);
    rig_free(r);
}

TEST(a_run_that_a_hook_denied_or_a_filter_rejected_has_failed) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent denied, rejected;
    phi_response response;
    phi_response_info info;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_LOOP);
    rig_answers(r, PHI_HOOK_BEFORE_LOOP, PHI_DENY, NULL);
    denied = rig_agent(r, &desc);
    CHECK_EQ_INT(prompt_for(denied, "go", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    info = info_of(response);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_FAILED);
    CHECK_EQ_INT(info.status, PHI_DENIED);
    CHECK(info.message == NULL);
    desc = rig_desc();
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    rig_answers(r, PHI_HOOK_FILTER, PHI_DENY, "no such words");
    rejected = rig_agent(r, &desc);
    CHECK_EQ_INT(prompt_for(rejected, "go", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    info = info_of(response);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_FAILED);
    CHECK_EQ_INT(info.status, PHI_REJECTED);
    rig_free(r);
}

TEST(busy_is_an_answer_that_changes_nothing) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response first, second;
    size_t used;
    rig_says(r, "one");
    CHECK_EQ_INT(prompt_for(agent, "first", &first), PHI_OK);
    used = phi_agent_get_info(agent).memory_used;
    CHECK_EQ_INT(prompt_for(agent, "second", &second), PHI_BUSY);
    check_stale(second);
    CHECK_EQ_INT(phi_agent_get_info(agent).memory_used, used);
    CHECK_EQ_INT(info_of(first).state, PHI_RESPONSE_RUNNING);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_STR(info_of(first).text, "one");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_free(r);
}

TEST(the_newest_sixteen_responses_of_an_agent_are_kept) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response responses[40];
    char text[32];
    int i;
    for (i = 0; i < 40; i++) {
        (void)snprintf(text, sizeof text, "answer %d", i);
        rig_says(r, text);
        CHECK_EQ_INT(prompt_for(agent, "go", &responses[i]), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
        if (i >= PHI_RESPONSES_KEPT) check_stale(responses[i - PHI_RESPONSES_KEPT]);
    }
    for (i = 0; i < 24; i++) check_stale(responses[i]);
    for (i = 24; i < 40; i++) {
        (void)snprintf(text, sizeof text, "answer %d", i);
        CHECK_STR(info_of(responses[i]).text, text);
    }
    rig_free(r);
}

TEST(letting_go_of_a_response_leaves_the_run_alone) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response responses[3];
    int i;
    rig_says(r, "one");
    CHECK_EQ_INT(prompt_for(agent, "go", &responses[0]), PHI_OK);
    phi_response_free(responses[0]);
    check_stale(responses[0]);
    CHECK(phi_agent_get_info(agent).running);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
    for (i = 0; i < 3; i++) {
        rig_says(r, "more");
        CHECK_EQ_INT(prompt_for(agent, "go", &responses[i]), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 20), 0);
    }
    phi_response_free(responses[1]); /* from between two others */
    CHECK_EQ_INT(info_of(responses[0]).state, PHI_RESPONSE_COMPLETED);
    CHECK_EQ_INT(info_of(responses[2]).state, PHI_RESPONSE_COMPLETED);
    phi_response_free(responses[0]);
    phi_response_free(responses[2]);
    rig_free(r);
}

TEST(a_later_run_does_not_touch_an_earlier_response) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response response, later;
    rig_says(r, "first");
    rig_says(r, "second");
    CHECK_EQ_INT(prompt_for(agent, "go", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(prompt_for(agent, "go on", &later), PHI_OK);
    CHECK(info_of(later).message == NULL); /* what the first run said is not its own */
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_STR(info_of(later).text, "second");
    CHECK_STR(info_of(response).text, "first");
    CHECK_EQ_INT(info_of(response).usage.input, 10);
    rig_free(r);
}

TEST(responses_die_with_their_agent_its_reset_and_its_history) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response done, running;
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(prompt_for(agent, "go", &done), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    check_stale(done);
    CHECK_EQ_INT(prompt_for(agent, "go", &done), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_OK);
    check_stale(done);
    rig_says(r, "three");
    rig_hangs(r, "");
    CHECK_EQ_INT(prompt_for(agent, "go", &done), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(prompt_for(agent, "go", &running), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    phi_agent_free(agent);
    check_stale(done);
    check_stale(running);
    CHECK_EQ_INT(rig_run(r, 2), 0);
    rig_free(r);
}

TEST(a_request_says_what_is_wrong_with_it) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL), gone = rig_agent(r, NULL), none;
    phi_response response, nothing;
    phi_response_info info;
    memset(&none, 0, sizeof none);
    memset(&nothing, 0, sizeof nothing);
    phi_agent_free(gone);
    CHECK_EQ_INT(prompt_for(agent, NULL, &response), PHI_BAD_ARG);
    CHECK_EQ_STR(last_words(r), "phi_prompt_with: the text is empty");
    CHECK_EQ_INT(prompt_for(agent, "", &response), PHI_BAD_ARG);
    check_stale(response);
    CHECK_EQ_INT(prompt_for(gone, "go", &response), PHI_STALE);
    CHECK_EQ_STR(last_words(r), "phi_prompt_with: the agent is gone");
    check_stale(response);
    CHECK_EQ_INT(prompt_for(none, "go", &response), PHI_BAD_ARG);
    CHECK_EQ_INT(response_get(nothing, &info), PHI_STALE);
    phi_response_free(nothing);
    CHECK(phi_response_get(nothing).done);
    CHECK(!phi_agent_get_info(agent).running);
    rig_says(r, "one");
    CHECK_EQ_INT(prompt_for(agent, "go", &response), PHI_OK);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_BUSY);
    CHECK_EQ_INT(prompt_for(agent, "go", &response), PHI_MISUSE);
    check_stale(response);
    rig_free(r);
}

TEST(many_agents_have_many_requests_at_once) {
    enum { AGENTS = 60, ROUNDS = 5 };
    rig *r = rig_new();
    phi_agent agents[AGENTS];
    phi_response responses[AGENTS][ROUNDS];
    size_t used = 0;
    int i, round;
    for (i = 0; i < AGENTS; i++) agents[i] = rig_agent(r, NULL);
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < AGENTS; i++) rig_says(r, "yes");
        for (i = 0; i < AGENTS; i++)
            CHECK_EQ_INT(prompt_for(agents[i], "go", &responses[i][round]), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 200), 0);
    }
    for (i = 0; i < AGENTS; i++)
        for (round = 0; round < ROUNDS; round++) {
            CHECK_STR(info_of(responses[i][round]).text, "yes");
            CHECK_EQ_INT(info_of(responses[i][round]).agent.index, agents[i].index);
        }
    for (i = 0; i < AGENTS; i++) phi_agent_free(agents[i]);
    for (i = 0; i < AGENTS; i++)
        for (round = 0; round < ROUNDS; round++) check_stale(responses[i][round]);
    used = phi_memory_used(rig_runtime(r), NULL);
    CHECK(used < 300000);
    rig_free(r);
}

TEST(a_request_without_memory_changes_nothing) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 100; n++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL);
        phi_response response;
        phi_status status;
        test_alloc_fail_at(n);
        status = prompt_for(agent, "go", &response);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        if (tripped) {
            CHECK_EQ_STR(last_words(r), "phi_prompt_with: out of memory");
            check_stale(response);
            CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
            CHECK(!phi_agent_get_info(agent).running);
            CHECK_EQ_INT(prompt_for(agent, "go", &response), PHI_OK);
        }
        CHECK_STR(info_of(response).loop_id, "session.anthropic.test-model.1");
        rig_says(r, "fine");
        CHECK_EQ_INT(rig_run(r, 20), 0);
        CHECK_STR(info_of(response).text, "fine");
        rig_free(r);
    }
    CHECK(n > 3);
}

static void ends_without(int n, bool for_ever, bool *tripped) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response response;
    phi_response_info info;
    rig_says(r, "fine");
    CHECK_EQ_INT(prompt_for(agent, "go", &response), PHI_OK);
    if (for_ever)
        test_alloc_fail_from(n);
    else
        test_alloc_fail_at(n);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    *tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK(phi_response_get(response).done);
    info = info_of(response);
    CHECK(info.ended_ms > 0);
    if (info.state == PHI_RESPONSE_COMPLETED) {
        CHECK_STR(info.text, "fine");
    } else {
        CHECK(*tripped);
        CHECK_EQ_INT(info.state, PHI_RESPONSE_FAILED);
        CHECK_EQ_INT(info.status, PHI_NO_MEMORY);
        CHECK(info.failure != NULL && info.failure->kind == PHI_FAILURE_NO_MEMORY);
    }
    rig_free(r);
}

TEST(a_response_ends_whatever_memory_the_run_lacked) {
    int n, for_ever;
    for (for_ever = 0; for_ever < 2; for_ever++) {
        bool tripped = true;
        for (n = 0; tripped && n < 300; n++) ends_without(n, for_ever == 1, &tripped);
        CHECK(!tripped);
        CHECK(n > 5);
    }
}

/* ---- inside of a step ---- */

typedef struct inside {
    phi_response response;
    phi_hook_point point;
    bool frees_agent;
    int seen;
} inside;

static phi_verdict looks(void *user_data, phi_hook *hook) {
    inside *in = (inside *)user_data;
    phi_response_info info;
    if (hook->point != in->point) return PHI_ALLOW;
    in->seen++;
    CHECK_EQ_INT(response_get(in->response, &info), PHI_OK);
    CHECK_EQ_INT(info.state,
                 in->point == PHI_HOOK_AFTER_LOOP ? PHI_RESPONSE_COMPLETED : PHI_RESPONSE_RUNNING);
    if (in->frees_agent)
        phi_agent_free(hook->agent);
    else
        phi_response_free(in->response);
    check_stale(in->response);
    return PHI_ALLOW;
}

TEST(hooks_may_free_the_response_or_its_agent) {
    static const phi_hook_point points[] = {PHI_HOOK_BEFORE_LOOP, PHI_HOOK_BEFORE_TURN,
                                            PHI_HOOK_AFTER_TURN, PHI_HOOK_AFTER_LOOP};
    size_t i;
    int frees;
    for (i = 0; i < 4; i++)
        for (frees = 0; frees < 2; frees++) {
            rig *r = rig_new();
            phi_agent_desc desc = rig_desc();
            phi_agent agent;
            inside in;
            memset(&in, 0, sizeof in);
            in.point = points[i];
            in.frees_agent = frees == 1;
            desc.hook_fn = looks;
            desc.hook_points = PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_TURN |
                               PHI_HOOK_AFTER_LOOP;
            desc.user_data = &in;
            agent = rig_agent(r, &desc);
            rig_says(r, "fine");
            CHECK_EQ_INT(prompt_for(agent, "go", &in.response), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 20), 0);
            CHECK_EQ_INT(in.seen, 1);
            CHECK_EQ_INT(phi_agent_alive(agent), frees == 0);
            rig_free(r);
        }
}

TEST(a_runtime_may_be_freed_with_requests_under_way) {
    rig *r = rig_new();
    int i;
    for (i = 0; i < 20; i++) {
        phi_response response;
        rig_hangs(r, "");
        CHECK_EQ_INT(prompt_for(rig_agent(r, NULL), "go", &response), PHI_OK);
    }
    (void)rig_run(r, 20);
    rig_free(r);
}

TEST(a_response_says_what_its_run_cost) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_response response;
    phi_response_info info;
    desc.model.cost.input = 1000.0; /* a cent for ten */
    desc.model.cost.output = 2000.0;
    rig_says(r, "an answer"); /* 10 in, 5 out */
    CHECK_EQ_INT(prompt_for(rig_agent(r, &desc), "a question", &response), PHI_OK);
    CHECK(info_of(response).cost <= 0);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    info = info_of(response);
    CHECK(info.cost > 0.0199 && info.cost < 0.0201);
    rig_free(r);
}

/* ---- waiting ---- */

typedef struct waited {
    rig *r;
    phi_agent agent;
    phi_response response;
    size_t events;
    phi_status inside;
    bool frees;
} waited;

static void waited_event(void *user_data, const phi_event *event) {
    waited *w = (waited *)user_data;
    w->events++;
    if (w->frees && event->kind == PHI_EV_TURN_START) phi_agent_free(w->agent);
}

static phi_verdict waited_hook(void *user_data, phi_hook *hook) {
    waited *w = (waited *)user_data;
    (void)hook;
    w->inside = phi_response_await(w->response, 0, NULL, NULL);
    return PHI_ALLOW;
}

TEST(a_request_is_awaited_with_its_events) {
    waited w;
    phi_response none;
    memset(&w, 0, sizeof w);
    memset(&none, 0, sizeof none);
    w.r = rig_new();
    w.agent = rig_agent(w.r, NULL);
    rig_says(w.r, "an answer");
    CHECK_EQ_INT(prompt_for(w.agent, "a question", &w.response), PHI_OK);
    CHECK_EQ_INT(phi_response_await(w.response, PHI_UNLIMITED, waited_event, &w), PHI_OK);
    CHECK(w.events > 5);
    CHECK_STR(info_of(w.response).text, "an answer");
    CHECK_EQ_INT(phi_response_await(w.response, 0, NULL, NULL), PHI_OK); /* done already */
    phi_response_free(w.response);
    CHECK_EQ_INT(phi_response_await(w.response, 1000, NULL, NULL), PHI_STALE);
    CHECK_EQ_INT(phi_response_await(none, 1000, NULL, NULL), PHI_BAD_ARG);
    rig_says(w.r, "another");
    CHECK_EQ_INT(prompt_for(w.agent, "again", &w.response), PHI_OK);
    w.frees = true;
    CHECK_EQ_INT(phi_response_await(w.response, PHI_UNLIMITED, waited_event, &w), PHI_STALE);
    rig_free(w.r);
}

TEST(awaiting_inside_a_callback_is_refused) {
    waited w;
    phi_agent_desc desc = rig_desc();
    memset(&w, 0, sizeof w);
    w.r = rig_new();
    desc.hook_points = PHI_HOOK_BEFORE_TURN;
    desc.hook_fn = waited_hook;
    desc.hook_user_data = &w;
    w.agent = rig_agent(w.r, &desc);
    rig_says(w.r, "an answer");
    CHECK_EQ_INT(prompt_for(w.agent, "a question", &w.response), PHI_OK);
    CHECK_EQ_INT(phi_response_await(w.response, PHI_UNLIMITED, NULL, NULL), PHI_OK);
    CHECK_EQ_INT(w.inside, PHI_MISUSE);
    CHECK_EQ_STR(last_words(w.r), "phi_response_await: inside a callback");
    rig_free(w.r);
}

typedef struct mute {
    int opened, closed;
} mute;

static phi_status mute_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    ((mute *)user_data)->opened++;
    return PHI_OK;
}

static phi_poll mute_poll(void *user_data, void *call, phi_answer *answer) {
    (void)user_data;
    (void)call;
    (void)answer;
    return PHI_POLL_AGAIN;
}

static void mute_close(void *user_data, void *call) {
    (void)call;
    ((mute *)user_data)->closed++;
}

/* On the real clock: a model in the process that never says a word. */
TEST(awaiting_ends_in_time_whatever_hangs_and_the_run_continues) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_agent_desc desc;
    phi_provider provider;
    phi_agent agent;
    phi_response response;
    mute model = {0, 0};
    int i;
    memset(&desc, 0, sizeof desc);
    memset(&provider, 0, sizeof provider);
    provider.protocol = "mute";
    provider.user_data = &model;
    provider.open = mute_open;
    provider.poll = mute_poll;
    provider.close = mute_close;
    desc.model.protocol = "mute";
    desc.model.id = "mute";
    desc.provider = &provider;
    agent = phi_agent_new(rt, &desc);
    CHECK_EQ_INT(prompt_for(agent, "a question", &response), PHI_OK);
    CHECK_EQ_INT(phi_response_await(response, 0, NULL, NULL), PHI_TIMEOUT);
    for (i = 0; i < 100 && model.opened == 0; i++) (void)phi_step(rt, 0);
    CHECK_EQ_INT(phi_response_await(response, 15, NULL, NULL), PHI_TIMEOUT);
    CHECK_EQ_INT(info_of(response).state, PHI_RESPONSE_RUNNING);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(phi_response_await(response, 1000, NULL, NULL), PHI_OK);
    CHECK_EQ_INT(info_of(response).state, PHI_RESPONSE_CANCELLED);
    CHECK(model.opened == 1 && model.closed == 1);
    phi_runtime_free(rt);
}

TEST_MAIN(TEST_ENTRY(a_response_tells_what_became_of_a_request),
          TEST_ENTRY(while_tools_run_the_last_answer_and_the_usage_so_far_are_seen),
          TEST_ENTRY(a_failed_request_says_why),
          TEST_ENTRY(a_limit_that_ended_the_run_is_a_failure_with_the_last_answer),
          TEST_ENTRY(an_aborted_request_is_cancelled_and_keeps_what_was_said),
          TEST_ENTRY(a_run_that_a_hook_denied_or_a_filter_rejected_has_failed),
          TEST_ENTRY(busy_is_an_answer_that_changes_nothing),
          TEST_ENTRY(the_newest_sixteen_responses_of_an_agent_are_kept),
          TEST_ENTRY(letting_go_of_a_response_leaves_the_run_alone),
          TEST_ENTRY(a_later_run_does_not_touch_an_earlier_response),
          TEST_ENTRY(responses_die_with_their_agent_its_reset_and_its_history),
          TEST_ENTRY(a_request_says_what_is_wrong_with_it),
          TEST_ENTRY(many_agents_have_many_requests_at_once),
          TEST_ENTRY(a_request_without_memory_changes_nothing),
          TEST_ENTRY(a_response_ends_whatever_memory_the_run_lacked),
          TEST_ENTRY(hooks_may_free_the_response_or_its_agent),
          TEST_ENTRY(a_runtime_may_be_freed_with_requests_under_way),
          TEST_ENTRY(a_response_says_what_its_run_cost),
          TEST_ENTRY(a_request_is_awaited_with_its_events),
          TEST_ENTRY(awaiting_inside_a_callback_is_refused),
          TEST_ENTRY(awaiting_ends_in_time_whatever_hangs_and_the_run_continues))
