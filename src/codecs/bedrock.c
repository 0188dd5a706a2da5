/* bedrock.c - requests of Amazon Bedrock's ConverseStream.

   As in anthropic.c a message is rendered whole and kept, roles are glue around it, and the cache
   mark (here a separate block) is put after the last user block at the end. Tools come after the
   messages, because only then is it known whether the history holds calls, which the API takes only
   together with tools. */
#include "codecs/claude_in.h"
#include "codecs/names_in.h"
#include "codecs/sigv4_in.h"

/* The settings that a rendering depends on: bits of phi__rendered.form. */
enum {
    PHI__BEDROCK_FORM = 3 << 28,
    PHI__BEDROCK_ORIGIN = 1, /* minted by the same model: reasoning goes back */
    PHI__BEDROCK_NO_IMAGES = 2,
    PHI__BEDROCK_MEDIA = 4, /* blocks that a result may not hold: they follow it */
    PHI__BEDROCK_ID_9 = 8,
    PHI__BEDROCK_SIGNED = 16,     /* reasoning with its signature */
    PHI__BEDROCK_PROTOCOL = 32,   /* made over this protocol: citations go back, and calls whole */
    PHI__BEDROCK_ABANDONED = 64,  /* without the server's calls that have no result */
    PHI__BEDROCK_SYSTEM = 128,    /* an update that is a system message */
    PHI__BEDROCK_MEDIA_SHIFT = 16 /* of PHI__MEDIA_ bits */
};

typedef enum phi__bedrock_choice {
    PHI__BEDROCK_INSIDE, /* of the message: text, and the blocks that it may hold */
    PHI__BEDROCK_BEHIND  /* of a result: the blocks that it may not hold */
} phi__bedrock_choice;

/* The stream half; the state is zeroed memory. */
typedef struct phi__bedrock_state {
    bool heard;    /* an event came */
    bool got_stop; /* messageStop */
    bool got_usage;
    bool settled; /* both, or the end: later frames are ignored */
} phi__bedrock_state;

/* ---- documents and their names ----

   The API takes few characters in a name, and no name twice in a request. A rendering is kept with
   its message, so the name depends on nothing that a later request changes. */

enum {
    PHI__BEDROCK_TITLE_MOST = 60,   /* bytes of a document's title in its name */
    PHI__BEDROCK_HASHED_MOST = 1024 /* bytes at each end of a document that its name depends on */
};

/* An image, audio or a document. at: its item; ordinal: its place among the documents of its
   message that are sent. */
static void phi__bedrock_block(phi__encoder *e, const phi_content *c, size_t at, size_t ordinal) {
    bool image = c->kind == PHI_CONTENT_IMAGE, document = c->kind == PHI_CONTENT_DOCUMENT;
    bool text = document && c->data.len == 0;
    size_t slash = phi__str_find(c->mime_type, 0, "/") + 1; /* of "image/png" */
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
        /* Letters, digits, hyphens, brackets and single blanks only, without an ending such
           as ".pdf"; then a hash of the document's content, its place in the thread and
           among those of its message. */
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

/* Mistral's models take their own ids only. */
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

/* True if the message may hold the block. A result holds no audio, and an error result holds text
   only: the rest follows all results. */
static bool phi__bedrock_fits(const phi_message *m, const phi_content *c) {
    return m->role == PHI_ROLE_USER || (!m->is_error && c->kind != PHI_CONTENT_AUDIO);
}

/* Blocks of an item. A message with documents needs a text: if it has none, one is added. */
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

/* Claude wants its signature, others refuse one. */
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
    if (citations.len == 0 || citations.at[0] != '[' || !phi__render_goes(e, citations)) {
        phi__bedrock_text(e, text);
        return;
    }
    phi__json_write_item(out, "{\"citationsContent\":{\"content\":[{");
    phi__render_text_member(e, "text", text);
    phi__buf_wrap(out, "}],\"citations\":", citations, "}}");
}

/* The type of an opaque block that is a call of the server's own tools. */
static bool phi__bedrock_is_server_call(phi_str name) { return phi__str_is(name, "toolUse"); }

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
    return (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text)) ||
           (phi__codec_is_call(c)) || phi__bedrock_sends(e, m, block, form);
}

/* ---- answers: events from frames, or from lines of JSON, to a message ----

   Text and reasoning blocks are not started, they begin with their first delta. The usage follows
   the end of the message: the answer is whole when both have come. Blocks of other kinds than text,
   reasoning and tool use, and the provider's own tool uses, are opaque: the union's object with its
   one member, into which deltas put the rest. */

/* The possible members of an event, as in its text. */
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

/* The arguments are a string in a delta, and an object in a whole answer. */
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

/* A delta, the start of a block, or a block of a whole answer: they look alike. */
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

/* ---- parts ---- */

static const phi__json_member phi__bedrock_usage_members[] = {
    PHI__MEMBER(phi_usage, input, "inputTokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, output, "outputTokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_read, "cacheReadInputTokens", PHI__MEMBER_U64),
    PHI__MEMBER(phi_usage, cache_write, "cacheWriteInputTokens", PHI__MEMBER_U64),
    PHI__MEMBERS_END};

static void phi__bedrock_usage(phi__assembly *a, phi_str raw) {
    (void)phi__json_members_read(raw, phi__bedrock_usage_members, &a->usage, NULL);
}

/* malformed_...: the model may do better another time */
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

/* The end, or all that there will be of it. Only now is a bad reason a failure: what follows a
   failure is not read, and the usage comes after the reason. */
static void phi__bedrock_settle(phi__bedrock_state *st, phi__assembly *a) {
    const phi__json_text none = {NULL, 0, false};
    st->settled = a->terminal = a->last = true;
    phi__classify_stop(a, phi__bedrock_stop_words, PHI__COUNT(phi__bedrock_stop_words), none);
}

/* ---- blocks ---- */

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

/* The name of a union's one member; empty: it has none. */
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

/* A delta of an unknown kind for a block without a start opens an opaque block. */
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
        /* A delta of an opaque block. What the block has no place for leaves it as its
           start has it. */
        phi__draft *d = &a->drafts[block];
        phi_str name = phi__buf_str(&d->name);
        if (!d->open) return;
        if (d->id.len > 0)
            d->incomplete = true; /* a block without a start: its deltas cannot be joined */
        else if (phi__str_is(name, "toolUse"))
            phi__assembly_add_text(a, block, ev->input);
        else if (phi__str_is(name, "toolResult") && ev->result.len > 0) {
            /* The items of a result come in lists. */
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
            /* Each member of the delta becomes one of the block. */
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
    if (ev->input.len > 0) { /* of a call that has started */
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

/* Opens the block that an event starts. SIZE_MAX: the event starts none, or memory ended. */
static size_t phi__bedrock_start(phi__assembly *a, const phi__bedrock_event *ev) {
    phi_str name = phi__bedrock_member(ev->start);
    if (ev->starts_tool && !PHI__TEXT_IS(ev->tool_type, "server_tool_use")) {
        /* A call of the program's tools; members that phi does not know go back with it. */
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

/* ---- the end ---- */

/* With a call that is still open it is no end: that one was cut. */
static void phi__bedrock_stop(phi__bedrock_state *st, phi__assembly *a, phi__json_text reason) {
    if (reason.at == NULL) return;
    phi__assembly_put(a, &a->raw_stop_reason, reason);
    st->got_stop = true;
    /* Opaque blocks whose end the stream did not say. */
    for (size_t i = 0; i < a->count; i++)
        if (a->drafts[i].kind == PHI_CONTENT_OPAQUE) phi__bedrock_close(a, i);
    a->terminal = !phi__bedrock_calls_open(a);
    (void)phi__classify_reason(a, phi__bedrock_stop_words, PHI__COUNT(phi__bedrock_stop_words));
}

/* ---- trouble ---- */

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

/* An exception's JSON, or an error's plain text, classified as an HTTP error of its type. */
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
        failure.http_status = 0; /* it came inside of an answer */
        phi__assembly_fail_with(a, &failure);
    }
    phi__buf_free(&header);
    phi__buf_free(&body);
    phi_arena_reset(&a->scratch, mark);
}

/* ---- events ---- */

/* The payload of an unknown event, and of messageStart, is ignored: it may be empty, or no JSON.
   After the reason to stop usage alone counts. */
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

/* A line: {"contentBlockDelta":{...}}, {"throttlingException":{...}}, or an error of a gateway. */
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

/* Text with its citations: the parts of the text are one. */
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

/* What Converse answers where nothing is streamed; false: it is something else. */
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

/* name: the event's type; '!' and the type of an exception; empty: the JSON holds it as its key. */
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

/* One JSON answer, or lines that came under the name of one. */
static void phi__bedrock_whole(void *state, phi__assembly *a, phi_str body) {
    phi__bedrock_state *st = (phi__bedrock_state *)state;
    phi__frames lines;
    phi__frame line;
    body = phi__str_trim(body);
    if (!phi__bedrock_answer(st, a, body)) {
        phi__frames_init(&lines, a->memory, 0);
        phi__frames_feed(&lines, body.at, body.len);
        while (body.len > 0 && body.at[0] == '{' && phi__frames_next(&lines, &line) > 0)
            phi__bedrock_stream_event(st, a, line.name, line.payload);
        phi__frames_free(&lines);
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

/* ---- models ---- */

/* True if a Claude is behind the id: by the name; behind an ARN that hides it, by the quirks that
   only Claude has. */
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

/* Marks are for Claude from 3.5 on, the first 3.5 Sonnet excepted; others refuse them. */
static bool phi__bedrock_marks(const phi__encoder *e, phi__mark mark) {
    if (!phi__codec_marks(e->spec, mark)) return false;
    if ((e->spec->model->quirks & PHI_QUIRK_CACHE_CONTROL) != 0) return true;
    return phi__claude_of(phi_str_of(e->spec->model->id)).version >= 305 &&
           !phi__bedrock_id_has(e, "3-5-sonnet-20240620");
}

/* Claude takes marks of an hour from 4.5 on; an ARN hides the model's name, so there the host's
   setting decides. */
static bool phi__bedrock_hour(const phi__encoder *e) {
    uint32_t version = phi__claude_of(phi_str_of(e->spec->model->id)).version;
    return e->spec->cache.one_hour && (version >= 405 || version == 0);
}

static const char *phi__bedrock_mark(const phi__encoder *e) {
    return phi__bedrock_hour(e) ? PHI__BEDROCK_MARK_HOUR : PHI__BEDROCK_MARK;
}

/* ---- items ---- */

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
    if (phi__render_abandons(e, at, phi__bedrock_is_server_call)) form |= PHI__BEDROCK_ABANDONED;
    return form;
}

/* A result that is an error holds text only; none is empty. */
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

/* Up to the last block that says something: reasoning may not end a message. */
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
    /* The API takes the provider's tool uses and results only in a request with tools. */
    for (size_t i = 0; i < m->content_count && !e->had_calls; i++)
        e->had_calls = phi__render_is_opaque(e->codec, &m->content[i]) &&
                       (phi__str_is(m->content[i].name, "toolUse") ||
                        phi__str_is(m->content[i].name, "toolResult"));
    if (blocks.len == 0) return;
    phi__claude_append(e,
                       m->role == PHI_ROLE_ASSISTANT       ? PHI_ROLE_ASSISTANT
                       : (form & PHI__BEDROCK_SYSTEM) != 0 ? PHI__ROLE_SYSTEM
                                                           : PHI_ROLE_USER,
                       blocks);
    if (e->open_role == PHI_ROLE_USER && e->count > 0) e->mark_piece = e->count - 1;
}

/* ---- around the messages ---- */

/* Claude takes the same settings as at Anthropic. Other models have no top_k here; OpenAI's refuse
   stop texts, and all but gpt-oss refuse sampling. */
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

/* True when a member of Claude's own takes the place of toolConfig.toolChoice. */
static bool phi__bedrock_serial(const phi__request_spec *spec) {
    return phi__bedrock_claude(spec->model) && phi__takes_serial(spec, PHI__TAKES_ALL);
}

/* Fields that the API passes on to the model: thinking of Claude, effort of gpt-oss. */
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
    if (out->len == from) { /* nothing to say */
        out->len = before;
        return;
    }
    out->at[from] = '{'; /* in place of the first comma */
    phi__buf_char(out, '}');
}

static phi__claude_plan phi__bedrock_plan(const phi__encoder *e) {
    phi__claude_plan plan = phi__claude_plan_now(e);
    if (phi__bedrock_is_claude(e)) return plan;
    memset(&plan, 0, sizeof plan); /* budgets and their room are Claude's */
    plan.max_tokens = e->spec->max_tokens != 0 ? e->spec->max_tokens : e->spec->model->max_tokens;
    if (plan.max_tokens == 0) plan.max_tokens = 8192;
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
    /* The schema is a text in the text. */
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

/* A history with calls is refused without tools: if there are none any more, a placeholder is sent.
   There is no choice "none". "auto" is the default, and only some models know the field. */
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

/* ---- where to, and who ---- */

/* "ACCESS:SECRET[:TOKEN]"; false: a key of Bedrock's own, which has no colon, or none. */
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

/* The text between `from` and the next `end`; false: none. */
static bool phi__bedrock_between(phi_str s, size_t from, const char *end, phi_str *out) {
    size_t to = from < s.len ? phi__str_find(s, from, end) : SIZE_MAX;
    if (to == SIZE_MAX || to == from) return false;
    *out = phi__str(s.at + from, to - from);
    return true;
}

/* The region of "bedrock-runtime.eu-west-1.amazonaws.com", of "bedrock.eu-west-1.amazonaws.com",
   which has the list of models, or of "arn:aws:bedrock:eu-west-1:...". */
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
    /* as the Host header has it: without a port that goes without saying */
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
    phi__buf_free(&e->scratch); /* the encoder was freed before */
    e->request.headers = e->headers;
    e->request.header_count = e->header_count;
}

/* ---- the codec ---- */

static phi__format_way phi__bedrock_format_way(const phi__request_spec *spec) {
    return phi__bedrock_claude(spec->model) ? phi__claude_format_way(spec) : PHI__FORMAT_REFUSED;
}

/* Documents go to all models but Nova Micro ("Supported models and model features" of the Converse
   API, read November 2026) and gpt-oss, which takes text; audio to Voxtral and Nova's Omni. */
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
