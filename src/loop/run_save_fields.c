/* run_save_fields.c - tables of the plain fields of a run, its parts and its tool calls. */
#include "loop/run_save_in.h"
#include "text/records_in.h"

static const phi__field phi__run_save_run_fields[] = {
    PHI__FIELD(phi__run, start.trigger, "trigger", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, turn.index, "turn_index", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, said.first_message, "first_message", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, said.emitted_messages, "told_messages", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS)};

static const phi__field phi__run_save_flags_fields[] = {
    PHI__FIELD(phi__run, end.cancelled, "cancelled", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, end.stopping, "stopping", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, start.emitted, "opened", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, start.silent, "silent", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, no_turns, "compact_only", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, turn.open, "turn_open", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, turn.steered, "steered", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, tools.skipping, "skipping", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, tools.answered, "answered", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__run, tools.repeated, "doomed", PHI__FIELD_BOOL, PHI__FIELD_SET)};

static const phi__field phi__run_save_limits_fields[] = {
    PHI__FIELD(phi_limits, max_turns, "max_turns", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_limits, max_tokens, "max_tokens", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_limits, max_duration_ms, "max_duration_ms", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_limits, max_cost, "max_cost", PHI__FIELD_DOUBLE, PHI__FIELD_ALWAYS)};

static const phi__field phi__run_save_policy_fields[] = {
    PHI__FIELD(phi_policy, max_input_tokens, "max_input_tokens", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, reserve_output_tokens, "reserve_output_tokens", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, no_reserve, "no_reserve", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi_policy, max_messages, "max_messages", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, max_turns, "max_turns", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, keep_last_turns, "keep_last_turns", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, keep_no_turns, "keep_no_turns", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi_policy, summaries, "summaries", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, summary_role, "summary_role", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_policy, include, "include", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__run_save_failure_fields[] = {
    PHI__FIELD(phi_failure, kind, "kind", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, http_status, "http_status", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, retryable, "retryable", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi_failure, code, "code", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, message, "words", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_failure, request_id, "request_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

static const phi__field phi__run_save_calls_fields[] = {
    PHI__FIELD(phi__run, tools.next, "next_call", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, tools.emitted, "told_calls", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__run, tools.polled, "polled_calls", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__run_save_call_fields[] = {
    PHI__FIELD(phi__toolcall, arguments, "arguments", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__toolcall, repeats, "repeats", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__toolcall, begun, "begun", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, decided, "asked", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, quiet, "quiet", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, emitted, "told", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, started, "started", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, tries, "tries", PHI__FIELD_UINT, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, again, "again", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, ended, "ended", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, after, "after", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, skipped, "skipped", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, child_loop_id, "child_loop_id", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__toolcall, effects, "effects", PHI__FIELD_STR, PHI__FIELD_SET)};

typedef struct phi__run_save_table {
    const phi__field *fields;
    size_t count;
} phi__run_save_table;

static phi__run_save_table phi__run_save_fields_table_of(phi__run_save_part part) {
    static const phi__run_save_table tables[] = {
        {phi__run_save_run_fields, PHI__COUNT(phi__run_save_run_fields)},
        {phi__run_save_flags_fields, PHI__COUNT(phi__run_save_flags_fields)},
        {phi__run_save_limits_fields, PHI__COUNT(phi__run_save_limits_fields)},
        {phi__run_save_policy_fields, PHI__COUNT(phi__run_save_policy_fields)},
        {phi__run_save_failure_fields, PHI__COUNT(phi__run_save_failure_fields)},
        {phi__run_save_calls_fields, PHI__COUNT(phi__run_save_calls_fields)},
        {phi__run_save_call_fields, PHI__COUNT(phi__run_save_call_fields)}};
    return tables[part];
}

PHI__FN void phi__run_save_fields_put(phi__buf *out, phi__run_save_part part, const void *from) {
    phi__run_save_table table = phi__run_save_fields_table_of(part);
    phi__records_put(out, table.fields, table.count, from);
}

PHI__FN bool phi__run_save_fields_get(const phi_json *node, phi__run_save_part part, void *to,
                                      phi_arena *arena) {
    phi__run_save_table table = phi__run_save_fields_table_of(part);
    return phi__records_get(node, table.fields, table.count, to, arena);
}
