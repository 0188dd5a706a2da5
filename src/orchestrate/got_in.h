/* got_in.h - the graph of Graph-of-Thoughts, and what it reads in answers.

   Nodes are numbered in the order of their making; node 0 is the problem. A node's edge from its
   parent is "generates" below the problem and "refines" below a thought; connections are kept as
   further edges. All memory is the machine's arena's. */
#ifndef PHI_ORCHESTRATE_GOT_IN_H
#define PHI_ORCHESTRATE_GOT_IN_H

#include "orchestrate/strategy_in.h"
#include "orchestrate/got.h"
#include "orchestrate/parse_in.h"

/* ---- the graph: got.c ---- */

typedef struct phi__got_node {
    uint32_t parent, depth, children, links, votes; /* links: connections to or from it */
    int32_t support; /* connections to it that support it, less those that contradict it */
    bool kept;       /* it is aggregated */
    bool has_weight;
    double weight;               /* 0 to 1 */
    phi_stop_reason stop_reason; /* LENGTH, GUARD_RAIL: the model's answer ended within it */
    phi_str content;
} phi__got_node;

typedef enum phi__got_kind {
    PHI__GOT_SUPPORTS,
    PHI__GOT_CONTRADICTS,
    PHI__GOT_REPEATS,
    PHI__GOT_AGGREGATES /* to the answer, from a thought that it was composed of */
} phi__got_kind;

typedef struct phi__got_edge {
    uint32_t from, to;
    phi__got_kind kind;
    phi_str text; /* why, in the model's words; may be empty */
} phi__got_edge;

typedef struct phi__got_graph {
    phi__got_node *nodes;
    phi__got_edge *edges; /* connections, and those of the aggregation */
    uint32_t count, cap, edge_count, edge_cap;
    uint32_t answer; /* the node that the aggregation made; 0: none */
} phi__got_graph;

/* ---- answers: got.c ---- */

/* The next line "CONNECTION: [1] -> [2]: text" from *at on, its kind by the text's first word.
   False: there is none. */
PHI__FN bool phi__got_parse_connection(phi_str text, size_t *at, phi__got_edge *out);

/* The next line "WEIGHT: [1]: 0.8" from *at on, its weight clamped. False: there is none. */
PHI__FN bool phi__got_parse_weight(phi_str text, size_t *at, uint32_t *node, double *out);

/* The last line "VOTE: [1]"; else the last "[1]". 0: none. */
PHI__FN uint32_t phi__got_parse_vote(phi_str text);

/* ---- the machine: got.c ---- */

typedef struct phi__got {
    phi__got_graph graph;
    uint32_t phase, call_id, at; /* `at` is being refined */
    uint32_t generations, votes, abstained, pruned;
    phi_usage usage;
} phi__got;

/* Defaults filled in. */
PHI__FN phi_got_options phi__got_options_of(const void *options);

#endif
