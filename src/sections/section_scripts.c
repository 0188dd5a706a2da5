/* section_scripts.c - programs that are run at points of a run: [callbacks] and [hooks]. */
#include "sections/section_in.h"
#include "tools/scripts.h"
#include "agent/agent.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/run.h"
#include "model/event.h"

#ifndef PHI_NO_PROCESS

enum { PHI__SEC_SCRIPTS_MOST = 32, PHI__SEC_SCRIPTS_TASK = 0 };

/* A key, and its point; 0: no script is run there. */
typedef struct phi__sec_scripts_point {
    const char *key;
    uint32_t point;
} phi__sec_scripts_point;

static const phi__sec_scripts_point phi__sec_scripts_points[] = {
    {"before_loop", PHI_HOOK_BEFORE_LOOP},
    {"after_loop", PHI_HOOK_AFTER_LOOP},
    {"before_turn", PHI_HOOK_BEFORE_TURN},
    {"after_turn", PHI_HOOK_AFTER_TURN},
    {"before_tool_execution", PHI_HOOK_BEFORE_TOOL},
    {"after_tool_execution", PHI_HOOK_AFTER_TOOL},
    {"before_compaction_start", PHI_HOOK_BEFORE_COMPACTION},
    {"after_compaction_end", PHI_HOOK_AFTER_COMPACTION},
    {"on_error", PHI_HOOK_ON_ERROR},
    {"steering", PHI_HOOK_STEERING},
    {"follow_up", PHI_HOOK_FOLLOW_UP},
    {"filter", PHI_HOOK_FILTER},
    {"credential", PHI_HOOK_CREDENTIAL},
    {"before_task", PHI__SEC_SCRIPTS_TASK},
    {"after_task", PHI__SEC_SCRIPTS_TASK},
    {"transform_context", PHI_HOOK_TRANSFORM_CONTEXT},
    {"convert_to_llm", PHI_HOOK_CONVERT_TO_LLM}};

/* The table form of a script. */
typedef struct phi__cfg_script {
    uint64_t set;
    const char *command, *tool;
    uint32_t timeout_ms;
    bool shell;
    phi_script_failure on_failure;
} phi__cfg_script;

static const phi__cfg_choice phi__sec_scripts_failures[] = {
    {"allow", PHI_SCRIPT_FAILURE_ALLOWS, false},
    {"deny", PHI_SCRIPT_FAILURE_DENIES, false},
    {"", 0, false}};

static const phi__cfg_field phi__sec_scripts_one_fields[] = {
    PHI__C_TEXT(script, command, 0, "The program and its arguments."),
    PHI__C_TEXT(script, tool, 0, "For calls of this tool alone."),
    PHI__C_SECS(script, timeout_ms, "timeout_secs", PHI__NO_LIMIT, "30",
                "Seconds that it may take."),
    PHI__C_BOOL(script, shell, "false", "The command is a line for sh -c."),
    PHI__C_CHOICE(script, on_failure, phi__sec_scripts_failures, "null",
                  "The verdict when it gives none.")};
static const phi__cfg_table phi__sec_scripts_one_is = {"callbacks.script", "A script.",
                                                       PHI__ROWS(phi__sec_scripts_one_fields)};
static const phi__cfg_table *phi__sec_scripts_one_table(void) { return &phi__sec_scripts_one_is; }

/* The values are read from the tree: the struct is for the table alone. */
typedef struct phi__cfg_callbacks {
    uint64_t set;
    const phi_json *any;
} phi__cfg_callbacks;

static const phi__cfg_field phi__sec_scripts_fields[] = {
    PHI__C_ROW(callbacks, any, "before_loop", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table,
               NULL, 0, 0, "null",
               "Before a run; another exit code than 0 prevents it. A command, or a "
               "table (docs/scripts.md)."),
    PHI__C_ROW(callbacks, any, "after_loop", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table, NULL,
               0, 0, "null", "After a run."),
    PHI__C_ROW(callbacks, any, "before_turn", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table,
               NULL, 0, 0, "null", "Before a turn; another exit code ends the run."),
    PHI__C_ROW(callbacks, any, "after_turn", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table, NULL,
               0, 0, "null", "After a turn."),
    PHI__C_ROW(callbacks, any, "before_tool_execution", VALUE, 0, NULL, NULL,
               phi__sec_scripts_one_table, NULL, 0, 0, "null",
               "Before a tool call; another exit code denies it."),
    PHI__C_ROW(callbacks, any, "after_tool_execution", VALUE, 0, NULL, NULL,
               phi__sec_scripts_one_table, NULL, 0, 0, "null", "After a tool call."),
    PHI__C_ROW(callbacks, any, "before_compaction_start", VALUE, 0, NULL, NULL,
               phi__sec_scripts_one_table, NULL, 0, 0, "null",
               "Before a compaction; another exit code prevents it."),
    PHI__C_ROW(callbacks, any, "after_compaction_end", VALUE, 0, NULL, NULL,
               phi__sec_scripts_one_table, NULL, 0, 0, "null", "After a compaction."),
    PHI__C_ROW(callbacks, any, "on_error", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table, NULL,
               0, 0, "null", "After a model call has failed for good."),
    PHI__C_ROW(callbacks, any, "steering", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table, NULL,
               0, 0, "null", "Its reply is a steering message."),
    PHI__C_ROW(callbacks, any, "follow_up", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table, NULL,
               0, 0, "null", "Its reply is a follow-up message."),
    PHI__C_ROW(callbacks, any, "filter", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table, NULL, 0,
               0, "null", "Before a user's message is stored; it may refuse it."),
    PHI__C_ROW(callbacks, any, "credential", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table, NULL,
               0, 0, "null", "Its reply is the key of the next model call."),
    PHI__C_ROW(callbacks, any, "before_task", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table,
               NULL, 0, 0, "null", "Ignored with a warning: it belongs to a recorder."),
    PHI__C_ROW(callbacks, any, "after_task", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table, NULL,
               0, 0, "null", "Ignored with a warning: it belongs to a recorder."),
    PHI__C_ROW(callbacks, any, "transform_context", VALUE, 0, NULL, NULL,
               phi__sec_scripts_one_table, NULL, 0, 0, "null",
               "For functions alone: ignored with a warning."),
    PHI__C_ROW(callbacks, any, "convert_to_llm", VALUE, 0, NULL, NULL, phi__sec_scripts_one_table,
               NULL, 0, 0, "null", "For functions alone: ignored with a warning.")};

static const phi__cfg_table phi__sec_scripts_is = {
    "callbacks",
    "Programs that hear of a run as JSON and may stop it (docs/scripts.md). [hooks] takes the "
    "same.",
    PHI__ROWS(phi__sec_scripts_fields)};
typedef struct phi__sec_scripts_set {
    struct phi__sec_scripts_set *next;
    phi_scripts *scripts;
} phi__sec_scripts_set;

typedef struct phi__sec_scripts_state {
    const phi_json *node;
    phi_script list[PHI__SEC_SCRIPTS_MOST];
    size_t count;
    phi__sec_scripts_set *sets;
} phi__sec_scripts_state;

static const phi__sec_scripts_point *phi__sec_scripts_find(phi_str key) {
    for (size_t i = 0; i < PHI__COUNT(phi__sec_scripts_points); i++)
        if (phi__str_is(key, phi__sec_scripts_points[i].key)) return &phi__sec_scripts_points[i];
    return NULL;
}

/* Why a value is not run, as a warning. */
static bool phi__sec_scripts_skips(phi__cfg_ground *ground, const phi_json *node,
                                   const phi__sec_scripts_point *point, const char *command) {
    if (strstr(command, "::") != NULL && strchr(command, '/') == NULL) {
        phi__cfg_words_warning(ground, node, point->key,
                               "%s = \"%s\" names a function of a plug-in, which phi does not "
                               "load: it is ignored; remove it, or write the path of a script",
                               point->key, command);
        return true;
    }
    if (point->point == PHI__SEC_SCRIPTS_TASK) {
        phi__cfg_words_warning(ground, node, point->key,
                               "%s belongs to a session recorder "
                               "(phi_recorder_desc.%s_fn): it is ignored here; "
                               "remove it: before_loop and after_loop are run for each run",
                               point->key, point->key);
        return true;
    }
    if (point->point != PHI_HOOK_TRANSFORM_CONTEXT && point->point != PHI_HOOK_CONVERT_TO_LLM)
        return false;
    phi__cfg_words_warning(ground, node, point->key,
                           "%s changes messages, which a script cannot: it is ignored; remove "
                           "it here, and set phi_agent_desc.hook_fn in the program",
                           point->key);
    return true;
}

static phi_status phi__sec_scripts_add(phi__cfg_ground *ground, phi__sec_scripts_state *s,
                                       phi_str key, const phi_json *node) {
    const phi__sec_scripts_point *point = phi__sec_scripts_find(key);
    phi_script *script = &s->list[s->count];
    if (point == NULL || s->count == PHI__SEC_SCRIPTS_MOST) return PHI_OK; /* warned about */
    phi__cfg_script one = PHI_ZERO;
    if (phi_json_is(node, PHI_JSON_STRING))
        one.command = phi_json_str(node, "").at;
    else if (!phi__cfg_take(ground->arena, node, &phi__sec_scripts_one_is, &one))
        return PHI_NO_MEMORY;
    if (one.command == NULL || one.command[0] == '\0') {
        phi__cfg_words_error(ground, node, PHI_BAD_ARG, point->key,
                             "%s: expected a command, as \"./check.sh\", or a table with "
                             "command = \"...\"",
                             point->key);
        return PHI_OK;
    }
    if (phi__sec_scripts_skips(ground, node, point, one.command)) return PHI_OK;
    script->points = point->point;
    script->command = one.command;
    script->tool = one.tool;
    script->timeout_ms = one.timeout_ms;
    script->shell = one.shell;
    script->on_failure = one.on_failure;
    s->count++;
    return PHI_OK;
}

/* The scripts of an agent: keys are for the server of the top agent's model. A sub-agent has only
   those that guard tools, and, without its own key, those for keys. */
static phi_status phi__sec_scripts_of(const phi__sec_scripts_state *s,
                                      const phi__cfg_making *making, phi_scripts_desc *desc) {
    const uint32_t guards = (uint32_t)PHI_HOOK_BEFORE_TOOL | (uint32_t)PHI_HOOK_AFTER_TOOL;
    const char *server = making->top->model.base_url;
    phi_script *list =
        (phi_script *)phi_arena_alloc(making->ground->arena, (s->count + 1) * sizeof *list);
    if (list == NULL) return PHI_NO_MEMORY;
    desc->scripts = list;
    for (size_t i = 0; i < s->count; i++) {
        bool key = s->list[i].points == (uint32_t)PHI_HOOK_CREDENTIAL;
        if (making->is_child && !(key ? !making->has_own_key : (s->list[i].points & guards) != 0))
            continue;
        list[desc->count] = s->list[i];
        if (key) list[desc->count].server = server != NULL ? server : "";
        desc->count++;
    }
    return PHI_OK;
}

/* ---- for other modules ---- */

PHI__FN const phi__cfg_table *phi__sec_scripts_table(void) { return &phi__sec_scripts_is; }
PHI__FN const phi__cfg_table *phi__sec_scripts_hooks_table(void) { return &phi__sec_scripts_is; }

PHI__FN phi_status phi__sec_scripts_begin(phi__cfg_ground *ground, const phi_json *node,
                                          void **state) {
    phi__sec_scripts_state *s = (phi__sec_scripts_state *)phi__arena_zero(ground->arena, sizeof *s);
    const phi_json *nodes[2], *value;
    phi_status status = PHI_OK;
    *state = s;
    if (s == NULL) return PHI_NO_MEMORY;
    nodes[0] = node;
    nodes[1] = phi_json_get(phi_config_tree(ground->config), "hooks");
    s->node = node != NULL ? node : nodes[1];
    for (size_t i = 0; i < 2; i++) {
        phi_json_iter it = phi_json_each(nodes[i]);
        while (status == PHI_OK && (value = phi_json_next(&it)) != NULL)
            status = phi__sec_scripts_add(ground, s, it.key, value);
    }
    return status;
}

PHI__FN phi_status phi__sec_scripts_use(void *state, phi__cfg_making *making) {
    phi__sec_scripts_state *s = (phi__sec_scripts_state *)state;
    phi__cfg_ground *ground = making->ground;
    phi__sec_scripts_set *set;
    phi_scripts_desc desc = PHI_ZERO;
    phi_parse_error error;
    if (phi__sec_scripts_of(s, making, &desc) != PHI_OK) return PHI_NO_MEMORY;
    if (desc.count == 0) return PHI_OK;
    set = (phi__sec_scripts_set *)phi_arena_alloc(ground->arena, sizeof *set);
    if (set == NULL) return PHI_NO_MEMORY;
    desc.workspace = making->top->workspace; /* where "./check" is, also of sub-agents elsewhere */
    desc.allocator = ground->memory->allocator;
    set->scripts = phi_scripts_new(&desc, &error);
    if (set->scripts == NULL && error.status == PHI_NO_MEMORY) return PHI_NO_MEMORY;
    if (set->scripts == NULL) {
        phi__cfg_words_error(ground, s->node, PHI_BAD_ARG, "callbacks", "callbacks: %s",
                             error.message);
        return PHI_OK;
    }
    set->next = s->sets;
    s->sets = set;
    return phi_scripts_use(set->scripts, making->desc);
}

PHI__FN void phi__sec_scripts_end(void *state) {
    phi__sec_scripts_state *s = (phi__sec_scripts_state *)state;
    for (phi__sec_scripts_set *set = s != NULL ? s->sets : NULL; set != NULL; set = set->next)
        phi_scripts_free(set->scripts);
}

#endif
