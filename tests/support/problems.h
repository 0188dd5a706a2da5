/* problems.h - what is wrong with a configuration and its agents, for checks in one line. */
#ifndef PHI_TESTS_SUPPORT_PROBLEMS_H
#define PHI_TESTS_SUPPORT_PROBLEMS_H

#include "config/config_agents.h"
#include "config/config_own_in.h"

static inline phi_status config_status(const phi_config *config) {
    const phi_config_problem *error = phi__prob_error(config != NULL ? &config->problems : NULL);
    return error != NULL ? error->status : PHI_OK;
}

static inline const char *config_message(const phi_config *config) {
    const phi_config_problem *error = phi__prob_error(config != NULL ? &config->problems : NULL);
    return error != NULL ? error->message.at : "";
}

static inline bool config_problem(const phi_config *config, size_t i, phi_config_problem *out) {
    const phi_config_problem *problem = phi_config_problem_at(config, i);
    if (problem != NULL) *out = *problem;
    return problem != NULL;
}

static inline size_t config_problem_count(const phi_config *config) {
    size_t n = 0;
    while (phi_config_problem_at(config, n) != NULL) n++;
    return n;
}

/* Those that are not kept, too. */
static inline size_t config_error_count(const phi_config *config) {
    return config != NULL ? config->problems.errors : 0;
}

static inline bool agents_problem(const phi_agents *agents, size_t i, phi_config_problem *out) {
    const phi_config_problem *problem = phi_agents_problem_at(agents, i);
    if (problem != NULL) *out = *problem;
    return problem != NULL;
}

static inline size_t agents_problem_count(const phi_agents *agents) {
    size_t n = 0;
    while (phi_agents_problem_at(agents, n) != NULL) n++;
    return n;
}

static inline size_t agents_count(const phi_agents *agents) {
    size_t n = 0;
    while (phi_agents_at(agents, n) != NULL) n++;
    return n;
}

/* rt NULL: there is none. */
static inline phi_agent agents_at(const phi_agents *agents, size_t i) {
    const phi_named_agent *named = phi_agents_at(agents, i);
    phi_agent none = PHI_ZERO;
    return named != NULL ? named->agent : none;
}

static inline phi_str agents_name(const phi_agents *agents, size_t i) {
    const phi_named_agent *named = phi_agents_at(agents, i);
    return named != NULL ? named->name : phi_str_of("");
}

#endif
