/* agent_models.c - checks the models of phi_agent_desc.failover. A refusal names the field and
   changes nothing. */
#include "agent/agent_in.h"

#include <stdio.h>

#ifndef PHI_NO_FAILOVER

enum { PHI__AGENT_MODELS_WORDS = 400 }; /* bytes of another check's message */

/* The message of a check of one model, which names its field, with the model's place before it. */
static phi_status phi__agent_models_place(phi_runtime *rt, size_t i, phi_status status) {
    char words[PHI__AGENT_MODELS_WORDS];
    const char *said = "";
    (void)phi_last_error(rt, &said, NULL);
    (void)snprintf(words, sizeof words, "%s", said);
    return phi__error(rt, status, "failover.models[%u]: %s", (unsigned)i, words);
}

static phi_status phi__agent_models_one(phi_runtime *rt, const phi_provider *own,
                                        const phi_failover_model *given, const phi_tool *tools,
                                        size_t tool_count) {
    const phi_provider *provider = given->provider != NULL ? given->provider : own;
    phi__tool_rules rules;
    phi_status status = PHI_OK;
    if (given->provider != NULL) status = phi__provider_check(rt, "provider", given->provider);
    if (status == PHI_OK) status = phi__agent_check_model(rt, provider, &given->model);
    if (status != PHI_OK) return status;
    if ((unsigned)given->thinking > (unsigned)PHI_THINKING_HIGH)
        return phi__error(rt, PHI_BAD_ARG, "thinking is none of its values");
    rules = phi__tool_check_rules(rt, provider, &given->model, true);
    return phi__tool_check_names(rt, &rules, tools, tool_count);
}

PHI__FN phi_status phi__agent_models_check(phi_runtime *rt, const phi_failover *failover,
                                           const phi_provider *own, const phi_tool *tools,
                                           size_t tool_count) {
    size_t i;
    if (failover == NULL) return PHI_OK;
    if (failover->model_count < 1 || failover->model_count > PHI_FAILOVER_MODELS_MOST)
        return phi__error(rt, PHI_BAD_ARG, "failover.model_count is %llu: expected 1 to %d",
                          (unsigned long long)failover->model_count, (int)PHI_FAILOVER_MODELS_MOST);
    if (failover->models == NULL)
        return phi__error(rt, PHI_BAD_ARG, "failover.models is missing, model_count is %u",
                          (unsigned)failover->model_count);
    if (failover->on >= 2u * (uint32_t)PHI_FAILOVER_CONTENT_FILTER)
        return phi__error(rt, PHI_BAD_ARG, "failover.on is 0x%x: expected PHI_FAILOVER_ bits",
                          (unsigned)failover->on);
    if ((unsigned)failover->stay > (unsigned)PHI_FAILOVER_STAY_EVER)
        return phi__error(rt, PHI_BAD_ARG, "failover.stay is none of its values");
    for (i = 0; i < failover->model_count; i++) {
        phi_status status = phi__agent_models_one(rt, own, &failover->models[i], tools, tool_count);
        if (status != PHI_OK) return phi__agent_models_place(rt, i, status);
    }
    return PHI_OK;
}

#else

PHI__FN phi_status phi__agent_models_check(phi_runtime *rt, const phi_failover *failover,
                                           const phi_provider *own, const phi_tool *tools,
                                           size_t tool_count) {
    (void)own;
    (void)tools;
    (void)tool_count;
    return failover == NULL
               ? PHI_OK
               : phi__error(rt, PHI_UNSUPPORTED, "failover: this build has none (PHI_NO_FAILOVER)");
}

#endif
