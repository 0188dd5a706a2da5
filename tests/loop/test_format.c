/* test_format.c - a run whose answer is JSON: by the tool that stands in where the provider has no way of its
   own, which is the end of the run; and what an agent is told of its format. */
#include "agent/response.h"
#include "support/rig.h"
#include "support/set.h"
#include "wire/structured.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "loop/input.h"
#include "text/text_in.h"

#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}"

static phi_format json_schema(void) {
    phi_format format;
    memset(&format, 0, sizeof format);
    format.kind = PHI_FORMAT_JSON_SCHEMA;
    format.schema = SCHEMA;
    return format;
}

/* The rig's model is no Claude that is known, so the tool stands in. */
static phi_agent json_agent(rig *r, bool echo) {
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    desc.format = json_schema();
    desc.tools = &tool;
    desc.tool_count = echo ? 1 : 0;
    return rig_agent(r, &desc);
}

static bool request_has(rig *r, size_t i, const char *text) {
    const char *body = rig_request(r, i);
    bool has = body != NULL && strstr(body, text) != NULL;
    if (!has) printf("  request %u: %s\n", (unsigned)i, body != NULL ? body : "none");
    return has;
}

static const char *last_error(rig *r) {
    const char *text = NULL;
    text = phi_last_error(rig_runtime(r)).message;
    return text;
}

TEST(the_forced_tools_arguments_are_the_answers_text_and_its_end) {
    rig *r = rig_new();
    phi_agent agent = json_agent(r, false);
    const phi_message *message;
    rig_call(r, "toolu_1", "respond_json", "{\"n\":7}");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Hi\"\n"
                               "MessageEnd user \"Hi\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"{\"n\":7}\" of \"{\"n\":7}\"\n"
                               "MessageEnd assistant \"{\"n\":7}\" stop\n"
                               "TurnEnd assistant \"{\"n\":7}\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    CHECK(request_has(r, 0, "\"tool_choice\":{\"type\":\"tool\",\"name\":\"respond_json\"}"));
    CHECK(request_has(r, 0, "\"name\":\"respond_json\""));
    CHECK(request_has(r, 0, "\"input_schema\":" SCHEMA));
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    message = phi_thread_message_at(phi_agent_thread(agent), 1);
    CHECK_EQ_INT(message->content_count, 1);
    CHECK_EQ_INT(message->content[0].kind, PHI_CONTENT_TEXT);
    CHECK_STR(message->content[0].name, PHI_RESPOND_TOOL);
    rig_free(r);
}

TEST(the_response_and_the_tree_are_there_also_byte_by_byte) {
    rig *r = rig_new();
    phi_agent agent = json_agent(r, false);
    phi_response response;
    phi_response_info info;
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_json *json;
    phi_format format = json_schema();
    char words[200];
    rig_chunk(r, 1);
    rig_call(r, "toolu_1", "respond_json", "{\"n\":7}");
    CHECK_EQ_INT(prompt_for(agent, "Hi", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5000), 0);
    CHECK_EQ_INT(response_get(response, &info), PHI_OK);
    CHECK_EQ_INT(info.state, PHI_RESPONSE_COMPLETED);
    CHECK_STR(info.text, "{\"n\":7}");
    CHECK(info.first_event_ms > 0);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_message_json(info.message, &format, &arena, &json, words, sizeof words),
                 PHI_OK);
    CHECK_EQ_INT(phi_json_int(phi_json_get(json, "n"), 0), 7);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(tools_run_first_and_the_answer_ends_the_run) {
    rig *r = rig_new();
    phi_agent agent = json_agent(r, true);
    rig_call(r, "toolu_1", "echo", "{\"x\":1}");
    rig_call(r, "toolu_2", "respond_json", "{\"n\":1}");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK(request_has(r, 0, "\"tool_choice\":{\"type\":\"any\"}"));
    CHECK(request_has(r, 0, "Give your final answer by calling the tool respond_json"));
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->tool_name, "echo");
    CHECK(!phi_thread_message_at(phi_agent_thread(agent), 2)->is_error);
    CHECK(strstr(rig_story(r), "MessageEnd assistant \"{\"n\":1}\" stop\n") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    rig_free(r);
}

TEST(other_calls_beside_the_answer_are_not_run) {
    static const char *const calls[] = {"c1 echo {\"x\":1}", "c2 respond_json {\"n\":2}",
                                        "c3 respond_json {\"n\":3}"};
    rig *r = rig_new();
    phi_agent agent = json_agent(r, true);
    const phi_message *result;
    size_t i;
    rig_calls(r, calls, 3);
    rig_says(r, "Not wanted.");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                 PHI_STOP_REASON_STOP);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->content[1].kind,
                 PHI_CONTENT_TEXT);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[1].text, "{\"n\":2}");
    for (i = 2; i < 4; i++) {
        result = phi_thread_message_at(phi_agent_thread(agent), i);
        CHECK_EQ_INT(result->role, PHI_ROLE_TOOL_RESULT);
        CHECK_STR(result->tool_call_id, i == 2 ? "c1" : "c3");
        CHECK(result->is_error);
        CHECK_STR(result->content[0].text, "Not run: the answer was given.");
    }
    /* and the conversation goes on from there */
    CHECK_EQ_INT(set_format(agent, NULL), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "More"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK(request_has(r, 1, "{\"type\":\"text\",\"text\":\"{\\\"n\\\":2}\"}"));
    CHECK(strstr(rig_request(r, 1), "tool_choice\":{\"type\":\"auto\"}") != NULL);
    rig_free(r);
}

TEST(what_was_said_meanwhile_is_answered_after_the_answer) {
    rig *r = rig_new();
    phi_agent agent = json_agent(r, true);
    rig_call(r, "c1", "respond_json", "{\"n\":1}");
    rig_call(r, "c2", "respond_json", "{\"n\":2}");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "And now?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].text, "{\"n\":2}");
    rig_free(r);
}

TEST(a_model_that_thinks_is_told_and_may_answer_in_words) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.format = json_schema();
    desc.thinking = PHI_THINKING_LOW;
    desc.model.reasoning = true;
    agent = rig_agent(r, &desc);
    rig_says(r, "{\"n\":4}");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK(request_has(r, 0, "\"tool_choice\":{\"type\":\"auto\"}"));
    CHECK(request_has(r, 0, "Give your final answer by calling the tool respond_json"));
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_free(r);
}

TEST(a_model_without_a_way_fails_before_anything_is_sent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_response response;
    phi_response_info info;
    desc.model = phi_model_bedrock(NULL, "amazon.nova-pro-v1:0", "k");
    desc.format = json_schema();
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(prompt_for(agent, "Hi", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(response_get(response, &info), PHI_OK);
    CHECK_EQ_INT(info.status, PHI_BAD_ARG);
    CHECK(info.failure != NULL && info.failure->kind == PHI_FAILURE_INVALID_REQUEST);
    CHECK_STR(info.failure->message, "SchemaMismatch: structured output is not available for the "
                                     "model amazon.nova-pro-v1:0");
    rig_free(r);
}

TEST(a_strict_schema_that_cannot_be_adapted_fails_with_words) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.model = phi_model_openai("gpt-4.1", "k");
    desc.format = json_schema();
    desc.format.strict = true;
    desc.format.schema = "{\"type\":\"object\",\"patternProperties\":{\"a\":{}}}";
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK(strstr(rig_story(r), "SchemaMismatch: format.schema: ") != NULL);
    rig_free(r);
}

/* ---- the agent's field ---- */

static void refused(rig *r, const phi_agent_desc *desc, const char *words) {
    phi_agent agent = phi_agent_new(rig_runtime(r), desc);
    CHECK(agent.rt == NULL);
    CHECK_EQ_STR(last_error(r), words);
}

TEST(a_format_that_is_none_is_refused_with_its_field) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    desc.format = json_schema();
    desc.format.schema = NULL;
    refused(r, &desc, "format.schema is missing");
    desc.format.schema = "{\"type\":";
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    CHECK(strncmp(last_error(r), "format.schema:1:", 16) == 0);
    desc.format.schema = "{\"type\":\"array\"}";
    refused(r, &desc, "format.schema: expected an object with \"type\":\"object\"");
    desc.format = json_schema();
    desc.format.name = "a b";
    refused(r, &desc, "format.name \"a b\": expected 1 to 64 of a-z A-Z 0-9 _ -");
    desc.format.name = "";
    refused(r, &desc, "format.name \"\": expected 1 to 64 of a-z A-Z 0-9 _ -");
    desc.format.name = NULL;
    desc.format.kind = (phi_format_kind)3;
    refused(r, &desc, "format.kind is 3: expected text, JSON object or schema");
    desc.format.kind = PHI_FORMAT_JSON_OBJECT;
    desc.format.schema = NULL; /* needs none */
    tool.name = PHI_RESPOND_TOOL;
    desc.tools = &tool;
    desc.tool_count = 1;
    refused(r, &desc,
            "tool \"respond_json\": the name is that of the tool by which answers come, "
            "and format is JSON");
    rig_free(r);
}

TEST(a_format_is_copied_given_back_and_changed_between_runs) {
    rig *r = rig_new();
    phi_agent agent = json_agent(r, false);
    phi_agent_desc desc;
    char schema[] = "{\"type\":\"object\",\"properties\":{}}", name[] = "point";
    phi_format format = json_schema();
    phi_tool tool = rig_echo();
    format.schema = schema;
    format.name = name;
    CHECK_EQ_INT(set_format(agent, &format), PHI_OK);
    memset(schema, 'x', sizeof schema - 1);
    memset(name, 'x', sizeof name - 1);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &desc), PHI_OK);
    CHECK_EQ_INT(desc.format.kind, PHI_FORMAT_JSON_SCHEMA);
    CHECK_EQ_STR(desc.format.schema, "{\"type\":\"object\",\"properties\":{}}");
    CHECK_EQ_STR(desc.format.name, "point");
    CHECK_EQ_INT(set_format(agent, &desc.format), PHI_OK); /* its own, back again */
    tool.name = PHI_RESPOND_TOOL;
    CHECK_EQ_INT(set_tools(agent, &tool, 1), PHI_BAD_ARG);
    format.kind = (phi_format_kind)9;
    CHECK_EQ_INT(set_format(agent, &format), PHI_BAD_ARG);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
    CHECK_EQ_INT(set_format(agent, NULL), PHI_BUSY);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(set_format(agent, NULL), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &desc), PHI_OK);
    CHECK_EQ_INT(desc.format.kind, PHI_FORMAT_TEXT);
    CHECK(desc.format.schema == NULL && desc.format.name == NULL);
    CHECK_EQ_INT(set_tools(agent, &tool, 1), PHI_OK);
    phi_agent_free(agent);
    CHECK_EQ_INT(set_format(agent, NULL), PHI_STALE);
    rig_free(r);
}

/* ---- memory ---- */

static void runs_without(int n, bool *tripped) {
    static const char *const calls[] = {"c1 echo {\"x\":1}", "c2 respond_json {\"n\":2}"};
    rig *r = rig_new();
    phi_agent agent = json_agent(r, true);
    phi_response response;
    phi_response_info info;
    rig_calls(r, calls, 2);
    CHECK_EQ_INT(prompt_for(agent, "Hi", &response), PHI_OK);
    test_alloc_fail_at(n);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    *tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(response_get(response, &info), PHI_OK);
    if (info.status == PHI_OK)
        CHECK_STR(info.text, "{\"n\":2}");
    else
        CHECK(*tripped && info.status == PHI_NO_MEMORY);
    rig_free(r);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST(every_allocation_of_such_a_run_may_fail) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 400; n++) runs_without(n, &tripped);
    CHECK(!tripped);
    CHECK(n > 10);
}

TEST(a_format_that_finds_no_memory_leaves_the_old_one) {
    rig *r = rig_new();
    phi_agent agent = json_agent(r, false);
    phi_agent_desc desc;
    phi_format format = json_schema();
    int n;
    format.name = "second";
    for (n = 0; n < 2; n++) {
        test_alloc_fail_at(n);
        CHECK(set_format(agent, &format) != PHI_OK);
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(phi_agent_get_desc(agent, &desc), PHI_OK);
        CHECK(desc.format.name == NULL);
        CHECK_EQ_STR(desc.format.schema, SCHEMA);
    }
    CHECK_EQ_INT(set_format(agent, &format), PHI_OK);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(the_forced_tools_arguments_are_the_answers_text_and_its_end),
          TEST_ENTRY(the_response_and_the_tree_are_there_also_byte_by_byte),
          TEST_ENTRY(tools_run_first_and_the_answer_ends_the_run),
          TEST_ENTRY(other_calls_beside_the_answer_are_not_run),
          TEST_ENTRY(what_was_said_meanwhile_is_answered_after_the_answer),
          TEST_ENTRY(a_model_that_thinks_is_told_and_may_answer_in_words),
          TEST_ENTRY(a_model_without_a_way_fails_before_anything_is_sent),
          TEST_ENTRY(a_strict_schema_that_cannot_be_adapted_fails_with_words),
          TEST_ENTRY(a_format_that_is_none_is_refused_with_its_field),
          TEST_ENTRY(a_format_is_copied_given_back_and_changed_between_runs),
          TEST_ENTRY(every_allocation_of_such_a_run_may_fail),
          TEST_ENTRY(a_format_that_finds_no_memory_leaves_the_old_one))
