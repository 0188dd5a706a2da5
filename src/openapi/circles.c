/* circles.c - takes definitions away that none of the others needs, until circles are left; cuts
   the references to the first definition of those, and continues. */
#include "openapi/circles_in.h"

/* Nodes with needed[i] references to them; the queue holds those with none. */
typedef struct phi__circles {
    phi__tool_schema_edge *edges;
    size_t count, nodes, first, last; /* first, last: of the queue */
    size_t *needed, *queue;
} phi__circles;

PHI__FN bool phi__circles_add(phi_memory *memory, phi__tool_schema_edge **edges, size_t *count,
                              size_t *cap, size_t from, size_t to) {
    phi__tool_schema_edge *edge;
    if (*count > 0 && (*edges)[*count - 1].from == from && (*edges)[*count - 1].to == to)
        return true;
    if (*count == *cap) {
        void *grown = phi__grow(memory, *edges, cap, *count + 1, sizeof **edges);
        if (grown == NULL) return false;
        *edges = (phi__tool_schema_edge *)grown;
    }
    edge = &(*edges)[(*count)++];
    edge->from = from;
    edge->to = to;
    edge->cut = false;
    return true;
}

static void phi__circles_drain(phi__circles *c) {
    size_t i;
    while (c->first < c->last) {
        size_t node = c->queue[c->first++];
        for (i = 0; i < c->count; i++) {
            phi__tool_schema_edge *edge = &c->edges[i];
            if (edge->from != node || edge->cut) continue;
            if (--c->needed[edge->to] == 0) c->queue[c->last++] = edge->to;
        }
    }
}

/* A node whose references are all among those that are left: each is cut. */
static void phi__circles_open(phi__circles *c, size_t node) {
    size_t i;
    for (i = 0; i < c->count; i++)
        if (c->edges[i].to == node && c->needed[c->edges[i].from] > 0) c->edges[i].cut = true;
    c->needed[node] = 0;
    c->queue[c->last++] = node;
}

PHI__FN bool phi__circles_cut(phi_memory *memory, phi__tool_schema_edge *edges, size_t count,
                              size_t nodes, bool *any) {
    size_t bytes = phi__mul(nodes, 2 * sizeof(size_t)), i;
    phi__circles c;
    memset(&c, 0, sizeof c);
    c.edges = edges;
    c.count = count;
    c.nodes = nodes;
    c.needed = (size_t *)phi__alloc(memory, bytes);
    if (c.needed == NULL) return false;
    c.queue = c.needed + nodes;
    for (i = 0; i < count; i++) c.needed[edges[i].to]++;
    for (i = 0; i < nodes; i++)
        if (c.needed[i] == 0) c.queue[c.last++] = i;
    phi__circles_drain(&c);
    for (i = 0; i < nodes; i++) {
        if (c.needed[i] == 0) continue;
        *any = true;
        phi__circles_open(&c, i);
        phi__circles_drain(&c);
    }
    phi__free(memory, c.needed, bytes);
    return true;
}

PHI__FN bool phi__circles_is_cut(const phi__tool_schema_edge *edges, size_t count, size_t from,
                                 size_t to) {
    size_t i;
    for (i = 0; i < count; i++)
        if (edges[i].cut && edges[i].from == from && edges[i].to == to) return true;
    return false;
}
