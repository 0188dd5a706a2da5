/* got.c - Graph-of-Thoughts: the machine. */
#include "orchestrate/got_in.h"

#include "model/model_in.h"
#include "orchestrate/parse_in.h"
#include "orchestrate/tot_in.h"
#include "text/text_in.h"

enum {
    PHI__GOT_IDLE,
    PHI__GOT_GENERATING,
    PHI__GOT_CONNECTING,
    PHI__GOT_VOTING,
    PHI__GOT_WEIGHING,
    PHI__GOT_AGGREGATING,
    PHI__GOT_OVER
};

/* ---- answers ---- */

static phi_str phi__got_parse_from(phi_str text, size_t at) {
    return phi__str(text.at + at, text.len - at);
}

/* "[12]", or "12". *rest begins after it. */
static bool phi__got_parse_id(phi_str text, uint32_t *id, phi_str *rest) {
    uint32_t n = 0;
    size_t i = 0, from;
    text = phi__parse_plain(text);
    bool bracket = text.len > 0 && text.at[0] == '[';
    from = i = bracket ? 1 : 0;
    for (; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++)
        n = n < 100000000u ? n * 10u + (uint32_t)(text.at[i] - '0') : n;
    if (i == from) return false;
    if (bracket && (i == text.len || text.at[i++] != ']')) return false;
    *id = n;
    *rest = phi__got_parse_from(text, i);
    return true;
}

/* "->", "=>", or U+2192. */
static bool phi__got_parse_arrow(phi_str text, phi_str *rest) {
    text = phi__parse_plain(text);
    if (phi__str_starts(text, "->") || phi__str_starts(text, "=>"))
        *rest = phi__got_parse_from(text, 2);
    else if (phi__str_starts(text, "\xE2\x86\x92"))
        *rest = phi__got_parse_from(text, 3);
    else
        return false;
    return true;
}

/* The next line that begins with the word and a colon; *rest: the text after it. */
static bool phi__got_parse_line(phi_str text, size_t *at, const char *word, phi_str *rest) {
    phi_str line, body;
    while (phi__parse_full_line(text, at, &line)) {
        if (phi__parse_bullet(line, &body)) line = body;
        line = phi__parse_plain(line);
        if (phi__parse_word(line, word, &body) && phi__parse_colon(body, rest)) return true;
    }
    return false;
}

/* "contradicts: ..." */
static phi__got_kind phi__got_parse_kind(phi_str text) {
    static const char *const against[] = {"contradicts", "contradict", "conflicts",
                                          "refutes",     "opposes",    "disproves"};
    static const char *const again[] = {"repeats", "duplicates", "same"};
    phi_str rest;
    for (size_t i = 0; i < PHI__COUNT(against); i++)
        if (phi__parse_word(text, against[i], &rest)) return PHI__GOT_CONTRADICTS;
    for (size_t i = 0; i < PHI__COUNT(again); i++)
        if (phi__parse_word(text, again[i], &rest)) return PHI__GOT_REPEATS;
    return PHI__GOT_SUPPORTS;
}

PHI__FN bool phi__got_parse_connection(phi_str text, size_t *at, phi__got_edge *out) {
    phi_str rest;
    while (phi__got_parse_line(text, at, "connection", &rest)) {
        if (!phi__got_parse_id(rest, &out->from, &rest) || !phi__got_parse_arrow(rest, &rest) ||
            !phi__got_parse_id(rest, &out->to, &rest))
            continue;
        (void)phi__parse_colon(rest, &rest);
        out->text = phi__parse_plain(rest);
        out->kind = phi__got_parse_kind(out->text);
        return true;
    }
    return false;
}

PHI__FN bool phi__got_parse_weight(phi_str text, size_t *at, uint32_t *node, double *out) {
    phi_str rest;
    while (phi__got_parse_line(text, at, "weight", &rest)) {
        if (!phi__got_parse_id(rest, node, &rest) || !phi__parse_colon(rest, &rest) ||
            !phi__parse_number(rest, out, &rest))
            continue;
        if (!(*out > 0.0)) *out = 0.0;
        if (*out > 1.0) *out = 1.0;
        return true;
    }
    return false;
}

PHI__FN uint32_t phi__got_parse_vote(phi_str text) {
    uint32_t vote = 0, id;
    size_t at = 0;
    phi_str rest;
    while (phi__got_parse_line(text, &at, "vote", &rest))
        if (phi__got_parse_id(rest, &id, &rest)) vote = id;
    for (at = text.len; vote == 0 && at-- > 0;)
        if (text.at[at] == '[' &&
            phi__got_parse_id(phi__str(text.at + at, phi__min(text.len - at, 12)), &id, &rest))
            vote = id;
    return vote;
}

/* ---- prompts ---- */

static phi_str phi__gprompt_own(uint32_t phase) {
    static const char generation[] =
        "You propose thoughts for a graph: partial or whole solutions of a problem. Thoughts of "
        "one answer differ materially from each other, and each is short and concrete. A thought "
        "that solves the problem states the whole solution. Write them as numbered lines and "
        "nothing else:\n1. ...\n2. ...";
    static const char connection[] =
        "You look for connections between thoughts about a problem: one supports another, "
        "contradicts it, completes it, or repeats it. Write a line for each connection that "
        "matters, and nothing else, with one of the words supports, contradicts, completes or "
        "repeats; without any, write NONE.\n"
        "CONNECTION: [1] -> [2] : supports: how the first one bears on the second";
    static const char voting[] =
        "You choose the thought that solves a problem best. Check each of them, the facts and the "
        "arithmetic too. End with a line that names your choice:\nVOTE: [1]";
    static const char weighing[] =
        "You weigh thoughts about a problem from 0.0 to 1.0: 1.0 is correct and solves it, 0.0 is "
        "wrong or leads nowhere. Check each of them. Write a line for each and nothing else:\n"
        "WEIGHT: [1] : 0.8";
    static const char aggregation[] =
        "You compose one answer to a problem out of thoughts about it. Take what is right and "
        "fits together, settle contradictions, leave out what is wrong. Write the whole answer "
        "and nothing about the thoughts.";
    switch (phase) {
    case PHI__GOT_CONNECTING: return PHI__LIT(connection);
    case PHI__GOT_VOTING: return PHI__LIT(voting);
    case PHI__GOT_WEIGHING: return PHI__LIT(weighing);
    case PHI__GOT_AGGREGATING: return PHI__LIT(aggregation);
    default: return PHI__LIT(generation);
    }
}

/* New thoughts that this generation may have. */
static uint32_t phi__gprompt_wanted(const phi__got *g, const phi_got_options *o) {
    uint32_t used = g->graph.count + 1; /* the answer's */
    uint32_t left = o->max_nodes > used ? o->max_nodes - used : 0;
    return left < o->branching_factor ? left : o->branching_factor;
}

static void phi__gprompt_put_node(const phi__got *g, uint32_t i, phi__buf *out) {
    const phi__got_node *node = &g->graph.nodes[i];
    phi__buf_printf(out, "\n[%lu]", (unsigned long)i);
    if (node->parent != 0) phi__buf_printf(out, " (from [%lu])", (unsigned long)node->parent);
    if (node->has_weight && g->phase == PHI__GOT_AGGREGATING)
        phi__buf_printf(out, " (weight %.2f)", node->weight);
    phi__buf_char(out, ' ');
    phi__buf_add_str(out, node->content);
}

static bool phi__gprompt_heavier(const phi__got_graph *graph, uint32_t a, uint32_t b) {
    const phi__got_node *x = &graph->nodes[a], *y = &graph->nodes[b];
    return x->weight > y->weight || (!(x->weight < y->weight) && a < b);
}

/* The heaviest first, without those of weight 0. Quadratic: at most 1,000 nodes, and only here. */
static void phi__gprompt_put_weighed(const phi__got *g, phi__buf *out) {
    const phi__got_graph *graph = &g->graph;
    uint32_t last = 0, next, i;
    for (;;) {
        next = 0;
        for (i = 1; i < graph->count; i++) {
            if (!graph->nodes[i].kept || !(graph->nodes[i].weight > 0.0)) continue;
            if (last != 0 && !phi__gprompt_heavier(graph, last, i)) continue;
            if (next == 0 || phi__gprompt_heavier(graph, i, next)) next = i;
        }
        if (next == 0) return;
        phi__gprompt_put_node(g, next, out);
        last = next;
    }
}

static bool phi__gprompt_weighed(const phi__got *g) {
    for (uint32_t i = 1; g->phase == PHI__GOT_AGGREGATING && i < g->graph.count; i++)
        if (g->graph.nodes[i].kept && g->graph.nodes[i].weight > 0.0) return true;
    return false;
}

/* The aggregation is shown the thoughts that were kept, and their connections. */
static bool phi__gprompt_shown(const phi__got *g, uint32_t i) {
    return g->phase < PHI__GOT_VOTING || g->graph.nodes[i].kept;
}

/* ---- the graph ---- */

/* Room for one more; the old array stays in the arena. NULL: no memory. */
static void *phi__graph_grow(phi_arena *arena, void *items, uint32_t count, uint32_t *cap,
                             size_t size) {
    uint32_t more = *cap < 8 ? 8 : *cap * 2;
    if (count < *cap) return items;
    void *grown = phi_arena_alloc(arena, phi__mul(more, size));
    if (grown == NULL) return NULL;
    if (count > 0) memcpy(grown, items, count * size);
    *cap = more;
    return grown;
}

/* False, here and below: no memory. */
static bool phi__graph_add(phi__got_graph *graph, phi_arena *arena, uint32_t parent,
                           phi_str content) {
    void *grown =
        phi__graph_grow(arena, graph->nodes, graph->count, &graph->cap, sizeof(phi__got_node));
    if (grown == NULL) return false;
    graph->nodes = (phi__got_node *)grown;
    phi__got_node *node = &graph->nodes[graph->count];
    memset(node, 0, sizeof *node);
    if (!phi__arena_str(arena, content, &node->content)) return false;
    if (graph->count++ == 0) return true;
    node->parent = parent;
    node->depth = graph->nodes[parent].depth + 1;
    graph->nodes[parent].children++;
    return true;
}

/* A connection that is there already, or that leads nowhere, is left out. */
static bool phi__graph_connect(phi__got_graph *graph, phi_arena *arena, const phi__got_edge *edge) {
    uint32_t from = edge->from, to = edge->to;
    if (from == to || from == 0 || to == 0 || from >= graph->count || to >= graph->count)
        return true;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].from == from && graph->edges[i].to == to) return true;
    void *grown = phi__graph_grow(arena, graph->edges, graph->edge_count, &graph->edge_cap,
                                  sizeof(phi__got_edge));
    if (grown == NULL) return false;
    graph->edges = (phi__got_edge *)grown;
    graph->edges[graph->edge_count] = *edge;
    if (!phi__arena_str(arena, edge->text, &graph->edges[graph->edge_count].text)) return false;
    graph->edge_count++;
    if (edge->kind == PHI__GOT_AGGREGATES) return true;
    graph->nodes[from].links++;
    graph->nodes[to].links++;
    if (edge->kind == PHI__GOT_SUPPORTS) graph->nodes[to].support++;
    if (edge->kind == PHI__GOT_CONTRADICTS) graph->nodes[to].support--;
    return true;
}

static bool phi__graph_before(const phi__got_node *a, const phi__got_node *b) {
    if (a->votes != b->votes) return a->votes > b->votes;
    if (a->weight > b->weight || a->weight < b->weight) return a->weight > b->weight;
    if (a->support != b->support) return a->support > b->support;
    return a->depth > b->depth;
}

/* The answer, else the node with most votes, the heaviest, the one with most support, the deepest,
   the oldest, in this order; 0: no thought yet. */
static uint32_t phi__graph_best(const phi__got_graph *graph) {
    uint32_t best = graph->count > 1 ? 1 : 0;
    if (graph->answer != 0) return graph->answer;
    for (uint32_t i = 2; i < graph->count; i++)
        if (phi__graph_before(&graph->nodes[i], &graph->nodes[best])) best = i;
    return best;
}

/* Marks the thoughts with most support, then the deepest, the oldest. At most 1,000 nodes are
   walked for each thought that is kept, once in a run. */
static void phi__graph_keep(phi__got_graph *graph, uint32_t most) {
    uint32_t i, found;
    for (i = 1; i < graph->count; i++) graph->nodes[i].kept = false;
    for (uint32_t kept = 0; kept < most; kept++) {
        found = 0;
        for (i = 1; i < graph->count; i++) {
            const phi__got_node *node = &graph->nodes[i], *best = &graph->nodes[found];
            if (node->kept) continue;
            if (found == 0 || node->support > best->support ||
                (node->support == best->support && node->depth > best->depth))
                found = i;
        }
        if (found == 0 || (kept > 0 && graph->nodes[found].support < 0)) return;
        graph->nodes[found].kept = true;
    }
}

/* ---- as JSON ---- */

static const char *const phi__graph_kinds[] = {"supports", "contradicts", "repeats", "aggregates"};

static phi__got_kind phi__graph_kind(phi_str name) {
    for (size_t i = 0; i < PHI__COUNT(phi__graph_kinds); i++)
        if (phi__str_is(name, phi__graph_kinds[i])) return (phi__got_kind)i;
    return PHI__GOT_SUPPORTS;
}

static void phi__graph_put(const phi__got_graph *graph, phi__buf *out) {
    phi__records_raw(out, "nodes", "[");
    for (uint32_t i = 0; i < graph->count; i++) {
        const phi__got_node *node = &graph->nodes[i];
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_u64(out, "parent", node->parent);
        phi__records_u64(out, "depth", node->depth);
        phi__records_str(out, "content", node->content);
        phi__records_u64(out, "connections", node->links);
        phi__records_i64(out, "support", node->support);
        if (node->votes > 0) phi__records_u64(out, "votes", node->votes);
        if (node->has_weight) phi__records_double(out, "weight", node->weight);
        if (node->stop_reason > PHI_STOP_REASON_STOP)
            phi__records_u64(out, "stop_reason", node->stop_reason);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
    phi__records_raw(out, "connections", "[");
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_u64(out, "from", graph->edges[i].from);
        phi__records_u64(out, "to", graph->edges[i].to);
        phi__records_str(out, "kind", phi_str_of(phi__graph_kinds[graph->edges[i].kind]));
        phi__records_some(out, "text", graph->edges[i].text);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
    if (graph->answer != 0) phi__records_u64(out, "answer_node_id", graph->answer);
}

static phi_status phi__graph_get_node(phi__got_graph *graph, phi_arena *arena,
                                      const phi_json *item) {
    uint64_t parent = phi__json_get_uint(phi_json_get(item, "parent"), UINT64_MAX);
    const phi_json *weight = phi_json_get(item, "weight");
    if (graph->count == 0 ? parent != 0 : parent >= graph->count) return PHI_PARSE;
    if (!phi__graph_add(graph, arena, (uint32_t)parent, phi__records_get_str(item, "content")))
        return PHI_NO_MEMORY;
    phi__got_node *node = &graph->nodes[graph->count - 1];
    node->votes = phi__records_get_u32(item, "votes");
    node->has_weight = weight != NULL;
    node->weight = phi_json_num(weight, 0.0);
    node->stop_reason = (phi_stop_reason)phi__records_get_u32(item, "stop_reason");
    return node->weight >= 0.0 && node->weight <= 1.0 ? PHI_OK : PHI_PARSE;
}

/* PHI_PARSE: no graph of phi's. */
static phi_status phi__graph_get(phi__got_graph *graph, phi_arena *arena, const phi_json *saved) {
    phi_json_iter nodes = phi_json_each(phi_json_get(saved, "nodes"));
    phi_json_iter edges = phi_json_each(phi_json_get(saved, "connections"));
    const phi_json *item;
    uint32_t answer = phi__records_get_u32(saved, "answer_node_id");
    while ((item = phi_json_next(&nodes)) != NULL) {
        phi_status status = phi__graph_get_node(graph, arena, item);
        if (status != PHI_OK) return status;
    }
    while ((item = phi_json_next(&edges)) != NULL) {
        phi__got_edge edge;
        edge.from = phi__records_get_u32(item, "from");
        edge.to = phi__records_get_u32(item, "to");
        edge.kind = phi__graph_kind(phi__records_get_str(item, "kind"));
        edge.text = phi__records_get_str(item, "text");
        if (!phi__graph_connect(graph, arena, &edge)) return PHI_NO_MEMORY;
    }
    if (answer != 0 && answer >= graph->count) return PHI_PARSE;
    graph->answer = answer;
    return PHI_OK;
}

/* ---- the machine ---- */

enum {
    PHI__GOT_PROMPT_TOKENS = 250, /* of phi's own prompt of a call, at most, by estimate */
    PHI__GOT_NODES_MOST = 1000    /* a bound on prompts that show the graph */
};

PHI__FN phi_got_options phi__got_options_of(const void *options) {
    phi_got_options o = PHI_ZERO;
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

/* The answer's share of the votes, or 1.0 if it was composed, since nothing is left to compare it
   with. False: there is none, or nobody voted. */
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
    uint32_t best = phi__graph_best(&g->graph);
    double score;
    phi__buf_char(out, '{');
    phi__records_option(out, "answer", best != 0 ? g->graph.nodes[best].content : phi__str("", 0));
    phi__records_u64(out, "best_node_id", best);
    if (phi__got_score(g, &score)) phi__records_double(out, "score", score);
    phi__records_str(out, "aggregation", phi_str_of(phi__got_mode(o)));
    phi__graph_put(&g->graph, out);
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
    uint32_t best = phi__graph_best(&g->graph);
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
    if (phi__graph_best(&g->graph) != 0) error = phi__str("", 0);
    return phi__got_end(g, o, reason, PHI_LIMIT, error, env, out);
}

/* ---- calls ---- */

static phi_status phi__got_call(const phi__got *g, const phi_got_options *o,
                                const phi_strategy_env *env, phi_strategy_commands *out) {
    phi_strategy_command *command = phi_strategy_add(out, PHI_STRATEGY_ASK);
    phi__buf prompt;
    if (command == NULL) return PHI_FULL;
    phi__buf_init(&prompt, env->scratch->memory);
    unsigned long wanted = phi__gprompt_wanted(g, o);
    phi__buf_text(&prompt, "Problem: ");
    phi__buf_add_str(&prompt, g->graph.nodes[0].content);
    const phi__got_graph *graph = &g->graph;
    bool any = false;
    uint32_t i;
    if (graph->count > 1) phi__buf_text(&prompt, "\n\nThoughts:");
    if (phi__gprompt_weighed(g))
        phi__gprompt_put_weighed(g, &prompt);
    else
        for (i = 1; i < graph->count; i++)
            if (phi__gprompt_shown(g, i)) phi__gprompt_put_node(g, i, &prompt);
    for (i = 0; i < graph->edge_count; i++) {
        if (!phi__gprompt_shown(g, graph->edges[i].from) ||
            !phi__gprompt_shown(g, graph->edges[i].to))
            continue;
        if (!any) phi__buf_text(&prompt, "\n\nConnections:");
        any = true;
        phi__buf_printf(&prompt, "\n[%lu] -> [%lu]: ", (unsigned long)graph->edges[i].from,
                        (unsigned long)graph->edges[i].to);
        phi__buf_add_str(&prompt, graph->edges[i].text);
    }
    switch (g->phase) {
    case PHI__GOT_CONNECTING: phi__buf_text(&prompt, "\n\nName the connections."); break;
    case PHI__GOT_VOTING:
        phi__buf_text(&prompt, "\n\nWhich thought solves the problem best?");
        break;
    case PHI__GOT_WEIGHING: phi__buf_text(&prompt, "\n\nWeigh each thought."); break;
    case PHI__GOT_AGGREGATING: phi__buf_text(&prompt, "\n\nCompose the answer."); break;
    default:
        if (g->at == 0)
            phi__buf_printf(&prompt, "\n\nPropose %lu different approaches.", wanted);
        else
            phi__buf_printf(&prompt,
                            "\n\nPropose %lu different thoughts that refine thought [%lu].", wanted,
                            (unsigned long)g->at);
        break;
    }
    if (!phi__machine_text(&prompt, env->scratch, &command->call.prompt)) return PHI_NO_MEMORY;
    command->call.id = g->call_id;
    const char *given = o->generation_prompt;
    if (g->phase == PHI__GOT_CONNECTING) given = o->connection_prompt;
    if (g->phase == PHI__GOT_VOTING) given = o->voting_prompt;
    if (g->phase == PHI__GOT_WEIGHING) given = o->weighing_prompt;
    if (g->phase == PHI__GOT_AGGREGATING) given = o->aggregation_prompt;
    command->call.system_prompt = given != NULL ? phi_str_of(given) : phi__gprompt_own(g->phase);
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
    phi__graph_keep(&g->graph, o->keep_best);
    return phi__got_enter(g, o, phase, env, out);
}

/* The next generation, if one may follow. */
static phi_status phi__got_next(phi__got *g, const phi_got_options *o, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    if (g->generations >= o->generations || phi__gprompt_wanted(g, o) == 0)
        return phi__got_aggregate(g, o, env, out);
    /* The leaf above max_depth with most support, then the oldest */
    const phi__got_graph *graph = &g->graph;
    uint32_t max_depth = o->max_depth;
    uint32_t found = 0;
    for (uint32_t i = 1; i < graph->count; i++) {
        const phi__got_node *node = &graph->nodes[i];
        if (node->children > 0 || node->depth >= max_depth) continue;
        if (found == 0 || node->support > graph->nodes[found].support) found = i;
    }
    g->at = found;
    if (g->at == 0 && g->graph.count > 1) return phi__got_aggregate(g, o, env, out);
    return phi__got_enter(g, o, PHI__GOT_GENERATING, env, out);
}

/* ---- answers ---- */

/* False: no memory. */
static bool phi__got_add(phi__got *g, phi_str content, phi_stop_reason reason,
                         const phi_strategy_env *env) {
    phi_strategy_node node = PHI_ZERO;
    node.id = g->graph.count;
    node.parent = g->at;
    node.depth = g->graph.nodes[g->at].depth + 1;
    node.content = content;
    node.problem = g->graph.nodes[0].content;
    if (env->prune_fn != NULL && env->prune_fn(env->user_data, &node)) {
        g->pruned++;
        return true;
    }
    if (!phi__graph_add(&g->graph, env->arena, g->at, content)) return false;
    g->graph.nodes[g->graph.count - 1].stop_reason = reason;
    return true;
}

static phi_status phi__got_thoughts(phi__got *g, const phi_got_options *o,
                                    const phi_strategy_event *event, const phi_strategy_env *env,
                                    phi_strategy_commands *out) {
    phi_str text = event->text;
    size_t most = phi__min(phi__gprompt_wanted(g, o), text.len); /* each has a byte */
    phi_str *thoughts = (phi_str *)phi_arena_alloc(env->scratch, (most + 1) * sizeof *thoughts);
    if (thoughts == NULL) return PHI_NO_MEMORY;
    phi__tot_read read = phi__tot_parse_thoughts(text, env->scratch, thoughts, most);
    if (read.no_memory) return PHI_NO_MEMORY;
    if (read.count == 0 && phi__str_trim(text).len > 0) {
        thoughts[0] = phi__str_trim(text);
        read.count = 1;
    }
    for (size_t i = 0; i < read.count; i++)
        if (!phi__got_add(g, thoughts[i],
                          i + 1 == read.count ? event->stop_reason : PHI_STOP_REASON_STOP, env))
            return PHI_NO_MEMORY;
    g->generations++;
    if (g->graph.count > 2) return phi__got_enter(g, o, PHI__GOT_CONNECTING, env, out);
    return phi__got_next(g, o, env, out);
}

static phi_status phi__got_vote(phi__got *g, const phi_got_options *o, phi_str text,
                                const phi_strategy_env *env, phi_strategy_commands *out) {
    uint32_t vote = phi__got_parse_vote(phi__parse_tail(text));
    g->votes++;
    if (vote == 0 || vote >= g->graph.count || !g->graph.nodes[vote].kept)
        g->abstained++;
    else
        g->graph.nodes[vote].votes++;
    uint32_t best = phi__graph_best(&g->graph);
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

/* ---- the machine ---- */

static phi_status phi__got_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__got *g = (phi__got *)state;
    phi_got_options o = phi__got_options_of(env->options);
    phi_str failure = event->message;
    if (event->kind == PHI_STRATEGY_BEGIN) {
        if (g->phase != PHI__GOT_IDLE) return PHI_OK;
        if (!phi__graph_add(&g->graph, env->arena, 0, event->text)) return PHI_NO_MEMORY;
        return phi__got_enter(g, &o, PHI__GOT_GENERATING, env, out);
    }
    if (g->phase == PHI__GOT_IDLE || g->phase == PHI__GOT_OVER) return PHI_OK;
    if (event->kind == PHI_STRATEGY_STOP)
        return phi__got_finish(g, &o, env->calls_left == 0 ? "max_calls" : "stopped", env, out);
    if (event->call_id != g->call_id) return PHI_OK;
    phi__message_add_usage(&g->usage, &event->usage);
    if (event->kind == PHI_STRATEGY_ANSWER) {
        switch (g->phase) {
        case PHI__GOT_GENERATING: return phi__got_thoughts(g, &o, event, env, out);
        case PHI__GOT_CONNECTING: {
            phi_str text = event->text;
            uint32_t left = 4 * g->graph.count; /* lines that are read: more say nothing */
            phi__got_edge edge;
            size_t at = 0;
            text = phi__parse_tail(text);
            while (left-- > 0 && phi__got_parse_connection(text, &at, &edge))
                if (!phi__graph_connect(&g->graph, env->arena, &edge)) return PHI_NO_MEMORY;
            return phi__got_next(g, &o, env, out);
        }
        case PHI__GOT_VOTING: return phi__got_vote(g, &o, event->text, env, out);
        case PHI__GOT_WEIGHING: return phi__got_weights(g, &o, event->text, env, out);
        default: {
            phi_str text = phi__str_trim(event->text);
            if (text.len > 0) {
                if (!phi__graph_add(&g->graph, env->arena, 0, text)) return PHI_NO_MEMORY;
                g->graph.answer = g->graph.count - 1;
                g->graph.nodes[g->graph.answer].stop_reason = event->stop_reason;
                /* Edges to the answer from the thoughts that it was composed of. */
                phi__got_graph *graph = &g->graph;
                phi_arena *arena = env->arena;
                bool weighed = false;
                for (uint32_t i = 1; i < graph->count; i++)
                    weighed = weighed || graph->nodes[i].weight > 0.0;
                for (uint32_t i = 1; i < graph->count; i++) {
                    if (!graph->nodes[i].kept || (weighed && !(graph->nodes[i].weight > 0.0)))
                        continue;
                    phi__got_edge edge = PHI_ZERO;
                    edge.from = i;
                    edge.to = graph->answer;
                    edge.kind = PHI__GOT_AGGREGATES;
                    if (!phi__graph_connect(graph, arena, &edge)) return PHI_NO_MEMORY;
                }
            }
            return phi__got_finish(g, &o, text.len > 0 ? "aggregated" : "no_answer", env, out);
        }
        }
    }
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
    memset(out, 0, sizeof *out);
    out->calls = phi__got_calls(&o);
    if (o.max_tokens != 0) answer_tokens = o.max_tokens;
    /* a call reads the thoughts and connections of all calls before it */
    double each = (double)out->calls * (double)answer_tokens / 2.0 + (double)prompt_tokens +
                  (double)PHI__GOT_PROMPT_TOKENS;
    each *= (double)out->calls;
    out->input_tokens = each < 1e18 ? (uint64_t)each : UINT64_MAX;
    if (o.max_tokens != 0) out->output_tokens = out->calls * o.max_tokens;
}

static void phi__got_best(const void *state, phi_strategy_best *out) {
    const phi__got *g = (const phi__got *)state;
    uint32_t best = phi__graph_best(&g->graph);
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
    phi__graph_put(&g->graph, &out);
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
    if (!phi_json_is(saved, PHI_JSON_OBJECT)) return PHI_PARSE;
    if (!phi__records_get(saved, fields, count, g, env->arena)) return PHI_NO_MEMORY;
    phi_status status = phi__graph_get(&g->graph, env->arena, saved);
    if (status != PHI_OK) return status;
    phi__machine_get_usage(saved, &g->usage);
    if (g->phase > PHI__GOT_OVER || g->abstained > g->votes) return PHI_PARSE;
    if (g->graph.count >= o.max_nodes + (g->phase == PHI__GOT_OVER ? 1u : 0u)) return PHI_PARSE;
    if (g->phase != PHI__GOT_IDLE && g->at >= g->graph.count) return PHI_PARSE;
    if (g->phase > PHI__GOT_GENERATING && g->phase < PHI__GOT_OVER && g->graph.count < 2)
        return PHI_PARSE;
    if (g->phase == PHI__GOT_IDLE || g->phase == PHI__GOT_OVER) return PHI_OK;
    if (g->phase >= PHI__GOT_VOTING) phi__graph_keep(&g->graph, o.keep_best);
    return phi__got_call(g, &o, env, out);
}

/* ---- public ---- */

PHI_API const phi_strategy *phi_strategy_got(void) {
    static const phi_strategy strategy = {
        "got",         sizeof(phi__got), phi__got_bill, phi__got_on,
        phi__got_best, phi__got_save,    phi__got_load, NULL};
    return &strategy;
}
