/* test_last_event.c - where an answer ends: at its last event, however long the server keeps the
   body open, and a failed one where its usage can have come. */
#include "support/rig.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "base/arena.h"
#include "log/thread.h"

#include <stdio.h>

/* An agent that speaks `protocol`, whose server says `body` and then is silent. */
static phi_agent ask_held(rig *r, const char *protocol, const char *body) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.model.protocol = protocol;
    rig_careless(r);
    agent = rig_agent(r, &desc);
    rig_hangs(r, body);
    CHECK_EQ_INT(phi_prompt(agent, "Hello?"), PHI_OK);
    return agent;
}

/* The answer is whole without waiting for anything, and its transfer is let go of. */
static void check_ends_at_once(const char *protocol, const char *body) {
    rig *r = rig_new();
    phi_agent agent = ask_held(r, protocol, body);
    bool good = CHECK_EQ_INT(rig_run(r, 10), 0);
    good = CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages") != NULL) && good;
    good = CHECK_EQ_INT(phi_agent_get_info(agent).usage.output, 3) && good;
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    if (!good) printf("%s:\n%s", protocol, rig_story(r));
    rig_free(r);
}

#define CHAT_TEXT "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n"
#define CHAT_STOP "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define CHAT_USAGE "\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3}}\n\n"
#define RESPONSES_USAGE "\"usage\":{\"input_tokens\":5,\"output_tokens\":3}}}\n\n"

TEST(a_turn_ends_at_the_last_event_though_the_server_keeps_the_body_open) {
    check_ends_at_once(
        PHI_PROTOCOL_ANTHROPIC,
        "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5}}}\n\n"
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},"
        "\"usage\":{\"output_tokens\":3}}\n\n"
        "data: {\"type\":\"message_stop\"}\n\n");
    check_ends_at_once(PHI_PROTOCOL_OPENAI_CHAT,
                       CHAT_TEXT CHAT_STOP "data: {\"choices\":[]," CHAT_USAGE "data: [DONE]\n\n");
    check_ends_at_once(PHI_PROTOCOL_OPENAI_RESPONSES,
                       "data: {\"type\":\"response.completed\",\"response\":{\"status\":"
                       "\"completed\"," RESPONSES_USAGE);
}

TEST(usage_behind_the_finish_reason_is_the_last_event_where_done_is_missing) {
    check_ends_at_once(PHI_PROTOCOL_OPENAI_CHAT,
                       CHAT_TEXT CHAT_STOP "data: {\"choices\":[]," CHAT_USAGE);
    check_ends_at_once(PHI_PROTOCOL_OPENAI_CHAT,
                       "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":"
                       "\"stop\"}]," CHAT_USAGE);
}

/* Nothing happens for `ms`, and then the run is over. */
static void check_ends_after(rig *r, uint32_t ms) {
    CHECK_EQ_INT(rig_run(r, 10), 1);
    CHECK_EQ_INT(rig_run_until(r, ms - 100), 1);
    CHECK_EQ_INT(rig_run_until(r, 200), 0);
}

TEST(usage_that_does_not_come_is_waited_for_a_second) {
    rig *r = rig_new();
    phi_agent agent = ask_held(r, PHI_PROTOCOL_OPENAI_CHAT,
                               CHAT_TEXT CHAT_STOP
                               "data: {\"choices\":[],\"usage\":{\"completion_tokens\":0}}\n\n");
    check_ends_after(r, 1000);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages") != NULL);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.output, 0);
    rig_free(r);
}

#define RESPONSES_ERROR                                                                            \
    "event: error\ndata: {\"type\":\"error\",\"error\":{\"code\":\"server_error\","                \
    "\"message\":\"The model fell over\"}}\n\n"

TEST(the_usage_behind_an_error_of_responses_is_counted) {
    rig *r = rig_new();
    phi_agent agent = ask_held(
        r, PHI_PROTOCOL_OPENAI_RESPONSES,
        RESPONSES_ERROR "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":"
                        "{\"status\":\"failed\",\"error\":{\"code\":\"server_error\","
                        "\"message\":\"other words\"}," RESPONSES_USAGE);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "The model fell over") != NULL);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.output, 3);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->raw_stop_reason, "failed");
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    rig_free(r);
}

TEST(an_error_of_responses_that_nothing_follows_ends_the_run_after_a_second) {
    rig *r = rig_new();
    (void)ask_held(r, PHI_PROTOCOL_OPENAI_RESPONSES, RESPONSES_ERROR);
    check_ends_after(r, 1000);
    CHECK(strstr(rig_story(r), "Error server \"The model fell over\"") != NULL);
    CHECK_EQ_INT(rig_open_transfers(r), 0);
    rig_free(r);
}

TEST(the_words_of_an_error_survive_a_connection_that_breaks_behind_it) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.model.protocol = PHI_PROTOCOL_OPENAI_RESPONSES;
    rig_careless(r);
    agent = rig_agent(r, &desc);
    rig_breaks(r, RESPONSES_ERROR, PHI_NETWORK, "the connection was cut");
    CHECK_EQ_INT(phi_prompt(agent, "Hello?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "Error server \"The model fell over\"") != NULL);
    rig_free(r);
}

TEST(the_usage_behind_a_content_filter_of_chat_is_counted) {
    rig *r = rig_new();
    phi_agent agent = ask_held(
        r, PHI_PROTOCOL_OPENAI_CHAT,
        CHAT_TEXT "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"content_filter\"}]}\n\n"
                  "data: {\"choices\":[]," CHAT_USAGE);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    CHECK(strstr(rig_story(r), "Error content_filter") != NULL);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.output, 3);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_turn_ends_at_the_last_event_though_the_server_keeps_the_body_open),
          TEST_ENTRY(usage_behind_the_finish_reason_is_the_last_event_where_done_is_missing),
          TEST_ENTRY(usage_that_does_not_come_is_waited_for_a_second),
          TEST_ENTRY(the_usage_behind_an_error_of_responses_is_counted),
          TEST_ENTRY(an_error_of_responses_that_nothing_follows_ends_the_run_after_a_second),
          TEST_ENTRY(the_words_of_an_error_survive_a_connection_that_breaks_behind_it),
          TEST_ENTRY(the_usage_behind_a_content_filter_of_chat_is_counted))
