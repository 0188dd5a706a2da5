/* projection.c - chooses the messages for a model call by the policy of the request or the agent,
   estimates their tokens, and warns near the limit.

   The list is made once for a model call, before the hooks get it, and again after a compaction.
   The cost depends on the messages sent, not on the length of the thread. The token count in a
   provider's last answer is exact as long as the list has only grown since then. */
#include "loop/inner_in.h"

#include <stdio.h>

/* ---- counting tokens ---- */

PHI__FN const phi_token_counter *phi__projection_counter(const phi__agent *agent) {
    return agent->projected != NULL ? &agent->projected->counter : NULL;
}

PHI__FN uint64_t phi__projection_view_tokens(const phi__agent *agent) {
    return phi__fold_tokens(&agent->thread->fold, phi__projection_counter(agent));
}

PHI__FN uint64_t phi__projection_tool_tokens(const phi__agent *agent) {
    const phi_token_counter *counter = phi__projection_counter(agent);
    const phi__toolset *set = agent->tools;
    phi__defer_plan plan = {PHI__DEFERRAL_NONE, false};
    uint64_t sum = phi_tokens_of_text(counter, phi_str_of(agent->desc.format.schema));
    if (set->may_defer) plan = agent->rt->features.deferral->plan(agent);
    for (size_t i = 0; i < set->count; i++) {
        if (phi__defer_defers(plan, &set->tools[i]) &&
            !phi__defer_is_loaded(agent, set->views[i].name)) {
            if (plan.way == PHI__DEFERRAL_OWN)
                sum += phi_tokens_of_text(counter, set->views[i].name);
            continue;
        }
        sum += (uint64_t)phi_tokens_of_text(counter, set->views[i].name) +
               phi_tokens_of_text(counter, set->views[i].description) +
               phi_tokens_of_text(counter, set->views[i].schema);
    }
    for (size_t i = 0; i < agent->desc.tool_options.raw_tool_count; i++)
        sum += phi_tokens_of_text(counter, phi_str_of(agent->desc.tool_options.raw_tools[i].json));
    return sum;
}

PHI__FN uint64_t phi__projection_overhead(const phi__run *run) {
    const phi__agent *agent = run->agent;
    return phi_tokens_of_text(phi__projection_counter(agent), agent->system_prompt) +
           phi__projection_tool_tokens(agent);
}

PHI__FN uint64_t phi__projection_context_tokens(const phi__run *run) {
    const phi_token_counter *counter = phi__projection_counter(run->agent);
    const phi_thread *thread = run->agent->thread;
    const phi__fold *fold = &thread->fold;
    uint64_t changed = thread->ops.last_seq; /* the last rewrite in any lane; rewrites are rare */
    uint32_t untold = (uint32_t)PHI_ITEM_SYNTHETIC | (uint32_t)PHI_ITEM_UNMEASURED;
    size_t from;
    phi__tracker tracker = PHI_ZERO;
    for (size_t at = fold->count; at > 0 && tracker.reported == 0; at--) {
        const phi__item *item = &fold->items[at - 1];
        if (item->from < changed) break;
        if (item->message->role == PHI_ROLE_ASSISTANT && (item->flags & untold) == 0)
            phi__tracker_record(&tracker, &item->message->usage, at - 1);
    }
    uint64_t sum = phi__tracker_known(&tracker, fold->count, &from);
    if (sum == 0) return phi__projection_view_tokens(run->agent);
    uint64_t overhead = phi__projection_overhead(run);
    sum = sum > overhead ? sum - overhead : 0;
    for (; from < fold->count; from++)
        sum += phi_tokens_of_message(counter, fold->items[from].message);
    return sum;
}

/* ---- the messages to send ---- */

enum { PHI__PROJECTION_APPROACHING = 1, PHI__PROJECTION_AT_LIMIT };

#define PHI__PROJECTION_PART 0.85 /* warn at this part of the limit; compaction begins here, too */

PHI__FN const phi_policy *phi__projection_policy(const phi__agent *agent) {
    const phi__projected *projected = agent->projected;
    if (agent->run != NULL && agent->run->own.policy != NULL) return agent->run->own.policy;
    return projected != NULL && projected->has_policy ? &projected->policy : NULL;
}

PHI__FN bool phi__projection_take_policy(phi__run *run, const phi_policy *policy) {
    phi__agent *agent = run->agent;
    if (policy == NULL) return true;
    if (agent->projected == NULL)
        agent->projected = (phi__projected *)phi__alloc(&agent->memory, sizeof *agent->projected);
    if (agent->projected == NULL) return false;
    run->own.policy = (phi_policy *)phi__alloc(&agent->memory, sizeof *run->own.policy);
    if (run->own.policy != NULL) *run->own.policy = *policy;
    return run->own.policy != NULL;
}

PHI__FN bool phi__projection_order_of(phi__agent *agent, phi__proj_order *order) {
    const phi_policy *policy = phi__projection_policy(agent);
    memset(order, 0, sizeof *order);
    if (policy == NULL) return false;
    phi__fold_link(&agent->thread->fold);
    order->fold = &agent->thread->fold;
    order->count = agent->thread->fold.count;
    order->policy = policy;
    order->counter = &agent->projected->counter;
    order->system_prompt = agent->system_prompt;
    order->tools_tokens = phi__projection_tool_tokens(agent);
    order->texts = agent->desc.texts;
    return true;
}

PHI__FN const phi__item *phi__projection_list(const phi__run *run, size_t *count) {
    *count = run->projection.count;
    return run->projection.items;
}

PHI__FN void phi__projection_clear(phi__run *run) {
    run->projection.items = NULL;
    run->projection.made = false;
}

static uint64_t phi__projection_limit(const phi__agent *agent) {
    const phi_policy *given = phi__projection_policy(agent);
    if (given == NULL) return agent->desc.model.context_window;
    phi_policy policy = phi__policy_filled(given);
    if (policy.max_input_tokens == PHI_POLICY_UNLIMITED) return agent->desc.model.context_window;
    return policy.max_input_tokens > policy.reserve_output_tokens
               ? policy.max_input_tokens - policy.reserve_output_tokens
               : 0;
}

static uint64_t phi__projection_sent_tokens(const phi__run *run) {
    return phi__projection_policy(run->agent) != NULL
               ? run->agent->projected->last.estimated_tokens
               : phi__projection_context_tokens(run) + phi__projection_overhead(run);
}

static uint8_t phi__projection_level(const phi__run *run) {
    uint64_t limit = phi__projection_limit(run->agent), tokens = phi__projection_sent_tokens(run);
    if (phi__projection_policy(run->agent) != NULL) {
        const phi_projection_meta *meta = &run->agent->projected->last;
        if (meta->budget_truncated || meta->overflow || meta->protected_over)
            return PHI__PROJECTION_AT_LIMIT;
    }
    if (tokens > limit) return PHI__PROJECTION_AT_LIMIT;
    return (double)tokens > (double)limit * PHI__PROJECTION_PART ? PHI__PROJECTION_APPROACHING : 0;
}

static bool phi__projection_emit(phi__run *run, phi_event_kind kind, phi_str text) {
    phi__agent *agent = run->agent;
    phi_context *context =
        (phi_context *)phi__arena_zero(phi__thread_room(agent->thread), sizeof *context);
    if (context == NULL) return false;
    context->tokens = phi__projection_sent_tokens(run);
    context->limit = phi__projection_limit(agent);
    context->messages = context->shown = agent->thread->fold.count;
    if (phi__projection_policy(agent) != NULL) {
        const phi_projection_meta *meta = &agent->projected->last;
        context->shown = meta->messages_included;
        context->need_from = meta->need_from;
        context->need_to = meta->need_to;
    }
    phi_event event = PHI_ZERO;
    event.kind = kind;
    event.text = text;
    event.context = context;
    return phi__events_emit(agent, &event);
}

/* Emits SUMMARY_NEEDED, and again only when more entries need a summary. Begins the summary if the
   policy says so. */
static bool phi__projection_need(phi__run *run) {
    phi__agent *agent = run->agent;
    const phi_policy *policy = phi__projection_policy(agent);
    phi__projected *projected = agent->projected;
    uint64_t was = projected != NULL ? projected->needed : 0;
    if (policy == NULL) return true;
    projected->needed = projected->last.need_summary ? projected->last.need_to + 1 : 0;
    if (projected->needed == 0 || projected->needed == was) return true;
    if (!phi__projection_emit(run, PHI_EV_SUMMARY_NEEDED, phi__str("", 0))) return false;
    if (policy->summaries == PHI_SUMMARIES_WRITE && agent->rt->features.summarize_fn != NULL)
        (void)agent->rt->features.summarize_fn(agent->handle, projected->last.need_from,
                                               projected->last.need_to);
    return true;
}

PHI__FN phi__item *phi__projection_items(phi_arena *arena, const phi__fold *fold,
                                         const phi__projection *made, bool rendered) {
    phi__item *items =
        (phi__item *)phi__arena_zero(arena, phi__mul(phi__max(made->count, 1), sizeof *items));
    for (size_t i = 0; items != NULL && i < made->count; i++) {
        size_t place = made->places != NULL ? made->places[i] : i;
        if (place != SIZE_MAX) { /* the message is in the thread */
            items[i] = fold->items[place];
            if (rendered) continue;
            items[i].rendered = NULL;
            items[i].arena = NULL;
            continue;
        }
        const phi_message *m = items[i].message = made->messages[i];
        if (m->role == PHI_ROLE_ASSISTANT)
            items[i].origin = phi__codec_origin_of(m->model, m->provider, m->protocol);
    }
    return items;
}

static bool phi__projection_make(phi__run *run) {
    const phi__fold *fold = &run->agent->thread->fold;
    phi__proj_order order;
    phi__projection made;
    run->projection.items = NULL;
    if (!phi__projection_order_of(run->agent, &order)) {
        phi__projected *projected = run->agent->projected;
        if (projected != NULL) memset(&projected->last, 0, sizeof projected->last);
        return true;
    }
    order.extensions = true; /* a hook may convert extensions to messages */
    if (phi__project(&order, &run->arena, &made) != PHI_OK) return false;
    phi__item *items = phi__projection_items(&run->arena, fold, &made, true);
    if (items == NULL) return false;
    run->projection.items = items;
    run->projection.count = made.count;
    run->agent->projected->last = made.meta;
    return true;
}

PHI__FN bool phi__projection_ensure(phi__run *run, phi__state *next) {
    if (run->projection.made) return true;
    run->projection.made = true;
    *next = PHI__RUN_LOST;
    if (!phi__projection_make(run)) return false;
    /* Warn once each time a higher level is reached. */
    uint8_t was = run->agent->context_level, now = phi__projection_level(run);
    run->agent->context_level = now;
    if (now > was &&
        !phi__projection_emit(run, PHI_EV_CONTEXT_WARNING,
                              now == PHI__PROJECTION_AT_LIMIT ? PHI__LIT("at_limit")
                                                              : PHI__LIT("approaching_limit")))
        return false;
    if (!phi__projection_need(run)) return false;
    if (run->projection.items == NULL || !run->agent->projected->last.overflow) return true;
    /* An overflow known before sending is handled like a provider's refusal. */
    const phi_projection_meta *meta = &run->agent->projected->last;
    uint64_t around = meta->system_tokens + meta->tools_tokens;
    char words[160];
    (void)snprintf(words, sizeof words,
                   "The newest turn is too large for the policy: %llu tokens by estimate, %llu are "
                   "left for messages",
                   (unsigned long long)(meta->estimated_tokens - around),
                   (unsigned long long)meta->budget_tokens);
    phi_failure failure = phi__failure_of(PHI_FAILURE_OVERFLOW, false, words);
    run->attempt.emitted = false;
    *next = phi__attempt_failed(run, &failure, PHI_REFUSED);
    return false;
}
