/* bedrock.c - Amazon Bedrock's ConverseStream.

   As in anthropic.c, each message is rendered once and kept, and the role of messages is written
   around the renderings. The cache mark is a separate block. It is inserted at the end, after the
   last user block. The API accepts calls only together with tools, and it is known only after the
   messages if the history holds calls. So the tools are written last. */
#include "codecs/claude_in.h"
#include "codecs/names_in.h"
#include "codecs/sigv4_in.h"

/* The settings that a message's rendering depends on, as bits of phi__rendered.form. */
enum {
    PHI__BEDROCK_FORM = 3 << 28,
    PHI__BEDROCK_ORIGIN = 1, /* the same model made the message: send reasoning */
    PHI__BEDROCK_NO_IMAGES = 2,
    PHI__BEDROCK_MEDIA = 4, /* the blocks that must follow a result */
    PHI__BEDROCK_ID_9 = 8,
    PHI__BEDROCK_SIGNED = 16, /* send reasoning with its signature */
    PHI__BEDROCK_PROTOCOL =
        32, /* the same protocol made the message: send citations and kept members */
    PHI__BEDROCK_ABANDONED = 64,  /* leave out the server's calls that have no result */
    PHI__BEDROCK_SYSTEM = 128,    /* an update that is a system message */
    PHI__BEDROCK_MEDIA_SHIFT = 16 /* the PHI__MEDIA_ bits are shifted by this */
};

typedef enum phi__bedrock_choice {
    PHI__BEDROCK_INSIDE, /* text, and the blocks that the message may hold */
    PHI__BEDROCK_BEHIND  /* the blocks that a result must not hold: they are sent after it */
} phi__bedrock_choice;

/* The state of a stream's decoder. It starts as zeroed memory. */
typedef struct phi__bedrock_state {
    bool heard;    /* an event came */
    bool got_stop; /* messageStop came */
    bool got_usage;
    bool settled; /* stop reason and usage came, or the stream ended: ignore later frames */
} phi__bedrock_state;

/* ---- documents and their names ----

   The API allows few characters in a document's name and refuses a name that occurs twice in a
   request. A rendering is kept, so the name must not depend on anything that may change later. */

enum {
    PHI__BEDROCK_TITLE_MOST = 60, /* max. bytes of the title in a document's name */
    PHI__BEDROCK_HASHED_MOST =
        1024 /* bytes at each end of a document that are hashed for its name */
};

/* Writes an image, audio or document block of item `at`. `ordinal` is the index of a document among
   the documents. */
static void phi__bedrock_block(phi__encoder *e, const phi_content *c, size_t at, size_t ordinal) {
    bool image = c->kind == PHI_CONTENT_IMAGE, document = c->kind == PHI_CONTENT_DOCUMENT;
    bool text = document && c->data.len == 0;
    size_t slash = phi__str_find(c->mime_type, 0, "/") + 1; /* length of "image/" in "image/png" */
    phi__buf *out = &e->scratch;
    phi__json_write_item(out, image      ? "{\"image\":{"
                              : document ? "{\"document\":{"
                                         : "{\"audio\":{");
    phi__records_str(out, "format",
                     image  ? phi__str_from(c->mime_type, slash)
                     : text ? PHI__LIT("txt")
                            : phi_str_of(phi__render_ending(c->mime_type)));
    if (document) {
        phi__buf_text(out, ",\"name\":\"");
        /* Write letters, digits, hyphens, brackets and single blanks of the title, without an
           ending such as ".pdf". Then write a hash of the title, the document's content, its place
           in the thread and its index in the message. */
        phi_str bytes = c->data.len > 0 ? c->data : c->text;
        size_t len = c->name.len, n = 0,
               ends = phi__min(bytes.len, (size_t)PHI__BEDROCK_HASHED_MOST);
        uint64_t hash = phi__hash(c->name, e->spec->items[at].from * 64 + ordinal);
        char digits[17];
        bool blank = true;
        for (size_t i = len; i > 1 && len - i < 5; i--)
            if (c->name.at[i - 1] == '.') {
                len = i - 1;
                break;
            }
        for (size_t i = 0; i < len && n < PHI__BEDROCK_TITLE_MOST; i++) {
            char ch = c->name.at[i];
            bool fits = phi__is_alnum(ch) || (ch != '\0' && strchr("-()[]", ch) != NULL);
            if (!fits && blank) continue;
            phi__buf_char(out, fits ? ch : ' ');
            blank = !fits;
            n++;
        }
        if (n == 0) phi__buf_text(out, "document");
        if (n == 0 || !blank) phi__buf_char(out, ' ');
        hash = phi__hash(phi__str(bytes.at, ends), hash ^ bytes.len);
        phi__hash_hex(phi__hash(phi__str(bytes.at + bytes.len - ends, ends), hash), digits);
        phi__buf_add(out, digits, 8);
        phi__buf_char(out, '"');
    }
    if (text) {
        phi__buf_text(out, ",\"source\":{");
        phi__render_text_member(e, "text", c->text);
        phi__buf_text(out, "}}}");
    } else
        phi__render_base64(e, ",\"source\":{\"bytes\":\"", c->data, "\"}}}");
}

/* ---- messages as blocks ---- */

/* Mistral's models accept only ids of their own form. */
static phi__id_rule phi__bedrock_id_rule(const phi_model *model) {
    if ((model->quirks & PHI_QUIRK_ID_9) != 0 ||
        phi__str_find_nocase(phi_str_of(model->id), 0, "mistral") != SIZE_MAX)
        return PHI__ID_9;
    return PHI__ID_ANTHROPIC;
}

static void phi__bedrock_text(phi__encoder *e, phi_str text) {
    phi__json_write_item(&e->scratch, "{");
    phi__render_text_member(e, "text", text);
    phi__buf_char(&e->scratch, '}');
}

/* True if the message may hold the block. A result must not hold audio. An error result must hold
   only text. The blocks left out of results are sent after all results. */
static bool phi__bedrock_fits(const phi_message *m, const phi_content *c) {
    return m->role == PHI_ROLE_USER || (!m->is_error && c->kind != PHI_CONTENT_AUDIO);
}

/* Writes the chosen blocks of an item. If there are documents but no text, adds a text. */
static void phi__bedrock_parts(phi__encoder *e, const phi_message *m, size_t at,
                               phi__bedrock_choice choice) {
    size_t documents = 0, sent = 0, texts = 0;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi__render_way way = phi__render_way_to(e, c);
        phi_str line = phi__render_stand_in(e, m, i);
        if (way == PHI__RENDER_BLOCK) {
            size_t ordinal = documents;
            if (c->kind == PHI_CONTENT_DOCUMENT) documents++;
            if (phi__bedrock_fits(m, c) != (choice == PHI__BEDROCK_INSIDE)) continue;
            phi__bedrock_block(e, c, at, ordinal);
            if (c->kind == PHI_CONTENT_DOCUMENT) sent++;
        } else if (choice == PHI__BEDROCK_INSIDE && (way == PHI__RENDER_WORDS || line.len > 0)) {
            phi__json_write_item(&e->scratch, "{\"text\":\"");
            if (line.len > 0)
                phi__render_text(e, line);
            else
                phi__render_said(e, c);
            phi__buf_text(&e->scratch, "\"}");
            texts++;
        } else if (choice == PHI__BEDROCK_INSIDE &&
                   !(m->role == PHI_ROLE_TOOL_RESULT && m->is_error) &&
                   phi__render_is_opaque(e->codec, c))
            phi__render_opaque(e, c);
    }
    if (sent > 0 && texts == 0) phi__bedrock_text(e, PHI__LIT("(see the attached document)"));
}

/* Writes reasoning. Claude requires its signature, other models refuse one. */
static void phi__bedrock_thinking(phi__encoder *e, const phi_content *c, bool is_signed) {
    phi__buf *out = &e->scratch;
    if (is_signed || c->redacted ? c->signature.len == 0 : phi__render_blank(c->text)) return;
    phi__json_write_item(out, "{\"reasoningContent\":{");
    if (c->redacted)
        phi__records_str(out, "redactedContent", c->signature);
    else {
        phi__buf_text(out, "\"reasoningText\":{");
        phi__render_text_member(e, "text", c->text);
        if (is_signed) phi__records_str(out, "signature", c->signature);
        phi__buf_char(out, '}');
    }
    phi__buf_text(out, "}}");
}

static void phi__bedrock_cited(phi__encoder *e, phi_str text, phi_str citations) {
    phi__buf *out = &e->scratch;
    if (!phi__render_cites(e, citations)) {
        phi__bedrock_text(e, text);
        return;
    }
    phi__json_write_item(out, "{\"citationsContent\":{\"content\":[{");
    phi__render_text_member(e, "text", text);
    phi__buf_wrap(out, "}],\"citations\":", citations, "}}");
}

/* True if this type of an opaque block means a call of the server's own tools. */
static bool phi__bedrock_is_server_call(phi_str name) { return phi__str_is(name, "toolUse"); }

static bool phi__bedrock_is_tool(phi_str name) {
    return phi__bedrock_is_server_call(name) || phi__str_is(name, "toolResult");
}

static bool phi__bedrock_sends(const phi__encoder *e, const phi_message *m, size_t block,
                               uint32_t form) {
    static const char *const refs[] = {"toolResult.toolUseId", NULL};
    const phi_content *c = &m->content[block];
    if (!phi__render_is_opaque(e->codec, c)) return false;
    return (form & PHI__BEDROCK_ABANDONED) == 0 || !phi__bedrock_is_server_call(c->name) ||
           phi__render_is_answered(m, block, "toolUse.toolUseId", refs);
}

static bool phi__bedrock_says(const phi__encoder *e, const phi_message *m, size_t block,
                              uint32_t form) {
    const phi_content *c = &m->content[block];
    return phi__codec_is_text(c) || phi__codec_is_call(c) || phi__bedrock_sends(e, m, block, form);
}

/* ---- answers: events, from frames or lines of JSON, to a message ----

   A text or reasoning block has no start event: its first delta opens it. The usage follows the end
   of the message, and the answer is complete when the end and the usage came. Blocks other than
   text, reasoning and calls of the agent's tools are opaque. Their JSON is an object with one
   member, named after the type, and deltas set members inside this member. */

/* The members of an event, as views of its text. */
typedef struct phi__bedrock_event {
    int64_t index;
    phi__json_text text, input, reasoning, signature, redacted; /* members of a delta */
    phi__json_text id, name, tool_type; /* members of a tool use that starts */
    bool starts_tool;
    phi_str citation, result, image; /* members of a delta, as raw JSON */
    phi_str cited;                   /* citationsContent of a whole answer, as raw JSON */
    phi_str start, data;             /* raw JSON: the start of a block; the whole event */
    phi_str object;                  /* arguments of a tool use in a whole answer, as raw JSON */
    phi__json_text stop_reason;
    phi_str usage;
} phi__bedrock_event;

/* ---- reading an event ---- */

/* In a whole answer, text and signature are nested one level deeper. */
static const phi__json_member phi__bedrock_deep_members[] = {
    PHI__MEMBER(phi__bedrock_event, reasoning, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, signature, "signature", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, redacted, "redactedContent", PHI__MEMBER_TEXT),
    PHI__MEMBERS_END};

static const phi__json_member phi__bedrock_reasoning_members[] = {
    PHI__MEMBER(phi__bedrock_event, reasoning, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, signature, "signature", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, redacted, "redactedContent", PHI__MEMBER_TEXT),
    PHI__MEMBER_INSIDE("reasoningText", phi__bedrock_deep_members), PHI__MEMBERS_END};

/* Reads arguments: a string in a delta, an object in a whole answer. */
static void phi__bedrock_take_input(phi__json_cursor *c, void *event) {
    phi__bedrock_event *ev = (phi__bedrock_event *)event;
    if (phi__json_cursor_peek(c) == PHI_JSON_OBJECT)
        (void)phi__json_cursor_take_raw(c, &ev->object);
    else
        (void)phi__json_cursor_take_text(c, &ev->input);
}

static const phi__json_member phi__bedrock_tool_members[] = {
    PHI__MEMBER(phi__bedrock_event, id, "toolUseId", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, name, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, tool_type, "type", PHI__MEMBER_TEXT),
    PHI__MEMBER_TAKE_ALL("input", phi__bedrock_take_input), PHI__MEMBERS_END};

static void phi__bedrock_take_tool(phi__json_cursor *c, void *event) {
    phi__bedrock_event *ev = (phi__bedrock_event *)event;
    ev->starts_tool = ev->starts_tool || phi__json_cursor_peek(c) == PHI_JSON_OBJECT;
    (void)phi__json_members_take(c, phi__bedrock_tool_members, ev);
}

/* The members of a delta, of a block's start, and of a block in a whole answer. */
static const phi__json_member phi__bedrock_block_members[] = {
    PHI__MEMBER(phi__bedrock_event, text, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER_TAKE_ALL("toolUse", phi__bedrock_take_tool),
    PHI__MEMBER_INSIDE("reasoningContent", phi__bedrock_reasoning_members),
    PHI__MEMBER(phi__bedrock_event, citation, "citation", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__bedrock_event, result, "toolResult", PHI__MEMBER_SOME),
    PHI__MEMBER(phi__bedrock_event, image, "image", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__bedrock_event, cited, "citationsContent", PHI__MEMBER_OBJECT),
    PHI__MEMBERS_END};

static void phi__bedrock_take_start(phi__json_cursor *c, void *event) {
    phi__bedrock_event *ev = (phi__bedrock_event *)event;
    if (phi__json_cursor_take_raw(c, &ev->start))
        (void)phi__json_members_read(ev->start, phi__bedrock_block_members, ev, NULL);
}

static const phi__json_member phi__bedrock_event_members[] = {
    PHI__MEMBER(phi__bedrock_event, index, "contentBlockIndex", PHI__MEMBER_I64),
    PHI__MEMBER_INSIDE("delta", phi__bedrock_block_members),
    PHI__MEMBER_TAKE_ALL("start", phi__bedrock_take_start),
    PHI__MEMBER(phi__bedrock_event, stop_reason, "stopReason", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__bedrock_event, usage, "usage", PHI__MEMBER_RAW),
    PHI__MEMBERS_END};

static bool phi__bedrock_read(phi__bedrock_event *ev, phi_str data) {
    memset(ev, 0, sizeof *ev);
    ev->data = data;
    return phi__json_members_read(data, phi__bedrock_event_members, ev, NULL);
}

static const phi__json_member phi__bedrock_usage_members[] = {
    PHI__MEMBER(phi_usage, input, "inputTokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, output, "outputTokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_read, "cacheReadInputTokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_write, "cacheWriteInputTokens", PHI__MEMBER_U64),
    PHI__MEMBERS_END};

static void phi__bedrock_usage(phi__assembly *a, phi_str raw) {
    (void)phi__json_members_read(raw, phi__bedrock_usage_members, &a->usage, NULL);
}

/* After a reason that begins with "malformed_", another try may succeed. */
static const phi__stop_word phi__bedrock_stop_words[] = {
    {"end_turn\0stop_sequence\0", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false},
    {"tool_use\0", PHI_STOP_REASON_TOOL_USE, PHI_FAILURE_NONE, false},
    {"max_tokens\0model_context_window_exceeded\0", PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE,
     false},
    {"guardrail_intervened\0content_filtered\0refusal\0", PHI_STOP_REASON_GUARD_RAIL,
     PHI_FAILURE_CONTENT_FILTER, false},
    {"malformed_*\0", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true}};

static bool phi__bedrock_calls_open(const phi__assembly *a) {
    for (size_t i = 0; i < a->count; i++)
        if (a->drafts[i].open && a->drafts[i].kind == PHI_CONTENT_TOOL_CALL) return true;
    return false;
}

/* Ends the answer. A bad stop reason becomes a failure only here, because the usage comes after it,
   and nothing is read after a failure. */
static void phi__bedrock_settle(phi__bedrock_state *st, phi__assembly *a) {
    const phi__json_text none = {NULL, 0, false};
    st->settled = a->terminal = a->last = true;
    phi__classify_stop(a, phi__bedrock_stop_words, PHI__COUNT(phi__bedrock_stop_words), none);
}

static size_t phi__bedrock_find_or_open(phi__assembly *a, int64_t index, phi_content_kind kind) {
    size_t block = phi__assembly_find(a, index);
    if (block != SIZE_MAX && a->drafts[block].kind == kind) return block;
    return phi__assembly_open(a, kind, index);
}

static void phi__bedrock_add_signature(phi__assembly *a, size_t block, phi__json_text text,
                                       bool redacted) {
    if (text.at == NULL || block == SIZE_MAX) return;
    if (redacted) a->drafts[block].redacted = true;
    phi__assembly_sign(a, block, text);
}

/* ---- opaque blocks ---- */

/* Returns the name of an object's first member, or an empty string. */
static phi_str phi__bedrock_member(phi_str object) {
    phi__json_cursor c;
    phi__json_text key;
    phi__json_cursor_init(&c, object);
    if (!phi__json_cursor_enter_object(&c) || !phi__json_cursor_next_key(&c, &key))
        return phi__str(NULL, 0);
    return phi__str(key.at, key.len);
}

static void phi__bedrock_close(phi__assembly *a, size_t block) {
    phi_str empty = {NULL, 0}, value;
    const char *member = NULL;
    if (block == SIZE_MAX || !a->drafts[block].open) return;
    phi__draft *d = &a->drafts[block];
    phi_str name = phi__buf_str(&d->name);
    if (d->kind == PHI_CONTENT_TOOL_CALL) {
        phi__assembly_close_call(a, block, empty);
        return;
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

/* Opens an opaque block for a delta of an unknown kind that no start event precedes. */
static void phi__bedrock_unknown_delta(phi__assembly *a, const phi__bedrock_event *ev) {
    phi__json_found delta;
    if (phi__json_cursor_find(ev->data, "delta", &delta) != PHI_OK || delta.type != PHI_JSON_OBJECT)
        return;
    phi_str name = phi__bedrock_member(delta.raw);
    if (name.len == 0 || phi__assembly_find(a, ev->index) != SIZE_MAX) return;
    size_t block = phi__assembly_opaque(a, name, delta.raw, ev->index, true);
    if (block != SIZE_MAX) phi__assembly_set(a, &a->drafts[block].id, PHI__LIT("delta"));
}

/* ---- starts and deltas ---- */

static void phi__bedrock_delta(phi__assembly *a, const phi__bedrock_event *ev) {
    if (ev->text.at != NULL) {
        phi__assembly_add_text(a, phi__bedrock_find_or_open(a, ev->index, PHI_CONTENT_TEXT),
                               ev->text);
        return;
    }
    size_t block = phi__assembly_find(a, ev->index);
    if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_OPAQUE) {
        /* A delta of an opaque block. If the block has no member for it, the delta is ignored. */
        phi__draft *d = &a->drafts[block];
        phi_str name = phi__buf_str(&d->name);
        if (!d->open) return;
        if (d->id.len > 0)
            d->incomplete = true; /* a block without a start: its deltas cannot be joined */
        else if (phi__str_is(name, "toolUse"))
            phi__assembly_add_text(a, block, ev->input);
        else if (phi__str_is(name, "toolResult") && ev->result.len > 0) {
            /* Append the items of the result. */
            phi_str list = ev->result;
            phi__buf *bytes = &a->drafts[block].bytes;
            phi__json_cursor c;
            phi_str item;
            phi__json_cursor_init(&c, list);
            if (list.at[0] == '{')
                phi__opaque_push(bytes, list);
            else if (phi__json_cursor_enter_array(&c))
                while (phi__json_cursor_next_raw(&c, &item)) phi__opaque_push(bytes, item);
            if (bytes->failed) a->no_memory = true;
        } else if (phi__str_is(name, "image") && ev->image.len > 0) {
            /* Set each member of the delta in the block. */
            phi__json_cursor c;
            phi__json_text key;
            phi_str value;
            if (!phi__json_cursor_in_object(&c, ev->image)) return;
            while (phi__json_cursor_next_key(&c, &key))
                if (phi__json_cursor_take_raw(&c, &value))
                    phi__assembly_opaque_set(a, block, PHI__LIT("image"), phi__str(key.at, key.len),
                                             value);
        }
        return;
    }
    if (ev->input.len > 0) { /* the arguments of a call that has started */
        if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_TOOL_CALL)
            phi__assembly_add_text(a, block, ev->input);
    }
    if (ev->citation.len > 0) {
        phi__assembly_cite(a, phi__bedrock_find_or_open(a, ev->index, PHI_CONTENT_TEXT),
                           ev->citation);
        return;
    }
    if (ev->reasoning.at == NULL && ev->signature.at == NULL && ev->redacted.at == NULL) {
        if (!ev->starts_tool) phi__bedrock_unknown_delta(a, ev);
        return;
    }
    block = phi__bedrock_find_or_open(a, ev->index, PHI_CONTENT_THINKING);
    phi__assembly_add_text(a, block, ev->reasoning);
    phi__bedrock_add_signature(a, block, ev->signature, false);
    phi__bedrock_add_signature(a, block, ev->redacted, true);
}

/* Opens the block that an event starts. SIZE_MAX if the event starts none or memory ran out. */
static size_t phi__bedrock_start(phi__assembly *a, const phi__bedrock_event *ev) {
    phi_str name = phi__bedrock_member(ev->start);
    if (ev->starts_tool && !PHI__TEXT_IS(ev->tool_type, "server_tool_use")) {
        /* A call of the agent's tools. Members that phi does not know are kept and sent back. */
        static const char *const known[] = {"toolUseId", "name", "input", NULL};
        phi_str inner;
        size_t block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, ev->index);
        if (block == SIZE_MAX) return block;
        phi__draft *d = &a->drafts[block];
        phi__assembly_put(a, &d->id, ev->id);
        phi__assembly_put(a, &d->name, ev->name);
        if (!phi__opaque_find(ev->start, PHI__LIT("toolUse"), &inner)) return block;
        phi__assembly_rest(a, block, inner, known);
        return block;
    }
    if (name.len == 0 || phi__str_is(name, "text") || phi__str_is(name, "reasoningContent") ||
        phi__str_is(name, "citationsContent"))
        return SIZE_MAX;
    return phi__assembly_opaque(a, name, ev->start, ev->index, true);
}

/* Handles the stop reason. If a call is still open, the call was cut, and the answer has no end. */
static void phi__bedrock_stop(phi__bedrock_state *st, phi__assembly *a, phi__json_text reason) {
    if (reason.at == NULL) return;
    phi__assembly_put(a, &a->raw_stop_reason, reason);
    st->got_stop = true;
    /* Close opaque blocks whose end the stream left out. */
    for (size_t i = 0; i < a->count; i++)
        if (a->drafts[i].kind == PHI_CONTENT_OPAQUE) phi__bedrock_close(a, i);
    a->terminal = !phi__bedrock_calls_open(a);
    (void)phi__classify_reason(a, phi__bedrock_stop_words, PHI__COUNT(phi__bedrock_stop_words));
}

/* ---- exceptions and errors ---- */

static int phi__bedrock_status(phi_str type) {
    static const struct phi__bedrock_statuses {
        int status;
        const char *types[4];
    } table[] = {
        {429, {"throttlingException", "modelNotReadyException", "serviceQuotaExceededException"}},
        {500, {"internalServerException", "internalFailure"}},
        {503, {"serviceUnavailableException", "serviceUnavailable"}},
        {424, {"modelStreamErrorException", "modelErrorException"}},
        {408, {"modelTimeoutException"}},
        {400, {"validationException"}},
        {409, {"conflictException"}},
        {404, {"resourceNotFoundException"}},
        {403, {"accessDeniedException", "expiredTokenException", "unrecognizedClientException"}}};
    for (size_t i = 0; i < PHI__COUNT(table); i++)
        for (size_t k = 0; table[i].types[k] != NULL; k++)
            if (phi__str_is_nocase(type, table[i].types[k])) return table[i].status;
    return 0;
}

/* Fails the answer with an exception's JSON or an error's plain text, as with an HTTP error. */
static void phi__bedrock_trouble(phi__assembly *a, phi_str type, phi_str data) {
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi__buf header, body;
    phi_failure failure;
    phi__buf_init(&header, a->memory);
    phi__buf_init(&body, a->memory);
    phi__buf_wrap(&header, "x-amzn-errortype: ", type, "");
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
        phi__classify(NULL, phi__bedrock_status(type), phi__buf_str(&header), phi__buf_str(&body),
                      &a->scratch, &failure);
        failure.http_status = 0; /* the error came inside an answer */
        phi__assembly_fail_with(a, &failure);
    }
    phi__buf_free(&header);
    phi__buf_free(&body);
    phi_arena_reset(&a->scratch, mark);
}

/* Handles an event. The payload of an unknown event or of messageStart may be empty or no JSON, so
   it is not read. After the stop reason only the usage counts. */
static void phi__bedrock_take(phi__bedrock_state *st, phi__assembly *a, phi_str name,
                              phi_str data) {
    static const char *const names[] = {"contentBlockDelta",
                                        "contentBlockStart",
                                        "contentBlockStop",
                                        "messageStart",
                                        "messageStop",
                                        "metadata",
                                        NULL};
    bool late = st->got_stop, usage = phi__str_is(name, "metadata");
    phi__bedrock_event ev;
    if (!phi__codec_among(name, names)) return;
    st->heard = true;
    if (late && !usage) return;
    if (phi__str_is(name, "messageStart"))
        phi__assembly_start(a);
    else if (!phi__bedrock_read(&ev, data)) {
        if (!late) phi__classify_bad_event(a);
    } else if (phi__str_is(name, "contentBlockDelta"))
        phi__bedrock_delta(a, &ev);
    else if (phi__str_is(name, "contentBlockStart"))
        (void)phi__bedrock_start(a, &ev);
    else if (phi__str_is(name, "contentBlockStop"))
        phi__bedrock_close(a, phi__assembly_find(a, ev.index));
    else if (usage) {
        phi__bedrock_usage(a, ev.usage);
        st->got_usage = true;
        if (late) phi__bedrock_settle(st, a);
    } else {
        phi__bedrock_stop(st, a, ev.stop_reason);
        if (st->got_stop && st->got_usage) phi__bedrock_settle(st, a);
    }
}

/* Reads a line such as {"contentBlockDelta":{...}}, an exception, or a gateway's error. */
static void phi__bedrock_line(phi__bedrock_state *st, phi__assembly *a, phi_str data) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str name, inner;
    bool late = st->got_stop;
    if (phi__json_cursor_in_object(&c, data))
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
            else if (phi__str_ends(name, "Exception")) {
                if (!late) phi__bedrock_trouble(a, name, inner);
            } else
                phi__bedrock_take(st, a, name, inner);
        }
    if (!late && !phi__json_cursor_done(&c)) phi__classify_bad_event(a);
}

/* ---- a whole answer ---- */

/* Opens a text block with its citations. The parts of the text are joined. */
static void phi__bedrock_whole_cited(phi__assembly *a, const phi__bedrock_event *ev) {
    size_t block = phi__assembly_open(a, PHI_CONTENT_TEXT, ev->index);
    phi__json_found found;
    phi__json_cursor c;
    if (block == SIZE_MAX) return;
    if (phi__json_cursor_find(ev->cited, "citations", &found) == PHI_OK &&
        found.type == PHI_JSON_ARRAY)
        phi__assembly_set(a, &a->drafts[block].citations, found.raw);
    if (phi__json_cursor_find(ev->cited, "content", &found) != PHI_OK) return;
    if (!phi__json_cursor_in_array(&c, found.raw)) return;
    while (phi__json_cursor_next_item(&c)) {
        phi__bedrock_event part = PHI_ZERO;
        (void)phi__json_members_take(&c, phi__bedrock_block_members, &part);
        phi__assembly_add_text(a, block, part.text);
    }
}

/* Reads an answer of Converse that was not streamed. False if the body is no such answer. */
static bool phi__bedrock_answer(phi__bedrock_state *st, phi__assembly *a, phi_str body) {
    phi__json_found content, found;
    phi__json_cursor c;
    phi__json_text stop = {NULL, 0, false};
    if (phi__json_cursor_find(body, "output.message.content", &content) != PHI_OK) return false;
    phi__assembly_start(a);
    phi__json_cursor_init(&c, content.raw);
    phi__bedrock_event ev;
    if (phi__json_cursor_enter_array(&c)) {
        while (phi__json_cursor_next_item(&c)) {
            memset(&ev, 0, sizeof ev);
            ev.index = (int64_t)a->count;
            phi__bedrock_take_start(&c, &ev);
            size_t block = phi__bedrock_start(a, &ev);
            if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_TOOL_CALL)
                phi__assembly_add(a, block, ev.object);
            else if (block == SIZE_MAX && ev.cited.len > 0)
                phi__bedrock_whole_cited(a, &ev);
            else if (block == SIZE_MAX)
                phi__bedrock_delta(a, &ev);
            phi__bedrock_close(a, phi__assembly_find(a, ev.index));
        }
    }
    if (phi__json_cursor_find(body, "usage", &found) == PHI_OK) phi__bedrock_usage(a, found.raw);
    if (phi__json_cursor_find(body, "stopReason", &found) == PHI_OK &&
        found.type == PHI_JSON_STRING) {
        stop.at = found.raw.at;
        stop.len = found.raw.len;
        stop.escaped = found.escaped;
    }
    phi__bedrock_stop(st, a, stop);
    st->heard = true;
    return true;
}

/* ---- for the codec ---- */

/* Reads an event. `name` is the event's type, or '!' and an exception's type. If `name` is empty,
   the JSON has the type. */
static void phi__bedrock_stream_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    phi__bedrock_state *st = (phi__bedrock_state *)state;
    if (a->no_memory || st->settled || a->failure.kind != PHI_FAILURE_NONE) return;
    if (name.len > 0 && name.at[0] == '!') {
        if (!st->got_stop) phi__bedrock_trouble(a, phi__str_from(name, 1), data);
    } else if (name.len == 0)
        phi__bedrock_line(st, a, data);
    else
        phi__bedrock_take(st, a, name, data);
}

static void phi__bedrock_end(void *state, phi__assembly *a) {
    phi__bedrock_state *st = (phi__bedrock_state *)state;
    if (st->settled || a->failure.kind != PHI_FAILURE_NONE) return;
    /* only the usage is missing */
    if (st->got_stop && !phi__bedrock_calls_open(a))
        phi__bedrock_settle(st, a);
    else
        phi__classify_truncated(a, st->heard);
}

/* Reads one JSON answer, or lines that were sent with the content type of JSON. */
static void phi__bedrock_whole(void *state, phi__assembly *a, phi_str body) {
    phi__bedrock_state *st = (phi__bedrock_state *)state;
    const phi__framing *framing = phi__frames_framing();
    phi__frames lines;
    phi__frame line;
    body = phi__str_trim(body);
    if (!phi__bedrock_answer(st, a, body)) {
        framing->init(&lines, a->memory, 0);
        framing->feed(&lines, body.at, body.len);
        while (body.len > 0 && body.at[0] == '{' && framing->next(&lines, &line) > 0)
            phi__bedrock_stream_event(st, a, line.name, line.payload);
        framing->free(&lines);
    }
    if (st->heard)
        phi__bedrock_end(state, a);
    else if (a->failure.kind == PHI_FAILURE_NONE)
        phi__classify_body(a, body);
}

/* ---- requests ---- */

#define PHI__BEDROCK_MARK ",{\"cachePoint\":{\"type\":\"default\"}}"
#define PHI__BEDROCK_MARK_INSIDE "},{\"cachePoint\":{\"type\":\"default\"}"
#define PHI__BEDROCK_MARK_HOUR ",{\"cachePoint\":{\"type\":\"default\",\"ttl\":\"1h\"}}"
#define PHI__BEDROCK_MARK_HOUR_INSIDE "},{\"cachePoint\":{\"type\":\"default\",\"ttl\":\"1h\"}"

/* True if the model is a Claude. If an ARN hides the name, Claude's quirks decide. */
static bool phi__bedrock_claude(const phi_model *model) {
    return phi__str_find_nocase(phi_str_of(model->id), 0, "claude") != SIZE_MAX ||
           (model->quirks & (PHI_QUIRK_ADAPTIVE_THINKING | PHI_QUIRK_CACHE_CONTROL)) != 0;
}

static bool phi__bedrock_id_has(const phi__encoder *e, const char *word) {
    return phi__str_find_nocase(phi_str_of(e->spec->model->id), 0, word) != SIZE_MAX;
}

static bool phi__bedrock_is_claude(const phi__encoder *e) {
    return phi__bedrock_claude(e->spec->model);
}

/* True if a cache mark is wanted and accepted. Claude accepts marks since 3.5, except in the first
   3.5 Sonnet. Other models refuse them. */
static bool phi__bedrock_marks(const phi__encoder *e, phi__mark mark) {
    if (!phi__codec_marks(e->spec, mark)) return false;
    if ((e->spec->model->quirks & PHI_QUIRK_CACHE_CONTROL) != 0) return true;
    return phi__claude_of(phi_str_of(e->spec->model->id)).version >= 305 &&
           !phi__bedrock_id_has(e, "3-5-sonnet-20240620");
}

/* True if cache marks last an hour. Claude accepts such marks since 4.5. For an ARN the host's
   setting decides. */
static bool phi__bedrock_hour(const phi__encoder *e) {
    uint32_t version = phi__claude_of(phi_str_of(e->spec->model->id)).version;
    return e->spec->cache.one_hour && (version >= 405 || version == 0);
}

static const char *phi__bedrock_mark(const phi__encoder *e) {
    return phi__bedrock_hour(e) ? PHI__BEDROCK_MARK_HOUR : PHI__BEDROCK_MARK;
}

static bool phi__bedrock_has_behind(const phi__encoder *e, const phi_message *m) {
    for (size_t i = 0; i < m->content_count; i++)
        if (phi__render_way_to(e, &m->content[i]) == PHI__RENDER_BLOCK &&
            !phi__bedrock_fits(m, &m->content[i]))
            return true;
    return false;
}

static uint32_t phi__bedrock_form(const phi__encoder *e, size_t at, bool after) {
    const phi_message *m = e->spec->items[at].message;
    uint32_t form = PHI__BEDROCK_FORM;
    if (after && !phi__bedrock_has_behind(e, m)) return 0;
    if (after) form |= PHI__BEDROCK_MEDIA;
    if (phi__bedrock_id_rule(e->spec->model) == PHI__ID_9) form |= PHI__BEDROCK_ID_9;
    if (m->role != PHI_ROLE_ASSISTANT) {
        if (phi__encode_is_system(e, at)) form |= PHI__BEDROCK_SYSTEM;
        if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) form |= PHI__BEDROCK_NO_IMAGES;
        return form | e->media << PHI__BEDROCK_MEDIA_SHIFT;
    }
    if (phi__prefix_sends(e, at)) {
        form |= PHI__BEDROCK_ORIGIN;
        if (phi__bedrock_is_claude(e)) form |= PHI__BEDROCK_SIGNED;
    }
    if (phi__render_same_protocol(e, at)) form |= PHI__BEDROCK_PROTOCOL;
    /* after the user has spoken, missing results will not come: leave out their calls */
    if (phi__render_any_opaque(e, m, phi__bedrock_is_server_call) &&
        phi__render_user_follows(e, at))
        form |= PHI__BEDROCK_ABANDONED;
    return form;
}

/* Writes a result, which is never empty. An error result holds only text. */
static void phi__bedrock_result(phi__encoder *e, const phi_message *m, size_t at) {
    phi__buf *out = &e->scratch;
    phi__render_id(out, "{\"toolResult\":{\"toolUseId\":", m->tool_call_id,
                   phi__bedrock_id_rule(e->spec->model));
    phi__buf_text(out, m->is_error ? ",\"status\":\"error\",\"content\":["
                                   : ",\"status\":\"success\",\"content\":[");
    size_t empty = out->len;
    phi__bedrock_parts(e, m, at, PHI__BEDROCK_INSIDE);
    if (out->len == empty) phi__bedrock_text(e, PHI__LIT("(no output)"));
    phi__buf_text(out, "]}}");
}

/* Writes an answer without the reasoning at its end: a message must not end with reasoning. */
static void phi__bedrock_turn(phi__encoder *e, const phi_message *m, uint32_t form) {
    bool whole = (form & PHI__BEDROCK_PROTOCOL) != 0;
    phi__buf *out = &e->scratch;
    size_t end = m->content_count;
    while (end > 0 && !phi__bedrock_says(e, m, end - 1, form)) end--;
    for (size_t i = 0; i < end; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_THINKING && (form & PHI__BEDROCK_ORIGIN) != 0)
            phi__bedrock_thinking(e, c, (form & PHI__BEDROCK_SIGNED) != 0);
        else if (!phi__bedrock_says(e, m, i, form))
            continue;
        else if (c->kind == PHI_CONTENT_TEXT)
            phi__bedrock_cited(e, i + 1 == end ? phi__render_trim_end(c->text) : c->text,
                               whole ? c->citations : phi__str(NULL, 0));
        else if (c->kind == PHI_CONTENT_TOOL_CALL) {
            phi__json_write_comma(out);
            phi__render_id(out, "{\"toolUse\":{\"toolUseId\":", c->id,
                           phi__bedrock_id_rule(e->spec->model));
            phi__render_name(out, ",\"name\":", c->name, 64);
            phi__buf_wrap(out, ",\"input\":", phi__render_arguments(e, c->arguments), "");
            if (whole) phi__render_rest(e, c->replay);
            phi__buf_text(out, "}}");
        } else if (c->kind == PHI_CONTENT_OPAQUE)
            phi__render_opaque(e, c);
    }
}

static void phi__bedrock_render(phi__encoder *e, const phi_message *m, size_t at, uint32_t form) {
    if ((form & PHI__BEDROCK_MEDIA) != 0)
        phi__bedrock_parts(e, m, at, PHI__BEDROCK_BEHIND);
    else if (m->role == PHI_ROLE_USER)
        phi__bedrock_parts(e, m, at, PHI__BEDROCK_INSIDE);
    else if (m->role == PHI_ROLE_TOOL_RESULT)
        phi__bedrock_result(e, m, at);
    else
        phi__bedrock_turn(e, m, form);
}

static void phi__bedrock_append(phi__encoder *e, const phi_message *m, size_t at, uint32_t form,
                                phi_str blocks) {
    (void)at;
    /* The API accepts the server's tool uses and results only in a request with tools. */
    e->had_calls = e->had_calls || phi__render_any_opaque(e, m, phi__bedrock_is_tool);
    if (blocks.len == 0) return;
    phi__claude_append(e, m, (form & PHI__BEDROCK_SYSTEM) != 0, blocks);
    if (e->open_role == PHI_ROLE_USER && e->count > 0) e->mark_piece = e->count - 1;
}

/* ---- around the messages ---- */

/* Claude accepts the same settings as at Anthropic. Other models accept no top_k here. OpenAI's
   models refuse stop texts, and all but gpt-oss refuse sampling settings. */
static uint32_t phi__bedrock_takes(const phi__request_spec *spec) {
    phi_str id = phi_str_of(spec->model->id);
    phi__claude_plan plan;
    if (phi__bedrock_claude(spec->model)) {
        plan = phi__claude_plan_of(spec);
        return phi__claude_takes_of(&plan, PHI__LIT(""));
    }
    if (phi__str_find_nocase(id, 0, "gpt-oss") != SIZE_MAX)
        return PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P | PHI__TAKES_TIER;
    if (phi__str_find_nocase(id, 0, "openai.") != SIZE_MAX) return PHI__TAKES_TIER;
    return PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P | PHI__TAKES_STOP | PHI__TAKES_TIER;
}

/* True if a tool_choice in Claude's own form is sent instead of toolConfig.toolChoice. */
static bool phi__bedrock_serial(const phi__request_spec *spec) {
    return phi__bedrock_claude(spec->model) && phi__takes_serial(spec, PHI__TAKES_ALL);
}

/* Writes the fields that the API passes on to the model: Claude's thinking, gpt-oss's effort. */
static void phi__bedrock_put_fields(phi__encoder *e, const phi__claude_plan *plan) {
    phi__buf *out = &e->scratch;
    size_t before = out->len;
    const phi__request_spec *spec = e->spec;
    phi__buf_text(out, ",\"additionalModelRequestFields\":");
    size_t from = out->len;
    if (phi__bedrock_is_claude(e)) {
        phi__claude_put_thinking(e, plan);
        phi__claude_put_config(e, plan, false);
        if (plan->budget > 0 && plan->claude.version >= 400)
            phi__buf_text(out, ",\"anthropic_beta\":[\"interleaved-thinking-2025-05-14\"]");
        if (spec->options.top_k > 0 &&
            (phi__claude_takes_of(plan, PHI__LIT("")) & PHI__TAKES_TOP_K) != 0) {
            phi__buf_text(out, ",\"top_k\":");
            phi__buf_u64(out, spec->options.top_k);
        }
        bool forced = e->spec->tool_choice == PHI_TOOL_CHOICE_REQUIRED && !plan->thinks &&
                      !plan->claude.no_forced_tool;
        if (phi__bedrock_serial(e->spec)) {
            phi__buf_text(&e->scratch, ",\"tool_choice\":{\"type\":");
            phi__buf_text(&e->scratch, !forced ? "\"auto\""
                                       : e->spec->respond_only
                                           ? "\"tool\",\"name\":\"" PHI_RESPOND_TOOL "\""
                                           : "\"any\"");
            phi__buf_text(&e->scratch, ",\"disable_parallel_tool_use\":true}");
        }
    } else if (phi__bedrock_id_has(e, "gpt-oss") && spec->model->reasoning &&
               spec->thinking != PHI_THINKING_OFF)
        phi__buf_text(out, spec->thinking >= PHI_THINKING_HIGH ? ",\"reasoning_effort\":\"high\""
                           : spec->thinking == PHI_THINKING_MEDIUM
                               ? ",\"reasoning_effort\":\"medium\""
                               : ",\"reasoning_effort\":\"low\"");
    if (out->failed) return;
    if (out->len == from) { /* no field was written */
        out->len = before;
        return;
    }
    out->at[from] = '{'; /* replaces the first comma */
    phi__buf_char(out, '}');
}

static phi__claude_plan phi__bedrock_plan(const phi__encoder *e) {
    phi__claude_plan plan = phi__claude_plan_now(e);
    if (phi__bedrock_is_claude(e)) return plan;
    memset(&plan, 0, sizeof plan); /* budgets, and the tokens added for them, are for Claude only */
    plan.max_tokens = phi__takes_tokens(e->spec);
    if (plan.max_tokens == 0) plan.max_tokens = PHI__TAKES_TOKENS;
    return plan;
}

static void phi__bedrock_head(phi__encoder *e) {
    static const phi__takes_keys keys = {"temperature", "topP", NULL, "stopSequences", NULL, NULL};
    const phi__request_spec *spec = e->spec;
    phi__claude_plan plan = phi__bedrock_plan(e);
    phi__buf *out = &e->scratch;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    if (!phi__render_blank(spec->system_prompt)) {
        phi__buf_text(out, "\"system\":[{");
        phi__records_str(out, "text", spec->system_prompt);
        phi__buf_char(out, '}');
        if (phi__bedrock_marks(e, PHI__MARK_SYSTEM)) phi__buf_text(out, phi__bedrock_mark(e));
        phi__buf_text(out, "],");
    }
    phi__buf_text(out, "\"inferenceConfig\":{\"maxTokens\":");
    phi__buf_u64(out, plan.max_tokens);
    phi__takes_put(e, &keys,
                   phi__bedrock_is_claude(e) ? phi__claude_takes_of(&plan, PHI__LIT(""))
                                             : phi__bedrock_takes(spec));
    phi__buf_char(out, '}');
    if (spec->options.service_tier != NULL) {
        phi__buf_text(out, ",\"serviceTier\":{");
        phi__records_str(out, "type", phi_str_of(spec->options.service_tier));
        phi__buf_char(out, '}');
    }
    /* The schema is a JSON string that holds JSON. */
    const phi_format *format = &e->spec->format;
    if (format->kind == PHI_FORMAT_JSON_SCHEMA) {
        phi__buf_text(out, ",\"outputConfig\":{\"textFormat\":{\"type\":\"json_schema\","
                           "\"structure\":{\"jsonSchema\":{");
        phi__records_str(out, "schema", phi_str_of(format->schema));
        phi__records_str(out, "name", phi_str_of(format->name));
        phi__buf_text(out, "}}}}");
    }
    phi__bedrock_put_fields(e, &plan);
    phi__buf_text(out, ",\"messages\":[");
    phi__encode_scratch(e);
}

static void phi__bedrock_put_tool(phi__encoder *e, const phi__tool_view *tool) {
    phi__buf_text(&e->scratch, "{\"toolSpec\":{");
    bool strict = phi__strict_put_tool(e, tool, ",\"inputSchema\":{\"json\":");
    phi__buf_text(&e->scratch, strict ? "},\"strict\":true}}" : "}}}");
}

/* Writes the tools. If the history has calls, the API refuses a request without tools, so a
   placeholder is sent. The API has no tool choice "none". "auto" is its default, and is written
   only for Claude, because only some models know the field. */
static void phi__bedrock_put_tools(phi__encoder *e) {
    const phi__request_spec *spec = e->spec;
    phi__claude_plan plan = phi__bedrock_plan(e);
    phi__buf *out = &e->scratch;
    if (!e->had_calls && (spec->tool_count == 0 || spec->tool_choice == PHI_TOOL_CHOICE_NONE))
        return;
    phi__buf_text(out, ",\"toolConfig\":{\"tools\":[");
    for (size_t i = 0; i < spec->tool_count; i++)
        if (!phi__takes_raw(e, i)) phi__bedrock_put_tool(e, &spec->tools[i]);
    if (spec->tool_count == 0) {
        phi__tool_view none = PHI_ZERO;
        none.name = PHI__LIT("no_tool");
        none.description = PHI__LIT("A placeholder: there are no tools now.");
        phi__bedrock_put_tool(e, &none);
    }
    if (phi__bedrock_marks(e, PHI__MARK_TOOLS)) phi__buf_text(out, phi__bedrock_mark(e));
    phi__buf_char(out, ']');
    if (spec->tool_count > 0 && !phi__bedrock_serial(spec)) {
        if (spec->tool_choice == PHI_TOOL_CHOICE_REQUIRED && !plan.thinks &&
            !plan.claude.no_forced_tool)
            phi__buf_text(out, spec->respond_only
                                   ? ",\"toolChoice\":{\"tool\":{\"name\":\"" PHI_RESPOND_TOOL
                                     "\"}}"
                                   : ",\"toolChoice\":{\"any\":{}}");
        else if (phi__bedrock_is_claude(e))
            phi__buf_text(out, ",\"toolChoice\":{\"auto\":{}}");
    }
    phi__buf_char(out, '}');
}

static void phi__bedrock_tail(phi__encoder *e) {
    phi__buf_clear(&e->scratch);
    phi__buf_text(&e->scratch, e->open_role != (phi_role)0 ? "]}]" : "]");
    phi__bedrock_put_tools(e);
    phi__buf_char(&e->scratch, '}');
    phi__encode_scratch(e);
    if (phi__bedrock_marks(e, PHI__MARK_MESSAGES))
        phi__encode_mark(
            e, 1, phi__bedrock_hour(e) ? PHI__BEDROCK_MARK_HOUR_INSIDE : PHI__BEDROCK_MARK_INSIDE);
}

/* ---- address and keys ---- */

/* Splits "ACCESS:SECRET[:TOKEN]". False if there is no key, or a Bedrock API key (without a
   colon). */
static bool phi__bedrock_keys(const phi__encoder *e, phi__sigv4 *s) {
    phi_str key = phi__str_trim(phi_str_of(e->spec->model->api_key));
    size_t first = phi__str_find(key, 0, ":");
    if (first == SIZE_MAX) return false;
    size_t second = phi__str_find(key, first + 1, ":");
    s->access_key = phi__str(key.at, first);
    s->secret = phi__str(key.at + first + 1, (second == SIZE_MAX ? key.len : second) - first - 1);
    if (second != SIZE_MAX) s->token = phi__str_from(key, second + 1);
    return true;
}

static void phi__bedrock_address(phi__encoder *e) {
    phi__sigv4 keys = PHI_ZERO;
    phi_str path;
    phi__buf_clear(&e->scratch);
    phi__buf_text(&e->scratch, "/model/");
    phi__buf_percent(&e->scratch, phi_str_of(e->spec->model->id), "-_.~");
    phi__buf_text(&e->scratch, "/converse-stream");
    if (!phi__encode_copy(e, &path)) return;
    phi__encode_url(e, "", false, path.at);
    phi__encode_accept(e, "application/vnd.amazon.eventstream");
    if (phi__bedrock_keys(e, &keys))
        phi__encode_model_headers(e);
    else
        phi__encode_key(e, NULL);
}

/* Finds the text from `from` up to the next `end`. False if it is empty or `end` is missing. */
static bool phi__bedrock_between(phi_str s, size_t from, const char *end, phi_str *out) {
    size_t to = from < s.len ? phi__str_find(s, from, end) : SIZE_MAX;
    if (to == SIZE_MAX || to == from) return false;
    *out = phi__str(s.at + from, to - from);
    return true;
}

/* Returns the region in a host ("bedrock-runtime.eu-west-1.amazonaws.com", or "bedrock." for lists
   of models) or in an id ("arn:aws:bedrock:eu-west-1:..."). Default us-east-1. */
static phi_str phi__bedrock_region(phi_str host, phi_str id) {
    phi_str region;
    size_t at = phi__str_find_nocase(host, 0, "bedrock-runtime"), colon = 0;
    if (phi__str_starts(host, "bedrock.") || phi__str_starts(host, "bedrock-fips.")) at = 0;
    if (at != SIZE_MAX && (at = phi__str_find(host, at, ".")) != SIZE_MAX &&
        phi__bedrock_between(host, at + 1, ".", &region))
        return region;
    if (phi__str_starts(id, "arn:")) {
        for (size_t i = 0; i < 3 && colon != SIZE_MAX; i++) {
            colon = phi__str_find(id, colon, ":");
            if (colon != SIZE_MAX) colon++;
        }
        if (colon != SIZE_MAX && phi__bedrock_between(id, colon, ":", &region)) return region;
    }
    return PHI__LIT("us-east-1");
}

static void phi__bedrock_sign(phi__encoder *e, const phi__signing *signing) {
    phi__sigv4_words words;
    phi__sigv4 s = PHI_ZERO;
    if (!phi__bedrock_keys(e, &s)) return;
    s.method = e->request.method;
    phi__url url;
    (void)phi__url_split(e->request.url, &url);
    s.path = url.path;
    /* as in the Host header: without the scheme's default port */
    const char *port = url.secure ? ":443" : ":80";
    s.host = url.site;
    if (phi__str_ends(s.host, port)) s.host.len -= strlen(port);
    s.region = phi__bedrock_region(s.host, phi_str_of(e->spec->model->id));
    for (size_t i = 0; i < e->header_count; i++)
        if (phi__str_is_nocase(e->headers[i].name, "content-type"))
            s.content_type = e->headers[i].value;
    s.wall_ms = signing->wall_ms;
    s.body_sha256 = signing->body_sha256;
    phi__buf_clear(&e->scratch);
    phi__sigv4_sign(&s, &words, &e->scratch);
    if (e->scratch.failed) e->failed = true;
    phi__encode_header(e, "x-amz-date", phi_str_of(words.date));
    phi__encode_header(e, "x-amz-content-sha256", phi_str_of(words.content));
    if (s.token.len > 0) phi__encode_header(e, "x-amz-security-token", s.token);
    phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
    phi__buf_free(&e->scratch); /* the encoder was freed already, so free the buffer here */
    e->request.headers = e->headers;
    e->request.header_count = e->header_count;
}

/* ---- the codec ---- */

static phi__format_way phi__bedrock_format_way(const phi__request_spec *spec) {
    return phi__bedrock_claude(spec->model) ? phi__claude_format_way(spec) : PHI__FORMAT_REFUSED;
}

/* All models accept documents, except two that accept only text: Nova Micro ("Supported models and
   model features" of the Converse API, November 2026) and gpt-oss. Voxtral and Nova Omni accept
   audio. */
static uint32_t phi__bedrock_media(const phi_model *model) {
    phi_str id = phi_str_of(model->id);
    uint32_t media = PHI__MEDIA_PDF | PHI__MEDIA_TEXT | PHI__MEDIA_TEXT_FILE | PHI__MEDIA_OFFICE;
    if (phi__str_find_nocase(id, 0, "gpt-oss") != SIZE_MAX ||
        phi__str_find_nocase(id, 0, "nova-micro") != SIZE_MAX)
        return 0;
    if (phi__str_find_nocase(id, 0, "voxtral") != SIZE_MAX ||
        phi__str_find_nocase(id, 0, "omni") != SIZE_MAX)
        media |= PHI__MEDIA_SOUND | PHI__MEDIA_MORE_SOUND;
    return media;
}

static phi_thinking phi__bedrock_level(const phi_model *model, phi_thinking wanted) {
    if (phi__bedrock_claude(model)) return phi__claude_level(model, wanted);
    return (unsigned)wanted > (unsigned)PHI_THINKING_HIGH ? PHI_THINKING_HIGH : wanted;
}

/* clang-format off */
static const char *const phi__bedrock_owned[] = {
    "messages", "system", "toolConfig", "inferenceConfig.maxTokens", "outputConfig.textFormat",
    NULL};

static const char *const phi__bedrock_lists[] = {
    "additionalModelRequestFields.anthropic_beta", NULL};

static const phi__codec_settings phi__bedrock_settings = {phi__bedrock_takes, phi__bedrock_level,
                                                          phi__bedrock_owned, phi__bedrock_lists};

static const phi__codec_rules phi__bedrock_rules = {
    phi__bedrock_id_rule, phi__claude_strict_form, NULL, phi__bedrock_format_way,
    PHI__SCHEMA_STRICT, NULL, phi__claude_unforced, phi__claude_user_last, PHI__RULE_USER_FIRST,
    phi__bedrock_media, NULL, phi__claude_binding, phi__claude_takes_updates, NULL, NULL,
    &phi__bedrock_settings, NULL};

PHI__FN const phi__codec *phi__bedrock_codec(void) {
    static const phi__codec codec = {
        PHI__NAMES_BEDROCK, &phi__bedrock_rules, sizeof(phi__bedrock_state), phi__bedrock_head,
        phi__bedrock_tail, phi__bedrock_address, phi__bedrock_form, phi__bedrock_render,
        phi__bedrock_append, phi__bedrock_stream_event, phi__bedrock_end, phi__bedrock_whole,
        phi__frames_framing, phi__bedrock_sign};
    return &codec;
}
/* clang-format on */
