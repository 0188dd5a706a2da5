/* test_event_read.c - events from JSON and back: every type, what others and older files write, garbage. */
#include "agent/agent.h"
#include "support/test.h"
#include "record/event_json.h"
#include "model/event_parts.h"
#include "agent/agent_history.h"
#include "base/arena.h"
#include "loop/hook.h"
#include "loop/run.h"
#include "model/event.h"
#include "model/failure.h"

static phi_memory memory;
static phi_arena arena;

static void begin(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void end(void) { phi_arena_free(&arena); }

#define USAGE(n)                                                                                   \
    "\"usage\":{\"input\":" #n ",\"output\":5,\"reasoning\":1,\"cache_read\":2,\"cache_write\":3," \
    "\"total_tokens\":20}"
#define USER                                                                                       \
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"How \\\"many\\\"?\"}],"         \
    "\"timestamp\":1763700000000,\"turnId\":{\"loopId\":\"s.m.1\",\"turnIndex\":3}}"
#define ANSWER                                                                                     \
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"Hm.\","            \
    "\"signature\":\"sig\",\"replay\":\"as it was\"},{\"type\":\"text\",\"text\":\"One\"},"        \
    "{\"type\":\"text\",\"text\":\"Two\"},{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":\"ask\","  \
    "\"arguments\":{\"x\":[1,2.5,\"\xc3\xa4\"]}}],\"stopReason\":\"toolUse\",\"model\":\"m\","     \
    "\"provider\":\"p\",\"api\":\"anthropic_messages\"," USAGE(                                    \
        10) ",\"timestamp\":1763700000001,"                                                        \
            "\"turnId\":{\"loopId\":\"s.m.1\",\"turnIndex\":3}}"
#define RESULT                                                                                     \
    "{\"role\":\"toolResult\",\"toolCallId\":\"c1\",\"toolName\":\"ask\",\"content\":[{\"type\":"  \
    "\"text\",\"text\":\"seven\"}],\"isError\":true,\"timestamp\":1763700000002}"
#define EXTENSION "{\"role\":\"extension\",\"kind\":\"ui\",\"data\":{\"a\":null}}"
#define LOOP "\"loop_id\":\"s.m.1\""
#define TIME "\"timestamp\":\"2025-11-21T04:40:00.120Z\""
#define TOOL LOOP ",\"tool_call_id\":\"c1\",\"tool_name\":\"ask\""
#define START_HEAD                                                                                 \
    "{\"type\":\"AgentStart\",\"agent_id\":\"a\",\"session_id\":\"s\"," LOOP ",\"parent_loop_"     \
    "id\":"
#define FAILURE                                                                                    \
    "\"kind\":\"rate_limited\",\"message\":\"Slow down\",\"http_status\":429,\"retryable\":true,"  \
    "\"retry_after_ms\":21000,\"code\":\"slow\",\"request_id\":\"r1\",\"status\":-16"

/* What phi writes, for every type and each of its forms. */
static const char *const texts[] = {
    START_HEAD "null,\"continuation_kind\":\"Initial\"," TIME ",\"metadata\":null}",
    START_HEAD "\"s.m.0\",\"continuation_kind\":\"Default\"," TIME
               ",\"metadata\":{\"k\":[true,1]},\"config_snapshot\":{\"model\":\"m\",\"provider\":"
               "\"p\",\"config_id\":null,\"api\":\"open_ai_completions\",\"temperature\":0.2}}",
    START_HEAD "\"s.m.0\",\"continuation_kind\":{\"Rerun\":{\"tag\":\"2026-01-01T00:00:00+00:00\"}"
               "}," TIME ",\"metadata\":\"words\"}",
    START_HEAD "\"s.m.0\",\"continuation_kind\":{\"Branch\":{\"tag\":\"t\"}}," TIME
               ",\"metadata\":7}",
    START_HEAD "\"s.m.0\",\"continuation_kind\":\"Compaction\"," TIME ",\"metadata\":null}",
    "{\"type\":\"AgentEnd\"," LOOP ",\"messages\":[" USER "," ANSWER "," EXTENSION
    "]," USAGE(10) "," TIME ",\"rejection\":null}",
    "{\"type\":\"AgentEnd\"," LOOP ",\"messages\":[]," USAGE(0) "," TIME
                                                                ",\"rejection\":\"no secrets\"}",
    "{\"type\":\"TurnStart\"," LOOP ",\"turn_index\":3," TIME ",\"triggered_by\":\"User\"}",
    "{\"type\":\"TurnStart\"," LOOP ",\"turn_index\":0," TIME ",\"triggered_by\":\"SubAgent\"}",
    "{\"type\":\"TurnStart\"," LOOP ",\"turn_index\":4," TIME ",\"triggered_by\":\"Continuation\"}",
    "{\"type\":\"TurnStart\"," LOOP ",\"turn_index\":0," TIME ",\"triggered_by\":\"Branch\"}",
    "{\"type\":\"TurnEnd\"," LOOP ",\"message\":" ANSWER
    "," USAGE(10) "," TIME ",\"tool_results\":[" RESULT "," RESULT "]}",
    "{\"type\":\"TurnEnd\"," LOOP ",\"message\":null," USAGE(10) "," TIME ",\"tool_results\":[]}",
    "{\"type\":\"MessageStart\"," LOOP ",\"message\":" USER "}",
    "{\"type\":\"MessageUpdate\"," LOOP ",\"message\":" ANSWER
    ",\"delta\":{\"Text\":{\"delta\":\"wo\"}}}",
    "{\"type\":\"MessageUpdate\"," LOOP ",\"message\":" ANSWER
    ",\"delta\":{\"Thinking\":{\"delta\":\"Hm\"}}}",
    "{\"type\":\"MessageUpdate\"," LOOP ",\"message\":" ANSWER
    ",\"delta\":{\"ToolCallDelta\":{\"delta\":\"{\\\"x\\\"\"}}}",
    "{\"type\":\"MessageEnd\"," LOOP ",\"message\":" ANSWER "}",
    "{\"type\":\"ToolExecutionStart\"," TOOL ",\"args\":{\"x\":1}}",
    "{\"type\":\"ToolExecutionStart\"," TOOL ",\"args\":\"{\\\"cut\"}",
    "{\"type\":\"ToolExecutionStart\"," TOOL ",\"args\":null}",
    "{\"type\":\"ToolExecutionUpdate\"," TOOL ",\"partial_result\":{\"content\":[{\"type\":"
    "\"text\",\"text\":\"half\"}],\"details\":null}}",
    "{\"type\":\"ToolExecutionUpdate\"," TOOL ",\"partial_result\":{\"content\":[{\"type\":\"text\""
    ",\"text\":\"a\"},{\"type\":\"image\",\"data\":\"iVB=\",\"mimeType\":\"image/png\"},{\"type\":"
    "\"text\",\"text\":\"b\"}],\"details\":{\"sub_agent\":\"n\"}}}",
    "{\"type\":\"ToolExecutionEnd\"," TOOL ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
    "\"seven\"}],\"details\":{\"turns\":3},\"child_loop_id\":\"c.sub.1\"},\"is_error\":true,"
    "\"child_loop_id\":\"c.sub.1\"}",
    "{\"type\":\"ToolExecutionEnd\"," TOOL ",\"result\":{\"content\":[],\"details\":\"words\"},"
    "\"is_error\":false,\"child_loop_id\":null}",
    "{\"type\":\"ProgressMessage\"," TOOL ",\"text\":\"Looking\"}",
    "{\"type\":\"InputRejected\"," LOOP ",\"reason\":\"no secrets\"}",
    "{\"type\":\"CompactionStarted\"," LOOP ",\"estimated_tokens\":81000,\"message_count\":40," TIME
    "}",
    "{\"type\":\"CompactionEnded\"," LOOP ",\"messages_before\":40,\"messages_after\":12,"
    "\"estimated_tokens_before\":81000,\"estimated_tokens_after\":9000,\"loops_compacted\":2," TIME
    "}",
    "{\"type\":\"Error\"," LOOP "," FAILURE "," TIME "}",
    "{\"type\":\"Error\"," LOOP ",\"kind\":\"network\",\"message\":\"\",\"http_status\":0,"
    "\"retryable\":false,\"status\":-9," TIME "}",
    "{\"type\":\"Retract\"," LOOP ",\"message\":" ANSWER "}",
    "{\"type\":\"Retract\"," LOOP ",\"message\":null}",
    "{\"type\":\"Retry\"," LOOP ",\"attempt\":1,\"attempts\":3,\"delay_ms\":900," FAILURE
    ",\"text\":\"Retry 1 of 3\"," TIME "}",
    "{\"type\":\"InputDropped\"," LOOP ",\"input\":\"follow_up\",\"text\":\"And then?\","
    "\"reason\":\"the run was aborted\"}",
    "{\"type\":\"InputDropped\"," LOOP ",\"input\":null,\"text\":\"\",\"reason\":\"\"}",
    "{\"type\":\"Decision\"," LOOP ",\"point\":\"before_tool_execution\",\"tool_call_id\":\"c1\","
    "\"tool_name\":\"ask\",\"args\":{\"x\":1},\"text\":\"\"}",
    "{\"type\":\"Decision\"," LOOP ",\"point\":\"filter\",\"tool_call_id\":null,\"tool_name\":null,"
    "\"args\":null,\"text\":\"Hello\"}",
    "{\"type\":\"Paused\"," LOOP ",\"reason\":\"Max turns reached (50/50)\"}",
    "{\"type\":\"Warning\"," LOOP ",\"text\":\"The same call again\"}",
    "{\"type\":\"Warning\"," TOOL ",\"text\":\"The same call again\"}",
    "{\"type\":\"Rewrite\"," LOOP
    ",\"op_id\":\"mine\",\"status\":-7,\"reason\":\"a newer rewrite took its "
    "place\"}",
    "{\"type\":\"OpaqueBlock\"," LOOP
    ",\"block_index\":2,\"name\":\"server_tool_use\",\"json\":\"{ \\\"n\\\": 1.0}\"}",
    "{\"type\":\"PrunApplied\"," LOOP
    ",\"tokens_removed\":120,\"messages_removed\":2,\"memo\":null,"
    "\"pruned_timestamps\":[1763700000001,-2]," TIME "}",
    "{\"type\":\"PrunApplied\"," LOOP
    ",\"tokens_removed\":0,\"messages_removed\":0,\"memo\":\"two \\\"w"
    "ells\\\"\",\"pruned_timestamps\":[]," TIME "}",
    "{\"type\":\"RevertApplied\"," LOOP ",\"category\":\"step-summary\",\"target\":4,"
    "\"abandoned_node_ids\":[7,8],\"summary\":\"no key\",\"applied\":true,"
    "\"reason\":null," TIME "}",
    "{\"type\":\"RevertApplied\"," LOOP ",\"category\":\"failure\",\"target\":99,"
    "\"abandoned_node_ids\":[],\"summary\":null,\"applied\":false,"
    "\"reason\":\"step n99 was not found\"," TIME "}",
    "{\"type\":\"TurnRequest\"," LOOP ",\"turn_index\":3,\"payload\":{\"system_prompt\":\"\"}," TIME
    "}",
    "{\"type\":\"ParallelLoopStart\",\"session_id\":\"s\",\"loop_ids\":[\"s.a.1\",\"s.b.1\"]," TIME
    "}",
    "{\"type\":\"ParallelLoopEnd\",\"session_id\":\"s\",\"selected_loop_id\":\"s.b.1\","
    "\"selected_config_index\":1,\"evaluation_usage\":{\"input\":1,\"output\":2,\"reasoning\":0,"
    "\"cache_read\":0,\"cache_write\":0,\"total_tokens\":3}," TIME "}",
    "{\"type\":\"Decision\"," LOOP ",\"point\":\"filter\",\"tool_call_id\":null,\"tool_name\":null,"
    "\"args\":null,\"text\":\"Hello\",\"input\":\"steering\"}"};

enum { TEXTS = sizeof texts / sizeof texts[0] };

static bool read_event(const char *text, phi_event *event) {
    phi_parse_error error;
    memset(&error, 0, sizeof error);
    if (CHECK_EQ_INT(phi_event_from_json(phi_str_of(text), &arena, event, &error), PHI_OK))
        return true;
    printf("%s\n%s\n", error.message, text);
    return false;
}

static void check_round_trip(const char *text, const char *want) {
    phi_event event;
    phi_str json = {NULL, 0};
    if (!read_event(text, &event)) return;
    CHECK_EQ_INT(event.seq, 0);
    CHECK(event.agent.rt == NULL && event.call.rt == NULL && event.ticket.rt == NULL);
    CHECK_EQ_INT(phi_event_to_json(&event, &arena, &json), PHI_OK);
    CHECK_STR(json, want);
}

static void check_refused(const char *text, phi_status status, const char *words) {
    phi_event event;
    phi_parse_error error;
    memset(&error, 0, sizeof error);
    CHECK_EQ_INT(phi_event_from_json(phi_str_of(text), &arena, &event, &error), status);
    CHECK_EQ_STR(error.message, words);
    CHECK_EQ_INT(event.kind, 0);
}

TEST(every_event_is_written_as_it_was_read) {
    size_t i;
    for (i = 0; i < TEXTS; i++) {
        begin();
        check_round_trip(texts[i], texts[i]);
        end();
    }
}

TEST(every_kind_is_among_them) {
    int kind;
    bool seen[64];
    size_t i;
    memset(seen, 0, sizeof seen);
    begin();
    for (i = 0; i < TEXTS; i++) {
        phi_event event;
        if (read_event(texts[i], &event)) seen[event.kind] = true;
    }
    for (kind = PHI_EV_AGENT_START; kind <= PHI_EV_REWRITE; kind++)
        if (!CHECK(seen[kind])) printf("%s\n", phi_event_name((phi_event_kind)kind));
    CHECK(seen[PHI_EV_PRUNED] && seen[PHI_EV_REVERTED] && seen[PHI_EV_OPAQUE]);
    CHECK(seen[PHI_EV_TURN_REQUEST] && seen[PHI_EV_PARALLEL_START] && seen[PHI_EV_PARALLEL_END]);
    end();
}

/* ---- what comes out ---- */

TEST(a_run_that_began_is_read_with_all_its_identity) {
    phi_event e;
    begin();
    if (read_event(texts[2], &e)) {
        CHECK_EQ_INT(e.kind, PHI_EV_AGENT_START);
        CHECK_EQ_INT(e.timestamp_ms, 1763700000120);
        CHECK_STR(e.loop_id, "s.m.1");
        CHECK_STR(e.loop->agent_id, "a");
        CHECK_STR(e.loop->session_id, "s");
        CHECK_STR(e.loop->loop_id, "s.m.1");
        CHECK_STR(e.loop->parent_loop_id, "s.m.0");
        CHECK_EQ_INT(e.loop->continuation, PHI_CONTINUATION_RERUN);
        CHECK_STR(e.loop->tag, "2026-01-01T00:00:00+00:00");
        CHECK_STR(e.loop->metadata, "\"words\"");
        CHECK_STR(e.loop->config, "");
    }
    if (read_event(texts[1], &e)) {
        CHECK_EQ_INT(e.loop->continuation, PHI_CONTINUATION_DEFAULT);
        CHECK_STR(e.loop->config, "{\"model\":\"m\",\"provider\":\"p\",\"config_id\":null,\"api\":"
                                  "\"open_ai_completions\",\"temperature\":0.2}");
    }
    end();
}

TEST(a_run_that_ended_is_read_with_its_messages) {
    phi_event e;
    begin();
    if (read_event(texts[5], &e)) {
        CHECK_EQ_INT(e.status, PHI_OK);
        CHECK_EQ_INT(e.message_count, 3);
        CHECK_EQ_INT(e.first_message, 0);
        CHECK_EQ_INT(e.messages[0].role, PHI_ROLE_USER);
        CHECK_STR(e.messages[0].loop_id, "s.m.1");
        CHECK_EQ_INT(e.messages[0].turn_index, 3);
        CHECK_EQ_INT(e.messages[1].usage.cache_write, 3);
        CHECK_EQ_INT(e.messages[2].role, PHI_ROLE_EXTENSION);
        CHECK_EQ_INT(e.usage->input, 10);
        CHECK_EQ_INT(e.rejection.len, 0);
    }
    if (read_event(texts[6], &e)) {
        CHECK_EQ_INT(e.status, PHI_REJECTED);
        CHECK_STR(e.rejection, "no secrets");
        CHECK_EQ_INT(e.message_count, 0);
    }
    end();
}

TEST(a_turn_that_ended_is_read_with_its_results) {
    phi_event e;
    begin();
    if (read_event(texts[11], &e)) {
        CHECK_EQ_INT(e.turn_index, 3);
        CHECK_EQ_INT(e.message->role, PHI_ROLE_ASSISTANT);
        CHECK_EQ_INT(e.message_count, 2);
        CHECK_STR(e.messages[1].tool_call_id, "c1");
        CHECK(e.messages[1].is_error);
    }
    end();
}

TEST(a_delta_is_read_with_the_block_that_it_is_of) {
    static const struct {
        phi_event_kind kind;
        const char *text, *partial;
        uint32_t block;
    } rows[] = {{PHI_EV_TEXT, "wo", "Two", 2},
                {PHI_EV_THINKING, "Hm", "Hm.", 0},
                {PHI_EV_TOOL_ARGUMENTS, "{\"x\"", "{\"x\":[1,2.5,\"\xc3\xa4\"]}", 3}};
    size_t i;
    begin();
    for (i = 0; i < 3; i++) {
        phi_event e;
        if (!read_event(texts[14 + i], &e)) continue;
        CHECK_EQ_INT(e.kind, rows[i].kind);
        CHECK_STR(e.text, rows[i].text);
        CHECK_STR(e.partial, rows[i].partial);
        CHECK_EQ_INT(e.block_index, rows[i].block);
        CHECK_EQ_INT(e.message->content_count, 4);
    }
    end();
}

TEST(a_tool_result_is_read_as_a_message) {
    phi_event e;
    begin();
    if (read_event(texts[23], &e)) {
        CHECK_STR(e.tool_name, "ask");
        CHECK(e.is_error);
        CHECK_STR(e.child_loop_id, "c.sub.1");
        CHECK_EQ_INT(e.message->role, PHI_ROLE_TOOL_RESULT);
        CHECK_STR(e.message->tool_call_id, "c1");
        CHECK_STR(e.message->tool_name, "ask");
        CHECK(e.message->is_error);
        CHECK_STR(e.message->content[0].text, "seven");
        CHECK_STR(e.message->details, "{\"turns\":3}");
    }
    if (read_event(texts[22], &e)) {
        CHECK_STR(e.text, "a\nb");
        CHECK_STR(e.message->details, "{\"sub_agent\":\"n\"}");
    }
    end();
}

TEST(a_failure_is_read_whole) {
    phi_event e;
    begin();
    if (read_event(texts[29], &e)) {
        CHECK_EQ_INT(e.kind, PHI_EV_ERROR);
        CHECK_EQ_INT(e.status, PHI_REFUSED);
        CHECK_EQ_INT(e.failure->kind, PHI_FAILURE_RATE_LIMITED);
        CHECK_EQ_INT(e.failure->http_status, 429);
        CHECK(e.failure->retryable && e.failure->has_retry_after);
        CHECK_EQ_INT(e.failure->retry_after_ms, 21000);
        CHECK_STR(e.failure->message, "Slow down");
        CHECK_STR(e.failure->code, "slow");
        CHECK_STR(e.failure->request_id, "r1");
    }
    if (read_event(texts[33], &e)) {
        CHECK_EQ_INT(e.attempt, 1);
        CHECK_EQ_INT(e.attempts, 3);
        CHECK_EQ_INT(e.delay_ms, 900);
        CHECK_STR(e.text, "Retry 1 of 3");
        CHECK_EQ_INT(e.status, PHI_REFUSED);
        CHECK_EQ_INT(e.failure->kind, PHI_FAILURE_RATE_LIMITED);
    }
    end();
}

TEST(compactions_decisions_and_drops_are_read_whole) {
    phi_event e;
    begin();
    if (read_event(texts[27], &e)) {
        CHECK_EQ_INT(e.compaction->estimated_tokens, 81000);
        CHECK_EQ_INT(e.compaction->message_count, 40);
    }
    if (read_event(texts[28], &e)) {
        CHECK_EQ_INT(e.compaction->messages_before, 40);
        CHECK_EQ_INT(e.compaction->messages_after, 12);
        CHECK_EQ_INT(e.compaction->tokens_before, 81000);
        CHECK_EQ_INT(e.compaction->tokens_after, 9000);
        CHECK_EQ_INT(e.compaction->loops_compacted, 2);
    }
    if (read_event(texts[34], &e)) {
        CHECK_EQ_INT(e.input, PHI_INPUT_FOLLOW_UP);
        CHECK_STR(e.text, "And then?");
        CHECK_STR(e.source, "the run was aborted");
    }
    if (read_event(texts[36], &e)) {
        CHECK_EQ_INT(e.point, PHI_HOOK_BEFORE_TOOL);
        CHECK_STR(e.tool_name, "ask");
        CHECK_STR(e.arguments, "{\"x\":1}");
    }
    if (read_event(texts[37], &e)) {
        CHECK_EQ_INT(e.point, PHI_HOOK_FILTER);
        CHECK_EQ_INT(e.arguments.len, 0);
        CHECK_STR(e.text, "Hello");
    }
    end();
}

TEST(members_of_a_part_are_read_whichever_of_its_events_has_them) {
    phi_event e;
    begin();
    if (read_event("{\"type\":\"CompactionEnded\"," LOOP
                   ",\"messages_before\":40,\"estimated_tokens\":7,\"message_count\":8," TIME "}",
                   &e)) {
        CHECK_EQ_INT(e.compaction->messages_before, 40);
        CHECK_EQ_INT(e.compaction->estimated_tokens, 7);
        CHECK_EQ_INT(e.compaction->message_count, 8);
    }
    if (read_event("{\"type\":\"ContextWarning\"," LOOP
                   ",\"tokens\":1,\"need_from\":5,\"need_to\":6," TIME "}",
                   &e)) {
        CHECK_EQ_INT(e.context->need_from, 5);
        CHECK_EQ_INT(e.context->need_to, 6);
    }
    if (read_event("{\"type\":\"ParallelLoopStart\",\"session_id\":\"s\",\"loop_ids\":[],"
                   "\"selected_loop_id\":\"x\",\"selected_config_index\":2," TIME "}",
                   &e)) {
        CHECK_STR(e.parallel->selected_loop_id, "x");
        CHECK_EQ_INT(e.parallel->selected_index, 2);
    }
    end();
}

TEST(every_hook_has_its_word) {
    static const struct {
        phi_hook_point point;
        const char *word;
    } rows[] = {{PHI_HOOK_BEFORE_LOOP, "before_loop"},
                {PHI_HOOK_BEFORE_TURN, "before_turn"},
                {PHI_HOOK_TRANSFORM_CONTEXT, "transform_context"},
                {PHI_HOOK_CONVERT_TO_LLM, "convert_to_llm"},
                {PHI_HOOK_BEFORE_COMPACTION, "before_compaction_start"},
                {PHI_HOOK_AFTER_COMPACTION, "after_compaction_end"},
                {PHI_HOOK_BEFORE_TOOL, "before_tool_execution"},
                {PHI_HOOK_AFTER_TOOL, "after_tool_execution"},
                {PHI_HOOK_BEFORE_TOOL_UPDATE, "before_tool_execution_update"},
                {PHI_HOOK_AFTER_TOOL_UPDATE, "after_tool_execution_update"},
                {PHI_HOOK_ON_ERROR, "on_error"},
                {PHI_HOOK_AFTER_TURN, "after_turn"},
                {PHI_HOOK_STEERING, "steering"},
                {PHI_HOOK_FOLLOW_UP, "follow_up"},
                {PHI_HOOK_AFTER_LOOP, "after_loop"},
                {PHI_HOOK_FILTER, "filter"}};
    size_t i;
    begin();
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        phi_event event, back;
        phi_str json;
        char want[64];
        memset(&event, 0, sizeof event);
        event.kind = PHI_EV_DECISION;
        event.point = (int)rows[i].point;
        CHECK_EQ_INT(phi_event_to_json(&event, &arena, &json), PHI_OK);
        (void)snprintf(want, sizeof want, "\"point\":\"%s\"", rows[i].word);
        CHECK(strstr(json.at, want) != NULL);
        CHECK_EQ_INT(phi_event_from_json(json, &arena, &back, NULL), PHI_OK);
        CHECK_EQ_INT(back.point, rows[i].point);
    }
    end();
}

/* ---- what others and older files write ---- */

TEST(older_and_other_forms_are_read) {
    begin();
    check_round_trip("{\"type\":\"AgentStart\",\"continuation_kind\":null}",
                     "{\"type\":\"AgentStart\",\"agent_id\":\"\",\"session_id\":\"\",\"loop_id\":"
                     "\"\",\"parent_loop_id\":null,\"continuation_kind\":\"Initial\","
                     "\"timestamp\":\"1970-01-01T00:00:00Z\",\"metadata\":null}");
    check_round_trip("{\"timestamp\":\"2025-11-21T04:40:00Z\",\"type\":\"TurnStart\","
                     "\"triggered_by\":\"FollowUp\",\"new_in_2030\":[1,{}]}",
                     "{\"type\":\"TurnStart\",\"loop_id\":\"\",\"turn_index\":0,\"timestamp\":"
                     "\"2025-11-21T04:40:00Z\",\"triggered_by\":\"Continuation\"}");
    check_round_trip("{\"type\":\"TurnStart\",\"timestamp\":\"2025-11-21T04:40:00.120999Z\"}",
                     "{\"type\":\"TurnStart\",\"loop_id\":\"\",\"turn_index\":0," TIME
                     ",\"triggered_by\":\"User\"}");
    check_round_trip("{\"type\":\"TurnStart\",\"timestamp\":\"2025-11-21T04:40:00.120000001Z\"}",
                     "{\"type\":\"TurnStart\",\"loop_id\":\"\",\"turn_index\":0," TIME
                     ",\"triggered_by\":\"User\"}");
    check_round_trip("{\"type\":\"AgentEnd\"," USAGE(1) "}",
                     "{\"type\":\"AgentEnd\",\"loop_id\":\"\",\"messages\":[]," USAGE(
                         1) ",\"timestamp\":\"1970-01-01T00:00:00Z\",\"rejection\":null}");
    check_round_trip("{\"type\":\"ToolExecutionEnd\",\"result\":{\"content\":[],\"child_loop_id\":"
                     "\"l\"}}",
                     "{\"type\":\"ToolExecutionEnd\",\"loop_id\":\"\",\"tool_call_id\":\"\","
                     "\"tool_name\":\"\",\"result\":{\"content\":[],\"details\":null,"
                     "\"child_loop_id\":\"l\"},\"is_error\":false,\"child_loop_id\":\"l\"}");
    check_round_trip("{\"type\":\"PrunApplied\",\"memo\":7,\"pruned_timestamps\":{\"a\":1}}",
                     "{\"type\":\"PrunApplied\",\"loop_id\":\"\",\"tokens_removed\":0,"
                     "\"messages_removed\":0,\"memo\":null,\"pruned_timestamps\":[],"
                     "\"timestamp\":\"1970-01-01T00:00:00Z\"}");
    check_round_trip(
        "{\"type\":\"RevertApplied\",\"abandoned_node_ids\":[1,\"n2\",\"x\",-1,null]}",
        "{\"type\":\"RevertApplied\",\"loop_id\":\"\",\"category\":\"\",\"target\":null,"
        "\"abandoned_node_ids\":[1,2],\"summary\":null,\"applied\":false,"
        "\"reason\":null,\"timestamp\":\"1970-01-01T00:00:00Z\"}");
    check_round_trip("{\"type\":\"Warning\",\"loop_id\":7,\"text\":{\"a\":1}}",
                     "{\"type\":\"Warning\",\"loop_id\":\"\",\"text\":\"\"}");
    end();
}

TEST(a_heartbeat_is_read_as_it_was_written) {
    begin();
    check_round_trip("{\"type\":\"ToolHeartbeat\",\"loop_id\":\"s.c.1\",\"tool_call_id\":\"c1\","
                     "\"tool_name\":\"dig\",\"elapsed_ms\":90000}",
                     "{\"type\":\"ToolHeartbeat\",\"loop_id\":\"s.c.1\",\"tool_call_id\":\"c1\","
                     "\"tool_name\":\"dig\",\"elapsed_ms\":90000}");
    end();
}

TEST(an_opaque_block_is_read_byte_for_byte) {
    phi_event event;
    begin();
    if (read_event("{\"type\":\"OpaqueBlock\",\"loop_id\":\"l\",\"block_index\":3,\"name\":\"x\","
                   "\"json\":\"{ \\\"n\\\": 1.0}\"}",
                   &event)) {
        CHECK_EQ_INT(event.kind, PHI_EV_OPAQUE);
        CHECK_EQ_INT(event.block_index, 3);
        CHECK_STR(event.source, "x");
        CHECK_STR(event.text, "{ \"n\": 1.0}");
    }
    end();
}

TEST(both_spellings_of_a_protocol_are_read) {
    static const struct {
        const char *written, *want;
    } rows[] = {{"open_ai_completions", "openai_completions"},
                {"openai_completions", "openai_completions"},
                {"open_ai_responses", "openai_responses"},
                {"azure_open_ai_responses", "azure_openai_responses"},
                {"anthropic_messages", "anthropic_messages"},
                {"google_vertex", "google_vertex"}};
    size_t i;
    begin();
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[300];
        phi_event e;
        (void)snprintf(text, sizeof text,
                       "{\"type\":\"MessageEnd\",\"message\":{\"role\":\"assistant\",\"content\":"
                       "[],\"api\":\"%s\"}}",
                       rows[i].written);
        if (read_event(text, &e)) CHECK_STR(e.message->protocol, rows[i].want);
    }
    end();
}

TEST(a_revert_s_node_ids_are_numbers_in_json_as_in_the_original_and_names_in_the_event) {
    static const char ours[] = "{\"type\":\"RevertApplied\",\"target\":\"n12\","
                               "\"abandoned_node_ids\":[\"n13\",\"14\"]}";
    static const char theirs[] = "{\"type\":\"RevertApplied\",\"target\":12,"
                                 "\"abandoned_node_ids\":[13,18446744073709551615]}";
    phi_event e;
    begin();
    if (read_event(theirs, &e)) {
        CHECK_STR(e.reverted->target, "n12");
        REQUIRE(CHECK_EQ_INT(e.reverted->abandoned_count, 2));
        CHECK_STR(e.reverted->abandoned[0], "n13");
        CHECK_STR(e.reverted->abandoned[1], "n18446744073709551615");
    }
    check_round_trip(ours, /* as files of ours had them once */
                     "{\"type\":\"RevertApplied\",\"loop_id\":\"\",\"category\":\"\",\"target\":12,"
                     "\"abandoned_node_ids\":[13,14],\"summary\":null,\"applied\":false,"
                     "\"reason\":null,\"timestamp\":\"1970-01-01T00:00:00Z\"}");
    end();
}

TEST(a_protocol_that_the_original_does_not_have_is_left_out_of_the_snapshot) {
    static const char *const apis[][2] = {
        {",\"api\":\"mock\"", ""},
        {",\"api\":7", ""},
        {"", ""},
        {",\"api\":\"openai_responses\"", ",\"api\":\"open_ai_responses\""},
        {",\"api\":\"azure_open_ai_responses\"", ",\"api\":\"azure_open_ai_responses\""}};
    size_t i;
    begin();
    for (i = 0; i < sizeof apis / sizeof apis[0]; i++) {
        char from[500], to[500];
        static const char form[] = "{\"type\":\"AgentStart\",\"agent_id\":\"a\",\"session_id\":"
                                   "\"s\",\"loop_id\":\"s.m.1\","
                                   "\"parent_loop_id\":null,\"continuation_kind\":\"Initial\"," TIME
                                   ",\"metadata\":null,\"config_snapshot\":{\"model\":\"m\"%s}}";
        (void)snprintf(from, sizeof from, form, apis[i][0]);
        (void)snprintf(to, sizeof to, form, apis[i][1]);
        check_round_trip(from, to);
    }
    end();
}

TEST(an_empty_rejection_is_one_and_a_skipped_call_has_no_arguments) {
    static const char *const lines[] = {
        "{\"type\":\"AgentEnd\"," LOOP ",\"messages\":[]," USAGE(1) "," TIME ",\"rejection\":\"\"}",
        "{\"type\":\"AgentEnd\"," LOOP ",\"messages\":[]," USAGE(1) "," TIME ",\"rejection\":null}",
        "{\"type\":\"ToolExecutionStart\"," TOOL ",\"args\":null}",
        "{\"type\":\"ToolExecutionStart\"," TOOL ",\"args\":\"\"}",
        "{\"type\":\"ToolExecutionStart\"," TOOL ",\"args\":{}}"};
    phi_event e;
    size_t i;
    begin();
    for (i = 0; i < sizeof lines / sizeof lines[0]; i++) check_round_trip(lines[i], lines[i]);
    if (read_event(lines[0], &e)) CHECK_EQ_INT(e.status, PHI_REJECTED);
    if (read_event(lines[1], &e)) CHECK_EQ_INT(e.status, PHI_OK);
    if (read_event(lines[2], &e)) CHECK(e.arguments.at == NULL);
    end();
}

TEST(types_of_later_work_are_unsupported_and_named) {
    begin();
    check_refused("{\"type\":\"LaterWork\",\"session_id\":\"s\",\"loop_ids\":[]}", PHI_UNSUPPORTED,
                  "type \"LaterWork\": no event that is known here");
    check_refused("{\"type\":\"TextDelta\"}", PHI_UNSUPPORTED,
                  "type \"TextDelta\": no event that is known here");
    check_refused("{\"type\":\"\"}", PHI_UNSUPPORTED, "type \"\": no event that is known here");
    end();
}

TEST(what_is_no_event_is_refused_with_words) {
    begin();
    check_refused("[]", PHI_PARSE, "expected an object: an event");
    check_refused("{}", PHI_PARSE, "type: expected a string, such as \"TurnStart\"");
    check_refused("{\"type\":7}", PHI_PARSE, "type: expected a string, such as \"TurnStart\"");
    check_refused("{\"type\":\"MessageEnd\"}", PHI_PARSE, "message: expected an object: a message");
    check_refused("{\"type\":\"TurnEnd\",\"message\":{\"role\":\"user\"}}", PHI_PARSE,
                  "message: content: expected an array of blocks");
    check_refused("{\"type\":\"AgentEnd\",\"messages\":[" USER ",7]}", PHI_PARSE,
                  "messages[1]: expected an object: a message");
    check_refused("{\"type\":\"TurnEnd\",\"tool_results\":{}}", PHI_PARSE,
                  "tool_results: expected an array of messages");
    check_refused("{\"type\":\"ToolExecutionEnd\",\"result\":{\"content\":[7]}}", PHI_PARSE,
                  "result: content: expected blocks of type text, image, thinking or toolCall");
    check_refused("{\"type\":\"MessageUpdate\",\"message\":" ANSWER ",\"delta\":{\"Audio\":{}}}",
                  PHI_PARSE, "delta: expected Text, Thinking or ToolCallDelta");
    end();
}

TEST(what_is_refused_leaves_the_arena_as_it_was) {
    phi_event event;
    size_t before;
    begin();
    (void)phi_arena_alloc(&arena, 10);
    before = test_alloc_live_bytes();
    CHECK_EQ_INT(phi_event_from_json(
                     phi_str_of("{\"type\":\"AgentEnd\",\"messages\":[" USER "," ANSWER ",7]}"),
                     &arena, &event, NULL),
                 PHI_PARSE);
    CHECK_EQ_INT(test_alloc_live_bytes(), before);
    CHECK_EQ_INT(phi_event_from_json(phi_str_of("{}"), NULL, &event, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_event_from_json(phi_str_of("{}"), &arena, NULL, NULL), PHI_BAD_ARG);
    end();
}

/* ---- writing what a host made ---- */

TEST(what_a_host_made_is_written_too) {
    phi_event event;
    phi_str json;
    int kind;
    begin();
    for (kind = PHI_EV_AGENT_START; kind <= PHI_EV_PARALLEL_END; kind++) {
        memset(&event, 0, sizeof event);
        event.kind = (phi_event_kind)kind;
        CHECK_EQ_INT(phi_event_to_json(&event, &arena, &json), PHI_OK);
    }
    memset(&event, 0, sizeof event);
    CHECK_EQ_INT(phi_event_to_json(&event, &arena, &json), PHI_BAD_ARG);
    event.kind = PHI_EV_WARNING;
    CHECK_EQ_INT(phi_event_to_json(NULL, &arena, &json), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_event_to_json(&event, NULL, &json), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_event_to_json(&event, &arena, NULL), PHI_BAD_ARG);
    end();
}

/* Writes, reads and writes again; both must be `want`. */
static void check_stable(const phi_event *event, const char *want) {
    phi_event back;
    phi_str json = {NULL, 0}, again = {NULL, 0};
    CHECK_EQ_INT(phi_event_to_json(event, &arena, &json), PHI_OK);
    CHECK_STR(json, want);
    CHECK_EQ_INT(phi_event_from_json(json, &arena, &back, NULL), PHI_OK);
    CHECK_EQ_INT(phi_event_to_json(&back, &arena, &again), PHI_OK);
    CHECK_STR(again, want);
}

TEST(arguments_are_one_line_and_the_same_each_time) {
    static const struct {
        const char *arguments, *want;
    } rows[] = {{"{\"a\": [1,\n 2.50, 1e3, -0]}\r\n", "{\"a\":[1,2.5,1000.0,-0.0]}"},
                {"{\"u\":\"\\u00e4\\/\"}", "{\"u\":\"\xc3\xa4/\"}"},
                {"", "{}"},
                {"null", "null"},
                {"\"text\"", "\"\\\"text\\\"\""},
                {"{\"cut", "\"{\\\"cut\""},
                {"{\"bad\":\"\xff\"}", "{\"bad\":\"\xef\xbf\xbd\"}"},
                {"no\xff", "\"no\xef\xbf\xbd\""}};
    size_t i;
    begin();
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        phi_event event;
        char want[200];
        memset(&event, 0, sizeof event);
        event.kind = PHI_EV_TOOL_START;
        event.arguments = phi_str_of(rows[i].arguments);
        (void)snprintf(want, sizeof want,
                       "{\"type\":\"ToolExecutionStart\",\"loop_id\":\"\",\"tool_call_id\":\"\","
                       "\"tool_name\":\"\",\"args\":%s}",
                       rows[i].want);
        check_stable(&event, want);
    }
    end();
}

TEST(metadata_and_details_that_are_no_json_are_strings) {
    phi_event event;
    phi_loop_info loop;
    phi_message result;
    begin();
    memset(&event, 0, sizeof event);
    memset(&loop, 0, sizeof loop);
    memset(&result, 0, sizeof result);
    event.kind = PHI_EV_AGENT_START;
    event.loop = &loop;
    loop.metadata = phi_str_of("not json");
    check_stable(&event, "{\"type\":\"AgentStart\",\"agent_id\":\"\",\"session_id\":\"\","
                         "\"loop_id\":\"\",\"parent_loop_id\":null,\"continuation_kind\":"
                         "\"Initial\",\"timestamp\":\"1970-01-01T00:00:00Z\",\"metadata\":"
                         "\"not json\"}");
    event.kind = PHI_EV_TOOL_END;
    event.message = &result;
    result.role = PHI_ROLE_TOOL_RESULT;
    result.details = phi_str_of("{\"cut");
    check_stable(&event, "{\"type\":\"ToolExecutionEnd\",\"loop_id\":\"\",\"tool_call_id\":\"\","
                         "\"tool_name\":\"\",\"result\":{\"content\":[],\"details\":\"{\\\"cut\"},"
                         "\"is_error\":false,\"child_loop_id\":null}");
    end();
}

TEST(results_of_a_turn_are_written_without_the_turn) {
    phi_event event;
    phi_message results[2];
    begin();
    memset(&event, 0, sizeof event);
    memset(results, 0, sizeof results);
    event.kind = PHI_EV_TURN_END;
    event.messages = results;
    event.message_count = 1;
    results[0].role = PHI_ROLE_TOOL_RESULT;
    results[0].loop_id = phi_str_of("s.m.1");
    check_stable(&event,
                 "{\"type\":\"TurnEnd\",\"loop_id\":\"\",\"message\":null,\"usage\":{\"input\":0,"
                 "\"output\":0,\"reasoning\":0,\"cache_read\":0,\"cache_write\":0,"
                 "\"total_tokens\":0},\"timestamp\":\"1970-01-01T00:00:00Z\",\"tool_results\":[{"
                 "\"role\":\"toolResult\",\"toolCallId\":\"\",\"toolName\":\"\",\"content\":[],"
                 "\"isError\":false,\"timestamp\":0}]}");
    end();
}

/* Arguments may be nested as deeply as a reader allows alone, which is too deep inside of an event. */
TEST(arguments_nested_too_deeply_for_an_event_are_kept_as_text) {
    static char deep[1001];
    phi_event event, back;
    phi_str json;
    size_t depth;
    begin();
    for (depth = 440; depth <= 500; depth += 4) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        deep[2 * depth] = '\0';
        memset(&event, 0, sizeof event);
        event.kind = PHI_EV_TOOL_START;
        event.arguments = phi_str_of(deep);
        CHECK_EQ_INT(phi_event_to_json(&event, &arena, &json), PHI_OK);
        if (CHECK_EQ_INT(phi_event_from_json(json, &arena, &back, NULL), PHI_OK))
            CHECK_STR(back.arguments, deep);
    }
    end();
}

/* ---- garbage ---- */

/* Reads what may be anything. What was read is written, and read again to the same text. */
static bool survives(const char *text, size_t len) {
    phi_arena_mark mark = phi_arena_save(&arena);
    phi_event event, back;
    phi_str json = {NULL, 0}, again = {NULL, 0};
    phi_parse_error error;
    phi_status status;
    char *copy = (char *)malloc(len > 0 ? len : 1); /* exact, for the address sanitizer */
    bool ok = true;
    phi_str s;
    memcpy(copy, text, len);
    s.at = copy;
    s.len = len;
    status = phi_event_from_json(s, &arena, &event, &error);
    free(copy);
    if (status == PHI_OK)
        ok = phi_event_to_json(&event, &arena, &json) == PHI_OK &&
             phi_event_from_json(json, &arena, &back, NULL) == PHI_OK &&
             phi_event_to_json(&back, &arena, &again) == PHI_OK && phi_str_equal(json, again);
    else
        ok = (status == PHI_PARSE || status == PHI_UNSUPPORTED) && error.message[0] != '\0';
    if (!ok) printf("%.*s\n%.*s\n", (int)json.len, json.at, (int)again.len, again.at);
    phi_arena_reset(&arena, mark);
    return ok;
}

TEST(a_text_that_is_cut_anywhere_is_refused) {
    size_t i, cut;
    begin();
    for (i = 0; i < TEXTS; i++)
        for (cut = 0; cut < strlen(texts[i]); cut++) {
            phi_event event;
            phi_str s = phi_str_of(texts[i]);
            s.len = cut;
            if (phi_event_from_json(s, &arena, &event, NULL) != PHI_PARSE || !survives(s.at, cut))
                CHECK_EQ_STR(texts[i], "");
        }
    end();
}

TEST(a_text_with_any_byte_changed_does_no_harm) {
    static const char bytes[] = "\"\\{}[]:,0-n \x01\xff";
    static char text[8000];
    uint32_t state = 7;
    size_t i, at, b;
    begin();
    for (i = 0; i < TEXTS; i++) {
        size_t len = strlen(texts[i]);
        if (!CHECK(len < sizeof text)) continue;
        memcpy(text, texts[i], len);
        for (at = 0; at < len; at++) {
            for (b = 0; b < 3; b++) {
                uint32_t random = test_random(&state);
                if (b == 0)
                    text[at] = bytes[random % (sizeof bytes - 1)];
                else
                    text[at] = (char)(b == 1 ? (uint32_t)texts[i][at] ^ 1u << random % 8 : random);
                if (!CHECK(survives(text, len))) return;
            }
            text[at] = texts[i][at];
        }
    }
    end();
}

/* Where a value of the text begins, from `at`: behind a colon, a bracket or a comma outside of strings. */
static size_t value_end(const char *text, size_t at) {
    int depth = 0;
    bool in_string = false;
    for (; text[at] != '\0'; at++) {
        if (in_string) {
            if (text[at] == '\\')
                at++;
            else if (text[at] == '"')
                in_string = false;
        } else if (text[at] == '"')
            in_string = true;
        else if (text[at] == '{' || text[at] == '[')
            depth++;
        else if (text[at] == '}' || text[at] == ']' || text[at] == ',') {
            if (depth == 0) break;
            if (text[at] != ',') depth--;
        }
    }
    return at;
}

TEST(a_value_of_any_other_type_does_no_harm) {
    static const char *const others[] = {"null",
                                         "true",
                                         "-1",
                                         "1e300",
                                         "18446744073709551615",
                                         "4294967296",
                                         "\"x\"",
                                         "\"\\u0000\"",
                                         "[]",
                                         "{}",
                                         "[[{}]]",
                                         "[null]",
                                         "{\"a\":{}}",
                                         "{\"Rerun\":7}",
                                         "[\"text\"]",
                                         "-0.5",
                                         "{\"content\":[{}]}"};
    static char text[8000];
    size_t i, at, k;
    begin();
    for (i = 0; i < TEXTS; i++)
        for (at = 0; texts[i][at] != '\0'; at++) {
            size_t to;
            if (texts[i][at] != ':' || texts[i][at - 1] != '"') continue;
            to = value_end(texts[i], at + 1);
            for (k = 0; k < sizeof others / sizeof others[0]; k++) {
                int n = snprintf(text, sizeof text, "%.*s%s%s", (int)at + 1, texts[i], others[k],
                                 texts[i] + to);
                if (!CHECK(n > 0 && survives(text, (size_t)n))) return;
            }
        }
    end();
}

TEST(deep_nesting_does_no_harm) {
    static const char *const heads[] = {
        "",
        "{\"type\":\"ToolExecutionStart\",\"args\":",
        "{\"type\":\"AgentStart\",\"metadata\":",
        "{\"type\":\"AgentStart\",\"continuation_kind\":",
        "{\"type\":\"AgentEnd\",\"messages\":",
        "{\"type\":\"MessageUpdate\",\"delta\":",
        "{\"type\":\"ToolExecutionEnd\",\"result\":{\"content\":[],\"details\":"};
    static const size_t depths[] = {100, 447, 448, 449, 505, 511, 512, 20000};
    static char text[60000];
    size_t i, d;
    begin();
    for (i = 0; i < sizeof heads / sizeof heads[0]; i++)
        for (d = 0; d < sizeof depths / sizeof depths[0]; d++) {
            size_t len = strlen(heads[i]);
            memcpy(text, heads[i], len);
            memset(text + len, '[', depths[d]);
            len += depths[d];
            CHECK(survives(text, len));
            memset(text + len, ']', depths[d]);
            len += depths[d];
            memcpy(text + len, i == 6 ? "}}" : "}", i == 6 ? 2 : 1);
            CHECK(survives(text, len + (i == 6 ? 2 : i > 0)));
        }
    end();
}

/* ---- memory ---- */

static phi_status read_and_write(const char *text, phi_str *json) {
    phi_event event;
    phi_status status = phi_event_from_json(phi_str_of(text), &arena, &event, NULL);
    return status == PHI_OK ? phi_event_to_json(&event, &arena, json) : status;
}

TEST(every_failed_allocation_is_no_memory) {
    size_t i;
    for (i = 0; i < TEXTS; i++) {
        phi_status status;
        int n = 0;
        do {
            phi_str json = {NULL, 0};
            begin();
            arena.first_block_bytes = arena.next_block_bytes = 64;
            test_alloc_fail_at(n++);
            status = read_and_write(texts[i], &json);
            if (!CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK))
                printf("%d: %s\n", n, texts[i]);
            test_alloc_fail_at(-1);
            if (status == PHI_OK) CHECK_STR(json, texts[i]);
            end();
        } while (status == PHI_NO_MEMORY && n < 500);
        CHECK_EQ_INT(status, PHI_OK);
        CHECK(n > 3);
    }
}

TEST_MAIN(
    TEST_ENTRY(every_event_is_written_as_it_was_read), TEST_ENTRY(every_kind_is_among_them),
    TEST_ENTRY(a_run_that_began_is_read_with_all_its_identity),
    TEST_ENTRY(a_run_that_ended_is_read_with_its_messages),
    TEST_ENTRY(a_turn_that_ended_is_read_with_its_results),
    TEST_ENTRY(a_delta_is_read_with_the_block_that_it_is_of),
    TEST_ENTRY(a_tool_result_is_read_as_a_message), TEST_ENTRY(a_failure_is_read_whole),
    TEST_ENTRY(compactions_decisions_and_drops_are_read_whole),
    TEST_ENTRY(members_of_a_part_are_read_whichever_of_its_events_has_them),
    TEST_ENTRY(every_hook_has_its_word), TEST_ENTRY(older_and_other_forms_are_read),
    TEST_ENTRY(a_heartbeat_is_read_as_it_was_written),
    TEST_ENTRY(an_opaque_block_is_read_byte_for_byte),
    TEST_ENTRY(both_spellings_of_a_protocol_are_read),
    TEST_ENTRY(a_revert_s_node_ids_are_numbers_in_json_as_in_the_original_and_names_in_the_event),
    TEST_ENTRY(a_protocol_that_the_original_does_not_have_is_left_out_of_the_snapshot),
    TEST_ENTRY(an_empty_rejection_is_one_and_a_skipped_call_has_no_arguments),
    TEST_ENTRY(types_of_later_work_are_unsupported_and_named),
    TEST_ENTRY(what_is_no_event_is_refused_with_words),
    TEST_ENTRY(what_is_refused_leaves_the_arena_as_it_was),
    TEST_ENTRY(what_a_host_made_is_written_too),
    TEST_ENTRY(arguments_are_one_line_and_the_same_each_time),
    TEST_ENTRY(metadata_and_details_that_are_no_json_are_strings),
    TEST_ENTRY(results_of_a_turn_are_written_without_the_turn),
    TEST_ENTRY(arguments_nested_too_deeply_for_an_event_are_kept_as_text),
    TEST_ENTRY(a_text_that_is_cut_anywhere_is_refused),
    TEST_ENTRY(a_text_with_any_byte_changed_does_no_harm),
    TEST_ENTRY(a_value_of_any_other_type_does_no_harm), TEST_ENTRY(deep_nesting_does_no_harm),
    TEST_ENTRY(every_failed_allocation_is_no_memory))
