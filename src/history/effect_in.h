/* effect_in.h - effects: the changes that a tool makes to a JSON object. */
#ifndef PHI_HISTORY_EFFECT_IN_H
#define PHI_HISTORY_EFFECT_IN_H

#include "base/arena_in.h"
#include "base/buf_in.h"
#include "history/tool_state.h"
#include "text/json_index_in.h"

/* The op of an effect, a PHI_EFFECT_ bit; 0: it has none. And its word; "" for none. Static. */
PHI__FN uint32_t phi__effect_op(const phi_json *effect);
PHI__FN const char *phi__effect_word(uint32_t op);
/* The fault of an effect; NULL: it has none. Static. */
PHI__FN const char *phi__effect_fault(const phi_json *effect);
/* Whether a text is an array of effects; else words about the fault. PHI_BAD_ARG, PHI_NO_MEMORY. */
PHI__FN phi_status phi__effect_check(phi_memory *memory, phi_str effects, char *words,
                                     size_t words_size);
/* An object that effects change. One tree takes all of them: each costs about what it changes,
   however large the object is. */
typedef struct phi__effect_tree {
    phi_arena *arena; /* of the tree */
    phi_json *root;
    size_t bytes; /* of its text */
    phi__json_index index;
    phi__buf text;                            /* to measure values in */
    const struct phi__effect_change *changes; /* of the effect under way, last first */
    phi_status status;                        /* of memory */
    const char *why;                          /* the effect under way is refused */
} phi__effect_tree;

/* The text is an object. PHI_NO_MEMORY, also where it is none. Close it in any case. */
PHI__FN phi_status phi__effect_open(phi__effect_tree *tree, phi_memory *memory, phi_arena *arena,
                                    phi_str text);
PHI__FN void phi__effect_close(phi__effect_tree *tree);
/* The tree becomes a copy of an object. PHI_NO_MEMORY. */
PHI__FN phi_status phi__effect_replace(phi__effect_tree *tree, const phi_json *value);
/* Applies an effect without fault. *why: it is refused, static, and the object is as before; NULL:
   it was applied. PHI_NO_MEMORY: the tree is of no use. */
PHI__FN phi_status phi__effect_apply(phi__effect_tree *tree, const phi_json *effect,
                                     size_t max_bytes, const char **why);

#endif
