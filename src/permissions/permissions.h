/* permissions.h - decides which tool calls may run, by rules that are data.

       phi_permissions_desc how = PHI_ZERO;
       how.workspace = "/home/ada/project";
       how.ask_fn = ask;                              // a dialog; it may say PHI_WAIT
       how.user_data = &app;
       phi_permissions *permissions = phi_permissions_new(&how, NULL);
       desc.hook_fn = phi_permissions_hook;           // desc: a phi_agent_desc
       desc.hook_points = PHI_HOOK_BEFORE_TOOL;
       desc.hook_user_data = permissions;

   A call is allowed, asked about, or denied. Among matching rules, deny counts before ask, and ask
   before allow. If no rule matches, the verdict is phi_permission_rules.otherwise. The order of
   rules has no meaning. A shell's command line is parsed. Rules decide on each command in the line,
   even if a pipe, a substitution or a program (env, xargs, bash -c) runs it. Rules decide on a
   redirection as on a call of write_file or read_file. The strictest verdict counts. A line that
   cannot be parsed with certainty is allowed only by rules that allow every command. If the parser
   cannot reach the line's end, and any rule asks about commands or denies them, even such a line is
   asked about.

   This is no sandbox. Rules do not see aliases, functions of a profile, values of variables,
   scripts that are written and then run, or whatever an allowed program does. Links in paths are
   not followed. Threads: the pumping thread. */
#ifndef PHI_PERMISSIONS_PERMISSIONS_H
#define PHI_PERMISSIONS_PERMISSIONS_H

#include "loop/hook.h"
#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_permission {
    PHI_PERMISSION_ASK = 0,
    PHI_PERMISSION_ALLOW,
    PHI_PERMISSION_DENY
} phi_permission;

/* A rule matches if all of its fields match; a NULL field always matches. In patterns, * matches
   any text, ? a character, [abc] and [!a-z] one of a set, and | separates alternatives. */
typedef struct phi_permission_rule {
    phi_permission verdict;
    const char *tool; /* name of the tool: "bash", "write_file|edit_file", "mcp_*" */
    /* For a shell's command: one pattern for each word, as in "git status" and "npm run *". All
       words must match. A * as the last word matches any number of words, also none. A rule that
       allows matches a program by its bare name or in /bin and /usr/bin. It matches no command that
       sets variables before the program. Only its last * matches words of unknown text ($NAME,
       *.c). Other rules match the program in every directory. */
    const char *command;
    /* Words that the command must have. If a word has alternatives, one of them is enough. In rules
       that ask or deny, -r also finds -fr, and --force also finds --fo. */
    const char *with;
    /* Words that the command must not have. An ALLOW rule also needs to know
       the text of all words. */
    const char *without;
    const char *piped; /* names of programs: the output of one of them goes to this command */
    /* For a file: an absolute path, one that begins with "~/", or one relative to the workspace.
       The workspace and all below it are "./" "**". Here * does not match a slash, and ** does. A
       "!" before the pattern means all paths that do not match it. In a command, a rule that allows
       must match every word with a / or .., but for other rules one matching word is enough. In a
       call of a tool that is not phi's own, rules that ask or deny match any text of the
       arguments. */
    const char *path;
    const char *host;     /* host of the URL: "example.com|*.example.org" */
    const char *argument; /* name of a member of the arguments, for `matches` */
    /* Pattern of the text of `argument`; of all arguments as JSON if `argument` is NULL. */
    const char *matches;
    const char *reason; /* shown to the model and to the person who is asked */
    /* For a command: all options that it may have, one alternative each. "" allows no option.
       "-a|-n" also finds -an; "-C*" finds -C3 and -nC3; "--" may always be there. The command may
       have no word that the shell could expand to an option ($NAME, *.c; but a*.c is allowed). */
    const char *options;
    /* A pattern of the tool's phi_tool.source; "" means the host's own tools. If NULL, the rule is
       for tools of any source, with one exception: if the rule allows tools by name, it does not
       allow another source's tool that has the name of a shell or of a built-in tool. */
    const char *source;
} phi_permission_rule;

typedef struct phi_permission_rules {
    const phi_permission_rule *rules;
    size_t count;
    phi_permission otherwise; /* verdict if no rule matches (default: ask) */
} phi_permission_rules;

typedef enum phi_permission_mode {
    /* Allows reading in the workspace and commands that only read, denies destructive commands, and
       asks about all else. */
    PHI_PERMISSION_MODE_DEFAULT = 0,
    PHI_PERMISSION_MODE_PLAN,         /* the same rules, but all else is denied */
    PHI_PERMISSION_MODE_ACCEPT_EDITS, /* the default rules, plus writing in the workspace */
    /* Allows all but destructive commands and access to private keys. Asks if a call may be such a
       command or access. */
    PHI_PERMISSION_MODE_ALL
} phi_permission_mode;

/* Returns the rules of a mode, which are static. */
PHI_API const phi_permission_rules *phi_permissions_mode(phi_permission_mode mode);

/* Reads rules from JSON, and writes them as JSON: {"rules": [{"verdict": "allow", "tool": "bash",
   "command": "git log *"}], "otherwise": "ask"}. A member that is not known, or of another type, is
   refused: `error` (may be NULL) says where and why. All memory comes from the arena. On failure,
   returns PHI_PARSE or PHI_NO_MEMORY. */
PHI_API phi_status phi_permissions_from_json(phi_str json, phi_arena *arena,
                                             phi_permission_rules *out, phi_parse_error *error);
PHI_API phi_status phi_permissions_to_json(const phi_permission_rules *rules, phi_arena *arena,
                                           phi_str *out);

typedef struct phi_permissions phi_permissions;

/* Zero means default for every field. */
typedef struct phi_permissions_desc {
    phi_allocator allocator;           /* (default: malloc) */
    const phi_permission_rules *rules; /* copied (default: those of PHI_PERMISSION_MODE_DEFAULT) */
    /* absolute path; copied (default: unknown, so only relative paths count as in the workspace) */
    const char *workspace;
    /* absolute path; copied (default: unknown, so only "~" means the home directory) */
    const char *home;
    const char *shell_tools; /* a pattern of names; copied (default "bash") */
    /* A pattern of those shell_tools whose lines are PowerShell; copied. A line of plain commands
       (Get-ChildItem src, Get-Content a.txt | Select-Object -First 5) is judged by the rules on its
       commands, each under its full name. All other lines cannot be read with certainty (default:
       all of shell_tools if the tool `bash` runs PowerShell here, else none) */
    const char *powershell_tools;
    /* The host's scripts and configuration. Even if a rule allows the call, phi asks before such a
       file is written, and before a command copies, moves or removes such a file or a directory
       that contains one. Relative paths are in the workspace. NULL-ended; copied (default: none) */
    const char *const *protected_paths;
    /* Called for each call that is asked about; it may return PHI_WAIT. hook->text says why the
       call is asked about (default: such calls are denied with a message) */
    phi_hook_fn ask_fn;
    /* The host's own hook (default: none). It is called at all points except BEFORE_TOOL, and at
       BEFORE_TOOL with the final arguments if rules or ask_fn have allowed the call, which it may
       still deny. */
    phi_hook_fn hook_fn;
    void *user_data; /* passed to ask_fn and hook_fn */
} phi_permissions_desc;

/* Makes permissions. NULL if there is no memory, or if desc has a fault, which `error` (may be
   NULL) names. Free the permissions when no agent uses them. If ask_fn or hook_fn frees them, they
   live until that function returns. */
PHI_API phi_permissions *phi_permissions_new(const phi_permissions_desc *desc,
                                             phi_parse_error *error);
PHI_API void phi_permissions_free(phi_permissions *permissions); /* NULL is harmless */

/* Replaces all rules, or adds some. The rules are copied. Running calls and waiting questions stay
   as they are. PHI_NO_MEMORY: nothing changes. PHI_MISUSE: called inside of ask_fn or hook_fn. */
PHI_API phi_status phi_permissions_set(phi_permissions *permissions,
                                       const phi_permission_rules *rules);
PHI_API phi_status phi_permissions_add(phi_permissions *permissions,
                                       const phi_permission_rule *rules, size_t count);
/* Returns the rules in use, borrowed until the next change. */
PHI_API const phi_permission_rules *phi_permissions_rules(const phi_permissions *permissions);

/* Set this as phi_agent_desc.hook_fn, with the permissions as hook_user_data. A host may also call
   it from its own hook. */
PHI_API phi_verdict phi_permissions_hook(void *permissions, phi_hook *hook);

/* A tool call to decide on. */
typedef struct phi_permission_call {
    phi_str tool_name, arguments; /* arguments: JSON text */
    phi_str source;               /* as in phi_hook and phi_pending_item; empty: the host's own */
} phi_permission_call;

/* Returns the verdict of the rules on a call. *why (why may be NULL) is the reason in words, valid
   until the next call of any function on these permissions. If there is no memory, a call that is
   not denied gets PHI_PERMISSION_ASK. */
PHI_API phi_permission phi_permissions_check(phi_permissions *permissions,
                                             const phi_permission_call *call, phi_str *why);

typedef enum phi_permission_scope {
    PHI_PERMISSION_SCOPE_EXACT = 0, /* only these words, this path, this host */
    PHI_PERMISSION_SCOPE_KIND       /* "git add *", the path's directory, any call of a tool */
} phi_permission_scope;

/* "Always allow this": makes the narrowest rules that allow a call, in the arena. Show the rules to
   a person, then pass them to phi_permissions_add(). The rules name the call's source if it has
   one. If out->count is 0, the call is allowed already. PHI_REJECTED: no rule should allow the
   call, for example because a rule denies it, a word has unknown text, or the call deletes
   directories. For SCOPE_KIND, also if a rule asks about the call. *why (why may be NULL) then has
   the reason, valid as above. Also PHI_NO_MEMORY. */
PHI_API phi_status phi_permissions_always(phi_permissions *permissions,
                                          const phi_permission_call *call,
                                          phi_permission_scope scope, phi_arena *arena,
                                          phi_permission_rules *out, phi_str *why);

#ifdef __cplusplus
}
inline phi_permissions *phi_permissions_new(const phi_permissions_desc &desc,
                                            phi_parse_error *error) {
    return phi_permissions_new(&desc, error);
}
#endif
#endif
