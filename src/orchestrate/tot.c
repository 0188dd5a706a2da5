/* tot.c - Tree-of-Thoughts: the prompts and the machine. */
#include "orchestrate/tot_in.h"

#include "model/model_in.h"
#include "text/text_in.h"

enum { PHI__TOT_IDLE, PHI__TOT_GENERATING, PHI__TOT_EVALUATING, PHI__TOT_OVER };

/* An object but for its last brace. `error`: empty, or a message; `phase`, `why`: of an answer that
   could not be read, else NULL. */
typedef struct phi__tot_ending {
    const char *reason;
    bool good;
    phi_str error;
    const char *phase, *why;
} phi__tot_ending;

/* ---- the tree: nodes, the frontier, the best ---- */

enum { PHI__TOT_FIRST = 16 }; /* nodes that there is room for at first */

/* The old array stays in the arena: together they are less than twice the new one. */
static void *phi__tree_grow(phi_arena *arena, void *at, uint32_t count, uint32_t *cap,
                            size_t size) {
    uint32_t more = *cap == 0 ? (uint32_t)PHI__TOT_FIRST : *cap * 2;
    if (count < *cap) return at;
    if (*cap > UINT32_MAX / 4) return NULL;
    void *grown = phi_arena_alloc(arena, phi__mul(more, size));
    if (grown == NULL) return NULL;
    if (count > 0) memcpy(grown, at, count * size);
    *cap = more;
    return grown;
}

/* Node a comes before node b: finished, then higher score, then deeper, then older. */
static bool phi__tree_before(const phi__tot_tree *tree, uint32_t a, uint32_t b) {
    const phi__tot_node *x = &tree->nodes[a], *y = &tree->nodes[b];
    if (x->finished != y->finished) return x->finished;
    if (x->score > y->score || x->score < y->score) return x->score > y->score;
    if (x->depth != y->depth) return x->depth > y->depth;
    return a < b;
}

/* False, here and below: no memory. */
static bool phi__tree_add(phi__tot_tree *tree, phi_arena *arena, uint32_t parent, double score,
                          phi_str content, const phi_tot_options *options) {
    void *grown = phi__tree_grow(arena, tree->nodes, tree->count, &tree->cap, sizeof *tree->nodes);
    uint32_t id = tree->count;
    if (grown == NULL) return false;
    tree->nodes = (phi__tot_node *)grown;
    phi__tot_node *node = &tree->nodes[id];
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
    if (tree->best == 0 || phi__tree_before(tree, id, tree->best)) tree->best = id;
    return true;
}

/* ---- the frontier ---- */

static void phi__tree_insert(phi__tot_tree *tree, uint32_t place, uint32_t node) {
    for (uint32_t i = tree->frontier_count; i > place; i--)
        tree->frontier[i] = tree->frontier[i - 1];
    tree->frontier[place] = node;
    tree->frontier_count++;
}

/* The higher score first, and of equal ones the older: of a level, or of one parent. */
static uint32_t phi__tree_place(const phi__tot_tree *tree, uint32_t node,
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

/* The next node; 0: none waits. */
static uint32_t phi__tree_next(phi__tot_tree *tree) {
    if (tree->frontier_count == 0) return 0;
    uint32_t node = tree->frontier[0];
    tree->frontier_count--;
    for (uint32_t i = 0; i < tree->frontier_count; i++) tree->frontier[i] = tree->frontier[i + 1];
    return node;
}

/* The nodes from the first thought to this one; `out` has room for its depth. */
static void phi__tree_path(const phi__tot_tree *tree, uint32_t node, uint32_t *out) {
    for (; node != 0; node = tree->nodes[node].parent) out[tree->nodes[node].depth - 1] = node;
}

/* The best leaves, and the best node, in order; returns how many. `out` has room for `most`. */
static uint32_t phi__tree_candidates(const phi__tot_tree *tree, uint32_t *out, uint32_t most) {
    uint32_t count = 0, i;
    for (uint32_t node = 1; node < tree->count; node++) {
        if (tree->nodes[node].children > 0 && node != tree->best) continue;
        for (i = count; i > 0 && phi__tree_before(tree, node, out[i - 1]); i--)
            if (i < most) out[i] = out[i - 1];
        if (i < most) out[i] = node;
        if (count < most) count++;
    }
    return count;
}

static phi_status phi__tree_get_frontier(phi__tot_tree *tree, phi_arena *arena,
                                         const phi_json *saved) {
    phi_json_iter it = phi_json_each(saved);
    const phi_json *item;
    while ((item = phi_json_next(&it)) != NULL) {
        uint64_t node = phi__json_get_uint(item, 0);
        if (node == 0 || node >= tree->count || tree->frontier_count >= tree->count)
            return PHI_PARSE;
        void *grown = phi__tree_grow(arena, tree->frontier, tree->frontier_count,
                                     &tree->frontier_cap, sizeof *tree->frontier);
        if (grown == NULL) return PHI_NO_MEMORY;
        tree->frontier = (uint32_t *)grown;
        tree->frontier[tree->frontier_count++] = (uint32_t)node;
    }
    return PHI_OK;
}

/* PHI_PARSE: no tree of phi's. */
static phi_status phi__tree_get(phi__tot_tree *tree, phi_arena *arena, const phi_json *saved,
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
        if (!phi__tree_add(tree, arena, (uint32_t)parent, score, phi_json_str(content, ""),
                           options))
            return PHI_NO_MEMORY;
        tree->nodes[tree->count - 1].stop_reason =
            (phi_stop_reason)phi__json_get_uint(phi_json_at(item, 3), PHI_STOP_REASON_STOP);
    }
    return phi__tree_get_frontier(tree, arena, phi_json_get(saved, "frontier"));
}

/* ---- the result, and the machine as JSON ---- */

/* ---- the result ---- */

static void phi__totres_path(const phi__tot *t, uint32_t node, phi_arena *scratch, bool with_ids,
                             phi__buf *out) {
    uint32_t depth = t->tree.nodes[node].depth, i;
    uint32_t *path = (uint32_t *)phi_arena_alloc(scratch, phi__mul(depth, sizeof *path));
    if (path == NULL) {
        out->failed = true;
        return;
    }
    phi__tree_path(&t->tree, node, path);
    if (with_ids) {
        phi__records_raw(out, "path_ids", "[");
        for (i = 0; i < depth; i++)
            phi__buf_printf(out, "%s%lu", i > 0 ? "," : "", (unsigned long)path[i]);
        phi__buf_char(out, ']');
    }
    phi__records_raw(out, with_ids ? "path_text" : "solution_path", "[");
    for (i = 0; i < depth; i++) {
        phi__json_write_comma(out);
        phi__json_write_str(out, t->tree.nodes[path[i]].content);
    }
    phi__buf_char(out, ']');
}

static void phi__totres_candidate(const phi__tot *t, uint32_t node, phi_arena *scratch,
                                  phi__buf *out) {
    const phi__tot_node *n = &t->tree.nodes[node];
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_u64(out, "node_id", node);
    phi__records_str(out, "content", n->content);
    phi__records_double(out, "score", n->score);
    phi__records_u64(out, "depth", n->depth);
    phi__records_bool(out, "finished", n->finished);
    phi__totres_path(t, node, scratch, true, out);
    phi__buf_char(out, '}');
}

static void phi__totres_candidates(const phi__tot *t, const phi_tot_options *options,
                                   phi_arena *scratch, phi__buf *out) {
    uint32_t most = options->top_k < t->tree.count ? options->top_k : t->tree.count;
    uint32_t *at = (uint32_t *)phi_arena_alloc(scratch, phi__mul(phi__max(most, 1), sizeof *at));
    if (at == NULL) {
        out->failed = true;
        return;
    }
    uint32_t count = phi__tree_candidates(&t->tree, at, most);
    phi__json_write_comma(out);
    phi__json_write_key(out, PHI__LIT("best"));
    if (count > 0)
        phi__totres_candidate(t, at[0], scratch, out);
    else
        phi__buf_text(out, "null");
    phi__records_raw(out, "candidates", "[");
    for (uint32_t i = 0; i < count; i++) phi__totres_candidate(t, at[i], scratch, out);
    phi__buf_char(out, ']');
    if (count > 0)
        phi__totres_path(t, at[0], scratch, false, out);
    else
        phi__records_raw(out, "solution_path", "[]");
}

static void phi__totres_rounds(const phi__tot *t, phi__buf *out) {
    phi__records_raw(out, "tool_rounds", "{");
    for (uint32_t i = 0; i < t->round_count; i++)
        phi__buf_printf(out, "%s\"%lu\":%lu", i > 0 ? "," : "", (unsigned long)t->rounds[i].call_id,
                        (unsigned long)t->rounds[i].rounds);
    phi__buf_char(out, '}');
}

static void phi__totres_doubles(const char *key, const double *items, uint32_t count,
                                phi__buf *out) {
    phi__records_raw(out, key, "[");
    for (uint32_t i = 0; i < count; i++) {
        phi__json_write_comma(out);
        phi__json_number_put_double(out, items[i]);
    }
    phi__buf_char(out, ']');
}

static void phi__totres_error(const phi__tot_ending *ending, phi__buf *out) {
    if (ending->phase == NULL) {
        phi__records_some(out, "error", ending->error);
        return;
    }
    phi__records_raw(out, "error", "{");
    phi__records_str(out, "type", PHI__LIT("parse_failed"));
    phi__records_str(out, "phase", phi_str_of(ending->phase));
    phi__records_str(out, "reason", phi_str_of(ending->why));
    phi__buf_char(out, '}');
}

/* ---- the machine ---- */

static const phi__field phi__totres_fields[] = {
    PHI__FIELD(phi__tot, phase, "phase", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, call_id, "call_id", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, at, "at", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, repairing, "repairing", PHI__FIELD_BOOL, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, repairs, "repairs", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, evaluated, "evaluated", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, cut, "cut", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, retries[0], "generation", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, retries[1], "evaluation", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, parser_errors, "parser_errors", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, pruned, "pruned", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, by_lines, "by_lines", PHI__FIELD_BOOL, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, source, "source", PHI__FIELD_STR, PHI__FIELD_ALWAYS)};

/* The lists of a machine. False: no memory. */
static bool phi__totres_load_lists(phi__tot *t, const phi_json *saved, phi_arena *arena) {
    const phi_json *pending = phi_json_get(saved, "pending"), *item;
    const phi_json *recent = phi_json_get(saved, "recent_best_scores");
    const phi_json *rounds = phi_json_get(saved, "tool_rounds");
    size_t count = phi_json_is(pending, PHI_JSON_ARRAY) ? phi_json_count(pending) : 0;
    phi_json_iter it = phi_json_each(pending);
    uint64_t id;
    if (count > 0) {
        t->pending = (phi_str *)phi_arena_alloc(arena, phi__mul(count, sizeof *t->pending));
        t->sums = (double *)phi__arena_zero(arena, phi__mul(count, sizeof *t->sums));
        if (t->pending == NULL || t->sums == NULL) return false;
    }
    while (count > 0 && (item = phi_json_next(&it)) != NULL)
        if (!phi__arena_str(arena, phi_json_str(item, ""), &t->pending[t->pending_count++]))
            return false;
    count = phi_json_is(recent, PHI_JSON_ARRAY) ? phi_json_count(recent) : 0;
    it = phi_json_each(recent);
    if (count > 0) t->recent = (double *)phi_arena_alloc(arena, phi__mul(count, sizeof(double)));
    if (count > 0 && t->recent == NULL) return false;
    t->recent_room = (uint32_t)count;
    while (count > 0 && (item = phi_json_next(&it)) != NULL)
        t->recent[t->recent_count++] = phi_json_num(item, 0.0);
    count = phi_json_is(rounds, PHI_JSON_OBJECT) ? phi_json_count(rounds) : 0;
    it = phi_json_each(rounds);
    if (count > 0)
        t->rounds = (phi__tot_rounds *)phi_arena_alloc(arena, phi__mul(count, sizeof *t->rounds));
    if (count > 0 && t->rounds == NULL) return false;
    t->round_cap = (uint32_t)count;
    while (count > 0 && (item = phi_json_next(&it)) != NULL) {
        if (!phi__str_to_u64(it.key, &id) || id > UINT32_MAX) continue;
        t->rounds[t->round_count].call_id = (uint32_t)id;
        t->rounds[t->round_count++].rounds = (uint32_t)phi__json_get_uint(item, 0);
    }
    return true;
}

static phi_status phi__totres_load(phi__tot *t, const phi_json *saved, phi_arena *arena,
                                   const phi_tot_options *options) {
    if (!phi_json_is(saved, PHI_JSON_OBJECT)) return PHI_PARSE;
    if (!phi__records_get(saved, phi__totres_fields, PHI__COUNT(phi__totres_fields), t, arena))
        return PHI_NO_MEMORY;
    phi_status status = phi__tree_get(&t->tree, arena, saved, options);
    if (status != PHI_OK) return status;
    if (!phi__totres_load_lists(t, saved, arena)) return PHI_NO_MEMORY;
    const phi_json *items = phi_json_get(saved, "sums");
    phi_json_iter it = phi_json_each(items);
    const phi_json *item;
    for (uint32_t i = 0; i < t->pending_count && (item = phi_json_next(&it)) != NULL; i++) {
        t->sums[i] = phi_json_num(item, -1.0);
        if (!(t->sums[i] >= 0.0 && t->sums[i] <= (double)t->evaluated)) return PHI_PARSE;
    }
    phi__machine_get_usage(saved, &t->usage);
    if (t->phase > PHI__TOT_OVER || (t->phase != PHI__TOT_IDLE && t->at >= t->tree.count))
        return PHI_PARSE;
    return PHI_OK;
}

/* ---- the machine ---- */

enum { PHI__TOT_PROMPT_TOKENS = 400 }; /* of phi's own prompt of a call, at most, by estimate */

PHI__FN phi_tot_options phi__tot_options_of(const void *options) {
    phi_tot_options o = PHI_ZERO;
    if (options != NULL) o = *(const phi_tot_options *)options;
    if (o.branching_factor == 0) o.branching_factor = 8;
    if (o.evaluations == 0) o.evaluations = 3;
    if (o.beam_width == 0) o.beam_width = 5;
    if (!(o.value_threshold < 0.0) && !(o.value_threshold > 0.0)) o.value_threshold = 0.4;
    if (o.max_depth == 0) o.max_depth = 3;
    if (o.min_depth == 0) o.min_depth = 2;
    if (o.max_nodes == 0) o.max_nodes = 100;
    if (o.max_nodes == 1) o.max_nodes = 2; /* the problem, and one thought */
    if (o.top_k == 0) o.top_k = 3;
    if (!(o.early_success_threshold > 0.0)) o.early_success_threshold = 1.0;
    if (o.convergence_window == 0) o.convergence_window = PHI_UNLIMITED;
    if (o.convergence_window == 1) o.convergence_window = 2; /* one score has no trend */
    if (!(o.min_score_improvement > 0.0)) o.min_score_improvement = 0.02;
    if (o.max_parse_retries == 0) o.max_parse_retries = 1;
    if (o.no_repair) o.max_parse_retries = 0;
    if (o.max_tool_rounds == 0) o.max_tool_rounds = 3;
    return o;
}

/* ---- prompts ---- */

static phi_str phi__tot_generation(void) {
    static const char text[] =
        "You propose thoughts for a search tree: partial or whole solutions that build on the "
        "steps so far. Thoughts of one answer differ materially from each other, and each is "
        "short and concrete. A thought that solves the problem states the whole solution. Answer "
        "with strict JSON and nothing else:\n"
        "{\"thoughts\":[{\"id\":\"t1\",\"content\":\"...\"},{\"id\":\"t2\",\"content\":\"...\"}]}\n"
        "Where no thought can lead to a solution, answer {\"thoughts\":[]}.";
    return PHI__LIT(text);
}

static phi_str phi__tot_evaluation(void) {
    static const char text[] =
        "You score thoughts of a search tree from 0.0 to 1.0 by correctness, progress towards the "
        "solution and completeness. 1.0 is a complete and correct solution, 0.0 cannot lead to "
        "one. Check the facts and the arithmetic of each. Answer with strict JSON and nothing "
        "else, a score for each id:\n"
        "{\"scores\":{\"t1\":0.75,\"t2\":0.1}}";
    return PHI__LIT(text);
}

static uint32_t phi__tot_wanted(const phi__tot *t, const phi_tot_options *o) {
    uint32_t left = o->max_nodes > t->tree.count ? o->max_nodes - t->tree.count : 0;
    return left < o->branching_factor ? left : o->branching_factor;
}

static bool phi__tot_put_prompt(const phi__tot *t, const phi_tot_options *o, phi_arena *scratch,
                                phi__buf *out) {
    if (t->repairing) {
        if (t->phase == PHI__TOT_GENERATING)
            phi__buf_text(out, "The shape: {\"thoughts\":[{\"id\":\"t1\",\"content\":\"...\"}]}");
        else {
            phi__buf_text(out, "The shape: {\"scores\":{\"t1\":0.75}}\nThe ids: ");
            for (uint32_t i = 0; i < t->pending_count; i++)
                phi__buf_printf(out, "%st%lu", i > 0 ? ", " : "", (unsigned long)i + 1);
        }
        phi__buf_text(out, "\nThe text:\n");
        phi__buf_add_str(out, t->source);
        return true;
    }
    uint32_t depth = t->tree.nodes[t->at].depth;
    uint32_t *path =
        (uint32_t *)phi_arena_alloc(scratch, phi__mul(phi__max(depth, 1), sizeof(*path)));
    if (path == NULL) return false;
    phi__tree_path(&t->tree, t->at, path);
    phi__buf_text(out, "Problem: ");
    phi__buf_add_str(out, t->tree.nodes[0].content);
    for (uint32_t i = 0; i < depth; i++) {
        phi__buf_printf(out, "\nStep %lu: ", (unsigned long)i + 1);
        phi__buf_add_str(out, t->tree.nodes[path[i]].content);
    }
    if (t->phase == PHI__TOT_GENERATING) {
        phi__buf_printf(out, "\n\nPropose %lu different %s.", (unsigned long)phi__tot_wanted(t, o),
                        t->at == 0 ? "approaches" : "next steps");
        if (t->tree.nodes[t->at].depth + 1 >= o->max_depth)
            phi__buf_text(out, " This is the last step: each states a whole solution.");
        return true;
    }
    phi__buf_text(out, "\n\nThoughts to score:");
    for (uint32_t i = 0; i < t->pending_count; i++) {
        phi__buf_printf(out, "\n%lu. t%lu: ", (unsigned long)i + 1, (unsigned long)i + 1);
        phi__buf_add_str(out, t->pending[i]);
    }
    return true;
}

static phi_str phi__tot_system(const phi__tot *t, const phi_tot_options *o) {
    if (t->repairing) {
        static const char text[] = "You convert a text to strict JSON of a given shape. Keep its "
                                   "content, add nothing, and "
                                   "answer with the JSON alone.";
        return PHI__LIT(text);
    }
    if (t->phase == PHI__TOT_GENERATING)
        return o->generation_prompt != NULL ? phi_str_of(o->generation_prompt)
                                            : phi__tot_generation();
    return o->evaluation_prompt != NULL ? phi_str_of(o->evaluation_prompt) : phi__tot_evaluation();
}

/* ---- the end ---- */

static phi_status phi__tot_end(phi__tot *t, const phi_tot_options *o, phi_status status,
                               const phi__tot_ending *ending, const phi_strategy_env *env,
                               phi_strategy_commands *out) {
    phi__buf result;
    t->phase = PHI__TOT_OVER;
    phi__buf_init(&result, env->scratch->memory);
    uint64_t duration_ms = env->elapsed_ms;
    phi_arena *scratch = env->scratch;
    phi__buf_char(&result, '{');
    phi__totres_candidates(t, o, scratch, &result);
    phi__machine_put_termination(&result, ending->reason,
                                 !ending->good                          ? "error"
                                 : t->tree.nodes[t->tree.best].finished ? "completed"
                                                                        : "unfinished",
                                 duration_ms, true);
    phi__records_u64(&result, "depth_reached", t->tree.deepest);
    phi__records_u64(&result, "node_count", t->tree.count);
    phi__buf_char(&result, '}');
    phi__records_raw(&result, "tree", "{");
    phi__records_u64(&result, "node_count", t->tree.count);
    phi__records_u64(&result, "frontier_size", t->tree.frontier_count);
    phi__records_str(&result, "traversal_strategy",
                     o->traversal == PHI_TOT_DFS ? PHI__LIT("dfs") : PHI__LIT("bfs"));
    phi__records_u64(&result, "max_depth", o->max_depth);
    phi__records_u64(&result, "branching_factor", o->branching_factor);
    phi__buf_char(&result, '}');
    phi__machine_put_usage(&result, &t->usage);
    phi__records_raw(&result, "diagnostics", "{");
    phi__records_str(&result, "parser_mode", t->by_lines ? PHI__LIT("regex") : PHI__LIT("json"));
    phi__records_raw(&result, "parse_retries", "{");
    phi__records_u64(&result, "generation", t->retries[0]);
    phi__records_u64(&result, "evaluation", t->retries[1]);
    phi__buf_char(&result, '}');
    phi__records_u64(&result, "parser_errors", t->parser_errors);
    phi__records_u64(&result, "pruned", t->pruned);
    phi__totres_rounds(t, &result);
    phi__records_raw(&result, "convergence", "{");
    if (o->convergence_window != PHI_UNLIMITED)
        phi__records_u64(&result, "window", o->convergence_window);
    else
        phi__records_raw(&result, "window", "null");
    phi__records_double(&result, "min_score_improvement", o->min_score_improvement);
    phi__totres_doubles("recent_best_scores", t->recent, t->recent_count, &result);
    phi__buf_char(&result, '}');
    if (t->tree.best != 0)
        phi__records_u64(&result, "best_node_id", t->tree.best);
    else
        phi__records_raw(&result, "best_node_id", "null");
    phi__totres_error(ending, &result);
    phi__buf_char(&result, '}');
    if (ending->good)
        return phi__machine_done(env, out, t->tree.nodes[t->tree.best].content,
                                 t->tree.nodes[t->tree.best].stop_reason, &result);
    return phi__machine_fail(env, out, status, ending->error, &result);
}

/* Makes nodes of the pending thoughts, which were scored at least once. False: no memory. */
static bool phi__tot_keep(phi__tot *t, const phi_tot_options *o, phi_arena *arena) {
    for (uint32_t i = 0; i < t->pending_count; i++)
        if (!phi__tree_add(&t->tree, arena, t->at, t->sums[i] / (double)t->evaluated, t->pending[i],
                           o))
            return false;
    if (t->pending_count > 0) t->tree.nodes[t->tree.count - 1].stop_reason = t->cut;
    t->pending_count = t->evaluated = 0;
    return true;
}

/* With the best so far, if there is one. */
static phi_status phi__tot_finish(phi__tot *t, const phi_tot_options *o, const char *reason,
                                  const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__tot_ending ending = PHI_ZERO;
    if (t->evaluated > 0 && !phi__tot_keep(t, o, env->arena)) return PHI_NO_MEMORY;
    ending.reason = reason;
    ending.good = t->tree.best != 0;
    if (!ending.good) ending.error = PHI__LIT("ended before a thought was scored");
    return phi__tot_end(t, o, PHI_LIMIT, &ending, env, out);
}

static phi_status phi__tot_error(phi__tot *t, const phi_tot_options *o, phi_status status,
                                 phi_str message, const phi_strategy_env *env,
                                 phi_strategy_commands *out) {
    phi__tot_ending ending = PHI_ZERO;
    ending.reason = "error";
    ending.error = message;
    return phi__tot_end(t, o, status, &ending, env, out);
}

/* ---- calls ---- */

static bool phi__tot_late(const phi_tot_options *o, const phi_strategy_env *env) {
    return o->max_duration_ms != 0 && env->elapsed_ms >= o->max_duration_ms;
}

static uint32_t phi__tot_timeout(const phi_tot_options *o, const phi_strategy_env *env) {
    uint64_t left = o->max_duration_ms;
    if (o->max_duration_ms == 0) return o->timeout_ms;
    left = left > env->elapsed_ms ? left - env->elapsed_ms : 1;
    return o->timeout_ms != 0 && o->timeout_ms < left ? o->timeout_ms : (uint32_t)left;
}

static phi_status phi__tot_call(phi__tot *t, const phi_tot_options *o, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_ASK);
    phi__buf prompt;
    if (command == NULL) return PHI_FULL;
    phi__buf_init(&prompt, env->scratch->memory);
    if (!phi__tot_put_prompt(t, o, env->scratch, &prompt)) prompt.failed = true;
    if (!phi__machine_text(&prompt, env->scratch, &command->call.prompt)) return PHI_NO_MEMORY;
    command->call.id = t->call_id;
    command->call.system_prompt = phi__tot_system(t, o);
    command->call.tools = o->tools && !t->repairing;
    command->call.max_tool_rounds = o->max_tool_rounds;
    command->call.max_tokens = o->max_tokens;
    command->call.has_temperature = o->has_temperature;
    command->call.temperature = o->temperature;
    command->call.timeout_ms = phi__tot_timeout(o, env);
    return PHI_OK;
}

static phi_status phi__tot_ask(phi__tot *t, const phi_tot_options *o, const phi_strategy_env *env,
                               phi_strategy_commands *out) {
    const char *phase = t->phase == PHI__TOT_GENERATING ? "generating" : "evaluating";
    if (phi__tot_late(o, env)) return phi__tot_finish(t, o, "max_duration", env, out);
    if (env->calls_left == 0) return phi__tot_finish(t, o, "max_calls", env, out);
    if (phi__machine_emit(out, t->repairing ? "repairing" : phase) != PHI_OK) return PHI_FULL;
    t->call_id++;
    return phi__tot_call(t, o, env, out);
}

static phi_status phi__tot_turn_to(phi__tot *t, const phi_tot_options *o, uint32_t phase,
                                   const phi_strategy_env *env, phi_strategy_commands *out) {
    t->phase = phase;
    t->repairing = false;
    t->repairs = 0;
    return phi__tot_ask(t, o, env, out);
}

static bool phi__tot_been_down(const phi__tot *t, const phi_tot_options *o) {
    return t->tree.deepest >= o->max_depth;
}

/* Expands the next node. */
static phi_status phi__tot_expand(phi__tot *t, const phi_tot_options *o,
                                  const phi_strategy_env *env, phi_strategy_commands *out) {
    t->at = phi__tree_next(&t->tree);
    t->pending_count = t->evaluated = 0;
    if (t->at == 0 && t->tree.count == 1)
        return phi__tot_error(t, o, PHI_PARSE,
                              PHI__LIT("the model wrote no thought that could be used"), env, out);
    if (t->at == 0)
        return phi__tot_finish(t, o, phi__tot_been_down(t, o) ? "max_depth" : "exhausted", env,
                               out);
    return phi__tot_turn_to(t, o, PHI__TOT_GENERATING, env, out);
}

static phi_status phi__tot_unreadable(phi__tot *t, const phi_tot_options *o, phi_str text,
                                      const phi_strategy_env *env, phi_strategy_commands *out) {
    bool generating = t->phase == PHI__TOT_GENERATING;
    t->parser_errors++;
    if (t->repairs < o->max_parse_retries) {
        if (!t->repairing && !phi__arena_str(env->arena, text, &t->source)) return PHI_NO_MEMORY;
        t->repairing = true;
        t->repairs++;
        t->retries[generating ? 0 : 1]++;
        return phi__tot_ask(t, o, env, out);
    }
    phi__tot_ending ending = PHI_ZERO;
    ending.reason = "error";
    ending.phase = generating ? "generating" : "evaluating";
    ending.why = generating ? "no_thoughts" : "no_scores";
    ending.error = generating ? PHI__LIT("the model's thoughts could not be read")
                              : PHI__LIT("the model's scores could not be read");
    return phi__tot_end(t, o, PHI_PARSE, &ending, env, out);
}

/* ---- answers ---- */

/* The best score so far, at the end of the window. False: no memory. */
static bool phi__tot_remember(phi__tot *t, const phi_tot_options *o, phi_arena *arena) {
    uint32_t more = t->recent_room < 8 ? 8 : t->recent_room * 2;
    if (t->recent_count >= o->convergence_window) {
        t->recent_count = o->convergence_window - 1;
        for (uint32_t i = 0; i < t->recent_count; i++) t->recent[i] = t->recent[i + 1];
    } else if (t->recent_count == t->recent_room) {
        double *grown = (double *)phi_arena_alloc(arena, phi__mul(more, sizeof *grown));
        if (grown == NULL) return false;
        if (t->recent_count > 0) memcpy(grown, t->recent, t->recent_count * sizeof *grown);
        t->recent = grown;
        t->recent_room = more;
    }
    t->recent[t->recent_count++] = t->tree.nodes[t->tree.best].score;
    return true;
}

static bool phi__tot_converged(const phi__tot *t, const phi_tot_options *o) {
    return o->convergence_window != PHI_UNLIMITED && t->recent_count >= o->convergence_window &&
           t->recent[t->recent_count - 1] - t->recent[0] < o->min_score_improvement;
}

static bool phi__tot_succeeded(const phi__tot *t, const phi_tot_options *o, uint32_t added) {
    for (uint32_t i = t->tree.count - added; i < t->tree.count; i++)
        if (t->tree.nodes[i].score >= o->early_success_threshold &&
            t->tree.nodes[i].depth >= o->min_depth)
            return true;
    return false;
}

static phi_status phi__tot_scores(phi__tot *t, const phi_tot_options *o, phi_str text,
                                  const phi_strategy_env *env, phi_strategy_commands *out) {
    uint32_t count = t->pending_count;
    double *scores = (double *)phi_arena_alloc(env->scratch, phi__mul(count, sizeof *scores));
    if (scores == NULL) return PHI_NO_MEMORY;
    phi__tot_read read = phi__tot_parse_scores(text, env->scratch, t->pending, count, scores);
    if (read.no_memory) return PHI_NO_MEMORY;
    if (read.count == 0) return phi__tot_unreadable(t, o, text, env, out);
    t->by_lines = !read.json;
    for (uint32_t i = 0; i < count; i++) t->sums[i] += scores[i];
    if (++t->evaluated < o->evaluations)
        return phi__tot_turn_to(t, o, PHI__TOT_EVALUATING, env, out);
    if (!phi__tot_keep(t, o, env->arena)) return PHI_NO_MEMORY;
    if (phi__tot_been_down(t, o) && !phi__tot_remember(t, o, env->arena)) return PHI_NO_MEMORY;
    /* Puts the newest `count` nodes that may be expanded into the frontier. */
    phi_arena *arena = env->arena;
    for (uint32_t i = t->tree.count - count; i < t->tree.count; i++) {
        if (t->tree.nodes[i].depth >= o->max_depth) continue;
        if (o->traversal == PHI_TOT_DFS && t->tree.nodes[i].score < o->value_threshold) continue;
        void *grown = phi__tree_grow(arena, t->tree.frontier, t->tree.frontier_count,
                                     &t->tree.frontier_cap, sizeof *t->tree.frontier);
        if (grown == NULL) return PHI_NO_MEMORY;
        t->tree.frontier = (uint32_t *)grown;
        phi__tree_insert(&t->tree, phi__tree_place(&t->tree, i, o->traversal), i);
        if (o->traversal == PHI_TOT_BFS) {
            /* Cuts the newest level, which is last, to the beam. */
            uint32_t depth = t->tree.nodes[i].depth;
            uint32_t beam = o->beam_width;
            uint32_t level = 0;
            while (level < t->tree.frontier_count &&
                   t->tree.nodes[t->tree.frontier[t->tree.frontier_count - 1 - level]].depth ==
                       depth)
                level++;
            if (level > beam) t->tree.frontier_count -= level - beam;
        }
    }
    if (t->tree.count >= o->max_nodes) return phi__tot_finish(t, o, "max_nodes", env, out);
    if (phi__tot_late(o, env)) return phi__tot_finish(t, o, "max_duration", env, out);
    if (phi__tot_succeeded(t, o, count)) return phi__tot_finish(t, o, "threshold", env, out);
    if (phi__tot_converged(t, o)) return phi__tot_finish(t, o, "converged", env, out);
    return phi__tot_expand(t, o, env, out);
}

/* Usage and rounds of tools of a call. False: no memory. */
static bool phi__tot_count(phi__tot *t, const phi_strategy_event *event, phi_arena *arena) {
    uint32_t more = t->round_cap < 4 ? 4 : t->round_cap * 2;
    phi__message_add_usage(&t->usage, &event->usage);
    if (event->tool_rounds == 0) return true;
    if (t->round_count == t->round_cap) {
        phi__tot_rounds *grown;
        grown = (phi__tot_rounds *)phi_arena_alloc(arena, phi__mul(more, sizeof *grown));
        if (grown == NULL) return false;
        if (t->round_count > 0) memcpy(grown, t->rounds, t->round_count * sizeof *grown);
        t->rounds = grown;
        t->round_cap = more;
    }
    t->rounds[t->round_count].call_id = event->call_id;
    t->rounds[t->round_count++].rounds = event->tool_rounds;
    return true;
}

/* ---- the machine ---- */

static phi_status phi__tot_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__tot *t = (phi__tot *)state;
    phi_tot_options o = phi__tot_options_of(env->options);
    if (event->kind == PHI_STRATEGY_BEGIN) {
        if (t->phase != PHI__TOT_IDLE) return PHI_OK;
        if (!phi__tree_add(&t->tree, env->arena, 0, 0.0, event->text, &o)) return PHI_NO_MEMORY;
        return phi__tot_turn_to(t, &o, PHI__TOT_GENERATING, env, out);
    }
    if (t->phase != PHI__TOT_GENERATING && t->phase != PHI__TOT_EVALUATING) return PHI_OK;
    if (event->kind == PHI_STRATEGY_STOP)
        return phi__tot_finish(t, &o, env->calls_left == 0 ? "max_calls" : "stopped", env, out);
    if (event->call_id != t->call_id) return PHI_OK;
    if (!phi__tot_count(t, event, env->arena)) return PHI_NO_MEMORY;
    if (event->kind == PHI_STRATEGY_FAILED) {
        if (event->status == PHI_TIMEOUT && phi__tot_late(&o, env))
            return phi__tot_finish(t, &o, "max_duration", env, out);
        if (event->status == PHI_LIMIT && event->tool_rounds > o.max_tool_rounds)
            return phi__tot_error(t, &o, PHI_LIMIT, PHI__LIT("max_tool_round_trips_reached"), env,
                                  out);
        return phi__tot_error(t, &o, event->status, event->message, env, out);
    }
    if (t->phase == PHI__TOT_GENERATING) {
        phi_str text = event->text;
        size_t most = phi__min(phi__tot_wanted(t, &o), text.len); /* each has a byte */
        t->pending_count = 0;
        t->pending = (phi_str *)phi_arena_alloc(env->arena, phi__mul(most + 1, sizeof *t->pending));
        t->sums = (double *)phi__arena_zero(env->arena, phi__mul(most + 1, sizeof *t->sums));
        if (t->pending == NULL || t->sums == NULL) return PHI_NO_MEMORY;
        phi__tot_read read = phi__tot_parse_thoughts(text, env->arena, t->pending, most);
        if (read.no_memory) return PHI_NO_MEMORY;
        if (read.count == 0 && !read.none) return phi__tot_unreadable(t, &o, text, env, out);
        t->by_lines = !read.json;
        t->pending_count = (uint32_t)read.count;
        const char *last = read.count > 0 ? t->pending[read.count - 1].at : NULL;
        uint32_t kept = 0;
        if (env->prune_fn != NULL) {
            phi_strategy_node node = PHI_ZERO;
            node.parent = t->at;
            node.depth = t->tree.nodes[t->at].depth + 1;
            node.problem = t->tree.nodes[0].content;
            for (uint32_t i = 0; i < t->pending_count; i++) {
                node.id = t->tree.count + kept;
                node.content = t->pending[i];
                if (env->prune_fn(env->user_data, &node))
                    t->pruned++;
                else
                    t->pending[kept++] = t->pending[i];
            }
            t->pending_count = kept;
        }
        t->cut = PHI_STOP_REASON_STOP;
        if (t->pending_count > 0 && t->pending[t->pending_count - 1].at == last)
            t->cut = event->stop_reason;
        if (t->pending_count == 0) return phi__tot_expand(t, &o, env, out);
        return phi__tot_turn_to(t, &o, PHI__TOT_EVALUATING, env, out);
    }
    return phi__tot_scores(t, &o, event->text, env, out);
}

static uint64_t phi__tot_times(uint64_t a, uint64_t b) {
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Each node above the last depth is expanded once, of BFS a beam of each level, and none when the
   tree is full. */
static uint64_t phi__tot_expansions(const phi_tot_options *o) {
    uint64_t all = 1, level = 1;
    for (uint32_t depth = 1; depth < o->max_depth && all < o->max_nodes; depth++) {
        level = phi__tot_times(level, o->branching_factor);
        if (o->traversal == PHI_TOT_BFS && level > o->beam_width) level = o->beam_width;
        all = level > UINT64_MAX - all ? UINT64_MAX : all + level;
    }
    return all < o->max_nodes - 1u ? all : o->max_nodes - 1u;
}

static void phi__tot_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                          phi_strategy_bill *out) {
    phi_tot_options o = phi__tot_options_of(options);
    uint64_t turns = o.tools ? (uint64_t)o.max_tool_rounds + 1 : 1;
    uint64_t own = PHI__TOT_PROMPT_TOKENS;
    memset(out, 0, sizeof *out);
    if (o.max_tokens != 0) answer_tokens = o.max_tokens;
    if (o.generation_prompt != NULL) own += phi_str_of(o.generation_prompt).len / 4;
    if (o.evaluation_prompt != NULL) own += phi_str_of(o.evaluation_prompt).len / 4;
    out->calls =
        phi__tot_times(phi__tot_times(phi__tot_expansions(&o), 1 + (uint64_t)o.evaluations),
                       turns + o.max_parse_retries);
    /* the path, the thoughts to score, and earlier turns of the same call */
    uint64_t each = phi__tot_times(answer_tokens, (uint64_t)o.max_depth + turns);
    each = each > UINT64_MAX - own - prompt_tokens ? UINT64_MAX : each + own + prompt_tokens;
    out->input_tokens = phi__tot_times(out->calls, each);
    if (o.max_tokens != 0) out->output_tokens = phi__tot_times(out->calls, o.max_tokens);
}

static void phi__tot_best(const void *state, phi_strategy_best *out) {
    const phi__tot *t = (const phi__tot *)state;
    memset(out, 0, sizeof *out);
    out->nodes = t->tree.count > 0 ? t->tree.count - 1 : 0;
    if (t->tree.best == 0) return;
    out->text = t->tree.nodes[t->tree.best].content;
    out->has_score = true;
    out->score = t->tree.nodes[t->tree.best].score;
    out->unfinished = !t->tree.nodes[t->tree.best].finished;
}

static phi_json *phi__tot_save(const void *state, phi_arena *arena) {
    const phi__tot *t = (const phi__tot *)state;
    phi__buf out;
    phi__buf_init(&out, arena->memory);
    phi__buf_char(&out, '{');
    phi__records_put(&out, phi__totres_fields, PHI__COUNT(phi__totres_fields), t);
    const phi__tot_tree *tree = &t->tree;
    phi__records_raw(&out, "nodes", "[");
    for (uint32_t i = 0; i < tree->count; i++) {
        phi__json_write_comma(&out);
        phi__buf_printf(&out, "[%lu,", (unsigned long)tree->nodes[i].parent);
        phi__json_number_put_double(&out, tree->nodes[i].score);
        phi__buf_char(&out, ',');
        phi__json_write_str(&out, tree->nodes[i].content);
        phi__buf_printf(&out, ",%u]", (unsigned)tree->nodes[i].stop_reason);
    }
    phi__buf_char(&out, ']');
    phi__records_raw(&out, "frontier", "[");
    for (uint32_t i = 0; i < tree->frontier_count; i++)
        phi__buf_printf(&out, "%s%lu", i > 0 ? "," : "", (unsigned long)tree->frontier[i]);
    phi__buf_char(&out, ']');
    phi__records_raw(&out, "pending", "[");
    for (uint32_t i = 0; i < t->pending_count; i++) {
        phi__json_write_comma(&out);
        phi__json_write_str(&out, t->pending[i]);
    }
    phi__buf_char(&out, ']');
    phi__totres_doubles("sums", t->sums, t->pending_count, &out);
    phi__totres_doubles("recent_best_scores", t->recent, t->recent_count, &out);
    phi__totres_rounds(t, &out);
    phi__machine_put_usage(&out, &t->usage);
    phi__buf_char(&out, '}');
    return phi__machine_tree(&out, arena);
}

static phi_status phi__tot_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    phi__tot *t = (phi__tot *)state;
    phi_tot_options o = phi__tot_options_of(env->options);
    phi_status status = phi__totres_load(t, saved, env->arena, &o);
    if (status != PHI_OK || (t->phase != PHI__TOT_GENERATING && t->phase != PHI__TOT_EVALUATING))
        return status;
    if (t->phase == PHI__TOT_EVALUATING && t->pending_count == 0) return PHI_PARSE;
    return phi__tot_call(t, &o, env, out);
}

/* ---- public ---- */

PHI_API const phi_strategy *phi_strategy_tot(void) {
    static const phi_strategy strategy = {
        "tot",         sizeof(phi__tot), phi__tot_bill, phi__tot_on,
        phi__tot_best, phi__tot_save,    phi__tot_load, NULL};
    return &strategy;
}
