/* entry_get.c - reads an entry's messages and rewrites into an arena, without a thread. */
#include "persist/entry_get_in.h"

#include "model/message_in.h"
#include "text/records_in.h"

#include <stdarg.h>
#include <stdio.h>

#define PHI_X(name, text) PHI__JSON_NAME(text),
static const phi_str phi__entry_names[] = {PHI__ENTRY_LIST(PHI_X)};
#undef PHI_X

/* The members of a span. */
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

PHI__FN phi_status phi__entry_get_bad(phi__entry_reader *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(r->words, sizeof r->words, format, args);
    va_end(args);
    return PHI_PARSE;
}

PHI__FN void phi__entry_get_reader_init(phi__entry_reader *reader, phi_thread *thread) {
    memset(reader, 0, sizeof *reader);
    reader->thread = thread;
    phi_arena_init(&reader->scratch, thread->log.memory, PHI__ENTRY_SCRATCH);
}

PHI__FN void phi__entry_get_reader_free(phi__entry_reader *reader) {
    phi_arena_free(&reader->scratch);
}

PHI__FN void phi__entry_get_pick(const phi_json *root, const phi_json *in[PHI__ENTRY_IN_COUNT]) {
    phi__json_get_pick(root, phi__entry_names, PHI__ENTRY_IN_COUNT, in);
}

/* A text as C has it, in the scratch arena; NULL where there is none. */
static phi_status phi__entry_get_text(phi__entry_reader *r, const phi_json *node, phi_str key,
                                      const char **out) {
    phi_str copy;
    *out = NULL;
    if (!phi_json_is(node, PHI_JSON_STRING)) return PHI_OK;
    if (!phi__arena_str(&r->scratch, phi_json_str(node, ""), &copy)) return PHI_NO_MEMORY;
    if (strlen(copy.at) != copy.len)
        return phi__entry_get_bad(r, "%s: it holds a zero byte", key.at);
    *out = copy.at;
    return PHI_OK;
}

static phi_status phi__entry_get_exact(phi__entry_reader *r, const phi_json *array,
                                       phi_message *message) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    while ((node = phi_json_next(&it)) != NULL) {
        uint64_t at = phi__json_get_uint(phi_json_get(node, "block"), UINT64_MAX);
        const phi_json *arguments = phi_json_get(node, "arguments"),
                       *replay = phi_json_get(node, "replay");
        phi_content *block;
        if (at >= message->content_count)
            return phi__entry_get_bad(r, "exact: there is no such block of the message");
        block = (phi_content *)(uintptr_t)&message->content[at];
        if (arguments != NULL && block->kind == PHI_CONTENT_TOOL_CALL)
            block->arguments = phi_json_str(arguments, "");
        if (replay != NULL && block->kind != PHI_CONTENT_IMAGE)
            block->replay = phi_json_str(replay, "");
    }
    return PHI_OK;
}

static phi_status phi__entry_get_extension(phi__entry_reader *r, const phi_json *more,
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
    return status == PHI_PARSE ? phi__entry_get_bad(r, "more: %s", error.message) : status;
}

PHI__FN phi_status phi__entry_get_whole(phi__entry_reader *r, const phi_json *node,
                                        const phi_json *more, phi_message *out) {
    phi_parse_error error;
    phi_status status;
    if (node == NULL) return phi__entry_get_bad(r, "message is missing");
    status = phi__message_read_get(node, &r->scratch, out, &error);
    if (status == PHI_PARSE) return phi__entry_get_bad(r, "message: %s", error.message);
    if (status != PHI_OK) return status;
    if (out->role == PHI_ROLE_EXTENSION) status = phi__entry_get_extension(r, more, out);
    if (status != PHI_OK) return status;
    if (out->role == PHI_ROLE_ASSISTANT && phi_json_bool(phi_json_get(more, "unstopped"), false))
        out->stop_reason = PHI_STOP_REASON_NONE;
    out->raw_stop_reason = phi__records_get_str(more, "raw_stop_reason");
    out->details = phi__records_get_str(more, "details");
    if (out->role == PHI_ROLE_EXTENSION || out->loop_id.len == 0)
        out->turn_index = (uint32_t)phi__records_get_u64(more, "turn");
    return more != NULL ? phi__entry_get_exact(r, phi_json_get(more, "exact"), out) : PHI_OK;
}

PHI__FN phi_status phi__entry_get_message(phi__entry_reader *r, const phi_json *holder,
                                          phi_message *out) {
    static const phi_str names[] = {PHI__JSON_NAME("message"), PHI__JSON_NAME("more")};
    const phi_json *in[PHI__COUNT(names)];
    phi__json_get_pick(holder, names, PHI__COUNT(names), in);
    return phi__entry_get_whole(r, in[0], in[1], out);
}

static phi_status phi__entry_get_span(phi__entry_reader *r, const phi_json *node, phi_span *span) {
    const phi_json *in[PHI__SPAN_IN_COUNT], *array, *child;
    phi_json_iter it;
    phi_message *messages;
    phi_status status = PHI_OK;
    memset(span, 0, sizeof *span);
    phi__json_get_pick(node, phi__entry_span_names, PHI__SPAN_IN_COUNT, in);
    if (in[PHI__SPAN_IN_FROM] == NULL || in[PHI__SPAN_IN_TO] == NULL)
        return phi__entry_get_bad(r, "spans: from or to is missing");
    span->from = phi__json_get_uint(in[PHI__SPAN_IN_FROM], UINT64_MAX);
    span->to = phi__json_get_uint(in[PHI__SPAN_IN_TO], UINT64_MAX);
    span->summary = phi_json_bool(in[PHI__SPAN_IN_SUMMARY], false);
    span->lines = phi_json_bool(in[PHI__SPAN_IN_LINES], false);
    array = in[PHI__SPAN_IN_MESSAGES];
    it = phi_json_each(array);
    if (phi_json_count(array) == 0) return PHI_OK;
    messages = (phi_message *)phi_arena_alloc(&r->scratch,
                                              phi__mul(phi_json_count(array), sizeof *messages));
    if (messages == NULL) return PHI_NO_MEMORY;
    while (status == PHI_OK && (child = phi_json_next(&it)) != NULL)
        status = phi__entry_get_message(r, child, &messages[span->message_count++]);
    span->messages = messages;
    return status;
}

static phi_status phi__entry_get_spans(phi__entry_reader *r, const phi_json *array,
                                       phi_rewrite *rewrite) {
    phi_json_iter it = phi_json_each(array);
    const phi_json *node;
    phi_span *spans;
    phi_status status = PHI_OK;
    if (phi_json_count(array) == 0) return PHI_OK;
    spans =
        (phi_span *)phi_arena_alloc(&r->scratch, phi__mul(phi_json_count(array), sizeof *spans));
    if (spans == NULL) return PHI_NO_MEMORY;
    while (status == PHI_OK && (node = phi_json_next(&it)) != NULL)
        status = phi__entry_get_span(r, node, &spans[rewrite->span_count++]);
    rewrite->spans = spans;
    return status;
}

static phi_status phi__entry_get_reason(phi__entry_reader *r, const phi_json *node,
                                        phi_rewrite *rewrite) {
    phi_str word = phi__json_text_of(node);
    int i;
    for (i = PHI_REWRITE_MANUAL; i <= PHI_REWRITE_SYSTEM; i++)
        if (phi__str_is(word, phi__entry_reason_word((phi_rewrite_reason)i))) {
            rewrite->reason = (phi_rewrite_reason)i;
            return PHI_OK;
        }
    return phi__entry_get_bad(r, "reason is none of its words");
}

static phi_status phi__entry_get_written(phi__entry_reader *r, const phi_json *node,
                                         phi_rewrite *rewrite) {
    phi_written *written;
    if (node == NULL) return PHI_OK;
    written = (phi_written *)phi__arena_zero(&r->scratch, sizeof *written);
    if (written == NULL) return PHI_NO_MEMORY;
    written->usage = phi__message_read_get_usage(phi_json_get(node, "usage"));
    written->cost = phi_json_num(phi_json_get(node, "cost"), 0);
    if (!(written->cost >= 0)) return phi__entry_get_bad(r, "written: cost is no amount");
    rewrite->written = written;
    return phi__entry_get_text(r, phi_json_get(node, "model"), PHI__LIT("model"), &written->model);
}

PHI__FN phi_status phi__entry_get_members(phi__entry_reader *r, const phi_json *const *in,
                                          phi_rewrite *rewrite) {
    static const int texts[] = {PHI__ENTRY_IN_OP_ID, PHI__ENTRY_IN_LANE, PHI__ENTRY_IN_REVOKE,
                                PHI__ENTRY_IN_META, PHI__ENTRY_IN_SWITCH_TO};
    const char **to[PHI__COUNT(texts)];
    phi_status status = PHI_OK;
    size_t i;
    memset(rewrite, 0, sizeof *rewrite);
    to[0] = &rewrite->op_id;
    to[1] = &rewrite->lane;
    to[2] = &rewrite->revoke;
    to[3] = &rewrite->meta;
    to[4] = &rewrite->switch_to;
    for (i = 0; status == PHI_OK && i < PHI__COUNT(texts); i++)
        status = phi__entry_get_text(r, in[texts[i]], phi__entry_names[texts[i]], to[i]);
    if (status == PHI_OK) status = phi__entry_get_reason(r, in[PHI__ENTRY_IN_REASON], rewrite);
    if (status == PHI_OK) status = phi__entry_get_written(r, in[PHI__ENTRY_IN_WRITTEN], rewrite);
    if (status == PHI_OK) status = phi__entry_get_spans(r, in[PHI__ENTRY_IN_SPANS], rewrite);
    rewrite->base_seq = phi__json_get_uint(in[PHI__ENTRY_IN_BASE_SEQ], 0);
    rewrite->has_base = in[PHI__ENTRY_IN_BASE_SEQ] != NULL;
    return status;
}

PHI__FN phi_status phi__entry_get_rewrite(phi__entry_reader *r, const phi_json *root,
                                          phi_rewrite *rewrite) {
    const phi_json *in[PHI__ENTRY_IN_COUNT];
    phi__entry_get_pick(root, in);
    return phi__entry_get_members(r, in, rewrite);
}
