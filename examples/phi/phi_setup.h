/* phi_setup.h - the agent of the command without a configuration, and the file of its conversation. */
#ifndef PHI_SETUP_H
#define PHI_SETUP_H

#include "phi_apply.h"
#include "phi_doctor.h"
#include "phi_project.h"
#include "phi_toolset.h"

/* The model of -m. False: there is none, and it was said. */
static inline bool choose_model(app *a, phi_model *model) {
    text words = {NULL, 0, 0};
    const char *wrong = choice_model(a->agents, a->o.model, &a->why, model, &words);
    if (wrong != NULL) (void)complain(a, wrong, a->o.model);
    free(words.at);
    return wrong == NULL;
}

/* A prompt that the caller frees when the agent has been made. */
static inline void default_prompt(app *a, text *prompt) {
    const char *file;
    if (a->o.system == NULL) {
        text_say(prompt,
                 "You are a helpful assistant in a terminal. Be brief. Your tools work in the "
                 "current directory.\n");
        if (a->tape.tape == NULL)
            project_place(prompt, app_place(a)); /* a tape is played elsewhere, and later */
        file = project_instructions(prompt, app_place(a));
        if (file != NULL) note(a, STYLE_DIM, "phi: the model reads %s", file);
    }
    a->desc.system_prompt = a->o.system != NULL ? a->o.system : prompt->at;
}

/* Nobody has named a model, and no key is set: a local server may be there. */
static inline void default_guess(app *a) {
    a->guess =
        a->o.model == NULL && a->desc.model.api_key == NULL && pick_env("PHI_BASE_URL") == NULL;
    a->desc.retry.disable = a->guess; /* nobody said that a server is there */
}

/* Without a configuration: a model whose key is set, and the built-in tools. */
static inline int agent_of_environment(app *a) {
    text prompt = {NULL, 0, 0};
    if (!choose_model(a, &a->desc.model)) return UNUSABLE;
    default_guess(a);
    setup_tools(a);
    default_prompt(a, &prompt);
    a->agent = phi_agent_new(a->rt, &a->desc); /* copies the prompt */
    a->desc.system_prompt = NULL;
    free(prompt.at);
    return a->agent.rt != NULL ? 0 : complain(a, last_error(a), NULL);
}

/* With the user's own configuration alone: what it does not say is as without one. */
static inline void own_defaults(app *a, text *prompt) {
    const phi_json *tree = phi_config_tree(a->config);
    if (phi_json_path(tree, "provider.model") == NULL) {
        a->desc.model = pick_model(&a->why);
        default_guess(a);
    }
    if (phi_json_path(tree, "tools.enabled") == NULL && phi_json_path(tree, "agent.tools") == NULL)
        setup_tools(a);
    default_prompt(a, prompt);
}

/* The configuration of the project, with the tables that only the user's own one has; or the user's alone. 0, or the
   program's exit code. */
static inline int load_config(app *a) {
    trust *found = a->o.found && a->o.config != NULL ? &a->trust : NULL;
    bool has = own_open(&a->own);
    size_t wrong;
    if (a->own.unsafe)
        note(a, STYLE_BAD,
             "phi: %s is not used: it is a link, or others can write it, or it cannot be read",
             a->own.path.at);
    if (has && found != NULL && found->unknown_address) {
        note(a, STYLE_DIM,
             "phi: your own configuration is left out: ./phi.toml names a server that "
             "you have not named");
        has = false;
    }
    if (a->o.config == NULL && !has)
        return a->o.agent != NULL ? complain(a, "--agent is one of a file: -c FILE", NULL) : 0;
    if (has) a->config = own_load_text(a->own.path.at, &a->own.file, NULL);
    a->o.own = a->o.config == NULL;
    if (a->o.own) a->o.config = a->own.path.at;
    if (a->o.own) return 0;
    wrong = has ? commands_problems(a->config, NULL, stderr, true) : 0;
    phi_config_free(a->config);
    a->config = NULL;
    if (wrong > 0) return UNUSABLE;
    if (has) a->config = own_load_both(&a->own, a->o.config, found, &a->arena);
    if (a->config != NULL && own_fits(a->config)) return 0;
    if (a->config != NULL)
        note(a, STYLE_DIM, "phi: your own configuration does not fit this one, and is left out");
    phi_config_free(a->config);
    a->config = commands_load(a->o.config, found);
    return 0;
}

/* The file of the conversation: the one that an option names, or one that phi keeps by itself. A tape holds a run from
   its beginning, and a configuration may keep its own sessions. */
static inline int open_session(app *a) {
    text words = {NULL, 0, 0};
    bool keeps = phi_json_get(phi_config_tree(a->config), "session") != NULL;
    int code = 0;
    if (a->o.session != NULL && strpbrk(a->o.session, "/\\") == NULL && sessions_open(&a->kept) &&
        sessions_find(&a->kept, a->o.session))
        a->o.session = a->kept.path.at;
    else if (a->o.session == NULL && !a->o.forget && a->tape.tape == NULL && !keeps &&
             sessions_open(&a->kept)) {
        if (a->o.resume && !sessions_newest(&a->kept))
            code = complain(a, "no conversation was kept in this directory", NULL);
        if (!a->o.resume) sessions_new(&a->kept);
        a->o.session = a->kept.path.at;
    } else if (a->o.resume)
        code = complain(a, "--continue: nothing is kept here", NULL);
    if (code == 0 && !files_open_session(&a->session, a->o.session, &words))
        code = complain(a, words.at, NULL);
    if (a->session.store.append != NULL) a->desc.store = &a->session.store;
    free(words.at);
    return code;
}

/* phi doctor: the program's exit code. */
static inline int doctor(app *a) {
    phi_runtime_desc desc = PHI_ZERO;
    const char *why = "";
    bool answers;
    desc.use_environment = true, desc.ca_file = pick_env("SSL_CERT_FILE");
    desc.features = PHI_ALL_FEATURES;
    desc.error = &why;
    if ((a->rt = phi_runtime_new(&desc)) == NULL) return complain(a, why, NULL);
    if (a->o.found) (void)trust_open(&a->trust, a->o.config, &a->arena);
    answers = doctor_keys(a);
    answers = doctor_near(a) || answers;
    if (load_config(a) != 0) a->code = FAILED; /* it has said why */
    answers = doctor_config(a) || answers;
    if (!answers)
        doctor_say(a, "no",
                   "no model answers: set the variable of a provider's key (phi models), or "
                   "start a local server (ollama serve)");
    doctor_folders(a);
    return keys_signal ? INTERRUPTED : a->code;
}

#endif
