/* tool_state_in.h - the tool state of lanes: effects applied to a JSON object, and the notes that
   hold them.

   A thread keeps the state of its active lane (tool_state.c), made by need from the notes in
   memory. An eviction is preceded by that, so that no note is missed later. */
#ifndef PHI_HISTORY_TOOL_STATE_IN_H
#define PHI_HISTORY_TOOL_STATE_IN_H

#include "history/history_in.h"
#include "base/base_in.h"
#include "history/tool_state.h"
#include "log/thread.h"
#include "text/text_in.h"

/* The fault of an effect; NULL: it has none. Static. */
PHI__FN const char *phi__effect_fault(const phi_json *effect);

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

/* Applies an effect without fault. *why: it is refused, static, and the object is as before; NULL:
   it was applied. PHI_NO_MEMORY: the tree is of no use. */
PHI__FN phi_status phi__effect_apply(phi__effect_tree *tree, const phi_json *effect,
                                     size_t max_bytes, const char **why);

/* Another lane is active. */
PHI__FN void phi__state_unknown(phi_thread *thread);

/* A run has ended that began with this entry; none: it keeps nothing. */
PHI__FN void phi__state_run_ended(phi_thread *thread, uint64_t start, bool none);
PHI__FN void phi__state_free(phi_thread *thread);
PHI__FN size_t phi__state_bytes(const phi_thread *thread);

#endif
