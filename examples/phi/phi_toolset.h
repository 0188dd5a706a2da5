/* phi_toolset.h - the tools of the command without a configuration. */
#ifndef PHI_TOOLSET_H
#define PHI_TOOLSET_H

#include "phi_app.h"
#include "phi_url.h"

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

/* The directory in which the tools work. */
static inline const char *app_place(const app *a) { return a->place.len > 0 ? a->place.at : "."; }

/* The built-in tools, read_url, and todo_write, which changes nothing: it runs at once. */
static inline void setup_tools(app *a) {
    static const phi_permission_rule allows = {
        .verdict = PHI_PERMISSION_ALLOW, .tool = todo_name, .source = ""};
    phi_tools_desc tools = PHI_ZERO;
    size_t i;
    tools.workspace = app_place(a);
    (void)phi_tools_init(&a->set, &tools);
    if (!a->acp) setup_folded = &a->folded;
    a->folded.watches = !a->acp;
    for (i = 0; i < a->set.count; i++) {
        phi_tool *tool = &a->tools[i];
        bool edits = strcmp(a->set.tools[i].name, "edit_file") == 0;
        *tool = a->set.tools[i];
        if (a->acp || a->o.question.len > 0 || (!edits && strcmp(tool->name, "write_file") != 0))
            continue;
        setup_starts[edits] = tool->start;
        tool->start = setup_start;
    }
    a->tools[i] = todo_tool(&a->todo);
    a->desc.tools = a->tools;
    a->tools[i + 1] = url_tool(&a->typing.asked);
    a->desc.tool_count = i + 2;
    if (a->permissions != NULL) (void)phi_permissions_add(a->permissions, &allows, 1);
}

#endif
