/* permissions_in.h - the permissions of a host, and the verdict on one call. */
#ifndef PHI_PERMISSIONS_PERMISSIONS_IN_H
#define PHI_PERMISSIONS_PERMISSIONS_IN_H

#include "base/base_in.h"
#include "permissions/permissions.h"

enum { PHI__CHECK_GUARDS = 4 };

struct phi_permissions {
    phi_memory memory;
    phi_arena arena;       /* of the texts below */
    phi_arena rules_arena; /* of the rules */
    phi_permission_rules rules;
    phi_permission_rule guards[PHI__CHECK_GUARDS]; /* of protected paths: after all rules */
    size_t guard_count;
    const char *workspace, *home, *shell_tools;
    phi_hook_fn ask_fn, hook_fn;
    void *user_data;
    phi__buf why;
    phi__buf question; /* hook->text: `why` changes when ask_fn checks other calls */
    bool busy;         /* in a function of the host's */
    bool freed;        /* in it: to be freed after it */
};

#endif
