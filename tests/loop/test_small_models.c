/* test_small_models.c - runs with a small model: its calls are repaired and logged that way, and what
   was shown as text and was thinking is taken back. */
#include "agent/response.h"
#include "support/rig.h"
#include "codecs/presets.h"
#include "model/model.h"

#define CHUNK(delta) "data: {\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n\n"
#define SAYS(text) CHUNK("{\"content\":\"" text "\"}")
#define STOPS "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define EVENTS "Content-Type: text/event-stream\r\n"

static phi_agent small_agent(rig *r, uint64_t without) {
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    desc.model = phi_model_preset("ollama", "m", NULL);
    desc.model.quirks &= ~without;
    desc.tools = &tool;
    desc.tool_count = 1;
    return rig_agent(r, &desc);
}

static bool request_has(rig *r, size_t i, const char *text) {
    const char *body = rig_request(r, i);
    bool has = body != NULL && strstr(body, text) != NULL;
    if (!has) printf("  request %u: %s\n", (unsigned)i, body != NULL ? body : "none");
    return has;
}

TEST(a_repaired_call_is_run_logged_and_sent_again_as_it_was_repaired) {
    rig *r = rig_new();
    phi_agent agent = small_agent(r, 0);
    rig_replies(r, 200, EVENTS,
                CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":"
                      "\"functions.Echo\",\"arguments\":\"{'x':7,}\"}}]}") STOPS);
    rig_replies(r, 200, EVENTS, SAYS("Seven.") STOPS);
    CHECK_EQ_INT(phi_prompt(agent, "Say 7"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_STR(rig_story(r),
                 "AgentStart\n"
                 "TurnStart 0\n"
                 "MessageStart user \"Say 7\"\n"
                 "MessageEnd user \"Say 7\"\n"
                 "MessageStart assistant\n"
                 "ToolCallDelta \"{'x':7,}\" of \"{\"x\":7}\"\n"
                 "Warning \"the call of echo was repaired: the name was \"functions.Echo\", a "
                 "comma came before a closing bracket, strings had single quotes\"\n"
                 "MessageEnd assistant echo({\"x\":7}) toolUse\n"
                 "ToolExecutionStart c1 echo({\"x\":7})\n"
                 "ToolExecutionEnd toolResult c1 \"{\"x\":7}\"\n"
                 "MessageStart toolResult c1 \"{\"x\":7}\"\n"
                 "MessageEnd toolResult c1 \"{\"x\":7}\"\n"
                 "TurnEnd assistant echo({\"x\":7}) toolUse\n"
                 "TurnStart 1\n"
                 "MessageStart assistant\n"
                 "TextDelta \"Seven.\" of \"Seven.\"\n"
                 "MessageEnd assistant \"Seven.\" stop\n"
                 "TurnEnd assistant \"Seven.\" stop\n"
                 "AgentEnd ok, 4 messages\n");
    CHECK(request_has(r, 1, "\"name\":\"echo\",\"arguments\":\"{\\\"x\\\":7}\""));
    rig_free(r);
}

TEST(without_the_quirk_the_model_is_told_what_is_wrong) {
    rig *r = rig_new();
    phi_agent agent = small_agent(r, PHI_QUIRK_REPAIR_CALLS);
    rig_replies(r, 200, EVENTS,
                CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":"
                      "\"Echo\",\"arguments\":\"{}\"}}]}") STOPS);
    rig_replies(r, 200, EVENTS, SAYS("Hm.") STOPS);
    CHECK_EQ_INT(phi_prompt(agent, "Say 7"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(request_has(r, 1, "Tool Echo not found"));
    CHECK(strstr(rig_story(r), "Warning") == NULL);
    rig_free(r);
}

TEST(a_call_written_as_text_is_run) {
    rig *r = rig_new();
    phi_agent agent = small_agent(r, 0);
    rig_replies(r, 200, EVENTS,
                SAYS("Now.\\n<tool_") SAYS("call>{\\\"name\\\":\\\"echo\\\",\\\"arguments\\\":{")
                    SAYS("\\\"x\\\":7}}</tool_call>") STOPS);
    rig_replies(r, 200, EVENTS, SAYS("Seven.") STOPS);
    CHECK_EQ_INT(phi_prompt(agent, "Say 7"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"Say 7\"\n"
                               "MessageEnd user \"Say 7\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Now.\n\" of \"Now.\n\"\n"
                               "ToolCallDelta \"{\"x\":7}\" of \"{\"x\":7}\"\n"
                               "MessageEnd assistant \"Now.\n\" echo({\"x\":7}) toolUse\n"
                               "ToolExecutionStart call_cd6a06de4f774066 echo({\"x\":7})\n"
                               "ToolExecutionEnd toolResult call_cd6a06de4f774066 \"{\"x\":7}\"\n"
                               "MessageStart toolResult call_cd6a06de4f774066 \"{\"x\":7}\"\n"
                               "MessageEnd toolResult call_cd6a06de4f774066 \"{\"x\":7}\"\n"
                               "TurnEnd assistant \"Now.\n\" echo({\"x\":7}) toolUse\n"
                               "TurnStart 1\n"
                               "MessageStart assistant\n"
                               "TextDelta \"Seven.\" of \"Seven.\"\n"
                               "MessageEnd assistant \"Seven.\" stop\n"
                               "TurnEnd assistant \"Seven.\" stop\n"
                               "AgentEnd ok, 4 messages\n");
    CHECK(request_has(r, 1, "\"content\":\"Now.\\n\",\"tool_calls\":[{"));
    CHECK(request_has(r, 1, "\"name\":\"echo\",\"arguments\":\"{\\\"x\\\":7}\""));
    rig_free(r);
}

TEST(text_that_was_thinking_is_taken_back_and_told_again) {
    rig *r = rig_new();
    phi_agent agent = small_agent(r, 0);
    rig_replies(r, 200, EVENTS, SAYS("hm") SAYS("m</think>\\nyes") STOPS);
    CHECK_EQ_INT(phi_prompt(agent, "?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_STR(rig_story(r), "AgentStart\n"
                               "TurnStart 0\n"
                               "MessageStart user \"?\"\n"
                               "MessageEnd user \"?\"\n"
                               "MessageStart assistant\n"
                               "TextDelta \"hm\" of \"hm\"\n"
                               "TextDelta \"m\" of \"hmm\"\n"
                               "Retract assistant thinking \"hmm\" \"yes\" stop\n"
                               "MessageStart assistant\n"
                               "ThinkingDelta \"hmm\" of \"hmm\"\n"
                               "TextDelta \"yes\" of \"yes\"\n"
                               "MessageEnd assistant thinking \"hmm\" \"yes\" stop\n"
                               "TurnEnd assistant thinking \"hmm\" \"yes\" stop\n"
                               "AgentEnd ok, 2 messages\n");
    rig_free(r);
}

static int scenario(rig *r, bool *tripped) {
    phi_agent agent = small_agent(r, 0);
    int runs = -1, ends = 0;
    const char *at;
    if (agent.rt != NULL) {
        rig_replies(r, 200, EVENTS,
                    SAYS("hm</think>yes<tool_call>{'name':'Echo','arguments':{'x':7,}}</tool_call>")
                        STOPS);
        rig_replies(r, 200, EVENTS, SAYS("Seven.") STOPS);
        if (phi_prompt(agent, "Say 7") == PHI_OK) runs = rig_run(r, 200);
    }
    *tripped = test_alloc_tripped();
    if (runs < 0) return 0;
    for (at = rig_story(r); (at = strstr(at, "AgentEnd")) != NULL; at++) ends++;
    if (!*tripped && strstr(rig_story(r), "Warning") == NULL) return -1;
    return runs == 0 && ends == 1 ? 0 : -1;
}

TEST(a_run_with_a_small_model_survives_every_failed_allocation) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 5000; n++) {
        rig *r;
        test_alloc_fail_at(n);
        r = rig_new();
        tripped = test_alloc_tripped();
        if (r != NULL && !CHECK_EQ_INT(scenario(r, &tripped), 0))
            printf("allocation %d:\n%s", n, rig_story(r));
        test_alloc_fail_at(-1);
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 30);
    CHECK(!tripped);
}

TEST_MAIN(TEST_ENTRY(a_repaired_call_is_run_logged_and_sent_again_as_it_was_repaired),
          TEST_ENTRY(without_the_quirk_the_model_is_told_what_is_wrong),
          TEST_ENTRY(a_call_written_as_text_is_run),
          TEST_ENTRY(text_that_was_thinking_is_taken_back_and_told_again),
          TEST_ENTRY(a_run_with_a_small_model_survives_every_failed_allocation))
