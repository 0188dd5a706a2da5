/* weigh.c - estimates the tokens that a rewrite would take out of an agent's view. */
#include "loop/weigh_in.h"

#include "loop/loop_in.h"

PHI__FN bool phi__weigh_in(const phi_rewrite *rewrite, size_t *span, const phi__item *item) {
    while (*span < rewrite->span_count && rewrite->spans[*span].to < item->from) ++*span;
    return *span < rewrite->span_count && item->from >= rewrite->spans[*span].from;
}

PHI__FN void phi__weigh_rewrite(const phi__agent *agent, phi__compacted *plan) {
    const phi_token_counter *counter = phi__projection_counter(agent);
    const phi__fold *fold = &agent->thread->fold;
    const phi_rewrite *r = &plan->rewrite;
    const phi_message *last = NULL;
    size_t i, j, span = 0;
    plan->tokens_before = plan->tokens_after = phi__projection_view_tokens(agent);
    for (i = 0; i < fold->count; i++) {
        const phi__item *item = &fold->items[i];
        if (!phi__weigh_in(r, &span, item) || (item->flags & PHI_ENTRY_DURABLE) != 0) continue;
        plan->tokens_after -= phi_tokens_of_message(counter, item->message);
        if (last == NULL || !phi_str_equal(last->loop_id, item->message->loop_id)) plan->runs++;
        last = item->message;
    }
    for (i = 0; i < r->span_count; i++)
        for (j = 0; j < r->spans[i].message_count; j++)
            plan->tokens_after += phi_tokens_of_message(counter, &r->spans[i].messages[j]);
}

PHI__FN bool phi__weigh_gains(const phi__agent *agent, const phi_rewrite *rewrite) {
    phi__compacted plan;
    memset(&plan, 0, sizeof plan);
    plan.rewrite = *rewrite;
    phi__weigh_rewrite(agent, &plan);
    return plan.tokens_after < plan.tokens_before;
}
