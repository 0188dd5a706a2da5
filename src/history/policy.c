/* policy.c - the presets, and every default in one place. */
#include "history/project_in.h"

/* Spec, threads and strategies, part B. */
enum {
    PHI__POLICY_INPUT = 8000,
    PHI__POLICY_RESERVE = 2000,
    PHI__POLICY_TURNS = 3,
    PHI__POLICY_SHORT_INPUT = 6000,
    PHI__POLICY_SHORT_TURNS = 2,
    PHI__POLICY_LONG_INPUT = 100000,
    PHI__POLICY_LONG_TURNS = 10,
    PHI__POLICY_TOOL_TURNS = 5,
    PHI__POLICY_WINDOW = 128000, /* of a model that does not say: as agents take it */
    PHI__POLICY_OUTPUT = 8192    /* the same */
};

PHI__FN phi_policy phi__policy_filled(const phi_policy *policy) {
    phi_policy p;
    memset(&p, 0, sizeof p);
    if (policy != NULL) p = *policy;
    if (p.max_input_tokens == 0) p.max_input_tokens = PHI__POLICY_INPUT;
    if (p.reserve_output_tokens == 0) p.reserve_output_tokens = PHI__POLICY_RESERVE;
    if (p.no_reserve) p.reserve_output_tokens = 0;
    if (p.keep_last_turns == 0) p.keep_last_turns = PHI__POLICY_TURNS;
    if (p.keep_no_turns) p.keep_last_turns = 1;
    if (p.summary_role == (phi_role)0) p.summary_role = PHI_ROLE_USER;
    if (p.include == 0) p.include = PHI_INCLUDE_ALL;
    return p;
}

PHI__FN const char *phi__policy_fault(const phi_policy *policy) {
    if ((unsigned)policy->summaries > (unsigned)PHI_SUMMARIES_WRITE)
        return "policy.summaries is none of its values";
    if (policy->summary_role != (phi_role)0 && policy->summary_role != PHI_ROLE_USER &&
        policy->summary_role != PHI_ROLE_ASSISTANT)
        return "policy.summary_role: expected user or assistant";
    if ((policy->include & ~(uint32_t)PHI_INCLUDE_ALL) != 0)
        return "policy.include: expected PHI_INCLUDE_ bits";
    return NULL;
}

/* For a model whose output may be as large as its window, half of the window is for input. */
static void phi__policy_for_model(const phi_model *model, phi_policy *p) {
    uint64_t window = PHI__POLICY_WINDOW, output = PHI__POLICY_OUTPUT;
    if (model != NULL && model->context_window != 0) window = model->context_window;
    if (model != NULL && model->max_tokens != 0) output = model->max_tokens;
    p->max_input_tokens = window;
    p->reserve_output_tokens = output < window / 2 ? output : window / 2;
    p->no_reserve = p->reserve_output_tokens == 0;
}

/* ---- public ---- */

PHI_API phi_policy phi_policy_of(phi_policy_kind kind, const phi_model *model) {
    phi_policy p = phi__policy_filled(NULL);
    switch (kind) {
    case PHI_POLICY_SHORT_CONTEXT:
        p.max_input_tokens = PHI__POLICY_SHORT_INPUT;
        p.keep_last_turns = PHI__POLICY_SHORT_TURNS;
        break;
    case PHI_POLICY_LONG_CONTEXT:
        p.max_input_tokens = PHI__POLICY_LONG_INPUT;
        p.keep_last_turns = PHI__POLICY_LONG_TURNS;
        break;
    case PHI_POLICY_TOOL_FOCUSED:
        p.keep_last_turns = PHI__POLICY_TOOL_TURNS;
        p.include = PHI_INCLUDE_MESSAGES | PHI_INCLUDE_TOOLS;
        p.summaries = PHI_SUMMARIES_NONE;
        break;
    case PHI_POLICY_FOR_MODEL: phi__policy_for_model(model, &p); break;
    case PHI_POLICY_DEFAULT: break;
    }
    return p;
}
