/* reserve.c - room in limits and budgets for a run's next model call: it is reserved, waited for,
   or there is none. */
#include "loop/reserve_in.h"

#include "loop/loop_in.h"
#include "model/tokens.h"

/* The most that it may cost: its whole input, and its largest output. */
PHI__FN bool phi__reserve_call(phi__run *run, uint64_t more, char *reason, size_t size) {
    const phi__agent *agent = run->agent;
    const phi_cost *rates = &agent->desc.model.cost;
    const phi_policy *policy;
    uint64_t in,
        out = agent->desc.max_tokens != 0 ? agent->desc.max_tokens : agent->desc.model.max_tokens;
    const phi__input *input;
    double rate = rates->cache_write > rates->input ? rates->cache_write : rates->input;
    if (!phi__limits_budget_limited(agent)) return true;
    policy = phi__projection_policy(agent);
    in = phi__projection_view_tokens(agent) + phi__projection_overhead(run) + more;
    for (input = phi__input_first(run); input != NULL; input = input->next)
        in += phi_tokens_of_message(phi__projection_counter(agent), &input->message);
    if (policy != NULL) {
        uint64_t most = phi__policy_filled(policy).max_input_tokens;
        if (in > most) in = most;
    }
    return phi__limits_budget_reserve(
        run, in + out, (double)in / 1e6 * rate + (double)out / 1e6 * rates->output, reason, size);
}

PHI__FN phi__state phi__reserve_pause(phi__run *run, const char *reason, bool *wait) {
    phi__agent *agent = run->agent;
    phi_event event;
    uint64_t after = UINT64_MAX;
    if (!run->limits.pause || phi__limits_pause_over(run)) return PHI__RUN_ON;
    *wait = true;
    phi__limits_budget_release(run); /* others may have it meanwhile */
    if (phi__limits_pause_on(run)) {
        phi__limits_pause_say(run, reason);
        return run->state;
    }
    if (run->own.waits_ms != PHI_UNLIMITED) after = (uint64_t)run->own.waits_ms * 1000;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_PAUSED;
    event.text = phi_str_of(reason);
    if (phi__limits_pause_begin(run, reason, after) && phi__events_emit(agent, &event, NULL, 0))
        return run->state;
    *wait = false;
    return PHI__RUN_LOST;
}

PHI__FN phi__state phi__reserve_refuse(phi__run *run, const char *reason) {
    phi_arena *room = phi__thread_room(run->agent->thread);
    phi_failure *failure = (phi_failure *)phi_arena_alloc(room, sizeof *failure);
    phi_str words;
    if (failure == NULL || !phi__arena_str(room, phi_str_of(reason), &words)) return PHI__RUN_LOST;
    *failure = phi__failure_of(PHI_FAILURE_QUOTA, false, words.at);
    return phi__attempt_refuse(run, failure);
}
