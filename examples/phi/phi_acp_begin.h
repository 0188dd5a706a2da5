/* phi_acp_begin.h - how a session begins, in steps that do not wait: its directory, its configuration, its agent. */
#ifndef PHI_ACP_BEGIN_H
#define PHI_ACP_BEGIN_H

#include "phi_acp_servers.h"
#include "phi_acp_show.h"
#include "phi_slash.h"

/* The directory as the lists of conversations name it, and its phi.toml. False: there is no such directory. */
static inline bool acp_directory(acp_session *s, const char *cwd, char *here) {
    app *a = &s->a;
    if (!places_is_directory(cwd)) return false;
    text_say(&a->place, cwd);
    while (a->place.len > 1 && a->place.at[a->place.len - 1] == '/' &&
           a->place.at[a->place.len - 2] != ':')
        text_remove(&a->place, a->place.len - 1, 1);
    text_print(&a->config_path, "%s/phi.toml", a->place.at);
    if (!places_whole(a->config_path.at, here)) return false;
    here[places_name(here) - here - 1] = '\0';
    if (here[0] == '\0') (void)snprintf(here, 2, "/");
    return true;
}

/* The phi.toml of the directory is used if a person has trusted it in a terminal. */
static inline void acp_look_at_found(app *a) {
    text place = {NULL, 0, 0};
    if (a->o.config != NULL || !places_is_file(a->config_path.at, false)) return;
    a->o.config = a->config_path.at;
    a->o.found = true;
    if (trust_open(&a->trust, a->o.config, &a->arena) && trust_kept(&a->trust, false)) return;
    text_note(&place, text_str(&a->config_path));
    (void)fprintf(stderr, "phi: %s is not used: %s\n", place.at,
                  a->trust.why != NULL ? a->trust.why
                                       : "nobody has trusted it (start phi there in a terminal)");
    free(place.at);
    a->o.config = NULL;
    a->o.found = false;
}

/* The file of the conversation: a new one, or the one of that id. False: a->said says why not. */
static inline bool acp_open_kept(acp *p, acp_session *s, const char *here) {
    app *a = &s->a;
    text words = {NULL, 0, 0};
    bool keeps = phi_json_get(phi_config_tree(a->config), "session") != NULL, good = true;
    size_t n;
    if (!keeps && !a->o.forget && sessions_open_in(&a->kept, here)) {
        if (s->loads)
            text_print(&a->kept.path, "%s/%s.jsonl", a->kept.directory.at, s->id.at);
        else {
            sessions_new(&a->kept); /* its name is one for each second */
            text_remove(&a->kept.path, a->kept.path.len - 6, 6);
            text_print(&a->kept.path, "-%u.jsonl", ++p->made);
        }
        if (s->loads && !places_is_file(a->kept.path.at, true))
            good = complain(a, "there is no such conversation in this directory", NULL) == 0;
        a->kept.listed = s->loads;
        a->o.session = a->kept.path.at;
        if (good && !files_open_session(&a->session, a->o.session, &words))
            good = complain(a, words.at, NULL) == 0;
        if (a->session.store.append != NULL) a->desc.store = &a->session.store;
    } else if (s->loads)
        good = complain(a, "conversations are not kept here", NULL) == 0;
    if (good && !s->loads && a->kept.path.len > 0) {
        n = strlen(places_name(a->kept.path.at));
        text_add(&s->id, places_name(a->kept.path.at), n - 6);
    } else if (!s->loads)
        text_print(&s->id, "%lu-%u", places_process(), ++p->made);
    free(words.at);
    return good;
}

/* The agents of a configuration begin to be made. */
static inline bool acp_begin_config(acp_session *s) {
    app *a = &s->a;
    phi_agents_desc with = PHI_ZERO;
    if (a->o.own) own_defaults(a, &s->prompts);
    with.base = &a->desc;
    with.ask_fn = acp_waits;
    with.ask_user_data = a;
    with.hide_keys = a->o.found;
    with.wait_for_servers = true;
    a->agents = phi_agents_from_config(a->rt, a->config, &with);
    return a->agents != NULL;
}

/* The agents of a configuration are made. False: a->said says what is wrong. */
static inline bool acp_end_config(acp_session *s) {
    app *a = &s->a;
    phi_agent_desc to = PHI_ZERO;
    const phi_config_problem *problem;
    size_t i;
    (void)commands_problems(a->config, a->agents, stderr, a->o.quiet);
    for (i = 0; (problem = phi_agents_problem_at(a->agents, i)) != NULL; i++)
        if (!problem->is_warning) return note_str(a, STYLE_BAD, problem->message), false;
    a->agent = phi_agents_get(a->agents, a->o.agent);
    if (a->agent.rt == NULL) return complain(a, "the file has no such agent", a->o.agent) == 0;
    a->desc.system_prompt = NULL; /* copied */
    if (!a->o.own || phi_json_path(phi_config_tree(a->config), "provider.model") != NULL)
        a->why = a->o.config;
    to.system_prompt = a->o.system;
    if (a->o.system != NULL) (void)phi_agent_set(a->agent, &to, PHI_SET_SYSTEM_PROMPT);
    if (a->o.model == NULL) return true;
    if (!choose_model(a, &to.model)) return false;
    (void)apply_model(a, &to.model);
    if (phi_agent_set(a->agent, &to, PHI_SET_MODEL) == PHI_OK) return true;
    return complain(a, "-m", last_error(a)) == 0;
}

/* The servers of the editor are connected: the agent is made, or begins to be made. */
static inline bool acp_make(acp *p, acp_session *s) {
    app *a = &s->a;
    acp_say_failed(s);
    a->desc.workspace = a->place.at;
    a->desc.tool_options.sources = s->sources;
    a->desc.tool_options.source_count = s->server_count;
    if (p->permissions(a) != 0) return false;
    if (a->config != NULL) return acp_begin_config(s);
    return agent_of_environment(a) == 0;
}

/* The commands that the chat has, too. */
static inline void acp_offer_commands(acp *p, const acp_session *s) {
    acp_wire *w = &p->wire;
    phi_json *update = acp_update(w, "available_commands_update"), *list, *each;
    size_t i;
    list = acp_in(w, update, "availableCommands", true);
    for (i = 0; i < SLASH_COMMANDS; i++) {
        if (slash_commands[i].run == slash_quit) continue;
        each = acp_add(w, list);
        acp_say(w, each, "name", slash_commands[i].name);
        acp_say(w, each, "description", slash_commands[i].words);
        if (slash_commands[i].takes[0] != '\0')
            acp_say(w, acp_in(w, each, "input", false), "hint", slash_commands[i].takes);
    }
    acp_show(w, s, update);
}

/* Answers the request that began the session. */
static inline void acp_begun(acp *p, acp_session *s) {
    phi_json *result = acp_object(&p->wire);
    while (s->calls != NULL) /* the process ended while they ran */
        acp_call_ended(&p->wire, s, text_str(&s->calls->id), NULL, false);
    if (!s->loads) acp_str(&p->wire, result, "sessionId", text_str(&s->id));
    acp_result(&p->wire, text_str(&s->asked), result);
    s->asked.len = 0;
    s->state = ACP_READY;
    if (s->said.len > 0 && !s->a.o.quiet) (void)fputs(s->said.at, stderr);
    s->said.len = 0;
    acp_offer_commands(p, s);
}

/* One step. False: it has failed, and a->said says why. */
static inline bool acp_step(acp *p, acp_session *s) {
    text words = {NULL, 0, 0};
    bool good = true;
    if (s->state == ACP_CONNECTING && !acp_connecting(s)) {
        if (!acp_make(p, s)) return false;
        s->state = ACP_MAKING;
    }
    if (s->state == ACP_MAKING &&
        (s->a.agents == NULL || phi_agents_step(s->a.agents) != PHI_BUSY)) {
        if (s->a.agents != NULL && !acp_end_config(s)) return false;
        if (apply_wants(&s->a) != 0) return false;
        good = files_use_session(&s->a.session, s->a.agent, &words);
        if (!good) (void)complain(&s->a, words.at, NULL);
        free(words.at);
        s->state = ACP_REPLAYING;
    }
    while (good && s->state == ACP_REPLAYING && !acp_full(&p->wire))
        if (!s->replays || !acp_replay(p, s)) acp_begun(p, s);
    return good;
}

#endif
