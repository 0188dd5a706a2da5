/* openai_responses_stream.c - answers of the OpenAI Responses API: events to a message.

   The answer is a list of items, each of which becomes one block: a message its text, a reasoning
   item thinking, a function call a tool call, and an item of any other type an opaque block. Items
   may come interleaved and are found by their id, else by their output_index. A finished item
   overrides the deltas before it; of an opaque one the deltas are ignored, because its last event
   has all of it. wire.md parts 1.3, 1.9 and 4. */
#include "codecs/openai_responses_in.h"

#include "codecs/kept_in.h"
#include "wire/classify_in.h"
#include "wire/hash_in.h"

/* The block kind of an item, or 0: it has no type. */
static phi_content_kind
phi__openai_responses_stream_kind(const phi__openai_responses_output_item *item) {
    if (PHI__OPENAI_RESPONSES_IS(item->type, "message")) return PHI_CONTENT_TEXT;
    if (PHI__OPENAI_RESPONSES_IS(item->type, "reasoning")) return PHI_CONTENT_THINKING;
    if (PHI__OPENAI_RESPONSES_IS(item->type, "function_call")) return PHI_CONTENT_TOOL_CALL;
    return item->type.len > 0 ? PHI_CONTENT_OPAQUE : (phi_content_kind)0;
}

/* ---- blocks ---- */

/* How an event names its item. Some servers give no index, others no id, or another id in each
   event. */
typedef struct phi__openai_responses_key {
    uint64_t id;   /* a hash of it; 0: none */
    int64_t index; /* negative: none */
} phi__openai_responses_key;

static phi__openai_responses_key phi__openai_responses_stream_key_of(phi__json_text id,
                                                                     int64_t index) {
    phi__openai_responses_key key;
    key.id = id.len > 0 ? phi__hash(phi__str(id.at, id.len), 5) | 1 : 0;
    key.index = index;
    return key;
}

/* llama.cpp gives its calls no id, and names them by their call_id. */
static phi__openai_responses_key
phi__openai_responses_stream_item_key(const phi__openai_responses_output_item *item,
                                      int64_t index) {
    return phi__openai_responses_stream_key_of(item->id.len > 0 ? item->id : item->call_id, index);
}

/* How well a block fits a key: by both, by the id, by the index, or as a block without a name. */
static int phi__openai_responses_stream_fits(const phi__draft *d, phi__openai_responses_key key) {
    bool id = key.id != 0 && d->item == key.id;
    bool index = key.index >= 0 && d->key == key.index;
    bool nameless = d->open && (d->item == 0 || key.id == 0) && (d->key < 0 || key.index < 0);
    return id && index ? 4 : id ? 3 : index ? 2 : nameless ? 1 : 0;
}

/* The latest block of a kind that fits best; SIZE_MAX: none. */
static size_t phi__openai_responses_stream_find(const phi__assembly *a,
                                                phi__openai_responses_key key,
                                                phi_content_kind kind, bool open) {
    size_t i, found = SIZE_MAX;
    int best = 0;
    for (i = a->count; i > 0; i--) {
        const phi__draft *d = &a->drafts[i - 1];
        int fits =
            d->kind == kind && (d->open || !open) ? phi__openai_responses_stream_fits(d, key) : 0;
        if (fits <= best) continue;
        best = fits;
        found = i - 1;
    }
    return found;
}

/* Whether a block of any kind has the id or the index. */
static bool phi__openai_responses_stream_known(const phi__assembly *a,
                                               phi__openai_responses_key key) {
    size_t i;
    for (i = 0; i < a->count; i++)
        if (phi__openai_responses_stream_fits(&a->drafts[i], key) > 1) return true;
    return false;
}

/* Of an item that begins: whether the block that fits it is another's. */
static bool phi__openai_responses_stream_is_other(const phi__draft *d,
                                                  phi__openai_responses_key key) {
    if (phi__openai_responses_stream_fits(d, key) == 1) return true;
    if (d->item != 0 && key.id != 0 && d->item != key.id) return true;
    return d->key >= 0 && key.index >= 0 && d->key != key.index;
}

static size_t phi__openai_responses_stream_open(phi__assembly *a, phi_content_kind kind,
                                                phi__openai_responses_key key) {
    size_t block = phi__assembly_open(a, kind, key.index);
    if (block != SIZE_MAX) a->drafts[block].item = key.id;
    return block;
}

/* Puts the whole of a block's text in place of the text of the deltas. Where it only continues
   that, the rest is a delta. */
static void phi__openai_responses_stream_overwrite(phi__assembly *a, size_t block, phi_str text) {
    phi__draft *d = &a->drafts[block];
    d->held_len = 0; /* halves that wait for another: the text has both */
    d->high = 0;
    if (d->bytes.len > text.len ||
        (d->bytes.len > 0 && memcmp(d->bytes.at, text.at, d->bytes.len) != 0)) {
        phi__assembly_set(a, &d->bytes, text);
        d->rewrites++;
        return;
    }
    phi__assembly_add(a, block, phi__str(text.at + d->bytes.len, text.len - d->bytes.len));
}

/* The texts of an array of parts in one: of a message without anything between them, of a summary
   with an empty line. */
static void phi__openai_responses_stream_join(phi__buf *out, phi_str parts, const char *between) {
    phi__json_cursor c;
    phi__json_text key;
    bool any = false;
    if (parts.len == 0) return;
    phi__json_cursor_init(&c, parts);
    if (!phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_item(&c)) {
        if (!phi__json_cursor_enter_object(&c)) continue;
        while (phi__json_cursor_next_key(&c, &key)) {
            phi__json_text text = {NULL, 0, false};
            if (PHI__OPENAI_RESPONSES_IS(key, "text") || PHI__OPENAI_RESPONSES_IS(key, "refusal"))
                phi__json_cursor_take_text(&c, &text);
            else
                phi__json_cursor_skip(&c);
            if (text.len == 0) continue;
            if (any) phi__buf_text(out, between);
            phi__json_cursor_unescape(out, text);
            any = true;
        }
    }
}

static void phi__openai_responses_stream_whole_text(phi__assembly *a, size_t block,
                                                    const phi__openai_responses_output_item *item) {
    phi_content_kind kind = a->drafts[block].kind;
    phi__buf text;
    bool said = item->content.len > 2 || item->summary.len > 2;
    phi__buf_init(&text, a->memory);
    if (kind == PHI_CONTENT_TOOL_CALL) {
        said = item->arguments.len > 0;
        if (said) phi__json_cursor_unescape(&text, item->arguments);
    } else if (kind == PHI_CONTENT_THINKING) {
        phi__openai_responses_stream_join(&text, item->summary, "\n\n");
        if (text.len == 0) phi__openai_responses_stream_join(&text, item->content, "\n\n");
    } else
        phi__openai_responses_stream_join(&text, item->content, "");
    if (text.failed)
        a->no_memory = true;
    else if (said && text.len > 0)
        phi__openai_responses_stream_overwrite(a, block, phi__buf_str(&text));
    phi__buf_free(&text);
}

static void phi__openai_responses_stream_name_call(phi__assembly *a, size_t block,
                                                   const phi__openai_responses_output_item *item) {
    if (item->call_id.len > 0) phi__assembly_put(a, &a->drafts[block].id, item->call_id);
    if (item->name.len > 0) phi__assembly_put(a, &a->drafts[block].name, item->name);
}

static bool phi__openai_responses_stream_encrypted(phi_str raw) {
    phi__json_found found;
    return phi__json_cursor_find(raw, "encrypted_content", &found) == PHI_OK &&
           found.type == PHI_JSON_STRING;
}

/* Keeps the data that the next request sends back: a whole reasoning item; of other items the
   members beyond their text. A later item of the same id may have the encrypted content. */
static void phi__openai_responses_stream_keep(phi__assembly *a, size_t block,
                                              const phi__openai_responses_output_item *item) {
    phi__draft *d = &a->drafts[block];
    if (d->kind == PHI_CONTENT_THINKING) {
        phi__assembly_set(a, &d->signature, item->raw);
        d->kept = phi__openai_responses_stream_encrypted(item->raw)
                      ? 0
                      : phi__openai_responses_stream_key_of(item->id, -1).id;
    } else
        phi__openai_responses_kept_item(a, block, item);
}

/* ---- items of other types ---- */

/* Remembers the JSON of an opaque item, by which the same item without an id is known. */
static void phi__openai_responses_stream_remember(phi__assembly *a, size_t block) {
    if (block != SIZE_MAX)
        a->drafts[block].kept = phi__hash(phi__buf_str(&a->drafts[block].replay), 5);
}

/* The part of an opaque item that has come. Broken JSON leaves the earlier text. */
static void phi__openai_responses_stream_put_opaque(phi__assembly *a, size_t block,
                                                    const phi__openai_responses_output_item *item) {
    phi__draft *d = &a->drafts[block];
    if (!phi__kept_is_object(&a->scratch, item->raw, &a->no_memory)) return;
    phi__assembly_put(a, &d->name, item->type);
    phi__assembly_set(a, &d->replay, item->raw);
    phi__openai_responses_stream_remember(a, block);
}

/* An item that is broken JSON opens no block. */
static size_t
phi__openai_responses_stream_open_opaque(phi__assembly *a,
                                         const phi__openai_responses_output_item *item,
                                         phi__openai_responses_key key) {
    phi_str type;
    size_t block;
    if (!phi__kept_is_object(&a->scratch, item->raw, &a->no_memory)) return SIZE_MAX;
    if (!phi__json_cursor_unescape_arena(&a->scratch, item->type, &type)) {
        a->no_memory = true;
        return SIZE_MAX;
    }
    block = phi__assembly_opaque(a, type, item->raw, key.index, true);
    if (block != SIZE_MAX) a->drafts[block].item = key.id;
    phi__openai_responses_stream_remember(a, block);
    return block;
}

/* True if an item of the list of all items came before. */
static bool phi__openai_responses_stream_came(const phi__assembly *a,
                                              const phi__openai_responses_output_item *item,
                                              phi__openai_responses_key key) {
    uint64_t hash = phi__hash(item->raw, 5);
    size_t i;
    for (i = 0; i < a->count; i++) {
        const phi__draft *d = &a->drafts[i];
        if (d->kind != PHI_CONTENT_OPAQUE) continue;
        if (key.id != 0 && d->item != 0 ? d->item == key.id : d->kept == hash) return true;
    }
    return false;
}

/* Its deltas may have come before it. Another id at a known index is another item. */
static void phi__openai_responses_stream_item_added(phi__assembly *a,
                                                    const phi__openai_responses_output_item *item,
                                                    int64_t index) {
    phi_content_kind kind = phi__openai_responses_stream_kind(item);
    phi__openai_responses_key key = phi__openai_responses_stream_item_key(item, index);
    size_t block;
    if (kind == (phi_content_kind)0) return;
    block = phi__openai_responses_stream_find(a, key, kind, true);
    if (block != SIZE_MAX && phi__openai_responses_stream_is_other(&a->drafts[block], key))
        block = SIZE_MAX;
    if (kind == PHI_CONTENT_OPAQUE) {
        if (block == SIZE_MAX) (void)phi__openai_responses_stream_open_opaque(a, item, key);
        return;
    }
    if (block == SIZE_MAX) block = phi__openai_responses_stream_open(a, kind, key);
    if (block != SIZE_MAX && kind == PHI_CONTENT_TOOL_CALL)
        phi__openai_responses_stream_name_call(a, block, item);
}

/* A cut item has no id that may go back, and a cut call stays open, so that it is never run. */
static void
phi__openai_responses_stream_finish_item(phi__assembly *a, size_t block,
                                         const phi__openai_responses_output_item *item) {
    bool cut = PHI__OPENAI_RESPONSES_IS(item->status, "incomplete") ||
               PHI__OPENAI_RESPONSES_IS(item->status, "in_progress");
    if (a->drafts[block].kind == PHI_CONTENT_OPAQUE) {
        phi__openai_responses_stream_put_opaque(a, block, item);
        phi__assembly_close(a, block);
        return;
    }
    if (a->drafts[block].kind == PHI_CONTENT_TOOL_CALL)
        phi__openai_responses_stream_name_call(a, block, item);
    if (a->drafts[block].kind == PHI_CONTENT_TEXT)
        phi__openai_responses_kept_citations(a, block, item->content);
    phi__openai_responses_stream_whole_text(a, block, item);
    if (!cut) phi__openai_responses_stream_keep(a, block, item);
    if (!cut || a->drafts[block].kind != PHI_CONTENT_TOOL_CALL) phi__assembly_close(a, block);
}

/* Also of an item whose start a gateway forgot; a finished item stays as it is. */
static void phi__openai_responses_stream_item_done(phi__assembly *a,
                                                   const phi__openai_responses_output_item *item,
                                                   int64_t index) {
    phi_content_kind kind = phi__openai_responses_stream_kind(item);
    phi__openai_responses_key key = phi__openai_responses_stream_item_key(item, index);
    size_t block;
    if (kind == (phi_content_kind)0) return;
    block = phi__openai_responses_stream_find(a, key, kind, false);
    if (block == SIZE_MAX)
        block = kind == PHI_CONTENT_OPAQUE ? phi__openai_responses_stream_open_opaque(a, item, key)
                                           : phi__openai_responses_stream_open(a, kind, key);
    if (block != SIZE_MAX && a->drafts[block].open)
        phi__openai_responses_stream_finish_item(a, block, item);
}

/* Annotations come after the text they are about. */
static void phi__openai_responses_stream_annotation(phi__assembly *a,
                                                    const phi__openai_responses_event *ev) {
    phi__assembly_cite(
        a,
        phi__openai_responses_stream_find(
            a, phi__openai_responses_stream_key_of(ev->item_id, ev->index), PHI_CONTENT_TEXT, true),
        ev->annotation);
}

static void phi__openai_responses_stream_delta(phi__assembly *a,
                                               const phi__openai_responses_event *ev,
                                               phi_content_kind kind) {
    phi__openai_responses_key key = phi__openai_responses_stream_key_of(ev->item_id, ev->index);
    size_t block = phi__openai_responses_stream_find(a, key, kind, true);
    if (block == SIZE_MAX && kind != PHI_CONTENT_TOOL_CALL &&
        !phi__openai_responses_stream_known(a, key))
        block = phi__openai_responses_stream_open(a, kind, key); /* its start was forgotten */
    phi__assembly_add_text(a, block, ev->delta);
}

/* An empty line between the parts of a summary. */
static void phi__openai_responses_stream_next_part(phi__assembly *a,
                                                   const phi__openai_responses_event *ev) {
    size_t block = phi__openai_responses_stream_find(
        a, phi__openai_responses_stream_key_of(ev->item_id, ev->index), PHI_CONTENT_THINKING, true);
    if (block != SIZE_MAX && a->drafts[block].bytes.len > 0)
        phi__assembly_add(a, block, PHI__LIT("\n\n"));
}

static void phi__openai_responses_stream_arguments_done(phi__assembly *a,
                                                        const phi__openai_responses_event *ev) {
    size_t block = phi__openai_responses_stream_find(
        a, phi__openai_responses_stream_key_of(ev->item_id, ev->index), PHI_CONTENT_TOOL_CALL,
        true);
    phi__openai_responses_output_item item;
    if (block == SIZE_MAX) return;
    memset(&item, 0, sizeof item);
    item.arguments = ev->arguments;
    phi__openai_responses_stream_whole_text(a, block, &item);
}

/* ---- the response ---- */

/* Azure may give the encrypted content of a reasoning item only here: the block with the same id
   gets the fuller item. */
static void
phi__openai_responses_stream_fill_reasoning(phi__assembly *a,
                                            const phi__openai_responses_output_item *item) {
    uint64_t id = phi__openai_responses_stream_key_of(item->id, -1).id;
    size_t i;
    if (id == 0 || !phi__openai_responses_stream_encrypted(item->raw)) return;
    for (i = 0; i < a->count; i++) {
        phi__draft *d = &a->drafts[i];
        if (d->kind != PHI_CONTENT_THINKING || d->kept != id) continue;
        phi__assembly_set(a, &d->signature, item->raw);
        d->kept = 0;
        return;
    }
}

/* The items once more; often there are none. They finish blocks that are still open, and they are
   the answer if no item came before. A new opaque item becomes the last block. */
static void phi__openai_responses_stream_output(phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi__openai_responses_output_item item;
    phi_str one;
    bool all = a->count == 0;
    int64_t index;
    size_t n = 0;
    if (raw.len == 0) return;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_cursor_enter_array(&c)) return;
    for (index = 0; phi__json_cursor_next_item(&c); index++) {
        phi__openai_responses_key key;
        phi_content_kind kind;
        size_t block;
        if (!phi__json_cursor_take_raw(&c, &one)) continue;
        if (!phi__assembly_takes_more(a, &n)) return;
        phi__openai_responses_read_item(&item, one);
        key = phi__openai_responses_stream_item_key(&item, index);
        kind = phi__openai_responses_stream_kind(&item);
        block = phi__openai_responses_stream_find(a, key, kind, true);
        if (all)
            phi__openai_responses_stream_item_done(a, &item, index);
        else if (block != SIZE_MAX)
            phi__openai_responses_stream_finish_item(a, block, &item);
        else if (PHI__OPENAI_RESPONSES_IS(item.type, "reasoning"))
            phi__openai_responses_stream_fill_reasoning(a, &item);
        else if (kind == PHI_CONTENT_OPAQUE && !phi__openai_responses_stream_came(a, &item, key)) {
            block = phi__openai_responses_stream_open_opaque(a, &item, key);
            phi__assembly_close(a, block);
        }
    }
}

/* created, in_progress and queued, and the beginning of the terminal events */
static void phi__openai_responses_stream_begin(phi__assembly *a,
                                               const phi__openai_responses_response *r) {
    if (a->response_id.len == 0 && r->id.len > 0) phi__assembly_put(a, &a->response_id, r->id);
    if (a->model.len == 0 && r->model.len > 0) phi__assembly_put(a, &a->model, r->model);
    phi__assembly_start(a);
}

static void phi__openai_responses_stream_close_texts(phi__assembly *a) {
    size_t i;
    for (i = 0; i < a->count; i++)
        if (a->drafts[i].kind != PHI_CONTENT_TOOL_CALL) phi__assembly_close(a, i);
}

static void phi__openai_responses_stream_incomplete(phi__assembly *a) {
    phi_str word = phi__buf_str(&a->raw_stop_reason);
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    if (phi__str_is(word, "max_output_tokens"))
        a->stop_reason = PHI_STOP_REASON_LENGTH;
    else if (phi__str_is(word, "content_filter"))
        phi__classify_stop(a, PHI_FAILURE_CONTENT_FILTER, false, word);
    else if (phi__str_is(word, "incomplete")) /* without any reason */
        phi__classify_stop(a, PHI_FAILURE_SERVER, false, word);
    else
        phi__assembly_unknown_stop(a);
}

static void phi__openai_responses_stream_failed(phi__assembly *a,
                                                const phi__openai_responses_response *r) {
    if (r->error.len > 2)
        phi__classify_event(a, r->error);
    else
        phi__classify_stop(a, PHI_FAILURE_SERVER, true, phi__buf_str(&a->raw_stop_reason));
}

/* A terminal event, by its status word. */
static void phi__openai_responses_stream_finish(phi__openai_responses_state *st, phi__assembly *a,
                                                const phi__openai_responses_response *r,
                                                phi__json_text status) {
    bool incomplete = PHI__OPENAI_RESPONSES_IS(status, "incomplete");
    st->finished = a->terminal = a->last = true;
    phi__openai_responses_stream_begin(a, r);
    if (!st->failed) phi__openai_responses_stream_output(a, r->output);
    phi__openai_responses_read_usage(a, r->usage);
    phi__assembly_put(a, &a->raw_stop_reason, incomplete && r->reason.len > 0 ? r->reason : status);
    phi__openai_responses_stream_close_texts(a);
    if (incomplete)
        phi__openai_responses_stream_incomplete(a);
    else if (PHI__OPENAI_RESPONSES_IS(status, "failed") ||
             PHI__OPENAI_RESPONSES_IS(status, "cancelled") || r->error.len > 2)
        phi__openai_responses_stream_failed(a, r);
    else if (a->failure.kind != PHI_FAILURE_NONE)
        return;
    else if (PHI__OPENAI_RESPONSES_IS(status, "completed"))
        a->stop_reason = PHI_STOP_REASON_STOP;
    else
        phi__assembly_unknown_stop(a);
}

/* ---- events ---- */

static void phi__openai_responses_stream_take_response(phi__openai_responses_state *st,
                                                       phi__assembly *a,
                                                       const phi__openai_responses_event *ev,
                                                       phi__json_text type) {
    phi__openai_responses_response r;
    phi__json_text status = type;
    size_t cut = sizeof "response." - 1;
    if (PHI__OPENAI_RESPONSES_IS(type, "response.completed") ||
        PHI__OPENAI_RESPONSES_IS(type, "response.incomplete") ||
        PHI__OPENAI_RESPONSES_IS(type, "response.failed")) {
        (void)phi__openai_responses_read_response(&r, ev->response.len > 0 ? ev->response
                                                                           : PHI__LIT("{}"));
        status.at += cut;
        status.len -= cut;
        phi__openai_responses_stream_finish(st, a, &r, status);
        return;
    }
    if (!PHI__OPENAI_RESPONSES_IS(type, "response.created") &&
        !PHI__OPENAI_RESPONSES_IS(type, "response.in_progress") &&
        !PHI__OPENAI_RESPONSES_IS(type, "response.queued"))
        return;
    (void)phi__openai_responses_read_response(&r,
                                              ev->response.len > 0 ? ev->response : PHI__LIT("{}"));
    phi__openai_responses_stream_begin(a, &r);
}

static void phi__openai_responses_stream_take(phi__openai_responses_state *st, phi__assembly *a,
                                              const phi__openai_responses_event *ev,
                                              phi__json_text type) {
    phi__openai_responses_output_item item;
    if (PHI__OPENAI_RESPONSES_IS(type, "response.output_text.delta") ||
        PHI__OPENAI_RESPONSES_IS(type, "response.refusal.delta"))
        phi__openai_responses_stream_delta(a, ev, PHI_CONTENT_TEXT);
    else if (PHI__OPENAI_RESPONSES_IS(type, "response.function_call_arguments.delta"))
        phi__openai_responses_stream_delta(a, ev, PHI_CONTENT_TOOL_CALL);
    else if (PHI__OPENAI_RESPONSES_IS(type, "response.reasoning_summary_text.delta") ||
             PHI__OPENAI_RESPONSES_IS(type, "response.reasoning_text.delta"))
        phi__openai_responses_stream_delta(a, ev, PHI_CONTENT_THINKING);
    else if (PHI__OPENAI_RESPONSES_IS(type, "response.output_item.added")) {
        phi__openai_responses_read_item(&item, ev->item);
        phi__openai_responses_stream_item_added(a, &item, ev->index);
    } else if (PHI__OPENAI_RESPONSES_IS(type, "response.output_item.done")) {
        phi__openai_responses_read_item(&item, ev->item);
        phi__openai_responses_stream_item_done(a, &item, ev->index);
    } else if (PHI__OPENAI_RESPONSES_IS(type, "response.function_call_arguments.done"))
        phi__openai_responses_stream_arguments_done(a, ev);
    else if (PHI__OPENAI_RESPONSES_IS(type, "response.output_text.annotation.added"))
        phi__openai_responses_stream_annotation(a, ev);
    else if (PHI__OPENAI_RESPONSES_IS(type, "response.reasoning_summary_part.added"))
        phi__openai_responses_stream_next_part(a, ev);
    else
        phi__openai_responses_stream_take_response(st, a, ev, type);
}

/* An error is often followed by response.failed, which has the usage. */
static void phi__openai_responses_stream_error(phi__openai_responses_state *st, phi__assembly *a,
                                               phi_str data) {
    phi__classify_event(a, data);
    st->failed = a->awaits_usage = true;
}

/* ---- for the codec ---- */

PHI__FN void phi__openai_responses_stream_event(void *state, phi__assembly *a, phi_str name,
                                                phi_str data) {
    phi__openai_responses_state *st = (phi__openai_responses_state *)state;
    phi__openai_responses_event ev;
    phi__json_text type;
    phi_arena_mark mark;
    if (data.len == 0 || st->finished || a->no_memory) return;
    if (st->broken) {
        phi__classify_bad_event(a);
        return;
    }
    if (phi__str_is(name, "error")) {
        phi__openai_responses_stream_error(st, a, data);
        return;
    }
    if (data.at[0] != '{') return; /* words of a gateway: nothing of ours */
    st->heard = true;
    if (!phi__openai_responses_read_event(&ev, data)) {
        st->broken = true;
        return;
    }
    type = ev.type;
    if (type.len == 0 && name.len > 0 && !ev.has_error) {
        type.at = name.at; /* some gateways say it only once */
        type.len = name.len;
    }
    mark = phi_arena_save(&a->scratch);
    if (PHI__OPENAI_RESPONSES_IS(type, "error") || (type.len == 0 && ev.has_error))
        phi__openai_responses_stream_error(st, a, data);
    /* the end alone counts, and its usage */
    else if (st->failed)
        phi__openai_responses_stream_take_response(st, a, &ev, type);
    else
        phi__openai_responses_stream_take(st, a, &ev, type);
    phi_arena_reset(&a->scratch, mark);
}

PHI__FN void phi__openai_responses_stream_end(void *state, phi__assembly *a) {
    phi__openai_responses_state *st = (phi__openai_responses_state *)state;
    if (!st->finished && a->failure.kind == PHI_FAILURE_NONE) phi__classify_truncated(a, st->heard);
}

PHI__FN void phi__openai_responses_stream_whole(void *state, phi__assembly *a, phi_str body) {
    phi__openai_responses_state *st = (phi__openai_responses_state *)state;
    phi__openai_responses_response r;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    bool whole = phi__openai_responses_read_response(&r, phi__str_trim(body));
    st->heard = whole;
    if (whole && (PHI__OPENAI_RESPONSES_IS(r.status, "in_progress") ||
                  PHI__OPENAI_RESPONSES_IS(r.status, "queued")))
        phi__classify_truncated(a, true);
    else if (whole && (PHI__OPENAI_RESPONSES_IS(r.status, "completed") ||
                       PHI__OPENAI_RESPONSES_IS(r.status, "incomplete") ||
                       PHI__OPENAI_RESPONSES_IS(r.status, "failed") ||
                       (r.status.len > 0 && r.output.len > 0)))
        phi__openai_responses_stream_finish(st, a, &r, r.status);
    else
        phi__classify_body(a, body);
    phi_arena_reset(&a->scratch, mark);
}
