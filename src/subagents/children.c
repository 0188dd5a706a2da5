/* children.c - all children of an agent: attached to it, swept, and begun. */
#include "subagents/child_in.h"

/* ---- all of an agent's ---- */

PHI__FN phi__child *phi__children_first(const phi__children *all, uint64_t last, bool frozen,
                                        const char *name) {
    phi__link *link = all->list.first;
    for (; link != NULL; link = link->next) {
        phi__child *child = PHI__OWNER(link, phi__child, link);
        if (child->number > last || child->fault != NULL) continue;
        if (frozen && (child->agent != NULL || !child->spawned)) continue;
        if (name == NULL || phi__str_is(child->name, name)) return child;
    }
    return NULL;
}

static void phi__children_renewed(phi__attached *attached, bool copied) {
    phi__children *all = PHI__OWNER(attached, phi__children, attached);
    uint64_t last = all->made; /* those of the new conversation go on */
    phi__child *child;
    if (copied) return;
    while ((child = phi__children_first(all, last, false, NULL)) != NULL)
        phi__result_fail(child, PHI_CANCELLED, "The conversation was reset");
}

static void phi__children_freed(phi__attached *attached) {
    phi__children *all = PHI__OWNER(attached, phi__children, attached);
    while (all->list.first != NULL) phi__child_drop(PHI__OWNER(all->list.first, phi__child, link));
    phi__free(&all->parent->memory, all, sizeof *all);
}

static const phi__attached_ops phi__children_ops = {"subagents", phi__child_save_all,
                                                    phi__children_renewed, phi__children_freed};

PHI__FN phi__children *phi__children_find(const phi__agent *parent) {
    phi__attached *attached = phi__attached_find(parent, phi__children_ops.name);
    return attached != NULL ? PHI__OWNER(attached, phi__children, attached) : NULL;
}

PHI__FN phi__children *phi__children_all(phi__agent *parent) {
    phi__children *all = phi__children_find(parent);
    if (all != NULL) return all;
    all = (phi__children *)phi__alloc(&parent->memory, sizeof *all);
    if (all == NULL) return NULL;
    all->parent = parent;
    if (!phi__child_save_claim(all)) {
        phi__children_freed(&all->attached);
        return NULL;
    }
    phi__attached_add(parent, &all->attached, &phi__children_ops);
    return all;
}

PHI__FN void phi__children_sweep(phi__children *all) {
    all->next = all->list.first;
    while (all->next != NULL) {
        phi__child *child = PHI__OWNER(all->next, phi__child, link);
        all->next = all->next->next;
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

/* ---- one more ---- */

PHI__FN phi__child *phi__children_new(phi__children *all, phi_subagent_desc *desc) {
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
    phi__follow_begin(child, desc, agent);
    return child;
}

PHI__FN phi_status phi__children_begin(phi__child *child, phi_str task) {
    const phi__agent *parent = child->of->parent;
    phi__agent *agent = child->agent;
    phi_content content;
    phi__run_order order;
    phi_status status = phi__agent_may_run(agent, "sub-agent");
    if (status != PHI_OK) return status;
    memset(&content, 0, sizeof content);
    memset(&order, 0, sizeof order);
    content.kind = PHI_CONTENT_TEXT;
    content.text = task;
    order.parent_loop_id = parent->run != NULL ? parent->run->loop_id : parent->line.last_loop_id;
    status = phi__run_new_of(agent, order, &content, 1);
    child->running = status == PHI_OK;
    return status == PHI_OK ? status : phi__agent_no_memory(agent, "sub-agent");
}
