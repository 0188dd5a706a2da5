/* profile.h - profiles: an agent's identity without its model.

   A profile fills in fields that an agent's desc leaves unset. It never overrides a field that the
   desc sets. */
#ifndef PHI_AGENT_PROFILE_H
#define PHI_AGENT_PROFILE_H

#include "base/arena.h"
#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A field that is zero is not set. */
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
    const char *const *skills; /* names of skills; the host loads them */
    size_t skill_count;
} phi_profile;

#ifdef __cplusplus
}
#endif
#endif
