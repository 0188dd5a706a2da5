/* permissions_in.h - the permissions of a host, and the verdict on one call. */
#ifndef PHI_PERMISSIONS_PERMISSIONS_IN_H
#define PHI_PERMISSIONS_PERMISSIONS_IN_H

#include "base/base_in.h"
#include "permissions/permissions.h"
#include "permissions/shell_in.h"

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

/* A call, or a part of one. */
typedef struct phi__subject {
    const char *workspace, *home; /* NULL: not known */
    const char *shell_tools;      /* a pattern */
    phi_str tool, source;         /* source: empty, or who brings it */
    phi_str arguments;            /* JSON text */
    const phi_json *root;         /* of the arguments; NULL: they are no JSON */
    const phi__shell *shell;
    const phi__sh_command *command; /* of a shell's line */
    size_t index;                   /* of the command */
    bool line;                      /* a shell's line as a whole, which is not known */
    bool file, writes;              /* a redirection: */
    phi__sh_word path;
    bool lost;     /* no memory */
    bool may;      /* a pattern of the shell matches where one of its files may be the rule's */
    bool overlong; /* a rule matches because its path is one that no file has */
    size_t tries;  /* parts of words that were compared with paths */
    size_t work;   /* words and commands that were looked at */
    phi_memory *memory;
} phi__subject;

static inline bool phi__allows(const phi_permission_rule *rule) {
    return rule->verdict == PHI_PERMISSION_ALLOW;
}

/* The strictest verdict; *which: a rule with it, or NULL where none matches. */
PHI__FN phi_permission phi__rules_decide(const phi_permission_rules *rules, phi__subject *subject,
                                         const phi_permission_rule **which);

/* True if rules ask about or deny commands of this tool by their words: a line that is not known
   may hold such a command. */
PHI__FN bool phi__rules_restrict(const phi_permission_rules *rules, const phi__subject *subject);

/* True if it runs after a cd, and may read or run files of that directory; path: the rule looks at
   its files. */
PHI__FN bool phi__rules_moved(const phi__subject *subject, bool path);

/* True if a tool has the name of one of phi's own or of a shell: another source's tool with this
   name does something else. */
PHI__FN bool phi__rules_own(const char *shell_tools, phi_str tool);

/* The path of a tool's arguments; empty: they have none. */
PHI__FN phi_str phi__rules_path_of(const phi_json *root);

/* The host of a URL in lower case, in `out`. False: it is no URL, or has no plain host. */
PHI__FN bool phi__hosts_of(phi_str url, phi__buf *out);

#endif
