/* json_fields.c - a state machine over the bytes of a growing text: each call continues where the
   last one stopped.

   No byte is read twice, except the bytes of keys and of a cut number or escape. */
#include "text/json_in.h"

enum phi__json_field_state {
    PHI__JSON_FIELD_VALUE,
    PHI__JSON_FIELD_FIRST_ITEM, /* an item or the closing bracket is next */
    PHI__JSON_FIELD_FIRST_KEY,  /* a key or the closing bracket is next */
    PHI__JSON_FIELD_KEY,
    PHI__JSON_FIELD_COLON,
    PHI__JSON_FIELD_AFTER, /* a comma or a closing bracket is next */
    PHI__JSON_FIELD_END,
    PHI__JSON_FIELD_IN_KEY, /* in this state and the next ones, a token has begun */
    PHI__JSON_FIELD_IN_STRING,
    PHI__JSON_FIELD_IN_NUMBER,
    PHI__JSON_FIELD_IN_WORD
};

/* The result of reading the next bytes. */
typedef enum phi__json_field_got {
    PHI__JSON_FIELD_MORE, /* read on */
    PHI__JSON_FIELD_CUT,  /* more text is needed */
    PHI__JSON_FIELD_FOUND,
    PHI__JSON_FIELD_WRONG /* f->status has the error */
} phi__json_field_got;

static phi__json_field_got phi__fields_fail(phi__json_fields *f, phi_status status) {
    f->status = status;
    return PHI__JSON_FIELD_WRONG;
}

static phi__json_field_got phi__fields_found(phi__json_fields *f, phi_str in, phi_str *value) {
    *value = in;
    f->state = f->depth > 0 ? PHI__JSON_FIELD_AFTER : PHI__JSON_FIELD_END;
    return PHI__JSON_FIELD_FOUND;
}

/* ---- the path ---- */

static phi__json_field_got phi__fields_path(phi__json_fields *f) {
    if (f->path.failed) return phi__fields_fail(f, PHI_NO_MEMORY);
    if (f->path.len > PHI__JSON_FIELDS_PATH) return phi__fields_fail(f, PHI_TOO_BIG);
    return PHI__JSON_FIELD_MORE;
}

/* Sets the path for a complete key; `raw` is the text between its quotes. */
static phi__json_field_got phi__fields_key(phi__json_fields *f, phi_str raw) {
    phi__json_text text;
    if (raw.len > 6 * (size_t)PHI__JSON_FIELDS_PATH) /* too long even if all bytes are escapes */
        return phi__fields_fail(f, PHI_TOO_BIG);
    f->path.len = f->open[f->depth - 1].path_len;
    phi__buf_char(&f->path, '/');
    size_t from = f->path.len;
    text.at = raw.at;
    text.len = raw.len;
    text.escaped = raw.len > 0 && memchr(raw.at, '\\', raw.len) != NULL;
    phi__json_cursor_unescape(&f->path, text);
    /* Escapes the path in place from byte `from` on: "~" becomes "~0", and "/" becomes "~1". */
    size_t more = 0, i;
    for (i = from; i < f->path.len; i++) more += f->path.at[i] == '~' || f->path.at[i] == '/';
    if (more != 0 && phi__buf_reserve(&f->path, more) != NULL) {
        i = f->path.len;
        size_t to = i + more;
        phi__buf_add_len(&f->path, more);
        while (to > i) {
            char c = f->path.at[--i];
            if (c == '~' || c == '/') {
                f->path.at[--to] = c == '~' ? '0' : '1';
                c = '~';
            }
            f->path.at[--to] = c;
        }
    }
    f->state = PHI__JSON_FIELD_COLON;
    return phi__fields_path(f);
}

/* ---- tokens ---- */

/* Returns the length of an escape or a UTF-8 sequence in a string. 0: more text is needed, or the
   bytes are wrong (then f->status has an error). */
static size_t phi__fields_odd(phi__json_fields *f, const char *at, const char *end) {
    size_t left = (size_t)(end - at), n;
    uint32_t code = 0;
    if (*at == '\\') {
        n = phi__json_text_escape(at, end, &code);
        if (n == 0 && left < 6) return 0;
        if (n == 6 && code >= 0xd800 && code <= 0xdfff) {
            if (code <= 0xdbff && left < 12) return 0;
            n = 0; /* a lone half of a surrogate pair is wrong */
        }
    } else {
        n = (unsigned char)*at >= 0x80 ? phi__json_text_utf8(at, end) : 0;
        if (n == 0 && (unsigned char)*at >= 0x80 && left < 4) return 0;
    }
    if (n == 0) f->status = PHI_PARSE;
    return n;
}

static phi__json_field_got phi__fields_string(phi__json_fields *f, phi_str text, phi_str *value) {
    const char *at = text.at + f->at, *end = text.at + text.len;
    while ((at = phi__json_text_plain_end(at, end)) < end && *at != '"') {
        size_t n = phi__fields_odd(f, at, end);
        if (n == 0) break;
        at += n;
    }
    f->at = (size_t)(at - text.at);
    if (f->status != PHI_BUSY) return PHI__JSON_FIELD_WRONG;
    if (at == end || *at != '"') return PHI__JSON_FIELD_CUT;
    f->at++;
    phi_str all = phi__str(text.at + f->token, f->at - f->token);
    if (f->state == PHI__JSON_FIELD_IN_KEY)
        return phi__fields_key(f, phi__str(all.at + 1, all.len - 2));
    return phi__fields_found(f, all, value);
}

static phi__json_field_got phi__fields_number(phi__json_fields *f, phi_str text, phi_str *value) {
    const char *from = text.at + f->token, *bad;
    phi__json_number number;
    f->at = (size_t)(phi__json_number_bytes(text.at + f->at, text.at + text.len) - text.at);
    if (f->at - f->token >= PHI__JSON_FIELDS_NUMBER) return phi__fields_fail(f, PHI_TOO_BIG);
    if (f->at == text.len) return PHI__JSON_FIELD_CUT;
    const char *end = text.at + f->at;
    if (phi__json_number_read(from, end, &number, &bad) != end)
        return phi__fields_fail(f, PHI_PARSE);
    return phi__fields_found(f, phi__str(from, f->at - f->token), value);
}

static phi__json_field_got phi__fields_word(phi__json_fields *f, phi_str text, phi_str *value) {
    const char *from = text.at + f->token;
    phi_str word = *from == 'n'   ? PHI__LIT("null")
                   : *from == 't' ? PHI__LIT("true")
                                  : PHI__LIT("false");
    size_t have = phi__min(text.len - f->token, word.len);
    if (memcmp(from, word.at, have) != 0) return phi__fields_fail(f, PHI_PARSE);
    if (have < word.len) return PHI__JSON_FIELD_CUT;
    f->at = f->token + word.len;
    return phi__fields_found(f, phi__str(from, word.len), value);
}

/* ---- arrays and objects ---- */

static phi__json_field_got phi__fields_close(phi__json_fields *f, phi_str *value) {
    bool empty = f->state != PHI__JSON_FIELD_AFTER;
    const phi__json_frame *closed = &f->open[--f->depth];
    f->at++;
    f->path.len = closed->path_len;
    if (empty) return phi__fields_found(f, closed->object ? PHI__LIT("{}") : PHI__LIT("[]"), value);
    f->state = f->depth > 0 ? PHI__JSON_FIELD_AFTER : PHI__JSON_FIELD_END;
    return PHI__JSON_FIELD_MORE;
}

/* Sets the path for the next item, if an array is open. */
static phi__json_field_got phi__fields_item(phi__json_fields *f) {
    phi__json_frame *in = f->depth > 0 ? &f->open[f->depth - 1] : NULL;
    if (in == NULL || in->object) return PHI__JSON_FIELD_MORE;
    f->path.len = in->path_len;
    phi__buf_char(&f->path, '/');
    phi__buf_u64(&f->path, in->count++);
    return phi__fields_path(f);
}

static phi__json_field_got phi__fields_begin(phi__json_fields *f, char c) {
    phi__json_field_got got = phi__fields_item(f);
    if (got != PHI__JSON_FIELD_MORE) return got;
    if (c == '{' || c == '[') {
        bool object = c == '{';
        phi__json_frame *open = f->open;
        if (f->depth == PHI__JSON_FIELDS_DEPTH) return phi__fields_fail(f, PHI_TOO_BIG);
        open =
            (phi__json_frame *)phi__grow(f->path.memory, open, &f->cap, f->depth + 1, sizeof *open);
        if (open == NULL) return phi__fields_fail(f, PHI_NO_MEMORY);
        f->open = open;
        open[f->depth].path_len = (uint32_t)f->path.len;
        open[f->depth].count = 0;
        open[f->depth].object = object;
        f->depth++;
        f->state = object ? PHI__JSON_FIELD_FIRST_KEY : PHI__JSON_FIELD_FIRST_ITEM;
        f->at++;
        return PHI__JSON_FIELD_MORE;
    }
    f->token = f->at;
    if (c == '"') {
        f->state = PHI__JSON_FIELD_IN_STRING;
        f->at++;
    } else if (c == 't' || c == 'f' || c == 'n')
        f->state = PHI__JSON_FIELD_IN_WORD;
    else if (c == '-' || phi__is_digit(c))
        f->state = PHI__JSON_FIELD_IN_NUMBER;
    else
        return phi__fields_fail(f, PHI_PARSE);
    return PHI__JSON_FIELD_MORE;
}

static phi__json_field_got phi__fields_after(phi__json_fields *f, char c, phi_str *value) {
    bool object = f->open[f->depth - 1].object;
    if (c == (object ? '}' : ']')) return phi__fields_close(f, value);
    if (c != ',') return phi__fields_fail(f, PHI_PARSE);
    f->at++;
    f->state = object ? PHI__JSON_FIELD_KEY : PHI__JSON_FIELD_VALUE;
    return PHI__JSON_FIELD_MORE;
}

/* ---- the state machine ---- */

static phi__json_field_got phi__fields_look(phi__json_fields *f, phi_str text, phi_str *value) {
    switch (f->state) {
    case PHI__JSON_FIELD_IN_KEY:
    case PHI__JSON_FIELD_IN_STRING: return phi__fields_string(f, text, value);
    case PHI__JSON_FIELD_IN_NUMBER: return phi__fields_number(f, text, value);
    case PHI__JSON_FIELD_IN_WORD: return phi__fields_word(f, text, value);
    default: break;
    }
    if (f->at == text.len) return PHI__JSON_FIELD_CUT;
    char c = text.at[f->at];
    if (phi__json_white(c)) {
        f->at++;
        return PHI__JSON_FIELD_MORE;
    }
    switch (f->state) {
    case PHI__JSON_FIELD_FIRST_ITEM:
        return c == ']' ? phi__fields_close(f, value) : phi__fields_begin(f, c);
    case PHI__JSON_FIELD_VALUE: return phi__fields_begin(f, c);
    case PHI__JSON_FIELD_AFTER: return phi__fields_after(f, c, value);
    case PHI__JSON_FIELD_FIRST_KEY:
        if (c == '}') return phi__fields_close(f, value);
        break;
    case PHI__JSON_FIELD_COLON:
        if (c != ':') return phi__fields_fail(f, PHI_PARSE);
        f->at++;
        f->state = PHI__JSON_FIELD_VALUE;
        return PHI__JSON_FIELD_MORE;
    case PHI__JSON_FIELD_KEY: break;
    /* the value is complete, but more text follows */
    default: return phi__fields_fail(f, PHI_PARSE);
    }
    if (c != '"') return phi__fields_fail(f, PHI_PARSE);
    f->token = f->at++;
    f->state = PHI__JSON_FIELD_IN_KEY;
    return PHI__JSON_FIELD_MORE;
}

PHI__FN void phi__json_fields_init(phi__json_fields *f, phi_memory *memory) {
    memset(f, 0, sizeof *f);
    phi__buf_init(&f->path, memory);
    f->state = PHI__JSON_FIELD_VALUE;
    f->status = PHI_BUSY;
}

PHI__FN void phi__json_fields_free(phi__json_fields *f) {
    phi_memory *memory = f->path.memory;
    phi__buf_free(&f->path);
    phi__free(memory, f->open, f->cap * sizeof *f->open);
    phi__json_fields_init(f, memory);
}

PHI__FN int phi__json_fields_next(phi__json_fields *f, phi_str text, phi_str *path,
                                  phi_str *value) {
    phi__json_field_got got = PHI__JSON_FIELD_MORE;
    if (f->status != PHI_BUSY) return (int)f->status;
    while (got == PHI__JSON_FIELD_MORE) got = phi__fields_look(f, text, value);
    if (got == PHI__JSON_FIELD_WRONG) return (int)f->status;
    if (got == PHI__JSON_FIELD_CUT) return 0;
    *path = f->path.len > 0 ? phi__buf_str(&f->path) : phi__str("", 0);
    return 1;
}
