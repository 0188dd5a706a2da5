/* toml_tree.c - tables, the walk of headers and dotted keys, and values that join them. */
#include "formats/toml_in.h"

enum { PHI__TOML_SLAB = 16 }; /* nodes taken at once, at most */

static phi_json *phi__toml_tree_node(phi__toml_reader *r, uint32_t meta) {
    phi_json *node;
    if (r->spare == r->spare_end) {
        size_t count = phi__min(1 + (size_t)(r->end - r->at) / 16, PHI__TOML_SLAB);
        r->spare = (phi_json *)phi_arena_alloc(r->arena, count * sizeof *node);
        r->spare_end = r->spare == NULL ? NULL : r->spare + count;
        if (r->spare == NULL) {
            phi__toml_text_no_memory(r);
            return NULL;
        }
    }
    node = r->spare++;
    memset(node, 0, sizeof *node);
    node->meta = meta;
    return node;
}

/* ---- places ---- */

/* The place of a value, or of a header, that begins at `value_at`. */
static void phi__toml_tree_mark(phi__toml_reader *r, const phi_json *node, const char *end) {
    phi__marks_entry *entry;
    if (r->marks == NULL) return;
    phi__marks_add(r->marks, node, r->places.value_line, r->places.value_column);
    entry = phi__marks_at(r->marks, node);
    if (entry == NULL) return;
    entry->from = (uint32_t)(r->places.value_at - r->text);
    entry->to = (uint32_t)(end - r->text);
}

static void phi__toml_tree_mark_key(phi__toml_reader *r, const phi_json *node) {
    phi__marks_entry *entry;
    if (r->marks == NULL) return;
    phi__marks_add_key(r->marks, node, r->places.key_line, r->places.key_column);
    entry = phi__marks_at(r->marks, node);
    if (entry != NULL && !r->in_header)
        entry->key_from = (uint32_t)(r->places.line_key_at - r->text);
}

/* The place of a header whose table is r->table. */
static void phi__toml_tree_mark_header(phi__toml_reader *r) {
    const phi__marks_entry *before;
    phi__marks_entry *entry;
    phi__toml_tree_mark(r, r->table, r->at);
    if (r->marks == NULL) return;
    before = phi__marks_at(r->marks, r->section);
    entry = phi__marks_at(r->marks, r->table);
    if (before != NULL && entry != NULL) entry->key_from = before->to;
}

/* A value ended at `end`: so does, for now, the section it is in. */
static void phi__toml_tree_mark_end(phi__toml_reader *r, const phi_json *node, const char *end) {
    phi__marks_entry *entry;
    if (r->marks == NULL) return;
    entry = phi__marks_at(r->marks, node);
    if (entry != NULL) entry->to = (uint32_t)(end - r->text);
    if (r->top != NULL) return;
    entry = phi__marks_at(r->marks, r->section);
    if (entry != NULL) entry->to = (uint32_t)(end - r->text);
}

/* ---- tables ---- */

PHI__FN bool phi__toml_tree_begin(phi__toml_reader *r) {
    r->root = phi__toml_tree_node(r, PHI__JSON_OBJECT);
    if (r->root == NULL) return false;
    r->section = r->table = r->root;
    r->section_depth = r->table_depth = 1;
    r->places.value_at = r->at;
    r->places.value_line = r->places.value_column = 1;
    phi__toml_tree_mark(r, r->root, r->at);
    return true;
}

PHI__FN void phi__toml_tree_header(phi__toml_reader *r) {
    r->in_header = true;
    r->table = r->root;
    r->table_depth = 1;
    r->state = PHI__TOML_KEY;
}

PHI__FN void phi__toml_tree_key(phi__toml_reader *r) {
    r->in_header = false;
    r->table = r->top != NULL ? r->top->node : r->section;
    r->table_depth = r->top != NULL ? r->top->depth : r->section_depth;
    r->places.line_key_at = r->at;
    r->state = PHI__TOML_KEY;
}

static bool phi__toml_tree_deeper(phi__toml_reader *r, uint32_t depth) {
    if (depth <= r->max_depth) return true;
    phi__toml_text_too_big(r, r->at, "tables and arrays are nested too deeply");
    return false;
}

/* A new member of `table` under the part that was read. NULL: an error was set. */
static phi_json *phi__toml_tree_member(phi__toml_reader *r, uint32_t meta, uint8_t how) {
    phi_json *node = phi__toml_tree_node(r, meta);
    if (node == NULL) return NULL;
    node->key = r->key.at;
    node->meta |= (uint32_t)r->key.len << 8;
    if (!phi__toml_names_add(r, r->table, node, how)) return NULL;
    phi__json_append(r->table, node);
    phi__toml_tree_mark_key(r, node);
    return node;
}

static void phi__toml_tree_enter(phi__toml_reader *r, phi_json *table, uint32_t deeper) {
    r->table = table;
    r->table_depth += deeper;
    (void)phi__toml_tree_deeper(r, r->table_depth);
}

/* The way of a header through a member that is there. */
static void phi__toml_tree_pass(phi__toml_reader *r, const phi__toml_name *name) {
    if (name->how == PHI__TOML_FIXED)
        phi__toml_text_wrong_key(r, "the key \"",
                                 phi__json_kind_of(name->node) == PHI__JSON_OBJECT
                                     ? "\" is an inline table, which is complete"
                                     : "\" is a value already, and no table");
    else if (name->how == PHI__TOML_LIST)
        phi__toml_tree_enter(r, name->node->v.last, 2);
    else
        phi__toml_tree_enter(r, name->node, 1);
}

/* The way of a dotted key: only through tables that dotted keys of this section made, or that have
   no definition yet. */
static void phi__toml_tree_pass_dotted(phi__toml_reader *r, phi__toml_name *name) {
    bool own = name->how == PHI__TOML_DOTTED && name->section == r->section_number;
    if (name->how == PHI__TOML_FIXED) {
        phi__toml_tree_pass(r, name);
        return;
    }
    if (!own && name->how != PHI__TOML_IMPLICIT) {
        phi__toml_text_wrong_key(r, "the table \"",
                                 "\" is defined already: a dotted key cannot add to it");
        return;
    }
    name->how = PHI__TOML_DOTTED;
    name->section = r->section_number & PHI__TOML_SECTIONS;
    phi__toml_tree_enter(r, name->node, 1);
}

PHI__FN void phi__toml_tree_descend(phi__toml_reader *r) {
    phi__toml_name *name = phi__toml_names_find(r, r->table, r->key);
    phi_json *node;
    if (name == NULL) {
        node = phi__toml_tree_member(r, PHI__JSON_OBJECT,
                                     r->in_header ? PHI__TOML_IMPLICIT : PHI__TOML_DOTTED);
        if (node == NULL) return;
        if (!r->in_header) {
            r->places.value_at = r->places.line_key_at;
            r->places.value_line = r->places.key_line;
            r->places.value_column = r->places.key_column;
        }
        phi__toml_tree_mark(r, node, r->places.value_at);
        phi__toml_tree_enter(r, node, 1);
        return;
    }
    if (r->in_header)
        phi__toml_tree_pass(r, name);
    else
        phi__toml_tree_pass_dotted(r, name);
    if (r->status == PHI_BUSY) phi__toml_text_drop(r, r->key);
}

/* Another table at the end of an array of tables. */
static void phi__toml_tree_another(phi__toml_reader *r, phi_json *list) {
    phi_json *node = phi__toml_tree_node(r, PHI__JSON_OBJECT);
    if (node == NULL) return;
    phi__json_append(list, node);
    phi__toml_tree_enter(r, node, 2);
}

static void phi__toml_tree_list(phi__toml_reader *r, phi__toml_name *name) {
    phi_json *list =
        name == NULL ? phi__toml_tree_member(r, PHI__JSON_ARRAY | (uint32_t)PHI__JSON_TABLES << 4,
                                             PHI__TOML_LIST)
                     : name->node;
    if (list == NULL) return;
    if (name == NULL)
        phi__toml_tree_mark(r, list, r->at);
    else if (name->how == PHI__TOML_LIST)
        phi__toml_text_drop(r, r->key);
    else if (name->how == PHI__TOML_FIXED)
        phi__toml_text_wrong_key(r, "the key \"",
                                 phi__json_kind_of(list) == PHI__JSON_ARRAY
                                     ? "\" is an array in brackets, which is complete"
                                     : "\" is a value already, and no array of tables");
    else
        phi__toml_text_wrong_key(r, "the key \"", "\" is a table already, and no array of tables");
    if (r->status == PHI_BUSY) phi__toml_tree_another(r, list);
}

static void phi__toml_tree_table(phi__toml_reader *r, phi__toml_name *name) {
    phi_json *node;
    if (name == NULL) {
        node = phi__toml_tree_member(r, PHI__JSON_OBJECT, PHI__TOML_EXPLICIT);
    } else {
        node = name->node;
        if (name->how == PHI__TOML_LIST)
            phi__toml_text_wrong_key(r, "the key \"", "\" is an array of tables already");
        else if (name->how == PHI__TOML_FIXED)
            phi__toml_text_wrong_key(r, "the key \"", "\" has a value already");
        else if (name->how != PHI__TOML_IMPLICIT)
            phi__toml_text_wrong_key(r, "the table \"",
                                     "\" is defined already: put all its keys under one header");
        name->how = PHI__TOML_EXPLICIT;
        if (r->status == PHI_BUSY) {
            phi__toml_tree_mark_key(r, node);
            phi__toml_text_drop(r, r->key);
        }
    }
    if (node != NULL && r->status == PHI_BUSY) phi__toml_tree_enter(r, node, 1);
}

PHI__FN void phi__toml_tree_section(phi__toml_reader *r) {
    phi__toml_name *name = phi__toml_names_find(r, r->table, r->key);
    if (r->tables_header)
        phi__toml_tree_list(r, name);
    else
        phi__toml_tree_table(r, name);
    if (r->status != PHI_BUSY) return;
    phi__toml_tree_mark_header(r);
    r->section = r->table;
    r->section_depth = r->table_depth;
    if (r->section_number == PHI__TOML_SECTIONS) phi__toml_text_too_big(r, r->at, "2^29 headers");
    if (r->section_number == 0) r->first_header = (uint32_t)(r->places.value_at - r->text);
    r->section_number++;
    r->state = PHI__TOML_REST;
}

/* ---- values ---- */

PHI__FN void phi__toml_tree_assign(phi__toml_reader *r) {
    const phi__toml_name *name = phi__toml_names_find(r, r->table, r->key);
    if (name != NULL)
        phi__toml_text_wrong_key(r, "the key \"",
                                 "\" is in this table already: keep one of the two");
    r->state = PHI__TOML_VALUE;
}

PHI__FN void phi__toml_tree_value(phi__toml_reader *r) {
    r->places.value_at = r->at;
    r->places.value_line = r->line;
    r->places.value_column = phi__toml_column(r, r->at);
}

static bool phi__toml_tree_in_array(const phi__toml_reader *r) {
    return r->top != NULL && phi__json_kind_of(r->top->node) == PHI__JSON_ARRAY;
}

/* A new value in its table or array. */
static phi_json *phi__toml_tree_join(phi__toml_reader *r, uint32_t meta) {
    phi_json *node;
    if (!phi__toml_tree_in_array(r)) return phi__toml_tree_member(r, meta, PHI__TOML_FIXED);
    node = phi__toml_tree_node(r, meta);
    if (node != NULL) phi__json_append(r->top->node, node);
    return node;
}

PHI__FN uint8_t phi__toml_tree_after(const phi__toml_reader *r) {
    if (r->top == NULL) return PHI__TOML_REST;
    return phi__toml_tree_in_array(r) ? PHI__TOML_ITEM_AFTER : PHI__TOML_MEMBER_AFTER;
}

PHI__FN phi_json *phi__toml_tree_scalar(phi__toml_reader *r, uint32_t meta, const char *at) {
    phi_json *node = phi__toml_tree_join(r, meta);
    if (node == NULL) return NULL;
    phi__toml_tree_mark(r, node, at);
    phi__toml_tree_mark_end(r, node, at);
    r->state = phi__toml_tree_after(r);
    return node;
}

PHI__FN void phi__toml_tree_open(phi__toml_reader *r, bool table) {
    uint32_t depth = 1 + (phi__toml_tree_in_array(r) ? r->top->depth : r->table_depth);
    uint32_t meta =
        table ? PHI__JSON_OBJECT | (uint32_t)PHI__JSON_INLINE << 4 : (uint32_t)PHI__JSON_ARRAY;
    phi__toml_frame *frame = r->unused;
    phi_json *node;
    if (!phi__toml_tree_deeper(r, depth)) return;
    node = phi__toml_tree_join(r, meta);
    if (node == NULL) return;
    phi__toml_tree_mark(r, node, r->at + 1);
    if (frame != NULL)
        r->unused = frame->up;
    else
        frame = (phi__toml_frame *)phi_arena_alloc(r->arena, sizeof *frame);
    if (frame == NULL) {
        phi__toml_text_no_memory(r);
        return;
    }
    frame->up = r->top;
    frame->node = node;
    frame->depth = depth;
    r->top = frame;
    r->at++;
    r->state = table ? PHI__TOML_FIRST_MEMBER : PHI__TOML_ITEM;
}

PHI__FN void phi__toml_tree_close(phi__toml_reader *r) {
    phi__toml_frame *frame = r->top;
    r->at++;
    r->top = frame->up;
    frame->up = r->unused;
    r->unused = frame;
    phi__toml_tree_mark_end(r, frame->node, r->at);
    r->state = phi__toml_tree_after(r);
}
