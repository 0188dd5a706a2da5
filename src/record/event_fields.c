/* event_fields.c - tables of the plain fields of events, for JSON. */
#include "record/event_in.h"
#include "text/records_in.h"
#include "model/event_parts.h"
#include "model/failure.h"

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
