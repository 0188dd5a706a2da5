/* entries.c - entries as JSON. An entry that is read is appended like a new one, so an invalid
   entry is refused. Then the entry gets its stored time, run and turn. */

#include "persist/journal_in.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- reading an entry's message or rewrite into an arena, without a thread ---- */

/* The members of an entry, a message and a rewrite, in the order in which they are written. */
#define PHI__ENTRY_LIST(X)                                                                         \
    X(SEQ, "seq")                                                                                  \
    X(KIND, "kind")                                                                                \
    X(AT, "at")                                                                                    \
    X(LANE, "lane")                                                                                \
    X(LOOP, "loop")                                                                                \
    X(TURN, "turn")                                                                                \
    X(IS_DURABLE, "durable")                                                                       \
    X(IS_SYNTHETIC, "synthetic")                                                                   \
    X(IS_SUMMARY, "summary")                                                                       \
    X(IS_LINES, "lines")                                                                           \
    X(IS_UNMEASURED, "unmeasured")                                                                 \
    X(IS_GRAFTED, "grafted")                                                                       \
    X(MESSAGE, "message")                                                                          \
    X(MORE, "more")                                                                                \
    X(OP_ID, "op_id")                                                                              \
    X(REASON, "reason")                                                                            \
    X(BASE_SEQ, "base_seq")                                                                        \
    X(REVOKE, "revoke")                                                                            \
    X(SWITCH_TO, "switch_to")                                                                      \
    X(META, "meta")                                                                                \
    X(WRITTEN, "written")                                                                          \
    X(SPANS, "spans")

#define PHI_X(name, text) PHI__ENTRY_IN_##name,
enum { PHI__ENTRY_LIST(PHI_X) PHI__ENTRY_IN_COUNT };
#undef PHI_X

#define PHI_X(name, text) PHI__JSON_NAME(text),
static const phi_str phi__entry_names[] = {PHI__ENTRY_LIST(PHI_X)};
#undef PHI_X

enum {
    PHI__SPAN_IN_FROM,
    PHI__SPAN_IN_TO,
    PHI__SPAN_IN_SUMMARY,
    PHI__SPAN_IN_LINES,
    PHI__SPAN_IN_MESSAGES,
    PHI__SPAN_IN_COUNT
};

static const phi_str phi__entry_span_names[] = {PHI__JSON_NAME("from"), PHI__JSON_NAME("to"),
                                                PHI__JSON_NAME("summary"), PHI__JSON_NAME("lines"),
                                                PHI__JSON_NAME("messages")};

/* Formats an error message into the reader and returns PHI_PARSE. */
static phi_status phi__get_bad(phi__entry_reader *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(r->words, sizeof r->words, format, args);
    va_end(args);
    return PHI_PARSE;
}

PHI__FN void phi__get_reader_init(phi__entry_reader *reader, phi_thread *thread) {
    memset(reader, 0, sizeof *reader);
    reader->thread = thread;
    phi_arena_init(&reader->scratch, thread->log.memory, PHI__ENTRY_SCRATCH);
}

PHI__FN void phi__get_reader_free(phi__entry_reader *reader) { phi_arena_free(&reader->scratch); }

static void phi__get_pick(const phi_json *root, const phi_json *in[PHI__ENTRY_IN_COUNT]) {
    phi__json_get_pick(root, phi__entry_names, PHI__ENTRY_IN_COUNT, in);
}

/* Copies a string into the scratch arena, terminated. *out is NULL if the member is no string. */
static phi_status phi__get_text(phi__entry_reader *r, const phi_json *node, phi_str key,
                                const char **out) {
    phi_str copy;
    *out = NULL;
    if (!phi_json_is(node, PHI_JSON_STRING)) return PHI_OK;
    if (!phi__arena_str(&r->scratch, phi_json_str(node, ""), &copy)) return PHI_NO_MEMORY;
    if (strlen(copy.at) != copy.len) return phi__get_bad(r, "%s: it holds a zero byte", key.at);
    *out = copy.at;
    return PHI_OK;
}

static phi_status phi__get_exact(phi__entry_reader *r, const phi_json *array,
                                 phi_message *message) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    while ((node = phi_json_next(&it)) != NULL) {
        uint64_t at = phi__json_get_uint(phi_json_get(node, "block"), UINT64_MAX);
        const phi_json *arguments = phi_json_get(node, "arguments"),
                       *replay = phi_json_get(node, "replay");
        if (at >= message->content_count)
            return phi__get_bad(r, "exact: there is no such block of the message");
        phi_content *block = (phi_content *)(uintptr_t)&message->content[at];
        if (arguments != NULL && block->kind == PHI_CONTENT_TOOL_CALL)
            block->arguments = phi_json_str(arguments, "");
        if (replay != NULL && block->kind != PHI_CONTENT_IMAGE)
            block->replay = phi_json_str(replay, "");
    }
    return PHI_OK;
}

static phi_status phi__get_extension(phi__entry_reader *r, const phi_json *more,
                                     phi_message *message) {
    const phi_json *content = phi_json_get(more, "content"), *data = phi_json_get(more, "data");
    phi_parse_error error;
    phi_status status = PHI_OK;
    message->timestamp_ms = phi_json_int(phi_json_get(more, "timestamp"), 0);
    message->loop_id = phi__records_get_str(more, "loop");
    message->turn_index = 0;
    if (data != NULL) message->extension_data = phi_json_str(data, "");
    if (content != NULL)
        status = phi__message_read_get_blocks(content, &r->scratch, message, &error);
    return status == PHI_PARSE ? phi__get_bad(r, "more: %s", error.message) : status;
}

/* Reads a message from its members "message" and "more" into the scratch arena. */
static phi_status phi__get_whole(phi__entry_reader *r, const phi_json *node, const phi_json *more,
                                 phi_message *out) {
    phi_parse_error error;
    if (node == NULL) return phi__get_bad(r, "message is missing");
    phi_status status = phi__message_read_get(node, &r->scratch, out, &error);
    if (status == PHI_PARSE) return phi__get_bad(r, "message: %s", error.message);
    if (status != PHI_OK) return status;
    if (out->role == PHI_ROLE_EXTENSION) status = phi__get_extension(r, more, out);
    if (status != PHI_OK) return status;
    if (out->role == PHI_ROLE_ASSISTANT && phi_json_bool(phi_json_get(more, "unstopped"), false))
        out->stop_reason = PHI_STOP_REASON_NONE;
    out->raw_stop_reason = phi__records_get_str(more, "raw_stop_reason");
    out->details = phi__records_get_str(more, "details");
    if (out->role == PHI_ROLE_EXTENSION || out->loop_id.len == 0)
        out->turn_index = phi__records_get_u32(more, "turn");
    return more != NULL ? phi__get_exact(r, phi_json_get(more, "exact"), out) : PHI_OK;
}

PHI__FN phi_status phi__get_message(phi__entry_reader *r, const phi_json *holder,
                                    phi_message *out) {
    static const phi_str names[] = {PHI__JSON_NAME("message"), PHI__JSON_NAME("more")};
    const phi_json *in[PHI__COUNT(names)];
    phi__json_get_pick(holder, names, PHI__COUNT(names), in);
    return phi__get_whole(r, in[0], in[1], out);
}

static phi_status phi__get_span(phi__entry_reader *r, const phi_json *node, phi_span *span) {
    const phi_json *in[PHI__SPAN_IN_COUNT], *child;
    phi_status status = PHI_OK;
    memset(span, 0, sizeof *span);
    phi__json_get_pick(node, phi__entry_span_names, PHI__SPAN_IN_COUNT, in);
    if (in[PHI__SPAN_IN_FROM] == NULL || in[PHI__SPAN_IN_TO] == NULL)
        return phi__get_bad(r, "spans: from or to is missing");
    span->from = phi__json_get_uint(in[PHI__SPAN_IN_FROM], UINT64_MAX);
    span->to = phi__json_get_uint(in[PHI__SPAN_IN_TO], UINT64_MAX);
    span->summary = phi_json_bool(in[PHI__SPAN_IN_SUMMARY], false);
    span->lines = phi_json_bool(in[PHI__SPAN_IN_LINES], false);
    const phi_json *array = in[PHI__SPAN_IN_MESSAGES];
    phi_json_iter it = phi_json_each(array);
    if (phi_json_count(array) == 0) return PHI_OK;
    phi_message *messages = (phi_message *)phi_arena_alloc(
        &r->scratch, phi__mul(phi_json_count(array), sizeof *messages));
    if (messages == NULL) return PHI_NO_MEMORY;
    while (status == PHI_OK && (child = phi_json_next(&it)) != NULL)
        status = phi__get_message(r, child, &messages[span->message_count++]);
    span->messages = messages;
    return status;
}

static phi_status phi__get_spans(phi__entry_reader *r, const phi_json *array,
                                 phi_rewrite *rewrite) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    phi_status status = PHI_OK;
    if (phi_json_count(array) == 0) return PHI_OK;
    phi_span *spans =
        (phi_span *)phi_arena_alloc(&r->scratch, phi__mul(phi_json_count(array), sizeof *spans));
    if (spans == NULL) return PHI_NO_MEMORY;
    while (status == PHI_OK && (node = phi_json_next(&it)) != NULL)
        status = phi__get_span(r, node, &spans[rewrite->span_count++]);
    rewrite->spans = spans;
    return status;
}

static phi_status phi__get_reason(phi__entry_reader *r, const phi_json *node,
                                  phi_rewrite *rewrite) {
    phi_str word = phi__json_text_of(node);
    for (int i = PHI_REWRITE_MANUAL; i <= PHI_REWRITE_SYSTEM; i++)
        if (phi__str_is(word, phi__entry_reason_word((phi_rewrite_reason)i))) {
            rewrite->reason = (phi_rewrite_reason)i;
            return PHI_OK;
        }
    return phi__get_bad(r, "reason is none of its words");
}

static phi_status phi__get_written(phi__entry_reader *r, const phi_json *node,
                                   phi_rewrite *rewrite) {
    if (node == NULL) return PHI_OK;
    phi_written *written = (phi_written *)phi__arena_zero(&r->scratch, sizeof *written);
    if (written == NULL) return PHI_NO_MEMORY;
    written->usage = phi__message_read_get_usage(phi_json_get(node, "usage"));
    written->cost = phi_json_num(phi_json_get(node, "cost"), 0);
    if (!(written->cost >= 0)) return phi__get_bad(r, "written: cost is no amount");
    rewrite->written = written;
    return phi__get_text(r, phi_json_get(node, "model"), PHI__LIT("model"), &written->model);
}

static phi_status phi__get_members(phi__entry_reader *r, const phi_json *const *in,
                                   phi_rewrite *rewrite) {
    static const int texts[] = {PHI__ENTRY_IN_OP_ID, PHI__ENTRY_IN_LANE, PHI__ENTRY_IN_REVOKE,
                                PHI__ENTRY_IN_META, PHI__ENTRY_IN_SWITCH_TO};
    const char **const to[] = {&rewrite->op_id, &rewrite->lane, &rewrite->revoke, &rewrite->meta,
                               &rewrite->switch_to};
    phi_status status = PHI_OK;
    memset(rewrite, 0, sizeof *rewrite);
    for (size_t i = 0; status == PHI_OK && i < PHI__COUNT(texts); i++)
        status = phi__get_text(r, in[texts[i]], phi__entry_names[texts[i]], to[i]);
    if (status == PHI_OK) status = phi__get_reason(r, in[PHI__ENTRY_IN_REASON], rewrite);
    if (status == PHI_OK) status = phi__get_written(r, in[PHI__ENTRY_IN_WRITTEN], rewrite);
    if (status == PHI_OK) status = phi__get_spans(r, in[PHI__ENTRY_IN_SPANS], rewrite);
    rewrite->base_seq = phi__json_get_uint(in[PHI__ENTRY_IN_BASE_SEQ], 0);
    rewrite->has_base = in[PHI__ENTRY_IN_BASE_SEQ] != NULL;
    return status;
}

PHI__FN phi_status phi__get_rewrite(phi__entry_reader *r, const phi_json *root,
                                    phi_rewrite *rewrite) {
    const phi_json *in[PHI__ENTRY_IN_COUNT];
    phi__get_pick(root, in);
    return phi__get_members(r, in, rewrite);
}

/* ---- members that only some kinds of entries have ---- */

static const char *phi__entry_kind_word(int kind) {
    static const char *const words[] = {"",         "message",    "rewrite",  "lane",
                                        "switch",   "loop_start", "loop_end", "turn_start",
                                        "turn_end", "spawn",      "note",     "forgotten"};
    return kind >= 0 && (size_t)kind < PHI__COUNT(words) ? words[kind] : NULL;
}

/* Returns the index of `text` in a list of words that ends with NULL; -1 if `text` is not in the
   list. */
static int phi__part_number(phi_str text, const char *(*word)(int)) {
    for (int i = 0; word(i) != NULL; i++)
        if (phi__str_is(text, word(i))) return i;
    return -1;
}

/* Allocates an entry's detail in the thread, and reads its fields by the table. NULL: no memory. */
static void *phi__part_get(const phi__entry_reader *r, const phi_json *node, size_t size,
                           const phi__field *fields, size_t count) {
    void *part = phi__arena_zero(phi__thread_room(r->thread), size);
    if (part == NULL || !phi__records_get(node, fields, count, part, phi__thread_room(r->thread)))
        return NULL;
    return part;
}

enum { PHI__PART_BEFORE_ID = 2 }; /* the run's own id is written after these two fields */

static const phi__field phi__part_loop[] = {PHI__KEYED(phi_loop_info, agent_id, STR, SET),
                                            PHI__KEYED(phi_loop_info, session_id, STR, SET),
                                            PHI__KEYED(phi_loop_info, parent_loop_id, STR, SET),
                                            PHI__KEYED(phi_loop_info, tag, STR, SET),
                                            PHI__KEYED(phi_loop_info, metadata, STR, SET),
                                            PHI__KEYED(phi_loop_info, config, STR, SET)};

static const phi__field phi__part_failure[] = {PHI__KEYED(phi_failure, code, STR, SET),
                                               PHI__KEYED(phi_failure, message, STR, SET),
                                               PHI__KEYED(phi_failure, request_id, STR, SET)};

static const phi__field phi__part_spawn[] = {PHI__KEYED(phi__child_run, tool_call_id, STR, SET),
                                             PHI__KEYED(phi__child_run, session_id, STR, SET),
                                             PHI__KEYED(phi__child_run, loop_id, STR, SET)};

static const phi__field phi__part_note[] = {
    PHI__FIELD(phi__note, kind, "name", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__KEYED(phi__note, json, STR, ALWAYS)};

static const phi__field phi__part_forgotten[] = {PHI__KEYED(phi_forgotten, from, UINT, ALWAYS),
                                                 PHI__KEYED(phi_forgotten, messages, UINT, ALWAYS),
                                                 PHI__KEYED(phi_forgotten, bytes, UINT, ALWAYS),
                                                 PHI__KEYED(phi_forgotten, compacted, BOOL, SET)};

/* ---- start of a run ---- */

static void phi__part_put_loop(phi__buf *out, const phi__entry *entry) {
    size_t before = PHI__PART_BEFORE_ID;
    const phi_loop_info *info = entry->of.loop;
    if (info == NULL) return;
    phi__records_raw(out, "info", "{");
    phi__records_str(out, "continuation",
                     phi_str_of(phi__entry_continuation_word((int)info->continuation)));
    phi__records_put(out, phi__part_loop, before, info);
    if (!phi_str_equal(info->loop_id, entry->loop_id))
        phi__records_str(out, "loop_id", info->loop_id);
    phi__records_put(out, phi__part_loop + before, PHI__COUNT(phi__part_loop) - before, info);
    if (info->has_system_prompt) phi__records_str(out, "system_prompt", info->system_prompt);
    phi__buf_char(out, '}');
}

/* Copies a string into the thread. *out is "" if the member is missing. */
static bool phi__part_str(const phi__entry_reader *r, const phi_json *node, phi_str *out) {
    phi_str text = phi_json_str(node, "");
    *out = phi__str("", 0);
    return text.len == 0 || phi__arena_str(phi__thread_room(r->thread), text, out);
}

static phi_status phi__part_read_loop(phi__entry_reader *r, const phi_json *root,
                                      phi__entry *entry) {
    const phi_json *node = phi_json_get(root, "info");
    const phi_json *id = phi_json_get(node, "loop_id"), *prompt;
    if (node == NULL) return PHI_OK;
    int continuation =
        phi__part_number(phi__records_get_str(node, "continuation"), phi__entry_continuation_word);
    if (continuation < 0) return phi__get_bad(r, "info.continuation is none of its words");
    phi_loop_info *info = (phi_loop_info *)phi__part_get(r, node, sizeof *info, phi__part_loop,
                                                         PHI__COUNT(phi__part_loop));
    if (info == NULL) return PHI_NO_MEMORY;
    prompt = phi_json_get(node, "system_prompt");
    info->continuation = (phi_continuation)continuation;
    info->loop_id = entry->loop_id;
    info->has_system_prompt = prompt != NULL;
    entry->of.loop = info;
    return (id == NULL || phi__part_str(r, id, &info->loop_id)) &&
                   phi__part_str(r, prompt, &info->system_prompt)
               ? PHI_OK
               : PHI_NO_MEMORY;
}

/* ---- end of a run or turn ---- */

static phi_status phi__part_read_usage(phi__entry_reader *r, const phi_json *root,
                                       phi__entry *entry) {
    const phi_json *node = phi_json_get(root, "usage");
    if (node == NULL) return PHI_OK;
    phi_usage *usage = (phi_usage *)phi_arena_alloc(phi__thread_room(r->thread), sizeof *usage);
    if (usage == NULL) return PHI_NO_MEMORY;
    *usage = phi__message_read_get_usage(node);
    entry->usage = usage;
    return PHI_OK;
}

static phi_status phi__part_read_failure(phi__entry_reader *r, const phi_json *node,
                                         phi__entry *entry) {
    int64_t http = phi_json_int(phi_json_get(node, "http_status"), 0);
    phi_str kind = phi__records_get_str(node, "kind");
    if (node == NULL) return PHI_OK;
    phi_failure *failure = (phi_failure *)phi__part_get(r, node, sizeof *failure, phi__part_failure,
                                                        PHI__COUNT(phi__part_failure));
    if (failure == NULL) return PHI_NO_MEMORY;
    for (int i = PHI_FAILURE_AUTH; i <= PHI_FAILURE_NO_MEMORY; i++)
        if (phi__str_is(kind, phi_failure_kind_text((phi_failure_kind)i)))
            failure->kind = (phi_failure_kind)i;
    failure->http_status = http >= 0 && http <= 999 ? (int)http : 0;
    failure->retryable = phi__records_get_bool(node, "retryable");
    failure->has_retry_after = phi_json_get(node, "retry_after_ms") != NULL;
    failure->retry_after_ms = phi__records_get_u64(node, "retry_after_ms");
    entry->of.failure = failure;
    return PHI_OK;
}

static void phi__part_put_end(phi__buf *out, const phi__entry *entry) {
    phi__records_i64(out, "status", (int64_t)entry->status);
    if (entry->keep == PHI_KEEP_NONE) phi__records_str(out, "keep", PHI__LIT("none"));
    const phi_failure *failure = entry->of.failure;
    if (failure == NULL) return;
    phi__records_raw(out, "failure", "{");
    phi__records_str(out, "kind", phi_str_of(phi_failure_kind_text(failure->kind)));
    if (failure->http_status != 0) phi__records_i64(out, "http_status", failure->http_status);
    phi__records_true(out, "retryable", failure->retryable);
    if (failure->has_retry_after) phi__records_u64(out, "retry_after_ms", failure->retry_after_ms);
    PHI__RECORDS_PUT(out, phi__part_failure, failure);
    phi__buf_char(out, '}');
}

static bool phi__part_is_status(int64_t n) {
#define PHI_X(name, value, words)                                                                  \
    if (n == (value)) return true;
    PHI_STATUS_LIST(PHI_X)
#undef PHI_X
    return false;
}

static phi_status phi__part_read_end(phi__entry_reader *r, const phi_json *root,
                                     phi__entry *entry) {
    int64_t status = phi_json_int(phi_json_get(root, "status"), INT64_MAX);
    if (!phi__part_is_status(status)) return phi__get_bad(r, "status: expected a phi_status");
    entry->status = (phi_status)status;
    if (phi__str_is(phi__records_get_str(root, "keep"), "none")) entry->keep = PHI_KEEP_NONE;
    phi_status read = phi__part_read_usage(r, root, entry);
    return read == PHI_OK ? phi__part_read_failure(r, phi_json_get(root, "failure"), entry) : read;
}

/* ---- notes and forgotten entries ---- */

static phi_status phi__part_read_note(phi__entry_reader *r, const phi_json *root,
                                      phi__entry *entry) {
    phi_json *tree = NULL;
    phi_parse_error error;
    if (phi__records_get_str(root, "name").len == 0) return phi__get_bad(r, "name is missing");
    phi_status status = phi_json_parse(&r->scratch, phi__records_get_str(root, "json"),
                                       PHI_JSON_BORROW, &tree, &error);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK) return phi__get_bad(r, "json: %s", error.message);
    entry->of.note = (phi__note *)phi__part_get(r, root, sizeof(phi__note), phi__part_note,
                                                PHI__COUNT(phi__part_note));
    return entry->of.note != NULL ? PHI_OK : PHI_NO_MEMORY;
}

/* Reads the first entry of a log whose earlier entries are forgotten. */
static phi_status phi__part_read_forgotten(phi__entry_reader *r, const phi_json *root,
                                           phi__entry *entry) {
    phi_thread *thread = r->thread;
    if (thread->log.held > 0) return phi__get_bad(r, "forgotten: it is not the first entry");
    phi_forgotten *forgotten = (phi_forgotten *)phi__part_get(
        r, root, sizeof *forgotten, phi__part_forgotten, PHI__COUNT(phi__part_forgotten));
    if (forgotten == NULL) return PHI_NO_MEMORY;
    entry->of.forgotten = forgotten;
    forgotten->to = thread->log.count;
    if (forgotten->from > forgotten->to)
        return phi__get_bad(r, "forgotten: from is past the entry itself");
    forgotten->made_ms = phi_json_int(phi_json_get(root, "made"), 0);
    thread->log.made_ms = forgotten->made_ms;
    return phi__part_read_usage(r, root, entry);
}

/* ---- writing entries ---- */

/* How a text is written that should be JSON but is not. This decides how the text reads back. */
typedef enum phi__entry_text {
    PHI__ENTRY_ARGUMENTS, /* not JSON: written as a string, mostly unchanged; empty: "{}" */
    PHI__ENTRY_REPLAY,    /* not JSON: left out */
    PHI__ENTRY_DATA       /* not JSON, or empty: "null" */
} phi__entry_text;

/* True if arguments read back as a different text after they are written as a string. */
static bool phi__write_string_changes(phi__buf *out, phi_str text, phi_str sound,
                                      phi_arena *scratch) {
    phi_arena_mark mark = phi_arena_save(scratch);
    phi__buf made;
    phi_json *root = NULL;
    phi_str back = {NULL, 0};
    phi__buf_init(&made, out->memory);
    phi__message_put_value(&made, text, scratch);
    bool read = !made.failed &&
                phi_json_parse(scratch, phi__buf_str(&made), 0, &root, NULL) != PHI_NO_MEMORY &&
                phi__message_read_get_value(root, scratch, &back);
    if (!read) out->failed = true;
    read = phi_str_equal(back, sound);
    phi__buf_free(&made);
    phi_arena_reset(scratch, mark);
    return !read;
}

/* True if the text, written as JSON, reads back as a different text, for example without its
   blanks. */
static bool phi__write_changes(phi__buf *out, phi_str text, phi__entry_text what,
                               phi_arena *scratch) {
    phi__buf made, sound;
    if (text.len == 0) return what != PHI__ENTRY_REPLAY;
    phi__buf_init(&made, out->memory);
    phi__buf_init(&sound, out->memory);
    phi__utf8_repair(&sound, text); /* the text that would be read from `exact` */
    bool json = phi__message_put_json(&made, NULL, text, what != PHI__ENTRY_ARGUMENTS, scratch);
    bool changes = json ? !phi_str_equal(phi__buf_str(&made), phi__buf_str(&sound))
                        : what != PHI__ENTRY_ARGUMENTS ||
                              phi__write_string_changes(out, text, phi__buf_str(&sound), scratch);
    if (made.failed || sound.failed) out->failed = true;
    phi__buf_free(&made);
    phi__buf_free(&sound);
    return changes;
}

PHI__FN void phi__write_message(phi__buf *out, const phi_message *message, phi_arena *scratch) {
    bool extension = message->role == PHI_ROLE_EXTENSION;
    phi__json_write_key(out, PHI__LIT("message"));
    phi__message_put(out, message, scratch);
    size_t before = out->len;
    phi__records_raw(out, "more", "{");
    size_t empty = out->len;
    phi__records_true(out, "unstopped",
                      message->role == PHI_ROLE_ASSISTANT &&
                          message->stop_reason == PHI_STOP_REASON_NONE);
    phi__records_some(out, "raw_stop_reason", message->raw_stop_reason);
    phi__records_some(out, "details", message->details);
    if (message->turn_index != 0 && (extension || message->loop_id.len == 0))
        phi__records_u64(out, "turn", message->turn_index);
    if (extension) {
        /* An extension message has neither a time nor a place in the interchange format. */
        if (message->timestamp_ms != 0) phi__records_i64(out, "timestamp", message->timestamp_ms);
        phi__records_some(out, "loop", message->loop_id);
        if (message->content_count > 0) phi__message_put_blocks(out, message, scratch);
        if (phi__write_changes(out, message->extension_data, PHI__ENTRY_DATA, scratch))
            phi__records_str(out, "data", message->extension_data);
    }
    bool any = false;
    for (size_t i = 0; i < message->content_count; i++) {
        const phi_content *c = &message->content[i];
        bool arguments = c->kind == PHI_CONTENT_TOOL_CALL &&
                         phi__write_changes(out, c->arguments, PHI__ENTRY_ARGUMENTS, scratch);
        bool replay = c->kind != PHI_CONTENT_IMAGE && c->kind != PHI_CONTENT_OPAQUE &&
                      phi__write_changes(out, c->replay, PHI__ENTRY_REPLAY, scratch);
        if (!arguments && !replay) continue;
        if (!any) {
            phi__records_raw(out, "exact", "[");
            any = true;
        }
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_u64(out, "block", i);
        if (arguments) phi__records_str(out, "arguments", c->arguments);
        if (replay) phi__records_str(out, "replay", c->replay);
        phi__buf_char(out, '}');
    }
    if (any) phi__buf_char(out, ']');
    phi__buf_char(out, '}');
    if (!out->failed && out->len == empty + 1) out->len = before;
}

/* An empty string is written, but NULL is not. */
static void phi__write_text(phi__buf *out, const char *key, const char *value) {
    if (value != NULL) phi__records_str(out, key, phi_str_of(value));
}

PHI__FN void phi__write_rewrite(phi__buf *out, const phi_rewrite *rewrite, phi_arena *scratch) {
    phi__write_text(out, "op_id", rewrite->op_id);
    phi__records_str(out, "reason", phi_str_of(phi__entry_reason_word(rewrite->reason)));
    if (rewrite->has_base || rewrite->base_seq != 0)
        phi__records_u64(out, "base_seq", rewrite->base_seq);
    phi__write_text(out, "revoke", rewrite->revoke);
    phi__write_text(out, "switch_to", rewrite->switch_to);
    phi__write_text(out, "meta", rewrite->meta);
    if (rewrite->written != NULL) {
        const phi_written *written = rewrite->written;
        phi__records_raw(out, "written", "{");
        phi__write_text(out, "model", written->model);
        phi__message_put_usage(out, &written->usage);
        phi__records_double(out, "cost", written->cost);
        phi__buf_char(out, '}');
    }
    phi__records_raw(out, "spans", "[");
    for (size_t i = 0; i < rewrite->span_count; i++) {
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_u64(out, "from", rewrite->spans[i].from);
        phi__records_u64(out, "to", rewrite->spans[i].to);
        phi__records_true(out, "summary", rewrite->spans[i].summary);
        phi__records_true(out, "lines", rewrite->spans[i].lines);
        phi__records_raw(out, "messages", "[");
        for (size_t j = 0; j < rewrite->spans[i].message_count; j++) {
            phi__json_write_comma(out);
            phi__buf_char(out, '{');
            phi__write_message(out, &rewrite->spans[i].messages[j], scratch);
            phi__buf_char(out, '}');
        }
        phi__buf_text(out, "]}");
    }
    phi__buf_char(out, ']');
}

PHI__FN void phi__entry_json(phi__buf *out, const phi_thread *thread, const phi__entry *entry,
                             phi_arena *scratch) {
    uint32_t lane = entry->kind == PHI_ENTRY_REWRITE ? entry->of.op->lane : entry->lane;
    phi__buf_text(out, "{\"seq\":");
    phi__json_number_put_u64(out, entry->seq);
    phi__records_str(out, "kind", phi_str_of(phi__entry_kind_word((int)entry->kind)));
    phi__records_i64(out, "at", entry->at_ms);
    if (lane != 0) phi__records_str(out, "lane", phi__lane_name(thread, lane));
    phi__records_some(out, "loop", entry->loop_id);
    if (entry->turn_index != 0) phi__records_u64(out, "turn", entry->turn_index);
    phi__records_true(out, "durable", (entry->flags & PHI_ENTRY_DURABLE) != 0);
    phi__records_true(out, "synthetic", (entry->flags & PHI_ITEM_SYNTHETIC) != 0);
    phi__records_true(out, "summary", (entry->flags & PHI_ITEM_SUMMARY) != 0);
    phi__records_true(out, "lines", (entry->flags & PHI_ITEM_LINES) != 0);
    phi__records_true(out, "unmeasured", (entry->flags & PHI_ITEM_UNMEASURED) != 0);
    phi__records_true(out, "grafted", (entry->flags & PHI_ENTRY_GRAFTED) != 0);
    switch (entry->kind) {
    case PHI_ENTRY_MESSAGE: phi__write_message(out, entry->message, scratch); break;
    case PHI_ENTRY_REWRITE: phi__write_rewrite(out, &entry->of.op->rewrite, scratch); break;
    case PHI_ENTRY_LANE: {
        const phi__lane *begun = &thread->lanes.at[entry->lane];
        if (begun->parent == PHI__LANE_NONE) break;
        phi__records_str(out, "parent", phi__lane_name(thread, begun->parent));
        phi__records_u64(out, "fork_seq", begun->fork_seq);
        break;
    }
    case PHI_ENTRY_LOOP_START: phi__part_put_loop(out, entry); break;
    case PHI_ENTRY_LOOP_END: phi__part_put_end(out, entry); break;
    case PHI_ENTRY_TURN_START:
        phi__records_some(out, "trigger", phi_str_of(phi__entry_trigger_word((int)entry->trigger)));
        break;
    case PHI_ENTRY_SPAWN: PHI__RECORDS_PUT(out, phi__part_spawn, entry->of.spawn); break;
    case PHI_ENTRY_NOTE: PHI__RECORDS_PUT(out, phi__part_note, entry->of.note); break;
    case PHI_ENTRY_FORGOTTEN:
        PHI__RECORDS_PUT(out, phi__part_forgotten, entry->of.forgotten);
        if (entry->of.forgotten->made_ms != 0)
            phi__records_i64(out, "made", entry->of.forgotten->made_ms);
        break;
    case PHI_ENTRY_TURN_END:
    case PHI_ENTRY_SWITCH: break;
    }
    if (entry->usage != NULL) phi__message_put_usage(out, entry->usage);
    phi__buf_char(out, '}');
}

/* ---- reading entries ---- */

/* The seq of an entry is less than this. */
enum { PHI__ENTRY_SEQ_MOST = 0x3fffffff };

static bool phi__read_keep_loop(phi__entry_reader *r, phi_str loop_id, phi_str *out) {
    *out = phi__str("", 0);
    if (loop_id.len == 0) return true;
    if (!phi_str_equal(loop_id, r->loop_id) &&
        !phi__arena_str(phi__thread_room(r->thread), loop_id, &r->loop_id))
        return false;
    *out = r->loop_id;
    return true;
}

static uint32_t phi__read_flag(const phi_json *node, int flag) {
    return phi_json_bool(node, false) ? (uint32_t)flag : 0;
}

static phi_status phi__read_message(phi__entry_reader *r, const phi_json *const *in,
                                    phi__entry *entry) {
    phi_message message;
    phi_status status =
        phi__get_whole(r, in[PHI__ENTRY_IN_MESSAGE], in[PHI__ENTRY_IN_MORE], &message);
    if (status != PHI_OK) return status;
    phi_message *kept = phi__append_keep(r->thread, &message);
    if (kept == NULL || !phi__append_claim_calls(r->thread, kept)) return PHI_NO_MEMORY;
    entry->message = kept;
    entry->flags |= (phi__read_flag(in[PHI__ENTRY_IN_IS_DURABLE], PHI_ENTRY_DURABLE) |
                     phi__read_flag(in[PHI__ENTRY_IN_IS_SYNTHETIC], PHI_ITEM_SYNTHETIC) |
                     phi__read_flag(in[PHI__ENTRY_IN_IS_SUMMARY], PHI_ITEM_SUMMARY) |
                     phi__read_flag(in[PHI__ENTRY_IN_IS_LINES], PHI_ITEM_LINES) |
                     phi__read_flag(in[PHI__ENTRY_IN_IS_UNMEASURED], PHI_ITEM_UNMEASURED)) &
                    0xff;
    return PHI_OK;
}

/* Appends an entry that changes no lane. Its kind, loop and lane are copied from `like`. */
static phi_status phi__read_plain(phi__entry_reader *r, const phi_json *root,
                                  const phi_json *const *in, const phi__entry *like) {
    phi_thread *thread = r->thread;
    phi__entry *entry = (phi__entry *)phi__arena_zero(phi__thread_room(thread), sizeof *entry);
    phi_status status = PHI_OK;
    int trigger;
    if (entry == NULL) return PHI_NO_MEMORY;
    *entry = *like;
    entry->flags = phi__read_flag(in[PHI__ENTRY_IN_IS_GRAFTED], PHI_ENTRY_GRAFTED) & 0xff;
    switch ((int)like->kind) {
    case PHI_ENTRY_MESSAGE: status = phi__read_message(r, in, entry); break;
    case PHI_ENTRY_LOOP_START: status = phi__part_read_loop(r, root, entry); break;
    case PHI_ENTRY_LOOP_END: status = phi__part_read_end(r, root, entry); break;
    case PHI_ENTRY_TURN_START:
        trigger = phi__part_number(phi__records_get_str(root, "trigger"), phi__entry_trigger_word);
        if (trigger < 0) return phi__get_bad(r, "trigger is none of its words");
        entry->trigger = (phi_trigger)trigger;
        break;
    case PHI_ENTRY_TURN_END: status = phi__part_read_usage(r, root, entry); break;
    case PHI_ENTRY_SPAWN:
        entry->of.spawn = (phi__child_run *)phi__part_get(
            r, root, sizeof(phi__child_run), phi__part_spawn, PHI__COUNT(phi__part_spawn));
        if (entry->of.spawn == NULL) return PHI_NO_MEMORY;
        break;
    case PHI_ENTRY_NOTE: status = phi__part_read_note(r, root, entry); break;
    case PHI_ENTRY_FORGOTTEN: status = phi__part_read_forgotten(r, root, entry); break;
    default: break;
    }
    if (status == PHI_OK) status = phi__load_put(thread, entry);
    if (status == PHI_OK && like->kind == PHI_ENTRY_NOTE &&
        phi__str_is(entry->of.note->kind, PHI_NOTE_THREAD))
        status = phi__about_read(thread, entry->of.note->json);
    return status == PHI_BAD_ARG ? phi__get_bad(r, "json: metadata is no object") : status;
}

static phi_status phi__read_rewrite(phi__entry_reader *r, const phi_json *const *in,
                                    phi_str loop_id) {
    phi_rewrite rewrite;
    bool duplicate = false;
    char words[160];
    /* As in any log, the lane that the rewrite switches to must exist. */
    phi_status status = phi__get_members(r, in, &rewrite);
    if (rewrite.op_id == NULL && (status == PHI_OK || status == PHI_PARSE) &&
        !phi_json_is(in[PHI__ENTRY_IN_OP_ID], PHI_JSON_STRING))
        return phi__get_bad(r, "op_id is missing");
    if (status != PHI_OK) return status;
    if (rewrite.op_id[0] == '\0') return phi__get_bad(r, "op_id is empty");
    if (rewrite.switch_to != NULL &&
        phi__lane_find(r->thread, phi_str_of(rewrite.switch_to)) == PHI__LANE_NONE)
        return phi__get_bad(r, "switch_to: no lane \"%.80s\"", rewrite.switch_to);
    if (rewrite.lane == NULL) rewrite.lane = PHI_LANE_DEFAULT;
    rewrite.has_base = true;
    status = phi__rewrite_make(r->thread, &rewrite, loop_id,
                               (uint32_t)phi__json_get_uint(in[PHI__ENTRY_IN_TURN], 0), &duplicate,
                               words, sizeof words);
    if (status == PHI_NO_MEMORY) return status;
    if (duplicate) return phi__get_bad(r, "op_id \"%.100s\" is there already", rewrite.op_id);
    return status == PHI_OK ? PHI_OK : phi__get_bad(r, "rewrite: %s", words);
}

static phi_status phi__read_lane(phi__entry_reader *r, const phi_json *root) {
    phi_thread *thread = r->thread;
    phi_str name = phi__records_get_str(root, "lane"),
            parent = phi__records_get_str(root, "parent");
    uint64_t fork_seq = phi__records_get_u64(root, "fork_seq");
    uint32_t from = PHI__LANE_NONE, lane;
    if (name.len == 0) return phi__get_bad(r, "lane is missing");
    if (phi__lane_find(thread, name) != PHI__LANE_NONE)
        return phi__get_bad(r, "lane \"%.*s\" is there already", (int)phi__min(name.len, 80),
                            name.at);
    if (phi_json_get(root, "parent") != NULL) {
        from = phi__lane_find(thread, parent);
        if (from == PHI__LANE_NONE)
            return phi__get_bad(r, "parent: no lane \"%.*s\"", (int)phi__min(parent.len, 80),
                                parent.at);
        if (fork_seq >= thread->log.count || fork_seq < thread->log.base)
            return phi__get_bad(r, "fork_seq is %llu, there are %llu entries",
                                (unsigned long long)fork_seq,
                                (unsigned long long)thread->log.count);
    }
    return phi__lane_new(thread, name, from, fork_seq, &lane);
}

static phi_status phi__read_check_place(phi__entry_reader *r, const phi_json *root,
                                        const phi_json *const *in, int *kind, uint32_t *lane) {
    phi_thread *thread = r->thread;
    phi_str name = phi_json_str(in[PHI__ENTRY_IN_LANE], PHI_LANE_DEFAULT);
    uint64_t seq = phi__json_get_uint(in[PHI__ENTRY_IN_SEQ], UINT64_MAX);
    if (!phi_json_is(root, PHI_JSON_OBJECT)) return phi__get_bad(r, "expected an object: an entry");
    *kind = phi__part_number(phi__json_text_of(in[PHI__ENTRY_IN_KIND]), phi__entry_kind_word);
    /* A log begins with entry 0, or with its FORGOTTEN entry. */
    if (*kind == PHI_ENTRY_FORGOTTEN && thread->log.count == 0 && seq < PHI__ENTRY_SEQ_MOST)
        thread->log.base = thread->log.count = (size_t)seq;
    if (seq != thread->log.count)
        return phi__get_bad(r, "seq: expected %llu", (unsigned long long)thread->log.count);
    if (*kind < PHI_ENTRY_MESSAGE) return phi__get_bad(r, "kind is none of its words");
    if (phi__json_get_uint(in[PHI__ENTRY_IN_TURN], 0) > UINT32_MAX)
        return phi__get_bad(r, "turn is larger than there are turns");
    *lane = phi__lane_find(thread, name);
    if (*kind == PHI_ENTRY_LANE) return PHI_OK;
    if (*lane == PHI__LANE_NONE)
        return phi__get_bad(r, "no lane \"%.*s\"", (int)phi__min(name.len, 80), name.at);
    if (*kind != PHI_ENTRY_SWITCH && *kind != PHI_ENTRY_REWRITE && *lane != thread->lanes.active &&
        !phi_json_bool(in[PHI__ENTRY_IN_IS_GRAFTED], false))
        return phi__get_bad(r, "lane \"%.*s\" is not the active one", (int)phi__min(name.len, 80),
                            name.at);
    return PHI_OK;
}

static phi_status phi__read_tree(phi__entry_reader *r, const phi_json *root) {
    const phi_json *in[PHI__ENTRY_IN_COUNT];
    phi_thread *thread = r->thread;
    phi_str loop_id = {"", 0};
    uint32_t lane = 0;
    int kind = 0;
    phi__get_pick(root, in);
    phi_status status = phi__read_check_place(r, root, in, &kind, &lane);
    if (status != PHI_OK) return status;
    if (!phi__read_keep_loop(r, phi__json_text_of(in[PHI__ENTRY_IN_LOOP]), &loop_id))
        return PHI_NO_MEMORY;
    phi__entry like = PHI_ZERO;
    like.kind = (phi_entry_kind)kind;
    like.loop_id = loop_id;
    like.lane = lane;
    if (kind == PHI_ENTRY_REWRITE)
        status = phi__read_rewrite(r, in, loop_id);
    else if (kind == PHI_ENTRY_LANE)
        status = phi__read_lane(r, root);
    else if (kind == PHI_ENTRY_SWITCH)
        status = lane == thread->lanes.active
                     ? phi__get_bad(r, "the lane is the active one already")
                     : phi__load_switch(thread, lane);
    else
        status = phi__read_plain(r, root, in, &like);
    if (status != PHI_OK) return status;
    phi__entry *entry = thread->log.entries[thread->log.held - 1];
    phi__log_set_time(&thread->log, entry, phi_json_int(in[PHI__ENTRY_IN_AT], 0));
    entry->loop_id = loop_id;
    entry->turn_index = (uint32_t)phi__json_get_uint(in[PHI__ENTRY_IN_TURN], 0);
    return phi__thread_roll(thread, &r->loop_id) ? PHI_OK : PHI_NO_MEMORY;
}

/* Reads an entry without a clock, since the entry has a stored time. Otherwise a recording would
   have to keep each clock time. */
static phi_status phi__read_timeless(phi__entry_reader *reader, const phi_json *root) {
    phi__io *io = reader->thread->log.io;
    reader->thread->log.io = NULL;
    phi_status status = phi__read_tree(reader, root);
    reader->thread->log.io = io;
    return status;
}

PHI__FN phi_status phi__read_node(phi__entry_reader *reader, const phi_json *root) {
    reader->words[0] = '\0';
    phi__arena_rewind(&reader->scratch);
    return phi__read_timeless(reader, root);
}

PHI__FN phi_status phi__entry_read(phi__entry_reader *reader, phi_str json) {
    phi_json *root = NULL;
    phi_parse_error error;
    reader->words[0] = '\0';
    phi__arena_rewind(&reader->scratch);
    phi_status status = phi_json_parse(&reader->scratch, json, PHI_JSON_BORROW, &root, &error);
    if (status == PHI_PARSE || status == PHI_TOO_BIG)
        return phi__get_bad(reader, "column %u: %s", (unsigned)error.column, error.message);
    return status == PHI_OK ? phi__read_timeless(reader, root) : status;
}
