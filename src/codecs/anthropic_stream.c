/* anthropic_stream.c - answers of the Anthropic Messages API: events to a message.

   Every event is read in one pass without a tree; nearly all of them are deltas. Blocks are found
   by the index the wire gives them. Blocks of other types than text, thinking and tool use are
   opaque: their JSON is kept as it came with their start, and deltas put members into it. wire.md
   parts 1.3, 1.9 and 2. */
#include "codecs/anthropic_in.h"

#include "base/utf8_in.h"
#include "text/json_members_in.h"
#include "wire/classify_in.h"
#include "wire/opaque_in.h"

#define PHI__ANTHROPIC_IS(text, literal) phi__json_cursor_text_is((text), PHI__LIT(literal))

/* What any event may hold, as it stands in its text. */
typedef struct phi__anthropic_event {
    phi__json_text type;
    int64_t index;
    phi__json_text delta_type, text, thinking, partial_json, signature; /* of a delta */
    phi__json_text stop_reason;
    phi_str citation, content, encrypted_content; /* of a delta; raw JSON, as the next four */
    phi_str stop_details;
    phi_str block, message, usage;
    bool has_error;
} phi__anthropic_event;

/* ---- reading an event ---- */

static const phi__json_member phi__anthropic_delta_list[] = {
    PHI__MEMBER(phi__anthropic_event, delta_type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, text, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, partial_json, "partial_json", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, thinking, "thinking", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, signature, "signature", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, citation, "citation", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__anthropic_event, content, "content", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_event, encrypted_content, "encrypted_content", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_event, stop_reason, "stop_reason", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, stop_details, "stop_details", PHI__MEMBER_RAW)};
static const phi__json_members phi__anthropic_delta_members = {
    phi__anthropic_delta_list, PHI__COUNT(phi__anthropic_delta_list)};

static const phi__json_member phi__anthropic_event_list[] = {
    PHI__MEMBER(phi__anthropic_event, type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, index, "index", PHI__MEMBER_I64),
    PHI__MEMBER_INSIDE("delta", &phi__anthropic_delta_members),
    PHI__MEMBER(phi__anthropic_event, block, "content_block", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_event, message, "message", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_event, usage, "usage", PHI__MEMBER_RAW),
    PHI__MEMBER_TAKE(phi__anthropic_event, has_error, "error", phi__classify_take_flag)};
static const phi__json_members phi__anthropic_event_members = {
    phi__anthropic_event_list, PHI__COUNT(phi__anthropic_event_list)};

static bool phi__anthropic_stream_read(phi__anthropic_event *ev, phi_str data) {
    memset(ev, 0, sizeof *ev);
    return phi__json_members_read(data, &phi__anthropic_event_members, ev, NULL);
}

/* ---- parts ---- */

static const phi__json_member phi__anthropic_details_list[] = {
    PHI__MEMBER(phi_usage, reasoning, "thinking_tokens", PHI__MEMBER_U64)};
static const phi__json_members phi__anthropic_details_members = {
    phi__anthropic_details_list, PHI__COUNT(phi__anthropic_details_list)};

/* Counts are cumulative; null or absent counts leave earlier ones. */
static const phi__json_member phi__anthropic_usage_list[] = {
    PHI__MEMBER(phi_usage, input, "input_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, output, "output_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_read, "cache_read_input_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_write, "cache_creation_input_tokens", PHI__MEMBER_U64),
    PHI__MEMBER_INSIDE("output_tokens_details", &phi__anthropic_details_members)};
static const phi__json_members phi__anthropic_usage_members = {
    phi__anthropic_usage_list, PHI__COUNT(phi__anthropic_usage_list)};

static void phi__anthropic_stream_usage(phi__assembly *a, phi_str raw) {
    (void)phi__json_members_read(raw, &phi__anthropic_usage_members, &a->usage, NULL);
}

static phi_stop_reason phi__anthropic_stream_stop_of(phi_str word) {
    if (phi__str_is(word, "end_turn") || phi__str_is(word, "stop_sequence"))
        return PHI_STOP_REASON_STOP;
    if (phi__str_is(word, "tool_use")) return PHI_STOP_REASON_TOOL_USE;
    if (phi__str_is(word, "max_tokens") || phi__str_is(word, "model_context_window_exceeded"))
        return PHI_STOP_REASON_LENGTH;
    if (phi__str_is(word, "pause_turn") || phi__str_is(word, "compaction"))
        return PHI_STOP_REASON_PAUSED;
    if (phi__str_is(word, "refusal") || phi__str_is(word, "sensitive"))
        return PHI_STOP_REASON_GUARD_RAIL;
    return PHI_STOP_REASON_NONE;
}

/* A refusal with the provider's own explanation, where it gives one. */
static void phi__anthropic_stream_refused(phi__assembly *a, phi_str word, phi_str details) {
    phi__json_found found;
    phi_str words = {NULL, 0};
    if (details.len > 0 && phi__json_cursor_find(details, "explanation", &found) == PHI_OK)
        (void)phi__json_cursor_found_str(&a->scratch, &found, &words);
    if (words.len > 0)
        phi__assembly_fail(a, PHI_FAILURE_CONTENT_FILTER, false, word, words);
    else
        phi__classify_stop(a, PHI_FAILURE_CONTENT_FILTER, false, word);
}

static void phi__anthropic_stream_stop(phi__anthropic_state *st, phi__assembly *a,
                                       phi__json_text reason, phi_str details) {
    phi_str word;
    if (reason.at == NULL) return;
    phi__assembly_put(a, &a->raw_stop_reason, reason);
    word = phi__buf_str(&a->raw_stop_reason);
    st->got_stop = true;
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    a->stop_reason = phi__anthropic_stream_stop_of(word);
    if (a->stop_reason == PHI_STOP_REASON_GUARD_RAIL)
        phi__anthropic_stream_refused(a, word, details);
    else if (a->stop_reason == PHI_STOP_REASON_NONE)
        phi__assembly_unknown_stop(a);
}

/* ---- blocks ---- */

typedef struct phi__anthropic_block {
    phi__json_text type, text, thinking, signature, data, id, name;
    phi_str input, citations; /* raw JSON */
    phi_str raw;              /* all of it */
} phi__anthropic_block;

static const phi__json_member phi__anthropic_block_list[] = {
    PHI__MEMBER(phi__anthropic_block, type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, text, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, thinking, "thinking", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, signature, "signature", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, data, "data", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, name, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, input, "input", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_block, citations, "citations", PHI__MEMBER_ARRAY)};
static const phi__json_members phi__anthropic_block_members = {
    phi__anthropic_block_list, PHI__COUNT(phi__anthropic_block_list)};

static void phi__anthropic_stream_read_block(phi__anthropic_block *b, phi_str raw) {
    memset(b, 0, sizeof *b);
    b->raw = raw;
    (void)phi__json_members_read(raw, &phi__anthropic_block_members, b, NULL);
}

/* A block that phi does not interpret. One without a type cannot go back and is read over. */
static size_t phi__anthropic_stream_open_opaque(phi__assembly *a, const phi__anthropic_block *b,
                                                int64_t index) {
    size_t block;
    if (b->type.len == 0) return SIZE_MAX;
    block = phi__assembly_opaque(a, phi__str(NULL, 0), b->raw, index, true);
    if (block != SIZE_MAX) phi__assembly_put(a, &a->drafts[block].name, b->type);
    return block;
}

/* The members of a call that phi does not know ("caller") go back with it. */
static void phi__anthropic_stream_keep_rest(phi__assembly *a, phi__draft *d, phi_str raw) {
    static const char *const known[] = {"type", "id", "name", "input", NULL};
    phi__opaque_rest(&d->citations, raw, known);
    if (d->citations.failed) a->no_memory = true;
    if (!phi__assembly_is_json(a, phi__buf_str(&d->citations))) phi__buf_clear(&d->citations);
}

/* SIZE_MAX: a block without a type, or no memory. */
static size_t phi__anthropic_stream_open(phi__assembly *a, const phi__anthropic_block *b,
                                         int64_t index) {
    phi_content_kind kind;
    phi__draft *d;
    size_t block;
    if (PHI__ANTHROPIC_IS(b->type, "text"))
        kind = PHI_CONTENT_TEXT;
    else if (PHI__ANTHROPIC_IS(b->type, "thinking") ||
             PHI__ANTHROPIC_IS(b->type, "redacted_thinking"))
        kind = PHI_CONTENT_THINKING;
    else if (PHI__ANTHROPIC_IS(b->type, "tool_use"))
        kind = PHI_CONTENT_TOOL_CALL;
    else
        return phi__anthropic_stream_open_opaque(a, b, index);
    block = phi__assembly_open(a, kind, index);
    if (block == SIZE_MAX) return block;
    d = &a->drafts[block];
    if (kind == PHI_CONTENT_TEXT) {
        phi__assembly_add_text(a, block, b->text);
        phi__assembly_set(a, &d->citations, b->citations);
    }
    if (kind == PHI_CONTENT_TOOL_CALL) {
        phi__assembly_put(a, &d->id, b->id);
        phi__assembly_put(a, &d->name, b->name);
        phi__anthropic_stream_keep_rest(a, d, b->raw);
    }
    if (kind == PHI_CONTENT_THINKING) {
        d->redacted = PHI__ANTHROPIC_IS(b->type, "redacted_thinking");
        phi__assembly_put(a, &d->signature, d->redacted ? b->data : b->signature);
        phi__assembly_add_text(a, block, b->thinking);
    }
    return block;
}

/* Arguments may come whole with the start of the block; deltas, if any follow, take their place.
   They wait where a call keeps nothing else. */
static void phi__anthropic_stream_block_start(phi__assembly *a, const phi__anthropic_event *ev) {
    phi__anthropic_block b;
    size_t block;
    if (ev->block.len == 0) return;
    phi__anthropic_stream_read_block(&b, ev->block);
    block = phi__anthropic_stream_open(a, &b, ev->index);
    if (block == SIZE_MAX || a->drafts[block].kind != PHI_CONTENT_TOOL_CALL) return;
    if (b.input.len <= 2 || b.input.at[0] != '{') return;
    phi__assembly_wait(a, block, b.input);
}

/* arguments: the call's, if no delta brought any. */
static void phi__anthropic_stream_close_call(phi__assembly *a, size_t block, phi_str arguments) {
    phi__draft *d;
    phi__assembly_close_call(a, block, arguments);
    d = &a->drafts[block];
    phi__assembly_set(a, &d->replay, phi__buf_str(&d->citations));
    phi__buf_free(&d->citations);
}

/* A hosted call needs its input when it goes back, also an empty one. */
static void phi__anthropic_stream_close_opaque(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    phi_str name = phi__buf_str(&d->name), none = {NULL, 0}, value;
    if (d->bytes.len == 0 && name.len > 9 && memcmp(name.at + name.len - 9, "_tool_use", 9) == 0 &&
        !phi__opaque_find(phi__buf_str(&d->replay), PHI__LIT("input"), &value))
        phi__assembly_opaque_set(a, block, none, PHI__LIT("input"), PHI__LIT("{}"));
    if (d->id.len > 0)
        phi__assembly_opaque_close(a, block, none, phi__buf_str(&d->id),
                                   !phi__str_is(phi__buf_str(&d->id), "input"));
    else
        phi__assembly_close(a, block);
}

static void phi__anthropic_stream_block_stop(phi__assembly *a, size_t block) {
    phi__draft *d;
    if (block == SIZE_MAX || !a->drafts[block].open) return;
    d = &a->drafts[block];
    if (d->kind == PHI_CONTENT_TOOL_CALL)
        phi__anthropic_stream_close_call(
            a, block, d->replay_open ? phi__buf_str(&d->replay) : phi__str(NULL, 0));
    else if (d->kind == PHI_CONTENT_OPAQUE)
        phi__anthropic_stream_close_opaque(a, block);
    else
        phi__assembly_close(a, block);
}

/* A block that some gateways forget to start. */
static size_t phi__anthropic_stream_find_or_open(phi__assembly *a, int64_t index,
                                                 phi_content_kind kind) {
    size_t block = phi__assembly_find(a, index);
    return block != SIZE_MAX ? block : phi__assembly_open(a, kind, index);
}

static void phi__anthropic_stream_sign(phi__assembly *a, const phi__anthropic_event *ev) {
    size_t block = phi__assembly_find(a, ev->index);
    if (block == SIZE_MAX || a->drafts[block].kind != PHI_CONTENT_THINKING) return;
    phi__assembly_sign(a, block, ev->signature);
}

/* The member of an opaque block whose value the bytes of deltas are; its name is in draft->id. The
   start may hold some of a text. SIZE_MAX: earlier deltas went into another member. */
static size_t phi__anthropic_stream_member(phi__assembly *a, size_t block, const char *member) {
    phi__draft *d = &a->drafts[block];
    phi__json_found found;
    if (!d->open) return SIZE_MAX;
    if (d->id.len > 0) return phi__str_is(phi__buf_str(&d->id), member) ? block : SIZE_MAX;
    phi__assembly_set(a, &d->id, phi_str_of(member));
    if (strcmp(member, "input") != 0 &&
        phi__json_cursor_find(phi__buf_str(&d->replay), member, &found) == PHI_OK &&
        found.type == PHI_JSON_STRING)
        phi__assembly_add_json(a, block, found.raw, found.escaped);
    return block;
}

static void phi__anthropic_stream_put(phi__assembly *a, size_t block, const char *member,
                                      phi_str value) {
    if (value.len > 0)
        phi__assembly_opaque_set(a, block, phi__str(NULL, 0), phi_str_of(member), value);
}

/* Deltas that are a member's value, or an item of one. Those of unknown types change nothing: the
   block stays as its start has it. */
static void phi__anthropic_stream_opaque_delta(phi__assembly *a, size_t block,
                                               const phi__anthropic_event *ev) {
    phi_str array;
    phi__buf now;
    if (!a->drafts[block].open || a->drafts[block].incomplete) return;
    if (PHI__ANTHROPIC_IS(ev->delta_type, "compaction_delta")) {
        phi__anthropic_stream_put(a, block, "content", ev->content);
        phi__anthropic_stream_put(a, block, "encrypted_content", ev->encrypted_content);
    } else if (PHI__ANTHROPIC_IS(ev->delta_type, "signature_delta") && ev->signature.at != NULL)
        phi__anthropic_stream_put(a, block, "signature",
                                  phi__str(ev->signature.at - 1, ev->signature.len + 2));
    else if (PHI__ANTHROPIC_IS(ev->delta_type, "citations_delta") && ev->citation.len > 0) {
        phi__buf_init(&now, a->memory);
        if (phi__opaque_find(phi__buf_str(&a->drafts[block].replay), PHI__LIT("citations"),
                             &array) &&
            array.at[0] == '[')
            phi__buf_add_str(&now, array);
        phi__opaque_push(&now, ev->citation);
        if (now.failed) a->no_memory = true;
        phi__anthropic_stream_put(a, block, "citations", phi__buf_str(&now));
        phi__buf_free(&now);
    }
}

/* Deltas that are no text of their block. */
static void phi__anthropic_stream_other_delta(phi__assembly *a, const phi__anthropic_event *ev) {
    size_t block = phi__assembly_find(a, ev->index);
    if (block == SIZE_MAX) return;
    if (a->drafts[block].kind == PHI_CONTENT_OPAQUE)
        phi__anthropic_stream_opaque_delta(a, block, ev);
    else if (a->drafts[block].kind == PHI_CONTENT_TEXT &&
             PHI__ANTHROPIC_IS(ev->delta_type, "citations_delta"))
        phi__assembly_cite(a, block, ev->citation);
    else if (PHI__ANTHROPIC_IS(ev->delta_type, "signature_delta"))
        phi__anthropic_stream_sign(a, ev);
}

static void phi__anthropic_stream_delta(phi__anthropic_state *st, phi__assembly *a,
                                        const phi__anthropic_event *ev, phi_str data) {
    const char *member;
    size_t block;
    phi__json_text text;
    if (PHI__ANTHROPIC_IS(ev->delta_type, "text_delta")) {
        text = ev->text;
        member = "text";
        block = phi__anthropic_stream_find_or_open(a, ev->index, PHI_CONTENT_TEXT);
    } else if (PHI__ANTHROPIC_IS(ev->delta_type, "input_json_delta")) {
        text = ev->partial_json;
        member = "input";
        block = phi__assembly_find(a, ev->index);
    } else if (PHI__ANTHROPIC_IS(ev->delta_type, "thinking_delta")) {
        text = ev->thinking;
        member = "thinking";
        block = phi__anthropic_stream_find_or_open(a, ev->index, PHI_CONTENT_THINKING);
    } else {
        phi__anthropic_stream_other_delta(a, ev);
        return;
    }
    if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_OPAQUE)
        block = phi__anthropic_stream_member(a, block, member);
    phi__assembly_add_text(a, block, text);
    phi__delta_cache_learn(&st->repeat, a, data, text, block);
}

/* ---- the message ---- */

typedef struct phi__anthropic_message {
    phi__json_text id, model, stop;
    phi_str usage, details, content, diagnostics; /* raw JSON */
} phi__anthropic_message;

static const phi__json_member phi__anthropic_message_list[] = {
    PHI__MEMBER(phi__anthropic_message, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_message, content, "content", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_message, diagnostics, "diagnostics", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_message, model, "model", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_message, stop, "stop_reason", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_message, details, "stop_details", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_message, usage, "usage", PHI__MEMBER_RAW)};
static const phi__json_members phi__anthropic_message_members = {
    phi__anthropic_message_list, PHI__COUNT(phi__anthropic_message_list)};

static void phi__anthropic_stream_content(phi__assembly *a, phi_str content) {
    phi__json_cursor c;
    phi__anthropic_block b;
    phi_str raw;
    phi__json_cursor_init(&c, content.len > 0 ? content : PHI__LIT("[]"));
    if (!phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_item(&c)) {
        size_t block;
        if (!phi__json_cursor_take_raw(&c, &raw)) continue;
        phi__anthropic_stream_read_block(&b, raw);
        block = phi__anthropic_stream_open(a, &b, (int64_t)a->count);
        if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_TOOL_CALL)
            phi__anthropic_stream_close_call(a, block, b.input);
        else
            phi__assembly_close(a, block);
    }
}

/* Cache diagnostics, which `extra` may ask for: kept for the host, with the id that the next
   request names. null says that nothing was missed. */
static void phi__anthropic_stream_diagnosed(phi__assembly *a, phi_str json) {
    phi__buf *out = &a->details;
    phi__buf_clear(out);
    phi__buf_text(out, "{\"id\":");
    phi__json_write_str(out, phi__buf_str(&a->response_id));
    phi__buf_text(out, ",\"diagnostics\":");
    phi__utf8_repair(out, json);
    phi__buf_char(out, '}');
    if (out->failed) a->no_memory = true;
}

/* The message of message_start, or a whole answer; `whole` reads its blocks and its end too. */
static void phi__anthropic_stream_message_of(phi__anthropic_state *st, phi__assembly *a,
                                             phi_str raw, bool whole) {
    phi__json_cursor c;
    phi__anthropic_message m;
    phi__json_cursor_init(&c, raw);
    if (raw.len == 0 || phi__json_cursor_peek(&c) != PHI_JSON_OBJECT) return;
    memset(&m, 0, sizeof m);
    (void)phi__json_members_take(&c, &phi__anthropic_message_members, &m);
    if (m.id.at != NULL) phi__assembly_put(a, &a->response_id, m.id);
    if (m.model.at != NULL) phi__assembly_put(a, &a->model, m.model);
    if (m.diagnostics.len > 0) phi__anthropic_stream_diagnosed(a, m.diagnostics);
    phi__assembly_start(a);
    phi__anthropic_stream_usage(a, m.usage);
    if (!whole) return;
    phi__anthropic_stream_content(a, m.content);
    phi__anthropic_stream_stop(st, a, m.stop, m.details);
}

static void phi__anthropic_stream_take(phi__anthropic_state *st, phi__assembly *a,
                                       const phi__anthropic_event *ev, phi_str data) {
    if (PHI__ANTHROPIC_IS(ev->type, "content_block_delta"))
        phi__anthropic_stream_delta(st, a, ev, data);
    else if (PHI__ANTHROPIC_IS(ev->type, "content_block_start"))
        phi__anthropic_stream_block_start(a, ev);
    else if (PHI__ANTHROPIC_IS(ev->type, "content_block_stop"))
        phi__anthropic_stream_block_stop(a, phi__assembly_find(a, ev->index));
    else if (PHI__ANTHROPIC_IS(ev->type, "message_start"))
        phi__anthropic_stream_message_of(st, a, ev->message, false);
    else if (PHI__ANTHROPIC_IS(ev->type, "message_delta")) {
        phi__anthropic_stream_usage(a, ev->usage);
        phi__anthropic_stream_stop(st, a, ev->stop_reason, ev->stop_details);
    } else if (PHI__ANTHROPIC_IS(ev->type, "message_stop"))
        a->terminal = a->last = true;
    else if (PHI__ANTHROPIC_IS(ev->type, "error") || (ev->type.len == 0 && ev->has_error))
        phi__classify_event(a, data);
}

/* ---- for the codec ---- */

PHI__FN void phi__anthropic_stream_event(void *state, phi__assembly *a, phi_str name,
                                         phi_str data) {
    phi__anthropic_state *st = (phi__anthropic_state *)state;
    phi_arena_mark mark;
    phi__anthropic_event ev;
    if (phi__str_is(name, "ping") || data.len == 0 || a->no_memory) return;
    if (a->terminal) return; /* message_stop was the last event: later ones are ignored */
    if (st->broken) {
        phi__classify_bad_event(a);
        return;
    }
    if (phi__str_is(name, "error")) {
        phi__classify_event(a, data);
        return;
    }
    if (phi__delta_cache_add(&st->repeat, a, data)) return;
    if (data.at[0] != '{') return; /* words of a gateway: nothing of ours */
    st->heard = true;
    phi__delta_cache_forget(&st->repeat);
    if (!phi__anthropic_stream_read(&ev, data)) {
        st->broken = true;
        return;
    }
    mark = phi_arena_save(&a->scratch);
    phi__anthropic_stream_take(st, a, &ev, data);
    phi_arena_reset(&a->scratch, mark);
}

PHI__FN void phi__anthropic_stream_end(void *state, phi__assembly *a) {
    phi__anthropic_state *st = (phi__anthropic_state *)state;
    size_t i;
    bool open = false;
    if (a->terminal || a->failure.kind != PHI_FAILURE_NONE) return;
    for (i = 0; i < a->count; i++) open = open || a->drafts[i].open;
    if (st->got_stop && !open)
        a->terminal = true; /* only the marker is missing */
    else
        phi__classify_truncated(a, st->heard);
}

PHI__FN void phi__anthropic_stream_whole(void *state, phi__assembly *a, phi_str body) {
    phi__anthropic_state *st = (phi__anthropic_state *)state;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi__anthropic_event ev;
    if (phi__anthropic_stream_read(&ev, body) && PHI__ANTHROPIC_IS(ev.type, "message") &&
        !ev.has_error) {
        st->heard = true;
        phi__anthropic_stream_message_of(st, a, body, true);
        if (st->got_stop)
            a->terminal = true;
        else
            phi__classify_truncated(a, true);
    } else
        phi__classify_body(a, body);
    phi_arena_reset(&a->scratch, mark);
}
