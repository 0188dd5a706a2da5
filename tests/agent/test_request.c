/* test_request.c - what a request has of its own: tools, limits, how long it waits, an id and what the host says about it. */
#include "support/rig.h"
#include "record/event_json.h"

#include "agent/response.h"
#include "agent/snapshot.h"
#include "support/request.h"
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "model/event.h"
#include "log/log_in.h"

typedef struct scene {
    rig *r;
    phi_tool tools[2];
    phi_agent_desc desc;
    phi_agent agent;
} scene;

static void begin(scene *s) {
    memset(s, 0, sizeof *s);
    s->r = rig_new();
    s->tools[0] = rig_echo();
    s->tools[1] = rig_wait(s->r);
    s->desc = rig_desc();
    s->desc.tools = s->tools;
    s->desc.tool_count = 2;
    s->agent = rig_agent(s->r, &s->desc);
}

static phi_response ask(scene *s, phi_prompt_desc desc) {
    phi_response response;
    desc.text = "go";
    CHECK_EQ_INT(phi_prompt_with(s->agent, &desc, &response), PHI_OK);
    (void)rig_run_until(s->r, 2000000);
    return response;
}

static bool offers(scene *s, size_t request, const char *tool) {
    char name[40];
    (void)snprintf(name, sizeof name, "\"name\":\"%s\"", tool);
    return strstr(rig_request(s->r, request), name) != NULL;
}

static const char *refused(scene *s, const phi_prompt_desc *desc) {
    const char *words = "";
    phi_response response;
    CHECK_EQ_INT(phi_prompt_with(s->agent, desc, &response), PHI_BAD_ARG);
    CHECK(phi_response_get(response).done && !phi_agent_get_info(s->agent).running);
    words = phi_last_error(rig_runtime(s->r)).message;
    return words;
}

TEST(a_request_is_offered_the_tools_that_it_names_and_no_others) {
    static const char *const echo[] = {"echo"};
    scene s;
    phi_prompt_desc desc = PHI_ZERO;
    begin(&s);
    rig_call(s.r, "c1", "wait", "{}"); /* which it was not offered */
    rig_says(s.r, "well");
    rig_says(s.r, "well");
    rig_says(s.r, "well");
    desc.allowed_tools = echo;
    desc.allowed_count = 1;
    (void)ask(&s, desc);
    CHECK(offers(&s, 0, "echo") && !offers(&s, 0, "wait"));
    CHECK_EQ_INT((int)rig_started(s.r), 0);
    CHECK(strstr(rig_request(s.r, 1), "wait") != NULL); /* the call, with its error result */
    CHECK(strstr(rig_request(s.r, 1), "\"is_error\":true") != NULL);
    desc.allowed_tools = NULL;
    desc.allowed_count = 0;
    desc.no_tools = true;
    (void)ask(&s, desc);
    CHECK(strstr(rig_request(s.r, 2), "\"tools\"") == NULL);
    desc.no_tools = false;
    (void)ask(&s, desc);
    CHECK(offers(&s, 3, "echo") && offers(&s, 3, "wait"));
    rig_free(s.r);
}

TEST(tools_that_are_not_there_are_refused_by_name) {
    static const char *const names[] = {"echo", "sing"};
    static const char *const none[] = {NULL};
    scene s;
    phi_tool own = PHI_ZERO;
    phi_prompt_desc desc = PHI_ZERO;
    begin(&s);
    desc.text = "go";
    desc.allowed_tools = names;
    desc.allowed_count = 2;
    CHECK_EQ_STR(refused(&s, &desc),
                 "phi_prompt_with: allowed_tools[1]: the agent has no tool \"sing\"");
    desc.tools = &s.tools[1];
    desc.tool_count = 1;
    CHECK_EQ_STR(refused(&s, &desc),
                 "phi_prompt_with: allowed_tools[0]: the request has no tool \"echo\"");
    desc.tools = NULL;
    CHECK_EQ_STR(refused(&s, &desc), "tools is missing, tool_count is 1");
    desc.no_tools = true;
    CHECK_EQ_STR(refused(&s, &desc), "phi_prompt_with: tools is given, and no_tools is set");
    desc.tool_count = 0;
    CHECK_EQ_STR(refused(&s, &desc),
                 "phi_prompt_with: allowed_tools is given, and no_tools is set");
    desc.no_tools = false;
    desc.allowed_tools = NULL;
    CHECK_EQ_STR(refused(&s, &desc), "phi_prompt_with: allowed_tools is NULL, allowed_count is 2");
    desc.allowed_tools = none;
    desc.allowed_count = 1;
    CHECK_EQ_STR(refused(&s, &desc),
                 "phi_prompt_with: allowed_tools[0]: the agent has no tool \"\"");
    desc.allowed_count = 0;
    own.name = "no start";
    desc.tools = &own;
    desc.tool_count = 1;
    CHECK_EQ_STR(refused(&s, &desc), "tool \"no start\": start is missing");
    rig_free(s.r);
}

TEST(a_request_brings_tools_of_its_own) {
    static const char *const sing[] = {"sing"};
    scene s;
    phi_tool own[2];
    phi_prompt_desc desc = PHI_ZERO;
    phi_response_info info;
    begin(&s);
    own[0] = rig_echo();
    own[0].name = "sing";
    own[1] = rig_echo();
    own[1].name = "dance";
    desc.tools = own;
    desc.tool_count = 2;
    rig_call(s.r, "c1", "sing", "{\"a\":\"song\"}");
    rig_call(s.r, "c2", "echo", "{}"); /* the agent's, which this run has not */
    rig_says(s.r, "well");
    CHECK_EQ_INT(response_get(ask(&s, desc), &info), PHI_OK);
    CHECK_EQ_INT(info.status, PHI_OK);
    CHECK(offers(&s, 0, "sing") && offers(&s, 0, "dance"));
    CHECK(!offers(&s, 0, "echo") && !offers(&s, 0, "wait"));
    CHECK(strstr(rig_request(s.r, 1), "song") != NULL);
    CHECK(strstr(rig_request(s.r, 1), "\"is_error\":true") == NULL);
    CHECK(strstr(rig_request(s.r, 2), "\"is_error\":true") != NULL);
    desc.allowed_tools = sing;
    desc.allowed_count = 1;
    rig_says(s.r, "well");
    (void)ask(&s, desc);
    CHECK(offers(&s, 3, "sing") && !offers(&s, 3, "dance"));
    memset(own, 0, sizeof own); /* borrowed no longer */
    memset(&desc, 0, sizeof desc);
    rig_says(s.r, "well");
    (void)ask(&s, desc);
    CHECK(offers(&s, 4, "echo") && offers(&s, 4, "wait") && !offers(&s, 4, "dance"));
    rig_free(s.r);
}

TEST(without_memory_for_its_tools_a_request_is_refused) {
    int n;
    for (n = 0; n < 100; n++) {
        scene s;
        phi_tool own;
        phi_prompt_desc desc = PHI_ZERO;
        phi_response response;
        phi_status status;
        bool tripped;
        begin(&s);
        own = rig_echo();
        own.name = "sing";
        desc.text = "go";
        desc.tools = &own;
        desc.tool_count = 1;
        rig_says(s.r, "well");
        test_alloc_fail_at(n);
        status = phi_prompt_with(s.agent, &desc, &response);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(status == PHI_OK ||
              (status == PHI_NO_MEMORY && !phi_agent_get_info(s.agent).running));
        (void)rig_run_until(s.r, 2000000);
        rig_free(s.r);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        if (!tripped) break;
    }
    CHECK(n > 5 && n < 100);
}

TEST(limits_of_a_request_end_its_run_and_no_other) {
    scene s;
    phi_limits limits = PHI_ZERO;
    phi_prompt_desc desc = PHI_ZERO;
    phi_response_info info;
    int i;
    begin(&s);
    limits.max_turns = 2;
    desc.limits = &limits;
    for (i = 0; i < 3; i++) rig_call(s.r, "c1", "echo", "{\"n\":1}");
    CHECK_EQ_INT(response_get(ask(&s, desc), &info), PHI_OK);
    CHECK_EQ_INT(info.status, PHI_LIMIT);
    CHECK_EQ_INT((int)rig_requests(s.r), 2);
    desc.limits = NULL;
    rig_says(s.r, "done");
    CHECK_EQ_INT(response_get(ask(&s, desc), &info), PHI_OK);
    CHECK_EQ_INT(info.status, PHI_OK);
    CHECK_EQ_INT((int)rig_requests(s.r), 4);
    rig_free(s.r);
}

TEST(a_request_waits_for_decisions_as_long_as_it_says) {
    phi_pending_item item;
    phi_prompt_desc desc = PHI_ZERO;
    phi_response response;
    scene s;
    begin(&s);
    phi_agent_free(s.agent);
    rig_hooks(s.r, &s.desc, PHI_HOOK_BEFORE_TURN);
    rig_answers(s.r, PHI_HOOK_BEFORE_TURN, PHI_WAIT, NULL);
    s.agent = rig_agent(s.r, &s.desc);
    desc.text = "go";
    desc.decision_timeout_ms = 700;
    CHECK_EQ_INT(phi_prompt_with(s.agent, &desc, &response), PHI_OK);
    (void)rig_run(s.r, 5);
    CHECK_EQ_INT((item = phi_agent_get_info(s.agent).waiting).kind, PHI_WAITING_DECISION);
    CHECK(item.has_deadline && item.left_ms <= 700 && item.left_ms > 600);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    (void)rig_run(s.r, 5);
    rig_free(s.r);
}

TEST(a_request_has_an_id_and_its_query_and_the_log_keeps_what_the_host_says_about_it) {
    phi_prompt_desc desc = PHI_ZERO;
    phi_response_info one, two;
    phi_response first;
    const phi_message *m;
    scene s;
    begin(&s);
    rig_says(s.r, "yes");
    rig_says(s.r, "no");
    desc.id = "ticket-7";
    desc.refs = "{\"page\":3}";
    first = ask(&s, desc);
    CHECK_EQ_INT(response_get(first, &one), PHI_OK);
    CHECK_STR(one.id, "ticket-7");
    CHECK_STR(one.query, "go");
    m = phi_thread_message_at(phi_agent_thread(s.agent), 0);
    REQUIRE(m != NULL);
    CHECK_STR(m->details, "{\"request_id\":\"ticket-7\",\"refs\":{\"page\":3}}");
    CHECK(strstr(rig_request(s.r, 0), "ticket-7") == NULL); /* never sent */
    desc.id = desc.refs = NULL;
    CHECK_EQ_INT(response_get(ask(&s, desc), &two), PHI_OK);
    CHECK(two.id.len == 36 && !phi_str_equal(one.id, two.id));
    CHECK_EQ_INT((int)phi_thread_message_at(phi_agent_thread(s.agent), 2)->details.len, 0);
    desc.text = "go";
    desc.refs = "{";
    CHECK_EQ_STR(refused(&s, &desc), "phi_prompt_with: refs is no JSON");
    desc.refs = NULL;
    desc.id = "";
    CHECK_EQ_STR(refused(&s, &desc), "phi_prompt_with: id: expected 1 to 128 bytes of UTF-8");
    desc.id = "\xff";
    CHECK_EQ_STR(refused(&s, &desc), "phi_prompt_with: id: expected 1 to 128 bytes of UTF-8");
    rig_free(s.r);
}

TEST(a_saved_run_keeps_what_its_request_has_of_its_own) {
    static const char *const names[] = {"wait"};
    phi_limits limits = PHI_ZERO;
    phi_prompt_desc desc = PHI_ZERO;
    phi_pending_item item;
    phi_response response;
    phi_memory memory;
    phi_arena arena;
    phi_str saved = {NULL, 0};
    scene s;
    begin(&s);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    limits.max_turns = 1;
    desc.text = "go";
    desc.limits = &limits;
    desc.allowed_tools = names;
    desc.allowed_count = 1;
    rig_call(s.r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt_with(s.agent, &desc, &response), PHI_OK);
    (void)rig_run(s.r, 10);
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &arena, &saved), PHI_OK);
    phi_agent_free(s.agent);
    s.agent = phi_agent_restore(rig_runtime(s.r), &s.desc, saved, PHI_RESTORE_RESUME);
    phi_arena_free(&arena);
    REQUIRE(s.agent.rt != NULL);
    (void)rig_run(s.r, 5);
    REQUIRE((item = phi_agent_get_info(s.agent).waiting).kind == PHI_WAITING_CALL);
    {
        phi_raise more = PHI_ZERO;
        more.turns = 1;
        CHECK_EQ_INT(phi_budget_raise(s.agent, &more), PHI_OK);
    }
    rig_says(s.r, "done");
    CHECK_EQ_INT(phi_call_reply(item.call, "found"), PHI_OK);
    (void)rig_run(s.r, 20);
    CHECK_EQ_INT((int)rig_requests(s.r), 2);
    CHECK(offers(&s, 1, "wait") && !offers(&s, 1, "echo"));
    rig_free(s.r);
}

TEST(a_saved_run_with_tools_of_its_own_goes_on_with_those_that_the_agent_has) {
    phi_tool own[2];
    phi_prompt_desc desc = PHI_ZERO;
    phi_pending_item item;
    phi_response response;
    phi_memory memory;
    phi_arena arena;
    phi_str saved = {NULL, 0};
    scene s;
    begin(&s);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    own[0] = s.tools[1]; /* "wait", which the agent has as well */
    own[1] = rig_echo();
    own[1].name = "sing";
    desc.text = "go";
    desc.tools = own;
    desc.tool_count = 2;
    rig_call(s.r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt_with(s.agent, &desc, &response), PHI_OK);
    (void)rig_run(s.r, 10);
    CHECK(offers(&s, 0, "wait") && offers(&s, 0, "sing"));
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &arena, &saved), PHI_OK);
    phi_agent_free(s.agent);
    s.agent = phi_agent_restore(rig_runtime(s.r), &s.desc, saved, PHI_RESTORE_RESUME);
    phi_arena_free(&arena);
    REQUIRE(s.agent.rt != NULL);
    (void)rig_run(s.r, 5);
    REQUIRE((item = phi_agent_get_info(s.agent).waiting).kind == PHI_WAITING_CALL);
    rig_says(s.r, "done");
    CHECK_EQ_INT(phi_call_reply(item.call, "found"), PHI_OK);
    (void)rig_run(s.r, 20);
    CHECK_EQ_INT((int)rig_requests(s.r), 2);
    CHECK(offers(&s, 1, "wait") && !offers(&s, 1, "sing") && !offers(&s, 1, "echo"));
    rig_free(s.r);
}

/* ---- what is said to a run that goes on ---- */

TEST(what_is_put_into_a_queue_can_name_its_run_and_keeps_what_the_host_says_about_it) {
    phi_enqueue_desc what = PHI_ZERO;
    const phi_message *m = NULL;
    const char *words = "";
    phi_prompt_desc desc = PHI_ZERO;
    phi_response response;
    size_t i;
    scene s;
    begin(&s);
    what.queue = PHI_INPUT_STEERING;
    what.text = "  the other one ";
    what.id = "ticket-8";
    what.refs = "[8]";
    what.loop_id = "nobody";
    CHECK_EQ_INT(phi_enqueue(s.agent, &what), PHI_NOT_FOUND);
    words = phi_last_error(rig_runtime(s.r)).message;
    CHECK_EQ_STR(words, "phi_enqueue: loop_id: no run \"nobody\" goes on");
    rig_call(s.r, "c1", "wait", "{}");
    rig_says(s.r, "done");
    desc.text = "go";
    CHECK_EQ_INT(phi_prompt_with(s.agent, &desc, &response), PHI_OK);
    (void)rig_run(s.r, 10);
    CHECK_EQ_INT(phi_enqueue(s.agent, &what), PHI_NOT_FOUND);
    what.loop_id = phi_agent_get_info(s.agent).loop_id.at;
    CHECK_EQ_INT(phi_enqueue(s.agent, &what), PHI_OK);
    what.queue = PHI_INPUT_INJECTED;
    what.id = NULL;
    what.text = "it rains";
    CHECK_EQ_INT(phi_enqueue(s.agent, &what), PHI_OK);
    rig_finish(s.r, 0, "found");
    (void)rig_run(s.r, 20);
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(s.agent)); i++) {
        m = phi_thread_message_at(phi_agent_thread(s.agent), i);
        if (m->role != PHI_ROLE_USER) continue;
        if (phi_str_equal(m->content[0].text, phi_str_of("the other one")))
            CHECK_STR(m->details, "{\"request_id\":\"ticket-8\",\"refs\":[8]}");
        else if (phi_str_equal(m->content[0].text, phi_str_of("it rains")))
            CHECK_STR(m->details, "{\"refs\":[8]}");
        else
            CHECK(m->details.len == 0);
    }
    CHECK(strstr(rig_request(s.r, 1), "the other one") != NULL);
    CHECK(strstr(rig_request(s.r, 1), "it rains") != NULL);
    CHECK(strstr(rig_request(s.r, 1), "ticket") == NULL);
    what.refs = "x";
    what.queue = PHI_INPUT_FOLLOW_UP;
    what.loop_id = NULL;
    CHECK_EQ_INT(phi_enqueue(s.agent, &what), PHI_BAD_ARG);
    what.refs = NULL;
    what.text = " ";
    CHECK_EQ_INT(phi_enqueue(s.agent, &what), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_enqueue(s.agent, NULL), PHI_BAD_ARG);
    rig_free(s.r);
}

typedef struct heard_abort {
    char reason[80], json[400];
    phi_status status;
} heard_abort;

static void abort_event(void *user_data, const phi_event *e) {
    heard_abort *h = (heard_abort *)user_data;
    phi_memory memory;
    phi_arena arena;
    phi_event back;
    phi_str json;
    if (e->kind != PHI_EV_AGENT_END) return;
    h->status = e->status;
    (void)snprintf(h->reason, sizeof h->reason, "%.*s", (int)e->source.len, e->source.at);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(e, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_event_from_json(json, &arena, &back, NULL), PHI_OK);
    CHECK(phi_str_equal(back.source, e->source));
    phi_arena_free(&arena);
}

TEST(an_abort_can_name_its_run_and_say_why) {
    phi_prompt_desc desc = PHI_ZERO;
    phi_response response;
    phi_thread *thread;
    heard_abort h = PHI_ZERO;
    phi_entry e;
    uint64_t seq;
    int notes = 0;
    scene s;
    begin(&s);
    rig_watch(s.r, abort_event, &h);
    CHECK_EQ_INT(phi_abort_run(s.agent, NULL, "no"), PHI_NOT_FOUND);
    rig_call(s.r, "c1", "wait", "{}");
    desc.text = "go";
    CHECK_EQ_INT(phi_prompt_with(s.agent, &desc, &response), PHI_OK);
    (void)rig_run(s.r, 10);
    CHECK_EQ_INT(phi_abort_run(s.agent, "another", "no"), PHI_NOT_FOUND);
    CHECK_EQ_INT(
        phi_abort_run(s.agent, phi_agent_get_info(s.agent).loop_id.at, "the \"user\" left"),
        PHI_OK);
    (void)rig_run(s.r, 10);
    CHECK_EQ_INT(h.status, PHI_CANCELLED);
    CHECK_EQ_STR(h.reason, "the \"user\" left");
    thread = phi_agent_thread(s.agent);
    for (seq = 0; phi_thread_entry(thread, seq, &e) == PHI_OK; seq++) {
        if (e.kind != PHI_ENTRY_NOTE) continue;
        notes++;
        CHECK_STR(e.note_kind, PHI_NOTE_ABORT);
        CHECK(strstr(e.note.at, "\"reason\":\"the \\\"user\\\" left\"}") != NULL);
    }
    CHECK_EQ_INT(notes, 1);
    rig_says(s.r, "well");
    CHECK_EQ_INT(phi_prompt_with(s.agent, &desc, &response), PHI_OK);
    CHECK_EQ_INT(phi_abort_run(s.agent, NULL, NULL), PHI_OK);
    (void)rig_run(s.r, 10);
    CHECK_EQ_INT(h.status, PHI_CANCELLED);
    CHECK_EQ_STR(h.reason, "");
    rig_free(s.r);
}

TEST(what_a_paused_run_waits_for_stays_readable_while_it_is_aborted) {
    phi_limits limits = PHI_ZERO;
    phi_prompt_desc desc = PHI_ZERO;
    phi_pending_item item;
    phi_response response;
    char reason[2001], limit[120];
    scene s;
    begin(&s);
    memset(reason, 'r', sizeof reason - 1);
    reason[sizeof reason - 1] = '\0';
    limits.max_turns = 1;
    limits.pause = true;
    desc.text = "go";
    desc.limits = &limits;
    rig_call(s.r, "c1", "echo", "{}");
    CHECK_EQ_INT(phi_prompt_with(s.agent, &desc, &response), PHI_OK);
    (void)rig_run(s.r, 20);
    REQUIRE((item = phi_agent_get_info(s.agent).waiting).kind == PHI_WAITING_BUDGET);
    (void)snprintf(limit, sizeof limit, "%.*s", (int)item.text.len, item.text.at);
    CHECK_EQ_INT(phi_abort_run(s.agent, NULL, reason), PHI_OK);
    CHECK_EQ_INT(phi_abort_run(s.agent, NULL, reason + 1),
                 PHI_OK); /* once more: the last one counts */
    CHECK_STR(item.text, limit);
    (void)rig_run(s.r, 10);
    rig_free(s.r);
}

TEST(an_allocation_that_fails_while_it_is_asked_leaves_nothing) {
    static const char *const names[] = {"wait"};
    int n, done = 0;
    for (n = 0; n < 200 && !done; n++) {
        phi_prompt_desc desc = PHI_ZERO;
        phi_response response;
        phi_status status;
        scene s;
        begin(&s);
        desc.text = "go";
        desc.id = "a";
        desc.refs = "[1]";
        desc.allowed_tools = names;
        desc.allowed_count = 1;
        rig_says(s.r, "done");
        test_alloc_fail_at(n);
        status = phi_prompt_with(s.agent, &desc, &response);
        done = !test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(status == (done ? PHI_OK : PHI_NO_MEMORY) || status == PHI_OK);
        (void)rig_run(s.r, 20);
        rig_free(s.r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(done);
}

TEST_MAIN(
    TEST_ENTRY(a_request_is_offered_the_tools_that_it_names_and_no_others),
    TEST_ENTRY(tools_that_are_not_there_are_refused_by_name),
    TEST_ENTRY(a_request_brings_tools_of_its_own),
    TEST_ENTRY(without_memory_for_its_tools_a_request_is_refused),
    TEST_ENTRY(limits_of_a_request_end_its_run_and_no_other),
    TEST_ENTRY(a_request_waits_for_decisions_as_long_as_it_says),
    TEST_ENTRY(a_request_has_an_id_and_its_query_and_the_log_keeps_what_the_host_says_about_it),
    TEST_ENTRY(a_saved_run_keeps_what_its_request_has_of_its_own),
    TEST_ENTRY(a_saved_run_with_tools_of_its_own_goes_on_with_those_that_the_agent_has),
    TEST_ENTRY(what_is_put_into_a_queue_can_name_its_run_and_keeps_what_the_host_says_about_it),
    TEST_ENTRY(an_abort_can_name_its_run_and_say_why),
    TEST_ENTRY(what_a_paused_run_waits_for_stays_readable_while_it_is_aborted),
    TEST_ENTRY(an_allocation_that_fails_while_it_is_asked_leaves_nothing))
