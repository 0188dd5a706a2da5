/* regex_program_in.h - a pattern's program: instructions over symbols.

   Characters that no set of the pattern tells apart are one symbol, so that a text is a row of few
   symbols; three more stand for the end of a line, for a byte that is no character, and for a byte
   above 0x7F, which must be decoded first. */
#ifndef PHI_MATCH_REGEX_PROGRAM_IN_H
#define PHI_MATCH_REGEX_PROGRAM_IN_H

#include "match/regex_tree_in.h"

typedef enum phi__regex_op {
    PHI__REGEX_OP_SET,   /* x: a set; then the next instruction */
    PHI__REGEX_OP_SPLIT, /* to x and to y */
    PHI__REGEX_OP_JUMP,  /* to x */
    PHI__REGEX_OP_TEST,  /* x: a phi__regex_kind; then the next instruction */
    PHI__REGEX_OP_MATCH
} phi__regex_op;

typedef struct phi__regex_code {
    uint16_t op, x, y;
} phi__regex_code;

typedef struct phi__regex_program {
    phi_memory *memory;
    phi__regex_code *codes;
    size_t count, cap;
    phi__range *ranges; /* of the sets, taken from the tree */
    size_t range_cap;
    phi__regex_set *sets;
    size_t set_cap;
    uint32_t *starts;  /* where a run of characters of one symbol begins, in order */
    uint16_t *symbols; /* of each run */
    size_t run_count, run_cap;
    uint32_t *samples; /* a character of each symbol */
    uint16_t symbol_count;
    uint16_t end, bad, high; /* the three */
    uint16_t bytes[256];     /* a byte's symbol */
    bool words;              /* word boundaries are tested: symbols tell word characters apart */
} phi__regex_program;

/* Takes the tree's sets. PHI_BAD_ARG: the program would be too large. */
PHI__FN phi_status phi__regex_program_make(phi__regex_program *program, phi__regex_tree *tree,
                                           phi__regex_error *error);
PHI__FN void phi__regex_program_free(phi__regex_program *program);
PHI__FN uint16_t phi__regex_program_symbol(const phi__regex_program *program, uint32_t code);
PHI__FN bool phi__regex_program_in_set(const phi__regex_program *program, uint16_t set,
                                       uint16_t symbol);
PHI__FN bool phi__regex_program_is_word(const phi__regex_program *program, uint16_t symbol);

#endif
