/* toml_edit.c - the pieces of a text to replace so that it reads as another tree.

   The old tree is walked with the new one beside it. Changes deep inside come first, so that of
   two new texts at one place that of the inner table precedes the header of another one. */
#include "base/base_in.h"
#include "formats/toml_in.h"

/* ======== A text with pieces of it replaced; and its lines. */

PHI__FN void phi__toml_change_init(phi__toml_change *c, phi_memory *memory, phi_str text) {
    const char *first = text.len > 0 ? (const char *)memchr(text.at, '\n', text.len) : NULL;
    memset(c, 0, sizeof *c);
    c->text = text;
    c->crlf = first != NULL && first > text.at && first[-1] == '\r';
    phi__buf_init(&c->texts, memory);
}

PHI__FN void phi__toml_change_free(phi__toml_change *c) {
    phi__free(c->texts.memory, c->pieces, c->cap * sizeof *c->pieces);
    phi__buf_free(&c->texts);
}

PHI__FN void phi__toml_change_add(phi__toml_change *c, size_t from, size_t to, size_t at) {
    phi__toml_piece *piece = c->pieces;
    if (c->count == c->cap)
        piece = (phi__toml_piece *)phi__grow(c->texts.memory, c->pieces, &c->cap, c->count + 1,
                                             sizeof *piece);
    if (piece != NULL) c->pieces = piece;
    if (piece == NULL || c->texts.failed) {
        c->failed = true;
        return;
    }
    piece += c->count;
    piece->from = from;
    piece->to = to;
    piece->at = at;
    piece->len = c->texts.len - at;
    piece->order = c->count++;
}

PHI__FN void phi__toml_change_before(phi__toml_change *c, size_t to, size_t at) {
    phi__toml_change_add(c, to, to, at);
    if (!c->failed) c->pieces[c->count - 1].order = SIZE_MAX;
}

/* ---- lines ---- */

PHI__FN size_t phi__toml_change_line(const phi__toml_change *c, size_t at) {
    bool mark = c->text.len >= 3 && memcmp(c->text.at, "\xEF\xBB\xBF", 3) == 0;
    size_t first = mark ? 3 : 0;
    while (at > first && c->text.at[at - 1] != '\n') at--;
    return phi__max(at, first);
}

PHI__FN size_t phi__toml_change_next(const phi__toml_change *c, size_t at) {
    const char *found =
        at < c->text.len ? (const char *)memchr(c->text.at + at, '\n', c->text.len - at) : NULL;
    return found == NULL ? c->text.len : (size_t)(found - c->text.at) + 1;
}

static bool phi__toml_change_is_blank(const phi__toml_change *c, size_t from, size_t to) {
    for (; from < to; from++)
        if (strchr(" \t\r\n", c->text.at[from]) == NULL || c->text.at[from] == '\0') return false;
    return true;
}

PHI__FN void phi__toml_change_drop(phi__toml_change *c, size_t from, size_t to, bool blank) {
    size_t line = phi__toml_change_line(c, from);
    while (blank && line > 0) {
        size_t before = phi__toml_change_line(c, line - 1);
        if (before >= line || !phi__toml_change_is_blank(c, before, line)) break;
        line = before;
    }
    phi__toml_change_add(c, line, phi__toml_change_next(c, to), c->texts.len);
}

PHI__FN void phi__toml_change_fresh(phi__toml_change *c, size_t at) {
    bool mark = at == 3 && memcmp(c->text.at, "\xEF\xBB\xBF", 3) == 0;
    if (at > 0 && at == c->text.len && c->text.at[at - 1] != '\n' && !mark)
        phi__buf_char(&c->texts, '\n');
}

PHI__FN phi_str phi__toml_change_indent(const phi__toml_change *c, size_t at) {
    size_t from = phi__toml_change_line(c, at), to = from;
    while (to < c->text.len && (c->text.at[to] == ' ' || c->text.at[to] == '\t')) to++;
    return phi__str(c->text.at + from, to - from);
}

PHI__FN size_t phi__toml_change_above(const phi__toml_change *c, size_t at, size_t floor) {
    size_t line = phi__toml_change_line(c, at);
    while (line > floor) {
        size_t before = phi__toml_change_line(c, line - 1);
        if (before < floor || before >= line ||
            c->text.at[before + phi__toml_change_indent(c, before).len] != '#')
            break;
        line = before;
    }
    return line;
}

/* ---- all pieces at once ---- */

static bool phi__toml_change_precedes(const phi__toml_piece *a, const phi__toml_piece *b) {
    return a->from != b->from ? a->from < b->from : a->order < b->order;
}

/* Down from i in a heap of n pieces with the last one on top. */
static void phi__toml_change_sift(phi__toml_piece *at, size_t i, size_t n) {
    while (2 * i + 1 < n) {
        size_t child = 2 * i + 1;
        phi__toml_piece held = at[i];
        if (child + 1 < n && phi__toml_change_precedes(&at[child], &at[child + 1])) child++;
        if (!phi__toml_change_precedes(&held, &at[child])) return;
        at[i] = at[child];
        at[child] = held;
        i = child;
    }
}

static void phi__toml_change_sort(phi__toml_piece *at, size_t count) {
    for (size_t i = count / 2; i-- > 0;) phi__toml_change_sift(at, i, count);
    for (size_t i = count; i-- > 1;) {
        phi__toml_piece held = at[0];
        at[0] = at[i];
        at[i] = held;
        phi__toml_change_sift(at, 0, i);
    }
}

/* New text, with the line breaks of the old one. */
static void phi__toml_change_put(const phi__toml_change *c, const phi__toml_piece *piece,
                                 phi__buf *out) {
    size_t end = piece->at + piece->len;
    if (!c->crlf) {
        phi__buf_add(out, c->texts.at + piece->at, piece->len);
        return;
    }
    for (size_t i = piece->at; i < end; i++) {
        if (c->texts.at[i] == '\n') phi__buf_char(out, '\r');
        phi__buf_char(out, c->texts.at[i]);
    }
}

PHI__FN bool phi__toml_change_apply(phi__toml_change *c, phi__buf *out) {
    size_t at = 0;
    if (c->failed || c->texts.failed) return false;
    phi__toml_change_sort(c->pieces, c->count);
    for (size_t i = 0; i < c->count; i++) {
        const phi__toml_piece *piece = &c->pieces[i];
        if (piece->from > at) phi__buf_add(out, c->text.at + at, piece->from - at);
        if (piece->len > 0) phi__toml_change_put(c, piece, out);
        at = phi__max(at, phi__max(piece->from, piece->to));
    }
    if (c->text.len > at) phi__buf_add(out, c->text.at + at, c->text.len - at);
    return !out->failed;
}

/* ======== Items of an array in brackets that come, in the style of those there, and go. */

/* The next comma or bracket, comments not counted. */
static size_t phi__toml_array_token(const phi__toml_change *c, size_t at) {
    while (at < c->text.len && c->text.at[at] != ',' && c->text.at[at] != ']') {
        if (c->text.at[at] == '#')
            at = phi__toml_change_next(c, at);
        else
            at++;
    }
    return at;
}

/* Where the line of an offset ends, its break not counted. */
static size_t phi__toml_array_line_end(const phi__toml_change *c, size_t at) {
    size_t end = phi__toml_change_next(c, at);
    if (end > at && c->text.at[end - 1] == '\n') end--;
    if (end > at && c->text.at[end - 1] == '\r') end--;
    return end;
}

/* How many spaces and tabs are behind an offset. */
static size_t phi__toml_array_blanks(const phi__toml_change *c, size_t at) {
    size_t end = at;
    while (end < c->text.len && (c->text.at[end] == ' ' || c->text.at[end] == '\t')) end++;
    return end - at;
}

/* Whether nothing but white space is between the start of its line and an offset. */
static bool phi__toml_array_is_first(const phi__toml_change *c, size_t at) {
    while (at > 0 && (c->text.at[at - 1] == ' ' || c->text.at[at - 1] == '\t')) at--;
    return at == 0 || c->text.at[at - 1] == '\n';
}

/* Whether white space, or a comment, is all that is left of the line. */
static bool phi__toml_array_is_last(const phi__toml_change *c, size_t at) {
    at += phi__toml_array_blanks(c, at);
    return at == c->text.len || strchr("\r\n#", c->text.at[at]) != NULL;
}

static void phi__toml_array_items(phi__toml_change *c, phi__toml_writer *w, const phi_json *first,
                                  size_t count, uint32_t depth, const char *before, phi_str indent,
                                  const char *behind) {
    for (; count > 0; count--, first = first->next) {
        phi__buf_text(&c->texts, before);
        phi__buf_add_str(&c->texts, indent);
        phi__toml_write_value(w, first, depth, false);
        phi__buf_text(&c->texts, behind);
    }
}

PHI__FN void phi__toml_array_append(phi__toml_change *c, phi__toml_writer *w, size_t last_from,
                                    size_t last_to, const phi_json *first, size_t count,
                                    uint32_t depth) {
    bool own_line = phi__toml_array_is_first(c, last_from);
    phi_str indent = own_line ? phi__toml_change_indent(c, last_from) : phi__str("", 0);
    size_t token = phi__toml_array_token(c, last_to), at = c->texts.len;
    size_t line = own_line ? phi__toml_array_line_end(c, last_to) : last_to;
    bool comma = token < line && c->text.at[token] == ',';
    if (own_line && comma && phi__toml_array_is_last(c, token + 1)) {
        /* "item, # comment": lines of their own behind it */
        phi__toml_array_items(c, w, first, count, depth, "\n", indent, ",");
        phi__toml_change_add(c, line, line, at);
    } else if (own_line && token > line && c->text.at[token] == ']') { /* a comma is missing */
        phi__buf_char(&c->texts, ',');
        phi__toml_change_add(c, last_to, last_to, at);
        at = c->texts.len;
        phi__toml_array_items(c, w, first, 1, depth, "\n", indent, "");
        phi__toml_array_items(c, w, first->next, count - 1, depth, ",\n", indent, "");
        phi__toml_change_add(c, line, line, at);
    } else {
        phi__toml_array_items(c, w, first, count, depth, own_line ? ",\n" : ", ", indent, "");
        phi__toml_change_add(c, last_to, last_to, at);
    }
}

PHI__FN void phi__toml_array_prepend(phi__toml_change *c, phi__toml_writer *w, size_t open,
                                     size_t at, const phi_json *first, size_t count,
                                     uint32_t depth) {
    size_t text = c->texts.len;
    if (phi__toml_array_is_first(c, at)) {
        phi_str indent = phi__toml_change_indent(c, at);
        phi__toml_array_items(c, w, first, count, depth, "", indent, ",\n");
        at = phi__toml_change_above(c, at, open);
    } else
        phi__toml_array_items(c, w, first, count, depth, "", phi__str("", 0), ", ");
    phi__toml_change_add(c, at, at, text);
}

/* Items at [from, to), which no line break separates, go with the comma behind them; lines that
   hold nothing else go whole, with their comments. Returns whether there was a comma. */
static bool phi__toml_array_drop_line(phi__toml_change *c, size_t from, size_t to, bool first) {
    size_t token = phi__toml_array_token(c, to);
    bool comma = c->text.at[token] == ',', own_line = phi__toml_array_is_first(c, from);
    if (comma) to = token + 1;
    if (phi__toml_array_is_last(c, to)) {
        if (own_line) {
            phi__toml_change_drop(c, from, to, false);
            return comma;
        }
        first = false;
    }
    if (first || own_line)
        to += phi__toml_array_blanks(c, to);
    else
        while (c->text.at[from - 1] == ' ' || c->text.at[from - 1] == '\t') from--;
    phi__toml_change_add(c, from, to, c->texts.len);
    return comma;
}

PHI__FN void phi__toml_array_drop(phi__toml_change *c, const phi__marks *marks,
                                  const phi_json *before, size_t count, bool first) {
    const phi_json *item = before;
    size_t from, to, next;
    bool comma = true;
    while (count > 0) {
        next = from = phi__marks_at(marks, item->next)->from;
        do {
            item = item->next;
            to = phi__marks_at(marks, item)->to;
            if (--count > 0) next = phi__marks_at(marks, item->next)->from;
        } while (count > 0 && memchr(c->text.at + to, '\n', next - to) == NULL);
        comma = phi__toml_array_drop_line(c, from, to, first);
    }
    if (comma || first) return;
    next = phi__toml_array_token(c, phi__marks_at(marks, before)->to);
    phi__toml_change_add(c, next, next + 1, c->texts.len);
}

/* ======== The pieces of a text to replace so that it reads as another tree.

   The old tree is walked with the new one beside it. Changes deep inside come first, so that of
   two new texts at one place that of the inner table precedes the header of another one. */

enum { PHI__TOML_FEW = 16 }; /* members that are searched one by one */

typedef struct phi__toml_editor {
    phi__toml_reader reader;
    phi__marks marks;
    phi__toml_change change;
    phi__toml_writer writer; /* into change.texts; its path is that of the table */
    size_t section;          /* bytes of the path that are the last header's */
} phi__toml_editor;

/* What new members of a table look like. */
enum phi__toml_place {
    PHI__TOML_IN_SECTION, /* lines, and headers */
    PHI__TOML_IN_IMPLIED, /* the same, after a header of its own */
    PHI__TOML_IN_DOTTED   /* lines with a longer key */
};

static void phi__toml_edit_table(phi__toml_editor *e, const phi_json *old, const phi_json *now,
                                 uint8_t place, uint32_t depth);
static void phi__toml_edit_value(phi__toml_editor *e, const phi_json *old, const phi_json *now,
                                 uint32_t depth, bool lines);

static phi_str phi__toml_edit_key(const phi_json *node) {
    return phi__str(node->key, phi__json_key_len(node));
}

static bool phi__toml_edit_good(phi__toml_editor *e) {
    return !e->change.failed && phi__toml_write_status(&e->writer) == PHI_OK;
}

/* ---- members by name ---- */

typedef struct phi__toml_index {
    phi__map map;
    const phi_json *object;
} phi__toml_index;

static void phi__toml_edit_index_add(phi__toml_index *index, phi_json *node) {
    uint64_t hash = phi__map_hash((uint64_t)(uintptr_t)index, phi__toml_edit_key(node));
    size_t probe = 0;
    const phi_json *other;
    while ((other = (const phi_json *)phi__map_each(&index->map, hash, &probe)) != NULL)
        if (phi_str_equal(phi__toml_edit_key(other), phi__toml_edit_key(node))) {
            phi__map_drop(&index->map, hash, other);
            break;
        }
    phi__map_add(&index->map, hash, node);
}

static bool phi__toml_edit_index(phi__toml_index *index, phi_memory *memory,
                                 const phi_json *object) {
    phi_json_iter it = phi_json_each(object);
    phi__map_init(&index->map, memory);
    index->object = object;
    if (it.left <= PHI__TOML_FEW) return true;
    if (!phi__map_reserve(&index->map, it.left)) return false;
    while (phi_json_next(&it) != NULL) phi__toml_edit_index_add(index, it.at);
    return true;
}

/* The member that counts, or NULL where it is none or flags leave it out. */
static const phi_json *phi__toml_edit_find(phi__toml_editor *e, phi__toml_index *index,
                                           phi_str key) {
    size_t probe = 0;
    const phi_json *node;
    if (index->map.cap == 0)
        node = phi__json_get_n(index->object, key);
    else {
        uint64_t hash = phi__map_hash((uint64_t)(uintptr_t)index, key);
        while ((node = (const phi_json *)phi__map_each(&index->map, hash, &probe)) != NULL)
            if (phi_str_equal(phi__toml_edit_key(node), key)) break;
    }
    return node == NULL || phi__toml_write_skips(&e->writer, node) ? NULL : node;
}

/* ---- where things are ---- */

static uint8_t phi__toml_edit_how(const phi__toml_editor *e, const phi_json *table,
                                  const phi_json *node) {
    return phi__toml_names_find(&e->reader, table, phi__toml_edit_key(node))->how;
}

static phi__marks_entry phi__toml_edit_at(const phi__toml_editor *e, const phi_json *node) {
    return *phi__marks_at(&e->marks, node);
}

/* The end of the last line of a table and of all tables in it. */
static size_t phi__toml_edit_end(const phi__toml_editor *e, const phi_json *table) {
    size_t end = phi__toml_edit_at(e, table).to;
    phi_json_iter it = phi_json_each(table), items;
    while (phi_json_next(&it) != NULL) {
        uint8_t how = phi__toml_edit_how(e, table, it.at);
        if (how == PHI__TOML_FIXED) {
            end = phi__max(end, phi__toml_edit_at(e, it.at).to);
        } else if (how == PHI__TOML_LIST) {
            items = phi_json_each(it.at);
            while (phi_json_next(&items) != NULL)
                end = phi__max(end, phi__toml_edit_end(e, items.at));
        } else
            end = phi__max(end, phi__toml_edit_end(e, it.at));
    }
    return end;
}

/* The end of the last line of a table that dotted keys made. */
static size_t phi__toml_edit_dotted_end(const phi__toml_editor *e, const phi_json *table) {
    size_t end = 0;
    phi_json_iter it = phi_json_each(table);
    while (phi_json_next(&it) != NULL) {
        uint8_t how = phi__toml_edit_how(e, table, it.at);
        if (how == PHI__TOML_FIXED)
            end = phi__max(end, phi__toml_edit_at(e, it.at).to);
        else if (how == PHI__TOML_DOTTED)
            end = phi__max(end, phi__toml_edit_dotted_end(e, it.at));
    }
    return end;
}

/* ---- members that go ---- */

static void phi__toml_edit_drop(phi__toml_editor *e, const phi_json *table, const phi_json *node);

static void phi__toml_edit_drop_inside(phi__toml_editor *e, const phi_json *table) {
    phi_json_iter it = phi_json_each(table);
    while (phi_json_next(&it) != NULL) phi__toml_edit_drop(e, table, it.at);
}

/* A table with a header: its lines, and the other tables in it. */
static void phi__toml_edit_drop_section(phi__toml_editor *e, const phi_json *table) {
    phi__marks_entry at = phi__toml_edit_at(e, table);
    phi_json_iter it = phi_json_each(table);
    phi__toml_change_drop(&e->change, at.from, at.to, true);
    while (phi_json_next(&it) != NULL)
        if (phi__toml_edit_how(e, table, it.at) != PHI__TOML_FIXED)
            phi__toml_edit_drop(e, table, it.at);
}

static void phi__toml_edit_drop(phi__toml_editor *e, const phi_json *table, const phi_json *node) {
    phi__marks_entry at = phi__toml_edit_at(e, node);
    phi_json_iter it = phi_json_each(node);
    switch (phi__toml_edit_how(e, table, node)) {
    case PHI__TOML_FIXED: phi__toml_change_drop(&e->change, at.key_from, at.to, false); break;
    case PHI__TOML_EXPLICIT: phi__toml_edit_drop_section(e, node); break;
    case PHI__TOML_LIST:
        while (phi_json_next(&it) != NULL) phi__toml_edit_drop_section(e, it.at);
        break;
    default: phi__toml_edit_drop_inside(e, node); break;
    }
}

/* ---- values ---- */

static bool phi__toml_edit_is_nan(double d) { return !(d <= 0) && !(d > 0); }

static bool phi__toml_edit_same_double(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0 || (phi__toml_edit_is_nan(a) && phi__toml_edit_is_nan(b));
}

/* Of values that are neither arrays nor tables. */
static bool phi__toml_edit_same(const phi_json *a, const phi_json *b) {
    phi_toml_type type = phi_toml_type_of(a, NULL);
    if (type != phi_toml_type_of(b, NULL) || type == PHI_TOML_NONE || type >= PHI_TOML_ARRAY)
        return false;
    if (type != PHI_TOML_FLOAT) return phi__json_get_equal(a, b);
    return phi__toml_edit_same_double(a->v.d, b->v.d);
}

static void phi__toml_edit_replace(phi__toml_editor *e, const phi_json *old, const phi_json *now,
                                   uint32_t depth, bool lines) {
    phi__marks_entry at = phi__toml_edit_at(e, old);
    size_t text = e->change.texts.len;
    phi__toml_write_value(&e->writer, now, depth, lines);
    phi__toml_change_add(&e->change, at.from, at.to, text);
}

static bool phi__toml_edit_equal(phi__toml_editor *e, const phi_json *a, const phi_json *b);

/* The same values of the same types. `a` was read. */
static bool phi__toml_edit_equal(phi__toml_editor *e, const phi_json *a, const phi_json *b) {
    phi_json_iter of_a = phi_json_each(a), of_b = phi_json_each(b);
    if (phi_json_type_of(a) != phi_json_type_of(b)) return false;
    if (phi_json_is(a, PHI_JSON_OBJECT)) {
        phi_json_iter it = phi_json_each(a);
        phi__toml_index index;
        bool same = phi__toml_edit_index(&index, e->writer.out->memory, b);
        size_t count = 0;
        if (!same) e->change.failed = true;
        while (same && phi_json_next(&it) != NULL)
            same = phi__toml_edit_equal(e, it.at, phi__toml_edit_find(e, &index, it.key));
        it = phi_json_each(b);
        while (same && phi_json_next(&it) != NULL)
            count += phi__toml_edit_find(e, &index, it.key) == it.at;
        phi__map_free(&index.map);
        return same && count == a->len;
    }
    if (!phi_json_is(a, PHI_JSON_ARRAY)) return phi__toml_edit_same(a, b);
    if (of_a.left != of_b.left) return false;
    while (phi_json_next(&of_a) != NULL)
        if (!phi__toml_edit_equal(e, of_a.at, phi_json_next(&of_b))) return false;
    return true;
}

/* ---- items ---- */

/* How many items at the end stay as they are. Of lists of one length each item becomes the one at
   its place; of others those that are equal at the start and at the end stay, and the items between
   them change, go or are new. */
static size_t phi__toml_edit_same_end(phi__toml_editor *e, const phi_json *old,
                                      const phi_json *now) {
    phi_json_iter a = phi_json_each(old), b = phi_json_each(now);
    size_t least = phi__min(a.left, b.left), same = 0;
    if (a.left == b.left) return 0;
    while (least > 0 && phi__toml_edit_equal(e, phi_json_next(&a), phi_json_next(&b))) least--;
    a = phi_json_each(old);
    b = phi_json_each(now);
    while (a.left > least) (void)phi_json_next(&a);
    while (b.left > least) (void)phi_json_next(&b);
    while (phi_json_next(&a) != NULL)
        same = phi__toml_edit_equal(e, a.at, phi_json_next(&b)) ? same + 1 : 0;
    return same;
}

static void phi__toml_edit_array(phi__toml_editor *e, const phi_json *old, const phi_json *now,
                                 uint32_t depth, bool lines) {
    phi_json_iter a = phi_json_each(old), b = phi_json_each(now);
    const phi_json *last = NULL; /* the item behind which others come or go */
    if (old->len == 0 || now->len == 0) {
        if (old->len != now->len) phi__toml_edit_replace(e, old, now, depth, lines);
        return;
    }
    size_t end = phi__toml_edit_same_end(e, old, now);
    while (a.left > end && b.left > end && phi__toml_edit_good(e)) {
        last = phi_json_next(&a);
        phi__toml_edit_value(e, last, phi_json_next(&b), depth + 1, false);
    }
    if (!phi__toml_edit_good(e)) return;
    if (a.left > end)
        phi__toml_array_drop(&e->change, &e->marks, last != NULL ? last : old->v.last, a.left - end,
                             last == NULL);
    if (b.left == end) return;
    size_t more = b.left - end;
    phi__marks_entry at = phi__toml_edit_at(e, last != NULL ? last : phi_json_next(&a));
    if (last != NULL)
        phi__toml_array_append(&e->change, &e->writer, at.from, at.to, phi_json_next(&b), more,
                               depth + 1);
    else
        phi__toml_array_prepend(&e->change, &e->writer, phi__toml_edit_at(e, old).from, at.from,
                                phi_json_next(&b), more, depth + 1);
}

/* ---- tables in braces ---- */

/* Whether the members of a table in braces can be changed one by one: all are of a single key, and
   none goes. */
static bool phi__toml_edit_may_keep(phi__toml_editor *e, const phi_json *old,
                                    phi__toml_index *index) {
    phi_json_iter it = phi_json_each(old);
    if (it.left == 0) return false;
    while (phi_json_next(&it) != NULL)
        if (phi__toml_edit_how(e, old, it.at) != PHI__TOML_FIXED ||
            phi__toml_edit_find(e, index, it.key) == NULL)
            return false;
    return true;
}

/* New members of a table in braces, behind its last one. */
static void phi__toml_edit_more(phi__toml_editor *e, const phi_json *old, const phi_json *now,
                                phi__toml_index *index, uint32_t depth) {
    size_t text = e->change.texts.len, end = phi__toml_edit_at(e, old->v.last).to;
    phi_json_iter it = phi_json_each(now);
    while (phi_json_next(&it) != NULL) {
        if (phi__toml_names_find(&e->reader, old, it.key) != NULL ||
            phi__toml_edit_find(e, index, it.key) != it.at)
            continue;
        phi__buf_text(&e->change.texts, ", ");
        phi__toml_write_key(&e->change.texts, it.key);
        phi__buf_text(&e->change.texts, " = ");
        phi__toml_write_value(&e->writer, it.at, depth, false);
    }
    if (e->change.texts.len > text) phi__toml_change_add(&e->change, end, end, text);
}

static void phi__toml_edit_inline(phi__toml_editor *e, const phi_json *old, const phi_json *now,
                                  uint32_t depth) {
    phi__toml_index index;
    phi_json_iter it = phi_json_each(old);
    if (!phi__toml_edit_index(&index, e->writer.out->memory, now)) {
        e->change.failed = true;
        return;
    }
    if (phi__toml_edit_may_keep(e, old, &index)) {
        while (phi_json_next(&it) != NULL && phi__toml_edit_good(e))
            phi__toml_edit_value(e, it.at, phi__toml_edit_find(e, &index, it.key), depth + 1,
                                 false);
        phi__toml_edit_more(e, old, now, &index, depth + 1);
    } else if (!phi__toml_edit_equal(e, old, now))
        phi__toml_edit_replace(e, old, now, depth, false);
    phi__map_free(&index.map);
}

/* `old` has neither a header nor a dotted key. */
static void phi__toml_edit_value(phi__toml_editor *e, const phi_json *old, const phi_json *now,
                                 uint32_t depth, bool lines) {
    phi_toml_type type = phi_toml_type_of(old, NULL);
    if (type != phi_toml_type_of(now, NULL) || type < PHI_TOML_ARRAY) {
        if (!phi__toml_edit_same(old, now)) phi__toml_edit_replace(e, old, now, depth, lines);
    } else if (type == PHI_TOML_ARRAY)
        phi__toml_edit_array(e, old, now, depth, lines);
    else
        phi__toml_edit_inline(e, old, now, depth);
}

/* ---- new members of a table ---- */

/* A new line of a table; dotted: with the way from the last header before its key. */
static void phi__toml_edit_line(phi__toml_editor *e, phi_str indent, bool dotted,
                                const phi_json *node, uint32_t depth) {
    phi__buf *out = &e->change.texts;
    const phi__buf *path = &e->writer.path;
    size_t from = e->section + (e->section > 0);
    phi__buf_add_str(out, indent);
    if (dotted && path->len > from) {
        phi__buf_add(out, path->at + from, path->len - from);
        phi__buf_char(out, '.');
    }
    phi__toml_write_key(out, phi__toml_edit_key(node));
    phi__buf_text(out, " = ");
    phi__toml_write_value(&e->writer, node, depth, true);
    phi__buf_char(out, '\n');
}

/* The white space before the last line of a table. */
static phi_str phi__toml_edit_indent(const phi__toml_editor *e, const phi_json *table) {
    phi_json_iter it = phi_json_each(table);
    const phi_json *last = NULL;
    while (phi_json_next(&it) != NULL)
        if (phi__toml_edit_how(e, table, it.at) == PHI__TOML_FIXED) last = it.at;
    if (last == NULL) return phi__str("", 0);
    return phi__toml_change_indent(&e->change, phi__toml_edit_at(e, last).key_from);
}

/* Where new lines of a table go; *behind: text that must follow them. */
static size_t phi__toml_edit_body(const phi__toml_editor *e, const phi_json *table, uint8_t place,
                                  const char **behind) {
    phi__marks_entry at = phi__toml_edit_at(e, table);
    size_t end = at.to;
    if (place == PHI__TOML_IN_SECTION && table == e->reader.root && at.to == at.from) {
        if (e->reader.section_number == 0) return e->change.text.len;
        *behind = "\n";
        return phi__toml_change_above(&e->change, e->reader.first_header, end);
    }
    if (place == PHI__TOML_IN_DOTTED) end = phi__toml_edit_dotted_end(e, table);
    if (place == PHI__TOML_IN_IMPLIED) end = phi__toml_edit_end(e, table);
    return phi__toml_change_next(&e->change, end);
}

/* Whether an array can be one of tables: it has some, and nothing else. */
static bool phi__toml_edit_is_list(const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    if (!phi_json_is(node, PHI_JSON_ARRAY) || it.left == 0) return false;
    while (phi_json_next(&it) != NULL)
        if (!phi_json_is(it.at, PHI_JSON_OBJECT)) return false;
    return true;
}

/* Whether the old member, which has a header or a dotted key, can become the new one. */
static bool phi__toml_edit_stays(uint8_t how, const phi_json *now) {
    return how == PHI__TOML_LIST ? phi__toml_edit_is_list(now) : phi_json_is(now, PHI_JSON_OBJECT);
}

/* A member that the old table has not, or not in a form that can be changed. */
static bool phi__toml_edit_is_new(phi__toml_editor *e, const phi_json *old, phi__toml_index *index,
                                  const phi_json *node) {
    phi_str key = phi__toml_edit_key(node);
    const phi__toml_name *name = phi__toml_names_find(&e->reader, old, key);
    if (phi__toml_edit_find(e, index, key) != node) return false;
    return name == NULL || (name->how != PHI__TOML_FIXED && !phi__toml_edit_stays(name->how, node));
}

/* New values: lines at the end of the table, under a header where it has none. */
static void phi__toml_edit_lines(phi__toml_editor *e, const phi_json *old, phi__toml_index *index,
                                 uint8_t place, uint32_t depth) {
    phi__buf *out = &e->change.texts;
    size_t text = out->len, at = 0;
    const char *behind = "";
    bool dotted = place == PHI__TOML_IN_DOTTED, any = false;
    phi_str indent = phi__str("", 0);
    phi_json_iter it = phi_json_each(index->object);
    while (phi_json_next(&it) != NULL && phi__toml_edit_good(e)) {
        if ((!dotted && phi__toml_write_has_header(it.at)) ||
            !phi__toml_edit_is_new(e, old, index, it.at))
            continue;
        if (!any) {
            at = phi__toml_edit_body(e, old, place, &behind);
            indent = phi__toml_edit_indent(e, old);
            phi__toml_change_fresh(&e->change, at);
            if (place == PHI__TOML_IN_IMPLIED) phi__toml_write_header(&e->writer, false);
        }
        any = true;
        phi__toml_edit_line(e, indent, dotted, it.at, depth);
    }
    if (!any) return;
    phi__buf_text(out, behind);
    phi__toml_change_add(&e->change, at, at, text);
}

/* New tables: headers behind all that the table has; of the root, at the end of the text. */
static void phi__toml_edit_tables(phi__toml_editor *e, const phi_json *old, phi__toml_index *index,
                                  uint32_t depth) {
    size_t text = e->change.texts.len, at = e->change.text.len;
    bool any = false;
    phi_json_iter it = phi_json_each(index->object);
    while (phi_json_next(&it) != NULL && phi__toml_edit_good(e)) {
        if (!phi__toml_write_has_header(it.at) || !phi__toml_edit_is_new(e, old, index, it.at))
            continue;
        if (!any) {
            if (old != e->reader.root)
                at = phi__toml_change_next(&e->change, phi__toml_edit_end(e, old));
            phi__toml_change_fresh(&e->change, at);
        }
        any = true;
        phi__toml_write_member(&e->writer, it.at, depth);
    }
    if (any) phi__toml_change_add(&e->change, at, at, text);
}

/* ---- tables ---- */

/* New tables of a list: behind `last`, one of its tables; NULL: before its first one. */
static void phi__toml_edit_list_more(phi__toml_editor *e, const phi_json *old, const phi_json *last,
                                     phi_json_iter more, size_t end, uint32_t depth) {
    phi__toml_change *c = &e->change;
    size_t text = c->texts.len, at = 0;
    phi__marks_entry first = phi__toml_edit_at(e, old->v.last->next);
    if (last != NULL) {
        at = phi__toml_change_next(c, phi__toml_edit_end(e, last));
        phi__toml_change_fresh(c, at);
    }
    while (more.left > end && phi__toml_edit_good(e))
        phi__toml_write_item(&e->writer, phi_json_next(&more), depth);
    if (last != NULL) {
        phi__toml_change_add(c, at, at, text);
        return;
    }
    phi__buf_char(&c->texts, '\n'); /* instead of the one before the first new header */
    phi__toml_change_before(c, phi__toml_change_above(c, first.from, first.key_from), text + 1);
}

static void phi__toml_edit_list(phi__toml_editor *e, const phi_json *old, const phi_json *now,
                                uint32_t depth) {
    phi_json_iter a = phi_json_each(old), b = phi_json_each(now);
    size_t end = phi__toml_edit_same_end(e, old, now);
    const phi_json *last = NULL;
    while (a.left > end && phi__toml_edit_good(e)) {
        const phi_json *item = phi_json_next(&a);
        if (b.left > end)
            phi__toml_edit_table(e, last = item, phi_json_next(&b), PHI__TOML_IN_SECTION, depth);
        else
            phi__toml_edit_drop_section(e, item);
    }
    if (b.left > end && phi__toml_edit_good(e))
        phi__toml_edit_list_more(e, old, last, b, end, depth);
}

static void phi__toml_edit_member(phi__toml_editor *e, const phi_json *table, const phi_json *old,
                                  const phi_json *now, uint32_t depth) {
    uint8_t how = phi__toml_edit_how(e, table, old);
    if (how == PHI__TOML_FIXED && now != NULL) {
        phi__toml_edit_value(e, old, now, depth, true);
        return;
    }
    if (now == NULL || !phi__toml_edit_stays(how, now)) {
        phi__toml_edit_drop(e, table, old);
        return;
    }
    size_t path = phi__toml_write_push(&e->writer, phi__toml_edit_key(old));
    if (how == PHI__TOML_LIST)
        phi__toml_edit_list(e, old, now, depth + 2);
    else
        phi__toml_edit_table(e, old, now,
                             how == PHI__TOML_EXPLICIT ? PHI__TOML_IN_SECTION
                             : how == PHI__TOML_DOTTED ? PHI__TOML_IN_DOTTED
                                                       : PHI__TOML_IN_IMPLIED,
                             depth + 1);
    phi__toml_write_pop(&e->writer, path);
}

static void phi__toml_edit_table(phi__toml_editor *e, const phi_json *old, const phi_json *now,
                                 uint8_t place, uint32_t depth) {
    size_t section = e->section;
    phi_json_iter it = phi_json_each(old);
    phi__toml_index index;
    bool empty = true;
    if (!phi__toml_edit_index(&index, e->writer.out->memory, now)) {
        e->change.failed = true;
        return;
    }
    if (place == PHI__TOML_IN_SECTION) e->section = e->writer.path.len;
    while (phi_json_next(&it) != NULL && phi__toml_edit_good(e))
        phi__toml_edit_member(e, old, it.at, phi__toml_edit_find(e, &index, it.key), depth);
    phi__toml_edit_lines(e, old, &index, place, depth);
    if (place != PHI__TOML_IN_DOTTED) phi__toml_edit_tables(e, old, &index, depth);
    it = phi_json_each(now);
    while (empty && phi_json_next(&it) != NULL) empty = phi__toml_write_skips(&e->writer, it.at);
    if (empty && place != PHI__TOML_IN_SECTION) {
        /* A table without a header of its own lost all its members: it is written empty. */
        phi__buf *out = &e->change.texts;
        const phi__buf *path = &e->writer.path;
        size_t text = out->len, from = e->section + (e->section > 0);
        const char *behind = "";
        size_t at = phi__toml_edit_body(e, old, place, &behind);
        phi__toml_change_fresh(&e->change, at);
        if (place == PHI__TOML_IN_IMPLIED)
            phi__toml_write_header(&e->writer, false);
        else {
            phi__buf_add(out, path->at + from, path->len - from);
            phi__buf_text(out, " = {}\n");
        }
        phi__toml_change_add(&e->change, at, at, text);
    }
    phi__map_free(&index.map);
    e->section = section;
}

/* ---- public ---- */

/* Reads the text with the places of all nodes. */
static phi_status phi__toml_edit_read(phi__toml_editor *e, phi_arena *arena, phi_str text,
                                      phi_parse_error *error) {
    phi_toml_desc options = PHI_ZERO;
    options.max_depth = PHI_JSON_MAX_DEPTH;
    phi__marks_init(&e->marks, arena);
    phi__toml_read_begin(&e->reader, arena, text, &options);
    e->reader.marks = &e->marks;
    while (phi__toml_read_advance(&e->reader, SIZE_MAX) == PHI_BUSY) continue;
    phi_status status = phi__toml_read_result(&e->reader, NULL, error);
    return status == PHI_OK && e->marks.failed ? PHI_NO_MEMORY : status;
}

PHI_API phi_status phi_toml_edit(phi_arena *arena, phi_str text, const phi_json *tree,
                                 uint32_t flags, phi_str *out, phi_parse_error *error) {
    phi_arena scratch;
    phi__buf buf;
    if (arena == NULL || out == NULL || !phi_json_is(tree, PHI_JSON_OBJECT)) return PHI_BAD_ARG;
    if ((flags & ~PHI_TOML_SKIP_NULLS) != 0) return PHI_BAD_ARG;
    phi__toml_editor e = PHI_ZERO;
    phi_arena_init(&scratch, arena->memory, 0);
    phi__buf_init(&buf, arena->memory);
    phi__toml_change_init(&e.change, arena->memory, text);
    phi__toml_write_init(&e.writer, &e.change.texts, flags);
    e.writer.apart = text.len > 0;
    phi_status status = phi__toml_edit_read(&e, &scratch, text, error);
    if (status == PHI_OK) {
        phi__toml_edit_table(&e, e.reader.root, tree, PHI__TOML_IN_SECTION, 1);
        status = phi__toml_write_status(&e.writer);
        if (status == PHI_OK && !phi__toml_change_apply(&e.change, &buf)) status = PHI_NO_MEMORY;
    }
    if (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&buf), out)) status = PHI_NO_MEMORY;
    phi__toml_write_free(&e.writer);
    phi__toml_change_free(&e.change);
    phi__buf_free(&buf);
    phi_arena_free(&scratch);
    return status;
}

/* ======== One value of a text, by its path: changed in the tree, and then in the text. */

/* The next step of a path, *path moving behind it. False: it is malformed. */
static bool phi__toml_set_step(const char **path, phi__json_step *step) {
    const char *at = *path + (**path == '.');
    if (*at != '"' && *at != '\'') return phi__json_get_path_step(path, step);
    const char *end = strchr(at + 1, *at);
    if (end == NULL) return false;
    step->is_index = false;
    step->index = 0;
    step->key = phi__str(at + 1, (size_t)(end - at) - 1);
    *path = end + 1;
    return end[1] == '\0' || end[1] == '.' || end[1] == '[';
}

/* The node of a step, or NULL. */
static phi_json *phi__toml_set_child(const phi_json *node, const phi__json_step *step) {
    return step->is_index ? phi_json_at(node, step->index) : phi__json_get_n(node, step->key);
}

static bool phi__toml_set_fits(const phi_json *node, const phi__json_step *step) {
    return step->is_index ? phi_json_is(node, PHI_JSON_ARRAY) : phi_json_is(node, PHI_JSON_OBJECT);
}

/* A new node where a step leads; node: of the right kind. */
static phi_status phi__toml_set_add(phi_arena *arena, phi_json *node, const phi__json_step *step,
                                    phi_json *value) {
    if (!step->is_index) return phi__json_edit_set(arena, node, step->key, value);
    return step->index == node->len ? phi_json_add(node, value) : PHI_NOT_FOUND;
}

static phi_status phi__toml_set_last(phi_arena *arena, phi_json *node, const phi__json_step *step,
                                     const phi_json *value) {
    phi_json *child = phi__toml_set_child(node, step);
    phi_status status = PHI_OK;
    if (value == NULL) {
        phi_str key;
        if (step->is_index)
            return phi__json_edit_remove_at(node, step->index) != NULL ? PHI_OK : PHI_NOT_FOUND;
        if (!phi__arena_str(arena, step->key, &key)) return PHI_NO_MEMORY;
        return phi_json_remove(node, key.at) != NULL ? PHI_OK : PHI_NOT_FOUND;
    }
    if (child == NULL) {
        child = phi__json_edit_null(arena);
        status = phi__toml_set_add(arena, node, step, child);
    }
    if (status == PHI_OK) {
        /* `node` keeps its place and its key, and is `value` from now on: it borrows text and
           children, as the tree is only read from here. */
        child->v = value->v;
        child->len = value->len;
        child->meta = (child->meta & ~0xffu) | (value->meta & 0xffu);
    }
    return status;
}

/* Walks the path, making missing tables and arrays unless a value is to be removed. */
static phi_status phi__toml_set_walk(phi_arena *arena, phi_json *node, const char *path,
                                     const phi_json *value) {
    phi__json_step step;
    phi_json *child;
    phi_status status = PHI_OK;
    for (;;) {
        if (!phi__toml_set_step(&path, &step) || !phi__toml_set_fits(node, &step))
            return PHI_BAD_ARG;
        if (*path == '\0') return phi__toml_set_last(arena, node, &step, value);
        child = phi__toml_set_child(node, &step);
        if (child == NULL && value == NULL) return PHI_NOT_FOUND;
        if (child == NULL) {
            child = *path == '[' ? phi_json_new_array(arena) : phi_json_new_object(arena);
            status = phi__toml_set_add(arena, node, &step, child);
        }
        if (status != PHI_OK) return status;
        node = child;
    }
}

/* ---- public ---- */

PHI_API phi_status phi_toml_set(phi_arena *arena, phi_str text, const char *path,
                                const phi_json *value, uint32_t flags, phi_str *out,
                                phi_parse_error *error) {
    phi_toml_desc options = PHI_ZERO;
    phi_arena scratch;
    phi_json *root;
    if (arena == NULL || out == NULL || path == NULL) return PHI_BAD_ARG;
    options.max_depth = PHI_JSON_MAX_DEPTH;
    phi_arena_init(&scratch, arena->memory, 0);
    phi_status status = phi_toml_parse(&scratch, text, &options, &root, error);
    if (status == PHI_OK) status = phi__toml_set_walk(&scratch, root, path, value);
    if (status == PHI_OK) status = phi_toml_edit(arena, text, root, flags, out, NULL);
    phi_arena_free(&scratch);
    return status;
}
