/* tot.c - Tree-of-Thoughts: the tree, the prompts and the machine. */
#include "orchestrate/machine_in.h"

enum { PHI__TOT_IDLE, PHI__TOT_GENERATING, PHI__TOT_EVALUATING, PHI__TOT_OVER };

/* Upper estimate of the tokens of phi's own prompt in a call. */
enum { PHI__TOT_PROMPT_TOKENS = 400 };

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
    if (o.max_nodes == 1) o.max_nodes = 2; /* room for the problem and one thought */
    if (o.top_k == 0) o.top_k = 3;
    if (!(o.early_success_threshold > 0.0)) o.early_success_threshold = 1.0;
    if (o.convergence_window == 0) o.convergence_window = PHI_UNLIMITED;
    if (o.convergence_window == 1) o.convergence_window = 2; /* one score shows no trend */
    if (!(o.min_score_improvement > 0.0)) o.min_score_improvement = 0.02;
    if (o.max_parse_retries == 0) o.max_parse_retries = 1;
    if (o.no_repair) o.max_parse_retries = 0;
    if (o.max_tool_rounds == 0) o.max_tool_rounds = 3;
    return o;
}

/* ---- the tree: nodes, the frontier, the best ---- */

/* True if node a is better: finished first, then higher score, then deeper, then older. */
static bool phi__tree_before(const phi__tot_tree *tree, uint32_t a, uint32_t b) {
    const phi__tot_node *x = &tree->nodes[a], *y = &tree->nodes[b];
    if (x->finished != y->finished) return x->finished;
    if (x->score > y->score || x->score < y->score) return x->score > y->score;
    if (x->depth != y->depth) return x->depth > y->depth;
    return a < b;
}

static bool phi__tree_add(phi__tot *t, uint32_t parent, double score, phi_str content) {
    phi__tot_tree *tree = &t->tree;
    phi_arena *arena = t->m.env->arena;
    void *grown =
        phi__machine_grow(arena, tree->nodes, tree->count, &tree->cap, sizeof *tree->nodes);
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
    node->finished = node->depth >= t->o.max_depth ||
                     (node->depth >= t->o.min_depth && score >= t->o.early_success_threshold);
    tree->nodes[parent].children++;
    if (node->depth > tree->deepest) tree->deepest = node->depth;
    if (tree->best == 0 || phi__tree_before(tree, id, tree->best)) tree->best = id;
    return true;
}

/* Adds a node to the frontier, before nodes with a lower score. BFS sorts within a level, and DFS
   sorts siblings. BFS then cuts the newest level, which is last, to the beam width. */
static bool phi__tree_enqueue(phi__tot *t, uint32_t id) {
    phi__tot_tree *tree = &t->tree;
    const phi__tot_node *node = &tree->nodes[id];
    uint32_t place = 0, level = 0;
    void *grown = phi__machine_grow(t->m.env->arena, tree->frontier, tree->frontier_count,
                                    &tree->frontier_cap, sizeof *tree->frontier);
    if (grown == NULL) return false;
    tree->frontier = (uint32_t *)grown;
    for (; place < tree->frontier_count; place++) {
        const phi__tot_node *other = &tree->nodes[tree->frontier[place]];
        if (t->o.traversal == PHI_TOT_BFS && other->depth < node->depth) continue;
        if (t->o.traversal == PHI_TOT_DFS && other->parent != node->parent) break;
        if (other->score < node->score) break;
    }
    for (uint32_t i = tree->frontier_count++; i > place; i--)
        tree->frontier[i] = tree->frontier[i - 1];
    tree->frontier[place] = id;
    if (t->o.traversal != PHI_TOT_BFS) return true;
    while (level < tree->frontier_count &&
           tree->nodes[tree->frontier[tree->frontier_count - 1 - level]].depth == node->depth)
        level++;
    if (level > t->o.beam_width) tree->frontier_count -= level - t->o.beam_width;
    return true;
}

/* Takes the next node from the frontier. 0 if the frontier is empty. */
static uint32_t phi__tree_next(phi__tot_tree *tree) {
    if (tree->frontier_count == 0) return 0;
    uint32_t node = tree->frontier[0];
    tree->frontier_count--;
    for (uint32_t i = 0; i < tree->frontier_count; i++) tree->frontier[i] = tree->frontier[i + 1];
    return node;
}

/* Returns the path from the first thought to this node, in scratch memory. NULL: no memory. */
static uint32_t *phi__tree_path(const phi__tot *t, uint32_t node) {
    const phi__tot_node *nodes = t->tree.nodes;
    size_t bytes = phi__mul(phi__max(nodes[node].depth, 1), sizeof(uint32_t));
    uint32_t *path = (uint32_t *)phi_arena_alloc(t->m.env->scratch, bytes);
    for (; path != NULL && node != 0; node = nodes[node].parent) path[nodes[node].depth - 1] = node;
    return path;
}

/* Writes the best nodes to `out`, best first, and returns their number, at most `most`. Candidates
   are the leaves and the best node. */
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

/* ---- the result ---- */

static void phi__tot_put_ids(phi__buf *out, const char *key, const uint32_t *ids, uint32_t n) {
    phi__records_raw(out, key, "[");
    for (uint32_t i = 0; i < n; i++) {
        phi__json_write_comma(out);
        phi__buf_u64(out, ids[i]);
    }
    phi__buf_char(out, ']');
}

static void phi__tot_put_path(const phi__tot *t, uint32_t node, bool with_ids, phi__buf *out) {
    const uint32_t *path = phi__tree_path(t, node);
    uint32_t depth = t->tree.nodes[node].depth;
    if (path == NULL) {
        out->failed = true;
        return;
    }
    if (with_ids) phi__tot_put_ids(out, "path_ids", path, depth);
    phi__records_raw(out, with_ids ? "path_text" : "solution_path", "[");
    for (uint32_t i = 0; i < depth; i++) {
        phi__json_write_comma(out);
        phi__json_write_str(out, t->tree.nodes[path[i]].content);
    }
    phi__buf_char(out, ']');
}

static void phi__tot_put_candidate(const phi__tot *t, uint32_t node, phi__buf *out) {
    const phi__tot_node *n = &t->tree.nodes[node];
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_u64(out, "node_id", node);
    phi__records_str(out, "content", n->content);
    phi__records_double(out, "score", n->score);
    phi__records_u64(out, "depth", n->depth);
    phi__records_bool(out, "finished", n->finished);
    phi__tot_put_path(t, node, true, out);
    phi__buf_char(out, '}');
}

static void phi__tot_put_candidates(const phi__tot *t, phi__buf *out) {
    uint32_t most = t->o.top_k < t->tree.count ? t->o.top_k : t->tree.count;
    size_t bytes = phi__mul(phi__max(most, 1), sizeof(uint32_t));
    uint32_t *at = (uint32_t *)phi_arena_alloc(t->m.env->scratch, bytes);
    if (at == NULL) {
        out->failed = true;
        return;
    }
    uint32_t count = phi__tree_candidates(&t->tree, at, most);
    if (count == 0) {
        phi__records_raw(out, "best", "null");
        phi__records_raw(out, "candidates", "[]");
        phi__records_raw(out, "solution_path", "[]");
        return;
    }
    phi__records_raw(out, "best", "");
    phi__tot_put_candidate(t, at[0], out);
    phi__records_raw(out, "candidates", "[");
    for (uint32_t i = 0; i < count; i++) phi__tot_put_candidate(t, at[i], out);
    phi__buf_char(out, ']');
    phi__tot_put_path(t, at[0], false, out);
}

static void phi__tot_put_rounds(const phi__tot *t, phi__buf *out) {
    phi__records_raw(out, "tool_rounds", "{");
    for (uint32_t i = 0; i < t->round_count; i++)
        phi__buf_printf(out, "%s\"%lu\":%lu", i > 0 ? "," : "", (unsigned long)t->rounds[i].call_id,
                        (unsigned long)t->rounds[i].rounds);
    phi__buf_char(out, '}');
}

static void phi__tot_put_diagnostics(const phi__tot *t, phi_str error, const char *unreadable,
                                     phi__buf *out) {
    phi__records_raw(out, "diagnostics", "{");
    phi__records_str(out, "parser_mode", t->by_lines ? PHI__LIT("regex") : PHI__LIT("json"));
    phi__records_raw(out, "parse_retries", "{");
    phi__records_u64(out, "generation", t->retries[0]);
    phi__records_u64(out, "evaluation", t->retries[1]);
    phi__buf_char(out, '}');
    phi__records_u64(out, "parser_errors", t->parser_errors);
    phi__records_u64(out, "pruned", t->pruned);
    phi__tot_put_rounds(t, out);
    phi__records_raw(out, "convergence", "{");
    if (t->o.convergence_window != PHI_UNLIMITED)
        phi__records_u64(out, "window", t->o.convergence_window);
    else
        phi__records_raw(out, "window", "null");
    phi__records_double(out, "min_score_improvement", t->o.min_score_improvement);
    phi__machine_put_doubles(out, "recent_best_scores", t->recent, t->recent_count);
    phi__buf_char(out, '}');
    if (t->tree.best != 0)
        phi__records_u64(out, "best_node_id", t->tree.best);
    else
        phi__records_raw(out, "best_node_id", "null");
    if (unreadable != NULL) {
        phi__records_raw(out, "error", "{");
        phi__records_str(out, "type", PHI__LIT("parse_failed"));
        phi__records_str(out, "phase", phi_str_of(unreadable));
        phi__records_str(out, "reason",
                         strcmp(unreadable, "generating") == 0 ? PHI__LIT("no_thoughts")
                                                               : PHI__LIT("no_scores"));
        phi__buf_char(out, '}');
    } else
        phi__records_some(out, "error", error);
    phi__buf_char(out, '}');
}

/* Ends the search. If status is PHI_OK, the best thought is the answer. If an answer could not be
   read, `unreadable` names its phase, else it is NULL. */
static phi_status phi__tot_end(phi__tot *t, const char *reason, phi_status status, phi_str error,
                               const char *unreadable) {
    const phi__tot_node *best = &t->tree.nodes[t->tree.best];
    phi__buf result;
    t->m.phase = PHI__TOT_OVER;
    phi__machine_result(&t->m, &result);
    phi__tot_put_candidates(t, &result);
    phi__machine_put_termination(&t->m, &result, reason,
                                 status != PHI_OK ? "error"
                                 : best->finished ? "completed"
                                                  : "unfinished",
                                 true);
    phi__records_u64(&result, "depth_reached", t->tree.deepest);
    phi__records_u64(&result, "node_count", t->tree.count);
    phi__buf_char(&result, '}');
    phi__records_raw(&result, "tree", "{");
    phi__records_u64(&result, "node_count", t->tree.count);
    phi__records_u64(&result, "frontier_size", t->tree.frontier_count);
    phi__records_str(&result, "traversal_strategy",
                     t->o.traversal == PHI_TOT_DFS ? PHI__LIT("dfs") : PHI__LIT("bfs"));
    phi__records_u64(&result, "max_depth", t->o.max_depth);
    phi__records_u64(&result, "branching_factor", t->o.branching_factor);
    phi__buf_char(&result, '}');
    phi__message_put_usage(&result, &t->m.usage);
    phi__tot_put_diagnostics(t, error, unreadable, &result);
    if (status != PHI_OK) return phi__machine_fail(&t->m, status, error, &result);
    return phi__machine_done(&t->m, best->content, best->stop_reason, &result);
}

static phi_status phi__tot_error(phi__tot *t, phi_status status, phi_str message) {
    return phi__tot_end(t, "error", status != PHI_OK ? status : PHI_REFUSED, message, NULL);
}

/* Turns the pending thoughts into nodes. Each thought was scored at least once. */
static bool phi__tot_keep(phi__tot *t) {
    for (uint32_t i = 0; i < t->pending_count; i++)
        if (!phi__tree_add(t, t->at, t->sums[i] / (double)t->evaluated, t->pending[i]))
            return false;
    if (t->pending_count > 0) t->tree.nodes[t->tree.count - 1].stop_reason = t->cut;
    t->pending_count = t->evaluated = 0;
    return true;
}

/* Ends the search with the best thought so far. Fails if no thought has a score. */
static phi_status phi__tot_finish(phi__tot *t, const char *reason) {
    if (t->evaluated > 0 && !phi__tot_keep(t)) return PHI_NO_MEMORY;
    if (t->tree.best != 0) return phi__tot_end(t, reason, PHI_OK, phi__str("", 0), NULL);
    return phi__tot_end(t, reason, PHI_LIMIT, PHI__LIT("ended before a thought was scored"), NULL);
}

/* ---- calls ---- */

static bool phi__tot_late(const phi__tot *t) {
    return t->o.max_duration_ms != 0 && t->m.env->elapsed_ms >= t->o.max_duration_ms;
}

static uint32_t phi__tot_timeout(const phi__tot *t) {
    uint64_t left = t->o.max_duration_ms, elapsed = t->m.env->elapsed_ms;
    if (left == 0) return t->o.timeout_ms;
    left = left > elapsed ? left - elapsed : 1;
    return t->o.timeout_ms != 0 && t->o.timeout_ms < left ? t->o.timeout_ms : (uint32_t)left;
}

static uint32_t phi__tot_wanted(const phi__tot *t) {
    uint32_t left = t->o.max_nodes > t->tree.count ? t->o.max_nodes - t->tree.count : 0;
    return left < t->o.branching_factor ? left : t->o.branching_factor;
}

static phi_str phi__tot_system(const phi__tot *t) {
    static const char generation[] =
        "You propose thoughts for a search tree: partial or whole solutions that build on the "
        "steps so far. Thoughts of one answer differ materially from each other, and each is "
        "short and concrete. A thought that solves the problem states the whole solution. Answer "
        "with strict JSON and nothing else:\n"
        "{\"thoughts\":[{\"id\":\"t1\",\"content\":\"...\"},{\"id\":\"t2\",\"content\":\"...\"}]}\n"
        "Where no thought can lead to a solution, answer {\"thoughts\":[]}.";
    static const char evaluation[] =
        "You score thoughts of a search tree from 0.0 to 1.0 by correctness, progress towards the "
        "solution and completeness. 1.0 is a complete and correct solution, 0.0 cannot lead to "
        "one. Check the facts and the arithmetic of each. Answer with strict JSON and nothing "
        "else, a score for each id:\n"
        "{\"scores\":{\"t1\":0.75,\"t2\":0.1}}";
    static const char repair[] =
        "You convert a text to strict JSON of a given shape. Keep its content, add nothing, and "
        "answer with the JSON alone.";
    bool generating = t->m.phase == PHI__TOT_GENERATING;
    const char *own = generating ? t->o.generation_prompt : t->o.evaluation_prompt;
    if (t->repairing) return PHI__LIT(repair);
    if (own != NULL) return phi_str_of(own);
    return generating ? PHI__LIT(generation) : PHI__LIT(evaluation);
}

static void phi__tot_put_repair(const phi__tot *t, phi__buf *out) {
    if (t->m.phase == PHI__TOT_GENERATING)
        phi__buf_text(out, "The shape: {\"thoughts\":[{\"id\":\"t1\",\"content\":\"...\"}]}");
    else {
        phi__buf_text(out, "The shape: {\"scores\":{\"t1\":0.75}}\nThe ids: ");
        for (uint32_t i = 0; i < t->pending_count; i++)
            phi__buf_printf(out, "%st%lu", i > 0 ? ", " : "", (unsigned long)i + 1);
    }
    phi__buf_text(out, "\nThe text:\n");
    phi__buf_add_str(out, t->source);
}

static void phi__tot_put_prompt(const phi__tot *t, phi__buf *out) {
    uint32_t depth = t->tree.nodes[t->at].depth;
    const uint32_t *path = phi__tree_path(t, t->at);
    if (path == NULL) {
        out->failed = true;
        return;
    }
    phi__buf_text(out, "Problem: ");
    phi__buf_add_str(out, t->tree.nodes[0].content);
    for (uint32_t i = 0; i < depth; i++) {
        phi__buf_printf(out, "\nStep %lu: ", (unsigned long)i + 1);
        phi__buf_add_str(out, t->tree.nodes[path[i]].content);
    }
    if (t->m.phase == PHI__TOT_GENERATING) {
        phi__buf_printf(out, "\n\nPropose %lu different %s.", (unsigned long)phi__tot_wanted(t),
                        t->at == 0 ? "approaches" : "next steps");
        if (depth + 1 >= t->o.max_depth)
            phi__buf_text(out, " This is the last step: each states a whole solution.");
        return;
    }
    phi__buf_text(out, "\n\nThoughts to score:");
    for (uint32_t i = 0; i < t->pending_count; i++) {
        phi__buf_printf(out, "\n%lu. t%lu: ", (unsigned long)i + 1, (unsigned long)i + 1);
        phi__buf_add_str(out, t->pending[i]);
    }
}

static phi_status phi__tot_call(phi__tot *t) {
    phi_strategy_call call = PHI_ZERO;
    phi__buf prompt;
    phi__buf_init(&prompt, t->m.env->scratch->memory);
    if (t->repairing)
        phi__tot_put_repair(t, &prompt);
    else
        phi__tot_put_prompt(t, &prompt);
    call.system_prompt = phi__tot_system(t);
    call.tools = t->o.tools && !t->repairing;
    call.max_tool_rounds = t->o.max_tool_rounds;
    call.max_tokens = t->o.max_tokens;
    call.has_temperature = t->o.has_temperature;
    call.temperature = t->o.temperature;
    call.timeout_ms = phi__tot_timeout(t);
    return phi__machine_ask(&t->m, &call, &prompt);
}

static phi_status phi__tot_ask(phi__tot *t) {
    const char *phase = t->m.phase == PHI__TOT_GENERATING ? "generating" : "evaluating";
    if (phi__tot_late(t)) return phi__tot_finish(t, "max_duration");
    if (t->m.env->calls_left == 0) return phi__tot_finish(t, "max_calls");
    phi_status status = phi__machine_emit(&t->m, t->repairing ? "repairing" : phase);
    t->m.call_id++;
    return status == PHI_OK ? phi__tot_call(t) : status;
}

static phi_status phi__tot_enter(phi__tot *t, uint32_t phase) {
    t->m.phase = phase;
    t->repairing = false;
    t->repairs = 0;
    return phi__tot_ask(t);
}

static phi_status phi__tot_expand(phi__tot *t) {
    t->at = phi__tree_next(&t->tree);
    t->pending_count = t->evaluated = 0;
    if (t->at != 0) return phi__tot_enter(t, PHI__TOT_GENERATING);
    if (t->tree.count == 1)
        return phi__tot_error(t, PHI_PARSE,
                              PHI__LIT("the model wrote no thought that could be used"));
    return phi__tot_finish(t, t->tree.deepest >= t->o.max_depth ? "max_depth" : "exhausted");
}

/* ---- answers ---- */

static phi_status phi__tot_unreadable(phi__tot *t, phi_str text) {
    bool generating = t->m.phase == PHI__TOT_GENERATING;
    t->parser_errors++;
    if (t->repairs < t->o.max_parse_retries) {
        if (!t->repairing && !phi__arena_str(t->m.env->arena, text, &t->source))
            return PHI_NO_MEMORY;
        t->repairing = true;
        t->repairs++;
        t->retries[generating ? 0 : 1]++;
        return phi__tot_ask(t);
    }
    return phi__tot_end(t, "error", PHI_PARSE,
                        generating ? PHI__LIT("the model's thoughts could not be read")
                                   : PHI__LIT("the model's scores could not be read"),
                        generating ? "generating" : "evaluating");
}

/* Allocates room for `count` thoughts and their scores. */
static bool phi__tot_pending(phi__tot *t, size_t count) {
    phi_arena *arena = t->m.env->arena;
    t->pending_count = 0;
    t->pending = (phi_str *)phi_arena_alloc(arena, phi__mul(count + 1, sizeof *t->pending));
    t->sums = (double *)phi__arena_zero(arena, phi__mul(count + 1, sizeof *t->sums));
    return t->pending != NULL && t->sums != NULL;
}

/* Removes the pending thoughts that prune_fn rejects. */
static void phi__tot_prune(phi__tot *t) {
    const phi_strategy_env *env = t->m.env;
    phi_strategy_node node = PHI_ZERO;
    uint32_t kept = 0;
    if (env->prune_fn == NULL) return;
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

static phi_status phi__tot_thoughts(phi__tot *t, const phi_strategy_event *event) {
    phi_str text = event->text;
    size_t most = phi__min(phi__tot_wanted(t), text.len); /* a thought has at least one byte */
    if (!phi__tot_pending(t, most)) return PHI_NO_MEMORY;
    phi__tot_read read = phi__tot_parse_thoughts(text, t->m.env->arena, t->pending, most);
    if (read.no_memory) return PHI_NO_MEMORY;
    if (read.count == 0 && !read.none) return phi__tot_unreadable(t, text);
    t->by_lines = !read.json;
    t->pending_count = (uint32_t)read.count;
    const char *last = read.count > 0 ? t->pending[read.count - 1].at : NULL;
    phi__tot_prune(t);
    t->cut = PHI_STOP_REASON_STOP;
    if (t->pending_count == 0) return phi__tot_expand(t);
    if (t->pending[t->pending_count - 1].at == last) t->cut = event->stop_reason;
    return phi__tot_enter(t, PHI__TOT_EVALUATING);
}

/* Adds a best score to the convergence window. */
static bool phi__tot_remember(phi__tot *t, double score) {
    if (t->recent_count >= t->o.convergence_window) {
        t->recent_count = t->o.convergence_window - 1;
        memmove(t->recent, t->recent + 1, t->recent_count * sizeof *t->recent);
    }
    void *grown = phi__machine_grow(t->m.env->arena, t->recent, t->recent_count, &t->recent_cap,
                                    sizeof *t->recent);
    if (grown == NULL) return false;
    t->recent = (double *)grown;
    t->recent[t->recent_count++] = score;
    return true;
}

static bool phi__tot_converged(const phi__tot *t) {
    return t->o.convergence_window != PHI_UNLIMITED && t->recent_count >= t->o.convergence_window &&
           t->recent[t->recent_count - 1] - t->recent[0] < t->o.min_score_improvement;
}

static phi_status phi__tot_scores(phi__tot *t, phi_str text) {
    phi_arena *scratch = t->m.env->scratch;
    uint32_t count = t->pending_count, first = t->tree.count;
    bool succeeded = false;
    double *scores = (double *)phi_arena_alloc(scratch, phi__mul(count, sizeof *scores));
    if (scores == NULL) return PHI_NO_MEMORY;
    phi__tot_read read = phi__tot_parse_scores(text, scratch, t->pending, count, scores);
    if (read.no_memory) return PHI_NO_MEMORY;
    if (read.count == 0) return phi__tot_unreadable(t, text);
    t->by_lines = !read.json;
    for (uint32_t i = 0; i < count; i++) t->sums[i] += scores[i];
    if (++t->evaluated < t->o.evaluations) return phi__tot_enter(t, PHI__TOT_EVALUATING);
    if (!phi__tot_keep(t)) return PHI_NO_MEMORY;
    if (t->tree.deepest >= t->o.max_depth &&
        !phi__tot_remember(t, t->tree.nodes[t->tree.best].score))
        return PHI_NO_MEMORY;
    for (uint32_t i = first; i < t->tree.count; i++) {
        const phi__tot_node *node = &t->tree.nodes[i];
        if (node->score >= t->o.early_success_threshold && node->depth >= t->o.min_depth)
            succeeded = true;
        if (node->depth >= t->o.max_depth) continue;
        if (t->o.traversal == PHI_TOT_DFS && node->score < t->o.value_threshold) continue;
        if (!phi__tree_enqueue(t, i)) return PHI_NO_MEMORY;
    }
    if (t->tree.count >= t->o.max_nodes) return phi__tot_finish(t, "max_nodes");
    if (phi__tot_late(t)) return phi__tot_finish(t, "max_duration");
    if (succeeded) return phi__tot_finish(t, "threshold");
    if (phi__tot_converged(t)) return phi__tot_finish(t, "converged");
    return phi__tot_expand(t);
}

static bool phi__tot_note_rounds(phi__tot *t, uint32_t call_id, uint32_t rounds) {
    void *grown = phi__machine_grow(t->m.env->arena, t->rounds, t->round_count, &t->round_cap,
                                    sizeof *t->rounds);
    if (grown == NULL) return false;
    t->rounds = (phi__tot_rounds *)grown;
    t->rounds[t->round_count].call_id = call_id;
    t->rounds[t->round_count++].rounds = rounds;
    return true;
}

/* ---- the machine ---- */

static phi_status phi__tot_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__tot *t = (phi__tot *)state;
    if (!phi__machine_takes(&t->m, PHI__TOT_OVER, event, env, out)) return PHI_OK;
    t->o = phi__tot_options_of(env->options);
    if (event->kind == PHI_STRATEGY_BEGIN) {
        if (!phi__tree_add(t, 0, 0.0, event->text)) return PHI_NO_MEMORY;
        return phi__tot_enter(t, PHI__TOT_GENERATING);
    }
    if (event->kind == PHI_STRATEGY_STOP)
        return phi__tot_finish(t, env->calls_left == 0 ? "max_calls" : "stopped");
    if (event->tool_rounds > 0 && !phi__tot_note_rounds(t, event->call_id, event->tool_rounds))
        return PHI_NO_MEMORY;
    if (event->kind == PHI_STRATEGY_FAILED) {
        if (event->status == PHI_TIMEOUT && phi__tot_late(t))
            return phi__tot_finish(t, "max_duration");
        if (event->status == PHI_LIMIT && event->tool_rounds > t->o.max_tool_rounds)
            return phi__tot_error(t, PHI_LIMIT, PHI__LIT("max_tool_round_trips_reached"));
        return phi__tot_error(t, event->status, event->message);
    }
    return t->m.phase == PHI__TOT_GENERATING ? phi__tot_thoughts(t, event)
                                             : phi__tot_scores(t, event->text);
}

/* Counts the nodes that may be expanded: each node above the last depth once (in BFS at most a beam
   of each level), and at most max_nodes - 1 nodes in all. */
static uint64_t phi__tot_expansions(const phi_tot_options *o) {
    uint64_t all = 1, level = 1;
    for (uint32_t depth = 1; depth < o->max_depth && all < o->max_nodes; depth++) {
        level = phi__bill_times(level, o->branching_factor);
        if (o->traversal == PHI_TOT_BFS && level > o->beam_width) level = o->beam_width;
        all = phi__sum(all, level);
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
        phi__bill_times(phi__bill_times(phi__tot_expansions(&o), 1 + (uint64_t)o.evaluations),
                        turns + o.max_parse_retries);
    /* Estimates one call's input: the path, the thoughts to score, and its own earlier turns. */
    uint64_t each = phi__bill_times(answer_tokens, (uint64_t)o.max_depth + turns);
    each = phi__sum(each, own + prompt_tokens);
    out->input_tokens = phi__bill_times(out->calls, each);
    if (o.max_tokens != 0) out->output_tokens = phi__bill_times(out->calls, o.max_tokens);
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

/* ---- saving and loading ---- */

static const phi__field phi__tot_fields[] = {
    PHI__FIELD(phi__tot, m.phase, "phase", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, m.call_id, "call_id", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__KEYED(phi__tot, at, UINT, ALWAYS),
    PHI__KEYED(phi__tot, repairing, BOOL, ALWAYS),
    PHI__KEYED(phi__tot, repairs, UINT, ALWAYS),
    PHI__KEYED(phi__tot, evaluated, UINT, ALWAYS),
    PHI__KEYED(phi__tot, cut, UINT, ALWAYS),
    PHI__FIELD(phi__tot, retries[0], "generation", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__tot, retries[1], "evaluation", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__KEYED(phi__tot, parser_errors, UINT, ALWAYS),
    PHI__KEYED(phi__tot, pruned, UINT, ALWAYS),
    PHI__KEYED(phi__tot, by_lines, BOOL, ALWAYS),
    PHI__KEYED(phi__tot, source, STR, ALWAYS)};

static phi_json *phi__tot_save(const void *state, phi_arena *arena) {
    const phi__tot *t = (const phi__tot *)state;
    const phi__tot_tree *tree = &t->tree;
    phi__buf out;
    phi__machine_save(&out, phi__tot_fields, PHI__COUNT(phi__tot_fields), t, arena);
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
    phi__tot_put_ids(&out, "frontier", tree->frontier, tree->frontier_count);
    phi__records_strs(&out, "pending", t->pending, t->pending_count);
    phi__machine_put_doubles(&out, "sums", t->sums, t->pending_count);
    phi__machine_put_doubles(&out, "recent_best_scores", t->recent, t->recent_count);
    phi__tot_put_rounds(t, &out);
    return phi__machine_saved(&out, &t->m.usage, arena);
}

/* Loads the nodes and the frontier. PHI_PARSE: phi did not write this tree. */
static phi_status phi__tot_load_tree(phi__tot *t, const phi_json *saved) {
    const phi_json *item;
    phi__tot_tree *tree = &t->tree;
    phi_json_iter nodes = phi_json_each(phi_json_get(saved, "nodes"));
    phi_json_iter frontier = phi_json_each(phi_json_get(saved, "frontier"));
    while ((item = phi_json_next(&nodes)) != NULL) {
        uint64_t parent = phi__json_get_uint(phi_json_at(item, 0), UINT64_MAX);
        double score = phi_json_num(phi_json_at(item, 1), -1.0);
        const phi_json *content = phi_json_at(item, 2);
        if (!phi_json_is(content, PHI_JSON_STRING) || !(score >= 0.0 && score <= 1.0))
            return PHI_PARSE;
        if (tree->count == 0 ? parent != 0 : parent >= tree->count) return PHI_PARSE;
        if (!phi__tree_add(t, (uint32_t)parent, score, phi_json_str(content, "")))
            return PHI_NO_MEMORY;
        tree->nodes[tree->count - 1].stop_reason =
            (phi_stop_reason)phi__json_get_uint(phi_json_at(item, 3), PHI_STOP_REASON_STOP);
    }
    while ((item = phi_json_next(&frontier)) != NULL) {
        uint64_t node = phi__json_get_uint(item, 0);
        if (node == 0 || node >= tree->count || tree->frontier_count >= tree->count)
            return PHI_PARSE;
        void *grown = phi__machine_grow(t->m.env->arena, tree->frontier, tree->frontier_count,
                                        &tree->frontier_cap, sizeof *tree->frontier);
        if (grown == NULL) return PHI_NO_MEMORY;
        tree->frontier = (uint32_t *)grown;
        tree->frontier[tree->frontier_count++] = (uint32_t)node;
    }
    return PHI_OK;
}

static phi_status phi__tot_load_lists(phi__tot *t, const phi_json *saved) {
    const phi_json *pending = phi_json_get(saved, "pending"), *item;
    phi_json_iter texts = phi_json_each(pending);
    phi_json_iter sums = phi_json_each(phi_json_get(saved, "sums"));
    phi_json_iter recent = phi_json_each(phi_json_get(saved, "recent_best_scores"));
    phi_json_iter rounds = phi_json_each(phi_json_get(saved, "tool_rounds"));
    uint64_t id;
    if (!phi__tot_pending(t, phi_json_count(pending))) return PHI_NO_MEMORY;
    while ((item = phi_json_next(&texts)) != NULL)
        if (!phi__arena_str(t->m.env->arena, phi_json_str(item, ""),
                            &t->pending[t->pending_count++]))
            return PHI_NO_MEMORY;
    for (uint32_t i = 0; i < t->pending_count && (item = phi_json_next(&sums)) != NULL; i++) {
        t->sums[i] = phi_json_num(item, -1.0);
        if (!(t->sums[i] >= 0.0 && t->sums[i] <= (double)t->evaluated)) return PHI_PARSE;
    }
    while ((item = phi_json_next(&recent)) != NULL)
        if (!phi__tot_remember(t, phi_json_num(item, 0.0))) return PHI_NO_MEMORY;
    while ((item = phi_json_next(&rounds)) != NULL) {
        if (!phi__str_to_u64(rounds.key, &id) || id > UINT32_MAX) continue;
        if (!phi__tot_note_rounds(t, (uint32_t)id, (uint32_t)phi__json_get_uint(item, 0)))
            return PHI_NO_MEMORY;
    }
    return PHI_OK;
}

static phi_status phi__tot_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    phi__tot *t = (phi__tot *)state;
    phi_status status = phi__machine_load(&t->m, phi__tot_fields, PHI__COUNT(phi__tot_fields),
                                          PHI__TOT_OVER, saved, env, out);
    t->o = phi__tot_options_of(env->options);
    if (status == PHI_OK) status = phi__tot_load_tree(t, saved);
    if (status == PHI_OK) status = phi__tot_load_lists(t, saved);
    if (status != PHI_OK || t->m.phase == PHI__TOT_IDLE) return status;
    if (t->at >= t->tree.count) return PHI_PARSE;
    if (t->m.phase == PHI__TOT_OVER) return PHI_OK;
    if (t->m.phase == PHI__TOT_EVALUATING && t->pending_count == 0) return PHI_PARSE;
    return phi__tot_call(t);
}

PHI_API const phi_strategy *phi_strategy_tot(void) {
    static const phi_strategy strategy = {
        "tot",         sizeof(phi__tot), phi__tot_bill, phi__tot_on,
        phi__tot_best, phi__tot_save,    phi__tot_load, NULL};
    return &strategy;
}
