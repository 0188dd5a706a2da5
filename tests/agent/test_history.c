/* test_history.c - an agent's messages from outside: appended, replaced, cleared, saved, restored. */
#include "agent/response.h"
#include "support/heard.h"

static phi_content text_block(const char *text) {
    phi_content content;
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(text);
    return content;
}

static phi_content call_block(const char *id, const char *name, const char *arguments) {
    phi_content content;
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TOOL_CALL;
    content.id = phi_str_of(id);
    content.name = phi_str_of(name);
    content.arguments = phi_str_of(arguments);
    return content;
}

/* One block, which must stay. */
static phi_message message_of(phi_role role, const phi_content *content) {
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = role;
    message.content = content;
    message.content_count = 1;
    if (role == PHI_ROLE_ASSISTANT) message.stop_reason = PHI_STOP_REASON_STOP;
    return message;
}

static phi_message result_of(const char *id, const phi_content *content) {
    phi_message message = message_of(PHI_ROLE_TOOL_RESULT, content);
    message.tool_call_id = phi_str_of(id);
    message.tool_name = phi_str_of("echo");
    return message;
}

static phi_message extension_of(const char *kind, const char *data) {
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_EXTENSION;
    message.extension_kind = phi_str_of(kind);
    message.extension_data = phi_str_of(data);
    return message;
}

/* An agent that has been asked and has answered. */
static phi_agent talked(rig *r) {
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "the answer");
    CHECK_EQ_INT(phi_prompt(agent, "the question"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    return agent;
}

/* The history as JSON, copied; caller frees with free(). */
static char *saved(phi_agent agent) {
    phi_memory memory;
    phi_arena arena;
    phi_str json = {NULL, 0};
    char *out = NULL;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (CHECK(phi_save_messages(agent, &arena, &json) == PHI_OK)) {
        out = (char *)malloc(json.len + 1);
        if (out == NULL) abort();
        memcpy(out, json.at, json.len + 1);
    }
    phi_arena_free(&arena);
    CHECK_EQ_INT(memory.used_bytes, 0);
    return out;
}

TEST(appended_messages_are_seen_by_the_model) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    char question[] = "seen before";
    phi_content asked = text_block(question), said = text_block("said before");
    phi_message user = message_of(PHI_ROLE_USER, &asked);
    phi_message answer = message_of(PHI_ROLE_ASSISTANT, &said);
    CHECK_EQ_INT(phi_append_message(agent, &user), PHI_OK);
    CHECK_EQ_INT(phi_append_message(agent, &answer), PHI_OK);
    memset(question, 'x', sizeof question - 1); /* it was copied */
    CHECK_EQ_INT(phi_message_count(agent), 2);
    CHECK_STR(phi_message_at(agent, 0)->content[0].text, "seen before");
    CHECK(phi_message_at(agent, 2) == NULL);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "and now"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 0), "seen before") != NULL);
    CHECK(strstr(rig_request(r, 0), "said before") != NULL);
    CHECK_EQ_INT(phi_message_count(agent), 4);
    CHECK(strstr(rig_story(r), "seen before") == NULL); /* no events of what the host did itself */
    rig_free(r);
}

TEST(an_extension_is_kept_and_never_sent) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_message note = extension_of("bookmark", "{\"page\": 7}");
    CHECK_EQ_INT(phi_append_message(agent, &note), PHI_OK);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 0), "bookmark") == NULL);
    CHECK_EQ_INT(phi_message_count(agent), 3);
    CHECK_STR(phi_message_at(agent, 0)->extension_data, "{\"page\": 7}");
    rig_free(r);
}

static void refused(rig *r, phi_agent agent, const phi_message *message, const char *want) {
    char both[160];
    size_t before = phi_message_count(agent);
    CHECK_EQ_INT(phi_append_message(agent, message), PHI_BAD_ARG);
    (void)snprintf(both, sizeof both, "phi_append_message: %s", want);
    CHECK_EQ_STR(words_of(r), both);
    CHECK_EQ_INT(phi_message_count(agent), before);
}

TEST(what_is_no_message_is_refused_with_words) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_content text = text_block("x"), odd = text;
    phi_message message;
    refused(r, agent, NULL, "the message is NULL");
    message = message_of((phi_role)0, &text);
    refused(r, agent, &message, "role is none of its values");
    message = message_of((phi_role)5, &text);
    refused(r, agent, &message, "role is none of its values");
    message = message_of(PHI_ROLE_ASSISTANT, &text);
    message.stop_reason = (phi_stop_reason)99;
    refused(r, agent, &message, "stop_reason is none of its values");
    message = message_of(PHI_ROLE_ASSISTANT, NULL);
    refused(r, agent, &message, "content is missing");
    odd.kind = (phi_content_kind)0;
    message = message_of(PHI_ROLE_USER, &odd);
    refused(r, agent, &message, "content[0]: expected text or an image");
    odd.kind = PHI_CONTENT_THINKING;
    refused(r, agent, &message, "content[0]: expected text or an image");
    odd.kind = PHI_CONTENT_IMAGE;
    refused(r, agent, &message, "content[0]: an image needs data and mime_type");
    message = message_of(PHI_ROLE_ASSISTANT, &odd);
    refused(r, agent, &message, "content[0]: expected text, thinking or a tool call");
    odd = call_block("", "echo", "{}");
    refused(r, agent, &message, "content[0]: a tool call needs an id");
    message = result_of("", &text);
    refused(r, agent, &message, "a tool result needs a tool_call_id");
    message = extension_of("", "{}");
    refused(r, agent, &message, "an extension needs an extension_kind");
    message = extension_of("note", "{not json");
    refused(r, agent, &message, "extension_data is no JSON");
    CHECK_EQ_INT(phi_replace_messages(agent, NULL, 1), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "phi_replace_messages: messages is missing");
    CHECK_EQ_INT(phi_replace_messages(agent, &message, 1), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "phi_replace_messages: messages[0]: extension_data is no JSON");
    rig_free(r);
}

TEST(an_assistant_message_may_be_empty_and_an_extension_without_data) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_message empty = message_of(PHI_ROLE_ASSISTANT, NULL), bare = extension_of("mark", "");
    empty.content_count = 0;
    CHECK_EQ_INT(phi_append_message(agent, &empty), PHI_OK);
    CHECK_EQ_INT(phi_append_message(agent, &bare), PHI_OK);
    CHECK_EQ_INT(phi_message_count(agent), 2);
    rig_free(r);
}

TEST(while_a_run_goes_on_the_history_is_read_and_not_changed) {
    rig *r = rig_new();
    phi_agent agent = talked(r);
    phi_content text = text_block("x");
    phi_message message = message_of(PHI_ROLE_USER, &text);
    phi_parse_error error;
    char *json;
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_append_message(agent, &message), PHI_BUSY);
    CHECK_EQ_INT(phi_replace_messages(agent, &message, 1), PHI_BUSY);
    CHECK_EQ_INT(phi_clear_messages(agent), PHI_BUSY);
    CHECK_EQ_INT(phi_restore_messages(agent, phi_str_of("[]"), &error), PHI_BUSY);
    CHECK_EQ_STR(error.message, "");
    CHECK_EQ_STR(words_of(r), "phi_restore_messages: a run is going on");
    CHECK_EQ_INT(phi_message_count(agent), 3);
    json = saved(agent);
    REQUIRE(json != NULL);
    CHECK(strstr(json, "the answer") != NULL);
    CHECK(strstr(json, "again") != NULL);
    free(json);
    rig_free(r);
}

TEST(a_stale_agent_has_no_history) {
    rig *r = rig_new();
    phi_agent agent = talked(r), none;
    phi_content text = text_block("x");
    phi_message message = message_of(PHI_ROLE_USER, &text);
    phi_memory memory;
    phi_arena arena;
    phi_str json = {NULL, 0};
    memset(&none, 0, sizeof none);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_free(agent), PHI_OK);
    CHECK_EQ_INT(phi_message_count(agent), 0);
    CHECK(phi_message_at(agent, 0) == NULL);
    CHECK_EQ_INT(phi_append_message(agent, &message), PHI_STALE);
    CHECK_EQ_INT(phi_replace_messages(agent, &message, 1), PHI_STALE);
    CHECK_EQ_INT(phi_clear_messages(agent), PHI_STALE);
    CHECK_EQ_INT(phi_save_messages(agent, &arena, &json), PHI_STALE);
    CHECK_EQ_INT(phi_restore_messages(agent, phi_str_of("[]"), NULL), PHI_STALE);
    CHECK_EQ_INT(phi_message_count(none), 0);
    CHECK(phi_message_at(none, 0) == NULL);
    CHECK_EQ_INT(phi_append_message(none, &message), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_replace_messages(none, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_clear_messages(none), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_save_messages(none, &arena, &json), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_restore_messages(none, phi_str_of("[]"), NULL), PHI_BAD_ARG);
    agent = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_save_messages(agent, NULL, &json), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_save_messages(agent, &arena, NULL), PHI_BAD_ARG);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(replacing_puts_a_new_history_in_the_place_of_the_old) {
    rig *r = rig_new();
    phi_agent agent = talked(r);
    phi_content asked = text_block("another question"), said = text_block("another answer");
    phi_message both[2];
    phi_usage before = phi_agent_usage(agent);
    both[0] = message_of(PHI_ROLE_USER, &asked);
    both[1] = message_of(PHI_ROLE_ASSISTANT, &said);
    CHECK_EQ_INT(phi_replace_messages(agent, both, 2), PHI_OK);
    CHECK_EQ_INT(phi_message_count(agent), 2);
    CHECK_STR(phi_message_at(agent, 1)->content[0].text, "another answer");
    CHECK_EQ_INT(phi_agent_usage(agent).input, before.input);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "the question") == NULL);
    CHECK(strstr(rig_request(r, 1), "another answer") != NULL);
    rig_free(r);
}

TEST(a_history_may_be_replaced_by_a_part_of_itself) {
    rig *r = rig_new();
    phi_agent agent = talked(r);
    phi_message kept = *phi_message_at(agent, 1);
    int i;
    for (i = 0; i < 3; i++) {
        CHECK_EQ_INT(phi_replace_messages(agent, &kept, 1), PHI_OK);
        REQUIRE(phi_message_count(agent) == 1);
        kept = *phi_message_at(agent, 0);
        CHECK_STR(kept.content[0].text, "the answer");
    }
    rig_free(r);
}

TEST(replacing_and_clearing_purge_queued_events_and_responses) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL), other = rig_agent(r, NULL);
    phi_response response;
    phi_event event;
    size_t n = 0;
    rig_silent(r, true);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_ask(agent, "first", &response), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(phi_prompt(other, "second"), PHI_OK);
    (void)rig_run(r, 20);
    REQUIRE(phi_next_event(rig_runtime(r), &event)); /* a popped one goes too */
    CHECK_EQ_INT(phi_clear_messages(agent), PHI_OK);
    CHECK(phi_response_done(response));
    CHECK_EQ_INT(phi_response_free(response), PHI_STALE);
    CHECK_EQ_INT(phi_message_count(agent), 0);
    while (phi_next_event(rig_runtime(r), &event)) {
        CHECK_EQ_INT(event.agent.index, other.index);
        n++;
    }
    CHECK(n > 5);
    rig_free(r);
}

TEST(clearing_needs_no_memory_and_leaves_none_behind) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    size_t empty = phi_agent_memory_used(agent, NULL);
    phi_content text = text_block("something to forget");
    phi_message message = message_of(PHI_ROLE_USER, &text);
    int i;
    for (i = 0; i < 100; i++) CHECK_EQ_INT(phi_append_message(agent, &message), PHI_OK);
    CHECK(phi_agent_memory_used(agent, NULL) > empty);
    test_alloc_fail_from(0);
    CHECK_EQ_INT(phi_clear_messages(agent), PHI_OK);
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(phi_agent_memory_used(agent, NULL), empty);
    CHECK_EQ_INT(phi_clear_messages(agent), PHI_OK);
    rig_free(r);
}

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
    CHECK_EQ_INT(phi_replace_messages(agent, list, 3), PHI_OK);
    rig_call(r, "t1", "echo", "{\"n\":1}");
    rig_says(r, "fine"); /* each request passes preflight: ids are unique in it */
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    REQUIRE(phi_message_count(agent) == 7);
    CHECK(!phi_str_equal(phi_message_at(agent, 4)->content[0].id, phi_str_of("t1")));
    CHECK(phi_str_equal(phi_message_at(agent, 4)->content[0].id,
                        phi_message_at(agent, 5)->tool_call_id));
    rig_free(r);
}

/* ---- saving and restoring ---- */

static const char whole[] =
    "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look \\\"here\\\"\"},"
    "{\"type\":\"image\",\"data\":\"aGk=\",\"mimeType\":\"image/png\"}],\"timestamp\":1700,"
    "\"turnId\":{\"loopId\":\"s.c.1\",\"turnIndex\":0}},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
    "\"signature\":\"sig\",\"redacted\":true,\"replay\":\"a string\"},"
    "{\"type\":\"toolCall\",\"id\":\"t1\",\"name\":\"echo\",\"arguments\":{\"a\":1.5,\"b\":[null]}}"
    ","
    "{\"type\":\"toolCall\",\"id\":\"t2\",\"name\":\"echo\",\"arguments\":\"{broken\","
    "\"incomplete\":true}],\"stopReason\":\"toolUse\",\"model\":\"m\",\"provider\":\"p\","
    "\"api\":\"anthropic_messages\",\"usage\":{\"input\":1,\"output\":2,\"reasoning\":0,"
    "\"cache_read\":3,\"cache_write\":4,\"total_tokens\":10},\"timestamp\":1701},"
    "{\"role\":\"toolResult\",\"toolCallId\":\"t1\",\"toolName\":\"echo\",\"content\":[{\"type\":"
    "\"text\",\"text\":\"done\"}],\"isError\":false,\"timestamp\":1702},"
    "{\"role\":\"extension\",\"kind\":\"note\",\"data\":{\"deep\":[1,2,{\"x\":\"y\"}]}},"
    "{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"error\",\"model\":\"m\","
    "\"provider\":\"p\",\"usage\":{\"input\":0,\"output\":0,\"reasoning\":0,\"cache_read\":0,"
    "\"cache_write\":0,\"total_tokens\":0},\"error_message\":\"broke off\",\"timestamp\":-5}]";

TEST(a_history_is_restored_whole_and_saved_again_byte_for_byte) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    char *json;
    CHECK_EQ_INT(phi_restore_messages(agent, phi_str_of(whole), NULL), PHI_OK);
    REQUIRE(phi_message_count(agent) == 5);
    CHECK_EQ_INT(phi_message_at(agent, 1)->content[2].incomplete, true);
    CHECK_STR(phi_message_at(agent, 1)->content[2].arguments, "{broken");
    CHECK_STR(phi_message_at(agent, 0)->loop_id, "s.c.1");
    CHECK_EQ_INT(phi_message_at(agent, 4)->timestamp_ms, -5);
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
    CHECK_EQ_INT(phi_append_message(agent, &note), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "fail"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    first = saved(agent);
    second = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_restore_messages(second, phi_str_of(first), NULL), PHI_OK);
    CHECK_EQ_INT(phi_message_count(second), phi_message_count(agent));
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
    (void)phi_append_message(agent, &message); /* some are refused */
}

TEST(whatever_a_history_holds_is_saved_again_the_same) {
    uint32_t state = 7;
    int round, i;
    for (round = 0; round < 200; round++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL), second = rig_agent(r, NULL);
        char *first, *again;
        for (i = 0; i < 30; i++) append_any(agent, &state);
        CHECK(phi_message_count(agent) > 5);
        first = saved(agent);
        CHECK_EQ_INT(phi_restore_messages(second, phi_str_of(first), NULL), PHI_OK);
        CHECK_EQ_INT(phi_message_count(second), phi_message_count(agent));
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
        status = phi_restore_messages(agent, phi__str(damaged, len), &error);
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
    CHECK_EQ_INT(phi_restore_messages(agent, phi_str_of(" [ ] "), NULL), PHI_OK);
    CHECK_EQ_INT(phi_message_count(agent), 0);
    json = saved(agent);
    CHECK_EQ_STR(json, "[]");
    free(json);
    rig_free(r);
}

static void not_restored(phi_agent agent, const char *json, const char *want) {
    phi_parse_error error;
    CHECK_EQ_INT(phi_restore_messages(agent, phi_str_of(json), &error), PHI_PARSE);
    CHECK_EQ_STR(error.message, want);
    CHECK(error.line == 1 && error.column > 0);
    CHECK_EQ_INT(phi_message_count(agent), 2);
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
    CHECK_EQ_STR(words_of(r), "phi_restore_messages: [0]: content: expected an array of blocks");
    CHECK_EQ_INT(phi_restore_messages(agent, phi_str_of("[\n{\"role\":}]"), &error), PHI_PARSE);
    CHECK_EQ_INT(error.line, 2);
    CHECK_EQ_INT(error.column, 9);
    CHECK_EQ_INT(phi_restore_messages(agent, phi_str_of(""), NULL), PHI_PARSE);
    CHECK_EQ_INT(phi_restore_messages(agent, phi_str_of(NULL), NULL), PHI_PARSE);
    CHECK_EQ_INT(phi_message_count(agent), 2);
    rig_free(r);
}

/* ---- no memory ---- */

TEST(a_change_without_memory_changes_nothing) {
    int what, n;
    for (what = 0; what < 4; what++) {
        bool tripped = true;
        for (n = 0; tripped && n < 200; n++) {
            rig *r = rig_new();
            phi_agent agent = talked(r);
            phi_content blocks[3], asked = text_block("go");
            phi_message list[5];
            char *before = saved(agent), *after;
            size_t used = phi_agent_memory_used(agent, NULL);
            phi_status status;
            blocks[0] = call_block("c1", "echo", "{}");
            blocks[1] = call_block("c2", "echo", "{}");
            blocks[2] = text_block("done");
            list[0] = message_of(PHI_ROLE_USER, &asked);
            list[1] = message_of(PHI_ROLE_ASSISTANT, blocks);
            list[1].content_count = 2;
            list[2] = result_of("c1", &blocks[2]);
            list[3] = result_of("c2", &blocks[2]);
            list[4] = extension_of("note", "[1,2,3]");
            test_alloc_fail_at(n);
            switch (what) {
            case 0: status = phi_append_message(agent, &list[4]); break;
            case 1: status = phi_append_message(agent, &list[1]); break;
            case 2: status = phi_replace_messages(agent, list, 5); break;
            default: status = phi_restore_messages(agent, phi_str_of(whole), NULL); break;
            }
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
            if (tripped) CHECK_EQ_INT(phi_last_error(rig_runtime(r), NULL, NULL), PHI_NO_MEMORY);
            after = saved(agent);
            CHECK_EQ_INT(strcmp(before, after) == 0, tripped);
            if (tripped && what > 1) CHECK_EQ_INT(phi_agent_memory_used(agent, NULL), used);
            free(before);
            free(after);
            rig_says(r, "fine");
            if (what != 1) CHECK_EQ_INT(phi_prompt(agent, "go on"), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 20), 0);
            rig_free(r);
        }
        CHECK(!tripped);
        CHECK(n > 1);
    }
}

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
        CHECK_EQ_INT(phi_restore_messages(agent, phi_str_of(whole), NULL), PHI_OK);
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        test_alloc_fail_at(n);
        status = phi_save_messages(agent, &arena, &json);
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
    desc.memory_limit_bytes = 65536;
    agent = rig_agent(r, &desc);
    REQUIRE(agent.rt != NULL);
    text = text_block("short");
    message = message_of(PHI_ROLE_USER, &text);
    CHECK_EQ_INT(phi_replace_messages(agent, &message, 1), PHI_OK);
    text = text_block(words);
    CHECK_EQ_INT(phi_append_message(agent, &message), PHI_NO_MEMORY);
    used = phi_agent_memory_used(agent, NULL);
    for (i = 0; i < 500; i++) {
        CHECK_EQ_INT(phi_append_message(agent, &message), PHI_NO_MEMORY);
        CHECK_EQ_INT(phi_replace_messages(agent, &message, 1), PHI_NO_MEMORY);
    }
    CHECK_EQ_INT(phi_agent_memory_used(agent, NULL), used);
    CHECK_EQ_INT(phi_message_count(agent), 1);
    rig_free(r);
}

TEST(replacing_again_and_again_takes_no_more_memory) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    size_t used = 0, all = 0;
    int i;
    for (i = 0; i < 100; i++) {
        CHECK_EQ_INT(phi_restore_messages(agent, phi_str_of(whole), NULL), PHI_OK);
        if (i == 1) {
            used = phi_agent_memory_used(agent, NULL);
            all = phi_memory_used(rig_runtime(r), NULL);
        }
    }
    CHECK_EQ_INT(phi_agent_memory_used(agent, NULL), used);
    CHECK_EQ_INT(phi_memory_used(rig_runtime(r), NULL), all);
    rig_free(r);
}

/* ---- inside of a step ---- */

static phi_verdict clears(void *user_data, phi_hook *hook) {
    phi_agent *agents = (phi_agent *)user_data;
    if (hook->point != PHI_HOOK_AFTER_TURN) return PHI_ALLOW;
    CHECK_EQ_INT(phi_clear_messages(agents[0]), PHI_BUSY); /* its own run goes on */
    CHECK_EQ_INT(phi_clear_messages(agents[1]), PHI_OK);
    return PHI_ALLOW;
}

TEST(a_hook_may_clear_another_agents_history_and_not_its_own) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agents[2];
    agents[1] = talked(r);
    desc.hook_fn = clears;
    desc.hook_points = PHI_HOOK_AFTER_TURN;
    desc.user_data = agents;
    agents[0] = rig_agent(r, &desc);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agents[0], "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_message_count(agents[0]), 2);
    CHECK_EQ_INT(phi_message_count(agents[1]), 0);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(appended_messages_are_seen_by_the_model),
          TEST_ENTRY(an_extension_is_kept_and_never_sent),
          TEST_ENTRY(what_is_no_message_is_refused_with_words),
          TEST_ENTRY(an_assistant_message_may_be_empty_and_an_extension_without_data),
          TEST_ENTRY(while_a_run_goes_on_the_history_is_read_and_not_changed),
          TEST_ENTRY(a_stale_agent_has_no_history),
          TEST_ENTRY(replacing_puts_a_new_history_in_the_place_of_the_old),
          TEST_ENTRY(a_history_may_be_replaced_by_a_part_of_itself),
          TEST_ENTRY(replacing_and_clearing_purge_queued_events_and_responses),
          TEST_ENTRY(clearing_needs_no_memory_and_leaves_none_behind),
          TEST_ENTRY(an_id_that_was_appended_is_not_given_to_a_later_call),
          TEST_ENTRY(a_history_is_restored_whole_and_saved_again_byte_for_byte),
          TEST_ENTRY(what_was_said_and_done_is_saved_restored_and_saved_the_same),
          TEST_ENTRY(whatever_a_history_holds_is_saved_again_the_same),
          TEST_ENTRY(text_that_was_damaged_is_restored_or_refused_and_never_harms),
          TEST_ENTRY(an_empty_history_is_a_history),
          TEST_ENTRY(what_is_no_history_is_refused_and_changes_nothing),
          TEST_ENTRY(a_change_without_memory_changes_nothing),
          TEST_ENTRY(saving_without_memory_says_so),
          TEST_ENTRY(a_history_larger_than_the_agents_limit_is_refused_for_ever),
          TEST_ENTRY(replacing_again_and_again_takes_no_more_memory),
          TEST_ENTRY(a_hook_may_clear_another_agents_history_and_not_its_own))
