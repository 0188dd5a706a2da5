/* pick_model.h - which model the examples talk to, and why. Copy what you need of it.

   In this order: PHI_BASE_URL (an Anthropic-style server, such as the mock of the tests), the first
   provider whose key is in the environment, and a local server on Ollama's port. */
#ifndef PICK_MODEL_H
#define PICK_MODEL_H

#include "phi.h"

#include <stdio.h>
#include <stdlib.h>

static inline const char *pick_env(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static inline phi_model pick_model(const char **why) {
    const char *key, *id = pick_env("PHI_MODEL"), *url = pick_env("PHI_BASE_URL");
    phi_model model;
    if (url != NULL) {
        *why = "PHI_BASE_URL";
        model = phi_model_anthropic(id ? id : "claude-sonnet-4-5", "mock-key");
        model.base_url = url;
        return model;
    }
    *why = "ANTHROPIC_API_KEY";
    if ((key = pick_env(*why)) != NULL)
        return phi_model_anthropic(id ? id : "claude-sonnet-4-5", key);
    *why = "OPENAI_API_KEY";
    if ((key = pick_env(*why)) != NULL) return phi_model_openai(id ? id : "gpt-5-mini", key);
    *why = "OPENROUTER_API_KEY";
    if ((key = pick_env(*why)) != NULL)
        return phi_model_openrouter(id ? id : "anthropic/claude-sonnet-4.5", key);
    *why = "GROQ_API_KEY";
    if ((key = pick_env(*why)) != NULL) return phi_model_groq(id ? id : "openai/gpt-oss-20b", key);
    *why = "MISTRAL_API_KEY";
    if ((key = pick_env(*why)) != NULL)
        return phi_model_mistral(id ? id : "mistral-small-latest", key);
    *why = "DEEPSEEK_API_KEY";
    if ((key = pick_env(*why)) != NULL) return phi_model_deepseek(id ? id : "deepseek-chat", key);
    *why = "no key in the environment: a local server on Ollama's port";
    return phi_model_local("http://localhost:11434/v1", id ? id : "llama3.2", NULL);
}

#endif
