/* bedrock_stream.c - answers of Bedrock's ConverseStream: events out of frames, or out of lines of
   JSON, to a message.

   Text and reasoning blocks are not started, they begin with their first delta. The usage follows
   the end of the message: the answer is whole when both have come. Blocks of other kinds than text,
   reasoning and tool use, and the provider's own tool uses, are opaque: the union's object with its
   one member, into which deltas put the rest. wire.md parts 1.3, 1.9 and 8. */
#include "codecs/bedrock_in.h"

#include "text/json_members_in.h"
#include "wire/classify_in.h"
#include "wire/frames_in.h"
#include "wire/opaque_in.h"

/* What an event may hold, as it stands in its text. */
typedef struct phi__bedrock_event {
    int64_t index;
    phi__json_text text, input, reasoning, signature, redacted; /* of a delta */
    phi__json_text id, name, tool_type;                         /* of a tool use that starts */
    bool starts_tool;
    phi_str citation, result, image; /* of a delta; raw JSON, as all that follows but the reason */
    phi_str cited;                   /* of a whole answer: its citationsContent */
    phi_str start, data;             /* the start of a block; the event itself */
    phi_str object;                  /* the tool use's arguments as a whole answer has them */
    phi__json_text stop_reason;
    phi_str usage;
} phi__bedrock_event;

/* ---- reading an event ---- */

/* In a whole answer text and signature are one level deeper. */
static const phi__json_member phi__bedrock_deep_list[] = {
    PHI__MEMBER(phi__bedrock_event, reasoning, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, signature, "signature", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, redacted, "redactedContent", PHI__MEMBER_TEXT)};
static const phi__json_members phi__bedrock_deep_members = {phi__bedrock_deep_list,
                                                            PHI__COUNT(phi__bedrock_deep_list)};

static const phi__json_member phi__bedrock_reasoning_list[] = {
    PHI__MEMBER(phi__bedrock_event, reasoning, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, signature, "signature", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, redacted, "redactedContent", PHI__MEMBER_TEXT),
    PHI__MEMBER_INSIDE("reasoningText", &phi__bedrock_deep_members)};
static const phi__json_members phi__bedrock_reasoning_members = {
    phi__bedrock_reasoning_list, PHI__COUNT(phi__bedrock_reasoning_list)};

/* The arguments are a string in a delta, and an object in a whole answer. */
static void phi__bedrock_stream_take_input(phi__json_cursor *c, void *event) {
    phi__bedrock_event *ev = (phi__bedrock_event *)event;
    if (phi__json_cursor_peek(c) == PHI_JSON_OBJECT)
        (void)phi__json_cursor_take_raw(c, &ev->object);
    else
        (void)phi__json_cursor_take_text(c, &ev->input);
}

static const phi__json_member phi__bedrock_tool_list[] = {
    PHI__MEMBER(phi__bedrock_event, id, "toolUseId", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, name, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, tool_type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER_TAKE_ALL("input", phi__bedrock_stream_take_input)};
static const phi__json_members phi__bedrock_tool_members = {phi__bedrock_tool_list,
                                                            PHI__COUNT(phi__bedrock_tool_list)};

static void phi__bedrock_stream_take_tool(phi__json_cursor *c, void *event) {
    phi__bedrock_event *ev = (phi__bedrock_event *)event;
    ev->starts_tool = ev->starts_tool || phi__json_cursor_peek(c) == PHI_JSON_OBJECT;
    (void)phi__json_members_take(c, &phi__bedrock_tool_members, ev);
}

/* A delta, the start of a block, or a block of a whole answer: they look alike. */
static const phi__json_member phi__bedrock_block_list[] = {
    PHI__MEMBER(phi__bedrock_event, text, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER_TAKE_ALL("toolUse", phi__bedrock_stream_take_tool),
    PHI__MEMBER_INSIDE("reasoningContent", &phi__bedrock_reasoning_members),
    PHI__MEMBER(phi__bedrock_event, citation, "citation", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__bedrock_event, result, "toolResult", PHI__MEMBER_SOME),
    PHI__MEMBER(phi__bedrock_event, image, "image", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__bedrock_event, cited, "citationsContent", PHI__MEMBER_OBJECT)};
static const phi__json_members phi__bedrock_block_members = {phi__bedrock_block_list,
                                                             PHI__COUNT(phi__bedrock_block_list)};

static void phi__bedrock_stream_take_start(phi__json_cursor *c, void *event) {
    phi__bedrock_event *ev = (phi__bedrock_event *)event;
    if (phi__json_cursor_take_raw(c, &ev->start))
        (void)phi__json_members_read(ev->start, &phi__bedrock_block_members, ev, NULL);
}

static const phi__json_member phi__bedrock_event_list[] = {
    PHI__MEMBER(phi__bedrock_event, index, "contentBlockIndex", PHI__MEMBER_I64),
    PHI__MEMBER_INSIDE("delta", &phi__bedrock_block_members),
    PHI__MEMBER_TAKE_ALL("start", phi__bedrock_stream_take_start),
    PHI__MEMBER(phi__bedrock_event, stop_reason, "stopReason", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, usage, "usage", PHI__MEMBER_RAW)};
static const phi__json_members phi__bedrock_event_members = {phi__bedrock_event_list,
                                                             PHI__COUNT(phi__bedrock_event_list)};

static bool phi__bedrock_stream_read(phi__bedrock_event *ev, phi_str data) {
    memset(ev, 0, sizeof *ev);
    ev->data = data;
    return phi__json_members_read(data, &phi__bedrock_event_members, ev, NULL);
}

/* ---- parts ---- */

static const phi__json_member phi__bedrock_usage_list[] = {
    PHI__MEMBER(phi_usage, input, "inputTokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, output, "outputTokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_read, "cacheReadInputTokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_write, "cacheWriteInputTokens", PHI__MEMBER_U64)};
static const phi__json_members phi__bedrock_usage_members = {phi__bedrock_usage_list,
                                                             PHI__COUNT(phi__bedrock_usage_list)};

static void phi__bedrock_stream_usage(phi__assembly *a, phi_str raw) {
    (void)phi__json_members_read(raw, &phi__bedrock_usage_members, &a->usage, NULL);
}

static phi_stop_reason phi__bedrock_stream_stop_of(phi_str word) {
    if (phi__str_is(word, "end_turn") || phi__str_is(word, "stop_sequence"))
        return PHI_STOP_REASON_STOP;
    if (phi__str_is(word, "tool_use")) return PHI_STOP_REASON_TOOL_USE;
    if (phi__str_is(word, "max_tokens") || phi__str_is(word, "model_context_window_exceeded"))
        return PHI_STOP_REASON_LENGTH;
    if (phi__str_is(word, "guardrail_intervened") || phi__str_is(word, "content_filtered") ||
        phi__str_is(word, "refusal"))
        return PHI_STOP_REASON_GUARD_RAIL;
    return phi__str_starts(word, "malformed_") ? PHI_STOP_REASON_ERROR : PHI_STOP_REASON_NONE;
}

static bool phi__bedrock_stream_calls_open(const phi__assembly *a) {
    size_t i;
    for (i = 0; i < a->count; i++)
        if (a->drafts[i].open && a->drafts[i].kind == PHI_CONTENT_TOOL_CALL) return true;
    return false;
}

/* The end, or all that there will be of it. Only now is a bad reason a failure: what follows a
   failure is not read, and the usage comes behind the reason. */
static void phi__bedrock_stream_settle(phi__bedrock_state *st, phi__assembly *a) {
    phi_str word = phi__buf_str(&a->raw_stop_reason);
    st->settled = a->terminal = a->last = true;
    if (a->stop_reason == PHI_STOP_REASON_GUARD_RAIL)
        phi__classify_stop(a, PHI_FAILURE_CONTENT_FILTER, false, word);
    else if (a->stop_reason == PHI_STOP_REASON_ERROR) /* the model may do better another time */
        phi__classify_stop(a, PHI_FAILURE_SERVER, true, word);
}

/* ---- blocks ---- */

static size_t phi__bedrock_stream_find_or_open(phi__assembly *a, int64_t index,
                                               phi_content_kind kind) {
    size_t block = phi__assembly_find(a, index);
    if (block != SIZE_MAX && a->drafts[block].kind == kind) return block;
    return phi__assembly_open(a, kind, index);
}

static void phi__bedrock_stream_sign(phi__assembly *a, size_t block, phi__json_text text,
                                     bool redacted) {
    if (text.at == NULL || block == SIZE_MAX) return;
    if (redacted) a->drafts[block].redacted = true;
    phi__assembly_sign(a, block, text);
}

/* ---- opaque blocks ---- */

/* The name of a union's one member; empty: it has none. */
static phi_str phi__bedrock_stream_member(phi_str object) {
    phi__json_cursor c;
    phi__json_text key;
    phi__json_cursor_init(&c, object);
    if (!phi__json_cursor_enter_object(&c) || !phi__json_cursor_next_key(&c, &key))
        return phi__str(NULL, 0);
    return phi__str(key.at, key.len);
}

/* Each member of the delta becomes one of the block. */
static void phi__bedrock_stream_put_members(phi__assembly *a, size_t block, phi_str outer,
                                            phi_str object) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str value;
    phi__json_cursor_init(&c, object);
    if (!phi__json_cursor_enter_object(&c)) return;
    while (phi__json_cursor_next_key(&c, &key))
        if (phi__json_cursor_take_raw(&c, &value))
            phi__assembly_opaque_set(a, block, outer, phi__str(key.at, key.len), value);
}

/* The items of a result come in lists. */
static void phi__bedrock_stream_put_result(phi__assembly *a, size_t block, phi_str list) {
    phi__buf *bytes = &a->drafts[block].bytes;
    phi__json_cursor c;
    phi_str item;
    phi__json_cursor_init(&c, list);
    if (list.at[0] == '{')
        phi__opaque_push(bytes, list);
    else if (phi__json_cursor_enter_array(&c))
        while (phi__json_cursor_next_item(&c))
            if (phi__json_cursor_take_raw(&c, &item)) phi__opaque_push(bytes, item);
    if (bytes->failed) a->no_memory = true;
}

/* A delta of an opaque block. What the block has no place for leaves it as its start has it. */
static void phi__bedrock_stream_opaque_delta(phi__assembly *a, size_t block,
                                             const phi__bedrock_event *ev) {
    phi__draft *d = &a->drafts[block];
    phi_str name = phi__buf_str(&d->name);
    if (!d->open) return;
    if (d->id.len > 0)
        d->incomplete = true; /* a block without a start: its deltas cannot be joined */
    else if (phi__str_is(name, "toolUse"))
        phi__assembly_add_text(a, block, ev->input);
    else if (phi__str_is(name, "toolResult") && ev->result.len > 0)
        phi__bedrock_stream_put_result(a, block, ev->result);
    else if (phi__str_is(name, "image") && ev->image.len > 0)
        phi__bedrock_stream_put_members(a, block, PHI__LIT("image"), ev->image);
}

static void phi__bedrock_stream_close(phi__assembly *a, size_t block) {
    phi__draft *d;
    phi_str name, empty = {NULL, 0}, value;
    const char *member = NULL;
    if (block == SIZE_MAX || !a->drafts[block].open) return;
    d = &a->drafts[block];
    name = phi__buf_str(&d->name);
    if (d->kind == PHI_CONTENT_TOOL_CALL) {
        phi__assembly_set(a, &d->replay, phi__buf_str(&d->citations));
        phi__buf_free(&d->citations);
    }
    if (d->kind == PHI_CONTENT_OPAQUE && phi__str_is(name, "toolUse")) {
        member = "input";
        empty = PHI__LIT("{}");
    } else if (d->kind == PHI_CONTENT_OPAQUE && phi__str_is(name, "toolResult")) {
        member = "content";
        empty = PHI__LIT("[]");
    }
    if (member == NULL) {
        phi__assembly_close(a, block);
        return;
    }
    if (d->bytes.len == 0 && phi__opaque_find(phi__buf_str(&d->replay), name, &value) &&
        !phi__opaque_find(value, phi_str_of(member), &value))
        phi__assembly_opaque_set(a, block, name, phi_str_of(member), empty);
    phi__assembly_opaque_close(a, block, name, phi_str_of(member), false);
}

/* Opaque blocks whose end the stream did not say. */
static void phi__bedrock_stream_close_all(phi__assembly *a) {
    size_t i;
    for (i = 0; i < a->count; i++)
        if (a->drafts[i].kind == PHI_CONTENT_OPAQUE) phi__bedrock_stream_close(a, i);
}

/* A delta of an unknown kind for a block without a start opens an opaque block. */
static void phi__bedrock_stream_unknown_delta(phi__assembly *a, const phi__bedrock_event *ev) {
    phi__json_found delta;
    phi_str name;
    size_t block;
    if (phi__json_cursor_find(ev->data, "delta", &delta) != PHI_OK || delta.type != PHI_JSON_OBJECT)
        return;
    name = phi__bedrock_stream_member(delta.raw);
    if (name.len == 0 || phi__assembly_find(a, ev->index) != SIZE_MAX) return;
    block = phi__assembly_opaque(a, name, delta.raw, ev->index, true);
    if (block != SIZE_MAX) phi__assembly_set(a, &a->drafts[block].id, PHI__LIT("delta"));
}

/* ---- starts and deltas ---- */

static void phi__bedrock_stream_delta(phi__assembly *a, const phi__bedrock_event *ev) {
    size_t block;
    if (ev->text.at != NULL) {
        phi__assembly_add_text(a, phi__bedrock_stream_find_or_open(a, ev->index, PHI_CONTENT_TEXT),
                               ev->text);
        return;
    }
    block = phi__assembly_find(a, ev->index);
    if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_OPAQUE) {
        phi__bedrock_stream_opaque_delta(a, block, ev);
        return;
    }
    if (ev->input.len > 0) { /* of a call that has started */
        if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_TOOL_CALL)
            phi__assembly_add_text(a, block, ev->input);
    }
    if (ev->citation.len > 0) {
        phi__assembly_cite(a, phi__bedrock_stream_find_or_open(a, ev->index, PHI_CONTENT_TEXT),
                           ev->citation);
        return;
    }
    if (ev->reasoning.at == NULL && ev->signature.at == NULL && ev->redacted.at == NULL) {
        if (!ev->starts_tool) phi__bedrock_stream_unknown_delta(a, ev);
        return;
    }
    block = phi__bedrock_stream_find_or_open(a, ev->index, PHI_CONTENT_THINKING);
    phi__assembly_add_text(a, block, ev->reasoning);
    phi__bedrock_stream_sign(a, block, ev->signature, false);
    phi__bedrock_stream_sign(a, block, ev->redacted, true);
}

/* A call of the program's tools; members that phi does not know go back with it. */
static size_t phi__bedrock_stream_start_call(phi__assembly *a, const phi__bedrock_event *ev) {
    static const char *const known[] = {"toolUseId", "name", "input", NULL};
    phi_str inner;
    phi__draft *d;
    size_t block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, ev->index);
    if (block == SIZE_MAX) return block;
    d = &a->drafts[block];
    phi__assembly_put(a, &d->id, ev->id);
    phi__assembly_put(a, &d->name, ev->name);
    if (!phi__opaque_find(ev->start, PHI__LIT("toolUse"), &inner)) return block;
    phi__opaque_rest(&d->citations, inner, known);
    if (d->citations.failed) a->no_memory = true;
    if (!phi__assembly_is_json(a, phi__buf_str(&d->citations))) phi__buf_clear(&d->citations);
    return block;
}

/* Opens the block that an event starts. SIZE_MAX: the event starts none, or memory ended. */
static size_t phi__bedrock_stream_start(phi__assembly *a, const phi__bedrock_event *ev) {
    phi_str name = phi__bedrock_stream_member(ev->start);
    if (ev->starts_tool && !phi__json_cursor_text_is(ev->tool_type, PHI__LIT("server_tool_use")))
        return phi__bedrock_stream_start_call(a, ev);
    if (name.len == 0 || phi__str_is(name, "text") || phi__str_is(name, "reasoningContent") ||
        phi__str_is(name, "citationsContent"))
        return SIZE_MAX;
    return phi__assembly_opaque(a, name, ev->start, ev->index, true);
}

/* ---- the end ---- */

/* With a call that is still open it is no end: that one was cut. */
static void phi__bedrock_stream_stop(phi__bedrock_state *st, phi__assembly *a,
                                     phi__json_text reason) {
    if (reason.at == NULL) return;
    phi__assembly_put(a, &a->raw_stop_reason, reason);
    st->got_stop = true;
    phi__bedrock_stream_close_all(a);
    a->terminal = !phi__bedrock_stream_calls_open(a);
    a->stop_reason = phi__bedrock_stream_stop_of(phi__buf_str(&a->raw_stop_reason));
    if (a->stop_reason == PHI_STOP_REASON_NONE) phi__assembly_unknown_stop(a);
}

/* ---- trouble ---- */

static int phi__bedrock_stream_status(phi_str type) {
    static const struct phi__bedrock_statuses {
        const char *type;
        int status;
    } table[] = {{"throttlingException", 429},
                 {"modelNotReadyException", 429},
                 {"serviceQuotaExceededException", 429},
                 {"internalServerException", 500},
                 {"internalFailure", 500},
                 {"serviceUnavailableException", 503},
                 {"serviceUnavailable", 503},
                 {"modelStreamErrorException", 424},
                 {"modelErrorException", 424},
                 {"modelTimeoutException", 408},
                 {"validationException", 400},
                 {"conflictException", 409},
                 {"resourceNotFoundException", 404},
                 {"accessDeniedException", 403},
                 {"expiredTokenException", 403},
                 {"unrecognizedClientException", 403}};
    size_t i;
    for (i = 0; i < PHI__COUNT(table); i++)
        if (phi__str_is_nocase(type, table[i].type)) return table[i].status;
    return 0;
}

/* An exception's JSON, or an error's plain text, classified as an HTTP error of its type. */
static void phi__bedrock_stream_trouble(phi__assembly *a, phi_str type, phi_str data) {
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi__buf header, body;
    phi_failure failure;
    phi__buf_init(&header, a->memory);
    phi__buf_init(&body, a->memory);
    phi__buf_text(&header, "x-amzn-errortype: ");
    phi__buf_add_str(&header, type);
    if (data.len > 0 && data.at[0] == '{')
        phi__buf_add_str(&body, data);
    else if (data.len > 0) {
        phi__buf_text(&body, "{\"message\":");
        phi__json_write_str(&body, data);
        phi__buf_char(&body, '}');
    }
    if (header.failed || body.failed)
        a->no_memory = true;
    else {
        phi__classify(NULL, phi__bedrock_stream_status(type), phi__buf_str(&header),
                      phi__buf_str(&body), &a->scratch, &failure);
        failure.http_status = 0; /* it came inside of an answer */
        phi__assembly_fail_with(a, &failure);
    }
    phi__buf_free(&header);
    phi__buf_free(&body);
    phi_arena_reset(&a->scratch, mark);
}

/* ---- events ---- */

typedef enum phi__bedrock_kind {
    PHI__BEDROCK_UNKNOWN,
    PHI__BEDROCK_MESSAGE_START,
    PHI__BEDROCK_BLOCK_START,
    PHI__BEDROCK_BLOCK_DELTA,
    PHI__BEDROCK_BLOCK_STOP,
    PHI__BEDROCK_MESSAGE_STOP,
    PHI__BEDROCK_METADATA
} phi__bedrock_kind;

static phi__bedrock_kind phi__bedrock_stream_kind_of(phi_str name) {
    static const struct phi__bedrock_names {
        const char *name;
        phi__bedrock_kind kind;
    } table[] = {{"contentBlockDelta", PHI__BEDROCK_BLOCK_DELTA},
                 {"contentBlockStart", PHI__BEDROCK_BLOCK_START},
                 {"contentBlockStop", PHI__BEDROCK_BLOCK_STOP},
                 {"messageStart", PHI__BEDROCK_MESSAGE_START},
                 {"messageStop", PHI__BEDROCK_MESSAGE_STOP},
                 {"metadata", PHI__BEDROCK_METADATA}};
    size_t i;
    for (i = 0; i < PHI__COUNT(table); i++)
        if (phi__str_is(name, table[i].name)) return table[i].kind;
    return PHI__BEDROCK_UNKNOWN;
}

static void phi__bedrock_stream_apply(phi__bedrock_state *st, phi__assembly *a,
                                      phi__bedrock_kind kind, const phi__bedrock_event *ev) {
    switch (kind) {
    case PHI__BEDROCK_BLOCK_DELTA: phi__bedrock_stream_delta(a, ev); break;
    case PHI__BEDROCK_BLOCK_START: (void)phi__bedrock_stream_start(a, ev); break;
    case PHI__BEDROCK_BLOCK_STOP:
        phi__bedrock_stream_close(a, phi__assembly_find(a, ev->index));
        break;
    case PHI__BEDROCK_MESSAGE_STOP: phi__bedrock_stream_stop(st, a, ev->stop_reason); break;
    case PHI__BEDROCK_METADATA:
        phi__bedrock_stream_usage(a, ev->usage);
        st->got_usage = true;
        break;
    case PHI__BEDROCK_MESSAGE_START:
    case PHI__BEDROCK_UNKNOWN: break;
    }
    if (st->got_stop && st->got_usage) phi__bedrock_stream_settle(st, a);
}

/* The payload of an unknown event, and of messageStart, is ignored: it may be empty, or no JSON. */
static void phi__bedrock_stream_take(phi__bedrock_state *st, phi__assembly *a, phi_str name,
                                     phi_str data) {
    phi__bedrock_kind kind = phi__bedrock_stream_kind_of(name);
    bool late = st->got_stop; /* behind the reason to stop usage alone counts */
    phi__bedrock_event ev;
    if (kind == PHI__BEDROCK_UNKNOWN) return;
    st->heard = true;
    if (late && kind != PHI__BEDROCK_METADATA) return;
    if (kind == PHI__BEDROCK_MESSAGE_START)
        phi__assembly_start(a);
    else if (phi__bedrock_stream_read(&ev, data))
        phi__bedrock_stream_apply(st, a, kind, &ev);
    else if (!late)
        phi__classify_bad_event(a);
}

static bool phi__bedrock_stream_ends(phi_str s, const char *end) {
    size_t n = strlen(end);
    return s.len >= n && memcmp(s.at + s.len - n, end, n) == 0;
}

/* A line: {"contentBlockDelta":{...}}, {"throttlingException":{...}}, or an error of a gateway. */
static void phi__bedrock_stream_line(phi__bedrock_state *st, phi__assembly *a, phi_str data) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str name, inner;
    bool late = st->got_stop;
    phi__json_cursor_init(&c, data);
    if (phi__json_cursor_enter_object(&c))
        while (phi__json_cursor_next_key(&c, &key)) {
            name = phi__str(key.at, key.len);
            if (phi__str_is(name, "error") && !phi__classify_take_error(&c, &inner)) continue;
            if (phi__str_is(name, "error") || phi__str_is_nocase(name, "message")) {
                if (!late) phi__classify_event(a, data);
                return;
            }
            if (phi__json_cursor_peek(&c) != PHI_JSON_OBJECT ||
                !phi__json_cursor_take_raw(&c, &inner))
                phi__json_cursor_skip(&c);
            else if (phi__bedrock_stream_ends(name, "Exception")) {
                if (!late) phi__bedrock_stream_trouble(a, name, inner);
            } else
                phi__bedrock_stream_take(st, a, name, inner);
        }
    if (!late && !phi__json_cursor_done(&c)) phi__classify_bad_event(a);
}

/* ---- a whole answer ---- */

/* Text with its citations: the parts of the text are one. */
static void phi__bedrock_stream_cited(phi__assembly *a, const phi__bedrock_event *ev) {
    size_t block = phi__assembly_open(a, PHI_CONTENT_TEXT, ev->index);
    phi__json_found found;
    phi__json_cursor c;
    if (block == SIZE_MAX) return;
    if (phi__json_cursor_find(ev->cited, "citations", &found) == PHI_OK &&
        found.type == PHI_JSON_ARRAY)
        phi__assembly_set(a, &a->drafts[block].citations, found.raw);
    if (phi__json_cursor_find(ev->cited, "content", &found) != PHI_OK) return;
    phi__json_cursor_init(&c, found.raw);
    if (!phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_item(&c)) {
        phi__bedrock_event part;
        memset(&part, 0, sizeof part);
        (void)phi__json_members_take(&c, &phi__bedrock_block_members, &part);
        phi__assembly_add_text(a, block, part.text);
    }
}

static void phi__bedrock_stream_content(phi__assembly *a, phi__json_cursor *c) {
    phi__bedrock_event ev;
    if (!phi__json_cursor_enter_array(c)) return;
    while (phi__json_cursor_next_item(c)) {
        size_t block;
        memset(&ev, 0, sizeof ev);
        ev.index = (int64_t)a->count;
        phi__bedrock_stream_take_start(c, &ev);
        block = phi__bedrock_stream_start(a, &ev);
        if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_TOOL_CALL)
            phi__assembly_add(a, block, ev.object);
        else if (block == SIZE_MAX && ev.cited.len > 0)
            phi__bedrock_stream_cited(a, &ev);
        else if (block == SIZE_MAX)
            phi__bedrock_stream_delta(a, &ev);
        phi__bedrock_stream_close(a, phi__assembly_find(a, ev.index));
    }
}

/* What Converse answers where nothing is streamed; false: it is something else. */
static bool phi__bedrock_stream_answer(phi__bedrock_state *st, phi__assembly *a, phi_str body) {
    phi__json_found content, found;
    phi__json_cursor c;
    phi__json_text stop = {NULL, 0, false};
    if (phi__json_cursor_find(body, "output.message.content", &content) != PHI_OK) return false;
    phi__assembly_start(a);
    phi__json_cursor_init(&c, content.raw);
    phi__bedrock_stream_content(a, &c);
    if (phi__json_cursor_find(body, "usage", &found) == PHI_OK)
        phi__bedrock_stream_usage(a, found.raw);
    if (phi__json_cursor_find(body, "stopReason", &found) == PHI_OK &&
        found.type == PHI_JSON_STRING) {
        stop.at = found.raw.at;
        stop.len = found.raw.len;
        stop.escaped = found.escaped;
    }
    phi__bedrock_stream_stop(st, a, stop);
    st->heard = true;
    return true;
}

/* ---- for the codec ---- */

PHI__FN void phi__bedrock_stream_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    phi__bedrock_state *st = (phi__bedrock_state *)state;
    if (a->no_memory || st->settled || a->failure.kind != PHI_FAILURE_NONE) return;
    if (name.len > 0 && name.at[0] == '!') {
        if (!st->got_stop)
            phi__bedrock_stream_trouble(a, phi__str(name.at + 1, name.len - 1), data);
    } else if (name.len == 0)
        phi__bedrock_stream_line(st, a, data);
    else
        phi__bedrock_stream_take(st, a, name, data);
}

PHI__FN void phi__bedrock_stream_end(void *state, phi__assembly *a) {
    phi__bedrock_state *st = (phi__bedrock_state *)state;
    if (st->settled || a->failure.kind != PHI_FAILURE_NONE) return;
    /* only the usage is missing */
    if (st->got_stop && !phi__bedrock_stream_calls_open(a))
        phi__bedrock_stream_settle(st, a);
    else
        phi__classify_truncated(a, st->heard);
}

/* One JSON answer, or lines that came under the name of one. */
PHI__FN void phi__bedrock_stream_whole(void *state, phi__assembly *a, phi_str body) {
    phi__bedrock_state *st = (phi__bedrock_state *)state;
    phi__frames lines;
    phi__frame line;
    body = phi__str_trim(body);
    if (!phi__bedrock_stream_answer(st, a, body)) {
        phi__frames_init(&lines, a->memory, 0);
        phi__frames_feed(&lines, body.at, body.len);
        while (body.len > 0 && body.at[0] == '{' && phi__frames_next(&lines, &line) > 0)
            phi__bedrock_stream_event(st, a, line.name, line.payload);
        phi__frames_free(&lines);
    }
    if (st->heard)
        phi__bedrock_stream_end(state, a);
    else if (a->failure.kind == PHI_FAILURE_NONE)
        phi__classify_body(a, body);
}
