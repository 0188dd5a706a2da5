/* gemini.c - Google's Gemini API and Vertex AI.

   A message's parts are rendered once, joined by commas, and kept. Contents are opened and closed
   around the renderings. All results of a turn share one content; the user's words after them start
   a new one. The number in a model's name selects its rules. A model without a number counts as
   new. */
#include "codecs/gemini_in.h"
#include "codecs/openai_in.h"
#include "codecs/names_in.h"

/* The settings that a message's rendering depends on, as bits of phi__rendered.form. */
enum {
    PHI__GEMINI_FORM = 2 << 28,
    PHI__GEMINI_ORIGIN = 1, /* the same model made the message: send signatures */
    PHI__GEMINI_NO_IMAGES = 2,
    PHI__GEMINI_MEDIA = 4, /* the blocks that must follow a result */
    PHI__GEMINI_THREE = 8, /* model 3 or later: send ids, and media inside results */
    PHI__GEMINI_OWN = 16,  /* a model of this name made the message, at Google or Vertex */
    /* Vertex AI: send names of documents; leave out hosted tools that only the Gemini API has. */
    PHI__GEMINI_VERTEX = 32,
    PHI__GEMINI_MEDIA_SHIFT = 16 /* the PHI__MEDIA_ bits are shifted by this */
};

/* The state of a stream's decoder. It starts as zeroed memory. */
typedef struct phi__gemini_state {
    bool in_call; /* the last block is a call whose arguments are still coming in pieces */
    uint64_t prompt, tools, cached, candidates, thoughts; /* tokens, as last reported */
    phi__decoding in;
} phi__gemini_state;

/* ---- messages as parts ---- */

#define PHI__GEMINI_UNSIGNED "skip_thought_signature_validator"

/* True if phi__assembly_finish invented this id because the model sent none. */
static bool phi__gemini_invented(phi_str id) {
    if (id.len != 21 || memcmp(id.at, "call_", 5) != 0) return false;
    for (size_t i = 5; i < id.len; i++)
        if (!phi__is_digit(id.at[i]) && (id.at[i] < 'a' || id.at[i] > 'f')) return false;
    return true;
}

static void phi__gemini_id(phi__encoder *e, phi__buf *out, phi_str id) {
    if (!phi__gemini_three(e) || phi__gemini_invented(id)) return;
    phi__render_id(out, "\"id\":", id, PHI__ID_ANTHROPIC);
    phi__buf_char(out, ',');
}

static void phi__gemini_sign(phi__encoder *e, phi_str signature) {
    if (signature.len > 0) phi__records_str(&e->scratch, "thoughtSignature", signature);
}

static void phi__gemini_parts_text(phi__encoder *e, phi_str text, bool thought, phi_str signature) {
    phi__json_write_item(&e->scratch, thought ? "{\"thought\":true" : "{");
    phi__render_text_member(e, "text", text);
    phi__gemini_sign(e, signature);
    phi__buf_char(&e->scratch, '}');
}

/* True at Vertex AI, where documents have titles. */
static bool phi__gemini_vertex(const phi__encoder *e) {
    return phi__codec_is(e->codec->names, PHI__LIT(PHI_PROTOCOL_VERTEX));
}

/* Writes an image, audio or document part. */
static void phi__gemini_parts_block(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi_str type = c->mime_type.len > 0 ? c->mime_type : PHI__LIT("application/pdf");
    phi__json_write_item(out, c->url.len > 0 ? "{\"fileData\":{" : "{\"inlineData\":{");
    phi__records_str(out, "mimeType", type);
    if (c->kind == PHI_CONTENT_DOCUMENT && c->name.len > 0 && phi__gemini_vertex(e))
        phi__records_str(out, "displayName", c->name);
    if (c->url.len > 0) {
        phi__records_str(out, "fileUri", c->url);
        phi__buf_text(out, "}}");
        return;
    }
    phi__render_base64(e, ",\"data\":\"", c->data, "\"}}");
}

/* True if the block is sent inside its result. Models since 3 accept images and documents there.
   All other media follow all results. */
static bool phi__gemini_inside(const phi__encoder *e, const phi_content *c) {
    return phi__gemini_three(e) && c->kind != PHI_CONTENT_AUDIO;
}

/* Writes an opaque part, byte for byte. Google's API and Vertex AI are the same wire. A signature
   of another model is replaced, as in a call. Vertex has no toolCall and toolResponse (google-genai
   3.6.1 refuses them, November 2026). */
static void phi__gemini_parts_opaque(phi__encoder *e, const phi_content *c, bool own) {
    static const char *const signature[] = {"thoughtSignature", NULL};
    phi__buf *out = &e->scratch;
    if (!phi__kept_is_of(c, e->codec->names, PHI_PROTOCOL_GOOGLE) &&
        !phi__kept_is_of(c, e->codec->names, PHI_PROTOCOL_VERTEX))
        return;
    if (phi__gemini_vertex(e) &&
        (phi__str_is(c->name, "toolCall") || phi__str_is(c->name, "toolResponse")))
        return;
    phi_arena_mark mark = phi_arena_save(e->arena);
    if (phi__kept_tree(e, c->replay) == NULL) return;
    phi_arena_reset(e->arena, mark);
    phi__json_write_comma(out);
    if (own || phi__str_find(c->replay, 0, "\"thoughtSignature\"") == SIZE_MAX) {
        phi__buf_add_str(out, c->replay);
        return;
    }
    phi__buf_char(out, '{');
    phi__opaque_members(out, c->replay, signature);
    if (phi__gemini_three(e)) phi__gemini_sign(e, PHI__LIT(PHI__GEMINI_UNSIGNED));
    phi__buf_char(out, '}');
}

static void phi__gemini_opaque_user(phi__encoder *e, const phi_content *c) {
    phi__gemini_parts_opaque(e, c, true);
}

/* Returns the number of media blocks that are sent inside a result, or, if `inside` is false, of
   those that are sent after it. */
static size_t phi__gemini_blocks(const phi__encoder *e, const phi_message *m, bool inside) {
    size_t n = 0;
    for (size_t i = 0; i < m->content_count; i++)
        n += phi__render_way_to(e, &m->content[i]) == PHI__RENDER_BLOCK &&
             phi__gemini_inside(e, &m->content[i]) == inside;
    return n;
}

static void phi__gemini_put_blocks(phi__encoder *e, const phi_message *m, bool inside) {
    for (size_t i = 0; i < m->content_count; i++)
        if (phi__render_way_to(e, &m->content[i]) == PHI__RENDER_BLOCK &&
            phi__gemini_inside(e, &m->content[i]) == inside)
            phi__gemini_parts_block(e, &m->content[i]);
}

static void phi__gemini_said(phi__encoder *e, const phi_content *c) {
    phi__json_write_item(&e->scratch, "{\"text\":\"");
    phi__render_said(e, c);
    phi__buf_text(&e->scratch, "\"}");
}

/* ---- arguments that Vertex AI sends in pieces ----

   Each piece is a path and a value. Strings with the same path are joined. Vertex does this only on
   request; a host's own proxy may request it. */

typedef struct phi__gemini_pieces {
    phi_arena *arena;
    phi_json *root;
    phi__kept_grown grown; /* the string that was extended last */
} phi__gemini_pieces;

static phi_json *phi__gemini_pieces_get(phi_json *node, const phi__json_step *step) {
    size_t count = phi_json_count(node);
    if (!step->is_index) return phi__json_get_n(node, step->key);
    if (!phi_json_is(node, PHI_JSON_ARRAY) || step->index >= count) return NULL;
    return step->index + 1 == count ? node->v.last : phi_json_at(node, step->index);
}

/* Sets a value in the tree. PHI_NO_MEMORY if value is NULL. */
static phi_status phi__gemini_pieces_put(phi__gemini_pieces *p, phi_json *node,
                                         const phi__json_step *step, phi_json *value) {
    if (value == NULL) return PHI_NO_MEMORY;
    if (!step->is_index)
        return phi_json_is(node, PHI_JSON_OBJECT)
                   ? phi__json_edit_set(p->arena, node, step->key, value)
                   : PHI_PARSE;
    if (!phi_json_is(node, PHI_JSON_ARRAY) || step->index != phi_json_count(node)) return PHI_PARSE;
    return phi_json_add(node, value);
}

static phi_status phi__gemini_pieces_add(phi__gemini_pieces *p, phi_json *piece) {
    const char *path = phi_json_str(phi_json_get(piece, "jsonPath"), "").at;
    bool is_null = phi_json_get(piece, "nullValue") != NULL;
    phi_json *node = p->root, *below;
    phi__json_step step, next;
    if (path[0] != '$') return PHI_PARSE;
    path += path[1] == '.' ? 2 : 1;
    if (!phi__json_get_path_step(&path, &step)) return PHI_PARSE;
    while (phi__json_get_path_step(&path, &next)) {
        below = phi__gemini_pieces_get(node, &step);
        if (below == NULL) {
            below = next.is_index ? phi_json_new_array(p->arena) : phi_json_new_object(p->arena);
            phi_status status = phi__gemini_pieces_put(p, node, &step, below);
            if (status != PHI_OK) return status;
        }
        node = below;
        step = next;
    }
    /* Take the value out of the piece. NULL if its kind is unknown. */
    static const char *const names[] = {"stringValue", "numberValue", "boolValue", "nullValue"};
    phi_json *value = NULL;
    for (size_t i = 0; i < PHI__COUNT(names) && value == NULL; i++)
        value = phi_json_remove(piece, names[i]);
    if (*path != '\0' || value == NULL) return PHI_PARSE;
    below = phi__gemini_pieces_get(node, &step);
    if (below != NULL && phi_json_is(below, PHI_JSON_STRING) &&
        phi_json_is(value, PHI_JSON_STRING) && !is_null)
        return phi__kept_append(p->arena, &p->grown, below, value);
    return phi__gemini_pieces_put(p, node, &step, is_null ? phi__json_edit_null(p->arena) : value);
}

/* Joins Vertex's pieces to arguments, in the arena. pieces: "[" and objects separated by commas.
   PHI_PARSE if a path is invalid or the kind of a value is unknown. */
static phi_status phi__gemini_pieces_join(phi_arena *arena, phi_str pieces, phi_str *out) {
    phi_json *list = NULL, *piece;
    char *text = phi__arena_bytes(arena, phi__add(pieces.len, 2));
    phi__gemini_pieces p = PHI_ZERO;
    p.arena = arena;
    p.root = phi_json_new_object(arena);
    if (p.root == NULL || text == NULL) return PHI_NO_MEMORY;
    memcpy(text, pieces.at, pieces.len);
    text[pieces.len] = ']';
    text[pieces.len + 1] = '\0';
    phi_status status = phi_json_parse(arena, phi__str(text, pieces.len + 1),
                                       PHI_JSON_REPLACE_BAD_UTF8, &list, NULL);
    phi_json_iter it = phi_json_each(list);
    while (status == PHI_OK && (piece = phi_json_next(&it)) != NULL)
        status = phi__gemini_pieces_add(&p, piece);
    return status == PHI_OK ? phi_json_write(arena, p.root, 0, out) : status;
}

/* ---- answers: chunks to a message ----

   A chunk is read in one pass without a tree, into views of the parts that matter, and then
   applied. Parts have no index: a part of the same kind as the last part continues it, unless both
   are signed. Calls come complete, unless an option of Vertex that phi does not set splits them;
   the pieces then wait until the call's end. A part of any other kind becomes an opaque block. */

enum { PHI__GEMINI_CITED_MOST = 1 << 20 }; /* max. bytes of citations; later ones are dropped */

/* The parts of a chunk, as views of its text. `at` NULL or length 0: absent, null or unusable. */
typedef struct phi__gemini_chunk {
    phi__json_text id, model, finish, finish_words, block, block_words;
    phi_str parts, usage; /* raw JSON */
    phi_str grounding, cited, fetched;
    bool has_error, ours; /* ours: the chunk has something that only an answer has */
} phi__gemini_chunk;

typedef struct phi__gemini_part {
    phi__json_text text, signature, id, name;
    phi_str args, pieces; /* raw JSON */
    bool thought, is_call, goes_on;
} phi__gemini_part;

/* Replaces a text unless the new one is empty. */
static void phi__gemini_put(phi__assembly *a, phi__buf *buf, phi__json_text text) {
    if (text.len > 0) phi__assembly_put(a, buf, text);
}

/* ---- reading a chunk ---- */

static const phi__json_member phi__gemini_content_members[] = {
    PHI__MEMBER(phi__gemini_chunk, parts, "parts", PHI__MEMBER_ARRAY), PHI__MEMBERS_END};

static const phi__json_member phi__gemini_candidate_members[] = {
    PHI__MEMBER_INSIDE("content", phi__gemini_content_members),
    PHI__MEMBER(phi__gemini_chunk, finish, "finishReason", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_chunk, finish_words, "finishMessage", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_chunk, grounding, "groundingMetadata", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__gemini_chunk, cited, "citationMetadata", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__gemini_chunk, fetched, "urlContextMetadata", PHI__MEMBER_OBJECT),
    PHI__MEMBERS_END};

static const phi__json_member phi__gemini_feedback_members[] = {
    PHI__MEMBER(phi__gemini_chunk, block, "blockReason", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_chunk, block_words, "blockReasonMessage", PHI__MEMBER_TEXT),
    PHI__MEMBERS_END};

/* Only the first candidate is read. "error" must be the first row: any other member sets `ours`. */
static const phi__json_member phi__gemini_chunk_members[] = {
    PHI__MEMBER_TAKE(phi__gemini_chunk, has_error, "error", phi__classify_take_flag),
    PHI__MEMBER_INSIDE_FIRST("candidates", phi__gemini_candidate_members),
    PHI__MEMBER_INSIDE("promptFeedback", phi__gemini_feedback_members),
    PHI__MEMBER(phi__gemini_chunk, usage, "usageMetadata", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__gemini_chunk, model, "modelVersion", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_chunk, id, "responseId", PHI__MEMBER_TEXT),
    PHI__MEMBERS_END};

static bool phi__gemini_read(phi__gemini_chunk *k, phi_str data) {
    uint32_t seen = 0;
    memset(k, 0, sizeof *k);
    bool good = phi__json_members_read(data, phi__gemini_chunk_members, k, &seen);
    k->ours = seen > 1;
    return good;
}

/* ---- reading a part ---- */

static const phi__json_member phi__gemini_call_members[] = {
    PHI__MEMBER(phi__gemini_part, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_part, name, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_part, args, "args", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__gemini_part, pieces, "partialArgs", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__gemini_part, goes_on, "willContinue", PHI__MEMBER_BOOL),
    PHI__MEMBERS_END};

static void phi__gemini_take_call(phi__json_cursor *c, void *part) {
    phi__gemini_part *p = (phi__gemini_part *)part;
    p->is_call = phi__json_cursor_peek(c) == PHI_JSON_OBJECT;
    (void)phi__json_members_take(c, phi__gemini_call_members, p);
}

static const phi__json_member phi__gemini_part_members[] = {
    PHI__MEMBER(phi__gemini_part, text, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_part, thought, "thought", PHI__MEMBER_BOOL),
    PHI__MEMBER(phi__gemini_part, signature, "thoughtSignature", PHI__MEMBER_TEXT),
    PHI__MEMBER_TAKE_ALL("functionCall", phi__gemini_take_call), PHI__MEMBERS_END};

/* Returns the block that a part continues: the last block, if the kinds are the same and at most
   one of the two is signed. Otherwise opens a new block. */
static size_t phi__gemini_block(phi__assembly *a, const phi__gemini_part *p) {
    phi_content_kind kind = p->thought ? PHI_CONTENT_THINKING : PHI_CONTENT_TEXT;
    if (a->count == 0) return phi__assembly_open(a, kind, -1);
    const phi__draft *last = &a->drafts[a->count - 1];
    if (last->kind == kind && p->text.len > 0 && p->signature.len > 0 && last->signature.len > 0)
        phi__assembly_close(a, a->count - 1);
    return phi__assembly_current(a, kind);
}

/* Adds the text of a part. Returns its block if the part is only text, otherwise SIZE_MAX. */
static size_t phi__gemini_text(phi__assembly *a, const phi__gemini_part *p) {
    if (p->text.len == 0 && p->signature.len == 0) return SIZE_MAX;
    size_t block = phi__gemini_block(a, p);
    phi__assembly_add_text(a, block, p->text);
    if (block == SIZE_MAX || p->signature.len == 0) return block;
    phi__gemini_put(a, &a->drafts[block].signature, p->signature);
    return SIZE_MAX;
}

/* Keeps pieces of arguments in `replay`, as "[" and the pieces separated by commas. */
static void phi__gemini_keep_pieces(phi__assembly *a, size_t block, phi_str pieces) {
    if (pieces.len <= 2) return;
    phi_str inner = phi__str_trim(phi__str(pieces.at + 1, pieces.len - 2));
    if (inner.len == 0) return;
    phi__assembly_wait(a, block, a->drafts[block].replay.len == 0 ? PHI__LIT("[") : PHI__LIT(","));
    phi__assembly_wait(a, block, inner);
}

static void phi__gemini_close_call(phi__assembly *a, size_t block) {
    const phi__draft *d = &a->drafts[block];
    phi_str arguments;
    if (d->replay_open) {
        phi_status status =
            phi__gemini_pieces_join(&a->scratch, phi__buf_str(&d->replay), &arguments);
        if (status == PHI_NO_MEMORY) a->no_memory = true;
        if (status != PHI_OK) {
            phi__assembly_fail(a, PHI_FAILURE_SERVER, true, PHI__LIT("bad_arguments"),
                               PHI__LIT("the server sent arguments in pieces that do not fit"));
            return;
        }
        phi__assembly_close_call(a, block, arguments);
    } else
        phi__assembly_close(a, block);
}

static void phi__gemini_call(phi__gemini_state *st, phi__assembly *a, const phi__gemini_part *p) {
    size_t block;
    if (st->in_call && p->name.len == 0)
        block = a->count - 1;
    else {
        if (a->count > 0 && a->drafts[a->count - 1].kind != PHI_CONTENT_TOOL_CALL)
            phi__assembly_close(a, a->count - 1);
        block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, (int64_t)a->count);
    }
    st->in_call = false;
    if (block == SIZE_MAX) return;
    phi__draft *d = &a->drafts[block];
    phi__gemini_put(a, &d->id, p->id);
    phi__gemini_put(a, &d->name, p->name);
    phi__gemini_put(a, &d->signature, p->signature);
    phi__gemini_keep_pieces(a, block, p->pieces);
    if (p->args.len > 2) phi__assembly_add(a, block, p->args);
    if (p->goes_on)
        st->in_call = true;
    else
        phi__gemini_close_call(a, block);
}

/* ---- parts of other kinds ---- */

/* Returns the member name that makes a part opaque, or an empty text. Members that only describe
   the part's data are skipped. */
static phi__json_text phi__gemini_other(phi_str raw) {
    static const char *const others[] = {"text",
                                         "thought",
                                         "thoughtSignature",
                                         "functionCall",
                                         "partMetadata",
                                         "videoMetadata",
                                         "mediaResolution",
                                         "documentMetadata",
                                         "audioMetadata",
                                         "mediaProcessing",
                                         "spreadsheetMetadata",
                                         "speechMetadata",
                                         NULL};
    phi__json_cursor c;
    phi__json_text key, none = {NULL, 0, false};
    if (!phi__json_cursor_in_object(&c, raw)) return none;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (phi__json_cursor_peek(&c) != PHI_JSON_NULL && !phi__opaque_knows(others, key))
            return key;
        (void)phi__json_cursor_skip(&c);
    }
    return none;
}

/* Adds an opaque part, which always comes complete. Ignores broken JSON. */
static void phi__gemini_opaque(phi__gemini_state *st, phi__assembly *a, phi_str raw,
                               phi__json_text kind) {
    phi_str name;
    if (!phi__kept_is_object(a, raw)) return;
    if (!phi__json_cursor_unescape_arena(&a->scratch, kind, &name)) {
        a->no_memory = true;
        return;
    }
    st->in_call = false;
    if (a->count > 0 && a->drafts[a->count - 1].kind != PHI_CONTENT_TOOL_CALL)
        phi__assembly_close(a, a->count - 1);
    (void)phi__assembly_opaque(a, name, raw, -1, false);
}

/* ---- citations ---- */

/* Adds metadata to the citations of a block. If `replaces` is true, first removes earlier metadata
   of this kind, because lists of sources grow from chunk to chunk. Citations concern only the
   chunk's own text. */
static void phi__gemini_cite_as(phi__assembly *a, size_t block, const char *start, phi_str raw,
                                bool replaces) {
    phi__buf *list = &a->drafts[block].citations;
    phi__buf json;
    if (raw.len <= 2) return;
    phi__buf_init(&json, a->memory);
    phi__buf_text(&json, start);
    phi__buf_add_str(&json, raw);
    phi__buf_char(&json, '}');
    if (replaces) {
        /* Remove the objects that begin with `start`. */
        phi__json_cursor c;
        phi__buf rest;
        phi_str one;
        if (list->len != 0 && phi__str_find(phi__buf_str(list), 0, start) != SIZE_MAX) {
            phi__buf_init(&rest, a->memory);
            phi__json_cursor_init(&c, phi__buf_str(list));
            (void)phi__json_cursor_enter_array(&c);
            while (phi__json_cursor_next_item(&c)) {
                if (!phi__json_cursor_take_raw(&c, &one) || phi__str_starts(one, start)) continue;
                phi__buf_char(&rest, rest.len == 0 ? '[' : ',');
                phi__buf_add_str(&rest, one);
            }
            if (rest.len > 0) phi__buf_char(&rest, ']');
            if (rest.failed) a->no_memory = true;
            phi__buf_free(list);
            *list = rest;
        }
    }
    if (json.failed) a->no_memory = true;
    if (replaces || list->len < PHI__GEMINI_CITED_MOST)
        phi__assembly_cite(a, block, phi__buf_str(&json));
    phi__buf_free(&json);
}

/* Adds a chunk's citations to the last text, and moves earlier citations there. */
static void phi__gemini_cite(phi__assembly *a, const phi__gemini_chunk *k) {
    if (k->grounding.len <= 2 && k->cited.len <= 2 && k->fetched.len <= 2) return;
    size_t block = phi__kept_text(a);
    if (block == SIZE_MAX) return;
    for (size_t i = 0; i < block; i++) {
        phi__buf old = a->drafts[i].citations;
        if (old.len == 0) continue;
        a->drafts[i].citations = a->drafts[block].citations;
        a->drafts[block].citations = old;
    }
    phi__gemini_cite_as(a, block, "{\"groundingMetadata\":", k->grounding, true);
    phi__gemini_cite_as(a, block, "{\"citationMetadata\":", k->cited, false);
    phi__gemini_cite_as(a, block, "{\"urlContextMetadata\":", k->fetched, true);
}

/* Reads a chunk's parts. If they are one piece of text, sets *text and returns its block. Otherwise
   returns SIZE_MAX. */
static size_t phi__gemini_parts(phi__gemini_state *st, phi__assembly *a, phi_str raw,
                                phi__json_text *text) {
    phi__json_cursor c;
    phi__gemini_part p;
    size_t count = 0, block = SIZE_MAX;
    if (!phi__json_cursor_in_array(&c, raw)) return SIZE_MAX;
    while (phi__json_cursor_next_item(&c)) {
        phi__json_text other = {NULL, 0, false};
        const char *from = c.at;
        memset(&p, 0, sizeof p);
        (void)phi__json_members_take(&c, phi__gemini_part_members, &p);
        phi_str one = phi__str_trim(phi__str(from, (size_t)(c.at - from)));
        block = SIZE_MAX;
        if (!p.is_call && p.text.len == 0) other = phi__gemini_other(one);
        if (p.is_call)
            phi__gemini_call(st, a, &p);
        else if (other.len > 0)
            phi__gemini_opaque(st, a, one, other);
        else {
            if (p.text.len > 0) st->in_call = false; /* an open call ends incomplete */
            block = phi__gemini_text(a, &p);
        }
        *text = p.text;
        count++;
    }
    return count == 1 ? block : SIZE_MAX;
}

/* Counts are cumulative. An absent count does not change the earlier value. */
static const phi__json_member phi__gemini_usage_members[] = {
    PHI__MEMBER(phi__gemini_state, prompt, "promptTokenCount", PHI__MEMBER_U64),
    PHI__MEMBER(phi__gemini_state, candidates, "candidatesTokenCount", PHI__MEMBER_U64),
    PHI__MEMBER(phi__gemini_state, cached, "cachedContentTokenCount", PHI__MEMBER_U64),
    PHI__MEMBER(phi__gemini_state, tools, "toolUsePromptTokenCount", PHI__MEMBER_U64),
    PHI__MEMBER(phi__gemini_state, thoughts, "thoughtsTokenCount", PHI__MEMBER_U64),
    PHI__MEMBERS_END};

/* A failed turn is retryable if the model may avoid its mistake. CONTINUATION: the output limit of
   one request was reached (google-genai 3.6.1, FinishReason, November 2026). */
static const phi__stop_word phi__gemini_stop_words[] = {
    {"STOP\0", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false},
    {"MAX_TOKENS\0CONTINUATION\0", PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false},
    {"SAFETY\0RECITATION\0BLOCKLIST\0PROHIBITED_CONTENT\0SPII\0MODEL_ARMOR\0"
     "IMAGE_*\0",
     PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false},
    {"MALFORMED_FUNCTION_CALL\0UNEXPECTED_TOOL_CALL\0OTHER\0MALFORMED_RESPONSE\0",
     PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true},
    {"LANGUAGE\0NO_IMAGE\0TOO_MANY_TOOL_CALLS\0MISSING_THOUGHT_SIGNATURE\0"
     "ESCALATION\0PUP_LIMITED_DISABLED\0",
     PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, false}};

/* The reasons why a prompt was blocked. Every word means a content filter. */
static const phi__stop_word phi__gemini_block_words[] = {
    {"*\0", PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false}};

static void phi__gemini_stop(phi__assembly *a, const phi__gemini_chunk *k) {
    bool blocked = k->finish.len == 0;
    if (blocked && k->block.len == 0) return;
    phi__gemini_put(a, &a->raw_stop_reason, blocked ? k->block : k->finish);
    a->terminal = true;
    if (blocked)
        phi__classify_stop(a, phi__gemini_block_words, PHI__COUNT(phi__gemini_block_words),
                           k->block_words);
    else
        phi__classify_stop(a, phi__gemini_stop_words, PHI__COUNT(phi__gemini_stop_words),
                           k->finish_words);
}

static void phi__gemini_take(phi__gemini_state *st, phi__assembly *a, const phi__gemini_chunk *k,
                             phi_str data) {
    phi__json_text text = {NULL, 0, false};
    if (k->has_error) {
        phi__classify_event(a, data);
        return;
    }
    if (!k->ours) return;
    phi__gemini_put(a, &a->response_id, k->id);
    phi__gemini_put(a, &a->model, k->model);
    phi__assembly_start(a);
    size_t block = phi__gemini_parts(st, a, k->parts, &text);
    phi__gemini_cite(a, k);
    if (k->usage.len != 0) {
        (void)phi__json_members_read(k->usage, phi__gemini_usage_members, st, NULL);
        uint64_t prompt = st->prompt + st->tools;
        a->usage.input = st->cached < prompt ? prompt - st->cached : 0;
        a->usage.cache_read = st->cached;
        a->usage.output = st->candidates + st->thoughts;
        a->usage.reasoning = st->thoughts;
    }
    phi__gemini_stop(a, k);
    if (block != SIZE_MAX && !a->terminal && k->cited.len <= 2)
        phi__delta_cache_learn(&st->in.repeat, a, data, text, block);
}

/* Reads an array of chunks, which is the API's answer without `alt=sse`. */
static void phi__gemini_array(phi__gemini_state *st, phi__assembly *a, phi_str data) {
    phi__json_cursor c;
    phi__gemini_chunk k;
    phi_str raw;
    if (!phi__json_cursor_in_array(&c, data)) return;
    while (phi__json_cursor_next_item(&c)) {
        if (!phi__json_cursor_take_raw(&c, &raw) || !phi__gemini_read(&k, raw)) break;
        phi__gemini_take(st, a, &k, raw);
    }
    st->in.broken = !phi__json_cursor_done(&c);
}

/* ---- for the codec ---- */

static void phi__gemini_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    phi__gemini_state *st = (phi__gemini_state *)state;
    phi__gemini_chunk k;
    if (!phi__decoding_takes(&st->in, a, name, data, true)) return;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    if (data.at[0] == '[')
        phi__gemini_array(st, a, data);
    else if (phi__gemini_read(&k, data))
        phi__gemini_take(st, a, &k, data);
    else
        st->in.broken = true;
    phi_arena_reset(&a->scratch, mark);
}

static void phi__gemini_end(void *state, phi__assembly *a) {
    phi__gemini_state *st = (phi__gemini_state *)state;
    if (a->terminal || a->failure.kind != PHI_FAILURE_NONE) return;
    phi__classify_truncated(a, st->in.heard);
}

static void phi__gemini_whole(void *state, phi__assembly *a, phi_str body) {
    phi__gemini_state *st = (phi__gemini_state *)state;
    phi_str json = phi__str_trim(body);
    phi__gemini_chunk k;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    if (json.len > 0 && json.at[0] == '[')
        phi__gemini_array(st, a, json);
    else if (phi__gemini_read(&k, json) && !k.has_error)
        phi__gemini_take(st, a, &k, json);
    if (!a->terminal && a->failure.kind == PHI_FAILURE_NONE) {
        if (a->started)
            phi__classify_truncated(a, true);
        else
            phi__classify_body(a, body);
    }
    phi_arena_reset(&a->scratch, mark);
}

/* ---- requests ---- */

#define PHI__GEMINI_MOST_OUTPUT 65536u /* max. output tokens of 2.5, thinking included */

static uint32_t phi__gemini_form(const phi__encoder *e, size_t at, bool after) {
    const phi_message *m = e->spec->items[at].message;
    uint32_t form = PHI__GEMINI_FORM;
    if (after && phi__gemini_blocks(e, m, false) == 0) return 0;
    if (after) form |= PHI__GEMINI_MEDIA;
    if (phi__gemini_vertex(e)) form |= PHI__GEMINI_VERTEX;
    if (m->role != PHI_ROLE_USER && phi__gemini_three(e)) form |= PHI__GEMINI_THREE;
    if (m->role != PHI_ROLE_ASSISTANT) {
        if ((e->spec->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) form |= PHI__GEMINI_NO_IMAGES;
        return form | e->media << PHI__GEMINI_MEDIA_SHIFT;
    }
    if (phi__render_same_origin(e, at))
        form |= PHI__GEMINI_ORIGIN | PHI__GEMINI_OWN;
    else if (m->model.len > 0 && phi__str_is(m->model, e->spec->model->id))
        form |= PHI__GEMINI_OWN;
    return form;
}

static void phi__gemini_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    phi__buf_text(out, "{\"functionResponse\":{");
    phi__gemini_id(e, out, m->tool_call_id);
    phi__gemini_name(out, "\"name\":", phi__gemini_result_name(e, m));
    phi__buf_text(out,
                  m->is_error ? ",\"response\":{\"error\":\"" : ",\"response\":{\"output\":\"");
    phi__gemini_result_text(e, m);
    phi__buf_text(out, "\"}");
    if (phi__gemini_blocks(e, m, true) > 0) {
        phi__buf_text(out, ",\"parts\":[");
        phi__gemini_put_blocks(e, m, true);
        phi__buf_char(out, ']');
    }
    phi__buf_text(out, "}}");
}

/* Writes an answer. Each part keeps its own signature, and thinking without a signature is left out
   because it does not help the model. Models since 3 require a signature in the first of parallel
   calls, so a call of another model gets the documented signature for such calls. */
static void phi__gemini_answer(phi__encoder *e, const phi_message *m, uint32_t form) {
    const phi_str none = {NULL, 0};
    phi__buf *out = &e->scratch;
    bool first = true;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi_str signature = (form & PHI__GEMINI_ORIGIN) != 0 ? c->signature : none;
        if (c->kind == PHI_CONTENT_THINKING && signature.len > 0 && !c->redacted)
            phi__gemini_parts_text(e, c->text, true, signature);
        else if (c->kind == PHI_CONTENT_TEXT && (!phi__render_blank(c->text) || signature.len > 0))
            phi__gemini_parts_text(e, c->text, false, signature);
        else if (phi__codec_is_call(c)) {
            if (first && signature.len == 0 && phi__gemini_three(e))
                signature = PHI__LIT(PHI__GEMINI_UNSIGNED);
            phi__json_write_item(out, "{\"functionCall\":{");
            phi__gemini_id(e, out, c->id);
            phi__gemini_name(out, "\"name\":", c->name);
            phi__buf_wrap(out, ",\"args\":", phi__render_arguments(e, c->arguments), "}");
            phi__gemini_sign(e, signature);
            phi__buf_char(out, '}');
            first = false;
        } else
            phi__gemini_parts_opaque(e, c, (form & PHI__GEMINI_OWN) != 0);
    }
}

static void phi__gemini_render(phi__encoder *e, const phi_message *m, size_t at, uint32_t form) {
    (void)at;
    if ((form & PHI__GEMINI_MEDIA) != 0)
        phi__gemini_put_blocks(e, m, false);
    else if (m->role == PHI_ROLE_USER)
        phi__render_parts(e, m, true, phi__gemini_said, phi__gemini_parts_block,
                          phi__gemini_opaque_user);
    else if (m->role == PHI_ROLE_TOOL_RESULT)
        phi__gemini_result(e, m);
    else
        phi__gemini_answer(e, m, form);
}

/* Results and the user's words are separate contents, though both have the role "user". */
static void phi__gemini_append(phi__encoder *e, const phi_message *m, size_t at, uint32_t form,
                               phi_str parts) {
    (void)at;
    if (parts.len > 0)
        phi__encode_role(e, (form & PHI__GEMINI_MEDIA) != 0 ? PHI_ROLE_USER : m->role,
                         m->role == PHI_ROLE_ASSISTANT
                             ? PHI__LIT("]},{\"role\":\"model\",\"parts\":[")
                             : PHI__LIT("]},{\"role\":\"user\",\"parts\":["),
                         parts);
}

/* ---- around the messages ---- */

/* Returns the nearest level that the model accepts. Models before 3 have budgets, for levels up to
   XHIGH. Only one of the later models knows XHIGH. */
static phi_thinking phi__gemini_takes_level(const phi_model *model, phi_thinking wanted) {
    phi_thinking highest =
        phi__gemini_version(model) < 30 || phi__gemini_has(model, "gemini-4-hydrogen")
            ? PHI_THINKING_XHIGH
            : PHI_THINKING_HIGH;
    return (unsigned)wanted > (unsigned)highest ? highest : wanted;
}

/* Returns the API's level. Pro 3.0 knows two levels. Pro models, and all models since 3.7, do not
   know MINIMAL. If thinking cannot be turned off, the lowest level is sent. */
static const char *phi__gemini_level(const phi_model *model, phi_thinking level) {
    bool pro = phi__gemini_has(model, "pro"), two = pro && phi__gemini_version(model) == 30;
    switch (phi__gemini_takes_level(model, level)) {
    case PHI_THINKING_OFF:
    case PHI_THINKING_MINIMAL: return pro || phi__gemini_version(model) >= 37 ? "LOW" : "MINIMAL";
    case PHI_THINKING_LOW: return "LOW";
    case PHI_THINKING_MEDIUM: return two ? "HIGH" : "MEDIUM";
    case PHI_THINKING_XHIGH:
    case PHI_THINKING_MAX: return "XHIGH";
    case PHI_THINKING_HIGH: break;
    }
    return "HIGH";
}

/* Models since 3 refuse sampling settings while they think. No model can be limited to one call. */
static uint32_t phi__gemini_takes(const phi__request_spec *spec) {
    bool thinks = spec->model->reasoning && spec->thinking != PHI_THINKING_OFF;
    uint32_t takes = PHI__TAKES_STOP | PHI__TAKES_SEED | PHI__TAKES_TIER;
    return thinks && phi__gemini_version(spec->model) >= 30 ? takes : takes | PHI__TAKES_SAMPLING;
}

/* Returns the thinking tokens of a model before 3. Pro needs at least 128, Flash at most 24,576. */
static uint32_t phi__gemini_budget(const phi__request_spec *spec) {
    bool pro = phi__gemini_has(spec->model, "pro");
    uint32_t budget = phi__render_budget(phi__gemini_takes_level(spec->model, spec->thinking));
    return (uint32_t)(pro ? phi__max(budget, 128) : phi__min(budget, 24576));
}

/* Writes the format. Its schema goes into `responseJsonSchema`, which knows the same keywords as a
   tool's schema. `responseSchema` knows fewer. */
static void phi__gemini_put_format(phi__encoder *e) {
    const phi_format *format = &e->spec->format;
    if (format->kind == PHI_FORMAT_TEXT) return;
    phi__buf_text(&e->scratch, ",\"responseMimeType\":\"application/json\"");
    if (format->kind != PHI_FORMAT_JSON_SCHEMA) return;
    phi__buf_text(&e->scratch, ",\"responseJsonSchema\":");
    phi__encode_insert(e, phi_str_of(format->schema));
}

/* Writes the tools. All functions are one element of the list, and each raw tool is another. The
   API refuses a tool choice without functions. */
static void phi__gemini_put_tools(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    size_t functions = 0, raws = 0;
    if (e->spec->tool_count == 0) return;
    for (size_t i = 0; i < e->spec->tool_count; i++)
        if (!e->spec->tools[i].is_raw) functions++;
    if (functions > 0) {
        phi_tool_choice choice = e->spec->tool_choice;
        phi__buf_text(out, ",\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"");
        phi__buf_text(out, choice == PHI_TOOL_CHOICE_NONE       ? "NONE"
                           : choice == PHI_TOOL_CHOICE_REQUIRED ? "ANY"
                                                                : "AUTO");
        if (e->spec->respond_only)
            phi__buf_text(out, "\",\"allowedFunctionNames\":[\"" PHI_RESPOND_TOOL "\"]");
        else
            phi__buf_char(out, '"');
        phi__buf_text(out, "}}");
    }
    phi__buf_text(out, functions > 0 ? ",\"tools\":[{\"functionDeclarations\":[" : ",\"tools\":[");
    for (size_t i = 0; i < e->spec->tool_count; i++) {
        if (e->spec->tools[i].is_raw) continue;
        phi__json_write_item(out, "{");
        (void)phi__strict_put_tool(e, &e->spec->tools[i], ",\"parametersJsonSchema\":");
        phi__buf_char(out, '}');
    }
    if (functions > 0) phi__buf_text(out, "]}");
    for (size_t i = 0; i < e->spec->tool_count; i++) {
        if (!e->spec->tools[i].is_raw) continue;
        if (functions + raws++ > 0) phi__buf_char(out, ',');
        phi__encode_insert(e, e->spec->tools[i].raw);
    }
    phi__buf_char(out, ']');
}

static void phi__gemini_head(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    if (!phi__render_blank(e->spec->system_prompt)) {
        phi__buf_text(out, "\"systemInstruction\":{\"parts\":[{");
        phi__records_str(out, "text", e->spec->system_prompt);
        phi__buf_text(out, "}]},");
    }
    static const phi__takes_keys keys = {"temperature",   "topP", "topK",
                                         "stopSequences", "seed", NULL};
    const phi__request_spec *spec = e->spec;
    const phi_model *model = spec->model;
    int version = phi__gemini_version(model);
    bool thinks = model->reasoning && spec->thinking != PHI_THINKING_OFF;
    uint32_t most = phi__takes_tokens(spec);
    uint32_t budget = 0;
    if (most == 0) most = PHI__TAKES_TOKENS;
    if (model->reasoning && version < 30) {
        budget = phi__gemini_budget(spec);
        if (most < PHI__GEMINI_MOST_OUTPUT)
            most =
                budget < PHI__GEMINI_MOST_OUTPUT - most ? most + budget : PHI__GEMINI_MOST_OUTPUT;
    }
    phi__buf_text(out, "\"generationConfig\":{\"maxOutputTokens\":");
    phi__buf_u64(out, most);
    phi__takes_put(e, &keys, phi__gemini_takes(spec));
    phi__gemini_put_format(e);
    if (model->reasoning) {
        phi__buf_text(out, ",\"thinkingConfig\":{");
        if (thinks) phi__buf_text(out, "\"includeThoughts\":true,");
        if (version >= 30) {
            phi__buf_text(out, "\"thinkingLevel\":\"");
            phi__buf_text(out, phi__gemini_level(model, spec->thinking));
            phi__buf_text(out, "\"}");
        } else {
            phi__buf_text(out, "\"thinkingBudget\":");
            phi__buf_u64(out, budget);
            phi__buf_char(out, '}');
        }
    }
    phi__buf_char(out, '}');
    if (e->spec->options.service_tier != NULL)
        phi__records_str(out, "serviceTier", phi_str_of(e->spec->options.service_tier));
    phi__gemini_put_tools(e);
    phi__buf_text(out, ",\"contents\":[");
    phi__encode_scratch(e);
}

static void phi__gemini_tail(phi__encoder *e) {
    phi__encode_glue(e, e->open_role != (phi_role)0 ? "]}]}" : "]}");
}

/* ---- the address ---- */

/* Makes the URL: the base, "{before}{id}:streamGenerateContent", and alt=sse. */
static void phi__gemini_url(phi__encoder *e, const char *version, const char *before) {
    phi_str id = phi__str_trim(phi_str_of(e->spec->model->id)), path;
    phi__buf *out = &e->scratch;
    if (id.len > 7 && memcmp(id.at, "models/", 7) == 0) id = phi__str_from(id, 7);
    phi__buf_clear(out);
    phi__buf_text(out, before);
    phi__buf_percent(out, id, "!$&'()*+,-.:;<=>@[]^_`{|}~");
    phi__buf_text(out, ":streamGenerateContent");
    if (!phi__encode_copy(e, &path)) return;
    phi__encode_url(e, version, true, path.at);
    if (e->failed) return;
    phi_str url = e->request.url;
    phi__buf_add_str(out, url);
    if (phi__str_find(url, 0, "alt=sse") == SIZE_MAX)
        phi__buf_text(out, phi__str_find(url, 0, "?") == SIZE_MAX ? "?alt=sse" : "&alt=sse");
    (void)phi__encode_copy(e, &e->request.url);
}

static void phi__gemini_address(phi__encoder *e) {
    phi__gemini_url(e, "/v1beta", "/models/");
    phi__gemini_headers(e, false);
}

/* A URL without a project means express mode, which has an API key instead of a token. */
static void phi__gemini_vertex_address(phi__encoder *e) {
    phi_str base = phi_str_of(e->spec->model->base_url);
    phi__gemini_url(e, "/v1", "/publishers/google/models/");
    phi__gemini_headers(e, phi__str_find(base, 0, "/projects/") != SIZE_MAX);
}

/* ---- the codecs ---- */

/* Other model families (Gemma) accept only text and images. */
static uint32_t phi__gemini_media(const phi_model *model) {
    if (phi__gemini_version(model) == 0) return 0;
    return PHI__MEDIA_PDF | PHI__MEDIA_URL | PHI__MEDIA_TEXT_FILE | PHI__MEDIA_SOUND |
           PHI__MEDIA_MORE_SOUND;
}

/* clang-format off */
static const char *const phi__gemini_owned[] = {
    "systemInstruction", "contents", "tools", "toolConfig.functionCallingConfig",
    "generationConfig.maxOutputTokens", "generationConfig.responseMimeType",
    "generationConfig.responseJsonSchema", NULL};

static const phi__codec_settings phi__gemini_settings = {phi__gemini_takes, phi__gemini_takes_level,
                                                         phi__gemini_owned, NULL};

/* The protocols of this wire. Its image types are from Google's image guide, November 2026. */
static const char *const phi__gemini_kin[] = {PHI_PROTOCOL_GOOGLE, PHI_PROTOCOL_VERTEX, NULL};

static const phi__codec_rules phi__gemini_rules = {
    NULL, phi__gemini_strict_form, phi__strict_gemini, phi__gemini_format_way,
    PHI__SCHEMA_TRIED, NULL, NULL, NULL,
    PHI__RULE_HEIF | PHI__RULE_LETTER_FIRST | PHI__RULE_USER_FIRST | PHI__RULE_USER_LAST,
    phi__gemini_media, phi__gemini_kin, NULL, NULL, NULL, NULL, &phi__gemini_settings, NULL};

PHI__FN const phi__codec *phi__gemini_codec(void) {
    static const phi__codec codec = {
        PHI__NAMES_GEMINI, &phi__gemini_rules, sizeof(phi__gemini_state), phi__gemini_head,
        phi__gemini_tail, phi__gemini_address, phi__gemini_form, phi__gemini_render,
        phi__gemini_append, phi__gemini_event, phi__gemini_end, phi__gemini_whole, NULL,
        NULL};
    return &codec;
}

PHI__FN const phi__codec *phi__gemini_codec_vertex(void) {
    static const phi__codec codec = {
        PHI__NAMES_VERTEX, &phi__gemini_rules, sizeof(phi__gemini_state), phi__gemini_head,
        phi__gemini_tail, phi__gemini_vertex_address, phi__gemini_form, phi__gemini_render,
        phi__gemini_append, phi__gemini_event, phi__gemini_end, phi__gemini_whole, NULL,
        NULL};
    return &codec;
}
/* clang-format on */
