/* from_config.c - agents out of a configuration file: a writer drafts, a critic judges.

   Every fault of the file is printed, with its place. The model is a scripted one, so that no key is
   needed: it is the base of every agent. Leave `with.base` out, and the file's provider answers.
   usage: from_config [file] */
#define PHI_IMPLEMENTATION
#include "phi_tools.h"

#include <stdio.h>

static void print_problem(const phi_config_problem *p) { fprintf(stderr, "%s\n", p->message.at); }

/* The answer of an agent, in `out`. */
static bool ask(phi_runtime *rt, phi_agent agent, const char *prompt, char *out, size_t size) {
    phi_event ev;
    size_t n = 0;
    int runs;
    if (phi_prompt(agent, prompt) != PHI_OK) return false;
    do {
        runs = phi_step(rt, -1);
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_TEXT && n < size)
                n += (size_t)snprintf(out + n, size - n, "%.*s", PHI_ARG(ev.text));
    } while (runs > 0);
    return n > 0;
}

int main(int argc, char **argv) {
    phi_runtime_desc has = PHI_ZERO;
    phi_runtime *rt;
    phi_config_desc from = PHI_ZERO;
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc base = PHI_ZERO;
    const phi_config_problem *problem;
    phi_config *config;
    phi_agents *agents;
    phi_mock *mock;
    char draft[400] = "", verdict[500] = "";
    size_t i;
    bool done = false;
    has.features = PHI_ALL_FEATURES; /* a file may want any of them */
    rt = phi_runtime_new(&has);
    from.path = argc > 1 ? argv[1] : "examples/from_config.toml";
    from.environment = true;
    from.sections = phi_config_sections();
    mock = phi_mock_new(rt);
    if (mock == NULL) return 1;
    phi_mock_text(mock, "The sea is calm tonight.");
    phi_mock_text(mock, "\"The sea is calm tonight.\" is short and clear.");
    base.provider = &mock->provider;
    with.base = &base;
    config = phi_config_load(&from);
    agents = phi_agents_from_config(rt, config, &with);
    while (phi_agents_step(agents) == PHI_BUSY) (void)phi_step(rt, 10);
    for (i = 0; (problem = phi_agents_problem_at(agents, i)) != NULL; i++) print_problem(problem);
    if (phi_agents_step(agents) == PHI_OK) {
        done = ask(rt, phi_agents_get(agents, "writer"), "A line about the sea.", draft,
                   sizeof draft) &&
               ask(rt, phi_agents_get(agents, "critic"), draft, verdict, sizeof verdict);
        printf("writer: %s\ncritic: %s\n", draft, verdict);
    }
    phi_agents_free(agents); /* before the config and the runtime */
    phi_config_free(config);
    phi_runtime_free(rt);
    return done ? 0 : 1;
}
