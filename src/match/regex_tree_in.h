/* regex_tree_in.h - a pattern between its text and its program: nodes, and sets of characters.

   A node refers to its children by index; node 0 is the empty pattern. A set is a run of ranges in
   order, apart from each other, without the newline; equal sets are one. The tree dies when the
   program is made. */
#ifndef PHI_MATCH_REGEX_TREE_IN_H
#define PHI_MATCH_REGEX_TREE_IN_H

#include "match/regex_in.h"

enum { PHI__REGEX_LAST_CODE = 0x10FFFF, PHI__REGEX_ENDLESS = 0xFFFF };

typedef struct phi__range {
    uint32_t first, last;
} phi__range;

/* Characters from first to last, every step-th: the representative is `down` below. */
typedef struct phi__regex_fold {
    uint32_t first, last, step, down;
} phi__regex_fold;

typedef enum phi__regex_kind {
    PHI__REGEX_EMPTY,
    PHI__REGEX_SET,   /* a: the set */
    PHI__REGEX_CAT,   /* a: the first child */
    PHI__REGEX_ALT,   /* a: the first child */
    PHI__REGEX_TIMES, /* a: the child; min, max */
    PHI__REGEX_START, /* of a line */
    PHI__REGEX_END,
    PHI__REGEX_WORD, /* a word begins or ends */
    PHI__REGEX_NO_WORD
} phi__regex_kind;

typedef struct phi__regex_node {
    phi__regex_kind kind;
    uint32_t a, next; /* next: the sibling, or 0 */
    uint16_t min, max, depth;
} phi__regex_node;

typedef struct phi__regex_set {
    uint32_t at, count;
} phi__regex_set;

typedef struct phi__regex_tree {
    phi_memory *memory;
    phi__regex_node *nodes;
    size_t node_count, node_cap;
    phi__range *ranges; /* of the sets, and behind them the one being made */
    size_t range_count, range_cap;
    phi__regex_set *sets;
    size_t set_count, set_cap;
    size_t open; /* where the set being made begins */
    uint32_t root;
    bool words; /* it has word boundaries */
} phi__regex_tree;

/* PHI_BAD_ARG: error says why. The tree is to be freed in any case. */
PHI__FN phi_status phi__regex_parse(phi__regex_tree *tree, phi_memory *memory, phi_str pattern,
                                    bool ignore_case, phi__regex_error *error);
PHI__FN void phi__regex_parse_free(phi__regex_tree *tree);

/* Making a set. Adding returns PHI_NO_MEMORY, or PHI_FULL: too many ranges. */
PHI__FN void phi__regex_set_begin(phi__regex_tree *tree);
PHI__FN phi_status phi__regex_set_add(phi__regex_tree *tree, uint32_t first, uint32_t last);
PHI__FN phi_status phi__regex_set_add_class(phi__regex_tree *tree, char letter); /* of "dswDSW" */
PHI__FN phi_status phi__regex_set_fold(phi__regex_tree *tree);
PHI__FN phi_status phi__regex_set_negate(phi__regex_tree *tree);
/* Without the newline; *out: its index. */
PHI__FN phi_status phi__regex_set_end(phi__regex_tree *tree, uint32_t *out);

PHI__FN bool phi__regex_set_has(const phi__range *ranges, size_t count, uint32_t code);

PHI__FN const phi__range *phi__regex_tables_word(size_t *count);
PHI__FN const phi__range *phi__regex_tables_digit(size_t *count);
PHI__FN const phi__range *phi__regex_tables_space(size_t *count);
PHI__FN const phi__regex_fold *phi__regex_tables_folds(size_t *count);

#endif
