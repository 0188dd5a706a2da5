/* children.c - all children of an agent, as an object attached to it. */
#include "subagents/child_in.h"

#ifndef PHI_NO_SUBAGENTS

static void phi__children_renewed(phi__attached *attached, bool copied) {
    phi__link *link = PHI__OWNER(attached, phi__children, attached)->list.first, *next;
    for (; link != NULL && !copied; link = next) {
        next = link->next;
        phi__result_fail(PHI__OWNER(link, phi__child, link), PHI_CANCELLED,
                         "The conversation was reset");
    }
}

static void phi__children_freed(phi__attached *attached) {
    phi__children *all = PHI__OWNER(attached, phi__children, attached);
    while (all->list.first != NULL) phi__child_drop(PHI__OWNER(all->list.first, phi__child, link));
    phi__free(&all->parent->memory, all, sizeof *all);
}

static const phi__attached_ops phi__children_ops = {"subagents", phi__child_save_all,
                                                    phi__children_renewed, phi__children_freed};

PHI__FN phi__children *phi__children_of(phi__agent *parent, phi__start_fn start) {
    phi__children *all = phi__child_all_find(parent);
    if (all != NULL) return all;
    all = (phi__children *)phi__alloc(&parent->memory, sizeof *all);
    if (all == NULL) return NULL;
    all->parent = parent;
    all->start = start;
    if (!phi__child_save_claim(all)) {
        phi__children_freed(&all->attached);
        return NULL;
    }
    phi__attached_add(parent, &all->attached, &phi__children_ops);
    return all;
}

#endif
