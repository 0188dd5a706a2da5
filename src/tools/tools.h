/* tools.h - the six built-in tools: run a command, read, write and edit a file, list files, search.

       static phi_toolset set;
       phi_tools_desc tools = PHI_ZERO;
       tools.workspace = "/home/ada/project";
       phi_tools_init(&set, &tools);
       desc.tools = set.tools;                       // desc: a phi_agent_desc
       desc.tool_count = set.count;

   The five that work on files stay inside the workspace and the allowed paths: a path is resolved,
   with ".." and all links, before it is compared, and then opened by descriptors, so that another
   process that swaps a directory and a link leads nowhere else. `bash` is not confined: it starts
   in the workspace and may do what the host's user may. Leave it out, confirm commands, let a hook
   decide (PHI_HOOK_BEFORE_TOOL, which may wait for a person; permissions/permissions.h has rules
   for each command of a line), or run the host in a container. deny_patterns are no boundary: they
   stop mistakes, not intent, for a shell can say a thing in endless ways.

   `search` and `list_files` leave out what .gitignore and .ignore files say. phi's own engine
   searches inside a workspace or allowed paths; where every file may be used, `search` runs
   ripgrep if there is one. The answers are the same.

   All texts that a model sees are UTF-8; other bytes become U+FFFD. Nothing waits: commands run as
   processes, files are read and written in slices. write_file and edit_file run alone, so that two
   edits of a turn cannot lose each other; a file is replaced whole, never left half written.
   Threads: the pumping thread. */
#ifndef PHI_TOOLS_TOOLS_H
#define PHI_TOOLS_TOOLS_H

#include "loop/tool.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_TOOL_COUNT = 6 };

/* The program that `search` runs. By each of the first, the second and the last the answers are the
   same; grep reads another syntax of patterns and heeds no ignore files. */
typedef enum phi_search_with {
    /* phi's own engine inside a workspace or allowed paths, and where there is no ripgrep */
    PHI_SEARCH_AUTOMATIC,
    /* ripgrep; an error where there is none. It opens files by name: another process that swaps a
       directory and a link in the workspace can lead it outside */
    PHI_SEARCH_RG,
    PHI_SEARCH_GREP, /* grep -E; an error where there is none; as with ripgrep */
    PHI_SEARCH_OWN   /* phi's own engine: no process is started */
} phi_search_with;

/* The default of phi_tools_desc.deny_patterns, for a longer list: {PHI_TOOLS_DENY_PATTERNS,
   "shutdown", NULL}. The first pattern also catches an rm of an absolute path whose flags are both
   r and f, in whatever order and spelling; not an rm whose words come from a variable, a
   substitution or another program. */
#define PHI_TOOLS_DENY_PATTERNS "rm -rf /", "rm -rf /*", "mkfs", "dd if=", ":(){:|:&};:"

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
       boundary: see above; an empty list denies nothing (default: PHI_TOOLS_DENY_PATTERNS) */
    const char *const *deny_patterns;
    /* Called before a command runs; false: it does not run (default: none). A dialog that takes
       longer than a frame needs a tool of the host's own. */
    bool (*confirm_fn)(void *user_data, const char *command);
    void *user_data; /* of confirm_fn */
    /* NULL-ended names of the host's variables that commands get although they look like keys
       (KEY, TOKEN, SECRET, PASSWORD, CREDENTIAL in the name) (default: none) */
    const char *const *keep_keys;
    uint32_t bash_timeout_ms;   /* (default 120,000; PHI_UNLIMITED) */
    uint32_t list_timeout_ms;   /* (default 10,000; PHI_UNLIMITED) */
    uint32_t search_timeout_ms; /* (default 30,000; PHI_UNLIMITED) */
    /* kept of each of a command's streams: head and tail of a longer one (default 262,144) */
    uint32_t max_output_bytes;
    /* of a command's result that the model sees (default 32,768; PHI_UNLIMITED: as the agent has
       it): phi_tool.max_result_bytes of bash */
    uint32_t max_bash_result_bytes;
    uint32_t max_read_bytes; /* of a text file, or of the requested lines (default 1,048,576) */
    uint32_t max_files;      /* listed by list_files (default 200) */
    uint32_t max_matches;    /* listed by search (default 50) */
    /* for search (default PHI_SEARCH_AUTOMATIC); with PHI_NO_PROCESS always PHI_SEARCH_OWN */
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

#ifdef __cplusplus
}
#endif
#endif
