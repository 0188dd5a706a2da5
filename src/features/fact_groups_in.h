/* fact_groups_in.h - the facts of groups, and the groups of an agent: both sorted by name. */
#ifndef PHI_FEATURES_FACT_GROUPS_IN_H
#define PHI_FEATURES_FACT_GROUPS_IN_H

#include "features/fact_list_in.h"

typedef struct phi__fact_group {
    phi_str name; /* in memory of its own */
    phi__fact_list list;
} phi__fact_group;

/* Of a runtime. */
typedef struct phi__facts {
    phi__fact_list all;
    phi__fact_group *groups; /* by name; none without facts */
    size_t count, cap;
} phi__facts;

/* Of an agent. */
typedef struct phi__facts_own {
    phi__fact_list list;
    phi_str *groups; /* by name, each in memory of its own */
    size_t count, cap;
} phi__facts_own;

/* The place of a group, as phi__fact_list_find; facts NULL: there are none. */
PHI__FN size_t phi__fact_groups_find(const phi__facts *facts, phi_str name, bool *found);
/* The same, and it is made where it is missing. SIZE_MAX: PHI_FULL or no memory (*status). */
PHI__FN size_t phi__fact_groups_make(phi__facts *facts, phi_memory *memory, phi_str name,
                                     phi_status *status);
/* Removes a group without facts. */
PHI__FN void phi__fact_groups_tidy(phi__facts *facts, phi_memory *memory, size_t at);
/* Frees all facts, those of all agents too. */
PHI__FN void phi__fact_groups_clear(phi__facts *facts, phi_memory *memory);

/* An agent joins a group whose name fits, and leaves it; twice is harmless. PHI_FULL,
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__fact_groups_enter(phi__facts_own *own, phi_memory *memory, phi_str name);
PHI__FN void phi__fact_groups_leave(phi__facts_own *own, phi_memory *memory, phi_str name);
PHI__FN void phi__fact_groups_forget(phi__facts_own *own, phi_memory *memory);

#endif
