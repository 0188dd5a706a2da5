/* yaml_write.c - writes a tree as YAML in block style.

   Readers of YAML 1.1 get the same tree. Texts that YAML 1.1 takes for booleans, dates or
   numbers are quoted, and so are all texts that do not begin like a word. */
#include "base/base_in.h"
#include "formats/yaml_in.h"

#define PHI__YAML_SIMPLE_KEY 1000u /* bytes; YAML ends keys without "? " at 1024 characters */

/* An open collection. */
typedef struct phi__yaml_level {
    const phi_json *child; /* the child to write next */
    uint32_t left, indent;
    bool object;
} phi__yaml_level;

typedef struct phi__yaml_writer {
    phi__buf out;
    phi__yaml_level *levels;
    size_t depth, cap;
    phi_status status;
} phi__yaml_writer;

/* ---- scalars ---- */

/* The properties of a text that decide its style. */
typedef struct phi__yaml_look {
    bool breaks; /* has line feeds */
    bool odd;    /* has characters that need an escape */
    bool colon;  /* has a ":" or "#" that would end plain text, or a space at either end */
} phi__yaml_look;

/* True if readers refuse the character, or take it for a line break. */
static bool phi__yaml_write_is_odd(const char *at, size_t n) {
    const unsigned char *p = (const unsigned char *)at;
    if (n == 0) return true;
    if (n == 1) return (p[0] < 0x20 && p[0] != '\n') || p[0] == 0x7f;
    if (n == 2) return p[0] == 0xc2 && p[1] < 0xa0;
    if (n > 3) return false;
    if (p[0] == 0xe2) return p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9);
    return p[0] == 0xef && ((p[1] == 0xbb && p[2] == 0xbf) || (p[1] == 0xbf && p[2] >= 0xbe));
}

static phi__yaml_look phi__yaml_write_look(phi_str s) {
    const char *at = s.at, *end = s.at + s.len;
    phi__yaml_look look = PHI_ZERO;
    if (s.len > 0) look.colon = s.at[0] == ' ' || end[-1] == ' ' || end[-1] == ':';
    while (at < end && !look.odd) {
        size_t n = phi__json_text_utf8(at, end);
        look.odd = phi__yaml_write_is_odd(at, n);
        look.breaks = look.breaks || *at == '\n';
        look.colon = look.colon || (*at == ' ' && at > s.at && at[-1] == ':') ||
                     (*at == '#' && at > s.at && at[-1] == ' ');
        at += n;
    }
    return look;
}

/* True for words that a reader may take for null or a boolean, in any case. */
static bool phi__yaml_write_is_word(phi_str s) {
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    for (size_t i = 0; i < PHI__COUNT(words); i++)
        if (phi__str_is_nocase(s, words[i])) return true;
    return false;
}

static bool phi__yaml_write_is_plain(phi_str s, phi__yaml_look look) {
    char c = s.len > 0 ? s.at[0] : ' ';
    if (look.breaks || look.odd || look.colon) return false;
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80 ||
          memchr("_/$(", c, 4) != NULL))
        return false;
    return !phi__yaml_write_is_word(s);
}

static void phi__yaml_write_quoted(phi__buf *out, phi_str s) {
    const char *at = s.at, *from = at, *end = s.at + s.len;
    phi__buf_char(out, '"');
    while (at < end) {
        size_t n = phi__json_text_utf8(at, end);
        if (n == 0) { /* the writer of JSON replaces such bytes */
            at += phi__utf8_bad(at, end);
            continue;
        }
        if ((n > 1 || *at == 0x7f) && phi__yaml_write_is_odd(at, n)) {
            const unsigned char *p = (const unsigned char *)at;
            unsigned code = n == 1   ? p[0]
                            : n == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
                                     : (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
            phi__json_write_part(out, phi__str(from, (size_t)(at - from)));
            phi__buf_printf(out, "\\u%04x", code);
            from = at + n;
        }
        at += n;
    }
    phi__json_write_part(out, phi__str(from, (size_t)(at - from)));
    phi__buf_char(out, '"');
}

static void phi__yaml_write_spaces(phi__buf *out, size_t count) {
    char *to = phi__buf_reserve(out, count);
    if (to == NULL) return;
    memset(to, ' ', count);
    phi__buf_add_len(out, count);
}

static void phi__yaml_write_text(phi__buf *out, phi_str s, uint32_t indent, bool is_key) {
    phi__yaml_look look = phi__yaml_write_look(s);
    bool begins = s.len > 0 && s.at[0] != '\n' && s.at[0] != ' ';
    if (phi__yaml_write_is_plain(s, look))
        phi__buf_add_str(out, s);
    else if (look.breaks && !look.odd && begins && !is_key) {
        /* Write a literal block without its last line break. */
        size_t from = 0, to, end = s.len;
        while (end > 0 && s.at[end - 1] == '\n') end--;
        phi__buf_text(out, end == s.len ? "|-" : end + 1 == s.len ? "|" : "|+");
        while (from < end) {
            const char *at = (const char *)memchr(s.at + from, '\n', end - from);
            to = at == NULL ? end : (size_t)(at - s.at);
            phi__buf_char(out, '\n');
            if (to > from) phi__yaml_write_spaces(out, indent);
            phi__buf_add(out, s.at + from, to - from);
            from = to + 1;
        }
        for (to = end + 1; to < s.len; to++) phi__buf_char(out, '\n');
    } else
        phi__yaml_write_quoted(out, s);
}

/* Writes a number with a point and a signed exponent, which all readers take for a number. */
static void phi__yaml_write_double(phi__buf *out, double d) {
    char text[32];
    size_t e;
    if (!(d - d == 0)) { /* not finite; pcc has no isinf */
        phi__buf_text(out, d > 0 ? ".inf" : d < 0 ? "-.inf" : ".nan");
        return;
    }
    size_t n = phi__json_number_double_text(d, text);
    for (e = 0; e < n && text[e] != 'e'; e++) continue;
    phi__buf_add(out, text, e);
    if (memchr(text, '.', e) == NULL) phi__buf_text(out, ".0");
    if (e == n) return;
    phi__buf_text(out, text[e + 1] == '-' ? "e" : "e+");
    phi__buf_add(out, text + e + 1, n - e - 1);
}

static void phi__yaml_write_scalar(phi__buf *out, const phi_json *node, uint32_t indent) {
    switch (phi__json_kind_of(node)) {
    case PHI__JSON_FALSE: phi__buf_text(out, "false"); break;
    case PHI__JSON_TRUE: phi__buf_text(out, "true"); break;
    case PHI__JSON_INT: phi__json_number_put_i64(out, node->v.i); break;
    case PHI__JSON_UINT: phi__json_number_put_u64(out, node->v.u); break;
    case PHI__JSON_DOUBLE: phi__yaml_write_double(out, node->v.d); break;
    case PHI__JSON_STRING: phi__yaml_write_text(out, phi__json_text_of(node), indent, false); break;
    case PHI__JSON_ARRAY: phi__buf_text(out, "[]"); break;
    case PHI__JSON_OBJECT: phi__buf_text(out, "{}"); break;
    default: phi__buf_text(out, "null"); break;
    }
}

/* ---- collections ---- */

static bool phi__yaml_write_is_filled(const phi_json *node) {
    return node != NULL && phi__json_kind_of(node) >= PHI__JSON_ARRAY && node->len > 0;
}

static void phi__yaml_write_open(phi__yaml_writer *w, const phi_json *node, uint32_t indent) {
    phi__yaml_level *levels = w->levels;
    if (w->depth == PHI_JSON_MAX_DEPTH) {
        w->status = PHI_TOO_BIG;
        return;
    }
    if (w->depth == w->cap)
        levels = (phi__yaml_level *)phi__grow(w->out.memory, levels, &w->cap, w->depth + 1,
                                              sizeof *levels);
    if (levels == NULL) {
        w->status = PHI_NO_MEMORY;
        return;
    }
    w->levels = levels;
    levels += w->depth++;
    levels->child = node->v.last->next;
    levels->left = node->len;
    levels->indent = indent;
    levels->object = phi__json_kind_of(node) == PHI__JSON_OBJECT;
}

/* Writes a value after "key:" or "- ". After "key:", a value with items begins on a new line; after
   "- ", on the same line. */
static void phi__yaml_write_value(phi__yaml_writer *w, const phi_json *node, uint32_t indent,
                                  bool compact) {
    if (!phi__yaml_write_is_filled(node)) {
        phi__buf_char(&w->out, ' ');
        phi__yaml_write_scalar(&w->out, node, indent + 2);
        phi__buf_char(&w->out, '\n');
        return;
    }
    phi__buf_char(&w->out, compact ? ' ' : '\n');
    if (!compact) phi__yaml_write_spaces(&w->out, indent + 2);
    phi__yaml_write_open(w, node, indent + 2);
}

/* Writes the next child of the innermost collection. The first child's line is indented already. */
static void phi__yaml_write_next(phi__yaml_writer *w, bool first) {
    phi__yaml_level *level = &w->levels[w->depth - 1];
    const phi_json *node = level->child;
    uint32_t indent = level->indent;
    if (level->left == 0) {
        w->depth--;
        return;
    }
    if (!first) phi__yaml_write_spaces(&w->out, indent);
    level->left--;
    level->child = node->next;
    if (level->object) {
        phi_str key = phi__str(node->key, phi__json_key_len(node));
        bool simple = key.len <= PHI__YAML_SIMPLE_KEY;
        if (!simple) phi__buf_text(&w->out, "? ");
        phi__yaml_write_text(&w->out, key.len > 0 ? key : phi__str("", 0), indent, true);
        if (!simple) {
            phi__buf_char(&w->out, '\n');
            phi__yaml_write_spaces(&w->out, indent);
        }
        phi__buf_char(&w->out, ':');
        phi__yaml_write_value(w, node, indent, !simple);
    } else {
        phi__buf_char(&w->out, '-');
        phi__yaml_write_value(w, node, indent, true);
    }
}

static void phi__yaml_write_all(phi__yaml_writer *w, const phi_json *node) {
    size_t depth = 0;
    if (!phi__yaml_write_is_filled(node)) {
        if (node == NULL)
            phi__buf_text(&w->out, "null");
        else
            phi__yaml_write_scalar(&w->out, node, 2);
        phi__buf_char(&w->out, '\n');
        return;
    }
    phi__yaml_write_open(w, node, 0);
    while (w->depth > 0 && w->status == PHI_OK && !w->out.failed) {
        bool first = w->depth > depth;
        depth = w->depth;
        phi__yaml_write_next(w, first);
    }
}

/* ---- public ---- */

PHI_API phi_status phi_yaml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out) {
    if (arena == NULL || out == NULL || flags != 0) return PHI_BAD_ARG;
    phi__yaml_writer w = PHI_ZERO;
    phi__buf_init(&w.out, arena->memory);
    phi__yaml_write_all(&w, node);
    if (w.status == PHI_OK && w.out.failed) w.status = PHI_NO_MEMORY;
    if (w.status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&w.out), out))
        w.status = PHI_NO_MEMORY;
    phi__free(arena->memory, w.levels, w.cap * sizeof *w.levels);
    phi__buf_free(&w.out);
    return w.status;
}
