/* subagents.c - the tool that delegates, and the host's own way to it. */
#include "subagents/child_in.h"

#include <stdio.h>

static phi_flow phi__subagents_start(void *user_data, phi_call call, phi_str arguments);

/* NULL: no memory. */
static phi__children *phi__subagents_all(phi__agent *parent) {
    phi__children *all = phi__children_all(parent);
    if (all != NULL) all->start = phi__subagents_start;
    return all;
}

/* ---- a call ---- */

typedef struct phi__subagents_task {
    phi_str task, go_on; /* in an arena */
} phi__subagents_task;

/* An error message, or NULL. */
static const char *phi__subagents_read(const phi_subagent_desc *desc, phi_str arguments,
                                       phi_arena *scratch, phi__subagents_task *out) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(scratch, arguments, 0, &root, NULL);
    if (status == PHI_NO_MEMORY) return "Out of memory";
    out->task = phi_json_str(phi_json_get(root, "task"), "");
    out->go_on = phi__str("", 0);
    if (desc->keep > 0) out->go_on = phi_json_str(phi_json_get(root, "continue"), "");
    return out->task.len > 0 ? NULL : "Invalid arguments: Missing required 'task' parameter";
}

/* The child for a task: a new one, or one that is kept. NULL: words say why. */
static phi__child *phi__subagents_child(phi__children *all, phi_subagent_desc *desc, phi_str go_on,
                                        char *words, size_t size) {
    phi__child *child = NULL;
    const char *last = "";
    if (go_on.len == 0) {
        child = phi__children_new(all, desc);
    } else {
        child = phi__child_kept(all, desc, go_on);
        if (child == NULL) {
            (void)snprintf(words, size, "There is no finished sub-agent \"%.*s\" to continue",
                           (int)phi__min(go_on.len, 40), go_on.at);
            return NULL;
        }
        if (child->agent == NULL && phi__child_save_thaw(child, desc) != PHI_OK) child = NULL;
    }
    if (child != NULL) return child;
    (void)phi__error_last(all->parent->rt, &last);
    (void)snprintf(words, size, "The sub-agent could not start: %s", last);
    return NULL;
}

static bool phi__subagents_begin(phi__agent *parent, phi_subagent_desc *desc,
                                 const phi__subagents_task *task, phi_call call, char *words,
                                 size_t size) {
    phi__children *all = phi__subagents_all(parent);
    phi__child *child;
    const char *last = "";
    (void)snprintf(words, size, "Out of memory");
    if (all == NULL) return false;
    phi__children_sweep(all);
    child = phi__subagents_child(all, desc, task->go_on, words, size);
    if (child == NULL) return false;
    child->call = call;
    if (phi__children_begin(child, task->task) == PHI_OK) return true;
    child->call.rt = NULL;
    (void)phi__error_last(parent->rt, &last);
    (void)snprintf(words, size, "The sub-agent could not start: %s", last);
    if (task->go_on.len == 0) phi__child_drop(child);
    return false;
}

static phi_flow phi__subagents_start(void *user_data, phi_call call, phi_str arguments) {
    phi_subagent_desc *desc = (phi_subagent_desc *)user_data;
    phi__agent *parent = phi__find_agent(phi__update_info(call).agent);
    phi__subagents_task task;
    phi_arena scratch;
    char words[360];
    const char *missing;
    bool begun = false;
    phi_arena_init(&scratch, &parent->memory, 0);
    missing = phi__subagents_read(desc, arguments, &scratch, &task);
    if (missing == NULL)
        begun = phi__subagents_begin(parent, desc, &task, call, words, sizeof words);
    phi_arena_free(&scratch);
    if (begun) return PHI_PENDING;
    phi__result_error(call, missing != NULL ? missing : words);
    return PHI_DONE;
}

/* Nothing of it is heard any more, but for the events that a host wants. */
static void phi__subagents_cancel(void *user_data, phi_call call) {
    phi__agent *parent = phi__find_agent(phi__update_info(call).agent);
    phi__children *all = parent != NULL ? phi__children_find(parent) : NULL;
    phi__child *child = phi__child_of_call(all, call);
    (void)user_data;
    if (child == NULL) return;
    child->call.rt = NULL;
    if (phi__find_hidden(child->agent))
        phi__child_drop(child);
    else
        phi__schedule_cancel_tree(child->agent, false);
}

/* ---- a call out of a snapshot ---- */

static phi__child *phi__subagents_frozen(const phi__children *all, phi_str call_id) {
    phi__link *link = all->list.first;
    for (; link != NULL; link = link->next) {
        phi__child *child = PHI__OWNER(link, phi__child, link);
        if (child->agent == NULL && child->running && !child->spawned &&
            phi_str_equal(child->call_id, call_id))
            return child;
    }
    return NULL;
}

/* A snapshot of a program without sub-agents has the call and no child: it begins anew. */
static phi_flow phi__subagents_resume(void *user_data, phi_call call, phi_str arguments) {
    phi__agent *parent = phi__find_agent(phi__update_info(call).agent);
    phi__children *all = phi__subagents_all(parent);
    phi__child *child = all != NULL ? phi__subagents_frozen(all, phi__update_info(call).id) : NULL;
    const char *last = "";
    char words[360];
    if (child == NULL && all != NULL) return phi__subagents_start(user_data, call, arguments);
    if (child != NULL && phi__child_save_thaw(child, (phi_subagent_desc *)user_data) == PHI_OK) {
        child->call = call;
        return PHI_PENDING;
    }
    (void)phi__error_last(parent->rt, &last);
    (void)snprintf(words, sizeof words, "The sub-agent could not be resumed: %s",
                   all != NULL ? last : "out of memory");
    if (child != NULL) phi__child_drop(child);
    phi__result_error(call, words);
    return PHI_DONE;
}

/* ---- public ---- */

PHI_API phi_tool phi_subagent_tool(phi_subagent_desc *desc) {
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"task\":{\"type\":\"string\",\"description\":"
        "\"The whole task: the sub-agent sees nothing of this conversation\"}},"
        "\"required\":[\"task\"]}";
    static const char keeps[] =
        "{\"type\":\"object\",\"properties\":{\"task\":{\"type\":\"string\",\"description\":"
        "\"The whole task: the sub-agent sees nothing of this conversation\"},"
        "\"continue\":{\"type\":\"string\",\"description\":\"The id in an earlier result: that "
        "sub-agent goes on, and remembers its work\"}},\"required\":[\"task\"]}";
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    if (desc == NULL || desc->name == NULL) return tool;
    tool.name = tool.label = desc->name;
    tool.description = desc->description;
    if (tool.description == NULL) {
        (void)snprintf(desc->own_words, sizeof desc->own_words,
                       "Delegate a task to the '%s' sub-agent", desc->name);
        tool.description = desc->own_words;
    }
    tool.schema = desc->keep > 0 ? keeps : schema;
    tool.start = phi__subagents_start;
    tool.cancel = phi__subagents_cancel;
    tool.resume = phi__subagents_resume;
    tool.user_data = desc;
    tool.timeout_ms = desc->timeout_ms != 0 ? desc->timeout_ms : PHI_UNLIMITED;
    tool.checks_arguments = tool.deterministic = tool.unlisted = true;
    return tool;
}

static phi_status phi__subagents_check(phi_agent handle, const phi__agent *parent,
                                       const phi_subagent_desc *desc) {
    if (handle.rt == NULL || desc == NULL) return PHI_BAD_ARG;
    if (parent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_spawn: the agent is gone");
    if (desc->name == NULL || desc->name[0] == '\0')
        return phi__error(handle.rt, PHI_BAD_ARG, "phi_spawn: desc.name is missing");
    if (!parent->thread->of_agent)
        return phi__error(handle.rt, PHI_MISUSE,
                          "phi_spawn: an agent of phi_run is for that one run");
    return PHI_OK;
}

/* After a restore: the children that had not finished go on. */
static phi_status phi__subagents_go_on(phi_runtime *rt, phi__children *all,
                                       phi_subagent_desc *desc) {
    phi_status status = PHI_OK, one;
    phi__child *child;
    if (rt->in_step)
        return phi__error(rt, PHI_MISUSE, "phi_spawn without a task inside a callback");
    rt->in_step = true; /* a store's functions must not step */
    rt->step.wall_ms = phi__io_wall_ms(rt->io);
    while ((child = phi__children_first(all, all->made, true, desc->name)) != NULL) {
        one = phi__child_save_thaw(child, desc);
        if (one == PHI_OK) continue;
        if (status == PHI_OK) status = one;
        child->desc = desc;
        phi__result_fail(child, one, "The sub-agent could not be resumed");
    }
    phi__agent_end_of_step(rt);
    return status;
}

PHI_API phi_status phi_spawn(phi_agent handle, phi_subagent_desc *desc, const char *task,
                             phi_agent *out) {
    phi__agent *parent = phi__find_agent(handle);
    phi_status status = phi__subagents_check(handle, parent, desc);
    phi__children *all;
    phi__child *child;
    if (status != PHI_OK) return status;
    if (task != NULL && task[0] == '\0')
        return phi__error(handle.rt, PHI_BAD_ARG, "phi_spawn: the task is empty");
    all = phi__subagents_all(parent);
    if (all == NULL) return phi__error(handle.rt, PHI_NO_MEMORY, "phi_spawn: out of memory");
    if (task == NULL) return phi__subagents_go_on(handle.rt, all, desc);
    phi__children_sweep(all);
    child = phi__children_new(all, desc);
    if (child == NULL) return phi__error_last(handle.rt, NULL);
    status = phi__children_begin(child, phi_str_of(task));
    child->spawned = status == PHI_OK;
    if (status != PHI_OK)
        phi__child_drop(child);
    else if (out != NULL)
        *out = child->agent->handle;
    return status;
}
