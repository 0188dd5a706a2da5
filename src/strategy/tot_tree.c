/* tot_tree.c - the tree of Tree-of-Thoughts: nodes, the frontier, the best. */
#include "strategy/tot_in.h"

#include "text/records_in.h"

enum { PHI__TOT_FIRST = 16 }; /* nodes that there is room for at first */

/* The old array stays in the arena: together they are less than twice the new one. */
static void *phi__tot_tree_grow(phi_arena *arena, void *at, uint32_t count, uint32_t *cap,
                                size_t size) {
    uint32_t more = *cap == 0 ? (uint32_t)PHI__TOT_FIRST : *cap * 2;
    void *grown;
    if (count < *cap) return at;
    if (*cap > UINT32_MAX / 4) return NULL;
    grown = phi_arena_alloc(arena, phi__mul(more, size));
    if (grown == NULL) return NULL;
    if (count > 0) memcpy(grown, at, count * size);
    *cap = more;
    return grown;
}

PHI__FN bool phi__tot_tree_before(const phi__tot_tree *tree, uint32_t a, uint32_t b) {
    const phi__tot_node *x = &tree->nodes[a], *y = &tree->nodes[b];
    if (x->finished != y->finished) return x->finished;
    if (x->score > y->score || x->score < y->score) return x->score > y->score;
    if (x->depth != y->depth) return x->depth > y->depth;
    return a < b;
}

PHI__FN bool phi__tot_tree_add(phi__tot_tree *tree, phi_arena *arena, uint32_t parent, double score,
                               phi_str content, const phi_tot_options *options) {
    phi__tot_node *node;
    void *grown =
        phi__tot_tree_grow(arena, tree->nodes, tree->count, &tree->cap, sizeof *tree->nodes);
    uint32_t id = tree->count;
    if (grown == NULL) return false;
    tree->nodes = (phi__tot_node *)grown;
    node = &tree->nodes[id];
    memset(node, 0, sizeof *node);
    if (!phi__arena_str(arena, content, &node->content)) return false;
    tree->count++;
    node->score = score;
    if (id == 0) return true;
    node->parent = parent;
    node->depth = tree->nodes[parent].depth + 1;
    node->finished =
        node->depth >= options->max_depth ||
        (node->depth >= options->min_depth && score >= options->early_success_threshold);
    tree->nodes[parent].children++;
    if (node->depth > tree->deepest) tree->deepest = node->depth;
    if (tree->best == 0 || phi__tot_tree_before(tree, id, tree->best)) tree->best = id;
    return true;
}

/* ---- the frontier ---- */

static void phi__tot_tree_insert(phi__tot_tree *tree, uint32_t place, uint32_t node) {
    uint32_t i;
    for (i = tree->frontier_count; i > place; i--) tree->frontier[i] = tree->frontier[i - 1];
    tree->frontier[place] = node;
    tree->frontier_count++;
}

/* The higher score first, and of equal ones the older: of a level, or of one parent. */
static uint32_t phi__tot_tree_place(const phi__tot_tree *tree, uint32_t node,
                                    phi_tot_traversal traversal) {
    const phi__tot_node *n = &tree->nodes[node];
    uint32_t place = 0;
    for (; place < tree->frontier_count; place++) {
        const phi__tot_node *other = &tree->nodes[tree->frontier[place]];
        if (traversal == PHI_TOT_BFS && other->depth < n->depth) continue;
        if (traversal == PHI_TOT_DFS && other->parent != n->parent) break;
        if (other->score < n->score) break;
    }
    return place;
}

/* Cuts the newest level, which stands last, to the beam. */
static void phi__tot_tree_cut(phi__tot_tree *tree, uint32_t depth, uint32_t beam) {
    uint32_t level = 0;
    while (level < tree->frontier_count &&
           tree->nodes[tree->frontier[tree->frontier_count - 1 - level]].depth == depth)
        level++;
    if (level > beam) tree->frontier_count -= level - beam;
}

PHI__FN bool phi__tot_tree_wait(phi__tot_tree *tree, phi_arena *arena, uint32_t added,
                                const phi_tot_options *options) {
    uint32_t i;
    for (i = tree->count - added; i < tree->count; i++) {
        void *grown;
        if (tree->nodes[i].depth >= options->max_depth) continue;
        if (options->traversal == PHI_TOT_DFS && tree->nodes[i].score < options->value_threshold)
            continue;
        grown = phi__tot_tree_grow(arena, tree->frontier, tree->frontier_count, &tree->frontier_cap,
                                   sizeof *tree->frontier);
        if (grown == NULL) return false;
        tree->frontier = (uint32_t *)grown;
        phi__tot_tree_insert(tree, phi__tot_tree_place(tree, i, options->traversal), i);
        if (options->traversal == PHI_TOT_BFS)
            phi__tot_tree_cut(tree, tree->nodes[i].depth, options->beam_width);
    }
    return true;
}

PHI__FN uint32_t phi__tot_tree_next(phi__tot_tree *tree) {
    uint32_t node, i;
    if (tree->frontier_count == 0) return 0;
    node = tree->frontier[0];
    tree->frontier_count--;
    for (i = 0; i < tree->frontier_count; i++) tree->frontier[i] = tree->frontier[i + 1];
    return node;
}

/* ---- paths and candidates ---- */

PHI__FN void phi__tot_tree_path(const phi__tot_tree *tree, uint32_t node, uint32_t *out) {
    for (; node != 0; node = tree->nodes[node].parent) out[tree->nodes[node].depth - 1] = node;
}

PHI__FN uint32_t phi__tot_tree_candidates(const phi__tot_tree *tree, uint32_t *out, uint32_t most) {
    uint32_t count = 0, node, i;
    for (node = 1; node < tree->count; node++) {
        if (tree->nodes[node].children > 0 && node != tree->best) continue;
        for (i = count; i > 0 && phi__tot_tree_before(tree, node, out[i - 1]); i--)
            if (i < most) out[i] = out[i - 1];
        if (i < most) out[i] = node;
        if (count < most) count++;
    }
    return count;
}

/* ---- as JSON ---- */

PHI__FN void phi__tot_tree_put(const phi__tot_tree *tree, phi__buf *out) {
    uint32_t i;
    phi__records_raw(out, "nodes", "[");
    for (i = 0; i < tree->count; i++) {
        phi__json_write_comma(out);
        phi__buf_printf(out, "[%lu,", (unsigned long)tree->nodes[i].parent);
        phi__json_number_put_double(out, tree->nodes[i].score);
        phi__buf_char(out, ',');
        phi__json_write_str(out, tree->nodes[i].content);
        phi__buf_printf(out, ",%u]", (unsigned)tree->nodes[i].stop_reason);
    }
    phi__buf_char(out, ']');
    phi__records_raw(out, "frontier", "[");
    for (i = 0; i < tree->frontier_count; i++)
        phi__buf_printf(out, "%s%lu", i > 0 ? "," : "", (unsigned long)tree->frontier[i]);
    phi__buf_char(out, ']');
}

static phi_status phi__tot_tree_get_frontier(phi__tot_tree *tree, phi_arena *arena,
                                             const phi_json *saved) {
    phi_json_iter it = phi_json_each(saved);
    const phi_json *item;
    while ((item = phi_json_next(&it)) != NULL) {
        uint64_t node = phi__json_get_uint(item, 0);
        void *grown;
        if (node == 0 || node >= tree->count || tree->frontier_count >= tree->count)
            return PHI_PARSE;
        grown = phi__tot_tree_grow(arena, tree->frontier, tree->frontier_count, &tree->frontier_cap,
                                   sizeof *tree->frontier);
        if (grown == NULL) return PHI_NO_MEMORY;
        tree->frontier = (uint32_t *)grown;
        tree->frontier[tree->frontier_count++] = (uint32_t)node;
    }
    return PHI_OK;
}

PHI__FN phi_status phi__tot_tree_get(phi__tot_tree *tree, phi_arena *arena, const phi_json *saved,
                                     const phi_tot_options *options) {
    const phi_json *nodes = phi_json_get(saved, "nodes"), *item;
    phi_json_iter it = phi_json_each(nodes);
    if (!phi_json_is(nodes, PHI_JSON_ARRAY)) return PHI_PARSE;
    while ((item = phi_json_next(&it)) != NULL) {
        uint64_t parent = phi__json_get_uint(phi_json_at(item, 0), UINT64_MAX);
        double score = phi_json_num(phi_json_at(item, 1), -1.0);
        const phi_json *content = phi_json_at(item, 2);
        if (!phi_json_is(content, PHI_JSON_STRING) || !(score >= 0.0 && score <= 1.0))
            return PHI_PARSE;
        if (tree->count == 0 ? parent != 0 : parent >= tree->count) return PHI_PARSE;
        if (!phi__tot_tree_add(tree, arena, (uint32_t)parent, score, phi_json_str(content, ""),
                               options))
            return PHI_NO_MEMORY;
        tree->nodes[tree->count - 1].stop_reason =
            (phi_stop_reason)phi__json_get_uint(phi_json_at(item, 3), PHI_STOP_REASON_STOP);
    }
    return phi__tot_tree_get_frontier(tree, arena, phi_json_get(saved, "frontier"));
}
