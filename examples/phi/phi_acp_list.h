/* phi_acp_list.h - the conversations of a directory, for an editor that lists them. */
#ifndef PHI_ACP_LIST_H
#define PHI_ACP_LIST_H

#include "phi_acp_sessions.h"

enum { ACP_LISTED = 100 };

/* A line of the index: "ID.jsonl", a tab, the first words. */
static inline void acp_listed(acp_wire *w, phi_json *list, phi_str line, phi_str cwd) {
    const char *tab = line.len > 0 ? (const char *)memchr(line.at, '\t', line.len) : NULL;
    phi_str id = line, title = PHI_ZERO;
    phi_json *each;
    if (tab == NULL || tab - line.at < 6) return;
    id.len = (size_t)(tab - line.at) - 6;
    if (!acp_is_id(id)) return;
    title.at = tab + 1;
    title.len = line.len - id.len - 7;
    each = acp_add(w, list);
    acp_str(w, each, "sessionId", id);
    acp_str(w, each, "cwd", cwd);
    if (title.len > 0) acp_str(w, each, "title", title);
}

/* session/list: the newest first. Without a directory, those of the one in which the editor has started phi. */
static inline void acp_list(acp *p, const acp_message *m) {
    acp_wire *w = &p->wire;
    phi_json *result = acp_object(w), *list = acp_in(w, result, "sessions", true);
    phi_str cwd = phi_json_str(phi_json_get(m->params, "cwd"), "");
    acp_session *s = (acp_session *)calloc(1, sizeof *s);
    char here[PLACES_PATH];
    text all = {NULL, 0, 0};
    size_t from, n;
    if (cwd.len == 0 && places_here(here, sizeof here))
        cwd = phi_json_str(phi_json_new_str(&w->arena, phi_str_of(here)), "");
    if (s == NULL || strlen(cwd.at) != cwd.len || !acp_directory(s, cwd.at, here)) {
        acp_fail(w, m->id, ACP_PARAMS, "cwd is no absolute path of a directory");
    } else {
        if (sessions_open_in(&s->a.kept, here)) sessions_index(&s->a.kept, &all);
        for (n = 0; all.len > 0 && n < ACP_LISTED; n++) {
            phi_str line;
            from = --all.len; /* the line break */
            while (from > 0 && all.at[from - 1] != '\n') from--;
            line.at = all.at + from, line.len = all.len - from;
            acp_listed(w, list, line, cwd);
            all.len = from;
        }
        acp_result(w, m->id, result);
    }
    free(all.at);
    if (s != NULL) acp_session_free(s);
}

#endif
