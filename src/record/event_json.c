/* event_json.c - writes events in the interchange format: behaviours A, "AgentEvent".

   An event of a living agent gets from it the fields that it lacks: the run's messages and
   settings. An event read from JSON holds everything. Facts that other readers do not know (a
   failure's kind and HTTP status, decisions, pauses) stand in types that only phi has. */
#include "agent/agent.h"
#include "agent/agent_in.h"
#include "base/base_in.h"
#include "history/compact.h"
#include "history/history_in.h"
#include "io/io_in.h"
#include "loop/tool.h"
#include "model/event_parts.h"
#include "model/failure.h"
#include "model/model_in.h"
#include "record/event_in.h"
#include "record/event_json.h"
#include "text/text_in.h"

#include <stdio.h>

/* ======== The names of events in the interchange format. */

PHI__FN const char *phi__event_words_type(phi_event_kind kind) {
    if (kind == PHI_EV_TEXT || kind == PHI_EV_THINKING || kind == PHI_EV_TOOL_ARGUMENTS)
        return "MessageUpdate";
    return phi_event_name(kind);
}

PHI__FN const char *phi__event_words_delta(phi_event_kind kind) {
    if (kind == PHI_EV_TEXT) return "Text";
    return kind == PHI_EV_THINKING ? "Thinking" : "ToolCallDelta";
}

PHI__FN const char *phi__event_words_trigger(phi_trigger trigger) {
    static const char *const words[] = {"User", "User", "SubAgent", "Continuation", "Branch"};
    return words[(size_t)trigger < PHI__COUNT(words) ? (size_t)trigger : 0];
}

PHI__FN const char *phi__event_words_point(int point) {
    static const char *const words[] = {"before_loop",
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
    for (size_t i = 0; i < PHI__COUNT(words); i++)
        if (point == 1 << i) return words[i];
    return "";
}

PHI__FN const char *phi__event_words_input(phi_input input) {
    static const char *const words[] = {"", "prompt", "steering", "follow_up", "injected"};
    return words[(size_t)input < PHI__COUNT(words) ? (size_t)input : 0];
}

/* ======== Tables of the plain fields of events, for JSON. */

static const phi__field phi__event_tool_fields[] = {
    PHI__FIELD(phi_event, tool_call_id, "tool_call_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_event, tool_name, "tool_name", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

static const phi__field phi__event_retry_fields[] = {
    PHI__FIELD(phi_event, attempt, "attempt", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_event, attempts, "attempts", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_event, delay_ms, "delay_ms", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__event_dropped_fields[] = {
    PHI__FIELD(phi_event, text, "text", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_event, source, "reason", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

static const phi__field phi__event_failure_fields[] = {
    PHI__FIELD(phi_failure, message, "message", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, http_status, "http_status", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, retryable, "retryable", PHI__FIELD_BOOL, PHI__FIELD_ALWAYS)};

static const phi__field phi__event_failure_more_fields[] = {
    PHI__FIELD(phi_failure, code, "code", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi_failure, request_id, "request_id", PHI__FIELD_STR, PHI__FIELD_SET)};

static const phi__field phi__event_pruned_fields[] = {
    PHI__FIELD(phi_pruned, tokens_removed, "tokens_removed", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_pruned, messages_removed, "messages_removed", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_pruned, memo, "memo", PHI__FIELD_STR, PHI__FIELD_OPTION)};

static const phi__field phi__event_reverted_fields[] = {
    PHI__FIELD(phi_reverted, summary, "summary", PHI__FIELD_STR, PHI__FIELD_OPTION),
    PHI__FIELD(phi_reverted, applied, "applied", PHI__FIELD_BOOL, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_reverted, reason, "reason", PHI__FIELD_STR, PHI__FIELD_OPTION)};

static const phi__field phi__event_compaction_start_fields[] = {
    PHI__FIELD(phi_compaction, estimated_tokens, "estimated_tokens", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_compaction, message_count, "message_count", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__event_compaction_end_fields[] = {
    PHI__FIELD(phi_compaction, messages_before, "messages_before", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_compaction, messages_after, "messages_after", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_compaction, tokens_before, "estimated_tokens_before", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_compaction, tokens_after, "estimated_tokens_after", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_compaction, loops_compacted, "loops_compacted", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS)};

static const phi__field phi__event_parallel_end_fields[] = {
    PHI__FIELD(phi_parallel, selected_loop_id, "selected_loop_id", PHI__FIELD_STR,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_parallel, selected_index, "selected_config_index", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS)};

static const phi__field phi__event_forgotten_fields[] = {
    PHI__FIELD(phi_forgotten, from, "from", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_forgotten, to, "to", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_forgotten, messages, "messages", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_forgotten, bytes, "bytes", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_forgotten, compacted, "compacted", PHI__FIELD_BOOL, PHI__FIELD_ALWAYS)};

static const phi__field phi__event_context_fields[] = {
    PHI__FIELD(phi_context, tokens, "tokens", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_context, limit, "limit", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_context, messages, "messages", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_context, shown, "shown", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__event_needed_fields[] = {
    PHI__FIELD(phi_context, need_from, "need_from", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_context, need_to, "need_to", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__event_strategy_fields[] = {
    PHI__FIELD(phi_strategy_progress, name, "strategy", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_strategy_progress, phase, "phase", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_strategy_progress, calls, "calls", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_strategy_progress, most_calls, "most_calls", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_strategy_progress, nodes, "nodes", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

/* The block's JSON is a string, so that it stays byte for byte. */
static const phi__field phi__event_opaque_fields[] = {
    PHI__FIELD(phi_event, block_index, "block_index", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_event, source, "name", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_event, text, "json", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

typedef struct phi__event_table {
    const phi__field *fields;
    size_t count;
} phi__event_table;

static phi__event_table phi__event_fields_table_of(phi__event_part part) {
    static const phi__event_table tables[] = {
        {phi__event_tool_fields, PHI__COUNT(phi__event_tool_fields)},
        {phi__event_retry_fields, PHI__COUNT(phi__event_retry_fields)},
        {phi__event_dropped_fields, PHI__COUNT(phi__event_dropped_fields)},
        {phi__event_failure_fields, PHI__COUNT(phi__event_failure_fields)},
        {phi__event_failure_more_fields, PHI__COUNT(phi__event_failure_more_fields)},
        {phi__event_pruned_fields, PHI__COUNT(phi__event_pruned_fields)},
        {phi__event_reverted_fields, PHI__COUNT(phi__event_reverted_fields)},
        {phi__event_compaction_start_fields, PHI__COUNT(phi__event_compaction_start_fields)},
        {phi__event_compaction_end_fields, PHI__COUNT(phi__event_compaction_end_fields)},
        {phi__event_parallel_end_fields, PHI__COUNT(phi__event_parallel_end_fields)},
        {phi__event_forgotten_fields, PHI__COUNT(phi__event_forgotten_fields)},
        {phi__event_context_fields, PHI__COUNT(phi__event_context_fields)},
        {phi__event_needed_fields, PHI__COUNT(phi__event_needed_fields)},
        {phi__event_strategy_fields, PHI__COUNT(phi__event_strategy_fields)},
        {phi__event_opaque_fields, PHI__COUNT(phi__event_opaque_fields)}};
    return tables[part];
}

PHI__FN void phi__event_fields_put(phi__buf *out, phi__event_part part, const void *from) {
    phi__event_table table = phi__event_fields_table_of(part);
    phi__records_put(out, table.fields, table.count, from);
}

PHI__FN void phi__event_fields_get(const phi_json *node, phi__event_part part, void *to) {
    phi__event_table table = phi__event_fields_table_of(part);
    (void)phi__records_get(node, table.fields, table.count, to, NULL);
}

/* ======== Writes events in the interchange format: behaviours A, "AgentEvent".

   An event of a living agent gets from it the fields that it lacks: the run's messages and
   settings. An event read from JSON holds everything. Facts that other readers do not know (a
   failure's kind and HTTP status, decisions, pauses) stand in types that only phi has. */

/* ---- members ---- */

typedef struct phi__event_writer {
    const phi_event *event;
    const phi__agent *agent; /* NULL: the event was read */
    phi__buf out;
    phi_arena *scratch;
} phi__event_writer;

/* JSON text, nothing as null. */
static void phi__event_json_value(phi__event_writer *w, const char *key, phi_str text) {
    if (!phi__message_put_json(&w->out, key, text, true, w->scratch))
        phi__records_option(&w->out, key, text);
}

static void phi__event_json_message(phi__event_writer *w, const char *key,
                                    const phi_message *message) {
    if (message == NULL) {
        phi__records_raw(&w->out, key, "null");
        return;
    }
    phi__json_write_key(&w->out, phi_str_of(key));
    phi__message_put(&w->out, message, w->scratch);
}

static void phi__event_json_item(phi__event_writer *w, const phi_message *message) {
    phi__json_write_comma(&w->out);
    phi__message_put(&w->out, message, w->scratch);
}

static void phi__event_json_usage(phi__event_writer *w) {
    phi_usage none = PHI_ZERO;
    phi__message_put_usage(&w->out, w->event->usage != NULL ? w->event->usage : &none);
}

/* ---- the run ---- */

/* LoopConfigSnapshot: the settings of the run. */
static void phi__event_json_snapshot(phi__event_writer *w) {
    static const char *const levels[] = {"off", "minimal", "low", "medium", "high", "xhigh", "max"};
    const phi__agent *agent = w->agent;
    const phi_model *model = &agent->desc.model;
    size_t level = (size_t)agent->desc.thinking;
    phi__json_write_key(&w->out, PHI__LIT("config_snapshot"));
    phi__buf_char(&w->out, '{');
    phi__records_str(&w->out, "model", phi_str_of(model->id));
    phi__records_str(&w->out, "provider", phi_str_of(model->provider));
    phi__records_str(&w->out, "config_id", agent->line.segment);
    phi__records_str(&w->out, "name", phi_str_of(model->name));
    phi_str protocol = phi_str_of(model->protocol);
    const char *api = phi__message_read_api(protocol);
    if (api != NULL) phi__records_str(&w->out, "api", phi_str_of(api));
    const char *url = model->base_url;
    phi__buf clean;
    phi__buf_init(&clean, w->out.memory);
    phi__secret_put_url(&clean, phi_str_of(url));
    phi__records_str(&w->out, "base_url", phi__buf_str(&clean));
    if (clean.failed) w->out.failed = true;
    phi__buf_free(&clean);
    phi__records_bool(&w->out, "reasoning", model->reasoning);
    phi__records_u64(&w->out, "context_window", model->context_window);
    phi__records_u64(&w->out, "max_tokens",
                     agent->desc.max_tokens != 0 ? agent->desc.max_tokens : model->max_tokens);
    phi__records_str(&w->out, "thinking_level",
                     phi_str_of(levels[level < PHI__COUNT(levels) ? level : 0]));
    if (agent->desc.options.has_temperature) {
        phi__records_double(&w->out, "temperature", agent->desc.options.temperature);
    }
    phi__buf_char(&w->out, '}');
}

/* Of an event that was read: as it is, but for a protocol that the original has no name for. */
static void phi__event_json_read_snapshot(phi__event_writer *w, phi_str config) {
    phi_arena_mark mark = phi_arena_save(w->scratch);
    phi_json *root = NULL;
    const char *known;
    phi_status status = phi_json_parse(w->scratch, config, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    if (status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT)) {
        const phi_json *api = phi_json_get(root, "api");
        known = phi__message_read_api(phi_json_str(api, ""));
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

static void phi__event_json_tagged(phi__event_writer *w, const char *word, phi_str tag) {
    phi__buf_char(&w->out, '{');
    phi__records_raw(&w->out, word, "{");
    phi__records_str(&w->out, "tag", tag);
    phi__buf_text(&w->out, "}}");
}

static void phi__event_json_start(phi__event_writer *w) {
    phi_loop_info loop = PHI_ZERO;
    if (w->event->loop != NULL)
        loop = *w->event->loop;
    else if (w->agent != NULL) { /* a run that began without memory */
        loop.agent_id = w->agent->agent_id;
        loop.session_id = w->agent->line.session->id;
    }
    phi__records_str(&w->out, "agent_id", loop.agent_id);
    phi__records_str(&w->out, "session_id", loop.session_id);
    phi__records_str(&w->out, "loop_id", w->event->loop_id);
    phi__records_option(&w->out, "parent_loop_id", loop.parent_loop_id);
    phi__json_write_key(&w->out, PHI__LIT("continuation_kind"));
    switch (loop.continuation) {
    case PHI_CONTINUATION_DEFAULT: phi__buf_text(&w->out, "\"Default\""); break;
    case PHI_CONTINUATION_RERUN: phi__event_json_tagged(w, "Rerun", loop.tag); break;
    case PHI_CONTINUATION_BRANCH: phi__event_json_tagged(w, "Branch", loop.tag); break;
    case PHI_CONTINUATION_COMPACTION: phi__buf_text(&w->out, "\"Compaction\""); break;
    case PHI_CONTINUATION_INITIAL: phi__buf_text(&w->out, "\"Initial\""); break;
    }
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
    phi__event_json_value(w, "metadata", loop.metadata);
    if (w->agent != NULL)
        phi__event_json_snapshot(w);
    else if (loop.config.len > 0)
        phi__event_json_read_snapshot(w, loop.config);
}

/* The first entry in memory of an event's run: the last entry that begins a run of that id; the
   end, where there is none. Its messages follow, on its lane, which need not be the active one any
   more. */
static size_t phi__event_json_run(const phi_thread *thread, const phi_event *event) {
    size_t i = thread->log.held;
    while (i > 0) {
        const phi__entry *entry = thread->log.entries[--i];
        if (entry->kind == PHI_ENTRY_LOOP_START && phi_str_equal(entry->loop_id, event->loop_id))
            return i;
    }
    return thread->log.held;
}

/* Messages of the run that are in memory: written, where w is given. How many. */
static size_t phi__event_json_said(const phi_thread *thread, const phi_event *event,
                                   phi__event_writer *w) {
    size_t i = phi__event_json_run(thread, event), n = 0;
    uint32_t lane = i < thread->log.held ? thread->log.entries[i]->lane : 0;
    for (; i < thread->log.held && n < event->message_count; i++) {
        const phi__entry *entry = thread->log.entries[i];
        if (entry->kind != PHI_ENTRY_MESSAGE || entry->lane != lane ||
            entry->ordinal < event->first_message)
            continue;
        if (w != NULL) phi__event_json_item(w, entry->message);
        n++;
    }
    return n;
}

static void phi__event_json_end(phi__event_writer *w) {
    size_t i, count = w->event->message_count;
    phi__records_raw(&w->out, "messages", "[");
    if (w->agent != NULL)
        (void)phi__event_json_said(w->agent->thread, w->event, w);
    else
        for (i = 0; i < count && w->event->messages != NULL; i++)
            phi__event_json_item(w, &w->event->messages[i]);
    phi__buf_char(&w->out, ']');
    phi__event_json_usage(w);
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
    if (w->event->rejection.at != NULL) /* the original tells "" from null */
        phi__records_str(&w->out, "rejection", w->event->rejection);
    else
        phi__records_raw(&w->out, "rejection", "null");
    if (w->event->source.len > 0) phi__records_str(&w->out, "abort_reason", w->event->source);
}

/* ---- turns ---- */

static void phi__event_json_turn_start(phi__event_writer *w) {
    phi__records_u64(&w->out, "turn_index", w->event->turn_index);
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
    phi__records_str(&w->out, "triggered_by",
                     phi_str_of(phi__event_words_trigger(w->event->trigger)));
}

/* Writes results without the id of their turn. */
static void phi__event_json_bare(phi__event_writer *w, const phi_message *message) {
    phi_message bare = *message;
    bare.loop_id = phi__str(NULL, 0);
    bare.extra = NULL;
    phi__event_json_item(w, &bare);
}

/* Results stand behind their turn's answer; the search comes from the end, where they mostly
   are. */
static void phi__event_json_results(phi__event_writer *w) {
    const phi_thread *thread = w->agent->thread; /* nothing of an event's turn is evicted */
    size_t at = thread->log.held;
    if (w->event->message == NULL) return;
    while (at > 0 && thread->log.entries[at - 1]->message != w->event->message) at--;
    if (at == 0) return;
    uint32_t lane = thread->log.entries[at - 1]->lane;
    for (; at < thread->log.held; at++) {
        const phi__entry *entry = thread->log.entries[at];
        if (entry->kind != PHI_ENTRY_MESSAGE || entry->lane != lane) continue;
        if (entry->message->role != PHI_ROLE_TOOL_RESULT) break;
        phi__event_json_bare(w, entry->message);
    }
}

static void phi__event_json_turn_end(phi__event_writer *w) {
    size_t i;
    phi__event_json_message(w, "message", w->event->message);
    phi__event_json_usage(w);
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
    phi__records_raw(&w->out, "tool_results", "[");
    if (w->agent != NULL)
        phi__event_json_results(w);
    else
        for (i = 0; i < w->event->message_count && w->event->messages != NULL; i++)
            phi__event_json_bare(w, &w->event->messages[i]);
    phi__buf_char(&w->out, ']');
}

static void phi__event_json_delta(phi__event_writer *w) {
    phi__event_json_message(w, "message", w->event->message);
    phi__records_raw(&w->out, "delta", "{");
    phi__records_raw(&w->out, phi__event_words_delta(w->event->kind), "{");
    phi__records_str(&w->out, "delta", w->event->text);
    phi__buf_text(&w->out, "}}");
}

/* ---- tools ---- */

static bool phi__event_json_of_tool(const phi__event_writer *w) {
    return w->event->tool_call_id.len > 0 || w->event->tool_name.len > 0;
}

static void phi__event_json_args(phi__event_writer *w) {
    phi__json_write_key(&w->out, PHI__LIT("args"));
    phi__message_put_value(&w->out, w->event->arguments, w->scratch);
}

/* ToolResult: {"content":[..],"details":null}. */
static void phi__event_json_result(phi__event_writer *w, const char *key,
                                   const phi_message *result) {
    phi__records_raw(&w->out, key, "{");
    phi__message_put_blocks(&w->out, result, w->scratch);
    phi__event_json_value(w, "details", result->details);
    if (w->event->child_loop_id.len > 0)
        phi__records_str(&w->out, "child_loop_id", w->event->child_loop_id);
    phi__buf_char(&w->out, '}');
}

static void phi__event_json_update(phi__event_writer *w) {
    phi__event_fields_put(&w->out, PHI__EVENT_TOOL, w->event);
    if (w->event->message != NULL) {
        phi__event_json_result(w, "partial_result", w->event->message);
        return;
    }
    phi_content content = PHI_ZERO;
    phi_message part = PHI_ZERO;
    content.kind = PHI_CONTENT_TEXT;
    content.text = w->event->text;
    part.content = &content;
    part.content_count = 1;
    phi__event_json_result(w, "partial_result", &part);
}

static void phi__event_json_tool_end(phi__event_writer *w) {
    phi__event_fields_put(&w->out, PHI__EVENT_TOOL, w->event);
    if (w->event->message != NULL) phi__event_json_result(w, "result", w->event->message);
    phi__records_bool(&w->out, "is_error", w->event->is_error);
    phi__records_option(&w->out, "child_loop_id", w->event->child_loop_id);
}

static void phi__event_json_decision(phi__event_writer *w) {
    phi__records_str(&w->out, "point", phi_str_of(phi__event_words_point(w->event->point)));
    phi__records_option(&w->out, "tool_call_id", w->event->tool_call_id);
    phi__records_option(&w->out, "tool_name", w->event->tool_name);
    if (phi__event_json_of_tool(w) || w->event->arguments.len > 0)
        phi__event_json_args(w);
    else
        phi__records_raw(&w->out, "args", "null");
    phi__records_str(&w->out, "text", w->event->text);
    if (w->event->point == PHI_HOOK_QUESTION) {
        phi__records_str(&w->out, "source", w->event->source);
        phi__records_str(&w->out, "question_kind", w->event->question_kind);
    }
    if (w->event->input != PHI_INPUT_NONE)
        phi__records_str(&w->out, "input", phi_str_of(phi__event_words_input(w->event->input)));
}

/* ---- trouble, compaction ---- */

static void phi__event_json_failure(phi__event_writer *w) {
    phi_failure failure;
    if (w->event->failure != NULL)
        failure = *w->event->failure;
    else
        memset(&failure, 0, sizeof failure);
    phi__records_str(&w->out, "kind", phi_str_of(phi_failure_kind_text(failure.kind)));
    if (failure.http_status < 0) failure.http_status = 0;
    phi__event_fields_put(&w->out, PHI__EVENT_FAILURE, &failure);
    if (failure.has_retry_after)
        phi__records_u64(&w->out, "retry_after_ms", failure.retry_after_ms);
    phi__event_fields_put(&w->out, PHI__EVENT_FAILURE_MORE, &failure);
    phi__records_i64(&w->out, "status", (int64_t)w->event->status);
}

static void phi__event_json_retry(phi__event_writer *w) {
    phi__event_fields_put(&w->out, PHI__EVENT_RETRY, w->event);
    phi__event_json_failure(w);
    phi__records_str(&w->out, "text", w->event->text);
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
}

static void phi__event_json_failover(phi__event_writer *w) {
    phi__records_str(&w->out, "from", w->event->source);
    phi__records_str(&w->out, "to", w->event->text);
    phi__records_u64(&w->out, "switch", w->event->attempt);
    phi__records_u64(&w->out, "most_switches", w->event->attempts);
    phi__event_json_failure(w);
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
}

static void phi__event_json_dropped(phi__event_writer *w) {
    phi__records_option(&w->out, "input", phi_str_of(phi__event_words_input(w->event->input)));
    phi__event_fields_put(&w->out, PHI__EVENT_DROPPED, w->event);
}

static void phi__event_json_rewrite(phi__event_writer *w) {
    phi__records_str(&w->out, "op_id", w->event->text);
    phi__records_i64(&w->out, "status", (int64_t)w->event->status);
    phi__records_str(&w->out, "reason", w->event->source);
}

static void phi__event_json_pruned(phi__event_writer *w) {
    phi_pruned p;
    if (w->event->pruned != NULL)
        p = *w->event->pruned;
    else
        memset(&p, 0, sizeof p);
    phi__event_fields_put(&w->out, PHI__EVENT_PRUNED, &p);
    phi__records_raw(&w->out, "pruned_timestamps", "[");
    for (size_t i = 0; i < p.timestamp_count; i++) {
        phi__json_write_comma(&w->out);
        phi__json_number_put_i64(&w->out, p.timestamps[i]);
    }
    phi__buf_char(&w->out, ']');
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
}

/* Node ids are numbers here, as in the original. */
static void phi__event_json_reverted(phi__event_writer *w) {
    phi_reverted r;
    uint64_t target = 0;
    if (w->event->reverted != NULL)
        r = *w->event->reverted;
    else
        memset(&r, 0, sizeof r);
    phi__records_str(&w->out, "category", r.category);
    if (phi__step_number(r.target, &target))
        phi__records_u64(&w->out, "target", target);
    else
        phi__records_raw(&w->out, "target", "null"); /* a refused revert has none */
    phi__json_write_key(&w->out, PHI__LIT("abandoned_node_ids"));
    phi__step_put_all(&w->out, r.abandoned, r.abandoned_count);
    phi__event_fields_put(&w->out, PHI__EVENT_REVERTED, &r);
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
}

static void phi__event_json_compaction(phi__event_writer *w) {
    phi_compaction c;
    if (w->event->compaction != NULL)
        c = *w->event->compaction;
    else
        memset(&c, 0, sizeof c);
    phi__event_fields_put(&w->out,
                          w->event->kind == PHI_EV_COMPACTION_START ? PHI__EVENT_COMPACTION_START
                                                                    : PHI__EVENT_COMPACTION_END,
                          &c);
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
}

/* ---- requests, parallel runs ---- */

static void phi__event_json_request(phi__event_writer *w) {
    phi__records_u64(&w->out, "turn_index", w->event->turn_index);
    phi__event_json_value(w, "payload", w->event->text);
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
}

static void phi__event_json_heartbeat(phi__event_writer *w) {
    phi__event_fields_put(&w->out, PHI__EVENT_TOOL, w->event);
    phi__records_u64(&w->out, "elapsed_ms", w->event->elapsed_ms);
}

static void phi__event_json_effect(phi__event_writer *w) {
    phi__event_fields_put(&w->out, PHI__EVENT_TOOL, w->event);
    phi__records_str(&w->out, "name", w->event->source);
    phi__event_json_value(w, "value", w->event->text);
}

static void phi__event_json_parallel(phi__event_writer *w) {
    phi_parallel p;
    if (w->event->parallel != NULL)
        p = *w->event->parallel;
    else
        memset(&p, 0, sizeof p);
    phi__records_str(&w->out, "session_id", p.session_id);
    if (w->event->kind == PHI_EV_PARALLEL_START) {
        phi__records_raw(&w->out, "loop_ids", "[");
        for (size_t i = 0; i < p.loop_count; i++) {
            phi__json_write_comma(&w->out);
            phi__json_write_str(&w->out, p.loop_ids[i]);
        }
        phi__buf_char(&w->out, ']');
    } else {
        phi__event_fields_put(&w->out, PHI__EVENT_PARALLEL_END, &p);
        phi__json_write_key(&w->out, PHI__LIT("evaluation_usage"));
        phi__message_put_usage_value(&w->out, &p.evaluation_usage);
    }
    phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
}

static void phi__event_json_thread(phi__event_writer *w) {
    phi__records_str(&w->out, "thread_id", w->event->text);
    phi__records_u64(&w->out, "message_count", w->event->message_count);
    phi__event_json_usage(w);
}

static void phi__event_json_forgotten(phi__event_writer *w) {
    if (w->event->forgotten != NULL)
        phi__event_fields_put(&w->out, PHI__EVENT_FORGOTTEN, w->event->forgotten);
}

static void phi__event_json_context(phi__event_writer *w) {
    if (w->event->context == NULL) return;
    phi__event_fields_put(&w->out, PHI__EVENT_CONTEXT, w->event->context);
    if (w->event->kind == PHI_EV_SUMMARY_NEEDED)
        phi__event_fields_put(&w->out, PHI__EVENT_NEEDED, w->event->context);
}

static void phi__event_json_level(phi__event_writer *w) {
    phi__records_str(&w->out, "text", w->event->text);
    phi__event_json_context(w);
}

static void phi__event_json_subagent(phi__event_writer *w) {
    const phi_event *event = w->event;
    phi__records_str(&w->out, "tool_name", event->tool_name);
    phi__records_str(&w->out, "id", event->source);
    phi__records_str(&w->out, "text", event->text);
    phi__records_i64(&w->out, "status", (int64_t)event->status);
    phi__records_bool(&w->out, "is_error", event->is_error);
    phi__records_str(&w->out, "child_loop_id", event->child_loop_id);
    if (event->usage != NULL) phi__message_put_usage(&w->out, event->usage);
}

static void phi__event_json_strategy(phi__event_writer *w) {
    const phi_strategy_progress *progress = w->event->strategy;
    if (progress == NULL) return;
    phi__event_fields_put(&w->out, PHI__EVENT_STRATEGY, progress);
    if (progress->has_score) phi__records_double(&w->out, "score", progress->score);
    phi__records_str(&w->out, "best", w->event->text);
}

static void phi__event_json_body(phi__event_writer *w) {
    switch (w->event->kind) {
    case PHI_EV_AGENT_START: phi__event_json_start(w); break;
    case PHI_EV_AGENT_END: phi__event_json_end(w); break;
    case PHI_EV_TURN_START: phi__event_json_turn_start(w); break;
    case PHI_EV_TURN_END: phi__event_json_turn_end(w); break;
    case PHI_EV_MESSAGE_START:
    case PHI_EV_MESSAGE_END:
    case PHI_EV_RETRACT: phi__event_json_message(w, "message", w->event->message); break;
    case PHI_EV_TEXT:
    case PHI_EV_THINKING:
    case PHI_EV_TOOL_ARGUMENTS: phi__event_json_delta(w); break;
    case PHI_EV_TOOL_START:
        phi__event_fields_put(&w->out, PHI__EVENT_TOOL, w->event);
        if (w->event->arguments.at != NULL)
            phi__event_json_args(w);
        else
            phi__records_raw(&w->out, "args", "null"); /* it was skipped */
        break;
    case PHI_EV_TOOL_UPDATE: phi__event_json_update(w); break;
    case PHI_EV_TOOL_PROGRESS:
        phi__event_fields_put(&w->out, PHI__EVENT_TOOL, w->event);
        phi__records_str(&w->out, "text", w->event->text);
        break;
    case PHI_EV_TOOL_END: phi__event_json_tool_end(w); break;
    case PHI_EV_ERROR:
        phi__event_json_failure(w);
        phi__records_time(&w->out, "timestamp", w->event->timestamp_ms);
        break;
    case PHI_EV_RETRY: phi__event_json_retry(w); break;
    case PHI_EV_INPUT_REJECTED:
    case PHI_EV_PAUSED: phi__records_str(&w->out, "reason", w->event->text); break;
    case PHI_EV_INPUT_DROPPED: phi__event_json_dropped(w); break;
    case PHI_EV_COMPACTION_START:
    case PHI_EV_COMPACTION_END: phi__event_json_compaction(w); break;
    case PHI_EV_DECISION: phi__event_json_decision(w); break;
    case PHI_EV_WARNING:
        if (phi__event_json_of_tool(w)) phi__event_fields_put(&w->out, PHI__EVENT_TOOL, w->event);
        phi__records_str(&w->out, "text", w->event->text);
        break;
    case PHI_EV_REWRITE: phi__event_json_rewrite(w); break;
    case PHI_EV_CONTEXT_WARNING: phi__event_json_level(w); break;
    case PHI_EV_PRUNED: phi__event_json_pruned(w); break;
    case PHI_EV_REVERTED: phi__event_json_reverted(w); break;
    case PHI_EV_TURN_REQUEST: phi__event_json_request(w); break;
    case PHI_EV_PARALLEL_START:
    case PHI_EV_PARALLEL_END: phi__event_json_parallel(w); break;
    case PHI_EV_THREAD_UPDATED: phi__event_json_thread(w); break;
    case PHI_EV_FORGOTTEN: phi__event_json_forgotten(w); break;
    case PHI_EV_SUMMARY_NEEDED: phi__event_json_context(w); break;
    case PHI_EV_TOOL_HEARTBEAT: phi__event_json_heartbeat(w); break;
    case PHI_EV_SUBAGENT_END: phi__event_json_subagent(w); break;
    case PHI_EV_TOOL_STATE: phi__event_json_value(w, "state", w->event->text); break;
    case PHI_EV_EFFECT: phi__event_json_effect(w); break;
    case PHI_EV_STRATEGY: phi__event_json_strategy(w); break;
    case PHI_EV_TOOLS_CHANGED: phi__records_str(&w->out, "text", w->event->text); break;
    case PHI_EV_FAILOVER: phi__event_json_failover(w); break;
    case PHI_EV_OPAQUE: phi__event_fields_put(&w->out, PHI__EVENT_OPAQUE, w->event); break;
    }
}

/* The end of a run has all its messages: evicted ones are recalled. */
static phi_status phi__event_json_recall(const phi_event *event, const phi__agent *agent) {
    if (event->kind != PHI_EV_AGENT_END || agent == NULL ||
        phi__event_json_said(agent->thread, event, NULL) == event->message_count)
        return PHI_OK;
    return phi__recall(agent->thread);
}

/* ---- public ---- */

PHI_API phi_status phi_event_to_json(const phi_event *event, phi_arena *arena, phi_str *out) {
    phi__event_writer w;
    phi_status status = PHI_OK;
    if (event == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    const char *type = phi__event_words_type(event->kind);
    if (*type == '\0') return PHI_BAD_ARG;
    w.event = event;
    w.agent = NULL;
    if (event->agent.rt != NULL) {
        phi__slot *slot =
            phi__slots_find(&event->agent.rt->agents, event->agent.index, event->agent.gen);
        if (slot == NULL) return PHI_STALE;
        w.agent = (const phi__agent *)slot->object;
    }
    status = phi__event_json_recall(event, w.agent);
    if (status != PHI_OK) return status;
    w.scratch = arena;
    phi__buf_init(&w.out, arena->memory);
    phi__buf_char(&w.out, '{');
    phi__records_str(&w.out, "type", phi_str_of(type));
    if (event->kind != PHI_EV_AGENT_START && event->kind != PHI_EV_PARALLEL_START &&
        event->kind != PHI_EV_PARALLEL_END)
        phi__records_str(&w.out, "loop_id", event->loop_id);
    phi__event_json_body(&w);
    phi__buf_char(&w.out, '}');
    if (w.out.failed || !phi__arena_str(arena, phi__buf_str(&w.out), out)) status = PHI_NO_MEMORY;
    phi__buf_free(&w.out);
    return status;
}

/* ======== Reads events in the interchange format, ours and others': behaviours A,
   "AgentEvent".

   Lenient where a reader can be: a field that is missing or of a wrong type counts as absent,
   unknown keys are ignored. But an event with an invalid message is refused. Everything that an
   event points to is in the tree's arena. */

typedef struct phi__event_reader {
    const phi_json *root;
    phi_arena *arena;
    phi_event *out;
    phi_parse_error *error;
    bool no_memory;
} phi__event_reader;

/* ---- members ---- */

static const phi_json *phi__event_read_get(const phi__event_reader *r, const char *key) {
    return phi_json_get(r->root, key);
}

/* JSON text of a value; null is nothing. */
static phi_str phi__event_read_json(phi__event_reader *r, const phi_json *node) {
    phi_str out = {NULL, 0};
    if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) return out;
    if (phi_json_write(r->arena, node, 0, &out) == PHI_NO_MEMORY) r->no_memory = true;
    return out;
}

static void *phi__event_read_alloc(phi__event_reader *r, size_t bytes) {
    void *at = phi__arena_zero(r->arena, bytes);
    if (at == NULL) r->no_memory = true;
    return at;
}

static phi_status phi__event_read_bad(phi__event_reader *r, phi_status status, const char *words) {
    memset(r->error, 0, sizeof *r->error);
    r->error->line = r->error->column = 1;
    r->error->status = status;
    (void)snprintf(r->error->message, sizeof r->error->message, "%s", words);
    return status;
}

/* Says where the words of an error belong to. */
static phi_status phi__event_read_within(phi__event_reader *r, phi_status status,
                                         const char *where) {
    char words[sizeof r->error->message];
    if (status != PHI_PARSE) return status;
    memcpy(words, r->error->message, sizeof words);
    if (snprintf(r->error->message, sizeof r->error->message, "%s: %s", where, words) < 0)
        r->error->message[0] = '\0';
    return status;
}

static void phi__event_read_usage(phi__event_reader *r) {
    phi_usage *usage = (phi_usage *)phi__event_read_alloc(r, sizeof *usage);
    if (usage != NULL) *usage = phi__message_read_get_usage(phi__event_read_get(r, "usage"));
    r->out->usage = usage;
}

/* ---- messages ---- */

static phi_status phi__event_read_message(phi__event_reader *r, bool needed) {
    const phi_json *node = phi__event_read_get(r, "message");
    phi_message *message;
    if (!needed && (node == NULL || phi_json_is(node, PHI_JSON_NULL))) return PHI_OK;
    message = (phi_message *)phi__event_read_alloc(r, sizeof *message);
    if (message == NULL) return PHI_NO_MEMORY;
    phi_status status = phi__message_read_get(node, r->arena, message, r->error);
    r->out->message = message;
    if (message->loop_id.len > 0) r->out->turn_index = message->turn_index;
    return phi__event_read_within(r, status, "message");
}

static phi_status phi__event_read_messages(phi__event_reader *r, const char *key) {
    const phi_json *array = phi__event_read_get(r, key), *node;
    phi_json_iter it = phi_json_each(array);
    phi_message *messages;
    phi_status status = PHI_OK;
    char where[48];
    size_t n = 0;
    if (array == NULL || phi_json_is(array, PHI_JSON_NULL)) return PHI_OK;
    if (!phi_json_is(array, PHI_JSON_ARRAY))
        return phi__event_read_within(
            r, phi__event_read_bad(r, PHI_PARSE, "expected an array of messages"), key);
    if (phi_json_count(array) == 0) return PHI_OK;
    messages =
        (phi_message *)phi__event_read_alloc(r, phi__mul(phi_json_count(array), sizeof *messages));
    if (messages == NULL) return PHI_NO_MEMORY;
    while (status == PHI_OK && (node = phi_json_next(&it)) != NULL)
        status = phi__message_read_get(node, r->arena, &messages[n++], r->error);
    r->out->messages = messages;
    r->out->message_count = n;
    (void)snprintf(where, sizeof where, "%.16s[%lu]", key, (unsigned long)(n - 1));
    return phi__event_read_within(r, status, where);
}

/* ---- the run ---- */

static phi_status phi__event_read_start(phi__event_reader *r) {
    phi_loop_info *loop = (phi_loop_info *)phi__event_read_alloc(r, sizeof *loop);
    if (loop == NULL) return PHI_NO_MEMORY;
    loop->agent_id = phi__records_get_str(r->root, "agent_id");
    loop->session_id = phi__records_get_str(r->root, "session_id");
    loop->loop_id = r->out->loop_id;
    loop->parent_loop_id = phi__records_get_str(r->root, "parent_loop_id");
    /* "Default", {"Rerun":{"tag":".."}}; nothing, as older files have it, is a beginning. */
    const phi_json *node = phi__event_read_get(r, "continuation_kind");
    const phi_json *rerun = phi_json_get(node, "Rerun"), *branch = phi_json_get(node, "Branch");
    phi_str word = phi_json_str(node, "");
    if (phi__str_is(word, "Default")) loop->continuation = PHI_CONTINUATION_DEFAULT;
    if (phi__str_is(word, "Compaction")) loop->continuation = PHI_CONTINUATION_COMPACTION;
    if (rerun != NULL) loop->continuation = PHI_CONTINUATION_RERUN;
    if (branch != NULL) loop->continuation = PHI_CONTINUATION_BRANCH;
    loop->tag = phi_json_str(phi_json_get(branch != NULL ? branch : rerun, "tag"), "");
    loop->metadata = phi__event_read_json(r, phi__event_read_get(r, "metadata"));
    loop->config = phi__event_read_json(r, phi__event_read_get(r, "config_snapshot"));
    r->out->loop = loop;
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    return PHI_OK;
}

static phi_status phi__event_read_end(phi__event_reader *r) {
    phi__event_read_usage(r);
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    r->out->source = phi__records_get_str(r->root, "abort_reason");
    if (phi_json_is(phi__event_read_get(r, "rejection"), PHI_JSON_STRING)) {
        r->out->rejection = phi__records_get_str(r->root, "rejection");
        r->out->status = PHI_REJECTED;
    }
    return phi__event_read_messages(r, "messages");
}

/* ---- turns ---- */

static phi_status phi__event_read_turn_start(phi__event_reader *r) {
    phi_str word = phi__records_get_str(r->root, "triggered_by");
    r->out->turn_index = phi__records_get_u32(r->root, "turn_index");
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    r->out->trigger = PHI_TRIGGER_USER;
    for (int i = PHI_TRIGGER_USER; i <= PHI_TRIGGER_BRANCH; i++)
        if (phi__str_is(word, phi__event_words_trigger((phi_trigger)i)))
            r->out->trigger = (phi_trigger)i;
    if (phi__str_is(word, "FollowUp")) /* of older files */
        r->out->trigger = PHI_TRIGGER_CONTINUATION;
    return PHI_OK;
}

static phi_status phi__event_read_turn_end(phi__event_reader *r) {
    phi_status status = phi__event_read_message(r, false);
    phi__event_read_usage(r);
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    return status == PHI_OK ? phi__event_read_messages(r, "tool_results") : status;
}

static phi_content_kind phi__event_read_block(phi_event_kind kind) {
    if (kind == PHI_EV_TEXT) return PHI_CONTENT_TEXT;
    return kind == PHI_EV_THINKING ? PHI_CONTENT_THINKING : PHI_CONTENT_TOOL_CALL;
}

/* The block that grows is taken to be the last one of its kind. */
static phi_status phi__event_read_delta(phi__event_reader *r) {
    static const phi_event_kind kinds[] = {PHI_EV_TEXT, PHI_EV_THINKING, PHI_EV_TOOL_ARGUMENTS};
    const phi_json *delta = phi__event_read_get(r, "delta"), *inside = NULL;
    phi_status status = phi__event_read_message(r, true);
    if (status != PHI_OK) return status;
    for (size_t i = 0; i < PHI__COUNT(kinds) && inside == NULL; i++) {
        inside = phi_json_get(phi_json_get(delta, phi__event_words_delta(kinds[i])), "delta");
        r->out->kind = kinds[i];
    }
    if (inside == NULL)
        return phi__event_read_bad(r, PHI_PARSE, "delta: expected Text, Thinking or ToolCallDelta");
    r->out->text = phi_json_str(inside, "");
    for (size_t i = r->out->message->content_count; i > 0; i--) {
        const phi_content *block = &r->out->message->content[i - 1];
        if (block->kind != phi__event_read_block(r->out->kind)) continue;
        r->out->partial = block->kind == PHI_CONTENT_TOOL_CALL ? block->arguments : block->text;
        r->out->block_index = (uint32_t)(i - 1);
        break;
    }
    return PHI_OK;
}

/* ---- tools ---- */

static void phi__event_read_args(phi__event_reader *r, const char *none) {
    r->out->arguments = phi_str_of(none);
    if (!phi__message_read_get_value(phi__event_read_get(r, "args"), r->arena, &r->out->arguments))
        r->no_memory = true;
}

/* A call that was skipped has null, and no arguments. */
static void phi__event_read_tool_start(phi__event_reader *r) {
    if (!phi_json_is(phi__event_read_get(r, "args"), PHI_JSON_NULL)) phi__event_read_args(r, "{}");
}

/* ToolResult: makes a message of the event's fields. */
static phi_status phi__event_read_result(phi__event_reader *r, const char *key) {
    const phi_json *node = phi__event_read_get(r, key), *content = phi_json_get(node, "content");
    phi_message *message;
    if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) return PHI_OK;
    message = (phi_message *)phi__event_read_alloc(r, sizeof *message);
    if (message == NULL) return PHI_NO_MEMORY;
    message->role = PHI_ROLE_TOOL_RESULT;
    message->tool_call_id = r->out->tool_call_id;
    message->tool_name = r->out->tool_name;
    message->is_error = r->out->is_error;
    message->details = phi__event_read_json(r, phi_json_get(node, "details"));
    phi_status status = phi__message_read_get_blocks(content, r->arena, message, r->error);
    if (r->out->child_loop_id.len == 0)
        r->out->child_loop_id = phi_json_str(phi_json_get(node, "child_loop_id"), "");
    r->out->message = message;
    return phi__event_read_within(r, status, key);
}

static phi_status phi__event_read_update(phi__event_reader *r) {
    phi_status status = phi__event_read_result(r, "partial_result");
    if (status == PHI_OK && r->out->message != NULL)
        r->out->text = phi_message_text(r->out->message, "\n", r->arena, &r->no_memory);
    return status;
}

static phi_status phi__event_read_tool_end(phi__event_reader *r) {
    r->out->is_error = phi__records_get_bool(r->root, "is_error");
    r->out->child_loop_id = phi__records_get_str(r->root, "child_loop_id");
    return phi__event_read_result(r, "result");
}

static phi_input phi__event_read_input(const phi__event_reader *r) {
    phi_str word = phi__records_get_str(r->root, "input");
    for (int i = PHI_INPUT_PROMPT; i <= PHI_INPUT_INJECTED; i++)
        if (phi__str_is(word, phi__event_words_input((phi_input)i))) return (phi_input)i;
    return PHI_INPUT_NONE;
}

static phi_status phi__event_read_decision(phi__event_reader *r) {
    phi_str word = phi__records_get_str(r->root, "point");
    for (int point = PHI_HOOK_BEFORE_LOOP; point <= PHI_HOOK_QUESTION; point *= 2)
        if (phi__str_is(word, phi__event_words_point(point))) r->out->point = point;
    if (r->out->tool_call_id.len > 0 || r->out->tool_name.len > 0 ||
        r->out->point == PHI_HOOK_QUESTION)
        phi__event_read_args(r, "{}");
    r->out->source = phi__records_get_str(r->root, "source");
    r->out->question_kind = phi__records_get_str(r->root, "question_kind");
    r->out->text = phi__records_get_str(r->root, "text");
    r->out->input = phi__event_read_input(r);
    return PHI_OK;
}

/* ---- trouble, compaction ---- */

/* A number that is none of ours says only that something went wrong. */
static phi_status phi__event_read_status(int64_t number) {
    return number <= PHI_OK && number >= PHI_UNREACHABLE ? (phi_status)number : PHI_REFUSED;
}

static phi_status phi__event_read_failure(phi__event_reader *r) {
    phi_failure *failure = (phi_failure *)phi__event_read_alloc(r, sizeof *failure);
    phi_str word = phi__records_get_str(r->root, "kind");
    const phi_json *after = phi__event_read_get(r, "retry_after_ms");
    if (failure == NULL) return PHI_NO_MEMORY;
    for (int i = PHI_FAILURE_AUTH; i <= PHI_FAILURE_NO_MEMORY; i++)
        if (phi__str_is(word, phi_failure_kind_text((phi_failure_kind)i)))
            failure->kind = (phi_failure_kind)i;
    phi__event_fields_get(r->root, PHI__EVENT_FAILURE, failure);
    phi__event_fields_get(r->root, PHI__EVENT_FAILURE_MORE, failure);
    if (failure->http_status < 0 || failure->http_status > 999) failure->http_status = 999;
    failure->has_retry_after = phi_json_is(after, PHI_JSON_NUMBER);
    failure->retry_after_ms = phi__json_get_uint(after, 0);
    r->out->failure = failure;
    r->out->status =
        phi__event_read_status(phi_json_int(phi__event_read_get(r, "status"), PHI_REFUSED));
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    return PHI_OK;
}

static phi_status phi__event_read_failover(phi__event_reader *r) {
    r->out->source = phi__records_get_str(r->root, "from");
    r->out->text = phi__records_get_str(r->root, "to");
    r->out->attempt = phi__records_get_u32(r->root, "switch");
    r->out->attempts = phi__records_get_u32(r->root, "most_switches");
    return phi__event_read_failure(r);
}

static phi_status phi__event_read_retry(phi__event_reader *r) {
    phi__event_fields_get(r->root, PHI__EVENT_RETRY, r->out);
    r->out->text = phi__records_get_str(r->root, "text");
    return phi__event_read_failure(r);
}

static phi_status phi__event_read_dropped(phi__event_reader *r) {
    r->out->input = phi__event_read_input(r);
    phi__event_fields_get(r->root, PHI__EVENT_DROPPED, r->out);
    return PHI_OK;
}

static phi_status phi__event_read_rewrite(phi__event_reader *r) {
    r->out->text = phi__records_get_str(r->root, "op_id");
    r->out->status =
        phi__event_read_status(phi_json_int(phi__event_read_get(r, "status"), PHI_REFUSED));
    r->out->source = phi__records_get_str(r->root, "reason");
    return PHI_OK;
}

static phi_status phi__event_read_pruned(phi__event_reader *r) {
    phi_pruned *p = (phi_pruned *)phi__event_read_alloc(r, sizeof *p);
    const phi_json *times = phi__event_read_get(r, "pruned_timestamps"), *node;
    phi_json_iter it = phi_json_each(times);
    size_t n = phi_json_is(times, PHI_JSON_ARRAY) ? phi_json_count(times) : 0;
    int64_t *ms = (int64_t *)phi__event_read_alloc(r, phi__mul(n, sizeof *ms));
    if (p == NULL || ms == NULL) return PHI_NO_MEMORY;
    phi__event_fields_get(r->root, PHI__EVENT_PRUNED, p);
    while (p->timestamp_count < n && (node = phi_json_next(&it)) != NULL)
        ms[p->timestamp_count++] = phi_json_int(node, 0);
    p->timestamps = ms;
    r->out->pruned = p;
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    return PHI_OK;
}

/* A node id: a number in the original and here, a name such as "n4" in older files of ours. */
static phi_str phi__event_read_node(phi__event_reader *r, const phi_json *node) {
    char text[PHI__STEP_BYTES];
    phi_str out = phi_json_str(node, "");
    uint64_t n = phi__json_get_uint(node, UINT64_MAX);
    if (n == UINT64_MAX && phi__json_get_uint(node, 0) == 0) return out;
    (void)snprintf(text, sizeof text, "n%llu", (unsigned long long)n);
    if (!phi__arena_str(r->arena, phi_str_of(text), &out)) r->no_memory = true;
    return out;
}

static phi_status phi__event_read_reverted(phi__event_reader *r) {
    phi_reverted *v = (phi_reverted *)phi__event_read_alloc(r, sizeof *v);
    const phi_json *ids = phi__event_read_get(r, "abandoned_node_ids"), *node;
    phi_json_iter it = phi_json_each(ids);
    size_t n = phi_json_is(ids, PHI_JSON_ARRAY) ? phi_json_count(ids) : 0;
    phi_str *names = (phi_str *)phi__event_read_alloc(r, phi__mul(n, sizeof *names));
    if (v == NULL || names == NULL) return PHI_NO_MEMORY;
    v->category = phi__records_get_str(r->root, "category");
    v->target = phi__event_read_node(r, phi__event_read_get(r, "target"));
    while (v->abandoned_count < n && (node = phi_json_next(&it)) != NULL)
        names[v->abandoned_count++] = phi__event_read_node(r, node);
    v->abandoned = names;
    phi__event_fields_get(r->root, PHI__EVENT_REVERTED, v);
    r->out->reverted = v;
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    return PHI_OK;
}

static phi_status phi__event_read_compaction(phi__event_reader *r) {
    phi_compaction *c = (phi_compaction *)phi__event_read_alloc(r, sizeof *c);
    if (c == NULL) return PHI_NO_MEMORY;
    phi__event_fields_get(r->root, PHI__EVENT_COMPACTION_START, c);
    phi__event_fields_get(r->root, PHI__EVENT_COMPACTION_END, c);
    r->out->compaction = c;
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    return PHI_OK;
}

/* ---- requests, parallel runs ---- */

static phi_status phi__event_read_request(phi__event_reader *r) {
    r->out->turn_index = phi__records_get_u32(r->root, "turn_index");
    r->out->text = phi__event_read_json(r, phi__event_read_get(r, "payload"));
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    return PHI_OK;
}

static phi_status phi__event_read_thread(phi__event_reader *r) {
    r->out->text = phi__records_get_str(r->root, "thread_id");
    r->out->message_count = phi__records_get_size(r->root, "message_count");
    phi__event_read_usage(r);
    return PHI_OK;
}

static phi_status phi__event_read_forgotten(phi__event_reader *r) {
    phi_forgotten *forgotten = (phi_forgotten *)phi__event_read_alloc(r, sizeof *forgotten);
    if (forgotten == NULL) return PHI_NO_MEMORY;
    phi__event_fields_get(r->root, PHI__EVENT_FORGOTTEN, forgotten);
    r->out->forgotten = forgotten;
    return PHI_OK;
}

static phi_status phi__event_read_context(phi__event_reader *r) {
    phi_context *context;
    if (phi__event_read_get(r, "tokens") == NULL) return PHI_OK;
    context = (phi_context *)phi__event_read_alloc(r, sizeof *context);
    if (context == NULL) return PHI_NO_MEMORY;
    phi__event_fields_get(r->root, PHI__EVENT_CONTEXT, context);
    phi__event_fields_get(r->root, PHI__EVENT_NEEDED, context);
    r->out->context = context;
    return PHI_OK;
}

static phi_status phi__event_read_strategy(phi__event_reader *r) {
    phi_strategy_progress *progress;
    progress = (phi_strategy_progress *)phi__event_read_alloc(r, sizeof *progress);
    if (progress == NULL) return PHI_NO_MEMORY;
    phi__event_fields_get(r->root, PHI__EVENT_STRATEGY, progress);
    progress->has_score = phi_json_is(phi__event_read_get(r, "score"), PHI_JSON_NUMBER);
    progress->score = phi_json_num(phi__event_read_get(r, "score"), 0.0);
    r->out->text = phi__records_get_str(r->root, "best");
    r->out->strategy = progress;
    return PHI_OK;
}

static phi_status phi__event_read_parallel(phi__event_reader *r) {
    phi_parallel *p = (phi_parallel *)phi__event_read_alloc(r, sizeof *p);
    const phi_json *ids = phi__event_read_get(r, "loop_ids"), *id;
    phi_json_iter it = phi_json_each(ids);
    size_t count = phi_json_is(ids, PHI_JSON_ARRAY) ? phi_json_count(ids) : 0;
    phi_str *to = NULL;
    if (count > 0) to = (phi_str *)phi__event_read_alloc(r, phi__mul(count, sizeof *to));
    if (p == NULL || (count > 0 && to == NULL)) return PHI_NO_MEMORY;
    while (to != NULL && (id = phi_json_next(&it)) != NULL)
        to[p->loop_count++] = phi_json_str(id, "");
    p->session_id = phi__records_get_str(r->root, "session_id");
    p->loop_ids = to;
    phi__event_fields_get(r->root, PHI__EVENT_PARALLEL_END, p);
    p->evaluation_usage = phi__message_read_get_usage(phi__event_read_get(r, "evaluation_usage"));
    r->out->parallel = p;
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    return PHI_OK;
}

/* ---- any event ---- */

static phi_status phi__event_read_text(phi__event_reader *r, const char *key) {
    r->out->text = phi__records_get_str(r->root, key);
    return PHI_OK;
}

static phi_status phi__event_read_subagent(phi__event_reader *r) {
    r->out->source = phi__records_get_str(r->root, "id");
    r->out->child_loop_id = phi__records_get_str(r->root, "child_loop_id");
    r->out->is_error = phi__records_get_bool(r->root, "is_error");
    r->out->status =
        phi__event_read_status(phi_json_int(phi__event_read_get(r, "status"), PHI_REFUSED));
    phi__event_read_usage(r);
    return phi__event_read_text(r, "text");
}

static phi_status phi__event_read_body(phi__event_reader *r) {
    switch (r->out->kind) {
    case PHI_EV_AGENT_START: return phi__event_read_start(r);
    case PHI_EV_AGENT_END: return phi__event_read_end(r);
    case PHI_EV_TURN_START: return phi__event_read_turn_start(r);
    case PHI_EV_TURN_END: return phi__event_read_turn_end(r);
    case PHI_EV_MESSAGE_START:
    case PHI_EV_MESSAGE_END: return phi__event_read_message(r, true);
    case PHI_EV_RETRACT: return phi__event_read_message(r, false);
    case PHI_EV_TEXT:
    case PHI_EV_THINKING:
    case PHI_EV_TOOL_ARGUMENTS: return phi__event_read_delta(r);
    case PHI_EV_TOOL_START: phi__event_read_tool_start(r); return PHI_OK;
    case PHI_EV_TOOL_UPDATE: return phi__event_read_update(r);
    case PHI_EV_TOOL_END: return phi__event_read_tool_end(r);
    case PHI_EV_ERROR: return phi__event_read_failure(r);
    case PHI_EV_RETRY: return phi__event_read_retry(r);
    case PHI_EV_FAILOVER: return phi__event_read_failover(r);
    case PHI_EV_INPUT_REJECTED:
    case PHI_EV_PAUSED: return phi__event_read_text(r, "reason");
    case PHI_EV_INPUT_DROPPED: return phi__event_read_dropped(r);
    case PHI_EV_COMPACTION_START:
    case PHI_EV_COMPACTION_END: return phi__event_read_compaction(r);
    case PHI_EV_DECISION: return phi__event_read_decision(r);
    case PHI_EV_CONTEXT_WARNING:
        (void)phi__event_read_text(r, "text");
        return phi__event_read_context(r);
    case PHI_EV_TOOL_PROGRESS:
    case PHI_EV_TOOLS_CHANGED:
    case PHI_EV_WARNING: return phi__event_read_text(r, "text");
    case PHI_EV_REWRITE: return phi__event_read_rewrite(r);
    case PHI_EV_PRUNED: return phi__event_read_pruned(r);
    case PHI_EV_REVERTED: return phi__event_read_reverted(r);
    case PHI_EV_TURN_REQUEST: return phi__event_read_request(r);
    case PHI_EV_PARALLEL_START:
    case PHI_EV_PARALLEL_END: return phi__event_read_parallel(r);
    case PHI_EV_THREAD_UPDATED: return phi__event_read_thread(r);
    case PHI_EV_FORGOTTEN: return phi__event_read_forgotten(r);
    case PHI_EV_SUMMARY_NEEDED: return phi__event_read_context(r);
    case PHI_EV_STRATEGY: return phi__event_read_strategy(r);
    case PHI_EV_TOOL_HEARTBEAT:
        r->out->elapsed_ms = phi__records_get_u64(r->root, "elapsed_ms");
        return PHI_OK;
    case PHI_EV_SUBAGENT_END: return phi__event_read_subagent(r);
    case PHI_EV_OPAQUE: phi__event_fields_get(r->root, PHI__EVENT_OPAQUE, r->out); return PHI_OK;
    case PHI_EV_TOOL_STATE:
        r->out->text = phi__event_read_json(r, phi__event_read_get(r, "state"));
        return PHI_OK;
    case PHI_EV_EFFECT:
        r->out->source = phi__records_get_str(r->root, "name");
        r->out->text = phi__event_read_json(r, phi__event_read_get(r, "value"));
        return PHI_OK;
    }
    return PHI_OK;
}

/* PHI_EV_TEXT for all deltas: their contents decide further. */
static phi_status phi__event_read_kind(phi__event_reader *r, phi_str type) {
    char words[sizeof r->error->message];
    for (int i = PHI_EV_AGENT_START; phi_event_name((phi_event_kind)i)[0] != '\0'; i++)
        if (phi__str_is(type, phi__event_words_type((phi_event_kind)i))) {
            r->out->kind = (phi_event_kind)i;
            return PHI_OK;
        }
    (void)snprintf(words, sizeof words, "type \"%.*s\": no event that is known here",
                   (int)phi__utf8_cut(type, 80), type.at != NULL ? type.at : "");
    return phi__event_read_bad(r, PHI_UNSUPPORTED, words);
}

static phi_status phi__event_read_whole(phi__event_reader *r) {
    const phi_json *type = phi__event_read_get(r, "type");
    if (!phi_json_is(r->root, PHI_JSON_OBJECT))
        return phi__event_read_bad(r, PHI_PARSE, "expected an object: an event");
    if (!phi_json_is(type, PHI_JSON_STRING))
        return phi__event_read_bad(r, PHI_PARSE, "type: expected a string, such as \"TurnStart\"");
    phi_status status = phi__event_read_kind(r, phi_json_str(type, ""));
    if (status != PHI_OK) return status;
    r->out->loop_id = phi__records_get_str(r->root, "loop_id");
    phi__event_fields_get(r->root, PHI__EVENT_TOOL, r->out);
    status = phi__event_read_body(r);
    return status == PHI_OK && r->no_memory ? PHI_NO_MEMORY : status;
}

/* ---- public ---- */

PHI_API phi_status phi_event_from_json(phi_str json, phi_arena *arena, phi_event *out,
                                       phi_parse_error *error) {
    phi__event_reader r;
    phi_parse_error unheard;
    phi_json *root = NULL;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    memset(out, 0, sizeof *out);
    phi_arena_mark mark = phi_arena_save(arena);
    r.arena = arena;
    r.out = out;
    r.error = error != NULL ? error : &unheard;
    r.no_memory = false;
    phi_status status = phi_json_parse(arena, json, PHI_JSON_REPLACE_BAD_UTF8, &root, r.error);
    r.root = root;
    if (status == PHI_OK) status = phi__event_read_whole(&r);
    if (status == PHI_TOO_BIG) status = PHI_PARSE;
    if (status != PHI_OK) {
        memset(out, 0, sizeof *out);
        phi_arena_reset(arena, mark);
    }
    return status;
}
