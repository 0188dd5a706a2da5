/* assembly.c - the blocks of an answer as they grow, and the checks at its end. */
#include "wire/codec_in.h"

/* ---- the JSON of opaque blocks: sets members and keeps all other bytes ---- */

PHI__FN bool phi__opaque_find(phi_str object, phi_str key, phi_str *value) {
    phi__json_cursor c;
    phi__json_text name;
    bool found = false;
    if (!phi__json_cursor_in_object(&c, object)) return false;
    while (phi__json_cursor_next_key(&c, &name)) {
        if (phi__json_cursor_text_is(name, key))
            found = phi__json_cursor_take_raw(&c, value);
        else
            (void)phi__json_cursor_skip(&c);
    }
    return found && phi__json_cursor_done(&c);
}

/* Appends the object with a member set to `value`; a new member comes last. `key` must need no
   escapes. Returns false and appends nothing if `object` is no object. */
static bool phi__opaque_set(phi__buf *out, phi_str object, phi_str key, phi_str value) {
    phi_str old;
    object = phi__str_trim(object);
    if (object.len < 2 || object.at[0] != '{' || object.at[object.len - 1] != '}') return false;
    if (phi__opaque_find(object, key, &old)) {
        size_t head = (size_t)(old.at - object.at);
        phi__buf_add(out, object.at, head);
        phi__buf_add_str(out, value);
        phi__buf_add(out, old.at + old.len, object.len - head - old.len);
        return true;
    }
    phi_str inside = phi__str_trim(phi__str(object.at + 1, object.len - 2));
    phi__buf_add(out, object.at, object.len - 1);
    if (inside.len > 0) phi__buf_char(out, ',');
    phi__buf_wrap(out, "\"", key, "\":");
    phi__buf_add_str(out, value);
    phi__buf_char(out, '}');
    return true;
}

PHI__FN void phi__opaque_push(phi__buf *array, phi_str item) {
    if (array->len < 2) {
        phi__buf_clear(array);
        phi__buf_char(array, '[');
    } else {
        phi_str inside = phi__str_trim(phi__str(array->at + 1, array->len - 2));
        array->len--; /* remove the closing bracket */
        if (inside.len > 0) phi__buf_char(array, ',');
    }
    phi__utf8_repair(array, item);
    phi__buf_char(array, ']');
}

PHI__FN bool phi__opaque_knows(const char *const *known, phi__json_text key) {
    for (; *known != NULL; known++)
        if (phi__json_cursor_text_is(key, phi_str_of(*known))) return true;
    return false;
}

PHI__FN void phi__opaque_members(phi__buf *out, phi_str object, const char *const *known) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str value;
    size_t from = out->len;
    if (!phi__json_cursor_in_object(&c, object)) return;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (phi__opaque_knows(known, key) || phi__json_cursor_peek(&c) == PHI_JSON_NULL) {
            (void)phi__json_cursor_skip(&c);
            continue;
        }
        if (!phi__json_cursor_take_raw(&c, &value)) return;
        phi__buf_text(out, out->len > from ? ",\"" : "\"");
        phi__utf8_repair(out, phi__str(key.at, key.len));
        phi__buf_text(out, "\":");
        phi__utf8_repair(out, value);
    }
}

static void phi__opaque_rest(phi__buf *out, phi_str object, const char *const *known) {
    size_t from = out->len;
    phi__buf_char(out, '{');
    phi__opaque_members(out, object, known);
    if (out->len > from + 1)
        phi__buf_char(out, '}');
    else if (!out->failed)
        out->len = from;
}

PHI__FN bool phi__opaque_is_json(phi_arena *arena, phi_str text, uint32_t flags, bool *no_memory) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi__json_cursor c;
    phi_json *root = NULL;
    if (text.len > PHI__ASSEMBLY_PROOF_MOST) {
        phi__json_cursor_init(&c, text);
        return phi__json_cursor_skip(&c) && phi__json_cursor_done(&c);
    }
    phi_status status = phi_json_parse(arena, text, flags, &root, NULL);
    if (status == PHI_NO_MEMORY) *no_memory = true;
    phi_arena_reset(arena, mark);
    return status == PHI_OK;
}

/* ---- the assembly ---- */

#define PHI__ASSEMBLY_NORMAL_STOP(reason)                                                          \
    ((reason) == PHI_STOP_REASON_STOP || (reason) == PHI_STOP_REASON_TOOL_USE)

static void phi__assembly_tell(phi__assembly *a, phi__part part, size_t block, size_t from) {
    if (a->sink != NULL) a->sink(a->ctx, a, part, block, from);
}

/* The offsets of a draft's buffers. */
static const size_t phi__assembly_bufs[] = {
    offsetof(phi__draft, bytes),     offsetof(phi__draft, signature), offsetof(phi__draft, replay),
    offsetof(phi__draft, citations), offsetof(phi__draft, id),        offsetof(phi__draft, name),
    offsetof(phi__draft, note)};

static phi__buf *phi__assembly_buf(phi__draft *d, size_t i) {
    return (phi__buf *)(void *)((char *)d + phi__assembly_bufs[i]);
}

/* Returns the number of bytes at the end of `s` that begin an unfinished UTF-8 sequence: 0 to 3. */
static size_t phi__assembly_cut_tail(phi_str s) {
    for (size_t n = 1; n <= 3 && n <= s.len; n++) {
        unsigned char c = (unsigned char)s.at[s.len - n];
        if (c < 0x80) return 0;
        if (c < 0xc0) continue; /* continuation byte: look further back */
        if (c >= 0xf0) return c <= 0xf4 && n < 4 ? n : 0;
        if (c >= 0xe0) return n < 3 ? n : 0;
        return c >= 0xc2 && n < 2 ? n : 0;
    }
    return 0;
}

/* Completes a held UTF-8 sequence with the first bytes of `s`. Returns the number of bytes used. */
static size_t phi__assembly_join(phi__draft *d, phi_str s) {
    unsigned char lead = (unsigned char)d->held[0];
    size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2, taken = 0;
    while (d->held_len < want && taken < s.len && ((unsigned char)s.at[taken] & 0xc0u) == 0x80u)
        d->held[d->held_len++] = s.at[taken++];
    if (d->held_len < want && taken == s.len) return taken; /* still incomplete */
    phi__utf8_repair(&d->bytes, phi__str(d->held, d->held_len));
    d->held_len = 0;
    return taken;
}

/* Ends a text whose last character was cut: U+FFFD replaces the held half. */
static void phi__assembly_flush(phi__draft *d) {
    if (d->high != 0 || d->held_len != 0) phi__buf_text(&d->bytes, "\xef\xbf\xbd");
    d->high = 0;
    d->held_len = 0;
}

static void phi__assembly_hold(phi__draft *d, phi_str *s) {
    size_t tail = phi__assembly_cut_tail(*s);
    if (tail == 0) return;
    s->len -= tail;
    memcpy(d->held, s->at + s->len, tail);
    d->held_len = (uint8_t)tail;
}

/* Returns the code unit of a \uXXXX escape at `at`; -1 if there is no such escape. */
static int32_t phi__assembly_escape(const char *at, const char *end) {
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    uint32_t unit = phi__json_text_hex(at + 2, end, 4);
    return unit == UINT32_MAX ? -1 : (int32_t)unit;
}

/* Joins a held first half of a surrogate pair with the second half at the start of *raw. If there
   is no second half, ends the text with U+FFFD. */
static void phi__assembly_pair(phi__draft *d, phi_str *raw) {
    int32_t low = phi__assembly_escape(raw->at, raw->at + raw->len);
    char utf8[4];
    if (low < 0xdc00 || low > 0xdfff) {
        phi__assembly_flush(d);
        return;
    }
    size_t n =
        phi__utf8_put(utf8, 0x10000u + ((d->high - 0xd800u) << 10) + ((uint32_t)low - 0xdc00u));
    phi__buf_add(&d->bytes, utf8, n);
    d->high = 0;
    *raw = phi__str(raw->at + 6, raw->len - 6);
}

/* Holds the first half of a surrogate pair at the end of *raw for the next delta. */
static void phi__assembly_hold_high(phi__draft *d, phi_str *raw) {
    const char *end = raw->at + raw->len;
    size_t slashes = 0;
    if (raw->len < 6) return;
    const char *at = end - 6;
    int32_t unit = phi__assembly_escape(at, end);
    if (unit < 0xd800 || unit > 0xdbff) return;
    while (at - slashes > raw->at && *(at - slashes - 1) == '\\') slashes++;
    if (slashes % 2 != 0) return; /* the backslash is itself escaped */
    d->high = (uint32_t)unit;
    raw->len -= 6;
}

static void phi__assembly_added(phi__assembly *a, size_t block, size_t from) {
    phi__draft *d = &a->drafts[block];
    if (d->bytes.failed) a->no_memory = true;
    if (d->bytes.len > from && d->kind != PHI_CONTENT_OPAQUE)
        phi__assembly_tell(a, PHI__PART_DELTA, block, from);
}

static bool phi__assembly_responds(const phi__draft *d) {
    return d->kind == PHI_CONTENT_TOOL_CALL &&
           phi__str_is(phi__buf_str(&d->name), PHI_RESPOND_TOOL);
}

/* True if a block is the call that is the answer. The first of several such calls counts. */
static bool phi__assembly_is_answer(const phi__assembly *a, size_t block) {
    if (!a->respond || !phi__assembly_responds(&a->drafts[block])) return false;
    for (size_t i = 0; i < block; i++)
        if (phi__assembly_responds(&a->drafts[i])) return false;
    return true;
}

static bool phi__assembly_is_json(phi__assembly *a, phi_str text) {
    return phi__opaque_is_json(&a->scratch, text, PHI_JSON_BORROW, &a->no_memory);
}

/* Gives a call a new id if it has none, or if an earlier call has the same id, because results
   would then be ambiguous. The `kept` fields of the earlier calls hold the hashes of their ids. */
static void phi__assembly_unique_id(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    bool taken = d->id.len == 0 || phi__str_is(phi__buf_str(&d->id), "null");
    char id[5 + 16 + 1];
    d->kept = phi__hash(phi__buf_str(&d->id), 0);
    for (size_t i = 0; !taken && i < block; i++)
        taken = a->drafts[i].kind == PHI_CONTENT_TOOL_CALL && a->drafts[i].kept == d->kept &&
                phi_str_equal(phi__buf_str(&a->drafts[i].id), phi__buf_str(&d->id));
    if (!taken) return;
    memcpy(id, "call_", 5);
    phi__hash_hex(phi__hash(phi__buf_str(&a->response_id),
                            phi__hash_mix(a->id_salt + phi__hash_mix(block + 1))),
                  id + 5);
    phi__assembly_set(a, &d->id, phi__str(id, sizeof id - 1));
    d->kept = phi__hash(phi__buf_str(&d->id), 0);
}

static void phi__assembly_finish_call(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    phi__assembly_unique_id(a, block);
    if (d->open)
        d->incomplete = true;
    else if (d->bytes.len == 0) {
        phi__buf_text(&d->bytes, "{}");
        if (d->bytes.failed) a->no_memory = true;
        if (phi__assembly_is_answer(a, block)) phi__assembly_added(a, block, 0);
    } else if (a->stop_reason == PHI_STOP_REASON_LENGTH || a->unknown_stop)
        d->incomplete = !phi__assembly_is_json(a, phi__buf_str(&d->bytes));
    d->open = false;
}

/* Views the call that is the answer as a text, without signature and replay, which belong to
   calls. */
static phi_content phi__assembly_view_answer(const phi__draft *d) {
    phi_content c = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi__buf_str(&d->bytes);
    c.name = phi__buf_str(&d->name);
    return c;
}

static phi_content phi__assembly_view_draft(const phi__assembly *a, const phi__draft *d) {
    phi_content c = PHI_ZERO;
    c.kind = d->kind;
    c.redacted = d->redacted;
    c.incomplete = d->incomplete;
    if (d->kind == PHI_CONTENT_OPAQUE) {
        c.name = phi__buf_str(&d->name);
        c.replay = phi__buf_str(&d->replay);
        c.protocol = a->protocol;
        return c;
    }
    if (d->kind == PHI_CONTENT_TOOL_CALL)
        c.arguments = phi__buf_str(&d->bytes);
    else
        c.text = phi__buf_str(&d->bytes);
    c.id = phi__buf_str(&d->id);
    c.name = phi__buf_str(&d->name);
    c.signature = phi__buf_str(&d->signature);
    if (!d->replay_open) c.replay = phi__buf_str(&d->replay);
    if (d->kind == PHI_CONTENT_TEXT) c.citations = phi__buf_str(&d->citations);
    return c;
}

/* ---- for decoders and the loop ---- */

PHI__FN void phi__assembly_init(phi__assembly *a, phi_memory *memory) {
    memset(a, 0, sizeof *a);
    a->memory = memory;
    phi_arena_init(&a->scratch, memory, 0);
    phi__buf_init(&a->raw_stop_reason, memory);
    phi__buf_init(&a->model, memory);
    phi__buf_init(&a->response_id, memory);
    phi__buf_init(&a->details, memory);
    phi__buf_init(&a->failure_words, memory);
    a->held.bytes.memory = memory; /* the only buffer of `held` that is used */
}

PHI__FN void phi__assembly_free(phi__assembly *a) {
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < PHI__COUNT(phi__assembly_bufs); k++)
            phi__buf_free(phi__assembly_buf(&a->drafts[i], k));
    phi__free(a->memory, a->drafts, a->cap * sizeof *a->drafts);
    phi__buf_free(&a->raw_stop_reason);
    phi__buf_free(&a->model);
    phi__buf_free(&a->response_id);
    phi__buf_free(&a->details);
    phi__buf_free(&a->failure_words);
    phi__buf_free(&a->held.bytes);
    phi_arena_free(&a->scratch);
    phi__assembly_init(a, a->memory);
}

PHI__FN void phi__assembly_start(phi__assembly *a) {
    if (a->started) return;
    a->started = true;
    phi__assembly_tell(a, PHI__PART_START, 0, 0);
}

PHI__FN void phi__assembly_begin(phi__assembly *a, phi__json_text id, phi__json_text model) {
    if (a->response_id.len == 0 && id.len > 0) phi__assembly_put(a, &a->response_id, id);
    if (a->model.len == 0 && model.len > 0) phi__assembly_put(a, &a->model, model);
    phi__assembly_start(a);
}

PHI__FN uint64_t phi__assembly_hash(phi__assembly *a, phi__json_text text) {
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi_str plain = phi__str(text.at, text.len);
    if (text.len == 0) return 0;
    if (text.escaped && !phi__json_cursor_unescape_arena(&a->scratch, text, &plain))
        a->no_memory = true;
    uint64_t hash = phi__hash(plain, 0) | 1;
    phi_arena_reset(&a->scratch, mark);
    return hash;
}

static void phi__assembly_fail_full(phi__assembly *a) {
    phi__assembly_fail(a, PHI_FAILURE_SERVER, false, PHI__LIT("too_many_blocks"),
                       PHI__LIT("the answer has more than 1024 blocks"));
}

PHI__FN bool phi__assembly_takes_more(phi__assembly *a, size_t *n) {
    if (a->no_memory || a->failure.kind != PHI_FAILURE_NONE) return false;
    if ((*n)++ < PHI__ASSEMBLY_BLOCKS_MOST) return true;
    phi__assembly_fail_full(a);
    return false;
}

PHI__FN size_t phi__assembly_open(phi__assembly *a, phi_content_kind kind, int64_t key) {
    phi__draft *d;
    if (a->no_memory) return SIZE_MAX;
    if (a->count == PHI__ASSEMBLY_BLOCKS_MOST) {
        phi__assembly_fail_full(a);
        return SIZE_MAX;
    }
    phi__draft *drafts =
        (phi__draft *)phi__grow(a->memory, a->drafts, &a->cap, a->count + 1, sizeof *d);
    if (drafts == NULL) {
        a->no_memory = true;
        return SIZE_MAX;
    }
    a->drafts = drafts;
    d = &drafts[a->count];
    memset(d, 0, sizeof *d);
    for (size_t k = 0; k < PHI__COUNT(phi__assembly_bufs); k++)
        phi__buf_init(phi__assembly_buf(d, k), a->memory);
    d->kind = kind;
    d->open = true;
    d->key = key;
    phi__assembly_start(a);
    a->count++;
    phi__assembly_tell(a, PHI__PART_BLOCK, a->count - 1, 0);
    return a->count - 1;
}

PHI__FN size_t phi__assembly_find(const phi__assembly *a, int64_t key) {
    for (size_t i = a->count; i > 0; i--)
        if (a->drafts[i - 1].key == key) return i - 1;
    return SIZE_MAX;
}

PHI__FN size_t phi__assembly_current(phi__assembly *a, phi_content_kind kind) {
    if (a->count > 0) {
        const phi__draft *last = &a->drafts[a->count - 1];
        if (last->kind == kind && last->open) return a->count - 1;
        if (last->kind != PHI_CONTENT_TOOL_CALL) phi__assembly_close(a, a->count - 1);
    }
    return phi__assembly_open(a, kind, -1);
}

PHI__FN void phi__assembly_add(phi__assembly *a, size_t block, phi_str bytes) {
    if (block == SIZE_MAX || bytes.len == 0) return;
    phi__draft *d = &a->drafts[block];
    size_t from = d->bytes.len;
    if (d->high != 0) phi__assembly_flush(d);
    if (d->held_len != 0) {
        size_t taken = phi__assembly_join(d, bytes);
        bytes = phi__str_from(bytes, taken);
    }
    if (d->held_len == 0) phi__assembly_hold(d, &bytes);
    phi__utf8_repair(&d->bytes, bytes);
    phi__assembly_added(a, block, from);
}

static inline void phi__assembly_unescape(phi__draft *d, phi_str raw, bool has_escapes) {
    phi__json_text text;
    if (d->high != 0) phi__assembly_pair(d, &raw);
    if (d->held_len != 0) {
        size_t taken = phi__assembly_join(d, raw);
        raw = phi__str_from(raw, taken);
    }
    if (has_escapes) phi__assembly_hold_high(d, &raw);
    if (d->high == 0 && d->held_len == 0) phi__assembly_hold(d, &raw);
    if (raw.len > 0) {
        text.at = raw.at;
        text.len = raw.len;
        text.escaped = has_escapes;
        phi__json_cursor_unescape(&d->bytes, text);
    }
}

PHI__FN void phi__assembly_add_json(phi__assembly *a, size_t block, phi_str raw, bool has_escapes) {
    if (block == SIZE_MAX || raw.len == 0) return;
    phi__draft *d = &a->drafts[block];
    size_t from = d->bytes.len;
    phi__assembly_unescape(d, raw, has_escapes);
    phi__assembly_added(a, block, from);
}

PHI__FN void phi__assembly_hold_text(phi__assembly *a, phi__json_text text) {
    if (text.len == 0) return;
    phi__assembly_unescape(&a->held, phi__str(text.at, text.len), text.escaped);
    if (a->held.bytes.failed) a->no_memory = true;
}

PHI__FN void phi__assembly_hold_end(phi__assembly *a) {
    phi__assembly_flush(&a->held);
    if (a->held.bytes.failed) a->no_memory = true;
}

PHI__FN void phi__assembly_turn(phi__assembly *a, size_t block, phi_content_kind kind) {
    a->drafts[block].kind = kind;
    phi__assembly_tell(a, PHI__PART_AGAIN, block, 0);
    for (size_t i = 0; i < a->count; i++)
        if (a->drafts[i].bytes.len > 0) phi__assembly_tell(a, PHI__PART_DELTA, i, 0);
}

PHI__FN void phi__assembly_close(phi__assembly *a, size_t block) {
    if (block == SIZE_MAX || !a->drafts[block].open) return;
    phi__draft *d = &a->drafts[block];
    size_t from = d->bytes.len;
    phi__assembly_flush(d);
    phi__assembly_added(a, block, from);
    a->drafts[block].open = false;
    if (d->kind == PHI_CONTENT_OPAQUE && !phi__assembly_is_json(a, phi__buf_str(&d->replay)))
        d->incomplete = true; /* the provider would refuse this block */
    phi__assembly_tell(a, PHI__PART_BLOCK_END, block, 0);
}

PHI__FN void phi__assembly_set(phi__assembly *a, phi__buf *buf, phi_str text) {
    phi__buf_clear(buf);
    phi__utf8_repair(buf, text);
    if (buf->failed) a->no_memory = true;
}

PHI__FN void phi__assembly_put(phi__assembly *a, phi__buf *buf, phi__json_text text) {
    phi__buf_clear(buf);
    if (text.len > 0) phi__json_cursor_unescape(buf, text);
    if (buf->failed) a->no_memory = true;
}

PHI__FN void phi__assembly_sign(phi__assembly *a, size_t block, phi__json_text text) {
    phi__buf *signature = &a->drafts[block].signature;
    if (text.len > 0) phi__json_cursor_unescape(signature, text);
    if (signature->failed) a->no_memory = true;
}

PHI__FN void phi__assembly_cite(phi__assembly *a, size_t block, phi_str citation) {
    if (block == SIZE_MAX || citation.len == 0 ||
        !phi__opaque_is_json(&a->scratch, citation, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8,
                             &a->no_memory))
        return;
    phi__buf *citations = &a->drafts[block].citations;
    phi__opaque_push(citations, citation);
    if (citations->failed) a->no_memory = true;
}

PHI__FN void phi__assembly_wait(phi__assembly *a, size_t block, phi_str arguments) {
    phi__draft *d = &a->drafts[block];
    d->replay_open = true;
    phi__buf_add_str(&d->replay, arguments);
    if (d->replay.failed) a->no_memory = true;
}

PHI__FN void phi__assembly_rest(phi__assembly *a, size_t block, phi_str call,
                                const char *const *known) {
    phi__buf *rest = &a->drafts[block].citations;
    phi__opaque_rest(rest, call, known);
    if (rest->failed) a->no_memory = true;
    if (!phi__assembly_is_json(a, phi__buf_str(rest))) phi__buf_clear(rest);
}

PHI__FN void phi__assembly_close_call(phi__assembly *a, size_t block, phi_str arguments) {
    phi__draft *d = &a->drafts[block];
    if (d->bytes.len == 0) phi__assembly_add(a, block, arguments);
    phi__buf_free(&d->replay);
    d->replay_open = false;
    phi__assembly_close(a, block);
    d->replay = d->citations;
    phi__buf_init(&d->citations, a->memory);
}

PHI__FN void phi__assembly_fail_with(phi__assembly *a, const phi_failure *failure) {
    phi__buf *words = &a->failure_words;
    phi_str *to[3];
    phi_str from[3];
    size_t at[4];
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    a->failure = *failure;
    a->stop_reason = failure->kind == PHI_FAILURE_CONTENT_FILTER ? PHI_STOP_REASON_GUARD_RAIL
                                                                 : PHI_STOP_REASON_ERROR;
    to[0] = &a->failure.code;
    from[0] = failure->code;
    to[1] = &a->failure.message;
    from[1] = failure->message;
    to[2] = &a->failure.request_id;
    from[2] = failure->request_id;
    phi__buf_clear(words);
    at[0] = 0;
    for (size_t i = 0; i < 3; i++) {
        phi__utf8_repair(words, from[i]);
        at[i + 1] = words->len;
    }
    if (words->failed) a->no_memory = true;
    for (size_t i = 0; i < 3; i++) /* from here on, the bytes no longer move */
        *to[i] = words->failed || words->at == NULL
                     ? phi__str("", 0)
                     : phi__str(words->at + at[i],
                                phi__words_clean(words->at + at[i], at[i + 1] - at[i]));
}

static void phi__assembly_hide_buf(phi__buf *buf, const phi__secrets *secrets) {
    (void)phi__secret_hide(secrets, buf->at, buf->len, PHI__SECRET_WORDS);
}

PHI__FN void phi__assembly_hide(phi__assembly *a, const phi__secrets *secrets) {
    size_t names = a->raw_stop_reason.len + a->model.len + a->response_id.len + a->details.len;
    for (size_t i = 0; i < a->count; i++) {
        phi__draft *d = &a->drafts[i];
        if (d->hidden == d->id.len) continue;
        phi__assembly_hide_buf(&d->id, secrets);
        d->hidden = d->id.len;
    }
    if (a->hidden != names) {
        phi__assembly_hide_buf(&a->raw_stop_reason, secrets);
        phi__assembly_hide_buf(&a->model, secrets);
        phi__assembly_hide_buf(&a->response_id, secrets);
        phi__assembly_hide_buf(&a->details, secrets);
        a->hidden = names;
    }
    if (a->failure.kind != PHI_FAILURE_NONE) phi__assembly_hide_buf(&a->failure_words, secrets);
}

PHI__FN void phi__assembly_fail(phi__assembly *a, phi_failure_kind kind, bool retryable,
                                phi_str code, phi_str message) {
    phi_failure failure = PHI_ZERO;
    failure.kind = kind;
    failure.retryable = retryable;
    failure.code = code;
    failure.message = message;
    phi__assembly_fail_with(a, &failure);
}

PHI__FN phi_content_kind phi__assembly_kind(const phi__assembly *a, size_t block) {
    return phi__assembly_is_answer(a, block) ? PHI_CONTENT_TEXT : a->drafts[block].kind;
}

PHI__FN void phi__assembly_finish(phi__assembly *a) {
    phi_usage *u = &a->usage;
    bool calls = false, answered = false;
    for (size_t i = 0; i < a->count; i++) {
        phi__draft *d = &a->drafts[i];
        phi__assembly_flush(d);
        if (d->kind == PHI_CONTENT_OPAQUE && d->open) d->incomplete = true;
        if (d->kind == PHI_CONTENT_TOOL_CALL) {
            phi__assembly_finish_call(a, i);
            if (phi__assembly_is_answer(a, i))
                answered = !d->incomplete;
            else
                calls = calls || !d->incomplete;
        }
        d->open = false;
    }
    if (a->stop_reason == PHI_STOP_REASON_NONE)
        a->stop_reason = a->terminal ? PHI_STOP_REASON_STOP : PHI_STOP_REASON_ERROR;
    if (PHI__ASSEMBLY_NORMAL_STOP(a->stop_reason))
        a->stop_reason = calls && !answered ? PHI_STOP_REASON_TOOL_USE : PHI_STOP_REASON_STOP;
    u->total_tokens = u->input + u->output + u->cache_read + u->cache_write;
    if (a->no_memory)
        phi__assembly_fail(a, PHI_FAILURE_NO_MEMORY, false, PHI__LIT(""), PHI__LIT(""));
    if (a->failure.kind == PHI_FAILURE_NO_MEMORY && a->failure.message.len == 0)
        a->failure.message = PHI__LIT("the answer does not fit into the memory allowed");
}

PHI__FN void phi__assembly_view(const phi__assembly *a, phi_content *content, phi_message *out) {
    memset(out, 0, sizeof *out);
    out->role = PHI_ROLE_ASSISTANT;
    for (size_t i = 0; i < a->count; i++)
        content[i] = phi__assembly_kind(a, i) != a->drafts[i].kind
                         ? phi__assembly_view_answer(&a->drafts[i])
                         : phi__assembly_view_draft(a, &a->drafts[i]);
    out->content = content;
    out->content_count = a->count;
    out->stop_reason = a->stop_reason;
    out->raw_stop_reason = phi__buf_str(&a->raw_stop_reason);
    out->model = phi__buf_str(&a->model);
    out->details = phi__buf_str(&a->details);
    out->usage = a->usage;
    out->usage.total_tokens =
        a->usage.input + a->usage.output + a->usage.cache_read + a->usage.cache_write;
    if (a->failure.kind != PHI_FAILURE_NONE) out->error_message = a->failure.message;
}

/* ---- opaque blocks: their JSON and changes of its members ---- */

PHI__FN size_t phi__assembly_opaque(phi__assembly *a, phi_str type, phi_str json, int64_t key,
                                    bool open) {
    size_t block = phi__assembly_open(a, PHI_CONTENT_OPAQUE, key);
    if (block == SIZE_MAX) return block;
    phi__assembly_set(a, &a->drafts[block].name, type);
    phi__assembly_set(a, &a->drafts[block].replay, json);
    if (!open) phi__assembly_close(a, block);
    return block;
}

/* Sets a member of the JSON object in the buffer. */
static void phi__assembly_opaque_put(phi__assembly *a, phi__buf *json, phi_str key, phi_str value) {
    phi__buf now;
    phi__buf_init(&now, a->memory);
    if (phi__opaque_set(&now, phi__buf_str(json), key, value))
        phi__assembly_set(a, json, phi__buf_str(&now));
    if (now.failed) a->no_memory = true;
    phi__buf_free(&now);
}

PHI__FN void phi__assembly_opaque_set(phi__assembly *a, size_t block, phi_str outer, phi_str key,
                                      phi_str value) {
    phi__buf *json = &a->drafts[block].replay, inner;
    phi_str inside;
    if (++a->drafts[block].edits > PHI__ASSEMBLY_EDITS_MOST) {
        a->drafts[block].incomplete = true;
        return;
    }
    if (outer.len == 0) {
        phi__assembly_opaque_put(a, json, key, value);
        return;
    }
    if (!phi__opaque_find(phi__buf_str(json), outer, &inside)) return;
    phi__buf_init(&inner, a->memory);
    if (phi__opaque_set(&inner, inside, key, value) && !inner.failed)
        phi__assembly_opaque_put(a, json, outer, phi__buf_str(&inner));
    if (inner.failed) a->no_memory = true;
    phi__buf_free(&inner);
}

PHI__FN void phi__assembly_opaque_close(phi__assembly *a, size_t block, phi_str outer, phi_str key,
                                        bool text) {
    phi__draft *d = &a->drafts[block];
    phi__buf value;
    if (!d->open) return;
    phi__assembly_flush(d);
    if (text) {
        phi__buf_init(&value, a->memory);
        phi__json_write_str(&value, phi__buf_str(&d->bytes));
        if (value.failed) a->no_memory = true;
        phi__assembly_opaque_set(a, block, outer, key, phi__buf_str(&value));
        phi__buf_free(&value);
    } else if (d->bytes.len > 0) {
        if (!phi__assembly_is_json(a, phi__buf_str(&d->bytes)))
            d->incomplete = true; /* the JSON was cut: keep the JSON of the block's start */
        else
            phi__assembly_opaque_set(a, block, outer, key, phi__buf_str(&d->bytes));
    }
    phi__buf_free(&d->bytes);
    phi__assembly_close(a, block);
}
