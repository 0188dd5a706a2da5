/* profile.h - profiles: an agent's identity, apart from its model.

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

#ifdef __cplusplus
}
#endif
#endif
