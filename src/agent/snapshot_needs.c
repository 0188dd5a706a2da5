/* snapshot_needs.c - the features that a snapshot needs, by the members that it has: a runtime that
   lacks one refuses it, and names the table. */
#include "agent/agent_in.h"

#include "features/order_in.h"
#include "history/tool_state.h"
#include "text/records_in.h"

/* A member that one feature alone writes. */
typedef struct phi__snapshot_need {
    char member[16], what[24], name[32];
    uint8_t order;
} phi__snapshot_need;

static const phi__snapshot_need phi__snapshot_needs_agent[] = {
    {"facts", "facts", "phi_feature_facts", PHI__FEATURE_AT_FACTS},
    {"failover", "another model's seat", "phi_feature_failover", PHI__FEATURE_AT_FAILOVER},
    {"loaded_tools", "loaded tools", "phi_feature_deferral", PHI__FEATURE_AT_DEFERRAL},
    {"put_off", "a deferred rewrite", "phi_feature_deferred_rewrites", PHI__FEATURE_AT_DEFERRED}};

static const phi__snapshot_need phi__snapshot_needs_run[] = {
    {"failover", "a failover", "phi_feature_failover", PHI__FEATURE_AT_FAILOVER},
    {"tool_state", "a tool state", "phi_feature_tool_state", PHI__FEATURE_AT_EFFECTS},
    {"prune", "a context edit", "phi_feature_context_edits", PHI__FEATURE_AT_CONTEXT_EDITS},
    {"revert", "a context edit", "phi_feature_context_edits", PHI__FEATURE_AT_CONTEXT_EDITS}};

static phi_status phi__snapshot_needs_say(phi_runtime *rt, const char *what, const char *name) {
    return phi__error(rt, PHI_UNSUPPORTED,
                      "phi_agent_restore: the snapshot has %s: name %s in "
                      "phi_runtime_desc.features",
                      what, name);
}

static phi_status phi__snapshot_needs_members(phi_runtime *rt, const phi_json *node,
                                              const phi__snapshot_need *needs, size_t count) {
    size_t i;
    for (i = 0; i < count; i++)
        if (!phi__feature_named(rt, needs[i].order) && phi_json_get(node, needs[i].member) != NULL)
            return phi__snapshot_needs_say(rt, needs[i].what, needs[i].name);
    return PHI_OK;
}

/* The thread has a note of the tool state. */
static bool phi__snapshot_needs_state(const phi_json *thread) {
    phi_json_iter it = phi_json_each(thread);
    const phi_json *line;
    while ((line = phi_json_next(&it)) != NULL)
        if (phi__str_is(phi__records_get_str(line, "name"), PHI_NOTE_STATE) &&
            phi__str_is(phi__records_get_str(line, "kind"), "note"))
            return true;
    return false;
}

/* A tool of the head is strict. */
static bool phi__snapshot_needs_strict(const phi_json *tools) {
    phi_json_iter it = phi_json_each(tools);
    const phi_json *tool;
    while ((tool = phi_json_next(&it)) != NULL)
        if (phi_json_bool(phi_json_at(tool, 3), false)) return true;
    return false;
}

PHI__FN phi_status phi__snapshot_needs(phi_runtime *rt, const phi_json *root) {
    const phi_json *run = phi_json_get(root, "run");
    phi_status status = phi__snapshot_needs_members(rt, root, phi__snapshot_needs_agent,
                                                    PHI__COUNT(phi__snapshot_needs_agent));
    if (status == PHI_OK)
        status = phi__snapshot_needs_members(rt, run, phi__snapshot_needs_run,
                                             PHI__COUNT(phi__snapshot_needs_run));
    if (status != PHI_OK) return status;
    if (!phi__feature_named(rt, PHI__FEATURE_AT_EFFECTS) &&
        phi__snapshot_needs_state(phi_json_get(root, "thread")))
        return phi__snapshot_needs_say(rt, "a tool state", "phi_feature_tool_state");
    if (rt->features.formats == NULL &&
        (phi__records_get_u64(phi_json_get(run, "format"), "kind") != PHI_FORMAT_TEXT ||
         phi__snapshot_needs_strict(phi_json_get(phi_json_get(root, "head"), "tools"))))
        return phi__snapshot_needs_say(rt, "a format, or a strict tool", "phi_feature_formats");
    if (!phi__feature_named(rt, PHI__FEATURE_AT_SUMMARIES) &&
        phi__records_get_u64(phi_json_get(run, "policy"), "summaries") ==
            (uint64_t)PHI_SUMMARIES_WRITE)
        return phi__snapshot_needs_say(rt, "a policy with summaries", "phi_feature_summaries");
    return PHI_OK;
}
