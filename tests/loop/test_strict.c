/* test_strict.c - strict tools in a run: what is sent, what `start` gets, and what fails before it is sent. */
#include "support/preflight.h"
#include "support/rig.h"
#include "support/set.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "model/failure.h"

#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"deep\":{\"type\":"      \
    "\"boolean\"}},\"required\":[\"path\"]}"

static phi_agent_desc strict_desc(phi_tool *tool, const char *schema) {
    phi_agent_desc desc = rig_desc();
    *tool = rig_echo();
    tool->schema = schema;
    tool->strict = true;
    desc.model.id = "claude-sonnet-4-5";
    desc.tools = tool;
    desc.tool_count = 1;
    return desc;
}

TEST(nulls_of_what_is_optional_do_not_reach_a_strict_tool) {
    rig *r = rig_new();
    phi_tool tool;
    phi_agent_desc desc = strict_desc(&tool, SCHEMA);
    phi_agent agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{\"path\":\"a\",\"deep\":null}");
    rig_call(r, "c2", "echo", "{\"path\":null,\"deep\":true}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK(strstr(rig_story(r), "toolResult c1 \"{\"path\":\"a\"}\"") != NULL);
    CHECK(strstr(rig_story(r), "arguments.path: expected string, got null") != NULL);
    CHECK(strstr(rig_request(r, 0), "\"required\":[\"path\"],\"additionalProperties\":false},"
                                    "\"strict\":true") != NULL);
    rig_free(r);
}

TEST(a_tool_that_is_not_strict_gets_its_nulls) {
    rig *r = rig_new();
    phi_tool tool;
    phi_agent_desc desc = strict_desc(&tool, SCHEMA);
    phi_agent agent;
    tool.strict = false;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{\"path\":\"a\",\"deep\":null}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK(strstr(rig_story(r), "arguments.deep: expected boolean, got null") != NULL);
    CHECK(strstr(rig_request(r, 0), "\"strict\"") == NULL);
    rig_free(r);
}

#define OPEN_SCHEMA                                                                                \
    "{\"type\":\"object\",\"properties\":{\"env\":{\"type\":\"object\",\"additionalProperties\":"  \
    "{\"type\":\"string\"}}}}"
#define OPEN_WORDS                                                                                 \
    "tools[0]: schema of \"echo\" at /properties/env: \"additionalProperties\" has no strict "     \
    "form unless it is false"

TEST(a_schema_that_has_no_strict_form_fails_the_run_and_nothing_is_sent) {
    rig *r = rig_new();
    phi_tool tool;
    phi_agent_desc desc = strict_desc(&tool, OPEN_SCHEMA);
    phi_agent agent = rig_agent(r, &desc);
    phi_model model = desc.model;
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK(strstr(rig_story(r), OPEN_WORDS) != NULL);
    CHECK(strstr(rig_story(r), phi_failure_kind_text(PHI_FAILURE_INVALID_REQUEST)) != NULL);
    model.id = "claude-opus-4-1"; /* which has no strict tools */
    CHECK_EQ_INT(set_model(agent, &model), PHI_OK);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

TEST(a_preflight_says_the_same) {
    phi_tool tool;
    phi_agent_desc desc = strict_desc(&tool, OPEN_SCHEMA);
    phi_allocator allocator = test_allocator();
    phi_content content;
    phi_message message;
    phi_memory memory;
    phi_arena scratch;
    char words[200];
    memset(&content, 0, sizeof content);
    memset(&message, 0, sizeof message);
    content.kind = PHI_CONTENT_TEXT;
    content.text = PHI__LIT("hi");
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&scratch, &memory, 0);
    CHECK_EQ_INT(preflight(&desc.model, &message, 1, &tool, 1, &scratch, words, sizeof words),
                 PHI_BAD_ARG);
    CHECK_EQ_STR(words, OPEN_WORDS);
    desc.model = phi_model_preset("mistral", "mistral-large", "k");
    CHECK_EQ_INT(preflight(&desc.model, &message, 1, &tool, 1, &scratch, words, sizeof words),
                 PHI_OK);
    phi_arena_free(&scratch);
}

TEST(a_strict_tool_survives_every_failed_allocation) {
    int n = 0;
    do {
        phi_tool tool;
        phi_agent_desc desc = strict_desc(&tool, SCHEMA);
        rig *r;
        test_alloc_fail_at(n);
        r = rig_new_with(NULL);
        if (r != NULL) {
            phi_agent agent = rig_agent(r, &desc);
            rig_call(r, "c1", "echo", "{\"path\":\"a\",\"deep\":null}");
            rig_says(r, "done");
            if (agent.rt != NULL) (void)phi_prompt(agent, "go");
            CHECK_EQ_INT(rig_run(r, 60), 0);
            rig_free(r);
        }
        CHECK_EQ_INT((int)test_alloc_live_bytes(), 0);
    } while (test_alloc_tripped() && n++ < 5000);
    test_alloc_fail_at(-1);
}

TEST_MAIN(TEST_ENTRY(nulls_of_what_is_optional_do_not_reach_a_strict_tool),
          TEST_ENTRY(a_tool_that_is_not_strict_gets_its_nulls),
          TEST_ENTRY(a_schema_that_has_no_strict_form_fails_the_run_and_nothing_is_sent),
          TEST_ENTRY(a_preflight_says_the_same),
          TEST_ENTRY(a_strict_tool_survives_every_failed_allocation))
