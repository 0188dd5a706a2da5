/* begin.c - makes a child of a desc, and begins its run. */
#include "subagents/child_in.h"

#ifndef PHI_NO_SUBAGENTS

enum {
    PHI__BEGIN_TURNS = 10, /* behaviours C 54, and the two below */
    PHI__BEGIN_TOKENS = 1000000,
    PHI__BEGIN_DURATION_MS = 300000
};

/* Without those that delegate, where it is too deep for them. */
static bool phi__begin_tools(const phi__child *child, const phi_subagent *desc, phi_arena *scratch,
                             phi_agent_desc *out) {
    phi_tool *tools;
    size_t i, n = 0;
    if (child->depth < (desc->max_depth != 0 ? desc->max_depth : 1) || out->tool_count == 0)
        return true;
    tools = (phi_tool *)phi_arena_alloc(scratch, phi__mul(out->tool_count, sizeof *tools));
    if (tools == NULL) return false;
    for (i = 0; out->tools != NULL && i < out->tool_count; i++)
        if (out->tools[i].start != child->of->start) tools[n++] = out->tools[i];
    out->tools = tools;
    out->tool_count = n;
    return true;
}

/* Its model is the calling agent's, and so is the hook that knows the key. */
static void phi__begin_inherit(const phi__agent *parent, phi_agent_desc *out) {
    out->model = parent->desc.model;
    if (out->provider == NULL) out->provider = parent->desc.provider;
    if (out->hook_fn != NULL || (parent->desc.hook_points & (uint32_t)PHI_HOOK_CREDENTIAL) == 0)
        return;
    out->hook_fn = parent->desc.hook_fn;
    out->hook_points = (uint32_t)PHI_HOOK_CREDENTIAL;
    out->user_data = parent->desc.user_data;
}

PHI__FN bool phi__begin_desc(const phi__child *child, phi_subagent *desc, phi_arena *scratch,
                             phi_agent_desc *out) {
    const phi__agent *parent = child->of->parent;
    memset(out, 0, sizeof *out);
    if (desc->agent != NULL) *out = *desc->agent;
    if (out->model.protocol == NULL || out->model.protocol[0] == '\0')
        phi__begin_inherit(parent, out);
    out->parent = parent->handle;
    out->agent_id = out->session_id = out->thread_id = NULL;
    if (out->config_id == NULL) out->config_id = "sub";
    out->first_turn_trigger = PHI_TRIGGER_SUB_AGENT;
    if (out->limits.max_turns == 0) out->limits.max_turns = PHI__BEGIN_TURNS;
    if (out->limits.max_tokens == 0) out->limits.max_tokens = PHI__BEGIN_TOKENS;
    if (out->limits.max_duration_ms == 0) out->limits.max_duration_ms = PHI__BEGIN_DURATION_MS;
    return phi__begin_tools(child, desc, scratch, out);
}

PHI__FN phi__child *phi__begin_new(phi__children *all, phi_subagent *desc) {
    phi_runtime *rt = all->parent->rt;
    phi__child *child = phi__child_make(all);
    phi__agent *agent = NULL;
    phi_agent_desc d;
    phi_arena scratch;
    if (child == NULL) {
        (void)phi__error(rt, PHI_NO_MEMORY, "out of memory");
        return NULL;
    }
    child->depth = phi__follow_depth(all->parent) + 1;
    phi_arena_init(&scratch, &all->parent->memory, 0);
    if (phi__begin_desc(child, desc, &scratch, &d))
        agent = phi__agent_make(rt, &d, NULL);
    else
        (void)phi__error(rt, PHI_NO_MEMORY, "out of memory");
    phi_arena_free(&scratch);
    if (agent == NULL) {
        phi__child_drop(child);
        return NULL;
    }
    child->number = ++all->made;
    phi__follow(child, desc, agent);
    return child;
}

PHI__FN phi_status phi__begin_run(phi__child *child, phi_str task) {
    const phi__agent *parent = child->of->parent;
    phi__agent *agent = child->agent;
    phi_message message;
    phi_content content;
    phi__run_order order;
    phi_status status = phi__agent_may_run(agent, "sub-agent");
    if (status != PHI_OK) return status;
    memset(&content, 0, sizeof content);
    memset(&message, 0, sizeof message);
    memset(&order, 0, sizeof order);
    content.kind = PHI_CONTENT_TEXT;
    content.text = task;
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
    order.prompts = &message;
    order.prompt_count = 1;
    order.parent_loop_id = parent->run != NULL ? parent->run->loop_id : parent->line.last_loop_id;
    status = phi__run_new(agent, &order);
    child->running = status == PHI_OK;
    return status == PHI_OK ? status : phi__agent_no_memory(agent, "sub-agent");
}

#endif
