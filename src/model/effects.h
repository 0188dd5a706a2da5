/* effects.h - which effects a tool may have on the tool state (log/tool_state.h). */
#ifndef PHI_MODEL_EFFECTS_H
#define PHI_MODEL_EFFECTS_H

#include "base/base.h"

/* The effects as bits, for phi_effect_policy. */
enum {
    PHI_EFFECT_MERGE = 1 << 0,
    PHI_EFFECT_REPLACE = 1 << 1,
    PHI_EFFECT_DELETE_KEYS = 1 << 2,
    PHI_EFFECT_SET_PATH = 1 << 3,
    PHI_EFFECT_DELETE_PATH = 1 << 4,
    PHI_EFFECT_EMIT = 1 << 5
};

typedef enum phi_effect_mode {
    PHI_EFFECTS_ALLOW_ALL = 0,
    PHI_EFFECTS_DENY_ALL,
    PHI_EFFECTS_ALLOW_LIST /* only those in `allow` */
} phi_effect_mode;

/* Which effects of an agent's tools are applied. Zero means default for every field. */
typedef struct phi_effect_policy {
    phi_effect_mode mode;
    uint32_t allow; /* PHI_EFFECT_ bits, for PHI_EFFECTS_ALLOW_LIST */
    uint32_t deny;  /* PHI_EFFECT_ bits, denied in every mode */
    /* The largest size of the state as JSON text. An effect that would make the state larger is
       refused. (default 65,536; at most 1 MiB) */
    uint32_t max_state_bytes;
} phi_effect_policy;

#endif
