/* test_opaque.c - blocks that phi does not interpret, over Messages and Converse: whatever the wire
   says comes back byte for byte, however it was cut and kept meanwhile. $PHI_BLOCKS: how many
   random blocks of each wire (default 10,000). */
#include "wire/wire_support.h"
#include "support/codec_of.h"

#define MESSAGES PHI_PROTOCOL_ANTHROPIC
#define CONVERSE PHI_PROTOCOL_BEDROCK

#define START                                                                                      \
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"c\",\"usage\":{"     \
    "\"input_tokens\":5,\"output_tokens\":1}}}\n\n"
#define BLOCK(index, block)                                                                        \
    "data: {\"type\":\"content_block_start\",\"index\":" index ",\"content_block\":" block "}\n\n"
#define DELTA(index, delta)                                                                        \
    "data: {\"type\":\"content_block_delta\",\"index\":" index ",\"delta\":" delta "}\n\n"
#define TEXT(index, text) DELTA(index, "{\"type\":\"text_delta\",\"text\":\"" text "\"}")
#define INPUT(index, json)                                                                         \
    DELTA(index, "{\"type\":\"input_json_delta\",\"partial_json\":\"" json "\"}")
#define STOP(index) "data: {\"type\":\"content_block_stop\",\"index\":" index "}\n\n"
#define DONE(reason)                                                                               \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason                       \
    "\"},\"usage\":{\"output_tokens\":3}}\n\ndata: {\"type\":\"message_stop\"}\n\n"

#define B_START(index, start)                                                                      \
    "{\"contentBlockStart\":{\"contentBlockIndex\":" index ",\"start\":" start "}}\n"
#define B_DELTA(index, delta)                                                                      \
    "{\"contentBlockDelta\":{\"contentBlockIndex\":" index ",\"delta\":" delta "}}\n"
#define B_STOP(index) "{\"contentBlockStop\":{\"contentBlockIndex\":" index "}}\n"
#define B_OPEN "{\"messageStart\":{\"role\":\"assistant\"}}\n"
#define B_DONE(reason)                                                                             \
    "{\"messageStop\":{\"stopReason\":\"" reason                                                   \
    "\"}}\n{\"metadata\":{\"usage\":{\"inputTokens\":1,\"outputTokens\":1}}}\n"

static phi_model model_of(const char *protocol) {
    return strcmp(protocol, MESSAGES) == 0
               ? phi_model_anthropic("claude-opus-5-5", "K")
               : phi_model_bedrock(NULL, "anthropic.claude-opus-5-5", "K");
}

/* ---- there and back ---- */

/* The answer as the log keeps it, through its JSON. */
static phi_message kept(stream *s, const char *protocol) {
    phi_model model = model_of(protocol);
    phi_parse_error error;
    phi_message back;
    phi_str json;
    s->message.model = phi_str_of(model.id);
    s->message.provider = phi_str_of(model.provider);
    s->message.protocol = phi_str_of(protocol);
    CHECK_EQ_INT(phi_message_to_json(&s->message, &s->arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_message_from_json(json, &s->arena, &back, &error), PHI_OK);
    return back;
}

/* The bytes between the brackets of the answer's content, as a request to the model has them. */
static const char *sent(conversation *t, const phi_model *model, const phi_message *answer,
                        const char *next) {
    static char room[1 << 16];
    char *from, *to;
    talk_begin(t, *model);
    t->spec.cache.mode = PHI_CACHE_DISABLED;
    talk_user(t, "Go");
    (void)talk_message(t, PHI_ROLE_ASSISTANT);
    t->messages[1] = *answer;
    if (next != NULL) talk_user(t, next);
    talk_render_ok(t);
    from = strstr(t->body, "\"role\":\"assistant\",\"content\":[");
    if (from == NULL) return "";
    from += strlen("\"role\":\"assistant\",\"content\":[");
    to = next != NULL ? strstr(from, "]},{\"role\":\"user\"") : strstr(from, "]}]");
    if (to == NULL || (size_t)(to - from) >= sizeof room) return "(too long)";
    memcpy(room, from, (size_t)(to - from));
    room[to - from] = '\0';
    return room;
}

static void back_is(stream *s, const char *protocol, const char *next, const char *want) {
    phi_model model = model_of(protocol);
    phi_message answer = kept(s, protocol);
    conversation t;
    CHECK_EQ_INT(s->assembly.failure.kind, PHI_FAILURE_NONE);
    CHECK_EQ_STR(sent(&t, &model, &answer, next), want);
    talk_free(&t);
}

/* A stream, whole, cut at each of its bytes, and byte by byte. */
static void stream_comes_back(const char *protocol, const char *text, const char *want) {
    size_t len = strlen(text), at;
    stream s;
    stream_of(&s, protocol, text);
    back_is(&s, protocol, "Thanks", want);
    stream_free(&s);
    for (at = 1; at < len; at++) {
        stream_begin(&s, protocol);
        stream_feed(&s, text, at);
        stream_feed(&s, text + at, len - at);
        stream_end(&s);
        back_is(&s, protocol, "Thanks", want);
        stream_free(&s);
        if (test_failures() > 0) return;
    }
    stream_begin(&s, protocol);
    for (at = 0; at < len; at++) stream_feed(&s, text + at, 1);
    stream_end(&s);
    back_is(&s, protocol, "Thanks", want);
    stream_free(&s);
}

static void whole_comes_back(const char *protocol, const char *block) {
    char body[4096];
    stream s;
    snprintf(body, sizeof body,
             strcmp(protocol, MESSAGES) == 0
                 ? "{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"content\":[%s],"
                   "\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":1}}"
                 : "{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":[%s]}},"
                   "\"stopReason\":\"end_turn\",\"usage\":{\"inputTokens\":1}}",
             block);
    stream_begin(&s, protocol);
    stream_whole(&s, body);
    back_is(&s, protocol, "Thanks", block);
    stream_free(&s);
}

static phi_content *talk_opaque(conversation *t, const char *protocol, const char *json) {
    phi_content *c = talk_block(t, PHI_CONTENT_OPAQUE);
    c->protocol = phi_str_of(protocol);
    c->replay = phi_str_of(json);
    return c;
}

/* ---- Messages ---- */

/* Blocks that come whole with their start, as the documents have them. */
static const char *const whole_blocks[] = {
    "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"srvtoolu_1\",\"content\":[{\"type\":"
    "\"web_search_result\",\"title\":\"T\",\"url\":\"https://e.x\",\"encrypted_content\":\"E+/=\","
    "\"page_age\":null}]}",
    "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"srvtoolu_1\",\"content\":{\"type\":"
    "\"web_search_tool_result_error\",\"error_code\":\"max_uses_exceeded\"},\"caller\":{\"type\":"
    "\"direct\"}}",
    "{\"type\":\"web_fetch_tool_result\",\"tool_use_id\":\"srvtoolu_2\",\"content\":{\"type\":"
    "\"web_fetch_result\",\"url\":\"https://e.x\",\"retrieved_at\":null,\"content\":{\"type\":"
    "\"document\",\"source\":{\"type\":\"base64\",\"media_type\":\"application/pdf\",\"data\":"
    "\"JVBERi0=\"},\"title\":null,\"citations\":{\"enabled\":true}}}}",
    "{\"type\":\"code_execution_tool_result\",\"tool_use_id\":\"srvtoolu_3\",\"content\":{\"type\":"
    "\"code_execution_result\",\"stdout\":\"1\\n\",\"stderr\":\"\",\"return_code\":0,\"content\":"
    "[{\"type\":\"code_execution_output\",\"file_id\":\"file_1\"}]}}",
    "{\"type\":\"bash_code_execution_tool_result\",\"tool_use_id\":\"srvtoolu_4\",\"content\":{"
    "\"type\":\"bash_code_execution_tool_result_error\",\"error_code\":\"output_file_too_large\"}}",
    "{\"type\":\"text_editor_code_execution_tool_result\",\"tool_use_id\":\"srvtoolu_5\","
    "\"content\":{\"type\":\"text_editor_code_execution_view_result\",\"content\":\"a\\tb\","
    "\"file_type\":\"text\",\"num_lines\":1,\"start_line\":1,\"total_lines\":1}}",
    "{\"type\":\"tool_search_tool_result\",\"tool_use_id\":\"srvtoolu_6\",\"content\":{\"type\":"
    "\"tool_search_tool_search_result\",\"tool_references\":[{\"type\":\"tool_reference\","
    "\"tool_name\":\"get_weather\"}]}}",
    "{\"type\":\"container_upload\",\"file_id\":\"file_2\"}",
    "{\"type\":\"mcp_tool_result\",\"tool_use_id\":\"mcptoolu_1\",\"is_error\":false,\"content\":[{"
    "\"type\":\"text\",\"text\":\"ok\"}]}",
    "{\"type\":\"mcp_tool_listing\",\"mcp_server_name\":\"s\",\"tools\":[{\"name\":\"n\","
    "\"input_schema\":{\"type\":\"object\"}}]}",
    "{\"type\":\"advisor_tool_result\",\"tool_use_id\":\"srvtoolu_7\",\"content\":{\"type\":"
    "\"advisor_redacted_result\",\"encrypted_content\":\"E\",\"stop_reason\":\"end_turn\"}}",
    "{\"type\":\"fallback\",\"from\":{\"model\":\"a\"},\"to\":{\"model\":\"b\"},\"trigger\":{"
    "\"type\":\"refusal\",\"category\":\"cyber\"}}",
    "{\"type\":\"compaction\",\"content\":\"So far\",\"encrypted_content\":null,\"signature\":"
    "\"c2ln\",\"tool_changes\":[]}",
    "{ \"type\" : \"block_of_2027\" ,\"n\":1.50e+3, \"t\":\"\\u00e9\\ud83d\\ude00 \\/ \xc3\xa9\" "
    "}"};

/* The call that a result names; empty: it names none. */
static const char *call_of(const char *block) {
    static char out[200];
    const char *id = strstr(block, "\"tool_use_id\":\"");
    out[0] = '\0';
    if (id == NULL) return out;
    id += strlen("\"tool_use_id\":\"");
    snprintf(out, sizeof out, "{\"type\":\"server_tool_use\",\"id\":\"%.*s\",\"input\":{}}",
             (int)(strchr(id, '"') - id), id);
    return out;
}

TEST(each_documented_block_of_messages_that_comes_whole_goes_back_byte_for_byte) {
    size_t i;
    for (i = 0; i < PHI__COUNT(whole_blocks); i++) {
        char text[4096], want[2048];
        const char *call = call_of(whole_blocks[i]);
        snprintf(want, sizeof want, "%s%s%s", call, call[0] != '\0' ? "," : "", whole_blocks[i]);
        snprintf(text, sizeof text,
                 START "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":%s}"
                       "\n\n" STOP("0") "data: {\"type\":\"content_block_start\",\"index\":1,"
                                        "\"content_block\":%s}\n\n" STOP("1") DONE("end_turn"),
                 call[0] != '\0' ? call : "{}", whole_blocks[i]);
        stream_comes_back(MESSAGES, text, want);
        whole_comes_back(MESSAGES, want);
    }
}

TEST(the_input_of_a_hosted_call_is_joined_into_its_block) {
    stream_comes_back(
        MESSAGES,
        START BLOCK("0", "{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"bash\","
                         "\"input\":{},\"caller\":{\"type\":\"direct\"}}") INPUT("0", "")
            INPUT("0", "{\\\"command\\\": \\\"l") INPUT("0", "s \\\\\\\"x\\\\\\\"\\\"}") STOP("0")
                BLOCK("1", "{\"type\":\"bash_code_execution_tool_result\",\"tool_use_id\""
                           ":\"srvtoolu_1\"}") STOP("1") DONE("end_turn"),
        "{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"bash\",\"input\":"
        "{\"command\": \"ls \\\"x\\\"\"},\"caller\":{\"type\":\"direct\"}},"
        "{\"type\":\"bash_code_execution_tool_result\",\"tool_use_id\":\"srvtoolu_1\"}");
    stream_comes_back(
        MESSAGES,
        START BLOCK("0", "{\"type\":\"mcp_tool_use\",\"id\":\"mcptoolu_1\",\"name\":\"n\","
                         "\"server_name\":\"s\",\"input\":{}}") INPUT("0", "") STOP("0")
            BLOCK("1", "{\"type\":\"mcp_tool_result\",\"tool_use_id\":\"mcptoolu_1\"}") STOP("1")
                DONE("end_turn"),
        "{\"type\":\"mcp_tool_use\",\"id\":\"mcptoolu_1\",\"name\":\"n\",\"server_name\":\"s\","
        "\"input\":{}},{\"type\":\"mcp_tool_result\",\"tool_use_id\":\"mcptoolu_1\"}");
}

TEST(a_hosted_call_without_any_input_gets_an_empty_one) {
    static const char want[] =
        "{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"n\",\"input\":{}},"
        "{\"type\":\"n_tool_result\",\"tool_use_id\":\"srvtoolu_1\"}";
    stream_comes_back(
        MESSAGES,
        START BLOCK("0", "{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"n\"}")
            INPUT("0", "") STOP("0")
                BLOCK("1", "{\"type\":\"n_tool_result\",\"tool_use_id\":\"srvtoolu_1\"}") STOP("1")
                    DONE("end_turn"),
        want);
    stream_comes_back(
        MESSAGES,
        START BLOCK("0", "{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"n\"}")
            STOP("0") BLOCK("1", "{\"type\":\"n_tool_result\",\"tool_use_id\":\"srvtoolu_1\"}")
                STOP("1") DONE("end_turn"),
        want);
}

TEST(the_one_delta_of_a_compaction_is_its_content) {
    stream_comes_back(
        MESSAGES,
        START BLOCK("0", "{\"type\":\"compaction\",\"content\":null}")
            DELTA("0", "{\"type\":\"compaction_delta\",\"content\":\"The \\\"story\\\" so far\","
                       "\"encrypted_content\":\"E=\"}") STOP("0") DONE("compaction"),
        "{\"type\":\"compaction\",\"content\":\"The \\\"story\\\" so far\",\"encrypted_content\":"
        "\"E=\"}");
    stream_comes_back(MESSAGES,
                      START BLOCK("0", "{\"type\":\"compaction\",\"content\":null}")
                          DELTA("0", "{\"type\":\"compaction_delta\",\"content\":null}") STOP("0")
                              BLOCK("1", "{\"type\":\"text\",\"text\":\"\"}") TEXT("1", "On")
                                  STOP("1") DONE("end_turn"),
                      "{\"type\":\"compaction\",\"content\":null},{\"type\":\"text\",\"text\":"
                      "\"On\"}");
}

TEST(deltas_of_known_types_fill_a_block_of_an_unknown_one_and_others_leave_it_alone) {
    stream_comes_back(
        MESSAGES,
        START BLOCK("0", "{\"type\":\"connector_text\",\"text\":\"A\"}") TEXT("0", "\\\"b\\u0041")
            DELTA("0", "{\"type\":\"citations_delta\",\"citation\":{\"type\":\"c\",\"n\":1}}")
                DELTA("0", "{\"type\":\"citations_delta\",\"citation\":{\"type\":\"c\",\"n\":2}}")
                    DELTA("0", "{\"type\":\"signature_delta\",\"signature\":\"s=\"}")
                        DELTA("0", "{\"type\":\"odd_delta\",\"odd\":1}") INPUT("0", "{}") STOP("0")
                            DONE("end_turn"),
        "{\"type\":\"connector_text\",\"text\":\"A\\\"bA\",\"citations\":[{\"type\":\"c\",\"n\":1},"
        "{\"type\":\"c\",\"n\":2}],\"signature\":\"s=\"}");
    stream_comes_back(MESSAGES,
                      START BLOCK("0", "{\"type\":\"musing\",\"thinking\":\"\"}")
                          DELTA("0", "{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}") STOP("0")
                              DONE("end_turn"),
                      "{\"type\":\"musing\",\"thinking\":\"hm\"}");
}

TEST(citations_of_a_text_go_back_with_it) {
    static const char cited[] =
        "{\"type\":\"text\",\"text\":\"It is sunny\",\"citations\":[{\"type\":"
        "\"web_search_result_location\",\"cited_text\":\"c\",\"url\":\"https://e.x\",\"title\":"
        "\"T\",\"encrypted_index\":\"I\"},{\"type\":\"page_location\",\"start_page_number\":1}]}";
    stream_comes_back(MESSAGES,
                      START BLOCK("0", "{\"type\":\"text\",\"text\":\"\",\"citations\":[]}")
                          DELTA("0", "{\"type\":\"citations_delta\",\"citation\":{\"type\":"
                                     "\"web_search_result_location\",\"cited_text\":\"c\",\"url\":"
                                     "\"https://e.x\",\"title\":\"T\",\"encrypted_index\":\"I\"}}")
                              TEXT("0", "It is sunny")
                                  DELTA("0", "{\"type\":\"citations_delta\",\"citation\":{\"type\":"
                                             "\"page_location\",\"start_page_number\":1}}")
                                      STOP("0") DONE("end_turn"),
                      cited);
    whole_comes_back(MESSAGES, cited);
    whole_comes_back(MESSAGES, "{\"type\":\"text\",\"text\":\"x\",\"citations\":[]}");
}

TEST(members_of_a_call_that_phi_does_not_know_go_back_with_it) {
    static const char text[] =
        START BLOCK("0", "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"n\",\"input\":{},"
                         "\"caller\":{\"type\":\"code_execution_20260120\",\"tool_id\":"
                         "\"srvtoolu_1\"},\"toolset_name\":null}") INPUT("0", "{\\\"a\\\":1}")
            STOP("0") DONE("tool_use");
    static const char want[] =
        "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"n\",\"input\":{\"a\":1},\"caller\":{"
        "\"type\":\"code_execution_20260120\",\"tool_id\":\"srvtoolu_1\"}}";
    stream_comes_back(MESSAGES, text, want);
    whole_comes_back(MESSAGES, want);
}

/* The paused stream of the documents: a hosted search, its call still open. */
#define SEARCH                                                                                     \
    START BLOCK("0", "{\"type\":\"text\",\"text\":\"\"}") TEXT("0", "Let me check ") STOP("0")     \
        BLOCK("1", "{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"web_search\","  \
                   "\"input\":{}}") INPUT("1", "{\\\"query\\\": \\\"weather\\\"}") STOP("1")
#define SEARCH_CALL                                                                                \
    "{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\",\"name\":\"web_search\",\"input\":"       \
    "{\"query\": \"weather\"}}"

TEST(a_paused_answer_goes_back_as_it_is) {
    stream s;
    stream_of(&s, MESSAGES, SEARCH DONE("pause_turn"));
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_PAUSED);
    back_is(&s, MESSAGES, NULL, "{\"type\":\"text\",\"text\":\"Let me check \"}," SEARCH_CALL);
    stream_free(&s);
    stream_of(&s, MESSAGES,
              START BLOCK("0", "{\"type\":\"text\",\"text\":\"\"}") TEXT("0", "Wait ") STOP("0")
                  DONE("pause_turn"));
    back_is(&s, MESSAGES, NULL, "{\"type\":\"text\",\"text\":\"Wait \"}");
    stream_free(&s);
}

TEST(a_hosted_call_without_a_result_is_left_out_once_the_user_has_spoken) {
    phi_model model = model_of(MESSAGES);
    phi_message answer;
    conversation t;
    stream s;
    stream_of(&s, MESSAGES, SEARCH DONE("pause_turn"));
    back_is(&s, MESSAGES, "Never mind", "{\"type\":\"text\",\"text\":\"Let me check\"}");
    stream_free(&s);
    stream_of(&s, MESSAGES,
              SEARCH BLOCK("2", "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"n\",\"input\":{}}")
                  STOP("2") DONE("tool_use"));
    answer = kept(&s, MESSAGES);
    (void)sent(&t, &model, &answer, NULL);
    talk_result(&t, "t1", "n", "done");
    talk_render_ok(&t);
    CHECK(strstr(t.body, SEARCH_CALL ",{\"type\":\"tool_use\"") != NULL);
    CHECK(strstr(t.body, "\"tool_use_id\":\"srvtoolu_1\"") == NULL);
    t.messages[2].is_error = true;
    talk_image(&t, "aGk="); /* goes behind the results */
    t.rendered[2] = NULL;
    talk_render_ok(&t);
    CHECK(strstr(t.body, "srvtoolu_1") == NULL);
    t.messages[2].is_error = false;
    t.messages[2].content_count = 1;
    t.rendered[2] = NULL;
    talk_render_ok(&t);
    CHECK(strstr(t.body, "srvtoolu_1") != NULL);
    talk_user(&t, "Stop");
    talk_render_ok(&t);
    CHECK(strstr(t.body, "srvtoolu_1") == NULL);
    talk_free(&t);
    stream_free(&s);
}

TEST(a_result_whose_call_is_gone_is_left_out) {
    static const char result[] =
        "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"srvtoolu_1\",\"content\":[]}";
    conversation t;
    talk_begin(&t, phi_model_anthropic("claude-opus-5-5", "K"));
    t.spec.cache.mode = PHI_CACHE_DISABLED;
    talk_user(&t, "Go");
    talk_assistant(&t)->stop_reason = PHI_STOP_REASON_PAUSED;
    talk_opaque(&t, MESSAGES, SEARCH_CALL)->name = phi_str_of("server_tool_use");
    talk_assistant(&t);
    talk_opaque(&t, MESSAGES, result)->name = phi_str_of("web_search_tool_result");
    talk_text(&t, "Sunny");
    talk_user(&t, "Thanks");
    talk_render_ok(&t);
    CHECK(strstr(t.body, SEARCH_CALL) != NULL);
    CHECK(strstr(t.body, result) != NULL);
    t.spec.items = t.items + 2;
    t.spec.item_count = 2;
    talk_render_ok(&t);
    CHECK(strstr(t.body, "srvtoolu_1") == NULL);
    CHECK(strstr(t.body, "Sunny") != NULL);
    talk_free(&t);
}

TEST(a_block_that_changes_without_end_is_kept_and_not_sent) {
    static const char start[] = START BLOCK("0", "{\"type\":\"compaction\",\"content\":null}");
    static const char delta[] = DELTA("0", "{\"type\":\"compaction_delta\",\"content\":\"again\"}");
    stream s;
    int i;
    stream_begin(&s, MESSAGES);
    stream_text(&s, start);
    for (i = 0; i < 300; i++) stream_text(&s, delta);
    stream_text(&s, STOP("0") DONE("end_turn"));
    stream_end(&s);
    CHECK_STR(s.content[0].replay, "{\"type\":\"compaction\",\"content\":\"again\"}");
    CHECK(s.content[0].incomplete);
    back_is(&s, MESSAGES, "Thanks", "");
    stream_free(&s);
}

TEST(a_block_of_megabytes_comes_back) {
    enum { MOST = 3 << 20 };
    char *text = (char *)malloc(MOST + 1000);
    phi_model model = model_of(MESSAGES);
    phi_message answer;
    conversation t;
    size_t n;
    stream s;
    CHECK(text != NULL);
    if (text == NULL) return;
    n = (size_t)sprintf(text, "{\"type\":\"message\",\"content\":[{\"type\":\"big\",\"n\":[0");
    while (n < MOST) {
        memcpy(text + n, ",1", 2);
        n += 2;
    }
    (void)sprintf(text + n, "]}],\"stop_reason\":\"end_turn\"}");
    stream_begin(&s, MESSAGES);
    stream_whole(&s, text);
    CHECK_EQ_INT(s.message.content_count, 1);
    CHECK(!s.content[0].incomplete);
    CHECK(s.content[0].replay.len > MOST - 100);
    answer = kept(&s, MESSAGES);
    (void)sent(&t, &model, &answer, "Thanks");
    CHECK(strstr(t.body, "{\"type\":\"big\",\"n\":[0,1") != NULL);
    talk_free(&t);
    stream_free(&s);
    free(text);
}

TEST(space_in_front_of_an_opaque_block_stays) {
    stream s;
    stream_of(&s, MESSAGES,
              START BLOCK("0", "{\"type\":\"text\",\"text\":\"\"}") TEXT("0", "Here: ") STOP("0")
                  BLOCK("1", "{\"type\":\"container_upload\",\"file_id\":\"f\"}") STOP("1")
                      DONE("end_turn"));
    back_is(&s, MESSAGES, "Thanks",
            "{\"type\":\"text\",\"text\":\"Here: \"},{\"type\":\"container_upload\",\"file_id\":"
            "\"f\"}");
    stream_free(&s);
}

TEST(a_hosted_call_that_was_cut_is_kept_and_not_sent) {
    stream s;
    stream_of(&s, MESSAGES,
              SEARCH BLOCK("2", "{\"type\":\"server_tool_use\",\"id\":\"s2\"}")
                  INPUT("2", "{\\\"que") STOP("2") DONE("max_tokens"));
    CHECK_EQ_INT(s.message.content_count, 3);
    CHECK(s.content[2].incomplete);
    CHECK_STR(s.content[2].replay, "{\"type\":\"server_tool_use\",\"id\":\"s2\"}");
    back_is(&s, MESSAGES, NULL, "{\"type\":\"text\",\"text\":\"Let me check \"}," SEARCH_CALL);
    stream_free(&s);
    stream_of(&s, MESSAGES,
              START BLOCK("0", "{\"type\":\"x\",\"y\":{]}") STOP("0") DONE("end_turn"));
    stream_free(&s);
    stream_of(&s, MESSAGES,
              START BLOCK("0", "{\"type\":\"x\",\"y\":flase}") STOP("0") DONE("end_turn"));
    CHECK(s.message.content_count == 0 || s.content[0].incomplete);
    stream_free(&s);
    stream_of(&s, MESSAGES, START BLOCK("0", "{\"no\":\"type\"}") STOP("0") DONE("end_turn"));
    CHECK_EQ_INT(s.message.content_count, 0);
    stream_free(&s);
}

/* ---- Converse ---- */

static const char *const converse_blocks[] = {
    "{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"nova_grounding\",\"input\":{\"q\": 1.0},"
    "\"type\":\"server_tool_use\"}},{\"toolResult\":{\"toolUseId\":\"t1\",\"content\":[]}}",
    "{\"toolResult\":{\"toolUseId\":\"t1\",\"content\":[{\"json\":{\"a\":[1,2]}},{\"text\":\"x\"}],"
    "\"status\":\"success\",\"type\":\"nova_grounding_result\"}}",
    "{\"image\":{\"format\":\"png\",\"source\":{\"bytes\":\"aGk=\"}}}",
    "{\"guardContent\":{\"text\":{\"text\":\"x\",\"qualifiers\":[\"query\"]}}}",
    "{\"searchResult\":{\"source\":\"s\",\"title\":\"t\",\"content\":[{\"text\":\"x\"}]}}",
    "{\"video\":{\"format\":\"mp4\",\"source\":{\"s3Location\":{\"uri\":\"s3://b/k\"}}}}",
    "{\"citationsContent\":{\"content\":[{\"text\":\"It is\"}],\"citations\":[{\"title\":\"T\","
    "\"location\":{\"web\":{\"url\":\"https://e.x\",\"domain\":\"e.x\"}}}]}}",
    "{ \"blockOf2027\" : {\"n\":1.50e+3} }"};

TEST(each_documented_block_of_converse_goes_back_byte_for_byte) {
    size_t i;
    for (i = 0; i < PHI__COUNT(converse_blocks); i++)
        whole_comes_back(CONVERSE, converse_blocks[i]);
}

TEST(a_hosted_call_of_converse_and_its_result_are_put_together) {
    stream_comes_back(
        CONVERSE,
        B_OPEN B_START("0",
                       "{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"nova_grounding\",\"type\""
                       ":\"server_tool_use\"}}") B_DELTA("0", "{\"toolUse\":{\"input\":"
                                                              "\"{\\\"q\\\":\"}}")
            B_DELTA("0", "{\"toolUse\":{\"input\":\" 1}\"}}") B_STOP("0")
                B_START("1", "{\"toolResult\":{\"toolUseId\":\"t1\",\"type\":\"nova_grounding_"
                             "result\",\"status\":\"success\"}}")
                    B_DELTA("1", "{\"toolResult\":[{\"text\":\"a\"}]}")
                        B_DELTA("1", "{\"toolResult\":[{\"json\":{\"b\":2}},{\"text\":\"c\"}]}")
                            B_STOP("1") B_DELTA("2", "{\"text\":\"Sunny\"}")
                                B_DELTA("2", "{\"citation\":{\"title\":\"T\",\"location\":{\"web\":"
                                             "{\"url\":\"https://e.x\"}}}}") B_STOP("2")
                                    B_DONE("end_turn"),
        "{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"nova_grounding\",\"type\":"
        "\"server_tool_use\",\"input\":{\"q\": 1}}},{\"toolResult\":{\"toolUseId\":\"t1\",\"type\":"
        "\"nova_grounding_result\",\"status\":\"success\",\"content\":[{\"text\":\"a\"},{\"json\":"
        "{\"b\":2}},{\"text\":\"c\"}]}},{\"citationsContent\":{\"content\":[{\"text\":\"Sunny\"}],"
        "\"citations\":[{\"title\":\"T\",\"location\":{\"web\":{\"url\":\"https://e.x\"}}}]}}");
}

TEST(an_image_of_converse_and_blocks_of_unknown_kinds_are_put_together_as_far_as_they_can_be) {
    stream_comes_back(
        CONVERSE,
        B_OPEN B_START("0", "{\"image\":{\"format\":\"png\"}}")
            B_DELTA("0", "{\"image\":{\"source\":{\"bytes\":\"aGk=\"}}}") B_STOP("0") B_START(
                "1", "{\"hologram\":{\"depth\":3}}") B_DELTA("1", "{\"hologram\":{\"x\":1}}")
                B_STOP("1") B_DELTA("2", "{\"smell\":{\"of\":\"rain\"}}") B_STOP("2")
                    B_DELTA("3", "{\"taste\":1}") B_DELTA("3", "{\"taste\":2}") B_STOP("3")
                        B_START("4", "{\"toolResult\":{\"toolUseId\":\"t\"}}") B_DONE("end_turn"),
        "{\"image\":{\"format\":\"png\",\"source\":{\"bytes\":\"aGk=\"}}},{\"hologram\":{\"depth\":"
        "3}},{\"smell\":{\"of\":\"rain\"}},{\"toolResult\":{\"toolUseId\":\"t\",\"content\":[]}}");
}

TEST(members_of_a_call_of_converse_go_back_with_it) {
    stream_comes_back(CONVERSE,
                      B_OPEN B_START("0", "{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"n\","
                                          "\"type\":\"odd\"}}")
                          B_DELTA("0", "{\"toolUse\":{\"input\":\"{}\"}}") B_STOP("0")
                              B_DONE("tool_use"),
                      "{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"n\",\"input\":{},\"type\":"
                      "\"odd\"}}");
}

TEST(hosted_calls_of_converse_count_as_calls_and_are_left_out_when_nothing_can_answer_them) {
    phi_model model = model_of(CONVERSE);
    phi_message answer;
    conversation t;
    stream s;
    stream_of(&s, CONVERSE,
              B_OPEN B_DELTA("0", "{\"text\":\"So\"}") B_STOP("0")
                  B_START("1", "{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"g\",\"type\":"
                               "\"server_tool_use\"}}") B_STOP("1") B_DONE("end_turn"));
    answer = kept(&s, CONVERSE);
    CHECK_EQ_STR(sent(&t, &model, &answer, "And?"), "{\"text\":\"So\"}");
    talk_free(&t);
    CHECK_EQ_STR(sent(&t, &model, &answer, NULL),
                 "{\"text\":\"So\"},{\"toolUse\":{\"toolUseId\":\"t1\",\"name\":\"g\",\"type\":"
                 "\"server_tool_use\",\"input\":{}}}");
    CHECK_EQ_STR(talk_at(&t, "toolConfig.tools[0].toolSpec.name"), "\"no_tool\"");
    talk_free(&t);
    stream_free(&s);
}

/* ---- other targets ---- */

TEST(another_model_of_the_protocol_gets_the_blocks_and_another_protocol_does_not) {
    phi_model other = phi_model_anthropic("claude-haiku-4-5", "K");
    phi_model foreign = model_of(CONVERSE);
    phi_message answer;
    conversation t;
    stream s;
    stream_of(&s, MESSAGES,
              START BLOCK("0", "{\"type\":\"container_upload\",\"file_id\":\"f\"}") STOP("0")
                  BLOCK("1", "{\"type\":\"text\",\"text\":\"Hi\",\"citations\":[{\"n\":1}]}")
                      STOP("1") DONE("end_turn"));
    answer = kept(&s, MESSAGES);
    CHECK_EQ_STR(sent(&t, &other, &answer, "And?"),
                 "{\"type\":\"container_upload\",\"file_id\":\"f\"},{\"type\":\"text\",\"text\":"
                 "\"Hi\",\"citations\":[{\"n\":1}]}");
    talk_free(&t);
    CHECK_EQ_STR(sent(&t, &foreign, &answer, "And?"), "{\"text\":\"Hi\"}");
    talk_free(&t);
    answer.content_count = 1;
    CHECK_EQ_STR(sent(&t, &foreign, &answer, "And?"), "");
    CHECK_EQ_STR(talk_at(&t, "messages"),
                 "[{\"role\":\"user\",\"content\":[{\"text\":\"Go\"},{\"text\":\"And?\"}]}]");
    talk_free(&t);
    stream_free(&s);
}

TEST(a_host_may_give_blocks_in_messages_and_results_and_they_take_no_cache_mark) {
    char words[200];
    conversation t;
    talk_begin(&t, phi_model_anthropic("claude-sonnet-4-6", "K"));
    talk_user(&t, "See");
    talk_assistant(&t);
    talk_call(&t, "a", "n", "{}");
    talk_result(&t, "a", "n", "text");
    talk_opaque(&t, "anthropic", "{\"type\":\"tool_reference\",\"tool_name\":\"x\"}");
    talk_opaque(&t, CONVERSE, "{\"video\":{}}");
    talk_message(&t, PHI_ROLE_USER);
    talk_opaque(&t, MESSAGES, "{\"type\":\"container_upload\",\"file_id\":\"f\"}");
    talk_render_ok(&t);
    CHECK(strstr(t.body, "\"content\":[{\"type\":\"text\",\"text\":\"text\"},{\"type\":"
                         "\"tool_reference\",\"tool_name\":\"x\"}],\"cache_control\":{\"type\":"
                         "\"ephemeral\"}}") != NULL ||
          strstr(t.body, "\"tool_name\":\"x\"}]") != NULL);
    CHECK(strstr(t.body, "{\"type\":\"container_upload\",\"file_id\":\"f\"}]}") != NULL);
    CHECK(strstr(t.body, "video") == NULL);
    CHECK_EQ_INT(phi__preflight(codec_of(MESSAGES), &t.spec, words, sizeof words), PHI_OK);
    t.blocks[3][0].replay = phi_str_of("{\"type\":");
    CHECK_EQ_INT(phi__preflight(codec_of(MESSAGES), &t.spec, words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "messages[3]: the JSON of an opaque block is no object");
    talk_free(&t);
}

/* The answer of a file, which nobody has checked. */
static void broken_is_left_out(const char *protocol, const char *block, const char *citations,
                               const char *rest, const char *want) {
    phi_model model = model_of(protocol);
    phi_content content[3];
    phi_message answer = PHI_ZERO;
    conversation t;
    memset(content, 0, sizeof content);
    answer.role = PHI_ROLE_ASSISTANT;
    answer.protocol = phi_str_of(protocol);
    answer.model = phi_str_of(model.id);
    answer.provider = phi_str_of(model.provider);
    answer.content = content;
    answer.content_count = 3;
    content[0].kind = PHI_CONTENT_TEXT;
    content[0].text = phi_str_of("Hi");
    content[0].citations = phi_str_of(citations);
    content[1].kind = PHI_CONTENT_OPAQUE;
    content[1].protocol = phi_str_of(protocol);
    content[1].replay = phi_str_of(block);
    content[2].kind = PHI_CONTENT_TOOL_CALL;
    content[2].id = phi_str_of("c1");
    content[2].name = phi_str_of("n");
    content[2].arguments = phi_str_of("{}");
    content[2].replay = phi_str_of(rest);
    CHECK_EQ_STR(sent(&t, &model, &answer, "Thanks"), want);
    talk_free(&t);
}

TEST(broken_json_of_a_file_breaks_no_request) {
    static const char *const blocks[] = {"{\"type\":\"x\",\"a\":tru}", "{\"type\":01}", "{", "[1]",
                                         "{\"a\":[1,]}"};
    static const char *const citations[] = {"[{", "[{}", "[{\"a\":01}]", "[1,]", "[]]"};
    static const char *const rests[] = {"{\"caller\":}", "{\"a\":1", "{ }", "{\"a\" 1}", "{}}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(blocks); i++) {
        broken_is_left_out(
            MESSAGES, blocks[i], citations[i], rests[i],
            "{\"type\":\"text\",\"text\":\"Hi\"},{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":"
            "\"n\",\"input\":{}}");
        broken_is_left_out(CONVERSE, blocks[i], citations[i], rests[i],
                           "{\"text\":\"Hi\"},{\"toolUse\":{\"toolUseId\":\"c1\",\"name\":\"n\","
                           "\"input\":{}}}");
    }
}

/* ---- by chance ---- */

typedef struct made {
    char at[1 << 14];
    size_t len;
    uint32_t seed;
} made;

static uint32_t roll(made *m, uint32_t most) { return test_random(&m->seed) % most; }

static void put(made *m, const char *text) {
    size_t n = strlen(text);
    if (m->len + n >= sizeof m->at) return;
    memcpy(m->at + m->len, text, n + 1);
    m->len += n;
}

static void put_space(made *m) {
    if (roll(m, 6) == 0) put(m, roll(m, 2) == 0 ? " " : "\t ");
}

static void put_string(made *m) {
    static const char *const parts[] = {
        "a", "\\n", "\\\"", "\\\\", "\\u0041", "\\ud83d\\ude00", "\xc3\xa9", "\xf0\x9f\x98\x80",
        "{", "]",   ":",    "\\/",  " "};
    uint32_t n = roll(m, 8);
    put(m, "\"");
    while (n-- > 0) put(m, parts[roll(m, PHI__COUNT(parts))]);
    put(m, "\"");
}

static void put_value(made *m, int depth) {
    static const char *const plain[] = {
        "null", "true", "false", "0", "-0.0", "1.50e3", "1E-7", "9007199254740993", "[]", "{}"};
    uint32_t kind = depth <= 0 ? roll(m, 2) : roll(m, 4), n;
    put_space(m);
    if (kind == 0)
        put(m, plain[roll(m, PHI__COUNT(plain))]);
    else if (kind == 1)
        put_string(m);
    else {
        put(m, kind == 2 ? "[" : "{");
        for (n = 1 + roll(m, 3); n > 0; n--) {
            if (kind == 3) {
                put_string(m);
                put_space(m);
                put(m, ":");
            }
            put_value(m, depth - 1);
            put(m, n > 1 ? "," : "");
        }
        put_space(m);
        put(m, kind == 2 ? "]" : "}");
    }
}

/* A block of a type that nobody knows. */
static void put_block(made *m, bool converse) {
    static const char *const names[] = {"a_result", "odd", "block-7", "x.y", "server_tool_result"};
    uint32_t n = roll(m, 4);
    if (converse) {
        put(m, "{\"");
        put(m, names[roll(m, PHI__COUNT(names))]);
        put(m, "\":");
        put_value(m, 3);
        put(m, "}");
        return;
    }
    put(m, "{");
    put_space(m);
    put(m, "\"type\":\"");
    put(m, names[roll(m, PHI__COUNT(names))]);
    put(m, "\"");
    for (; n > 0; n--) {
        put(m, ",\"m");
        put(m, n == 1 ? "1" : n == 2 ? "2" : "3");
        put(m, "\":");
        put_value(m, 3);
    }
    put(m, "}");
}

/* Blocks as a stream and what must come back. */
static void random_answer(made *blocks, made *text, bool converse, uint32_t count) {
    char line[120];
    uint32_t i;
    put(text, converse ? B_OPEN : START);
    for (i = 0; i < count; i++) {
        size_t from;
        if (i > 0) put(blocks, ",");
        from = blocks->len;
        put_block(blocks, converse);
        snprintf(line, sizeof line,
                 converse ? "{\"contentBlockStart\":{\"contentBlockIndex\":%u,\"start\":"
                          : "data: {\"type\":\"content_block_start\",\"index\":%u,"
                            "\"content_block\":",
                 (unsigned)i);
        put(text, line);
        put(text, blocks->at + from);
        snprintf(line, sizeof line,
                 converse ? "}}\n{\"contentBlockStop\":{\"contentBlockIndex\":%u}}\n"
                          : "}\n\ndata: {\"type\":\"content_block_stop\",\"index\":%u}\n\n",
                 (unsigned)i);
        put(text, line);
    }
    put(text, converse ? B_DONE("end_turn") : DONE("end_turn"));
}

static void random_blocks_come_back(bool converse) {
    static made blocks, text;
    const char *more = getenv("PHI_BLOCKS"), *protocol = converse ? CONVERSE : MESSAGES;
    uint32_t all = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : 10000, left = all;
    uint32_t n, seed = 1;
    size_t at;
    stream s;
    while (left > 0 && test_failures() == 0) {
        memset(&blocks, 0, sizeof blocks);
        memset(&text, 0, sizeof text);
        blocks.seed = seed++;
        n = 1 + roll(&blocks, 6);
        n = n < left ? n : left;
        random_answer(&blocks, &text, converse, n);
        at = 1 + roll(&blocks, (uint32_t)text.len - 1);
        stream_begin(&s, protocol);
        stream_feed(&s, text.at, at);
        stream_feed(&s, text.at + at, text.len - at);
        stream_end(&s);
        back_is(&s, protocol, "Thanks", blocks.at);
        stream_free(&s);
        left -= n;
    }
    if (test_failures() > 0) fprintf(stderr, "seed %u\n", (unsigned)(seed - 1));
    if (more != NULL) printf("  %-24s %8lu blocks\n", protocol, (unsigned long)(all - left));
}

TEST(random_unknown_blocks_of_messages_come_back_equal) { random_blocks_come_back(false); }

TEST(random_unknown_blocks_of_converse_come_back_equal) { random_blocks_come_back(true); }

/* ---- without memory ---- */

static void survives(const char *protocol, const char *text) {
    bool tripped;
    int n = 0;
    do {
        stream s;
        test_alloc_fail_at(n);
        stream_of(&s, protocol, text);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
        if (tripped)
            CHECK(s.assembly.no_memory || s.reader.sse.status != PHI_OK ||
                  s.assembly.failure.kind != PHI_FAILURE_NONE);
        stream_free(&s);
        n++;
    } while (tripped && n < 2000);
    CHECK(n > 8);
    test_alloc_fail_at(-1);
    CHECK_EQ_INT((long)test_alloc_live_bytes(), 0);
}

TEST(keeping_blocks_survives_every_failed_allocation) {
    survives(MESSAGES,
             SEARCH BLOCK("2", "{\"type\":\"compaction\",\"content\":null}")
                 DELTA("2", "{\"type\":\"compaction_delta\",\"content\":\"x\"}") STOP("2")
                     BLOCK("3", "{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{},"
                                "\"caller\":{\"type\":\"direct\"}}") STOP("3")
                         DELTA("0", "{\"type\":\"citations_delta\",\"citation\":{\"n\":1}}")
                             DONE("end_turn"));
    survives(CONVERSE,
             B_OPEN B_START("0", "{\"toolResult\":{\"toolUseId\":\"t\"}}")
                 B_DELTA("0", "{\"toolResult\":[{\"text\":\"a\"}]}") B_STOP("0")
                     B_START("1", "{\"image\":{}}") B_DELTA("1", "{\"image\":{\"source\":1}}")
                         B_STOP("1") B_DELTA("2", "{\"citation\":{\"n\":1}}") B_DONE("end_turn"));
}

TEST_MAIN(
    TEST_ENTRY(each_documented_block_of_messages_that_comes_whole_goes_back_byte_for_byte),
    TEST_ENTRY(the_input_of_a_hosted_call_is_joined_into_its_block),
    TEST_ENTRY(a_hosted_call_without_any_input_gets_an_empty_one),
    TEST_ENTRY(the_one_delta_of_a_compaction_is_its_content),
    TEST_ENTRY(deltas_of_known_types_fill_a_block_of_an_unknown_one_and_others_leave_it_alone),
    TEST_ENTRY(citations_of_a_text_go_back_with_it),
    TEST_ENTRY(members_of_a_call_that_phi_does_not_know_go_back_with_it),
    TEST_ENTRY(a_paused_answer_goes_back_as_it_is),
    TEST_ENTRY(a_hosted_call_without_a_result_is_left_out_once_the_user_has_spoken),
    TEST_ENTRY(a_result_whose_call_is_gone_is_left_out),
    TEST_ENTRY(a_block_that_changes_without_end_is_kept_and_not_sent),
    TEST_ENTRY(a_block_of_megabytes_comes_back),
    TEST_ENTRY(space_in_front_of_an_opaque_block_stays),
    TEST_ENTRY(a_hosted_call_that_was_cut_is_kept_and_not_sent),
    TEST_ENTRY(each_documented_block_of_converse_goes_back_byte_for_byte),
    TEST_ENTRY(a_hosted_call_of_converse_and_its_result_are_put_together),
    TEST_ENTRY(
        an_image_of_converse_and_blocks_of_unknown_kinds_are_put_together_as_far_as_they_can_be),
    TEST_ENTRY(members_of_a_call_of_converse_go_back_with_it),
    TEST_ENTRY(
        hosted_calls_of_converse_count_as_calls_and_are_left_out_when_nothing_can_answer_them),
    TEST_ENTRY(another_model_of_the_protocol_gets_the_blocks_and_another_protocol_does_not),
    TEST_ENTRY(a_host_may_give_blocks_in_messages_and_results_and_they_take_no_cache_mark),
    TEST_ENTRY(broken_json_of_a_file_breaks_no_request),
    TEST_ENTRY(random_unknown_blocks_of_messages_come_back_equal),
    TEST_ENTRY(random_unknown_blocks_of_converse_come_back_equal),
    TEST_ENTRY(keeping_blocks_survives_every_failed_allocation))
