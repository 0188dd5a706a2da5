/* fail.c - how a run fails. One that cannot get memory ends with an error event that needs none,
   and leaves an agent that can be prompted again. */
#include "loop/fail_in.h"

#include "loop/loop_in.h"

/* It needs no memory, and outlives every agent: a lent thread keeps it. */
static const phi_failure phi__run_out_of_memory = {
    PHI_FAILURE_NO_MEMORY, 0, false, false, 0, {"", 0}, {"Out of memory", 13}, {"", 0}};

/* Every run that is told of has a beginning, also one that fails before it. */
static void phi__run_emit_start(phi__run *run) {
    phi_event event;
    if (run->turn.opened) return;
    run->turn.opened = true;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_AGENT_START;
    event.loop = run->info;
    (void)phi__emit_surely(run->agent, &event);
}

PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status) {
    phi_event event;
    phi__run_emit_start(run);
    run->failure = failure;
    run->status = status;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_ERROR;
    event.failure = failure;
    event.status = status;
    event.text = failure->message;
    (void)phi__emit_surely(run->agent, &event);
    return PHI__RUN_FAILED;
}

PHI__FN phi__refusals phi__refusals_of(const phi__agent *agent) {
    phi__refusals now;
    now.own = agent->memory.refusals;
    now.all = agent->rt->memory.refusals;
    return now;
}

/* The limit that kept memory from an agent: its own or the runtime's, where they said no since
   then; NULL: neither. It outlives the log that it is put into. */
PHI__FN const phi_failure *phi__run_limit_failure(const phi__agent *agent,
                                                  const phi__refusals *since) {
    if (agent->thread == &agent->own && agent->memory.refusals > since->own)
        return phi__at_limit_of(agent);
    return agent->rt->memory.refusals > since->all ? &agent->rt->at_limit.failure : NULL;
}

static bool phi__run_is_memory_failure(const phi__run *run) {
    const phi_failure *own = phi__at_limit_of(run->agent);
    return run->failure == &phi__run_out_of_memory || (own != NULL && run->failure == own) ||
           run->failure == &run->agent->rt->at_limit.failure;
}

PHI__FN phi__state phi__run_no_memory(phi__run *run) {
    const phi_failure *why;
    if (phi__run_is_memory_failure(run)) return PHI__RUN_CLOSE; /* it was told already */
    if (phi__feature_run(run, PHI__POINT_DROPPED) != PHI__RUN_ON) return PHI__RUN_OVER;
    phi__decision_drop(&run->decision);
    phi__limits_pause_end(run);
    phi__attempt_charge(run);
    phi__attempt_drop(run);
    phi__tools_drop(run);
    run->reply = NULL;
    phi__tools_round_forget(run);
    why = phi__run_limit_failure(run->agent, &run->refusals);
    if (why == NULL) why = &phi__run_out_of_memory;
    if (run->failure == NULL) return phi__run_fail(run, why, PHI_NO_MEMORY);
    run->failure = why; /* a run has one PHI_EV_ERROR: it had failed already */
    run->status = PHI_NO_MEMORY;
    return PHI__RUN_TURN_END;
}
