/* anthropic.c - the Anthropic Messages API.

   A message's content is rendered once, as blocks joined by commas, and kept. The role is written
   around the renderings, so tool results and the user's words after them share one message. No
   rendering holds the cache mark, which moves from turn to turn. The mark is inserted before the
   last brace of the last user block. */
#include "codecs/claude_in.h"
#include "codecs/names_in.h"

/* The settings that a message's rendering depends on, as bits of phi__rendered.form. */
enum {
    PHI__ANTHROPIC_FORM = 1 << 28,
    PHI__ANTHROPIC_ORIGIN = 1, /* the same model made the message: send thinking */
    PHI__ANTHROPIC_NO_IMAGES = 2,
    PHI__ANTHROPIC_MEDIA = 4,  /* images and documents of an error result */
    PHI__ANTHROPIC_SYSTEM = 8, /* an update that is a system message */
    PHI__ANTHROPIC_PROTOCOL =
        16, /* the same protocol made the message: send citations and kept members */
    PHI__ANTHROPIC_ABANDONED = 32,  /* leave out the server's calls that have no result */
    PHI__ANTHROPIC_PAUSED = 64,     /* the provider will continue the message: send it unchanged */
    PHI__ANTHROPIC_ORPHANS = 128,   /* leave out server results whose call is not in this message */
    PHI__ANTHROPIC_MEDIA_SHIFT = 16 /* the PHI__MEDIA_ bits are shifted by this */
};

/* The state of a stream's decoder. It starts as zeroed memory. */
typedef struct phi__anthropic_state {
    bool got_stop; /* a message_delta brought a stop reason */
    phi__decoding in;
} phi__anthropic_state;

/* ---- messages as blocks, into the scratch buffer ---- */

static void phi__anthropic_media_block(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    bool image = c->kind == PHI_CONTENT_IMAGE;
    phi__json_write_item(out, image ? "{\"type\":\"image\",\"source\":{\"type\":"
                                    : "{\"type\":\"document\",\"source\":{\"type\":");
    if (!image && c->url.len > 0) {
        phi__buf_text(out, "\"url\"");
        phi__records_str(out, "url", c->url);
    } else if (image || c->data.len > 0) {
        phi__buf_text(out, "\"base64\"");
        phi__records_str(out, "media_type", c->mime_type);
        phi__render_base64(e, ",\"data\":\"", c->data, "\"");
    } else {
        phi__buf_text(out, "\"text\",\"media_type\":\"text/plain\"");
        phi__render_text_member(e, "data", c->text);
    }
    phi__buf_char(out, '}');
    if (!image && c->name.len > 0) phi__records_str(out, "title", c->name);
    phi__buf_char(out, '}');
}

static void phi__anthropic_opaque(phi__encoder *e, const phi_content *c) {
    if (phi__render_is_opaque(e->codec, c)) phi__render_opaque(e, c);
}

/* Writes the texts of a user's message or a result. With `media` also writes all other blocks. */
static void phi__anthropic_parts(phi__encoder *e, const phi_message *m, bool media) {
    phi__render_parts(e, m, media, phi__render_said_part, phi__anthropic_media_block,
                      phi__anthropic_opaque);
}

static void phi__anthropic_cited(phi__encoder *e, phi_str text, phi_str citations) {
    phi__buf *out = &e->scratch;
    if (!phi__render_cites(e, citations)) {
        phi__render_text_part(e, text);
        return;
    }
    phi__json_write_item(out, "{\"type\":\"text\"");
    phi__render_text_member(e, "text", text);
    phi__buf_wrap(out, ",\"citations\":", citations, "}");
}

/* True if this type of an opaque block means a call of the server's own tools:
   "server_tool_use". */
static bool phi__anthropic_is_server_call(phi_str name) {
    return name.len > 9 && phi__str_ends(name, "_tool_use");
}

/* True if this type of an opaque block means a server tool's result: "web_search_tool_result". */
static bool phi__anthropic_is_server_result(phi_str name) {
    return name.len > 12 && phi__str_ends(name, "_tool_result");
}

/* `block` is a result of a server tool. True if its call is an earlier block of the message. */
static bool phi__anthropic_has_call(const phi_message *m, size_t block) {
    phi__json_found result, call;
    if (phi__json_cursor_find(m->content[block].replay, "tool_use_id", &result) != PHI_OK)
        return true;
    for (size_t i = 0; i < block; i++)
        if (m->content[i].kind == PHI_CONTENT_OPAQUE && !m->content[i].incomplete &&
            phi__anthropic_is_server_call(m->content[i].name) &&
            phi__json_cursor_find(m->content[i].replay, "id", &call) == PHI_OK &&
            phi_str_equal(call.raw, result.raw))
            return true;
    return false;
}

static bool phi__anthropic_sends(const phi__encoder *e, const phi_message *m, size_t block,
                                 uint32_t form) {
    static const char *const refs[] = {"tool_use_id", NULL};
    const phi_content *c = &m->content[block];
    if (!phi__render_is_opaque(e->codec, c)) return false;
    if ((form & PHI__ANTHROPIC_ORPHANS) != 0 && phi__anthropic_is_server_result(c->name) &&
        !phi__anthropic_has_call(m, block))
        return false;
    return (form & PHI__ANTHROPIC_ABANDONED) == 0 || !phi__anthropic_is_server_call(c->name) ||
           phi__render_is_answered(m, block, "id", refs);
}

/* Returns the index of the last block that is sent; SIZE_MAX if none is sent. */
static size_t phi__anthropic_last(const phi__encoder *e, const phi_message *m, uint32_t form) {
    phi_message part = *m;
    size_t last = phi__claude_last_sent(e->codec, &part);
    while (last != SIZE_MAX && m->content[last].kind == PHI_CONTENT_OPAQUE &&
           !phi__anthropic_sends(e, m, last, form)) {
        part.content_count = last;
        last = phi__claude_last_sent(e->codec, &part);
    }
    return last;
}

/* Writes a result. A single text becomes a string, any other content a list of blocks. An error
   result holds only text and is not empty. */
static void phi__anthropic_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool media = !m->is_error && phi__render_any(e, m, PHI__RENDER_BLOCK);
    size_t texts = 0;
    const phi_content *text = NULL;
    phi__render_id(out, "{\"type\":\"tool_result\",\"tool_use_id\":", m->tool_call_id,
                   PHI__ID_ANTHROPIC);
    if (m->is_error) phi__buf_text(out, ",\"is_error\":true");
    for (size_t i = 0; i < m->content_count; i++)
        if (phi__render_way_to(e, &m->content[i]) == PHI__RENDER_WORDS) {
            text = &m->content[i];
            texts++;
        }
    bool opaque = !m->is_error && phi__render_any_opaque(e, m, NULL);
    if (media || opaque || texts > 1 || phi__render_any(e, m, PHI__RENDER_OMIT)) {
        phi__buf_text(out, ",\"content\":[");
        phi__anthropic_parts(e, m, media || opaque);
        phi__buf_char(out, ']');
    } else if (texts == 1) {
        phi__buf_text(out, ",\"content\":\"");
        phi__render_said(e, text);
        phi__buf_char(out, '"');
    } else if (m->is_error)
        phi__buf_text(out, ",\"content\":\"(no output)\"");
    phi__buf_char(out, '}');
}

/* ---- answers: events to a message ----

   Each event is read in one pass without a tree. Nearly all events are deltas. A block is found by
   its index in the wire. Blocks of other types than text, thinking and tool use are opaque: the
   JSON of their start is kept, and deltas set members in it. */

/* The members of an event, as views of its text. */
typedef struct phi__anthropic_event {
    phi__json_text type;
    int64_t index;
    phi__json_text delta_type, text, thinking, partial_json, signature; /* members of a delta */
    phi__json_text stop_reason;
    phi_str citation, content, encrypted_content; /* members of a delta, as raw JSON */
    phi_str stop_details;                         /* raw JSON */
    phi_str block, message, usage;                /* raw JSON */
    bool has_error;
} phi__anthropic_event;

/* ---- reading an event ---- */

static const phi__json_member phi__anthropic_delta_members[] = {
    PHI__MEMBER(phi__anthropic_event, delta_type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, text, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, partial_json, "partial_json", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, thinking, "thinking", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, signature, "signature", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, citation, "citation", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__anthropic_event, content, "content", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_event, encrypted_content, "encrypted_content", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_event, stop_reason, "stop_reason", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, stop_details, "stop_details", PHI__MEMBER_RAW),
    PHI__MEMBERS_END};

static const phi__json_member phi__anthropic_event_members[] = {
    PHI__MEMBER(phi__anthropic_event, type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_event, index, "index", PHI__MEMBER_I64),
    PHI__MEMBER_INSIDE("delta", phi__anthropic_delta_members),
    PHI__MEMBER(phi__anthropic_event, block, "content_block", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_event, message, "message", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_event, usage, "usage", PHI__MEMBER_RAW),
    PHI__MEMBER_TAKE(phi__anthropic_event, has_error, "error", phi__classify_take_flag),
    PHI__MEMBERS_END};

static bool phi__anthropic_read(phi__anthropic_event *ev, phi_str data) {
    memset(ev, 0, sizeof *ev);
    return phi__json_members_read(data, phi__anthropic_event_members, ev, NULL);
}

static const phi__json_member phi__anthropic_details_members[] = {
    PHI__MEMBER(phi_usage, reasoning, "thinking_tokens", PHI__MEMBER_U64), PHI__MEMBERS_END};

/* Counts are cumulative. A null or absent count does not change the earlier value. */
static const phi__json_member phi__anthropic_usage_members[] = {
    PHI__MEMBER(phi_usage, input, "input_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, output, "output_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_read, "cache_read_input_tokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_write, "cache_creation_input_tokens", PHI__MEMBER_U64),
    PHI__MEMBER_INSIDE("output_tokens_details", phi__anthropic_details_members),
    PHI__MEMBERS_END};

static void phi__anthropic_usage(phi__assembly *a, phi_str raw) {
    (void)phi__json_members_read(raw, phi__anthropic_usage_members, &a->usage, NULL);
}

static const phi__stop_word phi__anthropic_stop_words[] = {
    {"end_turn\0stop_sequence\0", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false},
    {"tool_use\0", PHI_STOP_REASON_TOOL_USE, PHI_FAILURE_NONE, false},
    {"max_tokens\0model_context_window_exceeded\0", PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE,
     false},
    {"pause_turn\0compaction\0", PHI_STOP_REASON_PAUSED, PHI_FAILURE_NONE, false},
    {"refusal\0sensitive\0", PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false}};

typedef struct phi__anthropic_refusal {
    phi__json_text explanation;
} phi__anthropic_refusal;

static const phi__json_member phi__anthropic_refusal_members[] = {
    PHI__MEMBER(phi__anthropic_refusal, explanation, "explanation", PHI__MEMBER_TEXT),
    PHI__MEMBERS_END};

static void phi__anthropic_stop(phi__anthropic_state *st, phi__assembly *a, phi__json_text reason,
                                phi_str details) {
    phi__anthropic_refusal refusal = PHI_ZERO;
    if (reason.at == NULL) return;
    phi__assembly_put(a, &a->raw_stop_reason, reason);
    st->got_stop = true;
    (void)phi__json_members_read(details, phi__anthropic_refusal_members, &refusal, NULL);
    phi__classify_stop(a, phi__anthropic_stop_words, PHI__COUNT(phi__anthropic_stop_words),
                       refusal.explanation);
}

typedef struct phi__anthropic_block {
    phi__json_text type, text, thinking, signature, data, id, name;
    phi_str input, citations; /* raw JSON */
    phi_str raw;              /* the whole block */
} phi__anthropic_block;

static const phi__json_member phi__anthropic_block_members[] = {
    PHI__MEMBER(phi__anthropic_block, type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, text, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, thinking, "thinking", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, signature, "signature", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, data, "data", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, name, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_block, input, "input", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_block, citations, "citations", PHI__MEMBER_ARRAY),
    PHI__MEMBERS_END};

static void phi__anthropic_read_block(phi__anthropic_block *b, phi_str raw) {
    memset(b, 0, sizeof *b);
    b->raw = raw;
    (void)phi__json_members_read(raw, phi__anthropic_block_members, b, NULL);
}

/* Opens a block. SIZE_MAX if it has no type or memory ran out. */
static size_t phi__anthropic_open(phi__assembly *a, const phi__anthropic_block *b, int64_t index) {
    phi_content_kind kind;
    if (PHI__TEXT_IS(b->type, "text"))
        kind = PHI_CONTENT_TEXT;
    else if (PHI__TEXT_IS(b->type, "thinking") || PHI__TEXT_IS(b->type, "redacted_thinking"))
        kind = PHI_CONTENT_THINKING;
    else if (PHI__TEXT_IS(b->type, "tool_use"))
        kind = PHI_CONTENT_TOOL_CALL;
    else {
        /* An opaque block. A block without a type cannot be sent back, so it is skipped. */
        if (b->type.len == 0) return SIZE_MAX;
        size_t block = phi__assembly_opaque(a, phi__str(NULL, 0), b->raw, index, true);
        if (block != SIZE_MAX) phi__assembly_put(a, &a->drafts[block].name, b->type);
        return block;
    }
    size_t block = phi__assembly_open(a, kind, index);
    if (block == SIZE_MAX) return block;
    phi__draft *d = &a->drafts[block];
    if (kind == PHI_CONTENT_TEXT) {
        phi__assembly_add_text(a, block, b->text);
        phi__assembly_set(a, &d->citations, b->citations);
    }
    if (kind == PHI_CONTENT_TOOL_CALL) {
        phi__assembly_put(a, &d->id, b->id);
        phi__assembly_put(a, &d->name, b->name);
        /* Keep the members of a call that phi does not know ("caller"). */
        static const char *const known[] = {"type", "id", "name", "input", NULL};
        phi__assembly_rest(a, block, b->raw, known);
    }
    if (kind == PHI_CONTENT_THINKING) {
        d->redacted = PHI__TEXT_IS(b->type, "redacted_thinking");
        phi__assembly_put(a, &d->signature, d->redacted ? b->data : b->signature);
        phi__assembly_add_text(a, block, b->thinking);
    }
    return block;
}

/* Opens a block. If its start has complete arguments, they wait in `replay`; deltas replace
   them. */
static void phi__anthropic_block_start(phi__assembly *a, const phi__anthropic_event *ev) {
    phi__anthropic_block b;
    if (ev->block.len == 0) return;
    phi__anthropic_read_block(&b, ev->block);
    size_t block = phi__anthropic_open(a, &b, ev->index);
    if (block == SIZE_MAX || a->drafts[block].kind != PHI_CONTENT_TOOL_CALL) return;
    if (b.input.len <= 2 || b.input.at[0] != '{') return;
    phi__assembly_wait(a, block, b.input);
}

/* Closes an opaque block. The API requires an input in a server tool's call, even an empty one. */
static void phi__anthropic_close_opaque(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    phi_str name = phi__buf_str(&d->name), none = {NULL, 0}, value;
    if (d->bytes.len == 0 && phi__anthropic_is_server_call(name) &&
        !phi__opaque_find(phi__buf_str(&d->replay), PHI__LIT("input"), &value))
        phi__assembly_opaque_set(a, block, none, PHI__LIT("input"), PHI__LIT("{}"));
    if (d->id.len > 0)
        phi__assembly_opaque_close(a, block, none, phi__buf_str(&d->id),
                                   !phi__str_is(phi__buf_str(&d->id), "input"));
    else
        phi__assembly_close(a, block);
}

/* Finds a block, or opens it if a gateway left out its start. */
static size_t phi__anthropic_find_or_open(phi__assembly *a, int64_t index, phi_content_kind kind) {
    size_t block = phi__assembly_find(a, index);
    return block != SIZE_MAX ? block : phi__assembly_open(a, kind, index);
}

/* Prepares an opaque block for deltas that are appended to one of its members. The member's name is
   kept in draft->id. Text that the block's start already has for the member comes first. SIZE_MAX
   if earlier deltas went to another member. */
static size_t phi__anthropic_member(phi__assembly *a, size_t block, const char *member) {
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

static void phi__anthropic_put(phi__assembly *a, size_t block, const char *member, phi_str value) {
    if (value.len > 0)
        phi__assembly_opaque_set(a, block, phi__str(NULL, 0), phi_str_of(member), value);
}

/* Reads a delta that does not append to its block's text. */
static void phi__anthropic_other_delta(phi__assembly *a, const phi__anthropic_event *ev) {
    size_t block = phi__assembly_find(a, ev->index);
    if (block == SIZE_MAX) return;
    if (a->drafts[block].kind == PHI_CONTENT_OPAQUE) {
        /* Set a member, or add an item to it. Deltas of unknown types change nothing. */
        phi_str array;
        phi__buf now;
        if (a->drafts[block].open && !a->drafts[block].incomplete) {
            if (PHI__TEXT_IS(ev->delta_type, "compaction_delta")) {
                phi__anthropic_put(a, block, "content", ev->content);
                phi__anthropic_put(a, block, "encrypted_content", ev->encrypted_content);
            } else if (PHI__TEXT_IS(ev->delta_type, "signature_delta") && ev->signature.at != NULL)
                phi__anthropic_put(a, block, "signature",
                                   phi__str(ev->signature.at - 1, ev->signature.len + 2));
            else if (PHI__TEXT_IS(ev->delta_type, "citations_delta") && ev->citation.len > 0) {
                phi__buf_init(&now, a->memory);
                if (phi__opaque_find(phi__buf_str(&a->drafts[block].replay), PHI__LIT("citations"),
                                     &array) &&
                    array.at[0] == '[')
                    phi__buf_add_str(&now, array);
                phi__opaque_push(&now, ev->citation);
                if (now.failed) a->no_memory = true;
                phi__anthropic_put(a, block, "citations", phi__buf_str(&now));
                phi__buf_free(&now);
            }
        }
    } else if (a->drafts[block].kind == PHI_CONTENT_TEXT &&
               PHI__TEXT_IS(ev->delta_type, "citations_delta"))
        phi__assembly_cite(a, block, ev->citation);
    else if (a->drafts[block].kind == PHI_CONTENT_THINKING &&
             PHI__TEXT_IS(ev->delta_type, "signature_delta"))
        phi__assembly_sign(a, block, ev->signature);
}

static void phi__anthropic_delta(phi__anthropic_state *st, phi__assembly *a,
                                 const phi__anthropic_event *ev, phi_str data) {
    const char *member;
    size_t block;
    phi__json_text text;
    if (PHI__TEXT_IS(ev->delta_type, "text_delta")) {
        text = ev->text;
        member = "text";
        block = phi__anthropic_find_or_open(a, ev->index, PHI_CONTENT_TEXT);
    } else if (PHI__TEXT_IS(ev->delta_type, "input_json_delta")) {
        text = ev->partial_json;
        member = "input";
        block = phi__assembly_find(a, ev->index);
    } else if (PHI__TEXT_IS(ev->delta_type, "thinking_delta")) {
        text = ev->thinking;
        member = "thinking";
        block = phi__anthropic_find_or_open(a, ev->index, PHI_CONTENT_THINKING);
    } else {
        phi__anthropic_other_delta(a, ev);
        return;
    }
    if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_OPAQUE)
        block = phi__anthropic_member(a, block, member);
    phi__assembly_add_text(a, block, text);
    phi__delta_cache_learn(&st->in.repeat, a, data, text, block);
}

typedef struct phi__anthropic_message {
    phi__json_text id, model, stop;
    phi_str usage, details, content, diagnostics; /* raw JSON */
} phi__anthropic_message;

static const phi__json_member phi__anthropic_members[] = {
    PHI__MEMBER(phi__anthropic_message, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_message, content, "content", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_message, diagnostics, "diagnostics", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_message, model, "model", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_message, stop, "stop_reason", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__anthropic_message, details, "stop_details", PHI__MEMBER_RAW),
    PHI__MEMBER(phi__anthropic_message, usage, "usage", PHI__MEMBER_RAW),
    PHI__MEMBERS_END};

static void phi__anthropic_content(phi__assembly *a, phi_str content) {
    phi__json_cursor c;
    phi__anthropic_block b;
    phi_str raw;
    if (!phi__json_cursor_in_array(&c, content.len > 0 ? content : PHI__LIT("[]"))) return;
    while (phi__json_cursor_next_raw(&c, &raw)) {
        phi__anthropic_read_block(&b, raw);
        size_t block = phi__anthropic_open(a, &b, (int64_t)a->count);
        if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_TOOL_CALL)
            phi__assembly_close_call(a, block, b.input);
        else
            phi__assembly_close(a, block);
    }
}

/* Reads the message of message_start, or a whole answer. If `whole` is true, also reads the blocks
   and the end of the answer. */
static void phi__anthropic_message_of(phi__anthropic_state *st, phi__assembly *a, phi_str raw,
                                      bool whole) {
    phi__json_cursor c;
    phi__json_cursor_init(&c, raw);
    if (raw.len == 0 || phi__json_cursor_peek(&c) != PHI_JSON_OBJECT) return;
    phi__anthropic_message m = PHI_ZERO;
    (void)phi__json_members_take(&c, phi__anthropic_members, &m);
    if (m.id.at != NULL) phi__assembly_put(a, &a->response_id, m.id);
    if (m.model.at != NULL) phi__assembly_put(a, &a->model, m.model);
    if (m.diagnostics.len > 0) {
        /* Keep cache diagnostics for the host. An extra can ask for them; null means that there was
           no cache miss. The answer's id is kept too, because the next request must name it. */
        phi_str json = m.diagnostics;
        phi__buf *out = &a->details;
        phi__buf_clear(out);
        phi__buf_text(out, "{\"id\":");
        phi__json_write_str(out, phi__buf_str(&a->response_id));
        phi__buf_text(out, ",\"diagnostics\":");
        phi__utf8_repair(out, json);
        phi__buf_char(out, '}');
        if (out->failed) a->no_memory = true;
    }
    phi__assembly_start(a);
    phi__anthropic_usage(a, m.usage);
    if (!whole) return;
    phi__anthropic_content(a, m.content);
    phi__anthropic_stop(st, a, m.stop, m.details);
}

static void phi__anthropic_take(phi__anthropic_state *st, phi__assembly *a,
                                const phi__anthropic_event *ev, phi_str data) {
    if (PHI__TEXT_IS(ev->type, "content_block_delta"))
        phi__anthropic_delta(st, a, ev, data);
    else if (PHI__TEXT_IS(ev->type, "content_block_start"))
        phi__anthropic_block_start(a, ev);
    else if (PHI__TEXT_IS(ev->type, "content_block_stop")) {
        size_t block = phi__assembly_find(a, ev->index);
        if (block != SIZE_MAX && a->drafts[block].open) {
            phi__draft *d = &a->drafts[block];
            if (d->kind == PHI_CONTENT_TOOL_CALL)
                phi__assembly_close_call(
                    a, block, d->replay_open ? phi__buf_str(&d->replay) : phi__str(NULL, 0));
            else if (d->kind == PHI_CONTENT_OPAQUE)
                phi__anthropic_close_opaque(a, block);
            else
                phi__assembly_close(a, block);
        }
    } else if (PHI__TEXT_IS(ev->type, "message_start"))
        phi__anthropic_message_of(st, a, ev->message, false);
    else if (PHI__TEXT_IS(ev->type, "message_delta")) {
        phi__anthropic_usage(a, ev->usage);
        phi__anthropic_stop(st, a, ev->stop_reason, ev->stop_details);
    } else if (PHI__TEXT_IS(ev->type, "message_stop"))
        a->terminal = a->last = true;
    else if (PHI__TEXT_IS(ev->type, "error") || (ev->type.len == 0 && ev->has_error))
        phi__classify_event(a, data);
}

/* ---- for the codec ---- */

static void phi__anthropic_stream_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    phi__anthropic_state *st = (phi__anthropic_state *)state;
    phi__anthropic_event ev;
    /* ignore events after message_stop */
    if (phi__str_is(name, "ping") || a->terminal) return;
    if (!phi__decoding_takes(&st->in, a, name, data, false)) return;
    if (!phi__anthropic_read(&ev, data)) {
        st->in.broken = true;
        return;
    }
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi__anthropic_take(st, a, &ev, data);
    phi_arena_reset(&a->scratch, mark);
}

static void phi__anthropic_end(void *state, phi__assembly *a) {
    phi__anthropic_state *st = (phi__anthropic_state *)state;
    bool open = false;
    if (a->terminal || a->failure.kind != PHI_FAILURE_NONE) return;
    for (size_t i = 0; i < a->count; i++) open = open || a->drafts[i].open;
    if (st->got_stop && !open)
        a->terminal = true; /* only message_stop is missing */
    else
        phi__classify_truncated(a, st->in.heard);
}

static void phi__anthropic_whole(void *state, phi__assembly *a, phi_str body) {
    phi__anthropic_state *st = (phi__anthropic_state *)state;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi__anthropic_event ev;
    if (phi__anthropic_read(&ev, body) && PHI__TEXT_IS(ev.type, "message") && !ev.has_error) {
        st->in.heard = true;
        phi__anthropic_message_of(st, a, body, true);
        if (st->got_stop)
            a->terminal = true;
        else
            phi__classify_truncated(a, true);
    } else
        phi__classify_body(a, body);
    phi_arena_reset(&a->scratch, mark);
}

/* ---- requests ---- */

#define PHI__ANTHROPIC_TOOLS_BETA "inline-tools-2026-09-15"
#define PHI__ANTHROPIC_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define PHI__ANTHROPIC_MARK_HOUR ",\"cache_control\":{\"type\":\"ephemeral\",\"ttl\":\"1h\"}"

static const char *phi__anthropic_mark(const phi__request_spec *spec) {
    return spec->cache.one_hour ? PHI__ANTHROPIC_MARK_HOUR : PHI__ANTHROPIC_MARK;
}

/* Returns the API version that is sent: from the model's header, else from its field. */
static phi_str phi__anthropic_version(const phi_model *model) {
    phi_str version = phi__str_trim(phi_str_of(model->api_version));
    for (size_t i = 0; i < model->header_count; i++)
        if (phi__str_is_nocase(phi_str_of(model->headers[i].name), "anthropic-version"))
            version = phi__str_trim(phi_str_of(model->headers[i].value));
    return version.len > 0 ? version : PHI__LIT("2023-06-01");
}

/* True if a user's message ends with an opaque block, which must not have a cache mark. */
static bool phi__anthropic_ends_opaque(const phi__encoder *e, const phi_message *m) {
    for (size_t i = m->role == PHI_ROLE_USER ? m->content_count : 0; i > 0; i--) {
        const phi_content *c = &m->content[i - 1];
        if (phi__render_is_opaque(e->codec, c)) return true;
        if (phi__render_is_image(c) || phi__codec_is_text(c)) return false;
    }
    return false;
}

/* True if an answer begins with results of server tools whose calls are gone: the paused answer
   that held the calls is no longer in the view. */
static bool phi__anthropic_begins(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    size_t i = 0;
    while (i < m->content_count && !(m->content[i].kind == PHI_CONTENT_OPAQUE &&
                                     phi__anthropic_is_server_result(m->content[i].name)))
        i++;
    if (i == m->content_count) return false;
    for (i = at; i > 0; i--) {
        phi_role role = e->spec->items[i - 1].message->role;
        if (role != PHI_ROLE_EXTENSION) return role == PHI_ROLE_USER;
    }
    return true;
}

/* True if an answer has calls of server tools that can no longer get a result, because the user
   message after the answer holds more than results: the user's own blocks, or images of error
   results. The API refuses a call without its result. */
static bool phi__anthropic_abandons(const phi__encoder *e, size_t at) {
    const phi_message *m = e->spec->items[at].message;
    if (!phi__render_any_opaque(e, m, phi__anthropic_is_server_call)) return false;
    if (phi__render_user_follows(e, at)) return true;
    if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) return false;
    for (size_t i = at + 1; i < e->spec->item_count; i++) {
        m = e->spec->items[i].message;
        if (m->role == PHI_ROLE_ASSISTANT) return false;
        if (m->role == PHI_ROLE_TOOL_RESULT && m->is_error &&
            phi__render_any(e, m, PHI__RENDER_BLOCK))
            return true;
    }
    return false;
}

static bool phi__anthropic_any_opaque(const phi_message *m) {
    for (size_t i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_OPAQUE) return true;
    return false;
}

/* Returns the form bits. If `after` is true, returns the bits for the media of an error result, or
   0 if it has none: the API accepts these media only after all results. */
static uint32_t phi__anthropic_form(const phi__encoder *e, size_t at, bool after) {
    const phi_message *m = e->spec->items[at].message;
    uint32_t form = PHI__ANTHROPIC_FORM;
    if (after && (!m->is_error || !phi__render_any(e, m, PHI__RENDER_BLOCK))) return 0;
    if (after) form |= PHI__ANTHROPIC_MEDIA;
    if (m->is_update && phi__encode_is_system(e, at)) form |= PHI__ANTHROPIC_SYSTEM;
    if (m->role != PHI_ROLE_ASSISTANT) {
        if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) form |= PHI__ANTHROPIC_NO_IMAGES;
        return form | e->media << PHI__ANTHROPIC_MEDIA_SHIFT;
    }
    bool opaque = !e->spec->plain && phi__anthropic_any_opaque(m);
    if (phi__prefix_sends(e, at)) form |= PHI__ANTHROPIC_ORIGIN;
    if (phi__render_same_protocol(e, at)) form |= PHI__ANTHROPIC_PROTOCOL;
    if (opaque && phi__anthropic_abandons(e, at)) form |= PHI__ANTHROPIC_ABANDONED;
    if (opaque && phi__anthropic_begins(e, at)) form |= PHI__ANTHROPIC_ORPHANS;
    if (m->stop_reason == PHI_STOP_REASON_PAUSED && (form & PHI__ANTHROPIC_PROTOCOL) != 0 &&
        !phi__render_user_follows(e, at))
        form |= PHI__ANTHROPIC_PAUSED;
    return form;
}

/* Writes an update. Only a system message may change tools. */
static void phi__anthropic_update(phi__encoder *e, const phi_message *m, bool system) {
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (phi__codec_is_text(c)) phi__render_text_part(e, c->text);
        if (system && phi__render_is_opaque(e->codec, c)) phi__render_opaque(e, c);
    }
}

static void phi__anthropic_answer(phi__encoder *e, const phi_message *m, uint32_t form) {
    bool whole = (form & PHI__ANTHROPIC_PROTOCOL) != 0;
    bool paused = (form & PHI__ANTHROPIC_PAUSED) != 0;
    size_t last =
        paused && m->content_count > 0 ? m->content_count - 1 : phi__anthropic_last(e, m, form);
    phi__buf *out = &e->scratch;
    for (size_t i = 0; last != SIZE_MAX && i <= last; i++) {
        const phi_content *c = &m->content[i];
        if (phi__codec_is_text(c))
            phi__anthropic_cited(e, i == last && !paused ? phi__render_trim_end(c->text) : c->text,
                                 whole ? c->citations : phi__str(NULL, 0));
        else if (c->kind == PHI_CONTENT_THINKING && (form & PHI__ANTHROPIC_ORIGIN) != 0) {
            /* without a signature the thinking was cut: the API would refuse it */
            if (c->signature.len == 0) continue;
            if (c->redacted) {
                phi__json_write_item(out, "{\"type\":\"redacted_thinking\"");
                phi__records_str(out, "data", c->signature);
            } else {
                phi__json_write_item(out, "{\"type\":\"thinking\"");
                phi__render_text_member(e, "thinking", c->text);
                phi__records_str(out, "signature", c->signature);
            }
            phi__buf_char(out, '}');
        } else if (phi__codec_is_call(c)) {
            phi__json_write_comma(out);
            phi__render_id(out, "{\"type\":\"tool_use\",\"id\":", c->id, PHI__ID_ANTHROPIC);
            phi__render_name(out, ",\"name\":", c->name, 128);
            phi__buf_wrap(out, ",\"input\":", phi__render_arguments(e, c->arguments), "");
            if (whole) phi__render_rest(e, c->replay);
            phi__buf_char(out, '}');
        } else if (phi__anthropic_sends(e, m, i, form))
            phi__render_opaque(e, c);
    }
}

static void phi__anthropic_render(phi__encoder *e, const phi_message *m, size_t at, uint32_t form) {
    (void)at;
    if ((form & PHI__ANTHROPIC_MEDIA) != 0)
        phi__render_blocks(e, m, phi__anthropic_media_block);
    else if (m->is_update)
        phi__anthropic_update(e, m, (form & PHI__ANTHROPIC_SYSTEM) != 0);
    else if (m->role == PHI_ROLE_USER)
        phi__anthropic_parts(e, m, true);
    else if (m->role == PHI_ROLE_TOOL_RESULT)
        phi__anthropic_result(e, m);
    else
        phi__anthropic_answer(e, m, form);
}

static void phi__anthropic_append(phi__encoder *e, const phi_message *m, size_t at, uint32_t form,
                                  phi_str blocks) {
    (void)at;
    if (blocks.len == 0) return;
    phi__claude_append(e, m, (form & PHI__ANTHROPIC_SYSTEM) != 0, blocks);
    if (m->role != PHI_ROLE_ASSISTANT && e->count > 0 &&
        (e->spec->plain || !phi__anthropic_any_opaque(m) || !phi__anthropic_ends_opaque(e, m)))
        e->mark_piece = e->count - 1;
}

/* ---- around the messages ---- */

static void phi__anthropic_head(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature",    "top_p", "top_k",
                                         "stop_sequences", NULL,    "service_tier"};
    const phi__request_spec *spec = e->spec;
    phi__claude_plan plan = phi__claude_plan_now(e);
    phi__buf *out = &e->scratch;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__records_str(out, "model", phi_str_of(spec->model->id));
    phi__records_u64(out, "max_tokens", plan.max_tokens);
    phi__buf_text(out, ",\"stream\":true");
    if (!phi__render_blank(spec->system_prompt)) {
        phi__buf_text(out, ",\"system\":[{\"type\":\"text\"");
        phi__records_str(out, "text", spec->system_prompt);
        if (phi__codec_marks(spec, PHI__MARK_SYSTEM)) phi__buf_text(out, phi__anthropic_mark(spec));
        phi__buf_text(out, "}]");
    }
    phi__claude_put_thinking(e, &plan);
    phi__claude_put_config(e, &plan, true);
    phi__takes_put(e, &keys, phi__claude_takes_of(&plan, phi__anthropic_version(spec->model)));
    if (spec->tool_count > 0) {
        phi_tool_choice choice = e->spec->tool_choice;
        if (choice == PHI_TOOL_CHOICE_REQUIRED && (plan.thinks || plan.claude.no_forced_tool))
            choice = PHI_TOOL_CHOICE_AUTO; /* the API refuses a forced call here */
        if (e->spec->respond_only) {
            phi__buf_text(&e->scratch,
                          ",\"tool_choice\":{\"type\":\"tool\",\"name\":\"" PHI_RESPOND_TOOL "\"");
        } else {
            phi__buf_text(&e->scratch, ",\"tool_choice\":{\"type\":\"");
            phi__buf_text(&e->scratch, choice == PHI_TOOL_CHOICE_NONE       ? "none\""
                                       : choice == PHI_TOOL_CHOICE_REQUIRED ? "any\""
                                                                            : "auto\"");
        }
        if (phi__takes_serial(e->spec, PHI__TAKES_ALL))
            phi__buf_text(&e->scratch, ",\"disable_parallel_tool_use\":true");
        phi__buf_char(&e->scratch, '}');
        size_t last = e->spec->tool_count; /* the last tool with a schema gets the mark */
        while (last > 0 && (e->spec->tools[last - 1].is_raw || e->spec->tools[last - 1].deferred))
            last--; /* a deferred tool must not have a mark */
        phi__buf_text(out, ",\"tools\":[");
        if (phi__takes_deferred(e->spec))
            phi__buf_text(out, "{\"type\":\"tool_search_tool_bm25_20251119\","
                               "\"name\":\"tool_search_tool_bm25\"},");
        for (size_t i = 0; i < e->spec->tool_count; i++) {
            if (phi__takes_raw(e, i)) continue;
            phi__buf_char(out, '{');
            if (phi__strict_put_tool(e, &e->spec->tools[i], ",\"input_schema\":"))
                phi__buf_text(out, ",\"strict\":true");
            if (e->spec->tools[i].deferred) phi__buf_text(out, ",\"defer_loading\":true");
            if (i + 1 == last && phi__codec_marks(e->spec, PHI__MARK_TOOLS))
                phi__buf_text(out, phi__anthropic_mark(e->spec));
            phi__buf_char(out, '}');
        }
        phi__buf_char(out, ']');
    }
    phi__buf_text(out, ",\"messages\":[");
    phi__encode_scratch(e);
}

static void phi__anthropic_tail(phi__encoder *e) {
    phi__encode_glue(e, e->open_role != (phi_role)0 ? "]}]}" : "]}");
    if (phi__codec_marks(e->spec, PHI__MARK_MESSAGES))
        phi__encode_mark(e, 1, phi__anthropic_mark(e->spec));
}

static bool phi__anthropic_changes_tools(const phi__encoder *e) {
    size_t j;
    for (size_t i = 0; !e->spec->plain && i < e->spec->item_count; i++) {
        const phi_message *m = e->spec->items[i].message;
        for (j = 0; m->is_update && j < m->content_count; j++)
            if (m->content[j].kind == PHI_CONTENT_OPAQUE) return true;
    }
    return false;
}

static void phi__anthropic_address(phi__encoder *e) {
    const phi_model *model = e->spec->model;
    phi_str key = phi__str_trim(phi_str_of(model->api_key));
    phi_str version = phi__anthropic_version(model);
    phi__encode_url(e, "/v1", false, "/messages");
    phi__encode_accept(e, "text/event-stream, application/json");
    phi__encode_header(e, "anthropic-version", version);
    bool bearer = phi__claude_late_version(version) ||
                  phi__str_find(key, 0, "sk-ant-oat") != SIZE_MAX; /* an OAuth token */
    phi__encode_key(e, bearer ? NULL : "x-api-key");
    /* Append to the host's own anthropic-beta header. */
    phi__buf *out = &e->scratch;
    if (!phi__anthropic_changes_tools(e)) return;
    phi__buf_clear(out);
    for (size_t i = 0; i < e->header_count; i++)
        if (phi__str_is_nocase(e->headers[i].name, "anthropic-beta"))
            phi__buf_add_str(out, e->headers[i].value);
    if (phi__str_find(phi__buf_str(out), 0, PHI__ANTHROPIC_TOOLS_BETA) != SIZE_MAX) return;
    if (out->len > 0) phi__buf_char(out, ',');
    phi__buf_text(out, PHI__ANTHROPIC_TOOLS_BETA);
    if (out->failed) e->failed = true;
    phi__encode_header(e, "anthropic-beta", phi__buf_str(out));
    phi__buf_clear(out);
}

/* ---- tools that change in mid-conversation ---- */

/* Only Anthropic itself accepts tool definitions in messages, in beta ("Mid-conversation system
   messages and tool changes", 2026-11-26). Other platforms accept only references. */
enum { PHI__CLAUDE_SEARCHES = 405 };

static bool phi__anthropic_takes_tools(const phi_model *model) {
    return phi__str_is(phi_str_of(model->provider), "anthropic");
}

/* True for Claude 4.5 and later ("Tool search tool", 2026-09-29). */
static bool phi__anthropic_defers(const phi_model *model) {
    return phi__anthropic_takes_tools(model) &&
           phi__claude_of(phi_str_of(model->id)).version >= PHI__CLAUDE_SEARCHES;
}

static void phi__anthropic_put_change(phi__buf *out, const phi__tool_view *tool, bool removed) {
    if (removed) {
        phi__buf_text(out, "{\"type\":\"tool_removal\",\"tool\":{\"type\":\"tool_reference\"");
        phi__records_str(out, "name", tool->name);
        phi__buf_text(out, "}}");
        return;
    }
    phi__buf_text(out, "{\"type\":\"tool_addition\",\"tool\":{\"type\":\"tool_definition\","
                       "\"definition\":{");
    phi__records_str(out, "name", tool->name);
    if (tool->description.len > 0) phi__records_str(out, "description", tool->description);
    phi__buf_wrap(out, ",\"input_schema\":", tool->schema, "}}}");
}

/* ---- the codec ---- */

/* MiniMax, which uses this protocol too, documents only texts and images. */
static uint32_t phi__anthropic_media(const phi_model *model) {
    if (phi__str_is(phi_str_of(model->provider), "minimax")) return 0;
    return PHI__MEDIA_PDF | PHI__MEDIA_URL | PHI__MEDIA_TEXT;
}

static uint32_t phi__anthropic_takes(const phi__request_spec *spec) {
    phi__claude_plan plan = phi__claude_plan_of(spec);
    return phi__claude_takes_of(&plan, phi__anthropic_version(spec->model));
}

/* clang-format off */
static const char *const phi__anthropic_owned[] = {
    "model", "max_tokens", "stream", "system", "messages", "tools", "tool_choice",
    "output_config.format", NULL};

static const phi__codec_settings phi__anthropic_settings = {phi__anthropic_takes, phi__claude_level,
                                                            phi__anthropic_owned, NULL};

static const phi__codec_rules phi__anthropic_rules = {
    NULL, phi__claude_strict_form, NULL, phi__claude_format_way, PHI__SCHEMA_STRICT, NULL,
    phi__claude_unforced, phi__claude_user_last, PHI__RULE_USER_FIRST, phi__anthropic_media, NULL,
    phi__claude_binding, phi__claude_takes_updates, phi__anthropic_takes_tools,
    phi__anthropic_put_change, &phi__anthropic_settings, phi__anthropic_defers};

PHI__FN const phi__codec *phi__anthropic_codec(void) {
    static const phi__codec codec = {
        PHI__NAMES_ANTHROPIC, &phi__anthropic_rules, sizeof(phi__anthropic_state),
        phi__anthropic_head, phi__anthropic_tail, phi__anthropic_address, phi__anthropic_form,
        phi__anthropic_render, phi__anthropic_append, phi__anthropic_stream_event,
        phi__anthropic_end, phi__anthropic_whole, NULL, NULL};
    return &codec;
}
/* clang-format on */
