/* gemini_pieces.c - arguments that Vertex AI sent in pieces: each a path and a value, strings of
   one path joined. Vertex does so only on request, which a host's own proxy may make. */
#include "codecs/gemini_in.h"

#include "text/json_in.h"

typedef struct phi__gemini_pieces {
    phi_arena *arena;
    phi_json *root;
    phi_json *growing; /* the string that was joined last, with room for more */
    char *text;
    size_t cap;
} phi__gemini_pieces;

static phi_json *phi__gemini_pieces_get(phi_json *node, const phi__json_step *step) {
    size_t count = phi_json_count(node);
    if (!step->is_index) return phi__json_get_n(node, step->key);
    if (!phi_json_is(node, PHI_JSON_ARRAY) || step->index >= count) return NULL;
    return step->index + 1 == count ? node->v.last : phi_json_at(node, step->index);
}

/* A value that is NULL is want of memory. */
static phi_status phi__gemini_pieces_put(phi__gemini_pieces *p, phi_json *node,
                                         const phi__json_step *step, phi_json *value) {
    if (value == NULL) return PHI_NO_MEMORY;
    if (!step->is_index)
        return phi_json_is(node, PHI_JSON_OBJECT)
                   ? phi__json_edit_set(p->arena, node, step->key, value)
                   : PHI_PARSE;
    if (!phi_json_is(node, PHI_JSON_ARRAY) || step->index != phi_json_count(node)) return PHI_PARSE;
    return phi_json_add(node, value);
}

/* A string that goes on; in place, as an item of an array has no name to set it by. */
static phi_status phi__gemini_pieces_join_text(phi__gemini_pieces *p, phi_json *old,
                                               const phi_json *more) {
    phi_str a = phi_json_str(old, ""), b = phi_json_str(more, "");
    size_t len = phi__add(a.len, b.len);
    if (len >= UINT32_MAX / 2) return PHI_PARSE;
    if (p->growing != old || len >= p->cap) {
        size_t cap = len * 2 + 64;
        char *text = phi__arena_bytes(p->arena, cap);
        if (text == NULL) return PHI_NO_MEMORY;
        if (a.len > 0) memcpy(text, a.at, a.len);
        p->growing = old;
        p->text = text;
        p->cap = cap;
    }
    if (b.len > 0) memcpy(p->text + a.len, b.at, b.len);
    p->text[len] = '\0';
    old->v.str = p->text;
    old->len = (uint32_t)len;
    return PHI_OK;
}

/* The value of a piece, taken out of it; NULL: none that is known. */
static phi_json *phi__gemini_pieces_value(phi_json *piece) {
    static const char *const names[] = {"stringValue", "numberValue", "boolValue", "nullValue"};
    phi_json *value = NULL;
    size_t i;
    for (i = 0; i < PHI__COUNT(names) && value == NULL; i++)
        value = phi_json_remove(piece, names[i]);
    return value;
}

static phi_status phi__gemini_pieces_add(phi__gemini_pieces *p, phi_json *piece) {
    const char *path = phi_json_str(phi_json_get(piece, "jsonPath"), "").at;
    bool is_null = phi_json_get(piece, "nullValue") != NULL;
    phi_json *node = p->root, *value, *below;
    phi__json_step step, next;
    if (path[0] != '$') return PHI_PARSE;
    path += path[1] == '.' ? 2 : 1;
    if (!phi__json_get_path_step(&path, &step)) return PHI_PARSE;
    while (phi__json_get_path_step(&path, &next)) {
        below = phi__gemini_pieces_get(node, &step);
        if (below == NULL) {
            phi_status status;
            below = next.is_index ? phi_json_new_array(p->arena) : phi_json_new_object(p->arena);
            status = phi__gemini_pieces_put(p, node, &step, below);
            if (status != PHI_OK) return status;
        }
        node = below;
        step = next;
    }
    value = phi__gemini_pieces_value(piece);
    if (*path != '\0' || value == NULL) return PHI_PARSE;
    below = phi__gemini_pieces_get(node, &step);
    if (below != NULL && phi_json_is(below, PHI_JSON_STRING) &&
        phi_json_is(value, PHI_JSON_STRING) && !is_null)
        return phi__gemini_pieces_join_text(p, below, value);
    return phi__gemini_pieces_put(p, node, &step, is_null ? phi__json_edit_null(p->arena) : value);
}

PHI__FN phi_status phi__gemini_pieces_join(phi_arena *arena, phi_str pieces, phi_str *out) {
    phi_json *list = NULL, *piece;
    phi_json_iter it;
    phi_status status;
    phi__gemini_pieces p;
    char *text = phi__arena_bytes(arena, phi__add(pieces.len, 2));
    memset(&p, 0, sizeof p);
    p.arena = arena;
    p.root = phi_json_new_object(arena);
    if (p.root == NULL || text == NULL) return PHI_NO_MEMORY;
    memcpy(text, pieces.at, pieces.len);
    text[pieces.len] = ']';
    text[pieces.len + 1] = '\0';
    status = phi_json_parse(arena, phi__str(text, pieces.len + 1), PHI_JSON_REPLACE_BAD_UTF8, &list,
                            NULL);
    it = phi_json_each(list);
    while (status == PHI_OK && (piece = phi_json_next(&it)) != NULL)
        status = phi__gemini_pieces_add(&p, piece);
    return status == PHI_OK ? phi_json_write(arena, p.root, 0, out) : status;
}
