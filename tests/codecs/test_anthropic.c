/* test_anthropic.c - Anthropic Messages: what requests hold, and streams beside the fixtures. */
#include "wire/wire_support.h"

#define P PHI_PROTOCOL_ANTHROPIC

static phi_model sonnet(void) { return phi_model_anthropic("claude-sonnet-4-6", "K"); }

static const phi__tool_view one_tool[] = {{{"read", 4},
                                           {"Reads", 5},
                                           {"{\"type\":\"object\"}", 17},
                                           false,
                                           NULL,
                                           false,
                                           {NULL, 0},
                                           false}};

/* ---- thinking ---- */

static void check_thinking(const char *id, phi_thinking level, uint32_t max_tokens,
                           const char *thinking, const char *config, const char *want_max) {
    conversation t;
    talk_begin(&t, phi_model_anthropic(id, "K"));
    talk_user(&t, "hi");
    t.spec.thinking = level;
    t.spec.max_tokens = max_tokens;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "thinking"), thinking);
    CHECK_EQ_STR(talk_at(&t, "output_config"), config);
    CHECK_EQ_STR(talk_at(&t, "max_tokens"), want_max);
    talk_free(&t);
}

TEST(models_before_4_6_think_by_budget_and_keep_room_for_the_answer) {
    check_thinking("claude-sonnet-4-5", PHI_THINKING_OFF, 0, "", "", "8192");
    check_thinking("claude-sonnet-4-5", PHI_THINKING_MINIMAL, 0,
                   "{\"type\":\"enabled\",\"budget_tokens\":1024}", "", "9216");
    check_thinking("claude-sonnet-4-5", PHI_THINKING_LOW, 4096,
                   "{\"type\":\"enabled\",\"budget_tokens\":2048}", "", "6144");
    check_thinking("claude-sonnet-4-20250514", PHI_THINKING_MEDIUM, 0,
                   "{\"type\":\"enabled\",\"budget_tokens\":8192}", "", "16384");
    check_thinking("claude-3-7-sonnet-20250219", PHI_THINKING_HIGH, 0,
                   "{\"type\":\"enabled\",\"budget_tokens\":16384}", "", "24576");
    check_thinking("claude-opus-4-1", PHI_THINKING_HIGH, 31000,
                   "{\"type\":\"enabled\",\"budget_tokens\":16384}", "", "32000");
    check_thinking("claude-3-5-haiku-20241022", PHI_THINKING_HIGH, 0, "", "", "8192");
}

TEST(models_from_4_6_think_adaptively_by_effort) {
    static const char adaptive[] = "{\"type\":\"adaptive\",\"display\":\"summarized\"}";
    check_thinking("claude-sonnet-4-6", PHI_THINKING_MINIMAL, 0, adaptive, "{\"effort\":\"low\"}",
                   "8192");
    check_thinking("claude-opus-4-6-20260101", PHI_THINKING_LOW, 0, adaptive,
                   "{\"effort\":\"low\"}", "8192");
    check_thinking("claude-opus-4-8", PHI_THINKING_MEDIUM, 0, adaptive, "{\"effort\":\"medium\"}",
                   "8192");
    check_thinking("claude-haiku-5", PHI_THINKING_HIGH, 0, adaptive, "{\"effort\":\"high\"}",
                   "8192");
    check_thinking("claude-sonnet-4-6", PHI_THINKING_OFF, 0, "", "", "8192");
}

TEST(models_that_think_by_themselves_are_told_not_to_where_they_can_be) {
    check_thinking("claude-opus-5", PHI_THINKING_OFF, 0, "{\"type\":\"disabled\"}", "", "8192");
    check_thinking("claude-sonnet-5-5", PHI_THINKING_OFF, 0, "{\"type\":\"between_tools\"}", "",
                   "8192");
    check_thinking("claude-opus-5-5", PHI_THINKING_OFF, 0, "", "{\"effort\":\"low\"}", "8192");
    check_thinking("claude-fable-5-1", PHI_THINKING_OFF, 0, "", "{\"effort\":\"low\"}", "8192");
}

TEST(the_quirk_makes_an_unknown_model_think_adaptively) {
    conversation t;
    phi_model model = phi_model_anthropic("MiniMax-M3", "K");
    model.reasoning = true;
    model.quirks |= PHI_QUIRK_ADAPTIVE_THINKING;
    talk_begin(&t, model);
    talk_user(&t, "hi");
    t.spec.thinking = PHI_THINKING_HIGH;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "thinking.type"), "\"adaptive\"");
    talk_free(&t);
}

static const char *temperature_of(conversation *t, const char *id, phi_thinking level) {
    talk_begin(t, phi_model_anthropic(id, "K"));
    talk_user(t, "hi");
    t->spec.thinking = level;
    t->spec.temperature = 0.5;
    talk_render_ok(t);
    return talk_at(t, "temperature");
}

TEST(temperature_is_sent_only_where_it_is_taken) {
    conversation t;
    CHECK_EQ_STR(temperature_of(&t, "claude-sonnet-4-5", PHI_THINKING_OFF), "0.5");
    talk_free(&t);
    CHECK_EQ_STR(temperature_of(&t, "claude-sonnet-4-5", PHI_THINKING_LOW), "");
    talk_free(&t);
    CHECK_EQ_STR(temperature_of(&t, "claude-sonnet-4-7", PHI_THINKING_OFF), "");
    talk_free(&t);
    CHECK_EQ_STR(temperature_of(&t, "claude-opus-4-6", PHI_THINKING_OFF), "0.5");
    talk_free(&t);
}

/* A request by that version, as the model's field and as its header; NULL: none. */
static void versioned(conversation *t, const char *field, const char *header) {
    static phi_model_header list[1];
    phi_model model = phi_model_anthropic("claude-sonnet-4-5", "K");
    list[0].name = "Anthropic-Version";
    list[0].value = header;
    model.api_version = field;
    model.headers = list;
    model.header_count = header != NULL ? 1 : 0;
    talk_begin(t, model);
    talk_user(t, "hi");
    t->spec.temperature = 0.5;
    talk_render_ok(t);
}

static void check_version(const char *field, const char *header, const char *want, bool late) {
    conversation t;
    versioned(&t, field, header);
    CHECK_EQ_STR(talk_header(&t, "anthropic-version"), want);
    CHECK_EQ_STR(talk_at(&t, "temperature"), late ? "" : "0.5");
    CHECK_EQ_STR(talk_header(&t, "authorization"), late ? "Bearer K" : "");
    CHECK_EQ_STR(talk_header(&t, "x-api-key"), late ? "" : "K");
    talk_free(&t);
}

TEST(the_version_in_force_decides_on_sampling_and_on_the_keys_header) {
    check_version(NULL, NULL, "2023-06-01", false);
    check_version("", NULL, "2023-06-01", false);
    check_version("2026-10-20", NULL, "2026-10-20", false);
    check_version("2026-10-21", NULL, "2026-10-21", true);
    check_version(" 2027-01-01 ", NULL, "2027-01-01", true);
    check_version("2026-10", NULL, "2026-10", false);
    check_version("2023-06-01", "2026-10-21", "2026-10-21", true);
    check_version("2026-10-21", "2023-06-01", "2023-06-01", false);
}

TEST(no_key_sends_no_header_for_one_by_either_version) {
    conversation t;
    phi_model model = phi_model_anthropic("claude-sonnet-4-5", NULL);
    model.api_version = "2026-10-21";
    talk_begin(&t, model);
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_header(&t, "authorization"), "");
    CHECK_EQ_STR(talk_header(&t, "x-api-key"), "");
    talk_free(&t);
}

static void check_choice(const char *id, phi_tool_choice choice, phi_thinking level,
                         const char *want) {
    conversation t;
    talk_begin(&t, phi_model_anthropic(id, "K"));
    talk_user(&t, "hi");
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    t.spec.tool_choice = choice;
    t.spec.thinking = level;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), want);
    talk_free(&t);
}

TEST(a_forced_call_gives_way_to_thinking) {
    check_choice("claude-sonnet-4-5", PHI_TOOL_CHOICE_AUTO, PHI_THINKING_OFF,
                 "{\"type\":\"auto\"}");
    check_choice("claude-sonnet-4-5", PHI_TOOL_CHOICE_NONE, PHI_THINKING_OFF,
                 "{\"type\":\"none\"}");
    check_choice("claude-sonnet-4-5", PHI_TOOL_CHOICE_REQUIRED, PHI_THINKING_OFF,
                 "{\"type\":\"any\"}");
    check_choice("claude-sonnet-4-5", PHI_TOOL_CHOICE_REQUIRED, PHI_THINKING_LOW,
                 "{\"type\":\"auto\"}");
    check_choice("claude-opus-5-5", PHI_TOOL_CHOICE_REQUIRED, PHI_THINKING_OFF,
                 "{\"type\":\"auto\"}");
}

/* ---- messages ---- */

TEST(blank_text_is_left_out_and_so_is_a_message_that_becomes_empty) {
    conversation t;
    talk_begin(&t, sonnet());
    talk_user(&t, "one");
    talk_text(&t, " \n\t");
    talk_user(&t, "  ");
    talk_assistant(&t);
    talk_text(&t, "");
    talk_user(&t, "two");
    t.spec.system_prompt = phi_str_of(" ");
    t.spec.cache.mode = PHI_CACHE_DISABLED;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "system"), "");
    CHECK_EQ_STR(talk_at(&t, "messages"),
                 "[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                 "\"text\":\"one\"},{\"type\":\"text\",\"text\":\"two\"}]}]");
    talk_free(&t);
}

TEST(a_final_assistant_text_loses_its_trailing_space) {
    conversation t;
    talk_begin(&t, phi_model_anthropic("claude-sonnet-4-5", "K"));
    talk_user(&t, "one");
    talk_assistant(&t);
    talk_text(&t, " The answer is \n");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].content[0].text"), "\" The answer is\"");
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[0].cache_control.type"), "\"ephemeral\"");
    talk_free(&t);
}

TEST(thinking_goes_back_whole_and_in_order_to_the_model_that_thought_it) {
    conversation t;
    talk_begin(&t, sonnet());
    talk_user(&t, "one");
    talk_assistant(&t);
    talk_thinking(&t, "", "omitted==");
    talk_thinking(&t, "", "data==");
    t.blocks[1][1].redacted = true;
    talk_thinking(&t, "unsigned", "");
    talk_text(&t, "so");
    talk_thinking(&t, "may not be last", "sig");
    talk_user(&t, "two");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].content"),
                 "[{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"omitted==\"},{\"type\":"
                 "\"redacted_thinking\",\"data\":\"data==\"},{\"type\":\"text\",\"text\":\"so\"}]");
    talk_free(&t);
}

static const char *foreign(conversation *t, const char *model, const char *provider,
                           const char *protocol) {
    phi_message *m;
    talk_begin(t, sonnet());
    talk_user(t, "one");
    m = talk_assistant(t);
    m->model = phi_str_of(model);
    m->provider = phi_str_of(provider);
    m->protocol = phi_str_of(protocol);
    talk_thinking(t, "secret", "sig");
    talk_text(t, "so");
    talk_user(t, "two");
    talk_render_ok(t);
    return talk_at(t, "messages[1].content[0].type");
}

TEST(foreign_thinking_is_dropped) {
    conversation t;
    CHECK_EQ_STR(foreign(&t, "claude-sonnet-4-6", "anthropic", ""), "\"thinking\"");
    talk_free(&t);
    CHECK_EQ_STR(foreign(&t, "claude-sonnet-4-6", "anthropic", "anthropic"), "\"thinking\"");
    talk_free(&t);
    CHECK_EQ_STR(foreign(&t, "claude-opus-4-6", "anthropic", ""), "\"text\"");
    talk_free(&t);
    CHECK_EQ_STR(foreign(&t, "claude-sonnet-4-6", "proxy", ""), "\"text\"");
    talk_free(&t);
    CHECK_EQ_STR(foreign(&t, "claude-sonnet-4-6", "anthropic", "openai_completions"), "\"text\"");
    CHECK(phi__str_find(phi_str_of(t.body), 0, "secret") == SIZE_MAX);
    talk_free(&t);
}

TEST(images_of_error_results_follow_all_results) {
    conversation t;
    talk_begin(&t, sonnet());
    t.spec.cache.mode = PHI_CACHE_DISABLED;
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_call(&t, "a", "shot", "{}");
    talk_call(&t, "b", "shot", "{}");
    talk_result(&t, "a", "shot", "broken")->is_error = true;
    talk_image(&t, "aGk=");
    talk_result(&t, "b", "shot", NULL);
    talk_render_ok(&t);
    CHECK_EQ_STR(
        talk_at(&t, "messages[2].content"),
        "[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"is_error\":true,\"content\":"
        "\"broken\"},{\"type\":\"tool_result\",\"tool_use_id\":\"b\"},{\"type\":\"image\","
        "\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"aGk=\"}}]");
    talk_free(&t);
}

TEST(an_error_result_without_text_gets_some) {
    conversation t;
    talk_begin(&t, sonnet());
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_call(&t, "a", "run", "{}");
    talk_result(&t, "a", "run", " ")->is_error = true;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[0].content"), "\"(no output)\"");
    talk_free(&t);
}

TEST(a_model_without_images_gets_one_line_for_those_in_a_row) {
    conversation t;
    phi_model model = sonnet();
    model.quirks |= PHI_QUIRK_NO_IMAGES;
    talk_begin(&t, model);
    talk_user(&t, "see");
    talk_image(&t, "aGk=");
    talk_image(&t, "aGk=");
    talk_assistant(&t);
    talk_call(&t, "a", "shot", "{}");
    talk_result(&t, "a", "shot", NULL);
    talk_image(&t, "aGk=");
    talk_render_ok(&t);
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages[0].content")), 2);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[1].text"),
                 "\"(image omitted: this model does not take it)\"");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[0].content[0].text"),
                 "\"(image omitted: this model does not take it)\"");
    talk_free(&t);
}

TEST(marks_are_three_and_none_where_caching_is_off) {
    conversation t;
    size_t at = 0, marks = 0;
    talk_begin(&t, sonnet());
    t.spec.system_prompt = phi_str_of("s");
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    talk_user(&t, "one");
    talk_assistant(&t);
    talk_text(&t, "two");
    talk_user(&t, "three");
    talk_render_ok(&t);
    while ((at = phi__str_find(phi_str_of(t.body), at, "cache_control")) != SIZE_MAX) {
        at++;
        marks++;
    }
    CHECK_EQ_INT(marks, 3);
    CHECK_EQ_STR(talk_at(&t, "system[0].cache_control.type"), "\"ephemeral\"");
    CHECK_EQ_STR(talk_at(&t, "tools[0].cache_control.type"), "\"ephemeral\"");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[0].cache_control.type"), "\"ephemeral\"");
    t.spec.cache.mode = PHI_CACHE_DISABLED;
    talk_render_ok(&t);
    CHECK(phi__str_find(phi_str_of(t.body), 0, "cache_control") == SIZE_MAX);
    talk_free(&t);
}

/* ---- streams ---- */

#define START                                                                                      \
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"c\",\"usage\":{"     \
    "\"input_tokens\":5,\"output_tokens\":1}}}\n\n"
#define BLOCK(index, block)                                                                        \
    "data: {\"type\":\"content_block_start\",\"index\":" index ",\"content_block\":" block "}\n\n"
#define DELTA(index, delta)                                                                        \
    "data: {\"type\":\"content_block_delta\",\"index\":" index ",\"delta\":" delta "}\n\n"
#define TEXT(index, text) DELTA(index, "{\"type\":\"text_delta\",\"text\":\"" text "\"}")
#define STOP(index) "data: {\"type\":\"content_block_stop\",\"index\":" index "}\n\n"
#define DONE(reason)                                                                               \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason                       \
    "\"},\"usage\":{\"output_tokens\":3}}\n\n"
#define END "data: {\"type\":\"message_stop\"}\n\n"

TEST(events_without_a_name_line_are_read) {
    stream s;
    stream_of(&s, P,
              START BLOCK("0", "{\"type\":\"text\",\"text\":\"\"}") TEXT("0", "Hi") STOP("0")
                  DONE("end_turn") END);
    CHECK_STR(s.content[0].text, "Hi");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    CHECK_EQ_INT(s.message.usage.total_tokens, 8);
    stream_free(&s);
}

TEST(a_missing_end_marker_is_fine_once_the_stop_reason_is_there_and_all_blocks_are_closed) {
    stream s;
    stream_of(&s, P,
              START BLOCK("0", "{\"type\":\"text\",\"text\":\"\"}") TEXT("0", "Hi") STOP("0")
                  DONE("end_turn"));
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    CHECK(s.assembly.terminal);
    stream_free(&s);
    stream_of(&s, P,
              START BLOCK("0", "{\"type\":\"text\",\"text\":\"\"}") TEXT("0", "Hi")
                  DONE("end_turn"));
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NETWORK);
    CHECK(s.assembly.failure.retryable);
    CHECK_STR(s.assembly.failure.message,
              "the answer broke off: the stream ended without its end marker");
    stream_free(&s);
    stream_of(&s, P, "");
    CHECK_STR(s.assembly.failure.message, "the server ended the stream without an answer");
    stream_free(&s);
}

/* Details of the message for the host, when message_start's message has `members` as well. */
static void check_diagnosed(const char *members, const char *want) {
    char text[600];
    stream s;
    (void)snprintf(text, sizeof text,
                   "data: {\"type\":\"message_start\",\"message\":{%s\"id\":\"msg_\\u00411\"}}\n\n",
                   members);
    stream_begin(&s, P);
    stream_text(&s, text);
    stream_text(&s, DONE("end_turn") END);
    stream_end(&s);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    CHECK_STR(s.message.details, want);
    stream_free(&s);
}

TEST(cache_diagnostics_are_details_of_the_answer_with_its_id) {
    stream s;
    check_diagnosed("\"diagnostics\":{\"cache_miss_reason\":{\"type\":\"system_changed\","
                    "\"cache_missed_input_tokens\": 41}},",
                    "{\"id\":\"msg_A1\",\"diagnostics\":{\"cache_miss_reason\":{\"type\":"
                    "\"system_changed\",\"cache_missed_input_tokens\": 41}}}");
    check_diagnosed("\"diagnostics\":null,", "{\"id\":\"msg_A1\",\"diagnostics\":null}");
    check_diagnosed("\"diagnostics\":{\"of_later_years\":[1]},",
                    "{\"id\":\"msg_A1\",\"diagnostics\":{\"of_later_years\":[1]}}");
    check_diagnosed("", "");
    stream_begin(&s, P);
    stream_whole(&s, "{\"type\":\"message\",\"id\":\"m\",\"content\":[],\"stop_reason\":"
                     "\"end_turn\",\"diagnostics\":{\"cache_miss_reason\":null}}");
    CHECK_STR(s.message.details, "{\"id\":\"m\",\"diagnostics\":{\"cache_miss_reason\":null}}");
    stream_free(&s);
}

TEST(null_counts_leave_what_was_said_before) {
    stream s;
    stream_of(&s, P,
              START "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":null},"
                    "\"usage\":{\"input_tokens\":null,\"output_tokens\":9,"
                    "\"cache_read_input_tokens\":null}}\n\n" DONE("end_turn") END);
    CHECK_EQ_INT(s.message.usage.input, 5);
    CHECK_EQ_INT(s.message.usage.output, 3);
    stream_free(&s);
}

TEST(arguments_that_come_whole_with_the_block_are_taken_unless_deltas_follow) {
    stream s;
    stream_of(
        &s, P,
        START BLOCK("0", "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"n\",\"input\":{\"x\":1}}")
            STOP("0") BLOCK("1", "{\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"n\",\"input\":{"
                                 "\"x\":1}}")
                DELTA("1", "{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}") STOP("1")
                    DONE("tool_use") END);
    CHECK_STR(s.content[0].arguments, "{\"x\":1}");
    CHECK_STR(s.content[1].arguments, "{}");
    CHECK_EQ_INT(s.content[0].replay.len, 0);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    stream_free(&s);
}

TEST(blocks_of_unknown_types_are_kept_and_unknown_events_are_read_over) {
    stream s;
    stream_of(
        &s, P,
        START BLOCK("0", "{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web\"}") DELTA(
            "0", "{\"type\":\"input_json_delta\",\"partial_json\":\"{}\"}")
            STOP("0") "event: news\ndata: {\"type\":\"news\",\"delta\":{\"text\":\"x\"}}\n\n" TEXT(
                "1", "unstarted") STOP("1") DONE("end_turn") END);
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK_EQ_INT(s.content[0].kind, PHI_CONTENT_OPAQUE);
    CHECK_STR(s.content[0].name, "server_tool_use");
    CHECK_STR(s.content[0].protocol, PHI_PROTOCOL_ANTHROPIC);
    CHECK_STR(s.content[0].replay,
              "{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web\",\"input\":{}}");
    CHECK_STR(s.content[1].text, "unstarted");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    stream_free(&s);
}

TEST(a_call_whose_arguments_were_cut_by_the_limit_is_incomplete) {
    stream s;
    stream_of(&s, P,
              START BLOCK("0", "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"n\",\"input\":{}}")
                  DELTA("0", "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\"}")
                      STOP("0") DONE("max_tokens") END);
    CHECK(s.content[0].incomplete);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_LENGTH);
    stream_free(&s);
}

static void check_stop(const char *word, phi_stop_reason want, phi_failure_kind kind) {
    stream s;
    char text[600];
    snprintf(text, sizeof text,
             START "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\"}}\n\n" END,
             word);
    stream_of(&s, P, text);
    CHECK_EQ_INT(s.message.stop_reason, want);
    CHECK_EQ_INT(s.assembly.failure.kind, kind);
    CHECK_STR(s.message.raw_stop_reason, word);
    stream_free(&s);
}

TEST(stop_reasons_are_mapped) {
    check_stop("end_turn", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE);
    check_stop("stop_sequence", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE);
    check_stop("max_tokens", PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE);
    check_stop("model_context_window_exceeded", PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE);
    check_stop("pause_turn", PHI_STOP_REASON_PAUSED, PHI_FAILURE_NONE);
    check_stop("refusal", PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER);
    check_stop("sensitive", PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER);
    check_stop("compaction", PHI_STOP_REASON_PAUSED, PHI_FAILURE_NONE);
}

TEST(an_unknown_stop_reason_ends_the_answer_with_what_came) {
    stream s;
    check_stop("telepathy", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE);
    stream_of(&s, P,
              START BLOCK("0", "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"n\"}") STOP("0")
                  DONE("telepathy") END);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    CHECK(s.assembly.unknown_stop);
    stream_free(&s);
}

TEST(an_event_that_is_no_json_breaks_the_answer_unless_it_is_the_last) {
    stream s;
    stream_of(&s, P, START "data: {\"type\":\"content_bl\n\n" DONE("end_turn") END);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_SERVER);
    CHECK_STR(s.assembly.failure.message, "the server sent an event that is not JSON");
    stream_free(&s);
    stream_of(&s, P, START DONE("end_turn") END "data: {\"type\":\"pi");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    stream_free(&s);
    stream_of(&s, P, START "data: waiting\n\n" DONE("end_turn") END);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    stream_free(&s);
}

TEST(an_error_event_is_classified_like_an_http_error) {
    stream s;
    stream_of(&s, P,
              START "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
                    "\"rate_limit_error\",\"message\":\"slow\"},\"request_id\":\"r7\"}\n\n");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_RATE_LIMITED);
    CHECK_STR(s.assembly.failure.code, "rate_limit_error");
    CHECK_STR(s.assembly.failure.message, "slow");
    CHECK_STR(s.assembly.failure.request_id, "r7");
    CHECK_STR(s.message.error_message, "slow");
    stream_free(&s);
    stream_of(&s, P,
              START "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":"
                    "\"invalid_request_error\",\"message\":\"prompt is too long: 9 tokens > "
                    "8 maximum\"}}\n\n");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_OVERFLOW);
    stream_free(&s);
}

TEST(a_whole_answer_is_read) {
    stream s;
    stream_begin(&s, P);
    stream_whole(&s,
                 "{\"id\":\"m1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"c\","
                 "\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"},{"
                 "\"type\":\"text\",\"text\":\"Hi\\n\"},{\"type\":\"tool_use\",\"id\":\"t1\","
                 "\"name\":\"n\",\"input\":{\"a\":1}}],\"stop_reason\":\"tool_use\",\"usage\":{"
                 "\"input_tokens\":5,\"output_tokens\":2}}");
    CHECK_EQ_INT(s.message.content_count, 3);
    CHECK_STR(s.content[0].signature, "s");
    CHECK_STR(s.content[1].text, "Hi\n");
    CHECK_STR(s.content[2].arguments, "{\"a\":1}");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    CHECK_EQ_INT(s.message.usage.total_tokens, 7);
    CHECK(s.assembly.terminal);
    stream_free(&s);
}

TEST(a_body_that_is_no_answer_says_what_it_is) {
    stream s;
    stream_begin(&s, P);
    stream_whole(&s, "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":"
                     "\"bad key\"}}");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_AUTH);
    stream_free(&s);
    stream_begin(&s, P);
    stream_whole(&s, "<!doctype html><html><head><TITLE>Sign in</TITLE></head></html>");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_INVALID_REQUEST);
    CHECK_STR(s.assembly.failure.message,
              "the server sent a web page instead of an answer: Sign in. "
              "Is the base URL right?");
    stream_free(&s);
    stream_begin(&s, P);
    stream_whole(&s, " ");
    CHECK_STR(s.assembly.failure.message, "the server sent an empty answer");
    stream_free(&s);
}

static const char everything[] =
    START BLOCK("0", "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}")
        DELTA("0", "{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}")
            DELTA("0", "{\"type\":\"signature_delta\",\"signature\":\"s\"}") STOP("0") BLOCK(
                "1", "{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"n\",\"input\":{\"x\":1}}")
                STOP("1") "event: error\ndata: {\"error\":{\"type\":\"api_error\",\"message\":"
                          "\"oh\"}}\n\n";

TEST(decoding_survives_every_failed_allocation) {
    stream s;
    int n = 0;
    bool tripped;
    do {
        test_alloc_fail_at(n++);
        stream_of(&s, P, everything);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK_STR(s.assembly.failure.message, "oh");
        if (tripped)
            CHECK(s.assembly.no_memory || s.reader.sse.status != PHI_OK ||
                  s.assembly.failure.kind != PHI_FAILURE_NONE);
        stream_free(&s);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped && n < 1000);
    CHECK(n > 8);
}

TEST_MAIN(TEST_ENTRY(models_before_4_6_think_by_budget_and_keep_room_for_the_answer),
          TEST_ENTRY(models_from_4_6_think_adaptively_by_effort),
          TEST_ENTRY(models_that_think_by_themselves_are_told_not_to_where_they_can_be),
          TEST_ENTRY(the_quirk_makes_an_unknown_model_think_adaptively),
          TEST_ENTRY(temperature_is_sent_only_where_it_is_taken),
          TEST_ENTRY(the_version_in_force_decides_on_sampling_and_on_the_keys_header),
          TEST_ENTRY(no_key_sends_no_header_for_one_by_either_version),
          TEST_ENTRY(a_forced_call_gives_way_to_thinking),
          TEST_ENTRY(blank_text_is_left_out_and_so_is_a_message_that_becomes_empty),
          TEST_ENTRY(a_final_assistant_text_loses_its_trailing_space),
          TEST_ENTRY(thinking_goes_back_whole_and_in_order_to_the_model_that_thought_it),
          TEST_ENTRY(foreign_thinking_is_dropped),
          TEST_ENTRY(images_of_error_results_follow_all_results),
          TEST_ENTRY(an_error_result_without_text_gets_some),
          TEST_ENTRY(a_model_without_images_gets_one_line_for_those_in_a_row),
          TEST_ENTRY(marks_are_three_and_none_where_caching_is_off),
          TEST_ENTRY(events_without_a_name_line_are_read),
          TEST_ENTRY(
              a_missing_end_marker_is_fine_once_the_stop_reason_is_there_and_all_blocks_are_closed),
          TEST_ENTRY(cache_diagnostics_are_details_of_the_answer_with_its_id),
          TEST_ENTRY(null_counts_leave_what_was_said_before),
          TEST_ENTRY(arguments_that_come_whole_with_the_block_are_taken_unless_deltas_follow),
          TEST_ENTRY(blocks_of_unknown_types_are_kept_and_unknown_events_are_read_over),
          TEST_ENTRY(a_call_whose_arguments_were_cut_by_the_limit_is_incomplete),
          TEST_ENTRY(stop_reasons_are_mapped),
          TEST_ENTRY(an_unknown_stop_reason_ends_the_answer_with_what_came),
          TEST_ENTRY(an_event_that_is_no_json_breaks_the_answer_unless_it_is_the_last),
          TEST_ENTRY(an_error_event_is_classified_like_an_http_error),
          TEST_ENTRY(a_whole_answer_is_read), TEST_ENTRY(a_body_that_is_no_answer_says_what_it_is),
          TEST_ENTRY(decoding_survives_every_failed_allocation))
