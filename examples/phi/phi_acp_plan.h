/* phi_acp_plan.h - the tasks that the model keeps with todo_write, as the plan of an editor. */
#ifndef PHI_ACP_PLAN_H
#define PHI_ACP_PLAN_H

#include "phi_acp_call.h"

/* Shows the list of a call. Other calls, and lists that the tool refuses, show nothing. */
static inline void acp_plan(acp_wire *w, const acp_session *s, phi_str tool, phi_str arguments) {
    phi_json *json, *update, *list, *each, *entry, *todos;
    phi_json_iter it;
    if (!phi_str_is(tool, todo_name) ||
        phi_json_parse(&w->arena, arguments, PHI_JSON_REPLACE_BAD_UTF8, &json, NULL) != PHI_OK)
        return;
    todos = phi_json_get(json, "todos");
    if (!phi_json_is(todos, PHI_JSON_ARRAY) || phi_json_count(todos) > TODO_TASKS) return;
    update = acp_update(w, "plan");
    list = acp_in(w, update, "entries", true);
    for (it = phi_json_each(todos); (each = phi_json_next(&it)) != NULL;) {
        phi_str status = phi_json_str(phi_json_get(each, "status"), "");
        bool known = phi_str_is(status, "in_progress") || phi_str_is(status, "completed");
        entry = acp_add(w, list);
        acp_str(w, entry, "content", phi_json_str(phi_json_get(each, "content"), ""));
        acp_say(w, entry, "priority", "medium");
        acp_str(w, entry, "status", known ? status : phi_str_of("pending"));
    }
    acp_show(w, s, update);
}

#endif
