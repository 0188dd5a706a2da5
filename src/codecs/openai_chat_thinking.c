/* openai_chat_thinking.c - thinking in answers of Chat Completions: its text, and the data that
   must go back as it came. */
#include "codecs/openai_chat_in.h"

#include "codecs/openai_in.h"
#include "wire/hash_in.h"
#include "wire/render_in.h"
#include "wire/takes_in.h"

PHI__FN void phi__openai_chat_thinking_add(phi__assembly *a, phi__json_text text,
                                           const char *field) {
    size_t block;
    if (text.len == 0) return;
    block = phi__openai_chat_kept_current(a, PHI_CONTENT_THINKING);
    if (block == SIZE_MAX) return;
    if (a->drafts[block].signature.len == 0 && field[0] != '\0')
        phi__assembly_set(a, &a->drafts[block].signature, phi_str_of(field));
    phi__assembly_add_text(a, block, text);
}

/* ---- reasoning_details, thinking_blocks ---- */

/* One fragment. Its text or data is kept apart because it may continue in the next fragment; `name`
   is the member that holds the text: OpenRouter's details have text or summary, LiteLLM's blocks
   thinking. */
typedef struct phi__openai_chat_fragment {
    phi__json_text type, text, signature;
    const char *name; /* NULL: there is no text */
    phi_str raw, index;
} phi__openai_chat_fragment;

static void phi__openai_chat_thinking_read_fragment_text(phi__openai_chat_fragment *f,
                                                         phi__json_cursor *c, const char *name) {
    if (phi__json_cursor_take_text(c, &f->text)) f->name = name;
}

static void phi__openai_chat_thinking_read_fragment(phi__openai_chat_fragment *f) {
    phi__json_cursor c;
    phi__json_text key;
    phi__json_cursor_init(&c, f->raw);
    if (!phi__json_cursor_enter_object(&c)) return;
    while (phi__json_cursor_next_key(&c, &key)) {
        if (PHI__OPENAI_CHAT_IS(key, "type"))
            phi__json_cursor_take_text(&c, &f->type);
        else if (PHI__OPENAI_CHAT_IS(key, "text"))
            phi__openai_chat_thinking_read_fragment_text(f, &c, "text");
        else if (PHI__OPENAI_CHAT_IS(key, "summary") && f->name == NULL)
            phi__openai_chat_thinking_read_fragment_text(f, &c, "summary");
        else if (PHI__OPENAI_CHAT_IS(key, "thinking") && f->name == NULL)
            phi__openai_chat_thinking_read_fragment_text(f, &c, "thinking");
        else if (PHI__OPENAI_CHAT_IS(key, "signature"))
            phi__json_cursor_take_text(&c, &f->signature);
        else if (PHI__OPENAI_CHAT_IS(key, "index"))
            phi__json_cursor_take_raw(&c, &f->index);
        else
            phi__json_cursor_skip(&c);
    }
}

static void phi__openai_chat_thinking_quote(phi__buf *out, const char *before,
                                            phi__json_text text) {
    phi__buf_text(out, before);
    phi__buf_add(out, text.at, text.len);
}

static void phi__openai_chat_thinking_close_detail(phi__openai_chat_state *st, phi__assembly *a) {
    phi__buf *out;
    if (st->detail == PHI__OPENAI_CHAT_DETAIL_NONE) return;
    out = &a->drafts[st->detail_block].replay;
    phi__buf_text(out, st->detail == PHI__OPENAI_CHAT_DETAIL_TEXT ? "\"}" : "}");
    st->detail = PHI__OPENAI_CHAT_DETAIL_NONE;
}

/* All of the item except its text, which is left open, and its signature: those are written
   last. */
static void phi__openai_chat_thinking_open_detail(phi__openai_chat_state *st, phi__buf *out,
                                                  const phi__openai_chat_fragment *f) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str value = {NULL, 0};
    phi__json_cursor_init(&c, f->raw);
    if (!phi__json_cursor_enter_object(&c)) return;
    phi__buf_char(out, '{');
    while (phi__json_cursor_next_key(&c, &key)) {
        bool later = phi__json_cursor_text_is(key, phi_str_of(f->name)) ||
                     PHI__OPENAI_CHAT_IS(key, "signature");
        if (later) {
            phi__json_cursor_skip(&c);
            continue;
        }
        if (!phi__json_cursor_take_raw(&c, &value)) continue;
        phi__openai_chat_thinking_quote(out, "\"", key);
        phi__buf_text(out, "\":");
        phi__buf_add_str(out, value);
        phi__buf_char(out, ',');
    }
    phi__buf_char(out, '"');
    phi__buf_text(out, f->name);
    phi__openai_chat_thinking_quote(out, "\":\"", f->text);
    st->detail = PHI__OPENAI_CHAT_DETAIL_TEXT;
}

/* The newest thinking block keeps the items for replay, as JSON that is written as they come. */
static size_t phi__openai_chat_thinking_detail_block(phi__openai_chat_state *st, phi__assembly *a,
                                                     const char *member) {
    size_t i;
    phi__draft *d;
    for (i = a->count; i > 0; i--)
        if (a->drafts[i - 1].kind == PHI_CONTENT_THINKING) break;
    i = i > 0 ? i - 1 : phi__openai_chat_kept_current(a, PHI_CONTENT_THINKING);
    if (i == SIZE_MAX) return i;
    if (st->detail != PHI__OPENAI_CHAT_DETAIL_NONE && st->detail_block != i)
        phi__openai_chat_thinking_close_detail(st, a);
    st->detail_block = i;
    d = &a->drafts[i];
    if (d->replay.len == 0) {
        d->replay_open = true;
        phi__buf_text(&d->replay, "{\"");
        phi__buf_text(&d->replay, member);
        phi__buf_text(&d->replay, "\":[");
    }
    return i;
}

static void phi__openai_chat_thinking_detail_item(phi__openai_chat_state *st, phi__assembly *a,
                                                  phi_str raw, const char *member, bool spoken) {
    phi__openai_chat_fragment f;
    bool joins;
    uint64_t key;
    size_t block;
    phi__buf *out;
    memset(&f, 0, sizeof f);
    f.raw = raw;
    phi__openai_chat_thinking_read_fragment(&f);
    joins = f.name != NULL;
    if (joins && !spoken) phi__openai_chat_thinking_add(a, f.text, "");
    block = phi__openai_chat_thinking_detail_block(st, a, member);
    if (block == SIZE_MAX) return;
    out = &a->drafts[block].replay;
    key = phi__hash(f.index, phi__hash(phi__str(f.type.at, f.type.len), 4));
    if (joins && st->detail == PHI__OPENAI_CHAT_DETAIL_TEXT && key == st->detail_key)
        phi__openai_chat_thinking_quote(out, "", f.text);
    else {
        phi__openai_chat_thinking_close_detail(st, a);
        phi__json_write_comma(out);
        if (joins)
            phi__openai_chat_thinking_open_detail(st, out, &f);
        else
            phi__buf_add_str(out, raw);
        st->detail_key = key;
    }
    if (joins && f.signature.len > 0 && st->detail == PHI__OPENAI_CHAT_DETAIL_TEXT) {
        phi__openai_chat_thinking_quote(out, "\",\"signature\":\"", f.signature);
        phi__buf_char(out, '"');
        st->detail = PHI__OPENAI_CHAT_DETAIL_OPEN;
    }
    if (out->failed) a->no_memory = true;
}

PHI__FN void phi__openai_chat_thinking_details(phi__openai_chat_state *st, phi__assembly *a,
                                               phi_str raw, const char *member, bool spoken) {
    phi__json_cursor c;
    phi_str item;
    size_t n = 0;
    if (raw.len == 0) return;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_cursor_enter_array(&c)) return;
    while (phi__json_cursor_next_item(&c) && phi__assembly_takes_more(a, &n)) {
        bool object = phi__json_cursor_peek(&c) == PHI_JSON_OBJECT;
        if (phi__json_cursor_take_raw(&c, &item) && object)
            phi__openai_chat_thinking_detail_item(st, a, item, member, spoken);
    }
}

PHI__FN void phi__openai_chat_thinking_end_details(phi__openai_chat_state *st, phi__assembly *a) {
    size_t i;
    phi__openai_chat_thinking_close_detail(st, a);
    for (i = 0; i < a->count; i++) {
        phi__draft *d = &a->drafts[i];
        if (!d->replay_open) continue;
        phi__buf_text(&d->replay, "]}");
        if (d->replay.failed) a->no_memory = true;
        d->replay_open = d->replay.failed;
    }
}

PHI__FN void phi__openai_chat_thinking_parts(phi__assembly *a, phi__json_cursor *c, size_t *n) {
    phi__json_text key, text = {NULL, 0, false};
    if (phi__json_cursor_peek(c) == PHI_JSON_STRING) {
        if (phi__json_cursor_take_text(c, &text)) phi__openai_chat_thinking_add(a, text, "content");
        return;
    }
    if (!phi__json_cursor_enter_array(c)) return;
    while (phi__json_cursor_next_item(c) && phi__assembly_takes_more(a, n)) {
        if (!phi__json_cursor_enter_object(c)) continue;
        while (phi__json_cursor_next_key(c, &key)) {
            if (!PHI__OPENAI_CHAT_IS(key, "text"))
                phi__json_cursor_skip(c);
            else if (phi__json_cursor_take_text(c, &text))
                phi__openai_chat_thinking_add(a, text, "content");
        }
    }
}

/* ---- what a request says of it ---- */

PHI__FN bool phi__openai_chat_thinking_wanted(const phi__request_spec *spec) {
    return spec->model->reasoning && spec->thinking != PHI_THINKING_OFF;
}

PHI__FN bool phi__openai_chat_thinking_on(const phi__encoder *e) {
    return phi__openai_chat_thinking_wanted(e->spec);
}

static void phi__openai_chat_thinking_put_switch(phi__encoder *e, const char *before,
                                                 const char *on, const char *off,
                                                 const char *after) {
    phi__buf_text(&e->scratch, before);
    phi__buf_text(&e->scratch, phi__openai_chat_thinking_on(e) ? on : off);
    phi__buf_text(&e->scratch, after);
}

PHI__FN void phi__openai_chat_thinking_put(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    bool openai = phi__str_is(phi_str_of(e->spec->model->provider), "openai");
    const char *effort = phi__openai_effort_name(e, openai);
    if (!e->spec->model->reasoning) return;
    /* Groq's Qwen: on or off; wire.md part 3 */
    if (phi__openai_chat_quirk(e, PHI_QUIRK_REASONING_FORMAT))
        effort = phi__openai_chat_thinking_on(e) ? "default" : "none";
    if (effort != NULL && phi__openai_chat_quirk(e, PHI_QUIRK_REASONING_EFFORT))
        phi__render_member(out, "reasoning_effort", phi_str_of(effort));
    if (phi__openai_chat_thinking_on(e) && phi__openai_chat_quirk(e, PHI_QUIRK_REASONING_OBJECT)) {
        phi__buf_text(out, ",\"reasoning\":{\"effort\":\"");
        phi__buf_text(out, effort);
        phi__buf_text(out, "\"}");
    }
    if (phi__openai_chat_quirk(e, PHI_QUIRK_REASONING_ENABLED))
        phi__openai_chat_thinking_put_switch(e, ",\"reasoning\":{\"enabled\":", "true", "false",
                                             "}");
    if (phi__openai_chat_quirk(e, PHI_QUIRK_THINKING_TYPE))
        phi__openai_chat_thinking_put_switch(e, ",\"thinking\":{\"type\":\"", "enabled", "disabled",
                                             phi__openai_chat_quirk(e, PHI_QUIRK_KEEP_THINKING)
                                                 ? "\",\"clear_thinking\":false}"
                                                 : "\"}");
    if (phi__openai_chat_quirk(e, PHI_QUIRK_ENABLE_THINKING)) {
        phi__openai_chat_thinking_put_switch(e, ",\"enable_thinking\":", "true", "false", "");
        if (phi__openai_chat_thinking_on(e)) {
            phi__buf_text(out, ",\"thinking_budget\":");
            phi__buf_u64(out, phi__render_budget(phi__takes_level(e->codec, e->spec)));
        }
    }
    if (phi__openai_chat_quirk(e, PHI_QUIRK_TEMPLATE_THINKING))
        phi__openai_chat_thinking_put_switch(
            e, ",\"chat_template_kwargs\":{\"enable_thinking\":", "true", "false", "}");
    if (phi__openai_chat_thinking_on(e) && phi__openai_chat_quirk(e, PHI_QUIRK_PROMPT_MODE))
        phi__buf_text(out, ",\"prompt_mode\":\"reasoning\"");
    if (phi__openai_chat_quirk(e, PHI_QUIRK_REASONING_FORMAT))
        phi__buf_text(out, ",\"reasoning_format\":\"parsed\"");
}
