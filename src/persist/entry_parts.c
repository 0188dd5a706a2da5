/* entry_parts.c - the members that only some kinds of entries have (runs, turns, notes, forgotten
   entries): written, and read back into the thread's memory. */
#include "persist/entry_get_in.h"

#include "model/message_in.h"
#include "text/records_in.h"
#include "model/event_parts.h"

PHI__FN int phi__entry_parts_number(phi_str text, const char *(*word)(int)) {
    int i;
    for (i = 0; word(i) != NULL; i++)
        if (phi__str_is(text, word(i))) return i;
    return -1;
}

/* Fields of a table, their texts copied into the thread. */
static phi_status phi__entry_parts_get(const phi__entry_reader *r, const phi_json *node,
                                       const phi__field *fields, size_t count, void *to) {
    return phi__records_get(node, fields, count, to, phi__thread_room(r->thread)) ? PHI_OK
                                                                                  : PHI_NO_MEMORY;
}

/* ---- the start of a run ---- */

enum { PHI__ENTRY_PARTS_BEFORE_ID = 2 }; /* the run's own id stands behind these */

static const phi__field phi__entry_parts_loop_fields[] = {
    PHI__FIELD(phi_loop_info, agent_id, "agent_id", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi_loop_info, session_id, "session_id", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi_loop_info, parent_loop_id, "parent_loop_id", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi_loop_info, tag, "tag", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi_loop_info, metadata, "metadata", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi_loop_info, config, "config", PHI__FIELD_STR, PHI__FIELD_SET)};

/* What may differ from the entry, or be there and empty. */
static const phi__field phi__entry_parts_id_field =
    PHI__FIELD(phi_loop_info, loop_id, "loop_id", PHI__FIELD_STR, PHI__FIELD_ALWAYS);
static const phi__field phi__entry_parts_prompt_field =
    PHI__FIELD(phi_loop_info, system_prompt, "system_prompt", PHI__FIELD_STR, PHI__FIELD_ALWAYS);

static void phi__entry_parts_put_loop(phi__buf *out, const phi__entry *entry) {
    const phi__field *fields = phi__entry_parts_loop_fields;
    size_t count = PHI__COUNT(phi__entry_parts_loop_fields), before = PHI__ENTRY_PARTS_BEFORE_ID;
    const phi_loop_info *info = entry->of.loop;
    if (info == NULL) return;
    phi__records_raw(out, "info", "{");
    phi__records_str(out, "continuation",
                     phi_str_of(phi__entry_continuation_word((int)info->continuation)));
    phi__records_put(out, fields, before, info);
    if (!phi_str_equal(info->loop_id, entry->loop_id))
        phi__records_put(out, &phi__entry_parts_id_field, 1, info);
    phi__records_put(out, fields + before, count - before, info);
    if (info->has_system_prompt) phi__records_put(out, &phi__entry_parts_prompt_field, 1, info);
    phi__buf_char(out, '}');
}

static phi_status phi__entry_parts_read_loop(phi__entry_reader *r, const phi_json *root,
                                             phi__entry *entry) {
    const phi_json *node = phi_json_get(root, "info");
    phi_loop_info *info;
    phi_status status;
    int continuation;
    if (node == NULL) return PHI_OK;
    continuation = phi__entry_parts_number(phi__records_get_str(node, "continuation"),
                                           phi__entry_continuation_word);
    if (continuation < 0) return phi__entry_get_bad(r, "info.continuation is none of its words");
    info = (phi_loop_info *)phi__arena_zero(phi__thread_room(r->thread), sizeof *info);
    if (info == NULL) return PHI_NO_MEMORY;
    info->continuation = (phi_continuation)continuation;
    info->loop_id = entry->loop_id;
    info->has_system_prompt = phi_json_get(node, "system_prompt") != NULL;
    entry->of.loop = info;
    status = phi__entry_parts_get(r, node, phi__entry_parts_loop_fields,
                                  PHI__COUNT(phi__entry_parts_loop_fields), info);
    if (status == PHI_OK && phi_json_get(node, "loop_id") != NULL)
        status = phi__entry_parts_get(r, node, &phi__entry_parts_id_field, 1, info);
    if (status == PHI_OK)
        status = phi__entry_parts_get(r, node, &phi__entry_parts_prompt_field, 1, info);
    return status;
}

/* ---- ends ---- */

static phi_status phi__entry_parts_read_usage(phi__entry_reader *r, const phi_json *root,
                                              phi__entry *entry) {
    const phi_json *node = phi_json_get(root, "usage");
    phi_usage *usage;
    if (node == NULL) return PHI_OK;
    usage = (phi_usage *)phi_arena_alloc(phi__thread_room(r->thread), sizeof *usage);
    if (usage == NULL) return PHI_NO_MEMORY;
    *usage = phi__message_read_get_usage(node);
    entry->usage = usage;
    return PHI_OK;
}

static const phi__field phi__entry_parts_failure_fields[] = {
    PHI__FIELD(phi_failure, code, "code", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi_failure, message, "message", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi_failure, request_id, "request_id", PHI__FIELD_STR, PHI__FIELD_SET)};

static void phi__entry_parts_put_failure(phi__buf *out, const phi_failure *failure) {
    if (failure == NULL) return;
    phi__records_raw(out, "failure", "{");
    phi__records_str(out, "kind", phi_str_of(phi_failure_kind_text(failure->kind)));
    if (failure->http_status != 0) phi__records_i64(out, "http_status", failure->http_status);
    phi__records_true(out, "retryable", failure->retryable);
    if (failure->has_retry_after) phi__records_u64(out, "retry_after_ms", failure->retry_after_ms);
    phi__records_put(out, phi__entry_parts_failure_fields,
                     PHI__COUNT(phi__entry_parts_failure_fields), failure);
    phi__buf_char(out, '}');
}

static phi_failure_kind phi__entry_parts_failure_kind(phi_str text) {
#define PHI_X(name, value, words)                                                                  \
    if (phi__str_is(text, words)) return PHI_FAILURE_##name;
    PHI_FAILURE_LIST(PHI_X)
#undef PHI_X
    return PHI_FAILURE_NONE;
}

static phi_status phi__entry_parts_read_failure(phi__entry_reader *r, const phi_json *node,
                                                phi__entry *entry) {
    phi_failure *failure;
    int64_t http = phi_json_int(phi_json_get(node, "http_status"), 0);
    if (node == NULL) return PHI_OK;
    failure = (phi_failure *)phi__arena_zero(phi__thread_room(r->thread), sizeof *failure);
    if (failure == NULL) return PHI_NO_MEMORY;
    failure->kind = phi__entry_parts_failure_kind(phi__records_get_str(node, "kind"));
    failure->http_status = http >= 0 && http <= 999 ? (int)http : 0;
    failure->retryable = phi__records_get_bool(node, "retryable");
    failure->has_retry_after = phi_json_get(node, "retry_after_ms") != NULL;
    failure->retry_after_ms = phi__records_get_u64(node, "retry_after_ms");
    entry->of.failure = failure;
    return phi__entry_parts_get(r, node, phi__entry_parts_failure_fields,
                                PHI__COUNT(phi__entry_parts_failure_fields), failure);
}

static void phi__entry_parts_put_end(phi__buf *out, const phi__entry *entry) {
    phi__records_i64(out, "status", (int64_t)entry->status);
    if (entry->keep == PHI_KEEP_NONE) phi__records_str(out, "keep", PHI__LIT("none"));
    phi__entry_parts_put_failure(out, entry->of.failure);
}

static bool phi__entry_parts_is_status(int64_t n) {
#define PHI_X(name, value, words)                                                                  \
    if (n == (value)) return true;
    PHI_STATUS_LIST(PHI_X)
#undef PHI_X
    return false;
}

static phi_status phi__entry_parts_read_end(phi__entry_reader *r, const phi_json *root,
                                            phi__entry *entry) {
    int64_t status = phi_json_int(phi_json_get(root, "status"), INT64_MAX);
    phi_status read;
    if (!phi__entry_parts_is_status(status))
        return phi__entry_get_bad(r, "status: expected a phi_status");
    entry->status = (phi_status)status;
    if (phi__str_is(phi__records_get_str(root, "keep"), "none")) entry->keep = PHI_KEEP_NONE;
    read = phi__entry_parts_read_usage(r, root, entry);
    return read == PHI_OK ? phi__entry_parts_read_failure(r, phi_json_get(root, "failure"), entry)
                          : read;
}

/* ---- the rest ---- */

static const phi__field phi__entry_parts_spawn_fields[] = {
    PHI__FIELD(phi__child_run, tool_call_id, "tool_call_id", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__child_run, session_id, "session_id", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(phi__child_run, loop_id, "loop_id", PHI__FIELD_STR, PHI__FIELD_SET)};

static const phi__field phi__entry_parts_note_fields[] = {
    PHI__FIELD(phi__note, kind, "name", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__note, json, "json", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

static const phi__field phi__entry_parts_forgotten_fields[] = {
    PHI__FIELD(phi_forgotten, from, "from", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_forgotten, messages, "messages", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_forgotten, bytes, "bytes", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi_forgotten, compacted, "compacted", PHI__FIELD_BOOL, PHI__FIELD_SET)};

static phi_status phi__entry_parts_read_turn(phi__entry_reader *r, const phi_json *root,
                                             phi__entry *entry) {
    int trigger =
        phi__entry_parts_number(phi__records_get_str(root, "trigger"), phi__entry_trigger_word);
    if (trigger < 0) return phi__entry_get_bad(r, "trigger is none of its words");
    entry->trigger = (phi_trigger)trigger;
    return PHI_OK;
}

static phi_status phi__entry_parts_read_spawn(phi__entry_reader *r, const phi_json *root,
                                              phi__entry *entry) {
    phi__child_run *spawn =
        (phi__child_run *)phi__arena_zero(phi__thread_room(r->thread), sizeof *spawn);
    if (spawn == NULL) return PHI_NO_MEMORY;
    entry->of.spawn = spawn;
    return phi__entry_parts_get(r, root, phi__entry_parts_spawn_fields,
                                PHI__COUNT(phi__entry_parts_spawn_fields), spawn);
}

static phi_status phi__entry_parts_read_note(phi__entry_reader *r, const phi_json *root,
                                             phi__entry *entry) {
    phi__note *note = (phi__note *)phi__arena_zero(phi__thread_room(r->thread), sizeof *note);
    phi_json *tree = NULL;
    phi_parse_error error;
    phi_status status;
    if (note == NULL) return PHI_NO_MEMORY;
    if (phi__records_get_str(root, "name").len == 0)
        return phi__entry_get_bad(r, "name is missing");
    status = phi_json_parse(&r->scratch, phi__records_get_str(root, "json"), PHI_JSON_BORROW, &tree,
                            &error);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK) return phi__entry_get_bad(r, "json: %s", error.message);
    entry->of.note = note;
    return phi__entry_parts_get(r, root, phi__entry_parts_note_fields,
                                PHI__COUNT(phi__entry_parts_note_fields), note);
}

/* The first entry of a log that has forgotten the entries before it. */
static phi_status phi__entry_parts_read_forgotten(phi__entry_reader *r, const phi_json *root,
                                                  phi__entry *entry) {
    phi_thread *thread = r->thread;
    phi_forgotten *forgotten =
        (phi_forgotten *)phi__arena_zero(phi__thread_room(thread), sizeof *forgotten);
    if (forgotten == NULL) return PHI_NO_MEMORY;
    if (thread->log.held > 0) return phi__entry_get_bad(r, "forgotten: it is not the first entry");
    entry->of.forgotten = forgotten;
    (void)phi__records_get(root, phi__entry_parts_forgotten_fields,
                           PHI__COUNT(phi__entry_parts_forgotten_fields), forgotten, NULL);
    forgotten->to = thread->log.count;
    if (forgotten->from > forgotten->to)
        return phi__entry_get_bad(r, "forgotten: from is past the entry itself");
    forgotten->made_ms = phi_json_int(phi_json_get(root, "made"), 0);
    phi__log_set_made(&thread->log, forgotten->made_ms);
    return phi__entry_parts_read_usage(r, root, entry);
}

/* ---- all of them ---- */

PHI__FN void phi__entry_parts_put(phi__buf *out, const phi__entry *entry) {
    switch (entry->kind) {
    case PHI_ENTRY_LOOP_START: phi__entry_parts_put_loop(out, entry); break;
    case PHI_ENTRY_LOOP_END: phi__entry_parts_put_end(out, entry); break;
    case PHI_ENTRY_TURN_START:
        phi__records_some(out, "trigger", phi_str_of(phi__entry_trigger_word((int)entry->trigger)));
        break;
    case PHI_ENTRY_SPAWN:
        phi__records_put(out, phi__entry_parts_spawn_fields,
                         PHI__COUNT(phi__entry_parts_spawn_fields), entry->of.spawn);
        break;
    case PHI_ENTRY_NOTE:
        phi__records_put(out, phi__entry_parts_note_fields,
                         PHI__COUNT(phi__entry_parts_note_fields), entry->of.note);
        break;
    case PHI_ENTRY_FORGOTTEN:
        phi__records_put(out, phi__entry_parts_forgotten_fields,
                         PHI__COUNT(phi__entry_parts_forgotten_fields), entry->of.forgotten);
        if (entry->of.forgotten->made_ms != 0)
            phi__records_i64(out, "made", entry->of.forgotten->made_ms);
        break;
    case PHI_ENTRY_TURN_END:
    case PHI_ENTRY_MESSAGE:
    case PHI_ENTRY_REWRITE:
    case PHI_ENTRY_LANE:
    case PHI_ENTRY_SWITCH: break;
    }
    if (entry->usage != NULL) phi__message_put_usage(out, entry->usage);
}

PHI__FN phi_status phi__entry_parts_read(phi__entry_reader *r, const phi_json *root,
                                         phi__entry *entry) {
    switch (entry->kind) {
    case PHI_ENTRY_LOOP_START: return phi__entry_parts_read_loop(r, root, entry);
    case PHI_ENTRY_LOOP_END: return phi__entry_parts_read_end(r, root, entry);
    case PHI_ENTRY_TURN_START: return phi__entry_parts_read_turn(r, root, entry);
    case PHI_ENTRY_TURN_END: return phi__entry_parts_read_usage(r, root, entry);
    case PHI_ENTRY_SPAWN: return phi__entry_parts_read_spawn(r, root, entry);
    case PHI_ENTRY_NOTE: return phi__entry_parts_read_note(r, root, entry);
    case PHI_ENTRY_FORGOTTEN: return phi__entry_parts_read_forgotten(r, root, entry);
    case PHI_ENTRY_MESSAGE:
    case PHI_ENTRY_REWRITE:
    case PHI_ENTRY_LANE:
    case PHI_ENTRY_SWITCH: break;
    }
    return PHI_OK;
}
