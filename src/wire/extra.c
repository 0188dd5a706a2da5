/* extra.c - checks extras, merges them, and adds one to a request's head. */
#include "wire/codec_in.h"

#include <stdio.h>

enum { PHI__EXTRA_PATH = 160, PHI__EXTRA_WORDS = 240 }; /* bytes */

/* ---- paths ---- */

/* A path such as "a.b.c", cut if it is too long. */
typedef struct phi__extra_path {
    char at[PHI__EXTRA_PATH];
    size_t len;
} phi__extra_path;

/* Appends a key to the path. Returns the old length, for phi__extra_leave. */
static size_t phi__extra_enter(phi__extra_path *path, phi_str key) {
    size_t before = path->len, room = sizeof path->at - 1 - path->len;
    if (before > 0 && room > 0) {
        path->at[path->len++] = '.';
        room--;
    }
    size_t n = phi__min(key.len, room);
    if (n > 0) memcpy(path->at + path->len, key.at, n);
    path->len += n;
    path->at[path->len] = '\0';
    return before;
}

static void phi__extra_leave(phi__extra_path *path, size_t before) {
    path->len = before;
    path->at[before] = '\0';
}

static bool phi__extra_listed(const char *const *list, const char *path) {
    for (; list != NULL && *list != NULL; list++)
        if (strcmp(*list, path) == 0) return true;
    return false;
}

/* True if the list has a path that begins with this path and a dot. */
static bool phi__extra_above(const char *const *list, const char *path) {
    size_t n = strlen(path);
    for (; list != NULL && *list != NULL; list++)
        if (strncmp(*list, path, n) == 0 && (*list)[n] == '.') return true;
    return false;
}

static bool phi__extra_is(phi_str value, char open) { return value.len > 0 && value.at[0] == open; }

/* ---- checks ---- */

typedef struct phi__extra_check_state {
    const char *const *owned; /* paths that phi writes; NULL: none */
    phi__extra_path path;
    char *words;
    size_t words_size;
} phi__extra_check_state;

static bool phi__extra_fault(phi__extra_check_state *s, const char *before, const char *after) {
    (void)snprintf(s->words, s->words_size, ": %s\"%s\"%s", before, s->path.at, after);
    return false;
}

static bool phi__extra_check_member(phi__extra_check_state *s, const phi_json *object,
                                    const phi_json *member, phi_str key) {
    if (phi__json_get_n(object, key) != member) return phi__extra_fault(s, "", " is there twice");
    if (phi__extra_listed(s->owned, s->path.at))
        return phi__extra_fault(s, "phi writes ", " itself");
    if (!phi_json_is(member, PHI_JSON_OBJECT) && phi__extra_above(s->owned, s->path.at))
        return phi__extra_fault(s, "", ": expected an object, since phi writes a member of it");
    return true;
}

static bool phi__extra_check_object(phi__extra_check_state *s, const phi_json *object,
                                    size_t depth) {
    phi_json_iter it = phi_json_each(object);
    const phi_json *member;
    bool fits = true;
    if (depth > PHI__EXTRA_DEEP) {
        (void)snprintf(s->words, s->words_size, ": expected objects at most %d deep",
                       (int)PHI__EXTRA_DEEP);
        return false;
    }
    if (phi_json_count(object) > (size_t)PHI__EXTRA_MEMBERS) {
        (void)snprintf(s->words, s->words_size, ": expected at most %d members in an object",
                       (int)PHI__EXTRA_MEMBERS);
        return false;
    }
    while (fits && (member = phi_json_next(&it)) != NULL) {
        size_t before = phi__extra_enter(&s->path, it.key);
        fits = phi__extra_check_member(s, object, member, it.key);
        if (fits && phi_json_is(member, PHI_JSON_OBJECT))
            fits = phi__extra_check_object(s, member, depth + 1);
        phi__extra_leave(&s->path, before);
    }
    return fits;
}

PHI__FN phi_status phi__extra_check(const phi__codec *codec, phi_memory *scratch, phi_str text,
                                    char *words, size_t words_size) {
    phi_parse_error parse;
    phi_arena arena;
    phi_json *root = NULL;
    phi__extra_check_state s = PHI_ZERO;
    s.words = words;
    s.words_size = words_size;
    if (codec != NULL && codec->rules->settings != NULL) s.owned = codec->rules->settings->owned;
    if (phi__utf8_valid(text) != text.len) {
        (void)snprintf(words, words_size, ": expected UTF-8");
        return PHI_BAD_ARG;
    }
    phi_arena_init(&arena, scratch, 0);
    phi_status status = phi_json_parse(&arena, text, PHI_JSON_BORROW, &root, &parse);
    if (status == PHI_PARSE || status == PHI_TOO_BIG) {
        (void)snprintf(words, words_size, ":%u:%u: %s", (unsigned)parse.line,
                       (unsigned)parse.column, parse.message);
        status = PHI_BAD_ARG;
    } else if (status == PHI_OK && !phi__extra_is(phi__str_trim(text), '{')) {
        (void)snprintf(words, words_size, ": expected a JSON object, got %s",
                       phi__json_get_type_name(root));
        status = PHI_BAD_ARG;
    } else if (status == PHI_OK && !phi__extra_check_object(&s, root, 1))
        status = PHI_BAD_ARG;
    phi_arena_free(&arena);
    return status;
}

/* ---- merging ---- */

typedef struct phi__extra_merge_state {
    phi__buf *out;
    const phi__codec_settings
        *settings; /* rules of the head's codec; NULL: two extras are merged */
    bool is_head;  /* `wide` is a request's head: its members must not be replaced */
    phi__extra_path path;
    char words[PHI__EXTRA_WORDS]; /* message of the first refusal */
} phi__extra_merge_state;

/* A member of an object, as views of its text. */
typedef struct phi__extra_member {
    phi__json_text key;
    phi_str value;
} phi__extra_member;

static bool phi__extra_same(phi__extra_merge_state *s, phi__json_text a, phi__json_text b) {
    phi__buf *out = s->out;
    size_t from = out->len;
    if (!a.escaped) return phi__json_cursor_text_is(b, phi__str(a.at, a.len));
    if (!b.escaped) return phi__json_cursor_text_is(a, phi__str(b.at, b.len));
    phi__json_cursor_unescape(out, a); /* appended to the output; removed below */
    size_t middle = out->len;
    phi__json_cursor_unescape(out, b);
    if (out->failed) return false;
    bool same = middle - from == out->len - middle &&
                memcmp(out->at + from, out->at + middle, middle - from) == 0;
    out->len = from;
    return same;
}

/* Returns the index of a key in an object; SIZE_MAX if the object lacks it. */
static size_t phi__extra_find(phi__extra_merge_state *s, phi_str object, phi__json_text key,
                              phi_str *value) {
    phi__json_cursor c;
    phi__json_text other;
    phi__json_cursor_init(&c, object);
    (void)phi__json_cursor_enter_object(&c);
    for (size_t i = 0; phi__json_cursor_next_key(&c, &other); i++) {
        if (phi__extra_same(s, key, other))
            return phi__json_cursor_take_raw(&c, value) ? i : SIZE_MAX;
        phi__json_cursor_skip(&c);
    }
    return SIZE_MAX;
}

static void phi__extra_put(phi__buf *out, phi__json_text key, phi_str value) {
    phi__json_write_item(out, "\"");
    phi__buf_add(out, key.at, key.len);
    phi__buf_wrap(out, "\":", value, "");
}

/* Writes one array with the elements of both arrays. */
static void phi__extra_put_lists(phi__buf *out, phi__json_text key, phi_str wide, phi_str narrow) {
    phi_str more = phi__str_trim(phi__str(narrow.at + 1, narrow.len - 2));
    phi__extra_put(out, key, phi__str(wide.at, wide.len - 1));
    if (more.len > 0) {
        phi__json_write_comma(out);
        phi__buf_add_str(out, more);
    }
    phi__buf_char(out, ']');
}

static void phi__extra_merge_object(phi__extra_merge_state *s, phi_str wide, phi_str narrow);

/* Writes the members of `narrow` that are not in `wide`. */
static void phi__extra_put_rest(phi__extra_merge_state *s, phi_str narrow,
                                const unsigned char *met) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str value;
    phi__json_cursor_init(&c, narrow);
    (void)phi__json_cursor_enter_object(&c);
    for (size_t i = 0; phi__json_cursor_next_key(&c, &key); i++)
        if (phi__json_cursor_take_raw(&c, &value) && (met[i / 8] & (1u << i % 8)) == 0)
            phi__extra_put(s->out, key, value);
}

/* Writes the members of both objects. A head ends in the open array of messages, which stays
   last. */
static void phi__extra_merge_object(phi__extra_merge_state *s, phi_str wide, phi_str narrow) {
    phi__json_cursor c;
    phi__extra_member m;
    phi_str value = {NULL, 0}, open = {NULL, 0};
    unsigned char met[PHI__EXTRA_MEMBERS / 8] = PHI_ZERO;
    phi__buf_char(s->out, '{');
    phi__json_cursor_init(&c, wide);
    (void)phi__json_cursor_enter_object(&c);
    while (open.len == 0 && phi__json_cursor_next_key(&c, &m.key)) {
        m.value = phi__str(NULL, 0);
        if (!phi__json_cursor_take_raw(&c, &m.value))
            open = phi__str(m.key.at - 1, (size_t)(wide.at + wide.len - m.key.at) + 1);
        size_t i = phi__extra_find(s, narrow, m.key, &value);
        if (i < (size_t)PHI__EXTRA_MEMBERS) {
            met[i / 8] = (unsigned char)(met[i / 8] | 1u << i % 8);
            /* Both objects have this member. */
            const char *const *lists = s->settings != NULL ? s->settings->lists : NULL;
            size_t before = phi__extra_enter(&s->path, phi__str(m.key.at, m.key.len));
            if (phi__extra_is(m.value, '{') && phi__extra_is(value, '{')) {
                phi__extra_put(s->out, m.key, phi__str(NULL, 0));
                phi__extra_merge_object(s, m.value, value);
            } else if (s->is_head && phi__extra_is(m.value, '[') && phi__extra_is(value, '[') &&
                       m.value.at[m.value.len - 1] == ']' && phi__extra_listed(lists, s->path.at))
                phi__extra_put_lists(s->out, m.key, m.value, value);
            else if (s->is_head) {
                if (s->words[0] == '\0')
                    (void)snprintf(s->words, sizeof s->words,
                                   "extra: phi writes \"%s\" itself in this request", s->path.at);
            } else
                phi__extra_put(s->out, m.key, value);
            phi__extra_leave(&s->path, before);
        } else if (open.len == 0)
            phi__extra_put(s->out, m.key, m.value);
    }
    phi__extra_put_rest(s, narrow, met);
    if (open.len > 0) {
        phi__json_write_comma(s->out);
        phi__buf_add_str(s->out, open);
    } else
        phi__buf_char(s->out, '}');
}

PHI__FN bool phi__extra_join(phi_arena *arena, phi_str wide, phi_str narrow, phi_str *out) {
    phi__buf buf;
    *out = wide.len > 0 ? wide : narrow;
    if (wide.len == 0 || narrow.len == 0) return true;
    phi__extra_merge_state s = PHI_ZERO;
    phi__buf_init(&buf, arena->memory);
    s.out = &buf;
    phi__extra_merge_object(&s, phi__str_trim(wide), phi__str_trim(narrow));
    bool done = !buf.failed && phi__arena_str(arena, phi__buf_str(&buf), out);
    phi__buf_free(&buf);
    return done;
}

/* ---- for the encoder ---- */

/* Joins the pieces so far into one text. */
static bool phi__extra_head(phi__encoder *e, phi_str *head) {
    phi__buf whole;
    phi__buf_init(&whole, e->arena->memory);
    for (size_t i = 0; i < e->count; i++) phi__buf_add(&whole, e->pieces[i].at, e->pieces[i].len);
    bool done = !whole.failed && phi__arena_str(e->arena, phi__buf_str(&whole), head);
    phi__buf_free(&whole);
    return done;
}

static void phi__extra_refused(phi__encoder *e, const char *text) {
    phi_str words;
    if (phi__arena_str(e->arena, phi_str_of(text), &words))
        e->refused = words.at;
    else
        e->failed = true;
}

PHI__FN void phi__extra_apply(phi__encoder *e) {
    char fault[PHI__EXTRA_WORDS];
    phi_str head;
    if (e->failed || e->spec->extra.len == 0) return;
    phi_status status =
        phi__extra_check(e->codec, e->arena->memory, e->spec->extra, fault, sizeof fault);
    phi__extra_merge_state s = PHI_ZERO;
    if (status == PHI_BAD_ARG) {
        (void)snprintf(s.words, sizeof s.words, "extra%.200s", fault);
        phi__extra_refused(e, s.words);
        return;
    }
    if (status != PHI_OK || !phi__extra_head(e, &head)) {
        e->failed = true;
        return;
    }
    s.is_head = true;
    s.settings = e->codec->rules->settings;
    s.out = &e->scratch;
    phi__buf_clear(s.out);
    phi__extra_merge_object(&s, head, phi__str_trim(e->spec->extra));
    if (s.words[0] != '\0' && !s.out->failed) phi__extra_refused(e, s.words);
    e->count = 0;
    phi__encode_scratch(e);
}
