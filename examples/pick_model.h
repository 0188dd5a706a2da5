/* pick_model.h - which model the examples talk to, and why. Copy what you need of it.

   In this order: PHI_BASE_URL (an Anthropic-style server, such as tests/mock: docs/pages.md starts it), the first
   provider whose key is in the environment, and a local server on Ollama's port. */
#ifndef PICK_MODEL_H
#define PICK_MODEL_H

#include "phi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pick_preset {
    const char *name, *key; /* `key` is a variable of the environment */
    const char *id;         /* the model without PHI_MODEL */
    phi_model (*make)(const char *id, const char *api_key); /* NULL: phi_model_preset of the name */
} pick_preset;

static const pick_preset pick_presets[] = {
    {"anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-4-5", phi_model_anthropic},
    {"openai", "OPENAI_API_KEY", "gpt-5-mini", NULL},
    {"openrouter", "OPENROUTER_API_KEY", "anthropic/claude-sonnet-4.5", NULL},
    {"groq", "GROQ_API_KEY", "openai/gpt-oss-20b", NULL},
    {"mistral", "MISTRAL_API_KEY", "mistral-small-latest", NULL},
    {"deepseek", "DEEPSEEK_API_KEY", "deepseek-chat", NULL},
    {"google", "GEMINI_API_KEY", "gemini-2.5-flash", phi_model_google},
    {"interactions", "GEMINI_API_KEY", "gemini-3-flash-preview", phi_model_interactions}};
enum { PICK_PRESETS = sizeof pick_presets / sizeof *pick_presets };

static inline const char *pick_env(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static inline phi_model pick_make(const pick_preset *preset, const char *id, const char *key) {
    if (id == NULL) id = preset->id;
    return preset->make != NULL ? preset->make(id, key) : phi_model_preset(preset->name, id, key);
}

static inline phi_model pick_model(const char **why) {
    const char *key, *id = pick_env("PHI_MODEL"), *url = pick_env("PHI_BASE_URL");
    phi_model model;
    size_t i;
    if (url != NULL) {
        *why = "PHI_BASE_URL";
        model = phi_model_anthropic(id ? id : "claude-sonnet-4-5", "mock-key");
        model.base_url = url;
        return model;
    }
    for (i = 0; i < PICK_PRESETS; i++) {
        *why = pick_presets[i].key;
        if ((key = pick_env(*why)) != NULL) return pick_make(&pick_presets[i], id, key);
    }
    *why = "no key in the environment: a local server on Ollama's port";
    return phi_model_local("http://localhost:11434/v1", id ? id : "llama3.2", NULL);
}

/* The same for a person's choice: a preset ("groq"), a preset with a model ("groq:qwen/qwen3-32b"), or a model of what
   pick_model takes. */
static inline phi_model pick_model_named(const char *name, const char **why) {
    size_t i, n = strcspn(name, ":");
    phi_model model = pick_model(why);
    for (i = 0; i < PICK_PRESETS; i++)
        if (strlen(pick_presets[i].name) == n && memcmp(pick_presets[i].name, name, n) == 0) {
            *why = pick_presets[i].key;
            return pick_make(&pick_presets[i], name[n] == ':' ? name + n + 1 : NULL,
                             pick_env(*why));
        }
    model = pick_model(why);
    model.id = name;
    model.name = NULL;
    return model;
}

#endif
