/* yaml_tree.c - frames and nodes: open collections, their values and keys, anchors, aliases. */
#include "text/marks_in.h"
#include "formats/yaml_in.h"

#define PHI__YAML_SLAB 16u /* nodes taken at once, at most */
#define PHI__YAML_KEY_MOST 0xffffffu
#define PHI__YAML_ANYWHERE UINT32_MAX /* the scope of anchors */

PHI__FN phi_json *phi__yaml_tree_node(phi__yaml_reader *r, uint32_t kind) {
    phi_json *node;
    if (r->spare == r->spare_end) {
        size_t count = phi__min(1 + (size_t)(r->end - r->at) / 16, PHI__YAML_SLAB);
        r->spare = (phi_json *)phi_arena_alloc(r->arena, count * sizeof *node);
        r->spare_end = r->spare == NULL ? NULL : r->spare + count;
        if (r->spare == NULL) {
            phi__yaml_text_no_memory(r);
            return NULL;
        }
    }
    node = r->spare++;
    memset(node, 0, sizeof *node);
    node->meta = kind;
    return node;
}

/* Where the scalar under way begins, on its line, from 0. */
static uint32_t phi__yaml_tree_column(const phi__yaml_reader *r) {
    const phi__yaml_scalar *s = &r->scalar;
    return s->at >= s->line_at ? (uint32_t)(s->at - s->line_at) : 0;
}

/* column: from 0 */
static void phi__yaml_tree_mark(phi__yaml_reader *r, const phi_json *node, uint32_t line,
                                uint32_t column) {
    if (PHI__MARKED(r) && node != NULL) phi__marks_add(r->marks, node, line, column + 1);
}

/* ---- properties ---- */

static void phi__yaml_tree_clear(phi__yaml_props *props) { memset(props, 0, sizeof *props); }

/* Those of earlier lines and of this one belong to one node. */
static bool phi__yaml_tree_merge(phi__yaml_reader *r) {
    phi__yaml_props *outer = &r->outer, *inner = &r->inner;
    if (outer->at == NULL) return true;
    if (inner->at == NULL) {
        *inner = *outer;
    } else if ((inner->anchor_at != NULL && outer->anchor_at != NULL) ||
               (inner->tag != 0 && outer->tag != 0)) {
        phi__yaml_text_wrong_at(r, inner->at, inner->line, inner->column,
                                inner->tag != 0 && outer->tag != 0
                                    ? "a second tag for one node"
                                    : "a second anchor for one node");
        return false;
    } else if (outer->anchor_at != NULL) {
        inner->anchor = outer->anchor;
        inner->anchor_at = outer->anchor_at;
    } else
        inner->tag = outer->tag;
    phi__yaml_tree_clear(outer);
    return true;
}

PHI__FN bool phi__yaml_tree_has_outer(const phi__yaml_reader *r) { return r->outer.at != NULL; }

/* ---- anchors ---- */

static bool phi__yaml_tree_anchor(phi__yaml_reader *r, const phi__yaml_props *props, phi_json *node,
                                  phi_str source) {
    phi__yaml_name *name;
    uint32_t hash;
    if (props->anchor_at == NULL) return true;
    hash = phi__yaml_names_hash(&r->anchors, props->anchor, PHI__YAML_ANYWHERE);
    name = phi__yaml_names_find(&r->anchors, props->anchor, PHI__YAML_ANYWHERE, hash);
    if (name == NULL)
        name = phi__yaml_names_add(&r->anchors, r->arena, props->anchor, PHI__YAML_ANYWHERE, hash);
    if (name == NULL) {
        phi__yaml_text_no_memory(r);
        return false;
    }
    name->node = node;
    name->source = source;
    return true;
}

/* ---- scalars as nodes ---- */

static const char *phi__yaml_tree_tag_name(uint8_t tag) {
    static const char *const names[] = {"",       "!",      "!!str", "!!int", "!!float",
                                        "!!bool", "!!null", "!!seq", "!!map"};
    return names[tag];
}

static void phi__yaml_tree_mismatch(phi__yaml_reader *r, const phi__yaml_props *props,
                                    const char *what) {
    char message[96];
    const char *name = phi__yaml_tree_tag_name(props->tag);
    size_t n = strlen(name);
    memcpy(message, name, n);
    memcpy(message + n, what, strlen(what) + 1);
    phi__yaml_text_wrong_at(r, props->at, props->line, props->column, message);
}

/* The scalar's text, as a terminated copy. */
static bool phi__yaml_tree_text(phi__yaml_reader *r) {
    if (r->scalar.string == NULL) phi__yaml_text_end(r);
    return r->status == PHI_BUSY;
}

/* The kind of the scalar read, with *value; 0: an error was set. */
static uint32_t phi__yaml_tree_resolve(phi__yaml_reader *r, phi__json_value *value) {
    phi__yaml_scalar *s = &r->scalar;
    phi_str text = s->string != NULL ? phi__str(s->string, s->len)
                                     : phi__str(s->mark, (size_t)(s->last - s->mark));
    uint32_t kind;
    if (s->string == NULL && s->text != NULL) {
        if (!phi__yaml_tree_text(r)) return 0;
        text = phi__str(s->string, s->len);
    }
    kind = phi__yaml_core_resolve(
        text, s->style == PHI__YAML_STYLE_PLAIN && (r->options.flags & PHI_YAML_TEXTS) == 0,
        r->inner.tag, value);
    if (kind == PHI__YAML_TOO_LARGE) {
        phi__yaml_text_wrong_at(r, s->at, s->line, (uint32_t)(s->at - s->line_at),
                                "the number is too large for 64 bits or a double");
        return 0;
    }
    if (kind == 0) phi__yaml_tree_mismatch(r, &r->inner, " does not allow this value");
    return kind;
}

/* The scalar read as a node. Its properties are in `inner`. */
static phi_json *phi__yaml_tree_scalar(phi__yaml_reader *r) {
    phi__json_value value;
    uint32_t kind = phi__yaml_tree_resolve(r, &value);
    phi_json *node;
    if (kind == 0) return NULL;
    if (kind == PHI__JSON_STRING || r->inner.anchor_at != NULL)
        if (!phi__yaml_tree_text(r)) return NULL;
    node = phi__yaml_tree_node(r, kind);
    if (node == NULL) return NULL;
    node->v = value;
    phi__yaml_tree_mark(r, node, r->scalar.line, phi__yaml_tree_column(r));
    if (kind == PHI__JSON_STRING) {
        node->v.str = r->scalar.string;
        node->len = (uint32_t)r->scalar.len;
    }
    if (!phi__yaml_tree_anchor(r, &r->inner, node, phi__str(r->scalar.string, r->scalar.len)))
        return NULL;
    return node;
}

/* ---- frames ---- */

static bool phi__yaml_tree_is_flow(uint8_t kind) {
    return kind >= PHI__YAML_FLOW_SEQ && kind <= PHI__YAML_FLOW_PAIR;
}

static phi__yaml_frame *phi__yaml_tree_push(phi__yaml_reader *r, uint8_t kind) {
    phi__yaml_frame *frame = r->unused;
    if (r->depth == r->options.max_depth) {
        phi__yaml_text_too_big(r, "collections are nested too deeply");
        return NULL;
    }
    if (frame != NULL)
        r->unused = frame->up;
    else
        frame = (phi__yaml_frame *)phi_arena_alloc(r->arena, sizeof *frame);
    if (frame == NULL) {
        phi__yaml_text_no_memory(r);
        return NULL;
    }
    memset(frame, 0, sizeof *frame);
    frame->up = r->top;
    frame->kind = kind;
    frame->keys = r->keys.count;
    frame->line = r->line;
    r->top = frame;
    r->depth++;
    if (phi__yaml_tree_is_flow(kind)) r->flow_depth++;
    return frame;
}

PHI__FN bool phi__yaml_tree_begin(phi__yaml_reader *r) {
    phi__yaml_frame *frame = phi__yaml_tree_push(r, PHI__YAML_DOC);
    if (frame == NULL) return false;
    r->depth = 0;
    frame->indent = -1;
    frame->want = PHI__YAML_WANT_VALUE;
    return true;
}

static phi_json *phi__yaml_tree_pop(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    phi__yaml_names_cut(&r->keys, frame->keys);
    if (phi__yaml_tree_is_flow(frame->kind)) r->flow_depth--;
    r->top = frame->up;
    r->depth--;
    frame->up = r->unused;
    r->unused = frame;
    return frame->node;
}

/* The properties of the collection that begins: those of a block collection stand on earlier
   lines, since what stands on this one is its first key's. */
static phi__yaml_props *phi__yaml_tree_props_of(phi__yaml_reader *r, uint8_t kind) {
    if (kind == PHI__YAML_SEQ || kind == PHI__YAML_MAP) return &r->outer;
    return phi__yaml_tree_merge(r) ? &r->inner : NULL;
}

PHI__FN void phi__yaml_tree_open(phi__yaml_reader *r, uint8_t kind, int32_t indent, uint8_t want) {
    bool map = kind == PHI__YAML_MAP || kind == PHI__YAML_FLOW_MAP;
    phi__yaml_props *props = phi__yaml_tree_props_of(r, kind);
    phi__yaml_frame *frame = props == NULL ? NULL : phi__yaml_tree_push(r, kind);
    if (frame == NULL) return;
    frame->indent = indent;
    frame->want = want;
    frame->node = phi__yaml_tree_node(r, map ? PHI__JSON_OBJECT : PHI__JSON_ARRAY);
    if (frame->node == NULL) return;
    phi__yaml_tree_mark(r, frame->node, r->line,
                        phi__yaml_tree_is_flow(kind) ? phi__yaml_column(r, r->at)
                                                     : (uint32_t)indent);
    if (props->tag > PHI__YAML_TAG_TEXT &&
        props->tag != (map ? PHI__YAML_TAG_MAP : PHI__YAML_TAG_SEQ))
        phi__yaml_tree_mismatch(r, props,
                                map ? " does not allow a mapping" : " does not allow a sequence");
    (void)phi__yaml_tree_anchor(r, props, frame->node, phi__str(NULL, 0));
    phi__yaml_tree_clear(props);
}

PHI__FN void phi__yaml_tree_open_pair(phi__yaml_reader *r, uint8_t want) {
    phi__yaml_frame *frame = phi__yaml_tree_push(r, PHI__YAML_FLOW_PAIR);
    if (frame == NULL) return;
    frame->want = want;
    frame->node = phi__yaml_tree_node(r, PHI__JSON_OBJECT);
    if (want == PHI__YAML_WANT_KEY) /* behind its key */
        phi__yaml_tree_mark(r, frame->node, r->scalar.line, phi__yaml_tree_column(r));
    else
        phi__yaml_tree_mark(r, frame->node, r->line, phi__yaml_column(r, r->at));
}

PHI__FN void phi__yaml_tree_close(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    memset(s, 0, sizeof *s);
    s->line = r->top->line;
    s->at = r->at;
    s->line_at = r->line_at;
    s->style = PHI__YAML_STYLE_NODE;
    s->node = phi__yaml_tree_pop(r);
}

/* ---- values ---- */

PHI__FN void phi__yaml_tree_empty(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    memset(s, 0, sizeof *s);
    s->at = s->mark = s->last = r->at;
    s->line_at = r->line_at;
    s->line = r->line;
    s->style = PHI__YAML_STYLE_PLAIN;
}

static void phi__yaml_tree_join(phi__yaml_reader *r, phi_json *node) {
    phi__yaml_frame *frame = r->top;
    if (frame->kind == PHI__YAML_DOC) {
        r->root = node;
        r->doc = PHI__YAML_COMPLETE;
        frame->want = PHI__YAML_WANT_NEXT;
        return;
    }
    if (frame->node->len == UINT32_MAX) {
        phi__yaml_text_too_big(r, "a collection of 2^32 or more values");
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

PHI__FN void phi__yaml_tree_value(phi__yaml_reader *r) {
    phi_json *node;
    if (r->status != PHI_BUSY) return;
    if (r->top->want == PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_tree_key(r);
        r->top->want = PHI__YAML_WANT_COLON;
        return;
    }
    node = r->scalar.node;
    if (node != NULL) {
        if (r->scalar.is_alias && phi__yaml_tree_has_outer(r))
            phi__yaml_text_wrong_at(r, r->outer.at, r->outer.line, r->outer.column,
                                    "an alias cannot have an anchor or a tag");
    } else if (phi__yaml_tree_merge(r)) {
        node = phi__yaml_tree_scalar(r);
        phi__yaml_tree_clear(&r->inner);
    }
    if (r->status == PHI_BUSY && node != NULL) phi__yaml_tree_join(r, node);
    r->scalar.style = PHI__YAML_NO_NODE;
}

/* ---- keys ---- */

static void phi__yaml_tree_key_wrong(phi__yaml_reader *r, const char *what) {
    const phi__yaml_scalar *s = &r->scalar;
    phi__yaml_text_wrong_at(r, s->at, s->line, phi__yaml_tree_column(r), what);
}

static bool phi__yaml_tree_key_is_new(phi__yaml_reader *r, phi_str key) {
    static const char what[] = "the key \"";
    static const char twice[] = "\" is in this mapping already: keep one of the two";
    char message[sizeof r->error.message];
    size_t n = sizeof what - 1, most = phi__min(key.len, 60), i;
    uint32_t scope = r->top->keys, hash = phi__yaml_names_hash(&r->keys, key, scope);
    if (phi__yaml_names_find(&r->keys, key, scope, hash) == NULL) {
        if (phi__yaml_names_add(&r->keys, r->arena, key, scope, hash) != NULL) return true;
        phi__yaml_text_no_memory(r);
        return false;
    }
    while (most < key.len && most > 0 && ((unsigned char)key.at[most] & 0xc0) == 0x80) most--;
    memcpy(message, what, n);
    for (i = 0; i < most; i++)
        message[n + i] = (char)((unsigned char)key.at[i] < 0x20 ? '?' : key.at[i]);
    memcpy(message + n + most, twice, sizeof twice);
    phi__yaml_tree_key_wrong(r, message);
    return false;
}

/* Checks a key of text; false: an error was set. */
static bool phi__yaml_tree_key_text(phi__yaml_reader *r, phi_str *key) {
    phi__yaml_scalar *s = &r->scalar;
    phi__json_value value;
    phi_json *node;
    if (r->top->want == PHI__YAML_WANT_EXPLICIT_KEY && !phi__yaml_tree_merge(r)) return false;
    if (!phi__yaml_tree_text(r)) return false;
    *key = phi__str(s->string, s->len);
    if (key->len == 0 && s->style == PHI__YAML_STYLE_PLAIN && r->inner.tag != PHI__YAML_TAG_STR) {
        phi__yaml_tree_key_wrong(r, "a key is missing, and null as a key is not supported");
        return false;
    }
    if (r->inner.anchor_at != NULL) {
        node = phi__yaml_tree_scalar(r);
        if (node == NULL) return false;
    } else if (r->inner.tag > PHI__YAML_TAG_STR && phi__yaml_tree_resolve(r, &value) == 0)
        return false;
    phi__yaml_tree_clear(&r->inner);
    return true;
}

PHI__FN void phi__yaml_tree_key(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    phi_str key;
    if (r->status != PHI_BUSY) return;
    if (s->node != NULL && (!s->is_alias || s->string == NULL)) {
        phi__yaml_tree_key_wrong(r, "a key that is a collection is not supported");
        return;
    }
    if (s->node != NULL)
        key = phi__str(s->string, s->len);
    else if (!phi__yaml_tree_key_text(r, &key))
        return;
    if (key.len > PHI__YAML_KEY_MOST) {
        phi__yaml_text_too_big(r, "a key of more than 16 MiB");
        return;
    }
    if (!phi__yaml_tree_key_is_new(r, key)) return;
    r->top->key = key;
    r->top->key_line = s->line;
    r->top->key_column = phi__yaml_tree_column(r);
    r->top->want = PHI__YAML_WANT_VALUE;
    s->style = PHI__YAML_NO_NODE;
}

/* ---- aliases ---- */

/* A copy of a node without its children; texts are shared. */
static phi_json *phi__yaml_tree_twin(phi__yaml_reader *r, const phi_json *source) {
    uint32_t kind = phi__json_kind_of(source);
    size_t bytes = phi__json_key_len(source) + (kind == PHI__JSON_STRING ? source->len : 0);
    phi_json *node;
    if (r->alias_nodes >= r->options.max_alias_nodes ||
        bytes > r->options.max_alias_bytes - r->alias_bytes) {
        phi__yaml_text_too_big(r, "aliases stand for more than the reader's limit allows");
        return NULL;
    }
    r->alias_nodes++;
    r->alias_bytes += bytes;
    node = phi__yaml_tree_node(r, kind);
    if (node == NULL) return NULL;
    *node = *source;
    node->next = NULL;
    phi__yaml_tree_mark(r, node, r->scalar.line, phi__yaml_tree_column(r));
    if (kind >= PHI__JSON_ARRAY) {
        node->v.last = NULL;
        node->len = 0;
    }
    return node;
}

static void phi__yaml_tree_copy_open(phi__yaml_reader *r, const phi_json *source, phi_json *node) {
    phi__yaml_frame *frame = phi__yaml_tree_push(r, PHI__YAML_ALIAS);
    if (frame == NULL) return;
    frame->node = node;
    frame->left = source->len;
    frame->source = source->v.last->next;
}

PHI__FN void phi__yaml_tree_alias(phi__yaml_reader *r, phi_str name, const char *at) {
    uint32_t hash = phi__yaml_names_hash(&r->anchors, name, PHI__YAML_ANYWHERE);
    const phi__yaml_name *anchor =
        phi__yaml_names_find(&r->anchors, name, PHI__YAML_ANYWHERE, hash);
    phi__yaml_scalar *s = &r->scalar;
    const phi__yaml_frame *frame;
    if (anchor == NULL) {
        phi__yaml_text_wrong(r, at, "an alias to an anchor that is not defined before it");
        return;
    }
    if (phi__json_kind_of(anchor->node) >= PHI__JSON_ARRAY)
        for (frame = r->top; frame != NULL; frame = frame->up)
            if (frame->node == anchor->node) {
                phi__yaml_text_wrong(r, at, "an alias inside of the node it stands for");
                return;
            }
    s->is_alias = true;
    s->string = anchor->source.at;
    s->len = anchor->source.len;
    s->node = phi__yaml_tree_twin(r, anchor->node);
    if (s->node == NULL) return;
    s->node->key = NULL;
    s->node->meta = phi__json_kind_of(s->node);
    if (s->node->meta >= PHI__JSON_ARRAY && anchor->node->len > 0)
        phi__yaml_tree_copy_open(r, anchor->node, s->node);
}

PHI__FN bool phi__yaml_tree_copy(phi__yaml_reader *r, size_t units) {
    phi__yaml_frame *frame;
    phi_json *node;
    const phi_json *source;
    while (r->status == PHI_BUSY && r->top->kind == PHI__YAML_ALIAS) {
        if (units-- == 0) return false;
        frame = r->top;
        if (frame->left == 0) {
            (void)phi__yaml_tree_pop(r);
            continue;
        }
        source = frame->source;
        node = phi__yaml_tree_twin(r, source);
        if (node == NULL) return false;
        if (PHI__MARKED(r) && node->key != NULL)
            phi__marks_add_key(r->marks, node, r->scalar.line, phi__yaml_tree_column(r) + 1);
        phi__json_append(frame->node, node);
        frame->source = source->next;
        frame->left--;
        if (phi__json_kind_of(source) >= PHI__JSON_ARRAY && source->len > 0)
            phi__yaml_tree_copy_open(r, source, node);
    }
    return true;
}
