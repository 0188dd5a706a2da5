/* phi_apply.h - gives the agent what the command line and the table of prices say, when the agent has been made. */
#ifndef PHI_APPLY_H
#define PHI_APPLY_H

#include "phi_app.h"
#include "phi_prices.h"

/* The rules of the agent. NULL: there are none, or hook scripts come before them. */
static inline phi_permissions *apply_permissions(const app *a) {
    phi_agent_desc desc;
    if (phi_agent_get_desc(a->agent, &desc) == PHI_OK && desc.hook_fn == phi_permissions_hook)
        return (phi_permissions *)desc.hook_user_data;
    return a->permissions;
}

/* True if the configuration has a value for a model. */
static inline bool apply_given(const app *a, const char *id, const char *key) {
    const phi_json *provider = phi_json_get(phi_config_tree(a->config), "provider"), *node;
    phi_json_iter it = phi_json_each(phi_json_get(provider, "instances"));
    if (phi_json_get(provider, key) != NULL) return true;
    while ((node = phi_json_next(&it)) != NULL)
        if (phi_str_equal(phi_json_str(phi_json_get(node, "model"), ""), phi_str_of(id)) &&
            phi_json_get(node, key) != NULL)
            return true;
    return false;
}

static inline bool apply_model(const app *a, phi_model *model) {
    return prices_fill(model, apply_given(a, model->id, "context_window"),
                       apply_given(a, model->id, "max_tokens"));
}

static inline int apply_cost_unknown(app *a, const phi_model *model) {
    text words = {NULL, 0, 0};
    int code;
    text_print(&words,
               "--max-cost: no prices are known for %s at this server (a configuration may give "
               "them: cost of [provider])",
               model->id);
    code = complain(a, words.at, NULL);
    free(words.at);
    return code;
}

/* Adds that this is planning to the system prompt. */
static inline void apply_plan(const phi_agent_desc *desc, text *prompt) {
    text_say(prompt, desc->system_prompt != NULL ? desc->system_prompt : "");
    text_say(prompt, wants_planning + (prompt->len > 0 ? 0 : 2));
}

/* What the command line answers for a call that the rules ask about. PHI_WAIT: nothing. */
static inline phi_verdict apply_answer(const app *a, phi_hook *hook) {
    phi_permission_call call = PHI_ZERO;
    call.tool_name = hook->tool_name;
    call.arguments = hook->arguments;
    call.source = hook->source;
    if (a->o.wants.plan) {
        hook->reply = phi_str_of("This is planning: only calls that read run.");
        return PHI_DENY;
    }
    if (a->o.wants.yes) return PHI_ALLOW;
    return a->answers != NULL &&
                   phi_permissions_check(a->answers, &call, NULL) == PHI_PERMISSION_ALLOW
               ? PHI_ALLOW
               : PHI_WAIT;
}

/* As much again: the payer's limits, or its budget where that is less. */
static inline phi_raise apply_more(phi_agent payer) {
    phi_agent_desc desc = PHI_ZERO;
    phi_raise by = PHI_ZERO;
    (void)phi_agent_get_desc(payer, &desc);
    by.turns = desc.limits.max_turns;
    by.tokens = desc.limits.max_tokens;
    by.duration_ms = desc.limits.max_duration_ms;
    by.cost = desc.limits.max_cost;
    by.requests = desc.budget.max_requests;
    if (desc.budget.max_tokens > 0 && desc.budget.max_tokens < by.tokens)
        by.tokens = desc.budget.max_tokens;
    if (desc.budget.max_cost > 0 && (by.cost <= 0 || desc.budget.max_cost < by.cost))
        by.cost = desc.budget.max_cost;
    return by;
}

/* 0, or the program's exit code. */
static inline int apply_wants(app *a) {
    const wants *w = &a->o.wants;
    phi_agent_desc desc = PHI_ZERO;
    text prompt = {NULL, 0, 0};
    uint32_t sets = 0;
    phi_status status = PHI_OK;
    (void)phi_agent_get_desc(a->agent, &desc);
    if (apply_model(a, &desc.model)) sets |= PHI_SET_MODEL;
    if (w->max_cost > 0 && !prices_has(&desc.model)) return apply_cost_unknown(a, &desc.model);
    if (w->max_turns > 0) desc.limits.max_turns = w->max_turns;
    if (w->max_cost > 0) desc.limits.max_cost = w->max_cost;
    if (w->max_turns > 0 || w->max_cost > 0) sets |= PHI_SET_LIMITS;
    if (w->thinks) {
        desc.thinking = w->thinking;
        sets |= PHI_SET_THINKING;
        if (!desc.model.reasoning && w->thinking != PHI_THINKING_OFF)
            note(a, STYLE_DIM, "phi: %s does not think: --thinking has no effect", desc.model.id);
    }
    if (w->plan) {
        apply_plan(&desc, &prompt);
        desc.system_prompt = prompt.at;
        sets |= PHI_SET_SYSTEM_PROMPT;
    }
    if (a->o.question.len == 0 && desc.compactor.start == NULL && !desc.compaction.disable) {
        desc.compactor = phi_compactor_model(NULL);
        if (desc.compaction.budget_threshold_pct <= 0)
            desc.compaction.budget_threshold_pct = 0.2; /* earlier: writing takes time */
        sets |= PHI_SET_COMPACTION;
    }
    if (sets != 0) status = phi_agent_set(a->agent, &desc, sets);
    if (!w->plan && a->tape.tape == NULL) { /* a tape is played where other rules may be kept */
        kept_open(&a->always, a->place.at);
        kept_into(&a->always, apply_permissions(a), &a->arena);
    }
    free(prompt.at);
    return status == PHI_OK ? 0 : complain(a, last_error(a), NULL);
}

#endif
