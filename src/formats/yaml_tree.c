/* yaml_tree.c - the tree of YAML: open collections, values, keys, anchors, aliases, tags. */
#include "base/base_in.h"
#include "formats/yaml_in.h"
#include "text/text_in.h"

#include <math.h>
#include <stdio.h>

/* ---- errors ---- */

static bool phi__yaml_fail(phi__yaml_reader *r, const char *at, phi_status status,
                           const char *message) {
    if (r->status != PHI_BUSY) return false;
    r->status = r->error.status = status;
    r->error.line = r->line;
    r->error.column = at >= r->line_at ? phi__yaml_column(r, at) + 1 : 1;
    r->error.offset = (size_t)(at - r->text);
    (void)snprintf(r->error.message, sizeof r->error.message, "%s", message);
    return false;
}

PHI__FN bool phi__yaml_expected(phi__yaml_reader *r, const char *at, const char *what) {
    char message[sizeof r->error.message];
    bool is_break = at < r->end && phi__yaml_is_break(*at);
    phi__reader_found(message, sizeof message, what, at, r->end, is_break);
    return phi__yaml_fail(r, at, PHI_PARSE, message);
}

PHI__FN bool phi__yaml_wrong(phi__yaml_reader *r, const char *at, const char *what) {
    return phi__yaml_fail(r, at, PHI_PARSE, what);
}

/* Records an error at another line than the current one. `column` counts from 0. */
static bool phi__yaml_wrong_at(phi__yaml_reader *r, const char *at, uint32_t line, uint32_t column,
                               const char *what) {
    if (r->status != PHI_BUSY) return false;
    (void)phi__yaml_fail(r, at, PHI_PARSE, what);
    r->error.line = line;
    r->error.column = column + 1;
    return false;
}

PHI__FN bool phi__yaml_too_big(phi__yaml_reader *r, const char *what) {
    return phi__yaml_fail(r, r->at, PHI_TOO_BIG, what);
}

static bool phi__yaml_no_memory(phi__yaml_reader *r) {
    return phi__yaml_fail(r, r->at, PHI_NO_MEMORY, "no memory for the tree");
}

/* ---- characters ---- */

/* True for characters that are no text: the control characters from U+0080 on except U+0085, the
   byte order mark U+FEFF, and U+FFFE and U+FFFF. */
static bool phi__yaml_is_unprintable(const unsigned char *p, size_t n) {
    if (n == 2) return p[0] == 0xc2 && p[1] < 0xa0 && p[1] != 0x85;
    return n == 3 && p[0] == 0xef &&
           ((p[1] == 0xbb && p[2] == 0xbf) || (p[1] == 0xbf && p[2] >= 0xbe));
}

PHI__FN size_t phi__yaml_char(phi__yaml_reader *r, const char *at, bool quoted) {
    unsigned char c = (unsigned char)*at;
    if (c == '\t' || (c >= 0x20 && c < 0x7f) || (c == 0x7f && quoted)) return 1;
    if (c < 0x80) {
        phi__yaml_wrong(
            r, at,
            quoted ? "a control character in a string must be an escape of a double-quoted one"
                   : "a control character, which YAML does not allow");
        return 0;
    }
    size_t n = phi__json_text_utf8(at, r->end);
    if (n == 0)
        phi__yaml_wrong(r, at, "a byte that is not UTF-8");
    else if (!quoted && phi__yaml_is_unprintable((const unsigned char *)at, n)) {
        phi__yaml_wrong(r, at,
                        "a character that is not text (or a byte order mark) must be an escape of "
                        "a double-quoted string");
        return 0;
    }
    return n;
}

/* ---- room ---- */

PHI__FN bool phi__yaml_room(phi__yaml_reader *r, size_t more) {
    /* two bytes of the source can become three bytes of text */
    return phi__pool_room(&r->pool, r->arena, &r->scalar.text, &r->scalar.to, more,
                          (size_t)(r->end - r->at) * 3 / 2) ||
           phi__yaml_no_memory(r);
}

PHI__FN bool phi__yaml_add(phi__yaml_reader *r, const char *at, size_t len) {
    if (!phi__yaml_room(r, len)) return false;
    if (len > 0) memcpy(r->scalar.to, at, len);
    r->scalar.to += len;
    return true;
}

/* Ends the scalar's text, which is then in scalar.string and scalar.len. */
static void phi__yaml_end(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    if (s->text == NULL && !phi__yaml_add(r, s->mark, (size_t)(s->last - s->mark))) return;
    *s->to = '\0';
    s->string = s->text;
    s->len = (size_t)(s->to - s->text);
    r->pool.text = s->to + 1;
}

/* ---- the core schema of YAML 1.2.2, chapter 10.3: the value of a scalar's text ---- */

#define PHI__YAML_TOO_LARGE UINT32_MAX /* replaces the kind if the number is too large */
#define PHI__YAML_NUMBER_MOST 1024u /* max. bytes of a number in a form that JSON does not have */

static bool phi__yaml_core_is_one_of(phi_str s, const char *lower, const char *title,
                                     const char *upper) {
    return phi__str_is(s, lower) || phi__str_is(s, title) || phi__str_is(s, upper);
}

/* Returns the index after the digits that begin at index i. */
static size_t phi__yaml_core_digits(phi_str s, size_t i) {
    while (i < s.len && s.at[i] >= '0' && s.at[i] <= '9') i++;
    return i;
}

/* The parts of a decimal number: [sign] whole [. fraction] [exponent]. */
typedef struct phi__yaml_decimal {
    size_t whole, point, fraction, exponent; /* index at which each part begins, or would begin */
} phi__yaml_decimal;

static bool phi__yaml_core_parts(phi_str s, phi__yaml_decimal *d) {
    size_t i = s.len > 0 && (s.at[0] == '+' || s.at[0] == '-') ? 1 : 0;
    d->whole = i;
    d->point = phi__yaml_core_digits(s, i);
    d->fraction = d->point;
    if (d->point < s.len && s.at[d->point] == '.') d->fraction++;
    d->exponent = phi__yaml_core_digits(s, d->fraction);
    if (d->point == d->whole && d->exponent == d->fraction) return false;
    if (d->point == d->fraction && d->exponent != d->point) return false;
    if (d->exponent == s.len) return true;
    i = d->exponent;
    if (s.at[i] != 'e' && s.at[i] != 'E') return false;
    i++;
    if (i < s.len && (s.at[i] == '+' || s.at[i] == '-')) i++;
    size_t end = phi__yaml_core_digits(s, i);
    return end > i && end == s.len;
}

/* Reads the number in JSON's form: no plus, no leading zeros, digits around the point. */
static uint32_t phi__yaml_core_rewritten(phi_str s, const phi__yaml_decimal *d,
                                         phi__json_value *value) {
    char text[PHI__YAML_NUMBER_MOST + 8];
    phi__json_number number;
    const char *bad;
    size_t n = 0, from = d->whole;
    if (s.len > PHI__YAML_NUMBER_MOST) return PHI__YAML_TOO_LARGE;
    while (from + 1 < d->point && s.at[from] == '0') from++;
    if (s.at[0] == '-') text[n++] = '-';
    if (from == d->point) text[n++] = '0';
    memcpy(text + n, s.at + from, d->point - from);
    n += d->point - from;
    if (d->fraction > d->point) {
        text[n++] = '.';
        memcpy(text + n, s.at + d->fraction, d->exponent - d->fraction);
        n += d->exponent - d->fraction;
        if (d->exponent == d->fraction) text[n++] = '0';
    }
    memcpy(text + n, s.at + d->exponent, s.len - d->exponent);
    n += s.len - d->exponent;
    if (phi__json_number_read(text, text + n, &number, &bad) != text + n)
        return PHI__YAML_TOO_LARGE;
    *value = number.v;
    return number.kind;
}

/* Returns the kind of a number; 0 if the text is no number. */
static uint32_t phi__yaml_core_number(phi_str s, phi__json_value *value) {
    phi__json_number number;
    phi__yaml_decimal d;
    const char *bad;
    if (s.at[0] >= '1' && s.at[0] <= '9') { /* most numbers look as in JSON */
        const char *end = s.at + phi__min(s.len, 65536);
        if (phi__json_number_read(s.at, end, &number, &bad) == s.at + s.len) {
            *value = number.v;
            return number.kind;
        }
    }
    if (s.len > 1 && s.at[0] == '0' && (s.at[1] == 'o' || s.at[1] == 'x')) {
        unsigned base = s.at[1] == 'x' ? 16 : 8;
        uint64_t n = 0;
        bool large = false;
        if (s.len < 3) return 0;
        for (size_t i = 2; i < s.len; i++) {
            unsigned digit = phi__reader_digit(s.at[i]);
            if (digit >= base) return 0;
            large = large || n > (UINT64_MAX - digit) / base;
            if (!large) n = n * base + digit;
        }
        if (large) return PHI__YAML_TOO_LARGE;
        value->u = n;
        return n > (uint64_t)INT64_MAX ? PHI__JSON_UINT : PHI__JSON_INT;
    }
    if (phi__yaml_core_parts(s, &d)) return phi__yaml_core_rewritten(s, &d, value);
    bool sign = s.at[0] == '-' || s.at[0] == '+';
    phi_str rest = phi__str(s.at + (sign ? 1 : 0), s.len - (sign ? 1 : 0));
    if (phi__yaml_core_is_one_of(rest, ".inf", ".Inf", ".INF")) {
        value->d = s.at[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return PHI__JSON_DOUBLE;
    }
    if (sign || !phi__yaml_core_is_one_of(s, ".nan", ".NaN", ".NAN")) return 0;
    value->d = (double)NAN;
    return PHI__JSON_DOUBLE;
}

static uint32_t phi__yaml_core_plain(phi_str s, phi__json_value *value) {
    char c = s.len > 0 ? s.at[0] : '~';
    uint32_t kind = 0;
    if (phi__is_digit(c) || c == '-' || c == '+' || c == '.')
        kind = phi__yaml_core_number(s, value);
    else if (s.len > 5) /* no keyword is longer */
        return PHI__JSON_STRING;
    else if (s.len == 0 || phi__str_is(s, "~") ||
             phi__yaml_core_is_one_of(s, "null", "Null", "NULL"))
        kind = PHI__JSON_NULL;
    else if (phi__yaml_core_is_one_of(s, "true", "True", "TRUE"))
        kind = PHI__JSON_TRUE;
    else if (phi__yaml_core_is_one_of(s, "false", "False", "FALSE"))
        kind = PHI__JSON_FALSE;
    if (kind == 0) kind = PHI__JSON_STRING;
    return kind;
}

/* Returns the kind of a text under a tag other than str; 0 if the tag does not allow the text. */
static uint32_t phi__yaml_core_tagged(phi_str s, uint8_t tag, phi__json_value *value) {
    uint32_t kind = phi__yaml_core_plain(s, value);
    bool number = kind == PHI__JSON_INT || kind == PHI__JSON_UINT || kind == PHI__JSON_DOUBLE;
    if (tag == PHI__YAML_TAG_NULL) return kind == PHI__JSON_NULL ? kind : 0;
    if (tag == PHI__YAML_TAG_BOOL)
        return kind == PHI__JSON_TRUE || kind == PHI__JSON_FALSE ? kind : 0;
    if (kind == PHI__YAML_TOO_LARGE) return kind;
    if (tag == PHI__YAML_TAG_INT) {
        phi__yaml_decimal d;
        bool based = s.len > 1 && s.at[0] == '0' && (s.at[1] == 'o' || s.at[1] == 'x');
        if (!number) return 0;
        return based || (phi__yaml_core_parts(s, &d) && d.point == s.len) ? kind : 0;
    }
    if (tag != PHI__YAML_TAG_FLOAT || !number) return 0;
    if (kind == PHI__JSON_INT) value->d = (double)value->i;
    if (kind == PHI__JSON_UINT) value->d = (double)value->u;
    return PHI__JSON_DOUBLE;
}

static uint32_t phi__yaml_core_resolve(phi_str text, bool plain, uint8_t tag,
                                       phi__json_value *value) {
    value->u = 0;
    if (tag == PHI__YAML_TAG_NONE && plain) return phi__yaml_core_plain(text, value);
    if (tag <= PHI__YAML_TAG_STR) return PHI__JSON_STRING;
    return phi__yaml_core_tagged(text, tag, value);
}

/* ======== Hash tables of texts: the keys of the open mappings, and the anchors.

   Names are a stack, with a hash table of their indices. The newest name is removed first. It is
   the last name of its probing chain, so removed names need no marks. */

typedef struct phi__yaml_name {
    const char *at;
    phi_json *node; /* for anchors */
    phi_str source; /* for anchors: a scalar's text; an alias that is a key becomes this text */
    uint32_t len, hash, scope, place;
} phi__yaml_name;

/* The address of the table's owner is a part of the hash, so the places of names differ from run to
   run. Nobody can therefore prepare a text whose names collide. */
static uint32_t phi__yaml_name_hash(const phi__yaml_names *names, phi_str text, uint32_t scope) {
    uint64_t seed = (uint64_t)(uintptr_t)names ^ (uint64_t)scope << 32;
    return (uint32_t)(phi__map_hash(seed, text) >> 32);
}

static bool phi__yaml_name_same(const phi__yaml_name *name, uint32_t hash, phi_str text,
                                uint32_t scope) {
    return name->hash == hash && name->scope == scope && name->len == text.len &&
           (text.len == 0 || memcmp(name->at, text.at, text.len) == 0);
}

/* Puts a name into the hash table. The table holds indices from 1; 0 is a free place. */
static void phi__yaml_name_place(phi__yaml_names *names, uint32_t index) {
    uint32_t mask = names->table_cap - 1, place = names->at[index].hash & mask;
    while (names->table[place] != 0) place = (place + 1) & mask;
    names->table[place] = index + 1;
    names->at[index].place = place;
}

static bool phi__yaml_name_grow(phi__yaml_names *names, phi_arena *arena) {
    uint32_t cap = names->cap == 0 ? 16 : names->cap * 2;
    phi__yaml_name *at;
    uint32_t *table;
    if (names->cap >= UINT32_MAX / 8) return false;
    at = (phi__yaml_name *)phi_arena_alloc(arena, phi__mul(cap, sizeof *at));
    table = (uint32_t *)phi_arena_alloc(arena, phi__mul(cap, 2 * sizeof *table));
    if (at == NULL || table == NULL) return false;
    if (names->count > 0) memcpy(at, names->at, names->count * sizeof *at);
    memset(table, 0, cap * 2 * sizeof *table);
    names->at = at;
    names->table = table;
    names->cap = cap;
    names->table_cap = cap * 2;
    for (uint32_t i = 0; i < names->count; i++)
        phi__yaml_name_place(names, i); /* oldest names first */
    return true;
}

/* Returns the name in this scope; NULL if there is none. */
static phi__yaml_name *phi__yaml_name_find(const phi__yaml_names *names, phi_str text,
                                           uint32_t scope, uint32_t hash) {
    if (names->count == 0) return NULL;
    uint32_t mask = names->table_cap - 1;
    for (uint32_t place = hash & mask; names->table[place] != 0; place = (place + 1) & mask) {
        phi__yaml_name *name = &names->at[names->table[place] - 1];
        if (phi__yaml_name_same(name, hash, text, scope)) return name;
    }
    return NULL;
}

/* Adds a name that is not there yet. `text` is borrowed. NULL if there is no memory. */
static phi__yaml_name *phi__yaml_name_add(phi__yaml_names *names, phi_arena *arena, phi_str text,
                                          uint32_t scope, uint32_t hash) {
    if (names->count == names->cap && !phi__yaml_name_grow(names, arena)) return NULL;
    phi__yaml_name *name = &names->at[names->count];
    memset(name, 0, sizeof *name);
    name->at = text.at;
    name->len = (uint32_t)text.len;
    name->hash = hash;
    name->scope = scope;
    phi__yaml_name_place(names, names->count++);
    return name;
}

/* ---- frames and nodes: open collections, their values and keys, anchors, aliases ---- */

#define PHI__YAML_KEY_MOST 0xffffffu
#define PHI__YAML_ANYWHERE UINT32_MAX /* the scope of anchors */

PHI__FN phi_json *phi__yaml_node(phi__yaml_reader *r, uint32_t kind) {
    phi_json *node = phi__pool_node(&r->pool, r->arena, (size_t)(r->end - r->at), kind);
    if (node == NULL) (void)phi__yaml_no_memory(r);
    return node;
}

/* Returns the column, from 0, at which the current scalar begins. */
static uint32_t phi__yaml_tree_column(const phi__yaml_reader *r) {
    const phi__yaml_scalar *s = &r->scalar;
    return s->at >= s->line_at ? (uint32_t)(s->at - s->line_at) : 0;
}

/* Records the place of a node. `column` counts from 0. */
static void phi__yaml_mark(phi__yaml_reader *r, const phi_json *node, uint32_t line,
                           uint32_t column) {
    if (PHI__MARKED(r) && node != NULL) phi__marks_add(r->marks, node, line, column + 1);
}

/* ---- properties ---- */

static void phi__yaml_clear(phi__yaml_props *props) { memset(props, 0, sizeof *props); }

/* Moves the properties of `from` to `to`. False if both have an anchor, or both have a tag. */
static bool phi__yaml_props_join(phi__yaml_props *to, phi__yaml_props *from) {
    if (from->at == NULL) return true;
    if ((to->anchor_at != NULL && from->anchor_at != NULL) || (to->tag != 0 && from->tag != 0))
        return false;
    if (to->at == NULL)
        *to = *from;
    else if (from->anchor_at != NULL) {
        to->anchor = from->anchor;
        to->anchor_at = from->anchor_at;
    } else
        to->tag = from->tag;
    phi__yaml_clear(from);
    return true;
}

/* Joins the properties of earlier lines and of this line, which belong to one node. */
static bool phi__yaml_merge(phi__yaml_reader *r) {
    phi__yaml_props *inner = &r->inner;
    if (phi__yaml_props_join(inner, &r->outer)) return true;
    return phi__yaml_wrong_at(r, inner->at, inner->line, inner->column,
                              inner->tag != 0 && r->outer.tag != 0
                                  ? "a second tag for one node"
                                  : "a second anchor for one node");
}

/* ---- anchors ---- */

static bool phi__yaml_anchor(phi__yaml_reader *r, const phi__yaml_props *props, phi_json *node,
                             phi_str source) {
    if (props->anchor_at == NULL) return true;
    uint32_t hash = phi__yaml_name_hash(&r->anchors, props->anchor, PHI__YAML_ANYWHERE);
    phi__yaml_name *name =
        phi__yaml_name_find(&r->anchors, props->anchor, PHI__YAML_ANYWHERE, hash);
    if (name == NULL)
        name = phi__yaml_name_add(&r->anchors, r->arena, props->anchor, PHI__YAML_ANYWHERE, hash);
    if (name == NULL) return phi__yaml_no_memory(r);
    name->node = node;
    name->source = source;
    return true;
}

/* ---- scalars as nodes ---- */

static bool phi__yaml_mismatch(phi__yaml_reader *r, const phi__yaml_props *props,
                               const char *what) {
    static const char *const names[] = {"",       "!",      "!!str", "!!int", "!!float",
                                        "!!bool", "!!null", "!!seq", "!!map"};
    char message[96];
    (void)snprintf(message, sizeof message, "%s%s", names[props->tag], what);
    return phi__yaml_wrong_at(r, props->at, props->line, props->column, message);
}

/* Makes a NUL-terminated copy of the scalar's text, if there is none yet. */
static bool phi__yaml_text(phi__yaml_reader *r) {
    if (r->scalar.string == NULL) phi__yaml_end(r);
    return r->status == PHI_BUSY;
}

/* Returns the kind of the current scalar, and sets *value. 0: an error was recorded. */
static uint32_t phi__yaml_resolve(phi__yaml_reader *r, phi__json_value *value) {
    phi__yaml_scalar *s = &r->scalar;
    phi_str text = s->string != NULL ? phi__str(s->string, s->len)
                                     : phi__str(s->mark, (size_t)(s->last - s->mark));
    if (s->string == NULL && s->text != NULL) {
        if (!phi__yaml_text(r)) return 0;
        text = phi__str(s->string, s->len);
    }
    uint32_t kind = phi__yaml_core_resolve(
        text, s->style == PHI__YAML_STYLE_PLAIN && (r->options.flags & PHI_YAML_TEXTS) == 0,
        r->inner.tag, value);
    if (kind == PHI__YAML_TOO_LARGE) {
        phi__yaml_wrong_at(r, s->at, s->line, (uint32_t)(s->at - s->line_at),
                           "the number is too large for 64 bits or a double");
        return 0;
    }
    if (kind == 0) phi__yaml_mismatch(r, &r->inner, " does not allow this value");
    return kind;
}

/* Makes a node of the current scalar, whose properties are in `inner`. */
static phi_json *phi__yaml_tree_scalar(phi__yaml_reader *r) {
    phi__json_value value;
    uint32_t kind = phi__yaml_resolve(r, &value);
    if (kind == 0) return NULL;
    if (kind == PHI__JSON_STRING || r->inner.anchor_at != NULL)
        if (!phi__yaml_text(r)) return NULL;
    phi_json *node = phi__yaml_node(r, kind);
    if (node == NULL) return NULL;
    node->v = value;
    phi__yaml_mark(r, node, r->scalar.line, phi__yaml_tree_column(r));
    if (kind == PHI__JSON_STRING) {
        node->v.str = r->scalar.string;
        node->len = (uint32_t)r->scalar.len;
    }
    if (!phi__yaml_anchor(r, &r->inner, node, phi__str(r->scalar.string, r->scalar.len)))
        return NULL;
    return node;
}

/* ---- frames ---- */

static bool phi__yaml_is_flow(uint8_t kind) {
    return kind >= PHI__YAML_FLOW_SEQ && kind <= PHI__YAML_FLOW_PAIR;
}

static phi__yaml_frame *phi__yaml_push(phi__yaml_reader *r, uint8_t kind) {
    phi__yaml_frame *frame = r->unused;
    if (r->depth == r->options.max_depth) {
        phi__yaml_too_big(r, "collections are nested too deeply");
        return NULL;
    }
    if (frame != NULL)
        r->unused = frame->up;
    else
        frame = (phi__yaml_frame *)phi_arena_alloc(r->arena, sizeof *frame);
    if (frame == NULL) {
        phi__yaml_no_memory(r);
        return NULL;
    }
    memset(frame, 0, sizeof *frame);
    frame->up = r->top;
    frame->kind = kind;
    frame->keys = r->keys.count;
    frame->line = r->line;
    r->top = frame;
    r->depth++;
    if (phi__yaml_is_flow(kind)) r->flow_depth++;
    return frame;
}

PHI__FN bool phi__yaml_begin(phi__yaml_reader *r) {
    phi__yaml_frame *frame = phi__yaml_push(r, PHI__YAML_DOC);
    if (frame == NULL) return false;
    r->depth = 0;
    frame->indent = -1;
    frame->want = PHI__YAML_WANT_VALUE;
    return true;
}

static phi_json *phi__yaml_pop(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    phi__yaml_names *keys = &r->keys;
    while (keys->count > frame->keys) keys->table[keys->at[--keys->count].place] = 0;
    if (phi__yaml_is_flow(frame->kind)) r->flow_depth--;
    r->top = frame->up;
    r->depth--;
    frame->up = r->unused;
    r->unused = frame;
    return frame->node;
}

PHI__FN void phi__yaml_open(phi__yaml_reader *r, uint8_t kind, int32_t indent, uint8_t want) {
    bool map = kind == PHI__YAML_MAP || kind == PHI__YAML_FLOW_MAP;
    /* The properties of a block collection are on earlier lines, because properties on this line
       belong to its first key. */
    phi__yaml_props *props = phi__yaml_is_flow(kind) ? &r->inner : &r->outer;
    if (phi__yaml_is_flow(kind) && !phi__yaml_merge(r)) return;
    phi__yaml_frame *frame = phi__yaml_push(r, kind);
    if (frame == NULL) return;
    frame->indent = indent;
    frame->want = want;
    frame->node = phi__yaml_node(r, map ? PHI__JSON_OBJECT : PHI__JSON_ARRAY);
    if (frame->node == NULL) return;
    phi__yaml_mark(r, frame->node, r->line,
                   phi__yaml_is_flow(kind) ? phi__yaml_column(r, r->at) : (uint32_t)indent);
    if (props->tag > PHI__YAML_TAG_TEXT &&
        props->tag != (map ? PHI__YAML_TAG_MAP : PHI__YAML_TAG_SEQ))
        phi__yaml_mismatch(r, props,
                           map ? " does not allow a mapping" : " does not allow a sequence");
    (void)phi__yaml_anchor(r, props, frame->node, phi__str(NULL, 0));
    phi__yaml_clear(props);
}

PHI__FN void phi__yaml_open_pair(phi__yaml_reader *r, uint8_t want) {
    phi__yaml_frame *frame = phi__yaml_push(r, PHI__YAML_FLOW_PAIR);
    if (frame == NULL) return;
    frame->want = want;
    frame->node = phi__yaml_node(r, PHI__JSON_OBJECT);
    if (want == PHI__YAML_WANT_KEY) /* the pair's key was read before */
        phi__yaml_mark(r, frame->node, r->scalar.line, phi__yaml_tree_column(r));
    else
        phi__yaml_mark(r, frame->node, r->line, phi__yaml_column(r, r->at));
}

PHI__FN void phi__yaml_close(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    memset(s, 0, sizeof *s);
    s->line = r->top->line;
    s->at = r->at;
    s->line_at = r->line_at;
    s->style = PHI__YAML_STYLE_NODE;
    s->node = phi__yaml_pop(r);
}

/* ---- values ---- */

static void phi__yaml_join(phi__yaml_reader *r, phi_json *node) {
    phi__yaml_frame *frame = r->top;
    if (frame->kind == PHI__YAML_DOC) {
        r->root = node;
        r->doc = PHI__YAML_COMPLETE;
        frame->want = PHI__YAML_WANT_NEXT;
        return;
    }
    /* A text is shorter than 4 GiB, and each value takes at least two bytes of the text. */
    if (PHI_NEVER(frame->node->len == UINT32_MAX)) {
        phi__yaml_too_big(r, "a collection of 2^32 or more values");
        return;
    }
    if (phi__json_kind_of(frame->node) == PHI__JSON_OBJECT) {
        node->key = frame->key.at;
        node->meta = (uint32_t)frame->key.len << 8 | phi__json_kind_of(node);
        if (PHI__MARKED(r))
            phi__marks_add_key(r->marks, node, frame->key_line, frame->key_column + 1);
    }
    phi__json_append(frame->node, node);
    frame->want = frame->kind == PHI__YAML_MAP ? PHI__YAML_WANT_KEY : PHI__YAML_WANT_NEXT;
}

PHI__FN void phi__yaml_value(phi__yaml_reader *r) {
    if (r->status != PHI_BUSY) return;
    if (r->top->want == PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_key(r);
        r->top->want = PHI__YAML_WANT_COLON;
        return;
    }
    phi_json *node = r->scalar.node;
    if (node != NULL) {
        if (r->scalar.is_alias && r->outer.at != NULL)
            phi__yaml_wrong_at(r, r->outer.at, r->outer.line, r->outer.column,
                               "an alias cannot have an anchor or a tag");
    } else if (phi__yaml_merge(r)) {
        node = phi__yaml_tree_scalar(r);
        phi__yaml_clear(&r->inner);
    }
    if (r->status == PHI_BUSY && node != NULL) phi__yaml_join(r, node);
    r->scalar.style = PHI__YAML_NO_NODE;
}

/* ---- keys ---- */

static bool phi__yaml_key_wrong(phi__yaml_reader *r, const char *what) {
    const phi__yaml_scalar *s = &r->scalar;
    return phi__yaml_wrong_at(r, s->at, s->line, phi__yaml_tree_column(r), what);
}

static bool phi__yaml_key_is_new(phi__yaml_reader *r, phi_str key) {
    static const char what[] = "the key \"";
    static const char twice[] = "\" is in this mapping already: keep one of the two";
    char message[sizeof r->error.message];
    size_t n = sizeof what - 1, most = phi__utf8_cut(key, 60);
    uint32_t scope = r->top->keys, hash = phi__yaml_name_hash(&r->keys, key, scope);
    if (phi__yaml_name_find(&r->keys, key, scope, hash) == NULL) {
        if (phi__yaml_name_add(&r->keys, r->arena, key, scope, hash) != NULL) return true;
        return phi__yaml_no_memory(r);
    }
    memcpy(message, what, n);
    for (size_t i = 0; i < most; i++)
        message[n + i] = (char)((unsigned char)key.at[i] < 0x20 ? '?' : key.at[i]);
    memcpy(message + n + most, twice, sizeof twice);
    return phi__yaml_key_wrong(r, message);
}

/* Checks a key, and sets *key to its text. False: an error was recorded. */
static bool phi__yaml_key_text(phi__yaml_reader *r, phi_str *key) {
    phi__yaml_scalar *s = &r->scalar;
    phi__json_value value;
    if (r->top->want == PHI__YAML_WANT_EXPLICIT_KEY && !phi__yaml_merge(r)) return false;
    if (!phi__yaml_text(r)) return false;
    *key = phi__str(s->string, s->len);
    if (key->len == 0 && s->style == PHI__YAML_STYLE_PLAIN && r->inner.tag != PHI__YAML_TAG_STR)
        return phi__yaml_key_wrong(r, "a key is missing, and null as a key is not supported");
    if (r->inner.anchor_at != NULL) {
        phi_json *node = phi__yaml_tree_scalar(r);
        if (node == NULL) return false;
    } else if (r->inner.tag > PHI__YAML_TAG_STR && phi__yaml_resolve(r, &value) == 0)
        return false;
    phi__yaml_clear(&r->inner);
    return true;
}

PHI__FN void phi__yaml_key(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    phi_str key = PHI__LIT("");
    if (r->status != PHI_BUSY) return;
    if (s->node != NULL && (!s->is_alias || s->string == NULL))
        phi__yaml_key_wrong(r, "a key that is a collection is not supported");
    else if (s->node != NULL)
        key = phi__str(s->string, s->len);
    else
        (void)phi__yaml_key_text(r, &key);
    if (r->status == PHI_BUSY && key.len > PHI__YAML_KEY_MOST)
        phi__yaml_too_big(r, "a key of more than 16 MiB");
    if (r->status != PHI_BUSY || !phi__yaml_key_is_new(r, key)) return;
    r->top->key = key;
    r->top->key_line = s->line;
    r->top->key_column = phi__yaml_tree_column(r);
    r->top->want = PHI__YAML_WANT_VALUE;
    s->style = PHI__YAML_NO_NODE;
}

/* ---- aliases ---- */

/* Copies a node without its children. The copy shares the texts of the node. */
static phi_json *phi__yaml_twin(phi__yaml_reader *r, const phi_json *source) {
    uint32_t kind = phi__json_kind_of(source);
    size_t bytes = phi__json_key_len(source) + (kind == PHI__JSON_STRING ? source->len : 0);
    if (r->alias_nodes >= r->options.max_alias_nodes ||
        bytes > r->options.max_alias_bytes - r->alias_bytes) {
        phi__yaml_too_big(r, "aliases stand for more than the reader's limit allows");
        return NULL;
    }
    r->alias_nodes++;
    r->alias_bytes += bytes;
    phi_json *node = phi__yaml_node(r, kind);
    if (node == NULL) return NULL;
    *node = *source;
    node->next = NULL;
    phi__yaml_mark(r, node, r->scalar.line, phi__yaml_tree_column(r));
    if (kind >= PHI__JSON_ARRAY) {
        node->v.last = NULL;
        node->len = 0;
    }
    return node;
}

static void phi__yaml_copy_open(phi__yaml_reader *r, const phi_json *source, phi_json *node) {
    phi__yaml_frame *frame = phi__yaml_push(r, PHI__YAML_ALIAS);
    if (frame == NULL) return;
    frame->node = node;
    frame->left = source->len;
    frame->source = source->v.last->next;
}

static void phi__yaml_alias(phi__yaml_reader *r, phi_str name, const char *at) {
    uint32_t hash = phi__yaml_name_hash(&r->anchors, name, PHI__YAML_ANYWHERE);
    const phi__yaml_name *anchor = phi__yaml_name_find(&r->anchors, name, PHI__YAML_ANYWHERE, hash);
    phi__yaml_scalar *s = &r->scalar;
    const phi__yaml_frame *frame;
    if (anchor == NULL) {
        phi__yaml_wrong(r, at, "an alias to an anchor that is not defined before it");
        return;
    }
    if (phi__json_kind_of(anchor->node) >= PHI__JSON_ARRAY)
        for (frame = r->top; frame != NULL; frame = frame->up)
            if (frame->node == anchor->node) {
                phi__yaml_wrong(r, at, "an alias inside of the node it stands for");
                return;
            }
    s->is_alias = true;
    s->string = anchor->source.at;
    s->len = anchor->source.len;
    s->node = phi__yaml_twin(r, anchor->node);
    if (s->node == NULL) return;
    s->node->key = NULL;
    s->node->meta = phi__json_kind_of(s->node);
    if (s->node->meta >= PHI__JSON_ARRAY && anchor->node->len > 0)
        phi__yaml_copy_open(r, anchor->node, s->node);
}

PHI__FN bool phi__yaml_copy(phi__yaml_reader *r, size_t units) {
    while (r->status == PHI_BUSY && r->top->kind == PHI__YAML_ALIAS) {
        if (units-- == 0) return false;
        phi__yaml_frame *frame = r->top;
        if (frame->left == 0) {
            (void)phi__yaml_pop(r);
            continue;
        }
        const phi_json *source = frame->source;
        phi_json *node = phi__yaml_twin(r, source);
        if (node == NULL) return false;
        if (PHI__MARKED(r) && node->key != NULL)
            phi__marks_add_key(r->marks, node, r->scalar.line, phi__yaml_tree_column(r) + 1);
        phi__json_append(frame->node, node);
        frame->source = source->next;
        frame->left--;
        if (phi__json_kind_of(source) >= PHI__JSON_ARRAY && source->len > 0)
            phi__yaml_copy_open(r, source, node);
    }
    return true;
}

/* ---- properties before a node or a document: anchors, tags, directives ---- */

#define PHI__YAML_NAME_MOST 1024u /* max. bytes of an anchor's name or a tag */
#define PHI__YAML_HANDLES_MOST 64u

struct phi__yaml_handle {
    struct phi__yaml_handle *next;
    phi_str handle, prefix; /* "!e!", "tag:example.com,2000:" */
};

/* ---- names ---- */

/* Returns the end of a name: a blank, or a bracket in flow content. NULL: an error was recorded. */
static const char *phi__yaml_prop_name(phi__yaml_reader *r, const char *at, bool bracket_ends) {
    const char *start = at;
    while (!phi__yaml_is_blank(r, at) && !(bracket_ends && phi__yaml_is_bracket(*at))) {
        size_t n = phi__yaml_char(r, at, false);
        if (n == 0) return NULL;
        at += n;
        if ((size_t)(at - start) > PHI__YAML_NAME_MOST) {
            phi__yaml_too_big(r, "the name of an anchor or a tag of more than 1024 bytes");
            return NULL;
        }
    }
    return at;
}

static void phi__yaml_prop_mark(phi__yaml_reader *r, const char *at) {
    if (r->inner.at != NULL) return;
    r->inner.at = at;
    r->inner.line = r->line;
    r->inner.column = phi__yaml_column(r, at);
}

/* ---- tags ---- */

static uint8_t phi__yaml_prop_core_tag(phi_str name) {
    static const char *const names[] = {"str", "int", "float", "bool", "null", "seq", "map"};
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(name, names[i])) return (uint8_t)(PHI__YAML_TAG_STR + i);
    return PHI__YAML_TAG_NONE;
}

/* Returns the core tag that `prefix` and `rest` make together. */
static uint8_t phi__yaml_prop_whole(phi_str prefix, phi_str rest) {
    char whole[32];
    static const char core[] = "tag:yaml.org,2002:";
    size_t n = sizeof core - 1, len = prefix.len + rest.len;
    if (len <= n || len > sizeof whole) return PHI__YAML_TAG_NONE;
    memcpy(whole, prefix.at, prefix.len);
    if (rest.len > 0) memcpy(whole + prefix.len, rest.at, rest.len);
    if (memcmp(whole, core, n) != 0) return PHI__YAML_TAG_NONE;
    return phi__yaml_prop_core_tag(phi__str(whole + n, len - n));
}

static const struct phi__yaml_handle *phi__yaml_prop_handle(const phi__yaml_reader *r,
                                                            phi_str handle) {
    const struct phi__yaml_handle *at = r->handles;
    while (at != NULL && !phi_str_equal(at->handle, handle)) at = at->next;
    return at;
}

/* Returns the length of the handle at the start of a tag: "!", "!!" or "!name!". */
static size_t phi__yaml_prop_handle_len(phi_str tag) {
    for (size_t i = 1; i < tag.len; i++) {
        char c = tag.at[i];
        if (c == '!') return i + 1;
        if (c != '-' && !phi__is_alnum(c)) break;
    }
    return 1;
}

/* True if a tag may have these characters: those of a URI except "!". */
static bool phi__yaml_prop_is_uri(phi_str s, bool in_brackets) {
    static const char more[] = "-#;/?:@&=+$_.~*'()%";
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (c == '%' && phi__json_text_hex(s.at + i + 1, s.at + s.len, 2) == UINT32_MAX)
            return false;
        if (phi__is_alnum(c) || memchr(more, c, sizeof more - 1) != NULL) continue;
        if (in_brackets && (c == ',' || c == '[' || c == ']' || c == '!')) continue;
        return false;
    }
    return true;
}

/* Reads a tag such as "!!str" or "!e!name". False: an error was recorded. */
static bool phi__yaml_prop_short(phi__yaml_reader *r, phi_str tag, uint8_t *out) {
    size_t n = phi__yaml_prop_handle_len(tag);
    phi_str handle = phi__str(tag.at, n), rest = phi__str(tag.at + n, tag.len - n);
    const struct phi__yaml_handle *declared = phi__yaml_prop_handle(r, handle);
    if (!phi__yaml_prop_is_uri(rest, false))
        return phi__yaml_wrong(r, tag.at, "a tag with a character that tags do not have");
    if (n > 1 && rest.len == 0)
        return phi__yaml_expected(r, tag.at + n, "a tag's name after its handle");
    if (declared != NULL)
        *out = phi__yaml_prop_whole(declared->prefix, rest);
    else if (n == 2)
        *out = phi__yaml_prop_core_tag(rest);
    else if (n > 2)
        return phi__yaml_wrong(r, tag.at, "a tag whose handle no %TAG directive declares");
    if (n == 1 && rest.len == 0) *out = PHI__YAML_TAG_TEXT;
    return true;
}

/* Reads a tag such as "!<tag:yaml.org,2002:str>". False: an error was recorded. */
static bool phi__yaml_prop_verbatim(phi__yaml_reader *r, phi_str tag, uint8_t *out) {
    if (tag.len < 4 || tag.at[tag.len - 1] != '>')
        return phi__yaml_expected(r, tag.at + tag.len, "'>' at the end of a verbatim tag");
    phi_str whole = phi__str(tag.at + 2, tag.len - 3);
    if (!phi__yaml_prop_is_uri(whole, true) || phi__str_is(whole, "!"))
        return phi__yaml_wrong(r, tag.at, "a verbatim tag that is neither local nor a URI");
    *out = phi__yaml_prop_whole(whole, phi__str("", 0));
    return true;
}

static void phi__yaml_prop_tag(phi__yaml_reader *r, const char *at) {
    bool verbatim = at + 1 < r->end && at[1] == '<';
    const char *end = phi__yaml_prop_name(r, at, r->flow_depth > 0 && !verbatim);
    uint8_t tag = PHI__YAML_TAG_NONE;
    if (end == NULL) return;
    if (verbatim) {
        const char *close = (const char *)memchr(at, '>', (size_t)(end - at));
        if (close != NULL && phi__yaml_is_over(r, close + 1)) end = close + 1;
    }
    if (r->inner.tag != 0) {
        phi__yaml_wrong(r, at, "a second tag for one node");
        return;
    }
    bool good = verbatim ? phi__yaml_prop_verbatim(r, phi__str(at, (size_t)(end - at)), &tag)
                         : phi__yaml_prop_short(r, phi__str(at, (size_t)(end - at)), &tag);
    if (!good) return;
    if (tag == PHI__YAML_TAG_NONE && (r->options.flags & PHI_YAML_ANY_TAG) == 0) {
        phi__yaml_wrong(r, at,
                        "a tag that is not of the core schema (!!str, !!int, !!float, !!bool, "
                        "!!null, !!seq, !!map)");
        return;
    }
    phi__yaml_prop_mark(r, at);
    r->inner.tag = tag;
    r->at = end;
}

/* ---- anchors ---- */

static void phi__yaml_prop_anchor(phi__yaml_reader *r, const char *at) {
    const char *end = phi__yaml_prop_name(r, at + 1, r->flow_depth > 0);
    if (end == NULL) return;
    if (end == at + 1)
        phi__yaml_expected(r, end, "the name of an anchor");
    else if (r->inner.anchor_at != NULL)
        phi__yaml_wrong(r, at, "a second anchor for one node");
    if (r->status != PHI_BUSY) return;
    phi__yaml_prop_mark(r, at);
    r->inner.anchor_at = at;
    r->inner.anchor = phi__str(at + 1, (size_t)(end - at - 1));
    r->at = end;
}

PHI__FN void phi__yaml_prop_read(phi__yaml_reader *r) {
    const char *at = r->at;
    if (*at == '&')
        phi__yaml_prop_anchor(r, at);
    else
        phi__yaml_prop_tag(r, at);
    if (r->status == PHI_BUSY && !phi__yaml_is_over(r, r->at))
        phi__yaml_expected(r, r->at, "white space after an anchor or a tag");
}

PHI__FN void phi__yaml_prop_keep(phi__yaml_reader *r) {
    const phi__yaml_props *inner = &r->inner;
    if (!phi__yaml_props_join(&r->outer, &r->inner))
        phi__yaml_wrong_at(r, inner->at, inner->line, inner->column,
                           "a second anchor or tag for one node");
}

PHI__FN void phi__yaml_prop_alias(phi__yaml_reader *r) {
    const char *at = r->at, *end = phi__yaml_prop_name(r, at + 1, r->flow_depth > 0);
    if (end == NULL) return;
    if (end == at + 1)
        phi__yaml_expected(r, end, "the name of an anchor after '*'");
    else if (r->inner.at != NULL)
        phi__yaml_wrong(r, at, "an alias cannot have an anchor or a tag");
    if (r->status != PHI_BUSY) return;
    r->at = end;
    phi__yaml_alias(r, phi__str(at + 1, (size_t)(end - at - 1)), at);
}

/* ---- directives ---- */

/* Returns the next word of the line; empty at the end of the line or before a comment. */
static phi_str phi__yaml_prop_word(phi__yaml_reader *r) {
    const char *at = r->at;
    while (at < r->end && phi__yaml_is_space(*at)) at++;
    r->at = at;
    if (at < r->end && *at == '#') return phi__str(at, 0);
    const char *end = phi__yaml_prop_name(r, at, false);
    if (end != NULL) r->at = end;
    return phi__str(at, end != NULL ? (size_t)(end - at) : 0);
}

static void phi__yaml_prop_version(phi__yaml_reader *r) {
    phi_str word = phi__yaml_prop_word(r);
    size_t i, points = 0;
    if (r->status != PHI_BUSY) return;
    for (i = 0; i < word.len; i++) {
        if (word.at[i] == '.' && i > 0 && i + 1 < word.len && points == 0)
            points++;
        else if (word.at[i] < '0' || word.at[i] > '9')
            break;
    }
    if (r->has_version)
        phi__yaml_wrong(r, word.at, "a second %YAML directive");
    else if (i < word.len || points == 0)
        phi__yaml_expected(r, word.at, "a version like 1.2 after %YAML");
    else if (!phi__str_starts(word, "1."))
        phi__yaml_wrong(r, word.at, "a version of YAML other than 1");
    r->has_version = true;
}

static void phi__yaml_prop_declare(phi__yaml_reader *r) {
    phi_str handle = phi__yaml_prop_word(r), prefix = phi__yaml_prop_word(r);
    struct phi__yaml_handle *declared;
    if (r->status != PHI_BUSY) return;
    if (handle.len == 0 || handle.at[0] != '!' || phi__yaml_prop_handle_len(handle) != handle.len)
        phi__yaml_expected(r, handle.at, "a handle like !name! after %TAG");
    else if (prefix.len == 0 || !phi__yaml_prop_is_uri(prefix, true))
        phi__yaml_expected(r, prefix.at, "a prefix of tags after the handle");
    else if (phi__yaml_prop_handle(r, handle) != NULL)
        phi__yaml_wrong(r, handle.at, "a second %TAG directive of this handle");
    else if (r->handle_count++ == PHI__YAML_HANDLES_MOST)
        phi__yaml_too_big(r, "more than 64 %TAG directives");
    if (r->status != PHI_BUSY) return;
    declared = (struct phi__yaml_handle *)phi_arena_alloc(r->arena, sizeof *declared);
    if (declared == NULL) {
        phi__yaml_no_memory(r);
        return;
    }
    declared->handle = handle;
    declared->prefix = prefix;
    declared->next = r->handles;
    r->handles = declared;
}

PHI__FN void phi__yaml_prop_directive(phi__yaml_reader *r) {
    r->at++;
    phi_str name = phi__yaml_prop_word(r);
    if (r->status != PHI_BUSY) return;
    if (phi__str_is(name, "YAML"))
        phi__yaml_prop_version(r);
    else if (phi__str_is(name, "TAG"))
        phi__yaml_prop_declare(r);
    else
        r->state = PHI__YAML_COMMENT; /* reserved directives are skipped */
}
