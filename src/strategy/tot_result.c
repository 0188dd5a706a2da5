/* tot_result.c - the result of Tree-of-Thoughts, and its machine as JSON. */
#include "strategy/tot_in.h"

#include "text/records_in.h"

/* ---- the result ---- */

static void phi__tot_result_path(const phi__tot *t, uint32_t node, phi_arena *scratch,
                                 bool with_ids, phi__buf *out) {
    uint32_t depth = t->tree.nodes[node].depth, i;
    uint32_t *path = (uint32_t *)phi_arena_alloc(scratch, phi__mul(depth, sizeof *path));
    if (path == NULL) {
        out->failed = true;
        return;
    }
    phi__tot_tree_path(&t->tree, node, path);
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

static void phi__tot_result_candidate(const phi__tot *t, uint32_t node, phi_arena *scratch,
                                      phi__buf *out) {
    const phi__tot_node *n = &t->tree.nodes[node];
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_u64(out, "node_id", node);
    phi__records_str(out, "content", n->content);
    phi__records_double(out, "score", n->score);
    phi__records_u64(out, "depth", n->depth);
    phi__records_bool(out, "finished", n->finished);
    phi__tot_result_path(t, node, scratch, true, out);
    phi__buf_char(out, '}');
}

static void phi__tot_result_candidates(const phi__tot *t, const phi_tot_options *options,
                                       phi_arena *scratch, phi__buf *out) {
    uint32_t most = options->top_k < t->tree.count ? options->top_k : t->tree.count, count, i;
    uint32_t *at = (uint32_t *)phi_arena_alloc(scratch, phi__mul(phi__max(most, 1), sizeof *at));
    if (at == NULL) {
        out->failed = true;
        return;
    }
    count = phi__tot_tree_candidates(&t->tree, at, most);
    phi__json_write_comma(out);
    phi__json_write_key(out, PHI__LIT("best"));
    if (count > 0)
        phi__tot_result_candidate(t, at[0], scratch, out);
    else
        phi__buf_text(out, "null");
    phi__records_raw(out, "candidates", "[");
    for (i = 0; i < count; i++) phi__tot_result_candidate(t, at[i], scratch, out);
    phi__buf_char(out, ']');
    if (count > 0)
        phi__tot_result_path(t, at[0], scratch, false, out);
    else
        phi__records_raw(out, "solution_path", "[]");
}

static void phi__tot_result_rounds(const phi__tot *t, phi__buf *out) {
    uint32_t i;
    phi__records_raw(out, "tool_rounds", "{");
    for (i = 0; i < t->round_count; i++)
        phi__buf_printf(out, "%s\"%lu\":%lu", i > 0 ? "," : "", (unsigned long)t->rounds[i].call_id,
                        (unsigned long)t->rounds[i].rounds);
    phi__buf_char(out, '}');
}

static void phi__tot_result_doubles(const char *key, const double *items, uint32_t count,
                                    phi__buf *out) {
    uint32_t i;
    phi__records_raw(out, key, "[");
    for (i = 0; i < count; i++) {
        phi__json_write_comma(out);
        phi__json_number_put_double(out, items[i]);
    }
    phi__buf_char(out, ']');
}

static void phi__tot_result_error(const phi__tot_ending *ending, phi__buf *out) {
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

static void phi__tot_result_diagnostics(const phi__tot *t, const phi_tot_options *options,
                                        const phi__tot_ending *ending, phi__buf *out) {
    phi__records_raw(out, "diagnostics", "{");
    phi__records_str(out, "parser_mode", t->by_lines ? PHI__LIT("regex") : PHI__LIT("json"));
    phi__records_raw(out, "parse_retries", "{");
    phi__records_u64(out, "generation", t->retries[0]);
    phi__records_u64(out, "evaluation", t->retries[1]);
    phi__buf_char(out, '}');
    phi__records_u64(out, "parser_errors", t->parser_errors);
    phi__records_u64(out, "pruned", t->pruned);
    phi__tot_result_rounds(t, out);
    phi__records_raw(out, "convergence", "{");
    if (options->convergence_window != PHI_UNLIMITED)
        phi__records_u64(out, "window", options->convergence_window);
    else
        phi__records_raw(out, "window", "null");
    phi__records_double(out, "min_score_improvement", options->min_score_improvement);
    phi__tot_result_doubles("recent_best_scores", t->recent, t->recent_count, out);
    phi__buf_char(out, '}');
    if (t->tree.best != 0)
        phi__records_u64(out, "best_node_id", t->tree.best);
    else
        phi__records_raw(out, "best_node_id", "null");
    phi__tot_result_error(ending, out);
    phi__buf_char(out, '}');
}

PHI__FN void phi__tot_result_put(const phi__tot *t, const phi_tot_options *options,
                                 const phi__tot_ending *ending, uint64_t duration_ms,
                                 phi_arena *scratch, phi__buf *out) {
    phi__buf_char(out, '{');
    phi__tot_result_candidates(t, options, scratch, out);
    phi__machine_put_termination(out, ending->reason,
                                 !ending->good                          ? "error"
                                 : t->tree.nodes[t->tree.best].finished ? "completed"
                                                                        : "unfinished",
                                 duration_ms, true);
    phi__records_u64(out, "depth_reached", t->tree.deepest);
    phi__records_u64(out, "node_count", t->tree.count);
    phi__buf_char(out, '}');
    phi__records_raw(out, "tree", "{");
    phi__records_u64(out, "node_count", t->tree.count);
    phi__records_u64(out, "frontier_size", t->tree.frontier_count);
    phi__records_str(out, "traversal_strategy",
                     options->traversal == PHI_TOT_DFS ? PHI__LIT("dfs") : PHI__LIT("bfs"));
    phi__records_u64(out, "max_depth", options->max_depth);
    phi__records_u64(out, "branching_factor", options->branching_factor);
    phi__buf_char(out, '}');
    phi__machine_put_usage(out, &t->usage);
    phi__tot_result_diagnostics(t, options, ending, out);
}

/* ---- the machine ---- */

static const phi__field phi__tot_result_fields[] = {
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

PHI__FN phi_json *phi__tot_result_save(const phi__tot *t, phi_arena *arena) {
    phi__buf out;
    uint32_t i;
    phi__buf_init(&out, arena->memory);
    phi__buf_char(&out, '{');
    phi__records_put(&out, phi__tot_result_fields, PHI__COUNT(phi__tot_result_fields), t);
    phi__tot_tree_put(&t->tree, &out);
    phi__records_raw(&out, "pending", "[");
    for (i = 0; i < t->pending_count; i++) {
        phi__json_write_comma(&out);
        phi__json_write_str(&out, t->pending[i]);
    }
    phi__buf_char(&out, ']');
    phi__tot_result_doubles("sums", t->sums, t->pending_count, &out);
    phi__tot_result_doubles("recent_best_scores", t->recent, t->recent_count, &out);
    phi__tot_result_rounds(t, &out);
    phi__machine_put_usage(&out, &t->usage);
    phi__buf_char(&out, '}');
    return phi__machine_tree(&out, arena);
}

static bool phi__tot_result_load_pending(phi__tot *t, const phi_json *items, phi_arena *arena) {
    phi_json_iter it = phi_json_each(items);
    size_t count = phi_json_is(items, PHI_JSON_ARRAY) ? phi_json_count(items) : 0;
    const phi_json *item;
    if (count == 0) return true;
    t->pending = (phi_str *)phi_arena_alloc(arena, phi__mul(count, sizeof *t->pending));
    t->sums = (double *)phi__arena_zero(arena, phi__mul(count, sizeof *t->sums));
    if (t->pending == NULL || t->sums == NULL) return false;
    while ((item = phi_json_next(&it)) != NULL)
        if (!phi__arena_str(arena, phi_json_str(item, ""), &t->pending[t->pending_count++]))
            return false;
    return true;
}

/* False: no sums of phi's. */
static bool phi__tot_result_load_sums(phi__tot *t, const phi_json *items) {
    phi_json_iter it = phi_json_each(items);
    const phi_json *item;
    uint32_t i;
    for (i = 0; i < t->pending_count && (item = phi_json_next(&it)) != NULL; i++) {
        t->sums[i] = phi_json_num(item, -1.0);
        if (!(t->sums[i] >= 0.0 && t->sums[i] <= (double)t->evaluated)) return false;
    }
    return true;
}

static bool phi__tot_result_load_recent(phi__tot *t, const phi_json *items, phi_arena *arena) {
    phi_json_iter it = phi_json_each(items);
    size_t count = phi_json_is(items, PHI_JSON_ARRAY) ? phi_json_count(items) : 0;
    const phi_json *item;
    if (count == 0) return true;
    t->recent = (double *)phi_arena_alloc(arena, phi__mul(count, sizeof *t->recent));
    if (t->recent == NULL) return false;
    t->recent_room = (uint32_t)count;
    while ((item = phi_json_next(&it)) != NULL)
        t->recent[t->recent_count++] = phi_json_num(item, 0.0);
    return true;
}

static bool phi__tot_result_load_rounds(phi__tot *t, const phi_json *items, phi_arena *arena) {
    phi_json_iter it = phi_json_each(items);
    size_t count = phi_json_is(items, PHI_JSON_OBJECT) ? phi_json_count(items) : 0;
    const phi_json *item;
    uint64_t id;
    if (count == 0) return true;
    t->rounds = (phi__tot_rounds *)phi_arena_alloc(arena, phi__mul(count, sizeof *t->rounds));
    if (t->rounds == NULL) return false;
    t->round_cap = (uint32_t)count;
    while ((item = phi_json_next(&it)) != NULL) {
        if (!phi__str_to_u64(it.key, &id) || id > UINT32_MAX) continue;
        t->rounds[t->round_count].call_id = (uint32_t)id;
        t->rounds[t->round_count++].rounds = (uint32_t)phi__json_get_uint(item, 0);
    }
    return true;
}

PHI__FN phi_status phi__tot_result_load(phi__tot *t, const phi_json *saved, phi_arena *arena,
                                        const phi_tot_options *options) {
    phi_status status;
    if (!phi_json_is(saved, PHI_JSON_OBJECT)) return PHI_PARSE;
    if (!phi__records_get(saved, phi__tot_result_fields, PHI__COUNT(phi__tot_result_fields), t,
                          arena))
        return PHI_NO_MEMORY;
    status = phi__tot_tree_get(&t->tree, arena, saved, options);
    if (status != PHI_OK) return status;
    if (!phi__tot_result_load_pending(t, phi_json_get(saved, "pending"), arena) ||
        !phi__tot_result_load_recent(t, phi_json_get(saved, "recent_best_scores"), arena) ||
        !phi__tot_result_load_rounds(t, phi_json_get(saved, "tool_rounds"), arena))
        return PHI_NO_MEMORY;
    if (!phi__tot_result_load_sums(t, phi_json_get(saved, "sums"))) return PHI_PARSE;
    phi__machine_get_usage(saved, &t->usage);
    if (t->phase > PHI__TOT_OVER || (t->phase != PHI__TOT_IDLE && t->at >= t->tree.count))
        return PHI_PARSE;
    return PHI_OK;
}
