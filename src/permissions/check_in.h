/* check_in.h - the permissions of a host, and the verdict on one call. */
#ifndef PHI_PERMISSIONS_CHECK_IN_H
#define PHI_PERMISSIONS_CHECK_IN_H

#include "permissions/rules_in.h"

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
    bool freed;        /* in it: to be freed behind it */
};

/* Something that the verdict is made of. */
typedef struct phi__check_part {
    phi_permission verdict;
    const phi_permission_rule *rule; /* NULL: none matches */
    phi__rules_subject *subject;
} phi__check_part;

/* Calls `each` for every part of a call: the call itself, or each command and each file of a
   shell's line. A line that is not known is a part. PHI_NO_MEMORY, or what `each` says first. */
PHI__FN phi_status phi__check_parts(phi_permissions *permissions, phi_arena *scratch,
                                    phi_str source, phi_str tool_name, phi_str arguments,
                                    phi_status (*each)(void *ctx, const phi__check_part *part),
                                    void *ctx);
/* A part in words, for people: "`rm -r build`", "writing out.txt". */
PHI__FN void phi__check_put(phi__buf *out, const phi__rules_subject *subject);

#endif
