/* profile.h - profiles (an agent's identity, apart from its model), and system prompts made of
   blocks.

   A profile fills fields that an agent's desc leaves unset, and never overrides one that it
   sets. */
#ifndef PHI_AGENT_PROFILE_H
#define PHI_AGENT_PROFILE_H

#include "base/arena.h"
#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means: not set. */
typedef struct phi_profile {
    const char *profile_id; /* (default: random) */
    const char *name, *description;
    const char *system_prompt;
    phi_thinking thinking;
    uint32_t max_tokens;
    bool has_temperature;
    double temperature;
    const char *config_id;
    const char *workspace;
    const char *const *skills; /* names; the host loads the skills */
    size_t skill_count;
} phi_profile;

/* One part of a system prompt, by the name of a slot. */
typedef struct phi_prompt_block {
    const char *name; /* "identity"... */
    const char *text;
} phi_prompt_block;

/* The place of a block, and its length at most. */
typedef struct phi_prompt_slot {
    const char *name;
    int order;         /* slots stand in this order, equal ones as they are listed */
    size_t max_length; /* characters (code points) at most; 0: all */
} phi_prompt_slot;

/* The slots of the usual kinds of agent; static.
   agent: identity 500, instructions 2,000, tools 1,000, constraints 500. minimal: identity 1,000,
   task 3,000. The book, part "System prompts". */
PHI_API const phi_prompt_slot *phi_prompt_slots_agent(size_t *count);
PHI_API const phi_prompt_slot *phi_prompt_slots_minimal(size_t *count);

/* Puts the blocks into their slots, cut to their lengths, with a blank line between them, in the
   arena (terminated). A slot without a block, and a block without a slot, are left out; of two
   blocks with one name the last counts. PHI_BAD_ARG, PHI_NO_MEMORY: *out is empty. */
PHI_API phi_status phi_prompt_compose(const phi_prompt_slot *slots, size_t slot_count,
                                      const phi_prompt_block *blocks, size_t block_count,
                                      phi_arena *arena, phi_str *out);

#ifdef __cplusplus
}
#endif
#endif
