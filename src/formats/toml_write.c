/* toml_write.c - writes a tree as TOML: first the values of a table, then the tables in it. */
#include "base/base_in.h"
#include "formats/toml_in.h"

typedef struct phi__toml_writer {
    phi__buf *out;
    phi__buf path; /* path of the table being written, as in its header */
    uint32_t flags;
    phi_status status;
} phi__toml_writer;

enum { PHI__TOML_LINE_MOST = 80 }; /* max. bytes of an array that is written in one line */

/* Returns PHI_OK, PHI_NO_MEMORY, or the status with which a value was refused. */
static phi_status phi__toml_put_status(const phi__toml_writer *w) {
    if (w->status == PHI_OK && (w->out->failed || w->path.failed)) return PHI_NO_MEMORY;
    return w->status;
}

static void phi__toml_put_refuse(phi__toml_writer *w, phi_status status) {
    if (w->status == PHI_OK) w->status = status;
}

/* ---- strings ---- */

/* Writes a text in double quotes. If `lines` is set, writes it in three double quotes. */
static void phi__toml_put_basic(phi__buf *out, phi_str s, bool lines) {
    static const char from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";
    const char *at = s.at, *end = s.at + s.len;
    bool quoted = false; /* the last character is an unescaped quote */
    phi__buf_text(out, lines ? "\"\"\"\n" : "\"");
    while (at < end) {
        const char *run = at;
        while (run < end && (unsigned char)*run - 0x20u < 0x5fu && *run != '"' && *run != '\\')
            run++;
        if (run > at) {
            phi__buf_add(out, at, (size_t)(run - at));
            at = run;
            quoted = false;
            continue;
        }
        size_t n = phi__json_text_utf8(at, end);
        bool quote = lines && *at == '"' && !quoted && at + 1 < end;
        const char *found = *at == '\0' ? NULL : (const char *)memchr(from, *at, sizeof from - 1);
        if (n > 1)
            phi__buf_add(out, at, n);
        else if (n == 0) {
            n = phi__utf8_bad(at, end);
            phi__buf_text(out, "\xef\xbf\xbd");
        } else if ((lines && (*at == '\n' || *at == '\t')) || quote)
            phi__buf_char(out, *at);
        else if (found != NULL)
            phi__buf_printf(out, "\\%c", to[found - from]);
        else
            phi__buf_printf(out, "\\u%04x", (unsigned)(unsigned char)*at);
        quoted = quote;
        at += n;
    }
    phi__buf_text(out, lines ? "\"\"\"" : "\"");
}

/* Writes a text, in single quotes if that avoids escapes. */
static void phi__toml_put_text(phi__buf *out, phi_str s, bool lines) {
    bool literal = false;
    size_t i = 0;
    for (; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c < 0x20 || c >= 0x7f || c == '\'') break;
        literal = literal || c == '\\' || c == '"';
    }
    if (literal && i == s.len) {
        phi__buf_char(out, '\'');
        phi__buf_add_str(out, s);
        phi__buf_char(out, '\'');
    } else
        phi__toml_put_basic(out, s, lines && s.len > 0 && memchr(s.at, '\n', s.len) != NULL);
}

static void phi__toml_put_key(phi__buf *out, phi_str key) {
    size_t i = 0;
    while (i < key.len && phi__toml_is_bare(key.at[i])) i++;
    if (i == key.len && i > 0)
        phi__buf_add_str(out, key);
    else
        phi__toml_put_text(out, key, false);
}

/* ---- values ---- */

static void phi__toml_put_value(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                bool lines);

static bool phi__toml_put_skips(const phi__toml_writer *w, const phi_json *node) {
    return (w->flags & PHI_TOML_SKIP_NULLS) != 0 && phi__json_kind_of(node) == PHI__JSON_NULL;
}

/* Writes an array or an object in one line, or, if `lines` is set, an array in several. */
static void phi__toml_put_items(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                bool lines) {
    bool object = phi__json_kind_of(node) == PHI__JSON_OBJECT, first = true;
    phi_json_iter it = phi_json_each(node);
    phi__buf_text(w->out, object ? "{" : lines ? "[\n" : "[");
    while (phi_json_next(&it) != NULL && phi__toml_put_status(w) == PHI_OK) {
        if (object && phi__toml_put_skips(w, it.at)) continue;
        phi__buf_text(w->out, lines ? "    " : !first ? ", " : object ? " " : "");
        first = false;
        if (object) {
            phi__toml_put_key(w->out, it.key);
            phi__buf_text(w->out, " = ");
        }
        phi__toml_put_value(w, it.at, depth, false);
        if (lines) phi__buf_text(w->out, ",\n");
    }
    phi__buf_text(w->out, !object ? "]" : first ? "}" : " }");
}

static void phi__toml_put_container(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                    bool lines) {
    size_t from = w->out->len;
    if (depth >= PHI_JSON_MAX_DEPTH) {
        phi__toml_put_refuse(w, PHI_TOO_BIG);
        return;
    }
    phi__toml_put_items(w, node, depth + 1, false);
    if (!lines || w->out->failed || w->out->len - from <= PHI__TOML_LINE_MOST ||
        phi__json_kind_of(node) != PHI__JSON_ARRAY)
        return;
    w->out->len = from;
    phi__toml_put_items(w, node, depth + 1, true);
}

static void phi__toml_put_value(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                bool lines) {
    uint32_t kind = node == NULL ? (uint32_t)PHI__JSON_NULL : phi__json_kind_of(node);
    switch (kind) {
    case PHI__JSON_FALSE:
    case PHI__JSON_TRUE: phi__json_write_bool(w->out, kind == PHI__JSON_TRUE); break;
    case PHI__JSON_INT: phi__json_number_put_i64(w->out, node->v.i); break;
    case PHI__JSON_DOUBLE:
        if (node->v.d - node->v.d == 0)
            phi__json_number_put_double(w->out, node->v.d);
        else
            phi__buf_text(w->out, node->v.d > 0 ? "inf" : node->v.d < 0 ? "-inf" : "nan");
        break;
    case PHI__JSON_STRING:
        if (phi__json_form_of(node) != 0)
            phi__buf_add_str(w->out, phi__json_text_of(node));
        else
            phi__toml_put_text(w->out, phi__json_text_of(node), lines);
        break;
    case PHI__JSON_ARRAY:
    case PHI__JSON_OBJECT: phi__toml_put_container(w, node, depth, lines); break;
    default: phi__toml_put_refuse(w, PHI_UNSUPPORTED); break;
    }
}

/* ---- tables ---- */

static bool phi__toml_put_is_section(const phi_json *node) {
    return phi__json_kind_of(node) == PHI__JSON_OBJECT &&
           phi__json_form_of(node) != PHI__JSON_INLINE;
}

static bool phi__toml_put_has_header(const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    if (phi__json_kind_of(node) != PHI__JSON_ARRAY) return phi__toml_put_is_section(node);
    if (it.left == 0) return false;
    while (phi_json_next(&it) != NULL)
        if (!phi__toml_put_is_section(it.at)) return false;
    return true;
}

static void phi__toml_put_header(phi__toml_writer *w, bool list) {
    if (w->out->len > 0) phi__buf_char(w->out, '\n');
    phi__buf_text(w->out, list ? "[[" : "[");
    phi__buf_add_str(w->out, phi__buf_str(&w->path));
    phi__buf_text(w->out, list ? "]]\n" : "]\n");
}

static void phi__toml_put_member(phi__toml_writer *w, const phi_json *node, uint32_t depth);

/* Writes the values of a table, then the tables in it. Refuses tables deeper than
   PHI_JSON_MAX_DEPTH. */
static void phi__toml_put_table(phi__toml_writer *w, const phi_json *table, uint32_t depth) {
    phi_json_iter it = phi_json_each(table);
    if (depth > PHI_JSON_MAX_DEPTH) {
        phi__toml_put_refuse(w, PHI_TOO_BIG);
        return;
    }
    while (phi_json_next(&it) != NULL && phi__toml_put_status(w) == PHI_OK) {
        if (phi__toml_put_has_header(it.at) || phi__toml_put_skips(w, it.at)) continue;
        phi__toml_put_key(w->out, it.key);
        phi__buf_text(w->out, " = ");
        phi__toml_put_value(w, it.at, depth, true);
        phi__buf_char(w->out, '\n');
    }
    it = phi_json_each(table);
    while (phi_json_next(&it) != NULL && phi__toml_put_status(w) == PHI_OK)
        if (phi__toml_put_has_header(it.at)) phi__toml_put_member(w, it.at, depth);
}

/* Writes a member with its header or headers. w->path is the path of the table around it. */
static void phi__toml_put_member(phi__toml_writer *w, const phi_json *node, uint32_t depth) {
    size_t before = w->path.len;
    phi_json_iter it = phi_json_each(node);
    if (before > 0) phi__buf_char(&w->path, '.');
    phi__toml_put_key(&w->path, phi__toml_key_of(node));
    if (phi__json_kind_of(node) == PHI__JSON_OBJECT) {
        /* The headers of tables in this table may make its own header unnecessary. */
        bool implied = false, plain = false;
        while (!plain && phi_json_next(&it) != NULL) {
            if (phi__toml_put_has_header(it.at))
                implied = true;
            else
                plain = !phi__toml_put_skips(w, it.at);
        }
        if (plain || !implied) phi__toml_put_header(w, false);
        phi__toml_put_table(w, node, depth + 1);
    } else
        while (phi_json_next(&it) != NULL && phi__toml_put_status(w) == PHI_OK) {
            phi__toml_put_header(w, true);
            phi__toml_put_table(w, it.at, depth + 2);
        }
    w->path.len = before;
}

/* ---- public ---- */

PHI_API phi_status phi_toml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out) {
    phi__buf buf;
    if (arena == NULL || out == NULL || !phi_json_is(node, PHI_JSON_OBJECT)) return PHI_BAD_ARG;
    if ((flags & ~PHI_TOML_SKIP_NULLS) != 0) return PHI_BAD_ARG;
    phi__buf_init(&buf, arena->memory);
    phi__toml_writer w = PHI_ZERO;
    w.out = &buf;
    w.flags = flags;
    phi__buf_init(&w.path, arena->memory);
    phi__toml_put_table(&w, node, 1);
    phi_status status = phi__toml_put_status(&w);
    if (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&buf), out)) status = PHI_NO_MEMORY;
    phi__buf_free(&w.path);
    phi__buf_free(&buf);
    return status;
}
