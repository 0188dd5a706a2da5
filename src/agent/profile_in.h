/* profile_in.h - system prompts made of blocks, and the profile of an agent. */
#ifndef PHI_AGENT_PROFILE_IN_H
#define PHI_AGENT_PROFILE_IN_H

#include "agent/agent.h"
#include "base/arena_in.h"

/* One part of a system prompt, by the name of a slot. */
typedef struct phi__profile_block {
    const char *name; /* "identity"... */
    const char *text;
} phi__profile_block;

/* The place of a block, and its length at most. */
typedef struct phi__profile_slot {
    const char *name;
    int order;         /* slots stand in this order, equal ones as they are listed */
    size_t max_length; /* characters (code points) at most; 0: all */
} phi__profile_slot;

/* The slots of the usual kinds of agent; static.
   agent: identity 500, instructions 2,000, tools 1,000, constraints 500. minimal: identity 1,000,
   task 3,000. The book, part "System prompts". */
PHI__FN const phi__profile_slot *phi__profile_slots_agent(size_t *count);
PHI__FN const phi__profile_slot *phi__profile_slots_minimal(size_t *count);

/* Puts the blocks into their slots, cut to their lengths, with a blank line between them, in the
   arena (terminated). A slot without a block, and a block without a slot, are left out; of two
   blocks with one name the last counts. PHI_BAD_ARG, PHI_NO_MEMORY: *out is empty. */
PHI__FN phi_status phi__profile_compose(const phi__profile_slot *slots, size_t slot_count,
                                        const phi__profile_block *blocks, size_t block_count,
                                        phi_arena *arena, phi_str *out);

#endif
