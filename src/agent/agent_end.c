/* agent_end.c - the tree of agents, freeing them, and the exchange of an agent's log. */
#include "agent/agent_in.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "features/features_in.h"

PHI__FN void phi__end_adopt(phi__agent *parent, phi__agent *child) {
    child->tree.parent = parent;
    if (parent == NULL) return;
    child->tree.prev_child = NULL;
    child->tree.next_child = parent->tree.first_child;
    if (parent->tree.first_child != NULL) parent->tree.first_child->tree.prev_child = child;
    parent->tree.first_child = child;
}

PHI__FN void phi__end_destroy(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (agent->run != NULL) phi__run_destroy(agent->run);
    phi__responses_drop(agent);
    phi__feature_agent(agent, PHI__POINT_AGENT_FREED);
    phi__free(&agent->memory, agent->projected, sizeof *agent->projected);
    phi__input_free_queues(agent);
    phi__journal_free_thread(&agent->own);
    phi__toolset_free(&agent->toolset);
    phi__head_free(agent);
    if (agent->prior.deferral != NULL) agent->rt->features.deferral->free(agent);
    if (agent->sources != NULL) agent->rt->features.sources->free(agent);
    phi__free(&agent->memory, agent->questions, sizeof *agent->questions);
    phi_arena_free(&agent->model_arena);
    phi_arena_free(&agent->said);
    phi_arena_free(&agent->arena);
    phi__line_free(agent);
    phi__take_disown(agent, &agent->agent_id);
    phi__take_disown(agent, &agent->system_prompt);
    phi__take_off_format(agent, &agent->desc.format);
    phi__take_disown(agent, &agent->workspace);
    phi__take_off_focus(agent);
    phi__take_off_filters(agent);
    PHI_ASSERT(agent->memory.used_bytes == 0 || rt->abandoned); /* or a function was interrupted */
    phi__free(&rt->memory, agent, sizeof *agent + rt->features.agent_bytes);
}

/* The agents that were freed in the step. */
PHI__FN void phi__end_destroy_retired(phi_runtime *rt) {
    while (rt->retired != NULL) {
        phi__agent *agent = rt->retired;
        rt->retired = agent->next_retired;
        phi__end_destroy(agent);
    }
}

PHI__FN void phi__end_of_step(phi_runtime *rt) {
    phi__end_destroy_retired(rt);
    rt->in_step = false;
}

static void phi__end_cancel_children(phi__agent *agent) {
    if (agent->rt->closing) return; /* all runs have been cancelled, or go at once */
    for (phi__agent *child = agent->tree.first_child; child != NULL; child = child->tree.next_child)
        phi__schedule_cancel_tree(child, false);
}

/* frees those below it that are hidden */
static void phi__end_drop_hidden(phi__agent *agent) {
    phi__agent *child = agent->tree.first_child;
    while (child != NULL) {
        phi__agent *next = child->tree.next_child;
        /* the host may be called: look again; a child without a slot is being freed already */
        if (phi__find_hidden(child) && child->slot != NULL) {
            phi__end_drop(child);
            next = agent->tree.first_child;
        }
        child = next;
    }
}

PHI__FN void phi__end_retire(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    phi__slot *slot = agent->slot;
    if (slot == NULL) return;
    if (agent->run != NULL) phi__run_detach(agent->run);
    if (agent->slot == NULL) return; /* a tool's cancel freed it meanwhile */
    agent->slot = NULL;
    if (agent->questions != NULL) phi__question_drop_all(agent);
    phi__forget_unpress(agent);
    phi__end_drop_hidden(agent);
    phi__end_cancel_children(agent);
    if (agent->tree.watch != NULL && agent->tree.watch->gone != NULL)
        agent->tree.watch->gone(agent);
    phi__agent *parent = agent->tree.parent, *child;
    if (parent != NULL) {
        if (agent->tree.prev_child != NULL)
            agent->tree.prev_child->tree.next_child = agent->tree.next_child;
        else
            parent->tree.first_child = agent->tree.next_child;
        if (agent->tree.next_child != NULL)
            agent->tree.next_child->tree.prev_child = agent->tree.prev_child;
    }
    while ((child = agent->tree.first_child) != NULL) {
        agent->tree.first_child = child->tree.next_child;
        child->tree.next_child = child->tree.prev_child = NULL;
        phi__end_adopt(parent, child);
    }
    agent->tree.parent = agent->tree.next_child = agent->tree.prev_child = NULL;
    if (agent->one_shot.ended_fn != NULL) agent->one_shot.ended_fn(agent);
    phi__responses_drop(agent);
    phi__slots_release(&rt->agents, slot);
    phi__events_purge(rt, agent);
    agent->next_retired = rt->retired;
    rt->retired = agent;
}

PHI__FN void phi__end_drop(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    bool inside = rt->in_step;
    rt->in_step = true; /* the tools' cancel functions must not step */
    phi__end_retire(agent);
    if (!inside) phi__end_of_step(rt);
}

PHI__FN void phi__exchange_begin(phi__agent *agent, phi_thread *before) {
    phi__thread_move(before, agent->thread);
}

PHI__FN void phi__exchange_undo(phi__agent *agent, phi_thread *before) {
    phi__journal_close(agent->thread); /* its entries must not be stored */
    phi__journal_free_thread(agent->thread);
    phi__thread_move(agent->thread, before);
}

/* The host's compactor gets `end`, and may free the agent: as inside a step, which it must not
   begin, the agent stays until the end. */
PHI__FN bool phi__exchange_done(phi__agent *agent, phi_thread *before, bool copied) {
    phi_runtime *rt = agent->rt;
    bool inside = rt->in_step;
    rt->in_step = true;
    phi__events_purge(rt, agent);
    phi__responses_drop(agent);
    phi__feature_renewed(agent, copied ? &before->fold : NULL, false);
    phi__feature_agent(agent, PHI__POINT_LOG_LEAVES);
    phi__end_drop_hidden(agent);
    if (before != NULL) phi__journal_free_thread(before);
    bool there = agent->slot != NULL;
    if (!inside) phi__end_of_step(rt);
    return there;
}
