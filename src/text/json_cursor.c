/* json_cursor.c - scans a JSON text value by value, without a tree; finds a value by its path. */
#include "text/json_in.h"

/* Skips white space and returns the next byte. 0: the text ended, or the cursor was bad before. */
static inline char phi__cursor_next(phi__json_cursor *c) {
    while (c->at < c->end && phi__json_white(*c->at)) c->at++;
    return c->at < c->end ? *c->at : '\0';
}

static bool phi__cursor_bad(phi__json_cursor *c) {
    c->bad = true;
    c->at = c->end;
    return false;
}

PHI__FN void phi__json_cursor_init(phi__json_cursor *c, phi_str text) {
    c->at = text.at;
    c->end = text.at + text.len;
    c->first = false;
    c->bad = false;
}

PHI__FN phi_json_type phi__json_cursor_peek(phi__json_cursor *c) {
    char first = phi__cursor_next(c);
    switch (first) {
    case '"': return PHI_JSON_STRING;
    case '{': return PHI_JSON_OBJECT;
    case '[': return PHI_JSON_ARRAY;
    case 't':
    case 'f': return PHI_JSON_BOOL;
    case 'n': return PHI_JSON_NULL;
    default: return first == '-' || phi__is_digit(first) ? PHI_JSON_NUMBER : PHI_JSON_NONE;
    }
}

/* ---- skipping ---- */

/* Skips a number or a literal, which must end at a bracket, a comma or white space. */
static bool phi__cursor_skip_word(phi__json_cursor *c) {
    const char *at = c->at;
    size_t left = (size_t)(c->end - at);
    if (left >= 4 && (memcmp(at, "null", 4) == 0 || memcmp(at, "true", 4) == 0))
        at += 4;
    else if (left >= 5 && memcmp(at, "false", 5) == 0)
        at += 5;
    else if (*at == '-' || phi__is_digit(*at))
        at = phi__json_number_bytes(at, c->end);
    else
        return phi__cursor_bad(c);
    if (at < c->end && *at != ',' && *at != '}' && *at != ']' && !phi__json_white(*at))
        return phi__cursor_bad(c);
    c->at = at;
    return true;
}

static inline bool phi__cursor_skip_string(phi__json_cursor *c) {
    bool escaped;
    const char *quote = phi__json_quote_short(c->at + 1, c->end, &escaped);
    if (quote == NULL) return phi__cursor_bad(c);
    c->at = quote + 1;
    return true;
}

/* Skips from an opening bracket to the matching closing one. `kinds` has a bit for each open
   bracket. */
static bool phi__cursor_skip_nested(phi__json_cursor *c) {
    uint32_t kinds[PHI_JSON_MAX_DEPTH / 32], depth = 0;
    while (c->at < c->end) {
        char b = *c->at;
        if (b == '"') {
            if (!phi__cursor_skip_string(c)) return false;
            continue;
        }
        c->at++;
        if (b == '{' || b == '[') {
            uint32_t bit = 1u << depth % 32;
            if (depth == PHI_JSON_MAX_DEPTH) break;
            if (depth % 32 == 0) kinds[depth / 32] = 0;
            kinds[depth / 32] = b == '{' ? kinds[depth / 32] | bit : kinds[depth / 32] & ~bit;
            depth++;
        } else if (b == '}' || b == ']') {
            depth--;
            if ((kinds[depth / 32] >> depth % 32 & 1u) != (b == '}' ? 1u : 0u)) break;
            if (depth == 0) return true;
        }
    }
    return phi__cursor_bad(c);
}

PHI__FN bool phi__json_cursor_skip(phi__json_cursor *c) {
    char b = phi__cursor_next(c);
    c->first = false;
    if (b == '"') return phi__cursor_skip_string(c);
    if (b == '{' || b == '[') return phi__cursor_skip_nested(c);
    return c->at < c->end ? phi__cursor_skip_word(c) : phi__cursor_bad(c);
}

/* Skips a value of an unwanted type. Returns false. */
static bool phi__cursor_other(phi__json_cursor *c) {
    (void)phi__json_cursor_skip(c);
    return false;
}

/* ---- pulling ---- */

static inline bool phi__cursor_enter(phi__json_cursor *c, char bracket) {
    if (phi__cursor_next(c) != bracket) return phi__cursor_other(c);
    c->at++;
    c->first = true;
    return true;
}

PHI__FN bool phi__json_cursor_enter_object(phi__json_cursor *c) {
    return phi__cursor_enter(c, '{');
}

PHI__FN bool phi__json_cursor_enter_array(phi__json_cursor *c) { return phi__cursor_enter(c, '['); }

PHI__FN bool phi__json_cursor_in_object(phi__json_cursor *c, phi_str text) {
    phi__json_cursor_init(c, text);
    return text.len > 0 && phi__cursor_enter(c, '{');
}

PHI__FN bool phi__json_cursor_in_array(phi__json_cursor *c, phi_str text) {
    phi__json_cursor_init(c, text);
    return text.len > 0 && phi__cursor_enter(c, '[');
}

/* Moves to the start of the next member or item. False: the container ended, or the text is bad. */
static inline bool phi__cursor_step(phi__json_cursor *c, char closing) {
    char b = phi__cursor_next(c);
    if (b == closing) {
        c->at++;
        c->first = false;
        return false;
    }
    if (!c->first) {
        if (b != ',') return phi__cursor_bad(c);
        c->at++;
        (void)phi__cursor_next(c);
    }
    c->first = false;
    return true;
}

PHI__FN bool phi__json_cursor_next_key(phi__json_cursor *c, phi__json_text *key) {
    const char *at = c->at, *end = c->end;
    /* this path is for texts without white space */
    if (!c->first && end - at > 1 && at[0] == ',' && at[1] == '"')
        at++;
    else {
        if (!phi__cursor_step(c, '}')) return false;
        at = c->at;
        if (at == end || *at != '"') return phi__cursor_bad(c);
    }
    const char *quote = phi__json_quote_short(at + 1, end, &key->escaped);
    if (quote == NULL) return phi__cursor_bad(c);
    key->at = at + 1;
    key->len = (size_t)(quote - key->at);
    c->at = quote + 1;
    if ((c->at == end || *c->at != ':') && phi__cursor_next(c) != ':') return phi__cursor_bad(c);
    c->at++;
    return true;
}

PHI__FN bool phi__json_cursor_next_item(phi__json_cursor *c) {
    if (!phi__cursor_step(c, ']')) return false;
    if (c->at == c->end || *c->at == ']') return phi__cursor_bad(c);
    return true;
}

PHI__FN bool phi__json_cursor_take_raw(phi__json_cursor *c, phi_str *out) {
    (void)phi__cursor_next(c);
    const char *start = c->at;
    if (!phi__json_cursor_skip(c)) return false;
    *out = phi__str(start, (size_t)(c->at - start));
    return true;
}

PHI__FN bool phi__json_cursor_take_text(phi__json_cursor *c, phi__json_text *out) {
    bool escaped;
    if (phi__cursor_next(c) != '"') return phi__cursor_other(c);
    const char *quote = phi__json_quote_short(c->at + 1, c->end, &escaped);
    if (quote == NULL) return phi__cursor_bad(c);
    out->at = c->at + 1;
    out->len = (size_t)(quote - out->at);
    out->escaped = escaped;
    c->at = quote + 1;
    c->first = false;
    return true;
}

PHI__FN bool phi__json_cursor_next_raw(phi__json_cursor *c, phi_str *out) {
    return phi__json_cursor_next_item(c) && phi__json_cursor_take_raw(c, out);
}

static bool phi__cursor_take_number(phi__json_cursor *c, phi__json_number *out) {
    const char *bad;
    if (phi__json_cursor_peek(c) != PHI_JSON_NUMBER) return phi__cursor_other(c);
    const char *end = phi__json_number_read(c->at, c->end, out, &bad);
    if (end == NULL) return phi__cursor_other(c); /* not a number: skipped like a word */
    c->at = end;
    c->first = false;
    return true;
}

PHI__FN bool phi__json_cursor_take_i64(phi__json_cursor *c, int64_t *out) {
    phi__json_number n;
    return phi__cursor_take_number(c, &n) && phi__json_get_number_i64(&n, out);
}

PHI__FN bool phi__json_cursor_take_u64(phi__json_cursor *c, uint64_t *out) {
    phi__json_number n;
    return phi__cursor_take_number(c, &n) && phi__json_get_number_u64(&n, out);
}

PHI__FN bool phi__json_cursor_take_num(phi__json_cursor *c, double *out) {
    phi__json_number n;
    if (!phi__cursor_take_number(c, &n)) return false;
    *out = phi__json_get_number_double(&n);
    return true;
}

PHI__FN bool phi__json_cursor_take_bool(phi__json_cursor *c, bool *out) {
    char b = phi__cursor_next(c);
    if (!phi__json_cursor_skip(c)) return false;
    if (b != 't' && b != 'f') return false;
    *out = b == 't';
    return true;
}

PHI__FN bool phi__json_cursor_done(phi__json_cursor *c) {
    (void)phi__cursor_next(c);
    return !c->bad && c->at == c->end;
}

/* ---- strings ---- */

#define PHI__JSON_UNESCAPE_SLICE 256u /* bytes; three times as many are reserved */

PHI__FN void phi__json_cursor_unescape(phi__buf *out, phi__json_text text) {
    const char *at = text.at, *end = text.at + text.len;
    while (at < end) {
        const char *plain = phi__json_text_plain_end(at, end);
        char *to, *start;
        phi__buf_add(out, at, (size_t)(plain - at));
        size_t slice = phi__min((size_t)(end - plain), PHI__JSON_UNESCAPE_SLICE);
        if (slice == 0) return;
        start = to = phi__buf_reserve(out, 3 * (slice + PHI__JSON_RUN_MORE));
        if (to == NULL) return;
        at = phi__json_text_unescape_run(plain, end, slice, &to);
        phi__buf_add_len(out, (size_t)(to - start));
    }
}

static size_t phi__cursor_unescaped_len(phi__json_text text) {
    const char *at = text.at, *end = text.at + text.len;
    size_t len = 0;
    while (at < end) {
        char few[3 * (64 + PHI__JSON_RUN_MORE)], *to = few;
        const char *plain = phi__json_text_plain_end(at, end);
        len += (size_t)(plain - at);
        at = plain < end ? phi__json_text_unescape_run(plain, end, 64, &to) : end;
        len += (size_t)(to - few);
    }
    return len;
}

PHI__FN bool phi__json_cursor_unescape_arena(phi_arena *arena, phi__json_text text, phi_str *out) {
    if (text.len > SIZE_MAX / 4) return false; /* a byte may become three bytes */
    size_t len = phi__cursor_unescaped_len(text);
    char *copy = phi__arena_bytes(arena, len + 1), *to = copy;
    const char *end = text.at + text.len;
    if (copy == NULL) return false;
    if (text.len > 0) (void)phi__json_text_unescape_run(text.at, end, text.len, &to);
    *to = '\0';
    *out = phi__str(copy, len);
    return true;
}

PHI__FN bool phi__json_cursor_text_same(phi__json_text text, phi_str plain) {
    const char *at = text.at, *end = text.at + text.len;
    while (at < end) {
        char few[3 * (1 + PHI__JSON_RUN_MORE)], *to = few;
        at = phi__json_text_unescape_run(at, end, 1, &to);
        size_t len = (size_t)(to - few);
        if (len > plain.len || memcmp(few, plain.at, len) != 0) return false;
        plain = phi__str_from(plain, len);
    }
    return plain.len == 0;
}

/* ---- finding a value by its path ---- */

/* Moves to the member or item that one step of the path names. */
static bool phi__cursor_find_step(phi__json_cursor *c, const phi__json_step *step) {
    size_t left = step->index;
    if (!step->is_index) {
        /* Moves to the last member of that name, as phi_json_get does. */
        phi_str name = step->key;
        const char *found = NULL;
        phi__json_text key;
        if (!phi__json_cursor_enter_object(c)) return false;
        while (phi__json_cursor_next_key(c, &key)) {
            if (phi__json_cursor_text_is(key, name)) found = c->at;
            if (!phi__json_cursor_skip(c)) return false;
        }
        if (found == NULL || c->bad) return false;
        c->at = found;
        return true;
    }
    if (!phi__json_cursor_enter_array(c)) return false;
    while (phi__json_cursor_next_item(c)) {
        if (left-- == 0) return true;
        if (!phi__json_cursor_skip(c)) return false;
    }
    return false;
}

PHI__FN phi_status phi__json_cursor_find(phi_str text, const char *path, phi__json_found *out) {
    phi__json_cursor c;
    phi__json_step step;
    phi__json_text string;
    if (text.at == NULL || path == NULL || out == NULL) return PHI_BAD_ARG;
    phi__json_cursor_init(&c, text);
    while (phi__json_get_path_step(&path, &step))
        if (!phi__cursor_find_step(&c, &step)) return c.bad ? PHI_PARSE : PHI_NOT_FOUND;
    if (*path != '\0') return PHI_BAD_ARG;
    out->type = phi__json_cursor_peek(&c);
    out->escaped = false;
    if (out->type == PHI_JSON_STRING) {
        if (!phi__json_cursor_take_text(&c, &string)) return PHI_PARSE;
        out->raw = phi__str(string.at, string.len);
        out->escaped = string.escaped;
        return PHI_OK;
    }
    return phi__json_cursor_take_raw(&c, &out->raw) ? PHI_OK : PHI_PARSE;
}

PHI__FN bool phi__json_cursor_found_str(phi_arena *arena, const phi__json_found *found,
                                        phi_str *out) {
    phi__json_text text;
    if (found == NULL || found->type != PHI_JSON_STRING) return false;
    text.at = found->raw.at;
    text.len = found->raw.len;
    text.escaped = found->escaped;
    if (phi__utf8_valid(found->raw) == found->raw.len && !found->escaped) {
        *out = found->raw;
        return true;
    }
    return phi__json_cursor_unescape_arena(arena, text, out);
}

PHI__FN bool phi__json_cursor_found_int(const phi__json_found *found, int64_t *out) {
    phi__json_cursor c;
    if (found == NULL || found->type != PHI_JSON_NUMBER) return false;
    phi__json_cursor_init(&c, found->raw);
    return phi__json_cursor_take_i64(&c, out) && phi__json_cursor_done(&c);
}

PHI__FN bool phi__json_cursor_found_num(const phi__json_found *found, double *out) {
    phi__json_cursor c;
    if (found == NULL || found->type != PHI_JSON_NUMBER) return false;
    phi__json_cursor_init(&c, found->raw);
    return phi__json_cursor_take_num(&c, out) && phi__json_cursor_done(&c);
}

/* ---- tables of members ----

   A table says which members of an object are kept, and where in a struct they go:

       static const phi__json_member members[] = {
           PHI__MEMBER(struct event, type, "type", PHI__MEMBER_TEXT),
           PHI__MEMBER_INSIDE("delta", delta_members), PHI__MEMBERS_END};

       struct event event = PHI_ZERO;
       good = phi__json_members_read(data, members, &event, NULL);

   A member that is missing, null or of another type leaves its field unchanged, except for RAW and
   BY. The last of several equal names counts. All other members are skipped. A function (BY) reads
   members that a table cannot describe. */

static void phi__members_raw(phi__json_cursor *c, bool wanted, phi_str *out) {
    if (!wanted)
        (void)phi__json_cursor_skip(c);
    else if (!phi__json_cursor_take_raw(c, out))
        out->len = 0;
}

/* Names are short, so comparing them by a few loads is faster than calling memcmp. */
static inline bool phi__members_is(const phi__json_member *m, const phi__json_text *key) {
    const char *a = m->name, *b = key->at;
    size_t n = m->len;
    uint32_t x[2], y[2];
    if (n != key->len) return false;
    if (n > 8) return memcmp(a, b, n) == 0;
    if (n < 4) {
        while (n > 0 && a[n - 1] == b[n - 1]) n--;
        return n == 0;
    }
    memcpy(&x[0], a, 4);
    memcpy(&y[0], b, 4);
    memcpy(&x[1], a + n - 4, 4);
    memcpy(&y[1], b + n - 4, 4);
    return x[0] == y[0] && x[1] == y[1];
}

/* Returns the row with that name, searching from `at` to `end` or to the table's end. NULL: no such
   row. */
static const phi__json_member *phi__members_look(const phi__json_member *at,
                                                 const phi__json_member *end,
                                                 const phi__json_text *key) {
    for (; at != end && at->name != NULL; at++)
        if (key->escaped ? phi__json_cursor_text_same(*key, phi__str(at->name, at->len))
                         : phi__members_is(at, key))
            return at;
    return NULL;
}

PHI__FN uint32_t phi__json_members_take(phi__json_cursor *c, const phi__json_member *members,
                                        void *to) {
    const phi__json_member *next = members; /* members mostly come in the table's order */
    phi__json_text key;
    uint32_t seen = 0;
    if (!phi__json_cursor_enter_object(c)) return 0;
    while (phi__json_cursor_next_key(c, &key)) {
        const phi__json_member *m = next;
        if (m->name == NULL || key.escaped || !phi__members_is(m, &key)) {
            m = phi__members_look(next, NULL, &key);
            if (m == NULL) m = phi__members_look(members, next, &key);
            if (m == NULL) {
                (void)phi__json_cursor_skip(c);
                continue;
            }
        }
        next = m + 1;
        seen |= (uint32_t)1 << (m - members);
        void *at = (char *)to + m->offset;
        phi_json_type type;
        switch (m->kind) {
        case PHI__MEMBER_TEXT: (void)phi__json_cursor_take_text(c, (phi__json_text *)at); break;
        case PHI__MEMBER_I64: (void)phi__json_cursor_take_i64(c, (int64_t *)at); break;
        case PHI__MEMBER_U64: (void)phi__json_cursor_take_u64(c, (uint64_t *)at); break;
        case PHI__MEMBER_BOOL: (void)phi__json_cursor_take_bool(c, (bool *)at); break;
        case PHI__MEMBER_RAW: phi__members_raw(c, true, (phi_str *)at); break;
        case PHI__MEMBER_SOME:
        case PHI__MEMBER_OBJECT:
        case PHI__MEMBER_ARRAY:
            type = phi__json_cursor_peek(c);
            phi__members_raw(c,
                             m->kind == PHI__MEMBER_SOME     ? type != PHI_JSON_NULL
                             : m->kind == PHI__MEMBER_OBJECT ? type == PHI_JSON_OBJECT
                                                             : type == PHI_JSON_ARRAY,
                             (phi_str *)at);
            break;
        case PHI__MEMBER_IN: (void)phi__json_members_take(c, m->inner, at); break;
        case PHI__MEMBER_FIRST:
            if (!phi__json_cursor_enter_array(c)) break;
            if (phi__json_cursor_next_item(c)) (void)phi__json_members_take(c, m->inner, at);
            while (phi__json_cursor_next_item(c)) (void)phi__json_cursor_skip(c);
            break;
        default: m->take(c, at); break;
        }
    }
    return seen;
}

PHI__FN bool phi__json_members_read(phi_str text, const phi__json_member *members, void *to,
                                    uint32_t *seen) {
    phi__json_cursor c;
    if (text.len == 0) return false;
    phi__json_cursor_init(&c, text);
    if (phi__json_cursor_peek(&c) != PHI_JSON_OBJECT) return false;
    uint32_t found = phi__json_members_take(&c, members, to);
    if (seen != NULL) *seen = found;
    return phi__json_cursor_done(&c);
}
