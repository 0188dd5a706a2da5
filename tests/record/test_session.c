/* test_session.c - sessions of living agents, and the log seen as a session. */
#include "support/recorded.h"
#include "record/two_runs.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"

/* ---- living agents ---- */
TEST(an_agent_s_runs_become_loops_with_turns_and_a_snapshot) {
    const phi_loop_record *loop;
    phi_agent agent;
    rig *r = two_runs(NULL, &agent, false);
    loop = loop_of("s", "s.c.1");
    REQUIRE(loop != NULL);
    CHECK_STR(loop->agent_id, "a");
    CHECK_EQ_INT(loop->status, PHI_LOOP_COMPLETED);
    CHECK_EQ_INT(loop->message_count, 4);
    REQUIRE(loop->turn_count == 2);
    CHECK_EQ_INT(loop->turns[0].input_count, 1);
    CHECK_EQ_INT(loop->turns[0].result_count, 1);
    CHECK_EQ_INT(loop->turns[1].input_count, 0);
    CHECK_EQ_INT(loop->turns[1].trigger, PHI_TRIGGER_CONTINUATION);
    CHECK_EQ_INT(loop->turns[1].request.len, 0);
    REQUIRE(loop->config != NULL);
    CHECK_STR(loop->config->config_id, "c");
    CHECK_STR(loop->config->api, "anthropic_messages");
    CHECK_STR(loop_of("s", "s.c.2")->parent_loop_id, ""); /* a prompt begins a root */
    CHECK_EQ_INT(phi_session_loops(session_of("s"), PHI_LOOP_ROOTS, phi_str_of(""), NULL, 0), 2);
    CHECK_EQ_INT(session_usage(session_of("s")).total_tokens,
                 phi_agent_get_info(agent).usage.total_tokens);
    rec_end();
    rig_free(r);
}

TEST(a_session_outlives_its_agent_and_its_runtime) {
    phi_session *s;
    phi_agent agent;
    rig *r = two_runs(NULL, &agent, false);
    rig_free(r);
    (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
    s = phi_recorder_drain(rec);
    rec_end();
    REQUIRE(s != NULL);
    CHECK_EQ_INT(s->loop_count, 2);
    CHECK_EQ_INT(s->loops[1]->message_count, 2);
    CHECK_STR(s->loops[1]->messages[1].content[0].text, "two");
    phi_session_free(s);
}

/* ---- links in any order ---- */

static void check_spawned(const char *call) {
    const phi_session *child = session_of("child");
    REQUIRE(child != NULL && child->parent != NULL);
    CHECK_STR(child->parent->parent_session_id, "parent");
    CHECK_STR(child->parent->parent_loop_id, "parent.m.1");
    CHECK_STR(child->parent->tool_call_id, call);
    CHECK_STR(child->parent->tool_name, "sub_agent");
    CHECK_EQ_INT(loop_of("parent", "parent.m.1")->spawned_count, 1);
}

TEST(a_child_that_begins_after_its_call_has_ended_finds_its_parent_told_of_it_or_not) {
    int told;
    for (told = 0; told < 2; told++) {
        rec_begin(NULL);
        start("parent", "parent.m.1", NULL, 0);
        call_end("parent.m.1", "call-1", "child.m.1");
        stop("parent.m.1", 1);
        CHECK_EQ_INT(phi_recorder_flush(rec, PHI_FLUSH_IDLE), 1);
        both("child", "child.m.1", told == 1 ? "parent.m.1" : NULL, 2);
        check_spawned("call-1");
        rec_end();
    }
}

TEST(a_child_that_was_not_told_of_its_parent_is_linked_by_the_call_s_end) {
    rec_begin(NULL);
    start("parent", "parent.m.1", NULL, 0);
    both("child", "child.m.1", NULL, 1);
    call_end("parent.m.1", "call-1", "child.m.1");
    call_end("parent.m.1", "call-1", "child.m.1"); /* said twice */
    check_spawned("call-1");
    rec_end();
}

TEST(a_flush_between_a_child_s_end_and_its_call_s_end_keeps_the_links) {
    int told;
    for (told = 0; told < 2; told++) {
        rec_begin(NULL);
        start("parent", "parent.m.1", NULL, 0);
        both("child", "child.m.1", told == 1 ? "parent.m.1" : NULL, 1);
        (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
        call_end("parent.m.1", "call-1", "child.m.1");
        call_end("parent.m.1", "call-1", "child.m.1");
        call_end("nobody.m.1", "call-1", "child.m.1");
        check_spawned("call-1");
        CHECK_EQ_INT(loop_of("parent", "parent.m.1")->status, PHI_LOOP_ABORTED);
        CHECK_EQ_INT(loop_of("parent", "parent.m.1")->event_count, 1); /* its beginning */
        CHECK_EQ_INT(loop_of("child", "child.m.1")->status, PHI_LOOP_COMPLETED);
        rec_end();
    }
}

TEST(sessions_that_were_drained_and_given_back_are_linked_by_the_call_s_end) {
    phi_session *drained[2];
    int i;
    rec_begin(NULL);
    start("parent", "parent.m.1", NULL, 0);
    both("child", "child.m.1", NULL, 1);
    (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
    for (i = 0; i < 2; i++) drained[i] = phi_recorder_drain(rec);
    call_end("parent.m.1", "call-0", "child.m.1"); /* nobody is there to be linked */
    for (i = 0; i < 2; i++) CHECK_EQ_INT(phi_recorder_resume(rec, drained[i]), PHI_OK);
    call_end("parent.m.1", "call-1", "child.m.1");
    check_spawned("call-1");
    rec_end();
}

TEST(a_child_whose_parent_is_not_known_names_it_by_its_id) {
    rec_begin(NULL);
    both("child", "child.m.1", "elsewhere.m.1", 1);
    REQUIRE(session_of("child")->parent != NULL);
    CHECK_STR(session_of("child")->parent->parent_session_id, "elsewhere");
    CHECK_EQ_INT(phi_session_loops(session_of("child"), PHI_LOOP_ROOTS, phi_str_of(""), NULL, 0),
                 1);
    rec_end();
}

TEST(a_group_may_be_announced_before_its_session) {
    phi_recorder_desc desc;
    memset(&desc, 0, sizeof desc);
    rec_begin(&desc);
    feed("{'type':'ParallelLoopStart','session_id':'s','loop_ids':['s.a.1','s.b.1']}");
    CHECK_EQ_INT(phi_recorder_flush(rec, PHI_FLUSH_IDLE), 0); /* two are pending */
    both("s", "s.b.1", NULL, 1);
    CHECK_STR(session_of("s")->agent_id, "agent");
    (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
    CHECK_EQ_INT(loop_of("s", "s.a.1")->status, PHI_LOOP_ABORTED);
    CHECK_EQ_INT(loop_of("s", "s.b.1")->status, PHI_LOOP_COMPLETED);
    CHECK_STR(loop_of("s", "s.b.1")->group->selected_loop_id, "");
    rec_end();
}

/* ---- requests ---- */

TEST(what_was_sent_stands_in_the_turn_only_where_it_was_asked_for) {
    phi_recorder_desc desc;
    int wanted;
    memset(&desc, 0, sizeof desc);
    for (wanted = 0; wanted < 2; wanted++) {
        const phi_loop_record *loop;
        phi_agent agent;
        phi_session *s;
        phi_str json;
        phi_arena arena;
        phi_memory memory;
        phi_allocator allocator = test_allocator();
        rig *r;
        desc.turn_requests = wanted == 1;
        r = two_runs(&desc, &agent, true);
        loop = loop_of("s", "s.c.1");
        CHECK_EQ_INT(loop->turns[0].request.len > 0, wanted == 1);
        CHECK_EQ_INT(loop->turns[1].request.len > 0, wanted == 1);
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        REQUIRE(phi_session_to_json(session_of("s"), 0, &arena, &json) == PHI_OK);
        CHECK_EQ_INT(phi__str_find(json, 0, "request_payload") != SIZE_MAX, wanted == 1);
        CHECK_EQ_INT(phi__str_find(json, 0, "TurnRequest") != SIZE_MAX, wanted == 1);
        REQUIRE(phi_session_from_json(json, &allocator, 0, &s, NULL) == PHI_OK);
        CHECK(phi_str_equal(s->loops[0]->turns[0].request, loop->turns[0].request));
        phi_session_free(s);
        phi_arena_free(&arena);
        rec_end();
        rig_free(r);
    }
}

/* ---- the log ---- */

TEST(the_log_seen_as_a_session_has_the_loops_that_the_recorder_saw) {
    phi_allocator allocator = test_allocator();
    phi_agent agent;
    phi_session *s;
    phi_usage usage;
    size_t i, messages = 0;
    uint64_t seq;
    phi_entry entry;
    rig *r = two_runs(NULL, &agent, false);
    REQUIRE(phi_session_of_thread(phi_agent_thread(agent), &allocator, &s) == PHI_OK);
    CHECK_STR(s->session_id, "s");
    CHECK_STR(s->agent_id, "a");
    REQUIRE(s->loop_count == 2);
    for (i = 0; i < 2; i++) {
        const phi_loop_record *mine = s->loops[i], *its = session_of("s")->loops[i];
        size_t j;
        CHECK(phi_str_equal(mine->loop_id, its->loop_id));
        CHECK_EQ_INT(mine->status, PHI_LOOP_COMPLETED);
        CHECK_EQ_INT(mine->message_count, its->message_count);
        CHECK_EQ_INT(mine->turn_count, its->turn_count);
        CHECK_EQ_INT(mine->usage.total_tokens, its->usage.total_tokens);
        CHECK_EQ_INT(mine->child_count, its->child_count);
        for (j = 0; j < mine->turn_count; j++) {
            CHECK_EQ_INT(mine->turns[j].turn_index, its->turns[j].turn_index);
            CHECK_EQ_INT(mine->turns[j].trigger, its->turns[j].trigger);
            CHECK_EQ_INT(mine->turns[j].input_count, its->turns[j].input_count);
            CHECK_EQ_INT(mine->turns[j].result_count, its->turns[j].result_count);
            CHECK(mine->turns[j].output != NULL);
        }
        messages += mine->message_count;
    }
    for (seq = 0; phi_thread_entry(phi_agent_thread(agent), seq, &entry) == PHI_OK; seq++)
        if (entry.kind == PHI_ENTRY_MESSAGE) messages--;
    CHECK_EQ_INT(messages, 0); /* each message is in one loop */
    usage = phi_thread_get_info(phi_agent_thread(agent)).usage;
    CHECK_EQ_INT(session_usage(s).total_tokens, usage.total_tokens);
    phi_session_free(s);
    rec_end();
    rig_free(r);
}

TEST(runs_that_did_not_complete_look_the_same_from_the_log_and_from_the_events) {
    phi_allocator allocator = test_allocator();
    phi_agent_desc desc = rig_desc();
    rig *r = rig_new();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    phi_session *s;
    size_t i;
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    desc.ids.session_id = "s";
    agent = rig_agent(r, &desc);
    rec_begin(NULL);
    rig_watch(r, record, NULL);
    rig_answers(r, PHI_HOOK_FILTER, PHI_DENY, "not that");
    CHECK_EQ_INT(phi_prompt(agent, "refused"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    rig_replies(r, 400, "", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "failed"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "aborted"), PHI_OK);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    REQUIRE(phi_session_of_thread(phi_agent_thread(agent), &allocator, &s) == PHI_OK);
    CHECK_EQ_INT(s->loop_count, 3);
    CHECK_EQ_INT(session_of("s")->loop_count, 3);
    for (i = 0; i < s->loop_count && i < session_of("s")->loop_count; i++) {
        const phi_loop_record *mine = s->loops[i], *its = session_of("s")->loops[i];
        CHECK(phi_str_equal(mine->loop_id, its->loop_id));
        CHECK_EQ_INT(mine->status, its->status);
        CHECK_EQ_INT(mine->message_count, its->message_count);
        CHECK_EQ_INT(mine->turn_count, its->turn_count);
        CHECK_EQ_INT(its->status, i == 0 ? PHI_LOOP_REJECTED : PHI_LOOP_COMPLETED);
    }
    CHECK_STR(session_of("s")->loops[0]->rejection, "not that");
    phi_session_free(s);
    rec_end();
    rig_free(r);
}

/* ---- no memory ---- */

static bool say(const char *text) {
    char json[2048];
    size_t i;
    (void)snprintf(json, sizeof json, "%s", text);
    for (i = 0; json[i] != '\0'; i++)
        if (json[i] == '\'') json[i] = '"';
    return add_json(rec, phi_str_of(json)) == PHI_OK;
}

static bool a_story(void) {
    static const char *const events[] = {
        "{'type':'AgentStart','agent_id':'a','session_id':'s','loop_id':'s.m.1',"
        "'timestamp':'2026-01-01T00:00:00Z','metadata':{'k':1},"
        "'config_snapshot':{'model':'m','provider':'p'}}",
        "{'type':'TurnStart','loop_id':'s.m.1','turn_index':0}",
        "{'type':'MessageEnd','loop_id':'s.m.1','message':" QUESTION "}",
        "{'type':'TurnRequest','loop_id':'s.m.1','payload':{'a':1}}",
        "{'type':'ToolExecutionEnd','loop_id':'s.m.1','tool_call_id':'c','tool_name':'t',"
        "'child_loop_id':'k.m.1'}",
        "{'type':'AgentStart','agent_id':'b','session_id':'k','loop_id':'k.m.1',"
        "'parent_loop_id':'s.m.1','timestamp':'2026-01-01T00:00:00Z'}",
        "{'type':'TurnEnd','loop_id':'s.m.1','message':" ANSWER "," USAGE ",'tool_results':[" ANSWER
        "]}",
        "{'type':'ParallelLoopStart','session_id':'s','loop_ids':['s.x.1','s.y.1']}",
        "{'type':'AgentStart','agent_id':'a','session_id':'s','loop_id':'s.x.1',"
        "'parent_loop_id':'s.m.1'}",
        "{'type':'AgentEnd','loop_id':'s.x.1','messages':[" ANSWER "]," USAGE "}",
        "{'type':'ParallelLoopEnd','session_id':'s','selected_loop_id':'s.x.1'}",
        "{'type':'AgentEnd','loop_id':'s.m.1','messages':[" QUESTION "," ANSWER "]," USAGE "}"};
    size_t i;
    bool all = phi_recorder_begin(rec, phi_str_of("k"), phi_str_of("b"), 0) == PHI_OK;
    for (i = 0; i < sizeof events / sizeof events[0]; i++)
        if (!say(events[i])) all = false;
    return all;
}

TEST(recording_survives_every_failed_allocation) {
    phi_recorder_desc desc;
    int n = 0;
    bool tripped;
    memset(&desc, 0, sizeof desc);
    desc.turn_requests = true;
    do {
        bool all;
        rec_begin(&desc);
        test_alloc_fail_at(n++);
        all = a_story();
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(all, !tripped);
        (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
        if (all) CHECK_EQ_INT(session_of("s")->loop_count, 3);
        rec_end();
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped);
    CHECK(n > 10);
}

TEST(a_memory_limit_refuses_and_what_was_recorded_stays) {
    phi_recorder_desc desc;
    phi_status status = PHI_OK;
    size_t n = 0;
    memset(&desc, 0, sizeof desc);
    desc.memory_limit_bytes = 64 * 1024;
    rec_begin(&desc);
    start("s", "s.m.1", NULL, 0);
    while (status == PHI_OK && n < 10000) {
        status = add_json(
            rec, phi_str_of("{\"type\":\"Warning\",\"loop_id\":\"s.m.1\",\"text\":\"w\"}"));
        if (status == PHI_OK) n++;
    }
    CHECK_EQ_INT(status, PHI_NO_MEMORY);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->event_count, n + 1);
    rec_end();
}

TEST_MAIN(
    TEST_ENTRY(an_agent_s_runs_become_loops_with_turns_and_a_snapshot),
    TEST_ENTRY(a_session_outlives_its_agent_and_its_runtime),
    TEST_ENTRY(a_child_that_begins_after_its_call_has_ended_finds_its_parent_told_of_it_or_not),
    TEST_ENTRY(a_child_that_was_not_told_of_its_parent_is_linked_by_the_call_s_end),
    TEST_ENTRY(a_flush_between_a_child_s_end_and_its_call_s_end_keeps_the_links),
    TEST_ENTRY(sessions_that_were_drained_and_given_back_are_linked_by_the_call_s_end),
    TEST_ENTRY(a_child_whose_parent_is_not_known_names_it_by_its_id),
    TEST_ENTRY(a_group_may_be_announced_before_its_session),
    TEST_ENTRY(what_was_sent_stands_in_the_turn_only_where_it_was_asked_for),
    TEST_ENTRY(the_log_seen_as_a_session_has_the_loops_that_the_recorder_saw),
    TEST_ENTRY(runs_that_did_not_complete_look_the_same_from_the_log_and_from_the_events),
    TEST_ENTRY(recording_survives_every_failed_allocation),
    TEST_ENTRY(a_memory_limit_refuses_and_what_was_recorded_stays))
