/* permissions.h - which tool calls may run: rules as data, and a hook that heeds them.

       phi_permissions_desc how = PHI_ZERO;
       how.workspace = "/home/ada/project";
       how.ask_fn = ask;                              // a dialog; it may say PHI_WAIT
       how.user_data = &app;
       phi_permissions *permissions = phi_permissions_new(&how, NULL);
       desc.hook_fn = phi_permissions_hook;           // desc: a phi_agent_desc
       desc.hook_points = PHI_HOOK_BEFORE_TOOL;
       desc.hook_user_data = permissions;

   A call is allowed, asked about, or denied. Among matching rules, deny counts before ask, and ask
   before allow; without a match, phi_permission_rules.otherwise counts. The order of rules has no
   meaning. A command line of a shell is parsed: each of its commands is decided on, whatever pipe,
   substitution or program (env, xargs, bash -c) runs it, each redirection is decided on as a call
   of write_file or read_file is, and the strictest verdict counts. A line that cannot be parsed
   with certainty is allowed only by rules that allow every command, and one that cannot be parsed
   to its end only where no rule asks about commands or denies them.

   This is no sandbox. Aliases, functions of a profile, values of variables, scripts that are
   written and then run, and whatever an allowed program does, are not seen; links in paths are not
   followed. Threads: the pumping thread. */
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

/* A rule matches if all of its fields do; NULL matches always. In patterns * matches any text, ? a
   character, [abc] and [!a-z] one of a set, and | separates alternatives. */
typedef struct phi_permission_rule {
    phi_permission verdict;
    const char *tool; /* its name: "bash", "write_file|edit_file", "mcp_*" */
    /* For a shell's command: a pattern a word, "git status", "npm run *". All words must match; a
       last word * matches any number of them, none too, and it alone matches words of unknown text
       ($NAME, *.c). Rules that allow match a program by its name or in /bin and /usr/bin, and no
       command with variables set before it; others in every directory. */
    const char *command;
    /* words, of each of which one must be there; -r also finds -fr, and --force also --fo */
    const char *with;
    const char *without; /* words of which none may be there, and no word that is not known */
    const char *piped;   /* names of programs: what one prints goes to this command */
    /* For a file: absolute, from "~/", or relative to the workspace; "./" and all below it are
       "./" "**". Here * does not match a slash, and ** does. ! before all of it: any other. In a
       command, every word with a / or .. must match for a rule that allows, one word for others; in
       a call of a tool not phi's own, any text of the arguments for others. */
    const char *path;
    const char *host;     /* of the URL: "example.com|*.example.org" */
    const char *argument; /* a member of the arguments, for `matches` */
    const char *matches;  /* its text; without `argument`: the JSON text of all arguments */
    const char *reason;   /* for the model and the person who is asked */
    /* For a command: the options that it may have, one alternative each, and no other; "" allows
       none. "-a|-n" also finds -an; "-C*" finds -C3 and -nC3; "--" may always be there. No word may
       be there that the shell could make an option of ($NAME, *.c; not a*.c). */
    const char *options;
    /* Whose tool it is: a pattern of phi_tool.source; "": the host's own. NULL: anybody's, but a
       rule that allows tools by name allows no other source's tool that has the name of a shell or
       of a built-in tool. */
    const char *source;
} phi_permission_rule;

typedef struct phi_permission_rules {
    const phi_permission_rule *rules;
    size_t count;
    phi_permission otherwise; /* where no rule matches (default: ask) */
} phi_permission_rules;

typedef enum phi_permission_mode {
    /* Reading in the workspace and commands that only read are allowed, destructive ones are
       denied, all else is asked about. */
    PHI_PERMISSION_MODE_DEFAULT = 0,
    PHI_PERMISSION_MODE_PLAN,         /* what reads as above; all else is denied */
    PHI_PERMISSION_MODE_ACCEPT_EDITS, /* as the default, and files of the workspace are written */
    /* All but destructive commands and private keys; what may be one is asked about. */
    PHI_PERMISSION_MODE_ALL
} phi_permission_mode;

/* The rules of a mode: static. */
PHI_API const phi_permission_rules *phi_permissions_mode(phi_permission_mode mode);

/* Rules out of JSON, and as JSON: {"rules": [{"verdict": "allow", "tool": "bash", "command": "git
   log *"}], "otherwise": "ask"}. A member that is not known, or of another type, is refused: error
   (or NULL) says where and why. All is in the arena. PHI_PARSE, PHI_NO_MEMORY. */
PHI_API phi_status phi_permissions_from_json(phi_str json, phi_arena *arena,
                                             phi_permission_rules *out, phi_parse_error *error);
PHI_API phi_status phi_permissions_to_json(const phi_permission_rules *rules, phi_arena *arena,
                                           phi_str *out);

typedef struct phi_permissions phi_permissions;

/* Zero means default for every field. */
typedef struct phi_permissions_desc {
    phi_allocator allocator;           /* (default: malloc) */
    const phi_permission_rules *rules; /* copied (default: those of PHI_PERMISSION_MODE_DEFAULT) */
    const char *workspace;             /* absolute; copied (default: relative paths are in it) */
    const char *home;                  /* absolute; copied (default: only "~" names it) */
    const char *shell_tools;           /* a pattern of names; copied (default "bash") */
    /* NULL-ended; files that the host runs or heeds: its scripts, its configuration. Under whatever
       rules, writing one is asked about, and a command that copies, moves or removes it or the
       directory that it is in. Relative ones are in the workspace; copied (default: none) */
    const char *const *protected_paths;
    /* Called for a call to ask about; its verdict may be PHI_WAIT. hook->text says why it asks.
       (default: such a call is denied, with a text) */
    phi_hook_fn ask_fn;
    /* The host's own hook: called at every other point, and for calls that rules, or ask_fn, have
       allowed, with the arguments that will be used: it may still deny them (default: none) */
    phi_hook_fn hook_fn;
    void *user_data; /* of ask_fn and hook_fn */
} phi_permissions_desc;

/* NULL: no memory, or a fault of desc, which `error` (may be NULL) names. Free it when no agent
   uses it. Inside its own hooks it is freed when they return. */
PHI_API phi_permissions *phi_permissions_new(const phi_permissions_desc *desc,
                                             phi_parse_error *error);
PHI_API void phi_permissions_free(phi_permissions *permissions); /* NULL is harmless */

/* Replaces all rules, or adds some. Copied; calls that run and questions that wait stay as they
   are. PHI_NO_MEMORY: nothing changes; PHI_MISUSE: inside of ask_fn or hook_fn. */
PHI_API phi_status phi_permissions_set(phi_permissions *permissions,
                                       const phi_permission_rules *rules);
PHI_API phi_status phi_permissions_add(phi_permissions *permissions,
                                       const phi_permission_rule *rules, size_t count);
/* Those in use, borrowed until the next change. */
PHI_API const phi_permission_rules *phi_permissions_rules(const phi_permissions *permissions);

/* phi_agent_desc.hook_fn, with the permissions as hook_user_data. A host may also call it from its
   own hook. */
PHI_API phi_verdict phi_permissions_hook(void *permissions, phi_hook *hook);

/* A tool call to decide on. */
typedef struct phi_permission_call {
    phi_str tool_name, arguments; /* arguments: JSON text */
    phi_str source; /* as phi_hook and phi_pending_item have it; empty: the host's own */
} phi_permission_call;

/* What the rules say of a call, and why, in words (valid until the next call of any function on
   these permissions; why may be NULL). Without memory it is PHI_PERMISSION_ASK. */
PHI_API phi_permission phi_permissions_check(phi_permissions *permissions,
                                             const phi_permission_call *call, phi_str *why);

typedef enum phi_permission_scope {
    PHI_PERMISSION_SCOPE_EXACT = 0, /* these very words, this path, this host */
    PHI_PERMISSION_SCOPE_KIND /* "git add *", "npm run *", the path's directory; tools by name */
} phi_permission_scope;

/* "Always allow this": the narrowest rules that allow a call, in the arena, to show and then
   phi_permissions_add; they name the call's source where it has one. None (count 0): it is allowed
   already. PHI_REJECTED: no rule should: it is denied or asked about by a rule, a word is not
   known, or it deletes without asking; *why (or NULL) says so, valid as above. PHI_NO_MEMORY. */
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
