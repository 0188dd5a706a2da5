/* event_read.c - reads events in the interchange format, ours and others': behaviours A,
   "AgentEvent".

   Lenient where a reader can be: a field that is missing or of a wrong type counts as absent,
   unknown keys are ignored. But an event with an invalid message is refused. Everything that an
   event points to is in the tree's arena. */
#include "agent/agent.h"
#include "record/event_in.h"
#include "base/arena_in.h"
#include "base/utf8_in.h"
#include "model/message_in.h"
#include "text/records_in.h"
#include "history/step_in.h"
#include "record/event_json.h"
#include "history/compact.h"
#include "loop/tool.h"
#include "model/event_parts.h"

#include <stdio.h>

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
    phi_status status;
    if (!needed && (node == NULL || phi_json_is(node, PHI_JSON_NULL))) return PHI_OK;
    message = (phi_message *)phi__event_read_alloc(r, sizeof *message);
    if (message == NULL) return PHI_NO_MEMORY;
    status = phi__message_read_get(node, r->arena, message, r->error);
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

/* "Default", {"Rerun":{"tag":".."}}; nothing, as older files have it, is a beginning. */
static void phi__event_read_continuation(const phi_json *node, phi_loop_info *loop) {
    const phi_json *rerun = phi_json_get(node, "Rerun"), *branch = phi_json_get(node, "Branch");
    phi_str word = phi_json_str(node, "");
    if (phi__str_is(word, "Default")) loop->continuation = PHI_CONTINUATION_DEFAULT;
    if (phi__str_is(word, "Compaction")) loop->continuation = PHI_CONTINUATION_COMPACTION;
    if (rerun != NULL) loop->continuation = PHI_CONTINUATION_RERUN;
    if (branch != NULL) loop->continuation = PHI_CONTINUATION_BRANCH;
    loop->tag = phi_json_str(phi_json_get(branch != NULL ? branch : rerun, "tag"), "");
}

static phi_status phi__event_read_start(phi__event_reader *r) {
    phi_loop_info *loop = (phi_loop_info *)phi__event_read_alloc(r, sizeof *loop);
    if (loop == NULL) return PHI_NO_MEMORY;
    loop->agent_id = phi__records_get_str(r->root, "agent_id");
    loop->session_id = phi__records_get_str(r->root, "session_id");
    loop->loop_id = r->out->loop_id;
    loop->parent_loop_id = phi__records_get_str(r->root, "parent_loop_id");
    phi__event_read_continuation(phi__event_read_get(r, "continuation_kind"), loop);
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
    int i;
    r->out->turn_index = phi__records_get_u32(r->root, "turn_index");
    r->out->timestamp_ms = phi__records_get_time(r->root, "timestamp");
    r->out->trigger = PHI_TRIGGER_USER;
    for (i = PHI_TRIGGER_USER; i <= PHI_TRIGGER_BRANCH; i++)
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
    size_t i;
    if (status != PHI_OK) return status;
    for (i = 0; i < PHI__COUNT(kinds) && inside == NULL; i++) {
        inside = phi_json_get(phi_json_get(delta, phi__event_words_delta(kinds[i])), "delta");
        r->out->kind = kinds[i];
    }
    if (inside == NULL)
        return phi__event_read_bad(r, PHI_PARSE, "delta: expected Text, Thinking or ToolCallDelta");
    r->out->text = phi_json_str(inside, "");
    for (i = r->out->message->content_count; i > 0; i--) {
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
    phi_status status;
    if (node == NULL || phi_json_is(node, PHI_JSON_NULL)) return PHI_OK;
    message = (phi_message *)phi__event_read_alloc(r, sizeof *message);
    if (message == NULL) return PHI_NO_MEMORY;
    message->role = PHI_ROLE_TOOL_RESULT;
    message->tool_call_id = r->out->tool_call_id;
    message->tool_name = r->out->tool_name;
    message->is_error = r->out->is_error;
    message->details = phi__event_read_json(r, phi_json_get(node, "details"));
    status = phi__message_read_get_blocks(content, r->arena, message, r->error);
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
    int i;
    for (i = PHI_INPUT_PROMPT; i <= PHI_INPUT_INJECTED; i++)
        if (phi__str_is(word, phi__event_words_input((phi_input)i))) return (phi_input)i;
    return PHI_INPUT_NONE;
}

static phi_status phi__event_read_decision(phi__event_reader *r) {
    phi_str word = phi__records_get_str(r->root, "point");
    int point;
    for (point = PHI_HOOK_BEFORE_LOOP; point <= PHI_HOOK_QUESTION; point *= 2)
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
    int i;
    if (failure == NULL) return PHI_NO_MEMORY;
    for (i = PHI_FAILURE_AUTH; i <= PHI_FAILURE_NO_MEMORY; i++)
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
    int i;
    for (i = PHI_EV_AGENT_START; phi_event_name((phi_event_kind)i)[0] != '\0'; i++)
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
    phi_status status;
    if (!phi_json_is(r->root, PHI_JSON_OBJECT))
        return phi__event_read_bad(r, PHI_PARSE, "expected an object: an event");
    if (!phi_json_is(type, PHI_JSON_STRING))
        return phi__event_read_bad(r, PHI_PARSE, "type: expected a string, such as \"TurnStart\"");
    status = phi__event_read_kind(r, phi_json_str(type, ""));
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
    phi_arena_mark mark;
    phi_json *root = NULL;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    memset(out, 0, sizeof *out);
    mark = phi_arena_save(arena);
    r.arena = arena;
    r.out = out;
    r.error = error != NULL ? error : &unheard;
    r.no_memory = false;
    status = phi_json_parse(arena, json, PHI_JSON_REPLACE_BAD_UTF8, &root, r.error);
    r.root = root;
    if (status == PHI_OK) status = phi__event_read_whole(&r);
    if (status == PHI_TOO_BIG) status = PHI_PARSE;
    if (status != PHI_OK) {
        memset(out, 0, sizeof *out);
        phi_arena_reset(arena, mark);
    }
    return status;
}
