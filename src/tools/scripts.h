/* scripts.h - hooks that are scripts: programs that hear of a run as JSON and may stop it.

       phi_script script = PHI_ZERO;
       script.points = PHI_HOOK_BEFORE_TOOL;
       script.command = "python3 scripts/check.py";
       scripts_desc.scripts = &script;
       scripts_desc.count = 1;
       phi_scripts *scripts = phi_scripts_new(&scripts_desc, NULL);
       phi_scripts_use(scripts, &desc);          // desc: a phi_agent_desc, before phi_agent_new

   A script gets one JSON object on its standard input, {"hook":"before_tool_execution",...}, and
   the same facts as variables PHI_HOOK, PHI_SESSION_ID, PHI_LOOP_ID, PHI_AGENT_ID, PHI_TURN_INDEX,
   PHI_TOOL_NAME and PHI_TOOL_CALL_ID. Exit code 0 lets the run continue; any other code denies, at
   the points where that has a meaning. A JSON object on standard output says more:
       {"allow": false, "reason": "..."}   denies
       {"allow": true, "arguments": {..}}  before_tool_execution: the tool runs with these
       {"reply": "..."}                    steering, follow_up: a message; credential: the key
       {"warn": "..."}                     filter: is added for the model
   Standard error is the reason of a denial that gives none, and is part of warnings.

   Nothing waits: the run (or that tool call alone) pauses until the script has exited, as for any
   hook that waits, and PHI_EV_DECISION is not emitted. Scripts of one point run one after the other
   until one denies; the host's own hook is called after the last. An abort, a freed agent and a
   closed runtime kill the script and all that it started.

   No shell reads a command unless `shell` is set. A script runs with the rights of the program; its
   environment is the program's, without variables whose names look like keys.
   Threads: the pumping thread. */
#ifndef PHI_TOOLS_SCRIPTS_H
#define PHI_TOOLS_SCRIPTS_H

#include "loop/agent_desc.h"

#ifndef PHI_NO_PROCESS

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
    /* credential: an address; for models of its scheme, host and port alone, "": for those without
       an address (default: all) */
    const char *server;
    uint32_t timeout_ms; /* from its start (default: the set's; PHI_UNLIMITED) */
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

/* A set of scripts. NULL: no memory, or a fault of desc, which `error` (may be NULL) names.
   Ownership: the caller frees it with phi_scripts_free, after the agents that use it. */
PHI_API phi_scripts *phi_scripts_new(const phi_scripts_desc *desc, phi_parse_error *error);
PHI_API void phi_scripts_free(phi_scripts *scripts); /* NULL is harmless */

/* Puts the scripts in front of the hook of an agent's desc: sets hook_fn, hook_points and
   hook_user_data, and calls the hook that was there after the scripts. One set serves any number of
   agents of one runtime with the same hook; PHI_MISUSE: another hook than before. Only once for a
   desc. PHI_BAD_ARG. */
PHI_API phi_status phi_scripts_use(phi_scripts *scripts, phi_agent_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
#endif
