/* toml_write.c - a tree as TOML: first the values of a table, then the tables in it. */
#include "base/base_in.h"
#include "formats/toml_in.h"

enum { PHI__TOML_LINE_MOST = 80 }; /* bytes of an array that is written in one line */

PHI__FN void phi__toml_write_init(phi__toml_writer *w, phi__buf *out, uint32_t flags) {
    memset(w, 0, sizeof *w);
    w->out = out;
    w->flags = flags;
    phi__buf_init(&w->path, out->memory);
}

PHI__FN void phi__toml_write_free(phi__toml_writer *w) { phi__buf_free(&w->path); }

PHI__FN phi_status phi__toml_write_status(const phi__toml_writer *w) {
    if (w->status == PHI_OK && (w->out->failed || w->path.failed)) return PHI_NO_MEMORY;
    return w->status;
}

static void phi__toml_write_refuse(phi__toml_writer *w, phi_status status) {
    if (w->status == PHI_OK) w->status = status;
}

/* ---- strings ---- */

static void phi__toml_write_control(phi__buf *out, char c) {
    static const char from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";
    const char *found = c == '\0' ? NULL : (const char *)memchr(from, c, sizeof from - 1);
    if (found != NULL) {
        phi__buf_char(out, '\\');
        phi__buf_char(out, to[found - from]);
    } else
        phi__buf_printf(out, "\\u%04x", (unsigned)(unsigned char)c);
}

/* Past the bytes that stand for themselves. */
static const char *phi__toml_write_run(const char *at, const char *end) {
    while (at < end && (unsigned char)*at - 0x20u < 0x5fu && *at != '"' && *at != '\\') at++;
    return at;
}

/* In double quotes; of several lines, in three of them. */
static void phi__toml_write_basic(phi__buf *out, phi_str s, bool lines) {
    const char *at = s.at, *end = s.at + s.len;
    bool quoted = false; /* a quote stands for itself before this */
    phi__buf_text(out, lines ? "\"\"\"\n" : "\"");
    while (at < end) {
        const char *run = phi__toml_write_run(at, end);
        if (run > at) {
            phi__buf_add(out, at, (size_t)(run - at));
            at = run;
            quoted = false;
            continue;
        }
        size_t n = phi__json_text_utf8(at, end);
        if (n > 1)
            phi__buf_add(out, at, n);
        else if (n == 0) {
            n = phi__utf8_bad(at, end);
            phi__buf_text(out, "\xef\xbf\xbd");
        } else if (lines && (*at == '\n' || *at == '\t' || (*at == '"' && !quoted && at + 1 < end)))
            phi__buf_char(out, *at);
        else
            phi__toml_write_control(out, *at);
        quoted = lines && *at == '"' && !quoted && at + 1 < end;
        at += n;
    }
    phi__buf_text(out, lines ? "\"\"\"" : "\"");
}

/* Whether single quotes are better: nothing then needs an escape. */
static bool phi__toml_write_is_literal(phi_str s) {
    bool special = false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c < 0x20 || c >= 0x7f || c == '\'') return false;
        special = special || c == '\\' || c == '"';
    }
    return special;
}

static void phi__toml_write_text(phi__buf *out, phi_str s, bool lines) {
    if (phi__toml_write_is_literal(s)) {
        phi__buf_char(out, '\'');
        phi__buf_add_str(out, s);
        phi__buf_char(out, '\'');
    } else
        phi__toml_write_basic(out, s, lines && s.len > 0 && memchr(s.at, '\n', s.len) != NULL);
}

PHI__FN void phi__toml_write_key(phi__buf *out, phi_str key) {
    size_t i = 0;
    while (i < key.len && phi__toml_is_bare(key.at[i])) i++;
    if (i == key.len && i > 0)
        phi__buf_add_str(out, key);
    else
        phi__toml_write_text(out, key, false);
}

/* ---- values ---- */

static void phi__toml_write_double(phi__buf *out, double d) {
    if (d - d == 0)
        phi__json_number_put_double(out, d);
    else
        phi__buf_text(out, d > 0 ? "inf" : d < 0 ? "-inf" : "nan");
}

static phi_str phi__toml_write_key_of(const phi_json *node) {
    return phi__str(node->key, phi__json_key_len(node));
}

PHI__FN bool phi__toml_write_skips(const phi__toml_writer *w, const phi_json *node) {
    return (w->flags & PHI_TOML_SKIP_NULLS) != 0 && phi__json_kind_of(node) == PHI__JSON_NULL;
}

/* Of an array or an object, in one line. */
static void phi__toml_write_items(phi__toml_writer *w, const phi_json *node, uint32_t depth) {
    bool object = phi__json_kind_of(node) == PHI__JSON_OBJECT, first = true;
    phi_json_iter it = phi_json_each(node);
    phi__buf_char(w->out, object ? '{' : '[');
    while (phi_json_next(&it) != NULL && phi__toml_write_status(w) == PHI_OK) {
        if (object && phi__toml_write_skips(w, it.at)) continue;
        phi__buf_text(w->out, first ? (object ? " " : "") : ", ");
        first = false;
        if (object) {
            phi__toml_write_key(w->out, it.key);
            phi__buf_text(w->out, " = ");
        }
        phi__toml_write_value(w, it.at, depth, false);
    }
    phi__buf_text(w->out, object ? (first ? "}" : " }") : "]");
}

/* An array whose items take a line each. */
static void phi__toml_write_lines(phi__toml_writer *w, const phi_json *node, uint32_t depth) {
    phi_json_iter it = phi_json_each(node);
    phi__buf_text(w->out, "[\n");
    while (phi_json_next(&it) != NULL && phi__toml_write_status(w) == PHI_OK) {
        phi__buf_text(w->out, "    ");
        phi__toml_write_value(w, it.at, depth, false);
        phi__buf_text(w->out, ",\n");
    }
    phi__buf_char(w->out, ']');
}

static void phi__toml_write_container(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                      bool lines) {
    size_t from = w->out->len;
    if (depth >= PHI_JSON_MAX_DEPTH) {
        phi__toml_write_refuse(w, PHI_TOO_BIG);
        return;
    }
    phi__toml_write_items(w, node, depth + 1);
    if (!lines || w->out->failed || w->out->len - from <= PHI__TOML_LINE_MOST ||
        phi__json_kind_of(node) != PHI__JSON_ARRAY)
        return;
    w->out->len = from;
    phi__toml_write_lines(w, node, depth + 1);
}

PHI__FN void phi__toml_write_value(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                   bool lines) {
    uint32_t kind = node == NULL ? (uint32_t)PHI__JSON_NULL : phi__json_kind_of(node);
    switch (kind) {
    case PHI__JSON_FALSE:
    case PHI__JSON_TRUE: phi__json_write_bool(w->out, kind == PHI__JSON_TRUE); break;
    case PHI__JSON_INT: phi__json_number_put_i64(w->out, node->v.i); break;
    case PHI__JSON_DOUBLE: phi__toml_write_double(w->out, node->v.d); break;
    case PHI__JSON_STRING:
        if (phi__json_form_of(node) != 0)
            phi__buf_add_str(w->out, phi__json_text_of(node));
        else
            phi__toml_write_text(w->out, phi__json_text_of(node), lines);
        break;
    case PHI__JSON_ARRAY:
    case PHI__JSON_OBJECT: phi__toml_write_container(w, node, depth, lines); break;
    default: phi__toml_write_refuse(w, PHI_UNSUPPORTED); break;
    }
}

/* ---- tables ---- */

static bool phi__toml_write_is_section(const phi_json *node) {
    return phi__json_kind_of(node) == PHI__JSON_OBJECT &&
           phi__json_form_of(node) != PHI__JSON_INLINE;
}

PHI__FN bool phi__toml_write_has_header(const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    if (phi__json_kind_of(node) != PHI__JSON_ARRAY) return phi__toml_write_is_section(node);
    if (it.left == 0) return false;
    while (phi_json_next(&it) != NULL)
        if (!phi__toml_write_is_section(it.at)) return false;
    return true;
}

PHI__FN size_t phi__toml_write_push(phi__toml_writer *w, phi_str key) {
    size_t len = w->path.len;
    if (len > 0) phi__buf_char(&w->path, '.');
    phi__toml_write_key(&w->path, key);
    return len;
}

PHI__FN void phi__toml_write_pop(phi__toml_writer *w, size_t len) { w->path.len = len; }

PHI__FN void phi__toml_write_header(phi__toml_writer *w, bool list) {
    if (w->apart || w->out->len > 0) phi__buf_char(w->out, '\n');
    phi__buf_text(w->out, list ? "[[" : "[");
    phi__buf_add_str(w->out, phi__buf_str(&w->path));
    phi__buf_text(w->out, list ? "]]\n" : "]\n");
}

/* The values of a table, and then the tables in it. Deeper than PHI_JSON_MAX_DEPTH it stops. */
static void phi__toml_write_table(phi__toml_writer *w, const phi_json *table, uint32_t depth) {
    phi_json_iter it = phi_json_each(table);
    if (depth > PHI_JSON_MAX_DEPTH) {
        phi__toml_write_refuse(w, PHI_TOO_BIG);
        return;
    }
    while (phi_json_next(&it) != NULL && phi__toml_write_status(w) == PHI_OK) {
        if (phi__toml_write_has_header(it.at) || phi__toml_write_skips(w, it.at)) continue;
        phi__toml_write_key(w->out, it.key);
        phi__buf_text(w->out, " = ");
        phi__toml_write_value(w, it.at, depth, true);
        phi__buf_char(w->out, '\n');
    }
    it = phi_json_each(table);
    while (phi_json_next(&it) != NULL && phi__toml_write_status(w) == PHI_OK)
        if (phi__toml_write_has_header(it.at)) phi__toml_write_member(w, it.at, depth);
}

/* A table needs no header where the headers of the tables in it say all. */
static bool phi__toml_write_is_implied(const phi__toml_writer *w, const phi_json *table) {
    phi_json_iter it = phi_json_each(table);
    bool implied = false;
    while (phi_json_next(&it) != NULL) {
        if (phi__toml_write_has_header(it.at))
            implied = true;
        else if (!phi__toml_write_skips(w, it.at))
            return false;
    }
    return implied;
}

PHI__FN void phi__toml_write_item(phi__toml_writer *w, const phi_json *node, uint32_t depth) {
    phi__toml_write_header(w, true);
    phi__toml_write_table(w, node, depth);
}

PHI__FN void phi__toml_write_member(phi__toml_writer *w, const phi_json *node, uint32_t depth) {
    size_t before = phi__toml_write_push(w, phi__toml_write_key_of(node));
    phi_json_iter it = phi_json_each(node);
    if (phi__json_kind_of(node) == PHI__JSON_OBJECT) {
        if (!phi__toml_write_is_implied(w, node)) phi__toml_write_header(w, false);
        phi__toml_write_table(w, node, depth + 1);
    } else {
        while (phi_json_next(&it) != NULL && phi__toml_write_status(w) == PHI_OK)
            phi__toml_write_item(w, it.at, depth + 2);
    }
    phi__toml_write_pop(w, before);
}

/* ---- public ---- */

PHI_API phi_status phi_toml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out) {
    phi__toml_writer w;
    phi__buf buf;
    if (arena == NULL || out == NULL || !phi_json_is(node, PHI_JSON_OBJECT)) return PHI_BAD_ARG;
    if ((flags & ~PHI_TOML_SKIP_NULLS) != 0) return PHI_BAD_ARG;
    phi__buf_init(&buf, arena->memory);
    phi__toml_write_init(&w, &buf, flags);
    phi__toml_write_table(&w, node, 1);
    phi_status status = phi__toml_write_status(&w);
    if (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&buf), out)) status = PHI_NO_MEMORY;
    phi__toml_write_free(&w);
    phi__buf_free(&buf);
    return status;
}
