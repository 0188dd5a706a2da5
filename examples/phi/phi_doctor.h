/* phi_doctor.h - phi doctor: what works here and what does not, a line each, and how to mend it.

   A key is tried by asking its provider for the list of models, which costs nothing. Servers on this machine are asked at
   their usual ports. The configuration is checked as by phi check; the MCP servers of a file that is named or trusted
   are started. Nothing is sent to a provider whose key is not set. */
#ifndef PHI_DOCTOR_H
#define PHI_DOCTOR_H

#include "phi_apply.h"
#include "phi_servers.h"

enum { DOCTOR_MS = 10000, DOCTOR_NEAR_MS = 1000 };

/* "ok", "--" for what is not there and need not be, or "no", which makes the exit code 1. */
PHI_PRINTF(3, 4)
static inline void doctor_say(app *a, const char *how, const char *format, ...) {
    text words = {NULL, 0, 0}, safe = {NULL, 0, 0};
    va_list list;
    va_start(list, format);
    text_vprint(&words, format, list);
    va_end(list);
    text_print(&safe, "%s  ", how);
    text_note(&safe, text_str(&words));
    text_say(&safe, "\n");
    screen_write(&a->screen, safe.at, safe.len);
    if (strcmp(how, "no") == 0) a->code = FAILED;
    free(words.at);
    free(safe.at);
}

/* How to mend what a provider says. */
static inline const char *doctor_mend(const phi_failure *failure) {
    if (failure == NULL) return "it has no list of models";
    switch (failure->kind) {
    case PHI_FAILURE_AUTH: return "the key is refused: make another at the provider";
    case PHI_FAILURE_QUOTA: return "there is no credit: see the provider's billing page";
    case PHI_FAILURE_RATE_LIMITED: return "too many requests: wait, and try again";
    case PHI_FAILURE_NETWORK: return "not reached: see the network, a proxy, and the address";
    default: return "the provider has a fault: try again later";
    }
}

/* Asks for the list of models. True: it answers. */
static inline bool doctor_ask(app *a, const char *name, const phi_model *model, bool local) {
    phi_query_desc how = PHI_ZERO;
    phi_query *query;
    phi_query_info info;
    bool good;
    how.deadlines.total_ms = local ? DOCTOR_NEAR_MS : DOCTOR_MS;
    query = phi_models(a->rt, model, &how);
    while (query != NULL && !keys_signal && phi_query_get(query).status == PHI_BUSY)
        (void)phi_step(a->rt, 50);
    info = phi_query_get(query);
    good = query != NULL && info.status == PHI_OK;
    if (good)
        doctor_say(a, "ok", "%s: %u models at %s", name, (unsigned)info.model_count,
                   model->base_url != NULL ? model->base_url : "its server");
    else if (query == NULL && !local)
        doctor_say(a, "--", "%s: %s", name, last_error(a));
    else if (!local && info.failure != NULL)
        doctor_say(a, "no", "%s: %s (%s%.*s)", name, doctor_mend(info.failure),
                   info.failure->http_status > 0 ? "HTTP: " : "", PHI_ARG(info.failure->message));
    else if (!local)
        doctor_say(a, "no", "%s: %s", name, doctor_mend(NULL));
    phi_query_free(query);
    return good;
}

/* Keys of the environment, or the server of PHI_BASE_URL. True: one works. */
static inline bool doctor_keys(app *a) {
    text unset = {NULL, 0, 0}, name = {NULL, 0, 0};
    const char *why;
    phi_model model = pick_model(&why);
    bool good = false;
    size_t i;
    if (pick_env("PHI_BASE_URL") != NULL) return doctor_ask(a, "PHI_BASE_URL", &model, false);
    for (i = 0; i < PICK_PRESETS; i++) {
        const pick_preset *preset = &pick_presets[i];
        if (strcmp(preset->name, "interactions") == 0) continue; /* the key of "google" */
        if (pick_env(preset->key) == NULL) {
            text_print(&unset, "%s%s", unset.len > 0 ? ", " : "", preset->key);
            continue;
        }
        model = pick_make(preset, NULL, pick_env(preset->key));
        name.len = 0;
        text_print(&name, "%s (%s)", preset->name, preset->key);
        good = doctor_ask(a, name.at, &model, false) || good;
    }
    if (unset.len > 0) doctor_say(a, "--", "not set: %s", unset.at);
    free(unset.at);
    free(name.at);
    return good;
}

static inline bool doctor_near(app *a) {
    static const char *const names[] = {"ollama", "llama_cpp", "vllm", "lm_studio", "litellm"};
    bool good = false;
    size_t i;
    if (pick_env("PHI_BASE_URL") != NULL) return false; /* phi asks no other server then */
    for (i = 0; i < sizeof names / sizeof *names && !keys_signal; i++) {
        phi_model model = phi_model_preset(names[i], "x", NULL);
        good = doctor_ask(a, names[i], &model, true) || good;
    }
    if (!good)
        doctor_say(a, "--",
                   "no model server on this machine (ollama, llama.cpp, vLLM, LM Studio, LiteLLM)");
    return good;
}

/* The server of each provider of a configuration, once. True: one works. */
static inline bool doctor_providers(app *a, phi_agents *agents) {
    const phi_json *provider = phi_json_get(phi_config_tree(a->config), "provider");
    const phi_json *node = provider;
    phi_json_iter it = phi_json_each(phi_json_get(provider, "instances"));
    text name = {NULL, 0, 0};
    phi_str id = phi_str_of("default");
    bool good = false;
    while (node != NULL && !keys_signal) {
        phi_model model = PHI_ZERO;
        name.len = 0;
        text_print(&name, "{{provider.%.*s}}", PHI_ARG(id));
        if (phi_json_get(node, "model") != NULL &&
            phi_agents_model(agents, name.at, &model) == PHI_OK)
            good = doctor_ask(a, name.at, &model, false) || good;
        node = phi_json_next(&it);
        id = phi_json_str(phi_json_get(node, "id"), "");
    }
    free(name.at);
    return good;
}

/* Starts the MCP servers of the first agent, and says how they are. */
static inline void doctor_servers(app *a) {
    phi_agents_desc with = PHI_ZERO;
    phi_agent_desc base = PHI_ZERO;
    phi_mcp *mcp;
    size_t i;
    base.model = pick_model(&a->why);
    with.base = &base;
    with.hide_keys = a->o.found;
    if (phi_json_path(phi_config_tree(a->config), "mcp.instances") == NULL) return;
    a->agents = commands_agents(a->rt, a->config, with, false);
    a->agent = phi_agents_get(a->agents, NULL);
    if (a->agent.rt == NULL) /* a server that is required */
        doctor_say(a, "no",
                   "an MCP server that is required does not start: phi says why at its start");
    for (i = 0; (mcp = servers_at(a->agent, i)) != NULL; i++) {
        text row = {NULL, 0, 0};
        phi_mcp_info info = phi_mcp_get_info(mcp);
        servers_row(mcp, &row);
        if (info.state != PHI_MCP_READY) servers_last_words(&info, &row);
        doctor_say(a, info.state == PHI_MCP_READY ? "ok" : "no", "MCP server %s", row.at);
        free(row.at);
    }
}

/* True: a provider of the configuration works. */
static inline bool doctor_config(app *a) {
    phi_agents *agents;
    size_t errors;
    bool good = false;
    if (a->own.unsafe)
        doctor_say(a, "no", "%s: others can write it, or it cannot be read (chmod 600)",
                   a->own.path.at);
    if (a->config == NULL) {
        doctor_say(a, "--",
                   "no configuration: ./phi.toml, -c FILE, or phi/config.toml of your settings");
        return false;
    }
    agents = commands_dry(a->rt, a->config);
    errors = commands_problems(a->config, agents, stdout, true);
    (void)fflush(stdout);
    doctor_say(a, errors > 0 ? "no" : "ok", "configuration %s%s", a->o.config,
               errors > 0 ? ": see above" : "");
    if (errors == 0) good = doctor_providers(a, agents);
    phi_agents_free(agents);
    if (errors == 0 && a->trust.why == NULL && (!a->o.found || trust_kept(&a->trust, false)))
        doctor_servers(a);
    else if (errors == 0)
        doctor_say(a, "--", "./phi.toml is not trusted yet: its MCP servers are not started");
    return good;
}

static inline void doctor_folders(app *a) {
    text place = {NULL, 0, 0};
    bool good = sessions_open(&a->kept);
    doctor_say(a, good ? "ok" : "no", "conversations: %s",
               good ? a->kept.directory.at
                    : "their folder cannot be written ($XDG_STATE_HOME, default ~/.local/state)");
    good = trust_place("trusted", &place) && place.len > 8;
    if (good) text_remove(&place, place.len - 8, 8); /* the folder alone */
    good = good && access(place.at, W_OK) == 0;
    doctor_say(a, good ? "ok" : "no", "settings: %s",
               good ? place.at
                    : "their folder cannot be written ($XDG_CONFIG_HOME, default ~/.config)");
    free(place.at);
}

#endif
