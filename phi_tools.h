/* phi_tools.h - v0.1.0 - tools for phi's agents - MIT, text at end of file

   Copy it beside phi.h, which it includes. In exactly ONE C or C++ file, which holds just these two
   lines, then link with -lcurl:
       #define PHI_IMPLEMENTATION
       #include "phi_tools.h"
   Elsewhere only the #include. This implements phi.h as well: do it in no other file.

   The built-in tools of an agent that works with files and commands. Each is a plain phi_tool: give
   those you want to phi_agent_desc, beside your own. Further: the operations of an OpenAPI document
   as tools, skills, permissions (rules that decide on tool calls), hooks that are scripts.

   OPTIONS, MEMORY, THREADS, ERRORS  As in phi.h. PHI_NO_PROCESS leaves out the tools that run
            commands, PHI_NO_FILES the tools that touch files, PHI_NO_OPENAPI the operations of
            OpenAPI documents, PHI_NO_SKILLS skills, PHI_NO_PERMISSIONS rules for tool calls,
            PHI_NO_SCRIPTS hooks that are scripts.
   SAFETY   A tool does what a model asks for. Files are confined to the workspace and its allowed
            paths, through symbolic links too; commands are not confined: decide in a hook, or do
            not give the agent that tool.
   LICENSE  MIT, at the end of this file. */
#ifdef PHI_IMPLEMENTATION
#if defined(__GLIBC__) && !defined(__USE_GNU)
#define PHI__LATE 1
#elif defined(_FEATURES_H) && !defined(_GNU_SOURCE)
#define PHI__LATE 1
#endif
#ifdef PHI__LATE
#undef PHI__LATE
#error "phi: a system header was included before PHI_IMPLEMENTATION and phi_tools.h: put these" \
    "two lines first, or alone into a file, or compile with -D_GNU_SOURCE"
#else
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE 1
#endif
#if defined(__NetBSD__) && !defined(_NETBSD_SOURCE)
#define _NETBSD_SOURCE 1
#endif
#endif

#include "phi.h"
#if PHI__PUB_BASE != 0xbaed2243
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_TEXT != 0x74c3a362
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_IO != 0xeb0e3099
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_MODEL != 0x423c5d4f
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_WIRE != 0x65e39ffb
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_CODECS != 0x7f2a1095
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_LOG != 0x3bb3afc3
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_HISTORY != 0x7579102c
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_PERSIST != 0x1882b8bf
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_LOOP != 0xab44e29d
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_FEATURES != 0xbc645a35
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_AGENT != 0x885f5467
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_RECORD != 0x4ef22910
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_SUBAGENTS != 0x750031f3
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_EVALUATE != 0x7fe00fe0
#error "phi: phi_tools.h and phi.h are of different versions"
#endif
#if PHI__PUB_STRATEGY != 0x719c5783
#error "phi: phi_tools.h and phi.h are of different versions"
#endif

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpadded"
#pragma clang diagnostic ignored "-Wc++98-compat-pedantic"
#if __has_warning("-Wreserved-identifier")
#pragma clang diagnostic ignored "-Wreserved-identifier"
#pragma clang diagnostic ignored "-Wreserved-macro-identifier"
#endif
#elif defined(__GNUC__) && __GNUC__ >= 5
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpadded"
#endif

#ifdef PHI__PUB_PERMISSIONS
#if PHI__PUB_PERMISSIONS != 0x98c8fe96
#error "phi: two versions of src/permissions in one file"
#endif
#else
#define PHI__PUB_PERMISSIONS 0x98c8fe96

/* ---- src/permissions/permissions.h ---- */

/* permissions.h - which tool calls may run: rules as data, and a hook that heeds them.

       phi_permissions_desc how = PHI_ZERO;
       how.workspace = "/home/ada/project";
       how.ask_fn = ask;                              // a dialog; it may say PHI_WAIT
       how.user_data = &app;
       phi_permissions *permissions = phi_permissions_new(&how, NULL);
       desc.hook_fn = phi_permissions_hook;           // desc: a phi_agent_desc
       desc.hook_points = PHI_HOOK_BEFORE_TOOL;
       desc.hook_user_data = permissions;

   A call is allowed, asked about, or denied. Of all rules that match, deny counts before ask, and
   ask before allow; where none does, phi_permission_rules.otherwise. The order of rules has no
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


#ifndef PHI_NO_PERMISSIONS

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_permission {
    PHI_PERMISSION_ASK = 0,
    PHI_PERMISSION_ALLOW,
    PHI_PERMISSION_DENY
} phi_permission;

/* A rule matches where all of its fields do; NULL matches always. In patterns * stands for any
   text, ? for a character, [abc] and [!a-z] for one of a set, and | separates alternatives. */
typedef struct phi_permission_rule {
    phi_permission verdict;
    const char *tool; /* its name: "bash", "write_file|edit_file", "mcp_*" */
    /* Of a shell's command: a pattern a word, "git status", "npm run *". All words must match; a
       last word * stands for any number of them, none too, and is all that matches words whose text
       is not known ($NAME, *.c). Rules that allow match a program by its name or in /bin and
       /usr/bin, and no command with variables set before it; others in every directory. */
    const char *command;
    const char *with;    /* words, of each of which one must be there; -r also finds -fr */
    const char *without; /* words of which none may be there, and no word that is not known */
    const char *piped;   /* names of programs: the output of one goes to this command */
    /* Of a file: absolute, from "~/", or relative to the workspace; "./" and all below it are
       "./" "**". Here * does not match a slash, and ** does. ! before all of it: any other. Of a
       command, every word with a / or .. must match for a rule that allows, one word for others. */
    const char *path;
    const char *host;     /* of the URL: "example.com|*.example.org" */
    const char *argument; /* a member of the arguments, for `matches` */
    const char *matches;  /* its text; without `argument`: the JSON text of all arguments */
    const char *reason;   /* for the model and the person who is asked */
} phi_permission_rule;

typedef struct phi_permission_rules {
    const phi_permission_rule *rules;
    size_t count;
    phi_permission otherwise; /* where no rule matches (default: ask) */
} phi_permission_rules;

typedef enum phi_permission_mode {
    /* Reading in the workspace and commands that only read are allowed, what destroys is denied,
       all else is asked about. */
    PHI_PERMISSION_MODE_DEFAULT = 0,
    PHI_PERMISSION_MODE_PLAN,         /* what reads as above; all else is denied */
    PHI_PERMISSION_MODE_ACCEPT_EDITS, /* as the default, and files of the workspace are written */
    PHI_PERMISSION_MODE_ALL           /* all but what destroys, and private keys */
} phi_permission_mode;

/* The rules of a mode: static. */
PHI_API const phi_permission_rules *phi_permissions_mode(phi_permission_mode mode);

/* Rules out of JSON, and as JSON: {"rules": [{"verdict": "allow", "tool": "bash", "command": "git
   log *"}], "otherwise": "ask"}. A member that is not known, or of another type, is refused: error
   (or NULL) says where and why. All is in the arena. PHI_PARSE, PHI_NO_MEMORY. */
PHI_API phi_status phi_permissions_from_json(phi_arena *arena, phi_str text,
                                             phi_permission_rules *out, phi_parse_error *error);
PHI_API phi_status phi_permissions_to_json(phi_arena *arena, const phi_permission_rules *rules,
                                           phi_str *out);

typedef struct phi_permissions phi_permissions;

/* Zero means default for every field. */
typedef struct phi_permissions_desc {
    phi_allocator allocator;           /* (default: malloc) */
    const phi_permission_rules *rules; /* copied (default: those of PHI_PERMISSION_MODE_DEFAULT) */
    const char *workspace;             /* absolute; copied (default: relative paths are in it) */
    const char *home;                  /* absolute; copied (default: only "~" names it) */
    const char *shell_tools;           /* a pattern of names; copied (default "bash") */
    /* Called for a call to ask about: its verdict counts, and it may be PHI_WAIT. hook->text says
       why it asks. (default: such a call is denied, with a text) */
    phi_hook_fn ask_fn;
    /* The host's own hook: called at every other point, and for calls that rules allow; of a call
       to ask about ask_fn alone decides (default: none) */
    phi_hook_fn hook_fn;
    void *user_data; /* of ask_fn and hook_fn */
} phi_permissions_desc;

/* NULL: *status (or NULL) says PHI_NO_MEMORY or PHI_BAD_ARG. Free it when no agent uses it. Inside
   its own hooks it is freed when they return. */
PHI_API phi_permissions *phi_permissions_new(const phi_permissions_desc *desc, phi_status *status);
PHI_API void phi_permissions_free(phi_permissions *permissions); /* NULL is harmless */

/* Replaces all rules, or adds some. Copied; calls that run and questions that wait stay as they
   are. PHI_NO_MEMORY: nothing changes; PHI_MISUSE: inside of ask_fn or hook_fn. */
PHI_API phi_status phi_permissions_set(phi_permissions *permissions,
                                       const phi_permission_rules *rules);
PHI_API phi_status phi_permissions_add(phi_permissions *permissions,
                                       const phi_permission_rule *rules, size_t count);
/* Those in use, borrowed until the next change. */
PHI_API const phi_permission_rules *phi_permissions_rules(const phi_permissions *permissions);

/* phi_agent_desc.hook_fn, with the permissions as hook_user_data. A host may also call it from a
   hook of its own. */
PHI_API phi_verdict phi_permissions_hook(void *permissions, phi_hook *hook);

/* What the rules say of a call, and why, in words (valid until the next call of any function on
   these permissions). Without memory it is PHI_PERMISSION_ASK. */
PHI_API phi_permission phi_permissions_check(phi_permissions *permissions, phi_str tool_name,
                                             phi_str arguments, phi_str *why);

typedef enum phi_permission_scope {
    PHI_PERMISSION_SCOPE_EXACT = 0, /* these very words, this path, this host */
    PHI_PERMISSION_SCOPE_KIND /* "git add *", "npm run *", the path's directory; tools by name */
} phi_permission_scope;

/* "Always allow this": the narrowest rules that allow a call, in the arena, to show and then
   phi_permissions_add. None (count 0): it is allowed already. PHI_REJECTED: no rule should: it is
   denied or asked about by a rule, a word is not known, or it deletes without asking; *why (or
   NULL) says so, valid as above. PHI_NO_MEMORY. */
PHI_API phi_status phi_permissions_always(phi_permissions *permissions, phi_str tool_name,
                                          phi_str arguments, phi_permission_scope scope,
                                          phi_arena *arena, phi_permission_rules *out,
                                          phi_str *why);

#ifdef __cplusplus
}
inline phi_permissions *phi_permissions_new(const phi_permissions_desc &desc, phi_status *status) {
    return phi_permissions_new(&desc, status);
}
#endif
#endif
#endif

#endif /* PHI__PUB_PERMISSIONS */

#ifdef PHI__PUB_TOOLS
#if PHI__PUB_TOOLS != 0xa1d7c573
#error "phi: two versions of src/tools in one file"
#endif
#else
#define PHI__PUB_TOOLS 0xa1d7c573

/* ---- src/tools/context_tools.h ---- */

/* context_tools.h - tools by which a model edits its own view: prun, prun_with_memo,
   revert_to_state.

       phi_tool tools[2];
       phi_tools_prun(tools);
       desc.tools = tools;   // desc: a phi_agent_desc
       desc.tool_count = 2;

   They are not among the built-in tools of phi_tools_init: an agent has them when it is given them.
   They only call phi_call_prune and phi_call_revert. They have no state: one tool serves any number
   of agents. */
#ifndef PHI_TOOLS_CONTEXT_TOOLS_H
#define PHI_TOOLS_CONTEXT_TOOLS_H


#ifdef __cplusplus
extern "C" {
#endif

/* prun {tokens} and prun_with_memo {tokens, memo}, into out[0] and out[1]. PHI_BAD_ARG: out is
   NULL. */
PHI_API phi_status phi_tools_prun(phi_tool *out);

/* revert_to_state {category, step, summary}. With it, each tool result ends with a line "[step
   n12]".
   PHI_BAD_ARG: out is NULL. */
PHI_API phi_status phi_tools_revert(phi_tool *out);

#ifdef __cplusplus
}
#endif
#endif

/* ---- src/tools/tools.h ---- */

/* tools.h - the six built-in tools: run a command, read, write and edit a file, list files, search.

       static phi_toolset set;
       phi_tools_desc tools = PHI_ZERO;
       tools.workspace = "/home/ada/project";
       phi_tools_init(&set, &tools);
       desc.tools = set.tools;                       // desc: a phi_agent_desc
       desc.tool_count = set.count;

   The five that work on files stay inside the workspace and the allowed paths: a path is resolved,
   with ".." and all links, before it is compared. Another process that changes links at that very
   moment can defeat this. `bash` is not confined: it starts in the workspace and may do what the
   host's user may. Leave it out, confirm commands, let a hook decide (PHI_HOOK_BEFORE_TOOL, which
   may wait for a person; permissions/permissions.h has rules for each command of a line), or run
   the host in a container. deny_patterns are no boundary: they stop mistakes, not intent, for a
   shell can say a thing in endless ways.

   `search` and `list_files` leave out what .gitignore and .ignore files say. `search` runs ripgrep
   where there is one; else phi's own engine searches, with the same answers.

   All texts that a model sees are UTF-8; other bytes become U+FFFD. Nothing waits: commands run
   beside the pump, files are read and written in slices. write_file and edit_file run alone, so
   that two edits of a turn cannot lose each other; a file is replaced whole, never left half
   written.
   Threads: the pumping thread. */
#ifndef PHI_TOOLS_TOOLS_H
#define PHI_TOOLS_TOOLS_H


#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_TOOL_COUNT = 6 };

/* What searches for `search`. By each of the first, the second and the last the answers are the
   same; grep reads another syntax of patterns and heeds no ignore files. */
typedef enum phi_search_with {
    PHI_SEARCH_AUTOMATIC, /* ripgrep where there is one, else phi's own engine */
    PHI_SEARCH_RG,        /* ripgrep; an error where there is none */
    PHI_SEARCH_GREP,      /* grep -E; an error where there is none */
    PHI_SEARCH_OWN        /* phi's own engine: no process is started */
} phi_search_with;

/* Zero means default for every field. All pointers are borrowed as long as the set is used. */
typedef struct phi_tools_desc {
    /* where relative paths start and commands run (default: the working directory, and then files
       are not confined to it) */
    const char *workspace;
    /* NULL-ended; directories or files that may be used besides the workspace; relative ones start
       there. With neither, every path may be used (default: none) */
    const char *const *allowed_paths;
    bool unconfined; /* files anywhere, though there is a workspace or allowed_paths */
    /* NULL-ended; a command that contains one, also with quotes or more blanks, is refused; no
       boundary: see above; an empty list denies nothing (default: phi_tools_deny_patterns) */
    const char *const *deny_patterns;
    /* Called before a command runs; false: it does not run (default: none). A dialog that takes
       longer than a frame needs a tool of the host's own. */
    bool (*confirm_fn)(void *user_data, const char *command);
    void *user_data;            /* of confirm_fn */
    uint32_t bash_timeout_ms;   /* (default 120,000; PHI_UNLIMITED) */
    uint32_t list_timeout_ms;   /* (default 10,000; PHI_UNLIMITED) */
    uint32_t search_timeout_ms; /* (default 30,000; PHI_UNLIMITED) */
    uint32_t max_output_bytes;  /* of each of a command's streams (default 262,144) */
    uint32_t max_read_bytes;    /* of a text file, or of the requested lines (default 1,048,576) */
    uint32_t max_files;         /* listed by list_files (default 200) */
    uint32_t max_matches;       /* listed by search (default 50) */
    /* what searches (default PHI_SEARCH_AUTOMATIC); with PHI_NO_PROCESS always PHI_SEARCH_OWN */
    phi_search_with search_with;
} phi_tools_desc;

/* Tools and their settings. `tools` and `count` are for the caller to read, all other fields are
   phi's. It must stay where it is until the last agent that uses it is freed. */
typedef struct phi_toolset {
    phi_tool tools[PHI_TOOL_COUNT];
    size_t count; /* 6, or fewer where PHI_NO_PROCESS or PHI_NO_FILES leave some out */
    phi_tools_desc desc;
} phi_toolset;

/* Fills `set` with the tools bash, read_file, write_file, edit_file, list_files and search. desc:
   copied, NULL: defaults. Allocates nothing. PHI_BAD_ARG: set is NULL. */
PHI_API phi_status phi_tools_init(phi_toolset *set, const phi_tools_desc *desc);

/* NULL-ended, static: "rm -rf /", "rm -rf /" with "*", "mkfs", "dd if=", and a fork bomb. The first
   one also catches an rm of an absolute path whose flags are both r and f, in whatever order and
   spelling; not one whose words come from a variable, a substitution or another program. */
PHI_API const char *const *phi_tools_deny_patterns(void);

#ifdef __cplusplus
}
#endif
#endif

/* ---- src/tools/registry.h ---- */

/* registry.h - tools by name, for hosts that put agents together from lists of names. */
#ifndef PHI_TOOLS_REGISTRY_H
#define PHI_TOOLS_REGISTRY_H


#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_tool_registry phi_tool_registry;

/* An empty registry. allocator: copied; NULL: the C library's. NULL: no memory. */
PHI_API phi_tool_registry *phi_tool_registry_new(const phi_allocator *allocator);

/* A registry with the built-in tools. It owns them, and must outlive the agents that use them. desc
   as in phi_tools_init. It also knows prun, prun_with_memo and revert_to_state
   (tools/context_tools.h), but only by name: they are not counted, nor found by
   phi_tool_registry_at. */
PHI_API phi_tool_registry *phi_tool_registry_with_defaults(const phi_allocator *allocator,
                                                           const phi_tools_desc *desc);
PHI_API void phi_tool_registry_free(phi_tool_registry *registry); /* NULL is harmless */

/* Adds a tool, or replaces the one of that name. The struct is copied; its pointers are borrowed
   until the registry, and the agents that got the tool from it, are freed. PHI_BAD_ARG: no name, or
   no start. */
PHI_API phi_status phi_tool_registry_add(phi_tool_registry *registry, const phi_tool *tool);

PHI_API bool phi_tool_registry_contains(const phi_tool_registry *registry, const char *name);
PHI_API size_t phi_tool_registry_count(const phi_tool_registry *registry);
/* In the order they were added; NULL past the last. Owned by the registry, valid until the next
   add. */
PHI_API const phi_tool *phi_tool_registry_at(const phi_tool_registry *registry, size_t index);

/* Copies the tools of those names into `out`, in that order, each once; unknown names are skipped
   and, where `unknown` is given, put into unknown[0..count). The name prun brings prun_with_memo
   with it, so `out` has room for count + 1. Returns how many tools; *unknown_count (may be NULL):
   how many names were unknown. */
PHI_API size_t phi_tool_registry_resolve(const phi_tool_registry *registry,
                                         const char *const *names, size_t count, phi_tool *out,
                                         const char **unknown, size_t *unknown_count);

#ifdef __cplusplus
}
#endif
#endif

/* ---- src/tools/scripts.h ---- */

/* scripts.h - hooks that are scripts: programs that hear of a run as JSON and may stop it.

       phi_script script = PHI_ZERO;
       script.points = PHI_HOOK_BEFORE_TOOL;
       script.command = "python3 scripts/check.py";
       scripts_desc.scripts = &script;
       scripts_desc.count = 1;
       phi_scripts *scripts = phi_scripts_new(&scripts_desc, NULL, 0);
       phi_scripts_use(scripts, &desc);          // desc: a phi_agent_desc, before phi_agent_new

   A script gets one JSON object on its standard input, {"hook":"before_tool_execution",...}, and
   the same facts as variables PHI_HOOK, PHI_SESSION_ID, PHI_LOOP_ID, PHI_AGENT_ID, PHI_TURN_INDEX,
   PHI_TOOL_NAME and PHI_TOOL_CALL_ID. Exit code 0 lets the run continue; any other code denies, at
   the points where that has a meaning. A JSON object on standard output says more:
       {"allow": false, "reason": "..."}   denies
       {"allow": true, "arguments": {..}}  before_tool_execution: the tool runs with these
       {"reply": "..."}                    steering, follow_up: a message; credential: the key
       {"warn": "..."}                     filter: is added for the model
   Standard error is the reason of a denial that gives none, and stands in warnings.

   Nothing waits: the run (or that tool call alone) stands still until the script has exited, as for
   any hook that waits, and PHI_EV_DECISION is not emitted. Scripts of one point run one after the
   other until one denies; the host's own hook is called after the last. An abort, a freed agent and
   a closed runtime kill the script and all that it started.

   No shell reads a command unless `shell` is set. A script runs with the rights of the program; its
   environment is the program's, without variables whose names look like keys.
   Threads: the pumping thread. */
#ifndef PHI_TOOLS_SCRIPTS_H
#define PHI_TOOLS_SCRIPTS_H


#ifndef PHI_NO_SCRIPTS

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_scripts phi_scripts;

/* The verdict when a script gives none: it cannot be started, runs into its deadline, is killed, or
   its answer is broken or too long. Other exit codes than 0 are no failures: they deny. */
typedef enum phi_script_failure {
    PHI_SCRIPT_FAILURE_DEFAULT = 0, /* denies, but a script that cannot be started allows */
    PHI_SCRIPT_FAILURE_ALLOWS,
    PHI_SCRIPT_FAILURE_DENIES
} phi_script_failure;

/* Zero means default for every field but points, and command or argv. */
typedef struct phi_script {
    /* PHI_HOOK_ bits: any but TRANSFORM_CONTEXT, CONVERT_TO_LLM and the two of tool updates */
    uint32_t points;
    /* "python3 check.py --strict 'a b'": split at blanks; quotes and backslashes as in a shell, and
       nothing else of one. A first word that ends in .py runs by python3, one in .sh by sh. */
    const char *command;
    const char *const *argv; /* instead: NULL-ended; argv[0] is looked up in PATH */
    bool shell;              /* the command is a line for sh -c */
    const char *tool;        /* the two tool points: for calls of this tool alone (default: all) */
    uint32_t timeout_ms;     /* from its start (default: the set's; PHI_UNLIMITED) */
    phi_script_failure on_failure;
} phi_script;

/* Zero means default for every field. Everything is copied, but for hook_fn's user data. */
typedef struct phi_scripts_desc {
    const phi_script *scripts;
    size_t count;
    const char *workspace;     /* where they run (default: the agent's, else the program's) */
    const char *const *env;    /* "NAME=value", NULL-ended, added to the environment */
    bool keep_keys;            /* leave variables in it whose names look like keys */
    uint32_t timeout_ms;       /* (default 30,000; PHI_UNLIMITED) */
    uint32_t max_output_bytes; /* of an answer; of standard error a quarter (default 65,536) */
    uint32_t max_running;      /* at once, of this set; others wait (default 8) */
    phi_allocator allocator;   /* (default: the C library's) */
} phi_scripts_desc;

/* A set of scripts. NULL: no memory, or a fault of desc; the message goes to `words`, terminated
   (may be NULL with size 0).
   Ownership: the caller frees it with phi_scripts_free, after the agents that use it. */
PHI_API phi_scripts *phi_scripts_new(const phi_scripts_desc *desc, char *words, size_t words_size);
PHI_API void phi_scripts_free(phi_scripts *scripts); /* NULL is harmless */

/* Puts the scripts in front of the hook of an agent's desc: sets hook_fn, hook_points and
   hook_user_data, and calls the hook that was there after the scripts. One set serves any number of
   agents of one runtime with the same hook; PHI_MISUSE: another hook than before. Only once for a
   desc. PHI_BAD_ARG. */
PHI_API phi_status phi_scripts_use(phi_scripts *scripts, phi_agent_desc *desc);

/* Scripts that run or wait for their start now. */
PHI_API size_t phi_scripts_running(const phi_scripts *scripts);

#ifdef __cplusplus
}
#endif
#endif
#endif

#endif /* PHI__PUB_TOOLS */

#ifdef PHI__PUB_MCP
#if PHI__PUB_MCP != 0xe3a3f578
#error "phi: two versions of src/mcp in one file"
#endif
#else
#define PHI__PUB_MCP 0xe3a3f578

/* ---- src/mcp/mcp.h ---- */

/* mcp.h - servers of the Model Context Protocol: their tools, resources and prompts for agents.

       phi_mcp_desc to = PHI_ZERO;
       const char *const argv[] = {"my-server", "--stdio", NULL};
       to.argv = argv;                                 // or to.url = "https://host/mcp"
       phi_mcp *server = phi_mcp_connect(rt, &to);
       while (phi_mcp_state_of(server) == PHI_MCP_CONNECTING) phi_step(rt, 10);
       const phi_tool_source *sources[] = {phi_mcp_tools(server)};
       desc.tool_sources = sources;                    // desc: a phi_agent_desc
       desc.tool_source_count = 1;

   A connection is pumped by phi_step, as everything is. All agents of a runtime can share it. Its
   tools are a source: a server may add, remove and change tools while agents run, and agents take
   the new list when their next turn begins.
   Eras: 2026-07-28 (no handshake) and 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, found out by
   asking the server, as the specification of 2026-07-28 says.

   Ownership: a connection belongs to its runtime and borrows it: free it first. Its memory is
   counted there.
   Threads:   the pumping thread.
   SAFETY     A server's texts are read by the model. Names and schemas are checked; what a tool
   says and does is not.

   PHI_NO_MCP leaves all of it out; servers by argv need processes (PHI_NO_PROCESS). */
#ifndef PHI_MCP_MCP_H
#define PHI_MCP_MCP_H


#ifdef __cplusplus
extern "C" {
#endif

#ifndef PHI_NO_MCP

typedef struct phi_mcp phi_mcp;
typedef struct phi_mcp_oauth_desc phi_mcp_oauth_desc; /* mcp/mcp_oauth.h */

typedef enum phi_mcp_state {
    PHI_MCP_CONNECTING = 1, /* also while it is started again, or waits for an authorization */
    PHI_MCP_READY,
    PHI_MCP_CLOSING, /* after phi_mcp_close, until nothing of it is left */
    PHI_MCP_CLOSED,
    PHI_MCP_FAILED /* for good: phi_mcp_error has the reason */
} phi_mcp_state;

/* What the host answers for its agents, as bits of phi_mcp_desc.answers: a server asks, and the
   hook PHI_HOOK_QUESTION of the agent whose call is under way decides. What is not in `answers` is
   not offered to the server. */
enum {
    PHI_MCP_SAMPLING = 1, /* an answer of the agent's own model; kind "sampling" */
    PHI_MCP_FORMS = 2,    /* elicitation: a form for the person; kind "elicitation" */
    PHI_MCP_URLS = 4      /* elicitation: a page to be opened; kind "elicitation_url" */
};

typedef struct phi_mcp_pair {
    const char *name, *value;
} phi_mcp_pair;

typedef struct phi_mcp_root {
    const char *uri;  /* "file:///home/me/project" */
    const char *name; /* NULL: none */
} phi_mcp_root;

/* What a connection reports, besides its state. */
typedef enum phi_mcp_event_kind {
    PHI_MCP_EV_STATE = 1,        /* phi_mcp_state_of has changed; text: why */
    PHI_MCP_EV_LOG,              /* name: the level; text: the message's JSON text */
    PHI_MCP_EV_TOOLS,            /* the list of tools has changed; text: "+a -b ~c" */
    PHI_MCP_EV_TOOL_CHANGED,     /* name: a tool with another definition; before, text: the two */
    PHI_MCP_EV_RESOURCES,        /* the list of resources has changed */
    PHI_MCP_EV_RESOURCE_UPDATED, /* name: its uri */
    PHI_MCP_EV_PROMPTS,          /* the list of prompts has changed */
    PHI_MCP_EV_WARNING           /* text: what a server did that it must not */
} phi_mcp_event_kind;

/* Strings are valid until the function returns. */
typedef struct phi_mcp_event {
    phi_mcp_event_kind kind;
    phi_mcp *mcp;
    phi_str name, before, text;
} phi_mcp_event;

/* Zero means default for every field but argv or url. */
typedef struct phi_mcp_desc {
    const char *name; /* of the server, for messages and questions (default: its own name) */
    /* One of the two. argv: a program that speaks over its stdin and stdout; NULL-ended. */
    const char *const *argv;
    const char *url; /* http or https */

    /* of argv */
    const char *const *env; /* "NAME=value", NULL-ended, added to the host's (default: none) */
    bool hide_keys;         /* the host's variables whose names look like keys are left out */
    const char *cwd;        /* (default: the host's) */
    /* A program that ends by itself is started again, so often in a row (default 3; PHI_UNLIMITED;
       a start that lasted a minute does not count), after a delay that doubles up to 30 s. */
    uint32_t max_restarts;
    bool no_restart;
    uint32_t restart_delay_ms; /* (default 500) */
    uint32_t close_ms; /* from EOF to the signal to end, and from there to killing (2,000) */

    /* of url */
    const phi_mcp_pair *headers; /* of every request; never shown (default: none) */
    size_t header_count;
    const phi_mcp_oauth_desc *oauth; /* (default: a server that wants one is refused) */

    /* "2025-06-18": only this era is spoken (default: the newest that both know) */
    const char *era;
    uint32_t connect_timeout_ms; /* until it is ready (default 30,000; PHI_UNLIMITED) */
    uint32_t timeout_ms;         /* of a request; renewed by its progress (default 30,000) */
    uint32_t max_timeout_ms;     /* of a request with progress (default 600,000; PHI_UNLIMITED) */
    const char *name_prefix;     /* a tool is "{prefix}__{name}" (default: no prefix) */
    size_t max_message_bytes;    /* of one message (default 16,777,216) */
    uint32_t max_list;           /* tools, resources or prompts in a list (default 2,000) */
    bool needs_approval;         /* tools that are not marked read-only need a hook's approval */
    /* a tool whose definition has changed answers with an error until phi_mcp_accept_tool */
    bool hold_changed_tools;
    uint32_t answers;          /* PHI_MCP_SAMPLING... (default: none) */
    const phi_mcp_root *roots; /* directories that the server may work in (default: none offered) */
    size_t root_count;
    const char *log_level;                    /* "warning"... (default: the server's) */
    phi_agent agent;                          /* asked where no call is under way (default: none) */
    const char *client_name, *client_version; /* (default: "phi" and its version) */
    void (*event_fn)(void *user_data, const phi_mcp_event *event); /* called inside phi_step */
    void *user_data;
} phi_mcp_desc;

/* Begins to connect; `desc` is copied with all that it points to. NULL: a bad argument, or no
   memory: phi_last_error names it. */
PHI_API phi_mcp *phi_mcp_connect(phi_runtime *rt, const phi_mcp_desc *desc);
PHI_API phi_mcp_state phi_mcp_state_of(const phi_mcp *mcp);
/* Why it failed, or was lost last; empty: no fault. Valid until the next phi_step. */
PHI_API const char *phi_mcp_error(const phi_mcp *mcp);
/* Ends it politely, in phi_step: calls under way get an error result. Repeating is harmless. */
PHI_API void phi_mcp_close(phi_mcp *mcp);
/* Connects again after PHI_MCP_FAILED or PHI_MCP_CLOSED. PHI_MISUSE in other states. */
PHI_API phi_status phi_mcp_reconnect(phi_mcp *mcp);
/* Ends it at once and frees it: a child process is killed, calls under way get an error result.
   PHI_MISUSE: agents still have its tools; free them first, nothing was freed. NULL is harmless.
   Allowed inside event_fn and callbacks of requests. */
PHI_API phi_status phi_mcp_free(phi_mcp *mcp);

/* About the server; strings are valid until the next phi_step, empty before it is ready. */
typedef struct phi_mcp_info {
    phi_str name, title, version, era, instructions;
    phi_str capabilities; /* JSON text */
    int process_id;       /* of argv; 0: none now */
    uint32_t restarts;    /* since phi_mcp_connect */
} phi_mcp_info;
PHI_API phi_mcp_info phi_mcp_info_of(const phi_mcp *mcp);
/* The last 64 KB that the program wrote to stderr; valid until the next phi_step. */
PHI_API phi_str phi_mcp_stderr(const phi_mcp *mcp);

/* ---- requests ---- */

typedef struct phi_mcp_reply {
    phi_status status; /* PHI_OK; PHI_REFUSED: the server's error; PHI_TIMEOUT, PHI_CANCELLED... */
    phi_str message;   /* of a failure */
    int code;          /* of the server's error, else 0 */
    const phi_json *result; /* NULL where it failed */
} phi_mcp_reply;

/* Zero means default for every field but method and done. */
typedef struct phi_mcp_request {
    const char *method;  /* "resources/list"; copied */
    phi_str params;      /* JSON object; copied (default: {}) */
    uint32_t timeout_ms; /* (default: the connection's) */
    void (*progress)(void *user_data, double progress, double total, phi_str message);
    /* Called once, inside phi_step; the reply is valid until it returns. Not called after
       phi_mcp_cancel nor phi_mcp_free. */
    void (*done)(void *user_data, const phi_mcp_reply *reply);
    void *user_data;
} phi_mcp_request;

/* Sends a request. *id, where given, is for phi_mcp_cancel. PHI_MISUSE: not ready; PHI_BAD_ARG,
   PHI_FULL: 4,096 are under way; PHI_NO_MEMORY. */
PHI_API phi_status phi_mcp_send(phi_mcp *mcp, const phi_mcp_request *request, uint64_t *id);
PHI_API void phi_mcp_cancel(phi_mcp *mcp, uint64_t id); /* tells the server; unknown is harmless */

#endif

#ifdef __cplusplus
}
#endif
#endif

#endif /* PHI__PUB_MCP */

#ifdef PHI__PUB_OPENAPI
#if PHI__PUB_OPENAPI != 0x146f618b
#error "phi: two versions of src/openapi in one file"
#endif
#else
#define PHI__PUB_OPENAPI 0x146f618b

/* ---- src/openapi/openapi.h ---- */

/* openapi.h - OpenAPI 3.0 and 3.1 documents as tools: one operation, one tool.

       phi_openapi_desc of = PHI_ZERO;
       of.auth.bearer_token = "sk-...";
       phi_openapi *api = phi_openapi_from_file(rt, &of, "petstore.json");
       while (phi_openapi_step(api) == PHI_BUSY) phi_step(rt, 10);
       phi_openapi_tools pets = PHI_ZERO;
       while (phi_openapi_select(api, NULL, &pets) == PHI_BUSY) phi_step(rt, 0);
       desc.tools = pets.tools;                      // desc: a phi_agent_desc
       desc.tool_count = pets.count;

   A document is read once, in slices, and kept as compact text with an index; the schema of a tool
   is made when the tool is selected. All agents of a runtime can share the tools of one document.
   References inside of the document are followed; references to files and addresses are not, and
   an operation that needs one is skipped with a message. Documents of version 2.0 are refused.

   Ownership: the object belongs to its runtime, and its memory is counted there. It borrows the
   runtime: free it first. Tools belong to the object.
   Threads:   the pumping thread.

   PHI_NO_OPENAPI leaves all of it out. YAML documents need the YAML reader (PHI_NO_YAML). */
#ifndef PHI_OPENAPI_OPENAPI_H
#define PHI_OPENAPI_OPENAPI_H


#ifdef __cplusplus
extern "C" {
#endif

#ifndef PHI_NO_OPENAPI

typedef struct phi_openapi phi_openapi;

/* The key of an apiKey scheme, or a header of every request. */
typedef struct phi_openapi_pair {
    const char *name;  /* of the scheme in the document, or of the header */
    const char *value; /* never shown in results, events and messages */
} phi_openapi_pair;

/* Zero means none. A request carries what the first alternative of its operation needs that can
   be met with these. */
typedef struct phi_openapi_auth {
    /* for http bearer, and for oauth2 and openIdConnect where no client is given */
    const char *bearer_token;
    const char *user, *password;  /* for http basic */
    const phi_openapi_pair *keys; /* for apiKey, by the scheme's name in the document */
    size_t key_count;
    const char *client_id, *client_secret; /* for the client credentials of oauth2 */
    const char *token_url;                 /* of oauth2 (default: the document's tokenUrl) */
} phi_openapi_auth;

/* Zero means default for every field. */
typedef struct phi_openapi_desc {
    const char *base_url; /* instead of the document's servers (default: its first server) */
    phi_openapi_auth auth;
    const phi_openapi_pair *headers; /* of every request (default: none) */
    size_t header_count;
    uint32_t timeout_ms;            /* of one request (default 30,000; PHI_UNLIMITED) */
    uint32_t max_response_bytes;    /* of an answer that a model sees (default 65,536) */
    const char *response_directory; /* keeps whole answers that were cut (default: none) */
    /* NULL-ended: directories whose files may be uploaded (default: none) */
    const char *const *upload_roots;
    const char *name_prefix;   /* a tool is "{prefix}__{operation id}" (default: no prefix) */
    size_t max_document_bytes; /* (default 67,108,864) */
    uint32_t max_schema_bytes; /* of one tool; see docs/openapi.md (default 65,536) */
    bool skip_unnamed;         /* skips operations without operationId (default: named by path) */
    bool needs_approval;       /* the tools that may change something need a hook's approval */
    bool destructive_needs_approval; /* the same of DELETE alone */
} phi_openapi_desc;

/* Begins to read a document; `desc` is copied, with all that it points to; NULL: defaults. The
   text is JSON where its first character is "{" or "[", else YAML.
   _text: copied. _file: read in slices. _url: http or https, by GET with the headers of desc and
   no credential of auth, through the runtime's transport; phi_step must run. Five redirects are
   followed, without those headers, and never from https to http.
   NULL: a bad argument, or no memory; phi_last_error names it. */
PHI_API phi_openapi *phi_openapi_from_text(phi_runtime *rt, const phi_openapi_desc *desc,
                                           phi_str text);
PHI_API phi_openapi *phi_openapi_from_file(phi_runtime *rt, const phi_openapi_desc *desc,
                                           const char *path);
PHI_API phi_openapi *phi_openapi_from_url(phi_runtime *rt, const phi_openapi_desc *desc,
                                          const char *url);

/* Does about the runtime's step_budget_bytes of work. PHI_BUSY: call it again. PHI_OK: ready. All
   else stays: PHI_PARSE (malformed; phi_openapi_error gives the place), PHI_UNSUPPORTED (no OpenAPI
   3.0 or 3.1, or YAML without its reader), PHI_TOO_BIG, PHI_NO_MEMORY, PHI_NOT_FOUND, PHI_IO,
   PHI_REFUSED, and the statuses of a network. Safe inside callbacks. */
PHI_API phi_status phi_openapi_step(phi_openapi *api);
/* The last status of phi_openapi_step, without doing anything. */
PHI_API phi_status phi_openapi_status(const phi_openapi *api);
/* The fault and its place; line 0: it has no place in the text. The message is empty where there is
   no fault. Valid until the object is freed. */
PHI_API const phi_parse_error *phi_openapi_error(const phi_openapi *api);

/* Frees the object and every selection of it. PHI_MISUSE: calls of its tools are under way, and
   nothing is freed; abort or free their agents first. After PHI_OK no agent may use the tools. NULL
   is harmless. */
PHI_API phi_status phi_openapi_free(phi_openapi *api);

/* ---- operations ---- */

/* All strings are borrowed from the object. */
typedef struct phi_openapi_operation {
    phi_str name;         /* of its tool: unique, the same from run to run and with every filter */
    phi_str operation_id; /* empty: it has none */
    phi_str method;       /* "GET" */
    phi_str path;         /* "/pets/{petId}" */
    bool read_only;       /* GET, HEAD, OPTIONS, TRACE */
    bool destructive;     /* DELETE */
    bool deprecated;
} phi_openapi_operation;

/* Before the object is ready there are none. */
PHI_API size_t phi_openapi_count(const phi_openapi *api);
/* The one at `index`, in the document's order. PHI_NOT_FOUND: no such index. */
PHI_API phi_status phi_openapi_operation_at(const phi_openapi *api, size_t index,
                                            phi_openapi_operation *out);

/* ---- tools ---- */

/* An operation is selected when it fits each list that is given: one of its entries. All lists are
   NULL-ended and borrowed until phi_openapi_select is done. */
typedef struct phi_openapi_filter {
    const char *const *operation_ids; /* as in the document */
    const char *const *tags;
    const char *const *path_prefixes; /* "/repos" fits /repos, /repos/a and not /repositories */
    const char *const *methods;       /* "GET"; upper and lower case are the same */
} phi_openapi_filter;

/* An operation that became no tool. */
typedef struct phi_openapi_skip {
    size_t operation;    /* its index */
    const char *message; /* "parameters[2]: \"$ref\" to another document: other.json#/x" */
} phi_openapi_skip;

/* A selection: zero it before the first call. For the caller to read; owned by the object. */
typedef struct phi_openapi_tools {
    phi_tool *tools; /* the caller may change their fields but user_data and the functions */
    const size_t *operations; /* of each tool: its operation's index */
    size_t count;
    const phi_openapi_skip *skipped; /* selected, and impossible */
    size_t skip_count;
    void *work; /* phi's */
} phi_openapi_tools;

/* Makes the tools of the operations that fit the filter (NULL: all), about the runtime's
   step_budget_bytes of them at a time. PHI_BUSY: call it again with the same arguments. PHI_OK:
   done; further calls change nothing. PHI_MISUSE: the object is not ready. PHI_NO_MEMORY: the
   selection is freed and zeroed. */
PHI_API phi_status phi_openapi_select(phi_openapi *api, const phi_openapi_filter *filter,
                                      phi_openapi_tools *out);
/* Frees a selection before the object is freed, and zeroes it. No agent may use its tools.
   PHI_MISUSE while calls are under way: nothing is freed. */
PHI_API phi_status phi_openapi_release(phi_openapi *api, phi_openapi_tools *tools);

#endif

#ifdef __cplusplus
}
#endif
#endif

#endif /* PHI__PUB_OPENAPI */

#ifdef PHI__PUB_SKILLS
#if PHI__PUB_SKILLS != 0xbf9ddc59
#error "phi: two versions of src/skills in one file"
#endif
#else
#define PHI__PUB_SKILLS 0xbf9ddc59

/* ---- src/skills/skills.h ---- */

/* skills.h - skills: directories with a SKILL.md that a model reads when a task asks for them.

       phi_skills *skills = phi_skills_new(NULL);
       phi_skills_load(skills, dirs, 2);             // later directories win
       phi_skills_prompt(skills, PHI_SKILLS_READ_SKILL, "You are ...", &arena, &prompt);
       phi_skills_tool(skills, &tools[0]);           // read_skill

   A skill follows the AgentSkills standard: SKILL.md begins with YAML between two lines "---" and
   holds instructions for the model below. Names and descriptions of all skills stand in the system
   prompt; instructions and further files enter the context only when the model reads them, by the
   tool read_skill, or by read_file at the place that the prompt names.

   Loading is for start-up: phi_skills_load and its like read the disk until they are done, about
   0.1 ms a skill. A host that loads thousands between frames uses phi_skills_load_begin. A skill
   that is broken is left out, or loaded with a warning; phi_skills_problem_at lists both kinds. The
   other skills are not touched by it.

   Ownership: a phi_skills owns all its memory, out of its own allocator; every string and skill it
   hands out is valid until phi_skills_free, also of a skill that a later directory has replaced.
   Lifetime:  it must outlive the agents that use its tool.
   Threads:   one at a time; with agents, the pumping thread.
   SAFETY     Instructions of a skill are as trusted as the system prompt: load only directories
   that nobody else writes to. */
#ifndef PHI_SKILLS_SKILLS_H
#define PHI_SKILLS_SKILLS_H


#ifndef PHI_NO_SKILLS

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_skills phi_skills;

/* Zero means default for every field. */
typedef struct phi_skills_desc {
    phi_allocator allocator;   /* copied (default: the C library's) */
    size_t memory_limit_bytes; /* of everything of ours (default: none) */
    uint32_t max_skills;       /* further ones are not loaded (default 1,000) */
    uint32_t max_file_bytes;   /* a larger SKILL.md is not loaded (default 1,048,576) */
    uint32_t max_read_bytes;   /* of one answer of read_skill (default 262,144) */
} phi_skills_desc;

typedef struct phi_skill_pair {
    phi_str key, value;
} phi_skill_pair;

/* A skill that is loaded. A field that its SKILL.md does not have is empty. All are UTF-8 and
   terminated. */
typedef struct phi_skill {
    phi_str name; /* that of its directory, whatever SKILL.md says */
    phi_str description;
    phi_str license, compatibility;
    phi_str allowed_tools; /* as written, or a list joined by blanks; phi itself does not use it */
    const phi_skill_pair *metadata;
    size_t metadata_count;
    phi_str source;    /* the label that it was loaded with, or "dir:0", "dir:1"... */
    phi_str base_dir;  /* absolute, without links */
    phi_str file_path; /* of SKILL.md */
} phi_skill;

/* A fault of one SKILL.md. */
typedef struct phi_skill_problem {
    phi_str file;          /* the path of SKILL.md, or of a directory */
    uint32_t line, column; /* from 1; 0: the file as a whole */
    phi_str message;       /* the fault and the rule */
    bool loaded;           /* a warning: the skill can be used, but breaks the standard */
} phi_skill_problem;

/* desc: NULL means defaults. NULL: no memory. */
PHI_API phi_skills *phi_skills_new(const phi_skills_desc *desc);
PHI_API void phi_skills_free(phi_skills *skills); /* NULL is harmless */

/* Loads every skill of these directories: <dir>/<name>/SKILL.md. A later directory replaces skills
   of the same name. A directory that does not exist is skipped. `dirs` is borrowed until return.
   PHI_NO_MEMORY, PHI_TOO_BIG (max_skills): the skills loaded until then stay. */
PHI_API phi_status phi_skills_load(phi_skills *skills, const char *const *dirs, size_t count);

/* One directory, whose skills get `label` as their source (copied; NULL: "dir:0"). PHI_NOT_FOUND,
   PHI_IO: it does not exist or cannot be read, which is a problem in the list as well. */
PHI_API phi_status phi_skills_load_dir(phi_skills *skills, const char *dir, const char *label);

/* One skill, by its own directory. PHI_NOT_FOUND: no directory, or no SKILL.md in it; PHI_PARSE: it
   was not loaded. The reason is in the list of problems. */
PHI_API phi_status phi_skills_load_one(phi_skills *skills, const char *dir, const char *label);

/* phi_skills_load_dir in slices: begin, then advance until it is not PHI_BUSY. A unit is an entry
   of the directory: a few system calls, and 64 KiB read at most. Skills appear as they are read.
   begin: PHI_MISUSE while another load is under way. */
PHI_API phi_status phi_skills_load_begin(phi_skills *skills, const char *dir, const char *label);
PHI_API phi_status phi_skills_load_advance(phi_skills *skills, size_t units);

/* Copies the skills and problems of `other`, whose skills replace those of the same name.
   PHI_NO_MEMORY, PHI_TOO_BIG: only some were copied. PHI_BAD_ARG: the two are one. */
PHI_API phi_status phi_skills_merge(phi_skills *skills, const phi_skills *other);

/* Sorted by name, byte by byte; NULL past the last, or where there is no such skill. */
PHI_API size_t phi_skills_count(const phi_skills *skills);
PHI_API const phi_skill *phi_skills_at(const phi_skills *skills, size_t index);
PHI_API const phi_skill *phi_skills_find(const phi_skills *skills, phi_str name);

/* In the order in which they were found, the first 1,000; NULL past the last. The struct is valid
   until the next load or merge. */
PHI_API size_t phi_skills_problem_count(const phi_skills *skills);
PHI_API const phi_skill_problem *phi_skills_problem_at(const phi_skills *skills, size_t index);

/* The index of all skills, <available_skills>...</available_skills>, in the arena (terminated);
   empty without a skill. Of a description the first 1,024 characters stand in it. PHI_NO_MEMORY. */
PHI_API phi_status phi_skills_index(const phi_skills *skills, phi_arena *arena, phi_str *out);

/* What stands before the index in a prompt: how the model gets at the instructions. */
typedef enum phi_skills_hint {
    PHI_SKILLS_NO_HINT = 0,
    PHI_SKILLS_READ_SKILL, /* for agents with the tool read_skill */
    PHI_SKILLS_READ_FILE   /* for agents with read_file; its allowed_paths must hold the skills */
} phi_skills_hint;

/* The sentence of a hint; static. Empty for NO_HINT. */
PHI_API const char *phi_skills_hint_text(phi_skills_hint hint);

/* A system prompt: `base` (NULL: none), the hint, and the index, with a blank line between them, in
   the arena (terminated). Without a skill it is `base` alone. PHI_NO_MEMORY. */
PHI_API phi_status phi_skills_prompt(const phi_skills *skills, phi_skills_hint hint,
                                     const char *base, phi_arena *arena, phi_str *out);

/* Fills *out with the tool read_skill {name, file, offset, limit}: the instructions of a skill,
   with {baseDir} replaced by its directory, or another file, or the names in a directory. It cannot
   leave the directory of the skill, by ".." or by links. The tool borrows `skills`. PHI_BAD_ARG. */
PHI_API phi_status phi_skills_tool(phi_skills *skills, phi_tool *out);

#ifdef __cplusplus
}
#endif
#endif
#endif

#endif /* PHI__PUB_SKILLS */

#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__) && __GNUC__ >= 5
#pragma GCC diagnostic pop
#endif

#ifdef PHI_IMPLEMENTATION
#ifndef PHI__FN
#ifdef __GNUC__
#define PHI__FN static __attribute__((unused))
#else
#define PHI__FN static
#endif
#endif

#ifdef PHI__IMP_MATCH
#if PHI__IMP_MATCH != 0xbe2fbd72
#error "phi: two versions of src/match in one file"
#endif
#else
#define PHI__IMP_MATCH 0xbe2fbd72

/* ---- src/match/glob_in.h ---- */

/* glob_in.h - patterns of paths: *, ?, [a-z], [!a-z], [[:alpha:]], {a,b}, **, and a backslash
   before any of them. Bytes are compared; only ** reaches beyond a slash. A match takes at most the
   pattern's length times the path's, for each part between double stars. */
#ifndef PHI_MATCH_GLOB_IN_H
#define PHI_MATCH_GLOB_IN_H


enum {
    PHI__GLOB_PATTERN = 2048, /* bytes of a pattern */
    PHI__GLOB_CHOICES = 64,
    PHI__GLOB_SPLITS = 128, /* pairs of braces taken apart, in all choices */
    PHI__GLOB_BYTES = 8192  /* of all choices of a pattern */
};

/* Appends the pattern to `out`, once for each choice that its braces leave, a NUL behind each.
   NULL, or an error message; `out` is then as it was. A buffer without memory is failed. */
PHI__FN const char *phi__glob_expand(phi__buf *out, phi_str pattern);

/* Whether one of the choices, as phi__glob_expand left them, matches the whole path. Adds the bytes
   of the pattern that were compared to *work. */
PHI__FN bool phi__glob_any(phi_str choices, phi_str path, size_t *work);

/* The same of one pattern without braces. */
PHI__FN bool phi__glob_match(phi_str pattern, phi_str path, size_t *work);

/* The last part of a path. */
PHI__FN phi_str phi__glob_name(phi_str path);

#endif

/* ---- src/match/ignore_in.h ---- */

/* ignore_in.h - the rules of .gitignore files: which paths are left out.

   A rule is a line: "#" begins a comment, "!" takes a path back in, a slash at its beginning or in
   its middle binds it to the file's directory, one at its end to directories. Blanks at its end
   count where a backslash stands before them. The last rule that matches decides. Within a pattern
   the syntax is glob_in.h's; a line that is no pattern is left out. docs/tools.md says where this
   follows ripgrep, and where git. */
#ifndef PHI_MATCH_IGNORE_IN_H
#define PHI_MATCH_IGNORE_IN_H


typedef enum phi__ignore_said {
    PHI__IGNORE_NONE, /* no rule matches */
    PHI__IGNORE_OUT,
    PHI__IGNORE_IN /* by a rule with a "!" */
} phi__ignore_said;

typedef struct phi__ignore_rule {
    size_t at, len; /* of its choices, in the text */
    bool in, directories, name_alone;
} phi__ignore_rule;

typedef struct phi__ignore {
    phi_memory *memory; /* borrowed */
    phi__buf text;
    phi__ignore_rule *rules;
    size_t count, cap;
    size_t outs; /* rules without a "!" */
} phi__ignore;

PHI__FN void phi__ignore_init(phi__ignore *ignore, phi_memory *memory);
PHI__FN void phi__ignore_free(phi__ignore *ignore); /* twice is harmless */

/* Reads the lines of a file. PHI_NO_MEMORY: some are missing. */
PHI__FN phi_status phi__ignore_add(phi__ignore *ignore, phi_str file);
/* One line. PHI_BAD_ARG: it is no pattern; *wrong says why. */
PHI__FN phi_status phi__ignore_add_line(phi__ignore *ignore, phi_str line, const char **wrong);

/* `path`: relative to the directory of the file, without "./". *left: rules to look at, from the
   last on; begin with `count`. A rule takes PHI__IGNORE_RULE out of *units, and the bytes compared.
   PHI__IGNORE_NONE with *left above 0: the units are used up, come again. */
enum { PHI__IGNORE_RULE = 8 };
PHI__FN phi__ignore_said phi__ignore_says(const phi__ignore *ignore, phi_str path, bool directory,
                                          size_t *left, size_t *units);

#endif

/* ---- src/match/regex_in.h ---- */

/* regex_in.h - regular expressions over text in lines, in time linear in the text.

   The syntax is a subset of that of ripgrep, with the same meaning; docs/tools.md has its table. A
   pattern becomes a program of at most PHI__REGEX_CODES instructions, and the program a machine of
   states that are computed when the text first needs them. They are kept in a bounded cache, which
   is emptied when it is full: so a byte of text costs at most one pass over the program, whatever
   the pattern. The only question is whether a line contains a match.

   Text is UTF-8. A byte that belongs to no valid character matches nothing, not even '.'. No match
   contains a newline. Threads: one at a time. */
#ifndef PHI_MATCH_REGEX_IN_H
#define PHI_MATCH_REGEX_IN_H


enum {
    PHI__REGEX_PATTERN_BYTES = 4096,
    PHI__REGEX_DEPTH = 100,        /* groups and repetitions inside each other */
    PHI__REGEX_REPEAT = 1000,      /* the greatest count in braces */
    PHI__REGEX_CODES = 16384,      /* instructions of a program */
    PHI__REGEX_RANGES = 65536,     /* ranges of characters of all its sets */
    PHI__REGEX_CACHE = 1024 * 1024 /* bytes of computed states, about */
};

typedef struct phi__regex phi__regex;

typedef struct phi__regex_error {
    size_t column;     /* in bytes, from 1 */
    char message[120]; /* terminated */
} phi__regex_error;

/* `pattern` is read before return. PHI_BAD_ARG: the error says where and why; PHI_NO_MEMORY. */
PHI__FN phi_status phi__regex_new(phi_memory *memory, phi_str pattern, bool ignore_case,
                                  phi__regex **out, phi__regex_error *error);
PHI__FN void phi__regex_free(phi__regex *regex); /* NULL is harmless */

/* What comes next begins a line. */
PHI__FN void phi__regex_begin(phi__regex *regex);

typedef enum phi__regex_found {
    PHI__REGEX_NONE,     /* no line so far matches; the rest is the beginning of a character */
    PHI__REGEX_MATCH,    /* the line in which *at stands matches; its newline may be at *at */
    PHI__REGEX_BUSY,     /* the units are used up */
    PHI__REGEX_NO_MEMORY /* begin again */
} phi__regex_found;

/* Reads text from *at on and moves *at along. A byte takes about one of *units, and one that needs
   a new state as many as the program has instructions. `last`: the text ends here. After a match
   the rest of the line must be skipped, and phi__regex_begin called. */
PHI__FN phi__regex_found phi__regex_scan(phi__regex *regex, phi_str text, bool last, size_t *at,
                                         size_t *units);

/* At the end of a line that has no newline: whether it matches. */
PHI__FN phi__regex_found phi__regex_finish(phi__regex *regex);

#endif

/* ---- src/match/regex_tree_in.h ---- */

/* regex_tree_in.h - a pattern between its text and its program: nodes, and sets of characters.

   A node refers to its children by index; node 0 is the empty pattern. A set is a run of ranges in
   order, apart from each other, without the newline; equal sets are one. The tree dies when the
   program is made. */
#ifndef PHI_MATCH_REGEX_TREE_IN_H
#define PHI_MATCH_REGEX_TREE_IN_H


enum { PHI__REGEX_LAST_CODE = 0x10FFFF, PHI__REGEX_ENDLESS = 0xFFFF };

typedef struct phi__range {
    uint32_t first, last;
} phi__range;

/* Characters from first to last, every step-th: the representative is `down` below. */
typedef struct phi__regex_fold {
    uint32_t first, last, step, down;
} phi__regex_fold;

typedef enum phi__regex_kind {
    PHI__REGEX_EMPTY,
    PHI__REGEX_SET,   /* a: the set */
    PHI__REGEX_CAT,   /* a: the first child */
    PHI__REGEX_ALT,   /* a: the first child */
    PHI__REGEX_TIMES, /* a: the child; min, max */
    PHI__REGEX_START, /* of a line */
    PHI__REGEX_END,
    PHI__REGEX_WORD, /* a word begins or ends */
    PHI__REGEX_NO_WORD
} phi__regex_kind;

typedef struct phi__regex_node {
    phi__regex_kind kind;
    uint32_t a, next; /* next: the sibling, or 0 */
    uint16_t min, max, depth;
} phi__regex_node;

typedef struct phi__regex_set {
    uint32_t at, count;
} phi__regex_set;

typedef struct phi__regex_tree {
    phi_memory *memory;
    phi__regex_node *nodes;
    size_t node_count, node_cap;
    phi__range *ranges; /* of the sets, and behind them the one being made */
    size_t range_count, range_cap;
    phi__regex_set *sets;
    size_t set_count, set_cap;
    size_t open; /* where the set being made begins */
    uint32_t root;
    bool words; /* it has word boundaries */
} phi__regex_tree;

/* PHI_BAD_ARG: error says why. The tree is to be freed in any case. */
PHI__FN phi_status phi__regex_parse(phi__regex_tree *tree, phi_memory *memory, phi_str pattern,
                                    bool ignore_case, phi__regex_error *error);
PHI__FN void phi__regex_parse_free(phi__regex_tree *tree);

/* Making a set. Adding returns PHI_NO_MEMORY, or PHI_FULL: too many ranges. */
PHI__FN void phi__regex_set_begin(phi__regex_tree *tree);
PHI__FN phi_status phi__regex_set_add(phi__regex_tree *tree, uint32_t first, uint32_t last);
PHI__FN phi_status phi__regex_set_add_class(phi__regex_tree *tree, char letter); /* of "dswDSW" */
PHI__FN phi_status phi__regex_set_fold(phi__regex_tree *tree);
PHI__FN phi_status phi__regex_set_negate(phi__regex_tree *tree);
/* Without the newline; *out: its index. */
PHI__FN phi_status phi__regex_set_end(phi__regex_tree *tree, uint32_t *out);

PHI__FN bool phi__regex_set_has(const phi__range *ranges, size_t count, uint32_t code);

PHI__FN const phi__range *phi__regex_tables_word(size_t *count);
PHI__FN const phi__range *phi__regex_tables_digit(size_t *count);
PHI__FN const phi__range *phi__regex_tables_space(size_t *count);
PHI__FN const phi__regex_fold *phi__regex_tables_folds(size_t *count);

#endif

/* ---- src/match/regex_parse_in.h ---- */

/* regex_parse_in.h - shared by the two halves of the parser: where it stands, and its failures. */
#ifndef PHI_MATCH_REGEX_PARSE_IN_H
#define PHI_MATCH_REGEX_PARSE_IN_H


typedef struct phi__regex_parser {
    phi__regex_tree *tree;
    phi_str text;
    size_t at;
    uint32_t depth; /* groups that are open */
    bool fold;
    phi_status status; /* once it is not PHI_OK nothing is read any more */
    phi__regex_error *error;
} phi__regex_parser;

/* The first failure counts. `at`: the byte at fault. */
static inline void phi__regex_parse_fail(phi__regex_parser *p, size_t at, const char *message) {
    size_t n = phi__min(strlen(message), sizeof p->error->message - 1);
    if (p->status != PHI_OK) return;
    p->status = PHI_BAD_ARG;
    p->error->column = at + 1;
    memcpy(p->error->message, message, n);
    p->error->message[n] = '\0';
}

/* Notes what a set's function returned; false: not PHI_OK. */
static inline bool phi__regex_parse_did(phi__regex_parser *p, phi_status status) {
    if (status == PHI_FULL) phi__regex_parse_fail(p, p->at, "the pattern is too large");
    if (p->status == PHI_OK) p->status = status;
    return p->status == PHI_OK;
}

static inline bool phi__regex_parse_more(const phi__regex_parser *p) {
    return p->status == PHI_OK && p->at < p->text.len;
}

/* The byte so far ahead, or 0. */
static inline char phi__regex_parse_peek(const phi__regex_parser *p, size_t ahead) {
    return p->at + ahead < p->text.len ? p->text.at[p->at + ahead] : '\0';
}

static inline bool phi__regex_parse_is(const phi__regex_parser *p, char c) {
    return phi__regex_parse_more(p) && p->text.at[p->at] == c;
}

/* A character as it stands. */
PHI__FN uint32_t phi__regex_letter_plain(phi__regex_parser *p);
/* An escape, whose backslash is at p->at. True: a class of "dswDSW", in *letter; else a character,
   in *code. */
PHI__FN bool phi__regex_letter_escape(phi__regex_parser *p, char *letter, uint32_t *code);
/* A set in brackets, at p->at; its index. */
PHI__FN uint32_t phi__regex_letter_set(phi__regex_parser *p);

#endif

/* ---- src/match/regex_program_in.h ---- */

/* regex_program_in.h - a pattern's program: instructions over symbols.

   Characters that no set of the pattern tells apart are one symbol, so that a text is a row of few
   symbols; three more stand for the end of a line, for a byte that is no character, and for a byte
   above 0x7F, which must be decoded first. */
#ifndef PHI_MATCH_REGEX_PROGRAM_IN_H
#define PHI_MATCH_REGEX_PROGRAM_IN_H


typedef enum phi__regex_op {
    PHI__REGEX_OP_SET,   /* x: a set; then the next instruction */
    PHI__REGEX_OP_SPLIT, /* to x and to y */
    PHI__REGEX_OP_JUMP,  /* to x */
    PHI__REGEX_OP_TEST,  /* x: a phi__regex_kind; then the next instruction */
    PHI__REGEX_OP_MATCH
} phi__regex_op;

typedef struct phi__regex_code {
    uint16_t op, x, y;
} phi__regex_code;

typedef struct phi__regex_program {
    phi_memory *memory;
    phi__regex_code *codes;
    size_t count, cap;
    phi__range *ranges; /* of the sets, taken from the tree */
    size_t range_cap;
    phi__regex_set *sets;
    size_t set_cap;
    uint32_t *starts;  /* where a run of characters of one symbol begins, in order */
    uint16_t *symbols; /* of each run */
    size_t run_count, run_cap;
    uint32_t *samples; /* a character of each symbol */
    uint16_t symbol_count;
    uint16_t end, bad, high; /* the three */
    uint16_t bytes[256];     /* a byte's symbol */
    bool words;              /* word boundaries are tested: symbols tell word characters apart */
} phi__regex_program;

/* Takes the tree's sets. PHI_BAD_ARG: the program would be too large. */
PHI__FN phi_status phi__regex_program_make(phi__regex_program *program, phi__regex_tree *tree,
                                           phi__regex_error *error);
PHI__FN void phi__regex_program_free(phi__regex_program *program);
PHI__FN uint16_t phi__regex_program_symbol(const phi__regex_program *program, uint32_t code);
PHI__FN bool phi__regex_program_in_set(const phi__regex_program *program, uint16_t set,
                                       uint16_t symbol);
PHI__FN bool phi__regex_program_is_word(const phi__regex_program *program, uint16_t symbol);

#endif

/* ---- src/match/glob.c ---- */

/* glob.c - matching without recursion: only the last star, and the last double star, are ever
   retried. An earlier star cannot help: it stays within its part of the path, and the slash behind
   it fixes where that ends; an earlier double star would only begin later. */

/* ---- sets ---- */

static bool phi__glob_in_class(phi_str name, unsigned char c) {
    bool small = c >= 'a' && c <= 'z', large = c >= 'A' && c <= 'Z', digit = c >= '0' && c <= '9';
    bool graph = c > ' ' && c < 0x7F;
    if (phi__str_is(name, "alpha")) return small || large;
    if (phi__str_is(name, "digit")) return digit;
    if (phi__str_is(name, "alnum")) return small || large || digit;
    if (phi__str_is(name, "upper")) return large;
    if (phi__str_is(name, "lower")) return small;
    if (phi__str_is(name, "space")) return c == ' ' || (c >= '\t' && c <= '\r');
    if (phi__str_is(name, "blank")) return c == ' ' || c == '\t';
    if (phi__str_is(name, "cntrl")) return c < ' ' || c == 0x7F;
    if (phi__str_is(name, "graph")) return graph;
    if (phi__str_is(name, "print")) return graph || c == ' ';
    if (phi__str_is(name, "punct")) return graph && !small && !large && !digit;
    return phi__str_is(name, "xdigit") && (digit || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'));
}

/* The part of a set at `at`: a class, a character, or a range. Returns where the next one
   begins. */
static size_t phi__glob_part(phi_str p, size_t at, unsigned char c, bool *in) {
    unsigned char low, high;
    if (p.at[at] == '[' && at + 1 < p.len && p.at[at + 1] == ':') {
        /* The longest name of a class has six letters: looking further would take quadratic time
           for a row of "[:". */
        size_t most = phi__min(p.len, at + 10),
               end = phi__str_find(phi__str(p.at, most), at + 2, ":]");
        if (end != SIZE_MAX) {
            if (phi__glob_in_class(phi__str(p.at + at + 2, end - at - 2), c)) *in = true;
            return end + 2;
        }
    }
    if (p.at[at] == '\\' && at + 1 < p.len) at++;
    low = high = (unsigned char)p.at[at++];
    if (at + 1 < p.len && p.at[at] == '-' && p.at[at + 1] != ']') {
        at++;
        if (p.at[at] == '\\' && at + 1 < p.len) at++;
        high = (unsigned char)p.at[at++];
    }
    if (c >= low && c <= high) *in = true;
    return at;
}

/* A set at `at`, which is '['; its end, or 0 where it does not close. */
static size_t phi__glob_set(phi_str p, size_t at, char c, bool *in) {
    size_t first = at + 1;
    bool outside = first < p.len && (p.at[first] == '!' || p.at[first] == '^');
    *in = false;
    if (outside) first++;
    for (at = first; at < p.len && (p.at[at] != ']' || at == first);)
        at = phi__glob_part(p, at, (unsigned char)c, in);
    *in = *in != outside;
    return at < p.len ? at + 1 : 0;
}

/* ---- matching ---- */

/* One character of the pattern, no star: where the pattern continues, or 0: no match. */
static size_t phi__glob_one(phi_str p, size_t at, char c, size_t *work) {
    size_t end;
    bool in;
    if (p.at[at] == '?') return c == '/' ? 0 : at + 1;
    if (p.at[at] == '[') {
        end = phi__glob_set(p, at, c, &in);
        *work += (end != 0 ? end : p.len) - at;
        if (end != 0) return in && c != '/' ? end : 0;
    }
    if (p.at[at] == '\\' && at + 1 < p.len) at++;
    return p.at[at] == c ? at + 1 : 0;
}

/* At a double star that is a whole part of the pattern. */
static bool phi__glob_is_deep(phi_str p, size_t at) {
    return at + 1 < p.len && p.at[at + 1] == '*' && (at == 0 || p.at[at - 1] == '/') &&
           (at + 2 == p.len || p.at[at + 2] == '/');
}

PHI__FN bool phi__glob_match(phi_str p, phi_str s, size_t *work) {
    size_t at = 0, i = 0, next;
    size_t star = SIZE_MAX, star_at = 0, deep = SIZE_MAX, deep_at = 0;
    for (;;) {
        if (at < p.len && p.at[at] == '*') {
            if (phi__glob_is_deep(p, at)) {
                if (at + 2 == p.len) return at == 0 || i < s.len;
                deep = at += 3;
                deep_at = i;
                star = SIZE_MAX;
                continue;
            }
            while (at < p.len && p.at[at] == '*') at++;
            star = at;
            star_at = i;
            continue;
        }
        if (at == p.len && i == s.len) return true;
        next = at < p.len && i < s.len ? phi__glob_one(p, at, s.at[i], work) : 0;
        (*work)++;
        if (next != 0) {
            at = next;
            i++;
        } else if (star != SIZE_MAX && star_at < s.len && s.at[star_at] != '/') {
            at = star;
            i = ++star_at;
        } else if (deep != SIZE_MAX) {
            const char *slash = (const char *)memchr(s.at + deep_at, '/', s.len - deep_at);
            if (slash == NULL) return false;
            at = deep;
            i = deep_at = (size_t)(slash - s.at) + 1;
            star = SIZE_MAX;
        } else {
            return false;
        }
    }
}

/* ---- braces ---- */

/* The end of what stands at `at`: an escape, a set, or one byte. SIZE_MAX: it does not close. */
static size_t phi__glob_token(phi_str p, size_t at) {
    bool in;
    size_t end;
    if (p.at[at] == '\\') return at + 1 < p.len ? at + 2 : SIZE_MAX;
    if (p.at[at] != '[') return at + 1;
    end = phi__glob_set(p, at, '\0', &in);
    return end != 0 ? end : SIZE_MAX;
}

/* The first brace that opens, and where it closes: NULL, or an error message. *open SIZE_MAX:
   none. */
static const char *phi__glob_find(phi_str p, size_t *open, size_t *close) {
    size_t at = 0;
    int depth = 0;
    *open = *close = SIZE_MAX;
    while (at < p.len) {
        size_t next = phi__glob_token(p, at);
        if (next == SIZE_MAX)
            return p.at[at] == '[' ? "a set without its closing bracket" : "a backslash at the end";
        if (p.at[at] == '{' && depth++ == 0 && *open == SIZE_MAX) *open = at;
        if (p.at[at] == '}' && depth-- == 0) return "a closing brace without its opening one";
        if (p.at[at] == '}' && depth == 0 && *close == SIZE_MAX) *close = at;
        at = next;
    }
    return depth != 0 ? "a brace that does not close" : NULL;
}

/* Takes the pattern of `len` bytes at `from` out of `out`, and appends its choices at its first
   braces. */
static void phi__glob_split(phi__buf *out, size_t from, size_t len, size_t open, size_t close) {
    phi__buf whole;
    phi_str p;
    size_t at, begin = open + 1;
    int depth = 0;
    phi__buf_init(&whole, out->memory);
    phi__buf_add(&whole, out->at + from, len);
    if (whole.failed) {
        out->failed = true;
        return;
    }
    p = phi__str(whole.at, whole.len); /* with its NUL */
    out->len -= len;
    memmove(out->at + from, out->at + from + len, out->len - from);
    for (at = begin; at <= close; at = phi__glob_token(p, at)) {
        char c = p.at[at];
        if (c == '{') depth++;
        if (at == close || (c == ',' && depth == 0)) {
            phi__buf_add(out, p.at, open);
            phi__buf_add(out, p.at + begin, at - begin);
            phi__buf_add(out, p.at + close + 1, p.len - close - 1);
            begin = at + 1;
        } else if (c == '}')
            depth--;
    }
    phi__buf_free(&whole);
}

/* ---- for other files ---- */

PHI__FN const char *phi__glob_expand(phi__buf *out, phi_str pattern) {
    size_t begin = out->len, from = begin, open, close, choices = 0, splits = 0;
    const char *wrong;
    if (pattern.len > PHI__GLOB_PATTERN) return "it is longer than 2,048 bytes";
    wrong = phi__glob_find(pattern, &open, &close);
    if (wrong == NULL && pattern.len > 0 && memchr(pattern.at, '\0', pattern.len) != NULL)
        wrong = "a NUL";
    if (wrong != NULL) return wrong;
    phi__buf_add_str(out, pattern);
    phi__buf_char(out, '\0');
    while (!out->failed && from < out->len) {
        phi_str p = phi_str_of(out->at + from);
        (void)phi__glob_find(p, &open, &close);
        if (open == SIZE_MAX) {
            from += p.len + 1;
            choices++;
        } else {
            phi__glob_split(out, from, p.len + 1, open, close);
            splits++;
        }
        if (choices > PHI__GLOB_CHOICES || splits > PHI__GLOB_SPLITS ||
            out->len - begin > PHI__GLOB_BYTES) {
            out->len = begin;
            return "its braces leave too many choices";
        }
    }
    return NULL;
}

PHI__FN bool phi__glob_any(phi_str choices, phi_str path, size_t *work) {
    size_t at = 0;
    while (at < choices.len) {
        const char *end = (const char *)memchr(choices.at + at, '\0', choices.len - at);
        size_t n = end != NULL ? (size_t)(end - choices.at) - at : choices.len - at;
        if (phi__glob_match(phi__str(choices.at + at, n), path, work)) return true;
        at += n + 1;
    }
    return false;
}

PHI__FN phi_str phi__glob_name(phi_str path) {
    size_t name = path.len;
    while (name > 0 && path.at[name - 1] != '/') name--;
    return phi__str(path.at + name, path.len - name);
}

/* ---- src/match/ignore.c ---- */

/* ignore.c - lines of .gitignore files, and what they say of a path. */

static bool phi__ignore_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Without the blanks at its end, but for one behind a backslash. */
static phi_str phi__ignore_trim(phi_str line) {
    while (line.len > 0 && phi__ignore_is_blank(line.at[line.len - 1])) {
        size_t slashes = 0;
        while (slashes + 1 < line.len && line.at[line.len - 2 - slashes] == '\\') slashes++;
        if (slashes % 2 == 1) break;
        line.len--;
    }
    return line;
}

PHI__FN void phi__ignore_init(phi__ignore *ignore, phi_memory *memory) {
    memset(ignore, 0, sizeof *ignore);
    ignore->memory = memory;
    phi__buf_init(&ignore->text, memory);
}

PHI__FN void phi__ignore_free(phi__ignore *ignore) {
    phi__buf_free(&ignore->text);
    phi__free(ignore->memory, ignore->rules, ignore->cap * sizeof *ignore->rules);
    ignore->rules = NULL;
    ignore->count = ignore->cap = ignore->outs = 0;
}

PHI__FN phi_status phi__ignore_add_line(phi__ignore *ignore, phi_str line, const char **wrong) {
    phi__ignore_rule rule;
    phi__ignore_rule *rules;
    memset(&rule, 0, sizeof rule);
    *wrong = NULL;
    if (line.len > 0 && line.at[0] == '#') return PHI_OK;
    line = phi__ignore_trim(line);
    rule.in = line.len > 0 && line.at[0] == '!';
    if (rule.in) line = phi__str(line.at + 1, line.len - 1);
    rule.name_alone = true;
    if (line.len > 0 && line.at[line.len - 1] == '/') {
        rule.directories = true;
        line.len--;
    }
    if (line.len > 0 && memchr(line.at, '/', line.len) != NULL) rule.name_alone = false;
    if (line.len > 0 && line.at[0] == '/') line = phi__str(line.at + 1, line.len - 1);
    if (line.len == 0) return PHI_OK;
    rules = (phi__ignore_rule *)phi__grow(ignore->memory, ignore->rules, &ignore->cap,
                                          ignore->count + 1, sizeof *rules);
    if (rules == NULL) return PHI_NO_MEMORY;
    ignore->rules = rules;
    rule.at = ignore->text.len;
    *wrong = phi__glob_expand(&ignore->text, line);
    if (*wrong != NULL) return PHI_BAD_ARG;
    if (ignore->text.failed) return PHI_NO_MEMORY;
    rule.len = ignore->text.len - rule.at;
    rules[ignore->count++] = rule;
    if (!rule.in) ignore->outs++;
    return PHI_OK;
}

PHI__FN phi_status phi__ignore_add(phi__ignore *ignore, phi_str file) {
    size_t at = phi__str_starts(file, "\xEF\xBB\xBF") ? 3 : 0;
    while (at < file.len) {
        const char *end = (const char *)memchr(file.at + at, '\n', file.len - at);
        size_t n = end != NULL ? (size_t)(end - file.at) - at : file.len - at;
        const char *wrong;
        if (phi__ignore_add_line(ignore, phi__str(file.at + at, n), &wrong) == PHI_NO_MEMORY)
            return PHI_NO_MEMORY;
        at += n + 1;
    }
    return PHI_OK;
}

PHI__FN phi__ignore_said phi__ignore_says(const phi__ignore *ignore, phi_str path, bool directory,
                                          size_t *left, size_t *units) {
    phi_str name = phi__glob_name(path);
    while (*left > 0 && *units > 0) {
        const phi__ignore_rule *rule = &ignore->rules[--*left];
        size_t work = PHI__IGNORE_RULE;
        bool matches = (directory || !rule->directories) &&
                       phi__glob_any(phi__str(ignore->text.at + rule->at, rule->len),
                                     rule->name_alone ? name : path, &work);
        *units -= phi__min(*units, work);
        if (matches) return rule->in ? PHI__IGNORE_IN : PHI__IGNORE_OUT;
    }
    return PHI__IGNORE_NONE;
}

/* ---- src/match/regex.c ---- */

/* regex.c - the machine: sets of instructions are its states, made when the text needs them.

   A state holds the instructions that wait for a character, for a test, or that say "match"; tests
   are decided by the symbol that comes next, so a match is noticed one symbol late at most. */


enum {
    PHI__REGEX_UNKNOWN, /* in the table: not computed */
    PHI__REGEX_MATCHED, /* in the table: the line matches */
    PHI__REGEX_FIRST,   /* the first state */
    PHI__REGEX_STATES = 4096,
    PHI__REGEX_POOL = 262144 /* instructions of all states together */
};

/* What stood before a state's place; it matters to states with tests alone. */
typedef enum phi__regex_before {
    PHI__REGEX_BEFORE_ANY,
    PHI__REGEX_BEFORE_LINE,
    PHI__REGEX_BEFORE_WORD,
    PHI__REGEX_BEFORE_OTHER
} phi__regex_before;

typedef struct phi__regex_state {
    uint32_t at; /* in the pool */
    uint16_t count, before;
} phi__regex_state;

struct phi__regex {
    phi_memory *memory;
    phi__regex_program program;
    unsigned shift; /* a row of the table has 1 << shift places */
    uint16_t *table;
    size_t table_cap;
    phi__regex_state *states;
    size_t state_count, state_cap, most_states; /* with the two that are none */
    uint16_t *pool;
    size_t pool_count, pool_cap;
    uint16_t *hash; /* states by their instructions */
    size_t hash_size;
    uint64_t *next, *seen; /* sets of instructions, a bit each */
    uint16_t *stack;
    size_t words;          /* of such a set */
    bool matched;          /* an instruction that was reached says so */
    bool flushed;          /* the states were thrown away */
    uint16_t state, start; /* PHI__REGEX_UNKNOWN: to be made */
    /* The only bytes that lead on from the start state; none of them: it is not looked for. */
    char leads[2];
    size_t lead_count;
    uint64_t work;
};

/* ---- sets of instructions ---- */

static bool phi__regex_mark(uint64_t *set, size_t pc) {
    uint64_t bit = (uint64_t)1 << (pc & 63);
    if (set[pc >> 6] & bit) return false;
    set[pc >> 6] |= bit;
    return true;
}

static size_t phi__regex_push(const phi__regex *regex, uint64_t *set, size_t depth, size_t pc) {
    if (phi__regex_mark(set, pc)) regex->stack[depth++] = (uint16_t)pc;
    return depth;
}

/* Adds an instruction and those reached without a character or a test. */
static void phi__regex_reach(phi__regex *regex, uint64_t *set, size_t pc) {
    size_t depth = phi__regex_push(regex, set, 0, pc);
    while (depth > 0) {
        const phi__regex_code *code = &regex->program.codes[regex->stack[--depth]];
        regex->work++;
        if (code->op == PHI__REGEX_OP_SPLIT) depth = phi__regex_push(regex, set, depth, code->y);
        if (code->op == PHI__REGEX_OP_SPLIT || code->op == PHI__REGEX_OP_JUMP)
            depth = phi__regex_push(regex, set, depth, code->x);
        if (code->op == PHI__REGEX_OP_MATCH) regex->matched = true;
    }
}

static bool phi__regex_test(const phi__regex *regex, uint16_t kind, uint16_t before,
                            uint16_t symbol) {
    bool edge;
    if (kind == PHI__REGEX_START) return before == PHI__REGEX_BEFORE_LINE;
    if (kind == PHI__REGEX_END) return symbol == regex->program.end;
    edge =
        (before == PHI__REGEX_BEFORE_WORD) != phi__regex_program_is_word(&regex->program, symbol);
    return edge == (kind == PHI__REGEX_WORD);
}

/* Puts into `next` where a state's instructions lead with a symbol. */
static void phi__regex_follow(phi__regex *regex, const phi__regex_state *state, uint16_t symbol) {
    size_t i, depth = 0;
    memset(regex->seen, 0, regex->words * sizeof *regex->seen);
    for (i = 0; i < state->count; i++)
        depth = phi__regex_push(regex, regex->seen, depth, regex->pool[state->at + i]);
    while (depth > 0) {
        size_t pc = regex->stack[--depth];
        const phi__regex_code *code = &regex->program.codes[pc];
        regex->work++;
        if (code->op == PHI__REGEX_OP_SPLIT)
            depth = phi__regex_push(regex, regex->seen, depth, code->y);
        if (code->op == PHI__REGEX_OP_SPLIT || code->op == PHI__REGEX_OP_JUMP)
            depth = phi__regex_push(regex, regex->seen, depth, code->x);
        if (code->op == PHI__REGEX_OP_MATCH) regex->matched = true;
        if (code->op == PHI__REGEX_OP_TEST &&
            phi__regex_test(regex, code->x, state->before, symbol))
            depth = phi__regex_push(regex, regex->seen, depth, pc + 1);
        if (code->op == PHI__REGEX_OP_SET &&
            phi__regex_program_in_set(&regex->program, code->x, symbol))
            (void)phi__regex_mark(regex->next, pc + 1);
    }
}

/* `next` has single instructions: those reached from them are added. */
static void phi__regex_close(phi__regex *regex) {
    size_t i;
    memset(regex->seen, 0, regex->words * sizeof *regex->seen);
    for (i = 0; i < regex->words; i++) {
        uint64_t word = regex->next[i];
        size_t pc = i * 64;
        for (; word != 0; word >>= 1, pc++)
            if (word & 1) phi__regex_reach(regex, regex->seen, pc);
    }
    memcpy(regex->next, regex->seen, regex->words * sizeof *regex->next);
}

/* ---- states ---- */

static void phi__regex_flush(phi__regex *regex) {
    regex->state_count = PHI__REGEX_FIRST;
    regex->pool_count = 0;
    regex->start = PHI__REGEX_UNKNOWN;
    regex->flushed = true;
    memset(regex->hash, 0, regex->hash_size * sizeof *regex->hash);
}

/* Appends the instructions in `next` that wait for something to the pool, in order. False: no
   memory. *tests: there are tests among them. */
static bool phi__regex_list(phi__regex *regex, phi__regex_state *state, bool *tests) {
    size_t i, n = 0;
    uint16_t *pool;
    *tests = false;
    pool = (uint16_t *)phi__grow(regex->memory, regex->pool, &regex->pool_cap,
                                 regex->pool_count + regex->program.count, sizeof *pool);
    if (pool == NULL) return false;
    regex->pool = pool;
    for (i = 0; i < regex->words; i++) {
        uint64_t word = regex->next[i];
        size_t pc = i * 64;
        for (; word != 0; word >>= 1, pc++) {
            uint16_t op = regex->program.codes[phi__min(pc, regex->program.count - 1)].op;
            if ((word & 1) == 0 || op == PHI__REGEX_OP_JUMP || op == PHI__REGEX_OP_SPLIT) continue;
            if (op == PHI__REGEX_OP_TEST) *tests = true;
            pool[regex->pool_count + n++] = (uint16_t)pc;
        }
    }
    regex->work += regex->words + n;
    state->at = (uint32_t)regex->pool_count;
    state->count = (uint16_t)n;
    return true;
}

static bool phi__regex_same(const phi__regex *regex, const phi__regex_state *a,
                            const phi__regex_state *b) {
    return a->count == b->count && a->before == b->before &&
           memcmp(regex->pool + a->at, regex->pool + b->at, a->count * sizeof *regex->pool) == 0;
}

static size_t phi__regex_hash(const phi__regex *regex, const phi__regex_state *state) {
    uint32_t hash = 2166136261u + state->before;
    size_t i;
    for (i = 0; i < state->count; i++) hash = (hash ^ regex->pool[state->at + i]) * 16777619u;
    return (hash ^ hash >> 15) & (regex->hash_size - 1);
}

/* A row of the table for a new state. */
static bool phi__regex_room(phi__regex *regex) {
    size_t row = (size_t)1 << regex->shift;
    phi__regex_state *states = (phi__regex_state *)phi__grow(
        regex->memory, regex->states, &regex->state_cap, regex->state_count + 1, sizeof *states);
    uint16_t *table;
    if (states == NULL) return false;
    regex->states = states;
    table = (uint16_t *)phi__grow(regex->memory, regex->table, &regex->table_cap,
                                  (regex->state_count + 1) * row, sizeof *table);
    if (table == NULL) return false;
    regex->table = table;
    memset(table + regex->state_count * row, 0, row * sizeof *table);
    return true;
}

/* The state of the instructions in `next`; PHI__REGEX_UNKNOWN: no memory. */
static uint16_t phi__regex_intern(phi__regex *regex, uint16_t before) {
    phi__regex_state state;
    size_t at;
    bool tests;
    if (regex->state_count >= regex->most_states ||
        regex->pool_count + regex->program.count > PHI__REGEX_POOL)
        phi__regex_flush(regex);
    if (!phi__regex_list(regex, &state, &tests)) return PHI__REGEX_UNKNOWN;
    state.before = tests ? before : (uint16_t)PHI__REGEX_BEFORE_ANY;
    at = phi__regex_hash(regex, &state);
    for (; regex->hash[at] != 0; at = (at + 1) & (regex->hash_size - 1))
        if (phi__regex_same(regex, &state, &regex->states[regex->hash[at]])) return regex->hash[at];
    if (!phi__regex_room(regex)) return PHI__REGEX_UNKNOWN;
    regex->hash[at] = (uint16_t)regex->state_count;
    regex->pool_count += state.count;
    regex->states[regex->state_count] = state;
    return (uint16_t)regex->state_count++;
}

/* The state at a line's beginning. */
static uint16_t phi__regex_starting(phi__regex *regex) {
    if (regex->start != PHI__REGEX_UNKNOWN) return regex->start;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__regex_reach(regex, regex->next, 0);
    regex->matched = false; /* noticed at the next symbol */
    regex->start = phi__regex_intern(regex, PHI__REGEX_BEFORE_LINE);
    return regex->start;
}

/* Where a symbol leads; PHI__REGEX_UNKNOWN: no memory. */
static uint16_t phi__regex_step(phi__regex *regex, uint16_t symbol) {
    phi__regex_state state = regex->states[regex->state];
    bool word;
    regex->matched = false;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__regex_follow(regex, &state, symbol);
    if (regex->matched) return PHI__REGEX_MATCHED;
    if (symbol == regex->program.end) return phi__regex_starting(regex);
    (void)phi__regex_mark(regex->next, 0); /* a match may begin here, too */
    phi__regex_close(regex);
    if (regex->matched) return PHI__REGEX_MATCHED;
    word = regex->program.words && phi__regex_program_is_word(&regex->program, symbol);
    return phi__regex_intern(regex,
                             (uint16_t)(word ? PHI__REGEX_BEFORE_WORD : PHI__REGEX_BEFORE_OTHER));
}

/* The same out of the table, where it is computed once. */
static uint16_t phi__regex_go(phi__regex *regex, uint16_t symbol, size_t *units) {
    size_t place = ((size_t)regex->state << regex->shift) + symbol;
    uint16_t to = regex->table[place];
    uint64_t before = regex->work;
    if (to != PHI__REGEX_UNKNOWN) return to;
    regex->flushed = false;
    to = phi__regex_step(regex, symbol);
    if (!regex->flushed) regex->table[place] = to;
    *units -= phi__min(*units, (size_t)(regex->work - before));
    return to;
}

/* ---- text ---- */

/* The symbol of a character above ASCII; *n its bytes, 0: more are needed. */
static uint16_t phi__regex_decode(const phi__regex *regex, phi_str text, bool last, size_t *n) {
    const unsigned char *s = (const unsigned char *)text.at;
    size_t want = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4, have = phi__min(want, text.len), i;
    uint32_t code = s[0] & (0xFFu >> (want + 1));
    if (phi__utf8_valid(phi__str(text.at, have)) == want) {
        for (i = 1; i < want; i++) code = code << 6 | (s[i] & 0x3Fu);
        *n = want;
        return phi__regex_program_symbol(&regex->program, code);
    }
    /* The beginning of a character, up to the end of the text. */
    *n = !last && have < want && phi__utf8_bad(text.at, text.at + have) == have ? 0 : 1;
    if (*n == 0 && (s[0] < 0xC2 || s[0] > 0xF4)) *n = 1;
    return regex->program.bad;
}

/* Where one of the leading bytes stands, from `at` on. next: where each was seen last. */
static size_t phi__regex_skip(const phi__regex *regex, const char *text, size_t at, size_t end,
                              size_t *next) {
    size_t first = end, i;
    for (i = 0; i < regex->lead_count; i++) {
        if (next[i] < at) {
            const void *found = memchr(text + at, regex->leads[i], end - at);
            next[i] = found != NULL ? (size_t)((const char *)found - text) : end;
        }
        first = phi__min(first, next[i]);
    }
    return first;
}

/* Follows the table; stops at a place not computed yet, at a match, and at a byte above ASCII. */
static size_t phi__regex_run(phi__regex *regex, const char *text, size_t at, size_t end) {
    const uint16_t *table = regex->table, *bytes = regex->program.bytes;
    unsigned shift = regex->shift;
    uint16_t state = regex->state, idle = PHI__REGEX_UNKNOWN;
    size_t next[2] = {0, 0};
    if (regex->lead_count > 0) {
        idle = regex->start;
        if (state == idle) at = phi__regex_skip(regex, text, at, end, next);
    }
    for (; at < end; at++) {
        uint16_t to = table[((size_t)state << shift) + bytes[(unsigned char)text[at]]];
        if (to < PHI__REGEX_FIRST) break;
        state = to;
        /* The loop's own step follows. */
        if (to == idle) at = phi__regex_skip(regex, text, at + 1, end, next) - 1;
    }
    regex->state = state;
    return at;
}

/* Whether the start state has no tests, and at most two ASCII bytes lead on from it. */
static void phi__regex_find_leads(phi__regex *regex) {
    const phi__regex_program *program = &regex->program;
    uint16_t symbol, c;
    size_t pc, run, n = 0;
    memset(regex->next, 0, regex->words * sizeof *regex->next);
    phi__regex_reach(regex, regex->next, 0);
    for (symbol = 0; symbol < program->symbol_count; symbol++) {
        bool leads = regex->matched;
        for (pc = 0; pc < program->count && !leads; pc++)
            if ((regex->next[pc >> 6] >> (pc & 63) & 1) != 0)
                leads = program->codes[pc].op == PHI__REGEX_OP_TEST ||
                        (program->codes[pc].op == PHI__REGEX_OP_SET &&
                         phi__regex_program_in_set(program, program->codes[pc].x, symbol));
        if (!leads) continue;
        for (run = 0; run < program->run_count; run++)
            if (program->starts[run] >= 0x80 && program->symbols[run] == symbol) return;
        for (c = 0; c < 0x80; c++) {
            if (program->bytes[c] != symbol) continue;
            if (n == 2) return;
            regex->leads[n++] = (char)c;
        }
    }
    regex->lead_count = n;
}

static bool phi__regex_ready(phi__regex *regex) {
    if (regex->state == PHI__REGEX_UNKNOWN) regex->state = phi__regex_starting(regex);
    return regex->state != PHI__REGEX_UNKNOWN;
}

static bool phi__regex_prepare(phi__regex *regex) {
    size_t row = 1;
    while (row < (size_t)regex->program.high + 1) {
        row *= 2;
        regex->shift++;
    }
    regex->words = (regex->program.count + 63) / 64;
    regex->most_states =
        phi__max(phi__min(PHI__REGEX_CACHE / (row * sizeof(uint16_t)), PHI__REGEX_STATES), 16);
    regex->hash_size = 2 * PHI__REGEX_STATES;
    while (regex->hash_size >= 4 * regex->most_states) regex->hash_size /= 2;
    regex->hash = (uint16_t *)phi__alloc(regex->memory, regex->hash_size * sizeof *regex->hash);
    regex->next = (uint64_t *)phi__alloc(regex->memory, regex->words * sizeof *regex->next);
    regex->seen = (uint64_t *)phi__alloc(regex->memory, regex->words * sizeof *regex->seen);
    regex->stack =
        (uint16_t *)phi__alloc(regex->memory, regex->program.count * sizeof *regex->stack);
    if (regex->hash == NULL || regex->next == NULL || regex->seen == NULL || regex->stack == NULL)
        return false;
    phi__regex_flush(regex);
    phi__regex_find_leads(regex);
    regex->matched = false;
    return true;
}

/* ---- for other files ---- */

PHI__FN phi_status phi__regex_new(phi_memory *memory, phi_str pattern, bool ignore_case,
                                  phi__regex **out, phi__regex_error *error) {
    phi__regex *regex = (phi__regex *)phi__alloc(memory, sizeof *regex);
    phi__regex_tree tree;
    phi_status status;
    *out = NULL;
    memset(error, 0, sizeof *error);
    if (regex == NULL) return PHI_NO_MEMORY;
    regex->memory = memory;
    regex->program.memory = memory;
    status = phi__regex_parse(&tree, memory, pattern, ignore_case, error);
    if (status == PHI_OK) status = phi__regex_program_make(&regex->program, &tree, error);
    phi__regex_parse_free(&tree);
    if (status == PHI_OK && !phi__regex_prepare(regex)) status = PHI_NO_MEMORY;
    if (status == PHI_OK)
        *out = regex;
    else
        phi__regex_free(regex);
    return status;
}

PHI__FN void phi__regex_free(phi__regex *regex) {
    phi_memory *memory;
    if (regex == NULL) return;
    memory = regex->memory;
    phi__free(memory, regex->table, regex->table_cap * sizeof *regex->table);
    phi__free(memory, regex->states, regex->state_cap * sizeof *regex->states);
    phi__free(memory, regex->pool, regex->pool_cap * sizeof *regex->pool);
    phi__free(memory, regex->hash, regex->hash_size * sizeof *regex->hash);
    phi__free(memory, regex->next, regex->words * sizeof *regex->next);
    phi__free(memory, regex->seen, regex->words * sizeof *regex->seen);
    phi__free(memory, regex->stack, regex->program.count * sizeof *regex->stack);
    phi__regex_program_free(&regex->program);
    phi__free(memory, regex, sizeof *regex);
}

PHI__FN void phi__regex_begin(phi__regex *regex) { regex->state = regex->start; }

PHI__FN phi__regex_found phi__regex_scan(phi__regex *regex, phi_str text, bool last, size_t *at,
                                         size_t *units) {
    while (*at < text.len) {
        size_t begin = *at, n = 1;
        uint16_t symbol, to;
        if (*units == 0) return PHI__REGEX_BUSY;
        if (!phi__regex_ready(regex)) return PHI__REGEX_NO_MEMORY;
        *at = phi__regex_run(regex, text.at, begin, begin + phi__min(text.len - begin, *units));
        *units -= *at - begin;
        regex->work += *at - begin;
        if (*units == 0 || *at == text.len) continue;
        symbol = regex->program.bytes[(unsigned char)text.at[*at]];
        if (symbol == regex->program.high)
            symbol = phi__regex_decode(regex, phi__str(text.at + *at, text.len - *at), last, &n);
        if (n == 0) return PHI__REGEX_NONE;
        to = phi__regex_go(regex, symbol, units);
        if (to == PHI__REGEX_UNKNOWN) return PHI__REGEX_NO_MEMORY;
        if (to == PHI__REGEX_MATCHED) return PHI__REGEX_MATCH;
        regex->state = to;
        *at += n;
        *units -= phi__min(*units, n);
    }
    return PHI__REGEX_NONE;
}

PHI__FN phi__regex_found phi__regex_finish(phi__regex *regex) {
    size_t units = SIZE_MAX;
    uint16_t to;
    if (!phi__regex_ready(regex)) return PHI__REGEX_NO_MEMORY;
    to = phi__regex_go(regex, regex->program.end, &units);
    if (to == PHI__REGEX_UNKNOWN) return PHI__REGEX_NO_MEMORY;
    return to == PHI__REGEX_MATCHED ? PHI__REGEX_MATCH : PHI__REGEX_NONE;
}

/* ---- src/match/regex_letter.c ---- */

/* regex_letter.c - the parts of a pattern that stand for one character: escapes and sets. */


PHI__FN uint32_t phi__regex_letter_plain(phi__regex_parser *p) {
    const unsigned char *s = (const unsigned char *)p->text.at + p->at;
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4, i;
    uint32_t code = s[0];
    if (n > p->text.len - p->at || phi__utf8_valid(phi__str(p->text.at + p->at, n)) != n) {
        phi__regex_parse_fail(p, p->at, "the pattern is not UTF-8");
        return 0;
    }
    if (n > 1) code &= 0xFFu >> (n + 1);
    for (i = 1; i < n; i++) code = code << 6 | (s[i] & 0x3Fu);
    p->at += n;
    return code;
}

/* ---- escapes ---- */

static int phi__regex_letter_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') return (c | 0x20) - 'a' + 10;
    return -1;
}

/* Behind \x, \u or \U: so many digits, or any number of them in braces. */
static uint32_t phi__regex_letter_hex(phi__regex_parser *p, size_t digits) {
    size_t begin = p->at, n = 0;
    bool braces = phi__regex_parse_is(p, '{');
    uint32_t code = 0;
    if (braces) p->at++;
    while (phi__regex_parse_more(p) && (braces || n < digits)) {
        int digit = phi__regex_letter_digit(p->text.at[p->at]);
        if (digit < 0) break;
        code = phi__min(code << 4 | (uint32_t)digit, PHI__REGEX_LAST_CODE + 1u) & 0xFFFFFFFFu;
        p->at++;
        n++;
    }
    if (n == 0 || (!braces && n < digits) || (braces && !phi__regex_parse_is(p, '}')))
        phi__regex_parse_fail(p, begin, "expected hexadecimal digits");
    else if (code > PHI__REGEX_LAST_CODE || (code >= 0xD800 && code < 0xE000))
        phi__regex_parse_fail(p, begin, "there is no such character");
    if (braces) p->at++;
    return code;
}

static void phi__regex_letter_unknown(phi__regex_parser *p, char c) {
    size_t at = p->at - 2;
    if (c >= '0' && c <= '9')
        phi__regex_parse_fail(p, at, "back references are not supported");
    else if (c == 'p' || c == 'P')
        phi__regex_parse_fail(p, at, "classes by \\p{...} are not supported");
    else if (c == 'A' || c == 'z' || c == 'Z' || c == 'G')
        phi__regex_parse_fail(p, at, "anchors of the whole text are not supported: use ^ and $");
    else if (c == '<' || c == '>')
        phi__regex_parse_fail(p, at, "anchors of one side of a word are not supported: use \\b");
    else if (c == 'b' || c == 'B')
        phi__regex_parse_fail(p, at, "a word boundary cannot be in a set");
    else
        phi__regex_parse_fail(p, at, "unknown escape sequence");
}

static bool phi__regex_letter_is_mark(char c) {
    return c > ' ' && c < 0x7F && phi__regex_letter_digit(c) < 0 &&
           ((c | 0x20) < 'a' || (c | 0x20) > 'z') && c != '<' && c != '>';
}

PHI__FN bool phi__regex_letter_escape(phi__regex_parser *p, char *letter, uint32_t *code) {
    static const char names[] = "nrtfva", codes[] = "\n\r\t\f\v\a";
    const char *found;
    char c;
    *code = 0;
    if (++p->at >= p->text.len) {
        phi__regex_parse_fail(p, p->at - 1, "a backslash at the end");
        return false;
    }
    c = p->text.at[p->at++];
    *letter = c;
    if (c != '\0' && strchr("dswDSW", c) != NULL) return true;
    found = c != '\0' ? strchr(names, c) : NULL;
    if (found != NULL)
        *code = (uint32_t)codes[found - names];
    else if (c == 'x' || c == 'u' || c == 'U')
        *code = phi__regex_letter_hex(p, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    else if (phi__regex_letter_is_mark(c))
        *code = (unsigned char)c;
    else
        phi__regex_letter_unknown(p, c);
    return false;
}

/* ---- sets ---- */

/* Pairs of first and last. */
static const char *phi__regex_letter_posix_rows(phi_str name) {
    static const struct {
        const char *name, *rows;
    } classes[] = {{"alnum", "09AZaz"},
                   {"alpha", "AZaz"},
                   {"ascii", "\1\177"},
                   {"blank", "\t\t  "},
                   {"cntrl", "\1\037\177\177"},
                   {"digit", "09"},
                   {"graph", "!~"},
                   {"lower", "az"},
                   {"print", " ~"},
                   {"punct", "!/:@[`{~"},
                   {"space", "\t\r  "},
                   {"upper", "AZ"},
                   {"word", "09AZ__az"},
                   {"xdigit", "09AFaf"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(classes); i++)
        if (phi__str_is(name, classes[i].name)) return classes[i].rows;
    return NULL;
}

static void phi__regex_letter_add(phi__regex_parser *p, uint32_t first, uint32_t last) {
    if (p->status == PHI_OK)
        (void)phi__regex_parse_did(p, phi__regex_set_add(p->tree, first, last));
}

/* [:name:] or [:^name:] at p->at. */
static void phi__regex_letter_posix(phi__regex_parser *p) {
    size_t begin = p->at, end = phi__str_find(p->text, p->at + 2, ":]");
    bool outside = phi__regex_parse_peek(p, 2) == '^';
    size_t from = begin + (outside ? 3 : 2);
    const char *rows = NULL;
    /* The strings of the table have no NUL: it is added to the two classes that begin with it. */
    uint32_t next = 0;
    bool nul;
    if (end != SIZE_MAX && end >= from)
        rows = phi__regex_letter_posix_rows(phi__str(p->text.at + from, end - from));
    if (rows == NULL) {
        phi__regex_parse_fail(p, begin,
                              "unknown class of characters, or a set inside a set: write \\[");
        return;
    }
    p->at = end + 2;
    nul = rows[0] == '\1';
    for (; *rows != '\0'; rows += 2) {
        uint32_t first = nul && rows[0] == '\1' ? 0 : (unsigned char)rows[0];
        if (!outside)
            phi__regex_letter_add(p, first, (unsigned char)rows[1]);
        else if (first > next)
            phi__regex_letter_add(p, next, first - 1);
        next = (unsigned char)rows[1] + 1u;
    }
    if (outside) phi__regex_letter_add(p, next, PHI__REGEX_LAST_CODE);
}

/* One end of a range, or a class, which is added. False: a class. */
static bool phi__regex_letter_end(phi__regex_parser *p, uint32_t *code) {
    char letter;
    if (!phi__regex_parse_is(p, '\\')) {
        *code = phi__regex_letter_plain(p);
        return true;
    }
    if (!phi__regex_letter_escape(p, &letter, code)) return true;
    (void)phi__regex_parse_did(p, phi__regex_set_add_class(p->tree, letter));
    return false;
}

static void phi__regex_letter_item(phi__regex_parser *p) {
    char c = phi__regex_parse_peek(p, 0), next = phi__regex_parse_peek(p, 1);
    size_t begin = p->at;
    uint32_t first, last;
    if (c == '[' && next == ':') {
        phi__regex_letter_posix(p);
        return;
    }
    if (c == '[') phi__regex_parse_fail(p, p->at, "a set inside a set is not supported: write \\[");
    if ((c == '&' || c == '-' || c == '~') && next == c)
        phi__regex_parse_fail(p, p->at, "operations on sets are not supported");
    if (p->status != PHI_OK || !phi__regex_letter_end(p, &first)) return;
    last = first;
    next = phi__regex_parse_peek(p, 1);
    if (phi__regex_parse_is(p, '-') && next != ']' && next != '-' && p->at + 1 < p->text.len) {
        p->at++;
        if (phi__regex_parse_is(p, '['))
            phi__regex_parse_fail(p, p->at, "a set inside a set is not supported: write \\[");
        else if (!phi__regex_letter_end(p, &last))
            phi__regex_parse_fail(p, begin, "a range cannot end with a class");
        else if (last < first)
            phi__regex_parse_fail(p, begin, "a range whose end is before its beginning");
    }
    phi__regex_letter_add(p, first, last);
}

PHI__FN uint32_t phi__regex_letter_set(phi__regex_parser *p) {
    size_t begin = p->at++, first;
    bool outside = phi__regex_parse_is(p, '^');
    uint32_t set = 0;
    if (outside) p->at++;
    first = p->at;
    phi__regex_set_begin(p->tree);
    while (phi__regex_parse_more(p) && (p->at == first || !phi__regex_parse_is(p, ']'))) {
        if (p->at == first && phi__regex_parse_is(p, ']')) {
            phi__regex_letter_add(p, ']', ']');
            p->at++;
        } else
            phi__regex_letter_item(p);
    }
    if (p->status == PHI_OK && !phi__regex_parse_is(p, ']'))
        phi__regex_parse_fail(p, begin, "a set without its closing bracket");
    p->at++;
    if (p->status == PHI_OK && p->fold) (void)phi__regex_parse_did(p, phi__regex_set_fold(p->tree));
    if (p->status == PHI_OK && outside)
        (void)phi__regex_parse_did(p, phi__regex_set_negate(p->tree));
    if (p->status == PHI_OK) (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return set;
}

/* ---- src/match/regex_parse.c ---- */

/* regex_parse.c - a pattern's text becomes a tree. */

enum { PHI__REGEX_NODE_DEPTH = 3 * PHI__REGEX_DEPTH };

static uint32_t phi__regex_parse_choice(phi__regex_parser *p);

static uint32_t phi__regex_parse_node(phi__regex_parser *p, phi__regex_kind kind, uint32_t a) {
    phi__regex_tree *tree = p->tree;
    phi__regex_node *nodes;
    if (p->status != PHI_OK) return 0;
    nodes = (phi__regex_node *)phi__grow(tree->memory, tree->nodes, &tree->node_cap,
                                         tree->node_count + 1, sizeof *nodes);
    if (nodes == NULL) {
        p->status = PHI_NO_MEMORY;
        return 0;
    }
    tree->nodes = nodes;
    memset(&nodes[tree->node_count], 0, sizeof *nodes);
    nodes[tree->node_count].kind = kind;
    nodes[tree->node_count].a = a;
    return (uint32_t)tree->node_count++;
}

/* The node around children: one deeper. */
static uint32_t phi__regex_parse_above(phi__regex_parser *p, phi__regex_kind kind, uint32_t child,
                                       uint16_t depth) {
    uint32_t node = phi__regex_parse_node(p, kind, child);
    if (p->status != PHI_OK) return 0;
    if (depth >= PHI__REGEX_NODE_DEPTH)
        phi__regex_parse_fail(p, p->at - 1, "the pattern is nested too deeply");
    p->tree->nodes[node].depth = (uint16_t)(depth + 1);
    return node;
}

/* ---- one character ---- */

static uint32_t phi__regex_parse_letter(phi__regex_parser *p, uint32_t code) {
    uint32_t set = 0;
    if (p->status != PHI_OK) return 0;
    phi__regex_set_begin(p->tree);
    if (phi__regex_parse_did(p, phi__regex_set_add(p->tree, code, code)) && p->fold)
        (void)phi__regex_parse_did(p, phi__regex_set_fold(p->tree));
    if (p->status == PHI_OK) (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return phi__regex_parse_node(p, PHI__REGEX_SET, set);
}

static uint32_t phi__regex_parse_any(phi__regex_parser *p) {
    uint32_t set = 0;
    p->at++;
    phi__regex_set_begin(p->tree);
    if (phi__regex_parse_did(p, phi__regex_set_add(p->tree, 0, PHI__REGEX_LAST_CODE)))
        (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return phi__regex_parse_node(p, PHI__REGEX_SET, set);
}

static uint32_t phi__regex_parse_escape(phi__regex_parser *p) {
    char next = phi__regex_parse_peek(p, 1), letter = 0;
    size_t begin = p->at;
    uint32_t code, set = 0;
    if (next == 'b' || next == 'B') {
        p->at += 2;
        if (phi__regex_parse_is(p, '{') && next == 'b' && phi__regex_parse_peek(p, 1) > '9')
            phi__regex_parse_fail(p, begin, "boundaries by name are not supported: use \\b");
        p->tree->words = true;
        return phi__regex_parse_node(p, next == 'b' ? PHI__REGEX_WORD : PHI__REGEX_NO_WORD, 0);
    }
    if (!phi__regex_letter_escape(p, &letter, &code)) {
        if (code == '\n') phi__regex_parse_fail(p, begin, "a match cannot contain a newline");
        return phi__regex_parse_letter(p, code);
    }
    phi__regex_set_begin(p->tree);
    if (phi__regex_parse_did(p, phi__regex_set_add_class(p->tree, letter)))
        (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return phi__regex_parse_node(p, PHI__REGEX_SET, set);
}

/* ---- groups ---- */

/* Behind "(?": letters up to ')' or ':'. */
static void phi__regex_parse_flags(phi__regex_parser *p) {
    bool on = true;
    size_t begin = p->at;
    while (phi__regex_parse_more(p) && !phi__regex_parse_is(p, ')') &&
           !phi__regex_parse_is(p, ':')) {
        char c = p->text.at[p->at++];
        if (c == '-' && on)
            on = false;
        else if (c == 'i')
            p->fold = on;
        else if (c == 's' || c == 'U' || ((c == 'm' || c == 'u') && on) || (c == 'x' && !on))
            continue; /* they change nothing about whether a line matches */
        else if (c == 'm' || c == 'u' || c == 'x')
            phi__regex_parse_fail(p, p->at - 1, "this flag is not supported");
        else
            phi__regex_parse_fail(p, p->at - 1, "unknown kind of group");
    }
    if (p->status == PHI_OK && p->at == begin && phi__regex_parse_is(p, ')'))
        phi__regex_parse_fail(p, begin, "a group without flags");
    if (p->status == PHI_OK && p->at >= p->text.len)
        phi__regex_parse_fail(p, begin - 2, "a group without its closing parenthesis");
}

/* (?P<name>...) and (?<name>...), at the name. */
static void phi__regex_parse_name(phi__regex_parser *p) {
    size_t begin = p->at;
    char c;
    while ((c = phi__regex_parse_peek(p, 0)) != '\0' && c != '>') {
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && c != '_' && (p->at == begin || c < '0' || c > '9')) break;
        p->at++;
    }
    if (c != '>' || p->at == begin)
        phi__regex_parse_fail(p, p->at, "the name of a group has letters, digits and underscores");
    p->at++;
}

/* What stands between "(?" and the group's own pattern. False: flags alone, nothing to repeat. */
static bool phi__regex_parse_head(phi__regex_parser *p) {
    char c = phi__regex_parse_peek(p, 0), next = phi__regex_parse_peek(p, 1);
    if (c == '=' || c == '!' || (c == '<' && (next == '=' || next == '!')))
        phi__regex_parse_fail(p, p->at - 2, "look-around is not supported");
    else if (c == 'P' && next == '=')
        phi__regex_parse_fail(p, p->at - 2, "back references are not supported");
    else if (c == '<' || (c == 'P' && next == '<')) {
        p->at += c == 'P' ? 2 : 1;
        phi__regex_parse_name(p);
    } else {
        phi__regex_parse_flags(p);
        if (p->status == PHI_OK && p->text.at[p->at++] == ')') return false;
    }
    return true;
}

/* At "(". *alone: flags for what comes next in the group around it. */
static uint32_t phi__regex_parse_group(phi__regex_parser *p, bool *alone) {
    size_t begin = p->at++;
    bool fold = p->fold;
    uint32_t node;
    *alone = false;
    if (phi__regex_parse_is(p, '?')) {
        p->at++;
        *alone = !phi__regex_parse_head(p);
        if (*alone) return 0;
    }
    if (p->depth >= PHI__REGEX_DEPTH)
        phi__regex_parse_fail(p, begin, "the pattern is nested too deeply");
    if (p->status != PHI_OK) return 0;
    p->depth++;
    node = phi__regex_parse_choice(p);
    p->depth--;
    p->fold = fold;
    if (p->status == PHI_OK && !phi__regex_parse_is(p, ')'))
        phi__regex_parse_fail(p, begin, "a group without its closing parenthesis");
    p->at++;
    return node;
}

/* ---- repetition ---- */

/* A count in braces; false: there is none. */
static bool phi__regex_parse_count(phi__regex_parser *p, uint16_t *out) {
    size_t begin = p->at;
    uint32_t n = 0;
    while (phi__regex_parse_more(p) && p->text.at[p->at] >= '0' && p->text.at[p->at] <= '9') {
        n = n * 10 + (uint32_t)(p->text.at[p->at++] - '0');
        if (n > PHI__REGEX_REPEAT) phi__regex_parse_fail(p, begin, "a count of more than 1,000");
    }
    *out = (uint16_t)n;
    return p->at > begin;
}

static void phi__regex_parse_braces(phi__regex_parser *p, uint16_t *min, uint16_t *max) {
    size_t begin = p->at++;
    bool good = phi__regex_parse_count(p, min);
    *max = *min;
    if (good && phi__regex_parse_is(p, ',')) {
        p->at++;
        if (!phi__regex_parse_count(p, max)) *max = PHI__REGEX_ENDLESS;
    }
    if (!good || !phi__regex_parse_is(p, '}'))
        phi__regex_parse_fail(p, begin, "expected a count such as {2}, {2,} or {2,5}: write \\{");
    else if (*max < *min)
        phi__regex_parse_fail(p, begin, "a count whose end is before its beginning");
    p->at++;
}

static uint32_t phi__regex_parse_times(phi__regex_parser *p, uint32_t node) {
    while (phi__regex_parse_more(p) && strchr("*+?{", p->text.at[p->at]) != NULL &&
           p->text.at[p->at] != '\0') {
        char c = p->text.at[p->at];
        uint16_t min = c == '+' ? 1 : 0, max = c == '?' ? 1 : PHI__REGEX_ENDLESS;
        if (c == '{')
            phi__regex_parse_braces(p, &min, &max);
        else
            p->at++;
        if (phi__regex_parse_is(p, '?')) p->at++; /* lazy: the same lines */
        if (p->status != PHI_OK) return 0;
        if (min == 1 && max == 1) continue;
        node = phi__regex_parse_above(p, PHI__REGEX_TIMES, node, p->tree->nodes[node].depth);
        if (p->status != PHI_OK) return 0;
        p->tree->nodes[node].min = min;
        p->tree->nodes[node].max = max;
    }
    return node;
}

/* ---- together ---- */

static uint32_t phi__regex_parse_atom(phi__regex_parser *p, bool *alone) {
    char c = p->text.at[p->at];
    *alone = false;
    switch (c) {
    case '.': return phi__regex_parse_any(p);
    case '(': return phi__regex_parse_group(p, alone);
    case '\\': return phi__regex_parse_escape(p);
    case '[': {
        uint32_t set = phi__regex_letter_set(p);
        return phi__regex_parse_node(p, PHI__REGEX_SET, set);
    }
    case '^':
    case '$':
        p->at++;
        return phi__regex_parse_node(p, c == '^' ? PHI__REGEX_START : PHI__REGEX_END, 0);
    case '*':
    case '+':
    case '?':
    case '{': phi__regex_parse_fail(p, p->at, "there is nothing to repeat"); return 0;
    case '\n': phi__regex_parse_fail(p, p->at, "a match cannot contain a newline"); return 0;
    default: return phi__regex_parse_letter(p, phi__regex_letter_plain(p));
    }
}

/* A list of nodes: none, one, or many below one of `kind`. */
typedef struct phi__regex_row {
    uint32_t first, last, count;
    uint16_t depth;
} phi__regex_row;

static void phi__regex_parse_append(phi__regex_parser *p, phi__regex_row *row, uint32_t node) {
    phi__regex_node *nodes = p->tree->nodes;
    if (p->status != PHI_OK) return;
    if (row->count++ == 0)
        row->first = node;
    else
        nodes[row->last].next = node;
    row->last = node;
    if (nodes[node].depth > row->depth) row->depth = nodes[node].depth;
}

/* A node that is in two lists would join them: an appended node is in no other list. */
static uint32_t phi__regex_parse_row(phi__regex_parser *p, const phi__regex_row *row,
                                     phi__regex_kind kind) {
    if (row->count == 1) return row->first;
    if (row->count == 0) return phi__regex_parse_node(p, PHI__REGEX_EMPTY, 0);
    return phi__regex_parse_above(p, kind, row->first, row->depth);
}

static uint32_t phi__regex_parse_sequence(phi__regex_parser *p) {
    phi__regex_row row;
    memset(&row, 0, sizeof row);
    while (phi__regex_parse_more(p) && !phi__regex_parse_is(p, '|') &&
           !phi__regex_parse_is(p, ')')) {
        bool alone;
        uint32_t node = phi__regex_parse_atom(p, &alone);
        if (alone && phi__regex_parse_more(p) && strchr("*+?{", p->text.at[p->at]) != NULL)
            phi__regex_parse_fail(p, p->at, "there is nothing to repeat");
        if (alone) continue;
        node = phi__regex_parse_times(p, node);
        phi__regex_parse_append(p, &row, node);
    }
    return phi__regex_parse_row(p, &row, PHI__REGEX_CAT);
}

static uint32_t phi__regex_parse_choice(phi__regex_parser *p) {
    phi__regex_row row;
    memset(&row, 0, sizeof row);
    phi__regex_parse_append(p, &row, phi__regex_parse_sequence(p));
    while (phi__regex_parse_is(p, '|')) {
        p->at++;
        phi__regex_parse_append(p, &row, phi__regex_parse_sequence(p));
    }
    return phi__regex_parse_row(p, &row, PHI__REGEX_ALT);
}

/* ---- for other files ---- */

PHI__FN phi_status phi__regex_parse(phi__regex_tree *tree, phi_memory *memory, phi_str pattern,
                                    bool ignore_case, phi__regex_error *error) {
    phi__regex_parser p;
    memset(tree, 0, sizeof *tree);
    tree->memory = memory;
    memset(&p, 0, sizeof p);
    p.tree = tree;
    p.text = pattern;
    p.fold = ignore_case;
    p.error = error;
    if (pattern.len > PHI__REGEX_PATTERN_BYTES)
        phi__regex_parse_fail(&p, PHI__REGEX_PATTERN_BYTES,
                              "the pattern is longer than 4,096 bytes");
    (void)phi__regex_parse_node(&p, PHI__REGEX_EMPTY, 0); /* index 0: no node */
    tree->root = phi__regex_parse_choice(&p);
    if (p.status == PHI_OK && p.at < pattern.len)
        phi__regex_parse_fail(&p, p.at, "a closing parenthesis without a group");
    return p.status;
}

PHI__FN void phi__regex_parse_free(phi__regex_tree *tree) {
    phi__free(tree->memory, tree->nodes, tree->node_cap * sizeof *tree->nodes);
    phi__free(tree->memory, tree->ranges, tree->range_cap * sizeof *tree->ranges);
    phi__free(tree->memory, tree->sets, tree->set_cap * sizeof *tree->sets);
    memset(tree, 0, sizeof *tree);
}

/* ---- src/match/regex_program.c ---- */

/* regex_program.c - a tree becomes instructions, and its sets a small alphabet. */

#include <stdio.h>

/* ---- instructions ---- */

typedef struct phi__regex_emitter {
    phi__regex_program *program;
    const phi__regex_tree *tree;
    phi_status status;
    size_t visits; /* of nodes: a repetition of nothing emits nothing */
} phi__regex_emitter;

static size_t phi__regex_program_add(phi__regex_emitter *e, phi__regex_op op, size_t x, size_t y) {
    phi__regex_program *program = e->program;
    phi__regex_code *codes;
    if (e->status != PHI_OK) return 0;
    if (program->count >= PHI__REGEX_CODES) {
        e->status = PHI_FULL;
        return 0;
    }
    codes = (phi__regex_code *)phi__grow(program->memory, program->codes, &program->cap,
                                         program->count + 1, sizeof *codes);
    if (codes == NULL) {
        e->status = PHI_NO_MEMORY;
        return 0;
    }
    program->codes = codes;
    codes[program->count].op = (uint16_t)op;
    codes[program->count].x = (uint16_t)x;
    codes[program->count].y = (uint16_t)y;
    return program->count++;
}

static void phi__regex_program_emit(phi__regex_emitter *e, uint32_t index);

/* Instructions that jump to a place not known yet are a chain through y, by index + 1. */
static void phi__regex_program_land(phi__regex_emitter *e, size_t chain, bool jumps) {
    phi__regex_code *codes = e->program->codes;
    while (chain != 0 && e->status == PHI_OK) {
        size_t next = codes[chain - 1].y;
        codes[chain - 1].y = (uint16_t)e->program->count;
        if (jumps) codes[chain - 1].x = (uint16_t)e->program->count;
        chain = next;
    }
}

static void phi__regex_program_emit_choice(phi__regex_emitter *e, uint32_t child) {
    size_t ends = 0;
    for (; child != 0 && e->status == PHI_OK; child = e->tree->nodes[child].next) {
        size_t split = 0;
        bool more = e->tree->nodes[child].next != 0;
        if (more) split = phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, e->program->count + 1, 0);
        phi__regex_program_emit(e, child);
        if (!more) break;
        ends = phi__regex_program_add(e, PHI__REGEX_OP_JUMP, 0, ends) + 1;
        if (e->status == PHI_OK) e->program->codes[split].y = (uint16_t)e->program->count;
    }
    phi__regex_program_land(e, ends, true);
}

static void phi__regex_program_emit_times(phi__regex_emitter *e, const phi__regex_node *node) {
    size_t begin = 0, ends = 0;
    uint16_t i;
    for (i = 0; i < node->min && e->status == PHI_OK; i++) {
        begin = e->program->count;
        phi__regex_program_emit(e, node->a);
    }
    if (node->max == PHI__REGEX_ENDLESS && node->min > 0) {
        (void)phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, begin, e->program->count + 1);
    } else if (node->max == PHI__REGEX_ENDLESS) {
        begin = phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, e->program->count + 1, 0);
        phi__regex_program_emit(e, node->a);
        (void)phi__regex_program_add(e, PHI__REGEX_OP_JUMP, begin, 0);
        if (e->status == PHI_OK) e->program->codes[begin].y = (uint16_t)e->program->count;
    } else {
        for (; i < node->max && e->status == PHI_OK; i++) {
            ends = phi__regex_program_add(e, PHI__REGEX_OP_SPLIT, e->program->count + 1, ends) + 1;
            phi__regex_program_emit(e, node->a);
        }
        phi__regex_program_land(e, ends, false);
    }
}

/* Recursion as deep as the tree, which is bounded. */
static void phi__regex_program_emit(phi__regex_emitter *e, uint32_t index) {
    const phi__regex_node *node = &e->tree->nodes[index];
    uint32_t child;
    if (e->status != PHI_OK) return;
    if (++e->visits > 4 * PHI__REGEX_CODES) e->status = PHI_FULL;
    switch (node->kind) {
    case PHI__REGEX_EMPTY: break;
    case PHI__REGEX_SET: (void)phi__regex_program_add(e, PHI__REGEX_OP_SET, node->a, 0); break;
    case PHI__REGEX_CAT:
        for (child = node->a; child != 0; child = e->tree->nodes[child].next)
            phi__regex_program_emit(e, child);
        break;
    case PHI__REGEX_ALT: phi__regex_program_emit_choice(e, node->a); break;
    case PHI__REGEX_TIMES: phi__regex_program_emit_times(e, node); break;
    default: (void)phi__regex_program_add(e, PHI__REGEX_OP_TEST, (size_t)node->kind, 0); break;
    }
}

/* ---- the alphabet ---- */

static void phi__regex_program_sink(uint32_t *rows, size_t at, size_t n) {
    uint32_t row = rows[at];
    size_t child;
    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && rows[child] < rows[child + 1]) child++;
        if (rows[child] <= row) break;
        rows[at] = rows[child];
        at = child;
    }
    rows[at] = row;
}

/* In order, each once. Returns how many are left. */
static size_t phi__regex_program_sort(uint32_t *rows, size_t n) {
    size_t i, kept = 0;
    for (i = n / 2; i > 0; i--) phi__regex_program_sink(rows, i - 1, n);
    for (i = n; i > 1; i--) {
        uint32_t first = rows[0];
        rows[0] = rows[i - 1];
        rows[i - 1] = first;
        phi__regex_program_sink(rows, 0, i - 1);
    }
    for (i = 1; i < n; i++)
        if (rows[i] != rows[kept]) rows[++kept] = rows[i];
    return n > 0 ? kept + 1 : 0;
}

/* Every place at which a set begins or ends; and 0x80, so that ASCII stands alone. */
static phi_status phi__regex_program_cut(phi__regex_program *program, const phi__range *ranges,
                                         size_t count, const phi__range *words, size_t word_count) {
    size_t i, n = 0, most = 2 * (count + word_count) + 2;
    program->starts = (uint32_t *)phi__alloc(program->memory, most * sizeof(uint32_t));
    program->symbols = (uint16_t *)phi__alloc(program->memory, most * sizeof(uint16_t));
    program->samples = (uint32_t *)phi__alloc(program->memory, most * sizeof(uint32_t));
    program->run_cap = most;
    if (program->starts == NULL || program->symbols == NULL || program->samples == NULL)
        return PHI_NO_MEMORY;
    program->starts[n++] = 0;
    program->starts[n++] = 0x80;
    for (i = 0; i < count + word_count; i++) {
        const phi__range *row = i < count ? &ranges[i] : &words[i - count];
        program->starts[n++] = row->first;
        if (row->last < PHI__REGEX_LAST_CODE) program->starts[n++] = row->last + 1;
    }
    program->run_count = phi__regex_program_sort(program->starts, n);
    return PHI_OK;
}

static size_t phi__regex_program_run(const phi__regex_program *program, uint32_t code) {
    size_t low = 0, high = program->run_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (program->starts[middle] <= code)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The runs inside a set become symbols apart from those outside: a symbol that has both is split.
   renamed: what became of each symbol in this round, and in which round. */
static void phi__regex_program_refine(phi__regex_program *program, const phi__range *rows, size_t n,
                                      uint32_t *renamed, uint32_t round, uint32_t *next) {
    size_t i;
    for (i = 0; i < n; i++) {
        size_t run = phi__regex_program_run(program, rows[i].first);
        for (; run < program->run_count && program->starts[run] <= rows[i].last; run++) {
            uint32_t old = program->symbols[run];
            if (renamed[2 * old] != round) {
                renamed[2 * old] = round;
                renamed[2 * old + 1] = (*next)++;
            }
            program->symbols[run] = (uint16_t)renamed[2 * old + 1];
        }
    }
}

/* Numbers the symbols anew, from 0 on, in the order of the runs. */
static void phi__regex_program_number(phi__regex_program *program, uint32_t *renamed,
                                      uint32_t round) {
    size_t i;
    uint32_t n = 0;
    for (i = 0; i < program->run_count; i++) {
        uint32_t old = program->symbols[i];
        if (renamed[2 * old] != round) {
            renamed[2 * old] = round;
            renamed[2 * old + 1] = n;
            program->samples[n++] = program->starts[i];
        }
        program->symbols[i] = (uint16_t)renamed[2 * old + 1];
    }
    program->symbol_count = (uint16_t)n;
}

static phi_status phi__regex_program_alphabet(phi__regex_program *program,
                                              const phi__regex_tree *tree) {
    size_t word_count = 0, i, most;
    const phi__range *words = phi__regex_tables_word(&word_count);
    uint32_t *renamed, next = 1, round = 1;
    phi_status status;
    if (!tree->words) word_count = 0;
    status = phi__regex_program_cut(program, tree->ranges, tree->range_count, words, word_count);
    if (status != PHI_OK) return status;
    if (program->run_count > UINT16_MAX / 2) return PHI_FULL;
    /* A round makes at most as many symbols as there are runs, and then they are numbered anew. */
    most = 2 * program->run_count + 2;
    renamed = (uint32_t *)phi__alloc(program->memory, 2 * most * sizeof(uint32_t));
    if (renamed == NULL) return PHI_NO_MEMORY;
    for (i = 0; i <= tree->set_count; i++) {
        const phi__range *rows = i < tree->set_count ? tree->ranges + tree->sets[i].at : words;
        size_t n = i < tree->set_count ? tree->sets[i].count : word_count;
        phi__regex_program_refine(program, rows, n, renamed, round++, &next);
        if (next <= program->run_count) continue;
        phi__regex_program_number(program, renamed, round++);
        next = program->symbol_count;
    }
    phi__regex_program_number(program, renamed, round);
    phi__free(program->memory, renamed, 2 * most * sizeof(uint32_t));
    return PHI_OK;
}

static void phi__regex_program_bytes(phi__regex_program *program) {
    uint32_t c;
    program->end = program->symbol_count;
    program->bad = (uint16_t)(program->symbol_count + 1);
    program->high = (uint16_t)(program->symbol_count + 2);
    for (c = 0; c < 256; c++)
        program->bytes[c] = c >= 0x80   ? program->high
                            : c == '\n' ? program->end
                                        : phi__regex_program_symbol(program, c);
}

/* ---- for other files ---- */

PHI__FN uint16_t phi__regex_program_symbol(const phi__regex_program *program, uint32_t code) {
    return program->symbols[phi__regex_program_run(program, code)];
}

PHI__FN bool phi__regex_program_in_set(const phi__regex_program *program, uint16_t set,
                                       uint16_t symbol) {
    const phi__regex_set *s = &program->sets[set];
    return symbol < program->symbol_count &&
           phi__regex_set_has(program->ranges + s->at, s->count, program->samples[symbol]);
}

PHI__FN bool phi__regex_program_is_word(const phi__regex_program *program, uint16_t symbol) {
    size_t count;
    const phi__range *words = phi__regex_tables_word(&count);
    return symbol < program->symbol_count &&
           phi__regex_set_has(words, count, program->samples[symbol]);
}

PHI__FN phi_status phi__regex_program_make(phi__regex_program *program, phi__regex_tree *tree,
                                           phi__regex_error *error) {
    phi__regex_emitter e;
    memset(program, 0, sizeof *program);
    program->memory = tree->memory;
    program->words = tree->words;
    memset(&e, 0, sizeof e);
    e.program = program;
    e.tree = tree;
    phi__regex_program_emit(&e, tree->root);
    (void)phi__regex_program_add(&e, PHI__REGEX_OP_MATCH, 0, 0);
    if (e.status == PHI_OK) e.status = phi__regex_program_alphabet(program, tree);
    if (e.status == PHI_OK) {
        program->ranges = tree->ranges;
        program->range_cap = tree->range_cap;
        program->sets = tree->sets;
        program->set_cap = tree->set_cap;
        tree->ranges = NULL;
        tree->sets = NULL;
        tree->range_cap = tree->set_cap = 0;
        phi__regex_program_bytes(program);
    }
    if (e.status != PHI_FULL) return e.status;
    error->column = 1;
    (void)snprintf(error->message, sizeof error->message, "the pattern is too large");
    return PHI_BAD_ARG;
}

PHI__FN void phi__regex_program_free(phi__regex_program *program) {
    phi__free(program->memory, program->codes, program->cap * sizeof *program->codes);
    phi__free(program->memory, program->ranges, program->range_cap * sizeof *program->ranges);
    phi__free(program->memory, program->sets, program->set_cap * sizeof *program->sets);
    phi__free(program->memory, program->starts, program->run_cap * sizeof *program->starts);
    phi__free(program->memory, program->symbols, program->run_cap * sizeof *program->symbols);
    phi__free(program->memory, program->samples, program->run_cap * sizeof *program->samples);
}

/* ---- src/match/regex_set.c ---- */

/* regex_set.c - sets of characters: united, folded, negated. */

PHI__FN void phi__regex_set_begin(phi__regex_tree *tree) { tree->open = tree->range_count; }

PHI__FN phi_status phi__regex_set_add(phi__regex_tree *tree, uint32_t first, uint32_t last) {
    phi__range *ranges;
    if (tree->range_count >= PHI__REGEX_RANGES) return PHI_FULL;
    ranges = (phi__range *)phi__grow(tree->memory, tree->ranges, &tree->range_cap,
                                     tree->range_count + 1, sizeof *ranges);
    if (ranges == NULL) return PHI_NO_MEMORY;
    tree->ranges = ranges;
    ranges[tree->range_count].first = first;
    ranges[tree->range_count++].last = last;
    return PHI_OK;
}

PHI__FN phi_status phi__regex_set_add_class(phi__regex_tree *tree, char letter) {
    size_t count, i;
    bool outside = letter < 'a';
    const phi__range *rows = letter == 'd' || letter == 'D'   ? phi__regex_tables_digit(&count)
                             : letter == 's' || letter == 'S' ? phi__regex_tables_space(&count)
                                                              : phi__regex_tables_word(&count);
    phi_status status = PHI_OK;
    uint32_t from = 0;
    for (i = 0; i < count && status == PHI_OK; i++) {
        if (!outside)
            status = phi__regex_set_add(tree, rows[i].first, rows[i].last);
        else if (rows[i].first > from)
            status = phi__regex_set_add(tree, from, rows[i].first - 1);
        from = rows[i].last + 1;
    }
    if (outside && status == PHI_OK) status = phi__regex_set_add(tree, from, PHI__REGEX_LAST_CODE);
    return status;
}

/* Whether one of the characters is in a set of ranges in order and apart. */
static bool phi__regex_set_meets(const phi__range *ranges, size_t count, uint32_t first,
                                 uint32_t last) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (first > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ranges[low].first <= last;
}

/* Of ranges in order and apart. */
PHI__FN bool phi__regex_set_has(const phi__range *ranges, size_t count, uint32_t code) {
    return phi__regex_set_meets(ranges, count, code, code);
}

static void phi__regex_set_sink(phi__range *rows, size_t at, size_t n) {
    phi__range row = rows[at];
    size_t child;
    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && rows[child].first < rows[child + 1].first) child++;
        if (rows[child].first <= row.first) break;
        rows[at] = rows[child];
        at = child;
    }
    rows[at] = row;
}

static void phi__regex_set_sort(phi__range *rows, size_t n) {
    size_t i;
    for (i = n / 2; i > 0; i--) phi__regex_set_sink(rows, i - 1, n);
    for (i = n; i > 1; i--) {
        phi__range first = rows[0];
        rows[0] = rows[i - 1];
        rows[i - 1] = first;
        phi__regex_set_sink(rows, 0, i - 1);
    }
}

/* The ranges of the set being made: in order and apart. */
static void phi__regex_set_order(phi__regex_tree *tree) {
    phi__range *rows = tree->ranges + tree->open;
    size_t n = tree->range_count - tree->open, i, kept = 0;
    if (n < 2) return;
    for (i = 1; i < n && rows[i].first > rows[i - 1].last + 1; i++) continue;
    if (i == n) return;
    phi__regex_set_sort(rows, n);
    for (i = 1; i < n; i++) {
        if (rows[i].first > rows[kept].last + 1)
            rows[++kept] = rows[i];
        else if (rows[i].last > rows[kept].last)
            rows[kept].last = rows[i].last;
    }
    tree->range_count = tree->open + kept + 1;
}

/* With ASCII alone in it, only two characters beyond are concerned: the Kelvin sign and the long
   s. */
static phi_status phi__regex_set_fold_ascii(phi__regex_tree *tree, size_t end) {
    phi_status status = PHI_OK;
    size_t i;
    for (i = tree->open; i < end && status == PHI_OK; i++) {
        uint32_t code = tree->ranges[i].first, last = tree->ranges[i].last;
        for (; code <= last && status == PHI_OK; code++) {
            uint32_t small = code | 0x20;
            if (small < 'a' || small > 'z') continue;
            status = phi__regex_set_add(tree, code ^ 0x20, code ^ 0x20);
            if (small == 'k' && status == PHI_OK) status = phi__regex_set_add(tree, 0x212A, 0x212A);
            if (small == 's' && status == PHI_OK) status = phi__regex_set_add(tree, 0x17F, 0x17F);
        }
    }
    return status;
}

/* up: adds the characters whose representative is in the set; else the representatives. */
static phi_status phi__regex_set_fold_way(phi__regex_tree *tree, bool up) {
    size_t count, i, n = tree->range_count - tree->open;
    const phi__regex_fold *folds = phi__regex_tables_folds(&count);
    phi_status status = PHI_OK;
    for (i = 0; i < count && status == PHI_OK; i++) {
        uint32_t code = folds[i].first, shift = up ? folds[i].down : 0;
        if (!phi__regex_set_meets(tree->ranges + tree->open, n, code - shift,
                                  folds[i].last - shift))
            continue;
        for (; code <= folds[i].last && status == PHI_OK; code += folds[i].step) {
            uint32_t from = up ? code - folds[i].down : code;
            uint32_t to = up ? code : code - folds[i].down;
            if (phi__regex_set_has(tree->ranges + tree->open, n, from))
                status = phi__regex_set_add(tree, to, to);
        }
    }
    phi__regex_set_order(tree);
    return status;
}

PHI__FN phi_status phi__regex_set_fold(phi__regex_tree *tree) {
    phi_status status;
    phi__regex_set_order(tree);
    if (tree->range_count == tree->open) return PHI_OK;
    if (tree->ranges[tree->range_count - 1].last < 0x80) {
        status = phi__regex_set_fold_ascii(tree, tree->range_count);
        phi__regex_set_order(tree);
        return status;
    }
    status = phi__regex_set_fold_way(tree, false);
    return status == PHI_OK ? phi__regex_set_fold_way(tree, true) : status;
}

PHI__FN phi_status phi__regex_set_negate(phi__regex_tree *tree) {
    phi_status status = PHI_OK;
    size_t i, n;
    uint32_t from = 0;
    phi__regex_set_order(tree);
    n = tree->range_count - tree->open;
    for (i = 0; i < n && status == PHI_OK; i++) {
        phi__range row = tree->ranges[tree->open + i];
        if (row.first > from) status = phi__regex_set_add(tree, from, row.first - 1);
        from = row.last + 1;
    }
    if (from <= PHI__REGEX_LAST_CODE && status == PHI_OK)
        status = phi__regex_set_add(tree, from, PHI__REGEX_LAST_CODE);
    if (status != PHI_OK) return status;
    tree->range_count -= n;
    if (n > 0)
        memmove(tree->ranges + tree->open, tree->ranges + tree->open + n,
                (tree->range_count - tree->open) * sizeof *tree->ranges);
    return PHI_OK;
}

static phi_status phi__regex_set_drop_newline(phi__regex_tree *tree) {
    size_t i;
    phi__range *row;
    for (i = tree->open; i < tree->range_count; i++) {
        row = &tree->ranges[i];
        if (row->first > '\n' || row->last < '\n') continue;
        if (row->first == '\n' && row->last == '\n') {
            memmove(row, row + 1, (tree->range_count - i - 1) * sizeof *row);
            tree->range_count--;
        } else if (row->first == '\n')
            row->first++;
        else if (row->last == '\n')
            row->last--;
        else {
            uint32_t last = row->last;
            phi_status status = phi__regex_set_add(tree, '\n' + 1, last);
            if (status != PHI_OK) return status;
            tree->ranges[i].last = '\n' - 1;
            phi__regex_set_sort(tree->ranges + tree->open, tree->range_count - tree->open);
        }
        break;
    }
    return PHI_OK;
}

PHI__FN phi_status phi__regex_set_end(phi__regex_tree *tree, uint32_t *out) {
    phi__regex_set *sets;
    size_t i, n;
    phi_status status;
    phi__regex_set_order(tree);
    status = phi__regex_set_drop_newline(tree);
    if (status != PHI_OK) return status;
    n = tree->range_count - tree->open;
    for (i = 0; i < tree->set_count; i++) {
        const phi__regex_set *set = &tree->sets[i];
        if (set->count != n || (n > 0 && memcmp(tree->ranges + set->at, tree->ranges + tree->open,
                                                n * sizeof *tree->ranges) != 0))
            continue;
        tree->range_count = tree->open;
        *out = (uint32_t)i;
        return PHI_OK;
    }
    sets = (phi__regex_set *)phi__grow(tree->memory, tree->sets, &tree->set_cap,
                                       tree->set_count + 1, sizeof *sets);
    if (sets == NULL) return PHI_NO_MEMORY;
    tree->sets = sets;
    sets[tree->set_count].at = (uint32_t)tree->open;
    sets[tree->set_count].count = (uint32_t)n;
    *out = (uint32_t)tree->set_count++;
    return PHI_OK;
}

/* ---- src/match/regex_tables.c ---- */

/* regex_tables.c - characters by kind, of Unicode 14.0.0. Written by
   scripts/regex_tables.py. */

static const phi__range phi__regex_tables_word_rows[] = {
    {0x30, 0x39},       {0x41, 0x5a},       {0x5f, 0x5f},       {0x61, 0x7a},
    {0xaa, 0xaa},       {0xb5, 0xb5},       {0xba, 0xba},       {0xc0, 0xd6},
    {0xd8, 0xf6},       {0xf8, 0x2c1},      {0x2c6, 0x2d1},     {0x2e0, 0x2e4},
    {0x2ec, 0x2ec},     {0x2ee, 0x2ee},     {0x300, 0x374},     {0x376, 0x377},
    {0x37a, 0x37d},     {0x37f, 0x37f},     {0x386, 0x386},     {0x388, 0x38a},
    {0x38c, 0x38c},     {0x38e, 0x3a1},     {0x3a3, 0x3f5},     {0x3f7, 0x481},
    {0x483, 0x52f},     {0x531, 0x556},     {0x559, 0x559},     {0x560, 0x588},
    {0x591, 0x5bd},     {0x5bf, 0x5bf},     {0x5c1, 0x5c2},     {0x5c4, 0x5c5},
    {0x5c7, 0x5c7},     {0x5d0, 0x5ea},     {0x5ef, 0x5f2},     {0x610, 0x61a},
    {0x620, 0x669},     {0x66e, 0x6d3},     {0x6d5, 0x6dc},     {0x6df, 0x6e8},
    {0x6ea, 0x6fc},     {0x6ff, 0x6ff},     {0x710, 0x74a},     {0x74d, 0x7b1},
    {0x7c0, 0x7f5},     {0x7fa, 0x7fa},     {0x7fd, 0x7fd},     {0x800, 0x82d},
    {0x840, 0x85b},     {0x860, 0x86a},     {0x870, 0x887},     {0x889, 0x88e},
    {0x898, 0x8e1},     {0x8e3, 0x963},     {0x966, 0x96f},     {0x971, 0x983},
    {0x985, 0x98c},     {0x98f, 0x990},     {0x993, 0x9a8},     {0x9aa, 0x9b0},
    {0x9b2, 0x9b2},     {0x9b6, 0x9b9},     {0x9bc, 0x9c4},     {0x9c7, 0x9c8},
    {0x9cb, 0x9ce},     {0x9d7, 0x9d7},     {0x9dc, 0x9dd},     {0x9df, 0x9e3},
    {0x9e6, 0x9f1},     {0x9fc, 0x9fc},     {0x9fe, 0x9fe},     {0xa01, 0xa03},
    {0xa05, 0xa0a},     {0xa0f, 0xa10},     {0xa13, 0xa28},     {0xa2a, 0xa30},
    {0xa32, 0xa33},     {0xa35, 0xa36},     {0xa38, 0xa39},     {0xa3c, 0xa3c},
    {0xa3e, 0xa42},     {0xa47, 0xa48},     {0xa4b, 0xa4d},     {0xa51, 0xa51},
    {0xa59, 0xa5c},     {0xa5e, 0xa5e},     {0xa66, 0xa75},     {0xa81, 0xa83},
    {0xa85, 0xa8d},     {0xa8f, 0xa91},     {0xa93, 0xaa8},     {0xaaa, 0xab0},
    {0xab2, 0xab3},     {0xab5, 0xab9},     {0xabc, 0xac5},     {0xac7, 0xac9},
    {0xacb, 0xacd},     {0xad0, 0xad0},     {0xae0, 0xae3},     {0xae6, 0xaef},
    {0xaf9, 0xaff},     {0xb01, 0xb03},     {0xb05, 0xb0c},     {0xb0f, 0xb10},
    {0xb13, 0xb28},     {0xb2a, 0xb30},     {0xb32, 0xb33},     {0xb35, 0xb39},
    {0xb3c, 0xb44},     {0xb47, 0xb48},     {0xb4b, 0xb4d},     {0xb55, 0xb57},
    {0xb5c, 0xb5d},     {0xb5f, 0xb63},     {0xb66, 0xb6f},     {0xb71, 0xb71},
    {0xb82, 0xb83},     {0xb85, 0xb8a},     {0xb8e, 0xb90},     {0xb92, 0xb95},
    {0xb99, 0xb9a},     {0xb9c, 0xb9c},     {0xb9e, 0xb9f},     {0xba3, 0xba4},
    {0xba8, 0xbaa},     {0xbae, 0xbb9},     {0xbbe, 0xbc2},     {0xbc6, 0xbc8},
    {0xbca, 0xbcd},     {0xbd0, 0xbd0},     {0xbd7, 0xbd7},     {0xbe6, 0xbef},
    {0xc00, 0xc0c},     {0xc0e, 0xc10},     {0xc12, 0xc28},     {0xc2a, 0xc39},
    {0xc3c, 0xc44},     {0xc46, 0xc48},     {0xc4a, 0xc4d},     {0xc55, 0xc56},
    {0xc58, 0xc5a},     {0xc5d, 0xc5d},     {0xc60, 0xc63},     {0xc66, 0xc6f},
    {0xc80, 0xc83},     {0xc85, 0xc8c},     {0xc8e, 0xc90},     {0xc92, 0xca8},
    {0xcaa, 0xcb3},     {0xcb5, 0xcb9},     {0xcbc, 0xcc4},     {0xcc6, 0xcc8},
    {0xcca, 0xccd},     {0xcd5, 0xcd6},     {0xcdd, 0xcde},     {0xce0, 0xce3},
    {0xce6, 0xcef},     {0xcf1, 0xcf2},     {0xd00, 0xd0c},     {0xd0e, 0xd10},
    {0xd12, 0xd44},     {0xd46, 0xd48},     {0xd4a, 0xd4e},     {0xd54, 0xd57},
    {0xd5f, 0xd63},     {0xd66, 0xd6f},     {0xd7a, 0xd7f},     {0xd81, 0xd83},
    {0xd85, 0xd96},     {0xd9a, 0xdb1},     {0xdb3, 0xdbb},     {0xdbd, 0xdbd},
    {0xdc0, 0xdc6},     {0xdca, 0xdca},     {0xdcf, 0xdd4},     {0xdd6, 0xdd6},
    {0xdd8, 0xddf},     {0xde6, 0xdef},     {0xdf2, 0xdf3},     {0xe01, 0xe3a},
    {0xe40, 0xe4e},     {0xe50, 0xe59},     {0xe81, 0xe82},     {0xe84, 0xe84},
    {0xe86, 0xe8a},     {0xe8c, 0xea3},     {0xea5, 0xea5},     {0xea7, 0xebd},
    {0xec0, 0xec4},     {0xec6, 0xec6},     {0xec8, 0xecd},     {0xed0, 0xed9},
    {0xedc, 0xedf},     {0xf00, 0xf00},     {0xf18, 0xf19},     {0xf20, 0xf29},
    {0xf35, 0xf35},     {0xf37, 0xf37},     {0xf39, 0xf39},     {0xf3e, 0xf47},
    {0xf49, 0xf6c},     {0xf71, 0xf84},     {0xf86, 0xf97},     {0xf99, 0xfbc},
    {0xfc6, 0xfc6},     {0x1000, 0x1049},   {0x1050, 0x109d},   {0x10a0, 0x10c5},
    {0x10c7, 0x10c7},   {0x10cd, 0x10cd},   {0x10d0, 0x10fa},   {0x10fc, 0x1248},
    {0x124a, 0x124d},   {0x1250, 0x1256},   {0x1258, 0x1258},   {0x125a, 0x125d},
    {0x1260, 0x1288},   {0x128a, 0x128d},   {0x1290, 0x12b0},   {0x12b2, 0x12b5},
    {0x12b8, 0x12be},   {0x12c0, 0x12c0},   {0x12c2, 0x12c5},   {0x12c8, 0x12d6},
    {0x12d8, 0x1310},   {0x1312, 0x1315},   {0x1318, 0x135a},   {0x135d, 0x135f},
    {0x1380, 0x138f},   {0x13a0, 0x13f5},   {0x13f8, 0x13fd},   {0x1401, 0x166c},
    {0x166f, 0x167f},   {0x1681, 0x169a},   {0x16a0, 0x16ea},   {0x16ee, 0x16f8},
    {0x1700, 0x1715},   {0x171f, 0x1734},   {0x1740, 0x1753},   {0x1760, 0x176c},
    {0x176e, 0x1770},   {0x1772, 0x1773},   {0x1780, 0x17d3},   {0x17d7, 0x17d7},
    {0x17dc, 0x17dd},   {0x17e0, 0x17e9},   {0x180b, 0x180d},   {0x180f, 0x1819},
    {0x1820, 0x1878},   {0x1880, 0x18aa},   {0x18b0, 0x18f5},   {0x1900, 0x191e},
    {0x1920, 0x192b},   {0x1930, 0x193b},   {0x1946, 0x196d},   {0x1970, 0x1974},
    {0x1980, 0x19ab},   {0x19b0, 0x19c9},   {0x19d0, 0x19d9},   {0x1a00, 0x1a1b},
    {0x1a20, 0x1a5e},   {0x1a60, 0x1a7c},   {0x1a7f, 0x1a89},   {0x1a90, 0x1a99},
    {0x1aa7, 0x1aa7},   {0x1ab0, 0x1ace},   {0x1b00, 0x1b4c},   {0x1b50, 0x1b59},
    {0x1b6b, 0x1b73},   {0x1b80, 0x1bf3},   {0x1c00, 0x1c37},   {0x1c40, 0x1c49},
    {0x1c4d, 0x1c7d},   {0x1c80, 0x1c88},   {0x1c90, 0x1cba},   {0x1cbd, 0x1cbf},
    {0x1cd0, 0x1cd2},   {0x1cd4, 0x1cfa},   {0x1d00, 0x1f15},   {0x1f18, 0x1f1d},
    {0x1f20, 0x1f45},   {0x1f48, 0x1f4d},   {0x1f50, 0x1f57},   {0x1f59, 0x1f59},
    {0x1f5b, 0x1f5b},   {0x1f5d, 0x1f5d},   {0x1f5f, 0x1f7d},   {0x1f80, 0x1fb4},
    {0x1fb6, 0x1fbc},   {0x1fbe, 0x1fbe},   {0x1fc2, 0x1fc4},   {0x1fc6, 0x1fcc},
    {0x1fd0, 0x1fd3},   {0x1fd6, 0x1fdb},   {0x1fe0, 0x1fec},   {0x1ff2, 0x1ff4},
    {0x1ff6, 0x1ffc},   {0x200c, 0x200d},   {0x203f, 0x2040},   {0x2054, 0x2054},
    {0x2071, 0x2071},   {0x207f, 0x207f},   {0x2090, 0x209c},   {0x20d0, 0x20f0},
    {0x2102, 0x2102},   {0x2107, 0x2107},   {0x210a, 0x2113},   {0x2115, 0x2115},
    {0x2119, 0x211d},   {0x2124, 0x2124},   {0x2126, 0x2126},   {0x2128, 0x2128},
    {0x212a, 0x212d},   {0x212f, 0x2139},   {0x213c, 0x213f},   {0x2145, 0x2149},
    {0x214e, 0x214e},   {0x2160, 0x2188},   {0x24b6, 0x24e9},   {0x2c00, 0x2ce4},
    {0x2ceb, 0x2cf3},   {0x2d00, 0x2d25},   {0x2d27, 0x2d27},   {0x2d2d, 0x2d2d},
    {0x2d30, 0x2d67},   {0x2d6f, 0x2d6f},   {0x2d7f, 0x2d96},   {0x2da0, 0x2da6},
    {0x2da8, 0x2dae},   {0x2db0, 0x2db6},   {0x2db8, 0x2dbe},   {0x2dc0, 0x2dc6},
    {0x2dc8, 0x2dce},   {0x2dd0, 0x2dd6},   {0x2dd8, 0x2dde},   {0x2de0, 0x2dff},
    {0x2e2f, 0x2e2f},   {0x3005, 0x3007},   {0x3021, 0x302f},   {0x3031, 0x3035},
    {0x3038, 0x303c},   {0x3041, 0x3096},   {0x3099, 0x309a},   {0x309d, 0x309f},
    {0x30a1, 0x30fa},   {0x30fc, 0x30ff},   {0x3105, 0x312f},   {0x3131, 0x318e},
    {0x31a0, 0x31bf},   {0x31f0, 0x31ff},   {0x3400, 0x4dbf},   {0x4e00, 0xa48c},
    {0xa4d0, 0xa4fd},   {0xa500, 0xa60c},   {0xa610, 0xa62b},   {0xa640, 0xa672},
    {0xa674, 0xa67d},   {0xa67f, 0xa6f1},   {0xa717, 0xa71f},   {0xa722, 0xa788},
    {0xa78b, 0xa7ca},   {0xa7d0, 0xa7d1},   {0xa7d3, 0xa7d3},   {0xa7d5, 0xa7d9},
    {0xa7f2, 0xa827},   {0xa82c, 0xa82c},   {0xa840, 0xa873},   {0xa880, 0xa8c5},
    {0xa8d0, 0xa8d9},   {0xa8e0, 0xa8f7},   {0xa8fb, 0xa8fb},   {0xa8fd, 0xa92d},
    {0xa930, 0xa953},   {0xa960, 0xa97c},   {0xa980, 0xa9c0},   {0xa9cf, 0xa9d9},
    {0xa9e0, 0xa9fe},   {0xaa00, 0xaa36},   {0xaa40, 0xaa4d},   {0xaa50, 0xaa59},
    {0xaa60, 0xaa76},   {0xaa7a, 0xaac2},   {0xaadb, 0xaadd},   {0xaae0, 0xaaef},
    {0xaaf2, 0xaaf6},   {0xab01, 0xab06},   {0xab09, 0xab0e},   {0xab11, 0xab16},
    {0xab20, 0xab26},   {0xab28, 0xab2e},   {0xab30, 0xab5a},   {0xab5c, 0xab69},
    {0xab70, 0xabea},   {0xabec, 0xabed},   {0xabf0, 0xabf9},   {0xac00, 0xd7a3},
    {0xd7b0, 0xd7c6},   {0xd7cb, 0xd7fb},   {0xf900, 0xfa6d},   {0xfa70, 0xfad9},
    {0xfb00, 0xfb06},   {0xfb13, 0xfb17},   {0xfb1d, 0xfb28},   {0xfb2a, 0xfb36},
    {0xfb38, 0xfb3c},   {0xfb3e, 0xfb3e},   {0xfb40, 0xfb41},   {0xfb43, 0xfb44},
    {0xfb46, 0xfbb1},   {0xfbd3, 0xfd3d},   {0xfd50, 0xfd8f},   {0xfd92, 0xfdc7},
    {0xfdf0, 0xfdfb},   {0xfe00, 0xfe0f},   {0xfe20, 0xfe2f},   {0xfe33, 0xfe34},
    {0xfe4d, 0xfe4f},   {0xfe70, 0xfe74},   {0xfe76, 0xfefc},   {0xff10, 0xff19},
    {0xff21, 0xff3a},   {0xff3f, 0xff3f},   {0xff41, 0xff5a},   {0xff66, 0xffbe},
    {0xffc2, 0xffc7},   {0xffca, 0xffcf},   {0xffd2, 0xffd7},   {0xffda, 0xffdc},
    {0x10000, 0x1000b}, {0x1000d, 0x10026}, {0x10028, 0x1003a}, {0x1003c, 0x1003d},
    {0x1003f, 0x1004d}, {0x10050, 0x1005d}, {0x10080, 0x100fa}, {0x10140, 0x10174},
    {0x101fd, 0x101fd}, {0x10280, 0x1029c}, {0x102a0, 0x102d0}, {0x102e0, 0x102e0},
    {0x10300, 0x1031f}, {0x1032d, 0x1034a}, {0x10350, 0x1037a}, {0x10380, 0x1039d},
    {0x103a0, 0x103c3}, {0x103c8, 0x103cf}, {0x103d1, 0x103d5}, {0x10400, 0x1049d},
    {0x104a0, 0x104a9}, {0x104b0, 0x104d3}, {0x104d8, 0x104fb}, {0x10500, 0x10527},
    {0x10530, 0x10563}, {0x10570, 0x1057a}, {0x1057c, 0x1058a}, {0x1058c, 0x10592},
    {0x10594, 0x10595}, {0x10597, 0x105a1}, {0x105a3, 0x105b1}, {0x105b3, 0x105b9},
    {0x105bb, 0x105bc}, {0x10600, 0x10736}, {0x10740, 0x10755}, {0x10760, 0x10767},
    {0x10780, 0x10785}, {0x10787, 0x107b0}, {0x107b2, 0x107ba}, {0x10800, 0x10805},
    {0x10808, 0x10808}, {0x1080a, 0x10835}, {0x10837, 0x10838}, {0x1083c, 0x1083c},
    {0x1083f, 0x10855}, {0x10860, 0x10876}, {0x10880, 0x1089e}, {0x108e0, 0x108f2},
    {0x108f4, 0x108f5}, {0x10900, 0x10915}, {0x10920, 0x10939}, {0x10980, 0x109b7},
    {0x109be, 0x109bf}, {0x10a00, 0x10a03}, {0x10a05, 0x10a06}, {0x10a0c, 0x10a13},
    {0x10a15, 0x10a17}, {0x10a19, 0x10a35}, {0x10a38, 0x10a3a}, {0x10a3f, 0x10a3f},
    {0x10a60, 0x10a7c}, {0x10a80, 0x10a9c}, {0x10ac0, 0x10ac7}, {0x10ac9, 0x10ae6},
    {0x10b00, 0x10b35}, {0x10b40, 0x10b55}, {0x10b60, 0x10b72}, {0x10b80, 0x10b91},
    {0x10c00, 0x10c48}, {0x10c80, 0x10cb2}, {0x10cc0, 0x10cf2}, {0x10d00, 0x10d27},
    {0x10d30, 0x10d39}, {0x10e80, 0x10ea9}, {0x10eab, 0x10eac}, {0x10eb0, 0x10eb1},
    {0x10f00, 0x10f1c}, {0x10f27, 0x10f27}, {0x10f30, 0x10f50}, {0x10f70, 0x10f85},
    {0x10fb0, 0x10fc4}, {0x10fe0, 0x10ff6}, {0x11000, 0x11046}, {0x11066, 0x11075},
    {0x1107f, 0x110ba}, {0x110c2, 0x110c2}, {0x110d0, 0x110e8}, {0x110f0, 0x110f9},
    {0x11100, 0x11134}, {0x11136, 0x1113f}, {0x11144, 0x11147}, {0x11150, 0x11173},
    {0x11176, 0x11176}, {0x11180, 0x111c4}, {0x111c9, 0x111cc}, {0x111ce, 0x111da},
    {0x111dc, 0x111dc}, {0x11200, 0x11211}, {0x11213, 0x11237}, {0x1123e, 0x1123e},
    {0x11280, 0x11286}, {0x11288, 0x11288}, {0x1128a, 0x1128d}, {0x1128f, 0x1129d},
    {0x1129f, 0x112a8}, {0x112b0, 0x112ea}, {0x112f0, 0x112f9}, {0x11300, 0x11303},
    {0x11305, 0x1130c}, {0x1130f, 0x11310}, {0x11313, 0x11328}, {0x1132a, 0x11330},
    {0x11332, 0x11333}, {0x11335, 0x11339}, {0x1133b, 0x11344}, {0x11347, 0x11348},
    {0x1134b, 0x1134d}, {0x11350, 0x11350}, {0x11357, 0x11357}, {0x1135d, 0x11363},
    {0x11366, 0x1136c}, {0x11370, 0x11374}, {0x11400, 0x1144a}, {0x11450, 0x11459},
    {0x1145e, 0x11461}, {0x11480, 0x114c5}, {0x114c7, 0x114c7}, {0x114d0, 0x114d9},
    {0x11580, 0x115b5}, {0x115b8, 0x115c0}, {0x115d8, 0x115dd}, {0x11600, 0x11640},
    {0x11644, 0x11644}, {0x11650, 0x11659}, {0x11680, 0x116b8}, {0x116c0, 0x116c9},
    {0x11700, 0x1171a}, {0x1171d, 0x1172b}, {0x11730, 0x11739}, {0x11740, 0x11746},
    {0x11800, 0x1183a}, {0x118a0, 0x118e9}, {0x118ff, 0x11906}, {0x11909, 0x11909},
    {0x1190c, 0x11913}, {0x11915, 0x11916}, {0x11918, 0x11935}, {0x11937, 0x11938},
    {0x1193b, 0x11943}, {0x11950, 0x11959}, {0x119a0, 0x119a7}, {0x119aa, 0x119d7},
    {0x119da, 0x119e1}, {0x119e3, 0x119e4}, {0x11a00, 0x11a3e}, {0x11a47, 0x11a47},
    {0x11a50, 0x11a99}, {0x11a9d, 0x11a9d}, {0x11ab0, 0x11af8}, {0x11c00, 0x11c08},
    {0x11c0a, 0x11c36}, {0x11c38, 0x11c40}, {0x11c50, 0x11c59}, {0x11c72, 0x11c8f},
    {0x11c92, 0x11ca7}, {0x11ca9, 0x11cb6}, {0x11d00, 0x11d06}, {0x11d08, 0x11d09},
    {0x11d0b, 0x11d36}, {0x11d3a, 0x11d3a}, {0x11d3c, 0x11d3d}, {0x11d3f, 0x11d47},
    {0x11d50, 0x11d59}, {0x11d60, 0x11d65}, {0x11d67, 0x11d68}, {0x11d6a, 0x11d8e},
    {0x11d90, 0x11d91}, {0x11d93, 0x11d98}, {0x11da0, 0x11da9}, {0x11ee0, 0x11ef6},
    {0x11fb0, 0x11fb0}, {0x12000, 0x12399}, {0x12400, 0x1246e}, {0x12480, 0x12543},
    {0x12f90, 0x12ff0}, {0x13000, 0x1342e}, {0x14400, 0x14646}, {0x16800, 0x16a38},
    {0x16a40, 0x16a5e}, {0x16a60, 0x16a69}, {0x16a70, 0x16abe}, {0x16ac0, 0x16ac9},
    {0x16ad0, 0x16aed}, {0x16af0, 0x16af4}, {0x16b00, 0x16b36}, {0x16b40, 0x16b43},
    {0x16b50, 0x16b59}, {0x16b63, 0x16b77}, {0x16b7d, 0x16b8f}, {0x16e40, 0x16e7f},
    {0x16f00, 0x16f4a}, {0x16f4f, 0x16f87}, {0x16f8f, 0x16f9f}, {0x16fe0, 0x16fe1},
    {0x16fe3, 0x16fe4}, {0x16ff0, 0x16ff1}, {0x17000, 0x187f7}, {0x18800, 0x18cd5},
    {0x18d00, 0x18d08}, {0x1aff0, 0x1aff3}, {0x1aff5, 0x1affb}, {0x1affd, 0x1affe},
    {0x1b000, 0x1b122}, {0x1b150, 0x1b152}, {0x1b164, 0x1b167}, {0x1b170, 0x1b2fb},
    {0x1bc00, 0x1bc6a}, {0x1bc70, 0x1bc7c}, {0x1bc80, 0x1bc88}, {0x1bc90, 0x1bc99},
    {0x1bc9d, 0x1bc9e}, {0x1cf00, 0x1cf2d}, {0x1cf30, 0x1cf46}, {0x1d165, 0x1d169},
    {0x1d16d, 0x1d172}, {0x1d17b, 0x1d182}, {0x1d185, 0x1d18b}, {0x1d1aa, 0x1d1ad},
    {0x1d242, 0x1d244}, {0x1d400, 0x1d454}, {0x1d456, 0x1d49c}, {0x1d49e, 0x1d49f},
    {0x1d4a2, 0x1d4a2}, {0x1d4a5, 0x1d4a6}, {0x1d4a9, 0x1d4ac}, {0x1d4ae, 0x1d4b9},
    {0x1d4bb, 0x1d4bb}, {0x1d4bd, 0x1d4c3}, {0x1d4c5, 0x1d505}, {0x1d507, 0x1d50a},
    {0x1d50d, 0x1d514}, {0x1d516, 0x1d51c}, {0x1d51e, 0x1d539}, {0x1d53b, 0x1d53e},
    {0x1d540, 0x1d544}, {0x1d546, 0x1d546}, {0x1d54a, 0x1d550}, {0x1d552, 0x1d6a5},
    {0x1d6a8, 0x1d6c0}, {0x1d6c2, 0x1d6da}, {0x1d6dc, 0x1d6fa}, {0x1d6fc, 0x1d714},
    {0x1d716, 0x1d734}, {0x1d736, 0x1d74e}, {0x1d750, 0x1d76e}, {0x1d770, 0x1d788},
    {0x1d78a, 0x1d7a8}, {0x1d7aa, 0x1d7c2}, {0x1d7c4, 0x1d7cb}, {0x1d7ce, 0x1d7ff},
    {0x1da00, 0x1da36}, {0x1da3b, 0x1da6c}, {0x1da75, 0x1da75}, {0x1da84, 0x1da84},
    {0x1da9b, 0x1da9f}, {0x1daa1, 0x1daaf}, {0x1df00, 0x1df1e}, {0x1e000, 0x1e006},
    {0x1e008, 0x1e018}, {0x1e01b, 0x1e021}, {0x1e023, 0x1e024}, {0x1e026, 0x1e02a},
    {0x1e100, 0x1e12c}, {0x1e130, 0x1e13d}, {0x1e140, 0x1e149}, {0x1e14e, 0x1e14e},
    {0x1e290, 0x1e2ae}, {0x1e2c0, 0x1e2f9}, {0x1e7e0, 0x1e7e6}, {0x1e7e8, 0x1e7eb},
    {0x1e7ed, 0x1e7ee}, {0x1e7f0, 0x1e7fe}, {0x1e800, 0x1e8c4}, {0x1e8d0, 0x1e8d6},
    {0x1e900, 0x1e94b}, {0x1e950, 0x1e959}, {0x1ee00, 0x1ee03}, {0x1ee05, 0x1ee1f},
    {0x1ee21, 0x1ee22}, {0x1ee24, 0x1ee24}, {0x1ee27, 0x1ee27}, {0x1ee29, 0x1ee32},
    {0x1ee34, 0x1ee37}, {0x1ee39, 0x1ee39}, {0x1ee3b, 0x1ee3b}, {0x1ee42, 0x1ee42},
    {0x1ee47, 0x1ee47}, {0x1ee49, 0x1ee49}, {0x1ee4b, 0x1ee4b}, {0x1ee4d, 0x1ee4f},
    {0x1ee51, 0x1ee52}, {0x1ee54, 0x1ee54}, {0x1ee57, 0x1ee57}, {0x1ee59, 0x1ee59},
    {0x1ee5b, 0x1ee5b}, {0x1ee5d, 0x1ee5d}, {0x1ee5f, 0x1ee5f}, {0x1ee61, 0x1ee62},
    {0x1ee64, 0x1ee64}, {0x1ee67, 0x1ee6a}, {0x1ee6c, 0x1ee72}, {0x1ee74, 0x1ee77},
    {0x1ee79, 0x1ee7c}, {0x1ee7e, 0x1ee7e}, {0x1ee80, 0x1ee89}, {0x1ee8b, 0x1ee9b},
    {0x1eea1, 0x1eea3}, {0x1eea5, 0x1eea9}, {0x1eeab, 0x1eebb}, {0x1f130, 0x1f149},
    {0x1f150, 0x1f169}, {0x1f170, 0x1f189}, {0x1fbf0, 0x1fbf9}, {0x20000, 0x2a6df},
    {0x2a700, 0x2b738}, {0x2b740, 0x2b81d}, {0x2b820, 0x2cea1}, {0x2ceb0, 0x2ebe0},
    {0x2f800, 0x2fa1d}, {0x30000, 0x3134a}, {0xe0100, 0xe01ef},
};

PHI__FN const phi__range *phi__regex_tables_word(size_t *count) {
    *count = PHI__COUNT(phi__regex_tables_word_rows);
    return phi__regex_tables_word_rows;
}

static const phi__range phi__regex_tables_digit_rows[] = {
    {0x30, 0x39},       {0x660, 0x669},     {0x6f0, 0x6f9},     {0x7c0, 0x7c9},
    {0x966, 0x96f},     {0x9e6, 0x9ef},     {0xa66, 0xa6f},     {0xae6, 0xaef},
    {0xb66, 0xb6f},     {0xbe6, 0xbef},     {0xc66, 0xc6f},     {0xce6, 0xcef},
    {0xd66, 0xd6f},     {0xde6, 0xdef},     {0xe50, 0xe59},     {0xed0, 0xed9},
    {0xf20, 0xf29},     {0x1040, 0x1049},   {0x1090, 0x1099},   {0x17e0, 0x17e9},
    {0x1810, 0x1819},   {0x1946, 0x194f},   {0x19d0, 0x19d9},   {0x1a80, 0x1a89},
    {0x1a90, 0x1a99},   {0x1b50, 0x1b59},   {0x1bb0, 0x1bb9},   {0x1c40, 0x1c49},
    {0x1c50, 0x1c59},   {0xa620, 0xa629},   {0xa8d0, 0xa8d9},   {0xa900, 0xa909},
    {0xa9d0, 0xa9d9},   {0xa9f0, 0xa9f9},   {0xaa50, 0xaa59},   {0xabf0, 0xabf9},
    {0xff10, 0xff19},   {0x104a0, 0x104a9}, {0x10d30, 0x10d39}, {0x11066, 0x1106f},
    {0x110f0, 0x110f9}, {0x11136, 0x1113f}, {0x111d0, 0x111d9}, {0x112f0, 0x112f9},
    {0x11450, 0x11459}, {0x114d0, 0x114d9}, {0x11650, 0x11659}, {0x116c0, 0x116c9},
    {0x11730, 0x11739}, {0x118e0, 0x118e9}, {0x11950, 0x11959}, {0x11c50, 0x11c59},
    {0x11d50, 0x11d59}, {0x11da0, 0x11da9}, {0x16a60, 0x16a69}, {0x16ac0, 0x16ac9},
    {0x16b50, 0x16b59}, {0x1d7ce, 0x1d7ff}, {0x1e140, 0x1e149}, {0x1e2f0, 0x1e2f9},
    {0x1e950, 0x1e959}, {0x1fbf0, 0x1fbf9},
};

PHI__FN const phi__range *phi__regex_tables_digit(size_t *count) {
    *count = PHI__COUNT(phi__regex_tables_digit_rows);
    return phi__regex_tables_digit_rows;
}

static const phi__range phi__regex_tables_space_rows[] = {
    {0x9, 0xd},       {0x20, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
    {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000},
};

PHI__FN const phi__range *phi__regex_tables_space(size_t *count) {
    *count = PHI__COUNT(phi__regex_tables_space_rows);
    return phi__regex_tables_space_rows;
}

static const phi__regex_fold phi__regex_tables_folds_rows[] = {
    {0x61, 0x7a, 0x1, 0x20},       {0xe0, 0xf6, 0x1, 0x20},       {0xf8, 0xfe, 0x1, 0x20},
    {0x101, 0x12f, 0x2, 0x1},      {0x133, 0x137, 0x2, 0x1},      {0x13a, 0x148, 0x2, 0x1},
    {0x14b, 0x177, 0x2, 0x1},      {0x178, 0x178, 0x1, 0x79},     {0x17a, 0x17e, 0x2, 0x1},
    {0x17f, 0x17f, 0x1, 0x12c},    {0x183, 0x185, 0x2, 0x1},      {0x188, 0x188, 0x1, 0x1},
    {0x18c, 0x18c, 0x1, 0x1},      {0x192, 0x192, 0x1, 0x1},      {0x199, 0x199, 0x1, 0x1},
    {0x1a1, 0x1a5, 0x2, 0x1},      {0x1a8, 0x1a8, 0x1, 0x1},      {0x1ad, 0x1ad, 0x1, 0x1},
    {0x1b0, 0x1b0, 0x1, 0x1},      {0x1b4, 0x1b6, 0x2, 0x1},      {0x1b9, 0x1b9, 0x1, 0x1},
    {0x1bd, 0x1bd, 0x1, 0x1},      {0x1c5, 0x1c5, 0x1, 0x1},      {0x1c6, 0x1c6, 0x1, 0x2},
    {0x1c8, 0x1c8, 0x1, 0x1},      {0x1c9, 0x1c9, 0x1, 0x2},      {0x1cb, 0x1cb, 0x1, 0x1},
    {0x1cc, 0x1cc, 0x1, 0x2},      {0x1ce, 0x1dc, 0x2, 0x1},      {0x1dd, 0x1dd, 0x1, 0x4f},
    {0x1df, 0x1ef, 0x2, 0x1},      {0x1f2, 0x1f2, 0x1, 0x1},      {0x1f3, 0x1f3, 0x1, 0x2},
    {0x1f5, 0x1f5, 0x1, 0x1},      {0x1f6, 0x1f6, 0x1, 0x61},     {0x1f7, 0x1f7, 0x1, 0x38},
    {0x1f9, 0x21f, 0x2, 0x1},      {0x220, 0x220, 0x1, 0x82},     {0x223, 0x233, 0x2, 0x1},
    {0x23c, 0x23c, 0x1, 0x1},      {0x23d, 0x23d, 0x1, 0xa3},     {0x242, 0x242, 0x1, 0x1},
    {0x243, 0x243, 0x1, 0xc3},     {0x247, 0x24f, 0x2, 0x1},      {0x253, 0x253, 0x1, 0xd2},
    {0x254, 0x254, 0x1, 0xce},     {0x256, 0x257, 0x1, 0xcd},     {0x259, 0x259, 0x1, 0xca},
    {0x25b, 0x25b, 0x1, 0xcb},     {0x260, 0x260, 0x1, 0xcd},     {0x263, 0x263, 0x1, 0xcf},
    {0x268, 0x268, 0x1, 0xd1},     {0x269, 0x269, 0x1, 0xd3},     {0x26f, 0x26f, 0x1, 0xd3},
    {0x272, 0x272, 0x1, 0xd5},     {0x275, 0x275, 0x1, 0xd6},     {0x280, 0x280, 0x1, 0xda},
    {0x283, 0x283, 0x1, 0xda},     {0x288, 0x288, 0x1, 0xda},     {0x289, 0x289, 0x1, 0x45},
    {0x28a, 0x28b, 0x1, 0xd9},     {0x28c, 0x28c, 0x1, 0x47},     {0x292, 0x292, 0x1, 0xdb},
    {0x371, 0x373, 0x2, 0x1},      {0x377, 0x377, 0x1, 0x1},      {0x399, 0x399, 0x1, 0x54},
    {0x39c, 0x39c, 0x1, 0x2e7},    {0x3ac, 0x3ac, 0x1, 0x26},     {0x3ad, 0x3af, 0x1, 0x25},
    {0x3b1, 0x3b8, 0x1, 0x20},     {0x3b9, 0x3b9, 0x1, 0x74},     {0x3ba, 0x3bb, 0x1, 0x20},
    {0x3bc, 0x3bc, 0x1, 0x307},    {0x3bd, 0x3c1, 0x1, 0x20},     {0x3c2, 0x3c2, 0x1, 0x1f},
    {0x3c3, 0x3cb, 0x1, 0x20},     {0x3cc, 0x3cc, 0x1, 0x40},     {0x3cd, 0x3ce, 0x1, 0x3f},
    {0x3d0, 0x3d0, 0x1, 0x3e},     {0x3d1, 0x3d1, 0x1, 0x39},     {0x3d5, 0x3d5, 0x1, 0x2f},
    {0x3d6, 0x3d6, 0x1, 0x36},     {0x3d7, 0x3d7, 0x1, 0x8},      {0x3d9, 0x3ef, 0x2, 0x1},
    {0x3f0, 0x3f0, 0x1, 0x56},     {0x3f1, 0x3f1, 0x1, 0x50},     {0x3f3, 0x3f3, 0x1, 0x74},
    {0x3f4, 0x3f4, 0x1, 0x5c},     {0x3f5, 0x3f5, 0x1, 0x60},     {0x3f8, 0x3f8, 0x1, 0x1},
    {0x3f9, 0x3f9, 0x1, 0x7},      {0x3fb, 0x3fb, 0x1, 0x1},      {0x3fd, 0x3ff, 0x1, 0x82},
    {0x430, 0x44f, 0x1, 0x20},     {0x450, 0x45f, 0x1, 0x50},     {0x461, 0x481, 0x2, 0x1},
    {0x48b, 0x4bf, 0x2, 0x1},      {0x4c2, 0x4ce, 0x2, 0x1},      {0x4cf, 0x4cf, 0x1, 0xf},
    {0x4d1, 0x52f, 0x2, 0x1},      {0x561, 0x586, 0x1, 0x30},     {0x13f8, 0x13fd, 0x1, 0x8},
    {0x1c80, 0x1c80, 0x1, 0x186e}, {0x1c81, 0x1c81, 0x1, 0x186d}, {0x1c82, 0x1c82, 0x1, 0x1864},
    {0x1c83, 0x1c84, 0x1, 0x1862}, {0x1c85, 0x1c85, 0x1, 0x1863}, {0x1c86, 0x1c86, 0x1, 0x185c},
    {0x1c87, 0x1c87, 0x1, 0x1825}, {0x1c90, 0x1cba, 0x1, 0xbc0},  {0x1cbd, 0x1cbf, 0x1, 0xbc0},
    {0x1e01, 0x1e95, 0x2, 0x1},    {0x1e9b, 0x1e9b, 0x1, 0x3b},   {0x1e9e, 0x1e9e, 0x1, 0x1dbf},
    {0x1ea1, 0x1eff, 0x2, 0x1},    {0x1f08, 0x1f0f, 0x1, 0x8},    {0x1f18, 0x1f1d, 0x1, 0x8},
    {0x1f28, 0x1f2f, 0x1, 0x8},    {0x1f38, 0x1f3f, 0x1, 0x8},    {0x1f48, 0x1f4d, 0x1, 0x8},
    {0x1f59, 0x1f5f, 0x2, 0x8},    {0x1f68, 0x1f6f, 0x1, 0x8},    {0x1f88, 0x1f8f, 0x1, 0x8},
    {0x1f98, 0x1f9f, 0x1, 0x8},    {0x1fa8, 0x1faf, 0x1, 0x8},    {0x1fb8, 0x1fb9, 0x1, 0x8},
    {0x1fba, 0x1fbb, 0x1, 0x4a},   {0x1fbc, 0x1fbc, 0x1, 0x9},    {0x1fbe, 0x1fbe, 0x1, 0x1c79},
    {0x1fc8, 0x1fcb, 0x1, 0x56},   {0x1fcc, 0x1fcc, 0x1, 0x9},    {0x1fd8, 0x1fd9, 0x1, 0x8},
    {0x1fda, 0x1fdb, 0x1, 0x64},   {0x1fe8, 0x1fe9, 0x1, 0x8},    {0x1fea, 0x1feb, 0x1, 0x70},
    {0x1fec, 0x1fec, 0x1, 0x7},    {0x1ff8, 0x1ff9, 0x1, 0x80},   {0x1ffa, 0x1ffb, 0x1, 0x7e},
    {0x1ffc, 0x1ffc, 0x1, 0x9},    {0x2126, 0x2126, 0x1, 0x1d7d}, {0x212a, 0x212a, 0x1, 0x20df},
    {0x212b, 0x212b, 0x1, 0x2066}, {0x214e, 0x214e, 0x1, 0x1c},   {0x2170, 0x217f, 0x1, 0x10},
    {0x2184, 0x2184, 0x1, 0x1},    {0x24d0, 0x24e9, 0x1, 0x1a},   {0x2c30, 0x2c5f, 0x1, 0x30},
    {0x2c61, 0x2c61, 0x1, 0x1},    {0x2c62, 0x2c62, 0x1, 0x29f7}, {0x2c63, 0x2c63, 0x1, 0xee6},
    {0x2c64, 0x2c64, 0x1, 0x29e7}, {0x2c65, 0x2c65, 0x1, 0x2a2b}, {0x2c66, 0x2c66, 0x1, 0x2a28},
    {0x2c68, 0x2c6c, 0x2, 0x1},    {0x2c6d, 0x2c6d, 0x1, 0x2a1c}, {0x2c6e, 0x2c6e, 0x1, 0x29fd},
    {0x2c6f, 0x2c6f, 0x1, 0x2a1f}, {0x2c70, 0x2c70, 0x1, 0x2a1e}, {0x2c73, 0x2c73, 0x1, 0x1},
    {0x2c76, 0x2c76, 0x1, 0x1},    {0x2c7e, 0x2c7f, 0x1, 0x2a3f}, {0x2c81, 0x2ce3, 0x2, 0x1},
    {0x2cec, 0x2cee, 0x2, 0x1},    {0x2cf3, 0x2cf3, 0x1, 0x1},    {0x2d00, 0x2d25, 0x1, 0x1c60},
    {0x2d27, 0x2d27, 0x1, 0x1c60}, {0x2d2d, 0x2d2d, 0x1, 0x1c60}, {0xa641, 0xa649, 0x2, 0x1},
    {0xa64a, 0xa64a, 0x1, 0x89c2}, {0xa64b, 0xa64b, 0x1, 0x89c3}, {0xa64d, 0xa66d, 0x2, 0x1},
    {0xa681, 0xa69b, 0x2, 0x1},    {0xa723, 0xa72f, 0x2, 0x1},    {0xa733, 0xa76f, 0x2, 0x1},
    {0xa77a, 0xa77c, 0x2, 0x1},    {0xa77d, 0xa77d, 0x1, 0x8a04}, {0xa77f, 0xa787, 0x2, 0x1},
    {0xa78c, 0xa78c, 0x1, 0x1},    {0xa78d, 0xa78d, 0x1, 0xa528}, {0xa791, 0xa793, 0x2, 0x1},
    {0xa797, 0xa7a9, 0x2, 0x1},    {0xa7aa, 0xa7aa, 0x1, 0xa544}, {0xa7ab, 0xa7ab, 0x1, 0xa54f},
    {0xa7ac, 0xa7ac, 0x1, 0xa54b}, {0xa7ad, 0xa7ad, 0x1, 0xa541}, {0xa7ae, 0xa7ae, 0x1, 0xa544},
    {0xa7b0, 0xa7b0, 0x1, 0xa512}, {0xa7b1, 0xa7b1, 0x1, 0xa52a}, {0xa7b2, 0xa7b2, 0x1, 0xa515},
    {0xa7b5, 0xa7c3, 0x2, 0x1},    {0xa7c4, 0xa7c4, 0x1, 0x30},   {0xa7c5, 0xa7c5, 0x1, 0xa543},
    {0xa7c6, 0xa7c6, 0x1, 0x8a38}, {0xa7c8, 0xa7ca, 0x2, 0x1},    {0xa7d1, 0xa7d1, 0x1, 0x1},
    {0xa7d7, 0xa7d9, 0x2, 0x1},    {0xa7f6, 0xa7f6, 0x1, 0x1},    {0xab53, 0xab53, 0x1, 0x3a0},
    {0xab70, 0xabbf, 0x1, 0x97d0}, {0xff41, 0xff5a, 0x1, 0x20},   {0x10428, 0x1044f, 0x1, 0x28},
    {0x104d8, 0x104fb, 0x1, 0x28}, {0x10597, 0x105a1, 0x1, 0x27}, {0x105a3, 0x105b1, 0x1, 0x27},
    {0x105b3, 0x105b9, 0x1, 0x27}, {0x105bb, 0x105bc, 0x1, 0x27}, {0x10cc0, 0x10cf2, 0x1, 0x40},
    {0x118c0, 0x118df, 0x1, 0x20}, {0x16e60, 0x16e7f, 0x1, 0x20}, {0x1e922, 0x1e943, 0x1, 0x22},
};

PHI__FN const phi__regex_fold *phi__regex_tables_folds(size_t *count) {
    *count = PHI__COUNT(phi__regex_tables_folds_rows);
    return phi__regex_tables_folds_rows;
}

#endif /* PHI__IMP_MATCH */

#ifdef PHI__IMP_PERMISSIONS
#if PHI__IMP_PERMISSIONS != 0x83c68fd8
#error "phi: two versions of src/permissions in one file"
#endif
#else
#define PHI__IMP_PERMISSIONS 0x83c68fd8

/* ---- src/permissions/shell_in.h ---- */

/* shell_in.h - a command line of bash as a list of its simple commands, with their words.

   Commands are found wherever they stand: in lists and pipes, in subshells, loops and functions, in
   substitutions inside of words, quotes and here-documents, and behind programs that run others
   (env, xargs, bash -c). A word is known where its text is certain before the line runs; else it
   keeps the form of the source, and so do words that the shell makes file names or several words
   of. A line that cannot be parsed with certainty says so: `unknown`. It may then hold commands
   that are not in the list.

   A line can also be parsed and still run commands that are not in it: bash takes the value of a
   variable in arithmetic for an expression, and runs what stands in its subscripts. Such a line is
   unknown as well, but all of it is parsed, and its commands are in the list.

   Nothing is run, and no variable, alias or file is looked up. Time and memory are linear in the
   line for each level of programs that run others, of which there are eight at most. All is in the
   caller's arena. */
#ifndef PHI_PERMISSIONS_SHELL_IN_H
#define PHI_PERMISSIONS_SHELL_IN_H


#ifndef PHI_NO_PERMISSIONS

enum {
    PHI__SHELL_DEPTH = 48,           /* of nesting */
    PHI__SHELL_LEVELS = 8,           /* of programs that run others */
    PHI__SHELL_BYTES_MOST = 65536,   /* of a line */
    PHI__SHELL_COMMANDS_MOST = 1000, /* of a line */
    PHI__SHELL_WORDS_MOST = 4000,    /* of a line, and of the lines in it */
    PHI__SHELL_HERE_MOST = 16        /* here-documents that one line begins */
};

typedef struct phi__shell_word {
    phi_str text;
    bool known;  /* no expansion, no glob, no brace: the shell makes this one word of it */
    bool quoted; /* a part is */
    bool pipe;   /* one process substitution, and nothing else */
} phi__shell_word;

typedef struct phi__shell_redirect {
    bool writes;
    phi__shell_word target; /* a file */
} phi__shell_redirect;

typedef struct phi__shell_command {
    phi__shell_word *words; /* without assignments and redirections */
    size_t count;
    phi__shell_word *assigned; /* NAME=value, before the words */
    size_t assigned_count;
    phi__shell_redirect *redirects;
    size_t redirect_count;
    phi__shell_word *input; /* a here-document or here-string of descriptor 0; NULL: none */
    size_t inputs;          /* redirections of descriptor 0: the last one counts */
    bool reads;             /* its input is another command's output, or a file, or a text */
    bool wraps;             /* it only runs others, which are in the list as well */
    size_t pipe_from;       /* index of the first command of its pipe */
    unsigned level;         /* of programs that run others */
    bool posix;             /* read by sh, which may be another shell than bash */
} phi__shell_command;

typedef struct phi__shell {
    phi__shell_command *commands;
    size_t count, cap;
    size_t words;
    const char *unknown; /* static: why it could not be parsed; NULL: it was */
    const char *doubt;   /* static: why parts of it are not certain, while it is parsed */
} phi__shell;

/* PHI_NO_MEMORY, or PHI_OK. The words point into the arena. */
PHI__FN phi_status phi__wrappers_parse(phi_arena *arena, phi_str line, phi__shell *out);

/* ---- between the files of the parser ---- */

typedef struct phi__shell_here {
    phi_str end;
    bool tabs, quoted;     /* <<-; nothing in it is expanded */
    phi__shell_word *body; /* where it goes */
} phi__shell_here;

typedef struct phi__shell_parser phi__shell_parser;
struct phi__shell_parser {
    phi_arena *arena;
    phi__buf buf; /* words being read, the innermost last */
    const char *at, *end;
    phi__shell *out;
    unsigned depth, level;
    bool lost; /* no memory */
    bool reads, posix;
    size_t pipe_from;
    phi_str function; /* that is being defined; empty: none */
    phi__shell_here here[PHI__SHELL_HERE_MOST];
    size_t here_count, here_outer; /* that wait for a line's end; of lists around this one */
    /* A list up to `close` (0: the end), which is taken. */
    void (*list)(phi__shell_parser *p, char close);
};

/* Ends the parsing of a line that holds something uncertain. */
PHI__FN void phi__shell_word_stop(phi__shell_parser *p, const char *why);
/* Notes that it holds something uncertain. */
PHI__FN void phi__shell_word_doubt(phi__shell_parser *p, const char *why);
/* What bash knows and other shells take for something else. */
PHI__FN void phi__shell_word_dialect(phi__shell_parser *p);
/* Blanks, continued lines, comments. */
PHI__FN void phi__shell_word_blanks(phi__shell_parser *p);
/* A word at p->at. False: there is none. */
PHI__FN bool phi__shell_word_read(phi__shell_parser *p, phi__shell_word *out);
/* Finds the commands of an unquoted here-document. */
PHI__FN void phi__shell_word_body(phi__shell_parser *p, phi_str body);
/* Behind "((": up to "))". */
PHI__FN void phi__shell_word_arithmetic(phi__shell_parser *p);
/* ( ... ) of an array or a pattern, from behind the parenthesis. */
PHI__FN void phi__shell_word_parens(phi__shell_parser *p);
/* The same: it is no command line; memory ran out. */
PHI__FN void phi__shell_word_invalid(phi__shell_parser *p);
PHI__FN void phi__shell_word_lost(phi__shell_parser *p);
/* Room for one more behind `count`: arrays double. NULL: no memory. */
PHI__FN void *phi__shell_word_room(phi_arena *arena, void *old, size_t count, size_t size);
PHI__FN void phi__shell_word_add(phi__shell_parser *p, phi__shell_word **words, size_t *count,
                                 const phi__shell_word *word);
/* Blanks and line ends, with the here-documents behind them. */
PHI__FN void phi__shell_redirect_lines(phi__shell_parser *p);
/* A redirection at p->at. False: there is none. */
PHI__FN bool phi__shell_redirect_read(phi__shell_parser *p, phi__shell_command *command);
/* Adds the commands of a line to `out`. around: the command that runs it; NULL: none. */
PHI__FN phi_status phi__shell_parse_line(phi_arena *arena, phi_str line,
                                         const phi__shell_command *around, phi__shell *out);
PHI__FN bool phi__shell_parse_push(phi_arena *arena, phi__shell *out,
                                   const phi__shell_command *command);

#endif
#endif

/* ---- src/permissions/rules_in.h ---- */

/* rules_in.h - which rules match a call, a command of a shell's line, or a file it writes. */
#ifndef PHI_PERMISSIONS_RULES_IN_H
#define PHI_PERMISSIONS_RULES_IN_H


#ifndef PHI_NO_PERMISSIONS

/* A call, or a part of one. */
typedef struct phi__rules_subject {
    const char *workspace, *home; /* NULL: not known */
    phi_str tool;
    phi_str arguments;    /* JSON text */
    const phi_json *root; /* of the arguments; NULL: they are no JSON */
    const phi__shell *shell;
    const phi__shell_command *command; /* of a shell's line */
    size_t index;                      /* of the command */
    bool line;                         /* a shell's line as a whole, which is not known */
    bool file, writes;                 /* a redirection: */
    phi__shell_word path;
    bool lost; /* no memory */
    phi_memory *memory;
} phi__rules_subject;

/* The strictest verdict; *which: a rule with it, or NULL where none matches. */
PHI__FN phi_permission phi__rules_decide(const phi_permission_rules *rules,
                                         phi__rules_subject *subject,
                                         const phi_permission_rule **which);
/* Whether rules ask about or deny commands of this tool by their words: a line that is not known
   may hold such a command. */
PHI__FN bool phi__rules_restrict(const phi_permission_rules *rules,
                                 const phi__rules_subject *subject);
/* The path of a tool's arguments; empty: they have none. */
PHI__FN phi_str phi__rules_path_of(const phi_json *root);
/* The host of a URL in lower case, in `out`. False: it is no URL, or has no plain host. */
PHI__FN bool phi__rules_host_of(phi_str url, phi__buf *out);

#endif
#endif

/* ---- src/permissions/check_in.h ---- */

/* check_in.h - the permissions of a host, and the verdict on one call. */
#ifndef PHI_PERMISSIONS_CHECK_IN_H
#define PHI_PERMISSIONS_CHECK_IN_H


#ifndef PHI_NO_PERMISSIONS

struct phi_permissions {
    phi_memory memory;
    phi_arena arena;       /* of the texts below */
    phi_arena rules_arena; /* of the rules */
    phi_permission_rules rules;
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
    const phi__rules_subject *subject;
} phi__check_part;

/* Calls `each` for every part of a call: the call itself, or each command and each file of a
   shell's line. A line that is not known is a part. PHI_NO_MEMORY, or what `each` says first. */
PHI__FN phi_status phi__check_parts(phi_permissions *permissions, phi_arena *scratch,
                                    phi_str tool_name, phi_str arguments,
                                    phi_status (*each)(void *ctx, const phi__check_part *part),
                                    void *ctx);
/* A part in words, for people: "`rm -r build`", "writing out.txt". */
PHI__FN void phi__check_put(phi__buf *out, const phi__rules_subject *subject);

#endif
#endif

/* ---- src/permissions/wildcard_in.h ---- */

/* wildcard_in.h - patterns of rules: *, ?, sets, and alternatives. Time is bounded by the pattern
   times the text, for paths times the text once more. */
#ifndef PHI_PERMISSIONS_WILDCARD_IN_H
#define PHI_PERMISSIONS_WILDCARD_IN_H


#ifndef PHI_NO_PERMISSIONS

/* Whether one of the alternatives matches all of the text. path: * and ? do not match a slash, **
   does, and a pattern that ends in a slash and ** matches the directory itself, too. */
PHI__FN bool phi__wildcard_any(phi_str pattern, phi_str text, bool path);
/* The alternatives, one after the other: takes one off `rest`. False: there is none left. */
PHI__FN bool phi__wildcard_next(phi_str *rest, phi_str *alternative);
/* The words of a pattern, likewise. */
PHI__FN bool phi__wildcard_word(phi_str *rest, phi_str *word);
/* The pattern that matches this text alone. */
PHI__FN void phi__wildcard_quote(phi__buf *out, phi_str text);

#endif
#endif

/* ---- src/permissions/always.c ---- */

/* always.c - "always allow this": rules out of a call that was asked about. */

#ifndef PHI_NO_PERMISSIONS

typedef struct phi__always {
    phi_permissions *permissions;
    phi_arena *arena;
    phi_permission_scope scope;
    phi_permission_rule *rules;
    size_t count;
} phi__always;

static bool phi__always_any(phi_str text, const char *const *names) {
    for (; *names != NULL; names++)
        if (phi__str_is(text, *names)) return true;
    return false;
}

static phi_status phi__always_refuse(const phi__always *a, const phi__rules_subject *subject,
                                     const char *why) {
    phi__buf *words = &a->permissions->why;
    phi__buf_clear(words);
    phi__check_put(words, subject);
    phi__buf_text(words, ": ");
    phi__buf_text(words, why);
    return PHI_REJECTED;
}

static bool phi__always_keep(const phi__always *a, phi__buf *buf, const char **out) {
    phi_str text;
    bool good = !buf->failed && phi__arena_str(a->arena, phi__buf_str(buf), &text);
    phi__buf_free(buf);
    if (good) *out = text.at;
    return good;
}

/* Room for one more; the same one again is not added. */
static phi_status phi__always_add(phi__always *a, const phi_permission_rule *rule) {
    phi_permission_rule *all;
    size_t i;
    for (i = 0; i < a->count; i++) {
        const phi_permission_rule *old = &a->rules[i];
        if (old->command != NULL && rule->command != NULL &&
            strcmp(old->command, rule->command) == 0)
            return PHI_OK;
    }
    all = (phi_permission_rule *)phi_arena_alloc(a->arena, phi__mul(a->count + 1, sizeof *all));
    if (all == NULL) return PHI_NO_MEMORY;
    if (a->count > 0) memcpy(all, a->rules, a->count * sizeof *all);
    all[a->count++] = *rule;
    a->rules = all;
    return PHI_OK;
}

/* ---- commands ---- */

/* Programs and builtins that do whatever their words say, or run other programs: only those very
   words may be allowed. Digits at the end of a name (python3.11) do not count. */
static const char *const phi__always_open[] = {
    "sh",       "bash",    "dash",        "zsh",     "ksh",     "ash",    "fish",
    "pwsh",     "cmd",     "powershell",  "eval",    "source",  ".",      "exec",
    "trap",     "sudo",    "doas",        "su",      "env",     "xargs",  "find",
    "ssh",      "scp",     "rsync",       "python",  "pypy",    "perl",   "ruby",
    "node",     "php",     "lua",         "tclsh",   "Rscript", "julia",  "osascript",
    "tsx",      "ts-node", "awk",         "gawk",    "mawk",    "nawk",   "sed",
    "gsed",     "tee",     "docker",      "podman",  "kubectl", "rm",     "dd",
    "alias",    "export",  "set",         "npx",     "pnpx",    "bunx",   "uvx",
    "pipx",     "chmod",   "chown",       "kill",    "curl",    "wget",   "printf",
    "read",     "unset",   "let",         "declare", "typeset", "local",  "readonly",
    "mapfile",  "wait",    "readarray",   "enable",  "hash",    "bind",   "complete",
    "shopt",    "builtin", "command",     "coproc",  "time",    "nice",   "ionice",
    "nohup",    "timeout", "stdbuf",      "setsid",  "busybox", "toybox", "watch",
    "parallel", "script",  "strace",      "ltrace",  "gdb",     "lldb",   "screen",
    "tmux",     "expect",  "tar",         "zip",     "vi",      "vim",    "nvim",
    "emacs",    "ed",      "ex",          "less",    "more",    "man",    "crontab",
    "at",       "batch",   "chroot",      "nsenter", "unshare", "flock",  "runuser",
    "pkexec",   "entr",    "systemd-run", "fd",      "rg",      "sort",   "test",
    "[",        "ln",      "install",     "socat",   "nc",      "ncat",   NULL};
/* Programs whose first word is a command of their own. */
static const char *const phi__always_two[] = {
    "git",    "npm", "yarn",   "pnpm",   "cargo", "go",     "pip", "make", "apt", "brew",
    "dotnet", "mvn", "gradle", "bundle", "gem",   "poetry", "uv",  "deno", "bun", NULL};
/* ... and "npm run test": the second one names a script or a package. */
static const char *const phi__always_run[] = {"run", "run-script", "exec", "x",
                                              "dlx", "tool",       NULL};
/* Programs that run what they read. */
static const char *const phi__always_reads[] = {
    "sh",         "bash",    "dash",  "zsh",       "ksh",  "ash",  "fish", "pwsh",
    "powershell", "python",  "pypy",  "perl",      "ruby", "node", "php",  "lua",
    "tclsh",      "Rscript", "julia", "osascript", "ssh",  "deno", "bun",  "xargs",
    "parallel",   "at",      "batch", "crontab",   NULL};
/* Of git: those that run what their words, or the configuration that they write, name. */
static const char *const phi__always_git[] = {
    "config",   "rebase",        "bisect", "submodule", "difftool", "mergetool", "clone",
    "worktree", "filter-branch", "grep",   "hook",      "bundle",   NULL};

/* The name of a program without its directory and version. */
static phi_str phi__always_program(phi_str name) {
    size_t i = name.len;
    while (i > 0 && name.at[i - 1] != '/') i--;
    name = phi__str(name.at + i, name.len - i);
    while (name.len > 1 && (strchr("0123456789.-", name.at[name.len - 1]) != NULL)) name.len--;
    return name;
}

static bool phi__always_has_flag(const phi__shell_command *c, char flag) {
    size_t i;
    for (i = 1; i < c->count; i++) {
        phi_str text = c->words[i].text;
        if (text.len > 1 && text.at[0] == '-' && text.at[1] != '-' &&
            memchr(text.at, flag, text.len) != NULL)
            return true;
    }
    return false;
}

static bool phi__always_has(const phi__shell_command *c, const char *start) {
    size_t i;
    for (i = 1; i < c->count; i++)
        if (phi__str_starts(c->words[i].text, start)) return true;
    return false;
}

/* rm -rf, in whatever spelling. */
static bool phi__always_deletes(const phi__shell_command *c) {
    if (!phi__str_is(phi__always_program(c->words[0].text), "rm")) return false;
    return phi__always_has_flag(c, 'r') || phi__always_has_flag(c, 'R') ||
           phi__always_has(c, "--r");
}

/* How many words a rule of SCOPE_KIND takes over; *more: others may follow. */
static size_t phi__always_kind(const phi__shell_command *c, bool *more) {
    phi_str name = phi__always_program(c->words[0].text);
    *more = !phi__always_any(name, phi__always_open);
    if (!*more) return c->count;
    if (!phi__always_any(name, phi__always_two)) return 1;
    if (c->count < 2) { /* all that it can do is too much, but for the targets of a makefile */
        *more = phi__str_is(name, "make");
        return c->count;
    }
    if (phi__str_starts(c->words[1].text, "-")) return c->count;
    if (phi__str_is(name, "git") && phi__always_any(c->words[1].text, phi__always_git)) {
        *more = false;
        return c->count;
    }
    return phi__always_any(c->words[1].text, phi__always_run) ? phi__min(c->count, 3) : 2;
}

static phi_status phi__always_command(phi__always *a, const phi__rules_subject *subject) {
    const phi__shell_command *c = subject->command;
    size_t i, n = c->count;
    bool more = false;
    phi_permission_rule rule;
    phi__buf words;
    memset(&rule, 0, sizeof rule);
    if (c->count == 0 || c->assigned_count > 0)
        return phi__always_refuse(a, subject, "it sets variables that programs heed");
    for (i = 0; i < c->count; i++)
        if (!c->words[i].known || c->words[i].text.len == 0)
            return phi__always_refuse(a, subject, "not all of its words are known");
    if (phi__always_deletes(c)) return phi__always_refuse(a, subject, "it deletes directories");
    if (c->reads && phi__always_any(phi__always_program(c->words[0].text), phi__always_reads))
        return phi__always_refuse(a, subject, "it runs what it reads");
    if (a->scope == PHI_PERMISSION_SCOPE_KIND) n = phi__always_kind(c, &more);
    phi__buf_init(&words, a->arena->memory);
    for (i = 0; i < n; i++) {
        if (i > 0) phi__buf_char(&words, ' ');
        phi__wildcard_quote(&words, c->words[i].text);
    }
    if (more) phi__buf_text(&words, " *");
    rule.verdict = PHI_PERMISSION_ALLOW;
    if (!phi__always_keep(a, &words, &rule.command)) return PHI_NO_MEMORY;
    phi__wildcard_quote(&words, subject->tool);
    return phi__always_keep(a, &words, &rule.tool) ? phi__always_add(a, &rule) : PHI_NO_MEMORY;
}

/* ---- files and tools ---- */

static bool phi__always_path(const phi__always *a, phi_str path, const char **out) {
    phi__buf words;
    size_t n = path.len;
    bool kind = a->scope == PHI_PERMISSION_SCOPE_KIND;
    while (kind && n > 0 && path.at[n - 1] != '/') n--;
    if (n == 1 || (n == 0 && phi__str_starts(path, "~"))) { /* of all files; of nobody known */
        kind = false;
        n = path.len;
    }
    phi__buf_init(&words, a->arena->memory);
    if (phi__str_starts(path, "!")) phi__buf_text(&words, "./"); /* else it means any other */
    phi__wildcard_quote(&words, phi__str(path.at, n));
    if (kind && n == 0) phi__buf_text(&words, "./");
    if (kind) phi__buf_text(&words, "**");
    return phi__always_keep(a, &words, out);
}

static phi_status phi__always_file(phi__always *a, const phi__rules_subject *subject) {
    phi_permission_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.verdict = PHI_PERMISSION_ALLOW;
    if (!subject->path.known || subject->path.text.len == 0)
        return phi__always_refuse(a, subject, "the file's name is not known");
    rule.tool = subject->writes ? "write_file" : "read_file";
    if (!phi__always_path(a, subject->path.text, &rule.path)) return PHI_NO_MEMORY;
    return phi__always_add(a, &rule);
}

static phi_status phi__always_tool(phi__always *a, const phi__rules_subject *subject) {
    phi_str path = phi__rules_path_of(subject->root);
    const phi_json *url = phi_json_get(subject->root, "url");
    bool good = true;
    phi_permission_rule rule;
    phi__buf words;
    memset(&rule, 0, sizeof rule);
    rule.verdict = PHI_PERMISSION_ALLOW;
    phi__buf_init(&words, a->arena->memory);
    phi__wildcard_quote(&words, subject->tool);
    if (!phi__always_keep(a, &words, &rule.tool)) return PHI_NO_MEMORY;
    phi__buf_init(&words, a->arena->memory);
    if (path.len > 0)
        good = phi__always_path(a, path, &rule.path);
    else if (phi_json_is_string(url)) {
        phi__buf host;
        phi__buf_init(&host, a->arena->memory);
        good = phi__rules_host_of(phi_json_str(url, ""), &host);
        if (good) phi__wildcard_quote(&words, phi__buf_str(&host));
        phi__buf_free(&host);
        if (!good) return phi__always_refuse(a, subject, "its URL has no plain host");
        good = phi__always_keep(a, &words, &rule.host);
    } else if (a->scope == PHI_PERMISSION_SCOPE_EXACT) {
        phi__wildcard_quote(&words, subject->arguments);
        good = phi__always_keep(a, &words, &rule.matches);
    }
    return good ? phi__always_add(a, &rule) : PHI_NO_MEMORY;
}

/* phi__check_parts: each part that is not allowed yet. */
static phi_status phi__always_part(void *ctx, const phi__check_part *part) {
    phi__always *a = (phi__always *)ctx;
    const phi__rules_subject *subject = part->subject;
    if (part->verdict == PHI_PERMISSION_ALLOW) return PHI_OK;
    if (part->rule != NULL)
        return phi__always_refuse(
            a, subject, part->rule->reason != NULL ? part->rule->reason : "a rule asks or denies");
    if (subject->line) return phi__always_refuse(a, subject, "it may hold other commands");
    if (subject->file) return phi__always_file(a, subject);
    return subject->command != NULL ? phi__always_command(a, subject)
                                    : phi__always_tool(a, subject);
}

/* ---- public ---- */

PHI_API phi_status phi_permissions_always(phi_permissions *permissions, phi_str tool_name,
                                          phi_str arguments, phi_permission_scope scope,
                                          phi_arena *arena, phi_permission_rules *out,
                                          phi_str *why) {
    phi__always a;
    phi_arena scratch;
    phi_status status;
    if (permissions == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    memset(&a, 0, sizeof a);
    memset(out, 0, sizeof *out);
    a.permissions = permissions;
    a.arena = arena;
    a.scope = scope;
    phi__buf_clear(&permissions->why);
    phi_arena_init(&scratch, &permissions->memory, 0);
    status = phi__check_parts(permissions, &scratch, tool_name, arguments, phi__always_part, &a);
    phi_arena_free(&scratch);
    if (why != NULL) *why = phi__buf_str(&permissions->why);
    if (status != PHI_OK) return status;
    out->rules = a.rules;
    out->count = a.count;
    return PHI_OK;
}

#endif

/* ---- src/permissions/check.c ---- */

/* check.c - the parts of a call, each with its verdict. */


#ifndef PHI_NO_PERMISSIONS

enum { PHI__CHECK_SHOWN = 200 }; /* bytes of a command, or of a path */

/* Where nothing is kept, or it is no file of its own. */
static bool phi__check_harmless(const phi__shell_redirect *redirect) {
    static const char *const files[] = {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty",
                                        "/dev/stdin"};
    size_t i;
    for (i = 0; redirect->target.known && i < PHI__COUNT(files); i++)
        if (phi__str_is(redirect->target.text, files[i])) return true;
    return false;
}

static bool phi__check_lower(phi_str name) {
    size_t i;
    for (i = 0; i < name.len && name.at[i] != '='; i++)
        if (name.at[i] >= 'a' && name.at[i] <= 'z') return true;
    return false;
}

/* Variables that programs heed (PATH, LD_PRELOAD) have no small letters. */
static bool phi__check_only_variables(const phi__shell_command *c) {
    size_t i;
    if (c->count > 0) return false;
    for (i = 0; i < c->assigned_count; i++) {
        phi_str text = c->assigned[i].text;
        bool assigns = text.len > 0 && memchr(text.at, '=', text.len) != NULL;
        if ((i == 0 || assigns) && !phi__check_lower(text)) return false;
    }
    return true;
}

static void phi__check_words(phi__buf *out, const phi__shell_word *words, size_t count) {
    size_t i;
    for (i = 0; i < count && out->len < PHI__CHECK_SHOWN; i++) {
        if (i > 0) phi__buf_char(out, ' ');
        phi__buf_add_str(out, words[i].text);
    }
}

PHI__FN void phi__check_put(phi__buf *out, const phi__rules_subject *subject) {
    const phi__shell_command *c = subject->command;
    if (subject->line) {
        phi__buf_text(out, "a command line that cannot be read with certainty (");
        phi__buf_text(out, subject->shell->unknown);
        phi__buf_char(out, ')');
    } else if (subject->file) {
        phi__buf_text(out, subject->writes ? "writing " : "reading ");
        phi__buf_add_str(out, subject->path.text);
    } else if (c != NULL) {
        phi__buf_char(out, '`');
        phi__check_words(out, c->assigned, c->assigned_count);
        if (c->assigned_count > 0 && c->count > 0) phi__buf_char(out, ' ');
        phi__check_words(out, c->words, c->count);
        phi__buf_char(out, '`');
    } else
        phi__buf_add_str(out, subject->tool);
}

/* ---- the parts ---- */

typedef struct phi__checking {
    phi_permissions *permissions;
    phi__rules_subject subject;
    phi_status (*each)(void *ctx, const phi__check_part *part);
    void *ctx;
} phi__checking;

static phi_status phi__check_part_now(phi__checking *checking, bool only_strict) {
    phi__check_part part;
    phi__rules_subject *subject = &checking->subject;
    part.subject = subject;
    part.verdict = phi__rules_decide(&checking->permissions->rules, subject, &part.rule);
    if (part.verdict == PHI_PERMISSION_ALLOW && subject->line &&
        subject->shell->unknown != subject->shell->doubt &&
        phi__rules_restrict(&checking->permissions->rules, subject)) {
        part.verdict = PHI_PERMISSION_ASK;
        part.rule = NULL;
    }
    if (only_strict && (part.rule == NULL || part.verdict == PHI_PERMISSION_ALLOW))
        part.verdict = PHI_PERMISSION_ALLOW;
    return subject->lost ? PHI_NO_MEMORY : checking->each(checking->ctx, &part);
}

/* Files that a command reads or writes by redirection. */
static phi_status phi__check_files(phi__checking *checking, const phi__shell_command *c) {
    phi_status status = PHI_OK;
    size_t i;
    checking->subject.file = true;
    for (i = 0; i < c->redirect_count && status == PHI_OK; i++) {
        if (phi__check_harmless(&c->redirects[i])) continue;
        checking->subject.writes = c->redirects[i].writes;
        checking->subject.path = c->redirects[i].target;
        status = phi__check_part_now(checking, false);
    }
    checking->subject.file = false;
    return status;
}

/* Programs that run others, and variables, are decided on by rules that ask or deny alone. */
static phi_status phi__check_commands(phi__checking *checking, const phi__shell *shell) {
    phi__rules_subject *subject = &checking->subject;
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; i < shell->count && status == PHI_OK; i++) {
        const phi__shell_command *c = &shell->commands[i];
        subject->command = c;
        subject->index = i;
        if (c->count + c->assigned_count > 0)
            status = phi__check_part_now(checking, (c->wraps && c->assigned_count == 0) ||
                                                       phi__check_only_variables(c));
        if (status == PHI_OK && c->redirect_count > 0) status = phi__check_files(checking, c);
    }
    return status;
}

static phi_status phi__check_line(phi__checking *checking, phi_arena *scratch, phi_str line) {
    phi__shell shell;
    phi_status status = phi__wrappers_parse(scratch, line, &shell);
    checking->subject.shell = &shell;
    if (status == PHI_OK) status = phi__check_commands(checking, &shell);
    if (status == PHI_OK && shell.unknown != NULL) {
        checking->subject.line = true;
        status = phi__check_part_now(checking, false);
    }
    return status;
}

/* ---- for other files ---- */

PHI__FN phi_status phi__check_parts(phi_permissions *permissions, phi_arena *scratch,
                                    phi_str tool_name, phi_str arguments,
                                    phi_status (*each)(void *ctx, const phi__check_part *part),
                                    void *ctx) {
    phi__checking checking;
    phi_json *root = NULL;
    phi_status status;
    memset(&checking, 0, sizeof checking);
    checking.permissions = permissions;
    checking.each = each;
    checking.ctx = ctx;
    checking.subject.workspace = permissions->workspace;
    checking.subject.home = permissions->home;
    checking.subject.tool = tool_name;
    checking.subject.arguments = arguments;
    checking.subject.memory = &permissions->memory;
    status = phi_json_parse(scratch, arguments, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) return status;
    checking.subject.root = root;
    if (!phi__wildcard_any(phi_str_of(permissions->shell_tools), tool_name, false) ||
        !phi_json_is_string(phi_json_get(root, "command")))
        return phi__check_part_now(&checking, false);
    return phi__check_line(&checking, scratch, phi_json_str(phi_json_get(root, "command"), ""));
}

#endif

/* ---- src/permissions/modes.c ---- */

/* modes.c - the rules of each mode: tables. */

#ifndef PHI_NO_PERMISSIONS


/* A rule on tools and files; on commands; and on commands with words that make them worse. */
#define PHI__MODES_TOOL(verdict, tool, path, reason)                                               \
    { PHI_PERMISSION_##verdict, tool, NULL, NULL, NULL, NULL, path, NULL, NULL, NULL, reason }
#define PHI__MODES_READS(command, without)                                                         \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, without, NULL, "./**", NULL, NULL, NULL,      \
            "it only reads"                                                                        \
    }
#define PHI__MODES_PLAIN(command)                                                                  \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, NULL, NULL, NULL, NULL, NULL, NULL,           \
            "it only prints"                                                                       \
    }
/* The same, where words that are not known may make it worse. */
#define PHI__MODES_KNOWN(command, without)                                                         \
    {                                                                                              \
        PHI_PERMISSION_ALLOW, "bash", command, NULL, without, NULL, NULL, NULL, NULL, NULL,        \
            "it only prints"                                                                       \
    }
#define PHI__MODES_DENY(command, with, without, piped, reason)                                     \
    { PHI_PERMISSION_DENY, NULL, command, with, without, piped, NULL, NULL, NULL, NULL, reason }

#define PHI__MODES_DENY_PATH(command, with, path, reason)                                          \
    { PHI_PERMISSION_DENY, NULL, command, with, NULL, NULL, path, NULL, NULL, NULL, reason }

#define PHI__MODES_SHELLS "sh|bash|dash|zsh|ksh|ash"
#define PHI__MODES_HOMES "~|~/|~/[*]|$HOME|$HOME/|$HOME/[*]|${HOME}|${HOME}/|${HOME}/[*]"
#define PHI__MODES_ROOTS                                                                           \
    "/|//|/.|/..|/[*]|/bin|/boot|/dev|/etc|/home|/lib|/lib64|/opt|/root|/sbin|/srv|/sys|/usr|"     \
    "/var|/bin/|/boot/|/dev/|/etc/|/home/|/lib/|/lib64/|/opt/|/root/|/sbin/|/srv/|/sys/|/usr/|"    \
    "/var/|" PHI__MODES_HOMES

/* Directories of the system in whatever spelling ("//", "/usr/local/.."); and those of people. */
#define PHI__MODES_SYSTEM_PATHS                                                                    \
    "/|/[*]|/.[*]|/bin|/boot|/dev|/etc|/home|/lib|/lib64|/opt|/root|/sbin|/srv|/sys|/usr|/var|"    \
    "/Users|/System|/Library|/Applications|/usr/*|/etc/[*]|/var/[*]|/home/[*]|/Users/[*]"
#define PHI__MODES_HOME_PATHS "/home/*|/Users/*|/home/*/[*]|/Users/*/[*]|~|~/[*]"
#define PHI__MODES_DISKS "/dev/sd*|/dev/hd*|/dev/vd*|/dev/nvme*|/dev/mmcblk*|/dev/disk/**"

/* Of the tools and commands that look at the workspace, and change nothing. */
#define PHI__MODES_READING                                                                         \
    PHI__MODES_TOOL(ALLOW, "read_file|list_files|search", "./**", "it only reads"),                \
        PHI__MODES_PLAIN("pwd|true|false|:|whoami|id|uname|date|uptime|hostname"),                 \
        PHI__MODES_PLAIN("echo|seq|sleep|basename|dirname *"), PHI__MODES_PLAIN("uname -*"),       \
        PHI__MODES_PLAIN("command -v|-V *"), PHI__MODES_PLAIN("which|type *"),                     \
        PHI__MODES_PLAIN("date +*"), PHI__MODES_PLAIN("git --version|version"),                    \
        PHI__MODES_PLAIN("node|npm|python|python3|go|gcc|clang|make|cmake --version"),             \
        PHI__MODES_PLAIN("exit *"), PHI__MODES_KNOWN("test|[[] *", "-v -R"),                       \
        PHI__MODES_READS("ls|cat|head|tail|wc|nl|tac|stat|du|diff|cmp|comm|cut|tr *", NULL),       \
        PHI__MODES_READS("rev|column|paste|fold|realpath|readlink|strings|od|hexdump *", NULL),    \
        PHI__MODES_READS("md5sum|sha1sum|sha256sum|sha512sum|cksum *", NULL),                      \
        PHI__MODES_READS("file *", "-C --c*"), PHI__MODES_READS("jq *", "*import* *include*"),     \
        PHI__MODES_READS("grep|egrep|fgrep *", NULL), PHI__MODES_READS("uniq", NULL),              \
        PHI__MODES_READS("uniq -c|-d|-u|-i", NULL), PHI__MODES_READS("cd [!-]*", NULL),            \
        PHI__MODES_READS("rg *", "--pre* --hostname-bin*"), PHI__MODES_READS("tree *", "-o -R"),   \
        PHI__MODES_READS("sort *", "-o --o* --co* -T --t* --fil*"),                                \
        PHI__MODES_READS("find *", "-delete -fprint* -fls -files0*"),                              \
        PHI__MODES_READS("git status|log|diff|show|blame|describe|shortlog|rev-parse *",           \
                         "--out* --ext* --textc*"),                                                \
        PHI__MODES_READS("git ls-files|ls-tree|rev-list|merge-base|cat-file *",                    \
                         "--out* --text* --filter*"),                                              \
        PHI__MODES_READS("git branch|tag|remote|reflog", NULL),                                    \
        PHI__MODES_READS("git branch -a|-r|-v|-vv|--list|--show-current", NULL),                   \
        PHI__MODES_READS("git remote -v", NULL),                                                   \
        PHI__MODES_READS("git stash|worktree list", NULL),                                         \
        PHI__MODES_READS("git grep *", "-O --op*"),                                                \
        PHI__MODES_READS("git config --get|--list|-l *", NULL)

/* What nobody means, and what cannot be undone. */
#define PHI__MODES_DESTRUCTIVE                                                                     \
    PHI__MODES_DENY("rm *", "-r|-R|--r* " PHI__MODES_ROOTS, NULL, NULL,                            \
                    "it deletes the system or the home directory"),                                \
        PHI__MODES_DENY_PATH("rm *", "-r|-R|--r*",                                                 \
                             PHI__MODES_SYSTEM_PATHS "|" PHI__MODES_HOME_PATHS,                    \
                             "it deletes the system or the home directory"),                       \
        PHI__MODES_DENY_PATH("find *", "-delete", PHI__MODES_SYSTEM_PATHS,                         \
                             "it deletes the system or the home directory"),                       \
        PHI__MODES_DENY_PATH("chmod|chown|chgrp *", "-R|--r*", PHI__MODES_SYSTEM_PATHS,            \
                             "it changes the modes or owners of the whole system"),                \
        PHI__MODES_DENY_PATH("tee|cp|mv|install|truncate *", NULL, PHI__MODES_DISKS,               \
                             "it overwrites a disk"),                                              \
        PHI__MODES_DENY("rm *", "/[*]|~/[*]|$HOME/[*]|--no-preserve-root", NULL, NULL,             \
                        "it deletes the system or the home directory"),                            \
        PHI__MODES_DENY("find *", "-delete " PHI__MODES_ROOTS, NULL, NULL,                         \
                        "it deletes the system or the home directory"),                            \
        PHI__MODES_DENY("chmod|chown|chgrp *", "-R|--recursive " PHI__MODES_ROOTS, NULL, NULL,     \
                        "it changes the modes or owners of the whole system"),                     \
        PHI__MODES_DENY("mkfs|mkfs.*|mke2fs|mkswap|wipefs *", NULL, NULL, NULL,                    \
                        "it overwrites a disk"),                                                   \
        PHI__MODES_DENY("dd *", "of=/dev/*", NULL, NULL, "it overwrites a disk"),                  \
        PHI__MODES_DENY("shred *", "/dev/*", NULL, NULL, "it overwrites a disk"),                  \
        PHI__MODES_TOOL(DENY, "write_file|edit_file", PHI__MODES_DISKS, "it overwrites a disk"),   \
        PHI__MODES_DENY(":(){:[|]:&};:", NULL, NULL, NULL, "it is a fork bomb"),                   \
        PHI__MODES_DENY(PHI__MODES_SHELLS " *", NULL, "-c", "curl|wget|fetch",                     \
                        "it runs what it downloads"),                                              \
        PHI__MODES_DENY("python|python3|perl|ruby|node|php", NULL, NULL, "curl|wget|fetch",        \
                        "it runs what it downloads"),                                              \
        PHI__MODES_DENY("python|python3|perl|ruby|node|php -", NULL, NULL, "curl|wget|fetch",      \
                        "it runs what it downloads"),                                              \
        PHI__MODES_DENY(PHI__MODES_SHELLS "|eval|source|. *",                                      \
                        "*$(curl*|*$(wget*|*<(curl*|*<(wget*|*`curl*|*`wget*", NULL, NULL,         \
                        "it runs what it downloads"),                                              \
        PHI__MODES_TOOL(DENY, NULL, "**/.ssh/id_*|**/.gnupg/**|**/.aws/credentials",               \
                        "private keys are not for a model")

#define PHI__MODES_SECRETS                                                                         \
    PHI__MODES_TOOL(ASK, NULL,                                                                     \
                    "**/.env|**/.env.*|**/*.pem|**/*.key|**/.ssh/**|**/.netrc|**/.npmrc|"          \
                    "**/.git-credentials|**/.docker/config.json|**/.kube/config",                  \
                    "it may hold secrets"),                                                        \
        PHI__MODES_TOOL(ASK, "write_file|edit_file", "**/.git/**", "git runs what stands there"),  \
    {                                                                                              \
        PHI_PERMISSION_ASK, NULL, "cp|mv|ln|tee|touch|mkdir|install|cd|pushd *", NULL, NULL, NULL, \
            "**/.git/**", NULL, NULL, NULL, "git runs what stands there"                           \
    }

static const phi_permission_rule phi__modes_default[] = {PHI__MODES_READING, PHI__MODES_DESTRUCTIVE,
                                                         PHI__MODES_SECRETS};
static const phi_permission_rule phi__modes_edits[] = {
    PHI__MODES_READING,
    PHI__MODES_DESTRUCTIVE,
    PHI__MODES_SECRETS,
    PHI__MODES_TOOL(ALLOW, "write_file|edit_file", "./**", "edits are accepted"),
    {PHI_PERMISSION_ALLOW, "bash", "mkdir|touch|cp|mv *", NULL, NULL, NULL, "./**", NULL, NULL,
     NULL, "edits are accepted"}};
static const phi_permission_rule phi__modes_all[] = {
    PHI__MODES_DESTRUCTIVE, PHI__MODES_TOOL(ALLOW, NULL, NULL, "all is allowed")};

static const phi_permission_rules phi__modes[] = {
    {phi__modes_default, PHI__COUNT(phi__modes_default), PHI_PERMISSION_ASK},
    {phi__modes_default, PHI__COUNT(phi__modes_default), PHI_PERMISSION_DENY},
    {phi__modes_edits, PHI__COUNT(phi__modes_edits), PHI_PERMISSION_ASK},
    {phi__modes_all, PHI__COUNT(phi__modes_all), PHI_PERMISSION_ASK},
};

/* ---- public ---- */

PHI_API const phi_permission_rules *phi_permissions_mode(phi_permission_mode mode) {
    return &phi__modes[(size_t)mode < PHI__COUNT(phi__modes) ? (size_t)mode : 0];
}

#endif
#undef PHI__MODES_TOOL
#undef PHI__MODES_READS
#undef PHI__MODES_PLAIN
#undef PHI__MODES_KNOWN
#undef PHI__MODES_DENY
#undef PHI__MODES_DENY_PATH
#undef PHI__MODES_SHELLS
#undef PHI__MODES_HOMES
#undef PHI__MODES_ROOTS
#undef PHI__MODES_SYSTEM_PATHS
#undef PHI__MODES_HOME_PATHS
#undef PHI__MODES_DISKS
#undef PHI__MODES_READING
#undef PHI__MODES_DESTRUCTIVE
#undef PHI__MODES_SECRETS

/* ---- src/permissions/permissions.c ---- */

/* permissions.c - permissions of a host: rules in use, the verdict on a call, and the hook. */


#ifndef PHI_NO_PERMISSIONS

/* ---- copies of rules ---- */

static bool phi__permissions_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__permissions_copy_rule(phi_arena *arena, phi_permission_rule *rule) {
    return phi__permissions_text(arena, &rule->tool) &&
           phi__permissions_text(arena, &rule->command) &&
           phi__permissions_text(arena, &rule->with) &&
           phi__permissions_text(arena, &rule->without) &&
           phi__permissions_text(arena, &rule->piped) &&
           phi__permissions_text(arena, &rule->path) && phi__permissions_text(arena, &rule->host) &&
           phi__permissions_text(arena, &rule->argument) &&
           phi__permissions_text(arena, &rule->matches) &&
           phi__permissions_text(arena, &rule->reason);
}

static bool phi__permissions_copy(phi_arena *arena, const phi_permission_rule *rules, size_t count,
                                  phi_permission_rule *out) {
    size_t i;
    for (i = 0; i < count; i++) {
        out[i] = rules[i];
        if (!phi__permissions_copy_rule(arena, &out[i])) return false;
    }
    return true;
}

/* Both lists, one behind the other, in place of the old. */
static phi_status phi__permissions_use(phi_permissions *p, const phi_permission_rules *old,
                                       const phi_permission_rule *more, size_t count) {
    phi_arena arena;
    phi_permission_rule *all;
    phi_permission otherwise = old->otherwise;
    size_t n = phi__add(old->count, count);
    phi_arena_init(&arena, &p->memory, 0);
    all = (phi_permission_rule *)phi_arena_alloc(&arena, phi__mul(n, sizeof *all));
    if (all == NULL || !phi__permissions_copy(&arena, old->rules, old->count, all) ||
        !phi__permissions_copy(&arena, more, count, all + old->count)) {
        phi_arena_free(&arena);
        return PHI_NO_MEMORY;
    }
    phi_arena_free(&p->rules_arena);
    p->rules_arena = arena;
    p->rules.rules = all;
    p->rules.count = n;
    p->rules.otherwise = otherwise;
    return PHI_OK;
}

/* ---- the verdict ---- */

typedef struct phi__permissions_verdict {
    phi_permissions *permissions;
    phi_permission strictest;
    bool any;
} phi__permissions_verdict;

static int phi__permissions_rank(phi_permission verdict) {
    return verdict == PHI_PERMISSION_DENY ? 2 : verdict == PHI_PERMISSION_ALLOW ? 0 : 1;
}

/* The words are of the first part with the strictest verdict. */
static phi_status phi__permissions_part(void *ctx, const phi__check_part *part) {
    static const char *const says[] = {"allowed: ", "to be approved: ", "denied: "};
    phi__permissions_verdict *v = (phi__permissions_verdict *)ctx;
    phi__buf *why = &v->permissions->why;
    int rank = phi__permissions_rank(part->verdict);
    if (v->any && rank <= phi__permissions_rank(v->strictest)) return PHI_OK;
    v->any = true;
    v->strictest = part->verdict;
    phi__buf_clear(why);
    phi__buf_text(why, says[rank]);
    phi__check_put(why, part->subject);
    phi__buf_text(why, ": ");
    if (part->rule == NULL)
        phi__buf_text(why, rank == 0 ? "nothing forbids it" : "no rule allows it");
    else
        phi__buf_text(why, part->rule->reason != NULL ? part->rule->reason : "a rule says so");
    return PHI_OK;
}

static phi_permission phi__permissions_decide(phi_permissions *p, phi_str tool_name,
                                              phi_str arguments) {
    /* a line without any command is allowed */
    phi__permissions_verdict v = {p, PHI_PERMISSION_ALLOW, false};
    phi_arena scratch;
    phi_status status;
    phi__buf_clear(&p->why);
    phi_arena_init(&scratch, &p->memory, 0);
    status = phi__check_parts(p, &scratch, tool_name, arguments, phi__permissions_part, &v);
    phi_arena_free(&scratch);
    if (status == PHI_OK && !p->why.failed) return v.strictest;
    phi__buf_clear(&p->why);
    phi__buf_text(&p->why, "to be approved: there is no memory to check it");
    return v.strictest == PHI_PERMISSION_DENY ? v.strictest : PHI_PERMISSION_ASK;
}

/* ---- the hook ---- */

static phi_verdict phi__permissions_call(phi_permissions *p, phi_hook_fn fn, phi_hook *hook) {
    phi_verdict verdict;
    bool busy = p->busy;
    p->busy = true;
    verdict = fn(p->user_data, hook);
    p->busy = busy;
    if (p->freed && !busy) {
        hook->text = phi__str(NULL, 0);
        phi_permissions_free(p);
    }
    return verdict;
}

static phi_verdict phi__permissions_ask(phi_permissions *p, phi_hook *hook) {
    if (p->ask_fn != NULL) {
        phi__buf_clear(&p->question);
        phi__buf_add_str(&p->question, phi__buf_str(&p->why));
        hook->text = phi__buf_str(&p->question);
        return phi__permissions_call(p, p->ask_fn, hook);
    }
    phi__buf_text(&p->why, "; there is nobody to ask");
    hook->reply =
        p->why.failed ? PHI__LIT("Not approved: there is nobody to ask.") : phi__buf_str(&p->why);
    return PHI_DENY;
}

/* ---- public ---- */

PHI_API phi_verdict phi_permissions_hook(void *permissions, phi_hook *hook) {
    phi_permissions *p = (phi_permissions *)permissions;
    phi_permission verdict = PHI_PERMISSION_ALLOW;
    if (hook->point == PHI_HOOK_BEFORE_TOOL)
        verdict = phi__permissions_decide(p, hook->tool_name, hook->arguments);
    if (verdict == PHI_PERMISSION_DENY) {
        hook->reply = p->why.failed ? PHI__LIT("Denied.") : phi__buf_str(&p->why);
        return PHI_DENY;
    }
    if (verdict == PHI_PERMISSION_ASK) return phi__permissions_ask(p, hook);
    return p->hook_fn != NULL ? phi__permissions_call(p, p->hook_fn, hook) : PHI_ALLOW;
}

PHI_API phi_permission phi_permissions_check(phi_permissions *permissions, phi_str tool_name,
                                             phi_str arguments, phi_str *why) {
    phi_permission verdict;
    if (permissions == NULL) return PHI_PERMISSION_DENY;
    verdict = phi__permissions_decide(permissions, tool_name, arguments);
    if (why != NULL) *why = phi__buf_str(&permissions->why);
    return verdict;
}

PHI_API phi_permissions *phi_permissions_new(const phi_permissions_desc *given,
                                             phi_status *status) {
    phi_permissions_desc desc;
    phi_permissions *p;
    phi_memory memory;
    memset(&desc, 0, sizeof desc);
    if (given != NULL) desc = *given;
    if (status != NULL) *status = PHI_BAD_ARG;
    if ((desc.workspace != NULL && desc.workspace[0] != '/') ||
        (desc.home != NULL && desc.home[0] != '/'))
        return NULL;
    if (status != NULL) *status = PHI_NO_MEMORY;
    phi_memory_init(&memory, &desc.allocator, 0);
    p = (phi_permissions *)phi__alloc(&memory, sizeof *p);
    if (p == NULL) return NULL;
    p->memory = memory; /* it counts the object itself */
    phi_arena_init(&p->arena, &p->memory, 0);
    phi_arena_init(&p->rules_arena, &p->memory, 0);
    phi__buf_init(&p->why, &p->memory);
    phi__buf_init(&p->question, &p->memory);
    p->workspace = desc.workspace;
    p->home = desc.home;
    p->shell_tools = desc.shell_tools != NULL ? desc.shell_tools : "bash";
    p->ask_fn = desc.ask_fn;
    p->hook_fn = desc.hook_fn;
    p->user_data = desc.user_data;
    if (desc.rules == NULL) desc.rules = phi_permissions_mode(PHI_PERMISSION_MODE_DEFAULT);
    if (!phi__permissions_text(&p->arena, &p->workspace) ||
        !phi__permissions_text(&p->arena, &p->home) ||
        !phi__permissions_text(&p->arena, &p->shell_tools) ||
        phi__permissions_use(p, desc.rules, NULL, 0) != PHI_OK) {
        phi_permissions_free(p);
        return NULL;
    }
    if (status != NULL) *status = PHI_OK;
    return p;
}

PHI_API void phi_permissions_free(phi_permissions *permissions) {
    phi_memory memory;
    if (permissions == NULL) return;
    if (permissions->busy) {
        permissions->freed = true;
        return;
    }
    phi__buf_free(&permissions->why);
    phi__buf_free(&permissions->question);
    phi_arena_free(&permissions->rules_arena);
    phi_arena_free(&permissions->arena);
    memory = permissions->memory;
    phi__free(&memory, permissions, sizeof *permissions);
}

PHI_API phi_status phi_permissions_set(phi_permissions *permissions,
                                       const phi_permission_rules *rules) {
    if (permissions == NULL || rules == NULL) return PHI_BAD_ARG;
    if (permissions->busy) return PHI_MISUSE;
    return phi__permissions_use(permissions, rules, NULL, 0);
}

PHI_API phi_status phi_permissions_add(phi_permissions *permissions,
                                       const phi_permission_rule *rules, size_t count) {
    if (permissions == NULL || (rules == NULL && count > 0)) return PHI_BAD_ARG;
    if (permissions->busy) return PHI_MISUSE;
    return phi__permissions_use(permissions, &permissions->rules, rules, count);
}

PHI_API const phi_permission_rules *phi_permissions_rules(const phi_permissions *permissions) {
    return permissions != NULL ? &permissions->rules : NULL;
}

#endif

/* ---- src/permissions/rules.c ---- */

/* rules.c - matching rules of permissions. */


#ifndef PHI_NO_PERMISSIONS

enum { PHI__RULES_PATH_MOST = 4095 }; /* bytes: no file has a longer path */

static bool phi__rules_allows(const phi_permission_rule *rule) {
    return rule->verdict == PHI_PERMISSION_ALLOW;
}

static bool phi__rules_any(const char *pattern, phi_str text) {
    return phi__wildcard_any(phi_str_of(pattern), text, false);
}

static bool phi__rules_holds(phi_str text, const char *chars) {
    size_t i;
    for (i = 0; i < text.len; i++)
        if (text.at[i] != '\0' && strchr(chars, text.at[i]) != NULL) return true;
    return false;
}

/* ---- paths ---- */

/* Adds the parts of a path, without "." and "..", each with a slash before it. */
static void phi__rules_parts(phi__buf *out, phi_str path, size_t root) {
    size_t i = 0;
    while (i < path.len) {
        size_t from = i;
        phi_str part;
        while (i < path.len && path.at[i] != '/') i++;
        part = phi__str(path.at + from, i - from);
        i++;
        if (part.len == 0 || phi__str_is(part, ".")) continue;
        if (phi__str_is(part, "..")) {
            if (root > 0 && out->len == root && !out->failed)
                out->at[0] = '^'; /* above it, for good */
            while (out->len > root && out->at[--out->len] != '/') continue;
            continue;
        }
        phi__buf_char(out, '/');
        phi__buf_add_str(out, part);
    }
}

static phi_str phi__rules_after(phi_str text, size_t n) {
    return phi__str(text.at + n, text.len - n);
}

/* Bytes of a leading ~ or $HOME that stands for the home directory; 0: none. */
static size_t phi__rules_home(phi_str path) {
    static const char *const names[] = {"~", "$HOME", "${HOME}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (phi__str_starts(path, names[i]) && (path.len == n || path.at[n] == '/')) return n;
    }
    return 0;
}

/* Absolute, or below "." or "~" where the directories are not known, or above these: "^". */
static void phi__rules_resolve(const phi__rules_subject *subject, phi_str path, phi__buf *out) {
    size_t home = phi__rules_home(path);
    if (home > 0) {
        path = phi__rules_after(path, home);
        if (subject->home != NULL)
            phi__rules_parts(out, phi_str_of(subject->home), 0);
        else
            phi__buf_char(out, '~');
        phi__rules_parts(out, path, subject->home != NULL ? 0 : 1);
    } else if (path.len > 0 && path.at[0] == '/') {
        phi__rules_parts(out, path, 0);
    } else if (path.len > 0 && path.at[0] == '~') { /* of another person, or ~+ */
        phi__buf_char(out, '^');
        phi__rules_parts(out, path, 1);
    } else if (subject->workspace != NULL) {
        phi__rules_parts(out, phi_str_of(subject->workspace), 0);
        phi__rules_parts(out, path, 0);
    } else {
        phi__buf_char(out, '.');
        phi__rules_parts(out, path, 1);
    }
    if (out->len == 0) phi__buf_char(out, '/');
}

static void phi__rules_lower(phi__buf *text) {
    size_t i;
    for (i = 0; i < text->len; i++)
        if (text->at[i] >= 'A' && text->at[i] <= 'Z') text->at[i] = (char)(text->at[i] + 32);
}

/* One alternative of a rule's path against a resolved path. fold: capitals are small letters. */
static bool phi__rules_path_one(phi__rules_subject *subject, phi_str pattern, phi_str resolved,
                                bool fold) {
    phi__buf whole;
    bool matches;
    phi__buf_init(&whole, subject->memory);
    if (phi__str_starts(pattern, "**"))
        phi__buf_add_str(&whole, pattern);
    else
        phi__rules_resolve(subject, pattern, &whole);
    if (fold) phi__rules_lower(&whole);
    matches = phi__wildcard_any(phi__buf_str(&whole), resolved, true);
    if (whole.failed) subject->lost = true;
    phi__buf_free(&whole);
    return matches;
}

/* Whether a file of that name is one of the rule's. .GIT is .git in many file systems, so rules
   that ask or deny match capitals and small letters alike. */
static bool phi__rules_path(phi__rules_subject *subject, const phi_permission_rule *rule,
                            phi_str path) {
    phi_str pattern = phi_str_of(rule->path), one;
    bool negative = pattern.len > 0 && pattern.at[0] == '!', found = false;
    bool fold = !negative && !phi__rules_allows(rule);
    phi__buf resolved;
    if (path.len > PHI__RULES_PATH_MOST) return !phi__rules_allows(rule);
    if (negative) pattern = phi__rules_after(pattern, 1);
    phi__buf_init(&resolved, subject->memory);
    phi__rules_resolve(subject, path, &resolved);
    if (fold) phi__rules_lower(&resolved);
    while (!found && phi__wildcard_next(&pattern, &one))
        found = phi__rules_path_one(subject, one, phi__buf_str(&resolved), fold);
    if (resolved.failed) subject->lost = true;
    phi__buf_free(&resolved);
    return found != negative;
}

/* The part of a word that may be a path: of an option, its value. */
static phi_str phi__rules_value(phi_str word) {
    const char *at;
    if (word.len == 0) return word;
    at = (const char *)memchr(word.at, '=', word.len);
    if (at != NULL) return phi__rules_after(word, (size_t)(at + 1 - word.at));
    if (word.at[0] != '-') return word;
    at = (const char *)memchr(word.at, '/', word.len);
    return at != NULL ? phi__rules_after(word, (size_t)(at - word.at)) : phi__str("", 0);
}

/* Whether a pattern of file names may match ".." (as in shells before bash 5.2), or hidden files,
   which rules name: .*, .?, .e* */
static bool phi__rules_hidden(phi_str text) {
    bool hidden = false;
    size_t i;
    for (i = 0; i < text.len; i++) {
        if (i == 0 || text.at[i - 1] == '/') hidden = text.at[i] == '.';
        if (hidden && text.at[i] != '\0' && strchr("*?[", text.at[i]) != NULL) return true;
    }
    return false;
}

/* For a rule that allows: whether this word is no path, or one of the rule's. */
static bool phi__rules_word_inside(phi__rules_subject *subject, const phi_permission_rule *rule,
                                   const phi__shell_word *word) {
    phi_str value = phi__rules_value(word->text);
    if (word->pipe) return true;
    if (!word->known && phi__rules_holds(word->text, "$`({")) return false;
    if (!word->known && phi__rules_hidden(word->text)) return false;
    if (phi__str_find(word->text, 0, "..") == SIZE_MAX && !phi__rules_holds(word->text, "/~"))
        return true;
    return phi__rules_path(subject, rule, value) && phi__rules_path(subject, rule, word->text);
}

/* For others: whether it, or the value of its option, is one of the rule's. */
static bool phi__rules_word_path(phi__rules_subject *subject, const phi_permission_rule *rule,
                                 phi_str word) {
    phi_str value = phi__rules_value(word);
    return phi__rules_path(subject, rule, word) ||
           (value.len != word.len && value.len > 0 && phi__rules_path(subject, rule, value));
}

static phi_str phi__rules_name(const phi__shell_command *c, bool anywhere) {
    phi_str name = c->count > 0 ? c->words[0].text : phi__str("", 0);
    size_t i;
    if (!anywhere && phi__str_starts(name, "/usr/bin/")) return phi__rules_after(name, 9);
    if (!anywhere && phi__str_starts(name, "/bin/")) return phi__rules_after(name, 5);
    for (i = name.len; anywhere && i > 0; i--)
        if (name.at[i - 1] == '/') return phi__rules_after(name, i);
    return name;
}

/* git runs programs that the configuration of its directory names, and files that look like a
   repository may be in any directory. */
static bool phi__rules_moved_git(const phi__rules_subject *subject) {
    size_t i;
    if (!phi__str_is(phi__rules_name(subject->command, true), "git")) return false;
    for (i = 0; i < subject->shell->count; i++) {
        phi_str name = phi__rules_name(&subject->shell->commands[i], true);
        if (phi__str_is(name, "cd") || phi__str_is(name, "pushd")) return true;
    }
    return false;
}

static bool phi__rules_command_path(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    size_t i;
    if (phi__rules_allows(rule)) {
        if (phi__rules_moved_git(subject)) return false;
        for (i = 1; i < c->count; i++)
            if (!phi__rules_word_inside(subject, rule, &c->words[i])) return false;
        return true;
    }
    for (i = 0; i < c->assigned_count; i++)
        if (phi__rules_path(subject, rule, phi__rules_value(c->assigned[i].text))) return true;
    for (i = 1; i < c->count; i++)
        if (phi__rules_word_path(subject, rule, c->words[i].text)) return true;
    return false;
}

/* ---- words ---- */

/* The words of a command against the words of a rule's pattern. */
static bool phi__rules_words(const phi__shell_command *c, const phi_permission_rule *rule) {
    bool allows = phi__rules_allows(rule);
    phi_str rest = phi_str_of(rule->command), pattern;
    size_t i = 0;
    if (phi__str_is(rest, "*")) return true;
    if (c->count == 0 || (allows && (!c->words[0].known || c->assigned_count > 0))) return false;
    while (phi__wildcard_word(&rest, &pattern)) {
        phi_str text;
        if (i > 0 && phi__str_is(pattern, "*") && phi__str_trim(rest).len == 0) return true;
        if (i >= c->count || (allows && !c->words[i].known)) return false;
        text = i == 0 ? phi__rules_name(c, !allows) : c->words[i].text;
        if (!phi__wildcard_any(pattern, text, false) &&
            (i > 0 || !phi__wildcard_any(pattern, c->words[0].text, false)))
            return false;
        i++;
    }
    return i == c->count;
}

/* Alternatives of which one is a word of the command; a letter's option is also one of several. */
static bool phi__rules_has(const phi__shell_command *c, phi_str alternatives) {
    phi_str one;
    size_t i;
    while (phi__wildcard_next(&alternatives, &one))
        for (i = 1; i < c->count; i++) {
            phi_str text = c->words[i].text;
            if (phi__wildcard_any(one, text, false)) return true;
            if (one.len == 2 && one.at[0] == '-' && one.at[1] != '-' && text.len > 1 &&
                text.at[0] == '-' && text.at[1] != '-' &&
                memchr(text.at + 1, one.at[1], text.len - 1) != NULL)
                return true;
        }
    return false;
}

static bool phi__rules_with(const phi__shell_command *c, const phi_permission_rule *rule) {
    phi_str rest = phi_str_of(rule->with), one;
    while (phi__wildcard_word(&rest, &one))
        if (!phi__rules_has(c, one)) return false;
    return true;
}

static bool phi__rules_without(const phi__shell_command *c, const phi_permission_rule *rule) {
    phi_str rest = phi_str_of(rule->without), one;
    size_t i;
    for (i = 1; phi__rules_allows(rule) && i < c->count; i++)
        if (!c->words[i].known) return false;
    while (phi__wildcard_word(&rest, &one))
        if (phi__rules_has(c, one)) return false;
    return true;
}

static bool phi__rules_piped(const phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    size_t i;
    if (!c->reads) return false;
    for (i = c->pipe_from; i < subject->shell->count; i++)
        if (i != subject->index && subject->shell->commands[i].pipe_from == c->pipe_from &&
            phi__rules_any(rule->piped, phi__rules_name(&subject->shell->commands[i], true)))
            return true;
    return false;
}

/* ---- hosts ---- */

PHI__FN bool phi__rules_host_of(phi_str url, phi__buf *out) {
    size_t at = phi__str_find(url, 0, "://"), end, i;
    bool port = false;
    if (at == SIZE_MAX || at == 0) return false;
    at += 3;
    /* a NUL, which strchr would find, does not end a host: it is refused below */
    for (end = at; end < url.len && (url.at[end] == '\0' || strchr("/?#", url.at[end]) == NULL);)
        end++;
    for (i = at; i < end; i++) {
        char c = url.at[i];
        if (c == '@' || c == '\\' || c == '%' || (unsigned char)c <= ' ') return false;
        if (c == ':' && url.at[at] != '[')
            port = true;
        else if (port && (c < '0' || c > '9'))
            return false;
        if (!port) phi__buf_char(out, c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c);
    }
    return out->len > 0 && !out->failed;
}

static bool phi__rules_url(phi__rules_subject *subject, const phi_permission_rule *rule,
                           phi_str url) {
    phi__buf host;
    bool matches;
    phi__buf_init(&host, subject->memory);
    matches = phi__rules_host_of(url, &host) && phi__rules_any(rule->host, phi__buf_str(&host));
    if (host.failed) subject->lost = true;
    phi__buf_free(&host);
    return matches;
}

static bool phi__rules_host(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    size_t i, urls = 0, good = 0;
    if (c == NULL) {
        const phi_json *url = phi_json_get(subject->root, "url");
        if (url == NULL) url = phi_json_get(subject->root, "uri");
        return phi__rules_url(subject, rule, phi_json_str(url, ""));
    }
    for (i = 1; i < c->count; i++) {
        bool plain = phi__str_find(c->words[i].text, 0, "://") == SIZE_MAX;
        if (plain && (c->words[i].known && phi__str_starts(c->words[i].text, "-"))) continue;
        urls++;
        good += (c->words[i].known || !phi__rules_allows(rule)) &&
                phi__rules_url(subject, rule, c->words[i].text);
    }
    return phi__rules_allows(rule) ? urls > 0 && good == urls : good > 0;
}

/* ---- arguments of tools ---- */

static const char *const phi__rules_path_names[] = {"path", "file_path", "file", "filename",
                                                    "directory"};

PHI__FN phi_str phi__rules_path_of(const phi_json *root) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__rules_path_names); i++) {
        const phi_json *member = phi_json_get(root, phi__rules_path_names[i]);
        if (phi_json_is_string(member)) return phi_json_str(member, "");
    }
    return phi__str(NULL, 0);
}

/* Each member that may be the path: a tool heeds one of them, and others may be a decoy. */
static bool phi__rules_tool_paths(phi__rules_subject *subject, const phi_permission_rule *rule,
                                  bool *found) {
    bool allows = phi__rules_allows(rule), matches = allows;
    size_t i;
    *found = false;
    for (i = 0; i < PHI__COUNT(phi__rules_path_names); i++) {
        const phi_json *member = phi_json_get(subject->root, phi__rules_path_names[i]);
        if (!phi_json_is_string(member)) continue;
        *found = true;
        if (phi__rules_path(subject, rule, phi_json_str(member, "")) != allows) matches = !allows;
    }
    return *found && matches;
}

static bool phi__rules_tool_path(phi__rules_subject *subject, const phi_permission_rule *rule) {
    phi_str path = phi__rules_path_of(subject->root);
    bool found, matches = phi__rules_tool_paths(subject, rule, &found);
    if (found && (rule->argument == NULL || rule->matches != NULL)) return matches;
    if (rule->argument != NULL && rule->matches == NULL)
        path = phi_json_str(phi_json_get(subject->root, rule->argument), "");
    /* these two look at the workspace where they are given no path */
    if (path.at == NULL &&
        (phi__str_is(subject->tool, "list_files") || phi__str_is(subject->tool, "search")))
        path = PHI__LIT(".");
    return path.at != NULL && phi__rules_path(subject, rule, path);
}

static bool phi__rules_argument(const phi__rules_subject *subject,
                                const phi_permission_rule *rule) {
    const phi_json *member;
    if (rule->argument == NULL) return phi__rules_any(rule->matches, subject->arguments);
    member = phi_json_get(subject->root, rule->argument);
    return phi_json_is_string(member) && phi__rules_any(rule->matches, phi_json_str(member, ""));
}

/* ---- rules ---- */

/* It restricts commands: their words, or what they work on. */
static bool phi__rules_narrow(const phi_permission_rule *rule) {
    return (rule->command != NULL && strcmp(rule->command, "*") != 0) || rule->with != NULL ||
           rule->without != NULL || rule->piped != NULL || rule->path != NULL || rule->host != NULL;
}

static bool phi__rules_file(phi__rules_subject *subject, const phi_permission_rule *rule) {
    static const char *const tools[] = {"read_file", "write_file"};
    const char *tool = tools[subject->writes ? 1 : 0];
    if (!phi__rules_narrow(rule) &&
        (rule->tool == NULL || phi__rules_any(rule->tool, subject->tool)))
        return rule->matches == NULL || phi__rules_argument(subject, rule);
    if (rule->command != NULL || rule->with != NULL || rule->without != NULL ||
        rule->piped != NULL || rule->host != NULL || rule->matches != NULL)
        return false;
    if (rule->tool != NULL && !phi__rules_any(rule->tool, phi_str_of(tool))) return false;
    if (rule->path == NULL) return true;
    if (phi__rules_allows(rule) && !subject->path.known) return false;
    return phi__rules_path(subject, rule, subject->path.text);
}

static bool phi__rules_command(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    if (rule->command != NULL && !phi__rules_words(c, rule)) return false;
    if (rule->with != NULL && !phi__rules_with(c, rule)) return false;
    if (rule->without != NULL && !phi__rules_without(c, rule)) return false;
    if (rule->piped != NULL && !phi__rules_piped(subject, rule)) return false;
    if (rule->path != NULL && !phi__rules_command_path(subject, rule)) return false;
    return rule->host == NULL || phi__rules_host(subject, rule);
}

static bool phi__rules_match(phi__rules_subject *subject, const phi_permission_rule *rule) {
    if (subject->file) return phi__rules_file(subject, rule);
    if (rule->tool != NULL && !phi__rules_any(rule->tool, subject->tool)) return false;
    if (rule->matches != NULL && !phi__rules_argument(subject, rule)) return false;
    if (subject->line) return !phi__rules_narrow(rule);
    if (subject->command != NULL) return phi__rules_command(subject, rule);
    if (rule->command != NULL || rule->with != NULL || rule->without != NULL || rule->piped != NULL)
        return false;
    if (rule->path != NULL && !phi__rules_tool_path(subject, rule)) return false;
    return rule->host == NULL || phi__rules_host(subject, rule);
}

/* ---- for other files ---- */

PHI__FN phi_permission phi__rules_decide(const phi_permission_rules *rules,
                                         phi__rules_subject *subject,
                                         const phi_permission_rule **which) {
    size_t i;
    *which = NULL;
    for (i = 0; i < rules->count; i++) {
        const phi_permission_rule *rule = &rules->rules[i];
        if (*which != NULL && rule->verdict != PHI_PERMISSION_DENY &&
            (*which)->verdict == PHI_PERMISSION_ASK)
            continue;
        if (!phi__rules_match(subject, rule)) continue;
        if (*which == NULL || rule->verdict != PHI_PERMISSION_ALLOW) *which = rule;
        if (rule->verdict == PHI_PERMISSION_DENY) break;
    }
    return *which != NULL ? (*which)->verdict : rules->otherwise;
}

PHI__FN bool phi__rules_restrict(const phi_permission_rules *rules,
                                 const phi__rules_subject *subject) {
    size_t i;
    for (i = 0; i < rules->count; i++) {
        const phi_permission_rule *rule = &rules->rules[i];
        if (!phi__rules_allows(rule) && phi__rules_narrow(rule) &&
            (rule->tool == NULL || phi__rules_any(rule->tool, subject->tool)))
            return true;
    }
    return false;
}

#endif

/* ---- src/permissions/rules_json.c ---- */

/* rules_json.c - rules of permissions out of JSON, and as JSON. */

#ifndef PHI_NO_PERMISSIONS


#include <stdio.h>

/* Where the members of a rule are. */
typedef struct phi__rules_json_member {
    const char *name;
    size_t at;
} phi__rules_json_member;

static const phi__rules_json_member phi__rules_json_members[] = {
    {"tool", offsetof(phi_permission_rule, tool)},
    {"command", offsetof(phi_permission_rule, command)},
    {"with", offsetof(phi_permission_rule, with)},
    {"without", offsetof(phi_permission_rule, without)},
    {"piped", offsetof(phi_permission_rule, piped)},
    {"path", offsetof(phi_permission_rule, path)},
    {"host", offsetof(phi_permission_rule, host)},
    {"argument", offsetof(phi_permission_rule, argument)},
    {"matches", offsetof(phi_permission_rule, matches)},
    {"reason", offsetof(phi_permission_rule, reason)}};

static const char *const phi__rules_json_verdicts[] = {"ask", "allow", "deny"};

static const char **phi__rules_json_field(phi_permission_rule *rule, size_t i) {
    return (const char **)(void *)((char *)rule + phi__rules_json_members[i].at);
}

static phi_status phi__rules_json_refuse(phi_parse_error *error, const char *place, phi_str found,
                                         const char *expected) {
    if (error == NULL) return PHI_PARSE;
    memset(error, 0, sizeof *error);
    if (found.len > 0)
        (void)snprintf(error->message, sizeof error->message, "%s \"%.*s\": expected %s", place,
                       (int)phi__min(found.len, 40), found.at, expected);
    else
        (void)snprintf(error->message, sizeof error->message, "%s: expected %s", place, expected);
    return PHI_PARSE;
}

static bool phi__rules_json_verdict(const phi_json *node, phi_permission *out) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__rules_json_verdicts); i++)
        if (phi__str_is(phi_json_str(node, ""), phi__rules_json_verdicts[i])) {
            *out = (phi_permission)i;
            return true;
        }
    return false;
}

/* One member of rules[index]. */
static phi_status phi__rules_json_take(const phi_json *node, phi_str key, size_t index,
                                       phi_permission_rule *out, phi_parse_error *error) {
    char place[64];
    size_t i;
    phi_str text = phi_json_str(node, "");
    if (phi__str_is(key, "verdict")) {
        (void)snprintf(place, sizeof place, "rules[%u].verdict", (unsigned)index);
        if (phi__rules_json_verdict(node, &out->verdict)) return PHI_OK;
        return phi__rules_json_refuse(error, place, text, "allow, ask or deny");
    }
    (void)snprintf(place, sizeof place, "rules[%u]: member", (unsigned)index);
    for (i = 0; i < PHI__COUNT(phi__rules_json_members); i++) {
        if (!phi__str_is(key, phi__rules_json_members[i].name)) continue;
        if (!phi_json_is_string(node) || memchr(text.at, '\0', text.len) != NULL)
            return phi__rules_json_refuse(error, place, key, "a string");
        *phi__rules_json_field(out, i) = text.at; /* terminated, in the arena */
        return PHI_OK;
    }
    return phi__rules_json_refuse(error, place, key,
                                  "verdict, tool, command, with, without, piped, path, host, "
                                  "argument, matches or reason");
}

static phi_status phi__rules_json_rule(const phi_json *node, size_t index, phi_permission_rule *out,
                                       phi_parse_error *error) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *member;
    phi_status status = PHI_OK;
    char place[64];
    (void)snprintf(place, sizeof place, "rules[%u]", (unsigned)index);
    if (!phi_json_is_object(node))
        return phi__rules_json_refuse(error, place, phi_str_of(phi_json_type_name(node)),
                                      "an object");
    memset(out, 0, sizeof *out);
    while (status == PHI_OK && (member = phi_json_next(&it)) != NULL)
        status = phi__rules_json_take(member, it.key, index, out, error);
    if (status == PHI_OK && phi_json_get(node, "verdict") == NULL)
        return phi__rules_json_refuse(error, place, phi__str("", 0), "a verdict");
    return status;
}

static phi_status phi__rules_json_list(phi_arena *arena, const phi_json *node,
                                       phi_permission_rules *out, phi_parse_error *error) {
    size_t n = phi_json_count(node), i;
    phi_json_iter it = phi_json_each(node);
    phi_permission_rule *rules;
    phi_status status = PHI_OK;
    if (!phi_json_is_array(node))
        return phi__rules_json_refuse(error, "rules", phi_str_of(phi_json_type_name(node)),
                                      "an array");
    rules = (phi_permission_rule *)phi_arena_alloc(arena, phi__mul(n + 1, sizeof *rules));
    if (rules == NULL) return PHI_NO_MEMORY;
    for (i = 0; i < n && status == PHI_OK; i++)
        status = phi__rules_json_rule(phi_json_next(&it), i, &rules[i], error);
    out->rules = rules;
    out->count = n;
    return status;
}

static phi_status phi__rules_json_read(phi_arena *arena, const phi_json *root,
                                       phi_permission_rules *out, phi_parse_error *error) {
    phi_json_iter it = phi_json_each(root);
    const phi_json *member;
    phi_status status = PHI_OK;
    if (!phi_json_is_object(root))
        return phi__rules_json_refuse(error, "permissions", phi_str_of(phi_json_type_name(root)),
                                      "an object");
    while (status == PHI_OK && (member = phi_json_next(&it)) != NULL) {
        if (phi__str_is(it.key, "rules"))
            status = phi__rules_json_list(arena, member, out, error);
        else if (!phi__str_is(it.key, "otherwise"))
            status = phi__rules_json_refuse(error, "member", it.key, "rules or otherwise");
        else if (!phi__rules_json_verdict(member, &out->otherwise))
            status = phi__rules_json_refuse(error, "otherwise", phi_json_str(member, ""),
                                            "allow, ask or deny");
    }
    return status;
}

static void phi__rules_json_put(phi__buf *out, const phi_permission_rule *rule) {
    phi_permission_rule copy = *rule;
    size_t i;
    phi__buf_text(out, "{\"verdict\":\"");
    phi__buf_text(
        out, phi__rules_json_verdicts[rule->verdict <= PHI_PERMISSION_DENY ? rule->verdict
                                                                           : PHI_PERMISSION_ASK]);
    phi__buf_char(out, '"');
    for (i = 0; i < PHI__COUNT(phi__rules_json_members); i++) {
        const char *text = *phi__rules_json_field(&copy, i);
        if (text == NULL) continue;
        phi__buf_text(out, ",\"");
        phi__buf_text(out, phi__rules_json_members[i].name);
        phi__buf_text(out, "\":");
        phi__json_write_str(out, phi_str_of(text));
    }
    phi__buf_char(out, '}');
}

/* ---- public ---- */

PHI_API phi_status phi_permissions_from_json(phi_arena *arena, phi_str text,
                                             phi_permission_rules *out, phi_parse_error *error) {
    phi_arena_mark mark;
    phi_json *root = NULL;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    mark = phi_arena_save(arena);
    memset(out, 0, sizeof *out);
    status = phi_json_parse(arena, text, 0, &root, error);
    if (status == PHI_OK) status = phi__rules_json_read(arena, root, out, error);
    if (status != PHI_OK) {
        phi_arena_reset(arena, mark);
        memset(out, 0, sizeof *out);
    }
    return status;
}

PHI_API phi_status phi_permissions_to_json(phi_arena *arena, const phi_permission_rules *rules,
                                           phi_str *out) {
    phi__buf buf;
    bool good;
    size_t i;
    if (arena == NULL || rules == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&buf, arena->memory);
    phi__buf_text(&buf, "{\"rules\":[");
    for (i = 0; i < rules->count; i++) {
        phi__buf_text(&buf, i > 0 ? ",\n" : "\n");
        phi__rules_json_put(&buf, &rules->rules[i]);
    }
    phi__buf_text(&buf, "\n],\"otherwise\":\"");
    phi__buf_text(&buf, phi__rules_json_verdicts[rules->otherwise]);
    phi__buf_text(&buf, "\"}\n");
    good = !buf.failed && phi__arena_str(arena, phi__buf_str(&buf), out);
    phi__buf_free(&buf);
    return good ? PHI_OK : PHI_NO_MEMORY;
}

#endif

/* ---- src/permissions/shell_parse.c ---- */

/* shell_parse.c - the grammar of a command line: lists, pipes, compound commands, redirections. */

#ifndef PHI_NO_PERMISSIONS

static bool phi__shell_parse_sees(const phi__shell_parser *p, const char *text) {
    size_t n = strlen(text);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, text, n) == 0;
}

/* A reserved word: it stands alone. */
static bool phi__shell_parse_word(const phi__shell_parser *p, const char *word) {
    size_t n = strlen(word);
    return phi__shell_parse_sees(p, word) &&
           (p->at + n == p->end || strchr(" \t\n;&|<>()", p->at[n]) != NULL);
}

static bool phi__shell_parse_take(phi__shell_parser *p, const char *word) {
    if (!phi__shell_parse_word(p, word)) return false;
    p->at += strlen(word);
    return true;
}

PHI__FN bool phi__shell_parse_push(phi_arena *arena, phi__shell *out,
                                   const phi__shell_command *command) {
    if (out->count == PHI__SHELL_COMMANDS_MOST) {
        if (out->unknown == NULL) out->unknown = "it has too many commands";
        return true;
    }
    if (out->count == out->cap) {
        size_t cap = out->cap == 0 ? 8 : out->cap * 2;
        phi__shell_command *all =
            (phi__shell_command *)phi_arena_alloc(arena, phi__mul(cap, sizeof *all));
        if (all == NULL) return false;
        if (out->count > 0) memcpy(all, out->commands, out->count * sizeof *all);
        out->commands = all;
        out->cap = cap;
    }
    out->commands[out->count++] = *command;
    return true;
}

static void phi__shell_parse_emit(phi__shell_parser *p, phi__shell_command *command) {
    command->pipe_from = p->pipe_from;
    command->level = p->level;
    command->posix = p->posix;
    if (p->reads) command->reads = true;
    if (!phi__shell_parse_push(p->arena, p->out, command)) phi__shell_word_lost(p);
    if (p->out->unknown != NULL) p->at = p->end;
}

/* Behind a compound command. */
static void phi__shell_parse_redirects(phi__shell_parser *p) {
    phi__shell_command command;
    memset(&command, 0, sizeof command);
    for (;;) {
        phi__shell_word_blanks(p);
        if (p->at == p->end || !phi__shell_redirect_read(p, &command)) break;
    }
    if (command.redirect_count > 0) phi__shell_parse_emit(p, &command);
}

/* ---- simple commands ---- */

static bool phi__shell_parse_letter(char c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

/* Whether the source of a word assigns. A subscript is a plain one, or the word is uncertain. */
static bool phi__shell_parse_assigns(phi__shell_parser *p, const char *from) {
    const char *at = from;
    bool index;
    while (at < p->end && phi__shell_parse_letter(*at, at == from)) at++;
    if (at == from || at == p->end) return false;
    index = *at == '[';
    if (index) {
        at++;
        while (at < p->end &&
               (phi__shell_parse_letter(*at, false) || strchr("@*$-", *at) != NULL)) {
            if (*at < '0' || *at > '9')
                phi__shell_word_doubt(p, "a value in a subscript may hold commands");
            at++;
        }
        if (at == p->end || *at != ']' || ++at == p->end) {
            phi__shell_word_stop(p, "a subscript that is uncertain");
            return false;
        }
    }
    if (*at == '+') at++;
    if (at < p->end && *at == '=') return true;
    if (index) phi__shell_word_stop(p, "a subscript that is uncertain");
    return false;
}

static void phi__shell_parse_command(phi__shell_parser *p);

/* NAME () body. */
static void phi__shell_parse_function(phi__shell_parser *p, phi_str name) {
    phi_str outer = p->function;
    p->function = name;
    phi__shell_redirect_lines(p);
    phi__shell_parse_command(p);
    p->function = outer;
}

/* At the parenthesis behind a command's first word. */
static void phi__shell_parse_defines(phi__shell_parser *p, const phi__shell_command *command) {
    p->at++;
    phi__shell_word_blanks(p);
    if (command->count != 1 || command->assigned_count + command->redirect_count > 0 ||
        command->input != NULL || p->at == p->end || *p->at != ')') {
        phi__shell_word_invalid(p);
        return;
    }
    p->at++;
    phi__shell_parse_function(p, command->words[0].text);
}

/* One that was not taken for it: it stands on two lines, or where it does not count. */
static bool phi__shell_parse_reserved(const phi__shell_word *word) {
    static const char *const words[] = {"!",      "{",        "}",    "[[",   "if",     "then",
                                        "else",   "elif",     "fi",   "do",   "done",   "for",
                                        "while",  "until",    "case", "esac", "select", "time",
                                        "coproc", "function", NULL};
    size_t i;
    for (i = 0; !word->quoted && words[i] != NULL; i++)
        if (phi__str_is(word->text, words[i])) return true;
    return false;
}

static void phi__shell_parse_argument(phi__shell_parser *p, phi__shell_command *command) {
    const char *from = p->at;
    phi__shell_word word;
    bool assigns = command->count == 0 && phi__shell_parse_assigns(p, from);
    if (p->out->unknown != NULL) return;
    if (!phi__shell_word_read(p, &word)) {
        phi__shell_word_invalid(p);
        return;
    }
    if (!assigns && command->count == 0 &&
        (memchr(from, '=', (size_t)(p->at - from)) != NULL || phi__shell_parse_reserved(&word))) {
        phi__shell_word_stop(p, "a word in parts that may be more than a command's name");
        return;
    }
    if (assigns)
        phi__shell_word_add(p, &command->assigned, &command->assigned_count, &word);
    else
        phi__shell_word_add(p, &command->words, &command->count, &word);
}

static void phi__shell_parse_simple(phi__shell_parser *p) {
    phi__shell_command command;
    memset(&command, 0, sizeof command);
    for (;;) {
        phi__shell_word_blanks(p);
        if (p->at == p->end) break;
        if (phi__shell_redirect_read(p, &command)) continue;
        if (strchr("\n;&|)", *p->at) != NULL) break;
        if (*p->at == '(') {
            phi__shell_parse_defines(p, &command);
            return;
        }
        phi__shell_parse_argument(p, &command);
    }
    if (command.count + command.assigned_count + command.redirect_count > 0 ||
        command.input != NULL)
        phi__shell_parse_emit(p, &command);
    else
        phi__shell_word_invalid(p);
}

/* ---- compound commands ---- */

static bool phi__shell_parse_closes(const phi__shell_parser *p) {
    static const char *const words[] = {"then", "do", "done", "fi", "elif", "else", "esac", "}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(words); i++)
        if (phi__shell_parse_word(p, words[i])) return true;
    return false;
}

static void phi__shell_parse_and_or(phi__shell_parser *p);

/* Up to a word or sign that closes it, which is not taken. */
static void phi__shell_parse_body(phi__shell_parser *p) {
    for (;;) {
        phi__shell_redirect_lines(p);
        if (p->at == p->end || *p->at == ')' || *p->at == ';' || phi__shell_parse_closes(p)) return;
        phi__shell_parse_and_or(p);
        phi__shell_word_blanks(p);
        if (p->at == p->end || phi__shell_parse_sees(p, ";;") || phi__shell_parse_sees(p, ";&"))
            return;
        if (*p->at == ';' || *p->at == '&')
            p->at++;
        else if (*p->at != '\n')
            return;
    }
}

static void phi__shell_parse_expect(phi__shell_parser *p, const char *word) {
    if (!phi__shell_parse_take(p, word)) phi__shell_word_invalid(p);
}

/* A list that must end with `word`. */
static void phi__shell_parse_until(phi__shell_parser *p, const char *word) {
    phi__shell_parse_body(p);
    phi__shell_parse_expect(p, word);
}

static void phi__shell_parse_if(phi__shell_parser *p) {
    do phi__shell_parse_until(p, "then"), phi__shell_parse_body(p);
    while (phi__shell_parse_take(p, "elif"));
    if (phi__shell_parse_take(p, "else")) phi__shell_parse_body(p);
    phi__shell_parse_expect(p, "fi");
}

static void phi__shell_parse_loop(phi__shell_parser *p) {
    phi__shell_parse_until(p, "do");
    phi__shell_parse_until(p, "done");
}

/* do ... done, or { ... }. */
static void phi__shell_parse_do(phi__shell_parser *p) {
    phi__shell_word_blanks(p);
    if (p->at < p->end && *p->at == ';') p->at++;
    phi__shell_redirect_lines(p);
    if (phi__shell_parse_take(p, "{"))
        phi__shell_parse_until(p, "}");
    else {
        phi__shell_parse_expect(p, "do");
        phi__shell_parse_until(p, "done");
    }
}

/* for and select: the variable is assigned. */
static void phi__shell_parse_for(phi__shell_parser *p) {
    phi__shell_command command;
    phi__shell_word word;
    memset(&command, 0, sizeof command);
    phi__shell_word_blanks(p);
    if (phi__shell_parse_sees(p, "((")) {
        p->at += 2;
        phi__shell_word_arithmetic(p);
        phi__shell_parse_do(p);
        return;
    }
    if (!phi__shell_word_read(p, &word) || !word.known) {
        phi__shell_word_invalid(p);
        return;
    }
    phi__shell_word_add(p, &command.assigned, &command.assigned_count, &word);
    phi__shell_redirect_lines(p);
    if (phi__shell_parse_take(p, "in")) {
        for (phi__shell_word_blanks(p); p->at < p->end && *p->at != ';' && *p->at != '\n';
             phi__shell_word_blanks(p))
            if (phi__shell_word_read(p, &word))
                phi__shell_word_add(p, &command.assigned, &command.assigned_count, &word);
            else
                phi__shell_word_invalid(p);
    }
    if (p->out->unknown == NULL) phi__shell_parse_emit(p, &command);
    phi__shell_parse_do(p);
}

static void phi__shell_parse_pattern(phi__shell_parser *p) {
    phi__shell_word word;
    if (p->at < p->end && *p->at == '(') p->at++;
    for (;;) {
        phi__shell_word_blanks(p);
        if (!phi__shell_word_read(p, &word)) {
            phi__shell_word_invalid(p);
            return;
        }
        phi__shell_word_blanks(p);
        if (p->at == p->end || *p->at != '|') break;
        p->at++;
    }
    if (p->at < p->end && *p->at == ')')
        p->at++;
    else
        phi__shell_word_invalid(p);
}

static void phi__shell_parse_case(phi__shell_parser *p) {
    phi__shell_word word;
    phi__shell_word_blanks(p);
    if (!phi__shell_word_read(p, &word)) phi__shell_word_invalid(p);
    phi__shell_redirect_lines(p);
    phi__shell_parse_expect(p, "in");
    for (;;) {
        phi__shell_redirect_lines(p);
        if (p->out->unknown != NULL || phi__shell_parse_take(p, "esac")) return;
        phi__shell_parse_pattern(p);
        phi__shell_parse_body(p);
        if (phi__shell_parse_sees(p, ";;&"))
            p->at += 3;
        else if (phi__shell_parse_sees(p, ";;") || phi__shell_parse_sees(p, ";&"))
            p->at += 2;
        else if (!phi__shell_parse_word(p, "esac"))
            phi__shell_word_invalid(p);
    }
}

static bool phi__shell_parse_number(const phi__shell_word *word) {
    size_t i = word->text.len > 1 && word->text.at[0] == '-' ? 1 : 0;
    if (!word->known || word->text.len == 0) return false;
    while (i < word->text.len && word->text.at[i] >= '0' && word->text.at[i] <= '9') i++;
    return i == word->text.len;
}

/* Of a test: what stands beside a comparison of numbers is arithmetic, and behind -v and -R stands
   a name with its subscript. */
static void phi__shell_parse_operand(phi__shell_parser *p, const phi__shell_word *left,
                                     const phi__shell_word *right) {
    static const char *const compare[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    bool bad = false;
    size_t i;
    for (i = 0; i < PHI__COUNT(compare); i++)
        if ((phi__str_is(left->text, compare[i]) && !phi__shell_parse_number(right)) ||
            (phi__str_is(right->text, compare[i]) && !phi__shell_parse_number(left)))
            bad = true;
    if (phi__str_is(left->text, "-v") || phi__str_is(left->text, "-R"))
        bad = bad || !right->known || phi__str_find(right->text, 0, "[") != SIZE_MAX;
    if (bad) phi__shell_word_doubt(p, "a value in a test may hold commands");
}

/* Behind "[[". */
static void phi__shell_parse_test(phi__shell_parser *p) {
    phi__shell_word word, left;
    memset(&left, 0, sizeof left);
    phi__shell_word_dialect(p);
    for (;;) {
        phi__shell_redirect_lines(p);
        if (p->at == p->end) phi__shell_word_invalid(p);
        if (p->out->unknown != NULL || phi__shell_parse_take(p, "]]")) return;
        if (phi__shell_parse_sees(p, "<(") || phi__shell_parse_sees(p, ">("))
            phi__shell_word_stop(p, "a process substitution in a test");
        else if (strchr("()<>&|", *p->at) != NULL)
            p->at++;
        else if (!phi__shell_word_read(p, &word))
            phi__shell_word_invalid(p);
        else {
            phi__shell_parse_operand(p, &left, &word);
            left = word;
        }
    }
}

static void phi__shell_parse_named_function(phi__shell_parser *p) {
    phi__shell_word word;
    phi__shell_word_blanks(p);
    if (!phi__shell_word_read(p, &word)) {
        phi__shell_word_invalid(p);
        return;
    }
    phi__shell_word_blanks(p);
    if (p->at < p->end && *p->at == '(') {
        p->at++;
        phi__shell_word_blanks(p);
        phi__shell_parse_expect(p, ")");
    }
    phi__shell_parse_function(p, word.text);
}

/* False: it is a simple one. */
static bool phi__shell_parse_compound(phi__shell_parser *p) {
    if (phi__shell_parse_sees(p, "((")) {
        p->at += 2;
        phi__shell_word_arithmetic(p);
    } else if (p->at < p->end && *p->at == '(') {
        p->at++;
        phi__shell_parse_until(p, ")");
    } else if (phi__shell_parse_take(p, "{"))
        phi__shell_parse_until(p, "}");
    else if (phi__shell_parse_take(p, "if"))
        phi__shell_parse_if(p);
    else if (phi__shell_parse_take(p, "while") || phi__shell_parse_take(p, "until"))
        phi__shell_parse_loop(p);
    else if (phi__shell_parse_take(p, "for") || phi__shell_parse_take(p, "select"))
        phi__shell_parse_for(p);
    else if (phi__shell_parse_take(p, "case"))
        phi__shell_parse_case(p);
    else if (phi__shell_parse_take(p, "[["))
        phi__shell_parse_test(p);
    else if (phi__shell_parse_take(p, "function"))
        phi__shell_parse_named_function(p);
    else
        return false;
    return true;
}

static void phi__shell_parse_command(phi__shell_parser *p) {
    if (++p->depth > PHI__SHELL_DEPTH) phi__shell_word_stop(p, "it is nested too deep");
    if (phi__shell_parse_compound(p))
        phi__shell_parse_redirects(p);
    else
        phi__shell_parse_simple(p);
    p->depth--;
}

/* ---- lists ---- */

/* f() { f | f & }: listed as a command whose name is the classic form. */
static void phi__shell_parse_bomb(phi__shell_parser *p, size_t from) {
    phi__shell_command command;
    phi__shell_word word;
    size_t i, n = 0;
    if (p->function.len == 0) return;
    for (i = from; i < p->out->count; i++) {
        const phi__shell_command *c = &p->out->commands[i];
        n += c->count > 0 && phi_str_equal(c->words[0].text, p->function);
    }
    if (n < 2) return;
    memset(&command, 0, sizeof command);
    memset(&word, 0, sizeof word);
    word.text = PHI__LIT(":(){:|:&};:");
    word.known = true;
    phi__shell_word_add(p, &command.words, &command.count, &word);
    phi__shell_parse_emit(p, &command);
}

static void phi__shell_parse_pipe(phi__shell_parser *p) {
    size_t outer = p->pipe_from, from = p->out->count;
    bool reads = p->reads;
    if (!reads) p->pipe_from = from; /* else it is within another one */
    while (phi__shell_parse_take(p, "!") || phi__shell_parse_take(p, "time")) {
        phi__shell_word_blanks(p);
        if (phi__shell_parse_take(p, "-p")) phi__shell_word_blanks(p);
    }
    phi__shell_parse_command(p);
    phi__shell_word_blanks(p);
    while (phi__shell_parse_sees(p, "|") && !phi__shell_parse_sees(p, "||")) {
        p->at += phi__shell_parse_sees(p, "|&") ? 2 : 1;
        p->reads = true;
        phi__shell_redirect_lines(p);
        phi__shell_parse_command(p);
        phi__shell_word_blanks(p);
    }
    if (p->reads != reads) phi__shell_parse_bomb(p, from);
    p->reads = reads;
    p->pipe_from = outer;
}

static void phi__shell_parse_and_or(phi__shell_parser *p) {
    phi__shell_parse_pipe(p);
    while (phi__shell_parse_sees(p, "&&") || phi__shell_parse_sees(p, "||")) {
        p->at += 2;
        phi__shell_redirect_lines(p);
        phi__shell_parse_pipe(p);
    }
}

static void phi__shell_parse_list(phi__shell_parser *p, char close) {
    phi__shell_parse_body(p);
    if (p->out->unknown != NULL) return;
    if (close == '\0' ? p->at != p->end : p->at == p->end || *p->at != close)
        phi__shell_word_invalid(p);
    else if (close != '\0')
        p->at++;
}

/* ---- for other files ---- */

PHI__FN phi_status phi__shell_parse_line(phi_arena *arena, phi_str line,
                                         const phi__shell_command *around, phi__shell *out) {
    const char *before = out->unknown; /* of a line that runs this one */
    phi__shell_parser p;
    memset(&p, 0, sizeof p);
    out->unknown = NULL;
    p.arena = arena;
    phi__buf_init(&p.buf, arena->memory);
    p.at = line.at;
    p.end = line.at + line.len;
    p.out = out;
    if (around != NULL) {
        p.level = around->level + 1;
        p.reads = around->reads;
        p.pipe_from = around->pipe_from;
        p.posix = around->posix;
    }
    p.list = phi__shell_parse_list;
    if (line.len > PHI__SHELL_BYTES_MOST || (line.len > 0 && memchr(line.at, '\0', line.len)))
        phi__shell_word_stop(&p, "it is too long, or holds a NUL");
    else
        phi__shell_parse_list(&p, '\0');
    phi__buf_free(&p.buf);
    if (before != NULL) out->unknown = before;
    return p.lost ? PHI_NO_MEMORY : PHI_OK;
}

#endif

/* ---- src/permissions/shell_redirect.c ---- */

/* shell_redirect.c - redirections of a command line, and the here-documents behind a line's end. */

#ifndef PHI_NO_PERMISSIONS

static bool phi__shell_redirect_sees(const phi__shell_parser *p, const char *text) {
    size_t n = strlen(text);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, text, n) == 0;
}

/* ---- here-documents ---- */

static bool phi__shell_redirect_here_ends(const phi__shell_here *here, phi_str line) {
    while (here->tabs && line.len > 0 && line.at[0] == '\t') {
        line.at++;
        line.len--;
    }
    return phi_str_equal(line, here->end);
}

/* In a substitution, bash takes a line for the end that begins so and has a parenthesis later. */
static bool phi__shell_redirect_here_closes(const phi__shell_here *here, phi_str line) {
    while (here->tabs && line.len > 0 && line.at[0] == '\t') {
        line.at++;
        line.len--;
    }
    return line.len > here->end.len && memcmp(line.at, here->end.at, here->end.len) == 0 &&
           memchr(line.at + here->end.len, ')', line.len - here->end.len) != NULL;
}

/* A line of an unquoted one that is continued may end it, or hide its end. */
static bool phi__shell_redirect_continued(phi_str line) {
    size_t n = 0;
    while (n < line.len && line.at[line.len - 1 - n] == '\\') n++;
    return n % 2 == 1;
}

/* Whether a line begins with a tab. */
static bool phi__shell_redirect_tabs(phi_str text) {
    return (text.len > 0 && text.at[0] == '\t') || phi__str_find(text, 0, "\n\t") != SIZE_MAX;
}

/* The word that ends it, close behind a substitution: some shells see the end there. */
static bool phi__shell_redirect_close_end(const phi__shell_here *here, phi_str line) {
    size_t n = here->end.len;
    return n > 0 && line.len > n && memcmp(line.at + line.len - n, here->end.at, n) == 0 &&
           strchr(")}`", line.at[line.len - n - 1]) != NULL;
}

static void phi__shell_redirect_here_read(phi__shell_parser *p, const phi__shell_here *here) {
    const char *from = p->at, *to = p->end;
    while (p->at < p->end) {
        const char *begin = p->at;
        const char *stop = (const char *)memchr(begin, '\n', (size_t)(p->end - begin));
        phi_str line = phi__str(begin, (size_t)((stop != NULL ? stop : p->end) - begin));
        p->at = stop != NULL ? stop + 1 : p->end;
        if (phi__shell_redirect_here_ends(here, line)) {
            to = begin;
            break;
        }
        if (phi__shell_redirect_here_closes(here, line) ||
            (!here->quoted &&
             (phi__shell_redirect_continued(line) || phi__shell_redirect_close_end(here, line)))) {
            phi__shell_word_stop(p, "a here-document whose end is uncertain");
            return;
        }
    }
    here->body->text = phi__str(from, (size_t)(to - from));
    here->body->known = !here->tabs || !phi__shell_redirect_tabs(here->body->text);
    if (here->quoted || to == from) return;
    if (memchr(from, '\\', (size_t)(to - from)) != NULL) here->body->known = false;
    if (memchr(from, '$', (size_t)(to - from)) == NULL &&
        memchr(from, '`', (size_t)(to - from)) == NULL)
        return;
    here->body->known = false;
    phi__shell_word_body(p, here->body->text);
}

/* At a line's end. */
static void phi__shell_redirect_newline(phi__shell_parser *p) {
    size_t i;
    p->at++;
    if (p->here_outer > 0) {
        phi__shell_word_stop(p, "a here-document that begins before a substitution of many lines");
        return;
    }
    for (i = 0; i < p->here_count && p->out->unknown == NULL; i++)
        phi__shell_redirect_here_read(p, &p->here[i]);
    p->here_count = 0;
}

PHI__FN void phi__shell_redirect_lines(phi__shell_parser *p) {
    for (;;) {
        phi__shell_word_blanks(p);
        if (p->at == p->end || *p->at != '\n') return;
        phi__shell_redirect_newline(p);
    }
}

/* ---- redirections ---- */

static void phi__shell_redirect_here(phi__shell_parser *p, phi__shell_command *command, bool tabs,
                                     bool standard) {
    phi__shell_here *here;
    phi__shell_word word;
    phi__shell_word_blanks(p);
    if (p->here_count == PHI__SHELL_HERE_MOST || !phi__shell_word_read(p, &word) || !word.known) {
        phi__shell_word_stop(p, "a here-document whose end is uncertain");
        return;
    }
    here = &p->here[p->here_count];
    here->end = word.text;
    here->tabs = tabs;
    here->quoted = word.quoted;
    here->body = (phi__shell_word *)phi__arena_zero(p->arena, sizeof *here->body);
    if (here->body == NULL) {
        phi__shell_word_lost(p);
        return;
    }
    here->body->text = phi__str("", 0);
    p->here_count++;
    if (standard) command->input = here->body;
    command->reads = true;
}

static void phi__shell_redirect_text(phi__shell_parser *p, phi__shell_command *command,
                                     bool standard) {
    phi__shell_word word;
    phi__shell_word_blanks(p);
    if (!phi__shell_word_read(p, &word)) {
        phi__shell_word_invalid(p);
        return;
    }
    command->reads = true;
    if (!standard) return;
    command->input = (phi__shell_word *)phi_arena_alloc(p->arena, sizeof word);
    if (command->input == NULL)
        phi__shell_word_lost(p);
    else
        *command->input = word;
}

/* Of >& and <&: a number, or "-". */
static bool phi__shell_redirect_duplicates(const phi__shell_word *word) {
    size_t i = 0;
    while (i < word->text.len && word->text.at[i] >= '0' && word->text.at[i] <= '9') i++;
    if (i < word->text.len && word->text.at[i] == '-') i++;
    return word->known && word->text.len > 0 && i == word->text.len;
}

static void phi__shell_redirect_file(phi__shell_parser *p, phi__shell_command *command, bool writes,
                                     bool duplicates) {
    phi__shell_redirect redirect, *all;
    phi__shell_word_blanks(p);
    if (!phi__shell_word_read(p, &redirect.target)) {
        phi__shell_word_invalid(p);
        return;
    }
    if (!writes) command->reads = true;
    if (duplicates && phi__shell_redirect_duplicates(&redirect.target)) return;
    redirect.writes = writes;
    all = (phi__shell_redirect *)phi__shell_word_room(p->arena, command->redirects,
                                                      command->redirect_count, sizeof *all);
    if (all == NULL) {
        phi__shell_word_lost(p);
        return;
    }
    command->redirects = all;
    all[command->redirect_count++] = redirect;
}

/* Whether a redirection with these digits before it is one of descriptor 0; none: it reads. */
static bool phi__shell_redirect_standard(phi_str digits, bool reads) {
    size_t i = 0;
    while (i < digits.len && digits.at[i] == '0') i++;
    return digits.len > 0 ? i == digits.len : reads;
}

/* Behind the descriptor. */
static void phi__shell_redirect_operator(phi__shell_parser *p, phi__shell_command *command,
                                         phi_str descriptor) {
    static const char *const operators[] = {"<<<", "<<-", "<<", "<>", "<&", "<",
                                            "&>>", "&>",  ">>", ">&", ">|", ">"};
    bool standard;
    size_t i = 0;
    while (!phi__shell_redirect_sees(p, operators[i])) i++;
    p->at += strlen(operators[i]);
    standard = phi__shell_redirect_standard(descriptor, i < 6);
    if (standard) command->inputs++;
    if (i == 6 || i == 7) phi__shell_word_dialect(p);
    if (i == 0)
        phi__shell_redirect_text(p, command, standard);
    else if (i < 3)
        phi__shell_redirect_here(p, command, i == 1, standard);
    else
        phi__shell_redirect_file(p, command, i != 4 && i != 5, i == 4 || i == 9);
}

/* Where a redirection begins: its descriptor, a number or {name}; NULL: there is none. */
static const char *phi__shell_redirect_descriptor(const phi__shell_parser *p) {
    const char *at = p->at;
    bool brace = *at == '{';
    if (brace) at++;
    while (at < p->end &&
           ((*at >= '0' && *at <= '9') ||
            (brace && (*at == '_' || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')))))
        at++;
    if (brace && (at == p->end || *at++ != '}' || at - p->at < 3)) return NULL;
    if (at == p->end || (*at != '<' && *at != '>')) return NULL;
    if (p->end - at > 1 && at[1] == '(') return NULL; /* a process substitution */
    return at;
}

PHI__FN bool phi__shell_redirect_read(phi__shell_parser *p, phi__shell_command *command) {
    const char *at = p->at;
    phi_str descriptor;
    if (!phi__shell_redirect_sees(p, "&>")) at = phi__shell_redirect_descriptor(p);
    if (at == NULL) return false;
    descriptor = phi__str(p->at, (size_t)(at - p->at));
    if (phi__str_starts(descriptor, "{"))
        phi__shell_word_doubt(p, "a variable that a redirection sets");
    p->at = at;
    phi__shell_redirect_operator(p, command, descriptor);
    return true;
}

#endif

/* ---- src/permissions/shell_word.c ---- */

/* shell_word.c - words of a command line: quotes, escapes, expansions, and the commands in them. */

#ifndef PHI_NO_PERMISSIONS

PHI__FN void phi__shell_word_stop(phi__shell_parser *p, const char *why) {
    if (p->out->unknown == NULL) p->out->unknown = why;
    p->at = p->end;
}

PHI__FN void phi__shell_word_doubt(phi__shell_parser *p, const char *why) {
    if (p->out->doubt == NULL) p->out->doubt = why;
}

PHI__FN void phi__shell_word_dialect(phi__shell_parser *p) {
    if (p->posix) phi__shell_word_doubt(p, "sh may read it in another way than bash");
}

static bool phi__shell_word_sees(const phi__shell_parser *p, const char *text) {
    size_t n = strlen(text);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, text, n) == 0;
}

static char phi__shell_word_next(const phi__shell_parser *p, size_t ahead) {
    return (size_t)(p->end - p->at) > ahead ? p->at[ahead] : '\0';
}

static bool phi__shell_word_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

PHI__FN void phi__shell_word_blanks(phi__shell_parser *p) {
    while (p->at < p->end) {
        if (*p->at == ' ' || *p->at == '\t')
            p->at++;
        else if (phi__shell_word_sees(p, "\\\n"))
            p->at += 2;
        else if (*p->at == '#') {
            while (p->at < p->end && *p->at != '\n') p->at++;
        } else
            return;
    }
}

static bool phi__shell_word_down(phi__shell_parser *p) {
    if (++p->depth <= PHI__SHELL_DEPTH) return true;
    phi__shell_word_stop(p, "it is nested too deep");
    return false;
}

static void phi__shell_word_expansion(phi__shell_parser *p, bool in_quotes);

/* ---- quotes ---- */

/* Behind the opening quote. */
static void phi__shell_word_single(phi__shell_parser *p) {
    const char *from = p->at;
    while (p->at < p->end && *p->at != '\'') p->at++;
    if (p->at == p->end) {
        phi__shell_word_stop(p, "a quote is not closed");
        return;
    }
    phi__buf_add(&p->buf, from, (size_t)(p->at - from));
    p->at++;
}

/* Up to `most` digits of a base; *found: how many there were. */
static uint32_t phi__shell_word_digits(phi__shell_parser *p, unsigned base, unsigned most,
                                       unsigned *found) {
    uint32_t value = 0;
    for (*found = 0; *found < most && p->at < p->end; (*found)++, p->at++) {
        char c = *p->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 99;
        if (digit >= base) break;
        value = value * base + digit;
    }
    return value;
}

/* A number in $'...'. False: the shell's reading is uncertain: an end of text, or bytes that depend
   on its locale. */
static bool phi__shell_word_number(phi__shell_parser *p, char kind) {
    unsigned found;
    uint32_t value;
    if (kind >= '0' && kind <= '7') {
        p->at--;
        value = phi__shell_word_digits(p, 8, 3, &found);
    } else
        value = phi__shell_word_digits(p, 16, kind == 'x' ? 2 : kind == 'u' ? 4 : 8, &found);
    if (found == 0 || (value & 0xff) == 0) return false;
    if (value > 127 && (kind == 'u' || kind == 'U')) return false;
    phi__buf_char(&p->buf, (char)(unsigned char)(value & 0xff));
    return value < 256;
}

/* Behind a backslash in $'...'. */
static bool phi__shell_word_escape(phi__shell_parser *p) {
    static const char from[] = "abeEfnrtv\\'\"?", to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    char c = *p->at++;
    const char *simple = c != '\0' ? strchr(from, c) : NULL;
    if (simple != NULL) {
        phi__buf_char(&p->buf, to[simple - from]);
        return true;
    }
    if ((c >= '0' && c <= '7') || c == 'x' || c == 'u' || c == 'U')
        return phi__shell_word_number(p, c);
    if (c == 'c') return false;
    phi__buf_char(&p->buf, '\\');
    phi__buf_char(&p->buf, c);
    return true;
}

/* Behind $'. False: not known. */
static bool phi__shell_word_ansi(phi__shell_parser *p) {
    bool known = true;
    phi__shell_word_dialect(p);
    while (p->at < p->end && *p->at != '\'') {
        char c = *p->at++;
        if (c != '\\')
            phi__buf_char(&p->buf, c);
        else if (p->at < p->end && !phi__shell_word_escape(p))
            known = false;
    }
    if (p->at == p->end)
        phi__shell_word_stop(p, "a quote is not closed");
    else
        p->at++;
    return known;
}

/* Behind the opening quote, or all of a here-document. False: not known. */
static bool phi__shell_word_double(phi__shell_parser *p, bool body) {
    bool known = true;
    while (p->at < p->end && (body || *p->at != '"')) {
        char c = *p->at;
        if (c == '\\' && p->end - p->at > 1) {
            char next = p->at[1];
            if (next != '\n' && strchr(body ? "$`\\" : "$`\"\\", next) == NULL)
                phi__buf_char(&p->buf, c);
            if (next != '\n') phi__buf_char(&p->buf, next);
            p->at += 2;
        } else if (c == '$' || c == '`') {
            const char *from = p->at;
            size_t len = p->buf.len;
            phi__shell_word_expansion(p, true);
            if (p->at - from > 1 || c == '`') known = false;
            p->buf.len = len;
            if (p->out->unknown == NULL) phi__buf_add(&p->buf, from, (size_t)(p->at - from));
        } else {
            phi__buf_char(&p->buf, c);
            p->at++;
        }
    }
    if (body) return known;
    if (p->at == p->end)
        phi__shell_word_stop(p, "a quote is not closed");
    else
        p->at++;
    return known;
}

PHI__FN void phi__shell_word_body(phi__shell_parser *p, phi_str body) {
    const char *at = p->at, *end = p->end;
    size_t len = p->buf.len;
    if (!phi__shell_word_down(p)) return;
    p->at = body.at;
    p->end = body.at + body.len;
    (void)phi__shell_word_double(p, true);
    p->buf.len = len;
    p->depth--;
    p->end = end;
    p->at = p->out->unknown != NULL ? end : at;
}

/* ---- expansions ---- */

/* A list of commands inside of a word, up to `close`. What the commands around it wait for stays
   theirs. */
static void phi__shell_word_list(phi__shell_parser *p, char close) {
    size_t outer = p->here_outer, len = p->buf.len;
    if (!phi__shell_word_down(p)) return;
    p->here_outer = p->here_count;
    p->list(p, close);
    if (p->here_count != p->here_outer)
        phi__shell_word_stop(p, "a here-document has no lines of its own");
    p->here_outer = outer;
    p->buf.len = len;
    p->depth--;
}

/* Behind a backquote. Its text is read again without the backslashes that protected it. */
static void phi__shell_word_backquote(phi__shell_parser *p, bool in_quotes) {
    size_t len = p->buf.len;
    const char *at, *end = p->end;
    phi_str text;
    while (p->at < p->end && *p->at != '`') {
        if (*p->at == '\\' && p->end - p->at > 1) {
            if (in_quotes && p->at[1] == '"') /* it stays one in a here-document */
                phi__shell_word_doubt(p, "a quote in a backquote in quotes");
            if (strchr(in_quotes ? "$`\\\"" : "$`\\", p->at[1]) != NULL)
                p->at++;
            else
                phi__buf_char(&p->buf, *p->at++);
        }
        phi__buf_char(&p->buf, *p->at++);
    }
    if (p->at == p->end) {
        phi__shell_word_stop(p, "a backquote is not closed");
        return;
    }
    at = p->at + 1;
    if (!phi__arena_str(p->arena, phi__str(p->buf.at + len, p->buf.len - len), &text)) {
        p->lost = true;
        return;
    }
    p->buf.len = len;
    p->at = text.at;
    p->end = text.at + text.len;
    phi__shell_word_list(p, '\0');
    p->end = end;
    p->at = p->out->unknown != NULL ? end : at;
}

/* One character of a text in which only quotes, escapes and expansions count. */
static void phi__shell_word_inside(phi__shell_parser *p, bool in_quotes) {
    char c = *p->at;
    if (c == '$' && !in_quotes && phi__shell_word_next(p, 1) == '\'') {
        p->at += 2;
        (void)phi__shell_word_ansi(p);
    } else if (c == '$' || c == '`')
        phi__shell_word_expansion(p, in_quotes);
    else if (c == '\\' && p->end - p->at > 1)
        p->at += 2;
    else if (c == '"') {
        p->at++;
        (void)phi__shell_word_double(p, false);
    } else if (c == '\'' && in_quotes)
        phi__shell_word_stop(p, "a single quote inside of \"${...}\"");
    else if (c == '\'') {
        p->at++;
        phi__shell_word_single(p);
    } else if ((c == '<' || c == '>') && phi__shell_word_next(p, 1) == '(')
        phi__shell_word_stop(p, "a process substitution inside of an expansion");
    else
        p->at++;
}

/* Behind "${": whether it yields the value of a variable, and no more. Other forms evaluate the
   text of a value (as arithmetic, as a name, as a prompt), or assign. */
static bool phi__shell_word_parameter(const phi__shell_parser *p) {
    const char *at = p->at, *end = p->end;
    const char *name;
    if (end - at > 1 && at[0] == '#' && at[1] != '}') at++;
    name = at;
    while (at < end && phi__shell_word_name(*at)) at++;
    if (at == name && at < end && strchr("@*#?-$", *at) != NULL) at++;
    if (at < end && at > name && *at == '[') {
        at++;
        while (at < end && ((*at >= '0' && *at <= '9') || *at == '@' || *at == '*')) at++;
        if (at == end || *at++ != ']') return false;
    }
    if (at == name || at == end) return false;
    if (*at == ':') return end - at > 1 && at[1] != '\0' && strchr("-+?", at[1]) != NULL;
    return *at != '\0' && strchr("}-+?#%/^,", *at) != NULL;
}

/* Behind "${". */
static void phi__shell_word_braces(phi__shell_parser *p, bool in_quotes) {
    size_t len = p->buf.len;
    char c = phi__shell_word_next(p, 0);
    if (c == ' ' || c == '\t' || c == '\n' || c == '|' || c == '(') {
        phi__shell_word_stop(p, "commands in \"${ ...; }\"");
        return;
    }
    if (!phi__shell_word_parameter(p))
        phi__shell_word_doubt(p, "\"${...}\" that evaluates or assigns");
    if (!phi__shell_word_down(p)) return;
    while (p->at < p->end && *p->at != '}') phi__shell_word_inside(p, in_quotes);
    if (p->at == p->end)
        phi__shell_word_stop(p, "\"${\" is not closed");
    else
        p->at++;
    p->buf.len = len;
    p->depth--;
}

/* Values in arithmetic are expressions again, and commands stand in their subscripts. */
static bool phi__shell_word_numbers(const char *from, const char *to) {
    for (; from < to; from++)
        if (*from == '$' || *from == '`' || (phi__shell_word_name(*from) && *from > '9'))
            return false;
    return true;
}

PHI__FN void phi__shell_word_arithmetic(phi__shell_parser *p) {
    const char *from = p->at;
    size_t len = p->buf.len;
    unsigned open = 0;
    if (!phi__shell_word_down(p)) return;
    while (p->at < p->end) {
        if (*p->at == '(')
            open++;
        else if (*p->at == ')' && open > 0)
            open--;
        else if (*p->at == ')')
            break;
        if (*p->at == '(' || *p->at == ')')
            p->at++;
        else
            phi__shell_word_inside(p, false);
    }
    if (!phi__shell_word_numbers(from, p->at))
        phi__shell_word_doubt(p, "a value in arithmetic may hold commands");
    if (phi__shell_word_next(p, 1) != ')')
        phi__shell_word_stop(p, "\"((\" may be arithmetic or two subshells");
    else
        p->at += 2;
    p->buf.len = len;
    p->depth--;
}

/* At a $ or a backquote; its pieces stay out of the buffer. A $ that begins nothing is one
   character. */
static void phi__shell_word_expansion(phi__shell_parser *p, bool in_quotes) {
    char c = *p->at++, next = phi__shell_word_next(p, 0);
    if (c == '`')
        phi__shell_word_backquote(p, in_quotes);
    else if (phi__shell_word_sees(p, "((")) {
        p->at += 2;
        phi__shell_word_arithmetic(p);
    } else if (next == '(') {
        p->at++;
        phi__shell_word_list(p, ')');
    } else if (next == '{') {
        p->at++;
        phi__shell_word_braces(p, in_quotes);
    } else if (next == '[' || phi__shell_word_sees(p, "\\\n"))
        phi__shell_word_stop(p, "\"$[\", or a $ at the end of a continued line");
    else if (next >= '0' && next <= '9')
        p->at++;
    else if (phi__shell_word_name(next))
        while (p->at < p->end && phi__shell_word_name(*p->at)) p->at++;
    else if (next != '\0' && strchr("@*#?-$!", next) != NULL)
        p->at++;
}

PHI__FN void phi__shell_word_parens(phi__shell_parser *p) {
    phi__shell_word word;
    if (!phi__shell_word_down(p)) return;
    while (p->at < p->end && *p->at != ')') {
        phi__shell_word_blanks(p);
        if (p->at == p->end || *p->at == ')') break;
        if (*p->at == '[') phi__shell_word_doubt(p, "a subscript that is uncertain");
        if (*p->at == '\n' && p->here_count > 0) {
            phi__shell_word_stop(p, "a here-document that begins before an array of many lines");
            break;
        }
        if (*p->at == '\n' || *p->at == '|' || *p->at == '&' || *p->at == ';')
            p->at++;
        else if (!phi__shell_word_read(p, &word))
            phi__shell_word_stop(p, "parentheses in a word");
    }
    if (p->at == p->end)
        phi__shell_word_stop(p, "a parenthesis is not closed");
    else
        p->at++;
    p->depth--;
}

/* ---- words ---- */

typedef struct phi__shell_reading {
    phi__shell_word word;
    bool bracket;        /* an open one */
    bool braced, listed; /* an open brace, and a comma or ".." in it */
    const char *from;
    size_t begin; /* in the buffer */
} phi__shell_reading;

/* As it stands in the source, for it is not known. */
static void phi__shell_word_keep(phi__shell_parser *p, phi__shell_reading *r, const char *from,
                                 size_t len) {
    r->word.known = false;
    p->buf.len = len;
    if (p->out->unknown == NULL) phi__buf_add(&p->buf, from, (size_t)(p->at - from));
}

static void phi__shell_word_dollar(phi__shell_parser *p, phi__shell_reading *r) {
    const char *from = p->at;
    size_t len = p->buf.len;
    char next = phi__shell_word_next(p, 1);
    if (next == '\'' || next == '"') {
        p->at += 2;
        r->word.quoted = true;
        if (next == '\'' ? !phi__shell_word_ansi(p) : !phi__shell_word_double(p, false))
            r->word.known = false;
        return;
    }
    phi__shell_word_expansion(p, false);
    if (p->at - from > 1 || *from == '`')
        phi__shell_word_keep(p, r, from, len);
    else
        phi__buf_char(&p->buf, '$');
}

/* Patterns and braces: the shell makes file names, or several words, of it. */
static void phi__shell_word_plain(phi__shell_parser *p, phi__shell_reading *r) {
    char c = *p->at++;
    if (c == '#' && p->at - r->from > 1 && strchr(")`'\"}", p->at[-2]) != NULL)
        phi__shell_word_stop(p, "a # behind a quote or a substitution"); /* or a comment */
    if (c == '*' || c == '?' || (c == ']' && r->bracket)) r->word.known = false;
    if (c == '[') r->bracket = true;
    if (c == '{') r->braced = true;
    if (r->braced && (c == ',' || (c == '.' && phi__shell_word_next(p, 0) == '.')))
        r->listed = true;
    if (c == '}' && r->listed) r->word.known = false;
    phi__buf_char(&p->buf, c);
}

/* A parenthesis in a word: an array behind "=". False: it ends the word. */
static bool phi__shell_word_paren(phi__shell_parser *p, phi__shell_reading *r) {
    const char *from = p->at;
    size_t len = p->buf.len;
    char before = p->at > r->from ? p->at[-1] : '\0';
    if (before == '\0' || strchr("=?*+@!", before) == NULL) return false;
    if (before != '=') {
        phi__shell_word_stop(p, "a pattern with parentheses");
        return true;
    }
    p->at++;
    phi__shell_word_parens(p);
    phi__shell_word_keep(p, r, from, len);
    return true;
}

/* One piece of a word; false: the word ends here. */
static bool phi__shell_word_piece(phi__shell_parser *p, phi__shell_reading *r) {
    const char *from = p->at;
    size_t len = p->buf.len;
    char c = *p->at;
    if ((c == '<' || c == '>') && phi__shell_word_next(p, 1) == '(') {
        p->at += 2;
        phi__shell_word_list(p, ')');
        phi__shell_word_keep(p, r, from, len);
        r->word.pipe = from == r->from;
    } else if (c == '(') {
        return phi__shell_word_paren(p, r);
    } else if (strchr(" \t\n;&|<>)", c) != NULL) {
        return false;
    } else if (c == '\\') {
        if (phi__shell_word_next(p, 1) != '\n') {
            phi__buf_char(&p->buf, p->end - p->at > 1 ? p->at[1] : c);
            r->word.quoted = true;
        }
        p->at += p->end - p->at > 1 ? 2 : 1;
    } else if (c == '\'' || c == '"') {
        p->at++;
        r->word.quoted = true;
        if (c == '\'')
            phi__shell_word_single(p);
        else if (!phi__shell_word_double(p, false))
            r->word.known = false;
    } else if (c == '$' || c == '`')
        phi__shell_word_dollar(p, r);
    else
        phi__shell_word_plain(p, r);
    return true;
}

PHI__FN bool phi__shell_word_read(phi__shell_parser *p, phi__shell_word *out) {
    phi__shell_reading r;
    bool any = false;
    memset(&r, 0, sizeof r);
    r.word.known = true;
    r.from = p->at;
    r.begin = p->buf.len;
    while (p->at < p->end && !p->lost) {
        bool pipe = r.word.pipe;
        if (!phi__shell_word_piece(p, &r)) break;
        if (pipe) r.word.pipe = false;
        any = true;
    }
    if (p->buf.failed || p->lost) {
        p->lost = true;
        phi__shell_word_stop(p, "no memory");
        return false;
    }
    if (any && p->out->unknown == NULL &&
        !phi__arena_str(p->arena, phi__str(p->buf.at + r.begin, p->buf.len - r.begin),
                        &r.word.text))
        p->lost = true;
    p->buf.len = r.begin;
    *out = r.word;
    return any && !p->lost && p->out->unknown == NULL;
}

PHI__FN void phi__shell_word_invalid(phi__shell_parser *p) {
    phi__shell_word_stop(p, "it is no valid command line");
}

PHI__FN void phi__shell_word_lost(phi__shell_parser *p) {
    p->lost = true;
    phi__shell_word_stop(p, "no memory");
}

/* ---- growing ---- */

PHI__FN void *phi__shell_word_room(phi_arena *arena, void *old, size_t count, size_t size) {
    void *made;
    if (count != 0 && (count < 4 || (count & (count - 1)) != 0)) return old;
    made = phi_arena_alloc(arena, phi__mul(count == 0 ? 4 : phi__mul(count, 2), size));
    if (made != NULL && count > 0) memcpy(made, old, count * size);
    return made;
}

PHI__FN void phi__shell_word_add(phi__shell_parser *p, phi__shell_word **words, size_t *count,
                                 const phi__shell_word *word) {
    phi__shell_word *all;
    if (++p->out->words > PHI__SHELL_WORDS_MOST) {
        phi__shell_word_stop(p, "it has too many words");
        return;
    }
    all = (phi__shell_word *)phi__shell_word_room(p->arena, *words, *count, sizeof *all);
    if (all == NULL) {
        phi__shell_word_lost(p);
        return;
    }
    *words = all;
    all[(*count)++] = *word;
}

#endif

/* ---- src/permissions/wildcard.c ---- */

/* wildcard.c - patterns with wildcards. */

#ifndef PHI_NO_PERMISSIONS

/* Behind the set that begins at `at`; a bracket that is not closed is a plain character: at. */
static size_t phi__wildcard_set_end(phi_str pattern, size_t at) {
    size_t i = at + 1;
    if (i < pattern.len && pattern.at[i] == '!') i++;
    if (i < pattern.len) i++; /* a bracket at first is a member */
    while (i < pattern.len && pattern.at[i] != ']') i++;
    return i < pattern.len ? i + 1 : at;
}

/* `set`: between the brackets. */
static bool phi__wildcard_in_set(phi_str set, char c) {
    bool negative = set.len > 0 && set.at[0] == '!', found = false;
    size_t i = negative ? 1 : 0;
    while (i < set.len) {
        unsigned char low = (unsigned char)set.at[i], high = low;
        if (i + 2 < set.len && set.at[i + 1] == '-') {
            high = (unsigned char)set.at[i + 2];
            i += 2;
        }
        if ((unsigned char)c >= low && (unsigned char)c <= high) found = true;
        i++;
    }
    return found != negative;
}

/* One character at *at of the pattern, not a star, which moves behind it. */
static bool phi__wildcard_one(phi_str pattern, size_t *at, char c, bool path) {
    char p = pattern.at[*at];
    size_t end;
    if (p == '?') {
        (*at)++;
        return !path || c != '/';
    }
    end = p == '[' ? phi__wildcard_set_end(pattern, *at) : *at;
    if (end == *at) {
        (*at)++;
        return p == c;
    }
    p = phi__wildcard_in_set(phi__str(pattern.at + *at + 1, end - *at - 2), c) ? 1 : 0;
    *at = end;
    return p != 0 && (!path || c != '/');
}

/* Where to continue when a character does not match: the last star of each kind. */
typedef struct phi__wildcard_star {
    bool set;
    size_t pattern, text;
} phi__wildcard_star;

static bool phi__wildcard_all(phi_str pattern, phi_str text, bool path) {
    phi__wildcard_star one = {false, 0, 0}, two = {false, 0, 0};
    size_t p = 0, t = 0;
    for (;;) {
        if (p < pattern.len && pattern.at[p] == '*') {
            bool wide = !path || (p + 1 < pattern.len && pattern.at[p + 1] == '*');
            phi__wildcard_star *star = wide ? &two : &one;
            while (p < pattern.len && pattern.at[p] == '*') p++;
            star->set = true;
            star->pattern = p;
            star->text = t;
            if (wide) one.set = false;
            continue;
        }
        if (p == pattern.len && t == text.len) return true;
        if (p < pattern.len && t < text.len && phi__wildcard_one(pattern, &p, text.at[t], path)) {
            t++;
            continue;
        }
        if (one.set && one.text < text.len && text.at[one.text] != '/') {
            t = ++one.text;
            p = one.pattern;
        } else if (two.set && two.text < text.len) {
            one.set = false;
            t = ++two.text;
            p = two.pattern;
        } else
            return false;
    }
}

static bool phi__wildcard_matches(phi_str pattern, phi_str text, bool path) {
    if (phi__wildcard_all(pattern, text, path)) return true;
    return path && pattern.len > 3 && memcmp(pattern.at + pattern.len - 3, "/**", 3) == 0 &&
           phi__wildcard_all(phi__str(pattern.at, pattern.len - 3), text, path);
}

/* ---- for other files ---- */

PHI__FN bool phi__wildcard_next(phi_str *rest, phi_str *alternative) {
    size_t i = 0;
    if (rest->at == NULL) return false;
    while (i < rest->len && rest->at[i] != '|') {
        size_t end = rest->at[i] == '[' ? phi__wildcard_set_end(*rest, i) : i;
        i = end > i ? end : i + 1;
    }
    *alternative = phi__str(rest->at, i);
    *rest = i < rest->len ? phi__str(rest->at + i + 1, rest->len - i - 1) : phi__str(NULL, 0);
    return true;
}

PHI__FN bool phi__wildcard_word(phi_str *rest, phi_str *word) {
    size_t i = 0, end;
    while (i < rest->len && rest->at[i] == ' ') i++;
    end = i;
    while (end < rest->len && rest->at[end] != ' ') {
        size_t set = rest->at[end] == '[' ? phi__wildcard_set_end(*rest, end) : end;
        end = set > end ? set : end + 1;
    }
    *word = phi__str(rest->at + i, end - i);
    *rest = phi__str(rest->at + end, rest->len - end);
    return word->len > 0;
}

PHI__FN bool phi__wildcard_any(phi_str pattern, phi_str text, bool path) {
    phi_str one;
    while (phi__wildcard_next(&pattern, &one))
        if (phi__wildcard_matches(one, text, path)) return true;
    return false;
}

PHI__FN void phi__wildcard_quote(phi__buf *out, phi_str text) {
    size_t i;
    for (i = 0; i < text.len; i++) {
        bool special = strchr("*?[| ", text.at[i]) != NULL;
        if (special) phi__buf_char(out, '[');
        phi__buf_char(out, text.at[i]);
        if (special) phi__buf_char(out, ']');
    }
}

#endif

/* ---- src/permissions/wrappers.c ---- */

/* wrappers.c - programs that run others: the commands that they run are added to the list.

   Options that are not listed here may take a value, which would be mistaken for the command: such
   a program is not seen through, and stays a command of its own. */

#ifndef PHI_NO_PERMISSIONS

typedef struct phi__wrapper {
    const char *name;
    const char *flags, *values; /* letters of options without and with a value */
    unsigned operands;          /* before the command */
    bool assigns;               /* NAME=value may stand before the command */
    bool adds;                  /* words that are not known come behind those of the command */
    bool opaque;                /* it changes how the command runs: it is decided on as well */
    const char *risky;          /* options that make it so */
} phi__wrapper;

static const phi__wrapper phi__wrappers[] = {
    {"env", "iv0", "uC", 0, true, false, false, "C"},
    {"nohup", "", "", 0, false, false, false, ""},
    {"exec", "cl", "a", 0, false, false, false, "a"},
    {"command", "p", "", 0, false, false, false, ""},
    {"builtin", "", "", 0, false, false, false, ""},
    {"nice", "0123456789", "n", 0, false, false, false, ""},
    {"ionice", "t", "cn", 0, false, false, false, ""},
    {"timeout", "fpv", "ks", 1, false, false, false, ""},
    {"stdbuf", "", "ioe", 0, false, false, false, ""},
    {"setsid", "cfw", "", 0, false, false, false, ""},
    {"time", "apqv", "fo", 0, false, false, false, "o"},
    {"busybox", "", "", 0, false, false, false, ""},
    {"toybox", "", "", 0, false, false, false, ""},
    {"xargs", "0oprtx", "EILPadns", 0, false, true, false, "Ia"},
    {"sudo", "AEHPSbikns", "CDRTUghpru", 0, true, false, true, ""},
    {"doas", "Lns", "Cu", 0, false, false, true, ""},
};

typedef struct phi__wrapping {
    phi_arena *arena;
    phi__shell *out;
    phi__shell_command command; /* the program that runs others */
    size_t index;               /* its place */
    bool risky;                 /* it has an option that may change what runs */
} phi__wrapping;

static bool phi__wrappers_is(const phi__shell_word *word, const char *text) {
    return word->known && phi__str_is(word->text, text);
}

/* The name of a program, without its directory; empty: not known. */
static phi_str phi__wrappers_name(const phi__shell_command *command) {
    phi_str name = phi__str("", 0);
    size_t i;
    if (command->count == 0 || !command->words[0].known) return name;
    name = command->words[0].text;
    for (i = name.len; i > 0; i--)
        if (name.at[i - 1] == '/') return phi__str(name.at + i, name.len - i);
    return name;
}

static phi__shell_command *phi__wrappers_self(const phi__wrapping *w) {
    return &w->out->commands[w->index];
}

static void phi__wrappers_unknown(const phi__wrapping *w, const char *why) {
    if (w->out->unknown == NULL) w->out->unknown = why;
}

static void phi__wrappers_doubt(const phi__wrapping *w, const char *why) {
    if (w->out->doubt == NULL) w->out->doubt = why;
}

static bool phi__wrappers_deep(const phi__wrapping *w) {
    if (w->command.level + 1 < PHI__SHELL_LEVELS) return false;
    phi__wrappers_unknown(w, "too many programs run one another");
    return true;
}

/* The words from `first` on are a command. */
static phi_status phi__wrappers_words(const phi__wrapping *w, size_t first, size_t end,
                                      size_t assigned) {
    phi__shell_command inner = w->command;
    if (phi__wrappers_deep(w)) return PHI_OK;
    inner.words += first;
    inner.count = end - first;
    inner.assigned = w->command.words + assigned;
    inner.assigned_count = first - assigned;
    inner.redirects = NULL;
    inner.redirect_count = 0;
    inner.level++;
    return phi__shell_parse_push(w->arena, w->out, &inner) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__wrappers_line(const phi__wrapping *w, phi_str line) {
    if (phi__wrappers_deep(w)) return PHI_OK;
    return phi__shell_parse_line(w->arena, line, &w->command, w->out);
}

/* ---- options ---- */

/* A cluster of short options at *i. False: one of them is not known. */
static bool phi__wrappers_short(phi__wrapping *w, const phi__wrapper *wrapper, size_t *i) {
    phi_str text = w->command.words[*i].text;
    size_t k;
    for (k = 1; k < text.len; k++) {
        if (text.at[k] == '\0') return false;
        if (strchr(wrapper->risky, text.at[k]) != NULL) w->risky = true;
        if (strchr(wrapper->flags, text.at[k]) != NULL) continue;
        if (strchr(wrapper->values, text.at[k]) == NULL) return false;
        if (k + 1 == text.len) (*i)++; /* the next word is its value */
        return *i < w->command.count && w->command.words[*i].known;
    }
    return true;
}

/* *i: behind the options. False: they are not understood. */
static bool phi__wrappers_options(phi__wrapping *w, const phi__wrapper *wrapper, size_t *i) {
    for (; *i < w->command.count; (*i)++) {
        const phi__shell_word *word = &w->command.words[*i];
        if (word->text.len == 0 || word->text.at[0] != '-') return word->known;
        if (!word->known) return false;
        if (phi__str_is(word->text, "--")) {
            (*i)++;
            return true;
        }
        if (word->text.len > 1 && word->text.at[1] == '-') {
            if (memchr(word->text.at, '=', word->text.len) == NULL ||
                phi__str_starts(word->text, "--sp") || phi__str_starts(word->text, "--s="))
                return false; /* env --split-string, and its shorter spellings */
            w->risky = true;
        } else if (!phi__wrappers_short(w, wrapper, i))
            return false;
    }
    return true;
}

static bool phi__wrappers_assigns(const phi__shell_word *word) {
    return word->text.len > 0 && word->text.at[0] != '=' &&
           memchr(word->text.at, '=', word->text.len) != NULL;
}

/* Words that xargs adds. */
static phi_status phi__wrappers_add_words(phi__wrapping *w) {
    size_t n = w->command.count;
    phi__shell_word *words =
        (phi__shell_word *)phi_arena_alloc(w->arena, phi__mul(n + 1, sizeof *words));
    if (words == NULL) return PHI_NO_MEMORY;
    memcpy(words, w->command.words, n * sizeof *words);
    memset(&words[n], 0, sizeof words[n]);
    words[n].text = PHI__LIT("$@");
    w->command.words = words;
    w->command.count = n + 1;
    return PHI_OK;
}

static phi_status phi__wrappers_plain(phi__wrapping *w, const phi__wrapper *wrapper) {
    size_t i = 1, k, assigned;
    w->risky = false;
    if (!phi__wrappers_options(w, wrapper, &i)) return PHI_OK;
    for (k = 0; k < wrapper->operands; k++)
        if (i >= w->command.count || !w->command.words[i++].known) return PHI_OK;
    assigned = i;
    while (wrapper->assigns && i < w->command.count && phi__wrappers_assigns(&w->command.words[i]))
        i++;
    if (i >= w->command.count) return PHI_OK;
    phi__wrappers_self(w)->wraps = !wrapper->opaque && !w->risky;
    if (wrapper->adds && phi__wrappers_add_words(w) != PHI_OK) return PHI_NO_MEMORY;
    return phi__wrappers_words(w, i, w->command.count, assigned);
}

/* ---- shells ---- */

/* The word behind -c and all options; 0: there is none, or the options are not understood. */
static size_t phi__wrappers_script(const phi__wrapping *w, bool *operands) {
    bool script = false;
    size_t i, k;
    *operands = false;
    for (i = 1; i < w->command.count; i++) {
        const phi__shell_word *word = &w->command.words[i];
        phi_str text = word->text;
        if (text.len < 2 || (text.at[0] != '-' && text.at[0] != '+')) break;
        if (!word->known) break;
        if (phi__str_is(text, "--norc") || phi__str_is(text, "--noprofile") ||
            phi__str_is(text, "--posix") || phi__str_is(text, "--login"))
            continue;
        for (k = 1; k < text.len; k++) {
            if (text.at[k] == '\0' || strchr("cefhlmnopuvxisE", text.at[k]) == NULL) {
                *operands = true;
                return 0;
            }
            if (text.at[k] == 'c' && text.at[0] == '-') script = true;
            if (text.at[k] == 'o' && (++i >= w->command.count || !w->command.words[i].known)) {
                *operands = true;
                return 0;
            }
        }
    }
    *operands = i < w->command.count;
    return script && *operands && w->command.words[i].known ? i : 0;
}

static phi_status phi__wrappers_shell(phi__wrapping *w, phi_str name) {
    bool operands;
    size_t script = phi__wrappers_script(w, &operands);
    const phi__shell_word *input = w->command.input;
    w->command.posix = w->command.posix || !phi__str_is(name, "bash");
    if (phi__str_is(name, "zsh") || phi__str_is(name, "ksh"))
        phi__wrappers_doubt(w, "it is a line of another shell");
    if (script > 0) {
        phi__wrappers_self(w)->wraps = true;
        return phi__wrappers_line(w, w->command.words[script].text);
    }
    if (operands || input == NULL || !input->known || w->command.inputs != 1) return PHI_OK;
    phi__wrappers_self(w)->wraps = true;
    return phi__wrappers_line(w, input->text);
}

/* eval: its words are one line; trap: its first word is. */
static phi_status phi__wrappers_eval(phi__wrapping *w, size_t first, size_t end) {
    phi__buf line;
    phi_str text;
    size_t i;
    bool good;
    for (i = first; i < end; i++)
        if (!w->command.words[i].known) {
            phi__wrappers_unknown(w, "a text that is not known is run as a command line");
            return PHI_OK;
        }
    phi__buf_init(&line, w->arena->memory);
    for (i = first; i < end; i++) {
        if (i > first) phi__buf_char(&line, ' ');
        phi__buf_add_str(&line, w->command.words[i].text);
    }
    good = !line.failed && phi__arena_str(w->arena, phi__buf_str(&line), &text);
    phi__buf_free(&line);
    if (!good) return PHI_NO_MEMORY;
    phi__wrappers_self(w)->wraps = true;
    return phi__wrappers_line(w, text);
}

static phi_status phi__wrappers_trap(phi__wrapping *w) {
    size_t first = 1;
    if (first < w->command.count && phi__wrappers_is(&w->command.words[first], "--")) first++;
    if (first + 1 >= w->command.count || phi__wrappers_is(&w->command.words[first], "-"))
        return PHI_OK;
    return phi__wrappers_eval(w, first, first + 1);
}

/* Each -exec of a find, up to its ";" or "+". */
static phi_status phi__wrappers_find(phi__wrapping *w) {
    size_t i, k;
    for (i = 1; i < w->command.count; i++) {
        const phi__shell_word *word = &w->command.words[i];
        phi_status status;
        if (!phi__wrappers_is(word, "-exec") && !phi__wrappers_is(word, "-execdir") &&
            !phi__wrappers_is(word, "-ok") && !phi__wrappers_is(word, "-okdir"))
            continue;
        for (k = i + 1; k < w->command.count; k++) {
            if (phi__wrappers_is(&w->command.words[k], ";")) break;
            if (phi__wrappers_is(&w->command.words[k], "+") &&
                phi__wrappers_is(&w->command.words[k - 1], "{}"))
                break;
            /* a file's name in the midst of a text may be a command */
            if (!phi__wrappers_is(&w->command.words[k], "{}") &&
                phi__str_find(w->command.words[k].text, 0, "{}") != SIZE_MAX)
                w->command.words[k].known = false;
        }
        status = phi__wrappers_words(w, i + 1, k, i + 1);
        if (status != PHI_OK) return status;
        i = k;
    }
    return PHI_OK;
}

/* su -c LINE. */
static phi_status phi__wrappers_su(phi__wrapping *w) {
    size_t i;
    for (i = 1; i + 1 < w->command.count; i++)
        if (phi__wrappers_is(&w->command.words[i], "-c")) {
            phi_status status = phi__wrappers_eval(w, i + 1, i + 2);
            phi__wrappers_self(w)->wraps = false;
            return status;
        }
    return PHI_OK;
}

static bool phi__wrappers_any(phi_str name, const char *const *names) {
    for (; *names != NULL; names++)
        if (phi__str_is(name, *names)) return true;
    return false;
}

static phi_status phi__wrappers_open(phi__wrapping *w) {
    static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash", NULL};
    phi_str name = phi__wrappers_name(&w->command);
    size_t i;
    if (phi__wrappers_any(name, shells)) return phi__wrappers_shell(w, name);
    if (phi__str_is(name, "eval") && w->command.count > 1)
        return phi__wrappers_eval(w, 1, w->command.count);
    if (phi__str_is(name, "trap")) return phi__wrappers_trap(w);
    if (phi__str_is(name, "find")) return phi__wrappers_find(w);
    if (phi__str_is(name, "su")) return phi__wrappers_su(w);
    for (i = 0; i < PHI__COUNT(phi__wrappers); i++)
        if (phi__str_is(name, phi__wrappers[i].name))
            return phi__wrappers_plain(w, &phi__wrappers[i]);
    return PHI_OK;
}

/* ---- for other files ---- */

PHI__FN phi_status phi__wrappers_parse(phi_arena *arena, phi_str line, phi__shell *out) {
    phi__wrapping w;
    phi_status status;
    memset(out, 0, sizeof *out);
    memset(&w, 0, sizeof w);
    w.arena = arena;
    w.out = out;
    status = phi__shell_parse_line(arena, line, NULL, out);
    for (w.index = 0; w.index < out->count && status == PHI_OK; w.index++) {
        w.command = out->commands[w.index];
        status = phi__wrappers_open(&w);
    }
    if (out->unknown == NULL) out->unknown = out->doubt;
    return status;
}

#endif

#endif /* PHI__IMP_PERMISSIONS */

#ifdef PHI__IMP_TOOLS
#if PHI__IMP_TOOLS != 0xf509717c
#error "phi: two versions of src/tools in one file"
#endif
#else
#define PHI__IMP_TOOLS 0xf509717c

/* ---- src/tools/deny_in.h ---- */

/* deny_in.h - whether a shell command contains a pattern, however its words are spelled.

   A command is compared as it is; with quotes and backslashes taken out and blanks as one; and with
   the flags of each rm as "-rf". It is no parser of shell words: variables, substitutions, and
   scripts that a command writes and runs are not seen. */
#ifndef PHI_TOOLS_DENY_IN_H
#define PHI_TOOLS_DENY_IN_H


/* *found: the first of NULL-ended patterns that the command contains, or NULL. PHI_NO_MEMORY. */
PHI__FN phi_status phi__deny_find(phi_memory *memory, const char *command,
                                  const char *const *patterns, const char **found);

#endif

/* ---- src/tools/finder_in.h ---- */

/* finder_in.h - finds a text in a longer one, a slice at a time, in linear time (Knuth, Morris,
   Pratt). */
#ifndef PHI_TOOLS_FINDER_IN_H
#define PHI_TOOLS_FINDER_IN_H


typedef struct phi__finder {
    phi_memory *memory;
    phi_str needle, text; /* borrowed */
    uint32_t *back;       /* how much of the needle's start is at the end of each of its starts */
    size_t built;         /* of back */
    size_t at, matched;   /* in text; of the needle */
    size_t found, first;  /* matches that do not overlap; where the first one begins */
    size_t most;          /* matches after which it may stop */
} phi__finder;

/* False: no memory, or a needle of 0 or of 4 GiB bytes. Zero it before. */
PHI__FN bool phi__finder_begin(phi__finder *finder, phi_memory *memory, phi_str needle,
                               phi_str text, size_t most);
/* Searches about so many bytes; true: done. */
PHI__FN bool phi__finder_advance(phi__finder *finder, size_t units);
PHI__FN void phi__finder_end(phi__finder *finder); /* of a zeroed one, and twice: harmless */

#endif

/* ---- src/tools/ignored_in.h ---- */

/* ignored_in.h - which entries of a directory walk the ignore files leave out, as ripgrep reads
   them.

   Each directory may have a .rgignore, an .ignore and a .gitignore; nearer files count before
   farther ones, and the kinds in that order. A .gitignore counts inside a repository alone, up to
   its top, and so does the .git/info/exclude of that. The directories above the walk count, too.
   Of a file the first PHI__IGNORED_BYTES count, up to the last whole line. */
#ifndef PHI_TOOLS_IGNORED_IN_H
#define PHI_TOOLS_IGNORED_IN_H


#ifndef PHI_NO_FILES

enum {
    PHI__IGNORED_KINDS = 4,
    PHI__IGNORED_BYTES = 262144,
    PHI__IGNORED_BYTE = 8 /* units for a byte read: rules are made of it */
};

typedef struct phi__ignored_level {
    phi__ignore *files[PHI__IGNORED_KINDS]; /* NULL: there is none */
    size_t from; /* where paths begin that are relative to it, in `path` */
    bool git;    /* it is the top of a repository */
} phi__ignored_level;

/* How far the question about an entry is answered. */
typedef struct phi__ignored_asked {
    bool open;
    size_t level, kind, left; /* above the level being looked at; its kind; rules left of that */
    phi__ignore_said said[PHI__IGNORED_KINDS];
    bool in_git, past_git;
} phi__ignored_asked;

typedef struct phi__ignored {
    phi_memory *memory;
    phi__ignored_level *levels; /* from the farthest directory above to the deepest */
    size_t count, cap;
    size_t above;  /* of them above the walk's root */
    size_t rules;  /* of all levels */
    phi__buf path; /* the walk's root, a slash, and the path of an entry */
    size_t root;   /* bytes of it up to that */
    phi__ignored_asked asked;
    size_t spent; /* units for the files read, for the caller to count and to reset */
} phi__ignored;

PHI__FN void phi__ignored_init(phi__ignored *ignored, phi_memory *memory);
PHI__FN void phi__ignored_free(phi__ignored *ignored); /* twice is harmless */

/* place: the walk's root, resolved. Reads the files of the directories above, one directory in a
   call: PHI_BUSY until all are read. Begin with an initialised one. */
PHI__FN phi_status phi__ignored_above(phi__ignored *ignored, const char *place);
/* The walk is in the directory `path` now, which is open; depth: 0 for the root. */
PHI__FN phi_status phi__ignored_enter(phi__ignored *ignored, uint32_t depth, int dir, phi_str path);
/* What the files say of an entry; depth: 1 in the root itself. PHI_BUSY: the units of
   phi__ignore_says are used up, ask the same again; PHI_NO_MEMORY. */
PHI__FN phi_status phi__ignored_says(phi__ignored *ignored, uint32_t depth, phi_str path,
                                     bool directory, size_t *units, phi__ignore_said *out);

#endif
#endif

/* ---- src/tools/job_in.h ---- */

/* job_in.h - shared by the built-in tools: a job is a call under way, with its arguments and
   result.

   A job is the first member of a tool's own struct, which is the call's memory. It ends once, by
   phi__job_done or phi__job_fail; `drop` then releases the tool's resources, as it does when the
   call is cancelled. After that the job must not be touched. The `go` of a job drives tools with a
   `step`; the io drives the others. */
#ifndef PHI_TOOLS_JOB_IN_H
#define PHI_TOOLS_JOB_IN_H


enum {
    PHI__JOB_SLICE = 65536, /* bytes of work in one step */
    PHI__JOB_PATHS = 128    /* units of work with paths in one step: files_in.h */
};

typedef struct phi__job {
    phi_call call;
    const phi_toolset *set; /* of a built-in tool */
    void *user_data;        /* the tool's */
    phi_memory *memory;     /* the agent's */
    phi__io *io;
    phi_arena arena; /* arguments, paths */
    phi_json_reader reader;
    phi_json *arguments; /* NULL: still being read */
    bool ended;
    phi_flow (*go)(struct phi__job *job); /* a slice of work */
#ifndef PHI_NO_FILES
    const char *path, *place; /* as it was given; resolved */
    size_t roots;             /* that the place was not in */
    phi__resolve *resolve;    /* of one of these */
    phi_flow (*placed)(struct phi__job *job);
#endif
    void (*drop)(struct phi__job *job);
} phi__job;

/* Starts a job in `bytes` of the call's memory and does its first slice. `whole`: the arguments are
   read at once, for tools without a step. */
PHI__FN phi_flow phi__job_begin(void *user_data, phi_call call, phi_str arguments, size_t bytes,
                                bool whole, phi_flow (*go)(phi__job *), void (*drop)(phi__job *));
PHI__FN phi_flow phi__job_step(void *user_data, phi_call call); /* a phi_tool's step */
PHI__FN void phi__job_cancel(void *user_data, phi_call call);   /* a phi_tool's cancel */

/* The result; all return PHI_DONE. done: `text` is UTF-8; fail: any bytes. details: JSON text, or
   NULL. */
PHI__FN phi_flow phi__job_done(phi__job *job, phi_str text, const char *details);
PHI__FN phi_flow phi__job_content(phi__job *job, const phi_content *content, const char *details);
PHI__FN phi_flow phi__job_fail(phi__job *job, const char *format, ...) PHI_PRINTF(2, 3);
PHI__FN phi_flow phi__job_no_memory(phi__job *job);

/* Arguments. False: the job has failed with the words for it. null counts as not there; a text that
   is not there and not required is NULL. */
PHI__FN bool phi__job_str(phi__job *job, const char *name, phi_str *out); /* required */
PHI__FN bool phi__job_text(phi__job *job, const char *name, bool required, const char **out);
PHI__FN bool phi__job_number(phi__job *job, const char *name, uint64_t fallback, uint64_t *out);
PHI__FN bool phi__job_flag(phi__job *job, const char *name, bool *out);

#ifndef PHI_NO_FILES
/* Resolves `path`, which stays, in the workspace, and checks that it may be used: job->place, in
   the job's arena. Then `placed`. */
PHI__FN phi_flow phi__job_place(phi__job *job, const char *path, phi_flow (*placed)(phi__job *));
/* The same for jobs without a step: begin, and more until it is not PHI_BUSY. PHI_REFUSED: the job
   has failed. */
PHI__FN phi_status phi__job_place_begin(phi__job *job, const char *path);
PHI__FN phi_status phi__job_place_more(phi__job *job);
#endif

/* The tools themselves, one file each. */
#ifndef PHI_NO_PROCESS
PHI__FN phi_flow phi__bash_start(void *user_data, phi_call call, phi_str arguments);
#endif
#ifndef PHI_NO_FILES
PHI__FN phi_flow phi__read_file_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__write_file_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__edit_file_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__list_files_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__search_start(void *user_data, phi_call call, phi_str arguments);
#endif

#endif

/* ---- src/tools/scripts_in.h ---- */

/* scripts_in.h - scripts from within: the words of a command, the input, the answer. */
#ifndef PHI_TOOLS_SCRIPTS_IN_H
#define PHI_TOOLS_SCRIPTS_IN_H


#ifndef PHI_NO_SCRIPTS


/* ---- the set: made by scripts_make.c, then changed by scripts.c alone ---- */

typedef struct phi__scripts_one {
    phi_script script;       /* its strings in the set's arena */
    const char *const *argv; /* ready to be started */
    const char *name;        /* for messages */
} phi__scripts_one;

struct phi_scripts {
    phi_memory memory;
    phi_arena arena;
    phi_scripts_desc desc;
    phi__scripts_one *all;
    size_t env_count;
    uint32_t points; /* of all scripts */
    phi_hook_fn hook_fn;
    uint32_t hook_points;
    void *hook_user_data; /* NULL: each agent's user_data */
    bool used;
    phi__list jobs;
    size_t job_count;
    uint32_t running; /* jobs that hold one of max_running */
};

/* ---- script_words.c ---- */

/* Splits a command into a NULL-ended list in the arena, with the interpreter that its first word
   needs. PHI_PARSE: *fault (static) names the fault; PHI_NO_MEMORY. */
PHI__FN phi_status phi__script_words_split(phi_arena *arena, const char *command,
                                           const char *const **out, const char **fault);

/* ---- script_talk.c ---- */

/* "before_loop"...; NULL: no script can be called there. Static. */
PHI__FN const char *phi__script_talk_name(phi_hook_point point);
/* Writes the input of a script. `arguments`: as an earlier script changed them; empty: the
   hook's */
PHI__FN void phi__script_talk_input(phi__buf *out, const phi_hook *hook, phi_str arguments);

typedef enum phi__script_says {
    PHI__SCRIPT_ALLOWS,
    PHI__SCRIPT_DENIES,
    PHI__SCRIPT_WARNS,  /* a filter's */
    PHI__SCRIPT_CHATS,  /* its output is no answer: allowed, with a warning */
    PHI__SCRIPT_BROKEN, /* its answer cannot be read: a failure */
    PHI__SCRIPT_LOST    /* no memory */
} phi__script_says;
/* Reads an answer. `reply`: reason, changed arguments, message, warning; of CHATS and BROKEN, the
   fault. */
PHI__FN phi__script_says phi__script_talk_answer(phi_memory *memory, phi_hook_point point,
                                                 phi_str output, phi__buf *reply);

#endif
#endif

/* ---- src/tools/search_in.h ---- */

/* search_in.h - shared by the halves of the tool that searches: a program's output, or our own walk
   and engine, becomes lines of one form, "file:number:text". */
#ifndef PHI_TOOLS_SEARCH_IN_H
#define PHI_TOOLS_SEARCH_IN_H


#ifndef PHI_NO_FILES

enum { PHI__SEARCH_LINE_BYTES = 2000 /* bytes listed of one line */ };

struct phi__search_own;

typedef struct phi__search {
    phi__job job;
    const char *pattern, *path, *include;
    bool case_sensitive, placed;
    phi__timer deadline, tick;
    phi__buf line, out; /* line: the line being read */
    size_t line_bytes;  /* of it, listed or not */
    uint32_t matches;
    struct phi__search_own *own; /* NULL: a program searches */
#ifndef PHI_NO_PROCESS
    phi__process *process;
    phi__buf words;       /* of the program's stderr */
    phi__buf last;        /* the name of the last line's file, as the program wrote it */
    bool use_grep, named; /* named: the name of the line's file is whole */
#endif
} phi__search;

/* search->line is whole. True: it was the last to list, and the job is done. */
PHI__FN bool phi__search_lines_add(phi__search *search);
PHI__FN phi_flow phi__search_lines_end(phi__search *search);

/* Comes again in a later step. */
static inline void phi__search_again(phi__search *search, uint64_t delay_us) {
    phi__job *job = &search->job;
    if (phi__io_timer_set(job->io, &search->tick, phi__io_now_us(job->io) + delay_us) != PHI_OK)
        (void)phi__job_no_memory(job);
}

/* Our own search: begins, once the place is known, and continues. Both may end the job. */
PHI__FN void phi__search_own_begin(phi__search *search);
PHI__FN void phi__search_own_more(phi__search *search);
PHI__FN void phi__search_own_free(phi__search *search); /* twice is harmless */

#endif
#endif

/* ---- src/tools/bash.c ---- */

/* bash.c - the tool that runs a command: streamed while it runs, killed with all it started. */

#ifndef PHI_NO_PROCESS


#include <stdio.h>

enum {
    PHI__BASH_FRESH_BYTES = 65536, /* of updates the host has no room for, then reading stops */
    PHI__BASH_RETRY_US = 5000      /* until the next try to start, or to update */
};

/* A stream's output, as UTF-8, cut to the limit. */
typedef struct phi__bash_stream {
    phi__buf kept;
    char tail[4]; /* the first bytes of a character whose rest has not come */
    size_t tail_len;
    bool cut; /* there was more */
} phi__bash_stream;

typedef struct phi__bash {
    phi__job job;
    const char *command;
    phi__process *process;
    phi__bash_stream streams[2];
    phi__buf fresh; /* both streams as they came, not yet reported */
    bool stopped;
    phi__timer deadline, tick; /* tick: starts, or reports new output */
} phi__bash;

static void phi__bash_drop(phi__job *job) {
    phi__bash *bash = (phi__bash *)(void *)job;
    phi__process_free(bash->process);
    bash->process = NULL;
    phi__io_timer_clear(job->io, &bash->deadline);
    phi__io_timer_clear(job->io, &bash->tick);
    phi__buf_free(&bash->streams[0].kept);
    phi__buf_free(&bash->streams[1].kept);
    phi__buf_free(&bash->fresh);
}

static void phi__bash_at(phi__bash *bash, phi__timer *timer, uint64_t us) {
    if (phi__io_timer_set(bash->job.io, timer, phi__io_now_us(bash->job.io) + us) != PHI_OK)
        (void)phi__job_no_memory(&bash->job);
}

/* ---- output ---- */

/* How many bytes are whole characters, or cannot become any. */
static size_t phi__bash_whole(const char *at, size_t len) {
    size_t back;
    for (back = 1; back < 4 && back <= len; back++) {
        unsigned char c = (unsigned char)at[len - back];
        if ((c & 0xC0) == 0x80) continue;
        if ((c & 0xE0) == 0xC0 && back < 2) return len - back;
        if ((c & 0xF0) == 0xE0 && back < 3) return len - back;
        if ((c & 0xF8) == 0xF0 && back < 4) return len - back;
        break;
    }
    return len;
}

static void phi__bash_keep(phi__bash *bash, phi__bash_stream *to, const char *at, size_t len) {
    size_t begin = to->kept.len, most = bash->job.set->desc.max_output_bytes;
    if (to->cut || len == 0) return;
    phi__utf8_repair(&to->kept, phi__str(at, len));
    if (to->kept.failed) return;
    if (to->kept.len > most) {
        to->kept.len = phi__utf8_cut(phi__buf_str(&to->kept), most);
        to->cut = true;
    }
    phi__buf_add(&bash->fresh, to->kept.at + begin, to->kept.len - begin);
}

static void phi__bash_take(phi__bash *bash, phi__bash_stream *to, const char *at, size_t len) {
    size_t whole;
    while (to->tail_len > 0 && len > 0) {
        to->tail[to->tail_len++] = *at++;
        len--;
        whole = phi__bash_whole(to->tail, to->tail_len);
        phi__bash_keep(bash, to, to->tail, whole);
        to->tail_len -= whole; /* at most three are left: another character may have begun */
        memmove(to->tail, to->tail + whole, to->tail_len);
    }
    whole = phi__bash_whole(at, len);
    phi__bash_keep(bash, to, at, whole);
    if (len > whole) memcpy(to->tail, at + whole, len - whole);
    to->tail_len += len - whole;
}

/* False: the host has no room, or there is no memory; it can be tried again. */
static bool phi__bash_tell(phi__bash *bash) {
    if (bash->fresh.len == 0) return true;
    if (phi_call_update(bash->job.call, bash->fresh.at, bash->fresh.len) != PHI_OK) return false;
    phi__buf_clear(&bash->fresh);
    return true;
}

static bool phi__bash_output(void *ctx, int stream, const char *bytes, size_t len) {
    phi__bash *bash = (phi__bash *)ctx;
    phi__bash_stream *to = &bash->streams[stream - 1];
    phi__bash_take(bash, to, bytes, len);
    if (to->kept.failed || bash->fresh.failed) {
        (void)phi__job_no_memory(&bash->job);
        return true;
    }
    if (bash->fresh.len > 0 && bash->tick.place == 0) phi__bash_at(bash, &bash->tick, 0);
    if (bash->job.ended) return true;
    bash->stopped = bash->fresh.len > PHI__BASH_FRESH_BYTES;
    return !bash->stopped;
}

/* ---- the end ---- */

static void phi__bash_show(phi__buf *out, const phi__bash_stream *stream) {
    phi__buf_add(out, stream->kept.at, stream->kept.len);
    if (stream->cut) phi__buf_text(out, "\n... (output truncated)");
}

static void phi__bash_exited(void *ctx, int code, int signal_number) {
    phi__bash *bash = (phi__bash *)ctx;
    phi__bash_stream *out_of = &bash->streams[0], *err_of = &bash->streams[1];
    char details[64];
    phi__buf out;
    (void)signal_number;
    phi__bash_keep(bash, out_of, out_of->tail, out_of->tail_len);
    phi__bash_keep(bash, err_of, err_of->tail, err_of->tail_len);
    (void)phi__bash_tell(bash); /* the result holds it all, reported or not */
    phi__buf_init(&out, bash->job.memory);
    (void)phi__buf_reserve(&out, out_of->kept.len + err_of->kept.len + 128);
    phi__buf_printf(&out, "Exit code: %d\n", code);
    if (err_of->kept.len > 0) phi__buf_text(&out, "STDOUT:\n");
    phi__bash_show(&out, out_of);
    if (err_of->kept.len > 0) {
        phi__buf_text(&out, "\nSTDERR:\n");
        phi__bash_show(&out, err_of);
    }
    (void)snprintf(details, sizeof details, "{\"exit_code\":%d,\"success\":%s}", code,
                   code == 0 ? "true" : "false");
    if (out.failed || out_of->kept.failed || err_of->kept.failed)
        (void)phi__job_no_memory(&bash->job);
    else
        (void)phi__job_done(&bash->job, phi__buf_str(&out), details);
    phi__buf_free(&out);
}

static void phi__bash_late(phi__timer *timer) {
    phi__bash *bash = PHI__OWNER(timer, phi__bash, deadline);
    (void)phi__job_fail(&bash->job, "Command timed out after %gs",
                        (double)bash->job.set->desc.bash_timeout_ms / 1000.0);
}

/* ---- the beginning ---- */

static void phi__bash_spawn(phi__bash *bash) {
    const char *argv[4];
    char words[160];
    phi__process_desc desc;
    phi_status status;
    argv[0] = "bash";
    argv[1] = "-c";
    argv[2] = bash->command;
    argv[3] = NULL;
    memset(&desc, 0, sizeof desc);
    desc.argv = argv;
    desc.cwd = bash->job.set->desc.workspace;
    desc.output = phi__bash_output;
    desc.exited = phi__bash_exited;
    desc.ctx = bash;
    status = phi__process_new(bash->job.io, &desc, &bash->process, words, sizeof words);
    if (status == PHI_BUSY)
        phi__bash_at(bash, &bash->tick, PHI__BASH_RETRY_US);
    else if (status != PHI_OK)
        (void)phi__job_fail(&bash->job, "Failed to execute: %s",
                            words[0] != '\0' ? words : phi_status_text(status));
}

static void phi__bash_tick(phi__timer *timer) {
    phi__bash *bash = PHI__OWNER(timer, phi__bash, tick);
    if (bash->process == NULL) {
        phi__bash_spawn(bash);
    } else if (!phi__bash_tell(bash)) {
        phi__bash_at(bash, &bash->tick, PHI__BASH_RETRY_US);
    } else if (bash->stopped) {
        bash->stopped = false;
        phi__process_resume(bash->process);
    }
}

static phi_flow phi__bash_go(phi__job *job) {
    phi__bash *bash = (phi__bash *)(void *)job;
    const phi_tools_desc *desc = &job->set->desc;
    const char *denied;
    phi__buf_init(&bash->streams[0].kept, job->memory);
    phi__buf_init(&bash->streams[1].kept, job->memory);
    phi__buf_init(&bash->fresh, job->memory);
    bash->deadline.fire = phi__bash_late;
    bash->tick.fire = phi__bash_tick;
    if (!phi__job_text(job, "command", true, &bash->command)) return PHI_DONE;
    if (phi__deny_find(job->memory, bash->command, desc->deny_patterns, &denied) != PHI_OK)
        return phi__job_no_memory(job);
    if (denied != NULL)
        return phi__job_fail(job,
                             "Command blocked by safety policy: contains '%s'. This pattern is "
                             "denied for safety.",
                             denied);
    if (desc->confirm_fn != NULL && !desc->confirm_fn(desc->user_data, bash->command))
        return phi__job_fail(job, "Command was not confirmed by the user.");
    if (desc->bash_timeout_ms != PHI_UNLIMITED)
        phi__bash_at(bash, &bash->deadline, (uint64_t)desc->bash_timeout_ms * 1000);
    if (!job->ended) phi__bash_spawn(bash);
    return job->ended ? PHI_DONE : PHI_PENDING;
}

PHI__FN phi_flow phi__bash_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__bash), true, phi__bash_go,
                          phi__bash_drop);
}

#endif

/* ---- src/tools/context_tools.c ---- */

/* context_tools.c - prun, prun_with_memo and revert_to_state: their descriptions, and their context
   edits. */


#include <stdio.h>

static const char phi__context_tool_prun[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"tokens\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"About how many tokens to remove\"}},"
    "\"required\":[\"tokens\"]}";
static const char phi__context_tool_memo[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"tokens\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"About how many tokens to remove\"},"
    "\"memo\":{\"type\":\"string\",\"description\":"
    "\"What to remember of what is removed, in a few sentences\"}},"
    "\"required\":[\"tokens\",\"memo\"]}";
static const char phi__context_tool_revert[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"category\":{\"type\":\"string\","
    "\"enum\":[\"failure\",\"tangent\",\"completion\",\"step-summary\"],"
    "\"description\":\"Why: what followed failed, led away, is done, or can be summed up\"},"
    "\"step\":{\"type\":\"string\",\"description\":\"The step to go back to, such as n12\"},"
    "\"summary\":{\"type\":\"string\",\"description\":\"What to remember of what followed\"}},"
    "\"required\":[\"category\",\"step\"]}";

static void phi__context_tools_drop(phi__job *job) { (void)job; }

/* ---- prun, prun_with_memo ---- */

static phi_flow phi__context_tools_prune(phi__job *job, uint64_t tokens, phi_str memo) {
    char words[96];
    if (tokens == 0) return phi__job_fail(job, "Invalid arguments: tokens must be > 0");
    if (phi_call_prune(job->call, tokens, memo) != PHI_OK) return phi__job_no_memory(job);
    (void)snprintf(words, sizeof words,
                   "Prun request recorded: %llu tokens will be removed before next turn.",
                   (unsigned long long)tokens);
    return phi__job_done(job, phi_str_of(words), NULL);
}

static phi_flow phi__context_tools_prune_go(phi__job *job) {
    uint64_t tokens;
    if (!phi__job_number(job, "tokens", 0, &tokens)) return PHI_DONE;
    return phi__context_tools_prune(job, tokens, phi__str(NULL, 0));
}

static phi_flow phi__context_tools_memo_go(phi__job *job) {
    uint64_t tokens;
    phi_str memo;
    if (!phi__job_number(job, "tokens", 0, &tokens) || !phi__job_str(job, "memo", &memo))
        return PHI_DONE;
    return phi__context_tools_prune(job, tokens, memo);
}

static phi_flow phi__context_tools_prune_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__job), true,
                          phi__context_tools_prune_go, phi__context_tools_drop);
}

static phi_flow phi__context_tools_memo_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__job), true,
                          phi__context_tools_memo_go, phi__context_tools_drop);
}

/* ---- revert_to_state ---- */

static phi_revert_category phi__context_tools_category(phi_str word) {
    int i;
    for (i = PHI_REVERT_FAILURE; i <= PHI_REVERT_STEP_SUMMARY; i++)
        if (phi__str_is(word, phi_revert_category_text((phi_revert_category)i)))
            return (phi_revert_category)i;
    return (phi_revert_category)0;
}

static phi_flow phi__context_tools_revert_go(phi__job *job) {
    phi_str category, step, digits;
    const char *summary;
    char words[200];
    uint64_t number;
    phi_revert_category which;
    phi_status status;
    if (!phi__job_str(job, "category", &category) || !phi__job_str(job, "step", &step) ||
        !phi__job_text(job, "summary", false, &summary))
        return PHI_DONE;
    which = phi__context_tools_category(category);
    if ((int)which == 0)
        return phi__job_fail(job, "Invalid arguments: category must be failure, tangent, "
                                  "completion or step-summary");
    digits = phi__str_starts(step, "n") ? phi__str(step.at + 1, step.len - 1) : step;
    if (!phi__str_to_u64(digits, &number))
        return phi__job_fail(job, "Invalid arguments: step must be one that is shown, such as n12");
    status = phi_call_revert(job->call, which, number, phi_str_of(summary), words, sizeof words);
    if (status == PHI_REJECTED) return phi__job_fail(job, "Revert rejected: %s", words);
    if (status != PHI_OK) return phi__job_no_memory(job);
    (void)snprintf(words, sizeof words,
                   "Revert request recorded: back to step n%llu before next turn.",
                   (unsigned long long)number);
    return phi__job_done(job, phi_str_of(words), NULL);
}

static phi_flow phi__context_tools_revert_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__job), true,
                          phi__context_tools_revert_go, phi__context_tools_drop);
}

static void
phi__context_tools_add(phi_tool *tool, const char *name, const char *label, const char *schema,
                       phi_flow (*start)(void *user_data, phi_call call, phi_str arguments),
                       const char *description) {
    memset(tool, 0, sizeof *tool);
    tool->name = name;
    tool->label = label;
    tool->description = description;
    tool->schema = schema;
    tool->start = start;
    tool->cancel = phi__job_cancel;
    tool->checks_arguments = true;
}

/* ---- public ---- */

PHI_API phi_status phi_tools_prun(phi_tool *out) {
    if (out == NULL) return PHI_BAD_ARG;
    phi__context_tools_add(
        &out[0], "prun", "Prun", phi__context_tool_prun, phi__context_tools_prune_start,
        "Remove the oldest of your own messages and tool results from the context, "
        "up to about so many tokens, when they are no longer needed. What the user "
        "said stays.");
    phi__context_tools_add(
        &out[1], "prun_with_memo", "Prun with Memo", phi__context_tool_memo,
        phi__context_tools_memo_start,
        "Remove the oldest of your own messages and tool results from the context, "
        "up to about so many tokens, and leave a memo in their place. What the user "
        "said stays.");
    return PHI_OK;
}

PHI_API phi_status phi_tools_revert(phi_tool *out) {
    if (out == NULL) return PHI_BAD_ARG;
    phi__context_tools_add(out, "revert_to_state", "Revert to State", phi__context_tool_revert,
                           phi__context_tools_revert_start,
                           "Go back to the step whose tool result ends with [step nNN]: all that "
                           "followed it is removed from the context, and the summary stays in its "
                           "place. Messages of the user cannot be gone back over.");
    out->names_steps = true;
    return PHI_OK;
}

/* ---- src/tools/deny.c ---- */

/* deny.c - the normalised forms of a command in which patterns are searched. */


static bool phi__deny_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Ends a command: what stands behind it are no arguments of it. */
static bool phi__deny_ends(char c) { return c != '\0' && strchr(";&|()<>\n`", c) != NULL; }

/* Without quotes and backslashes, runs of blanks as one; a line that is continued is one line. */
static void phi__deny_plain(phi__buf *out, const char *command) {
    bool blank = false;
    for (; *command != '\0'; command++) {
        if (command[0] == '\\' && command[1] == '\n') {
            command++;
            blank = true;
        } else if (phi__deny_blank(*command))
            blank = true;
        else if (*command != '\'' && *command != '"' && *command != '\\') {
            if (blank && out->len > 0) phi__buf_char(out, ' ');
            phi__buf_char(out, *command);
            blank = false;
        }
    }
}

/* A word of a plain command from `at`; empty: the command ends here. */
static phi_str phi__deny_word(const char *at) {
    size_t n = 0;
    while (*at == ' ') at++;
    while (at[n] != '\0' && at[n] != ' ' && !phi__deny_ends(at[n])) n++;
    return phi__str(at, n);
}

static void phi__deny_flags(phi_str word, bool *recursive, bool *force) {
    size_t i;
    if (phi__str_is(word, "--recursive")) *recursive = true;
    if (phi__str_is(word, "--force")) *force = true;
    for (i = 1; i < word.len && word.at[1] != '-'; i++) {
        if (word.at[i] == 'r' || word.at[i] == 'R') *recursive = true;
        if (word.at[i] == 'f') *force = true;
    }
}

/* The arguments of an rm, from `at`: each operand behind "rm -rf", where both flags are given. */
static const char *phi__deny_rm(phi__buf *out, const char *at) {
    const char *from = at;
    bool recursive = false, force = false, operands = false;
    phi_str word;
    for (word = phi__deny_word(at); word.len > 0; word = phi__deny_word(at)) {
        at = word.at + word.len;
        if (word.at[0] == '-' && !operands) phi__deny_flags(word, &recursive, &force);
        if (phi__str_is(word, "--")) operands = true;
    }
    for (word = phi__deny_word(from); recursive && force && word.len > 0;
         word = phi__deny_word(from)) {
        from = word.at + word.len;
        if (word.at[0] == '-') continue;
        phi__buf_text(out, "\nrm -rf ");
        phi__buf_add_str(out, word);
    }
    return at;
}

/* Each rm of a plain command, with its flags written in one way. */
static void phi__deny_removals(phi__buf *out, const char *plain) {
    while (*plain != '\0') {
        phi_str word = phi__deny_word(plain);
        if (word.len == 0) {
            while (*plain == ' ') plain++;
            if (*plain != '\0') plain++;
            continue;
        }
        plain = word.at + word.len;
        if (phi__str_is(word, "rm") ||
            (word.len > 3 && memcmp(word.at + word.len - 3, "/rm", 3) == 0))
            plain = phi__deny_rm(out, plain);
    }
}

/* Of a pattern of signs, without a blank: blanks between them do not matter. */
static bool phi__deny_signs(const char *pattern) {
    bool signs = false;
    for (; *pattern != '\0'; pattern++) {
        if (phi__deny_blank(*pattern)) return false;
        if (strchr("{}();|&:", *pattern) != NULL) signs = true;
    }
    return signs;
}

static void phi__deny_squeeze(phi__buf *out, const char *command) {
    for (; *command != '\0'; command++)
        if (!phi__deny_blank(*command) && *command != '\n') phi__buf_char(out, *command);
}

/* ---- for the tool ---- */

PHI__FN phi_status phi__deny_find(phi_memory *memory, const char *command,
                                  const char *const *patterns, const char **found) {
    phi__buf plain, removals, squeezed;
    bool failed;
    phi__buf_init(&plain, memory);
    phi__buf_init(&removals, memory);
    phi__buf_init(&squeezed, memory);
    phi__deny_plain(&plain, command);
    phi__buf_char(&plain, '\0');
    if (!plain.failed) phi__deny_removals(&removals, plain.at);
    phi__buf_char(&removals, '\0');
    phi__deny_squeeze(&squeezed, command);
    phi__buf_char(&squeezed, '\0');
    failed = plain.failed || removals.failed || squeezed.failed;
    *found = NULL;
    for (; !failed && *found == NULL && *patterns != NULL; patterns++)
        if (strstr(command, *patterns) != NULL || strstr(plain.at, *patterns) != NULL ||
            strstr(removals.at, *patterns) != NULL ||
            (phi__deny_signs(*patterns) && strstr(squeezed.at, *patterns) != NULL))
            *found = *patterns;
    phi__buf_free(&plain);
    phi__buf_free(&removals);
    phi__buf_free(&squeezed);
    return failed ? PHI_NO_MEMORY : PHI_OK;
}

/* ---- src/tools/edit_file.c ---- */

/* edit_file.c - the tool that replaces one piece of text: it reads the file, checks that the piece
   is there exactly once, and writes the file anew; each in slices.

   Bytes are compared, so that a file in another encoding keeps all that is not replaced. */

#ifndef PHI_NO_FILES


#include <stdio.h>

enum {
    PHI__EDIT_BYTES = 16777216, /* of a file: it is held in memory */
    PHI__EDIT_HINT_BYTES = 8192
};

typedef struct phi__edit {
    phi__job job;
    const char *path;
    phi_str old_text, new_text;
    phi__file *file; /* read, later written */
    phi__buf content;
    phi__finder finder;
    phi_str parts[3]; /* the parts to write: before, new_text, behind */
    size_t part, at;
} phi__edit;

static void phi__edit_file_drop(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    phi__files_close(edit->file);
    edit->file = NULL;
    phi__finder_end(&edit->finder);
    phi__buf_free(&edit->content);
}

static phi_flow phi__edit_file_unreadable(phi__edit *edit, const char *words) {
    return phi__job_fail(&edit->job, "Cannot read %s: %s. Use write_file to create new files.",
                         edit->path, words);
}

static phi_flow phi__edit_file_unwritable(phi__edit *edit, const char *words) {
    return phi__job_fail(&edit->job, "Cannot write %s: %s", edit->path, words);
}

static size_t phi__edit_file_lines(phi_str s) {
    size_t n = 0;
    while (s.len > 0) {
        const char *newline = (const char *)memchr(s.at, '\n', s.len);
        size_t len = newline != NULL ? (size_t)(newline - s.at) + 1 : s.len;
        n++;
        s = phi__str(s.at + len, s.len - len);
    }
    return n;
}

/* ---- the end ---- */

static phi_flow phi__edit_file_done(phi__edit *edit) {
    size_t old_lines = phi__edit_file_lines(edit->old_text),
           new_lines = phi__edit_file_lines(edit->new_text);
    phi__buf text, details;
    phi__buf_init(&text, edit->job.memory);
    phi__buf_init(&details, edit->job.memory);
    if (phi_str_equal(edit->old_text, edit->new_text))
        phi__buf_text(&text, "No changes (old_text == new_text)");
    else
        phi__buf_printf(&text, "Replaced %llu line%s with %llu line%s in %s",
                        (unsigned long long)old_lines, old_lines == 1 ? "" : "s",
                        (unsigned long long)new_lines, new_lines == 1 ? "" : "s", edit->path);
    phi__buf_text(&details, "{\"path\":");
    phi__json_write_str(&details, phi_str_of(edit->path));
    phi__buf_printf(&details, ",\"old_lines\":%llu,\"new_lines\":%llu}",
                    (unsigned long long)old_lines, (unsigned long long)new_lines);
    phi__buf_char(&details, '\0');
    if (text.failed || details.failed)
        (void)phi__job_no_memory(&edit->job);
    else
        (void)phi__job_done(&edit->job, phi__buf_str(&text), details.at);
    phi__buf_free(&text);
    phi__buf_free(&details);
    return PHI_DONE;
}

static phi_flow phi__edit_file_write(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    size_t left = PHI__JOB_SLICE;
    phi__words words;
    while (left > 0 && edit->part < PHI__COUNT(edit->parts)) {
        phi_str part = edit->parts[edit->part];
        size_t n = phi__min(left, part.len - edit->at);
        if (phi__files_write(edit->file, part.at + edit->at, n, &words) != PHI_OK)
            return phi__edit_file_unwritable(edit, words.text);
        left -= n;
        edit->at += n;
        if (edit->at < part.len) continue;
        edit->at = 0;
        edit->part++;
    }
    if (edit->part < PHI__COUNT(edit->parts)) return PHI_PENDING;
    if (phi__files_commit(edit->file, &words) != PHI_OK)
        return phi__edit_file_unwritable(edit, words.text);
    return phi__edit_file_done(edit);
}

static phi_flow phi__edit_file_replace(phi__edit *edit) {
    size_t begin = edit->finder.first, end = begin + edit->old_text.len;
    phi__words words;
    phi_status status;
    if (phi_str_equal(edit->old_text, edit->new_text)) return phi__edit_file_done(edit);
    edit->parts[0] = phi__str(edit->content.at, begin);
    edit->parts[1] = edit->new_text;
    edit->parts[2] = phi__str(edit->content.at + end, edit->content.len - end);
    status = phi__files_open_replace(edit->job.memory, edit->job.place, &edit->file, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(&edit->job);
    if (status != PHI_OK) return phi__edit_file_unwritable(edit, words.text);
    edit->job.go = phi__edit_file_write;
    return PHI_PENDING;
}

/* ---- not found ---- */

static phi_str phi__edit_file_first_line(phi_str s) {
    const char *newline;
    s = phi__str_trim(s);
    newline = s.len > 0 ? (const char *)memchr(s.at, '\n', s.len) : NULL;
    return newline != NULL ? phi__str_trim(phi__str(s.at, (size_t)(newline - s.at))) : s;
}

/* The lines of the file from the finder's match on. */
static phi_str phi__edit_file_hint(const phi__edit *edit) {
    const char *text = edit->content.at;
    size_t begin = edit->finder.first, end = begin, lines, i;
    while (begin > 0 && text[begin - 1] != '\n') begin--;
    lines = phi__edit_file_lines(phi__str_trim(edit->old_text)) + 1;
    for (i = 0; i < lines && end < edit->content.len && end - begin < PHI__EDIT_HINT_BYTES; i++) {
        const char *newline = (const char *)memchr(text + end, '\n', edit->content.len - end);
        end = newline != NULL ? (size_t)(newline - text) + 1 : edit->content.len;
    }
    if (end > begin && text[end - 1] == '\n') end--;
    return phi__str(text + begin,
                    phi__utf8_cut(phi__str(text + begin, end - begin), PHI__EDIT_HINT_BYTES));
}

static phi_flow phi__edit_file_not_found(phi__edit *edit, bool hint) {
    phi_str lines;
    if (!hint)
        return phi__job_fail(&edit->job,
                             "old_text not found in %s.\n\nTip: Use read_file to see the current "
                             "file contents, then copy the exact text you want to replace.",
                             edit->path);
    lines = phi__edit_file_hint(edit);
    return phi__job_fail(&edit->job, "old_text not found in %s.\n\nDid you mean:\n```\n%.*s\n```",
                         edit->path, (int)lines.len, lines.at);
}

static phi_flow phi__edit_file_find_hint(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    if (!phi__finder_advance(&edit->finder, PHI__JOB_SLICE)) return PHI_PENDING;
    return phi__edit_file_not_found(edit, edit->finder.found > 0);
}

/* ---- finding ---- */

static phi_flow phi__edit_file_found(phi__edit *edit) {
    phi_str line;
    if (edit->finder.found == 1) return phi__edit_file_replace(edit);
    if (edit->finder.found > 1)
        return phi__job_fail(&edit->job,
                             "old_text matches %llu locations in %s. Include more surrounding "
                             "context to make the match unique.",
                             (unsigned long long)edit->finder.found, edit->path);
    line = phi__edit_file_first_line(edit->old_text);
    if (line.len == 0) return phi__edit_file_not_found(edit, false);
    if (!phi__finder_begin(&edit->finder, edit->job.memory, line, phi__buf_str(&edit->content), 1))
        return phi__job_no_memory(&edit->job);
    edit->job.go = phi__edit_file_find_hint;
    return PHI_PENDING;
}

static phi_flow phi__edit_file_find(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    if (!phi__finder_advance(&edit->finder, PHI__JOB_SLICE)) return PHI_PENDING;
    return phi__edit_file_found(edit);
}

/* ---- reading ---- */

static phi_flow phi__edit_file_too_large(phi__edit *edit) {
    return phi__job_fail(&edit->job, "Cannot edit %s: larger than %u bytes", edit->path,
                         (unsigned)PHI__EDIT_BYTES);
}

static phi_flow phi__edit_file_read(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    char *to = phi__buf_reserve(&edit->content, PHI__JOB_SLICE);
    phi__words words;
    size_t got;
    if (to == NULL) return phi__job_no_memory(job);
    if (phi__files_read(edit->file, to, PHI__JOB_SLICE, &got, &words) != PHI_OK)
        return phi__edit_file_unreadable(edit, words.text);
    phi__buf_add_len(&edit->content, got);
    if (edit->content.len > PHI__EDIT_BYTES) return phi__edit_file_too_large(edit);
    if (got > 0) return PHI_PENDING;
    phi__files_close(edit->file);
    edit->file = NULL;
    if (!phi__finder_begin(&edit->finder, job->memory, edit->old_text, phi__buf_str(&edit->content),
                           SIZE_MAX))
        return phi__job_no_memory(job);
    job->go = phi__edit_file_find;
    return PHI_PENDING;
}

static phi_flow phi__edit_file_open(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    phi__file_info info;
    phi__words words;
    phi_status status;
    if (phi__files_stat(job->place, true, &info, &words) != PHI_OK)
        return phi__edit_file_unreadable(edit, words.text);
    if (info.kind == PHI__FILE_REGULAR && info.bytes > PHI__EDIT_BYTES)
        return phi__edit_file_too_large(edit);
    status = phi__files_open_read(job->memory, job->place, &edit->file, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
    if (status != PHI_OK) return phi__edit_file_unreadable(edit, words.text);
    if (phi__buf_reserve(&edit->content, (size_t)info.bytes + PHI__JOB_SLICE) == NULL)
        return phi__job_no_memory(job);
    job->go = phi__edit_file_read;
    return phi__edit_file_read(job);
}

static phi_flow phi__edit_file_go(phi__job *job) {
    phi__edit *edit = (phi__edit *)(void *)job;
    phi__buf_init(&edit->content, job->memory);
    if (!phi__job_text(job, "path", true, &edit->path) ||
        !phi__job_str(job, "old_text", &edit->old_text) ||
        !phi__job_str(job, "new_text", &edit->new_text))
        return PHI_DONE;
    if (edit->old_text.len == 0)
        return phi__job_fail(job, "Invalid arguments: 'old_text' must not be empty");
    return phi__job_place(job, edit->path, phi__edit_file_open);
}

PHI__FN phi_flow phi__edit_file_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__edit), false, phi__edit_file_go,
                          phi__edit_file_drop);
}

#endif

/* ---- src/tools/finder.c ---- */

/* finder.c - the search, resumable at every byte. */

PHI__FN bool phi__finder_begin(phi__finder *finder, phi_memory *memory, phi_str needle,
                               phi_str text, size_t most) {
    phi__finder_end(finder);
    if (needle.len == 0 || needle.len >= UINT32_MAX / sizeof(uint32_t)) return false;
    finder->memory = memory;
    finder->needle = needle;
    finder->text = text;
    finder->most = most;
    if (needle.len > text.len) { /* nothing to build a table for */
        finder->built = needle.len;
        finder->at = text.len;
        return true;
    }
    finder->back = (uint32_t *)phi__realloc(memory, NULL, 0, needle.len * sizeof(uint32_t));
    if (finder->back == NULL) return false;
    finder->back[0] = 0;
    finder->built = 1;
    return true;
}

/* How far the needle still matches when `c` comes after `matched` bytes of it. */
static size_t phi__finder_next(const phi__finder *finder, size_t matched, char c) {
    while (matched > 0 && finder->needle.at[matched] != c) matched = finder->back[matched - 1];
    return finder->needle.at[matched] == c ? matched + 1 : 0;
}

static void phi__finder_build(phi__finder *finder, size_t units) {
    for (; units > 0 && finder->built < finder->needle.len; units--) {
        finder->matched =
            phi__finder_next(finder, finder->matched, finder->needle.at[finder->built]);
        finder->back[finder->built++] = (uint32_t)finder->matched;
    }
    if (finder->built == finder->needle.len) finder->matched = 0;
}

PHI__FN bool phi__finder_advance(phi__finder *finder, size_t units) {
    size_t end;
    if (finder->built < finder->needle.len) {
        phi__finder_build(finder, units);
        return false;
    }
    end = finder->text.len - finder->at > units ? finder->at + units : finder->text.len;
    while (finder->at < end && finder->found < finder->most) {
        if (finder->matched == 0) { /* the common case: nothing begun, skip to what may begin */
            const void *next =
                memchr(finder->text.at + finder->at, finder->needle.at[0], end - finder->at);
            if (next == NULL) {
                finder->at = end;
                break;
            }
            finder->at = (size_t)((const char *)next - finder->text.at);
        }
        finder->matched = phi__finder_next(finder, finder->matched, finder->text.at[finder->at++]);
        if (finder->matched < finder->needle.len) continue;
        if (finder->found++ == 0) finder->first = finder->at - finder->needle.len;
        finder->matched = 0;
    }
    return finder->at == finder->text.len || finder->found == finder->most;
}

PHI__FN void phi__finder_end(phi__finder *finder) {
    if (finder->back != NULL)
        phi__free(finder->memory, finder->back, finder->needle.len * sizeof(uint32_t));
    memset(finder, 0, sizeof *finder);
}

/* ---- src/tools/ignored.c ---- */

/* ignored.c - the ignore files of the directories from the file system's root to a walk's place. */

#ifndef PHI_NO_FILES


typedef enum phi__ignored_kind {
    PHI__IGNORED_RG,
    PHI__IGNORED_PLAIN,
    PHI__IGNORED_GIT,
    PHI__IGNORED_EXCLUDE
} phi__ignored_kind;

static const char *phi__ignored_name(size_t kind) {
    static const char *const names[PHI__IGNORED_KINDS] = {".rgignore", ".ignore", ".gitignore",
                                                          ".git/info/exclude"};
    return names[kind];
}

/* ---- reading ---- */

static phi_status phi__ignored_parse(phi__ignored *ignored, phi__ignored_level *level, size_t kind,
                                     phi_str text) {
    phi__ignore *rules = (phi__ignore *)phi__alloc(ignored->memory, sizeof *rules);
    phi_status status;
    if (rules == NULL) return PHI_NO_MEMORY;
    phi__ignore_init(rules, ignored->memory);
    level->files[kind] = rules;
    status = phi__ignore_add(rules, text);
    ignored->rules += rules->count;
    return status;
}

/* A file that is not there, or cannot be read, has no rules. */
static phi_status phi__ignored_read(phi__ignored *ignored, phi__ignored_level *level, size_t kind,
                                    int dir) {
    phi__file *file;
    phi__buf text;
    size_t got = 1;
    phi_status status =
        phi__files_open_in(ignored->memory, dir, phi__ignored_name(kind), &file, NULL);
    if (status != PHI_OK) return status == PHI_NO_MEMORY ? PHI_NO_MEMORY : PHI_OK;
    phi__buf_init(&text, ignored->memory);
    while (got > 0 && text.len < PHI__IGNORED_BYTES) {
        size_t room = phi__min(PHI__IGNORED_BYTES - text.len, 16384);
        char *to = phi__buf_reserve(&text, room);
        if (to == NULL || phi__files_read(file, to, room, &got, NULL) != PHI_OK) break;
        phi__buf_add_len(&text, got);
    }
    phi__files_close(file);
    /* A line that is cut would be another rule: "*.o" could become "*". */
    if (text.len >= PHI__IGNORED_BYTES)
        while (text.len > 0 && text.at[text.len - 1] != '\n') text.len--;
    ignored->spent += PHI__IGNORED_BYTE * text.len;
    status = text.failed ? PHI_NO_MEMORY : PHI_OK;
    if (status == PHI_OK && text.len > 0)
        status = phi__ignored_parse(ignored, level, kind, phi__buf_str(&text));
    phi__buf_free(&text);
    return status;
}

static phi_status phi__ignored_fill(phi__ignored *ignored, phi__ignored_level *level, int dir) {
    phi_status status = PHI_OK;
    bool directory = false;
    size_t kind;
    level->git = phi__walk_has(dir, ".git", &directory);
    for (kind = 0; kind < PHI__IGNORED_KINDS && status == PHI_OK; kind++)
        if (kind != PHI__IGNORED_EXCLUDE || directory)
            status = phi__ignored_read(ignored, level, kind, dir);
    return status;
}

/* ---- levels ---- */

static void phi__ignored_pop(phi__ignored *ignored) {
    phi__ignored_level *level = &ignored->levels[--ignored->count];
    size_t kind;
    for (kind = 0; kind < PHI__IGNORED_KINDS; kind++) {
        phi__ignore *rules = level->files[kind];
        if (rules == NULL) continue;
        ignored->rules -= rules->count;
        phi__ignore_free(rules);
        phi__free(ignored->memory, rules, sizeof *rules);
    }
}

static phi__ignored_level *phi__ignored_push(phi__ignored *ignored, size_t from) {
    phi__ignored_level *levels = (phi__ignored_level *)phi__grow(
        ignored->memory, ignored->levels, &ignored->cap, ignored->count + 1, sizeof *levels);
    if (levels == NULL) return NULL;
    ignored->levels = levels;
    memset(&levels[ignored->count], 0, sizeof *levels);
    levels[ignored->count].from = from;
    return &levels[ignored->count++];
}

/* ---- for other files ---- */

PHI__FN void phi__ignored_init(phi__ignored *ignored, phi_memory *memory) {
    memset(ignored, 0, sizeof *ignored);
    ignored->memory = memory;
    phi__buf_init(&ignored->path, memory);
}

PHI__FN void phi__ignored_free(phi__ignored *ignored) {
    while (ignored->count > 0) phi__ignored_pop(ignored);
    phi__free(ignored->memory, ignored->levels, ignored->cap * sizeof *ignored->levels);
    ignored->levels = NULL;
    ignored->cap = 0;
    phi__buf_free(&ignored->path);
    ignored->asked.open = false;
}

PHI__FN phi_status phi__ignored_above(phi__ignored *ignored, const char *place) {
    phi__ignored_level *level;
    phi_status status;
    size_t from, len;
    int dir;
    if (ignored->path.len == 0) {
        phi__buf_text(&ignored->path, place);
        if (strcmp(place, "/") != 0) phi__buf_char(&ignored->path, '/');
        if (ignored->path.failed) return PHI_NO_MEMORY;
        ignored->root = ignored->path.len;
        return PHI_BUSY;
    }
    len = strlen(place);
    from = ignored->count > 0 ? ignored->levels[ignored->count - 1].from : 0;
    while (from < len && place[from] != '/') from++;
    if (from >= len || len == 1) return PHI_OK;
    level = phi__ignored_push(ignored, from + 1);
    ignored->above = ignored->count;
    if (level == NULL) return PHI_NO_MEMORY;
    dir = phi__walk_open_path(phi__str(place, phi__max(from, 1)));
    if (dir < 0) return PHI_BUSY;
    status = phi__ignored_fill(ignored, level, dir);
    phi__walk_close(dir);
    return status == PHI_OK ? PHI_BUSY : status;
}

PHI__FN phi_status phi__ignored_enter(phi__ignored *ignored, uint32_t depth, int dir,
                                      phi_str path) {
    phi__ignored_level *level;
    while (ignored->count > ignored->above + depth) phi__ignored_pop(ignored);
    level = phi__ignored_push(ignored, ignored->root + path.len);
    if (level == NULL) return PHI_NO_MEMORY;
    return dir >= 0 ? phi__ignored_fill(ignored, level, dir) : PHI_OK;
}

static phi_status phi__ignored_ask(phi__ignored *ignored, uint32_t depth, phi_str path) {
    phi__ignored_asked *asked = &ignored->asked;
    size_t i;
    while (ignored->count > ignored->above + depth) phi__ignored_pop(ignored);
    memset(asked, 0, sizeof *asked);
    if (ignored->rules == 0) return PHI_OK;
    ignored->path.len = ignored->root;
    phi__buf_add_str(&ignored->path, path);
    if (ignored->path.failed) return PHI_NO_MEMORY;
    for (i = 0; i < ignored->count; i++) asked->in_git = asked->in_git || ignored->levels[i].git;
    asked->level = ignored->count;
    asked->left = SIZE_MAX;
    asked->open = true;
    return PHI_OK;
}

/* Asks one kind of one level. False: the units are used up. */
static bool phi__ignored_ask_kind(phi__ignored *ignored, const phi__ignored_level *level,
                                  bool directory, size_t *units) {
    phi__ignored_asked *asked = &ignored->asked;
    const phi__ignore *rules = level->files[asked->kind];
    phi_str whole = phi__buf_str(&ignored->path);
    phi__ignore_said *said = &asked->said[asked->kind];
    if (rules == NULL || *said != PHI__IGNORE_NONE) return true;
    if (asked->kind >= PHI__IGNORED_GIT && (!asked->in_git || asked->past_git)) return true;
    if (asked->left > rules->count) asked->left = rules->count;
    whole = phi__str(whole.at + level->from, whole.len - level->from);
    *said = phi__ignore_says(rules, whole, directory, &asked->left, units);
    return *said != PHI__IGNORE_NONE || asked->left == 0;
}

PHI__FN phi_status phi__ignored_says(phi__ignored *ignored, uint32_t depth, phi_str path,
                                     bool directory, size_t *units, phi__ignore_said *out) {
    phi__ignored_asked *asked = &ignored->asked;
    size_t kind;
    *out = PHI__IGNORE_NONE;
    if (!asked->open) {
        phi_status status = phi__ignored_ask(ignored, depth, path);
        if (status != PHI_OK || !asked->open) return status;
    }
    for (; asked->level > 0; asked->level--) {
        const phi__ignored_level *level = &ignored->levels[asked->level - 1];
        for (; asked->kind < PHI__IGNORED_KINDS; asked->kind++) {
            if (!phi__ignored_ask_kind(ignored, level, directory, units)) return PHI_BUSY;
            asked->left = SIZE_MAX;
        }
        asked->kind = 0;
        asked->past_git = asked->past_git || level->git;
    }
    asked->open = false;
    for (kind = 0; kind < PHI__IGNORED_KINDS && *out == PHI__IGNORE_NONE; kind++)
        *out = asked->said[kind];
    return PHI_OK;
}

#endif

/* ---- src/tools/job.c ---- */

/* job.c - reads arguments, gives results, and checks that paths are allowed. */


#include <stdarg.h>
#include <stdio.h>

/* The budget of the agent that made a live call. */
static phi_memory *phi__job_memory(phi_call call) {
    phi__slot *slot = phi__slots_find(&call.rt->calls, call.index, call.gen);
    return slot != NULL ? &((phi__toolcall *)slot->object)->run->agent->memory : NULL;
}

static void phi__job_end(phi__job *job) {
    if (job->ended) return;
    job->ended = true;
    job->drop(job);
    phi_arena_free(&job->arena);
}

/* Without memory for the result the call fails by itself, with words. */
static void phi__job_emit(phi_call call, const phi_content *content, const char *details,
                          bool is_error) {
    phi_tool_result result;
    memset(&result, 0, sizeof result);
    result.content = content;
    result.content_count = 1;
    result.details = details;
    result.is_error = is_error;
    (void)phi_call_result(call, &result);
}

static void phi__job_emit_text(phi_call call, phi_str text, const char *details, bool is_error) {
    phi_content content;
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = text;
    phi__job_emit(call, &content, details, is_error);
}

PHI__FN phi_flow phi__job_content(phi__job *job, const phi_content *content, const char *details) {
    phi__job_emit(job->call, content, details, false);
    phi__job_end(job);
    return PHI_DONE;
}

PHI__FN phi_flow phi__job_no_memory(phi__job *job) {
    phi__job_emit_text(job->call, PHI__LIT("Out of memory"), NULL, true);
    phi__job_end(job);
    return PHI_DONE;
}

PHI__FN phi_flow phi__job_done(phi__job *job, phi_str text, const char *details) {
    phi__job_emit_text(job->call, text, details, false);
    phi__job_end(job);
    return PHI_DONE;
}

PHI__FN phi_flow phi__job_fail(phi__job *job, const char *format, ...) {
    va_list args;
    phi__buf text;
    int n;
    char *raw;
    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    raw = n < 0 ? NULL : (char *)phi_arena_alloc(&job->arena, (size_t)n + 1);
    if (raw == NULL) return phi__job_no_memory(job);
    va_start(args, format);
    (void)vsnprintf(raw, (size_t)n + 1, format, args);
    va_end(args);
    phi__buf_init(&text, job->memory);
    phi__utf8_repair(&text, phi__str(raw, (size_t)n)); /* it may quote a file or a program */
    if (!text.failed) text.len = phi__words_clean(text.at, text.len);
    if (text.failed) {
        (void)phi__job_no_memory(job);
    } else {
        phi__job_emit_text(job->call, phi__buf_str(&text), NULL, true);
        phi__job_end(job);
    }
    phi__buf_free(&text);
    return PHI_DONE;
}

/* ---- going on ---- */

static phi_flow phi__job_go(phi__job *job, size_t units) {
    phi_parse_error error;
    phi_status status;
    if (job->arguments == NULL) {
        status = phi_json_reader_advance(&job->reader, units);
        if (status == PHI_BUSY) return PHI_PENDING;
        status = phi_json_reader_result(&job->reader, &job->arguments, &error);
        if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
        if (status != PHI_OK)
            return phi__job_fail(job, "Invalid arguments: not JSON, at column %u: %s",
                                 (unsigned)error.column, error.message);
        if (!phi_json_is_object(job->arguments))
            return phi__job_fail(job, "Invalid arguments: expected object, got %s",
                                 phi_json_type_name(job->arguments));
    }
    return job->go(job);
}

static void phi__job_gone(void *state) { phi__job_end((phi__job *)state); }

PHI__FN phi_flow phi__job_begin(void *user_data, phi_call call, phi_str arguments, size_t bytes,
                                bool whole, phi_flow (*go)(phi__job *), void (*drop)(phi__job *)) {
    phi__job *job = (phi__job *)phi_call_state(call, bytes);
    if (job == NULL) {
        phi__job_emit_text(call, PHI__LIT("Out of memory"), NULL, true);
        return PHI_DONE;
    }
    job->call = call;
    job->set = (const phi_toolset *)user_data;
    job->user_data = user_data;
    job->memory = phi__job_memory(call);
    job->io = call.rt->io;
    job->go = go;
    job->drop = drop;
    phi_arena_init(&job->arena, job->memory, 1024);
    phi__call_on_gone(call, phi__job_gone);
    phi_json_reader_begin(&job->reader, &job->arena, arguments,
                          PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, 0);
    return phi__job_go(job, whole ? SIZE_MAX : (size_t)PHI__JOB_SLICE);
}

PHI__FN phi_flow phi__job_step(void *user_data, phi_call call) {
    phi__job *job = (phi__job *)phi_call_state(call, 0);
    (void)user_data;
    return job != NULL ? phi__job_go(job, PHI__JOB_SLICE) : PHI_PENDING;
}

PHI__FN void phi__job_cancel(void *user_data, phi_call call) {
    phi__job *job = (phi__job *)phi_call_state(call, 0);
    (void)user_data;
    if (job != NULL) phi__job_end(job);
}

/* ---- arguments ---- */

static const phi_json *phi__job_argument(const phi__job *job, const char *name) {
    const phi_json *node = phi_json_get(job->arguments, name);
    return phi_json_is_null(node) ? NULL : node;
}

PHI__FN bool phi__job_str(phi__job *job, const char *name, phi_str *out) {
    const phi_json *node = phi__job_argument(job, name);
    if (!phi_json_is_string(node)) {
        (void)phi__job_fail(job, "Invalid arguments: missing '%s' parameter", name);
        return false;
    }
    *out = phi_json_str(node, NULL);
    return true;
}

PHI__FN bool phi__job_text(phi__job *job, const char *name, bool required, const char **out) {
    const phi_json *node = phi__job_argument(job, name);
    phi_str s;
    *out = NULL;
    if (!phi_json_is_string(node) && (required || node == NULL)) {
        if (!required) return true;
        (void)phi__job_fail(job, "Invalid arguments: missing '%s' parameter", name);
        return false;
    }
    if (!phi_json_is_string(node)) {
        (void)phi__job_fail(job, "Invalid arguments: '%s' must be a string", name);
        return false;
    }
    s = phi_json_str(node, NULL);
    if (s.len > 0 && memchr(s.at, 0, s.len) != NULL) {
        (void)phi__job_fail(job, "Invalid arguments: '%s' must not contain a NUL character", name);
        return false;
    }
    if (!phi__arena_str(&job->arena, s, &s)) {
        (void)phi__job_no_memory(job);
        return false;
    }
    *out = s.at;
    return true;
}

PHI__FN bool phi__job_number(phi__job *job, const char *name, uint64_t fallback, uint64_t *out) {
    const phi_json *node = phi__job_argument(job, name);
    *out = fallback;
    if (node == NULL) return true;
    *out = phi_json_uint(node, UINT64_MAX);
    if (phi_json_is_number(node) && *out != UINT64_MAX) return true;
    (void)phi__job_fail(job, "Invalid arguments: '%s' must be a whole number, 0 or more", name);
    return false;
}

PHI__FN bool phi__job_flag(phi__job *job, const char *name, bool *out) {
    const phi_json *node = phi__job_argument(job, name);
    *out = phi_json_bool(node, false);
    if (node == NULL || phi_json_is_bool(node)) return true;
    (void)phi__job_fail(job, "Invalid arguments: '%s' must be true or false", name);
    return false;
}

/* ---- places ---- */

#ifndef PHI_NO_FILES

static bool phi__job_confined(const phi_tools_desc *desc) {
    return !desc->unconfined && (desc->workspace != NULL || desc->allowed_paths != NULL);
}

/* Begins with the next root that the place may lie in: the workspace, then the allowed paths.
   False: there is none. */
static bool phi__job_next_root(phi__job *job) {
    const phi_tools_desc *desc = &job->set->desc;
    for (;;) {
        size_t i = job->roots++;
        const char *root = i == 0                        ? desc->workspace
                           : desc->allowed_paths != NULL ? desc->allowed_paths[i - 1]
                                                         : NULL;
        if (root == NULL && i > 0) return false;
        if (root != NULL && phi__path_resolve_begin(job->resolve, i > 0 ? desc->workspace : NULL,
                                                    root, NULL) == PHI_OK)
            return true;
    }
}

static phi_status phi__job_misplaced(phi__job *job, const char *words) {
    (void)phi__job_fail(job, "Cannot access %s: %s", job->path, words);
    return PHI_REFUSED;
}

/* The path itself is resolved. PHI_BUSY: whether it may be used is not known. */
static phi_status phi__job_keep_place(phi__job *job) {
    phi_str kept;
    if (!phi__arena_str(&job->arena, phi_str_of(job->resolve->out), &kept)) {
        (void)phi__job_no_memory(job);
        return PHI_REFUSED;
    }
    job->place = kept.at;
    return phi__job_confined(&job->set->desc) ? PHI_BUSY : PHI_OK;
}

PHI__FN phi_status phi__job_place_begin(phi__job *job, const char *path) {
    phi__words words;
    job->path = path;
    job->resolve = (phi__resolve *)phi_arena_alloc(&job->arena, sizeof *job->resolve);
    if (job->resolve == NULL) {
        (void)phi__job_no_memory(job);
        return PHI_REFUSED;
    }
    if (phi__path_resolve_begin(job->resolve, job->set->desc.workspace, path, &words) != PHI_OK)
        return phi__job_misplaced(job, words.text);
    return PHI_OK;
}

PHI__FN phi_status phi__job_place_more(phi__job *job) {
    size_t units = PHI__JOB_PATHS;
    phi__words words;
    for (;;) {
        phi_status status = phi__path_resolve_advance(job->resolve, &units, &words);
        if (status == PHI_BUSY) return PHI_BUSY;
        if (job->place == NULL) {
            if (status != PHI_OK) return phi__job_misplaced(job, words.text);
            status = phi__job_keep_place(job);
            if (status != PHI_BUSY) return status;
        } else if (status == PHI_OK && phi__path_inside(job->resolve->out, job->place))
            return PHI_OK;
        if (!phi__job_next_root(job))
            return phi__job_misplaced(job, "it is outside the allowed paths");
    }
}

static phi_flow phi__job_placing(phi__job *job) {
    phi_status status = phi__job_place_more(job);
    if (status == PHI_BUSY) return PHI_PENDING;
    if (status != PHI_OK) return PHI_DONE;
    job->go = job->placed;
    return job->go(job);
}

PHI__FN phi_flow phi__job_place(phi__job *job, const char *path, phi_flow (*placed)(phi__job *)) {
    if (phi__job_place_begin(job, path) != PHI_OK) return PHI_DONE;
    job->placed = placed;
    job->go = phi__job_placing;
    return phi__job_placing(job);
}

#endif

/* ---- src/tools/list_files.c ---- */

/* list_files.c - the tool that lists files: it walks the tree, some entries a step.

   The first names in order are kept in a heap whose top is the last of them, while all are counted:
   so memory is bounded by the names listed, and time is linear in the entries. */

#ifndef PHI_NO_FILES


#include <stdio.h>

enum {
    PHI__LIST_STEP = 1024, /* units of work in one step: an entry is one, */
    PHI__LIST_BUSY = 32,   /* opening a directory so many, and two for each directory above */
    PHI__LIST_BYTES = 256, /* comparing so many bytes of patterns one */
    PHI__LIST_DEPTH = 3
};

typedef struct phi__list_run {
    phi__job job;
    const char *path, *pattern;
    uint64_t max_depth;
    uint64_t total;
    uint64_t end_us;
    phi__walk *walk;
    phi__walk_entry entry; /* while the ignore files are asked about it */
    bool asking;
    phi__ignored ignored;
    phi__buf choices; /* of the pattern */
    phi_str *names;   /* a heap, the last in order on top; then sorted */
    size_t count, cap;
    size_t heap, written; /* names that are still a heap; that are in `out` */
    phi__buf out;
} phi__list_run;

static void phi__list_files_forget(phi__list_run *list, phi_str name) {
    phi__free(list->job.memory, (void *)(uintptr_t)name.at, name.len);
}

static void phi__list_files_drop(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    phi__walk_free(list->walk);
    list->walk = NULL;
    phi__ignored_free(&list->ignored);
    phi__buf_free(&list->choices);
    while (list->count > 0) phi__list_files_forget(list, list->names[--list->count]);
    phi__free(job->memory, list->names, list->cap * sizeof *list->names);
    list->names = NULL;
    list->cap = 0;
    phi__buf_free(&list->out);
}

/* ---- the first names ---- */

static bool phi__list_files_before(phi_str a, phi_str b) {
    int order = memcmp(a.at, b.at, phi__min(a.len, b.len));
    return order != 0 ? order < 0 : a.len < b.len;
}

/* Puts a name at the top of the heap of the first n, or below names behind it in order. */
static void phi__list_files_sink(phi_str *names, size_t n, phi_str name) {
    size_t at = 0, child;
    while ((child = 2 * at + 1) < n) {
        if (child + 1 < n && phi__list_files_before(names[child], names[child + 1])) child++;
        if (!phi__list_files_before(name, names[child])) break;
        names[at] = names[child];
        at = child;
    }
    names[at] = name;
}

static void phi__list_files_rise(phi_str *names, size_t at, phi_str name) {
    for (; at > 0 && phi__list_files_before(names[(at - 1) / 2], name); at = (at - 1) / 2)
        names[at] = names[(at - 1) / 2];
    names[at] = name;
}

/* Counts a name, and keeps it where it is one of the first. False: no memory. */
static bool phi__list_files_add(phi__list_run *list, phi_str name) {
    uint32_t most = list->job.set->desc.max_files;
    bool full = list->count >= most;
    phi_str *names;
    char *copy;
    list->total++;
    if (most == 0 || (full && !phi__list_files_before(name, list->names[0]))) return true;
    names = (phi_str *)phi__grow(list->job.memory, list->names, &list->cap,
                                 phi__min(list->count + 1, most), sizeof *names);
    copy = names != NULL ? (char *)phi__alloc(list->job.memory, name.len) : NULL;
    if (names != NULL) list->names = names;
    if (copy == NULL) return false;
    memcpy(copy, name.at, name.len);
    if (full) {
        phi__list_files_forget(list, names[0]);
        phi__list_files_sink(names, list->count, phi__str(copy, name.len));
    } else
        phi__list_files_rise(names, list->count++, phi__str(copy, name.len));
    return true;
}

static bool phi__list_files_skipped(phi_str path) {
    static const char *const names[] = {"target", ".git", "node_modules"};
    size_t i;
    path = phi__glob_name(path);
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(path, names[i])) return true;
    return false;
}

/* A pattern with a slash is for the whole path, one without for the name alone. */
static bool phi__list_files_wanted(const phi__list_run *list, phi_str path, size_t *work) {
    if (list->pattern == NULL) return true;
    if (strchr(list->pattern, '/') == NULL) path = phi__glob_name(path);
    return phi__glob_any(phi__buf_str(&list->choices), path, work);
}

/* A path as the model wrote it, and the name below it: one line, whatever the names are. */
static void phi__list_files_write(phi__list_run *list, phi_str relative) {
    phi__buf *out = &list->out;
    size_t n = strlen(list->path), from;
    if (out->len > 0) phi__buf_char(out, '\n');
    from = out->len;
    while (n > 1 && list->path[n - 1] == '/') n--;
    if (n > 1 || list->path[0] != '.') {
        phi__buf_add(out, list->path, n);
        if (list->path[n - 1] != '/') phi__buf_char(out, '/');
    }
    phi__utf8_repair(out, relative);
    if (!out->failed) out->len = from + phi__words_clean_line(out->at + from, out->len - from);
}

static phi_flow phi__list_files_done(phi__list_run *list) {
    bool cut = list->total > list->job.set->desc.max_files;
    char details[80];
    (void)snprintf(details, sizeof details, "{\"total\":%llu,\"truncated\":%s}",
                   (unsigned long long)list->total, cut ? "true" : "false");
    if (list->total == 0) {
        phi__buf_printf(&list->out, "No files found in %s", list->path);
        if (!list->out.failed) list->out.len = phi__words_clean_line(list->out.at, list->out.len);
    } else if (cut)
        phi__buf_printf(&list->out, "\n\n... (%llu files, showing first %u)",
                        (unsigned long long)list->total, (unsigned)list->job.set->desc.max_files);
    else
        phi__buf_printf(&list->out, "\n\n(%llu files)", (unsigned long long)list->total);
    if (list->out.failed) return phi__job_no_memory(&list->job);
    return phi__job_done(&list->job, phi__buf_str(&list->out), details);
}

/* The heap becomes a sorted list, and then text. */
static phi_flow phi__list_files_show(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    int units = PHI__LIST_STEP;
    for (; units > 0 && list->heap > 1; units--) {
        phi_str first = list->names[0];
        list->heap--;
        phi__list_files_sink(list->names, list->heap, list->names[list->heap]);
        list->names[list->heap] = first;
    }
    for (; units > 0 && list->heap <= 1 && list->written < list->count; units--)
        phi__list_files_write(list, list->names[list->written++]);
    if (list->out.failed) return phi__job_no_memory(job);
    if (list->heap > 1 || list->written < list->count) return PHI_PENDING;
    return phi__list_files_done(list);
}

/* Whether an entry matters by its kind, its depth, and a file's name. */
static bool phi__list_files_asks(phi__list_run *list, size_t *work) {
    const phi__walk_entry *entry = &list->entry;
    if (entry->kind != PHI__FILE_DIRECTORY)
        return entry->kind == PHI__FILE_REGULAR && entry->depth <= list->max_depth &&
               phi__list_files_wanted(list, entry->path, work);
    if (entry->depth < list->max_depth && !phi__list_files_skipped(entry->path)) return true;
    phi__walk_skip(list->walk);
    return false;
}

/* Asks the ignore files about the entry. list->asking: they have not answered yet. */
static phi_status phi__list_files_entry(phi__list_run *list, size_t *bytes) {
    const phi__walk_entry *entry = &list->entry;
    bool directory = entry->kind == PHI__FILE_DIRECTORY;
    phi__ignore_said said;
    phi_status status =
        phi__ignored_says(&list->ignored, entry->depth, entry->path, directory, bytes, &said);
    list->asking = status == PHI_BUSY;
    if (status != PHI_OK) return status;
    if (directory && said == PHI__IGNORE_OUT) phi__walk_skip(list->walk);
    if (directory || said == PHI__IGNORE_OUT) return PHI_OK;
    return phi__list_files_add(list, entry->path) ? PHI_OK : PHI_NO_MEMORY;
}

/* Units for the ignore files read meanwhile. */
static uint32_t phi__list_files_read(phi__list_run *list) {
    size_t spent = list->ignored.spent / PHI__LIST_BYTES;
    list->ignored.spent = 0;
    return (uint32_t)spent;
}

/* The next entry; PHI_NOT_FOUND: the end. *units: what it took. */
static phi_status phi__list_files_next(phi__list_run *list, uint32_t *units) {
    phi__walk_entry *entry = &list->entry;
    const size_t most = (size_t)(PHI__LIST_STEP - *units) * PHI__LIST_BYTES;
    size_t work = 0, left;
    phi_status status = PHI_OK;
    if (!list->asking) {
        memset(entry, 0, sizeof *entry);
        status = phi__walk_next(list->walk, entry);
        *units += status == PHI_BUSY ? PHI__LIST_BUSY + 2 * entry->depth : 1;
        if (status == PHI_BUSY && entry->entered) {
            status = phi__ignored_enter(&list->ignored, entry->depth, phi__walk_at(list->walk),
                                        entry->path);
            *units += phi__list_files_read(list);
            return status;
        }
        list->asking = status == PHI_OK && phi__list_files_asks(list, &work);
    }
    left = most - phi__min(work, most - 1);
    if (list->asking) status = phi__list_files_entry(list, &left);
    *units += (uint32_t)(phi__max(work, most - left) / PHI__LIST_BYTES);
    return status;
}

static phi_flow phi__list_files_walk(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    uint32_t units;
    if (phi__io_now_us(job->io) >= list->end_us) return phi__job_fail(job, "Listing timed out");
    for (units = 0; units < PHI__LIST_STEP;) {
        phi_status status = phi__list_files_next(list, &units);
        if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
        if (status != PHI_NOT_FOUND) continue;
        phi__walk_free(list->walk);
        list->walk = NULL;
        list->heap = list->count;
        job->go = phi__list_files_show;
        return phi__list_files_show(job);
    }
    return PHI_PENDING;
}

/* The ignore files of the directories above come first. */
static phi_flow phi__list_files_above(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    uint32_t units = 0;
    phi_status status = PHI_BUSY;
    for (; status == PHI_BUSY && units < PHI__LIST_STEP; units += PHI__LIST_BUSY) {
        status = phi__ignored_above(&list->ignored, job->place);
        units += phi__list_files_read(list);
    }
    if (status == PHI_BUSY) return PHI_PENDING;
    if (status != PHI_OK) return phi__job_no_memory(job);
    job->go = phi__list_files_walk;
    return phi__list_files_walk(job);
}

static phi_flow phi__list_files_open(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    const phi_tools_desc *desc = &job->set->desc;
    phi__file_info info;
    phi__words words;
    phi_status status;
    if (phi__files_stat(job->place, true, &info, &words) == PHI_NOT_FOUND ||
        (info.kind != PHI__FILE_NONE && info.kind != PHI__FILE_DIRECTORY))
        return phi__job_fail(job, "Directory not found: %s. Check the path and try again.",
                             list->path);
    status = phi__walk_new(job->memory, job->place, &list->walk, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot access %s: %s", list->path, words.text);
    list->end_us = desc->list_timeout_ms == PHI_UNLIMITED
                       ? UINT64_MAX
                       : phi__io_now_us(job->io) + (uint64_t)desc->list_timeout_ms * 1000;
    job->go = phi__list_files_above;
    return phi__list_files_above(job);
}

/* The choices of the pattern; an invalid one is matched byte by byte. False: the job has ended. */
static bool phi__list_files_pattern(phi__list_run *list) {
    phi_str pattern;
    if (list->pattern == NULL) return true;
    pattern = phi_str_of(list->pattern);
    if (pattern.len > PHI__GLOB_PATTERN) {
        (void)phi__job_fail(&list->job, "Cannot list %s: the pattern is longer than 2,048 bytes",
                            list->path);
        return false;
    }
    if (phi__str_starts(pattern, "./")) pattern = phi__str(pattern.at + 2, pattern.len - 2);
    if (phi__glob_expand(&list->choices, pattern) != NULL)
        phi__buf_add_str(&list->choices, pattern);
    if (!list->choices.failed) return true;
    (void)phi__job_no_memory(&list->job);
    return false;
}

static phi_flow phi__list_files_go(phi__job *job) {
    phi__list_run *list = (phi__list_run *)(void *)job;
    phi__buf_init(&list->out, job->memory);
    phi__buf_init(&list->choices, job->memory);
    phi__ignored_init(&list->ignored, job->memory);
    if (!phi__job_text(job, "path", false, &list->path) ||
        !phi__job_text(job, "pattern", false, &list->pattern) ||
        !phi__job_number(job, "max_depth", PHI__LIST_DEPTH, &list->max_depth))
        return PHI_DONE;
    if (list->path == NULL || list->path[0] == '\0') list->path = ".";
    if (!phi__list_files_pattern(list)) return PHI_DONE;
    return phi__job_place(job, list->path, phi__list_files_open);
}

PHI__FN phi_flow phi__list_files_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__list_run), false,
                          phi__list_files_go, phi__list_files_drop);
}

#endif

/* ---- src/tools/read_file.c ---- */

/* read_file.c - the tool that reads text, numbered, or an image, in base64; a slice a step.

   The requested lines are numbered as they arrive, behind room for the header, whose figures are
   only known at the end. */

#ifndef PHI_NO_FILES


#include <stdio.h>

enum {
    PHI__READ_HEADER_BYTES = 96,      /* "[Lines a-b of n]" and a newline */
    PHI__READ_IMAGE_BYTES = 20971520, /* the book: 20 MB */
    PHI__READ_MEGABYTE = 1048576,
    PHI__READ_SLICE = PHI__JOB_SLICE / 3 * 3 /* whole groups of base64 */
};

typedef struct phi__read {
    phi__job job;
    const char *path;
    const char *mime_type; /* NULL: text */
    uint64_t first, limit; /* lines wanted: from 0; how many */
    uint64_t line;         /* the one being read, from 0 */
    uint64_t bytes;        /* of the file so far */
    uint64_t wanted_bytes; /* of the lines wanted, their ends included */
    uint64_t last;         /* lines returned */
    bool in_line;
    phi__file *file;
    phi__buf out;
    char *slice;
    size_t carried; /* bytes at the slice's start, from the one before */
} phi__read;

static void phi__read_file_drop(phi__job *job) {
    phi__read *read = (phi__read *)(void *)job;
    phi__files_close(read->file);
    read->file = NULL;
    phi__buf_free(&read->out);
    phi__free(job->memory, read->slice, PHI__READ_SLICE);
    read->slice = NULL;
}

/* The type of an image, by its name; NULL: text. */
static const char *phi__read_file_mime_type(const char *path) {
    static const struct {
        const char *end, *mime_type;
    } types[] = {{"jpg", "image/jpeg"},  {"jpeg", "image/jpeg"}, {"png", "image/png"},
                 {"webp", "image/webp"}, {"gif", "image/gif"},   {"bmp", "image/bmp"}};
    const char *dot = strrchr(path, '.');
    size_t i;
    if (dot == NULL) return NULL;
    for (i = 0; i < PHI__COUNT(types); i++)
        if (phi__str_is_nocase(phi_str_of(dot + 1), types[i].end)) return types[i].mime_type;
    return NULL;
}

/* {"path":...} and, of an image, its bytes; terminated. */
static void phi__read_file_details(const phi__read *read, phi__buf *details) {
    phi__buf_text(details, "{\"path\":");
    phi__json_write_str(details, phi_str_of(read->path));
    if (read->mime_type != NULL)
        phi__buf_printf(details, ",\"bytes\":%llu", (unsigned long long)read->bytes);
    phi__buf_text(details, "}");
    phi__buf_char(details, '\0');
}

/* Reads the next slice behind the carried bytes; *n: both together. False: the job has failed. */
static bool phi__read_file_more(phi__read *read, size_t *n, bool *end) {
    phi__words words;
    size_t got;
    if (phi__files_read(read->file, read->slice + read->carried, PHI__READ_SLICE - read->carried,
                        &got, &words) != PHI_OK) {
        (void)phi__job_fail(&read->job, "Cannot read %s: %s", read->path, words.text);
        return false;
    }
    read->bytes += got;
    *n = read->carried + got;
    *end = got == 0;
    read->carried = 0;
    return true;
}

static void phi__read_file_carry(phi__read *read, size_t from, size_t n) {
    memmove(read->slice, read->slice + from, n - from);
    read->carried = n - from;
}

/* ---- images ---- */

static phi_flow phi__read_file_image_end(phi__read *read) {
    phi_content content;
    phi__buf details;
    if (read->out.len == 0) /* providers refuse an image without data */
        return phi__job_fail(&read->job, "Cannot read %s: the image is empty", read->path);
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_IMAGE;
    content.data = phi__buf_str(&read->out);
    content.mime_type = phi_str_of(read->mime_type);
    phi__buf_init(&details, read->job.memory);
    phi__read_file_details(read, &details);
    if (details.failed)
        (void)phi__job_no_memory(&read->job);
    else
        (void)phi__job_content(&read->job, &content, details.at);
    phi__buf_free(&details);
    return PHI_DONE;
}

static phi_flow phi__read_file_image_too_large(phi__read *read, uint64_t bytes) {
    return phi__job_fail(&read->job, "Image too large (%lluMB, max 20MB)",
                         (unsigned long long)(bytes / PHI__READ_MEGABYTE));
}

static phi_flow phi__read_file_image(phi__job *job) {
    phi__read *read = (phi__read *)(void *)job;
    size_t n, whole;
    bool end;
    if (!phi__read_file_more(read, &n, &end)) return PHI_DONE;
    if (read->bytes > PHI__READ_IMAGE_BYTES)
        return phi__read_file_image_too_large(read, read->bytes);
    whole = end ? n : n / 3 * 3;
    phi__base64_encode(&read->out, read->slice, whole);
    if (read->out.failed) return phi__job_no_memory(job);
    phi__read_file_carry(read, whole, n);
    return end ? phi__read_file_image_end(read) : PHI_PENDING;
}

/* ---- text ---- */

static bool phi__read_file_wanted(const phi__read *read) {
    return read->line >= read->first && read->line - read->first < read->limit;
}

/* A piece of one line: n bytes, without its end. */
static void phi__read_file_piece(phi__read *read, const char *at, size_t n) {
    bool begins = !read->in_line;
    read->in_line = true;
    if (!phi__read_file_wanted(read)) return;
    if (begins) {
        if (read->line > read->first) phi__buf_char(&read->out, '\n');
        phi__buf_printf(&read->out, "%4llu | ", (unsigned long long)read->line + 1);
        read->last = read->line + 1;
    }
    phi__buf_add(&read->out, at, n);
    read->wanted_bytes += n;
}

static void phi__read_file_line_end(phi__read *read) {
    phi__read_file_piece(read, "", 0); /* an empty line is a line */
    /* What stands before the text of a line ends in a blank, so that a CR is the line's. */
    if (phi__read_file_wanted(read)) {
        if (!read->out.failed && read->out.at[read->out.len - 1] == '\r') read->out.len--;
        read->wanted_bytes++;
    }
    read->in_line = false;
    read->line++;
}

static void phi__read_file_lines(phi__read *read, const char *at, size_t n) {
    while (n > 0) {
        const char *newline = (const char *)memchr(at, '\n', n);
        size_t len = newline != NULL ? (size_t)(newline - at) : n;
        if (len > 0) phi__read_file_piece(read, at, len);
        if (newline == NULL) return;
        phi__read_file_line_end(read);
        at += len + 1;
        n -= len + 1;
    }
}

static phi_flow phi__read_file_text_end(phi__read *read) {
    char header[PHI__READ_HEADER_BYTES];
    uint64_t total = read->line + (read->in_line ? 1 : 0);
    uint64_t first = read->first < total ? read->first : total;
    uint64_t end = read->last > first ? read->last : first;
    size_t n;
    phi__buf details;
    if (first > 0 || end < total)
        (void)snprintf(header, sizeof header, "[Lines %llu-%llu of %llu]\n",
                       (unsigned long long)first + 1, (unsigned long long)end,
                       (unsigned long long)total);
    else
        (void)snprintf(header, sizeof header, "[%llu lines]\n", (unsigned long long)total);
    n = strlen(header);
    memcpy(read->out.at + PHI__READ_HEADER_BYTES - n, header, n);
    phi__buf_init(&details, read->job.memory);
    phi__read_file_details(read, &details);
    if (details.failed)
        (void)phi__job_no_memory(&read->job);
    else
        (void)phi__job_done(&read->job,
                            phi__str(read->out.at + PHI__READ_HEADER_BYTES - n,
                                     read->out.len - PHI__READ_HEADER_BYTES + n),
                            details.at);
    phi__buf_free(&details);
    return PHI_DONE;
}

static phi_flow phi__read_file_too_large(phi__read *read, uint64_t bytes) {
    return phi__job_fail(&read->job,
                         "File too large (%llu bytes, max %llu). Use offset/limit for partial "
                         "reads.",
                         (unsigned long long)bytes,
                         (unsigned long long)read->job.set->desc.max_read_bytes);
}

static phi_flow phi__read_file_text(phi__job *job) {
    phi__read *read = (phi__read *)(void *)job;
    size_t n, valid;
    bool end;
    if (!phi__read_file_more(read, &n, &end)) return PHI_DONE;
    valid = phi__utf8_valid(phi__str(read->slice, n));
    if (n - valid > 3 || (end && valid < n))
        return phi__job_fail(job, "Cannot read %s: the file is not valid UTF-8 text", read->path);
    phi__read_file_lines(read, read->slice, valid);
    if (read->out.failed) return phi__job_no_memory(job);
    if (read->wanted_bytes > job->set->desc.max_read_bytes)
        return phi__read_file_too_large(read, read->bytes);
    phi__read_file_carry(read, valid, n);
    return end ? phi__read_file_text_end(read) : PHI_PENDING;
}

/* ---- the beginning ---- */

static phi_flow phi__read_file_open(phi__read *read, const char *real, uint64_t bytes) {
    phi__job *job = &read->job;
    phi__words words;
    phi_status status = phi__files_open_read(job->memory, real, &read->file, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot read %s: %s", read->path, words.text);
    read->slice = (char *)phi__alloc(job->memory, PHI__READ_SLICE);
    if (read->slice == NULL) return phi__job_no_memory(job);
    if (read->mime_type != NULL) {
        if (phi__buf_reserve(&read->out, (size_t)bytes / 3 * 4 + 8) == NULL)
            return phi__job_no_memory(job);
        job->go = phi__read_file_image;
    } else {
        if (phi__buf_reserve(&read->out, PHI__READ_HEADER_BYTES) == NULL)
            return phi__job_no_memory(job);
        phi__buf_add_len(&read->out, PHI__READ_HEADER_BYTES);
        job->go = phi__read_file_text;
    }
    return job->go(job);
}

static phi_flow phi__read_file_placed(phi__job *job) {
    phi__read *read = (phi__read *)(void *)job;
    phi__file_info info;
    phi__words words;
    bool part = read->first > 0 || read->limit != UINT64_MAX;
    if (read->first > 0) read->first--;
    if (phi__files_stat(job->place, true, &info, &words) != PHI_OK)
        return phi__job_fail(job, "Cannot access %s: %s", read->path, words.text);
    read->mime_type = phi__read_file_mime_type(read->path);
    if (read->mime_type != NULL && info.bytes > PHI__READ_IMAGE_BYTES)
        return phi__read_file_image_too_large(read, info.bytes);
    if (read->mime_type == NULL && !part && info.kind == PHI__FILE_REGULAR &&
        info.bytes > job->set->desc.max_read_bytes)
        return phi__read_file_too_large(read, info.bytes);
    return phi__read_file_open(read, job->place, info.bytes);
}

static phi_flow phi__read_file_go(phi__job *job) {
    phi__read *read = (phi__read *)(void *)job;
    phi__buf_init(&read->out, job->memory);
    if (!phi__job_text(job, "path", true, &read->path) ||
        !phi__job_number(job, "offset", 0, &read->first) ||
        !phi__job_number(job, "limit", UINT64_MAX, &read->limit))
        return PHI_DONE;
    return phi__job_place(job, read->path, phi__read_file_placed);
}

PHI__FN phi_flow phi__read_file_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__read), false, phi__read_file_go,
                          phi__read_file_drop);
}

#endif

/* ---- src/tools/registry.c ---- */

/* registry.c - an array of tools, searched by name. */


enum { PHI__REGISTRY_APART = 3 };

struct phi_tool_registry {
    phi_memory memory;
    phi_tool *tools;
    size_t count, cap;
    phi_toolset defaults;
    phi_tool apart[PHI__REGISTRY_APART]; /* tools outside of the set, found by name only */
    size_t apart_count;
};

static size_t phi__registry_find(const phi_tool_registry *registry, const char *name) {
    size_t i;
    for (i = 0; i < registry->count; i++)
        if (strcmp(registry->tools[i].name, name) == 0) return i;
    return SIZE_MAX;
}

static const phi_tool *phi__registry_named(const phi_tool_registry *registry, const char *name) {
    size_t i, at = phi__registry_find(registry, name);
    if (at != SIZE_MAX) return &registry->tools[at];
    for (i = 0; i < registry->apart_count; i++)
        if (strcmp(registry->apart[i].name, name) == 0) return &registry->apart[i];
    return NULL;
}

static bool phi__registry_has(const phi_tool *tools, size_t count, const char *name) {
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(tools[i].name, name) == 0) return true;
    return false;
}

/* ---- public ---- */

PHI_API phi_tool_registry *phi_tool_registry_new(const phi_allocator *allocator) {
    phi_memory memory;
    phi_tool_registry *registry;
    phi_memory_init(&memory, allocator, 0);
    registry = (phi_tool_registry *)phi__alloc(&memory, sizeof *registry);
    if (registry != NULL) registry->memory = memory;
    return registry;
}

PHI_API phi_tool_registry *phi_tool_registry_with_defaults(const phi_allocator *allocator,
                                                           const phi_tools_desc *desc) {
    phi_tool_registry *registry = phi_tool_registry_new(allocator);
    size_t i;
    if (registry == NULL) return NULL;
    (void)phi_tools_init(&registry->defaults, desc);
    (void)phi_tools_prun(registry->apart);
    (void)phi_tools_revert(registry->apart + 2);
    registry->apart_count = PHI__REGISTRY_APART;
    for (i = 0; i < registry->defaults.count; i++) {
        if (phi_tool_registry_add(registry, &registry->defaults.tools[i]) == PHI_OK) continue;
        phi_tool_registry_free(registry);
        return NULL;
    }
    return registry;
}

PHI_API void phi_tool_registry_free(phi_tool_registry *registry) {
    phi_memory memory;
    if (registry == NULL) return;
    phi__free(&registry->memory, registry->tools, registry->cap * sizeof *registry->tools);
    memory = registry->memory; /* its own block is counted in itself */
    phi__free(&memory, registry, sizeof *registry);
}

PHI_API phi_status phi_tool_registry_add(phi_tool_registry *registry, const phi_tool *tool) {
    phi_tool *tools;
    size_t at;
    if (registry == NULL || tool == NULL || tool->name == NULL || tool->name[0] == '\0' ||
        tool->start == NULL)
        return PHI_BAD_ARG;
    at = phi__registry_find(registry, tool->name);
    if (at == SIZE_MAX) {
        tools = (phi_tool *)phi__grow(&registry->memory, registry->tools, &registry->cap,
                                      registry->count + 1, sizeof *tools);
        if (tools == NULL) return PHI_NO_MEMORY;
        registry->tools = tools;
        at = registry->count++;
    }
    registry->tools[at] = *tool;
    return PHI_OK;
}

PHI_API bool phi_tool_registry_contains(const phi_tool_registry *registry, const char *name) {
    return registry != NULL && name != NULL && phi__registry_named(registry, name) != NULL;
}

PHI_API size_t phi_tool_registry_count(const phi_tool_registry *registry) {
    return registry != NULL ? registry->count : 0;
}

PHI_API const phi_tool *phi_tool_registry_at(const phi_tool_registry *registry, size_t index) {
    return registry != NULL && index < registry->count ? &registry->tools[index] : NULL;
}

PHI_API size_t phi_tool_registry_resolve(const phi_tool_registry *registry,
                                         const char *const *names, size_t count, phi_tool *out,
                                         const char **unknown, size_t *unknown_count) {
    size_t found = 0, missing = 0, i;
    for (i = 0; i < count; i++) {
        const phi_tool *tool = registry != NULL ? phi__registry_named(registry, names[i]) : NULL;
        if (tool == NULL) {
            if (unknown != NULL) unknown[missing] = names[i];
            missing++;
            continue;
        }
        if (!phi__registry_has(out, found, names[i])) out[found++] = *tool;
        if (strcmp(names[i], "prun") != 0 || phi__registry_has(out, found, "prun_with_memo"))
            continue;
        tool = phi__registry_named(registry, "prun_with_memo");
        if (tool != NULL) out[found++] = *tool;
    }
    if (unknown_count != NULL) *unknown_count = missing;
    return found;
}

/* ---- src/tools/script_talk.c ---- */

/* script_talk.c - the JSON that a script reads, and the answer that it writes. */

#ifndef PHI_NO_SCRIPTS


/* ---- the input ---- */

PHI__FN const char *phi__script_talk_name(phi_hook_point point) {
    switch (point) {
    case PHI_HOOK_BEFORE_LOOP: return "before_loop";
    case PHI_HOOK_BEFORE_TURN: return "before_turn";
    case PHI_HOOK_BEFORE_COMPACTION: return "before_compaction_start";
    case PHI_HOOK_AFTER_COMPACTION: return "after_compaction_end";
    case PHI_HOOK_BEFORE_TOOL: return "before_tool_execution";
    case PHI_HOOK_AFTER_TOOL: return "after_tool_execution";
    case PHI_HOOK_ON_ERROR: return "on_error";
    case PHI_HOOK_AFTER_TURN: return "after_turn";
    case PHI_HOOK_STEERING: return "steering";
    case PHI_HOOK_FOLLOW_UP: return "follow_up";
    case PHI_HOOK_AFTER_LOOP: return "after_loop";
    case PHI_HOOK_FILTER: return "filter";
    case PHI_HOOK_CREDENTIAL: return "credential";
    case PHI_HOOK_TRANSFORM_CONTEXT:
    case PHI_HOOK_CONVERT_TO_LLM:
    case PHI_HOOK_BEFORE_TOOL_UPDATE:
    case PHI_HOOK_AFTER_TOOL_UPDATE:
    case PHI_HOOK_QUESTION: break;
    }
    return NULL;
}

static void phi__script_talk_key(phi__buf *out, const char *key) {
    phi__buf_printf(out, ",\"%s\":", key);
}

static void phi__script_talk_text(phi__buf *out, const char *key, phi_str text) {
    phi__script_talk_key(out, key);
    phi__json_write_str(out, text);
}

static void phi__script_talk_number(phi__buf *out, const char *key, uint64_t n) {
    phi__script_talk_key(out, key);
    phi__buf_u64(out, n);
}

/* Loop ids are session.config.N. */
static uint64_t phi__script_talk_loop_index(phi_str loop_id) {
    size_t at = loop_id.len;
    uint64_t n = 0;
    while (at > 0 && loop_id.at[at - 1] != '.') at--;
    return phi__str_to_u64(phi__str(loop_id.at + at, loop_id.len - at), &n) ? n : 0;
}

/* As they are where they are JSON, else as a text. */
static void phi__script_talk_arguments(phi__buf *out, phi_str arguments) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_arena_init(&scratch, out->memory, 0);
    phi__script_talk_key(out, "arguments");
    if (phi_json_parse(&scratch, arguments, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root,
                       NULL) != PHI_OK ||
        phi__json_write(out, root, 0) != PHI_OK)
        phi__json_write_str(out, arguments);
    phi_arena_free(&scratch);
}

/* The text blocks of a message, joined by line breaks. */
static void phi__script_talk_result(phi__buf *out, const phi_message *message) {
    phi__buf text;
    size_t i;
    if (message == NULL) return;
    phi__buf_init(&text, out->memory);
    for (i = 0; i < message->content_count; i++) {
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (text.len > 0) phi__buf_char(&text, '\n');
        phi__buf_add_str(&text, message->content[i].text);
    }
    phi__script_talk_text(out, "result", phi__buf_str(&text));
    out->failed = out->failed || text.failed;
    phi__buf_free(&text);
}

static void phi__script_talk_tool(phi__buf *out, const phi_hook *hook, phi_str arguments) {
    phi__script_talk_text(out, "tool_name", hook->tool_name);
    phi__script_talk_text(out, "tool_call_id", hook->tool_call_id);
    if (hook->point == PHI_HOOK_AFTER_TOOL) {
        phi__script_talk_key(out, "is_error");
        phi__json_write_bool(out, hook->is_error);
        phi__script_talk_result(out, hook->message);
    } else {
        phi__script_talk_arguments(out, arguments.len > 0 ? arguments : hook->arguments);
    }
}

static void phi__script_talk_compaction(phi__buf *out, const phi_hook *hook) {
    const phi_compaction *c = hook->compaction;
    if (c == NULL) return;
    if (hook->point == PHI_HOOK_BEFORE_COMPACTION) {
        phi__script_talk_number(out, "estimated_tokens", c->estimated_tokens);
        phi__script_talk_number(out, "message_count", c->message_count);
        return;
    }
    phi__script_talk_number(out, "messages_before", c->messages_before);
    phi__script_talk_number(out, "messages_after", c->messages_after);
    phi__script_talk_number(out, "tokens_before", c->tokens_before);
    phi__script_talk_number(out, "tokens_after", c->tokens_after);
}

PHI__FN void phi__script_talk_input(phi__buf *out, const phi_hook *hook, phi_str arguments) {
    phi__buf_text(out, "{\"hook\":\"");
    phi__buf_text(out, phi__script_talk_name(hook->point));
    phi__buf_char(out, '"');
    if (hook->point == PHI_HOOK_BEFORE_LOOP || hook->point == PHI_HOOK_BEFORE_TURN)
        phi__script_talk_number(out, "message_count", hook->message_count);
    if (hook->point == PHI_HOOK_BEFORE_LOOP)
        phi__script_talk_number(out, "loop_index", phi__script_talk_loop_index(hook->loop_id));
    if (hook->point == PHI_HOOK_BEFORE_TURN)
        phi__script_talk_number(out, "turn_index", hook->turn_index);
    if (hook->point == PHI_HOOK_BEFORE_TOOL || hook->point == PHI_HOOK_AFTER_TOOL)
        phi__script_talk_tool(out, hook, arguments);
    phi__script_talk_compaction(out, hook);
    if (hook->point == PHI_HOOK_ON_ERROR) phi__script_talk_text(out, "error", hook->text);
    if (hook->point == PHI_HOOK_FILTER) phi__script_talk_text(out, "text", hook->text);
    if (hook->point == PHI_HOOK_CREDENTIAL) {
        phi__script_talk_key(out, "refused");
        phi__json_write_bool(out, hook->is_error);
    }
    phi__buf_text(out, "}\n");
}

/* ---- the answer ---- */

static phi__script_says phi__script_talk_broken(phi__buf *reply, const char *fault) {
    phi__buf_text(reply, "gave an answer that cannot be read: ");
    phi__buf_text(reply, fault);
    return reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_BROKEN;
}

/* A member that must be a text where it is there. */
static bool phi__script_talk_take(const phi_json *root, const char *key, phi_str *out) {
    const phi_json *node = phi_json_get(root, key);
    *out = phi_json_str(node, NULL);
    return node == NULL || phi_json_is_null(node) || phi_json_is_string(node);
}

static phi__script_says phi__script_talk_read(const phi_json *root, phi_hook_point point,
                                              phi__buf *reply) {
    const phi_json *allow = phi_json_get(root, "allow"), *arguments;
    bool is_reply =
        point == PHI_HOOK_STEERING || point == PHI_HOOK_FOLLOW_UP || point == PHI_HOOK_CREDENTIAL;
    phi_str text;
    if (allow != NULL && !phi_json_is_bool(allow))
        return phi__script_talk_broken(reply, "\"allow\" is neither true nor false");
    if (!phi_json_bool(allow, true)) {
        if (!phi__script_talk_take(root, "reason", &text))
            return phi__script_talk_broken(reply, "\"reason\" is no text");
        phi__buf_add_str(reply, text);
        return reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_DENIES;
    }
    arguments = phi_json_get(root, "arguments");
    if (point == PHI_HOOK_BEFORE_TOOL && arguments != NULL) {
        if (!phi_json_is_object(arguments))
            return phi__script_talk_broken(reply, "\"arguments\" is no object");
        return phi__json_write(reply, arguments, 0) != PHI_OK || reply->failed ? PHI__SCRIPT_LOST
                                                                               : PHI__SCRIPT_ALLOWS;
    }
    if (!phi__script_talk_take(root, is_reply ? "reply" : "warn", &text))
        return phi__script_talk_broken(reply,
                                       is_reply ? "\"reply\" is no text" : "\"warn\" is no text");
    if (!is_reply && point != PHI_HOOK_FILTER) return PHI__SCRIPT_ALLOWS;
    phi__buf_add_str(reply, text);
    if (reply->failed) return PHI__SCRIPT_LOST;
    return !is_reply && text.len > 0 ? PHI__SCRIPT_WARNS : PHI__SCRIPT_ALLOWS;
}

/* Whether "allow" stands in it, with `step` bytes a character. */
static bool phi__script_talk_hides(phi_str output, size_t step) {
    static const char word[] = "\"allow\"";
    size_t i, k, n = sizeof word - 1;
    for (i = 0; i + (n - 1) * step < output.len; i++) {
        for (k = 0; k < n && output.at[i + k * step] == word[k];) k++;
        if (k == n) return true;
    }
    return false;
}

PHI__FN phi__script_says phi__script_talk_answer(phi_memory *memory, phi_hook_point point,
                                                 phi_str output, phi__buf *reply) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_parse_error error;
    phi__script_says says;
    phi_status status;
    if (phi__str_starts(output, "\xEF\xBB\xBF")) output = phi__str(output.at + 3, output.len - 3);
    output = phi__str_trim(output);
    if (output.len == 0) return PHI__SCRIPT_ALLOWS;
    if (output.at[0] != '{') {
        /* a denial behind a line for people, or in UTF-16, must not pass */
        if (phi__script_talk_hides(output, 1) || phi__script_talk_hides(output, 2))
            return phi__script_talk_broken(reply,
                                           "\"allow\" stands in it, but it is no JSON object");
        phi__buf_text(reply, "its output is no JSON object and was ignored");
        return reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_CHATS;
    }
    phi_arena_init(&scratch, memory, 0);
    status = phi_json_parse(&scratch, output, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root,
                            &error);
    if (status == PHI_OK)
        says = phi__script_talk_read(root, point, reply);
    else if (status == PHI_NO_MEMORY)
        says = PHI__SCRIPT_LOST;
    else {
        phi__buf_printf(reply, "gave an answer that cannot be read: line %u, column %u: %s",
                        (unsigned)error.line, (unsigned)error.column, error.message);
        says = reply->failed ? PHI__SCRIPT_LOST : PHI__SCRIPT_BROKEN;
    }
    phi_arena_free(&scratch);
    return says;
}

#endif

/* ---- src/tools/script_words.c ---- */

/* script_words.c - splits a command into words, as a shell would, without being one. */

#ifndef PHI_NO_SCRIPTS

/* Reads one word from *at into `to`, which has room for it. False: a quote is open. */
static bool phi__script_words_next(const char **at, char **to) {
    const char *from = *at;
    char quote = '\0';
    for (; *from != '\0'; from++) {
        if (quote == '\0' && (*from == ' ' || *from == '\t' || *from == '\n')) break;
        if (quote == '\0' && (*from == '"' || *from == '\'')) {
            quote = *from;
        } else if (*from == quote && quote != '\0') {
            quote = '\0';
        } else if (*from == '\\' && quote != '\'' && from[1] != '\0' &&
                   (quote == '\0' || from[1] == '"' || from[1] == '\\')) {
            *(*to)++ = *++from;
        } else {
            *(*to)++ = *from;
        }
    }
    *(*to)++ = '\0';
    *at = from;
    return quote == '\0';
}

static bool phi__script_words_ends(const char *word, const char *end) {
    size_t n = strlen(word), m = strlen(end);
    return n > m && strcmp(word + n - m, end) == 0;
}

PHI__FN phi_status phi__script_words_split(phi_arena *arena, const char *command,
                                           const char *const **out, const char **fault) {
    size_t most = strlen(command) / 2 + 3, n = 1; /* the first is for an interpreter */
    const char **words = (const char **)phi_arena_alloc(arena, most * sizeof *words);
    char *to = (char *)phi_arena_alloc(arena, strlen(command) + most);
    if (words == NULL || to == NULL) return PHI_NO_MEMORY;
    for (;;) {
        while (*command == ' ' || *command == '\t' || *command == '\n') command++;
        if (*command == '\0') break;
        words[n++] = to;
        if (!phi__script_words_next(&command, &to)) {
            *fault = "a quote is not closed";
            return PHI_PARSE;
        }
    }
    words[n] = NULL;
    if (n == 1 || words[1][0] == '\0') {
        *fault = "the command is empty";
        return PHI_PARSE;
    }
    words[0] = phi__script_words_ends(words[1], ".py")   ? "python3"
               : phi__script_words_ends(words[1], ".sh") ? "sh"
                                                         : NULL;
    *out = words[0] != NULL ? words : words + 1;
    return PHI_OK;
}

#endif

/* ---- src/tools/scripts.c ---- */

/* scripts.c - runs the scripts of a hook, one process after the other, beside the pump.

   A job is the scripts of one decision. It begins inside the hook and ends when the ticket of the
   decision dies, for whatever reason: then its process is killed and its memory freed. So nothing
   of a job outlives the run or call that waits for it. A job decides by phi__hooks_settle, which
   ends it: after that it must not be touched. */

#ifndef PHI_NO_SCRIPTS


#include <stdio.h>

enum {
    PHI__SCRIPTS_RETRY_US = 5000,     /* until the next try to start */
    PHI__SCRIPTS_REASON_BYTES = 2000, /* of standard error in a reason or a warning */
    PHI__SCRIPTS_VARIABLES = 7
};

typedef struct phi__scripts_job {
    phi__link link;
    phi_scripts *set;
    phi_ticket ticket;
    phi__agent *agent;
    phi_arena arena; /* the strings of `hook`, the environment */
    phi_hook hook;   /* what later scripts need of it; for BEFORE_TOOL */
    const char **env;
    size_t index; /* of the script whose turn it is */
    bool running;
    phi_verdict verdict; /* so far */
    phi__process *process;
    phi__timer deadline, tick; /* tick: starts the script */
    phi__buf input, out, err, reply;
    bool too_long;
} phi__scripts_job;

static bool phi__scripts_can_deny(phi_hook_point point) {
    return ((uint32_t)point & ((uint32_t)PHI_HOOK_BEFORE_LOOP | PHI_HOOK_BEFORE_TURN |
                               PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_BEFORE_TOOL | PHI_HOOK_FILTER |
                               PHI_HOOK_CREDENTIAL | PHI_HOOK_STEERING | PHI_HOOK_FOLLOW_UP)) != 0;
}

/* The next script that wants this hook, from `index` on; SIZE_MAX: none. */
static size_t phi__scripts_next(const phi_scripts *set, const phi_hook *hook, size_t index) {
    for (; index < set->desc.count; index++) {
        const phi_script *script = &set->all[index].script;
        if ((script->points & (uint32_t)hook->point) == 0) continue;
        if (script->tool == NULL ||
            ((uint32_t)hook->point & ((uint32_t)PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL)) == 0 ||
            phi__str_is(hook->tool_name, script->tool))
            return index;
    }
    return SIZE_MAX;
}

static void phi__scripts_at(phi__scripts_job *job, phi__timer *timer, uint64_t us) {
    phi__io *io = job->agent->rt->io;
    uint64_t at = us == UINT64_MAX ? UINT64_MAX : phi__io_now_us(io) + us;
    (void)phi__io_timer_set(io, timer, at); /* it was set at the beginning: needs no memory */
}

/* ---- the end of a job ---- */

/* A place is free: the job that has waited longest takes it, in the next step. */
static void phi__scripts_wake(phi_scripts *set) {
    phi__link *link;
    for (link = set->jobs.first; link != NULL; link = link->next) {
        phi__scripts_job *job = PHI__OWNER(link, phi__scripts_job, link);
        if (job->running) continue;
        phi__scripts_at(job, &job->tick, 0);
        return;
    }
}

static void phi__scripts_drop(phi__scripts_job *job) {
    phi_scripts *set = job->set;
    phi__io *io = job->agent->rt->io;
    phi__process_free(job->process);
    phi__io_timer_clear(io, &job->deadline);
    phi__io_timer_clear(io, &job->tick);
    phi__buf_free(&job->input);
    phi__buf_free(&job->out);
    phi__buf_free(&job->err);
    phi__buf_free(&job->reply);
    phi_arena_free(&job->arena);
    phi__list_take(&set->jobs, &job->link);
    set->job_count--;
    if (job->running) set->running--;
    phi__free(&set->memory, job, sizeof *job);
    phi__scripts_wake(set);
}

static void phi__scripts_over(void *ctx) { phi__scripts_drop((phi__scripts_job *)ctx); }

static void phi__scripts_settle(phi__scripts_job *job, phi_verdict verdict, phi_str reply) {
    phi__hooks_settle(job->ticket, verdict, reply);
}

static void phi__scripts_no_memory(phi__scripts_job *job) {
    bool denies = phi__scripts_can_deny(job->hook.point);
    phi__scripts_settle(job, denies ? PHI_DENY : PHI_ALLOW,
                        denies ? PHI__LIT("Out of memory for a hook script.") : phi__str(NULL, 0));
}

/* ---- words ---- */

/* What the script wrote to standard error, fit to be shown. */
static void phi__scripts_err(const phi__scripts_job *job, phi__buf *out) {
    size_t from = out->len, len;
    phi_str text = phi__str_trim(phi__buf_str(&job->err));
    text.len = phi__min(text.len, PHI__SCRIPTS_REASON_BYTES);
    phi__utf8_repair(out, text);
    if (out->failed) return;
    len = phi__words_clean(out->at + from, out->len - from);
    out->len = from + len;
}

static void phi__scripts_warn(phi__scripts_job *job, const char *words) {
    phi_event event;
    phi__buf text;
    phi__buf_init(&text, &job->set->memory);
    phi__buf_printf(&text, "The hook script \"%s\" at %s: %s", job->set->all[job->index].name,
                    phi__script_talk_name(job->hook.point), words);
    if (job->err.len > 0) phi__buf_text(&text, ": ");
    phi__scripts_err(job, &text);
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_WARNING;
    event.text = phi__buf_str(&text);
    if (!text.failed) (void)phi__events_emit(job->agent, &event, NULL, 0);
    phi__buf_free(&text);
}

/* ---- outcomes ---- */

static void phi__scripts_pass(phi__scripts_job *job) {
    size_t next = phi__scripts_next(job->set, &job->hook, job->index + 1);
    if (next == SIZE_MAX) {
        phi__scripts_settle(job, job->verdict, phi__buf_str(&job->reply));
        return;
    }
    job->index = next;
    phi__buf_clear(&job->out);
    phi__buf_clear(&job->err);
    job->too_long = false;
    if (job->hook.point == PHI_HOOK_BEFORE_TOOL && job->reply.len > 0) {
        phi__buf_clear(&job->input);
        phi__script_talk_input(&job->input, &job->hook, phi__buf_str(&job->reply));
        if (job->input.failed) {
            phi__scripts_no_memory(job);
            return;
        }
    }
    phi__scripts_at(job, &job->tick, 0);
}

/* `reason`: the script's own; empty: what it wrote to standard error, or `words`. */
static void phi__scripts_deny(phi__scripts_job *job, phi_str reason, const char *words) {
    phi__buf text;
    if (!phi__scripts_can_deny(job->hook.point)) {
        phi__scripts_warn(job, words);
        phi__scripts_pass(job);
        return;
    }
    phi__buf_init(&text, &job->set->memory);
    if (reason.len > 0)
        phi__buf_add_str(&text, reason);
    else
        phi__scripts_err(job, &text);
    if (text.len == 0 && !text.failed)
        phi__buf_printf(&text, "The hook script \"%s\" %s.", job->set->all[job->index].name, words);
    if (text.failed)
        phi__scripts_no_memory(job);
    else /* a copy: settling frees the job */
        phi__scripts_settle(job, PHI_DENY, phi__buf_str(&text));
    phi__buf_free(&text);
}

static void phi__scripts_fail(phi__scripts_job *job, bool started, const char *words) {
    phi_script_failure way = job->set->all[job->index].script.on_failure;
    phi__scripts_warn(job, words);
    if (way == PHI_SCRIPT_FAILURE_DENIES || (way == PHI_SCRIPT_FAILURE_DEFAULT && started)) {
        if (phi__scripts_can_deny(job->hook.point)) {
            phi__scripts_deny(job, phi__str(NULL, 0), words);
            return;
        }
    }
    phi__scripts_pass(job);
}

static void phi__scripts_answered(phi__scripts_job *job) {
    phi__buf reply;
    phi__script_says says;
    phi__buf_init(&reply, &job->set->memory);
    says = phi__script_talk_answer(&job->set->memory, job->hook.point, phi__buf_str(&job->out),
                                   &reply);
    phi__buf_char(&reply, '\0');
    if (reply.failed) says = PHI__SCRIPT_LOST;
    if (!reply.failed) reply.len--;
    switch (says) {
    case PHI__SCRIPT_WARNS:
    case PHI__SCRIPT_ALLOWS:
        if (says == PHI__SCRIPT_WARNS) {
            if (job->reply.len > 0) phi__buf_char(&job->reply, '\n');
            job->verdict = PHI_WARN;
        } else if (reply.len > 0) {
            phi__buf_clear(&job->reply);
        }
        phi__buf_add_str(&job->reply, phi__buf_str(&reply));
        if (job->reply.failed)
            phi__scripts_no_memory(job);
        else
            phi__scripts_pass(job);
        break;
    case PHI__SCRIPT_DENIES: phi__scripts_deny(job, phi__buf_str(&reply), "denied it"); break;
    case PHI__SCRIPT_CHATS:
        phi__scripts_warn(job, reply.at);
        phi__scripts_pass(job);
        break;
    case PHI__SCRIPT_BROKEN: phi__scripts_fail(job, true, reply.at); break;
    case PHI__SCRIPT_LOST: phi__scripts_no_memory(job); break;
    }
    phi__buf_free(&reply);
}

/* ---- the process ---- */

static bool phi__scripts_output(void *ctx, int stream, const char *bytes, size_t len) {
    phi__scripts_job *job = (phi__scripts_job *)ctx;
    phi__buf *to = stream == 1 ? &job->out : &job->err;
    size_t most = job->set->desc.max_output_bytes;
    if (stream == 2) most /= 4;
    if (to->len + len > most) {
        len = most - to->len;
        job->too_long = job->too_long || stream == 1;
    }
    phi__buf_add(to, bytes, len);
    return true;
}

static void phi__scripts_exited(void *ctx, int code, int signal_number) {
    phi__scripts_job *job = (phi__scripts_job *)ctx;
    char words[64];
    phi__process_free(job->process);
    job->process = NULL;
    phi__scripts_at(job, &job->deadline, UINT64_MAX);
    if (job->out.failed || job->err.failed) {
        phi__scripts_no_memory(job);
    } else if (code < 0) {
        (void)snprintf(words, sizeof words, "was killed by signal %d", signal_number);
        phi__scripts_fail(job, true, words);
    } else if (code != 0) {
        (void)snprintf(words, sizeof words, "exited with code %d", code);
        phi__scripts_deny(job, phi__str(NULL, 0), words);
    } else if (job->too_long) {
        (void)snprintf(words, sizeof words, "wrote more than %u bytes",
                       (unsigned)job->set->desc.max_output_bytes);
        phi__scripts_fail(job, true, words);
    } else
        phi__scripts_answered(job);
}

static uint32_t phi__scripts_timeout(const phi__scripts_job *job) {
    uint32_t own = job->set->all[job->index].script.timeout_ms;
    return own != 0 ? own : job->set->desc.timeout_ms;
}

static void phi__scripts_late(phi__timer *timer) {
    phi__scripts_job *job = PHI__OWNER(timer, phi__scripts_job, deadline);
    char words[64];
    phi__process_free(job->process);
    job->process = NULL;
    /* fired, it has no place any more: without one no later script could be watched */
    if (phi__io_timer_set(job->agent->rt->io, &job->deadline, UINT64_MAX) != PHI_OK) {
        phi__scripts_no_memory(job);
        return;
    }
    (void)snprintf(words, sizeof words, "ran longer than %u ms",
                   (unsigned)phi__scripts_timeout(job));
    phi__scripts_fail(job, true, words);
}

static void phi__scripts_start(phi__scripts_job *job) {
    phi_scripts *set = job->set;
    uint32_t timeout = phi__scripts_timeout(job);
    phi__process_desc desc;
    phi_status status;
    char words[160];
    memset(&desc, 0, sizeof desc);
    desc.argv = set->all[job->index].argv;
    desc.cwd = set->desc.workspace != NULL ? set->desc.workspace : job->agent->workspace.at;
    if (desc.cwd != NULL && desc.cwd[0] == '\0') desc.cwd = NULL;
    desc.env = job->env;
    desc.hide_keys = !set->desc.keep_keys;
    desc.input = phi__buf_str(&job->input);
    desc.output = phi__scripts_output;
    desc.exited = phi__scripts_exited;
    desc.ctx = job;
    status = phi__process_new(job->agent->rt->io, &desc, &job->process, words, sizeof words);
    if (status == PHI_BUSY) {
        phi__scripts_at(job, &job->tick, PHI__SCRIPTS_RETRY_US);
    } else if (status == PHI_NO_MEMORY) {
        phi__scripts_no_memory(job);
    } else if (status != PHI_OK) {
        char text[200];
        (void)snprintf(text, sizeof text, "cannot be started: %s",
                       words[0] != '\0' ? words : phi_status_text(status));
        phi__scripts_fail(job, false, text);
    } else if (timeout != PHI_UNLIMITED)
        phi__scripts_at(job, &job->deadline, (uint64_t)timeout * 1000);
}

static void phi__scripts_tick(phi__timer *timer) {
    phi__scripts_job *job = PHI__OWNER(timer, phi__scripts_job, tick);
    /* fired, it has no place any more */
    if (phi__io_timer_set(job->agent->rt->io, &job->tick, UINT64_MAX) != PHI_OK) {
        phi__scripts_no_memory(job);
        return;
    }
    if (!job->running && job->set->running >= job->set->desc.max_running) return; /* woken later */
    if (!job->running) job->set->running++;
    job->running = true;
    phi__scripts_start(job);
}

/* ---- the beginning of a job ---- */

static bool phi__scripts_variable(phi__scripts_job *job, size_t *n, const char *name,
                                  phi_str value) {
    size_t len = strlen(name), i;
    char *to;
    if (value.len == 0) return true;
    to = phi__arena_bytes(&job->arena, len + value.len + 2);
    if (to == NULL) return false;
    memcpy(to, name, len);
    to[len++] = '=';
    for (i = 0; i < value.len && value.at[i] != '\0'; i++) to[len++] = value.at[i];
    to[len] = '\0';
    job->env[(*n)++] = to;
    return true;
}

static bool phi__scripts_environment(phi__scripts_job *job, const phi_hook *hook) {
    const phi_scripts *set = job->set;
    const phi__agent *agent = job->agent;
    char turn[16];
    size_t n = 0;
    job->env = (const char **)phi_arena_alloc(
        &job->arena, (set->env_count + PHI__SCRIPTS_VARIABLES + 1) * sizeof *job->env);
    if (job->env == NULL) return false;
    (void)snprintf(turn, sizeof turn, "%u", (unsigned)hook->turn_index);
    if (!phi__scripts_variable(job, &n, "PHI_HOOK",
                               phi_str_of(phi__script_talk_name(hook->point))) ||
        !phi__scripts_variable(job, &n, "PHI_SESSION_ID", phi_agent_session_id(hook->agent)) ||
        !phi__scripts_variable(job, &n, "PHI_LOOP_ID", hook->loop_id) ||
        !phi__scripts_variable(job, &n, "PHI_AGENT_ID", agent->agent_id) ||
        !phi__scripts_variable(job, &n, "PHI_TURN_INDEX", phi_str_of(turn)) ||
        !phi__scripts_variable(job, &n, "PHI_TOOL_NAME", hook->tool_name) ||
        !phi__scripts_variable(job, &n, "PHI_TOOL_CALL_ID", hook->tool_call_id))
        return false;
    if (set->env_count > 0)
        memcpy((void *)(job->env + n), (const void *)set->desc.env,
               set->env_count * sizeof *job->env);
    job->env[n + set->env_count] = NULL;
    return true;
}

static bool phi__scripts_fill(phi__scripts_job *job, const phi_hook *hook) {
    phi__io *io = job->agent->rt->io;
    job->hook.point = hook->point;
    phi__script_talk_input(&job->input, hook, phi__str(NULL, 0));
    return !job->input.failed &&
           phi__arena_str(&job->arena, hook->tool_name, &job->hook.tool_name) &&
           phi__arena_str(&job->arena, hook->tool_call_id, &job->hook.tool_call_id) &&
           phi__arena_str(&job->arena, hook->arguments, &job->hook.arguments) &&
           phi__scripts_environment(job, hook) &&
           phi__io_timer_set(io, &job->deadline, UINT64_MAX) == PHI_OK &&
           phi__io_timer_set(io, &job->tick, phi__io_now_us(io)) == PHI_OK &&
           phi__hooks_watch(hook->ticket, phi__scripts_over, job);
}

/* False: no memory, and nothing is left of it. */
static bool phi__scripts_begin(phi_scripts *set, const phi_hook *hook, size_t first) {
    const phi__slot *slot =
        phi__slots_find(&hook->ticket.rt->tickets, hook->ticket.index, hook->ticket.gen);
    phi__scripts_job *job =
        slot != NULL ? (phi__scripts_job *)phi__alloc(&set->memory, sizeof *job) : NULL;
    if (job == NULL) return false;
    job->set = set;
    job->ticket = hook->ticket;
    job->agent = ((const phi__decision *)slot->object)->run->agent;
    job->index = first;
    job->verdict = PHI_ALLOW;
    job->deadline.fire = phi__scripts_late;
    job->tick.fire = phi__scripts_tick;
    phi_arena_init(&job->arena, &set->memory, 512);
    phi__buf_init(&job->input, &set->memory);
    phi__buf_init(&job->out, &set->memory);
    phi__buf_init(&job->err, &set->memory);
    phi__buf_init(&job->reply, &set->memory);
    phi__list_push(&set->jobs, &job->link);
    set->job_count++;
    if (phi__scripts_fill(job, hook)) return true;
    phi__scripts_drop(job);
    return false;
}

/* ---- the hook ---- */

/* The hook that was there before. Where scripts were asked first, its rounds are one fewer, and the
   arguments are those that they may have changed. */
static phi_verdict phi__scripts_chain(phi_scripts *set, phi_hook *hook, bool asked) {
    phi__agent *agent = phi__find_agent(hook->agent);
    void *user_data = set->hook_user_data;
    phi_hook inner = *hook;
    phi_verdict verdict;
    if (set->hook_fn == NULL || (set->hook_points & (uint32_t)hook->point) == 0) return PHI_ALLOW;
    if (user_data == NULL && agent != NULL) user_data = agent->desc.user_data;
    if (asked) inner.round--;
    if (asked && hook->point == PHI_HOOK_BEFORE_TOOL && hook->reply.len > 0)
        inner.arguments = hook->reply;
    verdict = set->hook_fn(user_data, &inner);
    if (asked) inner.round++;
    *hook = inner;
    return verdict;
}

static phi_verdict phi__scripts_hook(void *user_data, phi_hook *hook) {
    phi_scripts *set = (phi_scripts *)user_data;
    size_t first = phi__scripts_next(set, hook, 0);
    if (first == SIZE_MAX || phi__script_talk_name(hook->point) == NULL)
        return phi__scripts_chain(set, hook, false);
    if (hook->round > 0) return phi__scripts_chain(set, hook, true);
    if (phi__scripts_begin(set, hook, first)) {
        hook->timeout_ms = PHI_UNLIMITED; /* each script has a deadline */
        hook->quiet = true;
        hook->ask_again = (set->hook_points & (uint32_t)hook->point) != 0;
        return PHI_WAIT;
    }
    if (!phi__scripts_can_deny(hook->point)) return phi__scripts_chain(set, hook, false);
    hook->reply = PHI__LIT("Out of memory for a hook script.");
    return PHI_DENY;
}

/* ---- public ---- */

PHI_API void phi_scripts_free(phi_scripts *set) {
    phi_memory memory;
    if (set == NULL) return;
    while (set->jobs.first != NULL) {
        phi__scripts_job *job = PHI__OWNER(set->jobs.first, phi__scripts_job, link);
        phi_ticket ticket = job->ticket;
        phi__hooks_unwatch(ticket);
        phi__scripts_drop(job);
        phi__hooks_settle(ticket, PHI_DENY, PHI__LIT("The hook scripts were removed."));
    }
    phi_arena_free(&set->arena);
    memory = set->memory; /* its own block is counted in itself */
    phi__free(&memory, set, sizeof *set);
}

PHI_API phi_status phi_scripts_use(phi_scripts *set, phi_agent_desc *desc) {
    if (set == NULL || desc == NULL) return PHI_BAD_ARG;
    if (desc->hook_fn == phi__scripts_hook) return PHI_MISUSE;
    if (set->used &&
        (set->hook_fn != desc->hook_fn || set->hook_user_data != desc->hook_user_data ||
         set->hook_points != desc->hook_points))
        return PHI_MISUSE;
    set->used = true;
    set->hook_fn = desc->hook_fn;
    set->hook_points = desc->hook_fn != NULL ? desc->hook_points : 0;
    set->hook_user_data = desc->hook_user_data;
    if (set->points == 0) return PHI_OK;
    desc->hook_fn = phi__scripts_hook;
    desc->hook_points |= set->points;
    desc->hook_user_data = set;
    return PHI_OK;
}

PHI_API size_t phi_scripts_running(const phi_scripts *set) {
    return set != NULL ? set->job_count : 0;
}

#endif

/* ---- src/tools/scripts_make.c ---- */

/* scripts_make.c - makes a set of scripts out of its description, or names the fault of that. */

#ifndef PHI_NO_SCRIPTS

#include <stdarg.h>
#include <stdio.h>

enum { PHI__SCRIPTS_MS = 30000, PHI__SCRIPTS_OUTPUT_BYTES = 65536, PHI__SCRIPTS_RUNNING = 8 };

static bool phi__scripts_make_refuse(char *words, size_t words_size, const char *format, ...)
    PHI_PRINTF(3, 4);

static bool phi__scripts_make_refuse(char *words, size_t words_size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (words_size > 0) (void)vsnprintf(words, words_size, format, args);
    va_end(args);
    return false;
}

static const char *phi__scripts_make_keep(phi_scripts *set, const char *text) {
    phi_str kept;
    return phi__arena_str(&set->arena, phi_str_of(text), &kept) ? kept.at : NULL;
}

/* A copy of a NULL-ended list; NULL: no memory. */
static const char *const *phi__scripts_make_list(phi_scripts *set, const char *const *list,
                                                 size_t *count) {
    size_t n = 0, i;
    const char **out;
    while (list != NULL && list[n] != NULL) n++;
    out = (const char **)phi_arena_alloc(&set->arena, (n + 1) * sizeof *out);
    for (i = 0; i < n && out != NULL; i++) {
        out[i] = phi__scripts_make_keep(set, list[i]);
        if (out[i] == NULL) return NULL;
    }
    if (out != NULL) out[n] = NULL;
    *count = n;
    return out;
}

static bool phi__scripts_make_arguments(phi_scripts *set, phi__scripts_one *one, size_t index,
                                        char *words, size_t words_size) {
    const char *shell[4] = {"sh", "-c", NULL, NULL};
    const char *fault = "no memory";
    size_t n = 1;
    phi_status status = PHI_OK;
    shell[2] = one->script.command;
    if (one->script.argv != NULL)
        one->argv = phi__scripts_make_list(set, one->script.argv, &n);
    else if (one->script.shell)
        one->argv = phi__scripts_make_list(set, shell, &n);
    else
        status = phi__script_words_split(&set->arena, one->script.command, &one->argv, &fault);
    if (status == PHI_OK && one->argv != NULL && n > 0) {
        one->name = one->script.command != NULL ? phi__scripts_make_keep(set, one->script.command)
                                                : one->argv[0];
        return one->name != NULL || phi__scripts_make_refuse(words, words_size, "no memory");
    }
    return phi__scripts_make_refuse(words, words_size, "scripts[%u]: %s", (unsigned)index,
                                    n == 0 ? "argv is empty" : fault);
}

static bool phi__scripts_make_add(phi_scripts *set, const phi_script *given, size_t index,
                                  char *words, size_t words_size) {
    const uint32_t all = (uint32_t)PHI_HOOK_CREDENTIAL * 2 - 1;
    const uint32_t never = (uint32_t)PHI_HOOK_TRANSFORM_CONTEXT | PHI_HOOK_CONVERT_TO_LLM |
                           PHI_HOOK_BEFORE_TOOL_UPDATE | PHI_HOOK_AFTER_TOOL_UPDATE;
    phi__scripts_one *one = &set->all[index];
    one->script = *given;
    if (given->points == 0 || (given->points & ~all) != 0 || (given->points & never) != 0)
        return phi__scripts_make_refuse(
            words, words_size,
            "scripts[%u]: points is 0x%x: expected points of a run at which "
            "a script can be called",
            (unsigned)index, (unsigned)given->points);
    if ((given->command == NULL) == (given->argv == NULL))
        return phi__scripts_make_refuse(
            words, words_size, "scripts[%u]: expected either command or argv", (unsigned)index);
    if (given->tool != NULL) {
        one->script.tool = phi__scripts_make_keep(set, given->tool);
        if (one->script.tool == NULL)
            return phi__scripts_make_refuse(words, words_size, "no memory");
    }
    set->points |= given->points;
    return phi__scripts_make_arguments(set, one, index, words, words_size);
}

static void phi__scripts_make_defaults(phi_scripts_desc *desc) {
    if (desc->timeout_ms == 0) desc->timeout_ms = PHI__SCRIPTS_MS;
    if (desc->max_output_bytes == 0) desc->max_output_bytes = PHI__SCRIPTS_OUTPUT_BYTES;
    if (desc->max_running == 0) desc->max_running = PHI__SCRIPTS_RUNNING;
}

static bool phi__scripts_make_set(phi_scripts *set, const phi_scripts_desc *desc, char *words,
                                  size_t words_size) {
    size_t i;
    set->desc = *desc;
    phi__scripts_make_defaults(&set->desc);
    set->desc.env = phi__scripts_make_list(set, desc->env, &set->env_count);
    if (desc->workspace != NULL) set->desc.workspace = phi__scripts_make_keep(set, desc->workspace);
    set->all = (phi__scripts_one *)phi__arena_zero(&set->arena,
                                                   phi__mul(desc->count + 1, sizeof *set->all));
    if (set->all == NULL || set->desc.env == NULL ||
        (desc->workspace != NULL && set->desc.workspace == NULL))
        return phi__scripts_make_refuse(words, words_size, "no memory");
    for (i = 0; i < desc->count; i++)
        if (!phi__scripts_make_add(set, &desc->scripts[i], i, words, words_size)) return false;
    return true;
}

/* ---- public ---- */

PHI_API phi_scripts *phi_scripts_new(const phi_scripts_desc *desc, char *words, size_t words_size) {
    phi_memory memory;
    phi_scripts *set;
    if (words_size > 0) words[0] = '\0';
    if (desc == NULL || (desc->scripts == NULL && desc->count > 0)) {
        (void)phi__scripts_make_refuse(words, words_size, "desc or its scripts are missing");
        return NULL;
    }
    phi_memory_init(&memory, &desc->allocator, 0);
    set = (phi_scripts *)phi__alloc(&memory, sizeof *set);
    if (set == NULL) {
        (void)phi__scripts_make_refuse(words, words_size, "no memory");
        return NULL;
    }
    set->memory = memory;
    phi_arena_init(&set->arena, &set->memory, 0);
    if (phi__scripts_make_set(set, desc, words, words_size)) return set;
    phi_scripts_free(set);
    return NULL;
}

#endif

/* ---- src/tools/search.c ---- */

/* search.c - the tool that searches files: rg, without a shell, or our own engine; grep where the
   host wants it.

   Lines are read as they come; after the last line to show, the program is killed. */

#ifndef PHI_NO_FILES


#include <stdio.h>

enum {
    PHI__SEARCH_WORDS_BYTES = 2000, /* kept of stderr */
    PHI__SEARCH_NAME_BYTES = 16384, /* kept of a file's name, and of a notice before it */
    PHI__SEARCH_ARGS = 20,
    PHI__SEARCH_RETRY_US = 5000
};

static void phi__search_drop(phi__job *job) {
    phi__search *search = (phi__search *)(void *)job;
    phi__search_own_free(search);
#ifndef PHI_NO_PROCESS
    phi__process_free(search->process);
    search->process = NULL;
    phi__buf_free(&search->words);
    phi__buf_free(&search->last);
#endif
    phi__io_timer_clear(job->io, &search->deadline);
    phi__io_timer_clear(job->io, &search->tick);
    phi__buf_free(&search->line);
    phi__buf_free(&search->out);
}

static void phi__search_late(phi__timer *timer) {
    phi__search *search = PHI__OWNER(timer, phi__search, deadline);
    (void)phi__job_fail(&search->job, "Search timed out");
}

/* ---- a program ---- */

#ifndef PHI_NO_PROCESS

static void phi__search_spawn(phi__search *search);

/* rg may say behind the last line of a file that the rest is binary, in a line without a NUL, which
   then stands before the next name. Takes that out of search->line, and keeps the name. */
static void phi__search_notice(phi__search *search) {
    static const char words[] =
        ": WARNING: stopped searching binary file after match (found \"\\0\" "
        "byte around offset ";
    phi_str line = phi__buf_str(&search->line);
    size_t n = search->last.len, end;
    if (n > 0 && line.len > n && memcmp(line.at, search->last.at, n) == 0 &&
        phi__str_starts(phi__str(line.at + n, line.len - n), words)) {
        end = phi__str_find(line, n + sizeof words - 1, ")\n");
        if (end != SIZE_MAX) {
            phi__buf_drop(&search->line, end + 2);
            search->line_bytes -= end + 2;
        }
    }
    phi__buf_clear(&search->last);
    phi__buf_add(&search->last, search->line.at, search->line.len);
    /* "./" stands for the default path; models do not write it. */
    if (strcmp(search->path, ".") == 0 && phi__str_starts(phi__buf_str(&search->line), "./")) {
        phi__buf_drop(&search->line, 2);
        search->line_bytes -= 2;
    }
}

/* A file's name comes before a NUL, so that its own line breaks and colons are no separators: it
   becomes one line. Returns the bytes taken. */
static size_t phi__search_name(phi__search *search, const char *bytes, size_t len) {
    const char *nul = (const char *)memchr(bytes, '\0', len);
    size_t n = nul != NULL ? (size_t)(nul - bytes) : len;
    phi__buf_add(&search->line, bytes, phi__min(n, PHI__SEARCH_NAME_BYTES - search->line.len));
    search->line_bytes += n;
    if (nul == NULL) return n;
    if (search->line.failed) return len; /* the job ends for want of memory */
    phi__search_notice(search);
    search->line.len = phi__min(search->line.len, PHI__SEARCH_LINE_BYTES + 4);
    if (search->line.len > 0)
        search->line.len = phi__words_clean_line(search->line.at, search->line.len);
    if (search->line_bytes < PHI__SEARCH_LINE_BYTES) {
        phi__buf_char(&search->line, ':');
        search->line_bytes = search->line.len;
    }
    search->named = true;
    return n + 1;
}

static bool phi__search_output(void *ctx, int stream, const char *bytes, size_t len) {
    phi__search *search = (phi__search *)ctx;
    if (stream == 2) {
        phi__buf_add(&search->words, bytes,
                     phi__min(len, PHI__SEARCH_WORDS_BYTES - search->words.len));
        return true;
    }
    while (len > 0) {
        const char *newline;
        size_t n;
        if (!search->named) {
            n = phi__search_name(search, bytes, len);
            bytes += n;
            len -= n;
            continue;
        }
        newline = (const char *)memchr(bytes, '\n', len);
        n = newline != NULL ? (size_t)(newline - bytes) : len;
        /* One byte more than is listed shows that the line was cut; three more may belong to its
           last character. */
        phi__buf_add(&search->line, bytes,
                     phi__min(n, PHI__SEARCH_LINE_BYTES + 4 - search->line.len));
        search->line_bytes += n;
        if (newline == NULL) break;
        search->named = false;
        if (phi__search_lines_add(search)) return true;
        bytes += n + 1;
        len -= n + 1;
    }
    if (search->line.failed || search->out.failed) (void)phi__job_no_memory(&search->job);
    return true;
}

/* The program was not found: our own engine takes the place of rg, unless the host chose. */
static void phi__search_missing(phi__search *search) {
    if (search->job.set->desc.search_with == PHI_SEARCH_AUTOMATIC)
        phi__search_own_begin(search);
    else
        (void)phi__job_fail(&search->job, "Search error: %s was not found",
                            search->use_grep ? "grep" : "rg");
}

static void phi__search_exited(void *ctx, int code, int signal_number) {
    phi__search *search = (phi__search *)ctx;
    phi_str words;
    (void)signal_number;
    if (code == 127) { /* a shell that stands between says it this way */
        phi__process_free(search->process);
        search->process = NULL;
        phi__search_missing(search);
        return;
    }
    if (search->named && phi__search_lines_add(search)) return;
    words = phi__str_trim(phi__buf_str(&search->words));
    /* Found is found, also where a directory could not be read. */
    if (search->matches == 0 && (code > 1 || code < 0 || (code == 1 && words.len > 0)))
        (void)phi__job_fail(&search->job, "Search error: %.*s", (int)words.len, words.at);
    else
        (void)phi__search_lines_end(search);
}

/* The pattern comes behind -e and the path behind --, so that neither is ever an option. */
static void phi__search_arguments(const phi__search *search, const char *include,
                                  const char **argv) {
    static const char *const rg[] = {
        "rg",     "--no-config", "--line-number",      "--no-heading",  "--with-filename",
        "--null", "--no-mmap",   "--no-ignore-global", "--color=never", "--sort=path",
        NULL};
    static const char *const grep[] = {
        "grep", "-r", "-n", "-H", "-I", "-E", "--null", "--exclude-dir=.git", NULL};
    const char *const *head = search->use_grep ? grep : rg;
    size_t n = 0;
    while (head[n] != NULL) {
        argv[n] = head[n];
        n++;
    }
    if (!search->case_sensitive) argv[n++] = "-i";
    if (include != NULL) argv[n++] = include;
    argv[n++] = "-e";
    argv[n++] = search->pattern;
    argv[n++] = "--";
    argv[n++] = search->path;
    argv[n] = NULL;
}

static phi_status phi__search_try(phi__search *search, char *words, size_t size) {
    const char *argv[PHI__SEARCH_ARGS];
    phi__process_desc desc;
    phi__buf include;
    phi_status status = PHI_NO_MEMORY;
    phi__buf_init(&include, search->job.memory);
    if (search->include != NULL)
        phi__buf_printf(&include, search->use_grep ? "--include=%s" : "--glob=%s", search->include);
    phi__search_arguments(search, search->include != NULL ? include.at : NULL, argv);
    memset(&desc, 0, sizeof desc);
    desc.argv = argv;
    desc.cwd = search->job.set->desc.workspace;
    desc.output = phi__search_output;
    desc.exited = phi__search_exited;
    desc.ctx = search;
    words[0] = '\0';
    if (!include.failed)
        status = phi__process_new(search->job.io, &desc, &search->process, words, size);
    phi__buf_free(&include);
    return status;
}

static void phi__search_spawn(phi__search *search) {
    char words[160];
    phi_status status = phi__search_try(search, words, sizeof words);
    if (status == PHI_BUSY)
        phi__search_again(search, PHI__SEARCH_RETRY_US);
    else if (status == PHI_NO_MEMORY)
        (void)phi__job_no_memory(&search->job);
    else if (status == PHI_NOT_FOUND)
        phi__search_missing(search);
    else if (status != PHI_OK)
        (void)phi__job_fail(&search->job, "Search error: %s", words);
}

static void phi__search_program(phi__search *search) {
    phi_search_with with = search->job.set->desc.search_with;
    search->use_grep = with == PHI_SEARCH_GREP;
    if (with == PHI_SEARCH_OWN)
        phi__search_own_begin(search);
    else
        phi__search_spawn(search);
}

#else

static void phi__search_program(phi__search *search) { phi__search_own_begin(search); }

#endif

/* ---- the beginning ---- */

/* Once the path is known to be allowed, the search begins. */
static void phi__search_place(phi__search *search) {
    phi_status status = search->placed ? PHI_OK : phi__job_place_more(&search->job);
    if (status == PHI_BUSY) phi__search_again(search, 1);
    if (status != PHI_OK) return;
    search->placed = true;
    phi__search_program(search);
}

static void phi__search_tick(phi__timer *timer) {
    phi__search *search = PHI__OWNER(timer, phi__search, tick);
    if (search->own != NULL)
        phi__search_own_more(search);
    else
        phi__search_place(search);
}

static phi_flow phi__search_go(phi__job *job) {
    phi__search *search = (phi__search *)(void *)job;
    uint32_t timeout_ms = job->set->desc.search_timeout_ms;
    phi__buf_init(&search->line, job->memory);
    phi__buf_init(&search->out, job->memory);
#ifndef PHI_NO_PROCESS
    phi__buf_init(&search->words, job->memory);
    phi__buf_init(&search->last, job->memory);
#endif
    search->deadline.fire = phi__search_late;
    search->tick.fire = phi__search_tick;
    if (!phi__job_text(job, "pattern", true, &search->pattern) ||
        !phi__job_text(job, "path", false, &search->path) ||
        !phi__job_text(job, "include", false, &search->include) ||
        !phi__job_flag(job, "case_sensitive", &search->case_sensitive))
        return PHI_DONE;
    if (search->path == NULL || search->path[0] == '\0') search->path = ".";
    if (phi__job_place_begin(job, search->path) != PHI_OK) return PHI_DONE;
    if (timeout_ms != PHI_UNLIMITED &&
        phi__io_timer_set(job->io, &search->deadline,
                          phi__io_now_us(job->io) + (uint64_t)timeout_ms * 1000) != PHI_OK)
        return phi__job_no_memory(job);
    phi__search_place(search);
    return job->ended ? PHI_DONE : PHI_PENDING;
}

PHI__FN phi_flow phi__search_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__search), true, phi__search_go,
                          phi__search_drop);
}

#endif

/* ---- src/tools/search_lines.c ---- */

/* search_lines.c - the lines that a search lists, and its result. */

#ifndef PHI_NO_FILES


#include <stdio.h>

PHI__FN phi_flow phi__search_lines_end(phi__search *search) {
    char details[40];
    (void)snprintf(details, sizeof details, "{\"matches\":%u}", (unsigned)search->matches);
    if (search->matches == 0)
        phi__buf_printf(&search->out, "No matches found for '%s'", search->pattern);
    else if (search->matches >= search->job.set->desc.max_matches)
        phi__buf_printf(&search->out, "\n... (showing first %u matches)",
                        (unsigned)search->matches);
    else
        phi__buf_printf(&search->out, "\n(%u matches)", (unsigned)search->matches);
    if (search->out.failed) return phi__job_no_memory(&search->job);
    return phi__job_done(&search->job, phi__buf_str(&search->out), details);
}

PHI__FN bool phi__search_lines_add(phi__search *search) {
    phi_str line = phi__buf_str(&search->line);
    size_t shown = phi__utf8_cut(line, PHI__SEARCH_LINE_BYTES);
    bool cut = search->line_bytes > shown;
    size_t from;
    if (!cut && line.len > 0 && line.at[line.len - 1] == '\r') shown--;
    line.len = shown;
    if (search->matches > 0) phi__buf_char(&search->out, '\n');
    from = search->out.len;
    phi__utf8_repair(&search->out, line);
    if (!search->out.failed)
        search->out.len = from + phi__words_clean(search->out.at + from, search->out.len - from);
    if (cut) phi__buf_text(&search->out, "... (line truncated)");
    phi__buf_clear(&search->line);
    search->line_bytes = 0;
    if (++search->matches < search->job.set->desc.max_matches) return false;
    (void)phi__search_lines_end(search);
    return true;
}

#endif

/* ---- src/tools/search_own.c ---- */

/* search_own.c - the search without a program: a walk in order, and our own engine over each file.

   Which files are read, and how far, is as with ripgrep: it reads pieces of 64 KiB, and a file ends
   before the piece that has a NUL in it. The part of a line that the piece before ended with
   takes its room of the 64 KiB. */

#ifndef PHI_NO_FILES


#include <stdio.h>

enum {
    PHI__SEARCH_OWN_PIECE = 65536,
    PHI__SEARCH_OWN_BUFFER = PHI__SEARCH_OWN_PIECE + 64,
    PHI__SEARCH_OWN_MARK = 3,      /* bytes that ripgrep reads first, for a byte order mark */
    PHI__SEARCH_OWN_UNITS = 65536, /* of work at once: a byte of text is one, */
    PHI__SEARCH_OWN_TURNS = 8,     /* at most so many times in a step */
    PHI__SEARCH_OWN_ENTRY = 64,    /* units for an entry, */
    PHI__SEARCH_OWN_OPEN = 4096,   /* for opening and closing a file or a directory, */
    PHI__SEARCH_OWN_PART = 256     /* and for each part of a directory's path */
};

typedef enum phi__search_phase {
    PHI__SEARCH_ABOVE, /* reads the ignore files of the directories above */
    PHI__SEARCH_WALK,
    PHI__SEARCH_SCAN
} phi__search_phase;

typedef struct phi__search_own {
    phi__search_phase phase;
    phi__regex *regex;
    phi__ignore include; /* its rules: what matches is in */
    phi__ignored ignored;
    phi__ordered *tree;       /* NULL: the place is one file */
    phi__ordered_entry entry; /* while the ignore files are asked about it */
    bool asking;
    phi__file *file;
    phi__buf name; /* of the file, as it is listed */
    phi__words words;
    phi__buf trouble; /* the first directory or file that could not be read, and why */
    /* the text of the file */
    char *text;
    size_t from, have; /* read and not scanned yet: where it begins, its bytes */
    size_t piece;      /* of these, in the piece being scanned */
    size_t at;         /* in the piece */
    size_t tail;       /* of the piece before: the beginning of a character, not scanned */
    bool first, whole; /* nothing was scanned yet; all of the file is read */
    bool found;        /* the line at `at` matches, and its end is looked for */
    uint64_t line;     /* number of the line that begins at `begin` */
    size_t begin;      /* of a line in the piece; 0 also for one that began before it */
    phi__buf head;     /* of a line that began before the piece, its first bytes */
    size_t head_bytes; /* of that line before the piece */
} phi__search_own;

PHI__FN void phi__search_own_free(phi__search *search) {
    phi_memory *memory = search->job.memory;
    phi__search_own *own = search->own;
    if (own == NULL) return;
    search->own = NULL;
    phi__regex_free(own->regex);
    phi__ignore_free(&own->include);
    phi__ignored_free(&own->ignored);
    phi__ordered_free(own->tree);
    phi__files_close(own->file);
    phi__buf_free(&own->name);
    phi__buf_free(&own->trouble);
    phi__buf_free(&own->head);
    phi__free(memory, own->text, PHI__SEARCH_OWN_BUFFER);
    phi__free(memory, own, sizeof *own);
}

/* ---- results ---- */

/* Only the first is kept: it is reported where nothing is found. */
static void phi__search_own_note(phi__search_own *own, const char *path, const char *words) {
    if (own->trouble.len == 0) phi__buf_printf(&own->trouble, "%s: %s", path, words);
}

static void phi__search_own_end(phi__search *search) {
    phi__search_own *own = search->own;
    phi_str trouble = phi__buf_str(&own->trouble);
    if (own->trouble.failed)
        (void)phi__job_no_memory(&search->job);
    else if (search->matches == 0 && trouble.len > 0)
        (void)phi__job_fail(&search->job, "Search error: %.*s", (int)trouble.len, trouble.at);
    else
        (void)phi__search_lines_end(search);
}

/* The line from `begin` to `end` in the piece, with its bytes from earlier pieces. True: the job
   has ended. */
static bool phi__search_own_emit(phi__search *search, size_t end) {
    phi__search_own *own = search->own;
    phi__buf *line = &search->line;
    const size_t most = PHI__SEARCH_LINE_BYTES + 4;
    phi__buf_add_str(line, phi__buf_str(&own->name));
    if (!line->failed) line->len = phi__words_clean_line(line->at, phi__min(line->len, most));
    phi__buf_printf(line, ":%llu:", (unsigned long long)own->line);
    search->line_bytes = line->len + own->head_bytes + (end - own->begin);
    phi__buf_add(line, own->head.at, phi__min(own->head.len, most - phi__min(line->len, most)));
    phi__buf_add(line, own->text + own->from + own->begin,
                 phi__min(end - own->begin, most - phi__min(line->len, most)));
    if (line->failed || own->head.failed) {
        (void)phi__job_no_memory(&search->job);
        return true;
    }
    if (phi__search_lines_add(search)) return true;
    if (!search->out.failed) return false;
    (void)phi__job_no_memory(&search->job);
    return true;
}

/* ---- a piece of text ---- */

/* The next line begins at `at`, behind newlines that are counted. */
static void phi__search_own_line(phi__search_own *own, size_t at) {
    const char *text = own->text + own->from;
    size_t i = own->begin;
    const char *newline;
    while (i < at && (newline = (const char *)memchr(text + i, '\n', at - i)) != NULL) {
        i = (size_t)(newline - text) + 1;
        own->line++;
        own->begin = i;
        own->head_bytes = 0;
        phi__buf_clear(&own->head);
    }
}

/* The piece is scanned up to `at`: the rest, of its last line, is kept. */
static void phi__search_own_keep(phi__search_own *own) {
    size_t rest;
    phi__search_own_line(own, own->at);
    rest = own->at - own->begin;
    if (own->head.len < PHI__SEARCH_LINE_BYTES + 4)
        phi__buf_add(&own->head, own->text + own->from + own->begin,
                     phi__min(rest, PHI__SEARCH_LINE_BYTES + 4 - own->head.len));
    own->head_bytes += rest;
    own->tail = own->piece - own->at;
    own->from += own->at;
    own->have -= own->at;
    own->at = own->piece = own->begin = 0;
}

/* The end of the line that matches. PHI_BUSY: it is not in this piece; PHI_REFUSED: the job has
   ended. */
static phi_status phi__search_own_found(phi__search *search) {
    phi__search_own *own = search->own;
    const char *text = own->text + own->from, *newline;
    phi__search_own_line(own, own->at);
    newline = (const char *)memchr(text + own->at, '\n', own->piece - own->at);
    if (newline == NULL) {
        own->at = own->piece;
        return PHI_BUSY;
    }
    if (phi__search_own_emit(search, (size_t)(newline - text))) return PHI_REFUSED;
    own->at = (size_t)(newline - text) + 1;
    phi__search_own_line(own, own->at);
    own->found = false;
    phi__regex_begin(own->regex);
    return PHI_OK;
}

/* Scans the piece. PHI_OK: all of it; PHI_BUSY: the units are used up; PHI_REFUSED: the job has
   ended. */
static phi_status phi__search_own_scan(phi__search *search, size_t *units) {
    phi__search_own *own = search->own;
    for (;;) {
        phi__regex_found found = PHI__REGEX_MATCH;
        phi_status status;
        if (!own->found)
            found = phi__regex_scan(own->regex, phi__str(own->text + own->from, own->piece),
                                    own->whole && own->piece == own->have, &own->at, units);
        if (found == PHI__REGEX_BUSY) return PHI_BUSY;
        if (found == PHI__REGEX_NO_MEMORY) {
            (void)phi__job_no_memory(&search->job);
            return PHI_REFUSED;
        }
        if (found == PHI__REGEX_NONE) return PHI_OK;
        own->found = true;
        status = phi__search_own_found(search);
        if (status != PHI_OK) return status == PHI_BUSY ? PHI_OK : status;
    }
}

/* ---- a file ---- */

static void phi__search_own_shut(phi__search_own *own) {
    phi__files_close(own->file);
    own->file = NULL;
    own->phase = PHI__SEARCH_WALK;
}

/* The file is scanned to its end: its last line may have no newline. True: the job has ended. */
static bool phi__search_own_last(phi__search *search) {
    phi__search_own *own = search->own;
    if (own->head_bytes > 0 && !own->found) {
        phi__regex_found found = phi__regex_finish(own->regex);
        if (found == PHI__REGEX_NO_MEMORY) {
            (void)phi__job_no_memory(&search->job);
            return true;
        }
        own->found = found == PHI__REGEX_MATCH;
    }
    if (own->head_bytes > 0 && own->found && phi__search_own_emit(search, own->begin)) return true;
    phi__search_own_shut(own);
    return false;
}

/* Reads until the buffer has the next piece. False: the file cannot be read. */
static bool phi__search_own_fill(phi__search_own *own, size_t want) {
    size_t got = 1;
    if (own->from > 0) memmove(own->text, own->text + own->from, own->have);
    own->from = 0;
    while (own->have < want && !own->whole) {
        if (phi__files_read(own->file, own->text + own->have, PHI__SEARCH_OWN_BUFFER - own->have,
                            &got, &own->words) != PHI_OK)
            return false;
        own->have += got;
        own->whole = got == 0;
    }
    own->piece = phi__min(own->have, want);
    return true;
}

/* The next piece of the file. False: there is none, the file is shut, or the job has ended. */
static bool phi__search_own_piece(phi__search *search, size_t *units) {
    phi__search_own *own = search->own;
    size_t want = own->first ? (size_t)PHI__SEARCH_OWN_MARK : (size_t)PHI__SEARCH_OWN_PIECE;
    if (own->head_bytes + own->tail < PHI__SEARCH_OWN_PIECE)
        want -= phi__min(own->head_bytes, want);
    else
        want += own->tail;
    if (!phi__search_own_fill(own, want)) {
        phi__search_own_note(own, own->name.at, own->words.text);
        phi__search_own_shut(own);
        return false;
    }
    *units -= phi__min(*units, own->piece / 4);
    if (own->piece == 0) {
        (void)phi__search_own_last(search);
        return false;
    }
    if (memchr(own->text, '\0', own->piece) != NULL) { /* it is binary from here on */
        phi__search_own_shut(own);
        return false;
    }
    if (own->first && phi__str_starts(phi__str(own->text, own->piece), "\xEF\xBB\xBF")) {
        own->from = 3;
        own->have -= 3;
        own->piece = 0;
    }
    own->first = false;
    own->at = 0;
    return true;
}

static void phi__search_own_read(phi__search *search, size_t *units) {
    phi__search_own *own = search->own;
    phi_status status;
    if (own->at == own->piece && !phi__search_own_piece(search, units)) return;
    status = phi__search_own_scan(search, units);
    if (status == PHI_OK) phi__search_own_keep(own);
}

/* The file is open. */
static void phi__search_own_start(phi__search_own *own) {
    own->phase = PHI__SEARCH_SCAN;
    own->from = own->have = own->piece = own->at = own->begin = own->head_bytes = own->tail = 0;
    own->first = true;
    own->whole = own->found = false;
    own->line = 1;
    phi__buf_clear(&own->head);
    phi__regex_begin(own->regex);
}

/* ---- the walk ---- */

/* A name as `include` sees it: relative to the workspace. */
static phi_str phi__search_own_relative(const phi__search *search, phi_str name) {
    const char *workspace = search->job.set->desc.workspace;
    size_t n = workspace != NULL ? strlen(workspace) : 0;
    while (phi__str_starts(name, "./")) name = phi__str(name.at + 2, name.len - 2);
    if (n == 0 || workspace[0] != '/' || !phi__str_starts(name, workspace)) return name;
    if (workspace[n - 1] != '/' && name.at[n++] != '/') return name;
    return phi__str(name.at + n, name.len - n);
}

/* Whether the entry is left out: by `include` first, then by the ignore files, then for being
   hidden. PHI_BUSY: the units are used up. */
static phi_status phi__search_own_out(phi__search *search, size_t *units, bool *out) {
    phi__search_own *own = search->own;
    const phi__ordered_entry *entry = &own->entry;
    bool directory = entry->kind == PHI__FILE_DIRECTORY;
    size_t rules = own->include.count;
    phi__ignore_said said;
    phi_status status;
    if (!own->asking) {
        phi_str whole = phi__search_own_relative(search, phi__buf_str(&own->name));
        said = phi__ignore_says(&own->include, whole, directory, &rules, units);
        *out = said == PHI__IGNORE_IN ||
               (said == PHI__IGNORE_NONE && own->include.outs > 0 && !directory);
        if (said != PHI__IGNORE_NONE || *out) return PHI_OK;
    }
    status = phi__ignored_says(&own->ignored, entry->depth, entry->path, directory, units, &said);
    own->asking = status == PHI_BUSY;
    *out = said == PHI__IGNORE_OUT ||
           (said == PHI__IGNORE_NONE && phi__glob_name(entry->path).at[0] == '.');
    return status;
}

/* The name as it is listed: below the path as the model wrote it. */
static bool phi__search_own_name(phi__search *search, phi_str path) {
    phi__search_own *own = search->own;
    size_t n = strlen(search->path);
    phi__buf_clear(&own->name);
    if (strcmp(search->path, ".") != 0) {
        phi__buf_add(&own->name, search->path, n);
        if (path.len > 0 && search->path[n - 1] != '/') phi__buf_char(&own->name, '/');
    }
    phi__buf_add_str(&own->name, path);
    phi__buf_char(&own->name, '\0');
    own->name.len -= own->name.failed ? 0 : 1;
    return !own->name.failed;
}

static phi_status phi__search_own_entry(phi__search *search, size_t *units) {
    phi__search_own *own = search->own;
    const phi__ordered_entry *entry = &own->entry;
    phi_status status;
    bool out;
    if (entry->kind != PHI__FILE_DIRECTORY && entry->kind != PHI__FILE_REGULAR) return PHI_OK;
    if (!phi__search_own_name(search, entry->path)) return PHI_NO_MEMORY;
    status = phi__search_own_out(search, units, &out);
    if (status != PHI_OK) return status;
    if (entry->kind == PHI__FILE_DIRECTORY) {
        if (out) phi__ordered_skip(own->tree);
        return PHI_OK;
    }
    if (out) return PHI_OK;
    status = phi__files_open_in(search->job.memory, phi__ordered_at(own->tree),
                                phi__glob_name(entry->path).at, &own->file, &own->words);
    if (status == PHI_OK) phi__search_own_start(own);
    if (status == PHI_IO) phi__search_own_note(own, own->name.at, own->words.text);
    return status == PHI_NO_MEMORY ? PHI_NO_MEMORY : PHI_OK;
}

/* PHI_NOT_FOUND: the end. */
static phi_status phi__search_own_next(phi__search *search, size_t *units) {
    phi__search_own *own = search->own;
    phi__ordered_entry *entry = &own->entry;
    phi_status status = PHI_OK;
    size_t cost = PHI__SEARCH_OWN_ENTRY;
    if (own->tree == NULL) return PHI_NOT_FOUND;
    if (!own->asking) status = phi__ordered_next(own->tree, entry, &own->words);
    if (status == PHI_BUSY || status == PHI_IO || entry->entered)
        cost += PHI__SEARCH_OWN_OPEN + PHI__SEARCH_OWN_PART * (size_t)entry->depth;
    if (status == PHI_IO) {
        if (!phi__search_own_name(search, entry->path)) return PHI_NO_MEMORY;
        phi__search_own_note(own, own->name.at, own->words.text);
        status = PHI_OK;
    } else if (status == PHI_OK && entry->entered) {
        status = phi__ignored_enter(&own->ignored, entry->depth - 1, phi__ordered_at(own->tree),
                                    entry->path);
        cost += own->ignored.spent;
        own->ignored.spent = 0;
    } else if (status == PHI_OK) {
        status = phi__search_own_entry(search, units);
        if (own->file != NULL) cost += PHI__SEARCH_OWN_OPEN;
    }
    *units -= phi__min(*units, cost);
    return status;
}

static void phi__search_own_turn(phi__search *search) {
    size_t units = PHI__SEARCH_OWN_UNITS;
    while (units > 0 && search->own != NULL) {
        phi__search_own *own = search->own;
        phi_status status = PHI_OK;
        if (own->phase == PHI__SEARCH_SCAN) {
            phi__search_own_read(search, &units);
            continue;
        }
        if (own->phase == PHI__SEARCH_ABOVE) {
            status = phi__ignored_above(&own->ignored, search->job.place);
            if (status == PHI_OK) own->phase = PHI__SEARCH_WALK;
            units -= phi__min(units, PHI__SEARCH_OWN_OPEN + own->ignored.spent);
            own->ignored.spent = 0;
        } else
            status = phi__search_own_next(search, &units);
        if (status == PHI_NO_MEMORY) (void)phi__job_no_memory(&search->job);
        if (status == PHI_NOT_FOUND) phi__search_own_end(search);
    }
}

/* ---- the beginning ---- */

/* Opens the file or the directory. False: the job has ended. */
static bool phi__search_own_place(phi__search *search) {
    phi__search_own *own = search->own;
    phi_memory *memory = search->job.memory;
    const char *place = search->job.place;
    phi__file_info info;
    phi_status status = phi__files_stat(place, true, &info, &own->words);
    if (status == PHI_OK && info.kind == PHI__FILE_DIRECTORY) {
        status = phi__ordered_new(memory, place, &own->tree, &own->words);
    } else if (status == PHI_OK) {
        status = phi__files_open_read(memory, place, &own->file, &own->words);
        if (status == PHI_OK) phi__search_own_start(own);
    }
    if (status == PHI_NO_MEMORY || !phi__search_own_name(search, phi__str("", 0)))
        (void)phi__job_no_memory(&search->job);
    else if (status != PHI_OK)
        (void)phi__job_fail(&search->job, "Search error: %s: %s", search->path, own->words.text);
    return search->own != NULL;
}

/* The pattern and the include. False: the job has ended. */
static bool phi__search_own_patterns(phi__search *search) {
    phi__search_own *own = search->own;
    phi__regex_error error;
    const char *wrong = NULL;
    phi_status status = phi__regex_new(search->job.memory, phi_str_of(search->pattern),
                                       !search->case_sensitive, &own->regex, &error);
    if (status == PHI_BAD_ARG)
        (void)phi__job_fail(&search->job, "Search error: pattern, column %u: %s",
                            (unsigned)error.column, error.message);
    if (status == PHI_OK && search->include != NULL) {
        status = phi__ignore_add_line(&own->include, phi_str_of(search->include), &wrong);
        if (wrong != NULL)
            (void)phi__job_fail(&search->job, "Search error: include \"%s\": %s", search->include,
                                wrong);
    }
    if (status == PHI_NO_MEMORY) (void)phi__job_no_memory(&search->job);
    return search->own != NULL;
}

/* ---- for the other half ---- */

PHI__FN void phi__search_own_begin(phi__search *search) {
    phi_memory *memory = search->job.memory;
    phi__search_own *own = (phi__search_own *)phi__alloc(memory, sizeof *own);
    search->own = own;
    if (own == NULL) {
        (void)phi__job_no_memory(&search->job);
        return;
    }
    phi__ignore_init(&own->include, memory);
    phi__ignored_init(&own->ignored, memory);
    phi__buf_init(&own->name, memory);
    phi__buf_init(&own->trouble, memory);
    phi__buf_init(&own->head, memory);
    own->text = (char *)phi__alloc(memory, PHI__SEARCH_OWN_BUFFER);
    if (own->text == NULL) {
        (void)phi__job_no_memory(&search->job);
        return;
    }
    if (phi__search_own_patterns(search) && phi__search_own_place(search))
        phi__search_again(search, 1);
}

PHI__FN void phi__search_own_more(phi__search *search) {
    const phi__slice *slice = &search->job.call.rt->slice;
    int turns = 0;
    do phi__search_own_turn(search);
    while (search->own != NULL && ++turns < PHI__SEARCH_OWN_TURNS && !phi__slice_spent(slice));
    if (search->own != NULL) phi__search_again(search, 1);
}

#endif

/* ---- src/tools/tools.c ---- */

/* tools.c - the table of the built-in tools: names, descriptions, schemas, defaults. */


enum {
    PHI__TOOLS_BASH_MS = 120000, /* the book, part "Built-in Tools", as are all below */
    PHI__TOOLS_LIST_MS = 10000,
    PHI__TOOLS_SEARCH_MS = 30000,
    PHI__TOOLS_OUTPUT_BYTES = 262144,
    PHI__TOOLS_READ_BYTES = 1048576,
    PHI__TOOLS_FILES = 200,
    PHI__TOOLS_MATCHES = 50,
    PHI__TOOLS_MARGIN_MS = 10000 /* the loop's own deadline is behind the tool's, which has words */
};

#ifndef PHI_NO_PROCESS
static const char phi__tools_bash[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"command\":{\"type\":\"string\",\"description\":\"The command to run with bash -c\"}},"
    "\"required\":[\"command\"]}";
#endif
#ifndef PHI_NO_FILES
static const char phi__tools_read[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"Path of the file to read\"},"
    "\"offset\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"First line to read, counted from 1 (default: 1)\"},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"How many lines to read (default: all)\"}},"
    "\"required\":[\"path\"]}";
static const char phi__tools_write[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"Path of the file to write\"},"
    "\"content\":{\"type\":\"string\",\"description\":\"The whole new content of the file\"}},"
    "\"required\":[\"path\",\"content\"]}";
static const char phi__tools_edit[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"Path of the file to edit\"},"
    "\"old_text\":{\"type\":\"string\",\"description\":"
    "\"The exact text to replace, whitespace included; it must occur once\"},"
    "\"new_text\":{\"type\":\"string\",\"description\":\"What to put in its place\"}},"
    "\"required\":[\"path\",\"old_text\",\"new_text\"]}";
static const char phi__tools_list[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"Directory to list (default: .)\"},"
    "\"pattern\":{\"type\":\"string\","
    "\"description\":\"Glob that file names must match, such as *.c\"},"
    "\"max_depth\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"How many levels of directories to look at (default: 3)\"}}}";
static const char phi__tools_search[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"pattern\":{\"type\":\"string\",\"description\":\"Regular expression to look for\"},"
    "\"path\":{\"type\":\"string\","
    "\"description\":\"File or directory to search (default: .)\"},"
    "\"include\":{\"type\":\"string\","
    "\"description\":\"Glob that file names must match, such as *.c\"},"
    "\"case_sensitive\":{\"type\":\"boolean\","
    "\"description\":\"Tell upper from lower case (default: false)\"}},"
    "\"required\":[\"pattern\"]}";
#endif

#if !defined(PHI_NO_PROCESS) || !defined(PHI_NO_FILES)
typedef phi_flow (*phi__tools_start)(void *user_data, phi_call call, phi_str arguments);

static phi_tool *phi__tools_add(phi_toolset *set, const char *name, const char *label,
                                const char *schema, phi__tools_start start,
                                const char *description) {
    phi_tool *tool = &set->tools[set->count++];
    tool->name = name;
    tool->label = label;
    tool->description = description;
    tool->schema = schema;
    tool->start = start;
    tool->cancel = phi__job_cancel;
    tool->user_data = set;
    tool->checks_arguments = true;
    return tool;
}

static uint32_t phi__tools_behind(uint32_t timeout_ms) {
    return timeout_ms > PHI_UNLIMITED - PHI__TOOLS_MARGIN_MS ? PHI_UNLIMITED
                                                             : timeout_ms + PHI__TOOLS_MARGIN_MS;
}
#endif

static uint32_t phi__tools_or(uint32_t value, uint32_t standard) {
    return value != 0 ? value : standard;
}

static void phi__tools_defaults(phi_tools_desc *desc) {
    if (desc->deny_patterns == NULL) desc->deny_patterns = phi_tools_deny_patterns();
    desc->bash_timeout_ms = phi__tools_or(desc->bash_timeout_ms, PHI__TOOLS_BASH_MS);
    desc->list_timeout_ms = phi__tools_or(desc->list_timeout_ms, PHI__TOOLS_LIST_MS);
    desc->search_timeout_ms = phi__tools_or(desc->search_timeout_ms, PHI__TOOLS_SEARCH_MS);
    desc->max_output_bytes = phi__tools_or(desc->max_output_bytes, PHI__TOOLS_OUTPUT_BYTES);
    desc->max_read_bytes = phi__tools_or(desc->max_read_bytes, PHI__TOOLS_READ_BYTES);
    desc->max_files = phi__tools_or(desc->max_files, PHI__TOOLS_FILES);
    desc->max_matches = phi__tools_or(desc->max_matches, PHI__TOOLS_MATCHES);
}

/* ---- public ---- */

PHI_API const char *const *phi_tools_deny_patterns(void) {
    static const char *const patterns[] = {"rm -rf /", "rm -rf /*",   "mkfs",
                                           "dd if=",   ":(){:|:&};:", NULL};
    return patterns;
}

PHI_API phi_status phi_tools_init(phi_toolset *set, const phi_tools_desc *desc) {
    phi_tool *tool;
    if (set == NULL) return PHI_BAD_ARG;
    memset(set, 0, sizeof *set);
    if (desc != NULL) set->desc = *desc;
    phi__tools_defaults(&set->desc);
    tool = NULL;
#ifndef PHI_NO_PROCESS
    tool = phi__tools_add(set, "bash", "Execute Command", phi__tools_bash, phi__bash_start,
                          "Run a command with bash and get its exit code, stdout and stderr. "
                          "Background processes end with the command.");
    tool->timeout_ms = phi__tools_behind(set->desc.bash_timeout_ms);
#endif
#ifndef PHI_NO_FILES
    tool = phi__tools_add(set, "read_file", "Read File", phi__tools_read, phi__read_file_start,
                          "Read a text file, with line numbers, or look at an image. offset and "
                          "limit choose lines of a large file.");
    tool->step = phi__job_step;
    tool = phi__tools_add(set, "write_file", "Write File", phi__tools_write, phi__write_file_start,
                          "Write a whole file, replacing what was there. Makes its directories.");
    tool->step = phi__job_step;
    tool->not_concurrent = true;
    tool = phi__tools_add(set, "edit_file", "Edit File", phi__tools_edit, phi__edit_file_start,
                          "Replace one piece of text in a file. old_text must be in the file "
                          "exactly once, whitespace included.");
    tool->step = phi__job_step;
    tool->not_concurrent = true;
    tool = phi__tools_add(set, "list_files", "List Files", phi__tools_list, phi__list_files_start,
                          "List the files in a directory and below, sorted, without .git, "
                          "node_modules, target and what .gitignore leaves out.");
    tool->step = phi__job_step;
    tool->timeout_ms = phi__tools_behind(set->desc.list_timeout_ms);
    tool = phi__tools_add(set, "search", "Search Files", phi__tools_search, phi__search_start,
                          "Search files for a regular expression. Gives file:line:text of each "
                          "matching line.");
    tool->timeout_ms = phi__tools_behind(set->desc.search_timeout_ms);
#endif
    (void)tool;
    return PHI_OK;
}

/* ---- src/tools/write_file.c ---- */

/* write_file.c - the tool that writes a whole file, a slice a step, and replaces it at the end. */

#ifndef PHI_NO_FILES

typedef struct phi__write {
    phi__job job;
    const char *path;
    phi_str content;
    size_t made; /* bytes of the place whose directories are there */
    size_t at;
    phi__file *file;
} phi__write;

static void phi__write_file_drop(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    phi__files_close(write->file);
    write->file = NULL;
}

static phi_flow phi__write_file_done(phi__write *write) {
    phi__buf details, text;
    phi__buf_init(&details, write->job.memory);
    phi__buf_init(&text, write->job.memory);
    phi__buf_text(&details, "{\"path\":");
    phi__json_write_str(&details, phi_str_of(write->path));
    phi__buf_printf(&details, ",\"bytes\":%llu}", (unsigned long long)write->content.len);
    phi__buf_char(&details, '\0');
    phi__buf_printf(&text, "Wrote %llu bytes to %s", (unsigned long long)write->content.len,
                    write->path);
    if (details.failed || text.failed)
        (void)phi__job_no_memory(&write->job);
    else
        (void)phi__job_done(&write->job, phi__buf_str(&text), details.at);
    phi__buf_free(&details);
    phi__buf_free(&text);
    return PHI_DONE;
}

static phi_flow phi__write_file_slice(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    size_t n = phi__min(write->content.len - write->at, PHI__JOB_SLICE);
    phi__words words;
    phi_status status = PHI_OK;
    if (n > 0) status = phi__files_write(write->file, write->content.at + write->at, n, &words);
    write->at += n;
    if (status == PHI_OK && write->at < write->content.len) return PHI_PENDING;
    if (status == PHI_OK) status = phi__files_commit(write->file, &words);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot write %s: %s", write->path, words.text);
    return phi__write_file_done(write);
}

/* The directory a resolved path lies in, some parts a step. */
static phi_status phi__write_file_make_room(phi__write *write, phi__words *words) {
    const char *real = write->job.place;
    char directory[PHI__PATH_BYTES];
    size_t n = strlen(real), units = PHI__JOB_PATHS;
    while (n > 0 && real[n - 1] != '/') n--;
    if (n <= 1 || n > sizeof directory) return PHI_OK;
    memcpy(directory, real, n - 1);
    directory[n - 1] = '\0';
    return phi__files_make_directories_more(directory, &write->made, &units, words);
}

static phi_flow phi__write_file_open(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    phi__words words;
    phi_status status = phi__write_file_make_room(write, &words);
    if (status == PHI_BUSY) return PHI_PENDING;
    if (status == PHI_OK)
        status = phi__files_open_replace(job->memory, job->place, &write->file, &words);
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(job);
    if (status != PHI_OK) return phi__job_fail(job, "Cannot write %s: %s", write->path, words.text);
    job->go = phi__write_file_slice;
    return phi__write_file_slice(job);
}

static phi_flow phi__write_file_go(phi__job *job) {
    phi__write *write = (phi__write *)(void *)job;
    if (!phi__job_text(job, "path", true, &write->path) ||
        !phi__job_str(job, "content", &write->content))
        return PHI_DONE;
    return phi__job_place(job, write->path, phi__write_file_open);
}

PHI__FN phi_flow phi__write_file_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__write), false, phi__write_file_go,
                          phi__write_file_drop);
}

#endif

#endif /* PHI__IMP_TOOLS */

#ifdef PHI__IMP_MCP
#if PHI__IMP_MCP != 0x64759083
#error "phi: two versions of src/mcp in one file"
#endif
#else
#define PHI__IMP_MCP 0x64759083

/* ---- src/mcp/mcp_eras_in.h ---- */

/* mcp_eras_in.h - the protocol's eras: one row each, whose columns are facts. Code asks for a fact,
   never for a version. */
#ifndef PHI_MCP_MCP_ERAS_IN_H
#define PHI_MCP_MCP_ERAS_IN_H


#ifndef PHI_NO_MCP

typedef enum phi__mcp_tasks {
    PHI__MCP_TASKS_NONE,
    PHI__MCP_TASKS_ASKED,    /* by params.task of a call: 2025-11-25 */
    PHI__MCP_TASKS_EXTENSION /* io.modelcontextprotocol/tasks: 2026-07-28 */
} phi__mcp_tasks;

typedef struct phi__mcp_era {
    const char *version;
    phi__mcp_tasks tasks;
    bool handshake;       /* initialize; else _meta on each request, and server/discover */
    bool old_sse;         /* HTTP has a stream that names its endpoint */
    bool batches;         /* arrays of messages */
    bool version_header;  /* MCP-Protocol-Version on each HTTP request after the handshake */
    bool session_id;      /* Mcp-Session-Id */
    bool resumption;      /* Last-Event-ID */
    bool message_headers; /* Mcp-Method, Mcp-Name, Mcp-Param-... */
    bool asks;            /* servers send requests; else input_required and a repetition */
    bool ping;
    bool log_request;      /* logging/setLevel; else the level stands in _meta */
    bool listen;           /* subscriptions/listen; else changes come by themselves */
    bool subscribe;        /* resources/subscribe */
    bool cancel_by_stream; /* HTTP: closing its stream cancels a request */
    bool progress_message;
    bool annotations; /* of tools */
    bool audio;       /* content */
    bool links;       /* content: resource_link */
    bool structured;  /* structuredContent, outputSchema */
    bool any_output;  /* structuredContent may be of any type, not an object alone */
    bool titles;
    bool completions_context; /* context.arguments of completion/complete */
    bool forms;               /* elicitation */
    bool urls;                /* elicitation by a page */
    bool sampling_tools;
    bool result_type; /* resultType, ttlMs and cacheScope in results */
} phi__mcp_era;

enum { PHI__MCP_ERAS = 5 };

/* The newest first; NULL beyond the last. */
PHI__FN const phi__mcp_era *phi__mcp_eras_at(size_t index);
/* NULL: unknown. */
PHI__FN const phi__mcp_era *phi__mcp_eras_find(phi_str version);
/* The newest with a handshake. */
PHI__FN const phi__mcp_era *phi__mcp_eras_legacy(void);
PHI__FN const phi__mcp_era *phi__mcp_eras_modern(void);

#endif
#endif

/* ---- src/mcp/mcp_headers_in.h ---- */

/* mcp_headers_in.h - parameters of tools that are mirrored into HTTP headers (x-mcp-header).

   The input schema of a tool may mark parameters: {"type": "string", "x-mcp-header": "Region"}. A
   call over HTTP then carries the argument as the header Mcp-Param-Region as well. A tool whose
   marks break the rules must not be used over HTTP.
   Era: 2026-07-28; over other transports, and in older eras, marks mean nothing. */
#ifndef PHI_MCP_MCP_HEADERS_IN_H
#define PHI_MCP_MCP_HEADERS_IN_H


#ifndef PHI_NO_MCP

/* Whether all marks of an input schema keep the rules; a schema without any does. False: `message`
   (of `size` bytes) says which mark breaks which rule. */
PHI__FN bool phi__mcp_headers_valid(const phi_json *schema, char *message, size_t size);

/* The headers of a call, their values encoded; all of it in the arena. Arguments that are not
   there, or null, have none. A schema that is not valid gives what it can. PHI_BAD_ARG: an integer
   that a double cannot carry; PHI_NO_MEMORY. */
PHI__FN phi_status phi__mcp_headers_of(const phi_json *schema, const phi_json *arguments,
                                       phi_arena *arena, phi_mcp_pair **out, size_t *count);

/* A value for a header: itself where it is plain (0x20 to 0x7E, no space at an end, not of the form
   below), else "=?base64?...?=". Terminated, in the arena. False: no memory. */
PHI__FN bool phi__mcp_headers_encode(phi_arena *arena, phi_str value, phi_str *out);

#endif
#endif

/* ---- src/mcp/mcp_link_in.h ---- */

/* mcp_link_in.h - how messages reach a server: one interface, with a link for child processes
   (mcp_stdio.c) and one for HTTP (mcp_http.c).

   The session (mcp_session.c) calls the link by its table; the link calls phi__mcp_session_up and
   its like. No function of the table calls the session before it returns: what is known at once is
   reported in the next phi_step (a timer at now).
   A link keeps its own state behind `link`. Lifetime: from the table's `free` on it is gone. */
#ifndef PHI_MCP_MCP_LINK_IN_H
#define PHI_MCP_MCP_LINK_IN_H


#ifndef PHI_NO_MCP

typedef struct phi__mcp_link phi__mcp_link;

/* A message on its way. The session's; lives until `lost` or its answer was reported, or until
   after `forget`. A notification or an answer of ours: until `send` has returned. */
typedef struct phi__mcp_out {
    phi_str json;                /* one line, without a line break */
    phi_str method;              /* empty: an answer of ours */
    phi_str name;                /* for the header Mcp-Name; empty: none */
    const phi_mcp_pair *headers; /* Mcp-Param-..., encoded; borrowed as long as json */
    size_t header_count;
    bool request;  /* it expects an answer */
    bool stream;   /* subscriptions/listen: no deadline of silence, its stream stays open */
    void *of_link; /* the link's, NULL at first */
} phi__mcp_out;

typedef struct phi__mcp_link_table {
    /* Begins to connect: phi__mcp_session_up or _down follows. Also again after a down. */
    phi_status (*open)(phi__mcp_link *link);
    /* Copies what it must keep. PHI_FULL: too much waits to be sent: phi__mcp_session_drained
       follows. Other failures: the message is lost. */
    phi_status (*send)(phi__mcp_link *link, phi__mcp_out *out);
    /* The answer is not wanted any more; the session frees `out` when it returns. */
    void (*forget)(phi__mcp_link *link, phi__mcp_out *out);
    /* The era, and the version to put into headers; NULL: unknown again (a new connection). */
    void (*agreed)(phi__mcp_link *link, const char *version, bool modern);
    /* Legacy eras, once initialized was sent: opens the stream for messages of the server's own,
       where the transport has one. */
    void (*listen)(phi__mcp_link *link);
    /* Ends the connection politely: phi__mcp_session_down(PHI_OK) follows. */
    void (*close)(phi__mcp_link *link);
    void (*free)(phi__mcp_link *link);                          /* at once, from any state */
    void (*info)(const phi__mcp_link *link, phi_mcp_info *out); /* NULL: nothing to add */
    phi_str (*errors)(const phi__mcp_link *link);               /* of stderr; NULL: none */
} phi__mcp_link_table;

struct phi__mcp_link {
    const phi__mcp_link_table *table;
    phi_mcp *mcp;
};

/* ---- the session's side ---- */

PHI__FN void phi__mcp_session_up(phi_mcp *mcp);
PHI__FN void phi__mcp_session_drained(phi_mcp *mcp);
/* A message of the server's: a JSON text, borrowed until it returns. from: the request on whose
   answer it came, or NULL. The session may free itself with the link inside of it: false; then the
   link touches nothing of its own. */
PHI__FN bool phi__mcp_session_message(phi_mcp *mcp, phi_str json, phi__mcp_out *from);
/* This request gets no answer over the link: HTTP refused it, or its stream ended without one.
   body: of an HTTP answer, may be empty. As _message: false when the session is gone. */
PHI__FN bool phi__mcp_session_lost(phi_mcp *mcp, phi__mcp_out *out, phi_status status,
                                   int http_status, phi_str body, const char *message);
/* PHI_OK: after close. Else the connection is lost, and every request under way with it: the session
   may open it again. fatal: it will not work when it is opened again. False as above. */
PHI__FN bool phi__mcp_session_down(phi_mcp *mcp, phi_status status, bool fatal,
                                   const char *message);
/* The server has forgotten the session (HTTP 404): all is to be agreed upon again (`agreed` with
   NULL, then initialize). out: the request that was refused for it, to be sent again afterwards, or
   NULL; the link forgets it. Other requests that were sent are lost. False as above. */
PHI__FN bool phi__mcp_session_expired(phi_mcp *mcp, phi__mcp_out *out);
/* A person is waited for (an authorization): deadlines stand still until it is false again. */
PHI__FN void phi__mcp_session_wait(phi_mcp *mcp, bool waits);

/* ---- the makers ---- */

#ifndef PHI_NO_PROCESS
PHI__FN phi_status phi__mcp_stdio_new(phi_mcp *mcp, phi__mcp_link **out);
#endif
PHI__FN phi_status phi__mcp_http_new(phi_mcp *mcp, phi__mcp_link **out);

#endif
#endif

/* ---- src/mcp/mcp_in.h ---- */

/* mcp_in.h - a connection to a server, for the files of this room.

   mcp_session.c owns the state and the requests; the link moves messages; parts (tools, resources,
   asks) take part at the points of a table, so that the session names none of them; mcp.c puts all
   together. */
#ifndef PHI_MCP_MCP_IN_H
#define PHI_MCP_MCP_IN_H


#ifndef PHI_NO_MCP

typedef struct phi__mcp_request phi__mcp_request;

/* A part of a connection. Functions may be NULL. */
typedef struct phi__mcp_part {
    void (*ready)(phi_mcp *mcp, void *part); /* agreed: requests can be sent */
    /* The connection is lost, closed or frozen: requests have ended by now. */
    void (*down)(phi_mcp *mcp, void *part);
    /* A notification; params may be NULL. True: it was ours. */
    bool (*notified)(phi_mcp *mcp, void *part, phi_str method, const phi_json *params);
    /* A request of the server's; params are borrowed until it returns. call: the tool call on whose stream it came, or whose request is
       under way alone; zero: unknown. True: it is ours, and phi__mcp_session_answer follows, now or
       later, once. */
    bool (*asked)(phi_mcp *mcp, void *part, phi_str method, const phi_json *params, phi_call call,
                  phi_agent agent, uint64_t ask);
    void (*unasked)(phi_mcp *mcp, void *part, uint64_t ask); /* cancelled; no answer is wanted */
    /* Adds members to the capabilities of the client, for this era. */
    phi_status (*capabilities)(phi_mcp *mcp, void *part, phi_json *into, phi_arena *arena);
    /* Whether agents have something of it: phi_mcp_free refuses then. */
    bool (*held)(const phi_mcp *mcp, const void *part);
    void (*free)(phi_mcp *mcp, void *part);
} phi__mcp_part;

enum { PHI__MCP_PARTS = 6 };
/* Before the connection opens. The part is NULL or memory of mcp's. */
PHI__FN void phi__mcp_session_join(phi_mcp *mcp, const phi__mcp_part *table, void *part);

/* ---- what parts and links see ---- */

PHI__FN phi_runtime *phi__mcp_session_runtime(const phi_mcp *mcp);
PHI__FN phi_memory *phi__mcp_session_memory(phi_mcp *mcp);             /* lives as long as mcp */
PHI__FN const phi_mcp_desc *phi__mcp_session_desc(const phi_mcp *mcp); /* defaults resolved */
PHI__FN const char *phi__mcp_session_era(const phi_mcp *mcp); /* "2025-06-18"; NULL: not agreed */
PHI__FN bool phi__mcp_session_modern(const phi_mcp *mcp);
/* What the server has declared: an object; NULL: not agreed yet. */
PHI__FN const phi_json *phi__mcp_session_capabilities(const phi_mcp *mcp);
PHI__FN phi_str phi__mcp_session_name(const phi_mcp *mcp); /* for messages */
PHI__FN phi__mcp_link *phi__mcp_session_link(const phi_mcp *mcp);
/* From inside of `ready`: the state stays PHI_MCP_CONNECTING until as many calls of _settle; a part
   asks for its first list meanwhile. Forgotten when the connection is lost. */
PHI__FN void phi__mcp_session_hold(phi_mcp *mcp);
PHI__FN void phi__mcp_session_settle(phi_mcp *mcp);
/* Calls desc->event_fn. It may free mcp: false. */
PHI__FN bool phi__mcp_session_tell(phi_mcp *mcp, phi_mcp_event_kind kind, phi_str name,
                                   phi_str before, phi_str text);

/* ---- requests ---- */

typedef struct phi__mcp_request_desc {
    const char *method;
    phi_str params;              /* JSON object without _meta; copied; empty: {} */
    phi_str name;                /* for the header Mcp-Name */
    const phi_mcp_pair *headers; /* copied */
    size_t header_count;
    uint32_t timeout_ms, max_timeout_ms; /* 0: the connection's */
    phi_call call;                       /* the tool call that it serves; zero: none */
    phi_agent agent;                     /* to be asked; zero: that of call, or desc->agent */
    bool task;                           /* may be answered as a task, where the era has them */
    bool stream;                         /* subscriptions/listen */
    void (*progress)(void *ctx, double progress, double total, phi_str message);
    /* Once, in phi_step; the request is gone when it returns. It may free mcp. */
    void (*done)(void *ctx, const phi_mcp_reply *reply);
    void *ctx;
} phi__mcp_request_desc;

/* `done` is never called inside of it; it is called with PHI_CANCELLED when mcp is freed. PHI_MISUSE:
   not ready. A stream has no deadline; its `done` says that it has ended. Input that a server of the modern era asks for
   (input_required) is got from the parts (`asked`), and the request repeated, by the session. */
PHI__FN phi_status phi__mcp_session_send(phi_mcp *mcp, const phi__mcp_request_desc *desc,
                                         phi__mcp_request **out);
/* Tells the server, where the era has that; `done` is not called. NULL is harmless. */
PHI__FN void phi__mcp_session_cancel(phi__mcp_request *request, const char *reason);
PHI__FN phi_status phi__mcp_session_notify(phi_mcp *mcp, const char *method, phi_str params);

/* Answers a request of the server's: result is JSON text of an object; or code not 0 and a message:
   an error. */
PHI__FN void phi__mcp_session_answer(phi_mcp *mcp, uint64_t ask, phi_str result, int code,
                                     const char *message);

#endif
#endif

/* ---- src/mcp/mcp_rpc_in.h ---- */

/* mcp_rpc_in.h - JSON-RPC messages: read with bounds, and written as one line.

       phi_json *root;
       if (phi__mcp_rpc_parse(&arena, text, &root) != PHI_OK) ...     // no JSON
       phi__mcp_rpc_read(&arena, root, &message);                     // or each item of an array
       if (message.kind == PHI__MCP_RPC_REQUEST) ...

   Shared by our client and our server. What is read is borrowed from the arena and the text. */
#ifndef PHI_MCP_MCP_RPC_IN_H
#define PHI_MCP_MCP_RPC_IN_H


#ifndef PHI_NO_MCP

enum {
    PHI__MCP_RPC_DEPTH = 256,  /* arrays and objects inside of one another */
    PHI__MCP_RPC_ID = 1024,    /* bytes of an id's JSON text */
    PHI__MCP_RPC_METHOD = 256, /* bytes of a method's name */
    /* codes of JSON-RPC and of the protocol */
    PHI__MCP_RPC_PARSE = -32700,
    PHI__MCP_RPC_BAD_REQUEST = -32600,
    PHI__MCP_RPC_NO_METHOD = -32601,
    PHI__MCP_RPC_BAD_PARAMS = -32602,
    PHI__MCP_RPC_INTERNAL = -32603,
    PHI__MCP_RPC_HEADERS = -32020,     /* headers and body differ */
    PHI__MCP_RPC_CAPABILITY = -32021,  /* the client has not declared a capability */
    PHI__MCP_RPC_VERSION = -32022,     /* the version is not spoken */
    PHI__MCP_RPC_NO_RESOURCE = -32002, /* legacy eras */
    PHI__MCP_RPC_OPEN_URL = -32042     /* 2025-11-25: a page is to be opened first */
};

typedef enum phi__mcp_rpc_kind {
    PHI__MCP_RPC_INVALID, /* fault says why; id where it could be read */
    PHI__MCP_RPC_REQUEST,
    PHI__MCP_RPC_NOTIFICATION,
    PHI__MCP_RPC_RESULT,
    PHI__MCP_RPC_ERROR
} phi__mcp_rpc_kind;

typedef struct phi__mcp_rpc {
    phi__mcp_rpc_kind kind;
    phi_str id; /* its JSON text: 7, "seven"; empty: none, or null */
    phi_str method;
    const phi_json *params; /* an object, or NULL */
    const phi_json *result; /* of any type */
    int code;               /* of an error */
    phi_str message;
    const phi_json *data; /* NULL: none */
    const char *fault;    /* static */
} phi__mcp_rpc;

/* Reads one JSON text. PHI_PARSE, PHI_TOO_BIG (nested too deeply), PHI_NO_MEMORY. Bad UTF-8 is
   replaced. Strings point into `text` and are not terminated. */
PHI__FN phi_status phi__mcp_rpc_parse(phi_arena *arena, phi_str text, phi_json **root);
/* Reads a message. False: no memory. */
PHI__FN bool phi__mcp_rpc_read(phi_arena *arena, const phi_json *node, phi__mcp_rpc *out);
/* The number of an id that we made, also where it comes back as a string. */
PHI__FN bool phi__mcp_rpc_number(phi_str id, uint64_t *out);

/* Writes a message at the buffer's end; a failure shows in buf->failed. params, result, data: JSON
   texts, whose line breaks become spaces. params empty: none; an id that is empty: null. */
PHI__FN void phi__mcp_rpc_request(phi__buf *buf, phi_str id, const char *method, phi_str params);
PHI__FN void phi__mcp_rpc_notification(phi__buf *buf, const char *method, phi_str params);
PHI__FN void phi__mcp_rpc_result(phi__buf *buf, phi_str id, phi_str result);
PHI__FN void phi__mcp_rpc_error(phi__buf *buf, phi_str id, int code, phi_str message, phi_str data);
/* A JSON text whose line breaks become spaces. */
PHI__FN void phi__mcp_rpc_line(phi__buf *buf, phi_str json);
/* The members of an object's text, without its brackets; empty: there are none. *out is borrowed.
   False: it is no object's text. Only the brackets are looked at. */
PHI__FN bool phi__mcp_rpc_members(phi_str object, phi_str *out);

#endif
#endif

/* ---- src/mcp/mcp_eras.c ---- */

/* mcp_eras.c - the table of eras, from the pages of the specification and their changelogs. */

#ifndef PHI_NO_MCP

/* clang-format off */
static const phi__mcp_era phi__mcp_eras_rows[PHI__MCP_ERAS] = {
    /*                                    handshake
                                          |  old_sse
                                          |  |  batches
                                          |  |  |  version_header
                                          |  |  |  |  session_id
                                          |  |  |  |  |  resumption
                                          |  |  |  |  |  |  message_headers
                                          |  |  |  |  |  |  |  asks, ping, log_request */
    {"2026-07-28", PHI__MCP_TASKS_EXTENSION, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0,
     /* listen, subscribe, cancel_by_stream, progress_message, annotations, audio */
     1, 0, 1, 1, 1, 1,
     /* links, structured, any_output, titles, completions_context */
     1, 1, 1, 1, 1,
     /* forms, urls, sampling_tools, result_type */
     1, 1, 1, 1},
    {"2025-11-25", PHI__MCP_TASKS_ASKED,     1, 0, 0, 1, 1, 1, 0, 1, 1, 1,
     0, 1, 0, 1, 1, 1,  1, 1, 0, 1, 1,  1, 1, 1, 0},
    {"2025-06-18", PHI__MCP_TASKS_NONE,      1, 0, 0, 1, 1, 1, 0, 1, 1, 1,
     0, 1, 0, 1, 1, 1,  1, 1, 0, 1, 1,  1, 0, 0, 0},
    {"2025-03-26", PHI__MCP_TASKS_NONE,      1, 0, 1, 0, 1, 1, 0, 1, 1, 1,
     0, 1, 0, 1, 1, 1,  0, 0, 0, 0, 0,  0, 0, 0, 0},
    {"2024-11-05", PHI__MCP_TASKS_NONE,      1, 1, 0, 0, 0, 0, 0, 1, 1, 1,
     0, 1, 0, 0, 0, 0,  0, 0, 0, 0, 0,  0, 0, 0, 0},
};
/* clang-format on */

PHI__FN const phi__mcp_era *phi__mcp_eras_at(size_t index) {
    return index < PHI__MCP_ERAS ? &phi__mcp_eras_rows[index] : NULL;
}

PHI__FN const phi__mcp_era *phi__mcp_eras_find(phi_str version) {
    size_t i;
    for (i = 0; i < PHI__MCP_ERAS; i++)
        if (phi__str_is(version, phi__mcp_eras_rows[i].version)) return &phi__mcp_eras_rows[i];
    return NULL;
}

PHI__FN const phi__mcp_era *phi__mcp_eras_legacy(void) {
    size_t i = 0;
    while (!phi__mcp_eras_rows[i].handshake) i++;
    return &phi__mcp_eras_rows[i];
}

PHI__FN const phi__mcp_era *phi__mcp_eras_modern(void) { return &phi__mcp_eras_rows[0]; }

#endif

/* ---- src/mcp/mcp_headers.c ---- */

/* mcp_headers.c - x-mcp-header: the rules, and the headers of a call. */


#include <stdio.h>

#ifndef PHI_NO_MCP

enum {
    PHI__MCP_HEADERS_MOST = 64,  /* marks of a schema, which end up in one request */
    PHI__MCP_HEADERS_NAME = 200, /* bytes of a mark */
    PHI__MCP_HEADERS_DEEP = 64   /* subschemas in each other that are looked at */
};

#define PHI__MCP_HEADERS_SAFE INT64_C(9007199254740991) /* 2^53 - 1, as the specification says */

typedef struct phi__mcp_headers_check {
    phi_str seen[PHI__MCP_HEADERS_MOST];
    size_t count;
    char *message;
    size_t size;
} phi__mcp_headers_check;

static bool phi__mcp_headers_refuse(phi__mcp_headers_check *c, phi_str name, const char *why) {
    (void)snprintf(c->message, c->size, "x-mcp-header \"%.*s\": %s", (int)phi__min(name.len, 80),
                   name.len > 0 ? name.at : "", why);
    return false;
}

/* ---- rules ---- */

static bool phi__mcp_headers_primitive(phi_str type) {
    return phi__str_is(type, "string") || phi__str_is(type, "integer") ||
           phi__str_is(type, "boolean");
}

/* "string", or a list of one primitive type and "null". */
static bool phi__mcp_headers_type(const phi_json *type) {
    phi_json_iter it = phi_json_each(phi_json_is_array(type) ? type : NULL);
    const phi_json *one;
    size_t primitives = 0;
    if (phi_json_is_string(type)) return phi__mcp_headers_primitive(phi__json_text_of(type));
    while ((one = phi_json_next(&it)) != NULL) {
        phi_str text = phi__json_text_of(one);
        if (phi__mcp_headers_primitive(text))
            primitives++;
        else if (!phi__str_is(text, "null"))
            return false;
    }
    return primitives == 1;
}

static bool phi__mcp_headers_same(phi_str a, phi_str b) {
    size_t i;
    if (a.len != b.len) return false;
    for (i = 0; i < a.len; i++) {
        char x = a.at[i], y = b.at[i];
        if (x >= 'A' && x <= 'Z') x = (char)(x + 32);
        if (y >= 'A' && y <= 'Z') y = (char)(y + 32);
        if (x != y) return false;
    }
    return true;
}

static bool phi__mcp_headers_mark(phi__mcp_headers_check *c, const phi_json *schema,
                                  const phi_json *mark, bool reachable) {
    phi_str name = phi__json_text_of(mark);
    size_t i;
    if (!phi_json_is_string(mark)) return phi__mcp_headers_refuse(c, name, "it is no string");
    if (!phi__fetch_name_fits(name))
        return phi__mcp_headers_refuse(c, name, "expected a token of HTTP, as Region");
    if (name.len > PHI__MCP_HEADERS_NAME) return phi__mcp_headers_refuse(c, name, "it is too long");
    if (!reachable)
        return phi__mcp_headers_refuse(c, name, "its parameter is not reached by properties alone");
    if (!phi__mcp_headers_type(phi_json_get(schema, "type")))
        return phi__mcp_headers_refuse(c, name, "expected a string, an integer or a boolean");
    for (i = 0; i < c->count; i++)
        if (phi__mcp_headers_same(c->seen[i], name))
            return phi__mcp_headers_refuse(c, name, "two parameters have it");
    if (c->count == PHI__MCP_HEADERS_MOST)
        return phi__mcp_headers_refuse(c, name, "more than 64 parameters have one");
    c->seen[c->count++] = name;
    return true;
}

/* ---- the walk over a schema ---- */

/* Where subschemas are. Values of other keywords are data, which may hold any member. */
static bool phi__mcp_headers_is_schema(phi_str key) {
    static const char *const names[] = {"items",
                                        "prefixItems",
                                        "additionalItems",
                                        "contains",
                                        "unevaluatedItems",
                                        "oneOf",
                                        "anyOf",
                                        "allOf",
                                        "not",
                                        "if",
                                        "then",
                                        "else",
                                        "additionalProperties",
                                        "propertyNames",
                                        "unevaluatedProperties",
                                        "contentSchema"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(key, names[i])) return true;
    return false;
}

static bool phi__mcp_headers_is_map(phi_str key) {
    static const char *const names[] = {"properties",       "$defs",
                                        "definitions",      "patternProperties",
                                        "dependentSchemas", "dependencies"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(key, names[i])) return true;
    return false;
}

static bool phi__mcp_headers_schema(phi__mcp_headers_check *c, const phi_json *schema,
                                    bool reachable, uint32_t depth);

/* A list of schemas, or a map of them. */
static bool phi__mcp_headers_each(phi__mcp_headers_check *c, const phi_json *list, bool reachable,
                                  uint32_t depth) {
    phi_json_iter it = phi_json_each(list);
    const phi_json *one;
    while ((one = phi_json_next(&it)) != NULL)
        if (phi_json_is_object(one) && !phi__mcp_headers_schema(c, one, reachable, depth))
            return false;
    return true;
}

static bool phi__mcp_headers_schema(phi__mcp_headers_check *c, const phi_json *schema,
                                    bool reachable, uint32_t depth) {
    phi_json_iter it = phi_json_each(schema);
    const phi_json *value;
    if (depth > PHI__MCP_HEADERS_DEEP) return true; /* nothing is mirrored from there */
    while ((value = phi_json_next(&it)) != NULL) {
        bool good = true;
        if (phi__str_is(it.key, "x-mcp-header"))
            good = phi__mcp_headers_mark(c, schema, value, reachable && depth > 0);
        else if (phi__mcp_headers_is_map(it.key) && phi_json_is_object(value))
            good = phi__mcp_headers_each(c, value, reachable && phi__str_is(it.key, "properties"),
                                         depth + 1);
        else if (phi__mcp_headers_is_schema(it.key) && phi_json_is_array(value))
            good = phi__mcp_headers_each(c, value, false, depth + 1);
        else if (phi__mcp_headers_is_schema(it.key) && phi_json_is_object(value))
            good = phi__mcp_headers_schema(c, value, false, depth + 1);
        if (!good) return false;
    }
    return true;
}

PHI__FN bool phi__mcp_headers_valid(const phi_json *schema, char *message, size_t size) {
    phi__mcp_headers_check check;
    memset(&check, 0, sizeof check);
    check.message = message;
    check.size = size;
    if (size > 0) message[0] = '\0';
    return !phi_json_is_object(schema) || phi__mcp_headers_schema(&check, schema, true, 0);
}

/* ---- the headers of a call ---- */

PHI__FN bool phi__mcp_headers_encode(phi_arena *arena, phi_str value, phi_str *out) {
    size_t i;
    phi__buf buf;
    bool plain = value.len == 0 || (value.at[0] != ' ' && value.at[value.len - 1] != ' ');
    for (i = 0; i < value.len && plain; i++) plain = value.at[i] >= 0x20 && value.at[i] <= 0x7e;
    if (plain && phi__str_starts(value, "=?base64?") &&
        memcmp(value.at + value.len - 2, "?=", 2) == 0)
        plain = false;
    if (plain) return phi__arena_str(arena, value, out);
    phi__buf_init(&buf, arena->memory);
    phi__buf_text(&buf, "=?base64?");
    phi__base64_encode(&buf, value.at, value.len);
    phi__buf_text(&buf, "?=");
    plain = !buf.failed && phi__arena_str(arena, phi__buf_str(&buf), out);
    phi__buf_free(&buf);
    return plain;
}

typedef struct phi__mcp_headers_list {
    phi_arena *arena;
    phi_mcp_pair *pairs;
    size_t count;
} phi__mcp_headers_list;

static phi_status phi__mcp_headers_text(phi_arena *arena, const phi_json *value, phi_str *out) {
    char digits[32];
    int64_t n = phi_json_int(value, INT64_MAX);
    phi_str text = phi__json_text_of(value);
    if (phi_json_is_bool(value)) text = phi_str_of(phi_json_bool(value, false) ? "true" : "false");
    if (phi_json_is_number(value)) {
        if (!phi_json_is_integer(value) || n > PHI__MCP_HEADERS_SAFE || n < -PHI__MCP_HEADERS_SAFE)
            return PHI_BAD_ARG;
        (void)snprintf(digits, sizeof digits, "%lld", (long long)n);
        text = phi_str_of(digits);
    }
    return phi__mcp_headers_encode(arena, text, out) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__mcp_headers_add(phi__mcp_headers_list *list, phi_str mark,
                                       const phi_json *value) {
    static const char prefix[] = "Mcp-Param-";
    char *name;
    phi_str text;
    phi_status status;
    if (phi_json_is_null(value) || phi_json_is_object(value) || phi_json_is_array(value))
        return PHI_OK;
    if (list->count == PHI__MCP_HEADERS_MOST || !phi__fetch_name_fits(mark)) return PHI_OK;
    status = phi__mcp_headers_text(list->arena, value, &text);
    if (status != PHI_OK) return status;
    if (list->pairs == NULL)
        list->pairs = (phi_mcp_pair *)phi__arena_zero(list->arena,
                                                      PHI__MCP_HEADERS_MOST * sizeof *list->pairs);
    name = phi__arena_bytes(list->arena, phi__add(mark.len, sizeof prefix));
    if (list->pairs == NULL || name == NULL) return PHI_NO_MEMORY;
    memcpy(name, prefix, sizeof prefix - 1);
    memcpy(name + sizeof prefix - 1, mark.at, mark.len);
    name[sizeof prefix - 1 + mark.len] = '\0';
    list->pairs[list->count].name = name;
    list->pairs[list->count++].value = text.at;
    return PHI_OK;
}

/* Walks a schema and the arguments together, by properties alone. */
static phi_status phi__mcp_headers_collect(phi__mcp_headers_list *list, const phi_json *schema,
                                           const phi_json *arguments, uint32_t depth) {
    const phi_json *properties = phi_json_get(schema, "properties"), *property;
    phi_json_iter it = phi_json_each(phi_json_is_object(properties) ? properties : NULL);
    phi_status status = PHI_OK;
    if (depth > PHI__MCP_HEADERS_DEEP) return PHI_OK;
    while (status == PHI_OK && (property = phi_json_next(&it)) != NULL) {
        const phi_json *value, *mark = phi_json_get(property, "x-mcp-header");
        bool nested = phi_json_is_object(phi_json_get(property, "properties"));
        if (mark == NULL && !nested) continue;
        value = phi_json_get_n(arguments, it.key);
        if (value != NULL && phi_json_is_string(mark))
            status = phi__mcp_headers_add(list, phi__json_text_of(mark), value);
        if (status == PHI_OK && nested && phi_json_is_object(value))
            status = phi__mcp_headers_collect(list, property, value, depth + 1);
    }
    return status;
}

PHI__FN phi_status phi__mcp_headers_of(const phi_json *schema, const phi_json *arguments,
                                       phi_arena *arena, phi_mcp_pair **out, size_t *count) {
    phi__mcp_headers_list list;
    phi_status status;
    memset(&list, 0, sizeof list);
    list.arena = arena;
    status = phi__mcp_headers_collect(&list, schema, arguments, 0);
    *out = status == PHI_OK ? list.pairs : NULL;
    *count = status == PHI_OK ? list.count : 0;
    return status;
}

#endif
#undef PHI__MCP_HEADERS_SAFE

/* ---- src/mcp/mcp_rpc.c ---- */

/* mcp_rpc.c - JSON-RPC messages. */

#ifndef PHI_NO_MCP


#include <string.h>

/* ---- reading ---- */

PHI__FN phi_status phi__mcp_rpc_parse(phi_arena *arena, phi_str text, phi_json **root) {
    phi_json_reader reader;
    phi_status status;
    *root = NULL;
    phi_json_reader_begin(&reader, arena, text, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8,
                          PHI__MCP_RPC_DEPTH);
    do {
        status = phi_json_reader_advance(&reader, SIZE_MAX);
    } while (status == PHI_BUSY);
    return phi_json_reader_result(&reader, root, NULL);
}

/* An id: a string or a number, as JSON text. NULL: it has none, or null. */
static bool phi__mcp_rpc_read_id(phi_arena *arena, const phi_json *node, phi__mcp_rpc *out) {
    if (node == NULL || phi_json_is_null(node)) return true;
    if (!phi_json_is_string(node) && !phi_json_is_number(node)) {
        out->fault = "its id is neither a string nor a number";
        return true;
    }
    if (phi_json_str(node, "").len > PHI__MCP_RPC_ID) {
        out->fault = "its id is longer than 1,024 bytes";
        return true;
    }
    return phi_json_write(arena, node, 0, &out->id) == PHI_OK;
}

static void phi__mcp_rpc_read_call(const phi_json *node, phi__mcp_rpc *out) {
    const phi_json *method = phi_json_get(node, "method"), *id = phi_json_get(node, "id");
    out->method = phi_json_str(method, "");
    out->params = phi_json_get(node, "params");
    if (phi_json_is_null(out->params)) out->params = NULL;
    if (!phi_json_is_string(method))
        out->fault = "its method is no string";
    else if (out->method.len == 0 || out->method.len > PHI__MCP_RPC_METHOD)
        out->fault = "its method is empty or longer than 256 bytes";
    else if (out->params != NULL && !phi_json_is_object(out->params))
        out->fault = "its params are no object";
    else if (phi_json_is_null(id))
        out->fault = "its id is null";
    else
        out->kind = id != NULL ? PHI__MCP_RPC_REQUEST : PHI__MCP_RPC_NOTIFICATION;
    if (out->fault != NULL) out->params = NULL;
}

static int phi__mcp_rpc_code(const phi_json *node) {
    int64_t code = phi_json_int(node, 0);
    return code > INT32_MAX || code < INT32_MIN ? 0 : (int)code;
}

static void phi__mcp_rpc_read_answer(const phi_json *node, phi__mcp_rpc *out) {
    const phi_json *error = phi_json_get(node, "error");
    out->result = phi_json_get(node, "result");
    if (phi_json_is_null(error)) error = NULL;
    if (error != NULL && out->result != NULL && !phi_json_is_null(out->result))
        out->fault = "it has a result and an error";
    else if (error != NULL && !phi_json_is_object(error))
        out->fault = "its error is no object";
    else if (error == NULL && out->result == NULL)
        out->fault = "it has neither a method, nor a result, nor an error";
    else if (error == NULL && out->id.len == 0)
        out->fault = "a result without an id";
    else
        out->kind = error != NULL ? PHI__MCP_RPC_ERROR : PHI__MCP_RPC_RESULT;
    if (out->kind != PHI__MCP_RPC_RESULT) out->result = NULL;
    if (out->kind != PHI__MCP_RPC_ERROR) return;
    out->code = phi__mcp_rpc_code(phi_json_get(error, "code"));
    out->message = phi_json_str(phi_json_get(error, "message"), "");
    out->data = phi_json_get(error, "data");
}

PHI__FN bool phi__mcp_rpc_read(phi_arena *arena, const phi_json *node, phi__mcp_rpc *out) {
    memset(out, 0, sizeof *out);
    if (!phi_json_is_object(node)) {
        out->fault = "it is no object";
        return true;
    }
    if (!phi__mcp_rpc_read_id(arena, phi_json_get(node, "id"), out)) return false;
    if (out->fault != NULL) return true;
    if (!phi__str_is(phi_json_str(phi_json_get(node, "jsonrpc"), ""), "2.0"))
        out->fault = "its jsonrpc is not \"2.0\"";
    else if (phi_json_get(node, "method") != NULL)
        phi__mcp_rpc_read_call(node, out);
    else
        phi__mcp_rpc_read_answer(node, out);
    return true;
}

PHI__FN bool phi__mcp_rpc_number(phi_str id, uint64_t *out) {
    if (id.len >= 2 && id.at[0] == '"') id = phi__str(id.at + 1, id.len - 2);
    return phi__str_to_u64(id, out);
}

/* ---- writing ---- */

PHI__FN void phi__mcp_rpc_line(phi__buf *buf, phi_str json) {
    char *to = phi__buf_reserve(buf, json.len);
    size_t i;
    if (to == NULL) return;
    for (i = 0; i < json.len; i++)
        to[i] = json.at[i] == '\n' || json.at[i] == '\r' ? ' ' : json.at[i];
    phi__buf_add_len(buf, json.len);
}

static void phi__mcp_rpc_begin(phi__buf *buf) { phi__buf_text(buf, "{\"jsonrpc\":\"2.0\""); }

static void phi__mcp_rpc_put_id(phi__buf *buf, phi_str id) {
    phi__buf_text(buf, ",\"id\":");
    phi__buf_add_str(buf, id.len > 0 ? id : PHI__LIT("null"));
}

static void phi__mcp_rpc_put_call(phi__buf *buf, const char *method, phi_str params) {
    phi__buf_text(buf, ",\"method\":");
    phi__json_write_str(buf, phi_str_of(method));
    if (params.len > 0) {
        phi__buf_text(buf, ",\"params\":");
        phi__mcp_rpc_line(buf, params);
    }
    phi__buf_char(buf, '}');
}

PHI__FN void phi__mcp_rpc_request(phi__buf *buf, phi_str id, const char *method, phi_str params) {
    phi__mcp_rpc_begin(buf);
    phi__mcp_rpc_put_id(buf, id);
    phi__mcp_rpc_put_call(buf, method, params);
}

PHI__FN void phi__mcp_rpc_notification(phi__buf *buf, const char *method, phi_str params) {
    phi__mcp_rpc_begin(buf);
    phi__mcp_rpc_put_call(buf, method, params);
}

PHI__FN void phi__mcp_rpc_result(phi__buf *buf, phi_str id, phi_str result) {
    phi__mcp_rpc_begin(buf);
    phi__mcp_rpc_put_id(buf, id);
    phi__buf_text(buf, ",\"result\":");
    phi__mcp_rpc_line(buf, result.len > 0 ? result : PHI__LIT("{}"));
    phi__buf_char(buf, '}');
}

PHI__FN void phi__mcp_rpc_error(phi__buf *buf, phi_str id, int code, phi_str message,
                                phi_str data) {
    phi__mcp_rpc_begin(buf);
    phi__mcp_rpc_put_id(buf, id);
    phi__buf_printf(buf, ",\"error\":{\"code\":%d,\"message\":", code);
    phi__json_write_str(buf, message);
    if (data.len > 0) {
        phi__buf_text(buf, ",\"data\":");
        phi__mcp_rpc_line(buf, data);
    }
    phi__buf_text(buf, "}}");
}

PHI__FN bool phi__mcp_rpc_members(phi_str object, phi_str *out) {
    phi_str text = phi__str_trim(object);
    *out = phi__str("", 0);
    if (text.len == 0) return true;
    if (text.len < 2 || text.at[0] != '{' || text.at[text.len - 1] != '}') return false;
    *out = phi__str_trim(phi__str(text.at + 1, text.len - 2));
    return true;
}

#endif

#endif /* PHI__IMP_MCP */

#ifdef PHI__IMP_OPENAPI
#if PHI__IMP_OPENAPI != 0x70fb4ef6
#error "phi: two versions of src/openapi in one file"
#endif
#else
#define PHI__IMP_OPENAPI 0x70fb4ef6

/* ---- src/openapi/document_in.h ---- */

/* document_in.h - a document that was read: its parts as compact text, and its operations.

   Parts are the entries of the components that requests need, and the path items, each a JSON text
   in one buffer; callbacks, examples and extensions are not kept, and responses only where a
   reference may lead into them. A part is parsed when
   it is needed, into the arena of the one who asks, and forgotten with it. The text does not change
   once the document is ready, so that trees may borrow from it. */
#ifndef PHI_OPENAPI_DOCUMENT_IN_H
#define PHI_OPENAPI_DOCUMENT_IN_H


#ifndef PHI_NO_OPENAPI

/* The sections of a document that parts come from. */
typedef enum phi__document_section {
    PHI__SECTION_SCHEMAS,
    PHI__SECTION_PARAMETERS,
    PHI__SECTION_BODIES,
    PHI__SECTION_HEADERS,
    PHI__SECTION_SECURITY,
    PHI__SECTION_ITEMS,
    PHI__SECTION_PATHS,
    PHI__SECTION_RESPONSES,
    PHI__SECTION_ANSWERS, /* of operations, each by the key of phi__document_answers */
    PHI__SECTION_ROOT,    /* one part without a name: servers and security of the document */
    PHI__SECTION_COUNT
} phi__document_section;

typedef struct phi__document_part {
    phi__document_section section;
    phi_str name;
    size_t at, len;       /* in the text */
    const phi_json *node; /* only while the document is read */
} phi__document_part;

typedef struct phi__document_operation {
    phi_openapi_operation shown;
    phi__document_part *item; /* the path item that holds it */
    const phi_str *tags;
    size_t tag_count;
    const char *skip; /* NULL, or why it cannot become a tool; terminated */
} phi__document_operation;

typedef struct phi__document {
    phi_memory *memory; /* borrowed */
    phi_arena arena;    /* the index */
    phi__buf text;
    phi__map parts;
    phi__document_operation *operations;
    size_t count, cap;
    bool is_31; /* version 3.1: schemas are JSON Schema 2020-12 */
} phi__document;

PHI__FN void phi__document_init(phi__document *doc, phi_memory *memory);
PHI__FN void phi__document_free(phi__document *doc);

/* "schemas"; "paths" of the path items of the document itself. */
PHI__FN const char *phi__document_section_name(phi__document_section section);
/* NULL: none of that name. */
PHI__FN phi__document_part *phi__document_find(const phi__document *doc,
                                               phi__document_section section, phi_str name);
/* A new part without text, its name copied; NULL: no memory. */
PHI__FN phi__document_part *phi__document_add(phi__document *doc, phi__document_section section,
                                              phi_str name);
/* A new operation, zeroed, at the end; NULL: no memory. */
PHI__FN phi__document_operation *phi__document_add_operation(phi__document *doc);

/* The name of the part that holds an operation's responses; path and method as in the document.
   False: it is too long. */
PHI__FN bool phi__document_answers(phi_str path, phi_str method, char *out, size_t size,
                                   phi_str *name);
/* The next step of a JSON Pointer, "~" and "%" undone, into `out` of `size` bytes; *rest moves
   behind it. False: the pointer has ended, or is malformed: *rest is then not empty. */
PHI__FN bool phi__document_step(phi_str *rest, char *out, size_t size, phi_str *step);

/* Splits "#/components/schemas/Pet/items" into its part and the pointer within. False: it leads
   to no part that was kept; *why then says so, after the reference itself: " leads nowhere". */
PHI__FN bool phi__document_locate(const phi__document *doc, phi_str ref, phi__document_part **part,
                                  phi_str *rest, const char **why);
/* The node that a pointer leads to; NULL: nowhere. */
PHI__FN const phi_json *phi__document_walk(const phi_json *node, phi_str rest);

/* ---- parts on demand ---- */

enum { PHI__DOCUMENT_BUCKETS = 127 }; /* of parsed parts, by their places */

/* The parts that one reader has parsed. Zeroed, but for doc and arena. */
typedef struct phi__document_view {
    const phi__document *doc;
    phi_arena *arena; /* borrowed; the parsed trees live in it */
    struct phi__document_parsed *parsed[PHI__DOCUMENT_BUCKETS];
    size_t units; /* bytes that were parsed so far */
    bool no_memory;
    char message[256]; /* of the last failure; terminated */
} phi__document_view;

/* NULL: no memory. */
PHI__FN const phi_json *phi__document_tree(phi__document_view *view,
                                           const phi__document_part *part);
/* The node that a reference names; NULL: the message says why, or no_memory. */
PHI__FN const phi_json *phi__document_target(phi__document_view *view, phi_str ref);
/* Follows "$ref", and the references that it leads to; a node without one is returned as it is.
   NULL: the message says why, or no_memory. */
PHI__FN const phi_json *phi__document_follow(phi__document_view *view, const phi_json *node);

#endif
#endif

/* ---- src/openapi/operation_in.h ---- */

/* operation_in.h - one operation of a document, ready to be called. The document's side makes it,
   the calling side reads it.

   All strings are terminated, and live in the arena of the selection that holds the operation. A
   tool's user_data is its phi__operation. */
#ifndef PHI_OPENAPI_OPERATION_IN_H
#define PHI_OPENAPI_OPERATION_IN_H


#ifndef PHI_NO_OPENAPI

typedef enum phi__operation_place {
    PHI__OPERATION_PATH,
    PHI__OPERATION_QUERY,
    PHI__OPERATION_HEADER,
    PHI__OPERATION_COOKIE
} phi__operation_place;

typedef enum phi__operation_style {
    PHI__STYLE_SIMPLE, /* default of path and header */
    PHI__STYLE_LABEL,
    PHI__STYLE_MATRIX,
    PHI__STYLE_FORM, /* default of query and cookie */
    PHI__STYLE_SPACE,
    PHI__STYLE_PIPE,
    PHI__STYLE_DEEP
} phi__operation_style;

typedef struct phi__operation_parameter {
    phi_str argument; /* its key in the arguments */
    phi_str name;     /* on the wire */
    phi__operation_place place;
    phi__operation_style style;
    bool explode, allow_reserved, required;
    phi_str content_type; /* of a `content` parameter: its value is sent in that form; else empty */
    phi_json_type type;   /* of its schema; PHI_JSON_NONE: none, or several */
} phi__operation_parameter;

typedef enum phi__operation_body_kind {
    PHI__BODY_NONE,
    PHI__BODY_JSON,
    PHI__BODY_FORM,
    PHI__BODY_MULTIPART,
    PHI__BODY_TEXT, /* the argument is a string, sent as it is */
    PHI__BODY_BYTES /* the argument is a string in base64, or an object that names a file */
} phi__operation_body_kind;

/* How a property of a form or multipart body is sent. Properties that are not listed are sent by
   the defaults. */
typedef struct phi__operation_property {
    phi_str name;
    phi_str content_type; /* the encoding's, or of the schema's (a file); empty: the default */
    bool has_style; /* style, explode and allow_reserved were given: content_type is not used */
    phi__operation_style style;
    bool explode, allow_reserved;
    bool file;               /* format binary, byte, or contentMediaType: it may be a file */
    bool base64;             /* format byte, contentEncoding base64: a string is in base64 */
    const phi_json *headers; /* name to default value (strings), of its multipart part; or NULL */
    phi_json_type type;      /* of its schema; PHI_JSON_NONE: none, or several */
} phi__operation_property;

typedef struct phi__operation_body {
    phi__operation_body_kind kind;
    phi_str argument;     /* "body", or "_request_body" where a parameter has that name */
    phi_str content_type; /* "application/json", as in the document, without the range of a "*" */
    bool required;
    phi__operation_property *properties;
    size_t property_count;
} phi__operation_body;

typedef enum phi__operation_scheme_kind {
    PHI__SCHEME_KEY,    /* apiKey: place and key */
    PHI__SCHEME_BASIC,  /* http */
    PHI__SCHEME_BEARER, /* http */
    PHI__SCHEME_OAUTH,  /* oauth2: clientCredentials with token_url, or only by bearer_token */
    PHI__SCHEME_OPENID, /* openIdConnect: only by bearer_token */
    PHI__SCHEME_OTHER   /* mutualTLS, http digest, ...: it cannot be met */
} phi__operation_scheme_kind;

typedef struct phi__operation_scheme {
    phi__operation_scheme_kind kind;
    phi_str name;               /* in the document */
    phi__operation_place place; /* of a key: HEADER, QUERY or COOKIE */
    phi_str key;                /* of a key: its name on the wire */
    phi_str token_url;          /* of OAUTH: empty where it has no client credentials */
    const phi_str *scopes;      /* that the operation asks for */
    size_t scope_count;
} phi__operation_scheme;

/* Schemes that are needed together; none: anonymous. */
typedef struct phi__operation_security {
    const phi__operation_scheme *schemes;
    size_t count;
} phi__operation_security;

typedef struct phi__operation {
    phi_openapi *api;
    size_t index; /* of phi_openapi_operation_at */
    phi_str name; /* of the tool */
    phi_str method, path;
    /* of the first server, with the defaults of its variables; no slash at the end; it may be
       relative, and is then resolved against the document's URL; empty: there is none */
    phi_str server;
    phi__operation_parameter *parameters;
    size_t parameter_count;
    phi__operation_body body;
    /* alternatives; count 0: the document asks for nothing */
    const phi__operation_security *security;
    size_t security_count;
    bool read_only, destructive;
} phi__operation;

#endif
#endif

/* ---- src/openapi/reading_in.h ---- */

/* reading_in.h - reads a document in slices: bytes, then a tree, then the parts and operations that
   are kept. The tree and the source live only while it is read.

   begin, advance until it is not PHI_BUSY, end; end at any time. */
#ifndef PHI_OPENAPI_READING_IN_H
#define PHI_OPENAPI_READING_IN_H


#ifndef PHI_NO_OPENAPI

struct phi__reading_walk;

typedef struct phi__reading {
    phi__document *doc; /* borrowed, empty at first */
    phi__buf source;
    size_t max_bytes;
    const char *prefix; /* of names; borrowed */
    bool skip_unnamed;
#ifndef PHI_NO_FILES
    phi__file *file; /* NULL: the source is whole */
#endif
    phi_arena tree;
    phi_json *root;
    struct phi__reading_walk *walk; /* in the arena; NULL until the first advance */
    phi_status status;
    phi_parse_error error;
} phi__reading;

PHI__FN void phi__reading_init(phi__reading *r, phi__document *doc, size_t max_bytes);
/* Takes a part of the source, before the first advance. PHI_TOO_BIG, PHI_NO_MEMORY: the status. */
PHI__FN phi_status phi__reading_add(phi__reading *r, phi_str bytes);
/* The source is this file; PHI_UNSUPPORTED where files are left out of the program. */
PHI__FN phi_status phi__reading_open(phi__reading *r, const char *path);
/* A fault from elsewhere, a network for instance: the reading ends with it. */
PHI__FN phi_status phi__reading_fail(phi__reading *r, phi_status status, const char *words);
/* About so many bytes of work, at least one piece. */
PHI__FN phi_status phi__reading_advance(phi__reading *r, size_t units);
/* Frees what only the reading needed; twice is harmless. */
PHI__FN void phi__reading_end(phi__reading *r);

#endif
#endif

/* ---- src/openapi/api_in.h ---- */

/* api_in.h - the object of a document: its settings, its reading, its selections and its calls. */
#ifndef PHI_OPENAPI_API_IN_H
#define PHI_OPENAPI_API_IN_H


#ifndef PHI_NO_OPENAPI

struct phi__openapi_calls;

/* The request for a document that is read from a URL. */
typedef struct phi__address {
    struct phi__fetch *fetch; /* NULL: none is under way */
    phi_str location;         /* of the last answer; empty: none */
    int http_status;
    uint32_t redirects;
} phi__address;

struct phi_openapi {
    phi_runtime *rt;
    phi_memory memory;       /* a child of the runtime's */
    phi_arena arena;         /* the copies of desc */
    size_t step_bytes;       /* of work in one call: the runtime's step_budget_bytes */
    phi_openapi_desc desc;   /* copied, defaults resolved; strings that were not given are NULL */
    phi_str url;             /* where the document came from; empty: a text or a file */
    phi__document *document; /* in the arena */
    phi__reading reading;    /* ended, once the status is not PHI_BUSY */
    struct phi__selection *selections;
    phi__address address;
    /* The calling side's: tokens and calls under way. Zero at first; freed with the object by
       phi__openapi_call_free. */
    struct phi__openapi_calls *calls;
    uint32_t calls_open; /* counted by the calling side; above 0 the object cannot be freed */
};

#endif
#endif

/* ---- src/openapi/address_in.h ---- */

/* address_in.h - requests a document from its URL. */
#ifndef PHI_OPENAPI_ADDRESS_IN_H
#define PHI_OPENAPI_ADDRESS_IN_H


#ifndef PHI_NO_OPENAPI

/* False: the URL cannot be asked, or no memory; phi_last_error says which. */
PHI__FN bool phi__address_open(phi_openapi *api, phi_str url);
PHI__FN void phi__address_close(phi_openapi *api); /* twice is harmless */

#endif
#endif

/* ---- src/openapi/tool_schema_in.h ---- */

/* tool_schema_in.h - writes schemas of a document as the JSON Schema of a tool.

   References become "$defs", nearest first, until max_schema_bytes are written; those behind are
   left open, with a description. Keywords that phi's check of arguments does not know move into the
   description; malformed ones, and properties that are only read, are left out. A schema
   that contains itself without an optional property between, which some providers refuse, is left
   open where it closes the circle. */
#ifndef PHI_OPENAPI_TOOL_SCHEMA_IN_H
#define PHI_OPENAPI_TOOL_SCHEMA_IN_H


#ifndef PHI_NO_OPENAPI

typedef struct phi__tool_schema_def {
    const phi_json *node;
    phi_str name;  /* of letters, digits, ".", "_" and "-" */
    unsigned same; /* definitions behind it that would have its name, and have a number */
} phi__tool_schema_def;

/* A reference that every value needs: from one definition (0: the root) to another. */
typedef struct phi__tool_schema_edge {
    size_t from, to;
    bool cut;
} phi__tool_schema_edge;

typedef struct phi__tool_schema {
    phi__document_view *view;
    phi__buf out, words; /* words: of a description under way */
    size_t most_bytes;
    phi__tool_schema_def *defs; /* from 1; the root has index 0 */
    size_t def_count, def_cap;
    phi__tool_schema_edge *edges;
    size_t edge_count, edge_cap;
    size_t from; /* the definition being written */
    uint32_t depth, work;
    bool optional; /* a property that may be left out was entered since its start */
    bool files;    /* binary strings may be files */
    bool second;   /* once more, with the circles cut */
    bool failed;   /* view->message says why, or no memory */
} phi__tool_schema;

PHI__FN void phi__tool_schema_init(phi__tool_schema *s, phi__document_view *view,
                                   size_t most_bytes);
PHI__FN void phi__tool_schema_free(phi__tool_schema *s);
/* Writes one schema. note: a description that replaces the schema's; empty: none. */
PHI__FN void phi__tool_schema_put(phi__tool_schema *s, const phi_json *schema, phi_str note);
/* The content of a file, or its path; the description is the schema's (NULL: none, and
   the content is in base64). */
PHI__FN void phi__tool_schema_put_file(phi__tool_schema *s, const phi_json *schema, phi_str note);
/* Writes ,"$defs":{...} where there are any. */
PHI__FN void phi__tool_schema_put_defs(phi__tool_schema *s);
/* True: there were circles, the output was emptied, and all is to be written once more. */
PHI__FN bool phi__tool_schema_again(phi__tool_schema *s);
/* Whether a string of this schema is a file's content. */
PHI__FN bool phi__tool_schema_is_file(const phi_json *schema);
/* The one type that a schema names, "null" aside; PHI_JSON_NONE: none, or several. */
PHI__FN phi_json_type phi__tool_schema_type(const phi_json *schema);
PHI__FN phi_str phi__tool_schema_cut(phi_str text, size_t most); /* at a character */

#endif
#endif

/* ---- src/openapi/circles_in.h ---- */

/* circles_in.h - circles among definitions that refer to each other, and where to cut them. */
#ifndef PHI_OPENAPI_CIRCLES_IN_H
#define PHI_OPENAPI_CIRCLES_IN_H


#ifndef PHI_NO_OPENAPI

/* A reference; the list grows. False: no memory. */
PHI__FN bool phi__circles_add(phi_memory *memory, phi__tool_schema_edge **edges, size_t *count,
                              size_t *cap, size_t from, size_t to);
/* Marks references so that no circle is left among `nodes` definitions; *any: there was one.
   False: no memory. */
PHI__FN bool phi__circles_cut(phi_memory *memory, phi__tool_schema_edge *edges, size_t count,
                              size_t nodes, bool *any);
PHI__FN bool phi__circles_is_cut(const phi__tool_schema_edge *edges, size_t count, size_t from,
                                 size_t to);

#endif
#endif

/* ---- src/openapi/json_cut_in.h ---- */

/* json_cut_in.h - shortens a JSON text so that it stays valid: arrays and objects lose whole items
   from their end, large members before small ones, long strings their end; notes in their places
   say how much was left out. */
#ifndef PHI_OPENAPI_JSON_CUT_IN_H
#define PHI_OPENAPI_JSON_CUT_IN_H


#ifndef PHI_NO_OPENAPI

/* Appends about `most` bytes at most. `whole`: false where the text breaks off. False: it is no
   JSON, or so little room is no use, or there was no memory; `out` is as it was. */
PHI__FN bool phi__json_cut(phi__buf *out, phi_str text, bool whole, size_t most);

#endif
#endif

/* ---- src/openapi/keywords_in.h ---- */

/* keywords_in.h - the keywords of schemas, and how a tool's schema treats each. */
#ifndef PHI_OPENAPI_KEYWORDS_IN_H
#define PHI_OPENAPI_KEYWORDS_IN_H


#ifndef PHI_NO_OPENAPI

typedef enum phi__keyword {
    PHI__KEYWORD_DROP,    /* says nothing to a model, or is treated on its own */
    PHI__KEYWORD_COPY,    /* well formed: it goes on */
    PHI__KEYWORD_SHORT,   /* the same, unless it is long */
    PHI__KEYWORD_SUB,     /* a schema */
    PHI__KEYWORD_SUBS,    /* properties */
    PHI__KEYWORD_CHOICES, /* a list of schemas */
    PHI__KEYWORD_NAMES,   /* required */
    PHI__KEYWORD_NOTE     /* moves into the description */
} phi__keyword;

/* The treatment of one member of a schema; of malformed ones: DROP. */
PHI__FN phi__keyword phi__keywords_of(phi_str key, const phi_json *value);
/* One of JSON Schema's seven types. */
PHI__FN bool phi__keywords_is_type(phi_str name);

#endif
#endif

/* ---- src/openapi/making_in.h ---- */

/* making_in.h - one operation while it is made callable: shared by the files that make its
   parameters, its body and its security. */
#ifndef PHI_OPENAPI_MAKING_IN_H
#define PHI_OPENAPI_MAKING_IN_H


#ifndef PHI_NO_OPENAPI

/* One operation under way. Results are in `arena`. */
typedef struct phi__making {
    phi_openapi *api;
    const phi__document_operation *source;
    phi_arena *arena; /* of the results */
    phi_arena scratch;
    phi__document_view view;
    phi__tool_schema schema;
    const phi_json *item, *node, *root; /* path item, operation, servers and security of all */
    phi__operation *op;
    const phi_json **given;      /* the parameters' nodes, as op->parameters */
    const phi_json *body_schema; /* NULL: none */
    phi_str body_note;
    bool no_memory;
    char message[320]; /* why the operation is skipped; empty: it is not */
} phi__making;

/* All return false, so that a caller can end with them. */
PHI__FN bool phi__making_skip(phi__making *m, const char *place, const char *why);
PHI__FN bool phi__making_lost(phi__making *m,
                              const char *place); /* the view's message, or memory */
PHI__FN bool phi__making_str(phi__making *m, phi_str text, phi_str *out);
PHI__FN void *phi__making_zero(phi__making *m, size_t count, size_t size); /* in the arena */

#endif
#endif

/* ---- src/openapi/maker_in.h ---- */

/* maker_in.h - makes one operation callable: parameters, body, security, server, and the tool's
   schema. */
#ifndef PHI_OPENAPI_MAKER_IN_H
#define PHI_OPENAPI_MAKER_IN_H


#ifndef PHI_NO_OPENAPI

/* Makes the operation at `index`, and its tool, in the arena. False: no memory. *skip: NULL, or why
   it becomes no tool, in the arena. *units grows by the bytes that were read and written. */
PHI__FN bool phi__maker_make(phi_openapi *api, size_t index, phi_arena *arena, phi_tool *tool,
                             const char **skip, size_t *units);

#endif
#endif

/* ---- src/openapi/naming_in.h ---- */

/* naming_in.h - the names of tools: "{prefix}__{operation id}" within the rules of every provider.

   A name depends on the document and the prefix alone, not on a filter. Characters other than
   a-z A-Z 0-9 _ - become "_". A name of more than 64 bytes is cut, and a name that several
   operations would have is taken by the one whose id it is; the others end in eight hex digits made
   of method and path. */
#ifndef PHI_OPENAPI_NAMING_IN_H
#define PHI_OPENAPI_NAMING_IN_H


#ifndef PHI_NO_OPENAPI

enum { PHI__NAMING_MOST = 64 }; /* bytes of a tool's name; every provider takes so many */

/* The naming of a document's operations, in slices. Zeroed at first. */
typedef struct phi__naming {
    phi_arena scratch;
    phi__map map;
    size_t at; /* the next operation: of counting, then of naming */
    bool begun, counted;
} phi__naming;

/* Names up to `count` operations. prefix: NULL, or terminated. skip_unnamed: operations without an
   id are to be skipped. PHI_BUSY: call it again; PHI_NO_MEMORY. */
PHI__FN phi_status phi__naming_advance(phi__naming *n, phi__document *doc, const char *prefix,
                                       bool skip_unnamed, size_t count);
PHI__FN void phi__naming_end(phi__naming *n); /* not begun, or twice: harmless */

#endif
#endif

/* ---- src/openapi/openapi_answer_in.h ---- */

/* openapi_answer_in.h - the answer to a call's request, as it comes, and the blocks that a model
   gets of it.

   Text is kept up to four times max_response_bytes, so that JSON can be shortened sensibly, images
   up to 4 MiB. A longer answer goes into a file where there is a directory for it; else reading
   ends there. Secrets of the request are hidden in all of it. */
#ifndef PHI_OPENAPI_OPENAPI_ANSWER_IN_H
#define PHI_OPENAPI_OPENAPI_ANSWER_IN_H


#ifndef PHI_NO_OPENAPI

typedef enum phi__openapi_form {
    PHI__FORM_TEXT,
    PHI__FORM_JSON,
    PHI__FORM_IMAGE,
    PHI__FORM_BINARY,
    PHI__FORM_UNKNOWN /* no Content-Type: text, if it is UTF-8 */
} phi__openapi_form;

typedef struct phi__openapi_answer {
    const phi__operation *op;
    phi_call call;
    const phi__secrets *secrets; /* borrowed */
    phi__openapi_form form;
    char type[80]; /* the media type, without its parameters; terminated */
    bool latin1;   /* its charset is Latin-1, or near it */
    int http_status;
    uint64_t total;          /* bytes that came */
    uint64_t announced;      /* by Content-Length; 0: not */
    phi__buf kept, incoming; /* incoming: a secret may begin in it */
    size_t most;             /* of kept */
    bool enough;             /* no more is wanted */
#ifndef PHI_NO_FILES
    phi__file *file;
    bool saved, unsaved; /* unsaved: the disk refused */
    phi__words words;
    char path[512];
#endif
} phi__openapi_answer;

PHI__FN void phi__openapi_answer_init(phi__openapi_answer *a, phi_memory *memory,
                                      const phi__operation *op, phi_call call,
                                      const phi__secrets *secrets);
PHI__FN void phi__openapi_answer_head(phi__openapi_answer *a, int http_status, phi_str headers);
/* False: no more is wanted. */
PHI__FN bool phi__openapi_answer_body(phi__openapi_answer *a, phi_str bytes);
/* Writes the text for the model behind `out`; *image: base64, where the answer is one, else empty.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__openapi_answer_finish(phi__openapi_answer *a, phi__buf *out,
                                              phi__buf *image);
PHI__FN void phi__openapi_answer_free(phi__openapi_answer *a); /* zeroed, or twice: harmless */
/* "OK"; empty: a status without a name */
PHI__FN const char *phi__openapi_answer_reason(int http_status);

#endif
#endif

/* ---- src/openapi/openapi_request_in.h ---- */

/* openapi_request_in.h - the URL and the headers of a call's request. openapi_body_in.h has its
   body.

   A value of an argument cannot leave its place: in a path it is one part of a segment, in a header
   it has no line break, and a segment that would be empty, "." or ".." is refused. Headers that
   the host gave for all requests come before those of the model. */
#ifndef PHI_OPENAPI_OPENAPI_REQUEST_IN_H
#define PHI_OPENAPI_OPENAPI_REQUEST_IN_H


#ifndef PHI_NO_OPENAPI

typedef struct phi__openapi_request {
    phi_arena *arena;   /* borrowed */
    phi_memory *memory; /* borrowed */
    const phi__operation *op;
    const phi_json *arguments; /* an object */
    phi__buf url;              /* without the query */
    phi__buf query, cookie;
    phi__header *headers; /* in the arena */
    size_t count, cap;
    char message[300]; /* of a refusal; terminated */
} phi__openapi_request;

PHI__FN void phi__openapi_request_init(phi__openapi_request *r, phi_arena *arena,
                                       phi_memory *memory, const phi__operation *op,
                                       const phi_json *arguments);
PHI__FN void phi__openapi_request_free(phi__openapi_request *r); /* twice is harmless */

/* All that the arguments say, but for the body. PHI_BAD_ARG: refused, see message. */
PHI__FN phi_status phi__openapi_request_build(phi__openapi_request *r);

/* An argument; NULL: not given, or null. */
PHI__FN const phi_json *phi__openapi_request_argument(const phi__openapi_request *r, phi_str name);
/* Keeps a message for a refusal; returns PHI_BAD_ARG. */
PHI__FN phi_status phi__openapi_request_refuse(phi__openapi_request *r, const char *format, ...)
    PHI_PRINTF(2, 3);
/* Adds a header; where one of that name is there, that one stays, unless `replaces`. Copied.
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__openapi_request_add(phi__openapi_request *r, phi_str name, phi_str value,
                                            bool replaces);

#endif
#endif

/* ---- src/openapi/openapi_token_in.h ---- */

/* openapi_token_in.h - access tokens of OAuth2 client credentials (RFC 6749, 4.4).

   A token is of the document's object, by its token URL and scopes: all agents share it, and calls
   that need it at once share one request. It is kept until shortly before it expires, or until a
   server has refused it. */
#ifndef PHI_OPENAPI_OPENAPI_TOKEN_IN_H
#define PHI_OPENAPI_OPENAPI_TOKEN_IN_H


#ifndef PHI_NO_OPENAPI

typedef struct phi__openapi_token phi__openapi_token;

/* Waits for a token; lives in its owner, zeroed at first. */
typedef struct phi__openapi_wait {
    phi__link link;
    phi__openapi_token *token; /* NULL: it does not wait */
    /* PHI_OK: ask for the token again. Else the message says why there is none. It waits no
       longer. Called in phi_step; it may leave other waits and free agents. */
    void (*done)(struct phi__openapi_wait *wait, phi_status status, const char *message);
} phi__openapi_wait;

/* PHI_OK: *out is the token's text, borrowed until the next step. PHI_BUSY: it was requested, and
   `wait` is called. All else: it cannot be requested, and phi_last_error has the message. */
PHI__FN phi_status phi__openapi_token_get(phi_openapi *api, phi_str url, const phi_str *scopes,
                                          size_t scope_count, phi__openapi_wait *wait,
                                          phi_str *out);
PHI__FN void phi__openapi_token_leave(phi__openapi_wait *wait); /* it does not wait: harmless */
/* A server refused it: it is requested anew, unless that was done meanwhile. */
PHI__FN void phi__openapi_token_refused(phi_openapi *api, phi_str text);
PHI__FN void phi__openapi_token_free_all(phi_openapi *api);

#endif
#endif

/* ---- src/openapi/openapi_auth_in.h ---- */

/* openapi_auth_in.h - what of the host's credentials a request carries.

   The first alternative of the operation's security whose schemes can all be met is used. Where the
   document asks for nothing, a bearer token, else user and password, are sent if they are given. A
   host without any credential here (one whose headers hold them) sends none. */
#ifndef PHI_OPENAPI_OPENAPI_AUTH_IN_H
#define PHI_OPENAPI_OPENAPI_AUTH_IN_H


#ifndef PHI_NO_OPENAPI

typedef struct phi__openapi_auth {
    phi__openapi_request *r;            /* borrowed */
    const phi__operation_scheme *oauth; /* that wants a token of client credentials; NULL: none */
    phi_str token;                      /* that was used last; in the arena */
    phi__secrets secrets;               /* all that the request carries */
    phi__openapi_wait wait;
    bool refreshed;
} phi__openapi_auth;

/* Chooses, and puts what needs no token into the request. PHI_BAD_ARG: refused, with the request's
   message; PHI_NO_MEMORY. */
PHI__FN phi_status phi__openapi_auth_begin(phi__openapi_auth *a, phi__openapi_request *r);
/* Puts the token into the request, if one is needed. PHI_BUSY: wait.done will be called. */
PHI__FN phi_status phi__openapi_auth_token(phi__openapi_auth *a);
/* The server has answered 401. True: with a new token it is worth another try; once. */
PHI__FN bool phi__openapi_auth_again(phi__openapi_auth *a, int http_status);

#endif
#endif

/* ---- src/openapi/openapi_body_in.h ---- */

/* openapi_body_in.h - the body of a call's request: JSON, a form, multipart with files, text or
   bytes.

   begin, advance until it is not PHI_BUSY, free at any time. Files are read in slices, from the
   directories that phi_openapi_desc.upload_roots names, links resolved; they are in memory while
   the request is under way. The pieces point into the arena and into blocks of the body's own. */
#ifndef PHI_OPENAPI_OPENAPI_BODY_IN_H
#define PHI_OPENAPI_OPENAPI_BODY_IN_H


#ifndef PHI_NO_OPENAPI

enum { PHI__OPENAPI_BODY_MOST = 32 << 20 }; /* bytes of the files of one request */

/* The content of a file; a list, newest first. */
typedef struct phi__openapi_file {
    struct phi__openapi_file *older;
    char *at;
    size_t len, got;
} phi__openapi_file;

typedef struct phi__openapi_body {
    phi__openapi_request *r; /* borrowed; gets the Content-Type, and the message of a refusal */
    phi_call call;
    phi_str *pieces; /* in the arena */
    size_t count, cap, file_bytes;
    phi__buf text;     /* that is not a piece yet */
    char boundary[40]; /* of multipart; terminated */
    const phi_json *value;
    phi_json_iter members, items;
    phi_str name;                            /* of the member */
    const phi__operation_property *property; /* of it; NULL: not described */
    bool in_items, done;
    phi__openapi_file *files;
#ifndef PHI_NO_FILES
    phi__resolve *resolve;
    const char *path, *place; /* of the file; place: resolved */
    size_t root;              /* that is looked at */
    phi__file *open;
#endif
} phi__openapi_body;

PHI__FN void phi__openapi_body_begin(phi__openapi_body *b, phi__openapi_request *r, phi_call call);
/* PHI_BUSY; PHI_OK; PHI_BAD_ARG: refused, with the request's message; PHI_NO_MEMORY. */
PHI__FN phi_status phi__openapi_body_advance(phi__openapi_body *b);
PHI__FN void phi__openapi_body_free(phi__openapi_body *b); /* zeroed, or twice: harmless */

#endif
#endif

/* ---- src/openapi/openapi_call_in.h ---- */

/* openapi_call_in.h - the calling side: a tool call becomes a request, its answer a result. */
#ifndef PHI_OPENAPI_OPENAPI_CALL_IN_H
#define PHI_OPENAPI_OPENAPI_CALL_IN_H


#ifndef PHI_NO_OPENAPI

/* Sets start, cancel, resume and timeout_ms; user_data is a phi__operation. */
PHI__FN void phi__openapi_call_fill(phi_tool *tool);
/* Frees what belongs to the object's calls, none of which is under way. */
PHI__FN void phi__openapi_call_free(phi_openapi *api);

#endif
#endif

/* ---- src/openapi/parameters_in.h ---- */

/* parameters_in.h - the parameters of an operation, and keys for its arguments. */
#ifndef PHI_OPENAPI_PARAMETERS_IN_H
#define PHI_OPENAPI_PARAMETERS_IN_H


#ifndef PHI_NO_OPENAPI

/* False: skipped, or no memory; so with all that makes a part of an operation. */
PHI__FN bool phi__parameters_make(phi__making *m);
/* "simple", ...; false: no style */
PHI__FN bool phi__parameters_style(phi_str name, phi__operation_style *out);
/* A key that no parameter's argument has. */
PHI__FN bool phi__parameters_argument(phi__making *m, phi_str name, const char *place,
                                      phi_str *out);

#endif
#endif

/* ---- src/openapi/request_body_in.h ---- */

/* request_body_in.h - the body of an operation. */
#ifndef PHI_OPENAPI_REQUEST_BODY_IN_H
#define PHI_OPENAPI_REQUEST_BODY_IN_H


#ifndef PHI_NO_OPENAPI

/* After the parameters. */
PHI__FN bool phi__request_body_make(phi__making *m);

#endif
#endif

/* ---- src/openapi/security_in.h ---- */

/* security_in.h - the security and the server of an operation. */
#ifndef PHI_OPENAPI_SECURITY_IN_H
#define PHI_OPENAPI_SECURITY_IN_H


#ifndef PHI_NO_OPENAPI

PHI__FN bool phi__security_make(phi__making *m);
PHI__FN bool phi__security_server(phi__making *m);

#endif
#endif

/* ---- src/openapi/selection_in.h ---- */

/* selection_in.h - the tools of some operations of a document. */
#ifndef PHI_OPENAPI_SELECTION_IN_H
#define PHI_OPENAPI_SELECTION_IN_H


#ifndef PHI_NO_OPENAPI

/* Frees every selection of the object. */
PHI__FN void phi__selection_free_all(phi_openapi *api);

#endif
#endif

/* ---- src/openapi/settings_in.h ---- */

/* settings_in.h - a copy of a document's settings, defaults resolved. */
#ifndef PHI_OPENAPI_SETTINGS_IN_H
#define PHI_OPENAPI_SETTINGS_IN_H


#ifndef PHI_NO_OPENAPI

/* The fault of a desc: words for a message, static; NULL: none. */
PHI__FN const char *phi__settings_refuse(const phi_openapi_desc *desc);
/* Copies it with all that it points to. desc: NULL: defaults. False: no memory. */
PHI__FN bool phi__settings_copy(phi_arena *arena, const phi_openapi_desc *desc,
                                phi_openapi_desc *out);

#endif
#endif

/* ---- src/openapi/styles_in.h ---- */

/* styles_in.h - writes the values of parameters as OpenAPI's styles and RFC 6570 have them: pure
   functions from JSON to text.

   Bytes outside of RFC 3986's unreserved set become %XX in upper case. Null values and members are
   left out; an array or object inside of another one is written as JSON text, but for deepObject.
   What a style does not define is as follows: empty arrays and objects of a query write nothing;
   deepObject writes items of arrays by their index, "name[0]". */
#ifndef PHI_OPENAPI_STYLES_IN_H
#define PHI_OPENAPI_STYLES_IN_H


#ifndef PHI_NO_OPENAPI

/* Names that are repeated for each item could make terabytes of a few megabytes: a text that grows
   beyond this fails as if there were no memory. */
enum { PHI__STYLES_MOST = 16 << 20 };

typedef enum phi__styles_escape {
    PHI__ESCAPE_ALL,      /* all but the unreserved */
    PHI__ESCAPE_RESERVED, /* allowReserved: those stay that delimit nothing in a query */
    PHI__ESCAPE_COOKIE,   /* the octets of a cookie stay, but for "%" and the comma */
    PHI__ESCAPE_NONE      /* headers */
} phi__styles_escape;

PHI__FN void phi__styles_put_escaped(phi__buf *out, phi_str text, phi__styles_escape how);
/* A string as it is, all else as JSON text. */
PHI__FN void phi__styles_put_value(phi__buf *out, const phi_json *value, phi__styles_escape how);

/* What stands in the path in the place of "{name}". */
PHI__FN void phi__styles_put_path(phi__buf *out, const phi__operation_parameter *p,
                                  const phi_json *value);
/* The value of a header, unescaped: check it before it is sent. */
PHI__FN void phi__styles_put_header(phi__buf *out, const phi__operation_parameter *p,
                                    const phi_json *value);
/* Appends "name=value" pairs, behind `between` where `out` is not empty. */
PHI__FN void phi__styles_put_pairs(phi__buf *out, const phi__operation_parameter *p,
                                   const phi_json *value);

#endif
#endif

/* ---- src/openapi/address.c ---- */

/* address.c - requests a document from its URL, and follows where the server sends it. */

#ifndef PHI_NO_OPENAPI


#include <stdio.h>

enum { PHI__ADDRESS_REDIRECTS = 5 };

static bool phi__address_is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* The value of a header; empty: it is not there. */
static phi_str phi__address_header(phi_str headers, const char *name) {
    size_t at = 0;
    while (at < headers.len) {
        size_t end = phi__str_find(headers, at, "\n"), colon;
        phi_str line;
        if (end == SIZE_MAX) end = headers.len;
        line = phi__str(headers.at + at, end - at);
        colon = phi__str_find(line, 0, ":");
        if (colon != SIZE_MAX && phi__str_is_nocase(phi__str(line.at, colon), name))
            return phi__str_trim(phi__str(line.at + colon + 1, line.len - colon - 1));
        at = end + 1;
    }
    return phi__str(NULL, 0);
}

static void phi__address_head(void *user_data, int http_status, phi_str headers) {
    phi_openapi *api = (phi_openapi *)user_data;
    phi_str location = phi__address_header(headers, "location");
    api->address.http_status = http_status;
    api->address.location = phi__str(NULL, 0);
    if (!phi__address_is_redirect(http_status) || location.len == 0) return;
    if (!phi__arena_str(&api->arena, location, &api->address.location))
        (void)phi__reading_fail(&api->reading, PHI_NO_MEMORY, "no memory for the document");
}

static size_t phi__address_body(void *user_data, phi_str bytes) {
    phi_openapi *api = (phi_openapi *)user_data;
    if (api->address.http_status / 100 == 2) (void)phi__reading_add(&api->reading, bytes);
    return bytes.len;
}

/* The address that a Location names, from that of the answer; empty: none that is followed. */
static bool phi__address_join(phi_openapi *api, phi_str to, phi_str *out) {
    phi_str from = api->url;
    size_t host = phi__str_find(from, 0, "://"), path;
    bool secure = from.len > 5 && phi__str_is_nocase(phi__str(from.at, 5), "https");
    char url[4096];
    int n;
    if (host == SIZE_MAX) return false;
    path = phi__str_find(from, host + 3, "/");
    if (path == SIZE_MAX) path = from.len;
    if (phi__str_starts(to, "//"))
        n = snprintf(url, sizeof url, "%.*s:%.*s", (int)host, from.at, (int)to.len, to.at);
    else if (phi__str_starts(to, "/"))
        n = snprintf(url, sizeof url, "%.*s%.*s", (int)path, from.at, (int)to.len, to.at);
    else
        n = snprintf(url, sizeof url, "%.*s", (int)to.len, to.at);
    if (n <= 0 || (size_t)n >= sizeof url) return false;
    if (secure && (n < 8 || !phi__str_is_nocase(phi__str(url, 8), "https://"))) return false;
    return phi__arena_str(&api->arena, phi_str_of(url), out);
}

static bool phi__address_ask(phi_openapi *api, phi_str url, bool plain);

static void phi__address_redirect(phi_openapi *api) {
    phi_str url = {NULL, 0};
    if (api->address.redirects++ == PHI__ADDRESS_REDIRECTS)
        (void)phi__reading_fail(&api->reading, PHI_REFUSED, "the document: too many redirects");
    else if (!phi__address_join(api, api->address.location, &url))
        (void)phi__reading_fail(&api->reading, PHI_REFUSED,
                                "the document: a redirect to an address that is not followed");
    else if (!phi__address_ask(api, url, true)) {
        const char *words = "";
        phi_status status = phi_last_error(api->rt, &words, NULL);
        (void)phi__reading_fail(&api->reading, status, words);
    }
}

static void phi__address_end(void *user_data, phi_status status, const char *message) {
    phi_openapi *api = (phi_openapi *)user_data;
    char words[120];
    api->address.fetch = NULL;
    if (api->reading.status != PHI_BUSY) return;
    if (status != PHI_OK)
        (void)phi__reading_fail(&api->reading, status, message);
    else if (api->address.location.len > 0)
        phi__address_redirect(api);
    else if (api->address.http_status / 100 != 2) {
        (void)snprintf(words, sizeof words, "the document: HTTP status %d",
                       api->address.http_status);
        (void)phi__reading_fail(&api->reading, PHI_REFUSED, words);
    }
}

static bool phi__address_ask(phi_openapi *api, phi_str url, bool plain) {
    size_t count = plain ? 0 : api->desc.header_count, i;
    phi__header *headers =
        (phi__header *)phi__arena_zero(&api->arena, (count + 1) * sizeof *headers);
    phi__fetch_desc desc;
    memset(&desc, 0, sizeof desc);
    if (headers == NULL || !phi__arena_str(&api->arena, url, &api->url))
        return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_from_url: no memory") == PHI_OK;
    headers[0].name = PHI__LIT("Accept");
    headers[0].value = PHI__LIT("application/json, application/yaml, */*;q=0.5");
    for (i = 0; i < count; i++) {
        headers[i + 1].name = phi_str_of(api->desc.headers[i].name);
        headers[i + 1].value = phi_str_of(api->desc.headers[i].value);
    }
    desc.memory = &api->memory;
    desc.method = PHI__LIT("GET");
    desc.url = url;
    desc.headers = headers;
    desc.header_count = count + 1;
    desc.deadlines.total_ms = api->desc.timeout_ms;
    desc.max_bytes = api->desc.max_document_bytes;
    desc.on_head = phi__address_head;
    desc.on_body = phi__address_body;
    desc.on_end = phi__address_end;
    desc.user_data = api;
    return phi__fetch_open(api->rt, &desc, &api->address.fetch) == PHI_OK;
}

PHI__FN bool phi__address_open(phi_openapi *api, phi_str url) {
    return phi__address_ask(api, url, false);
}

PHI__FN void phi__address_close(phi_openapi *api) {
    phi__fetch_close(api->address.fetch);
    api->address.fetch = NULL;
}

#endif

/* ---- src/openapi/circles.c ---- */

/* circles.c - takes definitions away that none of the others needs, until circles are left; cuts
   the references to the first definition of those, and continues. */

#ifndef PHI_NO_OPENAPI

/* Nodes with needed[i] references to them; the queue holds those with none. */
typedef struct phi__circles {
    phi__tool_schema_edge *edges;
    size_t count, nodes, first, last; /* first, last: of the queue */
    size_t *needed, *queue;
} phi__circles;

PHI__FN bool phi__circles_add(phi_memory *memory, phi__tool_schema_edge **edges, size_t *count,
                              size_t *cap, size_t from, size_t to) {
    phi__tool_schema_edge *edge;
    if (*count > 0 && (*edges)[*count - 1].from == from && (*edges)[*count - 1].to == to)
        return true;
    if (*count == *cap) {
        void *grown = phi__grow(memory, *edges, cap, *count + 1, sizeof **edges);
        if (grown == NULL) return false;
        *edges = (phi__tool_schema_edge *)grown;
    }
    edge = &(*edges)[(*count)++];
    edge->from = from;
    edge->to = to;
    edge->cut = false;
    return true;
}

static void phi__circles_drain(phi__circles *c) {
    size_t i;
    while (c->first < c->last) {
        size_t node = c->queue[c->first++];
        for (i = 0; i < c->count; i++) {
            phi__tool_schema_edge *edge = &c->edges[i];
            if (edge->from != node || edge->cut) continue;
            if (--c->needed[edge->to] == 0) c->queue[c->last++] = edge->to;
        }
    }
}

/* A node whose references are all among those that are left: each is cut. */
static void phi__circles_open(phi__circles *c, size_t node) {
    size_t i;
    for (i = 0; i < c->count; i++)
        if (c->edges[i].to == node && c->needed[c->edges[i].from] > 0) c->edges[i].cut = true;
    c->needed[node] = 0;
    c->queue[c->last++] = node;
}

PHI__FN bool phi__circles_cut(phi_memory *memory, phi__tool_schema_edge *edges, size_t count,
                              size_t nodes, bool *any) {
    size_t bytes = phi__mul(nodes, 2 * sizeof(size_t)), i;
    phi__circles c;
    memset(&c, 0, sizeof c);
    c.edges = edges;
    c.count = count;
    c.nodes = nodes;
    c.needed = (size_t *)phi__alloc(memory, bytes);
    if (c.needed == NULL) return false;
    c.queue = c.needed + nodes;
    for (i = 0; i < count; i++) c.needed[edges[i].to]++;
    for (i = 0; i < nodes; i++)
        if (c.needed[i] == 0) c.queue[c.last++] = i;
    phi__circles_drain(&c);
    for (i = 0; i < nodes; i++) {
        if (c.needed[i] == 0) continue;
        *any = true;
        phi__circles_open(&c, i);
        phi__circles_drain(&c);
    }
    phi__free(memory, c.needed, bytes);
    return true;
}

PHI__FN bool phi__circles_is_cut(const phi__tool_schema_edge *edges, size_t count, size_t from,
                                 size_t to) {
    size_t i;
    for (i = 0; i < count; i++)
        if (edges[i].cut && edges[i].from == from && edges[i].to == to) return true;
    return false;
}

#endif

/* ---- src/openapi/document.c ---- */

/* document.c - the parts of a document, and references between them. */

#ifndef PHI_NO_OPENAPI


#include <stdio.h>

enum {
    PHI__DOCUMENT_CHAIN = 32, /* references that lead to references */
    PHI__DOCUMENT_STEP = 1024 /* bytes of a step of a pointer */
};

typedef struct phi__document_parsed {
    struct phi__document_parsed *next;
    const phi__document_part *part;
    phi_json *root;
} phi__document_parsed;

static const char *const phi__document_sections[PHI__SECTION_COUNT] = {
    "schemas",   "parameters", "requestBodies", "headers", "securitySchemes",
    "pathItems", "paths",      "responses",     "",        ""};

PHI__FN void phi__document_init(phi__document *doc, phi_memory *memory) {
    memset(doc, 0, sizeof *doc);
    doc->memory = memory;
    phi_arena_init(&doc->arena, memory, 0);
    phi__buf_init(&doc->text, memory);
    phi__map_init(&doc->parts, memory);
}

PHI__FN void phi__document_free(phi__document *doc) {
    phi__map_free(&doc->parts);
    phi__buf_free(&doc->text);
    phi__free(doc->memory, doc->operations, phi__mul(doc->cap, sizeof *doc->operations));
    phi_arena_free(&doc->arena);
    doc->operations = NULL;
    doc->count = doc->cap = 0;
}

PHI__FN const char *phi__document_section_name(phi__document_section section) {
    return phi__document_sections[section];
}

/* ---- parts ---- */

PHI__FN phi__document_part *phi__document_find(const phi__document *doc,
                                               phi__document_section section, phi_str name) {
    uint64_t hash = phi__hash(name, (uint64_t)section);
    size_t probe = 0;
    phi__document_part *part;
    while ((part = (phi__document_part *)phi__map_each(&doc->parts, hash, &probe)) != NULL)
        if (part->section == section && phi_str_equal(part->name, name)) return part;
    return NULL;
}

PHI__FN phi__document_part *phi__document_add(phi__document *doc, phi__document_section section,
                                              phi_str name) {
    phi__document_part *part;
    if (!phi__map_room(&doc->parts)) return NULL;
    part = (phi__document_part *)phi__arena_zero(&doc->arena, sizeof *part);
    if (part == NULL || !phi__arena_str(&doc->arena, name, &part->name)) return NULL;
    part->section = section;
    phi__map_add(&doc->parts, phi__hash(name, (uint64_t)section), part);
    return part;
}

PHI__FN phi__document_operation *phi__document_add_operation(phi__document *doc) {
    phi__document_operation *at;
    if (doc->count == doc->cap) {
        void *grown = phi__grow(doc->memory, doc->operations, &doc->cap, doc->count + 1,
                                sizeof *doc->operations);
        if (grown == NULL) return NULL;
        doc->operations = (phi__document_operation *)grown;
    }
    at = &doc->operations[doc->count++];
    memset(at, 0, sizeof *at);
    return at;
}

/* ---- pointers ---- */

static int phi__document_hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

PHI__FN bool phi__document_step(phi_str *rest, char *out, size_t size, phi_str *step) {
    size_t i = 1, n = 0;
    if (rest->len == 0 || rest->at[0] != '/') return false;
    for (; i < rest->len && rest->at[i] != '/'; i++) {
        char c = rest->at[i];
        if (c == '~' && i + 1 < rest->len && (rest->at[i + 1] == '0' || rest->at[i + 1] == '1'))
            c = rest->at[++i] == '1' ? '/' : '~';
        else if (c == '%' && i + 2 < rest->len && phi__document_hex(rest->at[i + 1]) >= 0 &&
                 phi__document_hex(rest->at[i + 2]) >= 0) {
            c = (char)(phi__document_hex(rest->at[i + 1]) * 16 +
                       phi__document_hex(rest->at[i + 2]));
            i += 2;
        }
        if (n == size) return false;
        out[n++] = c;
    }
    *rest = phi__str(rest->at + i, rest->len - i);
    *step = phi__str(out, n);
    return true;
}

PHI__FN bool phi__document_answers(phi_str path, phi_str method, char *out, size_t size,
                                   phi_str *name) {
    if (path.len >= size || method.len >= size - path.len) return false;
    memcpy(out, method.at, method.len);
    if (path.len > 0) memcpy(out + method.len, path.at, path.len);
    *name = phi__str(out, method.len + path.len);
    return true;
}

/* A pointer into the responses of an operation, which are a part of their own: "/get/responses"
   behind the path. */
static bool phi__document_in_answers(const phi__document *doc, phi_str path,
                                     phi__document_part **part, phi_str *rest) {
    char method[16], word[16], name[PHI__DOCUMENT_STEP + 16];
    phi_str after = *rest, step, key;
    if (!phi__document_step(&after, method, sizeof method, &step)) return false;
    key = step;
    if (!phi__document_step(&after, word, sizeof word, &step) || !phi__str_is(step, "responses") ||
        !phi__document_answers(path, key, name, sizeof name, &key))
        return false;
    *part = phi__document_find(doc, PHI__SECTION_ANSWERS, key);
    if (*part != NULL) *rest = after;
    return *part != NULL;
}

PHI__FN bool phi__document_locate(const phi__document *doc, phi_str ref, phi__document_part **part,
                                  phi_str *rest, const char **why) {
    char bytes[PHI__DOCUMENT_STEP];
    phi_str step;
    unsigned i;
    *why = " leads to another document, and such references are not followed";
    if (ref.len == 0 || ref.at[0] != '#') return false;
    *why = " is no JSON Pointer, and other references are not followed";
    *rest = phi__str(ref.at + 1, ref.len - 1);
    if (!phi__document_step(rest, bytes, sizeof bytes, &step)) return false;
    *why = " leads to a part that is not kept";
    i = PHI__SECTION_PATHS;
    if (phi__str_is(step, "components")) {
        if (!phi__document_step(rest, bytes, sizeof bytes, &step)) return false;
        for (i = 0; i <= PHI__SECTION_RESPONSES; i++)
            if (i != PHI__SECTION_PATHS && phi__str_is(step, phi__document_sections[i])) break;
        if (i > PHI__SECTION_RESPONSES) return false;
    } else if (!phi__str_is(step, "paths"))
        return false;
    if (!phi__document_step(rest, bytes, sizeof bytes, &step)) return false;
    *why = " leads nowhere";
    if (i == PHI__SECTION_PATHS && phi__document_in_answers(doc, step, part, rest)) return true;
    *part = phi__document_find(doc, (phi__document_section)i, step);
    return *part != NULL;
}

static const phi_json *phi__document_item(const phi_json *array, phi_str step) {
    uint64_t index;
    return phi__str_to_u64(step, &index) && index < phi_json_count(array)
               ? phi_json_at(array, (size_t)index)
               : NULL;
}

PHI__FN const phi_json *phi__document_walk(const phi_json *node, phi_str rest) {
    char bytes[PHI__DOCUMENT_STEP];
    phi_str step;
    while (node != NULL && phi__document_step(&rest, bytes, sizeof bytes, &step))
        node =
            phi_json_is_array(node) ? phi__document_item(node, step) : phi_json_get_n(node, step);
    return rest.len == 0 ? node : NULL;
}

/* ---- parts on demand ---- */

PHI__FN const phi_json *phi__document_tree(phi__document_view *view,
                                           const phi__document_part *part) {
    phi__document_parsed **bucket = &view->parsed[part->at % PHI__DOCUMENT_BUCKETS], *p;
    phi_str text = phi__str(view->doc->text.at + part->at, part->len);
    for (p = *bucket; p != NULL; p = p->next)
        if (p->part == part) return p->root;
    p = (phi__document_parsed *)phi_arena_alloc(view->arena, sizeof *p);
    if (p == NULL || phi_json_parse(view->arena, text, PHI_JSON_BORROW, &p->root, NULL) != PHI_OK) {
        view->no_memory = true;
        return NULL;
    }
    view->units += part->len;
    p->part = part;
    p->next = *bucket;
    *bucket = p;
    return p->root;
}

static const phi_json *phi__document_refuse(phi__document_view *view, phi_str ref,
                                            const char *why) {
    (void)snprintf(view->message, sizeof view->message, "\"$ref\" %.*s%s",
                   (int)phi__utf8_cut(ref, 140), ref.at, why);
    return NULL;
}

PHI__FN const phi_json *phi__document_target(phi__document_view *view, phi_str ref) {
    phi__document_part *part = NULL;
    const phi_json *node;
    phi_str rest = {NULL, 0};
    const char *why = NULL;
    if (!phi__document_locate(view->doc, ref, &part, &rest, &why))
        return phi__document_refuse(view, ref, why);
    node = phi__document_tree(view, part);
    if (view->no_memory) return NULL;
    node = phi__document_walk(node, rest);
    return node != NULL ? node : phi__document_refuse(view, ref, " leads nowhere");
}

PHI__FN const phi_json *phi__document_follow(phi__document_view *view, const phi_json *node) {
    phi_str ref = {NULL, 0};
    int links;
    for (links = 0; node != NULL && links < PHI__DOCUMENT_CHAIN; links++) {
        const phi_json *next = phi_json_get(node, "$ref");
        if (!phi_json_is_string(next)) return node;
        ref = phi__json_text_of(next);
        node = phi__document_target(view, ref);
    }
    return node == NULL ? NULL : phi__document_refuse(view, ref, " leads in a circle");
}

#endif

/* ---- src/openapi/json_cut.c ---- */

/* json_cut.c - a JSON text, shortened. It is read by brackets and quotes alone, several times for
   each level that is opened; the levels are few. What comes out is checked by the JSON reader. */


#ifndef PHI_NO_OPENAPI

enum {
    PHI__JSON_CUT_DEPTH = 8,    /* levels that are opened */
    PHI__JSON_CUT_NOTE = 48,    /* bytes of a note, with what surrounds it */
    PHI__JSON_CUT_MEMBERS = 64, /* of an object, that share its room by their sizes */
    PHI__JSON_CUT_ROUNDS = 8
};

typedef struct phi__json_cut_value {
    phi_str key; /* with its quotes; empty in an array */
    const char *at, *end;
    bool whole;
} phi__json_cut_value;

/* Items of a container, one after another. */
typedef struct phi__json_cut_scan {
    const char *at, *end;
    bool keys, whole, bad; /* whole: the closing bracket was seen */
} phi__json_cut_scan;

static const char *phi__json_cut_blank(const char *at, const char *end) {
    while (at < end && strchr(" \t\r\n", *at) != NULL && *at != '\0') at++;
    return at;
}

/* Behind the closing quote; NULL: the text ends before it. */
static const char *phi__json_cut_string(const char *at, const char *end) {
    bool escaped;
    const char *quote = phi__json_text_quote(at + 1, end, &escaped);
    return quote != NULL && quote < end ? quote + 1 : NULL;
}

/* Behind a value; NULL: the text ends before it does. */
static const char *phi__json_cut_skip(const char *at, const char *end) {
    size_t depth = 0;
    while (at != NULL && at < end) {
        char c = *at;
        if (c == '"') {
            at = phi__json_cut_string(at, end);
            if (depth == 0) return at;
            continue;
        }
        if (c == '[' || c == '{') depth++;
        if (depth == 0 && c != '\0' && strchr(",]} \t\r\n", c) != NULL) return at;
        at++;
        if ((c == ']' || c == '}') && --depth == 0) return at;
    }
    return NULL;
}

static phi__json_cut_scan phi__json_cut_scan_of(const phi__json_cut_value *value) {
    phi__json_cut_scan scan;
    memset(&scan, 0, sizeof scan);
    scan.keys = *value->at == '{';
    scan.at = value->at + 1;
    scan.end = value->end;
    return scan;
}

/* The next item; false: there is none, or the text is broken. */
static bool phi__json_cut_next(phi__json_cut_scan *scan, phi__json_cut_value *out) {
    const char *at = phi__json_cut_blank(scan->at, scan->end), *behind;
    if (at < scan->end && *at == ',') at = phi__json_cut_blank(at + 1, scan->end);
    out->key = phi__str(NULL, 0);
    scan->whole = at < scan->end && (*at == ']' || *at == '}');
    if (at == scan->end || scan->whole) return false;
    if (scan->keys) {
        scan->bad = *at != '"';
        behind = scan->bad ? NULL : phi__json_cut_string(at, scan->end);
        if (behind == NULL) return false;
        out->key = phi__str(at, (size_t)(behind - at));
        at = phi__json_cut_blank(behind, scan->end);
        if (at == scan->end) return false;
        scan->bad = *at != ':';
        at = phi__json_cut_blank(at + 1, scan->end);
        if (scan->bad || at == scan->end) return false;
    }
    behind = phi__json_cut_skip(at, scan->end);
    out->at = at;
    out->whole = behind != NULL;
    out->end = scan->at = behind != NULL ? behind : scan->end;
    return true;
}

static size_t phi__json_cut_size(const phi__json_cut_value *value) {
    return value->key.len + 2 + (size_t)(value->end - value->at);
}

/* ---- writing ---- */

static void phi__json_cut_put(phi__buf *out, const phi__json_cut_value *value, size_t most,
                              int depth);

/* Also of a number that breaks off. */
static void phi__json_cut_put_note(phi__buf *out, const char *what, size_t count, bool whole) {
    phi__buf_printf(out, "\"... %s%llu more %s\"", whole ? "" : "at least ",
                    (unsigned long long)count, what);
}

/* Where a text may be cut: neither inside of a character nor of an escape. */
static size_t phi__json_cut_string_at(phi_str text, size_t most) {
    size_t i = 0, last = 0;
    most = phi__utf8_cut(text, phi__min(most, text.len));
    while (i < most) {
        size_t n = text.at[i] != '\\' ? 1 : i + 1 < text.len && text.at[i + 1] == 'u' ? 6 : 2;
        /* the halves of a pair stay together */
        if (n == 6 && i + 2 < text.len && (text.at[i + 2] == 'd' || text.at[i + 2] == 'D')) n = 12;
        last = i;
        i += n;
    }
    return i <= most ? i : last;
}

static void phi__json_cut_put_string(phi__buf *out, const phi__json_cut_value *value, size_t most) {
    size_t len = (size_t)(value->end - value->at) - 1;
    phi_str text = phi__str(value->at + 1, len);
    size_t keep = most > PHI__JSON_CUT_NOTE ? most - PHI__JSON_CUT_NOTE : 0;
    if (value->whole) text.len--;
    keep = phi__json_cut_string_at(text, keep);
    phi__buf_char(out, '"');
    phi__buf_add(out, text.at, keep);
    phi__buf_printf(out, "... [%s%llu more bytes]\"", value->whole ? "" : "at least ",
                    (unsigned long long)(text.len - keep));
}

static void phi__json_cut_put_member(phi__buf *out, const phi__json_cut_value *value, size_t most,
                                     int depth) {
    if (value->key.len > 0) {
        phi__buf_add_str(out, value->key);
        phi__buf_char(out, ':');
    }
    phi__json_cut_put(out, value, most - phi__min(most, value->key.len + 2), depth + 1);
}

/* In their order while they fit; one that does not fit is shortened where much room is left. */
static void phi__json_cut_put_first(phi__buf *out, const phi__json_cut_value *value, size_t most,
                                    int depth) {
    phi__json_cut_scan scan = phi__json_cut_scan_of(value);
    size_t left = most - phi__min(most, PHI__JSON_CUT_NOTE), given = 0, missing = 0;
    phi__json_cut_value item;
    bool full = false;
    while (phi__json_cut_next(&scan, &item)) {
        size_t size = phi__json_cut_size(&item);
        bool fits = item.whole && size <= left;
        if (!full && (fits || left >= most / 4)) {
            if (given++ > 0) phi__buf_char(out, ',');
            phi__json_cut_put_member(out, &item, left, depth);
            left -= phi__min(left, size);
        } else
            missing++;
        full = full || !fits;
    }
    if (scan.bad) out->failed = true; /* no JSON */
    if (missing == 0 && scan.whole) return;
    if (given > 0) phi__buf_char(out, ',');
    if (scan.keys) phi__buf_text(out, "\"...\":");
    phi__json_cut_put_note(out, scan.keys ? "members" : "items", missing, scan.whole);
}

/* What a member may take so that small ones stay whole and large ones share the rest. */
static size_t phi__json_cut_share(const size_t *sizes, size_t count, size_t room) {
    size_t share = room / count, i;
    int round;
    for (round = 0; round < PHI__JSON_CUT_ROUNDS; round++) {
        size_t small = 0, large = 0;
        for (i = 0; i < count; i++) {
            if (sizes[i] <= share)
                small += sizes[i];
            else
                large++;
        }
        if (large == 0 || small > room) return share;
        share = (room - small) / large;
    }
    return share;
}

/* False: it has too many members for that, or too little room. */
static bool phi__json_cut_put_shared(phi__buf *out, const phi__json_cut_value *value, size_t most,
                                     int depth) {
    phi__json_cut_scan scan = phi__json_cut_scan_of(value);
    phi__json_cut_value members[PHI__JSON_CUT_MEMBERS], more;
    size_t sizes[PHI__JSON_CUT_MEMBERS], count = 0, share, i;
    while (phi__json_cut_next(&scan, &more)) {
        if (count == PHI__JSON_CUT_MEMBERS) return false;
        members[count] = more;
        sizes[count++] = more.whole ? phi__json_cut_size(&more) : most;
    }
    if (count == 0) return false;
    share = phi__json_cut_share(sizes, count, most - phi__min(most, PHI__JSON_CUT_NOTE));
    if (share < (size_t)PHI__JSON_CUT_NOTE * 2) return false;
    if (scan.bad) out->failed = true; /* no JSON */
    for (i = 0; i < count; i++) {
        if (i > 0) phi__buf_char(out, ',');
        phi__json_cut_put_member(out, &members[i], phi__min(share, sizes[i]), depth);
    }
    if (scan.whole) return true;
    phi__buf_text(out, ",\"...\":");
    phi__json_cut_put_note(out, "members", 0, false);
    return true;
}

static void phi__json_cut_put(phi__buf *out, const phi__json_cut_value *value, size_t most,
                              int depth) {
    size_t len = (size_t)(value->end - value->at);
    char c = *value->at;
    if (value->whole && len <= most)
        phi__buf_add(out, value->at, len);
    else if (c == '"')
        phi__json_cut_put_string(out, value, most);
    else if ((c != '[' && c != '{') || depth >= PHI__JSON_CUT_DEPTH ||
             most < (size_t)PHI__JSON_CUT_NOTE * 2)
        phi__json_cut_put_note(out, "bytes", len, value->whole);
    else {
        phi__buf_char(out, c);
        if (c == '[' || !phi__json_cut_put_shared(out, value, most, depth))
            phi__json_cut_put_first(out, value, most, depth);
        phi__buf_char(out, c == '[' ? ']' : '}');
    }
}

static bool phi__json_cut_valid(phi_memory *memory, phi_str text) {
    phi_arena arena;
    phi_json *root;
    bool valid;
    phi_arena_init(&arena, memory, 4096);
    valid = phi_json_parse(&arena, text, PHI_JSON_BORROW | PHI_JSON_REPLACE_BAD_UTF8, &root,
                           NULL) == PHI_OK;
    phi_arena_free(&arena);
    return valid;
}

PHI__FN bool phi__json_cut(phi__buf *out, phi_str text, bool whole, size_t most) {
    phi__json_cut_value value;
    const char *end = text.at + text.len, *behind;
    phi__buf cut;
    bool done;
    memset(&value, 0, sizeof value);
    value.at = text.len > 0 ? phi__json_cut_blank(text.at, end) : end;
    if (value.at == end || most < (size_t)PHI__JSON_CUT_NOTE * 2) return false;
    behind = phi__json_cut_skip(value.at, end);
    value.end = behind != NULL ? behind : end;
    /* a number at the very end of a whole text */
    value.whole = behind != NULL || (whole && strchr("\"[{", *value.at) == NULL);
    phi__buf_init(&cut, out->memory);
    phi__json_cut_put(&cut, &value, most, 0);
    done = !cut.failed && phi__json_cut_valid(out->memory, phi__buf_str(&cut));
    if (done) phi__buf_add_str(out, phi__buf_str(&cut));
    phi__buf_free(&cut);
    return done && !out->failed;
}

#endif

/* ---- src/openapi/keywords.c ---- */

/* keywords.c - which keywords of a schema go on. */

#ifndef PHI_NO_OPENAPI

typedef enum phi__keywords_shape {
    PHI__SHAPE_ANY,
    PHI__SHAPE_TEXT,
    PHI__SHAPE_NUMBER,
    PHI__SHAPE_COUNT, /* an integer that is not negative */
    PHI__SHAPE_LIST,  /* not empty */
    PHI__SHAPE_OBJECT,
    PHI__SHAPE_SCHEMA,
    PHI__SHAPE_BOOL
} phi__keywords_shape;

static const struct {
    const char *name;
    uint8_t keyword, shape;
} phi__keywords_table[] = {{"title", PHI__KEYWORD_SHORT, PHI__SHAPE_TEXT},
                           {"default", PHI__KEYWORD_SHORT, PHI__SHAPE_ANY},
                           {"examples", PHI__KEYWORD_SHORT, PHI__SHAPE_LIST},
                           {"format", PHI__KEYWORD_SHORT, PHI__SHAPE_TEXT},
                           {"const", PHI__KEYWORD_COPY, PHI__SHAPE_ANY},
                           {"enum", PHI__KEYWORD_COPY, PHI__SHAPE_LIST},
                           {"minLength", PHI__KEYWORD_COPY, PHI__SHAPE_COUNT},
                           {"maxLength", PHI__KEYWORD_COPY, PHI__SHAPE_COUNT},
                           {"minItems", PHI__KEYWORD_COPY, PHI__SHAPE_COUNT},
                           {"maxItems", PHI__KEYWORD_COPY, PHI__SHAPE_COUNT},
                           {"items", PHI__KEYWORD_SUB, PHI__SHAPE_SCHEMA},
                           {"additionalProperties", PHI__KEYWORD_SUB, PHI__SHAPE_SCHEMA},
                           {"properties", PHI__KEYWORD_SUBS, PHI__SHAPE_OBJECT},
                           {"required", PHI__KEYWORD_NAMES, PHI__SHAPE_LIST},
                           {"anyOf", PHI__KEYWORD_CHOICES, PHI__SHAPE_LIST},
                           {"oneOf", PHI__KEYWORD_CHOICES, PHI__SHAPE_LIST},
                           {"allOf", PHI__KEYWORD_CHOICES, PHI__SHAPE_LIST},
                           {"pattern", PHI__KEYWORD_NOTE, PHI__SHAPE_TEXT},
                           {"multipleOf", PHI__KEYWORD_NOTE, PHI__SHAPE_NUMBER},
                           {"uniqueItems", PHI__KEYWORD_NOTE, PHI__SHAPE_BOOL},
                           {"minProperties", PHI__KEYWORD_NOTE, PHI__SHAPE_NUMBER},
                           {"maxProperties", PHI__KEYWORD_NOTE, PHI__SHAPE_NUMBER},
                           {"patternProperties", PHI__KEYWORD_NOTE, PHI__SHAPE_OBJECT},
                           {"propertyNames", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"prefixItems", PHI__KEYWORD_NOTE, PHI__SHAPE_LIST},
                           {"contains", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"minContains", PHI__KEYWORD_NOTE, PHI__SHAPE_NUMBER},
                           {"maxContains", PHI__KEYWORD_NOTE, PHI__SHAPE_NUMBER},
                           {"dependentRequired", PHI__KEYWORD_NOTE, PHI__SHAPE_OBJECT},
                           {"dependentSchemas", PHI__KEYWORD_NOTE, PHI__SHAPE_OBJECT},
                           {"unevaluatedProperties", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"unevaluatedItems", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"not", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"if", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"then", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"else", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"contentMediaType", PHI__KEYWORD_NOTE, PHI__SHAPE_TEXT},
                           {"contentEncoding", PHI__KEYWORD_NOTE, PHI__SHAPE_TEXT}};

static bool phi__keywords_fits(unsigned shape, const phi_json *value) {
    switch (shape) {
    case PHI__SHAPE_TEXT: return phi_json_is_string(value);
    case PHI__SHAPE_NUMBER: return phi_json_is_number(value);
    case PHI__SHAPE_COUNT: return phi_json_is_integer(value) && phi_json_num(value, -1) >= 0;
    case PHI__SHAPE_LIST: return phi_json_is_array(value) && phi_json_count(value) > 0;
    case PHI__SHAPE_OBJECT: return phi_json_is_object(value);
    case PHI__SHAPE_SCHEMA: return phi_json_is_object(value) || phi_json_is_bool(value);
    case PHI__SHAPE_BOOL: return phi_json_bool(value, false);
    default: return true;
    }
}

PHI__FN phi__keyword phi__keywords_of(phi_str key, const phi_json *value) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__keywords_table); i++)
        if (phi__str_is(key, phi__keywords_table[i].name))
            return phi__keywords_fits(phi__keywords_table[i].shape, value)
                       ? (phi__keyword)phi__keywords_table[i].keyword
                       : PHI__KEYWORD_DROP;
    return PHI__KEYWORD_DROP;
}

PHI__FN bool phi__keywords_is_type(phi_str name) {
    static const char *const names[] = {"string", "number", "integer", "boolean",
                                        "object", "array",  "null"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(name, names[i])) return true;
    return false;
}

#endif

/* ---- src/openapi/maker.c ---- */

/* maker.c - one operation, and its tool. */

#ifndef PHI_NO_OPENAPI


#include <stdio.h>

enum {
    PHI__MAKER_DESCRIPTION = 1024, /* bytes of a tool's description; OpenAI, November 2026 */
    PHI__MAKER_LABEL = 120
};

/* ---- the schema ---- */

/* A content parameter's schema is that of its content. */
static const phi_json *phi__maker_schema_of(const phi_json *parameter) {
    const phi_json *schema = phi_json_get(parameter, "schema");
    phi_json_iter it = phi_json_each(phi_json_get(parameter, "content"));
    if (schema != NULL || !phi_json_is_object(phi_json_get(parameter, "content"))) return schema;
    return phi_json_next(&it) != NULL ? phi_json_get(it.at, "schema") : NULL;
}

static void phi__maker_put_parameter(phi__making *m, size_t index) {
    const phi_json *given = m->given[index], *schema = phi__maker_schema_of(given);
    phi__tool_schema *s = &m->schema;
    phi__json_write_key(&s->out, m->op->parameters[index].argument);
    if (schema == NULL && m->op->parameters[index].content_type.len == 0)
        phi__buf_text(&s->out, "{\"type\":\"string\"}");
    else
        phi__tool_schema_put(s, schema, phi__json_text_of(phi_json_get(given, "description")));
}

static void phi__maker_put_body(phi__making *m) {
    const phi__operation_body *body = &m->op->body;
    phi__tool_schema *s = &m->schema;
    phi__json_write_key(&s->out, body->argument);
    s->files = body->kind == PHI__BODY_MULTIPART;
    if (body->kind == PHI__BODY_JSON || body->kind == PHI__BODY_FORM ||
        body->kind == PHI__BODY_MULTIPART) {
        phi__tool_schema_put(s, m->body_schema, m->body_note);
        return;
    }
    if (body->kind == PHI__BODY_TEXT) {
        phi__buf_text(&s->out, "{\"type\":\"string\"}");
        return;
    }
    phi__tool_schema_put_file(s, NULL, m->body_note);
}

static void phi__maker_put_required(phi__making *m) {
    phi__buf *out = &m->schema.out;
    bool any = m->op->body.kind != PHI__BODY_NONE && m->op->body.required;
    size_t i;
    for (i = 0; i < m->op->parameter_count; i++) any = any || m->op->parameters[i].required;
    if (!any) return;
    phi__json_write_key(out, PHI__LIT("required"));
    phi__buf_char(out, '[');
    for (i = 0; i < m->op->parameter_count; i++) {
        if (!m->op->parameters[i].required) continue;
        phi__json_write_comma(out);
        phi__json_write_str(out, m->op->parameters[i].argument);
    }
    if (m->op->body.kind != PHI__BODY_NONE && m->op->body.required) {
        phi__json_write_comma(out);
        phi__json_write_str(out, m->op->body.argument);
    }
    phi__buf_char(out, ']');
}

static bool phi__maker_put_schema(phi__making *m) {
    phi__tool_schema *s = &m->schema;
    size_t i;
    do {
        phi__buf_text(&s->out, "{\"type\":\"object\",\"properties\":{");
        for (i = 0; i < m->op->parameter_count && !s->failed; i++) phi__maker_put_parameter(m, i);
        if (m->op->body.kind != PHI__BODY_NONE && !s->failed) phi__maker_put_body(m);
        phi__buf_char(&s->out, '}');
        phi__maker_put_required(m);
        phi__tool_schema_put_defs(s);
        phi__buf_char(&s->out, '}');
    } while (phi__tool_schema_again(s));
    if (s->out.failed) m->view.no_memory = true;
    return s->failed || m->view.no_memory ? phi__making_lost(m, "schema") : true;
}

/* ---- the tool ---- */

static bool phi__maker_describe(phi__making *m, phi_tool *tool) {
    static const char *const keys[] = {"description", "summary"};
    phi_str text = {NULL, 0}, label = phi__json_text_of(phi_json_get(m->node, "summary")), kept;
    char words[PHI__MAKER_DESCRIPTION + 1];
    size_t i;
    for (i = 0; i < 2 && text.len == 0; i++)
        text = phi__str_trim(phi__json_text_of(phi_json_get(m->node, keys[i])));
    if (text.len == 0) text = m->op->path;
    if (label.len == 0) label = m->source->shown.operation_id;
    if (label.len == 0) label = m->op->name;
    (void)snprintf(words, sizeof words, "%s%.*s%s",
                   m->source->shown.deprecated ? "(deprecated) " : "",
                   (int)phi__utf8_cut(text, PHI__MAKER_DESCRIPTION - 20), text.at,
                   text.len > PHI__MAKER_DESCRIPTION - 20 ? "..." : "");
    if (!phi__making_str(m, phi_str_of(words), &kept)) return false;
    tool->description = kept.at;
    if (!phi__making_str(m, phi__tool_schema_cut(label, PHI__MAKER_LABEL), &kept)) return false;
    tool->label = kept.at;
    return true;
}

static bool phi__maker_tool(phi__making *m, phi_tool *tool) {
    const phi_openapi_desc *desc = &m->api->desc;
    phi_str schema;
    memset(tool, 0, sizeof *tool);
    if (!phi__maker_describe(m, tool) || !phi__making_str(m, phi__buf_str(&m->schema.out), &schema))
        return false;
    tool->name = m->op->name.at;
    tool->schema = schema.at;
    tool->user_data = m->op;
    tool->timeout_ms = PHI_UNLIMITED; /* the request has the deadline */
    tool->needs_approval = (desc->needs_approval && !m->op->read_only) ||
                           (desc->destructive_needs_approval && m->op->destructive);
    phi__openapi_call_fill(tool);
    return true;
}

static bool phi__maker_find(phi__making *m) {
    char method[16];
    size_t i;
    phi__document_part *root =
        phi__document_find(m->view.doc, PHI__SECTION_ROOT, phi__str(NULL, 0));
    m->item = phi__document_tree(&m->view, m->source->item);
    if (root != NULL) m->root = phi__document_tree(&m->view, root);
    if (m->view.no_memory) return phi__making_lost(m, "document");
    for (i = 0; i < m->source->shown.method.len && i + 1 < sizeof method; i++)
        method[i] = (char)(m->source->shown.method.at[i] | 0x20);
    method[i] = '\0';
    m->node = phi_json_get(m->item, method);
    if (m->node == NULL) return phi__making_skip(m, "operation", "it is not in its path item");
    m->op->api = m->api;
    m->op->index = (size_t)(m->source - m->api->document->operations);
    m->op->read_only = m->source->shown.read_only;
    m->op->destructive = m->source->shown.destructive;
    m->op->name = m->source->shown.name; /* the index outlives the selection */
    m->op->method = m->source->shown.method;
    m->op->path = m->source->shown.path;
    return true;
}

static bool phi__maker_all(phi__making *m, phi_tool *tool) {
    return phi__maker_find(m) && phi__parameters_make(m) && phi__request_body_make(m) &&
           phi__security_make(m) && phi__security_server(m) && phi__maker_put_schema(m) &&
           phi__maker_tool(m, tool);
}

PHI__FN bool phi__maker_make(phi_openapi *api, size_t index, phi_arena *arena, phi_tool *tool,
                             const char **skip, size_t *units) {
    phi__document *doc = api->document;
    phi_arena_mark mark = phi_arena_save(arena);
    phi__making m;
    phi_str text = {NULL, 0};
    bool made;
    memset(&m, 0, sizeof m);
    m.api = api;
    m.source = &doc->operations[index];
    m.arena = arena;
    *skip = m.source->skip;
    if (*skip != NULL) return true;
    phi_arena_init(&m.scratch, doc->memory, 4096);
    m.view.doc = doc;
    m.view.arena = &m.scratch;
    phi__tool_schema_init(&m.schema, &m.view, api->desc.max_schema_bytes);
    m.op = (phi__operation *)phi__making_zero(&m, 1, sizeof *m.op);
    made = m.op != NULL && phi__maker_all(&m, tool);
    *units += m.view.units + m.schema.out.len;
    phi__tool_schema_free(&m.schema);
    phi_arena_free(&m.scratch);
    if (made) return true;
    phi_arena_reset(arena, mark);
    if (m.no_memory || !phi__arena_str(arena, phi_str_of(m.message), &text)) return false;
    *skip = text.at;
    return true;
}

#endif

/* ---- src/openapi/making.c ---- */

/* making.c - messages and memory for the files that make an operation. */

#ifndef PHI_NO_OPENAPI

#include <stdio.h>

PHI__FN bool phi__making_skip(phi__making *m, const char *place, const char *why) {
    (void)snprintf(m->message, sizeof m->message, "%s: %s", place, why);
    return false;
}

PHI__FN bool phi__making_lost(phi__making *m, const char *place) {
    if (!m->view.no_memory) return phi__making_skip(m, place, m->view.message);
    m->no_memory = true;
    return false;
}

PHI__FN bool phi__making_str(phi__making *m, phi_str text, phi_str *out) {
    if (phi__arena_str(m->arena, text, out)) return true;
    m->no_memory = true;
    return false;
}

PHI__FN void *phi__making_zero(phi__making *m, size_t count, size_t size) {
    void *at = phi__arena_zero(m->arena, phi__mul(count, size));
    if (at == NULL) m->no_memory = true;
    return at;
}

#endif

/* ---- src/openapi/naming.c ---- */

/* naming.c - names for operations. */

#ifndef PHI_NO_OPENAPI


enum { PHI__NAMING_TAIL = 8 }; /* hex digits behind a name that was cut or taken */

typedef struct phi__naming_name {
    char at[PHI__NAMING_MOST];
    size_t len;
    bool cut, exact; /* exact: the id stands there as it is */
} phi__naming_name;

/* The operations that would have the same name. */
typedef struct phi__naming_group {
    phi_str name;
    size_t count, exact;
} phi__naming_group;

static bool phi__naming_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static void phi__naming_put(phi__naming_name *name, char c) {
    if (name->len == sizeof name->at) {
        name->cut = true;
        return;
    }
    if (!phi__naming_plain(c)) {
        name->exact = false;
        c = '_';
    }
    name->at[name->len++] = c;
}

static void phi__naming_text(phi__naming_name *name, phi_str text) {
    size_t i;
    for (i = 0; i < text.len; i++) phi__naming_put(name, text.at[i]);
}

/* "get_pets_petId" of GET /pets/{petId}. */
static void phi__naming_path(phi__naming_name *name, const phi_openapi_operation *op) {
    bool gap = true;
    size_t i;
    name->exact = false;
    for (i = 0; i < op->method.len; i++)
        phi__naming_put(name, (char)(op->method.at[i] | 0x20)); /* in lower case */
    for (i = 0; i < op->path.len; i++) {
        char c = op->path.at[i];
        if (!phi__naming_plain(c)) {
            gap = true;
            continue;
        }
        if (gap) phi__naming_put(name, '_');
        gap = false;
        phi__naming_put(name, c);
    }
}

static phi__naming_name phi__naming_of(const phi_openapi_operation *op, const char *prefix) {
    phi_str id = op->operation_id;
    phi__naming_name name;
    char first;
    memset(&name, 0, sizeof name);
    name.exact = true;
    if (prefix != NULL) {
        phi__naming_text(&name, phi_str_of(prefix));
        phi__naming_text(&name, PHI__LIT("__"));
        name.exact = true; /* the prefix is the same for all */
    }
    first = name.len > 0 ? name.at[0] : id.len > 0 ? id.at[0] : 'a';
    if (first == '-' || (first >= '0' && first <= '9')) { /* Gemini wants a letter or _ there */
        memmove(name.at + 1, name.at, phi__min(name.len, sizeof name.at - 1));
        name.len = phi__min(name.len + 1, sizeof name.at);
        name.at[0] = '_';
        name.exact = false;
    }
    if (id.len > 0)
        phi__naming_text(&name, id);
    else
        phi__naming_path(&name, op);
    return name;
}

/* Cuts a name so that the tail fits, and adds it. */
static void phi__naming_tail(phi__naming_name *name, const phi_openapi_operation *op,
                             size_t window) {
    unsigned char hash[PHI__SHA256_BYTES];
    char hex[PHI__SHA256_HEX];
    phi__sha256 sha;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, op->method.at, op->method.len);
    phi__sha256_add(&sha, " ", 1);
    phi__sha256_add(&sha, op->path.at, op->path.len);
    phi__sha256_end(&sha, hash);
    phi__sha256_hex(hash, hex);
    name->len = phi__min(name->len, (size_t)PHI__NAMING_MOST - (size_t)PHI__NAMING_TAIL - 1);
    name->at[name->len++] = '_';
    memcpy(name->at + name->len, hex + window * PHI__NAMING_TAIL, PHI__NAMING_TAIL);
    name->len += PHI__NAMING_TAIL;
}

static phi__naming_group *phi__naming_find(const phi__map *map, phi_str name) {
    size_t probe = 0;
    phi__naming_group *group;
    while ((group = (phi__naming_group *)phi__map_each(map, phi__hash(name, 0), &probe)) != NULL)
        if (phi_str_equal(group->name, name)) return group;
    return NULL;
}

static phi__naming_group *phi__naming_add(phi__map *map, phi_arena *arena, phi_str name) {
    phi__naming_group *group = phi__naming_find(map, name);
    if (group != NULL) return group;
    if (!phi__map_room(map)) return NULL;
    group = (phi__naming_group *)phi__arena_zero(arena, sizeof *group);
    if (group == NULL || !phi__arena_str(arena, name, &group->name)) return NULL;
    phi__map_add(map, phi__hash(name, 0), group);
    return group;
}

/* Counts who would have which name: one operation. */
static bool phi__naming_count(phi__naming *n, const phi__document_operation *op,
                              const char *prefix) {
    phi__naming_name name = phi__naming_of(&op->shown, prefix);
    phi__naming_group *group;
    if (name.cut) return true;
    group = phi__naming_add(&n->map, &n->scratch, phi__str(name.at, name.len));
    if (group == NULL) return false;
    group->count++;
    group->exact += name.exact;
    return true;
}

/* The name of one operation; a tail that is taken, which takes a document made for it, moves on. */
static bool phi__naming_one(phi__document *doc, phi__document_operation *op, const char *prefix,
                            phi__map *map, phi_arena *scratch) {
    phi__naming_name plain = phi__naming_of(&op->shown, prefix), name = plain;
    phi__naming_group *group =
        plain.cut ? NULL : phi__naming_find(map, phi__str(plain.at, plain.len));
    bool mine = group != NULL && (group->count == 1 || (group->exact == 1 && plain.exact));
    size_t window;
    for (window = 0; !mine && window < (size_t)PHI__SHA256_HEX / (size_t)PHI__NAMING_TAIL;
         window++) {
        name = plain;
        phi__naming_tail(&name, &op->shown, window);
        group = phi__naming_add(map, scratch, phi__str(name.at, name.len));
        if (group == NULL) return false;
        mine = group->count++ == 0;
    }
    if (!mine) op->skip = "its name is taken";
    return phi__arena_str(&doc->arena, phi__str(name.at, name.len), &op->shown.name);
}

static bool phi__naming_begin(phi__naming *n, const phi__document *doc) {
    if (n->begun) return true;
    n->begun = true;
    phi_arena_init(&n->scratch, doc->memory, 0);
    phi__map_init(&n->map, doc->memory);
    return phi__map_reserve(&n->map, doc->count);
}

PHI__FN phi_status phi__naming_advance(phi__naming *n, phi__document *doc, const char *prefix,
                                       bool skip_unnamed, size_t count) {
    if (!phi__naming_begin(n, doc)) return PHI_NO_MEMORY;
    for (; count > 0 && n->at < doc->count; count--, n->at++) {
        phi__document_operation *op = &doc->operations[n->at];
        bool fine;
        if (!n->counted)
            fine = phi__naming_count(n, op, prefix);
        else {
            if (skip_unnamed && op->shown.operation_id.len == 0 && op->skip == NULL)
                op->skip = "it has no operationId";
            fine = phi__naming_one(doc, op, prefix, &n->map, &n->scratch);
        }
        if (!fine) return PHI_NO_MEMORY;
    }
    if (n->at < doc->count) return PHI_BUSY;
    if (n->counted) return PHI_OK;
    n->counted = true;
    n->at = 0;
    return PHI_BUSY;
}

PHI__FN void phi__naming_end(phi__naming *n) {
    if (!n->begun) return;
    phi__map_free(&n->map);
    phi_arena_free(&n->scratch);
    n->begun = false;
}

#endif

/* ---- src/openapi/openapi.c ---- */

/* openapi.c - the object of a document: made, read, looked at and freed. */

#ifndef PHI_NO_OPENAPI


static void phi__openapi_destroy(phi_openapi *api) {
    phi_memory *memory = &api->rt->memory;
    if (api->document != NULL) {
        phi__reading_end(&api->reading);
        phi__document_free(api->document);
    }
    phi_arena_free(&api->arena);
    phi__free(memory, api, sizeof *api);
}

static bool phi__openapi_fill(phi_openapi *api, const phi_openapi_desc *desc) {
    phi__document *doc = (phi__document *)phi__arena_zero(&api->arena, sizeof *doc);
    if (doc == NULL || !phi__settings_copy(&api->arena, desc, &api->desc)) return false;
    phi__document_init(doc, &api->memory);
    phi__reading_init(&api->reading, doc, api->desc.max_document_bytes);
    api->reading.prefix = api->desc.name_prefix;
    api->reading.skip_unnamed = api->desc.skip_unnamed;
    api->document = doc;
    return true;
}

static phi_openapi *phi__openapi_new(phi_runtime *rt, const phi_openapi_desc *desc,
                                     const char *function) {
    const char *fault = desc != NULL ? phi__settings_refuse(desc) : NULL;
    phi_openapi *api;
    if (fault != NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "%s: %s", function, fault);
        return NULL;
    }
    api = (phi_openapi *)phi__alloc(&rt->memory, sizeof *api);
    if (api != NULL) {
        api->rt = rt;
        api->step_bytes = rt->slice.budget_bytes;
        phi_memory_init(&api->memory, &rt->memory.allocator, 0);
        api->memory.parent = &rt->memory;
        phi_arena_init(&api->arena, &api->memory, 0);
        if (phi__openapi_fill(api, desc)) return api;
        phi__openapi_destroy(api);
    }
    (void)phi__error(rt, PHI_NO_MEMORY, "%s: no memory", function);
    return NULL;
}

/* ---- public ---- */

PHI_API phi_openapi *phi_openapi_from_text(phi_runtime *rt, const phi_openapi_desc *desc,
                                           phi_str text) {
    phi_openapi *api;
    if (rt == NULL) return NULL;
    if (text.len > 0 && text.at == NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_openapi_from_text: text is missing");
        return NULL;
    }
    api = phi__openapi_new(rt, desc, "phi_openapi_from_text");
    if (api != NULL) (void)phi__reading_add(&api->reading, text);
    return api;
}

PHI_API phi_openapi *phi_openapi_from_file(phi_runtime *rt, const phi_openapi_desc *desc,
                                           const char *path) {
    phi_openapi *api;
    if (rt == NULL) return NULL;
    if (path == NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_openapi_from_file: path is missing");
        return NULL;
    }
    api = phi__openapi_new(rt, desc, "phi_openapi_from_file");
    if (api != NULL) (void)phi__reading_open(&api->reading, path);
    return api;
}

PHI_API phi_openapi *phi_openapi_from_url(phi_runtime *rt, const phi_openapi_desc *desc,
                                          const char *url) {
    phi_openapi *api;
    if (rt == NULL) return NULL;
    if (url == NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_openapi_from_url: url is missing");
        return NULL;
    }
    api = phi__openapi_new(rt, desc, "phi_openapi_from_url");
    if (api != NULL && !phi__address_open(api, phi_str_of(url))) {
        phi__openapi_destroy(api);
        return NULL;
    }
    return api;
}

PHI_API phi_status phi_openapi_step(phi_openapi *api) {
    phi_status status;
    if (api == NULL) return PHI_BAD_ARG;
    status = api->reading.status;
    if (status != PHI_BUSY || api->address.fetch != NULL) return status;
    status = phi__reading_advance(&api->reading, api->step_bytes);
    if (status != PHI_BUSY) phi__reading_end(&api->reading);
    return status;
}

PHI_API phi_status phi_openapi_status(const phi_openapi *api) {
    return api != NULL ? api->reading.status : PHI_BAD_ARG;
}

PHI_API const phi_parse_error *phi_openapi_error(const phi_openapi *api) {
    static const phi_parse_error none = {0, 0, 0, ""};
    return api != NULL ? &api->reading.error : &none;
}

PHI_API phi_status phi_openapi_free(phi_openapi *api) {
    if (api == NULL) return PHI_OK;
    if (api->calls_open > 0)
        return phi__error(api->rt, PHI_MISUSE,
                          "phi_openapi_free: %u calls are under way: free or abort their agents",
                          (unsigned)api->calls_open);
    phi__address_close(api);
    phi__openapi_call_free(api);
    phi__selection_free_all(api);
    phi__openapi_destroy(api);
    return PHI_OK;
}

PHI_API size_t phi_openapi_count(const phi_openapi *api) {
    return api != NULL && api->reading.status == PHI_OK ? api->document->count : 0;
}

PHI_API phi_status phi_openapi_operation_at(const phi_openapi *api, size_t index,
                                            phi_openapi_operation *out) {
    if (api == NULL || out == NULL) return PHI_BAD_ARG;
    if (index >= phi_openapi_count(api)) return PHI_NOT_FOUND;
    *out = api->document->operations[index].shown;
    return PHI_OK;
}

#endif

/* ---- src/openapi/openapi_answer.c ---- */

/* openapi_answer.c - answers of servers, for models. */


#include <stdio.h>

#ifndef PHI_NO_OPENAPI

enum {
    PHI__OPENAPI_ANSWER_TIMES = 4,            /* kept of a text, times max_response_bytes */
    PHI__OPENAPI_ANSWER_TEXT_MOST = 64 << 20, /* ... and at most */
    PHI__OPENAPI_ANSWER_IMAGE_MOST = 4 << 20, /* bytes of an image that is shown */
    PHI__OPENAPI_ANSWER_FILE_MOST = 1 << 30   /* bytes of a file */
};

/* ---- kinds of answers ---- */

PHI__FN const char *phi__openapi_answer_reason(int http_status) {
    static const struct {
        int status;
        const char *reason;
    } rows[] = {{200, "OK"},
                {201, "Created"},
                {202, "Accepted"},
                {203, "Non Authoritative Information"},
                {204, "No Content"},
                {205, "Reset Content"},
                {206, "Partial Content"},
                {207, "Multi-Status"},
                {300, "Multiple Choices"},
                {301, "Moved Permanently"},
                {302, "Found"},
                {303, "See Other"},
                {304, "Not Modified"},
                {307, "Temporary Redirect"},
                {308, "Permanent Redirect"},
                {400, "Bad Request"},
                {401, "Unauthorized"},
                {402, "Payment Required"},
                {403, "Forbidden"},
                {404, "Not Found"},
                {405, "Method Not Allowed"},
                {406, "Not Acceptable"},
                {408, "Request Timeout"},
                {409, "Conflict"},
                {410, "Gone"},
                {411, "Length Required"},
                {412, "Precondition Failed"},
                {413, "Payload Too Large"},
                {414, "URI Too Long"},
                {415, "Unsupported Media Type"},
                {416, "Range Not Satisfiable"},
                {418, "I'm a teapot"},
                {422, "Unprocessable Entity"},
                {423, "Locked"},
                {424, "Failed Dependency"},
                {428, "Precondition Required"},
                {429, "Too Many Requests"},
                {431, "Request Header Fields Too Large"},
                {451, "Unavailable For Legal Reasons"},
                {500, "Internal Server Error"},
                {501, "Not Implemented"},
                {502, "Bad Gateway"},
                {503, "Service Unavailable"},
                {504, "Gateway Timeout"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++)
        if (rows[i].status == http_status) return rows[i].reason;
    return "";
}

static bool phi__openapi_answer_among(phi_str type, const char *const *names, size_t count) {
    size_t i;
    for (i = 0; i < count; i++)
        if (phi__str_is_nocase(type, names[i])) return true;
    return false;
}

static bool phi__openapi_answer_ends(phi_str type, const char *end) {
    size_t n = strlen(end);
    return type.len > n && phi__str_is_nocase(phi__str(type.at + type.len - n, n), end);
}

static phi__openapi_form phi__openapi_answer_form(phi_str type) {
    static const char *const images[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    static const char *const texts[] = {
        "application/xml",          "application/javascript", "application/x-www-form-urlencoded",
        "application/yaml",         "application/x-yaml",     "application/graphql",
        "application/x-ndjson",     "application/jsonl",      "application/sql",
        "application/toml",         "application/xhtml+xml",  "message/rfc822",
        "application/problem+json", "image/svg+xml"};
    if (type.len == 0) return PHI__FORM_UNKNOWN;
    if (phi__str_is_nocase(type, "application/json") || phi__str_is_nocase(type, "text/json") ||
        phi__openapi_answer_ends(type, "+json"))
        return PHI__FORM_JSON;
    if (phi__openapi_answer_among(type, images, PHI__COUNT(images))) return PHI__FORM_IMAGE;
    if (phi__str_is_nocase(phi__str(type.at, phi__min(type.len, 5)), "text/") ||
        phi__openapi_answer_among(type, texts, PHI__COUNT(texts)) ||
        phi__openapi_answer_ends(type, "+xml") || phi__openapi_answer_ends(type, "+yaml"))
        return PHI__FORM_TEXT;
    return PHI__FORM_BINARY;
}

static bool phi__openapi_answer_is_latin1(phi_str content_type) {
    static const char *const names[] = {"iso-8859-1", "iso-8859-15", "latin1", "windows-1252"};
    size_t at = phi__str_find_nocase(content_type, 0, "charset="), i;
    if (at == SIZE_MAX) return false;
    at += 8;
    if (at < content_type.len && content_type.at[at] == '"') at++;
    for (i = 0; i < PHI__COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (content_type.len - at >= n &&
            phi__str_is_nocase(phi__str(content_type.at + at, n), names[i]))
            return true;
    }
    return false;
}

PHI__FN void phi__openapi_answer_init(phi__openapi_answer *a, phi_memory *memory,
                                      const phi__operation *op, phi_call call,
                                      const phi__secrets *secrets) {
    memset(a, 0, sizeof *a);
    a->op = op;
    a->call = call;
    a->secrets = secrets;
    phi__buf_init(&a->kept, memory);
    phi__buf_init(&a->incoming, memory);
}

/* As much as is printable. */
static phi_str phi__openapi_answer_word(phi_str text, size_t most) {
    size_t i;
    text = phi__str_trim(text);
    for (i = 0; i < text.len && i < most && text.at[i] > 32 && text.at[i] < 127;) i++;
    return phi__str(text.at, i);
}

/* The body of a server that compresses unasked is not read. */
static void phi__openapi_answer_coding(phi__openapi_answer *a, phi_str headers) {
    phi_str coding = phi__openapi_answer_word(phi__headers_value(headers, "content-encoding"), 20);
    size_t len = strlen(a->type);
    if (coding.len == 0 || phi__str_is_nocase(coding, "identity")) return;
    a->form = PHI__FORM_BINARY;
    (void)snprintf(a->type + len, sizeof a->type - len, "%s%.*s", len > 0 ? " in " : "",
                   (int)coding.len, coding.at);
}

PHI__FN void phi__openapi_answer_head(phi__openapi_answer *a, int http_status, phi_str headers) {
    phi_str whole = phi__headers_value(headers, "content-type");
    size_t semicolon = phi__str_find(whole, 0, ";");
    phi_str type = phi__openapi_answer_word(phi__str(whole.at, phi__min(whole.len, semicolon)),
                                            sizeof a->type - 1);
    size_t most = a->op->api->desc.max_response_bytes;
    a->http_status = http_status;
    a->form = phi__openapi_answer_form(type);
    a->latin1 = phi__openapi_answer_is_latin1(whole);
    (void)snprintf(a->type, sizeof a->type, "%.*s", (int)type.len, type.at);
    phi__openapi_answer_coding(a, headers);
    (void)phi__secret_hide(a->secrets, a->type, strlen(a->type), PHI__SECRET_WORDS);
    if (!phi__str_to_u64(phi__headers_value(headers, "content-length"), &a->announced))
        a->announced = 0;
    a->most = a->form == PHI__FORM_IMAGE    ? (size_t)PHI__OPENAPI_ANSWER_IMAGE_MOST
              : a->form == PHI__FORM_BINARY ? 0
                                            : phi__min(phi__mul(most, PHI__OPENAPI_ANSWER_TIMES),
                                                       (size_t)PHI__OPENAPI_ANSWER_TEXT_MOST);
}

/* ---- the file ---- */

#ifdef PHI_NO_FILES
static void phi__openapi_answer_save(phi__openapi_answer *a, phi_str bytes) {
    (void)a;
    (void)bytes;
}
static void phi__openapi_answer_commit(phi__openapi_answer *a) { (void)a; }
static void phi__openapi_answer_note_file(phi__openapi_answer *a, phi__buf *out) {
    (void)a;
    (void)out;
}
static bool phi__openapi_answer_saves(const phi__openapi_answer *a) {
    (void)a;
    return false;
}
#else

static const char *phi__openapi_answer_directory(const phi__openapi_answer *a) {
    const char *directory = a->op->api->desc.response_directory;
    return directory != NULL && directory[0] != '\0' ? directory : NULL;
}

static bool phi__openapi_answer_saves(const phi__openapi_answer *a) {
    return phi__openapi_answer_directory(a) != NULL && !a->unsaved;
}

static const char *phi__openapi_answer_ending(const phi__openapi_answer *a) {
    static const char *const rows[][2] = {
        {"text/html", "html"},      {"text/csv", "csv"},      {"application/pdf", "pdf"},
        {"image/png", "png"},       {"image/jpeg", "jpg"},    {"image/gif", "gif"},
        {"image/webp", "webp"},     {"image/svg+xml", "svg"}, {"application/zip", "zip"},
        {"application/xml", "xml"}, {"text/xml", "xml"}};
    size_t i;
    if (a->form == PHI__FORM_JSON) return "json";
    for (i = 0; i < PHI__COUNT(rows); i++)
        if (phi__str_is_nocase(phi_str_of(a->type), rows[i][0])) return rows[i][1];
    return a->form == PHI__FORM_BINARY ? "bin" : "txt";
}

static void phi__openapi_answer_create(phi__openapi_answer *a) {
    unsigned char random[16];
    char name[20];
    size_t i;
    int n;
    phi__cap_random(phi__call_find(a->call), random);
    for (i = 0; i < 8; i++) (void)snprintf(name + 2 * i, 3, "%02x", random[i]);
    n = snprintf(a->path, sizeof a->path, "%s/%s-%s.%s", phi__openapi_answer_directory(a),
                 a->op->name.at, name, phi__openapi_answer_ending(a));
    (void)snprintf(a->words.text, sizeof a->words.text, "its name is taken, or too long");
    a->unsaved = n < 0 || (size_t)n >= sizeof a->path ||
                 phi__files_open_new(a->kept.memory, a->path, &a->file, &a->words) != PHI_OK;
}

static void phi__openapi_answer_save(phi__openapi_answer *a, phi_str bytes) {
    if (!phi__openapi_answer_saves(a) || a->saved) return;
    if (a->file == NULL) phi__openapi_answer_create(a);
    if (a->unsaved || bytes.len == 0) return;
    a->unsaved = phi__files_write(a->file, bytes.at, bytes.len, &a->words) != PHI_OK;
}

static void phi__openapi_answer_commit(phi__openapi_answer *a) {
    if (a->file == NULL || a->saved) return;
    if (!a->unsaved) a->unsaved = phi__files_commit(a->file, &a->words) != PHI_OK;
    a->saved = !a->unsaved;
    phi__files_close(a->file);
    a->file = NULL;
}

static void phi__openapi_answer_note_file(phi__openapi_answer *a, phi__buf *out) {
    if (a->saved)
        phi__buf_printf(out, "\n[The %s, %llu bytes: %s]",
                        a->enough ? "beginning of the answer" : "whole answer",
                        (unsigned long long)a->total, a->path);
    else if (a->unsaved)
        phi__buf_printf(out, "\n[The whole answer could not be saved: %s]", a->words.text);
}

#endif

/* ---- as it comes ---- */

/* Bytes without secrets. */
static void phi__openapi_answer_take(phi__openapi_answer *a, phi_str bytes) {
    bool fits = bytes.len <= a->most - phi__min(a->most, a->kept.len);
    bool over = a->total > a->kept.len;
    if (fits && !over)
        phi__buf_add_str(&a->kept, bytes);
    else {
        if (!over) {
            size_t room = a->most - phi__min(a->most, a->kept.len);
            phi__openapi_answer_save(a, phi__buf_str(&a->kept));
            phi__buf_add(&a->kept, bytes.at, phi__min(room, bytes.len));
        }
        phi__openapi_answer_save(a, bytes);
        a->enough = !phi__openapi_answer_saves(a) ||
                    a->total + bytes.len > (uint64_t)PHI__OPENAPI_ANSWER_FILE_MOST;
    }
    a->total += bytes.len;
}

PHI__FN bool phi__openapi_answer_body(phi__openapi_answer *a, phi_str bytes) {
    size_t n;
    if (a->secrets->count == 0) {
        phi__openapi_answer_take(a, bytes);
        return !a->enough && !a->kept.failed;
    }
    phi__buf_add_str(&a->incoming, bytes);
    if (a->incoming.failed) return false;
    (void)phi__secret_hide(a->secrets, a->incoming.at, a->incoming.len, PHI__SECRET_BYTES);
    n = a->incoming.len - phi__secret_tail(a->secrets, phi__buf_str(&a->incoming));
    if (n > 0) phi__openapi_answer_take(a, phi__str(a->incoming.at, n));
    phi__buf_drop(&a->incoming, n);
    return !a->enough && !a->kept.failed;
}

/* ---- the result ---- */

/* Text of any charset becomes UTF-8, without a byte order mark. */
static bool phi__openapi_answer_text(phi__openapi_answer *a, phi__buf *out) {
    phi_str text = phi__buf_str(&a->kept);
    size_t i;
    if (phi__str_starts(text, "\xEF\xBB\xBF")) text = phi__str(text.at + 3, text.len - 3);
    if (!a->latin1)
        phi__utf8_repair(out, text);
    else
        for (i = 0; i < text.len && !out->failed; i++) {
            char code[4];
            phi__buf_add(out, code, phi__utf8_put(code, (unsigned char)text.at[i]));
        }
    return !out->failed;
}

static void phi__openapi_answer_put_text(phi__openapi_answer *a, phi__buf *out) {
    size_t most = a->op->api->desc.max_response_bytes;
    bool whole = a->total == a->kept.len;
    phi__buf text;
    phi__buf_init(&text, out->memory);
    if (!phi__openapi_answer_text(a, &text)) {
        out->failed = true;
    } else if (whole && text.len <= most) {
        phi__buf_add_str(out, phi__buf_str(&text));
    } else {
        if (a->form != PHI__FORM_JSON || !phi__json_cut(out, phi__buf_str(&text), whole, most))
            phi__buf_add(out, text.at, phi__utf8_cut(phi__buf_str(&text), most));
        phi__buf_text(out, "\n... [truncated]");
        if (whole) phi__openapi_answer_save(a, phi__buf_str(&a->kept));
    }
    phi__buf_free(&text);
}

static void phi__openapi_answer_put_binary(phi__openapi_answer *a, phi__buf *out) {
    uint64_t bytes = a->announced > a->total ? a->announced : a->total;
    bool least = a->enough && a->announced == 0;
    phi__buf_printf(out, "[%s, %s%llu bytes: not text]",
                    a->type[0] != '\0' ? a->type : "Binary data", least ? "at least " : "",
                    (unsigned long long)bytes);
    if (a->total == a->kept.len) phi__openapi_answer_save(a, phi__buf_str(&a->kept));
}

/* Whatever its type says: a NUL is in no text, but in UTF-16, which is not read. Without a type it
   is text where it is UTF-8; a character may be cut at the end. */
static bool phi__openapi_answer_is_binary(const phi__openapi_answer *a) {
    phi_str bytes = phi__buf_str(&a->kept);
    if (bytes.len == 0 || a->form == PHI__FORM_IMAGE) return false;
    return memchr(bytes.at, 0, bytes.len) != NULL ||
           (a->form == PHI__FORM_UNKNOWN && phi__utf8_valid(bytes) + 4 <= bytes.len);
}

PHI__FN phi_status phi__openapi_answer_finish(phi__openapi_answer *a, phi__buf *out,
                                              phi__buf *image) {
    if (a->incoming.len > 0) phi__openapi_answer_take(a, phi__buf_str(&a->incoming));
    phi__buf_clear(&a->incoming);
    if (phi__openapi_answer_is_binary(a)) a->form = PHI__FORM_BINARY;
    if (a->total == 0 && a->announced == 0) return PHI_OK;
    if (a->form == PHI__FORM_IMAGE && a->total == a->kept.len && !a->kept.failed)
        phi__base64_encode(image, a->kept.at, a->kept.len);
    else if (a->form == PHI__FORM_IMAGE || a->form == PHI__FORM_BINARY)
        phi__openapi_answer_put_binary(a, out);
    else
        phi__openapi_answer_put_text(a, out);
    phi__openapi_answer_commit(a);
    phi__openapi_answer_note_file(a, out);
    return out->failed || image->failed || a->kept.failed ? PHI_NO_MEMORY : PHI_OK;
}

PHI__FN void phi__openapi_answer_free(phi__openapi_answer *a) {
    if (a->op == NULL) return;
#ifndef PHI_NO_FILES
    phi__files_close(a->file);
    a->file = NULL;
#endif
    phi__buf_free(&a->kept);
    phi__buf_free(&a->incoming);
}

#endif

/* ---- src/openapi/openapi_auth.c ---- */

/* openapi_auth.c - credentials into requests. */


#include <stdio.h>

#ifndef PHI_NO_OPENAPI

static bool phi__openapi_auth_given(const char *text) { return text != NULL && text[0] != '\0'; }

static const char *phi__openapi_auth_key(const phi_openapi_auth *auth, phi_str scheme) {
    size_t i;
    for (i = 0; i < auth->key_count; i++)
        if (phi__str_is(scheme, auth->keys[i].name)) return auth->keys[i].value;
    return NULL;
}

static phi_str phi__openapi_auth_token_url(const phi_openapi_auth *auth,
                                           const phi__operation_scheme *scheme) {
    return phi__openapi_auth_given(auth->token_url) ? phi_str_of(auth->token_url)
                                                    : scheme->token_url;
}

static bool phi__openapi_auth_client(const phi_openapi_auth *auth,
                                     const phi__operation_scheme *scheme) {
    return scheme->kind == PHI__SCHEME_OAUTH && phi__openapi_auth_given(auth->client_id) &&
           phi__openapi_auth_token_url(auth, scheme).len > 0;
}

static bool phi__openapi_auth_meets(const phi_openapi_auth *auth,
                                    const phi__operation_scheme *scheme) {
    switch (scheme->kind) {
    case PHI__SCHEME_KEY: return phi__openapi_auth_key(auth, scheme->name) != NULL;
    case PHI__SCHEME_BASIC: return phi__openapi_auth_given(auth->user);
    case PHI__SCHEME_BEARER:
    case PHI__SCHEME_OPENID: return phi__openapi_auth_given(auth->bearer_token);
    case PHI__SCHEME_OAUTH:
        return phi__openapi_auth_client(auth, scheme) ||
               phi__openapi_auth_given(auth->bearer_token);
    case PHI__SCHEME_OTHER: break;
    }
    return false;
}

static bool phi__openapi_auth_meets_all(const phi_openapi_auth *auth,
                                        const phi__operation_security *security) {
    size_t i;
    for (i = 0; i < security->count; i++)
        if (!phi__openapi_auth_meets(auth, &security->schemes[i])) return false;
    return true;
}

static bool phi__openapi_auth_any(const phi_openapi_auth *auth) {
    return phi__openapi_auth_given(auth->bearer_token) || phi__openapi_auth_given(auth->user) ||
           phi__openapi_auth_given(auth->client_id) || auth->key_count > 0;
}

/* ---- into the request ---- */

static phi_status phi__openapi_auth_bearer(phi__openapi_auth *a, phi_str token) {
    phi_status status;
    phi__buf value;
    phi__secret_add(&a->secrets, token);
    phi__buf_init(&value, a->r->memory);
    phi__buf_text(&value, "Bearer ");
    phi__buf_add_str(&value, token);
    status = value.failed ? PHI_NO_MEMORY
                          : phi__openapi_request_add(a->r, PHI__LIT("Authorization"),
                                                     phi__buf_str(&value), true);
    if (value.at != NULL) memset(value.at, 0, value.len);
    phi__buf_free(&value);
    return status;
}

static phi_status phi__openapi_auth_basic(phi__openapi_auth *a) {
    const phi_openapi_auth *auth = &a->r->op->api->desc.auth;
    phi_status status = PHI_NO_MEMORY;
    phi__buf plain, value;
    phi__buf_init(&plain, a->r->memory);
    phi__buf_init(&value, a->r->memory);
    phi__buf_text(&plain, auth->user);
    phi__buf_char(&plain, ':');
    phi__buf_text(&plain, auth->password != NULL ? auth->password : "");
    phi__buf_text(&value, "Basic ");
    phi__base64_encode(&value, plain.at, plain.len);
    if (!plain.failed && !value.failed) {
        phi__secret_add(&a->secrets, phi__buf_str(&plain));
        phi__secret_add(&a->secrets, phi_str_of(auth->password));
        status =
            phi__openapi_request_add(a->r, PHI__LIT("Authorization"), phi__buf_str(&value), true);
    }
    if (plain.at != NULL) memset(plain.at, 0, plain.len);
    if (value.at != NULL) memset(value.at, 0, value.len);
    phi__buf_free(&plain);
    phi__buf_free(&value);
    return status;
}

static phi_status phi__openapi_auth_put_key(phi__openapi_auth *a,
                                            const phi__operation_scheme *scheme) {
    phi__openapi_request *r = a->r;
    phi_str value = phi_str_of(phi__openapi_auth_key(&r->op->api->desc.auth, scheme->name));
    bool cookie = scheme->place == PHI__OPERATION_COOKIE;
    phi__buf *out = cookie ? &r->cookie : &r->query;
    phi__secret_add(&a->secrets, value);
    if (scheme->place == PHI__OPERATION_HEADER)
        return phi__openapi_request_add(r, scheme->key, value, true);
    if (out->len > 0) phi__buf_text(out, cookie ? "; " : "&");
    phi__styles_put_escaped(out, scheme->key, PHI__ESCAPE_ALL);
    phi__buf_char(out, '=');
    phi__styles_put_escaped(out, value, cookie ? PHI__ESCAPE_COOKIE : PHI__ESCAPE_ALL);
    return out->failed ? PHI_NO_MEMORY : PHI_OK;
}

static phi_status phi__openapi_auth_put(phi__openapi_auth *a, const phi__operation_scheme *scheme) {
    const phi_openapi_auth *auth = &a->r->op->api->desc.auth;
    if (scheme->kind == PHI__SCHEME_KEY) return phi__openapi_auth_put_key(a, scheme);
    if (scheme->kind == PHI__SCHEME_BASIC) return phi__openapi_auth_basic(a);
    if (!phi__openapi_auth_client(auth, scheme))
        return phi__openapi_auth_bearer(a, phi_str_of(auth->bearer_token));
    a->oauth = scheme;
    return PHI_OK;
}

/* ---- choosing ---- */

/* The document's first alternative, in words. */
static phi_status phi__openapi_auth_refuse(phi__openapi_auth *a) {
    static const char *const kinds[] = {"apiKey", "basic",         "bearer",
                                        "oauth2", "openIdConnect", "another kind"};
    const phi__operation_security *first = &a->r->op->security[0];
    const phi__operation_scheme *scheme = first->count > 0 ? &first->schemes[0] : NULL;
    size_t i;
    for (i = 0; i < first->count; i++)
        if (!phi__openapi_auth_meets(&a->r->op->api->desc.auth, &first->schemes[i])) {
            scheme = &first->schemes[i];
            break;
        }
    return phi__openapi_request_refuse(
        a->r, "Error: This operation needs credentials that were not set up: %.80s (%s)",
        scheme != NULL ? scheme->name.at : "?", scheme != NULL ? kinds[scheme->kind] : "?");
}

static phi_status phi__openapi_auth_choose(phi__openapi_auth *a) {
    const phi__operation *op = a->r->op;
    const phi_openapi_auth *auth = &op->api->desc.auth;
    size_t i, k;
    if (!phi__openapi_auth_any(auth)) return PHI_OK;
    for (i = 0; i < op->security_count; i++) {
        const phi__operation_security *security = &op->security[i];
        phi_status status = PHI_OK;
        if (!phi__openapi_auth_meets_all(auth, security)) continue;
        for (k = 0; k < security->count && status == PHI_OK; k++)
            status = phi__openapi_auth_put(a, &security->schemes[k]);
        return status;
    }
    if (op->security_count > 0) return phi__openapi_auth_refuse(a);
    if (phi__openapi_auth_given(auth->bearer_token))
        return phi__openapi_auth_bearer(a, phi_str_of(auth->bearer_token));
    return phi__openapi_auth_given(auth->user) ? phi__openapi_auth_basic(a) : PHI_OK;
}

/* ---- for the call ---- */

PHI__FN phi_status phi__openapi_auth_begin(phi__openapi_auth *a, phi__openapi_request *r) {
    const phi_openapi_desc *desc = &r->op->api->desc;
    phi_status status;
    size_t i;
    a->r = r;
    phi__secret_init(&a->secrets, r->arena);
    for (i = 0; i < desc->header_count; i++)
        (void)phi__secret_add_header(&a->secrets, phi_str_of(desc->headers[i].name),
                                     phi_str_of(desc->headers[i].value));
    status = phi__openapi_auth_choose(a);
    return status == PHI_OK && a->secrets.failed ? PHI_NO_MEMORY : status;
}

PHI__FN phi_status phi__openapi_auth_token(phi__openapi_auth *a) {
    phi_openapi *api = a->r->op->api;
    const char *words = NULL;
    phi_status status;
    phi_str token = phi__str(NULL, 0);
    if (a->oauth == NULL) return PHI_OK;
    status = phi__openapi_token_get(api, phi__openapi_auth_token_url(&api->desc.auth, a->oauth),
                                    a->oauth->scopes, a->oauth->scope_count, &a->wait, &token);
    if (status == PHI_BUSY || status == PHI_NO_MEMORY) return status;
    if (status != PHI_OK) {
        (void)phi__error_last(api->rt, &words, NULL);
        return phi__openapi_request_refuse(a->r, "Error: HTTP request failed: the token server: %s",
                                           words);
    }
    if (!phi__arena_str(a->r->arena, token, &a->token)) return PHI_NO_MEMORY;
    status = phi__openapi_auth_bearer(a, a->token);
    return status == PHI_OK && a->secrets.failed ? PHI_NO_MEMORY : status;
}

PHI__FN bool phi__openapi_auth_again(phi__openapi_auth *a, int http_status) {
    if (http_status != 401 || a->oauth == NULL || a->refreshed) return false;
    a->refreshed = true;
    phi__openapi_token_refused(a->r->op->api, a->token);
    return true;
}

#endif

/* ---- src/openapi/openapi_body.c ---- */

/* openapi_body.c - from an argument to the body of a request. */


#include <stdio.h>

#ifndef PHI_NO_OPENAPI

enum {
    PHI__OPENAPI_BODY_READ = 65536, /* bytes of a file in one slice */
    PHI__OPENAPI_BODY_PATHS = 128   /* units of work with paths in one slice: files_in.h */
};

/* ---- pieces ---- */

static phi_status phi__openapi_body_add_piece(phi__openapi_body *b, phi_str piece) {
    if (b->count == b->cap) {
        size_t cap = b->cap > 0 ? b->cap * 2 : 8;
        phi_str *grown = (phi_str *)phi_arena_alloc(b->r->arena, phi__mul(cap, sizeof *grown));
        if (grown == NULL) return PHI_NO_MEMORY;
        if (b->count > 0) memcpy(grown, b->pieces, b->count * sizeof *grown);
        b->pieces = grown;
        b->cap = cap;
    }
    b->pieces[b->count++] = piece;
    return PHI_OK;
}

/* Makes the text so far a piece. */
static phi_status phi__openapi_body_flush(phi__openapi_body *b) {
    phi_str piece;
    if (b->text.failed) return PHI_NO_MEMORY;
    if (b->text.len == 0) return PHI_OK;
    if (!phi__arena_str(b->r->arena, phi__buf_str(&b->text), &piece)) return PHI_NO_MEMORY;
    phi__buf_clear(&b->text);
    return phi__openapi_body_add_piece(b, piece);
}

/* The content type of the whole; a host's own header wins. */
static phi_status phi__openapi_body_type(phi__openapi_body *b, phi_str type) {
    return phi__openapi_request_add(b->r, PHI__LIT("Content-Type"), type, false);
}

/* ---- files ---- */

#ifdef PHI_NO_FILES
static phi_status phi__openapi_body_file_begin(phi__openapi_body *b, const phi_json *value) {
    (void)value;
    return phi__openapi_request_refuse(b->r, "Error: Files cannot be sent by this program");
}
static phi_status phi__openapi_body_file_more(phi__openapi_body *b) {
    (void)b;
    return PHI_OK;
}
static bool phi__openapi_body_in_file(const phi__openapi_body *b) {
    (void)b;
    return false;
}
static void phi__openapi_body_file_close(phi__openapi_body *b) { (void)b; }
#else

static bool phi__openapi_body_in_file(const phi__openapi_body *b) { return b->path != NULL; }

static void phi__openapi_body_file_close(phi__openapi_body *b) {
    phi__files_close(b->open);
    b->open = NULL;
    b->path = b->place = NULL;
}

static phi_status phi__openapi_body_file_refuse(phi__openapi_body *b, const char *why) {
    return phi__openapi_request_refuse(b->r, "Error: Cannot send file '%.150s': %s", b->path, why);
}

static phi_status phi__openapi_body_file_begin(phi__openapi_body *b, const phi_json *value) {
    const char *const *roots = b->r->op->api->desc.upload_roots;
    phi__words words;
    phi_str path;
    if (!phi__arena_str(b->r->arena, phi_json_str(phi_json_get(value, "path"), NULL), &path))
        return PHI_NO_MEMORY;
    b->path = path.at;
    if (roots == NULL || roots[0] == NULL)
        return phi__openapi_body_file_refuse(b, "no directory is set up to send files from");
    if (strlen(path.at) != path.len || path.len == 0)
        return phi__openapi_body_file_refuse(b, "its path is empty, or holds a NUL");
    if (b->resolve == NULL)
        b->resolve = (phi__resolve *)phi_arena_alloc(b->r->arena, sizeof *b->resolve);
    if (b->resolve == NULL) return PHI_NO_MEMORY;
    b->root = 0;
    b->place = NULL;
    if (phi__path_resolve_begin(b->resolve, roots[0], path.at, &words) != PHI_OK)
        return phi__openapi_body_file_refuse(b, words.text);
    return PHI_BUSY;
}

static phi_status phi__openapi_body_file_open(phi__openapi_body *b) {
    phi__openapi_file *file;
    phi__file_info info;
    phi__words words;
    if (phi__files_stat(b->place, true, &info, &words) != PHI_OK)
        return phi__openapi_body_file_refuse(b, words.text);
    if (info.bytes > (uint64_t)PHI__OPENAPI_BODY_MOST - b->file_bytes)
        return phi__openapi_body_file_refuse(b, "the files are larger than 32 MiB together");
    switch (phi__files_open_read(b->r->memory, b->place, &b->open, &words)) {
    case PHI_OK: break;
    case PHI_NO_MEMORY: return PHI_NO_MEMORY;
    default: return phi__openapi_body_file_refuse(b, words.text);
    }
    file = (phi__openapi_file *)phi__arena_zero(b->r->arena, sizeof *file);
    if (file == NULL) return PHI_NO_MEMORY;
    file->len = (size_t)info.bytes;
    file->at = (char *)phi__realloc(b->r->memory, NULL, 0, file->len + 1);
    if (file->at == NULL) return PHI_NO_MEMORY;
    b->file_bytes += file->len;
    file->older = b->files;
    b->files = file;
    return PHI_BUSY;
}

/* The path, then each root until it lies in one. */
static phi_status phi__openapi_body_file_place(phi__openapi_body *b) {
    const char *const *roots = b->r->op->api->desc.upload_roots;
    size_t units = PHI__OPENAPI_BODY_PATHS;
    phi__words words;
    phi_status status = phi__path_resolve_advance(b->resolve, &units, &words);
    phi_str place;
    if (status == PHI_BUSY) return status;
    if (b->place == NULL) {
        if (status != PHI_OK) return phi__openapi_body_file_refuse(b, words.text);
        if (!phi__arena_str(b->r->arena, phi_str_of(b->resolve->out), &place)) return PHI_NO_MEMORY;
        b->place = place.at;
    } else {
        if (status == PHI_OK && phi__path_inside(b->resolve->out, b->place))
            return phi__openapi_body_file_open(b);
        b->root++;
    }
    if (roots[b->root] == NULL)
        return phi__openapi_body_file_refuse(b, "it is outside the directories to send from");
    if (phi__path_resolve_begin(b->resolve, NULL, roots[b->root], &words) != PHI_OK)
        return phi__openapi_body_file_refuse(b, words.text);
    return PHI_BUSY;
}

static phi_status phi__openapi_body_file_more(phi__openapi_body *b) {
    phi__openapi_file *file = b->files;
    size_t got = 0, want;
    phi__words words;
    if (b->open == NULL) return phi__openapi_body_file_place(b);
    want = phi__min(file->len + 1 - file->got, PHI__OPENAPI_BODY_READ);
    if (phi__files_read(b->open, file->at + file->got, want, &got, &words) != PHI_OK)
        return phi__openapi_body_file_refuse(b, words.text);
    file->got += got;
    if (file->got > file->len) return phi__openapi_body_file_refuse(b, "it grows");
    if (got > 0) return PHI_BUSY;
    phi__openapi_body_file_close(b);
    return phi__openapi_body_add_piece(b, phi__str(file->at, file->got));
}

#endif

/* ---- one value ---- */

static bool phi__openapi_body_is_path(const phi_json *value) {
    return phi_json_is_string(phi_json_get(value, "path"));
}

/* The first type of a list that is no range. */
static phi_str phi__openapi_body_first_type(phi_str types) {
    while (types.len > 0) {
        size_t comma = phi__str_find(types, 0, ",");
        size_t end = comma != SIZE_MAX ? comma : types.len;
        phi_str type = phi__str_trim(phi__str(types.at, end));
        if (type.len > 0 && phi__str_find(type, 0, "*") == SIZE_MAX) return type;
        if (comma == SIZE_MAX) break;
        types = phi__str(types.at + comma + 1, types.len - comma - 1);
    }
    return phi__str(NULL, 0);
}

static phi_status phi__openapi_body_base64(phi__openapi_body *b, phi_str name, phi_str text) {
    if (phi__base64_decode(&b->text, text)) return PHI_OK;
    if (b->text.failed) return PHI_NO_MEMORY;
    return phi__openapi_request_refuse(b->r, "Error: '%.*s' is not base64",
                                       (int)phi__min(name.len, 80), name.at);
}

/* ---- forms ---- */

static const phi__operation_property *phi__openapi_body_property(const phi__openapi_body *b,
                                                                 phi_str name) {
    const phi__operation_body *body = &b->r->op->body;
    size_t i;
    for (i = 0; i < body->property_count; i++)
        if (body->properties[i].name.len == name.len &&
            memcmp(body->properties[i].name.at, name.at, name.len) == 0)
            return &body->properties[i];
    return NULL;
}

/* Without a style: arrays as repeated names, objects as JSON text. */
static void phi__openapi_body_pair(phi__openapi_body *b, phi_str name, const phi_json *value) {
    const phi__operation_property *property = phi__openapi_body_property(b, name);
    phi__operation_parameter p;
    memset(&p, 0, sizeof p);
    p.place = PHI__OPERATION_QUERY;
    p.name = name;
    p.style = PHI__STYLE_FORM;
    p.explode = true;
    if (property != NULL && property->has_style) {
        p.style = property->style;
        p.explode = property->explode;
        p.allow_reserved = property->allow_reserved;
    } else if (phi_json_is_object(value) ||
               (property != NULL && phi__str_find(property->content_type, 0, "json") != SIZE_MAX))
        p.content_type = PHI__LIT("application/json");
    phi__styles_put_pairs(&b->text, &p, value);
}

static phi_status phi__openapi_body_form(phi__openapi_body *b) {
    phi_json_iter it = phi_json_each(b->value);
    phi_json *child;
    while ((child = phi_json_next(&it)) != NULL)
        if (!phi_json_is_null(child)) phi__openapi_body_pair(b, it.key, child);
    b->done = true;
    if (b->text.len > PHI__STYLES_MOST)
        return phi__openapi_request_refuse(b->r, "Error: '%s' is larger than %u bytes as a form",
                                           b->r->op->body.argument.at, (unsigned)PHI__STYLES_MOST);
    return phi__openapi_body_flush(b);
}

/* ---- multipart ---- */

/* As browsers write names: quotes and line breaks escaped. */
static void phi__openapi_body_quoted(phi__buf *out, phi_str text) {
    size_t i;
    phi__buf_char(out, '"');
    for (i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < 32 || c == '"' || c == 127)
            phi__buf_printf(out, "%%%02X", c);
        else
            phi__buf_char(out, (char)c);
    }
    phi__buf_char(out, '"');
}

static phi_str phi__openapi_body_filename(const phi_json *value, phi_str otherwise) {
    phi_str name = phi_json_str(phi_json_get(value, "filename"), NULL);
    phi_str path = phi_json_str(phi_json_get(value, "path"), NULL);
    size_t i;
    if (name.len > 0) return name;
    for (i = path.len; i > 0 && path.at[i - 1] != '/';) i--;
    return i < path.len ? phi__str(path.at + i, path.len - i) : otherwise;
}

static phi_str phi__openapi_body_part_type(const phi__openapi_body *b, const phi_json *value) {
    phi_str type = phi__str(NULL, 0);
    if (b->property != NULL && !b->property->has_style)
        type = phi__openapi_body_first_type(b->property->content_type);
    if (type.len > 0) return type;
    if (b->property != NULL && b->property->file) return PHI__LIT("application/octet-stream");
    return phi_json_is_object(value) || phi_json_is_array(value) ? PHI__LIT("application/json")
                                                                 : type;
}

static phi_status phi__openapi_body_part_headers(phi__openapi_body *b) {
    phi_json_iter it;
    phi_json *child;
    if (b->property == NULL || b->property->headers == NULL) return PHI_OK;
    it = phi_json_each(b->property->headers);
    while ((child = phi_json_next(&it)) != NULL) {
        phi_str value = phi_json_str(child, NULL);
        if (!phi__fetch_name_fits(it.key) || !phi__fetch_value_fits(value)) continue;
        phi__buf_add_str(&b->text, it.key);
        phi__buf_text(&b->text, ": ");
        phi__buf_add_str(&b->text, value);
        phi__buf_text(&b->text, "\r\n");
    }
    return PHI_OK;
}

static void phi__openapi_body_part_head(phi__openapi_body *b, const phi_json *value, bool file) {
    phi_str type = phi__openapi_body_part_type(b, value);
    phi__buf_printf(&b->text, "--%s\r\nContent-Disposition: form-data; name=", b->boundary);
    phi__openapi_body_quoted(&b->text, b->name);
    if (file) {
        phi__buf_text(&b->text, "; filename=");
        phi__openapi_body_quoted(&b->text, phi__openapi_body_filename(value, b->name));
    }
    phi__buf_text(&b->text, "\r\n");
    if (type.len > 0 && phi__fetch_value_fits(type)) {
        phi__buf_text(&b->text, "Content-Type: ");
        phi__buf_add_str(&b->text, type);
        phi__buf_text(&b->text, "\r\n");
    }
    (void)phi__openapi_body_part_headers(b);
    phi__buf_text(&b->text, "\r\n");
}

/* A part; PHI_BUSY: its file is to be read. */
static phi_status phi__openapi_body_part(phi__openapi_body *b, const phi_json *value) {
    const phi__operation_property *property = b->property;
    bool file = property != NULL && property->file;
    phi_status status;
    phi__openapi_body_part_head(b, value, file);
    if (file && phi__openapi_body_is_path(value)) {
        status = phi__openapi_body_flush(b);
        return status == PHI_OK ? phi__openapi_body_file_begin(b, value) : status;
    }
    if (file && property->base64 && phi_json_is_string(value)) {
        status = phi__openapi_body_base64(b, b->name, phi_json_str(value, NULL));
        if (status != PHI_OK) return status;
    } else
        phi__styles_put_value(&b->text, value, PHI__ESCAPE_NONE);
    phi__buf_text(&b->text, "\r\n");
    return PHI_OK;
}

/* The next value: items of arrays are parts of the same name. */
static const phi_json *phi__openapi_body_next(phi__openapi_body *b) {
    const phi_json *value;
    for (;;) {
        value = b->in_items ? phi_json_next(&b->items) : NULL;
        if (value == NULL) {
            b->in_items = false;
            value = phi_json_next(&b->members);
            if (value == NULL) return NULL;
            b->name = b->members.key;
            b->property = phi__openapi_body_property(b, b->name);
            if (phi_json_is_array(value)) {
                b->items = phi_json_each(value);
                b->in_items = true;
                continue;
            }
        }
        if (!phi_json_is_null(value)) return value;
    }
}

static phi_status phi__openapi_body_multipart(phi__openapi_body *b) {
    const phi_json *value = phi__openapi_body_next(b);
    if (value != NULL) {
        phi_status status = phi__openapi_body_part(b, value);
        return status == PHI_OK ? PHI_BUSY : status;
    }
    phi__buf_printf(&b->text, "--%s--\r\n", b->boundary);
    b->done = true;
    return phi__openapi_body_flush(b);
}

static phi_status phi__openapi_body_boundary(phi__openapi_body *b) {
    phi_str type = b->r->op->body.content_type;
    unsigned char random[16];
    char whole[200];
    size_t i;
    phi__cap_random(phi__call_find(b->call), random);
    (void)memcpy(b->boundary, "phi-", 5);
    for (i = 0; i < 12; i++) (void)snprintf(b->boundary + 4 + 2 * i, 3, "%02x", random[i]);
    (void)snprintf(whole, sizeof whole, "%.*s; boundary=%s", (int)phi__min(type.len, 100), type.at,
                   b->boundary);
    return phi__openapi_body_type(b, phi_str_of(whole));
}

/* ---- the kinds ---- */

static phi_status phi__openapi_body_plain(phi__openapi_body *b) {
    const phi__operation_body *body = &b->r->op->body;
    phi_status status = PHI_OK;
    if (body->kind == PHI__BODY_JSON) {
        status = phi__json_write(&b->text, b->value, 0);
    } else if (body->kind == PHI__BODY_TEXT) {
        phi__styles_put_value(&b->text, b->value, PHI__ESCAPE_NONE);
    } else if (phi__openapi_body_is_path(b->value)) {
        b->done = true;
        return phi__openapi_body_file_begin(b, b->value);
    } else
        status = phi__openapi_body_base64(b, body->argument, phi_json_str(b->value, NULL));
    b->done = true;
    return status == PHI_OK ? phi__openapi_body_flush(b) : status;
}

static phi_status phi__openapi_body_expect(phi__openapi_body *b) {
    const phi__operation_body *body = &b->r->op->body;
    bool form = body->kind == PHI__BODY_FORM || body->kind == PHI__BODY_MULTIPART;
    if (!form || phi_json_is_object(b->value)) return PHI_OK;
    return phi__openapi_request_refuse(b->r, "Error: Expected object in '%s', got %s",
                                       body->argument.at, phi_json_type_name(b->value));
}

/* ---- for the call ---- */

PHI__FN void phi__openapi_body_begin(phi__openapi_body *b, phi__openapi_request *r, phi_call call) {
    memset(b, 0, sizeof *b);
    b->r = r;
    b->call = call;
    phi__buf_init(&b->text, r->memory);
}

static phi_status phi__openapi_body_start(phi__openapi_body *b) {
    const phi__operation_body *body = &b->r->op->body;
    phi_status status;
    b->done = body->kind == PHI__BODY_NONE;
    if (b->done) return PHI_OK;
    b->value = phi__openapi_request_argument(b->r, body->argument);
    /* null is a body of its own where the argument is there */
    if (b->value == NULL && body->kind == PHI__BODY_JSON)
        b->value = phi_json_get_n(b->r->arguments, body->argument);
    b->done = b->value == NULL;
    if (b->done && body->required)
        return phi__openapi_request_refuse(b->r, "Error: Missing required request body '%s'",
                                           body->argument.at);
    if (b->done) return PHI_OK;
    status = phi__openapi_body_expect(b);
    if (status != PHI_OK) return status;
    b->members = phi_json_each(b->value);
    status = body->kind == PHI__BODY_MULTIPART ? phi__openapi_body_boundary(b)
                                               : phi__openapi_body_type(b, body->content_type);
    return status == PHI_OK ? PHI_BUSY : status;
}

PHI__FN phi_status phi__openapi_body_advance(phi__openapi_body *b) {
    phi_status status;
    if (phi__openapi_body_in_file(b)) {
        status = phi__openapi_body_file_more(b);
        if (status != PHI_OK || b->done) return status;
        phi__buf_text(&b->text, "\r\n");
        return PHI_BUSY;
    }
    if (b->done) return PHI_OK;
    if (b->value == NULL) return phi__openapi_body_start(b);
    switch (b->r->op->body.kind) {
    case PHI__BODY_FORM: return phi__openapi_body_form(b);
    case PHI__BODY_MULTIPART: return phi__openapi_body_multipart(b);
    default: return phi__openapi_body_plain(b);
    }
}

PHI__FN void phi__openapi_body_free(phi__openapi_body *b) {
    phi__openapi_file *file;
    if (b->r == NULL) return;
    phi__openapi_body_file_close(b);
    for (file = b->files; file != NULL; file = file->older)
        phi__free(b->r->memory, file->at, file->len + 1);
    b->files = NULL;
    phi__buf_free(&b->text);
}

#endif

/* ---- src/openapi/openapi_call.c ---- */

/* openapi_call.c - a call of an operation: its arguments are made into a request, a token is waited
   for where one is needed, the answer becomes the result.

   A timer drives the work in slices (files for the body); the fetch and the token drive the
   rest. A call ends once: by its result, or by cancel. */


#include <stdarg.h>
#include <stdio.h>

#ifndef PHI_NO_OPENAPI

enum { PHI__OPENAPI_CALL_SLICES = 4 }; /* of the body's work, in one go */

typedef struct phi__openapi_call {
    phi_call call;
    const phi__operation *op;
    phi_memory *memory; /* the agent's */
    phi_arena arena;
    phi_json *arguments;
    phi__openapi_request request;
    phi__openapi_body body;
    phi__openapi_auth auth;
    phi__openapi_answer answer;
    phi__timer timer;
    phi__fetch *fetch;
    bool sent; /* the URL has its query, and the headers their cookies */
    bool ended;
    phi_str url;
} phi__openapi_call;

/* ---- its end ---- */

static void phi__openapi_call_end(phi__openapi_call *c) {
    if (c->ended) return;
    c->ended = true;
    phi__io_timer_clear(c->op->api->rt->io, &c->timer);
    phi__fetch_close(c->fetch);
    c->fetch = NULL;
    phi__openapi_token_leave(&c->auth.wait);
    phi__openapi_answer_free(&c->answer);
    phi__openapi_body_free(&c->body);
    phi__openapi_request_free(&c->request);
    if (c->url.len > 0)
        memset((char *)(uintptr_t)c->url.at, 0, c->url.len); /* a key may be in it */
    c->url.len = 0;
    phi_arena_free(&c->arena);
    c->op->api->calls_open--;
}

static void phi__openapi_call_give(phi__openapi_call *c, const phi_content *content, size_t count,
                                   const char *details, bool is_error) {
    phi_tool_result result;
    memset(&result, 0, sizeof result);
    result.content = content;
    result.content_count = count;
    result.details = details;
    result.is_error = is_error;
    (void)phi_call_result(c->call, &result);
    phi__openapi_call_end(c);
}

static void phi__openapi_call_fail(phi__openapi_call *c, const char *words) {
    phi_content content;
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(words);
    phi__openapi_call_give(c, &content, 1, NULL, true);
}

/* What a part of the request could not do. */
static void phi__openapi_call_refuse(phi__openapi_call *c, phi_status status) {
    phi__openapi_call_fail(c, status == PHI_NO_MEMORY ? "Out of memory" : c->request.message);
}

static void phi__openapi_call_failed(phi__openapi_call *c, const char *message) {
    char words[500];
    (void)snprintf(words, sizeof words, "Error: HTTP request failed: %s", message);
    phi__openapi_call_fail(c, words);
}

/* ---- the result ---- */

static void phi__openapi_call_details(phi__openapi_call *c, phi__buf *out) {
    phi__buf_printf(out, "{\"status\":%d,\"method\":", c->answer.http_status);
    phi__json_write_str(out, c->op->method);
    phi__buf_text(out, ",\"url\":");
    phi__json_write_str(out, phi__buf_str(&c->request.url));
    phi__buf_char(out, '}');
    phi__buf_char(out, '\0');
}

static void phi__openapi_call_line(phi__openapi_call *c, phi__buf *out) {
    const char *reason = phi__openapi_answer_reason(c->answer.http_status);
    phi__buf_add_str(out, c->op->method);
    phi__buf_char(out, ' ');
    phi__buf_add_str(out, phi__buf_str(&c->request.url));
    phi__buf_printf(out, " \xE2\x86\x92 %d%s%s\n\n", c->answer.http_status,
                    reason[0] != '\0' ? " " : "", reason);
}

static void phi__openapi_call_result(phi__openapi_call *c) {
    phi__buf text, image, details;
    phi_content content[2];
    memset(content, 0, sizeof content);
    phi__buf_init(&text, c->memory);
    phi__buf_init(&image, c->memory);
    phi__buf_init(&details, c->memory);
    phi__openapi_call_line(c, &text);
    phi__openapi_call_details(c, &details);
    if (phi__openapi_answer_finish(&c->answer, &text, &image) != PHI_OK || details.failed) {
        phi__openapi_call_fail(c, "Out of memory");
    } else {
        content[0].kind = PHI_CONTENT_TEXT;
        content[0].text = phi__buf_str(&text);
        content[1].kind = PHI_CONTENT_IMAGE;
        content[1].data = phi__buf_str(&image);
        content[1].mime_type = phi_str_of(c->answer.type);
        phi__openapi_call_give(c, content, image.len > 0 ? 2 : 1, details.at, false);
    }
    phi__buf_free(&text);
    phi__buf_free(&image);
    phi__buf_free(&details);
}

/* ---- the request under way ---- */

static void phi__openapi_call_authorize(phi__openapi_call *c);

static void phi__openapi_call_head(void *user_data, int http_status, phi_str headers) {
    phi__openapi_call *c = (phi__openapi_call *)user_data;
    if (!phi__openapi_auth_again(&c->auth, http_status)) {
        phi__openapi_answer_head(&c->answer, http_status, headers);
        return;
    }
    phi__fetch_close(c->fetch);
    c->fetch = NULL;
    phi__openapi_call_authorize(c);
}

static size_t phi__openapi_call_body(void *user_data, phi_str bytes) {
    phi__openapi_call *c = (phi__openapi_call *)user_data;
    if (phi__openapi_answer_body(&c->answer, bytes)) return bytes.len;
    phi__fetch_close(c->fetch);
    c->fetch = NULL;
    phi__openapi_call_result(c);
    return bytes.len;
}

static void phi__openapi_call_over(void *user_data, phi_status status, const char *message) {
    phi__openapi_call *c = (phi__openapi_call *)user_data;
    c->fetch = NULL;
    if (status == PHI_OK)
        phi__openapi_call_result(c);
    else if (status == PHI_NO_MEMORY)
        phi__openapi_call_fail(c, "Out of memory");
    else
        phi__openapi_call_failed(c, message);
}

/* ---- sending ---- */

/* The whole URL, and the cookies: a host's own before those of arguments. */
static phi_status phi__openapi_call_complete(phi__openapi_call *c) {
    phi__openapi_request *r = &c->request;
    phi_status status = PHI_OK;
    phi__buf whole;
    size_t i;
    if (c->sent) return PHI_OK;
    c->sent = true;
    phi__buf_init(&whole, c->memory);
    phi__buf_add_str(&whole, phi__buf_str(&r->url));
    if (r->query.len > 0) {
        phi__buf_char(&whole, phi__str_find(phi__buf_str(&r->url), 0, "?") == SIZE_MAX ? '?' : '&');
        phi__buf_add_str(&whole, phi__buf_str(&r->query));
    }
    if (whole.failed || !phi__arena_str(&c->arena, phi__buf_str(&whole), &c->url))
        status = PHI_NO_MEMORY;
    if (r->cookie.len > 0 && status == PHI_OK) {
        phi__buf_clear(&whole);
        for (i = 0; i < r->count; i++)
            if (phi__str_is_nocase(r->headers[i].name, "Cookie")) {
                phi__buf_add_str(&whole, r->headers[i].value);
                phi__buf_text(&whole, "; ");
            }
        phi__buf_add_str(&whole, phi__buf_str(&r->cookie));
        status = whole.failed
                     ? PHI_NO_MEMORY
                     : phi__openapi_request_add(r, PHI__LIT("Cookie"), phi__buf_str(&whole), true);
    }
    phi__buf_free(&whole);
    return status;
}

static void phi__openapi_call_send(phi__openapi_call *c) {
    const phi_openapi_desc *of = &c->op->api->desc;
    phi_runtime *rt = c->op->api->rt;
    const char *words = NULL;
    phi__fetch_desc desc;
    phi_status status = phi__openapi_call_complete(c);
    memset(&desc, 0, sizeof desc);
    desc.memory = c->memory;
    desc.method = c->op->method;
    desc.url = c->url;
    desc.headers = c->request.headers;
    desc.header_count = c->request.count;
    desc.pieces = c->body.pieces;
    desc.piece_count = c->body.count;
    desc.deadlines.first_event_ms = desc.deadlines.idle_ms = of->timeout_ms;
    desc.deadlines.total_ms = of->timeout_ms;
    desc.on_head = phi__openapi_call_head;
    desc.on_body = phi__openapi_call_body;
    desc.on_end = phi__openapi_call_over;
    desc.user_data = c;
    if (status == PHI_OK) status = phi__fetch_open(rt, &desc, &c->fetch);
    if (status == PHI_OK) return;
    (void)phi__error_last(rt, &words, NULL);
    if (status == PHI_NO_MEMORY)
        phi__openapi_call_fail(c, "Out of memory");
    else
        phi__openapi_call_failed(c, words);
}

static void phi__openapi_call_token_done(phi__openapi_wait *wait, phi_status status,
                                         const char *message) {
    phi__openapi_auth *auth = PHI__OWNER(wait, phi__openapi_auth, wait);
    phi__openapi_call *c = PHI__OWNER(auth, phi__openapi_call, auth);
    if (status == PHI_OK)
        phi__openapi_call_authorize(c);
    else if (status == PHI_NO_MEMORY)
        phi__openapi_call_fail(c, "Out of memory");
    else
        phi__openapi_call_failed(c, message);
}

static void phi__openapi_call_authorize(phi__openapi_call *c) {
    phi_status status;
    c->auth.wait.done = phi__openapi_call_token_done;
    status = phi__openapi_auth_token(&c->auth);
    if (status == PHI_BUSY) return;
    if (status == PHI_OK)
        phi__openapi_call_send(c);
    else
        phi__openapi_call_refuse(c, status);
}

/* ---- building ---- */

static void phi__openapi_call_go(phi__openapi_call *c) {
    phi__io *io = c->op->api->rt->io;
    phi_status status = PHI_BUSY;
    int slices;
    for (slices = 0; slices < PHI__OPENAPI_CALL_SLICES && status == PHI_BUSY; slices++)
        status = phi__openapi_body_advance(&c->body);
    if (status == PHI_BUSY)
        status = phi__io_timer_set(io, &c->timer, phi__io_now_us(io));
    else {
        if (status == PHI_OK) status = phi__openapi_auth_begin(&c->auth, &c->request);
        if (status == PHI_OK) {
            phi__openapi_answer_init(&c->answer, c->memory, c->op, c->call, &c->auth.secrets);
            phi__openapi_call_authorize(c);
            return;
        }
    }
    if (status != PHI_OK) phi__openapi_call_refuse(c, status);
}

static void phi__openapi_call_timer(phi__timer *timer) {
    phi__openapi_call_go(PHI__OWNER(timer, phi__openapi_call, timer));
}

static void phi__openapi_call_gone(void *state) {
    phi__openapi_call *c = (phi__openapi_call *)state;
    if (c->op != NULL) phi__openapi_call_end(c);
}

/* False: the call is over. */
static bool phi__openapi_call_read(phi__openapi_call *c, phi_str arguments) {
    char words[200];
    phi_parse_error error;
    phi_status status;
    if (phi__str_trim(arguments).len == 0) arguments = PHI__LIT("{}");
    status = phi_json_parse(&c->arena, arguments, PHI_JSON_REPLACE_BAD_UTF8, &c->arguments, &error);
    if (status == PHI_OK && phi_json_is_null(c->arguments))
        c->arguments = phi_json_new_object(&c->arena);
    if (status == PHI_NO_MEMORY || (status == PHI_OK && c->arguments == NULL)) {
        phi__openapi_call_fail(c, "Out of memory");
        return false;
    }
    if (status == PHI_OK && phi_json_is_object(c->arguments)) return true;
    (void)snprintf(words, sizeof words, "Error: Expected object parameters, got %s",
                   status == PHI_OK ? phi_json_type_name(c->arguments) : "text that is not JSON");
    phi__openapi_call_fail(c, words);
    return false;
}

static phi_flow phi__openapi_call_start(void *user_data, phi_call call, phi_str arguments) {
    static const char foreign[] = "Error: This tool belongs to a document of another runtime";
    phi__openapi_call *c = (phi__openapi_call *)phi_call_state(call, sizeof *c);
    const phi__toolcall *toolcall = phi__call_find(call);
    phi_status status;
    if (call.rt != ((const phi__operation *)user_data)->api->rt) {
        (void)phi_call_finish(call, foreign, sizeof foreign - 1, true);
        return PHI_DONE;
    }
    if (c == NULL || toolcall == NULL) {
        (void)phi_call_finish(call, "Out of memory", 13, true);
        return PHI_DONE;
    }
    c->call = call;
    c->op = (const phi__operation *)user_data;
    c->memory = &toolcall->run->agent->memory;
    c->timer.fire = phi__openapi_call_timer;
    c->op->api->calls_open++;
    phi_arena_init(&c->arena, c->memory, 1024);
    phi__call_on_gone(call, phi__openapi_call_gone);
    if (!phi__openapi_call_read(c, arguments)) return PHI_PENDING;
    phi__openapi_request_init(&c->request, &c->arena, c->memory, c->op, c->arguments);
    status = phi__openapi_request_build(&c->request);
    if (status != PHI_OK) {
        phi__openapi_call_refuse(c, status);
        return PHI_PENDING;
    }
    phi__openapi_body_begin(&c->body, &c->request, c->call);
    phi__openapi_call_go(c);
    return PHI_PENDING; /* or it has its result */
}

static void phi__openapi_call_cancel(void *user_data, phi_call call) {
    phi__openapi_call *c = (phi__openapi_call *)phi_call_state(call, 0);
    (void)user_data;
    if (c != NULL && c->op != NULL) phi__openapi_call_end(c);
}

/* After a snapshot: a request that only reads is made again; another one may have been served. */
static phi_flow phi__openapi_call_resume(void *user_data, phi_call call, phi_str arguments) {
    static const char words[] = "Interrupted: the program was started anew while this request was "
                                "under way; whether the server has served it is not known";
    if (((const phi__operation *)user_data)->read_only)
        return phi__openapi_call_start(user_data, call, arguments);
    (void)phi_call_finish(call, words, sizeof words - 1, true);
    return PHI_DONE;
}

/* ---- for the document's side ---- */

/* Long enough for a token, the request, a new token and the request again. */
static uint32_t phi__openapi_call_timeout(uint32_t ms) {
    return ms > UINT32_MAX / 8 ? PHI_UNLIMITED : ms * 4 + 5000;
}

PHI__FN void phi__openapi_call_fill(phi_tool *tool) {
    const phi__operation *op = (const phi__operation *)tool->user_data;
    tool->start = phi__openapi_call_start;
    tool->cancel = phi__openapi_call_cancel;
    tool->resume = phi__openapi_call_resume;
    tool->timeout_ms = phi__openapi_call_timeout(op->api->desc.timeout_ms);
}

PHI__FN void phi__openapi_call_free(phi_openapi *api) { phi__openapi_token_free_all(api); }

#endif

/* ---- src/openapi/openapi_request.c ---- */

/* openapi_request.c - from arguments to a URL and headers. */


#include <stdarg.h>
#include <stdio.h>

#ifndef PHI_NO_OPENAPI

enum { PHI__OPENAPI_REQUEST_MOST = 1 << 20 }; /* bytes of a URL, of a query, of the cookies */

PHI__FN void phi__openapi_request_init(phi__openapi_request *r, phi_arena *arena,
                                       phi_memory *memory, const phi__operation *op,
                                       const phi_json *arguments) {
    memset(r, 0, sizeof *r);
    r->arena = arena;
    r->memory = memory;
    r->op = op;
    r->arguments = arguments;
    phi__buf_init(&r->url, memory);
    phi__buf_init(&r->query, memory);
    phi__buf_init(&r->cookie, memory);
}

/* Keys are not left in memory that somebody else gets. */
static void phi__openapi_request_wipe(phi_str text) {
    if (text.len > 0) memset((char *)(uintptr_t)text.at, 0, text.len);
}

PHI__FN void phi__openapi_request_free(phi__openapi_request *r) {
    size_t i;
    if (r->memory == NULL) return;
    for (i = 0; i < r->count; i++) phi__openapi_request_wipe(r->headers[i].value);
    r->count = 0;
    phi__openapi_request_wipe(phi__buf_str(&r->query));
    phi__openapi_request_wipe(phi__buf_str(&r->cookie));
    phi__buf_free(&r->url);
    phi__buf_free(&r->query);
    phi__buf_free(&r->cookie);
}

PHI__FN phi_status phi__openapi_request_refuse(phi__openapi_request *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(r->message, sizeof r->message, format, args);
    va_end(args);
    return PHI_BAD_ARG;
}

PHI__FN const phi_json *phi__openapi_request_argument(const phi__openapi_request *r, phi_str name) {
    const phi_json *value = phi_json_get_n(r->arguments, name);
    return phi_json_is_null(value) ? NULL : value;
}

/* ---- headers ---- */

static phi__header *phi__openapi_request_find(const phi__openapi_request *r, const char *name) {
    size_t i;
    for (i = 0; i < r->count; i++)
        if (phi__str_is_nocase(r->headers[i].name, name)) return &r->headers[i];
    return NULL;
}

static phi__header *phi__openapi_request_room(phi__openapi_request *r) {
    size_t cap = r->cap > 0 ? r->cap * 2 : 8;
    phi__header *grown;
    if (r->count < r->cap) return &r->headers[r->count++];
    grown = (phi__header *)phi_arena_alloc(r->arena, phi__mul(cap, sizeof *grown));
    if (grown == NULL) return NULL;
    if (r->count > 0) memcpy(grown, r->headers, r->count * sizeof *grown);
    r->headers = grown;
    r->cap = cap;
    return &r->headers[r->count++];
}

PHI__FN phi_status phi__openapi_request_add(phi__openapi_request *r, phi_str name, phi_str value,
                                            bool replaces) {
    phi_str own, text;
    phi__header *header;
    if (!phi__arena_str(r->arena, name, &own) || !phi__arena_str(r->arena, value, &text))
        return PHI_NO_MEMORY;
    header = phi__openapi_request_find(r, own.at);
    if (header != NULL && !replaces) return PHI_OK;
    if (header != NULL)
        phi__openapi_request_wipe(header->value);
    else
        header = phi__openapi_request_room(r);
    if (header == NULL) return PHI_NO_MEMORY;
    header->name = own;
    header->value = text;
    return PHI_OK;
}

static phi_status phi__openapi_request_own_headers(phi__openapi_request *r) {
    const phi_openapi_desc *desc = &r->op->api->desc;
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; i < desc->header_count && status == PHI_OK; i++)
        status = phi__openapi_request_add(r, phi_str_of(desc->headers[i].name),
                                          phi_str_of(desc->headers[i].value), true);
    return status;
}

/* OpenAPI's document says that these are described elsewhere; the others frame the request, or its
   answer: none that is compressed is read. */
static bool phi__openapi_request_ignores(phi_str name) {
    static const char *const names[] = {"Accept",     "Content-Type",     "Authorization",
                                        "Host",       "Content-Length",   "Transfer-Encoding",
                                        "Connection", "Expect",           "Upgrade",
                                        "TE",         "Trailer",          "Proxy-Authorization",
                                        "Cookie",     "Content-Encoding", "Accept-Encoding"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is_nocase(name, names[i])) return true;
    return false;
}

static phi_status phi__openapi_request_header(phi__openapi_request *r,
                                              const phi__operation_parameter *p,
                                              const phi_json *value) {
    phi_status status = PHI_OK;
    phi__buf text;
    if (phi__openapi_request_ignores(p->name)) return PHI_OK;
    phi__buf_init(&text, r->memory);
    phi__styles_put_header(&text, p, value);
    if (text.failed)
        status = PHI_NO_MEMORY;
    else if (!phi__fetch_name_fits(p->name) || !phi__fetch_value_fits(phi__buf_str(&text)))
        status = phi__openapi_request_refuse(
            r, "Error: Header parameter '%s' cannot hold control characters", p->argument.at);
    else
        status = phi__openapi_request_add(r, p->name, phi__buf_str(&text), false);
    phi__buf_free(&text);
    return status;
}

/* ---- the base ---- */

static size_t phi__openapi_request_origin(phi_str url) {
    size_t host = phi__str_find(url, 0, "://"), end;
    if (host == SIZE_MAX) return 0;
    for (end = host + 3; end < url.len && strchr("/?#", url.at[end]) == NULL;) end++;
    return end;
}

/* The directory of a URL's path, without the slash at its end. */
static size_t phi__openapi_request_directory(phi_str url) {
    size_t origin = phi__openapi_request_origin(url), end = origin, at = origin;
    while (end < url.len && url.at[end] != '?' && url.at[end] != '#') end++;
    for (; at < end; end--)
        if (url.at[end - 1] == '/') return end - 1;
    return origin;
}

/* A relative server, against the URL that the document came from (RFC 3986 5.2). */
static bool phi__openapi_request_relative(phi__openapi_request *r, phi_str server) {
    phi_str url = r->op->api->url;
    size_t origin = phi__openapi_request_origin(url);
    if (origin == 0) return false;
    if (phi__str_starts(server, "//"))
        phi__buf_add(&r->url, url.at, phi__str_find(url, 0, "://") + 1);
    else if (server.len > 0 && server.at[0] == '/')
        phi__buf_add(&r->url, url.at, origin);
    else {
        phi__buf_add(&r->url, url.at, phi__openapi_request_directory(url));
        if (phi__str_starts(server, "./")) server = phi__str(server.at + 2, server.len - 2);
        if (server.len > 0) phi__buf_char(&r->url, '/');
    }
    phi__buf_add_str(&r->url, server);
    return true;
}

static phi_status phi__openapi_request_base(phi__openapi_request *r) {
    const char *given = r->op->api->desc.base_url;
    phi_str server = given != NULL && given[0] != '\0' ? phi_str_of(given) : r->op->server;
    if (phi__str_find(server, 0, "?") != SIZE_MAX || phi__str_find(server, 0, "#") != SIZE_MAX)
        return phi__openapi_request_refuse(r, "Error: The server's URL has a query or a fragment");
    if (phi__str_starts(server, "http://") || phi__str_starts(server, "https://"))
        phi__buf_add_str(&r->url, server);
    else if (phi__str_find(server, 0, "://") != SIZE_MAX)
        return phi__openapi_request_refuse(r, "Error: The server's URL is not http or https");
    else if (!phi__openapi_request_relative(r, server))
        return phi__openapi_request_refuse(
            r, "Error: No base URL: the document names no server, or a relative one");
    if (r->url.failed) return PHI_NO_MEMORY;
    while (r->url.len > 0 && r->url.at[r->url.len - 1] == '/') r->url.len--;
    /* results show the URL */
    server = phi__str(r->url.at, phi__openapi_request_origin(phi__buf_str(&r->url)));
    if (phi__str_find(server, 0, "@") != SIZE_MAX)
        return phi__openapi_request_refuse(
            r, "Error: The server's URL has a user: set up user and password instead");
    return PHI_OK;
}

/* ---- the path ---- */

static const phi__operation_parameter *
phi__openapi_request_path_parameter(const phi__openapi_request *r, phi_str name) {
    size_t i;
    for (i = 0; i < r->op->parameter_count; i++) {
        const phi__operation_parameter *p = &r->op->parameters[i];
        if (p->place == PHI__OPERATION_PATH && p->name.len == name.len &&
            memcmp(p->name.at, name.at, name.len) == 0)
            return p;
    }
    return NULL;
}

static phi_status phi__openapi_request_substitute(phi__openapi_request *r, phi_str name) {
    const phi__operation_parameter *p = phi__openapi_request_path_parameter(r, name);
    const phi_json *value = p != NULL ? phi__openapi_request_argument(r, p->argument) : NULL;
    size_t before = r->url.len;
    if (value == NULL)
        return phi__openapi_request_refuse(r,
                                           "Error: Missing required path parameter '%.*s' for %s",
                                           (int)phi__min(name.len, 80), name.at, r->op->path.at);
    phi__styles_put_path(&r->url, p, value);
    if (!r->url.failed && r->url.len == before)
        return phi__openapi_request_refuse(r, "Error: Path parameter '%.*s' is empty",
                                           (int)phi__min(name.len, 80), name.at);
    return PHI_OK;
}

/* Segments "." and ".." would be taken out of the path on its way, with the segment before. */
static phi_status phi__openapi_request_check_dots(phi__openapi_request *r, size_t from) {
    size_t i, start = from;
    for (i = from; i <= r->url.len; i++) {
        const char *at = r->url.at + start;
        if (i < r->url.len && r->url.at[i] != '/') continue;
        if ((i - start == 1 && at[0] == '.') || (i - start == 2 && memcmp(at, "..", 2) == 0))
            return phi__openapi_request_refuse(
                r, "Error: A path parameter makes a segment '%.*s' of %s", (int)(i - start), at,
                r->op->path.at);
        start = i + 1;
    }
    return PHI_OK;
}

/* Characters of a template that may not stand in a URL are escaped; escapes stay. */
static void phi__openapi_request_literal(phi__buf *out, phi_str text) {
    size_t i;
    for (i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c <= 32 || c >= 127 || strchr("\"<>\\^`{|}", c) != NULL)
            phi__buf_printf(out, "%%%02X", (unsigned)c);
        else
            phi__buf_char(out, (char)c);
    }
}

/* What stands behind a "#" tells operations of a document apart; a server does not get it. */
static void phi__openapi_request_no_fragment(phi__openapi_request *r) {
    size_t hash = phi__str_find(phi__buf_str(&r->url), 0, "#");
    if (hash != SIZE_MAX) r->url.len = hash;
}

static phi_status phi__openapi_request_path(phi__openapi_request *r) {
    phi_str path = r->op->path;
    size_t from = r->url.len, at = 0;
    phi_status status = PHI_OK;
    /* a value must not become a part of the host */
    if (path.len == 0 || path.at[0] != '/') phi__buf_char(&r->url, '/');
    while (at < path.len && status == PHI_OK) {
        size_t open = phi__str_find(path, at, "{");
        size_t close = open != SIZE_MAX ? phi__str_find(path, open, "}") : SIZE_MAX;
        size_t end = close != SIZE_MAX ? open : path.len;
        phi__openapi_request_literal(&r->url, phi__str(path.at + at, end - at));
        at = end;
        if (close == SIZE_MAX) break;
        status = phi__openapi_request_substitute(r, phi__str(path.at + open + 1, close - open - 1));
        at = close + 1;
    }
    if (r->url.failed) return status; /* too large, or no memory */
    phi__openapi_request_no_fragment(r);
    return status == PHI_OK ? phi__openapi_request_check_dots(r, from) : status;
}

/* ---- all of it ---- */

static phi_status phi__openapi_request_parameter(phi__openapi_request *r,
                                                 const phi__operation_parameter *p) {
    const phi_json *value = phi__openapi_request_argument(r, p->argument);
    if (value == NULL) return PHI_OK;
    if (p->place == PHI__OPERATION_HEADER) return phi__openapi_request_header(r, p, value);
    if (p->place == PHI__OPERATION_QUERY) phi__styles_put_pairs(&r->query, p, value);
    if (p->place == PHI__OPERATION_COOKIE) phi__styles_put_pairs(&r->cookie, p, value);
    return PHI_OK;
}

/* Servers take some kilobytes. */
static phi_status phi__openapi_request_check_size(phi__openapi_request *r) {
    size_t most = phi__max(r->url.len, phi__max(r->query.len, r->cookie.len));
    if (most > PHI__OPENAPI_REQUEST_MOST)
        return phi__openapi_request_refuse(
            r, "Error: The arguments are too long for a URL or a header: at most %u bytes",
            (unsigned)PHI__OPENAPI_REQUEST_MOST);
    return r->url.failed || r->query.failed || r->cookie.failed ? PHI_NO_MEMORY : PHI_OK;
}

PHI__FN phi_status phi__openapi_request_build(phi__openapi_request *r) {
    size_t i;
    phi_status status = phi__openapi_request_base(r);
    if (status == PHI_OK) status = phi__openapi_request_path(r);
    if (status == PHI_OK) status = phi__openapi_request_check_size(r);
    if (status == PHI_OK) status = phi__openapi_request_own_headers(r);
    for (i = 0; i < r->op->parameter_count && status == PHI_OK; i++)
        status = phi__openapi_request_parameter(r, &r->op->parameters[i]);
    if (status == PHI_OK) status = phi__openapi_request_check_size(r);
    return status;
}

#endif

/* ---- src/openapi/openapi_token.c ---- */

/* openapi_token.c - access tokens, requested and kept. */


#include <stdio.h>

#ifndef PHI_NO_OPENAPI

enum {
    PHI__OPENAPI_TOKEN_BYTES = 65536, /* of a token server's answer */
    PHI__OPENAPI_TOKEN_EARLY_S = 30,  /* before it expires it counts as expired */
    PHI__OPENAPI_TOKEN_WORDS = 300
};

struct phi__openapi_calls {
    phi__list tokens;
};

struct phi__openapi_token {
    phi_openapi *api;
    phi__link link;      /* of the object's tokens */
    phi__buf url, scope; /* scope: joined by spaces */
    phi__buf text, answer;
    bool valid;
    uint64_t until_us;
    phi__fetch *fetch; /* NULL: it is not requested */
    int http_status;
    phi__list waiting;
};

/* ---- tokens ---- */

static bool phi__openapi_token_same(const phi__buf *buf, phi_str text) {
    return buf->len == text.len && (text.len == 0 || memcmp(buf->at, text.at, text.len) == 0);
}

static void phi__openapi_token_forget(phi__openapi_token *t) {
    if (t->text.at != NULL) memset(t->text.at, 0, t->text.cap);
    if (t->answer.at != NULL) memset(t->answer.at, 0, t->answer.cap);
    phi__buf_clear(&t->text);
    phi__buf_clear(&t->answer);
    t->valid = false;
}

static void phi__openapi_token_free(phi__openapi_token *t) {
    phi__fetch_close(t->fetch);
    phi__openapi_token_forget(t);
    phi__buf_free(&t->url);
    phi__buf_free(&t->scope);
    phi__buf_free(&t->text);
    phi__buf_free(&t->answer);
    phi__free(&t->api->memory, t, sizeof *t);
}

static phi__openapi_token *phi__openapi_token_make(phi_openapi *api, phi_str url, phi_str scope) {
    phi__openapi_token *t = (phi__openapi_token *)phi__alloc(&api->memory, sizeof *t);
    if (t == NULL) return NULL;
    t->api = api;
    phi__buf_init(&t->url, &api->memory);
    phi__buf_init(&t->scope, &api->memory);
    phi__buf_init(&t->text, &api->memory);
    phi__buf_init(&t->answer, &api->memory);
    phi__buf_add_str(&t->url, url);
    phi__buf_add_str(&t->scope, scope);
    if (t->url.failed || t->scope.failed) {
        phi__openapi_token_free(t);
        return NULL;
    }
    phi__list_push(&api->calls->tokens, &t->link);
    return t;
}

static phi__openapi_token *phi__openapi_token_find(phi_openapi *api, phi_str url, phi_str scope) {
    phi__link *link;
    if (api->calls == NULL)
        api->calls = (struct phi__openapi_calls *)phi__alloc(&api->memory, sizeof *api->calls);
    if (api->calls == NULL) return NULL;
    for (link = api->calls->tokens.first; link != NULL; link = link->next) {
        phi__openapi_token *t = PHI__OWNER(link, phi__openapi_token, link);
        if (phi__openapi_token_same(&t->url, url) && phi__openapi_token_same(&t->scope, scope))
            return t;
    }
    return phi__openapi_token_make(api, url, scope);
}

/* ---- the answer ---- */

/* Of a number, or a text with one. */
static uint64_t phi__openapi_token_lifetime_s(phi_str answer) {
    phi_json_found found;
    int64_t n = 0;
    uint64_t u = 0;
    if (phi_json_find(answer, "expires_in", &found) != PHI_OK) return UINT64_MAX;
    if (found.type == PHI_JSON_STRING) return phi__str_to_u64(found.raw, &u) ? u : UINT64_MAX;
    return phi_json_found_int(&found, &n) && n >= 0 ? (uint64_t)n : UINT64_MAX;
}

static void phi__openapi_token_keep(phi__openapi_token *t, phi_str text) {
    uint64_t s = phi__openapi_token_lifetime_s(phi__buf_str(&t->answer));
    uint64_t early =
        s > 2 * PHI__OPENAPI_TOKEN_EARLY_S ? (uint64_t)PHI__OPENAPI_TOKEN_EARLY_S : s / 2;
    if (s == 0) s = 1; /* the calls that wait for it use it once */
    phi__buf_clear(&t->text);
    phi__buf_add_str(&t->text, text);
    t->valid = !t->text.failed;
    t->until_us =
        s > UINT32_MAX ? UINT64_MAX : phi__io_now_us(t->api->rt->io) + (s - early) * 1000000u;
}

/* Its words are the token server's: short, and without our secret. */
static void phi__openapi_token_explain(phi__openapi_token *t, phi_arena *arena, char *words,
                                       size_t size) {
    const phi_openapi_auth *auth = &t->api->desc.auth;
    phi_json_found found;
    phi__secrets secrets;
    phi_str code = phi__str("", 0);
    size_t n;
    if (phi_json_find(phi__buf_str(&t->answer), "error", &found) == PHI_OK)
        (void)phi_json_found_str(arena, &found, &code);
    (void)snprintf(words, size, "the token server answered %d%s%.*s", t->http_status,
                   code.len > 0 ? ": " : " without a token", (int)phi__min(code.len, 100), code.at);
    n = phi__words_clean_line(words, strlen(words));
    words[n] = '\0';
    phi__secret_init(&secrets, arena);
    phi__secret_add(&secrets, phi_str_of(auth->client_secret));
    if (secrets.failed) /* no memory to look for it */
        (void)snprintf(words, size, "the token server answered %d", t->http_status);
    else
        (void)phi__secret_hide(&secrets, words, n, PHI__SECRET_WORDS);
}

static void phi__openapi_token_done(phi__openapi_token *t, phi_status status, const char *words) {
    while (t->waiting.first != NULL) {
        phi__openapi_wait *wait = PHI__OWNER(t->waiting.first, phi__openapi_wait, link);
        phi__openapi_token_leave(wait);
        wait->done(wait, status, words);
    }
}

static void phi__openapi_token_end(void *user_data, phi_status status, const char *message) {
    phi__openapi_token *t = (phi__openapi_token *)user_data;
    char words[PHI__OPENAPI_TOKEN_WORDS];
    phi_json_found found;
    phi_arena arena;
    phi_str text;
    t->fetch = NULL;
    phi_arena_init(&arena, &t->api->memory, 256);
    (void)snprintf(words, sizeof words, "the token server: %s", message);
    if (status == PHI_OK && t->answer.failed) status = PHI_NO_MEMORY;
    if (status == PHI_OK) {
        if (t->http_status >= 200 && t->http_status < 300 &&
            phi_json_find(phi__buf_str(&t->answer), "access_token", &found) == PHI_OK &&
            phi_json_found_str(&arena, &found, &text) && text.len > 0)
            phi__openapi_token_keep(t, text);
        if (!t->valid) {
            status = PHI_REFUSED;
            phi__openapi_token_explain(t, &arena, words, sizeof words);
        }
    }
    phi_arena_free(&arena);
    if (t->answer.at != NULL) memset(t->answer.at, 0, t->answer.len);
    phi__buf_clear(&t->answer);
    phi__openapi_token_done(t, status, words);
}

static void phi__openapi_token_head(void *user_data, int http_status, phi_str headers) {
    (void)headers;
    ((phi__openapi_token *)user_data)->http_status = http_status;
}

static size_t phi__openapi_token_body(void *user_data, phi_str bytes) {
    phi__openapi_token *t = (phi__openapi_token *)user_data;
    phi__buf_add_str(&t->answer, bytes);
    return bytes.len;
}

/* ---- the request ---- */

/* "id:secret", each encoded as in a form, in base64: RFC 6749, 2.3.1. */
static void phi__openapi_token_basic(const phi_openapi_auth *auth, phi__buf *out) {
    phi__buf plain;
    phi__buf_init(&plain, out->memory);
    phi__styles_put_escaped(&plain, phi_str_of(auth->client_id), PHI__ESCAPE_ALL);
    phi__buf_char(&plain, ':');
    phi__styles_put_escaped(&plain, phi_str_of(auth->client_secret), PHI__ESCAPE_ALL);
    phi__buf_text(out, "Basic ");
    phi__base64_encode(out, plain.at, plain.len);
    if (plain.failed) out->failed = true;
    if (plain.at != NULL) memset(plain.at, 0, plain.len);
    phi__buf_free(&plain);
}

static phi_status phi__openapi_token_open(phi__openapi_token *t, phi_str basic, phi_str body) {
    const phi_openapi_desc *of = &t->api->desc;
    phi__header headers[3];
    phi__fetch_desc desc;
    headers[0].name = PHI__LIT("Authorization");
    headers[0].value = basic;
    headers[1].name = PHI__LIT("Content-Type");
    headers[1].value = PHI__LIT("application/x-www-form-urlencoded");
    headers[2].name = PHI__LIT("Accept");
    headers[2].value = PHI__LIT("application/json");
    memset(&desc, 0, sizeof desc);
    desc.memory = &t->api->memory;
    desc.method = PHI__LIT("POST");
    desc.url = phi__buf_str(&t->url);
    desc.headers = headers;
    desc.header_count = 3;
    desc.body = body;
    desc.deadlines.first_event_ms = desc.deadlines.total_ms = of->timeout_ms;
    desc.max_bytes = PHI__OPENAPI_TOKEN_BYTES;
    desc.on_head = phi__openapi_token_head;
    desc.on_body = phi__openapi_token_body;
    desc.on_end = phi__openapi_token_end;
    desc.user_data = t;
    return phi__fetch_open(t->api->rt, &desc, &t->fetch);
}

static phi_status phi__openapi_token_request(phi__openapi_token *t) {
    phi_status status = PHI_NO_MEMORY;
    phi__buf basic, body;
    phi__openapi_token_forget(t);
    phi__buf_init(&basic, &t->api->memory);
    phi__buf_init(&body, &t->api->memory);
    phi__openapi_token_basic(&t->api->desc.auth, &basic);
    phi__buf_text(&body, "grant_type=client_credentials");
    if (t->scope.len > 0) {
        phi__buf_text(&body, "&scope=");
        phi__styles_put_escaped(&body, phi__buf_str(&t->scope), PHI__ESCAPE_ALL);
    }
    if (!basic.failed && !body.failed)
        status = phi__openapi_token_open(t, phi__buf_str(&basic), phi__buf_str(&body));
    if (basic.at != NULL) memset(basic.at, 0, basic.len);
    phi__buf_free(&basic);
    phi__buf_free(&body);
    return status;
}

static bool phi__openapi_token_join(phi__buf *out, const phi_str *scopes, size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        if (i > 0) phi__buf_char(out, ' ');
        phi__buf_add_str(out, scopes[i]);
    }
    return !out->failed;
}

/* ---- for the call ---- */

PHI__FN phi_status phi__openapi_token_get(phi_openapi *api, phi_str url, const phi_str *scopes,
                                          size_t scope_count, phi__openapi_wait *wait,
                                          phi_str *out) {
    phi__openapi_token *t = NULL;
    phi_status status = PHI_OK;
    phi__buf scope;
    phi__buf_init(&scope, &api->memory);
    if (phi__openapi_token_join(&scope, scopes, scope_count))
        t = phi__openapi_token_find(api, url, phi__buf_str(&scope));
    phi__buf_free(&scope);
    if (t == NULL) return phi__error(api->rt, PHI_NO_MEMORY, "no memory for a token");
    if (t->valid && phi__io_now_us(api->rt->io) < t->until_us) {
        *out = phi__buf_str(&t->text);
        return PHI_OK;
    }
    if (t->fetch == NULL) status = phi__openapi_token_request(t);
    if (status != PHI_OK) return status;
    wait->token = t;
    phi__list_push(&t->waiting, &wait->link);
    return PHI_BUSY;
}

PHI__FN void phi__openapi_token_leave(phi__openapi_wait *wait) {
    if (wait->token == NULL) return;
    phi__list_take(&wait->token->waiting, &wait->link);
    wait->token = NULL;
}

PHI__FN void phi__openapi_token_refused(phi_openapi *api, phi_str text) {
    phi__link *link;
    if (api->calls == NULL) return;
    for (link = api->calls->tokens.first; link != NULL; link = link->next) {
        phi__openapi_token *t = PHI__OWNER(link, phi__openapi_token, link);
        if (t->valid && phi__openapi_token_same(&t->text, text)) phi__openapi_token_forget(t);
    }
}

PHI__FN void phi__openapi_token_free_all(phi_openapi *api) {
    phi__link *link, *next;
    if (api->calls == NULL) return;
    for (link = api->calls->tokens.first; link != NULL; link = next) {
        next = link->next;
        phi__openapi_token_free(PHI__OWNER(link, phi__openapi_token, link));
    }
    phi__free(&api->memory, api->calls, sizeof *api->calls);
    api->calls = NULL;
}

#endif

/* ---- src/openapi/parameters.c ---- */

/* parameters.c - the parameters of an operation: its own, those of its path, and those that its
   path template names and nobody declares. */

#ifndef PHI_NO_OPENAPI

#include <stdio.h>

enum {
    PHI__PARAMETERS_MOST = 4096,
    PHI__PARAMETERS_PATH = 8192,  /* bytes of a path; servers take less */
    PHI__PARAMETERS_ARGUMENT = 64 /* bytes of a key; Anthropic, November 2026 */
};

static const char *const phi__parameters_places[] = {"path", "query", "header", "cookie"};

PHI__FN bool phi__parameters_style(phi_str name, phi__operation_style *out) {
    static const char *const names[] = {"simple",         "label",         "matrix",    "form",
                                        "spaceDelimited", "pipeDelimited", "deepObject"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++) {
        if (!phi__str_is(name, names[i])) continue;
        *out = (phi__operation_style)i;
        return true;
    }
    return false;
}

/* ---- arguments ---- */

static bool phi__parameters_taken(const phi__making *m, phi_str name) {
    size_t i;
    for (i = 0; i < m->op->parameter_count; i++)
        if (phi_str_equal(m->op->parameters[i].argument, name)) return true;
    return false;
}

/* The number behind "base_", with which a name may end; 0: it is another name. */
static uint64_t phi__parameters_number(phi_str name, phi_str base) {
    uint64_t number;
    if (name.len <= base.len + 1 || name.at[base.len] != '_' ||
        memcmp(name.at, base.at, base.len) != 0)
        return 0;
    return phi__str_to_u64(phi__str(name.at + base.len + 1, name.len - base.len - 1), &number)
               ? number
               : 0;
}

/* The first number from 2 on that is free, by one look at each parameter: a document may have
   thousands whose names differ only in characters that are replaced. */
static unsigned phi__parameters_next(const phi__making *m, phi_str base) {
    unsigned char taken[PHI__PARAMETERS_MOST / 8 + 1];
    unsigned next = 2;
    size_t i;
    memset(taken, 0, sizeof taken);
    for (i = 0; i < m->op->parameter_count; i++) {
        uint64_t number = phi__parameters_number(m->op->parameters[i].argument, base);
        if (number < PHI__PARAMETERS_MOST + 8)
            taken[number / 8] = (unsigned char)(taken[number / 8] | 1u << number % 8);
    }
    while (next < PHI__PARAMETERS_MOST + 7 && (taken[next / 8] >> next % 8 & 1) != 0) next++;
    return next;
}

PHI__FN bool phi__parameters_argument(phi__making *m, phi_str name, const char *place,
                                      phi_str *out) {
    char key[PHI__PARAMETERS_ARGUMENT + 24];
    size_t len = 0;
    for (; len < name.len && len < PHI__PARAMETERS_ARGUMENT - 16; len++) {
        char c = name.at[len];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '_' || c == '-';
        key[len] = plain ? c : '_';
    }
    if (len == 0) key[len++] = '_';
    if (phi__parameters_taken(m, phi__str(key, len)))
        len += (size_t)snprintf(key + len, 12, "_%s", place);
    if (phi__parameters_taken(m, phi__str(key, len)))
        len += (size_t)snprintf(key + len, 12, "_%u", phi__parameters_next(m, phi__str(key, len)));
    return phi__making_str(m, phi__str(key, len), out);
}

/* ---- one parameter ---- */

/* Whether a path template holds "{name}". */
static bool phi__parameters_in_path(phi_str path, phi_str name) {
    size_t at = 0;
    for (at = 0; at + name.len + 2 <= path.len; at++)
        if (path.at[at] == '{' && path.at[at + name.len + 1] == '}' &&
            memcmp(path.at + at + 1, name.at, name.len) == 0)
            return true;
    return false;
}

/* Headers that OpenAPI describes elsewhere, and parameters that have no place in the path. */
static bool phi__parameters_ignored(const phi__making *m, phi__operation_place place,
                                    phi_str name) {
    if (place == PHI__OPERATION_PATH) return !phi__parameters_in_path(m->op->path, name);
    return place == PHI__OPERATION_HEADER &&
           (phi__str_is_nocase(name, "accept") || phi__str_is_nocase(name, "content-type") ||
            phi__str_is_nocase(name, "authorization"));
}

static bool phi__parameters_repeated(const phi__making *m, phi__operation_place place,
                                     phi_str name) {
    size_t i;
    for (i = 0; i < m->op->parameter_count; i++)
        if (m->op->parameters[i].place == place && phi_str_equal(m->op->parameters[i].name, name))
            return true;
    return false;
}

static bool phi__parameters_place(phi_str in, phi__operation_place *out) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__parameters_places); i++) {
        if (!phi__str_is(in, phi__parameters_places[i])) continue;
        *out = (phi__operation_place)i;
        return true;
    }
    return false;
}

static void phi__parameters_form(phi__operation_parameter *p, const phi_json *node) {
    bool query = p->place == PHI__OPERATION_QUERY || p->place == PHI__OPERATION_COOKIE;
    p->style = query ? PHI__STYLE_FORM : PHI__STYLE_SIMPLE;
    (void)phi__parameters_style(phi__json_text_of(phi_json_get(node, "style")), &p->style);
    p->explode = phi_json_bool(phi_json_get(node, "explode"), p->style == PHI__STYLE_FORM);
    p->allow_reserved = phi_json_bool(phi_json_get(node, "allowReserved"), false);
    p->required =
        p->place == PHI__OPERATION_PATH || phi_json_bool(phi_json_get(node, "required"), false);
}

/* Its schema, or that of its only content; NULL: none, or a failure. */
static const phi_json *phi__parameters_schema(phi__making *m, phi__operation_parameter *p,
                                              const phi_json *node) {
    const phi_json *schema = phi_json_get(node, "schema");
    phi_json_iter it = phi_json_each(phi_json_get(node, "content"));
    if (schema == NULL && phi_json_is_object(phi_json_get(node, "content")) &&
        phi_json_next(&it) != NULL) {
        if (!phi__making_str(m, it.key, &p->content_type)) return NULL;
        schema = phi_json_get(it.at, "schema");
    }
    return schema;
}

static bool phi__parameters_add(phi__making *m, const phi_json *node, const char *place) {
    phi_str name = phi__json_text_of(phi_json_get(node, "name"));
    phi__operation_parameter p;
    const phi_json *schema;
    memset(&p, 0, sizeof p);
    if (name.len == 0 ||
        !phi__parameters_place(phi__json_text_of(phi_json_get(node, "in")), &p.place))
        return !phi_json_bool(phi_json_get(node, "required"), false)
                   ? true
                   : phi__making_skip(m, place,
                                      "expected a name, and path, query, header or cookie");
    if (phi__parameters_ignored(m, p.place, name) || phi__parameters_repeated(m, p.place, name))
        return true;
    if (m->op->parameter_count == PHI__PARAMETERS_MOST)
        return phi__making_skip(m, place, "these are too many parameters");
    phi__parameters_form(&p, node);
    schema = phi__parameters_schema(m, &p, node);
    if (m->no_memory || !phi__making_str(m, name, &p.name) ||
        !phi__parameters_argument(m, name, phi__parameters_places[p.place], &p.argument))
        return false;
    if (schema != NULL) {
        const phi_json *type = phi__document_follow(&m->view, schema);
        if (type == NULL) return phi__making_lost(m, place);
        p.type = phi__tool_schema_type(type);
    }
    m->given[m->op->parameter_count] = node;
    m->op->parameters[m->op->parameter_count++] = p;
    return true;
}

static bool phi__parameters_list(phi__making *m, const phi_json *list) {
    phi_json_iter it = phi_json_each(phi_json_is_array(list) ? list : NULL);
    char place[40];
    unsigned index = 0;
    while (phi_json_next(&it) != NULL) {
        const phi_json *node = phi__document_follow(&m->view, it.at);
        (void)snprintf(place, sizeof place, "parameters[%u]", index++);
        if (node == NULL) return phi__making_lost(m, place);
        if (index > PHI__PARAMETERS_MOST)
            return phi__making_skip(m, place, "these are too many parameters");
        if (!phi__parameters_add(m, node, place)) return false;
    }
    return true;
}

/* What the template names and no parameter declares is a text that is required. */
static bool phi__parameters_rest(phi__making *m) {
    phi_str path = m->op->path;
    size_t at = 0, end;
    while ((at = phi__str_find(path, at, "{")) != SIZE_MAX) {
        phi__operation_parameter *p = &m->op->parameters[m->op->parameter_count];
        phi_str name;
        end = phi__str_find(path, at, "}");
        if (end == SIZE_MAX) return phi__making_skip(m, "its path", "a \"{\" without its \"}\"");
        name = phi__str(path.at + at + 1, end - at - 1);
        at = end;
        if (phi__parameters_repeated(m, PHI__OPERATION_PATH, name)) continue;
        if (m->op->parameter_count == PHI__PARAMETERS_MOST)
            return phi__making_skip(m, "its path", "these are too many parameters");
        memset(p, 0, sizeof *p);
        p->required = true;
        p->type = PHI_JSON_STRING;
        if (!phi__making_str(m, name, &p->name) ||
            !phi__parameters_argument(m, name, "path", &p->argument))
            return false;
        m->given[m->op->parameter_count++] = NULL;
    }
    return true;
}

PHI__FN bool phi__parameters_make(phi__making *m) {
    const phi_json *own = phi_json_get(m->node, "parameters");
    const phi_json *shared = phi_json_get(m->item, "parameters");
    size_t most = phi_json_count(own) + phi_json_count(shared), i;
    if (m->op->path.len > PHI__PARAMETERS_PATH)
        return phi__making_skip(m, "its path", "it is longer than 8192 bytes");
    for (i = 0; i < m->op->path.len; i++) most += m->op->path.at[i] == '{';
    most = phi__min(most, PHI__PARAMETERS_MOST);
    m->op->parameters =
        (phi__operation_parameter *)phi__making_zero(m, most, sizeof *m->op->parameters);
    m->given = (const phi_json **)phi_arena_alloc(&m->scratch, (most + 1) * sizeof *m->given);
    if (m->given == NULL) m->no_memory = true;
    return !m->no_memory && phi__parameters_list(m, own) && phi__parameters_list(m, shared) &&
           phi__parameters_rest(m);
}

#endif

/* ---- src/openapi/reading.c ---- */

/* reading.c - from bytes to parts and operations. */

#ifndef PHI_NO_OPENAPI


#include <stdio.h>

enum {
    PHI__READING_PIECE = 65536, /* bytes of a file that are read at a time */
    PHI__READING_ENTRY = 64,    /* units that an entry costs, whatever its size */
    PHI__READING_NAMED = 256,   /* units that a name costs */
    PHI__READING_NAME = 1024,   /* bytes of a path with its method */
    PHI__READING_TAGS = 64,     /* of an operation */
    PHI__READING_DEPTH = 512    /* nested values */
};

typedef enum phi__reading_state {
    PHI__READING_SOURCE, /* bytes of a file */
    PHI__READING_PARSE,
    PHI__READING_PARTS,
    PHI__READING_OPERATIONS,
    PHI__READING_NAMES,
    PHI__READING_DONE
} phi__reading_state;

/* The responses of an operation, taken out of its path item. */
typedef struct phi__reading_answers {
    struct phi__reading_answers *next;
    phi_str path, method;
    phi_json *node;
} phi__reading_answers;

typedef struct phi__reading_walk {
    phi__reading_state state;
    phi_json_reader reader;
#ifndef PHI_NO_YAML
    phi_yaml_reader yaml;
#endif
    phi__document_section section;
    phi_json_iter it;
    bool entered; /* `it` is in the section */
    phi__json_writer writer;
    phi__document_part *part; /* being written; NULL: none */
    phi__reading_answers *answers;
    phi__naming naming;
    bool wants_answers; /* a reference may lead into responses: they are kept */
} phi__reading_walk;

static const char *const phi__reading_methods[] = {"get",  "put",     "post",  "delete",
                                                   "head", "options", "patch", "trace"};

PHI__FN void phi__reading_init(phi__reading *r, phi__document *doc, size_t max_bytes) {
    memset(r, 0, sizeof *r);
    r->doc = doc;
    r->max_bytes = max_bytes;
    r->status = PHI_BUSY;
    phi__buf_init(&r->source, doc->memory);
    phi_arena_init(&r->tree, doc->memory, 65536);
}

PHI__FN phi_status phi__reading_fail(phi__reading *r, phi_status status, const char *words) {
    if (r->status != PHI_BUSY) return r->status;
    r->status = status;
    (void)snprintf(r->error.message, sizeof r->error.message, "%.*s",
                   (int)phi__utf8_cut(phi_str_of(words), sizeof r->error.message - 1), words);
    return status;
}

static phi_status phi__reading_no_memory(phi__reading *r) {
    return phi__reading_fail(r, PHI_NO_MEMORY, "no memory for the document");
}

PHI__FN phi_status phi__reading_add(phi__reading *r, phi_str bytes) {
    char words[120];
    if (bytes.len > r->max_bytes - phi__min(r->source.len, r->max_bytes)) {
        (void)snprintf(words, sizeof words, "the document is larger than max_document_bytes, %llu",
                       (unsigned long long)r->max_bytes);
        return phi__reading_fail(r, PHI_TOO_BIG, words);
    }
    phi__buf_add_str(&r->source, bytes);
    return r->source.failed ? phi__reading_no_memory(r) : r->status;
}

/* ---- files ---- */

#ifndef PHI_NO_FILES
PHI__FN phi_status phi__reading_open(phi__reading *r, const char *path) {
    phi__words words;
    phi_status status = phi__files_open_read(r->doc->memory, path, &r->file, &words);
    if (status == PHI_NO_MEMORY) return phi__reading_no_memory(r);
    return status == PHI_OK ? r->status : phi__reading_fail(r, status, words.text);
}

static size_t phi__reading_file(phi__reading *r) {
    phi__words words;
    size_t got = 0;
    char *room = phi__buf_reserve(&r->source, PHI__READING_PIECE);
    phi_status status = PHI_NO_MEMORY;
    if (room != NULL) status = phi__files_read(r->file, room, PHI__READING_PIECE, &got, &words);
    if (room == NULL)
        (void)phi__reading_no_memory(r);
    else if (status != PHI_OK)
        (void)phi__reading_fail(r, status, words.text);
    else
        phi__buf_add_len(&r->source, got);
    if (r->source.len > r->max_bytes) (void)phi__reading_add(r, PHI__LIT(" "));
    if (got == 0 || r->status != PHI_BUSY) {
        phi__files_close(r->file);
        r->file = NULL;
    }
    return got;
}
#else
PHI__FN phi_status phi__reading_open(phi__reading *r, const char *path) {
    (void)path;
    return phi__reading_fail(r, PHI_UNSUPPORTED,
                             "files are left out of this program: PHI_NO_FILES");
}
#endif

static size_t phi__reading_source(phi__reading *r, phi__reading_walk *walk) {
#ifndef PHI_NO_FILES
    if (r->file != NULL) return phi__reading_file(r);
#else
    (void)r;
#endif
    (void)r;
    walk->state = PHI__READING_PARSE;
    return 0;
}

/* ---- the tree ---- */

static phi_str phi__reading_text(const phi__reading *r) {
    phi_str text = phi__buf_str(&r->source);
    if (text.len >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0)
        text = phi__str(text.at + 3, text.len - 3);
    return text;
}

static bool phi__reading_is_json(phi_str text) {
    size_t i = 0;
    while (i < text.len &&
           (text.at[i] == ' ' || text.at[i] == '\t' || text.at[i] == '\n' || text.at[i] == '\r'))
        i++;
    return i < text.len && (text.at[i] == '{' || text.at[i] == '[');
}

/* The version: 3.0 and 3.1 alone. */
static void phi__reading_check(phi__reading *r) {
    phi_str version = phi__json_text_of(phi_json_get(r->root, "openapi"));
    phi_str old = phi__json_text_of(phi_json_get(r->root, "swagger"));
    char words[140];
    if (!phi_json_is_object(r->root))
        (void)phi__reading_fail(r, PHI_UNSUPPORTED,
                                "this is no OpenAPI document: expected an object");
    else if (phi__str_starts(version, "3.0.") || phi__str_is(version, "3.0"))
        return;
    else if (phi__str_starts(version, "3.1.") || phi__str_is(version, "3.1"))
        r->doc->is_31 = true;
    else {
        if (version.len == 0) version = old;
        (void)snprintf(words, sizeof words,
                       version.len == 0 ? "this is no OpenAPI document: \"openapi\" is missing%.*s"
                                        : "OpenAPI version %.*s: expected 3.0 or 3.1",
                       (int)phi__utf8_cut(version, 20), version.at != NULL ? version.at : "");
        (void)phi__reading_fail(r, PHI_UNSUPPORTED, words);
    }
}

static void phi__reading_parsed(phi__reading *r, phi__reading_walk *walk, phi_status status,
                                const phi_parse_error *error) {
    if (status == PHI_OK) {
        phi__reading_check(r);
        walk->state = PHI__READING_PARTS;
        return;
    }
    if (status == PHI_NO_MEMORY) {
        (void)phi__reading_no_memory(r);
        return;
    }
    r->status = status;
    r->error = *error;
}

#ifndef PHI_NO_YAML
static size_t phi__reading_yaml(phi__reading *r, phi__reading_walk *walk, phi_str text,
                                size_t units) {
    phi_yaml_options options;
    phi_parse_error error;
    phi_status status;
    memset(&options, 0, sizeof options);
    options.max_depth = PHI__READING_DEPTH;
    if (walk->yaml.arena == NULL) phi_yaml_reader_begin(&walk->yaml, &r->tree, text, &options);
    status = phi_yaml_reader_advance(&walk->yaml, units);
    if (status == PHI_BUSY) return units;
    (void)phi_yaml_reader_result(&walk->yaml, &r->root, &error);
    phi__reading_parsed(r, walk, status, &error);
    return units;
}
#else
static size_t phi__reading_yaml(phi__reading *r, phi__reading_walk *walk, phi_str text,
                                size_t units) {
    (void)walk;
    (void)text;
    (void)phi__reading_fail(r, PHI_UNSUPPORTED,
                            "the document is not JSON, and YAML is left out of this program: "
                            "PHI_NO_YAML");
    return units;
}
#endif

static size_t phi__reading_parse(phi__reading *r, phi__reading_walk *walk, size_t units) {
    phi_parse_error error;
    phi_status status;
    phi_str text = phi__reading_text(r);
    if (!phi__reading_is_json(text)) return phi__reading_yaml(r, walk, text, units);
    if (walk->reader.arena == NULL)
        phi_json_reader_begin(&walk->reader, &r->tree, text, PHI_JSON_BORROW, PHI__READING_DEPTH);
    status = phi_json_reader_advance(&walk->reader, units);
    if (status == PHI_BUSY) return units;
    (void)phi_json_reader_result(&walk->reader, &r->root, &error);
    phi__reading_parsed(r, walk, status, &error);
    return units;
}

/* ---- parts ---- */

static phi_json *phi__reading_section(const phi__reading *r, phi__document_section section) {
    const char *name = phi__document_section_name(section);
    if (section == PHI__SECTION_PATHS) return phi_json_get(r->root, name);
    return phi_json_get(phi_json_get(r->root, "components"), name);
}

/* Takes out of a path item what requests do not need. False: no memory. */
static bool phi__reading_prune(phi__reading *r, phi__reading_walk *walk, phi_str path,
                               phi_json *item) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__reading_methods); i++) {
        phi_json *op = phi_json_get(item, phi__reading_methods[i]);
        phi_json *answers = phi_json_remove(op, "responses");
        phi__reading_answers *kept;
        (void)phi_json_remove(op, "callbacks");
        if (answers == NULL || walk->section != PHI__SECTION_PATHS) continue;
        kept = (phi__reading_answers *)phi_arena_alloc(&r->tree, sizeof *kept);
        if (kept == NULL) return false;
        kept->path = path;
        kept->method = phi_str_of(phi__reading_methods[i]);
        kept->node = answers;
        kept->next = walk->answers;
        walk->answers = kept;
    }
    return true;
}

static void phi__reading_begin_part(phi__reading *r, phi__reading_walk *walk, phi_str name,
                                    phi_json *node) {
    phi__document_part *part = phi__document_find(r->doc, walk->section, name);
    if (part == NULL) part = phi__document_add(r->doc, walk->section, name);
    if (part == NULL ||
        ((walk->section == PHI__SECTION_PATHS || walk->section == PHI__SECTION_ITEMS) &&
         !phi__reading_prune(r, walk, name, node))) {
        (void)phi__reading_no_memory(r);
        return;
    }
    part->at = r->doc->text.len; /* of duplicate keys the last one counts */
    part->node = node;
    walk->part = part;
    phi__json_write_writer_begin(&walk->writer, &r->doc->text, node, 0);
}

/* Servers and security of the whole document. */
static void phi__reading_begin_root(phi__reading *r, phi__reading_walk *walk) {
    static const char *const kept[] = {"servers", "security"};
    phi_json *node = phi_json_new_object(&r->tree);
    size_t i;
    for (i = 0; node != NULL && i < PHI__COUNT(kept); i++) {
        phi_json *value = phi_json_remove(r->root, kept[i]);
        if (value != NULL && phi_json_set(&r->tree, node, kept[i], value) != PHI_OK) node = NULL;
    }
    if (node == NULL)
        (void)phi__reading_no_memory(r);
    else
        phi__reading_begin_part(r, walk, PHI__LIT(""), node);
}

static size_t phi__reading_write(phi__reading *r, phi__reading_walk *walk, size_t units) {
    size_t before = r->doc->text.len;
    phi_status status = phi__json_write_writer_advance(&walk->writer, units);
    size_t written = r->doc->text.len - before;
    if (status == PHI_BUSY) return written;
    phi__json_write_writer_end(&walk->writer);
    if (status == PHI_NO_MEMORY || r->doc->text.failed)
        (void)phi__reading_no_memory(r);
    else if (status != PHI_OK)
        (void)phi__reading_fail(r, status, "the document is nested too deeply");
    walk->part->len = r->doc->text.len - walk->part->at;
    if (!walk->wants_answers && r->status == PHI_BUSY)
        walk->wants_answers =
            phi__str_find(phi__str(r->doc->text.at + walk->part->at, walk->part->len), 0,
                          "/responses/") != SIZE_MAX;
    walk->part = NULL;
    return written;
}

/* The responses of one operation. */
static size_t phi__reading_answered(phi__reading *r, phi__reading_walk *walk) {
    char bytes[PHI__READING_NAME];
    phi__reading_answers *one = walk->answers;
    phi_str name;
    if (one == NULL) {
        walk->section = PHI__SECTION_ROOT;
        return 0;
    }
    walk->answers = one->next;
    if (phi__document_answers(one->path, one->method, bytes, sizeof bytes, &name))
        phi__reading_begin_part(r, walk, name, one->node);
    return PHI__READING_ENTRY;
}

static size_t phi__reading_parts(phi__reading *r, phi__reading_walk *walk, size_t units) {
    if (walk->part != NULL) return phi__reading_write(r, walk, units);
    if (walk->section == PHI__SECTION_COUNT) {
        walk->state = PHI__READING_OPERATIONS;
        walk->it = phi_json_each(phi__reading_section(r, PHI__SECTION_PATHS));
        return 0;
    }
    if (walk->section == PHI__SECTION_RESPONSES && !walk->wants_answers)
        walk->section = PHI__SECTION_ROOT;
    if (walk->section == PHI__SECTION_ANSWERS) return phi__reading_answered(r, walk);
    if (walk->section == PHI__SECTION_ROOT) {
        phi__reading_begin_root(r, walk);
        walk->section = PHI__SECTION_COUNT;
        return PHI__READING_ENTRY;
    }
    if (!walk->entered) {
        phi_json *section = phi__reading_section(r, walk->section);
        walk->it = phi_json_each(phi_json_is_object(section) ? section : NULL);
        walk->entered = true;
    }
    if (phi_json_next(&walk->it) != NULL)
        phi__reading_begin_part(r, walk, walk->it.key, walk->it.at);
    else {
        walk->section = (phi__document_section)(walk->section + 1);
        walk->entered = false;
    }
    return PHI__READING_ENTRY;
}

/* ---- operations ---- */

/* "GET", static. */
static phi_str phi__reading_method(const char *name) {
    static const char *const upper[] = {"GET",  "PUT",     "POST",  "DELETE",
                                        "HEAD", "OPTIONS", "PATCH", "TRACE"};
    size_t i;
    for (i = 0; i < PHI__COUNT(upper); i++)
        if (name == phi__reading_methods[i]) return phi_str_of(upper[i]);
    return PHI__LIT("GET");
}

static bool phi__reading_tags(phi__reading *r, phi__document_operation *op, const phi_json *tags) {
    phi_json_iter it = phi_json_each(phi_json_is_array(tags) ? tags : NULL);
    size_t count = phi__min(it.left, PHI__READING_TAGS);
    phi_str *list;
    if (count == 0) return true;
    list = (phi_str *)phi__arena_zero(&r->doc->arena, count * sizeof *list);
    if (list == NULL) return false;
    op->tags = list;
    while (op->tag_count < count && phi_json_next(&it) != NULL)
        if (!phi__arena_str(&r->doc->arena, phi__json_text_of(it.at), &list[op->tag_count++]))
            return false;
    return true;
}

static bool phi__reading_operation(phi__reading *r, phi_str path, const char *method,
                                   const phi_json *node, phi__document_part *item) {
    phi__document_operation *op = phi__document_add_operation(r->doc);
    phi_openapi_operation *shown;
    if (op == NULL) return false;
    shown = &op->shown;
    op->item = item;
    shown->path = path;
    shown->method = phi__reading_method(method);
    shown->deprecated = phi_json_bool(phi_json_get(node, "deprecated"), false);
    shown->destructive = phi__str_is(shown->method, "DELETE");
    shown->read_only = method == phi__reading_methods[0] || phi__str_is(shown->method, "HEAD") ||
                       phi__str_is(shown->method, "OPTIONS") || phi__str_is(shown->method, "TRACE");
    if (!phi_json_is_object(node)) op->skip = "expected an object that describes the operation";
    return phi__arena_str(&r->doc->arena, phi__json_text_of(phi_json_get(node, "operationId")),
                          &shown->operation_id) &&
           phi__reading_tags(r, op, phi_json_get(node, "tags"));
}

/* A path item that is a reference: the part that it names, or NULL and why. */
static phi__document_part *phi__reading_item_ref(phi__reading *r, phi_str ref, const char **why) {
    phi__document_part *part = NULL;
    phi_str rest;
    int links;
    for (links = 0; links < 8; links++) {
        const phi_json *next;
        if (!phi__document_locate(r->doc, ref, &part, &rest, why)) return NULL;
        *why = " leads to no path item";
        if (rest.len > 0 ||
            (part->section != PHI__SECTION_ITEMS && part->section != PHI__SECTION_PATHS))
            return NULL;
        next = phi_json_get(part->node, "$ref");
        if (!phi_json_is_string(next)) return part;
        ref = phi__json_text_of(next);
    }
    *why = " leads in a circle";
    return NULL;
}

/* One skipped entry stands for all operations of a path item that cannot be followed. */
static bool phi__reading_lost_item(phi__reading *r, phi_str path, phi_str ref, const char *why) {
    char words[240];
    phi_str text;
    if (!phi__reading_operation(r, path, phi__reading_methods[0], r->root, NULL)) return false;
    (void)snprintf(words, sizeof words, "the path item: \"$ref\" %.*s%s",
                   (int)phi__utf8_cut(ref, 120), ref.at, why);
    if (!phi__arena_str(&r->doc->arena, phi_str_of(words), &text)) return false;
    r->doc->operations[r->doc->count - 1].skip = text.at;
    return true;
}

static bool phi__reading_item(phi__reading *r, phi_str key, const phi_json *item) {
    phi__document_part *own = phi__document_find(r->doc, PHI__SECTION_PATHS, key), *other = NULL;
    const phi_json *ref = phi_json_get(item, "$ref"), *target = NULL;
    const char *why = NULL;
    bool fine = true;
    size_t i;
    /* of duplicate paths the last one counts, and paths begin with a slash: the others extend */
    if (own == NULL || key.len == 0 || key.at[0] != '/' || own->node != item) return true;
    if (phi_json_is_string(ref)) {
        other = phi__reading_item_ref(r, phi__json_text_of(ref), &why);
        if (other == NULL) return phi__reading_lost_item(r, own->name, phi__json_text_of(ref), why);
        target = other->node;
    }
    for (i = 0; fine && i < PHI__COUNT(phi__reading_methods); i++) {
        const char *method = phi__reading_methods[i];
        const phi_json *node = phi_json_get(item, method);
        if (node != NULL)
            fine = phi__reading_operation(r, own->name, method, node, own);
        else if ((node = phi_json_get(target, method)) != NULL)
            fine = phi__reading_operation(r, own->name, method, node, other);
    }
    return fine;
}

static size_t phi__reading_operations(phi__reading *r, phi__reading_walk *walk) {
    if (phi_json_next(&walk->it) == NULL) {
        walk->state = PHI__READING_NAMES;
        return 0;
    }
    if (!phi__reading_item(r, walk->it.key, walk->it.at)) (void)phi__reading_no_memory(r);
    return PHI__READING_ENTRY * 8;
}

static size_t phi__reading_names(phi__reading *r, phi__reading_walk *walk, size_t units) {
    size_t count = units / PHI__READING_NAMED + 1;
    phi_status status =
        phi__naming_advance(&walk->naming, r->doc, r->prefix, r->skip_unnamed, count);
    if (status == PHI_NO_MEMORY) (void)phi__reading_no_memory(r);
    if (status != PHI_BUSY) walk->state = PHI__READING_DONE;
    return units;
}

/* ---- public to the room ---- */

static size_t phi__reading_more(phi__reading *r, phi__reading_walk *walk, size_t units) {
    phi__buf *text = &r->doc->text;
    void *exact;
    switch (walk->state) {
    case PHI__READING_SOURCE: return phi__reading_source(r, walk);
    case PHI__READING_PARSE: return phi__reading_parse(r, walk, units);
    case PHI__READING_PARTS: return phi__reading_parts(r, walk, units);
    case PHI__READING_OPERATIONS: return phi__reading_operations(r, walk);
    case PHI__READING_NAMES: return phi__reading_names(r, walk, units);
    case PHI__READING_DONE:
    default:
        exact = phi__realloc(text->memory, text->at, text->cap, text->len);
        if (exact != NULL) {
            text->at = (char *)exact;
            text->cap = text->len;
        }
        if (r->status == PHI_BUSY) r->status = PHI_OK;
        return units;
    }
}

PHI__FN phi_status phi__reading_advance(phi__reading *r, size_t units) {
    if (r->status == PHI_BUSY && r->walk == NULL) {
        r->walk = (phi__reading_walk *)phi__arena_zero(&r->tree, sizeof *r->walk);
        if (r->walk == NULL) return phi__reading_no_memory(r);
    }
    while (r->status == PHI_BUSY) {
        size_t took = phi__reading_more(r, r->walk, units);
        if (took >= units) break;
        units -= took;
    }
    return r->status;
}

PHI__FN void phi__reading_end(phi__reading *r) {
    if (r->walk != NULL && r->walk->part != NULL) phi__json_write_writer_end(&r->walk->writer);
    if (r->walk != NULL) phi__naming_end(&r->walk->naming);
    r->walk = NULL;
#ifndef PHI_NO_FILES
    phi__files_close(r->file);
    r->file = NULL;
#endif
    phi_arena_free(&r->tree);
    phi__buf_free(&r->source);
    r->root = NULL;
}

#endif

/* ---- src/openapi/request_body.c ---- */

/* request_body.c - the body of an operation: which of its content types is sent, and how its
   properties are. */


#ifndef PHI_NO_OPENAPI

enum { PHI__REQUEST_BODY_PROPERTIES = 1024 };

/* The type without its parameters. */
static phi_str phi__request_body_plain(phi_str type) {
    size_t i;
    for (i = 0; i < type.len; i++)
        if (type.at[i] == ';') break;
    return phi__str_trim(phi__str(type.at, i));
}

static bool phi__request_body_ends(phi_str type, const char *end) {
    size_t n = strlen(end);
    return type.len >= n && phi__str_is_nocase(phi__str(type.at + type.len - n, n), end);
}

/* How well a content type suits; the least is taken. */
static unsigned phi__request_body_rank(phi_str type, phi__operation_body_kind *kind) {
    type = phi__request_body_plain(type);
    *kind = PHI__BODY_JSON;
    if (phi__str_is_nocase(type, "application/json")) return 0;
    if (phi__str_is_nocase(type, "application/merge-patch+json")) return 1;
    if (phi__request_body_ends(type, "+json") || phi__request_body_ends(type, "/json")) return 2;
    if (phi__str_is(type, "*/*") || phi__str_is_nocase(type, "application/*")) return 3;
    *kind = PHI__BODY_FORM;
    if (phi__str_is_nocase(type, "application/x-www-form-urlencoded")) return 4;
    *kind = PHI__BODY_MULTIPART;
    if (phi__str_is_nocase(type, "multipart/form-data")) return 5;
    *kind = PHI__BODY_TEXT;
    if (type.len > 5 && phi__str_is_nocase(phi__str(type.at, 5), "text/")) return 6;
    *kind = PHI__BODY_BYTES;
    return 7;
}

/* A type that can be sent: a range stands for one of its own. */
static phi_str phi__request_body_type(phi_str type, phi__operation_body_kind kind) {
    if (phi__str_find(type, 0, "*") == SIZE_MAX) return type;
    if (kind == PHI__BODY_JSON) return PHI__LIT("application/json");
    return kind == PHI__BODY_TEXT ? PHI__LIT("text/plain") : PHI__LIT("application/octet-stream");
}

/* ---- properties ---- */

static bool phi__request_body_headers(phi__making *m, phi__operation_property *p,
                                      const phi_json *headers) {
    phi_json_iter it = phi_json_each(headers);
    phi_json *kept;
    if (!phi_json_is_object(headers)) return true;
    kept = phi_json_new_object(m->arena);
    while (kept != NULL && phi_json_next(&it) != NULL) {
        const phi_json *header = phi__document_follow(&m->view, it.at), *value;
        if (header == NULL) return phi__making_lost(m, "encoding.headers");
        value =
            phi_json_get(phi__document_follow(&m->view, phi_json_get(header, "schema")), "default");
        if (!phi_json_is_string(value) || phi__str_is_nocase(it.key, "content-type")) continue;
        if (phi_json_set_n(m->arena, kept, it.key,
                           phi_json_new_str(m->arena, phi__json_text_of(value))) != PHI_OK)
            kept = NULL;
    }
    p->headers = kept;
    m->no_memory = m->no_memory || kept == NULL;
    return kept != NULL;
}

static bool phi__request_body_encoding(phi__making *m, phi__operation_property *p,
                                       const phi_json *encoding) {
    phi_str style = phi__json_text_of(phi_json_get(encoding, "style"));
    phi_str type = phi__json_text_of(phi_json_get(encoding, "contentType"));
    size_t comma = phi__str_find(type, 0, ",");
    if (comma != SIZE_MAX)
        type = phi__str_trim(phi__str(type.at, comma)); /* the first of several */
    p->style = PHI__STYLE_FORM;
    p->has_style = phi__parameters_style(style, &p->style) ||
                   phi_json_get(encoding, "explode") != NULL ||
                   phi_json_get(encoding, "allowReserved") != NULL;
    p->explode = phi_json_bool(phi_json_get(encoding, "explode"), p->style == PHI__STYLE_FORM);
    p->allow_reserved = phi_json_bool(phi_json_get(encoding, "allowReserved"), false);
    if (type.len > 0 && phi__str_find(type, 0, "*") == SIZE_MAX &&
        !phi__making_str(m, type, &p->content_type))
        return false;
    return phi__request_body_headers(m, p, phi_json_get(encoding, "headers"));
}

static bool phi__request_body_property(phi__making *m, phi_str name, const phi_json *schema,
                                       const phi_json *encodings) {
    phi__operation_body *body = &m->op->body;
    phi__operation_property *p = &body->properties[body->property_count];
    phi_str media;
    schema = phi__document_follow(&m->view, schema);
    if (schema == NULL) return phi__making_lost(m, "requestBody");
    memset(p, 0, sizeof *p);
    p->type = phi__tool_schema_type(schema);
    if (p->type == PHI_JSON_ARRAY) {
        schema = phi__document_follow(&m->view, phi_json_get(schema, "items"));
        if (schema == NULL && m->view.no_memory) return phi__making_lost(m, "requestBody");
    }
    p->file = phi__tool_schema_is_file(schema);
    p->base64 = phi__str_is(phi__json_text_of(phi_json_get(schema, "format")), "byte") ||
                phi__str_is(phi__json_text_of(phi_json_get(schema, "contentEncoding")), "base64");
    media = phi__json_text_of(phi_json_get(schema, "contentMediaType"));
    if (!phi__making_str(m, media, &p->content_type) || !phi__making_str(m, name, &p->name) ||
        !phi__request_body_encoding(m, p, phi_json_get_n(encodings, name)))
        return false;
    body->property_count++;
    return true;
}

static bool phi__request_body_of(phi__making *m, const phi_json *schema, const phi_json *encodings,
                                 size_t most) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "properties"));
    if (!phi_json_is_object(phi_json_get(schema, "properties"))) return true;
    while (m->op->body.property_count < most && phi_json_next(&it) != NULL)
        if (!phi__request_body_property(m, it.key, it.at, encodings)) return false;
    return true;
}

/* The properties of the schema, and of the schemas that it joins. */
static bool phi__request_body_properties(phi__making *m, const phi_json *encodings) {
    const phi_json *schema = phi__document_follow(&m->view, m->body_schema), *part;
    phi_json_iter it = phi_json_each(phi_json_get(schema, "allOf"));
    size_t most = phi_json_count(phi_json_get(schema, "properties"));
    if (m->body_schema == NULL) return true;
    if (schema == NULL) return phi__making_lost(m, "requestBody");
    while (phi_json_next(&it) != NULL) {
        part = phi__document_follow(&m->view, it.at);
        if (part == NULL) return phi__making_lost(m, "requestBody");
        most += phi_json_count(phi_json_get(part, "properties"));
    }
    most = phi__min(most, PHI__REQUEST_BODY_PROPERTIES);
    m->op->body.properties =
        (phi__operation_property *)phi__making_zero(m, most, sizeof *m->op->body.properties);
    if (m->no_memory || !phi__request_body_of(m, schema, encodings, most)) return false;
    it = phi_json_each(phi_json_get(schema, "allOf"));
    while (phi_json_next(&it) != NULL)
        if (!phi__request_body_of(m, phi__document_follow(&m->view, it.at), encodings, most))
            return false;
    return true;
}

/* ---- the body ---- */

static const phi_json *phi__request_body_pick(phi__making *m, const phi_json *content,
                                              phi_str *type) {
    phi_json_iter it = phi_json_each(phi_json_is_object(content) ? content : NULL);
    const phi_json *best = NULL;
    unsigned least = 100;
    while (phi_json_next(&it) != NULL) {
        phi__operation_body_kind kind;
        unsigned rank = phi__request_body_rank(it.key, &kind);
        if (rank >= least) continue;
        least = rank;
        best = it.at;
        *type = phi__request_body_type(it.key, kind);
        m->op->body.kind = kind;
    }
    return best;
}

PHI__FN bool phi__request_body_make(phi__making *m) {
    const phi_json *given = phi_json_get(m->node, "requestBody"), *media;
    phi__operation_body *body = &m->op->body;
    phi_str type = {NULL, 0};
    if (given == NULL) return true;
    given = phi__document_follow(&m->view, given);
    if (given == NULL) return phi__making_lost(m, "requestBody");
    media = phi__request_body_pick(m, phi_json_get(given, "content"), &type);
    if (media == NULL) return true;
    m->body_schema = phi_json_get(media, "schema");
    m->body_note = phi__json_text_of(phi_json_get(given, "description"));
    body->required = phi_json_bool(phi_json_get(given, "required"), false);
    if (!phi__making_str(m, type, &body->content_type) ||
        !phi__parameters_argument(m, PHI__LIT("body"), "", &body->argument))
        return false;
    if (!phi__str_is(body->argument, "body") &&
        !phi__parameters_argument(m, PHI__LIT("_request_body"), "", &body->argument))
        return false;
    if (body->kind != PHI__BODY_FORM && body->kind != PHI__BODY_MULTIPART) return true;
    return phi__request_body_properties(m, phi_json_get(media, "encoding"));
}

#endif

/* ---- src/openapi/security.c ---- */

/* security.c - the security alternatives of an operation, and its server. */

#ifndef PHI_NO_OPENAPI

enum { PHI__SECURITY_URL = 2048 }; /* bytes of a server's URL */

/* ---- schemes ---- */

static bool phi__security_key(phi__making *m, phi__operation_scheme *scheme, const phi_json *node) {
    phi_str in = phi__json_text_of(phi_json_get(node, "in"));
    scheme->kind = PHI__SCHEME_KEY;
    scheme->place = PHI__OPERATION_HEADER;
    if (phi__str_is(in, "query")) scheme->place = PHI__OPERATION_QUERY;
    if (phi__str_is(in, "cookie")) scheme->place = PHI__OPERATION_COOKIE;
    return phi__making_str(m, phi__json_text_of(phi_json_get(node, "name")), &scheme->key);
}

static bool phi__security_kind(phi__making *m, phi__operation_scheme *scheme,
                               const phi_json *node) {
    phi_str type = phi__json_text_of(phi_json_get(node, "type"));
    phi_str http = phi__json_text_of(phi_json_get(node, "scheme"));
    scheme->kind = PHI__SCHEME_OTHER;
    if (phi__str_is(type, "apiKey")) return phi__security_key(m, scheme, node);
    if (phi__str_is(type, "http")) {
        if (phi__str_is_nocase(http, "basic")) scheme->kind = PHI__SCHEME_BASIC;
        if (phi__str_is_nocase(http, "bearer")) scheme->kind = PHI__SCHEME_BEARER;
    }
    if (phi__str_is(type, "openIdConnect")) scheme->kind = PHI__SCHEME_OPENID;
    if (phi__str_is(type, "oauth2")) {
        const phi_json *flow = phi_json_get(phi_json_get(node, "flows"), "clientCredentials");
        scheme->kind = PHI__SCHEME_OAUTH;
        return phi__making_str(m, phi__json_text_of(phi_json_get(flow, "tokenUrl")),
                               &scheme->token_url);
    }
    return true;
}

static bool phi__security_scheme(phi__making *m, phi__operation_scheme *scheme, phi_str name,
                                 const phi_json *scopes) {
    phi__document_part *part = phi__document_find(m->view.doc, PHI__SECTION_SECURITY, name);
    phi_json_iter it = phi_json_each(phi_json_is_array(scopes) ? scopes : NULL);
    const phi_json *node = NULL;
    phi_str *list = (phi_str *)phi__making_zero(m, it.left, sizeof *list);
    memset(scheme, 0, sizeof *scheme);
    if (list == NULL || !phi__making_str(m, name, &scheme->name)) return false;
    scheme->scopes = list;
    while (phi_json_next(&it) != NULL)
        if (!phi__making_str(m, phi__json_text_of(it.at), &list[scheme->scope_count++]))
            return false;
    if (part != NULL) node = phi__document_tree(&m->view, part);
    if (node != NULL) node = phi__document_follow(&m->view, node);
    if (m->view.no_memory) return phi__making_lost(m, "security");
    return phi__security_kind(m, scheme, node);
}

PHI__FN bool phi__security_make(phi__making *m) {
    const phi_json *list = phi_json_get(m->node, "security");
    phi__operation_security *alternatives;
    phi_json_iter it, in;
    if (!phi_json_is_array(list)) list = phi_json_get(m->root, "security");
    if (!phi_json_is_array(list)) return true;
    it = phi_json_each(list);
    alternatives = (phi__operation_security *)phi__making_zero(m, it.left, sizeof *alternatives);
    if (alternatives == NULL) return false;
    m->op->security = alternatives;
    while (phi_json_next(&it) != NULL) {
        phi__operation_security *one = &alternatives[m->op->security_count++];
        phi__operation_scheme *schemes;
        in = phi_json_each(phi_json_is_object(it.at) ? it.at : NULL);
        schemes = (phi__operation_scheme *)phi__making_zero(m, in.left, sizeof *schemes);
        if (schemes == NULL) return false;
        one->schemes = schemes;
        while (phi_json_next(&in) != NULL)
            if (!phi__security_scheme(m, &schemes[one->count++], in.key, in.at)) return false;
    }
    return true;
}

/* ---- servers ---- */

/* Puts the defaults of variables in the place of "{name}". */
static phi_str phi__security_fill(const phi_json *server, char out[PHI__SECURITY_URL]) {
    const phi_json *variables = phi_json_get(server, "variables");
    phi_str url = phi__json_text_of(phi_json_get(server, "url"));
    size_t i = 0, len = 0;
    while (i < url.len && len < PHI__SECURITY_URL) {
        size_t end = url.at[i] == '{' ? phi__str_find(url, i, "}") : SIZE_MAX;
        phi_str part = phi__str(url.at + i, 1);
        const phi_json *variable = NULL;
        if (end != SIZE_MAX)
            variable = phi_json_get_n(variables, phi__str(url.at + i + 1, end - i - 1));
        if (variable != NULL) part = phi__json_text_of(phi_json_get(variable, "default"));
        if (part.len > PHI__SECURITY_URL - len) break;
        if (part.len > 0) memcpy(out + len, part.at, part.len);
        len += part.len;
        i = variable != NULL ? end + 1 : i + 1;
    }
    return phi__str(out, i < url.len ? 0 : len);
}

PHI__FN bool phi__security_server(phi__making *m) {
    const phi_json *places[3];
    char url[PHI__SECURITY_URL];
    phi_str server = {NULL, 0};
    size_t i;
    places[0] = m->node;
    places[1] = m->item;
    places[2] = m->root;
    for (i = 0; i < 3 && server.len == 0; i++) {
        const phi_json *servers = phi_json_get(places[i], "servers");
        if (phi_json_is_array(servers) && phi_json_count(servers) > 0)
            server = phi__security_fill(phi_json_at(servers, 0), url);
    }
    while (server.len > 0 && server.at[server.len - 1] == '/') server.len--;
    return phi__making_str(m, server, &m->op->server);
}

#endif

/* ---- src/openapi/selection.c ---- */

/* selection.c - operations that fit a filter become tools, one after another. */

#ifndef PHI_NO_OPENAPI


enum { PHI__SELECTION_ENTRY = 64 }; /* units that an operation costs, whatever its size */

typedef struct phi__selection {
    struct phi__selection *next;
    phi_arena arena; /* operations, schemas, messages */
    size_t at;       /* the next operation */
    phi_tool *tools;
    size_t *operations;
    phi_openapi_skip *skipped;
    size_t tool_cap, operation_cap, skip_cap;
} phi__selection;

/* ---- filters ---- */

static bool phi__selection_listed(const char *const *list, phi_str text, bool nocase) {
    for (; list != NULL && *list != NULL; list++)
        if (nocase ? phi__str_is_nocase(text, *list) : phi__str_is(text, *list)) return true;
    return false;
}

/* "/repos" and "/repos/" fit /repos and /repos/a, not /repositories. */
static bool phi__selection_below(const char *const *prefixes, phi_str path) {
    for (; *prefixes != NULL; prefixes++) {
        size_t len = strlen(*prefixes);
        while (len > 0 && (*prefixes)[len - 1] == '/') len--;
        if (path.len < len || (len > 0 && memcmp(path.at, *prefixes, len) != 0)) continue;
        if (path.len == len || path.at[len] == '/') return true;
    }
    return false;
}

static bool phi__selection_fits(const phi__document_operation *op,
                                const phi_openapi_filter *filter) {
    size_t i;
    bool tagged = false;
    if (filter == NULL) return true;
    if (filter->operation_ids != NULL &&
        (op->shown.operation_id.len == 0 ||
         !phi__selection_listed(filter->operation_ids, op->shown.operation_id, false)))
        return false;
    if (filter->methods != NULL && !phi__selection_listed(filter->methods, op->shown.method, true))
        return false;
    if (filter->path_prefixes != NULL &&
        !phi__selection_below(filter->path_prefixes, op->shown.path))
        return false;
    for (i = 0; filter->tags != NULL && i < op->tag_count; i++)
        tagged = tagged || phi__selection_listed(filter->tags, op->tags[i], false);
    return filter->tags == NULL || tagged;
}

/* ---- selections ---- */

static void phi__selection_free(phi_openapi *api, phi__selection *s) {
    phi_memory *memory = &api->memory;
    phi__selection **at = &api->selections;
    while (*at != NULL && *at != s) at = &(*at)->next;
    if (*at != NULL) *at = s->next;
    phi__free(memory, s->tools, s->tool_cap * sizeof *s->tools);
    phi__free(memory, s->operations, s->operation_cap * sizeof *s->operations);
    phi__free(memory, s->skipped, s->skip_cap * sizeof *s->skipped);
    phi_arena_free(&s->arena);
    phi__free(memory, s, sizeof *s);
}

PHI__FN void phi__selection_free_all(phi_openapi *api) {
    while (api->selections != NULL) phi__selection_free(api, api->selections);
}

static phi__selection *phi__selection_new(phi_openapi *api) {
    phi__selection *s = (phi__selection *)phi__alloc(&api->memory, sizeof *s);
    if (s == NULL) return NULL;
    phi_arena_init(&s->arena, &api->memory, 0);
    s->next = api->selections;
    api->selections = s;
    return s;
}

static bool phi__selection_room(phi_openapi *api, phi__selection *s, const phi_openapi_tools *out) {
    phi_memory *memory = &api->memory;
    void *at = s->tools;
    if (out->count == s->tool_cap) {
        at = phi__grow(memory, s->tools, &s->tool_cap, out->count + 1, sizeof *s->tools);
        if (at == NULL) return false;
        s->tools = (phi_tool *)at;
    }
    if (out->count == s->operation_cap) {
        at = phi__grow(memory, s->operations, &s->operation_cap, out->count + 1,
                       sizeof *s->operations);
        if (at == NULL) return false;
        s->operations = (size_t *)at;
    }
    if (out->skip_count == s->skip_cap) {
        at = phi__grow(memory, s->skipped, &s->skip_cap, out->skip_count + 1, sizeof *s->skipped);
        if (at == NULL) return false;
        s->skipped = (phi_openapi_skip *)at;
    }
    return true;
}

static bool phi__selection_add(phi_openapi *api, phi__selection *s, phi_openapi_tools *out,
                               size_t *units) {
    const char *skip = NULL;
    if (!phi__selection_room(api, s, out) ||
        !phi__maker_make(api, s->at, &s->arena, &s->tools[out->count], &skip, units))
        return false;
    if (skip != NULL) {
        s->skipped[out->skip_count].operation = s->at;
        s->skipped[out->skip_count++].message = skip;
    } else
        s->operations[out->count++] = s->at;
    out->tools = s->tools;
    out->operations = s->operations;
    out->skipped = s->skipped;
    return true;
}

/* ---- public ---- */

PHI_API phi_status phi_openapi_select(phi_openapi *api, const phi_openapi_filter *filter,
                                      phi_openapi_tools *out) {
    phi__selection *s;
    size_t units = 0;
    if (api == NULL || out == NULL) return PHI_BAD_ARG;
    if (api->reading.status != PHI_OK)
        return phi__error(api->rt, PHI_MISUSE, "phi_openapi_select: the document is not ready");
    if (out->work == NULL) {
        memset(out, 0, sizeof *out);
        out->work = phi__selection_new(api);
        if (out->work == NULL)
            return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_select: no memory");
    }
    s = (phi__selection *)out->work;
    while (s->at < api->document->count) {
        if (units >= api->step_bytes) return PHI_BUSY;
        units += PHI__SELECTION_ENTRY;
        if (phi__selection_fits(&api->document->operations[s->at], filter) &&
            !phi__selection_add(api, s, out, &units)) {
            phi__selection_free(api, s);
            memset(out, 0, sizeof *out);
            return phi__error(api->rt, PHI_NO_MEMORY, "phi_openapi_select: no memory");
        }
        s->at++;
    }
    return PHI_OK;
}

PHI_API phi_status phi_openapi_release(phi_openapi *api, phi_openapi_tools *tools) {
    if (api == NULL || tools == NULL) return PHI_BAD_ARG;
    if (api->calls_open > 0)
        return phi__error(api->rt, PHI_MISUSE,
                          "phi_openapi_release: %u calls are under way: free or abort their agents",
                          (unsigned)api->calls_open);
    if (tools->work != NULL) phi__selection_free(api, (phi__selection *)tools->work);
    memset(tools, 0, sizeof *tools);
    return PHI_OK;
}

#endif

/* ---- src/openapi/settings.c ---- */

/* settings.c - copies and checks of a document's settings. */

#ifndef PHI_NO_OPENAPI

enum {
    PHI__SETTINGS_TIMEOUT_MS = 30000,     /* the book, part "OpenAPI Tool Adapter" */
    PHI__SETTINGS_RESPONSE_BYTES = 65536, /* the same */
    PHI__SETTINGS_DOCUMENT_BYTES = 67108864,
    PHI__SETTINGS_SCHEMA_BYTES = 65536
};

/* ---- checks ---- */

static bool phi__settings_line(const char *text) {
    return text == NULL || strpbrk(text, "\r\n") == NULL;
}

static bool phi__settings_pairs(const phi_openapi_pair *pairs, size_t count) {
    size_t i;
    if (count > 0 && pairs == NULL) return false;
    for (i = 0; i < count; i++)
        if (pairs[i].name == NULL || pairs[i].value == NULL || pairs[i].name[0] == '\0' ||
            !phi__settings_line(pairs[i].name) || !phi__settings_line(pairs[i].value))
            return false;
    return true;
}

PHI__FN const char *phi__settings_refuse(const phi_openapi_desc *desc) {
    const phi_openapi_auth *auth = &desc->auth;
    size_t i;
    if (!phi__settings_pairs(desc->headers, desc->header_count))
        return "headers: each needs a name and a value, without line breaks";
    for (i = 0; i < desc->header_count; i++)
        if (strpbrk(desc->headers[i].name, ": \t") != NULL)
            return "headers: a name holds a colon or a blank";
    if (!phi__settings_pairs(auth->keys, auth->key_count))
        return "auth.keys: each needs a scheme's name and a value, without line breaks";
    if (!phi__settings_line(auth->bearer_token) || !phi__settings_line(auth->user) ||
        !phi__settings_line(auth->password) || !phi__settings_line(auth->client_id) ||
        !phi__settings_line(auth->client_secret))
        return "auth: a credential holds a line break";
    if (auth->user != NULL && strchr(auth->user, ':') != NULL)
        return "auth.user: it may not hold a colon";
    if (auth->client_secret != NULL && auth->client_id == NULL)
        return "auth.client_id is missing beside client_secret";
    return NULL;
}

/* ---- copies ---- */

static bool phi__settings_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__settings_copy_pairs(phi_arena *arena, const phi_openapi_pair **pairs,
                                     size_t count) {
    phi_openapi_pair *copy;
    size_t i;
    if (count == 0) return true;
    copy = (phi_openapi_pair *)phi__arena_zero(arena, phi__mul(count, sizeof *copy));
    if (copy == NULL) return false;
    for (i = 0; i < count; i++) {
        copy[i] = (*pairs)[i];
        if (!phi__settings_text(arena, &copy[i].name) || !phi__settings_text(arena, &copy[i].value))
            return false;
    }
    *pairs = copy;
    return true;
}

static bool phi__settings_copy_list(phi_arena *arena, const char *const **list) {
    const char **copy;
    size_t count = 0, i;
    if (*list == NULL) return true;
    while ((*list)[count] != NULL) count++;
    copy = (const char **)phi__arena_zero(arena, phi__mul(count + 1, sizeof *copy));
    if (copy == NULL) return false;
    for (i = 0; i < count; i++) {
        copy[i] = (*list)[i];
        if (!phi__settings_text(arena, &copy[i])) return false;
    }
    *list = copy;
    return true;
}

static bool phi__settings_texts(phi_arena *arena, phi_openapi_desc *desc) {
    const char **texts[9];
    size_t i;
    texts[0] = &desc->base_url;
    texts[1] = &desc->response_directory;
    texts[2] = &desc->name_prefix;
    texts[3] = &desc->auth.bearer_token;
    texts[4] = &desc->auth.user;
    texts[5] = &desc->auth.password;
    texts[6] = &desc->auth.client_id;
    texts[7] = &desc->auth.client_secret;
    texts[8] = &desc->auth.token_url;
    for (i = 0; i < PHI__COUNT(texts); i++)
        if (!phi__settings_text(arena, texts[i])) return false;
    return true;
}

PHI__FN bool phi__settings_copy(phi_arena *arena, const phi_openapi_desc *desc,
                                phi_openapi_desc *out) {
    memset(out, 0, sizeof *out);
    if (desc != NULL) *out = *desc;
    if (out->name_prefix != NULL && out->name_prefix[0] == '\0') out->name_prefix = NULL;
    if (out->timeout_ms == 0) out->timeout_ms = PHI__SETTINGS_TIMEOUT_MS;
    if (out->max_response_bytes == 0) out->max_response_bytes = PHI__SETTINGS_RESPONSE_BYTES;
    if (out->max_document_bytes == 0) out->max_document_bytes = PHI__SETTINGS_DOCUMENT_BYTES;
    if (out->max_schema_bytes == 0) out->max_schema_bytes = PHI__SETTINGS_SCHEMA_BYTES;
    return phi__settings_texts(arena, out) &&
           phi__settings_copy_pairs(arena, &out->headers, out->header_count) &&
           phi__settings_copy_pairs(arena, &out->auth.keys, out->auth.key_count) &&
           phi__settings_copy_list(arena, &out->upload_roots);
}

#endif

/* ---- src/openapi/styles.c ---- */

/* styles.c - the values of parameters as text. */

#ifndef PHI_NO_OPENAPI

enum { PHI__STYLES_DEPTH = 16 }; /* of deepObject; deeper values are JSON text */

/* How pairs are joined, and their values escaped. */
typedef struct phi__styles {
    phi__buf *out;
    const char *between;
    phi__styles_escape how;
    phi_str name;
} phi__styles;

static bool phi__styles_keeps(unsigned char c, phi__styles_escape how) {
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')) return true;
    if (c == '\0') return how == PHI__ESCAPE_NONE;
    if (strchr("-._~", c) != NULL) return true;
    if (how == PHI__ESCAPE_RESERVED) return strchr(":/?@!$'()*,;", c) != NULL;
    if (how == PHI__ESCAPE_COOKIE) return c > 32 && c < 127 && strchr("\"%,;\\", c) == NULL;
    return how == PHI__ESCAPE_NONE;
}

PHI__FN void phi__styles_put_escaped(phi__buf *out, phi_str text, phi__styles_escape how) {
    static const char hex[] = "0123456789ABCDEF";
    size_t i, from = 0;
    for (i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        char code[3];
        if (phi__styles_keeps(c, how)) continue;
        phi__buf_add(out, text.at + from, i - from);
        code[0] = '%';
        code[1] = hex[c >> 4];
        code[2] = hex[c & 15];
        phi__buf_add(out, code, 3);
        from = i + 1;
    }
    phi__buf_add(out, text.at + from, text.len - from);
}

PHI__FN void phi__styles_put_value(phi__buf *out, const phi_json *value, phi__styles_escape how) {
    phi__buf text;
    if (phi_json_is_string(value)) {
        phi__styles_put_escaped(out, phi_json_str(value, NULL), how);
        return;
    }
    phi__buf_init(&text, out->memory);
    if (phi__json_write(&text, value, 0) != PHI_OK) text.failed = true;
    if (text.failed)
        out->failed = true;
    else
        phi__styles_put_escaped(out, phi__buf_str(&text), how);
    phi__buf_free(&text);
}

/* The items or members, each behind `first` or `between`, keys and values joined by `equals`. */
static void phi__styles_put_list(phi__buf *out, const phi_json *value, const char *between,
                                 const char *equals, phi__styles_escape how) {
    phi_json_iter it = phi_json_each(value);
    bool keys = phi_json_is_object(value), any = false;
    phi_json *child;
    while ((child = phi_json_next(&it)) != NULL) {
        if (phi_json_is_null(child)) continue;
        if (any) phi__buf_text(out, between);
        any = true;
        if (keys) {
            phi__styles_put_escaped(out, it.key, how);
            phi__buf_text(out, equals);
        }
        phi__styles_put_value(out, child, how);
    }
}

static bool phi__styles_is_list(const phi_json *value) {
    return phi_json_is_array(value) || phi_json_is_object(value);
}

static void phi__styles_put_simple(phi__buf *out, const phi_json *value, bool explode,
                                   phi__styles_escape how) {
    if (phi__styles_is_list(value))
        phi__styles_put_list(out, value, ",", explode ? "=" : ",", how);
    else
        phi__styles_put_value(out, value, how);
}

/* ---- paths ---- */

static void phi__styles_put_label(phi__buf *out, const phi_json *value, bool explode) {
    phi__buf_char(out, '.');
    if (phi__styles_is_list(value))
        phi__styles_put_list(out, value, explode ? "." : ",", explode ? "=" : ",", PHI__ESCAPE_ALL);
    else
        phi__styles_put_value(out, value, PHI__ESCAPE_ALL);
}

static void phi__styles_limit(phi__buf *out) {
    if (out->len > PHI__STYLES_MOST) out->failed = true;
}

static void phi__styles_put_matrix_one(phi__buf *out, phi_str name, const phi_json *value) {
    phi__styles_limit(out);
    phi__buf_char(out, ';');
    phi__styles_put_escaped(out, name, PHI__ESCAPE_ALL);
    if (phi_json_is_string(value) && phi_json_str(value, NULL).len == 0) return;
    phi__buf_char(out, '=');
    phi__styles_put_value(out, value, PHI__ESCAPE_ALL);
}

static void phi__styles_put_matrix(phi__buf *out, phi_str name, const phi_json *value,
                                   bool explode) {
    bool keys = phi_json_is_object(value);
    phi_json_iter it = phi_json_each(value);
    phi_json *child;
    if (!phi__styles_is_list(value)) {
        phi__styles_put_matrix_one(out, name, value);
    } else if (!explode) {
        phi__buf_char(out, ';');
        phi__styles_put_escaped(out, name, PHI__ESCAPE_ALL);
        if (phi_json_count(value) == 0) return;
        phi__buf_char(out, '=');
        phi__styles_put_list(out, value, ",", ",", PHI__ESCAPE_ALL);
    } else {
        while (!out->failed && (child = phi_json_next(&it)) != NULL)
            if (!phi_json_is_null(child))
                phi__styles_put_matrix_one(out, keys ? it.key : name, child);
    }
}

PHI__FN void phi__styles_put_path(phi__buf *out, const phi__operation_parameter *p,
                                  const phi_json *value) {
    if (p->content_type.len > 0)
        phi__styles_put_value(out, value, PHI__ESCAPE_ALL);
    else if (p->style == PHI__STYLE_LABEL)
        phi__styles_put_label(out, value, p->explode);
    else if (p->style == PHI__STYLE_MATRIX)
        phi__styles_put_matrix(out, p->name, value, p->explode);
    else
        phi__styles_put_simple(out, value, p->explode, PHI__ESCAPE_ALL);
}

PHI__FN void phi__styles_put_header(phi__buf *out, const phi__operation_parameter *p,
                                    const phi_json *value) {
    if (p->content_type.len > 0)
        phi__styles_put_value(out, value, PHI__ESCAPE_NONE);
    else
        phi__styles_put_simple(out, value, p->explode, PHI__ESCAPE_NONE);
}

/* ---- pairs ---- */

static void phi__styles_put_name(const phi__styles *s, phi_str name) {
    phi__styles_limit(s->out);
    if (s->out->len > 0) phi__buf_text(s->out, s->between);
    phi__styles_put_escaped(s->out, name, PHI__ESCAPE_ALL);
    phi__buf_char(s->out, '=');
}

static void phi__styles_put_pair(const phi__styles *s, phi_str name, const phi_json *value) {
    phi__styles_put_name(s, name);
    phi__styles_put_value(s->out, value, s->how);
}

static void phi__styles_put_exploded(const phi__styles *s, const phi_json *value) {
    bool keys = phi_json_is_object(value);
    phi_json_iter it = phi_json_each(value);
    phi_json *child;
    while (!s->out->failed && (child = phi_json_next(&it)) != NULL)
        if (!phi_json_is_null(child)) phi__styles_put_pair(s, keys ? it.key : s->name, child);
}

/* name: grows and shrinks with the way down. */
static void phi__styles_put_deep(const phi__styles *s, phi__buf *name, const phi_json *value,
                                 int depth) {
    phi_json_iter it = phi_json_each(value);
    size_t len = name->len, index = 0;
    phi_json *child;
    if (phi_json_is_null(value)) return;
    if (!phi__styles_is_list(value) || depth >= PHI__STYLES_DEPTH) {
        phi__styles_put_pair(s, phi__buf_str(name), value);
        return;
    }
    while ((child = phi_json_next(&it)) != NULL) {
        phi__buf_char(name, '[');
        if (phi_json_is_array(value))
            phi__buf_u64(name, index++);
        else
            phi__buf_add_str(name, it.key);
        phi__buf_char(name, ']');
        if (name->failed || s->out->failed) return;
        phi__styles_put_deep(s, name, child, depth + 1);
        name->len = len;
    }
}

static void phi__styles_put_deep_all(const phi__styles *s, const phi_json *value) {
    phi__buf name;
    phi__buf_init(&name, s->out->memory);
    phi__buf_add_str(&name, s->name);
    if (!name.failed) phi__styles_put_deep(s, &name, value, 0);
    if (name.failed) s->out->failed = true;
    phi__buf_free(&name);
}

static void phi__styles_put_joined(const phi__styles *s, const phi_json *value,
                                   const char *between) {
    if (phi_json_count(value) == 0) return;
    phi__styles_put_name(s, s->name);
    phi__styles_put_list(s->out, value, between, between, s->how);
}

PHI__FN void phi__styles_put_pairs(phi__buf *out, const phi__operation_parameter *p,
                                   const phi_json *value) {
    bool cookie = p->place == PHI__OPERATION_COOKIE;
    phi__styles s;
    s.out = out;
    s.between = cookie ? "; " : "&";
    s.how = cookie              ? PHI__ESCAPE_COOKIE
            : p->allow_reserved ? PHI__ESCAPE_RESERVED
                                : PHI__ESCAPE_ALL;
    s.name = p->name;
    if (p->content_type.len > 0 || !phi__styles_is_list(value))
        phi__styles_put_pair(&s, p->name, value);
    else if (p->style == PHI__STYLE_DEEP)
        phi__styles_put_deep_all(&s, value);
    else if (p->explode)
        phi__styles_put_exploded(&s, value);
    else
        phi__styles_put_joined(&s, value,
                               p->style == PHI__STYLE_SPACE  ? "%20"
                               : p->style == PHI__STYLE_PIPE ? "%7C"
                                                             : ",");
}

#endif

/* ---- src/openapi/tool_schema.c ---- */

/* tool_schema.c - schemas of a document as the JSON Schema of a tool. */

#ifndef PHI_NO_OPENAPI


#include <stdio.h>

enum {
    PHI__TOOL_SCHEMA_DEPTH = 64,     /* nested schemas; deeper ones are left open */
    PHI__TOOL_SCHEMA_WORK = 4000000, /* members looked at */
    PHI__TOOL_SCHEMA_WORDS = 512,    /* bytes of a description */
    PHI__TOOL_SCHEMA_NOTE = 160,     /* bytes of a keyword in a description */
    PHI__TOOL_SCHEMA_SHORT = 256,    /* bytes of a default or an example */
    PHI__TOOL_SCHEMA_LIST = 16384,   /* bytes of an enum */
    PHI__TOOL_SCHEMA_NAME = 48       /* bytes of a definition's name, without its number */
};

PHI__FN void phi__tool_schema_init(phi__tool_schema *s, phi__document_view *view,
                                   size_t most_bytes) {
    memset(s, 0, sizeof *s);
    s->view = view;
    s->most_bytes = most_bytes;
    phi__buf_init(&s->out, view->doc->memory);
    phi__buf_init(&s->words, view->doc->memory);
}

PHI__FN void phi__tool_schema_free(phi__tool_schema *s) {
    phi_memory *memory = s->view->doc->memory;
    phi__buf_free(&s->out);
    phi__buf_free(&s->words);
    phi__free(memory, s->defs, s->def_cap * sizeof *s->defs);
    phi__free(memory, s->edges, s->edge_cap * sizeof *s->edges);
    s->defs = NULL;
    s->edges = NULL;
    s->def_cap = s->edge_cap = 0;
}

static void phi__tool_schema_no_memory(phi__tool_schema *s) {
    s->failed = s->view->no_memory = true;
}

static bool phi__tool_schema_spend(phi__tool_schema *s, size_t work) {
    if (s->failed) return false;
    if (work <= PHI__TOOL_SCHEMA_WORK && s->work <= PHI__TOOL_SCHEMA_WORK - work) {
        s->work += (uint32_t)work;
        return true;
    }
    s->failed = true;
    (void)snprintf(s->view->message, sizeof s->view->message, "its schema is too large");
    return false;
}

PHI__FN phi_str phi__tool_schema_cut(phi_str text, size_t most) {
    return phi__str(text.at, phi__utf8_cut(text, most));
}

PHI__FN phi_json_type phi__tool_schema_type(const phi_json *schema) {
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    const phi_json *type = phi_json_get(schema, "type");
    phi_json_iter it = phi_json_each(phi_json_is_array(type) ? type : NULL);
    const phi_json *one = phi_json_is_array(type) ? NULL : type;
    size_t i;
    while (phi_json_next(&it) != NULL) {
        if (phi__str_is(phi__json_text_of(it.at), "null")) continue;
        if (one != NULL) return PHI_JSON_NONE;
        one = it.at;
    }
    if (phi__str_is(phi__json_text_of(one), "integer")) return PHI_JSON_NUMBER;
    for (i = 1; i < PHI__COUNT(names); i++)
        if (phi__str_is(phi__json_text_of(one), names[i]))
            return (phi_json_type)(PHI_JSON_NULL + i);
    return phi_json_is_object(phi_json_get(schema, "properties")) ? PHI_JSON_OBJECT : PHI_JSON_NONE;
}

PHI__FN bool phi__tool_schema_is_file(const phi_json *schema) {
    phi_str format = phi__json_text_of(phi_json_get(schema, "format"));
    if (phi__tool_schema_type(schema) != PHI_JSON_STRING) return false;
    return phi__str_is(format, "binary") || phi__str_is(format, "byte") ||
           phi_json_is_string(phi_json_get(schema, "contentMediaType")) ||
           phi_json_is_string(phi_json_get(schema, "contentEncoding"));
}

/* ---- descriptions ---- */

static void phi__tool_schema_say(phi__tool_schema *s, phi_str words) {
    if (s->words.len > 0 && words.len > 0) phi__buf_char(&s->words, ' ');
    phi__buf_add_str(&s->words, words);
}

/* "(pattern: ^a+$)" */
static void phi__tool_schema_say_keyword(phi__tool_schema *s, phi_str key, const phi_json *value) {
    size_t from;
    phi__tool_schema_say(s, PHI__LIT("("));
    phi__buf_add_str(&s->words, key);
    phi__buf_text(&s->words, ": ");
    from = s->words.len;
    if (phi_json_is_string(value))
        phi__buf_add_str(&s->words, phi__json_text_of(value));
    else
        (void)phi__json_write(&s->words, value, 0);
    if (s->words.len - from > PHI__TOOL_SCHEMA_NOTE) {
        s->words.len = from + phi__utf8_cut(phi__str(s->words.at + from, s->words.len - from),
                                            PHI__TOOL_SCHEMA_NOTE);
        phi__buf_text(&s->words, "...");
    }
    phi__buf_char(&s->words, ')');
}

static void phi__tool_schema_say_more(phi__tool_schema *s, const phi_json *schema) {
    phi_json_iter it = phi_json_each(schema);
    phi_str name =
        phi__json_text_of(phi_json_get(phi_json_get(schema, "discriminator"), "propertyName"));
    while (phi_json_next(&it) != NULL)
        if (phi__keywords_of(it.key, it.at) == PHI__KEYWORD_NOTE)
            phi__tool_schema_say_keyword(s, it.key, it.at);
    if (name.len > 0) {
        phi__tool_schema_say(s, PHI__LIT("(its variant is named by the property "));
        phi__buf_add_str(&s->words, phi__tool_schema_cut(name, PHI__TOOL_SCHEMA_NOTE));
        phi__buf_char(&s->words, ')');
    }
    if (phi_json_bool(phi_json_get(schema, "deprecated"), false))
        phi__tool_schema_say(s, PHI__LIT("(deprecated)"));
}

static void phi__tool_schema_put_words(phi__tool_schema *s) {
    if (s->words.failed) phi__tool_schema_no_memory(s);
    if (s->words.len == 0) return;
    phi__json_write_key(&s->out, PHI__LIT("description"));
    phi__json_write_str(&s->out, phi__buf_str(&s->words));
}

/* Begins the description; the caller may say more before phi__tool_schema_put_words. */
static void phi__tool_schema_describe(phi__tool_schema *s, const phi_json *schema, phi_str note) {
    if (note.len == 0) note = phi__json_text_of(phi_json_get(schema, "description"));
    phi__buf_clear(&s->words);
    phi__tool_schema_say(s, phi__tool_schema_cut(note, PHI__TOOL_SCHEMA_WORDS));
    if (note.len > PHI__TOOL_SCHEMA_WORDS) phi__buf_text(&s->words, "...");
}

/* A schema that allows everything of its type. */
static void phi__tool_schema_put_open(phi__tool_schema *s, const phi_json *schema, phi_str note,
                                      const char *why) {
    phi_str type = phi__json_text_of(phi_json_get(schema, "type"));
    phi__tool_schema_describe(s, schema, note);
    if (why != NULL) phi__tool_schema_say(s, phi_str_of(why));
    phi__buf_char(&s->out, '{');
    if (phi__keywords_is_type(type) && !phi_json_bool(phi_json_get(schema, "nullable"), false)) {
        phi__json_write_key(&s->out, PHI__LIT("type"));
        phi__json_write_str(&s->out, type);
        if (phi__str_is(type, "array")) phi__buf_text(&s->out, ",\"items\":{}");
    }
    phi__tool_schema_put_words(s);
    phi__buf_char(&s->out, '}');
}

/* ---- references ---- */

static phi__tool_schema_def *phi__tool_schema_named(const phi__tool_schema *s, phi_str name) {
    size_t i;
    for (i = 0; i < s->def_count; i++)
        if (phi_str_equal(s->defs[i].name, name)) return &s->defs[i];
    return NULL;
}

/* The last step of a reference, of letters that need no escape, and a number where it is taken.
   The first of a name counts: a document may have thousands of the same. False: no memory. */
static bool phi__tool_schema_name(phi__tool_schema *s, phi_str ref, phi_str *out) {
    char name[PHI__TOOL_SCHEMA_NAME + 16];
    phi__tool_schema_def *first;
    size_t at = ref.len, len = 0, base;
    while (at > 0 && ref.at[at - 1] != '/') at--;
    for (; at < ref.len && len < PHI__TOOL_SCHEMA_NAME; at++) {
        char c = ref.at[at];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '.' || c == '_' || c == '-';
        name[len++] = plain ? c : '_';
    }
    base = len;
    first = phi__tool_schema_named(s, phi__str(name, len));
    while (first != NULL) {
        len = base + (size_t)snprintf(name + base, 16, "_%u", ++first->same + 1);
        if (phi__tool_schema_named(s, phi__str(name, len)) == NULL) break;
        if (!phi__tool_schema_spend(s, s->def_count)) return true; /* it has failed */
    }
    return phi__arena_str(s->view->arena, phi__str(name, len), out);
}

static size_t phi__tool_schema_add_def(phi__tool_schema *s, const phi_json *node, phi_str ref) {
    phi__tool_schema_def *def;
    if (s->def_count == s->def_cap) {
        void *grown = phi__grow(s->view->doc->memory, s->defs, &s->def_cap, s->def_count + 1,
                                sizeof *s->defs);
        if (grown == NULL) {
            phi__tool_schema_no_memory(s);
            return 0;
        }
        s->defs = (phi__tool_schema_def *)grown;
    }
    def = &s->defs[s->def_count];
    if (!phi__tool_schema_name(s, ref, &def->name)) phi__tool_schema_no_memory(s);
    if (s->failed) return 0;
    def->node = node;
    def->same = 0;
    return ++s->def_count;
}

/* The definition of a reference; 0: failed. */
static size_t phi__tool_schema_def_of(phi__tool_schema *s, phi_str ref) {
    const phi_json *node = phi__document_target(s->view, ref);
    size_t i;
    if (node == NULL) {
        s->failed = true;
        return 0;
    }
    if (!phi__tool_schema_spend(s, s->def_count)) return 0;
    for (i = 0; i < s->def_count; i++)
        if (s->defs[i].node == node) return i + 1;
    return phi__tool_schema_add_def(s, node, ref);
}

/* True: this reference closes a circle, and is left open. */
static bool phi__tool_schema_closes(phi__tool_schema *s, size_t to) {
    if (s->optional || to == 0) return false;
    if (s->second) return phi__circles_is_cut(s->edges, s->edge_count, s->from, to);
    if (!phi__circles_add(s->view->doc->memory, &s->edges, &s->edge_count, &s->edge_cap, s->from,
                          to))
        phi__tool_schema_no_memory(s);
    return false;
}

/* {"$ref": ...} alone, or the members of a schema that describes itself. */
static void phi__tool_schema_put_ref(phi__tool_schema *s, phi_str ref) {
    size_t def = phi__tool_schema_def_of(s, ref);
    if (s->failed) return;
    if (phi__tool_schema_closes(s, def)) {
        phi__tool_schema_say(s, PHI__LIT("(again "));
        phi__buf_add_str(&s->words, s->defs[def - 1].name);
        phi__buf_text(&s->words, ", in which this is)");
        phi__tool_schema_put_words(s);
        return;
    }
    phi__tool_schema_put_words(s);
    phi__json_write_key(&s->out, PHI__LIT("$ref"));
    phi__buf_text(&s->out, "\"#/$defs/");
    phi__buf_add_str(&s->out, s->defs[def - 1].name);
    phi__buf_char(&s->out, '"');
}

static void phi__tool_schema_put_lone_ref(phi__tool_schema *s, phi_str ref) {
    phi__json_write_comma(&s->out);
    phi__buf_char(&s->out, '{');
    phi__buf_clear(&s->words);
    phi__tool_schema_put_ref(s, ref);
    phi__buf_char(&s->out, '}');
}

/* ---- keywords ---- */

static void phi__tool_schema_put_type(phi__tool_schema *s, const phi_json *schema) {
    const phi_json *type = phi_json_get(schema, "type");
    bool nullable = phi_json_bool(phi_json_get(schema, "nullable"), false), any = false;
    phi_json_iter it = phi_json_each(phi_json_is_array(type) ? type : NULL);
    size_t before = s->out.len;
    phi__json_write_key(&s->out, PHI__LIT("type"));
    if (phi_json_is_string(type) && phi__keywords_is_type(phi__json_text_of(type))) {
        if (nullable) phi__buf_char(&s->out, '[');
        phi__json_write_str(&s->out, phi__json_text_of(type));
        if (nullable) phi__buf_text(&s->out, ",\"null\"]");
        return;
    }
    phi__buf_char(&s->out, '[');
    while (phi_json_next(&it) != NULL) {
        if (!phi__keywords_is_type(phi__json_text_of(it.at))) continue;
        phi__json_write_comma(&s->out);
        phi__json_write_str(&s->out, phi__json_text_of(it.at));
        any = true;
    }
    phi__buf_char(&s->out, ']');
    if (!any && !s->out.failed) s->out.len = before;
}

static void phi__tool_schema_put_number(phi__tool_schema *s, const char *key,
                                        const phi_json *value) {
    if (!phi_json_is_number(value)) return;
    phi__json_write_key(&s->out, phi_str_of(key));
    (void)phi__json_write(&s->out, value, 0);
}

/* In version 3.0 exclusiveMinimum is true or false, beside minimum. */
static void phi__tool_schema_put_range(phi__tool_schema *s, const phi_json *schema) {
    static const char *const keys[2][2] = {{"minimum", "exclusiveMinimum"},
                                           {"maximum", "exclusiveMaximum"}};
    size_t i;
    for (i = 0; i < 2; i++) {
        const phi_json *bound = phi_json_get(schema, keys[i][0]);
        const phi_json *beyond = phi_json_get(schema, keys[i][1]);
        if (phi_json_bool(beyond, false)) {
            phi__tool_schema_put_number(s, keys[i][1], bound);
            continue;
        }
        phi__tool_schema_put_number(s, keys[i][0], bound);
        phi__tool_schema_put_number(s, keys[i][1], beyond);
    }
}

static void phi__tool_schema_put_copy(phi__tool_schema *s, phi_str key, const phi_json *value,
                                      size_t most) {
    size_t before = s->out.len;
    phi__json_write_key(&s->out, key);
    (void)phi__json_write(&s->out, value, 0);
    if (s->out.len - before > most && !s->out.failed) s->out.len = before;
}

/* ---- objects ---- */

static bool phi__tool_schema_read_only(phi__tool_schema *s, const phi_json *schema) {
    const phi_json *ref = phi_json_get(schema, "$ref");
    if (phi_json_bool(phi_json_get(schema, "readOnly"), false)) return true;
    if (!phi_json_is_string(ref)) return false;
    schema = phi__document_target(s->view, phi__json_text_of(ref));
    if (s->view->no_memory) s->failed = true;
    return phi_json_bool(phi_json_get(schema, "readOnly"), false);
}

static bool phi__tool_schema_requires(phi__tool_schema *s, const phi_json *schema, phi_str name) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "required"));
    if (!phi_json_is_array(phi_json_get(schema, "required"))) return false;
    if (!phi__tool_schema_spend(s, it.left)) return false;
    while (phi_json_next(&it) != NULL)
        if (phi_str_equal(phi__json_text_of(it.at), name)) return true;
    return false;
}

static void phi__tool_schema_put_properties(phi__tool_schema *s, const phi_json *schema,
                                            const phi_json *properties) {
    phi_json_iter it = phi_json_each(properties);
    bool was = s->optional;
    phi__json_write_key(&s->out, PHI__LIT("properties"));
    phi__buf_char(&s->out, '{');
    while (!s->failed && phi_json_next(&it) != NULL) {
        if (phi__tool_schema_read_only(s, it.at)) continue;
        if (s->out.len / 2 > s->most_bytes) break;
        phi__json_write_key(&s->out, it.key);
        s->optional = was || !phi__tool_schema_requires(s, schema, it.key);
        phi__tool_schema_put(s, it.at, phi__str(NULL, 0));
        s->optional = was;
    }
    phi__buf_char(&s->out, '}');
}

static void phi__tool_schema_put_required(phi__tool_schema *s, const phi_json *schema,
                                          const phi_json *names) {
    const phi_json *properties = phi_json_get(schema, "properties");
    phi_json_iter it = phi_json_each(names);
    size_t before = s->out.len;
    bool any = false;
    phi__json_write_key(&s->out, PHI__LIT("required"));
    phi__buf_char(&s->out, '[');
    while (!s->failed && phi_json_next(&it) != NULL) {
        if (!phi_json_is_string(it.at)) continue;
        if (!phi__tool_schema_spend(s, 1 + phi_json_count(properties))) return;
        if (phi__tool_schema_read_only(s, phi_json_get_n(properties, phi__json_text_of(it.at))))
            continue;
        phi__json_write_comma(&s->out);
        phi__json_write_str(&s->out, phi__json_text_of(it.at));
        any = true;
    }
    phi__buf_char(&s->out, ']');
    if (!any && !s->out.failed) s->out.len = before;
}

/* ---- choices ---- */

/* The values of the discriminator that stand for this reference. */
static void phi__tool_schema_put_values(phi__tool_schema *s, const phi_json *discriminator,
                                        phi_str ref) {
    phi_json_iter it = phi_json_each(phi_json_get(discriminator, "mapping"));
    phi_str last = ref;
    size_t i;
    bool any = false;
    if (!phi__tool_schema_spend(s, it.left)) return;
    for (i = 0; i < ref.len; i++)
        if (ref.at[i] == '/') last = phi__str(ref.at + i + 1, ref.len - i - 1);
    while (phi_json_next(&it) != NULL) {
        phi_str to = phi__json_text_of(it.at);
        if (!phi_str_equal(to, ref) && !phi_str_equal(to, last)) continue;
        phi__json_write_comma(&s->out);
        phi__json_write_str(&s->out, it.key);
        any = true;
    }
    if (!any) phi__json_write_str(&s->out, last);
}

/* {"allOf": [variant, the discriminator has its value]} */
static void phi__tool_schema_put_variant(phi__tool_schema *s, const phi_json *discriminator,
                                         phi_str ref) {
    phi_str name = phi__json_text_of(phi_json_get(discriminator, "propertyName"));
    phi__buf_text(&s->out, "{\"allOf\":[");
    phi__tool_schema_put_lone_ref(s, ref);
    phi__buf_text(&s->out, ",{\"type\":\"object\",\"properties\":{");
    phi__json_write_key(&s->out, name);
    phi__buf_text(&s->out, "{\"enum\":[");
    phi__tool_schema_put_values(s, discriminator, ref);
    phi__buf_text(&s->out, "]}},\"required\":[");
    phi__json_write_str(&s->out, name);
    phi__buf_text(&s->out, "]}]}");
}

static void phi__tool_schema_put_choices(phi__tool_schema *s, const phi_json *schema, phi_str key,
                                         const phi_json *list) {
    const phi_json *discriminator = phi_json_get(schema, "discriminator");
    phi_json_iter it = phi_json_each(list);
    bool tells = phi_json_is_string(phi_json_get(discriminator, "propertyName")) &&
                 !phi__str_is(key, "allOf");
    size_t before = s->out.len;
    phi__json_write_key(&s->out, key);
    phi__buf_char(&s->out, '[');
    while (!s->failed && phi_json_next(&it) != NULL) {
        const phi_json *ref = phi_json_get(it.at, "$ref");
        if (s->out.len / 2 > s->most_bytes && !s->out.failed) { /* a part would say too little */
            s->out.len = before;
            return;
        }
        phi__json_write_comma(&s->out);
        if (tells && phi_json_is_string(ref))
            phi__tool_schema_put_variant(s, discriminator, phi__json_text_of(ref));
        else
            phi__tool_schema_put(s, it.at, phi__str(NULL, 0));
    }
    phi__buf_char(&s->out, ']');
}

/* ---- one schema ---- */

static void phi__tool_schema_put_member(phi__tool_schema *s, const phi_json *schema, phi_str key,
                                        const phi_json *value) {
    switch (phi__keywords_of(key, value)) {
    case PHI__KEYWORD_COPY: phi__tool_schema_put_copy(s, key, value, PHI__TOOL_SCHEMA_LIST); break;
    case PHI__KEYWORD_SHORT:
        phi__tool_schema_put_copy(s, key, value, PHI__TOOL_SCHEMA_SHORT);
        break;
    case PHI__KEYWORD_SUB:
        phi__json_write_key(&s->out, key);
        if (phi_json_is_bool(value) && phi__str_is(key, "additionalProperties"))
            phi__json_write_bool(&s->out, phi_json_bool(value, true));
        else
            phi__tool_schema_put(s, value, phi__str(NULL, 0));
        break;
    case PHI__KEYWORD_SUBS: phi__tool_schema_put_properties(s, schema, value); break;
    case PHI__KEYWORD_CHOICES: phi__tool_schema_put_choices(s, schema, key, value); break;
    case PHI__KEYWORD_NAMES: phi__tool_schema_put_required(s, schema, value); break;
    case PHI__KEYWORD_DROP:
    case PHI__KEYWORD_NOTE:
    default: break;
    }
}

/* In version 3.1 a reference may have schema keywords beside it; it then joins allOf, for some
   providers take nothing beside "$ref". */
static bool phi__tool_schema_joins(const phi__tool_schema *s, const phi_json *schema) {
    phi_json_iter it = phi_json_each(schema);
    if (!s->view->doc->is_31) return false;
    while (phi_json_next(&it) != NULL) {
        phi__keyword keyword = phi__keywords_of(it.key, it.at);
        if (keyword != PHI__KEYWORD_DROP && keyword != PHI__KEYWORD_SHORT) return true;
        if (phi__str_is(it.key, "type")) return true;
    }
    return false;
}

static void phi__tool_schema_put_joined(phi__tool_schema *s, const phi_json *schema, phi_str ref) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "allOf"));
    phi__json_write_key(&s->out, PHI__LIT("allOf"));
    phi__buf_char(&s->out, '[');
    phi__tool_schema_put_lone_ref(s, ref);
    while (!s->failed && s->out.len / 2 <= s->most_bytes && phi_json_next(&it) != NULL) {
        phi__json_write_comma(&s->out);
        phi__tool_schema_put(s, it.at, phi__str(NULL, 0));
    }
    phi__buf_char(&s->out, ']');
}

static void phi__tool_schema_put_object(phi__tool_schema *s, const phi_json *schema, phi_str note) {
    const phi_json *ref = phi_json_get(schema, "$ref"), *example = phi_json_get(schema, "example");
    phi_json_iter it = phi_json_each(schema);
    bool is_ref = phi_json_is_string(ref);
    bool alone = is_ref && !phi__tool_schema_joins(s, schema);
    phi__buf_char(&s->out, '{');
    phi__tool_schema_describe(s, schema, note);
    if (alone) {
        phi__tool_schema_put_ref(s, phi__json_text_of(ref));
        phi__buf_char(&s->out, '}');
        return;
    }
    phi__tool_schema_say_more(s, schema);
    phi__tool_schema_put_words(s);
    phi__tool_schema_put_type(s, schema);
    phi__tool_schema_put_range(s, schema);
    while (!s->failed && phi_json_next(&it) != NULL)
        if (!is_ref || !phi__str_is(it.key, "allOf"))
            phi__tool_schema_put_member(s, schema, it.key, it.at);
    if (example != NULL && phi_json_get(schema, "examples") == NULL) {
        size_t before = s->out.len;
        phi__json_write_key(&s->out, PHI__LIT("examples"));
        phi__buf_char(&s->out, '[');
        (void)phi__json_write(&s->out, example, 0);
        phi__buf_char(&s->out, ']');
        if (s->out.len - before > PHI__TOOL_SCHEMA_SHORT && !s->out.failed) s->out.len = before;
    }
    if (phi__tool_schema_type(schema) == PHI_JSON_ARRAY &&
        phi__keywords_of(PHI__LIT("items"), phi_json_get(schema, "items")) == PHI__KEYWORD_DROP)
        phi__buf_text(&s->out, ",\"items\":{}"); /* OpenAI wants them */
    if (is_ref) phi__tool_schema_put_joined(s, schema, phi__json_text_of(ref));
    phi__buf_char(&s->out, '}');
}

/* "nullable" beside choices or a reference, without a type. */
static bool phi__tool_schema_wraps_null(const phi_json *schema) {
    static const char *const keys[] = {"$ref", "anyOf", "oneOf", "allOf"};
    size_t i;
    if (!phi_json_bool(phi_json_get(schema, "nullable"), false) ||
        phi_json_get(schema, "type") != NULL)
        return false;
    for (i = 0; i < PHI__COUNT(keys); i++)
        if (phi_json_get(schema, keys[i]) != NULL) return true;
    return false;
}

PHI__FN void phi__tool_schema_put_file(phi__tool_schema *s, const phi_json *schema, phi_str note) {
    phi__buf_char(&s->out, '{');
    phi__tool_schema_describe(s, schema, note);
    phi__tool_schema_put_words(s);
    phi__json_write_key(&s->out, PHI__LIT("anyOf"));
    phi__buf_text(&s->out, "[{\"type\":\"string\",\"description\":\"The content");
    if (schema == NULL || phi__str_is(phi__json_text_of(phi_json_get(schema, "format")), "byte") ||
        phi__str_is(phi__json_text_of(phi_json_get(schema, "contentEncoding")), "base64"))
        phi__buf_text(&s->out, ", in base64");
    phi__buf_text(&s->out,
                  "\"},{\"type\":\"object\",\"description\":\"A file\",\"properties\":{\"path\":{"
                  "\"type\":\"string\",\"description\":\"Path of the file to send\"},"
                  "\"filename\":{\"type\":\"string\",\"description\":"
                  "\"Name to send (default: the file's own)\"}},\"required\":[\"path\"]}]}");
}

PHI__FN void phi__tool_schema_put(phi__tool_schema *s, const phi_json *schema, phi_str note) {
    if (!phi__tool_schema_spend(s, 1 + phi_json_count(schema))) return;
    if (s->out.failed) phi__tool_schema_no_memory(s);
    if (!phi_json_is_object(schema))
        phi__tool_schema_put_open(s, schema, note,
                                  phi_json_bool(schema, true) ? NULL : "(not allowed)");
    else if (s->depth >= PHI__TOOL_SCHEMA_DEPTH)
        phi__tool_schema_put_open(s, schema, note, "(its schema is nested too deeply to be shown)");
    else if (s->out.len > s->most_bytes)
        phi__tool_schema_put_open(s, schema, note, "(its schema is too large to be shown)");
    else {
        s->depth++;
        if (s->files && phi__tool_schema_is_file(schema))
            phi__tool_schema_put_file(s, schema, note);
        else if (phi__tool_schema_wraps_null(schema)) {
            phi__buf_text(&s->out, "{\"anyOf\":[");
            phi__tool_schema_put_object(s, schema, note);
            phi__buf_text(&s->out, ",{\"type\":\"null\"}]}");
        } else
            phi__tool_schema_put_object(s, schema, note);
        s->depth--;
    }
}

PHI__FN void phi__tool_schema_put_defs(phi__tool_schema *s) {
    size_t i;
    if (s->def_count == 0 || s->failed) return;
    phi__json_write_key(&s->out, PHI__LIT("$defs"));
    phi__buf_char(&s->out, '{');
    for (i = 0; i < s->def_count && !s->failed; i++) {
        phi__json_write_key(&s->out, s->defs[i].name);
        s->from = i + 1;
        s->optional = false;
        phi__tool_schema_put(s, s->defs[i].node, phi__str(NULL, 0));
    }
    s->from = 0;
    phi__buf_char(&s->out, '}');
    if (s->out.failed) phi__tool_schema_no_memory(s);
}

PHI__FN bool phi__tool_schema_again(phi__tool_schema *s) {
    bool any = false;
    if (s->failed || s->second || s->edge_count == 0) return false;
    if (!phi__circles_cut(s->view->doc->memory, s->edges, s->edge_count, s->def_count + 1, &any))
        phi__tool_schema_no_memory(s);
    if (!any || s->failed) return false;
    s->second = true;
    phi__buf_clear(&s->out);
    return true;
}

#endif

#endif /* PHI__IMP_OPENAPI */

#ifdef PHI__IMP_SKILLS
#if PHI__IMP_SKILLS != 0xa3903d9c
#error "phi: two versions of src/skills in one file"
#endif
#else
#define PHI__IMP_SKILLS 0xa3903d9c

/* ---- src/skills/skills_in.h ---- */

/* skills_in.h - the set of skills from within: its lists, its loader, the rules of SKILL.md.

   Skills and their strings live in one arena and never move. A fault of a skill is a problem in the
   list, not a failure of the load; only a lack of memory ends it. */
#ifndef PHI_SKILLS_SKILLS_IN_H
#define PHI_SKILLS_SKILLS_IN_H


#ifndef PHI_NO_SKILLS


enum {
    PHI__SKILLS_FRONT_BYTES = 65536, /* of front matter at most, its two lines "---" included */
    PHI__SKILLS_PROBLEMS = 1000
};

/* A load of one directory that is under way. */
typedef struct phi__skills_load {
    phi__walk *walk; /* NULL: none is */
    phi_str dir, label;
} phi__skills_load;

struct phi_skills {
    phi_memory memory;
    phi_arena arena; /* of skills, strings and problems */
    phi_skills_desc desc;
    phi_skill **list; /* sorted by name */
    size_t count, cap;
    phi_skill_problem *problems;
    size_t problem_count, problem_cap;
    phi__skills_load load;
};

/* ---- skills_list.c ---- */

/* Puts a skill of the arena into its place, over one of the same name. */
PHI__FN phi_status phi__skills_list_put(phi_skills *skills, phi_skill *skill);
/* Where a name stands, or would stand. */
PHI__FN size_t phi__skills_list_place(const phi_skills *skills, phi_str name, bool *found);
/* Notes a problem; false: no memory. All strings are copied, and made fit to be shown. */
PHI__FN bool phi__skills_list_problem(phi_skills *skills, const phi_skill_problem *problem);

/* ---- front_matter.c: the text of a SKILL.md ---- */

/* Where the parts of a SKILL.md are; offsets into its text. */
typedef struct phi__front_matter {
    size_t yaml_at, yaml_len; /* between the two lines */
    size_t body_at;
    uint32_t first_line; /* the number of the line at yaml_at */
    bool early;          /* the text begins with "---", without blanks before it */
} phi__front_matter;

/* PHI_NOT_FOUND: the text does not begin with "---"; PHI_PARSE: no line "---" ends it. */
PHI__FN phi_status phi__front_matter_split(phi_str text, phi__front_matter *out);
/* The line, from 1 within the YAML, at which a top-level key stands; 0: not found. */
PHI__FN uint32_t phi__front_matter_line(phi_str yaml, const char *key);
/* What the standard's validator refuses in YAML, where it stands first: a flow collection, an
   anchor, an alias, a tag. NULL: nothing. *line as above. Static. */
PHI__FN const char *phi__front_matter_fancy(phi_str yaml, uint32_t *line);
/* Without a YAML reader: the value behind "key:" of a line, quotes removed; empty: none. */
PHI__FN phi_str phi__front_matter_value(phi_str yaml, const char *key);

/* ---- skill_rules.c: what the standard asks of a SKILL.md ---- */

typedef struct phi__skill_rules {
    const phi_json *root; /* the front matter, an object */
    phi_str directory;    /* its name */
    /* key: at which field; fatal: the skill cannot be loaded */
    void (*fault)(void *ctx, const char *key, const char *message, bool fatal);
    void *ctx;
} phi__skill_rules;
PHI__FN void phi__skill_rules_check(const phi__skill_rules *rules);

/* ---- skill_file.c: one directory with a SKILL.md ---- */

/* Loads the skill of a directory, which may be a link. PHI_NOT_FOUND: there is none; PHI_PARSE: it
   has a problem, and was not loaded; PHI_NO_MEMORY, PHI_TOO_BIG: the whole load ends. */
PHI__FN phi_status phi__skill_file_load(phi_skills *skills, const char *dir, phi_str label);

#endif
#endif

/* ---- src/skills/front_matter.c ---- */

/* front_matter.c - finds the YAML and the body of a SKILL.md, and places in them. */

#ifndef PHI_NO_SKILLS

/* Blanks and line breaks, and a byte order mark, may stand before the first line. */
static size_t phi__front_matter_begin(phi_str text) {
    size_t at = text.len >= 3 && memcmp(text.at, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < text.len && (text.at[at] == ' ' || text.at[at] == '\t' || text.at[at] == '\r' ||
                             text.at[at] == '\n'))
        at++;
    return at;
}

static uint32_t phi__front_matter_lines(phi_str text, size_t end) {
    uint32_t lines = 1;
    size_t i;
    for (i = 0; i < end; i++)
        if (text.at[i] == '\n') lines++;
    return lines;
}

/* The end of the line at `at`, its line break included. */
static size_t phi__front_matter_next(phi_str text, size_t at) {
    const char *end =
        at < text.len ? (const char *)memchr(text.at + at, '\n', text.len - at) : NULL;
    return end != NULL ? (size_t)(end - text.at) + 1 : text.len;
}

static phi_str phi__front_matter_line_at(phi_str text, size_t at) {
    size_t end = phi__front_matter_next(text, at);
    if (end > at && text.at[end - 1] == '\n') end--;
    if (end > at && text.at[end - 1] == '\r') end--;
    return phi__str(text.at + at, end - at);
}

static size_t phi__front_matter_indent(phi_str line) {
    size_t n = 0;
    while (n < line.len && line.at[n] == ' ') n++;
    return n;
}

PHI__FN phi_status phi__front_matter_split(phi_str text, phi__front_matter *out) {
    size_t at = phi__front_matter_begin(text), end;
    memset(out, 0, sizeof *out);
    out->early = at == 0;
    out->first_line = phi__front_matter_lines(text, at);
    if (!phi__str_starts(phi__str(text.at + at, text.len - at), "---")) return PHI_NOT_FOUND;
    out->yaml_at = at + 3;
    for (end = phi__front_matter_next(text, at); end < text.len;
         end = phi__front_matter_next(text, end)) {
        if (!phi__str_starts(phi__str(text.at + end, text.len - end), "---")) continue;
        out->yaml_len = end - out->yaml_at;
        out->body_at = phi__front_matter_next(text, end);
        return PHI_OK;
    }
    return PHI_PARSE;
}

/* ---- fields ---- */

/* The rest of a line behind "key:", or a NULL string. The key may be in quotes. */
static phi_str phi__front_matter_behind(phi_str line, const char *key) {
    size_t n = strlen(key), at = 0;
    char quote = line.len > 0 && (line.at[0] == '"' || line.at[0] == '\'') ? line.at[0] : '\0';
    if (quote != '\0') at++;
    if (line.len < at + n + 1 || memcmp(line.at + at, key, n) != 0) return phi__str(NULL, 0);
    at += n;
    if (quote != '\0' && line.at[at++] != quote) return phi__str(NULL, 0);
    while (at < line.len && line.at[at] == ' ') at++;
    if (at == line.len || line.at[at] != ':') return phi__str(NULL, 0);
    return phi__str(line.at + at + 1, line.len - at - 1);
}

PHI__FN uint32_t phi__front_matter_line(phi_str yaml, const char *key) {
    uint32_t line = 1;
    size_t at;
    for (at = 0; at < yaml.len; at = phi__front_matter_next(yaml, at), line++)
        if (phi__front_matter_behind(phi__front_matter_line_at(yaml, at), key).at != NULL)
            return line;
    return 0;
}

PHI__FN phi_str phi__front_matter_value(phi_str yaml, const char *key) {
    phi_str value = phi__str(NULL, 0);
    size_t at;
    for (at = 0; at < yaml.len && value.at == NULL; at = phi__front_matter_next(yaml, at))
        value = phi__front_matter_behind(phi__front_matter_line_at(yaml, at), key);
    value = phi__str_trim(value);
    if (value.len >= 2 && (value.at[0] == '"' || value.at[0] == '\'') &&
        value.at[value.len - 1] == value.at[0])
        value = phi__str(value.at + 1, value.len - 2);
    return value;
}

/* ---- plain YAML ---- */

/* The offset of the value in a line: behind "- " and "key: ", as often as they stand there. */
static size_t phi__front_matter_value_at(phi_str line) {
    size_t at = phi__front_matter_indent(line), i;
    while (at + 1 < line.len && line.at[at] == '-' && line.at[at + 1] == ' ') {
        at += 2;
        while (at < line.len && line.at[at] == ' ') at++;
    }
    if (at < line.len && (line.at[at] == '"' || line.at[at] == '\'' || line.at[at] == '#'))
        return line.at[at] == '#' ? line.len : at;
    for (i = at; i + 1 < line.len; i++) {
        if (line.at[i] == ' ' && line.at[i + 1] == '#') return at;
        if (line.at[i] != ':' || line.at[i + 1] != ' ') continue;
        for (i++; i < line.len && line.at[i] == ' ';) i++;
        return i;
    }
    return at;
}

PHI__FN const char *phi__front_matter_fancy(phi_str yaml, uint32_t *line) {
    size_t at, block = SIZE_MAX; /* the indent of a line that begins a block scalar */
    *line = 0;
    for (at = 0; at < yaml.len; at = phi__front_matter_next(yaml, at)) {
        phi_str text = phi__front_matter_line_at(yaml, at);
        size_t indent = phi__front_matter_indent(text), value;
        char first;
        ++*line;
        if (indent == text.len || (block != SIZE_MAX && indent > block)) continue;
        value = phi__front_matter_value_at(text);
        first = value < text.len ? text.at[value] : '\0';
        block = first == '|' || first == '>' ? indent : SIZE_MAX;
        switch (first) {
        case '{': return "a mapping in braces";
        case '[': return "a list in brackets";
        case '&': return "an anchor";
        case '*': return "an alias";
        case '!': return "a tag";
        default: break;
        }
    }
    return NULL;
}

#endif

/* ---- src/skills/read_skill.c ---- */

/* read_skill.c - the tool by which a model reads a skill: its instructions, another file, or the
   names in a directory; a slice a step.

   The directory is resolved anew for each call: skills can be moved or removed while the program
   runs. Lines pass through a filter that keeps those wanted, up to a limit of bytes. SKILL.md is
   read whole first, for its front matter is left out and {baseDir} replaced. */

#ifndef PHI_NO_SKILLS


#include <stdio.h>
#include <stdlib.h>

enum {
    PHI__READ_SKILL_MS = 30000,
    PHI__READ_SKILL_NAMED = 20,   /* skills that an error names */
    PHI__READ_SKILL_ENTRIES = 200 /* of a directory that are shown */
};

typedef struct phi__read_skill {
    phi__job job;
    const phi_skills *skills;
    const phi_skill *skill;
    const char *path; /* as given, or that of SKILL.md below the directory */
    phi__resolve *place;
    bool instructions;
    phi__file *from;
    char *slice;
    phi__buf whole; /* of SKILL.md */
    /* lines */
    uint64_t first, limit, line; /* from 0 */
    bool in_line, cut, ended;    /* ended: the rest is not wanted */
    uint64_t cut_line;           /* where to continue, from 0 */
    phi__buf out;
    /* a directory */
    phi__walk *walk;
    phi_str *names;
    size_t name_count, name_cap, name_all;
} phi__read_skill;

static void phi__read_skill_drop(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi__files_close(read->from);
    phi__walk_free(read->walk);
    phi__free(job->memory, read->names, read->name_cap * sizeof *read->names);
    phi__free(job->memory, read->slice, PHI__JOB_SLICE);
    phi__buf_free(&read->whole);
    phi__buf_free(&read->out);
    read->from = NULL;
    read->walk = NULL;
    read->names = NULL;
    read->slice = NULL;
}

static phi_flow phi__read_skill_fail(phi__read_skill *read, const char *words) {
    return phi__job_fail(&read->job, "Cannot read %s of the skill \"%s\": %s", read->path,
                         read->skill->name.at, words);
}

static phi_flow phi__read_skill_give(phi__read_skill *read, phi_str text, const char *kind) {
    phi__buf details;
    phi__buf_init(&details, read->job.memory);
    phi__buf_text(&details, "{\"skill\":");
    phi__json_write_str(&details, read->skill->name);
    phi__buf_printf(&details, ",\"%s\":", kind);
    phi__json_write_str(&details, phi_str_of(read->path));
    phi__buf_printf(&details, ",\"truncated\":%s}", read->cut ? "true" : "false");
    phi__buf_char(&details, '\0');
    if (details.failed)
        (void)phi__job_no_memory(&read->job);
    else
        (void)phi__job_done(&read->job, text, details.at);
    phi__buf_free(&details);
    return PHI_DONE;
}

/* ---- lines ---- */

/* Part of one line that is wanted, with its line break if that has come. */
static void phi__read_skill_take(phi__read_skill *read, const char *at, size_t n) {
    size_t most = read->skills->desc.max_read_bytes;
    if (read->out.len + n <= most) {
        phi__buf_add(&read->out, at, n);
        return;
    }
    phi__buf_add(&read->out, at, most - read->out.len);
    read->cut = read->ended = true;
}

/* Cuts back to the last whole line, if there is one, so that reading can go on at the next. */
static void phi__read_skill_cut(phi__read_skill *read) {
    size_t len = read->out.len;
    read->cut_line = read->line;
    while (len > 0 && read->out.at[len - 1] != '\n') len--;
    if (len > 0)
        read->out.len = len;
    else
        read->cut_line = read->line + 1; /* a single line that is too long */
}

static void phi__read_skill_lines(phi__read_skill *read, const char *at, size_t n) {
    while (n > 0 && !read->ended) {
        const char *newline = (const char *)memchr(at, '\n', n);
        size_t len = newline != NULL ? (size_t)(newline - at) + 1 : n;
        if (read->line >= read->first && read->line - read->first >= read->limit) {
            read->ended = true;
            return;
        }
        if (read->line >= read->first) phi__read_skill_take(read, at, len);
        if (read->ended) {
            phi__read_skill_cut(read);
            return;
        }
        read->in_line = newline == NULL;
        if (newline != NULL) read->line++;
        at += len;
        n -= len;
    }
}

/* All wanted lines are there. */
static phi_flow phi__read_skill_done(phi__read_skill *read) {
    phi__buf text;
    uint64_t lines = read->line + (read->in_line ? 1 : 0);
    phi_flow flow;
    if (read->first > 0 && read->first >= lines && !read->ended) {
        char words[96];
        (void)snprintf(words, sizeof words, "it has %llu lines, offset was %llu",
                       (unsigned long long)lines, (unsigned long long)read->first + 1);
        return phi__read_skill_fail(read, words);
    }
    phi__buf_init(&text, read->job.memory);
    phi__utf8_repair(&text, phi__buf_str(&read->out));
    if (read->cut)
        phi__buf_printf(&text, "\n... (cut at %u bytes; continue with offset %llu)",
                        (unsigned)read->skills->desc.max_read_bytes,
                        (unsigned long long)read->cut_line + 1);
    flow = read->out.failed || text.failed
               ? phi__job_no_memory(&read->job)
               : phi__read_skill_give(read, phi__buf_str(&text), "file");
    phi__buf_free(&text);
    return flow;
}

/* ---- files ---- */

/* The body, with {baseDir} replaced, through the filter. */
static phi_flow phi__read_skill_body(phi__read_skill *read) {
    static const char mark[] = "{baseDir}";
    phi__front_matter front;
    phi_str text = phi__buf_str(&read->whole), base = read->skill->base_dir;
    size_t at, next;
    if (phi__front_matter_split(text, &front) != PHI_OK)
        return phi__read_skill_fail(read, "it has changed since the skills were loaded, and has no "
                                          "front matter now");
    at = front.body_at;
    while (at < text.len && (text.at[at] == '\n' || text.at[at] == '\r')) at++;
    while ((next = phi__str_find(text, at, mark)) != SIZE_MAX) {
        phi__read_skill_lines(read, text.at + at, next - at);
        phi__read_skill_lines(read, base.at, base.len);
        at = next + sizeof mark - 1;
    }
    phi__read_skill_lines(read, text.at + at, text.len - at);
    return phi__read_skill_done(read);
}

static phi_flow phi__read_skill_more(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi__words words;
    size_t got;
    if (phi__files_read(read->from, read->slice, PHI__JOB_SLICE, &got, &words) != PHI_OK)
        return phi__read_skill_fail(read, words.text);
    if (got > 0 && memchr(read->slice, 0, got) != NULL)
        return phi__read_skill_fail(read, "it is not a text");
    if (read->instructions) {
        phi__buf_add(&read->whole, read->slice, got);
        if (read->whole.failed) return phi__job_no_memory(job);
        if (read->whole.len > read->skills->desc.max_file_bytes)
            return phi__read_skill_fail(read, "it is too large now");
        return got > 0 ? PHI_PENDING : phi__read_skill_body(read);
    }
    phi__read_skill_lines(read, read->slice, got);
    if (read->out.failed) return phi__job_no_memory(job);
    return got > 0 && !read->ended ? PHI_PENDING : phi__read_skill_done(read);
}

/* ---- directories ---- */

static int phi__read_skill_order(const void *a, const void *b) {
    const phi_str *x = (const phi_str *)a, *y = (const phi_str *)b;
    return strcmp(x->at, y->at);
}

static phi_flow phi__read_skill_listed(phi__read_skill *read) {
    phi__buf text;
    size_t i;
    phi_flow flow;
    if (read->name_count > 1)
        qsort(read->names, read->name_count, sizeof *read->names, phi__read_skill_order);
    phi__buf_init(&text, read->job.memory);
    for (i = 0; i < read->name_count; i++) {
        if (i > 0) phi__buf_char(&text, '\n');
        phi__utf8_repair(&text, read->names[i]);
    }
    if (read->name_all == 0) phi__buf_text(&text, "(an empty directory)");
    read->cut = read->name_all > read->name_count;
    if (read->cut)
        phi__buf_printf(&text, "\n... (and %llu more)",
                        (unsigned long long)(read->name_all - read->name_count));
    flow = text.failed ? phi__job_no_memory(&read->job)
                       : phi__read_skill_give(read, phi__buf_str(&text), "directory");
    phi__buf_free(&text);
    return flow;
}

static bool phi__read_skill_name(phi__read_skill *read, const phi__walk_entry *entry) {
    phi_str *names;
    char *copy;
    size_t n = entry->path.len;
    read->name_all++;
    if (read->name_count == PHI__READ_SKILL_ENTRIES) return true;
    names = (phi_str *)phi__grow(read->job.memory, read->names, &read->name_cap,
                                 read->name_count + 1, sizeof *names);
    if (names == NULL) return false;
    read->names = names;
    copy = phi__arena_bytes(&read->job.arena, n + 2);
    if (copy == NULL) return false;
    memcpy(copy, entry->path.at, n);
    if (entry->kind == PHI__FILE_DIRECTORY) copy[n++] = '/';
    copy[n] = '\0';
    names[read->name_count++] = phi__str(copy, n);
    return true;
}

static phi_flow phi__read_skill_list(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi__walk_entry entry;
    int left = PHI__JOB_PATHS;
    while (left-- > 0) {
        phi_status status = phi__walk_next(read->walk, &entry);
        if (status == PHI_BUSY) continue;
        if (status == PHI_NOT_FOUND) return phi__read_skill_listed(read);
        if (status != PHI_OK || !phi__read_skill_name(read, &entry)) return phi__job_no_memory(job);
        phi__walk_skip(read->walk);
    }
    return PHI_PENDING;
}

/* ---- places ---- */

static phi_flow phi__read_skill_open(phi__read_skill *read) {
    phi__words words;
    phi__file_info info;
    phi_status status = phi__files_stat(read->place->out, false, &info, &words);
    read->job.go = phi__read_skill_more;
    if (status == PHI_OK && info.kind == PHI__FILE_DIRECTORY) {
        read->job.go = phi__read_skill_list;
        status = phi__walk_new(read->job.memory, read->place->out, &read->walk, &words);
    } else if (status == PHI_OK) {
        status = phi__files_open_read(read->job.memory, read->place->out, &read->from, &words);
        read->slice = (char *)phi__alloc(read->job.memory, PHI__JOB_SLICE);
        if (read->slice == NULL) status = PHI_NO_MEMORY;
    }
    if (status == PHI_NO_MEMORY) return phi__job_no_memory(&read->job);
    return status == PHI_OK ? PHI_PENDING : phi__read_skill_fail(read, words.text);
}

/* A slice of resolving; PHI_BUSY: not done. Where it is neither that nor PHI_OK, the job has
   failed. */
static phi_status phi__read_skill_resolve(phi__read_skill *read) {
    size_t units = PHI__JOB_PATHS;
    phi__words words;
    phi_status status = phi__path_resolve_advance(read->place, &units, &words);
    if (status != PHI_OK && status != PHI_BUSY) (void)phi__read_skill_fail(read, words.text);
    return status;
}

static phi_flow phi__read_skill_placed(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi_status status = phi__read_skill_resolve(read);
    if (status != PHI_OK) return status == PHI_BUSY ? PHI_PENDING : PHI_DONE;
    if (!phi__path_inside(read->skill->base_dir.at, read->place->out))
        return phi__read_skill_fail(read, "it lies outside the directory of the skill");
    return phi__read_skill_open(read);
}

/* The directory must be where it was. */
static phi_flow phi__read_skill_based(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    phi_status status = phi__read_skill_resolve(read);
    phi__words words;
    if (status != PHI_OK) return status == PHI_BUSY ? PHI_PENDING : PHI_DONE;
    if (strcmp(read->place->out, read->skill->base_dir.at) != 0)
        return phi__read_skill_fail(read, "the directory of the skill has moved since the skills "
                                          "were loaded");
    if (phi__path_resolve_begin(read->place, read->skill->base_dir.at, read->path, &words) !=
        PHI_OK)
        return phi__read_skill_fail(read, words.text);
    job->go = phi__read_skill_placed;
    return phi__read_skill_placed(job);
}

/* ---- the beginning ---- */

static phi_flow phi__read_skill_unknown(phi__read_skill *read, const char *name) {
    phi__buf list;
    size_t i;
    phi_flow flow;
    phi__buf_init(&list, read->job.memory);
    for (i = 0; i < read->skills->count && i < PHI__READ_SKILL_NAMED; i++) {
        if (i > 0) phi__buf_text(&list, ", ");
        phi__buf_add_str(&list, read->skills->list[i]->name);
    }
    if (i < read->skills->count) phi__buf_text(&list, ", ...");
    if (i == 0) phi__buf_text(&list, "none");
    flow = list.failed ? phi__job_no_memory(&read->job)
                       : phi__job_fail(&read->job, "There is no skill \"%s\". Skills: %.*s", name,
                                       (int)list.len, list.at);
    phi__buf_free(&list);
    return flow;
}

/* SKILL.md, below the directory of the skill. */
static const char *phi__read_skill_leaf(const phi_skill *skill) {
    const char *leaf = skill->file_path.at + skill->base_dir.len;
    return leaf[0] == '/' ? leaf + 1 : leaf;
}

static phi_flow phi__read_skill_go(phi__job *job) {
    phi__read_skill *read = (phi__read_skill *)(void *)job;
    const char *name;
    phi__words words;
    uint64_t first;
    read->skills = (const phi_skills *)job->user_data;
    phi__buf_init(&read->whole, job->memory);
    phi__buf_init(&read->out, job->memory);
    if (!phi__job_text(job, "name", true, &name) ||
        !phi__job_text(job, "file", false, &read->path) ||
        !phi__job_number(job, "offset", 1, &first) ||
        !phi__job_number(job, "limit", UINT64_MAX, &read->limit))
        return PHI_DONE;
    read->first = first > 0 ? first - 1 : 0;
    if (read->limit == 0) read->limit = UINT64_MAX;
    read->skill = phi_skills_find(read->skills, phi_str_of(name));
    if (read->skill == NULL) return phi__read_skill_unknown(read, name);
    read->instructions =
        read->path == NULL || read->path[0] == '\0' || strcmp(read->path, "SKILL.md") == 0;
    if (read->instructions) read->path = phi__read_skill_leaf(read->skill);
    read->place = (phi__resolve *)phi_arena_alloc(&job->arena, sizeof *read->place);
    if (read->place == NULL) return phi__job_no_memory(job);
    if (phi__path_resolve_begin(read->place, NULL, read->skill->base_dir.at, &words) != PHI_OK)
        return phi__read_skill_fail(read, words.text);
    job->go = phi__read_skill_based;
    return phi__read_skill_based(job);
}

static phi_flow phi__read_skill_start(void *user_data, phi_call call, phi_str arguments) {
    return phi__job_begin(user_data, call, arguments, sizeof(phi__read_skill), false,
                          phi__read_skill_go, phi__read_skill_drop);
}

/* ---- public ---- */

PHI_API phi_status phi_skills_tool(phi_skills *skills, phi_tool *out) {
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{"
        "\"name\":{\"type\":\"string\",\"description\":\"Name of the skill\"},"
        "\"file\":{\"type\":\"string\",\"description\":\"A file or directory of the skill, such as "
        "references/forms.md (default: the skill's instructions)\"},"
        "\"offset\":{\"type\":\"integer\",\"minimum\":0,"
        "\"description\":\"First line to read, counted from 1 (default: 1)\"},"
        "\"limit\":{\"type\":\"integer\",\"minimum\":0,"
        "\"description\":\"How many lines to read (default: all)\"}},"
        "\"required\":[\"name\"]}";
    if (skills == NULL || out == NULL) return PHI_BAD_ARG;
    memset(out, 0, sizeof *out);
    out->name = "read_skill";
    out->label = "Read Skill";
    out->description = "Read the instructions of a skill, or another file of it. Do so before a "
                       "task that the description of a skill matches.";
    out->schema = schema;
    out->start = phi__read_skill_start;
    out->step = phi__job_step;
    out->cancel = phi__job_cancel;
    out->user_data = skills;
    out->timeout_ms = PHI__READ_SKILL_MS;
    out->checks_arguments = true;
    return PHI_OK;
}

#endif

/* ---- src/skills/skill_file.c ---- */

/* skill_file.c - loads one skill: finds SKILL.md, reads its front matter, checks and keeps it. */

#ifndef PHI_NO_SKILLS


#include <stdio.h>

enum { PHI__SKILL_FILE_SLICE = 8192 };

/* A skill while it is loaded. */
typedef struct phi__skill_file {
    phi_skills *skills;
    phi_str name, label;
    const char *dir;            /* as given; problems name it */
    char base[PHI__PATH_BYTES]; /* resolved */
    phi__resolve place;         /* of the base, then of SKILL.md */
    const char *leaf;           /* "SKILL.md" */
    phi__buf text;              /* the beginning of the file */
    phi_arena scratch;
    phi__front_matter front;
    phi_str yaml;
    bool fatal, no_memory;
} phi__skill_file;

/* ---- problems ---- */

static void phi__skill_file_report(phi__skill_file *file, uint32_t line, uint32_t column,
                                   const char *message, bool fatal) {
    phi_skill_problem problem;
    phi__buf path;
    memset(&problem, 0, sizeof problem);
    phi__buf_init(&path, &file->skills->memory);
    phi__buf_text(&path, file->dir);
    if (file->leaf != NULL) phi__buf_char(&path, '/');
    if (file->leaf != NULL) phi__buf_text(&path, file->leaf);
    problem.file = phi__buf_str(&path);
    problem.line = line;
    problem.column = column;
    problem.message = phi_str_of(message);
    problem.loaded = !fatal;
    if (path.failed || !phi__skills_list_problem(file->skills, &problem)) file->no_memory = true;
    phi__buf_free(&path);
    file->fatal = file->fatal || fatal;
}

static void phi__skill_file_fault(void *ctx, const char *key, const char *message, bool fatal) {
    phi__skill_file *file = (phi__skill_file *)ctx;
    uint32_t line = phi__front_matter_line(file->yaml, key);
    phi__skill_file_report(file, line > 0 ? line + file->front.first_line - 1 : 0, 0, message,
                           fatal);
}

/* ---- the file ---- */

/* PHI_REFUSED: the path leads out of the directory, by a link. */
static phi_status phi__skill_file_resolve(const char *base, const char *path, phi__resolve *resolve,
                                          phi__words *words) {
    size_t units = SIZE_MAX;
    phi_status status = phi__path_resolve_begin(resolve, base, path, words);
    if (status == PHI_OK) status = phi__path_resolve_advance(resolve, &units, words);
    if (status != PHI_OK || phi__path_inside(base, resolve->out)) return status;
    (void)snprintf(words->text, sizeof words->text, "it lies outside the directory of the skill");
    return PHI_REFUSED;
}

/* The last part of a path; of "." and its like that of the resolved one. */
static phi_str phi__skill_file_name(const char *dir, const char *base) {
    phi_str path = phi_str_of(dir);
    size_t at;
    while (path.len > 1 && path.at[path.len - 1] == '/') path.len--;
    for (at = path.len; at > 0 && path.at[at - 1] != '/';) at--;
    path = phi__str(path.at + at, path.len - at);
    if (path.len > 0 && !phi__str_is(path, ".") && !phi__str_is(path, "..")) return path;
    path = phi_str_of(base);
    for (at = path.len; at > 0 && path.at[at - 1] != '/';) at--;
    return phi__str(path.at + at, path.len - at);
}

/* Finds SKILL.md, or skill.md as the standard's validator does. PHI_NOT_FOUND: neither. */
static phi_status phi__skill_file_find(phi__skill_file *file) {
    static const char *const leaves[] = {"SKILL.md", "skill.md"};
    char path[PHI__PATH_BYTES];
    phi__file_info info;
    size_t i;
    for (i = 0; i < PHI__COUNT(leaves); i++) {
        int n = snprintf(path, sizeof path, "%s/%s", file->base, leaves[i]);
        if (n < 0 || (size_t)n >= sizeof path) return PHI_NOT_FOUND;
        if (phi__files_stat(path, false, &info, NULL) == PHI_NOT_FOUND) continue;
        file->leaf = leaves[i];
        return PHI_OK;
    }
    return PHI_NOT_FOUND;
}

/* Reads up to the end of the front matter. */
static void phi__skill_file_slices(phi__skill_file *file, phi__file *from) {
    phi__words words;
    phi_status split = PHI_PARSE;
    size_t got = 1;
    while (split == PHI_PARSE && got > 0 && file->text.len < PHI__SKILLS_FRONT_BYTES) {
        char *to = phi__buf_reserve(&file->text, PHI__SKILL_FILE_SLICE);
        if (to == NULL) {
            file->no_memory = true;
            return;
        }
        if (phi__files_read(from, to, PHI__SKILL_FILE_SLICE, &got, &words) != PHI_OK) {
            phi__skill_file_report(file, 0, 0, words.text, true);
            return;
        }
        phi__buf_add_len(&file->text, got);
        split = phi__front_matter_split(phi__buf_str(&file->text), &file->front);
        if (split == PHI_NOT_FOUND && file->text.len < PHI__SKILL_FILE_SLICE) split = PHI_PARSE;
    }
    split = phi__front_matter_split(phi__buf_str(&file->text), &file->front);
    if (split == PHI_NOT_FOUND)
        phi__skill_file_report(file, file->front.first_line, 1,
                               "no front matter: expected a line \"---\" at the beginning", true);
    else if (split == PHI_PARSE && got > 0)
        phi__skill_file_report(file, 0, 0, "the front matter is longer than 65,536 bytes", true);
    else if (split == PHI_PARSE)
        phi__skill_file_report(file, 0, 0,
                               "no end of the front matter: expected a second line \"---\"", true);
}

static void phi__skill_file_read(phi__skill_file *file) {
    phi__file_info info;
    phi__words words;
    phi__file *from = NULL;
    char size[96];
    phi_status status = phi__skill_file_resolve(file->base, file->leaf, &file->place, &words);
    if (status == PHI_OK) status = phi__files_stat(file->place.out, false, &info, &words);
    if (status == PHI_OK && info.bytes > file->skills->desc.max_file_bytes) {
        (void)snprintf(size, sizeof size, "%llu bytes, expected at most %u",
                       (unsigned long long)info.bytes, (unsigned)file->skills->desc.max_file_bytes);
        phi__skill_file_report(file, 0, 0, size, true);
        return;
    }
    if (status == PHI_OK)
        status = phi__files_open_read(&file->skills->memory, file->place.out, &from, &words);
    if (status == PHI_NO_MEMORY)
        file->no_memory = true;
    else if (status != PHI_OK)
        phi__skill_file_report(file, 0, 0, words.text, true);
    else
        phi__skill_file_slices(file, from);
    phi__files_close(from);
}

/* ---- its fields ---- */

/* Where the YAML is broken: the two fields that every skill has, line by line. Descriptions such as
   "Use when: ..." are not YAML without quotes, and common. NULL: no memory. */
static phi_json *phi__skill_file_by_line(phi__skill_file *file) {
    static const char *const keys[] = {"name", "description"};
    phi_json *root = phi_json_new_object(&file->scratch);
    size_t i;
    for (i = 0; i < PHI__COUNT(keys) && root != NULL; i++) {
        phi_str value = phi__front_matter_value(file->yaml, keys[i]);
        if (value.at != NULL && phi_json_set(&file->scratch, root, keys[i],
                                             phi_json_new_str(&file->scratch, value)) != PHI_OK)
            return NULL;
    }
    return root;
}

/* The front matter as an object; NULL: it has a problem, or there is no memory. */
static phi_json *phi__skill_file_parse(phi__skill_file *file) {
    phi_json *root = NULL;
    phi_parse_error error;
    const char *fancy;
    uint32_t line;
    phi_yaml_options options;
    phi_status status;
    memset(&options, 0, sizeof options);
    options.flags = PHI_YAML_TEXTS;
    status = phi_yaml_parse(&file->scratch, file->yaml, &options, &root, &error);
    file->no_memory = file->no_memory || status == PHI_NO_MEMORY;
    if (status == PHI_OK && !phi_json_is_object(root)) {
        phi__skill_file_report(file, file->front.first_line, 0,
                               "the front matter is no mapping of fields", true);
        return NULL;
    }
    if (status == PHI_OK) {
        fancy = phi__front_matter_fancy(file->yaml, &line);
        if (fancy != NULL) {
            char words[96];
            (void)snprintf(words, sizeof words, "%s: expected plain YAML without it", fancy);
            phi__skill_file_report(file, line + file->front.first_line - 1, 0, words, false);
        }
    } else if (status != PHI_NO_MEMORY) {
        phi__skill_file_report(file, error.line + file->front.first_line - 1, error.column,
                               error.message, false);
        root = phi__skill_file_by_line(file);
        file->no_memory = file->no_memory || root == NULL;
    }
    return root;
}

static bool phi__skill_file_keep_text(phi__skill_file *file, const phi_json *node, phi_str *out) {
    phi_str text = phi_json_str(node, NULL);
    if (node != NULL && !phi_json_is_string(node) &&
        phi_json_write(&file->scratch, node, 0, &text) != PHI_OK)
        return false;
    return phi__arena_str(&file->skills->arena, phi__str_trim(text), out);
}

/* allowed-tools: a text, or, as many write it, a list. */
static bool phi__skill_file_keep_tools(phi__skill_file *file, const phi_json *node, phi_str *out) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    phi__buf joined;
    bool kept;
    if (!phi_json_is_array(node)) return phi__skill_file_keep_text(file, node, out);
    phi__buf_init(&joined, &file->skills->memory);
    while ((item = phi_json_next(&it)) != NULL) {
        if (joined.len > 0) phi__buf_char(&joined, ' ');
        phi__buf_add_str(&joined, phi_json_str(item, NULL));
    }
    kept = !joined.failed && phi__arena_str(&file->skills->arena, phi__buf_str(&joined), out);
    phi__buf_free(&joined);
    return kept;
}

static bool phi__skill_file_keep_pairs(phi__skill_file *file, const phi_json *node,
                                       phi_skill *skill) {
    size_t n = phi_json_is_object(node) ? phi_json_count(node) : 0;
    phi_json_iter it = phi_json_each(node);
    phi_skill_pair *pairs;
    const phi_json *value;
    if (n == 0) return true;
    pairs = (phi_skill_pair *)phi__arena_zero(&file->skills->arena, n * sizeof *pairs);
    if (pairs == NULL) return false;
    while ((value = phi_json_next(&it)) != NULL) {
        phi_skill_pair *pair = &pairs[skill->metadata_count++];
        if (!phi__arena_str(&file->skills->arena, it.key, &pair->key) ||
            !phi__skill_file_keep_text(file, value, &pair->value))
            return false;
    }
    skill->metadata = pairs;
    return true;
}

static phi_status phi__skill_file_keep(phi__skill_file *file, const phi_json *root) {
    phi_arena *arena = &file->skills->arena;
    phi_skill *skill = (phi_skill *)phi__arena_zero(arena, sizeof *skill);
    if (skill == NULL || !phi__arena_str(arena, file->name, &skill->name) ||
        !phi__skill_file_keep_text(file, phi_json_get(root, "description"), &skill->description) ||
        !phi__skill_file_keep_text(file, phi_json_get(root, "license"), &skill->license) ||
        !phi__skill_file_keep_text(file, phi_json_get(root, "compatibility"),
                                   &skill->compatibility) ||
        !phi__skill_file_keep_tools(file, phi_json_get(root, "allowed-tools"),
                                    &skill->allowed_tools) ||
        !phi__skill_file_keep_pairs(file, phi_json_get(root, "metadata"), skill) ||
        !phi__arena_str(arena, phi_str_of(file->base), &skill->base_dir) ||
        !phi__arena_str(arena, phi_str_of(file->place.out), &skill->file_path))
        return PHI_NO_MEMORY;
    skill->source = file->label;
    return phi__skills_list_put(file->skills, skill);
}

/* ---- one skill ---- */

static phi_status phi__skill_file_take(phi__skill_file *file) {
    phi__skill_rules rules;
    phi_str text = phi__buf_str(&file->text);
    size_t valid;
    phi_json *root;
    file->yaml = phi__str(text.at + file->front.yaml_at, file->front.yaml_len);
    valid = phi__utf8_valid(phi__str(text.at, file->front.body_at));
    if (valid < file->front.body_at) {
        phi__skill_file_report(file, 0, 0, "the front matter is not UTF-8", true);
        return PHI_PARSE;
    }
    if (!file->front.early)
        phi__skill_file_report(file, 1, 1, "expected \"---\" as the very first characters", false);
    root = phi__skill_file_parse(file);
    if (root == NULL) return PHI_PARSE;
    rules.root = root;
    rules.directory = file->name;
    rules.fault = phi__skill_file_fault;
    rules.ctx = file;
    phi__skill_rules_check(&rules);
    return file->fatal ? PHI_PARSE : phi__skill_file_keep(file, root);
}

static phi_status phi__skill_file_go(phi__skill_file *file) {
    size_t units = SIZE_MAX;
    phi__file_info info;
    if (phi__path_resolve_begin(&file->place, NULL, file->dir, NULL) != PHI_OK ||
        phi__path_resolve_advance(&file->place, &units, NULL) != PHI_OK)
        return PHI_NOT_FOUND;
    memcpy(file->base, file->place.out, sizeof file->base);
    if (phi__files_stat(file->base, false, &info, NULL) != PHI_OK ||
        info.kind != PHI__FILE_DIRECTORY || phi__skill_file_find(file) != PHI_OK)
        return PHI_NOT_FOUND;
    file->name = phi__skill_file_name(file->dir, file->base);
    if (phi__utf8_valid(file->name) != file->name.len) {
        phi__skill_file_report(file, 0, 0, "the name of the directory is not UTF-8", true);
        return PHI_PARSE;
    }
    phi__skill_file_read(file);
    return file->fatal || file->no_memory ? PHI_PARSE : phi__skill_file_take(file);
}

PHI__FN phi_status phi__skill_file_load(phi_skills *skills, const char *dir, phi_str label) {
    phi__skill_file *file = (phi__skill_file *)phi__alloc(&skills->memory, sizeof *file);
    phi_status status;
    if (file == NULL) return PHI_NO_MEMORY;
    file->skills = skills;
    file->dir = dir;
    file->label = label;
    phi__buf_init(&file->text, &skills->memory);
    phi_arena_init(&file->scratch, &skills->memory, 0);
    status = phi__skill_file_go(file);
    if (file->no_memory) status = PHI_NO_MEMORY;
    phi_arena_free(&file->scratch);
    phi__buf_free(&file->text);
    phi__free(&skills->memory, file, sizeof *file);
    return status;
}

#endif

/* ---- src/skills/skill_rules.c ---- */

/* skill_rules.c - the rules of the AgentSkills standard for the fields of a SKILL.md.

   Lengths count characters. Letters beyond ASCII are allowed, as the standard's validator does; the
   alphabets that have capitals most often are known here, others count as lower case. */

#ifndef PHI_NO_SKILLS

#include <stdarg.h>
#include <stdio.h>

enum {
    PHI__SKILL_RULES_NAME = 64, /* characters; the AgentSkills standard, as the two below */
    PHI__SKILL_RULES_DESCRIPTION = 1024,
    PHI__SKILL_RULES_COMPATIBILITY = 500,
    PHI__SKILL_RULES_WORDS = 240
};

/* ---- characters ---- */

/* The character at *at of valid UTF-8, which it moves behind it. */
static uint32_t phi__skill_rules_next(phi_str text, size_t *at) {
    unsigned char c = (unsigned char)text.at[(*at)++];
    uint32_t code = c < 0x80 ? c : c < 0xE0 ? c & 0x1Fu : c < 0xF0 ? c & 0x0Fu : c & 0x07u;
    while (*at < text.len && ((unsigned char)text.at[*at] & 0xC0) == 0x80)
        code = code << 6 | ((unsigned char)text.at[(*at)++] & 0x3Fu);
    return code;
}

static size_t phi__skill_rules_length(phi_str text) {
    size_t n = 0, at = 0;
    while (at < text.len) {
        (void)phi__skill_rules_next(text, &at);
        n++;
    }
    return n;
}

static bool phi__skill_rules_capital(uint32_t c) {
    if (c < 0x80) return c >= 'A' && c <= 'Z';
    if (c >= 0xC0 && c <= 0xDE) return c != 0xD7;    /* Latin-1 */
    if (c >= 0x100 && c <= 0x137) return c % 2 == 0; /* Latin Extended-A */
    if (c >= 0x139 && c <= 0x148) return c % 2 == 1;
    if (c >= 0x14A && c <= 0x177) return c % 2 == 0;
    if (c >= 0x391 && c <= 0x3A9) return true; /* Greek */
    if (c >= 0x400 && c <= 0x42F) return true; /* Cyrillic */
    if (c >= 0x460 && c <= 0x481) return c % 2 == 0;
    return c >= 0x531 && c <= 0x556; /* Armenian */
}

/* Letters and digits; beyond ASCII all but signs, punctuation and pictures. */
static bool phi__skill_rules_letter(uint32_t c) {
    static const uint32_t others[][2] = {
        {0x80, 0xA9},     {0xAB, 0xB1},     {0xB4, 0xB4},       {0xB6, 0xB8},
        {0xBB, 0xBB},     {0xBF, 0xBF},     {0xD7, 0xD7},       {0xF7, 0xF7},
        {0x2000, 0x206F}, {0x20A0, 0x20CF}, {0x2190, 0x245F},   {0x2500, 0x2BFF},
        {0x2E00, 0x2E7F}, {0x3000, 0x3004}, {0x3008, 0x3020},   {0xD800, 0xF8FF},
        {0xFE00, 0xFE6F}, {0xFF01, 0xFF0F}, {0x1F000, 0x1FAFF}, {0xE0000, 0x10FFFF}};
    size_t i;
    if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    for (i = 0; i < PHI__COUNT(others); i++)
        if (c >= others[i][0] && c <= others[i][1]) return false;
    return true;
}

/* ---- reports ---- */

PHI_PRINTF(4, 5)
static void phi__skill_rules_say(const phi__skill_rules *rules, const char *key, bool fatal,
                                 const char *format, ...) {
    char words[PHI__SKILL_RULES_WORDS];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(words, sizeof words, format, args);
    va_end(args);
    rules->fault(rules->ctx, key, words, fatal);
}

/* ---- fields ---- */

/* The text of a field that must be there; false: it is not, and that was reported. */
static bool phi__skill_rules_required(const phi__skill_rules *rules, const char *key,
                                      phi_str *out) {
    const phi_json *node = phi_json_get(rules->root, key);
    if (node == NULL) {
        phi__skill_rules_say(rules, key, true, "the field \"%s\" is missing", key);
        return false;
    }
    *out = phi__str_trim(phi_json_str(node, NULL));
    if (phi_json_is_string(node) && out->len > 0) return true;
    phi__skill_rules_say(rules, key, true, "%s: expected a text that is not empty", key);
    return false;
}

static void phi__skill_rules_length_of(const phi__skill_rules *rules, const char *key, phi_str text,
                                       size_t most) {
    size_t n = phi__skill_rules_length(text);
    if (n > most)
        phi__skill_rules_say(rules, key, false, "%s: %llu characters, expected at most %llu", key,
                             (unsigned long long)n, (unsigned long long)most);
}

static void phi__skill_rules_name_of(const phi__skill_rules *rules, phi_str name) {
    size_t at = 0;
    bool capitals = false, others = false;
    int shown = (int)phi__min(name.len, 80);
    phi__skill_rules_length_of(rules, "name", name, PHI__SKILL_RULES_NAME);
    while (at < name.len) {
        uint32_t c = phi__skill_rules_next(name, &at);
        capitals = capitals || phi__skill_rules_capital(c);
        others = others || (c != '-' && !phi__skill_rules_letter(c));
    }
    if (capitals)
        phi__skill_rules_say(rules, "name", false, "name \"%.*s\": expected lower case", shown,
                             name.at);
    if (others)
        phi__skill_rules_say(rules, "name", false,
                             "name \"%.*s\": expected letters, digits and hyphens alone", shown,
                             name.at);
    if (name.at[0] == '-' || name.at[name.len - 1] == '-')
        phi__skill_rules_say(rules, "name", false,
                             "name \"%.*s\": expected no hyphen at its beginning or end", shown,
                             name.at);
    if (phi__str_find(name, 0, "--") != SIZE_MAX)
        phi__skill_rules_say(rules, "name", false,
                             "name \"%.*s\": expected no two hyphens in a row", shown, name.at);
    if (!phi_str_equal(name, rules->directory))
        phi__skill_rules_say(
            rules, "name", false,
            "name \"%.*s\": expected the name of its directory, \"%.*s\", which is "
            "used",
            shown, name.at, (int)phi__min(rules->directory.len, 80), rules->directory.at);
}

static void phi__skill_rules_compatibility(const phi__skill_rules *rules) {
    const phi_json *node = phi_json_get(rules->root, "compatibility");
    if (node == NULL) return;
    if (!phi_json_is_string(node))
        phi__skill_rules_say(rules, "compatibility", false, "compatibility: expected a text");
    else
        phi__skill_rules_length_of(rules, "compatibility", phi_json_str(node, NULL),
                                   PHI__SKILL_RULES_COMPATIBILITY);
}

static void phi__skill_rules_unknown(const phi__skill_rules *rules) {
    static const char *const known[] = {"name",          "description", "license",
                                        "compatibility", "metadata",    "allowed-tools"};
    phi_json_iter it = phi_json_each(rules->root);
    while (phi_json_next(&it) != NULL) {
        char key[64];
        size_t i = 0;
        while (i < PHI__COUNT(known) && !phi__str_is(it.key, known[i])) i++;
        if (i < PHI__COUNT(known)) continue;
        (void)snprintf(key, sizeof key, "%.*s", (int)phi__min(it.key.len, sizeof key - 1),
                       it.key.at);
        phi__skill_rules_say(rules, key, false,
                             "unknown field \"%s\": expected name, description, license, "
                             "compatibility, metadata or allowed-tools",
                             key);
    }
}

PHI__FN void phi__skill_rules_check(const phi__skill_rules *rules) {
    phi_str text;
    phi__skill_rules_unknown(rules);
    if (phi__skill_rules_required(rules, "name", &text)) phi__skill_rules_name_of(rules, text);
    if (phi__skill_rules_required(rules, "description", &text))
        phi__skill_rules_length_of(rules, "description", text, PHI__SKILL_RULES_DESCRIPTION);
    phi__skill_rules_compatibility(rules);
}

#endif

/* ---- src/skills/skills_list.c ---- */

/* skills_list.c - the lists of a set of skills: by name, and of problems. */

#ifndef PHI_NO_SKILLS


enum { PHI__SKILLS_MOST = 1000, PHI__SKILLS_FILE_BYTES = 1048576, PHI__SKILLS_READ_BYTES = 262144 };

static int phi__skills_list_compare(phi_str a, phi_str b) {
    size_t n = phi__min(a.len, b.len);
    int order = n > 0 ? memcmp(a.at, b.at, n) : 0;
    if (order != 0) return order;
    return a.len < b.len ? -1 : a.len > b.len ? 1 : 0;
}

PHI__FN size_t phi__skills_list_place(const phi_skills *skills, phi_str name, bool *found) {
    size_t low = 0, high = skills->count;
    *found = false;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = phi__skills_list_compare(skills->list[mid]->name, name);
        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

PHI__FN phi_status phi__skills_list_put(phi_skills *skills, phi_skill *skill) {
    bool found;
    size_t at = phi__skills_list_place(skills, skill->name, &found);
    phi_skill **list;
    if (found) {
        skills->list[at] = skill;
        return PHI_OK;
    }
    if (skills->count >= skills->desc.max_skills) return PHI_TOO_BIG;
    list = (phi_skill **)phi__grow(&skills->memory, (void *)skills->list, &skills->cap,
                                   skills->count + 1, sizeof *list);
    if (list == NULL) return PHI_NO_MEMORY;
    skills->list = list;
    memmove((void *)(list + at + 1), (void *)(list + at), (skills->count - at) * sizeof *list);
    list[at] = skill;
    skills->count++;
    return PHI_OK;
}

/* Names of files may be any bytes. */
static bool phi__skills_list_shown(phi_skills *skills, phi_str text, phi_str *out) {
    phi__buf shown;
    bool done;
    phi__buf_init(&shown, &skills->memory);
    phi__utf8_repair(&shown, text);
    if (shown.len > 0) shown.len = phi__words_clean_line(shown.at, shown.len);
    done = !shown.failed && phi__arena_str(&skills->arena, phi__buf_str(&shown), out);
    phi__buf_free(&shown);
    return done;
}

PHI__FN bool phi__skills_list_problem(phi_skills *skills, const phi_skill_problem *problem) {
    phi_skill_problem kept = *problem, *list;
    if (skills->problem_count >= PHI__SKILLS_PROBLEMS) return true;
    list = (phi_skill_problem *)phi__grow(&skills->memory, skills->problems, &skills->problem_cap,
                                          skills->problem_count + 1, sizeof *list);
    if (list == NULL) return false;
    skills->problems = list;
    if (!phi__skills_list_shown(skills, problem->file, &kept.file) ||
        !phi__skills_list_shown(skills, problem->message, &kept.message))
        return false;
    list[skills->problem_count++] = kept;
    return true;
}

/* ---- public ---- */

PHI_API phi_skills *phi_skills_new(const phi_skills_desc *desc) {
    phi_memory memory;
    phi_skills *skills;
    phi_memory_init(&memory, desc != NULL ? &desc->allocator : NULL,
                    desc != NULL ? desc->memory_limit_bytes : 0);
    skills = (phi_skills *)phi__alloc(&memory, sizeof *skills);
    if (skills == NULL) return NULL;
    skills->memory = memory;
    phi_arena_init(&skills->arena, &skills->memory, 0);
    if (desc != NULL) skills->desc = *desc;
    if (skills->desc.max_skills == 0) skills->desc.max_skills = PHI__SKILLS_MOST;
    if (skills->desc.max_file_bytes == 0) skills->desc.max_file_bytes = PHI__SKILLS_FILE_BYTES;
    if (skills->desc.max_read_bytes == 0) skills->desc.max_read_bytes = PHI__SKILLS_READ_BYTES;
    return skills;
}

PHI_API void phi_skills_free(phi_skills *skills) {
    phi_memory memory;
    if (skills == NULL) return;
    phi__walk_free(skills->load.walk);
    phi__free(&skills->memory, (void *)skills->list, skills->cap * sizeof *skills->list);
    phi__free(&skills->memory, skills->problems, skills->problem_cap * sizeof *skills->problems);
    phi_arena_free(&skills->arena);
    memory = skills->memory; /* its own block is counted in itself */
    phi__free(&memory, skills, sizeof *skills);
}

PHI_API size_t phi_skills_count(const phi_skills *skills) {
    return skills != NULL ? skills->count : 0;
}

PHI_API const phi_skill *phi_skills_at(const phi_skills *skills, size_t index) {
    return skills != NULL && index < skills->count ? skills->list[index] : NULL;
}

PHI_API const phi_skill *phi_skills_find(const phi_skills *skills, phi_str name) {
    bool found = false;
    size_t at = skills != NULL ? phi__skills_list_place(skills, name, &found) : 0;
    return found ? skills->list[at] : NULL;
}

PHI_API size_t phi_skills_problem_count(const phi_skills *skills) {
    return skills != NULL ? skills->problem_count : 0;
}

PHI_API const phi_skill_problem *phi_skills_problem_at(const phi_skills *skills, size_t index) {
    return skills != NULL && index < skills->problem_count ? &skills->problems[index] : NULL;
}

#endif

/* ---- src/skills/skills_load.c ---- */

/* skills_load.c - loads whole directories of skills, at once or in slices, and merges sets. */

#ifndef PHI_NO_SKILLS

#include <stdio.h>

/* ---- loading ---- */

static void phi__skills_load_end(phi_skills *skills) {
    phi__walk_free(skills->load.walk);
    memset(&skills->load, 0, sizeof skills->load);
}

static phi_status phi__skills_load_failed(phi_skills *skills, const char *dir, const char *message,
                                          phi_status status) {
    phi_skill_problem problem;
    memset(&problem, 0, sizeof problem);
    problem.file = phi_str_of(dir);
    problem.message = phi_str_of(message);
    return phi__skills_list_problem(skills, &problem) ? status : PHI_NO_MEMORY;
}

/* One entry of the directory; PHI_OK: go on. */
static phi_status phi__skills_load_entry(phi_skills *skills, const phi__walk_entry *entry) {
    char path[PHI__PATH_BYTES];
    char words[96];
    phi_status status;
    int n;
    phi__walk_skip(skills->load.walk);
    if (entry->kind != PHI__FILE_DIRECTORY && entry->kind != PHI__FILE_LINK) return PHI_OK;
    n = snprintf(path, sizeof path, "%s/%.*s", skills->load.dir.at, (int)entry->path.len,
                 entry->path.at);
    if (n < 0 || (size_t)n >= sizeof path) return PHI_OK; /* too long for any file below it */
    status = phi__skill_file_load(skills, path, skills->load.label);
    if (status == PHI_NO_MEMORY) return status;
    if (status != PHI_TOO_BIG) return PHI_OK;
    (void)snprintf(words, sizeof words, "more than %u skills: this one and others are not loaded",
                   (unsigned)skills->desc.max_skills);
    return phi__skills_load_failed(skills, path, words, PHI_TOO_BIG);
}

/* ---- copies ---- */

static bool phi__skills_load_copy_pairs(phi_skills *skills, const phi_skill *from, phi_skill *to) {
    phi_skill_pair *pairs;
    size_t i;
    if (from->metadata_count == 0) return true;
    pairs = (phi_skill_pair *)phi__arena_zero(&skills->arena, from->metadata_count * sizeof *pairs);
    if (pairs == NULL) return false;
    for (i = 0; i < from->metadata_count; i++)
        if (!phi__arena_str(&skills->arena, from->metadata[i].key, &pairs[i].key) ||
            !phi__arena_str(&skills->arena, from->metadata[i].value, &pairs[i].value))
            return false;
    to->metadata = pairs;
    to->metadata_count = from->metadata_count;
    return true;
}

static phi_status phi__skills_load_copy(phi_skills *skills, const phi_skill *from) {
    phi_skill *to = (phi_skill *)phi__arena_zero(&skills->arena, sizeof *to);
    phi_arena *arena = &skills->arena;
    if (to == NULL || !phi__arena_str(arena, from->name, &to->name) ||
        !phi__arena_str(arena, from->description, &to->description) ||
        !phi__arena_str(arena, from->license, &to->license) ||
        !phi__arena_str(arena, from->compatibility, &to->compatibility) ||
        !phi__arena_str(arena, from->allowed_tools, &to->allowed_tools) ||
        !phi__arena_str(arena, from->source, &to->source) ||
        !phi__arena_str(arena, from->base_dir, &to->base_dir) ||
        !phi__arena_str(arena, from->file_path, &to->file_path) ||
        !phi__skills_load_copy_pairs(skills, from, to))
        return PHI_NO_MEMORY;
    return phi__skills_list_put(skills, to);
}

/* ---- public ---- */

PHI_API phi_status phi_skills_load_begin(phi_skills *skills, const char *dir, const char *label) {
    phi__words words;
    phi_status status;
    if (skills == NULL || dir == NULL || dir[0] == '\0') return PHI_BAD_ARG;
    if (skills->load.walk != NULL) return PHI_MISUSE;
    if (!phi__arena_str(&skills->arena, phi_str_of(dir), &skills->load.dir) ||
        !phi__arena_str(&skills->arena, phi_str_of(label != NULL ? label : "dir:0"),
                        &skills->load.label))
        return PHI_NO_MEMORY;
    status = phi__walk_new(&skills->memory, dir, &skills->load.walk, &words);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    return phi__skills_load_failed(skills, dir, words.text, status);
}

PHI_API phi_status phi_skills_load_advance(phi_skills *skills, size_t units) {
    phi__walk_entry entry;
    phi_status status = PHI_OK;
    if (skills == NULL) return PHI_BAD_ARG;
    if (skills->load.walk == NULL) return PHI_OK;
    if (units == 0) units = 1;
    while (units-- > 0) {
        status = phi__walk_next(skills->load.walk, &entry);
        if (status == PHI_BUSY) continue;
        if (status == PHI_OK) status = phi__skills_load_entry(skills, &entry);
        if (status == PHI_OK) continue;
        phi__skills_load_end(skills);
        return status == PHI_NOT_FOUND ? PHI_OK : status;
    }
    return PHI_BUSY;
}

PHI_API phi_status phi_skills_load_dir(phi_skills *skills, const char *dir, const char *label) {
    phi_status status = phi_skills_load_begin(skills, dir, label);
    return status == PHI_OK ? phi_skills_load_advance(skills, SIZE_MAX) : status;
}

PHI_API phi_status phi_skills_load(phi_skills *skills, const char *const *dirs, size_t count) {
    size_t i;
    if (skills == NULL || (dirs == NULL && count > 0)) return PHI_BAD_ARG;
    for (i = 0; i < count; i++) {
        phi__file_info info;
        char label[32];
        phi_status status;
        if (dirs[i] == NULL) return PHI_BAD_ARG;
        if (phi__files_stat(dirs[i], true, &info, NULL) == PHI_NOT_FOUND) continue;
        (void)snprintf(label, sizeof label, "dir:%llu", (unsigned long long)i);
        status = phi_skills_load_dir(skills, dirs[i], label);
        if (status == PHI_NO_MEMORY || status == PHI_TOO_BIG || status == PHI_MISUSE) return status;
    }
    return PHI_OK;
}

PHI_API phi_status phi_skills_load_one(phi_skills *skills, const char *dir, const char *label) {
    phi_status status;
    phi_str kept;
    if (skills == NULL || dir == NULL || dir[0] == '\0') return PHI_BAD_ARG;
    if (!phi__arena_str(&skills->arena, phi_str_of(label != NULL ? label : "dir:0"), &kept))
        return PHI_NO_MEMORY;
    status = phi__skill_file_load(skills, dir, kept);
    if (status != PHI_NOT_FOUND) return status;
    return phi__skills_load_failed(skills, dir, "no SKILL.md here", PHI_NOT_FOUND);
}

PHI_API phi_status phi_skills_merge(phi_skills *skills, const phi_skills *other) {
    phi_status status = PHI_OK;
    size_t i;
    if (skills == NULL || other == NULL || skills == other) return PHI_BAD_ARG;
    for (i = 0; i < other->count && status == PHI_OK; i++)
        status = phi__skills_load_copy(skills, other->list[i]);
    for (i = 0; i < other->problem_count && status == PHI_OK; i++)
        if (!phi__skills_list_problem(skills, &other->problems[i])) status = PHI_NO_MEMORY;
    return status;
}

#endif

/* ---- src/skills/skills_prompt.c ---- */

/* skills_prompt.c - the index of skills, as a system prompt holds it. */

#ifndef PHI_NO_SKILLS

enum { PHI__SKILLS_PROMPT_CHARACTERS = 1024 }; /* of a description; the AgentSkills standard */

static void phi__skills_prompt_escape(phi__buf *out, phi_str text) {
    size_t i, from = 0;
    for (i = 0; i < text.len; i++) {
        const char *entity = NULL;
        switch (text.at[i]) {
        case '&': entity = "&amp;"; break;
        case '<': entity = "&lt;"; break;
        case '>': entity = "&gt;"; break;
        case '"': entity = "&quot;"; break;
        case '\'': entity = "&apos;"; break;
        default: continue;
        }
        phi__buf_add(out, text.at + from, i - from);
        phi__buf_text(out, entity);
        from = i + 1;
    }
    phi__buf_add(out, text.at + from, text.len - from);
}

static void phi__skills_prompt_field(phi__buf *out, const char *name, phi_str text) {
    phi__buf_printf(out, "    <%s>", name);
    phi__skills_prompt_escape(out, text);
    phi__buf_printf(out, "</%s>\n", name);
}

/* A description that breaks the standard's limit must not fill the prompt. */
static phi_str phi__skills_prompt_cut(phi_str text) {
    size_t at = 0, characters = 0;
    while (at < text.len && characters < PHI__SKILLS_PROMPT_CHARACTERS) {
        at++;
        while (at < text.len && ((unsigned char)text.at[at] & 0xC0) == 0x80) at++;
        characters++;
    }
    return phi__str(text.at, at);
}

static void phi__skills_prompt_index(const phi_skills *skills, phi__buf *out) {
    size_t i;
    if (skills->count == 0) return;
    phi__buf_text(out, "<available_skills>\n");
    for (i = 0; i < skills->count; i++) {
        phi__buf_text(out, "  <skill>\n");
        phi__skills_prompt_field(out, "name", skills->list[i]->name);
        phi__skills_prompt_field(out, "description",
                                 phi__skills_prompt_cut(skills->list[i]->description));
        phi__skills_prompt_field(out, "location", skills->list[i]->file_path);
        phi__buf_text(out, "  </skill>\n");
    }
    phi__buf_text(out, "</available_skills>");
}

/* Into the arena, and the buffer is freed. */
static phi_status phi__skills_prompt_give(phi__buf *text, phi_arena *arena, phi_str *out) {
    bool done = !text->failed && phi__arena_str(arena, phi__buf_str(text), out);
    phi__buf_free(text);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- public ---- */

PHI_API phi_status phi_skills_index(const phi_skills *skills, phi_arena *arena, phi_str *out) {
    phi__buf text;
    if (skills == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&text, arena->memory);
    phi__skills_prompt_index(skills, &text);
    return phi__skills_prompt_give(&text, arena, out);
}

PHI_API const char *phi_skills_hint_text(phi_skills_hint hint) {
    switch (hint) {
    case PHI_SKILLS_READ_SKILL:
        return "These skills hold instructions for particular tasks. Before a task that the "
               "description of a skill matches, read the skill with read_skill and follow it.";
    case PHI_SKILLS_READ_FILE:
        return "These skills hold instructions for particular tasks. Before a task that the "
               "description of a skill matches, read the file at its location with read_file and "
               "follow it. Paths in it are relative to the directory of that file, which it calls "
               "{baseDir}.";
    case PHI_SKILLS_NO_HINT: break;
    }
    return "";
}

PHI_API phi_status phi_skills_prompt(const phi_skills *skills, phi_skills_hint hint,
                                     const char *base, phi_arena *arena, phi_str *out) {
    const char *words = phi_skills_hint_text(hint);
    phi__buf text;
    if (skills == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&text, arena->memory);
    if (base != NULL) phi__buf_text(&text, base);
    if (skills->count > 0) {
        if (text.len > 0) phi__buf_text(&text, "\n\n");
        phi__buf_text(&text, words);
        if (words[0] != '\0') phi__buf_text(&text, "\n\n");
        phi__skills_prompt_index(skills, &text);
    }
    return phi__skills_prompt_give(&text, arena, out);
}

#endif

#endif /* PHI__IMP_SKILLS */

#endif /* PHI_IMPLEMENTATION */

/*
MIT License

Copyright (c) phi contributors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/
