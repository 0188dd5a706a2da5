/* event_json.c - writes events as JSON in the interchange format ("AgentEvent"), and reads them.

   An event of an existing agent lacks the run's messages and settings, and the writer takes these
   from the agent. An event read from JSON holds everything. Facts that other programs do not know
   (a failure's kind and HTTP status, decisions, pauses) use types that only phi has.

   The reader is lenient: a field that is missing or has a wrong type counts as absent, and unknown
   keys are ignored. But it rejects an event with an invalid message. All data of a read event is in
   the caller's arena. */
#include "agent/agent.h"
#include "agent/agent_in.h"
#include "base/base_in.h"
#include "log/compact.h"
#include "log/log_in.h"
#include "io/io_in.h"
#include "loop/tool.h"
#include "model/event_parts.h"
#include "model/failure.h"
#include "model/model_in.h"
#include "record/event_in.h"
#include "record/event_json.h"
#include "text/text_in.h"

#include <stdio.h>

/* ---- names ---- */

PHI__FN const char *phi__event_trigger(phi_trigger trigger) {
    static const char *const names[] = {"User", "User", "SubAgent", "Continuation", "Branch"};
    return names[(size_t)trigger < PHI__COUNT(names) ? (size_t)trigger : 0];
}

PHI__FN phi_trigger phi__event_get_trigger(const phi_json *node) {
    phi_str name = phi__records_get_str(node, "triggered_by");
    for (int i = PHI_TRIGGER_USER; i <= PHI_TRIGGER_BRANCH; i++)
        if (phi__str_is(name, phi__event_trigger((phi_trigger)i))) return (phi_trigger)i;
    /* older files use FollowUp */
    return phi__str_is(name, "FollowUp") ? PHI_TRIGGER_CONTINUATION : PHI_TRIGGER_USER;
}

static const char *phi__event_point(int point) {
    static const char *const names[] = {"before_loop",
                                        "before_turn",
                                        "transform_context",
                                        "convert_to_llm",
                                        "before_compaction_start",
                                        "after_compaction_end",
                                        "before_tool_execution",
                                        "after_tool_execution",
                                        "before_tool_execution_update",
                                        "after_tool_execution_update",
                                        "on_error",
                                        "after_turn",
                                        "steering",
                                        "follow_up",
                                        "after_loop",
                                        "filter",
                                        "credential",
                                        "question"};
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (point == 1 << i) return names[i];
    return "";
}

static const char *phi__event_input(phi_input input) {
    static const char *const names[] = {"", "prompt", "steering", "follow_up", "injected"};
    return names[(size_t)input < PHI__COUNT(names) ? (size_t)input : 0];
}

/* Returns the name that tells deltas apart. Events of all deltas have the type MessageUpdate. */
static const char *phi__event_delta(phi_event_kind kind) {
    if (kind == PHI_EV_TEXT) return "Text";
    return kind == PHI_EV_THINKING ? "Thinking" : "ToolCallDelta";
}

static bool phi__event_is_delta(phi_event_kind kind) {
    return kind == PHI_EV_TEXT || kind == PHI_EV_THINKING || kind == PHI_EV_TOOL_ARGUMENTS;
}

static const char *phi__event_type(phi_event_kind kind) {
    return phi__event_is_delta(kind) ? "MessageUpdate" : phi_event_name(kind);
}

PHI__FN void phi__event_put_continuation(phi__buf *out, phi_continuation kind, phi_str tag) {
    phi__json_write_key(out, PHI__LIT("continuation_kind"));
    switch (kind) {
    case PHI_CONTINUATION_DEFAULT: phi__buf_text(out, "\"Default\""); break;
    case PHI_CONTINUATION_COMPACTION: phi__buf_text(out, "\"Compaction\""); break;
    case PHI_CONTINUATION_INITIAL: phi__buf_text(out, "\"Initial\""); break;
    case PHI_CONTINUATION_RERUN:
    case PHI_CONTINUATION_BRANCH:
        phi__buf_char(out, '{');
        phi__records_raw(out, kind == PHI_CONTINUATION_RERUN ? "Rerun" : "Branch", "{");
        phi__records_str(out, "tag", tag);
        phi__buf_text(out, "}}");
        break;
    }
}

PHI__FN phi_continuation phi__event_get_continuation(const phi_json *node, phi_str *tag) {
    const phi_json *kind = phi_json_get(node, "continuation_kind");
    const phi_json *rerun = phi_json_get(kind, "Rerun"), *branch = phi_json_get(kind, "Branch");
    phi_str name = phi_json_str(kind, "");
    *tag = phi__records_get_str(branch != NULL ? branch : rerun, "tag");
    if (branch != NULL) return PHI_CONTINUATION_BRANCH;
    if (rerun != NULL) return PHI_CONTINUATION_RERUN;
    if (phi__str_is(name, "Compaction")) return PHI_CONTINUATION_COMPACTION;
    return phi__str_is(name, "Default") ? PHI_CONTINUATION_DEFAULT : PHI_CONTINUATION_INITIAL;
}

/* How a member is written and read: a value of this enum, or a phi__field_kind. */
enum phi__event_how {
    PHI__FIELD_STATUS = PHI__FIELD_TIME + 1,
    PHI__FIELD_JSON,  /* the event's text is JSON; null if empty */
    PHI__FIELD_USAGE, /* with SET, not written if there is no usage */
    PHI__FIELD_TRIGGER,
    PHI__FIELD_POINT,
    PHI__FIELD_INPUT,
    PHI__FIELD_TOOL,     /* tool_call_id and tool_name; with SET, not written if both are empty */
    PHI__FIELD_QUESTION, /* a string that only questions have */
    PHI__FIELD_ARGS,
    PHI__FIELD_MESSAGE,  /* with ALWAYS, the reader rejects an event without a message */
    PHI__FIELD_MESSAGES, /* messages of a run */
    PHI__FIELD_RESULTS,  /* tool results of a turn */
    PHI__FIELD_RESULT,   /* tool result of a call, as the Rust original writes it */
    /* child_loop_id; if it is missing, the reader takes the child_loop_id in the result. */
    PHI__FIELD_CHILD,
    PHI__FIELD_DELTA,
    PHI__FIELD_START, /* all members of AGENT_START */
    PHI__FIELD_REJECTION,
    PHI__FIELD_FAILURE, /* all members of a phi_failure and the status */
    PHI__FIELD_TIMES,   /* phi_pruned */
    PHI__FIELD_NODE,    /* phi_reverted; node ids are numbers in JSON */
    PHI__FIELD_NODES,
    PHI__FIELD_LOOPS, /* phi_parallel */
    PHI__FIELD_TOTAL,
    PHI__FIELD_SCORE /* phi_strategy_progress */
};

typedef struct phi__event_row {
    phi__field field; /* a member of the event or of its part */
    /* Offset of the event's pointer to the part, and the part's size. 0 for the event itself. */
    uint16_t part, size;
    uint8_t kind; /* kind of the event; TEXT means all deltas */
} phi__event_row;

#define PHI__EVENT(event, member, key, how, rule)                                                  \
    {                                                                                              \
        PHI__FIELD(phi_event, member, key, PHI__FIELD_##how, PHI__FIELD_##rule), 0, 0,             \
            PHI_EV_##event                                                                         \
    }
#define PHI__EVENT_PART(event, part, member, key, how, rule)                                       \
    PHI__EVENT_PART_OF(event, phi_##part, part, member, key, how, rule)
#define PHI__EVENT_PART_OF(event, type, part, member, key, how, rule)                              \
    {                                                                                              \
        PHI__FIELD(type, member, key, PHI__FIELD_##how, PHI__FIELD_##rule),                        \
            (uint16_t)offsetof(phi_event, part), (uint16_t)sizeof(type), PHI_EV_##event            \
    }

static const phi__event_row phi__event_rows[] = {
    PHI__EVENT(AGENT_START, loop, "", START, ALWAYS),
    PHI__EVENT(AGENT_END, messages, "messages", MESSAGES, ALWAYS),
    PHI__EVENT(AGENT_END, usage, "usage", USAGE, ALWAYS),
    PHI__EVENT(AGENT_END, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT(AGENT_END, rejection, "rejection", REJECTION, ALWAYS),
    PHI__EVENT(AGENT_END, source, "abort_reason", STR, SET),
    PHI__EVENT(TURN_START, turn_index, "turn_index", UINT, ALWAYS),
    PHI__EVENT(TURN_START, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT(TURN_START, trigger, "triggered_by", TRIGGER, ALWAYS),
    PHI__EVENT(TURN_REQUEST, turn_index, "turn_index", UINT, ALWAYS),
    PHI__EVENT(TURN_REQUEST, text, "payload", JSON, ALWAYS),
    PHI__EVENT(TURN_REQUEST, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT(TURN_END, message, "message", MESSAGE, OPTION),
    PHI__EVENT(TURN_END, usage, "usage", USAGE, ALWAYS),
    PHI__EVENT(TURN_END, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT(TURN_END, messages, "tool_results", RESULTS, ALWAYS),
    PHI__EVENT(MESSAGE_START, message, "message", MESSAGE, ALWAYS),
    PHI__EVENT(MESSAGE_END, message, "message", MESSAGE, ALWAYS),
    PHI__EVENT(RETRACT, message, "message", MESSAGE, OPTION),
    PHI__EVENT(TEXT, message, "message", MESSAGE, ALWAYS),
    PHI__EVENT(TEXT, text, "delta", DELTA, ALWAYS),
    PHI__EVENT(TOOL_START, tool_call_id, "", TOOL, ALWAYS),
    PHI__EVENT(TOOL_START, arguments, "args", ARGS, ALWAYS),
    PHI__EVENT(TOOL_UPDATE, tool_call_id, "", TOOL, ALWAYS),
    PHI__EVENT(TOOL_UPDATE, message, "partial_result", RESULT, ALWAYS),
    PHI__EVENT(TOOL_PROGRESS, tool_call_id, "", TOOL, ALWAYS),
    PHI__EVENT(TOOL_PROGRESS, text, "text", STR, ALWAYS),
    PHI__EVENT(TOOL_HEARTBEAT, tool_call_id, "", TOOL, ALWAYS),
    PHI__EVENT(TOOL_HEARTBEAT, elapsed_ms, "elapsed_ms", UINT, ALWAYS),
    PHI__EVENT(TOOL_END, tool_call_id, "", TOOL, ALWAYS),
    PHI__EVENT(TOOL_END, message, "result", RESULT, SET),
    PHI__EVENT(TOOL_END, is_error, "is_error", BOOL, ALWAYS),
    PHI__EVENT(TOOL_END, child_loop_id, "child_loop_id", CHILD, ALWAYS),
    PHI__EVENT(TOOL_STATE, text, "state", JSON, ALWAYS),
    PHI__EVENT(EFFECT, tool_call_id, "", TOOL, ALWAYS),
    PHI__EVENT(EFFECT, source, "name", STR, ALWAYS),
    PHI__EVENT(EFFECT, text, "value", JSON, ALWAYS),
    PHI__EVENT(SUBAGENT_END, tool_name, "tool_name", STR, ALWAYS),
    PHI__EVENT(SUBAGENT_END, source, "id", STR, ALWAYS),
    PHI__EVENT(SUBAGENT_END, text, "text", STR, ALWAYS),
    PHI__EVENT(SUBAGENT_END, status, "status", STATUS, ALWAYS),
    PHI__EVENT(SUBAGENT_END, is_error, "is_error", BOOL, ALWAYS),
    PHI__EVENT(SUBAGENT_END, child_loop_id, "child_loop_id", STR, ALWAYS),
    PHI__EVENT(SUBAGENT_END, usage, "usage", USAGE, SET),
    PHI__EVENT(ERROR, failure, "", FAILURE, ALWAYS),
    PHI__EVENT(ERROR, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT(RETRY, attempt, "attempt", UINT, ALWAYS),
    PHI__EVENT(RETRY, attempts, "attempts", UINT, ALWAYS),
    PHI__EVENT(RETRY, delay_ms, "delay_ms", UINT, ALWAYS),
    PHI__EVENT(RETRY, failure, "", FAILURE, ALWAYS), PHI__EVENT(RETRY, text, "text", STR, ALWAYS),
    PHI__EVENT(RETRY, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT(FAILOVER, source, "from", STR, ALWAYS),
    PHI__EVENT(FAILOVER, text, "to", STR, ALWAYS),
    PHI__EVENT(FAILOVER, attempt, "switch", UINT, ALWAYS),
    PHI__EVENT(FAILOVER, attempts, "most_switches", UINT, ALWAYS),
    PHI__EVENT(FAILOVER, failure, "", FAILURE, ALWAYS),
    PHI__EVENT(FAILOVER, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT(INPUT_REJECTED, text, "reason", STR, ALWAYS),
    PHI__EVENT(INPUT_DROPPED, input, "input", INPUT, OPTION),
    PHI__EVENT(INPUT_DROPPED, text, "text", STR, ALWAYS),
    PHI__EVENT(INPUT_DROPPED, source, "reason", STR, ALWAYS),
    PHI__EVENT(PAUSED, text, "reason", STR, ALWAYS),
    PHI__EVENT(DECISION, point, "point", POINT, ALWAYS),
    PHI__EVENT(DECISION, tool_call_id, "tool_call_id", STR, OPTION),
    PHI__EVENT(DECISION, tool_name, "tool_name", STR, OPTION),
    PHI__EVENT(DECISION, arguments, "args", ARGS, ALWAYS),
    PHI__EVENT(DECISION, text, "text", STR, ALWAYS),
    PHI__EVENT(DECISION, source, "source", QUESTION, ALWAYS),
    PHI__EVENT(DECISION, question_kind, "question_kind", QUESTION, ALWAYS),
    PHI__EVENT(DECISION, input, "input", INPUT, SET),
    PHI__EVENT(WARNING, tool_call_id, "", TOOL, SET),
    PHI__EVENT(WARNING, text, "text", STR, ALWAYS),
    PHI__EVENT(TOOLS_CHANGED, text, "text", STR, ALWAYS),
    PHI__EVENT(OPAQUE, block_index, "block_index", UINT, ALWAYS),
    PHI__EVENT(OPAQUE, source, "name", STR, ALWAYS),
    /* The block is written as a string, so its bytes do not change. */
    PHI__EVENT(OPAQUE, text, "json", STR, ALWAYS), PHI__EVENT(REWRITE, text, "op_id", STR, ALWAYS),
    PHI__EVENT(REWRITE, status, "status", STATUS, ALWAYS),
    PHI__EVENT(REWRITE, source, "reason", STR, ALWAYS),
    PHI__EVENT(THREAD_UPDATED, text, "thread_id", STR, ALWAYS),
    PHI__EVENT(THREAD_UPDATED, message_count, "message_count", UINT, ALWAYS),
    PHI__EVENT(THREAD_UPDATED, usage, "usage", USAGE, ALWAYS),
    PHI__EVENT_PART(PRUNED, pruned, tokens_removed, "tokens_removed", UINT, ALWAYS),
    PHI__EVENT_PART(PRUNED, pruned, messages_removed, "messages_removed", UINT, ALWAYS),
    PHI__EVENT_PART(PRUNED, pruned, memo, "memo", STR, OPTION),
    PHI__EVENT_PART(PRUNED, pruned, timestamps, "pruned_timestamps", TIMES, ALWAYS),
    PHI__EVENT(PRUNED, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT_PART(REVERTED, reverted, category, "category", STR, ALWAYS),
    PHI__EVENT_PART(REVERTED, reverted, target, "target", NODE, ALWAYS),
    PHI__EVENT_PART(REVERTED, reverted, abandoned, "abandoned_node_ids", NODES, ALWAYS),
    PHI__EVENT_PART(REVERTED, reverted, summary, "summary", STR, OPTION),
    PHI__EVENT_PART(REVERTED, reverted, applied, "applied", BOOL, ALWAYS),
    PHI__EVENT_PART(REVERTED, reverted, reason, "reason", STR, OPTION),
    PHI__EVENT(REVERTED, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT_PART(COMPACTION_START, compaction, estimated_tokens, "estimated_tokens", UINT,
                    ALWAYS),
    PHI__EVENT_PART(COMPACTION_START, compaction, message_count, "message_count", UINT, ALWAYS),
    PHI__EVENT(COMPACTION_START, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT_PART(COMPACTION_END, compaction, messages_before, "messages_before", UINT, ALWAYS),
    PHI__EVENT_PART(COMPACTION_END, compaction, messages_after, "messages_after", UINT, ALWAYS),
    PHI__EVENT_PART(COMPACTION_END, compaction, tokens_before, "estimated_tokens_before", UINT,
                    ALWAYS),
    PHI__EVENT_PART(COMPACTION_END, compaction, tokens_after, "estimated_tokens_after", UINT,
                    ALWAYS),
    PHI__EVENT_PART(COMPACTION_END, compaction, loops_compacted, "loops_compacted", UINT, ALWAYS),
    PHI__EVENT(COMPACTION_END, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT_PART(PARALLEL_START, parallel, session_id, "session_id", STR, ALWAYS),
    PHI__EVENT_PART(PARALLEL_START, parallel, loop_ids, "loop_ids", LOOPS, ALWAYS),
    PHI__EVENT(PARALLEL_START, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT_PART(PARALLEL_END, parallel, session_id, "session_id", STR, ALWAYS),
    PHI__EVENT_PART(PARALLEL_END, parallel, selected_loop_id, "selected_loop_id", STR, ALWAYS),
    PHI__EVENT_PART(PARALLEL_END, parallel, selected_index, "selected_config_index", UINT, ALWAYS),
    PHI__EVENT_PART(PARALLEL_END, parallel, evaluation_usage, "evaluation_usage", TOTAL, ALWAYS),
    PHI__EVENT(PARALLEL_END, timestamp_ms, "timestamp", TIME, ALWAYS),
    PHI__EVENT_PART(FORGOTTEN, forgotten, from, "from", UINT, ALWAYS),
    PHI__EVENT_PART(FORGOTTEN, forgotten, to, "to", UINT, ALWAYS),
    PHI__EVENT_PART(FORGOTTEN, forgotten, messages, "messages", UINT, ALWAYS),
    PHI__EVENT_PART(FORGOTTEN, forgotten, bytes, "bytes", UINT, ALWAYS),
    PHI__EVENT_PART(FORGOTTEN, forgotten, compacted, "compacted", BOOL, ALWAYS),
    PHI__EVENT(CONTEXT_WARNING, text, "text", STR, ALWAYS),
    PHI__EVENT_PART(CONTEXT_WARNING, context, tokens, "tokens", UINT, ALWAYS),
    PHI__EVENT_PART(CONTEXT_WARNING, context, limit, "limit", UINT, ALWAYS),
    PHI__EVENT_PART(CONTEXT_WARNING, context, messages, "messages", UINT, ALWAYS),
    PHI__EVENT_PART(CONTEXT_WARNING, context, shown, "shown", UINT, ALWAYS),
    PHI__EVENT_PART(SUMMARY_NEEDED, context, tokens, "tokens", UINT, ALWAYS),
    PHI__EVENT_PART(SUMMARY_NEEDED, context, limit, "limit", UINT, ALWAYS),
    PHI__EVENT_PART(SUMMARY_NEEDED, context, messages, "messages", UINT, ALWAYS),
    PHI__EVENT_PART(SUMMARY_NEEDED, context, shown, "shown", UINT, ALWAYS),
    PHI__EVENT_PART(SUMMARY_NEEDED, context, need_from, "need_from", UINT, ALWAYS),
    PHI__EVENT_PART(SUMMARY_NEEDED, context, need_to, "need_to", UINT, ALWAYS),
    PHI__EVENT_PART_OF(STRATEGY, phi_strategy_progress, strategy, name, "strategy", STR, ALWAYS),
    PHI__EVENT_PART_OF(STRATEGY, phi_strategy_progress, strategy, phase, "phase", STR, ALWAYS),
    PHI__EVENT_PART_OF(STRATEGY, phi_strategy_progress, strategy, calls, "calls", UINT, ALWAYS),
    PHI__EVENT_PART_OF(STRATEGY, phi_strategy_progress, strategy, most_calls, "most_calls", UINT,
                       ALWAYS),
    PHI__EVENT_PART_OF(STRATEGY, phi_strategy_progress, strategy, nodes, "nodes", UINT, ALWAYS),
    PHI__EVENT_PART_OF(STRATEGY, phi_strategy_progress, strategy, score, "score", SCORE, ALWAYS),
    PHI__EVENT(STRATEGY, text, "best", STR, ALWAYS)};

/* ---- writing ---- */

typedef struct phi__event_writer {
    const phi_event *event;
    const phi__agent *agent; /* NULL if the event was read from JSON */
    phi__buf out;
    phi_arena *scratch;
} phi__event_writer;

/* Writes JSON text. Writes null if the text is empty. */
static void phi__event_put_json(phi__event_writer *w, const char *key, phi_str text) {
    if (!phi__message_put_json(&w->out, key, text, true, w->scratch))
        phi__records_option(&w->out, key, text);
}

/* Writes a message. If `bare` is true, leaves out its loop_id and the members that only phi has. */
static void phi__event_put_item(phi__event_writer *w, const phi_message *message, bool bare) {
    phi_message copy = *message;
    if (bare) {
        copy.loop_id = phi__str(NULL, 0);
        copy.extra = NULL;
    }
    phi__json_write_comma(&w->out);
    phi__message_put(&w->out, &copy, w->scratch);
}

/* Writes the settings of an event that was read. Leaves out a protocol that the Rust original does
   not know. */
static void phi__event_put_read_settings(phi__event_writer *w, phi_str config) {
    phi_arena_mark mark = phi_arena_save(w->scratch);
    phi_json *root = NULL;
    phi_status status = phi_json_parse(w->scratch, config, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    if (status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT)) {
        const phi_json *api = phi_json_get(root, "api");
        const char *known = phi__message_read_api(phi_json_str(api, ""));
        if (api != NULL && known == NULL) (void)phi_json_remove(root, "api");
        if (known != NULL)
            status = phi_json_set(w->scratch, root, "api", phi__json_edit_text(w->scratch, known));
        if (status == PHI_OK) status = phi_json_write(w->scratch, root, 0, &config);
        if (status == PHI_OK)
            (void)phi__message_put_json(&w->out, "config_snapshot", config, true, w->scratch);
    }
    if (status == PHI_NO_MEMORY) w->out.failed = true;
    phi_arena_reset(w->scratch, mark);
}

static void phi__event_put_start(phi__event_writer *w) {
    phi_loop_info loop = PHI_ZERO;
    if (w->event->loop != NULL)
        loop = *w->event->loop;
    else if (w->agent != NULL) { /* memory for the loop ran out when the run began */
        loop.agent_id = w->agent->agent_id;
        loop.session_id = w->agent->line.session->id;
    }
    phi__records_str(&w->out, "agent_id", loop.agent_id);
    phi__records_str(&w->out, "session_id", loop.session_id);
    phi__records_str(&w->out, "loop_id", w->event->loop_id);
    phi__records_option(&w->out, "parent_loop_id", loop.parent_loop_id);
    phi__event_put_continuation(&w->out, loop.continuation, loop.tag);
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
    phi__event_put_json(w, "metadata", loop.metadata);
    if (w->agent != NULL) {
        /* The run's settings, as LoopConfigSnapshot. */
        static const char *const levels[] = {"off",  "minimal", "low", "medium",
                                             "high", "xhigh",   "max"};
        const phi__agent *agent = w->agent;
        const phi_model *model = &agent->desc.model;
        size_t level = (size_t)agent->desc.thinking;
        const char *api = phi__message_read_api(phi_str_of(model->protocol));
        phi__buf url;
        phi__json_write_key(&w->out, PHI__LIT("config_snapshot"));
        phi__buf_char(&w->out, '{');
        phi__records_str(&w->out, "model", phi_str_of(model->id));
        phi__records_str(&w->out, "provider", phi_str_of(model->provider));
        phi__records_str(&w->out, "config_id", agent->line.segment);
        phi__records_str(&w->out, "name", phi_str_of(model->name));
        if (api != NULL) phi__records_str(&w->out, "api", phi_str_of(api));
        phi__buf_init(&url, w->out.memory);
        phi__secret_put_url(&url, phi_str_of(model->base_url));
        phi__records_str(&w->out, "base_url", phi__buf_str(&url));
        if (url.failed) w->out.failed = true;
        phi__buf_free(&url);
        phi__records_bool(&w->out, "reasoning", model->reasoning);
        phi__records_u64(&w->out, "context_window", model->context_window);
        phi__records_u64(&w->out, "max_tokens",
                         agent->desc.max_tokens != 0 ? agent->desc.max_tokens : model->max_tokens);
        phi__records_str(&w->out, "thinking_level",
                         phi_str_of(levels[level < PHI__COUNT(levels) ? level : 0]));
        if (agent->desc.options.has_temperature)
            phi__records_double(&w->out, "temperature", agent->desc.options.temperature);
        phi__buf_char(&w->out, '}');
    } else if (loop.config.len > 0)
        phi__event_put_read_settings(w, loop.config);
}

/* Writes the messages of the event's run that are in memory; if w is NULL, only counts them.
   Returns their number. The run begins at the last LOOP_START entry with the run's id, on any
   lane. */
static size_t phi__event_put_run(const phi_thread *thread, const phi_event *event,
                                 phi__event_writer *w) {
    size_t i = thread->log.held, n = 0;
    const phi__entry *start = NULL;
    while (start == NULL && i > 0) {
        const phi__entry *entry = thread->log.entries[--i];
        if (entry->kind == PHI_ENTRY_LOOP_START && phi_str_equal(entry->loop_id, event->loop_id))
            start = entry;
    }
    for (; start != NULL && i < thread->log.held && n < event->message_count; i++) {
        const phi__entry *entry = thread->log.entries[i];
        if (entry->kind != PHI_ENTRY_MESSAGE || entry->lane != start->lane ||
            entry->ordinal < event->first_message)
            continue;
        if (w != NULL) phi__event_put_item(w, entry->message, false);
        n++;
    }
    return n;
}

/* Writes the tool results of the event's turn. Results follow the turn's answer in the log and are
   never evicted. Searches from the log's end, where the turn mostly is. */
static void phi__event_put_turn_results(phi__event_writer *w) {
    const phi_thread *thread = w->agent->thread;
    size_t at = thread->log.held;
    if (w->event->message == NULL) return;
    while (at > 0 && thread->log.entries[at - 1]->message != w->event->message) at--;
    if (at == 0) return;
    uint32_t lane = thread->log.entries[at - 1]->lane;
    for (; at < thread->log.held; at++) {
        const phi__entry *entry = thread->log.entries[at];
        if (entry->kind != PHI_ENTRY_MESSAGE || entry->lane != lane) continue;
        if (entry->message->role != PHI_ROLE_TOOL_RESULT) break;
        phi__event_put_item(w, entry->message, true);
    }
}

static void phi__event_put_messages(phi__event_writer *w, const char *key, bool results) {
    phi__records_raw(&w->out, key, "[");
    if (w->agent == NULL)
        for (size_t i = 0; i < w->event->message_count && w->event->messages != NULL; i++)
            phi__event_put_item(w, &w->event->messages[i], results);
    else if (results)
        phi__event_put_turn_results(w);
    else
        (void)phi__event_put_run(w->agent->thread, w->event, w);
    phi__buf_char(&w->out, ']');
}

/* Writes a ToolResult: {"content":[..],"details":null}. */
static void phi__event_put_result(phi__event_writer *w, const char *key) {
    const phi_message *result = w->event->message;
    phi_content content = PHI_ZERO;
    phi_message part = PHI_ZERO;
    if (result == NULL) {
        content.kind = PHI_CONTENT_TEXT;
        content.text = w->event->text;
        part.content = &content;
        part.content_count = 1;
        result = &part;
    }
    phi__records_raw(&w->out, key, "{");
    phi__message_put_blocks(&w->out, result, w->scratch);
    phi__event_put_json(w, "details", result->details);
    phi__records_some(&w->out, "child_loop_id", w->event->child_loop_id);
    phi__buf_char(&w->out, '}');
}

/* phi__event_put_failure() writes the last two members after retry_after_ms. */
static const phi__field phi__event_failure[] = {PHI__KEYED(phi_failure, message, STR, ALWAYS),
                                                PHI__KEYED(phi_failure, http_status, UINT, ALWAYS),
                                                PHI__KEYED(phi_failure, retryable, BOOL, ALWAYS),
                                                PHI__KEYED(phi_failure, code, STR, SET),
                                                PHI__KEYED(phi_failure, request_id, STR, SET)};

static void phi__event_put_failure(phi__event_writer *w) {
    phi_failure failure = PHI_ZERO;
    if (w->event->failure != NULL) failure = *w->event->failure;
    if (failure.http_status < 0) failure.http_status = 0;
    phi__records_str(&w->out, "kind", phi_str_of(phi_failure_kind_text(failure.kind)));
    phi__records_put(&w->out, phi__event_failure, 3, &failure);
    if (failure.has_retry_after)
        phi__records_u64(&w->out, "retry_after_ms", failure.retry_after_ms);
    phi__records_put(&w->out, phi__event_failure + 3, 2, &failure);
    phi__records_i64(&w->out, "status", (int64_t)w->event->status);
}

static bool phi__event_has_call(const phi_event *event) {
    return event->tool_call_id.len > 0 || event->tool_name.len > 0;
}

static void phi__event_put_part(phi__buf *out, const phi__field *field, const void *from) {
    const char *key = field->key;
    uint64_t number = 0;
    switch (field->kind) {
    case PHI__FIELD_TIMES: {
        const phi_pruned *pruned = (const phi_pruned *)from;
        phi__records_raw(out, key, "[");
        for (size_t i = 0; i < pruned->timestamp_count; i++) {
            phi__json_write_comma(out);
            phi__json_number_put_i64(out, pruned->timestamps[i]);
        }
        phi__buf_char(out, ']');
        break;
    }
    case PHI__FIELD_NODE:
        if (phi__step_number(((const phi_reverted *)from)->target, &number))
            phi__records_u64(out, key, number);
        else
            phi__records_raw(out, key, "null"); /* a rejected revert has no target */
        break;
    case PHI__FIELD_NODES: {
        const phi_reverted *reverted = (const phi_reverted *)from;
        phi__json_write_key(out, phi_str_of(key));
        phi__step_put_all(out, reverted->abandoned, reverted->abandoned_count);
        break;
    }
    case PHI__FIELD_LOOPS: {
        const phi_parallel *parallel = (const phi_parallel *)from;
        phi__records_strs(out, key, parallel->loop_ids, parallel->loop_count);
        break;
    }
    case PHI__FIELD_TOTAL:
        phi__json_write_key(out, phi_str_of(key));
        phi__message_put_usage_value(out, &((const phi_parallel *)from)->evaluation_usage);
        break;
    case PHI__FIELD_SCORE: {
        const phi_strategy_progress *progress = (const phi_strategy_progress *)from;
        if (progress->has_score) phi__records_double(out, key, progress->score);
        break;
    }
    default: phi__records_put(out, field, 1, from); break;
    }
}

/* Writes a member of the event, or of its part `from`. */
static void phi__event_put_row(phi__event_writer *w, const phi__event_row *row, const void *from) {
    const phi_event *event = w->event;
    const char *key = row->field.key;
    phi__buf *out = &w->out;
    phi__field text = row->field;
    phi_usage no_usage = PHI_ZERO;
    bool has = false;
    text.kind = PHI__FIELD_STR;
    switch (row->field.kind) {
    case PHI__FIELD_STATUS: phi__records_i64(out, key, (int64_t)event->status); break;
    case PHI__FIELD_JSON: phi__event_put_json(w, key, event->text); break;
    case PHI__FIELD_USAGE:
        if (event->usage != NULL || row->field.rule == PHI__FIELD_ALWAYS)
            phi__message_put_usage(out, event->usage != NULL ? event->usage : &no_usage);
        break;
    case PHI__FIELD_TRIGGER:
        phi__records_str(out, key, phi_str_of(phi__event_trigger(event->trigger)));
        break;
    case PHI__FIELD_POINT:
        phi__records_str(out, key, phi_str_of(phi__event_point(event->point)));
        break;
    case PHI__FIELD_INPUT:
        if (event->input != PHI_INPUT_NONE || row->field.rule != PHI__FIELD_SET)
            phi__records_option(out, key, phi_str_of(phi__event_input(event->input)));
        break;
    case PHI__FIELD_TOOL:
        if (row->field.rule == PHI__FIELD_SET && !phi__event_has_call(event)) break;
        phi__records_str(out, "tool_call_id", event->tool_call_id);
        phi__records_str(out, "tool_name", event->tool_name);
        break;
    case PHI__FIELD_QUESTION:
        if (event->point == PHI_HOOK_QUESTION) phi__records_put(out, &text, 1, from);
        break;
    case PHI__FIELD_ARGS: /* a skipped call has no arguments */
        has = event->kind == PHI_EV_TOOL_START
                  ? event->arguments.at != NULL
                  : phi__event_has_call(event) || event->arguments.len > 0;
        phi__json_write_key(out, phi_str_of(key));
        if (has)
            phi__message_put_value(out, event->arguments, w->scratch);
        else
            phi__buf_text(out, "null");
        break;
    case PHI__FIELD_MESSAGE:
        phi__json_write_key(out, phi_str_of(key));
        if (event->message != NULL)
            phi__message_put(out, event->message, w->scratch);
        else
            phi__buf_text(out, "null");
        break;
    case PHI__FIELD_MESSAGES: phi__event_put_messages(w, key, false); break;
    case PHI__FIELD_RESULTS: phi__event_put_messages(w, key, true); break;
    case PHI__FIELD_RESULT:
        if (event->message != NULL || row->field.rule != PHI__FIELD_SET)
            phi__event_put_result(w, key);
        break;
    case PHI__FIELD_CHILD: phi__records_option(out, key, event->child_loop_id); break;
    case PHI__FIELD_DELTA:
        phi__records_raw(out, key, "{");
        phi__records_raw(out, phi__event_delta(event->kind), "{");
        phi__records_str(out, "delta", event->text);
        phi__buf_text(out, "}}");
        break;
    case PHI__FIELD_START: phi__event_put_start(w); break;
    case PHI__FIELD_REJECTION: /* the Rust original distinguishes "" from null */
        if (event->rejection.at != NULL)
            phi__records_str(out, key, event->rejection);
        else
            phi__records_raw(out, key, "null");
        break;
    case PHI__FIELD_FAILURE: phi__event_put_failure(w); break;
    default: phi__event_put_part(out, &row->field, from); break;
    }
}

PHI_API phi_status phi_event_to_json(const phi_event *event, phi_arena *arena, phi_str *out) {
    phi__event_writer w = PHI_ZERO;
    union {
        phi_pruned pruned;
        phi_reverted reverted;
        phi_compaction compaction;
        phi_parallel parallel;
    } none = PHI_ZERO;
    if (event == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    const char *type = phi__event_type(event->kind);
    if (*type == '\0') return PHI_BAD_ARG;
    w.event = event;
    w.scratch = arena;
    if (event->agent.rt != NULL) {
        phi__slot *slot =
            phi__slots_find(&event->agent.rt->agents, event->agent.index, event->agent.gen);
        if (slot == NULL) return PHI_STALE;
        w.agent = (const phi__agent *)slot->object;
        /* PHI_EV_AGENT_END lists all messages of the run, so evicted ones are recalled. */
        phi_thread *thread = w.agent->thread;
        if (event->kind == PHI_EV_AGENT_END &&
            phi__event_put_run(thread, event, NULL) != event->message_count) {
            phi_status status = phi__recall(thread);
            if (status != PHI_OK) return status;
        }
    }
    bool parallel = event->kind == PHI_EV_PARALLEL_START || event->kind == PHI_EV_PARALLEL_END;
    /* if an event of these kinds lacks its part, the part's members are not written */
    bool bare = event->kind == PHI_EV_FORGOTTEN || event->kind == PHI_EV_CONTEXT_WARNING ||
                event->kind == PHI_EV_SUMMARY_NEEDED || event->kind == PHI_EV_STRATEGY;
    phi_event_kind kind = phi__event_is_delta(event->kind) ? PHI_EV_TEXT : event->kind;
    phi__buf_init(&w.out, arena->memory);
    phi__buf_char(&w.out, '{');
    phi__records_str(&w.out, "type", phi_str_of(type));
    if (event->kind != PHI_EV_AGENT_START && !parallel)
        phi__records_str(&w.out, "loop_id", event->loop_id);
    for (size_t i = 0; i < PHI__COUNT(phi__event_rows); i++) {
        const phi__event_row *row = &phi__event_rows[i];
        const void *from = event;
        if (row->kind != kind) continue;
        if (row->part != 0) memcpy(&from, (const char *)event + row->part, sizeof from);
        if (from == NULL && bare) continue;
        if (kind == PHI_EV_STRATEGY && event->strategy == NULL) continue;
        phi__event_put_row(&w, row, from != NULL ? from : &none);
    }
    phi__buf_char(&w.out, '}');
    bool fine = !w.out.failed && phi__arena_str(arena, phi__buf_str(&w.out), out);
    phi__buf_free(&w.out);
    return fine ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- reading ---- */

PHI__FN void *phi__intake_alloc(phi__intake *r, size_t count, size_t bytes) {
    void *at = phi__arena_zero(r->arena, phi__mul(count, bytes));
    if (at == NULL) r->no_memory = true;
    return at;
}

PHI__FN void *phi__intake_list(phi__intake *r, const phi_json *array, size_t size, size_t *count) {
    size_t n = phi_json_is(array, PHI_JSON_ARRAY) ? phi_json_count(array) : 0;
    void *list = n > 0 ? phi__intake_alloc(r, n, size) : NULL;
    *count = list != NULL ? n : 0;
    return list;
}

PHI__FN phi_str phi__intake_json(phi__intake *r, const phi_json *node) {
    phi_str out = {NULL, 0};
    if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) return out;
    if (phi_json_write(r->arena, node, 0, &out) == PHI_NO_MEMORY) r->no_memory = true;
    return out;
}

PHI__FN phi_str *phi__intake_ids(phi__intake *r, const phi_json *array, size_t *count) {
    phi_json_iter it = phi_json_each(array);
    phi_str *ids = (phi_str *)phi__intake_list(r, array, sizeof *ids, count);
    for (size_t i = 0; i < *count; i++) ids[i] = phi_json_str(phi_json_next(&it), "");
    return ids;
}

PHI__FN phi_status phi__intake_bad(phi__intake *r, phi_status status, const char *message) {
    memset(r->error, 0, sizeof *r->error);
    r->error->line = r->error->column = 1;
    r->error->status = status;
    (void)snprintf(r->error->message, sizeof r->error->message, "%s", message);
    return status;
}

PHI__FN phi_status phi__intake_within(phi__intake *r, phi_status status, const char *where,
                                      size_t index) {
    char message[sizeof r->error->message], item[32] = "";
    if (status != PHI_PARSE) return status;
    if (index != SIZE_MAX) (void)snprintf(item, sizeof item, "[%lu]", (unsigned long)index);
    memcpy(message, r->error->message, sizeof message);
    if (PHI_NEVER(snprintf(r->error->message, sizeof r->error->message, "%.16s%s: %s", where, item,
                           message) < 0))
        r->error->message[0] = '\0';
    return status;
}

PHI__FN phi_status phi__intake_messages(phi__intake *r, const phi_json *object, const char *key,
                                        const phi_message **out, size_t *count) {
    const phi_json *array = phi_json_get(object, key), *node;
    phi_json_iter it = phi_json_each(array);
    phi_message *messages = (phi_message *)phi__intake_list(r, array, sizeof *messages, count);
    *out = messages;
    if (messages == NULL) return r->no_memory ? PHI_NO_MEMORY : PHI_OK;
    for (size_t i = 0; (node = phi_json_next(&it)) != NULL; i++) {
        phi_status status = phi__message_read_get(node, r->arena, &messages[i], r->error);
        if (status != PHI_OK) return phi__intake_within(r, status, key, i);
    }
    return PHI_OK;
}

typedef struct phi__event_reader {
    phi__intake in;
    const phi_json *root;
    phi_event *out;
} phi__event_reader;

static phi_status phi__event_get_message(phi__event_reader *r, const phi_json *node) {
    phi_message *message = (phi_message *)phi__intake_alloc(&r->in, 1, sizeof *message);
    if (message == NULL) return PHI_NO_MEMORY;
    phi_status status = phi__message_read_get(node, r->in.arena, message, r->in.error);
    r->out->message = message;
    if (message->loop_id.len > 0) r->out->turn_index = message->turn_index;
    return phi__intake_within(&r->in, status, "message", SIZE_MAX);
}

static phi_status phi__event_get_messages(phi__event_reader *r, const phi_json *array,
                                          const char *key) {
    if (array == NULL || phi_json_is(array, PHI_JSON_NULL)) return PHI_OK;
    if (phi_json_is(array, PHI_JSON_ARRAY))
        return phi__intake_messages(&r->in, r->root, key, &r->out->messages,
                                    &r->out->message_count);
    phi_status status = phi__intake_bad(&r->in, PHI_PARSE, "expected an array of messages");
    return phi__intake_within(&r->in, status, key, SIZE_MAX);
}

static phi_status phi__event_get_start(phi__event_reader *r) {
    phi_loop_info *loop = (phi_loop_info *)phi__intake_alloc(&r->in, 1, sizeof *loop);
    if (loop == NULL) return PHI_NO_MEMORY;
    loop->agent_id = phi__records_get_str(r->root, "agent_id");
    loop->session_id = phi__records_get_str(r->root, "session_id");
    loop->loop_id = r->out->loop_id;
    loop->parent_loop_id = phi__records_get_str(r->root, "parent_loop_id");
    loop->continuation = phi__event_get_continuation(r->root, &loop->tag);
    loop->metadata = phi__intake_json(&r->in, phi_json_get(r->root, "metadata"));
    loop->config = phi__intake_json(&r->in, phi_json_get(r->root, "config_snapshot"));
    r->out->loop = loop;
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    return PHI_OK;
}

/* Reads a delta. The block that it extends is assumed to be the last block of its kind. */
static phi_status phi__event_get_delta(phi__event_reader *r, const phi_json *delta) {
    static const phi_event_kind kinds[] = {PHI_EV_TEXT, PHI_EV_THINKING, PHI_EV_TOOL_ARGUMENTS};
    static const phi_content_kind blocks[] = {PHI_CONTENT_TEXT, PHI_CONTENT_THINKING,
                                              PHI_CONTENT_TOOL_CALL};
    const phi_json *inside = NULL;
    size_t i = 0;
    for (; i < PHI__COUNT(kinds) && inside == NULL; i++)
        inside = phi_json_get(phi_json_get(delta, phi__event_delta(kinds[i])), "delta");
    if (inside == NULL)
        return phi__intake_bad(&r->in, PHI_PARSE,
                               "delta: expected Text, Thinking or ToolCallDelta");
    r->out->kind = kinds[--i];
    r->out->text = phi_json_str(inside, "");
    for (size_t at = r->out->message->content_count; at > 0; at--) {
        const phi_content *block = &r->out->message->content[at - 1];
        if (block->kind != blocks[i]) continue;
        r->out->partial = block->kind == PHI_CONTENT_TOOL_CALL ? block->arguments : block->text;
        r->out->block_index = (uint32_t)(at - 1);
        break;
    }
    return PHI_OK;
}

/* Makes a message from a ToolResult and the event's members. */
static phi_status phi__event_get_result(phi__event_reader *r, const phi_json *node,
                                        const char *key) {
    if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) return PHI_OK;
    phi_message *message = (phi_message *)phi__intake_alloc(&r->in, 1, sizeof *message);
    if (message == NULL) return PHI_NO_MEMORY;
    message->role = PHI_ROLE_TOOL_RESULT;
    message->tool_call_id = r->out->tool_call_id;
    message->tool_name = r->out->tool_name;
    if (r->out->kind == PHI_EV_TOOL_END)
        message->is_error = phi__records_get_bool(r->root, "is_error");
    message->details = phi__intake_json(&r->in, phi_json_get(node, "details"));
    phi_status status = phi__message_read_get_blocks(phi_json_get(node, "content"), r->in.arena,
                                                     message, r->in.error);
    r->out->child_loop_id = phi_json_str(phi_json_get(node, "child_loop_id"), "");
    r->out->message = message;
    if (status == PHI_OK && r->out->kind == PHI_EV_TOOL_UPDATE)
        r->out->text = phi_message_text(message, "\n", r->in.arena, &r->in.no_memory);
    return phi__intake_within(&r->in, status, key, SIZE_MAX);
}

/* Reads the status. An unknown number becomes PHI_REFUSED. */
static phi_status phi__event_get_status(const phi__event_reader *r) {
    int64_t number = phi_json_int(phi_json_get(r->root, "status"), PHI_REFUSED);
    return number <= PHI_OK && number >= PHI_UNREACHABLE ? (phi_status)number : PHI_REFUSED;
}

static phi_status phi__event_get_failure(phi__event_reader *r) {
    phi_failure *failure = (phi_failure *)phi__intake_alloc(&r->in, 1, sizeof *failure);
    phi_str kind = phi__records_get_str(r->root, "kind");
    const phi_json *after = phi_json_get(r->root, "retry_after_ms");
    if (failure == NULL) return PHI_NO_MEMORY;
    for (int i = PHI_FAILURE_AUTH; i <= PHI_FAILURE_NO_MEMORY; i++)
        if (phi__str_is(kind, phi_failure_kind_text((phi_failure_kind)i)))
            failure->kind = (phi_failure_kind)i;
    (void)PHI__RECORDS_GET(r->root, phi__event_failure, failure, NULL);
    if (failure->http_status < 0 || failure->http_status > 999) failure->http_status = 999;
    failure->has_retry_after = phi_json_is(after, PHI_JSON_NUMBER);
    failure->retry_after_ms = phi__json_get_uint(after, 0);
    r->out->failure = failure;
    r->out->status = phi__event_get_status(r);
    return PHI_OK;
}

/* Reads a node id. JSON has a number, and older files of phi have a name such as "n4". */
static phi_str phi__event_get_node(phi__event_reader *r, const phi_json *node) {
    char text[PHI__STEP_BYTES];
    phi_str out = phi_json_str(node, "");
    uint64_t n = phi__json_get_uint(node, UINT64_MAX);
    if (n == UINT64_MAX && phi__json_get_uint(node, 0) == 0) return out;
    (void)snprintf(text, sizeof text, "n%llu", (unsigned long long)n);
    if (!phi__arena_str(r->in.arena, phi_str_of(text), &out)) r->in.no_memory = true;
    return out;
}

/* Reads a member of the event's part `to`. */
static void phi__event_get_part(phi__event_reader *r, const phi__field *field, void *to) {
    const phi_json *node = phi_json_get(r->root, field->key);
    phi_json_iter it = phi_json_each(node);
    switch (field->kind) {
    case PHI__FIELD_TIMES: {
        phi_pruned *pruned = (phi_pruned *)to;
        int64_t *times =
            (int64_t *)phi__intake_list(&r->in, node, sizeof *times, &pruned->timestamp_count);
        for (size_t i = 0; i < pruned->timestamp_count; i++)
            times[i] = phi_json_int(phi_json_next(&it), 0);
        pruned->timestamps = times;
        break;
    }
    case PHI__FIELD_NODE: ((phi_reverted *)to)->target = phi__event_get_node(r, node); break;
    case PHI__FIELD_NODES: {
        phi_reverted *reverted = (phi_reverted *)to;
        phi_str *names =
            (phi_str *)phi__intake_list(&r->in, node, sizeof *names, &reverted->abandoned_count);
        for (size_t i = 0; i < reverted->abandoned_count; i++)
            names[i] = phi__event_get_node(r, phi_json_next(&it));
        reverted->abandoned = names;
        break;
    }
    case PHI__FIELD_LOOPS: {
        phi_parallel *parallel = (phi_parallel *)to;
        parallel->loop_ids = phi__intake_ids(&r->in, node, &parallel->loop_count);
        break;
    }
    case PHI__FIELD_TOTAL:
        ((phi_parallel *)to)->evaluation_usage = phi__message_read_get_usage(node);
        break;
    case PHI__FIELD_SCORE:
        ((phi_strategy_progress *)to)->has_score = phi_json_is(node, PHI_JSON_NUMBER);
        ((phi_strategy_progress *)to)->score = phi_json_num(node, 0.0);
        break;
    default: (void)phi__records_get(r->root, field, 1, to, NULL); break;
    }
}

/* Reads a member of the event, or of its part `to`. */
static phi_status phi__event_get_row(phi__event_reader *r, const phi__event_row *row, void *to) {
    phi_event *out = r->out;
    const char *key = row->field.key;
    const phi_json *node = phi_json_get(r->root, key);
    phi_str name = phi_json_str(node, "");
    phi__field text = row->field;
    bool has = false;
    text.kind = PHI__FIELD_STR;
    switch (row->field.kind) {
    case PHI__FIELD_STATUS: out->status = phi__event_get_status(r); break;
    case PHI__FIELD_JSON: out->text = phi__intake_json(&r->in, node); break;
    case PHI__FIELD_USAGE: {
        phi_usage *usage = (phi_usage *)phi__intake_alloc(&r->in, 1, sizeof *usage);
        if (usage != NULL) *usage = phi__message_read_get_usage(node);
        out->usage = usage;
        break;
    }
    case PHI__FIELD_TRIGGER: out->trigger = phi__event_get_trigger(r->root); break;
    case PHI__FIELD_POINT:
        for (int point = PHI_HOOK_BEFORE_LOOP; point <= PHI_HOOK_QUESTION; point *= 2)
            if (phi__str_is(name, phi__event_point(point))) out->point = point;
        break;
    case PHI__FIELD_INPUT:
        for (int i = PHI_INPUT_PROMPT; i <= PHI_INPUT_INJECTED; i++)
            if (phi__str_is(name, phi__event_input((phi_input)i))) out->input = (phi_input)i;
        break;
    case PHI__FIELD_TOOL: break; /* already read for every event */
    case PHI__FIELD_QUESTION: (void)phi__records_get(r->root, &text, 1, to, NULL); break;
    case PHI__FIELD_ARGS: /* null in the event of a skipped call */
        has = out->kind == PHI_EV_TOOL_START
                  ? !phi_json_is(node, PHI_JSON_NULL)
                  : phi__event_has_call(out) || out->point == PHI_HOOK_QUESTION;
        if (!has) break;
        out->arguments = PHI__LIT("{}");
        if (!phi__message_read_get_value(node, r->in.arena, &out->arguments))
            r->in.no_memory = true;
        break;
    case PHI__FIELD_MESSAGE:
        if (row->field.rule != PHI__FIELD_ALWAYS &&
            (node == NULL || phi_json_is(node, PHI_JSON_NULL)))
            break;
        return phi__event_get_message(r, node);
    case PHI__FIELD_MESSAGES:
    case PHI__FIELD_RESULTS: return phi__event_get_messages(r, node, key);
    case PHI__FIELD_RESULT: return phi__event_get_result(r, node, key);
    case PHI__FIELD_CHILD:
        if (name.len > 0) out->child_loop_id = name;
        break;
    case PHI__FIELD_DELTA: return phi__event_get_delta(r, node);
    case PHI__FIELD_START: return phi__event_get_start(r);
    case PHI__FIELD_REJECTION:
        if (!phi_json_is(node, PHI_JSON_STRING)) break;
        out->rejection = name;
        out->status = PHI_REJECTED;
        break;
    case PHI__FIELD_FAILURE: return phi__event_get_failure(r);
    default: phi__event_get_part(r, &row->field, to); break;
    }
    return PHI_OK;
}

static phi_status phi__event_get(phi__event_reader *r) {
    const phi_json *node = phi_json_get(r->root, "type");
    char message[sizeof r->in.error->message];
    void *part = NULL;
    phi_status status = PHI_OK;
    if (!phi_json_is(r->root, PHI_JSON_OBJECT))
        return phi__intake_bad(&r->in, PHI_PARSE, "expected an object: an event");
    if (!phi_json_is(node, PHI_JSON_STRING))
        return phi__intake_bad(&r->in, PHI_PARSE, "type: expected a string, such as \"TurnStart\"");
    phi_str type = phi_json_str(node, "");
    /* MessageUpdate first becomes TEXT. Its delta decides the kind later. */
    int kind = PHI_EV_AGENT_START;
    while (phi_event_name((phi_event_kind)kind)[0] != '\0' &&
           !phi__str_is(type, phi__event_type((phi_event_kind)kind)))
        kind++;
    if (phi_event_name((phi_event_kind)kind)[0] == '\0') {
        (void)snprintf(message, sizeof message, "type \"%.*s\": no event that is known here",
                       (int)phi__utf8_cut(type, 80), type.at != NULL ? type.at : "");
        return phi__intake_bad(&r->in, PHI_UNSUPPORTED, message);
    }
    r->out->kind = (phi_event_kind)kind;
    r->out->loop_id = phi__records_get_str(r->root, "loop_id");
    r->out->tool_call_id = phi__records_get_str(r->root, "tool_call_id");
    r->out->tool_name = phi__records_get_str(r->root, "tool_name");
    uint16_t own = 0; /* offset of the part that events of this kind have */
    for (size_t i = 0; i < PHI__COUNT(phi__event_rows); i++)
        if (phi__event_rows[i].kind == kind && phi__event_rows[i].part != 0)
            own = phi__event_rows[i].part;
    for (size_t i = 0; i < PHI__COUNT(phi__event_rows) && status == PHI_OK; i++) {
        const phi__event_row *row = &phi__event_rows[i];
        /* accepts every member of the part, even if its row is for another kind of event */
        if (row->kind != kind && (row->part == 0 || row->part != own)) continue;
        if (row->part == offsetof(phi_event, context) && phi_json_get(r->root, "tokens") == NULL)
            continue;
        if (row->part != 0 && part == NULL) {
            part = phi__intake_alloc(&r->in, 1, row->size);
            if (part == NULL) return PHI_NO_MEMORY;
            memcpy((char *)r->out + row->part, &part, sizeof part);
        }
        status = phi__event_get_row(r, row, row->part != 0 ? part : r->out);
    }
    return status == PHI_OK && r->in.no_memory ? PHI_NO_MEMORY : status;
}

PHI_API phi_status phi_event_from_json(phi_str json, phi_arena *arena, phi_event *out,
                                       phi_parse_error *error) {
    phi__event_reader r = PHI_ZERO;
    phi_parse_error unheard;
    phi_json *root = NULL;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    memset(out, 0, sizeof *out);
    phi_arena_mark mark = phi_arena_save(arena);
    r.in.arena = arena;
    r.out = out;
    r.in.error = error != NULL ? error : &unheard;
    phi_status status = phi_json_parse(arena, json, PHI_JSON_REPLACE_BAD_UTF8, &root, r.in.error);
    r.root = root;
    if (status == PHI_OK) status = phi__event_get(&r);
    if (status == PHI_TOO_BIG) status = PHI_PARSE;
    if (status != PHI_OK) {
        memset(out, 0, sizeof *out);
        phi_arena_reset(arena, mark);
    }
    return status;
}
