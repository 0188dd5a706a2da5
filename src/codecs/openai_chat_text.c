/* openai_chat_text.c - splits the text of small models' answers into text, thinking and calls.

   A local server that has no parser for a model's template passes on what the model writes:
   thinking between tags, and calls as text. Bytes that may be part of a tag or a call wait in
   assembly->held. All other bytes go into blocks at once. Each byte is read at most three times.
   docs/local_models.md has the rules. */
#include "codecs/openai_chat_in.h"

/* ---- tool calls that a model wrote as text ----

   There are three forms. The first is {"name":...,"arguments":{...}}, also with the member names of
   other templates. Such objects come alone, in sequence or in an array. The second form is
   <function=name><parameter=key>value</parameter></function>, and the third is name[ARGS]{...}.
   Either the whole text is calls or none of it. See docs/local_models.md. */

typedef struct phi__chat_made {
    phi_str name, arguments;
} phi__chat_made;

/* The calls of one text, before they become blocks. */
typedef struct phi__chat_read {
    phi__assembly *a;
    phi_arena *arena; /* the assembly's scratch arena */
    bool repairs;     /* PHI_QUIRK_REPAIR_CALLS is set */
    bool known;       /* each name must be the name of a tool */
    bool failed;      /* memory ran out */
    size_t count, cap;
    phi__chat_made *made; /* in the arena */
} phi__chat_read;

/* Stores a call. False: its tool is unknown, there are too many calls, or memory ran out. */
static bool phi__chat_calls_keep(phi__chat_read *r, phi_str name, phi_str arguments) {
    phi__chat_made *made = r->made;
    name = phi__str_trim(name);
    if (name.len == 0 || (r->known && phi__repair_tool(r->a, name) == SIZE_MAX) ||
        r->count == PHI__ASSEMBLY_BLOCKS_MOST)
        return false;
    made = (phi__chat_made *)phi__arena_grow(r->arena, made, r->count, &r->cap, sizeof *made);
    if (made == NULL) {
        r->failed = true;
        return false;
    }
    r->made = made;
    made[r->count].name = name;
    made[r->count++].arguments = arguments;
    return true;
}

/* Moves a buffer's text to the arena and frees the buffer. */
static bool phi__chat_calls_text(phi__chat_read *r, phi__buf *buf, phi_str *out) {
    bool kept = !buf->failed && phi__arena_str(r->arena, phi__buf_str(buf), out);
    if (!kept) r->failed = true;
    phi__buf_free(buf);
    return kept;
}

static const phi_json *phi__chat_calls_member(const phi_json *node, const char *const *names,
                                              size_t count) {
    for (size_t i = 0; i < count; i++) {
        const phi_json *member = phi_json_get(node, names[i]);
        if (member != NULL && !phi_json_is(member, PHI_JSON_NULL)) return member;
    }
    return NULL;
}

static bool phi__chat_calls_node(phi__chat_read *r, const phi_json *node) {
    static const char *const names[] = {"name", "tool_name", "tool", "function"};
    static const char *const values[] = {"arguments", "parameters", "args", "input", "tool_input"};
    const phi_json *name = phi__chat_calls_member(node, names, PHI__COUNT(names));
    phi_str arguments = PHI_ZERO;
    phi__buf buf;
    if (phi_json_is(name, PHI_JSON_OBJECT)) { /* the form {"type":"function","function":{...}} */
        node = name;
        name = phi_json_get(node, "name");
    }
    if (!phi_json_is(name, PHI_JSON_STRING)) return false;
    const phi_json *value = phi__chat_calls_member(node, values, PHI__COUNT(values));
    if (value == NULL && r->known) return false; /* data that has a member `name`, not a call */
    if (phi_json_is(value, PHI_JSON_STRING))
        arguments = phi_json_str(value, "");
    else if (value != NULL) {
        phi__buf_init(&buf, r->a->memory);
        if (phi__json_write(&buf, value, 0) == PHI_NO_MEMORY) r->failed = true;
        if (!phi__chat_calls_text(r, &buf, &arguments)) return false;
    }
    return phi__chat_calls_keep(r, phi_json_str(name, ""), arguments);
}

/* Reads one JSON value of the text. False if it is broken. */
static bool phi__chat_calls_value(phi__chat_read *r, const char **at, const char *end,
                                  phi_json **out) {
    const char *from = *at;
    uint32_t faults = 0;
    phi__buf buf;
    phi__buf_init(&buf, r->a->memory);
    bool read = phi__repair_value(&buf, at, end, &faults) && (faults == 0 || r->repairs);
    if (buf.failed) r->failed = true;
    if (!read) {
        phi__buf_free(&buf);
        return false;
    }
    phi_str text = phi__str(from, (size_t)(*at - from));
    if (!phi__chat_calls_text(r, &buf, &text)) return false;
    phi_status status = phi_json_parse(r->arena, text, PHI_JSON_REPLACE_BAD_UTF8, out, NULL);
    if (status == PHI_NO_MEMORY) r->failed = true;
    return status == PHI_OK;
}

/* ---- functions with parameters ---- */

/* Appends a parameter's value, without the line feeds at its ends. If the value is JSON and the
   schema declares another type than string, it is appended as JSON, otherwise as a string. */
static void phi__chat_calls_put(phi__chat_read *r, phi__buf *out, phi_str value,
                                const phi_json *schema, phi_str key) {
    const phi_json *property = phi__json_get_n(phi_json_get(schema, "properties"), key);
    bool string = phi__str_is(phi_json_str(phi_json_get(property, "type"), ""), "string");
    size_t from = out->len;
    uint32_t faults = 0;
    if (value.len > 0 && value.at[0] == '\n') value = phi__str_from(value, 1);
    if (value.len > 0 && value.at[value.len - 1] == '\n') value.len--;
    phi_str trimmed = phi__str_trim(value);
    const char *at = trimmed.at;
    if (phi_json_is(property, PHI_JSON_OBJECT) && !string && trimmed.len > 0 &&
        trimmed.at[0] != '\'' && phi__repair_value(out, &at, trimmed.at + trimmed.len, &faults) &&
        at == trimmed.at + trimmed.len &&
        (faults == 0 || faults == PHI__REPAIR_PYTHON || r->repairs))
        return;
    out->len = from;
    phi__json_write_str(out, value);
}

/* Finds a word after `from` and stores its position in *found. Later searches continue there, so
   that all searches together read the text once. */
static size_t phi__chat_calls_next(phi_str text, size_t from, const char *word, size_t *found) {
    if (*found != SIZE_MAX && *found < from) *found = phi__str_find(text, from, word);
    return *found;
}

/* Appends <parameter=...> elements as members of an object. False if the text has another form. */
static bool phi__chat_calls_parameters(phi__chat_read *r, phi__buf *out, phi_str text,
                                       const phi_json *schema) {
    static const char tag[] = "<parameter=", close[] = "</parameter>";
    size_t at = 0, next = 0, end = 0;
    phi__buf_char(out, '{');
    text = phi__str_trim(text);
    while (at < text.len) {
        phi_str rest = phi__str_from(text, at);
        size_t name = phi__str_find(rest, 0, ">");
        if (!phi__str_starts(rest, tag) || name == SIZE_MAX) return false;
        phi_str key = phi__str_trim(phi__str(rest.at + sizeof tag - 1, name - (sizeof tag - 1)));
        name += at + 1;
        size_t stop = phi__chat_calls_next(text, name, "\n<parameter=", &next);
        if (phi__chat_calls_next(text, name, close, &end) < stop) stop = end;
        stop = phi__min(stop, text.len);
        phi__json_write_comma(out);
        phi__json_write_str(out, key);
        phi__buf_char(out, ':');
        phi__chat_calls_put(r, out, phi__str(text.at + name, stop - name), schema, key);
        at =
            stop == end ? stop + sizeof close - 1 : stop; /* otherwise the closing tag is missing */
        at = (size_t)(phi__str_trim(phi__str_from(text, at)).at - text.at);
    }
    phi__buf_char(out, '}');
    return true;
}

/* Reads one function. The text begins with its name. */
static bool phi__chat_calls_one(phi__chat_read *r, phi_str text) {
    size_t name = phi__str_find(text, 0, ">");
    phi_json *schema = NULL;
    phi_str arguments = PHI_ZERO;
    phi__buf out;
    if (name == SIZE_MAX) return false;
    phi_str called = phi__str_trim(phi__str(text.at, name));
    text = phi__str_trim(phi__str_from(text, name + 1));
    if (text.len > 0 && text.at[0] == '{') /* form of Llama and Functionary */
        return phi__chat_calls_keep(r, called, text);
    phi_arena_mark mark = phi_arena_save(r->arena);
    size_t tool = phi__repair_tool(r->a, called);
    if (tool != SIZE_MAX && r->a->tools[tool].schema.len > 0 &&
        phi_json_parse(r->arena, r->a->tools[tool].schema, 0, &schema, NULL) == PHI_NO_MEMORY) {
        r->failed = true;
        return false;
    }
    phi__buf_init(&out, r->a->memory);
    bool read = phi__chat_calls_parameters(r, &out, text, schema);
    phi_arena_reset(r->arena, mark); /* free the schema: a text may have a thousand calls */
    if (!read) {
        if (out.failed) r->failed = true;
        phi__buf_free(&out);
        return false;
    }
    return phi__chat_calls_text(r, &out, &arguments) && phi__chat_calls_keep(r, called, arguments);
}

/* Returns the position of the last `word`, or the text's length. */
static size_t phi__chat_calls_last(phi_str text, const char *word) {
    size_t n = strlen(word);
    for (size_t i = text.len; i >= n; i--)
        if (memcmp(text.at + i - n, word, n) == 0) return i - n;
    return text.len;
}

/* ---- name[ARGS]{...} ---- */

static bool phi__chat_calls_is_name(phi_str name) {
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (!phi__is_alnum(c) && (c == '\0' || strchr("_-.:/", c) == NULL)) return false;
    }
    return name.len > 0;
}

static bool phi__chat_calls_mistral(phi__chat_read *r, phi_str text) {
    static const char again[] = "[TOOL_CALLS]";
    while (text.len > 0) {
        size_t name = 0;
        size_t end = phi__min(phi__str_find(text, 0, again), text.len);
        phi_str one = phi__str_trim(phi__str(text.at, end));
        while (name < one.len && one.at[name] != '{' && one.at[name] != '[') name++;
        phi_str called = phi__str_trim(phi__str(one.at, name));
        while (name < one.len && one.at[name] != '{') name++;
        if (name == one.len || !phi__chat_calls_is_name(called) ||
            !phi__chat_calls_keep(r, called, phi__str_from(one, name)))
            return false;
        end = phi__min(end + sizeof again - 1, text.len);
        text = phi__str_from(text, end);
    }
    return r->count > 0;
}

/* ---- calls that are broken ---- */

/* Finds the string after the first "name" of a text, at any depth. */
static bool phi__chat_calls_named(phi_str text, phi_str *name) {
    size_t at = phi__str_find(text, 0, "\"name\"");
    if (at == SIZE_MAX) return false;
    for (at += 6; at < text.len && strchr(" \n\t:", text.at[at]) != NULL; at++)
        if (text.at[at] == '\0') return false;
    if (at >= text.len || text.at[at] != '"') return false;
    size_t end = phi__str_find(text, at + 1, "\"");
    if (end == SIZE_MAX) return false;
    *name = phi__str(text.at + at + 1, end - at - 1);
    return true;
}

/* Stores a call whose text was cut or cannot be read, with its arguments as they came. The model
   then gets an error that names the fault. */
static bool phi__chat_calls_broken(phi__chat_read *r, phi_str text, bool cut) {
    static const char *const keys[] = {"\"arguments\"", "\"parameters\""};
    static const char tag[] = "<function=";
    phi_str name = PHI_ZERO, arguments = phi_str_of("{");
    size_t at;
    r->count = 0;
    if (phi__str_starts(text, tag)) {
        size_t end = phi__str_find(text, 0, ">");
        if (end == SIZE_MAX) return false;
        at = sizeof tag - 1;
        return cut && phi__chat_calls_keep(r, phi__str(text.at + at, end - at), arguments);
    }
    if (!phi__chat_calls_named(text, &name) || phi__repair_tool(r->a, name) == SIZE_MAX)
        return false;
    for (size_t i = 0; i < PHI__COUNT(keys); i++) {
        at = phi__str_find(text, 0, keys[i]);
        if (at == SIZE_MAX) continue;
        for (at += strlen(keys[i]); at < text.len && text.at[at] != ':'; at++) {}
        if (at + 1 < text.len) arguments = phi__str_trim(phi__str_from(text, at + 1));
        break;
    }
    if (arguments.len == 0) arguments = phi_str_of("{");
    if (!cut && arguments.len > 1 && arguments.at[arguments.len - 1] == '}') arguments.len--;
    return phi__chat_calls_keep(r, name, arguments);
}

static bool phi__chat_calls_read(phi__chat_read *r, phi_str text) {
    if (text.len == 0) return false;
    if (phi__str_starts(text, "<function=")) {
        /* Functions in sequence. The last closing tag may be missing. A parameter's value may hold
           this tag. */
        static const char tag[] = "<function=", close[] = "</function>";
        for (; text.len > 0; text = phi__str_trim(text)) {
            size_t from = sizeof tag - 1;
            if (!phi__str_starts(text, tag)) return false;
            size_t end = phi__min(phi__str_find(text, from, tag), text.len);
            end = phi__chat_calls_last(phi__str(text.at, end), close);
            if (!phi__chat_calls_one(r, phi__str(text.at + from, end - from))) return false;
            end = phi__min(end + sizeof close - 1, text.len);
            text = phi__str_from(text, end);
        }
        return r->count > 0;
    }
    if (text.at[0] == '{' || text.at[0] == '[') {
        /* Objects and arrays of objects, separated by blanks, commas and semicolons. */
        const char *at = text.at, *end = text.at + text.len;
        for (;;) {
            phi_json *node = NULL;
            const phi_json *item;
            while (at < end && strchr(" \n\t\r;,", *at) != NULL && *at != '\0') at++;
            if (at == end) return r->count > 0;
            if (*at != '{' && *at != '[') return false;
            if (!phi__chat_calls_value(r, &at, end, &node)) return false;
            if (phi_json_is(node, PHI_JSON_OBJECT)) {
                if (!phi__chat_calls_node(r, node)) return false;
                continue;
            }
            phi_json_iter it = phi_json_each(node);
            while ((item = phi_json_next(&it)) != NULL)
                if (!phi_json_is(item, PHI_JSON_OBJECT) || !phi__chat_calls_node(r, item))
                    return false;
        }
    }
    return !r->known && phi__chat_calls_mistral(r, text);
}

/* Removes a code fence around the text and an end-of-turn token at its end. */
static phi_str phi__chat_calls_bare(phi_str text) {
    static const char *const ends[] = {"<|eom_id|>", "<|eot_id|>", "```"};
    size_t i, n;
    text = phi__str_trim(text);
    for (i = 0; i < PHI__COUNT(ends); i++) {
        n = strlen(ends[i]);
        if (text.len < n || memcmp(text.at + text.len - n, ends[i], n) != 0) continue;
        text.len -= n;
        text = phi__str_trim(text);
    }
    if (!phi__str_starts(text, "```")) return text;
    for (i = 3; i < text.len && strchr(" \n\r\t{[", text.at[i]) == NULL; i++) {}
    return phi__str_trim(phi__str_from(text, i));
}

PHI__FN bool phi__chat_calls_of(phi__assembly *a, phi_str text, bool known, bool cut) {
    phi__chat_read r = PHI_ZERO;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    r.a = a;
    r.arena = &a->scratch;
    r.repairs = (a->quirks & PHI_QUIRK_REPAIR_CALLS) != 0;
    r.known = known;
    text = phi__chat_calls_bare(text);
    bool read = !cut && phi__chat_calls_read(&r, text);
    if (!read && !r.failed && (!known || cut)) read = phi__chat_calls_broken(&r, text, cut);
    if (r.failed) a->no_memory = true;
    for (size_t i = 0; read && !a->no_memory && i < r.count; i++) {
        if (a->count > 0) phi__assembly_close(a, a->count - 1);
        size_t block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, -1);
        if (block != SIZE_MAX) {
            phi__assembly_set(a, &a->drafts[block].name, r.made[i].name);
            phi__assembly_add(a, block, r.made[i].arguments);
            phi__assembly_close(a, block);
        }
    }
    phi_arena_reset(&a->scratch, mark);
    return read;
}

/* ---- text, thinking and calls ---- */

enum {
    PHI__CHAT_CALL_MOST = 1 << 20, /* max. bytes held back for calls between tags */
    PHI__CHAT_JSON_MOST = 1 << 16, /* max. bytes held back for JSON without tags */
    PHI__CHAT_BLANKS_MOST = 256,   /* max. blanks held back at the start */
    PHI__CHAT_HEAD_MOST = 256,     /* max. bytes of JSON up to its first key */
    PHI__CHAT_KEY_MOST = 16        /* max. bytes of a first key that may belong to a call */
};

typedef enum phi__chat_tag {
    PHI__CHAT_TAG_NONE = -1,
    PHI__CHAT_TAG_SOME = -2, /* the text ends inside a possible tag */
    PHI__CHAT_TAG_THINK = 0,
    PHI__CHAT_TAG_THINK_END,
    PHI__CHAT_TAG_CALL,
    PHI__CHAT_TAG_CALL_END,
    PHI__CHAT_TAG_FUNCTION,
    PHI__CHAT_TAG_PYTHON,
    PHI__CHAT_TAG_MISTRAL
} phi__chat_tag;

static const char *const phi__chat_text_tags[] = {"<think>",      "</think>",   "<tool_call>",
                                                  "</tool_call>", "<function=", "<|python_tag|>",
                                                  "[TOOL_CALLS]"};

/* Returns the number of blanks at the text's start. */
static size_t phi__chat_text_blanks(phi_str text) {
    size_t n = 0;
    while (n < text.len && phi__json_white(text.at[n])) n++;
    return n;
}

static phi_str phi__chat_text_held(const phi__assembly *a, size_t from, size_t to) {
    return phi__str(a->held.bytes.at + from, to - from);
}

/* True if a text begins with a word. Sets *some if the text is shorter but fits so far. */
static bool phi__chat_text_begins(phi_str text, const char *word, bool *some) {
    size_t n = strlen(word), most = phi__min(n, text.len);
    if (memcmp(text.at, word, most) != 0) return false;
    if (most == n) return true;
    *some = true;
    return false;
}

static bool phi__chat_text_wants_calls(const phi__chat_text *t, const phi__assembly *a) {
    return (a->quirks & PHI_QUIRK_TEXT_CALLS) != 0 && a->tool_count > 0 && !t->structured;
}

static phi__chat_tag phi__chat_text_tag(const phi__chat_text *t, const phi__assembly *a) {
    phi_str text = phi__chat_text_held(a, t->at, a->held.bytes.len);
    bool thinks = (a->quirks & PHI_QUIRK_THINK_TAGS) != 0, some = false;
    bool calls = phi__chat_text_wants_calls(t, a);
    for (int i = 0; i < (int)PHI__COUNT(phi__chat_text_tags); i++) {
        if (!(i < (int)PHI__CHAT_TAG_CALL ? thinks : calls)) continue;
        if (i == (int)PHI__CHAT_TAG_CALL_END && (t->worded || t->said || !t->called)) continue;
        if (i >= (int)PHI__CHAT_TAG_PYTHON && t->spent) continue;
        if (phi__chat_text_begins(text, phi__chat_text_tags[i], &some)) return (phi__chat_tag)i;
    }
    return some ? PHI__CHAT_TAG_SOME : PHI__CHAT_TAG_NONE;
}

/* ---- into blocks ---- */

/* Moves the bytes up to t->at to a text block. Blanks at the start wait, because blanks around
   thinking and calls are dropped. */
static void phi__chat_text_say(phi__chat_text *t, phi__assembly *a, bool last) {
    phi_str text = phi__chat_text_held(a, t->from, t->at);
    size_t blanks = 0;
    if (!t->said) {
        blanks = phi__chat_text_blanks(text);
        if (blanks == text.len && !last && (t->behind || blanks < PHI__CHAT_BLANKS_MOST)) {
            if (t->behind) t->from = t->at;
            return;
        }
        if (t->behind) text = phi__str_from(text, blanks);
    }
    t->from = t->at;
    if (text.len == 0) return;
    t->said = true;
    phi__assembly_add(a, phi__chat_kept_current(a, PHI_CONTENT_TEXT), text);
}

/* Starts a new text after thinking or after a call. */
static void phi__chat_text_restart(phi__chat_text *t, size_t at, bool called) {
    t->mode = PHI__CHAT_SAYS;
    t->from = t->at = at;
    t->behind = true;
    t->called = called;
    t->said = t->worded = t->code = t->inline_code = t->inside_line = false;
    t->ticks = 0;
}

/* Makes held text plain text. It is not searched for JSON calls again. */
static void phi__chat_text_release(phi__chat_text *t, phi__assembly *a, size_t to) {
    if (t->mode == PHI__CHAT_JSON) {
        t->no_json = phi__max(to, t->from + 1);
        t->at = t->from;
        t->mode = PHI__CHAT_SAYS;
        return;
    }
    t->mode = PHI__CHAT_SAYS;
    t->at = to;
    t->inside_line = true;
    t->ticks = 0;
    phi__chat_text_say(t, a, true);
}

/* ---- thinking ---- */

static void phi__chat_text_think(phi__chat_text *t, phi__assembly *a, size_t to) {
    phi_str text = phi__chat_text_held(a, t->from, to);
    size_t blanks = t->said ? 0 : phi__chat_text_blanks(text);
    t->from = to;
    text = phi__str_from(text, blanks);
    if (text.len == 0) return;
    t->said = true;
    phi__assembly_add(a, phi__chat_kept_current(a, PHI_CONTENT_THINKING), text);
}

/* Reads thinking. False: more text is needed. */
static bool phi__chat_text_thinks(phi__chat_text *t, phi__assembly *a, bool last) {
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
        if (phi__chat_text_begins(phi__str(tag, len - t->at), "</think>", &some)) {
            phi__chat_text_think(t, a, t->at);
            t->thought = true;
            t->assumed = false;
            phi__chat_text_restart(t, t->at + strlen("</think>"), false);
            return true;
        }
        /* an opening tag, although the template opened the thinking already */
        if (!some && t->assumed && !t->said && !t->worded) {
            phi_str before = phi__chat_text_held(a, t->from, t->at);
            t->worded = phi__chat_text_blanks(before) < before.len ||
                        !phi__chat_text_begins(phi__str(tag, len - t->at), "<think>", &some);
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
    phi__chat_text_think(t, a, t->at);
    return false;
}

/* ---- calls between tags ---- */

static bool phi__chat_text_may_call(phi__chat_ending ending) {
    return ending == PHI__CHAT_ENDED || ending == PHI__CHAT_CUT;
}

/* Tracks strings and brackets of JSON, byte by byte. */
static void phi__chat_text_byte(phi__chat_text *t, char c) {
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

/* Returns the position of the closing tag outside JSON strings; SIZE_MAX if there is none. */
static size_t phi__chat_text_close(phi__chat_text *t, const phi__assembly *a, const char *close,
                                   bool json) {
    size_t len = a->held.bytes.len;
    const char *text = a->held.bytes.at;
    while (t->at < len) {
        bool some = false;
        if (text[t->at] == '<' && !(json && t->quoted)) {
            if (phi__chat_text_begins(phi__str(text + t->at, len - t->at), close, &some))
                return t->at;
            if (some) break;
        }
        if (json) phi__chat_text_byte(t, text[t->at]);
        t->at++;
    }
    return SIZE_MAX;
}

static bool phi__chat_text_is_json(const phi__chat_text *t, const phi__assembly *a, size_t at) {
    size_t len = phi__min(a->held.bytes.len, at + PHI__CHAT_HEAD_MOST);
    while (at < len && phi__json_white(a->held.bytes.at[at])) at++;
    return !t->plain && at < len && (a->held.bytes.at[at] == '{' || a->held.bytes.at[at] == '[');
}

/* Reads the text after <tool_call> or <function=. False: more text is needed. */
static bool phi__chat_text_calls(phi__chat_text *t, phi__assembly *a, bool last,
                                 phi__chat_ending ending) {
    bool function = t->mode == PHI__CHAT_FUNCTION;
    const char *close = function ? "</function>" : "</tool_call>";
    size_t body = t->from + (function ? 0 : strlen("<tool_call>")), len = a->held.bytes.len;
    bool json = !function && phi__chat_text_is_json(t, a, body);
    if (!function && t->at < body) t->at = body;
    size_t end = phi__chat_text_close(t, a, close, json);
    if (end == SIZE_MAX && len - t->from > PHI__CHAT_CALL_MOST) {
        phi__chat_text_release(t, a, len);
        return true;
    }
    if (end == SIZE_MAX && !last) return false;
    if (end == SIZE_MAX && json && (t->quoted || t->depth > 0)) { /* perhaps a quote is missing */
        t->plain = true;
        t->at = body;
        return true;
    }
    bool cut = end == SIZE_MAX && ending == PHI__CHAT_CUT;
    if (end == SIZE_MAX)
        end = len;
    else if (function)
        end += strlen(close);
    if (ending == PHI__CHAT_CALLED &&
        phi__chat_text_blanks(phi__chat_text_held(a, body, end)) == end - body)
        phi__chat_text_restart(t, len, true); /* a tag that the server left over */
    else if (phi__chat_text_may_call(ending) &&
             phi__chat_calls_of(a, phi__chat_text_held(a, body, end), function, cut)) {
        if (!function) end = phi__min(end + strlen(close), len);
        phi__chat_text_restart(t, end, true);
    } else
        phi__chat_text_release(t, a, function ? end : phi__min(end + strlen(close), len));
    return true;
}

/* ---- calls that last until the end of the text ---- */

/* True if the text after <|python_tag|> or [TOOL_CALLS] may still become calls. */
static bool phi__chat_text_may_be_rest(phi_str text, bool mistral) {
    size_t i = phi__chat_text_blanks(text);
    if (i == text.len || text.at[i] == '{' || text.at[i] == '[') return true;
    if (!mistral) return false;
    for (size_t from = i; i < text.len && i - from < 128; i++) {
        char c = text.at[i];
        if (c == '{' || c == '[') return true;
        if (c == ' ' || c == '\n' || c == '<') return false;
    }
    return i == text.len;
}

static bool phi__chat_text_rest(phi__chat_text *t, phi__assembly *a, bool last,
                                phi__chat_ending ending) {
    size_t len = a->held.bytes.len;
    bool mistral = a->held.bytes.at[t->from] == '[';
    size_t body = t->from + strlen(mistral ? "[TOOL_CALLS]" : "<|python_tag|>");
    t->at = len;
    if (!phi__chat_text_may_be_rest(phi__chat_text_held(a, body, phi__min(len, body + 512)),
                                    mistral)) {
        phi__chat_text_release(t, a, body);
        return true;
    }
    if (len - t->from > PHI__CHAT_CALL_MOST) {
        t->spent = true;
        phi__chat_text_release(t, a, body);
        return true;
    }
    if (!last) return false;
    if (phi__chat_text_may_call(ending) &&
        phi__chat_calls_of(a, phi__chat_text_held(a, body, len), false, ending == PHI__CHAT_CUT))
        phi__chat_text_restart(t, len, true);
    else {
        t->spent = true;
        phi__chat_text_release(t, a, body);
    }
    return true;
}

/* ---- JSON without tags ---- */

/* True if the text from t->from on may be a call. Its first key decides. If the key is complete,
   sets t->opened, and *at to the position after the key. */
static bool phi__chat_text_json_opens(phi__chat_text *t, phi_str text, size_t *at) {
    static const char *const keys[] = {"name", "type",      "function",   "tool",
                                       "args", "tool_name", "parameters", "arguments"};
    size_t i = 0, from;
    t->fenced = text.at[0] == '`';
    if (t->fenced) {
        for (i = 3; i < text.len && !phi__json_white(text.at[i]); i++)
            if (i > 3 + PHI__CHAT_KEY_MOST || text.at[i] == '`') return false;
    }
    *at = i;
    for (size_t k = 0; k < 2; k++) { /* the text starts with "[{" or "{" */
        while (i < text.len && phi__json_white(text.at[i])) i++;
        if (i == text.len) return true;
        if (k == 0 && text.at[i] == '[') {
            i++;
            continue;
        }
        if (text.at[i] != '{') return false;
        i++;
        break;
    }
    while (i < text.len && phi__json_white(text.at[i])) i++;
    if (i == text.len) return true;
    if (text.at[i] != '"' && text.at[i] != '\'') return false;
    for (from = ++i; i < text.len && text.at[i] != '"' && text.at[i] != '\''; i++)
        if (i - from == PHI__CHAT_KEY_MOST) return false;
    if (i == text.len) return true;
    t->opened = true;
    for (size_t k = 0; k < PHI__COUNT(keys); k++)
        if (phi__str_is(phi__str(text.at + from, i - from), keys[k])) return true;
    return false;
}

/* True if a byte may follow the last bracket: a blank, a separator, the end of a fence, or the
   start of another object or array. */
static bool phi__chat_text_json_behind(const phi__chat_text *t, char c) {
    return phi__json_white(c) || c == ';' || c == ',' || c == '{' || c == '[' ||
           (c == '`' && t->fenced);
}

static bool phi__chat_text_json(phi__chat_text *t, phi__assembly *a, bool last,
                                phi__chat_ending ending) {
    size_t len = a->held.bytes.len;
    const char *text = a->held.bytes.at;
    bool may = len - t->from <= PHI__CHAT_JSON_MOST;
    if (may && !t->opened) {
        size_t at = 0;
        may = phi__chat_text_json_opens(t, phi__chat_text_held(a, t->from, len), &at);
        t->at = t->opened ? t->from + at : may ? len : t->from;
        if (!t->opened && len - t->from > PHI__CHAT_HEAD_MOST) may = false;
    }
    while (may && t->opened && t->at < len) {
        char c = text[t->at];
        may = t->depth > 0 || !t->closed || phi__chat_text_json_behind(t, c);
        if (!may) break;
        phi__chat_text_byte(t, c);
        t->closed = t->closed || ((c == '}' || c == ']') && t->depth == 0);
        t->at++;
    }
    if (may && !last) return false;
    if (may && t->opened && ending == PHI__CHAT_ENDED &&
        phi__chat_calls_of(a, phi__chat_text_held(a, t->from, len), true, false))
        phi__chat_text_restart(t, len, true);
    else
        phi__chat_text_release(t, a, may ? len : t->at);
    return true;
}

/* Tracks lines and code, byte by byte. A code fence begins a line. Text between backticks is code,
   at most up to the line's end. */
static void phi__chat_text_note(phi__chat_text *t, char c) {
    t->worded = t->worded || !phi__json_white(c);
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

static void phi__chat_text_enter(phi__chat_text *t, phi__chat_mode mode) {
    t->mode = mode;
    t->from = t->at;
    t->depth = 0;
    t->quoted = t->escaped = t->opened = t->closed = t->fenced = false;
}

/* True if the text at t->at begins a line and may be calls as JSON. Sets *some if more text is
   needed. */
static bool phi__chat_text_at_json(const phi__chat_text *t, const phi__assembly *a, bool *some) {
    phi_str text = phi__chat_text_held(a, t->at, a->held.bytes.len);
    if (t->inside_line || t->ticks > 0 || t->at < t->no_json || !phi__chat_text_wants_calls(t, a))
        return false;
    return text.at[0] == '{' || text.at[0] == '[' ||
           (text.at[0] == '`' && phi__chat_text_begins(text, "```", some));
}

static bool phi__chat_text_says(phi__chat_text *t, phi__assembly *a, bool last) {
    while (t->at < a->held.bytes.len) {
        char c = a->held.bytes.at[t->at];
        bool some = false;
        if (!t->code && !t->inline_code && (c == '<' || c == '[' || c == '{' || c == '`')) {
            phi__chat_tag tag =
                c == '<' || c == '[' ? phi__chat_text_tag(t, a) : PHI__CHAT_TAG_NONE;
            if (tag >= 0 && (t->ticks == 0 || t->ticks == 4)) {
                size_t behind = t->at + strlen(phi__chat_text_tags[tag]);
                if (tag == PHI__CHAT_TAG_THINK_END) {
                    /* A closing tag without an opening one: a single text before it was
                       thinking. */
                    phi__chat_text_say(t, a, false);
                    if (!t->thought && !t->behind && a->count == 1 &&
                        a->drafts[0].kind == PHI_CONTENT_TEXT) {
                        phi__assembly_turn(a, 0, PHI_CONTENT_THINKING);
                        phi__assembly_close(a, 0);
                    }
                    t->thought = true;
                } else
                    phi__chat_text_say(t, a, false);
                switch (tag) {
                case PHI__CHAT_TAG_THINK:
                    phi__chat_text_restart(t, behind, false);
                    t->mode = PHI__CHAT_THINKS;
                    break;
                case PHI__CHAT_TAG_CALL: phi__chat_text_enter(t, PHI__CHAT_CALLS); break;
                case PHI__CHAT_TAG_FUNCTION: phi__chat_text_enter(t, PHI__CHAT_FUNCTION); break;
                case PHI__CHAT_TAG_PYTHON:
                case PHI__CHAT_TAG_MISTRAL: phi__chat_text_enter(t, PHI__CHAT_REST); break;
                case PHI__CHAT_TAG_THINK_END:
                case PHI__CHAT_TAG_CALL_END:
                case PHI__CHAT_TAG_NONE:
                case PHI__CHAT_TAG_SOME: phi__chat_text_restart(t, behind, t->called); break;
                }
                return true;
            }
            some = tag == PHI__CHAT_TAG_SOME;
            if (!some && phi__chat_text_at_json(t, a, &some)) {
                phi__chat_text_say(t, a, false);
                phi__chat_text_enter(t, PHI__CHAT_JSON);
                return true;
            }
            if (some && !last) break;
        }
        phi__chat_text_note(t, c);
        t->at++;
    }
    phi__chat_text_say(t, a, last);
    return false;
}

/* ---- for the stream ---- */

static void phi__chat_text_run(phi__chat_text *t, phi__assembly *a, bool last,
                               phi__chat_ending ending) {
    phi__buf *held = &a->held.bytes;
    bool more = held->len > t->from;
    while (more && !a->no_memory) {
        switch (t->mode) {
        case PHI__CHAT_SAYS: more = phi__chat_text_says(t, a, last); break;
        case PHI__CHAT_THINKS: more = phi__chat_text_thinks(t, a, last); break;
        case PHI__CHAT_CALLS:
        case PHI__CHAT_FUNCTION: more = phi__chat_text_calls(t, a, last, ending); break;
        case PHI__CHAT_REST: more = phi__chat_text_rest(t, a, last, ending); break;
        case PHI__CHAT_JSON: more = phi__chat_text_json(t, a, last, ending); break;
        }
    }
    if (t->from == 0 || held->failed) return;
    memmove(held->at, held->at + t->from, held->len - t->from);
    held->len -= t->from;
    t->at -= t->from;
    t->no_json -= phi__min(t->no_json, t->from);
    t->from = 0;
}

PHI__FN void phi__chat_text_add(phi__chat_text *t, phi__assembly *a, phi__json_text text) {
    if (!t->begun) {
        t->begun = true;
        t->assumed = (a->quirks & PHI_QUIRK_THINK_TAGS) != 0 &&
                     (a->quirks & PHI_QUIRK_THINK_OPEN) != 0 && a->count == 0;
        if (t->assumed) t->mode = PHI__CHAT_THINKS;
    }
    phi__assembly_hold_text(a, text);
    phi__chat_text_run(t, a, false, PHI__CHAT_ENDED);
}

/* Reads a call at the end of the thinking if the answer ends there. The model forgot to close its
   thinking, or the server counted everything as thinking. The thinking keeps the call's text. */
static void phi__chat_text_thought_call(const phi__chat_text *t, phi__assembly *a) {
    static const char open[] = "<tool_call>", close[] = "</tool_call>";
    if (a->no_memory || a->count == 0 || a->drafts[a->count - 1].kind != PHI_CONTENT_THINKING ||
        !phi__chat_text_wants_calls(t, a))
        return;
    for (size_t i = 0; i < a->count; i++)
        if (a->drafts[i].kind == PHI_CONTENT_TOOL_CALL) return;
    phi_str text = phi__str_trim(phi__buf_str(&a->drafts[a->count - 1].bytes));
    if (text.len > PHI__CHAT_CALL_MOST) return;
    if (text.len >= sizeof close - 1 &&
        memcmp(text.at + text.len - (sizeof close - 1), close, sizeof close - 1) == 0)
        text.len -= sizeof close - 1;
    for (size_t from = text.len; from >= sizeof open - 1; from--)
        if (memcmp(text.at + from - (sizeof open - 1), open, sizeof open - 1) == 0) {
            (void)phi__chat_calls_of(a, phi__str_from(text, from), true, false);
            return;
        }
}

PHI__FN void phi__chat_text_end(phi__chat_text *t, phi__assembly *a, phi__chat_ending ending) {
    phi__assembly_hold_end(a);
    phi__chat_text_run(t, a, true, ending);
    if (ending == PHI__CHAT_ENDED) phi__chat_text_thought_call(t, a);
    phi__buf_clear(&a->held.bytes);
    t->from = t->at = t->no_json = 0;
    /* no closing tag came: the model did not think */
    if (t->assumed && ending == PHI__CHAT_ENDED && a->count == 1 && !a->no_memory &&
        a->drafts[0].kind == PHI_CONTENT_THINKING)
        phi__assembly_turn(a, 0, PHI_CONTENT_TEXT);
    t->assumed = false;
    t->mode = PHI__CHAT_SAYS;
}
