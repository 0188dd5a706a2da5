/* session_fields.c - tables of the plain fields of a session and its parts, for JSON. */
#include "record/session_in.h"
#include "text/records_in.h"

static const phi__field phi__session_session_fields[] = {
    PHI__FIELD(phi_session, session_id, "session_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_session, agent_id, "agent_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_session, created_ms, "created_at", PHI__FIELD_TIME, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_session, last_active_ms, "last_active_at", PHI__FIELD_TIME, PHI__FIELD_ALWAYS)};

static const phi__field phi__session_spawn_fields[] = {
    PHI__FIELD(phi_spawn_ref, parent_session_id, "parent_session_id", PHI__FIELD_STR,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_spawn_ref, parent_loop_id, "parent_loop_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_spawn_ref, tool_call_id, "tool_call_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_spawn_ref, tool_name, "tool_name", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

static const phi__field phi__session_loop_fields[] = {
    PHI__FIELD(phi_loop_record, loop_id, "loop_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_loop_record, session_id, "session_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_loop_record, agent_id, "agent_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_loop_record, parent_loop_id, "parent_loop_id", PHI__FIELD_STR,
               PHI__FIELD_OPTION)};

static const phi__field phi__session_turn_id_fields[] = {
    PHI__FIELD(phi_turn, loop_id, "loopId", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_turn, turn_index, "turnIndex", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

static const phi__field phi__session_turn_times_fields[] = {
    PHI__FIELD(phi_turn, started_ms, "started_at", PHI__FIELD_TIME, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_turn, ended_ms, "ended_at", PHI__FIELD_TIME, PHI__FIELD_ALWAYS)};

static const phi__field phi__session_child_fields[] = {
    PHI__FIELD(phi_child_ref, tool_call_id, "tool_call_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_child_ref, tool_name, "tool_name", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_child_ref, child_loop_id, "child_loop_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_child_ref, child_session_id, "child_session_id", PHI__FIELD_STR,
               PHI__FIELD_ALWAYS)};

static const phi__field phi__session_group_fields[] = {
    PHI__FIELD(phi_loop_group, selected_loop_id, "selected_loop_id", PHI__FIELD_STR,
               PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_loop_group, selected_index, "selected_config_index", PHI__FIELD_UINT,
               PHI__FIELD_ALWAYS)};

static const phi__field phi__session_range_fields[] = {
    PHI__FIELD(phi_block_section, from, "startTurn", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_block_section, to, "endTurn", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};

typedef struct phi__session_table {
    const phi__field *fields;
    size_t count;
} phi__session_table;

static phi__session_table phi__session_fields_table_of(phi__session_part part) {
    static const phi__session_table tables[] = {
        {phi__session_session_fields, PHI__COUNT(phi__session_session_fields)},
        {phi__session_spawn_fields, PHI__COUNT(phi__session_spawn_fields)},
        {phi__session_loop_fields, PHI__COUNT(phi__session_loop_fields)},
        {phi__session_turn_id_fields, PHI__COUNT(phi__session_turn_id_fields)},
        {phi__session_turn_times_fields, PHI__COUNT(phi__session_turn_times_fields)},
        {phi__session_child_fields, PHI__COUNT(phi__session_child_fields)},
        {phi__session_group_fields, PHI__COUNT(phi__session_group_fields)},
        {phi__session_range_fields, PHI__COUNT(phi__session_range_fields)}};
    return tables[part];
}

PHI__FN void phi__session_fields_put(phi__buf *out, phi__session_part part, const void *from) {
    phi__session_table table = phi__session_fields_table_of(part);
    phi__records_put(out, table.fields, table.count, from);
}

PHI__FN void phi__session_fields_get(const phi_json *node, phi__session_part part, void *to) {
    phi__session_table table = phi__session_fields_table_of(part);
    (void)phi__records_get(node, table.fields, table.count, to, NULL);
}
