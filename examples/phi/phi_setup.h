/* phi_setup.h - the agent of the command without a configuration, and the file of its conversation. */
#ifndef PHI_SETUP_H
#define PHI_SETUP_H

#include "phi_app.h"
#include "phi_project.h"

/* The model of -m. False: there is none, and it was said. */
static inline bool choose_model(app *a, phi_model *model) {
    text words = {NULL, 0, 0};
    const char *wrong = choice_model(a->agents, a->o.model, &a->why, model, &words);
    if (wrong != NULL) (void)complain(a, wrong, a->o.model);
    free(words.at);
    return wrong == NULL;
}

/* ---- tools ---- */

static folded *setup_folded; /* notes what the tools change */
static phi_flow (*setup_starts[2])(void *user_data, phi_call call, phi_str arguments);

/* Begins edit_file or write_file. */
static inline phi_flow setup_start(void *user_data, phi_call call, phi_str arguments) {
    phi_call_info info = phi_call_get_info(call);
    change_call change = PHI_ZERO;
    change.tool = info.tool_name;
    change.arguments = arguments;
    change.reads = true;
    folded_note(setup_folded, info.id, &change, false);
    return setup_starts[phi_str_is(info.tool_name, "edit_file")](user_data, call, arguments);
}

/* The built-in tools and todo_write, which changes nothing: it runs at once. */
static inline void setup_tools(app *a) {
    static const phi_permission_rule allows = {
        .verdict = PHI_PERMISSION_ALLOW, .tool = todo_name, .source = ""};
    phi_tools_desc tools = PHI_ZERO;
    size_t i;
    tools.workspace = ".";
    (void)phi_tools_init(&a->set, &tools);
    setup_folded = &a->folded;
    for (i = 0; i < a->set.count; i++) {
        phi_tool *tool = &a->tools[i];
        bool edits = strcmp(a->set.tools[i].name, "edit_file") == 0;
        *tool = a->set.tools[i];
        if (a->o.question.len > 0 || (!edits && strcmp(tool->name, "write_file") != 0)) continue;
        setup_starts[edits] = tool->start;
        tool->start = setup_start;
    }
    a->tools[i] = todo_tool(&a->todo);
    a->desc.tools = a->tools;
    a->desc.tool_count = i + 1;
    if (a->permissions != NULL) (void)phi_permissions_add(a->permissions, &allows, 1);
}

/* Without a configuration: a model whose key is set, and the built-in tools. */
static inline int agent_of_environment(app *a) {
    text prompt = {NULL, 0, 0};
    const char *file;
    if (!choose_model(a, &a->desc.model)) return UNUSABLE;
    a->guess =
        a->o.model == NULL && a->desc.model.api_key == NULL && pick_env("PHI_BASE_URL") == NULL;
    a->desc.retry.disable = a->guess; /* nobody said that a server is there */
    setup_tools(a);
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
