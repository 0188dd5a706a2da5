/* child.c - the children of an agent: from the making of one to its end. */
#include "subagents/child_in.h"

#ifndef PHI_NO_SUBAGENTS

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
    phi__list_take(&all->list, &child->link);
    phi__buf_free(&child->heard);
    phi__child_free_block(child);
    phi__child_drop_agent(child);
    phi__free(&all->parent->memory, child, sizeof *child);
}

/* Its events are in the host's hands or wait for it: they would go with it. */
static void phi__child_leave(phi__child *child) {
    child->over = true;
    if (phi__find_hidden(child->agent) || !phi__events_any(child->agent)) phi__child_drop(child);
}

/* Frees the oldest that have finished, beyond as many as are kept. */
static void phi__child_keep_newest(phi__children *all, const phi_subagent *desc) {
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
    const phi_subagent *desc = child->desc;
    child->running = child->spawned = false;
    child->call.rt = NULL;
    if (keep && desc->keep > 0)
        phi__child_keep_newest(all, desc);
    else
        phi__child_leave(child);
}

PHI__FN void phi__child_sweep(phi__children *all) {
    phi__link *link = all->list.first, *next;
    for (; link != NULL; link = next) {
        phi__child *child = PHI__OWNER(link, phi__child, link);
        next = link->next;
        if (child->fault != NULL)
            phi__result_fail(child, child->status, child->fault);
        else if (child->agent == NULL || child->running)
            continue;
        else if (child->spawned)
            phi__result_give(child, child->status, NULL);
        else if (child->over)
            phi__child_leave(child);
    }
}

/* ---- following one ---- */

static phi__child *phi__child_watched(const phi__agent *agent) {
    return (phi__child *)agent->tree.watched;
}

static bool phi__child_saw(phi__agent *agent, const phi_event *event) {
    return phi__forward_note(phi__child_watched(agent), event);
}

static void phi__child_between(phi__agent *agent) { phi__forward_all(phi__child_watched(agent)); }

static void phi__child_over(phi__agent *agent, phi_status status, const phi_failure *failure,
                            bool stopping) {
    (void)stopping;
    if (phi__child_watched(agent)->running)
        phi__result_give(phi__child_watched(agent), status, failure);
}

static void phi__child_gone(phi__agent *agent) {
    phi__child *child = phi__child_watched(agent);
    child->agent = NULL;
    phi__result_fail(child, PHI_CANCELLED, "The sub-agent was freed");
}

static const phi__child_watch phi__child_hidden = {
    true, false, phi__child_saw, phi__child_between, phi__child_over, phi__child_gone};
static const phi__child_watch phi__child_shown = {
    false, false, phi__child_saw, phi__child_between, phi__child_over, phi__child_gone};

PHI__FN void phi__child_follow(phi__child *child, phi_subagent *desc, phi__agent *agent) {
    child->desc = desc;
    child->agent = agent;
    agent->tree.watch = desc->show_events ? &phi__child_shown : &phi__child_hidden;
    agent->tree.watched = child;
}

static uint32_t phi__child_depth(const phi__agent *agent) {
    const phi__child_watch *watch = agent->tree.watch;
    bool ours = watch == &phi__child_hidden || watch == &phi__child_shown;
    return ours ? phi__child_watched(agent)->depth : 0;
}

/* ---- all of an agent's ---- */

static void phi__child_renewed(phi__attached *attached, bool copied) {
    phi__link *link = PHI__OWNER(attached, phi__children, attached)->list.first, *next;
    for (; link != NULL && !copied; link = next) {
        next = link->next;
        phi__result_fail(PHI__OWNER(link, phi__child, link), PHI_CANCELLED,
                         "The conversation was reset");
    }
}

static void phi__child_freed(phi__attached *attached) {
    phi__children *all = PHI__OWNER(attached, phi__children, attached);
    while (all->list.first != NULL) phi__child_drop(PHI__OWNER(all->list.first, phi__child, link));
    phi__free(&all->parent->memory, all, sizeof *all);
}

static const phi__attached_ops phi__child_ops = {"subagents", phi__child_save_all,
                                                 phi__child_renewed, phi__child_freed};

PHI__FN phi__children *phi__child_all_find(const phi__agent *parent) {
    phi__attached *attached = phi__attached_find(parent, phi__child_ops.name);
    return attached != NULL ? PHI__OWNER(attached, phi__children, attached) : NULL;
}

PHI__FN phi__children *phi__child_all(phi__agent *parent) {
    phi__children *all = phi__child_all_find(parent);
    if (all != NULL) return all;
    all = (phi__children *)phi__alloc(&parent->memory, sizeof *all);
    if (all == NULL) return NULL;
    all->parent = parent;
    if (!phi__child_save_claim(all)) {
        phi__child_freed(&all->attached);
        return NULL;
    }
    phi__attached_add(parent, &all->attached, &phi__child_ops);
    return all;
}

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

PHI__FN phi__child *phi__child_kept(const phi__children *all, const phi_subagent *desc,
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
static bool phi__child_tools(const phi__child *child, const phi_subagent *desc, phi_arena *scratch,
                             phi_agent_desc *out) {
    phi_tool *tools;
    size_t i, n = 0;
    if (child->depth < (desc->max_depth != 0 ? desc->max_depth : 1) || out->tool_count == 0)
        return true;
    tools = (phi_tool *)phi_arena_alloc(scratch, phi__mul(out->tool_count, sizeof *tools));
    if (tools == NULL) return false;
    for (i = 0; out->tools != NULL && i < out->tool_count; i++)
        if (out->tools[i].start != phi__subagents_start) tools[n++] = out->tools[i];
    out->tools = tools;
    out->tool_count = n;
    return true;
}

/* Its model is the calling agent's, and so is the hook that knows the key. */
static void phi__child_inherit(const phi__agent *parent, phi_agent_desc *out) {
    out->model = parent->desc.model;
    if (out->provider == NULL) out->provider = parent->desc.provider;
    if (out->hook_fn != NULL || (parent->desc.hook_points & (uint32_t)PHI_HOOK_CREDENTIAL) == 0)
        return;
    out->hook_fn = parent->desc.hook_fn;
    out->hook_points = (uint32_t)PHI_HOOK_CREDENTIAL;
    out->user_data = parent->desc.user_data;
}

PHI__FN bool phi__child_desc(const phi__child *child, phi_subagent *desc, phi_arena *scratch,
                             phi_agent_desc *out) {
    const phi__agent *parent = child->of->parent;
    memset(out, 0, sizeof *out);
    if (desc->agent != NULL) *out = *desc->agent;
    if (out->model.protocol == NULL || out->model.protocol[0] == '\0')
        phi__child_inherit(parent, out);
    out->parent = parent->handle;
    out->agent_id = out->session_id = out->thread_id = NULL;
    if (out->config_id == NULL) out->config_id = "sub";
    out->first_turn_trigger = PHI_TRIGGER_SUB_AGENT;
    if (out->limits.max_turns == 0) out->limits.max_turns = PHI__CHILD_TURNS;
    if (out->limits.max_tokens == 0) out->limits.max_tokens = PHI__CHILD_TOKENS;
    if (out->limits.max_duration_ms == 0) out->limits.max_duration_ms = PHI__CHILD_DURATION_MS;
    return phi__child_tools(child, desc, scratch, out);
}

PHI__FN phi__child *phi__child_new(phi__children *all, phi_subagent *desc) {
    phi_runtime *rt = all->parent->rt;
    phi__child *child = phi__child_make(all);
    phi__agent *agent = NULL;
    phi_agent_desc d;
    phi_arena scratch;
    if (child == NULL) {
        (void)phi__error(rt, PHI_NO_MEMORY, "out of memory");
        return NULL;
    }
    child->depth = phi__child_depth(all->parent) + 1;
    phi_arena_init(&scratch, &all->parent->memory, 0);
    if (phi__child_desc(child, desc, &scratch, &d))
        agent = phi__agent_make(rt, &d, NULL);
    else
        (void)phi__error(rt, PHI_NO_MEMORY, "out of memory");
    phi_arena_free(&scratch);
    if (agent == NULL) {
        phi__child_drop(child);
        return NULL;
    }
    child->number = ++all->made;
    phi__child_follow(child, desc, agent);
    return child;
}

PHI__FN phi_status phi__child_begin(phi__child *child, phi_str task) {
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
