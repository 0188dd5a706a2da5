/* measure.c - how many tokens the next model call of a run is likely to read.

   What a provider said of the last answer is exact as long as the list was only added to since. */
#include "loop/loop_in.h"
#include "model/tokens.h"
#include "history/tracker.h"

PHI__FN const phi_token_counter *phi__agent_counter(const phi__agent *agent) {
    return agent->projected != NULL ? &agent->projected->counter : NULL;
}

PHI__FN uint64_t phi__agent_tokens(const phi__agent *agent) {
    return phi__fold_tokens(&agent->thread->fold, phi__agent_counter(agent));
}

PHI__FN uint64_t phi__agent_tool_tokens(const phi__agent *agent) {
    const phi_token_counter *counter = phi__agent_counter(agent);
    const phi__toolset *set = phi__agent_has_tools(agent);
    uint64_t sum = phi_tokens_of_text(counter, agent->format_schema);
    size_t i;
    for (i = 0; i < set->count; i++)
        sum += (uint64_t)phi_tokens_of_text(counter, set->views[i].name) +
               phi_tokens_of_text(counter, set->views[i].description) +
               phi_tokens_of_text(counter, set->views[i].schema);
    return sum;
}

PHI__FN uint64_t phi__run_overhead_tokens(const phi__run *run) {
    const phi__agent *agent = run->agent;
    return phi_tokens_of_text(phi__agent_counter(agent), agent->system_prompt) +
           phi__agent_tool_tokens(agent);
}

PHI__FN uint64_t phi__run_context_tokens(const phi__run *run) {
    const phi_token_counter *counter = phi__agent_counter(run->agent);
    const phi_thread *thread = run->agent->thread;
    const phi__fold *fold = &thread->fold;
    uint64_t changed = thread->ops.last_seq; /* in any lane: they are few */
    uint32_t untold = (uint32_t)PHI_ITEM_SYNTHETIC | (uint32_t)PHI_ITEM_UNMEASURED;
    uint64_t sum, overhead;
    phi_tracker tracker;
    size_t at, from;
    memset(&tracker, 0, sizeof tracker);
    for (at = fold->count; at > 0 && tracker.reported == 0; at--) {
        const phi__item *item = &fold->items[at - 1];
        if (item->from < changed) break;
        if (item->message->role == PHI_ROLE_ASSISTANT && (item->flags & untold) == 0)
            phi_tracker_record(&tracker, &item->message->usage, at - 1);
    }
    sum = phi_tracker_known(&tracker, fold->count, &from);
    if (sum == 0) return phi__agent_tokens(run->agent);
    overhead = phi__run_overhead_tokens(run);
    sum = sum > overhead ? sum - overhead : 0;
    for (; from < fold->count; from++)
        sum += phi_tokens_of_message(counter, fold->items[from].message);
    return sum;
}
