/* openai_responses.c - the OpenAI Responses API, at OpenAI and at Azure.

   A request holds the transcript as a list of items. Each message is rendered to its items once and
   kept. The server stores nothing. Reasoning items go back unchanged, directly before the item they
   produced, and only to the model that made them. The server refuses a reasoning item if the item
   that follows it is missing. It also refuses an item with an id if its reasoning item is missing.
   Opaque items go back byte for byte. OpenAI and Azure speak the same wire, so each accepts opaque
   items of the other, except items with encrypted content: only the server that encrypted it can
   read it. */
#include "codecs/openai_in.h"
#include "codecs/names_in.h"

/* The settings that a message's rendering depends on, as bits of phi__rendered.form. */
#define PHI__RESP_FORM 0xa0000000u
#define PHI__RESP_ORIGIN 1u    /* the same model made the message: send ids and reasoning */
#define PHI__RESP_NO_IMAGES 2u /* images are replaced by text */
#define PHI__RESP_KIN 4u       /* the same wire made the message: send kept members and parts */
#define PHI__RESP_AT_AZURE                                                                         \
    8u /* the request goes to Azure, which cannot read OpenAI's encrypted content */
#define PHI__RESP_MEDIA_SHIFT 16 /* the PHI__MEDIA_ bits are shifted by this */

/* The state of a stream's decoder. It starts as zeroed memory. */
typedef struct phi__resp_state {
    bool finished; /* the terminal event came: ignore later events */
    bool failed;   /* an error came: ignore later events except the terminal one */
    phi__decoding in;
} phi__resp_state;

/* An item of the answer, as views of the event's text. An absent member has `at` NULL. */
typedef struct phi__resp_output_item {
    phi_str raw;
    phi__json_text type, id, status, phase, call_id, name, arguments;
    phi_str content, summary; /* raw JSON of an array, or empty */
} phi__resp_output_item;

/* The members of an event, as views of its text. */
typedef struct phi__resp_event {
    phi__json_text type, delta, arguments, item_id;
    int64_t index;
    phi_str item, response, annotation; /* raw JSON of an object, or empty */
    bool has_error;
} phi__resp_event;

typedef struct phi__resp_response {
    phi__json_text id, model, status, reason;
    phi_str output, usage, error; /* raw JSON, or empty */
} phi__resp_response;

/* ---- events, items and the response as views of their text ---- */

static const phi__json_member phi__resp_event_members[] = {
    PHI__MEMBER(phi__resp_event, type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_event, item_id, "item_id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_event, index, "output_index", PHI__MEMBER_I64),
    PHI__MEMBER(phi__resp_event, delta, "delta", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_event, item, "item", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__resp_event, arguments, "arguments", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_event, response, "response", PHI__MEMBER_OBJECT),
    PHI__MEMBER_TAKE(phi__resp_event, has_error, "error", phi__classify_take_flag),
    PHI__MEMBER(phi__resp_event, annotation, "annotation", PHI__MEMBER_OBJECT),
    PHI__MEMBERS_END};

static bool phi__resp_read_event(phi__resp_event *ev, phi_str data) {
    memset(ev, 0, sizeof *ev);
    ev->index = -1;
    return phi__json_members_read(data, phi__resp_event_members, ev, NULL);
}

static const phi__json_member phi__resp_item_members[] = {
    PHI__MEMBER(phi__resp_output_item, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_output_item, type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_output_item, status, "status", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_output_item, arguments, "arguments", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_output_item, call_id, "call_id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_output_item, name, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_output_item, content, "content", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__resp_output_item, phase, "phase", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_output_item, summary, "summary", PHI__MEMBER_ARRAY),
    PHI__MEMBERS_END};

static void phi__resp_read_item(phi__resp_output_item *item, phi_str raw) {
    memset(item, 0, sizeof *item);
    item->raw = raw;
    (void)phi__json_members_read(raw, phi__resp_item_members, item, NULL);
}

static const phi__json_member phi__resp_reason_members[] = {
    PHI__MEMBER(phi__resp_response, reason, "reason", PHI__MEMBER_TEXT), PHI__MEMBERS_END};

static const phi__json_member phi__resp_response_members[] = {
    PHI__MEMBER(phi__resp_response, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_response, status, "status", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_response, error, "error", PHI__MEMBER_OBJECT),
    PHI__MEMBER_INSIDE("incomplete_details", phi__resp_reason_members),
    PHI__MEMBER(phi__resp_response, model, "model", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__resp_response, output, "output", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__resp_response, usage, "usage", PHI__MEMBER_OBJECT),
    PHI__MEMBERS_END};

static bool phi__resp_read_response(phi__resp_response *r, phi_str raw) {
    memset(r, 0, sizeof *r);
    return phi__json_members_read(raw, phi__resp_response_members, r, NULL);
}

static const phi__json_member phi__resp_details_members[] = {
    PHI__MEMBER(phi_usage, cache_read, "cached_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_write, "cache_write_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, reasoning, "reasoning_tokens", PHI__MEMBER_U64), PHI__MEMBERS_END};

static const phi__json_member phi__resp_usage_members[] = {
    PHI__MEMBER(phi_usage, input, "input_tokens", PHI__MEMBER_U64),
    PHI__MEMBER_INSIDE("input_tokens_details", phi__resp_details_members),
    PHI__MEMBER(phi_usage, output, "output_tokens", PHI__MEMBER_U64),
    PHI__MEMBER_INSIDE("output_tokens_details", phi__resp_details_members), PHI__MEMBERS_END};

/* ---- members and parts of items that phi does not read, kept for the next request ---- */

typedef struct phi__resp_part {
    phi__json_text type;
    phi_str annotations; /* raw JSON of an array, or empty */
    bool odd;            /* the part has a member or a type that phi does not read */
} phi__resp_part;

static void phi__resp_kept_part(phi__json_cursor *c, phi__resp_part *part) {
    phi__json_text key;
    memset(part, 0, sizeof *part);
    while (phi__json_cursor_next_key(c, &key)) {
        if (PHI__TEXT_IS(key, "type"))
            (void)phi__json_cursor_take_text(c, &part->type);
        else if (PHI__TEXT_IS(key, "annotations") && phi__json_cursor_peek(c) == PHI_JSON_ARRAY)
            (void)phi__json_cursor_take_raw(c, &part->annotations);
        else {
            part->odd =
                part->odd || (!PHI__TEXT_IS(key, "text") && !PHI__TEXT_IS(key, "refusal") &&
                              !PHI__TEXT_IS(key, "logprobs") && !PHI__TEXT_IS(key, "annotations"));
            (void)phi__json_cursor_skip(c);
        }
    }
    part->odd = part->odd || (part->type.len > 0 && !PHI__TEXT_IS(part->type, "output_text") &&
                              !PHI__TEXT_IS(part->type, "refusal"));
}

/* True if one text block cannot hold the parts. This is so if a part has an unknown type or member.
   It is also so if there are several parts and one has citations, because citations count from the
   start of their part. */
static bool phi__resp_kept_is_more(phi_str content) {
    phi__resp_part part;
    phi__json_cursor c;
    size_t count = 0;
    bool cited = false, odd = false;
    phi__json_cursor_init(&c, content);
    if (content.len == 0 || !phi__json_cursor_enter_array(&c)) return false;
    while (phi__json_cursor_next_item(&c)) {
        if (!phi__json_cursor_enter_object(&c)) continue;
        phi__resp_kept_part(&c, &part);
        count++;
        cited = cited || part.annotations.len > 2;
        odd = odd || part.odd;
    }
    return odd || (cited && count > 1);
}

static const char *const phi__resp_said_members[] = {"id",      "type",  "status", "role",
                                                     "content", "phase", NULL};
static const char *const phi__resp_call_members[] = {"id",   "type",      "status", "call_id",
                                                     "name", "arguments", NULL};

static void phi__resp_kept_text(phi__assembly *a, phi__buf *out, const char *key,
                                phi__json_text text) {
    phi__buf plain;
    if (text.len == 0) return;
    phi__buf_init(&plain, a->memory);
    phi__json_cursor_unescape(&plain, text);
    if (out->len == 0) phi__buf_char(out, '{');
    phi__records_str(out, key, phi__buf_str(&plain));
    if (plain.failed) a->no_memory = true;
    phi__buf_free(&plain);
}

static void phi__resp_kept_json(phi__buf *out, const char *key, phi_str json) {
    if (json.len == 0) return;
    if (out->len == 0) phi__buf_char(out, '{');
    phi__records_str(out, key, json);
}

/* Writes to draft->replay the data of a finished text or call that the next request sends back. It
   is an object of strings: "id", "phase", "more" (the item's unread members, separated by commas)
   and "parts" (its content, if phi__resp_kept_is_more). The last two hold unchanged JSON. */
static void phi__resp_kept_item(phi__assembly *a, size_t block, const phi__resp_output_item *item) {
    phi__draft *d = &a->drafts[block];
    phi__buf *out = &d->replay;
    phi__buf more;
    bool said = d->kind == PHI_CONTENT_TEXT;
    phi__buf_init(&more, a->memory);
    phi__opaque_members(&more, item->raw, said ? phi__resp_said_members : phi__resp_call_members);
    bool parts = said && phi__resp_kept_is_more(item->content);
    phi__buf_clear(out);
    phi__resp_kept_text(a, out, "id", item->id);
    if (said) phi__resp_kept_text(a, out, "phase", item->phase);
    if ((more.len > 0 || parts) && phi__kept_is_object(a, item->raw)) {
        phi__resp_kept_json(out, "more", phi__buf_str(&more));
        if (parts) phi__resp_kept_json(out, "parts", item->content);
    }
    if (out->len > 0) phi__buf_char(out, '}');
    if (out->failed || more.failed) a->no_memory = true;
    phi__buf_free(&more);
}

/* ---- answers: events to a message ----

   Each item of the answer becomes one block: a message becomes text, a reasoning item thinking, a
   function call a tool call, any other item an opaque block. Items may be interleaved. An item is
   found by its id, else by its output_index. A finished item replaces its earlier deltas. Deltas of
   an opaque item are ignored, because its last event holds the whole item. */

/* Returns the block kind of an item, or 0 if the item has no type. */
static phi_content_kind phi__resp_kind(const phi__resp_output_item *item) {
    if (PHI__TEXT_IS(item->type, "message")) return PHI_CONTENT_TEXT;
    if (PHI__TEXT_IS(item->type, "reasoning")) return PHI_CONTENT_THINKING;
    if (PHI__TEXT_IS(item->type, "function_call")) return PHI_CONTENT_TOOL_CALL;
    return item->type.len > 0 ? PHI_CONTENT_OPAQUE : (phi_content_kind)0;
}

/* The key by which an event names its item. Some servers send no index, no id, or changing ids. */
typedef struct phi__resp_key {
    uint64_t id;   /* hash of the item's id; 0 if it has none */
    int64_t index; /* negative if there is none */
} phi__resp_key;

static phi__resp_key phi__resp_key_of(phi__json_text id, int64_t index) {
    phi__resp_key key;
    key.id = id.len > 0 ? phi__hash(phi__str(id.at, id.len), 5) | 1 : 0;
    key.index = index;
    return key;
}

/* Uses call_id if the item has no id, as with llama.cpp's calls. */
static phi__resp_key phi__resp_item_key(const phi__resp_output_item *item, int64_t index) {
    return phi__resp_key_of(item->id.len > 0 ? item->id : item->call_id, index);
}

/* Returns how well a block fits a key. 4: id and index are equal. 3: the ids are equal. 2: the
   indexes are equal. 1: the block is open, and neither ids nor indexes can be compared, because the
   block or the key lacks them. 0: the block does not fit. */
static int phi__resp_fits(const phi__draft *d, phi__resp_key key) {
    bool id = key.id != 0 && d->item == key.id;
    bool index = key.index >= 0 && d->key == key.index;
    bool nameless = d->open && (d->item == 0 || key.id == 0) && (d->key < 0 || key.index < 0);
    return id && index ? 4 : id ? 3 : index ? 2 : nameless ? 1 : 0;
}

/* Returns the latest of the best-fitting blocks of a kind, or SIZE_MAX if no block fits. */
static size_t phi__resp_find(const phi__assembly *a, phi__resp_key key, phi_content_kind kind,
                             bool open) {
    size_t found = SIZE_MAX;
    int best = 0;
    for (size_t i = a->count; i > 0; i--) {
        const phi__draft *d = &a->drafts[i - 1];
        int fits = d->kind == kind && (d->open || !open) ? phi__resp_fits(d, key) : 0;
        if (fits <= best) continue;
        best = fits;
        found = i - 1;
    }
    return found;
}

/* True if a block of any kind has the key's id or index. */
static bool phi__resp_known(const phi__assembly *a, phi__resp_key key) {
    for (size_t i = 0; i < a->count; i++)
        if (phi__resp_fits(&a->drafts[i], key) > 1) return true;
    return false;
}

/* True if the block that phi__resp_find returned for a new item belongs to another item. */
static bool phi__resp_is_other(const phi__draft *d, phi__resp_key key) {
    if (phi__resp_fits(d, key) == 1) return true;
    if (d->item != 0 && key.id != 0 && d->item != key.id) return true;
    return d->key >= 0 && key.index >= 0 && d->key != key.index;
}

static size_t phi__resp_open(phi__assembly *a, phi_content_kind kind, phi__resp_key key) {
    size_t block = phi__assembly_open(a, kind, key.index);
    if (block != SIZE_MAX) a->drafts[block].item = key.id;
    return block;
}

/* Replaces the text of a block's deltas with the whole text. If the whole text starts with the
   deltas' text, only the rest is added, as a delta. */
static void phi__resp_overwrite(phi__assembly *a, size_t block, phi_str text) {
    phi__draft *d = &a->drafts[block];
    d->held_len = 0; /* drop a held half of a character: the whole text contains it */
    d->high = 0;
    if (d->bytes.len > text.len ||
        (d->bytes.len > 0 && memcmp(d->bytes.at, text.at, d->bytes.len) != 0)) {
        phi__assembly_set(a, &d->bytes, text);
        d->rewrites++;
        return;
    }
    phi__assembly_add(a, block, phi__str_from(text, d->bytes.len));
}

/* Appends the texts of an array of parts, with `between` between them. */
static void phi__resp_join(phi__buf *out, phi_str parts, const char *between) {
    phi__json_cursor c;
    phi__json_text key;
    bool any = false;
    if (!phi__json_cursor_in_array(&c, parts)) return;
    while (phi__json_cursor_next_item(&c)) {
        if (!phi__json_cursor_enter_object(&c)) continue;
        while (phi__json_cursor_next_key(&c, &key)) {
            phi__json_text text = {NULL, 0, false};
            if (PHI__TEXT_IS(key, "text") || PHI__TEXT_IS(key, "refusal"))
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

static void phi__resp_whole_text(phi__assembly *a, size_t block,
                                 const phi__resp_output_item *item) {
    phi_content_kind kind = a->drafts[block].kind;
    phi__buf text;
    bool said = item->content.len > 2 || item->summary.len > 2;
    phi__buf_init(&text, a->memory);
    if (kind == PHI_CONTENT_TOOL_CALL) {
        said = item->arguments.len > 0;
        if (said) phi__json_cursor_unescape(&text, item->arguments);
    } else if (kind == PHI_CONTENT_THINKING) {
        phi__resp_join(&text, item->summary, "\n\n");
        if (text.len == 0) phi__resp_join(&text, item->content, "\n\n");
    } else
        phi__resp_join(&text, item->content, "");
    if (text.failed)
        a->no_memory = true;
    else if (said && text.len > 0)
        phi__resp_overwrite(a, block, phi__buf_str(&text));
    phi__buf_free(&text);
}

static void phi__resp_name_call(phi__assembly *a, size_t block, const phi__resp_output_item *item) {
    if (item->call_id.len > 0) phi__assembly_put(a, &a->drafts[block].id, item->call_id);
    if (item->name.len > 0) phi__assembly_put(a, &a->drafts[block].name, item->name);
}

static bool phi__resp_encrypted(phi_str raw) {
    phi__json_found found;
    return phi__json_cursor_find(raw, "encrypted_content", &found) == PHI_OK &&
           found.type == PHI_JSON_STRING;
}

/* ---- items of other types ---- */

/* Stores a hash of an opaque item's JSON, by which phi__resp_came finds an item without an id. */
static void phi__resp_remember(phi__assembly *a, size_t block) {
    if (block != SIZE_MAX)
        a->drafts[block].kept = phi__hash(phi__buf_str(&a->drafts[block].replay), 5);
}

/* Opens a block for an opaque item, but none if the item is broken JSON. */
static size_t phi__resp_open_opaque(phi__assembly *a, const phi__resp_output_item *item,
                                    phi__resp_key key) {
    phi_str type;
    if (!phi__kept_is_object(a, item->raw)) return SIZE_MAX;
    if (!phi__json_cursor_unescape_arena(&a->scratch, item->type, &type)) {
        a->no_memory = true;
        return SIZE_MAX;
    }
    size_t block = phi__assembly_opaque(a, type, item->raw, key.index, true);
    if (block != SIZE_MAX) a->drafts[block].item = key.id;
    phi__resp_remember(a, block);
    return block;
}

/* True if this opaque item is already a block. */
static bool phi__resp_came(const phi__assembly *a, const phi__resp_output_item *item,
                           phi__resp_key key) {
    uint64_t hash = phi__hash(item->raw, 5);
    for (size_t i = 0; i < a->count; i++) {
        const phi__draft *d = &a->drafts[i];
        if (d->kind != PHI_CONTENT_OPAQUE) continue;
        if (key.id != 0 && d->item != 0 ? d->item == key.id : d->kept == hash) return true;
    }
    return false;
}

/* Opens a block for a new item, unless its deltas came first and opened one. An item with another
   id at a known index is a new item. */
static void phi__resp_item_added(phi__assembly *a, const phi__resp_output_item *item,
                                 int64_t index) {
    phi_content_kind kind = phi__resp_kind(item);
    phi__resp_key key = phi__resp_item_key(item, index);
    if (kind == (phi_content_kind)0) return;
    size_t block = phi__resp_find(a, key, kind, true);
    if (block != SIZE_MAX && phi__resp_is_other(&a->drafts[block], key)) block = SIZE_MAX;
    if (kind == PHI_CONTENT_OPAQUE) {
        if (block == SIZE_MAX) (void)phi__resp_open_opaque(a, item, key);
        return;
    }
    if (block == SIZE_MAX) block = phi__resp_open(a, kind, key);
    if (block != SIZE_MAX && kind == PHI_CONTENT_TOOL_CALL) phi__resp_name_call(a, block, item);
}

/* Takes the final state of an item. If it was cut, no id is kept, and a call stays open. */
static void phi__resp_finish_item(phi__assembly *a, size_t block,
                                  const phi__resp_output_item *item) {
    bool cut =
        PHI__TEXT_IS(item->status, "incomplete") || PHI__TEXT_IS(item->status, "in_progress");
    if (a->drafts[block].kind == PHI_CONTENT_OPAQUE) {
        /* Replace the JSON of the opaque item, unless the new JSON is broken. */
        phi__draft *d = &a->drafts[block];
        if (phi__kept_is_object(a, item->raw)) {
            phi__assembly_put(a, &d->name, item->type);
            phi__assembly_set(a, &d->replay, item->raw);
            phi__resp_remember(a, block);
        }
        phi__assembly_close(a, block);
        return;
    }
    if (a->drafts[block].kind == PHI_CONTENT_TOOL_CALL) phi__resp_name_call(a, block, item);
    if (a->drafts[block].kind == PHI_CONTENT_TEXT) {
        /* Replace the citations with the annotations of the message's parts. */
        phi__resp_part part;
        phi__json_cursor c, inner;
        phi_str raw;
        bool any = false;
        if (phi__json_cursor_in_array(&c, item->content)) {
            while (phi__json_cursor_next_item(&c)) {
                if (!phi__json_cursor_enter_object(&c)) continue;
                phi__resp_kept_part(&c, &part);
                if (part.annotations.len == 0) continue;
                if (!phi__json_cursor_in_array(&inner, part.annotations)) continue;
                while (phi__json_cursor_next_item(&inner)) {
                    bool object = phi__json_cursor_peek(&inner) == PHI_JSON_OBJECT;
                    if (!phi__json_cursor_take_raw(&inner, &raw) || !object) continue;
                    if (!any) phi__buf_clear(&a->drafts[block].citations);
                    any = true;
                    phi__assembly_cite(a, block, raw);
                }
            }
        }
    }
    phi__resp_whole_text(a, block, item);
    if (!cut) {
        /* Keep the data that the next request sends back: a whole reasoning item, or another item's
           unread members. If the reasoning lacks encrypted content, a later item may bring it. */
        phi__draft *d = &a->drafts[block];
        if (d->kind == PHI_CONTENT_THINKING) {
            phi__assembly_set(a, &d->signature, item->raw);
            d->kept = phi__resp_encrypted(item->raw) ? 0 : phi__resp_key_of(item->id, -1).id;
        } else
            phi__resp_kept_item(a, block, item);
    }
    if (!cut || a->drafts[block].kind != PHI_CONTENT_TOOL_CALL) phi__assembly_close(a, block);
}

/* Finishes an item, even if a gateway left out its start. A finished item does not change. */
static void phi__resp_item_done(phi__assembly *a, const phi__resp_output_item *item,
                                int64_t index) {
    phi_content_kind kind = phi__resp_kind(item);
    phi__resp_key key = phi__resp_item_key(item, index);
    if (kind == (phi_content_kind)0) return;
    size_t block = phi__resp_find(a, key, kind, false);
    if (block == SIZE_MAX)
        block = kind == PHI_CONTENT_OPAQUE ? phi__resp_open_opaque(a, item, key)
                                           : phi__resp_open(a, kind, key);
    if (block != SIZE_MAX && a->drafts[block].open) phi__resp_finish_item(a, block, item);
}

static void phi__resp_delta(phi__assembly *a, const phi__resp_event *ev, phi_content_kind kind) {
    phi__resp_key key = phi__resp_key_of(ev->item_id, ev->index);
    size_t block = phi__resp_find(a, key, kind, true);
    if (block == SIZE_MAX && kind != PHI_CONTENT_TOOL_CALL && !phi__resp_known(a, key))
        block = phi__resp_open(a, kind, key); /* the gateway left out the item's start */
    phi__assembly_add_text(a, block, ev->delta);
}

static void phi__resp_arguments_done(phi__assembly *a, const phi__resp_event *ev) {
    size_t block =
        phi__resp_find(a, phi__resp_key_of(ev->item_id, ev->index), PHI_CONTENT_TOOL_CALL, true);
    if (block == SIZE_MAX) return;
    phi__resp_output_item item = PHI_ZERO;
    item.arguments = ev->arguments;
    phi__resp_whole_text(a, block, &item);
}

/* Replaces a reasoning item with a later copy that has the encrypted content, because Azure may
   send this content only in the final response. */
static void phi__resp_fill_reasoning(phi__assembly *a, const phi__resp_output_item *item) {
    uint64_t id = phi__resp_key_of(item->id, -1).id;
    if (id == 0 || !phi__resp_encrypted(item->raw)) return;
    for (size_t i = 0; i < a->count; i++) {
        phi__draft *d = &a->drafts[i];
        if (d->kind != PHI_CONTENT_THINKING || d->kept != id) continue;
        phi__assembly_set(a, &d->signature, item->raw);
        d->kept = 0;
        return;
    }
}

/* Reads the list of all items in the final response, which is often empty. Finishes blocks that are
   still open. If no items came before, the list is the whole answer. A new opaque item is
   appended. */
static void phi__resp_output(phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi__resp_output_item item;
    phi_str one;
    bool all = a->count == 0;
    size_t n = 0;
    if (!phi__json_cursor_in_array(&c, raw)) return;
    for (int64_t index = 0; phi__json_cursor_next_item(&c); index++) {
        if (!phi__json_cursor_take_raw(&c, &one)) continue;
        if (!phi__assembly_takes_more(a, &n)) return;
        phi__resp_read_item(&item, one);
        phi__resp_key key = phi__resp_item_key(&item, index);
        phi_content_kind kind = phi__resp_kind(&item);
        size_t block = phi__resp_find(a, key, kind, true);
        if (all)
            phi__resp_item_done(a, &item, index);
        else if (block != SIZE_MAX)
            phi__resp_finish_item(a, block, &item);
        else if (PHI__TEXT_IS(item.type, "reasoning"))
            phi__resp_fill_reasoning(a, &item);
        else if (kind == PHI_CONTENT_OPAQUE && !phi__resp_came(a, &item, key)) {
            block = phi__resp_open_opaque(a, &item, key);
            phi__assembly_close(a, block);
        }
    }
}

/* The meaning of a response's status. */
static const phi__stop_word phi__resp_status_words[] = {
    {"completed\0", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false},
    {"failed\0cancelled\0", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true}};

/* The meaning of an incomplete response's reason. Without a reason its status is used. */
static const phi__stop_word phi__resp_reason_words[] = {
    {"max_output_tokens\0", PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false},
    {"content_filter\0", PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false},
    {"incomplete\0", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, false}};

/* Handles a terminal event with the given status. */
static void phi__resp_finish(phi__resp_state *st, phi__assembly *a, const phi__resp_response *r,
                             phi__json_text status) {
    const phi__json_text none = {NULL, 0, false};
    bool incomplete = PHI__TEXT_IS(status, "incomplete");
    st->finished = a->terminal = a->last = true;
    phi__assembly_begin(a, r->id, r->model);
    if (!st->failed) phi__resp_output(a, r->output);
    /* input_tokens includes the tokens read from and written to the cache: subtract them. */
    phi__json_cursor c;
    phi__json_cursor_init(&c, r->usage);
    if (r->usage.len != 0 && phi__json_cursor_peek(&c) == PHI_JSON_OBJECT) {
        phi_usage u = PHI_ZERO;
        (void)phi__json_members_take(&c, phi__resp_usage_members, &u);
        if (u.cache_read > u.input) u.cache_read = u.input;
        u.input -= u.cache_read;
        if (u.cache_write > u.input) u.cache_write = u.input;
        u.input -= u.cache_write;
        a->usage = u;
    }
    phi__assembly_put(a, &a->raw_stop_reason, incomplete && r->reason.len > 0 ? r->reason : status);
    for (size_t i = 0; i < a->count; i++)
        if (a->drafts[i].kind != PHI_CONTENT_TOOL_CALL) phi__assembly_close(a, i);
    if (incomplete)
        phi__classify_stop(a, phi__resp_reason_words, PHI__COUNT(phi__resp_reason_words), none);
    else if (r->error.len > 2)
        phi__classify_event(a, r->error);
    else
        phi__classify_stop(a, phi__resp_status_words, PHI__COUNT(phi__resp_status_words), none);
}

static void phi__resp_take_response(phi__resp_state *st, phi__assembly *a,
                                    const phi__resp_event *ev, phi__json_text type) {
    phi__resp_response r;
    phi__json_text status = type;
    size_t cut = sizeof "response." - 1;
    if (PHI__TEXT_IS(type, "response.completed") || PHI__TEXT_IS(type, "response.incomplete") ||
        PHI__TEXT_IS(type, "response.failed")) {
        (void)phi__resp_read_response(&r, ev->response.len > 0 ? ev->response : PHI__LIT("{}"));
        status.at += cut;
        status.len -= cut;
        phi__resp_finish(st, a, &r, status);
        return;
    }
    if (!PHI__TEXT_IS(type, "response.created") && !PHI__TEXT_IS(type, "response.in_progress") &&
        !PHI__TEXT_IS(type, "response.queued"))
        return;
    (void)phi__resp_read_response(&r, ev->response.len > 0 ? ev->response : PHI__LIT("{}"));
    phi__assembly_begin(a, r.id, r.model);
}

static void phi__resp_take(phi__resp_state *st, phi__assembly *a, const phi__resp_event *ev,
                           phi__json_text type) {
    phi__resp_output_item item;
    if (PHI__TEXT_IS(type, "response.output_text.delta") ||
        PHI__TEXT_IS(type, "response.refusal.delta"))
        phi__resp_delta(a, ev, PHI_CONTENT_TEXT);
    else if (PHI__TEXT_IS(type, "response.function_call_arguments.delta"))
        phi__resp_delta(a, ev, PHI_CONTENT_TOOL_CALL);
    else if (PHI__TEXT_IS(type, "response.reasoning_summary_text.delta") ||
             PHI__TEXT_IS(type, "response.reasoning_text.delta"))
        phi__resp_delta(a, ev, PHI_CONTENT_THINKING);
    else if (PHI__TEXT_IS(type, "response.output_item.added")) {
        phi__resp_read_item(&item, ev->item);
        phi__resp_item_added(a, &item, ev->index);
    } else if (PHI__TEXT_IS(type, "response.output_item.done")) {
        phi__resp_read_item(&item, ev->item);
        phi__resp_item_done(a, &item, ev->index);
    } else if (PHI__TEXT_IS(type, "response.function_call_arguments.done"))
        phi__resp_arguments_done(a, ev);
    else if (PHI__TEXT_IS(type, "response.output_text.annotation.added")) {
        /* An annotation comes after the text it belongs to. */
        phi__assembly_cite(
            a, phi__resp_find(a, phi__resp_key_of(ev->item_id, ev->index), PHI_CONTENT_TEXT, true),
            ev->annotation);
    } else if (PHI__TEXT_IS(type, "response.reasoning_summary_part.added")) {
        /* Separate the parts of a summary by an empty line. */
        size_t block =
            phi__resp_find(a, phi__resp_key_of(ev->item_id, ev->index), PHI_CONTENT_THINKING, true);
        if (block != SIZE_MAX && a->drafts[block].bytes.len > 0)
            phi__assembly_add(a, block, PHI__LIT("\n\n"));
    } else
        phi__resp_take_response(st, a, ev, type);
}

/* ---- for the codec ---- */

static void phi__resp_stream_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    phi__resp_state *st = (phi__resp_state *)state;
    phi__resp_event ev;
    if (st->finished) return;
    if (!phi__decoding_takes(&st->in, a, name, data, false)) {
        /* response.failed often follows an error and has the usage */
        if (data.len > 0 && !st->in.broken && phi__str_is(name, "error"))
            st->failed = a->awaits_usage = true;
        return;
    }
    if (!phi__resp_read_event(&ev, data)) {
        st->in.broken = true;
        return;
    }
    phi__json_text type = ev.type;
    if (type.len == 0 && name.len > 0 && !ev.has_error) {
        type.at = name.at; /* some gateways send the type only as the event's name */
        type.len = name.len;
    }
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    if (PHI__TEXT_IS(type, "error") || (type.len == 0 && ev.has_error)) {
        phi__classify_event(a, data);
        st->failed = a->awaits_usage = true;
    }
    /* after an error, only the terminal event counts */
    else if (st->failed)
        phi__resp_take_response(st, a, &ev, type);
    else
        phi__resp_take(st, a, &ev, type);
    phi_arena_reset(&a->scratch, mark);
}

static void phi__resp_end(void *state, phi__assembly *a) {
    phi__resp_state *st = (phi__resp_state *)state;
    if (!st->finished && a->failure.kind == PHI_FAILURE_NONE)
        phi__classify_truncated(a, st->in.heard);
}

static void phi__resp_whole(void *state, phi__assembly *a, phi_str body) {
    phi__resp_state *st = (phi__resp_state *)state;
    phi__resp_response r;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    bool whole = phi__resp_read_response(&r, phi__str_trim(body));
    st->in.heard = whole;
    if (whole && (PHI__TEXT_IS(r.status, "in_progress") || PHI__TEXT_IS(r.status, "queued")))
        phi__classify_truncated(a, true);
    else if (whole &&
             (PHI__TEXT_IS(r.status, "completed") || PHI__TEXT_IS(r.status, "incomplete") ||
              PHI__TEXT_IS(r.status, "failed") || (r.status.len > 0 && r.output.len > 0)))
        phi__resp_finish(st, a, &r, r.status);
    else
        phi__classify_body(a, body);
    phi_arena_reset(&a->scratch, mark);
}

/* ---- requests ---- */

#define PHI__RESP_OBJECT                                                                           \
    "{\"role\":\"developer\",\"content\":[{\"type\":\"input_text\",\"text\":"                      \
    "\"Answer with one JSON object and nothing else.\"}]}"

enum { PHI__RESP_OUTPUT_LEAST = 16 }; /* least value of max_output_tokens that the API accepts */

enum { PHI__RESP_ID_MOST = 64 }; /* max. bytes in an item's id */

/* ---- opaque items ---- */

/* How an opaque item may go back to the server. */
typedef struct phi__resp_opaque {
    bool goes;
    bool part;  /* part of a message's content: input_text, input_file... */
    bool loose; /* may be sent without its id */
} phi__resp_opaque;

/* Returns how a block may go back to this server. An item that its server had not finished does not
   go back. `loose` lists the types whose id the API does not require (openai 7.57.0,
   ResponseInputItem, November 2026). Uses and resets e->arena. */
static phi__resp_opaque phi__resp_look(phi__encoder *e, const phi_content *c) {
    static const char *const busy[] = {
        "in_progress", "searching", "interpreting", "generating", "calling", "queued", NULL};
    static const char *const loose[] = {"function_call_output",    "custom_tool_call",
                                        "custom_tool_call_output", "shell_call",
                                        "shell_call_output",       "apply_patch_call",
                                        "apply_patch_call_output", "tool_search_call",
                                        "tool_search_output",      "additional_tools",
                                        "mcp_approval_response",   "compaction",
                                        "computer_call_output",    NULL};
    phi__resp_opaque out = {false, false, false};
    if (!phi__kept_is_of(c, e->codec->names, PHI_PROTOCOL_OPENAI_RESPONSES) &&
        !phi__kept_is_of(c, e->codec->names, PHI_PROTOCOL_AZURE_RESPONSES))
        return out;
    if (!phi__codec_is(e->codec->names, c->protocol) &&
        phi__str_find(c->replay, 0, "\"encrypted_content\"") != SIZE_MAX)
        return out;
    phi_arena_mark mark = phi_arena_save(e->arena);
    const phi_json *root = phi__kept_tree(e, c->replay);
    phi_str type = phi_json_str(phi_json_get(root, "type"), "");
    out.goes =
        type.len > 0 && !phi__codec_among(phi_json_str(phi_json_get(root, "status"), ""), busy);
    out.part = phi__str_starts(type, "input_");
    out.loose = phi__codec_among(type, loose);
    phi_arena_reset(e->arena, mark);
    return out;
}

/* Writes an item byte for byte. If `bare` is true, leaves out the item's id, because it names
   reasoning that is not sent. */
static void phi__resp_put_opaque(phi__encoder *e, const phi_content *c, bool bare) {
    static const char *const id[] = {"id", NULL};
    phi__json_write_comma(&e->scratch);
    if (!bare) {
        phi__buf_add_str(&e->scratch, c->replay);
        return;
    }
    phi__buf_char(&e->scratch, '{');
    phi__opaque_members(&e->scratch, c->replay, id);
    phi__buf_char(&e->scratch, '}');
}

/* ---- content of users and tools ---- */

/* Writes a text part that starts with `before`. */
static void phi__resp_text_part(phi__encoder *e, const char *before, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_write_item(out, "{\"type\":\"input_text\",\"text\":\"");
    phi__buf_text(out, before);
    phi__render_said(e, c);
    phi__buf_text(out, "\"}");
}

static bool phi__resp_is_part(phi__encoder *e, const phi_content *c) {
    phi__resp_opaque look = phi__resp_look(e, c);
    return look.goes && look.part;
}

/* Writes the blocks in [from, to) as an array of parts. `before` is written before the first text,
   or before "(no output)" if there is no text. */
static void phi__resp_parts(phi__encoder *e, const phi_message *m, size_t from, size_t to,
                            const char *before) {
    phi_content line = PHI_ZERO;
    phi__buf_char(&e->scratch, '[');
    for (size_t i = from; i < to; i++) {
        const phi_content *c = &m->content[i];
        phi__render_way way = phi__render_way_to(e, c);
        line.text = phi__render_stand_in(e, m, i);
        if (way == PHI__RENDER_WORDS || line.text.len > 0) {
            phi__resp_text_part(e, before, line.text.len > 0 ? &line : c);
            before = "";
        } else if (way == PHI__RENDER_BLOCK) {
            /* an image or a document */
            phi__buf *out = &e->scratch;
            phi__json_write_comma(out);
            if (c->kind == PHI_CONTENT_IMAGE) {
                phi__buf_text(out, "{\"type\":\"input_image\",\"detail\":\"auto\",\"image_url\":");
                phi__openai_data_url(e, c);
            } else if (c->url.len > 0) {
                phi__buf_text(out, "{\"type\":\"input_file\"");
                phi__records_str(out, "file_url", c->url);
            } else {
                phi__buf_text(out, "{\"type\":\"input_file\",\"filename\":");
                phi__render_file_name(out, c);
                phi__buf_text(out, ",\"file_data\":");
                phi__openai_data_url(e, c);
            }
            phi__buf_char(out, '}');
        } else if (phi__resp_is_part(e, c))
            phi__resp_put_opaque(e, c, false);
    }
    line.text = PHI__LIT("(no output)");
    if (before[0] != '\0') phi__resp_text_part(e, before, &line);
    phi__buf_char(&e->scratch, ']');
}

/* Writes the blocks in [from, to) as a message, or nothing if none of them can be sent. */
static void phi__resp_say(phi__encoder *e, const phi_message *m, size_t from, size_t to) {
    bool says = false;
    for (size_t i = from; i < to && !says; i++)
        says = phi__render_way_to(e, &m->content[i]) != PHI__RENDER_SKIP ||
               phi__resp_is_part(e, &m->content[i]);
    if (!says) return;
    phi__json_write_item(&e->scratch, "{\"role\":\"user\",\"content\":");
    phi__resp_parts(e, m, from, to, "");
    phi__buf_char(&e->scratch, '}');
}

/* Writes a user's message. An opaque item, such as the output of a call that only the host
   understands, is not part of a message: it splits the message in two. */
static void phi__resp_user(phi__encoder *e, const phi_message *m) {
    size_t from = 0;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi__resp_opaque look = phi__resp_look(e, c);
        if (!look.goes || look.part) continue;
        phi__resp_say(e, m, from, i);
        phi__resp_put_opaque(e, c, false);
        from = i + 1;
    }
    phi__resp_say(e, m, from, m->content_count);
}

static void phi__resp_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    const char *before = m->is_error ? "Error: " : "";
    bool parts = phi__render_any(e, m, PHI__RENDER_BLOCK);
    for (size_t i = 0; i < m->content_count && !parts; i++)
        parts = phi__resp_is_part(e, &m->content[i]);
    phi__render_id(out, "{\"type\":\"function_call_output\",\"call_id\":", m->tool_call_id,
                   PHI__ID_RESPONSES);
    phi__buf_text(out, ",\"output\":");
    if (parts)
        phi__resp_parts(e, m, 0, m->content_count, before);
    else {
        phi__buf_char(out, '"');
        phi__buf_text(out, before);
        if (!phi__openai_join_text(e, m, false)) phi__buf_text(out, "(no output)");
        phi__buf_char(out, '"');
    }
    phi__buf_char(out, '}');
}

/* ---- the assistant ---- */

/* True if a signature is a reasoning item that the server can read: it has encrypted content, or
   plain content as open models send it. Uses and resets e->arena. */
static bool phi__resp_is_reasoning(phi__encoder *e, phi_str item) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_json *root = NULL;
    if (item.len == 0 || item.at[0] != '{') return false;
    phi_status status = phi_json_parse(e->arena, item, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) e->failed = true;
    bool good = status == PHI_OK &&
                phi__str_is(phi_json_str(phi_json_get(root, "type"), ""), "reasoning") &&
                phi_json_str(phi_json_get(root, "id"), "").len > 0 &&
                (phi_json_str(phi_json_get(root, "encrypted_content"), "").len > 0 ||
                 phi_json_count(phi_json_get(root, "content")) > 0);
    phi_arena_reset(e->arena, mark);
    return good;
}

/* True if ids and reasoning go back: the same model made the message without an error. */
static bool phi__resp_replays(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    return m->role == PHI_ROLE_ASSISTANT && m->stop_reason != PHI_STOP_REASON_ERROR &&
           m->stop_reason != PHI_STOP_REASON_ABORTED && phi__render_same_origin(e, at);
}

/* True if a model of this wire made the message, at OpenAI or at Azure. */
static bool phi__resp_kin(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    return m->role == PHI_ROLE_ASSISTANT &&
           (phi__str_is_nocase(m->protocol, PHI_PROTOCOL_OPENAI_RESPONSES) ||
            phi__str_is_nocase(m->protocol, PHI_PROTOCOL_AZURE_RESPONSES) ||
            phi__codec_is(e->codec->names, m->protocol) || phi__render_same_origin(e, at));
}

/* True if all reasoning of a message can go back. Otherwise none is sent, because an id would name
   an item that the server does not get. */
static bool phi__resp_whole_reasoning(phi__encoder *e, const phi_message *m) {
    for (size_t i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_THINKING &&
            !phi__resp_is_reasoning(e, m->content[i].signature))
            return false;
    return true;
}

/* Writes a string of the block's replay as a member. False if the replay has no such string, or if
   the string is too long or does not start with the prefix. */
static bool phi__resp_member(phi__encoder *e, const phi_content *c, const char *key,
                             const char *prefix) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_json *root = NULL;
    if (c->replay.len == 0) return false;
    if (phi_json_parse(e->arena, c->replay, PHI_JSON_BORROW, &root, NULL) == PHI_NO_MEMORY)
        e->failed = true;
    phi_str text = phi_json_str(phi_json_get(root, key), "");
    bool fits = text.len > 0 && text.len <= PHI__RESP_ID_MOST && phi__str_starts(text, prefix);
    if (fits) phi__records_str(&e->scratch, key, text);
    phi_arena_reset(e->arena, mark);
    return fits;
}

/* Returns the JSON that the block's replay holds as a string, in the arena; empty if there is none.
   If `object` is true, the JSON consists of the members of an object, without braces. Otherwise it
   is an array. */
static phi_str phi__resp_kept(phi__encoder *e, const phi_content *c, const char *key, bool object) {
    const phi_str none = {NULL, 0};
    phi_json *root = NULL;
    phi__buf braces;
    if (c->replay.len == 0 || phi__str_find(c->replay, 0, key) == SIZE_MAX) return none;
    if (phi_json_parse(e->arena, c->replay, PHI_JSON_BORROW, &root, NULL) == PHI_NO_MEMORY)
        e->failed = true;
    phi_str text = phi_json_str(phi_json_get(root, key), "");
    if (text.len == 0) return none;
    if (!object) return text.at[0] == '[' && phi__render_goes(e, text) ? text : none;
    phi__buf_init(&braces, e->arena->memory);
    phi__buf_wrap(&braces, "{", text, "}");
    phi_str whole = phi__buf_str(&braces);
    if (braces.failed) e->failed = true;
    bool good = !braces.failed && phi__render_goes(e, whole);
    phi__buf_free(&braces);
    return good ? text : none;
}

/* True if the joined texts of the parts are the block's text, so nobody changed the text. */
static bool phi__resp_unchanged(phi__encoder *e, phi_str parts, phi_str text) {
    phi_json *root = NULL, *part;
    size_t at = 0;
    if (phi_json_parse(e->arena, parts, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root, NULL) ==
        PHI_NO_MEMORY)
        e->failed = true;
    phi_json_iter it = phi_json_each(root);
    while ((part = phi_json_next(&it)) != NULL) {
        phi_str said = phi_json_str(phi_json_get(part, "text"), "");
        if (said.len == 0) said = phi_json_str(phi_json_get(part, "refusal"), "");
        if (said.len > text.len - at ||
            (said.len > 0 && memcmp(text.at + at, said.at, said.len) != 0))
            return false;
        at += said.len;
    }
    return at == text.len;
}

/* Writes a message's content: the kept parts if its text is unchanged, else one text part. */
static void phi__resp_content(phi__encoder *e, const phi_content *c, bool kin) {
    phi__buf *out = &e->scratch;
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_str parts = {NULL, 0};
    if (kin) parts = phi__resp_kept(e, c, "parts", false);
    if (parts.len > 0 && phi__resp_unchanged(e, parts, c->text))
        phi__buf_add_str(out, parts);
    else {
        bool cites = kin && parts.len == 0 && phi__render_cites(e, c->citations);
        phi__buf_text(out, "[{\"type\":\"output_text\"");
        phi__render_text_member(e, "text", c->text);
        phi__buf_wrap(out, ",\"annotations\":", cites ? c->citations : PHI__LIT("[]"), "}]");
    }
    phi_arena_reset(e->arena, mark);
}

/* Writes the kept members that phi does not read. Does nothing if `kin` is false: another wire made
   the message. */
static void phi__resp_more(phi__encoder *e, const phi_content *c, bool kin) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_str more = {NULL, 0};
    if (kin) more = phi__resp_kept(e, c, "more", true);
    if (more.len > 0) phi__buf_wrap(&e->scratch, ",", more, "");
    phi_arena_reset(e->arena, mark);
}

/* True if a block becomes an item of the request. `bare` is true if the message's reasoning is not
   sent. */
static bool phi__resp_sends(phi__encoder *e, const phi_content *c, bool kin, bool bare) {
    phi__resp_opaque look;
    switch (c->kind) {
    case PHI_CONTENT_TOOL_CALL: return !c->incomplete;
    case PHI_CONTENT_TEXT: {
        phi_arena_mark mark = phi_arena_save(e->arena);
        bool sends = phi__codec_is_text(c) ||
                     (kin && c->text.len == 0 && phi__resp_kept(e, c, "parts", false).len > 0);
        phi_arena_reset(e->arena, mark);
        return sends;
    }
    case PHI_CONTENT_OPAQUE:
        look = phi__resp_look(e, c);
        return look.goes && !look.part && (!bare || look.loose);
    default: return false;
    }
}

/* Writes an answer. `kin` is true if a model of this wire made it, and `same` if this very model
   made it. */
static void phi__resp_assistant(phi__encoder *e, const phi_message *m, bool same, bool kin) {
    bool bare = false;
    size_t from = 0;
    same = same && phi__resp_whole_reasoning(e, m);
    for (size_t i = 0; i < m->content_count && !same && !bare; i++)
        bare = m->content[i].kind == PHI_CONTENT_THINKING;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (!phi__resp_sends(e, c, kin, bare)) {
            /* the reasoning before this block has no follower: skip it */
            if (c->kind == PHI_CONTENT_TOOL_CALL || c->kind == PHI_CONTENT_OPAQUE) from = i + 1;
            continue;
        }
        if (same) {
            /* first the reasoning items that produced the next item */
            for (; from < i; from++) {
                if (m->content[from].kind != PHI_CONTENT_THINKING) continue;
                phi__json_write_comma(&e->scratch);
                phi__buf_add_str(&e->scratch, m->content[from].signature);
            }
        }
        phi__json_write_comma(&e->scratch);
        if (c->kind == PHI_CONTENT_TOOL_CALL) {
            phi__buf *out = &e->scratch;
            phi__buf_text(out, "{\"type\":\"function_call\"");
            if (same) (void)phi__resp_member(e, c, "id", "fc_");
            phi__render_id(out, ",\"call_id\":", c->id, PHI__ID_RESPONSES);
            phi__render_name(out, ",\"name\":", c->name, 64);
            phi__render_text_member(e, "arguments", phi__render_arguments(e, c->arguments));
            phi__resp_more(e, c, kin);
            phi__buf_char(out, '}');
        } else if (c->kind == PHI_CONTENT_TEXT) {
            phi__buf *out = &e->scratch;
            phi__buf_text(out, "{\"type\":\"message\"");
            if (same && phi__resp_member(e, c, "id", ""))
                phi__buf_text(out, ",\"status\":\"completed\"");
            phi__buf_text(out, ",\"role\":\"assistant\",\"content\":");
            phi__resp_content(e, c, kin);
            if (same) (void)phi__resp_member(e, c, "phase", "");
            phi__resp_more(e, c, kin);
            phi__buf_char(out, '}');
        } else
            phi__resp_put_opaque(e, c, bare);
        from = i + 1;
    }
}

/* Returns the form bits. If `after` is true, returns 0, because results hold their media
   themselves. */
static uint32_t phi__resp_form(const phi__encoder *e, size_t at, bool after) {
    const phi_message *m = e->spec->items[at].message;
    uint32_t form = PHI__RESP_FORM;
    if (after) return 0;
    if (phi__resp_replays(e, at)) form |= PHI__RESP_ORIGIN;
    if (phi__resp_kin(e, at)) form |= PHI__RESP_KIN;
    if (phi__codec_is(e->codec->names, PHI__LIT(PHI_PROTOCOL_AZURE_RESPONSES)))
        form |= PHI__RESP_AT_AZURE;
    if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) form |= PHI__RESP_NO_IMAGES;
    if (m->role != PHI_ROLE_ASSISTANT) form |= e->media << PHI__RESP_MEDIA_SHIFT;
    return form;
}

static void phi__resp_render(phi__encoder *e, const phi_message *m, size_t at, uint32_t form) {
    (void)at;
    if (m->role == PHI_ROLE_USER)
        phi__resp_user(e, m);
    else if (m->role == PHI_ROLE_TOOL_RESULT)
        phi__resp_result(e, m);
    else
        phi__resp_assistant(e, m, (form & PHI__RESP_ORIGIN) != 0, (form & PHI__RESP_KIN) != 0);
}

/* ---- around the messages ---- */

static bool phi__resp_at_openai(const phi_model *model) {
    static const char *const azure[PHI__CODEC_NAMES] = PHI__NAMES_AZURE;
    phi_str provider = phi_str_of(model->provider);
    return phi__codec_is(azure, phi_str_of(model->protocol)) || phi__str_is(provider, "openai") ||
           phi__str_is(provider, PHI_PROTOCOL_OPENAI_RESPONSES);
}

/* Models that do not reason refuse "include" and "reasoning". An unknown model at OpenAI gets both
   only if a thinking level is set. */
static void phi__resp_put_thinking(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    bool openai = phi__resp_at_openai(e->spec->model);
    const char *effort = phi__openai_effort_name(e, openai);
    if (!e->spec->model->reasoning || (openai && effort == NULL)) return;
    phi__buf_text(out, ",\"include\":[\"reasoning.encrypted_content\"]");
    if (effort == NULL) return;
    phi__buf_text(out, ",\"reasoning\":{\"effort\":\"");
    phi__buf_text(out, effort);
    phi__buf_text(out, e->spec->thinking != PHI_THINKING_OFF ? "\",\"summary\":\"auto\"}" : "\"}");
}

static void phi__resp_put_format(phi__encoder *e) {
    const phi_format *format = &e->spec->format;
    phi__buf *out = &e->scratch;
    if (format->kind == PHI_FORMAT_TEXT) return;
    if (format->kind == PHI_FORMAT_JSON_OBJECT) {
        phi__buf_text(out, ",\"text\":{\"format\":{\"type\":\"json_object\"}}");
        return;
    }
    phi__buf_text(out, ",\"text\":{\"format\":{\"type\":\"json_schema\"");
    phi__openai_put_schema(e);
    phi__buf_text(out, "}}");
}

/* Models that reason refuse temperature and top_p. No model accepts stop texts, a seed or top_k. */
static uint32_t phi__resp_takes(const phi__request_spec *spec) {
    uint32_t takes = PHI__TAKES_TIER | PHI__TAKES_SERIAL;
    if (!spec->model->reasoning) takes |= PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P;
    return takes;
}

static void phi__resp_head(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature", "top_p", NULL, NULL, NULL, "service_tier"};
    const phi__request_spec *spec = e->spec;
    phi__buf *out = &e->scratch;
    uint32_t most = phi__takes_tokens(spec);
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__records_str(out, "model", phi_str_of(spec->model->id));
    phi__buf_text(out, ",\"stream\":true,\"store\":false");
    if (most != 0)
        phi__records_u64(out, "max_output_tokens", phi__max(most, PHI__RESP_OUTPUT_LEAST));
    phi__takes_put(e, &keys, phi__resp_takes(spec));
    phi__resp_put_thinking(e);
    if ((spec->model->quirks & PHI_QUIRK_CACHE_KEY) != 0) phi__openai_put_cache_key(e);
    phi__resp_put_format(e);
    phi_tool_choice choice = e->spec->tool_choice;
    bool strict;
    if (e->spec->tool_count != 0) {
        phi__buf_text(out, choice == PHI_TOOL_CHOICE_NONE   ? ",\"tool_choice\":\"none\""
                           : choice == PHI_TOOL_CHOICE_AUTO ? ",\"tool_choice\":\"auto\""
                                                            : ",\"tool_choice\":\"required\"");
        if (phi__takes_serial(e->spec, PHI__TAKES_ALL))
            phi__buf_text(out, ",\"parallel_tool_calls\":false");
        phi__buf_text(out, ",\"tools\":[");
        if (phi__takes_deferred(e->spec)) phi__buf_text(out, "{\"type\":\"tool_search\"},");
        for (size_t i = 0; i < e->spec->tool_count; i++) {
            if (phi__takes_raw(e, i)) continue;
            phi__buf_text(out, "{\"type\":\"function\",");
            strict = phi__openai_put_tool(e, &e->spec->tools[i]);
            /* the API's default is true */
            phi__buf_text(out, strict ? ",\"strict\":true" : ",\"strict\":false");
            phi__buf_text(out, e->spec->tools[i].deferred ? ",\"defer_loading\":true}" : "}");
        }
        phi__buf_char(out, ']');
    }
    if (!phi__render_blank(spec->system_prompt))
        phi__records_str(out, "instructions", spec->system_prompt);
    phi__buf_text(out, ",\"input\":[");
    if (spec->format.kind ==
        PHI_FORMAT_JSON_OBJECT) { /* the API requires the word JSON in the input */
        phi__buf_text(out, PHI__RESP_OBJECT);
        e->last_role = PHI_ROLE_USER; /* any role: the next message then starts with a comma */
    }
    phi__encode_scratch(e);
}

static void phi__resp_tail(phi__encoder *e) { phi__encode_glue(e, "]}"); }

static void phi__resp_address(phi__encoder *e) {
    phi__encode_url(e, "/v1", true, "/responses");
    phi__encode_accept(e, "text/event-stream");
    phi__encode_key(e, NULL);
}

/* Builds the URL from the base, cut at "/deployments" because Azure serves nothing below it. */
static void phi__resp_azure_address(phi__encoder *e) {
    const phi__request_spec *spec = e->spec;
    phi_str base = phi__str_trim(phi_str_of(spec->model->base_url));
    size_t cut = phi__str_find(base, 0, "/deployments"), query = phi__str_find(base, 0, "?");
    phi__request_spec there = *spec;
    phi_model model = *spec->model;
    if (cut != SIZE_MAX && (query == SIZE_MAX || cut < query)) {
        phi_str url = {NULL, 0};
        phi__buf_clear(&e->scratch);
        phi__buf_add(&e->scratch, base.at, cut);
        if (query != SIZE_MAX)
            phi__buf_add(&e->scratch, base.at + query, base.len - query);
        else
            phi__buf_text(&e->scratch,
                          "/v1"); /* without an API version, Azure serves only this path */
        if (!phi__encode_copy(e, &url)) return;
        model.base_url = url.at;
        there.model = &model;
    }
    e->spec = &there;
    phi__encode_url(e, "/openai/v1", true, "/responses");
    e->spec = spec;
    phi__encode_accept(e, "text/event-stream");
    phi__encode_key(e, "api-key");
}

/* ---- the codecs ---- */

static phi__id_rule phi__resp_id_rule(const phi_model *model) {
    (void)model;
    return PHI__ID_RESPONSES;
}

/* Servers of other providers accept only text and images. No message can hold audio. */
static uint32_t phi__resp_media(const phi_model *model) {
    phi_str provider = phi_str_of(model->provider);
    if (!phi__str_is(provider, "azure_openai") && !phi__str_is(provider, "openai") &&
        !phi__str_is(provider, PHI_PROTOCOL_OPENAI_RESPONSES) &&
        !phi__str_is(provider, "openrouter"))
        return 0;
    return PHI__MEDIA_PDF | PHI__MEDIA_URL | PHI__MEDIA_TEXT_FILE | PHI__MEDIA_OFFICE;
}

static const char *const phi__resp_same_wire[] = {PHI_PROTOCOL_OPENAI_RESPONSES,
                                                  PHI_PROTOCOL_AZURE_RESPONSES, NULL};
static phi_thinking phi__resp_level(const phi_model *model, phi_thinking wanted) {
    return phi__openai_level(model, wanted, phi__resp_at_openai(model));
}

/* clang-format off */
static const char *const phi__resp_owned[] = {
    "model", "stream", "store", "max_output_tokens", "instructions", "input", "tools",
    "tool_choice", "text.format", NULL};

static const char *const phi__resp_lists[] = {
    "include", NULL};

static const phi__codec_settings phi__resp_settings = {
    phi__resp_takes, phi__resp_level, phi__resp_owned, phi__resp_lists};
/* clang-format on */

/* True for gpt-5.4 and later ("Tool search" guide, November 2026). A name is like "gpt-5.4-mini".
   Azure supports deferred tools too, but only a deployment named as the model is recognized. */
static bool phi__resp_defers(const phi_model *model) {
    phi_str id = phi_str_of(model->id);
    size_t i = 4;
    uint32_t version[2] = {0, 0}, part = 0;
    if (!phi__resp_at_openai(model) || !phi__str_starts(id, "gpt-")) return false;
    for (; i < id.len && i < 12; i++) {
        if (phi__is_digit(id.at[i]))
            version[part] = version[part] * 10 + (uint32_t)(id.at[i] - '0');
        else if (id.at[i] != '.' || part++ > 0)
            break;
    }
    return version[0] < 100 && (version[0] > 5 || (version[0] == 5 && version[1] >= 4));
}

/* clang-format off */
static const phi__codec_rules phi__resp_rules = {
    phi__resp_id_rule, phi__openai_strict_form, NULL, NULL, PHI__SCHEMA_IF_STRICT, NULL, NULL,
    NULL, 0, phi__resp_media, phi__resp_same_wire, NULL, NULL, NULL, NULL,
    &phi__resp_settings, phi__resp_defers};

PHI__FN const phi__codec *phi__resp_codec(void) {
    static const phi__codec codec = {
        PHI__NAMES_OPENAI_RESPONSES, &phi__resp_rules, sizeof(phi__resp_state),
        phi__resp_head, phi__resp_tail, phi__resp_address, phi__resp_form,
        phi__resp_render, phi__encode_append, phi__resp_stream_event,
        phi__resp_end, phi__resp_whole, NULL, NULL};
    return &codec;
}

PHI__FN const phi__codec *phi__resp_codec_azure(void) {
    static const phi__codec codec = {
        PHI__NAMES_AZURE, &phi__resp_rules, sizeof(phi__resp_state), phi__resp_head,
        phi__resp_tail, phi__resp_azure_address, phi__resp_form,
        phi__resp_render, phi__encode_append, phi__resp_stream_event,
        phi__resp_end, phi__resp_whole, NULL, NULL};
    return &codec;
}
/* clang-format on */
