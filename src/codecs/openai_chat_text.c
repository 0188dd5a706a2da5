/* openai_chat_text.c - the text of answers of small models: split into text, thinking and calls.

   Local servers pass on what a model writes when they have no parser for its template: thinking
   between tags, and calls as text. Bytes wait in assembly->held while they may be a part of a tag
   or a call; the rest goes into blocks at once. Each byte is read at most three times, whatever the
   model writes. docs/local_models.md has the rules. */
#include "codecs/openai_chat_in.h"

#include "wire/repair_in.h"

enum {
    PHI__OPENAI_CHAT_CALL_MOST = 1 << 20, /* bytes held back for calls between tags */
    PHI__OPENAI_CHAT_JSON_MOST = 1 << 16, /* ... and for JSON without tags */
    PHI__OPENAI_CHAT_BLANKS_MOST = 256,   /* ... and of blanks before anything else */
    PHI__OPENAI_CHAT_HEAD_MOST = 256,     /* bytes of JSON up to its first key */
    PHI__OPENAI_CHAT_KEY_MOST = 16        /* bytes of a first key that may be a call's */
};

typedef enum phi__openai_chat_tag {
    PHI__OPENAI_CHAT_TAG_NONE = -1,
    PHI__OPENAI_CHAT_TAG_SOME = -2, /* the text ends inside of a possible tag */
    PHI__OPENAI_CHAT_TAG_THINK = 0,
    PHI__OPENAI_CHAT_TAG_THINK_END,
    PHI__OPENAI_CHAT_TAG_CALL,
    PHI__OPENAI_CHAT_TAG_CALL_END,
    PHI__OPENAI_CHAT_TAG_FUNCTION,
    PHI__OPENAI_CHAT_TAG_PYTHON,
    PHI__OPENAI_CHAT_TAG_MISTRAL
} phi__openai_chat_tag;

static const char *const phi__openai_chat_text_tags[] = {
    "<think>",    "</think>",       "<tool_call>", "</tool_call>",
    "<function=", "<|python_tag|>", "[TOOL_CALLS]"};

static bool phi__openai_chat_text_blank(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* How many blanks a text begins with. */
static size_t phi__openai_chat_text_blanks(phi_str text) {
    size_t n = 0;
    while (n < text.len && phi__openai_chat_text_blank(text.at[n])) n++;
    return n;
}

static phi_str phi__openai_chat_text_held(const phi__assembly *a, size_t from, size_t to) {
    return phi__str(a->held.bytes.at + from, to - from);
}

/* True if a text begins with a word. *some: the text is only the beginning of it. */
static bool phi__openai_chat_text_begins(phi_str text, const char *word, bool *some) {
    size_t n = strlen(word), most = phi__min(n, text.len);
    if (memcmp(text.at, word, most) != 0) return false;
    if (most == n) return true;
    *some = true;
    return false;
}

static bool phi__openai_chat_text_wants_calls(const phi__openai_chat_text *t,
                                              const phi__assembly *a) {
    return (a->quirks & PHI_QUIRK_TEXT_CALLS) != 0 && a->tool_count > 0 && !t->structured;
}

static phi__openai_chat_tag phi__openai_chat_text_tag(const phi__openai_chat_text *t,
                                                      const phi__assembly *a) {
    phi_str text = phi__openai_chat_text_held(a, t->at, a->held.bytes.len);
    bool thinks = (a->quirks & PHI_QUIRK_THINK_TAGS) != 0, some = false;
    bool calls = phi__openai_chat_text_wants_calls(t, a);
    int i;
    for (i = 0; i < (int)PHI__COUNT(phi__openai_chat_text_tags); i++) {
        if (!(i < (int)PHI__OPENAI_CHAT_TAG_CALL ? thinks : calls)) continue;
        if (i == (int)PHI__OPENAI_CHAT_TAG_CALL_END && (t->worded || t->said || !t->called))
            continue;
        if (i >= (int)PHI__OPENAI_CHAT_TAG_PYTHON && t->spent) continue;
        if (phi__openai_chat_text_begins(text, phi__openai_chat_text_tags[i], &some))
            return (phi__openai_chat_tag)i;
    }
    return some ? PHI__OPENAI_CHAT_TAG_SOME : PHI__OPENAI_CHAT_TAG_NONE;
}

/* ---- into blocks ---- */

/* The bytes up to t->at become text. Blanks at the start wait: they are dropped before and after
   thinking and calls. */
static void phi__openai_chat_text_say(phi__openai_chat_text *t, phi__assembly *a, bool last) {
    phi_str text = phi__openai_chat_text_held(a, t->from, t->at);
    size_t blanks = 0;
    if (!t->said) {
        blanks = phi__openai_chat_text_blanks(text);
        if (blanks == text.len && !last && (t->behind || blanks < PHI__OPENAI_CHAT_BLANKS_MOST)) {
            if (t->behind) t->from = t->at;
            return;
        }
        if (t->behind) text = phi__str(text.at + blanks, text.len - blanks);
    }
    t->from = t->at;
    if (text.len == 0) return;
    t->said = true;
    phi__assembly_add(a, phi__openai_chat_kept_current(a, PHI_CONTENT_TEXT), text);
}

/* Starts a new text after thinking, or after a call. */
static void phi__openai_chat_text_restart(phi__openai_chat_text *t, size_t at, bool called) {
    t->mode = PHI__OPENAI_CHAT_SAYS;
    t->from = t->at = at;
    t->behind = true;
    t->called = called;
    t->said = t->worded = t->code = t->inline_code = t->inside_line = false;
    t->ticks = 0;
}

/* Makes the text that was held back plain text. It is not searched for JSON calls again. */
static void phi__openai_chat_text_release(phi__openai_chat_text *t, phi__assembly *a, size_t to) {
    if (t->mode == PHI__OPENAI_CHAT_JSON) {
        t->no_json = phi__max(to, t->from + 1);
        t->at = t->from;
        t->mode = PHI__OPENAI_CHAT_SAYS;
        return;
    }
    t->mode = PHI__OPENAI_CHAT_SAYS;
    t->at = to;
    t->inside_line = true;
    t->ticks = 0;
    phi__openai_chat_text_say(t, a, true);
}

/* ---- thinking ---- */

static void phi__openai_chat_text_think(phi__openai_chat_text *t, phi__assembly *a, size_t to) {
    phi_str text = phi__openai_chat_text_held(a, t->from, to);
    size_t blanks = t->said ? 0 : phi__openai_chat_text_blanks(text);
    t->from = to;
    text = phi__str(text.at + blanks, text.len - blanks);
    if (text.len == 0) return;
    t->said = true;
    phi__assembly_add(a, phi__openai_chat_kept_current(a, PHI_CONTENT_THINKING), text);
}

/* False: more text is needed. */
static bool phi__openai_chat_text_thinks(phi__openai_chat_text *t, phi__assembly *a, bool last) {
    size_t len = a->held.bytes.len;
    while (t->at < len) {
        const char *from = a->held.bytes.at + t->at;
        const char *tag = (const char *)memchr(from, '<', len - t->at);
        bool some = false;
        if (tag == NULL) {
            t->at = len;
            break;
        }
        t->at += (size_t)(tag - from);
        if (phi__openai_chat_text_begins(phi__str(tag, len - t->at), "</think>", &some)) {
            phi__openai_chat_text_think(t, a, t->at);
            t->thought = true;
            t->assumed = false;
            phi__openai_chat_text_restart(t, t->at + strlen("</think>"), false);
            return true;
        }
        /* an opening tag although the template opened it already */
        if (!some && t->assumed && !t->said && !t->worded) {
            phi_str before = phi__openai_chat_text_held(a, t->from, t->at);
            t->worded = phi__openai_chat_text_blanks(before) < before.len ||
                        !phi__openai_chat_text_begins(phi__str(tag, len - t->at), "<think>", &some);
            if (!t->worded) {
                t->assumed = false;
                t->from = t->at = t->at + strlen("<think>");
                continue;
            }
            t->worded = !some;
        }
        if (some && !last) break;
        t->at++;
    }
    phi__openai_chat_text_think(t, a, t->at);
    return false;
}

/* A closing tag without an opening one: all text before it was thinking, if nothing else came. */
static void phi__openai_chat_text_was_thinking(phi__openai_chat_text *t, phi__assembly *a) {
    phi__openai_chat_text_say(t, a, false);
    if (!t->thought && !t->behind && a->count == 1 && a->drafts[0].kind == PHI_CONTENT_TEXT) {
        phi__assembly_turn(a, 0, PHI_CONTENT_THINKING);
        phi__assembly_close(a, 0);
    }
    t->thought = true;
}

/* ---- calls between tags ---- */

static bool phi__openai_chat_text_may_call(phi__openai_chat_ending ending) {
    return ending == PHI__OPENAI_CHAT_ENDED || ending == PHI__OPENAI_CHAT_CUT;
}

/* Reads a byte of JSON: strings and brackets. */
static void phi__openai_chat_text_byte(phi__openai_chat_text *t, char c) {
    if (t->escaped)
        t->escaped = false;
    else if (t->quoted) {
        t->escaped = c == '\\';
        t->quoted = c != '"';
    } else if (c == '"')
        t->quoted = true;
    else if (c == '{' || c == '[')
        t->depth++;
    else if ((c == '}' || c == ']') && t->depth > 0)
        t->depth--;
}

/* The place of the closing tag; SIZE_MAX: it has not come. A tag inside a JSON string does not
   count. */
static size_t phi__openai_chat_text_close(phi__openai_chat_text *t, const phi__assembly *a,
                                          const char *close, bool json) {
    size_t len = a->held.bytes.len;
    const char *text = a->held.bytes.at;
    while (t->at < len) {
        bool some = false;
        if (text[t->at] == '<' && !(json && t->quoted)) {
            if (phi__openai_chat_text_begins(phi__str(text + t->at, len - t->at), close, &some))
                return t->at;
            if (some) break;
        }
        if (json) phi__openai_chat_text_byte(t, text[t->at]);
        t->at++;
    }
    return SIZE_MAX;
}

static bool phi__openai_chat_text_is_json(const phi__openai_chat_text *t, const phi__assembly *a,
                                          size_t at) {
    size_t len = phi__min(a->held.bytes.len, at + PHI__OPENAI_CHAT_HEAD_MOST);
    while (at < len && phi__openai_chat_text_blank(a->held.bytes.at[at])) at++;
    return !t->plain && at < len && (a->held.bytes.at[at] == '{' || a->held.bytes.at[at] == '[');
}

/* Behind <tool_call> or <function=. False: more text is needed. */
static bool phi__openai_chat_text_calls(phi__openai_chat_text *t, phi__assembly *a, bool last,
                                        phi__openai_chat_ending ending) {
    bool function = t->mode == PHI__OPENAI_CHAT_FUNCTION, cut;
    const char *close = function ? "</function>" : "</tool_call>";
    size_t body = t->from + (function ? 0 : strlen("<tool_call>")), len = a->held.bytes.len, end;
    bool json = !function && phi__openai_chat_text_is_json(t, a, body);
    if (!function && t->at < body) t->at = body;
    end = phi__openai_chat_text_close(t, a, close, json);
    if (end == SIZE_MAX && len - t->from > PHI__OPENAI_CHAT_CALL_MOST) {
        phi__openai_chat_text_release(t, a, len);
        return true;
    }
    if (end == SIZE_MAX && !last) return false;
    if (end == SIZE_MAX && json && (t->quoted || t->depth > 0)) { /* a quote is missing, perhaps */
        t->plain = true;
        t->at = body;
        return true;
    }
    cut = end == SIZE_MAX && ending == PHI__OPENAI_CHAT_CUT;
    if (end == SIZE_MAX)
        end = len;
    else if (function)
        end += strlen(close);
    if (ending == PHI__OPENAI_CHAT_CALLED &&
        phi__openai_chat_text_blanks(phi__openai_chat_text_held(a, body, end)) == end - body)
        phi__openai_chat_text_restart(t, len, true); /* a tag that the server left over */
    else if (phi__openai_chat_text_may_call(ending) &&
             phi__openai_chat_calls_of(a, phi__openai_chat_text_held(a, body, end), function,
                                       cut)) {
        if (!function) end = phi__min(end + strlen(close), len);
        phi__openai_chat_text_restart(t, end, true);
    } else
        phi__openai_chat_text_release(t, a, function ? end : phi__min(end + strlen(close), len));
    return true;
}

/* ---- calls up to the end ---- */

/* True if the text after <|python_tag|> or [TOOL_CALLS] may be calls, as far as it came. */
static bool phi__openai_chat_text_may_be_rest(phi_str text, bool mistral) {
    size_t i = 0, from;
    while (i < text.len && phi__openai_chat_text_blank(text.at[i])) i++;
    if (i == text.len || text.at[i] == '{' || text.at[i] == '[') return true;
    if (!mistral) return false;
    for (from = i; i < text.len && i - from < 128; i++) {
        char c = text.at[i];
        if (c == '{' || c == '[') return true;
        if (c == ' ' || c == '\n' || c == '<') return false;
    }
    return i == text.len;
}

static bool phi__openai_chat_text_rest(phi__openai_chat_text *t, phi__assembly *a, bool last,
                                       phi__openai_chat_ending ending) {
    size_t len = a->held.bytes.len;
    bool mistral = a->held.bytes.at[t->from] == '[';
    size_t body = t->from + strlen(mistral ? "[TOOL_CALLS]" : "<|python_tag|>");
    t->at = len;
    if (!phi__openai_chat_text_may_be_rest(
            phi__openai_chat_text_held(a, body, phi__min(len, body + 512)), mistral)) {
        phi__openai_chat_text_release(t, a, body);
        return true;
    }
    if (len - t->from > PHI__OPENAI_CHAT_CALL_MOST) {
        t->spent = true;
        phi__openai_chat_text_release(t, a, body);
        return true;
    }
    if (!last) return false;
    if (phi__openai_chat_text_may_call(ending) &&
        phi__openai_chat_calls_of(a, phi__openai_chat_text_held(a, body, len), false,
                                  ending == PHI__OPENAI_CHAT_CUT))
        phi__openai_chat_text_restart(t, len, true);
    else {
        t->spent = true;
        phi__openai_chat_text_release(t, a, body);
    }
    return true;
}

/* ---- JSON without tags ---- */

/* True if the text from t->from on may begin a call, as far as its first key shows. *at: the place
   after that key, if it came (t->opened). */
static bool phi__openai_chat_text_json_opens(phi__openai_chat_text *t, phi_str text, size_t *at) {
    static const char *const keys[] = {"name", "type",      "function",   "tool",
                                       "args", "tool_name", "parameters", "arguments"};
    size_t i = 0, from, k;
    t->fenced = text.at[0] == '`';
    if (t->fenced) {
        for (i = 3; i < text.len && !phi__openai_chat_text_blank(text.at[i]); i++)
            if (i > 3 + PHI__OPENAI_CHAT_KEY_MOST || text.at[i] == '`') return false;
    }
    *at = i;
    for (k = 0; k < 2; k++) { /* [ and {, or { */
        while (i < text.len && phi__openai_chat_text_blank(text.at[i])) i++;
        if (i == text.len) return true;
        if (k == 0 && text.at[i] == '[') {
            i++;
            continue;
        }
        if (text.at[i] != '{') return false;
        i++;
        break;
    }
    while (i < text.len && phi__openai_chat_text_blank(text.at[i])) i++;
    if (i == text.len) return true;
    if (text.at[i] != '"' && text.at[i] != '\'') return false;
    for (from = ++i; i < text.len && text.at[i] != '"' && text.at[i] != '\''; i++)
        if (i - from == PHI__OPENAI_CHAT_KEY_MOST) return false;
    if (i == text.len) return true;
    t->opened = true;
    for (k = 0; k < PHI__COUNT(keys); k++)
        if (phi__str_is(phi__str(text.at + from, i - from), keys[k])) return true;
    return false;
}

/* True if a byte may follow the last bracket: a blank, a semicolon, the end of a fence, or the
   start of another object. */
static bool phi__openai_chat_text_json_behind(const phi__openai_chat_text *t, char c) {
    return phi__openai_chat_text_blank(c) || c == ';' || c == ',' || c == '{' || c == '[' ||
           (c == '`' && t->fenced);
}

static bool phi__openai_chat_text_json(phi__openai_chat_text *t, phi__assembly *a, bool last,
                                       phi__openai_chat_ending ending) {
    size_t len = a->held.bytes.len;
    const char *text = a->held.bytes.at;
    bool may = len - t->from <= PHI__OPENAI_CHAT_JSON_MOST;
    if (may && !t->opened) {
        size_t at = 0;
        may = phi__openai_chat_text_json_opens(t, phi__openai_chat_text_held(a, t->from, len), &at);
        t->at = t->opened ? t->from + at : may ? len : t->from;
        if (!t->opened && len - t->from > PHI__OPENAI_CHAT_HEAD_MOST) may = false;
    }
    while (may && t->opened && t->at < len) {
        char c = text[t->at];
        may = t->depth > 0 || !t->closed || phi__openai_chat_text_json_behind(t, c);
        if (!may) break;
        phi__openai_chat_text_byte(t, c);
        t->closed = t->closed || ((c == '}' || c == ']') && t->depth == 0);
        t->at++;
    }
    if (may && !last) return false;
    if (may && t->opened && ending == PHI__OPENAI_CHAT_ENDED &&
        phi__openai_chat_calls_of(a, phi__openai_chat_text_held(a, t->from, len), true, false))
        phi__openai_chat_text_restart(t, len, true);
    else
        phi__openai_chat_text_release(t, a, may ? len : t->at);
    return true;
}

/* ---- text ---- */

/* Takes note of a byte of text: lines and code. A fence begins a line; between backticks is code up
   to the line's end. */
static void phi__openai_chat_text_note(phi__openai_chat_text *t, char c) {
    t->worded = t->worded || !phi__openai_chat_text_blank(c);
    if (c == '`') {
        if (t->ticks < 3) t->ticks++;
        if (t->ticks == 3 && !t->inside_line) {
            t->code = !t->code;
            t->inside_line = true;
            t->ticks = 4;
        }
        return;
    }
    if (t->ticks > 0 && t->ticks < 4) {
        t->inline_code = !t->inline_code;
        t->inside_line = true;
    }
    t->ticks = 0;
    if (c == '\n')
        t->inside_line = t->inline_code = false;
    else if (c != ' ' && c != '\t' && c != '\r')
        t->inside_line = true;
}

static void phi__openai_chat_text_enter(phi__openai_chat_text *t, phi__openai_chat_mode mode) {
    t->mode = mode;
    t->from = t->at;
    t->depth = 0;
    t->quoted = t->escaped = t->opened = t->closed = t->fenced = false;
}

static void phi__openai_chat_text_take_tag(phi__openai_chat_text *t, phi__assembly *a,
                                           phi__openai_chat_tag tag) {
    size_t behind = t->at + strlen(phi__openai_chat_text_tags[tag]);
    if (tag == PHI__OPENAI_CHAT_TAG_THINK_END)
        phi__openai_chat_text_was_thinking(t, a);
    else
        phi__openai_chat_text_say(t, a, false);
    switch (tag) {
    case PHI__OPENAI_CHAT_TAG_THINK:
        phi__openai_chat_text_restart(t, behind, false);
        t->mode = PHI__OPENAI_CHAT_THINKS;
        break;
    case PHI__OPENAI_CHAT_TAG_CALL: phi__openai_chat_text_enter(t, PHI__OPENAI_CHAT_CALLS); break;
    case PHI__OPENAI_CHAT_TAG_FUNCTION:
        phi__openai_chat_text_enter(t, PHI__OPENAI_CHAT_FUNCTION);
        break;
    case PHI__OPENAI_CHAT_TAG_PYTHON:
    case PHI__OPENAI_CHAT_TAG_MISTRAL: phi__openai_chat_text_enter(t, PHI__OPENAI_CHAT_REST); break;
    case PHI__OPENAI_CHAT_TAG_THINK_END:
    case PHI__OPENAI_CHAT_TAG_CALL_END:
    case PHI__OPENAI_CHAT_TAG_NONE:
    case PHI__OPENAI_CHAT_TAG_SOME: phi__openai_chat_text_restart(t, behind, t->called); break;
    }
}

/* True if a line begins here with JSON that may be calls; *some: the text ends too early to know.
   */
static bool phi__openai_chat_text_at_json(const phi__openai_chat_text *t, const phi__assembly *a,
                                          bool *some) {
    phi_str text = phi__openai_chat_text_held(a, t->at, a->held.bytes.len);
    if (t->inside_line || t->ticks > 0 || t->at < t->no_json ||
        !phi__openai_chat_text_wants_calls(t, a))
        return false;
    return text.at[0] == '{' || text.at[0] == '[' ||
           (text.at[0] == '`' && phi__openai_chat_text_begins(text, "```", some));
}

static bool phi__openai_chat_text_says(phi__openai_chat_text *t, phi__assembly *a, bool last) {
    while (t->at < a->held.bytes.len) {
        char c = a->held.bytes.at[t->at];
        bool some = false;
        if (!t->code && !t->inline_code && (c == '<' || c == '[' || c == '{' || c == '`')) {
            phi__openai_chat_tag tag =
                c == '<' || c == '[' ? phi__openai_chat_text_tag(t, a) : PHI__OPENAI_CHAT_TAG_NONE;
            if (tag >= 0 && (t->ticks == 0 || t->ticks == 4)) {
                phi__openai_chat_text_take_tag(t, a, tag);
                return true;
            }
            some = tag == PHI__OPENAI_CHAT_TAG_SOME;
            if (!some && phi__openai_chat_text_at_json(t, a, &some)) {
                phi__openai_chat_text_say(t, a, false);
                phi__openai_chat_text_enter(t, PHI__OPENAI_CHAT_JSON);
                return true;
            }
            if (some && !last) break;
        }
        phi__openai_chat_text_note(t, c);
        t->at++;
    }
    phi__openai_chat_text_say(t, a, last);
    return false;
}

/* ---- for the stream ---- */

static void phi__openai_chat_text_run(phi__openai_chat_text *t, phi__assembly *a, bool last,
                                      phi__openai_chat_ending ending) {
    phi__buf *held = &a->held.bytes;
    bool more = held->len > t->from;
    while (more && !a->no_memory) {
        switch (t->mode) {
        case PHI__OPENAI_CHAT_SAYS: more = phi__openai_chat_text_says(t, a, last); break;
        case PHI__OPENAI_CHAT_THINKS: more = phi__openai_chat_text_thinks(t, a, last); break;
        case PHI__OPENAI_CHAT_CALLS:
        case PHI__OPENAI_CHAT_FUNCTION:
            more = phi__openai_chat_text_calls(t, a, last, ending);
            break;
        case PHI__OPENAI_CHAT_REST: more = phi__openai_chat_text_rest(t, a, last, ending); break;
        case PHI__OPENAI_CHAT_JSON: more = phi__openai_chat_text_json(t, a, last, ending); break;
        }
    }
    if (t->from == 0 || held->failed) return;
    memmove(held->at, held->at + t->from, held->len - t->from);
    held->len -= t->from;
    t->at -= t->from;
    t->no_json -= phi__min(t->no_json, t->from);
    t->from = 0;
}

PHI__FN void phi__openai_chat_text_add(phi__openai_chat_text *t, phi__assembly *a,
                                       phi__json_text text) {
    if (!t->begun) {
        t->begun = true;
        t->assumed = (a->quirks & PHI_QUIRK_THINK_TAGS) != 0 &&
                     (a->quirks & PHI_QUIRK_THINK_OPEN) != 0 && a->count == 0;
        if (t->assumed) t->mode = PHI__OPENAI_CHAT_THINKS;
    }
    phi__assembly_hold_text(a, text);
    phi__openai_chat_text_run(t, a, false, PHI__OPENAI_CHAT_ENDED);
}

/* An answer that ends with thinking, whose end is a call: the model forgot to close its thinking,
   or the server took all of it for thinking. The thinking keeps the call's text. */
static void phi__openai_chat_text_thought_call(const phi__openai_chat_text *t, phi__assembly *a) {
    static const char open[] = "<tool_call>", close[] = "</tool_call>";
    phi_str text;
    size_t from, i;
    if (a->no_memory || a->count == 0 || a->drafts[a->count - 1].kind != PHI_CONTENT_THINKING ||
        !phi__openai_chat_text_wants_calls(t, a))
        return;
    for (i = 0; i < a->count; i++)
        if (a->drafts[i].kind == PHI_CONTENT_TOOL_CALL) return;
    text = phi__str_trim(phi__buf_str(&a->drafts[a->count - 1].bytes));
    if (text.len > PHI__OPENAI_CHAT_CALL_MOST) return;
    if (text.len >= sizeof close - 1 &&
        memcmp(text.at + text.len - (sizeof close - 1), close, sizeof close - 1) == 0)
        text.len -= sizeof close - 1;
    for (from = text.len; from >= sizeof open - 1; from--)
        if (memcmp(text.at + from - (sizeof open - 1), open, sizeof open - 1) == 0) {
            (void)phi__openai_chat_calls_of(a, phi__str(text.at + from, text.len - from), true,
                                            false);
            return;
        }
}

PHI__FN void phi__openai_chat_text_end(phi__openai_chat_text *t, phi__assembly *a,
                                       phi__openai_chat_ending ending) {
    phi__assembly_hold_end(a);
    phi__openai_chat_text_run(t, a, true, ending);
    if (ending == PHI__OPENAI_CHAT_ENDED) phi__openai_chat_text_thought_call(t, a);
    phi__buf_clear(&a->held.bytes);
    t->from = t->at = t->no_json = 0;
    /* no tag at all: the model did not think */
    if (t->assumed && ending == PHI__OPENAI_CHAT_ENDED && a->count == 1 && !a->no_memory &&
        a->drafts[0].kind == PHI_CONTENT_THINKING)
        phi__assembly_turn(a, 0, PHI_CONTENT_TEXT);
    t->assumed = false;
    t->mode = PHI__OPENAI_CHAT_SAYS;
}
