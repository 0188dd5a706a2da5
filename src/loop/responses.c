/* responses.c - the responses of phi_prompt_with, from the run's side: filled in when the run ends.

   A response outlives its run and never its agent. Everything that may fail has been done before
   the run begins, so that closing one needs no memory. */
#include "loop/loop_in.h"

/* The last answer of a run: behind it stand at most the results of its calls and what stopped
   it. */
static const phi__entry *phi__responses_entry(const phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    size_t i = thread->messages.held;
    for (; i > 0 && thread->messages.at[i - 1]->ordinal >= run->said.first_message; i--)
        if (thread->messages.at[i - 1]->message->role == PHI_ROLE_ASSISTANT)
            return thread->messages.at[i - 1];
    return NULL;
}

PHI__FN void phi__responses_update(phi__response *response, const phi__run *run) {
    const phi__entry *last = phi__responses_entry(run);
    response->message = last != NULL ? last->message : NULL;
    response->message_in = last != NULL ? last->segment : NULL;
    response->loop_id = run->loop_id;
    response->rest_in =
        run->agent->thread->log.segments.current; /* where the run's last words are */
    response->failure = run->failure;
    response->usage = phi__limits_charge_of(run)->usage;
    response->cost = phi__limits_charge_of(run)->cost;
    response->first_delta_ms = run->first_delta_ms;
}

PHI__FN void phi__responses_close(phi__run *run) {
    phi__response *response = run->response;
    const phi_runtime *rt = run->agent->rt;
    if (response == NULL) return;
    run->response = NULL;
    phi__responses_update(response, run);
    response->status = run->status;
    response->ended_ms = rt->in_step ? rt->step.wall_ms : phi__io_wall_ms(rt->io);
}

PHI__FN void phi__responses_drop_one(phi__response *response) {
    phi__agent *agent = response->agent;
    if (agent->run != NULL && agent->run->response == response) agent->run->response = NULL;
    if (response->newer != NULL)
        response->newer->older = response->older;
    else
        agent->responses = response->older;
    if (response->older != NULL) response->older->newer = response->newer;
    phi__slots_release(&agent->rt->responses, response->slot);
    phi__free(&agent->memory, (void *)(uintptr_t)response->id.at,
              response->id.at != NULL ? response->id.len + 1 : 0);
    phi__free(&agent->memory, (void *)(uintptr_t)response->query.at,
              response->query.at != NULL ? response->query.len + 1 : 0);
    phi__free(&agent->memory, response, sizeof *response);
}

PHI__FN void phi__responses_drop(phi__agent *agent) {
    while (agent->responses != NULL) phi__responses_drop_one(agent->responses);
}
