/* trace_out.c - prepares text for the sink: hides secrets, cuts long texts and escapes them for a
   page. Also finds the system prompt of an entry. */
#include "text/text_in.h"
#include "trace/trace_in.h"

#include <stdio.h>

enum {
    PHI__TRACE_OUT_PIECE = 65536, /* max. bytes in one call of the sink */
    PHI__TRACE_OUT_MUCH = 32768,  /* bytes that are written at once, at least */
    /* default limit for the bytes of a text: 10,000 entries stay below 12 MB */
    PHI__TRACE_OUT_TEXT = 8000
};

static size_t phi__tout_most(const phi_trace *t) {
    if (t->desc.text_bytes == PHI_UNLIMITED) return SIZE_MAX;
    return t->desc.text_bytes > 0 ? t->desc.text_bytes : (size_t)PHI__TRACE_OUT_TEXT;
}

/* Returns the text without secrets. If the text was cut, the beginning of a secret at its end is
   hidden too. */
static phi_str phi__tout_hidden(phi_trace *t, phi_str text, bool cut) {
    if (t->secrets.count == 0 || text.len == 0) return text;
    char *copy = phi__arena_bytes(&t->scratch, text.len);
    if (copy == NULL) {
        t->text.failed = true;
        return phi__str("", 0);
    }
    memcpy(copy, text.at, text.len);
    (void)phi__secret_hide(&t->secrets, copy, text.len,
                           cut ? PHI__SECRET_WORDS : PHI__SECRET_BYTES);
    return phi__str(copy, text.len);
}

PHI__FN void phi__tout_value(phi_trace *t, phi_str text) {
    phi__json_write_str(&t->text, phi__tout_hidden(t, text, false));
}

PHI__FN void phi__tout_whole(phi_trace *t, const char *key, phi_str text) {
    phi__json_write_key(&t->text, phi_str_of(key));
    phi__tout_value(t, text);
}

PHI__FN void phi__tout_some(phi_trace *t, const char *key, phi_str text) {
    if (text.len > 0) phi__tout_whole(t, key, text);
}

PHI__FN void phi__tout_str(phi_trace *t, const char *key, phi_str text) {
    size_t most = phi__tout_most(t), len = text.len;
    char more[16];
    if (len <= most) {
        phi__tout_whole(t, key, text);
        return;
    }
    text.len = phi__utf8_cut(text, most);
    phi__json_write_key(&t->text, phi_str_of(key));
    phi__json_write_str(&t->text, phi__tout_hidden(t, text, true));
    (void)snprintf(more, sizeof more, "%.8s of", key);
    phi__records_u64(&t->text, more, len);
}

PHI__FN phi_str phi__tout_noted(phi_trace *t, phi_str text) {
    static const char note[] = " [the first part of %llu bytes]";
    size_t most = phi__tout_most(t), len = text.len;
    char words[64];
    if (len <= most) return phi__tout_hidden(t, text, false);
    text.len = phi__utf8_cut(text, most);
    text = phi__tout_hidden(t, text, true);
    (void)snprintf(words, sizeof words, note, (unsigned long long)len);
    char *whole = phi__arena_bytes(&t->scratch, phi__add(text.len, strlen(words)));
    if (whole == NULL) {
        t->text.failed = true;
        return phi__str("", 0);
    }
    memcpy(whole, text.at, text.len);
    memcpy(whole + text.len, words, strlen(words));
    return phi__str(whole, text.len + strlen(words));
}

/* Writes the bytes to the sink if they are many, or if `all` is true. */
static phi_status phi__tout_write(phi_trace *t, bool all) {
    size_t at = 0;
    phi_status status = PHI_OK;
    if (t->out.failed) return PHI_NO_MEMORY;
    if (t->out.len < PHI__TRACE_OUT_MUCH && !all) return PHI_OK;
    while (status == PHI_OK && at < t->out.len) {
        size_t n = phi__min(t->out.len - at, PHI__TRACE_OUT_PIECE);
        status = t->sink.write(t->sink.user_data, t->out.at + at, n);
        at += n;
    }
    phi__buf_clear(&t->out);
    return status;
}

/* Returns the length of the text before the next "<" or U+2028 or U+2029. A "<" could end the
   script, and the other two end a line of a script. In JSON all three occur only in strings. */
static size_t phi__tout_plain(const char *at, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (at[i] == '<') return i;
        if ((unsigned char)at[i] == 0xe2 && i + 2 < len && (unsigned char)at[i + 1] == 0x80 &&
            ((unsigned char)at[i + 2] & 0xfe) == 0xa8)
            return i;
    }
    return len;
}

PHI__FN phi_status phi__tout_move(phi_trace *t, bool all) {
    size_t at = 0;
    if (t->text.failed || t->secrets.failed) return PHI_NO_MEMORY;
    while (at < t->text.len) {
        size_t n = phi__tout_plain(t->text.at + at, t->text.len - at);
        phi__buf_add(&t->out, t->text.at + at, n);
        at += n;
        if (at == t->text.len) break;
        if (t->text.at[at] == '<') {
            phi__buf_text(&t->out, "\\u003c");
            at++;
        } else {
            phi__buf_printf(&t->out, "\\u20%02x", (unsigned char)t->text.at[at + 2] & 0x7fu);
            at += 3;
        }
    }
    phi__buf_clear(&t->text);
    phi__arena_rewind(&t->scratch);
    return phi__tout_write(t, all);
}

PHI__FN phi_status phi__tout_raw(phi_trace *t, const char *text) {
    phi__buf_text(&t->out, text);
    return phi__tout_write(t, false);
}

/* ---- the system prompt of an entry ---- */

PHI__FN bool phi__trace_prompt_is_in(const phi__entry *e) {
    return e->kind == PHI_ENTRY_LOOP_START && e->of.loop != NULL && e->of.loop->has_system_prompt;
}

PHI__FN uint64_t phi__trace_prompt_at(const phi_trace *t, const phi__entry *entry) {
    if (phi__trace_prompt_is_in(entry)) return entry->seq + 1;
    return (entry->flags & PHI_ENTRY_GRAFTED) == 0 ? t->prompt : 0;
}

PHI__FN phi_str phi__trace_prompt(const phi_trace *t, uint64_t at) {
    return at > 0 ? phi__thread_at(t->thread, at - 1)->of.loop->system_prompt : phi__str("", 0);
}
