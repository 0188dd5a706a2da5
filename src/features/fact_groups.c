/* fact_groups.c - the facts of groups, and the groups of an agent: both sorted by name. */
#include "features/fact_groups_in.h"

/* ---- groups ---- */

PHI__FN size_t phi__fact_groups_find(const phi__facts *facts, phi_str name, bool *found) {
    size_t from = 0, to = facts != NULL ? facts->count : 0;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (phi__fact_list_compare(facts->groups[middle].name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    *found = facts != NULL && from < facts->count && phi_str_equal(facts->groups[from].name, name);
    return from;
}

static bool phi__fact_groups_copy(phi_memory *memory, phi_str name, phi_str *out) {
    char *copy = (char *)phi__alloc(memory, name.len + 1);
    if (copy == NULL) return false;
    memcpy(copy, name.at, name.len);
    *out = phi__str(copy, name.len);
    return true;
}

static void phi__fact_groups_drop(phi_memory *memory, phi_str name) {
    phi__free(memory, (void *)(uintptr_t)name.at, name.len + 1);
}

PHI__FN size_t phi__fact_groups_make(phi__facts *facts, phi_memory *memory, phi_str name,
                                     phi_status *status) {
    bool found;
    size_t at = phi__fact_groups_find(facts, name, &found), i;
    phi__fact_group made;
    void *grown;
    *status = PHI_OK;
    if (found) return at;
    *status = facts->count >= PHI_FACT_GROUPS ? PHI_FULL : PHI_NO_MEMORY;
    if (facts->count >= PHI_FACT_GROUPS) return SIZE_MAX;
    grown = phi__grow(memory, facts->groups, &facts->cap, facts->count + 1, sizeof made);
    if (grown == NULL) return SIZE_MAX;
    facts->groups = (phi__fact_group *)grown;
    memset(&made, 0, sizeof made);
    if (!phi__fact_groups_copy(memory, name, &made.name)) return SIZE_MAX;
    for (i = facts->count++; i > at; i--) facts->groups[i] = facts->groups[i - 1];
    facts->groups[at] = made;
    *status = PHI_OK;
    return at;
}

PHI__FN void phi__fact_groups_tidy(phi__facts *facts, phi_memory *memory, size_t at) {
    if (facts->groups[at].list.count > 0) return;
    phi__fact_list_free(&facts->groups[at].list, memory);
    phi__fact_groups_drop(memory, facts->groups[at].name);
    for (facts->count--; at < facts->count; at++) facts->groups[at] = facts->groups[at + 1];
}

PHI__FN void phi__fact_groups_clear(phi__facts *facts, phi_memory *memory) {
    size_t i;
    phi__fact_list_free(&facts->all, memory);
    for (i = 0; i < facts->count; i++) {
        phi__fact_list_free(&facts->groups[i].list, memory);
        phi__fact_groups_drop(memory, facts->groups[i].name);
    }
    phi__free(memory, facts->groups, facts->cap * sizeof *facts->groups);
    memset(facts, 0, sizeof *facts);
}

/* ---- the groups of an agent ---- */

static size_t phi__fact_groups_membership(const phi__facts_own *own, phi_str name, bool *found) {
    size_t at = 0;
    while (at < own->count && phi__fact_list_compare(own->groups[at], name) < 0) at++;
    *found = at < own->count && phi_str_equal(own->groups[at], name);
    return at;
}

PHI__FN phi_status phi__fact_groups_enter(phi__facts_own *own, phi_memory *memory, phi_str name) {
    bool found;
    size_t at = phi__fact_groups_membership(own, name, &found), i;
    phi_str copy;
    void *grown;
    if (found) return PHI_OK;
    if (own->count >= PHI_FACT_MEMBERSHIPS) return PHI_FULL;
    grown = phi__grow(memory, own->groups, &own->cap, own->count + 1, sizeof *own->groups);
    if (grown == NULL) return PHI_NO_MEMORY;
    own->groups = (phi_str *)grown;
    if (!phi__fact_groups_copy(memory, name, &copy)) return PHI_NO_MEMORY;
    for (i = own->count++; i > at; i--) own->groups[i] = own->groups[i - 1];
    own->groups[at] = copy;
    return PHI_OK;
}

PHI__FN void phi__fact_groups_forget(phi__facts_own *own, phi_memory *memory) {
    phi__fact_list_free(&own->list, memory);
    while (own->count > 0) phi__fact_groups_drop(memory, own->groups[--own->count]);
    phi__free(memory, own->groups, own->cap * sizeof *own->groups);
    memset(own, 0, sizeof *own);
}

PHI__FN void phi__fact_groups_leave(phi__facts_own *own, phi_memory *memory, phi_str name) {
    bool found;
    size_t at = phi__fact_groups_membership(own, name, &found);
    if (!found) return;
    phi__fact_groups_drop(memory, own->groups[at]);
    for (own->count--; at < own->count; at++) own->groups[at] = own->groups[at + 1];
}
