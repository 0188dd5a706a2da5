/* test_recorder.c - what becomes a session of the events that a recorder hears, a test a clause of
   the checklist. */
#include "recorder_support.h"
#include "support/recorded.h"
#include "support/rig.h"
#include "agent/agent_history.h"

/* ---- formation ---- */
TEST(a_session_begins_with_the_first_loop_of_its_id) {
    rec_begin(NULL);
    start("s", "s.m.1", NULL, 3);
    REQUIRE(session_of("s") != NULL);
    CHECK_EQ_INT(session_of("s")->formation.kind, PHI_FORMATION_FIRST_LOOP);
    CHECK_EQ_INT(session_of("s")->created_ms, 1767225603000);
    CHECK_EQ_INT(session_of("s")->last_active_ms, 1767225603000);
    CHECK_STR(session_of("s")->agent_id, "agent");
    CHECK_EQ_INT(loop_of("s", "s.m.1")->status, PHI_LOOP_RUNNING);
    stop("s.m.1", 9);
    CHECK_EQ_INT(session_of("s")->last_active_ms, 1767225603000);
    rec_end();
}

TEST(an_idle_agent_s_next_session_names_the_one_before) {
    phi_recorder_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.by_inactivity = true;
    desc.inactivity_s = 30;
    rec_begin(&desc);
    both("s", "s.m.1", NULL, 0);
    both("t", "t.m.1", NULL, 29);
    both("u", "u.m.1", NULL, 59);
    CHECK_EQ_INT(session_of("s")->formation.kind, PHI_FORMATION_FIRST_LOOP);
    CHECK_EQ_INT(session_of("t")->formation.kind, PHI_FORMATION_FIRST_LOOP);
    CHECK_EQ_INT(session_of("u")->formation.kind, PHI_FORMATION_INACTIVITY);
    CHECK_EQ_INT(session_of("u")->formation.threshold_s, 30);
    CHECK_STR(session_of("u")->formation.previous_session_id, "t");
    rec_end();
}

static int asked;

static bool ask_of_loops(void *user_data, const phi_session *session) {
    CHECK_EQ_INT(session->loop_count, 0); /* the run that it asks about is not in it yet */
    CHECK_EQ_INT(session->formation.kind, PHI_FORMATION_EXPLICIT);
    asked++;
    return *(const bool *)user_data;
}

TEST(a_session_begun_by_hand_is_explicit_and_waits_for_its_first_run) {
    phi_recorder_desc desc;
    bool yes = true;
    memset(&desc, 0, sizeof desc);
    desc.by_inactivity = true; /* says nothing of it */
    desc.inactivity_s = PHI_RECORDER_AT_ONCE;
    desc.before_task_fn = ask_of_loops;
    desc.user_data = &yes;
    rec_begin(&desc);
    asked = 0;
    CHECK_EQ_INT(phi_recorder_begin(rec, phi_str_of("s"), phi_str_of("agent"), 1767225600000),
                 PHI_OK);
    CHECK_EQ_INT(phi_recorder_begin(rec, phi_str_of("t"), phi_str_of(""), 1767225601000), PHI_OK);
    CHECK_EQ_INT(phi_recorder_flush(rec, PHI_FLUSH_IDLE), 0);
    CHECK(phi_recorder_drain(rec) == NULL);
    CHECK_EQ_INT(asked, 0);
    both("s", "s.m.1", NULL, 5);
    both("t", "t.m.1", NULL, 7);
    both("t", "t.m.2", "t.m.1", 9);
    CHECK_EQ_INT(asked, 2);
    CHECK_EQ_INT(session_of("t")->formation.kind, PHI_FORMATION_EXPLICIT);
    CHECK_EQ_INT(session_of("t")->formation.at_ms, 1767225601000);
    CHECK_EQ_INT(session_of("t")->created_ms, 1767225601000);
    CHECK_EQ_INT(session_of("t")->last_active_ms, 1767225609000);
    CHECK_STR(session_of("t")->formation.previous_session_id, "");
    CHECK_STR(session_of("s")->agent_id, "agent");
    CHECK_STR(session_of("t")->agent_id, "agent"); /* of its first run */
    CHECK_EQ_INT(session_of("t")->loop_count, 2);
    CHECK_EQ_INT(phi_recorder_flush(rec, PHI_FLUSH_IDLE), 2);
    CHECK_EQ_INT(phi_recorder_begin(rec, phi_str_of("t"), phi_str_of(""), 0), PHI_MISUSE);
    CHECK_EQ_INT(phi_recorder_begin(rec, phi_str_of(""), phi_str_of("a"), 0), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_recorder_begin(NULL, phi_str_of("u"), phi_str_of("a"), 0), PHI_BAD_ARG);
    rec_end();
}

TEST(a_session_begun_by_hand_is_written_as_explicit_also_without_runs_and_may_be_refused) {
    phi_allocator allocator = test_allocator();
    phi_recorder_desc desc;
    phi_memory memory;
    phi_arena arena;
    phi_session *s, *back = NULL;
    phi_str json;
    bool no = false;
    memset(&desc, 0, sizeof desc);
    desc.before_task_fn = ask_of_loops;
    desc.user_data = &no;
    rec_begin(&desc);
    CHECK_EQ_INT(phi_recorder_begin(rec, phi_str_of("s"), phi_str_of("a"), 1767225600000), PHI_OK);
    CHECK_EQ_INT(phi_recorder_begin(rec, phi_str_of("t"), phi_str_of("a"), 1767225600000), PHI_OK);
    both("t", "t.m.1", NULL, 5);
    CHECK(session_of("t")->rejected);
    CHECK_EQ_INT(session_of("t")->loop_count, 0);
    (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
    s = phi_recorder_drain(rec);
    REQUIRE(s != NULL);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(phi_session_to_json(s, 0, &arena, &json) == PHI_OK);
    CHECK_STR(json, "{\n"
                    "  \"session_id\": \"s\",\n"
                    "  \"agent_id\": \"a\",\n"
                    "  \"created_at\": \"2026-01-01T00:00:00Z\",\n"
                    "  \"last_active_at\": \"2026-01-01T00:00:00Z\",\n"
                    "  \"formation\": {\n"
                    "    \"Explicit\": {\n"
                    "      \"timestamp\": \"2026-01-01T00:00:00Z\"\n"
                    "    }\n"
                    "  },\n"
                    "  \"parent_spawn_ref\": null,\n"
                    "  \"scope\": \"ephemeral\",\n"
                    "  \"loops\": []\n"
                    "}");
    REQUIRE(phi_session_from_json(json, &allocator, 0, &back, NULL) == PHI_OK);
    CHECK_EQ_INT(back->formation.kind, PHI_FORMATION_EXPLICIT);
    CHECK_EQ_INT(back->formation.at_ms, 1767225600000);
    phi_session_free(back);
    phi_session_free(s);
    phi_arena_free(&arena);
    rec_end();
}

static bool rotate(rig *r, phi_agent agent, uint64_t threshold_ms) {
    bool rotated = false;
    (void)r;
    CHECK_EQ_INT(phi_agent_rotate(agent, threshold_ms, &rotated), PHI_OK);
    return rotated;
}

TEST(a_threshold_of_zero_rotates_and_a_second_check_after_it_does_not) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc);
    CHECK(!rotate(r, agent, 0)); /* it never ran */
    rig_says(r, "hi");
    CHECK_EQ_INT(phi_prompt(agent, "q"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(rotate(r, agent, 0));
    CHECK(!rotate(r, agent, 0));
    rig_free(r);
}

/* ---- status ---- */

TEST(the_end_completes_a_loop_or_rejects_it_with_its_messages_and_usage) {
    rec_begin(NULL);
    both("s", "s.m.1", NULL, 0);
    start("s", "s.m.2", "s.m.1", 2);
    feed("{'type':'AgentEnd','loop_id':'s.m.2','messages':[]," USAGE
         ",'timestamp':'2026-01-01T00:00:03Z','rejection':'no'}");
    CHECK_EQ_INT(loop_of("s", "s.m.1")->status, PHI_LOOP_COMPLETED);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->message_count, 2);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->usage.total_tokens, 3);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->ended_ms, 1767225601000);
    CHECK_EQ_INT(loop_of("s", "s.m.2")->status, PHI_LOOP_REJECTED);
    CHECK_STR(loop_of("s", "s.m.2")->rejection, "no");
    CHECK_EQ_INT(session_usage(session_of("s")).total_tokens, 6);
    rec_end();
}

static int finished;

static void note_after(void *user_data, const phi_session *session) {
    (void)user_data;
    CHECK(session->loop_count > 0);
    finished++;
}

TEST(flush_aborts_open_loops_and_tells_after_task) {
    phi_recorder_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.after_task_fn = note_after;
    finished = 0;
    rec_begin(&desc);
    start("s", "s.m.1", NULL, 0);
    both("t", "t.m.1", NULL, 0);
    (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
    CHECK_EQ_INT(finished, 2);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->status, PHI_LOOP_ABORTED);
    CHECK(!loop_of("s", "s.m.1")->has_ended);
    CHECK_EQ_INT(loop_of("t", "t.m.1")->status, PHI_LOOP_COMPLETED);
    (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
    CHECK_EQ_INT(finished, 2);
    rec_end();
}

TEST(a_checkpoint_promotes_exactly_the_finished_child_and_later_enrichment_still_works) {
    phi_recorder_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.after_task_fn = note_after;
    finished = 0;
    rec_begin(&desc);
    start("parent", "parent.m.1", NULL, 0);
    both("child", "child.m.1", "parent.m.1", 1);
    CHECK_EQ_INT(phi_recorder_flush(rec, PHI_FLUSH_IDLE), 1);
    CHECK_EQ_INT(finished, 0);
    CHECK_STR(recorder_session_at(rec, 0)->session_id, "child");
    REQUIRE(session_of("child")->parent != NULL);
    CHECK_STR(session_of("child")->parent->tool_call_id, "");
    call_end("parent.m.1", "call-1", "child.m.1");
    CHECK_STR(session_of("child")->parent->tool_call_id, "call-1");
    CHECK_STR(session_of("child")->parent->tool_name, "sub_agent");
    CHECK_STR(session_of("child")->parent->parent_loop_id, "parent.m.1");
    CHECK_EQ_INT(phi_recorder_flush(rec, PHI_FLUSH_IDLE), 0);
    rec_end();
}

static bool allowed;

static bool note_before(void *user_data, const phi_session *session) {
    phi_event event = PHI_ZERO;
    (void)user_data;
    CHECK_STR(session->session_id, "s");
    CHECK_EQ_INT(phi_recorder_add(rec, &event), PHI_MISUSE);
    asked++;
    return allowed;
}

TEST(before_task_is_asked_once_across_continuations) {
    phi_recorder_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.before_task_fn = note_before;
    asked = 0;
    allowed = true;
    rec_begin(&desc);
    both("s", "s.m.1", NULL, 0);
    both("s", "s.m.2", "s.m.1", 2);
    CHECK_EQ_INT(phi_recorder_flush(rec, PHI_FLUSH_IDLE), 1);
    both("s", "s.m.3", "s.m.2", 4);
    CHECK_EQ_INT(asked, 1);
    CHECK_EQ_INT(session_of("s")->loop_count, 3);
    rec_end();
}

TEST(a_session_that_before_task_refused_is_kept_without_its_events) {
    phi_recorder_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.before_task_fn = note_before;
    desc.after_task_fn = note_after;
    asked = finished = 0;
    allowed = false;
    rec_begin(&desc);
    both("s", "s.m.1", NULL, 0);
    both("s", "s.m.2", "s.m.1", 2);
    CHECK_EQ_INT(asked, 1);
    REQUIRE(session_of("s") != NULL);
    CHECK(session_of("s")->rejected);
    CHECK_EQ_INT(session_of("s")->loop_count, 0);
    (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
    CHECK_EQ_INT(finished, 0);
    rec_end();
}

TEST(deltas_are_left_out_by_default_and_leave_gaps) {
    phi_recorder_desc desc;
    int streaming;
    memset(&desc, 0, sizeof desc);
    for (streaming = 0; streaming < 2; streaming++) {
        desc.streaming_events = streaming == 1;
        rec_begin(&desc);
        start("s", "s.m.1", NULL, 0);
        feed("{'type':'MessageUpdate','loop_id':'s.m.1','message':" ANSWER
             ",'delta':{'Text':{'delta':'h'}}}");
        stop("s.m.1", 1);
        CHECK_EQ_INT(loop_of("s", "s.m.1")->event_count, 2 + streaming);
        CHECK_EQ_INT(loop_of("s", "s.m.1")->events[1 + streaming].sequence, 2);
        rec_end();
    }
}

/* ---- links ---- */

TEST(two_continuations_of_one_parent_are_both_its_children) {
    const phi_loop_record *found[2];
    rec_begin(NULL);
    both("s", "s.m.1", NULL, 0);
    start("s", "s.m.2", "s.m.1", 2);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->child_count, 0); /* when it ends */
    stop("s.m.2", 3);
    both("s", "s.m.3", "s.m.1", 4);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->child_count, 2);
    CHECK_STR(loop_of("s", "s.m.1")->children[0], "s.m.2");
    CHECK_STR(loop_of("s", "s.m.1")->children[1], "s.m.3");
    CHECK_EQ_INT(
        phi_session_loops(session_of("s"), PHI_LOOP_CHILDREN, phi_str_of("s.m.1"), found, 2), 2);
    rec_end();
}

TEST(loops_of_another_session_are_never_among_the_children) {
    rec_begin(NULL);
    start("parent", "parent.m.1", NULL, 0);
    both("child", "child.m.1", "parent.m.1", 1);
    stop("parent.m.1", 3);
    CHECK_EQ_INT(loop_of("parent", "parent.m.1")->child_count, 0);
    REQUIRE(session_of("child")->parent != NULL);
    CHECK_STR(session_of("child")->parent->parent_session_id, "parent");
    rec_end();
}

TEST(a_call_s_end_before_its_child_s_end_is_recorded) {
    rec_begin(NULL);
    start("parent", "parent.m.1", NULL, 0);
    start("child", "child.m.1", "parent.m.1", 1);
    call_end("parent.m.1", "call-1", "child.m.1");
    stop("child.m.1", 2);
    REQUIRE(loop_of("parent", "parent.m.1")->spawned_count == 1);
    CHECK_STR(loop_of("parent", "parent.m.1")->spawned[0].tool_call_id, "call-1");
    CHECK_STR(loop_of("parent", "parent.m.1")->spawned[0].child_loop_id, "child.m.1");
    CHECK_STR(loop_of("parent", "parent.m.1")->spawned[0].child_session_id, "child");
    CHECK_STR(session_of("child")->parent->tool_call_id, "call-1");
    rec_end();
}

TEST(a_child_s_loop_id_without_dots_is_its_session_s_id) {
    rec_begin(NULL);
    start("parent", "parent.m.1", NULL, 0);
    call_end("parent.m.1", "call-1", "nodots");
    CHECK_STR(loop_of("parent", "parent.m.1")->spawned[0].child_session_id, "nodots");
    rec_end();
}

TEST(siblings_are_all_of_a_group_and_one_is_selected) {
    const phi_loop_record *found[3];
    rec_begin(NULL);
    both("s", "s.m.1", NULL, 0);
    feed("{'type':'ParallelLoopStart','session_id':'s','loop_ids':['s.a.1','s.b.1'],"
         "'timestamp':'2026-01-01T00:00:02Z'}");
    CHECK_EQ_INT(loop_of("s", "s.a.1")->status, PHI_LOOP_PENDING);
    CHECK_EQ_INT(loop_of("s", "s.b.1")->status, PHI_LOOP_PENDING);
    CHECK(recorder_running(rec, phi_str_of("s.a.1")) == NULL);
    start("s", "s.b.1", "s.m.1", 3);
    start("s", "s.a.1", "s.m.1", 3);
    stop("s.b.1", 4);
    stop("s.a.1", 5);
    feed("{'type':'ParallelLoopEnd','session_id':'s','selected_loop_id':'s.b.1',"
         "'selected_config_index':1,'evaluation_"
         "usage':{'input':5,'output':6},"
         "'timestamp':'2026-01-01T00:00:06Z'}");
    REQUIRE(phi_session_loops(session_of("s"), PHI_LOOP_SIBLINGS, phi_str_of("s.a.1"), found, 3) ==
            2);
    CHECK_STR(found[0]->loop_id, "s.a.1");
    CHECK_STR(found[1]->loop_id, "s.b.1");
    CHECK(!found[0]->group->is_selected);
    CHECK(found[1]->group->is_selected);
    CHECK_EQ_INT(found[0]->group->selected_index, 1);
    CHECK_EQ_INT(found[0]->group->evaluation_usage.output, 6);
    CHECK_EQ_INT(found[0]->event_count, 2); /* its own start and end */
    CHECK_EQ_INT(session_of("s")->loop_count, 3);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->child_count, 2);
    rec_end();
}

TEST(a_loop_id_says_its_session_and_its_segment) {
    rec_begin(NULL);
    start("", "s.openai.gpt-4.1.7", NULL, 0);
    REQUIRE(session_of("s") != NULL);
    stop("s.openai.gpt-4.1.7", 1);
    CHECK_STR(loop_of("s", "s.openai.gpt-4.1.7")->config->config_id, "openai.gpt-4.1");
    rec_end();
}

/* ---- turns, config ---- */

TEST(a_turn_has_what_was_said_to_it_its_answer_and_results_with_its_id) {
    const phi_turn *turn;
    rec_begin(NULL);
    start("s", "s.m.1", NULL, 0);
    turn_start("s.m.1", 4);
    feed("{'type':'MessageEnd','loop_id':'s.m.1','message':" QUESTION "}");
    feed("{'type':'MessageEnd','loop_id':'s.m.1','message':" ANSWER "}");
    feed("{'type':'MessageEnd','loop_id':'s.m.1','message':{'role':'toolResult','toolCallId':'c',"
         "'toolName':'t','content':[],'isError':false,'timestamp':1}}");
    feed("{'type':'TurnEnd','loop_id':'s.m.1','message':" ANSWER "," USAGE
         ",'timestamp':'2026-01-01T00:00:02Z','tool_results':[{'role':'toolResult',"
         "'toolCallId':'c','toolName':'t','content':[],'isError':false,'timestamp':1}]}");
    REQUIRE(loop_of("s", "s.m.1")->turn_count == 1);
    turn = &loop_of("s", "s.m.1")->turns[0];
    CHECK_EQ_INT(turn->turn_index, 4);
    CHECK_EQ_INT(turn->trigger, PHI_TRIGGER_USER);
    CHECK_EQ_INT(turn->input_count, 1);
    CHECK_EQ_INT(turn->input[0].role, PHI_ROLE_USER);
    CHECK(turn->output != NULL && turn->output->role == PHI_ROLE_ASSISTANT);
    REQUIRE(turn->result_count == 1);
    CHECK_STR(turn->results[0].loop_id, "s.m.1");
    CHECK_EQ_INT(turn->results[0].turn_index, 4);
    CHECK_EQ_INT(turn->usage.output, 2);
    rec_end();
}

TEST(what_ends_no_turn_and_resumes_no_session_changes_nothing) {
    rec_begin(NULL);
    start("s", "s.m.1", NULL, 0);
    turn_start("s.m.1", 0);
    turn_end("s.m.1");
    turn_end("s.m.1"); /* nothing is open */
    stop("s.m.1", 3);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->turn_count, 1);
    CHECK_EQ_INT(phi_recorder_resume(rec, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_recorder_resume(NULL, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(recorder_session_count(rec), 1);
    rec_end();
}

TEST(an_end_without_a_turn_s_end_discards_the_turn) {
    rec_begin(NULL);
    start("s", "s.m.1", NULL, 0);
    turn_start("s.m.1", 0);
    turn_end("s.m.1");
    turn_start("s.m.1", 1);
    stop("s.m.1", 3);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->turn_count, 1);
    rec_end();
}

TEST(without_a_snapshot_the_config_is_the_first_answer_s_and_without_answers_there_is_none) {
    rec_begin(NULL);
    start("s", "s.m.1", NULL, 0);
    stop("s.m.1", 1);
    start("s", "s.m.2", NULL, 2);
    feed("{'type':'AgentEnd','loop_id':'s.m.2','messages':[" QUESTION "]," USAGE
         ",'timestamp':'2026-01-01T00:00:03Z','rejection':null}");
    feed("{'type':'AgentStart','agent_id':'agent','session_id':'s','loop_id':'s.m.3',"
         "'parent_loop_id':null,'continuation_kind':null,'timestamp':'2026-01-01T00:00:04Z',"
         "'metadata':{'k':1},'config_snapshot':{'model':'big','provider':'x','config_id':null,"
         "'temperature':0.5}}");
    stop("s.m.3", 5);
    CHECK_STR(loop_of("s", "s.m.1")->config->model, "m");
    CHECK_STR(loop_of("s", "s.m.1")->config->provider, "p");
    CHECK(loop_of("s", "s.m.2")->config == NULL);
    CHECK_STR(loop_of("s", "s.m.3")->config->model, "big");
    CHECK(loop_of("s", "s.m.3")->config->has_temperature);
    CHECK(!loop_of("s", "s.m.3")->config->has_max_tokens);
    CHECK_STR(loop_of("s", "s.m.3")->metadata, "{\"k\":1}");
    rec_end();
}

/* ---- questions ---- */

TEST(an_aborted_loop_takes_its_config_from_its_first_answer_and_an_empty_rejection_is_one) {
    const phi_loop_record *loop;
    phi_memory memory;
    phi_arena arena;
    phi_str json;
    rec_begin(NULL);
    start("s", "s.m.1", NULL, 0);
    turn_start("s.m.1", 0);
    turn_end("s.m.1");
    start("s", "s.m.2", NULL, 1);
    feed("{'type':'AgentEnd','loop_id':'s.m.2','messages':[]," USAGE
         ",'timestamp':'2026-01-01T00:00:01Z','rejection':''}");
    (void)phi_recorder_flush(rec, PHI_FLUSH_ALL);
    loop = loop_of("s", "s.m.1");
    REQUIRE(loop != NULL);
    CHECK_EQ_INT(loop->status, PHI_LOOP_ABORTED);
    if (CHECK(loop->config != NULL)) CHECK_STR(loop->config->model, "m");
    loop = loop_of("s", "s.m.2");
    REQUIRE(loop != NULL);
    CHECK_EQ_INT(loop->status, PHI_LOOP_REJECTED);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_session_to_json(session_of("s"), 0, &arena, &json), PHI_OK);
    CHECK(strstr(json.at, "\"rejection\": \"\",") != NULL);
    CHECK(strstr(json.at, "\"rejection\": null,") != NULL);
    phi_arena_free(&arena);
    rec_end();
}

TEST(roots_children_chains_and_loops_are_found) {
    const phi_loop_record *found[4];
    const phi_session *s;
    rec_begin(NULL);
    both("s", "s.m.1", NULL, 0);
    both("s", "s.m.2", "s.m.1", 2);
    both("s", "s.m.3", "s.m.2", 4);
    both("s", "s.m.9", "gone.m.1", 6);
    s = session_of("s");
    CHECK_EQ_INT(phi_session_loops(s, PHI_LOOP_ROOTS, phi_str_of(""), found, 4), 2);
    CHECK_STR(found[0]->loop_id, "s.m.1");
    CHECK_STR(found[1]->loop_id, "s.m.9");
    REQUIRE(phi_session_loops(s, PHI_LOOP_CHAIN, phi_str_of("s.m.3"), found, 4) == 3);
    CHECK_STR(found[0]->loop_id, "s.m.1");
    CHECK_STR(found[2]->loop_id, "s.m.3");
    CHECK_EQ_INT(phi_session_loops(s, PHI_LOOP_CHAIN, phi_str_of("none"), found, 4), 0);
    CHECK(session_loop(s, phi_str_of("none")) == NULL);
    CHECK_EQ_INT(session_usage(s).total_tokens, 12);
    rec_end();
}

TEST(a_chain_that_goes_round_ends) {
    static const char json[] =
        "{\"session_id\":\"s\",\"loops\":[{\"loop_id\":\"a\",\"parent_loop_id\":\"c\"},"
        "{\"loop_id\":\"b\",\"parent_loop_id\":\"a\"},{\"loop_id\":\"c\",\"parent_loop_id\":\"b\"},"
        "{\"loop_id\":\"d\",\"parent_loop_id\":\"c\"},{\"loop_id\":\"e\",\"parent_loop_id\":\"e\"}]"
        "}";
    phi_allocator allocator = test_allocator();
    const phi_loop_record *found[5];
    phi_session *s;
    REQUIRE(phi_session_from_json(phi_str_of(json), &allocator, 0, &s, NULL) == PHI_OK);
    CHECK_EQ_INT(phi_session_loops(s, PHI_LOOP_CHAIN, phi_str_of("c"), found, 5), 3);
    CHECK_STR(found[0]->loop_id, "a");
    CHECK_EQ_INT(phi_session_loops(s, PHI_LOOP_CHAIN, phi_str_of("d"), found, 5), 4);
    CHECK_STR(found[3]->loop_id, "d");
    CHECK_EQ_INT(phi_session_loops(s, PHI_LOOP_CHAIN, phi_str_of("e"), found, 5), 1);
    CHECK_EQ_INT(phi_session_loops(s, PHI_LOOP_CHAIN, phi_str_of("d"), NULL, 0), 4);
    phi_session_free(s);
}

TEST(completed_sessions_come_first_and_draining_empties_them) {
    phi_session *drained;
    rec_begin(NULL);
    start("open", "open.m.1", NULL, 0);
    both("done", "done.m.1", NULL, 1);
    CHECK_EQ_INT(phi_recorder_flush(rec, PHI_FLUSH_IDLE), 1);
    CHECK_EQ_INT(recorder_session_count(rec), 2);
    CHECK_STR(recorder_session_at(rec, 0)->session_id, "done");
    CHECK_STR(recorder_session_at(rec, 1)->session_id, "open");
    CHECK(recorder_session_at(rec, 2) == NULL);
    CHECK(recorder_running(rec, phi_str_of("open.m.1")) != NULL);
    CHECK(recorder_running(rec, phi_str_of("done.m.1")) == NULL);
    drained = phi_recorder_drain(rec);
    REQUIRE(drained != NULL);
    CHECK_STR(drained->session_id, "done");
    CHECK(phi_recorder_drain(rec) == NULL);
    CHECK(session_of("done") == NULL);
    rec_end();
    CHECK_EQ_INT(drained->loop_count, 1); /* it outlives its recorder */
    phi_session_free(drained);
}

TEST(events_of_unknown_loops_are_ignored) {
    rec_begin(NULL);
    stop("nobody.m.1", 0);
    turn_start("nobody.m.1", 0);
    call_end("nobody.m.1", "c", "x");
    feed("{'type':'ProgressMessage','loop_id':'','tool_call_id':'','tool_name':'judge',"
         "'text':'w'}");
    CHECK_EQ_INT(recorder_session_count(rec), 0);
    both("s", "s.m.1", NULL, 0);
    turn_start("s.m.1", 7);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->event_count, 2);
    rec_end();
}

TEST_MAIN(
    TEST_ENTRY(a_session_begins_with_the_first_loop_of_its_id),
    TEST_ENTRY(an_idle_agent_s_next_session_names_the_one_before),
    TEST_ENTRY(a_session_begun_by_hand_is_explicit_and_waits_for_its_first_run),
    TEST_ENTRY(a_session_begun_by_hand_is_written_as_explicit_also_without_runs_and_may_be_refused),
    TEST_ENTRY(a_threshold_of_zero_rotates_and_a_second_check_after_it_does_not),
    TEST_ENTRY(the_end_completes_a_loop_or_rejects_it_with_its_messages_and_usage),
    TEST_ENTRY(flush_aborts_open_loops_and_tells_after_task),
    TEST_ENTRY(a_checkpoint_promotes_exactly_the_finished_child_and_later_enrichment_still_works),
    TEST_ENTRY(before_task_is_asked_once_across_continuations),
    TEST_ENTRY(a_session_that_before_task_refused_is_kept_without_its_events),
    TEST_ENTRY(deltas_are_left_out_by_default_and_leave_gaps),
    TEST_ENTRY(two_continuations_of_one_parent_are_both_its_children),
    TEST_ENTRY(loops_of_another_session_are_never_among_the_children),
    TEST_ENTRY(a_call_s_end_before_its_child_s_end_is_recorded),
    TEST_ENTRY(a_child_s_loop_id_without_dots_is_its_session_s_id),
    TEST_ENTRY(siblings_are_all_of_a_group_and_one_is_selected),
    TEST_ENTRY(a_loop_id_says_its_session_and_its_segment),
    TEST_ENTRY(a_turn_has_what_was_said_to_it_its_answer_and_results_with_its_id),
    TEST_ENTRY(what_ends_no_turn_and_resumes_no_session_changes_nothing),
    TEST_ENTRY(an_end_without_a_turn_s_end_discards_the_turn),
    TEST_ENTRY(
        without_a_snapshot_the_config_is_the_first_answer_s_and_without_answers_there_is_none),
    TEST_ENTRY(
        an_aborted_loop_takes_its_config_from_its_first_answer_and_an_empty_rejection_is_one),
    TEST_ENTRY(roots_children_chains_and_loops_are_found), TEST_ENTRY(a_chain_that_goes_round_ends),
    TEST_ENTRY(completed_sessions_come_first_and_draining_empties_them),
    TEST_ENTRY(events_of_unknown_loops_are_ignored))
