/* rules_in.h - which rules match a call, a command of a shell's line, or a file it writes. */
#ifndef PHI_PERMISSIONS_RULES_IN_H
#define PHI_PERMISSIONS_RULES_IN_H

#include "permissions/permissions_in.h"
#include "permissions/permissions.h"
#include "permissions/shell_in.h"

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

/* True if a word names a file of the rule. .GIT is .git in many file systems: rules that ask or
   deny match capitals and small letters alike, and, if subject->may, a pattern of the shell if one
   of its files may be the rule's. */
PHI__FN bool phi__paths_word(phi__subject *subject, const phi_permission_rule *rule,
                             const phi__sh_word *word);
PHI__FN bool phi__paths_text(phi__subject *subject, const phi_permission_rule *rule, phi_str path);

/* The same of any text of a tool's arguments, for a rule that asks or denies; depth: 0. */
PHI__FN bool phi__paths_arguments(phi__subject *subject, const phi_permission_rule *rule,
                                  const phi_json *node, unsigned depth);

/* The same of subject->command: for a rule that allows, all of its words. */
PHI__FN bool phi__paths_command(phi__subject *subject, const phi_permission_rule *rule);

/* The host of a URL in lower case, in `out`. False: it is no URL, or has no plain host. */
PHI__FN bool phi__hosts_of(phi_str url, phi__buf *out);

#endif
