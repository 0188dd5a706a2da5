/* got_prompt.c - the prompts of Graph-of-Thoughts. */
#include "strategy/got_in.h"

static phi_str phi__got_prompt_own(uint32_t phase) {
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

PHI__FN phi_str phi__got_prompt_system(const phi__got *g, const phi_got_options *o) {
    const char *given = o->generation_prompt;
    if (g->phase == PHI__GOT_CONNECTING) given = o->connection_prompt;
    if (g->phase == PHI__GOT_VOTING) given = o->voting_prompt;
    if (g->phase == PHI__GOT_WEIGHING) given = o->weighing_prompt;
    if (g->phase == PHI__GOT_AGGREGATING) given = o->aggregation_prompt;
    return given != NULL ? phi_str_of(given) : phi__got_prompt_own(g->phase);
}

PHI__FN uint32_t phi__got_prompt_wanted(const phi__got *g, const phi_got_options *o) {
    uint32_t used = g->graph.count + 1; /* the answer's */
    uint32_t left = o->max_nodes > used ? o->max_nodes - used : 0;
    return left < o->branching_factor ? left : o->branching_factor;
}

static void phi__got_prompt_put_node(const phi__got *g, uint32_t i, phi__buf *out) {
    const phi__got_node *node = &g->graph.nodes[i];
    phi__buf_printf(out, "\n[%lu]", (unsigned long)i);
    if (node->parent != 0) phi__buf_printf(out, " (from [%lu])", (unsigned long)node->parent);
    if (node->has_weight && g->phase == PHI__GOT_AGGREGATING)
        phi__buf_printf(out, " (weight %.2f)", node->weight);
    phi__buf_char(out, ' ');
    phi__buf_add_str(out, node->content);
}

static bool phi__got_prompt_heavier(const phi__got_graph *graph, uint32_t a, uint32_t b) {
    const phi__got_node *x = &graph->nodes[a], *y = &graph->nodes[b];
    return x->weight > y->weight || (!(x->weight < y->weight) && a < b);
}

/* The heaviest first, without those of weight 0. Quadratic: at most 1,000 nodes, and only here. */
static void phi__got_prompt_put_weighed(const phi__got *g, phi__buf *out) {
    const phi__got_graph *graph = &g->graph;
    uint32_t last = 0, next, i;
    for (;;) {
        next = 0;
        for (i = 1; i < graph->count; i++) {
            if (!graph->nodes[i].kept || !(graph->nodes[i].weight > 0.0)) continue;
            if (last != 0 && !phi__got_prompt_heavier(graph, last, i)) continue;
            if (next == 0 || phi__got_prompt_heavier(graph, i, next)) next = i;
        }
        if (next == 0) return;
        phi__got_prompt_put_node(g, next, out);
        last = next;
    }
}

static bool phi__got_prompt_weighed(const phi__got *g) {
    uint32_t i;
    for (i = 1; g->phase == PHI__GOT_AGGREGATING && i < g->graph.count; i++)
        if (g->graph.nodes[i].kept && g->graph.nodes[i].weight > 0.0) return true;
    return false;
}

/* The aggregation is shown the thoughts that were kept, and their connections. */
static bool phi__got_prompt_shown(const phi__got *g, uint32_t i) {
    return g->phase < PHI__GOT_VOTING || g->graph.nodes[i].kept;
}

static void phi__got_prompt_put_graph(const phi__got *g, phi__buf *out) {
    const phi__got_graph *graph = &g->graph;
    bool any = false;
    uint32_t i;
    if (graph->count > 1) phi__buf_text(out, "\n\nThoughts:");
    if (phi__got_prompt_weighed(g))
        phi__got_prompt_put_weighed(g, out);
    else
        for (i = 1; i < graph->count; i++)
            if (phi__got_prompt_shown(g, i)) phi__got_prompt_put_node(g, i, out);
    for (i = 0; i < graph->edge_count; i++) {
        if (!phi__got_prompt_shown(g, graph->edges[i].from) ||
            !phi__got_prompt_shown(g, graph->edges[i].to))
            continue;
        if (!any) phi__buf_text(out, "\n\nConnections:");
        any = true;
        phi__buf_printf(out, "\n[%lu] -> [%lu]: ", (unsigned long)graph->edges[i].from,
                        (unsigned long)graph->edges[i].to);
        phi__buf_add_str(out, graph->edges[i].text);
    }
}

PHI__FN void phi__got_prompt_put(const phi__got *g, const phi_got_options *o, phi__buf *out) {
    unsigned long wanted = phi__got_prompt_wanted(g, o);
    phi__buf_text(out, "Problem: ");
    phi__buf_add_str(out, g->graph.nodes[0].content);
    phi__got_prompt_put_graph(g, out);
    switch (g->phase) {
    case PHI__GOT_CONNECTING: phi__buf_text(out, "\n\nName the connections."); break;
    case PHI__GOT_VOTING: phi__buf_text(out, "\n\nWhich thought solves the problem best?"); break;
    case PHI__GOT_WEIGHING: phi__buf_text(out, "\n\nWeigh each thought."); break;
    case PHI__GOT_AGGREGATING: phi__buf_text(out, "\n\nCompose the answer."); break;
    default:
        if (g->at == 0)
            phi__buf_printf(out, "\n\nPropose %lu different approaches.", wanted);
        else
            phi__buf_printf(out, "\n\nPropose %lu different thoughts that refine thought [%lu].",
                            wanted, (unsigned long)g->at);
        break;
    }
}
