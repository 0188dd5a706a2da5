/* scripts.h - hooks that are scripts: programs that get the events of a run as JSON and may stop
   it.

       phi_script script = PHI_ZERO;
       script.points = PHI_HOOK_BEFORE_TOOL;
       script.command = "python3 scripts/check.py";
       scripts_desc.scripts = &script;
       scripts_desc.count = 1;
       phi_scripts *scripts = phi_scripts_new(&scripts_desc, NULL);
       phi_scripts_use(scripts, &desc);          // desc: a phi_agent_desc, before phi_agent_new

   A script gets one JSON object on its standard input, {"hook":"before_tool_execution",...}. The
   same facts are in the variables PHI_HOOK, PHI_SESSION_ID, PHI_LOOP_ID, PHI_AGENT_ID,
   PHI_TURN_INDEX, PHI_TOOL_NAME and PHI_TOOL_CALL_ID. Exit code 0 lets the run continue. Any other
   code denies, at the points where denying has a meaning. A JSON object on standard output can say
   more:
       {"allow": false, "reason": "..."}   denies
       {"allow": true, "arguments": {..}}  before_tool_execution: the tool runs with these
       {"reply": "..."}                    steering, follow_up: a message; credential: the key
       {"warn": "..."}                     filter: a warning that is added for the model
   A denial without a reason takes standard error as its reason. Warnings also quote standard error.

   The pump never waits for a script. Only the run or the tool call pauses until the script has
   exited, as for any hook that waits. However, PHI_EV_DECISION is not emitted. The scripts of one
   point run one after the other until one denies. The host's own hook is called after the last
   script. If the run is aborted, the agent freed or the runtime closed, the script and all
   processes it started are killed.

   No shell reads a command unless `shell` is set. A script runs with the rights of the program. Its
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

/* The verdict if a script fails: it cannot be started, exceeds its deadline, is killed, or its
   answer is broken or too long. An exit code other than 0 is no failure: it denies. */
typedef enum phi_script_failure {
    PHI_SCRIPT_FAILURE_DEFAULT = 0, /* deny; but allow if the script cannot be started */
    PHI_SCRIPT_FAILURE_ALLOWS,
    PHI_SCRIPT_FAILURE_DENIES
} phi_script_failure;

/* Zero means default for every field but points, and command or argv. */
typedef struct phi_script {
    /* PHI_HOOK_ bits: all but TRANSFORM_CONTEXT, CONVERT_TO_LLM, BEFORE_ and AFTER_TOOL_UPDATE */
    uint32_t points;
    /* A command such as "python3 check.py --strict 'a b'" is split at blanks. Quotes and
       backslashes work as in a shell; no other sign is special. A first word that ends in .py is
       run by python3, one that ends in .sh by sh. */
    const char *command;
    const char *const *argv; /* replaces command: NULL-ended; argv[0] is looked up in PATH */
    bool shell;              /* run the command as a line of sh -c */
    const char *tool;        /* at tool points: only calls of this tool (default: all tools) */
    /* At the credential point: only models with the scheme, host and port of this address; "" means
       models without an address (default: all models). */
    const char *server;
    uint32_t timeout_ms; /* from this script's start; PHI_UNLIMITED (default: the set's) */
    phi_script_failure on_failure;
} phi_script;

/* Zero means default for every field. All is copied. */
typedef struct phi_scripts_desc {
    const phi_script *scripts;
    size_t count;
    const char *workspace;     /* working directory (default: the agent's, else the program's) */
    const char *const *env;    /* "NAME=value", NULL-ended; added to the program's environment */
    bool keep_keys;            /* keep variables of the program whose names look like keys */
    uint32_t timeout_ms;       /* for each script; may be PHI_UNLIMITED (default 30,000) */
    uint32_t max_output_bytes; /* max. bytes of stdout; stderr has a quarter (default 65,536) */
    uint32_t max_running;      /* max. scripts of this set at once; others wait (default 8) */
    phi_allocator allocator;   /* copied (default: the C library's) */
} phi_scripts_desc;

/* Makes a set of scripts. NULL: no memory, or a fault in desc; `error` (may be NULL) says which.
   Ownership: the caller frees it with phi_scripts_free, after the agents that use it. */
PHI_API phi_scripts *phi_scripts_new(const phi_scripts_desc *desc, phi_parse_error *error);
PHI_API void phi_scripts_free(phi_scripts *scripts); /* NULL is harmless */

/* Puts the scripts before the hook of an agent's desc: sets hook_fn, hook_points and
   hook_user_data. The scripts run first; then the previous hook is called. Call it once for a
   desc. One set serves any number of agents of one runtime, if their hooks are the same.
   PHI_MISUSE: the hook differs from an earlier desc's, or the desc already has scripts.
   PHI_BAD_ARG: an argument is NULL. */
PHI_API phi_status phi_scripts_use(phi_scripts *scripts, phi_agent_desc *desc);

#ifdef __cplusplus
}
#endif
#endif
#endif
