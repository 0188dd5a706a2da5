/* states.c - all states of a run, and what each comes to.

   Each state is a function that does a bounded amount and names the next state, or says that it
   waits. What it may come to besides, that memory ran out or that an attempt has ended, is looked
   after here: no state calls another. */
#include "loop/states_in.h"

#include "loop/loop_in.h"

static phi__state phi__states_enter(phi__run *run, bool *wait) {
    switch (run->state) {
    case PHI__RUN_BEFORE_LOOP: return phi__turn_before_loop(run, wait);
    case PHI__RUN_OPEN: return phi__turn_open(run);
    case PHI__RUN_FILTER: return phi__turn_filter(run, wait);
    case PHI__RUN_POLL: return phi__turn_poll(run, wait);
    case PHI__RUN_TOP: return phi__turn_top(run, wait);
    case PHI__RUN_BEFORE_TURN: return phi__turn_before(run, wait);
    case PHI__RUN_TURN: return phi__turn_begin(run);
    case PHI__RUN_TRANSFORM: return phi__run_transform(run, wait);
    case PHI__RUN_CONVERT: return phi__run_convert(run, wait);
    case PHI__RUN_REQUEST: return phi__run_request(run, wait);
    case PHI__RUN_CREDENTIAL: return phi__run_credential(run, wait);
    case PHI__RUN_SIGN: return phi__run_sign(run);
    case PHI__RUN_SEND: return phi__run_send(run, wait);
    case PHI__RUN_STREAM: return phi__run_stream(run, wait);
    case PHI__RUN_BACKOFF: return phi__run_backoff(run, wait);
    case PHI__RUN_HELD: return phi__feature_held(run, wait);
    case PHI__RUN_TOOLS: return phi__run_tools(run, wait);
    case PHI__RUN_FAILED: return phi__turn_failed(run, wait);
    case PHI__RUN_TURN_END: return phi__turn_end(run);
    case PHI__RUN_AFTER_TURN: return phi__turn_after(run, wait);
    case PHI__RUN_NEXT: return phi__turn_next(run, wait);
    case PHI__RUN_FOLLOW: return phi__turn_follow(run, wait);
    case PHI__RUN_CLOSE: return phi__turn_close(run);
    case PHI__RUN_AFTER_LOOP: return phi__turn_after_loop(run, wait);
    case PHI__RUN_ON:
    case PHI__RUN_OVER:
    case PHI__RUN_LOST:
    case PHI__RUN_ENDED:
    case PHI__RUN_GIVE_UP:
    case PHI__RUN_ANSWERED: break;
    }
    return PHI__RUN_OVER;
}

/* An outcome may lead to another. They are those of the same state: nothing comes in between. */
static phi__state phi__states_follow(phi__run *run, phi__state outcome) {
    if (outcome == PHI__RUN_ENDED) outcome = phi__attempt_end(run);
    if (outcome == PHI__RUN_GIVE_UP) outcome = phi__attempt_give_up(run);
    if (outcome == PHI__RUN_ANSWERED) outcome = phi__run_make_calls(run);
    return outcome == PHI__RUN_LOST ? phi__run_no_memory(run) : outcome;
}

/* One run, until it waits, is over, or the step is spent. */
static void phi__states_advance(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    for (;;) {
        bool wait = false;
        phi__agent *agent = run->agent;
        run->state = phi__states_follow(run, phi__states_enter(run, &wait));
        if (agent->slot == NULL) return; /* freed by a tool: gone when the step ends */
        if (run->state == PHI__RUN_OVER) {
            phi_status status = run->status;
            const phi_failure *failure = run->failure;
            bool stopping = run->end.stopping;
            phi__forget_ran(agent, status);
            (void)phi__feature_run(run, PHI__POINT_RUN_OVER);
            phi__run_destroy(run);
            if (agent->tree.hidden_fn != NULL)
                agent->tree.hidden_fn(agent, status, failure, stopping);
            return;
        }
        if (wait) return;
        if (run->state == PHI__RUN_AFTER_LOOP) continue; /* who pops AGENT_END may prompt at once */
        if (!phi__step_spent(rt)) continue;
        if (rt->tape == NULL) {
            phi__run_wake(run);
            return;
        }
        phi__step_slice(rt);
    }
}

/* With a tape all that was let in is worked off, a slice at a time, and each run goes on until it
   waits: a host that counts its frames, or acts on what it sees between two steps, must not meet a
   half of it, nor may the turns of runs that share a budget be others, because slices are larger or
   smaller than they were. */
PHI__FN void phi__runs_advance(phi_runtime *rt) {
    while (rt->ready != NULL) {
        phi__run *run = rt->ready;
        phi__run_unready(run);
        phi__states_advance(run);
        if (phi__step_spent(rt) && rt->tape == NULL) return;
    }
}
