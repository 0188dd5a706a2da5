/* made.h - agents out of the text of a configuration, on a rig. */
#ifndef PHI_TESTS_SUPPORT_MADE_H
#define PHI_TESTS_SUPPORT_MADE_H

#include "config/config_agents.h"
#include "support/problems.h"
#include "support/rig.h"

typedef struct made {
    rig *r;
    phi_config *config;
    phi_agents *agents;
    phi_status status; /* of the last phi_agents_step */
} made;

static inline const char *made_variable(void *user_data, const char *name) {
    (void)user_data;
    if (strcmp(name, "MADE_PLACE") == 0) return "hidden\nplace";
    return strcmp(name, "MADE_KEY") == 0 ? "secret-key-of-the-test" : NULL;
}

/* Loads and steps until it is not busy. `text` is TOML where it does not begin with "{"; path: its
   name, for relative paths (NULL: none). False: no memory for an object. */
static inline bool made_load(made *m, rig *r, const char *text, const char *path,
                             const phi_config_section *const *sections,
                             const phi_agents_desc *with) {
    phi_config_desc desc = PHI_ZERO;
    int steps = 0;
    memset(m, 0, sizeof *m);
    m->r = r;
    desc.allocator = test_allocator();
    desc.text = phi_str_of(text);
    desc.path = path;
    desc.format = text[0] == '{' ? PHI_CONFIG_JSON : PHI_CONFIG_TOML;
    desc.variable_fn = made_variable;
    desc.sections = sections;
    m->config = phi_config_load(&desc);
    m->agents = phi_agents_from_config(rig_runtime(r), m->config, with);
    m->status = PHI_NO_MEMORY;
    if (m->agents == NULL) return false;
    while ((m->status = phi_agents_step(m->agents)) == PHI_BUSY && steps++ < 20000)
        (void)rig_step(r);
    return true;
}

static inline void made_free(made *m) {
    phi_agents_free(m->agents);
    phi_config_free(m->config);
}

/* The messages of all problems, a line each, of the config and then of the agents; in a static
   buffer. */
static inline const char *made_problems(const made *m) {
    static char out[16384];
    phi_config_problem p;
    size_t n = 0, i;
    out[0] = '\0';
    for (i = 0; (m->agents != NULL ? agents_problem(m->agents, i, &p)
                                   : config_problem(m->config, i, &p)) &&
                n < sizeof out - 1024;
         i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s\n", p.message.at);
    return out;
}

/* The desc of an agent as it is. */
static inline phi_agent_desc made_desc(const made *m, const char *name) {
    phi_agent_desc desc = PHI_ZERO;
    CHECK_EQ_INT(phi_agent_get_desc(phi_agents_get(m->agents, name), &desc), PHI_OK);
    return desc;
}

#endif
