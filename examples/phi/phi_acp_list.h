/* phi_acp_list.h - the conversations of a directory, for an editor that lists them. */
#ifndef PHI_ACP_LIST_H
#define PHI_ACP_LIST_H

#include "phi_acp_sessions.h"

enum { ACP_LISTED = 100 };

/* A conversation by its file's name, "ID.jsonl". */
static inline void acp_listed(acp_wire *w, phi_json *list, phi_str name, phi_str title,
                              phi_str cwd) {
    phi_json *each;
    if (name.len < 6) return;
    name.len -= 6;
    if (!acp_is_id(name)) return;
    each = acp_add(w, list);
    acp_str(w, each, "sessionId", name);
    acp_str(w, each, "cwd", cwd);
    if (title.len > 0) acp_str(w, each, "title", title);
}

/* session/list: the one that was used last comes first. Without a directory, those of the one in which the editor has started phi. */
static inline void acp_list(acp *p, const acp_message *m) {
    acp_wire *w = &p->wire;
    phi_json *result = acp_object(w), *list = acp_in(w, result, "sessions", true);
    phi_str cwd = phi_json_str(phi_json_get(m->params, "cwd"), "");
    acp_session *s = (acp_session *)calloc(1, sizeof *s);
    char here[PLACES_PATH];
    text all = {NULL, 0, 0};
    size_t lines[ACP_LISTED], n, i;
    if (cwd.len == 0 && places_here(here, sizeof here))
        cwd = phi_json_str(phi_json_new_str(&w->arena, phi_str_of(here)), "");
    if (s == NULL || strlen(cwd.at) != cwd.len || !acp_directory(s, cwd.at, here)) {
        acp_fail(w, m->id, ACP_PARAMS, "cwd is no absolute path of a directory");
    } else {
        if (sessions_open_in(&s->a.kept, here)) sessions_index(&s->a.kept, &all);
        n = sessions_used(&all, lines, ACP_LISTED);
        for (i = 0; i < n; i++) {
            phi_str name = sessions_name(&all, lines[i]);
            acp_listed(w, list, name, sessions_words(&all, name), cwd);
        }
        acp_result(w, m->id, result);
    }
    free(all.at);
    if (s != NULL) acp_session_free(s);
}

#endif
