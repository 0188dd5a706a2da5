/* tot.c - Tree-of-Thoughts: the prompts and the machine. */
#include "strategy/tot_in.h"

#include "text/records_in.h"
#include "model/message_in.h"

enum { PHI__TOT_PROMPT_TOKENS = 400 }; /* of phi's own prompt of a call, at most, by estimate */

PHI__FN phi_tot_options phi__tot_options_of(const void *options) {
    phi_tot_options o;
    memset(&o, 0, sizeof o);
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

static phi_str phi__tot_repair(void) {
    static const char text[] =
        "You convert a text to strict JSON of a given shape. Keep its content, add nothing, and "
        "answer with the JSON alone.";
    return PHI__LIT(text);
}

static bool phi__tot_put_path(const phi__tot *t, phi_arena *scratch, phi__buf *out) {
    uint32_t depth = t->tree.nodes[t->at].depth, i;
    uint32_t *path =
        (uint32_t *)phi_arena_alloc(scratch, phi__mul(phi__max(depth, 1), sizeof(*path)));
    if (path == NULL) return false;
    phi__tot_tree_path(&t->tree, t->at, path);
    phi__buf_text(out, "Problem: ");
    phi__buf_add_str(out, t->tree.nodes[0].content);
    for (i = 0; i < depth; i++) {
        phi__buf_printf(out, "\nStep %lu: ", (unsigned long)i + 1);
        phi__buf_add_str(out, t->tree.nodes[path[i]].content);
    }
    return true;
}

static uint32_t phi__tot_wanted(const phi__tot *t, const phi_tot_options *o) {
    uint32_t left = o->max_nodes > t->tree.count ? o->max_nodes - t->tree.count : 0;
    return left < o->branching_factor ? left : o->branching_factor;
}

static void phi__tot_put_repair(const phi__tot *t, phi__buf *out) {
    uint32_t i;
    if (t->phase == PHI__TOT_GENERATING)
        phi__buf_text(out, "The shape: {\"thoughts\":[{\"id\":\"t1\",\"content\":\"...\"}]}");
    else {
        phi__buf_text(out, "The shape: {\"scores\":{\"t1\":0.75}}\nThe ids: ");
        for (i = 0; i < t->pending_count; i++)
            phi__buf_printf(out, "%st%lu", i > 0 ? ", " : "", (unsigned long)i + 1);
    }
    phi__buf_text(out, "\nThe text:\n");
    phi__buf_add_str(out, t->source);
}

static bool phi__tot_put_prompt(const phi__tot *t, const phi_tot_options *o, phi_arena *scratch,
                                phi__buf *out) {
    uint32_t i;
    if (t->repairing) {
        phi__tot_put_repair(t, out);
        return true;
    }
    if (!phi__tot_put_path(t, scratch, out)) return false;
    if (t->phase == PHI__TOT_GENERATING) {
        phi__buf_printf(out, "\n\nPropose %lu different %s.", (unsigned long)phi__tot_wanted(t, o),
                        t->at == 0 ? "approaches" : "next steps");
        if (t->tree.nodes[t->at].depth + 1 >= o->max_depth)
            phi__buf_text(out, " This is the last step: each states a whole solution.");
        return true;
    }
    phi__buf_text(out, "\n\nThoughts to score:");
    for (i = 0; i < t->pending_count; i++) {
        phi__buf_printf(out, "\n%lu. t%lu: ", (unsigned long)i + 1, (unsigned long)i + 1);
        phi__buf_add_str(out, t->pending[i]);
    }
    return true;
}

static phi_str phi__tot_system(const phi__tot *t, const phi_tot_options *o) {
    if (t->repairing) return phi__tot_repair();
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
    phi__tot_result_put(t, o, ending, env->elapsed_ms, env->scratch, &result);
    if (ending->good)
        return phi__machine_done(env, out, t->tree.nodes[t->tree.best].content,
                                 t->tree.nodes[t->tree.best].stop_reason, &result);
    return phi__machine_fail(env, out, status, ending->error, &result);
}

/* Makes nodes of the pending thoughts, which were scored at least once. False: no memory. */
static bool phi__tot_keep(phi__tot *t, const phi_tot_options *o, phi_arena *arena) {
    uint32_t i;
    for (i = 0; i < t->pending_count; i++)
        if (!phi__tot_tree_add(&t->tree, arena, t->at, t->sums[i] / (double)t->evaluated,
                               t->pending[i], o))
            return false;
    if (t->pending_count > 0) t->tree.nodes[t->tree.count - 1].stop_reason = t->cut;
    t->pending_count = t->evaluated = 0;
    return true;
}

/* With the best so far, if there is one. */
static phi_status phi__tot_finish(phi__tot *t, const phi_tot_options *o, const char *reason,
                                  const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__tot_ending ending;
    memset(&ending, 0, sizeof ending);
    if (t->evaluated > 0 && !phi__tot_keep(t, o, env->arena)) return PHI_NO_MEMORY;
    ending.reason = reason;
    ending.good = t->tree.best != 0;
    if (!ending.good) ending.error = PHI__LIT("ended before a thought was scored");
    return phi__tot_end(t, o, PHI_LIMIT, &ending, env, out);
}

static phi_status phi__tot_error(phi__tot *t, const phi_tot_options *o, phi_status status,
                                 phi_str message, const phi_strategy_env *env,
                                 phi_strategy_commands *out) {
    phi__tot_ending ending;
    memset(&ending, 0, sizeof ending);
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
    t->at = phi__tot_tree_next(&t->tree);
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
    phi__tot_ending ending;
    t->parser_errors++;
    if (t->repairs < o->max_parse_retries) {
        if (!t->repairing && !phi__arena_str(env->arena, text, &t->source)) return PHI_NO_MEMORY;
        t->repairing = true;
        t->repairs++;
        t->retries[generating ? 0 : 1]++;
        return phi__tot_ask(t, o, env, out);
    }
    memset(&ending, 0, sizeof ending);
    ending.reason = "error";
    ending.phase = generating ? "generating" : "evaluating";
    ending.why = generating ? "no_thoughts" : "no_scores";
    ending.error = generating ? PHI__LIT("the model's thoughts could not be read")
                              : PHI__LIT("the model's scores could not be read");
    return phi__tot_end(t, o, PHI_PARSE, &ending, env, out);
}

/* ---- answers ---- */

static void phi__tot_prune(phi__tot *t, const phi_strategy_env *env) {
    uint32_t i, kept = 0;
    phi_strategy_node node;
    if (env->prune_fn == NULL) return;
    memset(&node, 0, sizeof node);
    node.parent = t->at;
    node.depth = t->tree.nodes[t->at].depth + 1;
    node.problem = t->tree.nodes[0].content;
    for (i = 0; i < t->pending_count; i++) {
        node.id = t->tree.count + kept;
        node.content = t->pending[i];
        if (env->prune_fn(env->user_data, &node))
            t->pruned++;
        else
            t->pending[kept++] = t->pending[i];
    }
    t->pending_count = kept;
}

static phi_status phi__tot_thoughts(phi__tot *t, const phi_tot_options *o,
                                    const phi_strategy_event *event, const phi_strategy_env *env,
                                    phi_strategy_commands *out) {
    phi_str text = event->text;
    size_t most = phi__min(phi__tot_wanted(t, o), text.len); /* each has a byte */
    phi__tot_read read;
    const char *last;
    t->pending_count = 0;
    t->pending = (phi_str *)phi_arena_alloc(env->arena, phi__mul(most + 1, sizeof *t->pending));
    t->sums = (double *)phi__arena_zero(env->arena, phi__mul(most + 1, sizeof *t->sums));
    if (t->pending == NULL || t->sums == NULL) return PHI_NO_MEMORY;
    read = phi__tot_parse_thoughts(text, env->arena, t->pending, most);
    if (read.no_memory) return PHI_NO_MEMORY;
    if (read.count == 0 && !read.none) return phi__tot_unreadable(t, o, text, env, out);
    t->by_lines = !read.json;
    t->pending_count = (uint32_t)read.count;
    last = read.count > 0 ? t->pending[read.count - 1].at : NULL;
    phi__tot_prune(t, env);
    t->cut = PHI_STOP_REASON_STOP;
    if (t->pending_count > 0 && t->pending[t->pending_count - 1].at == last)
        t->cut = event->stop_reason;
    if (t->pending_count == 0) return phi__tot_expand(t, o, env, out);
    return phi__tot_turn_to(t, o, PHI__TOT_EVALUATING, env, out);
}

/* The best score so far, at the end of the window. False: no memory. */
static bool phi__tot_remember(phi__tot *t, const phi_tot_options *o, phi_arena *arena) {
    uint32_t i, more = t->recent_room < 8 ? 8 : t->recent_room * 2;
    if (t->recent_count >= o->convergence_window) {
        t->recent_count = o->convergence_window - 1;
        for (i = 0; i < t->recent_count; i++) t->recent[i] = t->recent[i + 1];
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
    uint32_t i;
    for (i = t->tree.count - added; i < t->tree.count; i++)
        if (t->tree.nodes[i].score >= o->early_success_threshold &&
            t->tree.nodes[i].depth >= o->min_depth)
            return true;
    return false;
}

static phi_status phi__tot_scores(phi__tot *t, const phi_tot_options *o, phi_str text,
                                  const phi_strategy_env *env, phi_strategy_commands *out) {
    uint32_t count = t->pending_count, i;
    double *scores = (double *)phi_arena_alloc(env->scratch, phi__mul(count, sizeof *scores));
    phi__tot_read read;
    if (scores == NULL) return PHI_NO_MEMORY;
    read = phi__tot_parse_scores(text, env->scratch, t->pending, count, scores);
    if (read.no_memory) return PHI_NO_MEMORY;
    if (read.count == 0) return phi__tot_unreadable(t, o, text, env, out);
    t->by_lines = !read.json;
    for (i = 0; i < count; i++) t->sums[i] += scores[i];
    if (++t->evaluated < o->evaluations)
        return phi__tot_turn_to(t, o, PHI__TOT_EVALUATING, env, out);
    if (!phi__tot_keep(t, o, env->arena)) return PHI_NO_MEMORY;
    if (phi__tot_been_down(t, o) && !phi__tot_remember(t, o, env->arena)) return PHI_NO_MEMORY;
    if (!phi__tot_tree_wait(&t->tree, env->arena, count, o)) return PHI_NO_MEMORY;
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

static phi_status phi__tot_failed(phi__tot *t, const phi_tot_options *o,
                                  const phi_strategy_event *event, const phi_strategy_env *env,
                                  phi_strategy_commands *out) {
    if (event->status == PHI_TIMEOUT && phi__tot_late(o, env))
        return phi__tot_finish(t, o, "max_duration", env, out);
    if (event->status == PHI_LIMIT && event->tool_rounds > o->max_tool_rounds)
        return phi__tot_error(t, o, PHI_LIMIT, PHI__LIT("max_tool_round_trips_reached"), env, out);
    return phi__tot_error(t, o, event->status, event->message, env, out);
}

/* ---- the machine ---- */

static phi_status phi__tot_begin(phi__tot *t, const phi_tot_options *o,
                                 const phi_strategy_event *event, const phi_strategy_env *env,
                                 phi_strategy_commands *out) {
    if (t->phase != PHI__TOT_IDLE) return PHI_OK;
    if (!phi__tot_tree_add(&t->tree, env->arena, 0, 0.0, event->text, o)) return PHI_NO_MEMORY;
    return phi__tot_turn_to(t, o, PHI__TOT_GENERATING, env, out);
}

static phi_status phi__tot_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__tot *t = (phi__tot *)state;
    phi_tot_options o = phi__tot_options_of(env->options);
    if (event->kind == PHI_STRATEGY_BEGIN) return phi__tot_begin(t, &o, event, env, out);
    if (t->phase != PHI__TOT_GENERATING && t->phase != PHI__TOT_EVALUATING) return PHI_OK;
    if (event->kind == PHI_STRATEGY_STOP)
        return phi__tot_finish(t, &o, env->calls_left == 0 ? "max_calls" : "stopped", env, out);
    if (event->call_id != t->call_id) return PHI_OK;
    if (!phi__tot_count(t, event, env->arena)) return PHI_NO_MEMORY;
    if (event->kind == PHI_STRATEGY_FAILED) return phi__tot_failed(t, &o, event, env, out);
    if (t->phase == PHI__TOT_GENERATING) return phi__tot_thoughts(t, &o, event, env, out);
    return phi__tot_scores(t, &o, event->text, env, out);
}

static uint64_t phi__tot_times(uint64_t a, uint64_t b) {
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/* Each node above the last depth is expanded once, of BFS a beam of each level, and none when the
   tree is full. */
static uint64_t phi__tot_expansions(const phi_tot_options *o) {
    uint64_t all = 1, level = 1;
    uint32_t depth;
    for (depth = 1; depth < o->max_depth && all < o->max_nodes; depth++) {
        level = phi__tot_times(level, o->branching_factor);
        if (o->traversal == PHI_TOT_BFS && level > o->beam_width) level = o->beam_width;
        all = level > UINT64_MAX - all ? UINT64_MAX : all + level;
    }
    return all < o->max_nodes - 1u ? all : o->max_nodes - 1u;
}

static void phi__tot_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                          phi_strategy_bill *out) {
    phi_tot_options o = phi__tot_options_of(options);
    uint64_t turns = o.tools ? (uint64_t)o.max_tool_rounds + 1 : 1, each;
    uint64_t own = PHI__TOT_PROMPT_TOKENS;
    memset(out, 0, sizeof *out);
    if (o.max_tokens != 0) answer_tokens = o.max_tokens;
    if (o.generation_prompt != NULL) own += phi_str_of(o.generation_prompt).len / 4;
    if (o.evaluation_prompt != NULL) own += phi_str_of(o.evaluation_prompt).len / 4;
    out->calls =
        phi__tot_times(phi__tot_times(phi__tot_expansions(&o), 1 + (uint64_t)o.evaluations),
                       turns + o.max_parse_retries);
    /* the path, the thoughts to score, and earlier turns of the same call */
    each = phi__tot_times(answer_tokens, (uint64_t)o.max_depth + turns);
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
    return phi__tot_result_save((const phi__tot *)state, arena);
}

static phi_status phi__tot_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    phi__tot *t = (phi__tot *)state;
    phi_tot_options o = phi__tot_options_of(env->options);
    phi_status status = phi__tot_result_load(t, saved, env->arena, &o);
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
