/* child.c - the children of an agent: from the making of one to its end. */
#include "subagents/child_in.h"

#include "features/failover_in.h"

#include <stdio.h>

enum {
    PHI__CHILD_TURNS = 10, /* behaviours C 54, and the two below */
    PHI__CHILD_TOKENS = 1000000,
    PHI__CHILD_DURATION_MS = 300000
};

PHI__FN void phi__child_id(const phi__child *child, char out[PHI__CHILD_ID]) {
    (void)snprintf(out, PHI__CHILD_ID, "sub-%llu", (unsigned long long)child->number);
}

/* ---- the end of one ---- */

static void phi__child_no_more(phi__agent *agent, phi_status status, const phi_failure *failure,
                               bool stopping) {
    (void)agent;
    (void)status;
    (void)failure;
    (void)stopping;
}

/* Of an agent that is being freed: its last charge is still its parent's where it is hidden. */
static const phi__child_watch phi__child_left_hidden = {true, false, NULL, NULL, phi__child_no_more,
                                                        NULL};
static const phi__child_watch phi__child_left_shown = {false, false, NULL, NULL, phi__child_no_more,
                                                       NULL};

PHI__FN void phi__child_free_block(phi__child *child) {
    phi__free(&child->of->parent->memory, child->block, child->block_bytes);
    child->block = NULL;
    child->block_bytes = 0;
    child->name = child->call_id = child->snapshot = phi__str("", 0);
}

PHI__FN void phi__child_drop_agent(phi__child *child) {
    phi__agent *agent = child->agent;
    child->agent = NULL;
    if (agent == NULL) return;
    agent->tree.watch = phi__find_hidden(agent) ? &phi__child_left_hidden : &phi__child_left_shown;
    agent->tree.watched = NULL;
    phi__agent_end_drop(agent);
}

PHI__FN void phi__child_drop(phi__child *child) {
    phi__children *all = child->of;
    if (all->next == &child->link) all->next = child->link.next;
    phi__list_take(&all->list, &child->link);
    phi__buf_free(&child->heard);
    phi__child_free_block(child);
    phi__child_drop_agent(child);
    phi__free(&all->parent->memory, child, sizeof *child);
}

/* Its events are in the host's hands or wait for it: they would go with it. */
PHI__FN void phi__child_leave(phi__child *child) {
    child->over = true;
    if (phi__find_hidden(child->agent) || !phi__events_any(child->agent)) phi__child_drop(child);
}

/* Frees the oldest that have finished, beyond as many as are kept. */
static void phi__child_keep_newest(phi__children *all, const phi_subagent_desc *desc) {
    phi__link *link = all->list.last, *earlier;
    uint32_t n = 0;
    for (; link != NULL; link = earlier) {
        phi__child *child = PHI__OWNER(link, phi__child, link);
        earlier = link->prev;
        if (child->desc != desc || child->running || child->over || child->spawned) continue;
        if (++n > desc->keep) phi__child_leave(child);
    }
}

PHI__FN void phi__child_settle(phi__child *child, bool keep) {
    phi__children *all = child->of;
    const phi_subagent_desc *desc = child->desc;
    child->running = child->spawned = false;
    child->call.rt = NULL;
    if (keep && desc->keep > 0)
        phi__child_keep_newest(all, desc);
    else
        phi__child_leave(child);
}

/* ---- finding one ---- */

PHI__FN phi__child *phi__child_of_call(const phi__children *all, phi_call call) {
    phi__link *link = all != NULL ? all->list.first : NULL;
    for (; link != NULL; link = link->next) {
        phi__child *child = PHI__OWNER(link, phi__child, link);
        if (child->call.rt != NULL && child->call.index == call.index &&
            child->call.gen == call.gen)
            return child;
    }
    return NULL;
}

PHI__FN phi__child *phi__child_kept(const phi__children *all, const phi_subagent_desc *desc,
                                    phi_str id) {
    phi__link *link = all->list.first;
    char own[PHI__CHILD_ID];
    for (; link != NULL; link = link->next) {
        phi__child *child = PHI__OWNER(link, phi__child, link);
        phi_str name = child->desc != NULL ? phi_str_of(child->desc->name) : child->name;
        phi__child_id(child, own);
        if (!child->running && !child->over && !child->spawned && phi__str_is(id, own) &&
            phi_str_equal(name, phi_str_of(desc->name)))
            return child;
    }
    return NULL;
}

/* ---- making one ---- */

PHI__FN phi__child *phi__child_make(phi__children *all) {
    phi__child *child = (phi__child *)phi__alloc(&all->parent->memory, sizeof *child);
    if (child == NULL) return NULL;
    child->of = all;
    child->last_heard = SIZE_MAX;
    phi__buf_init(&child->heard, &all->parent->memory);
    phi__list_push(&all->list, &child->link);
    return child;
}

/* Without those that delegate, where it is too deep for them. */
static bool phi__child_tools(const phi__child *child, const phi_subagent_desc *desc,
                             phi_arena *scratch, phi_agent_desc *out) {
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
static bool phi__child_inherit(const phi__agent *parent, phi_arena *scratch, phi_agent_desc *out) {
    out->model = parent->desc.model;
    if (out->provider == NULL) {
        out->provider = parent->desc.provider;
        if (parent->desc.failover != NULL && !phi__failover_inherit(parent, scratch, out))
            return false;
    }
    if (out->hook_fn != NULL || (parent->desc.hook_points & (uint32_t)PHI_HOOK_CREDENTIAL) == 0)
        return true;
    out->hook_fn = parent->desc.hook_fn;
    out->hook_points = (uint32_t)PHI_HOOK_CREDENTIAL;
    out->user_data = parent->desc.user_data;
    out->hook_user_data = parent->desc.hook_user_data;
    return true;
}

PHI__FN bool phi__child_desc(const phi__child *child, phi_subagent_desc *desc, phi_arena *scratch,
                             phi_agent_desc *out) {
    const phi__agent *parent = child->of->parent;
    memset(out, 0, sizeof *out);
    if (desc->agent != NULL) *out = *desc->agent;
    if ((out->model.protocol == NULL || out->model.protocol[0] == '\0') &&
        !phi__child_inherit(parent, scratch, out))
        return false;
    out->parent = parent->handle;
    out->ids.agent_id = out->ids.session_id = out->thread_id = NULL;
    if (out->ids.config_id == NULL) out->ids.config_id = "sub";
    out->input.first_turn_trigger = PHI_TRIGGER_SUB_AGENT;
    if (out->limits.max_turns == 0) out->limits.max_turns = PHI__CHILD_TURNS;
    if (out->limits.max_tokens == 0) out->limits.max_tokens = PHI__CHILD_TOKENS;
    if (out->limits.max_duration_ms == 0) out->limits.max_duration_ms = PHI__CHILD_DURATION_MS;
    return phi__child_tools(child, desc, scratch, out);
}
