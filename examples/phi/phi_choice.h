/* phi_choice.h - the model that a person names. Copy what you need of it. */
#ifndef PHI_CHOICE_H
#define PHI_CHOICE_H

#include "phi_tools.h"

#include "phi_text.h"
#include "../pick_model.h"

/* A provider by name whose key is not set: its variable; else NULL. A server of PHI_BASE_URL wants none. */
static inline const char *choice_missing_key(const char *name) {
    size_t i, n = name != NULL ? strcspn(name, ":") : 0;
    for (i = 0; n > 0 && i < PICK_PRESETS; i++)
        if (strlen(pick_presets[i].name) == n && memcmp(pick_presets[i].name, name, n) == 0)
            return pick_env(pick_presets[i].key) == NULL ? pick_presets[i].key : NULL;
    return NULL;
}

/* The model of -m: an alias or a reference of the file (agents NULL: there is none), else a preset or a model's id; NULL:
   whichever has a key. NULL, or what is wrong, in `words`: an alias that means nothing is no model's id, for another
   provider would read the conversation. */
static inline const char *choice_model(phi_agents *agents, const char *name, const char **why,
                                       phi_model *out, text *words) {
    const char *from = name != NULL ? name + strspn(name, " \t\r\n") : "", *key;
    phi_status status = PHI_NOT_FOUND;
    if (agents != NULL && name != NULL) status = phi_agents_model(agents, name, out);
    if (status == PHI_OK) return NULL;
    if (status != PHI_NOT_FOUND) return phi_status_text(status);
    if (from[0] == ':' || strncmp(from, "{{", 2) == 0)
        return agents != NULL ? "the file has no such model" : "an alias wants a file (-c FILE)";
    key = choice_missing_key(name);
    if (key != NULL) {
        text_print(words, "%s is not set, the key of this provider", key);
        return words->at;
    }
    *out = name != NULL ? pick_model_named(name, why) : pick_model(why);
    return NULL;
}

#endif
