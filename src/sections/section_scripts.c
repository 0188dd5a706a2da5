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

/* The table form of a script. */
typedef struct phi__cfg_script {
    uint64_t set;
    phi_script script;
} phi__cfg_script;

static const char phi__sec_script_failures[] = "allow=1 deny=2";

static const phi__cfg_table *phi__table_script(void);

static const phi__cfg_field phi__script_rows[] = {
    PHI__C_TEXT_IN(script, script, command, "The program and its arguments."),
    PHI__C_TEXT_IN(script, script, tool, "For calls of this tool alone."),
    PHI__C_SECS(script, script.timeout_ms, "timeout_secs", PHI__NO_LIMIT, "30",
                "Seconds that it may take."),
    PHI__C_FLAG_IN(script, script, shell, "The command is a line for sh -c."),
    PHI__C_CHOICE_IN(script, script, on_failure, phi__sec_script_failures, "null",
                     "The verdict when it gives none.")};
PHI__TABLE(script, "callbacks.script", "A script.")

/* The values are read from the tree: the struct is for the table alone. */
typedef struct phi__cfg_callbacks {
    uint64_t set;
    const phi_json *any;
} phi__cfg_callbacks;

/* Keys, their points (0: no script is run there), and what they are for. */
#define PHI__SEC_POINTS(X)                                                                         \
    X("before_loop", PHI_HOOK_BEFORE_LOOP,                                                         \
      "Before a run; another exit code than 0 prevents it. A command, or a table "                 \
      "(docs/scripts.md).")                                                                        \
    X("after_loop", PHI_HOOK_AFTER_LOOP, "After a run.")                                           \
    X("before_turn", PHI_HOOK_BEFORE_TURN, "Before a turn; another exit code ends the run.")       \
    X("after_turn", PHI_HOOK_AFTER_TURN, "After a turn.")                                          \
    X("before_tool_execution", PHI_HOOK_BEFORE_TOOL,                                               \
      "Before a tool call; another exit code denies it.")                                          \
    X("after_tool_execution", PHI_HOOK_AFTER_TOOL, "After a tool call.")                           \
    X("before_compaction_start", PHI_HOOK_BEFORE_COMPACTION,                                       \
      "Before a compaction; another exit code prevents it.")                                       \
    X("after_compaction_end", PHI_HOOK_AFTER_COMPACTION, "After a compaction.")                    \
    X("on_error", PHI_HOOK_ON_ERROR, "After a model call has failed for good.")                    \
    X("steering", PHI_HOOK_STEERING, "Its reply is a steering message.")                           \
    X("follow_up", PHI_HOOK_FOLLOW_UP, "Its reply is a follow-up message.")                        \
    X("filter", PHI_HOOK_FILTER, "Before a user's message is stored; it may refuse it.")           \
    X("credential", PHI_HOOK_CREDENTIAL, "Its reply is the key of the next model call.")           \
    X("before_task", PHI__SEC_SCRIPTS_TASK, "Ignored with a warning: it belongs to a recorder.")   \
    X("after_task", PHI__SEC_SCRIPTS_TASK, "Ignored with a warning: it belongs to a recorder.")    \
    X("transform_context", PHI_HOOK_TRANSFORM_CONTEXT,                                             \
      "For functions alone: ignored with a warning.")                                              \
    X("convert_to_llm", PHI_HOOK_CONVERT_TO_LLM, "For functions alone: ignored with a warning.")

#define PHI__SEC_ROW(key, point, text)                                                             \
    PHI__C_TABLE_AS(callbacks, any, key, VALUE, phi__table_script, text),
#define PHI__SEC_POINT(key, point, text) point,
static const phi__cfg_field phi__callbacks_rows[] = {PHI__SEC_POINTS(PHI__SEC_ROW)};
static const uint32_t phi__sec_script_points[] = {PHI__SEC_POINTS(PHI__SEC_POINT)};
#undef PHI__SEC_ROW
#undef PHI__SEC_POINT
#undef PHI__SEC_POINTS
PHI__TABLE(callbacks, "callbacks",
           "Programs that hear of a run as JSON and may stop it (docs/scripts.md). [hooks] takes "
           "the same.")

typedef struct phi__sec_script_set {
    struct phi__sec_script_set *next;
    phi_scripts *scripts;
} phi__sec_script_set;

typedef struct phi__sec_script_state {
    const phi_json *node;
    phi_script list[PHI__SEC_SCRIPTS_MOST];
    size_t count;
    phi__sec_script_set *sets;
} phi__sec_script_state;

/* Why a value is not run, as a warning. */
static bool phi__sec_script_skips(phi__cfg_ground *ground, const phi_json *node, const char *key,
                                  uint32_t point, const char *command) {
    if (strstr(command, "::") != NULL && strchr(command, '/') == NULL) {
        phi__cfg_warn(ground, node, key,
                      "%s = \"%s\" names a function of a plug-in, which phi does not load: it is "
                      "ignored; remove it, or write the path of a script",
                      key, command);
        return true;
    }
    if (point == PHI__SEC_SCRIPTS_TASK) {
        phi__cfg_warn(ground, node, key,
                      "%s belongs to a session recorder (phi_recorder_desc.%s_fn): it is ignored "
                      "here; remove it: before_loop and after_loop are run for each run",
                      key, key);
        return true;
    }
    if (point != PHI_HOOK_TRANSFORM_CONTEXT && point != PHI_HOOK_CONVERT_TO_LLM) return false;
    phi__cfg_warn(ground, node, key,
                  "%s changes messages, which a script cannot: it is ignored; remove it here, and "
                  "set phi_agent_desc.hook_fn in the program",
                  key);
    return true;
}

static phi_status phi__sec_script_add(phi__cfg_ground *ground, phi__sec_script_state *s,
                                      phi_str key, const phi_json *node) {
    size_t i;
    const phi__cfg_field *field = phi__fields_find(phi__table_callbacks(), key, &i);
    phi__cfg_script one = PHI_ZERO;
    if (field == NULL || s->count == PHI__SEC_SCRIPTS_MOST) return PHI_OK; /* warned about */
    if (phi_json_is(node, PHI_JSON_STRING))
        one.script.command = phi_json_str(node, "").at;
    else if (!phi__cfg_take(ground->arena, node, phi__table_script(), &one))
        return PHI_NO_MEMORY;
    const char *command = one.script.command;
    one.script.points = phi__sec_script_points[i];
    if (command == NULL || command[0] == '\0')
        phi__cfg_error(
            ground, node, PHI_BAD_ARG, field->key,
            "%s: expected a command, as \"./check.sh\", or a table with command = \"...\"",
            field->key);
    else if (!phi__sec_script_skips(ground, node, field->key, one.script.points, command))
        s->list[s->count++] = one.script;
    return PHI_OK;
}

/* The scripts of an agent: keys are for the server of the top agent's model. A sub-agent has only
   those that guard tools, and, without its own key, those for keys. */
static phi_status phi__sec_script_of(const phi__sec_script_state *s, const phi__cfg_making *making,
                                     phi_scripts_desc *desc) {
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

PHI__FN phi_status phi__sec_script_begin(phi__cfg_ground *ground, const phi_json *node,
                                         void **state) {
    phi__sec_script_state *s = (phi__sec_script_state *)phi__arena_zero(ground->arena, sizeof *s);
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
            status = phi__sec_script_add(ground, s, it.key, value);
    }
    return status;
}

PHI__FN phi_status phi__sec_script_use(void *state, phi__cfg_making *making) {
    phi__sec_script_state *s = (phi__sec_script_state *)state;
    phi__cfg_ground *ground = making->ground;
    phi__sec_script_set *set;
    phi_scripts_desc desc = PHI_ZERO;
    phi_parse_error error;
    if (phi__sec_script_of(s, making, &desc) != PHI_OK) return PHI_NO_MEMORY;
    if (desc.count == 0) return PHI_OK;
    set = (phi__sec_script_set *)phi_arena_alloc(ground->arena, sizeof *set);
    if (set == NULL) return PHI_NO_MEMORY;
    desc.workspace = making->top->workspace; /* where "./check" is, also of sub-agents elsewhere */
    desc.allocator = ground->memory->allocator;
    set->scripts = phi_scripts_new(&desc, &error);
    if (set->scripts == NULL && error.status == PHI_NO_MEMORY) return PHI_NO_MEMORY;
    if (set->scripts == NULL) {
        phi__cfg_error(ground, s->node, PHI_BAD_ARG, "callbacks", "callbacks: %s", error.message);
        return PHI_OK;
    }
    set->next = s->sets;
    s->sets = set;
    return phi_scripts_use(set->scripts, making->desc);
}

PHI__FN void phi__sec_script_end(void *state) {
    phi__sec_script_state *s = (phi__sec_script_state *)state;
    for (phi__sec_script_set *set = s != NULL ? s->sets : NULL; set != NULL; set = set->next)
        phi_scripts_free(set->scripts);
}

#endif
