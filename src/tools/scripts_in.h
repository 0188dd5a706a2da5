/* scripts_in.h - internals of scripts: the words of a command, the input, the answer. */
#ifndef PHI_TOOLS_SCRIPTS_IN_H
#define PHI_TOOLS_SCRIPTS_IN_H

#include "tools/tools_in.h"
#include "base/base_in.h"
#include "loop/loop_in.h"
#include "tools/scripts.h"

#ifndef PHI_NO_PROCESS
typedef struct phi__scripts_one {
    phi_script script;       /* its strings are in the set's arena */
    const char *const *argv; /* ready for phi__process_new */
    const char *name;        /* for messages */
} phi__scripts_one;

struct phi_scripts {
    phi_memory memory;
    phi_arena arena;
    phi_scripts_desc desc;
    phi__scripts_one *all;
    size_t env_count;
    uint32_t points; /* union of the points of all scripts */
    phi_hook_fn hook_fn;
    uint32_t hook_points;
    void *hook_user_data; /* NULL: the user_data of each agent */
    bool used;
    phi__list jobs;
    size_t job_count;
    uint32_t running; /* jobs that count towards max_running */
};

typedef enum phi__script_says {
    PHI__SCRIPT_ALLOWS,
    PHI__SCRIPT_DENIES,
    PHI__SCRIPT_WARNS,  /* only at PHI_HOOK_FILTER */
    PHI__SCRIPT_CHATS,  /* the output is no answer: allowed, with a warning */
    PHI__SCRIPT_BROKEN, /* the answer cannot be read: a failure */
    PHI__SCRIPT_LOST    /* no memory */
} phi__script_says;

/* Reads an answer. `reply` gets the reason, changed arguments, message, warning or fault. */
PHI__FN phi__script_says phi__talk_answer(phi_memory *memory, phi_hook_point point, phi_str output,
                                          phi__buf *reply);
#endif

#endif
