/* phi_commands.h - what phi.c does beside talking: it checks a configuration, lists models, and writes a schema. Copy
   what you need of it. */
#ifndef PHI_COMMANDS_H
#define PHI_COMMANDS_H

#include "phi_tools.h"

#include "phi_keys.h"
#include "phi_text.h"
#include "phi_trust.h"
#include "../pick_model.h"

#include <errno.h>

/* found: the file of the directory, as it was shown; NULL: another one. */
static inline phi_config *commands_load(const char *path, trust *found) {
    phi_config_desc from = PHI_ZERO;
    from.path = path;
    from.environment = true;
    if (found != NULL) from.variable_fn = trust_variable;
    from.user_data = found;
    if (found != NULL) from.text = text_str(&found->file);
    from.sections = phi_config_sections();
    return phi_config_load(&from);
}

static inline size_t commands_problem(text *out, const phi_config_problem *problem, bool quiet) {
    if (problem->is_warning && quiet) return 0;
    text_note(out, problem->message);
    text_say(out, "\n");
    return problem->is_warning ? 0 : 1;
}

/* Shows the problems of a configuration, or of its agents (NULL: none yet), which have those of the file. How many are
   errors. */
static inline size_t commands_problems(const phi_config *config, const phi_agents *agents, FILE *to,
                                       bool quiet) {
    const phi_config_problem *problem;
    text out = {NULL, 0, 0};
    size_t i, errors = 0;
    for (i = 0; (problem = agents != NULL ? phi_agents_problem_at(agents, i)
                                          : phi_config_problem_at(config, i)) != NULL;
         i++)
        errors += commands_problem(&out, problem, quiet);
    if (out.len > 0) (void)fwrite(out.at, 1, out.len, to);
    free(out.at);
    return errors;
}

/* Waits for MCP servers too: the first request is to offer their tools. A signal ends the waiting, and after PLAY_MS the
   end of a tape, which may lack a server's start: its clock stands still then, and no timeout passes. */
static inline phi_agents *commands_agents(phi_runtime *rt, const phi_config *config,
                                          phi_agents_desc with, bool plays) {
    enum { PLAY_MS = 5000 };
    uint64_t began = keys_now_ms();
    phi_agents *agents;
    with.wait_for_servers = true;
    agents = phi_agents_from_config(rt, config, &with);
    while (!keys_signal && phi_agents_step(agents) == PHI_BUSY) {
        (void)phi_step(rt, 10);
        if (!plays) continue;
        if (keys_now_ms() - began > PLAY_MS) break;
        keys_sleep(1);
    }
    return agents;
}

/* Begins nothing: no process, no connection, no file of a store. */
static inline phi_agents *commands_dry(phi_runtime *rt, const phi_config *config) {
    phi_agents_desc with = PHI_ZERO;
    with.check_only = true;
    return commands_agents(rt, config, with, false);
}

static inline int commands_check(phi_runtime *rt, const char *path) {
    phi_config *config = commands_load(path, NULL);
    phi_agents *agents = commands_dry(rt, config);
    size_t errors = commands_problems(config, agents, stdout, false);
    text name = {NULL, 0, 0};
    text_note(&name, phi_str_of(path));
    if (errors == 0) (void)printf("%s: ok\n", name.at);
    free(name.at);
    phi_agents_free(agents);
    phi_config_free(config);
    return errors > 0 ? 2 : 0;
}

/* The presets: which key each wants, and whether it is set. */
static inline int commands_presets(void) {
    const char *why;
    phi_model model = pick_model(&why);
    size_t i;
    for (i = 0; i < PICK_PRESETS; i++)
        (void)printf("%-13s %-30s %s%s\n", pick_presets[i].name, pick_presets[i].id,
                     pick_presets[i].key, pick_env(pick_presets[i].key) != NULL ? " (set)" : "");
    (void)printf("\nwithout -m: %s (%s)\n", model.id, why);
    return 0;
}

/* A name for -m, what it means, and the id of that model where both are not the same. */
static inline void commands_name(phi_agents *agents, const char *before, phi_str name,
                                 const char *after, phi_str means) {
    text whole = {NULL, 0, 0}, out = {NULL, 0, 0};
    phi_model model = PHI_ZERO;
    text_print(&whole, "%s%.*s%s", before, PHI_ARG(name), after);
    text_fit(&out, text_str(&whole), 100);
    text_print(&out, "%*s", out.len < 22 ? (int)(22 - out.len) : 1, "");
    text_fit(&out, means, 120);
    if (phi_agents_model(agents, whole.at, &model) == PHI_OK &&
        !phi_str_equal(phi_str_of(model.id), means)) {
        text_say(&out, " = ");
        text_fit(&out, phi_str_of(model.id), 120);
    }
    (void)puts(out.at);
    free(whole.at);
    free(out.at);
}

static inline void commands_provider(phi_agents *agents, phi_str id, const phi_json *provider) {
    bool written = id.len > 1 && memcmp(id.at, "{{", 2) == 0; /* as a reference already */
    phi_str model = phi_json_str(phi_json_get(provider, "model"), "");
    if (provider != NULL)
        commands_name(agents, written ? "" : "{{provider.", id, written ? "" : "}}", model);
}

/* The aliases and providers of a file. */
static inline int commands_models(phi_runtime *rt, const char *path) {
    phi_config *config = path != NULL ? commands_load(path, NULL) : NULL;
    phi_agents *agents = config != NULL ? commands_dry(rt, config) : NULL;
    size_t errors = config != NULL ? commands_problems(config, agents, stderr, true) : 0;
    const phi_json *tree = phi_config_tree(config);
    phi_json_iter it = phi_json_each(phi_json_get(tree, "models"));
    phi_json *node;
    if (config == NULL) return commands_presets();
    while ((node = phi_json_next(&it)) != NULL)
        commands_name(agents, ":", it.key, "", phi_json_str(node, ""));
    node = phi_json_get(tree, "provider");
    if (phi_json_get(node, "model") != NULL) commands_provider(agents, phi_str_of("default"), node);
    it = phi_json_each(phi_json_get(node, "instances"));
    while ((node = phi_json_next(&it)) != NULL)
        commands_provider(agents, phi_json_str(phi_json_get(node, "id"), ""), node);
    phi_agents_free(agents);
    phi_config_free(config);
    return errors > 0 ? 2 : 0;
}

static inline int commands_schema(void) {
    phi_arena arena;
    phi_str schema;
    phi_status status;
    phi_arena_init(&arena, NULL, 0);
    status = phi_config_schema(phi_config_sections(), &arena, &schema);
    if (status == PHI_OK) (void)printf("%.*s\n", PHI_ARG(schema));
    phi_arena_free(&arena);
    return status == PHI_OK ? 0 : 1;
}

/* The program's exit code. */
static inline int commands(const char *name, const char *path) {
    const char *why = "";
    phi_runtime_desc desc = PHI_ZERO;
    phi_runtime *rt;
    int code = 1;
    desc.features = PHI_ALL_FEATURES; /* a file may want any of them */
    desc.error = &why;
    rt = phi_runtime_new(&desc);
    if (rt == NULL)
        (void)fprintf(stderr, "phi: %s\n", why);
    else if (strcmp(name, "schema") == 0)
        code = commands_schema();
    else
        code = strcmp(name, "check") == 0 ? commands_check(rt, path) : commands_models(rt, path);
    phi_runtime_free(rt);
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    if (errno != EPIPE) perror("phi: standard output");
    return errno == EPIPE ? 141 : 1;
}

#endif
