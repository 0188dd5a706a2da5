/* styles.c - the values of parameters as text. */
#include "openapi/styles_in.h"

enum { PHI__STYLES_DEPTH = 16 }; /* of deepObject; deeper values are JSON text */

/* How pairs are joined, and their values escaped. */
typedef struct phi__styles {
    phi__buf *out;
    const char *between;
    phi__styles_escape how;
    phi_str name;
} phi__styles;

static bool phi__styles_keeps(unsigned char c, phi__styles_escape how) {
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return true;
    if (c == '\0') return how == PHI__ESCAPE_NONE;
    if (strchr("-._~", c) != NULL) return true;
    if (how == PHI__ESCAPE_RESERVED) return strchr(":/?@!$'()*,;", c) != NULL;
    if (how == PHI__ESCAPE_COOKIE) return c > 32 && c < 127 && strchr("\"%,;\\", c) == NULL;
    return how == PHI__ESCAPE_NONE;
}

PHI__FN void phi__styles_put_escaped(phi__buf *out, phi_str text, phi__styles_escape how) {
    static const char hex[] = "0123456789ABCDEF";
    size_t i, from = 0;
    for (i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        char code[3];
        if (phi__styles_keeps(c, how)) continue;
        phi__buf_add(out, text.at + from, i - from);
        code[0] = '%';
        code[1] = hex[c >> 4];
        code[2] = hex[c & 15];
        phi__buf_add(out, code, 3);
        from = i + 1;
    }
    phi__buf_add(out, text.at + from, text.len - from);
}

PHI__FN void phi__styles_put_value(phi__buf *out, const phi_json *value, phi__styles_escape how) {
    phi__buf text;
    if (phi_json_is(value, PHI_JSON_STRING)) {
        phi__styles_put_escaped(out, phi_json_str(value, NULL), how);
        return;
    }
    phi__buf_init(&text, out->memory);
    if (phi__json_write(&text, value, 0) != PHI_OK) text.failed = true;
    if (text.failed)
        out->failed = true;
    else
        phi__styles_put_escaped(out, phi__buf_str(&text), how);
    phi__buf_free(&text);
}

/* The items or members, each behind `first` or `between`, keys and values joined by `equals`. */
static void phi__styles_put_list(phi__buf *out, const phi_json *value, const char *between,
                                 const char *equals, phi__styles_escape how) {
    phi_json_iter it = phi_json_each(value);
    bool keys = phi_json_is(value, PHI_JSON_OBJECT), any = false;
    phi_json *child;
    while ((child = phi_json_next(&it)) != NULL) {
        if (phi_json_is(child, PHI_JSON_NULL)) continue;
        if (any) phi__buf_text(out, between);
        any = true;
        if (keys) {
            phi__styles_put_escaped(out, it.key, how);
            phi__buf_text(out, equals);
        }
        phi__styles_put_value(out, child, how);
    }
}

static bool phi__styles_is_list(const phi_json *value) {
    return phi_json_is(value, PHI_JSON_ARRAY) || phi_json_is(value, PHI_JSON_OBJECT);
}

static void phi__styles_put_simple(phi__buf *out, const phi_json *value, bool explode,
                                   phi__styles_escape how) {
    if (phi__styles_is_list(value))
        phi__styles_put_list(out, value, ",", explode ? "=" : ",", how);
    else
        phi__styles_put_value(out, value, how);
}

/* ---- paths ---- */

static void phi__styles_put_label(phi__buf *out, const phi_json *value, bool explode) {
    phi__buf_char(out, '.');
    if (phi__styles_is_list(value))
        phi__styles_put_list(out, value, explode ? "." : ",", explode ? "=" : ",", PHI__ESCAPE_ALL);
    else
        phi__styles_put_value(out, value, PHI__ESCAPE_ALL);
}

static void phi__styles_limit(phi__buf *out) {
    if (out->len > PHI__STYLES_MOST) out->failed = true;
}

static void phi__styles_put_matrix_one(phi__buf *out, phi_str name, const phi_json *value) {
    phi__styles_limit(out);
    phi__buf_char(out, ';');
    phi__styles_put_escaped(out, name, PHI__ESCAPE_ALL);
    if (phi_json_is(value, PHI_JSON_STRING) && phi_json_str(value, NULL).len == 0) return;
    phi__buf_char(out, '=');
    phi__styles_put_value(out, value, PHI__ESCAPE_ALL);
}

static void phi__styles_put_matrix(phi__buf *out, phi_str name, const phi_json *value,
                                   bool explode) {
    bool keys = phi_json_is(value, PHI_JSON_OBJECT);
    phi_json_iter it = phi_json_each(value);
    phi_json *child;
    if (!phi__styles_is_list(value)) {
        phi__styles_put_matrix_one(out, name, value);
    } else if (!explode) {
        phi__buf_char(out, ';');
        phi__styles_put_escaped(out, name, PHI__ESCAPE_ALL);
        if (phi_json_count(value) == 0) return;
        phi__buf_char(out, '=');
        phi__styles_put_list(out, value, ",", ",", PHI__ESCAPE_ALL);
    } else {
        while (!out->failed && (child = phi_json_next(&it)) != NULL)
            if (!phi_json_is(child, PHI_JSON_NULL))
                phi__styles_put_matrix_one(out, keys ? it.key : name, child);
    }
}

PHI__FN void phi__styles_put_path(phi__buf *out, const phi__operation_parameter *p,
                                  const phi_json *value) {
    if (p->content_type.len > 0)
        phi__styles_put_value(out, value, PHI__ESCAPE_ALL);
    else if (p->style == PHI__STYLE_LABEL)
        phi__styles_put_label(out, value, p->explode);
    else if (p->style == PHI__STYLE_MATRIX)
        phi__styles_put_matrix(out, p->name, value, p->explode);
    else
        phi__styles_put_simple(out, value, p->explode, PHI__ESCAPE_ALL);
}

PHI__FN void phi__styles_put_header(phi__buf *out, const phi__operation_parameter *p,
                                    const phi_json *value) {
    if (p->content_type.len > 0)
        phi__styles_put_value(out, value, PHI__ESCAPE_NONE);
    else
        phi__styles_put_simple(out, value, p->explode, PHI__ESCAPE_NONE);
}

/* ---- pairs ---- */

static void phi__styles_put_name(const phi__styles *s, phi_str name) {
    phi__styles_limit(s->out);
    if (s->out->len > 0) phi__buf_text(s->out, s->between);
    phi__styles_put_escaped(s->out, name, PHI__ESCAPE_ALL);
    phi__buf_char(s->out, '=');
}

static void phi__styles_put_pair(const phi__styles *s, phi_str name, const phi_json *value) {
    phi__styles_put_name(s, name);
    phi__styles_put_value(s->out, value, s->how);
}

static void phi__styles_put_exploded(const phi__styles *s, const phi_json *value) {
    bool keys = phi_json_is(value, PHI_JSON_OBJECT);
    phi_json_iter it = phi_json_each(value);
    phi_json *child;
    while (!s->out->failed && (child = phi_json_next(&it)) != NULL)
        if (!phi_json_is(child, PHI_JSON_NULL))
            phi__styles_put_pair(s, keys ? it.key : s->name, child);
}

/* name: grows and shrinks with the way down. */
static void phi__styles_put_deep(const phi__styles *s, phi__buf *name, const phi_json *value,
                                 int depth) {
    phi_json_iter it = phi_json_each(value);
    size_t len = name->len, index = 0;
    phi_json *child;
    if (phi_json_is(value, PHI_JSON_NULL)) return;
    if (!phi__styles_is_list(value) || depth >= PHI__STYLES_DEPTH) {
        phi__styles_put_pair(s, phi__buf_str(name), value);
        return;
    }
    while ((child = phi_json_next(&it)) != NULL) {
        phi__buf_char(name, '[');
        if (phi_json_is(value, PHI_JSON_ARRAY))
            phi__buf_u64(name, index++);
        else
            phi__buf_add_str(name, it.key);
        phi__buf_char(name, ']');
        if (name->failed || s->out->failed) return;
        phi__styles_put_deep(s, name, child, depth + 1);
        name->len = len;
    }
}

static void phi__styles_put_deep_all(const phi__styles *s, const phi_json *value) {
    phi__buf name;
    phi__buf_init(&name, s->out->memory);
    phi__buf_add_str(&name, s->name);
    if (!name.failed) phi__styles_put_deep(s, &name, value, 0);
    if (name.failed) s->out->failed = true;
    phi__buf_free(&name);
}

static void phi__styles_put_joined(const phi__styles *s, const phi_json *value,
                                   const char *between) {
    if (phi_json_count(value) == 0) return;
    phi__styles_put_name(s, s->name);
    phi__styles_put_list(s->out, value, between, between, s->how);
}

PHI__FN void phi__styles_put_pairs(phi__buf *out, const phi__operation_parameter *p,
                                   const phi_json *value) {
    bool cookie = p->place == PHI__OPERATION_COOKIE;
    phi__styles s;
    s.out = out;
    s.between = cookie ? "; " : "&";
    s.how = cookie              ? PHI__ESCAPE_COOKIE
            : p->allow_reserved ? PHI__ESCAPE_RESERVED
                                : PHI__ESCAPE_ALL;
    s.name = p->name;
    if (p->content_type.len > 0 || !phi__styles_is_list(value))
        phi__styles_put_pair(&s, p->name, value);
    else if (p->style == PHI__STYLE_DEEP)
        phi__styles_put_deep_all(&s, value);
    else if (p->explode)
        phi__styles_put_exploded(&s, value);
    else
        phi__styles_put_joined(&s, value,
                               p->style == PHI__STYLE_SPACE  ? "%20"
                               : p->style == PHI__STYLE_PIPE ? "%7C"
                                                             : ",");
}
