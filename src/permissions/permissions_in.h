/* permissions_in.h - a host's permissions, and the verdict on one call. */
#ifndef PHI_PERMISSIONS_PERMISSIONS_IN_H
#define PHI_PERMISSIONS_PERMISSIONS_IN_H

#include "base/base_in.h"
#include "permissions/permissions.h"
#include "permissions/shell_in.h"

enum { PHI__CHECK_GUARDS = 4 };

struct phi_permissions {
    phi_memory memory;
    phi_arena arena;       /* holds the texts below */
    phi_arena rules_arena; /* holds the rules */
    phi_permission_rules rules;
    phi_permission_rule guards[PHI__CHECK_GUARDS]; /* rules on protected paths, after all others */
    size_t guard_count;
    const char *workspace, *home, *shell_tools, *powershell_tools;
    phi_hook_fn ask_fn, hook_fn;
    void *user_data;
    phi__buf why;
    phi__buf question; /* hook->text: a copy, because `why` changes if ask_fn checks calls */
    bool busy;         /* a callback of the host is running */
    bool freed;        /* phi_permissions_free() was called meanwhile */
};

/* A tool call, or a part of one. */
typedef struct phi__subject {
    const char *workspace, *home; /* NULL: not known */
    const char *shell_tools;      /* a pattern of tool names */
    phi_str tool, source;         /* source: as in phi_hook; empty: the host's own */
    phi_str arguments;            /* JSON text */
    const phi_json *root;         /* parsed arguments; NULL if they are not JSON */
    const phi__shell *shell;
    const phi__sh_command *command; /* a command of the shell's line; NULL: none */
    size_t index;                   /* index of `command` */
    bool line;                      /* the part is a whole line that is uncertain */
    bool file, writes; /* file: the part is a redirection, which writes or reads `path` */
    phi__sh_word path;
    bool lost;     /* an allocation failed */
    bool may;      /* a shell pattern matches if it may find a file of the rule */
    bool overlong; /* a rule matches because a path is longer than any file's */
    size_t tries;  /* number of word parts that were compared with paths */
    size_t work;   /* number of words and commands that were examined */
    phi_memory *memory;
} phi__subject;

static inline bool phi__allows(const phi_permission_rule *rule) {
    return rule->verdict == PHI_PERMISSION_ALLOW;
}

/* Returns the strictest verdict. *which is a rule with this verdict; NULL if no rule matches. */
PHI__FN phi_permission phi__rules_decide(const phi_permission_rules *rules, phi__subject *subject,
                                         const phi_permission_rule **which);

/* True if rules ask about or deny commands of this tool. An unparsed line may be such a command. */
PHI__FN bool phi__rules_restrict(const phi_permission_rules *rules, const phi__subject *subject);

/* True if the command runs after a cd and may read or run files of the new directory. If path is
   set, the rule itself checks the files that the command reads. */
PHI__FN bool phi__rules_moved(const phi__subject *subject, bool path);

/* True if a tool has the name of one of phi's own tools or of a shell, whatever its source. */
PHI__FN bool phi__rules_own(const char *shell_tools, phi_str tool);

/* Returns the path in a tool's arguments; empty if there is none. */
PHI__FN phi_str phi__rules_path_of(const phi_json *root);

/* Replaces the texts of a rule by copies. False if there is no memory. */
PHI__FN bool phi__rules_keep(phi_arena *arena, phi_permission_rule *rule);

/* Writes the host of a URL in lower case to `out`, which must be empty. False if `url` is no URL or
   has no plain host, or if there is no memory; the text in `out` is then of no use. */
PHI__FN bool phi__hosts_of(phi_str url, phi__buf *out);

#endif
