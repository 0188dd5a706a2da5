/* event_json.c - writes events in the interchange format: behaviours A, "AgentEvent".

   An event of a living agent gets from it the fields that it lacks: the run's messages and
   settings. An event read from JSON holds everything. Facts that other readers do not know (a
   failure's kind and HTTP status, decisions, pauses) stand in types that only phi has. */
#include "agent/agent_in.h"
#include "record/event_in.h"
#include "io/secret_in.h"
#include "model/message_in.h"
#include "text/records_in.h"
#include "history/step_in.h"
#include "record/event_json.h"
#include "model/event_parts.h"

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
    phi_usage none;
    memset(&none, 0, sizeof none);
    phi__message_put_usage(&w->out, w->event->usage != NULL ? w->event->usage : &none);
}

/* ---- the run ---- */

static void phi__event_json_api(phi__event_writer *w, phi_str protocol) {
    const char *api = phi__message_read_api(protocol);
    if (api != NULL) phi__records_str(&w->out, "api", phi_str_of(api));
}

static void phi__event_json_url(phi__event_writer *w, const char *key, const char *url) {
    phi__buf clean;
    phi__buf_init(&clean, w->out.memory);
    phi__secret_put_url(&clean, phi_str_of(url));
    phi__records_str(&w->out, key, phi__buf_str(&clean));
    if (clean.failed) w->out.failed = true;
    phi__buf_free(&clean);
}

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
    phi__event_json_api(w, phi_str_of(model->protocol));
    phi__event_json_url(w, "base_url", model->base_url);
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
    const phi_json *api;
    const char *known;
    phi_status status = phi_json_parse(w->scratch, config, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL);
    if (status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT)) {
        api = phi_json_get(root, "api");
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

static void phi__event_json_continuation(phi__event_writer *w, const phi_loop_info *loop) {
    phi__json_write_key(&w->out, PHI__LIT("continuation_kind"));
    switch (loop->continuation) {
    case PHI_CONTINUATION_DEFAULT: phi__buf_text(&w->out, "\"Default\""); break;
    case PHI_CONTINUATION_RERUN: phi__event_json_tagged(w, "Rerun", loop->tag); break;
    case PHI_CONTINUATION_BRANCH: phi__event_json_tagged(w, "Branch", loop->tag); break;
    case PHI_CONTINUATION_COMPACTION: phi__buf_text(&w->out, "\"Compaction\""); break;
    case PHI_CONTINUATION_INITIAL: phi__buf_text(&w->out, "\"Initial\""); break;
    }
}

static void phi__event_json_start(phi__event_writer *w) {
    phi_loop_info loop;
    memset(&loop, 0, sizeof loop);
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
    phi__event_json_continuation(w, &loop);
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
    uint32_t lane;
    if (w->event->message == NULL) return;
    while (at > 0 && thread->log.entries[at - 1]->message != w->event->message) at--;
    if (at == 0) return;
    lane = thread->log.entries[at - 1]->lane;
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
    phi_content content;
    phi_message part;
    phi__event_fields_put(&w->out, PHI__EVENT_TOOL, w->event);
    if (w->event->message != NULL) {
        phi__event_json_result(w, "partial_result", w->event->message);
        return;
    }
    memset(&content, 0, sizeof content);
    memset(&part, 0, sizeof part);
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
    size_t i;
    if (w->event->pruned != NULL)
        p = *w->event->pruned;
    else
        memset(&p, 0, sizeof p);
    phi__event_fields_put(&w->out, PHI__EVENT_PRUNED, &p);
    phi__records_raw(&w->out, "pruned_timestamps", "[");
    for (i = 0; i < p.timestamp_count; i++) {
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
    if (phi__revert_step_number(r.target, &target))
        phi__records_u64(&w->out, "target", target);
    else
        phi__records_raw(&w->out, "target", "null"); /* a refused revert has none */
    phi__json_write_key(&w->out, PHI__LIT("abandoned_node_ids"));
    phi__revert_step_put_all(&w->out, r.abandoned, r.abandoned_count);
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
    size_t i;
    if (w->event->parallel != NULL)
        p = *w->event->parallel;
    else
        memset(&p, 0, sizeof p);
    phi__records_str(&w->out, "session_id", p.session_id);
    if (w->event->kind == PHI_EV_PARALLEL_START) {
        phi__records_raw(&w->out, "loop_ids", "[");
        for (i = 0; i < p.loop_count; i++) {
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
    const char *type;
    if (event == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    type = phi__event_words_type(event->kind);
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
