/* follow.c - a child's agent is followed: its events are forwarded, and its end is a result. */
#include "subagents/child_in.h"

static phi__child *phi__follow_watched(const phi__agent *agent) {
    return (phi__child *)agent->tree.watched;
}

static bool phi__follow_saw(phi__agent *agent, const phi_event *event) {
    return phi__forward_note(phi__follow_watched(agent), event);
}

static void phi__follow_between(phi__agent *agent) { phi__forward_all(phi__follow_watched(agent)); }

static void phi__follow_over(phi__agent *agent, phi_status status, const phi_failure *failure,
                             bool stopping) {
    (void)stopping;
    if (phi__follow_watched(agent)->running)
        phi__result_give(phi__follow_watched(agent), status, failure);
}

static void phi__follow_gone(phi__agent *agent) {
    phi__child *child = phi__follow_watched(agent);
    child->agent = NULL;
    phi__result_fail(child, PHI_CANCELLED, "The sub-agent was freed");
}

static const phi__child_watch phi__follow_hidden = {
    true, false, phi__follow_saw, phi__follow_between, phi__follow_over, phi__follow_gone};
static const phi__child_watch phi__follow_shown = {
    false, false, phi__follow_saw, phi__follow_between, phi__follow_over, phi__follow_gone};

PHI__FN void phi__follow_begin(phi__child *child, phi_subagent_desc *desc, phi__agent *agent) {
    child->desc = desc;
    child->agent = agent;
    agent->tree.watch = desc->show_events ? &phi__follow_shown : &phi__follow_hidden;
    agent->tree.watched = child;
}

PHI__FN uint32_t phi__follow_depth(const phi__agent *agent) {
    const phi__child_watch *watch = agent->tree.watch;
    bool ours = watch == &phi__follow_hidden || watch == &phi__follow_shown;
    return ours ? phi__follow_watched(agent)->depth : 0;
}
