/* gemini_stream.c - answers of Google's Gemini API and of Vertex AI: chunks to a message.

   A chunk is read in one pass without a tree into views of what matters, and then applied. Parts
   have no index: a part of the last part's kind continues it, unless both are signed. Calls come
   whole, except with an option of Vertex that phi does not set, whose pieces wait until the call's
   end. A part of any other kind is an opaque block. wire.md parts 1.3, 1.8, 1.9, 6 and 7. */
#include "codecs/gemini_in.h"

#include "codecs/kept_in.h"
#include "text/json_members_in.h"
#include "wire/classify_in.h"

enum { PHI__GEMINI_CITED_MOST = 1 << 20 }; /* bytes of citations, after which none is added */

/* The parts of a chunk, as they stand in its text; `at` NULL and length 0: absent, null or odd. */
typedef struct phi__gemini_chunk {
    phi__json_text id, model, finish, finish_words, block, block_words;
    phi_str parts, usage; /* raw JSON */
    phi_str grounding, cited, fetched;
    bool has_error, ours; /* ours: there is something that an answer has */
} phi__gemini_chunk;

typedef struct phi__gemini_part {
    phi__json_text text, signature, id, name;
    phi_str args, pieces; /* raw JSON */
    bool thought, is_call, goes_on;
} phi__gemini_part;

/* An empty text leaves the earlier one. */
static void phi__gemini_stream_put(phi__assembly *a, phi__buf *buf, phi__json_text text) {
    if (text.len > 0) phi__assembly_put(a, buf, text);
}

/* ---- reading a chunk ---- */

static const phi__json_member phi__gemini_content_list[] = {
    PHI__MEMBER(phi__gemini_chunk, parts, "parts", PHI__MEMBER_ARRAY)};
static const phi__json_members phi__gemini_content_members = {phi__gemini_content_list,
                                                              PHI__COUNT(phi__gemini_content_list)};

static const phi__json_member phi__gemini_candidate_list[] = {
    PHI__MEMBER_INSIDE("content", &phi__gemini_content_members),
    PHI__MEMBER(phi__gemini_chunk, finish, "finishReason", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_chunk, finish_words, "finishMessage", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_chunk, grounding, "groundingMetadata", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__gemini_chunk, cited, "citationMetadata", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__gemini_chunk, fetched, "urlContextMetadata", PHI__MEMBER_OBJECT)};
static const phi__json_members phi__gemini_candidate_members = {
    phi__gemini_candidate_list, PHI__COUNT(phi__gemini_candidate_list)};

static const phi__json_member phi__gemini_feedback_list[] = {
    PHI__MEMBER(phi__gemini_chunk, block, "blockReason", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_chunk, block_words, "blockReasonMessage", PHI__MEMBER_TEXT)};
static const phi__json_members phi__gemini_feedback_members = {
    phi__gemini_feedback_list, PHI__COUNT(phi__gemini_feedback_list)};

/* Only the first candidate: more are never asked for. The error stands first: all else is ours. */
static const phi__json_member phi__gemini_chunk_list[] = {
    PHI__MEMBER_TAKE(phi__gemini_chunk, has_error, "error", phi__classify_take_flag),
    PHI__MEMBER_INSIDE_FIRST("candidates", &phi__gemini_candidate_members),
    PHI__MEMBER_INSIDE("promptFeedback", &phi__gemini_feedback_members),
    PHI__MEMBER(phi__gemini_chunk, usage, "usageMetadata", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__gemini_chunk, model, "modelVersion", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_chunk, id, "responseId", PHI__MEMBER_TEXT)};
static const phi__json_members phi__gemini_chunk_members = {phi__gemini_chunk_list,
                                                            PHI__COUNT(phi__gemini_chunk_list)};

static bool phi__gemini_stream_read(phi__gemini_chunk *k, phi_str data) {
    uint32_t seen = 0;
    bool good;
    memset(k, 0, sizeof *k);
    good = phi__json_members_read(data, &phi__gemini_chunk_members, k, &seen);
    k->ours = seen > 1;
    return good;
}

/* ---- reading a part ---- */

static const phi__json_member phi__gemini_call_list[] = {
    PHI__MEMBER(phi__gemini_part, id, "id", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_part, name, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_part, args, "args", PHI__MEMBER_OBJECT),
    PHI__MEMBER(phi__gemini_part, pieces, "partialArgs", PHI__MEMBER_ARRAY),
    PHI__MEMBER(phi__gemini_part, goes_on, "willContinue", PHI__MEMBER_BOOL)};
static const phi__json_members phi__gemini_call_members = {phi__gemini_call_list,
                                                           PHI__COUNT(phi__gemini_call_list)};

static void phi__gemini_stream_take_call(phi__json_cursor *c, void *part) {
    phi__gemini_part *p = (phi__gemini_part *)part;
    p->is_call = phi__json_cursor_peek(c) == PHI_JSON_OBJECT;
    (void)phi__json_members_take(c, &phi__gemini_call_members, p);
}

static const phi__json_member phi__gemini_part_list[] = {
    PHI__MEMBER(phi__gemini_part, text, "text", PHI__MEMBER_TEXT),
    PHI__MEMBER(phi__gemini_part, thought, "thought", PHI__MEMBER_BOOL),
    PHI__MEMBER(phi__gemini_part, signature, "thoughtSignature", PHI__MEMBER_TEXT),
    PHI__MEMBER_TAKE_ALL("functionCall", phi__gemini_stream_take_call)};
static const phi__json_members phi__gemini_part_members = {phi__gemini_part_list,
                                                           PHI__COUNT(phi__gemini_part_list)};

/* ---- text and thinking ---- */

/* The block a part belongs to: the last one, where that is of its kind and not signed otherwise. */
static size_t phi__gemini_stream_block(phi__assembly *a, const phi__gemini_part *p) {
    phi_content_kind kind = p->thought ? PHI_CONTENT_THINKING : PHI_CONTENT_TEXT;
    const phi__draft *last;
    if (a->count == 0) return phi__assembly_open(a, kind, -1);
    last = &a->drafts[a->count - 1];
    if (last->kind == kind && p->text.len > 0 && p->signature.len > 0 && last->signature.len > 0)
        phi__assembly_close(a, a->count - 1);
    return phi__assembly_current(a, kind);
}

/* Returns the block of a part that is text and nothing else; SIZE_MAX: it is more, or nothing. */
static size_t phi__gemini_stream_text(phi__assembly *a, const phi__gemini_part *p) {
    size_t block;
    if (p->text.len == 0 && p->signature.len == 0) return SIZE_MAX;
    block = phi__gemini_stream_block(a, p);
    phi__assembly_add_text(a, block, p->text);
    if (block == SIZE_MAX || p->signature.len == 0) return block;
    phi__gemini_stream_put(a, &a->drafts[block].signature, p->signature);
    return SIZE_MAX;
}

/* ---- calls ---- */

/* The pieces wait in a field that a call does not use: `[` and the text between the brackets. */
static void phi__gemini_stream_keep_pieces(phi__assembly *a, size_t block, phi_str pieces) {
    phi_str inner;
    if (pieces.len <= 2) return;
    inner = phi__str_trim(phi__str(pieces.at + 1, pieces.len - 2));
    if (inner.len == 0) return;
    phi__assembly_wait(a, block, a->drafts[block].replay.len == 0 ? PHI__LIT("[") : PHI__LIT(","));
    phi__assembly_wait(a, block, inner);
}

static void phi__gemini_stream_close_call(phi__assembly *a, size_t block) {
    const phi__draft *d = &a->drafts[block];
    phi_str arguments;
    phi_status status;
    if (d->replay_open) {
        status = phi__gemini_pieces_join(&a->scratch, phi__buf_str(&d->replay), &arguments);
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

static void phi__gemini_stream_call(phi__gemini_state *st, phi__assembly *a,
                                    const phi__gemini_part *p) {
    phi__draft *d;
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
    d = &a->drafts[block];
    phi__gemini_stream_put(a, &d->id, p->id);
    phi__gemini_stream_put(a, &d->name, p->name);
    phi__gemini_stream_put(a, &d->signature, p->signature);
    phi__gemini_stream_keep_pieces(a, block, p->pieces);
    if (p->args.len > 2) phi__assembly_add(a, block, p->args);
    if (p->goes_on)
        st->in_call = true;
    else
        phi__gemini_stream_close_call(a, block);
}

/* ---- parts of other kinds ---- */

/* The name of the member that makes it a part of another kind; length 0: it is none. Members that
   describe the part's data do not count. */
static phi__json_text phi__gemini_stream_other(phi_str raw) {
    static const char *const beside[] = {
        "text",          "thought",         "thoughtSignature",    "functionCall",
        "partMetadata",  "videoMetadata",   "mediaResolution",     "documentMetadata",
        "audioMetadata", "mediaProcessing", "spreadsheetMetadata", "speechMetadata"};
    phi__json_cursor c;
    phi__json_text key, none = {NULL, 0, false};
    phi__json_cursor_init(&c, raw);
    if (!phi__json_cursor_enter_object(&c)) return none;
    while (phi__json_cursor_next_key(&c, &key)) {
        bool known = phi__json_cursor_peek(&c) == PHI_JSON_NULL;
        size_t i;
        for (i = 0; i < PHI__COUNT(beside) && !known; i++)
            known = phi__json_cursor_text_is(key, phi_str_of(beside[i]));
        if (!known) return key;
        (void)phi__json_cursor_skip(&c);
    }
    return none;
}

/* A part comes whole. Broken JSON is left out. */
static void phi__gemini_stream_opaque(phi__gemini_state *st, phi__assembly *a, phi_str raw,
                                      phi__json_text kind) {
    phi_str name;
    if (!phi__kept_is_object(&a->scratch, raw, &a->no_memory)) return;
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

/* Removes the objects that begin with `start` from the array. */
static void phi__gemini_stream_uncite(phi__assembly *a, phi__buf *list, const char *start) {
    phi__json_cursor c;
    phi__buf rest;
    phi_str one;
    if (list->len == 0 || phi__str_find(phi__buf_str(list), 0, start) == SIZE_MAX) return;
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

/* Sources grow from chunk to chunk, so the last ones count; citations are those of the chunk's own
   text. */
static void phi__gemini_stream_cite_as(phi__assembly *a, size_t block, const char *start,
                                       phi_str raw, bool replaces) {
    phi__buf *list = &a->drafts[block].citations;
    phi__buf json;
    if (raw.len <= 2) return;
    phi__buf_init(&json, a->memory);
    phi__buf_text(&json, start);
    phi__buf_add_str(&json, raw);
    phi__buf_char(&json, '}');
    if (replaces) phi__gemini_stream_uncite(a, list, start);
    if (json.failed) a->no_memory = true;
    if (replaces || list->len < PHI__GEMINI_CITED_MOST)
        phi__assembly_cite(a, block, phi__buf_str(&json));
    phi__buf_free(&json);
}

/* All citations are those of the last text. */
static void phi__gemini_stream_cite(phi__assembly *a, const phi__gemini_chunk *k) {
    size_t block, i;
    if (k->grounding.len <= 2 && k->cited.len <= 2 && k->fetched.len <= 2) return;
    block = phi__kept_text(a);
    if (block == SIZE_MAX) return;
    for (i = 0; i < block; i++) {
        phi__buf old = a->drafts[i].citations;
        if (old.len == 0) continue;
        a->drafts[i].citations = a->drafts[block].citations;
        a->drafts[block].citations = old;
    }
    phi__gemini_stream_cite_as(a, block, "{\"groundingMetadata\":", k->grounding, true);
    phi__gemini_stream_cite_as(a, block, "{\"citationMetadata\":", k->cited, false);
    phi__gemini_stream_cite_as(a, block, "{\"urlContextMetadata\":", k->fetched, true);
}

/* ---- a chunk ---- */

/* The block and the text of a chunk that is a single piece of text; SIZE_MAX: it is more. */
static size_t phi__gemini_stream_parts(phi__gemini_state *st, phi__assembly *a, phi_str raw,
                                       phi__json_text *text) {
    phi__json_cursor c;
    phi__gemini_part p;
    size_t count = 0, block = SIZE_MAX;
    if (raw.len == 0) return SIZE_MAX;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_cursor_enter_array(&c)) return SIZE_MAX;
    while (phi__json_cursor_next_item(&c)) {
        phi__json_text other = {NULL, 0, false};
        const char *from = c.at;
        phi_str one;
        memset(&p, 0, sizeof p);
        (void)phi__json_members_take(&c, &phi__gemini_part_members, &p);
        one = phi__str_trim(phi__str(from, (size_t)(c.at - from)));
        block = SIZE_MAX;
        if (!p.is_call && p.text.len == 0) other = phi__gemini_stream_other(one);
        if (p.is_call)
            phi__gemini_stream_call(st, a, &p);
        else if (other.len > 0)
            phi__gemini_stream_opaque(st, a, one, other);
        else {
            if (p.text.len > 0) st->in_call = false; /* a call without an end now never gets one */
            block = phi__gemini_stream_text(a, &p);
        }
        *text = p.text;
        count++;
    }
    return count == 1 ? block : SIZE_MAX;
}

/* Counts are cumulative; absent counts leave earlier ones. */
static const phi__json_member phi__gemini_usage_list[] = {
    PHI__MEMBER(phi__gemini_state, prompt, "promptTokenCount", PHI__MEMBER_U64),
    PHI__MEMBER(phi__gemini_state, candidates, "candidatesTokenCount", PHI__MEMBER_U64),
    PHI__MEMBER(phi__gemini_state, cached, "cachedContentTokenCount", PHI__MEMBER_U64),
    PHI__MEMBER(phi__gemini_state, tools, "toolUsePromptTokenCount", PHI__MEMBER_U64),
    PHI__MEMBER(phi__gemini_state, thoughts, "thoughtsTokenCount", PHI__MEMBER_U64)};
static const phi__json_members phi__gemini_usage_members = {phi__gemini_usage_list,
                                                            PHI__COUNT(phi__gemini_usage_list)};

static void phi__gemini_stream_usage(phi__gemini_state *st, phi__assembly *a, phi_str raw) {
    uint64_t prompt;
    if (raw.len == 0) return;
    (void)phi__json_members_read(raw, &phi__gemini_usage_members, st, NULL);
    prompt = st->prompt + st->tools;
    a->usage.input = st->cached < prompt ? prompt - st->cached : 0;
    a->usage.cache_read = st->cached;
    a->usage.output = st->candidates + st->thoughts;
    a->usage.reasoning = st->thoughts;
}

static bool phi__gemini_stream_guards(phi_str word) {
    static const char *const words[] = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT",
                                        "SPII",   "MODEL_ARMOR"};
    size_t i;
    for (i = 0; i < PHI__COUNT(words); i++)
        if (phi__str_is(word, words[i])) return true;
    return word.len > 6 && memcmp(word.at, "IMAGE_", 6) == 0;
}

/* In the provider's own words, where it has some. */
static void phi__gemini_stream_fail(phi__assembly *a, phi_failure_kind kind, bool retryable,
                                    phi__json_text said) {
    phi_str word = phi__buf_str(&a->raw_stop_reason), words = {NULL, 0};
    if (said.len > 0 && !phi__json_cursor_unescape_arena(&a->scratch, said, &words))
        a->no_memory = true;
    if (words.len > 0)
        phi__assembly_fail(a, kind, retryable, word, words);
    else
        phi__classify_stop(a, kind, retryable, word);
}

/* Words for a turn that failed; `again`: the model may avoid its mistake the next time.
   google-genai 3.6.1, FinishReason, November 2026. */
static bool phi__gemini_stream_fails(phi_str word, bool *again) {
    static const char *const words[] = {"MALFORMED_FUNCTION_CALL",
                                        "UNEXPECTED_TOOL_CALL",
                                        "OTHER",
                                        "MALFORMED_RESPONSE",
                                        "LANGUAGE",
                                        "NO_IMAGE",
                                        "TOO_MANY_TOOL_CALLS",
                                        "MISSING_THOUGHT_SIGNATURE",
                                        "ESCALATION",
                                        "PUP_LIMITED_DISABLED"};
    size_t i;
    for (i = 0; i < PHI__COUNT(words); i++)
        if (phi__str_is(word, words[i])) {
            *again = i < 4;
            return true;
        }
    return false;
}

static void phi__gemini_stream_stop(phi__assembly *a, const phi__gemini_chunk *k) {
    phi_str word;
    bool blocked = k->finish.len == 0, again = false;
    if (blocked && k->block.len == 0) return;
    phi__gemini_stream_put(a, &a->raw_stop_reason, blocked ? k->block : k->finish);
    word = phi__buf_str(&a->raw_stop_reason);
    a->terminal = true;
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    if (blocked)
        phi__gemini_stream_fail(a, PHI_FAILURE_CONTENT_FILTER, false, k->block_words);
    else if (phi__gemini_stream_guards(word))
        phi__gemini_stream_fail(a, PHI_FAILURE_CONTENT_FILTER, false, k->finish_words);
    else if (phi__str_is(word, "STOP"))
        a->stop_reason = PHI_STOP_REASON_STOP;
    else if (phi__str_is(word, "MAX_TOKENS") || phi__str_is(word, "CONTINUATION"))
        a->stop_reason = PHI_STOP_REASON_LENGTH; /* CONTINUATION: of one request's output */
    else if (phi__gemini_stream_fails(word, &again))
        phi__gemini_stream_fail(a, PHI_FAILURE_SERVER, again, k->finish_words);
    else
        phi__assembly_unknown_stop(a);
}

static void phi__gemini_stream_take(phi__gemini_state *st, phi__assembly *a,
                                    const phi__gemini_chunk *k, phi_str data) {
    phi__json_text text = {NULL, 0, false};
    size_t block;
    if (k->has_error) {
        phi__classify_event(a, data);
        return;
    }
    if (!k->ours) return;
    phi__gemini_stream_put(a, &a->response_id, k->id);
    phi__gemini_stream_put(a, &a->model, k->model);
    phi__assembly_start(a);
    block = phi__gemini_stream_parts(st, a, k->parts, &text);
    phi__gemini_stream_cite(a, k);
    phi__gemini_stream_usage(st, a, k->usage);
    phi__gemini_stream_stop(a, k);
    if (block != SIZE_MAX && !a->terminal && k->cited.len <= 2)
        phi__delta_cache_learn(&st->repeat, a, data, text, block);
}

/* An array of chunks: the API's answer without `alt=sse`. */
static void phi__gemini_stream_array(phi__gemini_state *st, phi__assembly *a, phi_str data) {
    phi__json_cursor c;
    phi__gemini_chunk k;
    phi_str raw;
    phi__json_cursor_init(&c, data);
    if (!phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_item(&c)) {
        if (!phi__json_cursor_take_raw(&c, &raw) || !phi__gemini_stream_read(&k, raw)) break;
        phi__gemini_stream_take(st, a, &k, raw);
    }
    st->broken = !phi__json_cursor_done(&c);
}

/* ---- for the codec ---- */

PHI__FN void phi__gemini_stream_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    phi__gemini_state *st = (phi__gemini_state *)state;
    phi_arena_mark mark;
    phi__gemini_chunk k;
    if (data.len == 0 || a->no_memory) return;
    if (st->broken) {
        phi__classify_bad_event(a);
        return;
    }
    if (phi__str_is(name, "error")) {
        phi__classify_event(a, data);
        return;
    }
    if (phi__delta_cache_add(&st->repeat, a, data)) return;
    if (data.at[0] != '{' && data.at[0] != '[') return; /* words of a gateway: nothing of ours */
    st->heard = true;
    phi__delta_cache_forget(&st->repeat);
    mark = phi_arena_save(&a->scratch);
    if (data.at[0] == '[')
        phi__gemini_stream_array(st, a, data);
    else if (phi__gemini_stream_read(&k, data))
        phi__gemini_stream_take(st, a, &k, data);
    else
        st->broken = true;
    phi_arena_reset(&a->scratch, mark);
}

PHI__FN void phi__gemini_stream_end(void *state, phi__assembly *a) {
    phi__gemini_state *st = (phi__gemini_state *)state;
    if (a->terminal || a->failure.kind != PHI_FAILURE_NONE) return;
    phi__classify_truncated(a, st->heard);
}

PHI__FN void phi__gemini_stream_whole(void *state, phi__assembly *a, phi_str body) {
    phi__gemini_state *st = (phi__gemini_state *)state;
    phi_str json = phi__str_trim(body);
    phi__gemini_chunk k;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    if (json.len > 0 && json.at[0] == '[')
        phi__gemini_stream_array(st, a, json);
    else if (phi__gemini_stream_read(&k, json) && !k.has_error)
        phi__gemini_stream_take(st, a, &k, json);
    if (!a->terminal && a->failure.kind == PHI_FAILURE_NONE) {
        if (a->started)
            phi__classify_truncated(a, true);
        else
            phi__classify_body(a, body);
    }
    phi_arena_reset(&a->scratch, mark);
}
