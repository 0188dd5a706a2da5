/* test_prefix.c - what a provider's prompt cache lives by: each request begins with the bytes of the one before,
   in all protocols, over several turns with a tool, and whatever moves beside the history.

   The rule, which is checked byte by byte: without the one cache mark inside of the messages, which moves to the
   last user block, a request is the former one up to the end of its last message, then what is new, then
   the same rest. */
#include "support/rig.h"
#include "support/set.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "base/arena.h"

#define EVENTS "content-type: text/event-stream\r\n"

typedef struct protocol {
    const char *name;
    phi_model model;
    const char *list; /* the messages begin behind it */
    const char
        *rest; /* what follows the last message begins with it; NULL: the closing brackets alone */
    const char *mark; /* inside of the messages; NULL: none */
    const char *headers;
    const char *call, *text; /* answers; %s: the id of the call */
} protocol;

enum { SPOKEN = 9, TURNS = 4 }; /* the eight, and Chat with marks */

#define CHAT_CHUNK(delta, reason)                                                                  \
    "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{"     \
    "\"index\":0,\"delta\":{" delta "},\"finish_reason\":" reason "}]}\n\n"
#define CHAT_CALL                                                                                  \
    CHAT_CHUNK("\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"call_%s\",\"type\":"  \
               "\"function\",\"function\":{\"name\":\"echo\",\"arguments\":\"{\\\"n\\\":1}\"}}]",  \
               "null")                                                                             \
    CHAT_CHUNK("", "\"tool_calls\"") "data: [DONE]\n\n"
#define CHAT_TEXT                                                                                  \
    CHAT_CHUNK("\"role\":\"assistant\",\"content\":\"As you see.\"", "null")                       \
    CHAT_CHUNK("", "\"stop\"") "data: [DONE]\n\n"

#define RESPONSES_DONE                                                                             \
    "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r1\",\"status\":\"completed\"," \
    "\"model\":\"m\",\"output\":[],\"usage\":{\"input_tokens\":9,\"output_tokens\":3,"             \
    "\"total_tokens\":12}}}\n\n"
#define RESPONSES_ITEM(index, item)                                                                \
    "data: {\"type\":\"response.output_item.added\",\"output_index\":" index ",\"item\":" item     \
    "}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":" index ",\"item\":" item \
    "}\n\n"
#define RESPONSES_CALL                                                                             \
    RESPONSES_ITEM("0", "{\"id\":\"rs_1\",\"type\":\"reasoning\",\"summary\":[],"                  \
                        "\"encrypted_content\":\"c2VjcmV0\"}")                                     \
    RESPONSES_ITEM("1", "{\"id\":\"fc_1\",\"type\":\"function_call\",\"status\":\"completed\","    \
                        "\"call_id\":\"call_%s\",\"name\":\"echo\",\"arguments\":"                 \
                        "\"{\\\"n\\\":1}\"}")                                                      \
    RESPONSES_DONE
#define RESPONSES_TEXT                                                                             \
    RESPONSES_ITEM("0", "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\","           \
                        "\"status\":\"completed\",\"content\":[{\"type\":\"output_text\","         \
                        "\"text\":\"As you see.\",\"annotations\":[]}]}")                          \
    RESPONSES_DONE

#define GOOGLE(parts)                                                                              \
    "data: {\"candidates\":[{\"content\":{\"parts\":[" parts "],\"role\":\"model\"},"              \
    "\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":9,"           \
    "\"candidatesTokenCount\":3,\"totalTokenCount\":12},\"modelVersion\":\"m\",\"responseId\":"    \
    "\"r1\"}\n\n"
#define GOOGLE_CALL                                                                                \
    GOOGLE("{\"functionCall\":{\"id\":\"%s\",\"name\":\"echo\",\"args\":{\"n\":1}},"               \
           "\"thoughtSignature\":\"U2lnbmF0dXJl\"}")
#define GOOGLE_TEXT GOOGLE("{\"text\":\"As you see.\"}")

#define STEP(step) "data: {\"event_type\":\"step.start\",\"index\":0,\"step\":" step "}\n\n"
#define STEPS_DONE(status)                                                                         \
    "data: "                                                                                       \
    "{\"event_type\":\"interaction.completed\",\"interaction\":{\"id\":\"v1\",\"status\":"         \
    "\"" status "\",\"usage\":{\"total_input_tokens\":9,\"total_output_tokens\":3}}}\n\n"
#define STEPS_CALL                                                                                 \
    STEP("{\"type\":\"thought\",\"signature\":\"U2lnbmF0dXJl\"}")                                  \
    STEP("{\"type\":\"code_execution_call\",\"id\":\"x\",\"arguments\":{\"code\":\"1\"},"          \
         "\"signature\":\"U2ln\"}")                                                                \
    STEP("{\"type\":\"code_execution_result\",\"call_id\":\"x\",\"result\":\"1\",\"signature\":"   \
         "\"U2ln\"}")                                                                              \
    STEP("{\"type\":\"function_call\",\"id\":\"%s\",\"name\":\"echo\",\"arguments\":{\"n\":1}}")   \
    STEPS_DONE("requires_action")
#define STEPS_TEXT                                                                                 \
    STEP("{\"type\":\"model_output\",\"content\":[{\"type\":\"text\",\"text\":\"As you see.\"}]}") \
    STEPS_DONE("completed")

#define BEDROCK_END(reason)                                                                        \
    "{\"contentBlockStop\":{\"contentBlockIndex\":0}}\n{\"messageStop\":{\"stopReason\":\"" reason \
    "\"}}\n{\"metadata\":{\"usage\":{\"inputTokens\":9,\"outputTokens\":3,\"totalTokens\":12}}}\n"
#define BEDROCK_CALL                                                                               \
    "{\"messageStart\":{\"role\":\"assistant\"}}\n{\"contentBlockStart\":{\"contentBlockIndex\":"  \
    "0,\"start\":{\"toolUse\":{\"toolUseId\":\"%s\",\"name\":\"echo\"}}}}\n"                       \
    "{\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"toolUse\":{\"input\":"           \
    "\"{\\\"n\\\":1}\"}}}}\n" BEDROCK_END("tool_use")
#define BEDROCK_TEXT                                                                               \
    "{\"messageStart\":{\"role\":\"assistant\"}}\n{\"contentBlockDelta\":{\"contentBlockIndex\":"  \
    "0,\"delta\":{\"text\":\"As you see.\"}}}\n" BEDROCK_END("end_turn")

static protocol protocol_at(int i) {
    static const char cache_control[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";
    protocol p;
    memset(&p, 0, sizeof p);
    p.list = "\"messages\":[";
    p.headers = EVENTS;
    switch (i) {
    case 0:
        p.name = "Anthropic";
        p.model = phi_model_anthropic("claude-sonnet-4-5", "key");
        p.mark = cache_control; /* call and text: the rig's own */
        break;
    case 1:
        p.name = "Chat";
        p.model = phi_model_openai("gpt-4.1-mini", "key");
        p.call = CHAT_CALL;
        p.text = CHAT_TEXT;
        break;
    case 2:
    case 3:
        p.name = i == 2 ? "Responses" : "Azure";
        p.model =
            i == 2 ? phi_model_openai_responses("gpt-5-mini", "key")
                   : phi_model_azure("https://r.openai.azure.com/openai/v1", "gpt-5-mini", "key");
        p.list = "\"input\":[";
        p.call = RESPONSES_CALL;
        p.text = RESPONSES_TEXT;
        break;
    case 4:
    case 5:
        p.name = i == 4 ? "Gemini" : "Vertex";
        p.model = i == 4 ? phi_model_google("gemini-3-pro-preview", "key")
                         : phi_model_vertex("https://aiplatform.googleapis.com/v1",
                                            "gemini-3-pro-preview", "key");
        p.list = "\"contents\":[";
        p.call = GOOGLE_CALL;
        p.text = GOOGLE_TEXT;
        break;
    case 6:
        p.name = "Chat with marks";
        p.model = phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "key");
        p.list = "{\"role\":\"user\"";
        p.mark = cache_control;
        p.call = CHAT_CALL;
        p.text = CHAT_TEXT;
        break;
    case 7:
        p.name = "Interactions";
        p.model = phi_model_interactions("gemini-3-pro-preview", "key");
        p.list = "\"input\":[";
        p.call = STEPS_CALL;
        p.text = STEPS_TEXT;
        break;
    default:
        p.name = "Bedrock";
        p.model = phi_model_bedrock(NULL, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "A:S");
        p.mark = ",{\"cachePoint\":{\"type\":\"default\"}}";
        p.headers = "content-type: application/vnd.amazon.eventstream\r\n";
        p.rest = ",\"toolConfig\":";
        p.call = BEDROCK_CALL;
        p.text = BEDROCK_TEXT;
        break;
    }
    return p;
}

/* ---- requests, cut into their parts ---- */

/* A body without the mark inside of its messages; caller frees. *end: of the last message, without what
   closes it. *marks: how many there were. */
static char *without_mark(const protocol *p, const char *body, size_t *end, int *marks) {
    char *copy = (char *)malloc(strlen(body) + 1), *list, *rest, *mark;
    if (copy == NULL) abort();
    (void)strcpy(copy, body);
    *marks = 0;
    *end = 0;
    list = strstr(copy, p->list);
    if (!CHECK(list != NULL)) return copy;
    rest = p->rest != NULL ? strstr(list, p->rest) : copy + strlen(copy);
    if (!CHECK(rest != NULL)) return copy;
    while (p->mark != NULL && (mark = strstr(list, p->mark)) != NULL && mark < rest) {
        size_t n = strlen(p->mark);
        memmove(mark, mark + n, strlen(mark + n) + 1);
        rest -= n;
        (*marks)++;
    }
    while (rest[-1] == ']' || rest[-1] == '}') rest--;
    *end = (size_t)(rest - copy);
    return copy;
}

/* The later request begins as the former one does, and ends as it does. */
static void goes_on(const protocol *p, const char *former, const char *later) {
    size_t end, later_end;
    int marks, later_marks;
    char *a = without_mark(p, former, &end, &marks);
    char *b = without_mark(p, later, &later_end, &later_marks);
    bool same = CHECK(later_end > end) && CHECK(memcmp(a, b, end) == 0);
    if (p->rest != NULL)
        same = CHECK_EQ_STR(strstr(b + later_end, p->rest), strstr(a + end, p->rest)) && same;
    CHECK_EQ_INT(marks, p->mark != NULL ? 1 : 0);
    CHECK_EQ_INT(later_marks, marks);
    if (!same) printf("  %s:\n  %s\n  %s\n", p->name, former, later);
    free(a);
    free(b);
}

/* ---- conversations ---- */

static phi_agent agent_of(rig *r, const protocol *p) {
    static phi_tool tool;
    phi_agent_desc desc = rig_desc();
    tool = rig_echo();
    desc.model = p->model;
    desc.system_prompt = "You are the smith.";
    desc.ids.session_id = "session-1";
    desc.tools = &tool;
    desc.tool_count = 1;
    return rig_agent(r, &desc);
}

/* A turn with a call, and one that answers. */
static void talk(rig *r, phi_agent agent, const protocol *p, const char *id) {
    char call[3000];
    if (p->call == NULL) {
        rig_call(r, id, "echo", "{\"n\":1}");
        rig_says(r, "As you see.");
    } else {
        (void)snprintf(call, sizeof call, p->call, id, id); /* some say it twice */
        rig_replies(r, 200, p->headers, call);
        rig_replies(r, 200, p->headers, p->text);
    }
    CHECK_EQ_INT(phi_prompt(agent, "What is \"there\", now?"), PHI_OK);
    if (!CHECK_EQ_INT(rig_run(r, 60), 0) || !CHECK(strstr(rig_story(r), "error") == NULL))
        printf("  %s: %s\n", p->name, rig_story(r));
}

static void all_go_on(rig *r, const protocol *p, size_t requests) {
    size_t i;
    CHECK_EQ_INT((int)rig_requests(r), (int)requests);
    for (i = 1; i < rig_requests(r); i++) goes_on(p, rig_request(r, i - 1), rig_request(r, i));
}

TEST(each_request_begins_with_the_former_one_in_every_protocol) {
    int i, turn;
    for (i = 0; i < SPOKEN; i++) {
        protocol p = protocol_at(i);
        rig *r = rig_new();
        phi_agent agent = agent_of(r, &p);
        for (turn = 0; turn < TURNS; turn++) {
            char id[16];
            (void)snprintf(id, sizeof id, "id%d", turn);
            talk(r, agent, &p, id);
        }
        all_go_on(r, &p, (size_t)TURNS * 2);
        rig_free(r);
    }
}

TEST(time_that_passes_is_not_in_the_requests_of_any_protocol) {
    int i;
    for (i = 0; i < SPOKEN; i++) {
        protocol p = protocol_at(i);
        rig *now = rig_new(), *later = rig_new();
        phi_agent a = agent_of(now, &p), b;
        talk(now, a, &p, "id0");
        rig_pass_ms(now, 26 * 60 * 60 * 1000);
        talk(now, a, &p, "id1");
        all_go_on(now, &p, 4);
        rig_pass_ms(later, 40 * 60 * 60 * 1000);
        b = agent_of(later, &p);
        talk(later, b, &p, "id0");
        CHECK_EQ_STR(rig_request(later, 0), rig_request(now, 0));
        CHECK_EQ_STR(rig_request(later, 1), rig_request(now, 1));
        rig_free(now);
        rig_free(later);
    }
}

TEST(the_same_tools_and_prompt_set_anew_change_no_byte_in_any_protocol) {
    int i;
    for (i = 0; i < SPOKEN; i++) {
        protocol p = protocol_at(i);
        rig *r = rig_new();
        phi_agent agent = agent_of(r, &p);
        phi_tool tool = rig_echo();
        talk(r, agent, &p, "id0");
        CHECK_EQ_INT(set_tools(agent, &tool, 1), PHI_OK);
        CHECK_EQ_INT(set_system_prompt(agent, "You are the smith."), PHI_OK);
        CHECK_EQ_INT(set_model(agent, &p.model), PHI_OK);
        talk(r, agent, &p, "id1");
        all_go_on(r, &p, 4);
        rig_free(r);
    }
}

TEST(a_history_that_was_saved_and_restored_is_sent_as_before_in_every_protocol) {
    int i;
    for (i = 0; i < SPOKEN; i++) {
        protocol p = protocol_at(i);
        rig *r = rig_new(), *other = rig_new();
        phi_agent agent = agent_of(r, &p), restored = agent_of(other, &p);
        phi_memory memory;
        phi_arena arena;
        phi_str json = phi_str_of("");
        phi_parse_error error;
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        talk(r, agent, &p, "id0");
        CHECK_EQ_INT(phi_agent_messages_to_json(agent, &arena, &json), PHI_OK);
        CHECK_EQ_INT(phi_agent_messages_from_json(restored, json, &error), PHI_OK);
        talk(r, agent, &p, "id1");
        talk(other, restored, &p, "id1");
        all_go_on(r, &p, 4);
        CHECK_EQ_STR(rig_request(other, 0), rig_request(r, 2));
        CHECK_EQ_STR(rig_request(other, 1), rig_request(r, 3));
        phi_arena_free(&arena);
        rig_free(r);
        rig_free(other);
    }
}

TEST_MAIN(TEST_ENTRY(each_request_begins_with_the_former_one_in_every_protocol),
          TEST_ENTRY(time_that_passes_is_not_in_the_requests_of_any_protocol),
          TEST_ENTRY(the_same_tools_and_prompt_set_anew_change_no_byte_in_any_protocol),
          TEST_ENTRY(a_history_that_was_saved_and_restored_is_sent_as_before_in_every_protocol))
