/* test_quirks_streams.c - what servers do to streams that others do not, a test each; docs/providers.md has a
   row for each. */
#include "wire/wire_support.h"

#define CLAUDE PHI_PROTOCOL_ANTHROPIC
#define CHAT PHI_PROTOCOL_OPENAI_CHAT
#define RESPONSES PHI_PROTOCOL_OPENAI_RESPONSES
#define GEMINI PHI_PROTOCOL_GOOGLE
#define BEDROCK PHI_PROTOCOL_BEDROCK

#define CLAUDE_START                                                                               \
    "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{"                   \
    "\"input_tokens\":5,\"cache_creation_input_tokens\":7,\"cache_read_input_tokens\":11}}}\n\n"
#define CLAUDE_TEXT                                                                                \
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","    \
    "\"text\":\"\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"           \
    "\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n"
#define CLAUDE_STOP "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
#define CLAUDE_END(reason)                                                                         \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason "\"},\"usage\":{"     \
    "\"output_tokens\":9,\"output_tokens_details\":{\"thinking_tokens\":4}}}\n\n"                  \
    "data: {\"type\":\"message_stop\"}\n\n"
#define CHUNK(delta) "data: {\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n\n"
#define FINISH(why)                                                                                \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" why "\"}]}\n\n"
#define ITEM "data: {\"type\":\"response.output_item."
#define MESSAGE                                                                                    \
    ITEM "done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"msg_1\",\"role\":"     \
         "\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"Hi\"}]}}\n\n"
#define COMPLETED                                                                                  \
    "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"
#define PARTS(parts)                                                                               \
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[" parts "]}}]}\r\n\r\n"
#define GEMINI_END "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\r\n\r\n"

static void check_text(const char *protocol, const char *body) {
    stream s;
    stream_of(&s, protocol, body);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    CHECK_EQ_INT(s.message.content_count, 1);
    CHECK_STR(s.content[0].text, "Hi");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    stream_free(&s);
}

TEST(signs_of_life_are_no_part_of_an_answer) {
    check_text(CLAUDE, CLAUDE_START
               "event: ping\ndata: {\"type\": \"ping\"}\n\n" CLAUDE_TEXT CLAUDE_STOP CLAUDE_END(
                   "end_turn"));
    check_text(CHAT, ": OPENROUTER PROCESSING\n\n\n\n: keep-alive\n\n" CHUNK(
                         "{\"content\":\"Hi\"}") ": keep-alive\n\n" FINISH("stop"));
    check_text(RESPONSES, "data: {\"type\":\"keepalive\",\"sequence_number\":1}\n\n" MESSAGE
                          "data: {\"type\":\"response.rate_limits.updated\"}\n\n" COMPLETED);
}

TEST(events_behind_the_end_of_responses_change_nothing) {
    check_text(RESPONSES,
               MESSAGE COMPLETED MESSAGE "data: {\"type\":\"error\",\"message\":\"late\"}\n\n");
}

static void check_cut(const char *protocol, const char *body) {
    stream s;
    stream_of(&s, protocol, body);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NETWORK);
    CHECK(s.assembly.failure.retryable);
    stream_free(&s);
}

TEST(an_answer_without_its_end_marker_is_cut_and_may_be_asked_for_again) {
    check_cut(CLAUDE, CLAUDE_START CLAUDE_TEXT CLAUDE_STOP);
    check_cut(CHAT, CHUNK("{\"content\":\"Hi\"}") "data: [DONE]\n\n");
    check_cut(RESPONSES, MESSAGE);
    check_cut(GEMINI, PARTS("{\"text\":\"Hi\"}"));
    check_cut(BEDROCK, "{\"messageStart\":{\"role\":\"assistant\"}}\n"
                       "{\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"text\":"
                       "\"Hi\"}}}\n");
}

TEST(a_chat_stream_needs_no_done_marker) {
    check_text(CHAT, CHUNK("{\"content\":\"Hi\"}") FINISH("stop"));
}

static void check_empty_call(const char *protocol, const char *body) {
    stream s;
    stream_of(&s, protocol, body);
    CHECK_EQ_INT(s.message.content_count, 1);
    CHECK_EQ_INT(s.content[0].kind, PHI_CONTENT_TOOL_CALL);
    CHECK_STR(s.content[0].arguments, "{}");
    CHECK(!s.content[0].incomplete);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    stream_free(&s);
}

TEST(a_call_without_arguments_has_an_empty_object) {
    check_empty_call(
        CLAUDE, CLAUDE_START
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
        "\"tool_use\",\"id\":\"t\",\"name\":\"f\",\"input\":{}}}\n\ndata: {\"type\":"
        "\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\","
        "\"partial_json\":\"\"}}\n\n" CLAUDE_STOP CLAUDE_END("tool_use"));
    check_empty_call(CHAT,
                     CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"t\",\"function\":{\"name\":"
                           "\"f\",\"arguments\":\"\"}}]}") FINISH("tool_calls"));
    check_empty_call(RESPONSES,
                     ITEM "done\",\"output_index\":0,\"item\":{\"type\":\"function_call\","
                          "\"id\":\"fc_1\",\"call_id\":\"t\",\"name\":\"f\",\"arguments\":\"\"}}"
                          "\n\n" COMPLETED);
    check_empty_call(GEMINI, PARTS("{\"functionCall\":{\"name\":\"f\"}}") GEMINI_END);
    check_empty_call(BEDROCK,
                     "{\"contentBlockStart\":{\"contentBlockIndex\":0,\"start\":{\"toolUse\":{"
                     "\"toolUseId\":\"t\",\"name\":\"f\"}}}}\n"
                     "{\"contentBlockStop\":{\"contentBlockIndex\":0}}\n"
                     "{\"messageStop\":{\"stopReason\":\"tool_use\"}}\n");
}

static void check_usage(const char *protocol, const char *body, uint64_t input, uint64_t read,
                        uint64_t write, uint64_t output, uint64_t reasoning) {
    stream s;
    stream_of(&s, protocol, body);
    CHECK_EQ_INT(s.message.usage.input, input);
    CHECK_EQ_INT(s.message.usage.cache_read, read);
    CHECK_EQ_INT(s.message.usage.cache_write, write);
    CHECK_EQ_INT(s.message.usage.output, output);
    CHECK_EQ_INT(s.message.usage.reasoning, reasoning);
    stream_free(&s);
}

TEST(input_tokens_never_hold_the_cached_ones) {
    check_usage(CLAUDE, CLAUDE_START CLAUDE_TEXT CLAUDE_STOP CLAUDE_END("end_turn"), 5, 11, 7, 9,
                4);
    check_usage(
        CHAT,
        CHUNK("{\"content\":\"Hi\"}") FINISH(
            "stop") "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":23,\"completion_tokens\":9,"
                    "\"prompt_tokens_details\":{\"cached_tokens\":11,\"cache_write_tokens\":7},"
                    "\"completion_tokens_details\":{\"reasoning_tokens\":4}}}\n\n",
        5, 11, 7, 9, 4);
    check_usage(
        GEMINI,
        PARTS(
            "{\"text\":\"Hi\"}") "data: "
                                 "{\"candidates\":[{\"finishReason\":\"STOP\"}],\"usageMetadata\":{"
                                 "\"promptTokenCount\":13,\"toolUsePromptTokenCount\":3,"
                                 "\"cachedContentTokenCount\":11,\"candidatesTokenCount\":5,"
                                 "\"thoughtsTokenCount\":4}}\r\n\r\n",
        5, 11, 0, 9, 4);
    check_usage(BEDROCK,
                "{\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hi\"}}}\n"
                "{\"messageStop\":{\"stopReason\":\"end_turn\"}}\n"
                "{\"metadata\":{\"usage\":{\"inputTokens\":5,\"outputTokens\":9,"
                "\"cacheReadInputTokens\":11,\"cacheWriteInputTokens\":7}}}\n",
                5, 11, 7, 9, 0);
}

TEST(bedrock_says_its_usage_behind_the_end_pads_and_opens_text_without_a_start) {
    check_text(BEDROCK,
               "{\"messageStart\":{\"role\":\"assistant\",\"p\":\"abcd\"}}\n"
               "{\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"text\":\"Hi\"},"
               "\"p\":\"abcdefgh\"}}\n{\"contentBlockStop\":{\"contentBlockIndex\":0,\"p\":\"a\"}}"
               "\n{\"messageStop\":{\"stopReason\":\"end_turn\",\"p\":\"ab\"}}\n"
               "{\"metadata\":{\"usage\":{\"inputTokens\":5},\"p\":\"abc\"}}\n");
}

TEST(cerebras_leaves_null_where_choices_and_indices_should_be) {
    stream s;
    stream_of(&s, CHAT,
              "data: {\"choices\":null}\n\n" CHUNK(
                  "{\"tool_calls\":[{\"index\":null,\"id\":\"t\",\"function\":{\"name\":\"f\","
                  "\"arguments\":\"{\\\"a\\\":\"}}]}")
                  CHUNK("{\"tool_calls\":[{\"index\":null,\"function\":{\"arguments\":\"1}\"}}]}")
                      CHUNK("{\"tool_calls\":null,\"content\":null}") FINISH("tool_calls"));
    CHECK_EQ_INT(s.message.content_count, 1);
    CHECK_STR(s.content[0].arguments, "{\"a\":1}");
    stream_free(&s);
}

static void check_fault(const char *body, phi_failure_kind kind, const char *words) {
    stream s;
    stream_of(&s, CHAT, body);
    CHECK_EQ_INT(s.assembly.failure.kind, kind);
    CHECK_STR(s.assembly.failure.message, words);
    stream_free(&s);
}

#define HI CHUNK("{\"content\":\"Hi\"}")
#define DONE "data: [DONE]\n\n"

TEST(cerebras_puts_the_status_beside_the_error) {
    check_fault(HI "data: {\"error\":{\"message\":\"busy\"},\"status_code\":429}\n\n",
                PHI_FAILURE_RATE_LIMITED, "busy");
}

TEST(openrouter_keeps_choices_beside_an_error_whose_code_is_a_number) {
    check_fault(HI
                "data: {\"error\":{\"code\":502,\"message\":\"upstream\"},\"choices\":[{"
                "\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n" DONE,
                PHI_FAILURE_SERVER, "upstream");
}

TEST(lm_studio_names_its_error_event) {
    check_fault(HI "event: error\ndata: {\"error\":{\"message\":\"no model\"},\"message\":"
                   "\"no model\"}\n\n",
                PHI_FAILURE_SERVER, "no model");
}

TEST(old_llama_cpp_says_error_in_a_line_of_its_own) {
    check_fault(HI "error: {\"code\":500,\"message\":\"slot died\",\"type\":\"server_error\"}\n\n",
                PHI_FAILURE_SERVER, "slot died");
}

TEST(groq_hides_its_error_in_x_groq) {
    check_fault(HI "data: {\"choices\":[],\"x_groq\":{\"error\":{\"message\":\"bad\",\"code\":"
                   "\"500\"}}}\n\n",
                PHI_FAILURE_SERVER, "bad");
}

TEST(vllm_says_done_behind_an_error) {
    check_fault(HI "data: {\"error\":{\"message\":\"oom\",\"type\":\"InternalServerError\","
                   "\"code\":500}}\n\n" DONE,
                PHI_FAILURE_SERVER, "oom");
}

TEST(reasoning_is_read_from_whichever_field_a_server_uses) {
    static const char *const fields[] = {"reasoning_content", "reasoning", "reasoning_text"};
    size_t i;
    for (i = 0; i < 3; i++) {
        char body[400];
        stream s;
        snprintf(body, sizeof body,
                 "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\",\"%s\":\"hm\"}}]}\n\n%s",
                 fields[i], FINISH("stop"));
        stream_of(&s, CHAT, body);
        CHECK_EQ_INT(s.message.content_count, 2);
        CHECK_EQ_INT(s.content[0].kind, PHI_CONTENT_THINKING);
        CHECK_STR(s.content[0].text, "hm");
        CHECK_STR(s.content[0].signature, fields[i]);
        CHECK_STR(s.content[1].text, "Hi");
        stream_free(&s);
    }
}

TEST(ollama_sends_a_call_whole_and_says_stop_or_tool_calls) {
    static const char *const why[] = {FINISH("stop"), FINISH("tool_calls")};
    size_t i;
    for (i = 0; i < 2; i++) {
        stream s;
        stream_begin(&s, CHAT);
        stream_text(&s, CHUNK("{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":"
                              "\"call_1\",\"index\":0,\"type\":\"function\",\"function\":{"
                              "\"name\":\"f\",\"arguments\":\"{\\\"a\\\":1}\"}}]}"));
        stream_text(&s, why[i]);
        stream_end(&s);
        CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
        CHECK_EQ_INT(s.message.content_count, 1);
        CHECK_STR(s.content[0].arguments, "{\"a\":1}");
        stream_free(&s);
    }
}

TEST(a_refusal_in_responses_is_text) {
    stream s;
    stream_of(&s, RESPONSES,
              ITEM
              "added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"msg_1\","
              "\"content\":[]}}\n\ndata: {\"type\":\"response.refusal.delta\","
              "\"output_index\":0,\"delta\":\"I will not\"}\n\n" ITEM
              "done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"msg_1\","
              "\"content\":[{\"type\":\"refusal\",\"refusal\":\"I will not\"}]}}\n\n" COMPLETED);
    CHECK_STR(s.content[0].text, "I will not");
    stream_free(&s);
}

/* `body` with each of these in the place of %s, as a stream or as a whole answer. */
static void check_no_error(const char *protocol, bool whole, const char *body) {
    static const char *const none[] = {"null", "false", "\"\"", "{}", "[]"};
    size_t i;
    for (i = 0; i < sizeof none / sizeof none[0]; i++) {
        char text[400];
        stream s;
        (void)snprintf(text, sizeof text, body, none[i]);
        stream_begin(&s, protocol);
        if (whole)
            stream_whole(&s, text);
        else {
            stream_text(&s, text);
            stream_end(&s);
        }
        if (!CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE)) puts(text);
        CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
        stream_free(&s);
    }
}

TEST(an_error_that_is_false_or_empty_is_none) {
    check_no_error(PHI_PROTOCOL_OPENAI_CHAT, false,
                   "data: {\"error\":%s,\"choices\":[{\"delta\":{\"content\":\"Hi\"},"
                   "\"finish_reason\":\"stop\"}]}\n\n");
    check_no_error(PHI_PROTOCOL_OPENAI_CHAT, true,
                   "{\"error\":%s,\"choices\":[{\"message\":{\"content\":\"Hi\"},"
                   "\"finish_reason\":\"stop\"}]}");
    check_no_error(PHI_PROTOCOL_ANTHROPIC, true,
                   "{\"type\":\"message\",\"error\":%s,\"content\":[],\"stop_reason\":"
                   "\"end_turn\"}");
    check_no_error(PHI_PROTOCOL_OPENAI_RESPONSES, false,
                   "event: response.completed\ndata: {\"error\":%s,\"response\":{}}\n\n");
    check_no_error(PHI_PROTOCOL_GOOGLE, false,
                   "data: {\"error\":%s,\"candidates\":[{\"content\":{\"parts\":[{\"text\":"
                   "\"Hi\"}]},\"finishReason\":\"STOP\"}]}\n\n");
}

TEST(azure_codes_are_strings_of_digits) {
    stream s;
    stream_of(&s, PHI_PROTOCOL_AZURE_RESPONSES,
              "data: {\"type\":\"error\",\"error\":{\"code\":\"429\",\"message\":\"slow\"}}\n\n");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_RATE_LIMITED);
    CHECK_STR(s.assembly.failure.code, "429");
    stream_free(&s);
}

TEST(gemini_refuses_a_prompt_without_a_candidate) {
    stream s;
    stream_of(&s, GEMINI, "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\r\n\r\n");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_GUARD_RAIL);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_CONTENT_FILTER);
    CHECK(!s.assembly.failure.retryable);
    stream_free(&s);
}

TEST(gemini_says_an_error_as_bare_json_of_many_lines) {
    stream s;
    stream_of(&s, GEMINI,
              PARTS("{\"text\":\"Hi\"}") "{\n  \"error\": {\n    \"code\": 503,\n    \"message\": "
                                         "\"busy\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_SERVER);
    CHECK(s.assembly.failure.retryable);
    CHECK_STR(s.assembly.failure.message, "busy");
    stream_free(&s);
}

TEST(an_empty_200_of_gemini_may_be_asked_for_again) { check_cut(GEMINI, ""); }

TEST(a_pause_of_anthropic_asks_for_the_history_again) {
    stream s;
    stream_of(&s, CLAUDE, CLAUDE_START CLAUDE_TEXT CLAUDE_STOP CLAUDE_END("pause_turn"));
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    CHECK_STR(s.message.raw_stop_reason, "pause_turn");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_PAUSED);
    stream_free(&s);
}

/* As llama.cpp's server streams where the first token is no whole character. */
TEST(an_answer_of_anthropics_protocol_needs_no_message_start) {
    stream s;
    check_text(CLAUDE, CLAUDE_TEXT CLAUDE_STOP CLAUDE_END("end_turn"));
    stream_of(&s, CLAUDE, CLAUDE_TEXT CLAUDE_STOP CLAUDE_END("end_turn"));
    CHECK_EQ_INT(s.message.usage.input, 0);
    CHECK_EQ_INT(s.message.usage.output, 9);
    stream_free(&s);
}

TEST_MAIN(TEST_ENTRY(signs_of_life_are_no_part_of_an_answer),
          TEST_ENTRY(events_behind_the_end_of_responses_change_nothing),
          TEST_ENTRY(an_answer_without_its_end_marker_is_cut_and_may_be_asked_for_again),
          TEST_ENTRY(a_chat_stream_needs_no_done_marker),
          TEST_ENTRY(a_call_without_arguments_has_an_empty_object),
          TEST_ENTRY(input_tokens_never_hold_the_cached_ones),
          TEST_ENTRY(bedrock_says_its_usage_behind_the_end_pads_and_opens_text_without_a_start),
          TEST_ENTRY(cerebras_leaves_null_where_choices_and_indices_should_be),
          TEST_ENTRY(cerebras_puts_the_status_beside_the_error),
          TEST_ENTRY(openrouter_keeps_choices_beside_an_error_whose_code_is_a_number),
          TEST_ENTRY(lm_studio_names_its_error_event),
          TEST_ENTRY(old_llama_cpp_says_error_in_a_line_of_its_own),
          TEST_ENTRY(groq_hides_its_error_in_x_groq), TEST_ENTRY(vllm_says_done_behind_an_error),
          TEST_ENTRY(reasoning_is_read_from_whichever_field_a_server_uses),
          TEST_ENTRY(ollama_sends_a_call_whole_and_says_stop_or_tool_calls),
          TEST_ENTRY(a_refusal_in_responses_is_text),
          TEST_ENTRY(an_error_that_is_false_or_empty_is_none),
          TEST_ENTRY(azure_codes_are_strings_of_digits),
          TEST_ENTRY(gemini_refuses_a_prompt_without_a_candidate),
          TEST_ENTRY(gemini_says_an_error_as_bare_json_of_many_lines),
          TEST_ENTRY(an_empty_200_of_gemini_may_be_asked_for_again),
          TEST_ENTRY(a_pause_of_anthropic_asks_for_the_history_again),
          TEST_ENTRY(an_answer_of_anthropics_protocol_needs_no_message_start))
