/* test_session_file.c - sessions as JSON, both ways, and in stores. */
#include "persist/file_store.h"
#include "record/two_runs.h"

#include <unistd.h>

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

static const char own_blocks[] =
    "{\"session_id\":\"s\",\"loops\":[{\"loop_id\":\"l\",\"messages\":[{\"role\":\"user\","
    "\"content\":["
    "{\"type\":\"text\",\"text\":\"read\"},"
    "{\"type\":\"document\",\"name\":\"a.pdf\",\"data\":\"JVBERi0=\",\"mimeType\":"
    "\"application/pdf\"},{\"type\":\"document\",\"name\":\"b\",\"text\":\"one\"},"
    "{\"type\":\"document\",\"url\":\"https://a.example/c\"},"
    "{\"type\":\"audio\",\"data\":\"UklGRg==\",\"mimeType\":\"audio/wav\"}],\"timestamp\":1},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"opaque\",\"name\":\"x\",\"protocol\":"
    "\"google\",\"json\":\"{}\"},{\"type\":\"text\",\"text\":\"ok\"}],\"timestamp\":2}],"
    "\"events\":[{\"sequence\":0,\"event\":{\"type\":\"MessageEnd\",\"loop_id\":\"l\",\"message\":{"
    "\"role\":\"user\",\"content\":[{\"type\":\"document\",\"name\":\"d.pdf\",\"data\":"
    "\"JVBERi0=\",\"mimeType\":\"application/pdf\"}],\"timestamp\":1}}},"
    "{\"sequence\":1,\"event\":{\"type\":\"TurnEnd\",\"loop_id\":\"l\",\"turn_index\":0,"
    "\"message\":{"
    "\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"ok\"}],\"timestamp\":2},"
    "\"tool_results\":[{\"role\":\"toolResult\",\"toolCallId\":\"c\",\"toolName\":\"t\","
    "\"content\":[{\"type\":\"audio\",\"data\":\"UklGRg==\",\"mimeType\":\"audio/mpeg\"}],"
    "\"isError\":false,\"timestamp\":2}]}},"
    "{\"sequence\":2,\"event\":{\"type\":\"TurnRequest\",\"loop_id\":\"l\",\"turn_index\":0,"
    "\"payload\":{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"document\","
    "\"name\":\"e.pdf\",\"url\":\"https://a.example/e\"}]}]}}}]}]}";

static size_t occurs(phi_str json, const char *what) {
    size_t at = 0, n = 0;
    while ((at = phi__str_find(json, at, what)) != SIZE_MAX) {
        at++;
        n++;
    }
    return n;
}

TEST(blocks_that_the_original_does_not_know_are_written_as_text) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_session *s, *back;
    phi_str json;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(phi_session_from_json(phi_str_of(own_blocks), &allocator, 0, &s, NULL) == PHI_OK);
    REQUIRE(CHECK_EQ_INT(phi_session_to_json(s, 0, &arena, &json), PHI_OK));
    CHECK_EQ_INT(occurs(json, "\"document\"") + occurs(json, "\"audio\"") +
                     occurs(json, "\"opaque\"") + occurs(json, "JVBERi0=") +
                     occurs(json, "UklGRg=="),
                 0);
    CHECK_EQ_INT(occurs(json, "\"text\": \"(a document: a.pdf)\""), 1);
    CHECK_EQ_INT(occurs(json, "\"text\": \"(a document: b)\\none\""), 1);
    CHECK_EQ_INT(occurs(json, "\"text\": \"(a document: https://a.example/c)\""), 1);
    CHECK_EQ_INT(occurs(json, "\"text\": \"(a sound: audio/wav)\""), 1);
    CHECK_EQ_INT(occurs(json, "\"text\": \"(a document: d.pdf)\""), 1);
    CHECK_EQ_INT(occurs(json, "\"text\": \"(a sound: audio/mpeg)\""), 1);
    CHECK_EQ_INT(occurs(json, "\"text\": \"ok\""), 2);
    CHECK_EQ_INT(occurs(json, "TurnRequest"), 0); /* a request is written whole or not at all */
    REQUIRE(CHECK_EQ_INT(phi_session_to_json(s, PHI_SESSION_OWN_EVENTS, &arena, &json), PHI_OK));
    REQUIRE(phi_session_from_json(json, &allocator, 0, &back, NULL) == PHI_OK);
    CHECK_EQ_INT(back->loops[0]->messages[0].content_count, 5);
    CHECK_EQ_INT(back->loops[0]->messages[0].content[1].kind, PHI_CONTENT_DOCUMENT);
    CHECK_STR(back->loops[0]->messages[0].content[1].data, "JVBERi0=");
    CHECK_EQ_INT(back->loops[0]->messages[0].content[4].kind, PHI_CONTENT_AUDIO);
    CHECK_EQ_INT(back->loops[0]->messages[1].content[0].kind, PHI_CONTENT_OPAQUE);
    phi_session_free(back);
    phi_session_free(s);
    phi_arena_free(&arena);
}

TEST(writing_blocks_as_text_survives_every_failed_allocation) {
    phi_allocator allocator = test_allocator();
    phi_session *s;
    int n = 0;
    phi_status status;
    REQUIRE(phi_session_from_json(phi_str_of(own_blocks), &allocator, 0, &s, NULL) == PHI_OK);
    do {
        phi_memory memory;
        phi_arena arena;
        phi_str json;
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        test_alloc_fail_at(n++);
        status = phi_session_to_json(s, 0, &arena, &json);
        test_alloc_fail_at(-1);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        phi_arena_free(&arena);
    } while (status != PHI_OK && n < 1000);
    CHECK(n > 3);
    phi_session_free(s);
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
    turn_start("s.m.1", 0);
    feed("{'type':'TurnEnd','loop_id':'s.m.1','message':null," USAGE
         ",'timestamp':'2026-01-01T00:00:02Z','tool_results':[]}");
    stop("s.m.1", 3);
    CHECK_EQ_INT(loop_of("s", "s.m.1")->event_count, 5);
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
        CHECK_EQ_INT(s->loops[0]->event_count, flags == 0 ? 3 : 5);
        CHECK_EQ_INT(s->loops[0]->events[flags == 0 ? 2 : 4].sequence, 4);
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

/* ---- storage ---- */

TEST(old_files_without_turns_and_scope_are_read) {
    static const char json[] =
        "{\"session_id\":\"s\",\"agent_id\":\"a\",\"created_at\":\"2026-01-01T00:00:00Z\","
        "\"last_active_at\":\"2026-01-01T00:00:00.5Z\",\"formation\":{\"Explicit\":{\"timestamp\":"
        "\"2026-01-01T00:00:00Z\"}},\"parent_spawn_ref\":null,\"loops\":[{\"loop_id\":\"l\","
        "\"session_id\":\"s\",\"agent_id\":\"a\",\"parent_loop_id\":null,\"continuation_kind\":"
        "null,"
        "\"started_at\":\"2026-01-01T00:00:00Z\",\"ended_at\":null,\"status\":\"Completed\","
        "\"rejection\":null,\"config\":null,\"messages\":[],\"usage\":{\"input\":1,\"output\":2},"
        "\"metadata\":null,\"events\":[],\"children_loop_ids\":[],\"child_loop_refs\":[],"
        "\"parallel_group\":null}]}";
    phi_allocator allocator = test_allocator();
    phi_session *s;
    REQUIRE(phi_session_from_json(phi_str_of(json), &allocator, 0, &s, NULL) == PHI_OK);
    CHECK_EQ_INT(s->scope, PHI_SESSION_EPHEMERAL);
    CHECK_EQ_INT(s->formation.kind, PHI_FORMATION_EXPLICIT);
    CHECK_EQ_INT(s->last_active_ms, 1767225600500);
    CHECK_EQ_INT(s->loops[0]->continuation, PHI_CONTINUATION_INITIAL);
    CHECK_EQ_INT(s->loops[0]->turn_count, 0);
    CHECK_EQ_INT(s->loops[0]->usage.output, 2);
    phi_session_free(s);
}

static char directory[300];

static phi_store files(const char *inside) {
    static char path[320];
    phi_file_store_desc desc;
    phi_store store;
    memset(&desc, 0, sizeof desc);
    (void)snprintf(path, sizeof path, "%s%s", directory, inside);
    desc.directory = path;
    desc.allocator = test_allocator();
    CHECK_EQ_INT(phi_file_store_open(&desc, &store), PHI_OK);
    return store;
}

TEST(sessions_are_files_that_are_loaded_listed_by_agent_newest_first_and_deleted) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    const phi_store_item *items;
    char words[160], path[320], *text;
    size_t count = 9;
    phi_session *s = NULL;
    phi_store store;
    REQUIRE(test_temp_dir(directory, sizeof directory));
    store = files("");
    rec_begin(NULL);
    both("s", "s.m.1", NULL, 0);
    both("t", "t.m.1", NULL, 0);
    CHECK_EQ_INT(phi_session_save(&store, session_of("s"), 0, words, sizeof words), PHI_OK);
    (void)usleep(20000);
    CHECK_EQ_INT(phi_session_save(&store, session_of("t"), 0, words, sizeof words), PHI_OK);
    rec_end();
    (void)snprintf(path, sizeof path, "%s/s.json", directory);
    text = test_read_file(path, NULL);
    CHECK(text != NULL && strncmp(text, "{\n  \"session_id\": \"s\",\n", 23) == 0);
    free(text);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(store.list(store.user_data, "agent", &arena, &items, &count, NULL, 0), PHI_OK);
    CHECK_EQ_INT(count, 2);
    if (count == 2) {
        CHECK_STR(items[0].id, "t");
        CHECK_STR(items[1].id, "s");
    }
    CHECK_EQ_INT(store.list(store.user_data, "nobody", &arena, &items, &count, NULL, 0), PHI_OK);
    CHECK_EQ_INT(count, 0);
    phi_arena_free(&arena);
    CHECK_EQ_INT(phi_session_load(&store, "s", &allocator, &s, words, sizeof words), PHI_OK);
    CHECK(s != NULL && s->loop_count == 1);
    phi_session_free(s);
    CHECK_EQ_INT(store.remove(store.user_data, "s", NULL, 0), PHI_OK);
    CHECK_EQ_INT(store.remove(store.user_data, "t", NULL, 0), PHI_OK);
    CHECK_EQ_INT(store.remove(store.user_data, "s", NULL, 0), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_session_load(&store, "s", &allocator, &s, words, sizeof words), PHI_NOT_FOUND);
    CHECK_EQ_STR(words, "Session not found: s");
    CHECK_EQ_INT(phi_session_load(&store, "../s", &allocator, &s, words, sizeof words),
                 PHI_BAD_ARG);
    phi_file_store_close(&store);
}

TEST(a_directory_that_is_not_there_lists_nothing) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    const phi_store_item *items;
    size_t count = 9;
    phi_store store;
    REQUIRE(test_temp_dir(directory, sizeof directory));
    store = files("/not/there");
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(store.list(store.user_data, NULL, &arena, &items, &count, NULL, 0), PHI_OK);
    CHECK_EQ_INT(count, 0);
    phi_arena_free(&arena);
    phi_file_store_close(&store);
}

TEST_MAIN(TEST_ENTRY(every_field_is_read_and_written_as_the_original_does),
          TEST_ENTRY(what_the_original_would_refuse_a_file_for_is_not_written),
          TEST_ENTRY(a_loop_of_a_provider_with_an_old_name_is_read_with_the_name_of_today),
          TEST_ENTRY(a_recorded_session_is_written_as_it_is_read_back),
          TEST_ENTRY(events_of_ours_alone_are_written_only_where_they_are_asked_for),
          TEST_ENTRY(what_is_no_session_is_refused_with_words),
          TEST_ENTRY(a_session_is_saved_and_loaded_through_a_store),
          TEST_ENTRY(reading_and_writing_survive_every_failed_allocation),
          TEST_ENTRY(old_files_without_turns_and_scope_are_read),
          TEST_ENTRY(sessions_are_files_that_are_loaded_listed_by_agent_newest_first_and_deleted),
          TEST_ENTRY(a_directory_that_is_not_there_lists_nothing),
          TEST_ENTRY(blocks_that_the_original_does_not_know_are_written_as_text),
          TEST_ENTRY(writing_blocks_as_text_survives_every_failed_allocation))
