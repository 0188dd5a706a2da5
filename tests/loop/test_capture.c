/* test_capture.c - PHI_EV_TURN_REQUEST: what each turn is about to send, and where its messages came from. */
#include "support/rig.h"
#include "text/json_in.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "loop/input.h"
#include "model/message.h"

enum { MOST = 8 };

static struct {
    size_t count;
    uint32_t turns[MOST];
    char *payloads[MOST];
    phi_arena arena;
    phi_memory memory;
} seen;

static void watch(void *user_data, const phi_event *event) {
    char *copy;
    (void)user_data;
    if (event->kind != PHI_EV_TURN_REQUEST || seen.count == MOST) return;
    copy = (char *)calloc(1, event->text.len + 1);
    memcpy(copy, event->text.at, event->text.len);
    seen.turns[seen.count] = event->turn_index;
    seen.payloads[seen.count++] = copy;
}

static rig *begin(void) {
    rig *r = rig_new();
    memset(&seen, 0, sizeof seen);
    phi_memory_init(&seen.memory, NULL, 0);
    phi_arena_init(&seen.arena, &seen.memory, 0);
    rig_watch(r, watch, NULL);
    return r;
}

static void end(rig *r) {
    size_t i;
    for (i = 0; i < seen.count; i++) free(seen.payloads[i]);
    phi_arena_free(&seen.arena);
    rig_free(r);
}

static phi_agent_desc capturing(const phi_tool *tool) {
    phi_agent_desc desc = rig_desc();
    desc.options.capture_requests = true;
    desc.tools = tool;
    desc.tool_count = tool != NULL ? 1 : 0;
    return desc;
}

static const phi_json *payload(size_t i) {
    phi_json *root = NULL;
    if (!CHECK(i < seen.count)) return NULL;
    CHECK_EQ_INT(phi_json_parse(&seen.arena, phi_str_of(seen.payloads[i]), 0, &root, NULL), PHI_OK);
    return root;
}

static phi_str provenance(size_t i) {
    phi_str out = {NULL, 0};
    const phi_json *root = payload(i);
    CHECK_EQ_INT(phi_json_count(phi_json_get(root, "provenance")),
                 phi_json_count(phi_json_get(root, "messages")));
    CHECK_EQ_INT(phi_json_write(&seen.arena, phi_json_get(root, "provenance"), 0, &out), PHI_OK);
    return out;
}

TEST(one_request_is_told_a_turn_with_its_messages_and_where_they_came_from) {
    phi_tool tool = rig_echo();
    rig *r = begin();
    phi_agent_desc desc = capturing(&tool);
    phi_agent agent;
    desc.system_prompt = "be brief";
    agent = rig_agent(r, &desc);
    rig_call(r, "call-1", "echo", "{\"x\":1}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "q"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    REQUIRE(seen.count == 2);
    CHECK_EQ_INT(seen.turns[0], 0);
    CHECK_EQ_INT(seen.turns[1], 1);
    CHECK_STR(provenance(0), "[{\"kind\":\"loop-turn\",\"turn_index\":0,\"role\":\"user-message\","
                             "\"message_index\":0}]");
    CHECK_STR(provenance(1),
              "[{\"kind\":\"loop-turn\",\"turn_index\":0,\"role\":\"user-message\","
              "\"message_index\":0},{\"kind\":\"loop-turn\",\"turn_index\":0,\"role\":"
              "\"tool-call-request\",\"message_index\":1},{\"kind\":\"loop-turn\",\"turn_index\":0,"
              "\"role\":\"tool-call-result\",\"message_index\":2}]");
    CHECK_STR(phi_json_str(phi_json_get(payload(0), "system_prompt"), ""), "be brief");
    CHECK_STR(phi_json_str(phi_json_path(payload(0), "tools[0].name"), ""), "echo");
    CHECK(phi_json_is(phi_json_path(payload(0), "tools[0].parameters"), PHI_JSON_OBJECT));
    CHECK_STR(phi_json_str(phi_json_get(payload(0), "model_id"), ""), desc.model.id);
    CHECK_STR(phi_json_str(phi_json_get(payload(0), "thinking_level"), ""), "off");
    /* what is in effect: the agent says nothing, and the model's is sent */
    CHECK_EQ_INT(phi_json_int(phi_json_get(payload(0), "max_tokens"), 0), 8192);
    CHECK(strstr(rig_request(r, 0), "\"max_tokens\":8192") != NULL);
    CHECK(phi_json_is(phi_json_get(payload(0), "temperature"), PHI_JSON_NULL));
    CHECK_STR(phi_json_str(phi_json_path(payload(0), "response_format.kind"), ""), "text");
    end(r);
}

/* The log's first messages, as JSON, are those of the request. */
TEST(the_messages_are_those_of_the_log) {
    phi_tool tool = rig_echo();
    rig *r = begin();
    phi_agent_desc desc = capturing(&tool);
    phi_agent agent = rig_agent(r, &desc);
    phi_json_iter it;
    const phi_json *node;
    size_t i = 0;
    rig_call(r, "call-1", "echo", "{\"x\":1}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "q"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    it = phi_json_each(phi_json_get(payload(1), "messages"));
    for (; (node = phi_json_next(&it)) != NULL; i++) {
        const phi_message *message = phi_thread_message_at(phi_agent_thread(agent), i);
        phi_str text;
        phi_json *want = NULL;
        REQUIRE(message != NULL);
        REQUIRE(phi_message_to_json(message, &seen.arena, &text) == PHI_OK);
        REQUIRE(phi_json_parse(&seen.arena, text, 0, &want, NULL) == PHI_OK);
        CHECK(phi__json_get_equal(node, want));
    }
    CHECK_EQ_INT(i, 3);
    end(r);
}

TEST(steering_and_follow_ups_are_named_and_messages_of_no_run_are_unknown) {
    phi_tool tool;
    rig *r = begin();
    phi_agent_desc desc;
    phi_agent agent;
    phi_message own;
    phi_content text;
    tool = rig_wait(r);
    desc = capturing(&tool);
    agent = rig_agent(r, &desc);
    memset(&own, 0, sizeof own);
    memset(&text, 0, sizeof text);
    own.role = PHI_ROLE_USER;
    own.content = &text;
    own.content_count = 1;
    text.kind = PHI_CONTENT_TEXT;
    text.text = phi_str_of("before");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &own, 1, NULL), PHI_OK);
    rig_call(r, "call-1", "wait", "{}");
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "q"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(phi_steer(agent, "left"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    rig_finish(r, 0, "ok");
    CHECK_EQ_INT(rig_run(r, 200), 0);
    REQUIRE(seen.count == 3);
    CHECK_STR(provenance(2),
              "[{\"kind\":\"unknown\"},{\"kind\":\"loop-turn\",\"turn_index\":0,\"role\":"
              "\"user-message\",\"message_index\":0},{\"kind\":\"loop-turn\",\"turn_index\":0,"
              "\"role\":\"tool-call-request\",\"message_index\":1},{\"kind\":\"loop-turn\","
              "\"turn_index\":0,\"role\":\"tool-call-result\",\"message_index\":2},"
              "{\"kind\":\"steering\"},{\"kind\":\"loop-turn\",\"turn_index\":1,\"role\":"
              "\"assistant-response\",\"message_index\":1},{\"kind\":\"follow-up\"}]");
    end(r);
}

TEST(a_schema_stands_in_the_request) {
    rig *r = begin();
    phi_agent_desc desc = capturing(NULL);
    phi_agent agent;
    phi_str schema = {NULL, 0};
    desc.format.kind = PHI_FORMAT_JSON_SCHEMA;
    desc.format.schema = "{\"type\":\"object\"}";
    desc.format.name = "point";
    desc.options.has_temperature = true;
    desc.options.temperature = 0.5;
    agent = rig_agent(r, &desc);
    rig_says(r, "{}");
    CHECK_EQ_INT(phi_prompt(agent, "q"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    CHECK_EQ_INT(
        phi_json_write(&seen.arena, phi_json_get(payload(0), "response_format"), 0, &schema),
        PHI_OK);
    CHECK_STR(schema, "{\"kind\":\"json-schema\",\"name\":\"point\",\"schema\":{\"type\":"
                      "\"object\"},\"strict\":false}");
    CHECK(phi_json_num(phi_json_get(payload(0), "temperature"), 0) == 0.5);
    end(r);
}

TEST(attempts_after_the_first_tell_nothing_and_without_the_option_nobody_does) {
    int on;
    for (on = 0; on < 2; on++) {
        rig *r = begin();
        phi_agent_desc desc = rig_desc();
        phi_agent agent;
        desc.options.capture_requests = on == 1;
        desc.retry.disable = false;
        agent = rig_agent(r, &desc);
        rig_replies(r, 529, "", "{}");
        rig_says(r, "hi");
        CHECK_EQ_INT(phi_prompt(agent, "q"), PHI_OK);
        CHECK_EQ_INT(rig_run_until(r, 60000), 0);
        CHECK_EQ_INT(rig_requests(r), 2);
        CHECK_EQ_INT(seen.count, on);
        end(r);
    }
}

TEST(a_run_that_tells_its_requests_survives_every_failed_allocation) {
    int n = 0;
    bool tripped;
    do {
        phi_tool tool = rig_echo();
        rig *r = begin();
        phi_agent_desc desc = capturing(&tool);
        phi_agent agent = rig_agent(r, &desc);
        rig_call(r, "call-1", "echo", "{}");
        rig_says(r, "one");
        rig_says(r, "two");
        CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
        CHECK_EQ_INT(phi_prompt(agent, "q"), PHI_OK);
        test_alloc_fail_at(n++);
        CHECK_EQ_INT(rig_run(r, 300), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK_EQ_INT(seen.count, 3);
        rig_drop_answers(r);
        rig_says(r, "again"); /* it is usable */
        CHECK_EQ_INT(phi_prompt(agent, "q"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 300), 0);
        end(r);
    } while (tripped);
    CHECK(n > 20);
}

TEST_MAIN(TEST_ENTRY(a_run_that_tells_its_requests_survives_every_failed_allocation),
          TEST_ENTRY(one_request_is_told_a_turn_with_its_messages_and_where_they_came_from),
          TEST_ENTRY(the_messages_are_those_of_the_log),
          TEST_ENTRY(steering_and_follow_ups_are_named_and_messages_of_no_run_are_unknown),
          TEST_ENTRY(a_schema_stands_in_the_request),
          TEST_ENTRY(attempts_after_the_first_tell_nothing_and_without_the_option_nobody_does))
