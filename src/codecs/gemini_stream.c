/* gemini_stream.c - answers of Google's Gemini API and of Vertex AI: chunks to a message.

   A chunk is read in one pass without a tree into views of what matters, and then applied. Parts
   have no index: a part of the last part's kind continues it, unless both are signed. Calls come
   whole, except with an option of Vertex that phi does not set, whose pieces wait until the call's
   end. wire.md parts 1.3, 1.8, 1.9, 6 and 7. */
#include "codecs/gemini_in.h"

#include "text/json_cursor_in.h"
#include "wire/classify_in.h"

#if !defined(PHI_NO_GEMINI) || !defined(PHI_NO_VERTEX)

#define PHI__GEM_IS(text, literal) phi__json_text_is((text), PHI__LIT(literal))

/* What a chunk holds, as it stands in its text; `at` NULL and length 0: absent, null or odd. */
typedef struct phi__gem_chunk {
    phi__json_text id, model, finish, finish_words, block, block_words;
    phi_str parts, usage; /* raw JSON */
    bool has_error, ours; /* ours: there is something that an answer has */
} phi__gem_chunk;

typedef struct phi__gem_part {
    phi__json_text text, signature, id, name;
    phi_str args, pieces; /* raw JSON */
    bool thought, is_call, goes_on;
} phi__gem_part;

static void phi__gem_put(phi__assembly *a, phi__buf *buf, phi__json_text text) {
    if (text.len == 0) return; /* earlier counts stay */
    phi__buf_clear(buf);
    phi__json_unescape(buf, text);
    if (buf->failed) a->no_memory = true;
}

/* Raw JSON of a type; anything else is read over. */
static void phi__gem_raw(phi__json_cursor *c, phi_json_type type, phi_str *out) {
    if (phi__json_peek(c) == type)
        phi__json_take_raw(c, out);
    else
        phi__json_skip(c);
}

/* ---- reading a chunk ---- */

static void phi__gem_read_content(phi__json_cursor *c, phi__gem_chunk *k) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__GEM_IS(key, "parts"))
            phi__gem_raw(c, PHI_JSON_ARRAY, &k->parts);
        else
            phi__json_skip(c);
    }
}

static void phi__gem_read_candidate(phi__json_cursor *c, phi__gem_chunk *k) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__GEM_IS(key, "content"))
            phi__gem_read_content(c, k);
        else if (PHI__GEM_IS(key, "finishReason"))
            phi__json_take_text(c, &k->finish);
        else if (PHI__GEM_IS(key, "finishMessage"))
            phi__json_take_text(c, &k->finish_words);
        else
            phi__json_skip(c);
    }
}

/* Only the first candidate: more are never asked for. */
static void phi__gem_read_candidates(phi__json_cursor *c, phi__gem_chunk *k) {
    bool first = true;
    if (!phi__json_enter_array(c)) return;
    while (phi__json_next_item(c)) {
        if (first)
            phi__gem_read_candidate(c, k);
        else
            phi__json_skip(c);
        first = false;
    }
}

static void phi__gem_read_feedback(phi__json_cursor *c, phi__gem_chunk *k) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__GEM_IS(key, "blockReason"))
            phi__json_take_text(c, &k->block);
        else if (PHI__GEM_IS(key, "blockReasonMessage"))
            phi__json_take_text(c, &k->block_words);
        else
            phi__json_skip(c);
    }
}

static bool phi__gem_read(phi__gem_chunk *k, phi_str data) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str error;
    memset(k, 0, sizeof *k);
    phi__json_cursor_init(&c, data);
    if (!phi__json_enter_object(&c)) return false;
    while (phi__json_next_key(&c, &key)) {
        bool ours = true;
        if (PHI__GEM_IS(key, "candidates"))
            phi__gem_read_candidates(&c, k);
        else if (PHI__GEM_IS(key, "promptFeedback"))
            phi__gem_read_feedback(&c, k);
        else if (PHI__GEM_IS(key, "usageMetadata"))
            phi__gem_raw(&c, PHI_JSON_OBJECT, &k->usage);
        else if (PHI__GEM_IS(key, "modelVersion"))
            phi__json_take_text(&c, &k->model);
        else if (PHI__GEM_IS(key, "responseId"))
            phi__json_take_text(&c, &k->id);
        else {
            if (PHI__GEM_IS(key, "error"))
                k->has_error = phi__classify_take_error(&c, &error);
            else
                phi__json_skip(&c);
            ours = false;
        }
        k->ours = k->ours || ours;
    }
    return phi__json_cursor_done(&c);
}

/* ---- reading a part ---- */

static void phi__gem_read_call(phi__json_cursor *c, phi__gem_part *p) {
    phi__json_text key;
    p->is_call = phi__json_peek(c) == PHI_JSON_OBJECT;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__GEM_IS(key, "id"))
            phi__json_take_text(c, &p->id);
        else if (PHI__GEM_IS(key, "name"))
            phi__json_take_text(c, &p->name);
        else if (PHI__GEM_IS(key, "args"))
            phi__gem_raw(c, PHI_JSON_OBJECT, &p->args);
        else if (PHI__GEM_IS(key, "partialArgs"))
            phi__gem_raw(c, PHI_JSON_ARRAY, &p->pieces);
        else if (PHI__GEM_IS(key, "willContinue"))
            phi__json_take_bool(c, &p->goes_on);
        else
            phi__json_skip(c);
    }
}

static void phi__gem_read_part(phi__json_cursor *c, phi__gem_part *p) {
    phi__json_text key;
    memset(p, 0, sizeof *p);
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__GEM_IS(key, "text"))
            phi__json_take_text(c, &p->text);
        else if (PHI__GEM_IS(key, "thought"))
            phi__json_take_bool(c, &p->thought);
        else if (PHI__GEM_IS(key, "thoughtSignature"))
            phi__json_take_text(c, &p->signature);
        else if (PHI__GEM_IS(key, "functionCall"))
            phi__gem_read_call(c, p);
        else
            phi__json_skip(c);
    }
}

/* ---- text and thinking ---- */

/* The block a part belongs to: the last one, where that is of its kind and not signed otherwise. */
static size_t phi__gem_block(phi__assembly *a, const phi__gem_part *p) {
    phi_content_kind kind = p->thought ? PHI_CONTENT_THINKING : PHI_CONTENT_TEXT;
    const phi__draft *last;
    if (a->count == 0) return phi__assembly_open(a, kind, -1);
    last = &a->drafts[a->count - 1];
    if (last->kind == kind && p->text.len > 0 && p->signature.len > 0 && last->signature.len > 0)
        phi__assembly_close(a, a->count - 1);
    return phi__assembly_current(a, kind);
}

/* Returns the block of a part that is text and nothing else; SIZE_MAX: it is more, or nothing. */
static size_t phi__gem_text(phi__assembly *a, const phi__gem_part *p) {
    size_t block;
    if (p->text.len == 0 && p->signature.len == 0) return SIZE_MAX;
    block = phi__gem_block(a, p);
    phi__assembly_add_json(a, block, phi__str(p->text.at, p->text.len), p->text.escaped);
    if (block == SIZE_MAX || p->signature.len == 0) return block;
    phi__gem_put(a, &a->drafts[block].signature, p->signature);
    return SIZE_MAX;
}

/* ---- calls ---- */

/* The pieces wait in a field that a call does not use: `[` and the text between the brackets. */
static void phi__gem_keep_pieces(phi__assembly *a, phi__draft *d, phi_str pieces) {
    phi_str inner;
    if (pieces.len <= 2) return;
    inner = phi__str_trim(phi__str(pieces.at + 1, pieces.len - 2));
    if (inner.len == 0) return;
    d->replay_open = true;
    phi__buf_char(&d->replay, d->replay.len == 0 ? '[' : ',');
    phi__buf_add_str(&d->replay, inner);
    if (d->replay.failed) a->no_memory = true;
}

static void phi__gem_close_call(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    phi_str arguments;
    phi_status status;
    if (d->replay_open) {
        status = phi__gemini_join(&a->scratch, phi__buf_str(&d->replay), &arguments);
        if (status == PHI_NO_MEMORY) a->no_memory = true;
        if (status != PHI_OK) {
            phi__assembly_fail(a, PHI_FAILURE_SERVER, true, PHI__LIT("bad_arguments"),
                               PHI__LIT("the server sent arguments in pieces that do not fit"));
            return;
        }
        if (d->bytes.len == 0) phi__assembly_add(a, block, arguments);
        phi__buf_free(&a->drafts[block].replay);
        a->drafts[block].replay_open = false;
    }
    phi__assembly_close(a, block);
}

static void phi__gem_call(phi__gemini_state *st, phi__assembly *a, const phi__gem_part *p) {
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
    phi__gem_put(a, &d->id, p->id);
    phi__gem_put(a, &d->name, p->name);
    phi__gem_put(a, &d->signature, p->signature);
    phi__gem_keep_pieces(a, d, p->pieces);
    if (p->args.len > 2) phi__assembly_add(a, block, p->args);
    if (p->goes_on)
        st->in_call = true;
    else
        phi__gem_close_call(a, block);
}

/* ---- a chunk ---- */

/* The block and the text of a chunk that is a single piece of text; SIZE_MAX: it is more. */
static size_t phi__gem_parts(phi__gemini_state *st, phi__assembly *a, phi_str raw,
                             phi__json_text *text) {
    phi__json_cursor c;
    phi__gem_part p;
    size_t count = 0, block = SIZE_MAX;
    if (raw.len == 0) return SIZE_MAX;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_enter_array(&c)) return SIZE_MAX;
    while (phi__json_next_item(&c)) {
        phi__gem_read_part(&c, &p);
        block = SIZE_MAX;
        if (p.is_call)
            phi__gem_call(st, a, &p);
        else {
            if (p.text.len > 0) st->in_call = false; /* a call without an end now never gets one */
            block = phi__gem_text(a, &p);
        }
        *text = p.text;
        count++;
    }
    return count == 1 ? block : SIZE_MAX;
}

/* Counts are cumulative; absent counts leave earlier ones. */
static void phi__gem_usage(phi__gemini_state *st, phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi__json_text key;
    uint64_t prompt;
    if (raw.len == 0) return;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_enter_object(&c)) return;
    while (phi__json_next_key(&c, &key)) {
        if (PHI__GEM_IS(key, "promptTokenCount"))
            phi__json_take_u64(&c, &st->prompt);
        else if (PHI__GEM_IS(key, "toolUsePromptTokenCount"))
            phi__json_take_u64(&c, &st->tools);
        else if (PHI__GEM_IS(key, "cachedContentTokenCount"))
            phi__json_take_u64(&c, &st->cached);
        else if (PHI__GEM_IS(key, "candidatesTokenCount"))
            phi__json_take_u64(&c, &st->candidates);
        else if (PHI__GEM_IS(key, "thoughtsTokenCount"))
            phi__json_take_u64(&c, &st->thoughts);
        else
            phi__json_skip(&c);
    }
    prompt = st->prompt + st->tools;
    a->usage.input = st->cached < prompt ? prompt - st->cached : 0;
    a->usage.cache_read = st->cached;
    a->usage.output = st->candidates + st->thoughts;
    a->usage.reasoning = st->thoughts;
}

static bool phi__gem_guards(phi_str word) {
    static const char *const words[] = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT",
                                        "SPII"};
    size_t i;
    for (i = 0; i < PHI__COUNT(words); i++)
        if (phi__str_is(word, words[i])) return true;
    return word.len > 6 && memcmp(word.at, "IMAGE_", 6) == 0;
}

/* In the provider's own words, where it has some. */
static void phi__gem_fail(phi__assembly *a, phi_failure_kind kind, bool retryable,
                          phi__json_text said) {
    phi_str word = phi__buf_str(&a->raw_stop_reason), words = {NULL, 0};
    if (said.len > 0 && !phi__json_unescape_arena(&a->scratch, said, &words)) a->no_memory = true;
    if (words.len > 0)
        phi__assembly_fail(a, kind, retryable, word, words);
    else
        phi__classify_stop(a, kind, retryable, word);
}

static void phi__gem_stop(phi__assembly *a, const phi__gem_chunk *k) {
    phi_str word;
    bool blocked = k->finish.len == 0;
    if (blocked && k->block.len == 0) return;
    phi__gem_put(a, &a->raw_stop_reason, blocked ? k->block : k->finish);
    word = phi__buf_str(&a->raw_stop_reason);
    a->terminal = true;
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    if (blocked)
        phi__gem_fail(a, PHI_FAILURE_CONTENT_FILTER, false, k->block_words);
    else if (phi__gem_guards(word))
        phi__gem_fail(a, PHI_FAILURE_CONTENT_FILTER, false, k->finish_words);
    else if (phi__str_is(word, "STOP"))
        a->stop_reason = PHI_STOP_REASON_STOP;
    else if (phi__str_is(word, "MAX_TOKENS"))
        a->stop_reason = PHI_STOP_REASON_LENGTH;
    else /* what the model got wrong it may get right the next time */
        phi__gem_fail(a, PHI_FAILURE_SERVER,
                      phi__str_is(word, "MALFORMED_FUNCTION_CALL") ||
                          phi__str_is(word, "UNEXPECTED_TOOL_CALL") || phi__str_is(word, "OTHER"),
                      k->finish_words);
}

static void phi__gem_take(phi__gemini_state *st, phi__assembly *a, const phi__gem_chunk *k,
                          phi_str data) {
    phi__json_text text = {NULL, 0, false};
    size_t block;
    if (k->has_error) {
        phi__classify_event(a, data);
        return;
    }
    if (!k->ours) return;
    phi__gem_put(a, &a->response_id, k->id);
    phi__gem_put(a, &a->model, k->model);
    phi__assembly_start(a);
    block = phi__gem_parts(st, a, k->parts, &text);
    phi__gem_usage(st, a, k->usage);
    phi__gem_stop(a, k);
    if (block != SIZE_MAX && !a->terminal)
        phi__delta_cache_learn(&st->repeat, a, data, text, block);
}

/* An array of chunks: what the API answers where it was not asked for events. */
static void phi__gem_array(phi__gemini_state *st, phi__assembly *a, phi_str data) {
    phi__json_cursor c;
    phi__gem_chunk k;
    phi_str raw;
    phi__json_cursor_init(&c, data);
    if (!phi__json_enter_array(&c)) return;
    while (phi__json_next_item(&c)) {
        if (!phi__json_take_raw(&c, &raw) || !phi__gem_read(&k, raw)) break;
        phi__gem_take(st, a, &k, raw);
    }
    st->broken = !phi__json_cursor_done(&c);
}

/* ---- for the codec ---- */

PHI__FN void phi__gemini_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    phi__gemini_state *st = (phi__gemini_state *)state;
    phi_arena_mark mark;
    phi__gem_chunk k;
    if (data.len == 0 || a->no_memory) return;
    if (st->broken) {
        phi__assembly_fail(a, PHI_FAILURE_SERVER, true, PHI__LIT("bad_event"),
                           PHI__LIT("the server sent an event that is not JSON"));
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
        phi__gem_array(st, a, data);
    else if (phi__gem_read(&k, data))
        phi__gem_take(st, a, &k, data);
    else
        st->broken = true;
    phi_arena_reset(&a->scratch, mark);
}

PHI__FN void phi__gemini_end(void *state, phi__assembly *a) {
    phi__gemini_state *st = (phi__gemini_state *)state;
    if (a->terminal || a->failure.kind != PHI_FAILURE_NONE) return;
    phi__classify_truncated(a, st->heard);
}

PHI__FN void phi__gemini_whole(void *state, phi__assembly *a, phi_str body) {
    phi__gemini_state *st = (phi__gemini_state *)state;
    phi_str json = phi__str_trim(body);
    phi__gem_chunk k;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    if (json.len > 0 && json.at[0] == '[')
        phi__gem_array(st, a, json);
    else if (phi__gem_read(&k, json) && !k.has_error)
        phi__gem_take(st, a, &k, json);
    if (!a->terminal && a->failure.kind == PHI_FAILURE_NONE) {
        if (a->started)
            phi__classify_truncated(a, true);
        else
            phi__classify_body(a, body);
    }
    phi_arena_reset(&a->scratch, mark);
}

#endif
