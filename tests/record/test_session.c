/* test_session.c - sessions of living agents, their JSON both ways, a store, and the log seen as a session. */
#include "record/session.h"
#include "recorder_support.h"
#include "support/rig.h"
#include "text/json.h"

/* ---- living agents ---- */

static void record(void *user_data, const phi_event *event) {
    (void)user_data;
    CHECK_EQ_INT(phi_recorder_add(rec, event), PHI_OK);
}

/* A run with a tool, then another that goes on from it; recorded. */
static rig *two_runs(const phi_recorder_desc *how, phi_agent *agent, bool capture) {
    static phi_tool tool;
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    tool = rig_echo();
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.session_id = "s";
    desc.agent_id = "a";
    desc.config_id = "c";
    desc.capture_requests = capture;
    *agent = rig_agent(r, &desc);
    rec_begin(how);
    rig_watch(r, record, NULL);
    rig_call(r, "call-1", "echo", "{\"x\":1}");
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(*agent, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(*agent, "second"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    return r;
}

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
    CHECK_EQ_INT(phi_session_root_loops(session_of("s"), NULL, 0), 2);
    CHECK_EQ_INT(phi_session_total_usage(session_of("s")).total_tokens,
                 phi_agent_usage(agent).total_tokens);
    rec_end();
    rig_free(r);
}

TEST(a_session_outlives_its_agent_and_its_runtime) {
    phi_session *s;
    phi_agent agent;
    rig *r = two_runs(NULL, &agent, false);
    rig_free(r);
    phi_recorder_flush(rec);
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
        CHECK_EQ_INT(phi_recorder_checkpoint(rec), 1);
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
        phi_recorder_flush(rec);
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
    phi_recorder_flush(rec);
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
    CHECK_EQ_INT(phi_session_root_loops(session_of("child"), NULL, 0), 1);
    rec_end();
}

TEST(a_group_may_be_announced_before_its_session) {
    phi_recorder_desc desc;
    memset(&desc, 0, sizeof desc);
    rec_begin(&desc);
    feed("{'type':'ParallelLoopStart','session_id':'s','loop_ids':['s.a.1','s.b.1']}");
    CHECK_EQ_INT(phi_recorder_checkpoint(rec), 0); /* two are pending */
    both("s", "s.b.1", NULL, 1);
    CHECK_STR(session_of("s")->agent_id, "agent");
    phi_recorder_flush(rec);
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

/* ---- JSON ---- */

static const char whole[] = "{\n"
                            "  \"session_id\": \"s\",\n"
                            "  \"agent_id\": \"a\",\n"
                            "  \"created_at\": \"2026-01-01T00:00:00Z\",\n"
                            "  \"last_active_at\": \"2026-01-01T00:00:01.250Z\",\n"
                            "  \"formation\": {\n"
                            "    \"InactivityTimeout\": {\n"
                            "      \"threshold_secs\": 1800,\n"
                            "      \"previous_session_id\": null,\n"
                            "      \"timestamp\": \"2026-01-01T00:00:00Z\"\n"
                            "    }\n"
                            "  },\n"
                            "  \"parent_spawn_ref\": {\n"
                            "    \"parent_session_id\": \"p\",\n"
                            "    \"parent_loop_id\": \"p.m.1\",\n"
                            "    \"tool_call_id\": \"c1\",\n"
                            "    \"tool_name\": \"sub_agent\"\n"
                            "  },\n"
                            "  \"scope\": \"persistent\",\n"
                            "  \"loops\": [\n"
                            "    {\n"
                            "      \"loop_id\": \"s.m.1\",\n"
                            "      \"session_id\": \"s\",\n"
                            "      \"agent_id\": \"a\",\n"
                            "      \"parent_loop_id\": \"p.m.1\",\n"
                            "      \"continuation_kind\": {\n"
                            "        \"Rerun\": {\n"
                            "          \"tag\": \"2026-01-01T00:00:00+00:00\"\n"
                            "        }\n"
                            "      },\n"
                            "      \"started_at\": \"2026-01-01T00:00:00Z\",\n"
                            "      \"ended_at\": null,\n"
                            "      \"status\": \"Aborted\",\n"
                            "      \"rejection\": \"a \\\"word\\\"\",\n"
                            "      \"config\": {\n"
                            "        \"model\": \"m\",\n"
                            "        \"provider\": \"p\",\n"
                            "        \"config_id\": null,\n"
                            "        \"name\": \"M\",\n"
                            "        \"api\": \"open_ai_completions\",\n"
                            "        \"base_url\": \"u\",\n"
                            "        \"reasoning\": false,\n"
                            "        \"context_window\": 200000,\n"
                            "        \"max_tokens\": 8192,\n"
                            "        \"thinking_level\": \"off\",\n"
                            "        \"temperature\": 0.2\n"
                            "      },\n"
                            "      \"messages\": [],\n"
                            "      \"turns\": [\n"
                            "        {\n"
                            "          \"turn_id\": {\n"
                            "            \"loopId\": \"s.m.1\",\n"
                            "            \"turnIndex\": 3\n"
                            "          },\n"
                            "          \"triggered_by\": \"SubAgent\",\n"
                            "          \"usage\": {\n"
                            "            \"input\": 1,\n"
                            "            \"output\": 2,\n"
                            "            \"reasoning\": 0,\n"
                            "            \"cache_read\": 0,\n"
                            "            \"cache_write\": 0,\n"
                            "            \"total_tokens\": 3\n"
                            "          },\n"
                            "          \"input_messages\": [],\n"
                            "          \"output_message\": {\n"
                            "            \"role\": \"user\",\n"
                            "            \"content\": [],\n"
                            "            \"timestamp\": 1\n"
                            "          },\n"
                            "          \"tool_results\": [],\n"
                            "          \"started_at\": \"2026-01-01T00:00:00Z\",\n"
                            "          \"ended_at\": \"2026-01-01T00:00:01Z\",\n"
                            "          \"request_payload\": {\n"
                            "            \"system_prompt\": \"be\"\n"
                            "          }\n"
                            "        }\n"
                            "      ],\n"
                            "      \"usage\": {\n"
                            "        \"input\": 1,\n"
                            "        \"output\": 2,\n"
                            "        \"reasoning\": 0,\n"
                            "        \"cache_read\": 0,\n"
                            "        \"cache_write\": 0,\n"
                            "        \"total_tokens\": 3\n"
                            "      },\n"
                            "      \"metadata\": {\n"
                            "        \"k\": [\n"
                            "          1,\n"
                            "          \"{,:}\"\n"
                            "        ]\n"
                            "      },\n"
                            "      \"events\": [\n"
                            "        {\n"
                            "          \"sequence\": 4,\n"
                            "          \"event\": {\n"
                            "            \"type\": \"InputRejected\",\n"
                            "            \"loop_id\": \"s.m.1\",\n"
                            "            \"reason\": \"no\"\n"
                            "          }\n"
                            "        }\n"
                            "      ],\n"
                            "      \"children_loop_ids\": [\n"
                            "        \"s.m.2\"\n"
                            "      ],\n"
                            "      \"child_loop_refs\": [\n"
                            "        {\n"
                            "          \"tool_call_id\": \"c2\",\n"
                            "          \"tool_name\": \"t\",\n"
                            "          \"child_loop_id\": \"k.m.1\",\n"
                            "          \"child_session_id\": \"k\"\n"
                            "        }\n"
                            "      ],\n"
                            "      \"parallel_group\": {\n"
                            "        \"all_loop_ids\": [\n"
                            "          \"s.m.1\",\n"
                            "          \"s.n.1\"\n"
                            "        ],\n"
                            "        \"selected_loop_id\": \"s.m.1\",\n"
                            "        \"selected_config_index\": 0,\n"
                            "        \"evaluation_usage\": {\n"
                            "          \"input\": 0,\n"
                            "          \"output\": 0,\n"
                            "          \"reasoning\": 0,\n"
                            "          \"cache_read\": 0,\n"
                            "          \"cache_write\": 0,\n"
                            "          \"total_tokens\": 0\n"
                            "        },\n"
                            "        \"is_selected\": true\n"
                            "      },\n"
                            "      \"compaction_block\": {\n"
                            "        \"keep_first\": {\n"
                            "          \"startTurn\": 0,\n"
                            "          \"endTurn\": 1\n"
                            "        },\n"
                            "        \"keep_recent\": {\n"
                            "          \"range\": {\n"
                            "            \"startTurn\": 8,\n"
                            "            \"endTurn\": 12\n"
                            "          },\n"
                            "          \"messages\": [\n"
                            "            {\n"
                            "              \"role\": \"user\",\n"
                            "              \"content\": [],\n"
                            "              \"timestamp\": 1\n"
                            "            }\n"
                            "          ]\n"
                            "        },\n"
                            "        \"createdAt\": \"2026-01-01T00:00:00Z\"\n"
                            "      }\n"
                            "    }\n"
                            "  ]\n"
                            "}";

TEST(every_field_is_read_and_written_as_the_original_does) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_session *s;
    phi_str json;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(phi_session_from_json(phi_str_of(whole), &allocator, 0, &s, NULL) == PHI_OK);
    CHECK_EQ_INT(phi_session_to_json(s, 0, &arena, &json), PHI_OK);
    CHECK_STR(json, whole);
    CHECK_EQ_INT(s->loops[0]->block->keep_recent.from, 8);
    CHECK_EQ_INT(s->loops[0]->turns[0].trigger, PHI_TRIGGER_SUB_AGENT);
    phi_session_free(s);
    phi_arena_free(&arena);
}

/* Its reader refuses a whole file for one value of a type that it does not expect. */
TEST(what_the_original_would_refuse_a_file_for_is_not_written) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_session *s;
    phi_str json;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(
        phi_session_from_json(
            phi_str_of("{\"session_id\":\"s\",\"loops\":[{\"loop_id\":\"l\",\"config\":{\"model\":"
                       "\"m\",\"api\":\"mock\"},\"events\":["
                       "{\"sequence\":0,\"event\":{\"type\":\"AgentStart\",\"loop_id\":\"l\","
                       "\"config_snapshot\":{\"model\":\"m\",\"api\":\"mock\"}}},"
                       "{\"sequence\":1,\"event\":{\"type\":\"RevertApplied\",\"loop_id\":\"l\","
                       "\"target\":\"n4\",\"abandoned_node_ids\":[\"n7\"]}}]},"
                       "{\"loop_id\":\"k\",\"config\":{\"model\":\"m\",\"api\":"
                       "\"openai_completions\"}}]}"),
            &allocator, 0, &s, NULL) == PHI_OK);
    REQUIRE(CHECK_EQ_INT(phi_session_to_json(s, 0, &arena, &json), PHI_OK));
    CHECK(phi__str_find(json, 0, "mock") == SIZE_MAX);
    CHECK(phi__str_find(json, 0, "\"api\": \"open_ai_completions\"") != SIZE_MAX);
    CHECK(phi__str_find(json, 0, "\"target\": 4,") != SIZE_MAX);
    CHECK(phi__str_find(json, 0, "\"n7\"") == SIZE_MAX);
    phi_session_free(s);
    phi_arena_free(&arena);
}

TEST(a_loop_of_a_provider_with_an_old_name_is_read_with_the_name_of_today) {
    static const char text[] =
        "{\"session_id\":\"s\",\"agent_id\":\"a\",\"loops\":[{\"loop_id\":\"s.azure.d.1\","
        "\"session_id\":\"s\",\"agent_id\":\"a\",\"status\":\"Completed\",\"config\":{"
        "\"model\":\"d\",\"provider\":\"azure\",\"api\":\"azure_open_ai_responses\"}}]}";
    phi_allocator allocator = test_allocator();
    phi_session *s;
    REQUIRE(phi_session_from_json(phi_str_of(text), &allocator, 0, &s, NULL) == PHI_OK);
    REQUIRE(s->loop_count == 1);
    REQUIRE(s->loops[0]->config != NULL);
    CHECK_STR(s->loops[0]->config->provider, "azure_openai");
    phi_session_free(s);
}

TEST(a_recorded_session_is_written_as_it_is_read_back) {
    uint32_t flags;
    phi_agent agent;
    rig *r = two_runs(NULL, &agent, false);
    for (flags = 0; flags < 2; flags++) {
        phi_allocator allocator = test_allocator();
        phi_memory memory;
        phi_arena arena;
        phi_session *s;
        phi_str first, second;
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        REQUIRE(phi_session_to_json(session_of("s"), flags, &arena, &first) == PHI_OK);
        REQUIRE(phi_session_from_json(first, &allocator, 0, &s, NULL) == PHI_OK);
        REQUIRE(phi_session_to_json(s, flags, &arena, &second) == PHI_OK);
        CHECK(phi_str_equal(first, second));
        CHECK_EQ_INT(s->loops[0]->turn_count, 2);
        CHECK_EQ_INT(s->loops[0]->message_count, 4);
        phi_session_free(s);
        phi_arena_free(&arena);
    }
    rec_end();
    rig_free(r);
}

TEST(events_of_ours_alone_are_written_only_where_they_are_asked_for) {
    uint32_t flags;
    rec_begin(NULL);
    start("s", "s.m.1", NULL, 0);
    feed("{'type':'Warning','loop_id':'s.m.1','text':'w'}");
    feed("{'type':'SomethingNew','loop_id':'s.m.1','x':1}");
    turn_start("s.m.1", 0);
    feed("{'type':'TurnEnd','loop_id':'s.m.1','message':null," USAGE
         ",'timestamp':'2026-01-01T00:00:02Z','tool_results':[]}");
    stop("s.m.1", 3);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->event_count, 6);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->turn_count, 1);
    for (flags = 0; flags < 2; flags++) {
        phi_allocator allocator = test_allocator();
        phi_memory memory;
        phi_arena arena;
        phi_session *s;
        phi_str json;
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        REQUIRE(phi_session_to_json(session_of("s"), flags, &arena, &json) == PHI_OK);
        REQUIRE(phi_session_from_json(json, &allocator, 0, &s, NULL) == PHI_OK);
        CHECK_EQ_INT(s->loops[0]->event_count, flags == 0 ? 3 : 6);
        CHECK_EQ_INT(s->loops[0]->events[flags == 0 ? 2 : 5].sequence, 5);
        CHECK_EQ_INT(s->loops[0]->turn_count, flags);
        phi_session_free(s);
        phi_arena_free(&arena);
    }
    rec_end();
}

static void refuses(const char *json, const char *words) {
    phi_allocator allocator = test_allocator();
    phi_parse_error error;
    phi_session *s = NULL;
    CHECK_EQ_INT(phi_session_from_json(phi_str_of(json), &allocator, 0, &s, &error), PHI_PARSE);
    CHECK(s == NULL);
    CHECK_EQ_STR(error.message, words);
}

TEST(what_is_no_session_is_refused_with_words) {
    refuses("[]", "expected an object: a session");
    refuses("{}", "session_id: expected a string");
    refuses("{\"session_id\":\"s\",\"loops\":[{}]}", "loops[0]: loop_id: expected a string");
    refuses("{\"session_id\":\"s\",\"loops\":[{\"loop_id\":\"l\"},{\"loop_id\":\"k\","
            "\"messages\":[{\"role\":\"user\",\"content\":[]},3]}]}",
            "loops[1]: messages[1]: expected an object: a message");
    CHECK_EQ_INT(phi_session_from_json(phi_str_of("{}"), NULL, 0, NULL, NULL), PHI_BAD_ARG);
}

/* ---- stores ---- */

typedef struct shelf {
    char id[64], agent[64];
    char *bytes;
    size_t len;
    phi_status status;
} shelf;

static phi_status shelf_save(void *user_data, const char *id, const char *agent, phi_str bytes,
                             char *words, size_t words_size) {
    shelf *to = (shelf *)user_data;
    (void)words;
    (void)words_size;
    if (to->status != PHI_OK) return to->status;
    free(to->bytes);
    to->bytes = (char *)malloc(bytes.len);
    memcpy(to->bytes, bytes.at, bytes.len);
    to->len = bytes.len;
    (void)snprintf(to->id, sizeof to->id, "%s", id);
    (void)snprintf(to->agent, sizeof to->agent, "%s", agent);
    return PHI_OK;
}

static phi_status shelf_load(void *user_data, const char *id, phi_arena *arena, phi_str *out,
                             char *words, size_t words_size) {
    shelf *from = (shelf *)user_data;
    char *copy;
    (void)words;
    (void)words_size;
    if (from->bytes == NULL || strcmp(from->id, id) != 0) return PHI_NOT_FOUND;
    copy = (char *)phi_arena_alloc(arena, from->len);
    if (copy == NULL) return PHI_NO_MEMORY;
    memcpy(copy, from->bytes, from->len);
    *out = phi__str(copy, from->len);
    return PHI_OK;
}

TEST(a_session_is_saved_and_loaded_through_a_store) {
    phi_allocator allocator = test_allocator();
    char words[160];
    shelf on;
    phi_store store;
    phi_session *s = NULL;
    memset(&on, 0, sizeof on);
    memset(&store, 0, sizeof store);
    store.user_data = &on;
    store.save = shelf_save;
    store.load = shelf_load;
    rec_begin(NULL);
    both("s", "s.m.1", NULL, 0);
    CHECK_EQ_INT(phi_session_save(&store, session_of("s"), 0, words, sizeof words), PHI_OK);
    CHECK_EQ_STR(on.id, "s");
    CHECK_EQ_STR(on.agent, "agent");
    REQUIRE(phi_session_load(&store, "s", &allocator, &s, words, sizeof words) == PHI_OK);
    CHECK_EQ_INT(s->loop_count, 1);
    CHECK_EQ_INT(phi_recorder_resume(rec, s), PHI_MISUSE);
    rec_end();
    rec_begin(NULL);
    CHECK_EQ_INT(phi_recorder_resume(rec, s), PHI_OK); /* a new process goes on with it */
    both("s", "s.m.2", "s.m.1", 5);
    CHECK_EQ_INT(session_of("s")->loop_count, 2);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->child_count, 1);
    {
        phi_store threads_only;
        phi_session *none = NULL;
        memset(&threads_only, 0, sizeof threads_only);
        CHECK_EQ_INT(phi_session_load(&threads_only, "s", &allocator, &none, NULL, 0),
                     PHI_UNSUPPORTED);
        CHECK(none == NULL);
        CHECK_EQ_INT(phi_session_save(&threads_only, s, 0, NULL, 0), PHI_UNSUPPORTED);
    }
    CHECK_EQ_INT(phi_session_load(&store, "t", &allocator, &s, words, sizeof words), PHI_NOT_FOUND);
    CHECK_EQ_STR(words, "Session not found: t");
    on.status = PHI_BUSY;
    CHECK_EQ_INT(phi_session_save(&store, session_of("s"), 0, words, sizeof words), PHI_BUSY);
    CHECK_EQ_STR(words, "Session s is locked by another writer");
    on.bytes[0] = '[';
    CHECK_EQ_INT(phi_session_load(&store, "s", &allocator, &s, words, sizeof words), PHI_PARSE);
    CHECK(strncmp(words, "2:15: ", 6) == 0);
    rec_end();
    free(on.bytes);
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
    usage = phi_thread_usage(phi_agent_thread(agent));
    CHECK_EQ_INT(phi_session_total_usage(s).total_tokens, usage.total_tokens);
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
    desc.filters = &filter;
    desc.filter_count = 1;
    desc.session_id = "s";
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

static void one_of_all(phi_session **out) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_session *s = NULL;
    phi_str json;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    *out = NULL;
    if (phi_session_from_json(phi_str_of(whole), &allocator, 0, &s, NULL) == PHI_OK &&
        phi_session_to_json(s, 0, &arena, &json) == PHI_OK)
        *out = s;
    else
        phi_session_free(s);
    phi_arena_free(&arena);
}

TEST(reading_and_writing_survive_every_failed_allocation) {
    int n = 0;
    bool tripped;
    do {
        phi_session *s;
        test_alloc_fail_at(n++);
        one_of_all(&s);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(s == NULL, tripped);
        phi_session_free(s);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped);
    CHECK(n > 3);
}

static bool say(const char *text) {
    char json[2048];
    size_t i;
    (void)snprintf(json, sizeof json, "%s", text);
    for (i = 0; json[i] != '\0'; i++)
        if (json[i] == '\'') json[i] = '"';
    return phi_recorder_add_json(rec, phi_str_of(json)) == PHI_OK;
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
        phi_recorder_flush(rec);
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
        status = phi_recorder_add_json(
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
    TEST_ENTRY(every_field_is_read_and_written_as_the_original_does),
    TEST_ENTRY(what_the_original_would_refuse_a_file_for_is_not_written),
    TEST_ENTRY(a_loop_of_a_provider_with_an_old_name_is_read_with_the_name_of_today),
    TEST_ENTRY(a_recorded_session_is_written_as_it_is_read_back),
    TEST_ENTRY(events_of_ours_alone_are_written_only_where_they_are_asked_for),
    TEST_ENTRY(what_is_no_session_is_refused_with_words),
    TEST_ENTRY(a_session_is_saved_and_loaded_through_a_store),
    TEST_ENTRY(the_log_seen_as_a_session_has_the_loops_that_the_recorder_saw),
    TEST_ENTRY(runs_that_did_not_complete_look_the_same_from_the_log_and_from_the_events),
    TEST_ENTRY(reading_and_writing_survive_every_failed_allocation),
    TEST_ENTRY(recording_survives_every_failed_allocation),
    TEST_ENTRY(a_memory_limit_refuses_and_what_was_recorded_stays))
