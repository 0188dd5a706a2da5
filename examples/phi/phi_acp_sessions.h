/* phi_acp_sessions.h - sessions begin, are loaded, and end. */
#ifndef PHI_ACP_SESSIONS_H
#define PHI_ACP_SESSIONS_H

#include "phi_acp_begin.h"

static inline void acp_remove(acp *p, acp_session *s) {
    acp_session **at = &p->sessions;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    p->count--;
    acp_session_free(s);
}

static inline bool acp_is_id(phi_str id) {
    size_t i;
    for (i = 0; i < id.len; i++)
        if (strchr("0123456789-", id.at[i]) == NULL || id.at[i] == '\0') return false;
    return id.len > 0 && id.len < 100;
}

/* The session begins. False: s->said says why it cannot. */
static inline bool acp_begin(acp *p, acp_session *s, const acp_message *m, const char *cwd) {
    app *a = &s->a;
    char here[PLACES_PATH];
    phi_json_iter it = phi_json_each(phi_json_get(m->params, "mcpServers"));
    const phi_json *server;
    if (!acp_directory(s, cwd, here))
        return complain(a, "cwd is no absolute path of a directory", cwd) == 0;
    acp_look_at_found(a);
    if (load_config(a) != 0) return false;
    if (a->o.config != NULL && a->config == NULL) return complain(a, "no memory", NULL) == 0;
    if (!acp_open_kept(p, s, here)) return false;
    while ((server = phi_json_next(&it)) != NULL) acp_connect(p, s, server);
    return true;
}

/* session/new, session/load and session/resume. */
static inline void acp_new(acp *p, const acp_message *m, bool loads, bool replays) {
    phi_str cwd = phi_json_str(phi_json_get(m->params, "cwd"), "");
    phi_str id = phi_json_str(phi_json_get(m->params, "sessionId"), "");
    acp_session *s = loads ? acp_find(p, id) : NULL;
    if (cwd.len == 0 || strlen(cwd.at) != cwd.len || (loads && !acp_is_id(id))) {
        acp_fail(&p->wire, m->id, ACP_PARAMS,
                 loads ? "cwd and sessionId: one is missing or wrong" : "cwd: a path");
    } else if (s != NULL) { /* it is open already */
        if (s->state != ACP_READY || s->prompt.len > 0) {
            acp_fail(&p->wire, m->id, ACP_REQUEST, "the session is busy");
            return;
        }
        s->replays = replays;
        s->replayed = 0;
        s->state = ACP_REPLAYING;
        acp_keep(&s->asked, m->id);
    } else if (p->count == ACP_SESSIONS || (s = (acp_session *)calloc(1, sizeof *s)) == NULL) {
        acp_fail(&p->wire, m->id, ACP_INTERNAL, "too many sessions");
    } else {
        s->a.o = p->first->o;
        s->a.rt = p->first->rt;
        s->a.acp = true;
        s->a.said = &s->said;
        phi_memory_init(&s->a.memory, NULL, 0);
        phi_arena_init(&s->a.arena, &s->a.memory, 0);
        s->loads = loads;
        s->replays = replays;
        s->next = p->sessions;
        p->sessions = s;
        p->count++;
        acp_keep(&s->asked, m->id);
        if (loads) acp_keep(&s->id, id);
        if (acp_begin(p, s, m, cwd.at)) return;
        acp_error(&p->wire, m->id, ACP_PARAMS, text_str(&s->said));
        acp_remove(p, s);
    }
}

/* Goes on with sessions that begin. */
static inline bool acp_step_all(acp *p) {
    acp_session *s, *next;
    bool busy = false;
    for (s = p->sessions; s != NULL; s = next) {
        next = s->next;
        if (s->state == ACP_READY) continue;
        busy = true;
        if (acp_step(p, s)) continue;
        acp_error(&p->wire, text_str(&s->asked), ACP_INTERNAL, text_str(&s->said));
        acp_remove(p, s);
    }
    return busy;
}

static inline void acp_close(acp *p, const acp_message *m, acp_session *s) {
    acp_stop(p, s, "cancelled");
    if (s->asked.len > 0)
        acp_fail(&p->wire, text_str(&s->asked), ACP_CANCELLED, "the session was closed");
    acp_remove(p, s);
    acp_result(&p->wire, m->id, NULL);
}

#endif
