/* tools.h - the six built-in tools: run a command, read, write and edit a file, list files, search.

   static phi_toolset set; phi_tools_desc tools = PHI_ZERO; tools.workspace = "/home/ada/project";
   phi_tools_init(&set, &tools); desc.tools = set.tools;                       // desc: a
   phi_agent_desc desc.tool_count = set.count;

   The five file tools stay inside the workspace and the allowed paths. A path is resolved, with
   ".." and all links, before it is checked. It is then opened by descriptors, so another process
   that swaps a directory for a link cannot lead the tool elsewhere. `bash` is not confined: it
   starts in the workspace, but can do all that the host's user can. Leave bash out, confirm its
   commands, let a hook decide, or run the host in a container. A hook at PHI_HOOK_BEFORE_TOOL may
   wait for a person, and permissions/permissions.h has rules for each command of a line.
   deny_patterns are no boundary: they stop mistakes, not intent, because a shell can express a
   command in endless ways.

   `search` and `list_files` leave out what .gitignore and .ignore files exclude. Inside a workspace
   or allowed paths, phi's own engine searches. If every file may be used, `search` runs ripgrep if
   it is installed. The results are the same.

   On Windows, `bash` runs the bash of Git or MSYS if one is installed, else PowerShell: the tool's
   description says which. The bash of WSL is not used.

   All texts that a model sees are UTF-8; other bytes become U+FFFD. No tool blocks: commands run
   as processes, and files are read and written in slices. While write_file or edit_file runs, no
   other tool of the turn runs, so no edit is lost. They replace a file whole, so it is never
   left half written. Threads: the pumping thread. */
#ifndef PHI_TOOLS_TOOLS_H
#define PHI_TOOLS_TOOLS_H

#include "loop/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_TOOL_COUNT = 6 };

/* The program that `search` runs. The results are the same, except that grep has another syntax of
   patterns and does not heed ignore files. */
typedef enum phi_search_with {
    /* phi's own engine if files are confined or ripgrep is not installed; else ripgrep */
    PHI_SEARCH_AUTOMATIC,
    /* Ripgrep; an error if it is not installed. It opens files by name, so another process that
       swaps a directory for a link in the workspace can lead ripgrep outside. */
    PHI_SEARCH_RG,
    PHI_SEARCH_GREP, /* grep -E; an error if it is not installed; as unconfined as ripgrep */
    PHI_SEARCH_OWN   /* phi's own engine; starts no process */
} phi_search_with;

/* The default of phi_tools_desc.deny_patterns. To extend it: {PHI_TOOLS_DENY_PATTERNS, "shutdown",
   NULL}. The first pattern also catches an rm of an absolute path with both flags r and f, in any
   order and spelling. It does not catch an rm whose words come from a variable, a substitution or
   another program. */
#define PHI_TOOLS_DENY_PATTERNS "rm -rf /", "rm -rf /*", "mkfs", "dd if=", ":(){:|:&};:"

/* Zero means default for every field. All pointers are borrowed as long as the set is used. */
typedef struct phi_tools_desc {
    /* The directory where relative paths start and commands run. By default this is the working
       directory, but files are then not confined to it. */
    const char *workspace;
    /* NULL-ended directories or files that may be used besides the workspace. Relative paths start
       in the workspace. If neither workspace nor allowed_paths is set, every path may be used
       (default: none). */
    const char *const *allowed_paths;
    bool unconfined; /* allow every path, despite workspace and allowed_paths */
    /* NULL-ended. A command that contains a pattern is refused, even with other quotes or blanks.
       This is no boundary: see above. An empty list denies nothing (default:
       PHI_TOOLS_DENY_PATTERNS). */
    const char *const *deny_patterns;
    /* Called before a command runs; if it returns false, the command does not run (default: none).
       Must return at once. For a dialog, the agent's hook returns PHI_WAIT at PHI_HOOK_BEFORE_TOOL
       if hook->tool_name is "bash"; each agent that uses the set needs that hook. */
    bool (*confirm_fn)(void *user_data, const char *command);
    void *user_data; /* for confirm_fn */
    /* NULL-ended names of host variables that commands get although their names look like keys:
       they contain KEY, TOKEN, SECRET, PASSWORD or CREDENTIAL (default: none). */
    const char *const *keep_keys;
    uint32_t bash_timeout_ms;   /* default 120,000; may be PHI_UNLIMITED */
    uint32_t list_timeout_ms;   /* default 10,000; may be PHI_UNLIMITED */
    uint32_t search_timeout_ms; /* default 30,000; may be PHI_UNLIMITED */
    /* Bytes kept of each stream of a command. A longer stream keeps its head and tail (default
       262,144). */
    uint32_t max_output_bytes;
    /* Most bytes of a command's result that the model sees; becomes phi_tool.max_result_bytes of
       bash (default 32,768; PHI_UNLIMITED: the agent's limit). */
    uint32_t max_bash_result_bytes;
    /* max. bytes of a text file, or of the lines asked for; a larger read is an error. Images and
       other media have a limit of 20 MiB (default 1,048,576) */
    uint32_t max_read_bytes;
    uint32_t max_files;   /* max. files that list_files lists (default 200) */
    uint32_t max_matches; /* max. matches that search lists (default 50) */
    /* default PHI_SEARCH_AUTOMATIC; with PHI_NO_PROCESS always PHI_SEARCH_OWN */
    phi_search_with search_with;
} phi_tools_desc;

/* Tools and their settings. Read `tools` and `count`; all other fields are private. The struct must
   not move until the last agent that uses it is freed. */
typedef struct phi_toolset {
    phi_tool tools[PHI_TOOL_COUNT];
    size_t count; /* 6, or fewer with PHI_NO_PROCESS or PHI_NO_FILES */
    phi_tools_desc desc;
    bool powershell; /* `bash` runs PowerShell, because no bash was found */
} phi_toolset;

/* Fills `set` with the tools bash, read_file, write_file, edit_file, list_files and search. desc is
   copied; NULL means defaults. Allocates nothing. Asks the disk for the workspace, and so may block
   on a slow one. PHI_BAD_ARG: set is NULL. PHI_NOT_FOUND: there is no directory `workspace`. The
   set has its tools also then, and they work once the directory is there. With PHI_NO_FILES phi
   does not look. */
PHI_API phi_status phi_tools_init(phi_toolset *set, const phi_tools_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
