/* got_graph.c - the graph of Graph-of-Thoughts. */
#include "strategy/got_in.h"

#include "text/records_in.h"

/* Room for one more; the old array stays in the arena. NULL: no memory. */
static void *phi__got_graph_grow(phi_arena *arena, void *items, uint32_t count, uint32_t *cap,
                                 size_t size) {
    uint32_t more = *cap < 8 ? 8 : *cap * 2;
    void *grown;
    if (count < *cap) return items;
    grown = phi_arena_alloc(arena, phi__mul(more, size));
    if (grown == NULL) return NULL;
    if (count > 0) memcpy(grown, items, count * size);
    *cap = more;
    return grown;
}

PHI__FN bool phi__got_graph_add(phi__got_graph *graph, phi_arena *arena, uint32_t parent,
                                phi_str content) {
    phi__got_node *node;
    void *grown =
        phi__got_graph_grow(arena, graph->nodes, graph->count, &graph->cap, sizeof(phi__got_node));
    if (grown == NULL) return false;
    graph->nodes = (phi__got_node *)grown;
    node = &graph->nodes[graph->count];
    memset(node, 0, sizeof *node);
    if (!phi__arena_str(arena, content, &node->content)) return false;
    if (graph->count++ == 0) return true;
    node->parent = parent;
    node->depth = graph->nodes[parent].depth + 1;
    graph->nodes[parent].children++;
    return true;
}

PHI__FN bool phi__got_graph_connect(phi__got_graph *graph, phi_arena *arena,
                                    const phi__got_edge *edge) {
    uint32_t i, from = edge->from, to = edge->to;
    void *grown;
    if (from == to || from == 0 || to == 0 || from >= graph->count || to >= graph->count)
        return true;
    for (i = 0; i < graph->edge_count; i++)
        if (graph->edges[i].from == from && graph->edges[i].to == to) return true;
    grown = phi__got_graph_grow(arena, graph->edges, graph->edge_count, &graph->edge_cap,
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

PHI__FN uint32_t phi__got_graph_next(const phi__got_graph *graph, uint32_t max_depth) {
    uint32_t i, found = 0;
    for (i = 1; i < graph->count; i++) {
        const phi__got_node *node = &graph->nodes[i];
        if (node->children > 0 || node->depth >= max_depth) continue;
        if (found == 0 || node->support > graph->nodes[found].support) found = i;
    }
    return found;
}

static bool phi__got_graph_before(const phi__got_node *a, const phi__got_node *b) {
    if (a->votes != b->votes) return a->votes > b->votes;
    if (a->weight > b->weight || a->weight < b->weight) return a->weight > b->weight;
    if (a->support != b->support) return a->support > b->support;
    return a->depth > b->depth;
}

PHI__FN uint32_t phi__got_graph_best(const phi__got_graph *graph) {
    uint32_t i, best = graph->count > 1 ? 1 : 0;
    if (graph->answer != 0) return graph->answer;
    for (i = 2; i < graph->count; i++)
        if (phi__got_graph_before(&graph->nodes[i], &graph->nodes[best])) best = i;
    return best;
}

/* So many times as are kept over at most 1,000 nodes, once in a run. */
PHI__FN void phi__got_graph_keep(phi__got_graph *graph, uint32_t most) {
    uint32_t kept, i, found;
    for (i = 1; i < graph->count; i++) graph->nodes[i].kept = false;
    for (kept = 0; kept < most; kept++) {
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

PHI__FN bool phi__got_graph_aggregate(phi__got_graph *graph, phi_arena *arena) {
    bool weighed = false;
    uint32_t i;
    for (i = 1; i < graph->count; i++) weighed = weighed || graph->nodes[i].weight > 0.0;
    for (i = 1; i < graph->count; i++) {
        phi__got_edge edge;
        if (!graph->nodes[i].kept || (weighed && !(graph->nodes[i].weight > 0.0))) continue;
        memset(&edge, 0, sizeof edge);
        edge.from = i;
        edge.to = graph->answer;
        edge.kind = PHI__GOT_AGGREGATES;
        if (!phi__got_graph_connect(graph, arena, &edge)) return false;
    }
    return true;
}

/* ---- as JSON ---- */

static const char *const phi__got_graph_kinds[] = {"supports", "contradicts", "repeats",
                                                   "aggregates"};

static phi__got_kind phi__got_graph_kind(phi_str name) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__got_graph_kinds); i++)
        if (phi__str_is(name, phi__got_graph_kinds[i])) return (phi__got_kind)i;
    return PHI__GOT_SUPPORTS;
}

static void phi__got_graph_put_node(const phi__got_node *node, phi__buf *out) {
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

PHI__FN void phi__got_graph_put(const phi__got_graph *graph, phi__buf *out) {
    uint32_t i;
    phi__records_raw(out, "nodes", "[");
    for (i = 0; i < graph->count; i++) phi__got_graph_put_node(&graph->nodes[i], out);
    phi__buf_char(out, ']');
    phi__records_raw(out, "connections", "[");
    for (i = 0; i < graph->edge_count; i++) {
        phi__json_write_comma(out);
        phi__buf_char(out, '{');
        phi__records_u64(out, "from", graph->edges[i].from);
        phi__records_u64(out, "to", graph->edges[i].to);
        phi__records_str(out, "kind", phi_str_of(phi__got_graph_kinds[graph->edges[i].kind]));
        phi__records_some(out, "text", graph->edges[i].text);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, ']');
    if (graph->answer != 0) phi__records_u64(out, "answer_node_id", graph->answer);
}

static phi_status phi__got_graph_get_node(phi__got_graph *graph, phi_arena *arena,
                                          const phi_json *item) {
    uint64_t parent = phi__json_get_uint(phi_json_get(item, "parent"), UINT64_MAX);
    const phi_json *weight = phi_json_get(item, "weight");
    phi__got_node *node;
    if (graph->count == 0 ? parent != 0 : parent >= graph->count) return PHI_PARSE;
    if (!phi__got_graph_add(graph, arena, (uint32_t)parent, phi__records_get_str(item, "content")))
        return PHI_NO_MEMORY;
    node = &graph->nodes[graph->count - 1];
    node->votes = phi__records_get_u32(item, "votes");
    node->has_weight = weight != NULL;
    node->weight = phi_json_num(weight, 0.0);
    node->stop_reason = (phi_stop_reason)phi__records_get_u32(item, "stop_reason");
    return node->weight >= 0.0 && node->weight <= 1.0 ? PHI_OK : PHI_PARSE;
}

PHI__FN phi_status phi__got_graph_get(phi__got_graph *graph, phi_arena *arena,
                                      const phi_json *saved) {
    phi_json_iter nodes = phi_json_each(phi_json_get(saved, "nodes"));
    phi_json_iter edges = phi_json_each(phi_json_get(saved, "connections"));
    const phi_json *item;
    uint32_t answer = phi__records_get_u32(saved, "answer_node_id");
    while ((item = phi_json_next(&nodes)) != NULL) {
        phi_status status = phi__got_graph_get_node(graph, arena, item);
        if (status != PHI_OK) return status;
    }
    while ((item = phi_json_next(&edges)) != NULL) {
        phi__got_edge edge;
        edge.from = phi__records_get_u32(item, "from");
        edge.to = phi__records_get_u32(item, "to");
        edge.kind = phi__got_graph_kind(phi__records_get_str(item, "kind"));
        edge.text = phi__records_get_str(item, "text");
        if (!phi__got_graph_connect(graph, arena, &edge)) return PHI_NO_MEMORY;
    }
    if (answer != 0 && answer >= graph->count) return PHI_PARSE;
    graph->answer = answer;
    return PHI_OK;
}
