/* tot_in.h - the tree of Tree-of-Thoughts, and what it reads in answers.

   Nodes are numbered in the order of their making; node 0 is the problem. All memory is the
   machine's arena's. */
#ifndef PHI_ORCHESTRATE_TOT_IN_H
#define PHI_ORCHESTRATE_TOT_IN_H

#include "orchestrate/strategy_in.h"
#include "orchestrate/parse_in.h"
#include "orchestrate/tot.h"

/* ---- answers: parse.c ---- */

typedef struct phi__tot_read {
    size_t count; /* of thoughts; of scores that the answer really has */
    bool none;    /* an empty list of thoughts: a dead end. Else, with count 0, it is unreadable */
    bool json;    /* else line by line */
    bool no_memory; /* then the rest does not count */
} phi__tot_read;

/* The first `most` thoughts of an answer, trimmed, blank ones left out; strings in the arena. */
PHI__FN phi__tot_read phi__tot_parse_thoughts(phi_str text, phi_arena *arena, phi_str *out,
                                              size_t most);

/* The scores of thoughts t1, t2...: 0 to 1, and 0.5 for those that the answer leaves out. */
PHI__FN phi__tot_read phi__tot_parse_scores(phi_str text, phi_arena *scratch,
                                            const phi_str *thoughts, size_t count, double *out);

/* ---- the tree: tot.c ---- */

typedef struct phi__tot_node {
    uint32_t parent, depth, children;
    bool finished;               /* at the full depth, or a whole solution before */
    double score;                /* of node 0: none */
    phi_stop_reason stop_reason; /* LENGTH, GUARD_RAIL: the model's answer ended within it */
    phi_str content;
} phi__tot_node;

typedef struct phi__tot_tree {
    phi__tot_node *nodes;
    uint32_t *frontier; /* to be expanded, the next one first */
    uint32_t count, cap, frontier_count, frontier_cap;
    uint32_t best; /* phi__tree_before all others; 0: no thought yet */
    uint32_t deepest;
} phi__tot_tree;

/* ---- the machine: tot.c ---- */

typedef struct phi__tot_rounds {
    uint32_t call_id, rounds;
} phi__tot_rounds;

typedef struct phi__tot {
    phi__tot_tree tree;
    uint32_t phase, call_id, at; /* `at` is being expanded */
    bool repairing;
    uint32_t repairs;    /* of this answer */
    uint32_t retries[2]; /* of all: generation, evaluation */
    uint32_t parser_errors, pruned;
    bool by_lines;    /* the last answer was no JSON */
    phi_str source;   /* the answer to be repaired */
    phi_str *pending; /* thoughts to be scored */
    double *sums;     /* of their scores so far */
    uint32_t pending_count, evaluated;
    phi_stop_reason cut; /* stop_reason of the last one */
    double *recent;      /* best scores of the last expansions, since one came to the full depth */
    uint32_t recent_count, recent_room;
    phi__tot_rounds *rounds; /* of calls that used tools */
    uint32_t round_count, round_cap;
    phi_usage usage;
} phi__tot;

/* Defaults filled in. */
PHI__FN phi_tot_options phi__tot_options_of(const void *options);

#endif
