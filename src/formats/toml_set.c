/* toml_set.c - one value of a text, by its path: changed in the tree, and then in the text. */
#include "formats/toml_in.h"

/* The next step of a path, *path moving behind it. False: it is malformed. */
static bool phi__toml_set_step(const char **path, phi__json_step *step) {
    const char *at = *path + (**path == '.'), *end;
    if (*at != '"' && *at != '\'') return phi__json_get_path_step(path, step);
    end = strchr(at + 1, *at);
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

/* `node` keeps its place and its key, and is `value` from now on: it borrows text and children, as
   the tree is only read from here. */
static void phi__toml_set_become(phi_json *node, const phi_json *value) {
    node->v = value->v;
    node->len = value->len;
    node->meta = (node->meta & ~0xffu) | (value->meta & 0xffu);
}

static phi_status phi__toml_set_remove(phi_arena *arena, phi_json *node,
                                       const phi__json_step *step) {
    phi_str key;
    if (step->is_index)
        return phi__json_edit_remove_at(node, step->index) != NULL ? PHI_OK : PHI_NOT_FOUND;
    if (!phi__arena_str(arena, step->key, &key)) return PHI_NO_MEMORY;
    return phi_json_remove(node, key.at) != NULL ? PHI_OK : PHI_NOT_FOUND;
}

static phi_status phi__toml_set_last(phi_arena *arena, phi_json *node, const phi__json_step *step,
                                     const phi_json *value) {
    phi_json *child = phi__toml_set_child(node, step);
    phi_status status = PHI_OK;
    if (value == NULL) return phi__toml_set_remove(arena, node, step);
    if (child == NULL) {
        child = phi__json_edit_null(arena);
        status = phi__toml_set_add(arena, node, step, child);
    }
    if (status == PHI_OK) phi__toml_set_become(child, value);
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
    phi_status status;
    if (arena == NULL || out == NULL || path == NULL) return PHI_BAD_ARG;
    options.max_depth = PHI_JSON_MAX_DEPTH;
    phi_arena_init(&scratch, arena->memory, 0);
    status = phi_toml_parse(&scratch, text, &options, &root, error);
    if (status == PHI_OK) status = phi__toml_set_walk(&scratch, root, path, value);
    if (status == PHI_OK) status = phi_toml_edit(arena, text, root, flags, out, NULL);
    phi_arena_free(&scratch);
    return status;
}
