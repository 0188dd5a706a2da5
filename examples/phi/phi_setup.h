/* phi_setup.h - the agent of the command without a configuration, and the file of its conversation. */
#ifndef PHI_SETUP_H
#define PHI_SETUP_H

#include "phi_app.h"
#include "phi_project.h"
#include "phi_url.h"

/* The model of -m. False: there is none, and it was said. */
static inline bool choose_model(app *a, phi_model *model) {
    text words = {NULL, 0, 0};
    const char *wrong = choice_model(a->agents, a->o.model, &a->why, model, &words);
    if (wrong != NULL) (void)complain(a, wrong, a->o.model);
    free(words.at);
    return wrong == NULL;
}

/* Without a configuration: a model whose key is set, and the built-in tools. */
static inline int agent_of_environment(app *a) {
    phi_tools_desc tools = PHI_ZERO;
    text prompt = {NULL, 0, 0};
    const char *file;
    if (!choose_model(a, &a->desc.model)) return UNUSABLE;
    a->guess =
        a->o.model == NULL && a->desc.model.api_key == NULL && pick_env("PHI_BASE_URL") == NULL;
    a->desc.retry.disable = a->guess; /* nobody said that a server is there */
    tools.workspace = ".";
    (void)phi_tools_init(&a->set, &tools);
    if (a->o.system == NULL) {
        text_say(&prompt,
                 "You are a helpful assistant in a terminal. Be brief. Your tools work in the "
                 "current directory.\n");
        if (a->tape.tape == NULL)
            project_place(&prompt); /* a tape is played elsewhere, and later */
        file = project_instructions(&prompt);
        if (file != NULL) note(a, STYLE_DIM, "phi: the model reads %s", file);
    }
    a->desc.system_prompt = a->o.system != NULL ? a->o.system : prompt.at;
    memcpy(a->tools, a->set.tools, a->set.count * sizeof *a->tools);
    a->tools[a->set.count] = url_tool(&a->asked);
    a->desc.tools = a->tools;
    a->desc.tool_count = a->set.count + 1;
    a->agent = phi_agent_new(a->rt, &a->desc); /* copies the prompt */
    a->desc.system_prompt = NULL;
    free(prompt.at);
    return a->agent.rt != NULL ? 0 : complain(a, last_error(a), NULL);
}

/* The file of the conversation: the one that an option names, or one that phi keeps by itself. A tape holds a run from
   its beginning, and a configuration may keep its own sessions. */
static inline int open_session(app *a) {
    text words = {NULL, 0, 0};
    bool own = phi_json_get(phi_config_tree(a->config), "session") != NULL;
    int code = 0;
    if (a->o.session == NULL && !a->o.forget && a->tape.tape == NULL && !own &&
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

#endif
