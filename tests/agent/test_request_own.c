/* test_request_own.c - what a request has of its own for one run: the format and temperature of its
   answers, and a context for its tools. */
#include "agent/response.h"
#include "agent/snapshot.h"
#include "record/recorder.h"
#include "orchestrate/adaptive.h"
#include "orchestrate/strategy.h"
#include "support/rig.h"
#include "loop/events.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "record/session_in.h"

static const char schema[] = "{\"type\":\"object\",\"properties\":{\"gold\":{\"type\":\"integer\"}}"
                             ",\"required\":[\"gold\"]}";

typedef struct seen {
    char context[4][100];
    size_t count;
    bool waits;
    phi_call call;
} seen;

static phi_flow look(void *user_data, phi_call call, phi_str arguments) {
    seen *s = (seen *)user_data;
    phi_str context = phi_call_get_info(call).context;
    (void)arguments;
    (void)snprintf(s->context[s->count++ % 4], sizeof s->context[0], "%.*s", (int)context.len,
                   context.len > 0 ? context.at : "");
    s->call = call;
    if (s->waits) return PHI_PENDING;
    (void)phi_call_reply(call, "seen");
    return PHI_DONE;
}

static phi_tool look_tool(seen *s) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    memset(s, 0, sizeof *s);
    tool.name = "look";
    tool.start = tool.resume = look;
    tool.user_data = s;
    return tool;
}

static phi_prompt_desc own_desc(const phi_format *format) {
    phi_prompt_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.text = "How much gold?";
    desc.format = format;
    desc.has_temperature = true;
    desc.temperature = 0.25;
    desc.tool_context = "{\"room\":7}";
    desc.metadata = "{\"trace\":\"t1\"}";
    return desc;
}

static phi_format gold(void) {
    phi_format format;
    memset(&format, 0, sizeof format);
    format.kind = PHI_FORMAT_JSON_SCHEMA;
    format.schema = schema;
    format.name = "hoard";
    return format;
}

static bool sent(rig *r, size_t i, const char *text) {
    return rig_request(r, i) != NULL && strstr(rig_request(r, i), text) != NULL;
}

TEST(a_request_has_a_format_and_a_temperature_of_its_own_and_the_next_has_not) {
    rig *r = rig_new();
    phi_agent_desc agent_desc = rig_desc();
    phi_agent agent;
    phi_response response;
    phi_format format = gold();
    phi_prompt_desc desc = own_desc(&format);
    agent_desc.options.has_temperature = true;
    agent_desc.options.temperature = 1.0;
    agent = rig_agent(r, &agent_desc);
    rig_says(r, "{\"gold\":3}");
    rig_says(r, "Three.");
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK(sent(r, 0, "\"temperature\":0.25"));
    CHECK(sent(r, 0, "\"gold\""));
    CHECK(!sent(r, 0, "room")); /* the context is the tools' */
    CHECK_EQ_INT(prompt_for(agent, "In words?", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK(sent(r, 1, "\"temperature\":1"));
    CHECK(!sent(r, 1, "integer"));
    rig_free(r);
}

TEST(tools_read_the_context_of_their_run) {
    rig *r = rig_new();
    phi_agent_desc agent_desc = rig_desc();
    phi_agent agent;
    phi_response response;
    seen s;
    phi_tool tool = look_tool(&s);
    phi_prompt_desc desc = own_desc(NULL);
    phi_call none;
    agent_desc.tools = &tool;
    agent_desc.tool_count = 1;
    agent = rig_agent(r, &agent_desc);
    rig_call(r, "c1", "look", "{}");
    rig_says(r, "Three.");
    rig_call(r, "c2", "look", "{\"n\":2}");
    rig_says(r, "Four.");
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(prompt_for(agent, "Again?", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(s.count, 2);
    CHECK_EQ_STR(s.context[0], "{\"room\":7}");
    CHECK_EQ_STR(s.context[1], "");
    CHECK_STR(phi_call_get_info(s.call).context, ""); /* it is over */
    memset(&none, 0, sizeof none);
    CHECK_STR(phi_call_get_info(none).context, "");
    rig_free(r);
}

/* A host's events, and their recorder. */
static phi_session *recorded(rig *r) {
    phi_recorder *recorder = phi_recorder_new(NULL);
    phi_session *session;
    phi_event ev;
    bool on = true;
    while (on) {
        on = phi_step(rig_runtime(r), 0) > 0;
        while (phi_next_event(rig_runtime(r), &ev)) phi_recorder_add(recorder, &ev);
    }
    (void)phi_recorder_flush(recorder, PHI_FLUSH_ALL);
    session = phi_recorder_drain(recorder);
    phi_recorder_free(recorder);
    return session;
}

TEST(the_metadata_of_a_run_is_in_its_event_its_entry_and_its_records) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response response;
    phi_format format = gold();
    phi_prompt_desc desc = own_desc(&format);
    phi_session *session, *of_thread = NULL;
    phi_entry e;
    char metadata[] = "{\"trace\":\"t1\"}";
    desc.metadata = metadata;
    rig_says(r, "{\"gold\":3}");
    rig_says(r, "more");
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    metadata[10] = 'x'; /* copied */
    session = recorded(r);
    REQUIRE(session != NULL && session->loop_count == 1);
    CHECK_STR(session->loops[0]->metadata, "{\"trace\":\"t1\"}");
    CHECK(strstr(session->loops[0]->events[0].json.at, "\"metadata\":{\"trace\":\"t1\"}") != NULL);
    phi_session_free(session);
    REQUIRE(phi_thread_entry(phi_agent_thread(agent), 0, &e) == PHI_OK);
    CHECK_STR(e.loop->metadata, "{\"trace\":\"t1\"}");
    CHECK(strstr(rig_request(r, 0), "trace") == NULL); /* never sent */
    CHECK_EQ_INT(phi_prompt(agent, "And?"), PHI_OK);   /* the next run has none */
    session = recorded(r);
    REQUIRE(session != NULL && session->loop_count == 1);
    CHECK_EQ_INT(session->loops[0]->metadata.len, 0);
    phi_session_free(session);
    CHECK_EQ_INT(phi_session_of_thread(phi_agent_thread(agent), NULL, &of_thread), PHI_OK);
    REQUIRE(of_thread != NULL && of_thread->loop_count == 2);
    CHECK_STR(of_thread->loops[0]->metadata, "{\"trace\":\"t1\"}");
    CHECK_EQ_INT(of_thread->loops[1]->metadata.len, 0);
    phi_session_free(of_thread);
    rig_free(r);
}

TEST(a_strategys_calls_have_the_requests_temperature_and_their_tools_its_context) {
    rig *r = rig_new();
    phi_agent_desc agent_desc = rig_desc();
    phi_strategy_desc thinks;
    phi_adaptive_options options;
    phi_provider provider;
    phi_agent agent;
    phi_response response;
    seen s;
    phi_tool tool = look_tool(&s);
    phi_prompt_desc desc = own_desc(NULL);
    memset(&thinks, 0, sizeof thinks);
    memset(&options, 0, sizeof options);
    options.strategy = "react";
    thinks.strategy = phi_strategy_adaptive();
    thinks.options = &options;
    provider = phi_strategy_provider(&thinks);
    agent_desc.provider = &provider;
    agent_desc.tools = &tool;
    agent_desc.tool_count = 1;
    agent = rig_agent(r, &agent_desc);
    rig_call(r, "c1", "look", "{}");
    rig_says(r, "Three.");
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(sent(r, 0, "\"temperature\":0.25"));
    CHECK_EQ_STR(s.context[0], "{\"room\":7}");
    rig_free(r);
}

TEST(a_snapshot_of_the_run_has_all_three) {
    rig *r = rig_new(), *q = rig_new();
    phi_agent_desc agent_desc = rig_desc();
    phi_agent agent;
    phi_response response;
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    seen s, t;
    phi_tool tool = look_tool(&s), again = look_tool(&t);
    phi_format format = gold();
    phi_prompt_desc desc = own_desc(&format);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    s.waits = true;
    agent_desc.tools = &tool;
    agent_desc.tool_count = 1;
    agent = rig_agent(r, &agent_desc);
    rig_call(r, "c1", "look", "{}");
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    CHECK(rig_run(r, 30) > 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    agent_desc.tools = &again;
    rig_says(q, "{\"gold\":3}");
    agent = phi_agent_restore(rig_runtime(q), &agent_desc, text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    CHECK_EQ_INT(rig_run(q, 60), 0);
    CHECK_EQ_STR(t.context[0], "{\"room\":7}");
    CHECK(sent(q, 0, "\"temperature\":0.25"));
    CHECK(sent(q, 0, "\"gold\""));
    phi_arena_free(&arena);
    rig_free(q);
    rig_free(r);
}

TEST(what_a_request_may_not_have_is_refused_by_name) {
    static const char *const contexts[] = {"", "[]", "{", "7", "{\"a\":1}x"};
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response response;
    phi_format format = gold();
    phi_prompt_desc desc = own_desc(&format);
    const char *words;
    size_t i;
    for (i = 0; i < PHI__COUNT(contexts); i++) {
        desc.tool_context = contexts[i];
        CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_BAD_ARG);
        words = phi_last_error(rig_runtime(r)).message;
        CHECK_EQ_STR(words, "phi_prompt_with: tool_context is no JSON object");
    }
    desc = own_desc(&format);
    desc.metadata = "{\"trace\":";
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_prompt_with: metadata is no JSON");
    desc = own_desc(&format);
    desc.temperature = -1;
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_prompt_with: temperature -1: expected 0 to 100");
    desc = own_desc(&format);
    format.schema = "[]";
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK(strncmp(words, "format.schema", 13) == 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    rig_free(r);
}

static void scenario(void) {
    rig *r = rig_new_with(NULL);
    phi_agent agent;
    phi_response response;
    phi_format format = gold();
    phi_prompt_desc desc = own_desc(&format);
    if (r == NULL) return;
    rig_says(r, "{\"gold\":3}");
    agent = rig_agent(r, NULL);
    if (agent.rt != NULL && phi_prompt_with(agent, &desc, &response) == PHI_OK)
        CHECK_EQ_INT(rig_run(r, 100), 0);
    rig_free(r);
}

TEST(each_allocation_may_fail) {
    int n = 0;
    bool tripped;
    do {
        test_alloc_fail_at(n);
        scenario();
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
    } while (tripped && test_failures() == 0 && n++ < 2000);
    CHECK(n > 20);
}

TEST_MAIN(TEST_ENTRY(a_request_has_a_format_and_a_temperature_of_its_own_and_the_next_has_not),
          TEST_ENTRY(tools_read_the_context_of_their_run),
          TEST_ENTRY(the_metadata_of_a_run_is_in_its_event_its_entry_and_its_records),
          TEST_ENTRY(a_strategys_calls_have_the_requests_temperature_and_their_tools_its_context),
          TEST_ENTRY(a_snapshot_of_the_run_has_all_three),
          TEST_ENTRY(what_a_request_may_not_have_is_refused_by_name),
          TEST_ENTRY(each_allocation_may_fail))
