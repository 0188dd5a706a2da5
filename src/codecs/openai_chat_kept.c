/* openai_chat_kept.c - the parts of Chat Completions answers beyond text, thinking and calls.

   A member of the message that phi does not read becomes an opaque block, an object with this
   member only. A call of a custom tool becomes {"tool_calls":[...]}, and a part of the content
   {"content":[...]}. A stream sends a member in pieces: the first one is kept unchanged, later ones
   wait in draft->bytes and are merged at the end. Members have no place in the order of the text,
   so later text continues the same text block. */
#include "codecs/openai_in.h"
#include "codecs/openai_chat_in.h"

enum {
    PHI__CHAT_MERGE_DEPTH =
        64, /* max. levels of a merged tree; below them a later value replaces the earlier */
    PHI__CHAT_MERGE_MOST = 256, /* max. members, or items with an index, that are searched */
    PHI__CHAT_MERGE_TEXTS = 8   /* strings that can grow at the same time */
};

PHI__FN bool phi__chat_kept_wants(phi__json_cursor *c, phi__json_text key, phi_str *raw) {
    phi_json_type type = phi__json_cursor_peek(c);
    bool says = type == PHI_JSON_STRING || type == PHI_JSON_ARRAY || type == PHI_JSON_OBJECT;
    if (!phi__json_cursor_take_raw(c, raw) || !says || raw->len <= 2) return false;
    static const char *const names[] = {"content",
                                        "tool_calls",
                                        "reasoning_content",
                                        "reasoning",
                                        "reasoning_text",
                                        "reasoning_details",
                                        "thinking_blocks",
                                        "refusal",
                                        "annotations",
                                        "role",
                                        "name",
                                        "obfuscation",
                                        "function_call", /* the old form of tool_calls */
                                        "channel",       /* Groq: names the kind of the text */
                                        NULL};
    if (phi__opaque_knows(names, key)) return false;
    /* LiteLLM repeats thinking_blocks in this member */
    return !PHI__TEXT_IS(key, "provider_specific_fields") ||
           phi__str_find(*raw, 0, "\"thinking_blocks\"") == SIZE_MAX;
}

PHI__FN size_t phi__chat_kept_last(const phi__assembly *a) {
    size_t i = a->count;
    while (i > 0 && a->drafts[i - 1].kind == PHI_CONTENT_OPAQUE && a->drafts[i - 1].open) i--;
    return i > 0 ? i - 1 : SIZE_MAX;
}

PHI__FN size_t phi__chat_kept_current(phi__assembly *a, phi_content_kind kind) {
    size_t last = phi__chat_kept_last(a);
    if (last != SIZE_MAX) {
        const phi__draft *d = &a->drafts[last];
        if (d->kind == kind && d->open) return last;
        if (d->kind != PHI_CONTENT_TOOL_CALL) phi__assembly_close(a, last);
    }
    return phi__assembly_open(a, kind, -1);
}

/* ---- merging ---- */

typedef struct phi__chat_merge {
    phi_arena *arena;
    phi__kept_grown texts[PHI__CHAT_MERGE_TEXTS];
    size_t next; /* the entry of `texts` that is reused next */
    bool no_memory;
} phi__chat_merge;

/* True for members that name a thing. Their strings come whole, all other strings in pieces. */
static bool phi__chat_kept_names(phi_str key) {
    static const char *const names[] = {"type",      "id",     "name", "role",   "index", "format",
                                        "mime_type", "status", "url",  "object", NULL};
    return phi__codec_among(key, names);
}

static void phi__chat_kept_join(phi__chat_merge *p, phi_json *old, const phi_json *more) {
    phi__kept_grown *t = NULL;
    for (size_t i = 0; i < PHI__CHAT_MERGE_TEXTS; i++)
        if (p->texts[i].node == old) t = &p->texts[i];
    if (t == NULL) t = &p->texts[p->next++ % PHI__CHAT_MERGE_TEXTS];
    if (phi__kept_append(p->arena, t, old, more) != PHI_OK) p->no_memory = true;
}

static phi_json *phi__chat_kept_merge(phi__chat_merge *p, phi_json *into, const phi_json *more,
                                      phi_str key, unsigned depth);

static void phi__chat_kept_check(phi__chat_merge *p, phi_status status) {
    if (status != PHI_OK) p->no_memory = true;
}

static void phi__chat_kept_merge_members(phi__chat_merge *p, phi_json *into, const phi_json *more,
                                         unsigned depth) {
    phi_json_iter it = phi_json_each(more);
    const phi_json *member;
    while (!p->no_memory && (member = phi_json_next(&it)) != NULL) {
        phi_json *old = phi__json_get_n(into, it.key);
        phi_json *merged = phi__chat_kept_merge(p, old, member, it.key, depth);
        if (merged != old)
            phi__chat_kept_check(p, phi__json_edit_set(p->arena, into, it.key, merged));
    }
}

/* Finds the item of a list whose member "index" equals that of `item`. NULL if there is none. */
static phi_json *phi__chat_kept_indexed(const phi_json *list, const phi_json *item) {
    const phi_json *index = phi_json_get(item, "index");
    phi_json *old;
    if (!phi_json_is(index, PHI_JSON_INTEGER) || phi_json_count(list) > PHI__CHAT_MERGE_MOST)
        return NULL;
    phi_json_iter it = phi_json_each(list);
    while ((old = phi_json_next(&it)) != NULL) {
        const phi_json *other = phi_json_get(old, "index");
        if (other != NULL && phi__json_get_equal(other, index)) return old;
    }
    return NULL;
}

static void phi__chat_kept_merge_items(phi__chat_merge *p, phi_json *into, const phi_json *more,
                                       unsigned depth) {
    phi_json_iter it = phi_json_each(more);
    const phi_json *item;
    while (!p->no_memory && (item = phi_json_next(&it)) != NULL) {
        phi_json *old = phi__chat_kept_indexed(into, item);
        if (old != NULL && phi_json_is(item, PHI_JSON_OBJECT) &&
            phi_json_count(item) <= PHI__CHAT_MERGE_MOST)
            phi__chat_kept_merge_members(p, old, item, depth);
        else
            phi__chat_kept_check(p, phi_json_add(into, phi_json_copy(p->arena, item)));
    }
}

/* Merges a value into another. Returns `into`, or a new node that replaces it. */
static phi_json *phi__chat_kept_merge(phi__chat_merge *p, phi_json *into, const phi_json *more,
                                      phi_str key, unsigned depth) {
    if (into != NULL && phi_json_is(more, PHI_JSON_NULL)) return into;
    if (into != NULL && depth < PHI__CHAT_MERGE_DEPTH) {
        if (phi_json_is(into, PHI_JSON_STRING) && phi_json_is(more, PHI_JSON_STRING) &&
            !phi__chat_kept_names(key)) {
            phi__chat_kept_join(p, into, more);
            return into;
        }
        if (phi_json_is(into, PHI_JSON_ARRAY) && phi_json_is(more, PHI_JSON_ARRAY)) {
            phi__chat_kept_merge_items(p, into, more, depth + 1);
            return into;
        }
        if (phi_json_is(into, PHI_JSON_OBJECT) && phi_json_is(more, PHI_JSON_OBJECT) &&
            phi_json_count(into) <= PHI__CHAT_MERGE_MOST &&
            phi_json_count(more) <= PHI__CHAT_MERGE_MOST) {
            phi__chat_kept_merge_members(p, into, more, depth + 1);
            return into;
        }
    }
    phi_json *copy = phi_json_copy(p->arena, more);
    if (copy == NULL) p->no_memory = true;
    return copy;
}

static phi_status phi__chat_kept_tree(phi_arena *arena, const phi__buf *text, phi_json **out) {
    return phi_json_parse(arena, phi__buf_str(text), PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8,
                          out, NULL);
}

/* True if each piece is the same text as the value. The value is then a label and must not grow. */
static bool phi__chat_kept_is_label(const phi_json *value, const phi_json *pieces) {
    phi_json_iter it = phi_json_each(pieces);
    const phi_json *piece;
    if (!phi_json_is(value, PHI_JSON_STRING)) return false;
    while ((piece = phi_json_next(&it)) != NULL)
        if (!phi__json_get_equal(value, piece)) return false;
    return true;
}

PHI__FN void phi__chat_kept_close(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi__chat_merge merge = PHI_ZERO;
    phi_json *root = NULL, *pieces = NULL;
    phi_str text;
    if (d->kind == PHI_CONTENT_OPAQUE && d->open && d->bytes.len > 0) {
        phi__buf_char(&d->bytes, ']');
        merge.arena = &a->scratch;
        phi_status status =
            d->bytes.failed ? PHI_NO_MEMORY : phi__chat_kept_tree(&a->scratch, &d->replay, &root);
        if (status == PHI_OK) status = phi__chat_kept_tree(&a->scratch, &d->bytes, &pieces);
        if (status == PHI_OK) {
            /* Merge the waiting pieces into the block's JSON. `root` has a single member. */
            bool call = d->key >= 0;
            phi_json_iter member = phi_json_each(root), it = phi_json_each(pieces);
            phi_json *value = phi_json_next(&member);
            phi_str key = member.key;
            const phi_json *piece;
            if (call) value = phi_json_at(value, 0);
            if (!phi__chat_kept_is_label(value, pieces)) {
                while (!merge.no_memory && value != NULL && (piece = phi_json_next(&it)) != NULL) {
                    phi_json *merged = phi__chat_kept_merge(&merge, value, piece, key, 0);
                    if (merged != value && !call)
                        phi__chat_kept_check(&merge,
                                             phi__json_edit_set(merge.arena, root, key, merged));
                    if (!call) value = merged;
                }
                if (call) (void)phi_json_remove(value, "index"); /* only streams have this member */
            }
        }
        if (status == PHI_OK && !merge.no_memory)
            status = phi_json_write(&a->scratch, root, 0, &text);
        if (status == PHI_NO_MEMORY || merge.no_memory)
            a->no_memory = true;
        else if (status == PHI_OK)
            phi__assembly_set(a, &d->replay, text);
        else
            d->incomplete = true; /* inside the block's object, the value is nested too deeply */
        phi__buf_free(&d->bytes);
        phi_arena_reset(&a->scratch, mark);
    }
    phi__assembly_close(a, block);
}

/* Adds a later piece. The first piece is in the block's JSON. */
static void phi__chat_kept_add(phi__assembly *a, size_t block, phi_str raw) {
    phi__buf *out = &a->drafts[block].bytes;
    phi__buf_char(out, out->len == 0 ? '[' : ',');
    phi__utf8_repair(out, raw);
    if (out->failed) a->no_memory = true;
}

/* Opens a block whose JSON is an object with one member. */
static size_t phi__chat_kept_open(phi__assembly *a, phi_str name, phi__json_text key,
                                  const char *before, phi_str raw, const char *after,
                                  int64_t place) {
    phi__buf json;
    phi__buf_init(&json, a->memory);
    phi__buf_text(&json, "{\"");
    phi__buf_add(&json, key.at, key.len);
    phi__buf_text(&json, before);
    phi__buf_add_str(&json, raw);
    phi__buf_text(&json, after);
    if (json.failed) a->no_memory = true;
    size_t block =
        json.failed ? SIZE_MAX : phi__assembly_opaque(a, name, phi__buf_str(&json), place, true);
    phi__buf_free(&json);
    return block;
}

static bool phi__chat_kept_is(const phi__assembly *a, size_t block, uint64_t name) {
    const phi__draft *d = &a->drafts[block];
    return d->kind == PHI_CONTENT_OPAQUE && d->key < 0 && d->open && d->kept == name;
}

/* Adds a member or a piece of it. *block is the block of the delta's previous member, or SIZE_MAX
   if there is none. Often this is the block of the same member. *n counts the members that differ
   from the previous one. */
static void phi__chat_kept_member(phi__assembly *a, phi__json_text key, phi_str raw, size_t *block,
                                  size_t *n) {
    uint64_t hash = phi__assembly_hash(a, key) | 1;
    phi_str name;
    if (!phi__kept_is_json(a, raw)) return;
    if (*block == SIZE_MAX || !phi__chat_kept_is(a, *block, hash)) {
        if (!phi__assembly_takes_more(a, n)) return;
        for (*block = 0; *block < a->count && !phi__chat_kept_is(a, *block, hash);) ++*block;
    }
    if (*block < a->count) {
        phi__chat_kept_add(a, *block, raw);
        return;
    }
    if (!phi__json_cursor_unescape_arena(&a->scratch, key, &name)) {
        a->no_memory = true;
        return;
    }
    *block = phi__chat_kept_open(a, name, key, "\":", raw, "}", -1);
    if (*block != SIZE_MAX) a->drafts[*block].kept = hash;
}

static phi__json_text phi__chat_kept_key(const char *name) {
    phi__json_text key;
    key.at = name;
    key.len = strlen(name);
    key.escaped = false;
    return key;
}

PHI__FN void phi__chat_kept_members(phi__assembly *a, phi_str delta) {
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi__json_cursor c;
    phi__json_text key;
    phi_str raw;
    size_t block = SIZE_MAX, n = 0;
    if (!phi__json_cursor_in_object(&c, delta)) return;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (!phi__chat_kept_wants(&c, key, &raw)) continue;
        phi__chat_kept_member(a, key, raw, &block, &n);
        phi_arena_reset(&a->scratch, mark);
        if (a->no_memory || a->failure.kind != PHI_FAILURE_NONE) break; /* too many blocks */
    }
}

PHI__FN void phi__chat_kept_call(phi__assembly *a, phi_str raw, bool has_index, int64_t index,
                                 bool has_id) {
    static const char *const stream_only[] = {"index", NULL};
    phi__buf call;
    size_t i = a->count;
    if (!phi__kept_is_object(a, raw)) return;
    for (; i > 0; i--) {
        const phi__draft *d = &a->drafts[i - 1];
        if (d->kind != PHI_CONTENT_OPAQUE || d->key < 0 || !d->open) continue;
        if (has_index ? d->key == index : !has_id) break;
    }
    if (i > 0) {
        phi__chat_kept_add(a, i - 1, raw);
        return;
    }
    i = phi__chat_kept_last(a);
    if (i != SIZE_MAX && a->drafts[i].kind != PHI_CONTENT_TOOL_CALL) phi__assembly_close(a, i);
    phi__buf_init(&call, a->memory);
    phi__opaque_members(&call, raw, stream_only);
    if (call.failed) a->no_memory = true;
    (void)phi__chat_kept_open(a, PHI__LIT("custom"), phi__chat_kept_key("tool_calls"), "\":[{",
                              phi__buf_str(&call), "}]}",
                              has_index && index >= 0 ? index : (int64_t)a->count);
    phi__buf_free(&call);
}

/* Opens a block for a part of the content, which has its place in the order of the text. */
PHI__FN void phi__chat_kept_part(phi__assembly *a, phi__json_text type, phi_str raw) {
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    size_t last = phi__chat_kept_last(a);
    phi_str name = {NULL, 0};
    if (!phi__kept_is_object(a, raw)) return;
    if (!phi__json_cursor_unescape_arena(&a->scratch, type, &name)) a->no_memory = true;
    if (last != SIZE_MAX && a->drafts[last].kind != PHI_CONTENT_TOOL_CALL)
        phi__assembly_close(a, last);
    size_t block =
        phi__chat_kept_open(a, name, phi__chat_kept_key("content"), "\":[", raw, "]}", -1);
    phi__assembly_close(a, block);
    phi_arena_reset(&a->scratch, mark);
}

/* ---- citations ---- */

PHI__FN void phi__chat_kept_annotations(phi__assembly *a, phi_str raw) {
    size_t block = phi__kept_text(a), n = 0;
    phi__json_cursor c;
    phi_str one;
    if (block == SIZE_MAX) {
        phi_arena_mark mark = phi_arena_save(&a->scratch);
        phi__chat_kept_member(a, phi__chat_kept_key("annotations"), raw, &block, &n);
        phi_arena_reset(&a->scratch, mark);
        return;
    }
    if (!phi__json_cursor_in_array(&c, raw)) return;
    while (phi__json_cursor_next_item(&c)) {
        bool object = phi__json_cursor_peek(&c) == PHI_JSON_OBJECT;
        if (phi__json_cursor_take_raw(&c, &one) && object) phi__assembly_cite(a, block, one);
    }
}

PHI__FN void phi__chat_kept_sources(phi__assembly *a, phi_str raw) {
    size_t block = phi__kept_text(a);
    phi__json_cursor c;
    phi__buf url;
    phi_str one;
    if (block == SIZE_MAX) return;
    if (!phi__json_cursor_in_array(&c, raw)) return;
    phi__buf_clear(&a->drafts[block].citations);
    phi__buf_init(&url, a->memory);
    while (phi__json_cursor_next_item(&c)) {
        phi_json_type type = phi__json_cursor_peek(&c);
        if (!phi__json_cursor_take_raw(&c, &one)) break;
        if (type == PHI_JSON_OBJECT) phi__assembly_cite(a, block, one);
        if (type != PHI_JSON_STRING) continue;
        phi__buf_clear(&url);
        phi__buf_wrap(&url, "{\"url\":", one, "}");
        if (url.failed) a->no_memory = true;
        phi__assembly_cite(a, block, phi__buf_str(&url));
    }
    phi__buf_free(&url);
}

/* ---- thinking: its text, and the data that must be sent back unchanged ---- */

PHI__FN void phi__chat_thinking_add(phi__assembly *a, phi__json_text text, const char *field) {
    if (text.len == 0) return;
    size_t block = phi__chat_kept_current(a, PHI_CONTENT_THINKING);
    if (block == SIZE_MAX) return;
    if (a->drafts[block].signature.len == 0 && field[0] != '\0')
        phi__assembly_set(a, &a->drafts[block].signature, phi_str_of(field));
    phi__assembly_add_text(a, block, text);
}

/* A fragment of an item. Its text is kept apart, because the next fragment may continue it. `name`
   is the text's member: OpenRouter has "text" or "summary", LiteLLM "thinking". */
typedef struct phi__chat_fragment {
    phi__json_text type, text, signature;
    const char *name; /* NULL: the fragment has no text */
    phi_str raw, index;
} phi__chat_fragment;

static void phi__chat_fragment_text(phi__chat_fragment *f, phi__json_cursor *c, const char *name) {
    if (phi__json_cursor_take_text(c, &f->text)) f->name = name;
}

static void phi__chat_fragment_read(phi__chat_fragment *f) {
    phi__json_cursor c;
    phi__json_text key;
    if (!phi__json_cursor_in_object(&c, f->raw)) return;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (PHI__TEXT_IS(key, "type"))
            phi__json_cursor_take_text(&c, &f->type);
        else if (PHI__TEXT_IS(key, "text"))
            phi__chat_fragment_text(f, &c, "text");
        else if (PHI__TEXT_IS(key, "summary") && f->name == NULL)
            phi__chat_fragment_text(f, &c, "summary");
        else if (PHI__TEXT_IS(key, "thinking") && f->name == NULL)
            phi__chat_fragment_text(f, &c, "thinking");
        else if (PHI__TEXT_IS(key, "signature"))
            phi__json_cursor_take_text(&c, &f->signature);
        else if (PHI__TEXT_IS(key, "index"))
            phi__json_cursor_take_raw(&c, &f->index);
        else
            phi__json_cursor_skip(&c);
    }
}

static void phi__chat_thinking_quote(phi__buf *out, const char *before, phi__json_text text) {
    phi__buf_text(out, before);
    phi__buf_add(out, text.at, text.len);
}

static void phi__chat_thinking_close_detail(phi__chat_state *st, phi__assembly *a) {
    if (st->detail == PHI__CHAT_DETAIL_NONE) return;
    phi__buf *out = &a->drafts[st->detail_block].replay;
    phi__buf_text(out, st->detail == PHI__CHAT_DETAIL_TEXT ? "\"}" : "}");
    st->detail = PHI__CHAT_DETAIL_NONE;
}

/* Writes an item with its text last. The text stays open, and the signature follows it later. */
static void phi__chat_thinking_open_detail(phi__chat_state *st, phi__buf *out,
                                           const phi__chat_fragment *f) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str value = {NULL, 0};
    if (!phi__json_cursor_in_object(&c, f->raw)) return;
    phi__buf_char(out, '{');
    while (phi__json_cursor_next_key(&c, &key)) {
        bool later =
            phi__json_cursor_text_is(key, phi_str_of(f->name)) || PHI__TEXT_IS(key, "signature");
        if (later) {
            phi__json_cursor_skip(&c);
            continue;
        }
        if (!phi__json_cursor_take_raw(&c, &value)) continue;
        phi__chat_thinking_quote(out, "\"", key);
        phi__buf_wrap(out, "\":", value, ",");
    }
    phi__buf_char(out, '"');
    phi__buf_text(out, f->name);
    phi__chat_thinking_quote(out, "\":\"", f->text);
    st->detail = PHI__CHAT_DETAIL_TEXT;
}

/* Returns the latest thinking block, whose `replay` keeps the items as growing JSON. */
static size_t phi__chat_thinking_detail_block(phi__chat_state *st, phi__assembly *a,
                                              const char *member) {
    size_t i;
    for (i = a->count; i > 0; i--)
        if (a->drafts[i - 1].kind == PHI_CONTENT_THINKING) break;
    i = i > 0 ? i - 1 : phi__chat_kept_current(a, PHI_CONTENT_THINKING);
    if (i == SIZE_MAX) return i;
    if (st->detail != PHI__CHAT_DETAIL_NONE && st->detail_block != i)
        phi__chat_thinking_close_detail(st, a);
    st->detail_block = i;
    phi__draft *d = &a->drafts[i];
    if (d->replay.len == 0) {
        d->replay_open = true;
        phi__buf_text(&d->replay, "{\"");
        phi__buf_text(&d->replay, member);
        phi__buf_text(&d->replay, "\":[");
    }
    return i;
}

PHI__FN void phi__chat_thinking_details(phi__chat_state *st, phi__assembly *a, phi_str raw,
                                        const char *member, bool spoken) {
    phi__json_cursor c;
    phi_str item;
    size_t n = 0;
    if (!phi__json_cursor_in_array(&c, raw)) return;
    while (phi__json_cursor_next_item(&c) && phi__assembly_takes_more(a, &n)) {
        bool object = phi__json_cursor_peek(&c) == PHI_JSON_OBJECT;
        if (phi__json_cursor_take_raw(&c, &item) && object) {
            phi__chat_fragment f = PHI_ZERO;
            f.raw = item;
            phi__chat_fragment_read(&f);
            bool joins = f.name != NULL;
            if (joins && !spoken) phi__chat_thinking_add(a, f.text, "");
            size_t block = phi__chat_thinking_detail_block(st, a, member);
            if (block != SIZE_MAX) {
                phi__buf *out = &a->drafts[block].replay;
                uint64_t key = phi__hash(f.index, phi__hash(phi__str(f.type.at, f.type.len), 4));
                if (joins && st->detail == PHI__CHAT_DETAIL_TEXT && key == st->detail_key)
                    phi__chat_thinking_quote(out, "", f.text);
                else {
                    phi__chat_thinking_close_detail(st, a);
                    phi__json_write_comma(out);
                    if (joins)
                        phi__chat_thinking_open_detail(st, out, &f);
                    else
                        phi__buf_add_str(out, item);
                    st->detail_key = key;
                }
                if (joins && f.signature.len > 0 && st->detail == PHI__CHAT_DETAIL_TEXT) {
                    phi__chat_thinking_quote(out, "\",\"signature\":\"", f.signature);
                    phi__buf_char(out, '"');
                    st->detail = PHI__CHAT_DETAIL_OPEN;
                }
                if (out->failed) a->no_memory = true;
            }
        }
    }
}

PHI__FN void phi__chat_thinking_end_details(phi__chat_state *st, phi__assembly *a) {
    phi__chat_thinking_close_detail(st, a);
    for (size_t i = 0; i < a->count; i++) {
        phi__draft *d = &a->drafts[i];
        if (!d->replay_open) continue;
        phi__buf_text(&d->replay, "]}");
        if (d->replay.failed) a->no_memory = true;
        d->replay_open = d->replay.failed;
    }
}

PHI__FN void phi__chat_thinking_list(phi__assembly *a, phi__json_cursor *c, size_t *n) {
    phi__json_text key, text = {NULL, 0, false};
    if (phi__json_cursor_peek(c) == PHI_JSON_STRING) {
        if (phi__json_cursor_take_text(c, &text)) phi__chat_thinking_add(a, text, "content");
        return;
    }
    if (!phi__json_cursor_enter_array(c)) return;
    while (phi__json_cursor_next_item(c) && phi__assembly_takes_more(a, n)) {
        if (!phi__json_cursor_enter_object(c)) continue;
        while (phi__json_cursor_next_key(c, &key)) {
            if (!PHI__TEXT_IS(key, "text"))
                phi__json_cursor_skip(c);
            else if (phi__json_cursor_take_text(c, &text))
                phi__chat_thinking_add(a, text, "content");
        }
    }
}

/* ---- the members of a request that switch thinking ---- */

PHI__FN bool phi__chat_thinking_wanted(const phi__request_spec *spec) {
    return spec->model->reasoning && spec->thinking != PHI_THINKING_OFF;
}

PHI__FN bool phi__chat_thinking_on(const phi__encoder *e) {
    return phi__chat_thinking_wanted(e->spec);
}

static void phi__chat_thinking_put_switch(phi__encoder *e, const char *before, const char *on,
                                          const char *off, const char *after) {
    phi__buf_text(&e->scratch, before);
    phi__buf_text(&e->scratch, phi__chat_thinking_on(e) ? on : off);
    phi__buf_text(&e->scratch, after);
}

PHI__FN void phi__chat_thinking_put(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    bool openai = phi__str_is(phi_str_of(e->spec->model->provider), "openai");
    const char *effort = phi__openai_effort_name(e, openai);
    if (!e->spec->model->reasoning) return;
    /* Groq's Qwen can only switch it on or off */
    if (phi__chat_quirk(e, PHI_QUIRK_REASONING_FORMAT))
        effort = phi__chat_thinking_on(e) ? "default" : "none";
    if (effort != NULL && phi__chat_quirk(e, PHI_QUIRK_REASONING_EFFORT))
        phi__records_str(out, "reasoning_effort", phi_str_of(effort));
    if (phi__chat_thinking_on(e) && phi__chat_quirk(e, PHI_QUIRK_REASONING_OBJECT)) {
        phi__buf_text(out, ",\"reasoning\":{\"effort\":\"");
        phi__buf_text(out, effort);
        phi__buf_text(out, "\"}");
    }
    if (phi__chat_quirk(e, PHI_QUIRK_REASONING_ENABLED))
        phi__chat_thinking_put_switch(e, ",\"reasoning\":{\"enabled\":", "true", "false", "}");
    if (phi__chat_quirk(e, PHI_QUIRK_THINKING_TYPE))
        phi__chat_thinking_put_switch(
            e, ",\"thinking\":{\"type\":\"", "enabled", "disabled",
            phi__chat_quirk(e, PHI_QUIRK_KEEP_THINKING) ? "\",\"clear_thinking\":false}" : "\"}");
    if (phi__chat_quirk(e, PHI_QUIRK_ENABLE_THINKING)) {
        phi__chat_thinking_put_switch(e, ",\"enable_thinking\":", "true", "false", "");
        if (phi__chat_thinking_on(e))
            phi__records_u64(out, "thinking_budget",
                             phi__render_budget(phi__takes_level(e->codec, e->spec)));
    }
    if (phi__chat_quirk(e, PHI_QUIRK_TEMPLATE_THINKING))
        phi__chat_thinking_put_switch(e, ",\"chat_template_kwargs\":{\"enable_thinking\":", "true",
                                      "false", "}");
    if (phi__chat_thinking_on(e) && phi__chat_quirk(e, PHI_QUIRK_PROMPT_MODE))
        phi__buf_text(out, ",\"prompt_mode\":\"reasoning\"");
    if (phi__chat_quirk(e, PHI_QUIRK_REASONING_FORMAT))
        phi__buf_text(out, ",\"reasoning_format\":\"parsed\"");
}
