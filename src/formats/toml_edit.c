/* toml_edit.c - the pieces of a text to replace so that it reads as another tree.

   The old tree is walked with the new one beside it. Changes deep inside come first, so that of
   two new texts at one place that of the inner table precedes the header of another one. */
#include "base/map_in.h"
#include "formats/toml_in.h"

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
    uint64_t hash;
    size_t probe = 0;
    const phi_json *node;
    if (index->map.cap == 0)
        node = phi__json_get_n(index->object, key);
    else {
        hash = phi__map_hash((uint64_t)(uintptr_t)index, key);
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

static bool phi__toml_edit_equal_members(phi__toml_editor *e, const phi_json *a,
                                         const phi_json *b) {
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

/* The same values of the same types. `a` was read. */
static bool phi__toml_edit_equal(phi__toml_editor *e, const phi_json *a, const phi_json *b) {
    phi_json_iter of_a = phi_json_each(a), of_b = phi_json_each(b);
    if (phi_json_type_of(a) != phi_json_type_of(b)) return false;
    if (phi_json_is(a, PHI_JSON_OBJECT)) return phi__toml_edit_equal_members(e, a, b);
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
    phi__marks_entry at;
    size_t end, more;
    if (old->len == 0 || now->len == 0) {
        if (old->len != now->len) phi__toml_edit_replace(e, old, now, depth, lines);
        return;
    }
    end = phi__toml_edit_same_end(e, old, now);
    while (a.left > end && b.left > end && phi__toml_edit_good(e)) {
        last = phi_json_next(&a);
        phi__toml_edit_value(e, last, phi_json_next(&b), depth + 1, false);
    }
    if (!phi__toml_edit_good(e)) return;
    if (a.left > end)
        phi__toml_array_drop(&e->change, &e->marks, last != NULL ? last : old->v.last, a.left - end,
                             last == NULL);
    if (b.left == end) return;
    more = b.left - end;
    at = phi__toml_edit_at(e, last != NULL ? last : phi_json_next(&a));
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

/* A table without a header of its own lost all its members: it is written empty. */
static void phi__toml_edit_emptied(phi__toml_editor *e, const phi_json *old, uint8_t place) {
    phi__buf *out = &e->change.texts;
    const phi__buf *path = &e->writer.path;
    size_t text = out->len, from = e->section + (e->section > 0), at;
    const char *behind = "";
    at = phi__toml_edit_body(e, old, place, &behind);
    phi__toml_change_fresh(&e->change, at);
    if (place == PHI__TOML_IN_IMPLIED)
        phi__toml_write_header(&e->writer, false);
    else {
        phi__buf_add(out, path->at + from, path->len - from);
        phi__buf_text(out, " = {}\n");
    }
    phi__toml_change_add(&e->change, at, at, text);
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
    size_t path;
    if (how == PHI__TOML_FIXED && now != NULL) {
        phi__toml_edit_value(e, old, now, depth, true);
        return;
    }
    if (now == NULL || !phi__toml_edit_stays(how, now)) {
        phi__toml_edit_drop(e, table, old);
        return;
    }
    path = phi__toml_write_push(&e->writer, phi__toml_edit_key(old));
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
    if (empty && place != PHI__TOML_IN_SECTION) phi__toml_edit_emptied(e, old, place);
    phi__map_free(&index.map);
    e->section = section;
}

/* ---- public ---- */

/* Reads the text with the places of all nodes. */
static phi_status phi__toml_edit_read(phi__toml_editor *e, phi_arena *arena, phi_str text,
                                      phi_parse_error *error) {
    phi_toml_desc options = PHI_ZERO;
    phi_status status;
    options.max_depth = PHI_JSON_MAX_DEPTH;
    phi__marks_init(&e->marks, arena);
    phi__toml_read_begin(&e->reader, arena, text, &options);
    e->reader.marks = &e->marks;
    while (phi__toml_read_advance(&e->reader, SIZE_MAX) == PHI_BUSY) continue;
    status = phi__toml_read_result(&e->reader, NULL, error);
    return status == PHI_OK && e->marks.failed ? PHI_NO_MEMORY : status;
}

PHI_API phi_status phi_toml_edit(phi_arena *arena, phi_str text, const phi_json *tree,
                                 uint32_t flags, phi_str *out, phi_parse_error *error) {
    phi__toml_editor e;
    phi_arena scratch;
    phi__buf buf;
    phi_status status;
    if (arena == NULL || out == NULL || !phi_json_is(tree, PHI_JSON_OBJECT)) return PHI_BAD_ARG;
    if ((flags & ~PHI_TOML_SKIP_NULLS) != 0) return PHI_BAD_ARG;
    memset(&e, 0, sizeof e);
    phi_arena_init(&scratch, arena->memory, 0);
    phi__buf_init(&buf, arena->memory);
    phi__toml_change_init(&e.change, arena->memory, text);
    phi__toml_write_init(&e.writer, &e.change.texts, flags);
    e.writer.apart = text.len > 0;
    status = phi__toml_edit_read(&e, &scratch, text, error);
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
