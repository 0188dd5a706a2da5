/* phi_acp_methods.h - what an editor asks for: the methods of the protocol that phi acp has. */
#ifndef PHI_ACP_METHODS_H
#define PHI_ACP_METHODS_H

#include "phi_acp_ask.h"
#include "phi_acp_list.h"
#include "phi_acp_prompt.h"
#include "phi_prompt.h"

/* ---- initialize ---- */

/* What the model of the command line takes. That of a configuration is known later, and what it does not take is refused
   then. */
static inline void acp_takes(acp *p, bool *images, bool *sounds) {
    phi_agent_desc desc = PHI_ZERO;
    phi_agent agent;
    *images = *sounds = p->first->o.config != NULL;
    if (*images || !choose_model(p->first, &desc.model)) return;
    agent = phi_agent_new(p->first->rt, &desc);
    if (agent.rt == NULL) return;
    *images = phi_agent_takes(agent, PHI_CONTENT_IMAGE, phi_str_of("image/png"));
    *sounds = phi_agent_takes(agent, PHI_CONTENT_AUDIO, phi_str_of("audio/wav"));
    phi_agent_free(agent);
}

static inline void acp_initialize(acp *p, const acp_message *m) {
    acp_wire *w = &p->wire;
    phi_json *result = acp_object(w), *can = acp_object(w), *part;
    bool images, sounds;
    acp_takes(p, &images, &sounds);
    acp_put(w, result, "protocolVersion", phi_json_new_int(&w->arena, 1));
    acp_bool(w, can, "loadSession", !p->first->o.forget);
    part = acp_in(w, can, "promptCapabilities", false);
    acp_bool(w, part, "image", images);
    acp_bool(w, part, "audio", sounds);
    acp_bool(w, part, "embeddedContext", true);
    part = acp_in(w, can, "mcpCapabilities", false);
    acp_bool(w, part, "http", true);
    acp_bool(w, part, "sse", true);
    part = acp_in(w, can, "sessionCapabilities", false);
    (void)acp_in(w, part, "close", false);
    if (!p->first->o.forget) (void)acp_in(w, part, "list", false);
    if (!p->first->o.forget) (void)acp_in(w, part, "resume", false);
    acp_put(w, result, "agentCapabilities", can);
    part = acp_in(w, result, "agentInfo", false);
    acp_say(w, part, "name", "phi");
    acp_say(w, part, "title", "phi");
    acp_say(w, part, "version", PHI_VERSION);
    (void)acp_in(w, result, "authMethods", true);
    acp_result(w, m->id, result);
    p->ready = true;
}

/* ---- prompts ---- */

/* A line that begins with "/" is a command of the chat, but /quit. True: it was one. */
static inline bool acp_slash(acp *p, acp_session *s, const char *line) {
    text words = {NULL, 0, 0};
    if (line == NULL || strncmp(line, "/quit", 5) == 0 || !slash_line(&s->a, line)) return false;
    s->message = ++p->messages;
    text_print(&words, "````\n%s````\n", s->said.len > 0 ? s->said.at : "");
    acp_chunk(&p->wire, s, "agent_message_chunk", text_str(&words));
    s->said.len = 0;
    free(words.at);
    if (s->a.sums == 0) acp_stop(p, s, "end_turn"); /* else when it ends */
    return true;
}

/* Notes what a person has typed in the editor: the texts, but no links and no resources. */
static inline void acp_asked(app *a, const phi_json *blocks) {
    phi_json_iter it = phi_json_each(blocks);
    const phi_json *each;
    while ((each = phi_json_next(&it)) != NULL)
        if (phi_str_is(phi_json_str(phi_json_get(each, "type"), ""), "text"))
            prompt_asked(a, phi_json_str(phi_json_get(each, "text"), "").at);
}

static inline void acp_prompt(acp *p, const acp_message *m, acp_session *s) {
    phi_prompt_desc prompt = PHI_ZERO;
    phi_content *content;
    text words = {NULL, 0, 0};
    const char *wrong = s->state != ACP_READY ? "the session has not begun" : NULL;
    if (s->prompt.len > 0) wrong = "the session answers a prompt already";
    if (wrong == NULL)
        wrong = acp_blocks(&p->wire, s, phi_json_get(m->params, "prompt"), &content,
                           &prompt.content_count, &words);
    if (wrong != NULL)
        acp_fail(&p->wire, m->id, ACP_PARAMS, wrong);
    else {
        acp_keep(&s->prompt, m->id);
        s->said.len = 0;
        prompt.content = content;
        acp_asked(&s->a, phi_json_get(m->params, "prompt"));
        if (prompt.content_count == 1 && acp_slash(p, s, words.at)) {
        } else if (phi_prompt_with(s->a.agent, &prompt, NULL) != PHI_OK) {
            acp_fail(&p->wire, m->id, ACP_INTERNAL, last_error(&s->a));
            s->prompt.len = 0;
        } else
            sessions_note(&s->a.kept, words.len > 0 ? words.at : "(a file)");
    }
    free(words.at);
}

static inline void acp_cancel(acp_session *s) {
    if (s == NULL || s->prompt.len == 0) return;
    s->cancelled = true;
    (void)phi_abort(s->a.agent);
}

/* "$/cancel_request" of a prompt. */
static inline void acp_cancel_request(acp *p, const acp_message *m) {
    phi_str id = acp_json(&p->wire, phi_json_get(m->params, "requestId"));
    acp_session *s;
    for (s = p->sessions; s != NULL; s = s->next)
        if (phi_str_equal(text_str(&s->prompt), id)) acp_cancel(s);
}

/* ---- messages ---- */

static inline void acp_request(acp *p, const acp_message *m) {
    acp_session *s = acp_find(p, phi_json_str(phi_json_get(m->params, "sessionId"), ""));
    acp_wire *w = &p->wire;
    bool of_session =
        phi_str_is(m->method, "session/prompt") || phi_str_is(m->method, "session/close");
    bool loads = phi_str_is(m->method, "session/load") && !p->first->o.forget;
    bool resumes = phi_str_is(m->method, "session/resume") && !p->first->o.forget;
    if (phi_str_is(m->method, "initialize"))
        acp_initialize(p, m);
    else if (!p->ready)
        acp_fail(w, m->id, ACP_REQUEST, "initialize comes first");
    else if (phi_str_is(m->method, "authenticate"))
        acp_fail(w, m->id, ACP_PARAMS, "there are no methods: keys are in the environment");
    else if (phi_str_is(m->method, "session/new") || loads || resumes)
        acp_new(p, m, loads || resumes, loads);
    else if (phi_str_is(m->method, "session/list") && !p->first->o.forget)
        acp_list(p, m);
    else if (of_session && s == NULL)
        acp_fail(w, m->id, ACP_NOT_FOUND, "there is no such session");
    else if (phi_str_is(m->method, "session/prompt"))
        acp_prompt(p, m, s);
    else if (of_session)
        acp_close(p, m, s);
    else
        acp_fail(w, m->id, ACP_METHOD, "there is no such method");
}

static inline void acp_take(acp *p, phi_str line) {
    acp_message m;
    phi_arena_mark mark = phi_arena_save(&p->wire.arena);
    if (acp_read(&p->wire, line, &m)) {
        if (m.method.len == 0)
            acp_answered(p, &m);
        else if (m.id.len > 0)
            acp_request(p, &m);
        else if (phi_str_is(m.method, "session/cancel"))
            acp_cancel(acp_find(p, phi_json_str(phi_json_get(m.params, "sessionId"), "")));
        else if (phi_str_is(m.method, "$/cancel_request"))
            acp_cancel_request(p, &m);
    }
    phi_arena_reset(&p->wire.arena, mark);
}

#endif
