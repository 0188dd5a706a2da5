/* test_bare_json.c - bodies of status 200 that are JSON where a stream was asked for, under whatever
   content type a server gives them. */
#include "support/rig.h"

#include <stdio.h>

static const char *const types[] = {"text/plain", "text/event-stream; charset=utf-8",
                                    "application/problem+json", "application/json",
                                    "application/octet-stream"};

static const char *const protocols[] = {PHI_PROTOCOL_ANTHROPIC, PHI_PROTOCOL_OPENAI_CHAT,
                                        PHI_PROTOCOL_OPENAI_RESPONSES, PHI_PROTOCOL_GOOGLE};

enum { TYPES = sizeof types / sizeof types[0], PROTOCOLS = sizeof protocols / sizeof protocols[0] };

static void check_body(const char *protocol, const char *type, size_t chunk, const char *body,
                       const char *want) {
    char headers[120];
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    (void)snprintf(headers, sizeof headers, "content-type: %s\r\n", type);
    desc.model.protocol = protocol;
    rig_careless(r);
    agent = rig_agent(r, &desc);
    rig_replies(r, 200, headers, body);
    rig_chunk(r, chunk);
    CHECK_EQ_INT(phi_prompt(agent, "Hello?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 1000), 0);
    if (!CHECK(strstr(rig_story(r), want) != NULL))
        printf("%s, %s:\n%s", protocol, type, rig_story(r));
    rig_free(r);
}

#define LIMITED                                                                                    \
    "{\n  \"error\": {\n    \"message\": \"Slow down\",\n    \"type\": \"rate_limit_error\"\n  "   \
    "}\n}\n"

TEST(a_json_error_under_status_200_keeps_its_class_and_words_whatever_its_type) {
    size_t i, j;
    for (i = 0; i < PROTOCOLS; i++)
        for (j = 0; j < TYPES; j++) {
            check_body(protocols[i], types[j], 0, LIMITED, "Error rate_limited \"Slow down\"");
            check_body(protocols[i], types[j], 7, LIMITED, "Error rate_limited \"Slow down\"");
        }
}

TEST(a_whole_answer_is_read_whatever_its_type) {
    size_t j;
    for (j = 0; j < TYPES; j++) {
        check_body(PHI_PROTOCOL_OPENAI_CHAT, types[j], 0,
                   "{\"choices\":[{\"message\":{\"content\":\"Hi.\"},\"finish_reason\":\"stop\"}]}",
                   "AgentEnd ok, 2 messages");
        check_body(PHI_PROTOCOL_ANTHROPIC, types[j], 0,
                   "{\"type\":\"message\",\"content\":[{\"type\":\"text\",\"text\":\"Hi.\"}],"
                   "\"stop_reason\":\"end_turn\"}",
                   "AgentEnd ok, 2 messages");
        check_body(PHI_PROTOCOL_OPENAI_RESPONSES, types[j], 0,
                   "{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":["
                   "{\"type\":\"output_text\",\"text\":\"Hi.\"}]}]}",
                   "AgentEnd ok, 2 messages");
    }
}

TEST(an_error_that_breaks_into_a_stream_as_bare_json_is_read) {
    check_body(PHI_PROTOCOL_OPENAI_CHAT, "text/event-stream", 0,
               "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n" LIMITED,
               "Error rate_limited \"Slow down\"");
    check_body(PHI_PROTOCOL_OPENAI_CHAT, "text/event-stream", 0,
               "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n" LIMITED
               "data: [DONE]\n\n",
               "Error rate_limited \"Slow down\"");
}

TEST_MAIN(TEST_ENTRY(a_json_error_under_status_200_keeps_its_class_and_words_whatever_its_type),
          TEST_ENTRY(a_whole_answer_is_read_whatever_its_type),
          TEST_ENTRY(an_error_that_breaks_into_a_stream_as_bare_json_is_read))
