/* repair.c - reads JSON that is nearly valid, and tool names that are nearly right. It writes valid
   JSON in one pass, to a limited depth. */
#include "wire/codec_in.h"

enum {
    PHI__REPAIR_DEPTH = 64,  /* max. levels of nested arrays and objects */
    PHI__REPAIR_STRINGS = 2, /* max. strings inside strings around an object */
    PHI__REPAIR_NAME = 200   /* max. bytes of a name in a note */
};

/* ---- names ---- */

/* Finds the tool with exactly this name. SIZE_MAX if there is none. */
static size_t phi__repair_exact(const phi__assembly *a, phi_str name) {
    for (size_t i = 0; i < a->tool_count; i++)
        if (phi_str_equal(a->tools[i].name, name)) return i;
    return SIZE_MAX;
}

/* Returns the next letter of a name in lower case, skipping '-' and '_'. 0 at its end. */
static int phi__repair_letter(phi_str name, size_t *at) {
    while (*at < name.len) {
        char c = name.at[(*at)++];
        if (c == '-' || c == '_') continue;
        return (unsigned char)phi__lower(c);
    }
    return 0;
}

static bool phi__repair_alike(phi_str a, phi_str b) {
    size_t i = 0, k = 0;
    int c;
    do {
        c = phi__repair_letter(a, &i);
        if (c != phi__repair_letter(b, &k)) return false;
    } while (c != 0);
    return true;
}

/* Finds the only tool that a name matches. *many is set if several match. */
static size_t phi__repair_only(const phi__assembly *a, phi_str name, bool *many) {
    size_t found = phi__repair_exact(a, name);
    if (found != SIZE_MAX || name.len == 0) return found;
    for (size_t i = 0; i < a->tool_count; i++) {
        if (!phi__repair_alike(a->tools[i].name, name)) continue;
        *many = found != SIZE_MAX;
        if (*many) return SIZE_MAX;
        found = i;
    }
    return found;
}

static phi_str phi__repair_stem(phi_str name) {
    size_t cut = phi__str_find(name, 0, "<|"), digits;
    if (cut != SIZE_MAX) name.len = cut;
    name = phi__str_trim(name);
    for (digits = name.len; digits > 0; digits--)
        if (!phi__is_digit(name.at[digits - 1])) break;
    if (digits > 1 && digits < name.len && name.at[digits - 1] == ':') name.len = digits - 1;
    for (size_t i = name.len; i > 0; i--) {
        char c = name.at[i - 1];
        if (c == '.' || c == '/' || c == ':') return phi__str_from(name, i);
    }
    return name;
}

PHI__FN size_t phi__repair_tool(const phi__assembly *a, phi_str name) {
    bool many = false;
    if ((a->quirks & PHI_QUIRK_REPAIR_CALLS) == 0) return phi__repair_exact(a, name);
    size_t found = phi__repair_only(a, name, &many);
    if (found != SIZE_MAX || many) return found;
    return phi__repair_only(a, phi__repair_stem(name), &many);
}

/* ---- values ---- */

typedef struct phi__repairing {
    const char *at, *end;
    phi__buf *out;
    uint32_t faults;
    uint32_t depth;
    bool number; /* the last value is a number at the text's end: it may have been cut */
} phi__repairing;

static bool phi__repair_any(phi__repairing *r);

static void phi__repair_blanks(phi__repairing *r) {
    while (r->at < r->end && phi__json_white(*r->at)) r->at++;
}

/* Reads the escape after a backslash. */
static bool phi__repair_escape(phi__repairing *r, char quote) {
    static const char plain[] = "\"\\/bfnrt";
    int i;
    if (r->at == r->end) return false;
    char c = *r->at++;
    if (c == '\'') {
        if (quote != '\'') r->faults |= PHI__REPAIR_ESCAPE;
        phi__buf_char(r->out, c);
        return true;
    }
    if (c != '\0' && strchr(plain, c) != NULL) {
        phi__buf_char(r->out, '\\');
        phi__buf_char(r->out, c);
        return true;
    }
    for (i = 0; c == 'u' && i < 4; i++)
        if (i >= r->end - r->at || strchr("0123456789abcdefABCDEF", r->at[i]) == NULL ||
            r->at[i] == '\0')
            break;
    if (c == 'u' && i == 4) {
        phi__buf_text(r->out, "\\u");
        phi__buf_add(r->out, r->at, 4);
        r->at += 4;
        return true;
    }
    if ((unsigned char)c < 0x20) return false;
    r->faults |= PHI__REPAIR_ESCAPE; /* a literal backslash, as in a path or a regular expression */
    phi__buf_text(r->out, "\\\\");
    r->at--;
    return true;
}

static bool phi__repair_string(phi__repairing *r) {
    char quote = *r->at++;
    if (quote == '\'') r->faults |= PHI__REPAIR_QUOTES;
    phi__buf_char(r->out, '"');
    while (r->at < r->end && *r->at != quote) {
        const char *from = r->at;
        while (r->at < r->end && *r->at != quote && *r->at != '\\' && *r->at != '"' &&
               (unsigned char)*r->at >= 0x20)
            r->at++;
        phi__buf_add(r->out, from, (size_t)(r->at - from));
        if (r->at == r->end || *r->at == quote) break;
        if (*r->at == '\\') {
            r->at++;
            if (!phi__repair_escape(r, quote)) return false;
        } else if (*r->at == '"') {
            phi__buf_text(r->out, "\\\"");
            r->at++;
        } else {
            r->faults |= PHI__REPAIR_CONTROL;
            phi__buf_printf(r->out, "\\u%04x", (unsigned)(unsigned char)*r->at++);
        }
    }
    if (r->at == r->end) return false;
    r->at++;
    phi__buf_char(r->out, '"');
    return true;
}

static bool phi__repair_ends(const phi__repairing *r) {
    return r->at == r->end || strchr(" \t\r\n,:}]`", *r->at) != NULL;
}

static const char *phi__repair_digits(const phi__repairing *r, const char *at) {
    while (at < r->end && phi__is_digit(*at)) at++;
    return at;
}

static bool phi__repair_number(phi__repairing *r) {
    const char *from = r->at, *at = from + (*from == '-' ? 1 : 0),
               *stop = phi__repair_digits(r, at);
    if (stop == at || (*at == '0' && stop - at > 1)) return false;
    if (stop < r->end && *stop == '.') {
        at = stop + 1;
        stop = phi__repair_digits(r, at);
        if (stop == at) return false;
    }
    if (stop < r->end && (*stop == 'e' || *stop == 'E')) {
        at = stop + 1;
        if (at < r->end && (*at == '+' || *at == '-')) at++;
        stop = phi__repair_digits(r, at);
        if (stop == at) return false;
    }
    r->at = stop;
    if (!phi__repair_ends(r)) return false;
    phi__buf_add(r->out, from, (size_t)(stop - from));
    r->number = stop == r->end;
    return true;
}

static bool phi__repair_in_word(char c) {
    return phi__is_alnum(c) || c == '_' || c == '-' || c == '$';
}

static phi_str phi__repair_word(phi__repairing *r) {
    const char *from = r->at;
    while (r->at < r->end && phi__repair_in_word(*r->at)) r->at++;
    return phi__str(from, (size_t)(r->at - from));
}

static bool phi__repair_literal(phi__repairing *r) {
    static const struct {
        const char *word, *json;
    } table[] = {{"true", "true"}, {"false", "false"}, {"null", "null"},
                 {"True", "true"}, {"False", "false"}, {"None", "null"}};
    phi_str word = phi__repair_word(r);
    for (size_t i = 0; i < PHI__COUNT(table); i++) {
        if (!phi__str_is(word, table[i].word)) continue;
        if (i >= 3) r->faults |= PHI__REPAIR_PYTHON;
        phi__buf_text(r->out, table[i].json);
        return phi__repair_ends(r);
    }
    return false;
}

static bool phi__repair_key(phi__repairing *r) {
    if (*r->at == '"' || *r->at == '\'') return phi__repair_string(r);
    if (phi__is_digit(*r->at)) return false;
    phi_str word = phi__repair_word(r);
    if (word.len == 0) return false;
    r->faults |= PHI__REPAIR_KEYS;
    phi__buf_wrap(r->out, "\"", word, "\"");
    return true;
}

static bool phi__repair_member(phi__repairing *r) {
    if (!phi__repair_key(r)) return false;
    phi__repair_blanks(r);
    if (r->at == r->end || *r->at != ':') return false;
    r->at++;
    phi__buf_char(r->out, ':');
    return phi__repair_any(r);
}

/* Reads an array or an object. */
static bool phi__repair_list(phi__repairing *r, char close) {
    bool first = true;
    phi__buf_char(r->out, *r->at++);
    if (++r->depth > PHI__REPAIR_DEPTH) return false;
    for (;;) {
        phi__repair_blanks(r);
        if (r->at == r->end) { /* refuse a number that may be cut, and a lone bracket */
            if (first || r->number) return false;
            r->faults |= PHI__REPAIR_OPEN;
            break;
        }
        if (*r->at != close && !first) {
            if (*r->at != ',') return false;
            r->at++;
            phi__repair_blanks(r);
            if (r->at == r->end) return false;
            if (*r->at == close)
                r->faults |= PHI__REPAIR_COMMA;
            else
                phi__buf_char(r->out, ',');
        }
        if (*r->at == close) {
            r->at++;
            break;
        }
        if (!(close == '}' ? phi__repair_member(r) : phi__repair_any(r))) return false;
        first = false;
    }
    r->depth--;
    phi__buf_char(r->out, close);
    return true;
}

static bool phi__repair_any(phi__repairing *r) {
    phi__repair_blanks(r);
    if (r->at == r->end || r->out->failed) return false;
    r->number = false;
    switch (*r->at) {
    case '{': return phi__repair_list(r, '}');
    case '[': return phi__repair_list(r, ']');
    case '"':
    case '\'': return phi__repair_string(r);
    default:
        return *r->at == '-' || phi__is_digit(*r->at) ? phi__repair_number(r)
                                                      : phi__repair_literal(r);
    }
}

PHI__FN bool phi__repair_value(phi__buf *out, const char **at, const char *end, uint32_t *faults) {
    phi__repairing r = PHI_ZERO;
    r.at = *at;
    r.end = end;
    r.out = out;
    r.faults = *faults;
    bool read = phi__repair_any(&r) && !out->failed;
    *at = r.at;
    *faults = r.faults;
    return read;
}

/* ---- objects ---- */

static bool phi__repair_text(phi__buf *out, phi_str text, uint32_t *faults, uint32_t strings);

/* Removes a code fence around the text. */
static phi_str phi__repair_unfence(phi_str text, uint32_t *faults) {
    if (!phi__str_starts(text, "```")) return text;
    *faults |= PHI__REPAIR_FENCE;
    text = phi__str_from(text, 3);
    while (text.len > 0 && phi__repair_in_word(text.at[0])) text = phi__str_from(text, 1);
    if (text.len >= 3 && memcmp(text.at + text.len - 3, "```", 3) == 0) text.len -= 3;
    return phi__str_trim(text);
}

/* Reads the text after an object. */
static bool phi__repair_rest(phi__buf *out, size_t from, phi_str rest, uint32_t *faults) {
    size_t i;
    rest = phi__str_trim(rest);
    if (rest.len == 0) return true;
    if (rest.at[0] == '{') {
        /* Read a second object. The first one begins at `from` in `out`. */
        const char *at = rest.at;
        size_t second = out->len, first = second - from;
        if (!phi__repair_value(out, &at, rest.at + rest.len, faults)) return false;
        if (phi__str_trim(phi__str(at, (size_t)(rest.at + rest.len - at))).len > 0) return false;
        *faults |= PHI__REPAIR_TWICE;
        if (first == 2) { /* the first object is {} */
            memmove(out->at + from, out->at + second, out->len - second);
            out->len -= first;
            return true;
        }
        if (out->len - second != first || memcmp(out->at + from, out->at + second, first) != 0)
            return false;
        out->len = second;
        return true;
    }
    if (rest.at[0] == '}' || rest.at[0] == ']') {
        for (i = 0; i < rest.len; i++)
            if (rest.at[i] != '}' && rest.at[i] != ']') return false;
        *faults |= PHI__REPAIR_CLOSED;
        return true;
    }
    if (!((rest.at[0] | 32) >= 'a' && (rest.at[0] | 32) <= 'z')) return false;
    for (i = 0; i < rest.len; i++)
        if (rest.at[i] != '\0' && strchr("{}[]\":", rest.at[i]) != NULL) return false;
    *faults |= PHI__REPAIR_WORDS;
    return true;
}

static bool phi__repair_text(phi__buf *out, phi_str text, uint32_t *faults, uint32_t strings) {
    size_t from = out->len;
    if (strings > PHI__REPAIR_STRINGS) return false;
    text = phi__repair_unfence(phi__str_trim(text), faults);
    if (phi__str_is(text, "null") || phi__str_is(text, "None")) {
        *faults |= PHI__REPAIR_NULL;
        phi__buf_text(out, "{}");
        return !out->failed;
    }
    if (text.len == 0) return false;
    if (text.at[0] == '"' || text.at[0] == '\'') {
        /* The object is inside a JSON string. */
        const char *at = text.at;
        phi__buf json, inside;
        phi__json_text string;
        bool read = false;
        phi__buf_init(&json, out->memory);
        phi__buf_init(&inside, out->memory);
        if (phi__repair_value(&json, &at, text.at + text.len, faults) && at == text.at + text.len) {
            string.at = json.at + 1;
            string.len = json.len - 2;
            string.escaped = true;
            phi__json_cursor_unescape(&inside, string);
            *faults |= PHI__REPAIR_STRING;
            read = phi__repair_text(out, phi__buf_str(&inside), faults, strings + 1);
        }
        if (json.failed || inside.failed) out->failed = true;
        phi__buf_free(&json);
        phi__buf_free(&inside);
        return read;
    }
    if (text.at[0] != '{') return false;
    const char *at = text.at;
    const char *end = text.at + text.len;
    return phi__repair_value(out, &at, end, faults) &&
           phi__repair_rest(out, from, phi__str(at, (size_t)(end - at)), faults) && !out->failed;
}

PHI__FN bool phi__repair_object(phi__buf *out, phi_str text, uint32_t *faults) {
    *faults = 0;
    return phi__repair_text(out, text, faults, 0);
}

/* ---- calls ---- */

static void phi__repair_note(phi__draft *d, const char *words) {
    if (d->note.len > 0) phi__buf_text(&d->note, ", ");
    phi__buf_text(&d->note, words);
}

static void phi__repair_arguments(phi__assembly *a, phi__draft *d) {
    static const char *const words[PHI__REPAIR_BITS] = {"the arguments were inside a string",
                                                        "a comma came before a closing bracket",
                                                        "strings had single quotes",
                                                        "True, False or None were Python's",
                                                        "keys had no quotes",
                                                        "closing brackets were missing",
                                                        "there were too many closing brackets",
                                                        "a string had control characters",
                                                        "a string had escapes that JSON has not",
                                                        "the arguments were in a code fence",
                                                        "the arguments came twice",
                                                        "words came behind the arguments",
                                                        "the arguments were null"};
    phi__buf out, old = d->bytes;
    uint32_t faults = 0;
    phi__buf_init(&out, a->memory);
    if (phi__repair_object(&out, phi__buf_str(&d->bytes), &faults) && faults != 0) {
        for (size_t i = 0; i < PHI__REPAIR_BITS; i++)
            if ((faults >> i & 1) != 0) phi__repair_note(d, words[i]);
        d->bytes = out;
        d->rewrites++;
        out = old;
    }
    if (out.failed) a->no_memory = true;
    phi__buf_free(&out);
}

/* Returns the array or object that a string holds as JSON; NULL if it holds neither. */
static phi_json *phi__repair_unpacked(phi__assembly *a, phi_str text) {
    uint32_t faults = 0;
    phi_json *node = NULL;
    phi__buf out;
    text = phi__str_trim(text);
    if (text.len == 0 || (text.at[0] != '{' && text.at[0] != '[')) return NULL;
    const char *at = text.at;
    const char *end = text.at + text.len;
    phi__buf_init(&out, a->memory);
    if (phi__repair_value(&out, &at, end, &faults) && at == end &&
        phi_json_parse(&a->scratch, phi__buf_str(&out), 0, &node, NULL) == PHI_NO_MEMORY)
        a->no_memory = true;
    if (out.failed) a->no_memory = true;
    phi__buf_free(&out);
    return node;
}

/* Replaces strings by the arrays or objects that they hold, if the schema expects an array or
   object. False if no string was replaced. */
static bool phi__repair_unpack(phi__assembly *a, const phi_json *schema, phi_json *arguments) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "properties"));
    const phi_json *property;
    bool any = false;
    while (!a->no_memory && (property = phi_json_next(&it)) != NULL) {
        phi_str type = phi_json_str(phi_json_get(property, "type"), "");
        const phi_json *value = phi__json_get_n(arguments, it.key);
        if (!phi__str_is(type, "array") && !phi__str_is(type, "object")) continue;
        if (!phi_json_is(value, PHI_JSON_STRING)) continue;
        phi_json *unpacked = phi__repair_unpacked(a, phi_json_str(value, ""));
        if (unpacked == NULL || !phi__str_is(type, phi__json_get_type_name(unpacked))) continue;
        if (phi__json_edit_set(&a->scratch, arguments, it.key, unpacked) != PHI_OK)
            a->no_memory = true;
        any = true;
    }
    return any && !a->no_memory;
}

static void phi__repair_members(phi__assembly *a, phi__draft *d) {
    size_t tool = phi__repair_exact(a, phi__buf_str(&d->name));
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi_json *schema = NULL, *arguments = NULL;
    phi__buf out;
    if (tool == SIZE_MAX || a->tools[tool].schema.len == 0 ||
        phi__str_find(phi__buf_str(&d->bytes), 0, "\"") == SIZE_MAX)
        return;
    phi__buf_init(&out, a->memory);
    phi_status status = phi_json_parse(&a->scratch, phi__buf_str(&d->bytes), 0, &arguments, NULL);
    if (status == PHI_OK)
        status = phi_json_parse(&a->scratch, a->tools[tool].schema, 0, &schema, NULL);
    if (status == PHI_OK && phi_json_is(arguments, PHI_JSON_OBJECT) &&
        phi__repair_unpack(a, schema, arguments)) {
        status = phi__json_write(&out, arguments, 0);
        if (status == PHI_OK && !out.failed) {
            phi__buf old = d->bytes;
            d->bytes = out;
            out = old;
            d->rewrites++;
            phi__repair_note(d, "a list or an object was inside a string");
        }
    }
    if (status == PHI_NO_MEMORY || out.failed) a->no_memory = true;
    phi__buf_free(&out);
    phi_arena_reset(&a->scratch, mark);
}

PHI__FN void phi__repair_calls(phi__assembly *a) {
    if ((a->quirks & PHI_QUIRK_REPAIR_CALLS) == 0) return;
    for (size_t i = 0; i < a->count && !a->no_memory; i++) {
        phi__draft *d = &a->drafts[i];
        if (d->kind != PHI_CONTENT_TOOL_CALL || d->incomplete) continue;
        phi_str name = phi__buf_str(&d->name);
        size_t tool = phi__repair_tool(a, name);
        if (tool != SIZE_MAX && !phi_str_equal(a->tools[tool].name, name)) {
            phi__repair_note(d, "the name was ");
            phi__json_write_str(&d->note, phi__str(name.at, phi__utf8_cut(name, PHI__REPAIR_NAME)));
            phi__assembly_set(a, &d->name, a->tools[tool].name);
        }
        phi__repair_arguments(a, d);
        phi__repair_members(a, d);
        if (d->note.failed) a->no_memory = true;
    }
}
