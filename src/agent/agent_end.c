/* agent_end.c - keeps the tree of agents, frees agents, and exchanges an agent's log. */
#include "agent/agent_in.h"

PHI__FN void phi__take_random_id(const phi__agent *agent, char out[PHI__UUID_SIZE]) {
    unsigned char random[16];
    phi__io_random(agent->rt->io, random, sizeof random);
    phi__id_uuid(random, out);
}

PHI__FN void phi__end_adopt(phi__agent *parent, phi__agent *child) {
    child->tree.parent = parent;
    if (parent == NULL) return;
    child->tree.prev_child = NULL;
    child->tree.next_child = parent->tree.first_child;
    if (parent->tree.first_child != NULL) parent->tree.first_child->tree.prev_child = child;
    parent->tree.first_child = child;
}

PHI__FN void phi__take_off_filters(phi__agent *agent) {
    phi__free(&agent->memory, (void *)(uintptr_t)agent->desc.input.filters,
              agent->desc.input.filter_count * sizeof *agent->desc.input.filters);
    agent->desc.input.filters = NULL;
    agent->desc.input.filter_count = 0;
}

PHI__FN void phi__take_off_focus(phi__agent *agent) {
    phi_str focus = phi_str_of(agent->desc.compaction.focus_message);
    phi__disown(&agent->memory, &focus);
    agent->desc.compaction.focus_message = NULL;
}

PHI__FN void phi__take_off_format(phi__agent *agent, phi_format *format) {
    phi_str schema = phi_str_of(format->schema), name = phi_str_of(format->name);
    phi__disown(&agent->memory, &schema);
    phi__disown(&agent->memory, &name);
    memset(format, 0, sizeof *format);
}

/* ---- freeing ----

   A freed agent is taken out of every table at once. Its memory is freed when the step ends,
   because the host function that freed the agent may have been called by code that still uses
   it. */

PHI__FN void phi__end_destroy(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    phi__gone_free(agent);
    phi_arena_free(&agent->model_arena);
    phi_arena_free(&agent->said);
    phi_arena_free(&agent->arena);
    phi__disown(&agent->memory, &agent->agent_id);
    phi__disown(&agent->memory, &agent->system_prompt);
    phi__take_off_format(agent, &agent->desc.format);
    phi__disown(&agent->memory, &agent->workspace);
    phi__take_off_focus(agent);
    phi__take_off_filters(agent);
    PHI_ASSERT(agent->memory.used_bytes == 0 ||
               rt->abandoned); /* an interrupted host function may still hold memory */
    phi__free(&rt->memory, agent, sizeof *agent + rt->features.agent_bytes);
}

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
    if (agent->rt->closing) return; /* the closing runtime cancels or frees all runs itself */
    for (phi__agent *child = agent->tree.first_child; child != NULL; child = child->tree.next_child)
        phi__schedule_cancel_tree(child, false);
}

/* Frees the hidden agents below this agent. */
static void phi__end_drop_hidden(phi__agent *agent) {
    phi__agent *child = agent->tree.first_child;
    while (child != NULL) {
        phi__agent *next = child->tree.next_child;
        /* Freeing may call the host, so start over. A child without a slot is being freed
           already. */
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
    if (!phi__gone_detach(agent)) return;
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
    phi__gone_drop(agent);
    phi__slots_release(&rt->agents, slot);
    agent->next_retired = rt->retired;
    rt->retired = agent;
}

PHI__FN void phi__end_drop(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    bool inside = rt->in_step;
    rt->in_step = true; /* the tools' cancel functions must not call phi_step */
    phi__end_retire(agent);
    if (!inside) phi__end_of_step(rt);
}

/* ---- replaces an agent's log and the state that depends on it ----

   The new log is made at the old log's address, because parts of a log point to that address. The
   old log is kept until nothing can fail, because the new one may be made of its messages. Events,
   responses, an active compaction and hidden agents point into the old log and go with it. */

PHI__FN void phi__exchange_begin(phi__agent *agent, phi_thread *before) {
    phi__thread_move(before, agent->thread);
}

PHI__FN void phi__exchange_undo(phi__agent *agent, phi_thread *before) {
    phi__journal_close(agent->thread); /* the new log's entries must not be stored */
    phi__journal_free_thread(agent->thread);
    phi__thread_move(agent->thread, before);
}

/* Calls the `end` of the host's compactor, which may free the agent. in_step is true meanwhile, so
   the agent's memory stays until phi__end_of_step, and the compactor cannot begin a step. */
PHI__FN bool phi__exchange_done(phi__agent *agent, phi_thread *before, bool copied) {
    phi_runtime *rt = agent->rt;
    bool inside = rt->in_step;
    rt->in_step = true;
    phi__gone_drop(agent);
    phi__feature_renewed(agent, copied ? &before->fold : NULL, false);
    phi__feature_agent(agent, PHI__POINT_LOG_LEAVES);
    phi__end_drop_hidden(agent);
    if (before != NULL) phi__journal_free_thread(before);
    bool there = agent->slot != NULL;
    if (!inside) phi__end_of_step(rt);
    return there;
}
