/* tool_state_in.h - the tool state of lanes: effects applied to a JSON object, and the notes that
   hold them.

   A thread keeps the state of its active lane (tool_state.c), made by need from the notes in
   memory. An eviction is preceded by that, so that no note is missed later. */
#ifndef PHI_HISTORY_TOOL_STATE_IN_H
#define PHI_HISTORY_TOOL_STATE_IN_H

#include "base/arena_in.h"
#include "base/base_in.h"
#include "history/tool_state.h"
#include "log/thread.h"
#include "text/json_get_in.h"

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

/* Applies an effect without fault. *why: it is refused, static, and the object is as before; NULL:
   it was applied. PHI_NO_MEMORY: the tree is of no use. */
PHI__FN phi_status phi__effect_apply(phi__effect_tree *tree, const phi_json *effect,
                                     size_t max_bytes, const char **why);

/* A state as text; it owns its memory. */
typedef struct phi__tool_state_text {
    char *at; /* NULL: {} */
    size_t len;
    uint64_t tail; /* bytes of the effects that were noted since a note with the whole state */
} phi__tool_state_text;

/* Of a thread: the state of its active lane. */
typedef struct phi__tool_state {
    phi__tool_state_text now, before;
    uint64_t run; /* `before` is of the run that began with this entry; seq and 1; 0: none */
    bool known;   /* `now` holds */
} phi__tool_state;

/* Another lane is active. */
PHI__FN void phi__kept_state_unknown(phi_thread *thread);

/* A run has ended that began with this entry; none: it keeps nothing. */
PHI__FN void phi__kept_state_run_ended(phi_thread *thread, uint64_t start, bool none);
PHI__FN void phi__kept_state_free(phi_thread *thread);
PHI__FN size_t phi__kept_state_bytes(const phi_thread *thread);

enum {
    PHI__TOOL_STATE_BYTES = 65536,      /* of a state, by default */
    PHI__TOOL_STATE_MOST = 1024 * 1024, /* the same, at most */
    PHI__TOOL_STATE_EFFECTS = 64        /* of one result */
};

/* What became of an effect. */
typedef struct phi__tool_state_outcome {
    uint32_t op;         /* a PHI_EFFECT_ bit; 0: it is none */
    phi_str name, value; /* EMIT: its name, and its value as JSON; in the arena */
    const char *why;     /* why it was not applied, static; NULL: it was */
} phi__tool_state_outcome;

/* An order for phi__tool_state_apply. */
typedef struct phi__tool_state_order {
    phi_str call_id;
    phi_str effects;  /* JSON text, an array */
    uint32_t allowed; /* PHI_EFFECT_ bits */
    size_t max_bytes;
} phi__tool_state_order;

/* The state of the active lane now, valid until it changes. PHI_NO_MEMORY. */
PHI__FN phi_status phi__tool_state_now(phi_thread *thread, phi_str *out);

/* Applies effects in their order to the active lane, each or not at all, and notes them. *outcomes:
   of each, in the arena; *changed: the state is another. PHI_NO_MEMORY: nothing changed. */
PHI__FN phi_status phi__tool_state_apply(phi_thread *thread, const phi__tool_state_order *order,
                                         phi_arena *arena, phi__tool_state_outcome **outcomes,
                                         size_t *count, bool *changed);

/* The state of the active lane becomes this JSON object. PHI_BAD_ARG: it is none; PHI_NO_MEMORY:
   nothing changed. */
PHI__FN phi_status phi__tool_state_set(phi_thread *thread, phi_str json, size_t max_bytes);

/* The state of a lane after an entry, whose notes are in memory, as text in the arena.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__tool_state_fold(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                        phi_arena *arena, phi_str *out);

/* The same, where the text need not be in the arena: then it is valid until the state changes. */
PHI__FN phi_status phi__tool_state_at(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                      phi_arena *arena, phi_str *out);

/* phi__tool_state_carry, by pointer: forgetting calls it where the runtime has tool states. */
typedef bool (*phi__carry_fn)(phi_thread *thread, const phi_thread *from, uint32_t lane,
                              uint64_t upto);

/* Notes in the active lane of a new log the state that another log's lane has after an entry.
   False: no memory. */
PHI__FN bool phi__tool_state_carry(phi_thread *thread, const phi_thread *from, uint32_t lane,
                                   uint64_t upto);

#endif
