/* test_after_end.c - what a server sends behind the end of its answer, as the loop reads it: bytes in pieces, through
   frames, events and decoders. Nothing of it counts, but usage behind a reason to stop. */
#include "support/rig.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "log/thread.h"

#define EVENTS "content-type: text/event-stream\r\n"
#define FRAMES "content-type: application/vnd.amazon.eventstream\r\n"

/* ---- Anthropic ---- */

#define ANT_TEXT(index, text)                                                                      \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":" index         \
    ",\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"                                    \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":" index         \
    ",\"delta\":{\"type\":\"text_delta\",\"text\":\"" text "\"}}\n\n"                              \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":" index "}\n\n"
#define ANT_START                                                                                  \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"role\":"  \
    "\"assistant\",\"content\":[],\"model\":\"x\",\"usage\":{\"input_tokens\":9,"                  \
    "\"output_tokens\":1}}}\n\n"
#define ANT_STOP(reason)                                                                           \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason \
    "\"},\"usage\":{\"output_tokens\":3}}\n\n"                                                     \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
#define ANT_CALL                                                                                   \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,"             \
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"echo\",\"input\":{}}}\n\n"  \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":"   \
    "{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}}\n\n"                                 \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n"
#define ANT_ERROR                                                                                  \
    "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","            \
    "\"message\":\"Overloaded\"}}\n\n"
#define ANT ANT_START ANT_TEXT("0", "As you see.") ANT_STOP("end_turn")

/* ---- Chat ---- */

#define CHAT_CHUNK(delta, reason)                                                                  \
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{"     \
    "\"index\":0,\"delta\":{" delta "},\"finish_reason\":" reason "}]}\n\n"
#define CHAT_SAID CHAT_CHUNK("\"role\":\"assistant\",\"content\":\"As you see.\"", "null")
#define CHAT_STOP CHAT_CHUNK("", "\"stop\"")
#define CHAT_CALL                                                                                  \
    CHAT_CHUNK("\"tool_calls\":[{\"index\":0,\"id\":\"t1\",\"type\":\"function\",\"function\":"    \
               "{\"name\":\"echo\",\"arguments\":\"{}\"}}]",                                       \
               "null")
#define CHAT_ERROR "data: {\"error\":{\"message\":\"busy\",\"code\":500}}\n\n"
#define CHAT_USAGE                                                                                 \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\n"
#define CHAT_USAGE_TOO                                                                             \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":77,\"completion_tokens\":77}}\n\n"
#define DONE "data: [DONE]\n\n"

/* ---- Responses ---- */

#define RESP_TEXT(index, text)                                                                     \
    "data: {\"type\":\"response.output_item.done\",\"output_index\":" index ",\"item\":{\"id\":"   \
    "\"msg_" index "\",\"type\":\"message\",\"role\":\"assistant\",\"status\":\"completed\","      \
    "\"content\":[{\"type\":\"output_text\",\"text\":\"" text "\",\"annotations\":[]}]}}\n\n"
#define RESP_CALL                                                                                  \
    "data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"id\":\"fc_1\","  \
    "\"type\":\"function_call\",\"status\":\"completed\",\"call_id\":\"t1\",\"name\":\"echo\","    \
    "\"arguments\":\"{}\"}}\n\n"
#define RESP_DONE                                                                                  \
    "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r1\",\"status\":\"completed\"," \
    "\"model\":\"m\",\"output\":[],\"usage\":{\"input_tokens\":9,\"output_tokens\":3,"             \
    "\"total_tokens\":12}}}\n\n"
#define RESP_ERROR "data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"busy\"}\n\n"
#define RESP_FAILED                                                                                \
    "data: {\"type\":\"response.failed\",\"response\":{\"id\":\"r1\",\"status\":\"failed\","       \
    "\"error\":{\"code\":\"server_error\",\"message\":\"busy\"}}}\n\n"
#define RESP RESP_TEXT("0", "As you see.") RESP_DONE

/* ---- Bedrock ---- */

#define BDR_TEXT(index, text)                                                                      \
    "{\"contentBlockDelta\":{\"contentBlockIndex\":" index ",\"delta\":{\"text\":\"" text          \
    "\"}}}\n{\"contentBlockStop\":{\"contentBlockIndex\":" index "}}\n"
#define BDR_CALL                                                                                   \
    "{\"contentBlockStart\":{\"contentBlockIndex\":1,\"start\":{\"toolUse\":{\"toolUseId\":"       \
    "\"t1\",\"name\":\"echo\"}}}}\n{\"contentBlockDelta\":{\"contentBlockIndex\":1,\"delta\":{"    \
    "\"toolUse\":{\"input\":\"{}\"}}}}\n{\"contentBlockStop\":{\"contentBlockIndex\":1}}\n"
#define BDR_SAID "{\"messageStart\":{\"role\":\"assistant\"}}\n" BDR_TEXT("0", "As you see.")
#define BDR_STOP "{\"messageStop\":{\"stopReason\":\"end_turn\"}}\n"
#define BDR_META "{\"metadata\":{\"usage\":{\"inputTokens\":9,\"outputTokens\":3}}}\n"
#define BDR_META_TOO "{\"metadata\":{\"usage\":{\"inputTokens\":77,\"outputTokens\":77}}}\n"
#define BDR_ERROR "{\"internalServerException\":{\"message\":\"busy\"}}\n"

/* ---- one run ---- */

typedef enum spoken { ANTHROPIC, CHAT, RESPONSES, BEDROCK } spoken;

static phi_model model_of(spoken p) {
    switch (p) {
    case CHAT: return phi_model_openai("gpt-4.1-mini", "key");
    case RESPONSES: return phi_model_openai_responses("gpt-5-mini", "key");
    case BEDROCK: return phi_model_bedrock(NULL, "us.anthropic.claude-sonnet-4-5-v1:0", "A:S");
    case ANTHROPIC: break;
    }
    return phi_model_anthropic("claude-sonnet-4-5", "key");
}

static phi_usage used;

static void see(void *user_data, const phi_event *event) {
    (void)user_data;
    if (event->kind == PHI_EV_AGENT_END) used = *event->usage;
}

/* broken: how the connection ends; PHI_OK: as it should. */
static void check(spoken p, const char *body, size_t piece, phi_status broken) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_agent agent;
    int before = test_failures();
    desc.model = model_of(p);
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.memory.max_event_bytes = 4096;
    desc.memory.max_response_bytes = 16384;
    agent = rig_agent(r, &desc);
    if (broken == PHI_OK)
        rig_replies(r, 200, p == BEDROCK ? FRAMES : EVENTS, body);
    else
        rig_breaks(r, body, broken, "cut");
    rig_chunk(r, piece);
    rig_watch(r, see, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40000), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                 PHI_STOP_REASON_STOP);
    if (CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->content_count, 1))
        CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text,
                  "As you see.");
    CHECK_EQ_INT(used.input, 9);
    CHECK_EQ_INT(used.output, 3);
    CHECK(strstr(rig_story(r), "Error") == NULL);
    if (test_failures() != before) printf("%.900s\n%.900s\n", body, rig_story(r));
    rig_free(r);
}

typedef struct row {
    spoken protocol;
    const char *body;
} row;

static void check_all(const row *rows, size_t count) {
    static const size_t pieces[] = {0, 1, 7};
    size_t i, k;
    for (i = 0; i < count; i++)
        for (k = 0; k < PHI__COUNT(pieces); k++)
            check(rows[i].protocol, rows[i].body, pieces[k], PHI_OK);
}

/* ---- the tests ---- */

TEST(text_behind_the_last_event_is_not_the_answers) {
    static const row rows[] = {
        {ANTHROPIC, ANT ANT_TEXT("1", " More.")},
        {ANTHROPIC, ANT ANT_START ANT_TEXT("0", " More.") ANT_STOP("max_tokens")},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_USAGE DONE CHAT_SAID},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_SAID CHAT_CHUNK("\"reasoning\":\"Hm.\"", "\"length\"")
                   CHAT_USAGE DONE},
        {RESPONSES, RESP RESP_TEXT("1", " More.") RESP_DONE},
        {BEDROCK, BDR_SAID BDR_STOP BDR_META BDR_TEXT("1", " More.")},
        {BEDROCK, BDR_SAID BDR_STOP BDR_TEXT("0", " More.") BDR_TEXT("1", " More.") BDR_META},
    };
    check_all(rows, PHI__COUNT(rows));
}

TEST(a_call_behind_the_last_event_is_not_run) {
    static const row rows[] = {
        {ANTHROPIC, ANT ANT_CALL ANT_STOP("tool_use")},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_USAGE DONE CHAT_CALL CHAT_CHUNK("", "\"tool_calls\"")},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_CALL CHAT_CHUNK("", "\"tool_calls\"") CHAT_USAGE DONE},
        {RESPONSES, RESP RESP_CALL RESP_DONE},
        {BEDROCK, BDR_SAID BDR_STOP BDR_META BDR_CALL},
        {BEDROCK, BDR_SAID BDR_STOP BDR_CALL BDR_META},
    };
    check_all(rows, PHI__COUNT(rows));
}

TEST(trouble_behind_the_end_does_not_discard_the_answer) {
    static const row rows[] = {
        {ANTHROPIC, ANT ANT_ERROR},
        {ANTHROPIC, ANT "data: {\"type\":\"content_block_delta\n\ndata: {\"x\":1}\n\n"},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_USAGE DONE CHAT_ERROR},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_ERROR CHAT_USAGE DONE},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_USAGE "event: error\n" CHAT_ERROR DONE},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_USAGE "data: {\"choices\n\ndata: {\"x\":1}\n\n" DONE},
        {RESPONSES, RESP RESP_ERROR RESP_FAILED},
        {RESPONSES, RESP "event: error\n" RESP_ERROR},
        {BEDROCK, BDR_SAID BDR_STOP BDR_META BDR_ERROR},
        {BEDROCK, BDR_SAID BDR_STOP BDR_ERROR BDR_META},
        {BEDROCK, BDR_SAID BDR_STOP "{\"contentBlockDelta\":{]}}\n" BDR_META},
    };
    check_all(rows, PHI__COUNT(rows));
}

TEST(usage_behind_the_last_event_does_not_count) {
    static const row rows[] = {
        {ANTHROPIC, ANT "data: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{"
                        "\"output_tokens\":77}}\n\n"},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_USAGE DONE CHAT_USAGE_TOO},
        {BEDROCK, BDR_SAID BDR_STOP BDR_META BDR_META_TOO},
    };
    check_all(rows, PHI__COUNT(rows));
}

static char huge[40000];

/* An event that is too large, then more than an answer may have. */
TEST(too_much_behind_the_end_does_not_discard_the_answer) {
    static const row rows[] = {
        {ANTHROPIC, ANT},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_USAGE DONE},
        {CHAT, CHAT_SAID CHAT_USAGE CHAT_STOP}, /* usage may follow */
        {RESPONSES, RESP},
        {BEDROCK, BDR_SAID BDR_STOP BDR_META},
    };
    size_t i, n;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        (void)snprintf(huge, sizeof huge, "%sdata: ", rows[i].body);
        n = strlen(huge);
        memset(huge + n, 'x', sizeof huge - n - 1);
        check(rows[i].protocol, huge, 0, PHI_OK);
        check(rows[i].protocol, huge, 1000, PHI_OK);
    }
}

TEST(a_connection_cut_behind_the_end_does_not_discard_the_answer) {
    static const row rows[] = {
        {ANTHROPIC, ANT "event: content_blo"},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_USAGE},
        {CHAT, CHAT_SAID CHAT_STOP CHAT_USAGE DONE "data: {"},
        {RESPONSES, RESP "data: {"},
    };
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) check(rows[i].protocol, rows[i].body, 0, PHI_NETWORK);
}

TEST_MAIN(TEST_ENTRY(text_behind_the_last_event_is_not_the_answers),
          TEST_ENTRY(a_call_behind_the_last_event_is_not_run),
          TEST_ENTRY(trouble_behind_the_end_does_not_discard_the_answer),
          TEST_ENTRY(usage_behind_the_last_event_does_not_count),
          TEST_ENTRY(too_much_behind_the_end_does_not_discard_the_answer),
          TEST_ENTRY(a_connection_cut_behind_the_end_does_not_discard_the_answer))
