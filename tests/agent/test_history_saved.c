/* test_history_saved.c - an agent's messages as JSON: saved and restored. */
#include "agent/messages.h"
#include "support/ask.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "base/arena.h"
#include "log/thread.h"

TEST(an_id_that_was_appended_is_not_given_to_a_later_call) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    phi_content asked = text_block("go"), call = call_block("t1", "echo", "{}");
    phi_content done = text_block("done");
    phi_message list[3];
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    list[0] = message_of(PHI_ROLE_USER, &asked);
    list[1] = message_of(PHI_ROLE_ASSISTANT, &call);
    list[1].stop_reason = PHI_STOP_REASON_TOOL_USE;
    list[2] = result_of("t1", &done);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, list, 3), PHI_OK);
    rig_call(r, "t1", "echo", "{\"n\":1}");
    rig_says(r, "fine"); /* each request passes preflight: ids are unique in it */
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 7);
    CHECK(!phi_str_equal(phi_thread_message_at(phi_agent_thread(agent), 4)->content[0].id,
                         phi_str_of("t1")));
    CHECK(phi_str_equal(phi_thread_message_at(phi_agent_thread(agent), 4)->content[0].id,
                        phi_thread_message_at(phi_agent_thread(agent), 5)->tool_call_id));
    rig_free(r);
}

/* ---- saving and restoring ---- */
TEST(a_history_is_restored_whole_and_saved_again_byte_for_byte) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    char *json;
    CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of(whole), NULL), PHI_OK);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 5);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->content[2].incomplete, true);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[2].arguments, "{broken");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 0)->loop_id, "s.c.1");
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 4)->timestamp_ms, -5);
    json = saved(agent);
    CHECK_EQ_STR(json, whole);
    free(json);
    rig_free(r);
}

TEST(what_was_said_and_done_is_saved_restored_and_saved_the_same) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent, second;
    phi_message note = extension_of("note", "  {\"b\" : [1e3, \"\\u0041\\ud800\"] }\n");
    char *first, *again;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "t1", "echo", "{ \"spaced\" :  1.0, \"again\":1e2 }");
    rig_call(r, "t2", "echo", "{\"bro");
    rig_says(r, "text that is not \xff UTF-8");
    rig_breaks(r, "", PHI_NETWORK, "gone");
    CHECK_EQ_INT(phi_prompt(agent, "go \xc3( on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &note, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "fail"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    first = saved(agent);
    second = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_messages_from_json(second, phi_str_of(first), NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(second)),
                 phi_thread_message_count(phi_agent_thread(agent)));
    again = saved(second);
    CHECK_EQ_STR(again, first);
    free(first);
    free(again);
    rig_free(r);
}

static const char *any(uint32_t *state, char *room, size_t size) {
    static const char *const odd[] = {
        "",         "{}",       "{ \"a\" : 1.50 }", "\"quoted\"",
        "[1,2",     "\xff\xfe", "{\"a\":\"\xff\"}", "null",
        "-0",       "1e400",    "\"\\ud800\"",      "{\"a\":1,\"a\":2}",
        "\xc3\xa4", " true\n"};
    size_t n, i;
    if (test_random(state) % 2 == 0) return odd[test_random(state) % (sizeof odd / sizeof *odd)];
    n = test_random(state) % (size - 1);
    for (i = 0; i < n; i++) room[i] = (char)(1 + test_random(state) % 255);
    room[n] = '\0';
    return room;
}

/* Appends a message of whatever is allowed. */
static void append_any(phi_agent agent, uint32_t *state) {
    char room[12][24];
    phi_content block;
    phi_message message;
    memset(&block, 0, sizeof block);
    block.kind = (phi_content_kind)(1 + test_random(state) % 4);
    block.text = phi_str_of(any(state, room[0], sizeof room[0]));
    block.data = phi_str_of("aGk=");
    block.mime_type = phi_str_of("image/png");
    block.id = phi_str_of("id");
    block.name = phi_str_of(any(state, room[1], sizeof room[1]));
    block.arguments = phi_str_of(any(state, room[2], sizeof room[2]));
    block.signature = phi_str_of(any(state, room[3], sizeof room[3]));
    block.replay = phi_str_of(any(state, room[4], sizeof room[4]));
    block.redacted = test_random(state) % 2 == 0;
    block.incomplete = test_random(state) % 2 == 0;
    message = message_of((phi_role)(1 + test_random(state) % 4), &block);
    message.timestamp_ms = (int64_t)test_random(state) - 1000000;
    message.loop_id = phi_str_of(any(state, room[5], sizeof room[5]));
    message.turn_index = test_random(state);
    message.stop_reason = (phi_stop_reason)(test_random(state) % 12);
    message.model = phi_str_of(any(state, room[6], sizeof room[6]));
    message.provider = phi_str_of(any(state, room[7], sizeof room[7]));
    message.protocol = phi_str_of(any(state, room[8], sizeof room[8]));
    message.usage.input = (uint64_t)test_random(state) << 32;
    message.error_message = phi_str_of(any(state, room[9], sizeof room[9]));
    message.tool_call_id = phi_str_of("id");
    message.is_error = test_random(state) % 2 == 0;
    message.extension_kind = phi_str_of("kind");
    message.extension_data = phi_str_of(any(state, room[10], sizeof room[10]));
    (void)phi_thread_append(phi_agent_thread(agent), &message, 1, NULL); /* some are refused */
}

TEST(whatever_a_history_holds_is_saved_again_the_same) {
    uint32_t state = 7;
    int round, i;
    for (round = 0; round < 200; round++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL), second = rig_agent(r, NULL);
        char *first, *again;
        for (i = 0; i < 30; i++) append_any(agent, &state);
        CHECK(phi_thread_message_count(phi_agent_thread(agent)) > 5);
        first = saved(agent);
        CHECK_EQ_INT(phi_agent_messages_from_json(second, phi_str_of(first), NULL), PHI_OK);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(second)),
                     phi_thread_message_count(phi_agent_thread(agent)));
        again = saved(second);
        if (!CHECK_EQ_STR(again, first)) round = 1000;
        free(first);
        free(again);
        rig_free(r);
    }
}

TEST(text_that_was_damaged_is_restored_or_refused_and_never_harms) {
    uint32_t state = 3;
    char damaged[sizeof whole];
    int round, restored = 0;
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    for (round = 0; round < 3000; round++) {
        phi_parse_error error;
        size_t len = sizeof whole - 1;
        int hits = 1 + (int)(test_random(&state) % 3);
        phi_status status;
        memcpy(damaged, whole, sizeof whole);
        while (hits-- > 0)
            damaged[test_random(&state) % len] = "{}[]\",:0ax\xff"[test_random(&state) % 12];
        if (test_random(&state) % 8 == 0) len = test_random(&state) % len;
        status = phi_agent_messages_from_json(agent, phi__str(damaged, len), &error);
        CHECK(status == PHI_OK || (status == PHI_PARSE && error.message[0] != '\0'));
        restored += status == PHI_OK;
        if (status == PHI_OK) free(saved(agent));
    }
    CHECK(restored > 300);
    rig_free(r);
}

TEST(an_empty_history_is_a_history) {
    rig *r = rig_new();
    phi_agent agent = talked(r);
    char *json;
    CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of(" [ ] "), NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    json = saved(agent);
    CHECK_EQ_STR(json, "[]");
    free(json);
    rig_free(r);
}

static void not_restored(phi_agent agent, const char *json, const char *want) {
    phi_parse_error error;
    CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of(json), &error), PHI_PARSE);
    CHECK_EQ_STR(error.message, want);
    CHECK(error.line == 1 && error.column > 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
}

TEST(what_is_no_history_is_refused_and_changes_nothing) {
    rig *r = rig_new();
    phi_agent agent = talked(r);
    phi_parse_error error;
    not_restored(agent, "{}", "expected an array of messages");
    not_restored(agent, "[1]", "[0]: expected an object: a message");
    not_restored(agent, "[{\"role\":\"user\",\"content\":[]},{\"content\":[]}]",
                 "[1]: role: expected a string, such as \"user\"");
    not_restored(agent, "[{\"role\":\"user\"}]", "[0]: content: expected an array of blocks");
    CHECK_EQ_STR(words_of(r),
                 "phi_agent_messages_from_json: [0]: content: expected an array of blocks");
    CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of("[\n{\"role\":}]"), &error),
                 PHI_PARSE);
    CHECK_EQ_INT(error.line, 2);
    CHECK_EQ_INT(error.column, 9);
    CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of(""), NULL), PHI_PARSE);
    CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of(NULL), NULL), PHI_PARSE);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_free(r);
}

/* ---- no memory ---- */

TEST(saving_without_memory_says_so) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 100; n++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL);
        phi_allocator allocator = test_allocator();
        phi_memory memory;
        phi_arena arena;
        phi_str json = {NULL, 0};
        phi_status status;
        CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of(whole), NULL), PHI_OK);
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        test_alloc_fail_at(n);
        status = phi_agent_messages_to_json(agent, &arena, &json);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        if (!tripped) CHECK_STR(json, whole);
        phi_arena_free(&arena);
        CHECK_EQ_INT(memory.used_bytes, 0);
        rig_free(r);
    }
    CHECK(n > 3);
}

TEST(a_history_larger_than_the_agents_limit_is_refused_for_ever) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_content text;
    phi_message message;
    size_t used;
    int i;
    static char words[100000];
    memset(words, 'a', sizeof words - 1);
    desc.memory.limit_bytes = 65536;
    agent = rig_agent(r, &desc);
    REQUIRE(agent.rt != NULL);
    text = text_block("short");
    message = message_of(PHI_ROLE_USER, &text);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, &message, 1), PHI_OK);
    text = text_block(words);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_NO_MEMORY);
    used = phi_agent_get_info(agent).memory_used;
    for (i = 0; i < 500; i++) {
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_NO_MEMORY);
        CHECK_EQ_INT(phi_agent_replace_messages(agent, &message, 1), PHI_NO_MEMORY);
    }
    CHECK_EQ_INT(phi_agent_get_info(agent).memory_used, used);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 1);
    rig_free(r);
}

TEST(messages_are_saved_as_a_json_array_and_restored_equal_and_the_model_sees_them) {
    rig *r = rig_new();
    phi_agent agent = echo_agent(r), other = echo_agent(r);
    phi_memory memory;
    phi_arena arena;
    phi_str saved, again;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_call(r, "c1", "echo", "{\"x\":1}");
    rig_says(r, "done");
    rig_says(r, "more");
    ask(r, agent, "remember me");
    CHECK_EQ_INT(phi_agent_messages_to_json(agent, &arena, &saved), PHI_OK);
    CHECK(saved.len > 2 && saved.at[0] == '[' && saved.at[saved.len - 1] == ']');
    CHECK_EQ_INT(phi_agent_messages_from_json(other, saved, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(other)), 4);
    CHECK_EQ_INT(phi_agent_messages_to_json(other, &arena, &again), PHI_OK);
    CHECK_STR(again, saved.at);
    ask(r, other, "what did I say?");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(other)), 6);
    CHECK(strstr(rig_request(r, 2), "remember me") != NULL);
    CHECK(strstr(rig_request(r, 2), "\"tool_result\"") != NULL);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(an_id_that_was_appended_is_not_given_to_a_later_call),
          TEST_ENTRY(a_history_is_restored_whole_and_saved_again_byte_for_byte),
          TEST_ENTRY(what_was_said_and_done_is_saved_restored_and_saved_the_same),
          TEST_ENTRY(whatever_a_history_holds_is_saved_again_the_same),
          TEST_ENTRY(text_that_was_damaged_is_restored_or_refused_and_never_harms),
          TEST_ENTRY(an_empty_history_is_a_history),
          TEST_ENTRY(what_is_no_history_is_refused_and_changes_nothing),
          TEST_ENTRY(saving_without_memory_says_so),
          TEST_ENTRY(a_history_larger_than_the_agents_limit_is_refused_for_ever),
          TEST_ENTRY(messages_are_saved_as_a_json_array_and_restored_equal_and_the_model_sees_them))
