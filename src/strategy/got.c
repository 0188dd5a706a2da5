/* got.c - Graph-of-Thoughts: the machine. */
#include "strategy/got_in.h"

#include "strategy/parse_in.h"
#include "strategy/tot_in.h"
#include "text/records_in.h"
#include "model/message_in.h"

enum {
    PHI__GOT_PROMPT_TOKENS = 250, /* of phi's own prompt of a call, at most, by estimate */
    PHI__GOT_NODES_MOST = 1000    /* a bound on prompts that show the graph */
};

PHI__FN phi_got_options phi__got_options_of(const void *options) {
    phi_got_options o;
    memset(&o, 0, sizeof o);
    if (options != NULL) o = *(const phi_got_options *)options;
    if (o.generations == 0) o.generations = 2;
    if (o.branching_factor == 0) o.branching_factor = 3;
    if (o.max_nodes == 0) o.max_nodes = 20;
    if (o.max_nodes < 3) o.max_nodes = 3; /* the problem, a thought, the answer */
    if (o.max_nodes > PHI__GOT_NODES_MOST) o.max_nodes = PHI__GOT_NODES_MOST;
    if (o.max_depth == 0) o.max_depth = 5;
    if (o.votes == 0) o.votes = 3;
    if (o.keep_best == 0) o.keep_best = 5;
    return o;
}

/* ---- the end ---- */

static const char *phi__got_mode(const phi_got_options *o) {
    if (o->aggregation == PHI_GOT_VOTING) return "voting";
    return o->aggregation == PHI_GOT_WEIGHTED ? "weighted" : "synthesis";
}

/* Of the answer: its share of the votes, or 1.0 where it was composed, since nothing is left to
   compare it with. False: there is none, or nobody voted. */
static bool phi__got_score(const phi__got *g, double *out) {
    const phi__got_graph *graph = &g->graph;
    if (graph->answer == 0 || (g->votes > 0 && g->votes == g->abstained)) return false;
    *out = 1.0;
    if (g->votes > 0)
        *out = (double)graph->nodes[graph->answer].votes / (double)(g->votes - g->abstained);
    return true;
}

static void phi__got_put_result(const phi__got *g, const phi_got_options *o, const char *reason,
                                phi_str error, uint64_t elapsed_ms, phi__buf *out) {
    uint32_t best = phi__got_graph_best(&g->graph);
    double score;
    phi__buf_char(out, '{');
    phi__records_option(out, "answer", best != 0 ? g->graph.nodes[best].content : phi__str("", 0));
    phi__records_u64(out, "best_node_id", best);
    if (phi__got_score(g, &score)) phi__records_double(out, "score", score);
    phi__records_str(out, "aggregation", phi_str_of(phi__got_mode(o)));
    phi__got_graph_put(&g->graph, out);
    phi__machine_put_usage(out, &g->usage);
    phi__machine_put_termination(out, reason,
                                 error.len > 0          ? "error"
                                 : g->graph.answer != 0 ? "completed"
                                                        : "unfinished",
                                 elapsed_ms, true);
    phi__records_u64(out, "node_count", g->graph.count);
    phi__records_u64(out, "generations", g->generations);
    phi__buf_char(out, '}');
    phi__records_raw(out, "diagnostics", "{");
    phi__records_u64(out, "calls", g->call_id);
    phi__records_u64(out, "votes", g->votes);
    phi__records_u64(out, "abstained", g->abstained);
    phi__records_u64(out, "pruned", g->pruned);
    phi__records_some(out, "error", error);
    phi__buf_char(out, '}');
}

static phi_status phi__got_end(phi__got *g, const phi_got_options *o, const char *reason,
                               phi_status status, phi_str error, const phi_strategy_env *env,
                               phi_strategy_commands *out) {
    uint32_t best = phi__got_graph_best(&g->graph);
    phi__buf result;
    g->phase = PHI__GOT_OVER;
    phi__buf_init(&result, env->scratch->memory);
    phi__got_put_result(g, o, reason, error, env->elapsed_ms, &result);
    if (error.len > 0) return phi__machine_fail(env, out, status, error, &result);
    return phi__machine_done(env, out, g->graph.nodes[best].content,
                             g->graph.nodes[best].stop_reason, &result);
}

/* With the best so far, if there is one. */
static phi_status phi__got_finish(phi__got *g, const phi_got_options *o, const char *reason,
                                  const phi_strategy_env *env, phi_strategy_commands *out) {
    phi_str error = PHI__LIT("ended before there was a thought");
    if (phi__got_graph_best(&g->graph) != 0) error = phi__str("", 0);
    return phi__got_end(g, o, reason, PHI_LIMIT, error, env, out);
}

/* ---- calls ---- */

static phi_status phi__got_call(const phi__got *g, const phi_got_options *o,
                                const phi_strategy_env *env, phi_strategy_commands *out) {
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_ASK);
    phi__buf prompt;
    if (command == NULL) return PHI_FULL;
    phi__buf_init(&prompt, env->scratch->memory);
    phi__got_prompt_put(g, o, &prompt);
    if (!phi__machine_text(&prompt, env->scratch, &command->call.prompt)) return PHI_NO_MEMORY;
    command->call.id = g->call_id;
    command->call.system_prompt = phi__got_prompt_system(g, o);
    command->call.max_tokens = o->max_tokens;
    command->call.has_temperature = o->has_temperature;
    command->call.temperature = o->temperature;
    command->call.timeout_ms = o->timeout_ms;
    return PHI_OK;
}

static phi_status phi__got_enter(phi__got *g, const phi_got_options *o, uint32_t phase,
                                 const phi_strategy_env *env, phi_strategy_commands *out) {
    static const char *const names[] = {"idle",   "generating", "connecting",
                                        "voting", "weighing",   "aggregating"};
    if (env->calls_left == 0) return phi__got_finish(g, o, "max_calls", env, out);
    g->phase = phase;
    g->call_id++;
    if (phi__machine_emit(out, names[phase]) != PHI_OK) return PHI_FULL;
    return phi__got_call(g, o, env, out);
}

static phi_status phi__got_aggregate(phi__got *g, const phi_got_options *o,
                                     const phi_strategy_env *env, phi_strategy_commands *out) {
    uint32_t phase = PHI__GOT_AGGREGATING;
    if (o->aggregation == PHI_GOT_VOTING) phase = PHI__GOT_VOTING;
    if (o->aggregation == PHI_GOT_WEIGHTED) phase = PHI__GOT_WEIGHING;
    if (g->graph.count == 1)
        return phi__got_end(g, o, "error", PHI_PARSE,
                            PHI__LIT("the model wrote no thought that could be used"), env, out);
    phi__got_graph_keep(&g->graph, o->keep_best);
    return phi__got_enter(g, o, phase, env, out);
}

/* The next generation, if one may follow. */
static phi_status phi__got_next(phi__got *g, const phi_got_options *o, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    if (g->generations >= o->generations || phi__got_prompt_wanted(g, o) == 0)
        return phi__got_aggregate(g, o, env, out);
    g->at = phi__got_graph_next(&g->graph, o->max_depth);
    if (g->at == 0 && g->graph.count > 1) return phi__got_aggregate(g, o, env, out);
    return phi__got_enter(g, o, PHI__GOT_GENERATING, env, out);
}

/* ---- answers ---- */

/* False: no memory. */
static bool phi__got_add(phi__got *g, phi_str content, phi_stop_reason reason,
                         const phi_strategy_env *env) {
    phi_strategy_node node;
    memset(&node, 0, sizeof node);
    node.id = g->graph.count;
    node.parent = g->at;
    node.depth = g->graph.nodes[g->at].depth + 1;
    node.content = content;
    node.problem = g->graph.nodes[0].content;
    if (env->prune_fn != NULL && env->prune_fn(env->user_data, &node)) {
        g->pruned++;
        return true;
    }
    if (!phi__got_graph_add(&g->graph, env->arena, g->at, content)) return false;
    g->graph.nodes[g->graph.count - 1].stop_reason = reason;
    return true;
}

static phi_status phi__got_thoughts(phi__got *g, const phi_got_options *o,
                                    const phi_strategy_event *event, const phi_strategy_env *env,
                                    phi_strategy_commands *out) {
    phi_str text = event->text;
    size_t most = phi__min(phi__got_prompt_wanted(g, o), text.len), i; /* each has a byte */
    phi_str *thoughts = (phi_str *)phi_arena_alloc(env->scratch, (most + 1) * sizeof *thoughts);
    phi__tot_read read;
    if (thoughts == NULL) return PHI_NO_MEMORY;
    read = phi__tot_parse_thoughts(text, env->scratch, thoughts, most);
    if (read.no_memory) return PHI_NO_MEMORY;
    if (read.count == 0 && phi__str_trim(text).len > 0) {
        thoughts[0] = phi__str_trim(text);
        read.count = 1;
    }
    for (i = 0; i < read.count; i++)
        if (!phi__got_add(g, thoughts[i],
                          i + 1 == read.count ? event->stop_reason : PHI_STOP_REASON_STOP, env))
            return PHI_NO_MEMORY;
    g->generations++;
    if (g->graph.count > 2) return phi__got_enter(g, o, PHI__GOT_CONNECTING, env, out);
    return phi__got_next(g, o, env, out);
}

static phi_status phi__got_connections(phi__got *g, const phi_got_options *o, phi_str text,
                                       const phi_strategy_env *env, phi_strategy_commands *out) {
    uint32_t left = 4 * g->graph.count; /* lines that are read: more say nothing */
    phi__got_edge edge;
    size_t at = 0;
    text = phi__parse_tail(text);
    while (left-- > 0 && phi__got_parse_connection(text, &at, &edge))
        if (!phi__got_graph_connect(&g->graph, env->arena, &edge)) return PHI_NO_MEMORY;
    return phi__got_next(g, o, env, out);
}

static phi_status phi__got_vote(phi__got *g, const phi_got_options *o, phi_str text,
                                const phi_strategy_env *env, phi_strategy_commands *out) {
    uint32_t vote = phi__got_parse_vote(phi__parse_tail(text)), best;
    g->votes++;
    if (vote == 0 || vote >= g->graph.count || !g->graph.nodes[vote].kept)
        g->abstained++;
    else
        g->graph.nodes[vote].votes++;
    best = phi__got_graph_best(&g->graph);
    if (g->votes < o->votes && g->graph.nodes[best].votes <= o->votes / 2)
        return phi__got_enter(g, o, PHI__GOT_VOTING, env, out);
    if (g->votes == g->abstained) return phi__got_finish(g, o, "abstained", env, out);
    g->graph.answer = best;
    return phi__got_finish(g, o, "aggregated", env, out);
}

static phi_status phi__got_weights(phi__got *g, const phi_got_options *o, phi_str text,
                                   const phi_strategy_env *env, phi_strategy_commands *out) {
    size_t at = 0;
    uint32_t id;
    double weight;
    text = phi__parse_tail(text);
    while (phi__got_parse_weight(text, &at, &id, &weight)) {
        if (id == 0 || id >= g->graph.count) continue;
        g->graph.nodes[id].has_weight = true;
        g->graph.nodes[id].weight = weight;
    }
    return phi__got_enter(g, o, PHI__GOT_AGGREGATING, env, out);
}

static phi_status phi__got_composed(phi__got *g, const phi_got_options *o,
                                    const phi_strategy_event *event, const phi_strategy_env *env,
                                    phi_strategy_commands *out) {
    phi_str text = phi__str_trim(event->text);
    if (text.len > 0) {
        if (!phi__got_graph_add(&g->graph, env->arena, 0, text)) return PHI_NO_MEMORY;
        g->graph.answer = g->graph.count - 1;
        g->graph.nodes[g->graph.answer].stop_reason = event->stop_reason;
        if (!phi__got_graph_aggregate(&g->graph, env->arena)) return PHI_NO_MEMORY;
    }
    return phi__got_finish(g, o, text.len > 0 ? "aggregated" : "no_answer", env, out);
}

/* ---- the machine ---- */

static phi_status phi__got_answered(phi__got *g, const phi_got_options *o,
                                    const phi_strategy_event *event, const phi_strategy_env *env,
                                    phi_strategy_commands *out) {
    switch (g->phase) {
    case PHI__GOT_GENERATING: return phi__got_thoughts(g, o, event, env, out);
    case PHI__GOT_CONNECTING: return phi__got_connections(g, o, event->text, env, out);
    case PHI__GOT_VOTING: return phi__got_vote(g, o, event->text, env, out);
    case PHI__GOT_WEIGHING: return phi__got_weights(g, o, event->text, env, out);
    default: return phi__got_composed(g, o, event, env, out);
    }
}

static phi_status phi__got_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__got *g = (phi__got *)state;
    phi_got_options o = phi__got_options_of(env->options);
    phi_str failure = event->message;
    if (event->kind == PHI_STRATEGY_BEGIN) {
        if (g->phase != PHI__GOT_IDLE) return PHI_OK;
        if (!phi__got_graph_add(&g->graph, env->arena, 0, event->text)) return PHI_NO_MEMORY;
        return phi__got_enter(g, &o, PHI__GOT_GENERATING, env, out);
    }
    if (g->phase == PHI__GOT_IDLE || g->phase == PHI__GOT_OVER) return PHI_OK;
    if (event->kind == PHI_STRATEGY_STOP)
        return phi__got_finish(g, &o, env->calls_left == 0 ? "max_calls" : "stopped", env, out);
    if (event->call_id != g->call_id) return PHI_OK;
    phi__message_add_usage(&g->usage, &event->usage);
    if (event->kind == PHI_STRATEGY_ANSWER) return phi__got_answered(g, &o, event, env, out);
    if (failure.len == 0) failure = PHI__LIT("a model call failed");
    return phi__got_end(g, &o, "error", event->status, failure, env, out);
}

static uint64_t phi__got_calls(const phi_got_options *o) {
    uint64_t generations = o->generations;
    if (generations > PHI__GOT_NODES_MOST) generations = PHI__GOT_NODES_MOST;
    if (o->aggregation == PHI_GOT_VOTING) return 2 * generations + o->votes;
    return 2 * generations + (o->aggregation == PHI_GOT_WEIGHTED ? 2 : 1);
}

static void phi__got_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                          phi_strategy_bill *out) {
    phi_got_options o = phi__got_options_of(options);
    double each;
    memset(out, 0, sizeof *out);
    out->calls = phi__got_calls(&o);
    if (o.max_tokens != 0) answer_tokens = o.max_tokens;
    /* a call reads the thoughts and connections of all calls before it */
    each = (double)out->calls * (double)answer_tokens / 2.0 + (double)prompt_tokens +
           (double)PHI__GOT_PROMPT_TOKENS;
    each *= (double)out->calls;
    out->input_tokens = each < 1e18 ? (uint64_t)each : UINT64_MAX;
    if (o.max_tokens != 0) out->output_tokens = out->calls * o.max_tokens;
}

static void phi__got_best(const void *state, phi_strategy_best *out) {
    const phi__got *g = (const phi__got *)state;
    uint32_t best = phi__got_graph_best(&g->graph);
    memset(out, 0, sizeof *out);
    out->nodes = g->graph.count > 0 ? g->graph.count - 1 : 0;
    if (best == 0) return;
    out->text = g->graph.nodes[best].content;
    out->has_score = phi__got_score(g, &out->score);
    out->unfinished = g->graph.answer == 0;
}

/* ---- save and load ---- */

static const phi__field *phi__got_fields(size_t *count) {
    static const phi__field fields[] = {
        PHI__FIELD(phi__got, phase, "phase", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
        PHI__FIELD(phi__got, call_id, "call_id", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
        PHI__FIELD(phi__got, at, "at", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
        PHI__FIELD(phi__got, generations, "generations", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
        PHI__FIELD(phi__got, votes, "votes_cast", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
        PHI__FIELD(phi__got, abstained, "abstained", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
        PHI__FIELD(phi__got, pruned, "pruned", PHI__FIELD_UINT, PHI__FIELD_ALWAYS)};
    *count = PHI__COUNT(fields);
    return fields;
}

static phi_json *phi__got_save(const void *state, phi_arena *arena) {
    const phi__got *g = (const phi__got *)state;
    size_t count;
    const phi__field *fields = phi__got_fields(&count);
    phi__buf out;
    phi__buf_init(&out, arena->memory);
    phi__buf_char(&out, '{');
    phi__records_put(&out, fields, count, g);
    phi__got_graph_put(&g->graph, &out);
    phi__machine_put_usage(&out, &g->usage);
    phi__buf_char(&out, '}');
    return phi__machine_tree(&out, arena);
}

static phi_status phi__got_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    phi__got *g = (phi__got *)state;
    phi_got_options o = phi__got_options_of(env->options);
    size_t count;
    const phi__field *fields = phi__got_fields(&count);
    phi_status status;
    if (!phi_json_is(saved, PHI_JSON_OBJECT)) return PHI_PARSE;
    if (!phi__records_get(saved, fields, count, g, env->arena)) return PHI_NO_MEMORY;
    status = phi__got_graph_get(&g->graph, env->arena, saved);
    if (status != PHI_OK) return status;
    phi__machine_get_usage(saved, &g->usage);
    if (g->phase > PHI__GOT_OVER || g->abstained > g->votes) return PHI_PARSE;
    if (g->graph.count >= o.max_nodes + (g->phase == PHI__GOT_OVER ? 1u : 0u)) return PHI_PARSE;
    if (g->phase != PHI__GOT_IDLE && g->at >= g->graph.count) return PHI_PARSE;
    if (g->phase > PHI__GOT_GENERATING && g->phase < PHI__GOT_OVER && g->graph.count < 2)
        return PHI_PARSE;
    if (g->phase == PHI__GOT_IDLE || g->phase == PHI__GOT_OVER) return PHI_OK;
    if (g->phase >= PHI__GOT_VOTING) phi__got_graph_keep(&g->graph, o.keep_best);
    return phi__got_call(g, &o, env, out);
}

/* ---- public ---- */

PHI_API const phi_strategy *phi_strategy_got(void) {
    static const phi_strategy strategy = {
        "got",         sizeof(phi__got), phi__got_bill, phi__got_on,
        phi__got_best, phi__got_save,    phi__got_load, NULL};
    return &strategy;
}
