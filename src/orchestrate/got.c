/* got.c - Graph-of-Thoughts: the graph, the prompts and the machine. */
#include "orchestrate/machine_in.h"

enum {
    PHI__GOT_IDLE,
    PHI__GOT_GENERATING,
    PHI__GOT_CONNECTING,
    PHI__GOT_VOTING,
    PHI__GOT_WEIGHING,
    PHI__GOT_AGGREGATING,
    PHI__GOT_OVER
};

enum {
    PHI__GOT_PROMPT_TOKENS = 250, /* upper estimate of the tokens of phi's own prompt in a call */
    PHI__GOT_NODES_MOST = 1000    /* bounds the prompts that show the graph */
};

PHI__FN phi_got_options phi__got_options_of(const void *options) {
    phi_got_options o = PHI_ZERO;
    if (options != NULL) o = *(const phi_got_options *)options;
    if (o.generations == 0) o.generations = 2;
    if (o.branching_factor == 0) o.branching_factor = 3;
    if (o.max_nodes == 0) o.max_nodes = 20;
    if (o.max_nodes < 3) o.max_nodes = 3; /* room for the problem, a thought and the answer */
    if (o.max_nodes > PHI__GOT_NODES_MOST) o.max_nodes = PHI__GOT_NODES_MOST;
    if (o.max_depth == 0) o.max_depth = 5;
    if (o.votes == 0) o.votes = 3;
    if (o.keep_best == 0) o.keep_best = 5;
    return o;
}

/* ---- reading answers ---- */

/* Reads a node's id, "[12]" or "12". *rest is the text after it. */
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
    *rest = phi__str_from(text, i);
    return true;
}

/* Reads an arrow: "->", "=>" or U+2192. */
static bool phi__got_parse_arrow(phi_str text, phi_str *rest) {
    text = phi__parse_plain(text);
    if (phi__str_starts(text, "->") || phi__str_starts(text, "=>"))
        *rest = phi__str_from(text, 2);
    else if (phi__str_starts(text, "\xE2\x86\x92"))
        *rest = phi__str_from(text, 3);
    else
        return false;
    return true;
}

/* Returns the kind that the text's first word names. Default: supports. */
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
    phi_str line, rest;
    while (phi__parse_full_line(text, at, &line)) {
        if (!phi__parse_named(line, "connection", &rest) ||
            !phi__got_parse_id(rest, &out->from, &rest) || !phi__got_parse_arrow(rest, &rest) ||
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
    phi_str line, rest;
    while (phi__parse_full_line(text, at, &line)) {
        if (!phi__parse_named(line, "weight", &rest) || !phi__got_parse_id(rest, node, &rest) ||
            !phi__parse_colon(rest, &rest) || !phi__parse_number(rest, out, &rest))
            continue;
        *out = phi__parse_clamp(*out);
        return true;
    }
    return false;
}

PHI__FN uint32_t phi__got_parse_vote(phi_str text) {
    uint32_t vote = 0, id;
    size_t at = 0;
    phi_str line, rest;
    while (phi__parse_full_line(text, &at, &line))
        if (phi__parse_named(line, "vote", &rest) && phi__got_parse_id(rest, &id, &rest)) vote = id;
    for (at = text.len; vote == 0 && at-- > 0;)
        if (text.at[at] == '[' &&
            phi__got_parse_id(phi__str(text.at + at, phi__min(text.len - at, 12)), &id, &rest))
            vote = id;
    return vote;
}

/* ---- the graph ---- */

static bool phi__graph_add(phi__got *g, uint32_t parent, phi_str content,
                           phi_stop_reason stop_reason) {
    phi__got_graph *graph = &g->graph;
    phi_arena *arena = g->m.env->arena;
    void *grown =
        phi__machine_grow(arena, graph->nodes, graph->count, &graph->cap, sizeof *graph->nodes);
    if (grown == NULL) return false;
    graph->nodes = (phi__got_node *)grown;
    phi__got_node *node = &graph->nodes[graph->count];
    memset(node, 0, sizeof *node);
    if (!phi__arena_str(arena, content, &node->content)) return false;
    node->stop_reason = stop_reason;
    if (graph->count++ == 0) return true;
    node->parent = parent;
    node->depth = graph->nodes[parent].depth + 1;
    graph->nodes[parent].children++;
    return true;
}

/* Adds a connection, unless it exists already or names an unknown node. False: no memory. */
static bool phi__graph_connect(phi__got *g, const phi__got_edge *edge) {
    phi__got_graph *graph = &g->graph;
    phi_arena *arena = g->m.env->arena;
    uint32_t from = edge->from, to = edge->to;
    if (from == to || from == 0 || to == 0 || from >= graph->count || to >= graph->count)
        return true;
    for (uint32_t i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].from == from && graph->edges[i].to == to) return true;
    void *grown = phi__machine_grow(arena, graph->edges, graph->edge_count, &graph->edge_cap,
                                    sizeof *graph->edges);
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

/* Returns the answer node, or else the best thought: by votes, then weight, support, depth and age
   (older first). 0 if there is no thought. */
static uint32_t phi__graph_best(const phi__got_graph *graph) {
    uint32_t best = graph->count > 1 ? 1 : 0;
    if (graph->answer != 0) return graph->answer;
    for (uint32_t i = 2; i < graph->count; i++)
        if (phi__graph_before(&graph->nodes[i], &graph->nodes[best])) best = i;
    return best;
}

/* Marks the thoughts to aggregate: those with most support, then the deepest, then the oldest. Runs
   once in a search, and visits at most 1,000 nodes for each marked thought. */
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

/* ---- prompts ---- */

static phi_str phi__got_system(const phi__got *g) {
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
    const phi_got_options *o = &g->o;
    /* in the order of the phases */
    static const char *const own[] = {generation, connection, voting, weighing, aggregation};
    const char *const given[] = {o->generation_prompt, o->connection_prompt, o->voting_prompt,
                                 o->weighing_prompt, o->aggregation_prompt};
    uint32_t i = g->m.phase - PHI__GOT_GENERATING;
    return phi_str_of(given[i] != NULL ? given[i] : own[i]);
}

/* Returns how many thoughts the next generation may add. */
static uint32_t phi__got_wanted(const phi__got *g) {
    uint32_t used = g->graph.count + 1; /* 1 for the answer */
    uint32_t left = g->o.max_nodes > used ? g->o.max_nodes - used : 0;
    return left < g->o.branching_factor ? left : g->o.branching_factor;
}

static void phi__got_put_node(const phi__got *g, uint32_t i, phi__buf *out) {
    const phi__got_node *node = &g->graph.nodes[i];
    phi__buf_printf(out, "\n[%lu]", (unsigned long)i);
    if (node->parent != 0) phi__buf_printf(out, " (from [%lu])", (unsigned long)node->parent);
    if (node->has_weight && g->m.phase == PHI__GOT_AGGREGATING)
        phi__buf_printf(out, " (weight %.2f)", node->weight);
    phi__buf_char(out, ' ');
    phi__buf_add_str(out, node->content);
}

/* True if the prompt shows this node. From voting on, it shows only the marked thoughts. */
static bool phi__got_shown(const phi__got *g, uint32_t i) {
    return g->m.phase < PHI__GOT_VOTING || g->graph.nodes[i].kept;
}

/* True if a marked thought has a weight above 0. */
static bool phi__got_weighed(const phi__got *g) {
    for (uint32_t i = 1; i < g->graph.count; i++)
        if (g->graph.nodes[i].kept && g->graph.nodes[i].weight > 0.0) return true;
    return false;
}

static bool phi__got_heavier(const phi__got_graph *graph, uint32_t a, uint32_t b) {
    const phi__got_node *x = &graph->nodes[a], *y = &graph->nodes[b];
    return x->weight > y->weight || (!(x->weight < y->weight) && a < b);
}

/* Writes the thoughts in the order of their ids. For the aggregation, writes the heaviest first and
   leaves out those of weight 0. This sort is quadratic, over at most 1,000 nodes. */
static void phi__got_put_nodes(const phi__got *g, phi__buf *out) {
    const phi__got_graph *graph = &g->graph;
    uint32_t next = 0, last = 0, i;
    if (g->m.phase != PHI__GOT_AGGREGATING || !phi__got_weighed(g)) {
        for (i = 1; i < graph->count; i++)
            if (phi__got_shown(g, i)) phi__got_put_node(g, i, out);
        return;
    }
    do {
        last = next;
        next = 0;
        for (i = 1; i < graph->count; i++) {
            if (!graph->nodes[i].kept || !(graph->nodes[i].weight > 0.0)) continue;
            if (last != 0 && !phi__got_heavier(graph, last, i)) continue;
            if (next == 0 || phi__got_heavier(graph, i, next)) next = i;
        }
        if (next != 0) phi__got_put_node(g, next, out);
    } while (next != 0);
}

static phi_status phi__got_call(phi__got *g) {
    static const char *const questions[] = {"",
                                            "\n\nPropose ",
                                            "\n\nName the connections.",
                                            "\n\nWhich thought solves the problem best?",
                                            "\n\nWeigh each thought.",
                                            "\n\nCompose the answer."};
    const phi__got_graph *graph = &g->graph;
    phi_strategy_call call = PHI_ZERO;
    phi__buf prompt;
    bool any = false;
    phi__buf_init(&prompt, g->m.env->scratch->memory);
    phi__buf_text(&prompt, "Problem: ");
    phi__buf_add_str(&prompt, graph->nodes[0].content);
    if (graph->count > 1) phi__buf_text(&prompt, "\n\nThoughts:");
    phi__got_put_nodes(g, &prompt);
    for (uint32_t i = 0; i < graph->edge_count; i++) {
        const phi__got_edge *edge = &graph->edges[i];
        if (!phi__got_shown(g, edge->from) || !phi__got_shown(g, edge->to)) continue;
        if (!any) phi__buf_text(&prompt, "\n\nConnections:");
        any = true;
        phi__buf_printf(&prompt, "\n[%lu] -> [%lu]: ", (unsigned long)edge->from,
                        (unsigned long)edge->to);
        phi__buf_add_str(&prompt, edge->text);
    }
    phi__buf_text(&prompt, questions[g->m.phase]);
    if (g->m.phase == PHI__GOT_GENERATING) {
        phi__buf_printf(&prompt, "%lu different ", (unsigned long)phi__got_wanted(g));
        if (g->at == 0)
            phi__buf_text(&prompt, "approaches.");
        else
            phi__buf_printf(&prompt, "thoughts that refine thought [%lu].", (unsigned long)g->at);
    }
    call.system_prompt = phi__got_system(g);
    call.max_tokens = g->o.max_tokens;
    call.has_temperature = g->o.has_temperature;
    call.temperature = g->o.temperature;
    call.timeout_ms = g->o.timeout_ms;
    return phi__machine_ask(&g->m, &call, &prompt);
}

/* ---- the graph as JSON ---- */

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

/* Loads a node. PHI_PARSE: phi did not write this node. */
static phi_status phi__graph_get_node(phi__got *g, const phi_json *item) {
    uint64_t parent = phi__json_get_uint(phi_json_get(item, "parent"), UINT64_MAX);
    const phi_json *weight = phi_json_get(item, "weight");
    if (g->graph.count == 0 ? parent != 0 : parent >= g->graph.count) return PHI_PARSE;
    if (!phi__graph_add(g, (uint32_t)parent, phi__records_get_str(item, "content"),
                        (phi_stop_reason)phi__records_get_u32(item, "stop_reason")))
        return PHI_NO_MEMORY;
    phi__got_node *node = &g->graph.nodes[g->graph.count - 1];
    node->votes = phi__records_get_u32(item, "votes");
    node->has_weight = weight != NULL;
    node->weight = phi_json_num(weight, 0.0);
    return node->weight >= 0.0 && node->weight <= 1.0 ? PHI_OK : PHI_PARSE;
}

static phi_status phi__graph_get(phi__got *g, const phi_json *saved) {
    phi_json_iter nodes = phi_json_each(phi_json_get(saved, "nodes"));
    phi_json_iter edges = phi_json_each(phi_json_get(saved, "connections"));
    const phi_json *item;
    g->graph.answer = phi__records_get_u32(saved, "answer_node_id");
    while ((item = phi_json_next(&nodes)) != NULL) {
        phi_status status = phi__graph_get_node(g, item);
        if (status != PHI_OK) return status;
    }
    while ((item = phi_json_next(&edges)) != NULL) {
        phi__got_edge edge;
        edge.from = phi__records_get_u32(item, "from");
        edge.to = phi__records_get_u32(item, "to");
        edge.kind = phi__graph_kind(phi__records_get_str(item, "kind"));
        edge.text = phi__records_get_str(item, "text");
        if (!phi__graph_connect(g, &edge)) return PHI_NO_MEMORY;
    }
    return g->graph.answer == 0 || g->graph.answer < g->graph.count ? PHI_OK : PHI_PARSE;
}

/* Sets *out to the answer's share of the votes, or to 1.0 if the answer was composed. False: there
   is no answer, or every vote was an abstention. */
static bool phi__got_score(const phi__got *g, double *out) {
    const phi__got_graph *graph = &g->graph;
    if (graph->answer == 0 || (g->votes > 0 && g->votes == g->abstained)) return false;
    *out = 1.0;
    if (g->votes > 0)
        *out = (double)graph->nodes[graph->answer].votes / (double)(g->votes - g->abstained);
    return true;
}

/* Ends the search with the answer or the best thought, or with an error if `error` is not empty. */
static phi_status phi__got_end(phi__got *g, const char *reason, phi_status status, phi_str error) {
    static const char *const modes[] = {"synthesis", "voting", "weighted"};
    size_t mode = (size_t)g->o.aggregation < PHI__COUNT(modes) ? (size_t)g->o.aggregation : 0;
    uint32_t best = phi__graph_best(&g->graph);
    const phi__got_node *node = &g->graph.nodes[best];
    double score;
    phi__buf result;
    g->m.phase = PHI__GOT_OVER;
    phi__machine_result(&g->m, &result);
    phi__records_option(&result, "answer", best != 0 ? node->content : phi__str("", 0));
    phi__records_u64(&result, "best_node_id", best);
    if (phi__got_score(g, &score)) phi__records_double(&result, "score", score);
    phi__records_str(&result, "aggregation", phi_str_of(modes[mode]));
    phi__graph_put(&g->graph, &result);
    phi__message_put_usage(&result, &g->m.usage);
    phi__machine_put_termination(&g->m, &result, reason,
                                 error.len > 0          ? "error"
                                 : g->graph.answer != 0 ? "completed"
                                                        : "unfinished",
                                 true);
    phi__records_u64(&result, "node_count", g->graph.count);
    phi__records_u64(&result, "generations", g->generations);
    phi__buf_char(&result, '}');
    phi__records_raw(&result, "diagnostics", "{");
    phi__records_u64(&result, "calls", g->m.call_id);
    phi__records_u64(&result, "votes", g->votes);
    phi__records_u64(&result, "abstained", g->abstained);
    phi__records_u64(&result, "pruned", g->pruned);
    phi__records_some(&result, "error", error);
    phi__buf_char(&result, '}');
    if (error.len > 0) return phi__machine_fail(&g->m, status, error, &result);
    return phi__machine_done(&g->m, node->content, node->stop_reason, &result);
}

/* Ends the search with the best thought so far. Fails if there is no thought. */
static phi_status phi__got_finish(phi__got *g, const char *reason) {
    phi_str error = PHI__LIT("ended before there was a thought");
    if (phi__graph_best(&g->graph) != 0) error = phi__str("", 0);
    return phi__got_end(g, reason, PHI_LIMIT, error);
}

/* ---- the next phase ---- */

static phi_status phi__got_enter(phi__got *g, uint32_t phase) {
    static const char *const names[] = {"idle",   "generating", "connecting",
                                        "voting", "weighing",   "aggregating"};
    if (g->m.env->calls_left == 0) return phi__got_finish(g, "max_calls");
    g->m.phase = phase;
    g->m.call_id++;
    phi_status status = phi__machine_emit(&g->m, names[phase]);
    return status == PHI_OK ? phi__got_call(g) : status;
}

static phi_status phi__got_aggregate(phi__got *g) {
    if (g->graph.count == 1)
        return phi__got_end(g, "error", PHI_PARSE,
                            PHI__LIT("the model wrote no thought that could be used"));
    phi__graph_keep(&g->graph, g->o.keep_best);
    return phi__got_enter(g, g->o.aggregation == PHI_GOT_VOTING     ? PHI__GOT_VOTING
                             : g->o.aggregation == PHI_GOT_WEIGHTED ? PHI__GOT_WEIGHING
                                                                    : PHI__GOT_AGGREGATING);
}

/* Starts the next generation, or the aggregation if no generation may follow. A generation refines
   a leaf above max_depth: the one with most support, or else the oldest. */
static phi_status phi__got_next(phi__got *g) {
    const phi__got_graph *graph = &g->graph;
    if (g->generations >= g->o.generations || phi__got_wanted(g) == 0) return phi__got_aggregate(g);
    g->at = 0;
    for (uint32_t i = 1; i < graph->count; i++) {
        const phi__got_node *node = &graph->nodes[i];
        if (node->children > 0 || node->depth >= g->o.max_depth) continue;
        if (g->at == 0 || node->support > graph->nodes[g->at].support) g->at = i;
    }
    if (g->at == 0 && graph->count > 1) return phi__got_aggregate(g);
    return phi__got_enter(g, PHI__GOT_GENERATING);
}

static bool phi__got_add(phi__got *g, phi_str content, phi_stop_reason reason) {
    const phi_strategy_env *env = g->m.env;
    phi_strategy_node node = PHI_ZERO;
    node.id = g->graph.count;
    node.parent = g->at;
    node.depth = g->graph.nodes[g->at].depth + 1;
    node.content = content;
    node.problem = g->graph.nodes[0].content;
    if (env->prune_fn == NULL || !env->prune_fn(env->user_data, &node))
        return phi__graph_add(g, g->at, content, reason);
    g->pruned++;
    return true;
}

static phi_status phi__got_thoughts(phi__got *g, const phi_strategy_event *event) {
    phi_str text = event->text;
    phi_arena *scratch = g->m.env->scratch;
    size_t most = phi__min(phi__got_wanted(g), text.len); /* a thought has at least one byte */
    phi_str *thoughts = (phi_str *)phi_arena_alloc(scratch, (most + 1) * sizeof *thoughts);
    if (thoughts == NULL) return PHI_NO_MEMORY;
    phi__tot_read read = phi__tot_parse_thoughts(text, scratch, thoughts, most);
    if (read.no_memory) return PHI_NO_MEMORY;
    if (read.count == 0 && phi__str_trim(text).len > 0) {
        thoughts[0] = phi__str_trim(text);
        read.count = 1;
    }
    for (size_t i = 0; i < read.count; i++)
        if (!phi__got_add(g, thoughts[i],
                          i + 1 == read.count ? event->stop_reason : PHI_STOP_REASON_STOP))
            return PHI_NO_MEMORY;
    g->generations++;
    return g->graph.count > 2 ? phi__got_enter(g, PHI__GOT_CONNECTING) : phi__got_next(g);
}

static phi_status phi__got_connections(phi__got *g, phi_str text) {
    uint32_t left = 4 * g->graph.count; /* max. lines to read */
    phi__got_edge edge;
    size_t at = 0;
    while (left-- > 0 && phi__got_parse_connection(text, &at, &edge))
        if (!phi__graph_connect(g, &edge)) return PHI_NO_MEMORY;
    return phi__got_next(g);
}

static phi_status phi__got_vote(phi__got *g, phi_str text) {
    uint32_t vote = phi__got_parse_vote(text);
    g->votes++;
    if (vote == 0 || vote >= g->graph.count || !g->graph.nodes[vote].kept)
        g->abstained++;
    else
        g->graph.nodes[vote].votes++;
    uint32_t best = phi__graph_best(&g->graph);
    if (g->votes < g->o.votes && g->graph.nodes[best].votes <= g->o.votes / 2)
        return phi__got_enter(g, PHI__GOT_VOTING);
    if (g->votes == g->abstained) return phi__got_finish(g, "abstained");
    g->graph.answer = best;
    return phi__got_finish(g, "aggregated");
}

static phi_status phi__got_weights(phi__got *g, phi_str text) {
    size_t at = 0;
    uint32_t id;
    double weight;
    while (phi__got_parse_weight(text, &at, &id, &weight)) {
        if (id == 0 || id >= g->graph.count) continue;
        g->graph.nodes[id].has_weight = true;
        g->graph.nodes[id].weight = weight;
    }
    return phi__got_enter(g, PHI__GOT_AGGREGATING);
}

/* Adds the answer node, with edges from the thoughts it was composed of. */
static phi_status phi__got_answer(phi__got *g, phi_str text, phi_stop_reason reason) {
    phi__got_graph *graph = &g->graph;
    bool weighed = false;
    if (text.len == 0) return phi__got_finish(g, "no_answer");
    if (!phi__graph_add(g, 0, text, reason)) return PHI_NO_MEMORY;
    graph->answer = graph->count - 1;
    for (uint32_t i = 1; i < graph->count; i++) weighed = weighed || graph->nodes[i].weight > 0.0;
    for (uint32_t i = 1; i < graph->count; i++) {
        if (!graph->nodes[i].kept || (weighed && !(graph->nodes[i].weight > 0.0))) continue;
        phi__got_edge edge = PHI_ZERO;
        edge.from = i;
        edge.to = graph->answer;
        edge.kind = PHI__GOT_AGGREGATES;
        if (!phi__graph_connect(g, &edge)) return PHI_NO_MEMORY;
    }
    return phi__got_finish(g, "aggregated");
}

/* ---- the machine ---- */

static phi_status phi__got_on(void *state, const phi_strategy_event *event,
                              const phi_strategy_env *env, phi_strategy_commands *out) {
    phi__got *g = (phi__got *)state;
    phi_str text = phi__parse_tail(event->text), failure = event->message;
    if (!phi__machine_takes(&g->m, PHI__GOT_OVER, event, env, out)) return PHI_OK;
    g->o = phi__got_options_of(env->options);
    if (event->kind == PHI_STRATEGY_BEGIN) {
        if (!phi__graph_add(g, 0, event->text, PHI_STOP_REASON_NONE)) return PHI_NO_MEMORY;
        return phi__got_enter(g, PHI__GOT_GENERATING);
    }
    if (event->kind == PHI_STRATEGY_STOP)
        return phi__got_finish(g, env->calls_left == 0 ? "max_calls" : "stopped");
    if (event->kind == PHI_STRATEGY_FAILED) {
        if (failure.len == 0) failure = PHI__LIT("a model call failed");
        return phi__got_end(g, "error", event->status, failure);
    }
    switch (g->m.phase) {
    case PHI__GOT_GENERATING: return phi__got_thoughts(g, event);
    case PHI__GOT_CONNECTING: return phi__got_connections(g, text);
    case PHI__GOT_VOTING: return phi__got_vote(g, text);
    case PHI__GOT_WEIGHING: return phi__got_weights(g, text);
    default: return phi__got_answer(g, phi__str_trim(event->text), event->stop_reason);
    }
}

static void phi__got_bill(const void *options, uint64_t prompt_tokens, uint64_t answer_tokens,
                          phi_strategy_bill *out) {
    phi_got_options o = phi__got_options_of(options);
    uint64_t last = o.aggregation == PHI_GOT_VOTING     ? o.votes
                    : o.aggregation == PHI_GOT_WEIGHTED ? 2
                                                        : 1;
    memset(out, 0, sizeof *out);
    out->calls = 2 * (uint64_t)phi__min(o.generations, PHI__GOT_NODES_MOST) + last;
    if (o.max_tokens != 0) answer_tokens = o.max_tokens;
    /* a call reads the thoughts and connections of all earlier calls */
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

static const phi__field phi__got_fields[] = {
    PHI__FIELD(phi__got, m.phase, "phase", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(phi__got, m.call_id, "call_id", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__KEYED(phi__got, at, UINT, ALWAYS),
    PHI__KEYED(phi__got, generations, UINT, ALWAYS),
    PHI__FIELD(phi__got, votes, "votes_cast", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__KEYED(phi__got, abstained, UINT, ALWAYS),
    PHI__KEYED(phi__got, pruned, UINT, ALWAYS)};

static phi_json *phi__got_save(const void *state, phi_arena *arena) {
    const phi__got *g = (const phi__got *)state;
    phi__buf out;
    phi__machine_save(&out, phi__got_fields, PHI__COUNT(phi__got_fields), g, arena);
    phi__graph_put(&g->graph, &out);
    return phi__machine_saved(&out, &g->m.usage, arena);
}

static phi_status phi__got_load(void *state, const phi_json *saved, const phi_strategy_env *env,
                                phi_strategy_commands *out) {
    phi__got *g = (phi__got *)state;
    phi_status status = phi__machine_load(&g->m, phi__got_fields, PHI__COUNT(phi__got_fields),
                                          PHI__GOT_OVER, saved, env, out);
    uint32_t phase = g->m.phase;
    g->o = phi__got_options_of(env->options);
    if (status == PHI_OK) status = phi__graph_get(g, saved);
    if (status != PHI_OK) return status;
    if (g->abstained > g->votes) return PHI_PARSE;
    if (g->graph.count >= g->o.max_nodes + (phase == PHI__GOT_OVER ? 1u : 0u)) return PHI_PARSE;
    if (phase == PHI__GOT_IDLE) return PHI_OK;
    if (g->at >= g->graph.count) return PHI_PARSE;
    if (phase == PHI__GOT_OVER) return PHI_OK;
    if (phase > PHI__GOT_GENERATING && g->graph.count < 2) return PHI_PARSE;
    if (phase >= PHI__GOT_VOTING) phi__graph_keep(&g->graph, g->o.keep_best);
    return phi__got_call(g);
}

PHI_API const phi_strategy *phi_strategy_got(void) {
    static const phi_strategy strategy = {
        "got",         sizeof(phi__got), phi__got_bill, phi__got_on,
        phi__got_best, phi__got_save,    phi__got_load, NULL};
    return &strategy;
}
