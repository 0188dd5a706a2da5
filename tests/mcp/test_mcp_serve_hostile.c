/* test_mcp_serve_hostile.c - clients of our server that mean harm: what they send is refused with
   words, and nothing grows. */
#include "mcp/answers.h"
#include "mcp/served.h"

static const char *text_of(size_t len, char fill) {
    static char *text;
    free(text);
    text = (char *)malloc(len + 1);
    if (text == NULL) abort();
    memset(text, fill, len);
    text[len] = '\0';
    return text;
}

TEST(an_answer_that_no_queue_holds_is_an_error_and_the_server_goes_on) {
    phi_mcp_serve_resource resources[2];
    phi_mcp_server_desc desc;
    served s;
    memset(&desc, 0, sizeof desc);
    memset(resources, 0, sizeof resources);
    resources[0].uri = "a:big";
    resources[0].text = text_of(200000, 'x');
    resources[1].uri = "a:small";
    resources[1].text = "y";
    desc.resources = resources;
    desc.resource_count = 2;
    desc.max_queue_bytes = 100000;
    served_open(&s, &desc);
    served_begin(&s, "2025-03-26", "{}");
    CHECK(has(
        served_ask(&s, legacy(1, "resources/read", "{\"uri\":\"a:big\"}")),
        "\"id\":1,\"error\":{\"code\":-32603,\"message\":\"The answer has more than 100000 bytes"));
    CHECK(has(served_ask(&s, legacy(2, "resources/read", "{\"uri\":\"a:small\"}")),
              "\"text\":\"y\""));
    (void)served_ask(&s, "[{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/"
                         "read\",\"params\":{\"uri\":\"a:big\"}},"
                         "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}]");
    CHECK(has(s.line, "\"id\":3,\"error\"") && has(s.line, "\"id\":4,\"result\""));
    served_free(&s);
}

TEST(a_batch_begins_no_session) {
    phi_mcp_server_desc desc;
    phi_tool tool = rig_echo();
    served s;
    memset(&desc, 0, sizeof desc);
    desc.tools = &tool;
    desc.tool_count = 1;
    served_open(&s, &desc);
#define BEGIN(id)                                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                                              \
    ",\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-03-26\"}}"
    (void)served_ask(&s, "[" BEGIN("1") "," BEGIN("2") "]");
    CHECK(has(s.line, "\"id\":1,\"error\"") && has(s.line, "\"id\":2,\"error\""));
    served_begin(&s, "2025-03-26", "{}");
    CHECK_EQ_INT(serve_tools(s.server, &tool, NULL, 1), PHI_OK);
    CHECK(has(served_hear(&s), "list_changed"));
    CHECK_EQ_STR(served_hear(&s), "");
    served_free(&s);
}

/* ---- clients that never come back ---- */

typedef struct question {
    phi_call call;
    phi_status status; /* PHI_OK: none yet */
} question;

static question questions[8];
static int question_count;

static void question_done(void *user_data, phi_status status, const phi_json *result,
                          phi_str message) {
    question *q = (question *)user_data;
    (void)result;
    q->status = status;
    (void)phi_call_failf(q->call, "%.*s", (int)message.len, message.at);
}

static phi_flow question_start(void *user_data, phi_call call, phi_str arguments) {
    question *q = &questions[question_count++];
    phi_mcp_ask_desc ask;
    (void)user_data;
    (void)arguments;
    memset(&ask, 0, sizeof ask);
    ask.method = "elicitation/create";
    ask.done_fn = question_done;
    ask.user_data = q;
    q->call = call;
    q->status = phi_mcp_ask(phi_mcp_incoming_of(call), &ask);
    return PHI_PENDING;
}

TEST(questions_that_are_never_answered_leave_room_for_others) {
    phi_mcp_server_desc desc;
    phi_tool tool;
    served s;
    int i;
    memset(&desc, 0, sizeof desc);
    memset(&tool, 0, sizeof tool);
    question_count = 0;
    tool.name = "ask";
    tool.start = question_start;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.max_calls = 4;
    served_open(&s, &desc);
    for (i = 0; i < 8; i++) {
        (void)served_ask(&s, modern(i, "tools/call", "\"name\":\"ask\",", "{\"elicitation\":{}}"));
        CHECK(has(s.line, "input_required"));
        CHECK_EQ_STR(served_hear(&s), "");
    }
    for (i = 0; i < 8; i++) CHECK_EQ_INT(questions[i].status, i < 6 ? PHI_TIMEOUT : PHI_OK);
    served_free(&s);
}

/* ---- lists that go under way ---- */

TEST(a_call_outlives_the_list_that_its_tool_was_in) {
    int way;
    for (way = 0; way < 3; way++) {
        phi_mcp_server_desc desc;
        rig *r = rig_new();
        phi_tool *tools = (phi_tool *)malloc(sizeof *tools), echo = rig_echo();
        phi_mcp_serve_tool *infos = (phi_mcp_serve_tool *)calloc(1, sizeof *infos);
        char *name = (char *)malloc(5), *schema = (char *)malloc(30);
        served s;
        REQUIRE(tools != NULL && infos != NULL && name != NULL && schema != NULL);
        memset(&desc, 0, sizeof desc);
        *tools = rig_wait(r);
        memcpy(name, "wait", 5);
        (void)strcpy(schema, "{\"type\":\"object\"}");
        tools->name = name;
        infos->output_schema = schema;
        desc.tools = tools;
        desc.tool_infos = infos;
        desc.tool_count = 1;
        served_open_with(&s, &desc, r);
        served_begin(&s, "2025-11-25", "{}");
        CHECK_EQ_STR(served_ask(&s, legacy(1, "tools/call", "{\"name\":\"wait\"}")), "");
        CHECK_EQ_INT(rig_started(r), 1);
        CHECK_EQ_INT(serve_tools(s.server, &echo, NULL, 1), PHI_OK);
        memset(tools, 0x55, sizeof *tools);
        free(tools);
        free(infos);
        free(name);
        free(schema);
        CHECK(has(served_hear(&s), "list_changed"));
        if (way == 0) {
            rig_finish(r, 0, "{}");
            CHECK(has(served_hear(&s), "\"isError\":false"));
        } else if (way == 1) {
            served_say(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                           "\"params\":{\"requestId\":1}}");
            CHECK_EQ_STR(served_hear(&s), "");
            CHECK_EQ_INT(rig_cancelled(r), 1);
        }
        served_free(&s);
    }
}

static phi_mcp_incoming read_of;

static void read_later(void *user_data, phi_mcp_incoming incoming, const char *uri) {
    (void)user_data;
    (void)uri;
    read_of = incoming;
}

TEST(a_read_outlives_the_list_that_its_resource_was_in) {
    phi_mcp_serve_resource other, *resource = (phi_mcp_serve_resource *)calloc(1, sizeof *resource);
    char *type = (char *)malloc(11);
    phi_mcp_server_desc desc;
    served s;
    REQUIRE(resource != NULL && type != NULL);
    memset(&desc, 0, sizeof desc);
    memset(&other, 0, sizeof other);
    memcpy(type, "text/plain", 11);
    other.uri = "a:other";
    other.text = "";
    resource->uri = "a:late";
    resource->mime_type = type;
    resource->read = read_later;
    desc.resources = resource;
    desc.resource_count = 1;
    served_open(&s, &desc);
    served_begin(&s, "2025-11-25", "{}");
    CHECK_EQ_STR(served_ask(&s, legacy(1, "resources/read", "{\"uri\":\"a:late\"}")), "");
    CHECK_EQ_INT(serve_resources(s.server, &other, 1), PHI_OK);
    free(resource);
    free(type);
    CHECK(has(served_hear(&s), "list_changed"));
    CHECK_EQ_INT(answer_text(read_of, phi_str_of("late")), PHI_OK);
    CHECK(has(served_hear(&s), "\"mimeType\":\"text/plain\",\"text\":\"late\""));
    served_free(&s);
}

static void get_later(void *user_data, phi_mcp_incoming incoming, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    read_of = incoming;
}

TEST(a_prompt_under_way_outlives_its_list) {
    phi_mcp_serve_prompt other, *prompt = (phi_mcp_serve_prompt *)calloc(1, sizeof *prompt);
    char *name = (char *)malloc(5);
    phi_mcp_server_desc desc;
    served s;
    REQUIRE(prompt != NULL && name != NULL);
    memset(&desc, 0, sizeof desc);
    memset(&other, 0, sizeof other);
    memcpy(name, "late", 5);
    other.name = "next";
    other.text = "";
    prompt->name = name;
    prompt->get = get_later;
    desc.prompts = prompt;
    desc.prompt_count = 1;
    served_open(&s, &desc);
    served_begin(&s, "2025-11-25", "{}");
    CHECK_EQ_STR(served_ask(&s, legacy(1, "prompts/get", "{\"name\":\"late\"}")), "");
    CHECK_EQ_INT(serve_prompts(s.server, &other, 1), PHI_OK);
    free(prompt);
    free(name);
    CHECK(has(served_hear(&s), "list_changed"));
    CHECK_EQ_INT(answer_text(read_of, phi_str_of("words")), PHI_OK);
    CHECK(has(served_hear(&s), "\"text\":\"words\""));
    served_free(&s);
}

TEST_MAIN(TEST_ENTRY(an_answer_that_no_queue_holds_is_an_error_and_the_server_goes_on),
          TEST_ENTRY(a_batch_begins_no_session),
          TEST_ENTRY(questions_that_are_never_answered_leave_room_for_others),
          TEST_ENTRY(a_call_outlives_the_list_that_its_tool_was_in),
          TEST_ENTRY(a_read_outlives_the_list_that_its_resource_was_in),
          TEST_ENTRY(a_prompt_under_way_outlives_its_list))
